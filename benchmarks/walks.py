"""How many files a reader walks through: from one vector, string or input to the words about it.

A file counts if one of its functions receives the octets, an answer to them, or what is made of both, while a verb
finds one planted bug and explains it. Modules that only set up, choose or count do not.

    python benchmarks/walks.py [--files]
"""

from __future__ import annotations

import argparse
import contextlib
import io
import os
import sys
import tempfile
import threading
from pathlib import Path
from typing import TYPE_CHECKING, cast

from overlong.conformance.cli.verbs import cli
from overlong.conformance.oracle.finding import Bucket, Finding
from overlong.conformance.protocol.observation import Accepted, Refused
from overlong.conformance.protocol.wire import Answers
from overlong.conformance.results.model import Cause
from overlong.conformance.vectors.batch import Batch
from overlong.conformance.vectors.vector import Vector
from planted.bugs import bugs
from planted.tables import build

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import FrameType

CARRIERS = (Accepted, Answers, Batch, Bucket, Cause, Finding, Refused, Vector)
OCTETS = bytes.fromhex("C200")
"""What ``second_unchecked`` accepts, alone among decoders of this file."""
TARGET = next(bug.target for bug in bugs() if bug.name == "second_unchecked")
VERBS = {
    "a vector of certify": ["certify", TARGET, "--suite", "given", "--vectors", "one.json", "--no-sweeps"],
    "a string of sweep": ["sweep", TARGET, "--plan", "exhaustive-2", "--jobs", "1"],
    "an input of fuzz": ["fuzz", TARGET, "--runs", "100k", "--seed", "1", "--jobs", "1"],
}


def carries(value: object, within: int = 1) -> bool:
    """True if it is the octets, or what is made of some."""
    if isinstance(value, (bytes, bytearray)):
        return OCTETS in value
    if within and isinstance(value, (list, tuple)):
        return any(carries(each, within - 1) for each in cast("Sequence[object]", value)[:3])
    return isinstance(value, CARRIERS)


def walk(words: list[str]) -> list[str]:
    """The files, in the order of the walk, that the octets come through in this command."""
    files: dict[str, None] = {}

    def entered(frame: FrameType, event: str, _: object) -> None:
        code = frame.f_code
        if event == "call" and "/overlong/" in code.co_filename and code.co_filename not in files:
            names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
            if any(carries(frame.f_locals.get(name)) for name in names):
                files[code.co_filename] = None

    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        threading.setprofile(entered)
        sys.setprofile(entered)
        try:
            cli.main([*words, "-o", f"{words[0]}-results"], standalone_mode=False)
        except SystemExit:
            pass
        finally:
            sys.setprofile(None)
            threading.setprofile(None)
    return [path.rpartition("/overlong/")[2] for path in files]


def main() -> None:
    """Walk each, in a folder that is removed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--files", action="store_true", help="name the files, too")
    files = parser.parse_args().files
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        build(Path(folder))
        cli.main(["vectors", "export", "--format", "json", "interrupted/c200", "-o", "one.json"], standalone_mode=False)
        for name, words in VERBS.items():
            entered = walk(words)
            print(f"{name}: {len(entered)} files")
            if files:
                print(*(f"  {path}" for path in entered), sep="\n")


if __name__ == "__main__":
    main()
