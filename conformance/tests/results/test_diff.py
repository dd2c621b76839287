"""A diff neither loses a cause nor makes one up, and calls fixed only what was asked again."""

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import get_args

import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

from overlong.conformance import certify
from overlong.conformance.cli.verbs import cli
from overlong.conformance.report.compared import told
from overlong.conformance.results.difference import FailOn, difference, fails, is_incomplete
from overlong.conformance.results.model import MORE, Cause, Report, ReportKind, ReportPart, Standing, State, Subject
from overlong.conformance.results.reading import data, of_data

HOSTILE = "<script>alert(1)</script>\x1b]0;x\x07\n::error::\u202e"
OF_BOTH = (Standing.SAME, Standing.CHANGED)
CLAIMS = {"V": "verdict", "L": "error mode", "S": "streaming"}


def cause(code="OV201", operation="V", place="", observed="accepted", count=1, **more):
    octets = b"\xc0\x80"
    return Cause(
        *(code, "overlong form accepted", "RFC 3629 §3", place, CLAIMS[operation], count, "D-00000000"),
        *(f"overlong/{octets.hex()}", octets, operation, "reject at 0, 1 octet", observed),
        **more,
    )


def part(name="core", operations="VL", digest="a", asked=9, **more):
    return ReportPart(name, "", asked, 9, 0, digest=digest, operations=operations, **more)


def report(*subjects, kind=ReportKind.MATRIX, **more):
    return Report(kind, "", "overlong 0.1.0", subjects, **more)


CORE = part()


def subject(*causes, parts=(CORE,), name="a", **more):
    return Subject(name, State.DIVERGES if causes else State.CONFORMS, parts=parts, causes=causes, **more)


causes = st.builds(
    cause,
    *(st.sampled_from(["OV201", "OV202"]), st.sampled_from("VLS"), st.sampled_from(["", "é", HOSTILE])),
    *(st.sampled_from(["accepted", HOSTILE]), st.integers(1, 3)),
)
parts = st.lists(
    st.one_of(
        st.builds(part, st.sampled_from(["core", "complete-0"]), st.sampled_from(["V", "VL"]), st.sampled_from("ab")),
        st.builds(part, st.just("streams"), st.just("S"), st.just("a"), st.integers(0, 9)),
        st.builds(part, st.just("depth-1"), st.just(""), st.sampled_from("ab"), is_sweep=st.just(True)),
    ),
    unique_by=lambda each: each.name,
    max_size=4,
).map(tuple)
subjects = st.builds(
    Subject,
    st.sampled_from(["a", "b", HOSTILE]),
    st.sampled_from([State.DIVERGES] * 5 + [State.INCOMPLETE, State.NOT_MEASURED]),
    profile=st.sampled_from(["rfc3629@1"] * 5 + ["wtf-8@1"]),
    error_mode=st.sampled_from(["replacement", "skip"]),
    claims=st.sampled_from(
        [{}, *(dict.fromkeys(CLAIMS.values(), each) for each in ("holds", "fails", "not measured"))]
    ),
    parts=parts,
    causes=st.lists(causes, max_size=4).map(tuple),
)
reports = st.builds(
    report,
    subjects,
    subjects,
    kind=st.sampled_from([ReportKind.MATRIX] * 5 + [ReportKind.FUZZ]),
    time=st.sampled_from(["", "now"]),
) | st.builds(report, subjects, kind=st.just(ReportKind.CERTIFY))


def standings_of(diff, *wanted, mirrored=False):
    """Which causes of which pairs have one of these standings, and how often."""
    sides = [diff.extra[side] for side in (("newer", "older") if mirrored else ("older", "newer"))]
    return Counter(
        (before.get("id"), now.get("id"), each.key)
        for subject, before, now in zip(diff.subjects, *sides, strict=True)
        for each in subject.causes
        if each.standing in wanted
    )


@settings(deadline=None)
@given(reports)
def test_nothing_differs_from_itself(one):
    diff = difference(one, one)
    assert {each.standing for subject in diff.subjects for each in subject.causes} <= {Standing.SAME}
    assert sum(diff.extra["counts"].values()) == sum(len(subject.causes) for subject in one.subjects)
    assert not any(fails(diff, on) for on in get_args(FailOn))


@settings(deadline=None)
@given(reports, reports)
def test_every_cause_of_either_side_is_there_once(older, newer):
    diff = difference(older, newer)
    assert len(diff.subjects) == len(diff.extra["older"]) == len(diff.extra["newer"])
    for side, name in ((older, "older"), (newer, "newer")):
        shown = Counter(each["id"] for each in diff.extra[name] if each)
        assert shown == Counter(subject.id for subject in side.subjects)
    found = [each for subject in diff.subjects for each in subject.causes]
    both = sum(each.standing in OF_BOTH for each in found)
    sizes = [sum(len(subject.causes) for subject in side.subjects) for side in (older, newer)]
    assert max(sizes) <= len(found) <= sum(sizes) - both
    keys = [Counter(each.key for subject in side.subjects for each in subject.causes) for side in (older, newer)]
    assert keys[0] | keys[1] <= Counter(each.key for each in found) <= keys[0] + keys[1]
    assert sum(diff.extra["counts"].values()) == len(found)
    assert all(each.reason for each in found if each.standing is Standing.NOT_COMPARABLE)


@settings(deadline=None)
@given(reports, reports)
def test_backwards_fixed_is_regressed(older, newer):
    there, back = difference(older, newer), difference(newer, older)
    for one, other in ((Standing.FIXED, Standing.REGRESSED), (Standing.REGRESSED, Standing.FIXED)):
        assert standings_of(there, one) == standings_of(back, other, mirrored=True)
    for each in OF_BOTH:
        assert standings_of(there, each) == standings_of(back, each, mirrored=True)
    left = (Standing.NEW, Standing.NOT_COMPARABLE)
    assert standings_of(there, *left) == standings_of(back, *left, mirrored=True)


@settings(deadline=None)
@given(reports, reports)
def test_fixed_is_only_what_was_asked_again(older, newer):
    diff = difference(older, newer)
    if len(older.subjects) == len(newer.subjects) == 1:
        pairs = {0: (older.subjects[0], newer.subjects[0])}
    else:
        names = [[each["id"] if each else "" for each in diff.extra[side]] for side in ("older", "newer")]
        pairs = {
            place: tuple(
                [each for each in side.subjects if each.id == name][names[number][:place].count(name)]
                for number, side in enumerate((older, newer))
            )
            for place, (name, same) in enumerate(zip(*names, strict=True))
            if name and same
        }
    for place, shown in enumerate(diff.subjects):
        for each in shown.causes:
            if each.standing not in (Standing.FIXED, Standing.REGRESSED):
                continue
            has, lacks = pairs[place] if each.standing is Standing.FIXED else reversed(pairs[place])
            assert ReportKind.FUZZ not in (older.kind, newer.kind)
            assert lacks.state is State.DIVERGES
            assert has.profile == lacks.profile
            asked = {
                one.name: one
                for one in lacks.parts
                if one.asked == one.all and (each.operation in one.operations or one.is_sweep)
            }
            showing = [one for one in has.parts if one.asked and (each.operation in one.operations or one.is_sweep)]
            assert showing
            for one in showing:
                assert one.is_sweep or asked[one.name].digest == one.digest


@settings(max_examples=30, deadline=None)
@given(reports, reports)
def test_it_is_read_back_and_shown_in_80_columns(older, newer):
    diff = difference(older, newer)
    assert of_data(json.loads(data(diff)), Path("diff.json")) == diff
    lines = list(told(diff, width=80, encoding="ascii"))
    assert all(character.isprintable() for line in lines for character in line)
    assert max(map(len, lines)) <= 80


WHOLE = subject()
DIFFERENT = [
    pytest.param(WHOLE, subject(cause()), Standing.REGRESSED, "", id="regressed"),
    pytest.param(subject(cause()), WHOLE, Standing.FIXED, "", id="fixed"),
    pytest.param(subject(cause()), subject(cause()), Standing.SAME, "", id="same"),
    pytest.param(subject(cause()), subject(cause(observed="crashed")), Standing.CHANGED, "otherwise", id="answer"),
    pytest.param(subject(cause()), subject(cause(count=3)), Standing.CHANGED, "1 before, 3 now", id="more"),
    pytest.param(
        subject(cause()), subject(cause(count=3), parts=(part(digest="b"),)), Standing.SAME, "other vectors", id="count"
    ),
    pytest.param(
        subject(parts=(part(operations="L"),)), subject(cause()), Standing.NEW, "not tested with core", id="operation"
    ),
    pytest.param(
        subject(claims={"verdict": "not measured"}),
        subject(cause(), claims={"verdict": "fails"}),
        *(Standing.NEW, "verdict was not measured"),
        id="claim",
    ),
    pytest.param(
        subject(cause()), subject(parts=(part(digest="b"),)), Standing.NOT_COMPARABLE, "other vectors", id="digest"
    ),
    pytest.param(
        subject(cause()), subject(parts=(part("streams"),)), Standing.NOT_COMPARABLE, "not tested", id="suite"
    ),
    pytest.param(subject(cause()), subject(parts=(part(asked=8),)), Standing.NOT_COMPARABLE, "not tested", id="part"),
    pytest.param(subject(cause()), subject(profile="x@1"), Standing.NOT_COMPARABLE, "rfc3629@1 and x@1", id="profile"),
    pytest.param(
        subject(cause()), replace(WHOLE, state=State.INCOMPLETE, why="cut"), Standing.NOT_COMPARABLE, "cut", id="cut"
    ),
    pytest.param(
        replace(WHOLE, state=State.NOT_MEASURED, why="not here"),
        subject(cause()),
        *(Standing.NOT_COMPARABLE, "not here"),
        id="not measured",
    ),
    pytest.param(
        subject(cause(operation="L"), error_mode="skip"), WHOLE, Standing.NOT_COMPARABLE, "error mode", id="mode"
    ),
]


@pytest.mark.parametrize(("older", "newer", "standing", "why"), DIFFERENT)
def test_standings(older, newer, standing, why):
    diff = difference(report(older), report(replace(newer, id="another name")))
    ((found,),) = (subject.causes for subject in diff.subjects)
    assert found.standing is standing
    assert why in found.reason
    worse = standing is Standing.REGRESSED or MORE in dict(found.more)
    assert fails(diff, "regression") == worse
    assert fails(diff, "new") == (worse or standing is Standing.NEW)
    assert fails(diff, "any") == (standing is not Standing.SAME)
    assert is_incomplete(diff) == bool({older.state, newer.state} & {State.INCOMPLETE, State.NOT_MEASURED})


def test_what_is_expected_fails_only_with_any():
    newer = subject(cause(standing=Standing.EXPECTED, reason="known"))
    diff = difference(report(WHOLE), report(newer))
    assert [fails(diff, on) for on in ("regression", "new", "any")] == [False, False, True]
    assert "expected deviation: known" in "\n".join(told(diff, width=80, encoding="utf-8"))


def test_it_says_in_which_versions():
    older = report(*(subject(cause(), name=name, version="1.0") for name in ("fixed", "quiet", "same")))
    newer = report(
        subject(name="fixed", version="2.0"),
        subject(cause(), name="quiet", version="2.1"),
        subject(cause(), name="same", version="1.0"),
    )
    lines = list(told(difference(older, newer), width=80, encoding="utf-8"))
    assert lines[lines.index("fixed (1.0) → fixed (2.0)") + 1].startswith("  FIXED OV201")
    assert "another version, and nothing else changed: quiet (1.0) → quiet (2.1)" in lines
    assert not any("same (" in line for line in lines)


def test_targets_are_paired_by_name():
    older, newer = report(WHOLE, subject(cause(), name="gone")), report(subject(cause(), name="new"), WHOLE)
    diff = difference(older, newer)
    assert [[each.get("id") for each in diff.extra[side]] for side in ("older", "newer")] == [
        [None, "a", "gone"],
        ["new", "a", None],
    ]
    assert [each.id for each in diff.subjects] == ["new", "a", "gone"]
    assert [each.standing for subject in diff.subjects for each in subject.causes] == [Standing.NOT_COMPARABLE] * 2
    assert fails(diff, "any")
    assert not is_incomplete(diff)


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    folder = tmp_path_factory.mktemp("results")
    for name in ("cpython", "cpython-surrogatepass"):
        certify(name, suites=["core"], output=folder / name)
    whole = (folder / "cpython/results.jsonl").read_text("ascii").splitlines(keepends=True)
    (folder / "cut.jsonl").write_text("".join(whole[:-1]), "ascii")
    (folder / "other.json").write_text("{}")
    return folder


@pytest.mark.parametrize(
    ("words", "code", "shown"),
    [
        ("cpython cpython-surrogatepass", 0, "1 regressed"),
        ("cpython cpython-surrogatepass --fail-on regression", 1, "1 regressed"),
        ("cpython-surrogatepass cpython --fail-on regression", 0, "1 fixed"),
        ("cpython-surrogatepass cpython-surrogatepass --fail-on any", 0, "1 same"),
        ("cpython-surrogatepass cut.jsonl", 4, "1 not comparable"),
        ("cpython other.json", 2, ""),
        ("cpython nowhere", 2, ""),
        ("cpython cpython --format text,html", 2, ""),
    ],
)
def test_the_command(results, words, code, shown, monkeypatch):
    monkeypatch.chdir(results)
    done = CliRunner(env={"COLUMNS": "80"}).invoke(cli, ["diff", *words.split()])
    assert (done.exit_code, done.stdout.rpartition("\n\n")[2].strip()) == (code, shown), done.stderr
    assert bool(done.stderr) == (code == 2)


def test_the_command_writes_files_that_report_reads(results, tmp_path, monkeypatch):
    monkeypatch.chdir(results)
    words = ["cpython", "cpython-surrogatepass", "-o", str(tmp_path)]
    assert CliRunner().invoke(cli, ["diff", *words, "--format", "json,html,markdown,junit,sarif,badge"]).exit_code == 0
    names = {"diff.json", "report.html", "report.md", "junit.xml", "overlong.sarif", "badge.json"}
    assert {path.name for path in tmp_path.iterdir()} == names
    again = CliRunner().invoke(cli, ["report", str(tmp_path), "--format", "markdown", "--exit-zero"])
    assert again.stdout_bytes == (tmp_path / "report.md").read_bytes()


def test_a_part_against_the_whole_is_a_line_in_a_terminal():
    """Whatever its targets had; the data has each."""
    whole = report(*(subject(cause(), cause("OV202"), name=f"t{number}") for number in range(100)))
    diff = difference(whole, report(whole.subjects[7]))
    lines = list(told(diff, width=200, encoding="utf-8"))
    assert "not on the newer side: t0, t1, t2, t3, t4, t5, t6, t8 and 91 more" in lines
    assert len(lines) < 10
    assert len(diff.subjects) == 100
    back = "\n".join(told(difference(report(whole.subjects[7]), whole), width=200, encoding="utf-8"))
    assert "not on the older side: t0, t1," in back
