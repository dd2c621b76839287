"""Experiments: the core of an example in other surroundings, one factor at a time, and at random."""

from __future__ import annotations

from typing import TYPE_CHECKING

from overlong.conformance.examination.factors import FAR_BEFORE, block_of
from overlong.conformance.examination.least import BURDEN, thresholds

if TYPE_CHECKING:
    from collections.abc import Iterator
    from random import Random

    from overlong.conformance.examination.least import Setting
    from overlong.conformance.examination.rules import Rule
    from overlong.conformance.examination.text import Text

Around = tuple[bytes, bytes]
"""The octets before the core and behind it."""
_COARSE = tuple(bytes([octet]) for octet in b"\0\t\n a0/\\'\"<\x7f")
_FAR = (200, 1000, 5000, 20_000, 60_000, 100_000, 140_000)
_GAPS = (1, 2, 3, 4, 6, 9, 17)
_TURNS = 4
"""Blocks, of which the last end is tried."""
_FEW, _PARTS = 3, 8
_NEAR, _CLOSE = 130, 20
"""How far from the start, and from the end, each offset is tried."""
_LONG, _MIXED = 1 << 12, 48
_FILLER_SIZES = (1, 3)
"""Of long strings, the characters to fill them with, by their octets."""


def fill(length: int, filler: bytes = b"a") -> bytes:
    """Text of a number of octets: fillers, and ASCII at the start to fill it up."""
    return b"a" * (length % len(filler)) + filler * (length // len(filler))


def characters(text: Text) -> list[bytes]:
    """A character with each lead octet, and one with each last octet for each length."""
    found = dict[bytes, None]()
    for product in text.products:
        least = [min(octets) for octets in product]
        for octet in sorted(product[0]):
            found[bytes([octet, *least[1:]])] = None
        for octet in sorted(product[-1]) if len(product) > 1 else ():
            found[bytes([*least[:-1], octet])] = None
        found[bytes(max(octets) for octets in product)] = None
    return list(found)


class Experiments:
    """The surroundings to try around one setting."""

    def __init__(self, setting: Setting, text: Text, random: Random, most: int) -> None:
        """``most``: the most octets of a string."""
        self.setting, self.text, self.random, self.most = setting, text, random, most
        self._characters = characters(text)
        self._by_size = {
            size: [each for each in self._characters if len(each) == size]
            for size in {len(each) for each in self._characters}
        }
        self._filler_of = {len(each): each for each in text.fillers if each != b"\0"}

    # ---- one factor at a time ----

    def offsets(self, *, fine: bool) -> Iterator[Around]:
        """Octets before, of each kind; and the same with the length kept."""
        setting = self.setting
        kept, behind = setting.kept_before, setting.behind
        for text, alone in self._texts(setting.count * len(setting.filler), 20 if kept else 0, fine=fine):
            yield text if alone else text + kept, behind
        size = len(setting.before) + len(behind)
        for total in (size, 2 * size) if self._is_burden else (max(size, 40),):
            parts = [total // _PARTS * part for part in range(_PARTS)]
            ends = [*range(min(total, _NEAR)), *range(total - min(total, _CLOSE), total + 1)]
            for length in sorted({*parts, 0, 1} if self._is_burden else {*ends}):
                rest = total - length - len(kept) - len(setting.kept_behind)
                if rest >= 0:
                    yield fill(length) + kept, setting.kept_behind + fill(rest, setting.filler_behind)

    def behinds(self, *, fine: bool) -> Iterator[Around]:
        """Octets behind, of each kind."""
        setting = self.setting
        kept = setting.kept_behind
        for text, alone in self._texts(setting.count_behind * len(setting.filler_behind), 12 if kept else 0, fine=fine):
            yield setting.before, text if alone else kept + text

    def _texts(self, length: int, few: int, *, fine: bool) -> Iterator[tuple[bytes, bool]]:
        """Text of each kind, of lengths where decoders change and near one that matters.

        And some of ``few`` lengths, with True: to be tried alone, without what is kept next to the core.
        """
        lengths = {*(thresholds(self.most) if fine else self._some_lengths()), *self._near(length, fine=fine)}
        for filler in self._fillers:
            for each in sorted(lengths):
                if each >= 0 and (each <= _LONG or filler == b"a"):
                    yield fill(each, filler), False
            yield from ((fill(each, filler), True) for each in range(few))

    @property
    def _fillers(self) -> tuple[bytes, ...]:
        some = tuple(self._filler_of[size] for size in _FILLER_SIZES if size in self._filler_of)
        return some if self._is_burden else self.text.fillers

    def _some_lengths(self) -> list[int]:
        """Few lengths; the long ones too if the setting is long anyway."""
        return [*range(18), 31, 32, 33, 63, 64, 65, *(each for each in _FAR if self._is_burden and each <= self.most)]

    @staticmethod
    def _near(length: int, *, fine: bool) -> set[int]:
        """Lengths near one that matters: enough of them to see blocks, if a string of that length is no burden."""
        reach = (
            range(-40, 140)
            if fine and 100 < length < _LONG
            else range(-20, 70)
            if fine and length > 100
            else range(-2, 4)
        )
        return {length + more for more in reach}

    def right_before(self, far: int, *, fine: bool) -> Iterator[Around]:
        """A character of each kind that ends ``far - 1`` octets before the core; the offset stays, if it can."""
        before, behind = self.setting.before, self.setting.behind
        kept = before[len(before) - far + 1 :] if far > 1 else b""
        if not self.text.is_well_formed(kept):
            kept = b"a" * len(kept)
        for each in self._some(fine=fine):
            rest = len(before) - len(kept) - len(each)
            head = (
                before[:rest]
                if rest > 0 and self.text.is_well_formed(before[:rest])
                else fill(max(rest, 0), self.setting.filler)
            )
            yield head + each + kept, behind

    def right_behind(self, far: int, *, fine: bool) -> Iterator[Around]:
        """A character of each kind, one octet of which is the one ``far`` octets behind the core; lengths stay."""
        before, behind = self.setting.before, self.setting.behind
        for each in self._some(fine=fine):
            for inside in range(len(each)) if fine else (0,):
                gap = far - 1 - inside
                if gap < 0:
                    continue
                head = behind[:gap]
                if len(head) < gap or not self.text.is_well_formed(head):
                    head = fill(gap)
                rest = behind[gap + len(each) :]
                if not self.text.is_well_formed(rest):
                    rest = fill(len(rest))
                yield before, head + each + rest

    def reach(self, most: int) -> range:
        """How far from the core characters are exchanged, if it is affordable: ``most`` octets."""
        return range(1, (1 if self._is_burden else most) + 1)

    @property
    def _is_burden(self) -> bool:
        return len(self.setting.octets) > BURDEN

    def _some(self, *, fine: bool) -> list[bytes]:
        if fine:
            return self._characters
        return [
            *_COARSE,
            *(each for size, some in self._by_size.items() if size > 1 for each in some[:: max(1, len(some) // 4)]),
        ]

    def sprinkled(self) -> Iterator[Around]:
        """One character of each kind anywhere before, and anywhere behind."""
        before, behind = self.setting.before, self.setting.behind
        for each in (b"\n", *self.text.fillers):
            for gap in (0, 1, 2, 5, 9):
                yield each + fill(gap) + before, behind
                yield before, behind + fill(gap) + each

    def kept_characters(self) -> dict[bytes, int]:
        """The first few different characters before the core, but for plain filler: how far before it they begin."""
        before = self.setting.before[-BURDEN:]
        found = {before[start:end]: len(before) - start for start, end in self.text.pieces(before)}
        found.pop(b"a", None)
        return dict([*found.items()][:_FEW])

    def moved(self, character: bytes, far: int) -> Iterator[Around]:
        """A character farther before the core or less far, none instead of it, and others there."""
        behind, own = self.setting.behind, far - len(character)
        for more in (0, 1, 2, 9):
            yield fill(more) + character + fill(own), behind
        for each in self._characters if far > FAR_BEFORE else ():
            if len(each) <= far:
                yield each + fill(far - len(each)), behind
        for gap in {*_GAPS, max(own - 1, 0), own + 1}:
            yield character + fill(gap), behind
            yield fill(gap + len(character)), behind
        for each in self._some(fine=False):
            yield each + fill(_GAPS[-1]), behind
            yield each + fill(1), behind

    # ---- at random ----

    def text_of(self, length: int) -> bytes:
        """Random text of about some octets."""
        random = self.random
        if length > _MIXED:  # long text is of one kind but for an end
            mixed = self.text_of(random.randrange(_MIXED)) if random.random() < 0.6 else b""
            rest = fill(length - len(mixed), random.choice(self.text.fillers) if random.random() < 0.7 else b"a")
            return mixed + rest if random.random() < 0.5 else rest + mixed
        if random.random() < 0.4:
            return fill(length, random.choice(self.text.fillers) if random.random() < 0.7 else b"a")
        plain = random.random()
        sizes = random.choices((1, 2, 3, 4), (1 + 3 * plain, 1 - plain, 1 - plain, 1 - plain), k=length + 1)
        found, size = list[bytes](), 0
        for of in sizes:
            if size == length:
                break
            each = (
                random.choice(self._by_size.get(of, self._by_size[1]) if of <= length - size else self._by_size[1])
                if random.random() < plain
                else self._filler_of.get(of, b"a")
            )
            found.append(each)
            size += len(each)
        return b"".join(found)

    def around(self, rule: Rule) -> Around:
        """Random surroundings, near the edges of a rule."""
        random, setting = self.random, self.setting
        before, behind = setting.before, setting.behind
        wanted = self._wanted(rule)
        choice = random.random()
        if choice < 0.75:
            kept = setting.kept_before if random.random() < 0.6 else b""
            if random.random() < 0.25:
                kept = random.choice(self._characters)
            if "characters" in wanted or "wide" in wanted:
                wide = wanted.get("wide")
                filler = random.choice(self.text.fillers if wide is None else [*self._filler_of.values()][1:])
                number = wanted.get("characters", 0) if wide is None else wide
                more = max(0, wanted.get("characters", 0) - number)
                before = filler * min(number, self.most // len(filler)) + b"a" * min(more, self.most) + kept
                if random.random() < 0.3 and len(before) < 500:
                    before = self.text_of(random.randrange(8)) + before
            else:
                offset = wanted.get("offset", self._any_length(len(before)))
                if "length" in wanted and "behind" not in wanted and random.random() < 0.5:
                    offset = max(0, wanted["length"] - len(behind) - len(setting.core))
                before = self.text_of(max(0, min(offset, self.most) - len(kept))) + kept
        if choice > 0.4:
            kept = setting.kept_behind if random.random() < 0.6 else b""
            length = wanted.get("behind", self._any_length(len(behind)))
            if "length" in wanted and random.random() < 0.8:
                length = max(0, wanted["length"] - len(before) - len(setting.core))
            behind = kept + self.text_of(max(0, min(length, self.most) - len(kept)))
        return before, behind

    def _any_length(self, usual: int) -> int:
        random = self.random
        draw = random.random()
        if draw < 0.4:
            return usual
        if draw < 0.9 or usual > _LONG:
            return random.randrange(40)
        return random.randrange(200)

    def _wanted(self, rule: Rule) -> dict[str, int]:
        """A value for each factor in a rule that text can be made for: at its edges, or a little off."""
        random, found = self.random, dict[str, int]()
        for atom in rule:
            value: int | None = None
            if (block := block_of(atom.factor)) is not None:
                turns = max(1, min(_TURNS, self.most // block - 1))
                found["offset"] = max(0, random.randint(1, turns) * block - random.randrange(6))
                continue
            if atom.values is not None and atom.factor in ("offset", "length", "behind", "characters", "wide"):
                value = random.choice(sorted(atom.values))
            elif atom.modulus:
                turns = max(1, 200 // atom.modulus)
                value = random.choice(sorted(atom.rests)) + atom.modulus * random.randrange(turns)
                if atom.low is not None and value < atom.low:
                    value += -(-(atom.low - value) // atom.modulus) * atom.modulus
            elif atom.low is not None and atom.low == atom.high:
                value = atom.low
            elif atom.low is not None:
                edge = atom.low if atom.high is None or random.random() < 0.5 else atom.high
                value = edge + random.choice((0, 0, 1, 2, random.randrange(20), -random.randrange(edge + 1)))
            elif atom.high is not None:
                value = random.randrange(atom.high + 1)
            if value is not None:
                if random.random() < 0.3:
                    value += random.choice((-2, -1, 1, 2))
                found[atom.factor] = max(0, value)
        return found
