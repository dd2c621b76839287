"""The compiled loop: a function of a shared library is called by its address, for all strings of a range.

The loop (``kernel.py``) asks, judges (``judging.py``), counts and publishes; a *source* lays out its strings: of grids
(``grids.py``), or a campaign's inputs (``overlong.fuzz.execution.compiled``), which use all of it but the grids.

The interface, for ``sweep/adapter.py`` (all of it in :mod:`overlong.conformance.sweep.compiled.loop`, which imports
Numba, so import it late):

* ``Progress(memory)``: a view of ``PROGRESS_OCTETS`` octets of shared memory, ``memory`` a writable buffer such as an
  ``mmap``; make one on either side of the fork.

  - ``begin(first)``: all sums 0, nothing done before ``first``.
  - ``reached``: every string before it is in the sums. ``index``: the string that is asked now, or was asked last; -1
    if none has been since ``begin``. ``earlier``: it was the string before it that was asked (``Grid.earlier``).
  - ``strings``, ``octets``, ``well_formed``, ``accepted``, ``checksum``: the sums, as ``ShardResult`` has them.
  - ``passed(octets, well_formed=)``: the string ``reached`` was asked, and there is no answer: count it, go past it.
    ``left_out()``: it was not asked: go past it.

* ``GridLoop(abi, addresses, expectation, layout)``: compiles, or loads from Numba's cache. ``addresses``: of the
  function; of a stream's ``new``, ``feed``, ``finish``, ``free`` (more are ignored). ``layout``: the profile's
  ``dialect.layout``. It can be made before a fork (``GridLoop.compile(abi)`` compiles before there are addresses), and
  run in a child.
* ``GridLoop.run(grid, until, progress, kinds, origin)``: asks the strings from ``progress.reached`` up to ``until``
  (not included); when it returns, ``progress.reached == until``. ``kinds``: a writable buffer of octets in shared
  memory, ``kinds[index - origin]`` becomes the code of ``shard.py`` for a string that diverges; an octet 0 is left as
  it is.

After a crash (or a time-out: kill first) the parent knows ``progress.index``, and the sums are those of ``reached``, at
most 2**16 strings back. In a new child: ``run(grid, index, …)`` does again what came since ``reached`` (kinds too are
made anew); then ``progress.passed(…)`` and ``kinds[index - origin] = CRASHED``; then ``run(grid, until, …)`` goes on.
However often that happens, the sums are those of one run. A string that breaks the convention is ``BROKEN``, counted
with the checksum's code of ``X``; asking it again says what is wrong with it.
"""

from __future__ import annotations

from pathlib import Path


def sources() -> tuple[Path, ...]:
    """The files of this package: machine code that is kept on disk is made of them, too."""
    return tuple(sorted(Path(__file__).parent.glob("*.py")))
