//! Adapter for Rust's standard library: str::from_utf8, String::from_utf8_lossy and char.
//! Build: OVERLONG_RUSTC="$(rustc --version)" rustc -O --edition 2021 -o rust_std rust_std.rs
mod rust_frames;
use rust_frames::{put_text, refusal, sent, serve, u32_at, Refusal, SILENT};

fn from_utf8(octets: &[u8]) -> Result<&str, Refusal> {
    std::str::from_utf8(octets).map_err(|error| refusal(octets, error.valid_up_to(), error.error_len()))
}

/// The code points of a payload as chars. A char holds scalar values alone: the API has no other way to refuse.
fn chars(octets: &[u8]) -> impl Iterator<Item = Result<char, Refusal>> + '_ {
    octets.chunks_exact(4).enumerate().map(|(index, number)| {
        let refused = Refusal { offset: sent(index), length: 0, incomplete: 0, chunk: 0 };
        char::from_u32(u32_at(number, 0)).ok_or(refused)
    })
}

fn ask(operation: u8, octets: &[u8], out: &mut Vec<u8>, _marks: &mut Vec<u8>) -> Result<(), Refusal> {
    match operation {
        b'V' => from_utf8(octets).map(|_| ()),
        b'D' => from_utf8(octets).map(|text| put_text(text, out)),
        b'L' => Ok(put_text(&String::from_utf8_lossy(octets), out)),
        b'E' => chars(octets).try_for_each(|scalar| {
            out.extend_from_slice(scalar?.encode_utf8(&mut [0; 4]).as_bytes());
            Ok(())
        }),
        b'F' => {
            let units: Vec<u16> = octets.chunks_exact(2).map(|pair| u16::from_be_bytes([pair[0], pair[1]])).collect();
            out.extend_from_slice(String::from_utf16(&units).map_err(|_| SILENT)?.as_bytes());
            Ok(())
        }
        _ => {
            let size = chars(octets).try_fold(0, |size, scalar| Ok(size + scalar?.len_utf8() as u32))?;
            out.extend_from_slice(&size.to_be_bytes());
            Ok(())
        }
    }
}

fn main() -> std::io::Result<()> {
    let version = option_env!("OVERLONG_RUSTC").unwrap_or(""); // a program cannot ask for it at run time
    let modes = "\"error_mode\": \"replacement\", \"encode_errors\": \"fatal\"";
    serve("rust-std", version, "VDLEFZ", modes, &ask)
}
