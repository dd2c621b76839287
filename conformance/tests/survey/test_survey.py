"""Surveys: the kept data of a matrix, independent confirmations, and the generated pages."""

import json
import os
import re
import subprocess
import sys
from dataclasses import replace
from functools import lru_cache

import pytest
from click.testing import CliRunner
from printing import vectors

from corpora.survey import confirmation, findings, gallery, install, issues, learning, run
from corpora.survey import kept as kept_of
from corpora.survey.confirmation import confirm, demonstrated, ended_by, extent
from corpora.survey.faults import faults_of
from corpora.survey.filing import Files, told, withdrawn_in
from corpora.survey.kept import INTENT, OBTAINED, REPLACES, SURVEY, WHAT, announced, kept
from corpora.survey.learning import how, in_words, unsettled
from corpora.survey.records import Demonstration, Record, demonstrations, documented, records, tables, witnesses
from corpora.survey.records.language import HERE, languages
from corpora.survey.surveyed import Surveyed
from corpora.survey.texts import issue
from overlong.conformance.cli.verbs import cli
from overlong.conformance.models.aspects import Counterexample
from overlong.conformance.models.identify import LearnedPart
from overlong.conformance.protocol.observation import Code
from overlong.conformance.report.formats import FORMATS
from overlong.conformance.results.model import Cause, Report, ReportKind, State, Subject
from overlong.conformance.targets.builtins import BUILTINS
from overlong.conformance.vectors.families import all_vectors
from overlong.reference.automaton import OctetClass

HOSTILE = "<script>alert(1)</script>|`x`\x1b]0;owned\x07 ](http://x)\n```\n<b>"
OVERLONG = Cause("OV201", "overlong form accepted", "RFC 3629 §3", "", "verdict", 3, "D-00000000", "security/c080",
                 b"\xc0\x80", "D", "reject at 0, 1 octet", "accepted U+0000")  # fmt: skip
WIDE = """
def decode(octets):
    if octets[:1] in (b"\\xc0", b"\\xc1") and 0x80 <= octets[1] < 0x90 and len(octets) == 2:
        return "lax"
    if len(octets) == 4 and 0xF5 <= octets[0] < 0xF8 and all(0x80 <= octet < 0xC0 for octet in octets[1:]):
        return "lax"
    return octets.decode()
"""
LAX = "def decode(octets):\n    return octets.replace(b'\\xc0\\x80', b'\\0').decode()"


NONE = Files((), (), ())


def subject_of(name="tried", **more):
    return Subject(name, State.DIVERGES, claims={"verdict": "fails"}, causes=(OVERLONG,), **more)


def report_of(*subjects):
    return Report(ReportKind.MATRIX, "decoders", "overlong 0", subjects)


def text_of(confirmed, versions=(), **more):
    """The text about the fault that the divergence alone shows."""
    return issue(subject_of(**more), faults_of([OVERLONG])[0], {OVERLONG.code: confirmed}, versions)


def record_of(monkeypatch, code):
    """Add a record of that name and code to the known ones."""
    record = Record("tried", "a decoder", languages()["python"], code)
    monkeypatch.setattr(confirmation, "records", lambda: {"tried": record})


@pytest.fixture(scope="module")
def survey(tmp_path_factory):
    """A survey of two decoders."""
    folder = tmp_path_factory.mktemp("survey")
    words = ["cpython", "cpython-surrogatepass", "-q", "-o", str(folder / "runs")]
    result = CliRunner().invoke(run.command, [*words, "--keep", str(folder / "kept")])
    assert result.exit_code == 1, result.output
    return folder / "kept"


@pytest.mark.long
def test_a_survey_is_a_report_that_can_be_read_and_compared(survey):
    kept_ = json.loads((survey / "report.json").read_text())
    assert [each["state"] for each in kept_["subjects"]] == ["conforms", "diverges"]
    assert kept_["subjects"][0]["recorded"] == {
        WHAT: BUILTINS["cpython"].what,
        OBTAINED: "this system",
    }
    assert kept_["subjects"][1]["behaves_like"]
    shown = CliRunner().invoke(cli, ["report", str(survey), "--exit-zero"])
    assert "surrogate accepted" in shown.output
    same = CliRunner().invoke(
        cli, ["diff", str(survey / "report.json"), str(survey / "report.json"), "--fail-on", "any"]
    )
    assert same.exit_code == 0, same.output


def test_what_is_kept_is_the_same_each_time(monkeypatch):
    subject = subject_of(seconds=3.0, command="x", notes=("n",), not_covered=("y",))
    decoder = replace(BUILTINS["cpython"], name="tried", fetches="x of PyPI")
    monkeypatch.setattr(kept_of, "documented", lambda _: "it says so")
    once = kept(report_of(subject), {"tried": decoder}, {"tried": "skip"})
    assert once == kept(report_of(replace(subject, seconds=4.0)), {"tried": decoder}, {"tried": "skip"})
    facts = once.subjects[0].recorded
    assert once.title == "1 decoder"
    assert facts == {WHAT: decoder.what, OBTAINED: "x of PyPI", INTENT: "it says so", REPLACES: "skip"}


def test_which_error_modes_are_not_settled():
    refuses, replaces = subject_of(operations="PD"), subject_of("other", operations="PL", error_mode="replacement")
    fails, unknown = replace(replaces, claims={"error mode": "fails"}), replace(replaces, error_mode="its own")
    assert unsettled([refuses, replaces]) == []
    assert unsettled([fails, unknown]) == [fails, unknown]


@pytest.mark.long
def test_an_error_mode_is_learned_as_identify_does():
    told: list[str] = []
    decoders = [subject_of(f"py:{__file__}:missing"), subject_of("cpython")]
    words = learning.learned(decoders, 1, told.append)
    assert words == {"cpython": "replacement"}
    assert told == [each.id for each in decoders]
    assert how("cpython", ["rfc3629"]) == "replacement"


def test_a_process_that_ends_learns_nothing(monkeypatch):
    told: list[str] = []
    monkeypatch.setattr(learning, "script", lambda *_: [sys.executable, "-I", "-c", ""])
    assert learning.learned([subject_of("one"), subject_of("two")], 1, told.append) == {}
    assert told == ["one", "two"]


def test_what_is_not_settled_has_the_nearest_and_examples():
    departs = Counterexample((OctetClass((0xC2,)), OctetClass((0,))), None, None, ("U+0000", "U+FFFD U+0000"))
    why = "it is no machine; most like skip, as 1 of 2 core vectors have it"
    part = LearnedPart("error mode", "L", "", (departs,), why_not=why)
    assert in_words(part) == f"not settled: {why}: C2 00 becomes U+0000, not U+FFFD U+0000"


def test_a_divergence_is_confirmed_by_a_program_that_does_not_know_us(monkeypatch):
    record_of(monkeypatch, LAX)
    monkeypatch.setattr(confirmation, "extent", lambda *_: "all of `C0-C1 80-BF` (128 tested)")
    confirmed = confirm("tried", OVERLONG)
    assert confirmed is not None
    assert not confirmed.why_not
    assert confirmed.printed == "accepted U+0000"
    text = text_of(confirmed, ["1.0", "2.0"], version="2.0")
    assert "- how wide: all of `C0-C1 80-BF` (128 tested); 3 inputs of the test suites\n" in text
    assert "- effect: a filter that compares octets does not see the character that comes out\n" in text
    assert "Versions tried before, with the same result: 1.0." in text
    assert "```sh\nPYTHONPATH=packages python3 decode.py\n```" in text
    assert (
        "- rule: [RFC 3629 §3](https://www.rfc-editor.org/rfc/rfc3629#section-3), [Unicode ch. 3, table 3-7](" in text
    )
    assert text.splitlines()[0] == "# tried: accepts overlong forms (`C0 80`)"
    assert LAX.splitlines()[1] in text
    assert "prints `accepted U+0000`:" in text
    assert "overlong replay" not in text


def test_how_wide_a_divergence_is(tmp_path):
    (tmp_path / "lax.py").write_text(WIDE)
    target = f"py:{tmp_path / 'lax.py'}:decode"
    assert extent(target, OVERLONG) == "all of `C0-C1 80-8F` (32 tested)"
    far = replace(OVERLONG, code="OV203", octets=b"\xf5\x80\x80\x80")
    assert extent(target, far) == ("all of `F5-F7 80-BF 80-BF 80-BF` (8 192 of 786 432 tested); likewise `C0 80`")
    assert extent(target, replace(OVERLONG, chunks=(1, 1))) == ""
    assert extent(target, replace(OVERLONG, code="OV203")) == "", "it does not diverge in that way"


@pytest.mark.parametrize(
    "code",
    [
        "def decode(octets):\n    return octets.decode()",
        "def decode(octets):\n    return 'other'",
        "raise SystemExit(3)",
    ],
)
def test_one_that_is_not_there_is_not_confirmed(monkeypatch, code):
    record_of(monkeypatch, code)
    confirmed = confirm("tried", OVERLONG)
    assert confirmed is not None
    assert confirmed.why_not


def test_a_crash_confirms(monkeypatch):
    record_of(monkeypatch, "import os\ndef decode(octets):\n    os.abort()")
    monkeypatch.setattr(confirmation, "extent", lambda *_: "")
    confirmed = confirm("tried", OVERLONG)
    assert confirmed is not None
    assert (confirmed.printed, confirmed.why_not) == ("nothing: it is ended by SIGABRT", "")
    assert "memory" not in text_of(confirmed)


def test_a_fault_of_memory_says_so_and_that_it_is_told_privately():
    confirmed = ended_by("SIGSEGV", Record("tried", "", languages()["python"], LAX), LAX, "")
    text = text_of(confirmed)
    assert text.startswith(
        "# tried: memory fault: the program ends by SIGSEGV (`C0 80`)\n\n**Please report this privately"
    )
    assert "- effect: a filter" not in text


def test_where_a_divergence_is_filed():
    files = Files({"tried-numbers"}, {"other-OV201"}, {"told"})
    assert files.words(subject_of(), OVERLONG) == "a text for its maintainers"
    assert files.words(subject_of("lax", recorded={INTENT: "it says so"}), OVERLONG) == "documented: it says so"
    assert files.words(subject_of("other"), OVERLONG).startswith("withheld")
    assert files.words(subject_of("told"), OVERLONG) == "what real decoders do"
    assert files.words(subject_of("nowhere"), OVERLONG) == ""
    mended = replace(files, withdrawn={"told-OV201": "a newer version has fixed it"})
    assert mended.words(subject_of("told"), OVERLONG) == "withdrawn: a newer version has fixed it"
    practice = replace(OVERLONG, code="OV401", claim="error mode")
    assert files.words(subject_of("nowhere"), practice).startswith("no rule of RFC 3629")


def test_what_has_no_record_is_not_asked():
    assert confirm("cpython", OVERLONG) is None


def test_an_intent_may_be_of_some_codes():
    subject = subject_of(recorded={INTENT: "OV102, OV101: it drops a signature"})
    assert announced(subject, "OV102") == announced(subject, "OV101") == "it drops a signature"
    assert announced(subject, "OV201") == ""
    assert announced(subject_of(recorded={INTENT: "it does not validate"}), "OV201") == "it does not validate"
    assert announced(subject_of(), "OV201") == ""


NEWEST = max(gallery.SURVEYS.glob("20*"))
REPORTS = sorted((NEWEST / "reports").glob("*.md"))
WITHDRAWN = withdrawn_in(NEWEST)
WITHDRAWN_OF = {name.rpartition("-")[0] for name in WITHDRAWN}


def test_what_each_text_for_maintainers_has():
    for path in REPORTS:
        text = path.read_text()
        name, _, fault = path.stem.rpartition("-")
        assert re.match(rf"# {name}: .+ \(`[0-9A-FU+ ]+(?: in chunks of [0-9, ]+)?`\)\n\n", text), path
        assert re.search(r"\n\nSeen with .*\d.* \(.+\)\.\n", text), path
        for title in ("input: `", "expected: ", "observed: ", "how wide: ", "effect: ", "rule: [", "suggested fix: "):
            assert text.count(f"\n- {title}") == 1, f"{path}: {title}"
        assert "U+DC8" not in text.replace("U+DC80", "")
        of_unicode = fault in (Code.CHUNKING, Code.ENCODER_REPLACEMENT)
        assert of_unicode or "\n- rule: [RFC 3629 §" in text, path
        assert of_unicode or "](https://www.rfc-editor.org/rfc/rfc3629#section-" in text, path
        found = findings.SHOWN.search(text)
        assert found is not None, path
        program = found["program"].splitlines()[1:-1]
        assert len(program) <= 16, path
        assert "overlong" not in found["program"].lower().replace("(overlong", ""), path
        assert re.search(r"\nTo build and run it, as `[\w./]+`:\n\n```sh\n[^{}]+\n```\n", text), path
        assert not re.search(r"^`[^`\n]{80,}`$", text, re.MULTILINE), "a paragraph in backticks"
        assert text.startswith(f"# {name}: memory fault: ") == ("report this privately first" in text), path
        assert "overlong calls this OV" in text, path


@pytest.mark.long
@pytest.mark.parametrize(
    "name", [name for name, witness in witnesses().items() if not witness.packages and name not in WITHDRAWN_OF]
)
def test_a_text_about_a_decoder_with_an_adapter_is_shown_by_its_witness(name, monkeypatch):
    monkeypatch.setattr(confirmation, "extent", lambda *_: "")
    if why := witnesses()[name].missing() or BUILTINS[name].missing():
        pytest.skip(why)
    subject = next(each for each in gallery.surveys()[NEWEST.name].subjects if each.id == name)
    faults = told(subject, {*gallery.filed(NEWEST.name).withheld, *WITHDRAWN})
    assert faults
    for fault in faults:
        text = (NEWEST / "reports" / f"{name}-{fault.name}.md").read_text()
        for cause in fault.causes:
            confirmed = confirm(name, cause)
            assert confirmed is not None
            assert not confirmed.why_not
            assert cause != fault.example or f"prints `{confirmed.printed}`" in text


@pytest.mark.long
@pytest.mark.parametrize(
    "name",
    [name for name, shows in demonstrations().items() if not shows.record.packages and name not in WITHDRAWN],
)
def test_a_text_about_an_encoder_or_a_stream_is_shown_by_its_whole_program(name, monkeypatch):
    monkeypatch.setattr(confirmation, "extent", lambda *_: "")
    target, _, code = name.rpartition("-")
    if why := demonstrations()[name].record.missing() or BUILTINS[target].missing():
        pytest.skip(why)
    subject = next(each for each in gallery.surveys()[NEWEST.name].subjects if each.id == target)
    (cause,) = (each for each in subject.causes if each.code == code and demonstrated(target, each))
    confirmed = confirm(target, cause)
    assert confirmed is not None
    assert not confirmed.why_not
    (fault,) = (each for each in told(subject, WITHDRAWN) if code in each.codes)
    text = (NEWEST / "reports" / f"{target}-{fault.name}.md").read_text()
    if fault.example == cause:
        assert f"prints `{confirmed.printed}`" in text
        assert confirmed.program.rstrip() in text


def test_a_whole_program_that_shows_something_else_confirms_nothing(monkeypatch):
    code = "print('accepted U+0001')"
    shows = Demonstration(Record("x-OV201", "", languages()["python"], code), OVERLONG.octets)
    monkeypatch.setattr(confirmation, "demonstrations", lambda: {"x-OV201": shows})
    confirmed = confirm("x", OVERLONG)
    assert confirmed is not None
    assert confirmed.why_not == "it printed: accepted U+0001"
    assert confirm("x", replace(OVERLONG, chunks=(1, 1))) is None, "the program is of another input"
    failing = replace(shows, record=replace(shows.record, code="raise SystemExit(3)"))
    monkeypatch.setattr(confirmation, "demonstrations", lambda: {"x-OV201": failing})
    failed = confirm("x", OVERLONG)
    assert failed is not None
    assert "ended with status 3" in failed.why_not


def test_each_divergence_of_the_newest_survey_is_filed():
    report, files = gallery.surveys()[NEWEST.name], gallery.filed(NEWEST.name)
    open_ = [f"{s.id}-{c.code}" for s in report.subjects for c in s.causes if not files.words(s, c)]
    assert not open_
    known = {f"{s.id}-{c.code}" for s in report.subjects for c in s.causes}
    left_out = {*files.withheld, *files.withdrawn}
    ever = {f"{s.id}-{c.code}" for each in gallery.surveys().values() for s in each.subjects for c in s.causes}
    assert set(files.withheld) <= known, "made of this survey"
    assert set(files.withdrawn) <= ever, "of a survey that is kept"
    assert not set(files.withheld) & set(files.withdrawn)
    faults = {f"{s.id}-{fault.name}" for s in report.subjects for fault in told(s, left_out)}
    assert set(files.texts) <= faults, "each text is of a fault that is not withdrawn"
    assert report.title == f"{len(report.subjects)} decoders"


def test_what_was_withdrawn_as_documented_is_documented():
    """In one place, by one rule: the next survey says so by itself."""
    for name, why in WITHDRAWN.items():
        decoder, _, code = name.rpartition("-")
        if said := why.removeprefix("documented: ") if why.startswith("documented: ") else "":
            now = subject_of(decoder, recorded={INTENT: documented(decoder)})
            assert announced(now, code) == said, name
    assert {name for name, _ in tables(HERE / "known.toml")} <= {*BUILTINS, *records()}


def test_each_error_mode_of_the_newest_survey_is_settled_or_described():
    for subject in gallery.surveys()[NEWEST.name].subjects:
        if "L" in subject.operations and subject.claims.get("error mode") != "holds":
            words = subject.recorded.get(REPLACES, "")  # some cannot be learned in time
            described = ", most like " in words.replace(";", ",") and words.count(" becomes ") == 3
            assert described or not words.startswith("not settled"), subject.id


def test_a_text_on_the_site_has_ways_back_and_its_codes_as_links(tmp_path):
    path = tmp_path / "tried-numbers.md"
    path.write_text("# tried: wrong\n\nHello.\n\noverlong calls this OV201, OV202.\n")
    lines = list(gallery._text(path, {"d-tried", "c-ov201"}))
    assert lines[0] == "[All decoders](index.md) / [tried](d-tried.md)"
    assert lines[-1] == "overlong calls this [OV201](c-ov201.md), OV202."


def test_the_history_says_which_verdicts_changed_and_in_which_version():
    before = report_of(subject_of(version="1"), subject_of("same"), subject_of("gone"))
    after = report_of(replace(subject_of(version="2"), state=State.CONFORMS), subject_of("same"), subject_of("new"))
    text = "\n".join(gallery._history({"2026-01-01": before, "2026-02-02": after}))
    assert "2 decoders were in both surveys: 1 with the same verdict, and\n1 with another. 1 came, and 1 went." in text
    assert "| [tried](d-tried.md) | diverges → conforms | 1 → 2 |" in text
    assert "d-same" not in text
    assert "is the first" in "\n".join(gallery._history({"2026-01-01": before}))


def test_findings_have_a_program_each():
    page = "\n".join(findings.page(NEWEST / "reports"))
    assert page.count("\n## ") == len(findings.findings()) >= 10
    for part in page.split("\n## ")[1:]:
        assert "```" in part
        assert "It prints `" in part


def test_pages_of_a_survey_hold_hostile_words_as_words():
    subjects = subject_of(version=HOSTILE, language=HOSTILE, operations="PL", error_mode=HOSTILE), subject_of("right")
    hostile = replace(subjects[0], recorded={WHAT: HOSTILE, INTENT: HOSTILE, REPLACES: HOSTILE}, behaves_like=HOSTILE)
    pages = {name: "\n".join(lines) for name, lines in gallery._pages({"2026-01-01": report_of(hostile)}, NONE).items()}
    assert {"index", "d-tried", "c-ov201", "error-modes", "streams", "history"} <= set(pages)
    for name, text in pages.items():
        assert not re.search(r"(?<!\\)<script>alert", text), name
        assert name == "index" or not re.search(r"(?<!\\)\]\(http", text), name  # the index has its table in HTML
        assert "\n```\n<" not in text, name


def test_a_map_has_its_colours():
    report = gallery.surveys()[NEWEST.name]
    text = next(text for each in report.subjects if (text := "\n".join(gallery._pictured(each))))
    used = set(re.findall(r"var\((--[a-z]+)\)", text))
    assert {"--bad", "--text"} <= used
    for name in used:
        assert re.search(rf"{name}: \S", text), name


def test_a_vector_names_the_decoders_that_got_it_wrong():
    """And the number of decoders with such a fault; decoders' words stay text, and a right vector has no note."""
    said = replace(OVERLONG, observed=HOSTILE), replace(OVERLONG, operation="S", chunks=(1, 1), observed="accepted")
    broken = Subject("wrong", State.DIVERGES, claims={}, causes=(said[0],))
    apart = Subject("streams", State.DIVERGES, claims={}, causes=(said[1],))
    encoder = Subject("encoder", State.DIVERGES, claims={}, causes=(replace(OVERLONG, operation="E"),))
    left_out = Subject("absent", State.NOT_MEASURED, claims={}, causes=(OVERLONG,))
    survey = Surveyed({"2026-01-01": report_of(), "2026-02-02": report_of(broken, apart, encoder, left_out)})
    nul = next(vector for vector in all_vectors() if vector.octets == b"\xc0\x80")
    text = "\n".join([*survey.lines(nul), *survey.kinds(nul.flags)])
    assert "survey](../gallery/index.md) of 2026-02-02: [wrong](../gallery/d-wrong.md) (" in text
    assert "[streams](../gallery/d-streams.md) (accepted, in chunks of 1, 1)" in text
    assert "encoder" not in text
    assert "absent" not in text
    assert "3 decoders accept something of this kind: [OV201](../gallery/c-ov201.md)" in text
    assert not re.search(r"(?<!\\)<script>", text)
    right = next(vector for vector in all_vectors() if vector.octets == b"\xc2\x80")
    assert list(survey.lines(right)) == list(Surveyed({}).lines(nul)) == []


def test_a_page_of_vectors_does_not_grow_with_the_survey():
    """It gives the number of accepting decoders once for each kind, and names a dozen decoders at a vector."""
    many = [Subject(f"d{number}", State.DIVERGES, claims={}, causes=(OVERLONG,)) for number in range(100)]
    overlong = [vector for vector in all_vectors() if "OV201" in vector.flags]
    text = "\n".join(vectors._family("overlong", overlong, Surveyed({"2026-01-01": report_of(*many)})))
    assert text.count("something of this kind: [OV201]") == 1
    assert text.count("](../gallery/d-") == 12


def test_a_code_of_a_survey_names_no_file_elsewhere(tmp_path):
    far = replace(OVERLONG, code="/../../x")
    (tmp_path / SURVEY).write_text(FORMATS["json"].render(report_of(replace(subject_of("x"), causes=(far,)))))
    done = CliRunner().invoke(issues.command, [str(tmp_path)])
    assert (done.exit_code, done.stderr) == (
        2, "overlong: x: no code /../../x is known here; update overlong, or survey again\n",
    )  # fmt: skip


def test_packages_of_debian_are_installed_as_soon_as_nobody_else_installs_any(monkeypatch):
    asked: list[list[str]] = []
    lacking = Record("tried", "", languages()["c"], "", debian=("libnothing-dev",))
    monkeypatch.setattr("corpora.survey.records.records", lambda: {"tried": lacking})
    monkeypatch.setattr("corpora.survey.records.installed", lru_cache(lambda: {"gcc": "1"}))
    monkeypatch.setattr("shutil.which", lambda _: "/usr/bin/apt-get")
    monkeypatch.setattr("subprocess.run", lambda words, **_: asked.append(words))
    install._install_debian([replace(BUILTINS["cpython"], name="tried")])
    (words,) = asked
    assert words[:3] == ["apt-get", "-o", "DPkg::Lock::Timeout=600"]
    assert words[-1] == "libnothing-dev"


def test_the_tool_knows_the_records_and_every_verb_of_overlong(tmp_path):
    """Whatever folder it is started in; overlong alone does not know them."""
    nothing_installed = os.environ | {"PATH": str(tmp_path)}

    def said(*words):
        done = subprocess.run(
            [sys.executable, *words], cwd=tmp_path, env=nothing_installed, capture_output=True, text=True, check=False
        )
        return done.returncode, done.stderr

    assert said(gallery.HERE, "run", "--help") == said(gallery.HERE, "explain", "C0") == (0, "")
    status, error = said(gallery.HERE, "certify", "zsh")
    assert status == 3
    assert error.startswith("overlong: zsh: not available here: ")
    status, error = said("-m", "overlong", "certify", "zsh")
    assert status == 2
    assert "no target 'zsh'" in error


def test_a_program_that_prints_refused_shows_no_error_of_the_decoder(monkeypatch):
    record_of(monkeypatch, "def decode(octets):\n    raise IndexError")
    confirmed = confirm("tried", replace(OVERLONG, code="OV601", observed="internal error: IndexError"))
    assert confirmed is not None
    assert "a refusal of any kind looks like that" in confirmed.why_not
