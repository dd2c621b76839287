"""Pictures: they show what was measured and nothing else; and whatever is in a report, they stay pictures."""

import random
import re
from dataclasses import replace
from itertools import combinations
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from overlong.conformance.models.pair_maps import NOT_TOLD, PAIRS, painted, reference_maps
from overlong.conformance.protocol.observation import CLAIMS
from overlong.conformance.report.compared import table
from overlong.conformance.report.html.charts import (
    Joined,
    claims_picture,
    discovery,
    distances,
    joined,
    leaves,
    similarity,
)
from overlong.conformance.report.html.maps import (
    BOUND,
    MIXED,
    automaton_picture,
    differing,
    map_picture,
    regions,
    walk,
    walked_through,
)
from overlong.conformance.results.model import (
    Cause,
    Drawing,
    Map,
    Moment,
    Report,
    ReportKind,
    ReportPart,
    State,
    Subject,
)
from overlong.reference import dialect, is_well_formed

HOSTILE = "<script>alert(1)</script>\x1b]0;x\u202e]]>&\n{id}"
ANSWERS = {"refused": 0, "alone": 1, "more-1": 2, "more-2": 3, "more-3": 4, "more-4": 5, "untold": NOT_TOLD}
BASE = reference_maps()[0]
LAX = painted(dialect("lax").automaton, "rfc3629")[0]
SVG = "{http://www.w3.org/2000/svg}"


def checked(svg):
    """The picture, parsed; it is an image with a name, and nothing in it acts, loads, or bears a style of its own."""
    root = ET.fromstring(svg)
    assert root.tag == f"{SVG}svg"
    assert root.get("role") == "img"
    assert root.get("aria-label")
    ids = [each.get("id") for each in root.iter() if each.get("id")]
    assert len(ids) == len(set(ids))
    for each in root.iter():
        assert each.tag in {SVG + tag for tag in ("svg", "g", "path", "rect", "circle", "text", "title", "pattern")}
        assert "style" not in each.attrib
        assert not any(key.startswith("on") or "href" in key for key in each.attrib)
        for reference in re.findall(r"url\((.*?)\)", each.get("fill", "")):
            assert reference[1:] in ids
    assert "\x1b" not in svg
    assert "\u202e" not in svg
    return root


def repainted(svg, kinds):
    """The cells of a map's picture by what is painted on them; each must be painted once."""
    cells = [None] * PAIRS
    for path in checked(svg).iter(f"{SVG}path"):
        styles = path.get("class").split()
        if styles[0] != "cell":
            continue
        for x, y, width, height in re.findall(r"M(\d+) (\d+)h(\d+)v(\d+)h-\d+z", path.get("d")):
            for row in range(int(y), int(y) + int(height)):
                for at in range(row * 256 + int(x), row * 256 + int(x) + int(width)):
                    assert cells[at] is None
                    cells[at] = kinds[styles[1]]
    return cells


def altered(known, *blocks):
    """A map with rectangles painted over it."""
    answers = bytearray(known.answers)
    for x, y, width, height, answer in blocks:
        for row in range(y, min(y + height, 256)):
            end = min(x + width, 256)
            answers[row * 256 + x : row * 256 + end] = bytes([answer]) * (end - x)
    return Map(known.name, bytes(answers))


def test_the_pictures_of_maps_are_the_maps():
    for seen, known in ((BASE, BASE), (LAX, BASE)):
        assert bytes(repainted(map_picture(seen, known, "decoder"), ANSWERS)) == seen.answers
        assert bytes(repainted(map_picture(seen, known, "reference"), ANSWERS)) == known.answers


OCTET = st.integers(0, 255)


@settings(max_examples=20, deadline=None)
@given(st.lists(st.tuples(OCTET, OCTET, OCTET, OCTET, st.sampled_from(list(ANSWERS.values()))), max_size=5))
def test_regions_cover_every_cell_once_with_its_own_kind(blocks):
    answers = altered(BASE, *blocks).answers
    cells = [MIXED] * PAIRS
    found = regions(answers)
    assert found is not None
    for kind, some in found.items():
        for x, y, width, height in some:
            for row in range(y, y + height):
                assert cells[row * 256 + x : row * 256 + x + width] == [MIXED] * width
                cells[row * 256 + x : row * 256 + x + width] = [kind] * width
    assert bytes(cells) == answers


def test_a_difference_shows_where_one_is_wrong_and_how():
    seen = altered(
        BASE, (0xAF, 0xC0, 1, 1, 1), (0x41, 0x41, 1, 1, 0), (0x80, 0xE1, 1, 1, 3), (0, 0xC3, 64, 1, NOT_TOLD)
    )
    kinds = {"refused": 0, "same": 1, "too-much": 2, "too-little": 3, "otherwise": 4, "untold": 5}
    svg = map_picture(seen, BASE, "difference")
    cells = repainted(svg, kinds)
    assert cells == differing(seen.answers, BASE.answers)
    wrong = {(at >> 8, at & 0xFF): kind for at, kind in enumerate(cells) if kind in (2, 3, 4)}
    assert wrong == {(0xC0, 0xAF): 2, (0x41, 0x41): 3, (0xE1, 0x80): 4}
    assert "C0 AF: accepts, and should not" in svg
    assert svg.count('class="ring"') == 3
    assert "accepts, and should not: 1" in checked(svg).get("aria-label")


def test_what_has_very_many_regions_is_drawn_coarser_and_says_so():
    chosen = random.Random(8)
    noise = Map(BASE.name, bytes(chosen.choices(list(ANSWERS.values()), k=PAIRS)))
    dots = altered(BASE, *((x, y, 1, 1, 3) for x in range(0, 256, 3) for y in range(0, 256, 3)))
    for seen, drawn in ((noise, ("decoder", "difference")), (dots, ("decoder",))):
        for what in drawn:
            svg = map_picture(seen, BASE, what)
            assert len(svg) < BOUND + 8000
            (block,) = map(int, re.findall(r"drawn in blocks of (\d+) by", svg))
            assert block > 1
            if what == "decoder":
                painted_over = repainted(svg, {**ANSWERS, "mixed": MIXED})
                assert all(one in (MIXED, other) for one, other in zip(painted_over, seen.answers, strict=True))
    assert "drawn in blocks" not in map_picture(LAX, BASE, "decoder")


def test_maps_of_other_pairs_are_not_compared():
    with pytest.raises(ValueError, match="cannot be compared"):
        map_picture(Map("E0", BASE.answers), BASE, "difference")
    with pytest.raises(ValueError, match="no map 'all' to draw"):
        map_picture(BASE, BASE, "all")


@settings(max_examples=50, deadline=None)
@given(
    st.lists(st.sampled_from([b"a", b"\x80", b"\xc3", b"\xa9", b"\xe0\xa0", b"\xed", b"\xf0\x9f", b"\xff"])).map(
        b"".join
    )
)
def test_a_walk_goes_where_the_reference_goes(octets):
    steps, _, state, unread = walked_through(octets, dialect("rfc3629"))
    automaton = dialect("rfc3629").automaton
    assert [step.to for step in steps] == list(automaton.walk(octets))[: len(steps)]
    assert (state == "accepts") == is_well_formed(octets)
    assert (state == "dies") == (automaton.run(octets) == automaton.dead)
    assert len(steps) + unread == len(octets)
    root = checked(walk(octets, "rfc3629@1"))
    assert len(list(root.iter(f"{SVG}circle"))) >= 1


def test_a_walk_says_where_it_dies_and_what_was_wanted():
    svg = walk(b"\xe0\x80\xaf", "rfc3629@1")
    assert "no alternative has it; wanted A0-BF" in svg
    assert "UTF8-3: %xE0 %xA0-BF UTF8-tail" in svg
    assert "ill-formed at offset 0, 1 octet: OV201 overlong form" in svg
    assert "not read any more: 1 octet" in svg


def test_a_long_walk_is_cut_in_words_and_chunks_are_shown():
    svg = walk(b"a" * 5000 + b"\xff" + b"a" * 7, "rfc3629@1")
    assert "… 4987 more octets, up to offset 4990 …" in svg
    assert len(svg) < 8000
    assert walk("é".encode() * 2, "rfc3629@1", (1, 2, 1)).count("next chunk") == 2
    assert walk(b"a", "klingon@1") == walk(b"a" * 70_000, "rfc3629@1") == ""


def subjects(count, maps=True):
    """Decoders that are alike but for so many answers."""
    chosen = random.Random(count)
    return tuple(
        Subject(
            HOSTILE if not at else f"decoder-{at}",
            State.DIVERGES,
            claims={claim: chosen.choice(["holds", "fails", "not measured"]) for claim in CLAIMS} | {HOSTILE: "holds"},
            categories={HOSTILE: (10, at), "nothing asked": (0, 0)},
            maps=(altered(BASE, (0, 0, at, at, 0)), LAX) if maps else (),
            causes=tuple(cause(f"OV{number}") for number in range(at % 4)),
        )
        for at in range(count)
    )


def cause(code):
    return Cause(code, "", "", "", "verdict", 1, "", "", b"\xff", "D", "", "")


def report(some=(), **fields):
    return Report(ReportKind.MATRIX, "t", "overlong", tuple(some), **fields)


def test_a_matrix_of_claims_has_a_glyph_for_each():
    some = subjects(6)
    root = checked(claims_picture(report(some)))
    glyphs = "".join(each.text for each in root.iter(f"{SVG}text") if each.get("text-anchor") == "middle")
    states = [state for each in some for state in each.claims.values()]
    assert glyphs.count("✗") + glyphs.count("✘") == states.count("fails") + 5
    assert glyphs.count("✘") == 5
    assert glyphs.count("✓") == states.count("holds") + 1
    assert claims_picture(report()) == ""


def test_distances_of_maps_are_shares_of_what_both_told():
    untold = altered(BASE, (0, 0, 256, 128, NOT_TOLD), (0, 0x80, 16, 1, 1))
    some = [Subject("a", State.CONFORMS, maps=(each,)) for each in (BASE, BASE, LAX, untold)]
    apart, what = distances(some)
    assert "pairs of octets" in what
    for one, other in combinations(range(4), 2):
        told = [
            pair
            for pair in zip(some[one].maps[0].answers, some[other].maps[0].answers, strict=True)
            if NOT_TOLD not in pair
        ]
        assert apart[one, other] == pytest.approx(sum(x != y for x, y in told) / len(told))
    assert apart[0, 1] == 0 < apart[0, 3] == 16 / 32768


def test_where_one_has_no_maps_causes_are_compared():
    apart, what = distances(subjects(5, maps=False))
    assert "causes" in what
    assert apart[0, 4] == 0
    assert apart[2, 3] == pytest.approx(1 / 3)


def test_near_decoders_stand_side_by_side():
    far = {(0, 1): 0.9, (0, 2): 0.1, (0, 3): 0.8, (1, 2): 0.9, (1, 3): 0.2, (2, 3): 0.8}
    tree = joined(4, far)
    assert leaves(tree) == [0, 2, 1, 3]
    assert isinstance(tree, Joined)
    assert tree.distance == pytest.approx(0.85)
    assert sorted(leaves(joined(40, distances(subjects(40))[0]))) == list(range(40))


def test_similarity_of_few_and_of_many():
    few, many = similarity(report(subjects(5))), similarity(report(subjects(100, maps=False)))
    assert sum("number" in each.get("class", "").split() for each in checked(few).iter()) == 10
    checked(many)
    assert len(many) < 60_000
    assert similarity(report(subjects(1))) == ""


def test_discovery_steps_up_at_each_finding():
    moments = [Moment(0.0, 0, 0, 0), Moment(2.0, 10, 1, 5), Moment(9.0, 90, 1, 5), Moment(600.0, 6000, 4, 9)]
    root = checked(discovery(report(discovery=tuple(reversed(moments)))))
    (steps,) = (each.get("d") for each in root.iter(f"{SVG}path") if each.get("class") == "steps")
    heights = list(map(float, re.findall(r"V([\d.]+)", steps)))
    assert len(heights) == 2
    assert heights[0] > heights[1]
    assert heights[0] - heights[1] == pytest.approx(3 * (274 - heights[0]))
    assert discovery(report()) == ""
    checked(discovery(report(discovery=(Moment(0.0, 0, 0, 0),))))
    many = tuple(Moment(float(at), at, at, at) for at in range(20_000))
    assert len(discovery(report(discovery=many))) < 20_000


def test_the_automaton_of_a_decoder_that_passes_is_the_reference_s():
    learned = Subject("x", State.DIVERGES, automaton=Drawing("x", "<svg/>"))
    assert automaton_picture(learned) == "<svg/>"
    whole = ReportPart("complete-0", "", 5, 5, 0)
    passes = Subject("x", State.CONFORMS, claims={"verdict": "holds"}, parts=(whole,))
    assert "complete-0 shows that it is this" in automaton_picture(passes)
    assert automaton_picture(Subject("x", State.DIVERGES, claims={"verdict": "fails"}, parts=(whole,))) == ""
    assert automaton_picture(Subject("x", State.CONFORMS, claims={"verdict": "holds"})) == ""


def test_a_lone_surrogate_in_a_name_is_drawn_as_words():
    checked(claims_picture(report([replace(each, id="\udc80") for each in subjects(2)])))
    checked(similarity(report([replace(each, id="\udc80") for each in subjects(2)])))


def test_a_table_of_decoders_keeps_to_its_width():
    without_claims = Subject("a decoder " * 9, State.EXPECTED)
    for width in (40, 60, 80):
        assert max(map(len, table([without_claims], width=width, encoding="utf-8"))) <= width
        lines = list(table([*subjects(3), without_claims], width=width, encoding="utf-8"))
        assert max(map(len, lines)) <= width
        assert all(word in " ".join(lines) for word in ("verdict", "encoder"))
