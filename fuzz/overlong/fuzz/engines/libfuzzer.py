"""Write a harness in C++ for libFuzzer: it compares functions of shared libraries with tables of the reference.

One file, independent of this project, holds the automaton, the bits of characters and the tokens of the mutator. Each
divergence is a function of its own, because OSS-Fuzz and ClusterFuzz merge crashes with equal stacks.
``docs/fuzzing.md`` shows how it is built and run.
"""

from __future__ import annotations

import re
from importlib.resources import files
from itertools import groupby
from typing import TYPE_CHECKING

from overlong.conformance.oracle.target import TargetError
from overlong.conformance.protocol.observation import Code
from overlong.conformance.support.printable import printable
from overlong.conformance.support.provenance import one_spelling
from overlong.conformance.targets.adapters.abi import ABIS, ICU_OVERFLOW, ICU_REFUSALS
from overlong.conformance.targets.commands import FunctionName
from overlong.conformance.targets.configured import configured
from overlong.conformance.vectors.formats.text import tokens
from overlong.reference import MaximalSubpart, dialect, segments
from overlong.reference.automaton import access_words
from overlong.reference.layout import load_layout
from overlong.reference.order import LEAD_SURROGATES, SIGNATURE, TRAIL_SURROGATES, joined, well_formed_products

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence


_FORM = "write so:LIBRARY:SYMBOL?abi=NAME, as in 'so:./libmine.so:is_utf8?abi=bool(ptr,len)'"
_TYPES = {
    "ptr": "const char *",
    "string": "const char *",
    "len": "size_t",
    "slen": "ptrdiff_t",
    "len32": "int32_t",
    "out": "void *",
    "cap": "size_t",
    "cap32": "int32_t",
    "cell": "const char **",
    "cell32": "int32_t *",
    "bool": "bool",
    "int": "int",
    "size": "size_t",
    "ssize": "ptrdiff_t",
    "pair": "Pair",
}
_ARGUMENTS = {
    "ptr": "input.start",
    "string": "input.start",
    "len": "length",
    "slen": "static_cast<ptrdiff_t>(length)",
    "len32": "static_cast<int32_t>(length)",
    "out": "output.start",
    "cap": "room",
    "cap32": "static_cast<int32_t>(room)",
}
_AT = "refuses_at(static_cast<size_t>({}), length)"
_PLACE = "static_cast<const char *>(returned) - input.start"
_READINGS = {
    "bool(ptr,len)": "returned ? accepts() : refuses()",
    "int(ptr,len)": "returned ? accepts() : refuses()",
    "error(ptr,len)": "returned ? refuses() : accepts()",
    "bool(string)": "returned ? accepts() : refuses()",
    "int(string)": "returned ? accepts() : refuses()",
    "errpos(ptr,len)": f"returned == length ? accepts() : {_AT.format('returned')}",
    "errpos-or-minus1(ptr,len)": f"returned == -1 ? accepts() : {_AT.format('returned')}",
    "ptr-or-null(ptr,len)": f"!returned ? accepts() : {_AT.format(_PLACE)}",
    "result(ptr,len)": f"!returned.error ? accepts() : {_AT.format('returned.count')}",
    "glib(ptr,len,end)": (
        f"!returned ? {_AT.format('cell0 - input.start')} : cell0 == input.start + length ? accepts() : "
        "Answer{Answer::BREAKS}"
    ),
    "icu(out,cap,outlen,ptr,len,status)": (
        f"cell1 <= 0 || cell1 == {ICU_OVERFLOW} ? accepts(static_cast<size_t>(cell0)) : "
        f"{' || '.join(f'cell1 == {number}' for number in ICU_REFUSALS)} ? refuses() : Answer{{Answer::BREAKS}}"
    ),
    **{
        f"utf{bits}{form}": reading
        for bits in (8, 16, 32)
        for form, reading in (
            ("(ptr,len,out,cap)", "returned >= 0 ? accepts(static_cast<size_t>(returned)) : refuses()"),
            ("(ptr,len,out)", "returned || !length ? accepts(returned) : refuses()"),
            ("-result(ptr,len,out)", f"!returned.error ? accepts(returned.count) : {_AT.format('returned.count')}"),
        )
    },
}
"""The C++ that reads a result, like ``Abi.read`` in Python. ``cell0`` and so on are the cells."""
_ITERATE = "iterate(ptr,len,point)"


def harness(targets: Sequence[str]) -> str:
    """The source of a harness that compares functions with the reference.

    Args:
        targets: ``so:LIBRARY:SYMBOL?abi=NAME``, or names from ``overlong.toml`` that stand for such.

    Raises:
        TargetError: C++ cannot call one of them so; the message names an alternative.
    """
    called = [(printable(name), _function_of(name)) for name in targets]
    divergences: dict[str, int] = {}
    tables = "\n".join(_tables(divergences))
    source = (files("overlong.fuzz") / "templates" / "harness.cc").read_text("utf-8")
    parts = {
        "HEAD": "\n".join(_head(called)),
        "TABLES": tables,
        "DIVERGENCES": "\n".join(
            f"DIVERGENCE({name})"
            for name in (*divergences, Code.SCALARS, Code.OFFSET, Code.MISBEHAVED, Code.INPUT_WRITTEN)
        ),
        "NUMBERED": "\n".join(f"  overlong_divergence_{name}," for name in divergences),
        "TARGETS": "\n".join(_function(number, *target) for number, target in enumerate(called)),
        "CALLS": "\n".join(
            f"  {_name(number, function)}(octets, length, truth);" for number, (_, function) in enumerate(called)
        ),
    }
    return re.sub(r"@@([A-Z]+)@@", lambda found: parts[found[1]], source)


def _function_of(name: str) -> FunctionName:
    shown = printable(name)
    stands_for = configured().get(name)
    wanted = stands_for.target if stands_for is not None else name
    kind, colon, rest = one_spelling(wanted).partition(":") if isinstance(wanted, str) else ("", "", "")
    if kind != "so" or not colon:
        raise TargetError(
            f"{shown}: a libFuzzer harness calls functions of shared libraries, and this is none; {_FORM}; for Python "
            "targets use --engine atheris, for others --engine grammar"
        )
    function = FunctionName.of(shown, rest, _FORM)
    abi = ABIS.get(function.abi)
    if abi is None or abi.functions or "," in function.name:
        known = ", ".join((*_READINGS, _ITERATE))
        raise TargetError(
            f"{shown}: a libFuzzer harness does not call by abi '{printable(function.abi)}'; there are {known}"
        )
    return function


def divergence_of(word: bytes, octets: Iterable[int] = ()) -> str:
    """The name of accepting a flaw: ``OV201_C0_C1``, ``OV202_ED_A0_BF``, ``OV204_E0_end``.

    Args:
        word: the least octets that lead to a state.
        octets: each of them makes the word ill-formed; empty for the end of the input.
    """
    octets = sorted(octets)
    flaw = next(each for each in segments(word + bytes(octets[:1])) if isinstance(each, MaximalSubpart))
    ends = [f"{octet:02X}" for octet in dict.fromkeys((octets[0], octets[-1]))] if octets else ["end"]
    return "_".join([flaw.defect.code, *(f"{octet:02X}" for octet in word), *ends])


def flaws() -> Iterator[tuple[int, tuple[int, ...], str]]:
    """Each state, its octets without a transition (none for the end of the input), and the divergence's name."""
    automaton = dialect().automaton
    for state, word in enumerate(access_words(automaton)):
        if state == automaton.dead:
            continue
        wrong = [octet for octet in range(0x100) if automaton.table[state][octet] == automaton.dead]

        def sort(octet: int, word: bytes = word) -> str:
            return divergence_of(word, [octet])[:5]

        for _, same in groupby(wrong, key=sort):
            octets = tuple(same)
            yield state, octets, divergence_of(word, octets)
        if not automaton.accepting[state]:
            yield state, (), divergence_of(word)


def _tables(divergences: dict[str, int]) -> Iterator[str]:
    """The tables; adds the names of divergences, numbered in order of appearance."""

    def number(name: str) -> int:
        return divergences.setdefault(name, len(divergences))

    automaton, layout = dialect().automaton, load_layout("rfc3629")
    states = len(automaton)
    accepted, at_end = [[0] * 0x100 for _ in range(states)], [0] * states
    for state, octets, name in flaws():
        for octet in octets:
            accepted[state][octet] = number(name)
        if not octets:
            at_end[state] = number(name)
    refused = [0] * 0x100
    for ranges in well_formed_products(automaton):
        leads = ranges[0]
        for octet in leads:
            refused[octet] = number(f"OV101_{leads[0]:02X}_{leads[-1]:02X}")
    free, mask = [0] * 0x100, [0] * 0x100
    for octet in range(0x100):
        row = layout.announced(octet)
        template = row.templates[0] if row is not None else layout.rows[-1].templates[-1]
        free[octet], mask[octet] = template.free, template.bits(0xFF)
    yield f"const unsigned DEAD = {automaton.dead};"
    yield f"const uint8_t NEXT[{states}][256] = {{{','.join(map(_row, automaton.table))}}};"
    yield f"const bool ACCEPTING[{states}] = {_row(map(int, automaton.accepting))};"
    yield f"const uint8_t FREE[256] = {_row(free)}, MASK[256] = {_row(mask)};"
    yield "// numbers of divergences: a flaw accepted at a state and octet, or at the end; a lead octet refused"
    yield f"const uint16_t ACCEPTED[{states}][256] = {{{','.join(map(_row, accepted))}}};"
    yield f"const uint16_t ACCEPTED_AT_END[{states}] = {_row(at_end)};"
    yield f"const uint16_t REFUSED[256] = {_row(refused)};"
    least = joined(LEAD_SURROGATES.start, TRAIL_SURROGATES.start)
    yield f"const uint32_t SUPPLEMENTARY = {least}, LEAD = {LEAD_SURROGATES.start}, TRAIL = {TRAIL_SURROGATES.start};"
    yield f"const uint32_t TRAILS = {len(TRAIL_SURROGATES)};"
    signature = layout.encode(SIGNATURE) or b""
    yield f"const size_t SIGNATURE_LENGTH = {len(signature)};"
    yield f"const char SIGNATURE[] = {_string(signature)};"
    yield "struct Token { size_t length; const char *octets; };"
    yield "const Token TOKENS[] = {"
    for token, name in tokens().items():
        yield f"  {{{len(token)}, {_string(token)}}}, // {name}"
    yield "};"


def _row(numbers: Iterable[int]) -> str:
    return "{" + ",".join(map(str, numbers)) + "}"


def _string(octets: bytes) -> str:
    """Octets as a literal of C; octal escapes have three digits, so none takes in the next character."""
    return '"' + "".join(f"\\{octet:03o}" for octet in octets) + '"'


def _name(number: int, function: FunctionName) -> str:
    return f"overlong_check_{number}_{re.sub(r'[^A-Za-z0-9]', '_', function.name)}"


def _function(number: int, shown: str, function: FunctionName) -> str:
    """The function that asks one target: never inlined, to be a frame of the stack."""
    abi = ABIS[function.abi]
    cells = [each for each in abi.parameters if each.startswith("cell")]
    following = iter(range(len(cells)))
    arguments = [_ARGUMENTS.get(each) or f"&cell{next(following)}" for each in abi.parameters]
    result = "const void *" if abi.result == "ptr" else _TYPES[abi.result]
    prototype = f"{result} (*)({', '.join(_TYPES[each] for each in abi.parameters)})"
    path, name = (_string(text.encode("utf-8", "surrogateescape")) for text in (function.file, function.name))
    traits = dict(each.split("=", 1) for each in function.traits)
    lines = [
        "",
        f"// {_comment(shown)}",
        f'extern "C" __attribute__((noinline)) void {_name(number, function)}(',
        "    const uint8_t *octets, size_t length, const Truth &truth) {",
        f"  using Function = {prototype};",
        "  static const Function function =",
        f'      reinterpret_cast<Function>(symbol("OVERLONG_LIBRARY_{number}", {path}, {name}));',
        f"  const char *target = {_string(shown.encode())};",
    ]
    if abi.terminated or "nul" in traits:
        lines.append("  if (length && memchr(octets, 0, length)) return; // such strings are set aside")
    if "bom" in traits:
        lines.append(
            "  if (length >= SIGNATURE_LENGTH && !memcmp(octets, SIGNATURE, SIGNATURE_LENGTH)) return; // set aside"
        )
    lines.append(f"  Room input(octets, length, {'true' if abi.terminated else 'false'});")
    lines += [
        f"  {'const char *' if kind == 'cell' else 'int32_t '}cell{place} = 0;" for place, kind in enumerate(cells)
    ]
    unit = {"utf-8": "char", "utf-16": "char16_t", "utf-32": "char32_t"}.get(abi.units, "")
    if abi.name == _ITERATE:
        lines += [
            "  std::vector<char32_t> said;",
            "  Answer answer = accepts();",
            "  for (size_t at = 0; at < length && answer.what == Answer::ACCEPTS;) {",
            "    ptrdiff_t taken = function(input.start + at, static_cast<ptrdiff_t>(length - at), &cell0);",
            f"    if (taken < 0) answer = {_AT.format('at')};",
            "    else if (taken == 0 || static_cast<size_t>(taken) > length - at) answer = Answer{Answer::BREAKS};",
            "    else at += static_cast<size_t>(taken), said.push_back(static_cast<char32_t>(cell0));",
            "  }",
            "  judge(target, truth, answer, input);",
            "  if (answer.what == Answer::ACCEPTS && said != in_utf32(truth)) overlong_divergence_OV102(target);",
        ]
    else:
        if unit:
            room = "4 * length + 16" if abi.bounded else "length"
            lines += [f"  const size_t room = {room};", f"  Room output(room * sizeof({unit}));"]
        lines += [
            f"  auto returned = function({', '.join(arguments)});",
            f"  const Answer answer = {_READINGS[abi.name]};",
            "  judge(target, truth, answer, input);",
        ]
        if unit:
            lines.append(f"  compare<{unit}>(target, in_{abi.units.replace('-', '')}(truth), output, answer);")
    return "\n".join([*lines, "}"])


def _comment(text: str) -> str:
    """Text that is safe in a comment: a backslash at its end would take in the next line, and ``??/`` is one, too."""
    return text.replace("\\", "|").replace("??", "? ?")


def _head(targets: Sequence[tuple[str, FunctionName]]) -> Iterator[str]:
    yield "// libFuzzer harness, written by 'overlong fuzz --engine libfuzzer'. It needs nothing else of overlong."
    for number, (shown, _) in enumerate(targets):
        yield f"//   {number}: {_comment(shown)}"
    yield "//"
    yield "// Build:       clang++ -g -O1 -fsanitize=fuzzer,address harness.cc -ldl -o harness"
    yield "// Dictionary:  overlong vectors export --format libfuzzer -o seeds/   (utf8.dict and seeds/)"
    yield "// Run:         ./harness -dict=utf8.dict corpus/ seeds/"
    yield "// Go on after what was found: ./harness -fork=1 -ignore_crashes=1 corpus/ seeds/"
    yield "//"
    yield "// OVERLONG_LIBRARY_0=/path/lib.so names another library for the first function, and so on. A library"
    yield "// that is compiled with -fsanitize=fuzzer-no-link,address guides the fuzzer, and is checked itself."
