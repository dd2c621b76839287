"""``overlong sweep``: its output, its files, its exit status."""

import json
import re
import shlex
import shutil
import subprocess
from importlib.resources import files

import jsonschema
import pytest
from click.testing import CliRunner

import sweep_stand_in
from overlong.conformance.cli import sweep as commands
from overlong.conformance.cli.sweep import USUAL
from overlong.conformance.cli.verbs import cli
from overlong.conformance.oracle.target import BudgetSpent, TargetError
from overlong.conformance.sweep.plan import plan_named
from overlong.conformance.sweep.sweep import sweep
from sweep_stand_in import StandIn
from zoo import SHARED_LIBRARIES

pytestmark = pytest.mark.long


COMMANDS = re.compile(r"^ *(reproduce|again): ")


def overlong(*words):
    done = CliRunner().invoke(cli, list(map(str, words)), env={"COLUMNS": "80"})
    assert done.exception is None or isinstance(done.exception, SystemExit)
    if "\nrfc3629@1" in done.stdout:
        report, *_ = re.split("\n(?:digest|report)", done.stdout)
        assert all(len(line) <= 80 for line in report.splitlines() if not COMMANDS.search(line))
    return done


@pytest.fixture
def decoder(tmp_path):
    """A Python decoder with this body."""

    def write(body, name="decoder"):
        file = tmp_path / f"{name}.py"
        file.write_text(f"calls = []\ndef decode(octets):\n    {body}\n")
        return f"py:{file}:decode"

    return write


def written(folder):
    """The content of ``sweep.json``, checked against its schema."""
    text = (folder / "sweep.json").read_text("ascii")
    schema = json.loads((files("overlong.conformance") / "schemas" / "results-1.schema.json").read_text("ascii"))
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate(json.loads(text), schema)
    return json.loads(text)


def test_a_right_decoder(tmp_path, decoder):
    target = decoder("return octets.decode()")
    done = overlong("sweep", "--plan", "exhaustive-2", "-o", tmp_path / "out", "-v", target)
    assert done.exit_code == 0
    assert re.search(r"^exhaustive-2 +65 792 +[\d.]+ +[\d ]+ 18 432 (✓|\+)$", done.stdout, re.MULTILINE)
    assert done.stdout.startswith("CONFORMANT as far as these strings go  1 plan, 65 792 strings\n")
    assert "certif" not in done.stdout.replace("sweep", "")
    data = written(tmp_path / "out")
    assert f"digest sha256 {data['digest']['sha256']}" in done.stdout
    assert data["plans"][0]["digest"]["sha256"] in done.stdout
    assert data["command"] == shlex.join(["overlong", "sweep", "--plan", "exhaustive-2", target])
    quiet = overlong("sweep", "--plan", "exhaustive-2", "--jobs", 1, "-o", tmp_path / "out", "-q", target)
    assert quiet.output == "CONFORMANT as far as these strings go  1 plan, 65 792 strings\n"
    as_json = overlong("sweep", "--plan", "exhaustive-2", "--format", "json", "-o", tmp_path / "other", target)
    assert json.loads(as_json.stdout) == data
    assert (tmp_path / "other" / "sweep.json").read_text("ascii") == as_json.stdout


def test_a_wrong_decoder_is_told_in_buckets(tmp_path, decoder):
    target = decoder("return octets.decode('utf-8', 'surrogatepass')")
    done = overlong("sweep", "--plan", "depth-0", "--plan", "exhaustive-1", "-o", tmp_path / "out", target)
    assert done.exit_code == 1
    live, shown = (text[text.index("FAIL") :] for text in (done.stdout, overlong("report", tmp_path / "out").stdout))
    assert shown.startswith(live.partition("\nplan ")[0]), "the file shows what the run did"
    data = written(tmp_path / "out")
    assert not data["conformant"]
    assert {bucket["example"]["code"] for bucket in data["buckets"]} >= {"OV202"}
    for bucket in data["buckets"]:
        assert bucket["shows_alone"]
        assert bucket["sentence"] == "accepts ED A0-BF 80-BF"
    for plan in data["plans"]:
        counted = sum(bucket["count"] for bucket in data["buckets"] if bucket["plan"] == plan["plan"])
        assert counted == sum(plan["kinds"].values())
    total = sum(bucket["count"] for bucket in data["buckets"])
    assert "NOT CONFORMANT  1 bucket, " in done.stdout
    assert f"accepts ED A0-BF 80-BF: {total:,}".replace(",", " ") in done.stdout
    again = re.findall(r"reproduce: overlong (replay .*)", done.stdout)
    replayed = overlong(*shlex.split(again[0]))
    assert replayed.exit_code == 1
    assert "FAIL" in replayed.stdout


def test_what_shows_in_the_sweep_alone(tmp_path, monkeypatch):
    """A divergence that vanishes when its string is asked singly depends on the strings asked with it."""
    sweep_stand_in.install(monkeypatch.setattr)
    monkeypatch.setenv("STAND_IN_REFUSES", "41")
    done = overlong("sweep", "--plan", "exhaustive-1", "-o", tmp_path / "out", "cpython")
    assert done.exit_code == 1
    (bucket,) = written(tmp_path / "out")["buckets"]
    assert (bucket["count"], bucket["example"]["hex"], bucket["example"]["code"]) == (1, "41", "OV605")
    assert not bucket["shows_alone"]
    assert "that is right; in the sweep: well-formed, and refused" in " ".join(done.stdout.split())
    assert "reproduce: overlong sweep --plan exhaustive-1 cpython" in done.stdout
    monkeypatch.setattr("overlong.conformance.sweep.sweep.reason_against", lambda target: "")
    swept = sweep("cpython", ["exhaustive-1"])
    assert swept.buckets[0].finding.code == "OV806"
    assert swept.failing == ("verdict",)  # its answer was wrong, whatever it depends on


def test_random_answers_are_unstable(tmp_path):
    """Examples are unstable, whether right or wrong when tested again singly; some are right by chance."""
    (tmp_path / "coin.py").write_text(
        'import random\n\ndef decode(octets):\n    return octets == b"a" or random.random() < 0.5\n'
    )
    done = overlong("sweep", "--plan", "exhaustive-1", "-o", tmp_path / "out", f"py:{tmp_path}/coin.py:decode")
    assert done.exit_code == 1
    examples = [bucket["example"] for bucket in written(tmp_path / "out")["buckets"]]
    assert "OV605" in {each["code"] for each in examples} <= {"OV605", "OV607"}
    assert "; tested again: " in " ".join(done.stdout.split())


def test_what_failed_is_found_when_no_more_failures_are_allowed(tmp_path):
    """Examples that are asked again fail again: these failures do not count against the limit."""
    (tmp_path / "dies.py").write_text("import os\n\ndef decode(octets):\n    return octets == b'A' and os.abort()\n")
    done = overlong(
        "sweep", "--plan", "exhaustive-1", "--limit", "restarts=4", "-o", tmp_path, f"py:{tmp_path}/dies.py:decode"
    )
    assert done.exit_code == 1
    assert "OV602 crashed" in done.stdout
    done = overlong(
        "sweep", "--plan", "exhaustive-1", "--limit", "restarts=0", "-o", tmp_path, f"py:{tmp_path}/dies.py:decode"
    )
    assert done.exit_code == 4  # nothing was asked, so there is no verdict
    assert "CONFORMANT" not in done.stdout
    assert "; 0 of 256 strings are done; " in done.stderr


def test_a_target_that_fails_too_often(tmp_path, monkeypatch):
    """The output names its failure, and the incomplete sweep."""
    sweep_stand_in.install(monkeypatch.setattr)
    monkeypatch.setenv("STAND_IN_REFUSES", "41")
    run = StandIn.run

    def spent(self, shard):
        if shard.plan == "depth-0":
            raise BudgetSpent("cpython failed 101 times (last: it died); raise the limit with --limit restarts=N")
        return run(self, shard)

    monkeypatch.setattr(StandIn, "run", spent)
    done = overlong("sweep", "--plan", "exhaustive-1", "--plan", "depth-0", "--jobs", 1, "-o", tmp_path, "cpython")
    assert done.exit_code == 4
    assert "FAIL exhaustive-1  OV605" in done.stdout
    assert done.stdout.startswith("INCOMPLETE  256 of 14 134 strings\n")
    assert "the same command and --resume" in done.stderr
    assert not (tmp_path / "sweep.json").exists()


def test_without_a_plan_several_are_asked(tmp_path, monkeypatch):
    asked = []

    def note(_target, plans, **how):
        asked.append((plans, how))
        raise TargetError("enough")

    monkeypatch.setattr("overlong.conformance.sweep.sweep.sweep", note)
    for words in (
        [],
        ["--plan", "pairs"],
        ["--plan", "placed-3", "--plan", "lengths-0", "--jobs", "7"],
        ["--jobs", "tcp://head:8786"],
    ):
        CliRunner().invoke(cli, ["sweep", *words, "-o", str(tmp_path), "--", "node", "adapter.js"])
    assert [plans for plans, _ in asked] == [USUAL, ("pairs",), ("placed-3", "lengths-0"), USUAL]
    assert (asked[2][1]["jobs"], asked[2][1]["cluster"]) == (7, "")
    assert asked[3][1]["cluster"] == "tcp://head:8786"
    assert all(plan_named(name).name == name for name in USUAL)


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ([], "Missing argument 'TARGET...'"),
        (["--plan", "exhaustive-7", "cpython"], "exhaustive-7: write a number from 1 to 6"),
        (["--plan", "placed", "--plan", "none", "cpython"], "no plan 'none'"),
        (["--jobs", "0", "cpython"], "'0' is neither a number from 1 to 1024 nor tcp://HOST:PORT"),
        (["--jobs", "tcp:x", "cpython"], "nor tcp://HOST:PORT"),
        (["--profile", "utf9", "cpython"], "no profile 'utf9'"),
        (["cpython", "node"], "name one target"),
        (["cpythn"], "did you mean cpython?"),
    ],
)
def test_a_wrong_command_line(tmp_path, words, says):
    done = overlong("sweep", "-o", tmp_path / "out", *words)
    assert (done.exit_code, done.stdout) == (2, "")
    assert says in " ".join(done.stderr.split())
    assert not (tmp_path / "out").exists()


def test_what_cannot_be_swept_is_not_measured(tmp_path):
    (tmp_path / "repairs.py").write_text("def decode(octets):\n    return octets.decode(errors='replace').encode()\n")
    done = overlong("sweep", "-o", tmp_path / "out", f"py:{tmp_path}/repairs.py:decode")
    assert done.exit_code == 3
    assert done.stderr.startswith("overlong: ")
    assert "a sweep tests D or V, and it offers PBL" in done.stderr
    assert done.stderr.count("\n") == 1
    assert not (tmp_path / "out").exists()


def test_help_names_every_plan_and_exit_code():
    text = overlong("sweep", "--help").stdout
    for word in ("--plan", "--jobs", "--resume"):
        assert word in text
    assert re.findall(r"^    ([0-4])  ", text, re.MULTILINE) == list("01234")


def test_a_long_sweep_says_once_how_long(capsys, monkeypatch):
    now = [0.0]
    monkeypatch.setattr("time.monotonic", lambda: now[0])
    seen = []
    update = commands._with_estimate(lambda *told: seen.append(told))
    for now[0], done in ((0.0, 1000), (1.0, 1100), (10.0, 2000), (20.0, 3000)):
        update("exhaustive-5", done, 1_000_000)
    assert len(seen) == 4
    assert capsys.readouterr().err == (
        "overlong: note: at this rate the sweep takes 3 hours more; --resume continues an interrupted sweep\n"
    )


TWO_FAULTS = """
#include "right.c"
bool two(const uint8_t *s, size_t n) {
  if (n > 1 && s[0] == 0xC3 && s[1] == 0xA9) return false;
  for (size_t i = 0; n > 2 && i + 1 < n; i++) if (s[i] == 0xDF && s[i + 1] == 0xBF) return false;
  return is_bool(s, n);
}
"""


@pytest.mark.skipif(shutil.which("cc") is None, reason="there is no C compiler")
def test_two_faults_of_one_kind_are_two_buckets(tmp_path):
    """The least string of the set shows only one of them."""
    (tmp_path / "two.c").write_text(TWO_FAULTS)
    words = ["cc", "-shared", "-fPIC", f"-I{SHARED_LIBRARIES}", "-o", tmp_path / "two.so", tmp_path / "two.c"]
    subprocess.run(words, check=True)
    target = f"so:{tmp_path / 'two.so'}:two?abi=bool(ptr,len)"
    overlong("sweep", "--plan", "exhaustive-3", "-o", tmp_path / "out", target)
    data = written(tmp_path / "out")
    told = [(bucket["sentence"], bucket["count"]) for bucket in data["buckets"]]
    assert told[0][0] == "refuses U+00E9 at offset 0"
    assert told[1][0] == "refuses U+07FF in inputs of 3 or more octets"
    assert sum(count for _, count in told) == data["plans"][0]["kinds"]["well-formed, and refused"] == 385
