"""Decoders of Java: the class library's, and those of jars."""

from __future__ import annotations

from overlong.conformance.targets.build import JAVA, built
from overlong.conformance.targets.builtin import ADAPTERS, Builtin, found, not_on_path, said


def _java(name: str, mode: str, what: str) -> Builtin:
    return Builtin(
        name,
        "Java",
        what,
        lambda: not_on_path(("java", "javac"), "a JDK (Debian: apt install default-jdk-headless)"),
        # It is short-lived: a quick start is worth more than a fast decoder.
        lambda: [
            *(found("java"), "-Xshare:auto", "-XX:TieredStopAtLevel=1"),
            *("-cp", str(built(JAVA, ADAPTERS / "JavaUtf8.java")), "JavaUtf8", mode),
        ],
        lambda: said(found("java"), "--version"),
    )


JAVA_DECODERS = (
    _java("java-charsetdecoder", "charsetdecoder", "CharsetDecoder, reporting and replacing, in chunks"),
    _java("java-string", "string", "new String(bytes, UTF_8) and getBytes"),
    _java("java-readutf", "readutf", "DataInputStream.readUTF: modified UTF-8"),
)
