"""Functions beside decoding, right and wrong, in the styles of libraries. Tests certify them as ``py:`` targets."""

from itertools import accumulate


def _is_tail(octet):
    return octet & 0xC0 == 0x80


def _width(lead):
    """What a lead announces; a tail announces nothing."""
    return 1 + sum(edge <= lead < 0xF8 for edge in (0xC0, 0xE0, 0xF0))


# Right: by str, by tails, by leads, and by maximal subparts as CPython replaces them.


def count(octets):
    return len(octets.decode("utf-8", "replace"))


def count_by_tails(octets):
    return sum(not _is_tail(octet) for octet in octets)


def count_by_leads(octets):
    place = counted = 0
    while place < len(octets):
        place += _width(octets[place])
        counted += 1
    return counted


def count_strictly(octets):
    return len(octets.decode())


def units(octets):
    return sum(1 + (octet >= 0xF0) for octet in octets if not _is_tail(octet))


def units_strictly(octets):
    return len(octets.decode().encode("utf-16-le")) // 2


def is_boundary(octets, offset):
    return not _is_tail(octets[offset])


def floor(octets, offset):
    while 0 < offset < len(octets) and _is_tail(octets[offset]):
        offset -= 1
    return offset


def ceil(octets, offset):
    while offset < len(octets) and _is_tail(octets[offset]):
        offset += 1
    return offset


def truncate(octets, limit):
    return octets[: floor(octets, min(limit, len(octets)))]


def truncate_by_str(octets, limit):
    """The text cut by a decoder that ignores what is broken, as many scripts do; only for well-formed text."""
    octets.decode()
    return octets[:limit].decode(errors="ignore").encode()


def truncate_by_leads(octets, limit):
    place = 0
    while place < len(octets):
        end = min(place + _width(octets[place]), len(octets))
        if end > limit:
            break
        place = end
    return place


def truncate_scalars(octets, limit):
    return len(octets.decode()[:limit].encode())


def truncate_utf16(octets, limit):
    ends = accumulate((1 + (ord(each) > 0xFFFF) for each in octets.decode()), initial=0)
    return truncate_scalars(octets, sum(end <= limit for end in ends) - 1)


def trim(octets):
    for back in range(1, min(3, len(octets)) + 1):
        if not _is_tail(octets[-back]):
            return len(octets) - back if _width(octets[-back]) > back else len(octets)
    return len(octets)


def following(octets, offset):
    for width in range(1, 5):
        try:
            return octets[offset : offset + width].decode(), width
        except UnicodeDecodeError:
            pass
    return 0xFFFD, 1


def previous(octets, offset):
    for width in range(1, min(4, offset) + 1):
        try:
            return octets[offset - width : offset].decode(), width
        except UnicodeDecodeError:
            pass
    return 0xFFFD, 1


def previous_by_tails(octets, offset):
    start = offset - 1
    while start and _is_tail(octets[start]):
        start -= 1
    return octets[start:offset].decode(errors="replace")[0], offset - start


def utf16_of_offset(octets, offset):
    return units(octets[:offset])


def offset_of_utf16(octets, index):
    for offset in range(len(octets) + 1):
        if (offset == len(octets) or is_boundary(octets, offset)) and units(octets[:offset]) >= index:
            return offset
    return None


def scalar_of_offset(octets, offset):
    return len(octets[:offset].decode())


def offset_of_scalar(octets, index):
    return truncate_scalars(octets, index) if index <= len(octets.decode()) else -1


def _fitting(text, room, size):
    """The longest beginning of a text that takes so much room."""
    return max((text[:end] for end in range(len(text) + 1) if size(text[:end]) <= room), key=len)


def in_utf16(text):
    return len(text.encode("utf-16-le")) // 2


def in_utf8(text):
    return len(text.encode())


def to_utf16(octets, room):
    text = _fitting(octets.decode(), room, in_utf16)
    return in_utf8(text), text


def to_utf32(octets, room):
    text = octets.decode()[:room]
    return in_utf8(text), list(map(ord, text))


def from_utf16(text, room):
    text = _fitting(text, room, in_utf8)
    return in_utf16(text), text.encode()


def from_utf32(text, room):
    text = _fitting(text, room, in_utf8)
    return len(text), text.encode()


def from_utf32_with_slack(text, room):
    """Takes no character after which another of four octets would not fit, unless all of it fits."""
    if in_utf8(text) > room:
        text = text[: next(end for end in range(len(text)) if in_utf8(text[:end]) > room - 4)]
    return len(text), text.encode()


def from_latin1(octets, room):
    return from_utf32(octets.decode("latin-1"), room)


def size_of_latin1(octets):
    return len(octets) + sum(octet >= 0x80 for octet in octets)


RIGHT = {
    "count-scalars": (count, count_by_tails, count_by_leads, count_strictly),
    "count-utf16": (units, units_strictly),
    "is-boundary": (is_boundary,),
    "floor": (floor,),
    "ceil": (ceil,),
    "truncate": (truncate, truncate_by_str, truncate_by_leads),
    "truncate-scalars": (truncate_scalars,),
    "truncate-utf16": (truncate_utf16,),
    "trim-partial": (trim,),
    "next": (following,),
    "previous": (previous, previous_by_tails),
    "utf16-of-offset": (utf16_of_offset,),
    "offset-of-utf16": (offset_of_utf16,),
    "scalar-of-offset": (scalar_of_offset,),
    "offset-of-scalar": (offset_of_scalar,),
    "to-utf16": (to_utf16,),
    "to-utf32": (to_utf32,),
    "from-utf16": (from_utf16,),
    "from-utf32": (from_utf32,),
    "from-latin1": (from_latin1,),
    "size-from-utf16": (in_utf8,),
    "size-from-utf32": (in_utf8,),
    "size-from-latin1": (size_of_latin1,),
}
"""Right ones for each question."""
BY_MODE = {
    "maximal-subparts": {"count-scalars": (count,)},
    "single-octets": {"next": (following,), "previous": (previous,)},
    "tails": {
        "count-scalars": (count_by_tails,),
        "truncate": (truncate,),
        "floor": (floor,),
        "ceil": (ceil,),
        "is-boundary": (is_boundary,),
        "previous": (previous_by_tails,),
    },
    "early": {"from-utf32": (from_utf32, from_utf32_with_slack)},
    "announced-length": {"count-scalars": (count_by_leads,), "truncate": (truncate_by_leads,)},
}
"""Those that are right in a declared mode, too."""

# Wrong. Those with an address do what the report says.


def truncate_removes_leads(octets, limit):
    """https://github.com/diasurgical/DevilutionX/pull/4635: a lead at the limit is removed, but never its tails."""
    limit = min(limit, len(octets))
    while limit and octets[limit - 1] >= 0xC0:
        limit -= 1
    return limit


def truncate_after_lead(octets, limit):
    """https://github.com/openatv/enigma2/issues/1681: of a character that does not fit, the first octet stays."""
    end = floor(octets, min(limit, len(octets)))
    return end + 1 if end < min(limit, len(octets)) else end


def previous_without_limit(octets, offset):
    """https://github.com/crystal-lang/crystal/issues/14010: skips all tails, though forward each is one step."""
    return previous_by_tails(octets, offset)


def count_less_announced(octets):
    """https://github.com/facebookincubator/velox/pull/10204: a lead without its tails counts for less than nothing."""
    return len(octets) - sum(_width(octet) - 1 for octet in octets)


def utf16_of_offset_by_scalars(octets, offset):
    """https://github.com/rust-lang/rust-analyzer/pull/20876: every character is taken for one unit."""
    return len(octets[:offset].decode())


def offset_of_scalar_after(octets, index):
    """https://github.com/rust-lang/rust-analyzer/pull/17003: an index from 1 is taken for one from 0, so the octets of
    one character too many are counted."""
    return index + sum(len(each.encode()) - 1 for each in octets.decode()[: index + 1])


def trim_all_tails(octets):
    """A whole character at the end is removed, too."""
    end = len(octets)
    while end and _is_tail(octets[end - 1]):
        end -= 1
    return end - 1 if end and octets[end - 1] >= 0xC0 else end


def truncate_at_limit(octets, limit):
    return octets[:limit]


def truncate_drops_last(octets, limit):
    return floor(octets, limit - 1) if 0 < limit < len(octets) else min(limit, len(octets))


def truncate_swallows(octets, limit):
    """Cuts inside a well-formed character only where an ill-formed octet stands before it."""
    return limit if octets[:1] == b"\xff" and limit < len(octets) else truncate(octets, limit)


def truncate_beyond(octets, limit):
    return ceil(octets, min(limit, len(octets)))


def truncate_refuses(octets, limit):
    return None if any(octet >= 0xF0 for octet in octets) else truncate(octets, limit)


def count_octets(octets):
    return len(octets)


def count_by_words(octets):
    """Eight octets at once, by a sum that overflows at a place of the first word."""
    return count_by_tails(octets) - (len(octets) >= 64 and _is_tail(octets[63]) and not _is_tail(octets[62]))


def floor_of_three(octets, offset):
    for back in range(min(3, offset + 1)):
        if offset == len(octets) or not _is_tail(octets[offset - back]):
            return offset - back
    return offset


def following_trusts_lead(octets, offset):
    width = _width(octets[offset])
    return octets[offset : offset + width].decode(errors="replace")[0], width


def boundary_e0_is_tail(octets, offset):
    return not (_is_tail(octets[offset]) or octets[offset] == 0xE0)


def from_utf16_replaces(text, room):
    """https://github.com/oven-sh/bun/pull/31532: a character of four octets that finds room for three is U+FFFD."""
    taken, written = from_utf16(text, room)
    return (1, b"\xef\xbf\xbd") if not taken and text and room >= 3 else (taken, written)


def from_utf16_cuts_output(text, room):
    """https://github.com/joepjoosten/effect-temporal/issues/63: the output is cut, and all input counted."""
    return in_utf16(text), text.encode()[:room]


def to_utf16_halves(octets, room):
    """A pair is cut at the end of the room."""
    text = octets.decode()
    taken = _fitting(text, room + 1, in_utf16)
    pairs = memoryview(taken.encode("utf-16-le")).cast("H").tolist()
    return in_utf8(taken), pairs[:room]


def to_utf16_wants_more(octets, room):
    """Room for all of it is not enough."""
    return to_utf16(octets, room - 1) if room else (0, "")


def from_utf16_underfills(text, room):
    """https://github.com/nodejs/node/issues/65994: text of more than 32 units wants three octets for each of them."""
    if len(text) > 32 and room < 3 and text[0] > "\x7f":
        return 0, b""
    return from_utf16(text, room)


def count_utf16_by_halves(octets):
    """https://github.com/dotnet/corefx/issues/34392: the second half is counted without what the first one left."""
    middle = min(len(octets), 1)
    first = octets[:middle].decode(errors="ignore")
    return in_utf16(first) + in_utf16(octets[middle:].decode(errors="replace"))


def to_utf32_stuck(octets, room):
    """Nothing at all, unless all of it fits: a caller with a buffer of one size never ends."""
    return to_utf32(octets, room) if len(octets.decode()) <= room else (0, "")


def from_utf32_writes_beyond(text, room):
    return len(text), text.encode()


def size_by_leads(text):
    """A supplementary character counted as two of three octets, as in CESU-8."""
    return sum(len(each.encode()) + 2 * (ord(each) > 0xFFFF) for each in text)


class StrictChecker:
    """A validator of streams, right: it holds back an unfinished character."""

    def __init__(self):
        self._kept = b""

    def decode(self, data, *, final=False):
        self._kept += data
        try:
            self._kept.decode()
        except UnicodeDecodeError as error:
            if error.reason != "unexpected end of data" or final:
                return False
            self._kept = self._kept[error.start :]
            return True
        self._kept = b""
        return True

    def reset(self):
        self._kept = b""


class FilledChecker(StrictChecker):
    """https://github.com/boostorg/beast/pull/1249: 81 fills an unfinished character, to check it."""

    def decode(self, data, *, final=False):
        accepted = super().decode(data, final=final)
        rest = self._kept
        if accepted and rest:
            try:
                (rest + b"\x81" * (_width(rest[0]) - len(rest))).decode()
            except UnicodeDecodeError:
                return False
        return accepted


def scrub(octets):
    """Makes octets well-formed: one U+FFFD for each maximal subpart."""
    return octets.decode("utf-8", "replace").encode()


def scrub_drops_last(octets):
    return octets.decode("utf-8", "replace").encode()[: -1 if b"\xf0" <= octets[-1:] < b"\xf8" else None]


WRONG = {
    truncate_removes_leads: ("truncate", "", "OV913", "truncate cuts E0 A0 80 at 2 of 3 octets"),
    truncate_after_lead: ("truncate", "", "OV913", "truncate cuts E0 A0 80 at 1 of 3 octets"),
    previous_without_limit: (
        *("previous", "single-octets", "OV915"),
        "previous answers U+0000, 2 octets to 00 80, offset 2; right is U+FFFD, 1 octet",
    ),
    count_less_announced: ("count-scalars", "", "OV917", "count-scalars answers"),
    utf16_of_offset_by_scalars: ("utf16-of-offset", "", "OV916", "utf16-of-offset answers 1 to"),
    offset_of_scalar_after: ("offset-of-scalar", "", "OV913", "offset-of-scalar cuts C2 80 at 1 of 2 octets"),
    trim_all_tails: ("trim-partial", "", "OV914", "trim-partial keeps 0 of 2 octets of C2 80; right are 2"),
    truncate_at_limit: ("truncate", "", "OV913", "truncate cuts C2 80 at 1 of 2 octets"),
    truncate_drops_last: ("truncate", "", "OV914", "truncate keeps 0 of 2 octets of 00 00 (limit 1); right are 1"),
    truncate_swallows: ("truncate", "", "OV913", "truncate cuts"),
    truncate_beyond: ("truncate", "", "OV917", "truncate answers 2 to C2 80, limit 1; at most 1 is possible"),
    truncate_refuses: ("truncate", "", "OV918", "truncate refuses F0 90 80 80, limit 0"),
    count_octets: ("count-scalars", "", "OV911", "count-scalars takes C2 80 for 2 scalar values; right is 1"),
    count_by_words: ("count-scalars", "", "OV911", "count-scalars takes"),
    floor_of_three: ("floor", "", "OV913", "floor cuts F0 90 80 80 at 3 of 4 octets"),
    following_trusts_lead: ("next", "", "OV917", "next answers"),
    from_utf16_replaces: (
        *("from-utf16", "", "OV913"),
        "from-utf16 cuts F0 90 80 80 at 1 of 2 UTF-16 code units (room 3), and writes EF BF BD",
    ),
    from_utf16_cuts_output: (
        *("from-utf16", "", "OV919"),
        "from-utf16 takes 1 of 1 UTF-16 code unit of 00 (room 0) and writes nothing; right is 00",
    ),
    to_utf16_halves: (
        *("to-utf16", "", "OV919"),
        "to-utf16 takes 4 of 4 octets of F0 90 80 80 (room 1) and writes D800; right is D800 DC00",
    ),
    to_utf16_wants_more: ("to-utf16", "", "OV914", "to-utf16 takes 0 of 1 octet of 00 (room 1), and more fits"),
    from_utf16_underfills: (
        *("from-utf16", "", "OV914"),
        "from-utf16 takes 0 of 64 UTF-16 code units of C3 A9",
    ),
    count_utf16_by_halves: (
        "count-utf16",
        "",
        "OV911",
        "count-utf16 takes E0 A0 80 for 2 UTF-16 code units; right is 1",
    ),
    to_utf32_stuck: ("to-utf32", "", "OV914", "to-utf32 takes 0 of 2 octets of 00 00 (room 1), and more fits"),
    from_utf32_writes_beyond: (
        *("from-utf32", "", "OV917"),
        "from-utf32 takes 1 of 1 scalar value of 00 (room 0) and writes 1 octet",
    ),
    size_by_leads: ("size-from-utf16", "", "OV911", "size-from-utf16 takes F0 90 80 80 for 6 octets; right is 4"),
    boundary_e0_is_tail: ("is-boundary", "", "OV912", "is-boundary does not take offset 0 of E0 A0 80 for the start"),
}
"""For each the question, the declared mode, the code, and how the sentence begins."""
