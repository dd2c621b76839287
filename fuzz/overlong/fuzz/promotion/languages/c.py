"""C: a program. Of a target ``so:...`` the function is declared, called and read as its ABI has it.

The input lies in memory of its own size, so a sanitizer sees every octet that is read beyond it.
"""

from __future__ import annotations

import re
import textwrap
from typing import TYPE_CHECKING, NamedTuple

from overlong.conformance.adapters.abi import ABIS, Abi
from overlong.conformance.target import UnknownTarget
from overlong.conformance.targets.function_name import FunctionName
from overlong.fuzz.promotion.literals import commented, listed, number_lines, octet_lines, source_of
from overlong.reference import encode

if TYPE_CHECKING:
    from collections.abc import Sequence

    from overlong.fuzz.promotion.case import Case

_COLUMNS = 96
_NO_BREAK = "\N{NO-BREAK SPACE}"
_TYPES = {"utf-8": "char", "utf-16": "char16_t", "utf-32": "char32_t"}
_STRUCT = "struct { int error; size_t count; }"
_NAMED_STRUCT = "struct answer {\n    int error;\n    size_t count;\n};\n"
_READ = {
    "bool(ptr,len)": "bool accepted = f(octets, length);",
    "int(ptr,len)": "bool accepted = f(octets, length) != 0;",
    "error(ptr,len)": "bool accepted = f(octets, length) == 0;",
    "bool(string)": "bool accepted = f(octets);",
    "int(string)": "bool accepted = f(octets) != 0;",
    "errpos(ptr,len)": """\
size_t place = f(octets, length);
bool accepted = place == length;
offset = accepted ? -1 : (ptrdiff_t)place;""",
    "errpos-or-minus1(ptr,len)": """\
offset = f(octets, length);
bool accepted = offset == -1;""",
    "ptr-or-null(ptr,len)": """\
const char *place = f(octets, length);
bool accepted = place == NULL;
offset = accepted ? -1 : place - octets;""",
    "result(ptr,len)": """\
struct answer answer = f(octets, length);
bool accepted = answer.error == 0;
offset = accepted ? -1 : (ptrdiff_t)answer.count;""",
    "glib(ptr,len,end)": """\
const char *end = octets;
bool accepted = f(octets, (ptrdiff_t)length, &end) != 0;
offset = accepted ? -1 : end - octets;""",
    "(ptr,len,out,cap)": """\
ptrdiff_t written = f(octets, length, out, capacity);
bool accepted = written >= 0;
size_t count = accepted ? (size_t)written : 0;""",
    "(ptr,len,out)": """\
size_t count = f(octets, length, out);
bool accepted = count != 0 || length == 0;""",
    "-result(ptr,len,out)": """\
struct answer answer = f(octets, length, out);
bool accepted = answer.error == 0;
size_t count = accepted ? answer.count : 0;
offset = accepted ? -1 : (ptrdiff_t)answer.count;""",
    "icu(out,cap,outlen,ptr,len,status)": """\
int32_t written = 0;
int32_t status = 0;
f(out, (int32_t)capacity, &written, octets, (int32_t)length, &status);
bool accepted = status <= 0;
size_t count = accepted ? (size_t)written : 0;""",
    "iterate(ptr,len,point)": """\
bool accepted = true;
size_t count = 0;
for (size_t place = 0; accepted && place < length;) {
    int32_t code_point = 0;
    ptrdiff_t taken = f(octets + place, (ptrdiff_t)(length - place), &code_point);
    accepted = taken > 0;
    if (accepted) {
        out[count++] = (char32_t)code_point;
        place += (size_t)taken;
    } else {
        offset = (ptrdiff_t)place;
    }
}""",
}
"""How an answer is read: the lines set ``accepted``; ``count`` where units are put out; ``offset`` where it is said."""
_FED = """
// Below 0 if the stream is refused, else how many units are put out.
static ptrdiff_t fed(void *state, const char *octets, const size_t *lengths, size_t chunks,
                     @unit@ *out, size_t capacity) {
    size_t written = 0;
    for (size_t i = 0; i < chunks; i++) {
        ptrdiff_t more = @feed@(state, octets, lengths[i], out + written, capacity - written);
        if (more < 0) {
            return -1;
        }
        octets += lengths[i];
        written += (size_t)more;
    }
    ptrdiff_t last = @finish@(state, out + written, capacity - written);
    return last < 0 ? -1 : (ptrdiff_t)written + last;
}"""


class _Function(NamedTuple):
    """What is called."""

    abi: Abi
    names: tuple[str, ...]
    is_own: bool
    """It is the target's; else its name is to be adapted."""

    @property
    def unit(self) -> str:
        """The type of what it puts out; empty if it only validates."""
        return _TYPES.get(self.abi.units, "")

    def named(self, text: str) -> str:
        """Code with the function's name in the place of ``f``, or with those of a stream's functions."""
        if not self.abi.functions:
            return re.sub(r"\bf\(", f"{self.names[0]}(", text)
        for role, name in zip(self.abi.functions, self.names, strict=False):
            text = re.sub(rf"(?<!_)\b{role}\(", f"{name}(", text)
        return text


def write(case: Case) -> str:
    """The test, for C11 and later."""
    function = _function(case)
    abi, unit = function.abi, function.unit
    is_wide = "char16_t" in abi.prototype or "char32_t" in abi.prototype or unit not in ("", "char")
    checked = bool(unit) and case.scalars is not None
    adapt = "ADAPT: link with it, or include its header." if function.is_own else "ADAPT: your decoder; link with it."
    return source_of(
        commented(case.comment, "//"),
        "",
        [f"#include <{name}.h>" for name in ("stdbool", "stddef", "stdint", "stdio", "stdlib", "string")],
        ["#include <uchar.h>"] * is_wide,
        "",
        f"// {adapt}",
        _prototypes(function),
        "",
        _octets("input", case.octets),
        _expected(case, unit) if checked else [],
        _stream(case, function) if abi.functions else [],
        "",
        "static int test(void) {",
        "    size_t length = sizeof input - 1;",
        _memory(abi, unit),
        "    ptrdiff_t offset = -1;  // where it is refused, if the decoder says that",
        _indented(_call(case, function)),
        _indented(_verdict(case, checked=checked, counted=bool(unit))),
        ["    free(out);"] * bool(unit),
        "    free(octets);",
        "    if (wrong != NULL) {",
        f'        fprintf(stderr, "{case.id}: %s (offset %td)\\n", wrong, offset);',
        "    }",
        "    return wrong != NULL;",
        "}",
        "",
        "int main(void) {",
        _main(case),
        "}",
    )


def _function(case: Case) -> _Function:
    """The function that the target names, or one to be adapted."""
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
            if fits and all(re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name) for name in names):
                return _Function(abi, names, is_own=True)
    abi = ABIS["stream-utf32(state,ptr,len,out,cap)" if case.is_stream else "utf32(ptr,len,out,cap)"]
    return _Function(abi, tuple(f"your_{role}" for role in abi.functions) or ("your_decoder",), is_own=False)


def _prototypes(function: _Function) -> list[str]:
    lines: list[str] = []
    declared = zip(function.abi.prototype.split("; "), function.names, strict=False)
    for prototype in [each for each, _ in declared] if function.abi.functions else [function.abi.prototype]:
        text = prototype
        if text.startswith(_STRUCT):
            lines += _NAMED_STRUCT.split("\n")
            text = f"struct answer{text.removeprefix(_STRUCT)}"
        whole = re.sub(r"(?<!,) ", _NO_BREAK, function.named(text) + ";")  # a line breaks behind a comma
        wrapped = textwrap.wrap(whole, _COLUMNS, subsequent_indent=" " * 8, break_long_words=False)
        lines += [line.replace(_NO_BREAK, " ") for line in wrapped]
    return lines


def _stream(case: Case, function: _Function) -> list[str]:
    """How the input is cut, the stream before it, and a function that feeds one."""
    _, feed, finish, *_ = function.names
    lines = _numbers("lengths", case.lengths)
    if case.earlier is not None:
        lines += _octets("earlier", b"".join(case.earlier))
        lines += _numbers("earlier_lengths", tuple(map(len, case.earlier)))
    fed = _FED.replace("@unit@", function.unit).replace("@feed@", feed).replace("@finish@", finish)
    return [*lines, *fed.split("\n")]


def _memory(abi: Abi, unit: str) -> list[str]:
    """Room for the input, and for what is put out: exactly what the function may touch."""
    size = "sizeof input" if abi.terminated else "length > 0 ? length : 1"
    lines = [f"char *octets = malloc({size});"]
    wanted = "octets == NULL"
    if unit:
        room = "4 * length + 16" if abi.bounded or abi.name.startswith("iterate") else "length > 0 ? length : 1"
        lines += [f"size_t capacity = {room};", f"{unit} *out = calloc(capacity, sizeof *out);"]
        wanted += " || out == NULL"
    copied = "sizeof input" if abi.terminated else "length"
    return _indented([*lines, f"if ({wanted}) {{", "    abort();", "}", f"memcpy(octets, input, {copied});"])


def _call(case: Case, function: _Function) -> list[str]:
    abi = function.abi
    if not abi.functions:
        return function.named(_READ[abi.name if abi.name in _READ else re.sub(r"^utf\d+", "", abi.name)]).split("\n")
    new, _, _, free, *reset = function.names
    before: list[str] = []
    if case.earlier is not None:
        before = [
            f"fed(state, earlier, earlier_lengths, {len(case.earlier)}, out, capacity);  // it may be refused",
            f"{reset[0]}(state);",
        ]
    return [
        f"void *state = {new}();",
        *before,
        f"ptrdiff_t written = fed(state, octets, lengths, {len(case.lengths)}, out, capacity);",
        f"{free}(state);",
        "bool accepted = written >= 0;",
        "size_t count = accepted ? (size_t)written : 0;",
    ]


def _verdict(case: Case, *, checked: bool, counted: bool) -> list[str]:
    lines = ["const char *wrong = NULL;"]
    if case.scalars is None:
        lines += ["if (accepted) {", '    wrong = "accepted";', "}"]
    else:
        lines += ["if (!accepted) {", '    wrong = "refused";', "}"]
    if checked:
        differs = "count != expected_count || memcmp(out, expected, count * sizeof *out) != 0"
        lines[-1:] = [f"}} else if ({differs}) {{", '    wrong = "decoded as other characters";', "}"]
    elif counted:
        lines.insert(0, "(void)count;")
    if case.offset is not None:
        differs = f"offset != -1 && offset != {case.offset}"
        lines[-1:] = [f"}} else if ({differs}) {{", '    wrong = "refused elsewhere";', "}"]
    return lines


def _main(case: Case) -> list[str]:
    if case.times == 1:
        return ["    return test();"]
    return [
        f"    for (int i = 0; i < {case.times}; i++) {{  // it did not always answer alike",
        "        if (test() != 0) {",
        "            return 1;",
        "        }",
        "    }",
        "    return 0;",
    ]


def _expected(case: Case, unit: str) -> list[str]:
    if unit == "char":
        return [*_octets("expected", encode(case.text)), "static const size_t expected_count = sizeof expected - 1;"]
    octets, size = (case.text.encode("utf-16-le"), 2) if unit == "char16_t" else (case.text.encode("utf-32-le"), 4)
    numbers = [int.from_bytes(octets[at : at + size], "little") for at in range(0, len(octets), size)]
    values = number_lines(numbers or [0], _COLUMNS - 4, hex)
    return [
        f"static const {unit} expected[] = {{",
        *(f"    {row}" for row in values),
        "};",
        f"static const size_t expected_count = {len(numbers)};",
    ]


def _octets(name: str, octets: bytes) -> list[str]:
    lines = octet_lines(octets)
    if len(lines) == 1:
        return [f'static const char {name}[] = "{lines[0]}";']
    return [f"static const char {name}[] =", *(f'    "{line}"' for line in lines[:-1]), f'    "{lines[-1]}";']


def _numbers(name: str, numbers: Sequence[int]) -> list[str]:
    line = f"static const size_t {name}[] = {{{listed(numbers or (0,))}}};"
    if len(line) <= _COLUMNS:
        return [line]
    rows = (f"    {row}" for row in number_lines(numbers, _COLUMNS - 4))
    return [f"static const size_t {name}[] = {{", *rows, "};"]


def _indented(lines: Sequence[str]) -> list[str]:
    return [f"    {line}" for line in lines]
