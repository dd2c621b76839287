"""One target gets any input, and may do anything to itself."""

from pathlib import Path

import pytest

from overlong.conformance.oracle.target import TargetError
from overlong.conformance.protocol.observation import Accepted, Crashed, Refused
from overlong.conformance.targets.limits import Limits
from overlong.conformance.vectors.vector import Vector
from overlong.fuzz.engines.probe import Probe

MODULE = '''
import codecs, os, re
from pathlib import Path


class Right(codecs.getincrementaldecoder("utf-8")):
    pass


class Forgets:
    """Takes each chunk for the whole."""

    def decode(self, octets, final=False):
        return octets.decode()


def dies(octets):
    if octets.startswith(b"die"):
        os.abort()
    return octets.decode()


def dies_for_good(octets):
    if octets == b"die":
        Path(__file__).write_text("raise SystemExit")
        os.abort()
    return octets.decode()


class Streams:
    """Offers nothing else, and takes C0 80 for NUL."""

    traits = {"stream_refusals": "marked"}

    @staticmethod
    def ask(payloads):
        from __main__ import stream

        class Decoder(Right):
            def decode(self, octets, final=False):
                return super().decode(octets.replace(b"\\xc0\\x80", b"\\0"), final)

        return [stream(Decoder, payload) for payload in payloads]

    operations = {"S": ask}


def nul(said, decode):
    def ask(octets):
        try:
            return decode(octets)
        except UnicodeDecodeError as error:
            return error

    class Target:
        operations = {"D": lambda many: list(map(ask, many))}
        traits = {"nul": said}

    return Target


def replacing(decode):
    class Target:
        operations = {"L": lambda many: list(map(decode, many))}
        traits = {"error_mode": "a way of its own"}

    return Target


codecs.register_error("mark", lambda error: ("?", error.end))
Marks = replacing(lambda octets: re.sub(b"\\xc0[\\x80-\\xbf]", b"\\xc0", octets).decode(errors="mark"))
Slash = replacing(lambda octets: octets.replace(b"\\xc0\\xaf", b"/").decode(errors="mark"))
Ends = nul("ends the string", lambda octets: octets.partition(b"\\0")[0].decode())
Claims = nul("ends the string", lambda octets: octets.replace(b"\\0", b"").decode())
'''


@pytest.fixture
def probe(tmp_path):
    opened = []
    Path(tmp_path, "decoders.py").write_text(MODULE, "ascii")

    def made(name, **limits):
        opened.append(Probe(f"py:{tmp_path}/decoders.py:{name}", Limits(**limits)))
        return opened[-1]

    yield made
    for each in opened:
        each.close()


def codes(said):
    return [finding and finding.code for _, finding in said]


STREAMS = [
    Vector("fuzz", "a€𐀀".encode(), chunks=(2, 1, 5), earlier=(b"\xe2", b"\x82")),
    Vector("fuzz", b"a\xc0\x80b", chunks=(1, 1, 2), earlier=(b"a", b"b")),
    Vector("fuzz", b"", earlier=(b"\xff",)),
    Vector("fuzz", b"\xf0\x90\x80", chunks=(0, 3), earlier=(b"\xf0\x90",)),
]


def test_a_right_decoder_is_right_in_all_ways(probe):
    right = probe("Right")
    assert (right.operations, right.whole) == ("DLSTNM", "D")
    for operation in right.operations:
        said = right.ask(STREAMS, operation)
        assert codes(said) == [None] * len(STREAMS), operation
        assert len({type(observed) for observed, _ in said} & {Accepted, Refused}) == (1 if operation in "LTM" else 2)


def test_findings_keep_their_vectors_and_name_what_chunks_do(probe):
    said = probe("Forgets").ask([*STREAMS, STREAMS[0]], "S")
    assert codes(said) == ["OV501", None, None, None, "OV501"]
    for vector, (_, finding) in zip([*STREAMS, STREAMS[0]], said, strict=True):
        if finding is not None:
            assert (finding.vector.octets, finding.vector.chunks) == (vector.octets, vector.chunks)
            assert finding.vector.comment == ""
    assert codes(probe("Forgets").ask(STREAMS, "D")) == [None] * 4


def test_a_decoder_of_streams_alone_is_asked_whole_in_one_chunk(probe):
    streams = probe("Streams")
    assert streams.whole == "S"
    overlong = Vector("fuzz", b"\xc0\x80")
    assert codes(streams.ask([overlong, Vector("fuzz", b"\xc1\x80"), Vector("fuzz", b"")], "S")) == [
        "OV201",
        None,
        None,
    ]


def test_what_a_way_of_its_own_seems_to_accept_needs_a_control(probe):
    """A single question mark for C0 AE, too, would be a replacement."""
    asked = [Vector("fuzz", bytes.fromhex(each)) for each in ("C0AF", "C0BF", "80", "61", "F09F9880")]
    slash, marks = probe("Slash"), probe("Marks")
    assert (slash.operations, slash.whole) == ("L", "L")
    assert codes(slash.ask(asked, "L")) == ["OV201", None, None, None, None]
    assert codes(marks.ask(asked, "L")) == [None] * 5


@pytest.mark.long
@pytest.mark.parametrize("restarts", [0, 100])
def test_a_target_that_dies_again_and_again_is_asked_on(probe, restarts):
    vectors = [Vector("fuzz", b"die%d" % number if number % 5 == 2 else b"live") for number in range(10)]
    dies = probe("dies", restarts=restarts)
    said = dies.ask(vectors, "D")
    assert codes(said) == ["OV602" if vector.octets != b"live" else None for vector in vectors]
    assert [type(observed) for observed, _ in said].count(Crashed) == 2
    fresh = dies.fresh()
    assert (fresh.ask_one(vectors[2], "D").code, fresh.ask_one(vectors[0], "D")) == ("OV602", None)
    fresh.close()


def test_a_target_that_does_not_start_any_more_is_given_up(probe):
    with pytest.raises(TargetError, match="does not start any more"):
        probe("dies_for_good").ask([Vector("fuzz", b"die")], "D")


def test_a_declared_trait_is_no_fault_and_a_false_declaration_is_one(probe):
    vectors = [Vector("fuzz", octets) for octets in (b"a\0\xff", b"\xff\0", b"ab")]
    assert codes(probe("Ends").ask(vectors, "D")) == [None, None, None]
    assert codes(probe("Claims").ask(vectors, "D")) == ["OV606", None, None]


def test_recorded_answers_cannot_be_fuzzed(tmp_path):
    with pytest.raises(TargetError, match="fuzz the decoder itself"):
        Probe(f"answers:{tmp_path}/none.jsonl").opened()
