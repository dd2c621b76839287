"""The least form of an example: where in it the cause is, and as little else as possible around it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING

from overlong.conformance.examination.asking import ACCEPTS
from overlong.conformance.examination.condition import OFFSETS
from overlong.conformance.examination.shrinking import OCTETS, TOGETHER, first_shown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from overlong.conformance.examination.text import Text

    Shows = Callable[[Sequence[bytes]], list[bool]]

_NEAR = 130
_KEPT = 8
"""The most octets next to the core that are kept as they are."""
BURDEN = 1 << 12
"""Octets of which a string is too long to be varied in every way."""
_FEW = 16
_PARTS, _AT_ONCE = 8, 16
_SIZES = (4, 3, 2, 1)
_EXTENT = 5
"""How many octets behind an error may belong to it."""


def thresholds(most: int) -> list[int]:
    """Numbers at which decoders tend to change what they do: all small ones, and around powers of two and ten."""
    found = set(range(min(most, _NEAR) + 1))
    for power in (*(1 << bits for bits in range(7, 21)), 1000, 10_000, 100_000):
        found |= {power + more for more in (-2, -1, 0, 1, 2) if power + more <= most}
    return sorted(found)


@dataclass(frozen=True)
class Setting:
    """A core, and what stands around it: fillers, and octets that are kept."""

    core: bytes
    filler: bytes = b"a"
    count: int = 0
    kept_before: bytes = b""
    kept_behind: bytes = b""
    filler_behind: bytes = b"a"
    count_behind: int = 0

    @property
    def before(self) -> bytes:
        return self.filler * self.count + self.kept_before

    @property
    def behind(self) -> bytes:
        return self.kept_behind + self.filler_behind * self.count_behind

    @property
    def octets(self) -> bytes:
        return self.before + self.core + self.behind

    def with_core(self, core: bytes) -> bytes:
        """The octets with another core."""
        return self.before + core + self.behind


def parted(octets: bytes, symptom: str, shows: Shows, text: Text, place: int | None = None) -> Setting:
    """The core of some octets that show a symptom.

    Args:
        octets: an example.
        symptom: the symptom.
        shows: asks whether octets show it.
        text: well-formed text.
        place: where the target says that it refused well-formed text.
    """
    if symptom == ACCEPTS or symptom in OFFSETS or text.end(octets) < len(octets):
        octets = _with_one_flaw(octets, text, shows)
        start, end = _flaw(octets, text, shows)
    else:
        found = _character(octets, shows, text, place)
        if found is None:
            return Setting(b"", kept_behind=octets)
        octets, start, end = found
    return Setting(octets[start:end], kept_before=octets[:start], kept_behind=octets[end:])


def _with_one_flaw(octets: bytes, text: Text, shows: Shows) -> bytes:
    """A long input with ASCII around one of its errors, if that shows the same: the last, the middle or the first."""
    if len(octets) <= BURDEN:
        return octets
    starts = [start for start, _ in text.flaws(octets)]
    if len(starts) < _FEW:
        return octets
    spans = [(start, start + size) for start in (starts[-1], starts[len(starts) // 2], starts[0]) for size in _SIZES]
    tried = [
        b"a" * start + octets[start:end] + b"a" * (len(octets) - end) for start, end in spans if end <= len(octets)
    ]
    return next((each for each, shown in zip(tried, shows(tried), strict=True) if shown), octets)


def _flaw(octets: bytes, text: Text, shows: Shows) -> tuple[int, int]:
    """The ill-formed part: from the first flaw, as short as the rest allows, and as the same shows before ASCII."""
    start = text.end(octets)
    end = start + 1
    while end < len(octets) and not text.is_well_formed(octets[end:]):
        end += 1
    end = min(end, len(octets))
    ends = [each for each in range(end, min(end + _EXTENT, len(octets)) + 1) if text.is_well_formed(octets[each:])]
    said = shows([octets[:each] + b"a" * (len(octets) - each) for each in ends])
    return start, next((each for each, shown in zip(ends, said, strict=True) if shown), end)


def _character(octets: bytes, shows: Shows, text: Text, place: int | None) -> tuple[bytes, int, int] | None:
    """Octets with filler wherever it does no harm, and the character that matters; None if none does."""
    octets = blanked(octets, shows, text)
    found = text.pieces(octets)
    said_so = [(start, end) for start, end in found if place is not None and start <= place < end]
    kept = [span for span in found if octets[slice(*span)] != b"a"]
    for spans in (said_so, kept, found):
        tried = spans[-(TOGETHER if len(octets) <= BURDEN else _FEW) :]
        said = shows([octets[:start] + _instead(octets[start:end]) + octets[end:] for start, end in tried])
        needed = [span for span, shown in zip(tried, said, strict=True) if not shown]
        if needed:
            chosen = next((span for span in reversed(needed) if octets[slice(*span)] not in text.fillers), needed[-1])
            return octets, *chosen
    return None


def _instead(character: bytes) -> bytes:
    return b"b" if character == b"a" else b"a" * len(character)


def blanked(octets: bytes, shows: Shows, text: Text) -> bytes:
    """The octets with ASCII for whatever does not matter, each part as long as before."""
    edges = [*(start for start, _ in text.pieces(octets)), len(octets)]
    size = len(edges) // 2
    while size:
        ends = sorted({*edges[::size], len(octets)})
        spans = [(start, end) for start, end in pairwise(ends) if octets[start:end].strip(b"a")]
        if len(spans) > TOGETHER or len(spans) * len(octets) > OCTETS:
            return octets
        at = 0
        while at < len(spans):
            some = spans[at:]
            said = shows([octets[:start] + b"a" * (end - start) + octets[end:] for start, end in some])
            first = next((number for number, shown in enumerate(said) if shown), None)
            if first is None:
                break
            start, end = some[first]
            octets = octets[:start] + b"a" * (end - start) + octets[end:]
            at += first + 1
        size //= 2
    return octets


def simplified(setting: Setting, shows: Shows, text: Text) -> Setting:
    """The setting with as little around the core as shows the same."""
    for _ in range(2):
        before = setting
        for behind in (False, True):
            setting = _first(setting, _simpler(setting, text, behind=behind), shows)
        for behind in (False, True):
            setting = _shorter(setting, shows, behind=behind)
        if setting == before:
            break
    return setting


def _order(setting: Setting) -> tuple[int, int, int]:
    return (
        len(setting.octets),
        len(setting.kept_before) + len(setting.kept_behind),
        sum(2 * len(each) + (each == b"\0") for each in (setting.filler, setting.filler_behind)),
    )


def _first(setting: Setting, candidates: Iterable[Setting], shows: Shows) -> Setting:
    """The least of some settings that shows the same."""
    now = _order(setting)
    less = sorted((each for each in dict.fromkeys(candidates) if _order(each) < now), key=_order)
    found = first_shown(less, lambda each: len(each.octets), lambda some: shows([each.octets for each in some]))
    return setting if found is None else found


def _simpler(setting: Setting, text: Text, *, behind: bool) -> Iterable[Setting]:
    octets = setting.behind if behind else setting.before
    plain = octets.rstrip(b"a") if behind else octets.lstrip(b"a")
    for kept in dict.fromkeys((*_kept(octets), len(plain))):
        rest = len(octets) - kept
        place = kept if behind else rest
        if place < len(octets) and octets[place] not in text.leads:  # no character is cut
            continue
        for filler in _unlike(setting.core, text):
            for count in {*range(9), rest // len(filler), rest}:
                if behind:
                    yield replace(setting, filler_behind=filler, count_behind=count, kept_behind=octets[:place])
                else:
                    yield replace(setting, filler=filler, count=count, kept_before=octets[place:])


def _unlike(core: bytes, text: Text) -> list[bytes]:
    """Fillers that are no character like the core: one of these could show the same in its place."""
    return [filler for filler in text.fillers if len(filler) == 1 or len(filler) != len(core)]


def _kept(octets: bytes) -> range:
    """How many octets next to the core to keep: each number, if the octets are no burden."""
    return range(0, min(len(octets), _KEPT) + 1, _KEPT if len(octets) > BURDEN else 1)


def _shorter(setting: Setting, shows: Shows, *, behind: bool) -> Setting:
    """With fewer fillers: the least number if it is small, otherwise found by halving: most faults stay from it on."""

    def with_count(count: int) -> Setting:
        return replace(setting, count_behind=count) if behind else replace(setting, count=count)

    high = setting.count_behind if behind else setting.count
    near = [*range(min(high, _KEPT if len(with_count(0).octets) > BURDEN else _NEAR))]
    low = len(near) - 1
    few = shows([with_count(each).octets for each in near])
    high = next((count for count, shown in enumerate(few) if shown), high)
    while high - low > 1:
        step = max(1, (high - low) // _PARTS)
        tried = [*range(low + step, high, step)][:_AT_ONCE]
        said = shows([with_count(each).octets for each in tried])
        shown = next((number for number, yes in enumerate(said) if yes), len(tried))
        low = tried[shown - 1] if shown else low
        high = tried[shown] if shown < len(tried) else high
        if shown == len(tried) and step == 1:
            break
    return with_count(high)
