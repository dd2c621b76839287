"""The grammar engine: it finds and names faults, and accuses no right decoder, for every division of a campaign."""

import subprocess
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from overlong.conformance import Limits, TargetError
from overlong.conformance.oracle.target import CRASHED, KINDS, TIMED_OUT
from overlong.fuzz.campaign.pool import open_engine
from overlong.fuzz.engines.grammar import GrammarEngine
from overlong.fuzz.engines.job import CampaignJob
from overlong.fuzz.generated import ALL_HANGS, BLOCK, DEATHS, Generated
from overlong.reference.core import why_not
from zoo import SHARED_LIBRARIES, ZOO, known_wrong

MODULE = '''
import os


def dies(octets):
    if octets.endswith(b"\\xed\\xa0\\x80"):
        os.abort()
    return octets.decode()


seen = [0]


def counts(octets):
    """Wrong every seventh time."""
    seen[0] += 1
    if seen[0] % 7 == 0 and octets.isascii():
        return "?"
    return octets.decode()
'''


@pytest.fixture
def commit(tmp_path):
    """The results of units from one engine."""
    engines = []
    Path(tmp_path, "decoders.py").write_text(MODULE, "ascii")

    def run(*targets, units, **limits):
        names = tuple(
            each if ":" in each or each == "cpython" else f"py:{tmp_path}/decoders.py:{each}" for each in targets
        )
        engines.append(open_engine(CampaignJob(names, seed=5, limits=Limits(**limits))))
        assert isinstance(engines[-1], GrammarEngine)
        return [engines[-1].run(range(unit[0], sum(unit))) for unit in units]

    yield run
    for each in engines:
        each.close()


def wrong(*names):
    return [f"py:{ZOO}/known_wrong.py:{name}" for name in names]


def replacers(*names):
    return [f"py:{ZOO}/wrong_replacers.py:{name}" for name in names]


def test_what_is_wrong_is_found_and_named(commit):
    names = (
        "nul_in_two_octets",
        "surrogates",
        "truncated_at_the_end",
        "tails_end_at_be",
        "sixteen_bits",
        "offset_is_one_too_large",
        "more_input_always_helps",
        "EachChunkByItself",
    )
    (result,) = commit(*wrong(*names), units=[(0, BLOCK + 64)])
    for name, target in zip(names, wrong(*names), strict=True):
        found = {each.finding.code for each in result.divergences if each.target == target and not each.peer}
        assert found & known_wrong.WRONG[name], name
        assert found <= known_wrong.WRONG[name] | {"OV301", "OV503", "OV513"}, name
    assert {each.fingerprint for each in result.divergences} <= set(result.counts)
    assert result.executions == result.asked.total() >= BLOCK * len(names)
    assert {target for target, _ in result.asked} == set(wrong(*names))
    assert len(result.reached) > 100
    assert len(set(result.reached.values())) > 50


def summed(harvests):
    """The part of a result that does not depend on the division of a campaign."""
    first: dict[Any, Any] = {}
    for result in harvests:
        for each in result.divergences:
            first.setdefault(each.fingerprint, (each.index, each.finding))
    counts: Counter[Any] = sum((result.counts for result in harvests), Counter())
    reached = frozenset().union(*(result.reached for result in harvests))
    executions, octets = (sum(getattr(each, field) for each in harvests) for field in ("executions", "octets"))
    return first, counts, reached, executions, octets


@pytest.mark.long
def test_cut_anywhere_a_campaign_finds_the_same(commit):
    targets = wrong("surrogates", "EachChunkByItself")
    end = 3 * BLOCK + 50
    whole = commit(*targets, units=[(0, end)])
    parts = commit(*targets, units=[(0, BLOCK), (BLOCK, 2 * BLOCK), (3 * BLOCK, 50)])
    assert summed(parts) == summed(whole)


def test_right_decoders_are_left_alone_and_where_they_differ_is_no_fault(commit):
    (alone,) = commit("cpython", units=[(4000, 3000)])
    assert (alone.divergences, alone.counts) == ((), Counter())
    both = replacers("right_replacement", "right_per_run")
    (result,) = commit(*both, *replacers("right_replacement"), units=[(0, 300)])
    assert result.divergences
    (each,) = result.divergences  # a habit is reported once; among targets that declare the same, the first is compared
    assert [each.target, each.peer] == both
    assert each.fingerprint.kind == "difference"
    assert each.finding.operation == "L"
    assert each.finding.observed.values != each.finding.expected.scalars
    assert result.counts[each.fingerprint] > 0


def test_a_target_that_dies_is_asked_on(commit):
    (result,) = commit("dies", units=[(0, 500)], restarts=1)
    assert {each.finding.code for each in result.divergences} == {"OV602"}
    assert all(each.finding.vector.octets.endswith(b"\xed\xa0\x80") for each in result.divergences)
    assert result.executions == 500
    assert not result.notes


@pytest.mark.long
@pytest.mark.skipif(bool(why_not()), reason=why_not() or "there is a core")
def test_dying_of_some_inputs_and_hanging_on_others_leaves_the_rest_to_its_own_process(commit, tmp_path):
    source, library = tmp_path / "fails.c", tmp_path / "fails.so"
    source.write_text(
        '#include <unistd.h>\n#include "right.c"\n'
        "static int has(const uint8_t *s, size_t n, uint8_t one, uint8_t other) {\n"
        "  for (size_t k = 1; k < n; k++) if (s[k - 1] == one && s[k] == other) return 1;\n"
        "  return 0;\n"
        "}\n"
        "size_t fails(const uint8_t *s, size_t n) {\n"
        "  if (has(s, n, 0xED, 0xA0)) __builtin_trap();\n"
        "  if (has(s, n, 0xC0, 0x80)) for (;;) pause();\n"
        "  return has(s, n, 0xF4, 0x90) ? n : errpos(s, n);\n"
        "}\n"
    )
    subprocess.run(["cc", "-O2", "-shared", "-fPIC", f"-I{SHARED_LIBRARIES}", source, "-o", library], check=True)
    (result,) = commit(f"so:{library}:fails?abi=errpos(ptr,len)", units=[(BLOCK, BLOCK)], timeout=1.0)
    inputs = map(Generated(5).string, range(BLOCK, 2 * BLOCK))
    failing = [each for each in inputs if b"\xed\xa0" in each or b"\xc0\x80" in each]
    found = {"OV602": b"\xed\xa0", "OV603": b"\xc0\x80"}
    codes = {each.finding.code for each in result.divergences if each.finding.operation == "V"}
    assert {"OV205", *found} <= codes
    for each in result.divergences:
        assert found.get(each.finding.code, b"\xf4\x90") in each.finding.vector.octets
    (note,) = result.notes
    assert "not tested with every input" in note
    left_out = BLOCK - result.asked[result.divergences[0].target, "V"]
    assert len(failing) > 2 * ALL_HANGS
    assert 0 < left_out < len(failing) + BLOCK // 100
    failed = {each: count for each, count in result.counts.items() if each.kind in {KINDS[CRASHED], KINDS[TIMED_OUT]}}
    assert sum(failed.values()) <= 4 * DEATHS + ALL_HANGS


def test_what_depends_on_other_inputs_is_named_so(commit):
    (result,) = commit("counts", units=[(0, 1000)])
    codes = {each.finding.code for each in result.divergences if each.finding.operation == "D"}
    assert codes & {"OV605", "OV807"}
    assert codes <= {"OV605", "OV807", "OV102"}


def test_there_are_no_other_engines():
    with pytest.raises(TargetError, match=r"no engine 'no\\x1b'; there are grammar"):
        open_engine(CampaignJob(("cpython",), engine="no\x1b"))
