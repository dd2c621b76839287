"""The lines for a shell that build and run the program of a record, for people who have only the program."""

from __future__ import annotations

import re
import shlex
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from corpora.survey.records import Record

_PLACE = re.compile(r"\{(packages|flags)\}")


def by_hand(record: Record) -> Iterator[str]:
    """The lines, for the folder with the program."""
    language = record.language
    libraries = [f"$(pkg-config --cflags --libs {record.pkg_config})"] if record.pkg_config else []
    words = {"packages": " ".join(record.packages), "flags": " ".join((*libraries, *record.links))}
    if record.debian:
        yield f"apt install {' '.join(record.debian)}  # or the like"
    for line in language.by_hand or map(_line, (*language.steps, language.start)):
        if record.packages or "{packages}" not in line:
            yield _PLACE.sub(lambda place: words[place[1]], line).rstrip()


def _line(command: Sequence[str]) -> str:
    """A command of languages.toml as a line."""
    program, *rest = (re.sub(r"^\{folder\}", ".", word) for word in command)
    words = [program, *(word.removeprefix("./") if len(word) > 2 else word for word in rest)]
    return " ".join(word if _PLACE.fullmatch(word) else shlex.quote(re.sub(r"[{}]", "", word)) for word in words)
