"""The screen of a campaign while it runs, and at its end: it fits, and no text controls the terminal."""

import re
import shlex
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from overlong.conformance.report import text as plain
from overlong.conformance.report.text import core
from overlong.conformance.report.wording import verdict_of_campaign
from overlong.conformance.results.invocation import replay_found, spelled, words_of_target
from overlong.conformance.support.printable import MOST_RUNS, count_of, lasting, seconds_of, spaced_hex
from overlong.conformance.vectors.check import vectors_in
from overlong.conformance.vectors.vector import RFC3629, Profile, Vector
from overlong.fuzz.campaign.state import REPETITIONS, Status, StoredFinding, write_findings
from overlong.fuzz.engines.job import CampaignJob
from overlong.fuzz.finding import offered
from overlong.fuzz.report import (
    Screen,
    explain_finding,
    found_of,
    lines_of,
    news_of,
    progress_line,
    report_of_status,
    summary,
)
from overlong.fuzz.strategies import chunked, near_misses

pytestmark = pytest.mark.long

HOSTILE = "<script>\x1b]0;x\x07\u202e[red]\n"
FOUND = StoredFinding(
    "D-7f3a0c19", "so:./lib.so:check", "V", "OV201", "overlong form", "overlong form accepted",
    "RFC 3629 §3", b"a" * 62 + b"\xe0\xa0\x80", None, None, "reject at 62, 1 octet",
    "accepted", "", minimal=True, stable=REPETITIONS, count=182_331, first=12, seconds=0.5,
)  # fmt: skip
QUIET = Status(
    CampaignJob(("so:./lib.so:check",), 7), resumed=False, inputs=12_345, executions=24_690, rate=4e6,
    octets=99_999, corpus=12, edges=(490, 499), coverage=0, seconds=83.4, earlier=0.0, last_new=12.0,
)  # fmt: skip
LIMITS = 600.0, None


def verdict_of(status):
    return verdict_of_campaign(report_of_status(status, "campaign"))


def again(stored, profile, folder):
    return replay_found(stored, stored.id, stored.target, profile, folder)


def findings(number, **changes):
    return [replace(FOUND, id=f"D-{place:08x}", **changes) for place in range(number)]


def test_a_terminal_has_one_line_in_place_and_findings_above_it(capsys, monkeypatch):
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    monkeypatch.setenv("COLUMNS", "60")
    with Screen(*LIMITS, enabled=True, live=True) as screen:
        screen.update(QUIET)
        screen.update(replace(QUIET, findings=[FOUND]))
    said = capsys.readouterr().err
    whole = progress_line(QUIET, *LIMITS)
    assert said.startswith(f"\r\x1b[K{whole[:59]}\r\x1b[K{news_of(FOUND)}\n\r\x1b[Kfuzz: 12 345 inputs, 1 finding, ")
    assert said.endswith("\r\x1b[K")
    for figure in ("4 000 000 executions", "12 345 inputs", "edges 490/499", "left: 8 min 36 s", "12 s ago"):
        assert figure in whole, figure


def test_lines_off_a_terminal(capsys, monkeypatch):
    clock = [0.0]
    monkeypatch.setattr("overlong.fuzz.report.time.monotonic", lambda: clock[0])
    with Screen(*LIMITS, enabled=True, live=True) as screen:
        old, new = replace(FOUND, id="D-00000001"), replace(FOUND, id="D-00000002", target=HOSTILE, stable=3)
        for second, found in ((1.0, [old]), (2.0, [old, new]), (9.0, [old, new]), (11.0, [old, new])):
            clock[0] = second
            screen.update(replace(QUIET, resumed=True, findings=found))
    first, second = capsys.readouterr().err.splitlines()
    assert first == news_of(new)  # an earlier run reported the other one
    assert "D-00000002" in first
    assert "\x1b" not in first
    assert second == progress_line(replace(QUIET, resumed=True, findings=[old, new]), *LIMITS)
    assert "left: 8 min 36 s" in second
    with Screen(*LIMITS, enabled=False, live=True) as screen:
        screen.update(replace(QUIET, findings=[old]))
    assert capsys.readouterr().err == ""


@settings(max_examples=30)
@given(
    st.integers(0, 25), st.integers(0, 3), st.integers(40, 120), st.sampled_from(["ascii", "utf-8"]), near_misses()
)  # fmt: skip
def test_the_report_fits_and_begins_with_the_verdict(number, differences, width, encoding, octets):
    found = findings(number, target=HOSTILE, octets=octets, expected=HOSTILE, observed=HOSTILE)
    apart = [replace(FOUND, id="D-ffffffff", peer=HOSTILE)] * differences
    status = replace(QUIET, job=CampaignJob((HOSTILE, "cpython"), 7), findings=[*apart, *found], notes=["x" * 90])
    lines = list(summary(report_of_status(status, "campaign"), status, "campaign", width=width, encoding=encoding))
    free = ("     reproduce: ", "     compare: ", "     explain: ", "and ", "FAIL ", "DIFFERENCE ")
    assert all(len(line) <= width or line.startswith(free) for line in lines)
    assert all(line.isprintable() for line in lines)
    assert [line.split()[0] for line in lines if line.startswith(("FAIL", "DIFF"))] == [
        *["FAIL"] * min(number, 20),
        *["DIFFERENCE"] * min(differences, max(0, 20 - number)),
    ]
    said = verdict_of(status)
    assert " ".join(" ".join(lines).split()).startswith(" ".join(said.split()))
    assert said.startswith("NOT CONFORMANT" if number else "NOTHING FOUND")
    assert verdict_of(replace(status, inputs=0, findings=[])).startswith("NOT MEASURED")


def test_a_block_has_all_that_is_known():
    unstable = replace(FOUND, stable=4, minimal=False)
    text = "\n".join(lines_of(found_of(unstable, "rfc3629@1", "my folder"), "my folder", 80))
    for part in ("FAIL D-7f3a0c19  OV201 overlong form accepted", "RFC 3629 §3", "61 x 62  E0 A0 80",
                 "where overlong form, validate", "182 331 inputs, UNSTABLE 4/10",
                 "perhaps not the shortest", "explain: overlong explain 'my folder' D-7f3a0c19"):  # fmt: skip
        assert part in text, part


def test_a_difference_is_told_as_what_two_did():
    """Neither answer is expected of the other target, neither gets a code, and each has a command that shows it."""
    differs = replace(
        FOUND, target="one", peer="other", code="OV301", title="another offset", section="", octets=b"\xff",
        expected="refused at 0", observed="refused at 1, 1 octet",
    )  # fmt: skip
    lines = list(lines_of(found_of(differs, "rfc3629@1", "campaign"), "campaign", 80))
    assert lines[0] == "DIFFERENCE D-7f3a0c19  another offset"
    for part in ("target one, and other", "the first refused at 1, 1 octet", "the second refused at 0",
                 "reproduce: overlong replay ff one", "compare: overlong replay ff other"):  # fmt: skip
        assert f"     {part}" in lines, part
    assert not any(word in "\n".join(lines) for word in ("expected", "OV301"))
    assert " one and other  " in news_of(differs)
    explained = explain_finding(found_of(differs, "rfc3629@1", "campaign"), "campaign", 80, ())
    assert "OV301" not in "\n".join(explained).partition("\n\n")[0]


def test_a_file_shows_what_the_run_did():
    status = replace(QUIET, findings=[FOUND, replace(FOUND, id="D-00000001", octets=b"\xff" * 200, stable=4)])
    report = report_of_status(status, "campaign")
    live, shown = list(summary(report, status, "campaign", width=80, encoding="utf-8")), plain.text(report).splitlines()
    begins = live.index(next(line for line in live if line.startswith("FAIL")))
    ends = next(place for place, line in enumerate(live) if line.startswith("12 345 inputs"))
    assert not {line for line in live[begins:ends] if "explain: " not in line} - set(shown)
    assert live[0] == verdict_of(status)
    assert live[0] in shown


@pytest.mark.parametrize(("code", "commands"), [("OV201", ["promote", "test"]), ("OV512", ["promote"])])
def test_only_what_can_be_done_with_a_finding_is_offered(code, commands):
    found = found_of(replace(FOUND, code=code, octets=b"\xe0\x80"), "rfc3629@1", "campaign")
    lines = explain_finding(found, "campaign", 80, offered(found, "campaign"))
    assert [line.split()[0].strip(":") for line in lines if ": overlong finding" in line] == commands


@settings(max_examples=50)
@given(chunked(), st.none() | chunked(), st.booleans())
def test_what_is_reproduced_is_what_was_found(chunks, earlier, whole):
    """The command names the input, its chunks, and the stream before it."""
    octets = b"".join(chunks)
    alone = whole and earlier is None
    stored = replace(
        FOUND,
        octets=octets,
        chunks=None if alone else tuple(map(len, chunks)),
        earlier=None if earlier is None else tuple(earlier),
    )
    vector = Vector.from_id(spelled(stored))
    assert (vector.octets, vector.earlier) == (octets, stored.earlier)
    if len(chunks) > 1 or earlier is not None:
        assert vector.chunks == (stored.chunks or (0,) if not alone else None)


def test_commands_are_those_of_the_target():
    assert shlex.split(again(FOUND, RFC3629, "f")) == ["overlong", "replay", FOUND.octets.hex(), "so:./lib.so:check"]
    command = replace(FOUND, target="-- node 'my adapter.js'", octets=b"\xff")
    assert words_of_target(command.target) == ["node", "my adapter.js"]
    assert again(command, Profile("cesu-8"), "f") == (
        "overlong replay --profile cesu-8 ff -- node 'my adapter.js'"
    )  # fmt: skip
    long = replace(FOUND, octets=b"a" * 4000 + b"\xff")
    assert again(long, RFC3629, "my f") == (
        "overlong replay \"$(overlong finding show --format id 'my f' D-7f3a0c19)\" so:./lib.so:check"
    )


@pytest.mark.parametrize("chunks", [None, (4000, 1)])
def test_a_long_input_of_a_campaign_is_replayed_from_its_file(chunks, tmp_path):
    long = replace(FOUND, octets=b"a" * 4000 + b"\xff", chunks=chunks, earlier=chunks and (b"\xc2",))
    write_findings(tmp_path, [long])
    (_, _, file, target) = shlex.split(again(long, RFC3629, str(tmp_path)))
    (vector,) = vectors_in(Path(file))
    assert (vector.octets, vector.chunks, vector.earlier) == (long.octets, long.chunks, long.earlier)
    assert target == long.target


@given(st.integers(0, 200), st.integers(0, 200), near_misses(max_pieces=3))
def test_fillers_are_counted_and_nothing_else_is_left_out(before, behind, middle):
    octets = b"a" * before + middle + "\u20ac".encode() * behind
    text = spaced_hex(octets)
    if "…" not in text:
        back = b""
        for part in text.partition(" (")[0].split("  ") if octets else ():
            run = re.fullmatch(r"([0-9A-F ]+) x (\d+)", part)
            back += bytes.fromhex(run[1]) * int(run[2]) if run else bytes.fromhex(part)
        assert back == octets
    start, end = core(Vector("fuzz", octets))
    assert 0 <= start < end <= len(octets) or not octets
    places = {each.offset for each in Vector("fuzz", octets).segments} | {len(octets)}
    assert {start, end} <= places


@pytest.mark.parametrize(
    ("text", "seconds"), [("30s", 30), ("10m", 600), ("2h", 7200), ("3d", 259_200), ("2w", 1_209_600), ("1.5h", 5400)]
)
def test_times(text, seconds):
    assert seconds_of(text) == seconds
    assert lasting(seconds) in {"30 s", "10 min", "2 h", "3 d", "14 d", "1 h 30 min"}


@given(st.floats(0, 1e10))
def test_a_time_in_words_is_right_to_its_second_unit(seconds):
    units = {"s": 1, "min": 60, "h": 3600, "d": 86_400}
    words = lasting(seconds).split()
    told = sum(int(number) * units[unit] for number, unit in zip(words[::2], words[1::2], strict=True))
    least = units[words[-1]] if len(words) == 4 else units[words[1]] / 24
    assert 0 <= seconds - told < max(1, least, told / 24)


@pytest.mark.parametrize(
    "text", ["", "10", "m", "-1m", "0s", "1e3s", "10 m", "\u0661s", "1y", "9999999w", "nan", "infs"]
)
def test_what_is_no_time(text):
    with pytest.raises(ValueError, match=r"write 30s|ten years"):
        seconds_of(text)


def test_numbers_of_inputs():
    assert [count_of(text) for text in ("1", "10k", "5M", "2G")] == [1, 10_000, 5_000_000, 2_000_000_000]
    assert count_of(str(MOST_RUNS)) == MOST_RUNS
    for text in ("0", "", "-5", "1.5M", "5m", "\u0665", str(MOST_RUNS + 1), "9" * 19 + "G", "1 000"):
        with pytest.raises(ValueError, match=r"write 5000|between 1"):
            count_of(text)
