"""WebAssembly targets: right decoders pass in every ABI, and each wrong one is caught for its fault."""

import struct
from pathlib import Path

import pytest

wasmtime = pytest.importorskip("wasmtime", reason="wasm: needs wasmtime; pip install '.[wasm]'")

from overlong.conformance import TargetError, certify  # noqa: E402
from overlong.conformance.oracle.target import UnknownTarget  # noqa: E402
from overlong.conformance.protocol.wire import NOT_SAID, Answers  # noqa: E402
from overlong.conformance.targets import commands  # noqa: E402
from overlong.conformance.targets.adapters import bounds, wasm  # noqa: E402
from overlong.conformance.targets.adapters.abi import ABIS, AnswerReading, columns_of  # noqa: E402
from overlong.conformance.targets.adapters.serving import unbatched  # noqa: E402
from overlong.conformance.targets.adapters.wasm import Decoder  # noqa: E402
from overlong.conformance.targets.identity import identity_of  # noqa: E402
from overlong.conformance.targets.resolve import resolve  # noqa: E402
from overlong.conformance.vectors.suites import SUITES  # noqa: E402
from overlong.reference import IllFormed, decode, is_well_formed  # noqa: E402

pytestmark = pytest.mark.long

VERDICT, TEXT = "bool(ptr,len)", "utf32(ptr,len,out,cap)"
RIGHT = {
    "valid": VERDICT,
    "leak": VERDICT,
    "errpos": "errpos(ptr,len)",
    "result": "result(ptr,len)",
    "with_end": "glib(ptr,len,end)",
    "string": "bool(string)",
    "utf32": TEXT,
}
WRONG = {
    "over_read": (VERDICT, bounds.OVER_READ),
    "writes_to_input": (VERDICT, bounds.INPUT_CHANGED),
    "depends_on_place": (VERDICT, bounds.PLACE),
    "counts_calls": (VERDICT, bounds.STATE),
    "over_write": (TEXT, bounds.OVER_WRITE),
    "unwritten": (TEXT, bounds.UNWRITTEN),
}
STRINGS = [
    b"",
    b"a",
    b"\xff",
    b"\xc3\xa9",
    b"\xe2\x82",
    b"\xed\xa0\x80",
    b"\xf0\x9f\x98\x80\xf4\x8f\xbf\xbf",
    b"abcde" * 26,
]


@pytest.fixture(scope="session")
def module(tmp_path_factory):
    path = tmp_path_factory.mktemp("wasm") / "decoders.wasm"
    path.write_bytes(wasmtime.wat2wasm((Path(__file__).parents[1] / "wasm" / "decoders.wat").read_text("ascii")))
    return str(path)


def expected(octets, abi):
    """A right function's answer: accepted or not, its numbers, and the error offset if the ABI has one."""
    try:
        text = decode(octets)
    except IllFormed as error:
        return "R", error.offset if abi not in (VERDICT, "bool(string)", TEXT) else NOT_SAID, b""
    units = text.encode("utf-32-le") if abi == TEXT else b""
    return "A", len(units) // 4, units


@pytest.mark.parametrize("export", RIGHT)
def test_right_decoders_are_right_in_every_abi(export, module, monkeypatch):
    monkeypatch.setattr(wasm, "WORN", 1 << 22)  # so that the leaking function gets several instances
    abi = RIGHT[export]
    decoder = Decoder(module, export, ABIS[abi])
    core = [vector.octets for batch in SUITES["core"].batches() for vector in batch]
    for octets in (*core, b"\xc3\xa9" * wasm.PAGE, b"a" * wasm.PAGE + b"\xff"):  # the last inputs make the memory grow
        if b"\0" in octets and ABIS[abi].terminated:
            continue
        reading = decoder.answer(octets)
        assert (reading.status, reading.number, reading.output) == expected(octets, abi), octets[:40]
    for octets in STRINGS:
        assert decoder.examine(octets) == (bounds.CLEAN, 0), octets


@pytest.mark.parametrize("export", WRONG)
def test_each_fault_is_named(export, module):
    abi, fault = WRONG[export]
    decoder = Decoder(module, export, ABIS[abi])
    longer = [octets * times for octets in STRINGS for times in (1, 5)]
    found = {decoder.examine(octets)[0] for octets in longer}
    assert fault in found
    assert found <= {fault, bounds.CLEAN} or export == "unwritten", "one fault, one name"


def test_an_over_read_traps_at_every_length(module):
    over, right = (Decoder(module, export, ABIS[VERDICT]) for export in ("over_read", "valid"))
    for length in range(131):
        for octets in (b"a" * length, (b"\xf0\x9f\x98\x80" * 33)[:length]):
            assert over.examine(octets)[0] == bounds.OVER_READ
            assert right.examine(octets)[0] == bounds.CLEAN
            assert over.answer(octets).status == ("A" if is_well_formed(octets) else "R"), "its verdicts are right"


@pytest.mark.parametrize(("export", "words"), [("endless", "fuel is spent"), ("unreachable", "trapped: unreachable")])
def test_what_does_not_return_is_no_verdict_and_the_next_is_judged(export, words, module):
    decoder = Decoder(module, export, ABIS[VERDICT])
    for _ in range(3):
        failed = decoder.answer(b"\xff")
        assert (failed.status, words in failed.text) == ("X", True)
        assert decoder.examine(b"\xff") == (bounds.NOT_ASKED, 0)
        assert [decoder.answer(octets).status for octets in (b"a", b"\x80")] == ["A", "R"]


def test_an_allocator_that_takes_our_pages_is_no_wrong_decoder(module):
    decoder = Decoder(module, "takes_all", ABIS[VERDICT])
    for octets in STRINGS:
        reading = decoder.answer(octets)
        assert (reading.status, "took pages" in reading.text) == ("X", True)
        assert decoder.examine(octets) == (bounds.NOT_ASKED, 0)


def test_memory_has_a_limit(module):
    decoder = Decoder(module, "hog", ABIS[VERDICT])
    for octets in (b"\xff", b"a", b"\xc3\xa9", b"\x80"):
        assert decoder.answer(octets).status == ("A" if is_well_formed(octets) else "R")
        assert decoder._memory.data_len(decoder._store) <= wasm.MOST_MEMORY


def test_responses_are_whole():
    readings = [
        AnswerReading("A", 1, output=struct.pack("<I", 0x20AC)),
        AnswerReading("R", 3),
        AnswerReading("X", text="no"),
    ]
    batch = Answers.from_batch(b"".join(columns_of(readings, 4, "little")), 3, None, 4)
    singles = [unbatched(columns_of([each], 4, "little")) for each in readings]
    assert batch == Answers.concatenated([Answers.from_single(each[:1], each[1:], None, 4) for each in singles])
    assert batch.outputs(4) == [struct.pack(">I", 0x20AC), b"", b"no"]
    faults, details = [bounds.CLEAN, bounds.OVER_READ, bounds.PLACE, bounds.NOT_ASKED], [0, 0, 254, 0]
    batch = Answers.from_batch(b"".join(bounds.fault_columns(faults, details)), 4, None, 1)
    singles = [unbatched(bounds.fault_columns([one], [two])) for one, two in zip(faults, details, strict=True)]
    assert batch == Answers.concatenated([Answers.from_single(each[:1], each[1:], None, 1) for each in singles])


def test_through_the_harness(module, tmp_path):
    run = certify(f"wasm:{module}:over_read?abi={VERDICT}", suites=["core", "memory"], output=tmp_path).run
    assert {bucket.example.code for bucket in run.buckets.values()} == {"OV801"}
    assert (run.claims["verdict"], run.claims["memory"]) == ("holds", "fails")
    run = certify(f"wasm:{module}:surrogates?abi={VERDICT}", suites=["core"]).run
    assert "OV202" in run.codes
    identity = identity_of(resolve(f"wasm:{module}:valid?abi={VERDICT}"))
    assert "decoders.wasm" in dict(identity.files)


@pytest.mark.parametrize(
    ("name", "error", "words"),
    [
        ("wasm:{}:valid", UnknownTarget, "write wasm:FILE:EXPORT?abi=NAME"),
        ("wasm:{}:valid", UnknownTarget, "for example bool(ptr,len), errpos(ptr,len), or utf8(ptr,len,out,cap), "),
        (
            "wasm:{}:valid?abi=boo(ptr,len)",
            UnknownTarget,
            "perhaps bool(ptr,len), error(ptr,len) or int(ptr,len); 'overlong",
        ),
        ("wasm:{}:valid?abi=iterate(ptr,len,point)", UnknownTarget, "no abi"),
        ("wasm:{}:valid?abi=bool(ptr,len)&nul=eaten", UnknownTarget, "nul=refused"),
        ("wasm:/no/such.wasm:valid?abi=bool(ptr,len)", TargetError, "there is no file"),
        (f"wasm:{__file__}:valid?abi=bool(ptr,len)", TargetError, "no WebAssembly module"),
        ("wasm:{}:nothing?abi=bool(ptr,len)", TargetError, "exports no function nothing; there is errpos"),
        ("wasm:{}:of_floats?abi=bool(ptr,len)", TargetError, "(f64, i32) -> i32"),
        ("wasm:{}:utf32?abi=bool(ptr,len)", TargetError, "(i32, i32, i32, i32) -> i32"),
    ],
)
def test_what_cannot_be_asked_is_said(name, error, words, module):
    with pytest.raises(error) as raised:
        certify(name.format(module), suites=["core"])
    assert words in str(raised.value)
    assert "\n" not in str(raised.value)
    assert isinstance(raised.value, UnknownTarget) == (error is UnknownTarget)


def test_a_memory_that_cannot_grow(tmp_path):
    path = tmp_path / "fixed.wasm"
    path.write_bytes(
        wasmtime.wat2wasm(
            '(module (memory (export "memory") 1 1) (func (export "f") (param i32 i32) (result i32) (i32.const 1)))'
        )
    )
    with pytest.raises(TargetError, match="cannot grow"):
        certify(f"wasm:{path}:f?abi={VERDICT}", suites=["core"])


def test_without_wasmtime(module, monkeypatch):
    monkeypatch.setattr(commands, "find_spec", lambda _: None)
    with pytest.raises(TargetError, match=r"pip install '\.\[wasm\]'"):
        resolve(f"wasm:{module}:valid?abi={VERDICT}")
