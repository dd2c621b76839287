"""The installed Debian packages."""

from __future__ import annotations

import subprocess
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


@lru_cache(maxsize=1)
def installed() -> dict[str, str]:
    """The installed Debian packages and their versions; empty on other systems."""
    try:
        asked = subprocess.run(
            ["dpkg-query", "-W", "-f", "${db:Status-Status} ${Package} ${Version}\n"],
            stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=30, check=False,
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired):
        return {}
    rows = (line.split() for line in asked.stdout.splitlines())
    return {row[1]: row[2] for row in rows if len(row) == 3 and row[0] == "installed"}


def not_installed(packages: Sequence[str]) -> str:
    """Advice to install missing Debian packages; empty on other systems."""
    missing = [name for name in packages if installed() and name not in installed()]
    return f"install it (Debian: apt install {' '.join(missing)})" if missing else ""
