"""Which engine a job names. Each is imported when it is wanted: some need what is not always installed."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING

from overlong.conformance.oracle.target import TargetError
from overlong.conformance.support.printable import printable
from overlong.reference.extra import install

if TYPE_CHECKING:
    from collections.abc import Callable

    from overlong.fuzz.execution.engine import Engine, Job


def _grammar(job: Job) -> Engine:
    if find_spec("numpy") is None:
        raise TargetError(f"a campaign needs NumPy; {install('fuzz')}")
    from overlong.fuzz.engines.grammar import Grammar

    return Grammar(job)


def _hypothesis(job: Job) -> Engine:
    try:
        from overlong.fuzz.engines.hypothesis_engine import HypothesisEngine
    except ImportError as error:
        raise TargetError(f"the hypothesis engine needs Hypothesis; {install('fuzz')}") from error
    return HypothesisEngine(job)


def _atheris(job: Job) -> Engine:
    from overlong.fuzz.engines.atheris_engine import AtherisEngine

    return AtherisEngine(job)


ENGINES: dict[str, Callable[[Job], Engine]] = {"grammar": _grammar, "hypothesis": _hypothesis, "atheris": _atheris}
"""By name, the default first."""


def open_engine(job: Job) -> Engine:
    """The engine of a job; no target is started yet.

    Raises:
        TargetError: there is none of that name, or it cannot be used here; the message says what to do.
    """
    if (make := ENGINES.get(job.engine)) is None:
        raise TargetError(f"there is no engine '{printable(job.engine)}'; there are {', '.join(ENGINES)}")
    return make(job)
