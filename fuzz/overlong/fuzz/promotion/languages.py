"""Turn a finding into a regression test in the decoder's language, for its author to keep.

A test does not need overlong. It calls the author's own function, in one place marked ``ADAPT``; for a target
``py:...`` or ``so:...`` the function is known. Unchanged, it tests a decoder of the language, except in C, which has
none. Each language has a template.
"""

from __future__ import annotations

import json
import keyword
import re
import textwrap
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from overlong.conformance.oracle.target import UnknownTarget
from overlong.conformance.support.printable import did_you_mean, printable
from overlong.conformance.targets.adapters.abi import ABIS, Abi
from overlong.conformance.targets.commands import FunctionName
from overlong.conformance.vectors.formats.text import escaped, templates, wrapped
from overlong.fuzz.promotion.case import Case, case_of
from overlong.fuzz.promotion.promote import PromotionError
from overlong.reference import encode

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from overlong.fuzz.report.findings import Found

_PER_LINE = 16
"""The octets in a line of a literal."""
_COLUMNS = 96
"""The width of a prototype in C."""
_NO_BREAK = "\N{NO-BREAK SPACE}"
_C_NAME = r"[A-Za-z_][A-Za-z0-9_]*"
_TYPES = {"utf-8": "char", "utf-16": "char16_t", "utf-32": "char32_t"}
_STRUCT = "struct { int error; size_t count; }"
_NAMED_STRUCT = "struct answer {\n    int error;\n    size_t count;\n};\n"


class PythonDecoder(NamedTuple):
    """The access to a decoder in Python."""

    name: str
    is_class: bool
    is_own: bool = True
    """True for the target's decoder; otherwise Python's own takes its place."""
    module: str = ""
    file: str = ""
    """The file as a literal, if it is in no module."""

    @property
    def first(self) -> str:
        """The imported part of its name."""
        return self.name.partition(".")[0]


class CFunction(NamedTuple):
    """The call in C."""

    abi: Abi
    names: tuple[str, ...]
    is_own: bool
    """True for the target's function; otherwise the user must adapt the name."""

    @property
    def unit(self) -> str:
        """The type of its output; empty if it only validates."""
        return _TYPES.get(self.abi.units, "")

    @property
    def kind(self) -> str:
        """The call, and the code that reads its answer."""
        return re.sub(r"^utf\d+", "", self.abi.name)

    @property
    def prototypes(self) -> list[str]:
        """The declarations of it, or of a stream's functions."""
        lines: list[str] = []
        roles = self.abi.functions or ("f",)
        texts = self.abi.prototype.split("; ") if self.abi.functions else [self.abi.prototype]
        for text, _ in zip(texts, self.names, strict=False):
            declared = text
            if text.startswith(_STRUCT):
                lines += _NAMED_STRUCT.split("\n")
                declared = f"struct answer{text.removeprefix(_STRUCT)}"
            for role, name in zip(roles, self.names, strict=False):
                declared = re.sub(rf"(?<!_)\b{role}\(", f"{name}(", declared)
            whole = re.sub(r"(?<!,) ", _NO_BREAK, f"{declared};")  # lines break after a comma
            broken = textwrap.wrap(whole, _COLUMNS, subsequent_indent=" " * 8, break_long_words=False)
            lines += [line.replace(_NO_BREAK, " ") for line in broken]
        return lines


def _python(case: Case) -> dict[str, Any]:
    """The decoder in the target's name, or Python's own."""
    place, _, name = case.target.removeprefix("py:").partition("?")[0].rpartition(":")
    parts = name.split(".")
    if case.target.startswith("py:") and all(map(_is_name, parts)):
        is_class = parts[-1][:1].isupper()
        if place.endswith(".py") and place.isprintable():
            return {"decoder": PythonDecoder(name, is_class, file=json.dumps(place))}
        if all(map(_is_name, place.split("."))):
            return {"decoder": PythonDecoder(name, is_class, module=place)}
    return {"decoder": PythonDecoder("Decoder" if case.is_stream else "decode", case.is_stream, is_own=False)}


def _is_name(text: str) -> bool:
    return re.fullmatch(_C_NAME, text) is not None and not keyword.iskeyword(text)


def _c(case: Case) -> dict[str, Any]:
    """The function, and its expected units."""
    function = _function(case)
    expected: Iterable[int] = encode(case.text)
    if function.unit in ("char16_t", "char32_t"):
        size = 2 if function.unit == "char16_t" else 4
        octets = case.text.encode(f"utf-{8 * size}-le")
        expected = [int.from_bytes(octets[at : at + size], "little") for at in range(0, len(octets), size)]
    return {"function": function, "expected": expected}


def _function(case: Case) -> CFunction:
    """The function that the target names, or one to adapt."""
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
                return CFunction(abi, names, is_own=True)
    abi = ABIS["stream-utf32(state,ptr,len,out,cap)" if case.is_stream else "utf32(ptr,len,out,cap)"]
    return CFunction(abi, tuple(f"your_{role}" for role in abi.functions) or ("your_decoder",), is_own=False)


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
        PromotionError: there is no such language, or no test can show the fault.
    """
    return language_named(language).write(case_of(stored, folder))


def file_name(stored: Found, language: str) -> str:
    """What the file of that test is called; of Java it must be.

    Raises:
        PromotionError: as :func:`source`.
    """
    return _filled(language_named(language).file, stored)


def how_to_run(stored: Found, language: str) -> str:
    """The command that runs the test, or what to do, in a line.

    Raises:
        PromotionError: as :func:`source`.
    """
    return _filled(language_named(language).run, stored, file=file_name(stored, language))


def language_named(name: str) -> TestLanguage:
    """The language of that name.

    Raises:
        PromotionError: there is none; the message lists those there are.
    """
    if name not in LANGUAGES:
        raise PromotionError(f"no tests are written in {printable(name, 40)}; {did_you_mean(name, LANGUAGES)}")
    return LANGUAGES[name]


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
