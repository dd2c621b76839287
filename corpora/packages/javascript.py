"""The package for npm."""

from __future__ import annotations

import json

from corpora.packages.archives import tarball
from corpora.packages.contents import LINE, NAME, STEM, VERSION, readme

NODE = """'use strict';
const documents = new Map([
  ['core', () => require('./core.json')],
  ['complete', () => require('./complete.json')],
]);
const numbers = (text) => text.split(' ').filter(Boolean).map((word) => parseInt(word, 16));

function vector({ hex, expect: { strict, replacement }, ...others }) {
  const octets = Uint8Array.from(hex.match(/../g) ?? [], (octet) => parseInt(octet, 16));
  return {
    comment: '', cases: [], chunks: null, decoder: null, references: [], provenance: null, ...others, octets,
    expect: {
      strict: strict.verdict === 'accept' ? { ...strict, scalars: numbers(strict.scalars) } : { ...strict },
      replacement: { scalars: numbers(replacement.scalars), chunked: replacement.chunked.map(numbers) },
    },
  };
}

exports.load = (name = 'core') => {
  const document = documents.get(name);
  if (document === undefined) {
    throw new RangeError(`no list ${JSON.stringify(name)}: load("core") or load("complete")`);
  }
  return document().groups.flatMap((group) => group.tests.map(vector));
};

let all;
exports.byId = (id) => {
  all ??= new Map([...exports.load('core'), ...exports.load('complete')].map((each) => [each.id, each]));
  const found = all.get(id);
  if (found === undefined) {
    throw new RangeError(`no vector ${JSON.stringify(id)}: use an id that load("core") or load("complete") has`);
  }
  return found;
};

exports.failing = (decode, vectors = [...exports.load('core'), ...exports.load('complete')]) =>
  vectors.filter(({ octets, expect: { strict } }) => {
    let text = null;
    try {
      text = decode(octets);
    } catch {} // it refuses
    return text !== (strict.verdict === 'accept' ? String.fromCodePoint(...strict.scalars) : null);
  });
"""
NODE_TYPES = """/** A strict decoder accepts the input, and this is its text. */
export interface Accepted {
  verdict: 'accept';
  /** Scalar values: `String.fromCodePoint(...scalars)` is the text. */
  scalars: number[];
}

/** A strict decoder refuses the input. */
export interface Rejected {
  verdict: 'reject';
  /** Where, in octets: of the first maximal subpart of what is ill-formed. */
  offset: number;
  /** Of that subpart, in octets. */
  length: number;
  /** The input ends inside a possible character. */
  incomplete: boolean;
  /** So many octets show that it is ill-formed; null where only the end shows it. */
  detectable_at: number | null;
}

/** The output of a decoder that replaces each maximal subpart with one U+FFFD. */
export interface Replacement {
  scalars: number[];
  /** What of it is out after each chunk, or each octet where the input comes whole, and at the end. */
  chunked: number[][];
}

/** The rule that the input is made from. */
export interface Provenance {
  document: string;
  section: string;
  rule: string;
  /** Where it is a single one. */
  alternative?: string;
}

/** An input for a UTF-8 decoder, and what a right decoder answers. */
export interface Vector {
  /** Once published, an id never means anything else. */
  id: string;
  octets: Uint8Array;
  /** Lengths of the chunks that the input comes in; null where it comes whole. */
  chunks: number[] | null;
  expect: { strict: Accepted | Rejected; replacement: Replacement };
  /** Codes of what is wrong with the input. */
  flags: string[];
  comment: string;
  /** What it is for. */
  cases: string[];
  /** One that got it wrong; null where none is named. */
  decoder: string | null;
  /** Where that stands. */
  references: string[];
  provenance: Provenance | null;
  /** The version of the suite that the id came with. */
  since: string;
}

/** The vectors for each known kind of fault, or those that no wrong decoder of up to nine states passes. */
export function load(name?: 'core' | 'complete'): Vector[];

/** The vector with that id, of whichever list; a RangeError if there is none. */
export function byId(id: string): Vector;

/**
 * The vectors, of both lists unless others are given, that a strict decoder accepts or refuses wrongly, or decodes to
 * another text. It refuses by throwing anything, or by null.
 */
export function failing(decode: (octets: Uint8Array) => string | null, vectors?: Vector[]): Vector[];
"""
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
        "index.js": NODE.encode("ascii"),
        "index.d.ts": NODE_TYPES.encode("ascii"),
        "README.md": readme(homepage, f"npm install --offline ./{name}", "ts", NODE_EXAMPLE),
    }
    return {name: tarball("package", files)}
