"""Decoders of Guile, a Scheme."""

from __future__ import annotations

from overlong.conformance.targets.build import GUILE, built
from overlong.conformance.targets.builtin import ADAPTERS, Builtin, said


def _program() -> str:
    program = GUILE.found()
    assert program is not None, "asked only when nothing is missing"
    return program


def _missing() -> str:
    return "" if GUILE.found() else "guile is not on PATH; install Guile 3 (Debian: apt install guile-3.0)"


def _command(decoder: str) -> list[str]:
    compiled = str(built(GUILE, ADAPTERS / "guile_utf8.scm"))
    return [_program(), "--no-auto-compile", "-c", "(load-compiled (cadr (command-line)))", compiled, decoder]


def _guile(name: str, decoder: str, what: str) -> Builtin:
    return Builtin(name, "Scheme", what, _missing, lambda: _command(decoder), lambda: said(_program(), "--version"))


GUILE_DECODERS = (
    _guile("guile", "utf8->string", "Guile's utf8->string and string->utf8"),
    _guile("guile-port", "port", "Guile's bytevector->string with 'substitute, which reads a port"),
)
