"""Decoders of JavaScript that run in Node.js."""

from __future__ import annotations

from overlong.conformance.targets.builtin import ADAPTERS, Builtin, found, not_on_path, said


def _node(name: str, mode: str, what: str) -> Builtin:
    return Builtin(
        name,
        "JavaScript",
        what,
        lambda: not_on_path("node", "Node.js 18.14 or later (Debian: apt install nodejs)"),
        lambda: [found("node"), str(ADAPTERS / "node.js"), mode],
        lambda: f"Node.js {said('node', '--version')}",
    )


NODE_DECODERS = (
    _node("node-textdecoder", "textdecoder", "TextDecoder, fatal and replacing, whole and in chunks"),
    _node("node-buffer", "buffer", "Buffer.toString and buffer.isUtf8"),
)
