"""Builds and runs every adapter from ``overlong target new`` as its first lines say, with its language's decoder."""

import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest
from click.testing import CliRunner

from hostile import divergences
from overlong.conformance import certify
from overlong.conformance.cli.verbs import cli
from overlong.conformance.targets.adapter_check import LEFT_OUT, SOUND, AdapterCheck
from overlong.conformance.targets.framed import FramedTarget
from overlong.conformance.targets.starters import TEMPLATES, template_for

pytestmark = pytest.mark.long

DOCS = Path(__file__).parents[3] / "docs"
NEEDS = {
    "c": "a C compiler (Debian: gcc libc6-dev)",
    "c++": "a C++ compiler (Debian: g++)",
    "rust": "Rust (Debian: rustc)",
    "go": "Go (Debian: golang-go)",
    "java": "a JDK (Debian: default-jdk-headless)",
    "javascript": "Node.js (Debian: nodejs)",
    "python": "Python as python3",
    "ruby": "Ruby (Debian: ruby)",
    "php": "PHP with mbstring (Debian: php-cli php-mbstring)",
    "perl": "Perl (Debian: perl)",
    "lua": "Lua 5.4 (Debian: lua5.4)",
    "ocaml": "OCaml with Uutf (Debian: ocaml libuutf-ocaml-dev)",
    "erlang": "Erlang (Debian: erlang-base)",
}
PROBES = {  # commands that check for a library that the program needs
    "php": ["php", "-r", "exit(extension_loaded('mbstring') ? 0 : 1);"],
    "ocaml": ["sh", "-c", 'test -e "$(ocamlopt -where)/uutf/uutf.cmxa"'],
}
SILENT = {"javascript", "ruby", "php", "perl"}  # their decoders report no offsets
BATCHES = set(TEMPLATES) - {"c++", "rust", "go", "java"}


def is_surrogate(octets):
    return re.search(rb"\xed[\xa0-\xbf][\x80-\xbf]", octets) is not None


def has_noncharacter(octets):
    return any(ord(c) & 0xFFFE == 0xFFFE or 0xFDD0 <= ord(c) <= 0xFDEF for c in octets.decode())


KNOWN = {  # divergences of the languages' own decoders, confirmed by hand: the code, and which inputs may show it
    "c++": ("OV202", is_surrogate),  # libstdc++'s codecvt<char32_t, char> (GCC 12): ED A0 80 becomes U+D800
    "perl": ("OV101", has_noncharacter),  # Encode 3.17, UTF-8, FB_CROAK: EF B7 90 "does not map to Unicode"
}


def built(language, source, folder):
    """The adapter's command, built in the current folder; skips the test if the language is missing."""
    template = TEMPLATES[language]
    (folder / template.file).write_bytes(source)
    commands = [shlex.split(each) for each in (template.build, template.run) if each]
    tools = [command[0] for command in commands if not command[0].startswith("./")]
    if (
        any(not shutil.which(tool) for tool in tools)
        or subprocess.run(PROBES.get(language, ["true"]), check=False).returncode
    ):
        pytest.skip(f"this needs {NEEDS[language]}")
    if template.build:
        done = subprocess.run(commands[0], cwd=folder, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        assert done.stdout + done.stderr == ""
    return commands[-1]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("language", TEMPLATES)
def test_an_adapter_is_short_and_says_what_to_do(language):
    template = TEMPLATES[language]
    source = template.source.decode("ascii")
    lines = source.splitlines()
    assert len(lines) <= 100
    assert max(map(len, lines)) <= 120
    assert source.count("YOUR DECODER HERE") == 1
    head = "\n".join(lines[:6])
    assert template.build in head
    assert f"overlong certify -- {template.run}" in head
    assert "--subject FILE" in head
    assert "1.0" not in source  # a name or a version that nobody changes would be in the reports
    assert ("PVDB" in source) == (language in BATCHES)


@pytest.mark.parametrize("language", TEMPLATES)
def test_an_adapter_keeps_the_protocol_and_its_decoder_is_judged_rightly(language, folder):
    command = built(language, TEMPLATES[language].source, folder)
    steps = list(AdapterCheck(FramedTarget("adapter", command)).steps())
    assert [step for step in steps if step.state not in (SOUND, LEFT_OUT)] == []
    assert [step.name for step in steps if step.state == LEFT_OUT] == [] if language in BATCHES else ["batches"]
    certificate = certify(command, suites=["core", "complete-0"], output=folder)
    for found in divergences(folder):
        code, is_known = KNOWN[language]
        assert found["code"] in {code, "OV301"}  # an error that is accepted is no place to stop
        assert is_known(bytes.fromhex(found["hex"]))
    claims = certificate.run.claims
    refuses = KNOWN.get(language, ("",))[0] == "OV101"  # refused strings have no text
    assert claims["scalars"] == ("not measured" if refuses else "holds")
    assert claims["error position"] == ("not measured" if language in SILENT else "holds")
    assert certificate.run.conformant or language in KNOWN


WRONG_FUNCTIONS = {  # in the functions of the page functions.md: the changed text, and how the sentence begins
    "go": ("DecodeLastRune(text[:offset])", "DecodeRune(text)", "previous answers"),
    "java": ("allocate(room)", "allocate(room + 1)", "from-utf16 takes"),
    "javascript": ("Uint8Array(room)", "Uint8Array(room + 1)", "from-utf16 takes"),
    "python": (">= 0xC0", ">= 0xA0", "truncate cuts"),
    "rust": (".rev().next()", ".next()", "previous answers"),
}


def with_functions(language, changed=("", "")):
    """The adapter with the functions of the page functions.md where its comment has an example."""
    page = (DOCS / "functions.md").read_text("utf-8").partition("## In other languages")[2]
    (functions,) = re.findall(rf"```{language}\n(.*?)```", page, re.DOTALL)
    assert functions.count(changed[0]) == 1 or not changed[0]
    head, before, after = TEMPLATES[language].source.decode("ascii").partition("FUNCTIONS beside it")
    example = re.search(r"^ *\t*(//|#) \S*1\b.*\n", after, re.MULTILINE)
    assert example is not None
    source = after[: example.start()] + functions.replace(*changed) + after[example.end() :]
    return (head + before + source).encode("ascii")


@pytest.mark.usefixtures("unexamined")
@pytest.mark.parametrize("language", WRONG_FUNCTIONS)
def test_an_adapter_answers_questions_with_the_functions_of_the_page(language, folder):
    command = built(language, with_functions(language), folder)
    steps = list(AdapterCheck(FramedTarget("adapter", command)).steps())
    assert [step for step in steps if step.state not in (SOUND, LEFT_OUT)] == []
    run = certify(command, suites=["functions", "complete-0"]).run
    assert (run.conformant, run.claims["functions"]) == (True, "holds")


@pytest.mark.usefixtures("unexamined")
@pytest.mark.parametrize("language", WRONG_FUNCTIONS)
def test_a_wrong_function_of_an_adapter_is_found(language, folder):
    *changed, sentence = WRONG_FUNCTIONS[language]
    run = certify(built(language, with_functions(language, changed), folder), suites=["functions"]).run
    assert run.failing == ("functions",)
    titles = [bucket.example.title for bucket in run.ordered_buckets]
    assert any(title.startswith(sentence) for title in titles), titles


def new(*words):
    return CliRunner().invoke(cli, ["target", "new", *words])


@pytest.mark.parametrize(
    ("name", "language"),
    [
        *((each, each) for each in TEMPLATES),
        *(("js", "javascript"), ("node", "javascript"), ("cpp", "c++"), ("py", "python"), ("rb", "ruby")),
        *(("pl", "perl"), ("ml", "ocaml"), ("erl", "erlang"), ("rs", "rust"), ("golang", "go")),
    ],
)
def test_a_language_has_several_names(name, language):
    for written in (name, name.upper(), name.title()):
        assert template_for(written) is TEMPLATES[language]
        done = new(written)
        assert (done.exit_code, done.stdout_bytes) == (0, TEMPLATES[language].source)


def test_no_two_languages_share_a_name():
    names = [name for each in TEMPLATES.values() for name in (each.language, *each.others)]
    assert len(names) == len(set(names))
    assert len({each.source for each in TEMPLATES.values()}) == len(TEMPLATES)


@pytest.mark.parametrize("words", [[], ["fortran"], ["pyhton"], ["\x1b[2J\u202eexe"], [""]])
def test_without_a_language_that_there_is_all_are_listed(words):
    done = new(*words)
    assert (done.exit_code, done.stdout) == (2, "")
    lines = done.stderr.splitlines()
    assert [line[2:] for line in lines if line.startswith("  ")] == list(TEMPLATES)
    assert ("did you mean python?" in done.stderr) == (words == ["pyhton"])
    assert all(map(str.isprintable, lines))


def test_a_file_is_never_overwritten(folder):
    mine = folder / "adapter.c"
    mine.write_text("mine")
    done = new("c", "-o", "adapter.c")
    assert (done.exit_code, done.stdout, mine.read_text()) == (2, "", "mine")
    assert "adapter.c exists already; name another file" in done.stderr.splitlines()[-1]
    assert new("c", "-o", "other.c").exit_code == 0
    assert (folder / "other.c").read_bytes() == TEMPLATES["c"].source
    assert new("c", "-o", "no/such/folder.c").exit_code == 2
