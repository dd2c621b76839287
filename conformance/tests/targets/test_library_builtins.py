"""The decoders of C and C++ libraries: the certificate of each, and the builds of their adapters."""

import struct
import subprocess

import pytest

from builtin_under_test import SUITES, Adapter, ready
from overlong.conformance import certify
from overlong.conformance.oracle.target import TargetError
from overlong.conformance.targets import build, builtins
from overlong.conformance.targets.builtin import said
from overlong.conformance.targets.builtins import BUILTINS, FAMILIES
from overlong.reference import dialect, is_well_formed

pytestmark = pytest.mark.long

EXCEPT_POSITION = {"OV303"}
LAX = {"OV201", "OV202", "OV203"}
DIVERGE = {
    # codes                            reasons; each was confirmed by a standalone program
    "glibc-iconv": {"OV303", "OV512"},  # EINVAL for F5, E0 80, ED A0, which no octet can complete
    "glibc-mbrtowc": {"OV203", "OV208", "OV303", "OV503", "OV512", "OV704"},  # RFC 2279; E0 80 says -2
    "musl-iconv": set[str](),
    "musl-mbrtowc": set[str](),
    "icu4c": set[str](),
    "icu4c-string": set[str](),
    "icu4c-macro": set[str](),
    "glib": EXCEPT_POSITION,  # -2 for C0, F5, F8, ED A0
    "glib-ucs4": {"OV202", "OV203", "OV208", "OV303"},  # RFC 2279, and "partial character" for C0, F5
    "libunistring": {"OV303", "OV401"},  # F5 is taken for incomplete; E0 80 becomes one U+FFFD
    "libunistring-u32": set[str](),
    "utf8proc": set[str](),
    "utfcpp": {"OV303", "OV401"},  # not_enough_room for C0, E0 80; C0 80 80 becomes one U+FFFD
    "libxml2": set[str](),
    "libxml2-checkutf8": LAX,  # checks only shapes
    "libxml2-getutf8char": {*LAX, "OV206"},  # also takes 80 80 for a character of two octets
    "expat": {"OV512"},  # waits for more before it checks again
}  # fmt: skip
REVISIONS = {"expat": {"OV511"}}
"""Additional codes of some revisions: Debian's later ones of Expat defer output that others produce at once."""
VERDICT_FAILS = {"glibc-mbrtowc", "glib-ucs4", "libxml2-checkutf8", "libxml2-getutf8char"}


def test_every_library_has_its_row():
    first, last = list(FAMILIES).index("glibc"), list(FAMILIES).index("expat")
    libraries = [*FAMILIES.values()][first : last + 1]
    assert [builtin.name for family in libraries for builtin in family] == list(DIVERGE)


@pytest.mark.parametrize("name", DIVERGE)
def test_is_certified_for_what_it_is(name, request):
    ready(name)
    if name not in VERDICT_FAILS:  # an examination tells wrong offsets from those that follow from what is accepted
        request.getfixturevalue("unexamined")
    certificate = certify(name, suites=SUITES)
    codes = certificate.run.codes
    assert DIVERGE[name] <= codes <= DIVERGE[name] | REVISIONS.get(name, set())
    assert certificate.claims["verdict"] == ("fails" if name in VERDICT_FAILS else "holds")
    assert not certificate.run.incomplete
    assert not certificate.run.restarts
    assert certificate.run.greeting.version.split()[0] == BUILTINS[name].version().split()[0]


@pytest.mark.parametrize("name", DIVERGE)
def test_single_frames_and_batches_say_the_same(name):
    """The protocol is in one header: each operation's single answers equal the columns of a batch."""
    cases = [b"", b"a", b"\xc3\xa9", b"a\xff", b"\xe2\x82", b"\xf0\x9f\x98\x80\xed\xa0\x80"]
    streams = [struct.pack(">H2I", 2, len(each) // 2, len(each) - len(each) // 2) + each for each in cases]
    encoders = {
        "E": [b"", *(struct.pack(">2I", 0x61, each) for each in (0x20AC, 0x1F600, 0xD800, 0x110000, 0xFFFFFFFF))],
        "F": [b"", *(struct.pack(">3H", 0x61, *each) for each in ((0xD83D, 0xDE00), (0xE9, 0xD800), (0xDC00, 0x61)))],
    }
    with Adapter(name) as adapter:
        assert adapter.ask(b"Q") == b"U"
        assert adapter.ask(b"P\0\n") == b"A\0\n"
        assert adapter.ask(b"BB\0\0\0\0") == b"U"
        for operation in set(adapter.greeting.operations) - set("PB"):
            items = {"V": cases, "D": cases, "L": cases, **encoders}.get(operation, streams)
            if operation in "NM":
                items = [struct.pack(">I", len(streams[3])) + streams[3] + each for each in streams]
            adapter.assert_that_batches_agree(operation, items)


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


def test_a_header_or_a_flag_that_changes_makes_another_program(tmp_path, monkeypatch):
    if why := builtins.no_compiler():
        pytest.skip(why)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("HOME", str(tmp_path))
    for name, text in (("program.c", '#include "a.h"\nint main(void) { return A; }\n'), ("a.h", "#define A 1\n")):
        (tmp_path / name).write_text(text)
    monkeypatch.setattr(builtins, "SOURCES", tmp_path)
    first = builtins.c_program(build.C, "program.c", "one")
    assert builtins.c_program(build.C, "program.c", "one") == first
    assert subprocess.run([first], check=False).returncode == 1
    assert builtins.c_program(build.C, "program.c", "two") != first
    assert builtins.c_program(build.C, "program.c", "one", "-lm") != first
    (tmp_path / "a.h").write_text("#define A 2\n")
    assert subprocess.run([builtins.c_program(build.C, "program.c", "one")], check=False).returncode == 2
    with pytest.raises(TargetError, match=r"building program\.c failed"):
        builtins.c_program(build.C, "program.c", "one", "-lthere_is_no_such_library")


def test_what_is_missing_is_named_with_its_debian_package(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    for name, package in (("utf8proc", "gcc"), ("utfcpp", "g++"), ("musl-iconv", "musl-tools")):
        assert f"apt install {package}" in BUILTINS[name].missing()
    for program in ("cc", "c++", "pkg-config"):
        (tmp_path / program).write_text("#!/bin/sh\nexit 1\n")
        (tmp_path / program).chmod(0o755)
    said.cache_clear()
    try:
        for name in list(DIVERGE)[4:]:
            assert "(Debian: apt install lib" in BUILTINS[name].missing()
            assert BUILTINS[name].missing().count("\n") == 0
    finally:
        said.cache_clear()
