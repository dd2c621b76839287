"""Runs a script from its compiled code: ``python from_cache.py SCRIPT [WORD...]``.

Python keeps the compiled code of modules only, and compiles a script each time it starts: our longer ones take 2 to 6
of the 20 ms until a target answers.
"""

import sys
from importlib.machinery import SourceFileLoader

if __name__ == "__main__":
    del sys.argv[0]
    __file__ = sys.argv[0]  # for the script, which runs in this module's place
    exec(SourceFileLoader("__main__", __file__).get_code("__main__"))  # type: ignore[arg-type]  # noqa: S102
