"""Decoders of PyPI packages, for the Python adapter; each is imported on demand.

Only packages with their own decoder: a package that passes its octets to CPython's shows nothing new. If the package
decides and CPython makes the text, only the verdict is asked, unless the error shows which of them refused.
"""

from __future__ import annotations

from array import array
from contextlib import suppress
from functools import cache, partial
from importlib import import_module
from importlib.metadata import version
from itertools import accumulate
from types import SimpleNamespace
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


def operations_of(
    operation: str,
    make: Callable[[], Made],
    *,
    columns: bool = False,
    make_separate: Callable[[], Made] | None = None,
) -> dict[str, Any]:
    """The operations of a decoder of a package.

    Args:
        operation: what it does.
        make: imports the package, and returns the decoder and the exception by which it refuses, unless it returns a
            ``Refusal``: any other is a bug.
        columns: it takes many strings at once; only a column that it refuses is asked string by string.
        make_separate: does the same as ``make`` for a decoder of a list of values, if there is one.
    """
    decode, refuses = make()

    def ask(octets: bytes) -> Any:
        found = _tried(decode, refuses, [octets] if columns else octets)
        if isinstance(found, Refusal | Bug):
            return found
        return True if operation == "V" else _whole(found)

    def ask_all(many: Sequence[bytes]) -> list[Any]:
        if columns:
            with suppress(Exception):  # single questions find the culprit
                decode(many)
                return [True] * len(many)
        return [ask(octets) for octets in many]

    operations: dict[str, Any] = {operation: ask_all}
    if make_separate is not None:
        take, refuses_list = make_separate()

        def ask_lists(payloads: Sequence[bytes]) -> list[Any]:
            found = [_tried(take, refuses_list, cut(payload)) for payload in payloads]
            return [each if isinstance(each, Refusal | Bug) else True for each in found]

        operations["I"] = ask_lists
    return operations


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


_PACKAGES: dict[str, tuple[str, str, Callable[[], dict[str, Any]]]] = {
    "orjson": ("orjson", "json-string", partial(operations_of, "D", _orjson)),
    "ujson": ("ujson", "json-string", partial(operations_of, "D", _ujson)),
    "pysimdjson": ("pysimdjson", "json-string", partial(operations_of, "D", _simdjson)),
    "pydantic_core": ("pydantic-core", "", partial(operations_of, "D", _pydantic)),
    "pydantic_core_json": ("pydantic-core", "json-string", partial(operations_of, "D", _pydantic_json)),
    "cbor2": ("cbor2", "", partial(operations_of, "D", _cbor2, make_separate=_cbor2_chunks)),
    "protobuf": ("protobuf", "", partial(operations_of, "V", _protobuf)),
    "pyarrow": ("pyarrow", "", partial(operations_of, "V", _pyarrow, columns=True, make_separate=_pyarrow_column)),
    "mutf8": ("mutf8", "", partial(operations_of, "D", _mutf8)),
    "lxml": ("lxml", "xml", partial(operations_of, "D", _lxml)),
}
"""The package, the kind of document around the octets, and the operations of each decoder."""


@cache
def __getattr__(name: str) -> SimpleNamespace:
    """The decoder of that name: its package is imported when it is asked for."""
    if name not in _PACKAGES:
        raise AttributeError(name)
    package, wrapper, operations = _PACKAGES[name]
    traits = {"version": f"{package} {version(package)}", **({"wrapper": wrapper} if wrapper else {})}
    return SimpleNamespace(operations=operations(), traits=traits)
