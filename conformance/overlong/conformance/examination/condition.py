"""A condition: which questions a decoder answers wrongly, and how. It is executable.

It predicts answers to other questions and operations, too. A decoder that refuses a character refuses it in streams,
reports an offset before the first error of text that has it, and puts out U+FFFD for it. One that accepts octets
reports a later error, if any. Such a decoder is modelled: the right one, but for the places at which the condition
holds. What it gives there is open, and all else is not.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from dataclasses import dataclass, replace
from functools import cache, cached_property, lru_cache
from itertools import accumulate, islice, pairwise, takewhile
from typing import TYPE_CHECKING, Any

from overlong.conformance.examination.asking import ACCEPTS, Question
from overlong.conformance.examination.rules import AnyCondition, Atom, Rule, all_hold
from overlong.conformance.examination.text import (
    ADDRESS,
    ERROR,
    NONE,
    OF_CALLS,
    Site,
    is_part,
    pattern_of,
    text_of,
    without_parts,
)
from overlong.conformance.oracle.compare import compare
from overlong.conformance.protocol.observation import BREAKDOWNS, EARLIEST, KINDS, MEMORY, Accepted, Code, Refused
from overlong.conformance.protocol.wire import (
    AGAIN,
    DECODE,
    GUARDED,
    OTHER_INPUT,
    REPLACING,
    SEPARATE,
    STREAMING,
    VALIDATE,
)
from overlong.conformance.vectors.vector import known_at
from overlong.reference import DIALECTS, Decoded, MaximalSubpart, Rejected, WellFormed, dialect, segments
from overlong.reference.error_mode import REPLACEMENT_CHARACTER

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from overlong.conformance.examination.text import Product, Text
    from overlong.conformance.oracle.finding import Finding
    from overlong.reference import Dialect, Segment

_SHORT = 64
"""The most octets of an input whose segments are kept: those of long ones would fill the memory."""
OFFSETS = (Code.OFFSET, Code.LENGTH, Code.INCOMPLETE)
"""Symptoms of the first flaw of a refused input."""
_PLACES = (*OFFSETS, Code.STREAM_OFFSET)
_REPLACED = (Code.REPLACEMENT_COUNT, Code.REPLACEMENT_TEXT)
_LONGEST = 1 << 12
"""Longer inputs are judged by the condition alone."""
_REPLACEMENT = chr(REPLACEMENT_CHARACTER)
_TEXT, _FLAW, _UNSURE, _SITE = "text", "flaw", "flaw that may be longer or shorter", "site"

Step = tuple[int, int, str]
"""A part of the input, as the modelled decoder reads it: where it begins and ends, and what it is."""


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
        if self.symptom == ACCEPTS and not self.streams:
            return self._accepts(asked)
        of_text = not (self.streams or self.operation in REPLACING or self.symptom in OFFSETS)
        if of_text and not ((self.symptom == Code.REFUSED and self.offsets) or self.text.is_well_formed(asked.octets)):
            return False
        sites = self._sites(asked, self._least_offset)
        return any(map(self.fits, self._numbered(list(sites)) if self._counts else sites))

    def predicts(self, code: str, finding: Finding) -> bool:
        operation, vector = finding.operation, finding.vector
        if operation in OTHER_INPUT + SEPARATE:
            return False
        # a decoder used before has the faults of a new one
        earlier = () if operation in AGAIN else vector.earlier or ()
        question = Question(vector.octets, earlier, vector.chunks)
        memory = code in KINDS and KINDS[code].claim == MEMORY
        if finding.code in BREAKDOWNS and not memory:
            return finding.code == code and self.holds(question)
        if self.streams:
            return operation in STREAMING + AGAIN and self.holds(question)
        if self.reads and vector.chunks is None and isinstance(finding.observed, Accepted | Refused):
            return compare(replace(vector, octets=vector.octets[: self.reads]), operation, finding.observed) is None
        if memory or self.carries or self.reads:
            return self.holds(question)
        if operation == GUARDED:
            depends = any(atom.factor.startswith("address") for atom in self.rule)
            at = (replace(question, address=address) for address in range(ADDRESS if depends else 0))
            return finding.code == Code.PLACE_IN_MEMORY and any(map(self.holds, at))
        if self.symptom in OFFSETS:
            return finding.code in _PLACES and self.holds(question)
        if self.symptom in _REPLACED:
            return operation in REPLACING and finding.code in _REPLACED and self.holds(question)
        if not isinstance(finding.observed, Accepted | Refused):
            return finding.code == code and self.holds(question)
        whole = isinstance(finding.observed, Accepted) and operation in DECODE + VALIDATE
        if whole and self.symptom == ACCEPTS and self.of_any_error and self.shows_there(question):
            return True  # what reads the first octets alone does not see the rest of an error among them
        return _as_modelled(self, finding, question)

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
        if not self.fits(self.site(asked, 0, 0)):
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
            **{name: number for name, number in (("commits", self.commits), ("reads", self.reads)) if number},
        }

    def kept(self) -> dict[str, object]:
        flags = {name: True for name in ("subparts", "offsets") if getattr(self, name)}
        return {**self.to_json(), "operation": self.operation, **flags}

    @classmethod
    def of_json(cls, read: Mapping[str, Any]) -> Condition:
        """The condition that :meth:`kept` wrote.

        Raises:
            ValueError, LookupError, TypeError: it is none.
        """
        words = tuple(tuple(frozenset(bytes.fromhex(octets)) for octets in word) for word in read["words"])
        if read["dialect"] not in DIALECTS or not words or not all(octets for word in words for octets in word):
            raise ValueError(read["dialect"])
        commits, reads = (int(read.get(name, 0)) for name in ("commits", "reads"))
        subparts, offsets = (bool(read.get(name, False)) for name in ("subparts", "offsets"))
        rule, operation = tuple(map(Atom.of_json, read["rule"])), str(read["operation"])
        return cls(str(read["symptom"]), words, rule, read["dialect"], operation, commits, subparts, offsets, reads)

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

    def site(self, asked: Question, start: int, end: int) -> Site:
        """Octets of a question as a place."""
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
        return [self.site(asked, end, match.end())] if match else []

    def sites(self, question: Question, most: int = 1 << 30) -> list[Site]:
        """The places in a question that have the octets, whatever the rule says; not many more than ``most``."""
        return self._numbered(list(self._sites(question, most=most)))

    def _sites(self, asked: Question, start: int = 0, most: int = 1 << 30) -> Iterable[Site]:
        if self.streams:
            return self._in_streams(asked)
        if self.symptom == ACCEPTS:
            return self._walk(asked)[0]
        if self.operation in REPLACING:
            return self._everywhere(asked)
        end = self.text.end(asked.octets)
        return (
            self._first_flaw(asked, end) if self.symptom in OFFSETS else islice(self._within(asked, end, start), most)
        )

    @cached_property
    def of_any_error(self) -> bool:
        """True if any error is one of the words."""
        return any(len(word) == 1 and ERROR[0] <= word[0] for word in self.words)

    def shows_there(self, asked: Question) -> bool:
        """True if the rule holds where the first error shows: right behind the octets that can begin a character."""
        flaw = self.text.flaw(asked.octets, self.text.end(asked.octets))
        shown = flaw.end() if flaw is not None else len(asked.octets)
        return shown < len(asked.octets) and self.fits(self.site(asked, shown, shown + 1))

    def places(self, asked: Question) -> dict[int, Site]:
        """The places at which the rule holds, by their offsets; a decoder need not stop at the first flaw."""
        octets, sites, past = asked.octets, list[Site](), 0
        if self.words == ((),) and not self.subparts:
            sites = [self.site(asked, 0, 0)]
        for each in segments(octets, spoken=self.text.spoken) if not sites else ():
            is_flaw = isinstance(each, MaximalSubpart)
            if each.offset < past or not (self.commits or is_flaw == (self.symptom == ACCEPTS)):
                continue
            if self.subparts:
                sites.append(self.site(asked, each.offset, each.offset + each.length))
            elif match := self._at_flaw(octets, each.offset):
                past = match.end()
                sites.append(self.site(asked, each.offset, past))
        return {site.start: site for site in self._numbered(sites) if self.fits(site)}

    def begun(self, octets: bytes, start: int) -> int:
        """The most octets from a place on that begin one of the words."""
        most = 0
        for word in () if self.subparts else self.words:
            some = octets[start : start + len(word)]
            alike = (octet in allowed for octet, allowed in zip(some, word, strict=False))
            most = max(most, sum(1 for _ in takewhile(bool, alike)))
        return most

    def fits(self, site: Site) -> bool:
        """True if the rule holds at a place."""
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
        return self._numbered([self.site(asked, *span) for span in spans]), end

    def _refused_at(self, asked: Question) -> int:
        """Where a decoder refuses that accepts the words at the places of the rule alone."""
        sites, end = self._walk(asked)
        return next((site.start for site in sites if not self.fits(site)), end)

    def _accepts(self, asked: Question) -> bool:
        right = self.text.end(asked.octets)
        if right == len(asked.octets) and not self.commits:
            return False
        end, size = self._refused_at(asked), len(asked.octets)
        if self.offsets:
            return end != right
        return (end == size) != (right == size)

    def _within(self, asked: Question, end: int, start: int) -> Iterator[Site]:
        """The places of the words in well-formed text from ``start`` to ``end``."""
        if self.words == ((),):
            yield self.site(asked, 0, 0)
            return
        for match in self._pattern.finditer(asked.octets, start, end):
            yield self.site(asked, match.start(), match.end())

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
            return [self.site(asked, *span) for span in flaws]
        if self._of_flaws:
            found = (self._at_flaw(octets, start) for start, _ in flaws)
        else:
            spans = pairwise([0, *(place for span in flaws for place in span), len(octets)])
            found = (match for span in islice(spans, 0, None, 2) for match in self._pattern.finditer(octets, *span))
        return [self.site(asked, *match.span()) for match in found if match is not None]

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
            yield self.site(asked, 0, 0)
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
                    site = self.site(asked, start, end)
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


def _as_modelled(condition: Condition, finding: Finding, question: Question) -> bool:
    """True if the answer is that of a decoder which differs from a right one at the condition's places alone."""
    if len(question.octets) > _LONGEST:
        return condition.holds(question)
    steps = list(_steps(condition, question))
    sites = [each for each in steps if each[2] == _SITE]
    if not sites and not any(what == _UNSURE for _, _, what in steps):
        return False
    if finding.claim == EARLIEST or finding.code == Code.STREAM_OFFSET:
        return True
    if finding.operation in REPLACING:
        return isinstance(finding.observed, Refused) or _puts_out(condition, finding, steps)
    if condition.symptom == Code.SCALARS:
        return bool(sites) and (finding.code == condition.symptom or _leaves_out(finding, sites))
    return _refuses(condition, finding, steps)


def _refuses(condition: Condition, finding: Finding, steps: list[Step]) -> bool:
    """True if the model refuses what the decoder refused, and about where; and accepts what that accepted."""
    stops = (_FLAW, _UNSURE) if condition.symptom == ACCEPTS else (_FLAW, _UNSURE, _SITE)
    stop = next((each for each in steps if each[2] in stops), None)
    observed = finding.observed
    if stop is None or isinstance(observed, Accepted):
        return stop is None and isinstance(observed, Accepted)
    assert isinstance(observed, Refused)
    start, end, what = stop
    if isinstance(finding.expected, Decoded):
        return what == _SITE
    if finding.vector.chunks is not None or observed.offset is None or finding.vector.profile.counts != "octets":
        return True
    if finding.code in (Code.LENGTH, Code.INCOMPLETE):  # of a refusal at a site, both are open
        return what == _UNSURE or (what == _SITE and observed.offset < end)
    return start <= observed.offset <= end


def _leaves_out(finding: Finding, sites: list[Step]) -> bool:
    """True if the reported offset of an error counts no octets of some places before it, or not all of them."""
    expected, observed = finding.expected, finding.observed
    if finding.code != Code.OFFSET or not isinstance(expected, Rejected) or not isinstance(observed, Refused):
        return False
    octets = sum(end - start for start, end, _ in sites if start < expected.offset)
    return observed.offset is not None and 0 < expected.offset - observed.offset <= octets


def _puts_out(condition: Condition, finding: Finding, steps: list[Step]) -> bool:
    """True if the output is that of the model, which puts out anything at the condition's places.

    It does not put out U+FFFD for octets that it accepts. The output is read as an automaton reads it, whose states are
    the bits of a number: those up to which it may have been written. A regular expression may take forever here.
    """
    vector = finding.vector
    assert isinstance(finding.observed, Accepted)
    text = _as_text(finding.observed.values or ())
    replaced = _bits(place for place, each in enumerate(text) if each == _REPLACEMENT)
    every = (1 << len(text)) - 1

    @cache
    def starts(right: str) -> int:
        return _bits(place for place in range(len(text) + 1) if text.startswith(right, place))

    outputs, offsets, written = list(vector.outputs), [each.offset for each in vector.taken], 1
    for start, end, what in steps:
        if what == _SITE:
            written = _spread(written, every & ~replaced if condition.symptom == ACCEPTS else every)
            continue
        own = outputs[bisect_left(offsets, start) : bisect_left(offsets, end)]
        right = "".join(map(_as_text, own))
        as_is = (written & starts(right)) << len(right)
        written = as_is if what != _UNSURE else as_is | _spread((written & replaced) << 1, replaced)
    return bool(written >> len(text) & 1)


def _bits(places: Iterable[int]) -> int:
    """A number with these bits."""
    return sum(1 << place for place in places)


def _spread(places: int, through: int) -> int:
    """The places that are reached from others by any number of steps from a place of ``through`` to the next one.

    A carry runs through as many ones as there are in a row.
    """
    return places | (((places & through) + through) ^ through)


def _as_text(values: tuple[int, ...]) -> str:
    return "".join(chr(min(value, 0x10FFFF)) for value in values)


def _steps(condition: Condition, question: Question) -> Iterator[Step]:
    """The input in parts, as a decoder reads it that has the fault."""
    octets, place = question.octets, 0
    accepts = condition.symptom == ACCEPTS
    found = condition.places(question)
    if (whole := found.get(0)) is not None and whole.end == 0:  # whatever the octets
        yield 0, len(octets), _SITE
        return
    for each in segments(octets, spoken=condition.text.spoken):
        if each.offset < place:
            continue
        place = each.offset + each.length
        if (site := found.get(each.offset)) is not None:
            place = max(place, site.end)
            yield each.offset, place, _SITE
        elif isinstance(each, WellFormed):
            yield each.offset, place, _TEXT
        else:
            begun = condition.begun(octets, each.offset)
            if accepts:
                # a decoder that accepts F5 80 80 80 waits for more after F5
                hopeless = known_at(octets, each, condition.text.spoken) == place
                place = max(place, each.offset + begun)
                certain = begun <= each.length - hopeless
            else:  # a character cut off may be refused as the whole one is
                refused = condition.symptom == Code.REFUSED and begun == each.length
                certain = not (refused and condition.fits(condition.site(question, each.offset, place)))
            yield each.offset, place, _FLAW if certain else _UNSURE
