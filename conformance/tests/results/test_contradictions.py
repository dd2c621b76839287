"""A file of results that contradicts itself is no report: what was changed by hand, or half, must not look clean."""

import json

import pytest

from overlong.conformance import certify
from overlong.conformance.certification.matrix import MatrixRow, conditions_here, statement
from overlong.conformance.results.model import State
from overlong.conformance.results.reading import data, read
from overlong.conformance.results.records import ReportError
from overlong.conformance.results.results_file import report_of_run
from overlong.conformance.results.statements import as_json
from overlong.conformance.sweep.sweep import sweep

WRONG = "cpython-surrogatepass"


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """Files of a run of a wrong decoder, by name."""
    folder = tmp_path_factory.mktemp("results")
    certificate = certify(WRONG, suites=["core"], plans=(), output=folder)
    predicate = json.loads(certificate.to_json())["predicate"]["overlong"]
    claims, buckets = predicate["claims"], tuple(predicate["buckets"])
    row = MatrixRow(target=WRONG, state=State.DIVERGES, claims=claims, buckets=list(buckets))
    return {
        "certificate.json": json.loads(certificate.to_json()),
        "matrix.json": statement([row], conditions_here("rfc3629@1", (), None), "overlong matrix"),
        "report.json": json.loads(data(report_of_run(certificate))),
        "sweep.json": as_json(sweep("cpython-surrogateescape", ["exhaustive-1"])),
        "results.jsonl": list(map(json.loads, (folder / "results.jsonl").read_text().splitlines())),
    }


def written(content, path):
    lines = content if isinstance(content, list) else [content]
    path.write_text("".join(json.dumps(each) + "\n" for each in lines))
    return path


def claims_hold(said):
    overlong = said["predicate"]["overlong"]
    overlong.update(claims=dict.fromkeys(overlong["claims"], "holds"), buckets=[])


def no_buckets(said):
    said[:] = [each for each in said if each["record"] != "bucket"]
    said[-1]["claims"] = dict.fromkeys(said[-1]["claims"], "holds")


@pytest.mark.parametrize(
    ("name", "change", "place"),
    [
        ("certificate.json", claims_hold, "predicate.result: it is FAILED, and by the rest"),
        ("certificate.json", lambda said: said["predicate"].update(result="PASSED"), "predicate.result: it is PASSED"),
        ("matrix.json", lambda said: said["targets"][0].update(state="conforms"), f"the state of {WRONG}: it is conf"),
        ("report.json", lambda said: said["subjects"][0].update(state="conforms"), f"the state of {WRONG}: it is conf"),
        ("sweep.json", lambda said: said.update(conformant=True), "conformant: it is True"),
        ("sweep.json", lambda said: said.update(conformant=True, buckets=[]), "conformant: it is True"),
        ("results.jsonl", no_buckets, "strings fail, and no bucket says how"),
    ],
)  # fmt: skip
def test_it_is_refused_with_the_place(results, tmp_path, name, change, place):
    content = json.loads(json.dumps(results[name]))
    path = written(content, tmp_path / name)
    assert read([path]).subjects[0].causes
    change(content)
    written(content, path)
    with pytest.raises(ReportError) as caught:
        read([path])
    assert str(caught.value).startswith(f"{path}: ")
    assert place in str(caught.value)
