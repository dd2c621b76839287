import { isDeepStrictEqual } from "node:util";
import { vectors } from "./utf8_vectors.mjs";

const text = (scalars) => scalars.map((scalar) => String.fromCodePoint(scalar)).join("");
const decode = (octets, fatal) => new TextDecoder("utf-8", { fatal, ignoreBOM: true }).decode(octets);

function stream({ octets, chunks }) {
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  let [place, output, putOut] = [0, "", []];
  for (const length of chunks ?? Array(octets.length).fill(1)) {
    output += decoder.decode(octets.subarray(place, (place += length)), { stream: true });
    putOut.push([...output].length);
  }
  return { output: output + decoder.decode(), putOut };
}

let wrong = 0;
for (const v of vectors) {
  let strict = null;
  try { strict = decode(v.octets, true); } catch {}
  const expected = v.strict.accept ? text(v.strict.scalars) : null;
  const streamed = { output: text(v.replacement), putOut: v.putOut };
  if (strict !== expected || decode(v.octets, false) !== streamed.output || !isDeepStrictEqual(stream(v), streamed)) {
    console.log(`wrong: ${v.id} (${v.comment})`);
    wrong++;
  }
}
console.log(`${vectors.length} vectors, ${wrong} wrong`);
process.exit(wrong ? 1 : 0);
