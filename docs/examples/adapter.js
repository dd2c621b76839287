// A whole adapter. It puts TextDecoder under test: put your own decoder in its place.
"use strict";
const fs = require("node:fs");
const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

function answer(operation, payload) {
  if (operation === "P") return ["A", payload];
  if (operation !== "V" && operation !== "D") return ["U"];
  try {
    const text = decoder.decode(payload); // the decoder under test
    return operation === "V" ? ["A"] : ["A", Buffer.from(text, "utf16le").swap16()];
  } catch (error) {
    if (error.code === "ERR_ENCODING_INVALID_ENCODED_DATA") return ["R"];
    return ["X", Buffer.from(String(error))]; // not a refusal: the decoder is broken
  }
}

function read(size) {
  const octets = Buffer.alloc(size);
  for (let have = 0; have < size; ) {
    const got = fs.readSync(0, octets, have, size - have, null);
    if (got === 0) return null; // the input has ended
    have += got;
  }
  return octets;
}

function write(octets) {
  for (let sent = 0; sent < octets.length; ) sent += fs.writeSync(1, octets, sent);
}

const greeting = { overlong: 1, language: "JavaScript", operations: "PVD", units: "utf-16" };
write(Buffer.from(JSON.stringify(greeting) + "\n"));
for (let head; (head = read(8)); ) {
  const body = read(head.readUInt32BE(0) - 4);
  const [status, payload = Buffer.alloc(0)] = answer(String.fromCharCode(body[0]), body.subarray(1));
  const response = Buffer.concat([Buffer.alloc(8), Buffer.from(status), payload]);
  response.writeUInt32BE(response.length - 4, 0);
  response.writeUInt32BE(head.readUInt32BE(4), 4);
  write(response);
}
