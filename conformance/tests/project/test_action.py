"""``action.yml``: what its steps say, and what they do when they are run, on a wrong and on a right decoder."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml  # type: ignore[import-untyped]

from overlong.conformance.cli.verbs import cli

pytestmark = pytest.mark.long

ROOT = Path(__file__).parents[3]
ACTION = yaml.safe_load((ROOT / "action.yml").read_text(encoding="ascii"))
STEPS = ACTION["runs"]["steps"]
NAMES = [step["name"] for step in STEPS]
WRONG, RIGHT = "cpython-surrogatepass", "cpython"


def test_structure():
    assert ACTION["runs"]["using"] == "composite"
    for name, told in ACTION["inputs"].items():
        assert told["description"], name
        assert told.get("required") or isinstance(told["default"], str), name
    used = set(re.findall(r"inputs\.([a-z-]+)", yaml.safe_dump(STEPS)))
    assert used == ACTION["inputs"].keys()
    assert NAMES[-1] == "Verdict"  # what fails comes last, so that reports are kept
    for step in STEPS:
        assert ("run" in step) != ("uses" in step)
        if "uses" in step:
            assert step["uses"].startswith(("actions/", "github/"))


def page(name):
    return (ROOT / "docs" / name).read_text(encoding="utf-8")


def blocks(language, name="ci.md"):
    return re.findall(rf"^```{language}\n(.*?)^```$", page(name), re.MULTILINE | re.DOTALL)


def test_the_pages_say_what_inputs_there_are():
    pages = page("ci.md") + page("campaign-in-ci.md")
    table = re.findall(r"^\| `([a-z-]+)` \| (?:`(.*?)`|(required))? ?\| ", pages, re.MULTILINE)
    said = {name: "required" if required else default for name, default, required in table if name in ACTION["inputs"]}
    assert said == {
        name: "required" if told.get("required") else told["default"] for name, told in ACTION["inputs"].items()
    }
    assert all(f"`{name}`" in pages for name in ACTION["outputs"])
    (workflow,) = map(yaml.safe_load, blocks("yaml workflow"))
    *_, step = workflow["jobs"]["utf8"]["steps"]
    assert step["with"].keys() <= ACTION["inputs"].keys()
    assert workflow["permissions"]["security-events"] == "write"
    (gitlab,) = map(yaml.safe_load, blocks("yaml gitlab"))
    assert gitlab["utf8"]["artifacts"]["reports"]["junit"] == "results/junit.xml"


@pytest.mark.parametrize("step", [step for step in STEPS if "run" in step], ids=lambda step: step["name"])
def test_nothing_is_put_into_a_script(step):
    assert "${{" not in step["run"]
    assert step["shell"] == "bash"
    assert step["run"].startswith("set -euo pipefail\n")
    bare = re.sub(r'"(?:\\.|\$\([^()]*\)|[^"\\])*"', "", step["run"])  # outside of quotes no variable of ours is used
    for line in bare.splitlines():
        assert not re.search(r"\$\{?OVERLONG", line) or re.search(r"\[\[|<<<|^(code|extras)=", line.strip()), line


def test_steps_read_outputs_that_others_write():
    outputs = {step["id"]: set(re.findall(r'echo "([a-z-]+)=', step["run"])) for step in STEPS if "id" in step}
    said = yaml.safe_dump(ACTION)
    for step, name in re.findall(r"steps\.([a-z]+)\.outputs\.([a-z-]+)", said):
        assert name in outputs[step], (step, name)


class Runner:
    """What GitHub's runner does with the steps of a composite action, as far as these need it."""

    def __init__(self, folder, **inputs):
        self.folder = folder
        self.inputs = {name: told.get("default", "") for name, told in ACTION["inputs"].items()}
        self.inputs |= {name.replace("_", "-"): value for name, value in inputs.items()}
        self.outputs = {}
        self.logs = {}
        self.status = 0
        self.summary = folder / "summary.md"
        self.summary.touch()
        (folder / "work").mkdir(exist_ok=True)
        (folder / "bin").mkdir(exist_ok=True)
        for name, words in {"overlong": "-m overlong ", "python": ""}.items():
            (folder / "bin" / name).write_text(f'#!/bin/sh\nexec "{sys.executable}" {words}"$@"\n', encoding="utf-8")
            (folder / "bin" / name).chmod(0o755)

    def value(self, text):
        """The text with its expressions evaluated."""
        return re.sub(r"\$\{\{ (\S+) \}\}", lambda found: self.look_up(found[1]), text)

    def look_up(self, name):
        first, *rest = name.split(".")
        if first == "inputs":
            return self.inputs[rest[0]]
        assert first == "steps", name
        return self.outputs.get(rest[0], {}).get(rest[2], "")

    def holds(self, condition):
        """Whether a step with this condition is run."""
        always, terms = False, list[bool]()
        for term in condition.split(" && ") if condition else ():
            if term == "always()":
                always = True
                continue
            name, operator, literal = term.split(" ")
            terms.append((self.look_up(name) == literal.strip("'")) == (operator == "=="))
        return all(terms) and (always or not self.status)

    def run(self, *, without=("Install overlong",)):
        for step in STEPS:
            if step["name"] in without or not self.holds(step.get("if", "")) or "uses" in step:
                continue
            written = self.folder / "output"
            written.write_text("", encoding="utf-8")
            environment = {
                **os.environ,
                "PATH": f"{self.folder / 'bin'}{os.pathsep}{os.environ['PATH']}",
                "GITHUB_STEP_SUMMARY": str(self.summary),
                "GITHUB_OUTPUT": str(written),
                "GITHUB_ACTION_PATH": str(ROOT),
                "RUNNER_TEMP": str(self.folder),
                **{name: self.value(text) for name, text in step.get("env", {}).items()},
            }
            done = subprocess.run(
                ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]],
                cwd=self.folder / "work", env=environment, capture_output=True, text=True, check=False,
            )  # fmt: skip
            self.logs[step["name"]] = done.stdout + done.stderr
            lines = written.read_text(encoding="utf-8").splitlines()
            self.outputs[step.get("id", "")] = dict(line.split("=", 1) for line in lines)
            self.status = self.status or done.returncode
        return self

    @property
    def results(self):
        return Path(self.outputs["measure"]["results"])


def action(folder, **inputs):
    return Runner(folder, **{"suites": "core", **inputs}).run()


@pytest.fixture(scope="module")
def wrong(tmp_path_factory):
    return action(tmp_path_factory.mktemp("wrong"), target=WRONG)


@pytest.fixture(scope="module")
def right(tmp_path_factory):
    return action(tmp_path_factory.mktemp("right"), target=f"\n  {RIGHT}\n\n")


def test_a_wrong_decoder_fails_the_job_last(wrong):
    assert wrong.status == 1
    assert list(wrong.logs) == ["Measure", "Summarise", "Verdict"]
    assert wrong.outputs["verdict"] == {"exit-code": "1"}
    files = {path.name for path in wrong.results.iterdir()}
    assert files >= {"results.jsonl", "report.md", "report.html", "junit.xml", "overlong.sarif", "badge.json"}
    assert wrong.outputs["measure"]["sarif"] == str(wrong.results / "overlong.sarif")
    assert (
        wrong.summary.read_text(encoding="utf-8").rstrip() == (wrong.results / "report.md").read_text("utf-8").rstrip()
    )
    assert "OV202 surrogate accepted" in wrong.logs["Measure"]


def test_a_right_decoder_passes(right):
    assert right.status == 0
    assert right.outputs["verdict"] == {"exit-code": "0"}
    assert "CONFORMANT" in right.summary.read_text(encoding="utf-8")


def test_what_a_decoder_says_is_no_command_to_the_runner(wrong):
    first, *_, last = wrong.logs["Measure"].splitlines()
    token = first.removeprefix("::stop-commands::")
    assert re.fullmatch("[0-9a-f]{32}", token)
    assert last == f"::{token}::"


def compared(folder, measured, baseline):
    """The job of ``measured`` again, against a baseline."""
    done = Runner(folder, target="any", baseline=baseline)
    shutil.copytree(measured.results, folder / "results")
    done.outputs["measure"] = {**measured.outputs["measure"], "results": str(folder / "results")}
    return done.run(without=("Install overlong", "Measure"))


@pytest.mark.parametrize(
    ("older", "newer", "status"), [("wrong", "wrong", 0), ("right", "wrong", 1), ("wrong", "right", 0)]
)
def test_against_a_baseline_only_what_became_worse_fails(tmp_path, wrong, right, older, newer, status):
    jobs = {"wrong": wrong, "right": right}
    done = compared(tmp_path, jobs[newer], str(jobs[older].results))
    assert done.status == status, done.logs
    assert list(done.logs) == ["Compare", "Summarise", "Verdict"]
    assert ("Regressed" in done.summary.read_text(encoding="utf-8")) == (status == 1)
    assert done.outputs["verdict"] == {"exit-code": str(status)}


def test_a_baseline_that_is_not_there_fails(tmp_path, right):
    done = compared(tmp_path, right, "$(touch owned)")
    assert done.status == 2
    assert "does not exist" in done.logs["Compare"]
    assert not list(tmp_path.rglob("owned"))


@pytest.mark.parametrize(
    ("inputs", "status"),
    [
        ({"target": "$(touch owned)\n"}, 2),
        ({"target": '"; touch owned; "'}, 2),
        ({"target": "--output=owned"}, 2),
        ({"target": " \n "}, 2),
        ({"target": RIGHT, "profile": "`touch owned`"}, 2),
        ({"target": RIGHT, "expected": "$(touch owned)"}, 2),
        ({"target": f"{RIGHT}\n{WRONG}"}, 2),
        ({"target": RIGHT, "command": "$(touch owned)"}, 2),
        ({"target": RIGHT, "command": "fuzz"}, 2),  # suites are of certify
        ({"target": RIGHT, "time": "$(touch owned)", "command": "fuzz", "suites": ""}, 2),
        ({"target": RIGHT, "campaign": "$(touch owned)", "command": "sweep", "suites": ""}, 2),
        ({"target": RIGHT, "plans": "$(touch owned)", "command": "sweep", "suites": ""}, 2),
        ({"target": f"{RIGHT}\n{WRONG}", "command": "sweep", "suites": ""}, 2),
        ({"target": RIGHT, "plans": "leads"}, 2),
        ({"target": "py:no_such_module:f"}, 3),
    ],
)
def test_inputs_are_never_commands_and_mistakes_fail(tmp_path, inputs, status):
    done = action(tmp_path, **inputs)
    assert done.status == status, done.logs
    assert not list(tmp_path.rglob("owned"))
    assert "Traceback" not in "".join(done.logs.values())
    if done.outputs.get("measure"):
        assert done.summary.stat().st_size


def words_of(folder, **inputs):
    """The words that the step gives to overlong, which its own command line must take."""
    runner = Runner(folder, **inputs)
    (folder / "bin" / "overlong").write_text("#!/bin/sh\nprintf '%s\\n' \"$@\" > ../words\n")
    runner.run()
    assert runner.status == 0, runner.logs
    verb, *words = (folder / "words").read_text(encoding="utf-8").splitlines()
    with cli.make_context("overlong", [verb, *words]) as context:
        command = cli.get_command(context, verb)
        assert command
        command.make_context(verb, [*words], parent=context)
    return [verb, *words], runner.outputs["measure"]["results"]


def test_a_sweep(tmp_path):
    words, results = words_of(tmp_path, target="cmd:./a b", command="sweep", plans="leads\n pairs\n", profile="wtf-8")
    assert words[0] == "sweep"
    assert {"--plan=leads", "--plan=pairs", "--profile=wtf-8", f"--output={results}"} <= set(words)
    assert words[-1] == "cmd:./a b"


def test_a_campaign_begins_in_its_folder_and_goes_on_from_there(tmp_path):
    inputs = {"target": f"{RIGHT}\n{WRONG}", "command": "fuzz", "time": "5h", "campaign": "a b/c", "corpus": "seeds"}
    words, results = words_of(tmp_path, **inputs)
    assert words[0] == "fuzz"
    assert {"--ci", "--time=5h", "--trust", "--corpus=seeds", f"--output={results}"} <= set(words)
    assert words[-2:] == [RIGHT, WRONG]
    assert results == str(tmp_path / "work" / "a b" / "c")
    (tmp_path / "work" / "a b" / "c" / "campaign.json").touch()
    words, again = words_of(tmp_path, **inputs)
    assert again == results
    assert {"--ci", "--time=5h", "--trust", f"--resume={results}"} <= set(words)
    assert not [word for word in words if word.startswith(("--output", "--corpus", "--profile", "cpython"))]


def test_a_campaign_comes_with_its_extra(tmp_path):
    for command, extras, wanted in (
        ("certify", "", ""), ("certify", "wasm", "[wasm]"), ("fuzz", "", "[fuzz]"), ("fuzz", "wasm", "[fuzz,wasm]"),
    ):  # fmt: skip
        runner = Runner(tmp_path, target=RIGHT, command=command, extras=extras)
        (tmp_path / "bin" / "python").write_text('#!/bin/sh\necho "$@"\n')
        runner.run(without=NAMES[2:])
        assert runner.logs["Install overlong"].endswith(f"{ROOT}{wanted}\n")


@pytest.mark.parametrize("inputs", [{"extras": "a]; x"}, {"extras": "$(x)"}, {"extras": "a --index-url=x"}])
def test_what_is_installed_is_named_plainly(tmp_path, inputs):
    done = Runner(tmp_path, target=RIGHT, **inputs).run(without=())
    assert done.status == 2
    assert list(done.logs) == ["Install overlong"]


def test_a_summary_has_room_for_what_github_takes(tmp_path, right):
    runner = Runner(tmp_path, target=RIGHT)
    runner.outputs["measure"] = {"results": str(tmp_path), "exit-code": "0"}
    (tmp_path / "report.md").write_text("x" * (1 << 20), encoding="utf-8")
    runner.run(without=("Install overlong", "Measure"))
    assert runner.summary.read_text(encoding="utf-8").startswith("The report is too long")
