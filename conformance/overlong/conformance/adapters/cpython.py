"""CPython's own decoders, for the Python adapter. Loops stand inline: they are what is measured."""

from __future__ import annotations

import codecs
import sys
from functools import partial
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    Results = Sequence[Any]


def _one_by_one(many: Sequence[bytes], errors: str) -> Results:
    adapter: Any = sys.modules["__main__"]  # which loads this file
    results: list[Any] = []
    for octets in many:
        try:
            results.append(octets.decode("utf-8", errors))
        except UnicodeDecodeError as error:
            results.append(adapter.refusal(error))
    return results


class Strict:
    """``bytes.decode`` with ``errors="strict"`` and ``errors="replace"``."""

    @staticmethod
    def decode(many: Sequence[bytes]) -> Results:
        try:
            return [octets.decode() for octets in many]
        except UnicodeDecodeError:
            return _one_by_one(many, "strict")

    @staticmethod
    def replace(many: Sequence[bytes]) -> Results:
        return [octets.decode("utf-8", "replace") for octets in many]

    operations = {"D": decode, "L": replace}  # noqa: RUF012


class Surrogatepass:
    """``errors="surrogatepass"``: CESU-8's habits in a UTF-8 decoder."""

    operations = {"D": partial(_one_by_one, errors="surrogatepass")}  # noqa: RUF012


class Surrogateescape:
    """``errors="surrogateescape"`` (PEP 383): every octet is kept, as a lone surrogate."""

    operations = {"D": partial(_one_by_one, errors="surrogateescape")}  # noqa: RUF012


Incremental = codecs.getincrementaldecoder("utf-8")
