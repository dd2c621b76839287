//! Adapter for decoders of crates.io: overlong-crates simdutf8|encoding-rs|bstr
#[path = "../rust_frames.rs"]
mod rust_frames;
use bstr::ByteSlice;
use encoding_rs::{CoderResult, Decoder, DecoderResult, Encoding, UTF_8};
use rust_frames::{put_text, refusal, sent, serve, u32_at, Ask, Refusal, SILENT};

/// Put before each input of simdutf8, which passes shorter inputs to the standard library.
const AHEAD: [u8; 64] = [b'a'; 64];

fn simdutf8(operation: u8, octets: &[u8], out: &mut Vec<u8>, _marks: &mut Vec<u8>) -> Result<(), Refusal> {
    let placed = [&AHEAD, octets].concat();
    if operation == b'V' {
        return simdutf8::basic::from_utf8(&placed).map(|_| ()).map_err(|_| SILENT);
    }
    let text = simdutf8::compat::from_utf8(&placed)
        .map_err(|error| refusal(octets, error.valid_up_to() - AHEAD.len(), error.error_len()))?;
    put_text(&text[AHEAD.len()..], out);
    Ok(())
}

/// Decodes one chunk. A refusal's offset counts from where the decoder stopped; `before` is the number of octets it took earlier.
fn decode(
    decoder: &mut Decoder,
    strict: bool,
    chunk: &[u8],
    before: usize,
    last: bool,
    out: &mut Vec<u8>,
) -> Result<(), Refusal> {
    let mut text = vec![0; decoder.max_utf8_buffer_length(chunk.len()).unwrap()];
    let written = if strict {
        match decoder.decode_to_utf8_without_replacement(chunk, &mut text, last) {
            (DecoderResult::InputEmpty, _, written) => written,
            (DecoderResult::OutputFull, _, _) => panic!("no room for the output"),
            (DecoderResult::Malformed(length, after), read, _) => {
                let offset = before + read - usize::from(length) - usize::from(after);
                return Err(Refusal { offset: sent(offset), length, ..SILENT });
            }
        }
    } else {
        match decoder.decode_to_utf8(chunk, &mut text, last) {
            (CoderResult::InputEmpty, _, written, _) => written,
            (CoderResult::OutputFull, _, _, _) => panic!("no room for the output"),
        }
    };
    put_text(std::str::from_utf8(&text[..written]).expect("what it writes is well-formed"), out);
    Ok(())
}

fn stream(strict: bool, payload: &[u8], out: &mut Vec<u8>, marks: &mut Vec<u8>) -> Result<(), Refusal> {
    let count = usize::from(u16::from_be_bytes([payload[0], payload[1]]));
    let (start, first) = (2 + 4 * count, out.len());
    let (mut place, mut decoder) = (start, UTF_8.new_decoder_without_bom_handling());
    for chunk in 0..count {
        let end = place + u32_at(payload, 2 + 4 * chunk) as usize;
        decode(&mut decoder, strict, &payload[place..end], place - start, chunk + 1 == count, out)
            .map_err(|refused| Refusal { chunk: chunk as u32 + 1, ..refused })?;
        marks.extend_from_slice(&((out.len() - first) as u32 / 4).to_be_bytes());
        place = end;
    }
    Ok(())
}

fn encoding_rs(operation: u8, octets: &[u8], out: &mut Vec<u8>, marks: &mut Vec<u8>) -> Result<(), Refusal> {
    match operation {
        b'V' => match Encoding::utf8_valid_up_to(octets) {
            valid if valid == octets.len() => Ok(()),
            valid => Err(Refusal { offset: sent(valid), ..SILENT }),
        },
        b'D' => decode(&mut UTF_8.new_decoder_without_bom_handling(), true, octets, 0, true, out),
        b'L' => {
            put_text(&UTF_8.decode_without_bom_handling(octets).0, out);
            Ok(())
        }
        _ => stream(operation == b'S', octets, out, marks),
    }
}

fn bstr(operation: u8, octets: &[u8], out: &mut Vec<u8>, _marks: &mut Vec<u8>) -> Result<(), Refusal> {
    match operation {
        b'V' => {
            octets.to_str().map(|_| ()).map_err(|error| refusal(octets, error.valid_up_to(), error.error_len()))
        }
        b'L' => {
            put_text(&octets.to_str_lossy(), out);
            Ok(())
        }
        _ => {
            let mut place = 0;
            while place < octets.len() {
                let (scalar, size) = bstr::decode_utf8(&octets[place..]);
                let refused = Refusal { offset: sent(place), length: u8::try_from(size).unwrap_or(u8::MAX), ..SILENT };
                out.extend_from_slice(&u32::from(scalar.ok_or(refused)?).to_be_bytes());
                place += size;
            }
            Ok(())
        }
    }
}

fn main() -> std::io::Result<()> {
    let name = std::env::args().nth(1).unwrap_or_default();
    let streams = "\"error_mode\": \"replacement\", \"stream_refusals\": \"marked\", \"stream_offsets\": \"stream\"";
    let (package, operations, more, ask): (_, _, _, Ask) = match name.as_str() {
        "simdutf8" => ("simdutf8", "VD", "\"placed\": \"behind 64 octets of ASCII\"", &simdutf8),
        "encoding-rs" => ("encoding_rs", "VDLST", streams, &encoding_rs),
        "bstr" => ("bstr", "VDL", "\"error_mode\": \"replacement\"", &bstr),
        _ => panic!("name simdutf8, encoding-rs or bstr"),
    };
    let pinned = include_str!("../Cargo.lock");
    let entry = pinned.split_once(&format!("name = \"{package}\"\nversion = \"")).map_or("", |(_, rest)| rest);
    let version = entry.split('"').next().unwrap_or("");
    serve(&format!("rust-{name}"), version, operations, more, ask)
}
