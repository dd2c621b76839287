"""The cost of asking a decoder in its own process, in columnar batches of 10,000 strings.

For each string, CPU times stand side by side, in nanoseconds:

- ``decoder``: a bare loop in the decoder's own language, over the same strings, through the same call, which drops the
  output.
- ``target``: the rest of the time in the target's process, to read and cut requests and to format and write answers.
- ``harness``: the harness packs, sends, receives and compares, also with batches in shared memory. It has computed the
  right answers before.
- ``pipes``: two processes write as many octets to each other as go through the pipes, and look at none: whole batches
  and answers or, for those in shared memory, their places. No program is faster than that.
- ``memory``: one copy of the request, and one comparison of the answers with the right ones, by the C library and
  without a target. With batches in shared memory, no harness is faster than that.

The ratio is (decoder + target + harness) / decoder. Its bounds, 1.15 for compiled targets and 1.2 for Node.js and
Python, hold if decoding takes long enough: ``holds from`` says from how many nanoseconds a string on, with the overhead
measured here. Two batches take turns, so that a target never gets the batch that it has just cut.
Bounds for compiled targets: a short string takes 15 ns in the harness and 8 ns in pipes; strings of 1024 octets take
0.15 ns in both together for each octet asked or answered, and 1.5 times as long as memory alone. An earlier bound was
0.15 ns for each octet of the string. Verdicts keep it. But UTF-32 text has three to four octets for each octet asked,
so memory alone takes 0.3 ns on a processor that reads 25 GB a second: that bound was about the machine, not the
harness. Long strings are measured with memory newly placed, several times, and the least ratio to memory counts: some
placements share less of the last cache than others, and a process keeps what it got.

    python benchmarks/subprocess_cost.py [SECONDS [TARGET...]]
"""

from __future__ import annotations

import mmap
import os
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import astuple, dataclass
from itertools import accumulate, cycle, islice
from pathlib import Path
from typing import TYPE_CHECKING, cast

from overlong.conformance.oracle.compare import compare_batch
from overlong.conformance.protocol.wire import DECODE, VALIDATE, big_endian
from overlong.conformance.targets.resolve import resolve
from overlong.conformance.vectors.batch import Batch
from overlong.conformance.vectors.suites import SUITES
from runner import arguments, children, cpu_of, figure

if TYPE_CHECKING:
    from overlong.conformance.targets.framed import FramedTarget

STRINGS = 10_000
ROUNDS = 5
IN_MEMORY = 39, 22
"""Octets of a request that says where a batch stands, and of the response, with the echo that follows."""
PLACEMENTS = 3
WARM = 20  # batches until the harness sends whole ones in a request
TEXT = "Größe, 日本語, naïve café, \N{GRINNING FACE} and plain words. "
COMPILED, SCRIPTED = 1.15, 1.2

PIPES = """
import sys
requests, answers = open(0, "rb", 0), open(1, "wb", 0)
room, answer = memoryview(bytearray(int(sys.argv[1]))), memoryview(bytes(int(sys.argv[2])))
while True:
    rest = room
    while rest:
        got = requests.readinto(rest)
        if not got:
            sys.exit()
        rest = rest[got:]
    rest = answer
    while rest:
        rest = rest[answers.write(rest) :]
"""

PYTHON = """
import sys, time
from itertools import accumulate, pairwise
from array import array
data = open(sys.argv[1], "rb").read()
count = int.from_bytes(data[:4], "big")
lengths = array("I", data[4 : 4 + 4 * count]); lengths.byteswap()
strings = [data[start:end] for start, end in pairwise(accumulate(lengths, initial=4 + 4 * count))]
for line in sys.stdin:
    rounds = int(line)
    began = time.process_time()
    for _ in range(rounds):
        for octets in strings:
            try:
                octets.decode()
            except UnicodeDecodeError:
                pass
    print(time.process_time() - began, flush=True)
"""

NODE = """
Error.stackTraceLimit = 0; // as in the adapter
const fs = require('fs'), { isUtf8 } = require('buffer');
const data = fs.readFileSync(process.argv[2]), validates = process.argv[3] === 'V';
const count = data.readUInt32BE(0), strings = [];
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
for (let i = 0, place = 4 + 4 * count; i < count; i++)
  strings.push(data.subarray(place, place += data.readUInt32BE(4 + 4 * i)));
const decode = (octets) => { try { return decoder.decode(octets).length; } catch { return 0; } };
const run = validates ? isUtf8 : decode;
let kept = 0;
const line = Buffer.alloc(99);
for (let got; (got = fs.readSync(0, line)); ) {
  const began = process.cpuUsage();
  const rounds = Number(line.toString('latin1', 0, got));
  for (let round = 0; round < rounds; round++) for (const octets of strings) kept += run(octets);
  const { user, system } = process.cpuUsage(began);
  fs.writeSync(1, (user + system) / 1e6 + '\\n');
}
"""

RUST = """
use std::{env, fs, io::stdin, mem, ptr, str, time::Instant};
// std::hint has it from Rust 1.66 on
fn black_box<T>(value: T) -> T {
    let kept = unsafe { ptr::read_volatile(&value) };
    mem::forget(value);
    kept
}
fn get(data: &[u8], place: usize) -> usize {
    u32::from_be_bytes(data[place..place + 4].try_into().unwrap()) as usize
}
// nanoseconds that this thread has been on a CPU
fn on_cpu() -> f64 {
    let said = fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    said.split(' ').next().and_then(|word| word.parse().ok()).unwrap()
}
fn main() {
    let data = fs::read(env::args().nth(1).unwrap()).unwrap();
    let validates = env::args().nth(2).unwrap() == "V";
    let count = get(&data, 0);
    let mut scalars: Vec<char> = Vec::new();
    for line in stdin().lines() {
        let rounds: usize = line.unwrap().parse().unwrap();
        let (before, began) = (on_cpu(), Instant::now());
        for _ in 0..rounds {
            let mut place = 4 + 4 * count;
            for i in 0..count {
                let end = place + get(&data, 4 + 4 * i);
                let found = black_box(str::from_utf8(&data[place..end]));
                if let (Ok(text), false) = (found, validates) {
                    scalars.clear();
                    scalars.extend(text.chars());
                    black_box(&scalars);
                }
                place = end;
            }
        }
        let (elapsed, used) = (began.elapsed().as_secs_f64(), (on_cpu() - before) / 1e9);
        println!("{}", if used > 0.0 { used } else { elapsed });
    }
}
"""


@dataclass
class Case:
    """A target, its operation, the loop in its language that only decodes, and the ratio's bound."""

    target: str
    operation: str
    loop: list[str]
    bound: float


@dataclass
class Cost:
    """CPU seconds for each string: the bare loop, the target's process, the harness, pipes and memory alone."""

    decoder: float
    process: float
    harness: float
    pipes: float
    memory: float
    passes: float
    """The octets of request and answer for each string."""

    @property
    def overhead(self) -> float:
        return self.process + self.harness - self.decoder

    @property
    def ratio(self) -> float:
        return (self.process + self.harness) / self.decoder

    @property
    def over_memory(self) -> float:
        return (self.harness + self.pipes) / self.memory


class Helper:
    """A process that works on command, by lines or octets. It ends at the end of its input."""

    def __init__(self, command: list[str]) -> None:
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.to, self.come = self.process.stdin.fileno(), self.process.stdout.fileno()

    def bare(self, rounds: int) -> float:
        """The CPU seconds that the loop reports."""
        os.write(self.to, f"{rounds}\n".encode())
        assert self.process.stdout is not None
        return float(self.process.stdout.readline())

    def pipes(self, request: memoryview, answer: memoryview) -> float:
        """CPU seconds of both sides to send octets there and back."""
        theirs, ours = cpu_of(self.process.pid), time.process_time()
        while request:
            request = request[os.write(self.to, request) :]
        while answer:
            answer = answer[os.readv(self.come, [answer]) :]
        return cpu_of(self.process.pid) - theirs + time.process_time() - ours

    def end(self) -> None:
        """Close its pipes, and wait."""
        with self.process:
            pass


class Memory:
    """Memory that requests are copied to, and that holds the right answers."""

    def __init__(self, batches: list[Batch], answers: list[bytes]) -> None:
        self.requests = [batch.octets for batch in batches]
        self.answers = answers
        self.room = mmap.mmap(-1, sum(map(len, self.requests)))
        self.there = mmap.mmap(-1, sum(map(len, answers)))
        self.there[:] = b"".join(answers)
        self.seconds(len(answers))  # the first time is for the page faults

    def seconds(self, rounds: int) -> float:
        """CPU seconds for some batches, each in another place than the one before."""
        began = time.process_time()
        with memoryview(self.there) as there:
            starts = list(accumulate(map(len, self.answers), initial=0))
            for each in islice(cycle(range(len(self.requests))), rounds):
                request, answer = self.requests[each], self.answers[each]
                place = each * len(request)
                self.room[place : place + len(request)] = request
                with there[starts[each] : starts[each + 1]] as found:
                    assert answer.startswith(found)
        return time.process_time() - began


def measure(case: Case, strings: list[bytes], folder: Path, seconds: float) -> list[Cost]:
    """Measure the cost several times, in about that many seconds."""
    file = folder / "strings"
    file.write_bytes(big_endian("I", [len(strings), *map(len, strings)]) + b"".join(strings))
    batches = [Batch.of_strings("benchmark", each) for each in (strings, strings[1:] + strings[:1])]
    target = cast("FramedTarget", resolve(case.target))
    target.sandbox = False  # then the child is the target itself; the pipes are the same
    target.open()
    greeting, (child,) = target.greeting, children()
    right = [bytes(batch.expected(case.operation, greeting.units_of(case.operation)).columns) for batch in batches]
    memory = Memory(batches, right)
    request, answer = bytes(23 + 4 * len(strings) + len(batches[0].octets)), bytearray(18 + len(right[0]))
    passes = (len(request) + len(answer)) / len(strings)
    if greeting.shared_memory:
        request, answer = bytes(IN_MEMORY[0]), bytearray(IN_MEMORY[1])
    loop = Helper([*case.loop, str(file), case.operation])
    pump = Helper([sys.executable, "-I", "-S", "-c", PIPES, str(len(request)), str(len(answer))])

    def asked(count: int) -> tuple[float, float]:
        theirs, ours = cpu_of(child), time.process_time()
        for answered in target.observe((batch, case.operation) for batch in islice(cycle(batches), count)):
            assert not list(compare_batch(answered, greeting))
        return cpu_of(child) - theirs, time.process_time() - ours

    asked(WARM)
    began = time.perf_counter()
    loop.bare(3)
    asked(3)
    rounds = max(int(3 * seconds / ROUNDS / (time.perf_counter() - began)), 3)
    result = list[Cost]()
    for _ in range(ROUNDS):
        decoding = loop.bare(rounds)
        process, harness = asked(rounds)
        pipes = sum(pump.pipes(memoryview(request), memoryview(answer)) for _ in range(rounds))
        copied, each = memory.seconds(rounds), 1 / rounds / len(strings)
        result.append(Cost(decoding * each, process * each, harness * each, pipes * each, copied * each, passes))
    target.close()
    loop.end()
    pump.end()
    return result


def put_down(kind: str, case: Case, costs: list[Cost]) -> None:
    """Figures with a bound: nanoseconds for a short string and for an octet of long ones, and the ratio to memory."""
    name = f"{case.target} {case.operation}, {kind}"
    if kind == "4 octets":
        figure(f"{name}: harness", (1e9 * cost.harness for cost in costs), "ns a string", at_most=15)
        figure(f"{name}: pipes", (1e9 * cost.pipes for cost in costs), "ns a string", at_most=8)
    else:
        both = (1e9 * (cost.harness + cost.pipes) / cost.passes for cost in costs)
        figure(f"{name}: harness and pipes", both, "ns an octet sent or answered", at_most=0.15)
        ratios = (cost.over_memory for cost in costs)
        figure(f"{name}: harness and pipes / memory alone", ratios, at_most=1.5)


def over_memory(costs: list[Cost]) -> float:
    """The median ratio of harness and pipes to memory alone."""
    return statistics.median(cost.over_memory for cost in costs)


def kinds() -> dict[str, list[bytes]]:
    """The strings: those of ``complete-0``, short and mostly ill-formed, and text of several lengths."""
    short = (vector.octets for batch in SUITES["complete-0"].batches() for vector in batch)
    texts = {
        f"{length} octets": (TEXT * length).encode()[:length].decode(errors="ignore").encode().ljust(length)
        for length in (4, 64, 1024)
    }
    return {"complete-0": list(islice(cycle(list(short)), STRINGS))} | {
        name: [text] * STRINGS for name, text in texts.items()
    }


def cases(folder: Path, targets: tuple[str, ...]) -> list[Case]:
    """The measurements, of all targets if none is named. Builds the programs that only decode in ``folder``."""
    for name, text in (("bare.py", PYTHON), ("bare.js", NODE), ("bare.rs", RUST)):
        (folder / name).write_text(text)
    program = str(folder / "bare")
    subprocess.run(["rustc", "-O", "--edition", "2021", "-o", program, folder / "bare.rs"], check=True)
    node = ["node", str(folder / "bare.js")]
    each = [
        Case("rust-std", VALIDATE, [program], COMPILED),
        Case("rust-std", DECODE, [program], COMPILED),
        Case("cpython", DECODE, [sys.executable, str(folder / "bare.py")], SCRIPTED),
        Case("node-buffer", VALIDATE, node, SCRIPTED),
        Case("node-textdecoder", DECODE, node, SCRIPTED),
    ]
    return [case for case in each if not targets or case.target in targets]


def main() -> None:
    """Print the costs."""
    given = arguments(__doc__, seconds=2.0, targets=())
    seconds = given.seconds
    print("CPU nanoseconds a string; medians")
    print(
        f"{'strings':<12} {'target':<18} {'decoder':>8} {'target':>8} {'harness':>8} {'pipes':>8} {'memory':>8}  ratio"
    )
    with tempfile.TemporaryDirectory() as name:
        measured = cases(Path(name), tuple(given.targets))
        for kind, strings in kinds().items():
            for case in measured:
                bounded = case.target == "rust-std" and kind in ("4 octets", "1024 octets")
                placements = PLACEMENTS if bounded and kind == "1024 octets" else 1
                costs = min((measure(case, strings, Path(name), seconds) for _ in range(placements)), key=over_memory)
                median = Cost(*(statistics.median(column) for column in zip(*map(astuple, costs), strict=True)))
                ratios = sorted(cost.ratio for cost in costs)
                nanoseconds = [
                    1e9 * each
                    for each in (
                        median.decoder,
                        median.process - median.decoder,
                        median.harness,
                        median.pipes,
                        median.memory,
                    )
                ]
                print(
                    f"{kind:<12} {case.target + ' ' + case.operation:<18}",
                    *(f"{each:8.0f}" for each in nanoseconds),
                    f" {statistics.median(ratios):.2f} ({ratios[0]:.2f} to {ratios[-1]:.2f}), bound {case.bound}:",
                    "holds" if statistics.median(ratios) <= case.bound else
                    f"holds from {1e9 * median.overhead / (case.bound - 1):,.0f} ns a string",
                    flush=True,
                )  # fmt: skip
                if bounded:
                    put_down(kind, case, costs)


if __name__ == "__main__":
    main()
