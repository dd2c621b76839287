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
    """Index mapping, of the kind of rust-analyzer#17003, which could not be read: no character takes two units."""
    return len(octets[:offset].decode())


def trim_all_tails(octets):
    """Trimming, of the kind of bun#31532, which could not be read: a whole character at the end is removed."""
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


WRONG = {
    truncate_removes_leads: ("truncate", "", "OV913", "truncate cuts E0 A0 80 at 2 of 3 octets"),
    truncate_after_lead: ("truncate", "", "OV913", "truncate cuts E0 A0 80 at 1 of 3 octets"),
    previous_without_limit: (
        *("previous", "single-octets", "OV915"),
        "previous answers U+0000, 2 octets to 00 80, offset 2; right is U+FFFD, 1 octet",
    ),
    count_less_announced: ("count-scalars", "", "OV917", "count-scalars answers"),
    utf16_of_offset_by_scalars: ("utf16-of-offset", "", "OV916", "utf16-of-offset answers 1 to"),
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
    boundary_e0_is_tail: ("is-boundary", "", "OV912", "is-boundary does not take offset 0 of E0 A0 80 for the start"),
}
"""For each the question, the declared mode, the code, and how the sentence begins."""
