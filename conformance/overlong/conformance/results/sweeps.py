"""The result of a sweep: of each shard and each plan its counts, and the divergences as a few sets of strings."""

from __future__ import annotations

import hashlib
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from overlong.conformance.oracle.apart import ALONE
from overlong.conformance.oracle.target import LEFT_OUT, NO_DIVERGENCE, NOT_SUPPORTED
from overlong.conformance.protocol.observation import VERDICT
from overlong.conformance.results.model import State, state_of
from overlong.conformance.support.printable import counted, spaced_hex, thousands
from overlong.reference import DEFECTS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from overlong.conformance.examination.examine import Explanation
    from overlong.conformance.oracle.finding import Finding
    from overlong.conformance.oracle.target import Fault
    from overlong.conformance.protocol.greeting import Greeting
    from overlong.conformance.targets.identity import Identity
    from overlong.conformance.vectors.vector import Profile


@dataclass(frozen=True, order=True)
class Shard:
    """A range of strings of one of a plan's grids."""

    plan: str
    """The plan's name for ``plan_named``: ``exhaustive-4``."""
    grid: int
    first: int
    count: int

    @property
    def key(self) -> str:
        """Its name."""
        return f"{self.plan}/{self.grid}/{self.first}+{self.count}"


@dataclass(frozen=True)
class ShardResult:
    """The result of a shard."""

    shard: Shard
    strings: int
    """The number of strings asked: all except those left out."""
    octets: int
    """The octets of those."""
    well_formed: int
    """The number of well-formed strings, counted by the oracle."""
    accepted: int
    """The number of strings that the target accepted."""
    checksum: int
    """Checksum of the target's answers: see :func:`answer_code`. A string that ended the target adds nothing."""
    kinds: bytes = b""
    """One octet for each string of the shard, compressed by zlib; empty if all agree."""
    faults: tuple[Fault, ...] = ()
    """The first few of each kind."""
    seconds: float = 0.0
    """Seconds of the target and its driver, by the clock; not part of any digest."""
    counts: dict[int, int] = field(default_factory=dict[int, int])
    """The number of strings of each kind, except agreement; this and the next are there once they are counted."""
    kinds_digest: str = ""
    """SHA-256 of the uncompressed kinds; empty if all agree."""


class Account(NamedTuple):
    """The sums over some strings."""

    strings: int
    octets: int
    """The octets of the judged strings."""
    well_formed: int
    """The number of them that the automaton accepts."""


NOTHING = Account(0, 0, 0)


@dataclass(frozen=True)
class Where:
    """Where a string stands in a plan: enough to ask it again."""

    grid: int
    index: int
    """Its number in the grid."""
    earlier: bytes | None = None
    """The input right before it; None if there is none."""


@dataclass(frozen=True)
class DivergentSet:
    """Strings of one kind whose first error has one defect."""

    kind: int
    """A code of ``KINDS``."""
    count: int
    """Strings."""
    example: bytes
    """The shortlex-least of them."""
    where: Where
    """Where the example lies; of equal strings, the first."""
    defect: str = ""
    """The code of the defect with which all of them first go wrong: ``OV202``; empty if they have none in common."""
    dialects: tuple[str, ...] = ()
    """The dialects that accept just what the target does, as far as the plan's strings go."""
    drawn: tuple[tuple[bytes, Where], ...] = ()
    """Some of the strings, drawn by chance: there may be several causes for one set."""
    words: str = ""
    """What the strings are, if it is not their first error that they share."""

    @property
    def strings(self) -> str:
        """The strings in words: ``strings whose first error is OV202 (surrogate), such as ED A0 80``."""
        if self.words:
            return self.words
        of_defect = f" whose first error is {self.defect} ({DEFECTS[self.defect].title})" if self.defect else ""
        return f"strings{of_defect}, such as {spaced_hex(self.example)}"


def as_dialects(description: str, dialects: Sequence[str]) -> str:
    """A description that ends with the dialects, if there are any: ``…, as wtf-8 or lax-surrogates does``."""
    if not dialects:
        return description
    *some, last = dialects
    return f"{description}, as {', '.join(some)} or {last} does" if some else f"{description}, as {last} does"


@dataclass(frozen=True)
class SweepBucket:
    """Strings of a plan that diverge alike, as one."""

    plan: str
    found: DivergentSet
    finding: Finding
    """The fault of the least of them."""
    why: Explanation | None = None
    """What the examiner found; the sets with one explanation are one cause. None if it was not examined."""

    @property
    def words(self) -> str:
        """When its strings diverge; which strings these are, if it was not examined."""
        return self.why.sentence if self.why is not None else self.found.strings

    @property
    def cause(self) -> Finding | None:
        """What shows the cause, if the set is a consequence: its claim is another one."""
        cause = self.why.finding if self.why is not None else None
        return cause if cause is not None and cause.claim != self.finding.claim else None

    @property
    def alone(self) -> bool:
        """Whether it shows when the example is tested by itself."""
        return self.finding.detail[1] in ("", ALONE)


@dataclass
class PlanRun:
    """The result of one plan."""

    plan: str
    """The plan, as ``plan_named`` takes it."""
    shows: str
    """What it shows, in words."""
    expected: Account
    """The sums over its strings, by counting alone."""
    seen: Account = NOTHING
    """What those come to that were asked."""
    accepted: int = 0
    kinds: Counter[int] = field(default_factory=Counter[int])
    """How many strings of each kind, but for agreement."""
    digest: str = ""
    """SHA-256 of all that was answered: see ``sweep/sweep.py``. Empty if shards are missing."""
    seconds: float = 0.0
    """Seconds of all engines together."""

    @property
    def divergences(self) -> int:
        """How many strings diverge."""
        return sum(count for kind, count in self.kinds.items() if kind not in NO_DIVERGENCE)

    @property
    def wrong(self) -> str:
        """What does not fit the account; empty if all does. Never a word on the target: the sweep itself is broken."""
        left_out = self.kinds[LEFT_OUT]
        if self.seen.strings + left_out != self.expected.strings:
            return f"{thousands(self.seen.strings)} strings tested of {thousands(self.expected.strings)}"
        if not left_out and self.seen != self.expected:
            return (
                f"{thousands(self.seen.well_formed)} well-formed strings in {thousands(self.seen.octets)} octets, and "
                f"{thousands(self.expected.well_formed)} in {thousands(self.expected.octets)} by counting"
            )
        return ""


@dataclass
class SweepRun:
    """What a sweep showed."""

    target: str
    greeting: Greeting
    identity: Identity
    profile: Profile
    operation: str
    command: str
    plans: list[PlanRun]
    buckets: list[SweepBucket] = field(default_factory=list[SweepBucket])
    undescribed: tuple[str, ...] = ()
    """Plans whose divergent strings are counted, and not described."""
    spared: dict[str, float] = field(default_factory=dict[str, float])
    """Plans of giant strings that would take too long, and about how many seconds."""
    in_process: bool = False
    """Whether it was called in its own process; else it was asked in columns."""
    isolation: str = ""
    jobs: int = 1
    notes: list[str] = field(default_factory=list[str])
    seconds: float = 0.0
    """Seconds by the clock, of this run alone."""
    resumed: int = 0
    """Strings that an earlier run had done."""
    done: int = 0
    """Strings whose results are kept, of this run and earlier ones."""
    incomplete: str = ""
    """Why it ended early; empty if it did not."""
    spent: bool = False
    """It ended early because the target failed more often than its limit: what it failed with is found all the same."""

    @property
    def words(self) -> list[str]:
        """What diverges beside what a cause explains, a line for each set of strings, whichever plans have it."""
        alike: dict[str, list[SweepBucket]] = {}
        for bucket in self.buckets:
            if bucket.cause is None:
                alike.setdefault(bucket.words, []).append(bucket)
        lines: list[str] = []
        for strings, some in alike.items():
            plans = ", ".join(dict.fromkeys(each.plan for each in some))
            dialects = [each for each in some[0].found.dialects if all(each in one.found.dialects for one in some)]
            diverging = thousands(sum(each.found.count for each in some))
            lines.append(f"{plans}: {diverging} diverge: {as_dialects(strings, dialects)}")
        if self.undescribed:
            count = sum(run.divergences for run in self.plans if run.plan in self.undescribed)
            names = ", ".join(self.undescribed)
            lines.append(f"{names}: {thousands(count)} diverge, too; 'overlong sweep' describes them")
        return lines

    @property
    def strings(self) -> int:
        """How many the plans have."""
        return sum(run.expected.strings for run in self.plans)

    @property
    def divergences(self) -> int:
        return sum(run.divergences for run in self.plans)

    @property
    def unsupported(self) -> str:
        """``2 strings were answered 'unsupported'``; empty if none was."""
        count = sum(run.kinds[NOT_SUPPORTED] for run in self.plans)
        return f"{counted(count, 'string')} {'was' if count == 1 else 'were'} answered 'unsupported'" if count else ""

    @property
    def wrong(self) -> str:
        """What of the sweep did not run as planned; empty if all did."""
        if self.incomplete:
            return ""
        return "; ".join(f"{run.plan}: {run.wrong}" for run in self.plans if run.wrong)

    @property
    def conformant(self) -> bool:
        """All strings were asked as planned and answered, and none diverges."""
        return self.state is State.CONFORMS

    @property
    def failing(self) -> tuple[str, ...]:
        """The claims that what was found refutes."""
        refuted = [(bucket.cause or bucket.finding).claim for bucket in self.buckets]
        if any(run.divergences or run.kinds[LEFT_OUT] for run in self.plans):
            refuted = refuted or [VERDICT]
        return tuple(dict.fromkeys(refuted))

    @property
    def state(self) -> State:
        """What the sweep comes to; incomplete if some strings are not supported and none diverges."""
        failing = self.failing
        open_ = bool(self.incomplete or self.wrong or (self.unsupported and not failing))
        return state_of(failing, held=True, incomplete=open_)

    @property
    def digest(self) -> str:
        """Digest of all plans; empty if the sweep is incomplete."""
        if self.incomplete:
            return ""
        return hashlib.sha256("".join(f"{run.plan} {run.digest}\n" for run in self.plans).encode()).hexdigest()
