"""Maps of a decoder's answers to pairs of octets, and the machine that is nearest to a decoder."""

import base64
import json
import random
import zlib
from collections import Counter

import pytest

from overlong.conformance import certify
from overlong.conformance.certification import certify as certification
from overlong.conformance.certification import nearest_model as module
from overlong.conformance.certification.nearest_model import learn, nearest_model
from overlong.conformance.certification.runner import Runner
from overlong.conformance.models.pair_maps import NOT_TOLD, PAIRS, maps_of, name_of, painted, prefixes, reference_maps
from overlong.conformance.oracle.target import Answered
from overlong.conformance.protocol.greeting import Greeting
from overlong.conformance.protocol.observation import Crashed, Fault
from overlong.conformance.protocol.wire import ACCEPTED, REFUSED, UNITS, Answers
from overlong.conformance.results.model import Map
from overlong.conformance.targets.framed import FramedTarget
from overlong.conformance.targets.limits import Limits
from overlong.conformance.targets.resolve import resolve
from overlong.conformance.vectors.suites import SUITES
from overlong.conformance.vectors.vector import Profile
from overlong.reference import DIALECTS, dialect, is_well_formed
from zoo import ZOO

DECODERS = ZOO / "known_wrong.py"


class Stub:
    """A target in this process that answers as ``accepts`` does, and crashes if that raises."""

    id, restarts = "stub", 0

    def __init__(self, accepts, operations="PVB", **traits):
        self.accepts, self.notes = accepts, []
        self.greeting = Greeting("stub", "", "", operations, UNITS["utf-32"], "replacement", traits=traits)

    def open(self):
        pass

    def close(self):
        pass

    def observe(self, asked):
        for batch, operation in asked:
            statuses, at = bytearray(), 0
            faults: dict[int, Fault] = {}
            for place, length in enumerate(batch.lengths):
                try:
                    statuses += ACCEPTED if self.accepts(batch.octets[at : at + length]) else REFUSED
                except ZeroDivisionError:
                    statuses += REFUSED
                    faults[place] = Crashed("fell over")
                at += length
            nothing = bytes(len(batch))
            yield Answered(batch, operation, Answers.of(bytes(statuses), 4 * nothing, nothing, nothing, b""), faults)


def differences(maps, speaks="rfc3629"):
    """The differences of maps from the reference's: name, the two octets, the answer."""
    return {
        (seen.name, at >> 8, at & 0xFF, answer)
        for seen, known in zip(maps, reference_maps(speaks), strict=True)
        for at, (answer, right) in enumerate(zip(seen.answers, known.answers, strict=True))
        if answer != right
    }


def test_the_maps_are_those_that_the_grammar_restricts():
    assert [name_of(each) for each in prefixes("rfc3629")] == ["lead and second", "E0", "ED", "F0", "F4"]
    assert [each.name for each in reference_maps()] == [name_of(each) for each in prefixes("rfc3629")]
    assert [name_of(each) for each in prefixes("rfc2279")] == ["lead and second", "E0", "F0", "F8", "FC"]
    assert reference_maps("klingon@1") == ()


def test_the_reference_maps_are_what_the_reference_answers():
    chosen = random.Random(8)
    for prefix, known in zip(prefixes("rfc3629"), reference_maps("rfc3629@1"), strict=True):
        tails = 2 if not prefix else 1 if prefix >= b"\xf0" else 0
        for at in range(PAIRS) if not prefix else chosen.sample(range(PAIRS), 3000):
            string = prefix + bytes(divmod(at, 256))
            first = next((n + 1 for n in range(tails + 1) if is_well_formed(string + b"\x80" * n)), 0)
            assert known.answers[at] == first, string.hex()
    assert Counter(reference_maps()[0].answers) == {0: 40256, 1: 18304, 2: 4800, 3: 2176}


@pytest.mark.long
@pytest.mark.parametrize("speaks", ["rfc3629", "rfc2279"])
def test_a_right_decoder_has_the_reference_s_maps(speaks):
    automaton = dialect(speaks).automaton
    maps = maps_of(Stub(automaton.accepts), Profile(speaks))
    assert maps == reference_maps(speaks)


@pytest.mark.long
def test_a_wrong_decoder_differs_where_it_is_wrong_and_nowhere_else():
    target = resolve(f"py:{DECODERS}:overlong_slash")
    target.open()
    try:
        assert differences(maps_of(target)) == {("lead and second", 0xC0, 0xAF, 1), ("E0", 0x80, 0xAF, 1)}
    finally:
        target.close()


@pytest.mark.long
def test_what_a_trait_sets_aside_is_not_told():
    def right_but_for(mark):
        return lambda octets: is_well_formed(octets.partition(mark)[0])

    told = differences(maps_of(Stub(right_but_for(b"\0"), nul="ends the string")))
    assert told == {
        (name_of(prefix), one, other, NOT_TOLD)
        for prefix in prefixes("rfc3629")
        for one in range(256)
        for other in range(256)
        if 0 in (one, other)
    }


@pytest.mark.long
def test_a_crash_is_a_place_that_is_not_told():
    def crashing(octets):
        return 1 // 0 if octets == b"\xe1\x80\x80" else is_well_formed(octets)

    assert differences(maps_of(Stub(crashing))) == {("lead and second", 0xE1, 0x80, NOT_TOLD)}


@pytest.mark.long
def test_it_crashes_in_its_own_process_and_nothing_is_reported_of_it(tmp_path):
    (tmp_path / "falls.py").write_text(
        "import os\n\ndef decode(octets):\n    if octets == b'\\xf4\\x90\\x80':\n        os._exit(3)\n"
        "    return octets.decode('utf-8')\n"
    )
    target = resolve(f"py:{tmp_path / 'falls.py'}:decode")
    target.open()
    try:
        assert isinstance(target, FramedTarget)
        budget = target.restart_budget
        assert differences(maps_of(target)) == {
            ("lead and second", 0xF4, 0x90, NOT_TOLD),
            ("F4", 0x90, 0x80, NOT_TOLD),
        }
        assert (target.restarts, target.notes, target.restart_budget) == (0, [], budget)
    finally:
        target.close()


@pytest.mark.long
def test_it_hangs_and_there_is_no_portrait(tmp_path):
    (tmp_path / "waits.py").write_text(
        "import time\n\ndef decode(octets):\n    if octets[:1] == b'\\xf4':\n        time.sleep(600)\n"
        "    return octets.decode('utf-8')\n"
    )
    target = resolve(f"py:{tmp_path / 'waits.py'}:decode", Limits(timeout=2.0))
    target.open()
    try:
        assert maps_of(target) == ()
    finally:
        target.close()


def test_no_verdict_gives_no_portrait():
    assert maps_of(Stub(is_well_formed, operations="PLB")) == ()


def likened(accepts):
    target = Stub(accepts)
    run = Runner(target).suites([SUITES["core"]], lambda *_: None)
    return nearest_model(learn(target), run, maps_of(target))


@pytest.mark.long
def test_a_decoder_of_another_dialect_behaves_like_it_exactly():
    says, drawn = likened(dialect("lax").automaton.accepts)
    assert says == "lax (exact)"
    assert "stub, as learned and rfc3629, the reference" in drawn.svg


@pytest.mark.long
def test_what_is_right_in_short_strings_only_is_not_exactly_right():
    """The suites have shown more than the learned automaton."""

    def accepts(octets):
        return len(octets) > 20 or is_well_formed(octets)

    says, drawn = likened(accepts)
    assert says == ""
    assert drawn is not None


@pytest.mark.long
@pytest.mark.parametrize("constant", [True, False])
def test_nothing_is_near_to_what_does_not_look_at_its_input(constant):
    says, _ = likened(lambda _: constant)
    assert says == ""


@pytest.mark.long
def test_the_nearest_dialect_explains_the_greater_part():
    wtf = dialect("wtf-8").automaton
    says, _ = likened(lambda octets: wtf.accepts(octets) and not octets.startswith(b"\xed\xa0\x81"))
    assert says == "wtf-8 (nearest)"
    lenient = dialect("lax").automaton  # it accepts a few forms of another dialect
    says, _ = likened(lambda octets: is_well_formed(octets) or (lenient.accepts(octets) and octets[:2] == b"\xc0\x80"))
    assert says == ""


@pytest.mark.long
def test_what_cannot_be_learned_is_like_the_dialect_whose_maps_are_nearest(monkeypatch):
    monkeypatch.setattr(module, "_QUESTIONS", 20_000)
    lax = dialect("lax").automaton

    def accepts(octets):
        return lax.accepts(octets) and (len(octets) < 4 or zlib.crc32(octets) % 5 > 0)

    says, drawn = likened(accepts)
    assert (says, drawn) == ("lax (nearest)", None)


def test_every_dialect_paints_maps_of_its_own_or_shares_its_language():
    languages = {name: painted(dialect(name).automaton, "rfc3629") for name in DIALECTS}
    assert languages["rfc3629"] == languages["utf-8-sig"]
    assert languages["rfc3629"] != languages["lax-surrogates"] != languages["lax-overlongs"]


def records(path):
    return [json.loads(line) for line in path.read_text("ascii").splitlines()]


@pytest.mark.long
def test_certify_writes_what_it_saw(tmp_path, monkeypatch):
    monkeypatch.setattr(certification, "SUITES", {name: SUITES[name] for name in ("core", "complete-0")})
    name = f"py:{DECODERS}:surrogates"
    run = certify(name, output=tmp_path, plans=()).run
    written = records(tmp_path / "results.jsonl")
    maps = [each for each in written if each["record"] == "portrait"]
    assert [each["name"] for each in maps] == ["lead and second", "E0", "ED", "F0", "F4"]
    seen = [Map(each["name"], zlib.decompress(base64.b64decode(each["answers"]))) for each in maps]
    tails = range(0xA0, 0xC0)
    assert differences(seen) == {("lead and second", 0xED, second, 2) for second in tails} | {
        ("ED", second, third, 1) for second in tails for third in range(0x80, 0xC0)
    }
    (learned,) = [each for each in written if each["record"] == "automaton"]
    assert learned["behaves_like"] == run.behaves_like == "lax-surrogates (exact)"
    assert learned["svg"].startswith("<svg")
    assert run.restarts == 0
    assert certify(name, plans=()).run.behaves_like == run.behaves_like  # also if no file is written
    chosen = certify(name, suites=["core"], output=tmp_path / "chosen").run
    assert chosen.behaves_like == ""
    assert not {"portrait", "automaton"} & {each["record"] for each in records(tmp_path / "chosen" / "results.jsonl")}
