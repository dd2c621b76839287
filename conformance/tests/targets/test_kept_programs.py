"""Programs of built-in decoders: fetched or built on first use, and kept until what they are made of changes."""

import dataclasses
import os
import re
import subprocess
import sys
import tomllib

import pytest

from builtin_under_test import ready
from overlong.conformance.oracle.target import TargetError
from overlong.conformance.targets import build, builtins
from overlong.conformance.targets.build import ADAPTERS, Project, fetched
from overlong.conformance.targets.builtins import PROJECTS

pytestmark = pytest.mark.long

_LIBRARIES = tomllib.loads((ADAPTERS.parent / "libraries.toml").read_text("utf-8"))
ALL = PROJECTS | {name: Project.of(table["project"]) for name, table in _LIBRARIES.items() if "project" in table}
"""All that is fetched."""


@pytest.mark.parametrize("project", ALL.values(), ids=ALL)
def test_locks_pin_digests_and_name_no_place(project):
    folder = ADAPTERS / project.folder
    files = [path for path in folder.rglob("*") if path.is_file()]
    assert folder / project.lock in files
    text = "".join(path.read_text(encoding="utf-8") for path in files)
    places = set(re.findall(r"https?://[^/\s\"<]+", text))
    assert places <= {"http://maven.apache.org", "https://github.com"}  # a namespace, and the name of crates.io's index
    assert "resolved" not in text
    assert len(re.findall(r"sha512-|checksum = \"|h1:|^[0-9a-f]{64} ", text, re.MULTILINE)) >= 4


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """An empty user's cache folder."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "overlong" / "packages"


@pytest.fixture
def client(tmp_path, monkeypatch):
    """Puts a program on PATH that runs a shell script."""
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}")
    (tmp_path / "bin").mkdir()

    def put(name, script):
        program = tmp_path / "bin" / name
        program.write_text(f"#!/bin/sh\n{script}\n")
        program.chmod(0o755)

    return put


@pytest.mark.parametrize("project", ALL.values(), ids=ALL)
def test_a_fetch_that_fails_is_one_line_and_leaves_nothing(project, cache, client):
    for step in project.steps:
        client(
            step[0], "mkdir half; echo >half/file; echo working >&2; printf 'error: \\033[2Jno route\\n' >&2; exit 7"
        )
    with pytest.raises(TargetError) as caught:
        fetched(project)
    assert str(caught.value) == (
        f"fetching decoders from {project.registry} failed: error: \\x1b[2Jno route; "
        f"'{project.probe}' shows whether it can be reached from here"
    )
    assert list(cache.iterdir()) == []


def test_a_decoder_that_cannot_be_fetched_says_so(cache, client):
    ready("npm-utf8")
    client("npm", "echo npm error code ENOTFOUND >&2; exit 1")
    command = [sys.executable, "-m", "overlong", "certify", "npm-utf8"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (3, "")
    assert done.stderr.count("\n") == 1
    assert "fetching decoders from npm failed: npm error code ENOTFOUND; 'npm ping' shows" in done.stderr
    assert list(cache.iterdir()) == []


def test_what_was_fetched_is_kept_until_its_client_or_its_sources_change(cache, client):
    project = dataclasses.replace(PROJECTS["npm"], steps=(("client",),), drop=("left",))
    client("client", "mkdir left; ls >seen; echo x >>../../fetches")
    first = fetched(project)
    assert fetched(project) == first
    assert first.parent == cache
    assert sorted((first / "seen").read_text().split()) == sorted(
        ["decoders.js", "left", "node_frames.js", "package-lock.json", "package.json", "seen"]
    )
    assert not (first / "left").exists()
    assert (cache / "fetches").read_text() == "x\n"
    client("client", "mkdir left; ls >seen; echo another >>../../fetches")
    assert fetched(project) != first
    assert fetched(dataclasses.replace(project, shared=())) != first
    assert (cache / "fetches").read_text() == "x\nanother\nanother\n"


def test_a_jar_that_is_not_the_one_that_is_pinned_is_refused(cache, client):
    client("mvn", "mkdir jars; for jar in $(cut -c67- SHA256SUMS); do echo false >$jar; done")
    client("javac", "echo compiled >../../compiled")
    with pytest.raises(TargetError, match=r"guava-\S+\.jar is not the file that SHA256SUMS pins"):
        fetched(PROJECTS["jars"])
    assert list(cache.iterdir()) == []


def test_a_cache_that_cannot_be_written_is_one_line(cache):
    ready("npm-utf8")
    cache.parent.mkdir(parents=True)
    cache.write_text("a file, not a folder")
    with pytest.raises(TargetError, match=r"packages'?: decoders of npm cannot be kept there$"):
        fetched(PROJECTS["npm"])


def test_a_header_or_a_flag_that_changes_makes_another_program(tmp_path, monkeypatch):
    if why := builtins.no_compiler():
        pytest.skip(why)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("HOME", str(tmp_path))
    for name, text in (("program.c", '#include "a.h"\nint main(void) { return A; }\n'), ("a.h", "#define A 1\n")):
        (tmp_path / name).write_text(text)
    monkeypatch.setattr(builtins, "SOURCES", tmp_path)
    first = builtins.c_program(build.C, "program.c", "one")
    assert builtins.c_program(build.C, "program.c", "one") == first
    assert subprocess.run([first], check=False).returncode == 1
    assert builtins.c_program(build.C, "program.c", "two") != first
    assert builtins.c_program(build.C, "program.c", "one", "-lm") != first
    (tmp_path / "a.h").write_text("#define A 2\n")
    assert subprocess.run([builtins.c_program(build.C, "program.c", "one")], check=False).returncode == 2
    with pytest.raises(TargetError, match=r"building program\.c failed"):
        builtins.c_program(build.C, "program.c", "one", "-lthere_is_no_such_library")
