// An adapter: a UTF-8 decoder behind two pipes. Change `decode`, and add its "version" to the greeting.
// Certify: overlong certify -- node adapter.js        (--subject FILE before -- names a file of your decoder, too)
"use strict";
const fs = require("node:fs");
const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }); // false would strip a byte order mark

// YOUR DECODER HERE: it returns a string, or throws. What `refuses` says no to is taken for a bug of the decoder.
const decode = (octets) => decoder.decode(octets);
const refuses = (error) => error.code === "ERR_ENCODING_INVALID_ENCODED_DATA";

// FUNCTIONS beside it, if any: number and name of a question ('overlong docs functions'), and the answer; null refuses.
const questions = {
  // 1: ["count-scalars", (text) => [[...text.toString()].length]],
};

const u32 = (number) => Buffer.of(number >>> 24, number >>> 16, number >>> 8, number);
const [ZERO, FF, NOTHING] = [Buffer.of(0), Buffer.of(0xff), Buffer.alloc(0)];

// Status, number, length and incomplete as they are sent, output.
function answer(operation, octets) {
  try {
    if (operation === "Q") {
      const numbers = questions[octets[0]][1](octets.subarray(5), octets.readUInt32BE(1));
      if (numbers === null) return [Buffer.from("R"), u32(0xffffffff), ZERO, FF, NOTHING];
      const sent = numbers.map((number) => u32(number >= 0 ? Math.min(number, 0xffffffff) : 0xffffffff));
      return [Buffer.from("A"), u32(numbers.length), ZERO, ZERO, Buffer.concat(sent)];
    }
    const text = decode(octets);
    const units = operation === "D" ? Buffer.from(text, "utf16le").swap16() : NOTHING;
    return [Buffer.from("A"), u32(units.length / 2), ZERO, ZERO, units];
  } catch (error) {
    if (refuses(error)) return [Buffer.from("R"), u32(0xffffffff), ZERO, FF, NOTHING]; // it says no offset: ffffffff
    const words = Buffer.from(String(error).replace(/[^ -~]/g, "?"));
    return [Buffer.from("X"), u32(words.length), ZERO, ZERO, words];
  }
}

// P echoes, V validates, D decodes, Q asks a function, B does one of these to many inputs and answers in columns.
function respond(operation, payload) {
  if (operation === "P") return [Buffer.from("A"), payload];
  if ("VDQ".includes(operation)) {
    const parts = answer(operation, payload);
    return parts[0].toString() === "R" ? parts : [parts[0], parts[4]];
  }
  if (operation !== "B") return [Buffer.from("U")]; // not offered
  const count = payload.readUInt32BE(1), answers = [];
  for (let item = 0, place = 5 + 4 * count, size; item < count; item++, place += size) {
    size = payload.readUInt32BE(5 + 4 * item);
    answers.push(answer(String.fromCharCode(payload[0]), payload.subarray(place, place + size)));
  }
  return [Buffer.from("A"), ...[0, 1, 2, 3, 4].flatMap((column) => answers.map((each) => each[column]))];
}

function read(size) {
  const octets = Buffer.alloc(size);
  for (let have = 0, got; have < size; have += got)
    if ((got = fs.readSync(0, octets, have, size - have, null)) === 0) process.exit(0); // the input has ended
  return octets;
}
const write = (octets) => { for (let sent = 0; sent < octets.length; ) sent += fs.writeSync(1, octets, sent); };

console.log = console.error; // what is printed to stdout would be taken for an answer
const functions = Object.values(questions).map((each) => each[0]);
const greeting = { overlong: 1, language: "JavaScript", operations: "PVDB", units: "utf-16", functions };
if (functions.length) greeting.operations += "Q";
write(Buffer.from(JSON.stringify(greeting) + "\n"));
for (let head = read(8); ; head = read(8)) {
  const body = read(head.readUInt32BE(0) - 4);
  const response = Buffer.concat(respond(String.fromCharCode(body[0]), body.subarray(1)));
  write(Buffer.concat([u32(response.length + 4), head.subarray(4), response]));
}
