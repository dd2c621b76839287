"""Vectors by name: an id, the name of a case, or octets."""

from __future__ import annotations

import difflib

from overlong.conformance.vectors.families import all_vectors
from overlong.conformance.vectors.registry import withdrawn
from overlong.conformance.vectors.suites import SUITES
from overlong.conformance.vectors.vector import LONGEST_HEX, IdError, Vector


def find_vectors(name: str) -> tuple[Vector, ...]:
    """The vectors of an id or of a case; an id that spells octets names them even where no suite has them.

    Raises:
        IdError: there is none.
    """
    named = tuple(vector for vector in all_vectors() if name in (vector.id, *vector.cases))
    if named:
        return named
    if name in withdrawn():
        gone = withdrawn()[name]
        raise IdError(f"{name} was withdrawn in version {gone.version}: {gone.reason}")
    if "/sha256-" in name:
        for suite in SUITES.values():
            for batch in suite.batches():
                if max(batch.lengths) > LONGEST_HEX:  # else it has no digests for ids
                    for vector in batch:
                        if vector.id == name:
                            return (vector,)
        raise IdError(f"no suite has a vector {name!r}; digests are in the ids of long inputs only")
    try:
        return (Vector.from_id(name),)
    except IdError as error:
        cases = {case for vector in all_vectors() for case in vector.cases}
        near = difflib.get_close_matches(name, cases, n=1)
        if not near:
            raise
        raise IdError(f"{error}; the nearest case is {near[0]}") from None
