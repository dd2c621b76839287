"""Progress on stderr: a bar in a terminal, an occasional line elsewhere."""

from __future__ import annotations

import sys
import time
from typing import Any, Self

import click

from overlong.conformance.support.printable import thousands

_EVERY = 10.0  # seconds between plain lines
_PATIENCE = 0.5  # seconds before a bar is worth drawing
_STEPS = 200


class Bar:
    """One bar for the whole run; closing it removes it from the screen."""

    def __init__(self, *, enabled: bool, unit: str = "vectors") -> None:
        """``unit``: the plural noun for what is counted."""
        self._enabled = enabled
        self._unit = unit
        self._total = 0
        self._first, self._began = 0, 0.0  # the count at the last update, and its time
        self._live = enabled and sys.stderr.isatty()
        self._bar: Any = None
        self._done = 0
        self._started = self._said = time.monotonic()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Remove the bar, so that only the report stays on the screen."""
        if self._bar is not None:
            self._take_away()
            self._live = False

    def _take_away(self) -> None:
        if self._bar is not None:
            self._bar.__exit__(None, None, None)
            sys.stderr.write("\x1b[1A\x1b[2K")
            sys.stderr.flush()
            self._bar = None

    def update(self, suite: str, done: int, total: int) -> None:
        """Show that the run has done ``done`` of ``total`` vectors, and is in ``suite``."""
        if not self._enabled:
            return
        now = time.monotonic()
        if total != self._total:  # another job: suites are done, and a sweep begins
            self._take_away()
            if self._total:
                self._unit = "strings"
            self._total, self._done = total, 0
            self._first, self._began = done, now
        if self._live and now - self._started > _PATIENCE:
            if self._bar is None:
                steps = max(total // _STEPS, 1)
                self._bar = click.progressbar(length=total, file=sys.stderr, width=30, update_min_steps=steps)
                self._bar.__enter__()
            self._bar.label = f"{suite:<22}{self._rate(done, now)}"
            self._bar.update(done - self._done)
            self._done = done
        elif not self._live and now - self._said > _EVERY:
            many = f"{thousands(done)} of {thousands(total)} {self._unit}"
            click.echo(f"{suite}: {many}{self._rate(done, now)}", err=True)
            self._said = now

    def _rate(self, done: int, now: float) -> str:
        """The number of strings per second. There is no rate for vectors: their costs vary too much."""
        new, seconds = done - self._first, now - self._began
        return f", {thousands(round(new / seconds))} per second" if self._unit == "strings" and new and seconds else ""
