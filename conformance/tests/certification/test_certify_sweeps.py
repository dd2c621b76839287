"""Sweeps within ``certify``: the plans for a target, and their effect on run, report and certificate."""

import json
import re
import secrets
import shlex
import shutil
import subprocess
from collections import Counter
from dataclasses import replace
from hashlib import sha256
from importlib.resources import files
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import jsonschema
import pytest
from click.testing import CliRunner

from overlong.conformance import Invocation, certify
from overlong.conformance.certification import nearest_model
from overlong.conformance.certification import sweeps as certifying
from overlong.conformance.certification.tiers import (
    BRIEF,
    DEEP,
    FULL,
    LEAST,
    STEPS,
    TIERS,
    USUAL,
    Tier,
    fresh,
    left_out,
    seeds_of,
    short_of_usual,
    tier_of,
)
from overlong.conformance.cli.verbs import cli
from overlong.conformance.protocol.greeting import Greeting
from overlong.conformance.protocol.wire import UNITS
from overlong.conformance.report.terminal import next_step, summary
from overlong.conformance.results.certificate import CERTIFICATE
from overlong.conformance.results.results_file import RESULTS, report_of_run
from overlong.conformance.results.run import Run
from overlong.conformance.results.sweeps import NOTHING, PlanRun
from overlong.conformance.sweep import schemes as drawing
from overlong.conformance.sweep.describing import telling
from overlong.conformance.sweep.ledger import Ledger, LedgerError
from overlong.conformance.sweep.plan import plan_named
from overlong.conformance.targets.framed import FramedTarget
from overlong.conformance.targets.limits import Limits
from overlong.conformance.targets.resolve import resolve
from overlong.conformance.vectors.suites import SUITES
from overlong.conformance.vectors.vector import Profile
from overlong.reference import dialect

pytestmark = pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is not installed: apt install gcc")
UTF8 = dialect().automaton
ONE_GRID = (drawing._TEXTS, drawing._PIECES, drawing._TEXTS_BETWEEN, drawing._TEXTS_BEHIND), 1
"""The defaults of what draws a plan, with one grid in place of 64: a change of ``GRIDS`` comes too late for them."""

SOURCE = """
#include <stdbool.h>
#include <stddef.h>
static const unsigned char table[][256] = {%s};
static const bool accepting[] = {%s};
bool right(const unsigned char *octets, size_t length) {
    int state = 0;
    for (size_t i = 0; i < length; i++) state = table[state][octets[i]];
    return accepting[state];
}
/* a fault that no suite shows: a C1 is accepted at offset 33, and only there */
bool wrong_at_33(const unsigned char *octets, size_t length) {
    int state = 0;
    for (size_t i = 0; i < length; i++)
        if (i != 33 || octets[i] != 0xC0 || state) state = table[state][octets[i]];
    return accepting[state];
}
/* refuses every character but ASCII from offset 32 on */
bool ascii_from_32(const unsigned char *octets, size_t length) {
    int state = 0;
    for (size_t i = 0; i < length; i++) {
        if (i >= 32 && octets[i] >= 0xC2) return false;
        state = table[state][octets[i]];
    }
    return accepting[state];
}
/* accepts surrogates except ED A5 A5 */
bool surrogates_but_one(const unsigned char *octets, size_t length) {
    int state = 0;
    for (size_t i = 0; i < length; i++)
        if (!state && i + 2 < length && octets[i] == 0xED && octets[i + 1] >> 5 == 5 && octets[i + 2] >> 6 == 2
            && (octets[i + 1] != 0xA5 || octets[i + 2] != 0xA5)) i += 2;
        else state = table[state][octets[i]];
    return accepting[state];
}
/* accepts C0 80 from offset 41 on */
bool lax_from_41(const unsigned char *octets, size_t length) {
    int state = 0;
    for (size_t i = 0; i < length; i++)
        if (i >= 41 && !state && octets[i] == 0xC0 && i + 1 < length && octets[i + 1] == 0x80) i++;
        else state = table[state][octets[i]];
    return accepting[state];
}
"""


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    folder = tmp_path_factory.mktemp("swept")
    rows = ", ".join("{" + ", ".join(map(str, row)) + "}" for row in UTF8.table)
    accepting = ", ".join(str(int(each)) for each in UTF8.accepting)
    (folder / "lib.c").write_text(SOURCE % (rows, accepting))
    subprocess.run(["gcc", "-O2", "-shared", "-fPIC", "-o", "lib.so", "lib.c"], cwd=folder, check=True)
    return folder / "lib.so"


def so(library, function):
    return f"so:{library}:{function}?abi=bool(ptr,len)"


@pytest.fixture
def few(monkeypatch):
    """Small suites: this file tests the sweeps."""
    from overlong.conformance.certification import certify as certification
    from overlong.conformance.vectors.suites import SUITES

    monkeypatch.setattr(certification, "SUITES", {name: SUITES[name] for name in ("core", "complete-0")})


def swept(certificate):
    """The result of its sweep."""
    assert certificate.run.swept is not None
    return certificate.run.swept


def valid(name, data):
    text = (files("overlong.conformance") / "schemas" / f"{name}.schema.json").read_text("ascii")
    jsonschema.Draft202012Validator(json.loads(text)).validate(data)
    return data


SHORT = Tier(
    "full",
    ("exhaustive-2", "depth-1", "leads", "placed-36", "offsets-128", "thresholds-12", "order"),
    "",
)
"""Replaces the tier ``full``: an eighth of its strings, none of them long. The Rust tutorial asks all of them."""


@pytest.fixture
def full_in_short(monkeypatch):
    monkeypatch.setattr(drawing._drawn, "__defaults__", ONE_GRID)
    monkeypatch.setattr(certifying, "FULL", SHORT)
    monkeypatch.setitem(STEPS, "full", SHORT)
    monkeypatch.setattr(certifying, "reason_against_giants", lambda _: "it takes long")  # test_giants.py asks them
    plan_named.cache_clear()
    yield
    plan_named.cache_clear()


@pytest.mark.long
@pytest.mark.usefixtures("few", "full_in_short")
def test_a_function_of_a_library_is_swept_and_the_certificate_says_so(library, tmp_path):
    certificate = certify(so(library, "right"), output=tmp_path)
    run = certificate.run
    assert run.conformant
    plans = [part.plan for part in swept(certificate).plans]
    assert plans[:-1] == list(SHORT.plans)
    assert plans[-1].startswith("drawn-")
    assert f"--plan {plans[-1]} " in certificate.command
    again = certify(so(library, "right"), plans=plans[-1:])
    assert again.to_json() == certificate.to_json(), "the seed is in the command: the same octets"
    statement = valid("certificate-1", certificate.statement)
    sweeps = statement["predicate"]["overlong"]["sweeps"]
    assert all(each["kinds"] == {} and each["strings"] == each["expected"]["strings"] for each in sweeps)
    assert "position or alignment, beyond the sweep placed-36" in " ".join(certificate.not_covered)
    records = [valid("results-1", json.loads(line)) for line in (tmp_path / RESULTS).read_text().splitlines()]
    assert [each["plan"] for each in records if each["record"] == "sweep"] == plans
    report = "\n".join(summary(report_of_run(certificate), certificate, width=80, encoding="utf-8", every=True))
    words = " ".join(report.split())
    assert "depth-1: no decoder of up to 10 states that differs from RFC 3629 passes this; nor does" in words
    strings, seed = SHORT.size(Profile()) + plan_named(plans[-1]).size, plans[-1].removeprefix("drawn-")
    assert f"swept · tier full · drawn by {seed} · {strings:,} strings of {len(plans)} plans".replace(",", " ") in words


@pytest.mark.long
@pytest.mark.usefixtures("few", "full_in_short")
def test_what_only_a_sweep_finds_is_a_finding_like_any_other(library, tmp_path):
    name = so(library, "wrong_at_33")
    without = certify(name, plans=())
    assert without.run.conformant
    assert "--no-sweeps" in without.command
    certificate = certify(name, plans=["placed-40"], output=tmp_path)
    run = certificate.run
    assert "--plan placed-40" in certificate.command
    assert [part.plan for part in swept(certificate).plans] == [
        *(name for name in SHORT.plans if not name.startswith("placed")),
        *(part.plan for part in swept(certificate).plans if part.plan.startswith("drawn-")),
        "placed-40",
    ]
    assert run.claims["verdict"] == "fails"
    bucket = run.buckets["OV201", ""]
    assert bucket.example.vector.octets[33] == 0xC0
    diverging = [part for part in swept(certificate).plans if part.divergences]
    told = [part for part in diverging if part.plan not in swept(certificate).undescribed]
    assert bucket.count == sum(part.divergences for part in told) > 1
    assert len(told) == 2
    assert swept(certificate).words[-1].endswith("diverge, too; 'overlong sweep' describes them")
    assert bucket.why is not None
    assert bucket.why.sentence == "accepts C0 at offset 33"
    assert certificate.statement["predicate"]["result"] == "FAILED"
    records = [json.loads(line) for line in (tmp_path / RESULTS).read_text().splitlines()]
    assert {each["code"] for each in records if each["record"] == "divergence"} == {"OV201"}  # one for each plan


@pytest.mark.long
@pytest.mark.usefixtures("few", "full_in_short")
def test_a_decoder_that_is_wrong_is_not_swept_to_the_end_and_the_command_gives_the_same(library):
    certificate = certify(so(library, "wrong_at_33"))
    run = certificate.run
    plans = [part.plan for part in swept(certificate).plans]
    assert plans == list(SHORT.plans[: len(plans)]), "in the order of the tier"
    assert [part.plan for part in swept(certificate).plans if part.divergences][1:] == plans[-1:], (
        "the second is the last"
    )
    (note,) = (note for note in run.notes if note.startswith("not swept further, for it diverges: "))
    assert all(name in note for name in SHORT.plans[len(plans) :])
    assert "--plan drawn" not in certificate.command, "no seed of a plan that was not asked"
    assert certify(so(library, "wrong_at_33")).to_json() == certificate.to_json()


@pytest.fixture
def drawn_in_short(monkeypatch):
    """One grid of each seed, 65 536 strings, and tiers of 257 strings."""
    monkeypatch.setattr(drawing._drawn, "__defaults__", ONE_GRID)
    for name in ("deep", "full"):
        tier = Tier(name, ("exhaustive-1",), "")
        monkeypatch.setattr(certifying, name.upper(), tier)
        monkeypatch.setitem(STEPS, name, tier)
    monkeypatch.setattr(certifying, "reason_against_giants", lambda _: "it takes long")
    plan_named.cache_clear()
    yield
    plan_named.cache_clear()


@pytest.mark.long
@pytest.mark.usefixtures("few", "drawn_in_short")
def test_twice_the_time_buys_more_drawn_strings(library, monkeypatch):
    monkeypatch.setattr(secrets, "randbelow", lambda _end: 9)
    price = Tier("", ("drawn-9",), "").price(Profile())
    monkeypatch.setattr(certifying, "_each", lambda *_: certifying._CALLED * 10 / price)
    asked = {}
    for budget in (60, 120):
        parts = swept(certify(Invocation(so(library, "right"), budget=budget))).plans
        assert all(part.seen == part.expected and not part.divergences for part in parts)
        assert len({part.digest for part in parts}) == len(parts), "each seed draws others"
        asked[budget] = sum(part.seen.strings for part in parts)
    assert asked[60] == asked[120] - 6 * plan_named("drawn-9").size
    assert asked[120] > 2 * asked[60]


@pytest.mark.long
@pytest.mark.usefixtures("few", "drawn_in_short")
def test_a_certificate_of_several_seeds_can_be_made_again(library, tmp_path, monkeypatch):
    few = {name: SUITES[name] for name in ("core", "complete-0")}
    monkeypatch.setattr("overlong.conformance.results.certificate.SUITES", few)
    monkeypatch.setattr(secrets, "randbelow", lambda end: end - 2)
    monkeypatch.setattr(certifying, "_affordable", lambda *_: 4)
    certificate = certify(Invocation(so(library, "right"), budget=120), output=tmp_path / "first")
    plans = [part.plan for part in swept(certificate).plans]
    assert plans == ["exhaustive-1", "drawn-999999998", "drawn-999999999", "drawn-0", "drawn-1"], (
        "in a row, then from 0"
    )
    options = " ".join(f"--plan {name}" for name in plans)
    assert f" {options} " in certificate.command
    words = " ".join(summary(report_of_run(certificate), certificate, width=200, encoding="utf-8", every=True))
    assert " · drawn by 999999998 · and 3 seeds more · " in words
    again = CliRunner().invoke(cli, [*shlex.split(certificate.command)[1:], "--output", str(tmp_path / "again")])
    assert again.exit_code == 0, again.output
    first, second = (tmp_path / run / CERTIFICATE for run in ("first", "again"))
    assert first.read_text() == second.read_text() == certificate.to_json()
    verified = CliRunner().invoke(cli, ["verify", str(first), so(library, "right")])
    assert verified.exit_code == 0, verified.output


def test_only_time_beyond_the_deepest_tier_buys_more_of_what_is_drawn(library, monkeypatch):
    """For a function as slow as the measured validator, some 2.5 microseconds in frames."""
    monkeypatch.setattr(certifying, "reason_against_giants", lambda _: "Linux only")
    certificate = certify(so(library, "right"), suites=["core"])
    run, free = certificate.run, replace(certificate.invocation, suites=None)
    target = resolve(so(library, "right"), None)
    assert isinstance(target, FramedTarget)
    seconds = 2.5e-6 * sum(part.done * len(part.operations) for part in run.suites)

    def plans(budget):
        chosen, named = certifying.plans_for(target, run, replace(free, budget=budget), seconds)
        tier = tier_of(chosen)
        assert tier is not None
        assert not short_of_usual(chosen)
        assert named.plans == (chosen if budget != certifying.BEARABLE else chosen[-1:])
        assert chosen[: len(tier.plans)] == tier.plans
        return tier.name, len(chosen) - len(tier.plans)

    assert [plans(budget) for budget in (certifying.BEARABLE, 30, 60, 120)] == [
        *(("full", 1), ("full", 1)),
        *(("deep", 1), ("deep", 1)),
    ]
    (_, some), (_, more), hour, most = plans(600), plans(1200), plans(3600), plans(8 * 3600)
    assert 1 < 2 * some < more <= 256
    assert [tier for tier, _ in (hour, most)] == ["deep", "deep"]
    assert 1 < 2 * hour[1] < most[1] <= 256
    assert more * plan_named("drawn-1").size < hour[1] * plan_named("soak-1").size
    assert plan_named("soak-1").size == 1 << 28


def without_sample(certificate):
    """The plans of a sweep in a hurry, behind the first: the time may end the others."""
    sample, *plans = [part.plan for part in swept(certificate).plans]
    assert sample.startswith("sample-")
    return plans


@pytest.mark.long
@pytest.mark.usefixtures("few")
def test_in_a_hurry_what_passed_the_suites_is_swept(library, monkeypatch):
    passed = certify(so(library, "right"), suites=["core"], tier="quick")
    assert without_sample(passed) == list(USUAL.plans)
    assert certify(so(library, "ascii_from_32"), suites=["core"], tier="quick").run.swept is None
    monkeypatch.setattr("overlong.conformance.certification.sweeps.QUICKLY", 60.0)
    passed = certify("cpython", suites=["core"], tier="quick")
    assert without_sample(passed) == list(BRIEF.plans)
    monkeypatch.setattr("overlong.conformance.certification.sweeps.QUICKLY", 0.0)
    assert not swept(certify("cpython", suites=["core"], tier="quick")).plans


def test_plans_that_diverge_in_another_way_are_described_too():
    kinds = {"a": [1], "b": [1], "c": [1], "d": [1, 2], "e": [2]}
    parts = [PlanRun(name, "", NOTHING, kinds=Counter(some)) for name, some in kinds.items()]
    assert [part.plan for part in telling(parts)] == ["a", "b", "d"]


@pytest.mark.long
@pytest.mark.usefixtures("few")
def test_a_bucket_of_suites_shows_the_least_string_that_a_sweep_asked(library, tmp_path):
    """Characters from offset 32 on: the core's example is longer than that of placed-33."""
    name = so(library, "ascii_from_32")
    suites = certify(name, suites=["core"])
    certificate = certify(name, suites=["core"], plans=["placed-33"], output=tmp_path)
    (before,), (bucket,) = suites.run.buckets.values(), certificate.run.buckets.values()
    assert bucket.why is not None
    assert bucket.why.sentence == "refuses characters beyond ASCII at offset 32 or more"
    assert bucket.example.vector.octets == b"@" * 32 + b"\xc2\x80"
    assert before.example.vector.octets == b"a" * 32 + b"\xc2\x80"
    assert certificate.run.swept is not None
    assert bucket.count == before.count + certificate.run.swept.divergences
    assert certificate.run.findings_digest == suites.run.findings_digest
    records = [valid("results-1", json.loads(line)) for line in (tmp_path / RESULTS).read_text().splitlines()]
    told = {(each["code"], each["place"]): each["example"]["hex"] for each in records if each["record"] == "bucket"}
    assert all(told[key] == bucket.example.vector.octets.hex() for key, bucket in certificate.run.buckets.items())


@pytest.mark.long
def test_the_order_in_which_a_bucket_sees_findings_leaves_no_trace(library):
    """The sweep's example counts only if it is less; a suite's vector with the same octets keeps its name."""
    run = certify("cpython-surrogatepass", suites=["complete-0"], plans=["depth-0"]).run
    assert run.buckets["OV202", ""].example.vector.octets == b"\xed\xa0\x80"
    run = certify("cpython-surrogatepass", suites=["scalars"], plans=["depth-0"]).run
    assert run.buckets["OV202", ""].example.vector.id == "surrogate/eda080"


@pytest.mark.long
@pytest.mark.usefixtures("few")
def test_what_a_long_string_of_a_sweep_shows_can_be_asked_again(library, tmp_path):
    """No suite has the string, so its id must not be a digest."""
    name = so(library, "lax_from_41")
    certificate = certify(name, suites=["core"], plans=["placed-42"], output=tmp_path)
    (bucket,) = certificate.run.ordered_buckets
    assert len(bucket.example.vector.octets) == 43
    records = [json.loads(line) for line in (tmp_path / RESULTS).read_text().splitlines()]
    (command,) = [each["reproduce"] for each in records if each["record"] == "bucket"]
    result = CliRunner().invoke(cli, shlex.split(command)[1:])
    assert result.exit_code == 1, result.output
    assert "OV201" in result.output


@pytest.mark.long
@pytest.mark.usefixtures("few")
def test_nothing_is_exactly_like_a_dialect_that_a_sweep_tells_it_from(library, tmp_path, monkeypatch):
    """The decoder rightly refuses one surrogate, so no finding mentions it; maps would show it."""
    monkeypatch.setattr(nearest_model, "maps_of", lambda *_: ())
    name = so(library, "surrogates_but_one")
    without = certify(name, plans=(), output=tmp_path)
    assert without.run.behaves_like == "lax-surrogates (exact)"
    certificate = certify(name, plans=["exhaustive-3"], tier="none", output=tmp_path)
    assert certificate.run.behaves_like == "lax-surrogates (nearest)"
    records = [valid("results-1", json.loads(line)) for line in (tmp_path / RESULTS).read_text().splitlines()]
    told = [each for each in records if each["record"] == "automaton"]
    assert [each["behaves_like"] for each in told] == ["lax-surrogates (nearest)"]
    assert "<svg" in told[0]["svg"]
    right = certify("cpython-surrogatepass", plans=["depth-0"], tier="none", output=tmp_path)
    assert right.run.behaves_like == "lax-surrogates (exact)"


@pytest.mark.long
@pytest.mark.usefixtures("few")
def test_named_suites_are_not_followed_by_sweeps_unless_these_are_named(library):
    assert certify(so(library, "right"), suites=["core"]).run.swept is None
    certificate = certify(so(library, "right"), suites=["core"], plans=["exhaustive-1"])
    assert [part.plan for part in swept(certificate).plans] == ["exhaustive-1"]


@pytest.mark.long_after(1)
@pytest.mark.usefixtures("few")
@pytest.mark.parametrize("thorough", [False, True])
def test_what_takes_a_target_long_is_spared_it_and_told_so(monkeypatch, thorough):
    monkeypatch.setattr(certifying, "BEARABLE", 0)
    monkeypatch.setattr(certifying, "USUAL", replace(USUAL, plans=("exhaustive-1",)))
    certificate = certify(Invocation("cpython", thorough=thorough))
    kinds = [part.plan.partition("-")[0] for part in swept(certificate).plans]
    assert kinds == ["exhaustive"] * thorough + ["sample"]
    run = certificate.run
    assert thorough or any(
        note.startswith("not swept further: the 256 strings of the tier usual would") for note in run.notes
    )


BY_HEART = """
from hashlib import sha256
from pathlib import Path

KNOWN = set(Path(__file__).with_name("known.txt").read_text().split())

def decode(octets):
    return octets.decode("utf-8", "strict" if sha256(octets).hexdigest() in KNOWN else "surrogateescape")
"""


@pytest.mark.usefixtures("few")
def test_a_decoder_that_knows_all_fixed_strings_by_heart_fails(tmp_path, monkeypatch):
    lean = replace(LEAST, plans=("exhaustive-1",))
    monkeypatch.setattr(certifying, "_bearable", lambda *_: lean)
    fixed = {vector.octets for name in ("core", "complete-0") for vector in SUITES[name].vectors()}
    fixed |= {grid.string(n) for grid in plan_named("exhaustive-1").grids for n in range(grid.size)}
    (tmp_path / "known.txt").write_text("\n".join(sha256(octets).hexdigest() for octets in fixed), "ascii")
    (tmp_path / "by_heart.py").write_text(BY_HEART, "ascii")
    name = f"py:{tmp_path}/by_heart.py:decode"
    assert certify(name, plans=lean.plans, tier="none").run.conformant, "it knows them"
    certificate = certify(name)
    assert not certificate.conformant
    (drawn,) = seeds_of(part.plan for part in swept(certificate).plans)
    assert f"--plan sample-{drawn} " in certificate.command, "the seed repeats it"
    again = certify(name, plans=[f"sample-{drawn}"])
    assert again.to_json() == certificate.to_json()
    assert fresh(lean).startswith("sample-"), "as --tier adds it"
    opened = resolve(name)
    assert isinstance(opened, FramedTarget)
    (quick, *_) = certifying.fast_plans(opened, certify(name, suites=["core"], plans=()).run, 1)
    assert quick.startswith("sample-")


SLOW_ONCE = """
import os
import time

def decode(octets):
    if len(octets) > 3 and not os.path.exists({0!r}):
        open({0!r}, "x").close()
        time.sleep(5)
    return octets.decode()
"""


@pytest.mark.usefixtures("few")
def test_a_target_that_was_slow_once_is_swept(monkeypatch, tmp_path):
    """As on a busy machine: the request gets no answer in time, and each of its strings alone gets one."""
    monkeypatch.setattr(certifying, "_bearable", lambda *_: None)
    (tmp_path / "slow.py").write_text(SLOW_ONCE.format(str(tmp_path / "slept")), "ascii")
    certificate = certify(f"py:{tmp_path}/slow.py:decode", limits=Limits(timeout=3))
    run = certificate.run
    assert run.conformant
    assert run.restarts == 1
    assert any("no answer in time, but each of its strings alone" in note for note in run.notes)
    assert [part.plan.partition("-")[0] for part in swept(certificate).plans] == ["sample"]


@pytest.mark.usefixtures("few")
@pytest.mark.parametrize("tier", [None, BRIEF])
def test_the_rate_chooses_a_tier_and_the_headline_of_the_sweep_names_it(monkeypatch, tier):
    monkeypatch.setattr(certifying, "_bearable", lambda *_: tier)
    certificate = certify("cpython")
    report = "\n".join(summary(report_of_run(certificate), certificate, width=80, encoding="utf-8", every=True))
    asked = certificate.run.swept.plans if certificate.run.swept else []
    assert tier_of(part.plan for part in asked) == tier
    assert ("swept · tier brief" in report) == (tier is BRIEF)
    assert "not swept further: " in report
    assert f"CONFORMANT ({'tier brief; not swept further' if tier else '1 plan swept'})" in report
    (told,) = re.findall(r"^left out: (.*?: --tier [a-z]+)$", report.replace("\n  ", " "), re.MULTILINE)
    assert re.fullmatch(r"[a-z]+(-\d+)? \([0-9 M]+ strings, about [^()]+\).* in all: --tier [a-z]+", told)
    assert told.endswith("usual" if tier else "brief")
    assert "left out" not in certificate.to_json(), "it depends on the clock"
    usual = "\n".join(summary(report_of_run(certificate), certificate, width=80, encoding="utf-8"))
    assert not re.search(r"left out|complete:|^tested |swept ·|note: not swept further", usual, re.MULTILINE)
    assert next_step(report_of_run(certificate), certificate, None) == "overlong certify cpython", "for a certificate"
    monkeypatch.setattr(type(certificate), "refused", "")
    following = "usual" if tier else "brief"
    assert next_step(report_of_run(certificate), certificate, None) == f"overlong certify --tier {following} cpython"


def test_what_the_deepest_tier_leaves_out_is_nothing():
    run = Run("right", Greeting("right", "", "C", "PV", UNITS["utf-8"], ""))

    def told(*plans: str, giants: dict[str, float] | None = None) -> str:
        parts = [PlanRun(plan, "", NOTHING) for plan in plans]
        swept: Any = SimpleNamespace(plans=parts, seconds=1.0, spared=giants or {}, jobs=1)
        run.swept = swept
        return left_out(run, 1e-6)

    assert told(*DEEP.plans) == ""
    assert told(*FULL.plans, "drawn-1").startswith("depth-2 (910 M strings, about ")
    assert re.search(r": --for \d+m$", told(*FULL.plans))
    assert told("depth-1") == "", "plans that a user chose are no tier"
    assert told("depth-1", giants={"giant-32": 36.4}) == "giant-32 (about 36 s): --plan giant-32"
    run.swept = None
    assert left_out(run, 1e-6, "Linux only").startswith("giant-32 (Linux only); ")


def test_tiers_are_fixed_lists_and_each_has_more_than_the_next():
    sizes = [tier.size(Profile()) for tier in STEPS.values()]
    assert sizes == sorted(sizes, reverse=True)
    assert all(tier_of(tier.plans) is tier for tier in STEPS.values())
    assert [*TIERS] == ["full", "usual", "brief"]
    assert short_of_usual(LEAST.plans) == "2 plans swept"
    assert tier_of(["depth-1"]) is None


@pytest.mark.usefixtures("few")
def test_a_tier_is_chosen_by_its_name(tmp_path):
    words = ["certify", "--tier", "brief", "-o", str(tmp_path), "cpython"]
    result = CliRunner().invoke(cli, [*words, "-v"])
    assert result.exit_code == 0, result.output
    assert "swept · tier brief" in result.output
    for other in (["--no-sweeps"], ["--plan", "depth-1"]):
        assert CliRunner().invoke(cli, [*words, *other]).exit_code == 2


def test_a_sweep_that_cannot_be_leaves_what_the_suites_showed(tmp_path):
    module = tmp_path / "encoder.py"
    module.write_text("class Only:\n    operations = {'E': lambda many: [b'' for _ in many]}\nonly = Only()\n")
    run = certify(f"py:{Path(module)}:only", plans=["exhaustive-1"], suites=["encoder-edges"]).run
    assert "a sweep tests D or V" in run.incomplete
    assert run.suites


def test_a_ledger_that_cannot_be_written_leaves_what_the_suites_showed(monkeypatch):
    def fail(ledger, _entry):
        raise LedgerError(f"{ledger.path}: the disk is full")

    monkeypatch.setattr(Ledger, "add", fail)
    run = certify("cpython", plans=["exhaustive-1"], suites=["core"]).run
    assert run.incomplete.endswith("sweep.sqlite: the disk is full")
    assert run.suites


def test_what_is_refused_behind_what_is_accepted_has_no_wrong_offset():
    certificate = certify("cpython-surrogatepass", suites=["core"], plans=["depth-0"])
    run = certificate.run
    causes = [bucket.cause for bucket in swept(certificate).buckets if bucket.finding.code == "OV301"]
    assert {cause.code for cause in causes if cause is not None} == {"OV202"}
    assert None not in causes
    assert run.claims["error position"] == "holds"
    assert {code for code, _ in run.buckets} == {"OV202"}
