"""Rust: an integration test, for the folder ``tests``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from overlong.fuzz.promotion.literals import commented, listed, number_lines, octet_lines, source_of, text_lines

if TYPE_CHECKING:
    from collections.abc import Sequence

    from overlong.fuzz.promotion.case import Case

_CUT = """
fn cut<'a>(octets: &'a [u8], lengths: &[usize]) -> Vec<&'a [u8]> {
    let mut rest = octets;
    let mut chunks = Vec::new();
    for length in lengths {
        let (chunk, behind) = rest.split_at(*length);
        chunks.push(chunk);
        rest = behind;
    }
    chunks
}"""
_STRICT = """\
    match std::str::from_utf8({octets}) {{
        Ok(text) => Ok(text.chars().map(u32::from).collect()),
        Err(error) => Err(Some(error.valid_up_to())),
    }}"""
_REPLACING = """\
    let text = String::from_utf8_lossy({octets});
    Ok(text.chars().map(u32::from).collect())"""


def write(case: Case) -> str:
    """The test, as rustfmt formats it."""
    if case.earlier is not None:
        parameters, arguments = "earlier: &[&[u8]], chunks: &[&[u8]]", "&earlier, &chunks"
    elif case.is_stream:
        parameters, arguments = "chunks: &[&[u8]]", "&chunks"
    else:
        parameters, arguments = "octets: &[u8]", "OCTETS"
    body = (_REPLACING if case.replaces else _STRICT).format(octets="&octets" if case.is_stream else "octets")
    before = ["    let _ = earlier;"] * (case.earlier is not None)
    before += ["    let octets = chunks.concat();"] * case.is_stream
    return source_of(
        commented(case.comment, "//"),
        "",
        _bytes("OCTETS", case.octets),
        [] if case.scalars is None else _text(case.text),
        _numbers("LENGTHS", case.lengths) if case.is_stream else [],
        [] if case.earlier is None else _bytes("EARLIER", b"".join(case.earlier)),
        [] if case.earlier is None else _numbers("EARLIER_LENGTHS", tuple(map(len, case.earlier))),
        "",
        "/// Scalar values; or a refusal, and where it is if the decoder says that.",
        f"fn decode({parameters}) -> Result<Vec<u32>, Option<usize>> {{",
        _adapt(case),
        before,
        body,
        "}",
        _CUT if case.is_stream else [],
        "",
        "#[test]",
        f"fn {case.name}() {{",
        ["    let earlier = cut(EARLIER, EARLIER_LENGTHS);"] * (case.earlier is not None),
        ["    let chunks = cut(OCTETS, LENGTHS);"] * case.is_stream,
        _test(case, f"decode({arguments})"),
        "}",
    )


def _adapt(case: Case) -> list[str]:
    if case.earlier is not None:
        return [
            "    // ADAPT: feed your decoder the earlier stream, reset it, then feed it the chunks;",
            "    // the answer is that to the second stream.",
        ]
    if case.is_stream:
        return ["    // ADAPT: feed your decoder chunk by chunk."]
    return ["    // ADAPT: call your decoder."]


def _test(case: Case, call: str) -> list[str]:
    if case.scalars is not None:
        lines = [
            "let expected: Vec<u32> = TEXT.chars().map(u32::from).collect();",
            f"assert_eq!({call}, Ok(expected));",
        ]
    elif case.offset is None:
        lines = [f'assert!({call}.is_err(), "accepted");']
    else:
        lines = [f"assert_eq!({call}, Err(Some({case.offset})));"]
    if case.times > 1:
        inside = (f"    {line}" for line in lines)
        lines = [f"for _ in 0..{case.times} {{", "    // It did not always answer alike.", *inside, "}"]
    return [f"    {line}" for line in lines]


def _bytes(name: str, octets: bytes) -> list[str]:
    return _literal(f'const {name}: &[u8] = b"', octet_lines(octets))


def _text(text: str) -> list[str]:
    return _literal('const TEXT: &str = "', text_lines(text, lambda scalar: f"\\u{{{scalar:x}}}"))


def _literal(start: str, lines: list[str]) -> list[str]:
    if len(lines) == 1:
        return [f'{start}{lines[0]}";']
    return [f"{start}\\", *(f"    {line}\\" for line in lines[:-1]), f'    {lines[-1]}";']


def _numbers(name: str, numbers: Sequence[int]) -> list[str]:
    line = f"const {name}: &[usize] = &[{listed(numbers)}];"
    if len(listed(numbers)) <= 50:
        return [line]
    rows = (f"    {row}" for row in number_lines(numbers, 90))
    return ["#[rustfmt::skip]", f"const {name}: &[usize] = &[", *rows, "];"]
