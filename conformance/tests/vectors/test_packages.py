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

ROOT = Path(__file__).parents[3]


def run(*command, cwd, **environment):
    done = subprocess.run(
        command, cwd=cwd, env={**os.environ, **environment}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def needs(*tools):
    for tool in tools:
        if shutil.which(tool) is None:
            pytest.skip(f"no {tool} here")


def make(folder):
    run(sys.executable, "-m", "corpora.packages", "--output", folder, cwd=ROOT, SOURCE_DATE_EPOCH="1000000000")
    return folder


@pytest.fixture(scope="module")
def packages(tmp_path_factory):
    if not (ROOT / "corpora" / "packages").exists():
        pytest.skip("no checkout here")
    return make(tmp_path_factory.mktemp("packages"))


@pytest.fixture(scope="module")
def verdict(packages):
    """The output of every example."""
    lists = [json.loads(each) for each in held(only(packages, "overlong-vectors-?.*.tar.gz"), ".json")]
    return f"{sum(len(group['tests']) for each in lists for group in each['groups'])} vectors, 0 wrong\n"


def only(packages, pattern):
    (found,) = packages.glob(pattern)
    return found


def held(package, suffix):
    """The texts of an archive's files whose names have this ending."""
    with tarfile.open(package) as archive:
        return [
            file.read().decode("ascii")
            for name in archive.getnames()
            if name.endswith(suffix) and (file := archive.extractfile(name))
        ]


def example(readme):
    """The program of a README, in its only fence."""
    (program,) = re.findall(r"^```\w+\n(.*?)^```", readme, re.MULTILINE | re.DOTALL)
    return program


def installed(package, project):
    """Run the commands of an archive's README in a project; return the README's program."""
    shutil.copy(package, project)
    (readme,) = held(package, "/README.md")
    for command in re.findall(r"^    (.+)", readme.partition("```")[0], re.MULTILINE):
        run("sh", "-ec", command, cwd=project)
    return example(readme)


def test_same_version_same_octets(packages, tmp_path):
    again = make(tmp_path)
    assert {each.name: each.read_bytes() for each in again.iterdir()} == {
        each.name: each.read_bytes() for each in packages.iterdir()
    }


def test_checksums_and_sizes(packages):
    needs("sha256sum")
    run("sha256sum", "-c", "SHA256SUMS", cwd=packages)
    assert all(each.stat().st_size < 2_000_000 for each in packages.iterdir())


def test_npm(packages, verdict, tmp_path):
    needs("npm")
    (tmp_path / "package.json").write_text(json.dumps({"name": "empty", "version": "0.0.0"}))
    run("npm", "install", "--offline", "--no-audit", "--no-fund", only(packages, "*.tgz"), cwd=tmp_path)
    readme = (tmp_path / "node_modules" / "overlong-vectors" / "README.md").read_text("ascii")
    (tmp_path / "example.cjs").write_text(example(readme))
    assert run("node", "example.cjs", cwd=tmp_path) == verdict


def test_wheel(packages, verdict, tmp_path):
    wheel = only(packages, "*.whl")
    run(sys.executable, "-m", "venv", "--without-pip", "fresh", cwd=tmp_path)
    python = tmp_path / "fresh" / "bin" / "python"
    run(sys.executable, "-m", "pip", "-q", "--python", python, "install", "--no-index", wheel, cwd=tmp_path)
    with zipfile.ZipFile(wheel) as archive:
        (about,) = (name for name in archive.namelist() if name.endswith("/METADATA"))
        (tmp_path / "example.py").write_bytes(example(archive.read(about).decode("ascii")).encode("ascii"))
    assert run(python, "example.py", cwd=tmp_path) == verdict


def test_crate(packages, verdict, tmp_path):
    needs("cargo")
    run("cargo", "init", "--quiet", "--vcs", "none", "--name", "empty", cwd=tmp_path)
    program = installed(only(packages, "*.crate"), tmp_path)
    (tmp_path / "src" / "main.rs").write_text(program)
    assert run("cargo", "run", "--quiet", "--offline", cwd=tmp_path, RUSTFLAGS="-Dwarnings") == verdict
    run("cargo", "package", "--offline", "--no-verify", cwd=only(tmp_path, "overlong-vectors-*.*[0-9]"))


def test_go(packages, verdict, tmp_path):
    needs("go", "gofmt")
    alone = {"GO111MODULE": "on", "GOPROXY": "off", "GOTOOLCHAIN": "local", "GOWORK": "off", "GOFLAGS": "-mod=mod"}
    run("go", "mod", "init", "empty.invalid", cwd=tmp_path, **alone)
    program = installed(only(packages, "*-go-*.tar.gz"), tmp_path)
    (tmp_path / "main.go").write_text(program)
    run("go", "vet", "./...", "overlong.invalid/...", cwd=tmp_path, **alone)
    assert run("go", "run", ".", cwd=tmp_path, **alone) == verdict
    assert run("gofmt", "-l", ".", cwd=tmp_path) == ""


def test_jar(packages, verdict, tmp_path):
    """The jar works on the class path of a program without a build tool, since Maven would fetch its own plugins."""
    needs("javac", "java")
    jar = only(packages, "*[0-9].jar")
    with zipfile.ZipFile(jar) as archive:
        readme, pom = (archive.read(name) for name in archive.namelist() if name.endswith((".md", "/pom.xml")))
    (tmp_path / "Example.java").write_text(example(readme.decode("ascii")))
    assert run("java", "-cp", jar, "Example.java", cwd=tmp_path) == verdict
    assert jar.with_suffix(".pom").read_bytes() == pom


def test_without_javac_the_others_are_made(packages, tmp_path):
    making = [sys.executable, "-m", "corpora.packages", "--output", tmp_path]
    made = subprocess.run(making, cwd=ROOT, env={**os.environ, "PATH": ""}, capture_output=True, text=True, check=True)
    assert made.stderr == ("no javac: the Maven artifact is left out (Debian: apt install default-jdk-headless)\n")
    left_out = {each.name for each in packages.iterdir()} - {each.name for each in tmp_path.iterdir()}
    assert all(name.endswith((".jar", ".pom")) for name in left_out)


def test_tarball(packages, tmp_path):
    needs("sha256sum")
    program = installed(only(packages, "overlong-vectors-?.*.tar.gz"), tmp_path)
    run("sh", "-ec", program, cwd=only(tmp_path, "overlong-vectors-*.*[0-9]"))
