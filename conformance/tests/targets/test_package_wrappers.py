"""The wrappers around decoders of PyPI packages: they change nothing but ASCII, and check what they get."""

import json

import pytest

from overlong.conformance.targets import build
from overlong.conformance.targets.adapters.python import module_at

pytestmark = pytest.mark.long


@pytest.fixture
def decoders():
    """The module of the adapter, loaded like the adapter does."""
    return module_at(str(build.ADAPTERS / "decoders.py"), "decoders")


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

        (answer,) = decoders.operations_of("D", lambda: (decode, refuses))["D"]([b"a"])
        return answer

    assert asked("a") == "a"
    assert asked("\ud800") == "\ud800"  # the harness judges it
    assert "returned Liar" in asked(Liar("a")).text
    assert "returned bytes" in asked(b"a").text
    assert asked(ValueError("no")).offset is None
    assert asked(decoders.Refusal(3)).offset == 3
    assert "SystemError: no" in asked(SystemError("no")).text
    assert "KeyError" in asked(KeyError("no")).text
