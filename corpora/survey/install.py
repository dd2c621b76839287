"""``install``: fetch and build what the decoders of the survey need."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import click

from overlong.conformance.cli.options import (
    CONFORMS,
    NOT_MEASURED,
    USAGE,
    all_decoders,
    complete_targets,
    errors_on_one_line,
    leave,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from overlong.conformance.targets.builtins import Builtin

jobs_option = click.option("-j", "--jobs", type=click.IntRange(1, 64), default=lambda: os.cpu_count() or 1,
                           show_default="cores", metavar="N", help="Number of decoders at a time.")  # fmt: skip
quiet_option = click.option("-q", "--quiet", is_flag=True, help="No progress.")

_LOCK_SECONDS = 600
"""The longest wait for another program that installs packages."""


@click.command("install")
@click.argument("targets", nargs=-1, shell_complete=complete_targets)
@click.option("--debian", is_flag=True, help="Also install missing Debian packages, with apt-get.")
@jobs_option
@quiet_option
def command(targets: tuple[str, ...], debian: bool, jobs: int, quiet: bool) -> None:  # noqa: FBT001
    """Fetch and build what the survey's decoders need.

    It lists what is missing. Without TARGETS, the command takes all. Packages come from the registries that the
    package managers are set up for.

    \b
    Examples:
      python corpora/survey install
      python corpora/survey install --debian npm-msgpackr yajl
    \b
    Exit status:
      0  all of them can be used here
      2  the command line is wrong
      3  some cannot be used here; the command names each and what it lacks
    """  # noqa: D301 (click reads the backspace)
    from concurrent.futures import ThreadPoolExecutor

    from overlong.conformance.oracle.target import TargetError
    from overlong.conformance.support.printable import printable

    chosen = chosen_of(targets)
    if debian:
        _install_debian(chosen)

    def made(decoder: Builtin) -> tuple[str, str]:
        why = decoder.missing()
        try:
            if not why:
                decoder.command()
        except TargetError as error:
            why = str(error)
        return decoder.name, why

    lacking = 0
    with ThreadPoolExecutor(jobs) as pool, errors_on_one_line():
        for name, why in pool.map(made, chosen):
            lacking += bool(why)
            if why or not quiet:
                click.echo(f"{'missing' if why else 'ready  '}  {name}{f': {printable(why, 300)}' if why else ''}")
    sys.exit(NOT_MEASURED if lacking else CONFORMS)


def _install_debian(chosen: Sequence[Builtin]) -> None:
    """Install missing Debian packages that records need; apt-get prints its own messages."""
    import shutil
    import subprocess

    from corpora.survey.records import installed, records

    if shutil.which("apt-get") is None:
        leave(
            "apt-get is not here; run 'python corpora/survey install' without --debian, and install what it names",
            USAGE,
        )
    needed = {name for each in chosen if each.name in records() for name in records()[each.name].needed}
    missing = sorted(needed - set(installed()))
    if missing:
        waiting = ["-o", f"DPkg::Lock::Timeout={_LOCK_SECONDS}"]
        subprocess.run(["apt-get", *waiting, "install", "-y", "--no-install-recommends", *missing], check=False)
        installed.cache_clear()


def chosen_of(targets: Sequence[str]) -> list[Builtin]:
    """The decoders of these names, or all."""
    from overlong.conformance.support.printable import did_you_mean

    known = all_decoders()
    for name in targets:
        if name not in known:
            raise click.UsageError(
                f"no decoder {name!r}; {did_you_mean(name, known, 'python corpora/survey target list')}"
            )
    return [known[name] for name in targets] if targets else list(known.values())
