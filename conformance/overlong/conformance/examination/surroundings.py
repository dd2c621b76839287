"""One factor at a time around the core: what stands before and behind, how much of it, and how many errors."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from overlong.conformance.examination.asking import ACCEPTS, Question
from overlong.conformance.examination.calls import remember
from overlong.conformance.examination.factors import FAR_BEFORE, FAR_BEHIND, octet_before, seen, stands
from overlong.conformance.examination.inquiry import SITES

if TYPE_CHECKING:
    from collections.abc import Iterable

    from overlong.conformance.examination.contexts import Around
    from overlong.conformance.examination.inquiry import Inquiry

_FEW = (1, 2, 3)
_COUNTS = (*range(1, 26), 31, 32, 33, 63, 64, 65, 255, 256, 257)


def vary(inquiry: Inquiry) -> None:
    """Vary each factor."""
    setting, around, fine = inquiry.setting, inquiry.experiments, inquiry.fine
    sites = inquiry.known.sites(inquiry.question(setting.octets), SITES)
    at_last = 1 < len(sites) < SITES and sites[-1].start == len(setting.before)
    inquiry.several = inquiry.symptom != ACCEPTS and at_last
    _try(inquiry, [(setting.before, setting.behind)])
    _look_farther(inquiry)
    _try(inquiry, around.offsets(fine=fine))
    _try(inquiry, around.behinds(fine=fine))
    for exchanged, most in ((around.right_before, FAR_BEFORE), (around.right_behind, FAR_BEHIND)):
        for far in around.reach(most):
            if not all(_try(inquiry, exchanged(far, fine=False))) and fine:
                _try(inquiry, exchanged(far, fine=True))
    repeat(inquiry)
    remember(inquiry)


def _look_farther(inquiry: Inquiry) -> None:
    """Characters anywhere before and behind; those that the setting has before the core are told apart from then on."""
    around = inquiry.experiments
    _try(inquiry, around.sprinkled())
    characters = around.kept_characters()
    inquiry.table.tell_apart(map(seen, characters))
    for each, far in characters.items():
        if far > FAR_BEFORE:
            inquiry.table.tell_apart([stands(each, far), *map(octet_before, range(far - len(each) + 1, far + 1))])
    for each, far in characters.items() if inquiry.fine else ():
        _try(inquiry, around.moved(each, far))


def repeat(inquiry: Inquiry) -> None:
    """Note several such places in one string."""
    if inquiry.symptom != ACCEPTS and not inquiry.known.subparts:
        return
    counts = _COUNTS if inquiry.symptom == ACCEPTS else _FEW
    strings = [(gap + inquiry.setting.core) * count for count in counts for gap in (b"", b"a", b"aa")]
    for octets, wrong in zip(strings, inquiry.wrong(strings), strict=True):
        inquiry.note_string(octets, wrong=wrong)


def decide(inquiry: Inquiry) -> None:
    """Take the rule that explains the answers noted."""
    inquiry.condition = replace(inquiry.known, rule=inquiry.table.rule())


def _try(inquiry: Inquiry, around: Iterable[Around]) -> list[bool]:
    """Ask the core in these surroundings, and note what comes of it."""
    core = inquiry.setting.core
    some = [
        before + core + behind
        for before, behind in dict.fromkeys(around)
        if len(before) + len(behind) <= inquiry.most and _fits(inquiry, before, core, behind)
    ]
    every = -(-sum(map(len, some)) // inquiry.step)
    some = some[:: every or 1]
    said = inquiry.wrong(some)
    wrong = [octets for octets, is_wrong in zip(some, said, strict=True) if is_wrong]
    others = of_another_cause(inquiry, wrong) if 2 * len(wrong) < len(some) else ()
    for octets, is_wrong in zip(some, said, strict=True):
        if octets not in others:
            inquiry.note_string(octets, wrong=is_wrong)
    return said


def of_another_cause(inquiry: Inquiry, wrong: Iterable[bytes]) -> set[bytes]:
    """Of strings that show it, those that do so with ASCII for the characters examined, too."""
    core, blanked = inquiry.setting.core, dict[bytes, bytes]()
    if not core or not inquiry.text.is_well_formed(core):
        return set()
    for octets in wrong:
        without = bytearray(octets)
        for site in inquiry.known.sites(inquiry.question(octets), SITES):
            without[site.start : site.end] = b"a" * (site.end - site.start)
        blanked[octets] = bytes(without)
    said = inquiry.wrong([*blanked.values()])
    return {octets for octets, shown in zip(blanked, said, strict=True) if shown}


def _fits(inquiry: Inquiry, before: bytes, core: bytes, behind: bytes) -> bool:
    """True if the core is the only such place in these surroundings."""
    text = inquiry.text
    if not text.is_well_formed(before):
        return False
    if text.is_well_formed(core) and not text.is_well_formed(behind):
        return False
    sites = inquiry.known.sites(Question(before + core + behind), SITES if inquiry.several else 2)
    return bool(sites) and (len(sites) == 1 or inquiry.several) and sites[-1].start == len(before)
