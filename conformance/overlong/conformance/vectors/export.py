"""Selects vectors by suites, families, flags and ids, or one by its id; and exports a selection in a format."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from functools import lru_cache
from importlib import import_module
from itertools import islice
from pathlib import Path
from typing import IO, TYPE_CHECKING

from overlong.conformance.protocol.wire import ASKING, ENCODING
from overlong.conformance.support.files import is_direct, written_to
from overlong.conformance.support.printable import did_you_mean, nearest
from overlong.conformance.vectors.expected import WIDTHS
from overlong.conformance.vectors.families import all_vectors
from overlong.conformance.vectors.suites import GENERATED, SUITES, suite_named
from overlong.conformance.vectors.vector import LONGEST_HEX, IdError, Vector, about, withdrawn
from overlong.reference.core.building import install
from overlong.reference.questions import QUESTIONS

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator, Mapping

    from overlong.conformance.vectors.suites.suite import ByteRangeSequence, Suite


BLOCK = 1024
"""The number of vectors in memory at once, if they come in lists."""


class SelectionError(ValueError):
    """An impossible selection or export, or one that matches nothing; the message says what is possible."""


@dataclass(frozen=True)
class Selection:
    """Vectors of ``suites`` that fit each of the other criteria; an empty criterion fits all."""

    suites: tuple[str, ...] = ("core", "streams")
    families: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()
    ids: tuple[str, ...] = ()
    """Globs, over ids and names of cases."""

    @property
    def words(self) -> str:
        """The selection in words: ``core``, ``core, flag OV201``."""
        parts = [", ".join(self.suites)]
        parts += [f"{kind} {value}" for kind, values in self._criteria for value in values]
        return ", ".join(parts)

    @property
    def _criteria(self) -> tuple[tuple[str, tuple[str, ...]], ...]:
        return ("family", self.families), ("flag", self.flags), ("id", self.ids)

    @property
    def whole(self) -> bool:
        """True if no criterion narrows the suites."""
        return not any(values for _, values in self._criteria)

    def fits(self, vector: Vector) -> bool:
        """True if the vector meets all criteria other than the suite."""
        return (
            (not self.families or not self._categories(vector).isdisjoint(self.families))
            and (not self.flags or not set(self.flags).isdisjoint(vector.flags))
            and (
                not self.ids or any(fnmatchcase(name, glob) for glob in self.ids for name in (vector.id, *vector.cases))
            )
        )

    @staticmethod
    def _categories(vector: Vector) -> set[str]:
        return {vector.category, *(case.partition("/")[0] for case in vector.cases)}

    def vectors(self) -> Iterator[Vector]:
        """The selected vectors, in the order of the suites; never all in memory.

        Raises:
            SelectionError: there is no such suite.
        """
        for block in self.blocks():
            yield from block if isinstance(block, list) else block.vectors()

    def count(self) -> int:
        """The number of selected vectors."""
        if self.whole:
            return sum(find_suite(name).size for name in self.suites)
        return sum(map(len, self.blocks()))

    def blocks(self) -> Iterator[ByteRangeSequence | list[Vector]]:
        """The selected vectors: as byte-range sequences if a whole suite consists of them, otherwise in lists.

        Raises:
            SelectionError: there is no such suite.
        """
        for name in self.suites:
            suite = find_suite(name)
            if suite.sequences is not None and self.whole:
                yield from suite.sequences()
                continue
            chosen = suite.vectors() if self.whole else filter(self.fits, suite.vectors())
            while block := list(islice(chosen, BLOCK)):
                yield block


def find_suite(name: str) -> Suite:
    """The suite of that name.

    Raises:
        SelectionError: there is no such suite; the message lists all suites.
    """
    try:
        return suite_named(name)
    except KeyError:
        raise SelectionError(f"no suite {name!r}; {did_you_mean(name, (*SUITES, *GENERATED))}") from None


def find_vectors(name: str) -> tuple[Vector, ...]:
    """The vectors of an id or of a case; an id that spells octets works even if no suite has them.

    Raises:
        IdError: there is no such vector.
    """
    named = tuple(vector for vector in all_vectors() if name in (vector.id, *vector.cases))
    if named:
        return named
    if name in withdrawn():
        gone = withdrawn()[name]
        raise IdError(f"{name} was withdrawn in version {gone['version']}: {gone['reason']}")
    category, digest, _ = name.partition("/sha256-")
    if digest:
        if name in (known := _named_by_digest(category)):
            return (known[name],)
        raise IdError(f"no suite has a vector {name!r}; digests are in the ids of long inputs only")
    try:
        return (Vector.from_id(name),)
    except IdError as error:
        cases = {case for vector in all_vectors() for case in vector.cases}
        near = nearest(name, cases)
        if not near:
            raise
        raise IdError(f"{error}; the nearest case is {near[0]}") from None


@lru_cache(maxsize=8)
def _named_by_digest(category: str) -> Mapping[str, Vector]:
    """The vectors of a category whose ids have a digest, from all suites; for each id the first vector."""
    found: dict[str, Vector] = {}
    for suite in SUITES.values():
        asks = set(suite.asks)
        if (category in WIDTHS) != bool(asks & set(ENCODING)) or (category in QUESTIONS) != bool(asks & set(ASKING)):
            continue  # to make some suites takes seconds
        one = replace(suite.profile, functions=category) if category in QUESTIONS else suite.profile
        for batch in replace(suite, profile=one).batches():
            if batch.category == category and max(batch.lengths) > LONGEST_HEX:
                for place, length in enumerate(batch.lengths):
                    if length > LONGEST_HEX:
                        vector = batch[place]
                        found.setdefault(vector.id, vector)
    return found


# Destinations: files that appear whole or not at all, with their digests in a manifest.

MANIFEST = "manifest.json"
MANIFEST_SCHEMA = "overlong/manifest-1"
ATTRIBUTES = "# line ends are part of the digests in manifest.json\n* -text\n"


Opened = Callable[..., AbstractContextManager[IO[bytes]]]
"""Opens a destination: the main file of a format, or another one beside it by name."""


@dataclass
class FolderSink:
    """Writes files into a folder; ``main`` is the main file's name."""

    folder: Path
    main: str
    files: list[str] = field(default_factory=list[str])
    """The names of the files written so far."""

    @contextlib.contextmanager
    def open(self, name: str = "") -> Generator[IO[bytes]]:
        """Open a file that appears under its name only when it is completely written.

        Raises:
            OSError: the file cannot be written; then no part of it exists.
        """
        path = self.folder / (name or self.main)
        if not path.parent.exists():
            path.parent.mkdir(parents=True)
        with written_to(path) as file:
            yield file.buffer
        self.files.append(name or self.main)

    def finish(self, selection: Selection, form: str, *, whole_folder: bool) -> None:
        """Write the manifest: for a folder that the export fills alone, or beside the one file."""
        data = {
            **about(selection.words),
            "schema": MANIFEST_SCHEMA,
            "format": form,
            "vectors": selection.count(),
            "files": list(map(self._entry, sorted(self.files))),
        }
        with self.open(MANIFEST if whole_folder else f"{self.main}.{MANIFEST}") as file:
            file.write((json.dumps(data, indent=1) + "\n").encode("ascii"))
        if whole_folder and not (self.folder / ".gitattributes").exists():
            with self.open(".gitattributes") as file:
                file.write(ATTRIBUTES.encode("ascii"))

    def _entry(self, name: str) -> dict[str, object]:
        """What the manifest says of a file."""
        path = self.folder / name
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        return {"name": name, "octets": path.stat().st_size, "sha256": digest}


def to_stream(stream: IO[bytes]) -> Opened:
    """Opens a stream, such as standard output, in place of the main file; there is no manifest."""
    return lambda: contextlib.nullcontext(stream)


# Export: a selection, in a format, to a file or a folder.


@dataclass(frozen=True)
class VectorFormat:
    """A format of vector files."""

    name: str
    module: str
    """The module of ``formats`` whose ``WRITERS`` have it; it is imported when it is used."""
    file: str
    """The main file's name if the user gave only a folder."""
    several: bool = False
    """The format writes more than its main file, so it needs a folder."""
    extra: str = ""
    """The extra of the distribution that the format needs, if any."""

    def write(self, selection: Selection, opened: Opened) -> None:
        """Write the vectors.

        Raises:
            ModuleNotFoundError: the extra is not installed.
        """
        import_module(f"overlong.conformance.vectors.formats.{self.module}").WRITERS[self.name](selection, opened)


FORMATS = {
    form.name: form
    for form in (
        VectorFormat("json", "data", "vectors.json"),
        VectorFormat("jsonl", "data", "vectors.jsonl"),
        VectorFormat("tsv", "data", "vectors.tsv"),
        VectorFormat("csv", "data", "vectors.csv"),
        VectorFormat("frames", "data", "vectors.frames"),
        VectorFormat("c-header", "programs", "utf8_vectors.h"),
        VectorFormat("rust", "programs", "utf8_vectors.rs"),
        VectorFormat("go", "programs", "utf8_vectors.go"),
        VectorFormat("javascript", "programs", "utf8_vectors.mjs"),
        VectorFormat("java", "programs", "Utf8Vectors.java"),
        VectorFormat("python", "programs", "utf8_vectors.py"),
        VectorFormat("text", "text", "utf8_vectors.txt", several=True),
        VectorFormat("libfuzzer", "text", "utf8.dict", several=True),
        VectorFormat("arrow", "columnar", "vectors.arrow", extra="columns"),
        VectorFormat("parquet", "columnar", "vectors.parquet", extra="columns"),
    )
}
OTHERS = {"c": "c-header", "h": "c-header", "js": "javascript", "py": "python", "rs": "rust"}
"""Other names of formats."""


def export(selection: Selection, form: str, output: str | None, stream: IO[bytes]) -> list[str]:
    """Write the vectors; returns the names of the files, the main one first, also the manifest; none for a stream.

    Args:
        selection: which vectors.
        form: a name from :data:`FORMATS`.
        output: a file, or a folder (it exists, or its name ends in a separator); None for ``stream``.
        stream: where a format of one file goes without ``output``.

    Raises:
        SelectionError: the selection is empty or impossible; or the format needs a folder, or an extra that is not
            installed.
        OSError: the files cannot be written; none is then left half-written.
    """
    chosen = FORMATS[form]
    if next(selection.vectors(), None) is None:
        raise SelectionError(f"no vector matches: {selection.words}")
    try:
        if output is None:
            if chosen.several:
                raise SelectionError(f"{form} writes several files; name a folder with -o")
            chosen.write(selection, to_stream(stream))
            stream.flush()
            return []
        path = Path(output)
        folder = path.is_dir() or chosen.several or output.endswith(("/", os.sep))
        if folder and path.exists() and not path.is_dir():
            raise SelectionError(f"{form} needs a folder; {output} is a file: name another with -o")
        if is_direct(path) and not folder:
            with written_to(path) as file:
                chosen.write(selection, to_stream(file.buffer))
            return [output]
        sink = FolderSink(path, chosen.file) if folder else FolderSink(path.parent, path.name)
        chosen.write(selection, sink.open)
    except ModuleNotFoundError as error:
        if not chosen.extra:
            raise
        raise SelectionError(f"{form} needs {error.name}, which is not installed; {install(chosen.extra)}") from None
    sink.finish(selection, form, whole_folder=folder)
    return [str(sink.folder / name) for name in sorted(sink.files, key=lambda name: name != sink.main)]
