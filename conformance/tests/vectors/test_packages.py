"""Each data package installs from its file into an empty project, and its README's example runs there."""

import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

pytestmark = pytest.mark.long

MAKER = Path(__file__).parents[3] / "corpora" / "packages.py"
VERDICT = "12035 vectors, 0 wrong\n"


def run(*command, cwd, **environment):
    done = subprocess.run(
        command, cwd=cwd, env={**os.environ, **environment}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def packages(tmp_path_factory):
    if not MAKER.exists():
        pytest.skip("no checkout here")
    folder = tmp_path_factory.mktemp("packages")
    run(sys.executable, MAKER, "--output", folder, cwd=folder, SOURCE_DATE_EPOCH="1000000000")
    return folder


def only(packages, pattern):
    (found,) = packages.glob(pattern)
    return found


def example(readme):
    """The program of a README, in its one fence."""
    (program,) = re.findall(r"^```\w+\n(.*?)^```", readme, re.MULTILINE | re.DOTALL)
    return program


def test_same_version_same_octets(packages, tmp_path):
    run(sys.executable, MAKER, "--output", tmp_path, cwd=tmp_path, SOURCE_DATE_EPOCH="1000000000")
    assert {each.name: each.read_bytes() for each in tmp_path.iterdir()} == {
        each.name: each.read_bytes() for each in packages.iterdir()
    }


def test_checksums_and_sizes(packages):
    if shutil.which("sha256sum") is None:
        pytest.skip("no sha256sum here")
    run("sha256sum", "-c", "SHA256SUMS", cwd=packages)
    assert all(each.stat().st_size < 2_000_000 for each in packages.iterdir())


def test_npm(packages, tmp_path):
    if shutil.which("npm") is None:
        pytest.skip("no npm here")
    (tmp_path / "package.json").write_text(json.dumps({"name": "empty", "version": "0.0.0"}))
    run("npm", "install", "--offline", "--no-audit", "--no-fund", only(packages, "*.tgz"), cwd=tmp_path)
    readme = (tmp_path / "node_modules" / "overlong-vectors" / "README.md").read_text("ascii")
    (tmp_path / "example.cjs").write_text(example(readme))
    assert run("node", "example.cjs", cwd=tmp_path) == VERDICT


def test_wheel(packages, tmp_path):
    wheel = only(packages, "*.whl")
    run(sys.executable, "-m", "venv", "fresh", cwd=tmp_path)
    python = tmp_path / "fresh" / "bin" / "python"
    run(python, "-m", "pip", "install", "-q", "--no-index", wheel, cwd=tmp_path)
    with zipfile.ZipFile(wheel) as archive:
        (about,) = (name for name in archive.namelist() if name.endswith("/METADATA"))
        (tmp_path / "example.py").write_bytes(example(archive.read(about).decode("ascii")).encode("ascii"))
    assert run(python, "example.py", cwd=tmp_path) == VERDICT


def test_tarball(packages, tmp_path):
    if shutil.which("sha256sum") is None:
        pytest.skip("no sha256sum here")
    with tarfile.open(only(packages, "*.tar.gz")) as archive:
        archive.extractall(tmp_path, filter="data")
    (top,) = tmp_path.iterdir()
    run("sh", "-ec", example((top / "README.md").read_text("ascii")), cwd=top)
