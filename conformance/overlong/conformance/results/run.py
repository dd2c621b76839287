"""The result of one target in some suites: counts, buckets, states of claims, and why a claim was not measured.

Data only: nothing here asks a target.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from overlong.conformance.oracle.apart import aside_in_words
from overlong.conformance.oracle.finding import Bucket, claim_of
from overlong.conformance.protocol.observation import (
    BREAKDOWNS,
    CLAIMS,
    EARLIEST,
    ENCODER,
    FUNCTIONS,
    LIMITS,
    MEMORY,
    POSITION,
    REPLACEMENT,
    SCALARS,
    SEPARATE_VALUES,
    STREAMING,
    VERDICT,
    Code,
)
from overlong.conformance.protocol.wire import (
    AGAIN,
    ASK,
    DECODE,
    ENCODE,
    ENCODE_UTF16,
    ENCODING,
    IN_MEMORY,
    MEASURED,
    OPERATIONS,
    REPLACE,
    REPLACING,
    SEPARATE,
    STREAM_DECODE,
    STREAM_REPLACE,
    UNSUPPORTED,
    VALIDATE,
)
from overlong.conformance.results.model import FAILS, HOLDS, NOT_MEASURED, Drawing, Standing, State, state_of
from overlong.conformance.support.printable import counted, printable, thousands
from overlong.conformance.vectors.expected import WIDTHS
from overlong.conformance.vectors.vector import RFC3629, Profile, puts_out
from overlong.reference import ERROR_MODES

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from overlong.conformance.examination.examine import Explanation
    from overlong.conformance.oracle.divergences import Divergences
    from overlong.conformance.oracle.finding import Finding
    from overlong.conformance.oracle.target import Answered
    from overlong.conformance.protocol.greeting import Greeting
    from overlong.conformance.protocol.observation import Observation
    from overlong.conformance.results.model import Cause
    from overlong.conformance.results.sweeps import SweepRun
    from overlong.conformance.vectors.suites.suite import Suite
    from overlong.conformance.vectors.vector import Vector


_CONSEQUENCES = (Code.OFFSET,)
MEASURED_BY = {
    VERDICT: VALIDATE + DECODE,
    SCALARS: DECODE + REPLACE,
    REPLACEMENT: REPLACE,
    STREAMING: STREAM_DECODE + STREAM_REPLACE + AGAIN,
    EARLIEST: STREAM_DECODE + STREAM_REPLACE,
    ENCODER: ENCODE + ENCODE_UTF16,
    MEMORY: IN_MEMORY,
    SEPARATE_VALUES: SEPARATE,
    FUNCTIONS: ASK,
}


@dataclass
class SuiteRun:
    """The result of one suite."""

    suite: Suite
    operations: str
    done: int = 0
    unsupported: Counter[str] = field(default_factory=Counter[str])
    """For each operation, the vectors that the target did not answer."""
    without_text: int = 0
    """Well-formed vectors for strict decoding that it did not accept: their text is unknown."""
    failing: set[object] = field(default_factory=set[object])
    """The identities of the suite's vectors that have a finding."""
    categories: Counter[str] = field(default_factory=Counter[str])
    """For each category the number of vectors asked."""
    failing_in: Counter[str] = field(default_factory=Counter[str])
    """For each category the number of vectors with a finding."""
    aside: int = 0
    """Vectors that were not asked because of a declared trait."""
    longest: int = 0
    """The most numbers in a text for an encoder."""

    def __post_init__(self) -> None:
        self._lengths, self._octets = hashlib.sha256(), hashlib.sha256()

    @property
    def whole(self) -> bool:
        return self.done + self.aside == self.suite.size

    def asked(self, answered: Answered) -> None:
        """Count the answers, and hash the vectors: in columns, so that the division into batches does not matter."""
        if answered.operation == self.operations[0]:
            self._lengths.update(answered.batch.lengths_on_wire(answered.operation))
            self._octets.update(answered.batch.payloads(answered.operation)[1])
        if answered.operation == self.operations[-1]:
            self.done += len(answered.batch)
            self.categories[answered.batch.category] += len(answered.batch)
            if answered.operation in ENCODING:
                self.longest = max(self.longest, max(answered.batch.lengths) // WIDTHS[answered.batch.category])
        unsupported = answered.answers.statuses.count(UNSUPPORTED) - len(answered.faults)
        if unsupported:
            self.unsupported[answered.operation] += unsupported

    def failed(self, vector: Vector) -> None:
        """Count a vector that has a finding, once."""
        if not self.has_failed(vector):
            self.failing.add(vector.apart)
            self.failing_in[vector.category] += 1

    def has_failed(self, vector: Vector) -> bool:
        """True if the vector has a finding."""
        return vector.apart in self.failing

    def diverged(self, found: Divergences) -> None:
        """Count the vectors of some divergences once, and those of unknown text."""
        before = len(self.failing)
        self.failing.update(found.octets)
        self.failing_in[found.batch.category] += len(self.failing) - before
        if found.operation == DECODE:
            refuting = (count for (code, _), count in found.counts.items() if claim_of(code, DECODE) == VERDICT)
            self.without_text += sum(refuting)

    @property
    def vectors_digest(self) -> str:
        """Digest of the vectors asked."""
        return hashlib.sha256(self._lengths.digest() + self._octets.digest()).hexdigest()


@dataclass
class Run:
    """The result of one target in some suites."""

    target: str
    greeting: Greeting
    suites: list[SuiteRun] = field(default_factory=list[SuiteRun])
    buckets: dict[tuple[str, str], Bucket] = field(default_factory=dict[tuple[str, str], Bucket])
    """By code and place; once causes are known (:meth:`settle`) by those of each cause's example."""
    claims: dict[str, str] = field(default_factory=dict[str, str])
    notes: list[str] = field(default_factory=list[str])
    restarts: int = 0
    isolation: str = ""
    """The kind of the target's isolation; empty if unknown."""
    seconds: float = 0.0
    incomplete: str = ""
    """Why the run ended early; empty if it did not."""
    profile: Profile = RFC3629
    swept: SweepRun | None = None
    """The sweeps' results; None if there were none."""
    refusals: int = 0
    """The refusals by V and D, if the operation gives an offset for some."""
    placed: int = 0
    """The number of them with an offset."""
    sign: str = ""
    """A sentence that explains all divergences by a fault of the adapter; empty if nothing hints at one."""
    core_answers: dict[str, set[Observation]] = field(default_factory=dict[str, "set[Observation]"])
    """For V and D, at most two different answers to the core; refusals count as one."""
    left_out: str = ""
    """What the next tier of sweeps would add, and its time: printed, and kept nowhere."""
    behaves_like: str = ""
    """``rfc2279 (exact)``: the dialect learned from a target that fails the verdict; empty if none was."""
    automaton: Drawing | None = None
    """Its learned automaton, if any."""

    @property
    def measured_by(self) -> Profile:
        """The profile, completed by the target's greeting."""
        return self.profile.as_said(self.greeting)

    def __post_init__(self) -> None:
        rare = {SEPARATE_VALUES, FUNCTIONS}
        left_out = {LIMITS} | {each for each in rare if MEASURED_BY[each] not in self.greeting.operations}
        self.claims = {claim: NOT_MEASURED for claim in CLAIMS if claim not in left_out} | self.claims
        self._findings = hashlib.sha256()
        self._of: dict[tuple[str, str], Bucket] = {}
        self._explained: list[tuple[Explanation, Bucket]] = []

    def settle(self, causes: Iterable[Bucket], explained: Iterable[tuple[Explanation, Bucket]] = ()) -> None:
        """Take the buckets of causes for those of codes and places.

        Args:
            causes: all of them. If two have one code and place, their ids tell them apart.
            explained: those that the examiner found, with what it found.
        """
        self._explained, self._of, self.buckets = list(explained), {}, {}
        for bucket in causes:
            key = bucket.example.bucket
            if key in self.buckets:
                key = key[0], bucket.why.id if bucket.why is not None else f"{key[1]} (not examined)"
            self.buckets[key] = bucket
            for kind in bucket.kinds:
                self._of.setdefault(kind, bucket)

    def bucket_of(self, kind: tuple[str, str]) -> Bucket | None:
        """The first bucket that has divergences of a code and place."""
        return self._of.get(kind) or self.buckets.get(kind)

    @property
    def explanations(self) -> list[Explanation]:
        """What the examiner found."""
        return [explanation for explanation, _ in self._explained]

    def explain(self, explanation: Explanation, bucket: Bucket) -> Bucket:
        """Add the bucket of a further cause, or what it has of a known one; return the bucket that has it now."""
        kept = add_cause(self._explained, explanation, bucket)
        new = [bucket] if kept is bucket else []
        self.settle([*self.buckets.values(), *new], self._explained)
        return kept

    def explained_by(self, explanation: Explanation | None) -> Bucket | None:
        """The bucket of an explanation."""
        return next((bucket for each, bucket in self._explained if each is explanation), None)

    def cause_of(self, finding: Finding) -> Bucket | None:
        """The bucket that predicts a further finding, or has others of its code and place; None if there is none."""
        predicted = (bucket for explanation, bucket in self._explained if explanation.joins(finding))
        return next(predicted, None) or self.bucket_of(finding.bucket)

    def add(self, finding: Finding) -> None:
        """Count a finding, in its bucket and in the digest."""
        self.buckets.setdefault(finding.bucket, Bucket(finding)).add(finding)
        self._findings.update(finding.line.encode())

    def diverged(self, found: Divergences) -> None:
        """Count many, each like :meth:`add`."""
        found.count_in(self.buckets)
        self._findings.update(found.digested())

    @property
    def findings_digest(self) -> str:
        """Digest of all findings in order: with the digests of the vectors it fixes the target's answers."""
        return self._findings.hexdigest()

    @property
    def breaks_down(self) -> bool:
        """True if it has a finding that the target failed: a slow request costs a restart, and is none."""
        return any(code in BREAKDOWNS for bucket in self.buckets.values() for code, _ in bucket.kinds)

    @property
    def codes(self) -> set[str]:
        """The codes of all divergences, without the offsets that a cause has for consequences."""
        causes = [(bucket.example.code, code) for bucket in self.buckets.values() for code, _ in bucket.kinds]
        return {code for cause, code in causes if code == cause or code not in _CONSEQUENCES}

    @property
    def aside(self) -> str:
        """The vectors set aside, in words; empty if there are none."""
        return aside_in_words(self.greeting.traits, (part.aside for part in self.suites))

    @property
    def vectors(self) -> int:
        return sum(each.done for each in self.suites)

    @property
    def answers(self) -> int:
        """Answers of all suites: one for each vector and operation."""
        return sum(each.done * len(each.operations) for each in self.suites)

    @property
    def unsupported(self) -> Counter[str]:
        """For each operation, the vectors that the target did not answer."""
        return sum((each.unsupported for each in self.suites), Counter[str]())

    @property
    def without_text(self) -> int:
        """Well-formed vectors for strict decoding that it did not accept."""
        return sum(each.without_text for each in self.suites)

    @property
    def categories(self) -> dict[str, tuple[int, int]]:
        """For each category, over all suites, the number of vectors asked, and the number with a finding."""
        asked = sum((each.categories for each in self.suites), Counter[str]())
        failing = sum((each.failing_in for each in self.suites), Counter[str]())
        return {category: (count, failing[category]) for category, count in asked.items()}

    @property
    def conformant(self) -> bool:
        """True if something was measured, all of it holds, and the run is complete."""
        return self.state is State.CONFORMS

    @property
    def state(self) -> State:
        """The state of the run, ignoring expected deviations."""
        return self.state_if(as_expected=False)

    def state_if(self, *, as_expected: bool) -> State:
        """The state of the run; ``as_expected``: there are divergences, and all are expected."""
        held = HOLDS in self.claims.values()
        return state_of(self.failing, held=held, incomplete=bool(self.incomplete), as_expected=as_expected)

    @property
    def failing(self) -> tuple[str, ...]:
        """The claims that fail, in the order of a report."""
        return tuple(claim for claim, state in self.claims.items() if state == FAILS)

    @property
    def ordered_buckets(self) -> list[Bucket]:
        """Faults of memory first: what leaves its memory may answer anything; then by code and example."""
        return sorted(self.buckets.values(), key=_grave_first)


def _grave_first(bucket: Bucket) -> tuple[bool, str, tuple[bool, int, bytes, str, int, bool, int, str]]:
    return bucket.example.claim != MEMORY, bucket.example.code, bucket.example.order


def offered(asks: str, greeting: Greeting) -> str:
    """The operations of a list that a target offers."""
    return "".join(operation for operation in MEASURED if operation in greeting.operations and operation in asks)


def offered_in(suite: Suite, greeting: Greeting) -> str:
    """The operations of a suite that a target offers and can be judged by."""
    if suite.proves == REPLACEMENT and not puts_out(greeting.error_mode):  # it shows nothing else
        return ""
    return offered(suite.asks, greeting)


def measuring(claim: str, error_mode: str) -> set[str]:
    """The operations that can show a claim for a target with that error mode; others may refute it."""
    operations = set(MEASURED_BY[claim])
    return operations if claim == SCALARS or puts_out(error_mode) else operations - set(REPLACING)


def shown_by(answered: set[str], error_mode: str) -> list[str]:
    """The claims that hold if nothing refutes them, by the fully answered operations; without offsets."""
    return [claim for claim in MEASURED_BY if answered & measuring(claim, error_mode)]


def add_cause(found: list[tuple[Explanation, Bucket]], explanation: Explanation, bucket: Bucket) -> Bucket:
    """Add a cause and its bucket, or what these have of a known cause to that; return the bucket that has it."""
    among = explanation.among(each for each, _ in found)
    if among is None:
        found.append((explanation, bucket))
        return bucket
    place, united = among
    known = found[place][1]
    known.join(bucket)
    known.why = united.why
    found[place] = united, known
    return known


def details_of(
    target: Mapping[str, Any], claims: Mapping[str, str], suites: Iterable[Mapping[str, Any]], causes: Iterable[Cause]
) -> dict[str, str]:
    """The remark on each claim that has one.

    Args:
        target: its record.
        claims: each claim and its result; only those of :data:`~overlong.conformance.protocol.observation.CLAIMS` have
            remarks.
        suites: the records of the suites that the target was asked.
        causes: of its divergences.
    """
    operations, error_mode = target["operations"], target["error_mode"]
    unsupported: Counter[str] = Counter()
    without_text, longest = 0, dict[str, int]()
    for suite in suites:
        for operation in suite["operations"]:
            longest[operation] = max(suite.get("longest", 0), longest.get(operation, 0))
        unsupported.update(suite["unsupported"])
        without_text += suite.get("without_text", 0)
    refuted = [(cause.claim, cause.standing is Standing.EXPECTED) for cause in causes]

    def detail(claim: str, state: str) -> str:
        if state == NOT_MEASURED:
            why = why_not(claim, operations, error_mode, unsupported, without_text)
            return f"not measured: {why}" if why else ""
        if (claim, True) in refuted and (claim, False) not in refuted:
            return "as expected"
        if claim == REPLACEMENT:
            if not puts_out(error_mode):
                return f"of its own: {printable(error_mode)}"
            mode = ERROR_MODES[error_mode]
            return f"{mode.name}: {mode.line}"
        return _longest(longest) if claim == ENCODER and state == HOLDS else ""

    said = {claim: detail(claim, state) for claim, state in claims.items()}
    return {claim: words for claim, words in said.items() if words}


def _longest(longest: Mapping[str, int]) -> str:
    """``in texts of up to 65 557 code points, 65 557 code units``; empty if it is not known.

    ``longest``: for each operation of an encoder, the most numbers in a text that it was given.
    """
    kinds = ((ENCODE, "code point"), (ENCODE_UTF16, "code unit"))
    most = [counted(longest[operation], what) for operation, what in kinds if longest.get(operation)]
    return f"in texts of up to {', '.join(most)}" if most else ""


def is_not_offered(claim: str, state: str, operations: str) -> bool:
    """True if a claim was not measured only because the target does not offer its operations, which is usual."""
    if state != NOT_MEASURED or claim not in {POSITION, *MEASURED_BY}:
        return False
    return claim == POSITION or not set(operations) & set(MEASURED_BY[claim])


def why_not(claim: str, operations: str, error_mode: str, unsupported: Mapping[str, int], without_text: int = 0) -> str:
    """The reason why a claim was not measured; empty if this version does not know the claim."""
    offered = set(operations)
    if claim == POSITION:
        return "it does not say where" if offered & set("VD") else "it refuses nothing"
    if claim not in MEASURED_BY:
        return ""
    if claim == SCALARS and without_text:
        return f"there is no text of {counted(without_text, 'well-formed vector')} that it does not accept"
    if offered & set(MEASURED_BY[claim]) and not offered & measuring(claim, error_mode):
        return f"this version does not know its error mode, {printable(error_mode)}"
    if left := {op: n for op, n in unsupported.items() if op in MEASURED_BY[claim]}:
        counts = ", ".join(f"{thousands(n)} with {operation}" for operation, n in left.items())
        return f"it answered that vectors are not supported ({counts})"
    if not offered & set(MEASURED_BY[claim]):
        first = MEASURED_BY[claim][0]
        return f"it does not offer {first} ({OPERATIONS[first]})"
    return "no suite that tests it was run"
