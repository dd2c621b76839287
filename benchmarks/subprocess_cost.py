"""What it costs that a decoder is asked in a process of its own, in columnar batches of 10,000 strings.

The CPU time of harness and target together, over that of a loop in the target's own language that only decodes the
same strings. The harness packs, sends, receives and compares; what a right answer is it has known before. Bounds: 1.15
for compiled targets, 1.2 for Node.js and Python. Two kinds of strings: those of ``complete(0)``, which are short
and mostly ill-formed, and lines of text of 256 octets.

    python benchmarks/subprocess_cost.py [BATCHES]
"""

from __future__ import annotations

import resource
import statistics
import struct
import subprocess
import sys
import tempfile
import time
from itertools import cycle, islice, repeat
from pathlib import Path

from overlong.conformance.batch import Batch
from overlong.conformance.compare import compare_batch
from overlong.conformance.protocol import DECODE
from overlong.conformance.suites import SUITES
from overlong.conformance.targets.resolve import resolve

STRINGS = 10_000
WARM = 20  # batches until requests have grown to whole ones
LINE = "Größe, 日本語, naïve café, \N{GRINNING FACE} and plain words. "

PYTHON = """
import struct, sys
data = open(sys.argv[1], "rb").read()
count, rounds = struct.unpack_from(">II", data)
place, strings = 8 + 4 * count, []
for length in struct.unpack_from(f">{count}I", data, 8):
    strings.append(data[place : place + length])
    place += length
for _ in range(rounds):
    for octets in strings:
        try:
            octets.decode()
        except UnicodeDecodeError:
            pass
"""

NODE = """
const data = require('fs').readFileSync(process.argv[2]);
const count = data.readUInt32BE(0), rounds = data.readUInt32BE(4);
const strings = [], decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
let place = 8 + 4 * count;
for (let i = 0; i < count; i++) {
  const length = data.readUInt32BE(8 + 4 * i);
  strings.push(data.subarray(place, place += length));
}
for (let round = 0; round < rounds; round++)
  for (const octets of strings) try { decoder.decode(octets); } catch { }
"""

RUST = """
use std::{env, fs, hint::black_box, str};
fn get(data: &[u8], place: usize) -> usize {
    u32::from_be_bytes(data[place..place + 4].try_into().unwrap()) as usize
}
fn main() {
    let data = fs::read(env::args().nth(1).unwrap()).unwrap();
    let (count, rounds) = (get(&data, 0), get(&data, 4));
    let mut scalars: Vec<char> = Vec::new();
    for _ in 0..rounds {
        let mut place = 8 + 4 * count;
        for i in 0..count {
            let end = place + get(&data, 8 + 4 * i);
            scalars.clear();
            if let Ok(text) = str::from_utf8(&data[place..end]) { scalars.extend(text.chars()); }
            black_box(&scalars);
            place = end;
        }
    }
}
"""


def used(who: int) -> float:
    """CPU seconds of this process, or of the children that it has waited for."""
    times = resource.getrusage(who)
    return times.ru_utime + times.ru_stime


def through_the_protocol(name: str, batch: Batch, batches: int) -> float:
    """CPU seconds of harness and target for that many batches, and for its start."""
    before_children = used(resource.RUSAGE_CHILDREN)
    target = resolve(name)
    target.open()
    batch.expected(DECODE, target.greeting.units_of(DECODE))
    before = used(resource.RUSAGE_SELF)
    for answered in target.observe(repeat((batch, DECODE), batches)):
        assert not list(compare_batch(answered, target.greeting))
    harness = used(resource.RUSAGE_SELF) - before
    target.close()
    whole = used(resource.RUSAGE_CHILDREN) - before_children
    return harness + whole


def bare(command: list[str], strings: list[bytes], rounds: int, folder: Path) -> float:
    """CPU seconds of a loop that only decodes, without those of its start."""

    def run(times: int) -> float:
        file = folder / "strings"
        lengths = struct.pack(f">{len(strings)}I", *map(len, strings))
        file.write_bytes(struct.pack(">II", len(strings), times) + lengths + b"".join(strings))
        before = used(resource.RUSAGE_CHILDREN)
        subprocess.run([*command, str(file)], check=True)
        return used(resource.RUSAGE_CHILDREN) - before

    return run(rounds) - run(0)


def main() -> None:
    """Print the ratios."""
    batches = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    short = list(islice(cycle(v.octets for b in SUITES["complete(0)"].batches() for v in b), STRINGS))
    line = (LINE * 10).encode()[:256].decode(errors="ignore").encode()
    kinds = {"complete(0)": short, "256 octets": [line] * STRINGS}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "bare.py").write_text(PYTHON)
        (folder / "bare.js").write_text(NODE)
        (folder / "bare.rs").write_text(RUST)
        subprocess.run(["rustc", "-O", "--edition", "2021", "-o", folder / "bare", folder / "bare.rs"], check=True)
        targets = {
            "rust-std": ([str(folder / "bare")], 1.15),
            "cpython": ([sys.executable, str(folder / "bare.py")], 1.2),
            "node-textdecoder": (["node", str(folder / "bare.js")], 1.2),
        }
        for kind, strings in kinds.items():
            batch = Batch.of_strings("benchmark", strings)
            for target, (command, bound) in targets.items():
                ratios, seconds = list[float](), 0.0
                for _ in range(3):
                    start_up = through_the_protocol(target, batch, WARM)
                    began = time.perf_counter()
                    both = through_the_protocol(target, batch, batches + WARM) - start_up
                    seconds = time.perf_counter() - began
                    ratios.append(both / bare(command, strings, batches, folder))
                print(
                    f"{kind:<12} {target:<17} {statistics.median(ratios):.2f} "
                    f"({min(ratios):.2f} to {max(ratios):.2f}, bound {bound}), "
                    f"{batches * STRINGS / seconds:,.0f} strings a second"
                )


if __name__ == "__main__":
    main()
