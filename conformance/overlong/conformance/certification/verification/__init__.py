"""Verifying certificates: read with care, signed or not, measured again, compared field by field."""

from __future__ import annotations

from overlong.conformance.certification.verification.verifying import Verification, verify

__all__ = ["Verification", "verify"]
