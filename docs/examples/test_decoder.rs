mod utf8_vectors;

fn main() {
    let vectors = utf8_vectors::UTF8_VECTORS;
    let mut wrong = 0;
    for v in vectors {
        let strict = std::str::from_utf8(v.octets).map_err(|e| (e.valid_up_to(), e.error_len()));
        let expected = v.strict.map_err(|r| (r.offset, if r.incomplete { None } else { Some(r.length) }));
        if strict != expected || String::from_utf8_lossy(v.octets) != v.replacement {
            println!("wrong: {} ({})", v.id, v.comment);
            wrong += 1;
        }
    }
    println!("{} vectors, {} wrong", vectors.len(), wrong);
    std::process::exit((wrong != 0) as i32);
}
