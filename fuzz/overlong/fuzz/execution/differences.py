"""Differences between two targets that RFC 3629 allows: neither is at fault, but a user of both may be surprised."""

from __future__ import annotations

from typing import TYPE_CHECKING

from overlong.conformance.oracle.finding import Finding, observed_in_words
from overlong.conformance.protocol.observation import Accepted, Code, Refused
from overlong.conformance.protocol.wire import DECODE, REPLACE, STREAM_REPLACE, VALIDATE
from overlong.fuzz.execution.job import Divergence, Fingerprint
from overlong.reference import Decoded, Rejected
from overlong.reference.automaton import shortlex

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Iterable, Iterator, Sequence

    from overlong.conformance.protocol.observation import Observation
    from overlong.conformance.vectors.vector import Profile, Vector
    from overlong.fuzz.execution.probe import Sampled
    from overlong.reference import Outcome

KIND = "difference"
"""The kind of a fingerprint."""


def differences(
    said: Sequence[tuple[str, Profile, Iterable[Sampled]]], counts: Counter[Fingerprint]
) -> Iterator[Divergence]:
    """The shortest input for each habit in which two targets differ.

    The replacement of ill-formed octets follows from the declared error mode if the answer is correct. So of targets
    with the same error mode, only the first takes part in that comparison.

    Args:
        said: the name, the profile and the answers of each target.
        counts: the number of inputs for each difference, to which this adds.
    """
    least: dict[Fingerprint, Divergence] = {}
    samples = [(name, profile, tuple(sample)) for name, profile, sample in said]
    answers = [(name, profile, _right(sample)) for name, profile, sample in samples]
    offered = [{each.operation for each in sample} for _, _, sample in samples]
    habits: dict[tuple[str, str], int] = {}
    for place, (_, profile, _) in enumerate(answers):
        for operation in offered[place]:
            habits.setdefault((profile.own_mode or profile.replaces, operation), place)
    for place, (name, profile, mine) in enumerate(answers):
        for other, (peer, their_profile, theirs) in enumerate(answers[place + 1 :], place + 1):
            compared = set(VALIDATE + DECODE)
            # a decoder that replaces a whole input so does it in streams, too
            both = offered[place] & offered[other]
            operation = next((each for each in (REPLACE, STREAM_REPLACE) if each in both), "")
            speak = [habits.get((each.own_mode or each.replaces, operation)) for each in (profile, their_profile)]
            if speak == [place, other]:
                compared.add(operation)
            for (number, operation), (vector, observed) in mine.items():
                if operation not in compared or (number, operation) not in theirs:
                    continue
                second = theirs[number, operation][1]
                finding = difference(vector, operation, observed, second, (profile, their_profile))
                if finding is None:
                    continue
                fingerprint = Fingerprint(name, operation, KIND, f"{peer}, {finding.place}")
                counts[fingerprint] += 1
                known = least.get(fingerprint)
                if known is None or shortlex(vector.octets) < shortlex(known.finding.vector.octets):
                    least[fingerprint] = Divergence(name, finding, fingerprint, number, peer)
    yield from least.values()


def _right(sample: Iterable[Sampled]) -> dict[tuple[int, str], tuple[Vector, Observation]]:
    """The answers that can be differences, since they are no faults."""
    return {(each.number, each.operation): (each.vector, each.observed) for each in sample if each.finding is None}


def difference(
    vector: Vector, operation: str, observed: Observation, other: Observation, profiles: Sequence[Profile]
) -> Finding | None:
    """The difference between two right answers; None if all parts that both report are equal.

    Args:
        vector: the input.
        operation: of both answers.
        observed: the answer of the first target.
        other: that of its peer.
        profiles: of both.
    """
    in_octets = all(each.counts == "octets" for each in profiles)
    if (what := _what(observed, other, in_octets=in_octets)) is None:
        return None
    code, words = what
    detail = observed_in_words(other, operation), ""  # only the reported parts: a refusal may have no length
    return Finding(vector, operation, code, _as_outcome(other), observed, words, detail)


def _what(one: Observation, other: Observation, *, in_octets: bool) -> tuple[str, str] | None:
    """The nearest code, and the difference in words; None if all parts that both report are equal."""
    match one, other:
        case Accepted(mine), Accepted(theirs):
            return None if mine is None or theirs is None or mine == theirs else (Code.REPLACEMENT_TEXT, "other output")
        case Refused(offset, length), Refused(their_offset, their_length):
            if not in_octets or offset is None or their_offset is None:
                return None
            if offset != their_offset:
                return Code.OFFSET, "another offset"
            differs = length is not None and their_length is not None and length != their_length
            return (Code.LENGTH, "another length") if differs else None
        case (Accepted(), Refused()) | (Refused(), Accepted()):
            return Code.UNDECLARED, "another verdict"
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
