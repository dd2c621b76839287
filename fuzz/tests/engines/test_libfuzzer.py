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

pytestmark = pytest.mark.long

RIGHT = r"""
#include <stddef.h>
#include <string.h>
static ptrdiff_t wrong_at(const unsigned char *s, size_t n, int surrogates) {
  for (size_t i = 0, k; i < n; i += k) {
    unsigned c = s[i];
    k = c < 0x80 ? 1 : c < 0xC2 ? 0 : c < 0xE0 ? 2 : c < 0xF0 ? 3 : c < 0xF5 ? 4 : 0;
    if (!k || n - i < k) return (ptrdiff_t)i;
    for (size_t j = 1; j < k; j++) if ((s[i + j] & 0xC0) != 0x80) return (ptrdiff_t)i;
    if ((c == 0xE0 && s[i + 1] < 0xA0) || (c == 0xF0 && s[i + 1] < 0x90) || (c == 0xF4 && s[i + 1] > 0x8F) ||
        (c == 0xED && s[i + 1] > 0x9F && !surrogates)) return (ptrdiff_t)i;
  }
  return -1;
}
ptrdiff_t right(const char *s, size_t n) { return wrong_at((const void *)s, n, 0); }
_Bool surrogates_pass(const char *s, size_t n) { return wrong_at((const void *)s, n, 1) < 0; }
ptrdiff_t copies(const char *s, size_t n, char *out, size_t room) {
  if (room < n || wrong_at((const void *)s, n, 0) >= 0) return -1;
  memcpy(out, s, n);
  return (ptrdiff_t)n;
}
"""
CLANG = shutil.which("clang++") or ""
needs_clang = pytest.mark.skipif(not CLANG, reason="clang++ is not on PATH; Debian: clang, libclang-rt-14-dev")


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """Build a harness for some functions."""
    folder = tmp_path_factory.mktemp("libfuzzer")
    (folder / "lib.c").write_text(RIGHT)
    subprocess.run(["clang", "-O1", "-shared", "-fPIC", "lib.c", "-o", "lib.so"], cwd=folder, check=True)

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
    right = built("right?abi=errpos-or-minus1(ptr,len)", "copies?abi=utf8(ptr,len,out,cap)")(30_000)
    assert right.returncode == 0, right.stderr[-2000:]
    wrong = built("right?abi=errpos-or-minus1(ptr,len)", "surrogates_pass?abi=bool(ptr,len)")(200_000)
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
