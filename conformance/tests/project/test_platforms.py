"""Every module can be imported on every system, but for those that say why not; and what works with no extra.

There is no Windows and no macOS here: what the modules see is changed until it looks like one. Other people's modules
are loaded before.
"""

import json
import os
import shutil
import subprocess
import sys

import pytest

from waiting import HUNG
from zoo import SHARED_LIBRARIES

LINUX_ONLY = {"overlong.conformance.targets.supervisor"}
"""It uses Linux's namespaces."""
POSIX_ONLY = {
    "overlong.conformance.sweep.adapter",
    "overlong.conformance.sweep.caller",
    "overlong.conformance.targets.adapters.attended",
    "overlong.conformance.targets.adapters.child",
    "overlong.conformance.targets.adapters.shared_library",
    "overlong.conformance.targets.adapters.lines",
    "overlong.conformance.targets.adapters.one_shot",
    "overlong.fuzz.engines.adapter",
    "overlong.reference.native",
}
"""They fork, hand on descriptors by number, or need the core in C. All but the last are programs, which the harness
starts where it can."""

RIGHT_C = SHARED_LIBRARIES / "right.c"
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
names += ["overlong_pytest"]
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
    assert count > 200


@pytest.mark.long_after(1)
@pytest.mark.parametrize(
    ("target", "said"),
    [
        ("cpython", "CONFORMANT"),
        (
            "so:{}:is_bool?abi=bool(ptr,len)",
            "called at a tenth of the speed: there is no C compiler",
        ),
    ],
)
def test_what_works_without_a_compiler(target, said, tmp_path):
    library = tmp_path / "right.so"
    if "so:" in target:
        if not (compiler := shutil.which("cc")):
            pytest.skip("no C compiler on PATH")
        subprocess.run([compiler, "-shared", "-fPIC", RIGHT_C, "-o", library], check=True)
    words = ["certify", target.format(library), "--quick", "--output", str(tmp_path / "out")]
    alone = {**os.environ, "PATH": "/nowhere", "COLUMNS": "200", "XDG_CACHE_HOME": str(tmp_path / "cache")}
    asked = [sys.executable, "-P", "-m", "overlong", *words]
    done = subprocess.run(asked, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=HUNG, env=alone)
    assert done.returncode == 0, done.stdout + done.stderr
    assert " ".join(done.stdout.split()).count(said) == 1
    assert not list(tmp_path.rglob("core-*.so"))
