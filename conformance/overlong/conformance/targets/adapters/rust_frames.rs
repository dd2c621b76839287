//! What the adapters for Rust share: frames and batches.
use std::io::{self, BufReader, BufWriter, Read, Write};

/// What a refusal says of its place.
pub struct Refusal {
    pub offset: u32,
    pub length: u8,
    pub incomplete: u8,
    /// Of a stream that is marked: the chunk that it came in, counted from 1; otherwise 0.
    pub chunk: u32,
}

pub const SILENT: Refusal = Refusal { offset: u32::MAX, length: 0, incomplete: 0xFF, chunk: 0 };

/// As `Utf8Error` has it: no length means that the input ended too early, and that what is left of `octets` is the
/// beginning of a character.
pub fn refusal(octets: &[u8], offset: usize, length: Option<usize>) -> Refusal {
    let known = length.unwrap_or(octets.len() - offset);
    Refusal { offset: offset as u32, length: known as u8, incomplete: length.is_none() as u8, chunk: 0 }
}

pub fn u32_at(octets: &[u8], place: usize) -> u32 {
    u32::from_be_bytes([octets[place], octets[place + 1], octets[place + 2], octets[place + 3]])
}

/// Appends a text in UTF-32.
pub fn put_text(text: &str, out: &mut Vec<u8>) {
    text.chars().for_each(|scalar| out.extend_from_slice(&u32::from(scalar).to_be_bytes()));
}

/// Answers one payload: appends the output to the first, and the marks of a stream to the second, or refuses. What it
/// appended before it refused is dropped.
pub type Ask<'a> = &'a dyn Fn(u8, &[u8], &mut Vec<u8>, &mut Vec<u8>) -> Result<(), Refusal>;

fn single(ask: Ask, operation: u8, octets: &[u8], response: &mut Vec<u8>) {
    let (mut output, mut marks) = (Vec::new(), Vec::new());
    match ask(operation, octets, &mut output, &mut marks) {
        Ok(()) => {
            response.push(b'A');
            response.extend_from_slice(&marks);
            response.extend_from_slice(&output);
        }
        Err(refusal) => {
            response.push(b'R');
            response.extend_from_slice(&refusal.offset.to_be_bytes());
            response.extend_from_slice(&[refusal.length, refusal.incomplete]);
            if refusal.chunk > 0 {
                response.extend_from_slice(&refusal.chunk.to_be_bytes());
            }
        }
    }
}

fn batch(ask: Ask, operation: u8, payload: &[u8], response: &mut Vec<u8>) {
    let count = u32_at(payload, 0) as usize;
    let (mut place, mut marks) = (4 + 4 * count, Vec::new());
    let unit = if b"EFZ".contains(&operation) { 1 } else { 4 }; // the encoder's output is octets
    response.push(b'A');
    let statuses = response.len();
    let (numbers, lengths, incompletes) = (statuses + count, statuses + 5 * count, statuses + 6 * count);
    response.resize(statuses + 7 * count, 0);
    for item in 0..count {
        let end = place + u32_at(payload, 4 + 4 * item) as usize;
        let (before, marked) = (response.len(), marks.len());
        let (status, number) = match ask(operation, &payload[place..end], response, &mut marks) {
            Ok(()) => (b'A', ((response.len() - before) / unit) as u32),
            Err(refusal) => {
                response.truncate(before);
                marks.truncate(marked);
                if refusal.chunk > 0 {
                    marks.extend_from_slice(&refusal.chunk.to_be_bytes());
                }
                response[lengths + item] = refusal.length;
                response[incompletes + item] = refusal.incomplete;
                (b'R', refusal.offset)
            }
        };
        response[statuses + item] = status;
        response[numbers + 4 * item..numbers + 4 * item + 4].copy_from_slice(&number.to_be_bytes());
        place = end;
    }
    response.extend_from_slice(&marks);
}

/// Greets, then answers until the input ends. `more` are further members of the greeting, in JSON.
pub fn serve(name: &str, version: &str, operations: &str, more: &str, ask: Ask) -> io::Result<()> {
    let mut input = BufReader::with_capacity(1 << 16, io::stdin().lock());
    let mut output = BufWriter::with_capacity(1 << 16, io::stdout().lock());
    writeln!(
        output,
        "{{\"overlong\": 1, \"name\": \"{name}\", \"version\": \"{version}\", \"language\": \"Rust\", \
         \"platform\": \"{}/{}\", \"operations\": \"PB{operations}\", \"units\": \"utf-32\", {more}}}",
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
            (b'B', Some(&inner)) if operations.as_bytes().contains(&inner) => {
                batch(ask, inner, &body[2..], &mut response)
            }
            (operation, _) if operations.as_bytes().contains(&operation) => {
                single(ask, operation, &body[1..], &mut response)
            }
            _ => response.push(b'U'),
        }
        let size = response.len() as u32 - 4;
        response[..4].copy_from_slice(&size.to_be_bytes());
        output.write_all(&response)?;
    }
}
