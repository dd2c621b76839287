"""The tutorials, followed word for word: files are written, changed and built as they say, and say what is shown."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from overlong.conformance import Invocation, certify
from overlong.conformance.cli.certify import command
from overlong.conformance.results.certificate import CERTIFICATE

pytestmark = pytest.mark.long

DOCS = Path(__file__).parents[3] / "docs"
TUTORIALS = DOCS / "tutorials"
NEEDS = {"c": "cc", "rust": "rustc", "go": "go", "java": "javac", "node": "node", "python": "python3"}
FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
QUICKLY_SWEPT = "tier brief; not swept further"
NOT_RUN = {"sh", "yaml", "text"}  # what a reader does elsewhere; test_commands_elsewhere_exist looks at it


def steps(text):
    """The fences of a page in their order: language, text, and the file that the line above names."""
    end = 0
    for fence in FENCE.finditer(text):
        above = text[end : fence.start()].strip().splitlines()
        named = re.findall(r"`([\w.]+\.\w+)`", above[-1]) if above and above[-1].endswith(":") else []
        yield fence[1], fence[2], named[-1] if named else None
        end = fence.end()


def without_chance(text):
    """Output without times, versions and seeds."""
    text = re.sub(r"\d+\.\d s\b", "0.0 s", text)
    text = re.sub(r"(?<=drawn by )\d+", "0", text)
    text = re.sub(r"(?<=^CONFORMANT \()\d+ plans? swept(?=\)$)", QUICKLY_SWEPT, text, flags=re.MULTILINE)  # if busy
    text = re.sub(r"^(\S+@1 · .*?)(?:\n )? \([^()]+\)$", r"\1 (version)", text, flags=re.MULTILINE)
    return [line.rstrip() for line in text.strip().splitlines()]


def change(file, diff):
    """Change a file as a reader does."""
    words = ["patch", "--fuzz=0", file]
    done = subprocess.run(words, input=diff, capture_output=True, text=True, encoding="utf-8", check=False)
    assert done.stdout == f"patching file {file}\n", done.stdout + done.stderr


def holds(shown, said):
    """Whether the lines that are shown are those that were said; ``...`` stands for any lines."""
    pattern = "\n".join(".*" if line == "..." else re.escape(line) for line in shown)
    return re.fullmatch(pattern.replace("\n.*", r"(?:\n.*)?"), "\n".join(said), re.DOTALL) is not None


def run(command):
    words = shlex.split(command)
    if words[0] == "overlong":
        words = [sys.executable, "-m", *words]
    return subprocess.run(words, capture_output=True, text=True, encoding="utf-8", check=False)


@pytest.mark.parametrize("language", NEEDS)
def test_a_tutorial_is_followed(language, tmp_path, monkeypatch):
    for tool in (NEEDS[language], "patch"):
        if not shutil.which(tool):
            pytest.skip(f"{tool} is not on PATH")
    monkeypatch.chdir(tmp_path)
    for name, value in (("COLUMNS", "80"), ("PYTHONUTF8", "1"), ("NO_COLOR", "1"), ("GOFLAGS", "-mod=mod")):
        monkeypatch.setenv(name, value)
    verdicts = []
    for kind, text, name in steps((TUTORIALS / f"{language}.md").read_text("utf-8")):
        if kind == "console":
            for session in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
                command, _, shown = session.partition("\n")
                done = run(command)
                said = done.stdout or done.stderr  # progress goes there while there is a result, and no page shows it
                assert holds(without_chance(shown), without_chance(said)), f"$ {command}\n{said}"
                verdicts += re.findall(r"^(?:NOT )?CONFORMANT\b.*", done.stdout, re.MULTILINE)
        elif kind == "diff":
            change(tmp_path / name, text)
        elif kind not in NOT_RUN:
            assert name, f"no line names the file for:\n{text}"
            (tmp_path / name).write_text(text, "utf-8")
    assert re.fullmatch(r"NOT CONFORMANT  .*|CONFORMANT EXCEPT .*", verdicts[0])
    assert re.fullmatch(rf"CONFORMANT( \((not swept|{QUICKLY_SWEPT}|\d+ plans? swept)\))?", verdicts[-1])


def test_every_language_has_a_tutorial():
    assert {page.stem for page in TUTORIALS.glob("*.md")} == set(NEEDS)


def test_commands_elsewhere_exist(monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    lines = set()
    for language in NEEDS:
        for kind, text, _ in steps((TUTORIALS / f"{language}.md").read_text("utf-8")):
            if kind in NOT_RUN:
                lines.update(re.findall(r"\boverlong ([a-z]+(?: (?:new|list|check|show|export)\b)?)", text))
    assert "verify" in lines
    for words in sorted(lines):
        assert run(f"overlong {words} --help").returncode == os.EX_OK, words


@pytest.mark.skipif(not (shutil.which("node") and shutil.which("patch")), reason="node or patch is not on PATH")
def test_the_decoder_of_an_adapter_is_a_subject(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    decoder = tmp_path / "decoder.js"
    for kind, text, name in steps((TUTORIALS / "node.md").read_text("utf-8")):
        if kind == "javascript":
            (tmp_path / name).write_text(text, "utf-8")
        elif kind == "console" and " target new " in text:
            assert run(text.splitlines()[0].removeprefix("$ ")).returncode == 0
        elif kind == "diff":
            change(tmp_path / name, text)
        elif kind == "sh":
            certifying, comparing = text.splitlines()
    named = command.make_context("certify", shlex.split(certifying)[2:]).params
    certificate = certify(Invocation(tuple(named["target"]), ("core",), subjects=tuple(map(str, named["subjects"]))))
    named["output"].mkdir()
    (named["output"] / CERTIFICATE).write_text(certificate.to_json(), "ascii")
    same = run(comparing)
    assert "$" not in same.stdout, same.stdout + same.stderr

    decoder.write_text(decoder.read_text("utf-8").replace('throw new Malformed("overlong")', "continue"), "utf-8")
    differs = run(comparing)
    place = [each["name"] for each in certificate.statement["subject"]].index(decoder.name)
    assert (differs.returncode, f"$.subject[{place}].digest.sha256\n" in differs.stdout) == (1, True), differs.stdout
