"""The decoders of Ruby, PHP, Lua and Tcl: the claims that hold, and the codes of failed ones."""

from __future__ import annotations

import pytest

from overlong.conformance import certify
from overlong.conformance.targets.builtins import BUILTINS

pytestmark = pytest.mark.long

SUITES = ("core", "complete-0", "streams", "chunking", "encoder-edges", "encoder-utf-16")
LAX = {"OV202", "OV203", "OV208"}  # surrogates, numbers beyond 10FFFF, five and six octets
LAX_ENCODER = {"OV703", "OV704"}

# Name, the claims that hold, those that fail, and the codes of all findings. Each code was confirmed by a standalone
# program in that language, without the adapter.
KNOWN = [
    ("ruby", "verdict, scalars, error mode, encoder", "", set[str]()),
    (
        "ruby-encode",
        "verdict, scalars, error position, error mode, streaming, earliest detection, encoder",
        "",
        set[str](),
    ),
    ("ruby-unpack", "scalars", "verdict, encoder", LAX | LAX_ENCODER),
    ("php-mbstring", "verdict, scalars, error mode, encoder", "", set[str]()),
    ("php-mb-scrub", "scalars, error mode", "", set[str]()),
    ("php-iconv", "verdict, scalars, encoder", "", set[str]()),
    # It refuses a character in three writes, and drops a truncated one after two.
    ("php-iconv-filter", "verdict, scalars", "streaming, earliest detection", {"OV501", "OV512"}),
    ("php-preg", "verdict", "", set[str]()),
    ("php-json", "verdict, scalars, error mode", "", set[str]()),
    ("php-json-ignore", "scalars, error mode", "", set[str]()),
    ("php-htmlspecialchars", "verdict, scalars, error mode", "", set[str]()),
    ("lua-utf8", "verdict, scalars, error position", "encoder", LAX_ENCODER),
    ("lua-utf8-lax", "scalars, error position", "verdict, encoder", LAX | LAX_ENCODER),
    # It accepts C0 80 and surrogates, and its channel splits a character of four octets in two writes.
    (
        "tcl",
        "scalars",
        "verdict, error mode, streaming, earliest detection, encoder",
        {"OV402", "OV501", "OV511", "OV703"},
    ),
]
UNSTABLE = {"tcl": {"OV605", "OV607"}}  # F0 9F 98 at the end: it reads the octet after the end, whatever that is


@pytest.mark.parametrize(("name", "holds", "fails", "codes"), KNOWN, ids=[known[0] for known in KNOWN])
def test_it_is_what_it_is_known_to_be(
    name: str, holds: str, fails: str, codes: set[str], request: pytest.FixtureRequest
) -> None:
    builtin = BUILTINS[name]
    if missing := builtin.missing():
        pytest.skip(missing)
    if "verdict" not in fails:  # an examination tells wrong offsets from those that follow from what is accepted
        request.getfixturevalue("unexamined")
    certificate = certify(name, suites=SUITES)
    run = certificate.run
    states = {claim: state for claim, state in certificate.claims.items() if state != "not measured"}
    expected = {claim: "holds" for claim in holds.split(", ") if claim}
    assert states == {**expected, **{claim: "fails" for claim in fails.split(", ") if claim}}
    assert run.codes - UNSTABLE.get(name, set()) == codes
    assert not run.notes
    assert run.restarts == 0
    language, _, number = builtin.version().partition(" ")  # that 'target list' shows
    assert language.lower() == builtin.language.lower()
    assert run.greeting.language == builtin.language
    assert ".".join(number.split(".")[:2]) in run.greeting.version
