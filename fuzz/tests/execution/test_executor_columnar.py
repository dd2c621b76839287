"""Inputs by number in large batches: the same results as vector by vector, for any target."""

from itertools import accumulate, pairwise
from pathlib import Path

import pytest

from overlong.conformance import Limits, TargetError
from overlong.conformance.oracle.target import CRASHED, KINDS, LEFT_OUT, TIMED_OUT
from overlong.conformance.sweep.columnar import ColumnBatch
from overlong.conformance.vectors.vector import Vector
from overlong.fuzz import generated
from overlong.fuzz.engines.executor import Executor, kinds_by_vectors
from overlong.fuzz.engines.job import CampaignJob, InputReader, place_of
from overlong.fuzz.engines.probe import Probe
from overlong.fuzz.generated import BLOCK, Generated
from overlong.reference import dialect
from zoo import ZOO

INPUTS = Generated(11)
FIRST, COUNT = 4000, 1500
WORDS = {
    "c080": "C0-C1,F5-FF",
    "61eda080": "ED A0-BF",
    "61" * 64 + "f090": "F0 tail the end",
    "": "ASCII",
    "61" * 15 + "c280": "C2-DF",
    "c280e0a080f0908080": "many kinds of characters",
    "e0a080f0908080" + "61" * 60: "E0 or F0",
}
KNOWN_WRONG = ZOO / "known_wrong.py"
MODULE = '''
import os, sys, time


def odd(octets):
    """Wrong in every way that columns know."""
    size = len(octets)
    if size % 11 == 3:
        raise ValueError
    if size % 11 == 4:
        raise TypeError("odd")
    if size % 11 == 5:
        raise UnicodeDecodeError("utf-8", octets, 1, 3, "unexpected end of data")
    if size % 11 == 6:
        raise UnicodeDecodeError("utf-8", octets, 0, 300, "x")
    if size % 11 == 7:
        return "a"
    if size % 11 == 8:
        return octets.decode("utf-8", "surrogatepass")
    return octets.decode()


class Stripped:
    """Declares two traits, and has one."""

    def ask(many):
        return [octets.removeprefix(b"\\xef\\xbb\\xbf").decode("utf-8", "ignore") for octets in many]

    operations, traits = {"D": ask}, {"bom": "strips", "nul": "refused"}


class Judges:
    def ask(many):
        return [octets.isascii() for octets in many]

    operations = {"V": ask}


DEADLY, ENDLESS = ()


def dies(octets):
    if octets in DEADLY:
        os.kill(os.getpid(), 11)
    if octets in ENDLESS:
        time.sleep(90)
    return octets.decode()
'''


@pytest.fixture
def probe(tmp_path):
    opened = []

    def made(name, deadly=(), endless=(), **limits):
        Path(tmp_path, "decoders.py").write_text(MODULE.replace("= ()", f"= {list(deadly)}, {list(endless)}"), "ascii")
        opened.append(Probe(f"py:{tmp_path}/decoders.py:{name}", Limits(**limits)))
        return opened[-1]

    yield made
    for each in opened:
        each.close()


def by_columns(target, first=FIRST, count=COUNT):
    """The octets that were asked, and kinds."""
    return Executor(CampaignJob((target.target,)), target, INPUTS).kinds(first, count)


@pytest.mark.long
@pytest.mark.parametrize("name", ["odd", "Stripped", "Judges"])
def test_wherever_it_is_cut_the_same_comes_out(probe, name):
    target = probe(name)
    found = by_columns(target)
    assert kinds_by_vectors(target, INPUTS, target.whole, FIRST, COUNT) == found
    assert len(set(found[1])) >= {"odd": 7, "Stripped": 2, "Judges": 2}[name], [KINDS.get(kind) for kind in found[1]]
    halves = [by_columns(target, FIRST, 700), by_columns(target, FIRST + 700, COUNT - 700)]
    assert (sum(octets for octets, _ in halves), b"".join(kinds for _, kinds in halves)) == found


def test_vector_by_vector_the_same_comes_out():
    target = Probe(f"py:{KNOWN_WRONG}:surrogates")
    columns = by_columns(target)
    assert any(columns[1])
    assert kinds_by_vectors(target, INPUTS, "D", FIRST, COUNT) == columns
    target.close()


def test_a_right_decoder_is_right(probe):
    octets = sum(len(INPUTS.string(number)) for number in range(FIRST, FIRST + COUNT))
    assert by_columns(probe("dies")) == (octets, b"")


@pytest.mark.long
def test_a_target_that_dies_again_and_again_is_asked_on(probe):
    places = {FIRST + 1, FIRST + 2, FIRST + 900}
    deadly = {INPUTS.string(place) for place in places}
    target = probe("dies", deadly, restarts=0)
    _, kinds = by_columns(target)
    shown = {FIRST + place for place, kind in enumerate(kinds) if kind == CRASHED}
    assert shown == {number for number in range(FIRST, FIRST + COUNT) if INPUTS.string(number) in deadly} >= places
    assert set(kinds) == {0, CRASHED}


@pytest.mark.long
def test_where_too_many_inputs_take_too_long_the_rest_of_their_block_is_left_out(probe, monkeypatch):
    monkeypatch.setattr(generated, "ALL_HANGS", 2)
    first = 2 * BLOCK - 100
    endless = [first + 20, first + 40, first + 60, first + 130]
    target = probe("dies", (), [INPUTS.string(number) for number in endless], timeout=1.0)
    octets, found = by_columns(target, first, 200)
    kinds = [0] * 20 + [TIMED_OUT] + [0] * 19 + [TIMED_OUT] + [LEFT_OUT] * 59 + [0] * 30 + [TIMED_OUT] + [0] * 69
    assert list(found) == kinds
    asked = [first + place for place, kind in enumerate(kinds) if kind != LEFT_OUT]
    assert octets == sum(len(INPUTS.string(number)) for number in asked)


def test_what_no_executor_can_ask_is_said(tmp_path):
    Path(tmp_path, "only.py").write_text("class Encodes:\n    operations = {'E': lambda many: [b'a'] * len(many)}\n")
    probe = Probe(f"py:{tmp_path}/only.py:Encodes")
    with pytest.raises(TargetError, match="nothing to fuzz"):
        Executor(CampaignJob((probe.target,)), probe, INPUTS)
    probe.close()


def test_parts_of_a_batch_are_those_inputs():
    lengths, octets = INPUTS.columns(FIRST, 50)
    strings = [octets[start:end] for start, end in pairwise(accumulate(lengths, initial=0))]
    part = ColumnBatch("fuzz", lengths, octets).part(7, 31)
    assert [vector.octets for vector in part] == strings[7:31]


def test_inputs_have_the_same_place_alone_and_together_and_words_say_it():
    strings = [*map(bytes.fromhex, WORDS), *(INPUTS.string(FIRST + number) for number in range(500)), b""]
    places = InputReader(dialect())
    words = list(map(places.words, places.keys(list(map(len, strings)), b"".join(strings)).tolist()))
    assert words[: len(WORDS)] == list(WORDS.values())
    assert words == [place_of(Vector("fuzz", each)) for each in strings]
    assert len(set(words)) > 30
