"""Libraries: many functions under one name, in one table."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from overlong.conformance.cli.verbs import cli
from overlong.conformance.oracle.target import UnknownTarget
from overlong.conformance.targets.builtins import functions_of, libraries
from overlong.conformance.targets.configured import configured
from overlong.conformance.targets.resolve import resolve
from zoo import ZOO

FILE = ZOO / "functions.py"


@pytest.fixture(autouse=True)
def _in_a_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OVERLONG_TRUST", "")


def wrote(functions):
    Path("overlong.toml").write_text("[targets.mine]\n" + functions)


def test_certify_shows_a_row_for_each_function():
    functions = (("truncate", "truncate"), ("truncate_at_limit", "truncate"))
    tables = (f"[[targets.mine.function]]\ncall = 'py:{FILE}:{each}?as={question}'\n" for each, question in functions)
    wrote("".join(tables))
    assert functions_of("mine") == ("mine/truncate", "mine/truncate_at_limit")
    result = CliRunner().invoke(cli, ["certify", "--trust", "-q", "mine"])
    assert result.exit_code == 1, result.output
    assert "2 targets: 1 conforms, 1 diverges" in result.output
    assert "truncate cuts C2 80 at 1 of 2 octets" in result.output
    assert result.output.endswith("next: overlong report overlong-results/mine/truncate_at_limit\n")
    document = json.loads(Path("overlong-results/mine/matrix.json").read_text())
    assert [row["claims"]["functions"] for row in document["targets"]] == ["holds", "fails"]
    assert Path("overlong-results/mine/truncate/certificate.json").is_file()


def test_options_of_a_library_that_mean_nothing_are_refused():
    result = CliRunner().invoke(cli, ["certify", "--for", "3s", "libutf8proc"])
    assert (result.exit_code, "libutf8proc is a library" in result.output) == (2, True)


@pytest.mark.parametrize(
    ("functions", "says"),
    [
        ("function = []", "function is no list of tables"),
        ("library = 'a.so'", "write either command"),
        ("function = [{symbol = 'f'}]", 'write symbol = "..." and abi = "..."'),
        ("function = [{symbol = 'f', abi = 'bool(ptr,len)'}]", "write library = '...', the file of f"),
        ("function = [{call = 'py:a.py:f'}, {call = 'py:b.py:f'}]", "two functions are f"),
        ("function = [{call = 'py:a.py:f', name = 'a/b'}]", "write a name of letters"),
        ("function = [{cal = 'py:a.py:f'}]", "there is no 'cal'"),
    ],
)
def test_what_a_table_of_functions_may_hold(functions, says):
    wrote(functions)
    with pytest.raises(UnknownTarget) as caught:
        configured()
    assert says in str(caught.value)


@pytest.mark.parametrize("name", ["libglib", "libglib/g_utf8_strle"])
def test_a_library_is_no_target_and_a_wrong_name_has_a_hint(name):
    with pytest.raises(UnknownTarget, match="libglib/g_utf8_"):
        resolve(name)


def test_every_library_at_hand_has_functions_with_names():
    assert len(libraries()) > 5
    assert all(library.functions for library in libraries().values())
