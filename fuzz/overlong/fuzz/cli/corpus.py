"""``overlong corpus``: manage inputs worth keeping, in folders as libFuzzer uses them."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from overlong.conformance.cli.options import DIVERGES
from overlong.fuzz.cli.campaigns import campaign_errors

if TYPE_CHECKING:
    from collections.abc import Sequence

    from overlong.fuzz.campaign.corpus import Corpus

_FOLDER = click.argument("folder", type=click.Path(path_type=Path), metavar="FOLDER")
_SOURCES = click.argument("sources", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="SOURCE...")


@click.group("corpus")
def command() -> None:
    """Manage a corpus, a folder with a file for each input.

    The file's name is its SHA-1, as libFuzzer has it. FOLDER is that of a campaign or a corpus. The commands ignore
    files that are no inputs (links, FIFOs, more than 1 MiB, a name that is the SHA-1 of other octets), and name
    them on stderr.

    \b
    Examples:
      overlong corpus import campaign/ seeds/
      overlong corpus minimise campaign/
    """  # noqa: D301 (click reads the backspace)


@command.command("import")
@_FOLDER
@_SOURCES
def import_command(folder: Path, sources: tuple[Path, ...]) -> None:
    """Add every input of some files or folders.

    \b
    Examples:
      overlong corpus import campaign/ ~/simdutf/corpus seeds/one.txt

    \b
    Exit status:
      0  done
      2  a source is not there, or the corpus cannot be written
    """  # noqa: D301 (click reads the backspace)
    from overlong.fuzz.campaign.campaign import import_into
    from overlong.fuzz.campaign.store import DATABASE

    with campaign_errors():
        for source in sources:
            campaign = (folder / DATABASE).exists()
            done = import_into(folder, source) if campaign else _corpus(folder).import_from(source)
            _tell(f"{len(done.added)} added, {done.known} known", done.refused)


@command.command("export")
@_FOLDER
@click.argument("destination", type=click.Path(file_okay=False, path_type=Path), metavar="DESTINATION")
def export_command(folder: Path, destination: Path) -> None:
    """Write every input to another folder, for another fuzzer.

    FOLDER may hold files with any names.

    \b
    Examples:
      overlong corpus export campaign/ seeds/

    \b
    Exit status:
      0  done
      2  a folder cannot be read or written
    """  # noqa: D301 (click reads the backspace)
    with campaign_errors():
        done = _there(folder).export(destination)
        _tell(f"{len(done.added)} added, {done.known} known", done.refused)


@command.command("merge")
@_FOLDER
@_SOURCES
def merge_command(folder: Path, sources: tuple[Path, ...]) -> None:
    """Add only inputs that reach new edges of the reference.

    A new pair of edges counts, too.

    \b
    Examples:
      overlong corpus merge campaign/ ~/simdutf/corpus

    \b
    Exit status:
      0  done
      2  a source is not there, or the corpus cannot be written
    """  # noqa: D301 (click reads the backspace)
    from overlong.fuzz.campaign.corpus import merge
    from overlong.fuzz.generation.features import features_of

    with campaign_errors():
        done = merge(_corpus(folder).folder, sources, features_of)
        _tell(f"{len(done.added)} added", done.refused)


@command.command("minimise")
@_FOLDER
def minimise_command(folder: Path) -> None:
    """Remove inputs that reach nothing new beside the others.

    \b
    Examples:
      overlong corpus minimise campaign/

    \b
    Exit status:
      0  done
      2  the corpus cannot be read or written
    """  # noqa: D301 (click reads the backspace)
    from overlong.fuzz.campaign.corpus import minimise
    from overlong.fuzz.generation.features import features_of

    with campaign_errors():
        done = minimise(_there(folder), features_of)
        _tell(f"{len(done.added)} kept, {done.known} removed", done.refused)


@command.command("check")
@_FOLDER
def check_command(folder: Path) -> None:
    """Count the edges of the reference that the inputs reach.

    \b
    Examples:
      overlong corpus check campaign/

    \b
    Exit status:
      0  every file is an input
      1  a file is no input, or damaged
      2  there is no corpus
    """  # noqa: D301 (click reads the backspace)
    from overlong.fuzz.campaign.corpus import files_in
    from overlong.fuzz.generation.features import edges, features_of

    with campaign_errors():
        corpus, refused, number, octets, reached = _there(folder).folder, list[str](), 0, 0, frozenset[int]()
        for each in files_in(corpus, refused):
            number, octets, reached = number + 1, octets + len(each), reached | features_of(each)
        seen, everything = edges(reached)
        _tell(f"{number} inputs, {octets} octets, edges of the reference {seen} of {everything}", refused)
    sys.exit(DIVERGES if refused else 0)


def _corpus(folder: Path) -> Corpus:
    """The corpus of a campaign's folder, or the folder itself as a corpus."""
    from overlong.fuzz.campaign.corpus import FOLDER, Corpus, within
    from overlong.fuzz.campaign.store import DATABASE

    return Corpus(within(folder, FOLDER) if (folder / DATABASE).exists() else folder)


def _there(folder: Path) -> Corpus:
    """The corpus, which must exist.

    Raises:
        CampaignError: there is none.
    """
    from overlong.conformance.support.printable import printable
    from overlong.fuzz.campaign.status import CampaignError

    if not folder.is_dir():
        raise CampaignError(f"{printable(str(folder))}: no such folder; name that of a campaign or of a corpus")
    return _corpus(folder)


def _tell(text: str, refused: Sequence[str]) -> None:
    for line in refused:
        click.echo(f"overlong: left alone: {line}", err=True)
    click.echo(text + (f", {len(refused)} left alone" if refused else ""))
