"""The greeting: what a target says of itself before it is asked."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, cast

from overlong.conformance.protocol.wire import (
    ASK,
    ASKING,
    ECHO,
    ENCODING,
    MEASURED,
    NUMBERS,
    OCTETS,
    OPERATIONS,
    UNITS,
    VERSION,
    ProtocolError,
    Units,
)
from overlong.conformance.support.printable import printable
from overlong.conformance.support.strict_json import JsonError, loads
from overlong.reference.questions import EARLY, QUESTIONS
from overlong.reference.reading import MODES

WORDS = {
    "encode_errors": ("fatal", "replacement", "question mark"),
    "stream_offsets": ("stream", "chunk", "kept"),
    "stream_refusals": ("marked",),
    "offsets": ("octets", "units", "scalars"),
    "shared_memory": ("mapped",),
    "threads": ("called",),
    "ill_formed": tuple(MODES),
    "stops": (EARLY,),
}
"""Optional members of a greeting, each with its allowed words."""

TRAITS = {
    "nul": ("ends the string", "refused"),
    "bom": ("strips",),
    "wrapper": ("json-string", "xml"),
}
"""Traits with a meaning (declared limits), with their allowed words: see
:mod:`overlong.conformance.oracle.apart`."""


@dataclass(frozen=True)
class Greeting:
    """The one line of JSON that a target writes first."""

    name: str
    version: str
    language: str
    operations: str
    units: Units
    error_mode: str
    encode_errors: str = "fatal"
    stream_offsets: str = ""
    """The origin of offsets in a stream's refusal: ``stream``, ``chunk`` or ``kept``; empty: not given."""
    stream_refusals: str = ""
    """``marked``: the refusal of a stream names the chunk."""
    offsets: str = "octets"
    """The unit of a refusal's offset: ``octets``, ``units`` put out before it, or ``scalars``."""
    shared_memory: str = ""
    """``mapped``: the target accepts batches in the offered shared memory."""
    threads: str = ""
    """``called``: the target answers batches in several threads at once."""
    constants: tuple[int, ...] = field(default=(), compare=False)
    """Numbers that the decoder's code names, ascending: sweeps ask around them. Those of a module may be drawn anew in
    each process, so they do not tell decoders apart."""
    functions: tuple[str, ...] = ()
    """The questions that it answers, by name."""
    ill_formed: str = ""
    """The mode in which its functions divide ill-formed text; empty: not declared."""
    stops: str = ""
    """``early``: its converters may stop though the next character fits."""
    traits: dict[str, str] = field(default_factory=dict[str, str])

    def units_of(self, operation: str) -> Units:
        """The units of an operation's output."""
        return units_of(operation, self.units)

    @property
    def marks_refusals(self) -> bool:
        return self.stream_refusals == "marked"

    @classmethod
    def parse(cls, line: bytes) -> Greeting:
        """Raises: ProtocolError: the line is no greeting of this version; the message shows the line."""
        shown = printable(line[:80].decode("ascii", "backslashreplace"))
        try:
            line.decode("ascii")
            data: Any = loads(line, "greeting")
        except ValueError as error:
            if isinstance(error, JsonError) and error.doubt:
                raise ProtocolError(f"its greeting is JSON that programs read differently: {error.doubt}") from error
            raise ProtocolError(
                f'its first line is not the greeting but "{shown}"; write one line of JSON before anything else, '
                "and nothing but frames to stdout after it"
            ) from error
        if not isinstance(data, dict) or "overlong" not in data:
            raise ProtocolError(f'its first line has no "overlong" member: "{shown}"')
        greeting = cast("dict[str, Any]", data)
        if type(greeting["overlong"]) is not int or greeting["overlong"] != VERSION:
            spoken = printable(str(greeting["overlong"]), 20)
            raise ProtocolError(f"it speaks protocol version {spoken}; this is version {VERSION}")

        def text(member: str, default: str = "") -> str:
            value = greeting.get(member, default)
            if not isinstance(value, str):
                raise ProtocolError(f'"{member}" in its greeting is not a string')
            return value[:200]

        operations = text("operations")
        if unknown := set(operations) - set(OPERATIONS):
            raise ProtocolError(f'"operations" names {printable(min(unknown))!r}; there are {"".join(OPERATIONS)}')
        if ECHO not in operations:
            raise ProtocolError('"operations" lacks P, the echo that shows that its pipes are clean')
        if not set(operations) & set(MEASURED):
            raise ProtocolError(f'"operations" names nothing to certify; offer one of {", ".join(MEASURED)}')
        units = text("units", "utf-32")
        if units not in UNITS:
            raise ProtocolError(f'"units" is {printable(units)!r}; there are {", ".join(UNITS)}')
        for member, words in (WORDS | TRAITS).items():
            if member in greeting and text(member) not in words:
                raise ProtocolError(f'"{member}" is {printable(text(member))!r}; there are {", ".join(words)}')
        constants = cast("list[int]", greeting.get("constants", []))
        if type(constants) is not list or any(type(each) is not int for each in constants):
            raise ProtocolError('"constants" in its greeting is not a list of integers')
        functions = _functions(greeting.get("functions", []), asked=bool(set(ASKING) & set(operations)))
        known = {"overlong", "name", "version", "language", "operations", "units", "error_mode", "functions", *WORDS}
        return cls(
            name=text("name", "unnamed"),
            version=text("version"),
            language=text("language"),
            operations=operations,
            units=UNITS[units],
            error_mode=text("error_mode", "replacement"),
            constants=tuple(sorted(set(constants))),
            functions=functions,
            **{member: text(member) for member in WORDS if member in greeting},
            traits={
                **{key: text(key) for key in sorted(greeting) if key not in known and isinstance(greeting[key], str)},
                **({"functions": ", ".join(functions)} if functions else {}),
                **{member: text(member) for member in ("ill_formed", "stops") if text(member)},
            },
        )


def units_of(operation: str, units: Units) -> Units:
    """The units of an operation's output, for a target that decodes to ``units``."""
    return OCTETS if operation in ENCODING else NUMBERS if operation == ASK else units


def _functions(said: Any, *, asked: bool) -> tuple[str, ...]:
    """The questions that a greeting names.

    Raises:
        ProtocolError: they are no list of names, or there are none and it is to be asked some.
    """
    names = cast("list[str]", said)
    if type(said) is not list or any(type(each) is not str for each in names):
        raise ProtocolError('"functions" in its greeting is not a list of names')
    if unknown := set(names) - set(QUESTIONS):
        raise ProtocolError(f'"functions" names "{printable(min(unknown))}"; there are {", ".join(QUESTIONS)}')
    if asked != bool(names):
        raise ProtocolError(f'{ASK} in "operations" and names of "functions" belong together; its greeting has one')
    return tuple(name for name in QUESTIONS if name in names)
