"""The names of the folders of results."""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


def slug(target: str | Sequence[str]) -> str:
    """A target's name as one safe file name, which never leaves the folder. Different targets may share a name."""
    text = target if isinstance(target, str) else " ".join(target)
    plain = re.sub(r"[^A-Za-z0-9_-]+", "-", text).strip("-")[:60]
    if plain == text:
        return plain
    return f"{plain or 'target'}-{hashlib.sha256(text.encode('utf-8', 'surrogateescape')).hexdigest()[:8]}"


def folder_of(target: str) -> str:
    """The folder of a target's results; of a function of a library, in that of the library, its own name is enough."""
    library, mark, function = target.partition("/")
    return slug(function if mark and ":" not in library and "/" not in function else target)
