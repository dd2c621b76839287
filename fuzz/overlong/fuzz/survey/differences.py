"""Where two targets differ and RFC 3629 lets them: neither is at fault, but who uses both may be surprised."""

from __future__ import annotations

from typing import TYPE_CHECKING

from overlong.conformance.finding import Finding, observed_in_words
from overlong.conformance.observation import Accepted, Refused
from overlong.conformance.protocol import DECODE, REPLACING, VALIDATE
from overlong.fuzz.divergence import Divergence, Fingerprint
from overlong.reference import Decoded, Rejected
from overlong.reference.theory import shortlex

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from overlong.conformance.observation import Observation
    from overlong.conformance.profile import Profile
    from overlong.conformance.vector import Vector
    from overlong.fuzz.survey.sampled import Sampled
    from overlong.reference import Outcome

KIND = "difference"
"""That of a fingerprint."""


def differences(
    said: Sequence[tuple[str, Profile, Iterable[Sampled]]], counts: Counter[Fingerprint]
) -> Iterator[Divergence]:
    """For each habit in which two targets differ the shortest input that shows it.

    Args:
        said: for each target its name, what it is measured by, and what it answered.
        counts: how many inputs showed each; they are added.
    """
    least: dict[Fingerprint, Divergence] = {}
    answers = [(name, profile, _right(sample)) for name, profile, sample in said]
    for place, (name, profile, mine) in enumerate(answers):
        for peer, their_profile, theirs in answers[place + 1 :]:
            counted_alike = profile.counts == their_profile.counts == "octets"
            for found in _between(name, peer, mine, theirs, counted_alike=counted_alike):
                counts[found.fingerprint] += 1
                known = least.get(found.fingerprint)
                if known is None or shortlex(found.finding.vector.octets) < shortlex(known.finding.vector.octets):
                    least[found.fingerprint] = found
    yield from least.values()


def _right(sample: Iterable[Sampled]) -> dict[tuple[int, str], tuple[Vector, Observation]]:
    """The answers that are no fault of anybody."""
    return {(each.number, each.operation): (each.vector, each.observed) for each in sample if each.finding is None}


def _between(
    name: str,
    peer: str,
    mine: Mapping[tuple[int, str], tuple[Vector, Observation]],
    theirs: Mapping[tuple[int, str], tuple[Vector, Observation]],
    *,
    counted_alike: bool,
) -> Iterator[Divergence]:
    for (number, operation), (vector, observed) in mine.items():
        if operation not in VALIDATE + DECODE + REPLACING or (number, operation) not in theirs:
            continue
        other = theirs[number, operation][1]
        if (what := _what(observed, other, counted_alike=counted_alike)) is None:
            continue
        code, words = what
        title = vector.flaw.defect.title if vector.flaw is not None else "well-formed text"
        detail = f"that is what {peer} does", ""
        finding = Finding(vector, operation, code, _as_outcome(other), observed, f"{words}: {title}", detail)
        yield Divergence(name, finding, Fingerprint(name, operation, KIND, f"{peer}, {words}: {title}"), number, peer)


def _what(one: Observation, other: Observation, *, counted_alike: bool) -> tuple[str, str] | None:
    """The code of what comes nearest, and what differs in words; None if nothing does that both say."""
    match one, other:
        case Accepted(mine), Accepted(theirs):
            return None if mine is None or theirs is None or mine == theirs else ("OV402", "other output")
        case Refused(offset, length), Refused(their_offset, their_length):
            if not counted_alike or offset is None or their_offset is None:
                return None
            if offset != their_offset:
                return "OV301", "another offset"
            differs = length is not None and their_length is not None and length != their_length
            return ("OV302", "another length") if differs else None
        case (Accepted(), Refused()) | (Refused(), Accepted()):
            return "OV606", "another verdict"
        case _:
            return None


def _as_outcome(observed: Observation) -> Outcome:
    """What the peer answered, as what stands beside the target's answer."""
    match observed:
        case Accepted(values):
            return Decoded(values or ())
        case Refused(offset, length, incomplete):
            return Rejected(offset or 0, length or 1, incomplete=bool(incomplete))
        case _:
            raise AssertionError(observed_in_words(observed))
