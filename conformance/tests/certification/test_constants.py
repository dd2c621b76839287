"""Numbers that the code of a decoder names: how they are found, and what a certificate asks around them."""

import shutil
import subprocess
from pathlib import Path

import pytest
from click.testing import CliRunner

from overlong.conformance import certify
from overlong.conformance.certification import sweeps as certifying
from overlong.conformance.certification.tiers import Tier, constants_of
from overlong.conformance.cli.verbs import cli
from overlong.conformance.protocol.greeting import Greeting
from overlong.conformance.protocol.wire import ProtocolError
from overlong.conformance.report.terminal import summary
from overlong.conformance.results.results_file import report_of_run
from overlong.conformance.sweep.plan import plan_named
from overlong.conformance.targets.adapters import facts
from overlong.conformance.targets.adapters.python import load
from overlong.conformance.targets.commands import constants_of as numbers_of
from overlong.conformance.targets.elf import Elf
from overlong.conformance.targets.framed import FramedTarget
from overlong.conformance.targets.resolve import resolve

DECODERS = """
import other_package

LIMIT, UNUSED, TABLE = 7000, 7001, tuple(range(300, 400))

def right(octets):
    try:
        octets.decode()
    except UnicodeDecodeError:
        return False
    return True

def fast(octets):
    if len(octets) > 1100:
        return right(octets)
    return right(octets)

def seam(octets):
    if len(octets) > 1100:
        return right(octets[:1100]) and right(octets[1100:])
    return right(octets)

def dear(octets):
    return right(octets) if len(octets) > 1_000_000 else right(octets)

def helper(octets, most=4001):
    some = [each for each in octets if each < 9999 and TABLE[each] not in (512, 513)]
    return some or LIMIT or other_package.NUMBER or b"\\0" * 777

class Decoder:
    SIZE = 2500

    def decode(self, data, final=False):
        return helper(data) if len(data) > 1 << 12 else str(data)
"""
C = """
#include <stdbool.h>
#include <stddef.h>
static const unsigned char table[][256] = {%s};
static const bool accepting[] = {%s};
static __attribute__((noinline)) bool walk(const unsigned char *octets, size_t length, size_t skipped) {
    int state = 0;
    for (size_t i = 0; i < length; i++) if (i != skipped) state = table[state][octets[i]];
    return accepting[state];
}
bool right(const unsigned char *octets, size_t length) { return walk(octets, length, length); }
bool wrong(const unsigned char *octets, size_t length) {
    return length > 3000 && octets[2999] == 0xFF ? walk(octets, length, 2999) : walk(octets, length, length);
}
"""


@pytest.fixture
def decoders(tmp_path, monkeypatch):
    (tmp_path / "other_package.py").write_text("NUMBER = 8000\n")
    (tmp_path / "decoders.py").write_text(DECODERS)
    monkeypatch.chdir(tmp_path)
    return tmp_path / "decoders.py"


@pytest.fixture
def few(monkeypatch):
    """A small suite and the smallest tier: this file tests what is asked in addition."""
    from overlong.conformance.certification import certify as certification
    from overlong.conformance.vectors.suites import SUITES

    monkeypatch.setattr(certification, "SUITES", {"core": SUITES["core"]})
    for name in ("FULL", "LEAST"):
        monkeypatch.setattr(certifying, name, Tier(name.lower(), ("exhaustive-1",), ""), raising=False)
    monkeypatch.setattr(certifying, "STEPS", {"least": Tier("least", ("exhaustive-1",), "")})
    monkeypatch.setattr(certifying, "_each", lambda *_: 1e-6)  # so small a suite tells no rate


def asked(certificate):
    """The plans that it was swept with."""
    assert certificate.run.swept is not None
    return [part.plan for part in certificate.run.swept.plans]


def test_the_numbers_of_a_callable_are_those_of_its_own_code(decoders):
    found = {name: facts.constants_of(load("./decoders.py", name)) for name in ("right", "seam", "helper", "Decoder")}
    assert found["right"] == []
    assert found["seam"] == [1100]
    assert found["helper"] == [512, 513, 777, 4001, 7000, 9999]
    assert found["Decoder"] == [512, 513, 777, 2500, 4001, 4096, 7000, 9999]
    assert facts.constants_of(bytes.decode) == []


def test_the_plan_puts_errors_and_characters_around_the_number():
    strings = {grid.string(index) for grid in plan_named("constant-100").grids for index in range(grid.size)}
    for offset in range(96, 102):
        assert {b"@" * offset + piece for piece in (b"\xff", b"\xed\xa0\x80", "\u0460".encode())} <= strings
        assert b"\xff" + b"@" * offset in strings
    assert {len(string) for string in strings if string.count(b"@") == len(string)} >= {99, 100, 101}
    assert "\u0460".encode() * 100 + b"\xff" in strings, "a hundred characters"
    assert b"@" * 97 + "\U00028820".encode() + b"@" * 100 in strings, "a number of octets after, too"


@pytest.mark.long
@pytest.mark.usefixtures("few")
def test_a_seam_at_a_number_of_the_code_is_found(decoders):
    certificate = certify("py:./decoders.py:seam")
    assert not certificate.run.conformant
    examples = [bucket.example for bucket in certificate.run.buckets.values() if bucket.example.code == "OV101"]
    assert any(1100 < len(example.vector.octets) < 1105 for example in examples)


@pytest.mark.usefixtures("few")
def test_a_certificate_names_the_numbers_and_its_command_repeats_them(decoders, monkeypatch):
    right = certify("py:./decoders.py:fast")
    plans = asked(right)
    assert right.run.conformant
    assert plans[0] == "constant-1100"
    assert "--plan constant-1100" in right.command
    again = certify("py:./decoders.py:fast", plans=right.invocation.plans)
    assert again.to_json() == right.to_json(), "its command names the number: the same octets"
    monkeypatch.setattr("overlong.conformance.report.terminal.tier_of", lambda _: Tier("least", (), ""))
    lines = summary(report_of_run(right), right, width=200, encoding="utf-8", every=True)
    assert " · constants 1 100" in " ".join(lines).replace("\xa0", " ")


@pytest.mark.usefixtures("few")
def test_a_number_that_would_take_too_long_is_in_a_note(decoders):
    dear = certify("py:./decoders.py:dear")
    assert constants_of(asked(dear)) == ()
    assert any(note.startswith("not tested around these numbers of its code: 1000000") for note in dear.run.notes)


def test_a_number_may_be_named_on_the_command_line(decoders):
    run = CliRunner()
    swept = run.invoke(cli, ["sweep", "--plan", "exhaustive-1", "--plan", "constant-1100", "py:./decoders.py:seam"])
    assert swept.exit_code == 1, swept.output
    assert "constant-1100" in swept.output
    refused = run.invoke(cli, ["certify", "--plan", "constant-2", "py:./decoders.py:seam"])
    assert refused.exit_code == 2
    assert "write a number from 3 to 1048576" in refused.output


def test_a_greeting_may_name_numbers():
    line = b'{"overlong": 1, "name": "", "operations": "PV", "constants": %s}'
    assert Greeting.parse(line % b"[3000, 9, 9]").constants == (9, 3000)
    assert Greeting.parse(line % b"[3000]") == Greeting.parse(line % b"[3001]"), "a restart may draw others"
    for wrong in (b'"9"', b'["9"]', b"[true]", b"[1.5]", b"9"):
        with pytest.raises(ProtocolError, match='"constants" in its greeting is not a list of integers'):
            Greeting.parse(line % wrong)


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    from overlong.reference import dialect

    if shutil.which("gcc") is None:
        pytest.skip("gcc is not installed: apt install gcc")
    folder, automaton = tmp_path_factory.mktemp("constants"), dialect().automaton
    rows = ", ".join("{" + ", ".join(map(str, row)) + "}" for row in automaton.table)
    (folder / "lib.c").write_text(C % (rows, ", ".join(str(int(each)) for each in automaton.accepting)))
    subprocess.run(["gcc", "-O2", "-s", "-shared", "-fPIC", "-o", "lib.so", "lib.c"], cwd=folder, check=True)
    return folder / "lib.so"


def test_a_symbol_is_found_where_the_loader_finds_it(library):
    with library.open("rb") as file:
        elf = Elf(file.fileno())
        said = subprocess.run(["nm", "-D", library], capture_output=True, check=True, text=True).stdout
        for name in ("right", "wrong"):
            assert elf.symbol(name) == next(int(line[:16], 16) for line in said.splitlines() if line.endswith(name))
        assert elf.symbol("walk") is elf.symbol("") is None
    with Path(__file__).open("rb") as file, pytest.raises(ValueError, match="no ELF file"):
        Elf(file.fileno())


@pytest.mark.long
@pytest.mark.usefixtures("few")
def test_a_number_in_a_librarys_code_is_found_and_asked_around(library):
    pytest.importorskip("capstone")
    name = f"so:{library}:%s?abi=bool(ptr,len)"
    wrong, right = resolve(name % "wrong"), resolve(name % "right")
    assert isinstance(wrong, FramedTarget)
    assert isinstance(right, FramedTarget)
    assert 3000 in numbers_of(wrong)
    assert all(number < 256 for number in numbers_of(right))
    certificate = certify(name % "wrong")
    (bucket,) = certificate.run.buckets.values()
    assert bucket.example.vector.octets[2999] == 0xFF
    assert certify(name % "right").run.conformant


@pytest.mark.long
def test_a_threshold_of_a_library_is_asked_around_if_the_user_names_it(library, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    for function, status in (("wrong", 1), ("right", 0)):
        words = [
            "sweep",
            "--plan",
            "exhaustive-1",
            "--plan",
            "constant-3000",
            f"so:{library}:{function}?abi=bool(ptr,len)",
        ]
        assert CliRunner().invoke(cli, words).exit_code == status
