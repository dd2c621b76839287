"""Functions of C that are right about most texts: which suite refuses each, with which sentence."""

import shutil
import subprocess

import pytest

from overlong.conformance import certify
from overlong.conformance.oracle.target import UnknownTarget
from zoo import SHARED_LIBRARIES

pytestmark = pytest.mark.usefixtures("unexamined")

UTF_16 = "encoder-utf-16"
LONG, LONGER, LONGEST, OCTETS = "functions-long", "functions-longer", "functions-longest", "functions-octets"
COUNT, COUNT_16 = "count-scalars(ptr,len)", "count-utf16(ptr,len)"
WRONG = (
    ("count_in_lanes", COUNT, LONGER, "OV911", "count-scalars takes 61 x 4167 (4 167 octets) for 71 scalar values"),
    ("count_added_up_late", COUNT, LONGEST, "OV911", "count-scalars takes 61 x 65607 (65 607 octets) for 71 scalar"),
    ("utf16_pairs_in_lanes", COUNT_16, LONGEST, "OV911", "count-utf16 takes 61 61 61  F0 9F 98 80 x 16401 (65 607"),
    ("utf16_without_pairs_in_blocks", COUNT_16, "functions", "OV911", "count-utf16 takes F0 9F 98 80 x 16 (64 octets)"),
    (
        "size_in_16_bits",
        "size-from-utf16(ptr,len)",
        LONGEST,
        "OV911",
        "size-from-utf16 takes 61 x 65607 (65 607 octets)",
    ),
    (
        "truncate_in_16_bits",
        "truncate(ptr,len,limit)",
        LONGEST,
        "OV914",
        "truncate keeps 0 of 65 607 octets of 61 x 65607",
    ),
    (
        *("truncate_scalars_in_8_bits", "truncate-scalars(ptr,len,limit)", LONG, "OV914"),
        "truncate-scalars keeps 0 of 327 octets of 61 x 327 (327 octets) (limit 256); right are 256",
    ),
    ("floor_by_pages", "floor(ptr,len,offset)", LONGER, "OV913", "floor cuts C3 A9 at 1 of 2 octets"),
    ("utf16_by_marks", "utf16-of-offset(ptr,len,offset)", LONG, "OV916", "utf16-of-offset answers 516 to 61 61 61  F0"),
    (
        "scalar_in_15_bits",
        "scalar-of-offset(ptr,len,offset)",
        LONGEST,
        "OV916",
        "scalar-of-offset answers 0 to 61 x 65607",
    ),
    ("to_utf16_by_buffers", "to-utf16(ptr,len,out,room,taken)", LONG, "OV919", "to-utf16 takes 1019 of 1 095 octets"),
    (
        "next_of_lines",
        "next(ptr,len,offset,scalar)",
        "functions",
        "OV915",
        "next answers U+000A, 2 octets to C2 85, offset 0",
    ),
    (
        "trim_by_table",
        "trim-partial(ptr,len)",
        OCTETS,
        "OV914",
        "trim-partial keeps 2 of 2 octets of E9 80; right are 0",
    ),
    ("count_by_pairs", COUNT, OCTETS, "OV911", "count-scalars takes C3 9F for 2 scalar values; right is 1"),
    (
        *("previous_of_six", "previous(ptr,len,offset,scalar)&ill_formed=single-octets", "functions", "OV915"),
        "previous answers U+FFFD, 5 octets to F8 80 80 80 80, offset 5; right is U+FFFD, 1 octet",
    ),
    (
        *("from_latin1_to_eof", "from-latin1(ptr,len,out,room,taken)", "functions", "OV914"),
        "from-latin1 takes 0 of 1 character of Latin-1 of C3 BF (room 2), and more fits",
    ),
)
"""For each its convention, the suite that refuses it, the code, and how a sentence begins."""


def compiled(name, folder):
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("no C compiler on PATH; install gcc or clang")
    made = folder / f"{name}.so"
    subprocess.run([compiler, "-O1", "-shared", "-fPIC", SHARED_LIBRARIES / f"{name}.c", "-o", made], check=True)
    return made


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    return compiled("functions_wrong", tmp_path_factory.mktemp("library"))


@pytest.fixture(scope="module")
def encoders(tmp_path_factory):
    return compiled("encoders", tmp_path_factory.mktemp("encoders"))


@pytest.mark.long
@pytest.mark.parametrize(("symbol", "abi", "suite", "code", "sentence"), WRONG)
def test_a_suite_refuses_it(library, symbol, abi, suite, code, sentence):
    run = certify(f"so:{library}:{symbol}?abi={abi}", suites=[suite]).run
    assert run.failing == ("functions",)
    said = [(bucket.example.code, bucket.example.title) for bucket in run.ordered_buckets]
    assert any(each == code and title.startswith(sentence) for each, title in said), said


@pytest.mark.long
@pytest.mark.parametrize(
    ("symbol", "abi", "code"),
    [
        ("count_reads_on", COUNT, "OV801"),
        ("floor_reads_before", "floor(ptr,len,offset)", "OV802"),
        ("next_reads_four", "next(ptr,len,offset,scalar)", "OV801"),
        ("truncate_writes_to_text", "truncate(ptr,len,limit)", "OV805"),
        ("from_latin1_in_words", "from-latin1(ptr,len,out,room,taken)", "OV803"),
        ("from_latin1_touches", "from-latin1(ptr,len,out,room,taken)", "OV803"),
        ("count_by_alignment", COUNT, "OV806"),
        ("utf16_by_marks", "utf16-of-offset(ptr,len,offset)", ""),
        ("size_in_16_bits", "size-from-utf16(ptr,len)", ""),
        ("to_utf16_by_buffers", "to-utf16(ptr,len,out,room,taken)", ""),
        ("next_of_lines", "next(ptr,len,offset,scalar)", ""),
    ],
)
def test_what_leaves_its_memory_fails_the_claim_of_memory_alone(library, symbol, abi, code):
    """The first six answer rightly: what they read or write outside their memory changes nothing.

    The sixth dies at a guard with every vector.
    """
    run = certify(f"so:{library}:{symbol}?abi={abi}", suites=["functions-in-memory"]).run
    assert [bucket.example.code for bucket in run.ordered_buckets] == [code] * bool(code)
    assert run.claims["memory"] == ("fails" if code else "holds")
    assert run.claims["functions"] == "not measured"


OF_UNITS, OF_POINTS = "from-utf16(ptr,len,out,room,taken)", "from-utf32(ptr,len,out,room,taken)"
OF_SIZE = "size-from-utf16(ptr,len)"


@pytest.mark.parametrize(
    ("symbol", "abi", "errors", "codes"),
    [
        ("refuses_lone", OF_UNITS, "fatal", {}),
        ("stops_at_lone", OF_UNITS, "fatal", {}),
        ("replaces_lone", OF_UNITS, "replacement", {}),
        ("replaces_lone", OF_UNITS, "fatal", {"OV707": "lone surrogate"}),
        ("writes_lone", OF_UNITS, "fatal", {"OV703": "lone surrogate"}),
        ("replaces_leads_only", OF_UNITS, "replacement", {"OV707": "lone surrogate refused"}),
        ("refuses_beyond", OF_POINTS, "fatal", {}),
        ("writes_beyond", OF_POINTS, "fatal", {"OV704": ""}),
        ("size_replaces_lone", OF_SIZE, "replacement", {}),
        ("size_believes_leads", OF_SIZE, "replacement", {"OV706": "lone surrogate"}),
    ],
)
def test_an_encoder_that_says_what_it_does_with_lone_surrogates_is_tested_with_them(
    encoders, symbol, abi, errors, codes
):
    """Such numbers are no text, so no question can hold them: they come as operations of an encoder."""
    run = certify(f"so:{encoders}:{symbol}?abi={abi}&encode_errors={errors}", suites=["encoder-edges", UTF_16]).run
    assert {bucket.example.code: bucket.example.place for bucket in run.ordered_buckets} == codes
    assert run.claims["encoder"] == ("fails" if codes else "not measured" if abi == OF_SIZE else "holds")


@pytest.mark.parametrize("name", ["so:{}:replaces_lone?abi=" + OF_UNITS, "so:{}:size_believes_leads?abi=" + OF_SIZE])
def test_an_encoder_that_says_nothing_of_them_is_tested_with_text_alone(encoders, name):
    assert certify(name.format(encoders), suites=["encoder-edges", UTF_16]).run.claims["encoder"] == "not measured"


def test_only_an_encoder_says_so(encoders):
    with pytest.raises(UnknownTarget, match=r"encode_errors= is for from-utf16, .*leave it out of count-scalars"):
        certify(f"so:{encoders}:size_believes_leads?abi={COUNT}&encode_errors=fatal")
