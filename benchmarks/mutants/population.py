"""The population: families of wrong validators, drawn by a seed, each with strings that prove it wrong.

A mutant with only right answers would count as missed by every suite. So each member comes with a string that it
answers wrongly, after earlier calls if necessary. A draw without such a string is left out and counted.
"""

from __future__ import annotations

import ctypes
import subprocess
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, TypeVar

from mutants import faults
from mutants.faults import Fault, Place, access, fault, threshold
from overlong.reference import dialect
from planted.tables import header

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

LIBRARY = "libmutants.so"
HEADERS = (Path(__file__).parent / "mutants.h", Path(__file__).parents[1] / "planted" / "utf8.h")
_PARTS = 4  # files that are compiled separately
_ASKS = """
ptrdiff_t first_wrong(bool (*asked)(const octet *, size_t), const octet *all, const uint64_t *ends, const octet *right,
                      size_t count) {
    for (size_t k = 0; k < count; k++) {
        const size_t start = k ? ends[k - 1] : 0;
        if (asked(all + start, ends[k] - start) != right[k]) return (ptrdiff_t)k;
    }
    return -1;
}
"""


@dataclass(frozen=True)
class Mutant:
    """One wrong validator."""

    symbol: str
    family: str
    words: str
    code: str
    """A macro of ``mutants.h`` with its arguments: ``WALK(NAME, ...)``, with NAME to be replaced."""
    witnesses: tuple[tuple[bytes, ...], ...] = ()
    """Strings to ask one after another, the last with a wrong answer: first the candidates, then the proof."""

    @property
    def target(self) -> str:
        """The target on the command line."""
        return f"so:./{LIBRARY}:{self.symbol}?abi=bool(ptr,len)"


Each = TypeVar("Each", bound=Mutant)


def _placed(family: str, where: Fault, place: Place, verdict: str = "ok") -> Mutant:
    """A fault at one place."""
    accepts = f"({place.condition}) ? ({where.accepts}) : 0" if where.accepts else "0"
    refuses = f"({place.condition}) && ({where.refuses})" if where.refuses else "false"
    behind = [b"", b"a"] if place.behind == (b"",) and not where.at_end else place.behind
    if where.at_end:
        behind = [b""]
    witnesses = tuple(
        (*calls, before + where.piece + after) for calls in place.calls for before in place.before for after in behind
    )
    words = f"{where.words} {place.words}".strip()
    return Mutant("", family, words, f"WALK(NAME, {accepts}, {refuses}, {verdict})", witnesses)


def _at(family: str, place: Callable[[Random], Place], *, at_end: bool = True) -> Callable[[Random], Mutant]:
    placed = place is not faults.anywhere
    return lambda random: _placed(family, fault(random, placed=placed, at_end=at_end), place(random))


def _both(random: Random) -> Mutant:
    """A fault where two conditions hold."""
    one = faults.behind_kind(random)
    other = random.choice((faults.at_offset, faults.from_offset, faults.after_characters, faults.of_length))(random)
    place = Place(
        f"{one.words} {other.words}",
        f"({one.condition}) && ({other.condition})",
        tuple(b[: len(b) - k] + a for a in one.before for b in other.before for k in {0, len(a)}),
        other.behind,
    )
    return _placed("two conditions", fault(random), place)


def _transfer(random: Random) -> Mutant:
    """One transition of the automaton leads elsewhere, for one octet or a range of them."""
    state, wrong, words, witnesses = _step(random)
    return Mutant("", "transition", words, f"STEP(NAME, {wrong}, {state})", witnesses)


def _split(random: Random) -> Mutant:
    """The same, but only after characters of some kind: one state is split into two."""
    target, wrong, words, witnesses = _step(random)
    character = random.choice(faults.CHARACTERS)
    if random.random() < 0.5:
        after, more = f"lead == {character[0]:#x}", f"after lead octet {character[0]:02X}"
        befores = [character, character * 2]
    else:
        most = random.randint(1, 40)
        after, more = f"count > {most}", f"after {most} characters"
        befores = [b"a" * most, b"\xc3\xa9" * most]
    found = tuple((before + each[-1],) for before in befores for each in witnesses)
    return Mutant("", "split state", f"{words} {more}", f"STEP(NAME, ({wrong}) && {after}, {target})", found)


def _step(random: Random) -> tuple[int, str, str, tuple[tuple[bytes, ...], ...]]:
    """The new target of a transition, its condition, its description, and octets that may show it."""
    automaton = dialect().automaton
    states = [state for state in range(len(automaton)) if state != automaton.dead]
    state, octet = random.choice(states), random.choice((random.randrange(256), random.randrange(0x80, 0xF8)))
    right = automaton.table[state][octet]
    target = random.choice([each for each in range(len(automaton)) if each != right])
    first = last = octet
    if random.random() < 0.4:
        while first and automaton.table[state][first - 1] == right:
            first -= 1
        while last < 0xFF and automaton.table[state][last + 1] == right:
            last += 1
    tails = (b"", b"\x80", b"\x80\x80", b"\x80\x80\x80", b"\x90\x80", b"\xa0\x80", b"\xa0", b"\x90\x80\x80")
    witnesses = tuple((access()[state] + bytes([octet]) + tail,) for tail in tails)
    where = f"state == {state} && between(s[i], {first:#x}, {last:#x})"
    span = f"{first:02X}" if first == last else f"{first:02X} to {last:02X}"
    return target, where, f"{span} leads from state {state} to {target} and not to {right}", witnesses


def _fast_path(random: Random) -> Mutant:
    """A word counts as ASCII although one of its octets was not checked."""
    width = random.choice((4, 8, 8, 16, 16, 32, 64))
    unseen = random.randrange(width)
    aligned = random.random() < 0.5
    least = random.choice((width, width, 2 * width, 64, 128, 1024))
    piece = random.choice((b"\x80", b"\xff", b"\xc0", b"\xc3"))
    more = f" && i % {width} == 0" if aligned else ""
    code = f"left >= {max(width, least)}{more} && ascii_but(s + i, {width}, {unseen}) ? {width} : 0"
    word = b"a" * unseen + piece + b"a" * (width - unseen - 1)
    return Mutant(
        "",
        "fast path",
        f"octet {unseen} of words of {width} is not looked at{' (aligned)' if aligned else ''}, {least} octets left",
        f"WALK(NAME, {code}, false, ok)",
        ((word + b"a" * least,),),
    )


def _rest(random: Random) -> Mutant:
    """The octets after the last block, after a limit, or after a truncated length are not checked."""
    match random.randrange(4):
        case 0:
            block = random.choice((4, 8, 16, 32, 64, 128))
            words, condition = f"the rest of blocks of {block}", f"n >= {block} && i >= n / {block} * {block}"
            witness = b"a" * block + b"\x80"
        case 1:
            most = threshold(random)
            words, condition = f"all from offset {most} on", f"i >= {most}"
            witness = b"a" * most + b"\x80"
        case 2:
            bits = random.choice((8, 10, 12, 15, 16))
            words, condition = f"lengths have {bits} bits", f"i >= (n & {(1 << bits) - 1:#x})"
            witness = b"a" * (1 << bits) + b"\x80"
        case _:
            last = random.randint(1, 3)
            least = random.choice((4, 8, 16, 64))
            words, condition = f"the last {last} of {least} octets and more", f"n >= {least} && left <= {last}"
            witness = b"a" * least + b"\x80"
    return Mutant(
        "", "rest", f"{words} not looked at", f"WALK(NAME, ({condition}) ? left : 0, false, ok)", ((witness,),)
    )


def _parity(random: Random) -> Mutant:
    """Errors are counted, and the count is misread."""
    every = random.choice((2, 2, 3, 4, 8, 16, 256))
    apart = random.choice(("", "i % 2 == 0 && ", "LENGTH[s[i]] > 1 && "))
    piece = b"\xe2\x82" if "LENGTH" in apart else b"\x80"
    code = f"{apart}!character(s + i, left) ? subpart(s + i, left) : 0"
    witnesses = tuple(((piece + gap) * every,) for gap in (b"a", b"aa", b"", b"aaa"))
    return Mutant(
        "",
        "errors that cancel",
        f"{every} errors are none{' (' + apart[:-4] + ')' if apart else ''}",
        f"WALK(NAME, {code}, false, ok && errors % {every} == 0)",
        witnesses,
    )


def _cache(random: Random) -> Mutant:
    """An answer is kept for the next input of the same length and beginning."""
    most = random.choice((1, 2, 4, 8, 16))
    least = random.choice((1, 4, 8, 16))
    code = (
        f"(past->key == hash(s, n, {most}) && n >= {least} ? past->cached_ok"
        f" : (past->key = hash(s, n, {most}), past->cached_ok = ok))"
    )
    right = b"a" * max(most + 1, least + 1)
    return Mutant(
        "",
        "history",
        f"an answer is kept for inputs of {least} octets and more of one length and the first {most} octets",
        f"WALK(NAME, 0, false, {code})",
        ((right, right[:-1] + b"\x80"),),
    )


def _now_and_then(random: Random) -> Mutant:
    """Each call whose number is a multiple gets a wrong answer."""
    every = round(2 ** random.uniform(3, 17))
    kind = random.choice(("!ok", "true"))
    words = "is turned round" if kind == "!ok" else "accepts"
    return Mutant(
        "",
        "history",
        f"every {every}th answer {words}",
        f"WALK(NAME, 0, false, (past->calls + 1) % {every} == 0 ? {kind} : ok)",
        ((b"\x80",) * every,),
    )


def _seam(random: Random) -> Mutant:
    """A character across the end of a block is not checked after it."""
    block = random.choice((8, 16, 32, 64, 128, 256, 512, 1024, 4096))
    length = random.choice((2, 3, 4))
    place = random.randrange(1, length)
    exact = f" && (i + {place}) % {block} == 0" if random.random() < 0.5 else ""
    whole = {2: b"\xc3\xa9", 3: b"\xe2\x82\xac", 4: b"\xf0\x9f\x98\x80"}[length]
    piece = whole[:place] + b"a" + whole[place + 1 :]
    code = f"i / {block} != (i + {length - 1}) / {block}{exact} ? but_for(s + i, left, {length}, {place}, 0, 0xFF) : 0"
    before = tuple(b"a" * (block - k) for k in range(1, 4))
    return Mutant(
        "",
        "seam",
        f"octet {place + 1} of {length} across blocks of {block}",
        f"WALK(NAME, {code}, false, ok)",
        tuple((each + piece,) for each in before),
    )


FAMILIES: dict[str, tuple[Callable[[Random], Mutant], int]] = {
    "transition": (_transfer, 120),
    "split state": (_split, 120),
    "anywhere": (_at("anywhere", faults.anywhere), 120),
    "after a character": (_at("after a character", faults.behind_character), 110),
    "after two": (_at("after two", faults.behind_two), 60),
    "before octets": (_at("before octets", faults.in_front_of, at_end=False), 60),
    "offset in a block": (_at("offset in a block", faults.at_offset), 110),
    "offset": (_at("offset", faults.from_offset), 80),
    "length": (_at("length", faults.of_length), 80),
    "distance from the end": (_at("distance from the end", faults.before_end, at_end=False), 70),
    "count of characters": (_at("count of characters", faults.after_characters), 70),
    "two conditions": (_both, 60),
    "fast path": (_fast_path, 60),
    "rest": (_rest, 50),
    "seam": (_seam, 60),
    "errors that cancel": (_parity, 24),
    "history": (_at("history", faults.history), 50),
    "kept answers": (_cache, 20),
    "now and then": (_now_and_then, 20),
    "after 00": (_at("after 00", faults.after_nul), 16),
}
"""The drawing function of each family, and its share of about a thousand."""


def drawn(seed: int, share: float = 1.0) -> list[Mutant]:
    """Candidates, in order, all different."""
    random = Random(seed)  # noqa: S311 (no secret)
    found: dict[str, Mutant] = {}
    for family, (make, usual) in FAMILIES.items():
        wanted = max(1, round(usual * share))
        mine = dict[str, Mutant]()
        for _ in range(20 * wanted):
            made = make(random)
            if len(mine) < wanted and made.code not in found:
                mine.setdefault(made.code, made)
        found.update({code: replace(made, family=family) for code, made in mine.items()})
    return [replace(made, symbol=f"m{number:04}") for number, made in enumerate(found.values())]


def options(folder: Path, headers: Iterable[Path]) -> list[str]:
    """Write headers and tables to the folder, and return the arguments of a C compiler for code with them."""
    (folder / "tables.h").write_text(header(), "ascii")
    for each in headers:
        (folder / each.name).write_text(each.read_text("utf-8"), "utf-8")
    return ["-std=gnu11", "-O1", "-w", "-fPIC", f"-I{folder}"]


def build(folder: Path, mutants: list[Mutant], compiler: str = "cc") -> None:
    """Compile them to one library.

    Raises:
        OSError: there is no compiler.
        subprocess.CalledProcessError: the compiler failed and printed why.
    """
    words = [compiler, *options(folder, HEADERS)]
    running = list[subprocess.Popen[bytes]]()
    objects = list[str]()
    for part in range(_PARTS):
        code = [mutant.code.replace("NAME", mutant.symbol) for mutant in mutants[part::_PARTS]]
        if not part:
            code += ["WALK(right, 0, false, ok)", _ASKS]
        (folder / f"part{part}.c").write_text('#include "mutants.h"\n' + "\n".join(code) + "\n", "ascii")
        objects.append(str(folder / f"part{part}.o"))
        running.append(subprocess.Popen([*words, "-c", "-o", objects[-1], str(folder / f"part{part}.c")]))
    for compiling in running:
        if compiling.wait():
            raise subprocess.CalledProcessError(compiling.returncode, compiling.args)
    subprocess.run([compiler, "-shared", "-o", str(folder / LIBRARY), *objects], check=True)


class Built:
    """A built library, to call in this process."""

    def __init__(self, path: Path, arrays: int) -> None:
        self._library = ctypes.CDLL(str(path))
        self.first_wrong = self._library.first_wrong
        """A function of a decoder, all strings, arrays and the number of strings. It returns the number of the first
        string with a wrong answer; negative if there is none."""
        self.first_wrong.restype = ctypes.c_ssize_t
        self.first_wrong.argtypes = (ctypes.c_void_p, ctypes.c_char_p, *[ctypes.c_void_p] * arrays, ctypes.c_size_t)

    def address(self, symbol: str) -> int:
        """The address of one of its decoders."""
        return ctypes.cast(self._library[symbol], ctypes.c_void_p).value or 0


class Library(Built):
    """The function for validators."""

    def __init__(self, path: Path) -> None:
        super().__init__(path, arrays=2)
        self.right = self.function("right")

    def function(self, symbol: str) -> Callable[[bytes, int], bool]:
        """One of its validators."""
        called = self._library[symbol]
        called.restype, called.argtypes = ctypes.c_bool, (ctypes.c_char_p, ctypes.c_size_t)
        return called

    def forget(self, symbol: str) -> None:
        """Reset a validator to the state before its first call."""
        ctypes.memset(ctypes.addressof(ctypes.c_char.in_dll(self._library, f"past_{symbol}")), 0, _PAST)

    def proved(self, mutant: Mutant) -> Mutant | None:
        """The mutant with only the witness that it answers wrongly; None if it answers all rightly."""
        called = self.function(mutant.symbol)
        for calls in mutant.witnesses:
            self.forget(mutant.symbol)
            for each in calls[:-1]:
                called(each, len(each))
            if called(calls[-1], len(calls[-1])) != self.right(calls[-1], len(calls[-1])):
                self.forget(mutant.symbol)
                return replace(mutant, witnesses=(calls,))
        return None


_PAST = 5 * ctypes.sizeof(ctypes.c_size_t)


def population(folder: Path, seed: int = 0, share: float = 1.0) -> tuple[list[Mutant], int]:
    """The built mutants that are proved wrong, and the number of draws without a proof."""
    candidates = drawn(seed, share)
    build(folder, candidates)
    return those_shown(candidates, Library(folder / LIBRARY).proved)


def those_shown(candidates: list[Each], proved: Callable[[Each], Each | None]) -> tuple[list[Each], int]:
    """The mutants that are proved wrong, and the number of others."""
    found = [shown for each in candidates if (shown := proved(each)) is not None]
    return found, len(candidates) - len(found)


def by_family(mutants: Sequence[Each]) -> Iterator[tuple[str, list[Each]]]:
    """The mutants of each family, in the order of families."""
    for family in dict.fromkeys(each.family for each in mutants):
        yield family, [each for each in mutants if each.family == family]
