"""The version of a target: it names the decoder's code, not only its interpreter."""

import ctypes.util
import hashlib
import json
import os
import random
import shutil
import struct
import subprocess
import sys
from importlib import metadata
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest

from overlong.conformance.targets.adapters.facts import version_of as owner_of
from overlong.conformance.targets.elf import names_in, version_of
from overlong.conformance.targets.resolve import resolve

pytestmark = pytest.mark.long

RUNS = "CPython 3.99"
BUILD_ID = bytes(range(20))


def said_by(name):
    target = resolve(name)
    target.start()
    try:
        return target.greeting.version
    finally:
        target.close()


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """A folder of installed packages."""
    monkeypatch.syspath_prepend(str(tmp_path))

    def install(distribution, module, record=None, **files):
        folder = tmp_path / f"{distribution}-1.5.dist-info"
        folder.mkdir()
        (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {distribution}\nVersion: 1.5\n")
        file = tmp_path / f"{module}.py"
        file.write_text("")
        (folder / "RECORD").write_text(f"{distribution}-1.5.dist-info/METADATA,,\n{record or file.name},,\n")
        for name, text in files.items():
            (folder / name.replace("_json", ".json")).write_text(text)
        loaded = ModuleType(module)
        loaded.__file__ = str(file)
        monkeypatch.setitem(sys.modules, module, loaded)
        return SimpleNamespace(__module__=module)

    return install


def test_the_distribution_that_holds_a_decoder(installed, tmp_path):
    same = installed("fastdecode", "fastdecode")
    other = installed("python-slowdecode", "slowdecode")
    assert owner_of(same, "fastdecode", RUNS) == f"fastdecode 1.5, {RUNS}"
    assert owner_of(other, "slowdecode", RUNS) == f"python-slowdecode 1.5, {RUNS}"
    assert owner_of(other, str(tmp_path / "mine.py"), RUNS) == f"python-slowdecode 1.5, {RUNS}"  # imported there


def test_a_namesake_that_does_not_hold_the_file_is_not_named(installed, tmp_path):
    found = installed("namesake", "namesake", record="elsewhere.py")
    digest = hashlib.sha256(b"").hexdigest()[:16]
    assert owner_of(found, "namesake", RUNS) == f"sha256 {digest}, {RUNS}"
    direct = json.dumps({"url": tmp_path.as_uri(), "dir_info": {"editable": True}})
    edited = installed("edited", "edited", record="edited.pth", direct_url_json=direct)
    assert owner_of(edited, "edited", RUNS) == f"edited 1.5, {RUNS}"


@pytest.mark.parametrize("damage", ["direct_url_json", "RECORD", "METADATA"])
def test_damaged_metadata_says_nothing(installed, damage):
    found = installed("broken", "broken", **{damage: "{\0"})
    assert owner_of(found, "broken", RUNS).endswith(RUNS)


def test_what_belongs_to_the_interpreter(tmp_path):
    assert owner_of(SimpleNamespace(__module__="json"), "json", RUNS) == RUNS
    assert owner_of(bytes.decode, "builtins", RUNS) == RUNS
    mine = tmp_path / "json.py"  # despite the name
    mine.write_bytes(b"decode = 1")
    digest = hashlib.sha256(b"decode = 1").hexdigest()[:16]
    assert owner_of(SimpleNamespace(__module__="json"), str(mine), RUNS) == f"sha256 {digest}, {RUNS}"


def test_greetings_say_it(tmp_path):
    """``markupsafe.escape`` decodes nothing, but is installed wherever the tests run."""
    runs = said_by("cpython")
    assert runs.startswith(("CPython ", "PyPy "))
    there = metadata.distribution("markupsafe")
    assert said_by("py:markupsafe:escape") == f"{there.metadata['Name']} {there.version}, {runs}"
    mine = tmp_path / "mine.py"
    mine.write_text("def decode(octets):\n    return octets.decode()\n")
    assert said_by(f"py:{mine}:decode") == f"sha256 {hashlib.sha256(mine.read_bytes()).hexdigest()[:16]}, {runs}"


def elf(order="<", soname=b"libmine.so.3", build_id=BUILD_ID):
    """A library without code: a note, a dynamic section and its names, in one page."""
    note = struct.pack(f"{order}III", 4, len(build_id), 3) + b"GNU\0" + build_id
    names = b"\0" + soname + b"\0"
    dynamic = struct.pack(f"{order}6Q", 5, 0x5000 + 0x400, 14, 1, 0, 0)
    parts = {0x200: note, 0x300: dynamic, 0x400: names}
    table = [(1, 0, 0x5000, 0x800), (2, 0x300, 0x5300, len(dynamic)), (4, 0x200, 0x5200, len(note))]
    form = f"{order}IIQQQQQQ"
    headers = b"".join(struct.pack(form, kind, 4, at, place, place, size, size, 4) for kind, at, place, size in table)
    ident = b"\x7fELF" + bytes([2, 1 + (order == ">"), 1]) + bytes(9)
    head = struct.pack(f"{order}HHI3QI6H", 3, 62, 1, 0, 64, 0, 0, 64, struct.calcsize(form), len(table), 0, 0, 0)
    image = bytearray(0x800)
    image[: len(ident + head + headers)] = ident + head + headers
    for place, octets in parts.items():
        image[place : place + len(octets)] = octets
    return bytes(image)


def names(path, octets):
    path.write_bytes(octets)
    with path.open("rb") as file:
        return names_in(file.fileno())


@pytest.mark.parametrize("order", "<>")
def test_the_soname_and_the_build_id_of_a_library(tmp_path, order):
    assert names(tmp_path / "a.so", elf(order)) == ("libmine.so.3", BUILD_ID.hex())
    assert version_of(str(tmp_path / "a.so")) == f"libmine.so.3, build id {BUILD_ID.hex()}"


def test_a_library_may_be_anything(tmp_path):
    """Truncated anywhere, with any octets changed, it is read without an error."""
    octets, chance, file = elf(), random.Random(3629), tmp_path / "a.so"
    for place in range(0, len(octets), 37):
        names(file, octets[:place])
    for _ in range(500):
        changed = bytearray(octets)
        for _ in range(chance.randrange(1, 9)):
            changed[chance.choice([*range(240), *range(0x200, 0x228), *range(0x300, 0x330)])] = chance.choice(
                [0, 1, 0x7F, 0xFF, chance.randrange(256)]
            )
        names(file, bytes(changed))
    endless = bytearray(octets)
    endless[0x200:] = bytes(len(octets) - 0x200)
    assert names(file, bytes(endless)) == ("", "")


def test_what_says_nothing_of_itself_has_a_digest(tmp_path):
    file = tmp_path / "plain.so"
    file.write_bytes(b"no library")
    assert version_of(str(file)) == f"sha256 {hashlib.sha256(b'no library').hexdigest()[:16]}"
    assert version_of(str(tmp_path / "nothing.so")) == ""
    assert version_of(str(tmp_path)) == ""
    if hasattr(os, "mkfifo"):
        os.mkfifo(tmp_path / "pipe.so")
        assert version_of(str(tmp_path / "pipe.so")) == ""
    hostile = tmp_path / "hostile.so"
    hostile.write_bytes(elf(soname=b"\x1b]0;\xff\n"))
    assert version_of(str(hostile)).isascii()
    assert version_of(str(hostile)).isprintable()


def test_a_library_of_the_system():
    library = ctypes.util.find_library("c")
    if not library or not shutil.which("readelf"):
        pytest.skip("needs readelf and a C library that the loader knows")
    version = said_by(f"so:{library}:strlen?abi=bool(ptr,len)")
    path = next((each for each in Path("/").glob(f"lib/*/{library}")), None)
    if path is None:
        pytest.skip("the C library lies elsewhere")
    notes = subprocess.run(["readelf", "-n", str(path)], capture_output=True, text=True, check=True).stdout
    assert f"{library}, build id {notes.split('Build ID:')[1].split()[0]}" in version
    owned = subprocess.run(["dpkg-query", "-S", str(path)], capture_output=True, check=False) if shutil.which(
        "dpkg-query") else None  # fmt: skip
    if owned is not None and owned.returncode == 0:
        assert version.startswith(owned.stdout.decode().partition(":")[0])
