"""The number of inputs that the grammar engine needs to find a bug: the median over seven seeds.

Inputs are counted one by one, in the order of their numbers, from 0 on. A planted decoder is the reference with one
bug, written as a question about octets: does its verdict differ? The first five have bounds, and the benchmark fails
if it misses one; the others depend on context, and are only shown.

    python benchmarks/fuzz_inputs_to_find.py [SEEDS]     (usually 7)
"""

from __future__ import annotations

import statistics
from itertools import accumulate, count
from typing import TYPE_CHECKING, NamedTuple

from overlong.conformance.vectors.families.family import overlong, surrogate, surrogate_pair
from overlong.fuzz.generated import Generated
from overlong.reference.decoder import segments
from overlong.reference.error_mode import MaximalSubpart
from overlong.reference.native import oracle
from overlong.reference.order import SIGNATURE
from runner import arguments, figure

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

USUAL, AT_A_TIME, GIVEN_UP = 7, 1 << 14, 2_000_000
NUL, SURROGATE, PAIR = overlong(0, 2), surrogate(0xD800), surrogate_pair(0x10000)
THREE_NUL, BEYOND = overlong(0, 3), b"\xf4\x90"  # in the range of four octets, beyond U+10FFFF
MARK = chr(SIGNATURE).encode()

is_right = oracle().is_well_formed
first_error = oracle().first_error


def accepts(form: bytes) -> Callable[[bytes], bool]:
    """A decoder that takes a form for a character."""
    return lambda octets: form in octets and is_right(octets.replace(form, b"a" * len(form)))


def starts(octets: bytes) -> Iterator[tuple[int, int]]:
    """The start and length of each character of well-formed octets."""
    lengths = [len(character.encode()) for character in octets.decode()]
    return zip(accumulate(lengths, initial=0), lengths, strict=False)


def straddles(octets: bytes) -> bool:
    """A three-octet character across offset 64 is refused."""
    return len(octets) > 64 and is_right(octets) and any(size == 3 and 62 <= at <= 63 for at, size in starts(octets))


def beyond_behind_15(octets: bytes) -> bool:
    """F4 90 is accepted behind exactly 15 octets of ASCII at the start."""
    return octets[15:17] == BEYOND and octets[:15].isascii() and is_right(octets[:15] + b"\xf4\x80" + octets[17:])


def cut_at_32(octets: bytes) -> bool:
    """A truncated character is accepted at the end of a whole number of 32 octets."""
    if not octets or len(octets) % 32:
        return False
    error = first_error(octets)
    return error is not None and error[2]


def third_of_four(octets: bytes) -> bool:
    """The third character of four octets in a row is refused."""
    lengths = bytes(size for _, size in starts(octets)) if is_right(octets) else b""
    return b"\4\4\4" in lengths


def behind_the_signature(octets: bytes) -> bool:
    """The octets right after a signature are not checked."""
    error = first_error(octets) if octets.startswith(MARK) else None
    return error is not None and error[0] == len(MARK) and is_right(octets[len(MARK) + error[1] :])


def long_with_lead(octets: bytes) -> bool:
    """The last octet of more than 1000 is not checked."""
    error = first_error(octets) if len(octets) > 1000 else None
    return error is not None and error[0] == len(octets) - 1


def many_characters(octets: bytes) -> bool:
    """More than 256 characters are refused."""
    return len(octets) > 256 and is_right(octets) and len(octets.decode()) > 256


def two_flaws_cancel(octets: bytes) -> bool:
    """Two errors in one block of 16 octets are none."""
    if is_right(octets):
        return False
    flaws, at = list[int](), 0
    for segment in segments(octets):
        if isinstance(segment, MaximalSubpart):
            flaws.append(at // 16)
        at += segment.length
    return len(flaws) == 2 and flaws[0] == flaws[1]


def ascii_fast_path(octets: bytes) -> bool:
    """A character that begins in the last octet of a word is refused, if all before it in two words is ASCII."""
    return (
        len(octets) > 16
        and is_right(octets)
        and any(size > 1 and at % 8 == 7 and at >= 15 and octets[at - 15 : at].isascii() for at, size in starts(octets))
    )


def nul_ends(octets: bytes) -> bool:
    """The octets after a NUL are not checked."""
    before, nul, _ = octets.partition(b"\0")
    return bool(nul) and is_right(before) and not is_right(octets)


def tail_unchecked(octets: bytes) -> bool:
    """The rest after blocks of 16 octets is not checked."""
    error = first_error(octets) if len(octets) > 16 else None
    return error is not None and error[0] >= len(octets) // 16 * 16


def overlong_at_a_block(octets: bytes) -> bool:
    """E0 80 80 is accepted from the second block of 16 octets on, at its start."""
    at = octets.find(THREE_NUL)
    return at >= 16 and at % 16 == 0 and is_right(octets[:at] + octets[at + 3 :])


def repeated(octets: bytes) -> bool:
    """The same character of three octets twelve times in a row is refused."""
    if len(octets) < 36 or not is_right(octets):
        return False
    text = octets.decode()
    return any(len(character.encode()) == 3 and character * 12 in text for character in set(text))


def page(octets: bytes) -> bool:
    """Exactly 1024 octets are refused."""
    return len(octets) == 1024 and is_right(octets)


class Bug(NamedTuple):
    """A planted bug."""

    name: str
    shows: Callable[[bytes], bool]
    bound: int = 0
    """The most inputs to find it; 0: no bound."""


BUGS = (
    Bug("accepts C0 80", accepts(NUL), 20_000),
    Bug("accepts ED A0 80", accepts(SURROGATE), 50_000),
    Bug("refuses a 3-octet character across 64", straddles, 20_000),
    Bug("accepts F4 90 after exactly 15 ASCII", beyond_behind_15, 300_000),
    Bug("accepts what is cut at a multiple of 32", cut_at_32, 20_000),
    Bug("refuses the third 4-octet character in a row", third_of_four),
    Bug("does not check right after a signature", behind_the_signature),
    Bug("does not check the last octet beyond 1000", long_with_lead),
    Bug("refuses more than 256 characters", many_characters),
    Bug("two errors in a block of 16 cancel", two_flaws_cancel),
    Bug("ASCII fast path: refuses a lead at 8k+7", ascii_fast_path),
    Bug("does not check after NUL", nul_ends),
    Bug("accepts a CESU-8 pair", accepts(PAIR)),
    Bug("does not check what blocks of 16 leave", tail_unchecked),
    Bug("accepts E0 80 80 at 16k, k > 0", overlong_at_a_block),
    Bug("refuses 12 equal 3-octet characters in a row", repeated),
    Bug("refuses exactly 1024 octets", page),
)


def inputs_to_find(seed: int) -> list[int]:
    """For each bug the number of inputs until it first showed."""
    generated, found = Generated(seed), dict[str, int]()
    for first in count(0, AT_A_TIME):
        if len(found) == len(BUGS) or first >= GIVEN_UP:
            return [found.get(bug.name, GIVEN_UP) for bug in BUGS]
        lengths, octets = generated.columns(first, AT_A_TIME)
        ends = list(accumulate(lengths, initial=0))
        inputs = [octets[start : start + length] for start, length in zip(ends, lengths, strict=False)]
        for bug in BUGS:
            if bug.name not in found:
                place = next((place for place, each in enumerate(inputs) if bug.shows(each)), None)
                if place is not None:
                    found[bug.name] = first + place + 1
    raise AssertionError


def main() -> None:
    """Print the table."""
    seeds = range(arguments(__doc__, seeds=USUAL).seeds)
    table = list(zip(*map(inputs_to_find, seeds), strict=True))
    missed = list[str]()
    print(f"inputs to find a bug, {len(seeds)} seeds: the median, the most, and the bound of the median")
    for bug, numbers in zip(BUGS, table, strict=True):
        median = statistics.median(numbers)
        print(f"{bug.name:46} {median:10,.0f} {max(numbers):10,}", f"{bug.bound:10,}" if bug.bound else "")
        if bug.bound:
            figure(f"to find: {bug.name}", numbers, "inputs", at_most=bug.bound)
        missed += [bug.name] if bug.bound and median > bug.bound else []
    if missed:
        raise SystemExit(f"not found soon enough: {'; '.join(missed)}")


if __name__ == "__main__":
    main()
