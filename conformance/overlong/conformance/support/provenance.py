"""The origin of every result: its time, overlong's version, and the platform. Time enters results only here."""

from __future__ import annotations

import os
import platform
import time
from datetime import date


def today() -> date:
    """The day of :func:`timestamp`."""
    return date.fromisoformat(timestamp().partition("T")[0])


def timestamp() -> str:
    """The present time, in UTC, in the format of RFC 3339; or the time in SOURCE_DATE_EPOCH."""
    epoch = os.environ.get("SOURCE_DATE_EPOCH", "")
    seconds = int(epoch) if epoch.isdecimal() and len(epoch) < 12 else time.time()
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))


def generator() -> str:
    """``overlong`` and its version."""
    from importlib.metadata import version

    return f"overlong {version('overlong')}"


def environment() -> dict[str, str]:
    """The platform, by the operating system's names."""
    return {"system": platform.system(), "machine": platform.machine()}
