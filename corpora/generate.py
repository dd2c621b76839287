"""Writes what the code generates: the vectors here, and the registry of ids. ``python corpora/generate.py [--check]``.

``--check`` writes nothing and fails if something is not what the code generates. An id that vanished, or a
frozen profile that changed, is an error either way: ids are added or withdrawn, never re-meant.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path

from overlong.conformance.vectors.export import FORMATS, FolderSink, Selection
from overlong.conformance.vectors.families import all_vectors
from overlong.conformance.vectors.suites import SUITES
from overlong.conformance.vectors.vector import SUITE_VERSION, digest_of_ids, published, withdrawn

HERE = Path(__file__).parent
REGISTRY = HERE.parent / "conformance" / "overlong" / "conformance" / "registry"
PROFILE = "rfc3629@1"
FILES = {
    "core.json": ("json", Selection(("core", "streams"))),
    "complete-0.jsonl": ("jsonl", Selection(("complete-0",))),
}


def ids() -> str:
    """The registry of ids, with new ones at the end."""
    known = dict(published())
    current = [vector.id for vector in all_vectors()]
    lost = set(known) - set(current) - set(withdrawn())
    if lost:
        sys.exit(f"{min(lost)}: an id that was published and is no more; list it in registry/withdrawn.json")
    if again := set(current) & set(withdrawn()):
        sys.exit(f"{min(again)}: withdrawn, and never to be used again")
    for identifier in current:
        known.setdefault(identifier, SUITE_VERSION)
    return "".join(f"{identifier}\t{version}\n" for identifier, version in known.items())


def profile() -> str:
    """The frozen profile: it is what it was when it was made."""
    version = "1.0.0"
    suites = {
        name: [vector.id for vector in suite.vectors()]
        for name, suite in SUITES.items()
        if name in ("core", "streams", "complete-0")
    }
    known = published()
    frozen = {name: [each for each in ids if known.get(each, version) == version] for name, ids in suites.items()}
    data = {
        "profile": PROFILE,
        "version": version,
        "suites": {name: {"count": len(ids), "ids": digest_of_ids(ids)} for name, ids in frozen.items()},
    }
    text = json.dumps(data, indent=1) + "\n"
    path = REGISTRY / f"{PROFILE}.json"
    if path.exists() and path.read_text("ascii") != text:
        sys.exit(f"{path.name}: a frozen profile, and the suites no longer hold it; give new vectors a new version")
    return text


def vectors(folder: Path) -> None:
    """The files of vectors, with their manifest."""
    for name, (form, selection) in FILES.items():
        sink = FolderSink(folder, name)
        FORMATS[form].write(selection, sink.open)
        sink.finish(selection, form, whole_folder=False)
    (folder / ".gitattributes").write_text("# line ends are part of the digests\n* -text\n", "ascii")


def main() -> None:
    """Write the files, or check them."""
    check = sys.argv[1:] == ["--check"]
    with tempfile.TemporaryDirectory() as scratch:
        fresh = Path(scratch)
        wanted = {REGISTRY / "ids.tsv": ids().encode("ascii")}
        if not check:
            (REGISTRY / "ids.tsv").write_bytes(wanted[REGISTRY / "ids.tsv"])
            published.cache_clear()
        wanted[REGISTRY / f"{PROFILE}.json"] = profile().encode("ascii")
        vectors(fresh)
        wanted |= {HERE / "vectors" / path.name: path.read_bytes() for path in fresh.iterdir()}
    stale = [path for path, octets in wanted.items() if not path.exists() or path.read_bytes() != octets]
    if check and stale:
        names = ", ".join(path.name for path in stale)
        sys.exit(f"{names}: not what the code generates; run python corpora/generate.py")
    for path in stale:
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(wanted[path])


if __name__ == "__main__":
    main()
