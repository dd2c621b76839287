"""Shell completion: verbs, options, choices, targets, suites, profiles, codes, files; through click and a real bash."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from click.shell_completion import ShellComplete

from overlong.conformance.cli.verbs import VERBS, cli
from overlong.conformance.protocol.observation import KINDS
from overlong.conformance.targets.builtins import BUILTINS
from overlong.conformance.targets.starters import TEMPLATES
from overlong.conformance.vectors.suites import SUITES
from overlong.reference import DEFECTS, DIALECTS


def offered(*words):
    *before, incomplete = words
    found = ShellComplete(cli, {}, "overlong", "_OVERLONG_COMPLETE").get_completions(list(before), incomplete)
    return {each.value for each in found}


TAKE_TARGETS = [
    ("certify",), ("identify",), ("matrix",), ("sweep",), ("fuzz",), ("target", "check"), ("verify", "c.json"),
    ("replay", "E080"), ("certify", "--quick"), ("matrix", "cpython"),
]  # fmt: skip


@pytest.mark.parametrize("words", TAKE_TARGETS, ids=" ".join)
def test_targets(words):
    assert set(BUILTINS) <= offered(*words, "")
    assert offered(*words, "cpython-s") == {"cpython-surrogatepass", "cpython-surrogateescape"}
    assert offered(*words, "so") == {"so:"}


def test_targets_of_the_project(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("overlong.toml").write_text('[targets.mine]\ncommand = ["false"]\n', encoding="ascii")
    assert offered("certify", "mi") == {"mine"}
    Path("overlong.toml").write_text("no toml", encoding="ascii")
    assert "cpython" in offered("certify", "cp")


def test_the_rest():
    assert offered("") == set(VERBS)
    assert offered("ver") == {"verify"}
    assert offered("certify", "--suite", "") == {*SUITES, "given"}
    assert offered("vectors", "export", "--suite", "comp") == {name for name in SUITES if name.startswith("comp")}
    assert offered("sweep", "--profile", "") == set(DIALECTS)
    assert offered("explain", "") == {*DEFECTS, *KINDS, "codes"}
    assert offered("explain", "OV20") == {code for code in (*DEFECTS, *KINDS) if code.startswith("OV20")}
    assert offered("target", "new", "") == set(TEMPLATES)
    assert "schema/results-1" in offered("docs", "schema/res")
    assert offered("verify", "--s") == {"--subject"}
    assert offered("verify", "--format", "") == {"text", "json"}


def test_files_are_the_shell_s_business():
    (found,) = ShellComplete(cli, {}, "overlong", "_X").get_completions(["verify"], "cert")
    assert found.type == "file"


def test_in_bash(tmp_path):
    if shutil.which("bash") is None:
        pytest.skip("bash is not on PATH")
    program = tmp_path / "overlong"
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m overlong "$@"\n', encoding="ascii")
    program.chmod(0o755)
    script = """
        eval "$(_OVERLONG_COMPLETE=bash_source overlong)"
        complete -p overlong
        complete_words() {
            COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMPREPLY=()
            _overlong_completion overlong
            printf '%s\\n' "${COMPREPLY[*]}"
        }
        complete_words overlong certify cpython-s
        complete_words overlong certify --suite complete-0-
        complete_words overlong explain OV20
        complete_words overlong docs dial
    """
    environment = {**os.environ, "PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}"}
    ran = subprocess.run(["bash", "--norc", "-c", script], env=environment, text=True, capture_output=True, check=False)
    assert ran.stderr == ""
    assert ran.stdout.splitlines()[1:] == [
        "cpython-surrogatepass cpython-surrogateescape",
        "complete-0-refusing complete-0-replacing complete-0-in-chunks",
        " ".join(code for code in (*DEFECTS, *KINDS) if code.startswith("OV20")),
        "dialects",
    ]
