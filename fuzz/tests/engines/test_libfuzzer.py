"""The harness for libFuzzer: its tables are the reference's, it builds, and it finds planted bugs."""

import re
import shutil
import subprocess
from itertools import product

import pytest

from overlong.conformance.oracle.target import TargetError
from overlong.conformance.targets.adapters.abi import ABIS
from overlong.fuzz.engines.libfuzzer import divergence_of, flaws, harness
from overlong.fuzz.strategies import first_defect
from overlong.reference import dialect
from overlong.reference.order import well_formed_products
from waiting import HUNG
from zoo import SHARED_LIBRARIES

pytestmark = pytest.mark.long

LIBRARY = """
#include "right.c"
bool surrogates_pass(const uint8_t *s, size_t n) {
  uint8_t copy[n + 1];
  for (size_t k = 0; k < n; k++) copy[k] = k && s[k - 1] == 0xED && s[k] > 0x9F && s[k] < 0xC0 ? s[k] - 0x20 : s[k];
  return is_bool(copy, n);
}
"""
CLANG = shutil.which("clang++") or ""
needs_clang = pytest.mark.skipif(not CLANG, reason="clang++ is not on PATH; Debian: clang, libclang-rt-14-dev")


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """Build a harness for some functions."""
    folder = tmp_path_factory.mktemp("libfuzzer")
    (folder / "lib.c").write_text(LIBRARY)
    subprocess.run(
        ["clang", "-O1", "-shared", "-fPIC", f"-I{SHARED_LIBRARIES}", "lib.c", "-o", "lib.so"], cwd=folder, check=True
    )

    def build(*functions):
        (folder / "harness.cc").write_text(harness([f"so:./lib.so:{each}" for each in functions]))
        command = [CLANG, "-g", "-Werror", "-Wall", "-fsanitize=fuzzer,address", "harness.cc", "-ldl", "-o", "harness"]
        subprocess.run(command, cwd=folder, check=True)

        def run(runs, **libraries):
            return subprocess.run(
                ["./harness", f"-runs={runs}", "-seed=1", "-rss_limit_mb=0"],  # as in test_oss_fuzz.py
                cwd=folder, capture_output=True, text=True, errors="replace", timeout=HUNG, check=False,
            )  # fmt: skip

        return run

    return build


@needs_clang
def test_finds_a_planted_bug_and_nothing_before_it(built):
    right = built("minus1?abi=errpos-or-minus1(ptr,len)", "utf8?abi=utf8(ptr,len,out,cap)")(30_000)
    assert right.returncode == 0, right.stderr[-2000:]
    wrong = built("minus1?abi=errpos-or-minus1(ptr,len)", "surrogates_pass?abi=bool(ptr,len)")(200_000)
    assert wrong.returncode != 0
    assert re.search(r"#\d+ .* in overlong_divergence_OV202_ED_A0_BF\b", wrong.stderr)
    assert re.search(r"#\d+ .* in overlong_check_1_surrogates_pass\b", wrong.stderr)


def test_names_say_the_defect_wherever_the_state_is_reached():
    """A state of the automaton stands for several beginnings; the defect is the same for all of them."""
    automaton = dialect().automaton
    expected = {(state, octet): name for state, octets, name in flaws() for octet in octets or (None,)}
    checked = 0
    for ranges in well_formed_products(automaton):
        for length in range(len(ranges)):
            for word in map(bytes, product(*({each[0], each[-1]} for each in ranges[:length]))):
                state = automaton.run(word)
                if word:
                    assert expected[state, None].startswith(first_defect(word))
                for octet in range(0x100):
                    if automaton.table[state][octet] == automaton.dead:
                        assert expected[state, octet].startswith(first_defect(word + bytes([octet])))
                        checked += 1
    assert checked > 5000
    assert divergence_of(b"", range(0xC0, 0xC2)) == "OV201_C0_C1"
    assert divergence_of(b"\xe0") == "OV204_E0_end"


def test_every_way_to_call_a_whole_decoder_can_be_emitted():
    for abi in ABIS.values():
        if not abi.functions:
            assert "overlong_check_0_f" in harness([f"so:./lib.so:f?abi={abi.name}"])


@pytest.mark.parametrize(
    ("target", "why"),
    [
        ("py:json:loads", "--engine atheris"),
        ("cpython", "--engine"),
        ("so:./lib.so:f", "abi=NAME"),
        ("so:./lib.so:f?abi=py:a.py:f", "there are bool"),
        ("so:./lib.so:a,b,c,d?abi=stream-utf8(state,ptr,len,out,cap)", "does not call"),
    ],
)
def test_what_cpp_cannot_call_is_told(target, why):
    with pytest.raises(TargetError, match=why):
        harness([target])


def test_hostile_names_stay_text():
    source = harness(['so:./a"\\\n??/;.so:f\\?abi=bool(ptr,len)'])
    lines = [line for line in source.splitlines() if "abi=bool" in line]
    assert len(lines) == 2, "in the head and above the function"
    assert all(line.startswith("//") and not line.endswith(("\\", "??/")) for line in lines)
    assert 'a"' not in "".join(line for line in source.splitlines() if not line.startswith("//"))
