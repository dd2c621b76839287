"""Known-wrong decoders to test the judge: CPython's own, each with one planted fault.

Each function or class is a target: ``py:known_wrong.py:NAME``. ``WRONG`` has the codes that each must be caught for.
"""

from __future__ import annotations

import codecs
import re

WRONG: dict[str, set[str]] = {}


def caught_for(*codes: str):
    def register(decoder):
        WRONG[decoder.__name__] = set(codes)
        return decoder

    return register


def strict(octets: bytes) -> str:
    return octets.decode("utf-8")


# Verdict: accepts ill-formed strings ------------------------------------------------------------------------


@caught_for("OV201", "OV202", "OV203", "OV204", "OV205", "OV206", "OV207", "OV208")
def always_true(octets: bytes) -> bool:
    return True


@caught_for("OV201")
def nul_in_two_octets(octets: bytes) -> str:
    """Java's modified UTF-8."""
    return rewritten(octets.replace(b"\xc0\x80", b"\0"))


@caught_for("OV201")
def overlong_slash(octets: bytes) -> str:
    """The path separators of MS00-078, and nothing else."""
    return rewritten(re.sub(b"\xc0\xaf|\xe0\x80\xaf|\xf0\x80\x80\xaf", b"/", octets))


@caught_for("OV201")
def only_c1_slips_through(octets: bytes) -> str:
    """The first fix of CVE-2024-46954."""
    return rewritten(re.sub(b"\xc1[\x80-\xbf]", b"A", octets))


@caught_for("OV201")
def f0_8f_bf_bf(octets: bytes) -> str:
    return rewritten(octets.replace(b"\xf0\x8f\xbf\xbf", b"\xef\xbf\xbf"))


@caught_for("OV202")
def surrogates(octets: bytes) -> str:
    return octets.decode("utf-8", "surrogatepass")


@caught_for("OV202")
def surrogates_from_bc_on(octets: bytes) -> bool:
    """The range was checked up to BB only."""
    return well_formed(re.sub(b"\xed[\xbc-\xbf][\x80-\xbf]", b"", octets))


@caught_for("OV202")
def surrogate_pairs(octets: bytes) -> bool:
    """CESU-8's pairs, but no lone surrogates."""
    return well_formed(re.sub(b"\xed[\xa0-\xaf][\x80-\xbf]\xed[\xb0-\xbf][\x80-\xbf]", b"", octets))


@caught_for("OV203")
def up_to_13ffff(octets: bytes) -> bool:
    """F4 with any second octet."""
    return well_formed(re.sub(b"\xf4[\x80-\xbf]{3}", b"", octets))


@caught_for("OV203")
def f6_as_a_lead(octets: bytes) -> bool:
    return well_formed(re.sub(b"\xf6[\x80-\xbf]{3}", b"", octets))


@caught_for("OV208")
def five_octets(octets: bytes) -> bool:
    """RFC 2279's form, minimal encodings only."""
    return well_formed(re.sub(b"\xf8[\x88-\xbf][\x80-\xbf]{3}", b"", octets))


@caught_for("OV204", "OV202")
def truncated_at_the_end(octets: bytes) -> str:
    """CPython waits for more after ED A0, which nothing can complete (python/cpython#154520)."""
    return codecs.getincrementaldecoder("utf-8")().decode(octets, final=False)


@caught_for("OV205")
def lead_before_ascii(octets: bytes) -> bool:
    return well_formed(re.sub(b"[\xc2-\xdf](?=[\x00-\x7f])", b"", octets))


@caught_for("OV206")
def lone_tails(octets: bytes) -> bool:
    return well_formed(re.sub(b"(?<![\x80-\xff])[\x80-\xbf]", b"", octets))


@caught_for("OV207", "OV205")
def skips_fe_and_ff(octets: bytes) -> str:
    """Anywhere, even inside a character."""
    return rewritten(octets.translate(None, b"\xfe\xff"))


@caught_for("OV203", "OV204", "OV205", "OV206", "OV207")
def nothing_checked_after_64_octets(octets: bytes) -> bool:
    """The first block decides the verdict."""
    try:
        codecs.utf_8_decode(octets[:64], "strict", len(octets) <= 64)
    except UnicodeDecodeError:
        return False
    return True


# Verdict: refuses well-formed strings -----------------------------------------------------------------------


@caught_for("OV101")
def always_false(octets: bytes) -> bool:
    return False


@caught_for("OV101", "OV201", "OV202", "OV203", "OV204", "OV205", "OV206", "OV207", "OV208")
def turned_round(octets: bytes) -> bool:
    return not well_formed(octets)


@caught_for("OV101")
def no_more_than_three_octets(octets: bytes) -> str:
    """A column of MySQL's utf8mb3."""
    return refusing(octets, lambda c: ord(c) > 0xFFFF)


@caught_for("OV101")
def no_noncharacters(octets: bytes) -> str:
    return refusing(octets, lambda c: ord(c) & 0xFFFE == 0xFFFE or 0xFDD0 <= ord(c) <= 0xFDEF)


@caught_for("OV101")
def ed_taken_for_surrogates(octets: bytes) -> str:
    return refusing(octets, lambda c: 0xD000 <= ord(c) <= 0xD7FF)


@caught_for("OV101")
def tails_end_at_be(octets: bytes) -> str:
    if b"\xbf" in octets:
        raise ValueError
    return strict(octets)


@caught_for("OV101")
def no_nul(octets: bytes) -> str:
    return refusing(octets, lambda c: c == "\0")


@caught_for("OV101")
def no_character_at_the_end(octets: bytes) -> str:
    """``>=`` for ``>``."""
    if len(octets) > 1 and octets[-1] > 0x7F:
        raise ValueError
    return strict(octets)


# Scalar values ----------------------------------------------------------------------------------------------


@caught_for("OV102", "OV301")
def strips_the_signature(octets: bytes) -> str:
    """It also counts offsets without it."""
    stripped = octets.removeprefix(b"\xef\xbb\xbf")
    try:
        return strict(stripped)
    except UnicodeDecodeError as error:
        raise UnicodeDecodeError("utf-8", octets, error.start, error.end, error.reason) from None


@caught_for("OV102")
def sixteen_bits(octets: bytes) -> str:
    return "".join(chr(ord(c) & 0xFFFF) for c in strict(octets))


@caught_for("OV102")
def mask_of_three_octets_is_wrong(octets: bytes) -> str:
    return "".join(chr(ord(c) & 0x7FFF) if 0x8000 <= ord(c) <= 0xFFFF else c for c in strict(octets))


@caught_for("OV102")
def one_character_is_another(octets: bytes) -> str:
    return strict(octets).replace("\U0010ffff", "\U0010fffe")


@caught_for("OV102", "OV605", "OV607")
def remembers_the_last_error(octets: bytes) -> str:
    """Hidden state between calls."""
    skipped = len(remembered)
    remembered.clear()
    try:
        return strict(octets)[skipped:]
    except UnicodeDecodeError:
        remembered.append(octets)
        raise


# Error position ---------------------------------------------------------------------------------------------


@caught_for("OV301")
def offset_is_one_too_large(octets: bytes) -> str:
    return reporting(octets, lambda error: (error.start + 1, error.end + 1, error.reason))


@caught_for("OV301")
def offset_of_the_offender(octets: bytes) -> str:
    """It reports where it noticed the error, not where the error begins."""
    return reporting(octets, lambda error: (error.end - (error.end - error.start == 1), error.end, error.reason))


@caught_for("OV302")
def length_is_always_one(octets: bytes) -> str:
    return reporting(octets, lambda error: (error.start, error.start + 1, error.reason))


@caught_for("OV303")
def more_input_always_helps(octets: bytes) -> str:
    return reporting(octets, lambda error: (error.start, error.end, "unexpected end of data"))


@caught_for("OV303")
def more_input_never_helps(octets: bytes) -> str:
    return reporting(octets, lambda error: (error.start, error.end, "invalid continuation byte"))


# Replacement ------------------------------------------------------------------------------------------------


@caught_for("OV401")
def one_for_each_octet(octets: bytes) -> str:
    return re.sub("[\udc80-\udcff]", "\ufffd", octets.decode("utf-8", "surrogateescape"))


@caught_for("OV401")
def one_for_each_run(octets: bytes) -> str:
    return re.sub("[\udc80-\udcff]+", "\ufffd", octets.decode("utf-8", "surrogateescape"))


@caught_for("OV401")
def one_for_a_surrogate(octets: bytes) -> str:
    """Like Java's CharsetDecoder."""
    return re.sub(b"\xed[\xa0-\xbf][\x80-\xbf]", b"\xff", octets).decode("utf-8", "replace")


@caught_for("OV402")
def swallows_the_next_octet(octets: bytes) -> str:
    """The interrupting octet goes with the broken character."""
    return re.sub(b"[\xc2-\xdf][\x00-\x7f]", b"\xff", octets).decode("utf-8", "replace")


@caught_for("OV401", "OV402")  # the first beside a U+FFFD that is text
def drops_instead(octets: bytes) -> str:
    return octets.decode("utf-8", "ignore") if b"\x80" in octets else octets.decode("utf-8", "replace")


# Streams ----------------------------------------------------------------------------------------------------


class _Stream:
    def __init__(self) -> None:
        self.pending = b""

    def decode(self, data: bytes, final: bool = False) -> str:
        octets = self.pending + data
        text, used = codecs.utf_8_decode(octets, "strict", final)
        kept = octets[used:]
        if kept[:1] == b"\xed" and kept[1:] >= b"\xa0":  # CPython itself waits for more (python/cpython#154520)
            raise UnicodeDecodeError("utf-8", octets, used, used + 1, "invalid")
        self.pending = self.keep(kept)
        return text

    def keep(self, pending: bytes) -> bytes:
        return pending


@caught_for("OV501")
class LosesTwoOfFour(_Stream):
    """State lost when the chunk ends after two octets of four."""

    def keep(self, pending: bytes) -> bytes:
        return b"" if len(pending) == 2 and pending[0] >= 0xF0 else pending


@caught_for("OV501")
class ForgetsTheEnd(_Stream):
    """It never reads the withheld octets again."""

    def decode(self, data: bytes, final: bool = False) -> str:
        return super().decode(data, final=final and bool(data))


@caught_for("OV501")
class EachChunkByItself:
    def decode(self, data: bytes, final: bool = False) -> str:
        return data.decode("utf-8")


@caught_for("OV501")
class SignatureInEachChunk(_Stream):
    """It strips U+FEFF at a chunk's start, unless there is only one chunk."""

    first = True

    def decode(self, data: bytes, final: bool = False) -> str:
        strip = not (self.first and final)
        self.first = False
        return super().decode(data.removeprefix(b"\xef\xbb\xbf") if strip else data, final)


@caught_for("OV502")
class KeepsStateAfterAnError(_Stream):
    """``reset()`` assumes that a refused stream left no state."""

    def decode(self, data: bytes, final: bool = False) -> str:
        try:
            return super().decode(data, final)
        except UnicodeDecodeError:
            self.pending += data[:1]
            raise

    def reset(self) -> None:
        pass


@caught_for("OV502")
class KeepsStateAfterTheEnd(_Stream):
    """It refuses a truncated character, but keeps it for the next stream."""

    def reset(self) -> None:
        pass


@caught_for("OV502")
class SeesTheEndOnce(_Stream):
    """After its first stream it never checks the end again."""

    ended = False

    def decode(self, data: bytes, final: bool = False) -> str:
        look, self.ended = final and not self.ended, self.ended or final
        return super().decode(data, look)

    def reset(self) -> None:
        self.pending = b""


@caught_for("OV511", "OV512")
class WithholdsEverything(_Stream):
    """It decodes only at the end."""

    def decode(self, data: bytes, final: bool = False) -> str:
        self.pending += data
        return strict(self.pending) if final else ""


@caught_for("OV512")
class RefusesLate(_Stream):
    """It notes an error, outputs nothing more, and reports it at the end."""

    error: UnicodeDecodeError | None = None

    def decode(self, data: bytes, final: bool = False) -> str:
        text = ""
        if self.error is None:
            try:
                text = super().decode(data, final)
            except UnicodeDecodeError as error:
                self.error = error
        if final and self.error is not None:
            raise self.error
        return text


@caught_for("OV512")
class WaitsForAll(_Stream):
    """It looks for the last lead, and decodes what stands before it until all that it announces has come."""

    leads = range(0xC0, 0xFE)

    def decode(self, data: bytes, final: bool = False) -> str:
        octets = self.pending + data
        end = len(octets)
        for far in range(1, min(6, end) + 1):
            if (octet := octets[-far]) in self.leads:
                announced = f"{octet:b}".index("0")
                end -= far if announced > far and not final else 0
            if self.ends(octet):
                break
        self.pending = octets[end:]
        return strict(octets[:end])

    def ends(self, octet: int) -> bool:
        return octet >= 0xC0


@caught_for("OV512")
class WaitsForTails(WaitsForAll):
    """It waits behind right leads alone, and as long as only tails follow."""

    leads = range(0xC2, 0xF5)

    def ends(self, octet: int) -> bool:
        return not 0x80 <= octet < 0xC0


@caught_for("OV503")
class OffsetsCountFromTheChunk(_Stream):
    """It declares that they count from the start of the stream."""

    traits = {"stream_offsets": "stream"}  # noqa: RUF012


@caught_for("OV503")
class ForgetsWhatItKept(_Stream):
    """It counts the octets of chunks, and counts kept octets as part of the new one."""

    traits = {"stream_offsets": "stream"}  # noqa: RUF012
    read = 0

    def decode(self, data: bytes, final: bool = False) -> str:
        try:
            text = super().decode(data, final)
        except UnicodeDecodeError as error:
            place = self.read + error.start
            end = self.read + error.end
            raise UnicodeDecodeError("utf-8", error.object, place, end, error.reason) from None
        self.read += len(data)
        return text


# Lists of values: judged together --------------------------------------------------------------------------


@caught_for("OV901")
def values_joined(values: list[bytes]) -> bool:
    """duckdb/duckdb#25853, apache/arrow-rs#2048, ugorji/go#404."""
    return well_formed(b"".join(values))


@caught_for("OV901")
def offsets_looked_at_in_one_octet(values: list[bytes]) -> list[bool]:
    """It checks that the buffer is well-formed, and that no value before offset 256 begins with a tail octet."""
    place, found = 0, []
    for value in values:
        found.append(place > 255 or not 0x80 <= (value or b"a")[0] <= 0xBF)
        place += len(value)
    return found if well_formed(b"".join(values)) else [False] * len(values)


@caught_for("OV902")
def no_empty_values(values: list[bytes]) -> list[str]:
    if b"" in values:
        raise ValueError("a value is empty")
    return list(map(strict, values))


# Faults -----------------------------------------------------------------------------------------------------


@caught_for("OV601")
def reads_past_the_end(octets: bytes) -> str:
    if octets and octets[-1] >= 0xC2:
        return chr(octets[len(octets)])
    return strict(octets)


@caught_for("OV601")
def returns_nothing_for_nul(octets: bytes) -> str | None:
    return None if octets == b"\0" else strict(octets)


remembered: list[bytes] = []


def well_formed(octets: bytes) -> bool:
    try:
        octets.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def rewritten(octets: bytes) -> str:
    """Offsets into rewritten octets are useless to a caller."""
    try:
        return strict(octets)
    except UnicodeDecodeError:
        raise ValueError from None


def refusing(octets: bytes, unwanted) -> str:
    text = strict(octets)
    if any(map(unwanted, text)):
        raise ValueError("unwanted character")
    return text


def reporting(octets: bytes, place) -> str:
    try:
        return strict(octets)
    except UnicodeDecodeError as error:
        raise UnicodeDecodeError("utf-8", octets, *place(error)) from None
