"""The documents, held to what the program does: every frame, command, field and number on them is tried."""

import hashlib
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections import defaultdict
from dataclasses import replace
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from typing import cast
from xml.etree import ElementTree as ET

import click
import jsonschema
import pytest
from click.testing import CliRunner

from overlong.conformance import Limits, TargetError, certify
from overlong.conformance.certification import sweeps as certifying
from overlong.conformance.certification.tiers import TIERS, USUAL
from overlong.conformance.cli import options
from overlong.conformance.cli.certify import command as certify_command
from overlong.conformance.cli.verbs import cli
from overlong.conformance.oracle.finding import observed_in_words
from overlong.conformance.protocol.greeting import Greeting
from overlong.conformance.protocol.observation import CLAIMS, Accepted, Failed, Refused, Unsupported
from overlong.conformance.protocol.wire import ECHO_PROBE, UNITS, Answers, big_endian, frame
from overlong.conformance.results.certificate import NOT_COVERED
from overlong.conformance.sweep.plan import PLANS, plan_named
from overlong.conformance.targets.build import ADAPTERS
from overlong.conformance.targets.builtins import BUILTINS
from overlong.conformance.targets.process import Process
from overlong.conformance.targets.requests import SharingProcess
from overlong.conformance.vectors.pieces import complete_strings, identifiers
from overlong.conformance.vectors.suites import SUITES
from overlong.reference import ERROR_MODES, dialect, reading
from overlong.reference.automaton import access_words, characterising_set
from overlong.reference.questions import QUESTIONS

DOCS = Path(__file__).parents[3] / "docs"
BUILT = {DOCS / "vectors", DOCS / "elsewhere", DOCS / "gallery"}  # with the site; Sphinx checks links to them
PAGES = (
    *sorted(path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.md") if BUILT.isdisjoint(path.parents)),
    *("../README.md", "../SECURITY.md"),
)
AUTOMATON = dialect().automaton
DEAD = cast("int", AUTOMATON.dead)
LIVE = [state for state in range(len(AUTOMATON)) if state != DEAD]


def page(name):
    return (DOCS / name).read_text(encoding="utf-8")


def blocks(name, language):
    """The fenced blocks of a language on a page."""
    return re.findall(rf"^```{language}\n(.*?)^```$", page(name), re.MULTILINE | re.DOTALL)


def rows(name, heading):
    """The cells of the tables under a heading, without the head of each table."""
    section = page(name).partition(f"\n{heading}\n")[2]
    assert section, f"{name} has no heading {heading}"
    lines = re.split(r"\n#+ ", section)[0].splitlines()
    table = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("|")]
    heads = {place - 1 for place, cells in enumerate(table) if set("".join(cells)) <= set("-")}
    return [cells for place, cells in enumerate(table) if place not in heads and place - 1 not in heads]


def spaced(number):
    """``11 049``, as the documents write numbers."""
    return f"{number:,}".replace(",", " ")


@pytest.fixture
def workplace(tmp_path, monkeypatch):
    """A folder with the programs that the documents show, where ``python`` is this one."""
    for name in ("adapter.py", "adapter.js"):
        (tmp_path / name).write_text(page(f"examples/{name}"), encoding="utf-8")
    (tmp_path / "decoder.py").write_text(blocks("command-line.md", "python")[0], encoding="utf-8")
    (tmp_path / "cut.py").write_text(blocks("functions.md", "python")[0], encoding="utf-8")
    (tmp_path / "sly.py").write_text(blocks("identify.md", "python")[0], encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"])))
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("PYTHONUTF8", "1")
    return tmp_path


def overlong(*words):
    return subprocess.run(
        [sys.executable, "-m", "overlong", *words], capture_output=True, text=True, encoding="utf-8", check=False
    )


def invoked(*words):
    """The same without a process, whose start takes longer than most commands."""
    return CliRunner().invoke(cli, words)


# Schemas


def schema(name):
    return json.loads((files("overlong.conformance") / "schemas" / f"{name}.schema.json").read_text("ascii"))


def test_schemas_agree_where_they_speak_of_the_same():
    results, certificate = (schema(name)["$defs"] for name in ("results-1", "certificate-1"))
    shared = results.keys() & certificate.keys()
    assert {"target", "finding", "claims"} <= shared
    assert [name for name in shared if results[name] != certificate[name]] == []


NOT_ALWAYS = {
    "sign",
    "threads",
    "longest",
    "without_text",
    "declared limits",
    *("separate values", "functions"),
    *("profile", "environment", "earlier", "reproduce", "standing", "reason", "link", "not_covered", "refused"),
    *("isolation", "expected", "sign", "stale", "buckets", "divergences", "invocation", "sha256", "dirHash"),
    *("without_text", "set_aside", "subjects"),
    *("sentence", "condition", "confirmed", "commits"),
    *("words", "rule", "dialect", "numbers", "always", "silent"),  # a decoder's condition, or an encoder's
    *("question", "other", "anywhere", "of text", "ill-formed"),  # or that of a function beside decoding
}
"""Fields that are left out by older versions, or where there is nothing to say; the others are always there."""


@pytest.mark.parametrize("name", ["results-1", "certificate-1"])
def test_schema_is_closed(name):
    """What a schema does not name is refused; docs/formats.md is made of what it names."""

    def visit(node):
        if isinstance(node, list):
            for each in node:
                visit(each)
        elif isinstance(node, dict):
            if "properties" in node:
                assert node["additionalProperties"] is False
                assert set(node["required"]) <= set(node["properties"])
                assert set(node["properties"]) - set(node["required"]) <= NOT_ALWAYS
            for each in node.values():
                visit(each)

    visit(schema(name))


CRASHES = """
import os

def decode(octets):
    if octets == b"\\xe0\\x80\\xaf":
        os.abort()
    if octets == b"\\xc0\\x80":
        raise IndexError("list index out of range")
    return octets.decode()
"""


@pytest.mark.long_after(2)
@pytest.mark.parametrize("target", ["cpython", "cpython-surrogatepass", "py:crashes.py:decode", "-- python adapter.py"])
def test_results_validate_line_by_line(target, workplace):
    (workplace / "crashes.py").write_text(CRASHES)
    named = target[3:].split() if target.startswith("-- ") else target
    run = certify(named, suites=["core"], output=workplace).run
    lines = (workplace / "results.jsonl").read_text("ascii").splitlines()
    validator = jsonschema.Draft202012Validator(schema("results-1"))
    records = [json.loads(line) for line in lines]
    for record in records:
        validator.validate(record)
    kinds = [record["record"] for record in records]
    order = ["header", "divergence", "portrait", "automaton", "suite", "sweep", "category", "bucket", "stale", "footer"]
    assert kinds == sorted(kinds, key=order.index)
    assert "category" in kinds
    assert kinds.count("bucket") == len(run.buckets)
    if target.startswith("py:"):
        assert {record["code"] for record in records if record["record"] == "divergence"} >= {"OV601", "OV602"}
    record = {**records[0], "more": 1}
    assert not validator.is_valid(record)


@pytest.mark.long
@pytest.mark.usefixtures("unexamined")
def test_streams_and_observations_of_every_kind_validate(workplace):
    certify("cpython-incremental", suites=["chunking"], output=workplace)
    (workplace / "bad.py").write_text(MISBEHAVING)
    for mode in ("hang", "print", "X", "half of D"):
        certify(["python", "bad.py", mode], suites=["core"], output=workplace / mode, limits=Limits(2.0))
    validator = jsonschema.Draft202012Validator(schema("results-1"))
    records = [json.loads(line) for file in workplace.rglob("results.jsonl") for line in file.read_text().splitlines()]
    for record in records:
        validator.validate(record)
    observed = {record["observed"]["kind"] for record in records if record["record"] == "divergence"}
    assert observed >= {"timedout", "misbehaved", "failed"}
    assert any(record.get("unsupported") for record in records)


@pytest.mark.long
@pytest.mark.parametrize(("target", "result"), [("cpython", "PASSED"), ("py:decoder.py:decode", "FAILED")])
def test_certificate_validates(target, result, workplace, monkeypatch):
    quick = replace(USUAL, plans=("exhaustive-1",))  # in place of millions of strings
    monkeypatch.setattr(certifying, "STEPS", {"usual": quick})
    certify(target, output=workplace)
    statement = json.loads((workplace / "certificate.json").read_text("ascii"))
    jsonschema.Draft202012Validator(schema("certificate-1")).validate(statement)
    plan, drawn = [plan["plan"] for plan in statement["predicate"]["overlong"]["sweeps"]]
    assert plan == "exhaustive-1"
    assert drawn.startswith("sample-")
    assert statement["predicate"]["result"] == result
    suites = statement["predicate"]["overlong"]["suites"]
    digests = "".join(suite["vectors_digest"]["sha256"] for suite in suites)
    (configuration,) = statement["predicate"]["configuration"]
    assert configuration["digest"]["sha256"] == hashlib.sha256(digests.encode()).hexdigest()
    assert configuration["name"] in page("command-line.md")
    for text in blocks("certificates.md", "python"):
        if "in_toto_attestation" in text and (result == "FAILED" or find_spec("in_toto_attestation") is None):
            continue  # it asserts that the decoder passed, with a package that the tests do not demand
        exec(compile(text, "certificates.md", "exec"), {})


@pytest.mark.long
def test_digests_are_of_what_the_page_says(workplace):
    def sha256(*parts):
        return hashlib.sha256(b"".join(parts))

    certificate = certify(["python", "adapter.py"], suites=["core", "complete-0"], output=workplace)
    records = [json.loads(line) for line in (workplace / "results.jsonl").read_text().splitlines()]
    adapter = sha256((workplace / "adapter.py").read_bytes()).digest()
    assert records[0]["target"]["digest"]["sha256"] == sha256(b"python\0", adapter).hexdigest()
    for record in records:
        if record["record"] != "suite":
            continue
        strings = [vector.octets for batch in SUITES[record["suite"]].batches() for vector in batch]
        lengths = sha256(big_endian("I", list(map(len, strings)))).digest()
        assert record["vectors_digest"]["sha256"] == sha256(lengths, sha256(*strings).digest()).hexdigest()
    assert records[-1]["findings_digest"]["sha256"] == sha256().hexdigest()
    assert sha256().hexdigest() in page("results.md")
    assert certificate.statement["subject"] == [{"name": "adapter.py", "digest": {"sha256": adapter.hex()}}]


def line_of(record):
    """A divergence as docs/results.md says that it is digested."""
    members = {name: value for name, value in record["observed"].items() if name not in ("kind", "words")}
    answer = [json.dumps(value) for value in members.values()]
    if members.get("values") is not None:
        answer = [big_endian("I", members["values"]).hex()]
    return " ".join([*map(record.get, ("vector", "operation", "code")), record["observed"]["kind"], *answer]) + "\n"


def test_the_findings_digest_is_that_of_the_records(workplace):
    certify("cpython-surrogatepass", suites=["core"], output=workplace)
    records = [json.loads(line) for line in (workplace / "results.jsonl").read_text().splitlines()]
    found = [record for record in records if record["record"] == "divergence"]
    assert len(found) > 20
    lines = "".join(map(line_of, found))
    assert records[-1]["findings_digest"]["sha256"] == hashlib.sha256(lines.encode()).hexdigest()


def test_results_page_has_every_claim_and_every_limit():
    described = {cells[0].strip("`"): cells[1] for cells in rows("results.md", "## Claims")}
    assert described == CLAIMS
    assert [line[2:] for line in page("certificates.md").splitlines() if line[2:] in NOT_COVERED] == list(NOT_COVERED)


# The protocol


def frames_on_the_page():
    """The frames of the hexadecimal blocks, by name."""
    frames: defaultdict[str, bytes] = defaultdict(bytes)
    name = ""
    for block in (*blocks("protocol.md", "hex"), page("examples/frames.txt")):
        for line in block.splitlines():
            if line.startswith("#"):
                name = line[2:]
                assert name not in frames, name
            else:
                frames[name] += bytes.fromhex(line.partition(";")[0])
    return frames


def u32(*numbers):
    return big_endian("I", numbers)


STREAMS = [b"\0\2" + u32(1, 2) + b"\xe2\x82\xac", b"\0\1" + u32(1) + b"\xff"]
FRAMES = {
    "echo, request": frame(0, b"P" + ECHO_PROBE),
    "echo, response": frame(0, b"A" + ECHO_PROBE),
    "empty echo, request": frame(9, b"P"),
    "empty echo, response": frame(9, b"A"),
    "V, request": frame(1, b"V" + b"\xc3\xa9"),
    "V, accepted": frame(1, b"A"),
    "D, request": frame(2, b"D" + b"\xc3\xa9"),
    "D, accepted": frame(2, b"A" + u32(0xE9)),
    "D of what is ill-formed, request": frame(3, b"D" + b"a\xe2\x82"),
    "D, refused": frame(3, b"R"),
    "D, refused with an offset": frame(3, b"R" + u32(1)),
    "D, refused with a length": frame(3, b"R" + u32(1) + b"\2"),
    "D, refused with incomplete": frame(3, b"R" + u32(1) + b"\2\1"),
    "L, request": frame(4, b"L" + b"a\xff"),
    "L, accepted": frame(4, b"A" + u32(0x61, 0xFFFD)),
    "S, request": frame(5, b"S" + b"\0\3" + u32(2, 0, 2) + b"a\xe2\x82\xac"),
    "S, accepted": frame(5, b"A" + u32(1, 1, 2) + u32(0x61, 0x20AC)),
    "U": frame(8, b"U"),
    "X, no memory": frame(8, b"X" + b"no memory"),
    "B of D, request": frame(6, b"BD" + u32(4) + u32(1, 2, 2, 2) + b"a\xc3\xa9\xc0\x80\xe2\x82"),
    "B of D, response": frame(
        6, b"A" + b"AARR" + u32(1, 1, 0, 0) + bytes([0, 0, 1, 2]) + bytes([0, 0, 0, 1]) + u32(0x61, 0xE9)
    ),
    "B of S, request": frame(7, b"BS" + u32(2) + u32(*map(len, STREAMS)) + b"".join(STREAMS)),
    "B of S, response": frame(7, b"A" + b"AR" + u32(1, 0) + b"\0\1" + b"\0\0" + u32(0x20AC) + u32(0, 1)),
    "B of S, response that marks refusals": frame(
        7, b"A" + b"AR" + u32(1, 0) + b"\0\1" + b"\0\0" + u32(0x20AC) + u32(0, 1) + u32(1)
    ),
    "C of D, request": frame(19, b"CD" + u32(2, 0, 11, 64, 320)),
    "C of D, in the memory": u32(2, 1) + b"\xc3\xa9\xff",
    "C of D, response": frame(19, b"A" + u32(18)),
    "C of D, in the memory after it": b"AR" + u32(1, 0) + b"\0\1" + b"\0\0" + u32(0xE9),
    "S of what is ill-formed, request": frame(16, b"S" + b"\0\2" + u32(2, 3) + b"a\xe2\x82\xac\xff"),
    "S, refused at an offset in the stream": frame(16, b"R" + u32(4) + b"\1\0"),
    "S, refused in a chunk": frame(16, b"R" + u32(4) + b"\1\0" + u32(2)),
    "S, refused in a chunk at an offset from what was kept": frame(16, b"R" + u32(3) + b"\1\0" + u32(2)),
    "N, request": frame(17, b"N" + u32(8) + b"\0\1" + u32(2) + b"\xe2\x82" + b"\0\2" + u32(1, 1) + b"\xc3\xa9"),
    "N, accepted": frame(17, b"A" + u32(0, 1) + u32(0xE9)),
    "E, request": frame(10, b"E" + u32(0xE9, 0x20AC)),
    "E, accepted": frame(10, b"A" + "é€".encode()),
    "E of a surrogate, request": frame(11, b"E" + u32(0x61, 0xD800)),
    "E of a surrogate, refused": frame(11, b"R" + u32(1) + b"\0\0"),
    "E of a surrogate, replaced": frame(11, b"A" + "a\ufffd".encode()),
    "E of a surrogate, replaced by a question mark": frame(11, b"A" + b"a?"),
    "F, request": frame(12, b"F" + "a\U0001f600".encode("utf-16-be")),
    "F, accepted": frame(12, b"A" + "a\U0001f600".encode()),
    "F of a lone surrogate, request": frame(13, b"F" + b"\xde\x00"),
    "F of a lone surrogate, refused": frame(13, b"R" + u32(0) + b"\0\0"),
    "Z, request": frame(14, b"Z" + u32(0xE9, 0x20AC)),
    "Z, accepted": frame(14, b"A" + u32(5)),
    "G, request": frame(18, b"G" + b"\xc3"),
    "G, accepted": frame(18, b"A"),
    "G, refused": frame(18, b"R" + u32(1) + b"\0\xff"),
    "I, request": frame(20, b"I" + b"\0\2" + u32(1, 1) + b"\xc3\xa9"),
    "I, refused": frame(20, b"R"),
    "I of two characters, request": frame(21, b"I" + b"\0\3" + u32(2, 0, 1) + b"\xc3\xa9" + b"a"),
    "I of two characters, accepted": frame(21, b"A"),
    "Q, request": frame(22, b"Q" + b"\6" + u32(3) + "💩".encode()),
    "Q, accepted": frame(22, b"A" + u32(0)),
    "Q, cut": frame(22, b"A" + u32(3)),
    "K, request": frame(23, b"K" + b"\6" + u32(3) + "💩".encode()),
    "K, refused": frame(23, b"R" + u32(1) + b"\0\xff"),
    "B of E, request": frame(15, b"BE" + u32(2) + u32(4, 4) + u32(0x20AC, 0xD800)),
    "B of E, response": frame(15, b"A" + b"AR" + u32(3, 0) + b"\0\0" + b"\0\0" + "€".encode()),
}


def test_frames_are_those_of_the_protocol():
    assert frames_on_the_page() == FRAMES


@pytest.mark.parametrize(
    ("name", "chunks", "observed"),
    [
        ("D, accepted", None, Accepted((0xE9,))),
        ("D, refused", None, Refused()),
        ("D, refused with an offset", None, Refused(1)),
        ("D, refused with a length", None, Refused(1, 2)),
        ("D, refused with incomplete", None, Refused(1, 2, incomplete=True)),
        ("L, accepted", None, Accepted((0x61, 0xFFFD))),
        ("S, accepted", 3, Accepted((0x61, 0x20AC))),
        ("U", None, Unsupported()),
        ("X, no memory", None, Failed("no memory")),
    ],
)
def test_responses_mean_what_the_page_says(name, chunks, observed):
    octets = frames_on_the_page()[name]
    answers = Answers.from_single(octets[8:9], octets[9:], chunks, UNITS["utf-32"].size)
    assert list(answers.observations(UNITS["utf-32"], verdict_only=False)) == [observed]
    assert answers.marks == (u32(1, 1, 2) if chunks else b"")


@pytest.mark.parametrize(
    ("name", "chunks", "observed", "marks"),
    [
        ("B of D", None, [Accepted((0x61,)), Accepted((0xE9,)), Refused(0, 1, False), Refused(0, 2, True)], b""),
        ("B of S", [2, 1], [Accepted((0x20AC,)), Refused(0, 1, False)], u32(0, 1)),
    ],
)
def test_batches_mean_what_the_page_says(name, chunks, observed, marks):
    octets = frames_on_the_page()[f"{name}, response"]
    answers = Answers.from_batch(octets[9:], len(observed), chunks, UNITS["utf-32"].size)
    assert list(answers.observations(UNITS["utf-32"], verdict_only=False)) == observed
    assert answers.marks == marks


@pytest.mark.parametrize(
    ("command", "pairs"),
    [
        (["adapter.py"], [("V, request", "V, accepted")]),
        (
            [str(ADAPTERS / "python.py"), str(ADAPTERS / "cpython.py"), "Strict"],
            [
                ("echo, request", "echo, response"),
                ("empty echo, request", "empty echo, response"),
                ("D, request", "D, accepted"),
                ("D of what is ill-formed, request", "D, refused with incomplete"),
                ("L, request", "L, accepted"),
                ("B of D, request", "B of D, response"),
                ("E, request", "E, accepted"),
                ("E of a surrogate, request", "E of a surrogate, refused"),
                ("F, request", "F, accepted"),
                ("F of a lone surrogate, request", "F of a lone surrogate, refused"),
                ("B of E, request", "B of E, response"),
            ],
        ),
        (
            [str(ADAPTERS / "python.py"), str(ADAPTERS / "cpython.py"), "Incremental"],
            [
                ("S, request", "S, accepted"),
                ("S of what is ill-formed, request", "S, refused in a chunk at an offset from what was kept"),
                ("N, request", "N, accepted"),
                ("B of S, request", "B of S, response that marks refusals"),
            ],
        ),
    ],
)
@pytest.mark.usefixtures("workplace")
def test_adapters_speak_as_the_page_does(command, pairs):
    frames = frames_on_the_page()
    process = Process([sys.executable, *command])
    try:
        process.greeting(10)
        for request, response in pairs:
            process.send_frames(frames[request])
            number, status, payload = process.receive(10)
            assert frame(number, status + payload) == frames[response]
        assert process.close() == ""
    finally:
        process.kill()


@pytest.mark.skipif(sys.platform != "linux", reason="memory is shared on Linux alone")
def test_an_adapter_takes_from_shared_memory_what_the_page_says():
    frames = frames_on_the_page()
    process = SharingProcess([sys.executable, str(ADAPTERS / "python.py"), str(ADAPTERS / "cpython.py"), "Strict"])
    try:
        process.greeting(10)
        assert process.shared is not None
        asked = frames["C of D, in the memory"]
        slot = process.shared.slot(2, len(asked) - 8)
        assert slot is not None
        process.shared.fill(slot, asked[:8], asked[8:])
        process.send_frames(frames["C of D, request"])
        number, status, payload = process.receive(10)
        assert frame(number, status + payload) == frames["C of D, response"]
        assert process.shared.answer(slot, 18) == frames["C of D, in the memory after it"]
    finally:
        process.kill()


def test_greeting_on_the_page_is_one():
    (line,) = blocks("protocol.md", "json")
    greeting = Greeting.parse(line.strip().encode("ascii"))
    assert (greeting.operations, greeting.units.name, greeting.error_mode) == ("PVD", "utf-32", "replacement")


@pytest.mark.long
@pytest.mark.parametrize(("program", "adapter"), [("python", "adapter.py"), ("node", "adapter.js")])
def test_adapters_on_the_page_conform(program, adapter, workplace):
    if not shutil.which(program):
        pytest.skip(f"{program} is not on PATH")
    assert len((workplace / adapter).read_text().splitlines()) <= 45
    done = overlong("certify", "--quick", "--", program, adapter)
    headline = r"^CONFORMANT \((tier brief; not swept further|\d+ plans? swept)\)$"  # as far as two seconds go
    assert re.search(headline, done.stdout, re.MULTILINE), done.stdout + done.stderr
    assert done.returncode == options.CONFORMS
    assert ("✓ error position" in done.stdout) == (adapter == "adapter.py")


MISBEHAVING = r"""
import json, os, signal, struct, sys, time
mode = sys.argv[1]
def write(octets):
    sys.stdout.buffer.write(octets)
    sys.stdout.buffer.flush()
greeting = {"overlong": 1, "operations": "PVD"}
greeting |= {"version 2": {"overlong": 2}, "Y": {"operations": "PVY"}, "no P": {"operations": "VD"},
             "only P": {"operations": "PB"}, "utf-7": {"units": "utf-7"}, "batch": {"operations": "PBD"},
             "lossy": {"encode_errors": "lossy"},
             "few columns": {"operations": "PBD"}, "no batch": {"operations": "PBD"}}.get(mode, {})
if mode == "member": del greeting["overlong"]
if mode == "hello": write(b"hello\n")
if mode == "no library": sys.exit("no library")
if mode == "flood": write(b"x" * 70000); time.sleep(600)
told = json.dumps(greeting)
if mode == "twice": told = '{"name": "a", "name": "b", ' + told[1:]
write(told.encode() + b"\n")
while len(head := sys.stdin.buffer.read(8)) == 8:
    length, number = struct.unpack(">II", head)
    body = sys.stdin.buffer.read(length - 4)
    now = b"\xe0\x80\xaf" in body if body[:1] == b"B" else body == b"D\xe0\x80\xaf"
    response = b"A" + body[1:] if body[:1] == b"P" else b"R"
    if body == b"Da": response = b"A\0\0\0a"
    if body[:1] == b"B":
        count, = struct.unpack(">I", body[2:6])
        response = b"A" + b"R" * count + b"\xff" * 4 * count + bytes(2 * count) + b"!" * now
        if mode == "few columns" and now: response = b"A"
        if mode == "no batch": response = b"U"
    if mode == "full echo" and body == b"P": response = b"A!"
    if mode == "text" and body[:1] == b"P": response = response.replace(b"\r\n", b"\n")
    if mode == "U" and body == b"Va": response = b"U"
    if mode == "half of D" and body[:1] == b"D" and body != b"Da": response = b"U"
    if now and mode == "X": response = b"Xno memory"
    if now and mode == "segv": os.kill(os.getpid(), signal.SIGSEGV)
    if now and mode == "exit": os._exit(0)
    if now and mode == "half": write(b"\0\0"); os._exit(0)
    if now and mode == "hang": time.sleep(600)
    if now and mode == "print": write(b"debug: here\n")
    if now and mode == "id": number += 1
    if now and mode == "status": response = b"Z"
    if now and mode == "refusal": response = b"R\0\0\0"
    if now and mode == "units": response = b"A\0\0a"
    if now and mode == "output": response = b"A" + bytes(4 * 4000000)
    if now and mode == "incomplete": response = b"R\0\0\0\0\1\7"
    write(struct.pack(">II", 4 + len(response), number) + response)
if mode == "extra": write(struct.pack(">II", 5, 1) + b"A")
if mode == "exit 3": sys.exit(3)
if mode == "stays": time.sleep(600)
"""
MESSAGES = [
    ("start", 'its first line is not the greeting but "…"; write one line of JSON before anything else'),
    ("start", 'its greeting is JSON that programs read differently: the member "name" occurs twice in one object'),
    ("start", "it wrote 65536 octets without a greeting line"),
    ("start", 'its first line has no "overlong" member'),
    ("start", "it speaks protocol version 2; this is version 1"),
    ("start", "\"operations\" names 'Y'; there are PVDLSTNMEFZGIQKB"),
    ("start", '"operations" lacks P, the echo that shows that its pipes are clean'),
    ("start", '"operations" names nothing to certify'),
    ("start", "\"units\" is 'utf-7'; there are utf-32, utf-16, utf-8"),
    ("start", "\"encode_errors\" is 'lossy'; there are fatal, replacement, question mark"),
    ("start", "its echo changed 0D 0A 0A 1A 00 80 FF into 0A 0A 1A 00 80 FF"),
    ("start", "it offers V and answers U to the letter a"),
    ("start", "it answered a batch with status b'U'"),
    ("start", 'it exited with status 1; it said "…"'),
    ("OV601", "internal error: …"),
    ("OV602", "was ended by SIGSEGV"),
    ("OV602", "exited with status 0"),
    ("OV602", "exited with status 0 in the middle of a response"),
    ("OV603", "no answer within 2 s"),
    ("OV604", 'a response claims to have 1684365941 octets: the adapter printed to stdout? it wrote "debug…"'),
    ("OV604", "it answered request … where … was next"),
    ("OV604", "its response has status 5A; there are A, R, U and X"),
    ("OV604", "its refusal carries 3 octets; it may carry none, an offset (4), a length (5)"),
    ("OV604", "its output of 3 octets is no whole number of 4-octet units"),
    ("OV604", "output … units; its input allows at most …"),
    ("OV604", "said 07 for incomplete; it is 00, 01, or FF for not said"),
    ("OV604", "its batch response has … octets where its own columns add up to …"),
    ("OV604", "its batch response has 0 octets; … items need at least …"),
    ("start", "it answered an empty echo with status …"),
    ("note", "at the end of its input it exited with status 3; it should exit with status 0"),
    ("note", "at the end of its input it did not exit"),
    ("note", "it sent a response that was not asked for"),
    ("note", "after 3 time-outs a time-out was 1 000 times the usual answer, at least … s, in place of 2 s"),
    ("note", "it says where in … of … refusals: these alone show the error position"),
]
"""What the harness says of a target, by its code; ``…`` stands for anything."""
MODES = [
    "version 2", "Y", "no P", "only P", "utf-7", "lossy", "member", "hello", "no library", "flood", "text", "U", "X",
    "segv", "exit", "half", "hang", "print", "id", "status", "refusal", "units", "output", "incomplete", "full echo",
    "batch", "few columns", "no batch", "extra", "exit 3", "stays", "twice",
]  # fmt: skip


def said_of(program, mode):
    """What the harness says of a misbehaving target: code and message of each divergence, of the start, of the end."""
    try:
        run = certify([sys.executable, str(program), mode], suites=["core"], limits=Limits(2.0)).run
    except TargetError as error:
        return [("start", str(error))]
    wrong = [bucket.example for bucket in run.ordered_buckets if bucket.example.code.startswith("OV6")]
    return [*((each.code, observed_in_words(each.observed)) for each in wrong), *(("note", note) for note in run.notes)]


@pytest.mark.long
@pytest.mark.usefixtures("unexamined")
@pytest.mark.skipif(os.name != "posix", reason="signals have other names elsewhere")
def test_the_harness_says_what_is_wrong_with_a_target(tmp_path):
    program = tmp_path / "bad.py"
    program.write_text(MISBEHAVING)
    table = [(code, re.compile(".*".join(map(re.escape, words.split("…"))))) for code, words in MESSAGES]
    left = set(table)
    for mode in MODES:
        for code, message in said_of(program, mode):
            matching = {row for row in table if row[0] == code and row[1].search(message)}
            assert matching, f"{mode}: {code} {message}"
            left -= matching
    assert not left


# The command line


def commands(group, words=()):
    """Every command below a group, with its words."""
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        if isinstance(command, click.Group):
            yield from commands(command, (*words, name))
        else:
            yield (*words, name), command


def test_options_on_the_page_exist():
    known = {opt for _, command in commands(cli) for parameter in command.params for opt in parameter.opts}
    assert set(re.findall(r"--[a-z-]+\b", page("command-line.md"))) <= known | {"--help", "--version", "--self-test"}


def test_exit_codes_are_those_of_the_program():
    codes = [options.CONFORMS, options.DIVERGES, options.USAGE, options.NOT_MEASURED, options.INCOMPLETE]
    assert codes == [value for value in vars(options).values() if type(value) is int]  # and there are no others
    documented = [int(code) for code, _ in rows("command-line.md", "## Exit codes")]
    assert documented == codes
    listed = invoked("certify", "--help").stdout.partition("Exit status:")[2].partition("Options:")[0]
    assert [int(code) for code in re.findall(r"^ +(\d)  ", listed, re.MULTILINE)] == documented
    verdicts = {code for *_, code in rows("command-line.md", "## certify") if code in map(str, documented)}
    assert verdicts == {"0", "1", "3", "4"}


@pytest.mark.long_after(1)
@pytest.mark.parametrize(
    ("words", "code"),
    [
        ("certify -q --suite core cpython", options.CONFORMS),
        ("certify --suite core cpython-surrogatepass", options.DIVERGES),
        ("certify no-such-decoder", options.USAGE),
        ("certify --suite none cpython", options.USAGE),
        ("replay zz cpython", options.USAGE),
        ("certify py:no_such_module:decode", options.NOT_MEASURED),
        ("certify -- no-such-program", options.NOT_MEASURED),
        ("replay chunking/e282.ac cpython", options.NOT_MEASURED),
        ("certify --suite core --limit restarts=0 py:crashes.py:decode", options.INCOMPLETE),
    ],
)
def test_exit_codes(words, code, workplace):
    (workplace / "crashes.py").write_text(CRASHES)
    assert overlong(*words.split()).returncode == code


def without_chance(text):
    """Output without times, seeds and versions, which differ from run to run and from machine to machine."""
    text = re.sub(r"\d+\.\d s\b", "0.0 s", text)
    text = re.sub(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", "2026-01-01T00:00:00Z", text)
    text = re.sub(r"(?<=\d)  +\d+\.\d  +\d[\d ]*?(?=  )", "  0.0  0", text)  # seconds of a sweep, and its rate
    target = rf"py:\S+|{'|'.join(BUILTINS)}"
    text = re.sub(rf"^((?:\S+@1 · )?(?:{target})) \(.+\)$", r"\1 (version)", text, flags=re.MULTILINE)
    return "\n".join(line.rstrip() for line in text.strip().splitlines())


def without_sweeps(text):
    """The lines of a summary, unbroken: without notes and the next step, which depend on what was swept."""
    of_sweeps = r"^(note|next): .*\n(  .*\n)*"
    text = re.sub(of_sweeps, "", without_chance(text) + "\n", flags=re.MULTILINE)
    counts = r",? ?[\d ]+ of [\d ]+ strings|(?<=and )[\d ]+(?= more)| \(tier \w+; not swept further\)$"
    text = re.sub(counts, "", text, flags=re.MULTILINE)
    return re.sub(r"(\n +| {2,})", " ", text).splitlines()  # where a line is broken depends on its length


def test_every_tier_that_is_named_can_be_typed():
    """The tiers of verdicts, and those of the pages."""
    for tier in TIERS:
        assert certify_command.make_context("certify", ["--tier", tier, "cpython"]).params["tier"] == tier
    named = re.compile(r"--tier (\w+)|\(tier (\w+);|\btiers? `(\w+)`")
    pages = [path.read_text("utf-8") for path in [*DOCS.rglob("*.md"), DOCS.parent / "README.md"]]
    found = {word for text in pages for words in named.findall(text) for word in words if word}
    assert {"usual", "brief"} <= found <= {*TIERS, "NAME"}


def tier_in(text):
    return re.findall(r"\(tier (\w+); not swept further\)$", text, re.MULTILINE)


SESSIONS = [
    pytest.param(block, id=f"{name}: {block.splitlines()[0][2:]}")
    for name in ("command-line.md", "diff.md", "identify.md", "sweeps.md", "fuzzing.md", "functions.md", "../README.md")
    for block in blocks(name, "console")
]


@pytest.mark.long
@pytest.mark.parametrize("block", SESSIONS)
@pytest.mark.usefixtures("workplace")
def test_sessions_on_the_page_are_real(block):
    for target in re.findall(r"^\$ .* (\S+)$", block, re.MULTILINE):
        if target in BUILTINS and (missing := BUILTINS[target].missing()):
            pytest.skip(f"{target}: {missing}")
    code = None
    for session in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
        command, _, shown = session.partition("\n")
        if command == "echo $?":
            assert int(shown) == code
            continue
        verb, *words = shlex.split(command)
        assert verb == "overlong"
        aside = words[-2:-1] == [">"]
        done = overlong(*words[: -2 if aside else None])
        code = done.returncode
        if aside:
            continue
        if tier_in(shown) != tier_in(done.stdout):  # the machine is slow: then certify sweeps with less
            assert set(without_sweeps(done.stdout)) <= set(without_sweeps(shown))
        else:
            assert without_chance(done.stdout) == without_chance(shown)
        assert all(
            len(line) <= 80
            for line in shown.splitlines()
            if not re.match(r"ready|certificate:|report:|next:| +reproduce:", line)
        )


def test_the_recording_is_a_session_of_the_page():
    texts = ET.parse(DOCS / "pictures" / "certify.svg").iter("{http://www.w3.org/2000/svg}text")
    recorded = "\n".join("".join(text.itertext()) for text in texts)
    sessions = [block.partition("$ echo $?")[0] for block in blocks("command-line.md", "console")]
    assert without_chance(recorded) in map(without_chance, sessions)


def test_the_first_page_says_what_the_measurements_say():
    """Of the columns of the benchmark, README shows these; of what certify finds by default, the figure for Python."""
    columns = {
        "Kuhn": "Kuhn",
        "web-platform": "WPT",
        "Go": "Go",
        "all scalar values": "all scalar values",
        "libFuzzer": "libFuzzer",
        "certify": "9 plans",
    }
    table = page("power.md").partition("\n| family")[2].partition("\n\n")[0].splitlines()
    head, overall = ([cell.strip(" *") for cell in reversed(line.split("|"))] for line in (table[0], table[-1]))
    measured = dict(zip(head, overall, strict=False))  # the first cell of the head is cut away
    shown = dict(re.findall(r"^\| (.+) \| (\d+ %) \|$", page("../README.md"), re.MULTILINE))
    assert len(shown) == len(columns)
    for words, column in columns.items():
        (share,) = (cell for name, cell in shown.items() if words in name)
        assert share == f"{measured[column]} %", words


def test_plans_on_the_page_are_those_there_are():
    table = rows("suites.md", "## Plans")
    forms = [cells[0].strip("`").partition("-") for cells in table]  # as one types them, with a letter for the number
    assert [(kind, bool(letter)) for kind, _, letter in forms] == [(n, k.least is not None) for n, k in PLANS.items()]
    for (name, _, _), (_, strings, _) in zip(forms, table, strict=True):
        kind = PLANS[name]
        number = {"depth": 1, "exhaustive": 4}.get(kind.name, kind.usual)
        plan = plan_named(kind.name if kind.least is None else f"{kind.name}-{number}")
        assert spaced(plan.size) in strings
    costs = {cells[0].strip("`"): cells[1] for cells in rows("sweeps.md", "## The cost of larger sweeps")}
    assert len(costs) == 6
    for name, strings in costs.items():
        assert strings == spaced(plan_named(name).size)


@pytest.mark.long
@pytest.mark.usefixtures("workplace")
def test_files_and_environment_are_as_documented(workplace, monkeypatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "86400")
    done = overlong("certify", "--format", "json", "--suite", "core", "cpython")
    assert json.loads(done.stdout)["predicate"]["result"] == "PASSED"
    folder = workplace / "overlong-results" / "cpython"
    assert sorted(path.name for path in folder.iterdir()) == [".gitignore", "results.jsonl"]
    header = json.loads((folder / "results.jsonl").read_text().splitlines()[0])
    assert header["time"] == "1970-01-02T00:00:00Z"


# Codes


def without_code(text):
    """A page without what looks like a link and is none."""
    return re.sub(r"^```.*?^```$|`[^`\n]*`", "", text, flags=re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("name", PAGES)
def test_links_lead_somewhere(name):
    for link in re.findall(r"\]\(([^)#]+)[^)]*\)", without_code(page(name))):
        path = (DOCS / name).parent / link
        if not link.startswith("https://") and BUILT.isdisjoint(path.parents):
            assert path.exists(), link


def anchors(text):
    """The names that a page's headings have in links."""
    headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("name", PAGES)
def test_links_lead_to_headings(name):
    for link, heading in re.findall(r"\]\(([^):#]*)#([^)]+)\)", without_code(page(name))):
        assert heading in anchors(page(Path(name).parent / link if link else name)), f"{link}#{heading}"


def test_questions_and_modes_on_the_page_are_those_there_are():
    table = [tuple(cells[:4]) for cells in rows("functions.md", "## The questions")]
    assert table == [(str(each.number), f"`{each.name}`", each.argument, each.line) for each in QUESTIONS.values()]
    modes = [tuple(cells[:2]) for cells in rows("functions.md", "## What is right")]
    assert modes == [(f"`{name}`", line) for name, line in reading.MODES.items()]


# What identify says, dialects, error modes


def headlines(session):
    """The lines of a report of identify, without departures: what each title is."""
    return dict(re.findall(r"^(\S.*?)  +(\S.*)$", session, re.MULTILINE))


def test_the_table_of_decoders_says_what_the_sessions_say():
    table = {cells[0].strip("`"): cells[1:] for cells in rows("decoders.md", "## What some of them are")}
    assert set(table) <= set(BUILTINS)
    shown = set()
    for block in blocks("identify.md", "console"):
        target = block.splitlines()[0].rpartition(" ")[2]
        if target not in table:
            continue
        shown.add(target)
        said = headlines(block)
        for title, cell in zip(("dialect", "error position", "error mode"), table[target], strict=False):
            assert cell.replace("`", "").startswith(said.get(title, "").partition(" except")[0]), (target, title)
            assert bool(cell) == (title in said), (target, title)
            assert cell.startswith("exactly") == said.get(title, "").startswith("exactly"), (target, title)
    assert len(shown) >= 2


def test_decoders_with_an_error_mode_have_it():
    """``identify`` was asked about some of them; the others declare it, and certify holds them to that."""
    exactly = {cells[0].strip("`"): cells[3] for cells in rows("decoders.md", "## What some of them are")}
    for name, mode in ERROR_MODES.items():
        line = page("error-modes.md").partition(f"\n### {name}\n")[2].partition("Measured by it here: ")[2]
        for target in re.findall(r"`([\w-]+)`", line.partition("\n")[0]):
            assert target in BUILTINS
            if mode.stands_for is not None:
                assert exactly.get(target, f"exactly `{name}`") == f"exactly `{name}`"


# Theory


def state_named(name):
    """The state of a name in theory.md: "start", "dead", or its access word."""
    return {"start": 0, "dead": DEAD}.get(name) if name in ("start", "dead") else AUTOMATON.run(word(name))


def word(text):
    return b"" if text == "(empty)" else bytes.fromhex(text)


def octets_of(ranges):
    """``E1-EC EE-EF`` as octets."""
    ends = [[int(end, 16) for end in part.split("-")] for part in ranges.split()]
    return {octet for each in ends for octet in range(each[0], each[-1] + 1)}


def test_the_characterising_set_is_the_one_on_the_page():
    table = rows("theory.md", "## Telling states apart")
    words = characterising_set(AUTOMATON)
    assert [word(cells[0]) for cells in table] == list(words)
    for text, states in table:
        accepting = {state for state in range(9) if AUTOMATON.accepts(word(text), state)}
        assert accepting == set(map(state_named, states.split()))
    waiting = {0: 0, 2: 1, 3: 2, 4: 2, 5: 2, 6: 3, 7: 3, 8: 3}
    for state, chosen in enumerate(identifiers(AUTOMATON, words)):
        expected = words if state == DEAD else [each for each in words if len(each) == waiting[state]]
        assert list(chosen) == list(expected)


@pytest.mark.long
def test_numbers_of_the_suite():
    access, words = access_words(AUTOMATON), characterising_set(AUTOMATON)
    identify = identifiers(AUTOMATON, words)
    steps = [(state, octet, AUTOMATON.table[state][octet]) for state in range(9) for octet in range(256)]
    suite = set(complete_strings(AUTOMATON))
    first = {reach + each for reach in access for each in words}
    second = {access[s] + bytes([x]) + each for s, x, to in steps if to != DEAD for each in identify[to]}
    to_dead = [access[s] + bytes([x]) for s, x, to in steps if s in LIVE and to == DEAD]
    to_dead.remove(access[DEAD])
    fourth = {each for each in suite - first - second if each[:1] == b"\x80"}
    third = suite - first - second - fourth
    assert first | second <= suite
    by_step = defaultdict(set)
    for string in third:
        by_step[next(step for step in to_dead if string.startswith(step))].add(string)
    assert set(by_step) == set(to_dead)
    for step, strings in by_step.items():  # six each; some of them are in the first set
        assert len(strings) <= 6 <= len(strings | {step + each for each in words if step + each in first})
    used = {string[len(step) :] for step, strings in by_step.items() for string in strings}
    wp = first | {access[s] + bytes([x]) + each for s, x, to in steps for each in identify[to]}
    whole = first | {access[s] + bytes([x]) + each for s, x, _ in steps for each in words}

    table = {cells[0]: cells[2:] for cells in rows("theory.md", "## The suite")}
    assert table == {
        "1": [spaced(len(first)), spaced(len(first))],
        "2": [spaced(len(second)), spaced(len(second - first))],
        "3": [spaced(6 * len(to_dead)), spaced(len(third))],
        "4": [spaced(len(fourth)), spaced(len(fourth))],
    }
    text = " ".join(page("theory.md").split())
    for strings in (suite, wp, whole):
        assert f"{spaced(len(strings))} strings" in text
        assert f"{spaced(sum(map(len, strings)))} octets" in text
    assert f"{len(used)} different ones" in text
    assert f"18 432 + 9 = **{spaced(9 * 256 * 8 + 9)} mutants**" in text  # test_suites.py catches them
    assert max(map(len, suite)) == 6
    assert sum(s in LIVE and to in LIVE for s, _, to in steps) == 499
    assert len(to_dead) + 1 == 1549


def fewest_strings(state, octet):
    """The least number of strings that tell all eight redirections of a transition to dead from the automaton.

    All mutants run at once: a string's continuation is walked from each live state in that state's own mutant.
    """
    alphabet = {each.octets[-1] if each.least == octet else each.least for each in AUTOMATON.classes} | {octet}
    seen, queue, told = {tuple(LIVE)}, [tuple(LIVE)], set()
    for states in queue:
        told.add(frozenset(each for each, now in zip(LIVE, states, strict=True) if AUTOMATON.accepting[now]))
        for read in sorted(alphabet):
            following = tuple(
                each if (now, read) == (state, octet) else AUTOMATON.table[now][read]
                for each, now in zip(LIVE, states, strict=True)
            )
            if following not in seen:
                seen.add(following)
                queue.append(following)

    def cover(left, number):
        return not left or (number > 0 and any(cover(left - each, number - 1) for each in told if min(left) in each))

    return next(number for number in range(1, 9) if cover(frozenset(LIVE), number))


def test_lower_bounds():
    least = {}
    for state in LIVE:
        for each in AUTOMATON.classes:
            if AUTOMATON.table[state][each.least] == DEAD:
                least[state, each.least] = fewest_strings(state, each.least), len(each.octets)
    assert sum(octets for _, octets in least.values()) == 1549
    assert {number for number, _ in least.values()} == {3, 4, 5, 6}
    total = sum(number * octets for number, octets in least.values())
    text = page("theory.md")
    for number in (total, total + 1):
        assert spaced(number) in text


@pytest.mark.usefixtures("workplace")
def test_the_decoder_of_ten_states_is_what_the_page_says():
    assert certify("py:decoder.py:decode", suites=["complete-0"]).conformant
    assert not certify("py:decoder.py:decode", suites=["core"]).conformant
