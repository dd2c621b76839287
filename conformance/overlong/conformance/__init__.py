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
    from overlong.conformance.oracle.target import TargetError, UnknownTarget
    from overlong.conformance.results.certificate import Certificate
    from overlong.conformance.targets.resolve import Limits

__all__ = ["Certificate", "Limits", "TargetError", "UnknownTarget", "certify"]

_PLACES = {
    "Certificate": "results.certificate",
    "Limits": "targets.resolve",
    "TargetError": "oracle.target",
    "UnknownTarget": "oracle.target",
    "certify": "certification.certify",
}


def __getattr__(name: str) -> object:
    """Import what is asked for: ``overlong --help`` needs none of it."""
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_PLACES[name]}"), name)
