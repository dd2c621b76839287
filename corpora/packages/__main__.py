"""Writes data packages: the vectors, for use without overlong. ``python -m corpora.packages --output DIR``.

Each holds the suites `core` and `streams`, and `complete-0`, with every expected answer, and what reads them in its
language. Same version, same octets. Nothing is published from here.
"""

from __future__ import annotations

import argparse
import re
import shutil
import sys
from pathlib import Path

from corpora.packages.contents import STEM, data, readme, sums, tarball
from corpora.packages.go import module
from corpora.packages.java import artifact
from corpora.packages.javascript import npm
from corpora.packages.python import wheel
from corpora.packages.rust import crate


def plain(held: dict[str, bytes], homepage: str | None) -> dict[str, bytes]:
    """The files alone, with their checksums."""
    about = readme(homepage, f"tar xzf {STEM}.tar.gz", "sh", "sha256sum -c SHA256SUMS\n")
    return {f"{STEM}.tar.gz": tarball(STEM, held | {"SHA256SUMS": sums(held), "README.md": about})}


def address(text: str) -> str:
    """The address of a page, of characters that mean nothing in the files that it gets into."""
    if not re.fullmatch(r"https://[A-Za-z0-9._~:/-]+", text):
        raise argparse.ArgumentTypeError(f"{text!r} is no plain address, such as https://HOST/OWNER/overlong")
    return text


def main() -> None:
    """Write the packages, and the checksums of all."""
    parser = argparse.ArgumentParser(description="Write the data packages.")
    parser.add_argument("--output", type=Path, required=True, metavar="DIR", help="the folder, made if it is missing")
    parser.add_argument(
        "--homepage", type=address, metavar="URL", help="the address of the repository, for the packages' metadata"
    )
    told = parser.parse_args()
    folder: Path = told.output
    folder.mkdir(parents=True, exist_ok=True)
    makers = [artifact, crate, module, npm, plain, wheel]
    if not (shutil.which("javac") and shutil.which("javadoc")):
        makers.remove(artifact)
        print(
            "no javac and javadoc: the Maven artifact is left out (Debian: apt install default-jdk-headless)",
            file=sys.stderr,
        )
    held = data()
    packages = {name: octets for make in makers for name, octets in make(held, told.homepage).items()}
    for name, octets in packages.items():
        (folder / name).write_bytes(octets)
    (folder / "SHA256SUMS").write_bytes(sums(packages))


if __name__ == "__main__":
    main()
