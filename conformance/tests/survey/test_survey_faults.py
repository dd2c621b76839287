"""Divergences grouped by what causes them, and the words for octets that come through."""

import pytest

from corpora.survey.faults import faults_of
from corpora.survey.records import Record
from corpora.survey.records.language import languages
from corpora.survey.records.standalone import by_hand
from overlong.conformance.protocol.wire import UNITS
from overlong.conformance.report.wording import passed_through
from overlong.conformance.results.model import SENTENCE, Cause
from overlong.conformance.support.printable import code_points

PASSED = [("OV201", "c0"), ("OV202", "eda0"), ("OV203", "f5"), ("OV204", "c2"), ("OV205", "c200"), ("OV206", "80"),
          ("OV207", "fe"), ("OV208", "f8")]  # fmt: skip
PASSES = [
    (code, digits, f"accepted {code_points(UNITS['utf-8'].values(bytes.fromhex(digits)))}") for code, digits in PASSED
]


def cause(code, digits, observed="accepted", operation="D", condition=""):
    more = ((SENTENCE, condition),) if condition else ()
    octets = bytes.fromhex(digits)
    return Cause(code, code, "", "", "verdict", 3, "", "", octets, operation, "", observed, more=more)


@pytest.mark.parametrize(
    ("shown", "faults"),
    [
        (PASSES, {"validation": "does not validate: ill-formed octets pass through (FE)"}),
        (
            [("OV201", "c0e282ac"), ("OV202", "eda080"), ("OV203", "f4908080"), ("OV205", "edc080", "accepted U+6D000"),
             ("OV206", "80c080")],
            {"validation": "does not validate: ill-formed octets become text (ED C0 80)"},
        ),
        (
            [("OV201", "c080"), ("OV202", "eda080"), ("OV208", "f888808080")],
            {"numbers": "accepts overlong forms, surrogates and forms of five and six octets (C0 80)"},
        ),
        ([("OV208", "f8908080", "accepted U+1")], {"leads": "accepts octets that begin no character (F8 90 80 80)"}),
        ([("OV202", "61eda080")], {"numbers": "accepts surrogates (61 ED A0 80)"}),
        (
            [(code, digits, "accepted nothing") for code, digits in
             (("OV201", "e080"), ("OV202", "eda0"), ("OV204", "c2"), ("OV205", "e000"))],
            {"end": "accepts text that ends inside a character (C2)"},
        ),
        (
            [("OV201", "c000", "accepted U+001C"), ("OV202", "eda000", "accepted U+D81C"), ("OV601", "80")],
            {"OV601": "OV601 (80)", "tails": "does not check the octets after a lead (C0 00)"},
        ),
        (
            [("OV201", "c080"), ("OV206", "8080"), ("OV207", "fe")],
            {"leads": "accepts octets that begin no character (FE)", "numbers": "accepts overlong forms (C0 80)"},
        ),
        (
            [("OV101", "efbfbe"), ("OV101", "00efbfbf"), ("OV102", "efb790", "accepted U+FFFD", "L"),
             ("OV701", "0000ffff", "refused", "E")],
            {"noncharacters": "does not take noncharacters (EF BF BE)"},
        ),
        (
            [("OV206", "80", "accepted U+DC80", "D", "accepts errors"), ("OV703", "d800", "encoded as ED A0 80", "F")],
            {"OV703": "encodes surrogates (D8 00)",
             "validation": "does not validate: ill-formed octets pass through (80)"},
        ),
        (
            [("OV201", "e08080", "accepted", "V", "accepts E0 80-9F 80-BF or ED A0-BF 80-BF")],
            {"numbers": "accepts overlong forms and the like (E0 80 80)"},
        ),
        ([("OV101", "00"), ("OV101", "00efbfbf")], {"OV101": "refuses well-formed text (00)"}),
        (
            [("OV102", "efbbbf", "accepted nothing"), ("OV102", "c280", "accepted U+00C2 U+0080")],
            {"OV102": "decodes well-formed text to something else (C2 80)",
             "signature": "loses a byte order mark (U+FEFF) at the start (EF BB BF)"},
        ),
        (
            [("OV707", "d800d800", "encoded as EF BF BD", "F"),
             ("OV706", "0000d8000000d800", "announced 3 octets", "Z")],
            {"OV707": "does not write U+FFFD for each lone surrogate (D8 00 D8 00)"},
        ),
        (
            [("OV707", "d800", "encoded as 3F", "F"), ("OV706", "00000080", "announced 3 octets", "Z")],
            {"OV706": "OV706 (00 00 00 80)", "OV707": "does not write U+FFFD for each lone surrogate (D8 00)"},
        ),
    ],
)  # fmt: skip
def test_one_cause_is_one_fault(shown, faults):
    found = faults_of(cause(*each) for each in shown)
    assert {each.name: f"{each.title} ({each.example.octets.hex(' ').upper()})" for each in found} == faults
    assert {code for each in found for code in each.codes} == {code for code, *_ in shown}


@pytest.mark.parametrize(
    ("words", "digits", "plainly"),
    [
        ("accepted U+DCC2", "c2", "passes C2 through"),
        ("accepted U+DCC0 U+DC80", "c080", "passes C0 80 through"),
        ("accepted U+0061 U+DCC2 U+20AC", "61c2e282ac", "passes 61 C2 E2 82 AC through"),
        ("accepted U+DCC2 U+0061 … (9 values)", "c2" + "61" * 8, "passes C2 61 … through"),
        ("accepted U+DCC2", "c200", "accepted octet C2"),
        ("accepted U+DC80", "edb280", "accepted U+DC80"),  # a surrogate, in UTF-16
        ("accepted U+DDC0 U+DC00", "f5", "accepted U+DDC0 U+DC00"),
        ("accepted U+FFFD", "c2", "accepted U+FFFD"),
        ("refused at 0", "c2", "refused at 0"),
    ],
)
def test_octets_that_come_through_are_called_octets(words, digits, plainly):
    assert passed_through(words, bytes.fromhex(digits)) == plainly


def test_the_lines_for_people_build_and_run_a_program():
    """They name no place of this machine, and what a compiler or an interpreter needs."""
    lines = {}
    for name, language in languages().items():
        packages = ("name==1.0",) if language.registry else ()
        record = Record("x", "", language, "", packages, ("libx-dev",), ("-lx",), "x", "json")
        lines[name] = list(by_hand(record))
        assert not any(place in line for line in lines[name] for place in ("{", "}", "/usr", "/tmp")), name
        assert lines[name][0] == "apt install libx-dev  # or the like"
    assert lines["pascal"][1:] == ["fpc -v0 -O2 -Mobjfpc -Sh -odecode main.pas", "./decode"]
    assert lines["prolog"][1:] == ["swipl -q -f none -g main -t halt main.pl"]
    assert lines["c"][1:] == ["cc -O2 -w -o decode decode.c $(pkg-config --cflags --libs x) -lx", "./decode"]
    assert lines["go"][1:3] == ["go mod init decode", "go get name==1.0"]
