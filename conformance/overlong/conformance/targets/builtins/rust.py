"""Decoders of Rust: the standard library's, and crates."""

from __future__ import annotations

from overlong.conformance.targets.build import RUST, built
from overlong.conformance.targets.builtin import ADAPTERS, Builtin, found, not_on_path, said

RUST_DECODERS = (
    Builtin(
        "rust-std",
        "Rust",
        "str::from_utf8, String::from_utf8_lossy, char",
        lambda: not_on_path("rustc", "Rust 1.63 or later (Debian: apt install rustc)"),
        lambda: [str(built(RUST, ADAPTERS / "rust_std.rs"))],
        lambda: said(found("rustc"), "--version"),
    ),
)
