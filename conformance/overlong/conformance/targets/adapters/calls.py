"""Functions of the libraries of ``libraries.toml`` that no ABI fits, called by ctypes. Octets 00 stand after each text.

Functions that trust their input get well-formed text only: for other text these raise UnicodeDecodeError.
"""

from __future__ import annotations

import codecs
import ctypes
import locale
from ctypes import POINTER, byref, c_char_p, c_int, c_int32, c_long, c_size_t, c_ssize_t, c_uint32, c_void_p, py_object
from ctypes.util import find_library
from functools import cache
from typing import Any

SIZE_MAX = c_size_t(-1).value
_NATIVE_16, _NATIVE_32 = "utf-16-le", "utf-32-le"
_ALONE = (0xFFFFFFFE, 0xFFFFFFFF)
"""``(gunichar) -2`` and ``-1``: no character."""


@cache
def _library(link: str) -> ctypes.CDLL:
    return ctypes.CDLL(find_library(link))


@cache
def _function(link: str, symbol: str, result: Any, *arguments: Any) -> Any:
    library = _library(link)
    version = (find_library(link) or "").rpartition(".so.")[2]
    found = library[symbol] if hasattr(library, symbol) else library[f"{symbol}_{version}"]  # ICU's have its number
    found.restype, found.argtypes = result, arguments
    return found


def _placed(octets: bytes) -> tuple[Any, int]:
    """A buffer that holds the octets, and its address."""
    buffer = ctypes.create_string_buffer(octets, len(octets) + 8)
    return buffer, ctypes.addressof(buffer)


def _glib(symbol: str, result: Any, *arguments: Any) -> Any:
    return _function("glib-2.0", symbol, result, *arguments)


def g_utf8_get_char_validated(octets: bytes, offset: int) -> tuple[int, int] | None:
    """The character, and by how much ``g_utf8_next_char`` goes on."""
    get = _glib("g_utf8_get_char_validated", c_uint32, c_char_p, c_ssize_t)
    scalar = get(octets[offset:], len(octets) - offset)
    skip = c_void_p.in_dll(_library("glib-2.0"), "g_utf8_skip").value or 0
    return None if scalar in _ALONE else (scalar, ctypes.string_at(skip, 256)[octets[offset]])


def g_utf8_find_prev_char(octets: bytes, offset: int) -> int:
    _kept, start = _placed(octets)
    found = _glib("g_utf8_find_prev_char", c_void_p, c_void_p, c_void_p)(start, start + offset + 1)
    return (found or start) - start


def g_utf8_find_next_char(octets: bytes, offset: int) -> int:
    if not offset:
        return 0
    _kept, start = _placed(octets)
    end = start + len(octets)
    found = _glib("g_utf8_find_next_char", c_void_p, c_void_p, c_void_p)(start + offset - 1, end)
    return (found or end) - start


def g_utf8_prev_char(octets: bytes, offset: int) -> tuple[int, int]:
    octets.decode()
    _kept, start = _placed(octets)
    found = _glib("g_utf8_prev_char", c_void_p, c_void_p)(start + offset)
    return _glib("g_utf8_get_char", c_uint32, c_void_p)(found), start + offset - found


def g_utf8_offset_to_pointer(octets: bytes, index: int) -> int | None:
    if index > len(octets.decode()):
        return None
    _kept, start = _placed(octets)
    return int(_glib("g_utf8_offset_to_pointer", c_void_p, c_void_p, c_long)(start, index)) - start


def g_utf8_pointer_to_offset(octets: bytes, offset: int) -> int:
    octets.decode()
    _kept, start = _placed(octets)
    return int(_glib("g_utf8_pointer_to_offset", c_long, c_void_p, c_void_p)(start, start + offset))


def g_utf8_substring(octets: bytes, limit: int) -> bytes:
    made = _glib("g_utf8_substring", c_void_p, c_char_p, c_long, c_long)(octets, 0, min(limit, len(octets.decode())))
    return _freed(made, None)


def g_utf8_strncpy(octets: bytes, limit: int) -> bytes:
    octets.decode()
    room = ctypes.create_string_buffer(len(octets) + 8)
    _glib("g_utf8_strncpy", c_char_p, c_void_p, c_char_p, c_size_t)(room, octets, limit)
    return room.value


def g_utf8_make_valid(octets: bytes) -> bytes:
    return _freed(_glib("g_utf8_make_valid", c_void_p, c_char_p, c_ssize_t)(octets, -1), None)


setattr(g_utf8_make_valid, "traits", {"error_mode": "replacement-per-octet"})  # noqa: B010 (for type checkers)


def g_utf8_to_ucs4(octets: bytes) -> str:
    return _refused_or(_made("g_utf8_to_ucs4", octets, 1, 4)).decode(_NATIVE_32, "surrogatepass")


def g_utf8_to_utf16(octets: bytes) -> str:
    return _refused_or(_made("g_utf8_to_utf16", octets, 1, 2)).decode(_NATIVE_16, "surrogatepass")


def _freed(address: int, size: int | None) -> bytes:
    """The octets of a string that GLib made; ``size`` None: until 00."""
    made = ctypes.string_at(address, -1 if size is None else size)
    _glib("g_free", None, c_void_p)(address)
    return made


def _made(symbol: str, units: bytes, size: int, size_written: int) -> bytes | None:
    """The output of a conversion; None if it is refused."""
    written = c_long()
    convert = _glib(symbol, c_void_p, c_char_p, c_long, c_void_p, POINTER(c_long), c_void_p)
    # with items_read it lets the end be incomplete
    made = convert(units, len(units) // size, None, byref(written), None)
    return _freed(made, size_written * written.value) if made else None


def _refused_or(made: bytes | None) -> bytes:
    if made is None:
        raise ValueError("refused")
    return made


def g_utf16_to_utf8(text: str) -> int | None:
    return _size_of("g_utf16_to_utf8", text.encode(_NATIVE_16), 2)


def g_ucs4_to_utf8(text: str) -> int | None:
    return _size_of("g_ucs4_to_utf8", text.encode(_NATIVE_32), 4)


def _size_of(symbol: str, units: bytes, size: int) -> int | None:
    made = _made(symbol, units, size, 1)
    return None if made is None else len(made)


def utf8proc_iterate(octets: bytes, offset: int) -> tuple[int, int] | None:
    scalar = c_int32()
    iterate = _function("utf8proc", "utf8proc_iterate", c_ssize_t, c_char_p, c_ssize_t, POINTER(c_int32))
    width = iterate(octets[offset:], len(octets) - offset, byref(scalar))
    return (scalar.value, width) if width > 0 else None


def _unistring(symbol: str, result: Any, *arguments: Any) -> Any:
    return _function("unistring", symbol, result, *arguments)


def _step(symbol: str, octets: bytes, offset: int) -> tuple[int, int] | None:
    scalar = c_uint32()
    width = _unistring(symbol, c_int, POINTER(c_uint32), c_char_p, c_size_t)(
        byref(scalar), octets[offset:], len(octets) - offset
    )
    return (scalar.value, width) if width > 0 else None


def u8_mbtouc(octets: bytes, offset: int) -> tuple[int, int] | None:
    return _step("u8_mbtouc", octets, offset)


def u8_mbtoucr(octets: bytes, offset: int) -> tuple[int, int] | None:
    return _step("u8_mbtoucr", octets, offset)


def u8_prev(octets: bytes, offset: int) -> tuple[int, int] | None:
    _kept, start = _placed(octets)
    scalar = c_uint32()
    found = _unistring("u8_prev", c_void_p, POINTER(c_uint32), c_void_p, c_void_p)(byref(scalar), start + offset, start)
    return (scalar.value, start + offset - found) if found else None


def u8_to_u16(octets: bytes) -> str:
    return _resulting("u8_to_u16", octets, 2).decode(_NATIVE_16, "surrogatepass")


def u8_to_u32(octets: bytes) -> str:
    return _resulting("u8_to_u32", octets, 4).decode(_NATIVE_32, "surrogatepass")


def _resulting(symbol: str, octets: bytes, size: int) -> bytes:
    room, length = ctypes.create_string_buffer(4 * len(octets) + 64), c_size_t(len(octets) + 16)
    convert = _unistring(symbol, c_void_p, c_char_p, c_size_t, c_void_p, POINTER(c_size_t))
    found = convert(octets, len(octets), room, byref(length))
    if not found:
        raise ValueError("refused")
    return ctypes.string_at(found, size * length.value)


def _icu(symbol: str, result: Any, *arguments: Any) -> Any:
    return _function("icuuc", symbol, result, *arguments)


def u_strFromUTF8WithSub(octets: bytes) -> str:  # noqa: N802 (the library's name)
    units, length, status = 2 * len(octets) + 16, c_int32(), c_int32()
    room = ctypes.create_string_buffer(2 * units)
    convert = _icu(
        "u_strFromUTF8WithSub",
        *(c_void_p, c_void_p, c_int32, POINTER(c_int32), c_char_p, c_int32, c_int32, c_void_p, POINTER(c_int32)),
    )
    convert(room, units, byref(length), octets, len(octets), 0xFFFD, None, byref(status))
    if status.value > 0:
        raise ValueError(f"status {status.value}")
    return room.raw[: 2 * length.value].decode(_NATIVE_16, "surrogatepass")


def u_strToUTF8(text: str) -> int | None:  # noqa: N802 (the library's name)
    """The size that it announces when it gets no room."""
    units, length, status = text.encode(_NATIVE_16, "surrogatepass"), c_int32(), c_int32()
    convert = _icu("u_strToUTF8", *(c_void_p, c_void_p, c_int32, POINTER(c_int32), c_char_p, c_int32, POINTER(c_int32)))
    convert(None, 0, byref(length), units, len(units) // 2, byref(status))
    return length.value if status.value in (0, -124, 15) else None  # not terminated, or no room


def utf8_back1SafeBody(octets: bytes, offset: int) -> int:  # noqa: N802 (the library's name)
    """As U8_SET_CP_START calls it: at a tail."""
    if octets[offset : offset + 1] < b"\x80" or octets[offset] >= 0xC0:
        return offset
    return int(_icu("utf8_back1SafeBody", c_int32, c_char_p, c_int32, c_int32)(octets, 0, offset))


def _of_libc(symbol: str, result: Any, *arguments: Any) -> Any:
    locale.setlocale(locale.LC_ALL, "C.UTF-8")
    return _function("c", symbol, result, *arguments)


def mbsnrtowcs(octets: bytes, room: int) -> tuple[int, str] | None:
    convert = _of_libc("mbsnrtowcs", c_size_t, c_void_p, POINTER(c_void_p), c_size_t, c_size_t, c_void_p)
    return _converted(convert, octets, 1, 4 * room, room)


def wcsnrtombs(text: str, room: int) -> tuple[int, bytes] | None:
    convert = _of_libc("wcsnrtombs", c_size_t, c_void_p, POINTER(c_void_p), c_size_t, c_size_t, c_void_p)
    return _converted(convert, text.encode(_NATIVE_32), 4, room, room)


def _converted(convert: Any, units: bytes, size: int, octets: int, room: int) -> tuple[int, Any] | None:
    """What a function of ``<wchar.h>`` took and wrote."""
    _kept, start = _placed(units)
    place, output, state = c_void_p(start), ctypes.create_string_buffer(octets + 8), ctypes.create_string_buffer(64)
    written = convert(output, byref(place), len(units) // size, room, state)
    if written == SIZE_MAX:
        return None
    taken = (len(units) if place.value is None else place.value - start) // size
    return taken, output.raw[:written] if size == 4 else output.raw[: 4 * written].decode(_NATIVE_32)


def iconv_to_utf16(octets: bytes, room: int) -> tuple[int, str]:
    taken, written = _by_iconv(b"UTF-16LE", b"UTF-8", octets, 2 * room)
    return taken, written.decode(_NATIVE_16, "surrogatepass")


def iconv_to_utf32(octets: bytes, room: int) -> tuple[int, str]:
    taken, written = _by_iconv(b"UTF-32LE", b"UTF-8", octets, 4 * room)
    return taken, written.decode(_NATIVE_32)


def iconv_from_utf16(text: str, room: int) -> tuple[int, bytes]:
    taken, written = _by_iconv(b"UTF-8", b"UTF-16LE", text.encode(_NATIVE_16, "surrogatepass"), room)
    return taken // 2, written


def iconv_from_utf32(text: str, room: int) -> tuple[int, bytes]:
    taken, written = _by_iconv(b"UTF-8", b"UTF-32LE", text.encode(_NATIVE_32, "surrogatepass"), room)
    return taken // 4, written


def iconv_from_latin1(octets: bytes, room: int) -> tuple[int, bytes]:
    return _by_iconv(b"UTF-8", b"LATIN1", octets, room)


def _by_iconv(to: bytes, of: bytes, units: bytes, octets: int) -> tuple[int, bytes]:
    converter = _function("c", "iconv_open", c_void_p, c_char_p, c_char_p)(to, of)
    _kept, start = _placed(units)
    output = ctypes.create_string_buffer(octets + 8)
    place, left = c_void_p(start), c_size_t(len(units))
    out, room = c_void_p(ctypes.addressof(output)), c_size_t(octets)
    convert = _function(
        *("c", "iconv", c_size_t, c_void_p),
        *(POINTER(c_void_p), POINTER(c_size_t), POINTER(c_void_p), POINTER(c_size_t)),
    )
    convert(converter, byref(place), byref(left), byref(out), byref(room))
    _function("c", "iconv_close", c_int, c_void_p)(converter)
    return len(units) - left.value, output.raw[: octets - room.value]


@cache
def _python(symbol: str, result: Any, *arguments: Any) -> Any:
    """A function of Python's own C API: it holds the lock, and its exceptions are raised."""
    return ctypes.PYFUNCTYPE(result, *arguments)((symbol, ctypes.pythonapi))


def PyUnicode_FromStringAndSize(octets: bytes) -> str:  # noqa: N802 (the library's name)
    return str(_python("PyUnicode_FromStringAndSize", py_object, c_char_p, c_ssize_t)(octets, len(octets)))


def PyUnicode_DecodeUTF8Stateful(octets: bytes) -> int:  # noqa: N802 (the library's name)
    """What it consumed."""
    consumed = c_ssize_t()
    arguments = (c_char_p, c_ssize_t, c_char_p, POINTER(c_ssize_t))
    _python("PyUnicode_DecodeUTF8Stateful", py_object, *arguments)(octets, len(octets), None, byref(consumed))
    return consumed.value


def utf_8_decode(octets: bytes) -> int:
    """What it consumed: the end is not final."""
    return codecs.utf_8_decode(octets)[1]


def utf_8_encode(text: str) -> int:
    return len(codecs.utf_8_encode(text)[0])


def PyUnicode_AsUTF8AndSize(text: str) -> int:  # noqa: N802 (the library's name)
    size = c_ssize_t()
    _python("PyUnicode_AsUTF8AndSize", c_void_p, py_object, POINTER(c_ssize_t))(text, byref(size))
    return size.value
