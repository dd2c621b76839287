"""Decoders of Go."""

from __future__ import annotations

from overlong.conformance.targets.build import GO, built
from overlong.conformance.targets.builtin import ADAPTERS, Builtin, found, not_on_path, said


def no_go() -> str:
    """What to install to build Go; empty if nothing."""
    return not_on_path("go", "Go 1.19 or later (Debian: apt install golang-go)")


def go_version() -> str:
    """As ``go env GOVERSION`` has it."""
    return said(found("go"), "env", "GOVERSION")


def _go(name: str, mode: str, what: str) -> Builtin:
    return Builtin(name, "Go", what, no_go, lambda: [str(built(GO, ADAPTERS / "go_utf8.go")), mode], go_version)


GO_DECODERS = (
    _go("go-utf8", "utf8", "unicode/utf8: Valid, DecodeRune, AppendRune; range over a string"),
    _go("go-tovalidutf8", "tovalidutf8", "strings.ToValidUTF8: one U+FFFD for each run of ill-formed octets"),
)
