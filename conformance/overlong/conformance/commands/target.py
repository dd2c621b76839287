"""``overlong target``: the decoders at hand."""

from __future__ import annotations

import click


@click.group("target")
def command() -> None:
    """Decoders that ship with an adapter."""


@command.command("list")
@click.option("--format", "output_format", type=click.Choice(["text", "json"]), default="text", show_default=True)
def list_command(output_format: str) -> None:
    """List them, and say why one cannot be used here."""
    import json

    from overlong.conformance.targets.builtins import BUILTINS

    rows = [(builtin, builtin.missing()) for builtin in BUILTINS.values()]
    if output_format == "json":
        data = [
            {"name": builtin.name, "language": builtin.language, "what": builtin.what, "ready": not why, "missing": why}
            for builtin, why in rows
        ]
        click.echo(json.dumps(data, indent=2))
        return
    for builtin, why in rows:
        state = click.style("ready  ", fg="green") if not why else click.style("missing", fg="yellow")
        click.echo(f"{state}  {builtin.name:<25} {builtin.language:<11} {builtin.what}")
        if why:
            click.echo(f"         {why}")
