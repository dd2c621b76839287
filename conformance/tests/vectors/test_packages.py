"""Each data package installs from its file into an empty project, and its README's example runs there."""

import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest

pytestmark = pytest.mark.long

ROOT = Path(__file__).parents[3]
HOMEPAGE = "https://example.invalid/overlong"
TYPED_TYPESCRIPT = """import { byId, failing, load, type Vector } from 'overlong-vectors';
const vector: Vector = byId('surrogate/eda080');
const octets: Uint8Array = vector.octets;
const chunks: number[] | null = vector.chunks;
const strict = vector.expect.strict;
// @ts-expect-error -- only where the input is refused there is a place
const place: number = strict.offset;
// @ts-expect-error -- a verdict that there is not
const misspelt: boolean = strict.verdict === 'refuse';
// @ts-expect-error -- no field is of any type
const unknown: string = vector.hex;
const told: string[] =
  strict.verdict === 'reject' ? [`at ${strict.offset satisfies number}`] : strict.scalars.map(String);
// @ts-expect-error -- a list that there is not
const attempts = [() => byId('nope'), () => load('nope'), () => byId('__proto__')];
for (const attempt of attempts) {
  try { attempt(); } catch (error) { told.push((error as RangeError).message.split(':')[0]); }
}
const refused: Vector[] = failing(() => null, load('core'));
const constant = failing(() => 'a').length > 11000;
console.log(told.join(', '), refused.every((each) => each.expect.strict.verdict === 'accept'), constant);
"""
TYPED_PYTHON = """from typing import Optional
from overlong_vectors import Vector, __version__, by_id, failing, load
vector: Vector = by_id("surrogate/eda080")
octets: bytes = vector["octets"]
chunks: Optional[list[int]] = vector["chunks"]
strict = vector["expect"]["strict"]
if strict["verdict"] == "reject":
    offset: int = strict["offset"]
    told = [f"at {offset}"]
def wrong() -> None:
    vector["hex"]  # type: ignore[typeddict-item]
    if strict["verdict"] == "reject":
        strict["scalars"]  # type: ignore[typeddict-item]
for attempt in (lambda: by_id("nope"), lambda: load("nope")):  # type: ignore[arg-type]
    try:
        attempt()
    except (LookupError, ValueError) as error:
        told.append(str(error).partition(":")[0])
print(", ".join(told))
refused: list[Vector] = failing(lambda octets: "", load(), refuses=(ValueError, LookupError))
assert len(refused) > 900 and len(failing(lambda octets: chr(octets[9]), [vector], IndexError)) == 0
assert octets == bytes([0xED, 0xA0, 0x80]) and __version__
"""


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
    told = ["--output", folder, "--homepage", HOMEPAGE]
    run(sys.executable, "-m", "corpora.packages", *told, cwd=ROOT, SOURCE_DATE_EPOCH="1000000000")
    return folder


@pytest.fixture(scope="module")
def packages(tmp_path_factory):
    if not (ROOT / "corpora" / "packages").exists():
        pytest.skip("no checkout here")
    return make(tmp_path_factory.mktemp("packages"))


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


def test_npm(packages, tmp_path):
    """TypeScript's compiler, which node lacks, comes from the registry of packages."""
    needs("npm")
    (tmp_path / "package.json").write_text(json.dumps({"name": "empty", "version": "0.0.0"}))
    options = ("--no-audit", "--no-fund", "--ignore-scripts", "--prefer-offline")
    run("npm", "install", *options, "typescript@7.0.2", only(packages, "*.tgz"), cwd=tmp_path)
    package = tmp_path / "node_modules" / "overlong-vectors"
    assert json.loads((package / "package.json").read_text("ascii"))["homepage"] == HOMEPAGE
    (tmp_path / "example.ts").write_text(example((package / "README.md").read_text("ascii")))
    (tmp_path / "typed.ts").write_text(TYPED_TYPESCRIPT)
    strictly = ("--strict", "--noEmitOnError", "--target", "es2022", "--module", "nodenext")
    run(tmp_path / "node_modules" / ".bin" / "tsc", *strictly, "example.ts", "typed.ts", cwd=tmp_path)
    assert run("node", "example.js", cwd=tmp_path) == "0 wrong\n"
    said = 'at 0, no vector "nope", no list "nope", no vector "__proto__" true true\n'
    assert run("node", "typed.js", cwd=tmp_path) == said
    loading = "import { load } from 'overlong-vectors'; console.log(load().length)"  # from a module, too
    assert run("node", "--input-type=module", "-e", loading, cwd=tmp_path) == "1000\n"


def test_wheel(packages, tmp_path):
    needs("mypy")
    wheel = only(packages, "*.whl")
    run(sys.executable, "-m", "venv", "--without-pip", "fresh", cwd=tmp_path)
    python = tmp_path / "fresh" / "bin" / "python"
    run(sys.executable, "-m", "pip", "-q", "--python", python, "install", "--no-index", wheel, cwd=tmp_path)
    asked = "from importlib import metadata as m; import json; d = m.distribution('overlong-vectors');"
    asked += "print(json.dumps([d.metadata.items(), d.metadata.get_payload(), d.read_text('licenses/LICENSE')]))"
    about, readme, licence = json.loads(run(python, "-c", asked, cwd=tmp_path))
    assert ["Project-URL", f"Homepage, {HOMEPAGE}"] in about
    assert ["License-File", "LICENSE"] in about
    assert licence == (ROOT / "corpora" / "LICENSE").read_text("ascii")
    (tmp_path / "example.py").write_text(example(readme))
    (tmp_path / "typed.py").write_text(TYPED_PYTHON)
    strictly = ("mypy", "--strict", "--python-executable", python, "--cache-dir", tmp_path / "cache")
    with zipfile.ZipFile(wheel) as archive:
        (tmp_path / "itself.py").write_bytes(archive.read("overlong_vectors/__init__.py"))
    run(*strictly, "example.py", "typed.py", "itself.py", cwd=tmp_path)
    assert run(python, "example.py", cwd=tmp_path) == "0 wrong\n"
    assert run(python, "typed.py", cwd=tmp_path) == "at 0, no vector 'nope', no list 'nope'\n"


def test_crate(packages, tmp_path):
    needs("cargo")
    run("cargo", "init", "--quiet", "--vcs", "none", "--name", "empty", cwd=tmp_path)
    program = installed(only(packages, "*.crate"), tmp_path)
    (tmp_path / "src" / "main.rs").write_text(program)
    assert run("cargo", "run", "--quiet", "--offline", cwd=tmp_path, RUSTFLAGS="-Dwarnings") == "0 wrong []\n"
    (tmp_path / "examples").mkdir()
    (tmp_path / "examples" / "nope.rs").write_text(
        'fn main() { print!("{}", overlong_vectors::by_id("nope").unwrap_err());'
        " assert!(overlong_vectors::failing(|_| Err::<&str, ()>(())).all(|v| v.strict.is_ok())) }"
    )
    said = run("cargo", "run", "--quiet", "--offline", "--example", "nope", cwd=tmp_path)
    assert said == 'no vector "nope": use the id of one in CORE or COMPLETE'
    (about,) = held(only(packages, "*.crate"), "/Cargo.toml")
    assert tomllib.loads(about)["package"]["homepage"] == HOMEPAGE
    run("cargo", "package", "--offline", "--no-verify", cwd=only(tmp_path, "overlong-vectors-*.*[0-9]"))


def test_go(packages, tmp_path):
    needs("go", "gofmt")
    alone = {"GO111MODULE": "on", "GOPROXY": "off", "GOTOOLCHAIN": "local", "GOWORK": "off", "GOFLAGS": "-mod=mod"}
    run("go", "mod", "init", "empty.invalid", cwd=tmp_path, **alone)
    program = installed(only(packages, "*-go-*.tar.gz"), tmp_path)
    (tmp_path / "main.go").write_text(program)
    run("go", "vet", "./...", "overlong.invalid/...", cwd=tmp_path, **alone)
    assert run("go", "run", ".", cwd=tmp_path, **alone) == "0 wrong []\n"
    (tmp_path / "nope").mkdir()
    (tmp_path / "nope" / "main.go").write_text(
        'package main\n\nimport "overlong.invalid/vectors"\n\n'
        'func main() {\n\t_, err := vectors.ByID("nope")\n\tprintln(err.Error())\n'
        '\tprintln(len(vectors.Failing(func([]byte) (string, bool) { return "", false })) > 100)\n}\n'
    )
    said = subprocess.run(
        ["go", "run", "./nope"], cwd=tmp_path, env={**os.environ, **alone}, capture_output=True, text=True, check=True
    )
    assert said.stderr == 'no vector "nope": use the ID of one that Core or Complete returns\ntrue\n'
    assert run("gofmt", "-l", ".", cwd=tmp_path) == ""


def test_jar(packages, tmp_path):
    """The jar works on the class path of a program without a build tool, since Maven would fetch its own plugins."""
    needs("javac", "javadoc", "java")
    jar = only(packages, "*[0-9].jar")
    with zipfile.ZipFile(jar) as archive:
        readme, pom = (archive.read(name) for name in archive.namelist() if name.endswith((".md", "/pom.xml")))
    (tmp_path / "Example.java").write_text(example(readme.decode("ascii")))
    assert run("java", "-cp", jar, "Example.java", cwd=tmp_path) == "0 wrong []\n"
    assert jar.with_suffix(".pom").read_bytes() == pom
    assert f"<url>{HOMEPAGE}</url>".encode("ascii") in pom
    (tmp_path / "Nope.java").write_text(
        "class Nope { public static void main(String[] a) {"
        " System.out.println(overlong.vectors.TestVector.failing(octets -> null).stream().allMatch(v -> v.accept));"
        ' overlong.vectors.TestVector.byId("nope"); } }'
    )
    done = subprocess.run(
        ["java", "-cp", jar, "Nope.java"], cwd=tmp_path, capture_output=True, text=True, check=False
    )  # fmt: skip
    assert "no vector 'nope': use the id of one that core() or complete() returns" in done.stderr
    assert done.stdout == "true\n"
    with zipfile.ZipFile(only(packages, "*-javadoc.jar")) as archive:
        page = archive.read("overlong/vectors/TestVector.html").decode("ascii")
    for method in ("byId", "complete", "core", "failing", "octets", "toString"):
        (section,) = re.findall(rf'<section class="detail" id="{method}\(.*?</section>', page, re.DOTALL)
        assert "<dt>Returns:</dt>" in section, method


def test_without_javac_the_others_are_made(packages, tmp_path):
    making = [sys.executable, "-m", "corpora.packages", "--output", tmp_path]
    made = subprocess.run(making, cwd=ROOT, env={**os.environ, "PATH": ""}, capture_output=True, text=True, check=True)
    assert made.stderr == (
        "no javac and javadoc: the Maven artifact is left out (Debian: apt install default-jdk-headless)\n"
    )
    left_out = {each.name for each in packages.iterdir()} - {each.name for each in tmp_path.iterdir()}
    assert all(name.endswith((".jar", ".pom")) for name in left_out)
    for name in ("*.tgz", "*.crate"):  # nor does anything name a page that nobody named
        assert not any("homepage" in each for each in held(only(tmp_path, name), (".toml", "package.json")))


def test_tarball(packages, tmp_path):
    needs("sha256sum")
    program = installed(only(packages, "overlong-vectors-?.*.tar.gz"), tmp_path)
    run("sh", "-ec", program, cwd=only(tmp_path, "overlong-vectors-*.*[0-9]"))
