"""Decoders of Python: CPython's own, and packages."""

from __future__ import annotations

import platform

from overlong.conformance.targets.builtin import ADAPTERS, Builtin, python_command


def _cpython(name: str, attribute: str, what: str) -> Builtin:
    return Builtin(
        name,
        "Python",
        what,
        lambda: "",
        lambda: python_command(str(ADAPTERS / "cpython.py"), attribute),
        lambda: f"{platform.python_implementation()} {platform.python_version()}",
    )


PYTHON_DECODERS = (
    _cpython("cpython", "Strict", "bytes.decode, strict and replace"),
    _cpython("cpython-incremental", "Incremental", "codecs' incremental decoder, whole and in chunks"),
    _cpython("cpython-surrogatepass", "Surrogatepass", "bytes.decode with surrogatepass"),
    _cpython("cpython-surrogateescape", "Surrogateescape", "bytes.decode with surrogateescape (PEP 383)"),
)
