"""Documents for decoders that read them: in each format, the shortest document with one string.

Only ASCII octets that the format forbids in a string are escaped; the decoder gets every other octet
unchanged. Each function takes the octets of a string and gives the document.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

_JSON_ESCAPED = re.compile(rb'["\\\x00-\x1f]')
_XML_ESCAPED = re.compile(rb"[&<>]")
_HTML_ESCAPED = re.compile(rb"[&<]")
_YAML_ESCAPED = re.compile(rb'["\\\x00-\x1f\x7f]')
_SHORT, _LARGEST_SHORT = 24, 256  # of CBOR's lengths


def json_string(octets: bytes) -> bytes:
    """A JSON string (RFC 8259 section 7)."""
    return b'"' + _JSON_ESCAPED.sub(lambda found: b"\\u%04x" % found[0][0], octets) + b'"'


def xml_element(octets: bytes) -> bytes:
    """An XML element with this text."""
    return b"<x>" + _XML_ESCAPED.sub(lambda found: b"&#%d;" % found[0][0], octets) + b"</x>"


def cbor_text(octets: bytes) -> bytes:
    """A CBOR text string of definite length (RFC 8949 section 3.1, major type 3)."""
    size = len(octets)
    if size < _SHORT:
        return bytes([0x60 + size]) + octets
    if size < _LARGEST_SHORT:
        return bytes([0x78, size]) + octets
    return b"\x7a" + size.to_bytes(4, "big") + octets


def cbor_chunks(values: Iterable[bytes]) -> bytes:
    """A CBOR text string of indefinite length, with a chunk for each value (RFC 8949 section 3.2.3)."""
    return b"\x7f" + b"".join(map(cbor_text, values)) + b"\xff"


def messagepack_str(octets: bytes) -> bytes:
    """A MessagePack str: fixstr, str 8, str 16 or str 32."""
    size = len(octets)
    if size < 32:
        return bytes([0xA0 + size]) + octets
    for lead, width in ((0xD9, 1), (0xDA, 2)):
        if size < 1 << 8 * width:
            return bytes([lead]) + size.to_bytes(width, "big") + octets
    return b"\xdb" + size.to_bytes(4, "big") + octets


def protobuf_string(octets: bytes) -> bytes:
    """Field 1 of a message, with its length as a varint."""
    return b"\x0a" + _varint(len(octets)) + octets


def _varint(number: int) -> bytes:
    """Seven bits per octet, the lowest first; every octet except the last has the high bit."""
    varint = bytearray()
    while number >= 0x80:
        varint.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes(varint) + bytes([number])


def avro_string(octets: bytes) -> bytes:
    """An Avro string: its length in zigzag, and the octets."""
    return _varint(2 * len(octets)) + octets


def asn1_utf8_string(octets: bytes) -> bytes:
    """A UTF8String of ASN.1 in DER (X.690 section 8.1)."""
    size = len(octets)
    if size < 0x80:
        return bytes([0x0C, size]) + octets
    width = (size.bit_length() + 7) // 8
    return bytes([0x0C, 0x80 + width]) + size.to_bytes(width, "big") + octets


def websocket_text(octets: bytes) -> bytes:
    """A text message of WebSocket in one frame, as a server sends it: not masked (RFC 6455 section 5.2)."""
    size = len(octets)
    if size < 126:
        return bytes([0x81, size]) + octets
    if size < 1 << 16:
        return b"\x81\x7e" + size.to_bytes(2, "big") + octets
    return b"\x81\x7f" + size.to_bytes(8, "big") + octets


def html_pre(octets: bytes) -> bytes:
    """An HTML document with this text in a ``pre``, after a line feed that HTML drops."""
    escaped = _HTML_ESCAPED.sub(lambda found: b"&#%d;" % found[0][0], octets)
    return b"<!doctype html><body><pre>\n" + escaped + b"</pre>"


def bson_string(octets: bytes) -> bytes:
    """A BSON document whose only element is a string with an empty name."""
    element = b"\x02\x00" + (len(octets) + 1).to_bytes(4, "little") + octets + b"\x00"
    return (4 + len(element) + 1).to_bytes(4, "little") + element + b"\x00"


def yaml_scalar(octets: bytes) -> bytes:
    """A double-quoted YAML scalar on one line (YAML 1.2 section 7.3.1)."""
    return b'"' + _YAML_ESCAPED.sub(lambda found: b"\\x%02x" % found[0][0], octets) + b'"\n'


def toml_pair(octets: bytes) -> bytes:
    """A TOML document with the key ``x`` and a basic string."""
    escaped = _YAML_ESCAPED.sub(lambda found: b"\\u%04x" % found[0][0], octets)
    return b'x = "' + escaped + b'"\n'


DOCUMENTS: dict[str, Callable[[bytes], bytes]] = {
    "json": json_string,
    "cbor": cbor_text,
    "messagepack": messagepack_str,
    "protobuf": protobuf_string,
    "bson": bson_string,
    "xml": xml_element,
    "yaml": yaml_scalar,
    "toml": toml_pair,
    "avro": avro_string,
    "asn1": asn1_utf8_string,
    "websocket": websocket_text,
    "html": html_pre,
}
"""Keyed by the words of records and of ``lines[...]:``."""
WRAPPERS = {"json": "json-string", "xml": "xml"}
"""The formats that are traits of a target (docs/protocol.md)."""
