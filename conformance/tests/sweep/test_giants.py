"""Giant strings: what is expected of them, the memory that they lie in, what is said of functions that count too short.

The functions here read the two ends of a string, and no letter between: each call is as cheap as one of a short string.
"""

import ctypes
import json
import os
import shutil
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from importlib.resources import files
from pathlib import Path

import jsonschema
import pytest

from overlong.conformance import Invocation, TargetError, certify
from overlong.conformance.certification import certify as certification
from overlong.conformance.certification import sweeps as certifying
from overlong.conformance.certification.tiers import GIANTS, STEPS, Tier
from overlong.conformance.protocol.observation import Crashed, Refused
from overlong.conformance.results.sweeps import Shard, ShardResult
from overlong.conformance.sweep import schemes as drawing
from overlong.conformance.sweep.giants import BLOCK, Text, expected_offset
from overlong.conformance.sweep.grid import account
from overlong.conformance.sweep.plan import plan_named
from overlong.conformance.sweep.sweep import giant_rate, sweep
from overlong.conformance.vectors.suites import SUITES
from overlong.conformance.vectors.vector import Profile, Vector
from overlong.reference import Rejected
from overlong.reference.core import why_not
from zoo import SHARED_LIBRARIES

linux = pytest.mark.skipif(sys.platform != "linux", reason="Linux only")
asked = pytest.mark.skipif(bool(why_not()) or shutil.which("cc") is None, reason=why_not() or "no C compiler on PATH")

SOURCE = r"""
#include "right.c"

enum { END = 1 << 12 };
size_t of_ends(const uint8_t *s, size_t n) {
  if (n < 3 * END) return errpos(s, n);
  size_t at = errpos(s, END);
  return at < END ? at : n - END + errpos(s + n - END, END);
}
bool right(const uint8_t *s, size_t n) { return of_ends(s, n) == n; }
bool right_string(const uint8_t *s) {
  size_t n = 0;
  if (s[0] == 'a') while (s[n] == 'a') n += END;  /* to a page that is not all letters */
  while (n && s[n - 1] != 'a') n--;
  while (s[n]) n++;
  return right(s, n);
}

bool int_length(const uint8_t *s, size_t n) { int m = (int)n; return m < 0 || right(s, (size_t)m); }
bool uint_length(const uint8_t *s, size_t n) { return right(s, (uint32_t)n); }
bool refuses_negative(const uint8_t *s, size_t n) { int m = (int)n; return m >= 0 && right(s, (size_t)m); }
bool int_rest(const uint8_t *s, size_t n) { return (n && s[0] >= 0xF0 && (int)n < 4) ? false : right(s, n); }
bool int_index(const uint8_t *s, size_t n) {
  return n > 1u << 31 ? ((volatile const uint8_t *)s)[(ptrdiff_t)INT32_MIN] < 0x80 : right(s, n);
}
size_t int_offset(const uint8_t *s, size_t n) { size_t at = of_ends(s, n); return at == n ? n : (size_t)(int)at; }
size_t uint_offset(const uint8_t *s, size_t n) { size_t at = of_ends(s, n); return at == n ? n : (uint32_t)at; }
bool takes_all(const uint8_t *s, size_t n) { return s || n; }
bool from_24(const uint8_t *s, size_t n) { return n > 1 << 24 || right(s, n); }
int32_t text(const uint8_t *s, size_t n, void *out, size_t room) { return right(s, n) ? (int32_t)n : -1; }
"""
BOOL, ERRPOS = "bool(ptr,len)", "errpos(ptr,len)"


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    folder = tmp_path_factory.mktemp("giants")
    (folder / "lib.c").write_text(SOURCE)
    subprocess.run(
        ["cc", "-O2", "-shared", "-fPIC", f"-I{SHARED_LIBRARIES}", "-o", "lib.so", "lib.c"], cwd=folder, check=True
    )
    return lambda function, abi=BOOL: f"so:{folder / 'lib.so'}:{function}?abi={abi}"


@pytest.mark.parametrize("speaks", ["rfc3629", "cesu-8", "wtf-8"])
@pytest.mark.parametrize("between", [1, 70])
def test_the_answer_to_a_giant_is_that_of_the_reference_for_fewer_letters(speaks, between):
    profile = Profile(speaks)
    automaton = profile.dialect.automaton
    kinds = Counter[bool]()
    for giant in plan_named("giant", profile).grids:
        grid = replace(giant, between=between)
        strings = list[bytes]()
        for index in range(grid.size):
            head, *tail = grid.pieces(index)
            strings.append(octets := head + b"a" * between + b"".join(tail))
            right = Vector("giant", octets, profile=profile).strict
            assert automaton.accepts(grid.string(index)) != isinstance(right, Rejected)
            offset = right.offset if isinstance(right, Rejected) else len(octets)
            assert expected_offset(grid, index, automaton) == offset
            assert expected_offset(giant, index, automaton) - offset in (0, giant.between - between)
            kinds[isinstance(right, Rejected)] += 1
        well_formed = sum(map(automaton.accepts, strings))
        assert account(grid, automaton) == (len(strings), sum(map(len, strings)), well_formed)
        assert grid.octets == sum(map(len, strings))
    assert min(kinds[True], kinds[False]) > 8


def test_a_length_of_32_bits_hides_the_error_and_is_small():
    for power in (31, 32):
        grids = [grid for grid in plan_named("giant").grids if grid.longest.bit_length() - 1 == power]
        assert len(grids) == 3
        for grid in grids:
            for index in range(grid.size):
                length = len(grid.string(index)) + grid.between
                assert 1 <= length - (1 << power) < 130
                assert length - (1 << power) < expected_offset(grid, index, Profile().dialect.automaton)
    assert plan_named("giant-24").octets < 1 << 29


@linux
def test_memory_holds_the_string_among_letters_that_are_there_once():
    text = Text(3 * BLOCK)
    try:
        for head, letters, tail in (
            (b"\xf0\x9f\x98\x80", 5, b"\xff"),
            (b"", BLOCK - mmap_page(), b"a\xc0\xaf"),  # it ends at the end of a block
            (b"b" * 5000, 2 * BLOCK - 5001, b"a" * 5000),
            (b"", 2 * BLOCK + 77, b""),
        ):
            whole = head + b"a" * letters + tail
            address = text.placed(head, letters, tail, b"\x80", b"\0")
            assert ctypes.string_at(address - 1, len(whole) + 101) == b"\x80" + whole + bytes(100)
        assert resident("Private_Dirty", address) < 1 << 16
    finally:
        text.close()


def mmap_page():
    return os.sysconf("SC_PAGE_SIZE")


def resident(sort, address):
    """The octets of that sort in the mappings around an address."""
    total, inside = 0, False
    with Path("/proc/self/smaps").open() as lines:
        for line in lines:
            words = line.split()
            if "-" in words[0]:
                inside = "overlong-text" in line
            elif inside and words[0] == f"{sort}:":
                total += int(words[1]) << 10
    assert address
    return total


@linux
def test_a_system_without_so_many_addresses_is_told_apart_from_a_fault():
    program = (
        "import resource; from overlong.conformance.sweep.giants import why_none; "
        "resource.setrlimit(resource.RLIMIT_AS, (1 << 31, 1 << 31)); print(why_none())"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert "of addresses (Cannot allocate memory): see ulimit -v" in done.stdout


def test_a_target_that_cannot_be_asked_is_told_why():
    with pytest.raises(TargetError, match="giant-32 cannot be tested: it is no function of a shared library"):
        sweep("cpython", ["giant"])
    with pytest.raises(TargetError, match="giant-32 cannot be tested"):
        certify("cpython", suites=["core"], plans=["giant"])


FAULTS = {
    "int_length": "reads the length as a number of 32 bits with a sign",
    "uint_length": "reads only the length modulo 2^32",
    "refuses_negative": "refuses well-formed text from 2^31 octets of text on; accepts errors from 2^32 octets of "
    "text on",
    "int_rest": "refuses well-formed text from 2^31 octets of text on",
    "int_index": "crashes from 2^31 octets of text on",
    "int_offset": "reports places that the string does not have from 2^31 octets of text on; reports another "
    "offset from 2^32 octets of text on",
    "uint_offset": "reports another offset from 2^32 octets of text on",
    "from_24": "accepts errors from 2^24 octets of text on",
}


@linux
@asked
@pytest.mark.long
@pytest.mark.parametrize("function", FAULTS)
def test_a_fault_is_one_bucket_with_a_sentence(library, function, tmp_path):
    name = library(function, ERRPOS if function.endswith("offset") else BOOL)
    run = sweep(name, ["giant"], output=tmp_path, jobs=2)
    (bucket,) = run.buckets
    assert bucket.words == FAULTS[function]
    finding = bucket.finding
    assert (finding.code, finding.claim) == ("OV608", "error position" if function == "uint_offset" else "verdict")
    assert bucket.found.count == sum(part.divergences for part in run.plans)
    assert len(finding.vector.octets) < 300, "nothing makes such a string"
    if function == "uint_offset":
        assert isinstance(finding.expected, Rejected)
        assert finding.expected.offset == (1 << 32) + 1
        assert finding.observed == Refused(1)
        assert "4 294 967 296 letters stand before it" in finding.observed_words
    if function == "int_index":
        assert isinstance(finding.observed, Crashed)
    assert not run.wrong
    assert not run.incomplete
    schema = json.loads((files("overlong.conformance") / "schemas" / "results-1.schema.json").read_text("ascii"))
    jsonschema.Draft202012Validator(schema).validate(json.loads((tmp_path / "sweep.json").read_text("ascii")))


@linux
@asked
@pytest.mark.long
def test_a_right_function_is_not_accused(library):
    for name in (library("right"), library("of_ends", ERRPOS), library("right_string", "bool(string)")):
        run = sweep(name, ["giant"])
        assert run.conformant
        assert run.plans[0].seen == run.plans[0].expected
        assert run.plans[0].seen.octets > 30 << 30
    with pytest.raises(TargetError, match="it outputs text"):
        sweep(library("text", "utf8(ptr,len,out,cap)"), ["giant"])


@linux
@asked
@pytest.mark.long
def test_what_is_wrong_without_the_letters_is_no_matter_of_length(library):
    run = sweep(library("takes_all"), ["exhaustive-1", "giant-24"])
    assert "OV608" not in {bucket.finding.code for bucket in run.buckets}
    assert {bucket.plan for bucket in run.buckets} == {"exhaustive-1", "giant-24"}


SHORT = Tier("full", ("exhaustive-2",), "")
ONE_GRID = (drawing._TEXTS, drawing._PIECES, drawing._TEXTS_BETWEEN, drawing._TEXTS_BEHIND), 1
"""The defaults of what draws a plan, with one grid in place of 64: a change of ``GRIDS`` comes too late for them."""


@linux
@asked
@pytest.mark.long
@pytest.mark.parametrize("seconds", [0.0, 1e9])
def test_certify_asks_a_fast_function_and_tells_the_price_to_a_slow_one(library, seconds, monkeypatch):
    monkeypatch.setattr(certification, "SUITES", {name: SUITES[name] for name in ("core",)})
    monkeypatch.setattr(drawing._drawn, "__defaults__", ONE_GRID)
    monkeypatch.setattr(certifying, "FULL", SHORT)
    monkeypatch.setitem(STEPS, "full", SHORT)
    monkeypatch.setattr(certifying, "GIANTS_TAKE", seconds)
    plan_named.cache_clear()
    certificate = certify(Invocation(library("uint_length"), budget=None if seconds else 30))
    run = certificate.run
    assert run.swept is not None
    asked = [part.plan for part in run.swept.plans]
    if seconds:
        assert asked[:3] == ["exhaustive-2", *GIANTS]
        (bucket,) = run.ordered_buckets
        assert bucket.example.vector.comment == FAULTS["uint_length"]
        (told,) = certificate.statement["predicate"]["overlong"]["buckets"]
        assert told["reproduce"].startswith("overlong sweep --plan giant-32 ")
    else:
        assert GIANTS[0] in asked
        assert GIANTS[1] not in asked
        assert run.conformant
        assert run.left_out.startswith("giant-32 (about ")
        assert "--plan giant-24" in certificate.command, "a budget names what was asked"
        assert "giant-32" not in certificate.command
    plan_named.cache_clear()


def test_the_least_time_for_an_octet_is_the_rate():
    plan, rate = plan_named("giant-24"), 0.0
    for seconds in (0.004, 0.002, 0.3):
        rate = giant_rate(plan, ShardResult(Shard("giant-24", 0, 0, 1), 1, 1 << 24, 0, 0, 0, seconds=seconds), rate)
    assert rate == pytest.approx(0.002 / (1 << 24))
    few = ShardResult(Shard("giant-24", 2, 0, 1), 1, 1 << 24, 0, 0, 0, seconds=1e-9)
    assert giant_rate(plan, few, rate) == rate, "an error early in it: it measures the call"
    assert giant_rate(plan_named("exhaustive-2"), few, rate) == rate
