"""Decoders whose refusals count in various units. The Python adapter loads this file and provides Refusal."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


def _before(octets: bytes, error: UnicodeDecodeError) -> str:
    return octets[: error.start].decode()


class _Counter:
    def __init__(self, offsets: str, count: Callable[[bytes, UnicodeDecodeError], int]) -> None:
        self.traits = {"offsets": offsets}
        self.operations = {"D": self._decode}
        self._count = count

    def _decode(self, many: Sequence[bytes]) -> list[Any]:
        adapter: Any = sys.modules["__main__"]
        results: list[Any] = []
        for octets in many:
            try:
                results.append(octets.decode())
            except UnicodeDecodeError as error:
                incomplete = error.reason == "unexpected end of data"
                results.append(adapter.Refusal(self._count(octets, error), error.end - error.start, incomplete))
        return results


in_octets = _Counter("octets", lambda _, error: error.start)
in_scalars = _Counter("scalars", lambda octets, error: len(_before(octets, error)))
in_units = _Counter("units", lambda octets, error: len(_before(octets, error)))  # UTF-32
in_pairs = _Counter("scalars", lambda octets, error: len(_before(octets, error).encode("utf-16-le")) // 2)
in_silence = _Counter("scalars", lambda _, error: error.start)
