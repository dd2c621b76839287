"""Destinations of exports: files that appear whole or not at all, with their digests in a manifest."""

from __future__ import annotations

import contextlib
import hashlib
import json
from dataclasses import dataclass, field
from typing import IO, TYPE_CHECKING, Any, Protocol

from overlong.conformance.support.files import written_to
from overlong.conformance.vectors.registry import about

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable
    from pathlib import Path

    from overlong.conformance.vectors.selection import Selection

MANIFEST = "manifest.json"
MANIFEST_SCHEMA = "overlong/manifest-1"
ATTRIBUTES = "# line ends are part of the digests in manifest.json\n* -text\n"


class Writable(Protocol):
    """The methods of a file that a format may use: it is written from start to end."""

    def write(self, octets: bytes, /) -> int:
        """Append octets; return their number."""
        ...

    def writelines(self, lines: Iterable[bytes], /) -> None:
        """Append each of the lines."""
        ...


class _Hashing:
    """A binary file that counts and digests the octets written to it."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._digest = hashlib.sha256()
        self.octets = 0

    def write(self, octets: bytes) -> int:
        self._digest.update(octets)
        self.octets += len(octets)
        return self._file.write(octets)

    def writelines(self, lines: Iterable[bytes]) -> None:
        for line in lines:
            self.write(line)

    def flush(self) -> None:
        self._file.flush()

    @property
    def closed(self) -> bool:
        return self._file.closed

    @property
    def digest(self) -> str:
        return self._digest.hexdigest()


@dataclass
class FolderSink:
    """Writes files into a folder; ``main`` is the main file's name."""

    folder: Path
    main: str
    files: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])

    @contextlib.contextmanager
    def open(self, name: str = "") -> Generator[Any]:
        """Open a file that appears under its name only when it is completely written; a pipe or a device directly.

        Raises:
            OSError: the file cannot be written; then no part of it exists.
        """
        path = self.folder / (name or self.main)
        if not path.parent.exists():
            path.parent.mkdir(parents=True)
        with written_to(path) as file:
            hashing = _Hashing(file.buffer)
            yield hashing
        entry = {"name": name or self.main, "octets": hashing.octets, "sha256": hashing.digest}
        self.files.append(entry)

    def finish(self, selection: Selection, form: str, *, whole_folder: bool) -> None:
        """Write the manifest: for a folder that the export fills alone, or beside the one file."""
        data = {
            **about(selection.words),
            "schema": MANIFEST_SCHEMA,
            "format": form,
            "vectors": selection.count(),
            "files": sorted(self.files, key=lambda each: str(each["name"])),
        }
        with self.open(MANIFEST if whole_folder else f"{self.main}.{MANIFEST}") as file:
            file.write((json.dumps(data, indent=1) + "\n").encode("ascii"))
        if whole_folder and not (self.folder / ".gitattributes").exists():
            with self.open(".gitattributes") as file:
                file.write(ATTRIBUTES.encode("ascii"))


@dataclass
class StreamSink:
    """Writes to one stream, such as standard output; there is no manifest."""

    stream: IO[bytes]

    @contextlib.contextmanager
    def open(self, name: str = "") -> Generator[IO[bytes]]:
        """Open the stream in place of the main file.

        Raises:
            ValueError: ``name`` is another file.
        """
        if name:
            raise ValueError(f"{name} cannot go to a stream")
        yield self.stream
        self.stream.flush()


Sink = FolderSink | StreamSink
"""The destination of a format: one main file, and others beside it."""
