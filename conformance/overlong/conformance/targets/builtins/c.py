"""Decoders of C and C++ libraries."""

from __future__ import annotations

import platform

from overlong.conformance.targets.build import C, built
from overlong.conformance.targets.builtin import ADAPTERS, Builtin


def no_compiler() -> str:
    """What to install to compile C; empty if nothing."""
    return "" if C.found() else "no C compiler on PATH; install gcc or clang (Debian: apt install gcc libc6-dev)"


def _not_glibc() -> str:
    if platform.libc_ver()[0] != "glibc":
        return "it is glibc's own decoder: Linux with glibc only"
    return no_compiler()


C_LIBRARIES = (
    Builtin(
        "glibc-iconv",
        "C",
        "iconv from UTF-8 to UTF-32",
        _not_glibc,
        lambda: [str(built(C, ADAPTERS / "glibc_iconv.c"))],
        lambda: " ".join(platform.libc_ver()),
    ),
)
