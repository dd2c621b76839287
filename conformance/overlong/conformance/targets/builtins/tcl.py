"""Decoders of Tcl."""

from __future__ import annotations

import shutil
from functools import cache

from overlong.conformance.targets.builtin import ADAPTERS, Builtin, said

_ADAPTER = str(ADAPTERS / "tcl_utf8.tcl")


@cache
def _tcl() -> tuple[str, str]:
    """The path and the version of a Tcl 8.6, since Tcl 9 decodes otherwise; two empty strings if there is none."""
    for path in filter(None, map(shutil.which, ("tclsh8.6", "tclsh"))):
        version = said(path, _ADAPTER, "version")  # tclsh has no option for it
        if version.startswith("Tcl 8.6."):
            return path, version
    return "", ""


TCL_DECODERS = (
    Builtin(
        "tcl",
        "Tcl",
        "encoding convertfrom utf-8, and a channel",
        lambda: "" if _tcl()[0] else "no Tcl 8.6 on PATH; install it (Debian: apt install tcl8.6)",
        lambda: [_tcl()[0], _ADAPTER],
        lambda: _tcl()[1],
    ),
)
