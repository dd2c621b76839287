"""What ``overlong target new`` writes: an adapter in a language, or a library's functions for ``overlong.toml``.

Adapters are templates, one for each language. Functions are proposed by their names, or by their types: with pycparser
and pcpp, types are read from a header, and the shapes of parameters and results are compared.
"""

from __future__ import annotations

import io
import re
import textwrap
from dataclasses import dataclass
from importlib import import_module
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from overlong.conformance.support.printable import printable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence


_NAMES: tuple[tuple[str, tuple[str, ...]], ...] = (
    (r"utf_?16(le|be)?.*utf_?8_?(len|size)|(len|size).*utf_?16.*utf_?8|utf8_length_from_utf16", ("size-from-utf16",)),
    (r"(len|size).*(utf_?32|ucs_?4).*utf_?8|utf8_length_from_utf32", ("size-from-utf32",)),
    (r"(utf_?16|u16|u_str).*to.*(utf_?8|u8)|from_?utf_?16", ("from-utf16",)),
    (r"(utf_?32|ucs_?4|u32|wc).*to.*(utf_?8|u8|mb)|from_?(utf_?32|ucs_?4)", ("from-utf32",)),
    (r"latin_?1.*utf_?8", ("from-latin1",)),
    (r"utf_?16_length|count_?utf_?16", ("count-utf16",)),
    (r"(utf_?8|u8).*to.*(utf_?16|u16)|to_?utf_?16", ("to-utf16", "utf16")),
    (r"(utf_?8|u8).*to.*(utf_?32|ucs_?4|u32)|to_?(utf_?32|ucs_?4)|decode", ("to-utf32", "utf32", "utf16")),
    (r"iterate", ("iterate",)),
    (r"scrub|make_?valid|sanitize|to_?valid|repair", ("utf8",)),
    (r"check|valid|is_?utf_?8|verif|well_?formed", ("bool", "int", "errpos", "ptr-or-null", "result", "glib", "error")),
    (r"trim", ("trim-partial",)),
    (r"trunc|cut|shorten|prefix", ("truncate",)),
    (r"boundary|is_?start", ("is-boundary",)),
    (r"floor", ("floor",)),
    (r"ceil", ("ceil",)),
    (r"prev|back|last", ("previous",)),
    (r"next|forward|mbtouc|get_?char", ("next",)),
    (r"count|mbs?n?len|utf_?8_(str)?n?len|utf_?8_length", ("count-scalars",)),
)
"""What a function's name may say, and the beginnings of the ABIs that it then may have, the likeliest first."""


@dataclass(frozen=True)
class AdapterTemplate:
    """An adapter that runs unchanged, with a decoder of its language inside."""

    language: str
    file: str
    """The file's name; in Java it must be that of its class."""
    build: str
    """The command that builds it in its folder; empty if it needs none."""
    run: str
    """The command that starts it, to follow ``overlong certify --``."""
    decoder: str
    """The decoder inside, until the user's decoder replaces it."""
    others: tuple[str, ...] = ()
    """Other names of the language."""

    @property
    def source(self) -> bytes:
        """The adapter, in ASCII."""
        return (Path(__file__).parent / "templates" / self.file).read_bytes()


TEMPLATES = {
    template.language: template
    for template in (
        AdapterTemplate("c", "adapter.c", "cc -O2 -o adapter adapter.c", "./adapter", "POSIX iconv"),
        AdapterTemplate(
            "c++",
            "adapter.cpp",
            "c++ -std=c++17 -O2 -o adapter adapter.cpp",
            "./adapter",
            "std::codecvt",
            ("cpp", "cxx"),
        ),
        AdapterTemplate(
            "rust", "adapter.rs", "rustc -O --edition 2021 adapter.rs", "./adapter", "std::str::from_utf8", ("rs",)
        ),
        AdapterTemplate("go", "adapter.go", "go build -o adapter adapter.go", "./adapter", "unicode/utf8", ("golang",)),
        AdapterTemplate("java", "Adapter.java", "javac -d . Adapter.java", "java -cp . Adapter", "CharsetDecoder"),
        AdapterTemplate("javascript", "adapter.js", "", "node adapter.js", "TextDecoder", ("js", "node", "nodejs")),
        AdapterTemplate("python", "adapter.py", "", "python3 adapter.py", "bytes.decode", ("py", "python3")),
        AdapterTemplate("ruby", "adapter.rb", "", "ruby adapter.rb", "String#valid_encoding? and #codepoints", ("rb",)),
        AdapterTemplate("php", "adapter.php", "", "php adapter.php", "mbstring"),
        AdapterTemplate("perl", "adapter.pl", "", "perl adapter.pl", "Encode", ("pl",)),
        AdapterTemplate("lua", "adapter.lua", "", "lua5.4 adapter.lua", "utf8.len and utf8.codes"),
        AdapterTemplate(
            "ocaml",
            "adapter.ml",
            "ocamlopt -I +uutf uutf.cmxa adapter.ml -o adapter",
            "./adapter",
            "Uutf",
            ("ml",),
        ),
        AdapterTemplate("erlang", "adapter.erl", "", "escript adapter.erl", "unicode:characters_to_binary", ("erl",)),
    )
}


def template_for(name: str) -> AdapterTemplate | None:
    """The template of a language, by any of its names in any case; None if there is none."""
    folded = name.casefold()
    return next((each for each in TEMPLATES.values() if folded in (each.language, *each.others)), None)


def exported(library: Path) -> list[str]:
    """The names of the functions that a library exports.

    Raises:
        TargetError: it is no ELF file that exports functions; the message says what to name.
        OSError: it cannot be read.
    """
    # late: every 'overlong --help' needs the names of templates, and no more
    from overlong.conformance.oracle.target import TargetError
    from overlong.conformance.targets.elf import NONSENSE, Elf

    shown = printable(str(library))
    with library.open("rb", buffering=0) as file:
        try:
            elf = Elf(file.fileno())
            found, is_cut = sorted(elf.functions()), elf.is_cut
        except NONSENSE:
            raise TargetError(f"{shown}: no shared library (ELF); name a file such as ./libfoo.so") from None
    if not found:
        why = "ends before its table of symbols; copy or build it again" if is_cut else "exports no function"
        raise TargetError(f"{shown}: {why}")
    return found


def proposed(symbols: Sequence[str], shapes: Mapping[str, Shape] | None) -> dict[str, str]:
    """The ABI of each function that probably has one.

    Args:
        symbols: exported.
        shapes: of those that a header declares; None: there is no header.
    """
    from overlong.conformance.targets.adapters.abi import ABIS, QUESTION_ABIS, question_abi

    abis = {name: each.prototype for name, each in ABIS.items() if not each.functions}
    abis |= {name: question_abi(name).prototype for name in QUESTION_ABIS}
    of_shape: dict[str, Shape] = {}
    if shapes is not None:
        from overlong.conformance.targets.starters import shape_of

        of_shape = {name: shape_of(prototype) for name, prototype in abis.items()}
    found: dict[str, str] = {}
    for symbol in symbols:
        beginnings = list(
            chain.from_iterable(names for said, names in _NAMES if re.search(said, symbol, re.IGNORECASE))
        )
        likely = [name for each in beginnings for name in abis if name.partition("(")[0] == each]
        if shapes is not None:
            shape = shapes.get(symbol, ())
            likely = [name for name in likely if shape and _fits(of_shape[name], shape)]
        elif not re.search(r"utf|u8|str|text", symbol, re.IGNORECASE):
            likely = []
        if likely:
            found[symbol] = likely[0]
    return found


def _fits(wanted: Shape, shape: Shape) -> bool:
    """True if a function of this shape may be called as one of that shape."""
    return len(wanted) == len(shape) and all(
        one == other or {one, other} <= {"in1", "pointer"} or (one, other) == ("pointer-cell", "pointer")
        for one, other in zip(wanted, shape, strict=True)
    )


def section(name: str, library: str, found: Mapping[str, str], others: Sequence[str], *, by_type: bool) -> str:
    """The section of ``overlong.toml`` for a library.

    Args:
        name: of the target.
        library: its file, as in the section.
        found: the ABI of each function.
        others: the other functions that it exports.
        by_type: a header was read.
    """
    read = "names and types" if by_type else "names only (--header FILE reads types)"
    lines = [
        f"# Proposed by {read}. Compare each abi with 'overlong target abis' and the",
        f"# documentation of its function; put this into overlong.toml; then run: overlong certify {name}",
        f"[targets.{name}]",
        f"library = {_quoted(library)}",
    ]
    for symbol, abi in found.items():
        lines += ["", f"[[targets.{name}.function]]", f"symbol = {_quoted(symbol)}", f"abi = {_quoted(abi)}"]
    if others:
        words = f"Also exported, without a proposal: {', '.join(map(printable, others))}"
        lines += ["", *textwrap.wrap(words, 110, initial_indent="# ", subsequent_indent="#   ")]
    return "\n".join((*lines, ""))


def name_of(library: Path) -> str:
    """``foo`` of ``libfoo.so.1``."""
    stem = library.name.partition(".so")[0].removeprefix("lib")
    return re.sub(r"[^A-Za-z0-9_-]+", "-", stem).strip("-") or "library"


def _quoted(text: str) -> str:
    import tomlkit

    return tomlkit.item(text).as_string()


Shape = tuple[str, ...]
"""The kind of the result, then of each parameter: ``in1`` (a pointer to constant octets), ``out2``, ``size``, ``int``,
``bool``, ``int32``, ``pointer``, or the name of another type."""

_OCTET = ("char", "unsigned char", "signed char", "uint8_t", "int8_t", "char8_t", "gchar", "guchar", "guint8")
_SIZES = (
    *("size_t", "ptrdiff_t", "ssize_t", "intptr_t", "uintptr_t", "long", "unsigned long", "long long"),
    *("unsigned long long", "int64_t", "uint64_t", "gsize", "gssize", "glong", "gulong"),
)
_KINDS = {
    **dict.fromkeys(_OCTET, "1"),
    **dict.fromkeys(("uint16_t", "int16_t", "char16_t", "unsigned short", "short", "gunichar2", "UChar"), "2"),
    **dict.fromkeys(("uint32_t", "int32_t", "char32_t", "ucs4_t", "gunichar", "UChar32"), "int32"),
    **dict.fromkeys(("int", "signed int", "unsigned int", "unsigned", "gint", "guint"), "int"),
    **dict.fromkeys(("bool", "_Bool"), "bool"),
    **dict.fromkeys(_SIZES, "size"),
    "void": "void",
    "gboolean": "int",
}
_WIDTHS = {"1": "1", "2": "2", "int32": "4", "int": "4", "size": "size"}
_WORDS = ("void", "char", "int", "long", "short", "unsigned", "_Bool")
_KNOWN = tuple(name for name in _KINDS if " " not in name and name not in _WORDS)
_LEFT_OUT = (
    r"\b(?:__restrict(?:__)?|restrict|__extension__|inline)\b",
    r'extern\s+"C"',
    r"\b_?[A-Z][A-Z0-9_]*_(?:API|EXPORT|EXTERN|PUBLIC|DECL|DECLS|IN_ALL|IN_\d\w*)\b",
    r"\b_[A-Z][A-Z0-9]*_[A-Z0-9_]*\b(?:\s*\([^()]*\))?",
)
"""Extensions, and macros in front of declarations that another file defines."""


def shapes_in(header: Path, note: Callable[[str], None] = lambda _: None) -> dict[str, Shape]:
    """The shape of each function that a header declares, or a file beside it that it includes.

    ``note``: called with a line about each file in quotation marks that it includes and that is not there.

    Raises:
        TargetError: it is not C that can be read so, or the libraries for it are missing; the message says what helps.
        OSError: it cannot be read.
    """
    return _shapes(header.read_text("utf-8", "replace"), str(header), note)


def shape_of(prototype: str) -> Shape:
    """The shape of one prototype, of the name ``f``; empty for one that is no single function."""
    return _shapes(f"{prototype};", "a prototype").get("f", ())


def _shapes(text: str, file: str, note: Callable[[str], None] = lambda _: None) -> dict[str, Shape]:
    from overlong.conformance.oracle.target import TargetError
    from overlong.reference.core.building import install

    shown = printable(file)
    try:
        pcpp: Any = import_module("pcpp")  # both have no types
        c_ast: Any = import_module("pycparser.c_ast")
        c_parser: Any = import_module("pycparser.c_parser")
    except ImportError as error:
        raise TargetError(f"--header needs {error.name}, which is not installed; {install('header')}") from None

    def pass_through(_malformed: object, is_of_system: object, _folder: object, name: str) -> None:
        if not is_of_system:
            note(f"{shown}: includes {printable(name)}, which is not there; types that it defines are unknown")
        raise pcpp.OutputDirective(pcpp.Action.IgnoreAndPassThrough)

    def ignore(*_: object) -> None:
        pass

    reader = pcpp.Preprocessor()
    reader.line_directive = None
    reader.on_error = ignore
    reader.on_include_not_found = pass_through
    for each in ("__attribute__(x)", "__declspec(x)"):
        reader.define(f"{each} ")
    reader.parse(text, file)
    preprocessed = io.StringIO()
    reader.write(preprocessed)
    text = re.sub(r"^[ \t]*#[^\n]*", "", preprocessed.getvalue(), flags=re.MULTILINE)
    for each in _LEFT_OUT:
        text = re.sub(each, "", text, flags=re.DOTALL)
    head = " ".join(f"typedef int {name};" for name in _KNOWN if not _defines(text, name))
    try:
        found: Any = c_parser.CParser().parse(f"{head}\n#line 1\n{text}", shown)
    except Exception as error:  # noqa: BLE001 (its own kind of error moved between versions)
        where = " ".join(str(error).split())[:120]
        raise TargetError(
            f"{shown}: not read as C: {printable(where)}; leave out --header, or name a file with plain prototypes"
        ) from None
    types = {each.name: each.type for each in found.ext if isinstance(each, c_ast.Typedef) and each.name not in _KINDS}
    return {
        each.name: tuple(_kinds(each.type, types, c_ast))
        for each in found.ext
        if isinstance(each, c_ast.Decl) and isinstance(each.type, c_ast.FuncDecl)
    }


def _defines(text: str, name: str) -> bool:
    return re.search(rf"\btypedef\b[^;]*\b{name}\s*;", text) is not None


def _kinds(function: Any, types: dict[str, Any], tree: Any) -> Iterator[str]:
    yield _kind(function.type, types, tree)
    for each in function.args.params if function.args else ():
        if isinstance(each, tree.EllipsisParam):
            yield "..."
        elif (kind := _kind(each.type, types, tree)) != "void":
            yield kind


def _kind(said: Any, types: dict[str, Any], tree: Any) -> str:
    if isinstance(said, tree.PtrDecl | tree.ArrayDecl):
        to = said.type
        if isinstance(to, tree.PtrDecl):
            return "pointer-cell"
        kind = _kind(to, types, tree)
        if kind not in _WIDTHS:
            return "pointer" if kind in ("void", "struct") else kind
        return f"{'in' if 'const' in getattr(to, 'quals', ()) else 'out'}{_WIDTHS[kind]}"
    if not isinstance(said, tree.TypeDecl):
        return "function"
    if isinstance(said.type, tree.Struct | tree.Union):
        return "struct"
    if isinstance(said.type, tree.Enum):
        return "int"
    name = " ".join(said.type.names)
    if name in types:
        return _kind(types[name], types, tree)
    return _KINDS.get(name, name)
