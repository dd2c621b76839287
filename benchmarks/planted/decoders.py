"""Planted bugs in Python: each decoder has one small fault, which ``bugs.py`` describes.

The rest is CPython's own decoder, which the project has certified.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

SIGNATURE = "\ufeff"


def right(octets: bytes) -> str:
    return octets.decode()


def surrogates_pass(octets: bytes) -> str:
    return octets.decode("utf-8", "surrogatepass")


def tab_refused(octets: bytes) -> bool:
    octets.decode()
    return b"\t" not in octets


def index_error(octets: bytes) -> str:
    text = octets.decode()
    return text if not text.endswith(SIGNATURE) else text + text[len(text)]


def normalised(octets: bytes) -> str:
    """Carriage returns are lost: the text differs from what a validator saw."""
    return octets.decode().replace("\r\n", "\n")


class Replacing:
    """Replaces ill-formed octets in ``decode``; subclasses do it wrongly."""

    def __init__(self) -> None:
        self.operations = {"L": self._all}

    def _all(self, many: Sequence[bytes]) -> list[str]:
        return [self.decode(octets) for octets in many]

    def decode(self, octets: bytes) -> str:
        return octets.decode("utf-8", "replace")


class _OneForRun(Replacing):
    def decode(self, octets: bytes) -> str:
        text = super().decode(octets)
        while "\ufffd\ufffd" in text:
            text = text.replace("\ufffd\ufffd", "\ufffd")
        return text


class _Swallows(Replacing):
    def decode(self, octets: bytes) -> str:
        """An octet that truncates a character of two octets is lost with it."""
        text, place = "", 0
        while place < len(octets):
            try:
                return text + octets[place:].decode()
            except UnicodeDecodeError as error:
                text += octets[place : place + error.start].decode() + "\ufffd"
                place += error.end
                place += error.reason == "invalid continuation byte" and error.end - error.start == 1
        return text


class _ForgetsSecond(Replacing):
    def decode(self, octets: bytes) -> str:
        """The second of two flaws in a block of 16 octets is dropped."""
        text, place, last = "", 0, -1
        while place < len(octets):
            try:
                return text + octets[place:].decode()
            except UnicodeDecodeError as error:
                block = (place + error.start) // 16
                text += octets[place : place + error.start].decode() + ("" if block == last else "\ufffd")
                last, place = block, place + error.end
        return text


one_for_run = _OneForRun()
swallows = _Swallows()
forgets_second = _ForgetsSecond()


class StreamRight:
    """A decoder of streams, in the manner of ``codecs``; CPython's own keeps ED A0, which nothing can complete."""

    def __init__(self) -> None:
        self._kept = b""

    def decode(self, octets: bytes, final: bool = False) -> str:  # noqa: FBT001, FBT002
        octets = self._kept + octets
        self._kept = b""
        try:
            return octets.decode()
        except UnicodeDecodeError as error:
            if final or error.reason != "unexpected end of data":
                raise
            self._kept = octets[error.start :]
            return octets[: error.start].decode()

    def reset(self) -> None:
        self._kept = b""


class StreamForgetsEnd(StreamRight):
    """An unfinished character at the end is dropped silently."""

    def decode(self, octets: bytes, final: bool = False) -> str:  # noqa: FBT001, FBT002
        del final
        return super().decode(octets, final=False)


class StreamSignatures(StreamRight):
    """A signature is stripped from the start of every chunk but the first."""

    def __init__(self) -> None:
        super().__init__()
        self._begun = False

    def decode(self, octets: bytes, final: bool = False) -> str:  # noqa: FBT001, FBT002
        text = super().decode(octets, final)
        begun, self._begun = self._begun, self._begun or bool(octets)
        return text.removeprefix(SIGNATURE) if begun else text

    def reset(self) -> None:
        super().reset()
        self._begun = False


class StreamNotReset(StreamRight):
    """Its reset keeps the octets of an unfinished character."""

    def decode(self, octets: bytes, final: bool = False) -> str:  # noqa: FBT001, FBT002
        kept = self._kept + octets
        try:
            return super().decode(octets, final)
        except UnicodeDecodeError as error:
            self._kept = kept[error.start :]
            raise

    def reset(self) -> None:
        """Do nothing."""
