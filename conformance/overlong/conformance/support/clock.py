"""The one place where time enters a result."""

from __future__ import annotations

import os
import time
from datetime import date


def today() -> date:
    """The day of :func:`timestamp`."""
    return date.fromisoformat(timestamp().partition("T")[0])


def timestamp() -> str:
    """Now, in UTC, as RFC 3339 writes it; or the moment that SOURCE_DATE_EPOCH states."""
    epoch = os.environ.get("SOURCE_DATE_EPOCH", "")
    seconds = int(epoch) if epoch.isdecimal() and len(epoch) < 12 else time.time()
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))
