"""The decoder's files that a certificate names, compared with those that are here. Nothing is run."""

from __future__ import annotations

import os
import re
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

from overlong.conformance.certification.verification.reading import CertificateError
from overlong.conformance.support.portable import sha256_of
from overlong.conformance.support.printable import printable
from overlong.conformance.targets.loaded_files import PYTHON

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from overlong.conformance.certification.verification.reading import Certified


def places_of(certified: Certified, given: Sequence[Path] = ()) -> dict[str, Path]:
    """The places of the files that the run added to those of the decoder's command line, by their names.

    Raises:
        CertificateError: other places are given than it names files.
    """
    names = certified.subjects
    if given and len(given) != len(names):
        raise CertificateError(
            f"{printable(str(certified.path))}: it names {len(names)} files as further subjects, and {len(given)} are "
            "given: name each with --subject"
        )
    return dict(zip(names, given or map(Path, names), strict=True))


def absent(certified: Certified, given: Sequence[Path] = ()) -> list[str]:
    """The names of these files that are not here, so that nothing can be compared with them."""
    return [name for name, place in places_of(certified, given).items() if not _is_file(place)]


def files_here(certified: Certified, given: Sequence[Path] = ()) -> dict[str, str]:
    """The digests of the decoder's files that are here, by their names among the subjects.

    Raises:
        CertificateError: as :func:`places_of`.
        OSError: one cannot be read.
    """
    named = {each["name"] for each in certified.statement["subject"]}
    own = {path.name: path for path in map(Path, _parts(certified.target)) if path.name in named and _inside(path)}
    places = {**own, **_modules(named, certified.target), **places_of(certified, given)}
    return {name: sha256_of(path) for name, path in places.items() if _is_file(path)}


def with_files_here(subjects: list[dict[str, Any]], here: dict[str, str]) -> list[dict[str, Any]]:
    """The subjects with these digests; one of each name has to have it, since several files may share a name."""
    derived = [dict(each) for each in subjects]
    for name, digest in here.items():
        found = [each for each in derived if each["name"] == name]
        if not found:
            derived.append({"name": name, "digest": {"sha256": digest}})
        elif all(each["digest"] != {"sha256": digest} for each in found):
            found[0]["digest"] = {"sha256": digest}
    return derived


def _is_file(path: Path) -> bool:
    return os.path.isfile(path)  # noqa: PTH113 (a name too long is no file, and no error)


def _inside(path: Path) -> bool:
    """True if a path does not leave the current folder."""
    return not path.is_absolute() and ".." not in path.parts and "\0" not in str(path)


def _modules(named: Iterable[str], target: str | tuple[str, ...]) -> dict[str, Path]:
    """The places of the modules of ``py:MODULE:CALLABLE`` or ``py:FILE.py:CALLABLE`` among the names of subjects."""
    kind, _, rest = target.partition(":") if isinstance(target, str) else ("", "", "")
    if kind != "py":
        return {}
    module = rest.partition("?")[0].rpartition(":")[0]
    top = module.partition(".")[0]
    file = Path(module if module.endswith(".py") else f"{top}.py")
    is_here = _inside(file) and _is_file(file)  # and with it what it imports from its folder
    names = (name for name in named if name.endswith(PYTHON) and (is_here or name.startswith(f"{top}/")))
    return {name: file.parent / name for name in names if _inside(file.parent / name)}


def _parts(target: str | tuple[str, ...]) -> Iterable[str]:
    """The parts of a name that may be paths: words of a command, and what stands between colons and before ``?``."""
    if isinstance(target, tuple):
        return target
    try:
        words = shlex.split(target)
    except ValueError:
        words = [target]
    return [part for word in words for part in (word, *re.split("[:?]", word))]
