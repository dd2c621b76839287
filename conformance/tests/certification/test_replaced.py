"""A certificate names the files that were measured: a change during the run ends it as not measured."""

import pytest
from click.testing import CliRunner

from overlong.conformance.cli.certify import command

REPLACES = """
import os

def decode(octets):
    with open(__file__ + ".new", "w") as file:
        file.write("def decode(octets):\\n    return octets.decode()\\n")
    os.replace(__file__ + ".new", __file__)
    return octets.decode(errors="surrogateescape")
"""
CRASHES = """
import os

def decode(octets):
    if octets == bytes.fromhex("C0"):
        with open(__file__, "a") as file:
            file.write("#")
        os.abort()
    return octets.decode()
"""


@pytest.mark.parametrize("program", [REPLACES, CRASHES])
def test_a_decoder_that_replaces_its_file_is_not_measured(program, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text(program, "ascii")
    words = ["py:./mine.py:decode", "--suite", "core", "-o", "out", "-q"]
    ended = CliRunner().invoke(command, words)
    assert ended.exit_code == 3, ended.output
    assert ended.stderr.splitlines() == [
        "overlong: py:./mine.py:decode: not measured: mine.py changed during the run; leave it as it is, and run again"
    ]
    assert not [*(tmp_path / "out").glob("*.json*")], "no certificate and no results"
