"""Decoders of browsers."""

from __future__ import annotations

import os
import shutil

from overlong.conformance.support.interpreter import script
from overlong.conformance.targets.builtin import ADAPTERS, Builtin, said

_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def _chromium() -> str | None:
    return next(filter(None, map(shutil.which, _NAMES)), None)


def _missing() -> str:
    if os.name != "posix":
        return "its adapter needs POSIX"
    return "" if _chromium() else "chromium is not on PATH; install Chromium or Chrome (Debian: apt install chromium)"


BROWSERS = (
    Builtin(
        "chromium-textdecoder",
        "JavaScript",
        "Chromium's TextDecoder and TextEncoder, headless",
        _missing,
        lambda: script(ADAPTERS / "chromium.py", str(_chromium())),
        lambda: said(str(_chromium()), "--version"),
    ),
)
