"""Grammar files: the parser reads them exactly, and reports the place of anything that it does not understand."""

import json
import os
import subprocess
import sys

import pytest

from overlong.reference.automaton import Automaton
from overlong.reference.dialect import dialect
from overlong.reference.grammar import Grammar, GrammarError

# RFC 3629 section 4, as published; folded to single spaces because layout carries no meaning.
SECTION_4 = """
UTF8-octets = *( UTF8-char )
UTF8-char = UTF8-1 / UTF8-2 / UTF8-3 / UTF8-4
UTF8-1 = %x00-7F
UTF8-2 = %xC2-DF UTF8-tail
UTF8-3 = %xE0 %xA0-BF UTF8-tail / %xE1-EC 2( UTF8-tail ) / %xED %x80-9F UTF8-tail / %xEE-EF 2( UTF8-tail )
UTF8-4 = %xF0 %x90-BF 2( UTF8-tail ) / %xF1-F3 3( UTF8-tail ) / %xF4 %x80-8F 2( UTF8-tail )
UTF8-tail = %x80-BF
"""


def test_the_grammar_is_section_4_verbatim():
    assert dialect().grammar.text.split() == SECTION_4.split()


def test_every_range_knows_its_rule_and_alternative():
    positions = {position for state in dialect().unfolded.open for position in state}
    assert {str(position.form) for position in positions} == {
        "UTF8-1: %x00-7F",
        "UTF8-2: %xC2-DF UTF8-tail",
        "UTF8-3: %xE0 %xA0-BF UTF8-tail",
        "UTF8-3: %xE1-EC 2( UTF8-tail )",
        "UTF8-3: %xED %x80-9F UTF8-tail",
        "UTF8-3: %xEE-EF 2( UTF8-tail )",
        "UTF8-4: %xF0 %x90-BF 2( UTF8-tail )",
        "UTF8-4: %xF1-F3 3( UTF8-tail )",
        "UTF8-4: %xF4 %x80-8F 2( UTF8-tail )",
    }
    (tail,) = dialect().unfolded.open[dialect().unfolded.run(b"\xe0\xa0")]
    assert [step.rule for step in tail.trail] == ["UTF8-octets", "UTF8-char", "UTF8-3", "UTF8-tail"]
    assert tail.form.number == 1
    assert tail.form.line == 5


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", [":1:", "no rule"]),
        ("a = %x41\nb == %x42\n", [":2:", "not ABNF"]),
        ("a = %x41 b\n", [":1:", "'b' is not defined"]),
        ("a = %x41 *( a )\n", [":1:", "refers to itself"]),
        ("a = b\nb = %x41 [ c ]\nc = a\n", ["refers to itself"]),
        ("a = %x41\na = %x42\n", [":2:", "defined twice"]),
        ("a = %x41\na =/ %x42\n", [":2:", "incremental"]),
        ('a = "text"\n', [":1:", "char-val", "not understood"]),
        ("a = <prose>\n", [":1:", "prose-val", "not understood"]),
        ("a = %x100\n", [":1:", "not an octet"]),
        ("a = %xBF-80\n", [":1:", "wrong way round"]),
        ("a = %x41\n\n; comment\nb = ]\n", [":4:", "not ABNF"]),
    ],
)
def test_what_is_not_understood_is_an_error_with_a_place(text, words):
    with pytest.raises(GrammarError) as caught:
        Automaton.compile(Grammar.parse(text, "some.abnf"))
    message = str(caught.value)
    assert message.startswith("some.abnf:")
    assert "\n" not in message
    for word in words:
        assert word in message


@pytest.mark.parametrize(
    ("text", "accepted", "refused"),
    [
        ("a = 2*3%x41", [b"AA", b"AAA"], [b"A", b"AAAA", b""]),
        ("a = *%x41-42 [%x43]", [b"", b"ABBA", b"BC", b"C"], [b"CC", b"CA"]),
        ("a = 1*( B / %d67 )\nb = %b1000001.1000010", [b"AB", b"C", b"ABCAB"], [b"", b"A", b"BA"]),
        ("a = *2%x41 %x42", [b"B", b"AB", b"AAB"], [b"AAAB", b"AA"]),
        ("a = 2( %x41 / %x42 ) ; two of them", [b"AB", b"BB"], [b"A", b"ABA"]),
        ("a = *( *%x41 %x42 )", [b"", b"AAB", b"BAB"], [b"BA"]),
    ],
)
def test_constructs_mean_what_rfc_5234_says(text, accepted, refused):
    automaton = Automaton.compile(Grammar.parse(text + "\n", "some.abnf")).minimal()
    assert [word for word in accepted if not automaton.accepts(word)] == []
    assert [word for word in refused if automaton.accepts(word)] == []


RULES = """
import json
from abnf import parser
from overlong.reference import DIALECTS, dialect
print(json.dumps([parser._BACKEND, *(repr(dialect(name).grammar.rules) for name in DIALECTS)]))
"""


def test_both_parsers_of_abnf_read_the_same_rules():
    """It has one in Rust, too: ``pip install 'abnf[rust]'``."""
    compiled, python = (
        json.loads(subprocess.run([sys.executable, "-c", RULES], env=env, capture_output=True, check=True).stdout)
        for env in (dict(os.environ), os.environ | {"ABNF_NO_RUST": "1"})
    )
    assert (compiled[0], python[0]) == ("rust", "python")
    assert compiled[1:] == python[1:]
