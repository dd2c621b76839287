"""A condition: which questions a decoder answers wrongly, and how. It is executable."""

from __future__ import annotations

import hashlib
import json
import re
from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import accumulate, islice, pairwise, takewhile
from typing import TYPE_CHECKING, Any

from overlong.conformance.examination.asking import ACCEPTS, Question
from overlong.conformance.examination.factors import NONE, OF_CALLS, Site
from overlong.conformance.examination.rules import Atom, Rule, all_hold
from overlong.conformance.examination.text import ERROR, is_part, pattern_of, text_of, without_parts
from overlong.conformance.protocol.observation import Code
from overlong.conformance.protocol.wire import AGAIN, REPLACING, STREAMING
from overlong.conformance.vectors.vector import known_at
from overlong.reference import DIALECTS, MaximalSubpart, dialect, segments

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from overlong.conformance.examination.text import Product, Text
    from overlong.reference import Dialect, Segment

_SHORT = 64
"""The most octets of an input whose segments are kept: those of long ones would fill the memory."""
OFFSETS = (Code.OFFSET, Code.LENGTH, Code.INCOMPLETE)
"""Symptoms of the first flaw of a refused input."""


class AnyCondition(ABC):
    """Which questions a target answers wrongly: a decoder (:class:`Condition`), an encoder, or another function."""

    @abstractmethod
    def holds(self, question: Question | bytes) -> bool:
        """True if the target is predicted to answer a question wrongly for this cause."""

    @abstractmethod
    def to_json(self) -> dict[str, object]:
        """The condition for files."""

    def kept(self) -> dict[str, object]:
        """The same, with what its id does not depend on, and all that foresees further answers."""
        return self.to_json()

    @cached_property
    def id(self) -> str:
        """``C-`` and eight digits of a hash: the same for the same cause, whichever verb found it."""
        return f"C-{hashlib.sha256(json.dumps(self.to_json(), sort_keys=True).encode()).hexdigest()[:8]}"

    @property
    def streams(self) -> bool:
        """True if it is about streams."""
        return False

    @property
    def withholds(self) -> bool:
        """True if a stream's output comes late whatever it is."""
        return False

    @property
    def recalls(self) -> bool:
        """True if the answer depends on an earlier call or stream."""
        return False


@dataclass(frozen=True)
class Condition(AnyCondition):
    """Words, and the rule for the places where they make a difference."""

    symptom: str
    """``accepts``, or the code of the divergence."""
    words: tuple[Product, ...]
    """The octets there; one empty product: anything."""
    rule: Rule = ()
    speaks: str = "rfc3629"
    operation: str = ""
    commits: int = 0
    """The octets of a word after which the decoder expects the rest of it, even if they begin a character; 0: none."""
    subparts: bool = False
    """True if the words are whole errors, whatever these are."""
    offsets: bool = False
    """True if the target reports offsets: then they show a wrong verdict, too."""

    reads: int = 0
    """The octets that are read: the decoder answers as if there were no more; 0: all."""

    def holds(self, question: Question | bytes) -> bool:
        """True if the decoder is predicted to answer a question wrongly, or to report another place, for this cause."""
        asked = Question(question) if isinstance(question, bytes) else question
        if self.reads:
            return self._differs_from_first(asked.octets)
        if self.carries:
            return self._carried(asked)
        if self.streams:
            return any(self._fits(site) for site in self._in_streams(asked))
        if self.symptom == ACCEPTS:
            return self._accepts(asked)
        if self.operation in REPLACING:
            return any(self._fits(site) for site in self._numbered(self._everywhere(asked)))
        end = self.text.end(asked.octets)
        if self.symptom in OFFSETS:
            return any(map(self._fits, self._first_flaw(asked, end)))
        if end < len(asked.octets) and not (self.symptom == Code.REFUSED and self.offsets):
            return False
        sites = self._within(asked, end, self._least_offset)
        return any(map(self._fits, self._numbered(list(sites)) if self._counts else sites))

    def united(self, other: Condition) -> Condition | None:
        """The condition of a cause of which both know some words: the rule is the same, and one word is in both."""
        alike = replace(other, words=self.words) == self and not self.subparts
        shared = any(is_part(one, two) or is_part(two, one) for one in self.words for two in other.words)
        return replace(self, words=without_parts([*self.words, *other.words])) if alike and shared else None

    @property
    def carries(self) -> bool:
        """True if the decoder goes on where an earlier call, or an earlier stream, ended."""
        unfinished = any(atom.factor == "unfinished before" for atom in self.rule)
        return self.symptom == Code.EARLIER_CALLS or (self.operation in AGAIN and unfinished)

    @property
    def recalls(self) -> bool:
        """True if the answer depends on an earlier call or stream."""
        return self.carries or any(atom.factor in OF_CALLS for atom in self.rule)

    def _differs_from_first(self, octets: bytes) -> bool:
        """True if the octets that are read have another verdict, or an error at another place."""
        read = octets[: self.reads]
        first, end = self.text.end(read), self.text.end(octets)
        return (first == len(read)) != (end == len(octets)) or (self.offsets and first != min(end, len(read)))

    def _carried(self, asked: Question) -> bool:
        before = self._before(asked) or b""
        if not self._fits(self._site(asked, 0, 0)):
            return False
        if self.operation in REPLACING:
            return True
        joined = before[self.text.end(before) :] + asked.octets
        return self.text.is_well_formed(joined) != self.text.is_well_formed(asked.octets)

    @property
    def streams(self) -> bool:
        """True if it is about streams."""
        return bool(self.operation) and self.operation in STREAMING + AGAIN

    @property
    def withholds(self) -> bool:
        """True if a stream's output comes late whatever it is; only accepted streams may show that."""
        everything = self.symptom == Code.HELD_BACK and self.of_characters
        return everything and all(atom.factor == "well-formed" for atom in self.rule)

    @property
    def of_characters(self) -> bool:
        """True if it is about characters of streams, whatever these are."""
        products = self.text.products
        return self.streams and self.words[: len(products)] == products

    def to_json(self) -> dict[str, object]:
        """The condition for files."""
        return {
            "symptom": self.symptom,
            "words": [[bytes(sorted(octets)).hex() for octets in product] for product in self.words],
            "rule": [atom.to_json() for atom in self.rule],
            "dialect": self.speaks,
            **({"commits": self.commits} if self.commits else {}),
            **({"reads": self.reads} if self.reads else {}),
        }

    def kept(self) -> dict[str, object]:
        return {
            **self.to_json(),
            "operation": self.operation,
            **({"subparts": True} if self.subparts else {}),
            **({"offsets": True} if self.offsets else {}),
        }

    @classmethod
    def of_json(cls, read: Mapping[str, Any]) -> Condition:
        """The condition that :meth:`kept` wrote.

        Raises:
            ValueError, LookupError, TypeError: it is none.
        """
        words = tuple(tuple(frozenset(bytes.fromhex(octets)) for octets in word) for word in read["words"])
        if read["dialect"] not in DIALECTS or not words or not all(octets for word in words for octets in word):
            raise ValueError(read["dialect"])
        return cls(
            str(read["symptom"]),
            words,
            tuple(map(Atom.of_json, read["rule"])),
            read["dialect"],
            str(read["operation"]),
            int(read.get("commits", 0)),
            subparts=bool(read.get("subparts", False)),
            offsets=bool(read.get("offsets", False)),
            reads=int(read.get("reads", 0)),
        )

    @cached_property
    def text(self) -> Text:
        """Well-formed text of the dialect."""
        return text_of(dialect(self.speaks))

    @cached_property
    def _pattern(self) -> re.Pattern[bytes]:
        return re.compile(pattern_of(self.words), re.DOTALL)

    @cached_property
    def _until(self) -> re.Pattern[bytes]:
        return self.text.until([word[: self.commits] for word in self.words])

    def _site(self, asked: Question, start: int, end: int) -> Site:
        after = self._before(asked)
        return Site(self.text, asked.octets, start, end, after=after, chunks=asked.chunks or (), address=asked.address)

    def _before(self, asked: Question) -> bytes | None:
        """The call right before, or the whole of the stream before."""
        if not asked.earlier:
            return None
        return b"".join(asked.earlier) if self.operation in AGAIN else asked.earlier[-1]

    def _at_flaw(self, octets: bytes, start: int) -> re.Match[bytes] | None:
        return self._pattern.match(octets, start) if start < len(octets) else None

    def _first_flaw(self, asked: Question, end: int) -> list[Site]:
        """The flaw where text ends, if it is one of the words."""
        match = self.text.flaw(asked.octets, end) if self.subparts else self._at_flaw(asked.octets, end)
        return [self._site(asked, end, match.end())] if match else []

    def sites(self, question: Question, most: int = 1 << 30) -> list[Site]:
        """The places in a question that have the octets, whatever the rule says; not many more than ``most``."""
        if self.streams:
            return list(self._in_streams(question))
        if self.symptom == ACCEPTS:
            return self._walk(question)[0]
        if self.operation in REPLACING:
            return self._numbered(self._everywhere(question))
        end = self.text.end(question.octets)
        if self.symptom in OFFSETS:
            return self._first_flaw(question, end)
        return self._numbered(list(islice(self._within(question, end), most)))

    @cached_property
    def of_any_error(self) -> bool:
        """True if any error is one of the words."""
        return any(len(word) == 1 and ERROR[0] <= word[0] for word in self.words)

    def shows_there(self, asked: Question) -> bool:
        """True if the rule holds where the first error shows: right behind the octets that can begin a character."""
        flaw = self.text.flaw(asked.octets, self.text.end(asked.octets))
        shown = flaw.end() if flaw is not None else len(asked.octets)
        return shown < len(asked.octets) and self._fits(self._site(asked, shown, shown + 1))

    def places(self, asked: Question) -> dict[int, Site]:
        """The places at which the rule holds, by their offsets; a decoder need not stop at the first flaw."""
        octets, sites, past = asked.octets, list[Site](), 0
        if self.words == ((),) and not self.subparts:
            sites = [self._site(asked, 0, 0)]
        for each in segments(octets, spoken=self.text.spoken) if not sites else ():
            is_flaw = isinstance(each, MaximalSubpart)
            if each.offset < past or not (self.commits or is_flaw == (self.symptom == ACCEPTS)):
                continue
            if self.subparts:
                sites.append(self._site(asked, each.offset, each.offset + each.length))
            elif match := self._at_flaw(octets, each.offset):
                past = match.end()
                sites.append(self._site(asked, each.offset, past))
        return {site.start: site for site in self._numbered(sites) if self._fits(site)}

    def begun(self, octets: bytes, start: int) -> int:
        """The most octets from a place on that begin one of the words."""
        most = 0
        for word in () if self.subparts else self.words:
            some = octets[start : start + len(word)]
            alike = (octet in allowed for octet, allowed in zip(some, word, strict=False))
            most = max(most, sum(1 for _ in takewhile(bool, alike)))
        return most

    def holds_at(self, asked: Question, segment: Segment) -> bool:
        """True if the rule holds at a segment, whether or not it is one of the words."""
        return self._fits(self._site(asked, segment.offset, segment.offset + segment.length))

    def _fits(self, site: Site) -> bool:
        return all_hold(self.rule, site)

    def _passed(self, octets: bytes) -> Iterator[tuple[int, int]]:
        """What a decoder passes that accepts the words, and last an empty span where it refuses if it accepts all."""
        if self.subparts:
            yield from self.text.flaws(octets)
            yield len(octets), len(octets)
            return
        place = 0
        while True:
            if self.commits:
                found = self._until.match(octets, place)
                end = found.end() if found is not None else place
            else:
                end = self.text.end(octets, place)
            match = self._at_flaw(octets, end)
            if match is None or match.end() == end:
                yield end, end
                return
            yield match.span()
            place = match.end()

    def _walk(self, asked: Question) -> tuple[list[Site], int]:
        """The places that a decoder passes that accepts the words, and where it refuses if it accepts all of them."""
        *spans, (end, _) = self._passed(asked.octets)
        return self._numbered([self._site(asked, *span) for span in spans]), end

    def _refused_at(self, asked: Question) -> int:
        """Where a decoder refuses that accepts the words at the places of the rule alone."""
        sites, end = self._walk(asked)
        return next((site.start for site in sites if not self._fits(site)), end)

    def _accepts(self, asked: Question) -> bool:
        right = self.text.end(asked.octets)
        if right == len(asked.octets) and not self.commits:
            return False
        end, size = self._refused_at(asked), len(asked.octets)
        if self.offsets:
            return end != right
        return (end == size) != (right == size)

    def _within(self, asked: Question, end: int, start: int = 0) -> Iterator[Site]:
        """The places of the words in well-formed text from ``start`` to ``end``."""
        if self.words == ((),):
            yield self._site(asked, 0, 0)
            return
        for match in self._pattern.finditer(asked.octets, start, end):
            yield self._site(asked, match.start(), match.end())

    @cached_property
    def _counts(self) -> bool:
        return any(atom.factor in ("errors", "total") for atom in self.rule)

    @cached_property
    def _least_offset(self) -> int:
        """No place before this offset fits the rule."""
        return 0 if self._counts else max((each.low or 0 for each in self.rule if each.factor == "offset"), default=0)

    def _everywhere(self, asked: Question) -> list[Site]:
        """The segments of text that is replaced: flaws, or characters, whichever the words begin."""
        octets, flaws = asked.octets, self.text.flaws(asked.octets)
        if self.subparts:
            return [self._site(asked, *span) for span in flaws]
        if self._of_flaws:
            found = (self._at_flaw(octets, start) for start, _ in flaws)
        else:
            spans = pairwise([0, *(place for span in flaws for place in span), len(octets)])
            found = (match for span in islice(spans, 0, None, 2) for match in self._pattern.finditer(octets, *span))
        return [self._site(asked, *match.span()) for match in found if match is not None]

    @cached_property
    def _of_flaws(self) -> bool:
        first = bytes(min(octets) for octets in self.words[0])
        return self.text.end(first) < len(first)

    def _numbered(self, sites: list[Site]) -> list[Site]:
        for number, site in enumerate(sites):
            site.errors, site.total = number, len(sites)
        return sites

    def _in_streams(self, asked: Question) -> Iterator[Site]:
        """The places of a stream: errors; or the words, once for each cut within one, or once if there is none."""
        chunks = asked.chunks if asked.chunks is not None else (len(asked.octets),)
        cuts = list(accumulate(chunks))[:-1]
        if self.words == ((),):
            yield self._site(asked, 0, 0)
            return
        comes_later = self.symptom in (Code.LATE, Code.HELD_BACK)
        read = _known_of_short if len(asked.octets) <= _SHORT else _known
        for each, known in read(asked.octets, self.text.spoken):
            if comes_later and (known is None or not cuts or cuts[-1] < known):
                continue  # nothing comes later
            start, end = each.offset, each.offset + each.length
            is_flaw = isinstance(each, MaximalSubpart)
            if is_flaw if self.subparts else self._at_flaw(asked.octets, start):
                last = end if is_flaw and (known is None or known > end) else end - 1  # a character may have begun
                within = () if self.subparts else [cut - start for cut in cuts if start < cut <= last]
                for cut in within or (NONE,):
                    site = self._site(asked, start, end)
                    site.cut = cut
                    site.known = NONE if known is None else known
                    site.begun = max((at for at in cuts if known is None or at < known), default=0)
                    yield site
            if is_flaw and self.operation not in REPLACING:
                return  # a strict decoder goes no further


def _known(octets: bytes, spoken: Dialect) -> list[tuple[Segment, int | None]]:
    """The segments, and how many octets must have been read to know each."""
    return [(each, known_at(octets, each, spoken)) for each in segments(octets, spoken=spoken)]


_known_of_short = lru_cache(maxsize=1 << 14)(_known)  # the same octets come in many chunks, to several conditions
