"""A state machine for decoders of streams: chunks, ends, resets and states saved, in any order. For tests of your own.

    >>> import codecs
    >>> from overlong.fuzz.streams import stream_machine
    >>> TestMyDecoder = stream_machine(codecs.getincrementaldecoder("utf-8")).TestCase

pytest and unittest run that; Hypothesis prints the shortest sequence of calls that fails, as a program. Chunks come
from :mod:`overlong.fuzz.strategies`, so they end in the middle of characters of every form, and of what is none.

What is required is what the reference's own :class:`~overlong.reference.IncrementalDecoder` does: what came out so far
is the beginning of the text of the whole stream, nothing is refused that may still become well-formed, and at the end
nothing is missing. With ``prompt``, also that nothing comes out or is refused later than it is certain.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from hypothesis.stateful import RuleBasedStateMachine, precondition, rule
from hypothesis.strategies import just

from overlong.conformance.support.printable import spaced_hex
from overlong.fuzz.strategies import characters, near_misses, steps, unfinished
from overlong.reference import IllFormed, IncrementalDecoder, decode

if TYPE_CHECKING:
    from collections.abc import Callable


class StreamDecoder(Protocol):
    """What is tested: the protocol of :class:`codecs.IncrementalDecoder`.

    Its ``reset()``, and ``getstate()`` with ``setstate()``, are used if it has them.
    """

    def decode(self, chunk: bytes, /, *, final: bool = False) -> str:
        """The text that a chunk completes; with ``final``, nothing is kept back."""
        ...


class Diverges(AssertionError):
    """The decoder does something else than the reference."""


def stream_machine(
    make: Callable[[], StreamDecoder],
    *,
    error_mode: str = "fatal",
    refusals: type[Exception] | tuple[type[Exception], ...] = ValueError,
    prompt: bool = False,
) -> type[RuleBasedStateMachine]:
    """A machine that drives decoders and the reference alike, and compares them after every call.

    Args:
        make: gives a new decoder: a class, or a function without parameters.
        error_mode: what the decoders do with ill-formed octets: ``"fatal"`` (they refuse), ``"replacement"``, or
            another one that the reference has.
        refusals: what they raise to refuse. Any other exception is an error of theirs.
        prompt: whether output and refusals must come as soon as they are certain.

    Returns:
        a class: its ``TestCase`` is for pytest and unittest, ``run_state_machine_as_test`` takes it itself.

    Raises:
        ValueError: there is no such error mode.
    """
    IncrementalDecoder(error_mode)  # which says what is wrong with its name
    sample = make()
    resets = callable(getattr(sample, "reset", None))
    saves = all(callable(getattr(sample, name, None)) for name in ("getstate", "setstate"))

    class StreamMachine(RuleBasedStateMachine):
        """One decoder, one stream after the other."""

        def __init__(self) -> None:
            super().__init__()
            self.renew()

        def renew(self) -> None:
            """A new decoder, for a new stream."""
            self.decoder: Any = make()
            self.begin()

        def begin(self) -> None:
            """A new stream, for the decoder as it is."""
            self.reference = IncrementalDecoder(error_mode)
            self.fed = b""
            self.text = ""
            self.expected = ""
            self.refusal: IllFormed | None = None
            self.ended = False

        @rule(chunk=unfinished() | steps() | near_misses(max_pieces=3) | characters())
        def feed(self, chunk: bytes) -> None:
            self.give(chunk, final=False)

        @rule(chunk=just(b"") | steps() | near_misses(max_pieces=2))
        def finish(self, chunk: bytes) -> None:
            self.give(chunk, final=True)
            self.ended = True

        @rule()
        def take_another_decoder(self) -> None:
            self.renew()

        @precondition(lambda _: resets)
        @rule(chunk=unfinished())
        def reset_after(self, chunk: bytes) -> None:
            self.give(chunk, final=False)
            self.decoder.reset()
            self.begin()

        @precondition(lambda _: saves)
        @rule(chunk=unfinished())
        def save_after_and_go_on_with_another_decoder(self, chunk: bytes) -> None:
            self.give(chunk, final=False)
            if not self.ended:
                state = self.decoder.getstate()
                self.decoder = make()
                self.decoder.setstate(state)

        def give(self, chunk: bytes, *, final: bool) -> None:
            """Give a chunk to both, and compare; where a stream has ended, it begins another one."""
            if self.ended and resets:
                self.decoder.reset()
                self.begin()
            elif self.ended:
                self.renew()
            self.fed += chunk
            if self.refusal is None:
                try:
                    self.expected += self.reference.decode(chunk, final)
                except IllFormed as error:
                    self.refusal = error
            try:
                put_out = self.decoder.decode(chunk, final=final)
            except refusals as error:
                if self.refusal is None:
                    self.complain(f"refused ({type(error).__name__}: {error}), though", final=final)
                self.ended = True
                return
            self.text += put_out
            if self.refusal is not None and (final or prompt):
                self.complain(f"not refused: {self.refusal};", final=final)
            exact = (final or prompt) and self.refusal is None
            if self.text != self.expected if exact else not self.comes_of(self.text):
                self.complain(f"output {self.text!a}, not {self.expected!a};", final=final)

        def comes_of(self, text: str) -> bool:
            """Whether a decoder that hurries less can have put that out; of what a refusal stops, all before it."""
            if self.refusal is None:
                return self.expected.startswith(text)
            return decode(self.fed[: self.refusal.offset]).startswith(text)

        def complain(self, what: str, *, final: bool) -> None:
            state = "at the end" if final else "so far"
            raise Diverges(f"{what} the octets {state} are {spaced_hex(self.fed, 64)}")

    return StreamMachine
