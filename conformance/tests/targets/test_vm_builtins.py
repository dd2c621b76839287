"""The decoders of Erlang, Guile and OCaml: the certificate of each, and further details of their answers."""

import pytest

from builtin_under_test import assert_certified, ready
from overlong.conformance.protocol.observation import Accepted, Refused
from overlong.conformance.targets.builtins import BUILTINS, FAMILIES
from overlong.conformance.targets.resolve import resolve
from overlong.conformance.vectors.batch import Batch
from overlong.conformance.vectors.vector import Vector
from overlong.reference import is_well_formed

pytestmark = [pytest.mark.long, pytest.mark.usefixtures("unexamined")]

SUITES = (
    *("core", "complete-0", "complete-0-refusing", "complete-0-replacing", "streams", "chunking"),
    *("encoder-edges", "encoder-utf-16"),
)
EXPECTED = {
    # claims that hold, claims that fail, codes; each divergence was confirmed by a standalone program
    "erlang": (  # it calls C0, F5, E0 80, ED A0, F4 90 incomplete, and keeps them until more octets come
        {"verdict", "scalars", "streaming", "encoder"},
        {"error position", "earliest detection"},
        {"OV303", "OV512"},
    ),
    "erlang-bit-syntax": ({"verdict", "scalars", "error position", "encoder"}, set(), set()),
    "guile": ({"verdict", "scalars", "encoder"}, set(), set()),
    "guile-port": ({"scalars", "error mode"}, set(), set()),
    "ocaml-uutf": (  # C2 22 are two malformed octets
        {"verdict", "scalars", "error mode", "encoder"},
        {"error position"},
        {"OV302"},
    ),
    "ocaml-uutf-decoder": (  # it waits for the number of octets that the lead announces
        {"verdict", "scalars", "error position", "error mode", "streaming"},
        {"earliest detection"},
        {"OV511", "OV512"},
    ),
}


def decoded(name, operation, *inputs):
    """A decoder's answers to inputs."""
    ready(name)
    target = resolve(name)
    target.open()
    try:
        batch = Batch.of([Vector("asked", octets) for octets in inputs])
        parts = target.observe([(batch, operation)])
        units = target.greeting.units
        return [each for part in parts for each in part.answers.observations(units, verdict_only=False)]
    finally:
        target.close()


def test_every_decoder_has_its_row():
    names = ("erlang", "guile", "ocaml")
    assert [builtin.name for name in names for builtin in FAMILIES[name]] == list(EXPECTED)


@pytest.mark.parametrize("name", EXPECTED)
def test_is_certified_for_what_it_is(name):
    version = assert_certified(name, SUITES, *EXPECTED[name])
    assert version.split()[-1] in BUILTINS[name].version() or version.split()[0] in BUILTINS[name].version()


def test_erlang_takes_for_incomplete_what_nothing_can_complete():
    """``unicode:characters_to_list(<<16#C0>>)`` is ``{incomplete,[],<<192>>}``; with one octet more it is an error."""
    inputs = [bytes.fromhex(each) for each in ("c0", "f5", "e080", "eda0", "f490", "ff", "f8", "c080", "61e282")]
    said = decoded("erlang", "D", *inputs)
    assert [each.incomplete for each in said] == [True] * 5 + [False] * 3 + [True]
    assert {each.offset for each in said[:-1]} == {0}
    assert said[-1].offset == 1


def test_uutf_takes_the_octets_after_a_lead_whatever_they_are():
    """It drops a quote after C2: the malformed sequence is as long as its lead announces."""
    inputs = [bytes.fromhex(each) for each in ("c2223e", "e2223e7a", "c2c2a9", "c080", "fb7a", "c3a922")]
    assert decoded("ocaml-uutf", "L", *inputs) == decoded("ocaml-uutf-decoder", "L", *inputs)
    values = [each.values for each in decoded("ocaml-uutf", "L", *inputs)]
    assert values == [(0xFFFD, 0x3E), (0xFFFD, 0x7A), (0xFFFD,) * 2, (0xFFFD,) * 2, (0xFFFD, 0x7A), (0xE9, 0x22)]
    assert [each.length for each in decoded("ocaml-uutf", "D", *inputs)[:5]] == [2, 3, 2, 1, 1]


@pytest.mark.parametrize("name", EXPECTED)
def test_a_byte_order_mark_stays_but_where_the_greeting_says_otherwise(name):
    ready(name)
    operation = "L" if name == "guile-port" else "D"
    (said,) = decoded(name, operation, b"\xef\xbb\xbf\xef\xbb\xbfa")
    stripped = name in {"guile-port", "ocaml-uutf-decoder"}
    assert said == Accepted((0xFEFF, 0x61) if stripped else (0xFEFF, 0xFEFF, 0x61))


@pytest.mark.parametrize("name", ["erlang", "erlang-bit-syntax", "guile", "ocaml-uutf"])
def test_all_pairs_of_octets(name):
    """Only verdicts, without the harness's suites; no answer affects the next one."""
    pairs = [bytes([first, second]) for first in range(256) for second in range(256)]
    for octets, said in zip(pairs, decoded(name, "D", *pairs), strict=True):
        if is_well_formed(octets):
            assert said == Accepted(tuple(map(ord, octets.decode("utf-8")))), octets
        else:
            assert isinstance(said, Refused), octets
