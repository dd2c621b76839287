"""Runs between the harness and a target on Linux: it starts the target under limits, and no process outlives it.

    python -I -S supervisor.py LIFELINE REPORT MEMORY -- COMMAND...

This is a separate program on the standard library alone. LIFELINE is a pipe that the harness holds open: when it ends,
because the harness closed it or ended, the supervisor kills everything. REPORT is a pipe that gets a line with the kind
of isolation, and a second one with an errno if COMMAND could not be executed, or ``EOPNOTSUPP`` if it was not executed
because nothing would keep its signals from other processes. MEMORY is the limit on a process's allocations
(``RLIMIT_DATA``), in octets; 0 for none. The target has the supervisor's standard streams, environment and folder. The
supervisor ends like the target, with the same status or by the same signal.

If the kernel grants a PID namespace, a small init runs in it, and the target is its child. The target is not process 1
itself, because signals without a handler do not end process 1, and an ``abort()`` would look different. When init ends,
the kernel kills the whole namespace, even processes that left the session and the process group
(``pid_namespaces(7)``). Without a namespace, the supervisor adopts orphans (``PR_SET_CHILD_SUBREAPER``, ``prctl(2)``),
and kills its descendants until none is left. There a ``kill(-1, SIGKILL)`` would end everything that this user runs,
the harness first. So Landlock confines signals to the target's own processes (``landlock(7)``, Linux 6.12), or a filter
denies that one call (``seccomp(2)``).

A target that has more than 500 processes is killed, and its stderr says so. The supervisor counts them itself:
``RLIMIT_NPROC`` does not hold for root, counts threads and, before Linux 5.14, all that the user runs, and a cgroup can
seldom be made.
"""

from __future__ import annotations

import errno
import os
import resource
import select
import sys
import time

TYPE_CHECKING = False  # importing typing takes as long as all the rest
if TYPE_CHECKING:
    import signal
    from collections.abc import Callable, Iterator
    from typing import Any, NoReturn
else:
    import _signal as signal  # importing signal would take half as long as starting the interpreter

if sys.platform != "linux":
    raise ImportError("a supervisor needs Linux")

PID_NAMESPACE, PROCESS_TREE = "PID namespace", "process tree"
"""The kinds in the report's first line."""

_NEWNS, _NEWIPC, _NEWUSER, _NEWPID = 0x00020000, 0x08000000, 0x10000000, 0x20000000  # linux/sched.h
_OF_ITS_OWN = _NEWPID | _NEWNS | _NEWIPC  # System V memory outlives a killed process, but not its namespace
_SLAVE, _REC, _NOSUID, _NODEV, _NOEXEC = 1 << 19, 1 << 14, 2, 4, 8  # linux/mount.h
_SET_PDEATHSIG, _SET_CHILD_SUBREAPER = 1, 36  # linux/prctl.h
_SET_SECCOMP, _SECCOMP_FILTER, _SET_NO_NEW_PRIVS = 22, 2, 38  # linux/prctl.h, linux/seccomp.h
_LANDLOCK_CREATE, _LANDLOCK_RESTRICT, _SCOPE_SIGNAL = 444, 446, 2  # asm-generic/unistd.h, linux/landlock.h
_X86_64, _I386, _AARCH64, _ARM = 0xC000003E, 0x40000003, 0xC00000B7, 0x40000028  # linux/audit.h
_KILL = {
    "x86_64": {_X86_64: 62, _I386: 37},
    "i686": {_I386: 37},
    "aarch64": {_AARCH64: 129, _ARM: 37},
    "armv7l": {_ARM: 37},
    "riscv64": {0xC00000F3: 129},
    "loongarch64": {0xC0000102: 129},
    "ppc64le": {0xC0000015: 37},
    "s390x": {0x80000016: 37},
}
"""The number of ``kill`` by machine, and by the instruction set of the calling program."""
MOST_PROCESSES = 500
"""The processes that a target may have at once, dead ones that it has not waited for included."""
_RARELY = 2.0  # seconds between two counts if the kernel does not tell the number of the youngest process
_LOOK = 100  # milliseconds between two looks at how many there are
_PATIENCE = 5.0  # seconds for killed processes to be gone
_PLAIN_ENDINGS = {signal.SIGCHLD, signal.SIGKILL, signal.SIGSTOP}  # cannot be ignored, or must not


def main() -> NoReturn:
    """Run the command line."""
    lifeline, report, memory = map(int, sys.argv[1:4])
    os.set_inheritable(lifeline, False)  # noqa: FBT003 (its only value)
    os.set_inheritable(report, False)  # noqa: FBT003
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # for the target, and for ending like the target
    for number in signal.valid_signals() - _PLAIN_ENDINGS:
        if number < signal.SIGRTMIN:
            signal.signal(number, signal.SIG_IGN)  # a target may send its parent any signal
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    try:
        if _enter_namespace():
            os.write(report, f"{PID_NAMESPACE}\n".encode())
            status = _in_namespace(sys.argv[5:], memory, lifeline, report)
        else:
            _libc().prctl(_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
            os.write(report, f"{PROCESS_TREE}\n".encode())
            status = _in_tree(sys.argv[5:], memory, lifeline, report)
    except OSError as error:  # no more processes or pipes
        os.write(report, f"{error.errno}\n".encode())
        os._exit(1)
    _end_as(status)


def _libc() -> Any:
    import ctypes

    return ctypes.CDLL(None, use_errno=True)


# -- a PID namespace


def _enter_namespace() -> bool:
    """Put future children of this process into a new PID namespace; return True on success."""
    libc = _libc()
    if libc.unshare(_OF_ITS_OWN) == 0:
        return True
    probe = os.fork()  # a process in a user namespace without a name there cannot go back
    if probe == 0:
        os._exit(0 if _enter_user_namespace() else 1)
    return os.waitpid(probe, 0)[1] == 0 and _enter_user_namespace()


def _enter_user_namespace() -> bool:
    """The same without privileges: in a user namespace with only this user, under the same id."""
    user, group = os.geteuid(), os.getegid()
    if _libc().unshare(_NEWUSER | _OF_ITS_OWN) != 0:
        return False
    return (
        _write("/proc/self/setgroups", "deny")
        and _write("/proc/self/uid_map", f"{user} {user} 1")
        and _write("/proc/self/gid_map", f"{group} {group} 1")
    )


def _in_namespace(command: list[str], memory: int, lifeline: int, report: int) -> int:
    """The wait status of the command, once its namespace is empty."""
    ended, ending = os.pipe()
    is_too_large = _census(_proc())
    supervisor, init = os.getpid(), os.fork()
    if init == 0:
        os.close(ended)
        os.close(lifeline)
        _be_init(command, supervisor, memory, report, ending)
    os.close(ending)
    _let_go_of_streams(report)
    poll = select.poll()
    poll.register(lifeline, 0)  # only for its end
    poll.register(ended, select.POLLIN)
    while not (ready := dict(poll.poll(_LOOK))) and not is_too_large():
        pass
    if ended not in ready:
        os.kill(init, signal.SIGKILL)
    _, status_of_init = os.waitpid(init, 0)  # the kernel delays this until the namespace is empty
    status = os.read(ended, 8)
    return int(status) if status else status_of_init


def _be_init(command: list[str], supervisor: int, memory: int, report: int, ending: int) -> NoReturn:
    """Process 1: start the command, reap orphans, report the command's end, and end with all other processes."""
    libc = _libc()
    libc.prctl(_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    poll = select.poll()
    poll.register(ending, 0)
    if poll.poll(0):  # the supervisor has already ended
        os._exit(1)
    libc.mount(None, b"/", None, _REC | _SLAVE, None)
    libc.mount(b"proc", b"/proc", b"proc", _NOSUID | _NODEV | _NOEXEC, None)  # if denied, /proc has other numbers
    _write("/proc/sys/kernel/ns_last_pid", str(supervisor))  # targets share folders, and many name files by process id
    target = _start(command, memory, report)
    _let_go_of_streams(report)
    while True:
        pid, status = os.wait()
        if pid == target:
            os.write(ending, str(status).encode())
            os._exit(0)


# -- without one


def _in_tree(command: list[str], memory: int, lifeline: int, report: int) -> int:
    """The wait status of the command, once none of its processes is left."""
    woken, waking = os.pipe()
    os.set_blocking(waking, False)
    signal.signal(signal.SIGCHLD, _wake)
    signal.set_wakeup_fd(waking, warn_on_full_buffer=False)
    proc = _proc()
    is_too_large = _census(proc)
    target = _start(command, memory, report, confine=True)
    _let_go_of_streams(report)
    poll = select.poll()
    poll.register(lifeline, 0)
    poll.register(woken, select.POLLIN)
    status: int | None = None
    while status is None:
        ready = dict(poll.poll(_LOOK))
        if lifeline in ready or is_too_large():
            status = signal.SIGKILL
        elif woken in ready:
            os.read(woken, 4096)
        status = _buried().get(target, status)
    deadline = time.monotonic() + _PATIENCE
    while _has_children() and time.monotonic() < deadline:
        for pid in _descendants(os.getpid(), proc):
            try:
                os.kill(pid, signal.SIGKILL)
            except OSError:  # it is gone, or belongs to another user now
                continue
        time.sleep(0.001)
        status = _buried().get(target, status)
    return status


def _wake(_number: int, _frame: object) -> None:
    """A signal handler that does nothing: with a handler, a signal ends a poll."""


def _buried() -> dict[int, int]:
    """Reap the ended children; return them with their status."""
    found: dict[int, int] = {}
    try:
        while (ended := os.waitpid(-1, os.WNOHANG))[0]:
            found.update((ended,))
    except ChildProcessError:
        pass
    return found


def _has_children() -> bool:
    try:
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return False
    return True


def _descendants(ancestor: int, proc: int) -> list[int]:
    """The descendants of a process; ``proc``: a descriptor of ``/proc``."""
    children: dict[int, list[int]] = {}
    for name in filter(str.isdecimal, os.listdir(proc)):
        try:
            with open(os.open(f"{name}/stat", os.O_RDONLY, dir_fd=proc), "rb") as file:  # noqa: PTH123
                parent = int(file.read().rpartition(b")")[2].split()[1])  # a name may contain spaces and brackets
        except (OSError, ValueError, IndexError):
            continue
        children.setdefault(parent, []).append(int(name))
    found, waiting = list[int](), [ancestor]
    while waiting:
        found += (young := children.pop(waiting.pop(), []))
        waiting += young
    return found


def _keeps_signals_in() -> bool:
    """Keep this process and its descendants from ending foreign processes; return True on success."""
    if _libc().prctl(_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0:  # a restricted process must not gain rights by exec
        return False
    return _enter_landlock() or _deny_kill_all()


def _enter_landlock() -> bool:
    """Confine signals to processes that start from here on."""
    libc, rules = _libc(), (0).to_bytes(16, sys.byteorder) + _SCOPE_SIGNAL.to_bytes(8, sys.byteorder)
    ruleset = libc.syscall(_LANDLOCK_CREATE, rules, len(rules), 0)
    if ruleset < 0:
        return False
    confined = bool(libc.syscall(_LANDLOCK_RESTRICT, ruleset, 0) == 0)
    os.close(ruleset)
    return confined


def _deny_kill_all() -> bool:
    """Make ``kill(-1, ...)`` fail with ``EPERM``."""
    import ctypes
    import struct

    kills = _KILL.get(os.uname().machine)
    if kills is None:
        return False
    instructions = b"".join(_filter(kills))
    there = ctypes.create_string_buffer(instructions)
    program = struct.pack("@HP", len(instructions) // 8, ctypes.addressof(there))  # struct sock_fprog
    return bool(_libc().prctl(_SET_SECCOMP, _SECCOMP_FILTER, program, 0, 0) == 0)


def _filter(kills: dict[int, int]) -> Iterator[bytes]:
    """Instructions of a classic BPF program over ``struct seccomp_data``: load, jump if equal, return."""

    def instruction(code: int, value: int, then: int = 0, otherwise: int = 0) -> bytes:
        head = code.to_bytes(2, sys.byteorder) + bytes((then, otherwise))
        return head + value.to_bytes(4, sys.byteorder)

    load, equal, leave = 0x20, 0x15, 0x06
    number, machine, first = 0, 4, 16 if sys.byteorder == "little" else 20  # the lower half of the first argument
    yield instruction(load, machine)
    for left, (architecture, kill) in zip(range(len(kills) - 1, -1, -1), kills.items(), strict=True):
        behind = 5 * left  # instructions of the other architectures
        yield instruction(equal, architecture, 0, 4)
        yield instruction(load, number)
        yield instruction(equal, kill, 0, 2 + behind)
        yield instruction(load, first)
        yield instruction(equal, 0xFFFFFFFF, 1 + behind, behind)
    yield instruction(leave, 0x7FFF0000)
    yield instruction(leave, 0x00050000 | errno.EPERM)


# -- both


def _proc() -> int:
    """A descriptor of ``/proc``, where init mounts another one."""
    return os.open("/proc", os.O_RDONLY | os.O_DIRECTORY)


def _census(proc: int) -> Callable[[], bool]:
    """A function that returns True if the target has too many processes; its stderr then says so.

    It counts only if that many may have started since it last counted: looking through ``/proc`` takes long. ``proc``
    is a descriptor of ``/proc``.
    """
    stderr, youngest, counted = os.dup(2), 0, 0.0

    def is_too_large() -> bool:
        nonlocal youngest, counted
        try:
            with open(os.open("loadavg", os.O_RDONLY, dir_fd=proc), "rb") as file:  # noqa: PTH123
                last = int(file.read().split()[-1])  # the number of the youngest process
        except (OSError, ValueError, IndexError):
            last = 0
        now = time.monotonic()
        if 0 <= last - youngest < MOST_PROCESSES // 4 and (last or now - counted < _RARELY):
            return False
        youngest, counted = last, now
        if len(_descendants(os.getpid(), proc)) <= MOST_PROCESSES:
            return False
        try:
            os.write(stderr, f"it had more than {MOST_PROCESSES} processes at once; overlong ended it\n".encode())
        except OSError:  # nobody reads it any more
            return True
        return True

    return is_too_large


def _start(command: list[str], memory: int, report: int, *, confine: bool = False) -> int:
    """Start the command as if there were no supervisor, and return its process id.

    ``confine``: keep its signals from all other processes.
    """
    supervisor = os.getpid()
    if (pid := os.fork()) != 0:
        return pid
    try:
        os.setsid()  # signals to its process group reach no other process
        _libc().prctl(_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        if os.getppid() != supervisor:
            os._exit(1)
        _write("/proc/self/oom_score_adj", "1000")  # if memory is short, the kernel should end this process
        for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:
            signal.signal(number, signal.SIG_DFL)
        if memory:
            hard = resource.getrlimit(resource.RLIMIT_DATA)[1]
            limit = memory if hard == resource.RLIM_INFINITY else min(memory, hard)
            resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
        if confine and not _keeps_signals_in():
            raise OSError(errno.EOPNOTSUPP, "")
        os.execvpe(command[0], command, _environment())  # noqa: S606 (a command has no shell)
    except OSError as error:
        os.write(report, f"{error.errno}\n".encode())
    finally:
        os._exit(127)


def _environment() -> dict[bytes, bytes]:
    """The harness's environment, without a locale that this interpreter may have added (PEP 538)."""
    with open("/proc/self/environ", "rb") as file:  # noqa: PTH123
        pairs = (entry.partition(b"=") for entry in file.read().split(b"\0") if entry)
        return {name: value for name, _, value in pairs}


def _write(path: str, text: str) -> bool:
    """Write to a file of the kernel; return True on success."""
    try:
        with open(path, "w", encoding="ascii") as file:  # noqa: PTH123 (pathlib takes long to import)
            file.write(text)
    except OSError:
        return False
    return True


def _let_go_of_streams(report: int) -> None:
    """Close our copies of the target's pipes, so that these end when the target closes them."""
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nothing, stream)
    os.close(nothing)
    os.close(report)


def _end_as(status: int) -> NoReturn:
    code = os.waitstatus_to_exitcode(status)
    if code < 0:
        if -code != signal.SIGKILL:
            signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    os._exit(code if code >= 0 else 128 - code)


if __name__ == "__main__":
    main()
