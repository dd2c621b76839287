"""What stands on every result: when it was made, by which version, and where. The one place where time enters one."""

from __future__ import annotations

import os
import platform
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


def generator() -> str:
    """``overlong`` and its version."""
    from importlib.metadata import version

    return f"overlong {version('overlong')}"


def environment() -> dict[str, str]:
    """Where this is, as the operating system names it."""
    return {"system": platform.system(), "machine": platform.machine()}
