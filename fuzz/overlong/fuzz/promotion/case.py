"""The assertion of a regression test: octets, their chunks, and the answer that RFC 3629 demands."""

from __future__ import annotations

import shlex
import textwrap
from dataclasses import dataclass
from typing import TYPE_CHECKING

from overlong.conformance.oracle.finding import expected_in_words
from overlong.conformance.protocol.observation import Code
from overlong.conformance.protocol.wire import DECODE, GUARDED, OPERATIONS, REPLACING, VALIDATE
from overlong.conformance.report.text import is_difference
from overlong.conformance.support.printable import plain, printable
from overlong.conformance.vectors.vector import Vector
from overlong.fuzz.campaign.state import REPETITIONS
from overlong.fuzz.promotion.promote import PromotionError, checked_id, not_alone, of_a_decoder
from overlong.reference import DEFECTS, Rejected

if TYPE_CHECKING:
    from collections.abc import Iterator

    from overlong.fuzz.report.findings import Found

_UNSAID: dict[str, str] = {
    Code.LENGTH: "how many octets a refusal covers",
    Code.INCOMPLETE: "whether a refusal says that input is missing",
    Code.HELD_BACK: "in which chunk something is output",
    Code.LATE: "in which chunk a stream is refused",
    Code.EARLY: "in which chunk an answer comes",
    Code.MISBEHAVED: "what an adapter writes",
}
"""Codes of aspects that functions do not report in the same way in all programs."""
_OFFSETS = (Code.OFFSET, Code.STREAM_OFFSET)
_UNSTABLE = (Code.UNSTABLE, Code.EARLIER_CALLS)
_WIDTH = 76
"""The width of a comment without its mark."""


@dataclass(frozen=True)
class Case:
    """One test. All its text is ASCII without backslashes, which is safe in comments of every language."""

    id: str
    target: str
    """The target's name in the run; raw: code that writes it must check it first."""
    comment: tuple[str, ...]
    octets: bytes
    chunks: tuple[int, ...] | None
    """The chunks of a stream; None if the input is whole."""
    earlier: tuple[bytes, ...] | None
    """The chunks of an earlier stream for the same decoder."""
    validates: bool
    """The target gives only a verdict."""
    replaces: bool
    """The decoder replaces ill-formed octets by U+FFFD."""
    scalars: tuple[int, ...] | None
    """The expected output; None for a refusal."""
    offset: int | None
    """The offset of the refusal, if the test checks it."""
    times: int
    """How often the test asks."""

    @property
    def name(self) -> str:
        """``d_7f3a0c19``."""
        return self.id.lower().replace("-", "_")

    @property
    def title_name(self) -> str:
        """``D7f3a0c19``."""
        return self.id.replace("-", "")

    @property
    def is_stream(self) -> bool:
        return self.chunks is not None or self.earlier is not None

    @property
    def lengths(self) -> tuple[int, ...]:
        """Lengths of the chunks."""
        return (len(self.octets),) if self.chunks is None else self.chunks

    @property
    def text(self) -> str:
        """The expected output; empty for a refusal."""
        return "".join(map(chr, self.scalars or ()))


def case_of(stored: Found, folder: str) -> Case:
    """The test of a finding.

    Args:
        stored: the finding.
        folder: the run's folder, for the command that explains it.

    Raises:
        PromotionError: no test can show the fault; the message has the reason and an alternative.
    """
    name = checked_id(stored)
    if is_difference(stored):
        raise PromotionError(f"{name}: a difference, which RFC 3629 leaves open: no test can say which is right")
    if stored.code in _UNSAID:
        raise PromotionError(
            f"{name}: {stored.code} is about {_UNSAID[stored.code]}, which a test cannot tell in every language; "
            "promote it, and let overlong certify --vectors test it"
        )
    of_a_decoder(stored, "these tests")
    if stored.operation not in OPERATIONS:
        raise PromotionError(f"{name}: {printable(stored.operation, 20)} is no operation of a decoder")
    not_alone(stored)
    replaces = stored.operation in REPLACING
    if replaces and stored.code in DEFECTS:
        raise PromotionError(
            f"{name}: its error mode is not known, and any output but that one is right, which a test cannot tell; "
            "promote it, and let overlong certify --vectors test it"
        )
    vector = Vector("fuzz", stored.octets, chunks=stored.chunks)
    answer = vector.replaced if replaces else vector.strict
    refused = isinstance(answer, Rejected)
    offset = answer.offset if isinstance(answer, Rejected) and stored.code in _OFFSETS else None
    if stored.operation != GUARDED:
        words = expected_in_words(answer, DECODE)
        known = stored.expected.startswith("reject at" if refused and offset is None else words)
        if not known:
            raise PromotionError(
                f"{name}: the run expected '{printable(stored.expected, 80)}', after what the target says of "
                f"itself, and RFC 3629 by itself says '{words}'; promote it, and let overlong certify --vectors test it"
            )
    return Case(
        name,
        stored.target,
        tuple(_comment(stored, folder)),
        stored.octets,
        stored.chunks,
        stored.earlier,
        stored.operation == VALIDATE,
        replaces,
        None if isinstance(answer, Rejected) else answer.scalars,
        offset,
        REPETITIONS if stored.code in _UNSTABLE else 1,
    )


def _comment(stored: Found, folder: str) -> Iterator[str]:
    where = f", {stored.section}" if stored.section else ""
    yield "A regression test that overlong wrote. It needs nothing of overlong's."
    yield ""
    lines = (
        f"{stored.id}: {stored.title} ({stored.code}{where})",
        f"found in: {stored.target}",
        f"operation: {OPERATIONS[stored.operation]}",
        f"expected: {stored.expected}",
        f"observed: {stored.observed}",
        f"explained by: overlong explain {shlex.quote(folder)} {stored.id}",
    )
    for line in lines:
        yield from textwrap.wrap(plain(line), _WIDTH, subsequent_indent="  ", break_on_hyphens=False)
