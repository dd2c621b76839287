"""What ``overlong_pytest`` adds to pytest: vectors for a project's own tests, and certification as tests.

For each target there is a test of each claim, and a test of the expected deviations. The first test of a target that
runs certifies it, once in each process. Collecting the tests runs nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

import pytest

from overlong.conformance.protocol.observation import CLAIMS, LIMITS, VERDICT
from overlong.conformance.results.model import FAILS, NOT_MEASURED
from overlong.conformance.support.printable import did_you_mean, printable
from overlong.conformance.vectors.suites.suite import core_vectors
from overlong.reference import Decoded

if TYPE_CHECKING:
    from collections.abc import Iterator

    from overlong.conformance.results.certificate import Certificate
    from overlong.conformance.results.expected import Expectations
    from overlong.conformance.vectors.vector import Vector


@dataclass(frozen=True)
class Sample:
    """Octets for a decoder, and the answers of a correct decoder."""

    id: str
    """Such as ``overlong/c0af``; ``overlong replay`` takes it."""
    category: str
    octets: bytes
    comment: str
    """The purpose of the vector; may be empty."""
    accepted: bool
    """True if the octets are well-formed."""
    scalars: tuple[int, ...] | None
    """The scalar values; None if they are ill-formed."""
    offset: int | None
    """The offset of the first ill-formed octets; None if there are none."""
    replacement: str
    """The output of a decoder that replaces each maximal subpart by U+FFFD."""

    @property
    def text(self) -> str | None:
        """The scalar values as a string; None if the octets are ill-formed."""
        return self.replacement if self.accepted else None

    @classmethod
    def of(cls, vector: Vector) -> Sample:
        strict = vector.strict
        if isinstance(strict, Decoded):
            accepted, scalars, offset = True, strict.scalars, None
        else:
            accepted, scalars, offset = False, None, strict.offset
        replacement = "".join(map(chr, vector.replaced.scalars))
        return cls(vector.id, vector.category, vector.octets, vector.comment, accepted, scalars, offset, replacement)


class Vectors(Sequence[Sample]):
    """Samples in order, to iterate over or to select from."""

    def __init__(self, samples: Sequence[Sample]) -> None:
        self._samples = tuple(samples)

    @overload
    def __getitem__(self, index: int) -> Sample: ...
    @overload
    def __getitem__(self, index: slice) -> Vectors: ...
    def __getitem__(self, index: int | slice) -> Sample | Vectors:
        return Vectors(self._samples[index]) if isinstance(index, slice) else self._samples[index]

    def __len__(self) -> int:
        return len(self._samples)

    @property
    def categories(self) -> tuple[str, ...]:
        """The names of the categories, in order."""
        return tuple(dict.fromkeys(each.category for each in self._samples))

    def category(self, *names: str) -> Vectors:
        """The samples of some categories.

        Raises:
            KeyError: no category has this name; the message lists the categories.
        """
        if wrong := self.unknown_among(names):
            raise KeyError(wrong)
        return Vectors([each for each in self._samples if each.category in names])

    def unknown_among(self, names: Sequence[object]) -> str:
        """The error in the names of some categories; empty if all exist."""
        for name in names:
            if name not in self.categories:
                return f"no category {name!r} of vectors; {did_you_mean(str(name), self.categories)}"
        return ""

    @property
    def well_formed(self) -> Vectors:
        """The samples that a correct decoder accepts."""
        return Vectors([each for each in self._samples if each.accepted])

    @property
    def ill_formed(self) -> Vectors:
        """The samples that a correct decoder refuses."""
        return Vectors([each for each in self._samples if not each.accepted])


@cache
def _all() -> Vectors:
    return Vectors([Sample.of(vector) for vector in core_vectors()])


def unknown(categories: Sequence[object]) -> str:
    """The error in the names of some categories; empty if all exist."""
    return _all().unknown_among(categories)


def wanted(categories: Sequence[str]) -> Vectors:
    """The samples of these categories, or all if none is named.

    Raises:
        KeyError: no category has this name; the message lists the categories.
    """
    return _all().category(*categories) if categories else _all()


SUITES = (
    "core",
    "complete-0",
    "complete-0-refusing",
    "complete-0-replacing",
    "streams",
    "encoder-edges",
    "memory",
    "separate-values",
    "functions",
)
"""The default suites; they take about a second."""
ALL = "all"
_TESTS = tuple(claim for claim in CLAIMS if claim != LIMITS)
"""Claims that have a test. A false declared limit fails the test of the verdict, which rests on the limit."""
EXPECTED = "expected deviations"
_WIDTH = 100


def items_of(session: pytest.Session, targets: Sequence[str]) -> Iterator[pytest.Item]:
    """The tests of some targets.

    Raises:
        pytest.UsageError: a suite does not exist, or the file of expected deviations is invalid.
    """
    from overlong.conformance.vectors import suites

    wanted: list[str] = session.config.getoption("overlong_suites") or []
    for name in wanted:
        if name not in suites.SUITES and name != ALL:
            raise pytest.UsageError(f"--overlong-suite: no suite {name!r}; {did_you_mean(name, (*suites.SUITES, ALL))}")
    for target in targets:
        parent = TargetNode.of(session, target, None if ALL in wanted else tuple(wanted) or SUITES)
        names = [*_TESTS, *[EXPECTED] * bool(parent.expectations().deviations)]
        yield from (ClaimItem.of(parent, name) for name in names)


class TargetNode(pytest.Collector):
    """A target, certified once for all of its tests."""

    def __init__(self, *, target: str, suites: tuple[str, ...] | None, **kw: Any) -> None:
        """``suites``: the suites to run; None for all. pytest defines the other arguments."""
        super().__init__(**kw)
        self.target, self.suites = target, suites
        self._certificate: Certificate | None = None
        self._why_not = ""
        """The reason if it was measured, and there is no certificate."""

    @classmethod
    def of(cls, session: pytest.Session, target: str, suites: tuple[str, ...] | None) -> TargetNode:
        name = printable(target)
        made: Any = super().from_parent  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
        node: TargetNode = made(session, name=name, nodeid=f"overlong::{name}", target=target, suites=suites)
        return node

    def collect(self) -> list[pytest.Item]:
        return [ClaimItem.of(self, claim) for claim in _TESTS]

    def expectations(self) -> Expectations:
        """The expected deviations of the target.

        Raises:
            pytest.UsageError: the file of expected deviations is invalid.
        """
        from overlong.conformance.results.expected import Expectations
        from overlong.conformance.results.expected_file import ExpectationError
        from overlong.conformance.support.provenance import today

        file: str | None = self.config.getoption("overlong_expected")
        try:
            return Expectations.read(Path(file) if file else None, self.target, today())
        except ExpectationError as error:
            raise pytest.UsageError(str(error)) from None

    def certificate(self) -> Certificate:
        """The certificate of the target; the first call measures it.

        If the target cannot be measured, the first test that asks fails with the reason; the others are skipped.
        """
        if self._certificate is not None:
            return self._certificate
        if self._why_not:
            pytest.skip(f"not measured: {self._why_not}")
        from overlong.conformance.certification.certify import certify
        from overlong.conformance.oracle.target import TargetError

        self._why_not = "it was interrupted"
        certificate: Certificate | None = None
        try:
            certificate = certify(self.target, suites=self.suites, plans=(), expected=self.expectations(), trust=True)
        except (TargetError, OSError) as error:
            self._why_not = printable(str(error), 1000)
        if certificate is None:
            pytest.fail(f"overlong: {self._why_not}", pytrace=False)
        if certificate.run.incomplete == "interrupted":
            raise KeyboardInterrupt
        self._certificate = certificate
        return certificate


def _test_of(claim: str) -> str:
    return VERDICT if claim == LIMITS else claim


class ClaimItem(pytest.Item):
    """A test of one claim about a target, or of its expected deviations."""

    @classmethod
    def of(cls, parent: TargetNode, name: str) -> ClaimItem:
        made: Any = super().from_parent  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
        item: ClaimItem = made(parent, name=name)
        item.add_marker("overlong")
        return item

    def _target(self) -> TargetNode:
        assert isinstance(self.parent, TargetNode)
        return self.parent

    def setup(self) -> None:
        self._target().certificate()

    def runtest(self) -> None:
        certificate = self._target().certificate()
        if certificate.run.incomplete:
            pytest.fail(f"overlong: incomplete: {printable(certificate.run.incomplete, 1000)}", pytrace=False)
        if self.name == EXPECTED:
            self._run_expected(certificate)
            return
        from overlong.conformance.report.text import lines_of_cause
        from overlong.conformance.results.results_file import report_of_run
        from overlong.conformance.results.run import why_not

        (subject,) = report_of_run(certificate).subjects
        state = certificate.claims.get(self.name, NOT_MEASURED)
        causes = [cause for cause in subject.unexpected if _test_of(cause.claim) == self.name]
        if state == NOT_MEASURED and not causes:
            why = why_not(self.name, subject.operations, subject.error_mode, {})
            pytest.skip(subject.details.get(self.name) or f"{NOT_MEASURED}: {why}")
        if causes and subject.sign:
            pytest.fail(f"look at the adapter first: {subject.sign}", pytrace=False)
        if causes:
            told = ["\n".join(lines_of_cause(cause, _WIDTH, subject.profile)) for cause in causes]
            pytest.fail("\n\n".join(told), pytrace=False)
        if state == FAILS and certificate.expected is not None:
            of_claim = [bucket for bucket in certificate.run.ordered_buckets if bucket.example.claim == self.name]
            found = [certificate.expected.of_bucket(bucket) for bucket in of_claim]
            reasons = dict.fromkeys(printable(each.reason) or "no reason given" for each in found if each is not None)
            pytest.xfail("; ".join(reasons))

    def _run_expected(self, certificate: Certificate) -> None:
        from overlong.conformance.report.terminal import lines_of_expected

        assert certificate.expected is not None
        if certificate.expected.stale:
            pytest.fail("\n".join(lines_of_expected(certificate.expected, _WIDTH)), pytrace=False)

    def reportinfo(self) -> tuple[Path, None, str]:
        return self.config.rootpath / "overlong", None, f"{self._target().name}: {self.name}"
