"""Two processes that share suites answer as one does, in the same order, whatever happens to them."""

import sys
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hostile import TARGET
from overlong.conformance import Invocation, certify
from overlong.conformance.oracle.target import BudgetSpent
from overlong.conformance.protocol.observation import Crashed
from overlong.conformance.targets.framed import FramedTarget
from overlong.conformance.targets.pair import Pair
from overlong.conformance.vectors.batch import Batch
from overlong.conformance.vectors.suites import ONLY_THOROUGH, SHARED, SUITES

ONLY_ONCE = """
import fcntl, os, sys
lock = os.open(sys.argv[1], os.O_CREAT | os.O_RDWR)
fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
os.set_inheritable(lock, True)
os.execv(sys.argv[2], sys.argv[2:])
"""


def batches(sizes, suite="shared"):
    """Batches of that many vectors, all different."""
    strings = [number.to_bytes(2, "big") for number in range(sum(sizes))]
    starts = [sum(sizes[:place]) for place in range(len(sizes))]
    return [
        replace(Batch.of_strings("x", strings[start : start + size]), suite=suite)
        for start, size in zip(starts, sizes, strict=True)
    ]


def opened(command, suites=("shared",), **options):
    """The first process, open, and a pair that shares these suites."""
    first = FramedTarget("target", command, **options)
    pair = Pair(first)
    pair.start()
    pair.open()
    pair.share(suites)
    return first, pair


def closed(first, pair):
    pair.close()
    first.close()
    return pair.notes


def said(answers):
    """What was asked and answered, independent of how batches were cut."""
    return [
        (each.operation, octets, bytes([status]), each.faults.get(place))
        for each in answers
        for place, (octets, status) in enumerate(
            zip(each.batch.strings(range(len(each.batch))), each.answers.statuses, strict=True)
        )
    ]


@pytest.fixture(scope="module")
def right():
    first, pair = opened([*TARGET, "none", "operations=VDL"])
    yield first, pair
    assert closed(first, pair) == []
    assert first.restarts == 0


@settings(deadline=None, max_examples=40)
@given(
    sizes=st.lists(st.integers(1, 700), max_size=30),
    suites=st.lists(st.sampled_from(["shared", "other"]), min_size=30, max_size=30),
    operations=st.sampled_from(["D", "VD", "VDL"]),
)
def test_answers_come_in_the_order_of_the_questions(right, sizes, suites, operations):
    first, pair = right
    named = [replace(batch, suite=suite) for batch, suite in zip(batches(sizes), suites, strict=False)]
    asked = [(batch, operation) for batch in named for operation in operations]
    assert said(pair.observe(asked)) == said(first.observe(asked))


def test_both_processes_work():
    first, pair = opened([*TARGET, "none"])
    before = pair._second._process.numbers(0)
    assert len(said(pair.observe((batch, "D") for batch in batches([10] * 8)))) == 80
    assert pair._second._process.numbers(0) - before == 4 * 2  # with an echo after each
    assert len(said(pair.observe((batch, "D") for batch in batches([10] * 8, "other")))) == 80
    assert pair._second._process.numbers(0) - before == 4 * 2
    assert closed(first, pair) == []


def test_questions_are_made_only_as_they_are_needed():
    first, pair = opened([*TARGET, "none"])
    made = []

    def asked():
        for batch in [*batches([5] * 20), *batches([1] * 3000, "other")]:
            made.append(batch)
            yield batch, "D"

    answers = pair.observe(asked())
    assert len([next(answers) for _ in range(40)]) == 40
    assert len(made) < 1000
    assert sum(1 for _ in answers) == 2980
    assert closed(first, pair) == []


def test_a_failure_belongs_to_its_vector_whichever_process_fails():
    asked = batches([40] * 6)
    culprits = [asked[1][7].octets, asked[2][0].octets, asked[5][39].octets]
    first, pair = opened([*TARGET, "crash", f"on={','.join(each.hex() for each in culprits)}"])
    answers = said(pair.observe((batch, "D") for batch in asked))
    assert [octets for _, octets, _, _ in answers] == [vector.octets for batch in asked for vector in batch]
    assert [octets for _, octets, _, fault in answers if fault is not None] == culprits
    assert all(isinstance(fault, Crashed) for *_, fault in answers if fault is not None)
    assert pair.restarts == first.restarts >= 3
    closed(first, pair)


def test_both_processes_share_one_budget():
    asked = batches([4] * 20)
    every = ",".join(vector.octets.hex() for batch in asked for vector in batch)
    first, pair = opened([*TARGET, "crash", f"on={every}"], restart_budget=12)
    with pytest.raises(BudgetSpent, match="failed 13 times"):
        list(pair.observe((batch, "D") for batch in asked))
    assert pair.restarts == 13
    closed(first, pair)


def test_a_target_that_runs_only_once_answers_everything(tmp_path):
    once = [sys.executable, "-c", ONLY_ONCE, str(tmp_path / "lock"), *TARGET, "none"]
    first, pair = opened(once)
    asked = batches([30] * 5)
    assert len(said(pair.observe((batch, "D") for batch in asked))) == 150
    assert closed(first, pair) == []


def test_a_target_that_runs_only_once_starts_again_if_the_second_process_was_first(tmp_path):
    first = FramedTarget("target", [sys.executable, "-c", ONLY_ONCE, str(tmp_path / "lock"), *TARGET, "none"])
    pair = Pair(first)
    pair._second.start()
    assert pair._second.greeting  # so it holds the lock
    pair.start()
    pair.open()
    pair.share(["shared"])
    assert len(said(pair.observe((batch, "D") for batch in batches([30] * 5)))) == 150
    assert closed(first, pair) == []


def test_nothing_to_share_ends_the_second_process():
    first, pair = opened([*TARGET, "none"], suites=())
    assert pair._second._process is None
    assert len(said(pair.observe((batch, "D") for batch in batches([3, 3])))) == 6
    assert closed(first, pair) == []


def test_a_certificate_is_the_same_with_one_process(tmp_path):
    wrong = tmp_path / "wrong.py"
    wrong.write_text(
        "def decode(octets):\n    return octets.decode().replace('\\u1234', '?').replace('\\U00101234', '')\n"
    )
    alone, paired = (
        certify(Invocation(f"py:{wrong}:decode", ("core", "scalars"), (), paired=each)) for each in (False, True)
    )
    assert len(alone.run.buckets) > 1
    assert alone.run.buckets.keys() == paired.run.buckets.keys()
    for key, bucket in alone.run.buckets.items():
        assert (bucket.count, bucket.example) == (paired.run.buckets[key].count, paired.run.buckets[key].example)
    assert alone.run.claims == paired.run.claims
    assert [part.vectors_digest for part in alone.run.suites] == [part.vectors_digest for part in paired.run.suites]


@pytest.mark.long
def test_shared_suites_are_the_largest():
    sizes = {name: suite.size for name, suite in SUITES.items() if name not in ONLY_THOROUGH}
    assert min(sizes[name] for name in SHARED) > max(size for name, size in sizes.items() if name not in SHARED)
