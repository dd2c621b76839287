"""Wrong implementations in Python: styles of decoder with one mistake each, as in ``shapes``.

Each file of ``styles_in_python/`` is a right decoder. A comment ``#~ mistake => code`` says what the line above it
reads if someone makes that mistake. Operators make more mistakes: comparisons, constants, signs, lost statements.
Nothing is known of where a mistake shows: a search that knows no plan draws texts with errors, some as long as the
numbers in the code.
"""

from __future__ import annotations

import ast
import copy
import multiprocessing
import re
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

from mutants.population import Mutant
from mutants.shaped import in_child
from mutants.shapes import OPERATOR, WRITTEN, mistakes_in
from overlong.conformance.sweep.pool import cpus

if TYPE_CHECKING:
    import signal
    from collections.abc import Callable, Iterator

STYLES = Path(__file__).with_name("styles_in_python")
_BY_OPERATORS = 4
_HANGS = 90.0
"""Processor seconds."""
_SHORT, _MIDDLE, _LONG, _NEAR = 30_000, 1_500, 60, 200
"""How many texts of up to 200, 6 000 and 140 000 octets, and for each number in the code."""
_SPELT = """
C0AF C1BF E080AF E09FBF F08080AF F08FBFBF EDA080 EDB080 EDBFBF EDA080EDB080 F4908080 F5808080 F888808080 FF FE 80 BF
C3 E4B8 E4 F09F9A F09F C361 E4B861 E461AD F09F61B2 F09F9A61 F0619AB2 C2C0 E4C0AD E4B8FF EFBBBF 00 0D0A 0A 0D 2020 7F
EFBFBD ED9FBF EE8080 F48FBFBF F3BFBFBF F0908080 E0A080 C280 DFBF
"""
_CORES = [bytes.fromhex(each) for each in _SPELT.split()]
"""Errors, and characters at the ends of ranges or with a meaning."""
_FILLERS = ("a", "é", "я", "中", "🚲", "a b ", "aé中🚲", "word\n", "中文, ", "\0")


@dataclass(frozen=True)
class InPython(Mutant):
    """A style with a mistake; its symbol names its file."""

    origin: str = WRITTEN


@cache
def styles() -> dict[str, tuple[str, tuple[tuple[str, str], ...]]]:
    """The code of each right decoder, and its written mistakes: in words, and the code with it."""
    return {path.name.partition(".")[0]: _read(path) for path in sorted(STYLES.glob("*.py.txt"))}


def _read(path: Path) -> tuple[str, tuple[tuple[str, str], ...]]:
    lines, mistakes = mistakes_in(path.read_text("ascii"), "#~")
    wrong = list[tuple[str, str]]()
    for place, words, code in mistakes:
        right = lines[place]
        line = right[: len(right) - len(right.lstrip())] + (code or "pass")
        wrong.append((words, "\n".join((*lines[:place], line, *lines[place + 1 :]))))
    return "\n".join(lines), tuple(wrong)


def rights() -> list[InPython]:
    """The styles without a mistake."""
    return [InPython(f"right_{name}", name, "none", code) for name, (code, _) in styles().items()]


def drawn(seed: int, share: float = 1.0) -> list[InPython]:
    """Candidates, in order, all different."""
    random, found = Random(seed), dict[str, InPython]()  # noqa: S311 (no secret)
    for name, (code, mistakes) in styles().items():
        others = list(_operated(code))
        for mine, most, origin in ((mistakes, len(mistakes), WRITTEN), (others, _BY_OPERATORS, OPERATOR)):
            for words, wrong in random.sample(mine, min(len(mine), max(1, round(most * share)))):
                found.setdefault(wrong, InPython(f"p{len(found):04}", name, words, wrong, origin=origin))
    return list(found.values())


_SWAPS: dict[type[ast.AST], type[ast.AST]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.LtE, ast.NotEq: ast.Gt,
    ast.And: ast.Or, ast.Or: ast.And, ast.Add: ast.Sub, ast.Sub: ast.Add, ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitXor,
}  # fmt: skip


def _operated(code: str) -> Iterator[tuple[str, str]]:
    """All that the operators make of a style: each in words, and the code with it."""
    whole = ast.parse(code)
    nodes = list(ast.walk(whole))
    for place, node in enumerate(nodes):
        for change in _changes(node):
            wrong = copy.deepcopy(whole)
            same = list(ast.walk(wrong))
            change(same[place])
            text = ast.unparse(wrong)
            line = getattr(node, "lineno", 0)
            yield f"line {line}: {_changed(ast.unparse(whole), text)}", text


def _changed(right: str, wrong: str) -> str:
    pairs = zip(right.splitlines(), wrong.splitlines(), strict=False)
    return next((f"`{one.strip()}` → `{two.strip()}`" for one, two in pairs if one != two), "the end is lost")


def _changes(node: ast.AST) -> Iterator[Callable[[Any], None]]:
    """Functions that each make one mistake in a node like this one."""
    if isinstance(node, ast.Compare):
        for place, each in enumerate(node.ops):
            if to := _SWAPS.get(type(each)):
                yield partial(_put, field="ops", place=place, value=to())
    if isinstance(node, ast.BoolOp | ast.BinOp | ast.AugAssign) and (to := _SWAPS.get(type(node.op))):
        yield partial(_put, field="op", place=None, value=to())
    if isinstance(node, ast.Constant) and type(node.value) is int:
        for step in (-1, 1):
            yield partial(_put, field="value", place=None, value=node.value + step)
    if isinstance(node, ast.FunctionDef | ast.For | ast.While | ast.If):
        for place, statement in enumerate(node.body):
            if isinstance(statement, ast.AugAssign | ast.If | ast.Raise) or (
                isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call)
            ):
                yield partial(_put, field="body", place=place, value=ast.Pass())


def _put(node: Any, field: str, place: int | None, value: object) -> None:
    if place is None:
        setattr(node, field, value)
    else:
        getattr(node, field)[place] = value


def _known(random: Random) -> bytes:
    return random.choice(_CORES)


def _edge(random: Random) -> bytes:
    """A lead, or nearly, and octets at the ends of ranges."""
    tails = random.choices((0x7F, 0x80, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xBF, 0xC0), k=random.randint(0, 4))
    return bytes((random.randint(0xBF, 0xFF), *tails))


def _any(random: Random) -> bytes:
    return random.randbytes(random.randint(1, 3))


def _text(random: Random, longest: int, near: int = 0) -> bytes:
    """A text of some fillers with an error or two, or none, about as long as a number."""
    size = max(0, near + random.randint(-6, 6)) if near else int(longest ** random.random())
    filler = random.choice(_FILLERS).encode()
    text = bytearray(filler * (size // len(filler) + 1))[:size] if random.random() < 0.7 else bytearray()
    while len(text) < size:
        text += random.choice(_FILLERS).encode() * random.choice((1, 1, 2, 3, 7, 16))
    while text and text[-1] & 0xC0 == 0x80 and random.random() < 0.97:  # else a character is cut
        text.pop()
    if text and text[-1] >= 0xC0:
        text.pop()
    for _ in range(random.choice((0, 1, 1, 1, 2))):
        core = random.choice((_known, _known, _edge, _any))(random) * random.choice((1, 1, 1, 1, 1, 1, 2, 3, 256))
        at = random.choice((0, len(text), random.randint(0, len(text)), random.randint(0, min(len(text), 70))))
        while 0 < at < len(text) and text[at] & 0xC0 == 0x80 and random.random() < 0.9:
            at -= 1
        text[at:at] = core
        if near or random.random() < 0.2:  # the same, further on
            text += random.choice(_FILLERS).encode() * random.randint(0, 40)
    return bytes(text)


@cache
def texts() -> tuple[bytes, ...]:
    """The texts that all callables get."""
    random = Random(1)  # noqa: S311
    sizes = ((_SHORT, 200), (_MIDDLE, 6_000), (_LONG, 140_000))
    return tuple(_text(random, longest) for count, longest in sizes for _ in range(count))


def _wrong(code: str, near: list[int]) -> bytes | None:
    """The first text that the callable answers wrongly."""
    named: dict[str, Any] = {"__name__": "style"}
    exec(compile(code, "style.py", "exec"), named)  # noqa: S102 (a style)
    decode = named["decode"]
    replaces = "U+FFFD" in code.partition("\n")[0]
    random = Random(2)  # noqa: S311
    further = (_text(random, 0, number) for number in near for _ in range(_NEAR))
    for each in (*texts(), *further):
        if not _is_right(decode, each, replaces=replaces):
            return each
    return None


def _is_right(decode: Any, octets: bytes, *, replaces: bool) -> bool:
    try:
        right: str | None = octets.decode("utf-8", "replace" if replaces else "strict")
        start = -1
    except UnicodeDecodeError as error:
        right, start = None, error.start
    try:
        found = decode(octets)
    except UnicodeDecodeError as error:
        return right is None and error.start == start
    except Exception:  # noqa: BLE001 (refused, in whatever way)
        return right is None
    return found is (right is not None) if isinstance(found, bool) else found == right


_NUMBERS = re.compile(r"(?<![\w.])(0x[0-9A-F]+|\d[\d_]*)(?!\w)")


def proof(mutant: InPython) -> bytes | signal.Signals | None:
    """A text that it answers wrongly; None if none was found; a signal if it hangs or dies."""
    numbers = {int(each, 0) for each in _NUMBERS.findall(mutant.code + mutant.words)}
    near = sorted(each for each in numbers if 16 <= each <= 140_000)
    found: bytes | signal.Signals | None = in_child(lambda: _wrong(mutant.code, near), _HANGS)
    return found


@dataclass(frozen=True)
class Drawn:
    """The population with what was left out."""

    mutants: list[InPython]
    proofs: dict[str, bytes]
    unproved: list[InPython]
    hanging: int


def population(folder: Path, seed: int = 1, share: float = 1.0) -> Drawn:
    """Write the callables, the right ones, too; return those that are proved wrong.

    Raises:
        SystemExit: a right one is wrong.
    """
    candidates = drawn(seed, share)
    assert texts()
    with multiprocessing.get_context("fork").Pool(cpus()) as pool:
        for right, found in zip(rights(), pool.map(proof, rights(), chunksize=1), strict=True):
            if found is not None:
                raise SystemExit(f"the right style {right.family!r} is wrong: {found!r}")
        proofs = dict(zip((each.symbol for each in candidates), pool.map(proof, candidates, chunksize=1), strict=True))
    for each in (*rights(), *candidates):
        (folder / f"{each.symbol}.py").write_text(each.code + "\n", "utf-8")
    shown = {symbol: found for symbol, found in proofs.items() if isinstance(found, bytes)}
    unproved = [each for each in candidates if proofs[each.symbol] is None]
    mutants = [each for each in candidates if each.symbol in shown]
    return Drawn(mutants, shown, unproved, len(candidates) - len(mutants) - len(unproved))
