"""``matrix.json``: the rows of a matrix, and the choice of rows to keep when it is resumed.

The file is rewritten after each row, so that ``--resume`` finds all finished rows, however the matrix ended. Its
schema is ``schemas/matrix-1.schema.json``.
"""

from __future__ import annotations

import hashlib
import json
from collections import deque
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from overlong.conformance.certification.matrix.row import MatrixRow
from overlong.conformance.results.model import State
from overlong.conformance.results.reading import documents
from overlong.conformance.results.records import spelt
from overlong.conformance.results.run import FAILS
from overlong.conformance.results.writer import RESULTS
from overlong.conformance.support.files import written_whole
from overlong.conformance.support.provenance import environment, generator, timestamp

if TYPE_CHECKING:
    from collections.abc import Sequence

STATEMENT = "matrix.json"
SCHEMA = "overlong/matrix-1"
_WHOLE = (State.CONFORMS, State.EXPECTED, State.EXCEPT, State.DIVERGES, State.NOTHING)
"""The states of rows whose target need not be asked again."""
_CONFIGURATION = ("overlong.toml", "pyproject.toml")
"""The files of the current folder that define names and expected deviations."""


@dataclass(frozen=True)
class Conditions:
    """The conditions of the rows: a row measured under other conditions does not belong to this matrix."""

    profile: str
    """``rfc3629@1``."""
    options: tuple[str, ...]
    """The options of ``overlong certify``."""
    files: dict[str, str]
    """SHA-256 of each file that defines names or expected deviations."""

    @staticmethod
    def here(profile: str, options: Sequence[str], expected: Path | None) -> Conditions:
        """The conditions in the current folder.

        Args:
            profile: its name with its version.
            options: the options of ``overlong certify``.
            expected: the file of expected deviations, if one is named.

        Raises:
            OSError: a file cannot be read.
        """
        paths = [path for path in map(Path, _CONFIGURATION) if path.is_file()] + ([expected] if expected else [])
        return Conditions(
            profile, tuple(options), {str(path): hashlib.sha256(path.read_bytes()).hexdigest() for path in paths}
        )


def statement(rows: Sequence[MatrixRow], conditions: Conditions, command: str, incomplete: str = "") -> dict[str, Any]:
    """The content of ``matrix.json``.

    Args:
        rows: the rows in the order of the table.
        conditions: the conditions of their measurement.
        command: the command line that measures them.
        incomplete: the reason why rows are missing or incomplete; empty if none is.
    """
    return {
        "schema": SCHEMA,
        "generator": generator(),
        "time": timestamp(),
        "command": command,
        "environment": environment(),
        "profile": conditions.profile,
        "options": list(conditions.options),
        "files": {name: {"sha256": digest} for name, digest in conditions.files.items()},
        "incomplete": incomplete,
        "targets": [row.as_json() for row in rows],
    }


def write(folder: Path, document: dict[str, Any]) -> None:
    """Write ``matrix.json`` into a folder.

    Raises:
        OSError: it cannot be written; an existing file is unchanged.
    """
    with written_whole(folder / STATEMENT) as file:
        file.write(spelt(document, indent=2) + "\n")


def rows_to_keep(folder: Path, conditions: Conditions) -> dict[str, tuple[MatrixRow, dict[str, Any]]]:
    """The rows of an earlier matrix in this folder, measured completely by this version under these conditions.

    Each comes with the target in the header of its results, its greeting and the digest of its files: the row stays
    valid if that is unchanged. Damaged rows are omitted, and so measured again.
    """
    try:
        found = documents.document(folder / STATEMENT)
        files = {name: of["sha256"] for name, of in found["files"].items()}
        same = Conditions(found["profile"], tuple(found["options"]), files) == conditions
        if not same or found["schema"] != SCHEMA or found["generator"] != generator():
            return {}
        rows = list(map(MatrixRow.read, found["targets"]))
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return {}
    kept = ((row, _target_of(row, folder, conditions)) for row in rows if row.state in _WHOLE)
    return {row.target: (row, target) for row, target in kept if target is not None}


def _target_of(row: MatrixRow, folder: Path, conditions: Conditions) -> dict[str, Any] | None:
    """The target of a row's results; None if these belong to another row, are incomplete, or may be judged differently.

    Expected deviations expire on a certain day.
    """
    try:
        if conditions.files and FAILS in row.claims.values() and row.time[:10] != timestamp()[:10]:
            return None
        path = folder / row.folder / RESULTS
        documents.regular(path)
        with path.open(encoding="ascii") as file:
            first = file.readline()
            (last,) = deque(file, 1)
        header, footer = json.loads(first), json.loads(last)
        whole = footer["record"] == "footer" and footer["claims"] == row.claims and header["generator"] == generator()
        return cast("dict[str, Any]", header["target"]) if whole else None
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None
