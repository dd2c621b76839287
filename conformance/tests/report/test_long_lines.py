"""Long inputs are replayed from a file, commands are not cut, and no line of a report has more than 200 characters."""

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

from overlong.conformance import GivenFile, Invocation, certify
from overlong.conformance.cli.verbs import cli
from overlong.conformance.report.formats import FORMATS
from overlong.conformance.report.wording import LINE, command_lines
from overlong.conformance.results.invocation import file_of, is_typed, placed, replay_command, write_inputs
from overlong.conformance.results.reading import read
from overlong.conformance.results.results_file import report_of_run
from overlong.conformance.support.printable import printable
from overlong.conformance.vectors.check import vectors_in
from overlong.conformance.vectors.vector import Vector, document_of

LONG = 20_001
DECODER = f"""\
def decode(octets):
    return octets.decode("utf-8", "surrogatepass" if len(octets) > {LONG} else "strict")
"""
FOLDER = "it's here"
TARGET = "py:./decoder.py:decode"


@pytest.fixture(scope="module")
def here(tmp_path_factory):
    """A folder with a decoder that takes a surrogate behind many octets, and with the vector that shows it."""
    folder = tmp_path_factory.mktemp("long")
    (folder / "decoder.py").write_text(DECODER)
    data = document_of(Vector("mine", b"a" * LONG + b"\xed\xa0\x80"), "mine")
    (folder / "mine.json").write_text(json.dumps(data))
    return folder


def overlong(*words):
    return CliRunner().invoke(cli, words)


def in_shell(command):
    path = os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))
    return subprocess.run(
        ["sh", "-c", command], check=False, env={**os.environ, "PATH": path}, capture_output=True, text=True
    )


def again_in(text):
    """The command of a report in a terminal."""
    command, *_ = re.findall(r"reproduce: (.*(?:\\\n.*)*)", text)
    return command


def test_what_is_too_long_for_a_line_is_replayed_from_a_file(here, monkeypatch):
    monkeypatch.chdir(here)
    done = overlong("certify", "--suite", "given", "--vectors", "mine.json", "-o", FOLDER, TARGET)
    assert done.exit_code == 1, done.output
    command = again_in(done.output)
    replayed = in_shell(command)
    assert (replayed.returncode, "OV202" in replayed.stdout) == (1, True), replayed
    report = read([Path(FOLDER)])
    (cause,) = report.subjects[0].causes
    assert cause.reproduce == command
    assert read([Path(FOLDER).absolute()]).subjects[0].causes[0].reproduce.count(str(here)) == 1
    for name, form in FORMATS.items():
        made = form.render(report)
        if name == "html":
            made = "\n".join(re.findall(r"(?s)<code>(.*?)</code>", made))
        elif name == "sarif":
            made = json.loads(made)["runs"][0]["results"][0]["message"]["text"]
        elif name in {"json", "badge"}:  # for programs
            continue
        assert max(map(len, made.splitlines())) <= LINE, name
        assert "…" not in "".join(line for line in made.splitlines() if "overlong replay" in line), name
    next(Path(FOLDER, "inputs").iterdir()).unlink()
    assert in_shell(read([Path(FOLDER)]).subjects[0].causes[0].reproduce).returncode == 0  # a comment


def test_without_a_folder_a_comment_says_how_to_keep_the_input(here, monkeypatch):
    monkeypatch.chdir(here)
    certificate = certify(Invocation(TARGET, ("given",), vectors=(GivenFile.of("mine.json"),)))
    (cause,) = report_of_run(certificate).subjects[0].causes
    assert cause.reproduce.startswith("#")
    assert "-o FOLDER" in cause.reproduce
    assert len(cause.reproduce) < 120


LONGER = b"\xe2\x82\xac" * 40


@pytest.mark.parametrize(
    "vector",
    [
        Vector("fuzz", LONGER),
        Vector("fuzz", LONGER, chunks=(1,) * len(LONGER)),
        Vector("fuzz", b"\x80", chunks=(1,), earlier=(LONGER, b"\xe2")),
        Vector("encoding", b"\x00\x00\x20\xac" * 20),
    ],
)
def test_the_file_is_the_vector(vector, tmp_path):
    command = replay_command(vector, TARGET)
    assert not is_typed(vector)
    assert command == f"overlong replay {file_of(vector)} {TARGET}"
    assert placed(command, vector, tmp_path).startswith("#")  # not written yet
    assert placed(f"overlong replay {vector.in_full} {TARGET}", vector, tmp_path).startswith("#")  # an older file's
    write_inputs(tmp_path, [vector])
    (again,) = vectors_in(Path(shlex.split(placed(command, vector, tmp_path))[2]))
    assert (again.in_full, again.chunks, again.earlier) == (vector.in_full, vector.chunks, vector.earlier)


WORDS = st.lists(st.text(st.characters(codec="utf-8", categories=("L", "N", "P", "S", "Zs")), max_size=90), min_size=1)


@settings(max_examples=60)
@given(WORDS)
def test_a_command_is_broken_between_words_alone(words):
    command = shlex.join(["overlong", *words])
    if printable(command, len(command)) != command:
        return
    lines = command_lines(command, "  reproduce: ")
    whole = "\n".join(lines).removeprefix("  reproduce: ")
    assert shlex.split(whole.replace("\\\n", "")) == ["overlong", *words]
    assert not any(line.lstrip().startswith(("#", "::")) for line in lines)
    assert all(len(line) <= LINE or any(len(shlex.quote(word)) > 80 or word[:1] in ":#" for word in words)
               for line in lines)  # fmt: skip


def test_a_command_in_a_command_stays_whole():
    inner = "\"$(overlong finding show --format id 'a folder of mine' D-7f3a0c19)\""
    command = f"overlong replay {inner} -- node {' '.join(['adapter.js'] * 30)}"
    lines = command_lines(command)
    assert len(lines) > 1
    assert inner in lines[0]
    assert " ".join(line.removesuffix(" \\").strip() for line in lines) == command
