"""The population of wrong implementations: compiles them, proves them wrong, and finds them by suites and sweeps.

Nothing is known of where a mistake shows, so a search looks for it: long lists of texts at all addresses, each with an
error or two or none, and further ones of lengths near the numbers in the mutant's code. A mutant that gives only right
answers to all of them does not count. Whatever a mutant does, it does in a process of its own.
"""

from __future__ import annotations

import ctypes
import multiprocessing
import os
import pickle
import re
import signal
import subprocess
from dataclasses import dataclass
from functools import cached_property
from mmap import mmap
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from mutants.population import HEADERS, options
from mutants.shapes import HEADER, KINDS, STREAM, Shaped, drawn, styles
from overlong.conformance.sweep.pool import cpus

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

LIBRARY = "libshaped.so"
REPLACING = "replacing"
_PROVING = Path(__file__).with_name("proving.c")
_LONGEST = 140_000
_OCTETS_A_LIST = 1 << 27
_LISTS = ((1, 6_000, 1.0), (2, 500_000, 20.0))
"""Lists of strings for all: a seed, how many, and the processor seconds after which a mutant hangs."""
_NEAR = 60_000
"""The number of strings near the numbers in a mutant's code."""
_SHOWN = 24
_NUMBERS = re.compile(r"(?<![\w.])(\d+)(?!\w)")


@dataclass(frozen=True)
class Texts:
    """A list of strings with their places and right answers."""

    octets: np.ndarray
    ends: np.ndarray
    places: np.ndarray
    right: np.ndarray

    def text(self, number: int) -> bytes:
        """One of the strings."""
        return self.octets[int(self.ends[number - 1]) if number else 0 : int(self.ends[number])].tobytes()


@dataclass(frozen=True)
class Proof:
    """What shows that a mutant is wrong."""

    text: bytes
    place: int
    """The address modulo 64."""
    how: str
    """``alone``; ``after others`` if the answer depends on earlier calls; ``at the end of memory``, or a signal."""

    def __str__(self) -> str:
        return f"{in_short(self.text)} at address {self.place} mod 64, {self.how}"


def in_short(text: bytes) -> str:
    """A string in hexadecimal; of a long one the ends."""
    if len(text) > _SHOWN:
        return f"{text[:8].hex(' ').upper()} … {text[-8:].hex(' ').upper()} ({len(text)} octets)"
    return text.hex(" ").upper() or "no octet"


def in_child(work: Callable[[], Any], seconds: float) -> Any:
    """The result of some work in a process of its own, or the number of the signal that ended it.

    Args:
        work: the work; its result can be pickled.
        seconds: the processor seconds after which ``SIGPROF`` ends it.
    """
    reads, writes = os.pipe()
    child = os.fork()
    if not child:
        status = 1
        try:
            os.close(reads)
            signal.signal(signal.SIGPROF, signal.SIG_DFL)
            signal.setitimer(signal.ITIMER_PROF, seconds)
            with os.fdopen(writes, "wb") as pipe:
                pickle.dump(work(), pipe)
            status = 0
        finally:
            os._exit(status)
    os.close(writes)
    with os.fdopen(reads, "rb") as pipe:
        told = pipe.read()
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        return signal.Signals(os.WTERMSIG(status))
    if status:
        raise RuntimeError("the work in a child failed")
    return pickle.loads(told)  # noqa: S301 (what this program wrote)


def build(folder: Path, mutants: Sequence[Shaped], compiler: str = "cc") -> list[Shaped]:
    """Compile them to one library, and return those that can be compiled.

    Raises:
        OSError: there is no compiler.
        subprocess.CalledProcessError: the compiler failed on what is right.
    """
    words = [compiler, *options(folder, [*HEADERS, HEADER])]
    rights = [each.right for each in styles()]
    for each in (*rights, *mutants):
        (folder / f"{each.symbol}.c").write_text(_defines(each) + each.code + "\n", "utf-8")
    batches = [[f"{each.symbol}.c" for each in (*rights, *mutants)][part :: cpus()] for part in range(cpus())]
    running = [
        subprocess.Popen([*words, "-c", *batch], cwd=folder, stderr=subprocess.DEVNULL) for batch in batches if batch
    ]
    for compiling in running:
        compiling.wait()
    built = [each for each in mutants if (folder / f"{each.symbol}.o").exists()]
    objects = [f"{each.symbol}.o" for each in (*rights, *built)]
    subprocess.run([*words, "-shared", "-o", LIBRARY, str(_PROVING), *objects], cwd=folder, check=True)
    return built


def _defines(each: Shaped) -> str:
    if len(each.symbols) == 1:
        return f"#define NAME {each.symbol}\n"
    return "".join(f"#define {name} {symbol}\n" for name, symbol in zip(STREAM, each.symbols, strict=True))


class Prover:
    """Looks for strings that a mutant answers wrongly."""

    def __init__(self, path: Path) -> None:
        self._library = ctypes.CDLL(str(path))
        self._library.draw.restype = ctypes.c_size_t
        self._library.prove.restype = ctypes.c_ssize_t

    @cached_property
    def lists(self) -> list[tuple[Texts, float]]:
        """The lists for all mutants, each with its limit of seconds."""
        return [(self.texts(seed, count), seconds) for seed, count, seconds in _LISTS]

    def texts(self, seed: int, count: int, near: Sequence[int] = ()) -> Texts:
        """Strings by a seed, half of them of lengths near some numbers."""
        octets, ends = np.zeros(_OCTETS_A_LIST, np.uint8), np.zeros(count, np.uint64)
        places, lengths = np.zeros(count, np.uint8), np.array(near, np.uint64)
        made = self._library.draw(
            *(ctypes.c_uint64(seed), ctypes.c_size_t(count), _at(octets), ctypes.c_size_t(len(octets)), _at(ends)),
            *(_at(places), _at(lengths), ctypes.c_size_t(len(lengths)), ctypes.c_size_t(_LONGEST)),
        )
        return self.judged(octets[: int(ends[made - 1])], ends[:made], places[:made])

    def judged(self, octets: np.ndarray, ends: np.ndarray, places: np.ndarray) -> Texts:
        """Strings with their right answers."""
        right = np.zeros(len(ends), np.uint64)
        self._library.judge(_at(octets), _at(ends), ctypes.c_size_t(len(ends)), _at(right))
        return Texts(octets, ends, places, right)

    def addresses(self, mutant: Shaped) -> list[int]:
        """Those of its functions."""
        return [ctypes.cast(self._library[each], ctypes.c_void_p).value or 0 for each in mutant.symbols]

    def wrong_at(
        self, mutant: Shaped, texts: Texts, seconds: float, *, first: int = 0, count: int = 0, guarded: bool = False
    ) -> tuple[int, int]:
        """The number of the first string with a wrong answer, or -1; and the signal that ended it, or 0."""
        now = mmap(-1, 8)
        told = in_child(lambda: self._asked(mutant, texts, first, count, now, guarded=guarded), seconds)
        if isinstance(told, signal.Signals):
            return int.from_bytes(now[:], "little", signed=True), int(told)
        return told, 0

    def _asked(self, mutant: Shaped, texts: Texts, first: int, count: int, now: mmap, *, guarded: bool) -> int:
        longest = int(np.diff(texts.ends, prepend=np.uint64(0)).max(initial=0))
        room = (longest + 512 + 4095) // 4096 * 4096
        arena = mmap(-1, room + 4096)
        start = np.frombuffer(arena, np.uint8).ctypes.data
        if guarded:
            protect = ctypes.CDLL(None, use_errno=True).mprotect
            protect(ctypes.c_void_p(start + room), ctypes.c_size_t(4096), 0)
        out, wanted = (np.zeros(4 * longest + 256, np.uint8) for _ in range(2))
        addresses = (ctypes.c_void_p * len(STREAM))(*self.addresses(mutant))
        told = self._library.prove(
            *(list(KINDS).index(mutant.abi), addresses, _at(texts.octets), _at(texts.ends), _at(texts.places)),
            *(_at(texts.right), ctypes.c_size_t(first), ctypes.c_size_t(count or len(texts.ends))),
            *(ctypes.c_void_p(start), ctypes.c_size_t(room), ctypes.c_bool(guarded), _at(out), _at(wanted)),
            ctypes.c_void_p(np.frombuffer(now, np.int64).ctypes.data),
        )
        return int(told)

    def proof(self, mutant: Shaped) -> Proof | None:
        """A string that a mutant answers wrongly; None if there is none.

        Raises:
            Hangs: it does not answer.
        """
        for texts, seconds in self._all_texts(mutant):
            for guarded in (False, True) if texts is self.lists[0][0] else (False,):
                number, ended_by = self.wrong_at(mutant, texts, seconds, guarded=guarded)
                if ended_by == signal.SIGPROF:
                    raise Hangs
                if number < 0:
                    continue
                if ended_by:
                    how = signal.Signals(ended_by).name
                elif guarded:
                    how = "at the end of memory"
                else:
                    alone, _ = self.wrong_at(mutant, texts, seconds, first=number, count=number + 1)
                    how = "alone" if alone >= 0 else "after others"
                return Proof(texts.text(number), int(texts.places[number]), how)
        return None

    def _all_texts(self, mutant: Shaped) -> Iterable[tuple[Texts, float]]:
        yield from self.lists
        numbers = {int(each) for each in _NUMBERS.findall(mutant.code + mutant.words)}
        near = sorted(each for each in numbers if 16 <= each < _LONGEST - 4096)
        if near:
            yield self.texts(3, _NEAR, near), 20.0
        yield self.long, 20.0

    @cached_property
    def long(self) -> Texts:
        """An error, or none, near the end of texts of some powers of two."""
        fillers, ends = ("a", "é", "中", "🚲"), (b"", b"\xc0\xaf", b"a" * 30 + b"\x80" + b"a" * 99, b"\xed\xa0\x80a")
        strings = [
            filler.encode() * ((1 << power) // len(filler.encode())) + end
            for power in (12, 13, 16, 20)
            for filler in fillers
            for end in ends
        ]
        octets = np.frombuffer(b"".join(strings), np.uint8)
        return self.judged(octets, np.cumsum([*map(len, strings)], dtype=np.uint64), np.zeros(len(strings), np.uint8))


class Hangs(Exception):
    """A mutant does not answer."""


def _at(array: np.ndarray) -> ctypes.c_void_p:
    return ctypes.c_void_p(array.ctypes.data)


@dataclass(frozen=True)
class Drawn:
    """The population with what was left out."""

    mutants: list[Shaped]
    proofs: dict[str, Proof]
    broken: int
    """Those that cannot be compiled, or hang."""
    unproved: list[Shaped]


def population(folder: Path, seed: int = 0, share: float = 1.0) -> Drawn:
    """The built mutants that are proved wrong, and what was left out."""
    candidates = drawn(seed, share)
    built = build(folder, candidates)
    global _prover  # noqa: PLW0603 (forked processes share it)
    _prover = Prover(folder / LIBRARY)
    assert _prover.lists, _prover.long
    with multiprocessing.get_context("fork").Pool(cpus()) as pool:
        proofs = dict(zip((each.symbol for each in built), pool.imap(_proof, built, chunksize=1), strict=True))
    mutants = [each for each in built if isinstance(proofs[each.symbol], Proof)]
    unproved = [each for each in built if proofs[each.symbol] is None]
    shown = {symbol: proof for symbol, proof in proofs.items() if isinstance(proof, Proof)}
    return Drawn(mutants, shown, len(candidates) - len(mutants) - len(unproved), unproved)


_prover: Prover | None = None


def _proof(mutant: Shaped) -> Proof | Literal["hangs"] | None:
    assert _prover is not None
    try:
        return _prover.proof(mutant)
    except Hangs:
        return "hangs"
