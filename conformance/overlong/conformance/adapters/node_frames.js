// What the adapters for Node.js share: frames, batches, and decoders with the interface of TextDecoder.
"use strict";
const fs = require("node:fs");

Error.stackTraceLimit = 0; // decoders refuse by throwing, and nobody looks where

/** Thrown by an operation that refuses: by an encoder with the index of what it refuses, in a stream with the chunk. */
class Refused {
  constructor(index, chunk) { this.index = index; this.chunk = chunk; }
}

/** Decodes a payload of chunks with decode(octets, last), which gives text. */
function stream(decode, payload) {
  const count = payload.readUInt16BE(0);
  let place = 2 + 4 * count, text = "", chunk = 0;
  const marks = [];
  try {
    for (; chunk < count; chunk++) {
      const end = place + payload.readUInt32BE(2 + 4 * chunk);
      text += decode(payload.subarray(place, end), chunk + 1 === count);
      marks.push(text.length);
      place = end;
    }
  } catch (error) {
    throw error instanceof Refused ? new Refused(undefined, chunk + 1) : error;
  }
  return { text, marks };
}

/** Two streams after each other. Nothing comes between them: none of these APIs has a reset. */
function again(decode, payload) {
  const end = 4 + payload.readUInt32BE(0);
  try { stream(decode, payload.subarray(4, end)); } catch (error) { if (!(error instanceof Refused)) throw error; }
  return stream(decode, payload.subarray(end));
}

/** The operations of a class with the interface of TextDecoder; refuses(error) tells a refusal from a bug. */
function textDecoder(Decoder, refuses) {
  const make = (fatal) => {
    const decoder = new Decoder("utf-8", { fatal, ignoreBOM: true });
    return (octets, last) => {
      try { return decoder.decode(octets, { stream: !last }); }
      catch (error) { throw refuses(error) ? new Refused() : error; }
    };
  };
  // The decoders of whole inputs are made once: that one input leaves no trace in the next is part of the test.
  const strict = make(true), replacing = make(false);
  return {
    D: (octets) => strict(octets, true), L: (octets) => replacing(octets, true),
    S: (payload) => stream(make(true), payload), T: (payload) => stream(make(false), payload),
    N: (payload) => again(make(true), payload), M: (payload) => again(make(false), payload),
  };
}

const fromUnits = (payload) => Buffer.from(payload).swap16().toString("utf16le");
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
/** The operations of encode(text), which gives octets, and of size(text), which gives a number. */
const encoders = (encode, size) => ({
  E: (payload) => encode(fromPoints(payload)), F: (payload) => encode(fromUnits(payload)),
  ...(size && { Z: (payload) => numbers([size(fromPoints(payload))]) }),
});

const units = (text) => Buffer.from(text, "utf16le").swap16();
const numbers = (list) => { const b = Buffer.alloc(4 * list.length); list.forEach((n, i) => b.writeUInt32BE(n, 4 * i)); return b; };

// One answer: a status, and what goes with it.
function answer(operation, payload) {
  let result;
  try { result = operation(payload); }
  catch (error) {
    if (error instanceof Refused) {
      if (error.index !== undefined) return { status: "R", number: error.index, incomplete: 0 };
      return { ...refused, marks: error.chunk === undefined ? undefined : [error.chunk] };
    }
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

function respond(operations, body) {
  const operation = String.fromCharCode(body[0]);
  if (operation === "P") return Buffer.concat([Buffer.from("A"), body.subarray(1)]);
  const inner = operation === "B" && operations[String.fromCharCode(body[1])];
  if (inner) return batch(inner, body.subarray(2));
  return operations[operation] ? single(operations[operation], body.subarray(1)) : Buffer.from("U");
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

/** Greets, then answers until the input ends. An operation takes a payload and gives text, octets, true or false, or
 *  a stream's text and marks; or it throws Refused. */
function serve(operations, greeting) {
  write(Buffer.from(JSON.stringify({
    overlong: 1, language: "JavaScript", operations: "PB" + Object.keys(operations).join(""), units: "utf-16",
    error_mode: "replacement", ...(operations.S && { stream_refusals: "marked" }), ...greeting,
  }) + "\n"));
  for (let head; (head = read(8)); ) {
    const body = read(head.readUInt32BE(0) - 4);
    if (!body) break;
    const response = respond(operations, body);
    const frame = Buffer.alloc(8);
    frame.writeUInt32BE(4 + response.length, 0);
    frame.writeUInt32BE(head.readUInt32BE(4), 4);
    write(Buffer.concat([frame, response]));
  }
}

module.exports = { Refused, again, encoders, serve, stream, textDecoder };
