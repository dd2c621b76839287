"""The group of all verbs. A verb's modules are imported when it is called."""

from __future__ import annotations

import importlib
import os
import sys
from typing import Any, NoReturn

import click

from overlong.conformance.cli.options import CONFORMS, DIVERGES, errors_on_one_line, scarce
from overlong.conformance.support.printable import did_you_mean, printable
from overlong.conformance.support.process import StandardStreams, held, no_more_interruptions

VERBS = {
    "certify": "overlong.conformance.cli.certify",
    "identify": "overlong.conformance.cli.identify",
    "matrix": "overlong.conformance.cli.matrix",
    "diff": "overlong.conformance.cli.report:diff_command",
    "sweep": "overlong.conformance.cli.sweep",
    "report": "overlong.conformance.cli.report",
    "verify": "overlong.conformance.cli.verify",
    "fuzz": "overlong.fuzz.command",
    "finding": "overlong.fuzz.finding",
    "replay": "overlong.conformance.cli.replay",
    "explain": "overlong.fuzz.finding:explain_command",  # that of the conformance layer, and findings of campaigns
    "vectors": "overlong.conformance.cli.vectors",
    "target": "overlong.conformance.cli.target",
    "docs": "overlong.conformance.cli.explain:docs_command",
}

SYNONYMS = {
    **dict.fromkeys(("check", "run", "test", "validate"), "certify TARGET"),
    "compare": "diff OLDER NEWER",
    **dict.fromkeys(("doctor", "self-test", "selftest"), "--self-test"),
    **dict.fromkeys(("completion", "completions"), "docs install"),
    **dict.fromkeys(("corpus", "seeds"), "fuzz TARGET --corpus=FOLDER"),
    **dict.fromkeys(("schema", "schemas"), "docs schema/NAME"),
    "score": "vectors score FILE",
    **dict.fromkeys(("export", "dump"), "vectors export"),
    **dict.fromkeys(("help", "man"), "--help"),
    **dict.fromkeys(("init", "new"), "target new LANG"),
    **dict.fromkeys(("list", "ls"), "target list"),
    **dict.fromkeys(("plans", "suites", "tiers"), "docs suites"),
    "version": "--version",
}
"""Words that other programs have for what a command line here does."""

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
  overlong vectors score mine.txt     how good is a list of test strings?
"""


class LazyGroup(click.Group):
    """A group whose commands live in modules of their own."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        return list(VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        if cmd_name not in VERBS:
            return None
        with held():  # an exception in the middle of an import may get lost, and the signal with it
            module, _, name = VERBS[cmd_name].partition(":")
            command = getattr(importlib.import_module(module), name or "command")
        assert isinstance(command, click.Command)
        return command

    def make_context(self, *args: Any, **extra: Any) -> click.Context:
        try:
            with held():
                return super().make_context(*args, **extra)
        except KeyboardInterrupt:  # click would say 1
            _interrupted()

    def invoke(self, ctx: click.Context) -> object:
        try:
            return _self_test() if ctx.params["self_test"] else super().invoke(ctx)
        except KeyboardInterrupt:  # while a command's modules are read, or in one that has nothing to keep
            _interrupted()  # incomplete; click would say 1, which is that of a decoder that diverges
        except (click.ClickException, click.exceptions.Exit, click.Abort):
            raise
        except Exception as error:  # noqa: BLE001 (a mistake of ours must not end with 1 either)
            click.echo(f"overlong: {scarce(error) or _internal(error)}", err=True)
            ctx.exit(4)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in VERBS and not args[0].startswith("-"):
            same = SYNONYMS.get(args[0])
            hint = f"write 'overlong {same}'" if same else did_you_mean(args[0], VERBS)
            ctx.fail(f"no command {args[0]!r}; {hint}")
        return super().resolve_command(ctx, args)


def _interrupted() -> NoReturn:
    no_more_interruptions()
    click.echo("overlong: interrupted before anything was measured; nothing was written", err=True)
    sys.exit(4)


def _internal(error: Exception) -> str:
    """What is said of an error that no verb expects: one line, or all of it if the user wants to report it."""
    import traceback

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


def _self_test() -> NoReturn:
    """Test whether this installation judges correctly, and exit: with 0 if every check passed, else with 1."""
    from overlong.conformance.certification.self_test import self_test

    failed = 0
    with errors_on_one_line():
        for what, failures in self_test():
            failed += bool(failures)
            word = click.style("FAIL", fg="red", bold=True) if failures else click.style("ok  ", fg="green")
            click.echo(f"{word}  {what}")
            for line in failures[:10]:
                click.echo(f"      {line}")
            if len(failures) > 10:
                click.echo(f"      and {len(failures) - 10} more")
    if failed:
        click.echo("overlong: do not trust this installation; reinstall it", err=True)
    sys.exit(DIVERGES if failed else CONFORMS)


@click.group(cls=LazyGroup, epilog=EXAMPLES, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="overlong")
@click.option(
    "--self-test",
    is_flag=True,
    help="Test overlong itself in a few seconds, and exit: with 1 if its verdicts cannot be trusted.",
)
def cli(self_test: bool) -> None:  # noqa: FBT001 (LazyGroup reads it)
    """Certify UTF-8 decoders against the grammar of RFC 3629."""


def run(name: str = "overlong") -> int:
    """Run the command line, and return the exit code, which no signal changes any more. ``name``: for usage."""
    streams = StandardStreams()
    code = 4
    try:
        # NO_COLOR is the user's word in any terminal; otherwise click looks whether there is one
        cli(prog_name=name, color=False if os.environ.get("NO_COLOR") else None)
    except SystemExit as ended:
        no_more_interruptions()
        code = int(ended.code or 0)
    return streams.exit_code(code)
