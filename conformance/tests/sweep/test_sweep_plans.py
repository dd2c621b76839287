"""Plans of sweeps: strings have numbers, shards cover each string once, and counting equals reading."""

from itertools import product

import pytest

from overlong.conformance.oracle.target import TargetError, expectation
from overlong.conformance.protocol.greeting import Greeting
from overlong.conformance.sweep.grid import Grid, account
from overlong.conformance.sweep.plan import PLANS, plan_named
from overlong.conformance.sweep.schemes import class_strings
from overlong.conformance.vectors.pieces import every_class, fillers, pieces
from overlong.conformance.vectors.vector import Profile
from overlong.reference import DIALECTS, dialect, is_well_formed

SMALL = (
    *("exhaustive-2", "depth-0", "leads", "forms", "placed-2", "offsets-3", "lengths-9", "far-9", "pairs", "octets-3"),
    *("after-1", "transitions-1", "transitions-2", "faults-3", "thresholds-5", "order", "history", "drawn-7"),
)
UTF8 = dialect().automaton


def greeting(**members: str) -> Greeting:
    text = ", ".join(f'"{key}": "{value}"' for key, value in ({"name": "t", "operations": "PVD"} | members).items())
    return Greeting.parse(f'{{"overlong": 1, {text}}}'.encode())


def strings_of(grid: Grid) -> list[bytes]:
    """The results of ``grid.string`` for each number, in a tenth of the time."""
    return [b"".join(made[grid.earlier :]) for made in product(*grid.axes)]


def strings(plan: str) -> list[bytes]:
    return [string for grid in plan_named(plan).grids for string in strings_of(grid)]


@pytest.mark.long_after(3)
@pytest.mark.parametrize("name", SMALL)
def test_what_is_counted_is_what_is_read(name):
    for grid in plan_named(name).grids:
        few = 12 if len(grid.axes) < 5 else 3
        parts = [axis[:: max(1, len(axis) // few)] for axis in grid.axes]
        some = Grid(tuple(parts), grid.earlier)
        made = [some.string(index) for index in range(some.size)]
        assert account(some, UTF8) == (len(made), sum(map(len, made)), sum(map(is_well_formed, made)))


def test_the_numbers_of_strings_that_everybody_can_check():
    # 2**7 characters of one octet; 2,650,112 well-formed strings of three octets
    found = [account(grid, UTF8).well_formed for grid in plan_named("exhaustive-4").grids]
    assert found == [128, 18_304, 2_650_112, 383_270_912]
    assert plan_named("exhaustive-4").account(UTF8).strings == sum(256**length for length in range(1, 5))


@pytest.mark.parametrize("name", SMALL)
@pytest.mark.parametrize("largest", [997, 1 << 24])
def test_shards_are_all_of_a_plan_once(name, largest):
    plan = plan_named(name)
    reached = dict.fromkeys(range(len(plan.grids)), 0)
    for shard in plan.shards(largest):
        assert shard.first == reached[shard.grid]
        assert 0 < shard.count <= largest
        reached[shard.grid] += shard.count
    assert list(reached.values()) == [grid.size for grid in plan.grids]
    assert len({shard.key for shard in plan.shards(largest)}) == len(list(plan.shards(largest)))


def test_a_grid_numbers_its_strings_in_order():
    grid = plan_named("exhaustive-2").grids[1]
    assert [grid.string(index) for index in (0, 1, 256, 65535)] == [b"\0\0", b"\0\1", b"\1\0", b"\xff\xff"]
    pair = Grid(((b"a", b"bc"), (b"1", b"23", b"")), earlier=1)
    for grid in (*plan_named("depth-0").grids, pair):
        assert [grid.string(index) for index in range(grid.size)] == strings_of(grid)


def test_placed_strings_stand_at_every_offset():
    plan = plan_named("placed-64")
    assert plan.size > 5_000_000
    ((before, placed),) = (grid.axes for grid in plan.grids[:1])
    assert [len(piece) for piece in before] == list(range(65))
    assert {b"\xc0", b"\xff", b"\xf4\x90", b"\xc0\xbf"} <= set(placed)
    assert sum(len(piece) == 4 for piece in placed) >= len(UTF8.classes) ** 4
    assert all(is_well_formed(piece) for grid in plan.grids for piece in grid.axes[0])
    assert {len(filler) for filler in fillers(UTF8)} == {1, 2, 3, 4}


def test_pairs_have_characters_out_of_range_across_every_block():
    plan = plan_named("pairs")
    before, first, _, _ = plan.grids[0].axes
    for block in (8, 16, 32, 64, 128):
        assert {block - back for back in range(9)} <= set(map(len, before))
    for octets in ("E0 80 80", "ED A0 80", "F0 80 80 80", "F4 90 80 80", "FF"):
        assert bytes.fromhex(octets) in first
    assert {bytes.fromhex("F8 80 80 80 80"), bytes.fromhex("FC 80 80 80 80 80"), b"\xc2"} <= set(first)
    alone = {grid.axes[1] + grid.axes[2] for grid in plan.grids[:3]}
    assert len(alone) == 3, "few before few, few before the rest, the rest before few"


def test_pieces_are_every_kind_of_character_that_a_dialect_has():
    some = pieces(UTF8)
    assert len(every_class()) == 24
    assert all(map(is_well_formed, some.characters))
    assert not any(map(is_well_formed, some.ill_formed))
    assert set(some.kinds) <= set(some.ill_formed)
    for name in DIALECTS:
        takes = dialect(name).automaton.accepts
        if name not in {"rfc3629", "utf-8-sig", "cesu-8", "wtf-8"}:  # these also have pairs of surrogates
            assert any(map(takes, some.kinds)) == any(map(takes, some.wrong)) != all(map(takes, some.wrong)), name
    for octets in ("C0 AF", "C1 BF", "E0 9F BF", "ED AF BF", "F4 BF BF BF", "F7 BF BF BF", "FD BF BF BF BF BF", "80"):
        form = bytes.fromhex(octets)
        assert form in some.wrong or octets == "C0 AF", "only ends are there"


def test_leads_have_every_octet_in_every_place():
    asked = strings("leads")
    some = {b"\xee\x80?", b"\xee\xbf\xff", b"\xf1\x80\x80?", b"\xc2A", b"\xf5\x80\x80\x80", b"\xfe\xff", b"\x80\x80"}
    assert not some.difference(asked)
    within = {string[31:33] for string in asked if len(string) > 64}
    assert all(bytes([lead, octet]) in within for lead in range(256) for octet in range(256))


def test_errors_stand_after_characters_errors_and_thresholds():
    after = set(strings("after-3"))
    assert {b"\xf3\x80\x80\x80\xed\xa0\x80", b"\xc3\xbf@@@\xc0\x80"} <= after
    faults = {grid.axes[0] for grid in plan_named("faults-1").grids if len(grid.axes) == 1}
    assert any(b"\x80" * 65536 in choices for choices in faults)
    lengths = {len(string) for grid in plan_named("thresholds-16").grids for string in grid.axes[0]}
    assert {7, 8, 9, 999, 1000, 1001, 65535, 65536, 65537, 3 * 1024} <= lengths
    history = plan_named("history").grids[0]
    asked = ((history.asked_before(index) or b"", history.string(index)) for index in range(history.size))
    assert any(len(one) == len(two) > 4 and one[:4] == two[:4] and not is_well_formed(two) for one, two in asked)


def test_text_stands_between_the_parts_of_a_character_where_blocks_end():
    """A fast path that takes a block of text and forgets the lead before it accepts these."""
    parted = set(strings("faults-1"))
    for end, block in ((8, 8), (8, 16), (4, 4)):
        assert b"a" * (end - 1) + b"\xc2" + b"@" * block + b"\x80" in parted
        assert b"a" * (end - 2) + b"\xe0\xa0" + b"@" * block + b"\x80" in parted
    assert b"a" * 15 + b"\xc2" + b"@" * 16 + b"\x80" in set(strings("faults-3"))


def test_errors_stand_at_every_offset_and_far_away():
    asked = {(string.find(b"\xed\xa0\x80"), len(string)) for string in strings("offsets-9")}
    for offset in (*range(10), 15, 16, 17, 255, 256, 257):
        assert {(offset, offset + 3), (offset, offset + 19), (0, offset + 3)} <= asked
    kinds, behind = plan_named("offsets-9").grids[-1].axes[1:]
    assert (len(kinds), set(map(len, behind))) == (len(pieces(UTF8).kinds), {4096})
    for far in (plan_named("far-8"), plan_named("far-17")):
        ends = [(grid.string(0), grid.string(grid.size - 1)) for grid in far.grids]
        assert all(len(string) > 1 << int(far.name[4:]) for pair in ends for string in pair)


def test_a_number_means_more_of_the_same():
    for less, more in (("after-0", "after-3"), ("faults-1", "faults-2"), ("faults-2", "faults-3")):
        assert set(strings(less)) < set(strings(more))
    assert plan_named("transitions-0").grids == plan_named("transitions-1").grids[:1]
    for before, now in (("after", "after-3"), ("transitions", "transitions-2"), ("faults", "faults-3")):
        assert plan_named(before) is not None
        assert plan_named(before).name == now


def test_strings_are_drawn_by_the_seed_alone():
    one, again, other = (
        [grid.string(grid.size // 2) for grid in plan_named(f"drawn-{seed}").grids] for seed in (1, 1, 2)
    )
    assert one == again != other
    assert len({*one, *other}) > 100


def test_order_asks_after_every_state():
    (grid,) = plan_named("order").grids
    ends = {UTF8.run(string) for string in grid.axes[0]}
    assert ends == set(range(len(UTF8)))
    assert grid.asked_before(0) == grid.axes[0][0]
    assert grid.string(1) == grid.axes[1][1]


@pytest.mark.long_after(1)
@pytest.mark.parametrize("speaks", DIALECTS)
def test_every_dialect_has_every_plan(speaks):
    automaton = dialect(speaks).automaton
    for name in PLANS:
        if name not in {"lengths", "thresholds", "drawn"}:  # long strings, of nothing more
            assert plan_named(name, Profile(speaks)).account(automaton).well_formed


def test_class_strings_are_of_every_class():
    least = class_strings(UTF8, 1)
    assert len({UTF8.run(each) for each in least}) == len(set(UTF8.table[0]))
    assert b"\0" not in least


@pytest.mark.parametrize("scheme", [scheme for scheme in PLANS.values() if scheme.least is not None])
def test_a_plan_of_the_least_number_has_strings(scheme):
    assert plan_named(f"{scheme.name}-{scheme.least}").size


def test_a_wrong_name_is_told_why():
    for name in ("exhaustive-0", "exhaustive-7", "placed-99999", "pairs-1", "placed(x)", "no-1", ""):
        with pytest.raises(ValueError, match=r"write a number|takes no number|'overlong docs suites' lists them"):
            plan_named(name)


def test_a_trait_is_part_of_what_is_expected():
    refusing = expectation(Profile(), greeting(nul="refused"), "V").automaton
    ending = expectation(Profile(), greeting(nul="ends the string"), "V").automaton
    for string in [*strings("exhaustive-1"), b"a\0", b"a\0\xff", b"\xc2\0", b"\xc2\0\x80", b"\0\xff", b"\xff\0"]:
        assert refusing.accepts(string) == (is_well_formed(string) and b"\0" not in string)
        assert ending.accepts(string) == is_well_formed(string.partition(b"\0")[0])


def test_what_is_asked_and_judged():
    assert expectation(Profile(), greeting()).operation == "D"
    assert expectation(Profile(), greeting(), "V").units == ""
    assert expectation(Profile(), greeting(units="utf-16")).units == "utf-16"
    assert expectation(Profile(), greeting(nul="ends the string")).units == ""
    assert expectation(Profile("cesu-8"), greeting()).units == ""
    assert not expectation(Profile(), greeting(offsets="scalars")).offsets
    with pytest.raises(TargetError, match="offers PL"):
        expectation(Profile(), greeting(operations="PL"))
    with pytest.raises(TargetError, match="XML"):
        expectation(Profile(), greeting(wrapper="xml"))
