"""The planted bugs: the name of each, a line about it, and the target that has it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

LIBRARY, DECODERS = "libplanted.so", "decoders.py"
BOOL, OFFSET = "bool(ptr,len)", "errpos(ptr,len)"
WIDE, SHORT, STREAM = "utf32(ptr,len,out,cap)", "utf16(ptr,len,out,cap)", "stream-utf32(state,ptr,len,out,cap)"


@dataclass(frozen=True)
class Bug:
    """One decoder with one bug."""

    name: str
    line: str
    symbols: str
    """The functions of the library, or the name in :data:`DECODERS`."""
    abi: str = ""
    """Empty for one in Python."""

    @property
    def target(self) -> str:
        """The target on the command line, if the library and the file of decoders are in the working directory."""
        if not self.abi:
            return f"py:./{DECODERS}:{self.symbols}"
        return f"so:./{LIBRARY}:{self.symbols}?abi={self.abi}"


_VALIDATORS = {
    "nul_in_two": "C0 80 is U+0000, as in Java's files",
    "overlong_2": "C0 and C1 may begin characters",
    "overlong_3": "E0 may be followed by every tail octet",
    "overlong_4": "F0 may be followed by every tail octet",
    "overlong_slash": "one overlong form alone: that of the slash in three octets",
    "last_overlong": "an edge that is off by one: 7FF in three octets",
    "surrogates": "ED may be followed by every tail octet",
    "trail_surrogates": "the second halves of pairs are accepted",
    "surrogate_pairs": "pairs of surrogates are accepted, as in CESU-8",
    "beyond_by_one": "an edge that is off by one: 110000 in four octets",
    "beyond_f4": "F4 may be followed by every tail octet",
    "beyond_f5": "F5, F6 and F7 may begin characters",
    "five_octets": "forms of five octets",
    "six_octets": "forms of six octets",
    "skips_ff": "FF is passed over",
    "stray_tail": "tail octets are passed over",
    "one_tail_more": "characters of two octets may have another tail octet",
    "any_end": "what the end of the input cuts short is accepted",
    "end_after_two_of_three": "the same, of characters of three octets if one is missing",
    "second_unchecked": "any octet completes a character of two",
    "third_unchecked": "any octet completes a character of three",
    "fourth_unchecked": "any octet completes a character of four",
    "top_bit_is_tail": "every octet with the top bit is a tail octet, after a lead octet of two",
    "no_nul": "U+0000 is refused",
    "no_delete": "U+007F is refused",
    "first_of_two": "U+0080 is refused",
    "last_of_two": "DF begins no character",
    "first_of_three": "U+0800 is refused",
    "before_surrogates": "U+D7FF is refused",
    "all_of_ed": "ED begins no character",
    "after_surrogates": "U+E000 is refused",
    "no_signature": "U+FEFF is refused",
    "noncharacters_of_bmp": "U+FDD0 to U+FDEF, U+FFFE and U+FFFF are refused",
    "first_of_four": "U+10000 is refused",
    "last_plane": "U+100000 and all above are refused",
    "last_of_all": "U+10FFFF is refused",
    "no_four": "characters of four octets are refused",
    "last_tail": "BF is no last octet of a character",
    "three_across_64": "a character of three octets that lies across a multiple of 64 is refused",
    "any_across_16": "a character that lies across a multiple of 16 is refused",
    "any_from_64": "from offset 64 on all must be ASCII",
    "three_after_16": "a character of three octets after 16 characters is refused",
    "four_ends_at_32": "a character of four octets that ends at a multiple of 32 is refused",
    "longer_than_2048": "what is longer than 2048 octets is refused",
    "beyond_at_15": "F4 90 is accepted after exactly 15 characters of ASCII",
    "end_at_32": "what the end cuts short is accepted if the input is a multiple of 32 long",
    "rest_of_blocks": "what is left over after blocks of 16 is not looked at",
    "tail_at_7": "a tail octet is passed over in the last octet of a word of 8",
    "longer_than_1024": "C0 and C1 may begin characters in an input of more than 1024 octets",
    "after_nul": "nothing is looked at after an octet 00",
    "length_in_8_bits": "whether there is any input is asked of a length of 8 bits",
    "place_matters": "C0 and C1 may begin characters at some addresses",
    "reads_beyond": "the lead octet's length is trusted before that of the input",
    "once_in_50": "every 50th answer is wrong",
    "keeps_state": "an input that was cut short makes the answer to the next one wrong",
    "aborts_on_f8": "F8 ends the process",
    "null_after_32": "F0 to F7 behind offset 32 lead to a null pointer",
    "exits_on_cut": "a character of three octets that is cut short ends the process with status 0",
    "hangs": "FE FF never returns",
}
_DECODERS = {
    "cut_at_16_bits": "what is put out has 16 bits",
    "euro_is_c1": "U+20AC becomes U+0080",
    "signature_stripped": "U+FEFF at the start is left out",
    "wrong_bit": "the lowest bit of characters of three octets is the contrary of what it should be",
    "kelvin_folded": "U+212A becomes U+004B",
    "nul_left_out": "U+0000 is left out",
    "dropped_at_64": "a character that starts one octet before a multiple of 64 is left out",
    "writes_beyond": "a terminator is written behind the output, where there may be no room",
}
_FEED, _FINISH, _RESET = "stream_feed", "stream_finish_right", "stream_reset"
_STREAMS = {
    "loses_1": (
        "a character of three is forgotten if a chunk ends after its first octet",
        "stream_feed_loses_1",
        _FINISH,
        _RESET,
    ),
    "loses_all": ("a character that is cut is forgotten", "stream_feed_loses_all", _FINISH, _RESET),
    "empty_ends": ("an empty chunk is taken for the end", "stream_feed_empty_ends", _FINISH, _RESET),
    "end_unseen": ("what the end of a stream cuts short is accepted", _FEED, "stream_finish_cut", _RESET),
    "not_reset": ("a reset leaves an unfinished character", _FEED, _FINISH, "stream_reset_but_state"),
}
_PYTHON = {
    "surrogates_pass": "surrogates are put out",
    "tab_refused": "U+0009 is refused",
    "index_error": "an index is out of range if the last character is U+FEFF",
    "normalised": "U+000D is lost before U+000A",
    "one_for_run": "one U+FFFD stands for flaws in a row",
    "swallows": "what cuts a character short after its lead octet is lost",
    "forgets_second": "of two flaws in a block of 16 octets the second leaves no U+FFFD",
    "StreamForgetsEnd": "what the end of a stream cuts short is accepted",
    "StreamSignatures": "U+FEFF is left out at the start of a later chunk",
    "StreamNotReset": "a reset leaves an unfinished character",
}


def bugs() -> Iterator[Bug]:
    """All of them."""
    for name, line in _VALIDATORS.items():
        yield Bug(name, line, name, BOOL)
    for name, line in _DECODERS.items():
        yield Bug(name, line, name, WIDE)
    yield Bug("low_half_first", "the halves of a pair of surrogates are exchanged", "low_half_first", SHORT)
    yield Bug("offset_of_offender", "the offset is that of the octet that cuts short", "offset_of_offender", OFFSET)
    for name, (line, feed, finish, reset) in _STREAMS.items():
        yield Bug(f"stream_{name}", line, f"stream_new,{feed},{finish},stream_free,{reset}", STREAM)
    for name, line in _PYTHON.items():
        yield Bug(name, line, name)


def right() -> Iterator[Bug]:
    """Right decoders, one for each way to call them."""
    yield Bug("right", "a right validator", "right", BOOL)
    yield Bug("right_32", "a right decoder to UTF-32", "right_32", WIDE)
    yield Bug("right_16", "a right decoder to UTF-16", "right_16", SHORT)
    yield Bug("stream", "a right decoder of streams", f"stream_new,{_FEED},{_FINISH},stream_free,{_RESET}", STREAM)
    yield Bug("py_right", "a right decoder in Python", "right")
    yield Bug("StreamRight", "a right decoder of streams in Python", "StreamRight")
