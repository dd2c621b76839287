//! What the adapters for Rust share: frames and batches.
use std::io::{self, BufReader, BufWriter, Read, Write};

/// Where a refusal happened.
pub struct Refusal {
    pub offset: u32,
    pub length: u8,
    pub incomplete: u8,
    /// In a stream with marks, the chunk of the refusal, counted from 1; otherwise 0.
    pub chunk: u32,
}

pub const SILENT: Refusal = Refusal { offset: u32::MAX, length: 0, incomplete: 0xFF, chunk: 0 };

/// An offset as it is sent. One that does not fit becomes one that is wrong: cut to 32 bits it might be right.
pub fn sent(offset: usize) -> u32 {
    u32::try_from(offset).unwrap_or(u32::MAX).min(u32::MAX - 1)
}

/// From a `Utf8Error`: no length means that the input ended too early, and that the rest of `octets` begins a
/// character.
pub fn refusal(octets: &[u8], offset: usize, length: Option<usize>) -> Refusal {
    let known = length.unwrap_or(octets.len() - offset);
    let known = u8::try_from(known).unwrap_or(u8::MAX);
    Refusal { offset: sent(offset), length: known, incomplete: length.is_none() as u8, chunk: 0 }
}

pub fn u32_at(octets: &[u8], place: usize) -> u32 {
    u32::from_be_bytes([octets[place], octets[place + 1], octets[place + 2], octets[place + 3]])
}

/// Appends a text in UTF-32.
pub fn put_text(text: &str, out: &mut Vec<u8>) {
    text.chars().for_each(|scalar| out.extend_from_slice(&u32::from(scalar).to_be_bytes()));
}

/// Answers one payload: appends the output to the first, and the marks of a stream to the second, or refuses. Output
/// appended before a refusal is dropped.
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

/// Appends the columns of a batch; `payload` has the lengths of that many items, and the items.
fn batch(ask: Ask, operation: u8, count: usize, payload: &[u8], response: &mut Vec<u8>) {
    let (mut place, mut marks) = (4 * count, Vec::new());
    let unit = if b"EFZ".contains(&operation) { 1 } else { 4 }; // the encoder's output is octets
    let statuses = response.len();
    let (numbers, lengths, incompletes) = (statuses + count, statuses + 5 * count, statuses + 6 * count);
    response.resize(statuses + 7 * count, 0);
    for item in 0..count {
        let end = place + u32_at(payload, 4 * item) as usize;
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

/// Memory that the harness shares: this variable holds the number of a descriptor, and how many octets to map.
#[cfg(target_os = "linux")]
mod shared {
    use std::os::fd::AsRawFd;
    use std::{env, fs::File, slice};

    extern "C" {
        fn mmap(address: *mut u8, size: usize, protection: i32, flags: i32, fd: i32, offset: isize) -> *mut u8;
    }

    pub fn mapped() -> Option<&'static mut [u8]> {
        let said = env::var("OVERLONG_SHARED_MEMORY").ok()?;
        let (descriptor, size) = said.split_once(' ')?;
        let size: usize = size.parse().ok()?;
        let file = File::options().read(true).write(true).open(format!("/proc/self/fd/{descriptor}")).ok()?;
        if file.metadata().ok()?.len() != size as u64 {
            return None; // another file has taken the descriptor
        }
        // read and write, shared
        let start = unsafe { mmap(std::ptr::null_mut(), size, 3, 1, file.as_raw_fd(), 0) };
        (start as isize != -1).then(|| unsafe { slice::from_raw_parts_mut(start, size) })
    }
}

#[cfg(not(target_os = "linux"))]
mod shared {
    pub fn mapped() -> Option<&'static mut [u8]> {
        None
    }
}

/// A batch in shared memory: its place and size, and the place and room for its columns. Columns that do not fit are
/// sent as the response, as those of any batch.
fn shared_batch(ask: Ask, request: &[u8], memory: &mut [u8], columns: &mut Vec<u8>, response: &mut Vec<u8>) {
    let place = |number: usize| u32_at(request, 1 + 4 * number) as usize;
    let (start, room) = (place(1), place(3));
    columns.clear();
    batch(ask, request[0], place(0), &memory[start..start + place(2)], columns);
    response.push(b'A');
    if columns.len() > place(4) {
        response.extend_from_slice(columns);
    } else {
        memory[room..room + columns.len()].copy_from_slice(columns);
        response.extend_from_slice(&(columns.len() as u32).to_be_bytes());
    }
}

/// Greets, then answers until the input ends. `more` are further members of the greeting, in JSON.
pub fn serve(name: &str, version: &str, operations: &str, more: &str, ask: Ask) -> io::Result<()> {
    let mut input = BufReader::with_capacity(1 << 16, io::stdin().lock());
    let mut output = BufWriter::with_capacity(1 << 16, io::stdout().lock());
    let mut memory = shared::mapped();
    let shares = if memory.is_some() { ", \"shared_memory\": \"mapped\"" } else { "" };
    writeln!(
        output,
        "{{\"overlong\": 1, \"name\": \"{name}\", \"version\": \"{version}\", \"language\": \"Rust\", \
         \"platform\": \"{}/{}\", \"operations\": \"PB{operations}\", \"units\": \"utf-32\", {more}{shares}}}",
        std::env::consts::OS,
        std::env::consts::ARCH
    )?;
    let (mut head, mut body, mut response, mut columns) = ([0; 8], Vec::new(), Vec::new(), Vec::new());
    loop {
        if input.buffer().is_empty() {
            output.flush()?; // the harness still has requests in the pipe, so it can wait
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
                response.push(b'A');
                batch(ask, inner, u32_at(&body, 2) as usize, &body[6..], &mut response)
            }
            (b'C', Some(_)) if memory.is_some() => {
                shared_batch(ask, &body[1..], memory.as_mut().unwrap(), &mut columns, &mut response)
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
