"""Profiles: every dialect and every error mode is judged by its own rules, and no other passes."""

from __future__ import annotations

import re
import shlex
from dataclasses import replace
from functools import cache
from itertools import islice, permutations
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from overlong.conformance import certify
from overlong.conformance.cli.verbs import cli
from overlong.conformance.oracle.compare import compare, confirms, control_of
from overlong.conformance.protocol.observation import Accepted
from overlong.conformance.protocol.wire import REPLACE, UNITS
from overlong.conformance.targets.builtins import BUILTINS
from overlong.conformance.vectors.pieces import complete_strings, strings_for
from overlong.conformance.vectors.suites import SUITES
from overlong.conformance.vectors.vector import Profile, Vector
from overlong.reference import DIALECTS, ERROR_MODES, decode, dialect
from overlong.reference.automaton import equivalent
from zoo import ZOO, wrong_replacers

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from click.testing import Result

    from overlong.conformance.results.certificate import Certificate
    from overlong.conformance.vectors.batch import Batch

pytestmark = pytest.mark.usefixtures("unexamined")

REPLACERS = ZOO / "wrong_replacers.py"
REPLACING = ["complete-0-replacing"]
BEYOND_ITS_STATES = {"pairs_are_one"}
"""Machines with more states than the mode, which its complete suite misses: the named vectors catch them."""


def judged(name: str, suites: list[str], speaks: str = "rfc3629") -> Certificate:
    certificate = certify(f"py:{REPLACERS}:{name}", suites=suites, speaks=speaks)
    assert not certificate.run.incomplete
    assert not certificate.run.restarts
    return certificate


def overlong(*words: str) -> Result:
    return CliRunner().invoke(cli, words)


# Error modes


def test_there_is_a_right_and_a_wrong_replacer_of_every_mode() -> None:
    assert set(wrong_replacers.RIGHT.values()) == set(wrong_replacers.WRONG.values()) == set(ERROR_MODES) - {"fatal"}


@pytest.mark.long_after(2)
@pytest.mark.parametrize("name", wrong_replacers.RIGHT)
def test_the_right_replacer_of_every_mode_holds(name: str) -> None:
    certificate = judged(name, ["core"])  # the complete suites are asked below
    assert certificate.run.greeting.error_mode == wrong_replacers.RIGHT[name]
    assert {claim for claim, state in certificate.claims.items() if state == "holds"} == {"scalars", "error mode"}
    assert "fails" not in certificate.claims.values()


FIRST = {mode: name for name, mode in reversed(wrong_replacers.WRONG.items())}
"""One wrong replacer for each mode."""


@pytest.mark.long_after(1)
@pytest.mark.parametrize("name", [*list(FIRST.values())[::3], *sorted(BEYOND_ITS_STATES)])
def test_wrong_replacers_are_caught(name: str) -> None:
    """Only some of them; a later test asks all without a process."""
    certificate = judged(name, ["core"] if name in BEYOND_ITS_STATES else REPLACING)
    assert certificate.claims["error mode"] == "fails"
    assert certificate.run.codes <= {"OV401", "OV402"}


@cache
def asked(mode: str, suite: str) -> tuple[list[bytes], list[str]]:
    """The questions of a suite to a replacer, and the right answers."""
    batches = replace(SUITES[suite], profile=Profile(replaces=mode)).batches()
    strings = [vector.octets for batch in batches for vector in batch]
    return strings, [decode(octets, mode) for octets in strings]


@pytest.mark.long_after(1)
@pytest.mark.parametrize("name", [*wrong_replacers.RIGHT, *wrong_replacers.WRONG])
def test_the_vectors_catch_every_wrong_replacer_and_no_right_one(name: str) -> None:
    """The complete suite catches those of few states, core the others."""

    def is_caught(suite: str) -> bool:
        target = getattr(wrong_replacers, name)
        strings, right = asked(target.traits["error_mode"], suite)
        return bool(target.operations["L"](strings) != right)

    assert is_caught(*REPLACING) == (name in wrong_replacers.WRONG and name not in BEYOND_ITS_STATES)
    assert name not in BEYOND_ITS_STATES or is_caught("core")


OWN: tuple[tuple[str, frozenset[tuple[str, str]]], ...] = (
    *((name, frozenset()) for name in wrong_replacers.OWN_RIGHT),
    *((name, frozenset(codes.items())) for name, codes in wrong_replacers.OWN_WRONG.items()),
)


@pytest.mark.long_after(19)
@pytest.mark.parametrize(("name", "wrong"), OWN, ids=[name for name, _ in OWN])
def test_of_a_way_of_its_own_only_what_is_wrong_in_any_way_is_held_against_it(
    name: str, wrong: frozenset[tuple[str, str]]
) -> None:
    """Without a process."""
    put_out = getattr(wrong_replacers, name).operations["L"]

    def observed(octets: bytes) -> Accepted:
        (text,) = put_out([octets])
        return Accepted(tuple(map(ord, text)))

    found = set[tuple[str, str]]()
    for vector in own_vectors():
        finding = compare(vector, REPLACE, observed(vector.octets))
        if finding is not None:
            control = control_of(finding)
            if control is None or confirms(finding, observed(control.octets)):
                found.add((finding.code, finding.claim))
    assert found == wrong


@cache
def own_vectors() -> tuple[Vector, ...]:
    """The vectors of core, and every overlong form of two octets: each ASCII replacement character is one of them."""
    core = [vector.octets for batch in SUITES["core"].batches() for vector in batch]
    overlong = [bytes([lead, tail]) for lead in (0xC0, 0xC1) for tail in range(0x80, 0xC0)]
    return tuple(Vector("input", octets, profile=Profile(own_mode="its own")) for octets in (*core, *overlong))


@pytest.mark.long
def test_certify_confirms_by_a_control_what_a_way_of_its_own_seems_to_accept() -> None:
    slash, question = (judged(name, ["core", "complete-0"]) for name in ("slash_slips_through", "own_question_mark"))
    assert {(bucket.example.code, bucket.example.vector.octets) for bucket in slash.run.ordered_buckets} == {
        ("OV201", b"\xc0\xaf")
    }
    assert slash.claims["verdict"] == "fails"
    assert question.run.conformant, [bucket.example for bucket in question.run.ordered_buckets]


def test_replay_asks_all_that_is_offered_and_says_where_nothing_is_expected() -> None:
    target = f"py:{REPLACERS}:slash_slips_through"
    done = overlong("replay", "input/80", target)
    assert done.exit_code == 0
    assert "expected  no expectation: error mode unknown (slash)" in done.stdout
    done = overlong("replay", "C0AF", target)
    assert done.exit_code == 1
    assert "FAIL      OV201" in done.stdout
    assert overlong("replay", "C0BF", f"py:{REPLACERS}:own_question_mark").exit_code == 0


@pytest.mark.long
def test_cpython_keeps_every_octet() -> None:
    certificate = certify("cpython-surrogateescape", suites=["core", *REPLACING])
    assert certificate.run.greeting.error_mode == "utf-8b"
    assert certificate.claims["error mode"] == "holds"


# Dialects


def test_there_is_a_speaker_of_every_dialect() -> None:
    assert list(wrong_replacers.SPEAKERS) == list(DIALECTS)


@pytest.mark.long
@pytest.mark.parametrize("name", DIALECTS)
def test_the_reference_is_right_in_every_dialect(name: str) -> None:
    suites = ["complete-0"]
    if name in {"cesu-8", "mutf-8"}:
        suites += ["core", "complete-0-refusing", *REPLACING]
    certificate = judged(wrong_replacers.SPEAKERS[name], suites, name)
    assert certificate.run.buckets == {}
    operations = certificate.run.greeting.operations
    holds = {"verdict", "error position"} | ({"scalars", "error mode"} if "D" in operations else set())
    assert {claim for claim, state in certificate.claims.items() if state == "holds"} == holds
    (configuration,) = certificate.statement["predicate"]["configuration"]
    assert configuration["name"] == f"{name}@1"
    assert (f"--profile {name}" in certificate.command) == (name != "rfc3629")


@pytest.mark.long
def test_the_suites_of_every_dialect_tell_every_other() -> None:
    """Even those with more states, which the theorem does not cover: the suite distinguishes them."""
    for name, other in permutations(DIALECTS, 2):
        right, wrong = dialect(name).automaton, dialect(other).automaton
        told = any(right.accepts(octets) != wrong.accepts(octets) for octets in strings_for(dialect(name)))
        assert told != equivalent(right, wrong), (name, other)
    assert strings_for(dialect()) == complete_strings(dialect().automaton)
    assert [pair for pair in permutations(DIALECTS, 2) if equivalent(*(dialect(each).automaton for each in pair))] == [
        ("rfc3629", "utf-8-sig"),
        ("utf-8-sig", "rfc3629"),
    ]


@pytest.mark.long_after(3)
@pytest.mark.parametrize("name", DIALECTS)
def test_the_complete_suite_of_every_dialect_kills_every_single_transition_mutant(name: str) -> None:
    """And every flipped state, unless the language is the same; only strings that use the transition are asked."""
    right = dialect(name).automaton
    strings = complete_strings(right)
    verdicts = {string: right.accepts(string) for string in strings}
    through: dict[tuple[int, int], list[bytes]] = {}
    for string in strings:
        for step in set(zip([0, *right.walk(string)], string, strict=False)):
            through.setdefault(step, []).append(string)
    for state, row in enumerate(right.table):
        flipped = right.flipped(state)
        assert any(flipped.accepts(string) != verdicts[string] for string in strings)
        for octet, to in enumerate(row):
            for wrong in set(range(len(right))) - {to}:
                mutant = right.redirected(state, octet, wrong)
                killed = any(mutant.accepts(string) != verdicts[string] for string in through.get((state, octet), []))
                assert killed or equivalent(mutant, right), (state, octet, wrong)


@pytest.mark.long_after(1)
@pytest.mark.parametrize(
    ("name", "suite"),
    [
        *((each, "scalars") for each in DIALECTS if each != "rfc3629"),
        *((each, suite) for each in ("utf-8-sig", "rfc2279") for suite in ("scalars-between", "runs")),
    ],
)
def test_what_is_expected_of_numbers_is_what_the_reference_decodes(name: str, suite: str) -> None:
    """At both ends of the first batches; for RFC 2279 and CESU-8, of the last batch of each length."""
    batches: Iterable[Batch] = replace(SUITES[suite], profile=Profile(name)).batches()
    if suite == "scalars" and name in {"rfc2279", "cesu-8"}:
        batches = {batch.lengths[0]: batch for batch in batches}.values()
    chosen = islice(batches, 6 if suite == "scalars" and name in {"rfc2279", "cesu-8"} else 2)
    ends = ((each, len(each), min(len(each), 999)) for each in chosen)
    for batch in (part for each, end, some in ends for part in (each.part(0, some), each.part(end - some, end))):
        decoded = replace(batch, closed=None)
        for operation in "VD":
            assert batch.expected(operation, UNITS["utf-32"]) == decoded.expected(operation, UNITS["utf-32"])
        assert set(batch.expected("V", UNITS["utf-32"]).statuses) == {ord("A")}


@pytest.mark.long
def test_every_number_on_a_decoder_that_passes_surrogates() -> None:
    certificate = certify("cpython-surrogatepass", suites=["scalars"], speaks="lax-surrogates")
    assert certificate.claims["verdict"] == certificate.claims["scalars"] == "holds"
    assert [part.done for part in certificate.run.suites] == [0x110000]


def test_java_reads_modified_utf_8_as_it_says() -> None:
    if why := BUILTINS["java-readutf"].missing():
        pytest.skip(why)
    certificate = certify("java-readutf", suites=["complete-0"], speaks="mutf-8-lax")
    assert certificate.claims["verdict"] == "holds"
    assert certify("java-readutf", suites=["complete-0"], speaks="mutf-8").claims["verdict"] == "fails"


# The command line


@pytest.mark.parametrize("words", [["certify", "cpython"], ["replay", "C080", "cpython"]])
@pytest.mark.parametrize(
    ("profile", "says"),
    [
        ("rfc3692", "did you mean rfc3629?"),
        ("muft-8", "did you mean mutf-8?"),
        ("lax-surogates", "did you mean lax-surrogates?"),
        ("nosuch", f"there is {' '.join(DIALECTS)}"),
    ],
)
def test_an_unknown_profile_is_a_usage_error_with_a_suggestion(words: list[str], profile: str, says: str) -> None:
    done = overlong(*words, "--profile", profile)
    assert done.exit_code == 2
    assert f"no profile '{profile}'" in " ".join(done.output.split())
    assert says in " ".join(done.output.split())
    assert "Traceback" not in done.output


@pytest.mark.long_after(6)
@pytest.mark.parametrize(
    ("octets", "target", "profile", "code", "expected"),
    [
        ("EDA080", "cpython", "rfc3629", 0, "reject at 0, 1 octet"),
        ("EDA080", "cpython", "lax-surrogates", 1, "accept as U+D800"),
        ("EDA080", "cpython-surrogatepass", "lax-surrogates", 0, "accept as U+D800"),
        ("EDA18CEDBEB4", "cpython", "cesu-8", 1, "accept as U+233B4"),
        ("C080", "cpython", "mutf-8", 1, "accept as U+0000"),
        ("EFBBBF61", "cpython", "utf-8-sig", 1, "accept as U+0061"),
        ("FC8480808080", "cpython", "rfc2279", 1, "accept as 4000000"),
    ],
)
def test_replay_expects_what_the_profile_says(octets: str, target: str, profile: str, code: int, expected: str) -> None:
    done = overlong("replay", octets, target, "--profile", profile)
    assert done.exit_code == code, done.output
    assert expected.rpartition(" ")[2] in done.output
    assert "expected" in done.output


def test_the_command_that_reproduces_names_the_profile(tmp_path: Path) -> None:
    done = overlong("certify", "--profile", "mutf-8", "--suite", "core", "cpython", "-o", str(tmp_path))
    assert done.exit_code == 1
    commands = re.findall("reproduce: (.*)", done.output)
    assert commands
    assert all("--profile mutf-8" in command for command in commands)
    assert overlong(*shlex.split(commands[0])[1:]).exit_code == 1
