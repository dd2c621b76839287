// An adapter: a UTF-8 decoder behind two pipes. Change `decode`, and add its "version" to the greeting.
// Build:   rustc -O --edition 2021 adapter.rs        (or as a cargo project that depends on your crate)
// Certify: overlong certify -- ./adapter        (--subject FILE before -- names a file of your decoder, too)
use std::io::{self, Read, Write};

/// YOUR DECODER HERE: code points, as u32, since a decoder may accept what is none; or, where it refuses, the offset of
/// the flaw (!0: not said), its length (0: not said), and whether more octets might have made it a character (1, 0;
/// 0xFF: not said).
fn decode(octets: &[u8]) -> Result<Vec<u32>, (usize, usize, u8)> {
    match std::str::from_utf8(octets) {
        Ok(text) => Ok(text.chars().map(u32::from).collect()),
        Err(error) => match (error.valid_up_to(), error.error_len()) {
            (place, Some(length)) => Err((place, length, 0)),
            (place, None) => Err((place, octets.len() - place, 1)), // the input has ended
        },
    }
}

/// FUNCTIONS beside it, if any: number and name of a question ('overlong docs functions'), the answer; None refuses.
const QUESTIONS: &[(u8, &str, fn(&[u8], usize) -> Option<Vec<usize>>)] = &[
    // (1, "count-scalars", |text, _| Some(vec![std::str::from_utf8(text).ok()?.chars().count()])),
];

fn ask(number: u8, argument: u32, text: &[u8]) -> Vec<u8> {
    match QUESTIONS.iter().find(|question| question.0 == number).map(|question| question.2(text, argument as usize)) {
        None => b"U".to_vec(),
        Some(None) => b"R".to_vec(),
        Some(Some(numbers)) => {
            let sent = |number: &usize| u32::try_from(*number).unwrap_or(!0).to_be_bytes();
            b"A".iter().copied().chain(numbers.iter().flat_map(sent)).collect()
        }
    }
}

/// P echoes, V validates, D decodes, Q asks a function.
fn respond(operation: u8, payload: &[u8]) -> Vec<u8> {
    match operation {
        b'P' => [&b"A"[..], payload].concat(),
        b'Q' => ask(payload[0], u32::from_be_bytes([payload[1], payload[2], payload[3], payload[4]]), &payload[5..]),
        b'V' | b'D' => match decode(payload) {
            Ok(_) if operation == b'V' => b"A".to_vec(),
            Ok(points) => b"A".iter().copied().chain(points.iter().flat_map(|point| point.to_be_bytes())).collect(),
            Err((offset, length, incomplete)) => {
                // What does not fit becomes wrong: cut to 32 bits, it might be right.
                let said = if offset == !0 { !0 } else { u32::try_from(offset).map_or(!1, |fits| fits.min(!1)) };
                let length = u8::try_from(length).unwrap_or(!0);
                [&b"R"[..], &said.to_be_bytes(), &[length, incomplete]].concat()
            }
        },
        _ => b"U".to_vec(), // not offered. Batches (B) save most of the time: 'overlong docs protocol'
    }
}

fn main() -> io::Result<()> {
    let (mut requests, mut responses) = (io::stdin().lock(), io::stdout().lock());
    let names: Vec<String> = QUESTIONS.iter().map(|question| format!("{:?}", question.1)).collect();
    let (letters, names) = (if names.is_empty() { "PVD" } else { "PVDQ" }, names.join(", "));
    let greeting = r#"{"overlong": 1, "language": "Rust", "operations":"#;
    writeln!(responses, r#"{greeting} "{letters}", "functions": [{names}]}}"#)?;
    responses.flush()?;
    let mut head = [0; 8];
    while requests.read_exact(&mut head).is_ok() {
        let size = u32::from_be_bytes([head[0], head[1], head[2], head[3]]);
        let mut body = vec![0; size as usize - 4];
        requests.read_exact(&mut body)?;
        let response = respond(body[0], &body[1..]);
        let size = (response.len() as u32 + 4).to_be_bytes();
        responses.write_all(&[&size[..], &head[4..], &response].concat())?;
        responses.flush()?;
    }
    Ok(())
}
