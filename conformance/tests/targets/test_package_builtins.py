"""The decoders of PyPI packages: the certificate of each, and the effect of their wrappers."""

import json
import sys
from importlib import metadata
from importlib.util import module_from_spec, spec_from_file_location

import pytest

from builtin_under_test import SUITES, ready
from overlong.conformance import certify
from overlong.conformance.targets import builtin, builtins
from overlong.conformance.targets.builtins import BUILTINS, FAMILIES
from overlong.conformance.targets.resolve import resolve

pytestmark = [pytest.mark.long, pytest.mark.usefixtures("unexamined")]

DIVERGE = {
    "orjson": set[str](),
    "ujson": {"OV202"},  # ED A0 80 becomes a lone surrogate
    "pysimdjson": set[str](),
    "pydantic-core": set[str](),
    "pydantic-core-json": set[str](),
    "cbor2": set[str](),
    "protobuf": set[str](),
    "pyarrow": set[str](),
    "lxml": set[str](),
}


def test_every_package_has_its_row():
    assert [package.name for package in FAMILIES["pypi"] if package.name != "mutf8"] == list(DIVERGE)


@pytest.mark.parametrize("name", DIVERGE)
def test_is_certified_for_what_it_is(name):
    ready(name)
    certificate = certify(name, suites=SUITES)
    assert certificate.run.codes == DIVERGE[name]
    assert certificate.claims["verdict"] == ("fails" if DIVERGE[name] else "holds")
    assert not certificate.run.restarts
    assert certificate.run.greeting.version == BUILTINS[name].version()


def test_mutf8_takes_well_formed_modified_utf_8_and_far_more():
    """It checks no second octet, and reads octets that begin no character as ISO 8859-1."""
    ready("mutf8")
    certificate = certify("mutf8", suites=["core", "complete-0"], speaks="mutf-8")
    codes = certificate.run.codes
    assert {"OV203", "OV205", "OV206", "OV207", "OV208"} <= codes
    assert not codes & {"OV101", "OV102", "OV601", "OV602"}  # all well-formed strings are read rightly
    assert certificate.claims["scalars"] == "holds"


@pytest.fixture
def decoders(monkeypatch):
    """The module of the adapter, loaded like the adapter does."""
    for name, path in (("__main__", "python.py"), ("decoders", "packages/decoders.py")):
        spec = spec_from_file_location(f"adapter.{name}", builtin.ADAPTERS / path)
        assert spec is not None
        assert spec.loader is not None
        module = module_from_spec(spec)
        monkeypatch.setitem(sys.modules, name, module)
        monkeypatch.setitem(sys.modules, module.__name__, module)
        spec.loader.exec_module(module)
    return sys.modules["decoders"]


def test_wrappers_change_nothing_but_ascii(decoders):
    every = bytes(range(256))
    assert decoders.json_string(every)[-129:-1] == decoders.xml_element(every)[-132:-4] == every[128:]
    assert json.loads(decoders.json_string(every[:128])) == every[:128].decode("ascii")
    assert decoders.xml_element(b"a&b<c]]>") == b"<x>a&#38;b&#60;c]]&#62;</x>"
    for size, head in ((0, "60"), (23, "77"), (24, "7818"), (255, "78ff"), (256, "7a00000100"), (70000, "7a00011170")):
        assert decoders.cbor_text(b"a" * size) == bytes.fromhex(head) + b"a" * size
    for size, head in ((0, "0a00"), (127, "0a7f"), (128, "0a8001"), (300, "0aac02")):
        assert decoders.protobuf_string(b"a" * size) == bytes.fromhex(head) + b"a" * size


def test_what_a_package_returns_is_looked_at(decoders):
    class Liar(str):
        __slots__ = ()

    def asked(result, refuses=ValueError):
        def decode(octets):
            if isinstance(result, Exception):
                raise result
            return result

        (answer,) = decoders.Package("x", "D", lambda: (decode, refuses)).operations["D"]([b"a"])
        return answer

    assert asked("a") == "a"
    assert asked("\ud800") == "\ud800"  # the harness judges it
    assert "returned Liar" in asked(Liar("a")).text
    assert "returned bytes" in asked(b"a").text
    assert asked(ValueError("no")).offset is None
    assert asked(decoders.RefusedByPackage(3)).offset == 3
    assert "SystemError: no" in asked(SystemError("no")).text
    assert "KeyError" in asked(KeyError("no")).text


def test_what_is_missing_is_named_as_pip_has_it(monkeypatch):
    def absent(name):
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "version", absent)
    assert BUILTINS["pysimdjson"].missing().startswith("no simdjson in this Python; pip install 'pysimdjson', or")
    with pytest.raises(Exception, match="orjson: not available here: no orjson in this Python"):
        resolve("orjson")
    monkeypatch.setattr(metadata, "version", lambda _name: "5.6.5")
    monkeypatch.setattr(builtins, "_is_there", lambda _name: True)
    assert BUILTINS["cbor2"].missing().startswith("cbor2 5.6.5 decodes with CPython's decoder; pip install 'cbor2>=6'")
