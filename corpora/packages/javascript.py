"""The package for npm."""

from __future__ import annotations

import json

from corpora.packages.contents import LINE, NAME, STEM, VERSION, readme, source, tarball

NODE_EXAMPLE = """import { failing } from 'overlong-vectors';

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
const wrong = failing((octets) => decoder.decode(octets));
console.log(`${wrong.length} wrong`, ...wrong.map((vector) => vector.id));
"""


def npm(held: dict[str, bytes], homepage: str | None) -> dict[str, bytes]:
    """The package, as ``npm pack`` would name it."""
    name = f"{STEM}.tgz"
    about = {"name": NAME, "version": VERSION, "description": LINE, "license": "CC0-1.0"}
    about |= {"main": "index.js", "types": "index.d.ts"} | ({"homepage": homepage} if homepage else {})
    files = held | {
        "package.json": json.dumps(about, indent=1).encode("ascii") + b"\n",
        "index.js": source("index.js").encode("ascii"),
        "index.d.ts": source("index.d.ts").encode("ascii"),
        "README.md": readme(homepage, f"npm install --offline ./{name}", "ts", NODE_EXAMPLE),
    }
    return {name: tarball("package", files)}
