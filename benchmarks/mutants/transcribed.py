"""Members of the populations in C, transcribed to Python: callables of `bytes` that return `bool`, or `str`.

Their expressions are C, but mean the same in Python once operators are respelt: `condition ? octets : 0` is
`condition and octets`, and a pointer is the octets and an offset. A call proves each callable wrong, as in C.
"""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mutants import outputs, population
from mutants.population import those_shown
from overlong.reference import IllFormed, decode_scalars, dialect
from planted.tables import tables

if TYPE_CHECKING:
    from collections.abc import Iterable

    from mutants.population import Mutant

FILE = "transcribed_callables.py"
RIGHT, RIGHT_OUTPUT = "right", "right_output"
"""The callables that have no fault."""
_VALIDATORS, _DECODERS = 0.02, 0.05
"""The shares of the populations in C: certificates take as many minutes as these have hundredths."""
_WALKERS = Path(__file__).with_name("walkers.py.txt")
_HELPERS, *_SECTIONS = re.split(r"^# --- (\w+)\n", _WALKERS.read_text("ascii"), flags=re.MULTILINE)
_TEMPLATES = dict(zip(_SECTIONS[::2], _SECTIONS[1::2], strict=True))
"""The function in Python for each macro in C."""
_IN_PYTHON = (
    (r"^\(past->key == hash\(s, n, (\d+)\) && n >= (\d+).*", r"kept(past, s, ok, \1, \2)"),
    (r"^(.*) \? (.*) : ok$", r"(\2) if (\1) else ok"),
    (r"&&", " and "),
    (r"\|\|", " or "),
    (r"!(?!=)", " not "),
    (r" \? ", " and "),
    (r" : 0", ""),
    (r"/", "//"),
    (r"(past|now)->", r"\1."),
    (r"\breturn refuse\(answer, (.*), 0, 0xFF\)", r"return \1"),
    (r"\bLOSE\b", "now.state = now.held = 0"),
    (r"\bPASS_OVER\b", "s = pass_over(now, s)"),
    (r"\bADDRESS\b", "address"),
    (r"\bs \+ i", "s, i"),
    (r"LOOSE\(", "loose(s, i, left, "),
    (r"LEAD_BEFORE", "(before and s[i - before])"),
    (r"\btrue\b", "True"),
    (r"\bfalse\b", "False"),
)


def _python(expression: str) -> str:
    for pattern, text in _IN_PYTHON:
        expression = re.sub(pattern, text, expression)
    return expression


def _arguments(code: str) -> list[str]:
    """The arguments of a macro: commas within parentheses separate none."""
    found, depth = [""], 0
    for letter in code[code.index("(") + 1 : code.rindex(")")]:
        depth += (letter == "(") - (letter == ")")
        if letter == "," and not depth:
            found.append("")
        else:
            found[-1] += letter
    return [_python(each.strip()) for each in found]


def _function(symbol: str, code: str) -> str:
    _, *arguments = _arguments(code)
    template = _TEMPLATES[code.partition("(")[0]]
    for place, argument in enumerate(arguments):
        template = template.replace(f"_{place}_", argument or "pass")
    return template.replace("NAME", symbol)


def text_of(functions: Iterable[tuple[str, str]]) -> str:
    """A file of callables: each has a symbol, and its code in C."""
    return "\n".join(
        (
            *(f"{name} = {value!r}" for name, value in tables().items()),
            _HELPERS,
            *(_function(*each) for each in functions),
        )
    )


def _text(mutants: list[Mutant]) -> str:
    """The file of all callables, with the right ones."""
    functions = [(each.symbol, each.code) for each in mutants]
    return text_of(
        [*functions, (RIGHT, "WALK(NAME, 0, false, ok)"), (RIGHT_OUTPUT, "DECODE(NAME, false, c, false, 0)")]
    )


def is_output(mutant: Mutant) -> bool:
    """True if it returns text, and not a verdict."""
    return mutant.code.startswith("DECODE")


class Callables:
    """The callables, in this process."""

    def __init__(self, text: str) -> None:
        self.named: dict[str, Any] = {}
        exec(compile(text, FILE, "exec"), self.named)  # noqa: S102 (written just now)

    def proved(self, mutant: Mutant) -> Mutant | None:
        """The mutant with only the witness that it answers wrongly; None if it answers all rightly."""
        for calls in mutant.witnesses:
            self.named["PAST"].clear()
            answers = [self._answer(mutant, each) for each in calls]
            if answers[-1] != (_right(calls[-1]) if is_output(mutant) else dialect().automaton.accepts(calls[-1])):
                return replace(mutant, witnesses=(calls,))
        return None

    def _answer(self, mutant: Mutant, octets: bytes) -> object:
        try:
            return self.named[mutant.symbol](octets)
        except UnicodeDecodeError as error:
            return error.start


def _right(octets: bytes) -> object:
    try:
        return "".join(map(chr, decode_scalars(octets)))
    except IllFormed as error:
        return error.offset


def callables(folder: Path, seed: int, share: float) -> tuple[list[Mutant], int]:
    """Write the callables; return those that are proved wrong, and the number of draws without a proof."""
    candidates = population.drawn(seed, _VALIDATORS * share)
    drawn = outputs.drawn(seed, _DECODERS * share)
    candidates += [each for each in drawn if each.family.startswith("scalar value")]
    (folder / FILE).write_text(text := _text(candidates), "ascii")
    return those_shown(candidates, Callables(text).proved)
