"""Decoders with limits, declared rightly or wrongly."""

import codecs
import sys

SIGNATURE = b"\xef\xbb\xbf"
NOT_XML = {*range(0x20), 0xFFFE, 0xFFFF} - {0x09, 0x0A, 0x0D}


def with_traits(**traits):
    def declare(decoder):
        decoder.traits = traits
        return decoder

    return declare


@with_traits(nul="ends the string")
def ends_at_nul(octets):
    return octets.partition(b"\0")[0].decode()


@with_traits(nul="refused")
def refuses_nul(octets):
    if b"\0" in octets:
        raise ValueError
    return octets.decode()


@with_traits(bom="strips")
def strips(octets):
    return octets.removeprefix(SIGNATURE).decode()


@with_traits(bom="strips", nul="ends the string")
def strips_and_ends_at_nul(octets):
    return ends_at_nul(octets.removeprefix(SIGNATURE))


@with_traits(wrapper="xml")
def xml(octets):
    text = octets.decode()
    if set(map(ord, text)) & NOT_XML:
        raise ValueError
    return text


@with_traits(wrapper="xml")
def xml_as_lines(octets):
    """XML reads CR as LF, unless it is escaped."""
    return xml(octets).replace("\r\n", "\n").replace("\r", "\n")


def undeclared_xml(octets):
    return xml(octets)


@with_traits(nul="ends the string")
def declares_another(octets):
    """Its attribute is wrong; the command line's trait takes precedence."""
    return refuses_nul(octets)


class Undeclared:
    """Its attribute ``traits`` belongs to another library."""

    def traits(self):
        return {"bom": "of no concern"}

    def __call__(self, octets):
        return refuses_nul(octets.removeprefix(SIGNATURE))


undeclared_all = Undeclared()


@with_traits(wrapper="xml")
def says_that_it_is_xml(octets):
    return octets.decode()


@with_traits(wrapper="xml")
def xml_but_for_a_noncharacter(octets):
    return xml(octets.replace(b"\xef\xbf\xbf", b"?"))


@with_traits(wrapper="xml")
def xml_without_cr(octets):
    return xml(octets).replace("\r", "")


@with_traits(nul="ends the string")
def says_that_it_ends_at_nul(octets):
    return octets.decode()


@with_traits(nul="refused")
def says_that_it_refuses_nul(octets):
    return octets.decode()


@with_traits(bom="strips")
def says_that_it_strips(octets):
    return octets.decode()


@with_traits(nul="ends the string")
def lax_before_nul(octets):
    text, nul, _ = octets.partition(b"\0")
    return text.decode(errors="ignore" if nul else "strict")


@with_traits(bom="strips")
def lax_after_signature(octets):
    if octets.startswith(SIGNATURE):
        return octets.removeprefix(SIGNATURE).decode(errors="replace")
    return octets.decode()


def streams_after_others(payloads):
    """Decode the later stream of each payload by a new decoder; its answer to the earlier one is unknown."""
    answers = []
    for payload in payloads:
        stream = payload[4 + int.from_bytes(payload[:4], "big") :]
        ends = 2 + 4 * int.from_bytes(stream[:2], "big")
        lengths = [int.from_bytes(stream[place : place + 4], "big") for place in range(2, ends, 4)]
        decoder, text, marks = codecs.getincrementaldecoder("utf-8")("backslashreplace"), "", []
        for number, length in enumerate(lengths, 1):
            text += decoder.decode(stream[ends : ends + length], final=number == len(lengths))
            ends += length
            marks.append(len(text))
        answers.append(sys.modules["__main__"].Stream(text, tuple(marks)))
    return answers


class Backslashes:
    """It only replaces, in an unknown error mode, and only streams: no right answer proves a claim."""

    operations = {"M": streams_after_others}  # noqa: RUF012
    traits = {"error_mode": "of its own"}  # noqa: RUF012


@with_traits(nul="ends the string")
def surrogates_and_ends_at_nul(octets):
    return octets.partition(b"\0")[0].decode(errors="surrogatepass")
