"""The examiner: what it learns by experiment, and what its conditions predict."""

from __future__ import annotations

import shutil
import subprocess
from random import Random

import pytest

import overlong.conformance as face
from overlong.conformance.examination.asking import ACCEPTS, Question
from overlong.conformance.examination.condition import Condition
from overlong.conformance.examination.inquiry import fill
from overlong.conformance.examination.rules import Atom, Table
from overlong.conformance.examination.sentence import sentence_of
from overlong.conformance.examination.text import Site, in_words, text_of
from overlong.conformance.examination.words import learned
from overlong.reference import dialect, is_well_formed
from zoo import ZOO

TEXT = text_of(dialect())


def condition(found):
    """Its condition, of any type."""
    assert found.condition is not None
    return found.condition


def telling(found):
    assert found.telling is not None
    return found.telling


def product(*octets):
    return tuple(frozenset(each) for each in octets)


@pytest.mark.parametrize(
    ("least", "most", "words"),
    [
        (0, 0x7FF, "E0 80-9F 80-BF"),
        (0, 0x3C7, "E0 80-8E 80-BF or E0 8F 80-87"),
        (0x2F, 0x2F, "E0 80 AF"),
        (0xD800, 0xDFFF, "ED A0-BF 80-BF"),
    ],
)
def test_the_words_that_a_decoder_accepts_are_learned_whatever_the_example(least, most, words):
    def shows(some):
        return [
            word[0] & 0xF0 == 0xE0
            and all(octet & 0xC0 == 0x80 for octet in word[1:])
            and least <= (word[0] & 15) << 12 | (word[1] & 63) << 6 | word[2] & 63 <= most
            for word in some
        ]

    example = bytes((0xE0 | least >> 12, 0x80 | least >> 6 & 63, 0x80 | least & 63))
    assert in_words(learned(example, shows, Random(0))) == words


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (lambda site: site.start >= 8, "refuses U+00E9 at offset 8 or more"),
        (lambda site: site.start % 16 == 5, "refuses U+00E9 at offset 5 modulo 16"),
        (lambda site: len(site.octets) > 20, "refuses U+00E9 in inputs of 21 or more octets"),
        (lambda site: len(site.before.decode()) >= 6, "refuses U+00E9 after 6 or more characters"),
        (lambda site: site.before[-1:] == b"\0", "refuses U+00E9 after 00"),
        (lambda site: not site.behind, "refuses U+00E9 at the end"),
        (
            lambda site: site.before[-1:] == b"/" and site.start % 4 == 2,
            "refuses U+00E9 at offset 2 modulo 4 and after 2F",
        ),
    ],
)
def test_a_rule_names_the_factors_that_decide_and_no_other(wrong, words):
    table, random = Table(), Random(0)
    ends = ("", "\0", "\0a", "/", "a", "é", "€")
    for _ in range(1500):
        before = fill(random.randrange(40), random.choice(("a", "é", "€")).encode()) + random.choice(ends).encode()
        octets = before + "é".encode() + fill(random.randrange(24), random.choice(("a", "é")).encode())
        site = Site(TEXT, octets, len(before), len(before) + 2)
        table.add(site, wrong=wrong(site))
    assert sentence_of(Condition("OV101", (product([0xC3], [0xA9]),), table.rule())) == words


def test_a_condition_predicts_the_consequences_of_its_cause_and_no_other_flaw():
    overlong = Condition(ACCEPTS, (product([0xC0], range(0x80, 0xC0)),), (Atom("offset", low=2),))
    assert overlong.holds(b"ab\xc0\xaf")
    assert overlong.holds(b"ab\xc0\xaf\xc0\x80")
    assert not overlong.holds(b"a\xc0\xaf")
    assert not overlong.holds(b"ab\xc0\xaf\xff")
    with_offsets = Condition(ACCEPTS, overlong.words, overlong.rule, offsets=True)
    assert with_offsets.holds(b"ab\xc0\xaf\xff")  # refused, but not at the first flaw
    assert with_offsets.id == overlong.id


def test_a_decoder_that_goes_on_after_an_earlier_call_is_predicted_by_both_inputs_joined():
    rule = (Atom("unfinished before", values=frozenset(range(0xE0, 0xF0))),)
    condition = Condition("OV807", ((),), rule)
    assert condition.holds(Question(b"\x82\xac", (b"a\xe2",)))
    assert condition.holds(Question(b"a", (b"\xe2\x82",)))
    assert not condition.holds(Question(b"\xa9", (b"\xc3",)))
    assert not condition.holds(Question(b"a", (b"\xe2\x82\xac",)))


def test_text_is_well_formed_for_regular_expressions_where_it_is_for_the_reference():
    random = Random(0)
    octets = [0, 0x61, 0x7F, 0x80, 0x8F, 0x9F, 0xA0, 0xBF, 0xC2, 0xDF, 0xE0, 0xE1, 0xED, 0xEF, 0xF0, 0xF1, 0xF4, 0xFF]
    for _ in range(5000):
        some = bytes(random.choices(octets, k=random.randrange(1, 6)))
        assert TEXT.is_well_formed(some) == is_well_formed(some)


FAR = """
import re
def decode(octets: bytes) -> str:
    place = octets.find(b"\\xC0\\xAF")
    while place >= 0:
        if re.search({accepts}, octets[:place]):
            octets = octets[:place] + b"/" + octets[place + 2 :]
        place = octets.find(b"\\xC0\\xAF", place + 1)
    return octets.decode()
"""
DECODER = """
def decode(octets: bytes) -> str:
    text = octets.decode()
    if "é" in text[4:]:
        raise UnicodeDecodeError("utf-8", octets, 0, 1, "refused")
    return text
"""


@pytest.mark.parametrize(
    ("example", "least", "accepts", "words"),
    [
        ("C2 85" + "61" * 15 + "C0 AF", 17, rb"(?s)\xC2\x85.{15}\Z", "accepts C0 AF 17 octets after U+0085"),
        (
            "EF BF BD" + "61" * 30 + "C0 AF",
            33,
            rb"(?s)\xEF.{32}\Z",
            "accepts C0 AF 33 octets after EF",
        ),
        ("EF BF BD C0 AF", 3, rb"\xEF\xBF\xBD\Z", "accepts C0 AF after U+FFFD"),
    ],
)
def test_what_stands_far_before_is_found(example, least, accepts, words, tmp_path):
    (tmp_path / "far.py").write_text(FAR.format(accepts=accepts), "utf-8")
    found = face.examine(f"py:{tmp_path}/far.py:decode", b"a" + bytes.fromhex(example) + b"aa")
    assert (found.sentence, found.confirmed, len(found.example)) == (words, True, least + 2)


def test_a_callable_is_examined_and_the_rule_predicts_fresh_inputs(tmp_path):
    (tmp_path / "decoder.py").write_text(DECODER, "utf-8")
    found = face.examine(f"py:{tmp_path}/decoder.py:decode", "The fiancé of Zoé".encode())
    assert found.sentence == "refuses U+00E9 after 4 or more characters"
    assert found.confirmed
    assert found.example == "aaaaé".encode()
    assert condition(found).holds("ééééé".encode())
    assert not condition(found).holds("éééé".encode())
    assert found.to_json()["confirmed"] == [found.predicted, found.checked]


TWO = """
def decode(octets: bytes) -> str:
    if octets.startswith(b"\\xC3\\xA9") or (b"\\xDF\\xBF" in octets and len(octets) > 2):
        raise UnicodeDecodeError("utf-8", octets, 0, 1, "refused")
    return octets.decode()
"""


def test_another_fault_is_no_part_of_a_rule(tmp_path):
    (tmp_path / "two.py").write_text(TWO, "utf-8")
    found = face.examine(f"py:{tmp_path}/two.py:decode", "é€".encode())
    assert (found.sentence, found.confirmed) == ("refuses U+00E9 at offset 0", True)


def test_a_decoder_that_answers_rightly_has_no_cause(tmp_path):
    (tmp_path / "decoder.py").write_text(DECODER, "utf-8")
    found = face.examine(f"py:{tmp_path}/decoder.py:decode", b"abc")
    assert (found.condition, found.code, found.sentence) == (None, "", "answers rightly")


STREAM = """
class Decoder:
    def __init__(self):
        self.kept = b""

    def decode(self, octets, final=False):
        if 0xE0 <= (self.kept or b"a")[0] < 0xF0:
            self.kept = b""
        whole, self.kept = self.kept + octets, b""
        try:
            return whole.decode()
        except UnicodeDecodeError as error:
            if final or "unexpected end" not in error.reason:
                raise
            self.kept = whole[error.start :]
            return whole[: error.start].decode()
"""


def test_a_stream_is_examined(tmp_path):
    (tmp_path / "decoder.py").write_text(STREAM, "utf-8")
    found = face.examine(f"py:{tmp_path}/decoder.py:Decoder", "a€".encode(), chunks=(2, 2))
    assert condition(found).holds(Question("é€".encode(), chunks=(3, 2)))
    assert not condition(found).holds(Question("é€".encode(), chunks=(1, 4)))
    assert found.share > 0.95, found.sentence


def test_a_stream_has_a_telling_example(tmp_path):
    (tmp_path / "decoder.py").write_text(STREAM, "utf-8")
    found = face.examine(f"py:{tmp_path}/decoder.py:Decoder", "a€".encode(), chunks=(2, 2))
    assert not is_well_formed(found.example)
    assert is_well_formed(telling(found).vector.octets)


def test_a_rule_of_streams_has_no_limit_that_no_answer_needs():
    counts = f"py:{ZOO}/known_wrong.py:OffsetsCountFromTheChunk"
    found = face.examine(counts, b"ab\xff", chunks=(2, 1))
    assert found.sentence.endswith("in a later chunk"), "and not: in a chunk that begins at 1 to 13"


def test_a_stream_may_fail_at_one_character_alone():
    strips = f"py:{ZOO}/known_wrong.py:SignatureInEachChunk"
    found = face.examine(strips, b"a\xef\xbb\xbfe", chunks=(1, 4))
    said = "gives another result in chunks for U+FEFF that no cut goes through and at the start of its chunk"
    assert found.sentence.startswith(said)
    assert found.confirmed


LONG = """
def first_octets(octets):
    try:
        return bool(octets[:65535].decode() or True)
    except UnicodeDecodeError as error:
        return len(octets) > 65535 and "unexpected end" in error.reason


def one_length(octets):
    if len(octets) == 70_000:
        raise ValueError
    return octets.decode()
"""


@pytest.mark.parametrize(
    ("name", "octets", "sentence"),
    [
        ("first_octets", b"@" * 131_072 + b"\xff" + b"@" * 100, "reads only the first 65 535 octets"),
        ("one_length", b"@" * 70_000, "refuses well-formed text in inputs of 70 000 octets"),
    ],
)
def test_a_long_example_is_examined(name, octets, sentence, tmp_path):
    (tmp_path / "decoder.py").write_text(LONG, "ascii")
    found = face.examine(f"py:{tmp_path}/decoder.py:{name}", octets)
    assert found.sentence == sentence
    assert found.confirmed


KEPT = """
class Decoder:
    def __init__(self):
        self.kept = b""

    def decode(self, octets, final=False):
        whole, self.kept = self.kept + octets, b""
        try:
            return whole.decode()
        except UnicodeDecodeError as error:
            if "unexpected end" in error.reason:
                self.kept = whole[error.start :]
            if final or not self.kept:
                raise
            return whole[: error.start].decode()

    def reset(self):
        pass
"""


def test_a_stream_after_another_is_examined(tmp_path):
    (tmp_path / "decoder.py").write_text(KEPT, "utf-8")
    found = face.examine(f"py:{tmp_path}/decoder.py:Decoder", b"a", chunks=(1,), earlier=(b"a\xe2\x82",))
    assert found.sentence == "goes on after an earlier stream that ended within a character"
    assert found.confirmed


def test_an_encoder_is_examined():
    found = face.examine("cpython-surrogatepass", bytes.fromhex("0000D812"), operation="E")
    assert found.sentence == "writes surrogates for U+D800 to U+DFFF"
    assert found.confirmed
    assert condition(found).holds(bytes.fromhex("000000610000DABC"))
    assert not condition(found).holds(bytes.fromhex("001100000000DABC"))  # rightly refused before


FUNCTIONS = """
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
typedef unsigned char octet;
static size_t whole(const octet *s, size_t n) {
    static const struct { octet least, most, from, to; size_t size; } rows[] = {
        {0, 0x7F, 0, 0, 1}, {0xC2, 0xDF, 0x80, 0xBF, 2}, {0xE0, 0xE0, 0xA0, 0xBF, 3}, {0xE1, 0xEC, 0x80, 0xBF, 3},
        {0xED, 0xED, 0x80, 0x9F, 3}, {0xEE, 0xEF, 0x80, 0xBF, 3}, {0xF0, 0xF0, 0x90, 0xBF, 4},
        {0xF1, 0xF3, 0x80, 0xBF, 4}, {0xF4, 0xF4, 0x80, 0x8F, 4}};
    for (size_t r = 0; r < 9; r++) {
        if (*s < rows[r].least || *s > rows[r].most || n < rows[r].size) continue;
        if (rows[r].size > 1 && (s[1] < rows[r].from || s[1] > rows[r].to)) return 0;
        for (size_t k = 2; k < rows[r].size; k++) if ((s[k] & 0xC0) != 0x80) return 0;
        return rows[r].size;
    }
    return 0;
}
#define TAIL(octet) (((octet) & 0xC0) == 0x80)
#define WALK(name, skipped, refused)                                               \\
    bool name(const octet *s, size_t n) {                                          \\
        static bool past;                                                          \\
        const bool after = past;                                                   \\
        past = n >= 2 && s[n - 2] == 0xF0 && s[n - 1] == 0x9F;                     \\
        size_t count = 0, errors = 0;                                              \\
        for (size_t i = 0, k; i < n; i += k, count++) {                            \\
            const size_t left = n - i;                                             \\
            k = whole(s + i, left);                                                \\
            if (!k && (k = (skipped))) errors++;                                   \\
            if (!k || (refused)) return false;                                     \\
        }                                                                          \\
        (void)count, (void)after;                                                  \\
        return errors % 3 == 0 || !CANCEL_##name;                                  \\
    }
#define CANCEL_blocks 0
#define CANCEL_counted 0
#define CANCEL_cancel 1
#define CANCEL_address 0
#define CANCEL_forms 0
#define CANCEL_letter 0
#define CANCEL_late 0
#define CANCEL_clamped 0
#define CANCEL_block 0
#define CANCEL_aligned 0
#define CANCEL_history 0
#define CANCEL_rest 0
#define CANCEL_seen 0
WALK(blocks, i % 32 == 28 && left >= 2 && s[i] == 0xC0 && TAIL(s[i + 1]) ? 2 : 0, false)
WALK(counted, count >= 16 && s[i] == 0xFF, false)
WALK(cancel, 1, false)
WALK(address, (uintptr_t)(s + i) % 8 == 3 && s[i] == 0xBF, false)
WALK(forms, left >= 3 && s[i] == 0xE0 && s[i + 1] >> 5 == 4 && TAIL(s[i + 2]) ? 3 : 0, false)
WALK(letter, 0, k == 2 && s[i] == 0xC3 && s[i + 1] == 0xA9)
WALK(late, i >= 17 && left >= 2 && s[i] == 0xC0 && s[i + 1] == 0xAF ? 2 : 0, false)
WALK(clamped, i >= 65535 ? left : 0, false)
WALK(block, i % 32 == 4, false)
WALK(aligned, (uintptr_t)(s + i) % 32 == 4, false)
WALK(history, after && s[i] == 0xFF, false)
WALK(rest, n >= 8 && i >= n / 8 * 8 ? left : 0, false)
WALK(seen, s[i] == 0xFF && memchr(s, '/', i), false)
"""


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wrong")
    (folder / "wrong.c").write_text(FUNCTIONS, "utf-8")
    found = folder / "libwrong.so"
    subprocess.run(["cc", "-O1", "-shared", "-fPIC", "-o", found, folder / "wrong.c"], check=True)
    return found


@pytest.mark.long
@pytest.mark.skipif(shutil.which("cc") is None, reason="there is no C compiler")
@pytest.mark.parametrize(
    ("name", "octets", "sentence"),
    [
        ("blocks", b"x" * 60 + b"\xc0\xaf", "accepts C0 80-BF at offset 28 modulo 32"),
        ("counted", "é".encode() * 40 + b"\xff", "accepts FF after 16 or more characters"),
        ("cancel", b"a\x80\x80\xfd", "accepts errors if there are 3, 6, 9 … of them"),
        ("address", b"\xbfaaa", "accepts BF at addresses of 3 modulo 8"),
        ("forms", b"a\xe0\x80\x80", "accepts E0 80-9F 80-BF"),
        ("letter", "Zoé".encode(), "refuses U+00E9"),
        ("late", b"x" * 40 + b"\xc0\xaf/", "accepts C0 AF at offset 17 or more"),
        ("clamped", b"x" * 70_000 + b"\xff", "reads only the first 65 535 octets"),
        ("block", b"xxxx\xed", "misses octet 4 of each block of 32"),
        ("aligned", b"x" * 40 + b"\xff" + b"x" * 23, "misses octet 4 of each aligned block of 32"),
        ("rest", b"x" * 9 + b"\xff", "accepts errors in the rest after blocks of 8"),
        ("seen", b"x/x\xff", "accepts FF after U+002F anywhere"),
    ],
)
def test_a_function_is_examined(name, octets, sentence, library):
    found = face.examine(f"so:{library}:{name}?abi=bool(ptr,len)", octets)
    assert found.sentence == sentence
    assert found.confirmed


@pytest.mark.long
@pytest.mark.skipif(shutil.which("cc") is None, reason="there is no C compiler")
def test_an_earlier_call_may_decide(library):
    found = face.examine(f"so:{library}:history?abi=bool(ptr,len)", b"\xff", earlier=(b"a\xf0\x9f",))
    assert found.sentence == "accepts FF after an earlier call that ended in F0 9F"
    assert condition(found).holds(Question(b"a\xff", (b"\xf0\x9f",)))
    assert not condition(found).holds(Question(b"a\xff", (b"\xf0\x9f\x98",)))


@pytest.mark.parametrize(("block", "words", "end"), [(64, "64", 3), (96, "96", 3), (4096, "4 096", 1)])
def test_blocks_that_are_taken_by_themselves_have_their_size(block, words, end, tmp_path):
    """Whatever the example: a character across the end of the first block, or of the third."""
    (tmp_path / "blocks.py").write_text(
        f"def decode(octets):\n"
        f"    return ''.join(octets[at : at + {block}].decode() for at in range(0, len(octets), {block}))\n"
    )
    found = face.examine(f"py:{tmp_path}/blocks.py:decode", b"a" * (end * block - 1) + "é".encode())
    assert found.sentence == f"refuses characters beyond ASCII across each multiple of {words}"
    assert found.confirmed
