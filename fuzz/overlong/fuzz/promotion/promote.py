"""Turn a finding into a vector in its own file, which ``overlong certify TARGET --vectors FOLDER`` runs."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING

from overlong.conformance.oracle.finding import ID
from overlong.conformance.protocol.wire import AGAIN, ENCODING, OPERATIONS, OTHER_INPUT
from overlong.conformance.report.text import is_difference
from overlong.conformance.support.printable import printable
from overlong.conformance.support.strict_json import JsonError
from overlong.conformance.vectors.check import CheckError, vectors_in
from overlong.conformance.vectors.vector import FOUND, RFC3629, Vector, document_of

if TYPE_CHECKING:
    from pathlib import Path

    from overlong.fuzz.report.findings import Found


class PromotionError(Exception):
    """A finding cannot become a vector or test. The message is one line that names it and an alternative."""


_SHOWN = 120
"""The most characters of a target's name in a comment."""


def promote(stored: Found, folder: Path) -> Path:
    """Write a finding as a vector, and return its file: ``D-7f3a0c19.json`` in ``folder``.

    The file holds the answer that RFC 3629 demands; the target's answer is only in words. If the vector exists
    already, nothing is written; if another vector has the name, the name gets a suffix.

    Raises:
        PromotionError: it is a difference, which RFC 3629 leaves open; it is an encoder's; or its target was measured
            by another dialect.
        OSError: the folder cannot be written.
    """
    check(stored)
    vector = vector_of(stored)
    folder.mkdir(parents=True, exist_ok=True)
    suffix = hashlib.sha256(vector.id.encode("ascii")).hexdigest()[:8]
    text = document(stored, vector)
    for path in (folder / f"{stored.id}.json", folder / f"{stored.id}-{suffix}.json"):
        if _is_there(path, vector) or _written(path, text):
            return path
    raise PromotionError(f"{printable(str(path))}: holds another vector; move it away")


def vector_of(stored: Found) -> Vector:
    """The vector of a finding; its comment names the target, the fault and the place."""
    target = printable(stored.target, _SHOWN)
    asked = OPERATIONS.get(stored.operation, "asked")
    where = f", {stored.where}" if stored.where else ""
    comment = (
        f"{stored.id}, found in {target} ({asked}): {stored.title} ({stored.code}){where}; "
        f"expected: {stored.expected}; observed: {stored.observed}"
    )
    return Vector(
        FOUND,
        stored.octets,
        printable(comment, 600),
        (len(stored.octets),) if stored.chunks is None and stored.earlier is not None else stored.chunks,
        decoder=target,
        earlier=stored.earlier,
    )


def document(stored: Found, vector: Vector) -> str:
    """The file, by ``schemas/vectors-1.schema.json``: one vector, each member on a line."""
    return json.dumps(document_of(vector, f"finding {stored.id}"), indent=1) + "\n"


def checked_id(stored: Found) -> str:
    """The finding's id, which names files and functions.

    Raises:
        PromotionError: it cannot become a vector, or the folder is not a run's.
    """
    if not ID.fullmatch(stored.id):
        raise PromotionError(f"{printable(stored.id, 40)}: no id of a finding; ids are D- and eight digits")
    return stored.id


def check(stored: Found) -> None:
    """Check that it can be a vector.

    Raises:
        PromotionError: as :func:`promote`.
    """
    name = checked_id(stored)
    if is_difference(stored):
        raise PromotionError(
            f"{name}: a difference between two targets, which RFC 3629 leaves open: no vector can say which is right"
        )
    of_a_decoder(stored, "vectors in files")
    not_alone(stored)
    if stored.measured_by != RFC3629.name:
        raise PromotionError(
            f"{name}: measured by {printable(stored.measured_by, 40)}, and files of vectors hold what RFC 3629 says; "
            "keep the campaign's folder"
        )


def of_a_decoder(stored: Found, what: str) -> None:
    """Refuse a finding of anything else; ``what``: is for decoders.

    Raises:
        PromotionError: it is that.
    """
    if stored.operation in OTHER_INPUT:
        target = "an encoder" if stored.operation in ENCODING else "a function beside decoding"
        raise PromotionError(f"{stored.id}: of {target}, and {what} are for decoders; keep the results")


def not_alone(stored: Found) -> None:
    """Refuse a finding that no vector can hold: strings that are not a stream, one right after another.

    Raises:
        PromotionError: it is that.
    """
    if stored.earlier is not None and stored.operation not in AGAIN:
        raise PromotionError(
            f"{stored.id}: it shows only right after another string, which neither a vector nor a test of one says; "
            "sweep it again"
        )


def _is_there(path: Path, vector: Vector) -> bool:
    """True if the file holds this vector."""
    try:
        return [each.id for each in vectors_in(path)] == [vector.id]
    except (FileNotFoundError, CheckError, JsonError):
        return False


def _written(path: Path, text: str) -> bool:
    """Write a file, unless there is one of that name."""
    try:
        file = path.open("x", encoding="ascii", newline="\n")
    except FileExistsError:
        return False
    with file:
        file.write(text)
    return True
