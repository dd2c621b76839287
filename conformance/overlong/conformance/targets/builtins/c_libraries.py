"""Decoders of libraries in C and C++ that are packages of a system."""

from __future__ import annotations

import shlex
import subprocess
from dataclasses import dataclass
from typing import TYPE_CHECKING

from overlong.conformance.oracle.target import TargetError
from overlong.conformance.support.printable import printable
from overlong.conformance.targets.build import CXX, C, Compiler
from overlong.conformance.targets.builtin import ELSEWHERE, Builtin, not_on_path, said
from overlong.conformance.targets.builtins.c import c_program, debian_version, no_compiler

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass(frozen=True)
class Library:
    """A library and its adapter."""

    name: str
    debian: str
    """The package of Debian that has its headers."""
    source: str
    missing: Callable[[], str]
    """What to install to compile with it; empty if nothing."""
    version: Callable[[], str]
    """Found without building anything; empty if nobody knows."""
    flags: Callable[[], list[str]]
    """What a compiler needs to find and link it."""
    compiler: Compiler = C

    def stated(self) -> str:
        """Its name and version, as reports have them."""
        return f"{self.name} {self.version()}".strip()

    def program(self) -> str:
        """The path of its adapter, built."""
        return c_program(self.compiler, self.source, self.stated(), *self.flags())


def _packaged(name: str, package: str, debian: str, source: str, *, revised: bool = False) -> Library:
    """One that ``pkg-config`` knows, as ``package``; ``revised``: Debian's revisions of it answer differently."""

    def missing() -> str:
        return no_compiler() or not_on_path("pkg-config", "pkg-config (Debian: apt install pkg-config)") or (
            "" if version() else _no_headers(name, debian)
        )  # fmt: skip

    def version() -> str:
        return (revised and debian_version(debian)) or said("pkg-config", "--modversion", package)

    def flags() -> list[str]:
        asked = subprocess.run(
            ["pkg-config", "--cflags", "--libs", package],
            capture_output=True, text=True, errors="backslashreplace", timeout=10, check=False,
        )  # fmt: skip
        if asked.returncode != 0:
            raise TargetError(f"pkg-config does not say how {name} is linked: {printable(asked.stderr.strip(), 200)}")
        return shlex.split(asked.stdout)

    return Library(name, debian, source, missing, version, flags)


def _unpackaged(
    name: str, header: str, debian: str, source: str, *links: str, compiler: Compiler = C, language: str = "c"
) -> Library:
    """One that ``pkg-config`` does not know: the compiler is asked for its header."""

    def missing() -> str:
        if why := no_compiler(compiler):
            return why
        here = said(compiler.found() or "", "-x", language, "-include", header, "-E", "-", folder=ELSEWHERE)
        return "" if here else _no_headers(name, debian)

    return Library(name, debian, source, missing, lambda: debian_version(debian), lambda: list(links), compiler)


def _no_headers(name: str, debian: str) -> str:
    return f"no headers of {name} here; install them (Debian: apt install {debian})"


def _decoder(name: str, library: Library, part: str, what: str) -> Builtin:
    return Builtin(
        name,
        "C++" if library.compiler is CXX else "C",
        what,
        library.missing,
        lambda: [library.program(), *filter(None, [part])],
        library.stated,
    )


_ICU = _packaged("ICU", "icu-uc", "libicu-dev", "icu.c")
_GLIB = _packaged("GLib", "glib-2.0", "libglib2.0-dev", "glib.c")
_UNISTRING = _unpackaged("libunistring", "unistr.h", "libunistring-dev", "unistring.c", "-lunistring")
_UTF8PROC = _packaged("utf8proc", "libutf8proc", "libutf8proc-dev", "utf8proc.c")
_UTFCPP = _unpackaged("UTF8-CPP", "utf8.h", "libutfcpp-dev", "utfcpp.cc", compiler=CXX, language="c++")
_LIBXML2 = _packaged("libxml2", "libxml-2.0", "libxml2-dev", "libxml2.c")
_EXPAT = _packaged("Expat", "expat", "libexpat1-dev", "expat.c", revised=True)

C_LIBRARIES = (
    _decoder("icu4c", _ICU, "converter", "ucnv_toUnicode, stopping and substituting, in chunks; ucnv_fromUChars"),
    _decoder("icu4c-string", _ICU, "string", "u_strFromUTF8, u_strFromUTF8WithSub, u_strToUTF8"),
    _decoder("icu4c-macro", _ICU, "macro", "U8_NEXT, U8_NEXT_OR_FFFD, U8_APPEND"),
    _decoder("glib", _GLIB, "validate", "g_utf8_validate_len, g_utf8_get_char_validated, g_utf8_make_valid"),
    _decoder("glib-ucs4", _GLIB, "ucs4", "g_utf8_to_ucs4"),
    _decoder("libunistring", _UNISTRING, "steps", "u8_check, u8_mbtoucr, u8_mbtouc, u8_uctomb"),
    _decoder("libunistring-u32", _UNISTRING, "whole", "u8_to_u32, u32_to_u8, u16_to_u8"),
    _decoder("utf8proc", _UTF8PROC, "", "utf8proc_iterate, utf8proc_encode_char"),
    _decoder("utfcpp", _UTFCPP, "", "utf8::find_invalid, next, replace_invalid, append, utf16to8"),
    _decoder("libxml2", _LIBXML2, "parser", "the text of an XML document"),
    _decoder("libxml2-checkutf8", _LIBXML2, "check", "xmlCheckUTF8"),
    _decoder("libxml2-getutf8char", _LIBXML2, "char", "xmlGetUTF8Char"),
    _decoder("expat", _EXPAT, "", "the text of an XML document, whole and in chunks"),
)
