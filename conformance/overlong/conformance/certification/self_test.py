"""Tests the judge: the reference must agree with an oracle that uses no bits, and wrong decoders must be caught.

Theory of operation. Order alone shows that the reference is right: characters sorted by their octets are the scalar
values (``reference/order.py``). Counting shows that no wrong verdict escapes: each automaton that differs from the
right one in a single place must answer some string of complete-0 differently. Running the judge shows that it reports
this: on right decoders, on automata with one transition redirected, and on faults of real decoders. All faults here
derive from the automaton or its grammar. No check needs another program, except the last one, which asks two decoders
of this Python through pipes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from overlong.conformance.certification.certify import certify
from overlong.conformance.certification.runner import Runner, no_progress
from overlong.conformance.models.faults import Specimen, transition_faults
from overlong.conformance.models.historical import GRAMMARS, VERDICTS
from overlong.conformance.oracle.compare import compare_batch
from overlong.conformance.oracle.target import Answered
from overlong.conformance.protocol.greeting import Greeting
from overlong.conformance.protocol.observation import VERDICT
from overlong.conformance.protocol.wire import ACCEPTED, ECHO, NOT_SAID, REFUSED, UNITS, VALIDATE, Answers, big_endian
from overlong.conformance.results.model import HOLDS
from overlong.conformance.support.printable import thousands
from overlong.conformance.vectors.pieces import strings_for
from overlong.conformance.vectors.suites import SUITES
from overlong.reference import decode_scalars, dialect, encode_scalars, is_well_formed
from overlong.reference.order import Ranking, characters, scalar_of_rank, scalar_values

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from overlong.conformance.results.run import Run
    from overlong.conformance.vectors.batch import Batch

_APART = 3
"""One in so many redirected transitions is run; all are counted."""
_PART = 256
"""The vectors that a wrong decoder is asked at a time, until it is caught."""
_RANKED = 487
"""One in so many scalar values is ranked singly; prime, so that every last octet occurs."""


Check = tuple[str, list[str]]
"""A statement that holds if nothing failed, with the number of cases; and the failures, one line each."""


class Accepts:
    """A target in this process that gives only verdicts."""

    restarts = 0

    def __init__(self, name: str, accepts: Callable[[bytes], bool]) -> None:
        self.id = name
        self.greeting = Greeting(name, "", "Python", ECHO + VALIDATE, UNITS["utf-32"], "replacement")
        self.notes: list[str] = []
        self._accepts = accepts

    def open(self) -> None:
        """Do nothing: it has no process."""

    def close(self) -> None:
        """Do nothing: it has nothing to end."""

    def observe(self, asked: Iterable[tuple[Batch, str]]) -> Iterator[Answered]:
        """Its verdicts."""
        for batch, operation in asked:
            right = [self._accepts(vector.octets) for vector in batch]
            statuses = b"".join(ACCEPTED if accepted else REFUSED for accepted in right)
            numbers = big_endian("I", [0 if accepted else NOT_SAID for accepted in right])
            yield Answered(batch, operation, Answers.of(statuses, numbers, bytes(len(right)), bytes(len(right)), b""))


def self_test() -> Iterator[Check]:
    """Run every check, one after the other."""
    yield values()
    yield counted_mutants()
    yield right_verdicts()
    yield run_mutants()
    yield historical()
    yield through_pipes()


def values() -> Check:
    """Compare the reference's values with those of the order."""
    ordered = list(characters(dialect().automaton))
    scalars = list(scalar_values())
    failures = list[str]()
    if len(ordered) != len(scalars):
        failures.append(f"{len(ordered)} characters for {len(scalars)} scalar values")
    ranking = Ranking(dialect().automaton)
    for rank in range(0, min(len(ordered), len(scalars)), _RANKED):
        octets, shown = ordered[rank], ordered[rank].hex(" ").upper()
        if ranking.rank(octets) != rank or scalar_of_rank(rank) != scalars[rank]:
            failures.append(f"{shown}: another rank than {rank}")
        if not is_well_formed(octets) or tuple(decode_scalars(octets)) != (scalars[rank],):
            failures.append(f"{shown}: not U+{scalars[rank]:04X}")
        if encode_scalars([scalars[rank]]) != octets:
            failures.append(f"U+{scalars[rank]:04X}: not {shown}")
    cpython = "".join(map(chr, scalars)).encode()
    if b"".join(ordered) != cpython:
        failures.append("the characters in order are not what this Python encodes")
    return (
        f"reference: {thousands(len(ordered))} characters in the order of their octets are the scalar values",
        failures,
    )


def counted_mutants() -> Check:
    """Run complete-0 against every automaton that is wrong in one place."""
    faults = transition_faults(dialect().automaton)
    for octets in strings_for(dialect()):
        faults.take(Specimen(octets))
    left = [f"{len(faults.live)} of them answer every string rightly"] if faults.live else []
    return f"complete-0: tells {thousands(faults.total)} automata that differ once from the right one", left


def right_verdicts() -> Check:
    """Run the judge on right decoders: the automaton, and this Python's."""

    def cpython(octets: bytes) -> bool:
        try:
            octets.decode("utf-8")
        except UnicodeDecodeError:
            return False
        return True

    right = {"the automaton": dialect().automaton.accepts, "this Python": cpython}
    wrongly = [f"{name} is accused" for name, it in right.items() if _judged(name, it).claims[VERDICT] != HOLDS]
    return f"judge: accuses none of {len(right)} right decoders", wrongly


def run_mutants() -> Check:
    """Run the judge on automata with one transition redirected or one state flipped."""
    automaton = dialect().automaton
    places = [(state, octets.least) for state in range(len(automaton)) for octets in automaton.classes]
    wrong = {f"state {state} accepts otherwise": automaton.flipped(state) for state in range(len(automaton))}
    for state, octet in places[::_APART]:
        to = (automaton.table[state][octet] + 1) % len(automaton)
        wrong[f"{octet:02X} leads from state {state} to {to}"] = automaton.redirected(state, octet, to)
    strings = _parts("complete-0")
    missed = [f"not caught: {name}" for name, mutant in wrong.items() if not _caught(mutant.accepts, strings)]
    return f"judge: catches {len(wrong)} automata with one transition or one state wrong", missed


def historical() -> Check:
    """Run the judge on faults of real decoders."""
    wrong = (*GRAMMARS, *VERDICTS)
    strings = _parts("core")
    missed = [
        f"not caught: {each.name}: {each.line}"
        for each in wrong
        if each.accepts is None or not _caught(each.accepts, strings)
    ]
    return f"judge: catches {len(wrong)} classes of faults that real decoders had", missed


def through_pipes() -> Check:
    """Run the whole path: a worker process, the protocol, the runner and a certificate's claims."""
    failures = list[str]()
    suites = ["core", "complete-0"]
    right = certify("cpython", suites=suites, plans=())
    if not right.conformant:
        failures.append("cpython is accused")
    wrong = certify("cpython-surrogatepass", suites=suites, plans=())
    if set(wrong.run.buckets) != {("OV202", "")}:
        failures.append("cpython-surrogatepass is not caught for OV202, surrogate accepted, and nothing else")
    return "harness: a right and a wrong decoder, each in a process of its own, are told apart", failures


def _judged(name: str, accepts: Callable[[bytes], bool]) -> Run:
    """The run of a decoder that gives only verdicts."""
    return Runner(Accepts(name, accepts)).suites([SUITES["core"], SUITES["complete-0"]], no_progress)


def _parts(suite: str) -> list[Batch]:
    """A suite in small parts. They keep their expected answers, because many decoders are asked them."""
    whole = list(SUITES[suite].batches())
    return [
        batch.part(start, min(start + _PART, len(batch))) for batch in whole for start in range(0, len(batch), _PART)
    ]


def _caught(accepts: Callable[[bytes], bool], batches: Sequence[Batch]) -> bool:
    """True if the comparison finds a divergence in a decoder's answers."""
    target = Accepts("wrong", accepts)
    answered = target.observe((batch, VALIDATE) for batch in batches)
    return any(finding.claim == VERDICT for each in answered for finding in compare_batch(each, target.greeting))
