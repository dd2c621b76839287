// Adapter for decoders of npm, in a folder with node_frames.js and what `npm ci` installs: node decoders.js PACKAGE
"use strict";
const { Refused, encoders, serve, textDecoder } = require("./node_frames.js");

/** Makes a refusal of an error with one of these messages; any other error is a bug. */
const refusing = (...messages) => (operation) => (payload) => {
  try { return operation(payload); }
  catch (error) { throw messages.includes(error.message.split(" U+")[0]) ? new Refused() : error; }
};

const polyfill = ({ TextDecoder, TextEncoder }) => ({
  operations: {
    ...textDecoder(TextDecoder, (error) => error instanceof TypeError && error.message === "Decoder error"),
    ...encoders((text) => new TextEncoder("utf-8").encode(text)),
  },
  encode_errors: "replacement",
});

const decoders = {
  // Its compiled validator, or its JavaScript if none is compiled for this machine.
  "utf-8-validate": () => {
    const validate = require("utf-8-validate");
    const compiled = validate !== require("utf-8-validate/fallback.js");
    return { operations: { V: (octets) => validate(octets) }, implementation: compiled ? "compiled" : "JavaScript" };
  },
  "utf-8-validate/fallback": () => {
    const validate = require("utf-8-validate/fallback.js");
    return { operations: { V: (octets) => validate(octets) }, implementation: "JavaScript" };
  },
  "text-encoding": () => polyfill(require("text-encoding")),
  "text-encoding-utf-8": () => polyfill(require("text-encoding-utf-8")),
  "utf8": () => {
    const utf8 = require("utf8");
    const refused = refusing("Invalid UTF-8 detected", "Invalid continuation byte", "Invalid byte index", "Lone surrogate");
    const encode = refused((text) => Buffer.from(utf8.encode(text), "latin1")); // its octets are characters
    return { operations: { D: refused((octets) => utf8.decode(octets.toString("latin1"))), ...encoders(encode) } };
  },
  "buffer": () => {
    const { Buffer: Polyfill } = require("buffer/"); // without the slash it is Node's own
    const view = (octets) => Polyfill.from(octets.buffer, octets.byteOffset, octets.length);
    return {
      operations: {
        L: (octets) => view(octets).toString("utf8"),
        ...encoders((text) => Polyfill.from(text, "utf8"), (text) => Polyfill.byteLength(text, "utf8")),
      },
      error_mode: "replacement-per-octet", encode_errors: "replacement",
    };
  },
  "@protobufjs/utf8": () => {
    const utf8 = require("@protobufjs/utf8");
    const encode = (text) => {
      const octets = Buffer.alloc(3 * text.length);
      return octets.subarray(0, utf8.write(text, octets, 0));
    };
    return {
      operations: {
        L: (octets) => utf8.read(octets, 0, octets.length),
        ...encoders(encode, (text) => utf8.length(text)),
      },
      encode_errors: "replacement",
    };
  },
  "@stablelib/utf8": async () => {
    const utf8 = await import("@stablelib/utf8");
    const decoded = refusing("utf8: invalid source encoding"), encoded = refusing("utf8: invalid string");
    return {
      operations: {
        D: decoded((octets) => utf8.decode(octets)),
        ...encoders(encoded((text) => utf8.encode(text)), encoded((text) => utf8.encodedLength(text))),
      },
    };
  },
};

async function main(name) {
  const { operations, ...traits } = await decoders[name]();
  const lock = require("./package-lock.json").packages[`node_modules/${name.replace(/\/fallback$/, "")}`];
  serve(operations, { name: `npm-${name}`, version: `${lock.version}, Node.js ${process.version}`, ...traits });
}
main(process.argv[2]);
