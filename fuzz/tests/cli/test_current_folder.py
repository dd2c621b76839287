"""No verb, engine, worker or compiler runs anything in the current folder that the command line does not name."""

import ast
import os
import re
import shutil
import subprocess
import sys
from ctypes.util import find_library
from pathlib import Path
from types import SimpleNamespace

import pytest

import overlong.conformance
import overlong.fuzz
import overlong.reference
from overlong.conformance.support.process import without_empty_entries
from overlong.conformance.targets.adapters import python as adapter
from overlong.conformance.targets.identity import identity_of
from overlong.conformance.targets.resolve import resolve
from waiting import HUNG

pytestmark = pytest.mark.long

ROOTS = [
    Path(path) for package in (overlong.reference, overlong.conformance, overlong.fuzz) for path in package.__path__
]
OTHERS = (
    "abnf", "atheris", "attr", "click", "cloudpickle", "dask", "distributed", "fastjsonschema", "hypothesis", "jinja2",
    "markupsafe", "msgpack", "numpy", "orjson", "overlong", "platformdirs", "psutil", "pyarrow",
    "rich", "sitecustomize", "sortedcontainers", "tomlkit", "tornado", "typing_extensions", "usercustomize", "wasmtime",
    "yaml",
)  # fmt: skip
COMMAND = (sys.executable, "-P", "-c", "from overlong.__main__ import main; main()")
MODULE = (sys.executable, "-m", "overlong")
DECODER = "import json, struct\ndef decode(octets):\n    return octets.decode()\n"
CORE = ("--suite", "core", "--no-sweeps", "-q")
SO = "so:libc.so.6:mblen?abi=int(ptr,len)"


def spread(folder, names):
    """Modules that report that they run."""
    for name in names:
        (folder / f"{name}.py").write_text(
            f"import posix\nposix.write(posix.open({str(folder / 'RUN')!r}, 1089, 0o600), b'{name} ')\n"
            f"raise ImportError('run: {name}')\n"
        )  # 1089: write, create, append; a module that runs while Python starts has few other ways to write


def ran(folder):
    told = folder / "RUN"
    return told.read_text().split() if told.exists() else []


def run(folder, *command, **environment):
    done = subprocess.run(
        [*map(str, command)],
        cwd=folder,
        env={**os.environ, **environment},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=HUNG,
        check=False,
    )
    assert "Traceback" not in done.stderr
    return done


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("hostile")
    spread(folder, [*sys.stdlib_module_names, *OTHERS])
    (folder / "decoder.py").write_text(DECODER)
    return folder


sqlite = pytest.mark.skipif(find_library("sqlite3") is None, reason="there is no SQLite here")


@pytest.mark.parametrize(
    "words",
    [
        ("certify", *CORE, "-o", "out", "py:decoder:decode"),
        ("certify", *CORE, "-o", "out", "cmd:iconv -f UTF-8 -t UTF-32BE"),
        pytest.param(("target", "check", "sqlite"), marks=sqlite, id="script"),
        pytest.param(("replay", "input/41", SO), id="library"),
        pytest.param(("fuzz", "--runs", "50", "--jobs", "2", "cpython", "-o", "jobs"), id="jobs"),
    ],
    ids=lambda words: " ".join(words[:1] + words[-1:]) if isinstance(words, tuple) else None,
)
def test_no_kind_of_target_runs_what_lies_there(folder, words, tmp_path):
    """Nor do the workers of a campaign. Every verb and engine is tried in test_guest.py, installed as users have it."""
    here = tmp_path / "here"
    shutil.copytree(folder, here, ignore=lambda _, names: [name for name in names if name == "RUN"])
    done = run(here, *COMMAND, *words)
    assert (ran(here), done.returncode) == ([], 0), done.stdout + done.stderr


def test_nor_does_the_module_once_python_has_come_to_it(folder, tmp_path):
    here = tmp_path / "here"
    shutil.copytree(folder, here)
    (tmp_path / "shown.py").write_text("import sys; print(*sys.modules)")
    for name in run(tmp_path, sys.executable, "-m", "shown").stdout.split():  # -m itself imports some of them
        (here / f"{name}.py").unlink(missing_ok=True)
    (here / "overlong.py").unlink()  # the command line names this one
    done = run(here, *MODULE, "certify", *CORE, "cpython")
    assert (ran(here), done.returncode) == ([], 0), done.stdout + done.stderr


def test_an_empty_entry_of_pythonpath_is_none(tmp_path):
    assert without_empty_entries(os.pathsep.join(("", "a", ".", "", "b"))) == os.pathsep.join(("a", ".", "b"))
    spread(tmp_path, ["click", "hypothesis", "numpy", "random", "sitecustomize", "tomlkit"])
    (tmp_path / "decoder.py").write_text(DECODER)
    empty = os.pathsep.join(("", str(tmp_path / "none")))
    for words in (
        ("matrix", "--quick", "cpython"),
        ("fuzz", "--runs", "50", "--jobs", "2", "py:decoder:decode", "-o", "campaign"),
    ):
        done = run(tmp_path, *COMMAND, *words, PYTHONPATH=empty)
        assert done.returncode == 0, done.stderr
        assert ran(tmp_path) == ["sitecustomize"]  # when Python starts, before our code; and not in any process of ours
        (tmp_path / "RUN").unlink()
    for name in ("re", "importlib"):
        spread(tmp_path, [name])
    assert run(tmp_path, sys.executable, "-I", "-m", "overlong", "--version", PYTHONPATH=empty).returncode == 0
    assert ran(tmp_path) == []


def test_a_path_that_the_user_gave_stays(tmp_path):
    (tmp_path / "given").mkdir()
    (tmp_path / "given" / "mine_of_the_path.py").write_text(DECODER)
    (tmp_path / "here").mkdir()
    done = run(
        tmp_path / "here", *COMMAND, "certify", *CORE, "py:mine_of_the_path:decode", PYTHONPATH=tmp_path / "given"
    )
    assert done.returncode == 0, done.stderr


def test_python_is_started_in_one_place_only():
    """A process that starts another way has Python's own path, with the current folder."""
    strange = []
    for path in sorted(file for root in ROOTS for file in root.rglob("*.py")):
        if (
            path.parts[-2:] in {("support", "process.py"), ("campaign", "pool.py"), ("core", "building.py")}
            or path.parent.name == "templates"
        ):
            continue  # the core is built in an empty folder
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            named = isinstance(node, ast.Attribute | ast.Name | ast.alias) and (
                getattr(node, "attr", None) or getattr(node, "id", None) or getattr(node, "name", None)
            )
            lists = node.elts if isinstance(node, ast.List | ast.Tuple) else []
            if any(isinstance(each, ast.Attribute) and each.attr == "executable" for each in lists):
                strange.append(f"{path.name}: a command line of sys.executable")
            if named in {"multiprocessing", "ProcessPoolExecutor", "LocalCluster"}:
                strange.append(f"{path.name}: {named}")
    assert strange == []
    pool = next(path for root in ROOTS for path in root.rglob("campaign/pool.py")).read_text("utf-8")
    before = re.findall(r"(.*)\n.*(?: ProcessPoolExecutor\(|\.submit\(run_there)", pool)
    assert [each.partition("  #")[0].strip() for each in before] == ["with _starting():"] * 2


# -- the search path of the worker of py:


@pytest.fixture
def searched(tmp_path, monkeypatch):
    """The searched folders beside Python's own (the standard library, packages)."""
    here, packages = tmp_path / "here", tmp_path / "packages"
    for folder in (here / "sub", packages):
        folder.mkdir(parents=True)
    monkeypatch.chdir(here)
    library = str(Path(os.__file__).parent)

    def search(place):
        monkeypatch.setattr(sys, "path", [library, str(packages)])
        adapter.search_for(place)
        return sys.path

    return SimpleNamespace(search=search, here=here, packages=packages, library=library)


def test_the_folder_of_what_is_named_comes_behind_the_standard_library(searched):
    library, here, packages = searched.library, str(searched.here), str(searched.packages)
    (searched.here / "mine.py").touch()
    (searched.packages / "mine.py").touch()
    (searched.here / "whole").mkdir()
    (searched.here / "whole" / "__init__.py").touch()
    for place in ("mine", "whole", "whole.text", "sub", "sub.text", "./mine.py"):
        assert searched.search(place) == [library, here, packages], place
    assert searched.search("sub/mine.py") == [library, str(searched.here / "sub"), here, packages]
    outside = searched.packages / "mine.py"
    assert searched.search(str(outside)) == [library, packages, packages]


def test_what_lies_elsewhere_has_nothing_searched_here(searched):
    """Hostile files beside an installed decoder must not replace its imports."""
    (searched.packages / "installed").mkdir()
    (searched.packages / "installed" / "__init__.py").touch()
    (searched.here / "installed").mkdir()  # a folder is no package where there is one
    (searched.here / "json.py").touch()
    for place in ("installed", "installed.text", "json", "json.decoder", "nowhere", adapter.__file__):
        assert searched.search(place) == [searched.library, str(searched.packages)], place


def test_the_digest_is_that_of_what_is_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    before = identity_of(resolve("py:json:loads"))
    (tmp_path / "json.py").touch()
    assert identity_of(resolve("py:json:loads")) == before


# -- programs of other languages


def test_compilers_take_nothing_from_there(tmp_path, tmp_path_factory):
    (tmp_path / "META-INF" / "services").mkdir(parents=True)
    (tmp_path / "META-INF" / "services" / "javax.annotation.processing.Processor").write_text("Hostile\n")
    for name in ("libgcc_s.so.1", "libgcc_s.so", "utf8.h", "stdlib.cmi", "uutf.cmi"):
        (tmp_path / name).write_text("hostile\n")
    (tmp_path / "rust-toolchain.toml").write_text('[toolchain]\npath = "/nonexistent/toolchain"\n')
    needed = {
        "glibc-iconv": "cc",
        "utfcpp": "c++",
        "java-string": "javac",
        "ocaml-uutf": "ocamlopt",
        "rust-std": "rustc",
    }
    there = [name for name, program in needed.items() if shutil.which(program)]
    if not there:
        pytest.skip("no compiler is here")
    script = (
        "from overlong.conformance import TargetError\n"
        "from overlong.conformance.targets.builtins import BUILTINS\n"
        f"for builtin in map(BUILTINS.get, {there!r}):\n"
        "    if not builtin.missing():\n"
        "        try:\n            builtin.command(); assert builtin.version(), builtin.name\n"
        "        except TargetError as error:\n            print(error)\n"
    )
    done = run(tmp_path, sys.executable, "-P", "-c", script, XDG_CACHE_HOME=tmp_path_factory.mktemp("cache"))
    assert (done.stdout, done.returncode) == ("", 0), done.stderr


@pytest.mark.skipif(shutil.which("escript") is None, reason="Erlang is not installed")
def test_erlang_takes_no_module_from_there(tmp_path):
    for name in ("user_sup", "lists", "io", "compile", "unicode_util"):
        (tmp_path / f"{name}.beam").write_text("hostile")
    (tmp_path / ".erlang").write_text('file:write_file("RUN", "erlang").\n')
    done = run(tmp_path, *COMMAND, "target", "check", "erlang")
    assert (ran(tmp_path), done.returncode) == ([], 0), done.stdout + done.stderr
