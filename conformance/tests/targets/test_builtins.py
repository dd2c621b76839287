"""The built-in decoders: the certificate of each, what was seen by hand, and what is said of missing ones."""

import os
import platform
import re
import shutil
import signal
import struct
import tempfile
import time
from importlib import metadata
from pathlib import Path

import pytest

from builtin_under_test import SUITES, Adapter, ready
from overlong.conformance import certify
from overlong.conformance.oracle.target import TargetError
from overlong.conformance.protocol.observation import Accepted, Refused
from overlong.conformance.targets import builtins
from overlong.conformance.targets.build import said
from overlong.conformance.targets.builtins import BUILTINS, FAMILIES
from overlong.conformance.targets.limits import Limits
from overlong.conformance.targets.resolve import resolve
from overlong.reference import dialect, is_well_formed
from waiting import HUNG

pytestmark = pytest.mark.long

ALL = "verdict, scalars, error position, error mode, streaming, earliest detection, encoder"
EXPECTED = {
    # claims that hold, claims that fail, codes; each divergence was confirmed by a standalone program
    "cpython": ("verdict, scalars, error position, error mode, encoder", "", set[str]()),
    # ED A0 is kept until it cannot be a surrogate (python/cpython#154520)
    "cpython-incremental": (
        "verdict, scalars, error position, error mode, streaming",
        "earliest detection",
        {"OV511", "OV512"},
    ),
    "cpython-surrogatepass": ("scalars, error position", "verdict, encoder", {"OV202", "OV703"}),
    "cpython-surrogateescape": (
        "scalars, error mode",
        "verdict, encoder",
        {"OV201", "OV202", "OV203", "OV204", "OV205", "OV206", "OV207", "OV208", "OV703"},
    ),
    "orjson": ("verdict, scalars", "", set[str]()),
    # ED A0 80 becomes a lone surrogate
    "ujson": ("scalars", "verdict", {"OV202"}),
    "pysimdjson": ("verdict, scalars", "", set[str]()),
    "pydantic-core": ("verdict, scalars", "", set[str]()),
    "pydantic-core-json": ("verdict, scalars", "", set[str]()),
    "cbor2": ("verdict, scalars, separate values", "", set[str]()),
    "protobuf": ("verdict", "", set[str]()),
    "pyarrow": ("verdict, separate values", "", set[str]()),
    # checks no second octet, and reads octets that begin no character as ISO 8859-1
    "mutf8": (
        "scalars, error position",
        "verdict",
        {"OV201", "OV202", "OV203", "OV205", "OV206", "OV207", "OV208", "OV209"},
    ),
    "lxml": ("verdict, scalars", "", set[str]()),
    "node-textdecoder": ("verdict, scalars, error mode, streaming, earliest detection, encoder", "", set[str]()),
    "node-buffer": ("verdict, scalars, error mode, encoder", "", set[str]()),
    # after C0 it waits for more octets, like after any lead
    "node-stringdecoder": ("scalars, error mode, streaming", "earliest detection", {"OV511"}),
    "node-functions": ("encoder, functions", "", set[str]()),
    "npm-utf-8-validate": ("verdict", "", set[str]()),
    "npm-utf-8-validate-js": ("verdict", "", set[str]()),
    "npm-text-encoding": ("verdict, scalars, error mode, streaming, earliest detection, encoder", "", set[str]()),
    "npm-text-encoding-utf-8": ("verdict, scalars, error mode, streaming, earliest detection, encoder", "", set[str]()),
    "npm-utf8": ("verdict, scalars, encoder", "", set[str]()),
    # D800 D800: one EF BF BD
    "npm-buffer": ("scalars, error mode", "encoder", {"OV706", "OV707"}),
    "npm-protobufjs-utf8": ("scalars", "error mode, encoder", {"OV401", "OV402", "OV703"}),
    "npm-stablelib-utf8": ("scalars, encoder", "verdict", {"OV206"}),
    # EINVAL for F5, E0 80, ED A0, which no octet can complete
    "glibc-iconv": ("verdict, scalars, streaming, encoder", "error position, earliest detection", {"OV303", "OV512"}),
    # RFC 2279; E0 80 says -2
    "glibc-mbrtowc": (
        "scalars, streaming",
        "verdict, error position, earliest detection, encoder",
        {"OV203", "OV208", "OV303", "OV503", "OV512", "OV704"},
    ),
    "musl-iconv": ("verdict, scalars, error position, streaming, earliest detection, encoder", "", set[str]()),
    "musl-mbrtowc": ("verdict, scalars, error position, streaming, earliest detection, encoder", "", set[str]()),
    "icu4c": (ALL, "", set[str]()),
    "icu4c-string": ("verdict, scalars, error mode, encoder", "", set[str]()),
    "icu4c-macro": ("verdict, scalars, error position, error mode, encoder", "", set[str]()),
    # -2 for C0, F5, F8, ED A0
    "glib": ("verdict, scalars, error mode", "error position", {"OV303"}),
    # RFC 2279, and "partial character" for C0, F5
    "glib-ucs4": ("scalars", "verdict, error position", {"OV202", "OV203", "OV208", "OV303"}),
    # F5 is taken for incomplete; E0 80 becomes one U+FFFD
    "libunistring": ("verdict, scalars, encoder", "error position, error mode", {"OV303", "OV401"}),
    "libunistring-u32": ("verdict, scalars, encoder", "", set[str]()),
    "utf8proc": ("verdict, scalars, error position, encoder", "", set[str]()),
    # not_enough_room for C0, E0 80; C0 80 80 becomes one U+FFFD
    "utfcpp": ("verdict, scalars, encoder", "error position, error mode", {"OV303", "OV401"}),
    "libxml2": ("verdict, scalars", "", set[str]()),
    # checks only shapes
    "libxml2-checkutf8": ("", "verdict", {"OV201", "OV202", "OV203"}),
    # also takes 80 80 for a character of two octets
    "libxml2-getutf8char": ("scalars, error position", "verdict", {"OV201", "OV202", "OV203", "OV206"}),
    # waits for more before it checks again
    "expat": ("verdict, scalars, streaming", "earliest detection", {"OV512"}),
    "go-utf8": ("verdict, scalars, error position, error mode, encoder", "", set[str]()),
    "go-functions": ("functions", "", set[str]()),
    "go-tovalidutf8": ("scalars, error mode", "", set[str]()),
    # also after E0 00, until there are as many octets as E0 announces
    "go-x-text": ("verdict, scalars, error position, error mode, streaming", "earliest detection", {"OV511"}),
    "go-x-text-runes": ("scalars, error mode, streaming, earliest detection", "", set[str]()),
    "go-segmentio-asm": ("verdict", "", set[str]()),
    "rust-std": ("verdict, scalars, error position, error mode, encoder", "", set[str]()),
    "rust-functions": ("functions", "", set[str]()),
    "rust-simdutf8": ("verdict, scalars, error position", "", set[str]()),
    "rust-encoding-rs": ("verdict, scalars, error position, error mode, streaming, earliest detection", "", set[str]()),
    "rust-bstr": ("verdict, scalars, error position, error mode", "", set[str]()),
    "java-charsetdecoder": (
        "verdict, scalars, error mode, streaming, encoder",
        "error position, earliest detection",
        {"OV302", "OV511", "OV512"},
    ),
    "java-string": ("scalars, error mode, encoder", "", set[str]()),
    "java-readutf": ("", "verdict, encoder", {"OV101", "OV201", "OV202", "OV702", "OV703"}),
    "java-functions": ("functions", "", set[str]()),
    # also the sizes that it announces, though it has no encoder
    "java-guava": ("verdict", "", set[str]()),
    "java-protobuf": ("verdict, scalars, encoder", "", set[str]()),
    "java-jackson": ("scalars", "verdict", {"OV201", "OV202", "OV203"}),
    "java-tomcat": ("verdict, scalars, error position, error mode, streaming, earliest detection", "", set[str]()),
    "perl-utf8": (
        "scalars, error position",
        "verdict, error mode, encoder",
        {"OV202", "OV203", "OV208", "OV401", "OV402", "OV703", "OV704"},
    ),
    "perl-utf-8-strict": (
        "error position",
        "verdict, error mode, encoder",
        {"OV101", "OV102", "OV401", "OV402", "OV701"},
    ),
    "ruby": ("verdict, scalars, error mode, encoder", "", set[str]()),
    "ruby-encode": (ALL, "", set[str]()),
    "ruby-unpack": ("scalars", "verdict, encoder", {"OV202", "OV203", "OV208", "OV703", "OV704"}),
    "php-mbstring": ("verdict, scalars, error mode, encoder", "", set[str]()),
    "php-mb-scrub": ("scalars, error mode", "", set[str]()),
    "php-iconv": ("verdict, scalars, encoder", "", set[str]()),
    # refuses a character in three writes, and drops a truncated one after two
    "php-iconv-filter": ("verdict, scalars", "streaming, earliest detection", {"OV501", "OV512"}),
    "php-preg": ("verdict", "", set[str]()),
    "php-json": ("verdict, scalars, error mode", "", set[str]()),
    "php-json-ignore": ("scalars, error mode", "", set[str]()),
    "php-htmlspecialchars": ("verdict, scalars, error mode", "", set[str]()),
    "lua-utf8": ("verdict, scalars, error position", "encoder", {"OV703", "OV704"}),
    "lua-utf8-lax": ("scalars, error position", "verdict, encoder", {"OV202", "OV203", "OV208", "OV703", "OV704"}),
    # accepts C0 80 and surrogates, and its channel splits a character of four octets in two writes
    "tcl": (
        "scalars",
        "verdict, error mode, streaming, earliest detection, encoder",
        {"OV402", "OV501", "OV511", "OV703"},
    ),
    # calls C0, F5, E0 80, ED A0, F4 90 incomplete, and keeps them until more octets come
    "erlang": ("verdict, scalars, streaming, encoder", "error position, earliest detection", {"OV303", "OV512"}),
    "erlang-bit-syntax": ("verdict, scalars, error position, encoder", "", set[str]()),
    "guile": ("verdict, scalars, encoder", "", set[str]()),
    "guile-port": ("scalars, error mode", "", set[str]()),
    # C2 22 are two malformed octets
    "ocaml-uutf": ("verdict, scalars, error mode, encoder", "error position", {"OV302"}),
    # waits for the number of octets that the lead announces
    "ocaml-uutf-decoder": (
        "verdict, scalars, error position, error mode, streaming",
        "earliest detection",
        {"OV511", "OV512"},
    ),
    # replaces by its own rules, even U+FFFE and U+FFFF; reads E0 82 80 and F8 80 80 82 80 as U+0080
    "sqlite": ("", "verdict, scalars", {"OV102", "OV201", "OV208"}),
    "postgresql": ("verdict, scalars", "", set[str]()),
    # E0 41 at the end of a string is one U+FFFD
    "jq": ("scalars", "error mode", {"OV401", "OV402"}),
    "chromium-textdecoder": ("verdict, scalars, error mode, streaming, earliest detection, encoder", "", set[str]()),
}
SPEAKS = {"mutf8": "mutf-8"}
SOMETIMES = {
    "tcl": {"OV605", "OV607"},  # F0 9F 98 at the end: it reads the octet after the end, whatever that is
    "expat": {"OV511"},  # Debian's later revisions of Expat defer output that others produce at once
}
"""Additional codes of some revisions, or of some runs."""
SHORT_STREAMS = ("ruby-encode", "php-iconv-filter", "tcl", "erlang", "ocaml-uutf-decoder")
"""Each short string cut in each way tries these, not long text in chunks, which takes Tcl and Uutf quadratic time."""
SHARED = {"utf8proc": r"\w+", "lua-utf8": r"\d+\.\d+", "lua-utf8-lax": r"\d+\.\d+"}
"""What the version of the greeting and that of ``target list`` share, if it is not the whole number."""
SCRIPTS = ("ruby", "php-mbstring", "php-iconv", "php", "lua", "tcl")
LIBRARIES = ("glibc", "musl", "icu", "glib", "libunistring", "utf8proc", "utfcpp", "libxml2", "expat")

SEEN = [
    # name, operation, what it answers to octets
    ("npm-stablelib-utf8", "D", {"82 80": (0x80,)}),  # a tail taken for a lead: BF BF is U+07FF
    ("npm-protobufjs-utf8", "L", {"C2 00": (0x80,), "80": ()}),  # it swallows the octet that interrupts a character
    ("npm-buffer", "L", {"E0 A0": (0xFFFD, 0xFFFD)}),
    (
        "java-jackson",
        "D",
        {
            "C1 81": (0x41,),
            "ED A0 80": (0xD800,),
            "F4 90 80 80": (0xDC00, 0xDC00),
            "22 5C 00 1F 7F C3 A9": (0x22, 0x5C, 0, 0x1F, 0x7F, 0xE9),  # escaped in its document
        },
    ),
    # Like its READ_UTF8: a lead takes all following tails, however many; FFFE and FFFF become U+FFFD.
    ("sqlite", "L", dict.fromkeys(("EFBFBE", "EFBFBF", "EFBFBD", "C080", "EDA080", "C3", "FF", "C1BF"), (0xFFFD,))),
    ("sqlite", "L", {"80": (0x80,), "E08280": (0x80,), "C328": (0xFFFD, 0x28), "F09F9880": (0x1F600,)}),
    ("sqlite", "L", {"C28080": (0x2000,), "00": (0,)}),
    # It refuses NUL, and nothing else that is well-formed.
    ("postgresql", "D", {"00": Refused(), "6100": Refused(), "F4908080": Refused()}),
    ("postgresql", "D", {"61": (0x61,), "": (), "27225C2C7B7D2D": tuple(b"'\"\\,{}-")}),
    ("postgresql", "D", {"EFBFBEEFBFBF": (0xFFFE, 0xFFFF), "F48FBFBF": (0x10FFFF,)}),
    # It loses what follows a lead at the end of a string, as ``printf '\xe0\x41\n' | jq -R explode`` shows; if more
    # octets follow, only the lead is replaced.
    ("jq", "L", {"E041": (0xFFFD,), "E0414243": (0xFFFD, 0x41, 0x42, 0x43), "F04142": (0xFFFD,)}),
    ("jq", "L", {"C241": (0xFFFD, 0x41), "00225C0A7F1F": tuple(b'\0"\\\n\x7f\x1f')}),
    # ``unicode:characters_to_list(<<16#C0>>)`` is ``{incomplete,[],<<192>>}``; with one octet more it is an error.
    ("erlang", "D", dict.fromkeys(("C0", "F5", "E080", "EDA0", "F490"), Refused(0, None, True))),
    ("erlang", "D", {"61E282": Refused(1, None, True)}),
    ("erlang", "D", dict.fromkeys(("FF", "F8", "C080"), Refused(0, None, False))),
    # It drops a quote after C2: the malformed sequence is as long as its lead announces.
    *(
        (name, "L", {"C2223E": (0xFFFD, 0x3E), "E2223E7A": (0xFFFD, 0x7A), "C2C2A9": (0xFFFD, 0xFFFD)})
        for name in ("ocaml-uutf", "ocaml-uutf-decoder")
    ),
    *(
        (name, "L", {"C080": (0xFFFD, 0xFFFD), "FB7A": (0xFFFD, 0x7A), "C3A922": (0xE9, 0x22)})
        for name in ("ocaml-uutf", "ocaml-uutf-decoder")
    ),
    ("ocaml-uutf", "D", {"C2223E": Refused(0, 2), "E2223E7A": Refused(0, 3), "C2C2A9": Refused(0, 2)}),
    ("ocaml-uutf", "D", {"C080": Refused(0, 1), "FB7A": Refused(0, 1)}),
    # A byte order mark stays but where the greeting says otherwise.
    *((name, "D", {"EFBBBF EFBBBF 61": (0xFEFF, 0xFEFF, 0x61)}) for name in ("erlang", "erlang-bit-syntax", "guile")),
    ("ocaml-uutf", "D", {"EFBBBF EFBBBF 61": (0xFEFF, 0xFEFF, 0x61)}),
    ("ocaml-uutf-decoder", "D", {"EFBBBF EFBBBF 61": (0xFEFF, 0x61)}),
    ("guile-port", "L", {"EFBBBF EFBBBF 61": (0xFEFF, 0x61)}),
]

_OCTETS = tuple(map(bytes.fromhex, ("", "61", "c3a9", "f09f9880", "e282ac22", "61ff", "e282", "f09f9880eda080")))
_STREAMS = tuple(struct.pack(">H2I", 2, len(each) // 2, len(each) - len(each) // 2) + each for each in _OCTETS)
_AGAIN = tuple(struct.pack(">I", len(_STREAMS[3])) + _STREAMS[3] + each for each in _STREAMS)
ASKED = {
    **dict.fromkeys("VDL", _OCTETS),
    **dict.fromkeys("ST", _STREAMS),
    **dict.fromkeys("NM", _AGAIN),
    "E": (b"", *(struct.pack(">2I", 0x61, each) for each in (0x20AC, 0x1F600, 0xD800, 0x110000, 0xFFFFFFFF))),
    "F": (b"", *(struct.pack(">3H", 0x61, *each) for each in ((0xD83D, 0xDE00), (0xE9, 0xD800), (0xDC00, 0x61)))),
}
"""Payloads for each operation; some are refused. Streams have two chunks."""

MISSING = {
    "utf8proc": "gcc libc6-dev",
    "utfcpp": "g++",
    "musl-iconv": "musl-tools",
    "jq": "jq",
    "chromium-textdecoder": "chromium",
    "erlang": "erlang-base",
    "guile": "guile-3.0",
    "ocaml-uutf": "ocaml-nox libuutf-ocaml-dev",
    "npm-utf8": "nodejs npm",
    "rust-bstr": "cargo",
    "go-x-text": "golang-go",
    "java-guava": "default-jdk-headless maven",
}
"""Of some decoders, the Debian packages that are named if they are missing."""


def test_every_decoder_has_its_row():
    assert list(BUILTINS) == list(EXPECTED)


@pytest.mark.parametrize("name", EXPECTED)
def test_is_certified_for_what_it_is(name, request):
    holds, fails, codes = EXPECTED[name]
    ready(name)
    if "verdict" not in fails:  # an examination tells wrong offsets from those that follow from what is accepted
        request.getfixturevalue("unexamined")
    suites = (*SUITES[:-1], "chunking") if name in SHORT_STREAMS else SUITES
    # npm-text-encoding-utf-8 takes quadratic time: seconds for the longest strings, and more on a busy machine.
    certificate = certify(name, suites=suites, speaks=SPEAKS.get(name), limits=Limits(timeout=60.0))
    run = certificate.run
    for state, claims in (("holds", holds), ("fails", fails)):
        assert {claim for claim, its in certificate.claims.items() if its == state} == {
            *filter(None, claims.split(", "))
        }
    assert run.codes - SOMETIMES.get(name, set()) == codes
    assert not run.incomplete
    assert not run.restarts
    assert not run.notes
    assert run.greeting.language == BUILTINS[name].language


@pytest.mark.parametrize("name", EXPECTED)
def test_its_version_is_the_one_that_target_list_shows(name):
    builtin = ready(name)
    with Adapter(name) as adapter:
        said = adapter.greeting.version
    version = builtin.version()
    assert said
    shared = re.search(SHARED.get(name, r"\d+(\.\d+)*"), version)
    assert shared is None or shared[0] in said
    assert said == version or builtin not in FAMILIES["pypi"]
    first = version.partition(" ")[0]
    assert first == said.partition(" ")[0] or not any(builtin in FAMILIES[each] for each in LIBRARIES)
    assert first.lower() == builtin.language.lower() or not any(builtin in FAMILIES[each] for each in SCRIPTS)


@pytest.mark.parametrize("name", EXPECTED)
def test_single_frames_and_batches_say_the_same(name):
    """Each operation's single answers equal the columns of a batch."""
    with Adapter(name) as adapter:
        assert adapter.ask(b"P\r\n\x1a\0\xff") == b"A\r\n\x1a\0\xff"
        assert adapter.ask(b"P") == b"A"
        assert adapter.ask(b"!") == b"U"
        assert adapter.ask(b"BB\0\0\0\0") == b"U"
        for operation in sorted(set(adapter.greeting.operations) & set(ASKED)):
            answered = adapter.assert_that_batches_agree(operation, ASKED[operation])
            assert b"A" in answered.statuses
            assert set(answered.statuses) <= set(b"AR")


@pytest.mark.parametrize(("name", "operation", "answers"), SEEN, ids=[f"{name}-{how}" for name, how, _ in SEEN])
def test_what_was_seen_by_hand_is_what_the_adapter_says(name, operation, answers):
    with Adapter(name) as adapter:
        seen = adapter.decode(operation, *answers)
    assert dict(zip(answers, seen, strict=True)) == {
        octets: answer if isinstance(answer, Refused) else Accepted(answer) for octets, answer in answers.items()
    }


def test_glibc_mbrtowc_accepts_what_rfc_2279_had():
    """It accepts only that, except surrogates: every lead octet and its extremes."""
    with Adapter("glibc-mbrtowc") as adapter:
        for lead in range(0xC0, 0x100):
            length = next((size for size, first in ((2, 0xE0), (3, 0xF0), (4, 0xF8), (5, 0xFC)) if lead < first), 6)
            for second in (0x80, 0x87, 0x88, 0x8F, 0x90, 0x9F, 0xA0, 0xBF):
                octets = bytes([lead, second]) + b"\xbf" * (length - 2)
                surrogate = lead == 0xED and second >= 0xA0
                right = is_well_formed(octets, dialect("rfc2279")) and not surrogate
                assert (adapter.ask(b"D" + octets)[:1] == b"A") == right, octets.hex()


@pytest.mark.parametrize("name", ["erlang", "erlang-bit-syntax", "guile", "ocaml-uutf"])
def test_all_pairs_of_octets(name):
    """Only verdicts, without the harness's suites; no answer affects the next one."""
    pairs = [bytes([first, second]) for first in range(256) for second in range(256)]
    with Adapter(name) as adapter:
        answers = adapter.decode("D", *(each.hex() for each in pairs))
    for octets, answer in zip(pairs, answers, strict=True):
        if is_well_formed(octets):
            assert answer == Accepted(tuple(map(ord, octets.decode("utf-8")))), octets
        else:
            assert isinstance(answer, Refused), octets


def test_the_validator_of_npm_is_the_compiled_one():
    ready("npm-utf-8-validate")
    if (platform.system(), platform.machine()) != ("Linux", "x86_64"):
        pytest.skip("whether it ships compiled for this machine is not known")
    for name, implementation in (("npm-utf-8-validate", "compiled"), ("npm-utf-8-validate-js", "JavaScript")):
        with Adapter(name) as adapter:
            assert adapter.greeting.traits["implementation"] == implementation


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


@pytest.mark.parametrize(("name", "remedy"), MISSING.items())
def test_what_is_missing_is_named_before_anything_starts(name, remedy, monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    assert BUILTINS[name].missing().endswith(f"(Debian: apt install {remedy})")
    with pytest.raises(TargetError, match=r"not available here: .* on PATH; install .*Debian: apt install") as caught:
        resolve(name)
    assert "\n" not in str(caught.value)


def test_a_missing_library_is_named_with_its_debian_package(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    for program in ("cc", "c++", "pkg-config"):
        (tmp_path / program).write_text("#!/bin/sh\nexit 1\n")
        (tmp_path / program).chmod(0o755)
    said.cache_clear()
    try:
        for family in ("icu", "glib", "libunistring", "utf8proc", "utfcpp", "libxml2", "expat"):
            for builtin in FAMILIES[family]:
                assert "(Debian: apt install lib" in builtin.missing()
                assert builtin.missing().count("\n") == 0
    finally:
        said.cache_clear()


def test_a_missing_package_is_named_as_pip_has_it(monkeypatch):
    def absent(name):
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "version", absent)
    assert BUILTINS["pysimdjson"].missing().startswith("no simdjson in this Python; pip install 'pysimdjson', or")
    with pytest.raises(TargetError, match="orjson: not available here: no orjson in this Python"):
        resolve("orjson")
    monkeypatch.setattr(metadata, "version", lambda _name: "5.6.5")
    monkeypatch.setattr(builtins, "_is_there", lambda _name: True)
    assert BUILTINS["cbor2"].missing().startswith("cbor2 5.6.5 decodes with CPython's decoder; pip install 'cbor2>=6'")
