r"""UTF-8: the grammar of RFC 3629 section 4, compiled, and the decoder derived from it.

>>> from overlong.reference import decode, is_well_formed
>>> is_well_formed(b"\xc0\x80")
False
>>> decode(b"a\xff", error_mode="replacement")
'a\ufffd'
"""

from overlong.reference.decoder import (
    Decoded,
    IncrementalDecoder,
    NotEncodable,
    Outcome,
    Rejected,
    decode,
    decode_scalars,
    encode,
    encode_escaped,
    encode_scalars,
    encode_utf16,
    is_well_formed,
    outcome,
    segment,
    segments,
)
from overlong.reference.defect import DEFECTS, Defect
from overlong.reference.dialect import DIALECTS, Dialect, dialect, dialect_called
from overlong.reference.error_mode import ERROR_MODES, ErrorMode, IllFormed, MaximalSubpart, Segment, WellFormed
from overlong.reference.grammar import Grammar, GrammarError

__all__ = [
    "DEFECTS",
    "DIALECTS",
    "ERROR_MODES",
    "Decoded",
    "Defect",
    "Dialect",
    "ErrorMode",
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
    "decode_scalars",
    "dialect",
    "dialect_called",
    "encode",
    "encode_escaped",
    "encode_scalars",
    "encode_utf16",
    "is_well_formed",
    "outcome",
    "segment",
    "segments",
]
