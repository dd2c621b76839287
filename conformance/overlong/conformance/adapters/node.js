// Adapter for Node's own decoders: node node.js textdecoder|buffer
"use strict";
const fs = require("node:fs");
const buffer = require("node:buffer");

const fatal = () => new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
const replacing = () => new TextDecoder("utf-8", { ignoreBOM: true });
const whole = (make) => { const decoder = make(); return (octets) => decoder.decode(octets); };

function stream(decoder, payload) {
  const count = payload.readUInt16BE(0);
  let place = 2 + 4 * count, text = "", chunk = 0;
  const marks = [];
  try {
    for (; chunk < count; chunk++) {
      const end = place + payload.readUInt32BE(2 + 4 * chunk);
      text += decoder.decode(payload.subarray(place, end), { stream: chunk + 1 < count });
      marks.push(text.length);
      place = end;
    }
  } catch (error) {
    error.chunk = chunk + 1;
    throw error;
  }
  return { text, marks };
}
const streaming = (make) => (payload) => stream(make(), payload);
// The second of two streams that one decoder decodes. Nothing comes between them: the API has no reset.
const again = (make) => (payload) => {
  const decoder = make(), end = 4 + payload.readUInt32BE(0);
  try { stream(decoder, payload.subarray(4, end)); } catch { /* the answer to the first one is not asked for */ }
  return stream(decoder, payload.subarray(end));
};

const fromUnits = (payload) => Buffer.from(payload).swap16().toString("utf16le");
class Refused extends Error { constructor(index) { super(); this.index = index; } }
// Surrogates become single units. No string holds a number beyond 10FFFF: it is refused here.
function fromPoints(payload) {
  let text = "";
  for (let index = 0; 4 * index < payload.length; index++) {
    const point = payload.readUInt32BE(4 * index);
    if (point > 0x10ffff) throw new Refused(index);
    text += String.fromCodePoint(point);
  }
  return text;
}
const toOctets = (text) => Buffer.from(text, "utf8");
const encoder = new TextEncoder();
const size = (text) => numbers([Buffer.byteLength(text)]);
const encoders = (encode) => ({ E: (payload) => encode(fromPoints(payload)), F: (payload) => encode(fromUnits(payload)) });

// The decoders of whole inputs are made once: that one input leaves no trace in the next is part of the test.
const decoders = {
  textdecoder: {
    D: whole(fatal), L: whole(replacing), S: streaming(fatal), T: streaming(replacing), N: again(fatal), M: again(replacing),
    ...encoders((text) => encoder.encode(text)),
  },
  buffer: {
    V: (octets) => buffer.isUtf8(octets), L: (octets) => octets.toString("utf8"),
    ...encoders(toOctets), Z: (payload) => size(fromPoints(payload)),
  },
}[process.argv[2]];

const units = (text) => Buffer.from(text, "utf16le").swap16();
const numbers = (list) => { const b = Buffer.alloc(4 * list.length); list.forEach((n, i) => b.writeUInt32BE(n, 4 * i)); return b; };

// One answer: a status, and what goes with it. A refusal of TextDecoder says nothing about where, but for the chunk.
function answer(operation, payload) {
  let result;
  try { result = decoders[operation](payload); }
  catch (error) {
    if (error instanceof Refused) return { status: "R", number: error.index, incomplete: 0 };
    if (error.code === "ERR_ENCODING_INVALID_ENCODED_DATA")
      return { ...refused, marks: error.chunk === undefined ? undefined : [error.chunk] };
    const text = String(error).slice(0, 200);
    return { status: "X", number: Buffer.byteLength(text), text };
  }
  if (typeof result === "boolean") return result ? { status: "A", number: 0 } : refused;
  if (result instanceof Uint8Array) return { status: "A", number: result.length, octets: result };
  if (typeof result === "string") return { status: "A", number: result.length, output: result };
  return { status: "A", number: result.text.length, output: result.text, marks: result.marks };
}
const refused = { status: "R", number: 0xffffffff, incomplete: 0xff };

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
    if (result.incomplete) incompletes[item] = result.incomplete;
    if (result.output) output += result.output;
    if (result.octets) written.push(result.octets);
    if (result.text) { flush(); written.push(Buffer.from(result.text)); }
    if (result.marks) marks.push(numbers(result.marks));
  }
  flush();
  return Buffer.concat([Buffer.from("A"), statuses, column, lengths, incompletes, ...written, ...marks]);
}

function single(operation, payload) {
  const result = answer(operation, payload);
  const more = result.status === "R" ? [numbers([result.number]), Buffer.from([0, result.incomplete])] : [];
  if (result.marks) more.push(numbers(result.marks));
  if (result.octets) more.push(result.octets);
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
  encode_errors: "replacement", ...(decoders.S && { stream_refusals: "marked" }),
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
