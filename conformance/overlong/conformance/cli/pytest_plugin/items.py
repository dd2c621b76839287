"""Certification as pytest tests: for each target a test of each claim, and a test of the expected deviations.

The first test of a target that runs certifies it, once in each process. Collecting the tests runs nothing.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from overlong.conformance.protocol.observation import CLAIMS, LIMITS, VERDICT
from overlong.conformance.results.run import FAILS, NOT_MEASURED
from overlong.conformance.support.printable import did_you_mean, printable

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from overlong.conformance.results.certificate import Certificate
    from overlong.conformance.results.expected import Expectations

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
        from overlong.conformance.results.expected import ExpectationError, Expectations
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
        from overlong.conformance.results.details import why_not
        from overlong.conformance.results.reading.results import report_of_run

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
