"""The newest survey's results on a vector: the decoders that failed, and the number with its kind of fault.

A survey keeps one input for each fault of a decoder, the least. Other decoders may have failed on the vector, too; the
page of its code names every decoder that accepts this kind.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING

from printing.markdown import plain

from corpora.survey.gallery import surveys
from overlong.conformance.protocol.wire import ENCODING
from overlong.conformance.report.wording import observed
from overlong.conformance.results.model import State

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from overlong.conformance.results.model import Cause, Report, Subject
    from overlong.conformance.vectors.vector import Vector

_SHOWN = 12
"""The most decoders to name; the page of the code has the others."""


class Surveyed:
    """The newest survey, by inputs and by codes. Without a survey it is empty."""

    def __init__(self, kept: Mapping[str, Report]) -> None:
        """From reports by their dates, the oldest first."""
        self._date, report = list(kept.items())[-1] if kept else ("", None)
        self._faults: dict[bytes, list[tuple[Subject, Cause]]] = defaultdict(list)
        self._having = Counter[str]()
        for subject in report.subjects if report else ():
            if subject.state is not State.NOT_MEASURED:  # such have no page
                self._having.update({cause.code for cause in subject.causes})
                for cause in subject.causes:
                    if cause.operation not in ENCODING:  # whose inputs are numbers
                        self._faults[cause.octets].append((subject, cause))

    def lines(self, vector: Vector) -> Iterator[str]:
        """A paragraph for the vector's entry; none if no decoder failed on it."""
        found = self._faults.get(vector.octets, [])
        by_answer: dict[str, dict[str, None]] = defaultdict(dict)
        for subject, cause in found[:_SHOWN]:
            by_answer[_answer(cause, vector)][f"[{plain(subject.id)}](../gallery/d-{subject.id}.md)"] = None
        if found:
            said = "; ".join(f"{', '.join(links)} ({answer})" for answer, links in by_answer.items())
            more = f"; and {len(found) - _SHOWN} more" if len(found) > _SHOWN else ""
            yield from ("", f"Got it wrong in the [survey](../gallery/index.md) of {self._date}: {said}{more}")

    def kinds(self, flags: Iterable[str]) -> Iterator[str]:
        """A paragraph for each kind of fault with the number of decoders that accept it; none if no decoder does."""
        for flag in flags:
            if count := self._having[flag]:
                decoders = "1 decoder accepts" if count == 1 else f"{count} decoders accept"
                yield from ("", f"{decoders} something of this kind: [{flag}](../gallery/c-{flag.lower()}.md)")


def newest() -> Surveyed:
    """From the kept surveys."""
    return Surveyed(surveys())


def _answer(cause: Cause, vector: Vector) -> str:
    """Its answer, and the operation if that is not the vector's own."""
    chunks = f", in chunks of {', '.join(map(str, cause.chunks))}" if cause.chunks not in (None, vector.chunks) else ""
    before = ", by a decoder used before" if cause.earlier is not None else ""
    return f"{plain(observed(cause))}{chunks}{before}"
