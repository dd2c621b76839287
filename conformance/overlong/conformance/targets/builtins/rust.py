"""Decoders of Rust: the standard library's, and crates."""

from __future__ import annotations

from overlong.conformance.targets.build import RUST, built
from overlong.conformance.targets.builtin import ADAPTERS, ELSEWHERE, Builtin, found, not_on_path, said
from overlong.conformance.targets.packages import Project, fetched

CRATES = Project(
    "crates",
    "crates.io",
    # To install is to build, and to put the program where a user's configuration of cargo does not move it.
    (
        (
            "cargo",
            "install",
            "--path",
            ".",
            "--root",
            ".",
            "--target-dir",
            "target",
            "--locked",
            "--no-track",
            "--quiet",
        ),
    ),
    "Rust 1.63 or later with cargo (Debian: apt install cargo)",
    "cargo search simdutf8",
    r'name = "{}"\nversion = "([^"]+)"',
    "Cargo.lock",
    shared=("rust_frames.rs",),
    drop=("target",),
)


def _crate(name: str, package: str, what: str) -> Builtin:
    return Builtin(
        f"rust-{name}",
        "Rust",
        what,
        lambda: CRATES.missing("rustc"),
        lambda: [str(fetched(CRATES) / "bin" / "overlong-crates"), name],
        lambda: CRATES.version(package),
        fetches=f"{package} of crates.io",
    )


RUST_DECODERS = (
    Builtin(
        "rust-std",
        "Rust",
        "str::from_utf8, String::from_utf8_lossy, char",
        lambda: not_on_path("rustc", "Rust 1.63 or later (Debian: apt install rustc)"),
        lambda: [str(built(RUST, ADAPTERS / "rust_std.rs", ADAPTERS / "rust_frames.rs"))],
        lambda: said(found("rustc"), "--version", folder=ELSEWHERE),
    ),
    _crate("simdutf8", "simdutf8", "simdutf8, basic and compat, on SIMD"),
    _crate("encoding-rs", "encoding_rs", "encoding_rs, strict and replacing, in chunks"),
    _crate("bstr", "bstr", "bstr: to_str, decode_utf8, to_str_lossy"),
)
