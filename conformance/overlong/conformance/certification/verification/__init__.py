"""Verifies certificates: reads them with care, measures again, compares field by field."""

from __future__ import annotations

from overlong.conformance.certification.verification.verifying import Verification, verify

__all__ = ["Verification", "verify"]
