"""Expected deviations: exact, never lost, and a rewritten file keeps all that was written by hand."""

import re
import tomllib
from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from overlong.conformance import certify
from overlong.conformance.cli.verbs import cli
from overlong.conformance.oracle.compare import compare
from overlong.conformance.protocol.greeting import Greeting
from overlong.conformance.protocol.observation import Accepted, Failed, Refused
from overlong.conformance.protocol.wire import UNITS
from overlong.conformance.results.expected import Expectations, Seen, settled
from overlong.conformance.results.expected_file import Deviation, ExpectationError, matches
from overlong.conformance.results.model import FAILS, HOLDS
from overlong.conformance.results.run import Run, SuiteRun
from overlong.conformance.vectors.suites.suite import CORE, core_vectors

TODAY = date(2026, 5, 17)
VECTORS = core_vectors()
WRONG = """
def decode(octets):
    return octets.replace(b"\\xc0\\xae", b".").decode("utf-8")

def otherwise(octets):
    return octets.replace(b"\\xc0\\xae", b"!").decode("utf-8")

def worse(octets):
    return octets.replace(b"\\xc0\\xae", b".").replace(b"\\xc0\\xaf", b"/").decode("utf-8")

def right(octets):
    return octets.decode("utf-8")
"""


def run_of(findings, *, whole=True):
    """A run of the core by a decoder that validates and decodes, with these findings."""
    run = Run("mine", Greeting("mine", "1", "Python", "VD", UNITS["utf-32"], ""))
    part = SuiteRun(CORE, "VD", done=CORE.size if whole else 1)
    run.suites = [part]
    run.claims.update(dict.fromkeys(("verdict", "scalars", "error position"), HOLDS))
    for finding in findings:
        run.add(finding)
        run.claims[finding.claim] = FAILS
    return run


def judged(file, findings, *, updating=False, on=TODAY, target="mine", whole=True):
    expected = Expectations.read(file, target, on, updating=updating)
    for finding in findings:
        expected.judge(finding)
    return settled(expected, run_of(findings, whole=whole))


def met(expected):
    """Every divergence was expected, and every expected deviation occurred."""
    return not expected.unexpected and not expected.stale


def wrong_answers(places, answer):
    found = (compare(VECTORS[place], operation, answer) for place in places for operation in "VD")
    return [finding for finding in found if finding is not None]


ANSWERS = (Accepted((0x2F,)), Accepted((0x2E,)), Accepted(()), Refused(0, 1, False), Failed('a "b" [c]*\n#'))
answers = st.lists(st.tuples(st.integers(0, len(VECTORS) - 1), st.integers(1, 12), st.integers(0, 4)), max_size=4)
"""A decoder that is wrong in many ways: from which vector on, how many, and what it answers."""


def all_wrong(parts):
    wrong = {place: answer for start, count, answer in parts for place in range(start, start + count)}
    return [
        finding
        for place, answer in sorted(wrong.items())
        for finding in wrong_answers([place % len(VECTORS)], ANSWERS[answer])
    ]


@settings(deadline=None, max_examples=8, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    first=answers, second=answers, name=st.sampled_from(["overlong.toml", "pyproject.toml"]),
    end=st.sampled_from(["\n", "\r\n"]),
)  # fmt: skip
def test_what_is_written_holds_and_keeps_what_somebody_wrote(tmp_path, first, second, name, end):
    first, second = all_wrong(first), all_wrong(second)
    file = tmp_path / name
    header = "[[tool.overlong.expected]]" if name == "pyproject.toml" else "[[expected]]"
    before = f"# top\n[tool.other]\ntext = '''\n[[expected]] \\[\n# no comment\n'''  # kept\n\n# of another\n{header}\n"
    before += 'target = "another"\nid = "x/00"\nobserved = "accepted*"\nreason = "its own"\n'
    before += "# after it\n[last]\nrows = [\n[1],\n]\n"
    if name == "overlong.toml":
        before = before.replace("[tool.other]", "[targets.other]").replace("[last]", "[targets.last]")
    file.write_bytes(before.replace("\n", end).encode())
    assert met(judged(file, first, updating=True))
    text = file.read_bytes().decode()
    text = text.replace('reason = ""', "reason = 'of \"mine\"'  # said")
    for number in range(text.count(header)):
        text = re.sub(rf"(?m)^{re.escape(header)}\r?$", f"# comment {number}{end}[[!{header[2:]}", text, count=1)
    file.write_bytes(text.replace("[[!", "[[").encode())
    comments = [line for line in file.read_bytes().decode().splitlines() if line.startswith("#")]
    named = {entry_name(each): each["reason"] for each in entries(file)}
    after = judged(file, second, updating=True)
    assert met(after)
    assert after.unexpected == {}
    octets = file.read_bytes()
    assert [line for line in octets.decode().splitlines() if line.startswith("#") and line in comments] == comments
    document = tomllib.loads(octets.decode())
    assert document.get("tool", {}).get("other", document.get("targets", {}).get("other")) == {
        "text": "[[expected]] \\[\n# no comment\n"
    }
    reasons: dict[str, set[str]] = {}
    for each in entries(file):
        reasons.setdefault(entry_name(each), set()).add(each["reason"])
    assert all(named[each] in reasons[each] for each in named.keys() & reasons.keys())
    assert {'of "mine"', "", "its own"}.issuperset(set().union(*reasons.values()))
    assert [each for each in entries(file) if each["target"] == "another"] == [
        {"target": "another", "id": "x/00", "observed": "accepted*", "reason": "its own"}
    ]
    again = judged(file, second)
    assert met(again)
    assert {each.number for each in again.occurring} == {each.number for each in again.deviations}
    judged(file, second, updating=True)
    assert file.read_bytes() == octets
    if second:  # one answer fewer or another, and it shows
        assert not met(judged(file, second[1:]))
        other = replace(second[0], observed=Failed("something else"))
        assert not met(judged(file, [other, *second[1:]]))


def entries(file):
    document = tomllib.loads(file.read_bytes().decode())
    return (document["tool"]["overlong"] if file.name == "pyproject.toml" else document).get("expected", [])


def entry_name(entry):
    return tuple(entry.get(key) for key in ("target", "id", "code", "place", "operation"))


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        ('id = "a/00"\nobserved = "*"', "reason is missing"),
        ('reason = ""\nobserved = "accepted"', "names nothing"),
        ('id = "*/*"\nobserved = "accepted"\nreason = ""', "names every vector"),
        ('id = "**"\ncode = ""\nobserved = "accepted"\nreason = ""', "names every vector"),
        ('id = "a/00"\nobserved = "*"\nreason = ""', "stands for any answer"),
        ('code = "OV201"\nobserved = "** *"\nreason = ""', "stands for any answer"),
        ('code = "OV201"\nobserved = "*e*d*"\nreason = ""', "stands for any answer"),
        ('id = "a/00"\nreason = ""', "observed is missing"),
        ('id = "a/00"\nobserved = ""\nreason = ""', "observed is empty"),
        ('id = 1\nobserved = "*"\nreason = ""', "id is no string"),
        ('id = "a/00"\nobserved = "*"\nreasn = ""', "did you mean reason?"),
        ('code = "OV2O1"\nobserved = "*"\nreason = ""', "did you mean OV201?"),
        ('id = "a/00"\nobserved = "*"\nreason = ""\nexpires = "2026"', "expires is no date"),
        ('id = "a/00"\nobserved = "*"\nreason = ""\ncount = 2', "suites = [...]"),
        ('id = "a/00', "no TOML"),
    ],
)
def test_what_is_wrong_is_told_on_one_line(tmp_path, entry, words):
    file = tmp_path / "expected.toml"
    file.write_text(f"# said\n\n[[expected]]\n{entry}\n", encoding="utf-8")
    with pytest.raises(ExpectationError) as told:
        Expectations.read(file, "mine", TODAY)
    assert words in str(told.value)
    assert "\n" not in str(told.value)
    assert "expected.toml" in str(told.value)
    if "no TOML" not in words:
        assert "line 3" in str(told.value)


def test_a_star_is_the_only_pattern():
    assert matches("so:./x.so:f?abi=bool(ptr,len)", "so:./x.so:f?abi=bool(ptr,len)")
    assert not matches("a?c*", "abcd")
    assert not matches("[ab]*", "a")
    assert matches("refused*", "refused")
    assert matches("a*c*", "a[b]c")


SPELLINGS = st.text("ab*", max_size=4)


@settings(deadline=None)
@given(
    named=st.lists(st.tuples(SPELLINGS, st.sampled_from(["", "OV201"]), st.none() | SPELLINGS, SPELLINGS)),
    texts=st.tuples(*[st.text("ab", min_size=1, max_size=4)] * 3), code=st.sampled_from(["OV201", "OV202"]),
)  # fmt: skip
def test_the_first_entry_that_fits_covers_a_divergence_and_all_of_them_count_it(named, texts, code):
    entries = [
        Deviation("", number, observed, "", id=vector, code=code, place=place)
        for number, (vector, code, place, observed) in enumerate(named)
    ]
    vector, place, observed = texts
    seen = Seen(code, place, "D", vector, observed, "")
    naming = [each for each in entries if seen.is_named_by(each)]
    covering = [each for each in naming if matches(each.observed, observed)]
    compared = Expectations(None, "mine", "rfc3629", date.max)
    compared.take(entries)
    assert compared.covering(seen) == (covering[0] if covering else None)
    assert [each for each in entries if compared.tally(each).total] == covering
    assert [each for each in entries if compared.tally(each).first] == naming


def entry_of(finding, **more):
    lines = {"id": finding.vector.id, "observed": finding.observed_words, "reason": "so it is", **more}
    return "[[expected]]\n" + "".join(
        f"{key} = {value.isoformat() if isinstance(value, date) else repr(value)}\n" for key, value in lines.items()
    )


def test_expired_and_unasked_and_incomplete(tmp_path):
    file = tmp_path / "e.toml"
    findings = wrong_answers([5], Accepted((0x2F,)))[:1] or wrong_answers([500], Accepted((0x2F,)))[:1]
    file.write_text(entry_of(findings[0], expires=TODAY), encoding="utf-8")
    assert met(judged(file, findings))
    late = judged(file, findings, on=date(2026, 5, 18))
    assert not met(late)
    assert len(late.expired) == 1
    assert not met(judged(file, []))
    file.write_text(entry_of(findings[0], operation="S"), encoding="utf-8")
    unasked = judged(file, [])
    assert met(unasked)
    assert list(unasked.unasked.values()) == ["the target was not tested with S"]
    file.write_text(entry_of(findings[0], id="elsewhere/00"), encoding="utf-8")
    assert list(judged(file, []).unasked.values()) == ["no suite that ran tests it"]
    assert met(judged(file, findings, updating=True, on=date(2026, 5, 18)))


def test_a_link_stays_a_link_and_an_expiry_that_is_over_goes(tmp_path):
    findings = wrong_answers([500], Accepted((0x2F,)))
    real, link = tmp_path / "real.toml", tmp_path / "link.toml"
    real.write_text(entry_of(findings[0], expires=date(2020, 1, 1), operation=findings[0].operation), encoding="utf-8")
    link.symlink_to(real)
    assert met(judged(link, findings, updating=True))
    assert link.is_symlink()
    assert "expires" not in real.read_text("utf-8")
    assert "so it is" in real.read_text("utf-8")
    assert [each.name for each in sorted(tmp_path.iterdir())] == ["link.toml", "real.toml"]


@pytest.mark.long
def test_from_the_command_line(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("wrong.py").write_text(WRONG, encoding="utf-8")
    Path("overlong.toml").write_text("# ours\n", encoding="utf-8")

    def run(name, *words):
        command = ["certify", "--suite", "core", *words, f"py:wrong.py:{name}"]
        result = CliRunner().invoke(cli, command)
        return result.exit_code, result.output

    assert run("decode")[0] == 1
    code, text = run("decode", "--update-expected")
    assert (code, "0 unexpected" in text, "CONFORMANT" in text) == (0, True, False)
    code, text = run("decode")
    assert (code, "missing" in text) == (0, True)
    written = Path("overlong.toml").read_text("utf-8")
    assert written.startswith("# ours\n")
    Path("overlong.toml").write_text(re.sub('target = ".*"', 'target = "py:wrong.py:*"', written), encoding="utf-8")
    assert run("worse")[0] == 1
    assert run("otherwise")[0] == 1
    code, text = run("right")
    assert (code, "STALE" in text) == (1, True)
    Path("overlong.toml").write_text("[[expected]]\n", encoding="utf-8")
    assert run("right")[0] == 2


def test_a_certificate_warns(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("wrong.py").write_text(WRONG, encoding="utf-8")
    expected = Expectations.read(None, "py:wrong.py:decode", TODAY, updating=True)
    certificate = certify("py:wrong.py:decode", suites=["core"], expected=expected)
    predicate = certificate.statement["predicate"]
    assert predicate["result"] == "WARNED"
    assert predicate["warnedTests"] == ["verdict"]
    assert predicate["failedTests"] == []
    assert [each["standing"] for each in predicate["overlong"]["buckets"]] == ["expected"]
    assert (
        sum(each["divergences"] for each in predicate["overlong"]["expected"])
        == certificate.run.ordered_buckets[0].count
    )
