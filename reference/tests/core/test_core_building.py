"""The core is built once, kept where only its user can write, and loaded by any number of processes."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from overlong.reference.core import building, loading
from overlong.reference.core.building import NotBuilt, build, built, ready

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(not any(map(shutil.which, building.COMPILERS)), reason="no C compiler on PATH"),
]
STRICT = ("-Wall", "-Wextra", "-Wconversion", "-Wpedantic", "-Wshadow", "-Werror")


@pytest.fixture
def own_cache(tmp_path, monkeypatch):
    """An empty cache, and a core that is soon built."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache of mine"))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr(building, "OPTIONS", (*building.OPTIONS, "-O0"))
    return building.cache("core")


@pytest.fixture
def fresh(tmp_path):
    folder = tmp_path / "fresh"
    folder.mkdir()
    return folder


def loaded():
    """The core of a new process."""
    core = loading._loaded.__wrapped__()
    assert isinstance(core, loading.Core), core
    assert core.convention("bool(ptr,len)")
    return Path(core._library._name)


@pytest.mark.parametrize("umask", [0o022, 0o002])
def test_it_is_built_once(own_cache, umask, monkeypatch):
    before = os.umask(umask)
    try:
        first = loaded()
    finally:
        os.umask(before)
    assert first.parent == own_cache
    monkeypatch.setattr(loading, "built", None)
    assert loaded() == first


def test_two_processes_build_it_at_once(own_cache):
    program = "from overlong.reference.core import core; core(); print('there')"
    both = [subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE) for _ in range(2)]
    assert [each.communicate()[0] for each in both] == [b"there\n"] * 2
    assert [path.suffix for path in own_cache.iterdir()] == [".so"]


def test_what_others_could_have_written_is_not_loaded(own_cache, fresh):
    kept = own_cache / built(fresh).name
    assert list(ready()) == [kept]
    kept.chmod(0o777)
    assert list(ready()) == []
    assert loaded() == kept
    assert not kept.stat().st_mode & 0o022
    own_cache.chmod(0o777)
    other = loaded()
    assert other.parent not in {own_cache, fresh}
    assert list(ready()) == [other]
    other.rename(fresh / "elsewhere")
    other.symlink_to(fresh / "elsewhere")
    assert list(ready()) == []


def test_what_cannot_be_loaded_is_built_again(own_cache, fresh):
    core = built(fresh)
    kept = own_cache / core.name
    kept.write_bytes(b"")
    assert loaded() == kept
    assert kept.read_bytes() == core.read_bytes()


def test_it_is_built_where_nothing_can_be_kept(own_cache, tmp_path):
    own_cache.parent.mkdir(parents=True)
    own_cache.touch()  # a file in the folder's place
    second = loaded()
    assert second.parent.parent == tmp_path
    shutil.rmtree(second.parent)
    second.parent.touch()
    assert loaded().parent.parent == tmp_path
    assert list(ready()) == []


def test_a_user_without_a_home_gets_no_folder_in_the_current_one(own_cache, tmp_path, monkeypatch):
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.delenv("HOME")
    monkeypatch.setattr("pwd.getpwuid", {}.__getitem__)
    monkeypatch.chdir(tmp_path)
    assert loaded().parent.parent == tmp_path
    assert not (tmp_path / "~").exists()


def test_what_a_wheel_brings_needs_no_compiler(own_cache, fresh, tmp_path, monkeypatch):
    """It is taken only if it was built from the very source that is there."""
    core = built(fresh)
    monkeypatch.setattr(building, "__file__", str(tmp_path / "building.py"))
    monkeypatch.setattr(building, "_compilers", lambda: iter(()))
    shipped = building.shipped()
    core.rename(shipped)
    assert loaded() == shipped
    monkeypatch.setattr(building, "SOURCES", building.SOURCES[1:])
    assert list(ready()) == []


def test_another_compiler_builds_what_the_first_refuses(own_cache, monkeypatch):
    (compiler,) = list(building._compilers())[:1]
    monkeypatch.setattr(building, "_compilers", lambda: iter([[shutil.which("false")], compiler]))
    assert loaded().parent == own_cache


def test_what_is_missing_is_said_in_a_line(own_cache, fresh, monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    monkeypatch.setattr(building, "OPTIONS", (*building.OPTIONS, "-Dstruct=!"))
    with pytest.raises(NotBuilt, match=r"^building the core failed: .*error.*; install gcc .*'\.\[cc\]'$"):
        built(fresh)
    monkeypatch.setattr(building, "COMPILERS", ("no-such-compiler",))
    for told in (built, build):
        with pytest.raises(NotBuilt, match=r"^there is no C compiler on PATH; install gcc .*'\.\[cc\]'$"):
            told(fresh)


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_compilers_have_nothing_to_say(compiler, tmp_path, monkeypatch):
    if shutil.which(compiler) is None:
        pytest.skip(f"no {compiler} on PATH")
    monkeypatch.setattr(building, "COMPILERS", (compiler,))
    build(tmp_path / "core.so", *STRICT)
