//! Adapter for Rust's standard library: str::from_utf8, String::from_utf8_lossy and char; with the word "functions",
//! what str does beside decoding.
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

/// A question about a text, by its number ('overlong docs functions'). A str holds nothing ill-formed, and is cut at no
/// other place than a boundary: the API has no other way to refuse.
#[allow(unstable_name_collisions)]
fn answer(_operation: u8, payload: &[u8], out: &mut Vec<u8>, _marks: &mut Vec<u8>) -> Result<(), Refusal> {
    let (place, text) = (u32_at(payload, 1) as usize, from_utf8(&payload[5..])?);
    let step = |scalar: Option<char>| scalar.map(|scalar| vec![u32::from(scalar), scalar.len_utf8() as u32]);
    let numbers = match payload[0] {
        1 => Some(vec![text.chars().count() as u32]),
        2 => Some(vec![text.encode_utf16().count() as u32]),
        3 => Some(vec![u32::from(text.is_char_boundary(place))]),
        4 | 6 => Some(vec![text.floor_char_boundary(place) as u32]),
        5 => Some(vec![text.ceil_char_boundary(place) as u32]),
        10 => step(text.get(place..).and_then(|rest| rest.chars().next())),
        11 => {
            let last = text.get(..place).and_then(|before| before.char_indices().rev().next());
            last.map(|(start, scalar)| vec![u32::from(scalar), (place - start) as u32])
        }
        12 => text.get(..place).map(|before| vec![before.encode_utf16().count() as u32]),
        14 => text.get(..place).map(|before| vec![before.chars().count() as u32]),
        15 => text.char_indices().map(|(offset, _)| offset).chain([text.len()]).nth(place).map(|at| vec![at as u32]),
        _ => None,
    };
    numbers.ok_or(SILENT)?.iter().for_each(|number| out.extend_from_slice(&number.to_be_bytes()));
    Ok(())
}

/// What str has from Rust 1.91 on; its own methods go before these.
#[allow(dead_code)]
trait Boundaries {
    fn floor_char_boundary(&self, place: usize) -> usize;
    fn ceil_char_boundary(&self, place: usize) -> usize;
}

impl Boundaries for str {
    fn floor_char_boundary(&self, place: usize) -> usize {
        (0..=place.min(self.len())).rev().find(|&place| self.is_char_boundary(place)).unwrap_or(0)
    }
    fn ceil_char_boundary(&self, place: usize) -> usize {
        (place..self.len()).find(|&place| self.is_char_boundary(place)).unwrap_or(self.len())
    }
}

const FUNCTIONS: &str = "\"functions\": [\"count-scalars\", \"count-utf16\", \"is-boundary\", \"floor\", \"ceil\", \
                         \"truncate\", \"next\", \"previous\", \"utf16-of-offset\", \"scalar-of-offset\", \
                         \"offset-of-scalar\"]";

fn main() -> std::io::Result<()> {
    let version = option_env!("OVERLONG_RUSTC").unwrap_or(""); // a program cannot ask for it at run time
    if std::env::args().nth(1).as_deref() == Some("functions") {
        return serve("rust-functions", version, "Q", FUNCTIONS, &answer);
    }
    let modes = "\"error_mode\": \"replacement\", \"encode_errors\": \"fatal\"";
    serve("rust-std", version, "VDLEFZ", modes, &ask)
}
