"""A folder of inputs, laid out as libFuzzer does: each file is named by the SHA-1 of its octets.

A file that does not belong there is refused and reported. Links in it are never followed, and it is never read whole.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import re
import stat
import uuid
from typing import TYPE_CHECKING

from overlong.conformance.support.printable import printable, thousands
from overlong.reference.automaton import in_shortlex

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Iterator, Sequence
    from io import FileIO
    from pathlib import Path


class CampaignError(Exception):
    """A folder cannot be used, or not for this campaign. The message is one line with the folder and the remedy."""


FOLDER, SEEDS = "corpus", "seeds"
"""The names of the corpus in a campaign's folder, and of the inputs that it began with."""
LONGEST = 1 << 20
"""The most octets of an input; larger files are refused."""
MOST_SEEDS = 1 << 24
"""The most octets of all seeds of a campaign, since every process keeps them."""
MOST_IN_NUMBER = 1 << 16
"""The most seeds of a campaign; each is a file of its corpus."""
_BLOCK = 1 << 16
"""Octets of one read, all of which Python allocates even for a small file. A mebioctet for each of many small files
would
need too many memory mappings: Linux allows a process 65,530."""
_DEEPEST = 16  # folders within folders
_TOLD = 20  # refused files that a message names
_NAME = re.compile(r"[0-9a-f]{40}")
_NO_FOLLOW = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0)


def within(folder: Path, name: str) -> Path:
    """A folder of a campaign's folder, which may be a stranger's: a link could lead anywhere.

    Raises:
        CampaignError: it is a link.
    """
    path = folder / name
    if path.is_symlink():
        raise CampaignError(f"{printable(str(path))}: a symbolic link, which may lead out of the campaign; remove it")
    return path


def name_of(octets: bytes) -> str:
    """The name of an input's file."""
    return hashlib.sha1(octets, usedforsecurity=False).hexdigest()


class Corpus:
    """A corpus in a folder, which need not exist before the first addition."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._names: set[str] | None = None

    @property
    def names(self) -> set[str]:
        """The names of all inputs at the first call, and those added since.

        Raises:
            CampaignError: the folder cannot be read.
        """
        if self._names is None:
            with errors_of(self.folder):
                try:
                    self._names = {name for name in os.listdir(self.folder) if _NAME.fullmatch(name)}  # noqa: PTH208
                except FileNotFoundError:
                    self._names = set()
        return self._names

    def __len__(self) -> int:
        return len(self.names)

    def add(self, octets: bytes) -> bool:
        """Add an input. True if it is new. Its file appears whole or not at all.

        Raises:
            CampaignError: it cannot be written.
        """
        name = name_of(octets)
        if name in self.names:
            return False
        with errors_of(self.folder):
            self.folder.mkdir(parents=True, exist_ok=True)
            written_at_once(self.folder / name, octets)
        self.names.add(name)
        return True

    def inputs(self) -> Iterator[bytes]:
        """The inputs, by name. Other files are not read.

        Raises:
            CampaignError: the folder cannot be read.
        """
        for name in sorted(self.names):
            with contextlib.suppress(CampaignError):
                yield read_input(self.folder / name)


def seeds_of(inputs: Iterable[bytes], notes: list[str]) -> tuple[bytes, ...]:
    """The seeds of a campaign: each input once, least first, up to the limits; ``notes`` reports those left out.

    The order and the choice depend only on the set of inputs. Memory holds at most twice the result.
    """
    read, kept, octets, cut = 0, set[bytes](), 0, False
    for each in inputs:
        read += 1
        if each not in kept:
            kept.add(each)
            octets += len(each)
        if octets > 2 * MOST_SEEDS or len(kept) > 2 * MOST_IN_NUMBER:
            kept, cut = set(_least(kept)), True  # the inputs after these would not fit beside any others either
            octets = sum(map(len, kept))
    seeds = _least(kept)
    if cut or len(seeds) < len(kept):
        notes.append(
            f"of {thousands(read)} inputs the {thousands(len(seeds))} least are seeds: a campaign takes "
            f"{thousands(MOST_IN_NUMBER)}, of {thousands(MOST_SEEDS)} octets in all; "
            "the merge of another fuzzer, such as libFuzzer's -merge=1, chooses those that reach something new"
        )
    return tuple(seeds)


def _least(inputs: set[bytes]) -> list[bytes]:
    """The least inputs, up to the limits for seeds."""
    seeds, octets = list[bytes](), 0
    for each in in_shortlex(inputs)[:MOST_IN_NUMBER]:
        if (octets := octets + len(each)) > MOST_SEEDS:
            break
        seeds.append(each)
    return seeds


def files_in(source: Path, refused: list[str]) -> Iterator[bytes]:
    """The octets of a file, or of the files in a folder and in its folders, in no order.

    Args:
        source: the file or folder; a symbolic link is followed here, because the user named it, and nowhere else.
        refused: gets a line for each refused file, sorted at the end.

    Raises:
        CampaignError: there is nothing of that name, or it cannot be read.
    """
    named = printable(str(source))
    try:
        mode = source.stat().st_mode
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or "it is no path"
        raise CampaignError(f"{named}: {why}; name a file or a folder of inputs") from error
    if not stat.S_ISDIR(mode):
        try:
            yield read_input(source.resolve())
        except CampaignError as error:
            raise CampaignError(f"{named}: {error}; name a file or a folder of inputs") from error
        return
    before = len(refused)
    yield from _walked(source, refused, _DEEPEST)
    refused[before:] = sorted(refused[before:])


def _walked(folder: Path, refused: list[str], depth: int) -> Iterator[bytes]:
    """The inputs in the system's order, so that memory need not hold a million names."""
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                path = folder / entry.name
                try:
                    if not entry.is_dir(follow_symlinks=False):
                        yield read_input(path)
                    elif depth:
                        yield from _walked(path, refused, depth - 1)
                    else:
                        raise CampaignError("folders are nested too deeply")
                except CampaignError as error:
                    refused.append(f"{printable(str(path))}: {error}")
    except OSError as error:
        refused.append(f"{printable(str(folder))}: {error.strerror}")


_KINDS = (
    (stat.S_ISLNK, "a symbolic link"),
    (stat.S_ISFIFO, "a FIFO"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
    (stat.S_ISDIR, "a folder"),
)


def read_input(path: Path) -> bytes:
    """The octets of a file that is not a link.

    Raises:
        CampaignError: it is no regular file, too large, not readable, or has the name of other octets.
    """
    try:
        _check(path.lstat())  # before opening, which may act on a device
        with open(os.open(path, os.O_RDONLY | _NO_FOLLOW), "rb", buffering=0) as file:  # noqa: PTH123 (with flags)
            _check(os.fstat(file.fileno()))  # the path may name another file by now
            octets = _read(file)
    except OSError as error:
        why = "a symbolic link" if error.errno == errno.ELOOP else error.strerror or "it cannot be read"
        raise CampaignError(why) from error
    if len(octets) > LONGEST:
        raise CampaignError(_TOO_LARGE)
    if _NAME.fullmatch(path.name) and path.name != name_of(octets):
        raise CampaignError("its name is the SHA-1 of other octets: it is damaged")
    return octets


def _read(file: FileIO) -> bytes:
    """All octets of a file; of a file larger than any input, only slightly more than the limit."""
    blocks, octets = list[bytes](), 0
    while octets <= LONGEST and (block := file.read(_BLOCK)):
        blocks.append(block)
        octets += len(block)
    return b"".join(blocks)


_TOO_LARGE = f"larger than {LONGEST >> 20} MiB"


def _check(status: os.stat_result) -> None:
    for is_such, what in _KINDS:
        if is_such(status.st_mode):
            raise CampaignError(what)
    if not stat.S_ISREG(status.st_mode):
        raise CampaignError("no regular file")
    if status.st_size > LONGEST:
        raise CampaignError(_TOO_LARGE)


def written_at_once(path: Path, octets: bytes) -> None:
    """Write a file that appears under its name only when it is complete; several processes may write the same one.

    Raises:
        OSError: the file cannot be written; then no part of it is left.
    """
    unfinished = path.with_name(f".{path.name}.{uuid.uuid4().hex}.part")
    try:
        with open(os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666), "wb") as file:  # noqa: PTH123
            file.write(octets)
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)


def told(refused: Sequence[str]) -> list[str]:
    """A short report of refused files: the first ones, and the number of the others."""
    more = len(refused) - _TOLD
    return [*refused[:_TOLD], *([f"{thousands(more)} more files"] if more > 0 else [])]


@contextlib.contextmanager
def errors_of(path: Path, remedy: str = "choose another folder", then: str = "") -> Generator[None]:
    """Report an error of a file or folder on one line, with the remedy, and what to do then."""
    try:
        yield
    except OSError as error:
        why = error.strerror or printable(str(error))
        if error.errno == errno.ENOSPC:
            remedy, then = "make room", then or "try again"
        raise CampaignError(f"{printable(str(path))}: {why}; {remedy}{then and f', and {then}'}") from error
