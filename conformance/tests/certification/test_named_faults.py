"""Wrong decoders that once got a certificate: now each is refused by default, and right ones are not."""

import shutil
import subprocess

import pytest

from overlong.conformance import certify
from overlong.conformance.certification.tiers import FULL, LEAN, USUAL
from overlong.reference import dialect
from zoo import ZOO
from zoo.named_faults import CALLED, COMPILED, SOURCE

pytestmark = [pytest.mark.long, pytest.mark.usefixtures("unexamined")]


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
    run = certify(target, suites=["core"], plans=sorted(plans), tier="none").run
    assert not run.incomplete
    assert run.swept is not None
    return run.conformant


compiled = pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is not installed: apt install gcc")


@compiled
@pytest.mark.parametrize("function", COMPILED)
def test_a_wrong_function_of_a_library_is_refused(library, function):
    assert COMPILED[function] in {*USUAL.plans, *FULL.plans}
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
    assert not conformant(f"py:{ZOO}/named_faults.py:{function}", {CALLED[function]})


def test_the_right_callable_of_python_passes_the_same_plans():
    assert conformant(f"py:{ZOO}/named_faults.py:right", set(CALLED.values()))
