"""Decoders that a file of the user's adds to those that ship with an adapter."""

import json

import pytest
from click.testing import CliRunner

from overlong.conformance.cli.options import NOT_MEASURED
from overlong.conformance.cli.verbs import cli
from overlong.conformance.targets.builtins import VARIABLE, all_shipped

ADDED = """
from overlong.conformance.targets.builtins import Builtin
from overlong.conformance.targets.build import python_command
decode = Builtin("mine", "Python", "what it is", str, lambda: python_command(__file__, "lax"))
decoders = lambda: {"mine": decode}
lax = lambda octets: octets.decode("utf-8", "surrogatepass")
"""


def test_an_added_decoder_is_one_with_a_name_in_all_processes(tmp_path, monkeypatch):
    (tmp_path / "added.py").write_text(ADDED)
    monkeypatch.setenv(VARIABLE, str(tmp_path / "added.py"))
    listed = CliRunner().invoke(cli, ["target", "list", "--format", "json"])
    assert json.loads(listed.stdout)[-1]["name"] == "mine"
    done = CliRunner().invoke(cli, ["matrix", "--quick", "-q", "-o", str(tmp_path / "out"), "mine", "--format", "json"])
    assert done.exit_code == 1, done.output
    assert "OV202" in done.stdout
    monkeypatch.delenv(VARIABLE)
    assert "mine" not in all_shipped()


@pytest.mark.parametrize("text", [None, "1 +", "decoders = None", "raise SystemError('\\x1b')"])
def test_a_file_that_adds_none_is_named_on_one_line(text, tmp_path, monkeypatch):
    if text is not None:
        (tmp_path / "added.py").write_text(text)
    monkeypatch.setenv(VARIABLE, str(tmp_path / "added.py"))
    for words in (["target", "list"], ["certify", "yajl"]):
        done = CliRunner().invoke(cli, words)
        assert done.exit_code == NOT_MEASURED
        assert done.stderr.startswith(f"overlong: {VARIABLE}={tmp_path / 'added.py'}: ")
        assert done.stderr.endswith(f"; name a file that defines decoders(), or unset {VARIABLE}\n")
        assert done.stderr.count("\n") == 1
        assert "\x1b" not in done.stderr
