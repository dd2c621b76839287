"""Decoders of the C libraries glibc and musl."""

from __future__ import annotations

import platform
from dataclasses import replace

from overlong.conformance.targets.build import CXX, MUSL, C, Compiler, built
from overlong.conformance.targets.builtin import ADAPTERS, Builtin, said

SOURCES = ADAPTERS / "c"


def no_compiler(compiler: Compiler = C) -> str:
    """What to install to compile C or C++; empty if nothing."""
    if compiler.found():
        return ""
    if compiler is CXX:
        return "no C++ compiler on PATH; install g++ or clang (Debian: apt install g++)"
    return "no C compiler on PATH; install gcc or clang (Debian: apt install gcc libc6-dev)"


def c_program(compiler: Compiler, source: str, version: str, *libraries: str) -> str:
    """The path of an adapter for a library: built, with the version that the library itself may not say."""
    stated = f'-DLIBRARY_VERSION="{version}"' if version else ""
    whole = replace(compiler, libraries=(*filter(None, [stated]), *libraries))
    return str(built(whole, SOURCES / source, *sorted(SOURCES.glob("*.h"))))


def debian_version(package: str) -> str:
    """The version of a Debian package; empty where there are none."""
    return said("dpkg-query", "-W", "-f", "${Version}", package)


def _glibc(name: str, source: str, what: str) -> Builtin:
    return Builtin(
        name,
        "C",
        what,
        lambda: no_compiler() if platform.libc_ver()[0] == "glibc" else "it is glibc's own: Linux with glibc only",
        lambda: [c_program(C, source, "")],
        lambda: " ".join(platform.libc_ver()),
    )


def _musl_version() -> str:
    return f"musl {debian_version('musl-tools')}".strip()


def _musl(name: str, source: str, what: str) -> Builtin:
    return Builtin(
        name,
        "C",
        what,
        lambda: "" if MUSL.found() else "musl-gcc is not on PATH; install musl (Debian: apt install musl-tools)",
        lambda: [c_program(MUSL, source, _musl_version())],
        _musl_version,
    )


LIBC_DECODERS = (
    _glibc("glibc-iconv", "iconv.c", "iconv from UTF-8 to UTF-32, whole and in chunks, and back"),
    _glibc("glibc-mbrtowc", "mbrtowc.c", "mbrtowc in the locale C.UTF-8, whole and in chunks; wcrtomb"),
    _musl("musl-iconv", "iconv.c", "iconv from UTF-8 to UTF-32, whole and in chunks, and back"),
    _musl("musl-mbrtowc", "mbrtowc.c", "mbrtowc in the locale C.UTF-8, whole and in chunks; wcrtomb"),
)
