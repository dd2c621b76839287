"""The corpus: it neither follows nor completely reads refused files; the kept inputs reach the same."""

import hashlib
import os
import socket
import subprocess
import sys
from itertools import accumulate
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from overlong.fuzz.campaign import corpus as corpora
from overlong.fuzz.campaign.corpus import LONGEST, CampaignError, Corpus, files_in, name_of, seeds_of, told
from overlong.reference.automaton import shortlex
from waiting import HUNG

pytest.importorskip("fcntl", reason="FIFOs and links are POSIX's")


def written(folder, inputs):
    folder.mkdir()
    for number, octets in enumerate(inputs):
        (folder / f"input {number}").write_bytes(octets)
    return folder


def test_files_are_named_as_libfuzzer_names_them(tmp_path):
    corpus = Corpus(tmp_path / "corpus")
    assert [corpus.add(octets) for octets in (b"", b"\xff", b"")] == [True, True, False]
    assert {path.name: path.read_bytes() for path in corpus.folder.iterdir()} == {
        hashlib.sha1(octets).hexdigest(): octets for octets in (b"", b"\xff")
    }
    assert len(corpus) == 2
    assert set(Corpus(corpus.folder).inputs()) == {b"", b"\xff"}


def test_what_is_no_input_is_refused_and_told(tmp_path, monkeypatch):
    source = written(tmp_path / "source", [b"fine", b"x" * LONGEST])
    with (source / "a GB").open("wb") as file:
        file.truncate(1 << 30)
    (source / "b\x1b[31mlink").symlink_to("/etc/passwd")
    (source / "c loop").symlink_to("c loop")
    os.mkfifo(source / "d fifo")
    (source / ("0" * 40)).write_bytes(b"not nought")
    (source / name_of(b"right")).write_bytes(b"right")
    with socket.socket(socket.AF_UNIX) as bound:
        monkeypatch.chdir(source)
        bound.bind("e socket")
    (source / "f folder").mkdir()
    (source / "f folder" / "below").write_bytes(b"below")
    (source / "g link to a folder").symlink_to(source)
    real = os.open

    def without_permission(path, *rest):
        if str(path).endswith("h forbidden"):  # root may read everything
            raise PermissionError(13, "Permission denied")
        return real(path, *rest)

    (source / "h forbidden").write_bytes(b"secret")
    monkeypatch.setattr(os, "open", without_permission)
    refused: list[str] = []
    assert set(files_in(source, refused)) == {b"fine", b"x" * LONGEST, b"right", b"below"}
    why = {line.partition("source/")[2].partition(": ")[0]: line.partition(": ")[2] for line in refused}
    assert why == {
        "a GB": "larger than 1 MiB",
        "b\\x1b[31mlink": "a symbolic link",
        "c loop": "a symbolic link",
        "d fifo": "a FIFO",
        "0" * 40: "its name is the SHA-1 of other octets: it is damaged",
        "e socket": "a socket",
        "g link to a folder": "a symbolic link",
        "h forbidden": "Permission denied",
    }


def test_a_device_is_refused_and_so_is_what_is_not_there(tmp_path):
    for path in ("/dev/zero", tmp_path / "nothing", tmp_path / "x\0y"):
        with pytest.raises(CampaignError) as refused:
            list(files_in(tmp_path / path, []))
        assert "name a file or a folder of inputs" in str(refused.value)
        assert str(refused.value).isprintable()


def test_a_file_that_grows_while_it_is_read_is_refused(tmp_path, monkeypatch):
    (tmp_path / "growing").write_bytes(b"x" * (LONGEST + 9))
    monkeypatch.setattr(corpora, "_check", lambda _status: None)  # it was small at the first look
    refused: list[str] = []
    assert not list(files_in(tmp_path, refused))
    assert "larger than 1 MiB" in refused[0]


def test_names_in_its_own_folder_are_checked(tmp_path):
    corpus = Corpus(tmp_path / "corpus")
    corpus.add(b"good")
    (corpus.folder / ("f" * 40)).write_bytes(b"bad")
    (corpus.folder / name_of(b"link")).symlink_to(corpus.folder / name_of(b"good"))
    assert list(Corpus(corpus.folder).inputs()) == [b"good"]


def test_what_cannot_be_written_is_an_error_in_a_line(tmp_path, monkeypatch):
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(CampaignError, match="choose another folder"):
        Corpus(tmp_path / "file").add(b"a")
    corpus = Corpus(tmp_path / "corpus")
    corpus.add(b"first")

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(type(tmp_path), "replace", full)
    with pytest.raises(CampaignError, match="No space left on device; make room"):
        corpus.add(b"second")
    assert [path.name for path in corpus.folder.iterdir()] == [name_of(b"first")]  # nothing torn


def test_the_least_first_and_not_too_many_are_seeds(monkeypatch):
    notes: list[str] = []
    assert seeds_of([b"bb", b"a", b"b", b"a"], notes) == (b"a", b"b", b"bb")
    assert not notes
    monkeypatch.setattr(corpora, "MOST_SEEDS", 3)
    assert seeds_of([b"bb", b"a", b"b", b"a"], notes) == (b"a", b"b")
    assert notes[0].startswith("of 4 inputs the 2 least are seeds: a campaign takes 65 536, of 3 octets in all; ")
    monkeypatch.setattr(corpora, "MOST_SEEDS", 100)
    monkeypatch.setattr(corpora, "MOST_IN_NUMBER", 1)
    assert seeds_of([b"bb", b"a", b"b", b"a"], notes) == (b"a",)
    assert "of 4 inputs the 1 least are seeds: a campaign takes 1," in notes[1]


@given(st.lists(st.binary(max_size=4)), st.integers(1, 12), st.integers(1, 5))
def test_seeds_are_the_least_of_all_however_few_are_kept_in_memory(inputs, octets, number):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(corpora, "MOST_SEEDS", octets)
        patch.setattr(corpora, "MOST_IN_NUMBER", number)
        notes: list[str] = []
        seeds = seeds_of(iter(inputs), notes)
    least = sorted(set(inputs), key=shortlex)
    fitting = [each for each, total in zip(least, accumulate(map(len, least)), strict=True) if total <= octets]
    assert seeds == tuple(fitting[:number])
    assert len(notes) == (len(seeds) < len(least))


@pytest.mark.skipif(not Path("/proc/self/maps").exists(), reason="mappings of memory are told by Linux")
def test_inputs_that_are_kept_take_no_mapping_each(tmp_path):
    """Linux allows a process 65,530: a corpus of more files ended a campaign, and with exit code 1."""
    written(tmp_path / "many", (b"input %d" % number for number in range(200)))
    program = f"""if True:
        from pathlib import Path
        from overlong.fuzz.campaign.corpus import files_in
        maps = Path("/proc/self/maps")
        before = len(maps.read_text().splitlines())
        kept = list(files_in(Path({str(tmp_path / "many")!r}), []))
        print(len(kept), len(maps.read_text().splitlines()) - before)"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=HUNG)
    number, mappings = map(int, done.stdout.split())  # in a process of its own: what was freed before changes malloc
    assert number == 200
    assert mappings < 20


def test_of_many_files_that_are_not_taken_the_first_are_named():
    assert told(["a", "b"]) == ["a", "b"]
    assert told([f"{number:02}" for number in range(30)]) == [
        *(f"{number:02}" for number in range(20)),
        "10 more files",
    ]
