"""``--help`` of every verb: it fits 80 columns, says how it ends, and its examples are what the program takes."""

import ast
import re
import shlex
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from overlong.conformance.cli.explain import pages, schemas
from overlong.conformance.cli.verbs import cli

ROOT = Path(__file__).parents[3]


def walk(command, path=()):
    yield path, command
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            yield from walk(command.get_command(context, name), (*path, name))


COMMANDS = dict(walk(cli))
ENDS = {path: command for path, command in COMMANDS.items() if not isinstance(command, click.Group)}
NAMES = [" ".join(path) for path in COMMANDS]
NEVER_FAILS = {("target", "abis"), ("target", "list")}


def text(path):
    command = COMMANDS[path]
    context = click.Context(command, info_name=" ".join(("overlong", *path)), terminal_width=80, max_content_width=80)
    return command.get_help(context)


def examples(path):
    """The command lines under Examples, without comments, redirections and what follows a pipe or &&."""
    section = text(path).partition("Examples:\n")[2].split("\n\n")[0]
    joined = re.sub(r" \\\n\s*", " ", section)
    for line in joined.splitlines():
        found = re.match(r"\s*(overlong .*)", line)
        if found:
            yield from (part.strip() for part in re.split(r" && |\s\|\s", found[1].partition("  ")[0]))


@pytest.mark.parametrize("name", NAMES)
def test_help_is_whole_and_fits(name):
    path = tuple(name.split())
    shown = text(path)
    assert [line for line in shown.splitlines() if len(line) > 80] == []
    assert "Examples:\n" in shown
    if path in ENDS and path not in NEVER_FAILS:
        assert re.search(r"Exit status(: [^\n]*)?:\n    0  .*\n", shown), shown
    first = COMMANDS[path].get_short_help_str(200)
    assert first
    assert first[0].isupper()


@pytest.mark.parametrize("name", [" ".join(path) for path in COMMANDS if path not in ENDS])
def test_no_summary_is_cut(name):
    path = tuple(name.split())
    commands = text(path).partition("\nCommands:\n")[2].split("\n\n")[0].splitlines()
    assert len(commands) == sum(each[:-1] == path for each in COMMANDS if each)
    assert [line for line in commands if line.endswith("...")] == []


@pytest.mark.parametrize("name", [" ".join(path) for path in ENDS])
def test_every_option_is_explained(name):
    for parameter in ENDS[tuple(name.split())].params:
        if isinstance(parameter, click.Option):
            assert parameter.help, parameter.opts


def parsed(line):
    """The context that click makes of a command line; callbacks of options run, the command does not."""
    words = shlex.split(line.partition(" > ")[0])
    assert words.pop(0) == "overlong"
    context = cli.make_context("overlong", [words[0]], resilient_parsing=True)
    command: click.Command = cli
    while isinstance(command, click.Group):
        name = words.pop(0)
        following = command.get_command(context, name)
        assert following is not None, name
        command = following
    return command.make_context(command.name, words, parent=context)


def is_there(error):
    """Whether only a file is missing, which an example may name."""
    return isinstance(error, click.BadParameter) and "does not exist" in error.message


@pytest.mark.parametrize("name", NAMES)
def test_examples_are_command_lines(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    found = list(examples(tuple(name.split())))
    assert found
    for line in found:
        if not line.startswith("overlong "):
            continue
        try:
            parsed(line)
        except click.UsageError as error:
            assert is_there(error), f"{line}: {error.format_message()}"


@pytest.mark.parametrize(
    "line", ["overlong certfy cpython", "overlong certify --sute core cpython", "overlong verify --format yaml ."]
)
def test_a_wrong_example_is_noticed(line):
    with pytest.raises((click.UsageError, AssertionError)):
        parsed(line)


@pytest.mark.long
def test_pages_that_are_named_come_with_the_package():
    """No text that the package prints or writes names a file of the checkout; a page is one that ``docs`` prints."""
    said = {"help": "\n".join(text(path) for path in COMMANDS)}
    for part in ("reference", "conformance", "fuzz"):
        for path in (ROOT / part / "overlong").rglob("*"):
            if path.suffix == ".py":
                said[path.name] = "\n".join(_constants(ast.parse(path.read_text("utf-8"))))
            elif path.is_file() and path.suffix != ".wasm" and "__pycache__" not in path.parts:
                said[path.name] = path.read_text("utf-8")
    assert {name: found for name, words in said.items() if (found := re.findall(r"docs/[\w-]+\.md", words))} == {}
    named = {page for words in said.values() for page in re.findall(r"'overlong\s+docs\s+([\w-]+)'", words)}
    assert len(named) > 5
    assert named <= set(pages())


def _constants(tree):
    """Strings of a module that are no docstrings, of attributes neither."""
    alone = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in alone:
            yield node.value


def test_pages_are_printed():
    run = CliRunner().invoke
    listed = run(cli, ["docs"]).output
    assert all(re.fullmatch(r"[\w/-]+ +\w.*", line) for line in listed.splitlines())
    assert re.search(r"^protocol +\S", listed, re.MULTILINE)
    assert len(listed.splitlines()) == len(pages()) + len(schemas())
    assert len(pages()) > 30
    for name in ("dialects", "docs/dialects.md"):  # the latter is how pages name each other
        shown = run(cli, ["docs", name])
        assert (shown.exit_code, shown.output.splitlines()[0]) == (0, "# Dialects and error modes")
    wrong = run(cli, ["docs", "dialetcs"])
    assert wrong.exit_code == 2
    assert "no such page; did you mean dialects?" in wrong.output
    assert "certify is on the page command-line: overlong docs command-line" in run(cli, ["docs", "certify"]).output
