"""Count the code by room: lines without comments, docstrings and blank lines.

    python benchmarks/count_code.py [--json | --check] [FOLDER]

A line counts if it has a token of code. Further columns: modules, classes, the median of a module's lines, and the
modules of fewer than 30 lines except ``__init__.py``: each of these should have a neighbour with the same job.
``--check`` names the package's modules that are small, or have more than 400 lines: more than one job.
"""

from __future__ import annotations

import argparse
import ast
import io
import json
import statistics
import sys
import tokenize
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LEAST, MOST = 30, 400
"""A module of fewer lines is small, one of more is large."""
LATE = "fuzz/overlong/fuzz/engines/compiled.py"
"""The one small module that stays: it needs NumPy, which its importer must not load before a fork."""
NO_CODE = frozenset(
    {
        *(tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT),
        *(tokenize.ENCODING, tokenize.ENDMARKER),
    }
)


def lines_of_code(source: bytes) -> int:
    """The lines with code.

    Raises:
        SyntaxError: it is not Python.
    """
    docstrings: set[int] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            docstrings.update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    code: set[int] = set()
    for token in tokenize.tokenize(io.BytesIO(source).readline):
        if token.type not in NO_CODE:
            code.update(range(token.start[0], token.end[0] + 1))
    return len(code - docstrings)


def room_of(path: Path) -> str:
    """The room of a module in the package; otherwise its top folder."""
    portion, *inner = path.parts
    if inner[:1] != ["overlong"]:
        return f"{portion}/tests" if inner[:1] == ["tests"] else portion
    return f"{portion}/{inner[2]}" if len(inner) > 3 else f"{portion}/(face)"


def classes_of(source: bytes) -> int:
    """The classes, those within others included."""
    return sum(isinstance(node, ast.ClassDef) for node in ast.walk(ast.parse(source)))


def counted(root: Path) -> dict[str, dict[str, int]]:
    """The lines of each module by room, without hidden files and files that other tools generate.

    Args:
        root: of a checkout.
    """
    rooms: dict[str, dict[str, int]] = {}
    for path in sorted(root.rglob("*.py")):
        inside = path.relative_to(root)
        if len(inside.parts) > 1 and not any(part.startswith(".") or part == "node_modules" for part in inside.parts):
            rooms.setdefault(room_of(inside), {})[str(inside)] = lines_of_code(path.read_bytes())
    return rooms


def misfits(lines: dict[str, int]) -> list[str]:
    """The modules that are too small or too large, a line each; a face (``__init__.py``) may be small."""
    return [
        f"{path}: {count} lines of code, not {LEAST} to {MOST}"
        for path, count in sorted(lines.items())
        if count > MOST or (count < LEAST and not path.endswith("__init__.py") and path != LATE)
    ]


def main() -> None:
    """Print the table, or what it should not have."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", nargs="?", type=Path, default=ROOT, help="a checkout")
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="all modules, by room")
    form.add_argument("--check", action="store_true", help="fail if a module of the package is small or large")
    options = parser.parse_args()
    rooms = counted(options.folder)
    if options.json:
        print(json.dumps(rooms, indent=1, sort_keys=True))
        return
    modules_of = {path: lines for modules in rooms.values() for path, lines in modules.items()}
    program = {path: lines for path, lines in modules_of.items() if "/overlong/" in path}
    if options.check:
        sys.exit("\n".join(misfits(program)) or None)
    print(f"{'room':28} {'modules':>8} {'classes':>8} {'lines':>8} {'median':>8} {f'under {LEAST}':>9}")
    rest = {path: lines for path, lines in modules_of.items() if path not in program and "/tests/" not in path}
    for room, modules in (*rooms.items(), ("all rooms", program), ("all but tests", program | rest)):
        small = sum(lines < LEAST for path, lines in modules.items() if not path.endswith("__init__.py"))
        median = statistics.median(modules.values())
        classes = sum(classes_of((options.folder / path).read_bytes()) for path in modules)
        print(f"{room:28} {len(modules):8,} {classes:8,} {sum(modules.values()):8,} {median:8,.0f} {small:9,}")


if __name__ == "__main__":
    main()
