// Adapter for Node's own decoders: node node.js textdecoder|buffer
"use strict";
const fs = require("node:fs");
const buffer = require("node:buffer");

const fatal = () => new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
const replacing = () => new TextDecoder("utf-8", { ignoreBOM: true });
const whole = (make) => { const decoder = make(); return (octets) => decoder.decode(octets); };
// The decoders of whole inputs are made once: that one input leaves no trace in the next is part of the test.
const decoders = {
  textdecoder: { D: whole(fatal), L: whole(replacing), S: fatal, T: replacing },
  buffer: { V: (octets) => buffer.isUtf8(octets), L: (octets) => octets.toString("utf8") },
}[process.argv[2]];

const stream = (make) => (payload) => {
  const decoder = make();
  const count = payload.readUInt16BE(0);
  let place = 2 + 4 * count, text = "";
  const marks = [];
  for (let chunk = 0; chunk < count; chunk++) {
    const end = place + payload.readUInt32BE(2 + 4 * chunk);
    text += decoder.decode(payload.subarray(place, end), { stream: chunk + 1 < count });
    marks.push(text.length);
    place = end;
  }
  return { text, marks };
};
for (const operation of ["S", "T"]) if (decoders[operation]) decoders[operation] = stream(decoders[operation]);

const units = (text) => Buffer.from(text, "utf16le").swap16();
const numbers = (list) => { const b = Buffer.alloc(4 * list.length); list.forEach((n, i) => b.writeUInt32BE(n, 4 * i)); return b; };

// One answer: a status, and what goes with it. A refusal of TextDecoder says nothing about where.
function answer(operation, payload) {
  let result;
  try { result = decoders[operation](payload); }
  catch (error) {
    if (error.code === "ERR_ENCODING_INVALID_ENCODED_DATA") return { status: "R", number: 0xffffffff };
    const text = String(error).slice(0, 200);
    return { status: "X", number: Buffer.byteLength(text), text };
  }
  if (typeof result === "boolean") return result ? { status: "A", number: 0 } : { status: "R", number: 0xffffffff };
  if (typeof result === "string") return { status: "A", number: result.length, output: result };
  return { status: "A", number: result.text.length, output: result.text, marks: result.marks };
}

function batch(operation, payload) {
  const count = payload.readUInt32BE(0);
  const statuses = Buffer.alloc(count), column = Buffer.alloc(4 * count);
  const lengths = Buffer.alloc(count), incompletes = Buffer.alloc(count), written = [], marks = [];
  let output = "", place = 4 + 4 * count;
  const flush = () => { if (output) { written.push(units(output)); output = ""; } };
  for (let item = 0; item < count; item++) {
    const end = place + payload.readUInt32BE(4 + 4 * item);
    const result = answer(operation, payload.subarray(place, end));
    place = end;
    statuses.write(result.status, item, "latin1");
    column.writeUInt32BE(result.number, 4 * item);
    if (result.status === "R") incompletes[item] = 0xff;
    if (result.output) output += result.output;
    if (result.text) { flush(); written.push(Buffer.from(result.text)); }
    if (result.marks) marks.push(numbers(result.marks));
  }
  flush();
  return Buffer.concat([Buffer.from("A"), statuses, column, lengths, incompletes, ...written, ...marks]);
}

function single(operation, payload) {
  const result = answer(operation, payload);
  const more = result.marks ? [numbers(result.marks)] : [];
  if (result.output) more.push(units(result.output));
  if (result.text) more.push(Buffer.from(result.text));
  return Buffer.concat([Buffer.from(result.status), ...more]);
}

function respond(body) {
  const operation = String.fromCharCode(body[0]);
  if (operation === "P") return Buffer.concat([Buffer.from("A"), body.subarray(1)]);
  if (operation === "B" && decoders[String.fromCharCode(body[1])]) return batch(String.fromCharCode(body[1]), body.subarray(2));
  return decoders[operation] ? single(operation, body.subarray(1)) : Buffer.from("U");
}

function write(octets) { for (let sent = 0; sent < octets.length; ) sent += fs.writeSync(1, octets, sent); }

function read(count) {
  const octets = Buffer.allocUnsafe(count);
  let have = 0;
  while (have < count) {
    const got = fs.readSync(0, octets, have, count - have, null);
    if (got === 0) return null;
    have += got;
  }
  return octets;
}

write(Buffer.from(JSON.stringify({
  overlong: 1, name: `node-${process.argv[2]}`, version: process.version, language: "JavaScript",
  operations: "PB" + Object.keys(decoders).join(""), units: "utf-16", error_mode: "replacement",
}) + "\n"));
for (let head; (head = read(8)); ) {
  const body = read(head.readUInt32BE(0) - 4);
  if (!body) break;
  const response = respond(body);
  const frame = Buffer.alloc(8);
  frame.writeUInt32BE(4 + response.length, 0);
  frame.writeUInt32BE(head.readUInt32BE(4), 4);
  write(Buffer.concat([frame, response]));
}
