"""Summaries of sweeps: known-wrong decoders, and the sentence for the fault of each."""

from __future__ import annotations

import re
import zlib
from dataclasses import replace
from functools import lru_cache
from itertools import product

import numpy as np
import pytest

from overlong.conformance.examination.arithmetic import numbers_in_words
from overlong.conformance.oracle.expectation import ExpectedAnswers, expectation
from overlong.conformance.oracle.kinds import (
    ACCEPTED_ILL_FORMED,
    CRASHED,
    OTHER_OFFSET,
    OTHER_OUTPUT,
    REFUSED_WELL_FORMED,
)
from overlong.conformance.protocol.wire import UNITS, Greeting
from overlong.conformance.results.shard import ShardResult
from overlong.conformance.sweep.grid import Axis, Grid
from overlong.conformance.sweep.plan import plan_named
from overlong.conformance.sweep.summary import summarise
from overlong.conformance.sweep.summary.gathering import gather
from overlong.conformance.sweep.summary.members import Strings
from overlong.reference import DIALECTS, dialect
from overlong.reference.theory import shortlex

UTF8 = dialect().automaton
EXPECTED = ExpectedAnswers(UTF8, "V", "", offsets=True, strips_signature=False)


def results(plan, kinds, largest=1 << 24):
    """Shards' results from ``kinds(grid number)``: an array of the kinds of the grid's strings."""
    arrays = {number: kinds(number) for number in range(len(plan.grids))}
    for shard in plan.shards(largest):
        part = arrays[shard.grid][shard.first : shard.first + shard.count]
        packed = zlib.compress(part.tobytes(), 1) if part.any() else b""
        yield ShardResult(shard, shard.count, 0, 0, 0, 0, packed)


def summary(plan, kinds, largest=1 << 24):
    return summarise(plan, EXPECTED, results(plan, kinds, largest))


def states(automaton, length):
    """The state after each string of that many octets."""
    table = np.array(automaton.table, np.uint8)
    reached = np.zeros(1, np.uint8)
    for _ in range(length):
        reached = table[reached].reshape(-1)
    return reached


@lru_cache(maxsize=3)
def verdicts(automaton, length):
    return np.array(automaton.accepting)[states(automaton, length)]


def spoken_instead(automaton):
    """The kinds of a decoder of another dialect."""

    def kinds(number):
        wanted, said = verdicts(UTF8, number + 1), np.array(automaton.accepting)[states(automaton, number + 1)]
        return (wanted & ~said) * np.uint8(REFUSED_WELL_FORMED) + (~wanted & said) * np.uint8(ACCEPTED_ILL_FORMED)

    return kinds


def lines(found):
    return [(each.kind, each.defect, each.count, each.example, each.description) for each in found]


def placed_wrong(plan, accepts, offsets, concerns):
    """The kinds of a decoder that is wrong only at some offsets, with certain placed strings."""

    def kinds(number):
        before, placed, *tail = (axis.choices for axis in plan.grids[number].axes)
        behind = tail[0] if tail else (b"",)
        found = np.zeros((len(before), len(placed), len(behind)), np.uint8)
        columns = [column for column, string in enumerate(placed) if concerns(string)]
        for row, column, end in product(offsets, columns, range(len(behind))):
            octets = before[row] + placed[column] + behind[end]
            wanted, said = UTF8.accepts(octets), accepts(octets)
            found[row, column, end] = 0 if wanted == said else REFUSED_WELL_FORMED if wanted else ACCEPTED_ILL_FORMED
        return found.reshape(-1)

    return kinds


def whole_grid(plan, kind_of):
    """The kinds that a function gives each string, with its earlier string."""
    return lambda number: np.array(
        [
            kind_of(grid.string(index), grid.asked_before(index))
            for grid in (plan.grids[number],)
            for index in range(grid.size)
        ],
        np.uint8,
    )


@pytest.mark.long_after(4)
@pytest.mark.parametrize("name", DIALECTS)
def test_every_dialect_is_named_and_its_sets_are_said_exactly(name):
    plan = plan_named("exhaustive-3")
    kinds = list(map(spoken_instead(dialect(name).automaton), range(3)))
    found = summary(plan, kinds.__getitem__)
    for kind in (REFUSED_WELL_FORMED, ACCEPTED_ILL_FORMED):
        wrong = sum(np.count_nonzero(each == kind) for each in kinds)
        assert sum(each.count for each in found if each.kind == kind) == wrong
    for each in found:
        assert each.exact
        assert name in each.dialects
        assert plan.grids[each.where.grid].string(each.where.index) == each.example
        assert len(each.description) <= 250


def test_the_sets_of_a_lax_decoder_are_one_to_a_defect():
    (found,) = summary(plan_named("exhaustive-3"), spoken_instead(dialect("lax-overlongs").automaton))
    assert (found.kind, found.defect, found.count, found.example) == (ACCEPTED_ILL_FORMED, "OV201", 34944, b"\xc0\x80")
    forms = "C0-C1 80-BF or E0 80-9F 80-BF"
    words = (
        f"every string of well-formed characters and {forms}, with at least one of the latter, as lax-overlongs does"
    )
    assert found.description == words
    found = summary(plan_named("exhaustive-3"), spoken_instead(dialect("mutf-8").automaton))
    assert [(each.kind, each.defect, each.count, each.parts) for each in found] == [
        (REFUSED_WELL_FORMED, "", 52865, ("00",)),
        (ACCEPTED_ILL_FORMED, "OV201", 255, ("C0 80",)),
        (ACCEPTED_ILL_FORMED, "OV202", 2048, ("ED A0-BF 80-BF",)),
    ]


def test_a_decoder_that_refuses_nul_has_one_sentence():
    """GLib's ``g_utf8_validate``; in shards that end inside rows, and come in the wrong order."""
    plan = plan_named("exhaustive-3")

    def kinds(number):
        has_nul = np.zeros((256,) * (number + 1), bool)
        for place in range(number + 1):
            has_nul[(slice(None),) * place + (0,)] = True
        return (has_nul.reshape(-1) & verdicts(UTF8, number + 1)).astype(np.uint8) * REFUSED_WELL_FORMED

    shards = list(results(plan, kinds, 999_999))
    for given in (shards, shards[::-1]):
        (found,) = summarise(plan, EXPECTED, given)
        assert lines([found]) == [
            (REFUSED_WELL_FORMED, "", 52865, b"\0", "every well-formed string that contains 00"),
        ]
        assert found.automaton == 6  # three octets do not distinguish the states of four


@pytest.mark.parametrize("name", ["exhaustive-2", "depth-0"])
def test_what_is_refused_sooner_has_one_sentence(name):
    plan = plan_named(name)

    def kinds(number):
        found = np.zeros(plan.grids[number].size, np.uint8)
        for index in range(len(found)):
            string = plan.grids[number].string(index)
            first = max(place for place in range(len(string) + 1) if UTF8.accepts(string[:place]))
            if b"\0" in string[:first]:
                found[index] = REFUSED_WELL_FORMED if first == len(string) else OTHER_OFFSET
        return found

    assert [line[-1] for line in lines(summarise(plan, EXPECTED, results(plan, kinds, 1 << 20)))] == [
        "every well-formed string that contains 00",
        "every ill-formed string that contains 00 before its first error",
    ]


def first_errors(number):
    """The kinds of a decoder with a wrong offset if it could have refused before the end."""
    reached = states(UTF8, number + 1)
    return (reached == UTF8.dead).astype(np.uint8) * OTHER_OFFSET


def test_offsets_are_said_by_the_first_error():
    found = summary(plan_named("exhaustive-2"), first_errors)
    said = {each.defect: each.description for each in found}
    assert said["OV206"] == "every string whose first error is OV206 (unexpected tail)"
    assert said["OV202"] == "every string whose first error is OV202 (surrogate)"
    assert sum(each.count for each in found) == sum(np.count_nonzero(first_errors(number)) for number in range(2))


def test_other_sets_of_short_strings():
    plan = plan_named("exhaustive-2")

    def one_string(number):
        return (np.arange(256 ** (number + 1)) == 0x4142).astype(np.uint8) * OTHER_OUTPUT * (number == 1)

    def two_letters(number):  # an automaton that counts
        letters = np.bincount([0x61], minlength=256)
        counted = letters if number == 0 else np.add.outer(letters, letters).reshape(-1)
        return (counted == 2).astype(np.uint8) * CRASHED

    def some(number):
        return (np.random.default_rng(number).integers(0, 40, 256 ** (number + 1)) == 0).astype(np.uint8) * CRASHED

    assert [each.description for each in summary(plan, one_string)] == ["every well-formed string that contains 41 42"]
    assert [each.description for each in summary(plan, two_letters)] == ["every string that contains 61 61"]
    (found,) = summary(plan, some)
    assert (found.exact, found.description[:20]) == (False, "no short description")


@pytest.mark.long
@pytest.mark.parametrize("name", ["exhaustive-3", "placed-4", "order"])
def test_a_target_that_answers_at_random_is_counted(name):
    plan, random = plan_named(name), np.random.default_rng(1)
    arrays = [random.choice([0, 0, OTHER_OUTPUT, CRASHED], grid.size).astype(np.uint8) for grid in plan.grids]
    found = summary(plan, arrays.__getitem__)
    assert [each.kind for each in found] == [OTHER_OUTPUT, CRASHED]
    for each in found:
        assert not each.exact
        assert each.count == sum(np.count_nonzero(array == each.kind) for array in arrays)
        assert plan.grids[each.where.grid].string(each.where.index) == each.example
        assert arrays[each.where.grid][each.where.index] == each.kind


def not_looked_at(octets):
    """The octets as read by a decoder that ignores FF in the last place of each block of 64."""
    for at in range(63, len(octets), 64):
        if octets[at] == 0xFF:
            octets = octets[:at] + b"a" + octets[at + 1 :]
    return octets


def unchecked_across(octets):
    """A decoder that does not check the range after ED in the last place of a block."""
    if octets[63:64] == b"\xed" and b"\x80" <= octets[64:65] < b"\xc0":
        octets = octets[:64] + b"\x80" + octets[65:]
    return octets


def unchecked_after_15(octets):
    if octets[:15].isascii() and octets[15:17] == b"\xf4\x90":
        octets = octets[:16] + b"\x80" + octets[17:]
    return octets


def may_go_on(octets):
    return UTF8.run(octets) != UTF8.dead


BEYOND = "F4 90-9F 80-BF 80-BF"
BLOCK_BUGS = {
    "unchecked across 64": (
        *(lambda octets: UTF8.accepts(unchecked_across(octets)), range(60, 64), lambda placed: b"\xed" in placed),
        "every string of well-formed characters and ED A0-BF 80-BF at offset 63",
    ),
    "F4 90 after 15 ASCII": (
        *(lambda octets: UTF8.accepts(unchecked_after_15(octets)), range(12, 16), lambda placed: b"\xf4\x90" in placed),
        f"every string of well-formed characters and {BEYOND} at offset 15, in text of characters of 1 octet",
    ),
    "cut off at a multiple of 32": (
        *(lambda octets: may_go_on(octets) if len(octets) % 32 == 0 else UTF8.accepts(octets), range(65), may_go_on),
        "every string cut off inside a character, if the string's length is a multiple of 32",
    ),
    "FF at 63 mod 64": (
        *(lambda octets: UTF8.accepts(not_looked_at(octets)), range(60, 64), lambda placed: b"\xff" in placed),
        "every string of well-formed characters and FF at offset 63, only once",
    ),
    "a lead octet at 31 of 32": (
        lambda octets: UTF8.accepts(octets) or (len(octets) == 32 and may_go_on(octets) and UTF8.accepts(octets[:31])),
        *(range(28, 32), may_go_on),
        "every string cut off after C2-F4 at offset 31",
    ),
    "characters across 64 refused": (
        *(lambda octets: UTF8.accepts(octets) and UTF8.accepts(octets[:64]), range(65), UTF8.accepts),
        "every well-formed string with a character across offset 64",
    ),
}


@pytest.mark.long
@pytest.mark.parametrize("name", BLOCK_BUGS)
def test_block_bugs_are_said_by_their_place(name):
    accepts, offsets, concerns, sentence = BLOCK_BUGS[name]
    plan = plan_named("placed-64")
    (found,) = summary(plan, placed_wrong(plan, accepts, offsets, concerns))
    assert (found.description, found.exact) == (sentence, True)
    assert accepts(found.example) != UTF8.accepts(found.example)


def test_forms_of_several_defects_are_told_apart_in_any_plan():
    plan, lax = plan_named("depth-0"), dialect("lax").automaton
    kinds = whole_grid(plan, lambda octets, _: ACCEPTED_ILL_FORMED * (UTF8.accepts(octets) != lax.accepts(octets)))
    found = summary(plan, kinds)
    assert {each.defect for each in found} == {"OV201", "OV202", "OV203"}
    for each in found:
        assert each.exact
        assert "lax" in each.dialects
        assert each.description.startswith("every string of well-formed characters and ")
        assert lax.accepts(each.example)


def test_one_pattern_of_several_defects_is_said_with_the_defect():
    """libxml2 takes octets that lead no three or four for a lead of two; ``surrogateescape`` takes everything."""
    plan = plan_named("exhaustive-2")

    def pairs(string, _):
        with_pairs = re.fullmatch(rb"[\0-\x7F]?([\0-\x7F]|[\x80-\xDF][\x80-\xBF])?", string, re.DOTALL)
        return ACCEPTED_ILL_FORMED * bool(with_pairs and not UTF8.accepts(string))

    of = ", of well-formed characters and 80-C1 80-BF"
    assert [
        (each.defect, each.count, each.description, each.exact) for each in summary(plan, whole_grid(plan, pairs))
    ] == [
        ("OV206", 4096, f"every string whose first error is OV206 (unexpected tail){of}", True),
        ("OV201", 128, f"every string whose first error is OV201 (overlong form){of}", True),
    ]
    found = summary(plan, whole_grid(plan, lambda string, _: ACCEPTED_ILL_FORMED * (not UTF8.accepts(string))))
    assert sum(each.count for each in found) == 256 + 65536 - 18432
    assert len(found) > 5
    for each in found:
        assert each.description.startswith(f"every string whose first error is {each.defect} ")
        assert each.exact


@pytest.mark.parametrize(
    ("refused", "words"),
    [
        (lambda character: character > "\uffff", "F0-F4"),
        (
            lambda character: ord(character) & 0xFFFE == 0xFFFE,
            "EF BF BE-BF or F0 9F BF BF or F3 BF BF BF or F4 8F BF BF",
        ),
    ],
    ids=["not of four octets", "no noncharacters"],
)
def test_characters_that_are_refused_are_named_wherever_the_plan_puts_them(refused, words):
    """Java's ``readUTF``; Perl's strict decoder, which refuses them before it reaches later errors."""
    before = tuple("aé€" * number for number in range(1, 9))
    texts = "\0a\u07ff\u0800\ufffd\ufffe\uffff\U00010000\U0001ffff\U00050000\U000fffff\U0010fffd\U0010ffff"
    behind = (b"", "a€\U00010000\uffff".encode(), b"\x80", b"\xff", b"\xf0\x90\x80")
    pieces = (tuple(map(str.encode, before)), tuple(map(str.encode, texts)), behind)
    plan = replace(plan_named("pairs"), make=lambda _: iter([Grid(tuple(Axis("", each) for each in pieces))]))

    def kind_of(string, _):
        kind = REFUSED_WELL_FORMED if UTF8.accepts(string) else OTHER_OFFSET
        return kind * any(map(refused, string.decode(errors="ignore")))

    whole, sooner = summary(plan, whole_grid(plan, kind_of))
    assert whole.description.split(", as ")[0] == f"every well-formed string that contains {words}"
    assert sooner.description == f"every ill-formed string that contains {words} before its first error"
    assert whole.exact
    assert sooner.exact


def test_forms_are_told_where_octet_00_ends_the_string():
    """libxml2's ``xmlCheckUTF8``: octets after 00 change nothing, and no sentence names them."""
    plan, lax = plan_named("depth-0"), dialect("lax").automaton
    greeting = Greeting("xml", "", "C", "V", UNITS["utf-32"], "", traits={"nul": "ends the string"})
    expected = expectation(plan.profile, greeting)

    def kind_of(string, _):
        read = string.partition(b"\0")[0]
        return ACCEPTED_ILL_FORMED * (lax.accepts(read) and not UTF8.accepts(read))

    found = summarise(plan, expected, results(plan, whole_grid(plan, kind_of)))
    assert {each.defect for each in found} == {"OV201", "OV202", "OV203"}
    assert all(each.description.startswith("every string of well-formed characters and ") for each in found)


@pytest.mark.long
def test_lengths_are_said():
    plan = plan_named("lengths-32")

    def kind_of(octets, _):
        if len(octets) < 4096:
            return REFUSED_WELL_FORMED * (len(octets) in {16, 32} and UTF8.accepts(octets))
        return CRASHED

    found = summary(plan, whole_grid(plan, kind_of))
    assert [(each.kind, each.description, each.exact) for each in found] == [
        (REFUSED_WELL_FORMED, "every well-formed string whose length is 16 or 32", True),
        (CRASHED, "every string whose length is 4096 or more", True),
    ]


def test_what_was_asked_before_is_said():
    order = plan_named("order")
    earlier, strings = (axis.choices for axis in order.grids[0].axes)
    refused = np.outer([each == b"\xe1\x80" for each in earlier], list(map(UTF8.accepts, strings)))
    (found,) = summary(order, lambda _: refused.reshape(-1).astype(np.uint8) * REFUSED_WELL_FORMED)
    assert (found.description, found.exact) == ("every well-formed string right after E1 80", True)
    assert (found.example, found.where.earlier) == (b"", b"\xe1\x80")


@pytest.mark.parametrize(
    ("some", "of", "words"),
    [
        ({63}, range(70), "63"),
        ({63, 127}, range(131), "63 mod 64"),
        ({32, 64}, range(70), "a multiple of 32"),
        ({0, 32, 64}, range(70), "a multiple of 32"),
        (range(60, 64), range(70), "60 to 63"),
        ({each for each in range(131) if each % 64 >= 60}, range(131), "60 to 63 mod 64"),
        (range(4), range(70), "up to 3"),
        (range(60, 70), range(70), "60 or more"),
        ({3, 5, 11}, range(70), "3, 5 or 11"),
        ({3, 4, 9, 17, 23, 60}, range(70), "one of 6 values from 3 to 60"),
        (range(70), range(70), "any"),
    ],
)
def test_numbers_in_words(some, of, words):
    assert numbers_in_words(some, of).words == words


def test_a_shard_with_too_few_kinds_is_an_error():
    plan = plan_named("exhaustive-1")
    (shard,) = plan.shards()
    with pytest.raises(ValueError, match=r"exhaustive-1/0/0\+256: 3 kinds for 256 strings; run this shard again"):
        summarise(plan, EXPECTED, [ShardResult(shard, 256, 0, 0, 0, 0, zlib.compress(b"\1\1\1"))])


@pytest.mark.long
def test_long_text_is_no_pattern():
    """A counter of 16 bits: the decoder refuses text of 65,536 octets or more, not a pattern in it."""
    plan = plan_named("lengths-0")

    def kinds(number):
        long = [[len(choice) > 65535 for choice in axis.choices] for axis in plan.grids[number].axes]
        return (np.logical_or.outer(*long).reshape(-1) * (number < 3)).astype(np.uint8) * REFUSED_WELL_FORMED

    for each in summarise(plan, EXPECTED, results(plan, kinds, 1 << 20)):
        assert not each.parts
        assert len(each.description) <= 250
        assert len(each.example) > 65535


@pytest.mark.long
def test_strings_of_a_set_come_in_shortlex_order_and_the_first_of_each_form_are_listed():
    """Grids with another order of their own."""
    plan = plan_named("placed-1")
    wrong = set[bytes]()

    def kinds(number):
        grid, found = plan.grids[number], np.zeros(plan.grids[number].size, np.uint8)
        for index in range(grid.size):
            string = grid.string(index)
            if len(string) > 5 and max(string) > 0x7F and UTF8.accepts(string):
                wrong.add(string)
                found[index] = REFUSED_WELL_FORMED
        return found

    shards = list(results(plan, kinds))
    first = sorted(wrong, key=shortlex)
    strings = Strings(gather(plan, shards))
    members = strings.of_kind(REFUSED_WELL_FORMED)
    assert len(first) > 200
    assert strings.ascending(members, 200) == tuple(first[:200])
    assert strings.ascending(members, 1 << 20) == tuple(first)
    (found,) = summarise(plan, EXPECTED, shards, apart=True)
    leads = [range(0xC2, 0xE0), [0xE0], [*range(0xE1, 0xED), 0xEE, 0xEF], [0xED], [0xF0]]  # its classes
    assert {each[0] for each in found.apart} == {
        next(each for each in first if not {*lead}.isdisjoint(each)) for lead in leads
    }
    assert summarise(plan, EXPECTED, shards)[0].apart == ()


@pytest.mark.parametrize("plan", ["after-0", "transitions-0"])
def test_octets_that_no_dialect_tells_apart_stand_for_each_other(plan):
    """These plans ask both ends of a range, and one set of strings gets one sentence from all of them."""
    plan = plan_named(plan)

    def accepts(octets):
        return UTF8.accepts(re.sub(rb"\xe0[\x80-\x9f][\x80-\xbf]", b"a", octets))

    def kind_of(octets, _earlier):
        return ACCEPTED_ILL_FORMED * (accepts(octets) and not UTF8.accepts(octets))

    (found,) = summary(plan, whole_grid(plan, kind_of))
    assert (found.strings, found.exact) == ("every string of well-formed characters and E0 80-9F 80-BF", True)
