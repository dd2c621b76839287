"""The workflow of docs/campaign-in-ci.md: its rights are least, and its scripts do what the page says."""

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml  # type: ignore[import-untyped]

pytestmark = pytest.mark.long

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "campaign-in-ci.md").read_text(encoding="utf-8")
TEXTS = {
    name: re.findall(rf"^```yaml {name}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)[0]
    for name in ("workflow", "gitlab")
}
WORKFLOW = yaml.safe_load(TEXTS["workflow"])
CAMPAIGN, ISSUES = WORKFLOW["jobs"]["campaign"], WORKFLOW["jobs"]["issues"]
ID = "D-165692e3"
FINDING = {
    "id": ID, "code": "OV202", "title": "surrogate accepted", "target": "```\n@octocat $(touch owned) `touch owned`",
    "sentence": "accepts", "octets": "eda080", "expected": "reject", "observed": "</pre>\u202e", "peer": "",
}  # fmt: skip


def step(job, name):
    return next(each for each in job["steps"] if each.get("name") == name)


def run(job, name, folder, **environment):
    """Run a step's script as the runner does."""
    done = subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step(job, name)["run"]],
        cwd=folder, env={**os.environ, **environment}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_rights_are_least_and_nothing_is_put_into_a_script():
    assert WORKFLOW["permissions"] == {}
    assert CAMPAIGN["permissions"] == {"contents": "read"}
    assert ISSUES["permissions"] == {"issues": "write"}
    assert not [each for each in ISSUES["steps"] if "overlong" in each.get("uses", "")]  # no decoder runs there
    scripts = [each["run"] for job in (CAMPAIGN, ISSUES) for each in job["steps"] if "run" in each]
    assert len(scripts) == 3
    assert not [each for each in scripts if "${{" in each]
    action = yaml.safe_load((ROOT / "action.yml").read_text(encoding="ascii"))
    (used,) = (each for each in CAMPAIGN["steps"] if each.get("uses", "").startswith("OWNER/overlong@"))
    assert used["with"].keys() <= action["inputs"].keys()
    assert CAMPAIGN["timeout-minutes"] < 360
    assert int(used["with"]["time"].removesuffix("h")) * 60 < CAMPAIGN["timeout-minutes"]


def test_each_run_saves_what_the_next_one_fetches():
    fetch, keep = step(CAMPAIGN, "Fetch the campaign"), step(CAMPAIGN, "Keep the campaign")
    (used,) = (each for each in CAMPAIGN["steps"] if each.get("uses", "").startswith("OWNER/overlong@"))
    assert fetch["with"]["path"] == keep["with"]["path"] == used["with"]["campaign"]
    key = keep["with"]["key"]
    assert fetch["with"]["key"] == key
    assert "github.run_id" in key  # an entry cannot be overwritten
    same, other = fetch["with"]["restore-keys"].splitlines()
    assert key.startswith(same)
    assert step(CAMPAIGN, "Say what the campaign is of")["run"].startswith(f'echo "key={other}')
    assert keep["if"].startswith("${{ always() ")  # of a run that failed or took too long, too


@pytest.mark.parametrize(("fetched", "kept"), [("k-1-77-1", True), ("k-0-77-1", False), ("", None)])
def test_a_changed_decoder_begins_a_new_campaign_with_the_old_inputs(tmp_path, fetched, kept):
    if kept is not None:
        (tmp_path / "campaign" / "corpus").mkdir(parents=True)
        (tmp_path / "campaign" / "corpus" / "input").touch()
        (tmp_path / "campaign" / "campaign.json").touch()
    run(CAMPAIGN, "Begin anew with the old inputs if the decoder changed", tmp_path, KEY="k-1-", FETCHED=fetched)
    assert (tmp_path / "campaign").exists() == bool(kept)
    assert [each.name for each in (tmp_path / "seeds").iterdir()] == (["input"] if kept is False else [])


@pytest.fixture
def found(tmp_path):
    """The artifact of a campaign, and a gh that keeps what it is told."""
    if shutil.which("jq") is None:
        pytest.skip("no jq here")
    folder = tmp_path / "campaign" / "findings"
    folder.mkdir(parents=True)
    (folder / f"{ID}.json").write_text(json.dumps(FINDING))
    (folder / "D-77.json").write_text(json.dumps({**FINDING, "id": "D-77", "peer": "another decoder"}))
    (folder / "D-$(touch owned).json").write_text(json.dumps(FINDING))
    (folder / "D-78.json").write_text("no JSON")
    (tmp_path / "bin").mkdir()
    gh = '#!/bin/sh\n[ "$2" != list ] || { cat issues.json; exit; }\nprintf "%s\\n" "$*" >> calls\n'
    (tmp_path / "bin" / "gh").write_text(gh)
    (tmp_path / "bin" / "gh").chmod(0o755)
    return tmp_path


@pytest.mark.parametrize(
    ("issues", "calls"),
    [
        ([], [f"issue create --title UTF-8 finding {ID} --body-file body.md"]),
        ([{"number": 6, "state": "OPEN", "title": f"Re: UTF-8 finding {ID}"}], ["issue create"]),
        ([{"number": 7, "state": "OPEN", "title": f"UTF-8 finding {ID}"}], ["issue edit 7"]),
        ([{"number": 8, "state": "CLOSED", "title": f"UTF-8 finding {ID}"}], ["issue edit 8", "issue reopen 8"]),
    ],
)
def test_there_is_one_issue_for_each_finding(found, issues, calls):
    (found / "issues.json").write_text(json.dumps(issues))
    run(ISSUES, "One issue for each finding", found, PATH=f"{found / 'bin'}{os.pathsep}{os.environ['PATH']}")
    told = (found / "calls").read_text(encoding="utf-8").splitlines()
    assert len(told) == len(calls)
    assert all(said.startswith(call) for said, call in zip(told, calls, strict=True))
    assert not list(found.rglob("owned"))
    body = (found / "body.md").read_text(encoding="ascii")
    assert all(line.startswith("    ") for line in body.splitlines())  # a block of code: nothing in it is markup
    assert json.loads(body) == {name: value for name, value in FINDING.items() if name != "peer"}


def test_gitlab_keeps_the_campaign_that_it_resumes():
    job = yaml.safe_load(TEXTS["gitlab"])["utf8-campaign"]
    script = "\n".join(job["script"])
    (folder,) = job["cache"]["paths"]
    assert job["cache"]["when"] == job["artifacts"]["when"] == "always"
    assert f"--resume {folder}" in script
    assert f"-o {folder} " in script
    assert job["artifacts"]["reports"]["junit"] == f"{folder}/junit.xml"
