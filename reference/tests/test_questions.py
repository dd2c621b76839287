"""Questions about text: fixed by Python's own decoder where text is well-formed, by modes where it is not."""

from itertools import product

import pytest

from overlong.reference.questions import BY_NUMBER, EARLY, QUESTIONS, cut_by, is_fixed, is_possible, right
from overlong.reference.reading import MODES, read

CHARACTERS = ("a", "\x80", "é", "߿", "ࠀ", "€", "\ud7ff", "\ue000", "\uffff", "\U00010000", "😀", "\U0010ffff")
TEXTS = ["".join(chosen) for count in range(4) for chosen in product("aé€😀", repeat=count)] + list(CHARACTERS)


def prefixes(text):
    return [text[:count] for count in range(len(text) + 1)]


def units(text):
    return len(text.encode("utf-16-le")) // 2


CODECS = {"utf16": (2, "utf-16-be"), "utf32": (4, "utf-32-be"), "latin1": (1, "latin-1"), "utf8": (1, "utf-8")}


def converted_by_python(name, text, room):
    """What the longest prefix takes, and its units."""
    direction, _, other = name.partition("-")
    forms = ("utf8", other) if direction == "to" else (other, "utf8")

    def in_units(part, form):
        size, codec = CODECS[form]
        encoded = part.encode(codec)
        return [int.from_bytes(encoded[place : place + size], "big") for place in range(0, len(encoded), size)]

    longest = max((each for each in prefixes(text) if len(in_units(each, forms[1])) <= room), key=len)
    return len(in_units(longest, forms[0])), *in_units(longest, forms[1])


def by_python(name, text, octets, argument):
    """The answer from Python's str, which knows nothing of pieces; None where the standard leaves it open."""
    if name.startswith(("to-", "from-")):
        return converted_by_python(name, text, argument)
    ends = [len(each.encode()) for each in prefixes(text)]
    longest = {
        "truncate": lambda each: len(each.encode()) <= argument,
        "truncate-scalars": lambda each: len(each) <= argument,
        "truncate-utf16": lambda each: units(each) <= argument,
    }
    if name in longest:
        return (max(len(each.encode()) for each in prefixes(text) if longest[name](each)),)
    if name in ("next", "previous", "utf16-of-offset", "scalar-of-offset") and argument not in ends:
        return None
    before = octets[:argument].decode() if argument in ends else ""
    match name:
        case "count-scalars":
            return (len(text),)
        case "count-utf16":
            return (units(text),)
        case "is-boundary":
            return (int(argument in ends),)
        case "floor":
            return (max(end for end in ends if end <= argument),)
        case "ceil":
            return (min(end for end in ends if end >= argument),)
        case "trim-partial":
            return (len(octets),)
        case "next":
            character = octets[argument:].decode()[0]
            return ord(character), len(character.encode())
        case "previous":
            return ord(before[-1]), len(before[-1].encode())
        case "utf16-of-offset":
            return (units(before),)
        case "scalar-of-offset":
            return (len(before),)
        case "offset-of-scalar":
            return (ends[argument],) if argument < len(ends) else None
        case "size-from-utf16" | "size-from-utf32" | "size-from-latin1":
            return (len(octets),)
    found = [len(each.encode()) for each in prefixes(text) if units(each) == argument]
    return (found[0],) if found else None


@pytest.mark.parametrize("name", QUESTIONS)
def test_of_well_formed_text_python_and_every_mode_say_the_same(name):
    question = QUESTIONS[name]
    for text in TEXTS:
        octets = text.encode()
        for argument in question.asked(octets):
            found = right(question, octets, argument)
            wanted = by_python(name, text, octets, argument)
            assert is_fixed(question, octets)
            assert wanted is None or (found.judged and found.numbers == wanted and not found.refusal), (text, argument)
            assert wanted is not None or found.refusal
            if found.judged:
                assert {right(question, octets, argument, mode) for mode in MODES} == {found}
                assert is_possible(question, octets, argument, found.numbers)
                assert cut_by(question, octets, found.numbers) is None


def test_a_converter_that_stops_early_cuts_no_character_and_ends():
    question, octets = QUESTIONS["from-utf16"], "aé😀".encode()
    assert not right(question, octets, 6).accepts((1, 0x61))
    found = right(question, octets, 6, EARLY)
    assert found.numbers == (2, 0x61, 0xC3, 0xA9)
    assert found.accepts((1, 0x61))
    assert not any(found.accepts(each) for each in ((0,), (2, 0x61), (1, 0x61, 0xC3), (1, 0x62)))
    assert right(question, octets, 3, EARLY).accepts((0,))
    assert not right(question, octets, 7, EARLY).accepts((2, 0x61, 0xC3, 0xA9))  # all of it fits
    assert cut_by(question, octets, (3, 0x61)) == (3, 4, 0x1F600, 2, False, True)
    assert not is_possible(question, octets, 1, (2, 0x61, 0xC3))
    assert not is_possible(question, octets, 9, (5,))


def test_a_converter_gets_only_text_that_its_form_holds():
    assert [len(QUESTIONS["from-latin1"].asked(text.encode())) for text in ("ÿ", "Ā")] == [4, 0]
    assert [len(QUESTIONS[name].asked(b"\xff")) for name in ("to-utf16", "size-from-utf16", "size-from-latin1")] == [
        0
    ] * 3


def test_numbers_of_questions_are_distinct_and_lie_in_an_octet():
    assert list(BY_NUMBER) == list(range(1, len(QUESTIONS) + 1))
    assert [question.answers for question in QUESTIONS.values() if question.answers != 1] == [2, 2]


@pytest.mark.parametrize(
    ("mode", "octets", "ends"),
    [
        ("maximal-subparts", "61 F0 9F 98 61 FF C0 80", [1, 4, 5, 6, 7, 8]),
        ("single-octets", "61 F0 9F 98 61 FF C0 80", [1, 2, 3, 4, 5, 6, 7, 8]),
        ("tails", "61 F0 9F 98 61 FF C0 80 80", [1, 4, 5, 6, 9]),
        ("announced-length", "61 F0 9F 98 61 FF C0 80 E2 82", [1, 5, 6, 8, 10]),
    ],
)
def test_modes_divide_ill_formed_text_as_their_names_say(mode, octets, ends):
    octets = bytes.fromhex(octets)
    assert [piece.end for piece in read(octets, mode).pieces] == ends
    assert right(QUESTIONS["count-scalars"], octets, 0, mode).numbers == (len(ends),)
    assert right(QUESTIONS["truncate"], octets, 3, mode).numbers == (max(end for end in ends if end <= 3),)


@pytest.mark.parametrize("mode", MODES)
def test_iteration_from_the_end_gives_the_reverse_of_the_forward_one(mode):
    for chosen in product((0x61, 0x80, 0xA0, 0xE2, 0xF0, 0xFF), repeat=4):
        octets = bytes(chosen)
        forwards, backwards, place = list[int](), list[int](), 0
        while place < len(octets):
            forwards.append(place)
            place += right(QUESTIONS["next"], octets, place, mode).numbers[1]
        while place:
            place -= right(QUESTIONS["previous"], octets, place, mode).numbers[1]
            backwards.append(place)
        assert forwards == backwards[::-1], octets.hex(" ")


@pytest.mark.parametrize(
    ("octets", "mode", "length"),
    [
        ("61 E2 82", "", 1),
        ("61 E2 82 AC", "", 4),
        ("F0 9F 98", "single-octets", 0),
        ("E0 80", "maximal-subparts", 2),
        ("E0 80", "tails", 0),
        ("C0", "announced-length", 0),
        ("80 80", "tails", 2),
    ],
)
def test_an_incomplete_character_at_the_end_is_trimmed(octets, mode, length):
    octets = bytes.fromhex(octets)
    found = right(QUESTIONS["trim-partial"], octets, 0, mode)
    assert (found.numbers, found.judged) == ((length,), True)


def test_without_a_mode_ill_formed_text_rules_out_only_what_no_mode_allows():
    truncate, octets = QUESTIONS["truncate"], bytes.fromhex("FF E2 82 AC")
    found = right(truncate, octets, 3)
    assert found.refusal
    assert all(found.accepts((number,)) for number in range(4))
    assert cut_by(truncate, octets, (2,)) == (1, 3, 0x20AC, 1, False, True)
    assert not is_possible(truncate, octets, 3, (4,))
    swallowing = bytes.fromhex("F0 9F E2 82 AC")  # the lead F0 announces four octets
    assert cut_by(truncate, swallowing, (4,)) is None
    assert cut_by(truncate, swallowing, (3,)) is not None
    assert cut_by(truncate, swallowing, (4,), "maximal-subparts") is not None


def test_an_ill_formed_piece_may_stand_for_any_scalar_value():
    found = right(QUESTIONS["next"], bytes.fromhex("E2 82 61"), 0, "maximal-subparts")
    assert found.accepts((0xFFFD, 2))
    assert found.accepts((0xE2, 2))
    assert not found.accepts((0xFFFD, 1))


def test_past_the_end_an_index_may_be_refused_and_amid_a_pair_it_may_be_rounded():
    found = right(QUESTIONS["offset-of-utf16"], "😀".encode(), 1)
    assert found.refusal
    assert [number for number in range(5) if found.accepts((number,))] == [0, 4]
    found = right(QUESTIONS["offset-of-scalar"], b"a", 2)
    assert (found.numbers, found.refusal) == ((1,), True)
    found = right(QUESTIONS["utf16-of-offset"], "😀".encode(), 2)
    assert [number for number in range(5) if found.accepts((number,))] == [0, 1, 2]
