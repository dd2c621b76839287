"""Defects: names for what is wrong with ill-formed octets. A defect explains; it never judges.

The automaton alone decides whether octets are well-formed, and where the first error is. For a maximal subpart
that it found, this module gives the name that people use: it looks up what the octets would have meant in the
widest layout ever published (RFC 2279, one to six octets).

Codes are stable: no code is ever reused or changes its meaning.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from overlong.reference.dialect import dialect
from overlong.reference.layout import load_layout
from overlong.reference.order import CODE_POINTS, SURROGATES


@dataclass(frozen=True, slots=True)
class Defect:
    """A kind of ill-formedness: a stable code, a title, one line and one paragraph."""

    code: str
    title: str
    line: str
    section: str
    effect: str
    paragraph: str
    cwe: tuple[int, ...] = ()
    cves: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.code} {self.title}"


OVERLONG = Defect(
    "OV201",
    "overlong form",
    "a character in more octets than it needs",
    "RFC 3629 §3",
    "filter bypass",
    "Every character has exactly one encoding: the rows of the table in RFC 3629 section 3 exclude each other. "
    "An overlong form spells a character in a longer row, as C0 AF or E0 80 AF do for the slash of 2F. A filter "
    "that looks for the octet 2F does not see it; a decoder that accepts it produces the slash all the same. "
    "This is how directory traversal reached web servers in 2000 and again in 2008. The lead octets C0 and C1 "
    "can only begin overlong forms; E0 followed by 80-9F and F0 followed by 80-8F are the others.",
    (176, 22),
    ("CVE-2000-0884", "CVE-2008-2938", "CVE-2010-3870"),
)
SURROGATE = Defect(
    "OV202",
    "surrogate",
    "half of a UTF-16 pair, which is no character",
    "RFC 3629 §3",
    "text that other software cannot hold or compare",
    "U+D800 to U+DFFF are reserved for UTF-16 and are not scalar values; RFC 3629 section 3 prohibits encoding "
    "them. ED followed by A0-BF is half of a pair. A decoder that lets it through hands on a string that many "
    "encoders refuse later, and that compares differently from the same character written properly (CESU-8 "
    "writes U+233B4 as ED A1 8C ED BE B4, UTF-8 as F0 A3 8E B4).",
    (176,),
)
OUT_OF_RANGE = Defect(
    "OV203",
    "out of range",
    "a number beyond U+10FFFF",
    "RFC 3629 §3",
    "values that break tables sized for Unicode",
    "UTF-8 encodes U+0000 to U+10FFFF and nothing beyond: F4 followed by 90-BF, and the lead octets F5 to F7, "
    "would stand for numbers that are not code points. Code that indexes tables by code point reads outside "
    "them when a decoder passes such a number on.",
    (176, 125),
)
TRUNCATED = Defect(
    "OV204",
    "truncated sequence",
    "the input ends inside a character",
    "RFC 3629 §4",
    "a lost character, or a read past the end",
    "The lead octet announced more octets than the input has. What is there could still begin a character, so a "
    "stream decoder keeps it and waits; at the end of the input it is ill-formed. Decoders that trust the lead "
    "octet and skip the check of the length read past the end of the buffer.",
    (176, 125),
)
INTERRUPTED = Defect(
    "OV205",
    "interrupted sequence",
    "a character is cut short by an octet that cannot continue it",
    "RFC 3629 §4",
    "the next character is swallowed",
    "The lead octet announced more octets, and one that is no tail octet came instead. The interrupting octet "
    "begins something of its own: a decoder that consumes it together with the broken character swallows, say, "
    "the quotation mark that closes an attribute (Unicode chapter 3, constraints on conversion processes).",
    (176, 116),
    ("CVE-2022-25235",),
)
UNEXPECTED_TAIL = Defect(
    "OV206",
    "unexpected tail",
    "a tail octet where a character must begin",
    "RFC 3629 §4",
    "octets that vanish or change",
    "80 to BF only continue a character. Here one is where a character must begin: alone, after a complete "
    "character, or after octets that were already ill-formed.",
    (176,),
)
IMPOSSIBLE = Defect(
    "OV207",
    "impossible octet",
    "FE or FF, which no UTF-8 ever used",
    "RFC 3629 §4",
    "octets that vanish or change",
    "FE and FF fit no row of any version of UTF-8, not even the six octets of RFC 2279. They are usually UTF-16 "
    "(a byte order mark) or binary data.",
    (176,),
)
OBSOLETE = Defect(
    "OV208",
    "five- or six-octet form",
    "a lead octet that only RFC 2279 knew",
    "RFC 3629 §4",
    "values that break tables sized for Unicode",
    "RFC 2279 had sequences of five and six octets, with the lead octets F8 to FD, for numbers up to 7FFFFFFF. "
    "RFC 3629 removed them in 2003: nothing that they could stand for is a code point, or it is one with a "
    "shorter encoding.",
    (176,),
)

FOREIGN = Defect(
    "OV209",
    "form of another dialect",
    "octets that RFC 3629 uses and this dialect does not",
    "the dialect's grammar",
    "text that other software wrote as UTF-8 is lost",
    "RFC 3629 accepts these octets, and the dialect in question does not: four octets where CESU-8 and Java's "
    "modified UTF-8 write pairs of surrogates, or the octet 00 where the latter writes C0 80. Only profiles other "
    "than rfc3629 have this defect.",
    (176,),
)

DEFECTS = {
    defect.code: defect
    for defect in (
        OVERLONG,
        SURROGATE,
        OUT_OF_RANGE,
        TRUNCATED,
        INTERRUPTED,
        UNEXPECTED_TAIL,
        IMPOSSIBLE,
        OBSOLETE,
        FOREIGN,
    )
}


@lru_cache(maxsize=1 << 14)
def classify(subpart: bytes, offender: bytes, *, hopeless: bool = False) -> Defect:
    """The defect of a maximal subpart.

    Args:
        subpart: the octets of the maximal subpart, at least one.
        offender: the octet after it, which cannot continue it; empty at the end of the input.
        hopeless: in the dialect, nothing could have continued the subpart.
    """
    no_tail = offender and not load_layout("rfc2279").is_tail(offender[0])
    return _classify(subpart, _NO_TAIL if no_tail else offender, hopeless=hopeless)


_NO_TAIL = b"a"
"""Stands for all octets that are no tail octets: no layout and no dialect tells these apart after a lead octet."""


@lru_cache(maxsize=1 << 14)
def _classify(subpart: bytes, offender: bytes, *, hopeless: bool) -> Defect:
    utf8 = dialect().automaton
    if utf8.run(subpart if hopeless else subpart + offender) != utf8.dead and (hopeless or offender):
        return FOREIGN
    widest, scalar_rows = load_layout("rfc2279"), load_layout("rfc3629").rows
    if widest.is_tail(subpart[0]):
        return UNEXPECTED_TAIL
    row = widest.announced(subpart[0])
    if row is None:
        return IMPOSSIBLE
    if len(row.templates) > len(scalar_rows):
        return OBSOLETE
    if not offender and not hopeless:
        return TRUNCATED
    whole = len(row.templates)  # in cesu-8 a pair takes three octets twice, more than its lead octet announces
    reach = row.reach((subpart + offender)[:whole]) or row.reach(subpart[:whole])
    assert reach is not None, "a maximal subpart longer than its lead octet fits the lead octet's row"
    if reach.stop <= row.numbers.start:
        return OVERLONG
    if reach.start in SURROGATES and reach.stop <= SURROGATES.stop:
        return SURROGATE
    if reach.start >= CODE_POINTS.stop:
        return OUT_OF_RANGE
    return INTERRUPTED
