"""Decoders of Go: the standard library's, and modules."""

from __future__ import annotations

from overlong.conformance.targets.build import GO, built
from overlong.conformance.targets.builtin import ADAPTERS, ELSEWHERE, Builtin, found, not_on_path, said
from overlong.conformance.targets.packages import Project, fetched

_INSTALL = "Go 1.19 or later (Debian: apt install golang-go)"

MODULES = Project(
    "gomodule",
    "the Go module proxy",
    (("go", "build", "-o", "overlong-gomodule", "."),),
    _INSTALL,
    "go list -m -versions golang.org/x/text",
    r"\t{} (v\S+)",
    "go.mod",
    shared=("go_frames.go",),
    # No other toolchain is fetched, and no go.work above the cache folder has a say.
    environment={"GO111MODULE": "on", "GOTOOLCHAIN": "local", "GOWORK": "off", "GOFLAGS": "-mod=readonly"},
)


def no_go() -> str:
    """What to install to build Go; empty if nothing."""
    return not_on_path("go", _INSTALL)


def go_version() -> str:
    """As ``go env GOVERSION`` has it."""
    return said(found("go"), "env", "GOVERSION", folder=ELSEWHERE)


def _go(name: str, mode: str, what: str) -> Builtin:
    sources = (ADAPTERS / "go_utf8.go", ADAPTERS / "go_frames.go")
    return Builtin(name, "Go", what, no_go, lambda: [str(built(GO, *sources)), mode], go_version)


def _module(name: str, module: str, what: str) -> Builtin:
    return Builtin(
        f"go-{name}",
        "Go",
        what,
        MODULES.missing,
        lambda: [str(fetched(MODULES) / "overlong-gomodule"), name],
        lambda: MODULES.version(module),
        fetches=f"{module} of the Go module proxy",
    )


GO_DECODERS = (
    _go("go-utf8", "utf8", "unicode/utf8: Valid, DecodeRune, AppendRune; range over a string"),
    _go("go-tovalidutf8", "tovalidutf8", "strings.ToValidUTF8: one U+FFFD for each run of ill-formed octets"),
    _module("x-text", "golang.org/x/text", "x/text: encoding.UTF8Validator and unicode.UTF8, in chunks"),
    _module("x-text-runes", "golang.org/x/text", "x/text: runes.ReplaceIllFormed, in chunks"),
    _module("segmentio-asm", "github.com/segmentio/asm", "segmentio/asm: utf8.Valid, in assembly"),
)
