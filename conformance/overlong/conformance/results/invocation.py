"""What a run was asked, and the commands that ask it, or one of its findings, again.

A certificate holds the invocation in machine-readable form. It has no path of this machine: a file has its name on the
command line, or only the last part of an absolute path. An input too long for a line is a file of one vector beside the
results, and commands name that file: in files of results from their own folder, in reports from the current folder.
"""

from __future__ import annotations

import hashlib
import json
import shlex
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from overlong.conformance.oracle.finding import BESIDE
from overlong.conformance.protocol.observation import Code
from overlong.conformance.support.files import written_whole
from overlong.conformance.support.printable import counted
from overlong.conformance.support.provenance import portable_file, sha256_of
from overlong.conformance.targets.limits import Limits
from overlong.conformance.vectors.expected import category_of
from overlong.conformance.vectors.vector import FOUND, RFC3629, SWEPT, IdError, Input, Vector, cut, document_of

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Mapping, Sequence

    from overlong.conformance.oracle.finding import Finding
    from overlong.conformance.vectors.vector import Profile


_FETCHED = "OCTETS"
"""The place of longer inputs."""


class Given(Input, Protocol):
    """An input, and the operation that it was given by."""

    @property
    def operation(self) -> str: ...


@dataclass(frozen=True)
class GivenFile:
    """A file, or a folder, that was read: its name and its digest."""

    name: str
    algorithm: str
    """``sha256`` of a file; of a folder in-toto's ``dirHash``: that of the output of ``sha256sum`` for its files."""
    digest: str
    path: Path | None = field(default=None, compare=False)
    """Where it is here; None if a certificate names it."""

    @classmethod
    def of(cls, path: str | os.PathLike[str], name: str = "") -> GivenFile:
        """Read a file, or the files right in a folder. ``name``: in a certificate; by default as short as possible.

        Raises:
            OSError: the file cannot be read.
        """
        path = Path(path)
        name = name or portable_file(path)
        if not path.is_dir():
            return cls(name, "sha256", sha256_of(path), path)
        files = sorted(file for file in path.iterdir() if file.is_file())
        lines = "".join(f"{sha256_of(file)}  {file.name}\n" for file in files)
        return cls(name, "dirHash", hashlib.sha256(lines.encode("utf-8", "surrogateescape")).hexdigest(), path)

    def as_json(self) -> dict[str, Any]:
        return {"name": self.name, "digest": {self.algorithm: self.digest}}

    @classmethod
    def of_json(cls, said: Mapping[str, Any]) -> GivenFile:
        ((algorithm, digest),) = said["digest"].items()
        return cls(said["name"], algorithm, digest)


@dataclass(frozen=True)
class Invocation:
    """What a run is asked to do. Its certificate holds it, without what depends on the machine; ``verify`` repeats it.

    A plain call of :func:`~overlong.conformance.certify` makes one; who wants more makes it and passes it.
    """

    target: str | tuple[str, ...]
    """Its name, or the words of a command that speaks the protocol."""
    suites: tuple[str, ...] | None = None
    """The suites that were named; None: all that are fast enough on the target."""
    plans: tuple[str, ...] | None = None
    """The plans of sweeps that were named; None: those of the tier; empty: no sweep."""
    tier: str | None = None
    """The tier, as in :func:`~overlong.conformance.certify`; a certificate names its plans."""
    budget: float | None = None
    """The approximate seconds for its sweeps; None for the default. A certificate names their plans."""
    thorough: bool = False
    """Ask even a slow target all suites, and sweep it at least with the tier ``usual``."""
    vectors: tuple[GivenFile, ...] = ()
    """Files of vectors, or folders of them, to ask in addition to the suites."""
    expected: GivenFile | None = None
    """The file of expected deviations, which the run fills in."""
    limits: Limits = Limits()  # noqa: RUF009 (frozen)
    subjects: tuple[str, ...] = ()
    """More files of the decoder, whose digests the certificate has, too: paths, of which it keeps the names."""
    speaks: str = RFC3629.speaks
    """The dialect to judge by."""
    portrait: bool = False
    """Learn the nearest model and draw maps, even if suites are named."""
    paired: bool = True
    """Two processes of the target share the largest suites."""
    repeated: tuple[str, ...] | None = None
    """The suites of a run that this one repeats: a target's speed decides which of the longest and largest it gets."""

    @property
    def command(self) -> str:
        """The command line that repeats this run."""
        words = [] if self.speaks == RFC3629.speaks else ["--profile", self.speaks]
        words += [word for name in self.suites or () for word in ("--suite", name)] + ["--thorough"] * self.thorough
        words += [word for file in self.vectors for word in ("--vectors", file.name)]
        words += options_of(self.plans) if self.plans else ["--no-sweeps"] * (self.plans is not None)
        words += ["--expected", self.expected.name] if self.expected else []
        words += [word for file in self.subjects for word in ("--subject", file)]
        words += ["--threads", str(self.limits.threads)] if self.limits.threads else []
        words += [self.target] if isinstance(self.target, str) else ["--", *self.target]
        return shlex.join(["overlong", "certify", *words])

    def as_json(self) -> dict[str, Any]:
        """The invocation in a certificate, without the target's isolation, which depends on the machine."""
        return {
            "target": self.target if isinstance(self.target, str) else list(self.target),
            "suites": None if self.suites is None else list(self.suites),
            "sweeps": None if self.plans is None else list(self.plans),
            "thorough": self.thorough,
            "vectors": [file.as_json() for file in self.vectors],
            "expected": None if self.expected is None else self.expected.as_json(),
            "limits": {
                "timeout": self.limits.timeout,
                "restarts": self.limits.restarts,
                "memory": self.limits.memory,
                **({"threads": self.limits.threads} if self.limits.threads else {}),
            },
            **({"subjects": list(self.subjects)} if self.subjects else {}),
        }

    @classmethod
    def of_json(cls, said: Mapping[str, Any], profile: str) -> Invocation:
        """The invocation in a certificate that has the form of the schema; ``profile``: as there, ``rfc3629@1``."""
        limits, target = said["limits"], said["target"]
        return cls(
            target if isinstance(target, str) else tuple(target),
            None if said["suites"] is None else tuple(said["suites"]),
            None if said["sweeps"] is None else tuple(said["sweeps"]),
            thorough=said["thorough"],
            vectors=tuple(map(GivenFile.of_json, said["vectors"])),
            expected=None if said["expected"] is None else GivenFile.of_json(said["expected"]),
            limits=Limits(
                limits["timeout"], limits["restarts"], memory=limits["memory"], threads=limits.get("threads", 0)
            ),
            subjects=tuple(said.get("subjects", ())),
            speaks=profile.partition("@")[0],
        )


def fixed(target: str | Sequence[str]) -> str | tuple[str, ...]:
    """A target as an invocation holds it."""
    return target if isinstance(target, str) else tuple(target)


def identifier(target: str | Sequence[str]) -> str:
    """The name under which results speak of a target."""
    return target.removeprefix("builtin:") if isinstance(target, str) else f"-- {shlex.join(target)}"


def words_of_target(target: str) -> str | list[str]:
    """The target that :func:`identifier` names: its name, or the words of its command."""
    command = target.removeprefix("-- ")
    if command == target:
        return target
    try:
        return shlex.split(command)
    except ValueError:  # the name was shortened, or was never a command
        return target


def reproduce_command(verb: str, target: str | Sequence[str], *words: str, profile: Profile = RFC3629) -> str:
    """The command line that repeats a run."""
    named = [target] if isinstance(target, str) else ["--", *target]
    measured_by = [] if profile.speaks == RFC3629.speaks else ["--profile", profile.speaks]
    return shlex.join(["overlong", verb, *measured_by, *words, *named])


def replay_command(vector: Vector, target: str | Sequence[str]) -> str:
    """The command line that asks a vector again; a file of its input is named from the folder of the results."""
    return reproduce_command("replay", target, named(vector), profile=vector.profile)


def reproduced(finding: Finding, target: str | Sequence[str]) -> str:
    """The command line that shows a finding again: its vector, or the sweep with strings that no file holds."""
    if finding.code == Code.GIANT:
        return reproduce_command("sweep", target, *options_of([finding.place]), profile=finding.vector.profile)
    if finding.code == Code.IN_THREADS:
        beside = finding.place.removeprefix(BESIDE)
        words = ("--beside", beside, named(finding.vector))
        return reproduce_command("replay", target, *words, profile=finding.vector.profile)
    return replay_command(finding.vector, target)


def named(vector: Vector) -> str:
    """The vector in the words of ``overlong replay``: its id, every octet of it, or else its file (:func:`file_of`)."""
    name = vector.id
    if "/sha256-" in name and (vector.category in (FOUND, SWEPT) or not _in_a_suite(vector)):
        # ``replay`` looks up a digest in the suites
        name = vector.in_full
    return name if len(name) <= TYPED else file_of(vector)


def spelled(given: Given) -> str:
    """The id that ``overlong replay`` reads: every octet, dots between chunks, a plus after the earlier stream."""
    if category := category_of(given.operation, given.octets, ""):
        return f"{category}/{given.octets.hex() or 'empty'}"
    if given.chunks is None and given.earlier is None:
        return given.octets.hex() or "input/empty"
    chunks = given.chunks if given.chunks is not None else (len(given.octets),)
    text = ".".join(piece.hex() for piece in cut(given.octets, chunks)) or "empty"
    if given.earlier is not None:
        text = f"{'.'.join(chunk.hex() for chunk in given.earlier)}+{text}"
    return f"input/{text}" if text == "empty" else text


def found(given: Given) -> Vector:
    """The vector of a finding of a campaign."""
    chunks = (len(given.octets),) if given.chunks is None and given.earlier is not None else given.chunks
    category = category_of(given.operation, given.octets, FOUND)
    return Vector(category, given.octets, chunks=chunks, earlier=given.earlier)


def replay_found(given: Given, name: str, target: str, profile: Profile, folder: str) -> str:
    """The command that shows a finding of a campaign again; a long input comes from its folder.

    Args:
        given: its input.
        name: its id.
        target: as results name it.
        profile: of the measurement.
        folder: of the campaign.
    """
    words = words_of_target(target)
    vector = found(given)
    typed = spelled(given) if is_typed(vector) else kept_in(Path(folder), vector)
    if typed:
        return reproduce_command("replay", words, typed, profile=profile)
    shown = shlex.join(["overlong", "finding", "show", "--format", "id", folder, name])
    return reproduce_command("replay", words, _FETCHED, profile=profile).replace(_FETCHED, f'"$({shown})"', 1)


@lru_cache(maxsize=256)
def _in_a_suite(vector: Vector) -> bool:
    """True if ``replay`` finds the vector by its id."""
    from overlong.conformance.vectors.export import find_vectors

    try:
        return any(each.octets == vector.octets for each in find_vectors(vector.id))
    except IdError:
        return False


def options_of(names: Iterable[str]) -> list[str]:
    """Plans as words of a command line: ``--plan exhaustive-4 --plan pairs``."""
    return [word for name in names for word in ("--plan", name)]


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
