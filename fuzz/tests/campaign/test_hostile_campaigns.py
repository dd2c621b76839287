"""A campaign's folder may be a stranger's, or damaged: a line says where, and nothing is written outside of it."""

import importlib
import json
import sqlite3
import sys
from pathlib import Path

import pytest

from overlong.conformance.results.reading import ReportError, read
from overlong.fuzz.campaign.campaign import Campaign, findings_in
from overlong.fuzz.campaign.statement import STATEMENT
from overlong.fuzz.campaign.status import CampaignError
from overlong.fuzz.campaign.store import DATABASE
from overlong.fuzz.execution.engine import BLOCK, CampaignJob

pytest.importorskip("fcntl", reason="the stand-in needs POSIX")
sys.path.insert(0, str(Path(__file__).parents[1]))
stand_in = importlib.import_module("campaign_stand_in")
OUTSIDE = "certificate.json"


@pytest.fixture(scope="module")
def begun(tmp_path_factory):
    """The folder of a campaign with findings."""
    folder = tmp_path_factory.mktemp("begun") / "campaign"
    with Campaign.create(folder, CampaignJob(stand_in.TARGETS, seed=7), tools=stand_in.TOOLS) as campaign:
        campaign.run(runs=BLOCK)
    assert findings_in(folder)
    return folder


@pytest.fixture
def folder(begun, tmp_path):
    folder = tmp_path / "runs" / "campaign"
    folder.mkdir(parents=True)
    (folder / DATABASE).write_bytes((begun / DATABASE).read_bytes())
    (tmp_path / OUTSIDE).write_text("mine")
    return folder


def changed(folder, question, *values):
    database = sqlite3.connect(folder / DATABASE)
    with database:
        database.execute(question, values)
    database.close()


def refused(folder):
    with pytest.raises(CampaignError) as caught, Campaign.resume(folder, tools=stand_in.TOOLS) as campaign:
        campaign.run(runs=BLOCK + 1)
    message = str(caught.value)
    assert message.startswith(f"{folder / DATABASE}: ")
    assert message.isprintable()
    return message


@pytest.mark.parametrize("name", ["../../../certificate", "/{outside}", "D-0000000g", "D-00000000\n", "", 5])
def test_an_id_names_no_file_elsewhere(folder, tmp_path, name):
    if isinstance(name, str):
        name = name.format(outside=(tmp_path / OUTSIDE).with_suffix(""))
    database = sqlite3.connect(folder / DATABASE)
    (body,) = database.execute("SELECT body FROM finding WHERE number = 1").fetchone()
    database.close()
    body = json.dumps({**json.loads(body), "id": name})
    changed(folder, "UPDATE finding SET id = ?, body = ? WHERE number = 1", name, body)
    assert "id: not as the schema has it" in refused(folder)
    assert (tmp_path / OUTSIDE).read_text() == "mine"
    assert sorted(path.name for path in tmp_path.rglob("*.*")) == [DATABASE, OUTSIDE]


@pytest.mark.parametrize("name", ["corpus", "findings", DATABASE])
def test_a_link_in_the_folder_leads_nowhere(folder, tmp_path, name):
    (tmp_path / "elsewhere").mkdir()
    if name == DATABASE:
        (folder / name).rename(tmp_path / name)
    (folder / name).symlink_to(tmp_path / (name if name == DATABASE else "elsewhere"))
    with (
        pytest.raises(CampaignError, match=f"{name}: a symbolic link"),
        Campaign.resume(folder, tools=stand_in.TOOLS) as campaign,
    ):
        campaign.run(runs=BLOCK + 1)
    assert not list((tmp_path / "elsewhere").iterdir())


@pytest.mark.parametrize("member", ["target", "peer"])
def test_a_finding_is_of_a_target_of_the_campaign(folder, member):
    changed(folder, f"UPDATE finding SET body = json_set(body, '$.{member}', ?) WHERE number = 1", "nobody")
    assert "it is of no target of this campaign" in refused(folder)


DEEP = "[" * 100_000


@pytest.mark.parametrize(
    ("question", "value", "place"),
    [
        ("UPDATE header SET value = ? WHERE name = 'identities'", "[]", "header, identities"),
        ("UPDATE header SET value = ? WHERE name = 'identities'", '[["one", 5], ["two", 6]]', "header, identities"),
        ("UPDATE header SET value = ? WHERE name = 'job'", DEEP, "header, job"),
        ("UPDATE header SET value = ? WHERE name = 'job'", '{"targets": [["sh", 1]]}', "header, job"),
        ("UPDATE header SET value = ? WHERE name = 'seconds'", "1e999", "header, seconds"),
        ("UPDATE finding SET count = ?", "many", "table finding, "),
        ("UPDATE finding SET body = ?", '{"id": 1, "id": 2}', "finding D-"),
        ("UPDATE finding SET body = ?", b"\xff", "table finding, "),
        ("UPDATE total SET executions = ?", None, "table total, "),
        ("DELETE FROM total WHERE ?", 1, "table total"),
        ("UPDATE discovery SET seconds = ?", "soon", "table discovery, "),
        ("INSERT INTO note VALUES (?)", b"note", "table note, "),
        ("INSERT INTO asked VALUES (?, 'D', 1)", b"one", "table asked, "),
        ("INSERT INTO seed VALUES (0, ?)", b"more", "table seed"),
        ("UPDATE fingerprint SET target = 'one', count = ?, octave = 1, finding = ''", "x", "table fingerprint, "),
    ],
)  # fmt: skip
def test_a_damaged_file_gets_a_line_with_the_place(folder, question, value, place):
    changed(folder, question, value)
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
