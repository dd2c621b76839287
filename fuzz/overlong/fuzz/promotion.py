"""Turn a finding into a vector in its own file, which ``overlong certify TARGET --vectors FOLDER`` runs; or into a
regression test in the decoder's language, for its author to keep.

A test does not need overlong. It calls the author's own function, in one place marked ``ADAPT``; for a target
``py:...`` or ``so:...`` the function is known. Unchanged, it tests a decoder of the language, except in C, which has
none. Each language has a template.
"""

from __future__ import annotations

import hashlib
import json
import keyword
import re
import shlex
import textwrap
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from overlong.conformance.oracle.finding import ID, expected_in_words
from overlong.conformance.oracle.target import UnknownTarget
from overlong.conformance.protocol.observation import Code
from overlong.conformance.protocol.wire import (
    AGAIN,
    DECODE,
    ENCODING,
    GUARDED,
    OPERATIONS,
    OTHER_INPUT,
    REPLACING,
    VALIDATE,
)
from overlong.conformance.report.text import is_difference
from overlong.conformance.support.printable import plain, printable
from overlong.conformance.support.strict_json import JsonError
from overlong.conformance.targets.adapters.abi import ABIS, Abi
from overlong.conformance.targets.commands import FunctionName
from overlong.conformance.vectors.check import CheckError, vectors_in
from overlong.conformance.vectors.formats.text import escaped, templates, wrapped
from overlong.conformance.vectors.vector import FOUND, RFC3629, Vector, document_of
from overlong.fuzz.campaign.corpus import CampaignError
from overlong.fuzz.campaign.state import REPETITIONS
from overlong.reference import DEFECTS, Rejected, encode

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from overlong.fuzz.report import Found


_SHOWN = 120
"""The most characters of a target's name in a comment."""


def promote(stored: Found, folder: Path) -> Path:
    """Write a finding as a vector, and return its file: ``D-7f3a0c19.json`` in ``folder``.

    The file holds the answer that RFC 3629 demands; the target's answer is only in words. If the vector exists
    already, nothing is written; if another vector has the name, the name gets a suffix.

    Raises:
        CampaignError: it is a difference, which RFC 3629 leaves open; it is an encoder's; or its target was measured
            by another dialect.
        OSError: the folder cannot be written.
    """
    check(stored)
    vector = vector_of(stored)
    folder.mkdir(parents=True, exist_ok=True)
    suffix = hashlib.sha256(vector.id.encode("ascii")).hexdigest()[:8]
    text = document(stored, vector)
    for path in (folder / f"{stored.id}.json", folder / f"{stored.id}-{suffix}.json"):
        if _is_there(path, vector) or _written(path, text):
            return path
    raise CampaignError(f"{printable(str(path))}: holds another vector; move it away")


def vector_of(stored: Found) -> Vector:
    """The vector of a finding; its comment names the target, the fault and the place."""
    target = printable(stored.target, _SHOWN)
    asked = OPERATIONS.get(stored.operation, "asked")
    where = f", {stored.where}" if stored.where else ""
    comment = (
        f"{stored.id}, found in {target} ({asked}): {stored.title} ({stored.code}){where}; "
        f"expected: {stored.expected}; observed: {stored.observed}"
    )
    return Vector(
        FOUND,
        stored.octets,
        printable(comment, 600),
        (len(stored.octets),) if stored.chunks is None and stored.earlier is not None else stored.chunks,
        decoder=target,
        earlier=stored.earlier,
    )


def document(stored: Found, vector: Vector) -> str:
    """The file, by ``schemas/vectors-1.schema.json``: one vector, each member on a line."""
    return json.dumps(document_of(vector, f"finding {stored.id}"), indent=1) + "\n"


def checked_id(stored: Found) -> str:
    """The finding's id, which names files and functions.

    Raises:
        CampaignError: it cannot become a vector, or the folder is not a run's.
    """
    if not ID.fullmatch(stored.id):
        raise CampaignError(f"{printable(stored.id, 40)}: no id of a finding; ids are D- and eight digits")
    return stored.id


def check(stored: Found) -> None:
    """Check that it can be a vector.

    Raises:
        CampaignError: as :func:`promote`.
    """
    name = checked_id(stored)
    if is_difference(stored):
        raise CampaignError(
            f"{name}: a difference between two targets, which RFC 3629 leaves open: no vector can say which is right"
        )
    of_a_decoder(stored, "vectors in files")
    not_alone(stored)
    if stored.measured_by != RFC3629.name:
        raise CampaignError(
            f"{name}: measured by {printable(stored.measured_by, 40)}, and files of vectors hold what RFC 3629 says; "
            "keep the campaign's folder"
        )


def of_a_decoder(stored: Found, what: str) -> None:
    """Refuse a finding of anything else; ``what``: is for decoders.

    Raises:
        CampaignError: it is that.
    """
    if stored.operation in OTHER_INPUT:
        target = "an encoder" if stored.operation in ENCODING else "a function beside decoding"
        raise CampaignError(f"{stored.id}: of {target}, and {what} are for decoders; keep the results")


def not_alone(stored: Found) -> None:
    """Refuse a finding that no vector can hold: strings that are not a stream, one right after another.

    Raises:
        CampaignError: it is that.
    """
    if stored.earlier is not None and stored.operation not in AGAIN:
        raise CampaignError(
            f"{stored.id}: it shows only right after another string, which neither a vector nor a test of one says; "
            "sweep it again"
        )


def _is_there(path: Path, vector: Vector) -> bool:
    """True if the file holds this vector."""
    try:
        return [each.id for each in vectors_in(path)] == [vector.id]
    except (FileNotFoundError, CheckError, JsonError):
        return False


def _written(path: Path, text: str) -> bool:
    """Write a file, unless there is one of that name."""
    try:
        file = path.open("x", encoding="ascii", newline="\n")
    except FileExistsError:
        return False
    with file:
        file.write(text)
    return True


_UNSAID: dict[str, str] = {
    Code.LENGTH: "how many octets a refusal covers",
    Code.INCOMPLETE: "whether a refusal says that input is missing",
    Code.HELD_BACK: "in which chunk something is output",
    Code.LATE: "in which chunk a stream is refused",
    Code.EARLY: "in which chunk an answer comes",
    Code.MISBEHAVED: "what an adapter writes",
}
"""Codes of aspects that functions do not report in the same way in all programs."""
_OFFSETS = (Code.OFFSET, Code.STREAM_OFFSET)
_UNSTABLE = (Code.UNSTABLE, Code.EARLIER_CALLS)
_WIDTH = 76
"""The width of a comment without its mark."""


@dataclass(frozen=True)
class Case:
    """One test. All its text is ASCII without backslashes, which is safe in comments of every language."""

    id: str
    target: str
    """The target's name in the run; raw: code that writes it must check it first."""
    comment: tuple[str, ...]
    octets: bytes
    chunks: tuple[int, ...] | None
    """The chunks of a stream; None if the input is whole."""
    earlier: tuple[bytes, ...] | None
    """The chunks of an earlier stream for the same decoder."""
    validates: bool
    """The target gives only a verdict."""
    replaces: bool
    """The decoder replaces ill-formed octets by U+FFFD."""
    scalars: tuple[int, ...] | None
    """The expected output; None for a refusal."""
    offset: int | None
    """The offset of the refusal, if the test checks it."""
    times: int
    """How often the test asks."""

    @property
    def name(self) -> str:
        """``d_7f3a0c19``."""
        return self.id.lower().replace("-", "_")

    @property
    def title_name(self) -> str:
        """``D7f3a0c19``."""
        return self.id.replace("-", "")

    @property
    def is_stream(self) -> bool:
        return self.chunks is not None or self.earlier is not None

    @property
    def lengths(self) -> tuple[int, ...]:
        """Lengths of the chunks."""
        return (len(self.octets),) if self.chunks is None else self.chunks

    @property
    def text(self) -> str:
        """The expected output; empty for a refusal."""
        return "".join(map(chr, self.scalars or ()))


def case_of(stored: Found, folder: str) -> Case:
    """The test of a finding.

    Args:
        stored: the finding.
        folder: the run's folder, for the command that explains it.

    Raises:
        CampaignError: no test can show the fault; the message has the reason and an alternative.
    """
    name = checked_id(stored)
    if is_difference(stored):
        raise CampaignError(f"{name}: a difference, which RFC 3629 leaves open: no test can say which is right")
    if stored.code in _UNSAID:
        raise CampaignError(
            f"{name}: {stored.code} is about {_UNSAID[stored.code]}, which a test cannot tell in every language; "
            "promote it, and let overlong certify --vectors test it"
        )
    of_a_decoder(stored, "these tests")
    if stored.operation not in OPERATIONS:
        raise CampaignError(f"{name}: {printable(stored.operation, 20)} is no operation of a decoder")
    not_alone(stored)
    replaces = stored.operation in REPLACING
    if replaces and stored.code in DEFECTS:
        raise CampaignError(
            f"{name}: its error mode is not known, and any output but that one is right, which a test cannot tell; "
            "promote it, and let overlong certify --vectors test it"
        )
    vector = Vector("fuzz", stored.octets, chunks=stored.chunks)
    answer = vector.replaced if replaces else vector.strict
    refused = isinstance(answer, Rejected)
    offset = answer.offset if isinstance(answer, Rejected) and stored.code in _OFFSETS else None
    if stored.operation != GUARDED:
        words = expected_in_words(answer, DECODE)
        known = stored.expected.startswith("reject at" if refused and offset is None else words)
        if not known:
            raise CampaignError(
                f"{name}: the run expected '{printable(stored.expected, 80)}', after what the target says of "
                f"itself, and RFC 3629 by itself says '{words}'; promote it, and let overlong certify --vectors test it"
            )
    return Case(
        name,
        stored.target,
        tuple(_comment(stored, folder)),
        stored.octets,
        stored.chunks,
        stored.earlier,
        stored.operation == VALIDATE,
        replaces,
        None if isinstance(answer, Rejected) else answer.scalars,
        offset,
        REPETITIONS if stored.code in _UNSTABLE else 1,
    )


def _comment(stored: Found, folder: str) -> Iterator[str]:
    where = f", {stored.section}" if stored.section else ""
    yield "A regression test that overlong wrote. It needs nothing of overlong's."
    yield ""
    lines = (
        f"{stored.id}: {stored.title} ({stored.code}{where})",
        f"found in: {stored.target}",
        f"operation: {OPERATIONS[stored.operation]}",
        f"expected: {stored.expected}",
        f"observed: {stored.observed}",
        f"explained by: overlong explain {shlex.quote(folder)} {stored.id}",
    )
    for line in lines:
        yield from textwrap.wrap(plain(line), _WIDTH, subsequent_indent="  ", break_on_hyphens=False)


_PER_LINE = 16
"""The octets in a line of a literal."""
_COLUMNS = 96
"""The width of a prototype in C."""
_NO_BREAK = "\N{NO-BREAK SPACE}"
_C_NAME = r"[A-Za-z_][A-Za-z0-9_]*"
_TYPES = {"utf-8": "char", "utf-16": "char16_t", "utf-32": "char32_t"}
_STRUCT = "struct { int error; size_t count; }"
_NAMED_STRUCT = "struct answer {\n    int error;\n    size_t count;\n};\n"


def _python(case: Case) -> dict[str, Any]:
    """The decoder in the target's name, or Python's own in its place."""
    place, _, name = case.target.removeprefix("py:").partition("?")[0].rpartition(":")
    named = case.target.startswith("py:") and all(map(_is_name, name.split(".")))
    in_file = named and place.endswith(".py") and place.isprintable()
    is_own = in_file or (named and all(map(_is_name, place.split("."))))
    if not is_own:
        name = "Decoder" if case.is_stream else "decode"
    decoder = {
        "name": name,
        "first": name.partition(".")[0],
        "is_class": name.rpartition(".")[2][:1].isupper(),
        "is_own": is_own,
        "module": "" if in_file or not is_own else place,
        "file": json.dumps(place) if in_file else "",
    }
    return {"decoder": decoder}


def _is_name(text: str) -> bool:
    return re.fullmatch(_C_NAME, text) is not None and not keyword.iskeyword(text)


def _c(case: Case) -> dict[str, Any]:
    """The call of the function, the code that reads its answer, and its expected units."""
    abi, names, is_own = _function(case)
    function = {
        "abi": abi,
        "names": names,
        "is_own": is_own,
        "unit": _TYPES.get(abi.units, ""),
        "kind": re.sub(r"^utf\d+", "", abi.name),
        "prototypes": _prototypes(abi, names),
    }
    expected: Iterable[int] = encode(case.text)
    if function["unit"] in ("char16_t", "char32_t"):
        size = 2 if function["unit"] == "char16_t" else 4
        octets = case.text.encode(f"utf-{8 * size}-le")
        expected = [int.from_bytes(octets[at : at + size], "little") for at in range(0, len(octets), size)]
    return {"function": function, "expected": expected}


def _function(case: Case) -> tuple[Abi, tuple[str, ...], bool]:
    """The function that the target names, or names to adapt; whether it is the target's."""
    if case.target.startswith("so:"):
        try:
            named = FunctionName.of("", case.target.removeprefix("so:"), "")
        except UnknownTarget:
            named = None
        abi = ABIS.get(named.abi) if named is not None else None
        if named is not None and abi is not None:
            names = tuple(named.name.split(","))
            needed = (5 if case.earlier is not None else 4) if abi.functions else 1
            fits = len(names) >= needed and bool(abi.functions) >= case.is_stream
            if fits and all(re.fullmatch(_C_NAME, name) for name in names):
                return abi, names, True
    abi = ABIS["stream-utf32(state,ptr,len,out,cap)" if case.is_stream else "utf32(ptr,len,out,cap)"]
    return abi, tuple(f"your_{role}" for role in abi.functions) or ("your_decoder",), False


def _prototypes(abi: Abi, names: Sequence[str]) -> list[str]:
    """The lines that declare a function, or a stream's functions."""
    lines: list[str] = []
    roles = abi.functions or ("f",)
    texts = abi.prototype.split("; ") if abi.functions else [abi.prototype]
    for text, _ in zip(texts, names, strict=False):
        declared = text
        if text.startswith(_STRUCT):
            lines += _NAMED_STRUCT.split("\n")
            declared = f"struct answer{text.removeprefix(_STRUCT)}"
        for role, name in zip(roles, names, strict=False):
            declared = re.sub(rf"(?<!_)\b{role}\(", f"{name}(", declared)
        whole = re.sub(r"(?<!,) ", _NO_BREAK, f"{declared};")  # lines break after a comma
        broken = textwrap.wrap(whole, _COLUMNS, subsequent_indent=" " * 8, break_long_words=False)
        lines += [line.replace(_NO_BREAK, " ") for line in broken]
    return lines


@dataclass(frozen=True)
class TestLanguage:
    """A language of tests."""

    name: str
    """Its name on the command line, and its template's."""
    file: str
    """A file name, with ``{name}`` (``d_7f3a0c19``) or ``{Name}`` (``D7f3a0c19``) in it."""
    run: str
    """The command that runs the file, with ``{file}`` and the names above."""
    of: tuple[str, ...]
    """The languages of decoders, as they name them, that get tests in this one."""
    more: Callable[[Case], dict[str, Any]] = lambda _case: {}
    """Further values for its template."""

    def write(self, case: Case) -> str:
        """The test, in the format of the language's own formatter."""
        environment = templates(Path(__file__).parent / "templates")
        environment.filters.update(_FILTERS)
        return environment.get_template(f"{self.name}.jinja").render(
            case=case,
            accepts=case.scalars is not None,
            again=case.earlier is not None,
            earlier=b"".join(case.earlier or ()),
            earlier_lengths=tuple(map(len, case.earlier or ())),
            **self.more(case),
        )


LANGUAGES = {
    language.name: language
    for language in (
        TestLanguage("pytest", "test_{name}.py", "pytest {file}", ("Python",), _python),
        TestLanguage("rust", "{name}.rs", "put it into tests/, then cargo test {name}", ("Rust",)),
        TestLanguage("go", "{name}_test.go", "put it into the package, then go test -run Test{Name}", ("Go",)),
        TestLanguage("java", "{Name}Test.java", "java {file}", ("Java", "Kotlin", "Scala")),
        TestLanguage("node", "{name}.test.mjs", "node --test {file}", ("JavaScript", "TypeScript")),
        TestLanguage("c", "{name}.c", "cc {file} -lYOURS && ./a.out", ("C", "C++", "Zig"), _c),
    )
}
"""All languages, in the order of lists; the first is the default for an unknown language."""


def source(stored: Found, language: str, *, folder: str = "campaign") -> str:
    """The test of a finding.

    Args:
        stored: the finding.
        language: one of :data:`LANGUAGES`.
        folder: the run's folder, for the command that explains the finding.

    Raises:
        CampaignError: no test can show the fault.
    """
    return LANGUAGES[language].write(case_of(stored, folder))


def file_name(stored: Found, language: str) -> str:
    """What the file of that test is called; of Java it must be.

    Raises:
        CampaignError: as :func:`source`.
    """
    return _filled(LANGUAGES[language].file, stored)


def how_to_run(stored: Found, language: str) -> str:
    """The command that runs the test, or what to do, in a line.

    Raises:
        CampaignError: as :func:`source`.
    """
    return _filled(LANGUAGES[language].run, stored, file=file_name(stored, language))


def language_for(target: str, said: str = "") -> str:
    """The language that fits a target: that of a decoder which ships with an adapter, or of its form.

    Args:
        target: its name.
        said: the language that its greeting names, if that is known.
    """
    from overlong.conformance.targets.builtins import shipped

    kind, colon, rest = target.partition(":")
    name = rest if kind == "builtin" else target
    if colon and kind in ("py", "so", "wasm"):
        return "pytest" if kind == "py" else "c"
    known = shipped(name)
    spoken = said or (known.language if known else "")
    return next((each.name for each in LANGUAGES.values() if spoken in each.of), next(iter(LANGUAGES)))


def _filled(text: str, stored: Found, **more: str) -> str:
    case = case_of(stored, "")
    return text.format(name=case.name, Name=case.title_name, **more)


def _octet_lines(octets: bytes) -> list[str]:
    r"""``\xe0\x80``: the content of quotes, in lines of at most 16 octets; at least one line."""
    return [escaped(octets[start : start + _PER_LINE]) for start in range(0, len(octets), _PER_LINE)] or [""]


def _text_lines(text: str, short: str, long: str = "") -> list[str]:
    """The same for text: the escape of a scalar value, and another beyond U+FFFF if the language has one."""
    step = _PER_LINE // 2
    spelt = [(long if long and ord(character) >= 1 << 16 else short) % ord(character) for character in text]
    return ["".join(spelt[start : start + step]) for start in range(0, len(spelt), step)] or [""]


def _rows(numbers: Iterable[int], width: int, indent: str, form: str = "%d") -> str:
    """``1, 2, 3,``: numbers, each with a comma, in lines of at most ``width`` columns."""
    return "".join(f"\n{indent}{line}" for line in wrapped((f"{form % number}," for number in numbers), width))


def _listed(numbers: Iterable[int], form: str = "%d") -> str:
    """``1, 2, 3``."""
    return ", ".join(form % number for number in numbers)


def _commented(lines: Sequence[str], mark: str) -> str:
    """Lines as comments."""
    return "\n".join(f"{mark} {line}".rstrip() for line in lines)


_FILTERS: dict[str, Any] = {
    "octet_lines": _octet_lines,
    "text_lines": _text_lines,
    "rows": _rows,
    "listed": _listed,
    "commented": _commented,
}
"""The filters by which templates write octets, text and numbers, in lines that formatters do not change."""
