"""Fresh strings near a condition: half inside, half just outside, as far as they can be made."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from overlong.conformance.examination import panel
from overlong.conformance.examination.asking import ACCEPTS

if TYPE_CHECKING:
    from overlong.conformance.examination.inquiry import Inquiry

_TRIES = 6


def fresh(inquiry: Inquiry, count: int, most: int) -> list[bytes]:
    """So many strings, or fewer if these have more octets than ``most``."""
    inside, outside = dict[bytes, None](), dict[bytes, None]()
    size = 0
    for _ in range(_TRIES * count):
        octets = _drawn(inquiry)
        if len(octets) > inquiry.most:
            continue
        into = inside if inquiry.known.holds(inquiry.question(octets)) else outside
        if len(into) < (count + 1) // 2 and octets not in into:
            size += len(octets)
            if size > most:
                break
            into[octets] = None
        if len(inside) + len(outside) >= count:
            break
    return [*inside, *outside]


@lru_cache(maxsize=1 << 10)
def _ordered(octets: frozenset[int]) -> tuple[int, ...]:
    return tuple(sorted(octets))


def _drawn(inquiry: Inquiry) -> bytes:
    random, condition = inquiry.random, inquiry.known
    before, behind = inquiry.experiments.around(condition.rule)
    if condition.subparts and condition.symptom != ACCEPTS:
        core = random.choice(panel.strange(inquiry.text))
    else:
        product = random.choice(condition.words)
        ordered = map(_ordered, product)
        core = bytes(random.choice((each[0], each[-1], random.choice(each))) for each in ordered)
    draw = random.random()
    if draw < 0.12 and core:
        place = random.randrange(len(core))
        octet = random.choice((random.randrange(256), (core[place] + random.choice((-1, 1))) % 256))
        core = core[:place] + bytes([octet]) + core[place + 1 :]
    elif draw < 0.17:
        core = b""
    elif draw < 0.22:
        behind += inquiry.experiments.text_of(random.randrange(8)) + core
    elif draw < 0.25 and core:
        core = core[:-1]
    return before + core + behind
