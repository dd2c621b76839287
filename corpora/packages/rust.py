"""The crate: static tables, so that nothing is parsed and nothing fails."""

from __future__ import annotations

from corpora.packages.contents import LINE, NAME, STEM, VERSION, exported, readme, source, tarball

CARGO = """[package]
name = "{name}"
version = "{version}"
edition = "2018"
description = "{line}"
{homepage}license = "CC0-1.0"
readme = "README.md"
categories = ["development-tools::testing", "encoding", "no-std"]
"""
EXAMPLE = """fn main() {
    let wrong = overlong_vectors::failing(|octets| std::str::from_utf8(octets));
    let wrong: Vec<_> = wrong.map(|vector| vector.id).collect();
    println!("{} wrong {:?}", wrong.len(), wrong);
}
"""
FIELDS = """`octets` is the input. `strict` is the text, or the place of what is refused, `replacement` the output
of a decoder that replaces."""
_TABLE = "pub static UTF8_VECTORS: &[Utf8Vector] = &[\n"


def crate(held: dict[str, bytes], homepage: str | None) -> dict[str, bytes]:
    """The crate, as ``cargo package`` would name it: one table is exported with its types, the other's rows follow."""
    lines = exported("rust", "core").decode("ascii").replace(_TABLE, _TABLE.replace("UTF8_VECTORS", "CORE"))
    _, _, rows = exported("rust", "complete").decode("ascii").partition(_TABLE)
    more = f"\n#[rustfmt::skip]\n{_TABLE.replace('UTF8_VECTORS', 'COMPLETE')}{rows}"
    page = f'homepage = "{homepage}"\nrepository = "{homepage}"\n' if homepage else ""
    cargo = CARGO.format(name=NAME, version=VERSION, line=LINE, homepage=page)
    install = f"tar xzf {STEM}.crate\n    cargo add --offline --path {STEM}"
    files = {
        "Cargo.toml": cargo.encode("ascii"),
        "LICENSE": held["LICENSE"],
        "README.md": readme(homepage, install, "rust", EXAMPLE, FIELDS),
        "src/lib.rs": (source("lib.rs").replace("@LINE@", LINE) + lines + more).encode("ascii"),
    }
    return {f"{STEM}.crate": tarball(STEM, files)}
