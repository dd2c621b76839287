"""The package for npm."""

from __future__ import annotations

import json

from corpora.packages.archives import tarball
from corpora.packages.contents import LINE, NAME, STEM, VERSION, readme

NODE = """'use strict';
const lists = { core: './core.json', complete: './complete.json' };
exports.load = (name = 'core') => require(lists[name]).groups.flatMap((group) => group.tests);
"""
NODE_TYPES = """export interface Vector {
  id: string;
  hex: string;
  comment: string;
  expect: { strict: { verdict: string; [field: string]: unknown }; [mode: string]: unknown };
  [field: string]: unknown;
}
export function load(name?: 'core' | 'complete'): Vector[];
"""
NODE_EXAMPLE = """const { load } = require('overlong-vectors');
let wrong = 0;
const vectors = [...load('core'), ...load('complete')];
for (const vector of vectors) {
  let accepted = true;
  try {
    new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(Buffer.from(vector.hex, 'hex'));
  } catch {
    accepted = false;
  }
  wrong += accepted !== (vector.expect.strict.verdict === 'accept');
}
console.log(`${vectors.length} vectors, ${wrong} wrong`);
"""


def npm(held: dict[str, bytes]) -> dict[str, bytes]:
    """The package, as ``npm pack`` would name it."""
    name = f"{STEM}.tgz"
    about = {"name": NAME, "version": VERSION, "description": LINE, "license": "CC0-1.0"}
    about |= {"main": "index.js", "types": "index.d.ts"}
    files = held | {
        "package.json": json.dumps(about, indent=1).encode("ascii") + b"\n",
        "index.js": NODE.encode("ascii"),
        "index.d.ts": NODE_TYPES.encode("ascii"),
        "README.md": readme(f"npm install --offline ./{name}", "js", NODE_EXAMPLE),
    }
    return {name: tarball("package", files)}
