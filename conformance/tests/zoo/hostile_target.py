"""A right decoder that speaks the protocol, with planted faults: ``hostile_target.py FAULT[+FAULT] [WORD...]``.

A fault occurs on the inputs that ``on=HEX,HEX`` or the lines of ``on-file=PATH`` name, or at the start. The other
words: ``no-batch`` offers no B; ``shared`` takes batches from shared memory; ``operations=VDL`` sets the other offered
operations; ``file=PATH`` is for faults that remember something across restarts, or report something to the test.

It writes answers when no request is waiting: so when the process dies, answers to innocent inputs are lost, as in
real adapters. In the environment, ``HOSTILE_TEXT`` is its text for all messages; ``HOSTILE_LOCK`` is a file that it
and its children keep locked while they live.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import mmap
import os
import resource
import signal
import struct
import sys
import time

TYPE_CHECKING = False  # importing typing takes longer than all the rest, and this program starts a thousand times
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import NoReturn

    Row = tuple[bytes, int, int, int, bytes]  # status, number, length, incomplete, output: a row of a batch's columns

FAULTS = set(sys.argv[1].split("+"))
WORDS = dict(word.partition("=")[::2] for word in sys.argv[2:])
OPERATIONS = WORDS.get("operations", "D")
TEXT = os.environ.get("HOSTILE_TEXT", "")


def read_file(word: str) -> str:
    with open(WORDS[word], encoding="ascii") as file:  # noqa: PTH123 (pathlib takes long to import, too)
        return file.read()


def write_file(word: str, text: str = "") -> None:
    with open(WORDS[word], "w", encoding="ascii") as file:  # noqa: PTH123
        file.write(text)


def culprits() -> set[bytes]:
    if "on-file" in WORDS:
        return set(map(bytes.fromhex, read_file("on-file").split("\n")))
    return set(map(bytes.fromhex, WORDS["on"].split(","))) if "on" in WORDS else set()


CULPRITS = culprits()

# -- its behaviour without a fault

waiting, written = bytearray(), bytearray()


def write(octets: bytes) -> None:
    """Write pending answers, and this one."""
    written.extend(octets)
    while written:
        del written[: os.write(1, written)]


def read(count: int) -> bytes:
    """Read octets of requests; exit at the end of input."""
    while len(waiting) < count:
        write(b"")
        octets = os.read(0, 1 << 16)
        if not octets:
            os._exit(0)
        waiting.extend(octets)
    octets = bytes(waiting[:count])
    del waiting[:count]
    return octets


def frame(request: int, body: bytes) -> bytes:
    return struct.pack(">II", 4 + len(body), request) + body


def decode(operation: str, octets: bytes) -> Row:
    try:
        text = octets.decode("utf-8", "replace" if operation == "L" else "strict")
    except UnicodeDecodeError as error:
        return b"R", error.start, error.end - error.start, error.reason == "unexpected end of data", b""
    return (b"A", 0, 0, 0, b"") if operation == "V" else (b"A", len(text), 0, 0, text.encode("utf-32-be"))


def single(row: Row) -> bytes:
    status, number, length, incomplete, output = row
    return status + (struct.pack(">IBB", number, length, incomplete) if status == b"R" else output)


def batch(rows: list[Row]) -> bytes:
    statuses, numbers, lengths, incompletes, output = zip(*rows, strict=True)
    columns = (b"".join(statuses), struct.pack(f">{len(rows)}I", *numbers), bytes(lengths), bytes(incompletes))
    return b"A" + b"".join((*columns, *output))


def split(payload: bytes) -> list[bytes]:
    """The items of a batch."""
    (count,) = struct.unpack_from(">I", payload)
    lengths, place, items = struct.unpack_from(f">{count}I", payload, 4), 4 + 4 * count, list[bytes]()
    for length in lengths:
        items.append(payload[place : place + length])
        place += length
    return items


def shared_memory() -> tuple[int, mmap.mmap]:
    """The descriptor of the shared memory, and its content."""
    descriptor, size = map(int, os.environ["OVERLONG_SHARED_MEMORY"].split())
    return descriptor, mmap.mmap(descriptor, size)


def shared_batch(request: bytes) -> tuple[list[bytes], Callable[[list[Row]], bytes]]:
    """The items of a batch in shared memory, and a function that puts the answers there."""
    count, start, size, place, _ = struct.unpack(">5I", request)
    _, memory = shared_memory()

    def respond(rows: list[Row]) -> bytes:
        columns = batch(rows)[1:]
        memory[place : place + len(columns)] = columns
        return b"A" + struct.pack(">I", len(columns))

    return split(struct.pack(">I", count) + memory[start : start + size]), respond


# -- the faults


def hang() -> NoReturn:
    while True:
        time.sleep(60)


def die(number: signal.Signals) -> NoReturn:
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # no core files
    os.kill(os.getpid(), number)
    hang()


def leave(status: int) -> NoReturn:
    os._exit(status)  # unflushed output is lost


def ignore_sigterm() -> NoReturn:
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    hang()


def close_stdout() -> NoReturn:
    os.close(1)
    hang()


def write_and(octets: bytes, then: Callable[[], NoReturn]) -> NoReturn:
    write(octets)
    then()


def endless_frame() -> NoReturn:
    """A frame of the longest permitted length, and longer."""
    write(struct.pack(">I", (1 << 26) - 1))
    while True:
        write(b"\0" * (1 << 20))


def crash_once(answer: bytes) -> bytes:
    if not os.path.exists(WORDS["file"]):  # noqa: PTH110
        write_file("file")
        die(signal.SIGSEGV)
    return answer


def eat_memory() -> NoReturn:
    hoard = list[bytearray]()
    while True:
        hoard.append(bytearray(b"\xff") * (1 << 24))


def fork_many() -> None:
    """Fork 200 children in separate sessions, half of them orphans at once."""
    for number in range(200):
        if os.fork() == 0:
            os.setsid()
            if number % 2 == 0 or os.fork() == 0:
                hang()
            leave(0)


def and_then(answer: bytes, then: Callable[[], object]) -> bytes:
    then()
    return answer


def send_around() -> None:
    """Send signals to its process group, its parent and its session; ignore them itself."""
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGUSR1, signal.SIGALRM):
        signal.signal(number, signal.SIG_IGN)
        for send, receiver in ((os.kill, 0), (os.kill, os.getppid()), (os.killpg, os.getsid(0))):
            with contextlib.suppress(PermissionError):  # Landlock denies its parent
                send(receiver, number)


def kill_all() -> None:
    """Kill every process that it may signal; only if these are all started by a test."""
    assert "HOSTILE_MAY_KILL_ALL" in os.environ
    with contextlib.suppress(PermissionError):
        os.kill(-1, signal.SIGKILL)


def rearrange() -> None:
    """Change everything that a process inherits."""
    os.chdir("/")
    os.umask(0o777)
    os.environ.clear()
    os.nice(5)
    signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
    resource.setrlimit(resource.RLIMIT_NOFILE, (16, 16))
    for number in (0, 1, 2):
        os.set_blocking(number, True)


def cut_off_memory() -> None:
    """Shrink the shared memory below the harness's next read; without a seal, the harness would die."""
    with contextlib.suppress(OSError):
        os.ftruncate(shared_memory()[0], 0)


held = bytearray()


def hold_back(answer: bytes) -> bytes:
    """Send this answer after the next one."""
    held.extend(answer)
    return b""


AT_INPUT: dict[str, Callable[[int, bytes], bytes]] = {  # from a request's id and its right answer to the written octets
    "fork-many": lambda _, answer: and_then(answer, fork_many),
    "crash": lambda *_: die(signal.SIGSEGV),
    "abort": lambda *_: die(signal.SIGABRT),
    "exit-0": lambda *_: leave(0),
    "exit-7": lambda *_: leave(7),
    "flaky": lambda _, answer: crash_once(answer),
    "crash-after": lambda _, answer: write_and(answer, lambda: die(signal.SIGSEGV)),
    "close-stdout": lambda *_: close_stdout(),
    "eat-memory": lambda *_: eat_memory(),
    "endless-frame": lambda *_: endless_frame(),
    "hang": lambda *_: hang(),
    "stop": lambda *_: die(signal.SIGSTOP),
    "ignore-sigterm": lambda *_: ignore_sigterm(),
    "half-frame": lambda _, answer: write_and(answer[: len(answer) // 2], lambda: leave(0)),
    "half-frame-hang": lambda _, answer: write_and(answer[: len(answer) // 2], hang),
    "huge-length": lambda _, answer: b"\xff\xff\xff\xff" + answer[4:],
    "wrong-id": lambda request, answer: frame(request ^ 0x80000000, answer[8:]),
    "extra-frame": lambda _, answer: answer + answer,
    "out-of-order": lambda _, answer: hold_back(answer),
    "bad-status": lambda request, answer: frame(request, b"Z" + TEXT.encode() + answer[9:]),
    "short-answer": lambda request, answer: frame(request, answer[8:-1]),
    "long-answer": lambda request, answer: frame(request, answer[8:] + b"\0"),
    "noise": lambda _, answer: f"debug: {TEXT}\n".encode() + answer,
    "columns-beyond": lambda request, _: frame(request, b"A\x7f\xff\xff\xff"),
    "cut-off-memory": lambda _, answer: and_then(answer, cut_off_memory),
    "noise-after": lambda _, answer: answer + b"debug: done\n",
}


def nonsense(octets: bytes) -> Row:
    """A random answer that the protocol allows."""
    import random

    chance = random.Random(octets.hex() + WORDS.get("seed", ""))
    status, number = chance.choice("ARUX"), chance.choice((0, 1, 2, 3, 7))
    if status == "A":
        values = (0x1B, 0x41, 0xD800, 0xFFFD, 0x110000, 0xFFFFFFFF)
        return b"A", number, 1, 7, b"".join(chance.choice(values).to_bytes(4, "big") for _ in range(number))
    if status == "R":
        return b"R", number or 0xFFFFFFFF, chance.choice((0, 1, 3, 255)), chance.choice((0, 1, 7, 255)), b""
    return (b"U", 0, 0, 0, b"") if status == "U" else (b"X", number, 0, 0, chance.randbytes(number))


def slow(octets: bytes, right: Row) -> Row:
    if "file" in WORDS and octets != b"a":
        write_file("file")  # the run is under way
    time.sleep(float(WORDS["seconds"]))
    return right


times_asked = dict[bytes, int]()


def waver(octets: bytes, right: Row) -> Row:
    """Answer wrongly whenever the next letter of ``pattern`` is w."""
    if octets not in CULPRITS:
        return right
    turn = times_asked[octets] = times_asked.get(octets, -1) + 1
    return (b"A", 1, 0, 0, b"\0\0\0!") if WORDS["pattern"][turn] == "w" else right


AT_VECTOR: dict[str, Callable[[bytes, Row], Row]] = {  # from a vector and its right answer to the given answer
    "internal-error": lambda octets, right: (
        (b"X", len(TEXT.encode()), 0, 0, TEXT.encode()) if octets in CULPRITS else right
    ),
    "unsupported": lambda octets, right: (b"U", 0, 0, 0, b"") if octets in CULPRITS else right,
    "unsupported-at-length": lambda octets, right: (b"U", 5, 0, 0, b"") if octets in CULPRITS else right,
    "nonsense": lambda octets, right: nonsense(octets) if octets != b"a" else right,
    "slow": slow,
    "waver": waver,
    "refuse": lambda octets, right: (b"R", 0, 1, 0, b"") if octets in CULPRITS else right,
}


def flood_stderr(*, and_leave: bool = False) -> None:
    for _ in range(int(WORDS.get("megabytes", "64"))):
        os.write(2, b"x" * (1 << 20))
    os.write(2, b"\nthe last words")
    if and_leave:
        leave(7)


def fork_child(*, own_session: bool) -> None:
    """Fork a child that keeps all streams open; if it survives for ten minutes, it creates a file."""
    if os.fork() == 0:
        if own_session:
            os.setsid()
            write_file("file", str(os.getpid()))
        if "outlived" in WORDS:
            time.sleep(600)
            write_file("outlived")
            leave(0)
        hang()


def start_once() -> None:
    if os.path.exists(WORDS["file"]):  # noqa: PTH110
        leave(9)
    write_file("file")


AT_START: dict[str, Callable[[], object]] = {  # before the greeting
    "banner": lambda: write(f"Welcome! {TEXT}\n".encode()),
    "no-greeting": hang,
    "endless-line": lambda: write(b"[" * (1 << 20)),
    "exit-at-once": lambda: (os.write(2, f"no decoder here\n{TEXT}".encode()), leave(7)),
    "flood-stderr": flood_stderr,
    "flood-stderr-and-exit": lambda: flood_stderr(and_leave=True),
    "start-once": start_once,
    "forks-child": lambda: fork_child(own_session=False),
    "send-around": send_around,
    "kill-all": kill_all,
    "rearrange": rearrange,
    "forks-daemon": lambda: fork_child(own_session=True),
}

GREETINGS: dict[str, Callable[[], dict[str, object]]] = {  # changes to the greeting
    "wrong-version": lambda: {"overlong": 99},
    "hostile-name": lambda: dict.fromkeys(("name", "version", "language", "error_mode"), TEXT),
    "hostile-trait": lambda: {"bom": TEXT},
    "hostile-operations": lambda: {"operations": "PD\x1b\u202e"},
    "hostile-units": lambda: {"units": TEXT},
    "new-name": lambda: {"name": f"process {os.getpid()}"},
}


def main() -> None:
    if "HOSTILE_LOCK" in os.environ:
        fcntl.flock(os.open(os.environ["HOSTILE_LOCK"], os.O_RDWR | os.O_CREAT), fcntl.LOCK_SH)
    greeting: dict[str, object] = {
        "overlong": 1,
        "name": "hostile target",
        "version": "1",
        "language": "Python",
        "operations": f"P{OPERATIONS}" + ("" if "no-batch" in WORDS else "B"),
        "units": "utf-32",
        **({"shared_memory": "mapped"} if "shared" in WORDS else {}),
    }
    for fault in FAULTS & AT_START.keys():
        AT_START[fault]()
    for fault in FAULTS & GREETINGS.keys():
        greeting |= GREETINGS[fault]()
    write(json.dumps(greeting).encode() + b"\n")
    while True:
        length, request = struct.unpack(">II", read(8))
        body = read(length - 4)
        operation, items, respond = chr(body[0]), [body[1:]], lambda rows: single(rows[0])
        if operation == "P":
            octets = items.pop()
            answer = frame(request, b"A" + (octets.replace(b"\n", b"\r\n") if "text-mode" in FAULTS else octets))
        else:
            if operation == "B":
                operation, items, respond = chr(body[1]), split(body[2:]), batch
            elif operation == "C":
                operation, (items, respond) = chr(body[1]), shared_batch(body[2:])
            rows = [decode(operation, octets) for octets in items]
            for fault in FAULTS & AT_VECTOR.keys():
                rows = [AT_VECTOR[fault](octets, row) for octets, row in zip(items, rows, strict=True)]
            answer = frame(request, respond(rows))
        if not CULPRITS.isdisjoint(items):
            for fault in filter(FAULTS.__contains__, AT_INPUT):  # in their order
                answer = AT_INPUT[fault](request, answer)
        elif held:
            answer += held
            held.clear()
        written.extend(answer)


if __name__ == "__main__":
    main()
