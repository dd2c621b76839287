"""Files of results that were made to do harm, and several writers of one file: one line, and little memory."""

from __future__ import annotations

import base64
import json
import os
import sys
import zlib
from typing import TYPE_CHECKING

import pytest

from overlong.conformance.certification.matrix import STATEMENT, conditions_here, rows_to_keep, write_statement
from overlong.conformance.report.formats import write_to
from overlong.conformance.results.reading import read
from overlong.conformance.results.records import ReportError, document
from overlong.conformance.support.files import written_whole
from overlong.conformance.support.strict_json import MOST_VALUES

pytestmark = pytest.mark.long

if TYPE_CHECKING:
    from pathlib import Path

_HEADER = {
    "record": "header", "schema": "overlong/results-1", "generator": "overlong 0", "time": "2026-01-01T00:00:00Z",
    "command": "overlong certify x", "profile": "rfc3629@1", "environment": {}, "target": {
        "id": "x", "name": "x", "version": "", "language": "C", "operations": "V", "units": "utf-32",
        "error_mode": "", "traits": {}, "digest": {"sha256": "0" * 64},
    },
}  # fmt: skip


def _portrait(name: str, answers: bytes) -> dict[str, str]:
    packed = base64.b64encode(zlib.compress(answers, 9)).decode()
    return {"record": "portrait", "name": name, "answers": packed}


@pytest.mark.parametrize(
    "portraits",
    [
        [_portrait("a", bytes(64 << 20))],
        [_portrait("a", bytes(1 << 16))] * 2,
        [_portrait(str(number), bytes(1 << 16)) for number in range(17)],
    ],
    ids=["a bomb", "one name twice", "too many"],
)
def test_maps_that_would_take_memory_are_refused(tmp_path: Path, portraits: list[dict[str, str]]) -> None:
    path = tmp_path / "results.jsonl"
    path.write_text("".join(json.dumps(each) + "\n" for each in [_HEADER, *portraits]))
    with pytest.raises(ReportError, match=rf":{len(portraits) + 1}: no map"):
        read([path])


def test_more_values_than_memory_has_room_for_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "report.json"
    path.write_bytes(b"[" + b"[]," * MOST_VALUES + b"0]")
    with pytest.raises(ReportError, match=r"report\.json: more than"):
        document(path)


def test_two_writers_of_one_file_never_mix(tmp_path: Path) -> None:
    path = tmp_path / "file"
    with written_whole(path) as file:
        file.write("first")
        if sys.platform != "win32":
            with pytest.raises(OSError, match="another process") as refused, written_whole(path):
                pass
            assert refused.value.filename == str(path)
    assert path.read_text() == "first"
    assert [each.name for each in tmp_path.iterdir()] == ["file"]


@pytest.mark.skipif(sys.platform == "win32", reason="links and pipes")
def test_what_lies_in_the_way_is_neither_followed_nor_destroyed(tmp_path: Path) -> None:
    victim, path, pipe = tmp_path / "victim", tmp_path / "file", tmp_path / "pipe"
    victim.write_text("precious")
    (tmp_path / "file.part").symlink_to(victim)
    with pytest.raises(OSError, match="symbolic"), written_whole(path) as file:
        file.write("x")
    assert victim.read_text() == "precious"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        write_to("through the pipe", pipe)
        assert os.read(reader, 100) == b"through the pipe"
        assert pipe.is_fifo()
    finally:
        os.close(reader)
    link = tmp_path / "link"
    link.symlink_to(victim)
    write_to("report", link)
    assert link.is_symlink()
    assert victim.read_text() == "report"


def test_a_matrix_of_names_that_are_no_utf8_can_be_read_again(tmp_path: Path) -> None:
    write_statement(tmp_path, {"command": "overlong matrix py:\udcff.py:f"})
    assert document(tmp_path / STATEMENT) == {"command": "overlong matrix py:\\udcff.py:f"}


def test_a_matrix_that_is_deep_or_a_pipe_is_measured_again(tmp_path: Path) -> None:
    conditions = conditions_here("rfc3629@1", (), None)
    (tmp_path / STATEMENT).write_text("[" * 100_000)
    assert rows_to_keep(tmp_path, conditions) == {}
