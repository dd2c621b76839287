"""The score of a list: slower code checks every figure, every format is read, every hostile file refused."""

import io
import json
import os
import re
import tracemalloc
from itertools import product
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

from overlong.conformance.cli import vectors as command_module
from overlong.conformance.cli.vectors import score_command as command
from overlong.conformance.models.faults import (
    SHAPES,
    Specimen,
    scalar_faults,
    shape_faults,
    step_faults,
    transition_faults,
)
from overlong.conformance.models.historical import CLASSES, STREAMS, WHOLE
from overlong.conformance.models.list_files import FORMATS, entries
from overlong.conformance.models.list_forms import ReadError
from overlong.conformance.models.score import lower_bound, score, small_cover, wrong_expectations
from overlong.conformance.vectors.export import FORMATS as EXPORTED
from overlong.conformance.vectors.export import Selection, to_stream
from overlong.conformance.vectors.pieces import complete_strings
from overlong.conformance.vectors.suites import SUITES
from overlong.conformance.vectors.vector import Vector
from overlong.fuzz.strategies import near_misses
from overlong.reference import dialect

AUTOMATON = dialect().automaton
STATES = range(len(AUTOMATON))
OURS = [vector for name in ("core", "complete-0") for vector in SUITES[name].vectors()]


def hex_file(path, strings):
    path.write_text("".join(string.hex() + "\t\n" for string in strings))
    return str(path)


def run(*words, **options):
    return CliRunner().invoke(command, list(words), env={"COLUMNS": "80"}, **options)


def refused(*words, **options):
    """The message about an unreadable list: one line, and exit status 2."""
    done = run(*words, **options)
    assert done.exit_code == 2, done.output
    assert done.stdout == ""
    (line,) = without_progress(done.stderr)
    assert line.startswith("overlong: ")
    return line + "\n"


def without_progress(stderr):
    """The lines of stderr, without the progress that a slow machine has time to print."""
    return [line for line in stderr.splitlines() if not line.startswith("covered ")]


def shown(faults, *strings):
    for string in strings:
        faults.take(Specimen(string))
    return faults


# (a) single-transition faults -------------------------------------------------------------------------------


def test_the_complete_suite_scores_everything():
    faults = shown(transition_faults(AUTOMATON), *complete_strings(AUTOMATON))
    assert faults.total == 18_441
    assert not faults.live


@pytest.mark.long
def test_the_strings_of_one_and_two_octets_score_a_fifth(tmp_path):
    strings = [bytes(string) for length in (1, 2) for string in product(range(256), repeat=length)]
    result = score(hex_file(tmp_path / "short.txt", strings))
    assert (result.strings, result.read, result.with_verdict) == (65_792, 65_792, 0)
    assert (result.transitions.caught, result.transitions.total) == (3_965, 18_441)
    assert result.transitions.percent == 21.5
    assert result.steps.caught == result.steps.total == 2_056
    assert not {vector.octets for vector in result.to_add} & set(strings)


@pytest.mark.long
@settings(max_examples=150, deadline=None)
@given(st.lists(near_misses(max_pieces=6), max_size=4), st.randoms())
def test_the_incremental_computation_is_the_naive_one(strings, random):
    faults = transition_faults(AUTOMATON)
    everything = set(faults.live)
    shown(faults, *strings)
    found = everything - set(faults.live)

    def killed(mutant):
        return any(mutant.accepts(string) != AUTOMATON.accepts(string) for string in strings)

    octets = sorted({octet for string in strings for octet in string}) or [0]
    for _ in range(60):  # mutants that the strings can reach; recurring octets are the difficult ones
        state, octet, to = random.choice(STATES), random.choice(octets), random.choice(STATES)
        if to != AUTOMATON.table[state][octet]:
            assert killed(AUTOMATON.redirected(state, octet, to)) == ((state, octet, to) in found)
    for state in STATES:
        assert killed(AUTOMATON.flipped(state)) == ((state,) in found)


@pytest.mark.long
def test_long_strings_are_no_obstacle():
    """The search follows a mutant in leaps, so these strings take a moment, not minutes."""
    for string in ("日本語テキスト".encode() * 20_000, b"\xe3\x81" * 100_000, bytes(range(256)) * 1_000):
        transition_faults(AUTOMATON).shown(Specimen(string))


# (b) historical faults --------------------------------------------------------------------------------------

NAMED = {  # for each class that is no grammar, a string that shows it; for a grammar the test looks for one of ours
    "only-first-16": b"a" * 16 + b"\xff",
    "only-first-32": b"a" * 32 + b"\xff",
    "only-first-64": b"a" * 64 + b"\xff",
    "block-end-16": b" " * 15 + b"\xff",
    "block-end-32": b" " * 31 + b"\xff",
    "block-end-64": b" " * 63 + b"\xff",
    "ascii-forgets-16": b"a" * 15 + b"\xd8" + b"a" * 16,
    "ascii-forgets-32": b"a" * 31 + b"\xd8" + b"a" * 32,
    "ascii-forgets-64": b"a" * 63 + b"\xd8" + b"a" * 64,
    "ascii-overshoots": b"a" * 16 + b"\xff",
    "replacement-refused": "\ufffd".encode(),
    "noncharacters-refused": "\ufdd0".encode(),
    "nul-ends-text": b"a\0b",
    "signature-stripped": "\ufeffa".encode(),
    "signatures-dropped": "a\ufeff".encode(),
    "sixteen-bits": "\U0001f600".encode(),
    "text-mode": b"\r\n",
}
CUT = {
    "chunks-alone": [b"\xc3", b"\xa9"],
    "two-of-four-lost": [b"\xf0\x9f", b"\x98\x80"],
    "signature-in-chunk": [b"a", "\ufeff".encode()],
}


@pytest.mark.long_after(16)
@pytest.mark.parametrize("model", WHOLE, ids=lambda model: model.name)
def test_each_wrong_decoder_is_wrong_on_a_named_string_and_right_elsewhere(model):
    strings = [NAMED[model.name]] if model.name in NAMED else [vector.octets for vector in OURS]
    assert any(model.differs(Specimen(string)) for string in strings)
    right = [b"plain", b"\xc2\x80\x80"]  # harmless ASCII; and ill-formed octets that all but two refuse
    assert not model.differs(Specimen(right[0]))
    if model.name not in ("unchecked", "lone-tails"):
        assert not model.differs(Specimen(right[1]))


@pytest.mark.parametrize("model", STREAMS, ids=lambda model: model.name)
def test_each_wrong_stream_decoder_is_wrong_only_where_it_is_cut(model):
    chunks = CUT[model.name]
    whole = b"".join(chunks)
    assert model.differs(Specimen(whole, map(len, chunks)))
    assert not model.differs(Specimen(whole, [len(whole)]))


def test_there_are_enough_classes_with_stable_names():
    assert len(CLASSES) == len(WHOLE) + len(STREAMS) >= 40
    assert {"overlong-slash", "surrogates", "beyond-f4", "truncated-at-end", "block-end-64"} <= set(CLASSES)
    assert all(line and "\n" not in line for line in CLASSES.values())


def test_our_vectors_show_every_class_and_every_output_fault(tmp_path):
    result = score(hex_file(tmp_path / "ours.txt", [vector.octets for vector in OURS]))
    assert result.historical.missed == ()
    assert (
        sum(each.caught for each in result.outputs)
        == sum(each.total for each in result.outputs)
        == 110 + len(SHAPES) + 2_056
    )
    assert result.transitions.percent == result.alternatives.percent == result.boundaries.percent == 100
    assert result.to_add == ()
    assert result.at_least == 0


# (c), (d) output faults and coverage ------------------------------------------------------------------------


def test_a_stuck_bit_shows_where_the_other_value_stands():
    bits = shown(scalar_faults(), "é".encode())  # U+00E9: eleven bits, each with one value
    assert bits.total - len(bits.live) == 11
    assert "bit 0 of 2 octets stuck at 1" in bits.missed
    assert "bit 0 of 2 octets stuck at 0" not in bits.missed
    assert not scalar_faults().shown(Specimen("é".encode() + b"\xff"))  # a strict decoder puts out no text


@settings(max_examples=100, deadline=None)
@given(st.characters(exclude_categories=["Cs"]))
def test_stuck_bits_are_those_of_the_scalar_value(character):
    octets = character.encode()
    missed = shown(scalar_faults(), octets).missed
    for name in missed:
        bit, length, stuck = (int(word) for word in name.split() if word.isdigit())
        assert length != len(octets) or ord(character) >> bit & 1 == stuck
    assert len(missed) == 110 - {1: 7, 2: 11, 3: 16, 4: 21}[len(octets)]


@pytest.mark.parametrize(
    ("name", "shows", "hides"),
    [
        ("offset-zero", b"a\xff", b"\xff"),
        ("offset-of-offender", b"\xe2\x82", b"\xff"),
        ("offset-in-scalars", b"\xc3\xa9\xff", b"a\xff"),
        ("length-one", b"\xe2\x82", b"\xe2"),
        ("length-with-offender", b"\xe2\x82a", b"\xe2\x82"),
        ("length-announced", b"\xe2\x82a", b"\xe2\x82"),
        ("always-incomplete", b"\xc3a", b"\xc3"),
        ("never-incomplete", b"\xc3", b"\xc3a"),
        ("replaced-per-octet", b"\xe2\x82a", b"\xe0\x80\xaf"),
        ("replaced-per-run", b"\xe0\x80\xaf", b"\xe2\x82a\xff"),
        ("replaced-per-announced", b"\xe0\x80\xaf", b"\xe2\x82a"),
        ("offender-swallowed", b"\xe2\x82a", b"\xe2\x82"),
        ("nothing-replaced", b"\xff", b"a"),
        ("offset-plus-one", b"\xff", b"a"),
    ],
)
def test_what_shows_a_wrong_report(name, shows, hides):
    assert name not in shown(shape_faults(), shows).missed
    assert name in shown(shape_faults(), hides).missed


def test_every_shape_is_tested():
    (mark,) = test_what_shows_a_wrong_report.pytestmark
    assert {name for name, _, _ in mark.args[1]} == set(SHAPES)


def test_a_step_of_the_replacing_decoder_is_found_where_it_is_taken():
    missed = shown(step_faults(), b"\xe2\x82a").missed
    assert len(missed) == 2_056 - 4  # three octets and the end
    assert not {"start E2", "[E1] 82", "[C2] 61", "start end"} & set(missed)


@pytest.mark.long
def test_boundaries_and_alternatives(tmp_path):
    result = score(hex_file(tmp_path / "some.txt", [b"\xe0\x9f", b"\xe0\xa0\x80"]))
    assert (result.alternatives.caught, result.alternatives.total) == (1, 9)
    touched = {"9F just outside A0-BF", "A0 at the edge of A0-BF", "80 at the edge of 80-BF"}
    e0 = [line for line in result.boundaries.missed if "%xE0 %xA0-BF" in line]
    assert not any(line.startswith(each) for line in e0 for each in touched)
    assert any(line.startswith("BF at the edge of A0-BF") for line in e0)


# (e) expectations -------------------------------------------------------------------------------------------


@pytest.mark.long
def test_a_wrong_expectation_is_found_with_its_place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # so that the line has the whole file name, even if the folder's path is long
    file = Path("mine.txt")
    file.write_text("e282ac valid\n# a comment\nreject E0 80 AF\nc080 ok   # Java\n")
    done = run(str(file))
    assert done.exit_code == 1
    assert "wrong expectations: 1\n" in done.stdout
    assert f"{file}:4: C0 80: verdict accept, must be reject" in " ".join(done.stdout.split())
    assert max(map(len, done.stdout.splitlines()[1:])) <= 80


@pytest.mark.parametrize(
    ("octets", "strict", "replacement", "what"),
    [
        ("e282ac", {"verdict": "accept", "scalars": "20AD"}, None, "scalars"),
        ("61ff", {"verdict": "reject", "offset": 0}, None, "offset"),
        ("e282", {"verdict": "reject", "offset": 0, "length": 3}, None, "length"),
        ("e282", {"verdict": "reject", "incomplete": False}, None, "incomplete"),
        ("61", {"verdict": "accept", "offset": 0}, None, "offset"),
        ("ff", {"scalars": "FFFD"}, None, "scalars"),
        ("e080af", {"verdict": "reject"}, "FFFD", "replacement"),
        ("ff", {"verdict": "accept", "scalars": "FF"}, "FF", "verdict"),
    ],
)
def test_each_kind_of_expectation_is_judged(tmp_path, octets, strict, replacement, what):
    expect = {"strict": strict} | ({"replacement": {"scalars": replacement}} if replacement else {})
    test = {"id": "x", "hex": octets, "expect": expect}
    file = tmp_path / "v.json"
    file.write_text(json.dumps({"schema": "overlong/vectors-1", "groups": [{"category": "x", "tests": [test]}]}))
    (entry,) = entries(str(file))
    (wrong,) = wrong_expectations(entry, Specimen(entry.octets))
    assert wrong.what == what
    assert wrong.place == f"{file}: groups[0].tests[0]"


# (f) what to add --------------------------------------------------------------------------------------------


@pytest.mark.long
@pytest.mark.parametrize("kind", ["two octets", "random", "nearly all"])
def test_what_is_added_closes_the_gap(tmp_path, kind):
    if kind == "two octets":
        strings = [bytes(string) for string in product(range(0, 256, 5), repeat=2)]
    elif kind == "random":
        strings = [os.urandom(1 + number % 16) for number in range(1000)]
    else:
        strings = [vector.octets for vector in OURS[::2]]
    mine, missing = hex_file(tmp_path / "mine.txt", strings), str(tmp_path / "missing.tsv")
    done = run(mine, "--add", missing, "--format", "json")
    assert done.exit_code == 0, done.output
    proposed = json.loads(done.stdout)["to_add"]
    assert 0.99 * len(proposed["vectors"]) <= proposed["at_least"] <= len(proposed["vectors"])
    together = score(mine, missing)
    assert together.transitions.caught == together.transitions.total
    assert not any(each.missed for each in together.outputs)
    assert together.historical.missed == ()
    assert together.to_add == ()
    assert together.wrong == ()
    assert together.with_verdict == len(proposed["vectors"])
    lines = [line.split("\t") for line in (tmp_path / "missing.tsv").read_text().splitlines()]
    assert [fields[2] for fields in lines] == proposed["vectors"]


@settings(max_examples=200, deadline=None)
@given(st.lists(st.frozensets(st.integers(0, 9), min_size=1), max_size=9))
def test_the_cover_covers_and_the_bound_is_a_bound(sets):
    chosen = small_cover(sets)
    everything = frozenset().union(*sets)
    assert frozenset().union(*(sets[number] for number in chosen)) == everything
    least = min(
        sum(choice)
        for choice in product((0, 1), repeat=len(sets))
        if frozenset().union(*(each for each, taken in zip(sets, choice, strict=True) if taken)) == everything
    )
    assert lower_bound(sets) <= least <= len(chosen)


# Reading ----------------------------------------------------------------------------------------------------

STRINGS = [b"", b"a", "é".encode(), b"\xe0\x80\xaf", "\U0001f600".encode(), b"\xff\xfe", b"a\0b", b"\n", b"#"]


def spaced(octets):
    return octets.hex(" ").upper()


def escaped(octets):
    return "".join(f"\\x{octet:02X}" for octet in octets)


def commas(octets):
    return ", ".join(f"0x{octet:X}" for octet in octets)


NOT_EMPTY = [string for string in STRINGS if string]
WRITTEN = {
    "plain": ("\n".join(map(bytes.hex, NOT_EMPTY)) + "\n", NOT_EMPTY),
    "spaced": ("# comment\r\n\r\n" + "\r\n".join(map(spaced, NOT_EMPTY)), NOT_EMPTY),
    "escaped": ("\n".join(f'"{escaped(each)}", // C' for each in NOT_EMPTY), NOT_EMPTY),
    "commas": ("\n".join(f"{{{commas(each)}}}  # {number}" for number, each in enumerate(NOT_EMPTY)), NOT_EMPTY),
    "tabs": ("".join(f"{each.hex()}\treject\tid\t# any text\n" for each in STRINGS), STRINGS),
    "numbered": ("".join(f"{number}: {spaced(each)}\n" for number, each in enumerate(STRINGS)), STRINGS),
    "sections": ("".join(f"1.{n}:invalid hex:{spaced(each)}\n" for n, each in enumerate(STRINGS)), STRINGS),
    "capitals": ("".join(f"{n}:INVALID {spaced(each)}\n" for n, each in enumerate(NOT_EMPTY)), NOT_EMPTY),
    "arrays": (json.dumps(list(map(list, STRINGS))), STRINGS),
    "objects": (json.dumps([{"input": list(each), "valid": True} for each in STRINGS], indent=1), STRINGS),
    "hex array": (json.dumps({"tests": [each.hex() for each in STRINGS]}), STRINGS),
    "bom": ("\ufeff# from Windows\r\n61\r\n", [b"a"]),
}


@pytest.mark.parametrize("name", WRITTEN)
def test_lists_as_people_write_them(tmp_path, name):
    text, strings = WRITTEN[name]
    file = tmp_path / "list"
    file.write_bytes(text.encode())
    assert [entry.octets for entry in entries(str(file))] == strings


@pytest.mark.long
@pytest.mark.parametrize("form", ["json", "jsonl", "tsv"])
@pytest.mark.parametrize("piped", [False, True])
def test_our_own_formats_give_the_same_strings_and_no_wrong_expectation(tmp_path, form, piped, monkeypatch):
    selection = Selection(("core", "streams"))
    buffer = io.BytesIO()
    EXPORTED[form].write(selection, to_stream(buffer))
    file = tmp_path / "vectors"
    file.write_bytes(buffer.getvalue())
    if piped:
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(buffer.getvalue())))
    path = "-" if piped else str(file)
    found = list(entries(path))
    vectors = list(selection.vectors())
    assert {(entry.octets, entry.chunks) for entry in found} == {(each.octets, each.chunks) for each in vectors}
    if not piped:
        result = score(path)
        assert result.wrong == ()
        assert result.streams is not None
        assert result.streams.missed == ()
        assert result.with_verdict == len(vectors)


def test_words_for_a_verdict(tmp_path):
    file = tmp_path / "list"
    lines = ["61 accept", "valid 61", "OK: 61", "61 true", "well-formed 61", "61 well-formed"]
    file.write_text("\n".join([*lines, "ff reject", "invalid: ff", "ff bad", "false ff", "ill-formed ff"]))
    accepts = [entry.accept for entry in entries(str(file), "hex")]
    assert accepts == [True] * 6 + [False] * 5


@pytest.mark.long
def test_the_lines_of_utf8tests(tmp_path):
    file = tmp_path / "utf8tests.txt"
    file.write_text(
        "# test cases\n1.1.0:valid:abc\n2.1.0:valid hex:C2 A9\n9.1:invalid hex:C2 41 42:41 42:EFBFBD 41 42\n"
        "22.2:invalid hex:c0 af:nothing:EFBFBD EFBFBD\n9.9:invalid hex:e0 80:nothing:EFBFBD\n"
    )
    found = list(entries(str(file)))
    assert [entry.octets for entry in found] == [b"abc", b"\xc2\xa9", b"\xc2AB", b"\xc0\xaf", b"\xe0\x80"]
    assert found[2].replaced == (0xFFFD, 0x41, 0x42)
    (wrong,) = score(str(file)).wrong
    assert (wrong.what, wrong.place) == ("replacement", f"{file}:6")


@pytest.mark.long
def test_a_folder_is_a_corpus_and_what_is_no_string_is_skipped_and_said(tmp_path):
    corpus = tmp_path / "corpus"
    (corpus / "sub").mkdir(parents=True)
    for number, string in enumerate(STRINGS):
        (corpus / ("sub" if number % 2 else "") / str(number)).write_bytes(string)
    assert sorted(entry.octets for entry in entries(str(corpus))) == sorted(STRINGS)
    os.mkfifo(corpus / "pipe")
    (corpus / "link").symlink_to("/dev/zero")
    (corpus / "huge").write_bytes(bytes((1 << 20) + 1))
    (corpus / ".hidden").write_bytes(b"a")
    result = score(str(corpus))
    assert result.strings == len(STRINGS)
    said = "\n".join(result.skipped)
    for name, why in (("pipe", "not a regular file"), ("link", "a link"), ("huge", "more than"), (".hidden", "hidden")):
        assert f"{corpus / name}: skipped: {why}" in said
    assert len(result.skipped) == 4


def test_a_file_as_one_string_and_its_lines_as_strings(tmp_path):
    file = tmp_path / "octets"
    file.write_bytes(b"\xff\xfe\na\n\n")
    assert [entry.octets for entry in entries(str(file), "raw")] == [b"\xff\xfe\na\n\n"]
    assert [entry.octets for entry in entries(str(file), "lines")] == [b"\xff\xfe", b"a", b""]
    assert "--input raw" in refused(str(file))


@pytest.mark.long
def test_duplicates_are_folded_but_each_expectation_counts(tmp_path):
    file = tmp_path / "list"
    file.write_text("61 valid\n61\n61 invalid\n" + "62" * 40 + "\n" + "62" * 40 + "\n")
    result = score(str(file), str(file))
    assert (result.strings, result.read, result.with_verdict, result.wrong_count) == (2, 10, 4, 2)


# Hostile files ----------------------------------------------------------------------------------------------

SCHEMA = '{"schema": "overlong/vectors-1", "groups": '
HOSTILE = {
    "NaN": b"[[1], [NaN]]",
    "duplicate keys": b'[{"hex": "61",\n "hex": "62"}]',
    "deep": b"[" * 100_000,
    "huge number": b"[[" + b"1" * 100_000 + b"]]",
    "cut JSON": SCHEMA.encode() + b'[{"category": "x", "tests": [{"hex": "6',
    "wrong schema": b'{"schema": "overlong/vectors-99", "groups": []}',
    "no list": b'{"a": 1}',
    "not octets": b"[[256]]",
    "true is no octet": b"[[true]]",
    "not hex": SCHEMA.encode() + b'[{"tests": [{"hex": "6x"}]}]}',
    "chunks": SCHEMA.encode() + b'[{"tests": [{"hex": "6161", "chunks": [1, 2]}]}]}',
    "verdict": SCHEMA.encode() + b'[{"tests": [{"hex": "61", "expect": {"strict": {"verdict": "maybe"}}}]}]}',
    "offset": SCHEMA.encode() + b'[{"tests": [{"hex": "61", "expect": {"strict": {"offset": true}}}]}]}',
    "scalars": SCHEMA.encode() + b'[{"tests": [{"hex": "61", "expect": {"strict": {"scalars": "G"}}}]}]}',
    "cut lines": b'{"record": "header", "schema": "overlong/vectors-1"}\n{"hex": "61"}\n',
    "miscounted": b'{"record":"header","schema":"overlong/vectors-1"}\n{"hex":"61"}\n{"record":"footer","vectors":2}\n',
    "after footer": b'{"record":"header","schema":"overlong/vectors-1"}\n{"record":"footer"}\n{"hex":"61"}\n',
    "lone surrogate": b'["\\ud800"]',
    "not UTF-8": b'["\xff"]',
    "junk": bytes(range(256)),
    "script": b"<script>alert(1)</script>\x1b[31m\n",
    "half an octet": b"e0 8\n",
    "one bad line": b"61\n62\nsixty-three\n",
    "numbered": b"1:61\ntwo:62\n",
    "replacement": b"1:invalid hex:ff:nothing:ff\n",
    "TSV field": b"id\thex\toffset\nx\t61\tone\n",
    "TSV columns": b"id\thex\nx\n",
    "TSV chunks": b"id\thex\tchunks\nx\t61\t1 1\n",
    "empty": b"",
    "nothing but comments": b"# nothing\n\n",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_file_is_refused_with_one_line(tmp_path, name):
    file = tmp_path / "hostile"
    file.write_bytes(HOSTILE[name])
    said = refused(str(file))
    assert str(file) in said
    assert "\x1b" not in said
    if name == "one bad line":
        assert f"{file}:3: " in said
    if name == "duplicate keys":
        assert f"{file}:1: " in said or f"{file}:2: " in said


@pytest.mark.parametrize("form", ["c-header", "rust", "go", "javascript", "java", "python", "csv"])
def test_what_overlong_wrote_for_others_is_refused_with_what_to_export(form, tmp_path):
    file = tmp_path / EXPORTED[form].file
    with file.open("wb") as stream:
        EXPORTED[form].write(Selection(families=("nul",)), to_stream(stream))
    assert "export the vectors as tsv or json, and name that" in refused(str(file))


def test_what_is_no_file_is_refused_and_never_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "dangling").symlink_to("nowhere")
    (tmp_path / "only links").mkdir()
    (tmp_path / "only links" / "link").symlink_to("/etc/passwd")
    (tmp_path / "none").mkdir()
    for name in ("pipe", "dangling", "only links", "none", "missing", "nul\0", "\x1b]0;x\x07"):
        assert "\x1b" not in refused(str(tmp_path / name))
    assert "/dev/zero" in refused("/dev/zero")
    assert "not a folder" in refused(str(__file__), "--input", "directory")
    assert "directory" in refused(str(tmp_path), "--input", "hex")
    assert "stdin: empty" in refused("-", input=b"")
    (tmp_path / "\x1b[31m").write_bytes(b"# nothing\n")
    assert "\x1b" not in refused(str(tmp_path / "\x1b[31m"))


def test_the_library_raises_what_it_says(tmp_path):
    with pytest.raises(ReadError, match="no string"):
        score(hex_file(tmp_path / "empty", []), form="hex")
    with pytest.raises(ReadError, match="No such file"):
        score(str(tmp_path / "missing"))


@pytest.mark.parametrize("form", FORMATS)
@settings(max_examples=30, deadline=None)
@given(octets=st.one_of(st.binary(max_size=64), st.text(alphabet='[]{}":,0123456789abefxdhi \t\n#').map(str.encode)))
def test_no_octets_make_a_reader_fail_in_another_way(tmp_path_factory, form, octets):
    file = tmp_path_factory.getbasetemp() / f"any-{form}"
    file.write_bytes(octets)
    try:
        for entry in entries(str(file), form):
            assert isinstance(entry.octets, bytes)
    except ReadError as error:
        assert "\n" not in str(error)


# The command ------------------------------------------------------------------------------------------------


@pytest.mark.long
def test_the_command(tmp_path):
    file = hex_file(tmp_path / "list.txt", [b"a", b"\xc3\xa9", b"\xff"])
    done = run(file)
    assert done.exit_code == 0
    first, _, second, *rest = done.stdout.splitlines()
    assert first == f"{file}: 3 strings, 0 with a verdict"
    assert second.startswith("single-transition faults")
    assert any("3 more need chunks" in line for line in rest)
    assert any(line.startswith("to reach 100 %: add ") for line in rest)
    assert max(map(len, [second, *rest])) <= 80
    assert not without_progress(done.stderr)
    below = run(file, "--fail-under", "50")
    assert below.exit_code == 1
    assert second in below.stdout.splitlines()
    assert "below --fail-under 50" in below.stderr


def test_the_whole_of_our_own_is_one_hundred(tmp_path):
    file = hex_file(tmp_path / "ours.txt", [vector.octets for vector in OURS])
    done = run(file, "--fail-under", "100")
    assert done.exit_code == 0
    assert "single-transition faults 100.0 %   18 441 of 18 441" in done.stdout
    assert "to reach 100 %: nothing to add" in done.stdout


@pytest.mark.long
def test_what_is_added_never_overwrites_the_list_and_is_whole_or_not_there(tmp_path):
    file = hex_file(tmp_path / "list.txt", [b"a"])
    done = run(file, "--add", file)
    assert done.exit_code == 2
    assert "would overwrite" in done.stderr
    done = run(file, "--add", "/dev/null/x")
    assert done.exit_code == 2
    assert len(without_progress(done.stderr)) == 1
    assert [each.name for each in tmp_path.iterdir()] == ["list.txt"]


@pytest.mark.long
def test_json_has_everything(tmp_path):
    file = tmp_path / "list"
    file.write_text("c080 valid\n")
    done = run(str(file), "--format", "json")
    assert done.exit_code == 1
    data = json.loads(done.stdout)
    assert data["schema"] == "overlong/report-1"
    assert data["wrong_expectations"]["first"] == [
        {"place": f"{file}:1", "hex": "c080", "what": "verdict", "said": "accept", "right": "reject"}
    ]
    assert data["single_transition_faults"]["total"] == 18_441
    assert len(data["historical_faults"]["missed"]) + data["historical_faults"]["caught"] == 49
    assert data["stream_faults"] is None
    assert len(data["boundaries"]["missed"]) + data["boundaries"]["caught"] == data["boundaries"]["total"]
    assert all(Vector.from_id(each) for each in data["to_add"]["vectors"] if "sha256" not in each)


def test_help_names_every_format():
    assert command_module.LIST_FORMS == FORMATS


# The document -----------------------------------------------------------------------------------------------

PAGE = (Path(__file__).parents[3] / "docs" / "score.md").read_text(encoding="utf-8")


def section(heading):
    return PAGE.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]


def test_the_documents_tables_are_those_of_the_code():
    assert re.findall(r"^\| `(\w+)` \|", section("Formats"), re.MULTILINE) == list(FORMATS[1:])  # all but auto


@pytest.mark.long
def test_the_documents_session_is_what_is_printed(tmp_path, monkeypatch):
    """The page's output, without the number of vectors to add, which changes as the suites grow."""
    monkeypatch.chdir(tmp_path)
    (listed,) = re.findall(r"```text\n(.*?)```", PAGE, re.DOTALL)
    (tmp_path / "tests.txt").write_text(listed)
    (session,) = re.findall(r"```console\n(.*?)```", PAGE, re.DOTALL)
    code = 0
    for words, shown in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", session, re.MULTILINE):
        if words == "echo $?":
            assert shown == f"{code}\n"
            continue
        done = run(*words.split()[3:])
        code = done.exit_code
        assert steady(done.stdout) == steady(shown)


def steady(text):
    measured, _, to_add = text.partition("to reach 100 %:")
    return measured, re.sub(r"\d[\d ]*\d", "N", to_add)


@pytest.mark.parametrize(
    ("start", "size", "words"),
    [
        (b"E0 80 AF " * (1 << 20), 1 << 30, "huge:1: a line of more than 8388608 octets; write a string a line"),
        (b"[\n", 1 << 30, "huge: more than 67108864 octets; JSON Lines may have more"),
        (b"[" + b"[]," * (1 << 20) + b"[]]", 0, "huge:1: more than 2097152 values"),
    ],
)
def test_a_list_of_a_gigabyte_takes_no_memory_worth_the_name(start, size, words, tmp_path):
    """Only the beginning of the input is read: a file has a known size, and a line is given up when it is too long."""
    path = tmp_path / "huge"
    with path.open("wb") as file:
        file.write(start)
        file.truncate(max(size, len(start)))
    tracemalloc.start()
    try:
        with pytest.raises(ReadError) as refused:
            list(entries(str(path)))
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert words in str(refused.value)
    assert most < 80 << 20


def test_strings_that_stand_in_programs(tmp_path):
    """Octets in the notation of WPT, C, Go, Rust, Java and Python are read; other arrays and literals are not."""
    program = r"""
const bad = [{ encoding: 'utf-8', input: [0xFF], name: 'invalid code' },
  { encoding: 'utf-8', input: [0xF0,
      0x80, 0x80], name: 'overlong [1]' }, table[7], sizes = [256, 1024]];
unsigned char c[] = {0xC0, 0xAF, 0x00,}; byte[] java = {(byte) 0xED, (byte)0xA0, 65};
char *s = "a\xC0\xAF\n\"\101", *t = "no escape", *u = "\u00e9\x41";
b'\xe2\x82' r"\d"
"""
    file = tmp_path / "test.js"
    file.write_text(program, encoding="utf-8")
    expected = [
        (2, b"\xff"), (3, b"\xf0\x80\x80"), (5, b"\xc0\xaf\0"), (5, b"\xed\xa0A"), (6, b'a\xc0\xaf\n"A'),
        (7, b"\xe2\x82"),
    ]  # fmt: skip
    for form in ("auto", "source"):
        assert [(entry.place, entry.octets) for entry in entries(str(file), form)] == [
            (f"{file}:{line}", octets) for line, octets in expected
        ]


@pytest.mark.parametrize("line", [r'"' + r"\x41" * 400_000, r"\"'a" * 400_000, "[1" + " " * 2_000_000])
def test_a_program_takes_time_by_its_length_not_by_its_square(line, tmp_path):
    file = tmp_path / "test.c"
    file.write_text(line + '\n"\\xFF"', encoding="ascii")
    assert [entry.octets for entry in entries(str(file), "source")] == [b"\xff"], "the square would take hours"
