"""Which ids there are, since when, and which were withdrawn. Ids are added or withdrawn, never re-meant."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from overlong.conformance.vectors.edition import SUITE_VERSION


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
    """For each suite, how many vectors, and the SHA-256 of their ids in order."""


@cache
def withdrawn() -> dict[str, Withdrawn]:
    """Every withdrawn id."""
    text = (files("overlong.conformance") / "registry" / "withdrawn.json").read_text("ascii")
    return {each["id"]: Withdrawn(**each) for each in json.loads(text)["withdrawn"]}


@cache
def later() -> dict[str, str]:
    """Ids that came after version 1.0.0, and the version that each came with."""
    text = (files("overlong.conformance") / "registry" / "since.json").read_text("ascii")
    result: dict[str, str] = json.loads(text)["since"]
    return result


def since(identifier: str) -> str:
    """The version of the suite that the id came with."""
    return later().get(identifier, FIRST)


FIRST = "1.0.0"
assert SUITE_VERSION >= FIRST


@cache
def profile(name: str) -> Profile:
    """The frozen profile of that name.

    Raises:
        FileNotFoundError: there is none.
    """
    data = json.loads((files("overlong.conformance") / "registry" / f"{name}.json").read_text("ascii"))
    return Profile(data["profile"], data["version"], {k: (v["count"], v["ids"]) for k, v in data["suites"].items()})
