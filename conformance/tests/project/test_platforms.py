"""Every module can be imported on every system, but for those that say why not; and what works with no extra.

There is no Windows and no macOS here: what the modules see is changed until it looks like one. Other people's modules
are loaded before.
"""

import json
import subprocess
import sys

import pytest

from waiting import HUNG

LINUX_ONLY = {"overlong.conformance.certification.matrix.nursery", "overlong.conformance.targets.supervisor"}
"""They fork a process that has threads, or use Linux's namespaces."""
POSIX_ONLY = {
    "overlong.conformance.sweep.adapter",
    "overlong.conformance.targets.adapters.attended",
    "overlong.conformance.targets.adapters.chromium",
    "overlong.conformance.targets.adapters.leftovers",
    "overlong.conformance.targets.adapters.lines",
    "overlong.conformance.targets.adapters.one_shot",
    "overlong.conformance.targets.adapters.postgresql",
    "overlong.conformance.targets.adapters.shared_library",
    "overlong.fuzz.execution.adapter",
}
"""They fork, or hand on descriptors by number. All are programs, which the harness starts where it can."""

IMPORTS = """
import contextlib, importlib, json, mmap, os, pkgutil, select, signal, socket, sys
import overlong, overlong_pytest

HIDDEN = {"fcntl", "grp", "posix", "pty", "pwd", "resource", "syslog", "termios", "tty"}
POSIX = {
    os: "chown fork forkpty getegid geteuid getpgrp getuid killpg posix_spawn pread set_blocking setsid uname writev "
    "O_CLOEXEC O_NOFOLLOW O_NONBLOCK WNOHANG",
    signal: "SIGALRM SIGCHLD SIGHUP SIGKILL SIGPIPE SIGRTMIN SIGSTOP SIG_BLOCK alarm pthread_sigmask setitimer",
    select: "POLLIN epoll poll",
    socket: "AF_UNIX recv_fds send_fds",
    mmap: "MAP_ANONYMOUS MAP_PRIVATE MAP_SHARED PROT_READ PROT_WRITE",
}

class Hide:
    def find_spec(self, name, path=None, target=None):
        if name in HIDDEN:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

def imported(names):
    failed = {}
    for name in names:
        try:
            importlib.import_module(name)
        except ImportError as error:
            failed[name] = str(error)
    return failed

def ours():
    return sorted(name for name in sys.modules if name.partition(".")[0] in ("overlong", "overlong_pytest"))

found = (each.name for each in pkgutil.walk_packages(overlong.__path__, "overlong."))
names = [name for name in found if not name.startswith("overlong.conformance.targets.adapters.")]
adapters = importlib.import_module("overlong.conformance.targets.adapters").__path__
names += [f"overlong.conformance.targets.adapters.{each.name}" for each in pkgutil.iter_modules(adapters)]
names = [name for name in names if ".templates." not in name] + ["overlong_pytest"]
lacks = imported(names)
for name in ours():
    del sys.modules[name]
sys.platform = sys.argv[1]
if sys.platform == "win32":
    sys.meta_path.insert(0, Hide())
    for name in HIDDEN:
        sys.modules.pop(name, None)
    for module, attributes in POSIX.items():
        for attribute in attributes.split():
            with contextlib.suppress(AttributeError):
                delattr(module, attribute)
print(json.dumps([lacks, imported(name for name in names if name not in lacks), len(names)]))
"""


@pytest.mark.long
@pytest.mark.parametrize(("system", "refuse"), [("win32", LINUX_ONLY | POSIX_ONLY), ("darwin", LINUX_ONLY)])
def test_all_but_a_few_programs_can_be_imported_elsewhere(system, refuse):
    words = [sys.executable, "-W", "error", "-c", IMPORTS, system]
    done = subprocess.run(words, capture_output=True, text=True, check=True, timeout=HUNG)
    lacks, failed, count = json.loads(done.stdout)
    assert lacks == {}
    assert failed.keys() == refuse
    assert count > 300


WITHOUT_EXTRAS = """
import sys

sys.modules["numba"] = sys.modules["numpy"] = None  # neither can be found or imported
from overlong.__main__ import main
main()
"""


@pytest.mark.parametrize(
    ("words", "status", "said"),
    [
        ("certify cpython --quick --output {}", 0, "CONFORMANT (not swept)"),
        ("sweep cpython", 3, "a sweep needs NumPy"),
    ],
)
def test_what_works_without_the_extras_and_what_says_that_it_does_not(words, status, said, tmp_path):
    folder = str(tmp_path / "out")
    asked = [sys.executable, "-c", WITHOUT_EXTRAS, *(word.format(folder) for word in words.split())]
    done = subprocess.run(asked, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=HUNG)
    assert done.returncode == status, done.stdout + done.stderr
    assert said in done.stdout + done.stderr
