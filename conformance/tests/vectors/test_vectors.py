"""Vector files: strides and single vectors give the same file, the check catches faults, ids keep their meaning."""

import hashlib
import json
import os
import sys
from importlib.resources import files
from importlib.util import find_spec
from itertools import islice, product

import jsonschema
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

from overlong.conformance.cli.verbs import cli
from overlong.conformance.support.strict_json import JsonError, loads
from overlong.conformance.vectors.check import check
from overlong.conformance.vectors.export import FORMATS, Selection
from overlong.conformance.vectors.families import all_vectors
from overlong.conformance.vectors.formats.data import json_line, sequence_lines
from overlong.conformance.vectors.suites import SUITES, suite_named
from overlong.conformance.vectors.suites.suite import ByteRangeSequence, kinds_of_octets
from overlong.conformance.vectors.vector import Vector, digest_of_ids, published, record, spelt, withdrawn
from overlong.reference import dialect

needs_columns = pytest.mark.skipif(
    not (find_spec("pyarrow") and find_spec("numpy")), reason="the extra 'columns' is not installed"
)
SEQUENCES = st.lists(st.sampled_from(kinds_of_octets()), min_size=1, max_size=6).map(
    lambda ranges: ByteRangeSequence("exhaustive", tuple(octets[:3] for octets in ranges))
)


def run(*words):
    return CliRunner().invoke(cli, [str(word) for word in words])


def test_an_id_in_full_is_read_without_the_suite_that_has_it():
    long = bytes(100) + b"\xc2"
    for vector in (
        Vector("fuzz", long), Vector("fuzz", b""), Vector("fuzz", long, chunks=(1, 0, 100)),
        Vector("fuzz", long, chunks=(101, 0), earlier=(b"\xc2", b"")),
        Vector("fuzz", b"", chunks=(0,), earlier=(b"a",)),
    ):  # fmt: skip
        assert Vector.from_id(vector.in_full) == vector


@pytest.mark.long
def test_json_and_json_lines_fit_the_published_schema(tmp_path):
    run("vectors", "export", "--format", "json", "--suite", "core", "-o", tmp_path / "v.json")
    run("vectors", "export", "--format", "jsonl", "--suite", "streams", "-o", tmp_path / "v.jsonl")
    schema = json.loads((files("overlong.conformance") / "schemas" / "vectors-1.schema.json").read_text())
    validator = jsonschema.Draft7Validator(schema)
    validator.check_schema(schema)
    validator.validate(json.loads((tmp_path / "v.json").read_text()))
    validator.validate(json.loads((tmp_path / "v.json.manifest.json").read_text()))
    for line in (tmp_path / "v.jsonl").read_text().splitlines():
        validator.validate(json.loads(line))
    check(tmp_path / "v.jsonl")


@pytest.mark.long
@settings(max_examples=150, deadline=None)
@given(SEQUENCES)
def test_lines_by_stride_are_the_records_one_by_one(strings):
    vectors = list(strings.vectors())
    assert b"".join(sequence_lines(strings)) == b"".join(json_line(record(vector)) for vector in vectors)
    assert strings.octets == b"".join(vector.octets for vector in vectors)
    assert sum(len(part) for part in strings.parts(5)) == len(strings)
    assert b"".join(part.octets for part in strings.parts(5)) == strings.octets


@pytest.mark.long
@needs_columns
@settings(max_examples=60, deadline=None)
@given(SEQUENCES)
def test_columns_by_stride_are_the_columns_one_by_one(strings):
    from overlong.conformance.vectors.formats import columnar as columns

    (by_stride,) = columns.batches([strings])
    (one_by_one,) = columns.batches([list(strings.vectors())])
    assert by_stride.equals(one_by_one)


@pytest.mark.long
@needs_columns
def test_columns_say_what_records_say():
    from overlong.conformance.vectors.formats import columnar as columns

    vectors = [*all_vectors(), *islice(SUITES["complete-0"].vectors(), 0, None, 50)]
    (batch,) = columns.batches([vectors])
    for row, vector in zip(batch.to_pylist(), vectors, strict=True):
        said = record(vector)
        strict, replacement = said["expect"]["strict"], said["expect"]["replacement"]
        assert row["id"] == said["id"]
        assert row["octets"].hex() == said["hex"]
        assert row["chunks"] == said.get("chunks")
        assert row["accept"] == (strict["verdict"] == "accept")
        for member in ("offset", "length", "incomplete", "detectable_at"):
            assert row[member] == strict.get(member)
        assert (row["scalars"] is None) == (strict["verdict"] == "reject")
        assert row["scalars"] is None or spelt(*row["scalars"]) == strict["scalars"]
        assert spelt(*row["replacement"]) == replacement["scalars"]
        counts = [len(each.split()) for each in replacement["chunked"]]
        assert row["put_out"] == [sum(counts[: place + 1]) for place in range(len(counts) - 1)]
        assert [row["flag"]] == (said["flags"] or [None])
        assert row["since"] == said["since"]


def test_all_strings_are_all_strings():
    assert {vector.octets for vector in suite_named("exhaustive-2").vectors()} == {
        bytes(octets) for length in (1, 2) for octets in product(range(256), repeat=length)
    }
    assert suite_named("exhaustive-2").size == 65_792
    sequences = suite_named("exhaustive-3").sequences
    assert sequences is not None
    sizes = [len(each) for each in sequences()]
    assert Selection(("exhaustive-3",)).count() == sum(sizes)


@pytest.mark.long
@pytest.mark.parametrize(
    "form", [pytest.param(each, marks=needs_columns) if each in ("arrow", "parquet") else each for each in FORMATS]
)
def test_every_format_gives_the_same_octets_again_and_its_manifest_holds(form, tmp_path):
    for folder in ("a", "b"):
        result = run("vectors", "export", "--format", form, "-o", f"{tmp_path / folder}/")
        assert result.exit_code == 0, result.output
    first, second = (
        {
            path.relative_to(tmp_path / folder): path.read_bytes()
            for path in (tmp_path / folder).rglob("*")
            if path.is_file()
        }
        for folder in ("a", "b")
    )
    assert first == second
    assert len(first) >= 3  # the vectors, the manifest, .gitattributes
    assert run("vectors", "check", tmp_path / "a").exit_code == 0
    manifest = json.loads((tmp_path / "a" / "manifest.json").read_text())
    assert manifest["vectors"] == len(all_vectors())
    for entry in manifest["files"]:
        octets = (tmp_path / "a" / entry["name"]).read_bytes()
        assert (len(octets), hashlib.sha256(octets).hexdigest()) == (entry["octets"], entry["sha256"])
    main = tmp_path / "a" / FORMATS[form].file
    main.write_bytes(main.read_bytes()[:-1] + b"?")
    result = run("vectors", "check", tmp_path / "a")
    assert result.exit_code == 1
    assert main.name in result.output


def test_expectations_stand_in_the_record_as_the_interfaces_say():
    assert record(Vector("overlong", b"\xe0\x80\xaf", "U+002F '/' in three octets")) == {
        "id": "overlong/e080af",
        "hex": "e080af",
        "comment": "U+002F '/' in three octets",
        "provenance": {
            "document": "RFC 3629",
            "section": "4",
            "rule": "UTF8-3",
            "alternative": "%xE0 %xA0-BF UTF8-tail",
        },
        "flags": ["OV201"],
        "since": "1.0.0",
        "expect": {
            "strict": {"verdict": "reject", "offset": 0, "length": 1, "incomplete": False, "detectable_at": 2},
            "replacement": {"scalars": "FFFD FFFD FFFD", "chunked": ["", "FFFD FFFD", "FFFD", ""]},
        },
    }


def a_document(**changes):
    test = record(Vector("input", b"\xc0\xaf"))
    head = {"schema": "overlong/vectors-1", "suite": "1.0.0", "notes": {}}
    document = {**head, "groups": [{"category": "input", "tests": [{**test, **changes}]}]}
    return json.dumps(document, indent=1)


def strict(**changes):
    expect = record(Vector("input", b"\xc0\xaf"))["expect"]
    return {"expect": {**expect, "strict": {**expect["strict"], **changes}}}


HOSTILE = {
    "cut": (a_document()[:-20], 2, ": Expecting"),
    "empty": ("", 2, ":1:"),
    "deep": ("[" * 100_000, 2, ":1:"),
    "deep-and-named": ('{"schema": ' + '{"a":' * 5000, 2, ":1:"),
    "twice": ('{"schema": "overlong/vectors-1",\n"suite": "1.0.0",\n"suite": "1.0.1"}', 2, ':3: the member "suite"'),
    "nan": ('{"schema":\nNaN}', 2, ":2: NaN"),
    "huge-number": ('{"schema":\n' + "9" * 10_000 + "}", 2, ":2: a number of 10000 digits"),
    "lone-surrogate": ('{"schema":\n"\\ud800"}', 2, ":2: a string with a lone surrogate"),
    "latin-1": ('{"schema": "\xe9"}'.encode("latin-1"), 2, ":1: not UTF-8"),
    "other-schema": ('{"schema": "x\x1b[2J\\u202e"}'.replace("\x1b", "\\u001b"), 2, ":1: not a file of vectors"),
    "newer": ('{"schema": "overlong/vectors-2"}', 2, "update overlong"),
    "no-document": ("[]", 2, ":1: not a file of vectors"),
    "wrong-type": (a_document(hex=7), 2, "groups[0].tests[0]"),
    "odd-hex": (a_document(hex="c0a"), 2, "groups[0].tests[0]"),
    "unknown-member": (a_document(surprise=1), 2, "groups[0].tests[0]"),
    "wrong-verdict": (a_document(**strict(offset=1)), 1, "strict offset 1; the reference has 0"),
    "wrong-id": (a_document(id="input/c0ae"), 1, "these octets have the id input/c0af"),
    "hostile-id": (a_document(id="\x1b]0;x\x07"), 2, "groups[0].tests[0]"),
    "wrong-flag": (a_document(flags=["OV202"]), 1, "flags"),
    "chunks": (a_document(chunks=[1, 2]), 1, "its chunks have 3 octets"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_check_refuses_with_one_line_that_names_file_and_place(name, tmp_path):
    content, code, said = HOSTILE[name]
    path = tmp_path / "v.json"
    path.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8"))
    result = run("vectors", "check", path)
    assert result.exit_code == code, result.output
    assert result.output.count("\n") == 1
    assert result.output.startswith(f"overlong: {path}")
    assert said in result.output
    assert result.output.rstrip("\n").isprintable()
    assert len(result.output) < 500 + len(str(path))


@pytest.mark.parametrize(
    ("change", "code", "said"),
    [
        (lambda lines: lines[:-1], 2, "the file was cut"),
        (lambda lines: lines[:-2] + lines[-1:], 2, "where its footer says"),
        (lambda lines: [*lines, lines[3]], 2, "a line after the footer"),
        (lambda lines: [*lines[:4], lines[3], *lines[4:]], 1, ":5: "),
        (lambda lines: [*lines[:4], "{", *lines[4:]], 2, ":5: column 2"),
        (lambda lines: lines[1:], 2, ":1: not a file of vectors"),
        (lambda lines: [], 2, ":1: an empty file"),
        (lambda lines: [*lines[:4], " " * (5 << 20), *lines[4:]], 2, ":5: a line of more than"),
    ],
)
def test_check_refuses_lines(change, code, said, tmp_path):
    path = tmp_path / "v.jsonl"
    run("vectors", "export", "--format", "jsonl", "nul", "-o", path)
    path.write_text("".join(f"{line}\n" for line in change(path.read_text().splitlines())))
    result = run("vectors", "check", path)
    assert result.exit_code == code, result.output
    assert said in result.output
    assert result.output.count("\n") == 1


@pytest.mark.parametrize("name", ["../x", "/etc/passwd", "a/../../x", "..\\x", ""])
def test_a_manifest_never_leads_out_of_its_folder(name, tmp_path):
    entry = {"name": name, "octets": 1, "sha256": "0" * 64}
    data = {"schema": "overlong/manifest-1", "suite": "1.0.0", "format": "tsv", "vectors": 1, "files": [entry]}
    (tmp_path / "manifest.json").write_text(json.dumps(data))
    result = run("vectors", "check", tmp_path)
    assert result.exit_code == 2
    assert "leads out of the folder" in result.output


def test_check_reads_no_odd_files(tmp_path):
    os.mkfifo(tmp_path / "pipe.json")
    for name, said in (
        ("pipe.json", "not a regular file"),
        ("none.json", "No such file"),
        ("", "without manifest.json"),
    ):
        result = run("vectors", "check", tmp_path / name)
        assert (result.exit_code, result.output.count("\n")) == (2, 1), result.output
        assert said in result.output


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers(-(10**15), 10**15) | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
        max_leaves=20,
    )
)
def test_strict_json_reads_what_json_writes(value):
    text = json.dumps(value)
    assert loads(text.encode("ascii"), "x") == value


@given(st.text(alphabet='{}[]":,\\ud8019 aNInfity-.eE\n', max_size=40))
def test_strict_json_raises_nothing_else(text):
    try:
        loads(text.encode("utf-8"), "x")
    except JsonError as error:
        assert "\n" not in str(error)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("export", "--format", "xml"), "no format 'xml'"),
        (("export", "--format", "json", "--suite", "all"), "no suite 'all'"),
        (("export", "--format", "json", "nope"), "no family 'nope'"),
        (("export", "--format", "json", "OV999"), "no code 'OV999'"),
        (("export", "--format", "json", "nothing/*"), "no vector matches"),
        (("export", "--format", "text"), "name a folder with -o"),
        (("list", "nothing/*"), "no vector matches"),
        (("show", "regression/simdjson-11691"), "the nearest case is regression/simdjson-1169"),
        (("show", "overlong/sha256-0000000000000000"), "no suite has a vector"),
    ],
)
def test_what_cannot_be_is_said_on_one_line(words, said):
    result = run("vectors", *words)
    assert result.exit_code == 2
    assert said in result.output
    assert "Traceback" not in result.output


def test_an_export_says_that_a_manifest_stands_beside_it(tmp_path):
    words = ("vectors", "export", "nul", "--format", "csv", "-o", tmp_path / "v.csv")
    manifest = tmp_path / "v.csv.manifest.json"
    said = run(*words).stderr.splitlines()
    assert said == [f"{said[0].partition(' vectors')[0]} vectors: {tmp_path / 'v.csv'}", f"with a manifest: {manifest}"]
    assert manifest.exists()
    assert run(*words[:-2]).stderr == ""  # a stream has no manifest


@pytest.mark.skipif(sys.platform == "win32", reason="links and pipes")
def test_an_export_leaves_links_and_pipes_where_they_are(tmp_path):
    words = ("vectors", "export", "nul", "--format", "csv")
    wanted = run(*words).stdout_bytes
    (tmp_path / "link").symlink_to(tmp_path / "file")
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "to the pipe").symlink_to("pipe")
    assert run(*words, "-o", tmp_path / "link").exit_code == 0
    assert (tmp_path / "file").read_bytes() == wanted
    reader = os.open(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    try:
        for name in ("pipe", "to the pipe"):
            result = run(*words, "-o", tmp_path / name)
            assert "manifest" not in result.stderr
            assert os.read(reader, 1 << 16) == wanted
    finally:
        os.close(reader)
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "pipe").is_fifo()
    assert not list(tmp_path.glob("*pipe.*"))


def test_show_finds_by_id_by_case_and_by_octets():
    by_case = run("vectors", "show", "regression/simdjson-1169").output
    identifier = by_case.splitlines()[0]
    assert run("vectors", "show", identifier).output == by_case
    assert "reject at 63, 1 octet" in by_case
    assert "https://github.com/simdjson/simdjson/issues/1169" in by_case
    chunked = json.loads(run("vectors", "show", "C3.A9", "--format", "json").output)
    assert chunked["chunks"] == [1, 1]
    assert chunked["expect"]["replacement"]["chunked"] == ["", "00E9", ""]


def test_list_selects():
    listed = run("vectors", "list", "ov202", "surrogate/*").output.splitlines()
    assert listed
    assert all(line.startswith("surrogate/") and "  reject  " in line for line in listed)
    assert len(run("vectors", "list").output.splitlines()) == len(all_vectors())


def test_ids_are_registered_and_the_profile_is_frozen():
    ids = {vector.id for vector in all_vectors()}
    assert set(published()) == ids | set(withdrawn())
    frozen = json.loads((files("overlong.conformance") / "registry" / "rfc3629@1.json").read_text("ascii"))
    for name, suite in frozen["suites"].items():
        known = [vector.id for vector in SUITES[name].vectors()]
        held = [each for each in known if published().get(each, frozen["version"]) == frozen["version"]]
        assert (len(held), digest_of_ids(held)) == (suite["count"], suite["ids"])


def test_provenance_names_an_alternative_of_the_grammar():
    rules = dialect().grammar.rules.values()
    alternatives = {(each.rule, each.text) for rule in rules for each, _ in rule.alternatives}
    for vector in all_vectors():
        rule, alternative = vector.provenance
        assert (rule == "") == (vector.octets == b"")
        if alternative:
            assert (rule, alternative) in alternatives
