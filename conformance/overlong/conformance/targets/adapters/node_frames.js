// The common code of the adapters for Node.js: frames, batches, and decoders with the interface of TextDecoder.
"use strict";
const fs = require("node:fs");

Error.stackTraceLimit = 0; // decoders refuse by throwing; a trace would only cost time

/** Thrown or returned by an operation that refuses: by an encoder with the index of what it refuses, in a stream with
 *  the chunk. */
class Refused {
  constructor(index, chunk) { this.index = index; this.chunk = chunk; }
}
const silent = new Refused(); // returned, not thrown: a second throw would take 1.5 times as long

/** Decodes a payload of chunks with decode(octets, last), which gives text. */
function stream(decode, payload) {
  const count = payload.readUInt16BE(0);
  let place = 2 + 4 * count, text = "", chunk = 0;
  const marks = [];
  try {
    for (; chunk < count; chunk++) {
      const end = place + payload.readUInt32BE(2 + 4 * chunk);
      const piece = decode(payload.subarray(place, end), chunk + 1 === count);
      if (piece instanceof Refused) return new Refused(undefined, chunk + 1);
      text += piece;
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

const WHOLE = { stream: false }, MORE = { stream: true };
/** The operations of a class with the interface of TextDecoder; refuses(error) tells a refusal from a bug. */
function textDecoder(Decoder, refuses) {
  const make = (fatal) => {
    const decoder = new Decoder("utf-8", { fatal, ignoreBOM: true });
    return (octets, last) => {
      try { return decoder.decode(octets, last ? WHOLE : MORE); }
      catch (error) { if (refuses(error)) return silent; throw error; }
    };
  };
  // One decoder serves all whole inputs: the test includes that no input affects the next.
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

// The result of an operation on a payload, or a Refused, or a Failure.
class Failure {
  constructor(error) { this.text = Buffer.from(String(error).slice(0, 200)); }
}
function ask(operation, payload) {
  try { return operation(payload); }
  catch (error) { return error instanceof Refused ? error : new Failure(error); }
}

// A response grows from `start` to `end` in memory that the next one reuses. `start` puts units at an even place,
// where their octets can be swapped at once.
let room = Buffer.allocUnsafe(1 << 16), start = 0, end = 0;
function reserve(more) {
  if (end + more <= room.length) return;
  const larger = Buffer.allocUnsafe(2 * (end + more));
  room.copy(larger, 0, 0, end);
  room = larger;
}
function put(octets) { reserve(octets.length); room.set(octets, end); end += octets.length; }
function putText(text) {
  reserve(2 * text.length);
  const from = end;
  end += room.write(text, end, "utf16le");
  const written = room.subarray(from, end);
  if (from % 2) written.set(Buffer.from(written).swap16()); // an odd place, behind octets of another kind
  else written.swap16();
}
function set32(number, place) {
  room[place] = number >>> 24; room[place + 1] = number >>> 16; room[place + 2] = number >>> 8; room[place + 3] = number;
}

const ACCEPTED = 65, REFUSED = 82, UNSUPPORTED = 85, FAILED = 88, NOT_SAID = 0xffffffff, WRONG = 0xfffffffe;
// A place as it is sent. One that does not fit becomes one that is wrong: cut to 32 bits it might be right.
const sent = (index) => index === undefined || index === null ? NOT_SAID : Number.isInteger(index) && index >= 0 && index < WRONG ? index : WRONG;
const TOGETHER = 1 << 14; // code units written at once: enough to be cheap, few enough for the cache

function batch(operation, payload) {
  const count = payload.readUInt32BE(0), statuses = end + 1, column = statuses + count;
  const incompletes = statuses + 6 * count, marks = [];
  let output = "", place = 4 + 4 * count;
  const flush = () => { if (output) { putText(output); output = ""; } };
  reserve(1 + 7 * count);
  room.fill(0, end, end + 1 + 7 * count);
  room[end] = ACCEPTED;
  end += 1 + 7 * count;
  for (let item = 0; item < count; item++) {
    const next = place + payload.readUInt32BE(4 + 4 * item);
    const result = ask(operation, payload.subarray(place, next));
    let status = ACCEPTED, number = 0;
    place = next;
    if (typeof result === "string") {
      number = result.length;
      output += result;
    } else if (result === false || result instanceof Refused) {
      status = REFUSED;
      number = sent(result.index);
      if (number === NOT_SAID) room[incompletes + item] = 0xff;
      if (result.chunk !== undefined) marks.push(result.chunk);
    } else if (result instanceof Uint8Array || result instanceof Failure) {
      const octets = result.text ?? result;
      if (result instanceof Failure) status = FAILED;
      number = octets.length;
      flush();
      put(octets);
    } else if (result instanceof Uint32Array) {
      number = result.length;
      flush();
      put(numbers(result));
    } else if (result !== true) {
      number = result.text.length;
      output += result.text;
      for (const mark of result.marks) marks.push(mark);
    }
    room[statuses + item] = status;
    set32(number, column + 4 * item);
    if (output.length > TOGETHER) flush();
  }
  flush();
  put(numbers(marks));
}

function single(operation, payload) {
  const result = ask(operation, payload);
  if (result === false || result instanceof Refused) {
    const index = sent(result.index);
    put([REFUSED]);
    put(numbers([index]));
    put([0, index === NOT_SAID ? 0xff : 0]);
    if (result.chunk !== undefined) put(numbers([result.chunk]));
  } else if (result instanceof Failure) {
    put([FAILED]);
    put(result.text);
  } else {
    put([ACCEPTED]);
    if (typeof result === "string") putText(result);
    else if (result instanceof Uint8Array) put(result);
    else if (result instanceof Uint32Array) put(numbers(result));
    else if (result !== true) { put(numbers(result.marks)); putText(result.text); }
  }
}

function respond(operations, request, body) {
  const operation = String.fromCharCode(body[0]);
  const inner = operation === "B" && operations[String.fromCharCode(body[1])];
  start = inner ? (body.readUInt32BE(2) + 1) % 2 : 1;
  end = start + 8;
  if (inner) batch(inner, body.subarray(2));
  else if (operation === "P") { put([ACCEPTED]); put(body.subarray(1)); }
  else if (operations[operation]) single(operations[operation], body.subarray(1));
  else put([UNSUPPORTED]);
  set32(end - start - 4, start);
  set32(request, start + 4);
  write(room.subarray(start, end));
}

function write(octets) { for (let done = 0; done < octets.length; ) done += fs.writeSync(1, octets, done); }

let requests = Buffer.allocUnsafe(1 << 16); // each overwrites the one before
function read(count) {
  if (count > requests.length) requests = Buffer.allocUnsafe(2 * count);
  let have = 0;
  while (have < count) {
    const got = fs.readSync(0, requests, have, count - have, null);
    if (got === 0) return null;
    have += got;
  }
  return requests.subarray(0, count);
}

/** Greets, then answers until the input ends. An operation takes a payload and gives text, octets, true or false, the
 *  numbers of an answer as a Uint32Array, or a stream's text and marks; or it returns or throws a Refused. */
function serve(operations, greeting) {
  write(Buffer.from(JSON.stringify({
    overlong: 1, language: "JavaScript", operations: "PB" + Object.keys(operations).join(""), units: "utf-16",
    error_mode: "replacement", ...(operations.S && { stream_refusals: "marked" }), ...greeting,
  }) + "\n"));
  for (let head; (head = read(8)); ) {
    const length = head.readUInt32BE(0), request = head.readUInt32BE(4), body = read(length - 4);
    if (!body) break;
    respond(operations, request, body);
  }
}

module.exports = { Refused, again, encoders, serve, stream, textDecoder };
