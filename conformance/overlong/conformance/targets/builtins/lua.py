"""Decoders of Lua."""

from __future__ import annotations

import shutil
from functools import cache

from overlong.conformance.targets.builtin import ADAPTERS, Builtin, said


@cache
def _lua() -> tuple[str, str]:
    """The path and the version of a Lua whose ``utf8`` can be lax, which came with 5.4; two empty strings if none."""
    for path in filter(None, map(shutil.which, ("lua5.4", "lua54", "lua"))):
        version = " ".join(said(path, "-v").split()[:2])  # a copyright follows
        if version.startswith("Lua ") and version[4:].split(".")[:2] >= ["5", "4"]:
            return path, version
    return "", ""


def _utf8(name: str, mode: str, what: str) -> Builtin:
    return Builtin(
        name,
        "Lua",
        what,
        lambda: "" if _lua()[0] else "no Lua 5.4 or later on PATH; install it (Debian: apt install lua5.4)",
        lambda: [_lua()[0], str(ADAPTERS / "lua_utf8.lua"), mode],
        lambda: _lua()[1],
    )


LUA_DECODERS = (
    _utf8("lua-utf8", "strict", "utf8.len, utf8.codepoint, utf8.char"),
    _utf8("lua-utf8-lax", "lax", "the same with lax=true: numbers up to 7FFFFFFF"),
)
