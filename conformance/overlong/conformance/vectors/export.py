"""Export: a selection, in a format, to a file or a folder."""

from __future__ import annotations

import os
from importlib import import_module
from pathlib import Path
from typing import IO, TYPE_CHECKING

from overlong.conformance.support.whole_file import is_direct, written_to
from overlong.conformance.vectors.selection import SelectionError
from overlong.conformance.vectors.sink import FolderSink, StreamSink
from overlong.reference.extra import install

if TYPE_CHECKING:
    from overlong.conformance.vectors.formats.format import VectorFormat
    from overlong.conformance.vectors.selection import Selection

_MODULES = {
    **dict.fromkeys(("json", "jsonl", "tsv", "csv"), "data"),
    "frames": "frames",
    **dict.fromkeys(("c-header", "rust", "go", "javascript", "java", "python"), "programs"),
    "text": "text",
    "libfuzzer": "libfuzzer",
    **dict.fromkeys(("arrow", "parquet"), "columnar"),
}
"""For each format its module in ``formats``, which is imported when it is used."""
FORMATS = tuple(_MODULES)
OTHERS = {"c": "c-header", "h": "c-header", "js": "javascript", "py": "python", "rs": "rust"}
"""Other names of formats."""


class ExportError(ValueError):
    """An impossible export; the message names a remedy."""


def format_named(name: str) -> VectorFormat:
    """The format of that name.

    Raises:
        KeyError: there is none.
    """
    if name not in FORMATS:
        raise KeyError(name)
    module = import_module(f"overlong.conformance.vectors.formats.{_MODULES[name]}")
    found: VectorFormat = module.FORMATS[name]
    return found


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
    chosen = format_named(form)
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
