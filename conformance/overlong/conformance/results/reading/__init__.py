"""What overlong leaves behind, read into a report: a module for each kind of file; ``files.py`` tells them apart."""

from __future__ import annotations

from overlong.conformance.results.reading.documents import ReportError
from overlong.conformance.results.reading.files import read

__all__ = ["ReportError", "read"]
