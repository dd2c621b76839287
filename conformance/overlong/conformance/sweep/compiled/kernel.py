# pyright: basic
"""The compiled loop of sweeps and campaigns: number a string, ask it, judge it, count it.

A source, a compiled function (see :class:`~.task.LoopTask`), provides the strings in runs. Strings of a run differ only
in their last piece, so their common part is read once. A single string is also a run. A loop is compiled for each
convention, a source once for all: the loop calls it by its address.

A string, or its last piece, of up to eight octets is written by one store: a target that loads a word right after two
stores into it would wait for both.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from numba.extending import register_jitable

from overlong.conformance.sweep.compiled.judging import FEW, checked, judged
from overlong.conformance.sweep.compiled.progress import CURRENT, EARLIER, SNAPSHOT, SNAPSHOTS
from overlong.conformance.sweep.compiled.task import LoopTask
from overlong.conformance.targets.adapters.compiled import ACCEPTED, WORD
from overlong.conformance.targets.adapters.compiled.calls import ask, run, says_offsets, unit
from overlong.conformance.targets.adapters.compiled.memory import (
    fields,
    hidden,
    load64,
    publish64,
    store8,
    store64,
    unlikely,
)

if TYPE_CHECKING:
    from collections.abc import Callable

get, put = fields(LoopTask._fields)
FLUSH = 1 << 16
"""The most strings between two publications of the sums."""


@register_jitable
def _publish(
    index: int, strings: int, octets: int, well_formed: int, accepted: int, checksum: int, progress: int
) -> None:
    """Write a snapshot beside the current one, and make it the current one."""
    other = 1 - load64(progress + WORD * CURRENT)
    snapshot = progress + WORD * (SNAPSHOT + SNAPSHOTS * other)
    store64(snapshot, index)
    store64(snapshot + WORD, strings)
    store64(snapshot + 2 * WORD, octets)
    store64(snapshot + 3 * WORD, well_formed)
    store64(snapshot + 4 * WORD, accepted)
    store64(snapshot + 5 * WORD, checksum)
    publish64(progress + WORD * CURRENT, other)


def loop_over(*, alone: bool) -> Callable[..., None]:
    """The loop for sources of runs with common parts, or for sources whose strings each stand ``alone``.

    The machine code for ``alone`` handles no runs. If it did, a finished input would take 31 ns instead of 24 with a
    function that does nothing, and 69 instead of 64 with a validator.
    """

    def ask_all(convention: Any, until: int, task: int) -> None:
        """Ask all strings from the current progress up to ``until``, by a convention.

        Args:
            convention: that of the functions.
            until: the number of the string after the last one.
            task: the address of a :class:`LoopTask`.
        """
        size, progress, source = (
            unit(convention) if get(task, "unit") else 0,
            get(task, "progress"),
            get(task, "source"),
        )
        snapshot = progress + WORD * (SNAPSHOT + SNAPSHOTS * load64(progress + WORD * CURRENT))
        index, strings, octets = load64(snapshot), load64(snapshot + WORD), load64(snapshot + 2 * WORD)
        accepted, checksum = load64(snapshot + 4 * WORD), load64(snapshot + 5 * WORD)
        differs = load64(snapshot + 3 * WORD) - accepted  # so agreeing strings are counted once
        places = get(task, "functions")
        functions = (load64(places), load64(places + WORD), load64(places + 2 * WORD), load64(places + 3 * WORD))
        out, cells, kinds = get(task, "out"), get(task, "cells"), get(task, "kinds")
        room, more, earlier = get(task, "room"), get(task, "more"), get(task, "earlier")
        offsets = says_offsets(convention) and get(task, "judges_offsets")
        begun, flush = index, min(until, index + FLUSH)
        while index < until:
            put(task, "next", index)
            run(source, task)
            address = get(task, "address")
            whole, length, seen = get(task, "whole"), get(task, "length"), get(task, "seen")
            count = 1 if alone else min(get(task, "strings"), flush - index)
            octets += count * whole
            units, first, stop = room * whole + more, index, index + count
            at, shift, head = get(task, "at"), get(task, "shift"), get(task, "head")
            words, read = get(task, "words") - WORD * index, get(task, "read") - WORD * index
            single = not alone and size > 1 and 0 < length == whole - 1 and 0 <= get(task, "units") <= FEW
            while True:
                if not alone and unlikely(earlier != 0):
                    store64(progress + WORD * EARLIER, 1)
                    store64(progress, index)
                    before, length_before = get(task, "before"), get(task, "length_before")
                    ask(convention, functions, before, length_before, out, room * length_before + more, cells)
                    store64(progress + WORD * EARLIER, 0)
                store64(progress, index)
                if not alone:
                    store64(at, head | load64(words + WORD * index) << shift)
                status, number = ask(convention, functions, address, whole, out, units, cells)
                found, octet = load64(read + WORD * index), load64(words + WORD * index) & 0xFF
                right, last = found & 1, found >> 1 if alone else seen if found < 0 else length + (found >> 1)
                kind = judged(status, number, right, last, index - first, single, octet, size, offsets, task)
                if unlikely(kind != 0):
                    store8(kinds + index, kind)
                accepted += status == ACCEPTED
                differs += right - (status == ACCEPTED)
                checksum = checked(checksum, index, status, number)
                index = hidden(index + 1)
                if alone or index >= stop:
                    break
            if index == flush:
                _publish(index, strings + index - begun, octets, accepted + differs, accepted, checksum, progress)
                flush = min(until, index + FLUSH)

    return ask_all
