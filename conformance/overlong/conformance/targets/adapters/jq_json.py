"""Adapter for jq's string reader: a batch is an array of JSON strings, which jq writes back in ASCII.

``jq_json.py PROGRAM``. The octets between the quotes are unchanged, except that ASCII octets which JSON forbids
there are escaped. The escapes that jq writes name the code points that it read.
"""

from __future__ import annotations

import sys
from pathlib import Path

if __name__ == "__main__":  # make this package importable from anywhere
    if (_root := str(Path(__file__).resolve().parents[4])) not in sys.path:
        sys.path.insert(0, _root)

import contextlib
import json
import subprocess
from typing import TYPE_CHECKING

from overlong.conformance.targets.adapters.documents import json_string
from overlong.conformance.targets.adapters.serving import fail, own_output, serve

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


def reader(program: str) -> Callable[[Sequence[bytes]], list[str]]:
    """The strings that a jq process reads from octets: it gets an array on a line, and writes it back on one."""
    words = [program, "--unbuffered", "--compact-output", "--ascii-output", "."]
    process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def read(many: Sequence[bytes]) -> list[str]:
        assert process.stdin is not None
        assert process.stdout is not None
        line = b""
        with contextlib.suppress(BrokenPipeError):
            process.stdin.write(b"[%s]\n" % b",".join(map(json_string, many)))
            process.stdin.flush()
            line = process.stdout.readline()
        if not line.endswith(b"\n"):
            fail("jq has ended")
        strings: list[str] = json.loads(line)
        if len(strings) != len(many):
            fail(f"jq read {len(strings)} strings where {len(many)} stood")
        return strings

    return read


def main() -> None:
    """Serve the program that the command line names."""
    answers = own_output()
    program = sys.argv[1]
    try:
        read = reader(program)
        asked = subprocess.run([program, "--version"], capture_output=True, text=True, check=False)
    except OSError as error:
        fail(f"{program} cannot be started: {error.strerror}")
    version = asked.stdout.strip()
    traits = {"version": version, "language": "C", "wrapper": "json-string", "error_mode": "replacement"}
    serve({"L": read}, "jq", traits, answers)


if __name__ == "__main__":
    main()
