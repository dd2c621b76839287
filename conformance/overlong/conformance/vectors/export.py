"""Export: a selection, in a format, to a file or a folder."""

from __future__ import annotations

import os
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import IO, TYPE_CHECKING

from overlong.conformance.support.files import is_direct, written_to
from overlong.conformance.vectors.selection import SelectionError
from overlong.conformance.vectors.sink import FolderSink, StreamSink
from overlong.reference.core.building import install

if TYPE_CHECKING:
    from overlong.conformance.vectors.selection import Selection
    from overlong.conformance.vectors.sink import Sink


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

    def write(self, selection: Selection, sink: Sink) -> None:
        """Write the vectors.

        Raises:
            ModuleNotFoundError: the extra is not installed.
        """
        import_module(f"overlong.conformance.vectors.formats.{self.module}").WRITERS[self.name](selection, sink)


FORMATS = {
    form.name: form
    for form in (
        VectorFormat("json", "data", "vectors.json"),
        VectorFormat("jsonl", "data", "vectors.jsonl"),
        VectorFormat("tsv", "data", "vectors.tsv"),
        VectorFormat("csv", "data", "vectors.csv"),
        VectorFormat("frames", "frames", "vectors.frames"),
        VectorFormat("c-header", "programs", "utf8_vectors.h"),
        VectorFormat("rust", "programs", "utf8_vectors.rs"),
        VectorFormat("go", "programs", "utf8_vectors.go"),
        VectorFormat("javascript", "programs", "utf8_vectors.mjs"),
        VectorFormat("java", "programs", "Utf8Vectors.java"),
        VectorFormat("python", "programs", "utf8_vectors.py"),
        VectorFormat("text", "text", "utf8_vectors.txt", several=True),
        VectorFormat("libfuzzer", "libfuzzer", "utf8.dict", several=True),
        VectorFormat("arrow", "columnar", "vectors.arrow", extra="columns"),
        VectorFormat("parquet", "columnar", "vectors.parquet", extra="columns"),
    )
}
OTHERS = {"c": "c-header", "h": "c-header", "js": "javascript", "py": "python", "rs": "rust"}
"""Other names of formats."""


class ExportError(ValueError):
    """An impossible export; the message names a remedy."""


def export(
    selection: Selection,
    form: str,
    output: str | None,
    stream: IO[bytes],
) -> list[str]:
    """Write the vectors; returns the names of the files, the main one first, also the manifest; none for a stream.

    Args:
        selection: which vectors.
        form: a name from :data:`FORMATS`.
        output: a file, or a folder (it exists, or its name ends in a separator); None for ``stream``.
        stream: where a format of one file goes without ``output``.

    Raises:
        SelectionError: the selection is empty, or impossible.
        ExportError: the format needs a folder, or an extra that is not installed.
        OSError: the files cannot be written; none is then left half-written.
    """
    chosen = FORMATS[form]
    if next(selection.vectors(), None) is None:
        raise SelectionError(f"no vector matches: {selection.words}")
    try:
        if output is None:
            if chosen.several:
                raise ExportError(f"{form} writes several files; name a folder with -o")
            chosen.write(selection, StreamSink(stream))
            return []
        path = Path(output)
        folder = path.is_dir() or chosen.several or output.endswith(("/", os.sep))
        if folder and path.exists() and not path.is_dir():
            raise ExportError(f"{form} needs a folder; {output} is a file: name another with -o")
        if is_direct(path) and not folder:
            with written_to(path) as file:
                chosen.write(selection, StreamSink(file.buffer))
            return [output]
        sink = FolderSink(path, chosen.file) if folder else FolderSink(path.parent, path.name)
        chosen.write(selection, sink)
    except ModuleNotFoundError as error:
        if not chosen.extra:
            raise
        raise ExportError(f"{form} needs {error.name}, which is not installed; {install(chosen.extra)}") from None
    sink.finish(selection, form, whole_folder=folder)
    names = [str(each["name"]) for each in sink.files]
    return [str(sink.folder / name) for name in sorted(names, key=lambda name: name != sink.main)]
