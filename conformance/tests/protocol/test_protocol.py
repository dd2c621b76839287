"""The protocol: malformed answers are refused with a message, and hostile text stays text."""

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from overlong.conformance.protocol.greeting import Greeting
from overlong.conformance.protocol.observation import Accepted, Failed, Misbehaved, Refused
from overlong.conformance.protocol.wire import UNITS, Answers, ProtocolError, big_endian
from overlong.conformance.support.printable import code_points, printable, spaced_hex

GREETING = {"overlong": 1, "name": "x", "version": "1", "language": "C", "operations": "PVD", "units": "utf-32"}


def test_a_greeting():
    greeting = Greeting.parse(json.dumps({**GREETING, "bom": "strips"}).encode())
    assert (greeting.name, greeting.operations, greeting.units.name) == ("x", "PVD", "utf-32")
    assert greeting.traits == {"bom": "strips"}


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (b"Hello, world!\x1b]0;x\x07", r"Hello, world!\\x1b"),
        (b"[1]", 'no "overlong"'),
        (b"\xff\xfe{", "first line is not the greeting"),
        (b"[" * 50_000, "first line is not the greeting"),
        (b'{"overlong": 1, "operations": "PV", "operations": "PD"}', 'the member "operations" occurs twice'),
        (b'{"overlong": 1, "operations": "PV", "overlong": 1}', 'the member "overlong" occurs twice'),
        (b'{"overlong": 1, "operations": "PV", "x": NaN}', "NaN is no JSON"),
        (b'{"overlong": 1, "operations": "PV", "name": "\\ud800"}', "lone surrogate"),
        (json.dumps({**GREETING, "overlong": 2}).encode(), "protocol version 2"),
        (json.dumps({**GREETING, "operations": "VD"}).encode(), "lacks P"),
        (json.dumps({**GREETING, "operations": "PB"}).encode(), "nothing to certify"),
        (json.dumps({**GREETING, "operations": "PVY"}).encode(), "'Y'"),
        (json.dumps({**GREETING, "operations": 7}).encode(), "not a string"),
        (json.dumps({**GREETING, "units": "utf-7"}).encode(), "utf-7"),
    ],
)
def test_what_is_no_greeting(line, words):
    with pytest.raises(ProtocolError) as caught:
        Greeting.parse(line)
    assert words.replace("\\\\", "\\") in str(caught.value)
    assert str(caught.value).isprintable()


def batch(statuses, numbers, lengths, incompletes, rest=b""):
    return statuses + big_endian("I", numbers) + bytes(lengths) + bytes(incompletes) + rest


def test_a_batch_of_each_status():
    payload = batch(
        b"ARRX", [2, 5, 0xFFFFFFFF, 3], [0, 2, 0, 0], [0, 1, 255, 0], big_endian("I", [0x41, 0xD800]) + b"\x1b[m"
    )
    answers = Answers.from_batch(payload, 4, None, 4)
    assert list(answers.observations(UNITS["utf-32"], verdict_only=False)) == [
        Accepted((0x41, 0xD800)),
        Refused(5, 2, True),
        Refused(),
        Failed(r"\x1b[m"),
    ]


@pytest.mark.parametrize(("units", "kind"), [(96, Accepted), (97, Misbehaved), (4_000_000, Misbehaved)])
def test_more_than_any_decoder_puts_out_is_no_answer_and_not_kept(units, kind):
    payload = batch(b"AA", [units, 1], [0, 0], [0, 0], b"\0\0\0\x41" * (units + 1))
    answers = replace(Answers.from_batch(payload, 2, None, 4), asked=[1, 1])
    flood, innocent = answers.observations(UNITS["utf-32"], verdict_only=False)
    assert isinstance(flood, kind)
    assert innocent == Accepted((0x41,))


@pytest.mark.parametrize(
    ("payload", "words"),
    [
        (b"", "0 octets"),
        (batch(b"AQ", [0, 0], [0, 0], [0, 0]), "status 51"),
        (batch(b"AA", [1, 0], [0, 0], [0, 0]), "add up"),
        (batch(b"AA", [0xFFFFFFFF, 0xFFFFFFFF], [0, 0], [0, 0], b"\0" * 8), "add up"),
        (batch(b"RA", [0, 0], [0, 0], [0, 0], b"!"), "add up"),
    ],
)
def test_columns_that_do_not_add_up(payload, words):
    with pytest.raises(ProtocolError, match=words):
        Answers.from_batch(payload, 2, None, 4)


def test_a_word_on_missing_input_that_is_no_word():
    answers = Answers.from_single(b"R", b"\0\0\0\0\1\7", None, 4)
    (observed,) = answers.observations(UNITS["utf-32"], verdict_only=False)
    assert isinstance(observed, Misbehaved)


@given(
    st.lists(st.one_of(st.text(max_size=5).map(lambda t: tuple(map(ord, t))), st.tuples(st.integers(0, 9))), max_size=8)
)
def test_single_answers_in_a_row_are_a_batch(items):
    """Columns of accepted text, and of refusals at some offset."""
    units = UNITS["utf-16"]
    parts = [
        Answers.from_single(b"R", big_endian("I", item), None, 2)
        if len(item) == 1 and item[0] < 10
        else Answers.from_single(b"A", units.write([s for s in item if not 0xD800 <= s < 0xE000]), None, 2)
        for item in items
    ]
    whole = Answers.concatenated(parts)
    assert Answers.from_batch(whole.columns, len(items), None, 2) == whole
    each = [next(part.observations(units, verdict_only=False)) for part in parts]
    assert list(whole.observations(units, verdict_only=False)) == each


@pytest.mark.parametrize(("name", "octets"), [("utf-16", b"\xd8\x00\x00A"), ("utf-32", b"\0\0\xd8\x00\0\0\0A")])
def test_output_is_read_as_it_is(name, octets):
    assert UNITS[name].values(octets) == (0xD800, 0x41)


def test_ill_formed_output_in_utf_8_shows():
    assert UNITS["utf-8"].values(b"a\xed\xa0\x80\xf4\x90\x80\x80") == (0x61, 0xD800, 0x110000)
    assert UNITS["utf-8"].values(b"a\xff\xc0\x80") == (0x61, 0xDCFF, 0xDCC0, 0xDC80)


@given(st.text())
def test_printable_is_one_harmless_line(text):
    shown = printable(text, 10_000)
    assert "\n" not in shown
    assert "\x1b" not in shown
    assert shown.isprintable()
    assert not set("\u202e\u2066\u200e\u2028\x07\x00") & set(shown)


def test_long_things_are_cut_and_say_so():
    assert printable("x" * 400).endswith("…")
    assert spaced_hex(b"\xff" * 100).endswith("(100 octets)")
    assert spaced_hex(b"") == "(empty)"
    assert code_points(tuple(range(20))).endswith("(20 values)")
    assert code_points(()) == "nothing"
