"""``overlong fuzz``, ``finding``, ``corpus`` and ``explain FOLDER ID``: their output, files and exit codes."""

import json
import os
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from click.testing import CliRunner

from overlong.conformance.cli.verbs import cli
from overlong.fuzz import promotion
from overlong.fuzz.campaign.campaign import Campaign
from overlong.fuzz.campaign.corpus import CampaignError
from overlong.fuzz.finding import LANGUAGES
from overlong.fuzz.report import findings_in

pytestmark = pytest.mark.long

WRONG = 'return octets.decode("utf-8", "surrogatepass")'
RIGHT = 'return octets.decode("utf-8")'


def overlong(*words):
    done = CliRunner().invoke(cli, list(map(str, words)), env={"COLUMNS": "80"})
    assert done.exception is None or isinstance(done.exception, SystemExit), done.output
    return done


@pytest.fixture
def decoder(tmp_path, monkeypatch):
    """A Python decoder with a given body, in its own working folder."""
    monkeypatch.chdir(tmp_path)

    def write(body, name="decoder"):
        (tmp_path / f"{name}.py").write_text(f"def decode(octets):\n    {body}\n")
        return f"py:{name}.py:decode"

    return write


@pytest.fixture(scope="module")
def campaign(tmp_path_factory):
    """A folder with a campaign in two parts that found one cause, and the output of each."""
    folder = tmp_path_factory.mktemp("fuzz")
    (folder / "decoder.py").write_text(f"def decode(octets):\n    {WRONG}\n")
    target = f"py:{folder / 'decoder.py'}:decode"
    first = overlong("fuzz", "--runs", "2k", "--seed", 1, "--jobs", 1, "-o", folder / "it", target)
    then = overlong("fuzz", "--resume", folder / "it", "--runs", "5k", "--jobs", 1, "--ci")
    return folder / "it", target, first, then


def test_findings_that_cannot_be_saved_are_shown(tmp_path, monkeypatch, decoder):
    kept = Campaign._write

    def full(campaign):
        if not campaign.status.findings:
            kept(campaign)
            return
        raise CampaignError("campaign.json: No space left on device; make room, and go on with --resume")

    monkeypatch.setattr(Campaign, "_write", full)
    done = overlong("fuzz", "--runs", "2k", "--seed", 1, "--jobs", 1, "-q", "-o", tmp_path / "it", decoder(WRONG))
    assert done.exit_code == 2
    assert done.stderr == "overlong: campaign.json: No space left on device; make room, and go on with --resume\n"
    assert "OV202" in done.stdout


def test_with_ci_a_target_of_several_that_was_not_asked_is_no_success(tmp_path, monkeypatch, decoder):
    from overlong.fuzz.engines.hypothesis_engine import HypothesisEngine

    ask, other = HypothesisEngine._ask, decoder(RIGHT)
    command = "fuzz", "--engine", "hypothesis", "--runs", "64", "--seed", 1, "--jobs", 1, "--ci", "-o"
    done = overlong(*command, tmp_path / "both", "cpython", other)
    executions = json.loads((tmp_path / "both" / "campaign.json").read_text("utf-8"))["targets"]
    assert done.exit_code == 0
    assert [each["executions"] for each in executions] == [{"D": 64, "L": 64}, {"D": 64}]

    def one_is_left_out(self, gathering, probe, *rest):
        if probe.id == "cpython":
            ask(self, gathering, probe, *rest)

    monkeypatch.setattr(HypothesisEngine, "_ask", one_is_left_out)
    done = overlong(*command, tmp_path / "one", "cpython", other)
    assert done.exit_code == 3
    assert f"{other} got no input" in done.stderr


def test_a_finding_is_reported_and_reproduced(campaign):
    folder, _, _, done = campaign
    assert done.exit_code == 1
    (stored,) = findings_in(folder)
    lines = done.stdout.splitlines()
    assert lines[0] == "NOT CONFORMANT  1 finding in 1 of 1 target, 5 000 inputs"
    assert lines[1].split()[-1] == "1"
    assert f"FAIL {stored.id}  OV202 surrogate accepted" in done.stdout
    assert "input ED A0 80" in done.stdout
    assert (stored.octets, dict(stored.more)["stable"]) == (b"\xed\xa0\x80", "10 of 10")
    assert stored.where == "accepts ED A0-BF 80-BF"
    assert (folder / "summary.txt").read_text("utf-8") == done.stdout
    for line in lines:
        verb, _, command = line.strip().partition(": ")
        if verb in {"reproduce", "explain"}:
            again = overlong(*shlex.split(command)[1:])
            assert again.exit_code == (1 if verb == "reproduce" else 0)
            assert "OV202" in again.stdout
        else:
            assert len(line) <= 80


def test_what_is_made_of_a_finding(campaign, tmp_path):
    folder, *_ = campaign
    (stored,) = findings_in(folder)
    short = stored.id[:6]
    assert overlong("finding", "show", "--format", "id", folder, short).stdout == "eda080\n"
    assert "stable 10/10" in overlong("finding", "show", "--format", "text", folder, short).stdout
    assert overlong("finding", "test", folder, short).stdout.count("def test_") == 1
    assert overlong("finding", "test", folder, short, "-o", tmp_path).exit_code == 0
    again = overlong("finding", "test", folder, short, "-o", tmp_path)
    assert (again.exit_code, again.stderr.count("\n")) == (2, 1)
    assert "exists already" in again.stderr
    assert tuple(promotion.LANGUAGES) == LANGUAGES


def test_explain_knows_findings_and_all_else(campaign):
    folder, target, *_ = campaign
    (stored,) = findings_in(folder)
    text = overlong("explain", folder, stored.id[:5].lower()).stdout
    for part in ("OV202", "state [start]", "RFC 3629", f"overlong replay eda080 {target}", "finding promote", "CWE"):
        assert part in text, part
    assert overlong("explain", "ED", "A0", "80").stdout in text
    assert overlong("explain", "OV202").stdout in text
    assert overlong("explain", stored.id).exit_code == 2
    for folder_named, name in ((folder, "D-00000000"), (folder.parent, stored.id), ("nowhere", stored.id)):
        wrong = overlong("explain", folder_named, name)
        assert (wrong.exit_code, wrong.stderr.count("\n"), wrong.stdout) == (2, 1, "")


def test_a_campaign_goes_on(campaign):
    folder, target, first, then = campaign
    assert (first.exit_code, then.exit_code) == (1, 1)
    (stored,) = findings_in(folder)
    assert stored.id in first.stderr  # as soon as it existed
    assert stored.id not in then.stderr  # it is no news
    assert first.stdout.splitlines()[0] == "NOT CONFORMANT  1 finding in 1 of 1 target, 2 000 inputs"
    data = json.loads((folder / "campaign.json").read_text())
    assert (data["inputs"], data["seed"], data["targets"][0]["id"]) == (5000, 1, target)
    again = overlong("fuzz", "--resume", folder, "--runs", "5k", "--format", "json", "-q")
    assert (again.exit_code, json.loads(again.stdout)["inputs"]) == (1, 5000)
    there = overlong("fuzz", "--runs", "5k", "-o", folder, target)
    assert (there.exit_code, there.stdout) == (2, "")
    assert "go on with --resume" in there.stderr


def test_what_there_was_no_time_to_examine_is_no_success(decoder, monkeypatch):
    with monkeypatch.context() as hurried:
        for name in ("_OVER", "_GRACE"):
            hurried.setattr(f"overlong.fuzz.campaign.campaign.{name}", -1000.0)
        done = overlong("fuzz", "--time", "90s", "--runs", "2k", "--seed", 1, "--jobs", 1, "-o", "it", decoder(WRONG))
    assert done.exit_code == 4
    assert done.stdout.startswith("INCOMPLETE  what was seen is not examined yet")
    assert "some divergences were not examined in time; overlong fuzz --resume it" in done.stderr
    done = overlong("fuzz", "--resume", "it", "--runs", "2k", "--jobs", 1)
    assert done.exit_code == 1
    assert "NOT CONFORMANT  1 finding" in done.stdout


def test_a_right_decoder_and_the_usual_folder(decoder, tmp_path):
    target = decoder(RIGHT)
    done = overlong("fuzz", "--runs", "1k", "--seed", 2, "--jobs", 1, "-q", target)
    assert (done.exit_code, done.stdout) == (0, "NOTHING FOUND  1 000 inputs, 1 target\n")
    (folder,) = (tmp_path / "overlong-results").glob("fuzz-py-decoder-py-decode-*")
    assert (tmp_path / "overlong-results" / ".gitignore").read_text() == "*\n"
    assert json.loads((folder / "campaign.json").read_text())["seed"] == 2


def test_a_decoder_that_replaces_its_own_file_is_told_of(decoder):
    body = 'open(__file__, "w").write("def decode(octets):\\n    return octets.decode()\\n"); ' + RIGHT
    done = overlong("fuzz", "--runs", "1k", "--seed", 2, "--jobs", 1, "-q", "-o", "it", decoder(body))
    assert done.exit_code == 0
    (note,) = json.loads(Path("it/campaign.json").read_text())["notes"]
    assert "decoder.py:decode has changed since the campaign began" in note


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        ("fuzz", 2, "name a target"),
        ("fuzz --", 2, "nothing follows --"),
        ("fuzz cpython cpython --runs 5", 2, "named twice"),
        ("fuzz cpython --time 10", 2, "write 30s, 10m"),
        ("fuzz cpython --runs 5x", 2, "write 5000, 10k"),
        ("fuzz cpython --ci", 2, "--ci needs an end"),
        ("fuzz cpython --jobs tcp:h", 2, "nor tcp://HOST:PORT"),
        ("fuzz --resume nowhere cpython", 2, "leave out the targets"),
        ("fuzz --resume nowhere --seed 1", 2, "--seed cannot change"),
        ("fuzz --resume nowhere --limit memory=1G", 2, "--limit cannot change"),
        ("fuzz --resume nowhere --runs 5", 2, "no campaign has begun there"),
        ("fuzz no-such-decoder --runs 5", 2, "no-such-decoder"),
        ("fuzz py:no_such_module:decode --runs 5", 3, "no_such_module"),
        ("fuzz --runs 5 -- no-such-program", 3, "no-such-program"),
        ("fuzz cpython --runs 5 --corpus nowhere", 2, "nowhere"),
        ("fuzz cpython --runs 5 -o taken", 2, "not empty"),
        ("fuzz cpython --runs 5 -o taken/file", 2, "taken/file"),
        ("fuzz --engine libfuzzer cpython", 2, "so:LIBRARY:SYMBOL"),
        ("fuzz --engine libfuzzer -- program", 2, "leave out --"),
        ("fuzz --engine libfuzzer --resume taken", 2, "--engine cannot change"),
        ("finding list nowhere", 2, "name that of a run of certify, matrix, sweep or fuzz"),
        ("finding show taken D-1", 2, "no results in this folder"),
    ],
)
def test_mistakes_are_told_on_one_line(words, code, said, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "taken").mkdir()
    (tmp_path / "taken" / "file").write_text("text")
    done = overlong(*words.split())
    assert done.exit_code == code
    assert said in done.stderr
    assert done.stdout == ""
    assert done.stderr.count("\n") <= 4  # click's own have usage before them
    assert [path.name for path in tmp_path.iterdir()] == ["taken"]


@pytest.mark.parametrize("ends_by", [signal.SIGTERM, signal.SIGHUP, signal.SIGKILL])
def test_whatever_ends_it_it_goes_on(ends_by, decoder, tmp_path):
    command = [sys.executable, "-m", "overlong", "fuzz", "--jobs", "1", "-v", "-o", "it", decoder(RIGHT)]
    both = subprocess.PIPE
    with subprocess.Popen(command, stderr=both, stdout=both, text=True, preexec_fn=heed_hang_ups) as running:  # noqa: PLW1509
        while not asked("it"):
            assert running.poll() is None
            time.sleep(0.05)
        os.kill(running.pid, ends_by)
        out, err = running.communicate()
    inputs = asked("it")
    if ends_by != signal.SIGKILL:
        assert running.returncode == 4
        kept = f"{inputs:,} inputs and 0 findings are kept".replace(",", " ")
        assert err.splitlines()[-1] == f"overlong: interrupted; {kept}; overlong fuzz --resume it continues"
        assert "NOTHING FOUND" in out
    done = overlong("fuzz", "--resume", "it", "--runs", inputs + 500, "--jobs", 1, "-q", "--format", "json")
    assert done.exit_code == 0
    assert json.loads(done.stdout)["inputs"] >= inputs + 500  # units claimed before the end are finished


def heed_hang_ups():
    """A process under ``nohup`` ignores them, and so do its children."""
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


def asked(folder):
    """The inputs of a campaign that may just begin."""
    try:
        return int(json.loads((Path(folder) / "campaign.json").read_text())["inputs"])
    except FileNotFoundError:
        return 0
