"""What a decoder must do, and what it does.

>>> from overlong.conformance import certify
>>> certify("cpython", suites=["core"]).conformant
True
"""

from overlong.conformance.certificate import Certificate
from overlong.conformance.certify import certify
from overlong.conformance.target import TargetError, UnknownTarget
from overlong.conformance.targets.resolve import Limits

__all__ = ["Certificate", "Limits", "TargetError", "UnknownTarget", "certify"]
