"""The command line's front door: ``overlong`` and ``python -m overlong``.

The one module that may see every layer. Verbs are imported when they are called.
"""

# Not even __future__ is imported before this: python -m has put the current folder in front of the standard library
import os
import sys


def _leave_out_current_folder() -> None:
    """Take the current folder off the path, unless the user has put it there in words.

    Python has put it there, for ``-m``, or for an empty entry of ``PYTHONPATH``. If this very file lies there, it
    comes last.
    """
    try:
        here = os.path.realpath(os.getcwd())
    except OSError:  # it is gone, and with it what could be imported from it
        return

    def is_here(entry: str) -> bool:
        return os.path.realpath(entry) == here

    if sys.path and not sys.flags.safe_path and is_here(sys.path[0]):
        del sys.path[0]
    given = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    if "" in given and not any(is_here(entry) for entry in given if entry):
        sys.path[:] = [entry for entry in sys.path if not is_here(entry)]
    own = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    if is_here(own) and own not in sys.path:
        sys.path.append(own)


_leave_out_current_folder()

import importlib

import click

from overlong.conformance.support.interruption import listen
from overlong.conformance.support.standard_streams import StandardStreams

VERBS = {
    "certify": "overlong.conformance.cli.certify",
    "identify": "overlong.conformance.cli.identify",
    "matrix": "overlong.conformance.cli.matrix",
    "survey": "overlong.conformance.cli.survey",
    "diff": "overlong.conformance.cli.diff",
    "sweep": "overlong.conformance.cli.sweep",
    "report": "overlong.conformance.cli.report",
    "verify": "overlong.conformance.cli.verify",
    "fuzz": "overlong.fuzz.cli.fuzz",
    "finding": "overlong.fuzz.cli.finding",
    "corpus": "overlong.fuzz.cli.corpus",
    "replay": "overlong.conformance.cli.replay",
    "explain": "overlong.fuzz.cli.explain",  # that of the conformance layer, and findings of campaigns
    "vectors": "overlong.conformance.cli.vectors",
    "score": "overlong.conformance.cli.score",
    "target": "overlong.conformance.cli.target",
    "schema": "overlong.conformance.cli.schema",
    "docs": "overlong.conformance.cli.docs",
    "self-test": "overlong.conformance.cli.self_test",
    "completion": "overlong.conformance.cli.completion",
}

TRACEBACK = "OVERLONG_TRACEBACK"
"""The variable that has internal errors printed whole."""

EXAMPLES = """\b
Examples:
  overlong certify cpython            certify a decoder that is at hand
  overlong certify py:pkg.mod:decode  certify your own
  overlong verify certificate.json    is a certificate true?
  overlong fuzz cpython --time 10m    look for what no suite covers
  overlong explain E0 80 AF           walk octets through the automaton
  overlong explain OV201              read what a code means
  overlong vectors export --format c-header -o vectors.h
                                      take vectors home
  overlong score mine.txt             how good is a list of test strings?
"""


class LazyGroup(click.Group):
    """A group whose commands live in modules of their own."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        return list(VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        if cmd_name not in VERBS:
            return None
        command = importlib.import_module(VERBS[cmd_name]).command
        assert isinstance(command, click.Command)
        return command

    def invoke(self, ctx: click.Context) -> object:
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:  # while a command's modules are read, or in one that has nothing to keep
            click.echo("overlong: interrupted before anything was measured; nothing was written", err=True)
            ctx.exit(4)  # incomplete; click would say 1, which is that of a decoder that diverges
        except (click.ClickException, click.exceptions.Exit, click.Abort):
            raise
        except Exception as error:  # noqa: BLE001 (a mistake of ours must not end with 1 either)
            click.echo(f"overlong: {_internal(error)}", err=True)
            ctx.exit(4)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in VERBS and not args[0].startswith("-"):
            from overlong.conformance.support.near import did_you_mean

            ctx.fail(f"no command {args[0]!r}; {did_you_mean(args[0], VERBS)}")
        return super().resolve_command(ctx, args)


def _internal(error: Exception) -> str:
    """What is said of an error that no verb expects: one line, or all of it if the user wants to report it."""
    import traceback

    from overlong.conformance.support.printable import printable

    if os.environ.get(TRACEBACK):
        return "internal error:\n" + "".join(traceback.format_exception(error)).rstrip()
    last = traceback.extract_tb(error.__traceback__)[-1]
    what = "".join(traceback.format_exception_only(error)).strip()
    if isinstance(error, ImportError) and error.name in sys.stdlib_module_names:
        return (
            f"this Python lacks a module of its standard library: {printable(what)}; install the library that this "
            "module needs and build Python again, or use another Python"
        )
    return (
        f"internal error: {printable(what)} ({printable(os.path.basename(last.filename))}:{last.lineno}); "
        f"the run is incomplete: set {TRACEBACK}=1, run it again, and report what it prints"
    )


@click.group(cls=LazyGroup, epilog=EXAMPLES, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="overlong")
def cli() -> None:
    """Certify UTF-8 decoders against the grammar of RFC 3629."""


def main() -> None:
    """Run the command line."""
    streams = StandardStreams()
    listen()
    try:
        # NO_COLOR is the user's word in any terminal; otherwise click looks whether there is one
        cli(prog_name="overlong", color=False if os.environ.get("NO_COLOR") else None)
    except SystemExit as ended:
        sys.exit(streams.exit_code(int(ended.code or 0)))


if __name__ == "__main__":
    main()
