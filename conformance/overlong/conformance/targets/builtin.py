"""Decoders that come with an adapter: what each needs, and how it is started. Nothing is built early."""

from __future__ import annotations

import platform
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from overlong.conformance.targets.build import GO, JAVA, RUST, C, built

if TYPE_CHECKING:
    from collections.abc import Callable

ADAPTERS = Path(__file__).parent.parent / "adapters"


@dataclass(frozen=True)
class Builtin:
    """A decoder that ships with an adapter."""

    name: str
    language: str
    what: str
    missing: Callable[[], str]
    """What to install to use it here; empty if nothing."""
    command: Callable[[], list[str]]
    """How to start it; builds it first where it must be built."""


def python_command(place: str, name: str, mode: str = "") -> list[str]:
    """The worker process for a Python decoder."""
    return [sys.executable, str(ADAPTERS / "python.py"), place, name, *([mode] if mode else [])]


def _cpython(name: str, attribute: str, what: str) -> Builtin:
    return Builtin(
        name,
        "Python",
        what,
        lambda: "",
        lambda: python_command(str(ADAPTERS / "cpython.py"), attribute),
    )


def _node(name: str, mode: str, what: str) -> Builtin:
    return Builtin(
        name,
        "JavaScript",
        what,
        lambda: _not_on_path("node", "Node.js 18.14 or later (Debian: apt install nodejs)"),
        lambda: [_found("node"), str(ADAPTERS / "node.js"), mode],
    )


def _go(name: str, mode: str, what: str) -> Builtin:
    return Builtin(
        name,
        "Go",
        what,
        lambda: _not_on_path("go", "Go 1.19 or later (Debian: apt install golang-go)"),
        lambda: [str(built(GO, ADAPTERS / "go_utf8.go")), mode],
    )


def _java(name: str, mode: str, what: str) -> Builtin:
    return Builtin(
        name,
        "Java",
        what,
        lambda: _not_on_path(("java", "javac"), "a JDK (Debian: apt install default-jdk-headless)"),
        # It is short-lived: a quick start is worth more than a fast decoder.
        lambda: [
            *(_found("java"), "-Xshare:auto", "-XX:TieredStopAtLevel=1"),
            *("-cp", str(built(JAVA, ADAPTERS / "JavaUtf8.java")), "JavaUtf8", mode),
        ],
    )


def _perl(name: str, mode: str, what: str) -> Builtin:
    return Builtin(
        name,
        "Perl",
        what,
        lambda: _not_on_path("perl", "Perl 5 (Debian: apt install perl)"),
        lambda: [_found("perl"), str(ADAPTERS / "perl_utf8.pl"), mode],
    )


def _glibc_missing() -> str:
    if platform.libc_ver()[0] != "glibc":
        return "it is glibc's own decoder: Linux with glibc only"
    return "" if C.found() else "no C compiler on PATH; install gcc or clang (Debian: apt install gcc libc6-dev)"


BUILTINS = {
    builtin.name: builtin
    for builtin in (
        _cpython("cpython", "Strict", "bytes.decode, strict and replace"),
        _cpython("cpython-incremental", "Incremental", "codecs' incremental decoder, whole and in chunks"),
        _cpython("cpython-surrogatepass", "Surrogatepass", "bytes.decode with surrogatepass"),
        _cpython("cpython-surrogateescape", "Surrogateescape", "bytes.decode with surrogateescape (PEP 383)"),
        _node("node-textdecoder", "textdecoder", "TextDecoder, fatal and replacing, whole and in chunks"),
        _node("node-buffer", "buffer", "Buffer.toString and buffer.isUtf8"),
        Builtin(
            "glibc-iconv",
            "C",
            "iconv from UTF-8 to UTF-32",
            _glibc_missing,
            lambda: [str(built(C, ADAPTERS / "glibc_iconv.c"))],
        ),
        _go("go-utf8", "utf8", "unicode/utf8: Valid, DecodeRune, AppendRune; range over a string"),
        _go("go-tovalidutf8", "tovalidutf8", "strings.ToValidUTF8: one U+FFFD for each run of ill-formed octets"),
        Builtin(
            "rust-std",
            "Rust",
            "str::from_utf8, String::from_utf8_lossy, char",
            lambda: _not_on_path("rustc", "Rust 1.63 or later (Debian: apt install rustc)"),
            lambda: [str(built(RUST, ADAPTERS / "rust_std.rs"))],
        ),
        _java("java-charsetdecoder", "charsetdecoder", "CharsetDecoder, reporting and replacing, in chunks"),
        _java("java-string", "string", "new String(bytes, UTF_8) and getBytes"),
        _java("java-readutf", "readutf", "DataInputStream.readUTF: modified UTF-8"),
        _perl("perl-utf8", "utf8", "Encode's utf8, Perl's own lax form"),
        _perl("perl-utf-8-strict", "utf-8-strict", "Encode's UTF-8, the strict one"),
    )
}


def _found(program: str) -> str:
    path = shutil.which(program)
    assert path is not None, "asked only when nothing is missing"
    return path


def _not_on_path(programs: str | tuple[str, ...], install: str) -> str:
    """What to install; empty if the programs are there."""
    missing = [each for each in ((programs,) if isinstance(programs, str) else programs) if not shutil.which(each)]
    if not missing:
        return ""
    return f"{' and '.join(missing)} {'is' if len(missing) == 1 else 'are'} not on PATH; install {install}"
