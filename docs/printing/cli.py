"""The reference of the command line, from the commands themselves."""

from __future__ import annotations

import inspect
from textwrap import dedent
from typing import TYPE_CHECKING

import click

from overlong.conformance.cli.verbs import cli
from printing.markdown import NOTICE, code, plain, table

if TYPE_CHECKING:
    from collections.abc import Iterator

KEPT = "\b"
"""The mark of paragraphs that click does not wrap."""


def page() -> Iterator[str]:
    """Every verb, in the order of ``overlong --help``."""
    yield from (NOTICE, "", "# Every command", "")
    yield "What `--help` says of every command, on one page. [command line](command-line.md) is the guide, with"
    yield "sessions."
    yield ""
    context = click.Context(cli, info_name="overlong")
    commands = list(_commands(cli, context))
    yield from table(
        ("command", "what it does"),
        ((f"[`{_path(each)}`](#{_anchor(each)})", plain(each.command.get_short_help_str(200))) for each in commands),
    )
    for each in commands:
        yield from _command(each)


def _commands(group: click.Group, context: click.Context) -> Iterator[click.Context]:
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        below = click.Context(command, info_name=name, parent=context)
        if isinstance(command, click.Group) and not command.invoke_without_command:
            yield from _commands(command, below)
        else:
            yield below


def _path(context: click.Context) -> str:
    return context.command_path.split(" [")[0]


def _anchor(context: click.Context) -> str:
    return _path(context).replace(" ", "-")


def _command(context: click.Context) -> Iterator[str]:
    command = context.command
    usage = context.command.collect_usage_pieces(context)
    yield from ("", f"## {_path(context)}", "", "```text", " ".join((_path(context), *usage)), "```")
    yield from _prose(command.help)
    options = [each for each in command.get_params(context) if isinstance(each, click.Option) and not each.hidden]
    if options:
        yield ""
        yield from table(("option", "meaning"), (_option(each, context) for each in options))
    yield from _prose(command.epilog)


def _option(option: click.Option, context: click.Context) -> tuple[str, str]:
    record = option.get_help_record(context)
    assert record is not None
    names, meaning = record
    return code(names), plain(meaning)


def _prose(text: str | None) -> Iterator[str]:
    """Paragraphs; those that click does not wrap become blocks, with their first line above."""
    for paragraph in inspect.cleandoc(text or "").split("\n\n"):
        kept, _, rest = paragraph.strip("\n").partition("\n")
        if kept.strip() != KEPT:
            if paragraph.strip():
                yield from ("", plain(paragraph))
            continue
        first, _, below = rest.partition("\n")
        if first.rstrip().endswith(":"):
            yield from ("", f"**{plain(first.strip().rstrip(':'))}**")
        else:
            below = rest
        yield from ("", "```text", dedent(below).strip("\n"), "```")
