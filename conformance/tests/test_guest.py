"""The wheel as others get it: beside their pytest, and in folders whose files have the names of modules.

What is installed for these tests comes from the package index. Where that cannot be reached they skip.
"""

import os
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

for tool in ("build", "hatchling"):
    pytest.importorskip(tool, reason=f"{tool} is not installed: it is of the extra 'test'")
ROOT = Path(__file__).parents[2]
ROOTS = ("reference", "conformance", "fuzz")
QUIET = ("-q", "--disable-pip-version-check")


def run(*words, folder, **more_environment):
    """Run a command as a user does who knows nothing of this checkout."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "PYTEST"))}
    told = [str(word) for word in words]
    environment |= more_environment
    return subprocess.run(told, cwd=folder, env=environment, capture_output=True, text=True, timeout=300, check=False)


@pytest.fixture(scope="session")
def built(tmp_path_factory):
    """A source distribution, and the wheel that is made from it."""
    folder = tmp_path_factory.mktemp("built")
    words = ("-m", "build", "--no-isolation", "--outdir", folder, ROOT)
    made = run(sys.executable, *words, folder=folder)
    assert made.returncode == 0, made.stdout + made.stderr
    (source,), (wheel,) = folder.glob("*.tar.gz"), folder.glob("*.whl")
    return source, wheel


def environment(folder, wheel, *others):
    """A fresh environment with the wheel and some packages of others: its folder of programs."""
    run(sys.executable, "-m", "venv", folder, folder=folder.parent).check_returncode()
    python = folder / ("Scripts" if sys.platform == "win32" else "bin") / "python"
    pip = (python, "-m", "pip", "install", *QUIET)
    needed = run(*pip, "--retries", 1, "--timeout", 60, *others, folder=folder)
    if needed.returncode:
        pytest.skip(f"the package index cannot be reached: {(needed.stderr.splitlines() or ['?'])[-1]}")
    installed = run(*pip, wheel, folder=folder)
    assert installed.returncode == 0, installed.stderr
    return python.parent


def test_what_is_shipped(built):
    """All of the package, one module beside it that is ours by its name, and nothing else."""
    source, wheel = built
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    code = {name for name in names if ".dist-info/" not in name}
    kept = {
        each.relative_to(ROOT / root).as_posix()
        for root in ROOTS
        for each in (ROOT / root / "overlong").rglob("*")
        if each.is_file() and "__pycache__" not in each.parts
    }
    assert code == kept | {"overlong_pytest.py"}
    assert "overlong/__init__.py" not in code  # or the three parts would hide each other
    assert sum(name.endswith(("licenses/LICENSE", "licenses/corpora/LICENSE")) for name in names) == 2
    with tarfile.open(source) as archive:
        in_source = {name.partition("/")[2] for name in archive.getnames()}
    assert {"README.md", "CHANGELOG.md", "conformance/tests/test_guest.py", "docs/pytest.md"} <= in_source
    assert not [name for name in in_source if "__pycache__" in name or name.startswith((".venv", ".git/"))]


MODULES = """
import os, sys

def test_what_is_loaded():
    loaded = [name for name in sys.modules if name.partition(".")[0] in ("overlong", "overlong_pytest")]
    assert loaded == os.environ["LOADED"].split()
"""
VECTORS = """
import pytest

@pytest.mark.overlong_vectors("surrogate")
def test_each(overlong_vector, overlong_vectors):
    assert overlong_vector in overlong_vectors.ill_formed
"""


@pytest.mark.parametrize("version", [8, 9])
def test_a_project_that_only_shares_the_environment(built, tmp_path, version):
    """Neither warned nor slowed down, though warnings are errors; and whoever asks is served."""
    programs = environment(tmp_path / "venv", built[1], f"pytest=={version}.*", "pytest-xdist")
    project = tmp_path / "project"
    project.mkdir()

    def tested(*words, loaded="overlong_pytest"):
        done = run(programs / "python", "-m", "pytest", *words, folder=project, LOADED=loaded)
        assert "Warning" not in done.stdout + done.stderr
        return done

    for words in ("", "-n 2", "-p no:overlong"):
        empty = tested("-W", "error", *words.split())
        assert empty.returncode == pytest.ExitCode.NO_TESTS_COLLECTED, empty.stdout + empty.stderr
    (project / "pytest.ini").write_text(
        "[pytest]\nfilterwarnings = error\naddopts = --strict-markers --strict-config\n", encoding="ascii"
    )
    (project / "test_modules.py").write_text(MODULES, encoding="ascii")
    for words in ("", "-n 2"):
        done = tested(*words.split())
        assert "1 passed" in done.stdout, done.stdout
    assert "1 passed" in tested("-p", "no:overlong", loaded="").stdout
    (project / "test_vectors.py").write_text(VECTORS, encoding="ascii")
    assert "overlong_vectors [session scope]" in run(programs / "pytest", "--fixtures", folder=project).stdout
    asked = tested("-q", "--overlong", "cpython", "--overlong-suite", "core", "test_vectors.py", "-n", "2")
    assert asked.returncode == 0, asked.stdout
    assert " passed" in asked.stdout
