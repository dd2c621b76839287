'use strict';
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
