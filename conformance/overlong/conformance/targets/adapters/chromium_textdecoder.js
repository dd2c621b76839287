// TextDecoder and TextEncoder in a page: respond(text) takes the body of a request in base64 and gives that of the
// response. attended.py puts it there.
"use strict";
(() => {
  // A stream is refused in a chunk, a code point at an index.
  class Refused { constructor(chunk, index) { this.chunk = chunk; this.index = index; } }

  const decoding = (fatal) => {
    const decoder = new TextDecoder("utf-8", { fatal, ignoreBOM: true });
    return (octets, last) => {
      try { return decoder.decode(octets, { stream: !last }); }
      catch (error) { throw error instanceof TypeError ? new Refused() : error; }
    };
  };

  const view = (octets) => new DataView(octets.buffer, octets.byteOffset, octets.length);

  // Decodes a payload of chunks.
  function stream(decode, payload) {
    const head = view(payload), count = head.getUint16(0), marks = [];
    let place = 2 + 4 * count, output = "", chunk = 0;
    try {
      for (; chunk < count; chunk++) {
        const end = place + head.getUint32(2 + 4 * chunk);
        output += decode(payload.subarray(place, end), chunk + 1 === count);
        marks.push(output.length);
        place = end;
      }
    } catch (error) {
      throw error instanceof Refused ? new Refused(chunk + 1) : error;
    }
    return { output, marks };
  }

  // Two streams in sequence. TextDecoder has no reset: a stream lasts until a call without { stream: true }, even after
  // a refusal; then its octets from the error on are still to be decoded (Encoding Standard, 7.2).
  function again(decode, payload) {
    const end = 4 + view(payload).getUint32(0);
    try {
      try { stream(decode, payload.subarray(4, end)); }
      catch (error) { if (error instanceof Refused) decode(new Uint8Array(), true); else throw error; }
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
    }
    return stream(decode, payload.subarray(end));
  }

  const encode = (text) => ({ octets: new TextEncoder().encode(text) });

  // Surrogates become single units. No string holds a number beyond 10FFFF: it is refused here.
  function encodePoints(payload) {
    const points = view(payload);
    let text = "";
    for (let place = 0; place < payload.length; place += 4) {
      const point = points.getUint32(place);
      if (point > 0x10ffff) throw new Refused(undefined, place / 4);
      text += String.fromCodePoint(point);
    }
    return encode(text);
  }

  function encodeUnits(payload) {
    const units = view(payload);
    let text = "";
    for (let place = 0; place < payload.length; place += 2) text += String.fromCharCode(units.getUint16(place));
    return encode(text);
  }

  // The decoders of whole inputs are made once: the test includes that no input affects the next.
  const strict = decoding(true), replacing = decoding(false);
  const operations = {
    D: (octets) => ({ output: strict(octets, true) }), L: (octets) => ({ output: replacing(octets, true) }),
    S: (payload) => stream(decoding(true), payload), T: (payload) => stream(decoding(false), payload),
    N: (payload) => again(decoding(true), payload), M: (payload) => again(decoding(false), payload),
    E: encodePoints, F: encodeUnits,
  };

  // Answers in columns. Adjacent texts are written together.
  function batch(operation, payload) {
    const head = view(payload), count = head.getUint32(0);
    const columns = new Uint8Array(7 * count), column = view(columns), parts = [], marks = [];
    let place = 4 + 4 * count, text = "";
    const flush = () => { if (text) { parts.push(units(text)); text = ""; } };
    for (let item = 0; item < count; item++) {
      const end = place + head.getUint32(4 + 4 * item);
      let status = 0x41, number = 0;
      try {
        const result = operation(payload.subarray(place, end));
        if (result.octets) parts.push(result.octets); else text += result.output;
        number = (result.octets ?? result.output).length;
        if (result.marks) marks.push(...result.marks);
      } catch (error) {
        if (error instanceof Refused) {
          [status, number] = [0x52, error.index ?? 0xffffffff];
          columns[6 * count + item] = 0xff;
          if (error.chunk) marks.push(error.chunk);
        } else {
          const words = new TextEncoder().encode(String(error).slice(0, 200));
          [status, number] = [0x58, words.length];
          flush();
          parts.push(words);
        }
      }
      columns[item] = status;
      column.setUint32(count + 4 * item, number);
      place = end;
    }
    flush();
    return joined([Uint8Array.of(0x41), columns, ...parts, numbers(marks)]);
  }

  function units(text) {
    const octets = new Uint8Array(2 * text.length);
    for (let unit = 0; unit < text.length; unit++) {
      const code = text.charCodeAt(unit);
      octets[2 * unit] = code >> 8;
      octets[2 * unit + 1] = code;
    }
    return octets;
  }

  function numbers(list) {
    const octets = new Uint8Array(4 * list.length), words = view(octets);
    list.forEach((number, place) => words.setUint32(4 * place, number));
    return octets;
  }

  function joined(parts) {
    const whole = new Uint8Array(parts.reduce((size, part) => size + part.length, 0));
    let place = 0;
    for (const part of parts) { whole.set(part, place); place += part.length; }
    return whole;
  }

  // Uint8Array has its own since 2025.
  function fromBase64(text) {
    return Uint8Array.fromBase64?.(text) ?? Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  }
  function toBase64(octets) {
    if (octets.toBase64) return octets.toBase64();
    let text = "";
    for (let place = 0; place < octets.length; place += 8192) {
      text += String.fromCharCode(...octets.subarray(place, place + 8192));
    }
    return btoa(text);
  }

  globalThis.offered = Object.keys(operations).join("");
  // Batches only: attended.py makes one of every request.
  globalThis.respond = (text) => {
    const body = fromBase64(text);
    return toBase64(batch(operations[String.fromCharCode(body[0])], body.subarray(1)));
  };
})();
