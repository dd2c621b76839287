"""Filters stderr: a slow machine prints more progress lines."""

import re

PROGRESS = re.compile(r"[^\n]+: [\d ]+ of [\d ]+ [a-z]+[^\n]*\n")


def beside_progress(stderr: str) -> str:
    """The lines that are not progress."""
    return PROGRESS.sub("", stderr)
