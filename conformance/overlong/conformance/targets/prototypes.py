"""Prototypes of functions of C, compared by the shapes of their parameters and results, with pycparser and pcpp."""

from __future__ import annotations

import io
import re
from importlib import import_module
from typing import TYPE_CHECKING, Any

from overlong.conformance.oracle.target import TargetError
from overlong.conformance.support.printable import printable
from overlong.reference.core.building import install

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

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
