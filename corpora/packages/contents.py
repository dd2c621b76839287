"""What every data package holds: the vectors, the licence, a README with a program that runs."""

from __future__ import annotations

import io
import json
from pathlib import Path

from overlong.conformance.vectors.export import FORMATS, Selection, to_stream
from overlong.conformance.vectors.vector import SUITE_VERSION

NAME = "overlong-vectors"
VERSION = SUITE_VERSION
STEM = f"{NAME}-{VERSION}"
LINE = "Test vectors for UTF-8 decoders, with every expected answer"
SELECTIONS = {"core": Selection(("core", "streams")), "complete": Selection(("complete-0",))}

README = """# overlong-vectors {version}

{line}: `core` holds each known kind of fault, named, and `complete` the strings that no wrong decoder of up to nine
states passes. The answers are those of RFC 3629 and of Unicode chapter 3. The version is the suite's: an id, once
published, never means anything else. All of it is CC0-1.0.

{use}
{more}"""
FIELDS = """`failing` tests the verdict and the text of a strict decoder with both lists. For more, read the fields:
`octets` is the input; `chunks` are the lengths that it comes in, or nothing where it comes whole.
`expect.strict` says whether it is well-formed: then `scalars` is the text, as numbers, and else `offset` the place.
`expect.replacement` is the output of a decoder that replaces each maximal subpart."""


def source(name: str) -> str:
    """A file of ``sources``: a package's own code in its language."""
    return (Path(__file__).parent / "sources" / name).read_text("ascii")


def exported(form: str, name: str) -> bytes:
    """The list of that name, as ``overlong vectors export --format FORM`` writes it."""
    written = io.BytesIO()
    FORMATS[form].write(SELECTIONS[name], to_stream(written))
    return written.getvalue()


def data() -> dict[str, bytes]:
    """The files that most packages hold, by their names."""
    held = {"LICENSE": (Path(__file__).parents[1] / "LICENSE").read_bytes()}
    for name in SELECTIONS:
        whole = json.loads(exported("json", name))
        held[f"{name}.json"] = json.dumps(whole, separators=(",", ":")).encode("ascii") + b"\n"
    return held


def readme(homepage: str | None, install: str, language: str, example: str, fields: str = FIELDS) -> bytes:
    """A package's README: what to do in a project, a program that judges the language's decoder, what fields are."""
    use = f"    {install}\n\n```{language}\n{example}```\n\n{fields}"
    more = f"\nThey come from <{homepage}>.\n" if homepage else ""
    return README.format(version=VERSION, line=LINE, use=use, more=more).encode("ascii")
