"""Other people's lists: their octets are what the lists say, and the pages lead from them to vectors."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from printing import elsewhere, vectors

from overlong.conformance.models.list_files import entries as scored
from overlong.reference import is_well_formed
from waiting import HUNG

LISTS = elsewhere.lists()
KUHN_IN_AUTOBAHN = {"3.3": 14, "3.5": 16, "4.1": 17, "4.2": 18, "4.3": 19, "5.1": 20, "5.2": 21}
"""Sections of Kuhn's file that are cases of Autobahn's, string by string."""


def octets(name):
    return {entry.name: entry.octets for entry in LISTS[name].entries()}


def test_there_is_a_file_for_each_list_and_a_list_for_each_file():
    assert {path.stem for path in elsewhere.FOLDER.glob("*.tsv")} == set(LISTS)


@pytest.mark.parametrize("name", LISTS)
def test_verdicts_are_right(name):
    entries = LISTS[name].entries()
    wrong = [each.name for each in entries if each.accept not in (None, is_well_formed(each.octets))]
    assert not wrong
    assert all(each.chunks is None or sum(each.chunks) == len(each.octets) for each in entries)


@pytest.mark.parametrize("name", LISTS)
def test_score_reads_the_same_of_each_file(name):
    read = [(each.octets, each.chunks, each.accept) for each in scored(str(elsewhere.FOLDER / f"{name}.tsv"))]
    assert read == [(each.octets, each.chunks, each.accept) for each in LISTS[name].entries()]


def test_two_copies_of_kuhns_strings_agree():
    """Autobahn's authors copied them by hand, long ago: neither copy here was made from the other."""
    kuhn, autobahn = octets("kuhn"), octets("autobahn")
    compared = 0
    for section, case in KUHN_IN_AUTOBAHN.items():
        theirs = [value for name, value in kuhn.items() if name.startswith(section + ".")]
        assert theirs == [value for name, value in autobahn.items() if name.startswith(f"6.{case}.")], section
        compared += len(theirs)
    assert compared == 10 + 3 + 5 + 5 + 5 + 7 + 8
    assert kuhn["3.4"] == autobahn["6.15.1"] == b"".join(autobahn[f"6.14.{n}"] for n in range(1, 11))
    assert kuhn["3.1.9"] == bytes(range(0x80, 0xC0))  # Autobahn's stops one short
    assert kuhn["5.3.3"].decode() == "".join(map(chr, range(0xFDD0, 0xFDF0)))


@pytest.mark.skipif(shutil.which("go") is None, reason="no Go here, whose list this is")
def test_the_strings_of_go_are_those_of_its_source():
    root = subprocess.run(["go", "env", "GOROOT"], capture_output=True, text=True, check=True, timeout=HUNG).stdout
    source = Path(root.strip(), "src/unicode/utf8/utf8_test.go")
    if not source.exists():
        pytest.skip(f"{source}: not installed")
    literals = re.findall(r'"((?:[^"\\\n]|\\x[0-9a-fA-F]{2})*)"', source.read_text("utf-8"))
    written = {re.sub(rb"\\x(..)", lambda m: bytes.fromhex(m[1].decode()), each.encode()) for each in literals}
    built = {b"B\xfa", b"B\xfaC", "a\ufffdb".encode()}  # as numbers, or with an escape of another kind
    assert set(octets("go").values()) - built <= written


def test_kuhns_first_continuation_octet_leads_to_its_vector_and_back(tmp_path):
    elsewhere.write(tmp_path / "elsewhere")
    vectors.write(tmp_path / "vectors")
    assert "| 3.1.1 | `80` |  |  | [`unexpected-tail/80`](../vectors/unexpected-tail.md#unexpected-tail-80) |" in (
        (tmp_path / "elsewhere" / "kuhn.md").read_text("utf-8").splitlines()
    )
    tails = (tmp_path / "vectors" / "unexpected-tail.md").read_text("utf-8")
    section = tails.partition("(unexpected-tail-80)=")[2].partition(")=")[0]
    assert "[Kuhn](../elsewhere/kuhn.md) 3.1.1; [utf8tests](../elsewhere/utf8tests.md) 11.0, 21.0, 29.0" in section


@pytest.mark.parametrize("name", LISTS)
def test_nothing_is_left_without_something_of_ours(name):
    """A vector has the same octets, a suite asks it, or its errors have vectors."""
    for entry in LISTS[name].entries():
        vector = elsewhere.same_octets(entry)
        assert vector is None or vector.octets == entry.octets
        assert elsewhere.ours(entry), entry.name
