"""The decoders of databases, jq and a browser; and adapters in other languages, asked frame by frame."""

import os
import shutil
import signal
import struct
import tempfile
import time
from pathlib import Path

import pytest

from builtin_under_test import Adapter, assert_certified, ready
from overlong.conformance.oracle.target import TargetError
from overlong.conformance.protocol.observation import Accepted, Refused
from overlong.conformance.targets.builtins import FAMILIES
from overlong.conformance.targets.resolve import resolve
from waiting import HUNG

pytestmark = pytest.mark.long

SUITES = (
    *("core", "complete-0", "complete-0-replacing", "streams", "used-before"),
    *("encoder-edges", "encoder-utf-16"),
)
EXPECTED = {
    # claims that hold, claims that fail, codes; each divergence was confirmed by a standalone program
    # it replaces by its own rules, even U+FFFE and U+FFFF; it reads E0 82 80 and F8 80 80 82 80 as U+0080
    "sqlite": (set(), {"verdict", "scalars"}, {"OV102", "OV201", "OV208"}),
    "postgresql": ({"verdict", "scalars"}, set(), set()),
    "jq": ({"scalars"}, {"error mode"}, {"OV401", "OV402"}),  # E0 41 at the end of a string is one U+FFFD
    "chromium-textdecoder": (
        {"verdict", "scalars", "error mode", "streaming", "earliest detection", "encoder"},
        set(),
        set(),
    ),
}
NAMES = [*EXPECTED, *(builtin.name for name in ("erlang", "guile", "ocaml") for builtin in FAMILIES[name])]
"""The decoders whose adapters implement the protocol in another language or in their own loop."""

_OCTETS = tuple(map(bytes.fromhex, ("", "61", "c3a9", "f09f9880", "e282ac22", "61ff", "eda080")))
_STREAMS = tuple(map(bytes.fromhex, ("0002 00000001 00000002 e282ac", "0002 00000001 00000002 61ff61")))
_AGAIN = tuple(struct.pack(">I", len(each)) + each + _STREAMS[0] for each in _STREAMS)
ASKED = {
    **dict.fromkeys("DL", _OCTETS),
    **dict.fromkeys("ST", _STREAMS),
    **dict.fromkeys("NM", _AGAIN),
    "E": tuple(map(bytes.fromhex, ("", "00000061 000020ac", "00000061 0000d800", "00110000"))),
    "F": tuple(map(bytes.fromhex, ("", "0061 d83d de00", "0061 d800"))),
}
"""Payloads for each operation; some are refused. Streams have two chunks."""


def test_every_decoder_has_its_row():
    names = ("sqlite", "postgresql", "jq", "chromium")
    assert [builtin.name for name in names for builtin in FAMILIES[name]] == list(EXPECTED)


@pytest.mark.parametrize("name", EXPECTED)
def test_is_certified_for_what_it_is(name):
    assert_certified(name, SUITES, *EXPECTED[name])


@pytest.mark.parametrize("name", NAMES)
def test_single_frames_and_batches_say_the_same(name):
    with Adapter(name) as adapter:
        assert adapter.ask(b"P\r\n\x1a\0\xff") == b"A\r\n\x1a\0\xff"
        assert adapter.ask(b"P") == b"A"
        assert adapter.ask(b"Va") == b"U"
        for operation in sorted(set(adapter.greeting.operations) - set("PB")):
            answered = adapter.assert_that_batches_agree(operation, ASKED[operation])
            assert b"A" in answered.statuses
            assert set(answered.statuses) <= set(b"AR")


def test_sqlite_reads_by_rules_of_its_own():
    """Like its READ_UTF8: a lead takes all following tails, however many; FFFE and FFFF become U+FFFD."""
    replaced = ("efbfbe", "efbfbf", "efbfbd", "c080", "eda080", "c3", "ff", "c1bf")
    read = {
        "80": (0x80,),
        "e08280": (128,),
        "c328": (0xFFFD, 0x28),
        "f09f9880": (0x1F600,),
        "c28080": (0x2000,),
        "00": (0,),
    }
    with Adapter("sqlite") as adapter:
        assert {each.values for each in adapter.decode("L", *replaced)} == {(0xFFFD,)}
        assert [each.values for each in adapter.decode("L", *read)] == list(read.values())


def test_postgresql_refuses_nul_and_nothing_else_that_is_well_formed():
    with Adapter("postgresql") as adapter:
        said = adapter.decode("D", "00", "6100", "61", "", "27225c2c7b7d2d", "efbfbeefbfbf", "f48fbfbf", "f4908080")
    assert [isinstance(each, Refused) for each in said] == [True, True, *[False] * 5, True]
    assert said[3:7] == [
        Accepted(()),
        Accepted(tuple(b"'\"\\,{}-")),
        Accepted((0xFFFE, 0xFFFF)),
        Accepted((0x10FFFF,)),
    ]


def test_jq_loses_what_follows_a_lead_at_the_end_of_a_string():
    """As ``printf '\\xe0\\x41\\n' | jq -R explode`` shows; if more octets follow, only the lead is replaced."""
    with Adapter("jq") as adapter:
        said = [each.values for each in adapter.decode("L", "e041", "e0414243", "f04142", "c241", "00225c0a7f1f")]
    assert said == [(0xFFFD,), (0xFFFD, 0x41, 0x42, 0x43), (0xFFFD,), (0xFFFD, 0x41), tuple(b'\0"\\\n\x7f\x1f')]


@pytest.mark.parametrize("name", ["postgresql", "chromium-textdecoder"])
def test_nothing_is_left_behind(name, monkeypatch):
    """No folder after a proper end; no process after the group was killed."""
    ready(name)
    folder = tempfile.mkdtemp(prefix="overlong-test-")  # only root may enter tmp_path
    Path(folder).chmod(0o777)
    monkeypatch.setenv("TMPDIR", folder)
    try:
        with Adapter(name):
            assert [each.name.startswith("overlong-") for each in Path(folder).iterdir()] == [True]
        assert not list(Path(folder).iterdir())
        adapter = Adapter(name)
        os.killpg(adapter.process.pid, signal.SIGKILL)
        adapter.process.communicate()
        deadline = time.monotonic() + HUNG
        while users := users_of(folder):
            assert time.monotonic() < deadline, users
            time.sleep(0.05)
    finally:
        shutil.rmtree(folder)


def users_of(folder):
    """The command lines of processes that name a folder."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            words = (process / "cmdline").read_bytes()
        except OSError:  # the process has just ended
            continue
        if os.fsencode(folder) in words:
            found.append(words)
    return found


def test_what_is_missing_is_said_before_anything_starts(monkeypatch):
    monkeypatch.setenv("PATH", "/nonexistent")
    for name in ("jq", "chromium-textdecoder", "erlang", "guile", "ocaml-uutf"):
        with pytest.raises(TargetError, match=r"not available here: .* on PATH; install .*Debian: apt install"):
            resolve(name)
