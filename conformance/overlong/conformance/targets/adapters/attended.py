"""A worker that must clean up: a child process does the work, and its parent cleans up afterwards."""

from __future__ import annotations

import contextlib
import os
import shutil
import sys
import time
from typing import TYPE_CHECKING

from overlong.conformance.support.files import TemporaryFolder

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

if sys.platform == "win32":
    raise ImportError("what is attended is forked, which needs POSIX")

_TRIES = 50
_PAUSE = 0.02


class ChildFailed(Exception):
    """The attended program did not start, or has ended; the message is the worker's last line."""


@contextlib.contextmanager
def folder_for(program: str) -> Generator[str]:
    """A folder that is removed at the end. A failure meanwhile is printed and ends the worker."""
    temporary = TemporaryFolder(program)
    folder = str(temporary.path)
    try:
        yield folder
    except ChildFailed as error:
        sys.exit(str(error))
    finally:
        remove(folder)
        temporary.close()


def remove(folder: str) -> None:
    """Remove a folder. Dying processes may still write into it for a moment."""
    for _ in range(_TRIES):
        shutil.rmtree(folder, ignore_errors=True)
        if not os.path.exists(folder):  # noqa: PTH110 (a name is all there is)
            return
        time.sleep(_PAUSE)


def attended(work: Callable[[], None], clean: Callable[[], None]) -> None:
    """Do ``work`` in a child, then ``clean`` up, and end as the child did. Both processes are in one group."""
    child = os.fork()
    if child == 0:
        try:
            work()
        except BaseException as error:  # noqa: BLE001 (what the parent has to do must not be done here)
            os.write(2, f"{type(error).__name__}: {error}\n".encode("utf-8", "backslashreplace"))
            os._exit(1)
        os._exit(0)
    try:
        _, status = os.waitpid(child, 0)
    finally:
        clean()
    code = os.waitstatus_to_exitcode(status)
    if code < 0:
        os.kill(os.getpid(), -code)
    sys.exit(code)
