"""The integration with OSS-Fuzz and ClusterFuzzLite, as far as tests without a container engine can go."""

import ast
import os
import re
import shutil
import subprocess
import sys
import zipfile
from importlib.util import find_spec
from pathlib import Path

import pytest

from overlong.conformance.protocol.observation import KINDS
from overlong.reference import DEFECTS
from waiting import HUNG

pytestmark = pytest.mark.long

ROOT = Path(__file__).parents[3]
FOLDER = ROOT / "fuzz" / "oss-fuzz"
SOURCE = ROOT / "reference" / "overlong" / "reference" / "core"
LITE = ROOT / ".clusterfuzzlite"
WORKFLOWS = ROOT / ".github" / "workflows"
HARNESSES = sorted(path.stem for path in FOLDER.glob("fuzz_*.py"))
CORE = "fuzz_core"
RUNS, SEEDS, OF_CORE = 400, 100, 20_000
"""The inputs, and the seeds among them: the test is of the harness, not of the decoders; and the inputs of the core."""
UNLIMITED = "-rss_limit_mb=0"
"""libFuzzer asks the kernel for its peak memory, which begins with that of its parent: this process, with all earlier
tests."""
SANITIZED = "-O1 -g -fsanitize=address,undefined -fno-sanitize-recover=all"
ENGINE = "-fsanitize=fuzzer"
"""How the services build what is in C."""
MODES = {"pr": "code-change", "batch": "batch", "prune": "prune", "coverage": "coverage"}

CLANG = shutil.which("clang++")
clang_here = pytest.mark.skipif(CLANG is None, reason="no clang++ on PATH")
atheris_here = pytest.mark.skipif(find_spec("atheris") is None, reason="atheris is not installed")


def run(command, folder, *, stdin=None, **variables):
    return subprocess.run(
        list(map(str, command)), cwd=folder, env=os.environ | variables, input=stdin, capture_output=True, text=True,
        timeout=HUNG, check=False,
    )  # fmt: skip


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """The files that build.sh leaves in OUT, with stand-ins for pip3 and the image's programs."""
    folder = tmp_path_factory.mktemp("build")
    programs = {
        "pip3": 'echo "$@" >>"$WORK/installed"',
        "python3": f'exec "{sys.executable}" "$@"',
        "compile_python_fuzzer": 'echo "$@" >>"$WORK/compiled"\nname=$(basename -s .py "$1")\n'
        f'printf \'#!/bin/sh\\nexec "{sys.executable}" "%s" "$@"\\n\' "$PWD/$1" >"$OUT/$name"\nchmod +x "$OUT/$name"',
    }
    for place in ("programs", "work", "out"):
        (folder / place).mkdir()
    for name, text in programs.items():
        path = folder / "programs" / name
        path.write_text(f"#!/bin/sh\n{text}\n")
        path.chmod(0o755)
    compilers = {"CC": "clang", "CXX": "clang++"} if CLANG else {"CC": "true", "CXX": "true"}
    flags = {"CFLAGS": f"{SANITIZED} -fsanitize=fuzzer-no-link", "CXXFLAGS": SANITIZED, "LIB_FUZZING_ENGINE": ENGINE}
    variables = {
        "SRC": str(ROOT.parent),
        "WORK": str(folder / "work"),
        "OUT": str(folder / "out"),
        **compilers,
        **flags,
    }
    done = run(
        ["bash", "-eu", LITE / "build.sh"], ROOT, **variables, PATH=f"{folder / 'programs'}:{os.environ['PATH']}"
    )
    assert done.returncode == 0, done.stderr
    return folder


def test_build_makes_each_harness_with_seeds_and_a_dictionary(built):
    out = built / "out"
    made = sorted([*HARNESSES, CORE] if CLANG else HARNESSES)
    assert sorted(path.name for path in out.iterdir() if os.access(path, os.X_OK)) == made
    compiled = (built / "work" / "compiled").read_text()
    for name in HARNESSES:
        assert f"fuzz/oss-fuzz/{name}.py --collect-data overlong.reference" in compiled
    for name in (*HARNESSES, CORE):
        with zipfile.ZipFile(out / f"{name}_seed_corpus.zip") as archive:
            assert archive.testzip() is None
            seeds = [archive.read(each) for each in archive.namelist()]
        assert len(seeds) == len(set(seeds))
        assert len(seeds) > (10 if name == "fuzz_files" else 500)
        for line in (out / f"{name}.dict").read_text("ascii").splitlines():
            assert re.fullmatch(r'#.*|\w+="([^"\\]|\\["\\]|\\x[0-9a-f]{2})+"', line), line
    assert (built / "work" / "installed").read_text().split() == ["install", "."]


@pytest.mark.parametrize(
    "name", [*(pytest.param(name, marks=atheris_here) for name in HARNESSES), pytest.param(CORE, marks=clang_here)]
)
def test_a_harness_runs_on_its_seeds_and_finds_nothing(built, tmp_path, name):
    with zipfile.ZipFile(built / "out" / f"{name}_seed_corpus.zip") as archive:
        archive.extractall(tmp_path / "seeds", archive.namelist()[:: 1 + len(archive.namelist()) // SEEDS])
    # after a second libFuzzer reads its folder again, and runs those files, too
    runs = OF_CORE if name == CORE else RUNS
    words = [f"-runs={runs}", "-seed=1", "-max_len=512", UNLIMITED, "-reload=0"]
    words += [f"-dict={built / 'out' / name}.dict", tmp_path / "seeds"]
    done = run([built / "out" / name, *words], tmp_path)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    assert f"Done {runs} runs" in done.stderr
    assert not list(tmp_path.glob("crash-*"))


@clang_here
@pytest.mark.parametrize(
    ("file", "right", "wrong"),
    [
        ("decoding", "wrong |= (pairs", "wrong = (pairs"),
        ("decoding", "ends >> place & 0x7F", "ends >> place & 0x7E"),
        ("decoding", "= (uint32_t)number", "= (uint16_t)number"),
        ("columns", "if (accepting[state]) accepted", "accepted"),
    ],
)
def test_a_fault_in_the_core_is_found(built, tmp_path, file, right, wrong):
    with zipfile.ZipFile(built / "out" / f"{CORE}_seed_corpus.zip") as archive:
        archive.extractall(tmp_path / "seeds")
    text = (SOURCE / f"{file}.c").read_text("ascii")
    assert text.count(right) == 1
    (tmp_path / "wrong.c").write_text(text.replace(right, wrong))
    others = [built / "work" / f"{name}.o" for name in (CORE, "decoding", "columns") if name != file]
    words = ["clang++", *SANITIZED.split(), ENGINE, *others, "-x", "c", "-std=c11", f"-I{SOURCE}", "wrong.c"]
    assert run([*words, "-o", "fuzz_wrong"], tmp_path).returncode == 0
    done = run([tmp_path / "fuzz_wrong", f"-runs={OF_CORE}", "-seed=1", UNLIMITED, "-reload=0", "seeds"], tmp_path)
    assert "differs from the walk" in done.stderr or "ERROR: AddressSanitizer" in done.stderr, done.stderr[-2000:]
    assert list(tmp_path.glob("crash-*"))


@atheris_here
@pytest.mark.parametrize(
    ("wrong", "octets", "function"),
    [
        ("bytes(octets).replace(b'\\xc0\\x80', b'\\0')", b"\xc0\x80", "OV201_overlong_form_accepted"),
        ("bytes(octets).replace(b'\\xc3\\xa9', b'\\xff')", b"\xc3\xa9", "OV101_well_formed_text_refused"),
        ("bytes(octets).replace(b'b', b'c')", b"b", "OV102_wrong_scalar_values"),
    ],
)
def test_each_cause_has_a_stack_of_its_own(tmp_path, wrong, octets, function):
    """Services group by the innermost frames: the code, then the operation."""
    script = tmp_path / "fuzz_planted.py"
    script.write_text(
        "import sys\n"
        f"sys.path.insert(0, {str(FOLDER)!r})\n"
        "import fuzz_cpython\n"
        "right = fuzz_cpython.observed\n"
        f"fuzz_cpython.observed = lambda octets, errors: right({wrong}, errors)\n"
        "fuzz_cpython.fuzz(fuzz_cpython.one_input, sys.argv)\n"
    )
    (tmp_path / "input").write_bytes(octets)
    done = run([sys.executable, script, UNLIMITED, tmp_path / "input"], tmp_path)
    assert done.returncode == 77, (
        done.stderr
    )  # libFuzzer's own status, not hidden by the check that something was compared
    frames = re.findall(r'File ".*", line \d+, in (\w+)', done.stdout)
    assert frames[-3:] == ["whole_strict", "judge", function]


@atheris_here
def test_a_run_that_compared_nothing_does_not_pass(tmp_path):
    script = tmp_path / "fuzz_nothing.py"
    script.write_text(
        "import sys\n"
        f"sys.path.insert(0, {str(FOLDER)!r})\n"
        "from running import fuzz\n"
        "fuzz(lambda octets: None, sys.argv)\n"
    )
    done = run([sys.executable, script, "-runs=50", UNLIMITED], tmp_path)
    assert done.returncode == 70
    assert "not one input was compared" in done.stderr


@atheris_here
def test_a_harness_can_be_forked_and_merged(tmp_path):
    """For these libFuzzer starts argv[0] again: it must be executable, and the outer process compares nothing."""
    for name in HARNESSES:
        assert os.access(FOLDER / f"{name}.py", os.X_OK)
    (tmp_path / "from").mkdir()
    (tmp_path / "into").mkdir()
    (tmp_path / "from" / "a").write_bytes(b"\xe2\x82")
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    done = run([FOLDER / "fuzz_cpython.py", "-merge=1", UNLIMITED, "into", "from"], tmp_path, PATH=path)
    assert done.returncode == 0, done.stderr[-2000:]
    assert list((tmp_path / "into").iterdir())


@atheris_here
def test_raising_functions_are_named_after_what_is_wrong():
    text = "import running, json; print(json.dumps({code: f.__code__.co_name for code, f in running.RAISES.items()}))"
    names = ast.literal_eval(run([sys.executable, "-c", text], FOLDER).stdout)
    assert set(names) == {*KINDS, *(defect.code for defect in DEFECTS.values())}
    assert len(set(names.values())) == len(names)
    assert all(name.startswith(f"{code}_") and name.isidentifier() for code, name in names.items())


def test_harnesses_bear_lines_before_them():
    """For coverage reports compile_python_fuzzer puts code first; imports from __future__ must be first."""
    for name in HARNESSES:
        text = (FOLDER / f"{name}.py").read_text("ascii")
        compile(f"import atexit\n{text}", name, "exec")
        assert text.startswith("#!/usr/bin/env python3\n")
        assert "faulthandler" not in text


def test_clusterfuzzlite_has_the_same_files():
    for name in ("Dockerfile", "build.sh", "project.yaml"):
        assert (LITE / name).is_symlink()
        assert (LITE / name).resolve() == FOLDER / name
    lines = (FOLDER / "Dockerfile").read_text("ascii").splitlines()
    instructions = [line.split() for line in lines if line and not line.startswith("#")]
    assert instructions[0] == ["FROM", "gcr.io/oss-fuzz-base/base-builder-python"]
    for word, source, _ in (each for each in instructions if each[0] == "COPY"):
        assert (word, (ROOT / source).exists()) == ("COPY", True)
    assert os.access(FOLDER / "build.sh", os.X_OK)


def test_the_yaml_says_what_the_services_need():
    yaml = pytest.importorskip("yaml")
    project = yaml.safe_load((FOLDER / "project.yaml").read_text("ascii"))
    assert project["language"] == "python"
    assert set(project["sanitizers"]) <= {"address", "undefined"}
    assert {path.stem for path in WORKFLOWS.glob("cflite_*.yml")} == {f"cflite_{name}" for name in MODES}
    for name, mode in MODES.items():
        workflow = yaml.safe_load((WORKFLOWS / f"cflite_{name}.yml").read_text("ascii"))
        assert workflow["permissions"] == "read-all"
        assert workflow[True].keys() == ({"pull_request"} if name == "pr" else {"schedule", "workflow_dispatch"})
        (job,) = workflow["jobs"].values()
        build, fuzz = (step["with"] for step in job["steps"])
        uses = [step["uses"] for step in job["steps"]]
        names = [name.partition("@")[0] for name in uses]
        assert names == [f"google/clusterfuzzlite/actions/{each}" for each in ("build_fuzzers", "run_fuzzers")]
        assert build["language"] == "python"
        assert (fuzz["mode"], fuzz["sanitizer"]) == (mode, build["sanitizer"])
        assert fuzz["fuzz-seconds"] >= 600
