"""The core's loop: it calls a function of a shared library by its address, for all strings of a range.

The loop (``loop.c`` of :mod:`overlong.reference.core`) asks, judges (``judging.h``), counts and publishes. A *source*
lays out the strings: those of grids (``grids.c``), or a campaign's inputs (``inputs.c``, for
``overlong.fuzz.execution.compiled``). A string starts at an address whose residue modulo 64 is a hash of its number;
strings of a run, which differ in their last piece of at most eight octets, start at the same address.

The interface, for ``sweep/adapter.py`` (all of it in :mod:`overlong.conformance.sweep.compiled.loop`, which needs
NumPy, so import it late):

* ``Progress(memory)``: a view of ``PROGRESS_OCTETS`` octets of shared memory, ``memory`` a writable buffer such as an
  ``mmap``; make one on each side of the fork.

  - ``begin(first)``: set all sums to 0, and begin at the string ``first``.
  - ``reached``: every string before it is in the sums. ``index``: the string that is being asked, or was asked last; -1
      if none was since ``begin``. ``earlier``: True if its earlier string was being asked (``Grid.earlier``).
  - ``strings``, ``octets``, ``well_formed``, ``accepted``, ``checksum``: the sums, as ``ShardResult`` has them.
  - ``passed(octets, well_formed=)``: the string ``reached`` was asked without an answer: count it, and move past it.
      ``left_out()``: it was not tested: move past it.

* ``GridLoop(abi, addresses, expectation, layout)``. ``addresses``: of the function; of a stream's ``new``, ``feed``,
  ``finish``, ``free`` (more are ignored). ``layout``: the profile's ``dialect.layout``. Make it before a fork if you
  like, and run it in a child.
* ``GridLoop.run(grid, until, progress, kinds, origin)``: asks the strings from ``progress.reached`` up to ``until``
  (not included); when it returns, ``progress.reached == until``. ``kinds``: a writable buffer of octets in shared
  memory. For a string that diverges, ``kinds[index - origin]`` becomes its code in ``shard.py``; for others, the octet
  stays unchanged.

After a crash (or a time-out: kill first) the parent knows ``progress.index``, and the sums are those of ``reached``, at
most 2**16 strings back. In a new child, ``run(grid, index, …)`` repeats the strings since ``reached``, with their
kinds; then come ``progress.passed(…)`` and ``kinds[index - origin] = CRASHED``; then ``run(grid, until, …)`` continues.
However often that happens, the sums equal those of one run. A string whose answer breaks the convention is ``BROKEN``,
counted with the checksum's code of ``X``; ask it again to learn the reason.
"""
