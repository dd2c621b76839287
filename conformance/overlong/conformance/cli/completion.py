"""``overlong completion``: print a script with which a shell completes verbs, options, targets and names."""

from __future__ import annotations

import click

EXAMPLES = """\b
Examples:
  overlong completion bash > ~/.bash_completion.d/overlong
  overlong completion zsh > ~/.zfunc/_overlong
  overlong completion fish > ~/.config/fish/completions/overlong.fish
"""

_INSTALL = {
    "bash": "Written to ~/.local/share/bash-completion/completions/overlong it is found when it is needed.",
    "zsh": "Written to a file _overlong in a folder of $fpath it is found after 'compinit'.",
    "fish": "Written to ~/.config/fish/completions/overlong.fish it is found when it is needed.",
}
"""Each shell, and where its script goes."""


@click.command("completion", epilog=EXAMPLES)
@click.argument("shell", type=click.Choice(list(_INSTALL)))
@click.pass_context
def command(context: click.Context, shell: str) -> None:
    """Print a script that makes a shell complete what you type.

    SHELL then completes verbs, options, choices, targets, suites, profiles and codes.

    \b
    bash  write it to ~/.local/share/bash-completion/completions/overlong
    zsh   write it to a file _overlong in a folder of $fpath, before compinit
    fish  write it to ~/.config/fish/completions/overlong.fish

    To try it in this shell alone: eval "$(overlong completion bash)".
    """  # noqa: D301 (click reads the backspace)
    from click.shell_completion import get_completion_class

    kind = get_completion_class(shell)
    assert kind is not None, "click has these three"
    root = context.find_root()
    program = root.info_name or "overlong"
    variable = f"_{program}_COMPLETE".replace("-", "_").replace(".", "_").upper()
    completion = kind(root.command, {}, program, variable)
    script = completion.source_template % completion.source_vars()
    first = "#compdef overlong\n" if shell == "zsh" else ""  # zsh reads it in the first line alone
    click.echo(f"{first}# Completion of {program} for {shell}. {_INSTALL[shell]}\n{script.removeprefix(first).strip()}")
