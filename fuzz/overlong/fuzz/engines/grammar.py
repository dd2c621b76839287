"""The engine of numbered inputs of the grammar: it asks all of them whole, and a few by every other operation. Targets
that do not decode, encoders and functions that answer questions about a text, get texts by number instead.

A text has mostly one kind of character, and a few numbers of other kinds in it: others fail only after so many numbers,
or at so many. Lengths are spread evenly over powers of two. Of the texts that questions are about, one in four is an
input of the grammar, which may be ill-formed.
"""

from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import TYPE_CHECKING

from overlong.conformance.oracle.apart import AGAIN
from overlong.conformance.oracle.compare import expected_of
from overlong.conformance.oracle.finding import Finding
from overlong.conformance.oracle.target import KINDS, LEFT_OUT, ODD
from overlong.conformance.protocol.observation import REPLACEMENT, SCALARS, STREAMING, VERDICT
from overlong.conformance.protocol.wire import ENCODE_UTF16, ENCODING, GUARDED, big_endian
from overlong.conformance.support.printable import printable
from overlong.conformance.sweep.describing import AFTER, AMONG, AT_PLACE
from overlong.conformance.vectors.expected import CATEGORY_OF, Asked, in_units, units_of
from overlong.conformance.vectors.suites.encoding import BEYOND, EDGES, LETTERS
from overlong.conformance.vectors.vector import Vector
from overlong.fuzz.engines.executor import FAILED, RIGHT, Executor
from overlong.fuzz.engines.job import Divergence, Fingerprint, UnitResult
from overlong.fuzz.engines.probe import SAMPLE, Probe, Sampled, differences, sampled
from overlong.fuzz.generated import BLOCK, Generated
from overlong.reference.order import CODE_POINTS, LEAD_SURROGATES, SURROGATES, TRAIL_SURROGATES
from overlong.reference.questions import QUESTIONS
from overlong.reference.reading import FORMS, read

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from overlong.conformance.vectors.vector import Profile
    from overlong.fuzz.engines.executor import InputPlace
    from overlong.fuzz.engines.job import CampaignJob

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
        self._result = UnitResult(range(0))

    def run(self, unit: range) -> UnitResult:
        """Ask the inputs of a unit.

        Raises:
            TargetError: a target cannot be asked (any more).
            KeyboardInterrupt: the user interrupts; nothing of the unit is kept.
        """
        self._result = UnitResult(unit)
        try:
            targets = self._opened()
            first, end = unit.start, unit.stop
            step = PIECE[all(target.in_process is not None for target in targets)]
            while first < end:
                following = min((first // BLOCK + step) * BLOCK, end)
                if targets:
                    self._take(first, following)
                if self._beside:
                    ask_beside(self._generated, self._beside, self._result, first, following)
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
        kinds: list[bytes] = []
        for number, target in enumerate(self._targets):
            octets, of_target = target.kinds(first, end - first)
            kinds.append(of_target)
            left_out = of_target.count(LEFT_OUT)
            self._result.asked[target.id, target.operation] += end - first - left_out
            self._result.octets += octets if number == 0 else 0
            if left_out:  # without a number: all units say the same, and it is reported once
                shown = printable(target.id)
                self._result.note(
                    f"{shown}: not tested with every input, as it dies of others like them, or hangs: see campaign.json"
                )
            for block, places in target.places(first, of_target):
                self._diverge(number, block, places)
        for block in range(first // BLOCK, (end - 1) // BLOCK + 1):
            low, high = max(block * BLOCK, first), min((block + 1) * BLOCK, end)
            if _is_of(block, FEATURES):
                self._result.reach(*self._generated.columns(low, high - low), self._job.profile.dialect)
            sample = [
                number
                for number in range(low, min(block * BLOCK + SAMPLE, high))
                if not any(each and each[number - first] in FAILED for each in kinds)
            ]
            wrong = [{number for number in sample if each and each[number - first] not in RIGHT} for each in kinds]
            if sample:
                self._sample(block, sample, wrong)

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
        code = AT_PLACE if target.in_process is not None and place.kind not in FAILED else AMONG
        detail = "", f"that is right; among other inputs: {said}"
        return Finding(vector, target.operation, code, expected, observed, said, detail)

    def _sample(self, block: int, indices: Sequence[int], wrong: Sequence[set[int]]) -> None:
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
        fails = kind in FAILED
        others = sorted(some[SHORTEST[fails] :], key=lambda place: (place.key * ODD + block * MIXED) % (1 << 64))
        chosen += some[: SHORTEST[fails]] + others[: OTHERS[fails]]
    return chosen


_AT_A_TIME = 128
"""The texts of a batch; blocks are whole batches."""
_BITS = 11
"""The longest texts have 2^11 numbers and as many again, less one."""
_ODD = 3
"""The most numbers of another kind that are put into a text."""
_GENERATED = 4
"""One text in so many is an input of the grammar, for questions."""
_LATIN = (0x61, 0xE9)
"""Characters in place of those that a form cannot write."""
_NEAR = (-1, 0, 0, 1)
"""From the end of a character to an argument."""
_SMALL = 6
"""One argument is below it: room for a character, or less."""


def text_of(seed: int, number: int) -> list[int]:
    """The numbers of a text. No lead surrogate stands before a trail: in strings of UTF-16 the two are a pair."""
    random = Random(f"{seed} {number}")  # noqa: S311 (no secret)
    bits = random.randrange(_BITS + 1)
    length = random.randrange(1 << bits, 2 << bits)
    mixed = not random.randrange(4)
    found = random.choices(LETTERS, k=length) if mixed else [random.choice(LETTERS)] * length
    for _ in range(random.randrange(_ODD + 1)):
        found[random.choice((0, length - 1, random.randrange(length)))] = random.choice(
            (
                *(random.choice(EDGES), random.choice(LETTERS), random.randrange(CODE_POINTS.stop)),
                *(random.choice(SURROGATES), random.choice(BEYOND)),
            )
        )
    for place in range(1, length):
        if found[place - 1] in LEAD_SURROGATES and found[place] in TRAIL_SURROGATES:
            found[place] = found[place - 1]
    return found


def vector_of_text(numbers: Sequence[int], operation: str) -> Vector:
    """A text as the input for an operation; in UTF-16 without numbers beyond 10FFFF."""
    if operation == ENCODE_UTF16:
        octets = in_units([number for number in numbers if number in CODE_POINTS])
    else:
        octets = big_endian("I", numbers)
    return Vector(CATEGORY_OF[operation], octets)


def questions(generated: Generated, number: int, name: str) -> Iterator[Vector]:
    """What a question asks about the text of a number: a few arguments, at ends of characters and beside them."""
    random, question = Random(f"{generated.seed} {number} {name}"), QUESTIONS[name]  # noqa: S311
    if question.given == "utf-8" and not number % _GENERATED:
        octets = generated.string(number)
    else:
        form = FORMS[question.given]
        scalars = [each for each in text_of(generated.seed, number) if each in CODE_POINTS and each not in SURROGATES]
        octets = "".join(chr(each if form.write(each) else random.choice(_LATIN)) for each in scalars).encode()
    every = question.asked(octets)
    if not every:
        return
    ends = units_of(question, read(octets))
    near = [random.choice((*ends[-2:], random.choice(ends))) + random.choice(_NEAR) for _ in range(2)]
    for argument in dict.fromkeys((random.randrange(_SMALL), *near, random.choice(every))):
        if argument in every:
            yield Vector(name, Asked(question, argument, octets).payload)


def _inputs(generated: Generated, probe: Probe, start: int, end: int) -> Iterator[tuple[str, list[tuple[int, Vector]]]]:
    """The operations of a target, with the inputs for each and their numbers."""
    some = range(start, end)
    for operation in probe.beside:
        if operation in ENCODING:
            yield operation, [(number, vector_of_text(text_of(generated.seed, number), operation)) for number in some]
        else:
            for name in probe.greeting.functions:
                yield operation, [(number, each) for number in some for each in questions(generated, number, name)]


def ask_beside(generated: Generated, probes: Sequence[Probe], result: UnitResult, start: int, end: int) -> None:
    """Ask targets about the texts of a campaign before the end, by every operation.

    Raises:
        TargetError: a target cannot be asked (any more).
    """
    while start < end:
        following = min((start // _AT_A_TIME + 1) * _AT_A_TIME, end)
        for probe in probes:
            for operation, inputs in _inputs(generated, probe, start, following):
                vectors = [each for _, each in inputs]
                result.asked[probe.id, operation] += len(vectors)
                result.octets += sum(len(each.octets) for each in vectors)
                for (number, _), (_, finding) in zip(inputs, probe.ask(vectors, operation), strict=True):
                    if finding is not None:
                        result.add(finding, probe.id, number, start // BLOCK)
        start = following
