//! Adapter for Rust's standard library: str::from_utf8, String::from_utf8_lossy and char.
//! Build: OVERLONG_RUSTC="$(rustc --version)" rustc -O --edition 2021 -o rust_std rust_std.rs
use std::io::{self, BufReader, BufWriter, Read, Write};

/// What a refusal says of its place.
struct Refusal {
    offset: u32,
    length: u8,
    incomplete: u8,
}

const SILENT: Refusal = Refusal { offset: u32::MAX, length: 0, incomplete: 0xFF };

fn u32_at(octets: &[u8], place: usize) -> u32 {
    u32::from_be_bytes([octets[place], octets[place + 1], octets[place + 2], octets[place + 3]])
}

fn from_utf8(octets: &[u8]) -> Result<&str, Refusal> {
    std::str::from_utf8(octets).map_err(|error| {
        let offset = error.valid_up_to();
        // No error_len means that the input ended too early: what is left is the beginning of a character.
        let length = error.error_len().unwrap_or(octets.len() - offset);
        Refusal { offset: offset as u32, length: length as u8, incomplete: error.error_len().is_none() as u8 }
    })
}

fn put_text(text: &str, out: &mut Vec<u8>) {
    text.chars().for_each(|scalar| out.extend_from_slice(&u32::from(scalar).to_be_bytes()));
}

/// The code points of a payload as chars. A char holds scalar values alone: the API has no other way to refuse.
fn chars(octets: &[u8]) -> impl Iterator<Item = Result<char, Refusal>> + '_ {
    octets.chunks_exact(4).enumerate().map(|(index, number)| {
        let refusal = Refusal { offset: index as u32, length: 0, incomplete: 0 };
        char::from_u32(u32_at(number, 0)).ok_or(refusal)
    })
}

/// Appends the output to `out`, or refuses. What it appended before it refused is to be dropped.
fn ask(operation: u8, octets: &[u8], out: &mut Vec<u8>) -> Result<(), Refusal> {
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

fn single(operation: u8, octets: &[u8], response: &mut Vec<u8>) {
    let start = response.len();
    response.push(b'A');
    if let Err(refusal) = ask(operation, octets, response) {
        response.truncate(start);
        response.push(b'R');
        if refusal.offset != u32::MAX {
            response.extend_from_slice(&refusal.offset.to_be_bytes());
            response.extend_from_slice(&[refusal.length, refusal.incomplete]);
        }
    }
}

fn batch(operation: u8, payload: &[u8], response: &mut Vec<u8>) {
    let count = u32_at(payload, 0) as usize;
    let mut place = 4 + 4 * count;
    let unit = if b"EFZ".contains(&operation) { 1 } else { 4 }; // the encoder's output is octets
    response.push(b'A');
    let statuses = response.len();
    let (numbers, lengths, incompletes) = (statuses + count, statuses + 5 * count, statuses + 6 * count);
    response.resize(statuses + 7 * count, 0);
    for item in 0..count {
        let end = place + u32_at(payload, 4 + 4 * item) as usize;
        let before = response.len();
        let (status, number) = match ask(operation, &payload[place..end], response) {
            Ok(()) => (b'A', ((response.len() - before) / unit) as u32),
            Err(refusal) => {
                response.truncate(before);
                response[lengths + item] = refusal.length;
                response[incompletes + item] = refusal.incomplete;
                (b'R', refusal.offset)
            }
        };
        response[statuses + item] = status;
        response[numbers + 4 * item..numbers + 4 * item + 4].copy_from_slice(&number.to_be_bytes());
        place = end;
    }
}

fn main() -> io::Result<()> {
    let mut input = BufReader::with_capacity(1 << 16, io::stdin().lock());
    let mut output = BufWriter::with_capacity(1 << 16, io::stdout().lock());
    writeln!(
        output,
        "{{\"overlong\": 1, \"name\": \"rust-std\", \"version\": \"{}\", \"language\": \"Rust\", \
         \"platform\": \"{}/{}\", \"operations\": \"PBVDLEFZ\", \"units\": \"utf-32\", \
         \"error_mode\": \"replacement\", \"encode_errors\": \"fatal\"}}",
        option_env!("OVERLONG_RUSTC").unwrap_or(""), // a program cannot ask for it at run time
        std::env::consts::OS,
        std::env::consts::ARCH
    )?;
    let (mut head, mut body, mut response) = ([0; 8], Vec::new(), Vec::new());
    loop {
        if input.buffer().is_empty() {
            output.flush()?; // nobody waits for an answer while requests are waiting
        }
        match input.read_exact(&mut head) {
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return output.flush(),
            other => other?,
        }
        body.resize(u32_at(&head, 0) as usize - 4, 0);
        input.read_exact(&mut body)?;
        response.clear();
        response.extend_from_slice(&head);
        match (body[0], body.get(1)) {
            (b'P', _) => {
                response.push(b'A');
                response.extend_from_slice(&body[1..]);
            }
            (b'B', Some(&inner)) if b"VDLEFZ".contains(&inner) => batch(inner, &body[2..], &mut response),
            (operation, _) if b"VDLEFZ".contains(&operation) => single(operation, &body[1..], &mut response),
            _ => response.push(b'U'),
        }
        let size = response.len() as u32 - 4;
        response[..4].copy_from_slice(&size.to_be_bytes());
        output.write_all(&response)?;
    }
}
