"""What a decoder must do, and what it does.

>>> from overlong.conformance import certify
>>> certify("cpython", suites=["core"]).conformant
True
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from overlong.conformance.certification.certify import certify
    from overlong.conformance.examination.asking import Question
    from overlong.conformance.examination.condition import Condition
    from overlong.conformance.examination.examine import Explanation, examine
    from overlong.conformance.oracle.target import TargetError, UnknownTarget
    from overlong.conformance.results.certificate import Certificate
    from overlong.conformance.results.expected import Expectations
    from overlong.conformance.results.expected_file import ExpectationError
    from overlong.conformance.results.invocation import GivenFile, Invocation
    from overlong.conformance.support.files import NotSaved
    from overlong.conformance.targets.limits import Limits

__all__ = [
    "Certificate",
    "Condition",
    "ExpectationError",
    "Expectations",
    "Explanation",
    "GivenFile",
    "Invocation",
    "Limits",
    "NotSaved",
    "Question",
    "TargetError",
    "UnknownTarget",
    "certify",
    "examine",
]

_PLACES = {
    "Certificate": "results.certificate",
    "Condition": "examination.condition",
    "ExpectationError": "results.expected_file",
    "Expectations": "results.expected",
    "Explanation": "examination.examine",
    "GivenFile": "results.invocation",
    "Invocation": "results.invocation",
    "Limits": "targets.limits",
    "NotSaved": "support.files",
    "Question": "examination.asking",
    "TargetError": "oracle.target",
    "UnknownTarget": "oracle.target",
    "certify": "certification.certify",
    "examine": "examination.examine",
}


def __getattr__(name: str) -> object:
    """Import what is asked for: ``overlong --help`` needs none of it."""
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_PLACES[name]}"), name)
