"""Decoders as data, and the adapter of programs that answer line by line."""

import ast
import json
import re
import subprocess
import sys
import tomllib
from dataclasses import replace
from html.parser import HTMLParser
from typing import Any
from xml.etree import ElementTree as ET

import cbor2
import pytest
import yaml  # type: ignore[import-untyped]
from google.protobuf.wrappers_pb2 import StringValue  # type: ignore[import-untyped]
from hypothesis import given
from hypothesis import strategies as st

from corpora.survey.records import Record, demonstrations, parts_of, records, surveyed, witnesses
from corpora.survey.records.language import languages
from corpora.survey.records.standalone import shown, standalone
from overlong.conformance import certify
from overlong.conformance.oracle.target import TargetError, UnknownTarget
from overlong.conformance.targets.adapters.documents import DOCUMENTS
from overlong.conformance.targets.adapters.lines import reader
from overlong.conformance.targets.builtins import BUILTINS
from overlong.conformance.targets.resolve import resolve
from overlong.reference import ERROR_MODES

RIGHT = {
    "python": "def decode(octets):\n    return octets.decode()",
    "node": 'const { TextDecoder } = require("node:util");\n'
    'const strict = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });\n'
    "const decode = (o) => { try { return strict.decode(o); } catch (e) { throw new Error(e); } };",
    "go": 'import "unicode/utf8"\n\nfunc decode(o []byte) (string, bool) { return string(o), utf8.Valid(o) }',
    "rust": "fn decode(octets: &[u8]) -> Option<String> { String::from_utf8(octets.to_vec()).ok() }",
    "java": "import java.nio.charset.StandardCharsets;\nimport java.nio.ByteBuffer;\n\n"
    "static String decode(byte[] octets) throws Exception {\n"
    "    return StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(octets)).toString();\n}",
    "c": "#include <iconv.h>\n\nstatic int decode(const uint8_t *octets, size_t size) {\n"
    "    static uint32_t points[1 << 20];\n"
    '    iconv_t cd = iconv_open("UTF-32LE", "UTF-8");\n'
    "    char *in = (char *)octets, *out = (char *)points;\n    size_t left = size, room = sizeof points;\n"
    "    int fine = iconv(cd, &in, &left, &out, &room) != (size_t)-1 && !left;\n    iconv_close(cd);\n"
    "    for (uint32_t *p = points; p < (uint32_t *)out; p++) put(*p);\n    return fine;\n}",
}
RIGHT["php"] = "function decode($o) { return mb_check_encoding($o, 'UTF-8') ? $o : null; }"
RIGHT["cpp"] = RIGHT["c"]
in_each_language = pytest.mark.parametrize(
    "name", [name if name in ("python", "c") else pytest.param(name, marks=pytest.mark.long) for name in RIGHT]
)
LOOP = """
import sys
for line in sys.stdin:
    octets = bytes.fromhex(line)
    print({answer}, flush=True)
"""


def of(name, code, **more):
    """A record of a language with this code."""
    return Record("tried", "a decoder", languages()[name], code, **more)


def lines(tmp_path, answer, words="utf-8"):
    """The name of a target whose answers are the values of this expression of ``octets``."""
    (tmp_path / "answers.py").write_text(LOOP.format(answer=answer))
    return f"lines[{words}]:{sys.executable} {tmp_path / 'answers.py'}"


@in_each_language
def test_the_loop_of_a_language_certifies_a_right_decoder(name):
    record = of(name, RIGHT[name])
    if why := record.missing():
        pytest.skip(why)
    certificate = certify(record.command(), suites=["core", "complete-0", "complete-0-refusing"])
    assert certificate.claims["verdict"] == certificate.claims["scalars"] == "holds"
    assert not certificate.run.buckets
    assert certificate.run.greeting.language == record.language.language


def test_each_record_is_whole():
    assert not set(records()) & set(BUILTINS)
    for name, record in records().items():
        assert re.fullmatch(r"[a-z][a-z0-9-]*", name), name
        assert record.what, name
        assert "\n" not in record.what, name
        assert record.document in ("", *DOCUMENTS), name
        assert record.mode in ("decode", "validate", "replace"), name
        assert record.error_mode in (*ERROR_MODES, "unknown"), name
        assert "decode" in record.code.lower(), name
        code = [line for line in record.code.splitlines() if line.strip()]
        assert len(code) <= 10, f"{name}: a record is ten lines; fix the mechanism first"
        for package in record.packages:
            assert all(parts_of(package)[:2]), name
        if record.language.language == "Python":
            ast.parse(record.code)
    assert [each.name for each in surveyed().values()] == list(records())


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[x]\n[x]\n", "twice"),
        ("[x]\nwaht = 'y'\n", "unexpected keyword argument 'waht'"),
        ("[known]\n", r"\[known\] is in another file, too"),
    ],
)
def test_a_file_of_records_that_cannot_be_read_is_named(text, said, tmp_path, monkeypatch):
    (tmp_path / "decoders").mkdir()
    (tmp_path / "decoders" / "c.toml").write_text("[known]\nwhat = 'w'\ncode = ''\n")
    (tmp_path / "decoders" / "python.toml").write_text(text)
    monkeypatch.setattr("corpora.survey.records.HERE", tmp_path)
    with pytest.raises(TargetError, match=f"the records of python.toml cannot be read: .*{said}"):
        records.__wrapped__()


def test_witnesses_are_of_decoders_with_an_adapter():
    assert set(witnesses()) <= set(BUILTINS)
    for name, witness in witnesses().items():
        assert witness.document in ("", *DOCUMENTS), name
        assert "decode" in witness.code, name
        assert standalone(witness, b"\xc0\xaf").count("\n") > witness.code.count("\n"), name


def test_whole_programs_are_of_decoders_with_an_adapter():
    for name, shows in demonstrations().items():
        assert name.rpartition("-")[0] in BUILTINS, name
        assert shows.record.code.count("\n") <= 15, name
        assert "overlong" not in shows.record.code, name


@pytest.mark.long
def test_a_record_in_tcl():
    record = of(
        "tcl", "proc decode {octets} {encoding convertfrom utf-8 $octets}", mode="replace", error_mode="unknown"
    )
    if why := record.missing():
        pytest.skip(why)
    assert certify(record.command(), suites=["core"]).claims["scalars"] == "holds"
    assert shown(record, "a\u20ac".encode()).values == (0x61, 0x20AC)


@pytest.mark.parametrize("folder", ["loops", "shows"])
def test_each_language_has_a_place_for_code(folder):
    for name in languages():
        text = of(name, "import x\nTHE CODE").program(folder)
        assert 0 <= text.index("import x\n") < text.index("THE CODE"), name
        assert "@CODE@" not in text, name
        assert "@IMPORTS@" not in text, name


def test_parts_of_packages():
    assert parts_of("@scope/name@1.2.3") == ("@scope/name", "1.2.3", [])
    assert parts_of("simd-json@=0.15.1+big+small") == ("simd-json", "0.15.1", ["big", "small"])
    assert parts_of("com.google.code.gson:gson:2.11.0") == ("com.google.code.gson:gson", "2.11.0", [])
    assert parts_of("pyjson5==1.6.9") == ("pyjson5", "1.6.9", [])
    assert parts_of("github.com/goccy/go-json@v0.10.5") == ("github.com/goccy/go-json", "v0.10.5", [])
    with pytest.raises(TargetError, match="exact versions"):
        parts_of("pyjson5")


READERS: dict[str, Any] = {
    "json": json.loads,
    "cbor": cbor2.loads,
    "protobuf": lambda document: StringValue.FromString(document).value,
    "xml": lambda document: ET.fromstring(document).text or "",
    "yaml": lambda document: yaml.safe_load(document.decode()),
    "toml": lambda document: tomllib.loads(document.decode())["x"],
    "html": lambda document: "".join(_Texts(document.decode()).texts).removeprefix("\n"),
}


class _Texts(HTMLParser):
    """The texts of an HTML document, by the standard library's parser."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.texts: list[str] = []
        self.feed(page)
        self.close()

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


@pytest.mark.parametrize("name", READERS)
@given(text=st.text() | st.text(min_size=250, max_size=300))
def test_a_document_has_the_text_in_it(name, text):
    text = "".join(each for each in text if each.isprintable()) + '"&\\<\u20ac'
    assert READERS[name](DOCUMENTS[name](text.encode())) == text


@pytest.mark.parametrize(
    ("name", "size", "head"),
    [
        ("avro", 63, "7e"),
        ("avro", 64, "8001"),
        ("asn1", 127, "0c7f"),
        ("asn1", 128, "0c8180"),
        ("asn1", 256, "0c820100"),
        ("asn1", 65536, "0c83010000"),
        ("websocket", 125, "817d"),
        ("websocket", 126, "817e007e"),
        ("websocket", 65536, "817f0000000000010000"),
    ],
)
def test_lengths_as_their_standards_have_them(name, size, head):
    assert DOCUMENTS[name](b"x" * size) == bytes.fromhex(head) + b"x" * size


@pytest.mark.parametrize("size", [0, 31, 32, 255, 256, 65535, 65536])
def test_lengths_of_messagepack_and_bson(size):
    octets = b"x" * size
    packed = DOCUMENTS["messagepack"](octets)
    head = {0xD9: 2, 0xDA: 3, 0xDB: 5}.get(packed[0], 1)
    length = packed[0] & 31 if head == 1 else int.from_bytes(packed[1:head], "big")
    assert (length, packed[head:]) == (size, octets)
    document = DOCUMENTS["bson"](octets)
    assert int.from_bytes(document[:4], "little") == len(document)
    assert document[4:6] == b"\x02\x00"
    assert document[6:] == (size + 1).to_bytes(4, "little") + octets + b"\x00\x00"


def test_answers_of_all_kinds():
    read: Any = reader("utf-16")
    assert read(b"=0061d800") == b"a\xed\xa0\x80"
    assert read(b"=\r") == b""
    assert read(b"-").columns() == (0xFFFFFFFF, 0, 255)
    assert read(b"-3").columns() == (3, 0, 255)
    assert read(b"-" + b"9" * 30).columns() == (0xFFFFFFFE, 0, 255)  # not what its last 32 bits say
    assert read(b"!it broke").text == "it broke"
    assert "no whole number of 2-octet units" in read(b"=61").text
    assert "that is no utf-16 in hexadecimal" in read(b"=6").text
    assert "begins with none of = - !: what\\x1b" in read(b"what\x1b\xff").text.replace("\x1b", "\\x1b")


@pytest.mark.parametrize("number", ["-5", "1.5", "nan", "+1", "1_0", "\u0663", "1\0", " 1", "1 ", "9" * 5000])
def test_a_refusal_with_half_a_number_is_not_one_without(number):
    bug: Any = reader("utf-8")(f"-{number}".encode())
    assert bug.breach
    assert bug.text.startswith("after the - of a refusal comes no decimal number: -")


@pytest.mark.parametrize("sweeps", [(), ("exhaustive-2",)])
def test_an_answer_that_is_no_answer_breaks_the_protocol_at_its_input(tmp_path, sweeps):
    answer = "'-nan' if octets == b'\\xc1\\xbf' else '=' + octets.decode(errors='replace').encode().hex()"
    whole = certify(lines(tmp_path, answer, "utf-8,replace"), suites=["core"], plans=sweeps, output=tmp_path / "out")
    records = map(json.loads, (tmp_path / "out" / "results.jsonl").read_text("ascii").splitlines())
    found = [each for each in records if each["record"] == "divergence"]
    assert {(each["hex"], each["code"]) for each in found} == {("c1bf", "OV604")}
    assert "comes no decimal number: -nan" in found[0]["observed"]["words"]
    assert whole.run.restarts == 0


@pytest.mark.long_after(1)
@pytest.mark.parametrize("then", ["", "or __import__('time').sleep(600)"])
def test_a_program_that_reads_no_more_has_failed_at_the_input_that_it_answered(tmp_path, then):
    flushed = "sys.stdout.flush() or __import__('os').close(0)"
    bad = f"print('=efbfbdefbfbd') or {flushed} {then} or __import__('os')._exit(1)"
    right = "'=' + octets.decode(errors='replace').encode().hex()"
    name = lines(tmp_path, f"({bad}) if octets == b'\\xc1\\xbf' else {right}", "utf-8,replace")
    certify(name, suites=["core"], plans=(), output=tmp_path / "out")
    records = map(json.loads, (tmp_path / "out" / "results.jsonl").read_text("ascii").splitlines())
    found = [each for each in records if each["record"] == "divergence"]
    assert {(each["hex"], each["code"]) for each in found} == {("c1bf", "OV602")}


def test_offsets_are_passed_on_of_octets_only(tmp_path):
    answer = "'-0' if 0xff in octets else '=' + octets.decode(errors='replace').encode().hex()"
    bare, document = lines(tmp_path, answer), lines(tmp_path, answer, "utf-8,json")
    assert "error position" in certify(bare, suites=["core"]).claims
    assert certify(document, suites=["core"]).claims["error position"] == "not measured"


def test_a_decoder_of_documents_gets_nothing_else(tmp_path):
    text = "octets[3:-4].decode(errors='replace').encode().hex()"
    answer = f"'=' + {text} if octets.startswith(b'<x>') and octets.endswith(b'</x>') else sys.exit(7)"
    assert certify(lines(tmp_path, answer, "utf-8,replace,xml"), suites=["core"]).run.restarts == 0


def test_numbers_that_are_no_code_points_arrive(tmp_path):
    certificate = certify(
        lines(tmp_path, "'=00110000' if octets == b'\\xf4\\x90\\x80\\x80' else "
              "'=' + octets.decode('utf-8', 'replace').encode('utf-32-be').hex()", "utf-32"),
        suites=["core"],
    )  # fmt: skip
    assert "OV203" in certificate.run.codes


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ("sys.exit(7)", "ended with status 7"),
        ("__import__('os').abort()", "SIGABRT"),
        ("__import__('os').close(1) or __import__('os')._exit(0)", "ended with status 0"),
    ],
)
def test_a_program_that_ends_is_seen(tmp_path, answer, said):
    with pytest.raises(TargetError, match=said):
        certify(lines(tmp_path, answer), suites=["core"])


def test_a_program_that_ends_at_one_input_has_crashed_there(tmp_path):
    dies, replaces = "__import__('os').abort()", "'=' + octets.decode(errors='replace').encode().hex()"
    answer = f"{dies} if octets == b'\\xc0\\xaf' else {replaces}"
    certificate = certify(lines(tmp_path, answer, "utf-8,replace"), suites=["core"])
    assert certificate.run.restarts
    assert "OV602" in certificate.run.codes


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("lines[jsn]:x", "did you mean json?"),
        ("lines[json:x", "the bracket has no end; write lines[json]:COMMAND"),
        ("lines:", "write a command after the colon"),
        ("lines:'x", "no closing quotation"),
    ],
)
def test_names_that_mean_nothing(name, said):
    with pytest.raises(UnknownTarget, match=re.escape(said)):
        resolve(name)


def test_a_program_that_is_not_there():
    with pytest.raises(TargetError, match="install it, or fix PATH"):
        resolve("lines:no-such-program-anywhere")


def test_what_a_record_lacks_is_said(monkeypatch):
    monkeypatch.setattr("corpora.survey.records.installed", lambda: {"gcc": "1"})
    assert of("c", "", debian=("libnothing-dev",)).missing() == "install it (Debian: apt install libnothing-dev)"


def test_code_that_cannot_be_built_says_so():
    with pytest.raises(TargetError, match=r"tried: making its program failed: .*error") as failed:
        of("c", "no C at all").command()
    assert "\n" not in str(failed.value)


def test_a_record_is_made_once(monkeypatch):
    record = of("python", RIGHT["python"])
    assert record.command() == record.command()
    assert replace(record, code=record.code + "\n# another").command() != record.command()
    monkeypatch.setattr(subprocess, "run", None)  # an existing program is not built again
    record.command()


@in_each_language
def test_a_program_without_us_shows_what_a_decoder_does(name):
    record = of(name, RIGHT[name])
    if why := record.missing():
        pytest.skip(why)
    accepted, refused = shown(record, "a\u20ac".encode()), shown(record, b"\xc0\xaf")
    assert (accepted.accepted, accepted.values) == (True, (0x61, 0x20AC))
    assert not refused.accepted
    text = standalone(record, b"\xc0\xaf")
    assert "overlong" not in text
    assert text.count("\n") - record.code.count("\n") <= 16
