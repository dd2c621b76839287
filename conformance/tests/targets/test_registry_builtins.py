"""Decoders of Node, npm, crates.io, the Go module proxy and Maven: right ones pass, and known faults are found."""

import dataclasses
import os
import platform
import re
import subprocess
import sys
import tomllib

import pytest

from builtin_under_test import SUITES
from overlong.conformance import certify
from overlong.conformance.certification.replay import replay
from overlong.conformance.oracle.target import TargetError
from overlong.conformance.protocol.observation import Accepted
from overlong.conformance.targets.builtin import ADAPTERS
from overlong.conformance.targets.builtins import BUILTINS, PROJECTS
from overlong.conformance.targets.limits import Limits
from overlong.conformance.targets.packages import Project, fetched
from overlong.conformance.vectors.vector import Vector

pytestmark = [pytest.mark.long, pytest.mark.usefixtures("unexamined")]

_LIBRARIES = tomllib.loads((ADAPTERS.parent / "libraries.toml").read_text("utf-8"))
ALL = PROJECTS | {name: Project.of(table["project"]) for name, table in _LIBRARIES.items() if "project" in table}
"""All that is fetched."""
STREAMS = {"streaming", "earliest detection"}
WHOLE = {"verdict", "scalars"}

HOLDS = {
    "node-stringdecoder": {"scalars", "error mode", "streaming"},
    "npm-utf-8-validate": {"verdict"},
    "npm-utf-8-validate-js": {"verdict"},
    "npm-text-encoding": {*WHOLE, "error mode", *STREAMS, "encoder"},
    "npm-text-encoding-utf-8": {*WHOLE, "error mode", *STREAMS, "encoder"},
    "npm-utf8": {*WHOLE, "encoder"},
    "npm-buffer": {"scalars", "error mode"},
    "npm-protobufjs-utf8": {"scalars"},
    "npm-stablelib-utf8": {"scalars", "encoder"},
    "go-x-text": {*WHOLE, "error position", "error mode", "streaming"},
    "go-x-text-runes": {"scalars", "error mode", *STREAMS},
    "go-segmentio-asm": {"verdict"},
    "rust-simdutf8": {*WHOLE, "error position"},
    "rust-encoding-rs": {*WHOLE, "error position", "error mode", *STREAMS},
    "rust-bstr": {*WHOLE, "error position", "error mode"},
    "java-guava": {"verdict"},  # also the sizes that it announces, though it has no encoder
    "java-protobuf": {*WHOLE, "encoder"},
    "java-jackson": {"scalars"},
    "java-tomcat": {*WHOLE, "error position", "error mode", *STREAMS},
}

DIVERGE = {
    "node-stringdecoder": {"earliest detection": {"OV511"}},  # after C0 it waits for more octets, like after any lead
    "go-x-text": {"earliest detection": {"OV511"}},  # also after E0 00, until there are as many octets as E0 announces
    "npm-buffer": {"encoder": {"OV706", "OV707"}},  # D800 D800: one EF BF BD
    "npm-protobufjs-utf8": {"error mode": {"OV401", "OV402"}, "encoder": {"OV703"}},
    "npm-stablelib-utf8": {"verdict": {"OV206"}},
    "java-jackson": {"verdict": {"OV201", "OV202", "OV203"}},
}

OBSERVED = [
    ("npm-stablelib-utf8", "D", "82 80", (0x80,)),  # a tail taken for a lead: BF BF is U+07FF
    ("npm-protobufjs-utf8", "L", "C2 00", (0x80,)),  # it swallows the octet that interrupts a character
    ("npm-protobufjs-utf8", "L", "80", ()),
    ("npm-buffer", "L", "E0 A0", (0xFFFD, 0xFFFD)),
    ("java-jackson", "D", "C1 81", (0x41,)),
    ("java-jackson", "D", "ED A0 80", (0xD800,)),
    ("java-jackson", "D", "F4 90 80 80", (0xDC00, 0xDC00)),
    ("java-jackson", "D", "22 5C 00 1F 7F C3 A9", (0x22, 0x5C, 0, 0x1F, 0x7F, 0xE9)),  # escaped in its document
]


def at_hand(name):
    if why := BUILTINS[name].missing():
        pytest.skip(why)
    return BUILTINS[name]


@pytest.mark.parametrize("name", HOLDS)
def test_is_found_right_where_it_is_and_wrong_where_it_is_not(name):
    builtin = at_hand(name)
    # npm-text-encoding-utf-8 takes quadratic time: seconds for the longest strings, and more on a busy machine.
    certificate = certify(name, suites=SUITES, limits=Limits(timeout=60.0))
    run = certificate.run
    assert not run.incomplete
    assert not run.restarts
    assert not run.notes
    fails = DIVERGE.get(name, {})
    assert {claim for claim, state in run.claims.items() if state == "holds"} == HOLDS[name]
    assert {claim for claim, state in run.claims.items() if state == "fails"} == set(fails)
    assert run.codes == set().union(*fails.values())
    assert builtin.version().removeprefix("Node.js ") in run.greeting.version


@pytest.mark.parametrize(("name", "operation", "octets", "units"), OBSERVED)
def test_what_was_seen_by_hand_is_what_the_adapter_says(name, operation, octets, units):
    at_hand(name)
    (answer,) = replay(Vector("by-hand/one", bytes.fromhex(octets)), name)
    assert answer.operation == operation
    assert answer.observed == Accepted(units)


def test_the_validator_of_npm_is_the_compiled_one():
    at_hand("npm-utf-8-validate")
    if (platform.system(), platform.machine()) != ("Linux", "x86_64"):
        pytest.skip("whether it ships compiled for this machine is not known")
    for name, implementation in (("npm-utf-8-validate", "compiled"), ("npm-utf-8-validate-js", "JavaScript")):
        assert certify(name, suites=["core"]).run.greeting.traits["implementation"] == implementation


@pytest.mark.parametrize("project", ALL.values(), ids=ALL)
def test_locks_pin_digests_and_name_no_place(project):
    folder = ADAPTERS / project.folder
    files = [path for path in folder.rglob("*") if path.is_file()]
    assert folder / project.lock in files
    text = "".join(path.read_text(encoding="utf-8") for path in files)
    places = set(re.findall(r"https?://[^/\s\"<]+", text))
    assert places <= {"http://maven.apache.org", "https://github.com"}  # a namespace, and the name of crates.io's index
    assert "resolved" not in text
    assert len(re.findall(r"sha512-|checksum = \"|h1:|^[0-9a-f]{64} ", text, re.MULTILINE)) >= 4


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """An empty user's cache folder."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "overlong" / "packages"


@pytest.fixture
def client(tmp_path, monkeypatch):
    """Puts a program on PATH that runs a shell script."""
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}")
    (tmp_path / "bin").mkdir()

    def put(name, script):
        program = tmp_path / "bin" / name
        program.write_text(f"#!/bin/sh\n{script}\n")
        program.chmod(0o755)

    return put


@pytest.mark.parametrize("project", ALL.values(), ids=ALL)
def test_a_fetch_that_fails_is_one_line_and_leaves_nothing(project, cache, client):
    for step in project.steps:
        client(
            step[0], "mkdir half; echo >half/file; echo working >&2; printf 'error: \\033[2Jno route\\n' >&2; exit 7"
        )
    with pytest.raises(TargetError) as caught:
        fetched(project)
    assert str(caught.value) == (
        f"fetching decoders from {project.registry} failed: error: \\x1b[2Jno route; "
        f"'{project.probe}' shows whether it can be reached from here"
    )
    assert list(cache.iterdir()) == []


def test_a_decoder_that_cannot_be_fetched_says_so(cache, client):
    at_hand("npm-utf8")
    client("npm", "echo npm error code ENOTFOUND >&2; exit 1")
    command = [sys.executable, "-m", "overlong", "certify", "npm-utf8"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (3, "")
    assert done.stderr.count("\n") == 1
    assert "fetching decoders from npm failed: npm error code ENOTFOUND; 'npm ping' shows" in done.stderr
    assert list(cache.iterdir()) == []


def test_what_was_fetched_is_kept_until_its_client_or_its_sources_change(cache, client):
    project = dataclasses.replace(PROJECTS["npm"], steps=(("client",),), drop=("left",))
    client("client", "mkdir left; ls >seen; echo x >>../../fetches")
    first = fetched(project)
    assert fetched(project) == first
    assert first.parent == cache
    assert sorted((first / "seen").read_text().split()) == sorted(
        ["decoders.js", "left", "node_frames.js", "package-lock.json", "package.json", "seen"]
    )
    assert not (first / "left").exists()
    assert (cache / "fetches").read_text() == "x\n"
    client("client", "mkdir left; ls >seen; echo another >>../../fetches")
    assert fetched(project) != first
    assert fetched(dataclasses.replace(project, shared=())) != first
    assert (cache / "fetches").read_text() == "x\nanother\nanother\n"


def test_a_jar_that_is_not_the_one_that_is_pinned_is_refused(cache, client):
    client("mvn", "mkdir jars; for jar in $(cut -c67- SHA256SUMS); do echo false >$jar; done")
    client("javac", "echo compiled >../../compiled")
    with pytest.raises(TargetError, match=r"guava-\S+\.jar is not the file that SHA256SUMS pins"):
        fetched(PROJECTS["jars"])
    assert list(cache.iterdir()) == []


def test_a_cache_that_cannot_be_written_is_one_line(cache):
    at_hand("npm-utf8")
    cache.parent.mkdir(parents=True)
    cache.write_text("a file, not a folder")
    with pytest.raises(TargetError, match=r"packages'?: decoders of npm cannot be kept there$"):
        fetched(PROJECTS["npm"])


def test_a_missing_client_says_what_to_install(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    assert BUILTINS["npm-utf8"].missing().endswith("(Debian: apt install nodejs npm)")
    assert BUILTINS["rust-bstr"].missing().endswith("(Debian: apt install cargo)")
    assert BUILTINS["go-x-text"].missing().endswith("(Debian: apt install golang-go)")
    assert BUILTINS["java-guava"].missing().endswith("(Debian: apt install default-jdk-headless maven)")
