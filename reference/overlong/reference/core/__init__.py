"""The core in C: loops that call functions and read octets millions of times a second, by tables that Python gives.

In come addresses and numbers of 64 bits; out goes what C writes there. The C files know nothing of Python and nothing
of UTF-8. The Python of this room builds, keeps and loads them, and must not know what their functions are for.
"""

from overlong.reference.core.loading import NoCore, core, why_not

__all__ = ["NoCore", "core", "why_not"]
