"""The wheel as others get it: beside their pytest, and in folders whose files have the names of modules.

What is installed for a project that shares the environment comes from the package index. Where that cannot be reached
these tests skip.
"""

import os
import runpy
import subprocess
import sys
import sysconfig
import tarfile
import zipfile
from importlib.util import find_spec
from pathlib import Path

import pytest

from overlong.conformance.cli.verbs import VERBS
from waiting import HUNG

pytestmark = pytest.mark.long

for tool in ("build", "hatchling"):
    pytest.importorskip(tool, reason=f"{tool} is not installed: it is of the extra 'test'")
ROOT = Path(__file__).parents[3]
ROOTS = ("reference", "conformance", "fuzz")
QUIET = ("-q", "--disable-pip-version-check", "--no-compile")


def run(*words, folder, **more_environment):
    """Run a command outside this checkout, as a user does."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "PYTEST"))}
    told = [str(word) for word in words]
    environment |= more_environment
    return subprocess.run(told, cwd=folder, env=environment, capture_output=True, text=True, timeout=HUNG, check=False)


def build(checkout, folder):
    """A source distribution, and the wheel that is made from it."""
    words = ("-m", "build", "--no-isolation", "--outdir", folder, checkout)
    made = run(sys.executable, *words, folder=folder, SOURCE_DATE_EPOCH="1700000000")
    assert made.returncode == 0, made.stdout + made.stderr
    (source,), (wheel,) = folder.glob("*.tar.gz"), folder.glob("*.whl")
    return source, wheel


@pytest.fixture(scope="session")
def built(tmp_path_factory):
    return build(ROOT, tmp_path_factory.mktemp("built"))


def installer(folder):
    """What installs into a fresh environment, and its folder of programs."""
    run(sys.executable, "-m", "venv", "--without-pip", folder, folder=folder.parent).check_returncode()
    programs = folder / ("Scripts" if sys.platform == "win32" else "bin")
    return (sys.executable, "-m", "pip", "--python", programs / "python", "install", *QUIET), programs


def environment(folder, wheel, *others):
    """A fresh environment with the wheel and some packages of others: its folder of programs."""
    pip, programs = installer(folder)
    needed = run(*pip, "--retries", 1, "--timeout", 60, *others, folder=folder)
    if needed.returncode:
        pytest.skip(f"the package index cannot be reached: {(needed.stderr.splitlines() or ['?'])[-1]}")
    installed = run(*pip, wheel, folder=folder)
    assert installed.returncode == 0, installed.stderr
    return programs


def environment_beside(folder, wheel):
    """A fresh environment with the wheel, and behind it the packages that these tests have."""
    pip, programs = installer(folder)
    installed = run(*pip, "--no-deps", wheel, folder=folder)
    assert installed.returncode == 0, installed.stderr
    where = "import sysconfig; print(sysconfig.get_path('purelib'))"
    own = Path(run(programs / "python", "-c", where, folder=folder).stdout.strip())
    others = dict.fromkeys(sysconfig.get_path(kind) for kind in ("purelib", "platlib"))
    (own / "others.pth").write_text("\n".join(others), encoding="utf-8")  # their own such files are not read
    shown = run(programs / "python", "-P", "-c", "import overlong.reference as it; print(it.__file__)", folder=folder)
    assert Path(shown.stdout).is_relative_to(own), shown
    return programs


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
    pages = {f"overlong/conformance/docs/{page.name}" for page in (ROOT / "docs").glob("*.md")}
    assert code == kept | pages | {"overlong_pytest.py"}
    assert "overlong/__init__.py" not in code  # or the three parts would hide each other
    assert sum(name.endswith(("licenses/LICENSE", "licenses/corpora/LICENSE")) for name in names) == 2
    with tarfile.open(source) as archive:
        in_source = {name.partition("/")[2] for name in archive.getnames()}
    assert {"README.md", "CHANGELOG.md", "conformance/tests/project/test_guest.py", "docs/pytest.md"} <= in_source
    assert not [name for name in in_source if "__pycache__" in name or name.startswith((".venv", ".git/"))]


def test_what_is_built_again_elsewhere_has_the_same_octets(built, tmp_path):
    source, _wheel = built
    with tarfile.open(source) as archive:
        archive.extractall(tmp_path, filter="data")
    (unpacked,) = tmp_path.iterdir()
    (unpacked / "PKG-INFO").unlink()  # which the build makes
    for each in unpacked.rglob("*"):
        os.utime(each)
    again = tmp_path / "again"
    again.mkdir()
    assert [made.read_bytes() for made in build(unpacked, again)] == [made.read_bytes() for made in built]


def test_a_wheel_of_a_release_needs_no_compiler(built, tmp_path):
    """The core that it brings is the one that is loaded, and each system's wheel is built by the workflow."""
    words = ("-m", "build", "--wheel", "--no-isolation", "--outdir", tmp_path, ROOT)
    made = run(sys.executable, *words, folder=tmp_path, OVERLONG_WHEEL="here")
    assert made.returncode == 0, made.stdout + made.stderr
    (wheel,) = tmp_path.glob("*.whl")
    assert wheel.name.startswith("overlong-0.1.0-py3-none-")
    assert not wheel.name.endswith("-any.whl")
    programs = environment_beside(tmp_path / "venv", wheel)
    program = "from overlong.reference.core import core; print(core()._library._name)"
    done = run(programs / "python", "-c", program, folder=tmp_path, PATH="/nowhere", XDG_CACHE_HOME=tmp_path / "cache")
    assert Path(done.stdout.strip()).is_relative_to(tmp_path / "venv"), done
    assert not (tmp_path / "cache").exists()
    hook = runpy.run_path(str(ROOT / "hatch_build.py"))
    workflow = (ROOT / ".github" / "workflows" / "release.yml").read_text(encoding="ascii")
    assert not [platform for platform in hook["PLATFORMS"] if platform not in workflow]


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
    """No warning (warnings are errors) and no delay; asked for, the plugin works."""
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


HOSTILE = "open(__file__ + '.PWN', 'w').close()\nraise ImportError('the folder of the user was searched')\n"
OTHERS = """
abnf atheris attr click cloudpickle dask distributed fastjsonschema hypothesis jinja2 markupsafe msgpack
numpy orjson overlong_pytest platformdirs psutil pyarrow rich sortedcontainers tomlkit tornado typing_extensions
wasmtime yaml
"""
DONE, DIVERGES = 0, 1
ENGINES = ("grammar", "hypothesis", *(("atheris",) if find_spec("atheris") else ()))
CAMPAIGN = ("--runs", "50", "--seed", "1", "--ci")
COMMANDS = [  # every verb, in an order in which each finds what those before it wrote; and its exit code
    (DONE, "certify", "--no-sweeps", "-o", "right", "cpython"),
    (DIVERGES, "certify", "--suite", "core", "-o", "wrong", "cpython-surrogatepass"),
    (DONE, "certify", "--suite", "core", "-o", "mine", "py:./my_own.py:decode"),
    (DONE, "identify", "py:./my_own.py:decode"),
    (DONE, "matrix", "--quick", "-o", "site", "--format", "html,json", "cpython"),
    (DONE, "diff", "right", "right"),
    (DONE, "report", "right", "--format", "html,junit,sarif,badge", "-o", "pages"),
    (DONE, "verify", "right"),
    (DONE, "sweep", "--plan", "exhaustive-2", "-o", "swept", "cpython"),
    *[(DONE, "fuzz", *CAMPAIGN, "--engine", engine, "-o", engine, "py:./my_own.py:decode") for engine in ENGINES],
    *[(DONE, "fuzz", *CAMPAIGN, "--engine", engine, "-o", f"{engine}-2", "cpython") for engine in ENGINES[:2]],
    (DIVERGES, "fuzz", "--runs", "500", "--seed", "1", "--ci", "-o", "found", "cpython-surrogatepass"),
    (DONE, "finding", "list", "found"),
    (DIVERGES, "replay", "EDA080", "cpython-surrogatepass"),
    (DONE, "explain", "E0", "80", "AF"),
    (DONE, "vectors", "export", "--format", "json", "-o", "vectors.json"),
    (DONE, "vectors", "check", "vectors.json"),
    (DONE, "vectors", "score", "vectors.json"),
    (DONE, "target", "check", "cpython"),
    (DONE, "target", "list"),
    (DONE, "docs", "protocol"),
    (DONE, "--self-test"),
]


def test_no_file_of_the_current_folder_is_run(built, tmp_path):
    """In a folder of files with the names of modules every verb does what it does anywhere, and runs none of them."""
    assert {words[0] for _, *words in COMMANDS} == {*VERBS, "--self-test"}
    programs = environment_beside(tmp_path / "venv", built[1])
    folder = tmp_path / "folder"
    folder.mkdir()
    for name in {*sys.stdlib_module_names, *OTHERS.split(), "sitecustomize", "usercustomize", "conftest"}:
        (folder / f"{name}.py").write_text(HOSTILE, encoding="ascii")
    (folder / "overlong").mkdir()
    (folder / "overlong" / "__init__.py").write_text(HOSTILE, encoding="ascii")
    own = "import json\n\n\ndef decode(octets):\n    return octets.decode('utf-8')\n"
    (folder / "my_own.py").write_text(own, encoding="ascii")
    wrong = []
    for code, *words in COMMANDS:
        done = run(programs / "overlong", *words, folder=folder)
        if done.returncode != code:
            wrong.append(f"{words}: exit code {done.returncode}\n{done.stdout[-500:]}{done.stderr[-500:]}")
        for trace in folder.rglob("*.PWN"):
            trace.unlink()
            wrong.append(f"{words}: runs {trace.name.removesuffix('.PWN')}")
    assert not wrong, "\n".join(wrong)
