// Adapter for Node's own decoders: node node.js textdecoder|buffer|stringdecoder
"use strict";
const buffer = require("node:buffer");
const { StringDecoder } = require("node:string_decoder");
const { again, encoders, serve, stream, textDecoder } = require("./node_frames.js");

// A refusal of TextDecoder gives no offset, only the chunk.
const refuses = (error) => error.code === "ERR_ENCODING_INVALID_ENCODED_DATA";
const encoder = new TextEncoder();
const chunks = (decoder) => (octets, last) => (last ? decoder.end(octets) : decoder.write(octets));
const whole = new StringDecoder("utf8"); // after end() it may be used again

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
}[process.argv[2]], { name: `node-${process.argv[2]}`, version: process.version, encode_errors: "replacement" });
