"""Functions of C that answer questions, names of targets that say so, and greetings."""

import json
import re
import shutil
import subprocess

import pytest

from overlong.conformance import certify
from overlong.conformance.oracle.target import TargetError, UnknownTarget
from overlong.conformance.protocol.greeting import Greeting
from overlong.conformance.protocol.wire import ProtocolError
from overlong.conformance.targets.adapters.abi import QUESTION_ABIS
from overlong.conformance.targets.adapters.python import encoded, numbers_of
from overlong.conformance.targets.resolve import resolve
from overlong.reference.questions import QUESTIONS
from zoo import SHARED_LIBRARIES, ZOO

pytestmark = pytest.mark.usefixtures("unexamined")

ENCODERS = ("encoder-edges", "encoder-utf-16")
FUNCTIONS = ZOO / "functions.py"
SOURCE = SHARED_LIBRARIES / "functions.c"


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("no C compiler on PATH; install gcc or clang")
    made = tmp_path_factory.mktemp("library") / "functions.so"
    subprocess.run([compiler, "-O1", "-shared", "-fPIC", SOURCE, "-o", made], check=True)
    return made


OUTSIDE = "its answer depends on what stands around its input"


@pytest.mark.long
@pytest.mark.parametrize(
    ("symbol", "abi", "sentence"),
    [
        ("count", "count-scalars(ptr,len)", ""),
        ("count", "count-scalars(ptr,len)&ill_formed=tails", ""),
        ("is_boundary", "is-boundary(ptr,len,offset)&ill_formed=tails", ""),
        ("truncate_right", "truncate(ptr,len,limit)", ""),
        ("next_right", "next(ptr,len,offset,scalar)", ""),
        ("previous_right", "previous(ptr,len,offset,scalar)", ""),
        ("truncate_at_limit", "truncate(ptr,len,limit)", "truncate cuts C2 80 at 1 of 2 octets"),
        ("truncate_reads_on", "truncate(ptr,len,limit)", f"truncate fails on 00, limit 1: {OUTSIDE}"),
        ("from_utf16_right", "from-utf16(ptr,len,out,room,taken)", ""),
        (
            *("from_utf16_writes_nul", "from-utf16(ptr,len,out,room,taken)"),
            "from-utf16 fails on (empty), room 0: it writes 1 octet after its room of 0 octets",
        ),
        ("truncate_dies", "truncate(ptr,len,limit)", "truncate crashed on"),
        ("next_in_16_bits", "next(ptr,len,offset,scalar)", "next answers U+0000, 4 octets to F0 90 80 80"),
        ("previous_reads_before", "previous(ptr,len,offset,scalar)", f"previous fails on 80, offset 1: {OUTSIDE}"),
    ],
)
def test_functions_of_c(library, symbol, abi, sentence):
    run = certify(f"so:{library}:{symbol}?abi={abi}", suites=["functions"]).run
    titles = [bucket.example.title for bucket in run.ordered_buckets]
    assert [title[: len(sentence)] for title in titles[:1]] == [sentence] * bool(sentence), titles
    assert run.failing == (("functions",) if sentence else ())
    assert "memory" not in {bucket.example.claim for bucket in run.buckets.values()}


@pytest.mark.long
@pytest.mark.parametrize(("feed", "failing"), [("checker_feed", ()), ("checker_feed_filled", ("streaming",))])
def test_validators_of_streams_in_c(library, feed, failing):
    symbols = f"checker_new,{feed},checker_finish,checker_free"
    run = certify(f"so:{library}:{symbols}?abi=stream-bool(state,ptr,len)", suites=["core", "chunking"]).run
    assert (run.failing, run.greeting.operations) == (failing, "PBVSG")


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "functions"),
    [
        ("go-functions", 4),
        ("rust-functions", 11),
        ("node-functions", 6),
        ("java-functions", 9),
        ("libc/iconv_from_utf16", 1),
        ("libicu/u_strToUTF8", 1),
        ("libutfcpp/utf16to8", 1),
        ("libutfcpp/prior", 1),
        ("libpython/utf_8_decode", 1),
        ("libpython/PyUnicode_AsUTF8AndSize", 1),
        ("libsimdutf/count_utf8", 1),
        ("libsimdutf/convert_latin1_to_utf8_safe", 1),
        ("libsimdutf/trim_partial_utf8", 1),
        ("so:libunistring.so.2:u8_mbsnlen?abi=count-scalars(ptr,len)", 1),
        ("so:libglib-2.0.so.0:g_utf8_strlen?abi=count-scalars(ptr,len)&nul=ends the string", 1),
    ],
)
def test_libraries_that_are_right_are_not_accused(name, functions):
    try:
        run = certify(name, suites=["functions", *ENCODERS]).run
    except TargetError as error:
        pytest.skip(str(error))
    assert (run.conformant, len(run.greeting.functions)) == (True, functions)


@pytest.mark.long
def test_simdutf_writes_after_its_room_as_reported():
    """https://github.com/simdutf/simdutf/issues/911: it checks for room after it has written an octet of ASCII."""
    try:
        run = certify("libsimdutf/convert_utf16_to_utf8_safe", suites=["functions"]).run
    except TargetError as error:
        pytest.skip(str(error))
    titles = [bucket.example.title for bucket in run.ordered_buckets]
    assert titles == ["from-utf16 fails on C2 80 00, room 2: it writes 1 octet after its room of 2 octets"]


def test_each_question_has_its_abi():
    assert [question.name for question in QUESTION_ABIS.values()] == list(QUESTIONS)
    assert "next(ptr,len,offset,scalar)" in QUESTION_ABIS


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("py:a.py:f?as=cut", "after as= write one of count-scalars, "),
        ("py:a.py:f?as=truncate&as=next", "'as=next': after as= write one of"),
        ("py:a.py:f?as=truncate&ill_formed=none", "after ill_formed= write one of maximal-subparts, "),
        ("py:a.py:f?ill_formed=tails", "ill_formed= is for a function that answers a question"),
        ("so:./a.so:f?abi=bool(ptr,len)&ill_formed=tails", "ill_formed= is for a function that answers a question"),
        ("so:./a.so:f?abi=truncate(ptr,len,limit)&as=next", "leave out as=next"),
        ("so:./a.so:f?abi=truncate(ptr,len)", "perhaps truncate(ptr,len,limit)"),
        ("so:./a.so:f,g?abi=truncate(ptr,len,limit)", "it names 2 functions; name one"),
        ("wasm:./a.wasm:f?abi=truncate(ptr,len,limit)", "for WebAssembly"),
    ],
)
def test_what_a_name_may_say(name, says):
    with pytest.raises(UnknownTarget, match=re.escape(says)):
        resolve(name)


@pytest.mark.parametrize(
    ("members", "says"),
    [
        ({"operations": "PQ"}, "belong together"),
        ({"operations": "PV", "functions": ["truncate"]}, "belong together"),
        ({"operations": "PQ", "functions": "truncate"}, "not a list of names"),
        ({"operations": "PQ", "functions": [6]}, "not a list of names"),
        ({"operations": "PQ", "functions": ["cut\x1b"]}, r'names "cut\x1b"; there are count-scalars'),
        ({"operations": "PQ", "functions": ["truncate"], "ill_formed": "any"}, '"ill_formed" is'),
    ],
)
def test_greetings_that_are_refused(members, says):
    with pytest.raises(ProtocolError) as caught:
        Greeting.parse(json.dumps({"overlong": 1, **members}).encode())
    assert says in str(caught.value)
    assert str(caught.value).isprintable()


def test_a_greeting_names_questions_in_their_order():
    said = {"overlong": 1, "operations": "PVQ", "functions": ["truncate", "next", "floor"], "ill_formed": "tails"}
    greeting = Greeting.parse(json.dumps(said).encode())
    assert greeting.functions == ("floor", "truncate", "next")
    assert greeting.traits == {"functions": "floor, truncate, next", "ill_formed": "tails"}


@pytest.mark.parametrize(
    ("result", "numbers"),
    [
        (3, [3]),
        (True, [1]),
        (b"ab", [2]),
        (("€", 3), [0x20AC, 3]),
        ((0x20AC, 3), [0x20AC, 3]),
        (None, None),
        (-1, None),
        (-2, [0xFFFFFFFE]),
        (1 << 40, [0xFFFFFFFF]),
        (b"b", None),
        ("a", "returned str; it returns a number"),
        (1.0, "returned float; "),
    ],
)
def test_what_a_python_function_may_return(result, numbers):
    found = numbers_of(result, b"abc")
    if isinstance(numbers, str):
        assert isinstance(found, str)
        assert found.startswith(numbers)
    elif numbers is None:
        assert found is None
    else:
        assert found == b"".join(number.to_bytes(4, "big") for number in numbers)


@pytest.mark.parametrize(
    ("result", "operation", "means"),
    [
        ((2, b"ab"), "F", b"ab"),
        ((1, b"a"), "E", 1),
        ((2, [0x61, 0x62]), "F", b"ab"),
        (None, "F", None),
        (3, "Z", b"\0\0\0\3"),
        (b"ab", "F", "returned bytes; an encoder returns how much it took"),
        ((2, "ab"), "E", "returned an int and str; "),
    ],
)
def test_what_a_python_encoder_may_return(result, operation, means):
    found = encoded(result, operation, 2)
    assert found == means if not isinstance(means, str) else str(found).startswith(means)


@pytest.mark.parametrize(
    ("question", "errors", "code"),
    [("from_utf16?as=from-utf16", "fatal", ""), ("from_utf32?as=from-utf32", "replacement", "OV707")],
)
def test_python_encoders_get_lone_surrogates(question, errors, code):
    run = certify(f"py:{FUNCTIONS}:{question}&encode_errors={errors}", suites=ENCODERS).run
    assert {bucket.example.code for bucket in run.ordered_buckets} == {code} - {""}
    assert run.claims["encoder"] == ("fails" if code else "holds")
