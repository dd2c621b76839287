"""The command line, as a user meets it: the words, the exit codes, the files, and never a traceback."""

import json
import os
import re
import subprocess
import sys
from importlib.resources import files
from pathlib import Path
from types import SimpleNamespace

import click
import pytest
from click.testing import CliRunner

from overlong.conformance.certification.tiers import TIERS
from overlong.conformance.cli import output as progress
from overlong.conformance.cli.certify import command as certify
from overlong.conformance.cli.output import WantedFormats, folder_and_file
from overlong.conformance.cli.verbs import SYNONYMS, VERBS, cli
from overlong.conformance.support.files import alone_in
from overlong.conformance.targets.adapters.abi import ABIS, QUESTION_ABIS
from progress_lines import beside_progress
from waiting import HUNG

HERE = Path(__file__).parents[1]


def overlong(*words, cwd=None, **environment):
    return subprocess.run(
        [sys.executable, "-m", "overlong", *words],
        capture_output=True,
        text=True,
        encoding="utf-8",
        cwd=cwd,
        env={**os.environ, "PYTHONIOENCODING": "utf-8", "COLUMNS": "80", **environment},
        timeout=HUNG,
        check=False,
    )


def assert_one_line(text: str) -> None:
    assert text.count("\n") == 1, text
    assert "Traceback" not in text


def failed_with(error, monkeypatch):
    """What a verb prints that fails with this error; later calls of it fail likewise."""

    def failing():
        raise error

    command = click.Group("finding", commands=[click.Command("list", callback=failing)])
    monkeypatch.setitem(sys.modules, "failing_verb", SimpleNamespace(command=command))
    monkeypatch.setitem(VERBS, "finding", "failing_verb")
    return CliRunner().invoke(cli, ["finding", "list"])


@pytest.mark.parametrize("error", [RuntimeError("a\x1b[31mb"), EOFError(), OSError(32, "Broken pipe")])
def test_an_internal_error_is_one_line_and_never_a_finding(error, monkeypatch):
    done = failed_with(error, monkeypatch)
    assert done.exit_code == 4
    assert_one_line(done.stderr)
    assert f"internal error: {type(error).__name__}" in done.stderr
    assert "\x1b" not in done.stderr
    assert f"({Path(__file__).name}:" in done.stderr
    whole = CliRunner(env={"OVERLONG_TRACEBACK": "1"}).invoke(cli, ["finding", "list"])
    assert whole.exit_code == 4
    assert "Traceback" in whole.stderr


@pytest.mark.parametrize(
    "error", [MemoryError(), OSError(12, "Cannot allocate memory"), RuntimeError("can't start new thread")]
)
def test_what_the_system_refuses_to_this_program_is_no_internal_error(error, monkeypatch):
    done = failed_with(error, monkeypatch)
    assert done.exit_code == 4
    assert_one_line(done.stderr)
    assert "allow more" in done.stderr
    assert "(ulimit -v)" in done.stderr
    assert "internal error" not in done.stderr


def test_a_python_without_a_standard_module_is_told_by_its_name(tmp_path):
    """As one built where SQLite's headers were missing."""
    (tmp_path / "sitecustomize.py").write_text("import sys; sys.modules['_sqlite3'] = None\n", encoding="utf-8")
    done = overlong("sweep", "cpython", "--plan", "exhaustive-1", cwd=tmp_path, PYTHONPATH=str(tmp_path))
    assert done.returncode == 4
    assert_one_line(done.stderr)
    assert "lacks a module of its standard library" in done.stderr
    assert "_sqlite3" in done.stderr


def test_a_right_decoder(tmp_path):
    done = overlong("certify", "--no-sweeps", "cpython", "-o", str(tmp_path / "out"))
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("CONFORMANT (not swept)\n")
    assert len(done.stdout.splitlines()) <= 20
    assert "\nnext: overlong certify cpython\n" in done.stdout, "it was not swept"
    assert not re.search(r"complete:|^tested |swept ·|left out", done.stdout, re.MULTILINE), (
        "the certificate has them, and -v"
    )
    assert beside_progress(done.stderr) == ""
    statement = json.loads((tmp_path / "out" / "certificate.json").read_text())
    assert statement["_type"] == "https://in-toto.io/Statement/v1"
    assert statement["predicate"]["result"] == "PASSED"
    assert str(tmp_path / "out" / "results.jsonl") in done.stdout
    assert max(map(len, done.stdout.splitlines()[:-3])) <= 80


@pytest.fixture(scope="module")
def surrogatepass(tmp_path_factory):
    """The folder of a certified decoder that is wrong, and what was printed."""
    folder = tmp_path_factory.mktemp("surrogatepass")
    words = ("certify", "--no-sweeps", "cpython-surrogatepass", "-o", "one")
    return folder, overlong(*words, cwd=folder, SOURCE_DATE_EPOCH="1700000000")


@pytest.mark.long
def test_certificates_are_reproducible_to_the_octet(surrogatepass):
    folder, _ = surrogatepass
    words = ("certify", "--no-sweeps", "cpython-surrogatepass", "-o", "two")
    overlong(*words, cwd=folder, SOURCE_DATE_EPOCH="1700000000")
    for file in ("certificate.json", "results.jsonl"):
        assert (folder / "one" / file).read_bytes() == (folder / "two" / file).read_bytes()
    assert '"2023-11-14T22:13:20Z"' in (folder / "one" / "results.jsonl").read_text()


@pytest.mark.long
def test_surrogatepass_is_one_bucket_with_section_example_and_a_command_that_reproduces_it(surrogatepass, tmp_path):
    _, done = surrogatepass
    assert done.returncode == 1
    fails = [line for line in done.stdout.splitlines() if line.startswith("FAIL")]
    assert len(fails) == 2
    assert "OV202 surrogate accepted" in fails[0]
    assert "RFC 3629 §3" in fails[0]
    assert "OV703 surrogate encoded" in fails[1]
    assert "input ED A0 80    expected reject at 0, 1 octet    observed accepted U+D800" in done.stdout
    command, _ = [line.split("reproduce: ")[1] for line in done.stdout.splitlines() if "reproduce: " in line]
    again = overlong(*command.split()[1:], cwd=tmp_path)
    assert again.returncode == 1
    assert "OV202 surrogate accepted" in again.stdout


@pytest.mark.long
def test_a_callable_in_a_file_and_in_a_module(tmp_path):
    (tmp_path / "mine.py").write_text("def always_true(octets): return True\n")
    for target in ("py:mine.py:always_true", "py:mine:always_true"):
        done = overlong("certify", "--quick", target, cwd=tmp_path)
        assert done.returncode == 1, done.stderr
        assert "NOT CONFORMANT  1 bucket" in done.stdout
        assert "no certificate" in done.stdout


@pytest.mark.long
@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        (["certify", "py:nosuch:f"], 3, "No module named 'nosuch'"),
        (["certify", "py:nosuch"], 2, "write py:MODULE:CALLABLE"),
        (["certify", "cpyton"], 2, "did you mean cpython"),
        (["certify", "dll:x.so:f"], 2, "no kind of target 'dll'"),
        (["certify", "py:json:loads?mode=loud"], 2, "write mode=fatal, mode=replacement"),
        (["certify", "--", "/nonexistent/adapter"], 3, "cannot be started: No such file"),
        (["replay", "c0", "nosuch"], 2, "no target"),
    ],
)
def test_what_a_user_can_mend_is_one_line(words, code, says, tmp_path):
    done = overlong(*words, cwd=tmp_path)
    assert done.returncode == code
    assert done.stdout == ""
    assert says in done.stderr
    assert_one_line(done.stderr)


@pytest.mark.long_after(1)
@pytest.mark.parametrize(
    ("file", "says"),
    [
        ("libmine.so", "write 'so:./libmine.so:FUNCTION?abi=...'"),
        ("mine.wasm", "write 'wasm:./mine.wasm:FUNCTION?abi=...'"),
        ("mine.py", "write py:./mine.py:FUNCTION"),
        ("adapter", "write -- ./adapter"),
        ("adapter.js", "-- and the command that runs it"),
    ],
)
def test_a_file_in_place_of_a_target(file, says, tmp_path):
    (tmp_path / file).touch(0o755 if file == "adapter" else 0o644)
    done = overlong("certify", f"./{file}", cwd=tmp_path)
    assert done.returncode == 2
    assert says in done.stderr
    assert_one_line(done.stderr)


def test_a_program_of_the_current_folder(tmp_path):
    (tmp_path / "mytool").touch(0o755)
    done = overlong("certify", "cmd:mytool", cwd=tmp_path)
    assert done.returncode == 3
    assert "write ./mytool" in done.stderr
    assert_one_line(done.stderr)


@pytest.mark.long_after(1)
@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["certify"], "overlong certify cpython"),
        (["certify", "a", "b"], "put -- before a command"),
        (["certify", "cpython", "--suite", "nosuch"], "'overlong docs suites' lists them"),
        (["certify", "cpython", "--suite", "core", "--quick"], "leave out --suite"),
        (["explain", "OV999"], "explain codes"),
        (["explain", "xyz"], "neither octets"),
        (["explain", "U+80000000"], "beyond U+7FFFFFFF"),
        (["docs", "schema/resluts-1"], "did you mean schema/results-1?"),
        (["docs", "nosuch"], "'overlong docs' lists them"),
        (["replay", "zz", "cpython"], "no vector id"),
        (["replay", "overlong/sha256-0123456789abcdef", "cpython"], "no suite has a vector"),
        (["certfy", "cpython"], "did you mean certify"),
    ],
)
def test_usage_errors(words, says):
    done = overlong(*words)
    assert done.returncode == 2
    assert says in done.stderr
    assert "Traceback" not in done.stderr


def test_every_command_has_help_with_examples():
    for words in ([], ["certify"], ["replay"], ["explain"]):
        done = overlong(*words, "--help")
        assert done.returncode == 0
        assert "Examples:" in done.stdout
        assert max(map(len, done.stdout.splitlines())) <= 80


@pytest.mark.long
def test_explain_octets():
    done = overlong("explain", "E0", "80", "AF")
    assert done.returncode == 0
    for words in (
        "[start] → [E0]", "UTF8-3: %xE0 %xA0-BF UTF8-tail", "wanted A0-BF", "OV201 overlong form",
        "fatal                      reject at 0, 1 octet", "replacement                U+FFFD U+FFFD U+FFFD",
        "replacement-per-sequence   U+FFFD", "utf-8b                     U+DCE0 U+DC80 U+DCAF",
    ):  # fmt: skip
        assert words in done.stdout
    assert overlong("explain", "e080af").stdout == done.stdout
    assert "the input ends" in overlong("explain", "F0 9F 98").stdout
    assert "U+1F600, 4 octets" in overlong("explain", "0xF0 0x9F 0x98 0x80").stdout


@pytest.mark.long_after(1)
@pytest.mark.parametrize(
    ("characters", "octets"),
    [
        ("U+20AC", "E2 82 AC"), ("€", "E2 82 AC"), ("u+d800", "ED A0 80"), ("U+110000 U+41", "F4 90 80 80 41"),
        ("aß", "61 C3 9F"), ("U+7FFFFFFF", "FD BF BF BF BF BF"),
    ],
)  # fmt: skip
def test_explain_characters(characters, octets):
    done = overlong("explain", characters)
    assert done.returncode == 0
    assert done.stdout == overlong("explain", octets).stdout


def test_schemas_are_printed():
    listed = [line.split()[0] for line in overlong("docs").stdout.splitlines()]
    folder = files("overlong.conformance") / "schemas"
    schemas = [f"schema/{each.name.removesuffix('.schema.json')}" for each in folder.iterdir()]
    assert [name for name in listed if name.startswith("schema/")] == sorted(schemas)
    text = (folder / "results-1.schema.json").read_text("ascii")
    assert overlong("docs", "schema/results").stdout == overlong("docs", "schema/results-1").stdout == text


@pytest.mark.long
def test_explain_codes():
    listed = overlong("explain", "codes").stdout.splitlines()
    assert len(listed) > 20
    for line in listed:
        code = line.split()[0]
        done = overlong("explain", code) if code in ("OV201", "OV301", "OV605") else None
        if done is not None:
            assert done.returncode == 0
            assert done.stdout.startswith(line.split("  ")[0])
    assert "CVE-2000-0884" in overlong("explain", "ov201").stdout


@pytest.mark.long
def test_targets_are_listed_with_what_is_missing():
    rows = json.loads(overlong("target", "list", "--format", "json").stdout)
    assert {"cpython", "cpython-incremental", "node-textdecoder", "glibc-iconv"} <= {row["name"] for row in rows}
    bare = overlong("target", "list", PATH=str(Path(sys.executable).parent))
    assert "missing  node-textdecoder" in bare.stdout or "ready    node-textdecoder" in bare.stdout
    assert all(row["ready"] or "install" in row["missing"] or "only" in row["missing"] for row in rows)


def test_a_decoder_that_is_not_here_is_not_measured(tmp_path):
    done = overlong("certify", "node-textdecoder", cwd=tmp_path, PATH=str(tmp_path))
    assert done.returncode == 3
    assert "install Node.js" in done.stderr
    assert_one_line(done.stderr)


@pytest.mark.long
def test_json_to_stdout_and_quiet(tmp_path):
    done = overlong("certify", "--suite", "core", "cpython", "--format", "json", cwd=tmp_path)
    assert json.loads(done.stdout)["predicate"]["result"] == "PASSED"
    quiet = overlong("certify", "--suite", "core", "cpython", "-q", cwd=tmp_path)
    assert quiet.stdout == "CONFORMANT (not swept)\n"


@pytest.mark.long
def test_an_ascii_terminal_gets_ascii_marks(tmp_path):
    done = overlong("certify", "cpython", "--quick", cwd=tmp_path, PYTHONIOENCODING="ascii:backslashreplace")
    assert "+ verdict" in done.stdout
    assert "\\u" not in done.stdout


@pytest.mark.long
def test_a_partial_run_leaves_no_certificate_of_an_earlier_one(tmp_path):
    (tmp_path / "certificate.json").write_text("{}")
    overlong("certify", "cpython", "--suite", "core", "-o", str(tmp_path))
    assert (tmp_path / "results.jsonl").exists()
    assert not (tmp_path / "certificate.json").exists()
    assert not list(tmp_path.glob("*.part"))


@pytest.mark.long
def test_long_vectors_are_replayed_by_their_digest(tmp_path):
    from overlong.conformance.vectors.suites.suite import core_vectors

    long = next(vector for vector in core_vectors() if "sha256" in vector.id)
    done = overlong("replay", long.id, "cpython")
    assert done.returncode == 0
    assert long.comment in done.stdout


def test_no_portion_of_the_namespace_package_hides_the_others():
    import overlong as namespace

    assert namespace.__file__ is None
    for root in ("reference", "conformance", "fuzz"):
        assert not (HERE.parent.parent / root / "overlong" / "__init__.py").exists()
        assert (HERE.parent.parent / root / "overlong" / root / "py.typed").exists()


def test_a_file_that_o_names_is_a_report_and_no_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "plain").touch()
    usual, text = Path("usual"), WantedFormats(("text",))
    assert folder_and_file(None, usual, text) == (usual, text)
    assert folder_and_file(Path("v1.2"), usual, text) == (Path("v1.2"), text)
    for name, form in {"a.html": "html", "a.xml": "junit", "a.sarif": "sarif", "a.md": "markdown"}.items():
        for wanted in (text, WantedFormats((form,))):
            assert folder_and_file(Path(name), usual, wanted) == (usual, WantedFormats((form,), Path(name)))
    for name, names in {
        "plain": ("text",),
        "a.html": ("junit",),
        "b.html": ("html", "junit"),
        "no/c.html": ("text",),
    }.items():
        with pytest.raises(click.BadParameter, match=name.partition("/")[0]):
            folder_and_file(Path(name), usual, WantedFormats(names))


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["certify", "cpython", "--suite", "cor"], "did you mean core?"),
        (["certify", "cpython", "--suite", "zzz"], "'overlong docs suites' lists them"),
        (["certify", "cpython", "--profile", "RFC3630"], "did you mean rfc3629?"),
        (["sweep", "cpython", "--plan", "exaustive-4"], "did you mean exhaustive-4?"),
        (["sweep", "cpython", "--plan", "zzz"], "'overlong docs suites' lists them"),
        (["doctor"], "write 'overlong --self-test'"),
        (["score"], "write 'overlong vectors score FILE'"),
        (["certify", "so:./a.so:f?abi=bol(ptr,len)"], "perhaps bool(ptr,len), "),
        (["certify", "so:./a.so:f"], "'overlong target abis' lists all"),
        (["vectors", "export", "--format", "jsn"], "did you mean json"),
        (["vectors", "export", "--format", "qqq"], "there is\n  json\n  jsonl\n"),
        (["target", "new", "cobol"], "there is\n  c\n  c++\n"),
        (["diff", "cpython", "py:a:b"], "overlong certify cpython -o older/"),
        (["certify", "py:json:lods"], "did you mean loads?"),
        (["certify", "py:here:decode"], "PYTHONPATH=src"),
    ],
)
def test_a_wrong_name_gets_the_nearest(words, said, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "here.py").touch()
    done = CliRunner().invoke(cli, words)
    assert (done.exit_code, said in done.output) == (
        3 if words[-1] in {"py:json:lods", "py:here:decode"} else 2,
        True,
    ), done.output


def test_another_programs_word_leads_to_a_command_line():
    assert not SYNONYMS.keys() & VERBS.keys()
    for words in SYNONYMS.values():
        done = CliRunner().invoke(cli, [*(word for word in words.split() if not word.isupper()), "--help"])
        assert done.exit_code == 0, words


@pytest.mark.parametrize(
    ("called", "dialect"),
    [
        ("utf-8", "rfc3629"), ("UTF-8", "rfc3629"), ("utf8", "rfc3629"), ("UTF_8", "rfc3629"), ("RFC 3629", "rfc3629"),
        ("CESU8", "cesu-8"), ("Modified UTF-8", "mutf-8"), ("utf-8-BOM", "utf-8-sig"), ("lax_1FFFFF", "lax-1fffff"),
    ],
)  # fmt: skip
def test_a_profile_may_have_the_name_that_the_field_gives_it(called, dialect):
    options = ["explain", "--profile", dialect, "ED", "A0", "80"]
    expected = CliRunner().invoke(cli, options)
    options[2] = called
    assert (expected.exit_code, CliRunner().invoke(cli, options).output) == (0, expected.output)


def test_all_tiers_that_a_page_lists_can_be_typed():
    tiers = CliRunner().invoke(cli, ["docs", "suites"]).output.split("\n## ")[2]
    option = next(each for each in certify.params if each.name == "tier")
    assert isinstance(option.type, click.Choice)
    assert re.findall(r"^\| `([a-z]+)` ", tiers, re.MULTILINE) == [*reversed(option.type.choices)] == [*TIERS]
    assert option.type.convert("USUAL", option, None) == "usual"


def test_every_way_to_call_a_function_is_listed():
    shown = CliRunner().invoke(cli, ["target", "abis"]).output
    assert [line for line in shown.splitlines() if not line.startswith(" ")] == [
        *(*ABIS, *QUESTION_ABIS, "py:FILE.py:FUNCTION")
    ]


def test_progress_counts_vectors_of_suites_and_then_strings_of_sweeps(capsys, monkeypatch):
    monkeypatch.setattr(progress, "_EVERY", -1)
    with progress.Bar(enabled=True) as bar:
        bar.update("core", 1000, 2000)
        bar.update("pairs", 5, 30000)
    assert capsys.readouterr().err == "core: 1 000 of 2 000 vectors\npairs: 5 of 30 000 strings\n"


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no locks of folders")
def test_a_second_matrix_in_a_folder_is_refused(tmp_path):
    """Two matrices in one folder would lose each other's rows."""
    with alone_in(tmp_path):
        done = CliRunner().invoke(cli, ["matrix", "--quick", "-q", "-o", str(tmp_path), "cpython"])
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr == (
        f"overlong: {tmp_path}: another run is writing its results there; choose another folder with -o\n"
    )
    assert not list(tmp_path.iterdir())
    with alone_in(tmp_path):
        pass
