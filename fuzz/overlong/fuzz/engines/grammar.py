"""The engine of numbered inputs of the grammar: it asks all of them whole, and a few by every other operation."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from overlong.conformance.oracle.apart import AGAIN
from overlong.conformance.oracle.compare import expected_of
from overlong.conformance.oracle.finding import Finding
from overlong.conformance.oracle.target import CRASHED, KINDS, MISBEHAVED, ODD, TIMED_OUT
from overlong.conformance.protocol.observation import REPLACEMENT, SCALARS, STREAMING, VERDICT
from overlong.conformance.protocol.wire import GUARDED
from overlong.conformance.support.printable import printable
from overlong.conformance.sweep.describing import AFTER, AMONG, AT_PLACE
from overlong.conformance.vectors.vector import Vector
from overlong.fuzz.engines import beside
from overlong.fuzz.engines.result import UnitResult
from overlong.fuzz.execution.differences import differences
from overlong.fuzz.execution.executor import Executor
from overlong.fuzz.execution.job import BLOCK, Divergence, Fingerprint, WorkUnit
from overlong.fuzz.execution.probe import SAMPLE, Probe, Sampled, sampled
from overlong.fuzz.generation.generated import Generated

if TYPE_CHECKING:
    from collections.abc import Sequence

    from overlong.conformance.vectors.vector import Profile
    from overlong.fuzz.execution.executor import InputPlace, SeenInputs
    from overlong.fuzz.execution.job import CampaignJob

PIECE = {True: 64, False: 16}
"""The blocks to ask at a time, if all targets are called in their own processes; and if not."""
OFTEN, EVERY = 64, {True: 64, False: 16}
"""The first blocks are sampled; then one block in a number, for functions called in their own process and for others. A
sample takes longer than the rest of a block."""
FEATURES = 16
"""After the first blocks, one in this number is read for the features that it reaches."""
SHORTEST, OTHERS = {True: 2, False: 8}, {True: 1, False: 4}
"""The places to examine in a block for each kind: inputs that end the process or exceed the time limit; others."""
MIXED = 0xBF58476D1CE4E5B9
"""Any odd number would do (Steele, Lea and Flood, Fast splittable pseudorandom number generators, 2014)."""
_BEFORE = 64
"""The inputs to ask before one that is answered rightly by itself."""
_LOOKS = 4
"""The inputs of a block and kind, answered rightly by themselves, to ask after others."""
_FAILED = {CRASHED, TIMED_OUT, MISBEHAVED}

_SAME_AS_WHOLE = {VERDICT, SCALARS, REPLACEMENT, STREAMING}
"""Claims that an input with a wrong whole answer refutes for the same cause."""


class GrammarEngine:
    """Asks all targets of a job. The result depends on the job and the blocks, not on their division into units."""

    def __init__(self, job: CampaignJob) -> None:
        """Start nothing yet."""
        self._job = job
        self._generated = Generated(job.seed, job.seeds, job.profile.dialect)
        self._targets: list[Executor] = []
        self._beside: list[Probe] = []
        self._result = UnitResult(WorkUnit(0, 0))

    def run(self, unit: WorkUnit) -> UnitResult:
        """Ask the inputs of a unit.

        Raises:
            TargetError: a target cannot be asked (any more).
            KeyboardInterrupt: the user interrupts; nothing of the unit is kept.
        """
        self._result = UnitResult(unit)
        try:
            targets = self._opened()
            first, end = unit.first, unit.first + unit.count
            step = PIECE[all(target.in_process is not None for target in targets)]
            while first < end:
                following = min((first // BLOCK + step) * BLOCK, end)
                if targets:
                    self._take(first, following)
                if self._beside:
                    beside.ask(self._generated, self._beside, self._result, first, following)
                first = following
        except BaseException:
            self.close()  # answers to abandoned requests may be under way
            raise
        return self._result

    def close(self) -> None:
        """End the targets' processes."""
        opened: list[Executor | Probe] = [*self._targets, *self._beside]
        self._targets, self._beside = [], []
        for target in opened:
            target.close()

    def _opened(self) -> list[Executor]:
        if not self._targets and not self._beside:
            for target in self._job.targets:
                probe = Probe(target, self._job.limits, self._job.profile)
                if probe.beside and not probe.operations:
                    self._beside.append(probe)
                else:
                    self._targets.append(Executor(self._job, probe, self._generated))
        return self._targets

    def _take(self, first: int, end: int) -> None:
        """Ask the inputs before the end."""
        seen: list[SeenInputs] = []
        for number, target in enumerate(self._targets):
            came = target.run(first, end - first)
            seen.append(came)
            self._result.asked[target.id, target.operation] += came.executions
            self._result.octets += came.octets if number == 0 else 0
            if came.left_out:  # without a number: all units say the same, and it is reported once
                shown = printable(target.id)
                self._result.note(
                    f"{shown}: not tested with every input, as it dies of others like them, or hangs: see campaign.json"
                )
            for block, places in came.places.items():
                self._diverge(number, block, places)
        for block in range(first // BLOCK, (end - 1) // BLOCK + 1):
            low, high = max(block * BLOCK, first), min((block + 1) * BLOCK, end)
            if _is_of(block, FEATURES):
                self._result.reach(*self._generated.columns(low, high - low), self._job.profile.dialect)
            failed = frozenset[int]().union(*(each.failed for each in seen))
            sample = [number for number in range(low, min(block * BLOCK + SAMPLE, high)) if number not in failed]
            if sample:
                self._sample(block, sample, [each.wrong for each in seen])

    def _fingerprint(self, number: int, kind: int, key: int) -> Fingerprint:
        target = self._targets[number]
        return Fingerprint(target.id, target.operation, KINDS[kind], target.words(key))

    def _diverge(self, number: int, block: int, places: Sequence[InputPlace]) -> None:
        """Count places, and ask again the first input that shows each."""
        target = self._targets[number]
        for place in places:
            self._result.counts[self._fingerprint(number, place.kind, place.key)] += place.count
        new: list[tuple[InputPlace, Fingerprint]] = []
        for place in _chosen(block, places):
            fingerprint = self._fingerprint(number, place.kind, place.key)
            if self._result.is_new(fingerprint, block):
                new.append((place, fingerprint))
        if not new:
            return
        vectors = [Vector("fuzz", self._generated.string(place.least)) for place, _ in new]
        said = target.probe.ask(vectors, target.operation)
        looks: dict[int, list[Finding]] = {}
        for (place, fingerprint), vector, (_, finding) in zip(new, vectors, said, strict=True):
            if finding is not None:
                shown = finding
            elif len(looked := looks.setdefault(place.kind, [])) < _LOOKS:
                looked.append(shown := self._not_alone(target, vector, place))
            else:  # a decoder that depends on earlier calls does so for all inputs
                shown = looked[-1]
            self._result.keep(Divergence(target.id, shown, fingerprint, place.least), block)

    def _not_alone(self, target: Executor, vector: Vector, place: InputPlace) -> Finding:
        """The fault of an answer that is right when its input is asked alone: its dependence on others."""
        vector = replace(vector, profile=target.probe.profile)
        expected, said = expected_of(vector, target.operation), KINDS[place.kind]
        answers = target.probe.ask([vector] * AGAIN, target.operation)
        if (other := next((finding for _, finding in answers if finding is not None), None)) is not None:
            return replace(other, code=AMONG, place="", detail=("each time", "right when it was tested again"))
        first = max(place.least // BLOCK * BLOCK, place.least - _BEFORE)
        before = [Vector("fuzz", self._generated.string(index)) for index in range(first, place.least)]
        observed, behind = target.probe.ask([*before, vector], target.operation)[-1]
        if behind is not None:
            words = f"right by itself; tested after {len(before)} other inputs"
            return replace(behind, code=AFTER, place=said, detail=("", words))
        code = AT_PLACE if target.in_process is not None and place.kind not in _FAILED else AMONG
        detail = "", f"that is right; among other inputs: {said}"
        return Finding(vector, target.operation, code, expected, observed, said, detail)

    def _sample(self, block: int, indices: Sequence[int], wrong: Sequence[frozenset[int]]) -> None:
        """Ask inputs by every other operation."""
        said: list[tuple[str, list[Sampled]]] = []
        compared = len(self._targets) > 1
        for number, target in enumerate(self._targets):
            if not _is_of(block, EVERY[target.in_process is not None]):
                continue
            operations = (
                target.operation if compared and target.operation not in target.others else ""
            ) + target.others
            answers = list(sampled(target.probe, self._generated, indices, operations))
            self._result.asked.update((target.id, each.operation) for each in answers)
            said.append((target.id, answers))
            for each in answers:
                if each.finding is not None and each.operation in target.others:
                    self._sampled(target, block, each, is_wrong=each.number in wrong[number])
        if len(said) > 1:
            profiles = {target.id: target.probe.profile for target in self._targets}
            self._compare(block, [(name, profiles[name], answers) for name, answers in said])

    def _sampled(self, target: Executor, block: int, each: Sampled, *, is_wrong: bool) -> None:
        """Add a finding, unless the whole answer to its input is wrong: then the cause is known."""
        finding = each.finding
        assert finding is not None
        if is_wrong and finding.claim in _SAME_AS_WHOLE and each.operation != GUARDED:
            return
        fingerprint = Fingerprint(target.id, each.operation, finding.code, finding.place)
        self._result.counts[fingerprint] += 1
        self._result.keep(Divergence(target.id, finding, fingerprint, each.number), block)

    def _compare(self, block: int, said: Sequence[tuple[str, Profile, Sequence[Sampled]]]) -> None:
        """Add differences between targets that are no fault of either."""
        for each in differences(said, self._result.counts):
            self._result.keep(each, block)


def _is_of(block: int, every: int) -> bool:
    """True for the first blocks, and for one in a number of later ones."""
    return block < OFTEN or not block % every


def _chosen(block: int, places: Sequence[InputPlace]) -> list[InputPlace]:
    """The inputs of a block to examine: of each kind the shortest, and some others in turn.

    A decoder that is wrong everywhere has hundreds of places; asking all in every block would outlast the block.
    """
    chosen: list[InputPlace] = []
    for kind in sorted({place.kind for place in places}):
        some = sorted((place for place in places if place.kind == kind), key=lambda place: (place.length, place.key))
        fails = kind in _FAILED
        others = sorted(some[SHORTEST[fails] :], key=lambda place: (place.key * ODD + block * MIXED) % (1 << 64))
        chosen += some[: SHORTEST[fails]] + others[: OTHERS[fails]]
    return chosen
