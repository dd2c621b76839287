"""What a target did with octets, and what may be wrong with that: kinds of divergence, each with a stable code.

Expectations of the reference have other types than observations, so the two cannot be mixed up. Only :class:`Accepted`
and :class:`Refused` are verdicts. The rest are faults: a crash is not a refusal.

A fault of the *input* is a defect (OV2xx). If a decoder accepts ill-formed octets, its divergence has the code of the
accepted defect. Every other divergence has a code here.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum


@dataclass(frozen=True, slots=True)
class Accepted:
    """The target accepted; ``values`` are the numbers that it put out, None for a verdict only."""

    values: tuple[int, ...] | None = None


@dataclass(frozen=True, slots=True)
class Refused:
    """The target refused; a part that it did not report is None."""

    offset: int | None = None
    length: int | None = None
    incomplete: bool | None = None


@dataclass(frozen=True, slots=True)
class Failed:
    """The target reported an internal error of its own (status X)."""

    text: str


@dataclass(frozen=True, slots=True)
class Unsupported:
    """The target does not offer the operation (status U)."""


@dataclass(frozen=True, slots=True)
class Crashed:
    """The target ended in mid-run: by a signal, by an exit, or by closing its pipe."""

    how: str


@dataclass(frozen=True, slots=True)
class TimedOut:
    """The target gave no answer within the limit. Two are the same answer, whatever the limits were."""

    seconds: float = field(compare=False)
    """The limit that the user set; 0 for one that depends on the target's usual answer, thus on the machine."""

    @property
    def words(self) -> str:
        """The same for each run, so that certificates can be compared."""
        return f"no answer within {self.seconds:g} s" if self.seconds else "no answer in time"


@dataclass(frozen=True, slots=True)
class Misbehaved:
    """The target broke the protocol."""

    what: str


Fault = Failed | Crashed | TimedOut | Misbehaved
Observation = Accepted | Refused | Unsupported | Fault


def describe(fault: Fault) -> str:
    """A fault in words."""
    match fault:
        case Crashed(how):
            return f"it {how}"
        case TimedOut():
            return f"it gave {fault.words}"
        case Misbehaved(what):
            return f"it broke the protocol: {what}"
        case _:
            return f"internal error: {fault.text}"


VERDICT, SCALARS, POSITION, REPLACEMENT, STREAMING, EARLIEST, ENCODER, MEMORY, SEPARATE_VALUES, FUNCTIONS, LIMITS = (
    "verdict",
    "scalars",
    "error position",
    "error mode",
    "streaming",
    "earliest detection",
    "encoder",
    "memory",
    "separate values",
    "functions",
    "declared limits",
)
CLAIMS = {
    VERDICT: "accepts well-formed octets, and nothing else",
    SCALARS: "outputs the scalar values of the octets that it accepts",
    POSITION: "reports the place and number of the first ill-formed octets, and whether input is missing",
    REPLACEMENT: "replaces ill-formed octets as its error mode says, and loses nothing around them",
    STREAMING: "gives the result of the whole input, however it is cut",
    EARLIEST: "outputs text, or refuses, in the first chunk that makes it certain",
    ENCODER: "encodes every scalar value as RFC 3629 demands, and nothing else",
    MEMORY: "stays within the memory that it is given, and gives the same answers at every address",
    SEPARATE_VALUES: "accepts a list if each of its values alone is well-formed, and no other list",
    FUNCTIONS: "counts, cuts and steps through text as its characters demand",
    LIMITS: "has its declared limits",
}
"""The claims of a certificate, in the order of a report; :data:`LIMITS` only if it fails,
:data:`SEPARATE_VALUES` only for a target that takes lists, :data:`FUNCTIONS` only for one that answers questions."""


class Code(StrEnum):
    """Codes of kinds of divergence, by name. They are never reused; :data:`KINDS` explains each."""

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
    GIANT = "OV608"
    IN_THREADS = "OV609"
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
    WRONG_COUNT = "OV911"
    WRONG_BOUNDARY = "OV912"
    CHARACTER_CUT = "OV913"
    WRONG_LENGTH = "OV914"
    WRONG_STEP = "OV915"
    WRONG_INDEX = "OV916"
    OUT_OF_RANGE = "OV917"
    QUESTION_REFUSED = "OV918"
    WRONG_CONVERSION = "OV919"


BREAKDOWNS = {Code.CRASHED, Code.TIMED_OUT, Code.MISBEHAVED, Code.UNSTABLE}
"""The codes of failures that cost a restart."""
UNDECLARED = Code.UNDECLARED
"""The code of answers that refute a declared limit; the strings are otherwise exempt because of it."""
GRAVE = {VERDICT, SCALARS, STREAMING, ENCODER, SEPARATE_VALUES, FUNCTIONS, MEMORY}
"""The claims without which a decoder is not conformant: those that RFC 3629 itself demands, and memory, for the answers
of a function that leaves its memory are worth nothing. RFC 3629 leaves open how a decoder reports a refusal and how it
replaces ill-formed octets: those are separate claims, after Unicode and WHATWG."""


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of divergence: a stable code, the claim that it refutes, a title, its source, and a paragraph."""

    code: str
    claim: str
    title: str
    section: str
    paragraph: str


KINDS = {
    kind.code: kind
    for kind in (
        Kind(Code.REFUSED, VERDICT, "well-formed text refused", "RFC 3629 §4",
             "The input matches the grammar of RFC 3629 section 4 and was refused. Text is lost, or a peer is turned "
             "away. Usual causes: a range that stops one short (BE for BF), ED 80-9F taken for surrogates, "
             "noncharacters or NUL refused, a character at the end of a buffer taken for truncated."),
        Kind(Code.SCALARS, SCALARS, "wrong scalar values", "RFC 3629 §3",
             "The input was accepted and decoded to other characters. Usual causes: a mask or a shift that is wrong "
             "for one length of sequence, output cut at 16 bits, a byte order mark stripped."),
        Kind(Code.OFFSET, POSITION, "wrong error offset", "Unicode ch. 3, D93b",
             "The refusal is right, its offset is wrong. The right offset is that of the first octet of the first "
             "maximal subpart, counted in octets. A caller that resumes or cuts at a wrong offset loses octets or lets "
             "ill-formed ones pass."),
        Kind(Code.LENGTH, POSITION, "wrong error length", "Unicode ch. 3, D93b",
             "The refusal and its offset are right, the number of octets to skip is wrong. The right number is the "
             "length of the maximal subpart. Skipping more swallows characters; skipping less reports one error "
             "several times."),
        Kind(Code.INCOMPLETE, POSITION, "wrong word on missing input", "Unicode ch. 3, D93b",
             "The decoder says that more input might complete the character where none could, or the reverse. A "
             "reader then waits for octets that cannot help, or refuses a stream that was merely cut."),
        Kind(Code.REPLACEMENT_COUNT, REPLACEMENT, "wrong number of U+FFFD", "Unicode ch. 3; WHATWG",
             "Ill-formed octets became more or fewer U+FFFD than there are maximal subparts. Not forbidden by RFC "
             "3629, but two programs that count differently disagree about lengths and positions in one text."),
        Kind(Code.REPLACEMENT_TEXT, REPLACEMENT, "wrong text around U+FFFD", "Unicode ch. 3; WHATWG",
             "Around ill-formed octets more differs than the number of U+FFFD: a well-formed character was swallowed "
             "or changed, or ill-formed octets became a character."),
        Kind(Code.CHUNKING, STREAMING, "result depends on chunking", "Unicode ch. 3, D93b",
             "The same octets give another result when they are cut elsewhere. Usual causes: the state of an "
             "unfinished character lost at the end of a chunk, kept after an error, or forgotten at the end."),
        Kind(Code.EARLIER_STREAM, STREAMING, "result depends on an earlier stream", "",
             "A decoder that was used before, and reset as its API says, gives another result than a new one. It kept "
             "something of the earlier stream: octets of a truncated character, an error, a signature seen, the end "
             "itself."),
        Kind(Code.STREAM_OFFSET, POSITION, "wrong offset in a stream", "Unicode ch. 3, D93b",
             "The stream is rightly refused, but the offset is not that of the first maximal subpart. Offsets count "
             "from where the adapter says: the start of the stream, of the chunk, or the first octet that the decoder "
             "had kept. Usual cause: octets of earlier chunks are not counted."),
        Kind(Code.HELD_BACK, EARLIEST, "output held back", "Unicode ch. 3, D93b",
             "After a chunk the decoder had output less than was certain: it held back a character whose last octet "
             "had come, or U+FFFD for octets that nothing could complete. The text is right in the end, but a peer "
             "that waits for it before sending more waits for ever. Usual cause: the decoder trusts a lead octet's "
             "length before it checks the second octet."),
        Kind(Code.LATE, EARLIEST, "refusal came late", "Unicode ch. 3, D93b",
             "The decoder refused a stream in a later chunk than the one that shows the error. It keeps octets and "
             "waits for more, though nothing can make them well-formed."),
        Kind(Code.EARLY, EARLIEST, "answer came too early", "Unicode ch. 3, D93b",
             "Output or a refusal came in a chunk after which another answer was still possible, and turned out "
             "right. The decoder guessed, or the adapter counts otherwise than 'overlong docs protocol' says."),
        Kind(Code.INTERNAL_ERROR, VERDICT, "internal error", "",
             "The decoder raised an error that is no refusal (an index out of range, a wrong type). Input reached code "
             "that did not expect it."),
        Kind(Code.CRASHED, VERDICT, "crashed", "",
             "The process ended on this input, by a signal, an exit or an abort. The decoder may have touched memory "
             "outside its own."),
        Kind(Code.TIMED_OUT, VERDICT, "timed out", "", "The decoder did not answer this input within the limit."),
        Kind(Code.MISBEHAVED, VERDICT, "broke the protocol", "",
             "The reply to this input broke the protocol. Usually the adapter is wrong, not the decoder: see "
             "'overlong docs protocol'."),
        Kind(Code.UNSTABLE, VERDICT, "unstable", "",
             "Tested again, the decoder gave another answer to this input; or it failed on a group of inputs, "
             "answered each of them singly, and some of them rightly. Something outlives a call (state, memory, "
             "time), or it reads octets outside its input."),
        Kind(Code.UNDECLARED, LIMITS, "a declared limit is not so", "",
             "The adapter's greeting, or the name of the target, declares a limit of the decoder: it ends a string at "
             "octet 00, refuses it, strips a signature, or sits in XML. The decoder does something else with such a "
             "string (it accepts what it should refuse, outputs other text), or diverges in the rest of it. Correct "
             "the declaration, or look at the decoder."),
        Kind(Code.IN_COMPANY, VERDICT, "answer depends on other inputs of a request", "",
             "The decoder's answer to this input was right in a request with others, and wrong when the input came "
             "alone, or with the others in another order. Usual causes: the decoder checks many strings as one column, "
             "so that octets of a neighbour complete a character; it has another path for many strings than for one; "
             "it keeps something from one string to the next. The code refutes the same claim as the wrong answer."),
        Kind(Code.GIANT, VERDICT, "wrong answer to a giant input", "",
             "Among many millions of octets of well-formed text the decoder accepts an error, refuses a character, "
             "reports another place, or dies. Usual causes: a length, an index or an offset in an int or in another "
             "number of 32 bits, so that only the length modulo 2^32 is read or counted. The code refutes the claim "
             "of the wrong answer."),
        Kind(Code.IN_THREADS, VERDICT, "answer depends on other threads", "",
             "The function was called in several threads at once, each with another input, and one of them got "
             "another answer than to the same input alone. Usual causes: a static variable or buffer, a global "
             "decoder object that all calls share, a cache without a lock. A program with threads then gets answers "
             "about other text, now and then. The code refutes the same claim as the wrong answer."),
        Kind(Code.SCALAR_REFUSED, ENCODER, "scalar value refused", "RFC 3629 §3",
             "The encoder refused scalar values or well-formed UTF-16. Text cannot be written. Usual causes: "
             "noncharacters taken for surrogates, a range that stops one short, the code units of a pair checked one "
             "by one."),
        Kind(Code.WRONG_OCTETS, ENCODER, "wrong octets", "RFC 3629 §3",
             "A scalar value was encoded as other octets than its own: ill-formed ones, an overlong form, those of "
             "another character, more or fewer. Usual causes: an edge between lengths that is off by one (7FF, 800), "
             "a mask or a shift that is wrong for one length, a byte order mark added."),
        Kind(Code.SURROGATE_ENCODED, ENCODER, "surrogate encoded", "RFC 3629 §3",
             "A surrogate was written as three octets, which RFC 3629 prohibits and right decoders refuse (OV202), or "
             "it was joined to the wrong unit. Usual causes: no check for D800 to DFFF, UTF-16 encoded unit by unit "
             "(which is CESU-8), any two surrogates taken for a pair."),
        Kind(Code.BEYOND_ENCODED, ENCODER, "number beyond 10FFFF encoded", "RFC 3629 §3",
             "A number beyond 10FFFF was encoded: in the forms of RFC 2279, or as another character after its high "
             "bits were cut off. Then a check before encoding says nothing about the decoded text."),
        Kind(Code.REFUSAL_PLACE, ENCODER, "wrong place of a refusal", "",
             "The refusal is right, its index is wrong. The right index is that of the first number that is no scalar "
             "value, counted from 0 in code points, or in code units for UTF-16. A caller that fixes the text at a "
             "wrong index loses characters or never ends."),
        Kind(Code.SIZE, ENCODER, "wrong size announced", "RFC 3629 §3",
             "The encoder announces another number of octets than a correct encoder writes. If it is too small, a "
             "caller that relies on it writes beyond a buffer or loses the end of a text; a size for refused input "
             "reserves room for nothing."),
        Kind(Code.ENCODER_REPLACEMENT, ENCODER, "wrong replacement", "Unicode ch. 3; WHATWG",
             "The encoder does not treat surrogates or numbers beyond 10FFFF as declared: it replaces them where "
             "it should refuse, refuses where it should replace, replaces them by something else, or leaves them "
             "out. Text changes without a sign."),
        Kind(Code.READ_PAST_END, MEMORY, "read past the end of the input", "",
             "With a guard page right after the input the function died, and with memory after the same octets it "
             "returned: it reads past its input. Usual causes: the lead octet trusted before the length is checked, "
             "whole words or vectors loaded at the end, a terminator expected."),
        Kind(Code.READ_BEFORE_START, MEMORY, "read before the start of the input", "",
             "With a guard page right before the input the function died, and with memory before the same octets it "
             "returned: it reads before its input. Usual causes: stepping back to a lead octet without checking where "
             "the input begins, vectors loaded at aligned addresses."),
        Kind(Code.WRITTEN_OUTSIDE, MEMORY, "written outside the output", "",
             "The function wrote before or after its output buffer: a guard page there killed it, or octets there "
             "changed. Usual causes: the capacity checked once a character though one takes two units, or not at all; "
             "a terminator written after the last unit; whole vectors stored at the end."),
        Kind(Code.LEFT_UNWRITTEN, MEMORY, "output left unwritten", "",
             "The function reports more units than it wrote. A caller that uses them reads what was in the buffer "
             "before, which may be data of another part of the program."),
        Kind(Code.INPUT_WRITTEN, MEMORY, "input written to", "",
             "The function died on read-only input, and returned on the same input in writable memory: it writes to "
             "its input, even if it restores it. Callers must not pass it a string in read-only memory, or one that "
             "two threads use."),
        Kind(Code.PLACE_IN_MEMORY, MEMORY, "answer depends on the place", "",
             "The same octets get another answer, or kill the function, at another address or between other "
             "neighbours. Usual causes: a fast path for aligned addresses that differs from the slow one, octets "
             "outside the input that are read and used. In a sweep, state that is kept between calls shows in the same "
             "way; then the code refutes the same claim as the wrong answer."),
        Kind(Code.EARLIER_CALLS, MEMORY, "answer depends on earlier calls", "",
             "The same octets in the same place get another answer in a later call. Usual causes: static variables, "
             "state kept between calls, memory that was never set. In a sweep the code refutes the same claim as the "
             "wrong answer."),
        Kind(Code.JOINED_VALUES, SEPARATE_VALUES, "values judged together", "RFC 3629 §4; RFC 8949 §3.2.3",
             "A list was accepted although one of its values is ill-formed; joined, its values are well-formed. The "
             "decoder validated them as one text. Code that reads such a value alone gets ill-formed octets marked as "
             "valid; in some languages that is undefined behaviour. Usual cause: the decoder checks the buffer of a "
             "column, or the chunks of a string, at once, and does not check the offsets between the values."),
        Kind(Code.LIST_REFUSED, SEPARATE_VALUES, "list of well-formed values refused", "RFC 3629 §4",
             "Each value of a list is well-formed, and the list was refused. Usual causes: an offset that is off by "
             "one, an empty value or an empty list taken for an error, a length that is cut at 8 or 16 bits."),
        Kind(Code.WRONG_COUNT, FUNCTIONS, "wrong count", "Unicode ch. 3, D76",
             "The number of scalar values, or of UTF-16 code units, is not that of the text. Usual causes: octets "
             "counted, one length of character counted wrongly, scalar values beyond U+FFFF taken for one code unit, "
             "a fast path for whole words that miscounts at its end."),
        Kind(Code.WRONG_BOUNDARY, FUNCTIONS, "wrong boundary", "Unicode ch. 3, D92",
             "An offset at which no character starts is taken for a boundary, or a boundary is missed; or the "
             "nearest one is another. Usual causes: a lead octet taken for a tail, a search that stops after too few "
             "octets, or at the wrong side."),
        Kind(Code.CHARACTER_CUT, FUNCTIONS, "character cut", "Unicode ch. 3, D92",
             "The answer is an offset inside a well-formed character. A caller that cuts the text there makes it "
             "ill-formed: readers refuse it, or show U+FFFD. Usual causes: a limit in octets used as it is, one tail "
             "too few stepped over, a lead left behind without its tails."),
        Kind(Code.WRONG_LENGTH, FUNCTIONS, "wrong length kept", "",
             "Fewer characters were kept than fit, more than were allowed, or an incomplete one at the end. Usual "
             "causes: a character dropped that ends exactly at the limit, a whole character at the end taken for an "
             "incomplete one, octets or code points counted where UTF-16 code units are."),
        Kind(Code.WRONG_STEP, FUNCTIONS, "wrong character or width", "RFC 3629 §3",
             "A step forwards or backwards gives another scalar value, or another width, than the character there "
             "has. A loop then reads octets twice or skips some. Usual causes: a search for the lead that ends after "
             "too few tails, a width taken from the wrong octet, a mask that is wrong for one length."),
        Kind(Code.WRONG_INDEX, FUNCTIONS, "wrong index", "Unicode ch. 3, D77",
             "An offset in octets was mapped to another index of UTF-16 or of scalar values, or the reverse. An "
             "editor or a peer then points at other text. Usual causes: characters beyond U+FFFF counted as one code "
             "unit, octets taken for characters."),
        Kind(Code.OUT_OF_RANGE, FUNCTIONS, "answer out of range", "",
             "The answer lies beyond the input, or beyond the limit that was given. A caller that uses it reads or "
             "writes outside its memory. Usual causes: a length that a lead announces and the input does not have, a "
             "comparison that is off by one."),
        Kind(Code.QUESTION_REFUSED, FUNCTIONS, "question refused", "",
             "The text is well-formed and the question has an answer, and the function refused it or reported an "
             "error."),
        Kind(Code.WRONG_CONVERSION, FUNCTIONS, "output of other text than was taken", "Unicode ch. 3, D92",
             "A converter got room for a part of the output. What it wrote is not what the text that it took stands "
             "for: half a character, U+FFFD for a character that did not fit, or a character too many or too few. A "
             "caller that goes on from there loses text, or writes it twice. Usual causes: the output cut at the room "
             "and all input counted, a fallback for lone surrogates that is taken for want of room."),
    )
}  # fmt: skip


# The answers of a target that examines its function's memory (``G``), as codes and in words.

_MEMORY_FAULTS: tuple[tuple[str, str], ...] = (
    (Code.READ_PAST_END, "died of a read past the end of its input; lived where memory follows it"),
    (Code.READ_BEFORE_START, "died of a read before the start of its input; lived where memory precedes it"),
    (Code.WRITTEN_OUTSIDE, "wrote outside its output"),
    (Code.LEFT_UNWRITTEN, "left a part of its output unwritten"),
    (Code.INPUT_WRITTEN, "wrote to its input"),
    (Code.PLACE_IN_MEMORY, "gave another answer in another place"),
    (Code.EARLIER_CALLS, "gave another answer to the same call"),
)
MEMORY_FAULTS = {number: code for number, (code, _) in enumerate(_MEMORY_FAULTS, 1)}
"""For each number in a refusal of ``G`` its kind of divergence."""
EXPECTED_IN_MEMORY = "stay within its memory, and give the same answer everywhere"

_ROOM = {
    1: ", given exactly the room that it needs",
    2: ", given less room than it needs",
    3: ", given more room than it needs",
    4: ": next to its input",
}


def memory_fault(observed: Refused) -> str | Misbehaved:
    """The code of a refusal of ``G``; Misbehaved if its number has no meaning."""
    if observed.offset not in MEMORY_FAULTS:
        said = "none" if observed.offset is None else str(observed.offset)
        return Misbehaved(f"it reports memory fault {said}; there are 1 to {max(MEMORY_FAULTS)}")
    return MEMORY_FAULTS[observed.offset]


def memory_words(observed: Refused) -> str:
    """The fault and its detail in words."""
    code, detail = MEMORY_FAULTS.get(observed.offset or 0, ""), observed.length or 0
    words = dict(_MEMORY_FAULTS).get(code, "refused")
    if code in (Code.WRITTEN_OUTSIDE, Code.LEFT_UNWRITTEN):
        return words + _ROOM.get(detail, "")
    if code == Code.PLACE_IN_MEMORY and detail == 255:
        return "gave another answer between other neighbours"
    if code == Code.PLACE_IN_MEMORY and detail == 254:
        return "gave another answer at the edge of its memory"
    if code == Code.PLACE_IN_MEMORY and 1 <= detail <= 64:
        return f"gave another answer at an address of {detail - 1} modulo 64"
    return words
