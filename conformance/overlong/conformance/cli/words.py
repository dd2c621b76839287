"""Completions for a shell: targets, suites, profiles, codes, ids, languages.

Each ``complete_...`` function is click's ``shell_complete`` of an argument or an option. These functions import late
and start nothing, since the user has pressed a key and waits.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from click.shell_completion import CompletionItem

if TYPE_CHECKING:
    from collections.abc import Iterable

    import click

_KINDS = {
    "py:": "a Python function: py:MODULE:CALLABLE",
    "so:": "a function of a shared library: so:LIBRARY:FUNCTION?abi=...",
    "wasm:": "a function in WebAssembly: wasm:MODULE:FUNCTION?abi=...",
    "cmd:": "a program that exits with status 0 or 1",
    "lines:": "a program that reads lines of hexadecimal and writes a line for each",
}


def complete_targets(_context: click.Context, _parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Complete targets: decoders with an adapter, targets that the project names, and the prefixes of other targets."""
    from overlong.conformance.oracle.target import UnknownTarget
    from overlong.conformance.targets.builtins import all_shipped
    from overlong.conformance.targets.configured import configured

    try:
        own = configured()
    except UnknownTarget:  # the other words help even if the project's file cannot be read
        own = {}
    words = dict.fromkeys(own, "named by this project")
    words |= {name: builtin.what for name, builtin in all_shipped().items()}
    return _beginning(incomplete, (words | _KINDS).items())


def complete_suites(_context: click.Context, _parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Complete suites, without making their vectors."""
    from overlong.conformance.vectors.suites import SUITES
    from overlong.conformance.vectors.suites.core import GIVEN

    return _beginning(incomplete, [*((name, "") for name in SUITES), (GIVEN, "the vectors of --vectors")])


def complete_profiles(_context: click.Context, _parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Complete dialects."""
    from overlong.reference import DIALECTS

    return _beginning(incomplete, ((name, "") for name in DIALECTS))


def complete_codes(_context: click.Context, _parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Complete the codes that ``explain`` knows, with their titles."""
    from overlong.conformance.protocol.kind import KINDS
    from overlong.reference import DEFECTS

    titles = {code: defect.title for code, defect in DEFECTS.items()} | {c: kind.title for c, kind in KINDS.items()}
    return _beginning(incomplete, [("codes", "all of them"), *sorted(titles.items())])


def complete_languages(_context: click.Context, _parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Complete the languages of the adapter templates."""
    from overlong.conformance.targets.starters import TEMPLATES

    return _beginning(incomplete, ((name, "") for name in TEMPLATES))


def _beginning(incomplete: str, words: Iterable[tuple[str, str]]) -> list[CompletionItem]:
    return [CompletionItem(word, help=what or None) for word, what in words if word.startswith(incomplete)]
