"""Replacers: a right one for each error mode, and wrong ones with one fault each. Right decoders of dialects.

Each is a target: ``py:wrong_replacers.py:NAME``. ``RIGHT`` and ``WRONG`` have their error modes; ``OWN_RIGHT`` and
``OWN_WRONG`` use modes that no other program knows, ``SPEAKERS`` the dialects. The replacers are CPython's decoder
with an error handler, and share no code with the reference.
"""

from __future__ import annotations

import codecs
import re
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

RIGHT: dict[str, str] = {}
WRONG: dict[str, str] = {}
OWN_RIGHT: list[str] = []
OWN_WRONG: dict[str, dict[str, str]] = {}
"""The codes that each is caught for, with the claims that they refute."""
SPEAKERS: dict[str, str] = {}

Handler = Any
"""From the input and a maximal subpart's start and end to its replacement, and the offset to continue at."""


def target(mode: str, decode: Callable[[bytes], str]) -> type:
    """An object for the adapter: a decoder with the error mode in its greeting."""

    class Target:
        operations = {"L": lambda many: [decode(octets) for octets in many]}  # noqa: RUF012
        traits = {"error_mode": mode}  # noqa: RUF012

    return Target


def _register(known: dict[str, str], name: str, mode: str, decode: Callable[[bytes], str]) -> None:
    known[name] = mode
    globals()[name] = target(mode, decode)


def right(name: str, mode: str, decode: Callable[[bytes], str]) -> None:
    _register(RIGHT, name, mode, decode)


def wrong(name: str, mode: str, decode: Callable[[bytes], str]) -> None:
    _register(WRONG, name, mode, decode)


def handling(name: str, handler: Handler) -> Callable[[bytes], str]:
    """CPython's decoder with an error handler."""

    def handle(error: Any) -> tuple[str, int]:
        text, place = handler(error.object, error.start, error.end)
        return text, min(place, len(error.object))

    codecs.register_error(f"replacers.{name}", handle)
    return lambda octets: octets.decode("utf-8", f"replacers.{name}")


def escaped(octets: bytes) -> str:
    return octets.decode("utf-8", "surrogateescape")


def unescaped(table: dict[int, str]) -> Callable[[bytes], str]:
    """Replace ill-formed octets by a table, others by U+FFFD."""
    whole = {0xDC00 + octet: table.get(octet, "\ufffd") for octet in range(0x80, 0x100)}
    return lambda octets: escaped(octets).translate(whole)


def replace(octets: bytes) -> str:
    return octets.decode("utf-8", "replace")


def announced(lead: int) -> int:
    """The length of RFC 2279's sequence for a lead octet; 1 for other octets."""
    return next((n for n, end in ((1, 0xC0), (2, 0xE0), (3, 0xF0), (4, 0xF8), (5, 0xFC), (6, 0xFE)) if lead < end), 1)


def after_tails(octets: bytes, place: int, end: int) -> int:
    """The first offset, up to ``end``, without a tail."""
    while place < min(end, len(octets)) and octets[place] >> 6 == 2:
        place += 1
    return place


def is_surrogate(octets: bytes, start: int, seconds: range = range(0xA0, 0xC0)) -> bool:
    return octets[start] == 0xED and len(octets) > start + 1 and octets[start + 1] in seconds


def absorbing(name: str, length: Callable[[bytes, int], int]) -> Callable[[bytes], str]:
    """One U+FFFD for a maximal subpart and the tails after it, up to a length from its first octet."""
    return handling(name, lambda o, start, end: ("\ufffd", after_tails(o, end, start + length(o, start))))


def per_length(length: Callable[[int], int]) -> Callable[[bytes], str]:
    """One U+FFFD for as many octets as the first one announces, whatever they are."""
    return handling(f"length-{len(RIGHT) + len(WRONG)}", lambda o, start, _: ("\ufffd", start + length(o[start])))


def lead_length(lead: int) -> int:
    """The length that a lead of RFC 3629 announces."""
    return announced(lead) if 0xC2 <= lead <= 0xF4 else 1


def up_to_lead(octets: bytes, start: int, length: int) -> int:
    """The first offset, up to a length, at which a character can begin."""
    end = min(start + length, len(octets))
    return next((at for at in range(start + 1, end) if octets[at] < 0x80 or 0xC2 <= octets[at] <= 0xF4), end)


per_surrogate = absorbing("per-surrogate", lambda o, start: 3 * is_surrogate(o, start))

LATIN = {octet: chr(octet) for octet in range(0x80, 0x100)}
WINDOWS = {octet: bytes([octet]).decode("cp1252", "ignore") or chr(octet) for octet in range(0x80, 0x100)}
RUN = "[\udc80-\udcff]+"

# Right ------------------------------------------------------------------------------------------------------

right("right_replacement", "replacement", replace)
right(
    "right_per_octet",
    "replacement-per-octet",
    handling("per-octet", lambda _, start, end: ("\ufffd" * (end - start), end)),
)
right("right_per_sequence", "replacement-per-sequence", absorbing("per-sequence", lambda o, at: announced(o[at])))
right("right_per_length", "replacement-per-length", per_length(lead_length))
right(
    "right_up_to_lead",
    "replacement-up-to-lead",
    handling("up-to-lead", lambda o, start, _: ("\ufffd", up_to_lead(o, start, lead_length(o[start])))),
)
right("right_per_surrogate", "replacement-per-surrogate", per_surrogate)
right("right_per_run", "replacement-per-run", lambda octets: re.sub(RUN, "\ufffd", escaped(octets)))
right("right_skip", "skip", lambda octets: octets.decode("utf-8", "ignore"))
right("right_utf_8b", "utf-8b", escaped)
right("right_iso_8859_1", "iso-8859-1", unescaped(LATIN))
right("right_windows_1252", "windows-1252", unescaped(WINDOWS))


# Unknown error modes that must not be accused -------------------------------------------------------------------


def own(name: str, decode: Callable[[bytes], str]) -> None:
    OWN_RIGHT.append(name)
    globals()[name] = target(name.removeprefix("own_"), decode)


def standing_for(text: str, name: str, length: Callable[[bytes, int], int] = lambda o, at: announced(o[at])) -> Any:
    """One such text for a maximal subpart and the tails after it, up to a length."""
    return handling(name, lambda o, start, end: (text, after_tails(o, end, start + length(o, start))))


def _before_the_first_error(octets: bytes) -> str:
    try:
        return octets.decode()
    except UnicodeDecodeError as error:
        return octets[: error.start].decode()


def _or_else(decode: Callable[[bytes], str]) -> Callable[[bytes], str]:
    """The text, or another decoder's reading of the whole input."""

    def decoded(octets: bytes) -> str:
        try:
            return octets.decode()
        except UnicodeDecodeError:
            return decode(octets)

    return decoded


def _to_the_next_ascii(octets: bytes, start: int, end: int) -> tuple[str, int]:
    return "", next((place for place in range(end, len(octets)) if octets[place] < 0x80), len(octets))


def _to_the_end_of_the_line(octets: bytes, start: int, end: int) -> tuple[str, int]:
    line = octets.find(b"\n", start)
    return "\u2026", len(octets) if line < 0 else line


def _hexadecimal(octets: bytes, start: int, end: int) -> tuple[str, int]:
    return f"<{octets[start:end].hex(' ').upper()}>", end


own("own_escapes", lambda octets: octets.decode("utf-8", "backslashreplace"))
own("own_to_the_next_ascii", handling("next-ascii", _to_the_next_ascii))
own("own_to_the_end_of_the_line", handling("line", _to_the_end_of_the_line))
own("own_stops", _before_the_first_error)
own("own_nothing_at_all", _or_else(lambda _: ""))
own("own_question_mark", standing_for("?", "question"))  # C0 BF, too
own("own_question_marks", handling("question-each", lambda _, start, end: ("?" * (end - start), end)))
own("own_substitute", standing_for("\x1a", "substitute"))  # C0 9A, too
own("own_nul", standing_for("\0", "nul"))  # C0 80, too
own("own_letter", standing_for("X", "letter", lambda o, at: 2))  # C1 98, too
own("own_square", standing_for("\u25a1", "square"))
own("own_lone_surrogate", standing_for("\udfff", "lone"))  # ED BF BF, too
own("own_hexadecimal", handling("hexadecimal", _hexadecimal))
own("own_several", standing_for("[bad]", "several"))
own("own_two_of_each", handling("two", lambda _, start, end: ("\ufffd\ufffd", end)))
own("own_sevens", handling("sevens", lambda o, start, end: ("".join(chr(x & 0x7F) for x in o[start:end]), end)))
own("own_windows_1252", _or_else(lambda octets: octets.decode("cp1252", "replace")))
own("own_gbk", _or_else(lambda octets: octets.decode("gbk", "replace")))
own("own_ascii", _or_else(lambda octets: octets.decode("ascii", "ignore")))

# Unknown error modes, wrong in any mode: in well-formed text, or by accepting ill-formed octets ---------------------

SCALARS, VERDICT = {"OV102": "scalars"}, "verdict"


def own_wrong(name: str, caught_for: dict[str, str], decode: Callable[[bytes], str]) -> None:
    OWN_WRONG[name] = caught_for
    globals()[name] = target(name.partition("_")[0], decode)


def _escapes(octets: bytes) -> str:
    return octets.decode("utf-8", "backslashreplace")


def _eats_what_stands_before(octets: bytes) -> str:
    return re.sub(".?[\udc80-\udcff]+", "", escaped(octets), flags=re.DOTALL)


own_wrong("four_octets_vanish", SCALARS, lambda o: "".join(c for c in _escapes(o) if c < "\U00010000"))
own_wrong(
    "ef_bf_be_is_replaced", SCALARS, lambda o: _escapes(o).replace("\ufffe", "\ufffd").replace("\uffff", "\ufffd")
)
own_wrong("slash_slips_through", {"OV201": VERDICT}, lambda o: _escapes(o.replace(b"\xc0\xaf", b"/")))
own_wrong("nul_slips_through", {"OV201": VERDICT}, lambda o: _escapes(o.replace(b"\xc0\x80", b"\0")))
own_wrong(
    "surrogates_slip_through",
    {"OV202": VERDICT},
    handling(
        "own-surrogates",
        lambda o, start, end: (
            (o[start : start + 3].decode("utf-8", "surrogatepass"), start + 3)
            if is_surrogate(o, start) and len(o) > start + 2 and o[start + 2] >> 6 == 2
            else ("?", end)
        ),
    ),
)
own_wrong("eats_what_stands_before", {"OV402": "error mode"}, _eats_what_stands_before)

# Wrong: one U+FFFD for each maximal subpart --------------------------------------------------------------------


def _e0_80(octets: bytes, start: int, end: int) -> tuple[str, int]:
    return "\ufffd" * (1 + (octets[start : end + 1] == b"\xe0\x80")), end


def _f4_90(octets: bytes, start: int, end: int) -> tuple[str, int]:
    return "\ufffd", end + 2 * (octets[start : end + 1] == b"\xf4\x90")


def _swallows_what_interrupts(octets: bytes, start: int, end: int) -> tuple[str, int]:
    return "\ufffd", end + (octets[start] >= 0xC2 and octets[end : end + 1] < b"\x80")


def _nothing_at_the_end(octets: bytes, start: int, end: int) -> tuple[str, int]:
    whole = announced(octets[start]) == 1 or octets[start] in b"\xc0\xc1" or octets[start] >= 0xF5
    return "\ufffd" if whole or end < len(octets) else "", end


def _what_is_missing_counts(octets: bytes, start: int, end: int) -> tuple[str, int]:
    missing = announced(octets[start]) - (end - start) if end == len(octets) and 0xC2 <= octets[start] <= 0xF4 else 0
    return "\ufffd" * (1 + missing), end


def _forgets_after_three(octets: bytes) -> str:
    replaced = 0

    def handle(error: Any) -> tuple[str, int]:
        nonlocal replaced
        replaced += 1
        return "\ufffd" if replaced <= 3 else "", error.end

    codecs.register_error("replacers.three", handle)
    return octets.decode("utf-8", "replacers.three")


wrong("one_too_many_for_e0_80", "replacement", handling("e0-80", _e0_80))
wrong("swallows_after_f4_90", "replacement", handling("f4-90", _f4_90))
wrong("swallows_what_interrupts", "replacement", handling("interrupts", _swallows_what_interrupts))
wrong("nothing_at_the_end", "replacement", handling("at-the-end", _nothing_at_the_end))
wrong("what_is_missing_counts", "replacement", handling("missing", _what_is_missing_counts))
wrong("forgets_after_three", "replacement", _forgets_after_three)
wrong("question_marks", "replacement", handling("question-marks", lambda _, start, end: ("?", end)))
wrong(
    "per_octet_but_says_replacement", "replacement", lambda octets: re.sub("[\udc80-\udcff]", "\ufffd", escaped(octets))
)
wrong(
    "ff_is_nothing",
    "replacement",
    handling("ff", lambda o, start, end: ("" if o[start] == 0xFF else "\ufffd", end)),
)

# Wrong: one for each octet, sequence, surrogate, run; none -------------------------------------------------------

wrong(
    "per_octet_except_surrogates",
    "replacement-per-octet",
    handling(
        "octet-surrogates",
        lambda o, start, end: (
            ("\ufffd", after_tails(o, end, start + 3)) if is_surrogate(o, start) else ("\ufffd" * (end - start), end)
        ),
    ),
)
wrong(
    "per_octet_but_one_at_the_end",
    "replacement-per-octet",
    handling("octet-end", lambda o, start, end: ("\ufffd" * (1 if end == len(o) else end - start), end)),
)
SEQUENCE, SURROGATE = "replacement-per-sequence", "replacement-per-surrogate"
wrong("absorbs_one_tail_too_many", SEQUENCE, absorbing("more", lambda o, at: announced(o[at]) + (o[at] >= 0xC0)))
wrong("absorbs_one_tail_too_few", SEQUENCE, absorbing("fewer", lambda o, at: announced(o[at]) - 1))
wrong("knows_no_five_octets", SEQUENCE, absorbing("five", lambda o, at: min(announced(o[at]), 4)))
wrong("absorbs_any_tails", SEQUENCE, absorbing("any", lambda o, at: len(o) * (o[at] >= 0xC0)))
LENGTH = "replacement-per-length"
wrong("swallows_one_too_many", LENGTH, per_length(lambda lead: lead_length(lead) + (lead >= 0xC2)))
wrong("swallows_two_of_four", LENGTH, per_length(lambda lead: min(lead_length(lead), 3)))
wrong("swallows_after_f5", LENGTH, per_length(lambda lead: announced(lead) if lead >= 0xC2 else 1))
wrong("swallows_after_c0", LENGTH, per_length(announced))
wrong(
    "swallows_no_text",
    LENGTH,
    handling(
        "no-text",
        lambda o, start, end: (
            "\ufffd",
            next((at for at in range(end, start + lead_length(o[start])) if o[at : at + 1] < b"\x80"), None)
            or start + lead_length(o[start]),
        ),
    ),
)
LEAD = "replacement-up-to-lead"
wrong(
    "stops_at_c0",
    LEAD,
    handling("stops-at-c0", lambda o, at, end: ("\ufffd", after_tails(o, end, at + lead_length(o[at])))),
)
wrong("c0_announces", LEAD, handling("c0-leads", lambda o, at, _: ("\ufffd", up_to_lead(o, at, announced(o[at])))))
wrong("lead_surrogates_only", SURROGATE, absorbing("leads", lambda o, at: 3 * is_surrogate(o, at, range(0xA0, 0xB0))))
wrong("two_octets_of_a_surrogate", SURROGATE, absorbing("two", lambda o, at: 2 * is_surrogate(o, at)))
wrong(
    "pairs_are_one",
    SURROGATE,
    lambda o: per_surrogate(re.sub(rb"(\xed[\xa0-\xaf][\x80-\xbf])\xed[\xb0-\xbf][\x80-\xbf]", rb"\1", o)),
)
wrong("runs_of_four", "replacement-per-run", lambda octets: re.sub("[\udc80-\udcff]{1,4}", "\ufffd", escaped(octets)))
wrong("runs_end_at_fe", "replacement-per-run", lambda o: re.sub("\udcfe|[\udc80-\udcfd\udcff]+", "\ufffd", escaped(o)))
wrong("runs_across_nul", "replacement-per-run", lambda o: re.sub(f"{RUN}(\0{RUN})*", "\ufffd", escaped(o)))
wrong("skips_the_next_too", "skip", handling("next", lambda o, _, end: ("", end + (o[end : end + 1] < b"\x80"))))
wrong("skips_all_but_the_last", "skip", handling("last", lambda o, _, end: ("\ufffd" if end == len(o) else "", end)))

# Wrong: replacements of single octets --------------------------------------------------------------------------


def _but(table: dict[int, str], *octets: int) -> dict[int, str]:
    return {octet: char for octet, char in table.items() if octet not in octets}


ESCAPES = {octet: chr(0xDC00 + octet) for octet in range(0x80, 0x100)}

wrong("c0_and_c1_are_not_kept", "utf-8b", unescaped(_but(ESCAPES, 0xC0, 0xC1)))
wrong("ff_is_not_kept", "utf-8b", unescaped(_but(ESCAPES, 0xFF)))
wrong("escaped_with_seven_bits", "utf-8b", unescaped({octet: chr(0xDC00 + (octet & 0x7F)) for octet in ESCAPES}))
wrong(
    "surrogates_pass",
    "utf-8b",
    lambda octets: re.sub(
        "\udced([\udca0-\udcbf])([\udc80-\udcbf])",
        lambda found: bytes([0xED, *(ord(char) & 0xFF for char in found.groups())]).decode("utf-8", "surrogatepass"),
        escaped(octets),
    ),
)
wrong("controls_as_windows_has_them", "iso-8859-1", unescaped(WINDOWS))
wrong("a0_is_a_space", "iso-8859-1", unescaped({**LATIN, 0xA0: " "}))
wrong("leads_are_replaced", "iso-8859-1", unescaped(_but(LATIN, *range(0xC2, 0xF5))))
wrong("81_is_replaced", "windows-1252", unescaped(_but(WINDOWS, 0x81)))
wrong("80_is_a_control", "windows-1252", unescaped({**WINDOWS, 0x80: "\x80"}))


def _all_or_nothing(octets: bytes) -> str:
    """After one ill-formed octet, the whole text is read as Windows-1252: a fall-back for texts, not octets."""
    try:
        return octets.decode()
    except UnicodeDecodeError:
        return "".join(WINDOWS.get(octet, chr(octet)) for octet in octets)


wrong("the_whole_as_windows_1252", "windows-1252", _all_or_nothing)

# Right decoders of every dialect ---------------------------------------------------------------------------------


def speaker(name: str) -> type:
    """The reference in a dialect. Dialects with numbers that no ``str`` can hold are only validated."""

    def outcomes(many: Sequence[bytes], *, verdict: bool) -> list[Any]:
        from overlong.reference import Rejected, dialect, outcome

        refusal, results = sys.modules["__main__"].Refusal, list[Any]()
        for octets in many:
            found = outcome(octets, "fatal", dialect(name))
            if isinstance(found, Rejected):
                results.append(refusal(*found))
            else:
                results.append(True if verdict else "".join(map(chr, found.scalars)))
        return results

    def replaced(many: Sequence[bytes]) -> list[str]:
        from overlong.reference import decode_scalars, dialect

        return ["".join(map(chr, decode_scalars(octets, "replacement", dialect(name)))) for octets in many]

    class Target:
        operations: dict[str, Any] = {"V": lambda many: outcomes(many, verdict=True)}  # noqa: RUF012

    if name not in {"rfc2279", "lax-1fffff", "lax", "lax-rfc2279"}:
        Target.operations |= {"D": lambda many: outcomes(many, verdict=False), "L": replaced}
    return Target


for _name in (
    *("rfc3629", "utf-8-sig", "rfc2279", "cesu-8", "mutf-8", "mutf-8-lax", "wtf-8"),
    *("lax-surrogates", "lax-overlongs", "lax-1fffff", "lax", "lax-rfc2279"),
):
    SPEAKERS[_name] = f"speaks_{_name.replace('-', '_')}"
    globals()[SPEAKERS[_name]] = speaker(_name)
