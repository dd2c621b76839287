"""JavaScript: an ES module for Node's own test runner."""

from __future__ import annotations

from typing import TYPE_CHECKING

from overlong.fuzz.promotion.literals import commented, listed, number_lines, source_of, text_lines

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from overlong.fuzz.promotion.case import Case

_COLUMNS = 80
_CUT = """
function cut(octets, lengths) {
  let place = 0;
  return lengths.map((length) => octets.subarray(place, (place += length)));
}"""


def write(case: Case) -> str:
    """The test, as Prettier formats it."""
    if case.earlier is not None:
        parameters, arguments = "earlier, chunks", "cut(EARLIER, EARLIER_LENGTHS), cut(OCTETS, LENGTHS)"
    elif case.is_stream:
        parameters, arguments = "chunks", "cut(OCTETS, LENGTHS)"
    else:
        parameters, arguments = "octets", "OCTETS"
    return source_of(
        commented(case.comment, "//"),
        "",
        'import assert from "node:assert/strict";',
        'import test from "node:test";',
        "",
        _octets("OCTETS", case.octets),
        [] if case.scalars is None else _text(case.text),
        _numbers("LENGTHS", case.lengths) if case.is_stream else [],
        [] if case.earlier is None else _octets("EARLIER", b"".join(case.earlier)),
        [] if case.earlier is None else _numbers("EARLIER_LENGTHS", tuple(map(len, case.earlier))),
        "",
        "// The text. What is refused throws; its property offset says where, if the",
        "// decoder does.",
        f"function decode({parameters}) {{",
        _body(case),
        "}",
        _CUT if case.is_stream else [],
        "",
        f'test("{case.id}", () => {{',
        _test(case, f"decode({arguments})"),
        "});",
    )


def _body(case: Case) -> list[str]:
    options = ['  const decoder = new TextDecoder("utf-8", {', "    ignoreBOM: true,", "  });"]
    if not case.replaces:
        options.insert(1, "    fatal: true,")
    if not case.is_stream:
        return ["  // ADAPT: call your decoder.", *options, "  return decoder.decode(octets);"]
    feed = [
        '  let text = "";',
        "  for (const chunk of chunks) {",
        "    text += decoder.decode(chunk, { stream: true });",
        "  }",
        "  return text + decoder.decode();",
    ]
    if case.earlier is None:
        return ["  // ADAPT: feed your decoder chunk by chunk.", *options, *feed]
    before = [
        "  try {",
        "    for (const chunk of earlier) {",
        "      decoder.decode(chunk, { stream: true });",
        "    }",
        "    decoder.decode();",
        "  } catch {",
        "    // The earlier stream may be refused: that resets it, too.",
        "  }",
    ]
    adapt = ["  // ADAPT: feed your decoder the earlier stream, reset it, then feed it the", "  // chunks."]
    return [*adapt, *options, *before, *feed]


def _test(case: Case, call: str) -> list[str]:
    if case.scalars is not None:
        lines = [f"const text = {call};", "assert.equal(text, TEXT);"]
    elif case.offset is None:
        lines = ["assert.throws(() => {", f"  {call};", "});"]
    else:
        lines = [
            "assert.throws(",
            "  () => {",
            f"    {call};",
            "  },",
            f"  (error) => error.offset === undefined || error.offset === {case.offset},",
            ");",
        ]
    if case.times > 1:
        loop = f"for (let i = 0; i < {case.times}; i++) {{"
        lines = [loop, "  // It did not always answer alike.", *(f"  {line}" for line in lines), "}"]
    return [f"  {line}" for line in lines]


def _octets(name: str, octets: bytes) -> list[str]:
    return _array(f"const {name} = new Uint8Array([", octets, hexadecimal=True, end="]);")


def _numbers(name: str, numbers: Sequence[int]) -> list[str]:
    return _array(f"const {name} = [", numbers, hexadecimal=False, end="];")


def _array(start: str, numbers: Sequence[int], *, hexadecimal: bool, end: str) -> list[str]:
    form: Callable[[int], str] = "0x{:02x}".format if hexadecimal else str
    line = f"{start}{listed(numbers, form)}{end}"
    if len(line) <= _COLUMNS:
        return [line]
    return [start, *(f"  {row}" for row in number_lines(numbers, _COLUMNS - 2, form)), end]


def _text(text: str) -> list[str]:
    lines = text_lines(text, lambda scalar: f"\\u{{{scalar:x}}}")
    if len(lines) == 1:
        return _fitting(f'const TEXT = "{lines[0]}";', f'"{lines[0]}";')
    return ["const TEXT =", *(f'  "{line}" +' for line in lines[:-1]), f'  "{lines[-1]}";']


def _fitting(line: str, value: str) -> list[str]:
    return [line] if len(line) <= _COLUMNS else ["const TEXT =", f"  {value}"]
