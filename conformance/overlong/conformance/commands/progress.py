"""Progress on stderr: a bar in a terminal, a line now and then elsewhere."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Any, Self

import click

if TYPE_CHECKING:
    from types import TracebackType

_EVERY = 10.0  # seconds between plain lines


class Bar:
    """One bar for one suite after the other."""

    def __init__(self, *, enabled: bool) -> None:
        self._enabled = enabled
        self._live = enabled and sys.stderr.isatty()
        self._bar: Any = None
        self._suite = ""
        self._done = 0
        self._said = time.monotonic()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._finish()

    def update(self, suite: str, done: int, total: int) -> None:
        if not self._enabled:
            return
        if self._live:
            if suite != self._suite:
                self._finish()
                self._suite, self._done = suite, 0
                self._bar = click.progressbar(
                    length=total,
                    label=f"{suite:<18}",
                    file=sys.stderr,
                    show_pos=True,
                    width=24,
                    update_min_steps=total // 100,
                )
                self._bar.__enter__()
            self._bar.update(done - self._done)
            self._done = done
        elif time.monotonic() - self._said > _EVERY:
            click.echo(f"{suite}: {done} of {total}", err=True)
            self._said = time.monotonic()

    def _finish(self) -> None:
        if self._bar is not None:
            self._bar.__exit__(None, None, None)
            # the bar has done its work: the report is what stays
            sys.stderr.write("\x1b[1A\x1b[2K")
            sys.stderr.flush()
            self._bar = None
