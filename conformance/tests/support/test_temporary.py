"""Temporary folders: those of dead runs are removed, and no others."""

from __future__ import annotations

import signal
import subprocess
import sys
import tempfile

import pytest

from overlong.conformance.support.files import TemporaryFolder, remove_dead

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="folders are not locked there")

KILLED = """
import os, signal, sys, tempfile
tempfile.tempdir = sys.argv[1]
from overlong.conformance.support.files import TemporaryFolder
folder = TemporaryFolder("dead")
(folder.path / "full").mkdir()
(folder.path / "full" / "file").touch()
(folder.path / "link").symlink_to(sys.argv[1])
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def test_only_folders_of_dead_runs_are_removed(place):
    assert subprocess.run([sys.executable, "-c", KILLED, str(place)], check=False).returncode == -signal.SIGKILL
    [dead] = place.iterdir()
    with TemporaryFolder("alive") as alive:  # which removes the dead one
        assert not dead.exists()
        foreign = place / "overlong-sources-1_2_3_45"  # of the user, with a fitting name
        foreign.mkdir(mode=0o700)
        (foreign / "file").touch()
        open_to_all = place / "overlong-open-abcdefgh"
        open_to_all.mkdir(mode=0o755)
        (open_to_all / ".overlong-temporary").touch()
        marked = place / "elsewhere"
        marked.mkdir(mode=0o700)
        (marked / ".overlong-temporary").touch()
        link = place / "overlong-link-abcdefgh"
        link.symlink_to(marked)
        before = set(place.iterdir())
        remove_dead()
        assert set(place.iterdir()) == before == {alive.path, foreign, open_to_all, marked, link}
        assert (alive.path / ".overlong-temporary").exists()
    assert not alive.path.exists()


def test_a_folder_removed_between_its_making_and_its_lock_is_made_anew(place, monkeypatch):
    made = tempfile.mkdtemp

    def robbed(**options):
        monkeypatch.setattr(tempfile, "mkdtemp", made)
        path = made(**options)
        (place / path).rmdir()
        return path

    monkeypatch.setattr(tempfile, "mkdtemp", robbed)
    with TemporaryFolder("anew") as folder:
        assert folder.path.is_dir()
