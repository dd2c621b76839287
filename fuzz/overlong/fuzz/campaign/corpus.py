"""A folder of inputs, laid out as libFuzzer does: each file is named by the SHA-1 of its octets.

What does not belong there is refused by rule and reported: it is never followed, and never read whole.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import heapq
import os
import re
import stat
import uuid
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from overlong.conformance.support.printable import printable, thousands
from overlong.fuzz.campaign.status import CampaignError
from overlong.reference.theory import shortlex

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
    from io import FileIO
    from pathlib import Path

FOLDER = "corpus"
"""Its name in a campaign's folder."""
LONGEST = 1 << 20
"""Octets of an input; larger files are refused."""
MOST_SEEDS = 1 << 24
"""Octets that the seeds of a campaign have in all: every process keeps them."""
MOST_IN_NUMBER = 1 << 16
"""Seeds of a campaign: each is a file of its corpus."""
_BLOCK = 1 << 16
"""Octets that are read at a time. What is asked for is allocated, however little comes; a mebioctet for each of many
small files would be so many mappings of memory, of which Linux allows a process 65,530."""
_DEEPEST = 16  # folders within folders
_TOLD = 20  # files that are named
_NAME = re.compile(r"[0-9a-f]{40}")
_NO_FOLLOW = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0)


def name_of(octets: bytes) -> str:
    """The name of an input's file."""
    return hashlib.sha1(octets, usedforsecurity=False).hexdigest()


@dataclass
class Imported:
    """What came of reading files."""

    added: list[str] = field(default_factory=list[str])
    """Names of inputs that were not there before."""
    known: int = 0
    """Files whose octets were there already."""
    refused: list[str] = field(default_factory=list[str])
    """A line for each file that was not taken: its name, safe to show, and why."""


class Corpus:
    """A corpus in a folder, which need not be there before something is added."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._names: set[str] | None = None

    @property
    def names(self) -> set[str]:
        """The names of all its inputs, as they were when this was first asked, and those added since.

        Raises:
            CampaignError: the folder cannot be read.
        """
        if self._names is None:
            with _errors_of(self.folder):
                try:
                    self._names = {name for name in os.listdir(self.folder) if _NAME.fullmatch(name)}  # noqa: PTH208
                except FileNotFoundError:
                    self._names = set()
        return self._names

    def __len__(self) -> int:
        return len(self.names)

    def look_again(self) -> None:
        """Others write to the folder, too."""
        self._names = None

    def add(self, octets: bytes) -> bool:
        """Put an input into it; whether it is new. Its file is there wholly or not at all.

        Raises:
            CampaignError: it cannot be written.
        """
        name = name_of(octets)
        if name in self.names:
            return False
        with _errors_of(self.folder):
            self.folder.mkdir(parents=True, exist_ok=True)
            written_at_once(self.folder / name, octets)
        self.names.add(name)
        return True

    def inputs(self, refused: list[str] | None = None) -> Iterator[bytes]:
        """Its inputs, by name. What is no input of it is not read, and told in ``refused``.

        Raises:
            CampaignError: the folder cannot be read.
        """
        for name in sorted(self.names):
            try:
                yield read_input(self.folder / name)
            except RefusedInput as error:
                if refused is not None:
                    refused.append(f"{FOLDER}/{name}: {error}")

    def import_from(self, source: Path) -> Imported:
        """Add the octets of a file, or of all files in a folder and its folders, whatever their names.

        Raises:
            CampaignError: there is no such file; the corpus cannot be written.
        """
        result = Imported()
        for octets in files_in(source, result.refused):
            if self.add(octets):
                result.added.append(name_of(octets))
            else:
                result.known += 1
        return result

    def export(self, destination: Path) -> Imported:
        """Write its inputs to another folder, which may hold a corpus already.

        Raises:
            CampaignError: it cannot be written.
        """
        if destination.exists() and self.folder.exists() and destination.samefile(self.folder):
            raise CampaignError(f"{printable(str(destination))}: that is the corpus itself; name another folder")
        refused: list[str] = []
        return _added(Corpus(destination), self.inputs(refused), refused)

    def remove(self, names: Iterable[str]) -> None:
        """Take inputs out of it.

        Raises:
            CampaignError: it cannot be written.
        """
        with _errors_of(self.folder):
            for name in names:
                if _NAME.fullmatch(name):
                    (self.folder / name).unlink(missing_ok=True)
                    self.names.discard(name)


def _added(corpus: Corpus, inputs: Iterable[bytes], refused: list[str]) -> Imported:
    result = Imported(refused=refused)
    for octets in inputs:
        if corpus.add(octets):
            result.added.append(name_of(octets))
        else:
            result.known += 1
    return result


def merge(destination: Path, sources: Sequence[Path], features_of: Callable[[bytes], frozenset[int]]) -> Imported:
    """Add from folders what reaches features that the corpus there does not reach, and no more.

    Args:
        destination: a folder with a corpus, or none yet.
        sources: folders or files, with any names.
        features_of: the features that an input reaches.

    Raises:
        CampaignError: a source is not there, or the corpus cannot be written.
    """
    corpus, refused, reached = Corpus(destination), list[str](), frozenset[int]()
    for octets in corpus.inputs(refused):
        reached |= features_of(octets)
    candidates = (octets for source in sources for octets in files_in(source, refused))
    return _added(corpus, fewest(candidates, features_of, reached), refused)


def minimise(corpus: Corpus, features_of: Callable[[bytes], frozenset[int]]) -> Imported:
    """Leave as few inputs in it as reach the same features; ``added`` are those that stay.

    Raises:
        CampaignError: it cannot be read or written.
    """
    refused: list[str] = []
    kept = {name_of(octets) for octets in fewest(corpus.inputs(refused), features_of)}
    spoilt = {line.partition(":")[0].rpartition("/")[2] for line in refused}
    gone = corpus.names - kept - spoilt  # what could not be read is not ours to remove
    corpus.remove(gone)
    return Imported(sorted(kept), len(gone), refused)


def fewest(
    inputs: Iterable[bytes], features_of: Callable[[bytes], frozenset[int]], reached: frozenset[int] = frozenset()
) -> list[bytes]:
    """Few of the inputs that together reach all that all reach: the greedy cover, least inputs first.

    Of inputs that add equally much for their length the shortlex-least is taken; then what others reach is left out. Of
    those that reach the same only the least is kept in memory.

    Args:
        inputs: any, in any order; the result does not depend on it.
        features_of: the features that an input reaches.
        reached: features that need no input.
    """
    least: dict[frozenset[int], bytes] = {}
    for octets in inputs:
        found = features_of(octets) - reached
        known = least.get(found)
        if found and (known is None or shortlex(octets) < shortlex(known)):
            least[found] = octets
    features = {octets: found for found, octets in sorted(least.items(), key=lambda each: shortlex(each[1]))}
    chosen: list[bytes] = []
    missing = set[int]().union(*features.values())
    heap = [(-len(found), place, octets) for place, (octets, found) in enumerate(features.items())]
    heapq.heapify(heap)
    while missing:
        number, place, octets = heapq.heappop(heap)
        still = len(features[octets] & missing)
        if still == -number:  # what the others say of themselves is no less than it is by now
            chosen.append(octets)
            missing -= features[octets]
        elif still:
            heapq.heappush(heap, (-still, place, octets))
    times = Counter(feature for octets in chosen for feature in features[octets])
    for octets in sorted(chosen, key=shortlex, reverse=True):  # an early choice may have become needless
        if all(times[feature] > 1 for feature in features[octets]):
            chosen.remove(octets)
            times.subtract(features[octets])
    return sorted(chosen, key=shortlex)


def seeds_of(inputs: Iterable[bytes], notes: list[str]) -> tuple[bytes, ...]:
    """Inputs as a campaign takes them: each once, least first, as many as are not too many; ``notes`` says what is not.

    The order and the choice depend on the set of inputs alone. No more than twice what is taken is kept in memory.
    """
    read, kept, octets, cut = 0, set[bytes](), 0, False
    for each in inputs:
        read += 1
        if each not in kept:
            kept.add(each)
            octets += len(each)
        if octets > 2 * MOST_SEEDS or len(kept) > 2 * MOST_IN_NUMBER:
            kept, cut = set(_least(kept)), True  # what stands behind them would not fit beside any others either
            octets = sum(map(len, kept))
    seeds = _least(kept)
    if cut or len(seeds) < len(kept):
        notes.append(
            f"of {thousands(read)} inputs the {thousands(len(seeds))} least are seeds: a campaign takes "
            f"{thousands(MOST_IN_NUMBER)}, of {thousands(MOST_SEEDS)} octets in all; "
            "'overlong corpus merge' chooses those that reach something new"
        )
    return tuple(seeds)


def _least(inputs: set[bytes]) -> list[bytes]:
    """The least inputs, as many as seeds may be."""
    seeds, octets = list[bytes](), 0
    for each in sorted(inputs, key=shortlex)[:MOST_IN_NUMBER]:
        if (octets := octets + len(each)) > MOST_SEEDS:
            break
        seeds.append(each)
    return seeds


class RefusedInput(Exception):
    """A file is no input; the message says why."""


def files_in(source: Path, refused: list[str]) -> Iterator[bytes]:
    """The octets of a file, or of the files in a folder and in its folders, in no order.

    Args:
        source: the file or folder; a symbolic link is followed here, because the user named it, and nowhere else.
        refused: gets a line for each file that is not taken, in the end sorted.

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
        except RefusedInput as error:
            raise CampaignError(f"{named}: {error}; name a file or a folder of inputs") from error
        return
    before = len(refused)
    yield from _walked(source, refused, _DEEPEST)
    refused[before:] = sorted(refused[before:])


def _walked(folder: Path, refused: list[str], depth: int) -> Iterator[bytes]:
    """The inputs, in the order in which the system has them: a folder of a million names is not kept in memory."""
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
                        raise RefusedInput("folders are nested too deeply")
                except RefusedInput as error:
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
    """The octets of a file, which is no link.

    Raises:
        RefusedInput: it is no regular file, too large, not readable, or has the name of other octets.
    """
    try:
        _check(path.lstat())  # before it is opened: a device may do something then
        with open(os.open(path, os.O_RDONLY | _NO_FOLLOW), "rb", buffering=0) as file:  # noqa: PTH123 (with flags)
            _check(os.fstat(file.fileno()))  # it may be another one by now
            octets = _read(file)
    except OSError as error:
        why = "a symbolic link" if error.errno == errno.ELOOP else error.strerror or "it cannot be read"
        raise RefusedInput(why) from error
    if len(octets) > LONGEST:
        raise RefusedInput(_TOO_LARGE)
    if _NAME.fullmatch(path.name) and path.name != name_of(octets):
        raise RefusedInput("its name is the SHA-1 of other octets: it is damaged")
    return octets


def _read(file: FileIO) -> bytes:
    """All of a file, but of a larger one than any input only a little more than that."""
    blocks, octets = list[bytes](), 0
    while octets <= LONGEST and (block := file.read(_BLOCK)):
        blocks.append(block)
        octets += len(block)
    return b"".join(blocks)


_TOO_LARGE = f"larger than {LONGEST >> 20} MiB"


def _check(status: os.stat_result) -> None:
    for is_such, what in _KINDS:
        if is_such(status.st_mode):
            raise RefusedInput(what)
    if not stat.S_ISREG(status.st_mode):
        raise RefusedInput("no regular file")
    if status.st_size > LONGEST:
        raise RefusedInput(_TOO_LARGE)


def written_at_once(path: Path, octets: bytes) -> None:
    """A file that appears under its name only when all of it is written; several processes may write the same.

    Raises:
        OSError: it cannot be written; then there is nothing of it.
    """
    unfinished = path.with_name(f".{path.name}.{uuid.uuid4().hex}.part")
    try:
        with open(os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666), "wb") as file:  # noqa: PTH123
            file.write(octets)
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)


def told(refused: Sequence[str]) -> list[str]:
    """What is said of files that were not taken where they are not the subject: the first ones, and how many more."""
    more = len(refused) - _TOLD
    return [*refused[:_TOLD], *([f"{thousands(more)} more files"] if more > 0 else [])]


@contextlib.contextmanager
def _errors_of(folder: Path) -> Generator[None]:
    """What goes wrong with a folder, in one line."""
    try:
        yield
    except OSError as error:
        why = error.strerror or printable(str(error))
        remedy = "make room, and try again" if error.errno == errno.ENOSPC else "choose another folder"
        raise CampaignError(f"{printable(str(folder))}: {why}; {remedy}") from error
