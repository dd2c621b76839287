"""Decoders of OCaml: Uutf. The standard library has one from 4.14 on, later than what Debian 12 has."""

from __future__ import annotations

import re
from pathlib import Path

from overlong.conformance.support.printable import printable
from overlong.conformance.targets.build import OCAML, built
from overlong.conformance.targets.builtin import ADAPTERS, Builtin, found, not_on_path, said


def _uutf() -> Path:
    """Where the library says which version it is."""
    return Path(said(found("ocamlopt"), "-where")) / "uutf" / "META"


def _missing() -> str:
    missing = not_on_path("ocamlopt", "OCaml and Uutf (Debian: apt install ocaml-nox libuutf-ocaml-dev)")
    if missing or _uutf().is_file():
        return missing
    return "OCaml has no library uutf; install Uutf (Debian: apt install libuutf-ocaml-dev)"


def _version() -> str:
    stated = re.search(r'^version = "([^"]*)"', _uutf().read_text("utf-8", "backslashreplace"), re.MULTILINE)
    return printable(stated[1], 40) if stated else ""


def _uutf_decoder(name: str, decoder: str, what: str) -> Builtin:
    return Builtin(
        name,
        "OCaml",
        what,
        _missing,
        lambda: [str(built(OCAML, ADAPTERS / "ocaml_uutf.ml", _uutf())), decoder, _version()],
        lambda: f"Uutf {_version()}, OCaml {said(found('ocamlopt'), '-version')}",
    )


OCAML_DECODERS = (
    _uutf_decoder("ocaml-uutf", "fold", "Uutf.String.fold_utf_8, add_utf_8"),
    _uutf_decoder("ocaml-uutf-decoder", "decoder", "Uutf.decoder, whole and in chunks"),
)
