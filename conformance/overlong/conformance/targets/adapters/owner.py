"""Finds the origin of a Python decoder: a distribution, the standard library, or a user's file.

Runs in the worker, on the standard library alone. The metadata that it reads may be wrong or missing.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from importlib.metadata import Distribution

_SHOWN = 16
"""The shown digits of a digest: enough to distinguish files. A certificate has all digits."""


def version_of(found: Any, place: str, interpreter: str) -> str:
    """``simplejson 4.3.0, CPython 3.11.7``: the package of a decoder, and the interpreter that runs it.

    Args:
        found: the decoder.
        place: the module or the file that the command line names.
        interpreter: its name and version; the whole result for decoders that belong to it or to this package.
    """
    own = place.endswith(".py")
    if own and Path(place).resolve().is_relative_to(Path(__file__).resolve().parent):
        return interpreter
    name = getattr(found, "__module__", None)
    if own and name in (None, Path(place).stem):
        return f"{_digest(place)}, {interpreter}"
    for each in (name, *([] if own else [place])):  # the defining module is more precise than the named one
        module = sys.modules.get(each) if isinstance(each, str) else None
        if module is not None and module.__name__.partition(".")[0] not in sys.stdlib_module_names:
            file = getattr(module, "__file__", None)
            if isinstance(file, str) and (what := _distribution(module.__name__, file) or _digest(file)):
                return f"{what}, {interpreter}"
    return f"{_digest(place)}, {interpreter}" if own else interpreter


def _digest(file: str) -> str:
    import hashlib  # late, like the imports below: most decoders need none, and they double the start's cost

    try:
        with Path(file).open("rb") as opened:
            return f"sha256 {hashlib.file_digest(opened, 'sha256').hexdigest()[:_SHOWN]}"
    except OSError:
        return ""


def _distribution(module: str, file: str) -> str:
    """The name and version of the distribution that lists a file; empty if none does."""
    from importlib import metadata

    try:
        top = module.partition(".")[0]
        try:
            found = metadata.distribution(top)
        except metadata.PackageNotFoundError:
            found = None
        if found is None or not _holds(found, top, file):
            found = next((each for each in metadata.distributions() if _holds(each, top, file)), None)
        return "" if found is None else " ".join(f"{found.metadata['Name']} {found.version}".split())
    except Exception:  # noqa: BLE001 (metadata may be damaged in any way: then it says nothing)
        return ""


def _holds(found: Distribution, top: str, file: str) -> bool:
    """True if a distribution owns a file: by its record, its editable folder, or its module's name."""
    import json
    from urllib.parse import unquote, urlsplit

    direct: Any = json.loads(found.read_text("direct_url.json") or "{}")
    if direct.get("dir_info", {}).get("editable"):
        return Path(file).is_relative_to(unquote(urlsplit(str(direct["url"])).path))
    root = Path(str(found.locate_file("")))
    if not Path(file).is_relative_to(root):
        return False
    record = found.read_text("RECORD")
    if record is not None:
        return f"\n{Path(file).relative_to(root).as_posix()}," in f"\n{record}"
    return top in (found.read_text("top_level.txt") or "").split()
