"""Every JSON that is written for others has a schema of draft 2020-12, and is as that says."""

from __future__ import annotations

import json
import re
from importlib.resources import files
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from click.testing import CliRunner

from overlong.conformance.cli.verbs import cli
from overlong.conformance.oracle.target import KINDS
from overlong.conformance.protocol.wire import MEASURED
from zoo import ZOO

DRAFT = "https://json-schema.org/draft/2020-12/schema"
ROOT = Path(__file__).parents[3]
SPEAKERS = ZOO / "speakers.py"
SCHEMAS = {
    each.name.removesuffix(".schema.json"): json.loads(each.read_text("ascii"))
    for each in (files("overlong.conformance") / "schemas").iterdir()
    if each.name.endswith(".schema.json")
}


@pytest.mark.parametrize("name", ["results-1", "certificate-1"])
def test_schemas_know_each_kind_of_divergence_of_a_sweep(name: str) -> None:
    known = re.findall(r'"enum": (\[[^]]+"did not answer in time"[^]]+\])', json.dumps(SCHEMAS[name]))
    assert known
    assert all(json.loads(each) == list(KINDS.values()) for each in known)


def test_every_schema_that_code_names_is_there_and_no_other() -> None:
    code = [
        path.read_text("utf-8")
        for portion in ("conformance", "fuzz")
        for path in (ROOT / portion / "overlong").rglob("*.py")
    ]
    named = {name for text in code for name in re.findall(r'"overlong/([a-z-]+-\d+)"', text)}
    defined = {
        name for schema in SCHEMAS.values() for name in re.findall(r"overlong/([a-z-]+-\d+)", json.dumps(schema))
    }
    assert named <= defined
    assert "report-1" in named
    assert {name for name in SCHEMAS if any(f'{name}"' in text for text in code)} == set(SCHEMAS)


@pytest.mark.parametrize("name", sorted(SCHEMAS))
def test_schemas_are_of_the_draft_that_the_page_says(name: str) -> None:
    schema = SCHEMAS[name]
    jsonschema.Draft202012Validator.check_schema(schema)
    assert schema["$schema"] == DRAFT
    assert schema["$id"] == f"urn:overlong:schema:{name}"
    page = (ROOT / "docs" / "formats.md").read_text("utf-8")
    assert f"## {name}\n" in page
    keywords = set(re.findall(r'"([$A-Za-z]+)":', json.dumps(schema)))
    assert not keywords & {"definitions", "additionalItems", "dependencies"}  # of draft 07


def valid(name: str, data: Any) -> Any:
    """The data, which is what ``report-1`` says of this part."""
    jsonschema.Draft202012Validator(SCHEMAS["report-1"]).validate(data)
    jsonschema.Draft202012Validator(SCHEMAS["report-1"] | {"oneOf": [{"$ref": f"#/$defs/{name}"}]}).validate(data)
    return data


def printed(*words: str, codes: tuple[int, ...] = (0,)) -> Any:
    result = CliRunner().invoke(cli, list(words))
    assert result.exit_code in codes, result.output
    return json.loads(result.stdout)


@pytest.mark.long
def test_what_verbs_print_is_as_the_schemas_say(tmp_path: Path) -> None:
    """The other verbs' files are validated where these are tested."""
    listed = tmp_path / "list.txt"
    listed.write_text("c0 80\n61\n", "ascii")
    valid("score", printed("vectors", "score", "--format", "json", str(listed), codes=(0, 1)))
    valid("target_list", printed("target", "list", "--format", "json"))
    valid("target_check", printed("target", "check", "--format", "json", "cpython"))
    jsonschema.Draft202012Validator(SCHEMAS["vectors-1"]).validate(
        printed("vectors", "show", "overlong/e080af", "--format", "json")
    )
    data = valid("identity", printed("identify", "--format", "json", f"py:{SPEAKERS}:overlong_from_32"))
    assert data["traits"][0]["against"]
    data = valid("identity", printed("identify", "--format", "json", f"py:{SPEAKERS}:unlike_anything"))
    assert data["traits"][0]["departures"]
    run = tmp_path / "run"
    CliRunner().invoke(cli, ["certify", "cpython-surrogatepass", "--suite", "core", "-o", str(run)])
    found = CliRunner().invoke(cli, ["finding", "list", "--format", "json", str(run)]).stdout.splitlines()
    assert valid("cause", json.loads(found[0]))["octets"] == "eda080"
    few = printed("identify", "--format", "json", "--limit", "questions=10", f"py:{SPEAKERS}:rfc3629", codes=(4,))
    assert "not_settled" in valid("identity", few)["traits"][0]


def test_every_operation_that_is_measured_can_be_written():
    """An enumeration of operations is complete: a file with a finding of one that is missing could not be read."""

    def enumerations(part: Any):
        if isinstance(part, dict):
            yield from [part["enum"]] if isinstance(part.get("enum"), list) else []
            part = list(part.values())
        for each in part if isinstance(part, list) else []:
            yield from enumerations(each)

    found = [words for schema in SCHEMAS.values() for words in enumerations(schema) if {"V", "D", "G"} <= set(words)]
    assert len(found) > 5
    assert all(set(words) == set(MEASURED) for words in found)
