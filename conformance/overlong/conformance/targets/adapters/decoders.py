"""Decoders of PyPI packages, for the Python adapter; each is imported on demand.

Only packages with their own decoder: a package that passes its octets to CPython's shows nothing new. If the package
decides and CPython makes the text, only the verdict is asked, unless the error shows which of them refused.
"""

from __future__ import annotations

from array import array
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import version
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from overlong.conformance.targets.adapters.documents import (
    cbor_chunks,
    cbor_text,
    json_string,
    protobuf_string,
    xml_element,
)
from overlong.conformance.targets.adapters.serving import Bug, Refusal, cut, fail, in_words

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Refusing = type[Exception] | tuple[()]
    Made = tuple[Callable[[Any], Any], Refusing]


@dataclass(frozen=True)
class Package:
    """A decoder of a package.

    ``make`` imports the package, and returns the decoder and the exception by which it refuses, unless it returns a
    ``Refusal``: any other is a bug.
    ``columns``: the decoder takes many strings at once; only a column that it refuses is asked string by string.
    ``make_separate`` does the same for a decoder of a list of values, if there is one.
    """

    package: str
    operation: str
    make: Callable[[], Made]
    wrapper: str = ""
    columns: bool = False
    make_separate: Callable[[], Made] | None = None

    @property
    def operations(self) -> dict[str, Any]:
        decode, refuses = self.make()

        def ask(octets: bytes) -> Any:
            found = _tried(decode, refuses, [octets] if self.columns else octets)
            if isinstance(found, Refusal | Bug):
                return found
            return True if self.operation == "V" else _whole(found)

        def ask_all(many: Sequence[bytes]) -> list[Any]:
            if self.columns:
                with suppress(Exception):  # single questions find the culprit
                    decode(many)
                    return [True] * len(many)
            return [ask(octets) for octets in many]

        return {self.operation: ask_all} | self._of_lists

    @property
    def _of_lists(self) -> dict[str, Any]:
        if self.make_separate is None:
            return {}
        take, refuses = self.make_separate()

        def answer(payloads: Sequence[bytes]) -> list[Any]:
            found = [_tried(take, refuses, cut(payload)) for payload in payloads]
            return [each if isinstance(each, Refusal | Bug) else True for each in found]

        return {"I": answer}

    @property
    def traits(self) -> dict[str, str]:
        found = {"version": f"{self.package} {version(self.package)}"}
        return {**found, "wrapper": self.wrapper} if self.wrapper else found


def _tried(decode: Callable[[Any], Any], refuses: Refusing, given: Any) -> Any:
    """The result of a decoder, its refusal, or its bug."""
    try:
        return decode(given)
    except refuses:
        return Refusal()
    except Exception as error:  # noqa: BLE001 (whatever it is, it is no verdict)
        return Bug(in_words(error))


def _whole(text: Any) -> Any:
    """Return the text if it is consistent: native code can make a ``str`` whose parts contradict each other."""
    if type(text) is not str:
        return Bug(f"returned {type(text).__name__} where a str is due")
    if text != text.encode("utf-32-le", "surrogatepass").decode("utf-32-le", "surrogatepass"):
        return Bug("returned a str that does not equal a copy of its characters")
    return text


def _orjson() -> Made:
    package: Any = import_module("orjson")
    return lambda octets: package.loads(json_string(octets)), package.JSONDecodeError


def _ujson() -> Made:
    package: Any = import_module("ujson")
    return lambda octets: package.loads(json_string(octets)), package.JSONDecodeError


def _simdjson() -> Made:
    parser: Any = import_module("simdjson").Parser()

    def decode(octets: bytes) -> Any:
        try:
            return parser.parse(json_string(octets))
        except UnicodeDecodeError as error:
            if error.reason.startswith("UTF8_ERROR"):  # simdjson's word; CPython, which makes the text, uses others
                return Refusal()
            raise

    return decode, ()


def _pydantic_json() -> Made:
    package: Any = import_module("pydantic_core")
    return lambda octets: package.from_json(json_string(octets)), ValueError


def _pydantic() -> Made:
    package: Any = import_module("pydantic_core")
    return package.SchemaValidator({"type": "str"}).validate_python, package.ValidationError


def _cbor2() -> Made:
    package: Any = import_module("cbor2")
    return lambda octets: package.loads(cbor_text(octets)), package.CBORDecodeError


def _cbor2_chunks() -> Made:
    package: Any = import_module("cbor2")
    return lambda values: package.loads(cbor_chunks(values)), package.CBORDecodeError


def _protobuf() -> Made:
    used: str = import_module("google.protobuf.internal.api_implementation").Type()
    if used != "upb":
        fail(f"protobuf runs its implementation '{used}', which decodes with CPython's decoder")
    message: Any = import_module("google.protobuf.wrappers_pb2").StringValue()
    refuses: type[Exception] = import_module("google.protobuf.message").DecodeError
    return lambda octets: message.ParseFromString(protobuf_string(octets)), refuses


def _pyarrow() -> Made:
    package: Any = import_module("pyarrow")
    binary, string = package.binary(), package.string()
    return lambda column: package.array(column, binary).cast(string), package.ArrowInvalid


def _pyarrow_column() -> Made:
    package: Any = import_module("pyarrow")

    def take(values: list[bytes]) -> None:
        offsets = package.py_buffer(array("i", accumulate(map(len, values), initial=0)).tobytes())
        column = package.StringArray.from_buffers(len(values), offsets, package.py_buffer(b"".join(values)))
        column.validate(full=True)

    return take, package.ArrowInvalid


def _mutf8() -> Made:
    package: Any = import_module("mutf8.cmutf8")

    def decode(octets: bytes) -> Any:
        try:
            return package.decode_modified_utf8(octets)
        except UnicodeDecodeError as error:
            return Refusal(error.start)

    return decode, ()


def _lxml() -> Made:
    package: Any = import_module("lxml.etree")
    parser = package.XMLParser(resolve_entities=False, no_network=True, huge_tree=True)

    def decode(octets: bytes) -> Any:
        return package.fromstring(xml_element(octets), parser).text or ""

    return decode, package.XMLSyntaxError


orjson = Package("orjson", "D", _orjson, "json-string")
ujson = Package("ujson", "D", _ujson, "json-string")
pysimdjson = Package("pysimdjson", "D", _simdjson, "json-string")
pydantic_core = Package("pydantic-core", "D", _pydantic)
pydantic_core_json = Package("pydantic-core", "D", _pydantic_json, "json-string")
cbor2 = Package("cbor2", "D", _cbor2, make_separate=_cbor2_chunks)
protobuf = Package("protobuf", "V", _protobuf)
pyarrow = Package("pyarrow", "V", _pyarrow, columns=True, make_separate=_pyarrow_column)
mutf8 = Package("mutf8", "D", _mutf8)
lxml = Package("lxml", "D", _lxml, "xml")
