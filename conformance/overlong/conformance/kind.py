"""Kinds of divergence, each with a stable code. What is wrong with the *input* is a defect (OV2xx) instead.

A decoder that accepts ill-formed octets diverges under the code of the defect that it accepts. Every other
way to be wrong has a code here.
"""

from __future__ import annotations

from dataclasses import dataclass

VERDICT, SCALARS, POSITION, REPLACEMENT, STREAMING = (
    "verdict",
    "scalars",
    "error position",
    "replacement",
    "streaming",
)
CLAIMS = {
    VERDICT: "accepts what is well-formed, and nothing else",
    SCALARS: "puts out the scalar values of what it accepts",
    POSITION: "reports where the first ill-formed octets stand, how many, and whether input is missing",
    REPLACEMENT: "puts out one U+FFFD for each maximal subpart, and loses nothing around it",
    STREAMING: "gives the result of the whole input, however it is cut",
}
"""What a certificate claims, in the order of a report."""


NORMATIVE = {VERDICT, SCALARS, STREAMING}
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
        Kind("OV101", VERDICT, "well-formed text refused", "RFC 3629 §4",
             "The input matches the grammar of RFC 3629 section 4 and was refused. Text is lost or a peer is turned "
             "away. Usual causes: a range that stops one short (BE for BF), a check that takes ED 80-9F for "
             "surrogates, noncharacters or NUL refused, a character at the end of a buffer taken for truncated."),
        Kind("OV102", SCALARS, "wrong scalar values", "RFC 3629 §3",
             "The input was accepted and became other characters than it stands for. Usual causes: a mask or a shift "
             "that is wrong for one length of sequence, output cut at 16 bits, a byte order mark stripped."),
        Kind("OV301", POSITION, "wrong error offset", "Unicode ch. 3, D93b",
             "The refusal is right, its place is not: the offset is that of the first octet of the first maximal "
             "subpart, counted in octets. Whoever resumes or cuts there loses octets or lets ill-formed ones pass."),
        Kind("OV302", POSITION, "wrong error length", "Unicode ch. 3, D93b",
             "The refusal and its offset are right, the number of octets to skip is not: it is the length of the "
             "maximal subpart. Skipping more swallows characters; skipping less reports one error several times."),
        Kind("OV303", POSITION, "wrong word on missing input", "Unicode ch. 3, D93b",
             "The decoder says that more input might complete the character where none could, or the other way round. "
             "A reader then waits for octets that cannot help, or refuses a stream that was merely cut."),
        Kind("OV401", REPLACEMENT, "wrong number of U+FFFD", "Unicode ch. 3; WHATWG",
             "Ill-formed octets became more or fewer U+FFFD than there are maximal subparts. Not forbidden by RFC "
             "3629, but two programs that count differently disagree about lengths and positions in one text."),
        Kind("OV402", REPLACEMENT, "wrong text around U+FFFD", "Unicode ch. 3; WHATWG",
             "Where octets are ill-formed the output differs in more than the number of U+FFFD: a well-formed "
             "character was swallowed or changed, or ill-formed octets became a character."),
        Kind("OV501", STREAMING, "result depends on chunking", "Unicode ch. 3, D93b",
             "The same octets give another result when they are cut elsewhere. Usual causes: the state of an "
             "unfinished character lost at the end of a chunk, kept after an error, or forgotten at the end."),
        Kind("OV601", VERDICT, "internal error", "",
             "The decoder raised an error that is no refusal (an index out of range, a wrong type). Input reached code "
             "that did not expect it."),
        Kind("OV602", VERDICT, "crashed", "",
             "The process ended on this input: by a signal, an exit or an abort. Memory may have been touched that is "
             "not the decoder's."),
        Kind("OV603", VERDICT, "timed out", "", "The decoder did not answer this input within the limit."),
        Kind("OV604", VERDICT, "broke the protocol", "",
             "The answer to this input was no answer. Usually the adapter's fault, not the decoder's: see "
             "docs/protocol.md."),
        Kind("OV605", VERDICT, "unstable", "",
             "The decoder failed on a group of inputs, and on none of them when they were asked again one by one. "
             "Something outlives a call: state, memory, time."),
    )
}  # fmt: skip
