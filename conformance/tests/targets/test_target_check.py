"""``overlong target check``: it finds each breach of the protocol at its step, and names the remedy."""

import json
import re
import shlex
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from overlong.conformance.cli.target import command
from overlong.conformance.protocol.wire import OPERATIONS
from overlong.conformance.targets import framed
from overlong.conformance.targets.adapter_check import LEFT_OUT, NOT_TRIED, SOUND, WRONG, AdapterCheck
from overlong.conformance.targets.framed import FramedTarget
from overlong.conformance.targets.resolve import resolve

pytestmark = pytest.mark.long

ADAPTER = """
import json, os, struct, sys, time

fault = sys.argv[1]
greeting = {"overlong": 1, "name": "mine", "operations": "PVDB"}
if fault == "another greeting each time":
    greeting["version"] = str(os.getpid())


def answer(operation, payload):
    if operation == b"P":
        return b"A" + (payload.replace(b"\\r\\n", b"\\n") if fault == "text mode" else payload)
    if operation == b"B":
        (count,) = struct.unpack_from(">I", payload, 1)
        lengths = struct.unpack_from(f">{count}I", payload, 5)
        place, statuses, numbers, lasts, units = 5 + 4 * count, b"", b"", b"", b""
        for length in lengths:
            one = answer(payload[:1], payload[place : place + length])
            place += length
            statuses += one[:1]
            refused = one[:1] == b"R"
            numbers += b"\\xff" * 4 if refused else struct.pack(">I", len(one) // 4)
            lasts += b"\\xff" if refused and fault != "batch says other than singles" else b"\\0"
            units += one[1:]
        return b"A" + statuses + numbers + bytes(count) + lasts + (b"!" if fault == "batch too long" else b"") + units
    if operation not in (b"V", b"D"):
        if fault == "crash on what it does not know":
            raise KeyError(operation)
        return b"A" if fault == "accepts what it does not know" else b"U"
    if operation == b"D" and fault == "U to what it offers":
        return b"U"
    if fault == "16 bits" and len(payload) > 0xFFFF:
        return b"Uits length is 16 bits wide"
    if fault == "crash on nothing":
        payload[0]
    if fault == "crash on ill-formed":
        payload.decode()
    if fault == "wrong decoder":
        return b"A"
    try:
        text = payload.decode()
    except UnicodeDecodeError as error:
        return b"X" + repr(error).encode() if fault == "X for a refusal" else b"R"
    if fault == "hang on nothing" and not payload:
        time.sleep(600)
    return b"A" + (text.encode("utf-32-be") if operation == b"D" else b"")[: -1 if fault == "half a unit" else None]


def read(size):
    if fault == "one read":
        return os.read(0, size)
    if fault == "small buffer" and size > 65536:
        os._exit(1)
    return sys.stdin.buffer.read(size)


if fault == "banner":
    print("Loading decoder...", flush=True)
out = os.fdopen(os.dup(1), "wb", 1 << 14)
if fault == "cannot start":
    sys.exit("no such file")
if fault == "no greeting":
    time.sleep(600)
out.write(json.dumps(greeting).encode() + b"\\n")
if fault != "greeting not flushed":
    out.flush()
waiting = b""
if fault == "reads to the end":
    time.sleep(600)
while len(head := read(8)) == 8:
    length, number = struct.unpack("<II" if fault == "other byte order" else ">II", head)
    body = read(length - 4)
    if fault == "prints":
        out.write(b"debug: %d octets\\n" % length)
    due = answer(body[:1], body[1:])
    due = struct.pack(">II", 4 + len(due), number + (fault == "wrong id")) + due
    if fault == "one after":
        due, waiting = waiting, due
    out.write(due * 2 if fault == "twice" else due)
    if fault not in ("not flushed", "greeting not flushed"):
        out.flush()
if fault == "stays":
    time.sleep(600)
sys.exit(3 if fault == "status at the end" else 0)
"""

FAULTS = {
    "banner": ("greeting", "one line of JSON"),
    "greeting not flushed": ("greeting", "flush the greeting"),
    "not flushed": ("echo", "flush standard output"),
    "one after": ("echo", "flush standard output"),
    "reads to the end": ("echo", "do not wait for more input"),
    "other byte order": ("echo", "the highest first"),
    "no greeting": ("greeting", "flush the greeting before anything is read"),
    "cannot start": ("greeting", "run the command by itself"),
    "text mode": ("echo", "binary mode"),
    "prints": ("echo", "belongs on stderr"),
    "wrong id": ("echo", "with its id"),
    "twice": ("echo", "one answer to each request"),
    "U to what it offers": ("D", "leave D out of the greeting"),
    "crash on nothing": ("V", "catch what the decoder throws"),
    "crash on ill-formed": ("V", "catch what the decoder throws"),
    "hang on nothing": ("V", "answer it"),
    "half a unit": ("D", "overlong docs protocol"),
    "X for a refusal": ("V", "a refusal is status R"),
    "batch says other than singles": ("batches", "single requests"),
    "batch too long": ("batches", "overlong docs protocol"),
    "crash on what it does not know": ("an operation that it does not know", "catch"),
    "accepts what it does not know": ("an operation that it does not know", "answer U"),
    "one read": ("a request in two writes", "one read may give less"),
    "small buffer": ("a request of a mebibyte", "catch"),
    "status at the end": ("the end of its input", "exit with status 0"),
    "stays": ("the end of its input", "exit with status 0"),
    "another greeting each time": ("the same greeting again", "let it describe the decoder"),
}


@pytest.fixture
def adapter(tmp_path, monkeypatch):
    monkeypatch.setattr(framed, "_START_SECONDS", 2.0)
    (tmp_path / "adapter.py").write_text(ADAPTER)
    return lambda fault: [sys.executable, "-I", "-S", str(tmp_path / "adapter.py"), fault]


@pytest.mark.parametrize("fault", FAULTS)
def test_what_is_wrong_is_said_with_what_mends_it(fault, adapter):
    steps = list(AdapterCheck(FramedTarget("mine", adapter(fault), timeout=2.0)).steps())
    name, fix = FAULTS[fault]
    wrong = [step for step in steps if step.state == WRONG]
    assert wrong, steps
    assert wrong[0].name.startswith(name), wrong
    assert fix in wrong[0].fix, wrong
    assert wrong[0].seen
    assert all(step.state in (SOUND, WRONG, NOT_TRIED) for step in steps)


@pytest.mark.parametrize("fault", ["none", "wrong decoder"])
def test_a_wrong_decoder_is_no_wrong_adapter(fault, adapter):
    states = {step.state for step in AdapterCheck(FramedTarget("mine", adapter(fault), timeout=30)).steps()}
    assert states == {SOUND}


def test_a_limit_that_the_target_names_is_no_fault(adapter):
    steps = list(AdapterCheck(FramedTarget("mine", adapter("16 bits"), timeout=30)).steps())
    assert {step.state for step in steps} == {SOUND, LEFT_OUT}
    assert [step.name for step in steps if "its length is 16 bits wide" in step.seen] == ["a request of a mebibyte"]


@pytest.mark.parametrize("name", ["cpython", "cpython-incremental"])
def test_our_own_adapters_are_sound(name):
    result = CliRunner().invoke(command, ["check", "--format", "json", name])
    assert result.exit_code == 0, result.output
    report = json.loads(result.output)
    assert report["sound"]
    assert {step["state"] for step in report["steps"]} <= {SOUND, LEFT_OUT}


def test_the_command_line(adapter):
    result = CliRunner().invoke(command, ["check", "--", *adapter("prints")])
    assert result.exit_code == 3
    assert "belongs on stderr" in " ".join(result.output.split())
    assert "not tried" in result.output
    missing = CliRunner().invoke(command, ["check", "--format", "json", "--", "/no/such/program"])
    assert missing.exit_code == 3
    assert not json.loads(missing.output)["sound"]
    assert CliRunner().invoke(command, ["check", "no-such-target"]).exit_code == 2


def page():
    return (Path(__file__).parents[3] / "docs" / "adapters.md").read_text("utf-8")


def test_every_step_is_on_the_page():
    steps = AdapterCheck(FramedTarget("cpython", resolve("cpython").command)).steps()
    operations = [f"{letter}, {words}" for letter, words in OPERATIONS.items()]
    names = [step.name for step in steps if step.name not in operations]
    assert len(names) > 8
    for name in names:
        assert f"| `{name}` |" in page()


def test_the_session_on_the_page_is_real():
    (session,) = re.findall(r"```console\n\$ overlong target check -- (.*?)\n(.*?)```", page(), re.DOTALL)
    done = CliRunner(env={"COLUMNS": "80"}).invoke(command, ["check", "--", *shlex.split(session[0])])
    assert done.output == session[1]
