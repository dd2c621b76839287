"""Workflows: each parses, asks for no right that it does not use, and runs commands that exist."""

import re
import shlex
import tomllib
from pathlib import Path

import pytest
import yaml  # type: ignore[import-untyped]

ROOT = Path(__file__).parents[3]
FILES = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
PINNED = re.compile(r"[\w.-]+/[\w./-]+@[0-9a-f]{40}")
COMMENTED = re.compile(r"^ *(?:- )?uses: (?:\./\S+|\S+@[0-9a-f]{40}  # v\d[\w.]*)$")
IMAGE = re.compile(r"[\w./:-]+@sha256:[0-9a-f]{64}")
RIGHTS = {  # beyond reading: job by job
    "pages.yml": {"deploy": {"pages": "write", "id-token": "write"}},
    "release.yml": {
        "attest": {"id-token": "write", "attestations": "write"},
        "pypi": {"id-token": "write"},
        "github": {"contents": "write"},
    },
}
OF_OUR_PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
COMES_WITH = {  # programs, and the extras that bring them; none: what is installed by name, or is there
    "ruff": {"test", "dev"},
    "pytest": {"test", "dev"},
    "mypy": {"dev"},
    "pyright": {"dev"},
    "lint-imports": {"dev"},
    "coverage": {"test", "dev"},
    "overlong": set(OF_OUR_PROJECT["optional-dependencies"]) | {""},
}
MODULES = {"sphinx": {"docs", "dev"}, "coverage": {"test", "dev"}}

pytestmark = pytest.mark.skipif(not FILES, reason="no checkout here")


JOBS = [
    pytest.param(file, job, id=f"{file.stem}-{name}")
    for file in FILES
    for name, job in yaml.safe_load(file.read_text(encoding="ascii"))["jobs"].items()
]


def scripts(job):
    """The words of each command of a job, in order."""
    for step in job["steps"]:
        for line in step.get("run", "").replace("\\\n", " ").splitlines():
            for command in line.split(" && "):
                yield shlex.split(command.partition("  # ")[0])


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_rights_are_least(file):
    workflow = yaml.safe_load(file.read_text(encoding="ascii"))
    assert workflow["permissions"] in ({}, {"contents": "read"}, "read-all")
    given = {name: job["permissions"] for name, job in workflow["jobs"].items() if "permissions" in job}
    writing = {name: rights for name, rights in given.items() if "write" in rights.values()}
    assert writing == RIGHTS.get(file.name, {})


@pytest.mark.parametrize(("file", "job"), JOBS)
def test_what_is_fetched_is_pinned_by_digest(file, job):
    used = [step["uses"] for step in job["steps"] if "uses" in step]
    assert [each for each in used if not each.startswith("./") and not PINNED.fullmatch(each)] == []
    lines = [line for line in file.read_text(encoding="ascii").splitlines() if re.match(r" *(- )?uses:", line)]
    assert [line for line in lines if not COMMENTED.match(line)] == []
    if "container" in job:
        assert IMAGE.fullmatch(job["container"]["image"])
    for step in job["steps"]:
        if step.get("uses", "").startswith("actions/checkout@"):
            assert step["with"]["persist-credentials"] is False


@pytest.mark.parametrize(("file", "job"), JOBS)
def test_what_is_run_exists(file, job):
    """Nothing of an event gets into a script, extras and files are ours, and programs were installed before."""
    installed, here = set[str](), False
    for words in scripts(job):
        assert not any("${{" in word for word in words), words
        for word in words:
            if named := re.fullmatch(r"\.(?:\[([a-z,]+)\])?", word):
                extras = set(named[1].split(",") if named[1] else [""])
                assert extras <= {*OF_OUR_PROJECT["optional-dependencies"], ""}, words
                installed, here = installed | extras, True
            elif re.fullmatch(r"(?!dist/)[\w./-]+/[\w.-]+\.(?:py|yml|sh)|\.ci/\w+", word):
                assert (ROOT / word).is_file(), words
        program = words[0] if words else ""
        if program in COMES_WITH:
            assert here, words
            assert COMES_WITH[program] & installed, words
        if "-m" in words[:3] and "python" in program:
            module = words[words.index("-m") + 1]
            if module in MODULES:
                assert MODULES[module] & installed, words
            elif module not in {"build", "pip", "venv"}:
                place = ROOT / module.replace(".", "/")
                assert place.with_suffix(".py").is_file() or (place / "__main__.py").is_file(), words


def test_every_python_that_the_package_names_is_tested():
    workflow = yaml.safe_load((ROOT / ".github" / "workflows" / "ci.yml").read_text(encoding="ascii"))
    prefix = "Programming Language :: Python :: 3."
    named = [each.rpartition(" ")[2] for each in OF_OUR_PROJECT["classifiers"] if each.startswith(prefix)]
    assert workflow["jobs"]["tests"]["strategy"]["matrix"]["python"] == named
