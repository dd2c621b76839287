"""Draws a run in a terminal as SVG. ``python docs/record.py`` runs the command, which takes some seconds.

The decoder is the wrong one of docs/command-line.md. A test holds the picture to that page's session, which another
test holds to a real run.
"""

from __future__ import annotations

import os
import pty
import re
import subprocess
import sys
import tempfile
from html import escape
from pathlib import Path
from typing import NamedTuple

COMMAND = "overlong certify --no-sweeps py:decoder.py:decode"
_DIVERGES = 1
PAGE = Path(__file__).parent / "command-line.md"
PICTURE = Path(__file__).parent / "pictures" / "certify.svg"
COLUMNS = 80

_LEFT, _TOP, _LINE, _SIZE = 18, 46, 19, 14
_WIDTH = 2 * _LEFT + round(COLUMNS * _SIZE * 0.602)
_CLASSES = {"1": "b", "31": "r", "32": "g", "33": "y", "36": "c"}
_STYLE = f"""
text {{ font: {_SIZE}px ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace; fill: #e6edf3;
  white-space: pre; }}
.b {{ font-weight: 600; }} .q {{ fill: #8b949e; }}
.r {{ fill: #ff7b72; }} .g {{ fill: #56d364; }} .y {{ fill: #e3b341; }} .c {{ fill: #76e3ea; }}
"""


class Span(NamedTuple):
    """Text of one style: the names of its classes."""

    text: str
    classes: tuple[str, ...]


def run() -> str:
    """What the command writes into a terminal, colours included. Progress goes elsewhere."""
    decoder = PAGE.read_text("utf-8").partition("```python\n")[2].partition("```")[0]
    terminal, program = pty.openpty()
    environment = {**os.environ, "COLUMNS": str(COLUMNS), "TERM": "xterm-256color", "PYTHONUTF8": "1"}
    environment.pop("NO_COLOR", None)
    words = [sys.executable, "-P", "-m", *COMMAND.split()]
    written = bytearray()
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "decoder.py").write_text(decoder, "utf-8")
        with subprocess.Popen(
            words, cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=program, stderr=subprocess.DEVNULL
        ) as process:
            os.close(program)
            try:
                while octets := os.read(terminal, 1 << 16):
                    written += octets
            except OSError:  # Linux says so when the other end is closed
                pass
            status = process.wait()
    os.close(terminal)
    if status != _DIVERGES:
        sys.exit(f"{COMMAND}: exit code {status}")
    return written.decode().replace("\r\n", "\n")


def spans(line: str) -> list[Span]:
    """A line by its styles."""
    found: list[Span] = []
    classes: tuple[str, ...] = ()
    for number, part in enumerate(re.split(r"\x1b\[([\d;]*)m", line)):
        if number % 2:
            codes = [code for code in part.split(";") if code not in ("", "0")]
            classes = (*classes, *(_CLASSES[code] for code in codes if code in _CLASSES)) if codes else ()
        elif part:
            found.append(Span(part, classes))
    return found


def drawn(output: str) -> str:
    """The picture of a run."""
    prompt = [Span("$ ", ("q",)), Span(COMMAND, ("b",))]
    lines = [prompt, *(spans(line) for line in output.rstrip("\n").split("\n"))]
    height = _TOP + len(lines) * _LINE + 4
    return "\n".join(
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" width="{_WIDTH}" role="img">',
            f"<title>{COMMAND}, and what it prints</title>",
            f"<style>{_STYLE}</style>",
            f'<rect width="{_WIDTH}" height="{height}" rx="8" fill="#0d1117"/>',
            *(
                f'<circle cx="{_LEFT + 4 + 20 * place}" cy="18" r="6" fill="{colour}"/>'
                for place, colour in enumerate(("#ff5f57", "#febc2e", "#28c840"))
            ),
            *(_line(number, each) for number, each in enumerate(lines)),
            "</svg>\n",
        )
    )


def _line(number: int, line: list[Span]) -> str:
    texts = (
        f'<tspan class="{" ".join(each.classes)}">{escape(each.text)}</tspan>' if each.classes else escape(each.text)
        for each in line
    )
    return f'<text x="{_LEFT}" y="{_TOP + number * _LINE}" xml:space="preserve">{"".join(texts)}</text>'


def main() -> None:
    """Draw the run."""
    PICTURE.write_text(drawn(run()), "utf-8")


if __name__ == "__main__":
    main()
