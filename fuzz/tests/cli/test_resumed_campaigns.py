"""The folder of a campaign may be a stranger's: what it names runs only when the user has agreed."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from overlong.conformance.cli.limits import named_by_user
from overlong.conformance.cli.verbs import cli
from overlong.conformance.targets.consent import NotAgreed
from overlong.fuzz.campaign.campaign import Campaign
from overlong.fuzz.campaign.state import STATEMENT
from overlong.fuzz.engines.job import CampaignJob

COMMAND = ("sh", "-c", f"{'true; ' * 300}touch PWNED")


@pytest.fixture
def theirs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OVERLONG_TRUST", "")  # what a run adds to it is gone afterwards
    Campaign.create("theirs", CampaignJob((COMMAND,), seed=1)).close()
    return tmp_path / "theirs"


def resume(folder, *words):
    return CliRunner().invoke(cli, ["fuzz", "-q", "--runs", "10", "--resume", str(folder), *words])


@pytest.mark.parametrize("words", [(), ("--ci",)], ids=str)
def test_nothing_of_a_strangers_campaign_runs_unasked(theirs, words):
    done = resume(theirs, *words)
    assert (done.exit_code, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert done.stderr.startswith(f"overlong: {theirs / STATEMENT}: it would run decoder: -- sh -c 'true; true; ")
    assert done.stderr.endswith("if you trust that file, add --trust\n")
    assert not Path("PWNED").exists()


def test_with_trust_all_of_it_is_shown(theirs):
    done = resume(theirs, "--trust")
    assert "touch PWNED" in done.stderr
    assert Path("PWNED").exists()


def test_ones_own_campaign_continues_without_a_question(theirs, monkeypatch):
    with pytest.raises(NotAgreed):
        Campaign.resume(theirs)
    named_by_user(theirs / STATEMENT, [COMMAND])
    Campaign.resume(theirs).close()
    said = json.loads((theirs / STATEMENT).read_text())
    said["resume"]["targets"], said["targets"][0]["id"] = [["sh", "-c", "touch OTHER"]], "-- sh -c 'touch OTHER'"
    (theirs / STATEMENT).write_text(json.dumps(said))
    with pytest.raises(NotAgreed, match="touch OTHER"):
        Campaign.resume(theirs)
