"""Adapter for programs that answer line by line: ``lines.py KEY=VALUE... -- PROGRAM [ARGUMENT...]``.

The program reads lines of hexadecimal digits, one input per line, and answers each with a line at once:

- ``=`` accepts; the decoded text follows in hexadecimal, in units of fixed width;
- ``-`` refuses; the offset of the error may follow in decimal;
- ``!`` says that the decoder failed; an explanation follows.

Keys: ``operation`` (V, D or L), ``units`` (``utf-32``, ``utf-16`` or ``utf-8``), ``document`` (the kind of document
around the octets, a word of documents.py), ``name``, and traits for the greeting. Offsets in documents are dropped:
they count from the document's start.
"""

from __future__ import annotations

import sys
from pathlib import Path

if __name__ == "__main__":  # make this package importable from anywhere
    if (_root := str(Path(__file__).resolve().parents[4])) not in sys.path:
        sys.path.insert(0, _root)

import os
import select
import subprocess
from typing import TYPE_CHECKING, NoReturn

from overlong.conformance.targets.adapters.documents import DOCUMENTS, WRAPPERS
from overlong.conformance.targets.adapters.serving import Bug, Refusal, Result, end_as, fail, own_output, serve

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

if sys.platform == "win32":
    raise ImportError("both pipes of the program are watched, which needs POSIX")

PIECE = 1 << 16
MOST = 1 << 20  # octets of answers allowed beyond 64 for each question
SHOWN = 60
_DIGITS = 1000  # of an offset; Python refuses to read numbers that are much longer
_QUIET = 500  # milliseconds for answers to arrive once the program has closed its input
_PROBE = b"a"  # an input more than there are: a program that ends after an answer has failed at that one
_ENDING = 5.0  # seconds for a program to end after it closed its output
UNITS = {"utf-32": 4, "utf-16": 2, "utf-8": 1}


def started(words: Sequence[str], probe: bytes) -> Callable[[bytes, int], list[bytes]]:
    """Start a program that reads lines and writes lines.

    Returns a function for so many lines that gives the answers. Writing and reading overlap, so that neither pipe fills
    up. If the program ends before it has answered, this process ends with the same status.

    Args:
        words: its command.
        probe: an input that is asked after all others.
    """
    shown = Path(words[0]).name
    try:
        process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    except OSError as error:
        fail(f"{words[0]} cannot be started: {error.strerror}")
    assert process.stdin is not None
    assert process.stdout is not None
    to, of = process.stdin.fileno(), process.stdout.fileno()
    os.set_blocking(to, False)
    os.set_blocking(of, False)
    kept = b""

    def lines(questions: bytes, count: int) -> list[bytes]:
        nonlocal kept
        questions, count = questions + probe.hex().encode() + b"\n", count + 1
        left, most = memoryview(questions), 64 * len(questions) + MOST
        answers = bytearray(kept)
        there = answers.count(b"\n")
        poll, patience = select.poll(), None
        poll.register(of, select.POLLIN)
        poll.register(to, select.POLLOUT)
        while there < count:
            ready = dict(poll.poll(patience))
            if ready.get(to, 0) & select.POLLERR:  # it reads no more: what it has read, it may still answer
                poll.unregister(to)
                patience = _QUIET
            elif to in ready:
                left = left[_written(to, left[:PIECE]) :]
                if not left:
                    poll.register(to, 0)  # only for its end
            if of in ready:
                octets = os.read(of, PIECE)
                if not octets:
                    _end_as(process, shown, "output", _ENDING)
                answers += octets
                there += octets.count(b"\n")
            if not ready:
                _end_as(process, shown, "input", 0)
            if len(answers) > most:
                fail(f"{shown} answered with more than {most} octets")
        *found, kept = bytes(answers).split(b"\n")
        if len(found) > count:
            fail(f"{shown} wrote more lines than it was asked for: {_shown(found[count])}")
        return found[:-1]

    return lines


def _written(pipe: int, octets: memoryview) -> int:
    try:
        return os.write(pipe, octets)
    except BrokenPipeError:  # the next look sees it
        return 0


def _end_as(process: subprocess.Popen[bytes], shown: str, closed: str, patience: float) -> NoReturn:
    """End as the program did, so that the harness sees how the decoder ended."""
    try:
        status = process.wait(patience)
    except subprocess.TimeoutExpired:
        process.kill()
        fail(f"{shown} closed its {closed} and went on")
    if status < 0:
        end_as(status)
    fail(f"{shown} ended with status {status} before it had answered")


def reader(units: str) -> Callable[[bytes], Result]:
    """A function that parses a line into an answer."""
    size = UNITS[units]

    def read(line: bytes) -> Result:
        kind, rest = line[:1], line[1:].rstrip(b"\r")
        if kind == b"=":
            try:
                octets = bytes.fromhex(rest.decode("ascii"))
            except ValueError:
                return _breach(f"it answered with a line that is no {units} in hexadecimal: {_shown(line)}")
            if len(octets) % size:
                return _breach(f"it output {len(octets)} octets, no whole number of {size}-octet units")
            return octets if size == 1 else in_utf8(octets, units)
        if kind == b"-":
            if not rest:
                return Refusal()
            if not rest.isdigit() or len(rest) > _DIGITS:  # of octets: only 0 to 9
                return _breach(f"after the - of a refusal comes no decimal number: {_shown(line)}")
            return Refusal(int(rest))
        if kind == b"!":
            return Bug(_shown(rest))
        return _breach(f"it answered with a line that begins with none of = - !: {_shown(line)}")

    return read


def _breach(text: str) -> Bug:
    return Bug(text, breach=True)


def in_utf8(octets: bytes, units: str) -> bytes:
    """Text in other units: surrogates stay, and numbers above 10FFFF are encoded as in RFC 2279."""
    try:
        return octets.decode(f"{units}-be", "surrogatepass").encode("utf-8", "surrogatepass")
    except UnicodeDecodeError:  # some numbers are no code points
        from overlong.conformance.protocol.wire import UNITS as WIRE

        return WIRE["utf-8"].write(WIRE[units].values(octets))


def _shown(line: bytes) -> str:
    return line[:SHOWN].decode("ascii", "backslashreplace")


def main() -> None:
    """Start the program that the command line names, and serve it."""
    answers = own_output()
    border = sys.argv.index("--")
    said = dict(word.split("=", 1) for word in sys.argv[1:border])
    operation, name, document = said.pop("operation"), said.pop("name"), said.pop("document", "")
    read, place = reader(said.pop("units")), DOCUMENTS.get(document)
    answers_to = started(sys.argv[border + 1 :], _PROBE if place is None else place(_PROBE))

    def ask(many: Sequence[bytes]) -> Sequence[Result]:
        asked = many if place is None else [place(octets) for octets in many]
        lines = answers_to("\n".join([*(octets.hex() for octets in asked), ""]).encode(), len(asked))
        results: list[Result] = [read(line) for line in lines]
        if place is not None:
            results = [Refusal() if isinstance(each, Refusal) else each for each in results]
        if operation == "V":
            results = [True if isinstance(each, bytes) else each for each in results]
        return results

    ask([_PROBE])  # any answer will do
    traits = {"units": "utf-8", **({"wrapper": WRAPPERS[document]} if document in WRAPPERS else {}), **said}
    serve({operation: ask}, name, traits, answers)


if __name__ == "__main__":
    main()
