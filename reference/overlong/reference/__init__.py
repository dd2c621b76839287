r"""What UTF-8 is: the grammar of RFC 3629 section 4, compiled, and the decoder read off it.

>>> from overlong.reference import decode, is_well_formed
>>> is_well_formed(b"\xc0\x80")
False
>>> decode(b"a\xff", error_mode="replacement")
'a\ufffd'
"""

from overlong.reference.decoder import (
    Decoded,
    IncrementalDecoder,
    Outcome,
    Rejected,
    decode,
    is_well_formed,
    outcome,
    segment,
    segments,
)
from overlong.reference.defect import DEFECTS, Defect
from overlong.reference.dialect import DIALECTS, Dialect, dialect
from overlong.reference.encoder import NotEncodable, encode, encode_scalars
from overlong.reference.error_mode import ERROR_MODES, IllFormed
from overlong.reference.grammar import Grammar, GrammarError
from overlong.reference.segment import MaximalSubpart, Segment, WellFormed

__all__ = [
    "DEFECTS",
    "DIALECTS",
    "ERROR_MODES",
    "Decoded",
    "Defect",
    "Dialect",
    "Grammar",
    "GrammarError",
    "IllFormed",
    "IncrementalDecoder",
    "MaximalSubpart",
    "NotEncodable",
    "Outcome",
    "Rejected",
    "Segment",
    "WellFormed",
    "decode",
    "dialect",
    "encode",
    "encode_scalars",
    "is_well_formed",
    "outcome",
    "segment",
    "segments",
]
