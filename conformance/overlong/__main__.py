"""The command line's front door: ``overlong`` and ``python -m overlong``.

It listens for signals before it imports what takes time.
"""

# Not even __future__ is imported before this: python -m has put the current folder in front of the standard library
import os
import sys


def _leave_out_current_folder() -> None:
    """Take the current folder off the path, unless the user has put it there in words.

    Python has put it there, for ``-m``, or for an empty entry of ``PYTHONPATH``. If this very file lies there, it
    comes last.
    """
    try:
        here = os.path.realpath(os.getcwd())
    except OSError:  # it is gone, and with it what could be imported from it
        return

    def is_here(entry: str) -> bool:
        return os.path.realpath(entry) == here

    if sys.path and not sys.flags.safe_path and is_here(sys.path[0]):
        del sys.path[0]
    given = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    if "" in given and not any(is_here(entry) for entry in given if entry):
        sys.path[:] = [entry for entry in sys.path if not is_here(entry)]
    own = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    if is_here(own) and own not in sys.path:
        sys.path.append(own)


_leave_out_current_folder()

from overlong.conformance.support.process import held, listen, no_more_interruptions


def main(name: str = "overlong") -> None:
    """Run the command line. ``name``: what usage calls it."""
    code = 4
    try:
        listen()
        with held():
            from overlong.conformance.cli.verbs import run
        code = run(name)
    except KeyboardInterrupt:  # before a verb could begin
        no_more_interruptions()
        sys.stderr.write("overlong: interrupted before anything was measured; nothing was written\n")
    sys.exit(code)


if __name__ == "__main__":
    main()
