"""One process for each input: the meaning of a status, and endings that are no verdict."""

import os
import shlex
import sys

import pytest

from overlong.conformance import Limits, TargetError, certify
from overlong.conformance.certification import certify as certification
from overlong.conformance.oracle.target import UnknownTarget
from overlong.conformance.protocol.observation import Accepted, Failed, Refused, TimedOut
from overlong.conformance.targets.resolve import resolve
from overlong.conformance.vectors.batch import Batch
from overlong.conformance.vectors.vector import Vector

pytest.importorskip("posix", reason="programs are started as POSIX does")

RIGHT = """
import os, signal, sys, time
octets = sys.stdin.buffer.read()
out = sys.stdout.buffer
try:
    text = octets.decode()
except UnicodeDecodeError:
    sys.exit(1)
"""


@pytest.fixture
def program(tmp_path):
    """A command that runs these lines of Python after those of a right validator."""

    def make(lines, *arguments, before=RIGHT):
        path = tmp_path / "program.py"
        path.write_text(before + lines)
        return shlex.join([sys.executable, "-I", "-S", str(path), *arguments])

    return make


def observed(name, *inputs, timeout=5.0):
    """The target's answer to each input, and its greeting."""
    target = resolve(name, Limits(timeout=timeout))
    target.open()
    try:
        operation = target.greeting.operations[1]
        batch = Batch.of([Vector("input", octets) for octets in inputs])
        result = []
        for answered in target.observe([(batch, operation)]):
            said = list(answered.answers.observations(target.greeting.units, verdict_only=operation == "V"))
            result += [answered.faults.get(place, each) for place, each in enumerate(said)]
        return result, target.greeting
    finally:
        target.close()


def test_a_status_is_a_verdict_only_if_it_is_0_or_1(program):
    lines = """
if octets == b"two": print("it is two \\x1b[2J", file=sys.stderr); sys.exit(2)
if octets == b"segv": os.kill(os.getpid(), signal.SIGSEGV)
if octets == b"kill": os.kill(os.getpid(), signal.SIGKILL)
"""
    said, greeting = observed(f"cmd:{program(lines)}", b"a", b"\xff", b"two", b"segv", b"", b"kill", b"\x80", b"b")
    assert said[:2] == [Accepted(), Refused()]
    assert said[2] == Failed('exited with status 2; it said "it is two \\x1b[2J"')
    assert said[3] == Failed("was ended by SIGSEGV")
    assert said[4:] == [Accepted(), Failed("was ended by SIGKILL"), Refused(), Accepted()]
    assert greeting.operations == "PV"
    assert "slow" in greeting.traits


@pytest.mark.long
def test_answers_come_in_the_order_of_the_inputs(program):
    lines = "time.sleep(0.2 if octets == b'slow' else 0)\nsys.exit(octets.isdigit())"
    inputs = [b"slow", *(b"%d" % number if number % 3 else b"x" for number in range(20)), b"slow"]
    said, _ = observed(f"cmd:{program(lines)}", *inputs)
    assert said == [Refused() if octets.isdigit() else Accepted() for octets in inputs]


@pytest.mark.parametrize("units", ["utf-8", "utf-16", "utf-32"])
def test_output_is_judged_in_its_units(units, program):
    lines = f"out.write(text.encode('{units}' + ('' if '{units}' == 'utf-8' else '-be')))"
    said, greeting = observed(f"cmd[{units}]:{program(lines)}", b"\xe2\x82\xaca\xf0\x9f\x98\x80", b"", b"\xff")
    assert said[1:] == [Accepted(()), Refused()]
    expected = {"utf-16": (0x20AC, 0x61, 0xD83D, 0xDE00)}.get(units, (0x20AC, 0x61, 0x1F600))
    assert said[0] in (Accepted(expected), Accepted((0x20AC, 0x61, 0x1F600)))
    assert greeting.operations == "PD"
    assert "bom" not in greeting.traits


def test_half_a_unit_and_a_flood_are_no_verdict(program):
    lines = """
if octets == b"half": out.write(b"abc"); sys.exit(0)
while octets == b"flood": out.write(bytes(1 << 16))
out.write(text.encode("utf-32-be"))
"""
    said, _ = observed(f"cmd[utf-32]:{program(lines)}", b"half", b"flood", b"b")
    assert said[0] == Failed("output 3 octets, no whole number of 4-octet units")
    assert isinstance(said[1], Failed)
    assert said[1].text.startswith("output more than")
    assert said[2] == Accepted((ord("b"),))


def test_that_it_replaces_is_found_by_asking(program):
    lines = r"""
import sys
octets = sys.stdin.buffer.read().removeprefix("\ufeff".encode())
sys.stdout.buffer.write(octets.decode(errors="replace").encode())
"""
    said, greeting = observed(f"cmd[utf-8]:{program(lines, before='')}", b"a\xffb")
    assert said == [Accepted((0x61, 0xFFFD, 0x62))]
    assert (greeting.operations, greeting.traits["bom"]) == ("PL", "strips")


@pytest.mark.parametrize("placeholder", ["{}", "--input={}"])
def test_a_file_in_place_of_standard_input(placeholder, program, tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path / "empty"))
    (tmp_path / "empty").mkdir()
    before = (
        "import sys\noctets = open(sys.argv[1].removeprefix('--input='), 'rb').read()\nassert not sys.stdin.read()\n"
    )
    lines = "sys.exit(octets not in (b'a', b'yes', b'x' * (1 << 20)))"
    command = program(lines, placeholder, before=before)
    said, _ = observed(f"cmd:{command}", b"yes", b"no", b"x" * (1 << 20), b"yes")
    assert said == [Accepted(), Refused(), Accepted(), Accepted()]
    assert not list((tmp_path / "empty").iterdir())


def test_long_inputs_and_programs_that_do_not_read_them(program):
    long = b"x" * (1 << 20)
    said, _ = observed(f"cmd:{program('sys.exit(len(octets) not in (1, 1 << 20))')}", long, b"xx")
    assert said == [Accepted(), Refused()]
    lines = "import os, sys\nsys.exit(os.read(0, 1) != b'a')"
    said, _ = observed(f"cmd:{program(lines, before='')}", long, b"a" + long, b"a")
    assert said == [Refused(), Accepted(), Accepted()]


@pytest.mark.long
@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no process that adopts orphans")
@pytest.mark.parametrize("session", [False, True])
def test_what_a_run_leaves_behind_ends_with_the_run(session, program, tmp_path):
    pipe = tmp_path / "alive"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    name = program(
        f"""
writer = os.open({str(pipe)!r}, os.O_WRONLY)
if os.fork() == 0:
    if {session}: os.setsid()
    if octets != b"grandchild" or os.fork() == 0: time.sleep(600)
"""
    )
    target = resolve(f"cmd:{name}", Limits(timeout=5.0))
    target.open()
    try:
        batch = Batch.of([Vector("input", octets) for octets in (b"a", b"grandchild", b"b")])
        (answered,) = target.observe([(batch, "V")])
        assert answered.answers.statuses == b"AAA"
        assert os.read(reader, 1) == b""  # no writer has it open any more
    finally:
        target.close()
        os.close(reader)


def test_a_hang_is_found_and_the_next_is_judged(program, tmp_path):
    lines = f"if octets == b'hang': time.sleep(600); open({str(tmp_path / 'outlived')!r}, 'w')"
    said, _ = observed(f"cmd:{program(lines)}", b"a", b"hang", b"\xff", timeout=2.0)
    assert said == [Accepted(), TimedOut(2.0), Refused()]
    assert not (tmp_path / "outlived").exists()


def test_children_that_hold_its_output_do_not_hold_us_up(tmp_path):
    outlived = tmp_path / "outlived"
    said, _ = observed(f"cmd[utf-8]:sh -c 'cat; (sleep 600; echo >{outlived}) &'", b"\xc3\xa9")
    assert said == [Accepted((0xE9,))]
    assert not outlived.exists()


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        ("sys.exit(1)", "it refuses the letter a"),
        ("print('no such charset', file=sys.stderr); sys.exit(4)", 'it said "no such charset"'),
        (
            "b'\\xff' == octets and print('illegal', file=sys.stderr)",
            "exits with status 0 and complains of the octet FF",
        ),
        ("sys.stdout.buffer.write(octets.decode(errors='replace').encode())", "write cmd[utf-8]:"),
        ("sys.stdout.buffer.write(octets.decode(errors='replace').encode('utf-16'))", "write cmd[utf-8]:"),
    ],
)
def test_what_gives_no_verdict_is_not_measured(lines, words, program):
    before = "import sys\noctets = sys.stdin.buffer.read()\n"
    with pytest.raises(TargetError) as raised:
        certify(f"cmd:{program(lines, before=before)}", suites=["core"])
    assert words in str(raised.value)


def test_output_in_other_units_is_not_measured(program):
    with pytest.raises(TargetError, match="FF FE 61 00"):
        certify("cmd[utf-16]:" + program("out.write(text.encode('utf-16'))"))
    with pytest.raises(TargetError, match="61 0A"):
        certify("cmd[utf-8]:" + program("print(text)"))


@pytest.mark.parametrize(
    ("name", "error", "words"),
    [
        ("cmd:", UnknownTarget, "write a command"),
        ("cmd:'x", UnknownTarget, "no closing quotation"),
        ("cmd[utf-7]:x", UnknownTarget, "cmd[utf-8]:"),
        ("cmd[:x", UnknownTarget, "cmd[utf-8]:"),
        ("cmd:no-such-program --x", TargetError, "there is no program 'no-such-program'"),
    ],
)
def test_names_that_mean_nothing(name, error, words):
    with pytest.raises(error) as raised:
        resolve(name)
    assert words in str(raised.value)
    assert isinstance(raised.value, UnknownTarget) == (error is UnknownTarget)


@pytest.mark.long
def test_what_a_slow_target_is_spared_is_said(monkeypatch, tmp_path):
    monkeypatch.setattr(certification, "BEARABLE", ("core",))
    name = "cmd:sh -c 'cat >/dev/null'"
    certificate = certify(name, output=tmp_path)
    run = certificate.run
    assert [part.suite.name for part in run.suites] == ["core"]
    assert not certificate.refused
    assert (tmp_path / "certificate.json").exists()
    assert any(each.startswith("the suite scalars") for each in certificate.not_covered)
    assert any("not run: complete-0, complete-0-refusing, scalars" in note for note in run.notes)
    assert not any("chunking" in note for note in run.notes), "it does not offer streams"
    assert run.codes > {"OV201", "OV202"}
    spared = certify(name, suites=["core"])
    assert spared.refused
    assert not any(note.startswith("not run") for note in spared.run.notes)
