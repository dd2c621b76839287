"""Decoders of JavaScript that run in Node.js: its own, and npm's."""

from __future__ import annotations

from overlong.conformance.targets.builtin import ADAPTERS, Builtin, found, not_on_path, said
from overlong.conformance.targets.packages import Project, fetched

_INSTALL = "Node.js 18.14 or later (Debian: apt install nodejs)"

NPM = Project(
    "npm",
    "npm",
    # No package runs a script of its own here: what needs compiling ships compiled, too.
    (("npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--no-update-notifier", "--loglevel=error"),),
    "Node.js 18.14 or later with npm (Debian: apt install nodejs npm)",
    "npm ping",
    r'"node_modules/{}": \{{\s*"version": "([^"]+)"',
    "package-lock.json",
    shared=("node_frames.js",),
)


def _node(name: str, mode: str, what: str) -> Builtin:
    return Builtin(
        name,
        "JavaScript",
        what,
        lambda: not_on_path("node", _INSTALL),
        lambda: [found("node"), str(ADAPTERS / "node.js"), mode],
        lambda: f"Node.js {said('node', '--version')}",
    )


def _npm(name: str, package: str, what: str, part: str = "") -> Builtin:
    return Builtin(
        f"npm-{name}",
        "JavaScript",
        what,
        lambda: NPM.missing("node"),
        lambda: [found("node"), str(fetched(NPM) / "decoders.js"), package + part],
        lambda: NPM.version(package),
        fetches=f"{package} of npm",
    )


NODE_DECODERS = (
    _node("node-textdecoder", "textdecoder", "TextDecoder, fatal and replacing, whole and in chunks"),
    _node("node-buffer", "buffer", "Buffer.toString and buffer.isUtf8"),
    _node("node-stringdecoder", "stringdecoder", "string_decoder, replacing, in chunks"),
    _npm("utf-8-validate", "utf-8-validate", "utf-8-validate, compiled where it is for this machine"),
    _npm("utf-8-validate-js", "utf-8-validate", "utf-8-validate's fallback in JavaScript", "/fallback"),
    _npm("text-encoding", "text-encoding", "text-encoding, a polyfill of TextDecoder"),
    _npm("text-encoding-utf-8", "text-encoding-utf-8", "text-encoding-utf-8, a polyfill of TextDecoder"),
    _npm("utf8", "utf8", "utf8.decode and utf8.encode"),
    _npm("buffer", "buffer", "buffer, the Buffer of browsers"),
    _npm("protobufjs-utf8", "@protobufjs/utf8", "@protobufjs/utf8, the decoder of protobuf.js"),
    _npm("stablelib-utf8", "@stablelib/utf8", "@stablelib/utf8"),
)
