"""Decoders of packages of PyPI that have one of their own."""

from __future__ import annotations

import re
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec

from overlong.conformance.targets.builtin import ADAPTERS, Builtin, python_command
from overlong.reference.extra import install

_DECODERS = ADAPTERS / "packages" / "decoders.py"


def _installed(package: str) -> str:
    """Its version; empty if it is not installed."""
    try:
        return version(package)
    except PackageNotFoundError:
        return ""


def _is_there(module: str) -> bool:
    """Whether a module can be imported, found out without importing it."""
    try:
        return find_spec(module) is not None
    except ImportError:  # nor the package that holds it
        return False


def _package(name: str, package: str, module: str, what: str, *, least: int = 0) -> Builtin:
    """``least``: the first major version whose decoder is its own."""

    def missing() -> str:
        remedy = (
            f"pip install '{package}{f'>={least}' if least else ''}', or for all such packages, {install('decoders')}"
        )
        found = _installed(package)
        if not found or not _is_there(module):
            return f"no {module} in this Python; {remedy}"
        major = re.match(r"\d+", found)
        if least and (major is None or int(major[0]) < least):
            return f"{package} {found} decodes with CPython's decoder; {remedy}"
        return ""

    return Builtin(
        name,
        "Python",
        what,
        missing,
        lambda: python_command(str(_DECODERS), name.replace("-", "_")),
        lambda: " ".join(filter(None, (package, _installed(package)))),
    )


PYTHON_PACKAGES = (
    _package("orjson", "orjson", "orjson", "orjson.loads of a JSON string; in Rust"),
    _package("ujson", "ujson", "ujson", "ujson.loads of a JSON string; in C"),
    _package("pysimdjson", "pysimdjson", "simdjson", "simdjson's parser, of a JSON string; in C++"),
    _package("pydantic-core", "pydantic-core", "pydantic_core", "bytes where a str is due; in Rust"),
    _package("pydantic-core-json", "pydantic-core", "pydantic_core", "from_json (jiter) of a JSON string; in Rust"),
    _package("cbor2", "cbor2", "cbor2", "cbor2.loads of a text string; in Rust", least=6),
    _package("protobuf", "protobuf", "google.protobuf", "the string field of a message (upb, utf8_range); in C"),
    _package("pyarrow", "pyarrow", "pyarrow", "the cast of binary to string; in C++"),
    _package("mutf8", "mutf8", "mutf8", "decode_modified_utf8: modified UTF-8; in C"),
    _package("lxml", "lxml", "lxml", "the text of an XML document, with the libxml2 inside its wheel; in C"),
)
