"""Inputs too long for a line: each is a file of one vector beside the results, and commands name that file.

Files of results name it from their own folder, so that they hold no path of this machine; reports name it from the
current folder.
"""

from __future__ import annotations

import hashlib
import json
import shlex
from dataclasses import replace
from typing import TYPE_CHECKING

from overlong.conformance.support.printable import counted
from overlong.conformance.support.whole_file import written_whole
from overlong.conformance.vectors.vector import RFC3629, document_of

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from overlong.conformance.vectors.vector import Vector

INPUTS = "inputs"
"""The folder of these files, in that of the results."""
TYPED = 150
"""The most characters of an input that are written out in a command line."""


def is_typed(vector: Vector) -> bool:
    """True if the vector's octets fit in a line of a command."""
    octets = len(vector.octets) + sum(map(len, vector.earlier or ()))
    return 2 * octets <= TYPED and len(vector.in_full) <= TYPED


def file_of(vector: Vector) -> str:
    """The name of a vector's file, from the folder of the results: ``inputs/0b3c….json``."""
    return f"{INPUTS}/{hashlib.sha256(vector.in_full.encode('ascii', 'replace')).hexdigest()[:16]}.json"


def placed(command: str, vector: Vector, folder: Path | None) -> str:
    """A command of a file of results, as it is typed in the current folder; a comment if there is no file to name.

    Args:
        command: it names the vector's file from the folder of the results, or spells every octet, as older files do.
        vector: its input.
        folder: of the results; None if nothing was written.
    """
    if is_typed(vector):
        return command
    file = file_of(vector)
    if file in command and (path := kept_in(folder, vector)):
        return command.replace(file, shlex.quote(path), 1)
    if file in command or vector.in_full in command or vector.octets.hex() in command:
        return unplaced(vector)
    return command


def kept_in(folder: Path | None, vector: Vector) -> str:
    """The path of a vector's file in the folder of the results; empty if it is not there."""
    path = None if folder is None else folder / file_of(vector)
    if path is None or not path.is_file():
        return ""
    return f"./{path}" if str(path).startswith("-") else str(path)


def unplaced(vector: Vector) -> str:
    """What stands in place of a command whose input is in no file: a comment, so that nothing runs by it."""
    octets = counted(len(vector.octets), "octet")
    return f"# an input of {octets} is too long for a line; a run with -o FOLDER keeps it in a file"


def write_inputs(folder: Path, vectors: Iterable[Vector]) -> None:
    """Write the files of vectors that do not fit in a line.

    Raises:
        OSError: one cannot be written.
    """
    for vector in vectors:
        if is_typed(vector):
            continue
        path = folder / file_of(vector)
        path.parent.mkdir(exist_ok=True)
        with written_whole(path) as file:
            data = document_of(replace(vector, profile=RFC3629), "the input of a divergence")
            file.write(json.dumps(data) + "\n")
