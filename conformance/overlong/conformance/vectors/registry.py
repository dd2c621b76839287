"""Which ids there are, since when, and which were withdrawn. Ids are added or withdrawn, never re-meant."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

from overlong.conformance.vectors.names import spelt_now

if TYPE_CHECKING:
    from collections.abc import Iterable


@dataclass(frozen=True)
class Withdrawn:
    """An id that is no longer used, and never will be."""

    id: str
    version: str
    reason: str


@dataclass(frozen=True)
class Profile:
    """A frozen choice of vectors: what a certificate of that name asked."""

    name: str
    version: str
    suites: dict[str, tuple[int, str]]
    """For each suite, how many vectors, and :func:`digest_of_ids`."""


def digest_of_ids(ids: Iterable[str]) -> str:
    """SHA-256 of ids, sorted, each with a line feed: ids spell octets, so it fixes the vectors."""
    return hashlib.sha256("".join(f"{each}\n" for each in sorted(ids)).encode("ascii")).hexdigest()


@cache
def withdrawn() -> dict[str, Withdrawn]:
    """Every withdrawn id."""
    text = (files("overlong.conformance") / "registry" / "withdrawn.json").read_text("ascii")
    return {each["id"]: Withdrawn(**each) for each in json.loads(text)["withdrawn"]}


@cache
def published() -> dict[str, str]:
    """Every id that a named suite ever had, and the version of the suite that it came with."""
    text = (files("overlong.conformance") / "registry" / "ids.tsv").read_text("ascii")
    rows = (line.split("\t") for line in text.splitlines())
    return {identifier: version for identifier, version in rows}  # noqa: C416 (says what they are)


def since(identifier: str) -> str:
    """The version of the suite that the id came with; ids of computed suites came with the first."""
    return published().get(identifier, FIRST)


FIRST = "1.0.0"


@cache
def profile(name: str) -> Profile:
    """The frozen profile of that name.

    Raises:
        FileNotFoundError: there is none.
    """
    data = json.loads((files("overlong.conformance") / "registry" / f"{name}.json").read_text("ascii"))
    return Profile(
        data["profile"], data["version"], {spelt_now(k): (v["count"], v["ids"]) for k, v in data["suites"].items()}
    )
