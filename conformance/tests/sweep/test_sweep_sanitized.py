"""The core steps over no memory and does nothing that C leaves undefined, whatever the functions do that it calls."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from overlong.reference.core import building, why_not

pytestmark = [pytest.mark.long, pytest.mark.skipif(bool(why_not()), reason=why_not() or "there is a core")]

ROOT = Path(__file__).parents[3]
SANITIZED = ("-O1", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all")
RUN = f"""
import sys
from overlong.reference.core import building
building.OPTIONS += {SANITIZED!r}
import pytest
sys.exit(pytest.main(["-q", "-x", "-m", "", "-p", "no:cacheprovider", *sys.argv[1:]]))
"""


@pytest.mark.parametrize(
    ("file", "tests"),
    [
        ("conformance/tests/sweep/test_sweep_compiled.py", "as_ctypes or exactly or kinds_that or octet_00"),
        ("conformance/tests/targets/test_shared_library.py", "core_answers"),
        ("fuzz/tests/generation", "make_the_same or reads_as_python"),
        ("reference/tests/test_native.py", "mixed_text or lanes"),
    ],
)
def test_sanitizers_have_nothing_to_say(file, tests, tmp_path):
    asked = [*building._compiler(), "-print-file-name=libasan.so"]
    runtime = subprocess.run(asked, capture_output=True, text=True, check=True).stdout.strip()
    if not Path(runtime).is_absolute():
        pytest.skip("the compiler has no libasan.so")
    environment = {
        **os.environ,
        "LD_PRELOAD": runtime,
        "ASAN_OPTIONS": "detect_leaks=0:handle_segv=0",  # Python keeps memory; guard pages end functions
        "XDG_CACHE_HOME": str(tmp_path),
        "PYTHONMALLOC": "malloc",  # with room around each piece
    }
    words = [sys.executable, "-c", RUN, str(ROOT / file), "-k", tests]
    done = subprocess.run(words, cwd=ROOT, env=environment, capture_output=True, text=True, check=False, timeout=600)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    assert list((tmp_path / "overlong" / "core").iterdir())
