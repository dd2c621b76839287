// Adapter for Node's own decoders, and for functions beside them: node node.js textdecoder|buffer|stringdecoder|functions
"use strict";
const buffer = require("node:buffer");
const { StringDecoder } = require("node:string_decoder");
const { Refused, again, encoders, serve, stream, textDecoder } = require("./node_frames.js");

// A refusal of TextDecoder gives no offset, only the chunk.
const refuses = (error) => error.code === "ERR_ENCODING_INVALID_ENCODED_DATA";
const encoder = new TextEncoder();
const chunks = (decoder) => (octets, last) => (last ? decoder.end(octets) : decoder.write(octets));
const whole = new StringDecoder("utf8"); // after end() it may be used again

function encodeInto(text, room) {
  const octets = new Uint8Array(room), { read, written } = encoder.encodeInto(text, octets);
  return [read, ...octets.subarray(0, written)];
}
const oneByte = (text) => Buffer.from(text, "latin1").toString("latin1"); // as V8 keeps Latin-1
// By the numbers of the questions, as 'overlong docs functions' lists them.
const functions = {
  1: ["count-scalars", (text) => [[...text].length]],
  2: ["count-utf16", (text) => [text.length]],
  18: ["from-utf16", encodeInto],
  20: ["from-latin1", (text, room) => encodeInto(oneByte(text), room)],
  21: ["size-from-utf16", (text) => [Buffer.byteLength(text)]],
  23: ["size-from-latin1", (text) => [Buffer.byteLength(oneByte(text))]],
};
const wellFormed = (text) => (text.isWellFormed() ? encoder.encode(text) : new Refused());
const beside = {
  functions: Object.values(functions).map(([name]) => name), ill_formed: "maximal-subparts", encode_errors: "fatal",
};

serve({
  textdecoder: {
    ...textDecoder(TextDecoder, refuses), ...encoders((text) => encoder.encode(text)),
  },
  buffer: {
    V: (octets) => buffer.isUtf8(octets), L: (octets) => octets.toString("utf8"),
    ...encoders((text) => Buffer.from(text, "utf8"), (text) => Buffer.byteLength(text)),
  },
  stringdecoder: {
    L: (octets) => whole.end(octets),
    T: (payload) => stream(chunks(new StringDecoder("utf8")), payload),
    M: (payload) => again(chunks(new StringDecoder("utf8")), payload),
  },
  functions: {
    Q: (payload) => Uint32Array.from(functions[payload[0]][1](payload.toString("utf8", 5), payload.readUInt32BE(1))),
    ...("".isWellFormed && encoders(wellFormed)), // from Node.js 20 on
  },
}[process.argv[2]], {
  name: `node-${process.argv[2]}`, version: process.version, encode_errors: "replacement",
  ...(process.argv[2] === "functions" && beside),
});
