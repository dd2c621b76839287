"""Lists of values: each value is judged separately, whatever their concatenation is."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from overlong.conformance import certify
from overlong.conformance.cli.verbs import cli
from overlong.conformance.oracle.compare import compare, expected_of
from overlong.conformance.protocol.observation import SEPARATE_VALUES, Accepted, Code, Crashed, Refused
from overlong.conformance.protocol.wire import SEPARATE, UNITS, stream_payload
from overlong.conformance.report.formats import FORMATS
from overlong.conformance.results.model import HOLDS
from overlong.conformance.targets.builtins import BUILTINS
from overlong.conformance.vectors.suites import QUICK, SUITES
from overlong.conformance.vectors.vector import Vector
from overlong.reference import Decoded, Rejected
from zoo import ZOO

SUITE = SUITES["separate-values"]


def passes_cpython(octets: bytes) -> bool:
    try:
        octets.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def test_expected_verdicts_are_those_of_cpython_on_each_value():
    for batch in SUITE.batches():
        right = bytes(b"RA"[all(map(passes_cpython, vector.values))] for vector in batch)
        assert batch.expected(SEPARATE, UNITS["utf-32"]).statuses == right
        lengths, octets = batch.payloads(SEPARATE)
        asked = [stream_payload(vector.octets, vector.pieces) for vector in batch]
        assert (list(lengths), octets) == (list(map(len, asked)), b"".join(asked))


def test_lists_of_the_suite_are_what_it_says():
    vectors = list(SUITE.vectors())
    assert SUITE.size == len(vectors) == len({vector.id for vector in vectors}) < 2000
    assert max(len(vector.id) for vector in vectors) < 200
    joined = [v for v in vectors if passes_cpython(v.octets) and not all(map(passes_cpython, v.values))]
    assert len(joined) > 500
    assert sum(all(map(passes_cpython, vector.values)) for vector in vectors) > 150
    ends = {sum(map(len, vector.values[:-1])) for vector in joined}
    assert {127, 128, 129, 255, 256, 257, 32767, 32768, 32769, 65535, 65536, 65537} <= ends
    assert {len(vector.values) for vector in joined} >= {2, 3, 4, 64, 256, 1024, 65535}
    assert any(b"" in vector.values for vector in joined)
    for size in (2, 3, 4):
        cuts = {v.pieces for v in joined if len(v.octets) == size and 0 not in v.pieces}
        assert len(cuts) >= 2 ** (size - 1) - 1, f"a character of {size} octets is cut in every way"


@pytest.mark.parametrize(
    ("octets", "values", "observed", "code"),
    [
        (b"\xc3\xa9", (1, 1), Refused(), None),
        (b"\xc3\xa9", (1, 1), Refused(7), None),
        (b"\xc3\xa9", (1, 1), Accepted(), Code.JOINED_VALUES),
        (b"\xc3\xa9", (2, 0), Accepted(), None),
        (b"\xc3\xa9", (0, 2), Refused(), Code.LIST_REFUSED),
        (b"\xc0\x80\xc3\xa9", (3, 1), Accepted(), "OV201"),
        (b"\xc3\xa9", (1, 1), Crashed("was ended by SIGSEGV"), Code.CRASHED),
    ],
)
def test_what_is_wrong_with_an_answer(octets, values, observed, code):
    found = compare(Vector("values", octets, chunks=values), SEPARATE, observed)
    assert (found and found.code) == code


def test_what_was_expected_says_which_value():
    assert expected_of(Vector.from_id("values/61.c3.a9"), SEPARATE) == Rejected(1, 1, incomplete=True)
    assert expected_of(Vector.from_id("values/61.c3a9"), SEPARATE) == Decoded(())
    assert expected_of(Vector.from_id("values/c3"), SEPARATE) == Rejected(0, 1, incomplete=True)


CALLABLES = """
def text_of_each(values):
    return [value.decode() for value in values]

def bool_of_each(values):
    return [bytes(value).decode("utf-8", "ignore").encode() == value for value in values]

def one_bool(values):
    try:
        return all(isinstance(value.decode(), str) for value in values)
    except Exception:
        return False

def too_few(values):
    return bool_of_each(values)[:100]
"""


@pytest.mark.long_after(3)
@pytest.mark.parametrize(
    ("name", "codes"),
    [("text_of_each", set()), ("bool_of_each", set()), ("one_bool", set()), ("too_few", {Code.INTERNAL_ERROR})],
)
def test_callables_that_take_a_list(tmp_path: Path, name, codes):
    (tmp_path / "lists.py").write_text(CALLABLES)
    certificate = certify(f"py:{tmp_path / 'lists.py'}:{name}", suites=QUICK, plans=())
    assert certificate.run.codes == codes
    assert [part.suite.name for part in certificate.run.suites] == ["separate-values"]
    assert certificate.run.suites[0].done == SUITE.size
    if not codes:
        assert certificate.conformant
        assert certificate.claims[SEPARATE_VALUES] == HOLDS
        assert certificate.refused == ""


@pytest.mark.long
@pytest.mark.parametrize("name", ["pyarrow", "cbor2"])
def test_columns_and_chunks_are_judged_value_by_value(name):
    if why := BUILTINS[name].missing():
        pytest.skip(why)
    certificate = certify(name, suites=["separate-values"])
    assert certificate.run.buckets == {}
    assert certificate.claims[SEPARATE_VALUES] == HOLDS


def test_the_claim_is_only_of_targets_that_take_lists():
    assert SEPARATE_VALUES not in certify("cpython", suites=["core"]).claims


def test_an_expectation_of_lists_cannot_be_judged_where_none_are_asked(tmp_path: Path):
    (tmp_path / "expected.toml").write_text(
        '[[expected]]\ntarget = "*"\ncode = "OV901"\nobserved = "accepted*"\nreason = "columns"\n'
    )
    words = ["certify", "-v", "--suite", "core", "--expected", str(tmp_path / "expected.toml")]
    result = CliRunner().invoke(cli, [*words, "-o", str(tmp_path / "out"), "cpython"])
    assert result.exit_code == 0, result.output
    assert "not measured: separate values" in " ".join(result.output.split())


@pytest.mark.long
def test_what_was_found_can_be_reported_and_verified(tmp_path: Path):
    target = f"py:{ZOO / 'known_wrong.py'}:values_joined"
    certify(target, suites=QUICK, plans=(), output=tmp_path)
    for form in FORMATS:
        out = tmp_path / f"report.{form}"
        result = CliRunner().invoke(cli, ["report", str(tmp_path), "--format", form, "-o", str(out)])
        assert result.exit_code == 1, result.output  # the exit status of a divergence
    assert "C2 80 in values of 1, 1" in (tmp_path / "report.markdown").read_text("utf-8")
    assert "<dt>in values of</dt>" in (tmp_path / "report.html").read_text("utf-8")
    result = CliRunner().invoke(cli, ["verify", str(tmp_path / "certificate.json"), target])
    assert "VERIFIED  octet for octet" in result.output
