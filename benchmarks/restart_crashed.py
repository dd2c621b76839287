"""The cost of isolation: starting a target under the supervisor, and going on after it crashed.

A restart lasts from the request that crashes the target to the first answer of its replacement. Next to the
milliseconds stands the ratio to the same without a sandbox, in the same run. The last figure is half the cost of a
string that crashes a target for the third time or later, when spares are ready: the string is asked twice, so half its
cost is one restart. Its bound is 10 ms.

    python benchmarks/restart_crashed.py [ROUNDS]
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from overlong.conformance.targets.framed import FramedTarget
from overlong.conformance.targets.process import Ended, Process
from overlong.conformance.vectors.batch import Batch
from runner import arguments, figure, ratios

SPARE_BOUND = 10.0

PYTHON = """
import os, struct, sys
sys.stdout.buffer.write(b'{"overlong": 1, "name": "crashes", "operations": "PV"}\\n')
while True:
    sys.stdout.buffer.flush()
    length, number = struct.unpack(">II", sys.stdin.buffer.read(8))
    body = sys.stdin.buffer.read(length - 4)
    if body == b"V!":
        os.abort()
    answer = b"A" + (body[1:] if body[:1] == b"P" else b"")
    sys.stdout.buffer.write(struct.pack(">II", 4 + len(answer), number) + answer)
"""

C = r"""
#include <stdio.h>
#include <stdlib.h>
int main(void)
{
    unsigned char frame[256];
    puts("{\"overlong\": 1, \"name\": \"crashes\", \"operations\": \"PV\"}");
    for (;;) {
        fflush(stdout);
        if (fread(frame, 1, 8, stdin) != 8)
            return 0;
        if (fread(frame + 8, 1, frame[3] - 4, stdin) != (size_t)frame[3] - 4)
            return 1;
        if (frame[9] == '!')
            abort();
        if (frame[8] != 'P')
            frame[3] = 5;
        frame[8] = 'A';
        fwrite(frame, 1, 4 + frame[3], stdout);
    }
}
"""


def milliseconds(command: list[str], *, sandbox: bool) -> tuple[float, float]:
    """Times from a start to the first answer, and from a crash to the next answer."""
    started = time.perf_counter()
    process = Process(command, sandbox=sandbox, memory=4 << 30)
    process.greeting(10)
    process.send(0, b"Va")
    process.receive(10)
    ready = time.perf_counter()
    process.send(1, b"V!")
    try:
        process.receive(10)
    except Ended as ended:
        assert "SIGABRT" in str(ended.why)  # noqa: PT017 (a benchmark, not a test)
    process = Process(command, sandbox=sandbox, memory=4 << 30)
    process.greeting(10)
    process.send(0, b"Va")
    process.receive(10)
    again = time.perf_counter()
    process.kill()
    return 1000 * (ready - started), 1000 * (again - ready)


def with_spares(command: list[str], rounds: int) -> list[float]:
    """Milliseconds of each restart of a target that crashes now and then, so that a spare can be ready."""
    target, took = FramedTarget("crashes", command, restart_budget=1 << 20), list[float]()
    target.open()
    try:
        for _ in range(rounds + 2):
            time.sleep(0.3)
            started = time.perf_counter()
            (answered,) = target.observe([(Batch.of_strings("crash", [b"!"]), "V")])
            took.append(1000 * (time.perf_counter() - started) / 2)
            assert "SIGABRT" in str(answered.faults[0])
    finally:
        target.close()
    return took[2:]


def main() -> None:
    """Print milliseconds and ratios."""
    rounds = arguments(__doc__, rounds=15).rounds
    with tempfile.TemporaryDirectory() as folder:
        commands = {"Python": [sys.executable, "-I", "-S", "-c", PYTHON]}
        if compiler := shutil.which("cc"):
            source, program = Path(folder) / "crashes.c", Path(folder) / "crashes"
            source.write_text(C, "ascii")
            subprocess.run([compiler, "-O2", "-o", program, source], check=True)
            commands["C"] = [str(program)]
        for name, command in commands.items():
            with_it, without = (
                [milliseconds(command, sandbox=sandbox) for _ in range(rounds)] for sandbox in (True, False)
            )
            for place, what in enumerate(("start", "first restart")):
                ours, plain = ([each[place] for each in times] for times in (with_it, without))
                figure(f"{name}, {what}", ours, "ms")
                figure(f"{name}, {what}: with a sandbox / without", ratios(ours, plain))
            figure(f"{name}, restart with a spare", with_spares(command, rounds), "ms", at_most=SPARE_BOUND)


if __name__ == "__main__":
    main()
