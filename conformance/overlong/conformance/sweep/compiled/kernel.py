# pyright: basic
"""The compiled loop, of sweeps and of campaigns: number a string, ask it, judge it, count it.

Strings come from a source, a compiled function (:class:`~.task.LoopTask` says what it does), in runs of strings that
differ in their last piece only, so that what they have in common is read once. Any string is a run of its own. A loop
is compiled for a convention, and a source once for all of them: it is called by its address.

A string, or its last piece, of up to eight octets is written by one store: a target that loads a word right after two
stores into it would wait for both.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from numba.extending import register_jitable

from overlong.conformance.sweep.compiled.judging import FEW, checked, judged
from overlong.conformance.sweep.compiled.progress import CURRENT, EARLIER, SNAPSHOT, SNAPSHOTS
from overlong.conformance.sweep.compiled.task import get, put
from overlong.conformance.targets.adapters.compiled.calls import ACCEPTED, ask, run, says_offsets, unit
from overlong.conformance.targets.adapters.compiled.memory import (
    WORD,
    hidden,
    load64,
    publish64,
    store8,
    store64,
    unlikely,
)

if TYPE_CHECKING:
    from collections.abc import Callable

FLUSH = 1 << 16
"""Strings after which the sums are published, at most."""


@register_jitable
def _publish(
    index: int, strings: int, octets: int, well_formed: int, accepted: int, checksum: int, progress: int
) -> None:
    """Write a snapshot beside the one that is there, and make it the one that counts."""
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
    """The loop for sources of strings that have something in common, or for those of which each stands ``alone``.

    The machine code for these has nothing about runs in it. With it, an input that had been made took 31 ns and not 24
    with a function that does nothing, 69 and not 64 with a validator.
    """

    def ask_all(convention: Any, until: int, task: int) -> None:
        """Ask all strings from where the progress is up to ``until``, by a convention.

        Args:
            convention: of the functions.
            until: the number of a string.
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
        differs = load64(snapshot + 3 * WORD) - accepted  # so strings that agree are counted once
        places = get(task, "functions")
        functions = (load64(places), load64(places + WORD), load64(places + 2 * WORD), load64(places + 3 * WORD))
        address, out, cells, kinds = get(task, "input"), get(task, "out"), get(task, "cells"), get(task, "kinds")
        room, more, earlier = get(task, "room"), get(task, "more"), get(task, "earlier")
        offsets = says_offsets(convention) and get(task, "judges_offsets")
        begun, flush = index, min(until, index + FLUSH)
        while index < until:
            put(task, "next", index)
            run(source, task)
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
