"""The core steps over no memory and does nothing that C leaves undefined, whatever the functions do that it calls."""

import os
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from overlong.reference.core import building, why_not

pytestmark = [pytest.mark.long, pytest.mark.skipif(bool(why_not()), reason=why_not() or "there is a core")]

ROOT = Path(__file__).parents[3]
OPTIONS = ("-O1", "-g", "-fno-omit-frame-pointer")
SANITIZED = (*OPTIONS, "-fsanitize=address,undefined", "-fno-sanitize-recover=all")
BOTH = {
    "conformance/tests/oracle/test_columnar.py": "few_long_strings",
    "conformance/tests/targets/test_shared_library.py": "core_answers",
    "fuzz/tests/execution/test_survey_columnar.py": "in_python_places",
    "fuzz/tests/execution/test_survey_in_process.py": "in_this_process",
    "fuzz/tests/generation/test_generation_features.py": "reads_as_python and rfc3629",
    "fuzz/tests/generation/test_generation.py": "make_the_same and 0-seeds0-rfc3629",
    "reference/tests/test_native.py": "every_scalar_value",
}
"""Files and their tests that call every function of the core, those in sweeps apart."""
SANITIZER = {
    **BOTH,
    "conformance/tests/sweep/test_sweep_compiled.py": "ctypes or exactly or kinds_that or octet_00 or means_the_same",
    "fuzz/tests/generation/test_generation.py": "make_the_same",
    "reference/tests/test_native.py": "mixed_text or lanes or every_scalar_value",
}
VALGRIND = {**BOTH, "conformance/tests/sweep/test_sweep_compiled.py": "(as_ctypes or means_the_same) and errpos"}
RUN = """
import sys
from overlong.reference.core import building, loading
building.OPTIONS += tuple(sys.argv[1].split())
missing = set(loading._WORDS)
def seen(method):
    def noted(self, name, *words):
        missing.discard(name)
        return method(self, name, *words)
    return noted
loading.Core.__call__, loading.Core.address = seen(loading.Core.__call__), seen(loading.Core.address)
import pytest
for file, tests in zip(sys.argv[2::2], sys.argv[3::2]):
    status = pytest.main(["-q", "-x", "-m", "", "-p", "no:cacheprovider", file, "-k", tests])
    if status:
        sys.exit(int(status))
sys.exit(f"not called: {missing}" if missing else 0)
"""


def run(options, tests, folder, *before, **variables):
    """Run tests with a core of its own, which must leave no function out."""
    variables |= {"XDG_CACHE_HOME": str(folder), "PYTHONMALLOC": "malloc"}  # with room around each piece
    words = [*before, sys.executable, "-c", RUN, " ".join(options), *(each for pair in tests.items() for each in pair)]
    done = subprocess.run(
        words, cwd=ROOT, env=os.environ | variables, capture_output=True, text=True, check=False, timeout=900
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    assert list((folder / "overlong" / "core").iterdir())


def test_sanitizers_have_nothing_to_say(tmp_path):
    asked = [*building._compiler(), "-print-file-name=libasan.so"]
    runtime = subprocess.run(asked, capture_output=True, text=True, check=True).stdout.strip()
    if not Path(runtime).is_absolute():
        pytest.skip("the compiler has no libasan.so")
    options = "detect_leaks=0:handle_segv=0"  # Python keeps memory; guard pages end functions
    run(SANITIZED, SANITIZER, tmp_path, LD_PRELOAD=runtime, ASAN_OPTIONS=options)


def test_valgrind_has_nothing_to_say(tmp_path):
    """Of the core; Python reads behind ends of strings on purpose."""
    if shutil.which("valgrind") is None:
        pytest.skip("valgrind is not installed")
    report = tmp_path / "report.xml"
    run(OPTIONS, VALGRIND, tmp_path, "valgrind", "-q", "--error-limit=no", "--xml=yes", f"--xml-file={report}")
    root = ET.parse(report).getroot()
    assert root.findtext("status/state") is not None
    for error in root.iter("error"):
        objects = {Path(each.text).name for each in error.iter("obj")}
        assert not any(name.startswith("core-") for name in objects), ET.tostring(error, "unicode")
