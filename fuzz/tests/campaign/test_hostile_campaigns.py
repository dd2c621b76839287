"""A campaign's folder may be a stranger's, or damaged: a line says where, and nothing is written outside of it."""

import contextlib
import importlib
import json
import sys
from pathlib import Path

import pytest

from overlong.conformance.results.reading import digest_of_findings, read
from overlong.conformance.results.records import ReportError
from overlong.fuzz.campaign.campaign import Campaign
from overlong.fuzz.campaign.corpus import CampaignError
from overlong.fuzz.campaign.state import STATEMENT
from overlong.fuzz.engines.job import CampaignJob
from overlong.fuzz.generated import BLOCK

pytest.importorskip("fcntl", reason="the stand-in needs POSIX")
sys.path.insert(0, str(Path(__file__).parents[1]))
stand_in = importlib.import_module("campaign_stand_in")
OUTSIDE = "certificate.json"


@pytest.fixture(scope="module", autouse=True)
def looks():
    with pytest.MonkeyPatch.context() as patch:
        stand_in.work_with(patch.setattr)
        yield


@pytest.fixture(scope="module")
def begun(tmp_path_factory):
    """The folder of a campaign with findings."""
    folder = tmp_path_factory.mktemp("begun") / "campaign"
    with Campaign.create(folder, CampaignJob(stand_in.TARGETS, seed=7, engine="stand-in")) as campaign:
        campaign.run(runs=BLOCK)
    assert stand_in.found(folder)["findings"]
    return folder


@pytest.fixture
def folder(begun, tmp_path):
    folder = tmp_path / "runs" / "campaign"
    folder.mkdir(parents=True)
    (folder / STATEMENT).write_bytes((begun / STATEMENT).read_bytes())
    (tmp_path / OUTSIDE).write_text("mine")
    return folder


def changed(folder, change):
    said = json.loads((folder / STATEMENT).read_text())
    change(said)
    with contextlib.suppress(TypeError):
        said["findings_digest"]["sha256"] = digest_of_findings(said["findings"])
    (folder / STATEMENT).write_text(json.dumps(said))


def refused(folder):
    with pytest.raises(CampaignError) as caught, Campaign.resume(folder) as campaign:
        campaign.run(runs=BLOCK + 1)
    message = str(caught.value)
    assert message.startswith(f"{folder / STATEMENT}: ")
    assert message.isprintable()
    return message


@pytest.mark.parametrize("name", ["../../../certificate", "/{outside}", "D-0000000g", "D-00000000\n", "", 5])
def test_an_id_names_no_file_elsewhere(folder, tmp_path, name):
    if isinstance(name, str):
        name = name.format(outside=(tmp_path / OUTSIDE).with_suffix(""))
    changed(folder, lambda said: said["findings"][0].update(id=name))
    assert "id: not as the schema has it" in refused(folder)
    assert (tmp_path / OUTSIDE).read_text() == "mine"
    assert sorted(path.name for path in tmp_path.rglob("*.*")) == [STATEMENT, OUTSIDE]


@pytest.mark.parametrize("name", ["corpus", "findings", STATEMENT])
def test_a_link_in_the_folder_leads_nowhere(folder, tmp_path, name):
    (tmp_path / "elsewhere").mkdir()
    if name == STATEMENT:
        (folder / name).rename(tmp_path / name)
    (folder / name).symlink_to(tmp_path / (name if name == STATEMENT else "elsewhere"))
    with (
        pytest.raises(CampaignError, match=f"{name}: a symbolic link"),
        Campaign.resume(folder) as campaign,
    ):
        campaign.run(runs=BLOCK + 1)
    assert not list((tmp_path / "elsewhere").iterdir())


@pytest.mark.parametrize("member", ["target", "peer"])
def test_a_finding_is_of_a_target_of_the_campaign(folder, member):
    changed(folder, lambda said: said["findings"][0].update({member: "nobody"}))
    assert "it is no target of this campaign" in refused(folder)


@pytest.mark.parametrize(
    ("change", "place"),
    [
        (lambda said: said.pop("resume"), "resume: it is damaged"),
        (lambda said: said["targets"].pop(), "it is no target of this campaign"),
        (lambda said: said["resume"].update(targets=[["sh", 1]]), "resume.targets"),
        (lambda said: said["resume"].update(targets=[*stand_in.TARGETS[::-1]]), "resume: it is damaged"),
        (lambda said: said["resume"]["profile"].update(speaks="none"), "resume: it is damaged"),
        (lambda said: said["resume"]["limits"].update(timeout=0), "resume.limits.timeout"),
        (lambda said: said["times"].update(seconds="soon"), "times.seconds"),
        (lambda said: said["resume"]["fingerprints"][0].update(finding="D-00000000"), "resume: it is damaged"),
        (lambda said: said["resume"]["fingerprints"][0].update(octave="x"), "resume.fingerprints[0].octave"),
        (lambda said: said["resume"].update(features=[-1]), "resume.features[0]"),
    ],
)
def test_a_damaged_file_gets_a_line_with_the_place(folder, change, place):
    changed(folder, change)
    assert place in refused(folder)


def of_nobody(said):
    said["findings"][0]["target"] = "nobody"


def without(said):
    said["findings"].clear()


@pytest.mark.parametrize(
    ("change", "place"),
    [
        (of_nobody, "findings[0].target: it is no target of this campaign"),
        (without, "targets[0].findings: it is "),
        (lambda said: said.update(result="PASSED"), "result: it is PASSED, and by the rest of the file it is FAILED"),
        (lambda said: said["findings"][0].update(octets="00"), "findings_digest: it is "),
    ],
)
def test_a_statement_that_contradicts_itself_is_no_report(begun, tmp_path, change, place):
    said = json.loads((begun / STATEMENT).read_text())
    path = tmp_path / STATEMENT
    path.write_text(json.dumps(said))
    assert read([path]).subjects[0].causes
    change(said)
    path.write_text(json.dumps(said))
    with pytest.raises(ReportError) as caught:
        read([path])
    assert str(caught.value).startswith(f"{path}: {place}")
