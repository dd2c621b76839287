"""All of a command is shown before anyone agrees to it, and an agreement holds for nothing else."""

import json
from pathlib import Path

import pytest

from overlong.conformance.targets.consent import MOST, NotAgreed, check_from, remember, wanted_by, wanted_from

STRANGERS = ["sh", "-c", "make all; touch EVIL"]


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("OVERLONG_TRUST", "")  # what a run adds to it is gone afterwards
    return tmp_path


def written(command, environment):
    Path("overlong.toml").write_text(f"[targets.mine]\ncommand = {json.dumps(command)}\n")
    with Path("overlong.toml").open("a") as file:
        file.writelines(f"environment.{name} = {json.dumps(value)}\n" for name, value in environment.items())
    return wanted_by(["mine"])


@pytest.mark.usefixtures("here")
def test_no_character_is_hidden():
    wanted = written(
        ["sh", "-c", f"make {'x' * 3000}\n ; {' ' * 900}touch EVIL"], {"LONG": "y" * 1500, "LD_PRELOAD": "./evil.so"}
    )
    rows = list(wanted.rows(80))
    assert wanted.too_long == ""
    assert max(map(len, rows)) <= 80
    assert all(row.isprintable() for row in rows)
    shown = "".join(row[2:] if row.startswith(("  d", "  w")) else row[4:] for row in rows)
    assert shown == "".join(wanted.lines)
    assert shown.count("x") == 3000
    for hidden in ("touch EVIL", "with: LD_PRELOAD=./evil.so"):
        assert hidden in shown
    assert "characters: read the file)" in wanted.refusal


@pytest.mark.usefixtures("here")
def test_what_nobody_would_read_is_not_asked_about():
    wanted = written(["sh", "-c", "x" * MOST], {})
    assert "more than overlong asks about; read the file" in wanted.too_long
    assert len(wanted.refusal) < 1200


def test_an_agreement_to_a_strangers_command_is_to_that_command_in_that_folder(here, monkeypatch):
    with pytest.raises(NotAgreed, match=r"theirs\.db: it would run decoder: -- sh -c 'make all; touch EVIL'"):
        check_from(Path("theirs.db"), ["cpython", STRANGERS])
    wanted = wanted_from(Path("theirs.db"), [STRANGERS])
    assert wanted is not None
    remember(wanted)
    check_from(Path("another.json"), ["cpython", STRANGERS])
    for others in ([*STRANGERS, "more"], " ".join(STRANGERS), "py:evil:decode", "mine", "answers:x"):
        with pytest.raises(NotAgreed):
            check_from(Path("theirs.db"), [others])
    (here / "elsewhere").mkdir()
    monkeypatch.chdir(here / "elsewhere")
    with pytest.raises(NotAgreed):
        check_from(Path("theirs.db"), [STRANGERS])
