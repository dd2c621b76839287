"""Output in bulk is that of the readable decoder."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from overlong.conformance.vectors.batch import first_flaw, replaced
from overlong.reference import DIALECTS, ERROR_MODES, MaximalSubpart, dialect, segments
from overlong.reference.decoder import taken

REPLACING = [mode for mode in ERROR_MODES.values() if mode.stands_for is not None]


def agree(octets: bytes, speaks: str) -> None:
    spoken = dialect(speaks)
    found = list(segments(octets, spoken=spoken))
    scalars = tuple(scalar for each in found if not isinstance(each, MaximalSubpart) for scalar in each.scalars)
    flaw = next((each for each in found if isinstance(each, MaximalSubpart)), None)
    assert first_flaw(octets, spoken) == (flaw or scalars)
    for mode in REPLACING:
        assert list(replaced(octets, mode, spoken)) == mode.output(taken(octets, mode, spoken), octets)


@pytest.mark.parametrize("speaks", DIALECTS)
def test_of_each_string_over_the_classes(speaks: str) -> None:
    classes = [each.least for each in dialect(speaks).automaton.classes]
    for octets in product(classes, repeat=3):
        agree(bytes(octets), speaks)


@given(
    st.lists(
        st.one_of(st.binary(max_size=8), st.text(max_size=8).map(str.encode), st.just(b"\xed\xa0\x81\xed\xb0\x80")),
        max_size=12,
    ).map(b"".join),
    st.sampled_from(list(DIALECTS)),
)
def test_of_text_with_errors(octets: bytes, speaks: str) -> None:
    agree(octets, speaks)
