"""The page of error modes: a picture of each, and strings that tell every two apart."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

from overlong.conformance.support.printable import spaced_hex
from overlong.reference import ERROR_MODES, IllFormed, decode_scalars, dialect
from overlong.reference.automaton import OCTETS, shortlex, words_apart
from overlong.reference.machine import difference, output_machine
from printing.markdown import NOTICE, code, table

if TYPE_CHECKING:
    from collections.abc import Iterator

EXAMPLE = bytes.fromhex("61 E0 80 AF ED A0 80 E2 82 7A")
"""A letter, an overlong form, a surrogate, two octets of three, a letter."""

TELLING = {
    "fatal": "The input is refused as a whole. A decoder may say where: at the first octet that is ill-formed. It is "
    "the only mode under which nothing of ill-formed input gets further, and the one to take for whatever is compared, "
    "signed or checked.",
    "replacement": "What is replaced is a *maximal subpart*: the longest run of octets that could have begun a "
    "character, or a single octet if none could. E2 82 could have (E2 82 AC is the euro sign): one U+FFFD. E0 80 "
    "cannot, so E0 is replaced, and then 80 and AF, which are tail octets without a lead. This is what Unicode "
    "recommends and what WHATWG's Encoding Standard, and so every browser, requires.",
    "replacement-per-octet": "Every octet that is not part of a character is replaced. It differs from `replacement` "
    "only where octets could have begun a character and the rest is missing: E2 82.",
    "replacement-per-sequence": "The lead octet says how many tail octets follow it, and all that are there are taken "
    "with it: E0 80 AF is one, ED A0 80 is one. It is older than maximal subparts. That leads announce is how RFC 2279 "
    "describes them, up to FD, which announces five tails.",
    "replacement-per-length": "The lead octet says how many octets follow it, and so many are taken with it, whatever "
    "they are: tails, text, or the lead of another character. This is called over-consumption: a quotation mark after "
    "C2 is gone, and what it closed continues. Only leads of RFC 3629 announce, C2 to F4; others are one each.",
    "replacement-up-to-lead": "As `replacement-per-length`, but an octet that can begin a character is never taken "
    "with the octets before it: no text is lost. It differs from `replacement-per-sequence` in that C2 FF is one, and "
    "C0 80 is two.",
    "replacement-per-surrogate": "As `replacement`, but ED A0 80 to ED BF BF, the octets that would spell a surrogate, "
    "are one. Everything else is replaced as Unicode does.",
    "replacement-per-run": "All ill-formed octets up to the next character are one. The number of U+FFFD says nothing "
    "of how much was lost.",
    "skip": "Ill-formed octets vanish. Two octets apart come together: `<scr`, C0, `ipt>` passes a filter as it is and "
    "becomes a tag after it. Unicode Technical Report 36 warns of that.",
    "utf-8b": "Every octet becomes a lone surrogate that no character has, and comes back when the text is encoded: "
    "nothing is lost. What comes out is not Unicode text; other encoders refuse it.",
    "iso-8859-1": "The octets are taken for another encoding, each by itself. E9 alone becomes é, as its writer may "
    "have meant. Octets 80 to 9F become control characters.",
    "windows-1252": "As `iso-8859-1`, but octets 80 to 9F become what Windows-1252 has there: 80 is the euro sign.",
}
"""Facts about each mode for a reader."""

DONE_BY = {
    "fatal": ("cpython", "go-utf8", "rust-std", "java-charsetdecoder", "node-textdecoder"),
    "replacement": ("cpython", "node-textdecoder", "rust-std", "icu4c", "ruby", "chromium-textdecoder"),
    "replacement-per-octet": ("go-utf8", "glib"),
    "replacement-per-length": ("ocaml-uutf", "ocaml-uutf-decoder"),
    "replacement-up-to-lead": ("php-htmlspecialchars",),
    "replacement-per-surrogate": ("java-charsetdecoder", "java-string"),
    "replacement-per-run": ("go-tovalidutf8",),
    "skip": ("php-json-ignore",),
    "utf-8b": ("cpython-surrogateescape",),
    "iso-8859-1": ("tcl",),
}
"""The decoders with an adapter that a mode measures."""


def page() -> Iterator[str]:
    """The page."""
    yield from (NOTICE, "", "# Error modes", "")
    yield "An error mode says what a decoder outputs for octets that are ill-formed. RFC 3629 does not choose one;"
    yield "Unicode recommends `replacement`. All that is here is computed by the reference from its automaton."
    yield from ("", "## Side by side", "")
    words = telling_strings()
    yield f"{len(words)} strings of two octets tell every two modes apart. Feed them to a decoder, and you know which"
    yield "of these it may have; `overlong identify` continues until it is certain ([identify](identify.md))."
    yield ""
    head = ("error mode", *(code(spaced_hex(word)) for word in words))
    yield from table(head, ((f"[`{mode}`](#{mode})", *(put_out(word, mode) for word in words)) for mode in ERROR_MODES))
    yield ""
    yield "They are derived: of every two modes' machines the shortlex-least string on which they differ (the shorter"
    yield "first, then octet by octet), less those that the others make superfluous ([theory](theory.md))."
    yield ""
    yield "Which is the least for which two:"
    yield ""
    yield from _least()
    yield from ("", "## The pictures", "")
    yield f"Each shows `{spaced_hex(EXAMPLE)}`: a letter, an overlong form (E0 80 AF), a surrogate (ED A0 80),"
    yield "two octets of three (E2 82), a letter. Between the octets is the state of [the automaton](automaton.md),"
    yield "named by octets that lead to it; a cross where no way leads on, so that it starts again. An arrow leads to"
    yield "the output for the octets above it."
    for name, mode in ERROR_MODES.items():
        yield from ("", f"### {name}", "", f"{mode.line[0].upper()}{mode.line[1:]}. Source: {mode.source}.", "")
        shown = " ".join(put_out(EXAMPLE, name).replace("*", "").split())
        yield f"![{name}: the example becomes {shown}](pictures/{name}.svg)"
        yield from ("", TELLING[name], "")
        done_by = ", ".join(code(each) for each in DONE_BY.get(name, ()))
        yield f"Measured by it here: {done_by or 'no decoder that ships with an adapter'}."
    yield from ("", "## Where the octets end", "")
    yield "At the end of a stream a mode can only wait or answer. Suites test all modes but `fatal` in two ways: with"
    yield "the whole input, and in chunks, where a decoder that holds nothing back outputs each character, and each"
    yield "replacement, as soon as no further octet can change it ([protocol](protocol.md#streams))."


def telling_strings() -> tuple[bytes, ...]:
    """Strings that tell every two modes apart: as few of the shortlex-least strings of pairs as possible."""
    modes = list(ERROR_MODES)

    return words_apart(
        len(modes), lambda pair: least(modes[pair[0]], modes[pair[1]]), lambda word, mode: put_out(word, modes[mode])
    )


def least(one: str, other: str) -> bytes | None:
    """The shortlex-least string on which two modes differ."""
    if "fatal" in (one, other):  # replacing accepts everything: take the least ill-formed string
        return next(bytes([octet]) for octet in OCTETS if not dialect().automaton.accepts(bytes([octet])))
    return difference(output_machine(dialect(), ERROR_MODES[one]), output_machine(dialect(), ERROR_MODES[other]))


def put_out(octets: bytes, mode: str) -> str:
    """A mode's output for octets, in words."""
    try:
        return " ".join(f"{scalar:04X}" for scalar in decode_scalars(octets, mode)) or "*nothing*"
    except IllFormed as error:
        return f"refused at {error.offset}"


def _least() -> Iterator[str]:
    """A line for each string that is the least for some pair of modes, with the modes that it tells apart."""
    pairs: dict[bytes, dict[str, list[str]]] = {}
    for one, other in combinations(ERROR_MODES, 2):
        pairs.setdefault(least(one, other) or b"", {}).setdefault(other, []).append(one)
    usual, *others = sorted(pairs, key=shortlex)
    for word in others:
        told = (f"{code(mode)} from {', '.join(map(code, each))}" for mode, each in pairs[word].items())
        yield f"- {code(spaced_hex(word))} tells {'; '.join(told)}"
    yield f"- {code(spaced_hex(usual))} tells every other two"
