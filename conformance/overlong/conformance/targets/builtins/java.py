"""Decoders of Java: the class library's, and those of jars."""

from __future__ import annotations

import os

from overlong.conformance.targets.build import JAVA, built
from overlong.conformance.targets.builtin import ADAPTERS, Builtin, found, not_on_path, said
from overlong.conformance.targets.packages import Project, fetched

_JDK = "a JDK (Debian: apt install default-jdk-headless)"

JARS = Project(
    "jars",
    "Maven",
    (
        (
            *("mvn", "-B", "-q", "-Dstyle.color=never", "-DoutputDirectory=jars"),
            "org.apache.maven.plugins:maven-dependency-plugin:3.9.0:copy-dependencies",
        ),
        ("javac", "-encoding", "UTF-8", "-proc:none", "-cp", "jars/*", "-d", "classes", "JarUtf8.java", "Frames.java"),
    ),
    "a JDK and Maven (Debian: apt install default-jdk-headless maven)",
    "mvn dependency:get -Dartifact=com.google.guava:guava:LATEST",
    r"<artifactId>{}</artifactId>\s*<version>([^<]+)",
    "pom.xml",
    shared=("Frames.java",),
    sums="SHA256SUMS",  # a pom pins versions, and no digests
)


def _run(classes: str, program: str, mode: str) -> list[str]:
    # It is short-lived: a quick start is worth more than a fast decoder.
    return [found("java"), "-Xshare:auto", "-XX:TieredStopAtLevel=1", "-cp", classes, program, mode]


def _java(name: str, mode: str, what: str) -> Builtin:
    sources = (ADAPTERS / "JavaUtf8.java", ADAPTERS / "Frames.java")
    return Builtin(
        name,
        "Java",
        what,
        lambda: not_on_path(("java", "javac"), _JDK),
        lambda: _run(str(built(JAVA, *sources)), "JavaUtf8", mode),
        lambda: said(found("java"), "--version"),
    )


def _jar(name: str, artifact: str, what: str) -> Builtin:
    def command() -> list[str]:
        folder = fetched(JARS)
        return _run(os.pathsep.join((str(folder / "classes"), str(folder / "jars" / "*"))), "JarUtf8", name)

    return Builtin(
        f"java-{name}",
        "Java",
        what,
        lambda: JARS.missing("java"),
        command,
        lambda: JARS.version(artifact),
        fetches=f"{artifact} of Maven",
    )


JAVA_DECODERS = (
    _java("java-charsetdecoder", "charsetdecoder", "CharsetDecoder, reporting and replacing, in chunks"),
    _java("java-string", "string", "new String(bytes, UTF_8) and getBytes"),
    _java("java-readutf", "readutf", "DataInputStream.readUTF: modified UTF-8"),
    _jar("guava", "guava", "Guava's Utf8.isWellFormed"),
    _jar("protobuf", "protobuf-java", "Protocol Buffers: ByteString.isValidUtf8, string fields"),
    _jar("jackson", "jackson-core", "Jackson's parser of octets, a string in JSON"),
    _jar("tomcat", "tomcat-util", "Tomcat's Utf8Decoder, a CharsetDecoder, in chunks"),
)
