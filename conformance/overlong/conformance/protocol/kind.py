"""Kinds of divergence, each with a stable code. What is wrong with the *input* is a defect (OV2xx) instead.

A decoder that accepts ill-formed octets diverges under the code of the defect that it accepts. Every other
way to be wrong has a code here.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

VERDICT, SCALARS, POSITION, REPLACEMENT, STREAMING, EARLIEST, ENCODER, MEMORY, SEPARATE_VALUES, LIMITS = (
    "verdict",
    "scalars",
    "error position",
    "error mode",
    "streaming",
    "earliest detection",
    "encoder",
    "memory",
    "separate values",
    "declared limits",
)
CLAIMS = {
    VERDICT: "accepts what is well-formed, and nothing else",
    SCALARS: "puts out the scalar values of what it accepts",
    POSITION: "reports where the first ill-formed octets stand, how many, and whether input is missing",
    REPLACEMENT: "puts out for ill-formed octets what its error mode says, and loses nothing around them",
    STREAMING: "gives the result of the whole input, however it is cut",
    EARLIEST: "puts out and refuses in the first chunk in which that is certain",
    ENCODER: "encodes every scalar value as RFC 3629 has it, and nothing else",
    MEMORY: "keeps to the memory that it is given, and answers alike wherever that lies",
    SEPARATE_VALUES: "takes a list of values if each is well-formed by itself, and no other list",
    LIMITS: "has the limits that are declared for it",
}
"""What a certificate claims, in the order of a report; :data:`LIMITS` only where it fails,
:data:`SEPARATE_VALUES` only of a target that takes lists."""


class Code(StrEnum):
    """Codes of kinds of divergence, by name. They are never reused; :data:`KINDS` says what each means."""

    REFUSED = "OV101"
    SCALARS = "OV102"
    OFFSET = "OV301"
    LENGTH = "OV302"
    INCOMPLETE = "OV303"
    REPLACEMENT_COUNT = "OV401"
    REPLACEMENT_TEXT = "OV402"
    CHUNKING = "OV501"
    EARLIER_STREAM = "OV502"
    STREAM_OFFSET = "OV503"
    HELD_BACK = "OV511"
    LATE = "OV512"
    EARLY = "OV513"
    INTERNAL_ERROR = "OV601"
    CRASHED = "OV602"
    TIMED_OUT = "OV603"
    MISBEHAVED = "OV604"
    UNSTABLE = "OV605"
    UNDECLARED = "OV606"
    IN_COMPANY = "OV607"
    SCALAR_REFUSED = "OV701"
    WRONG_OCTETS = "OV702"
    SURROGATE_ENCODED = "OV703"
    BEYOND_ENCODED = "OV704"
    REFUSAL_PLACE = "OV705"
    SIZE = "OV706"
    ENCODER_REPLACEMENT = "OV707"
    READ_PAST_END = "OV801"
    READ_BEFORE_START = "OV802"
    WRITTEN_OUTSIDE = "OV803"
    LEFT_UNWRITTEN = "OV804"
    INPUT_WRITTEN = "OV805"
    PLACE_IN_MEMORY = "OV806"
    EARLIER_CALLS = "OV807"
    JOINED_VALUES = "OV901"
    LIST_REFUSED = "OV902"


UNDECLARED = Code.UNDECLARED
"""The code of answers to strings that were set aside for a declared limit, and show that it is not so."""
NORMATIVE = {VERDICT, SCALARS, STREAMING, ENCODER, SEPARATE_VALUES}
"""What RFC 3629 itself demands. It leaves open how a refusal is reported and what stands for ill-formed octets:
those are claims of their own, after Unicode and WHATWG."""


@dataclass(frozen=True, slots=True)
class Kind:
    """A way to diverge: a stable code, the claim that it refutes, a title, where it is written, and a paragraph."""

    code: str
    claim: str
    title: str
    section: str
    paragraph: str


KINDS = {
    kind.code: kind
    for kind in (
        Kind(Code.REFUSED, VERDICT, "well-formed text refused", "RFC 3629 §4",
             "The input matches the grammar of RFC 3629 section 4 and was refused. Text is lost or a peer is turned "
             "away. Usual causes: a range that stops one short (BE for BF), a check that takes ED 80-9F for "
             "surrogates, noncharacters or NUL refused, a character at the end of a buffer taken for truncated."),
        Kind(Code.SCALARS, SCALARS, "wrong scalar values", "RFC 3629 §3",
             "The input was accepted and became other characters than it stands for. Usual causes: a mask or a shift "
             "that is wrong for one length of sequence, output cut at 16 bits, a byte order mark stripped."),
        Kind(Code.OFFSET, POSITION, "wrong error offset", "Unicode ch. 3, D93b",
             "The refusal is right, its place is not: the offset is that of the first octet of the first maximal "
             "subpart, counted in octets. A caller that resumes or cuts there loses octets or lets ill-formed "
             "ones pass."),
        Kind(Code.LENGTH, POSITION, "wrong error length", "Unicode ch. 3, D93b",
             "The refusal and its offset are right, the number of octets to skip is not: it is the length of the "
             "maximal subpart. Skipping more swallows characters; skipping less reports one error several times."),
        Kind(Code.INCOMPLETE, POSITION, "wrong word on missing input", "Unicode ch. 3, D93b",
             "The decoder says that more input might complete the character where none could, or the other way round. "
             "A reader then waits for octets that cannot help, or refuses a stream that was merely cut."),
        Kind(Code.REPLACEMENT_COUNT, REPLACEMENT, "wrong number of U+FFFD", "Unicode ch. 3; WHATWG",
             "Ill-formed octets became more or fewer U+FFFD than there are maximal subparts. Not forbidden by RFC "
             "3629, but two programs that count differently disagree about lengths and positions in one text."),
        Kind(Code.REPLACEMENT_TEXT, REPLACEMENT, "wrong text around U+FFFD", "Unicode ch. 3; WHATWG",
             "Where octets are ill-formed the output differs in more than the number of U+FFFD: a well-formed "
             "character was swallowed or changed, or ill-formed octets became a character."),
        Kind(Code.CHUNKING, STREAMING, "result depends on chunking", "Unicode ch. 3, D93b",
             "The same octets give another result when they are cut elsewhere. Usual causes: the state of an "
             "unfinished character lost at the end of a chunk, kept after an error, or forgotten at the end."),
        Kind(Code.EARLIER_STREAM, STREAMING, "result depends on an earlier stream", "",
             "A decoder that was used before, and reset as its API says, gives another result than a new one. "
             "Something of the earlier stream was left in it: octets of a character that its end cut short, an error, "
             "a signature seen, the end itself."),
        Kind(Code.STREAM_OFFSET, POSITION, "wrong offset in a stream", "Unicode ch. 3, D93b",
             "The stream is rightly refused, and the offset is not that of the first maximal subpart, counted from "
             "where the adapter says that offsets count from: the start of the stream, of the chunk, or the first "
             "octet that the decoder had kept. Usual cause: octets of earlier chunks are not counted."),
        Kind(Code.HELD_BACK, EARLIEST, "output held back", "Unicode ch. 3, D93b",
             "After a chunk less was put out than was certain: a character whose last octet had come, or U+FFFD for "
             "octets that nothing could complete. The text is right in the end; a peer that waits for it before "
             "sending more waits for ever. Usual cause: a lead octet's length is trusted before the second octet is "
             "looked at."),
        Kind(Code.LATE, EARLIEST, "refusal came late", "Unicode ch. 3, D93b",
             "A stream was refused in a later chunk than the one that shows that it is ill-formed. What was received "
             "is kept and waited upon, though nothing can make it well-formed."),
        Kind(Code.EARLY, EARLIEST, "answer came too early", "Unicode ch. 3, D93b",
             "Output or a refusal came in a chunk after which another answer was still possible, and turned out right. "
             "A guess; or an adapter that counts otherwise than 'overlong docs protocol' says."),
        Kind(Code.INTERNAL_ERROR, VERDICT, "internal error", "",
             "The decoder raised an error that is no refusal (an index out of range, a wrong type). Input reached code "
             "that did not expect it."),
        Kind(Code.CRASHED, VERDICT, "crashed", "",
             "The process ended on this input: by a signal, an exit or an abort. Memory may have been touched that is "
             "not the decoder's."),
        Kind(Code.TIMED_OUT, VERDICT, "timed out", "", "The decoder did not answer this input within the limit."),
        Kind(Code.MISBEHAVED, VERDICT, "broke the protocol", "",
             "The answer to this input was no answer. Usually the adapter's fault, not the decoder's: see "
             "'overlong docs protocol'."),
        Kind(Code.UNSTABLE, VERDICT, "unstable", "",
             "The decoder answered this input otherwise when it was asked again; or it failed on a group of inputs, "
             "and on none of them one by one. Something outlives a call: state, memory, time. Or it reads octets that "
             "are not its input."),
        Kind(Code.UNDECLARED, LIMITS, "a declared limit is not so", "",
             "The adapter's greeting, or the name of the target, declares something that the decoder cannot help: that "
             "it ends a string at octet 00, refuses it, strips a signature, or sits in XML. The decoder does something "
             "else with such a string (it accepts what it should refuse, puts out other text), or diverges in the rest "
             "of it. Correct what is declared, or look at the decoder."),
        Kind(Code.IN_COMPANY, VERDICT, "answer depends on what is asked with it", "",
             "The decoder answered this input rightly among others that came in one request, and wrongly when it was "
             "asked by itself, or with others in another order. Usual causes: many strings are checked as one column, "
             "so that octets of a neighbour complete a character; another path is taken for many than for one; "
             "something is kept from one string to the next. It refutes the claim that the wrong answer does."),
        Kind(Code.SCALAR_REFUSED, ENCODER, "scalar value refused", "RFC 3629 §3",
             "The encoder was given scalar values alone, or UTF-16 that is well-formed, and refused. Text cannot be "
             "written. Usual causes: noncharacters taken for surrogates, a range that stops one short, code units "
             "looked at one by one where two are a pair."),
        Kind(Code.WRONG_OCTETS, ENCODER, "wrong octets", "RFC 3629 §3",
             "A scalar value became other octets than its own: ill-formed ones, an overlong form, those of another "
             "character, more or fewer. Usual causes: an edge between lengths that is off by one (7FF, 800), a mask or "
             "a shift that is wrong for one length, a byte order mark added."),
        Kind(Code.SURROGATE_ENCODED, ENCODER, "surrogate encoded", "RFC 3629 §3",
             "A surrogate was written as three octets, which RFC 3629 prohibits and right decoders refuse (OV202), or "
             "it was made part of a character that it is no part of. Usual causes: no check for D800 to DFFF, UTF-16 "
             "encoded unit by unit (which is CESU-8), any two surrogates taken for a pair."),
        Kind(Code.BEYOND_ENCODED, ENCODER, "number beyond 10FFFF encoded", "RFC 3629 §3",
             "A number that is no code point was given octets: in the forms of RFC 2279, or those of a character after "
             "its high bits were cut off. Then what was checked before encoding is not what comes out of decoding."),
        Kind(Code.REFUSAL_PLACE, ENCODER, "wrong place of a refusal", "",
             "The refusal is right, the index said with it is not: it is that of the first number that is no scalar "
             "value, counted from 0 in code points, or in code units where UTF-16 was given. A caller that mends the "
             "text there and tries again loses characters or never ends."),
        Kind(Code.SIZE, ENCODER, "wrong size announced", "RFC 3629 §3",
             "The number of octets that the encoder announces is not the number that a right encoder writes. Where it "
             "is too small, a caller that relies on it writes beyond a buffer or loses the end of a text; a size for "
             "what is refused reserves room for nothing."),
        Kind(Code.ENCODER_REPLACEMENT, ENCODER, "wrong replacement", "Unicode ch. 3; WHATWG",
             "What is no scalar value was treated otherwise than the greeting says: replaced where it should be "
             "refused, refused where it should be replaced, replaced by something else, or left out. Text changes "
             "without a sign."),
        Kind(Code.READ_PAST_END, MEMORY, "read past the end of the input", "",
             "The function was ended by a guard page right behind its input, and lived with the same octets where "
             "memory follows them: it reads what it was not given. Usual causes: the lead octet trusted before the "
             "length is looked at, whole words or vectors loaded at the end, a terminator expected."),
        Kind(Code.READ_BEFORE_START, MEMORY, "read before the start of the input", "",
             "The function was ended by a guard page right before its input, and lived with the same octets where "
             "memory precedes them. Usual causes: stepping back to a lead octet without looking where the input "
             "begins, vectors loaded at aligned addresses."),
        Kind(Code.WRITTEN_OUTSIDE, MEMORY, "written outside the output", "",
             "Octets before or behind the room for output were written: a guard page there ended the function, or "
             "they were changed. Usual causes: the capacity looked at once a character where one takes two units, or "
             "not at all; a terminator written behind the last unit; whole vectors stored at the end."),
        Kind(Code.LEFT_UNWRITTEN, MEMORY, "output left unwritten", "",
             "The function says that it put out more units than it wrote: a caller that uses "
             "the output reads what was in the buffer before, which may be data of another part of the program."),
        Kind(Code.INPUT_WRITTEN, MEMORY, "input written to", "",
             "The function was ended when its input could only be read, and lived where it could be written: it writes "
             "to octets that it was given to read, whether or not it puts back what was there. A string in read-only "
             "memory, or one that two threads use, does not bear that."),
        Kind(Code.PLACE_IN_MEMORY, MEMORY, "answer depends on the place", "",
             "The same octets get another answer, or end the function, at another address or between other "
             "neighbours. Usual causes: a fast path for aligned addresses that differs from the slow one, octets "
             "outside the input that are read and used."),
        Kind(Code.EARLIER_CALLS, MEMORY, "answer depends on earlier calls", "",
             "The same octets in the same place get another answer when they are asked again. Usual causes: static "
             "variables, a state that is kept between calls, memory that was never set."),
        Kind(Code.JOINED_VALUES, SEPARATE_VALUES, "values judged together", "RFC 3629 §4; RFC 8949 §3.2.3",
             "A list was accepted in which a value is ill-formed, and the values joined are well-formed: they were "
             "validated as one text. Whoever reads such a value by itself gets ill-formed octets that are said to be "
             "valid; in languages that rely on that it is undefined behaviour. Usual cause: the buffer of a column, or "
             "the chunks of a string, checked at once, and the offsets between them not."),
        Kind(Code.LIST_REFUSED, SEPARATE_VALUES, "list of well-formed values refused", "RFC 3629 §4",
             "Each value of a list is well-formed, and the list was refused. Usual causes: an offset that is off by "
             "one, an empty value or an empty list taken for an error, a length that is cut at 8 or 16 bits."),
    )
}  # fmt: skip
