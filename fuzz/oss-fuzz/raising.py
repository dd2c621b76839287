# ruff: noqa: INP001
"""A function for each way to diverge, named after it, that raises: a service that groups by stack groups by cause.

The frame above it is the harness' function for the operation, so (operation, code) is a bucket.
"""

import re
from collections.abc import Callable
from types import FunctionType
from typing import NoReturn

from overlong.conformance.protocol.kind import KINDS
from overlong.reference import DEFECTS

Raise = Callable[[str], NoReturn]


class Divergence(AssertionError):
    """A decoder answers otherwise than RFC 3629; the message says to what octets, and how."""


def _raise(message: str) -> NoReturn:
    raise Divergence(message)


def _named(name: str) -> Raise:
    """That function under another name: tracebacks take it from the code, not from the function."""
    code = _raise.__code__.replace(co_name=name, co_qualname=name)
    return FunctionType(code, _raise.__globals__, name)


def _name(code: str, title: str) -> str:
    return f"{code}_{re.sub(r'[^a-z0-9]+', '_', title.lower()).strip('_')}"


RAISES: dict[str, Raise] = {
    **{defect.code: _named(_name(defect.code, f"{defect.title} accepted")) for defect in DEFECTS.values()},
    **{kind.code: _named(_name(kind.code, kind.title)) for kind in KINDS.values()},
}
"""``RAISES["OV201"]`` is named ``OV201_overlong_form_accepted``."""
