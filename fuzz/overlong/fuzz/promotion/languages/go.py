"""Go: a file for the package of the decoder. Names end with the finding's, so that several can stand in one package."""

from __future__ import annotations

from typing import TYPE_CHECKING

from overlong.fuzz.promotion.literals import commented, number_lines, octet_lines, source_of, text_lines

if TYPE_CHECKING:
    from collections.abc import Sequence

    from overlong.fuzz.promotion.case import Case


def write(case: Case) -> str:
    """The test, as gofmt formats it."""
    tag = case.title_name
    parameters = "earlier, chunks [][]byte" if case.earlier is not None else "chunks [][]byte"
    arguments = f"cut{tag}(octets{tag}, lengths{tag})"
    if case.earlier is not None:
        arguments = f"cut{tag}(earlier{tag}, earlierLengths{tag}), {arguments}"
    if not case.is_stream:
        parameters, arguments = "octets []byte", f"[]byte(octets{tag})"
    imports = ['"bytes"'] * case.is_stream + ['"slices"'] * (case.scalars is not None) + ['"testing"']
    imports += ['"unicode/utf8"'] * (not case.replaces)
    return source_of(
        commented(case.comment, "//"),
        "",
        "package decoder // ADAPT: the package of your decoder",
        "",
        "import (",
        [f"\t{name}" for name in imports],
        ")",
        "",
        _literal(f"octets{tag}", octet_lines(case.octets)),
        [] if case.scalars is None else _literal(f"text{tag}", _escapes(case.text)),
        [] if case.earlier is None else _literal(f"earlier{tag}", octet_lines(b"".join(case.earlier))),
        _numbers(f"lengths{tag}", case.lengths) if case.is_stream else [],
        [] if case.earlier is None else _numbers(f"earlierLengths{tag}", tuple(map(len, case.earlier))),
        "",
        f"// decode{tag} returns scalar values, and whether the input is accepted; where it is refused, the offset, or",
        "// -1 if the decoder says none.",
        f"func decode{tag}({parameters}) (scalars []rune, offset int, accepted bool) {{",
        _body(case),
        "}",
        _cut(tag) if case.is_stream else [],
        "",
        f"func Test{tag}(t *testing.T) {{",
        _test(case, f"decode{tag}({arguments})"),
        "}",
    )


def _body(case: Case) -> list[str]:
    octets = "octets"
    lines: list[str] = []
    if case.earlier is not None:
        lines += [
            "// ADAPT: feed your decoder the earlier stream, reset it, then feed it the chunks; the answer is",
            "// that to the second stream.",
            "_ = earlier",
        ]
    elif case.is_stream:
        lines += ["// ADAPT: feed your decoder chunk by chunk."]
    else:
        lines += ["// ADAPT: call your decoder."]
    if case.is_stream:
        lines += ["octets := bytes.Join(chunks, nil)"]
    if not case.replaces:
        lines += [f"if !utf8.Valid({octets}) {{", "\treturn nil, -1, false", "}"]
    return [f"\t{line}" for line in (*lines, f"return []rune(string({octets})), -1, true")]


def _test(case: Case, call: str) -> list[str]:
    if case.scalars is not None:
        lines = [
            f"scalars, offset, accepted := {call}",
            "if !accepted {",
            '\tt.Fatalf("refused at %d", offset)',
            "}",
            f"if !slices.Equal(scalars, []rune(text{case.title_name})) {{",
            '\tt.Fatalf("decoded as %x", scalars)',
            "}",
        ]
    elif case.offset is None:
        lines = [f"scalars, _, accepted := {call}", "if accepted {", '\tt.Fatalf("accepted as %x", scalars)', "}"]
    else:
        lines = [
            f"scalars, offset, accepted := {call}",
            "if accepted {",
            '\tt.Fatalf("accepted as %x", scalars)',
            "}",
            f"if offset != -1 && offset != {case.offset} {{",
            '\tt.Fatalf("refused at %d", offset)',
            "}",
        ]
    if case.times > 1:
        loop = f"for i := 0; i < {case.times}; i++ {{ // it did not always answer alike"
        lines = [loop, *(f"\t{line}" for line in lines), "}"]
    return [f"\t{line}" for line in lines]


def _cut(tag: str) -> list[str]:
    return [
        "",
        f"func cut{tag}(octets string, lengths []int) [][]byte {{",
        "\tvar chunks [][]byte",
        "\tfor _, length := range lengths {",
        "\t\tchunks = append(chunks, []byte(octets[:length]))",
        "\t\toctets = octets[length:]",
        "\t}",
        "\treturn chunks",
        "}",
    ]


def _escapes(text: str) -> list[str]:
    return text_lines(text, lambda scalar: f"\\u{scalar:04x}" if scalar < 1 << 16 else f"\\U{scalar:08x}")


def _literal(name: str, lines: list[str]) -> list[str]:
    first, *rest = lines
    if not rest:
        return [f'const {name} = "{first}"']
    middle = (f'\t"{line}" +' for line in rest[:-1])
    return [f'const {name} = "{first}" +', *middle, f'\t"{rest[-1]}"']


def _numbers(name: str, numbers: Sequence[int]) -> list[str]:
    return ["", f"var {name} = []int{{", *(f"\t{row}" for row in number_lines(numbers, 100)), "}"]
