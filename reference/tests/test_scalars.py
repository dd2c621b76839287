"""Scalar values, derived twice: from the bits of section 3, and from the order of the octets."""

import pytest

from overlong.reference import dialect, encode_scalars
from overlong.reference.layout import Layout
from overlong.reference.order import Ranking, characters, scalar_of_rank, scalar_values, well_formed_products


@pytest.mark.long
def test_bits_and_order_agree_on_every_scalar_value():
    spoken = dialect()
    ranking = Ranking(spoken.automaton)
    count = 0
    for place, (octets, scalar) in enumerate(zip(characters(spoken.automaton), scalar_values(), strict=True)):
        assert octets == chr(scalar).encode()
        if len(octets) < 3 or octets[-1] in (0x80, 0xBF):  # in between both count on by one
            assert spoken.layout.number(octets) == scalar
            assert ranking.rank(octets) == place
            assert scalar_of_rank(place) == scalar
        count += 1
    assert count == 1_112_064


@pytest.mark.long
def test_encoder_is_the_inverse_on_every_scalar_value():
    spoken = dialect()
    for start in range(0, 0x110000, 0x400):
        if not 0xD800 <= start < 0xE000:
            scalars = range(start, start + 0x400)
            assert encode_scalars(scalars) == "".join(map(chr, scalars)).encode()
    assert len(list(well_formed_products(spoken.automaton))) == 9


@pytest.mark.parametrize("octets", [b"", b"\x80", b"\xc2", b"\xed\xa0\x80", b"ab", b"\xe2\x82\xac!"])
def test_only_one_well_formed_character_has_a_rank(octets):
    with pytest.raises(ValueError, match="not one well-formed character"):
        Ranking(dialect().automaton).rank(octets)


@pytest.mark.parametrize("line", ["0-7F", "0-7F | 0xxxxxx", "0-7F | 0x1xxxxx", "0-7F | 0xxxxxxy", "G-7F | 0xxxxxxx"])
def test_a_bad_layout_says_where(line):
    with pytest.raises(ValueError, match=r"^some\.layout:2: not a row"):
        Layout.parse(f"0-7F | 0xxxxxxx\n{line}\n", "some.layout")
