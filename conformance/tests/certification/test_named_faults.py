"""Wrong decoders that once got a certificate: now each is refused by default, and right ones are not."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from overlong.conformance import certify
from overlong.conformance.certification.tiers import LEAN, USUAL
from overlong.reference import dialect

pytestmark = pytest.mark.long

SOURCE = """
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef const uint8_t *text;
static const uint8_t table[][256] = {%(rows)s};
enum { START, DEAD };

static int after(int state, text octets, size_t length) {
    for (size_t i = 0; i < length; i++) state = table[state][octets[i]];
    return state;
}
bool right(text octets, size_t length) { return after(START, octets, length) == START; }

bool accepts_all_from_1100(text octets, size_t length) { return length >= 1100 || right(octets, length); }

bool tail_3f_after_ee(text octets, size_t length) {
    int state = START;
    for (size_t i = 0; i < length; i++) {
        bool third = i > 1 && octets[i - 2] == 0xEE && state > DEAD && octets[i] == 0x3F;
        state = table[state][third ? 0xBF : octets[i]];
    }
    return state == START;
}

bool surrogate_after_f3(text octets, size_t length) {
    int state = START;
    for (size_t i = 0; i < length; i++) {
        bool behind = i > 4 && octets[i - 1] == 0xED && octets[i - 5] == 0xF3;
        bool let_through = behind && state > DEAD && octets[i] >> 5 == 5;
        state = table[state][let_through ? 0x80 : octets[i]];
    }
    return state == START;
}

/* Everything after them counts as right, even the rest of a character that they cut. */
bool reads_only_65535(text octets, size_t length) {
    return length <= 65535 ? right(octets, length) : after(START, octets, 65535) != DEAD;
}

bool cached_by_length_and_first_16(text octets, size_t length) {
    static struct { uint8_t first[16]; size_t length; bool known, answer; } cache[256], *kept;
    size_t many = length < 16 ? length : 16, place = length;
    for (size_t i = 0; i < many; i++) place = place * 31 + octets[i];
    kept = &cache[place %% 256];
    if (!kept->known || kept->length != length || memcmp(kept->first, octets, many)) {
        memcpy(kept->first, octets, many);
        kept->length = length, kept->known = true, kept->answer = right(octets, length);
    }
    return kept->answer;
}
"""
COMPILED = {
    "accepts_all_from_1100": "offsets-128",
    "surrogate_after_f3": "after-3",
    "reads_only_65535": "far-17",
    "cached_by_length_and_first_16": "leads",
}
"""A plan that finds each, from the tier of functions even with ``--quick``; ``full`` has at least this plan."""


def right(octets: bytes) -> str:
    return octets.decode()


def accepts_six_octets(octets: bytes) -> str:
    """It sees a whole character, and so misses one that the end truncates (first found in Go)."""
    return "\U00010000" if octets == b"\xf0\x90\x80\x80\xed\x80" else octets.decode()


def drops_a_tail_behind_40(octets: bytes) -> str:
    return (octets[:-2] if len(octets) >= 42 and octets.endswith(b"\xf0\x9f") else octets).decode()


def nul_of_c0_0a(octets: bytes) -> str:
    """ftfy's ``utf-8-variants``: its pattern for C0 80 takes any character after C0."""
    return re.sub(b"\xc0\n", b"\0", octets).decode()


CALLED = {accepts_six_octets: "after-1", drops_a_tail_behind_40: "transitions-1", nul_of_c0_0a: "exhaustive-2"}


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    folder = tmp_path_factory.mktemp("named")
    rows = ", ".join("{" + ", ".join(map(str, row)) + "}" for row in dialect().automaton.table)
    (folder / "lib.c").write_text(SOURCE % {"rows": rows})
    subprocess.run(["gcc", "-O2", "-shared", "-fPIC", "-o", "lib.so", "lib.c"], cwd=folder, check=True)
    return folder / "lib.so"


def so(library, function):
    return f"so:{library}:{function}?abi=bool(ptr,len)"


def conformant(target, plans):
    run = certify(target, suites=["core"], sweeps=sorted(plans), usual=False).run
    assert not run.incomplete
    assert run.swept is not None
    return run.conformant


compiled = pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is not installed: apt install gcc")


@compiled
@pytest.mark.parametrize("function", COMPILED)
def test_a_wrong_function_of_a_library_is_refused(library, function):
    assert COMPILED[function] in USUAL.plans
    assert not conformant(so(library, function), {COMPILED[function]})


@compiled
def test_the_whole_of_a_default_certificate_refuses_one_of_them(library):
    run = certify(so(library, "tail_3f_after_ee")).run
    assert run.claims["verdict"] == "fails"
    assert {bucket.example.vector.octets for bucket in run.buckets.values()} == {b"\xee\x80\x3f"}


@compiled
def test_the_right_function_passes_the_same_plans(library):
    assert conformant(so(library, "right"), set(COMPILED.values()))


@pytest.mark.parametrize("function", CALLED)
def test_a_wrong_callable_of_python_is_refused(function):
    assert CALLED[function] in LEAN.plans
    assert CALLED[function].partition("-")[0] in {name.partition("-")[0] for name in USUAL.plans}
    assert not conformant(f"py:{Path(__file__)}:{function.__name__}", {CALLED[function]})


def test_the_right_callable_of_python_passes_the_same_plans():
    assert conformant(f"py:{Path(__file__)}:right", set(CALLED.values()))
