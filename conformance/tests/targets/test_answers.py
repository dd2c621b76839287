"""Recorded answers: judged like those of the target that wrote them; damaged files are reported."""

import json
import random
import resource
import struct
import subprocess

import pytest
from click.testing import CliRunner

from overlong.conformance import certify
from overlong.conformance.cli.certify import command
from overlong.conformance.oracle.target import UnknownTarget
from overlong.conformance.protocol.wire import ECHO_PROBE, HEAD
from overlong.conformance.targets.identity import identity_of
from overlong.conformance.targets.recorded import RecordedTarget
from overlong.conformance.targets.resolve import resolve
from overlong.conformance.vectors.export import Selection
from overlong.conformance.vectors.formats.data import stream
from overlong.conformance.vectors.suites import suite_named

pytestmark = pytest.mark.usefixtures("unexamined")

SUITES = ("core", "streams", "complete-0")
DECODERS = '''
def strict(octets):
    return octets.decode()

def lax(octets):
    if octets == b"\\xc0\\x80":
        raise TypeError("\\x1b[2J")
    return octets.decode("utf-8", "surrogatepass")

def replacing(octets):
    return octets.decode(errors="replace")

class C_string:
    """Octet 00 ends the string; and wrong for one other string."""
    traits = {"nul": "ends the string"}
    operations = {"D": lambda many: [C_string.one(octets.partition(b"\\0")[0]) for octets in many]}
    @staticmethod
    def one(octets):
        from python import refusal
        try:
            return "?" if octets == b"A\\xe2\\x89\\xa2\\xce\\x91." else octets.decode()
        except UnicodeDecodeError as error:
            return refusal(error)
'''


@pytest.fixture(scope="session")
def requests():
    return b"".join(stream(Selection(SUITES)))


@pytest.fixture(scope="session")
def recorded_answers(tmp_path_factory, requests):
    """The file with a decoder's answers, and the decoder's own name."""
    folder = tmp_path_factory.mktemp("answers")
    (folder / "decoders.py").write_text(DECODERS.replace("from python import", "from __main__ import"))
    made = {}

    def answers(name):
        if name not in made:
            target = name if name.startswith("cpython") else f"py:{folder / 'decoders.py'}:{name}"
            path = folder / f"{name}.bin"
            with path.open("wb") as file:
                subprocess.run(resolve(target).command, input=requests, stdout=file, check=True)
            made[name] = path, target
        return made[name]

    return answers


def buckets(run):
    return {(each.example.code, each.example.place, each.count) for each in run.buckets.values()}


@pytest.mark.long
@pytest.mark.parametrize("name", ["strict", "replacing", "cpython-incremental", "C_string", "lax"])
def test_judged_like_the_target_itself(name, recorded_answers, tmp_path):
    path, target = recorded_answers(name)
    live = certify(target, suites=SUITES).run
    certificate = certify(f"answers:{path}", output=tmp_path)
    run = certificate.run
    assert [(part.suite.name, part.done, part.vectors_digest) for part in run.suites] == [
        (part.suite.name, part.done, part.vectors_digest) for part in live.suites
    ]
    assert not run.incomplete
    if name == "lax":  # re-examination would distinguish these offsets from accepted surrogates
        assert {"OV202", "OV601"} < {code for code, _, _ in buckets(run)} <= {"OV202", "OV301", "OV601"}
        assert run.claims["verdict"] == live.claims["verdict"] == "fails"
    else:
        assert run.codes == live.codes, "answers of a file cannot be examined: a cause may have several buckets"
        assert sum(each.count for each in run.buckets.values()) == sum(each.count for each in live.buckets.values())
        assert run.claims == live.claims
    if name == "C_string":
        assert run.claims["scalars"] == "fails", "the one wrong string is found beside what is set aside"
    header = json.loads((tmp_path / "results.jsonl").read_text("ascii").split("\n")[0])
    assert header["target"]["name"] == header["target"]["id"] == live.greeting.name
    assert [file for file, _ in identity_of(RecordedTarget(path)).files] == [path.name]
    assert "only part of the suites" in certificate.refused


@pytest.mark.long
def test_all_suites_make_a_certificate(recorded_answers, monkeypatch):
    path, _ = recorded_answers("strict")
    monkeypatch.setattr("overlong.conformance.results.certificate.SUITES", {name: suite_named(name) for name in SUITES})
    assert not certify(f"answers:{path}").refused


def run_on(octets, tmp_path):
    path = tmp_path / "answers.bin"
    path.write_bytes(octets)
    folder = tmp_path / "o"
    return CliRunner().invoke(command, [f"answers:{path}", "-o", str(folder), "-q"])


def frames(octets):
    """The offset of the first answer, and the end of each."""
    ends = [octets.index(b"\n") + 1]
    while ends[-1] < len(octets):
        ends.append(ends[-1] + 4 + HEAD.unpack_from(octets, ends[-1])[0])
    return ends


@pytest.fixture(scope="session")
def right(recorded_answers):
    return recorded_answers("strict")[0].read_bytes()


def altered(octets, change):
    """The same file with another description of the questions."""
    start, end = frames(octets)[:2]
    data = json.loads(octets[start + 9 + len(ECHO_PROBE) : end])
    change(data)
    payload = b"A" + ECHO_PROBE + json.dumps(data).encode()
    return octets[:start] + struct.pack(">II", 4 + len(payload), 0) + payload + octets[end:]


DAMAGE = {
    "text mode": (lambda o, _: o.replace(b"\r\n", b"\n"), "octet 2", "binary mode"),
    "cut": (lambda o, e: o[: e[700] - 1], "octet", "ends in the answer to request 699"),
    "cut in a length": (lambda o, e: o[: e[700] + 3], "octet", "ends in the answer to request 700"),
    "one more": (lambda o, e: o + o[e[5] : e[6]], "octet", "after the last answer"),
    "twice": (lambda o, e: o[: e[8]] + o[e[7] : e[8]] + o[e[8] :], "octet", "an answer to request 7 where 8 is next"),
    "swapped": (lambda o, e: o[: e[7]] + o[e[8] : e[9]] + o[e[7] : e[8]] + o[e[9] :], "octet", "where 7 is next"),
    "noise": (lambda o, e: o[: e[9]] + b"debug: \x1b[2J" + o[e[9] :], "octet", 'it wrote "debug: \\x1b[2J'),
    "another digest": (lambda o, _: o[:-1] + bytes([o[-1] ^ 1]), "", "other requests"),
    "no greeting": (lambda o, e: o[e[0] :], "", "greeting"),
    "greeting alone": (lambda o, e: o[: e[0]], "", "pipe the requests into the adapter"),
    "empty": (lambda _o, _e: b"", "", "no greeting"),
    "another edition": (lambda o, _: altered(o, lambda d: d.update(suite="\x1b[2J")), "", "export the requests again"),
    "no such suite": (lambda o, _: altered(o, lambda d: d.update(suites=["x"])), "", "vectors export --format frames"),
    "suites of another type": (lambda o, _: altered(o, lambda d: d.update(suites=7)), "", "vectors export"),
    "a suite twice": (lambda o, _: altered(o, lambda d: d.update(suites=["core"] * 2)), "", "each once"),
    "part of a suite": (lambda o, _: altered(o, lambda d: d.update(flags=["OV201"])), "flags OV201", "whole suites"),
    "other suites": (lambda o, _: altered(o, lambda d: d.update(suites=["core"])), "octet", "after the last answer"),
}


@pytest.mark.long_after(6)
@pytest.mark.parametrize("kind", DAMAGE)
def test_what_is_no_whole_file_of_answers_is_said(kind, right, tmp_path):
    damage, place, words = DAMAGE[kind]
    result = run_on(damage(right, frames(right)), tmp_path)
    assert (result.exit_code, result.stdout) == (2, "")
    line = result.stderr
    assert line.count("\n") == 1
    assert "answers.bin" in line
    assert place in line
    assert words in line
    assert "\x1b" not in line
    assert not (tmp_path / "o").exists()


def test_the_requests_themselves_are_no_answers(requests, tmp_path):
    result = run_on(requests, tmp_path)
    assert result.exit_code == 2
    assert "pipe them into the adapter" in result.stderr


def test_answers_that_end_early_are_incomplete_and_those_there_are_judged(recorded_answers, tmp_path):
    octets = recorded_answers("lax")[0].read_bytes()
    result = run_on(octets[: frames(octets)[1500]], tmp_path)
    assert result.exit_code == 4
    assert "INCOMPLETE" in result.stdout
    assert "the answers end after 1500 of" in " ".join(result.stdout.split())
    assert "OV202" in result.stdout
    assert not (tmp_path / "o" / "certificate.json").exists()
    assert (tmp_path / "o" / "results.jsonl").exists()


@pytest.mark.parametrize("device", ["/dev/zero", "/dev/null"])
def test_what_is_no_file_is_not_read(device):
    with pytest.raises(UnknownTarget, match="no file; write the answers to one"):
        certify(f"answers:{device}")


@pytest.mark.parametrize(("size", "words"), [(1 << 30, "no greeting"), (1 << 40, "larger than 1 GiB")])
def test_a_file_of_nothing_is_refused_unread(size, words, tmp_path):
    path = tmp_path / "answers.bin"
    with path.open("wb") as file:
        file.truncate(size)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(UnknownTarget, match=words):
        RecordedTarget(path).start()
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 1 << 17, "kibibytes"


@pytest.mark.long
def test_no_damage_is_a_traceback(right, tmp_path):
    chance, refused = random.Random(3629), 0
    whole = right[: frames(right)[1500]]
    for _ in range(100):
        octets = bytearray(whole)
        for _ in range(chance.randrange(1, 4)):
            octets[chance.randrange(chance.choice((700, len(octets))))] ^= 1 << chance.randrange(8)
        path = tmp_path / "answers.bin"
        path.write_bytes(octets[: chance.choice((len(octets), chance.randrange(len(octets))))])
        try:
            run = certify(f"answers:{path}").run
        except UnknownTarget as error:
            refused += 1
            assert "\n" not in str(error)
        else:
            assert run.incomplete
    assert 50 < refused < 95, "some damage is to lengths and ids, some to answers"


@pytest.mark.long
def test_the_command_line(right, tmp_path):
    for arguments in (["answers:x", "cpython"], [f"answers:{tmp_path / 'none'}"]):
        assert CliRunner().invoke(command, arguments).exit_code == 2
    path = tmp_path / "answers.bin"
    path.write_bytes(right)
    for arguments in (["--suite", "core"], ["--profile", "cesu-8"]):
        result = CliRunner().invoke(command, [f"answers:{path}", *arguments])
        assert result.exit_code == 2
        assert "drop --suite, --vectors and --profile" in result.stderr
    assert CliRunner().invoke(command, ["--quick", "--thorough", "cpython"]).exit_code == 2
