"""The crate: static tables, so that nothing is parsed and nothing fails."""

from __future__ import annotations

from corpora.packages.archives import tarball
from corpora.packages.contents import LINE, NAME, STEM, VERSION, exported, readme

CARGO = f"""[package]
name = "{NAME}"
version = "{VERSION}"
edition = "2018"
description = "{LINE}"
license = "CC0-1.0"
readme = "README.md"
categories = ["development-tools::testing", "encoding", "no-std"]
"""
RUST = f"""#![no_std]
#![forbid(unsafe_code)]
//! {LINE}.
"""
EXAMPLE = """use overlong_vectors::{COMPLETE, CORE};

fn main() {
    let mut wrong = 0;
    for v in CORE.iter().chain(COMPLETE) {
        let found = std::str::from_utf8(v.octets).map_err(|e| (e.valid_up_to(), e.error_len()));
        let expected = v.strict.map_err(|r| (r.offset, if r.incomplete { None } else { Some(r.length) }));
        let replaced = String::from_utf8_lossy(v.octets);
        wrong += usize::from(found != expected || replaced != v.replacement);
    }
    println!("{} vectors, {} wrong", CORE.len() + COMPLETE.len(), wrong);
}
"""
FIELDS = """`octets` is the input. `strict` is the text, or the place of what is refused, `replacement` what a decoder
puts out that replaces."""
_TABLE = "pub static UTF8_VECTORS: &[Utf8Vector] = &[\n"


def crate(held: dict[str, bytes]) -> dict[str, bytes]:
    """The crate, as ``cargo package`` would name it: one table is exported with its types, the other's rows follow."""
    lines = exported("rust", "core").decode("ascii").replace(_TABLE, _TABLE.replace("UTF8_VECTORS", "CORE"))
    _, _, rows = exported("rust", "complete").decode("ascii").partition(_TABLE)
    more = f"\n#[rustfmt::skip]\n{_TABLE.replace('UTF8_VECTORS', 'COMPLETE')}{rows}"
    files = {
        "Cargo.toml": CARGO.encode("ascii"),
        "LICENSE": held["LICENSE"],
        "README.md": readme(f"tar xzf {STEM}.crate\n    cargo add --offline --path {STEM}", "rust", EXAMPLE, FIELDS),
        "src/lib.rs": (RUST + lines + more).encode("ascii"),
    }
    return {f"{STEM}.crate": tarball(STEM, files)}
