"""Files and folders that no dead run and no other process spoils.

A file appears under its name only when completely written, even with several writers. The process that makes a
temporary folder locks it until it ends, however it ends; its forked children share the lock. So a folder without a lock
belongs to a dead run, and the next run removes it.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import shutil
import stat
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, TextIO

if TYPE_CHECKING:
    from collections.abc import Generator


FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG} if sys.platform != "win32" else {errno.ENOSPC})
"""Errors of a write; they do not name the file."""
_STREAMS = ("/dev/std", "/dev/fd/", "/proc/")
"""How paths of open streams begin, which may be regular files."""


@contextlib.contextmanager
def written_whole(path: Path, *, encoding: str = "ascii") -> Generator[TextIO]:
    """A text file that appears under its name only when completely written; until then ``.part`` follows its name.

    A killed process leaves that part behind, as a trace of its output; the next writer takes the file over.

    Raises:
        OSError: the file cannot be written, or another process is writing it; then no part of it exists.
    """
    unfinished = path.with_name(path.name + ".part")
    try:
        with os.fdopen(_opened(unfinished, path), "w", encoding=encoding, newline="\n") as file:
            try:
                yield file
                file.flush()
                if sys.platform == "win32":  # Windows cannot rename open files
                    file.close()
                unfinished.replace(path)
            except BaseException:
                unfinished.unlink(missing_ok=True)
                raise
    except OSError as error:
        if error.filename == str(unfinished) or (error.errno in FULL and error.filename is None):
            error.filename = str(path)
        raise


def is_direct(path: Path) -> bool:
    """True if a user's path names what a new file must not replace: a pipe, a device, or a stream of this process."""
    return path.exists() and (not path.is_file() or str(path).startswith(_STREAMS))


@contextlib.contextmanager
def written_to(path: Path, *, encoding: str = "ascii") -> Generator[TextIO]:
    """A text file at the path that a user named: the file that a link leads to, whole; a pipe or a device, directly.

    Raises:
        OSError: as :func:`written_whole`.
    """
    if not is_direct(path):
        with written_whole(Path(os.path.realpath(path)) if path.is_symlink() else path, encoding=encoding) as file:
            yield file
        return
    try:
        with path.open("a", encoding=encoding, newline="\n") as file:
            yield file
    except OSError as error:
        error.filename = error.filename or str(path)
        raise


class NotSaved(OSError):
    """Results were measured, but cannot be saved."""

    def __init__(self, error: OSError, results: Any) -> None:
        super().__init__(error.errno, error.strerror, error.filename)
        self.results = results


@contextlib.contextmanager
def saving(results: Any) -> Generator[None]:
    """A context in which results are saved.

    Raises:
        NotSaved: an error of the system; it carries the results, so that they can be shown.
    """
    try:
        yield
    except OSError as error:
        raise NotSaved(error, results) from error


def _opened(unfinished: Path, path: Path) -> int:
    """Open an empty file, which no other process writes to until it is closed; links are not followed.

    Raises:
        OSError: the file cannot be opened.
    """
    while True:
        descriptor = os.open(unfinished, os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o666)
        try:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise FileExistsError(errno.EEXIST, "not a regular file", str(unfinished))
            _lock(descriptor, path)
            if _is_still(descriptor, unfinished):
                os.ftruncate(descriptor, 0)
                return descriptor
        except BaseException:
            os.close(descriptor)
            raise
        os.close(descriptor)  # another process was faster, and has renamed or removed it


def _lock(descriptor: int, path: Path, busy: str = "another process is writing it just now") -> None:
    if sys.platform != "win32":
        import fcntl

        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise OSError(errno.EBUSY, busy, str(path)) from None
        except OSError:  # a file system without locks
            return


@contextlib.contextmanager
def alone_in(folder: Path) -> Generator[None]:
    """In this context, no other process gets to this context for the same folder. The end of a process ends it, too.

    Raises:
        OSError: another process is there, or the folder cannot be opened.
    """
    if sys.platform == "win32":  # it has no locks of folders
        yield
        return
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        _lock(descriptor, folder, "another run is writing its results there")
        yield
    finally:
        os.close(descriptor)


def _is_still(descriptor: int, unfinished: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(descriptor), unfinished.lstat())
    except FileNotFoundError:
        return False


def usable(folder: Path) -> None:
    """Check that a folder could be made and written to.

    Raises:
        OSError: the folder could not.
    """
    nearest = next((each for each in (folder, *folder.absolute().parents) if each.exists()), folder)
    if not nearest.is_dir():
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(folder))
    if not os.access(nearest, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(folder))


def make_folder(folder: Path) -> None:
    """Make a folder for results, which version control ignores.

    Raises:
        OSError: the folder cannot be made.
    """
    if not folder.is_dir():
        folder.mkdir(parents=True)
        with written_whole(folder / ".gitignore") as file:
            file.write("*\n")


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
