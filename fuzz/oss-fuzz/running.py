# ruff: noqa: INP001
"""What harnesses share: running one, which fails if it compared nothing, and functions that raise divergences.

There is a function for each way to diverge, named after it: a service that groups by stack groups by cause. The frame
above it is the harness' function for the operation, so (operation, code) is a bucket.
"""

import ctypes
import os
import re
import sys
from collections.abc import Callable, Sequence
from types import FunctionType
from typing import NoReturn

import atheris

from overlong.conformance.protocol.observation import KINDS
from overlong.reference import DEFECTS

Raise = Callable[[str], NoReturn]

_OUTER = ("-fork=", "-merge", "-minimize_crash", "-cleanse_crash", "-help", "-version", "-print_")
"""Flags of processes that leave the inputs to others, or have none."""
NOTHING_COMPARED = 70
"""Exit status of a run that tested nothing (EX_SOFTWARE): it must not pass for one that found nothing."""

_compared = 0


def compared() -> None:
    """One answer was compared with another."""
    global _compared  # noqa: PLW0603 (libFuzzer calls a function, and an exit handler has no arguments)
    _compared += 1


def _check() -> None:
    if _compared == 0:
        os.write(2, b"overlong: not one input was compared; the harness tested nothing\n")
        os._exit(NOTHING_COMPARED)


_CHECK = ctypes.CFUNCTYPE(None)(_check)  # which must live as long as the process


def fuzz(one_input: Callable[[bytes], None], arguments: Sequence[str] = sys.argv) -> None:
    """Hand ``one_input`` to libFuzzer, which ends the process when it is done.

    It does so by the C library's ``exit``, and after what Python raised by ``_exit``, with a status of its own. So the
    check is an exit handler of C's: Python's ``atexit`` is not heard, or hides that status.
    """
    if not any(word.startswith(_OUTER) for word in arguments[1:]):
        register = ctypes.CDLL(None)["__cxa_atexit"]  # what atexit() calls; glibc exports no other
        register.argtypes = (ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)
        register(ctypes.cast(_CHECK, ctypes.c_void_p), None, None)
    atheris.Setup(list(arguments), one_input)
    atheris.Fuzz()


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
