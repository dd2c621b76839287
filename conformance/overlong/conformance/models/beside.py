"""Strings that check a result "exactly", besides the learner's own questions.

A machine of few states says little about a decoder that goes wrong after 32 octets, or with one pair of 65 536. So a
decoder that seems to be exactly a known machine also gets strings that the learner did not choose, judged as in a
suite.
"""

from __future__ import annotations

import random
from array import array
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import TYPE_CHECKING

from overlong.conformance.oracle.compare import compare_batch
from overlong.conformance.protocol.observation import CLAIMS, EARLIEST, POSITION
from overlong.conformance.protocol.wire import REPLACING, STREAMING
from overlong.conformance.vectors.batch import Batch
from overlong.conformance.vectors.suites.suite import core_vectors
from overlong.reference import dialect
from overlong.reference.automaton import OCTETS, in_shortlex, shortlex

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from overlong.conformance.oracle.finding import Finding
    from overlong.conformance.oracle.target import Target
    from overlong.conformance.vectors.vector import Profile

_TEXT = b"a"
_BEHIND = 64
"""The octets of text after a placed word: as many as a block of any processor has."""
_EVERY = 67
"""Every offset below this, since blocks have up to 64 octets."""
_FAR = [power - 1 for power in (128, 256, 512, 1024, 2048, 4096)] + [4096]
"""Further offsets; a word at any but the last crosses an edge."""
_EDGES = [power + near for power in (16, 32, 64) for near in (-1, 0, 1)]
_FILLERS = ("é", "€", "😀")
_LONGEST_WORD = 6
_LONGEST_STREAM = 150
"""The most octets of a stream, which is cut into as many chunks."""
_MIXED = 500
_SEED = 3629
_TAILS = range(0x80, 0xC0)
_AT_ONCE = 8192
_OF_STREAMS = 4
"""The number of groups of strings that are also sent as streams, octet by octet."""


@dataclass(frozen=True)
class Against:
    """Strings with wrong answers that have one cause."""

    finding: Finding
    """The finding of the shortlex-least string."""
    count: int
    offset: int = 0
    word: bytes = b""
    """The word at that offset after ASCII, if such strings got wrong answers; otherwise empty."""
    onwards: bool = False
    """True if the answer is wrong at every tried offset from there on, and at none before."""

    @property
    def shown(self) -> bytes:
        """The part of the least string to show: the word, or all of it."""
        return self.word or self.octets

    @property
    def octets(self) -> bytes:
        """The least string."""
        return self.finding.vector.octets


RESULTS = frozenset(CLAIMS) - {EARLIEST, POSITION}
"""Claims about the result, not about its time or about the place of a refusal."""


def tried_on(target: Target, operation: str, profile: Profile, most: int) -> tuple[int, list[Finding]]:
    """Ask a target the strings, and judge its answers by the profile that it seems to have exactly.

    Args:
        target: an open target.
        operation: an operation that it offers.
        profile: the dialect and the error mode that it seems to have.
        most: the most strings; those likeliest to catch a fault come first.

    Returns:
        the number of strings, and what the target did wrong.

    Raises:
        BudgetSpent: the target fails too often.
        TargetError: the target does not start any more.
    """
    count, findings, streams = 0, list["Finding"](), operation in STREAMING
    groups = strings_by_group()[: -1 if operation in REPLACING else None]  # as in sweeps, the shortest are for verdicts
    if streams:
        groups = tuple([each for each in some if 0 < len(each) <= _LONGEST_STREAM] for some in groups[:_OF_STREAMS])
    batches: list[tuple[Batch, str]] = []
    left = most
    for strings in groups:
        some = strings[: max(left, 0)]
        left -= len(some)
        for start in range(0, len(some), _AT_ONCE):
            batch = _batch(tuple(some[start : start + _AT_ONCE]), octet_by_octet=streams)
            batches.append((batch.within(batch.suite, profile), operation))
    for answered in target.observe(batches):
        count += len(answered.batch)
        findings.extend(compare_batch(answered, target.greeting))
    return count, findings


def evidence(findings: Iterable[Finding], claims: frozenset[str]) -> tuple[Against, ...]:
    """What findings show against these claims, by cause."""
    causes: dict[tuple[str, str], list[Finding]] = {}
    for finding in findings:
        if finding.claim in claims:
            causes.setdefault(finding.bucket, []).append(finding)
    return tuple(sorted(map(_against, causes.values()), key=lambda each: shortlex(each.octets)))


@lru_cache(maxsize=64)  # all of them: operations and targets share what the reference says of them
def _batch(strings: tuple[bytes, ...], *, octet_by_octet: bool) -> Batch:
    chunks = tuple((1,) * len(string) for string in strings) if octet_by_octet else None
    return Batch("input", array("I", map(len, strings)), b"".join(strings), chunks)


def _against(findings: list[Finding]) -> Against:
    least = min(findings, key=lambda finding: finding.order)
    placed = _placed()
    if least.vector.octets not in placed:
        return Against(least, len(findings))
    offset, word = placed[least.vector.octets]
    wrong = {at for each in findings for at, found in [placed.get(each.vector.octets, (0, b""))] if found == word}
    asked = {at for at, found in placed.values() if found == word}
    onwards = wrong == {at for at in asked if at >= offset}
    return Against(least, len(findings), offset, word, onwards)


@cache
def strings_by_group() -> tuple[Sequence[bytes], ...]:
    """All strings; those likeliest to catch a fault come first."""
    placed = list(_placed())
    core = [vector.octets for vector in core_vectors()]
    return core, placed, _behind_others(), _mixed(), _of_each_block(), _shortest()


@cache
def words() -> tuple[bytes, ...]:
    """Characters and errors: for each kind and lead, the least of the core that laxer decoders accept as a character,
    and the least that they do not.
    """
    right, widest = dialect().automaton, dialect("lax-rfc2279").automaton
    rows = (*right.table, *widest.table)
    alike = {octet: tuple(row[octet] for row in rows) for octet in OCTETS}
    found: dict[tuple[str, tuple[int, ...], bool], bytes] = {}
    for vector in core_vectors():
        octets, flaw = vector.octets, vector.flaw
        if not 0 < len(octets) <= _LONGEST_WORD or (flaw.offset if flaw else len(vector.segments) > 1):
            continue
        key = flaw.defect.code if flaw else "", alike[octets[0]], widest.accepts(octets)
        found[key] = min(found.get(key, octets), octets, key=shortlex)
    return tuple(in_shortlex(set(found.values())))


@cache
def _placed() -> dict[bytes, tuple[int, bytes]]:
    """Words after ASCII at many offsets, at the end or before text; each with the offset and the word."""
    widest = dialect("lax-rfc2279").automaton
    whole = [word for word in words() if widest.accepts(word)]
    ways = [(offset, word, 0) for offset in range(1, _EVERY) for word in words()]
    ways += [(offset, word, _BEHIND) for offset in _EDGES for word in whole]
    ways += [(offset, word, 0) for offset in _FAR for word in whole]
    return {_TEXT * offset + word + _TEXT * behind: (offset, word) for offset, word, behind in ways}


@cache
def _behind_others() -> list[bytes]:
    """Words after characters of two, three and four octets, near the edges of blocks."""
    fillers = [filler.encode() for filler in _FILLERS]
    return [
        filler * (offset // len(filler)) + _TEXT * (offset % len(filler)) + word
        for offset in _EDGES
        for filler in fillers
        for word in words()
    ]


@cache
def _mixed() -> list[bytes]:
    """Random strings of up to 48 words, of which one or two may be ill-formed. They are the same each time."""
    chance = random.Random(_SEED)  # noqa: S311 (the same each time)
    right, all_words = [word for word in words() if dialect().automaton.accepts(word)], words()
    found: list[bytes] = []
    for _ in range(_MIXED):
        string = [chance.choice(right) for _ in range(chance.randint(1, 48))]
        for _ in range(chance.randint(0, 2)):
            string[chance.randrange(len(string))] = chance.choice(all_words)
        found.append(b"".join(string))
    return found


@cache
def _of_each_block() -> list[bytes]:
    """One random character of each group that differs only in the last octet; the same each time."""
    chance = random.Random(_SEED)  # noqa: S311 (likewise)
    return [before + bytes([chance.choice(_TAILS)]) for before in _before_last(b"", 0)]


def _before_last(octets: bytes, state: int) -> Iterator[bytes]:
    """Characters of three octets and more, without their last octet."""
    automaton = dialect().automaton
    for octet in OCTETS:
        to = automaton.table[state][octet]
        if to == automaton.dead or automaton.accepting[to]:
            continue
        longer = octets + bytes([octet])
        if len(longer) > 1 and automaton.accepting[automaton.table[to][_TAILS[0]]]:
            yield longer
        else:
            yield from _before_last(longer, to)


@cache
def _shortest() -> list[bytes]:
    """All strings of one octet and of two."""
    single = [bytes([octet]) for octet in OCTETS]
    return [*single, *(first + second for first in single for second in single)]
