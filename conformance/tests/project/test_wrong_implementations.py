"""The styles of decoder that the benchmark of power spoils: they are right, and a mistake in one is proved."""

import shutil
import sys
from itertools import product
from pathlib import Path

import numpy as np
import pytest

BENCHMARKS = Path(__file__).parents[3] / "benchmarks"
ODD = bytes.fromhex("00 7F 80 8F 90 9F A0 BF C1 C2 DF E0 E1 EC ED EE EF F0 F1 F3 F4 F5 FF")
ALONE = [bytes(octets) for length in range(5) for octets in product(ODD if length > 1 else range(256), repeat=length)]

pytestmark = pytest.mark.skipif(shutil.which("cc") is None, reason="needs a C compiler")


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """The styles, a written mistake of each, and the search."""
    sys.path.append(str(BENCHMARKS))
    try:
        from mutants import shaped, shapes
    finally:
        sys.path.remove(str(BENCHMARKS))
    styles = shapes.styles()
    drawn = {style.name: [each for each in shapes.drawn(1) if each.family == style.name] for style in styles}
    some = [next(each for each in drawn[style.name] if each.origin == shapes.WRITTEN) for style in styles]
    folder = tmp_path_factory.mktemp("shaped")
    assert shaped.build(folder, some) == some
    return styles, some, shaped.Prover(folder / shaped.LIBRARY)


def test_the_styles_are_right_and_many(built):
    styles, _, prover = built
    assert len(styles) >= 12
    assert len({style.abi for style in styles}) >= 6
    ends = np.cumsum([*map(len, ALONE)], dtype=np.uint64)
    alone = prover.judged(np.frombuffer(b"".join(ALONE), np.uint8), ends, np.zeros(len(ends), np.uint8))
    many, few = prover.texts(9, 6_000), prover.texts(9, 500)
    for style in styles:
        for texts in (alone, many):
            assert prover.wrong_at(style.right, texts, 20.0) == (-1, 0), style.name
        assert prover.wrong_at(style.right, few, 20.0, guarded=True) == (-1, 0), style.name


def test_a_mistake_in_each_style_is_proved_and_its_proof_holds(built):
    _, some, prover = built
    prover.lists = [(prover.texts(1, 6_000), 1.0)]
    for each in some:
        proof = prover.proof(each)
        assert proof is not None, (each.family, each.words)
        ends = np.array([len(proof.text)], np.uint64)
        again = prover.judged(np.frombuffer(proof.text, np.uint8), ends, np.array([proof.place], np.uint8))
        if proof.how == "alone":
            assert prover.wrong_at(each, again, 5.0) == (0, 0), (each.family, each.words)


@pytest.mark.long
def test_styles_in_python_are_right_and_mistakes_are_proved(monkeypatch):
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    from mutants import in_python

    texts = in_python.texts()[:1_500]
    monkeypatch.setattr(in_python, "texts", lambda: texts)
    rights, drawn = in_python.rights(), in_python.drawn(1)
    assert len(rights) >= 12
    for right in rights:
        assert in_python.proof(right) is None, right.family
        mistakes = [each for each in drawn if each.family == right.family]
        assert any(isinstance(in_python.proof(each), bytes) for each in mistakes), right.family
