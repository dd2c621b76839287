"""The oracle at machine speed (extra ``native``): compiled by Numba from the automaton and the layout.

The pure-Python reference remains the definition; a test compares both.

Raises:
    ImportError: Numba is not installed; the message says how to install it.
"""

from importlib.util import find_spec

from overlong.reference.extra import install

if find_spec("numba") is None:
    raise ImportError(f"the oracle at machine speed needs Numba; {install('native')}")

from overlong.reference.native.compiled import compiled
from overlong.reference.native.oracle import Oracle, oracle

__all__ = ["Oracle", "compiled", "oracle"]
