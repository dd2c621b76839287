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
SANITIZED = ("-O1", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all")
WATCHED = {
    "conformance/tests/oracle/test_columnar.py": "long_strings or every_edge",
    "conformance/tests/sweep/test_sweep_compiled.py": "ctypes or exactly or kinds_that or octet_00 or means_the_same",
    "conformance/tests/targets/test_shared_library.py": "core_answers",
    "fuzz/tests/execution/test_executor_in_process.py": "in_this_process",
    "fuzz/tests/generation/test_generation.py": "make_the_same",
    "fuzz/tests/generation/test_generation_features.py": "reads_as_python",
    "reference/tests/test_native.py": "mixed_text or every_scalar_value",
}
"""Files and their tests, which call every function of the core."""
RUN = f"""
import sys
from overlong.reference.core import building, loading
building.OPTIONS += {SANITIZED!r}
missing = set(loading._WORDS)
def seen(method):
    def noted(self, name, *words):
        missing.discard(name)
        return method(self, name, *words)
    return noted
loading.Core.__call__, loading.Core.address = seen(loading.Core.__call__), seen(loading.Core.address)
import pytest
for file, tests in zip(sys.argv[1::2], sys.argv[2::2]):
    status = pytest.main(["-q", "-x", "-m", "", "-p", "no:cacheprovider", file, "-k", tests])
    if status:
        sys.exit(int(status))
sys.exit("not called: " + " ".join(missing) if missing else 0)
"""


READ = """
import numpy as np
from overlong.conformance.oracle.columnar import ColumnReader
from overlong.fuzz.engines.job import first_to_reach
from overlong.fuzz.generated import Generated
from overlong.reference import dialect
from overlong.reference.native import oracle
automaton = dialect().automaton
lengths, octets = Generated(3, (bytes(range(256)),)).by_core(0, 3000)
first_to_reach(lengths, octets)
assert (ColumnReader(automaton, by_core=True).read(octets, np.array(lengths, np.uint32)).last).any()
assert oracle().first_error(octets) and len(oracle().decode_scalars(chr(0x20AC).encode() * 9000)) == 9000
"""
"""A run for what only Valgrind sees: a decision by octets that nobody has written."""


def environment(folder, **more):
    """For a core that is built anew there, and with room around each piece of memory."""
    return os.environ | {"XDG_CACHE_HOME": str(folder), "PYTHONMALLOC": "malloc"} | more


def test_sanitizers_have_nothing_to_say(tmp_path):
    asked = [*next(building._compilers()), "-print-file-name=libasan.so"]
    runtime = subprocess.run(asked, capture_output=True, text=True, check=True).stdout.strip()
    if not Path(runtime).is_absolute():
        pytest.skip("the compiler has no libasan.so")
    options = "detect_leaks=0:handle_segv=0"  # Python keeps memory; guard pages end functions
    words = [sys.executable, "-c", RUN, *(each for pair in WATCHED.items() for each in pair)]
    under = environment(tmp_path, LD_PRELOAD=runtime, ASAN_OPTIONS=options)
    done = subprocess.run(words, cwd=ROOT, env=under, capture_output=True, text=True, check=False, timeout=900)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]


def test_valgrind_has_nothing_to_say_of_the_core(tmp_path):
    """Python itself reads behind the ends of its strings on purpose."""
    if shutil.which("valgrind") is None:
        pytest.skip("valgrind is not installed")
    report = tmp_path / "report.xml"
    words = ["valgrind", "-q", "--error-limit=no", "--xml=yes", f"--xml-file={report}", sys.executable, "-c", READ]
    done = subprocess.run(
        words, cwd=ROOT, env=environment(tmp_path), capture_output=True, text=True, check=False, timeout=600
    )
    assert done.returncode == 0, done.stderr[-3000:]
    root = ET.parse(report).getroot()
    assert root.findall("status"), "it watched to the end"
    for error in root.iter("error"):
        frames = [each.text or "" for each in error.iter("obj")]
        assert not any("core-" in Path(frame).name for frame in frames), ET.tostring(error, "unicode")
