"""Decoders inside programs."""

from __future__ import annotations

from overlong.conformance.support.interpreter import script
from overlong.conformance.targets.builtin import ADAPTERS, Builtin, found, not_on_path, said

PROGRAMS = (
    Builtin(
        "jq",
        "C",
        "jq's reader of JSON strings",
        lambda: not_on_path("jq", "jq (Debian: apt install jq)"),
        lambda: script(ADAPTERS / "jq_json.py", found("jq")),
        lambda: said(found("jq"), "--version"),
    ),
)
