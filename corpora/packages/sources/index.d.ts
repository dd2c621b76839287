/** A strict decoder accepts the input, and this is its text. */
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
