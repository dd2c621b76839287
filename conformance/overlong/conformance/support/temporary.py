"""Temporary folders, which the next run removes if their own process could not.

The process that makes a folder locks it until it ends, however it ends; its forked children share the lock. So a folder
without a lock belongs to a dead run.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import stat
import sys
import tempfile
from pathlib import Path
from typing import Self

_MARK = ".overlong-temporary"
"""A file in each such folder: one of the user's that merely has such a name is left alone."""
_NAME = re.compile(r"overlong-[a-z]+-[a-z0-9_]{8}")


class TemporaryFolder:
    """A new folder for the files of this process, readable by this user alone."""

    def __init__(self, purpose: str) -> None:
        """Make it, and remove those of dead runs.

        Args:
            purpose: a word of small letters, for the name.

        Raises:
            OSError: there is no place for it.
        """
        remove_dead()
        while True:
            self.path = Path(tempfile.mkdtemp(prefix=f"overlong-{purpose}-"))
            self._lock = _locked(self.path, wait=True)
            with contextlib.suppress(FileNotFoundError):  # another run has just taken it for a dead one's
                (self.path / _MARK).touch()
                return
            self._let_go()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Remove it, with all that is in it; never raises."""
        shutil.rmtree(self.path, ignore_errors=True)
        self._let_go()

    def _let_go(self) -> None:
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None


def remove_dead() -> None:
    """Remove the temporary folders of this user's dead runs; never raises."""
    if sys.platform == "win32":
        return
    with contextlib.suppress(OSError), os.scandir(tempfile.gettempdir()) as entries:
        for entry in entries:
            if _NAME.fullmatch(entry.name) and entry.is_dir(follow_symlinks=False):
                _remove_if_dead(Path(entry.path))


def _remove_if_dead(folder: Path) -> None:
    if sys.platform == "win32":
        return
    descriptor = _locked(folder, wait=False)
    if descriptor is None:
        return
    try:
        found = os.fstat(descriptor)
        if found.st_uid != os.geteuid() or stat.S_IMODE(found.st_mode) != stat.S_IRWXU:
            return
        within = os.listdir(descriptor)  # noqa: PTH208 (of the folder that is locked)
        if _MARK not in within:
            return
        with contextlib.suppress(FileNotFoundError):
            if os.path.samestat(found, folder.lstat()):
                for name in within:
                    if name != _MARK:  # the last to go: what cannot be removed now is found again
                        _remove(folder / name)
                shutil.rmtree(folder, ignore_errors=True)
    except OSError:
        return
    finally:
        os.close(descriptor)


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


def _locked(folder: Path, *, wait: bool) -> int | None:
    """A descriptor that keeps the folder locked; None if another process does, or nothing can be locked here."""
    if sys.platform == "win32":
        return None
    import fcntl

    try:
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except OSError:
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except OSError:
        os.close(descriptor)
        return None
    return descriptor
