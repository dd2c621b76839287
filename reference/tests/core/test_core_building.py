"""The core is built once, kept where only its user can write, and loaded by any number of processes."""

import shutil
import subprocess
import sys

import pytest

from overlong.reference.core import building, loading
from overlong.reference.core.building import NotBuilt, build, built

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(not any(map(shutil.which, building.COMPILERS)), reason="no C compiler on PATH"),
]
STRICT = ("-Wall", "-Wextra", "-Wconversion", "-Wpedantic", "-Wshadow", "-Werror")


@pytest.fixture
def own_cache(tmp_path, monkeypatch):
    """An empty cache, and a core that is soon built."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(building, "OPTIONS", (*building.OPTIONS, "-O0"))
    return building.cache("core")


def test_it_is_built_once(own_cache, tmp_path):
    first = built(tmp_path)
    before = first.stat()
    assert first.parent == own_cache
    assert built(tmp_path) == first
    assert first.stat() == before
    assert loading.Core(first).convention("bool(ptr,len)")


def test_two_processes_build_it_at_once(own_cache):
    program = "from overlong.reference.core import core; core(); print('there')"
    both = [subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE) for _ in range(2)]
    assert [each.communicate()[0] for each in both] == [b"there\n"] * 2
    assert [path.suffix for path in own_cache.iterdir()] == [".so"]


def test_what_others_could_have_written_is_not_loaded(own_cache, tmp_path):
    kept = built(tmp_path)
    kept.chmod(0o777)
    other = built(tmp_path)
    assert other.parent in {own_cache, tmp_path}
    assert not other.stat().st_mode & 0o022
    own_cache.chmod(0o777)
    assert built(tmp_path).parent == tmp_path


def test_it_is_built_where_nothing_can_be_kept(own_cache, tmp_path):
    own_cache.parent.mkdir(parents=True)
    own_cache.touch()  # a file in the folder's place
    assert built(tmp_path).parent == tmp_path


def test_what_is_missing_is_said_in_a_line(own_cache, tmp_path, monkeypatch):
    monkeypatch.setattr(building, "COMPILERS", ("no-such-compiler",))
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    with pytest.raises(NotBuilt, match=r"^there is no C compiler on PATH; install gcc .*'\.\[cc\]'$"):
        built(tmp_path)
    monkeypatch.undo()
    with pytest.raises(NotBuilt, match=r"^building the core failed: .*error"):
        build(tmp_path / "core.so", "-Dstruct=!")


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_compilers_have_nothing_to_say(compiler, tmp_path, monkeypatch):
    if shutil.which(compiler) is None:
        pytest.skip(f"no {compiler} on PATH")
    monkeypatch.setattr(building, "COMPILERS", (compiler,))
    build(tmp_path / "core.so", *STRICT)
