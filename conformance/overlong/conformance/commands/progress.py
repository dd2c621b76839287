"""Progress on stderr: a bar in a terminal, a line now and then elsewhere."""

from __future__ import annotations

import sys
import time
from typing import Any, Self

import click

_EVERY = 10.0  # seconds between plain lines
_PATIENCE = 0.5  # seconds before a bar is worth drawing
_STEPS = 200


class Bar:
    """One bar for the whole run; it leaves nothing behind."""

    def __init__(self, *, enabled: bool) -> None:
        self._enabled = enabled
        self._live = enabled and sys.stderr.isatty()
        self._bar: Any = None
        self._done = 0
        self._started = self._said = time.monotonic()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Take the bar away: the report is what stays."""
        if self._bar is not None:
            self._bar.__exit__(None, None, None)
            sys.stderr.write("\x1b[1A\x1b[2K")
            sys.stderr.flush()
            self._bar = None
            self._live = False

    def update(self, suite: str, done: int, total: int) -> None:
        """The run is at ``done`` of ``total`` vectors, in ``suite``."""
        if not self._enabled:
            return
        now = time.monotonic()
        if self._live and now - self._started > _PATIENCE:
            if self._bar is None:
                steps = max(total // _STEPS, 1)
                self._bar = click.progressbar(length=total, file=sys.stderr, width=30, update_min_steps=steps)
                self._bar.__enter__()
            self._bar.label = f"{suite:<22}"
            self._bar.update(done - self._done)
            self._done = done
        elif not self._live and now - self._said > _EVERY:
            click.echo(f"{suite}: {done} of {total} vectors", err=True)
            self._said = now
