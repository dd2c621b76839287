"""Reports of campaigns: made from ``campaign.json`` alone, they agree with the campaign."""

from __future__ import annotations

import json
from importlib.resources import files

import jsonschema
import pytest
from click.testing import CliRunner

from overlong.conformance.cli.verbs import cli
from overlong.conformance.report.formats import FORMATS
from overlong.conformance.results.model import ReportKind, Standing, State
from overlong.conformance.results.reading import read
from overlong.fuzz.campaign.state import state_in

pytestmark = pytest.mark.long

PASSES_SURROGATES = 'def decode(octets):\n    return octets.decode("utf-8", "surrogatepass")\n'


@pytest.fixture(scope="module")
def campaign(tmp_path_factory):
    """A folder with a campaign of a right decoder and a wrong one, and the command's output."""
    folder = tmp_path_factory.mktemp("fuzz")
    (folder / "decoder.py").write_text(PASSES_SURROGATES)
    words = ["fuzz", "--runs", "2k", "--seed", "1", "--jobs", "1", "--format", "html,json,markdown", "-o"]
    done = CliRunner().invoke(cli, [*words, str(folder / "it"), "cpython", f"py:{folder}/decoder.py:decode"])
    assert done.exit_code == 1, done.output
    return folder / "it", done.stdout


def valid(name, path):
    schema = json.loads((files("overlong.conformance") / "schemas" / f"{name}-1.schema.json").read_text("ascii"))
    value = json.loads(path.read_text("ascii"))
    jsonschema.Draft202012Validator(schema).validate(value)
    return value


def test_a_report_says_what_the_campaign_found(campaign):
    folder, _ = campaign
    statement = valid("campaign", folder / "campaign.json")
    report = read([folder])
    assert report.kind is ReportKind.FUZZ
    assert [subject.state for subject in report.subjects] == [State.CONFORMS, State.DIVERGES]
    assert report.time == statement["times"]["begun"]
    assert report.discovery[-1].findings == len(statement["findings"])
    causes = {cause.id: cause for subject in report.subjects for cause in subject.causes}
    kept = state_in(folder).findings
    assert causes.keys() == kept.keys()
    for name, cause in causes.items():
        valid("finding", folder / "findings" / f"{name}.json")
        stored = kept[name]
        assert (cause.octets, cause.chunks, cause.earlier) == (stored.octets, stored.chunks, stored.earlier)
        assert (cause.code, cause.count, cause.observed) == (stored.code, stored.count, stored.observed)
        assert (cause.standing is Standing.DIFFERENCE) == stored.is_difference


def test_the_command_in_a_report_shows_the_finding_again(campaign):
    folder, _ = campaign
    (cause,) = (cause for cause in read([folder]).subjects[1].causes if cause.code == "OV202")
    done = CliRunner().invoke(cli, cause.reproduce.split()[1:])
    assert done.exit_code == 1
    assert "OV202" in done.stdout


def test_what_fuzz_writes_is_what_report_writes_later(campaign, tmp_path):
    folder, said = campaign
    again = CliRunner().invoke(cli, ["report", "--format", "html,json,markdown", "-o", str(tmp_path), str(folder)])
    assert again.exit_code == 1
    for name in ("html", "json", "markdown"):
        file = FORMATS[name].file
        assert f"report: {folder / file}" in said
        assert (folder / file).read_bytes() == (tmp_path / file).read_bytes()
