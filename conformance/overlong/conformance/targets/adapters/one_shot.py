"""Adapter for programs that take one input and end: ``one_shot.py UNITS PROGRAM [ARGUMENT...]``.

The program reads the octets from its standard input, or from a file whose name replaces an argument ``{}`` or
the ``{}`` in ``...={}``. Status 0 accepts, 1 refuses; any other status or a signal is no verdict. UNITS is
``verdict``, or the encoding of the output: ``utf-32``, ``utf-16`` (both big-endian) or ``utf-8``.

Before the greeting, the adapter tries a few inputs to check that the status is a verdict at all. It needs only
POSIX and the standard library.
"""

from __future__ import annotations

import ctypes
import itertools
import json
import os
import select
import signal
import struct
import sys
import tempfile
import threading
from collections import deque
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, NamedTuple, NoReturn

if sys.platform == "win32":
    raise ImportError("programs are started by posix_spawn, which needs POSIX")

HEAD = struct.Struct(">II")
UNITS = {"utf-32": (4, "utf-32-be"), "utf-16": (2, "utf-16-be"), "utf-8": (1, "utf-8")}
PLACEHOLDER = "{}"
FILE = 99  # the descriptor of the input, if the program takes a file name
PIPE = 1 << 16  # octets that a pipe holds without a reader
MOST = 1 << 20  # octets of output allowed beyond 16 for each octet of input
KEPT = 4096  # octets of stderr that are kept
LOOK = 50  # milliseconds without output before the reader checks whether the program has ended
CALL = "OVERLONG_CALL"
"""The variable with the number of a run, by which processes that outlive the run are known."""
ADOPT = 36  # PR_SET_CHILD_SUBREAPER, linux/prctl.h
AHEAD = 64  # inputs read ahead; with more, the harness could not know the ones in progress


numbers = itertools.count(1)
running: set[int] = set()
"""The numbers of the runs that have not ended."""
looking = threading.Lock()


class Ran(NamedTuple):
    """The end of a run: its status (negative: the signal), its output, and its messages."""

    status: int
    output: bytes
    said: bytes = b""
    flooded: bool = False

    @property
    def how(self) -> str:
        """The status in words, with the last line of the messages."""
        if self.flooded:
            return f"output more than {len(self.output) - 1} octets"
        if self.status >= 0:
            how = f"exited with status {self.status}"
        else:
            try:
                how = f"was ended by {signal.Signals(-self.status).name}"
            except ValueError:
                how = f"was ended by signal {-self.status}"
        lines = self.said.decode("ascii", "backslashreplace").strip().splitlines()
        return f'{how}; it said "{lines[-1].strip()[:160]}"' if lines else how


def run(words: list[str], octets: bytes, *, output: bool, said: bool = False) -> Ran:
    """Run the program once. Output is discarded unless it is needed.

    Raises:
        OSError: it cannot be started.
    """
    number = next(numbers)
    running.add(number)
    try:
        return run_once(words, octets, number, output=output, said=said)
    finally:
        running.discard(number)
        end_leftovers()


def end_leftovers() -> None:
    """Kill what ended runs have left behind: on Linux, this process adopts it, whatever its session or group."""
    if not sys.platform.startswith("linux"):
        return  # it ends with the target's process group
    with looking:
        while sum(map(end_leftover, adopted())):
            pass  # what these have started is adopted in turn


def adopted() -> list[int]:
    """The processes that this one adopted; its main thread adopts, and others start programs."""
    try:
        with open(f"/proc/self/task/{os.getpid()}/children", encoding="ascii") as file:  # noqa: PTH123
            return list(map(int, file.read().split()))
    except OSError:
        return []


def end_leftover(child: int) -> bool:
    """Kill an adopted process of a run that has ended; return True if that was done."""
    try:
        if os.waitpid(child, os.WNOHANG)[0]:
            return True  # it was dead
        with open(f"/proc/{child}/environ", "rb") as file:  # noqa: PTH123
            variables = dict(each.split(b"=", 1) for each in file.read().split(b"\0") if b"=" in each)
        if int(variables.get(CALL.encode(), b"0")) in running:
            return False
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    except (OSError, ValueError):
        return False
    return True


def run_once(words: list[str], octets: bytes, number: int, *, output: bool, said: bool) -> Ran:
    """Run the program as the run of this number."""
    actions: list[Any] = []
    ours: list[int] = []
    theirs: list[int] = []
    rest, feed = b"", -1
    try:
        if any(map(is_placeholder, words)):
            words = [word.replace(PLACEHOLDER, f"/dev/fd/{FILE}") if is_placeholder(word) else word for word in words]
            with tempfile.TemporaryFile() as file:  # without a name: nothing remains if a process is killed
                file.write(octets)
                file.flush()
                file.seek(0)
                theirs.append(os.dup(file.fileno()))
            actions.append((os.POSIX_SPAWN_DUP2, theirs[-1], FILE))
            actions.append((os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0))
        else:
            end, feed = os.pipe()
            theirs.append(end)
            rest = octets[os.write(feed, octets[:PIPE]) :]
            actions.append((os.POSIX_SPAWN_DUP2, end, 0))
        for wanted, descriptor in ((output, 1), (said, 2)):
            if wanted:
                ours_end, end = os.pipe()
                ours.append(ours_end)
                theirs.append(end)
                actions.append((os.POSIX_SPAWN_DUP2, end, descriptor))
            else:
                actions.append((os.POSIX_SPAWN_OPEN, descriptor, os.devnull, os.O_WRONLY, 0))
        environment = {**os.environ, CALL: str(number)}
        pid = os.posix_spawn(words[0], words, environment, file_actions=actions, setsigdef=[signal.SIGPIPE])
    except BaseException:
        for descriptor in (*ours, feed):
            if descriptor >= 0:
                os.close(descriptor)
        raise
    finally:
        for descriptor in theirs:
            os.close(descriptor)
    feeder = None
    if rest:
        feeder = threading.Thread(target=write_all, args=(feed, rest), daemon=True)
        feeder.start()
    elif feed >= 0:
        os.close(feed)
    return collect(pid, ours, [16 * len(octets) + MOST] * output + [KEPT] * said, output=output)


def write_all(descriptor: int, octets: bytes) -> None:
    """Write the rest of an input that does not fit into a pipe; the program may ignore it."""
    try:
        write_all_of(descriptor, octets)
    except BrokenPipeError:
        pass
    finally:
        os.close(descriptor)


def collect(pid: int, pipes: list[int], limits: list[int], *, output: bool) -> Ran:
    """Read until the program has ended, even if its children keep the pipe open."""
    read = {pipe: bytearray() for pipe in pipes}
    most = dict(zip(pipes, limits, strict=True))
    open_, poll, status, flooded = set(pipes), select.poll(), None, False
    for pipe in pipes:
        poll.register(pipe, select.POLLIN)
    while open_:
        ready = poll.poll(LOOK if status is None else 0)
        for pipe, _ in ready:
            octets = os.read(pipe, PIPE)
            read[pipe] += octets
            if not octets:
                poll.unregister(pipe)
                open_.discard(pipe)
            elif len(read[pipe]) > most[pipe]:
                if output and pipe == pipes[0]:
                    del read[pipe][most[pipe] + 1 :]
                    flooded = True
                    os.kill(pid, signal.SIGKILL)
                    open_.clear()
                else:
                    del read[pipe][: -most[pipe]]
        if not ready:
            if status is not None:
                break
            ended, code = os.waitpid(pid, os.WNOHANG)
            status = code if ended else None
    if status is None:
        _, status = os.waitpid(pid, 0)
    for pipe in pipes:
        os.close(pipe)
    texts = [bytes(read[pipe]) for pipe in pipes]
    put_out, said = texts[0] if output else b"", texts[-1] if len(texts) > output else b""
    return Ran(os.waitstatus_to_exitcode(status), put_out, said, flooded)


def is_placeholder(word: str) -> bool:
    """True if a file name replaces this argument."""
    return word == PLACEHOLDER or word.endswith(f"={PLACEHOLDER}")


def probe(words: list[str], units: str) -> tuple[str, dict[str, str]]:
    """The program's operation and traits; ends the adapter if the status is no verdict."""
    try:
        letter = run(words, b"a", output=True, said=True)
    except OSError as error:
        fail(f"{words[0]} cannot be started: {error.strerror}")
    if letter.status != 0:
        fail(f"it refuses the letter a: it {letter.how}; fix the command first")
    flawed = run(words, b"\xff", output=True, said=True)
    if flawed.status == 0 and flawed.said and not letter.said:
        complaint = Ran(0, b"", flawed.said[:80]).how.partition("said ")[2]
        fail(
            f"it exits with status 0 and complains of the octet FF ({complaint}): its status is no verdict; "
            "wrap it in a program that exits with status 1 for what it refuses"
        )
    replacements = [b"\xef\xbf\xbd", b"\xff\xfd", b"\xfd\xff"]
    replaces = flawed.status == 0 and any(each in flawed.output for each in replacements)
    if units == "verdict":
        if replaces:
            fail(
                "it outputs U+FFFD for the octet FF and exits with status 0: it replaces, so its status is no "
                "verdict; write cmd[utf-8]: (or utf-16, utf-32) before the command, and its output is judged"
            )
        return "V", {}
    _, codec = UNITS[units]
    if letter.output != "a".encode(codec):
        fail(
            f"for the letter a it output {letter.output[:20].hex(' ').upper() or 'nothing'}; in {units}"
            f"{'' if units == 'utf-8' else ', big-endian,'} without a byte order mark or a line feed "
            f"that is {'a'.encode(codec).hex(' ').upper()}"
        )
    signed = run(words, b"\xef\xbb\xbfa", output=True)
    strips = {"bom": "strips"} if (signed.status, signed.output) == (0, letter.output) else {}
    return ("L" if replaces else "D"), strips


def fail(message: str) -> NoReturn:
    """Print why there is nothing to certify, and exit; the harness shows the last line of stderr."""
    os.write(2, f"{' '.join(message.split())}\n".encode("ascii", "backslashreplace"))
    os._exit(3)


def answer(words: list[str], operation: str, size: int, octets: bytes) -> bytes:
    """The status and payload of a response."""
    try:
        ran = run(words, octets, output=operation != "V")
    except OSError as error:
        return b"X" + f"could not be started: {error.strerror}".encode("ascii", "backslashreplace")
    if ran.status == 0 and not ran.flooded:
        if len(ran.output) % size:
            return b"X" + f"output {len(ran.output)} octets, no whole number of {size}-octet units".encode()
        return b"A" + ran.output
    if ran.status == 1 and not ran.flooded:
        return b"R"
    if not ran.flooded:  # rare: run it again for its message
        again = run(words, octets, output=False, said=True)
        ran = again if again.status == ran.status else ran
    return b"X" + ran.how.encode("ascii", "backslashreplace")


def main() -> None:
    """Probe, greet, then answer requests in order, running several programs at a time."""
    units, words = sys.argv[1], sys.argv[2:]
    requests, answers = sys.stdin.buffer, os.dup(1)
    os.dup2(2, 1)
    if sys.platform.startswith("linux"):
        ctypes.CDLL(None).prctl(ADOPT, 1, 0, 0, 0)
    with ThreadPoolExecutor(1) as probing:  # the main thread only adopts
        operation, traits = probing.submit(probe, words, units).result()
    size = UNITS[units][0] if units in UNITS else 1
    greeting = {
        "overlong": 1,
        "name": os.path.basename(words[0]).encode("utf-8", "backslashreplace").decode(),  # noqa: PTH119 (pathlib takes long to import)
        "operations": f"P{operation}",
        "units": units if units in UNITS else "utf-8",
        "slow": "one process for each input",
        **traits,
    }
    write_all_of(answers, json.dumps(greeting).encode() + b"\n")
    workers = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    waiting: deque[tuple[int, Future[bytes] | bytes]] = deque()
    with ThreadPoolExecutor(workers) as pool:
        there = threading.Condition()

        def write_in_order() -> None:
            while True:
                with there:
                    there.wait_for(lambda: waiting)
                    number, promised = waiting[0]
                if number < 0:
                    return
                body = promised if isinstance(promised, bytes) else promised.result()
                try:
                    write_all_of(answers, HEAD.pack(4 + len(body), number) + body)
                except OSError:  # the reader is gone
                    os._exit(1)
                with there:
                    waiting.popleft()
                    there.notify_all()

        writer = threading.Thread(target=write_in_order, daemon=True)
        writer.start()
        while len(head := requests.read(HEAD.size)) == HEAD.size:
            length, number = HEAD.unpack(head)
            body = requests.read(length - 4)
            asked, octets = chr(body[0]), body[1:]
            promised: Future[bytes] | bytes
            if asked == "P":
                promised = b"A" + octets
            elif asked == operation:
                promised = pool.submit(answer, words, operation, size, octets)
            else:
                promised = b"U"
            with there:
                there.wait_for(lambda: len(waiting) < AHEAD)
                waiting.append((number, promised))
                there.notify_all()
        with there:
            waiting.append((-1, b""))
            there.notify_all()
        writer.join()


def write_all_of(descriptor: int, octets: bytes) -> None:
    """Write all octets."""
    view = memoryview(octets)
    while view:
        view = view[os.write(descriptor, view) :]


if __name__ == "__main__":
    main()
