"""Functions of shared libraries: right ones pass in every ABI, and the fault of each wrong one is named."""

import ctypes
import ctypes.util
import itertools
import mmap
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from overlong.conformance import Limits, TargetError, UnknownTarget, certify
from overlong.conformance.certification.replay import replay
from overlong.conformance.examination.examine import examine
from overlong.conformance.oracle.finding import observed_in_words
from overlong.conformance.protocol import observation
from overlong.conformance.protocol.observation import MEMORY_FAULTS, Accepted, Crashed, Refused, memory_fault
from overlong.conformance.results.model import State
from overlong.conformance.support.provenance import one_spelling, portable
from overlong.conformance.targets.adapters.abi import ABIS, ITERATE
from overlong.conformance.targets.adapters.child import Child, Named
from overlong.conformance.targets.adapters.in_core import answers_together
from overlong.conformance.targets.adapters.serving import column
from overlong.conformance.targets.commands import library_command as command
from overlong.conformance.targets.commands import library_in
from overlong.conformance.targets.identity import identity_of
from overlong.conformance.targets.resolve import resolve
from overlong.conformance.vectors.batch import Batch
from overlong.conformance.vectors.suites.suite import LONGEST, memory_vectors
from overlong.conformance.vectors.vector import Vector
from overlong.reference import is_well_formed
from overlong.reference.core import why_not
from waiting import HUNG
from zoo import SHARED_LIBRARIES
from zoo.right_functions import RIGHT

pytestmark = pytest.mark.skipif(os.name != "posix", reason="guard pages and fork are POSIX's")

needs_core = pytest.mark.skipif(bool(why_not()), reason=why_not() or "there is a core")
PTR = "bool(ptr,len)"
BOUNDED = "(ptr,len,out,cap)"
LONG = b"a" * 37 + b"\xf0\x9f\x98"
SAMPLE = list(
    dict.fromkeys(
        [
            *(b"", b"a", b"aaa", b"\x80", b"\xc3", b"\xc3\xa9", b"\xf0\x9f\x98\x80", b"aaaa\xf0\x9f\x98", LONG),
            *(vector.octets for vector in memory_vectors()[::25]),
        ]
    )
)
WRONG = {  # symbol: ABI, the code, octets that show it, words of the observation
    "reads_past_the_end": (PTR, "OV801", b"", "died of a read past the end"),
    "trusts_the_lead": (PTR, "OV801", b"\xc3", "died of a read past the end"),
    "string_past_its_end": ("bool(string)", "OV801", b"", "died of a read past the end"),
    "reads_before_the_start": (PTR, "OV802", b"", "died of a read before the start"),
    "steps_back": (PTR, "OV802", b"\x80", "died of a read before the start"),
    "writes_past_the_room": (f"utf16{BOUNDED}", "OV803", b"", "given exactly the room that it needs"),
    "ignores_the_room": (f"utf32{BOUNDED}", "OV803", b"a", "given less room than it needs"),
    "writes_before_the_room": (f"utf8{BOUNDED}", "OV803", b"", "given more room than it needs"),
    "writes_behind_its_input": (PTR, "OV803", b"", "next to its input"),
    "leaves_the_last_unit": (f"utf32{BOUNDED}", "OV804", b"a", "left a part of its output unwritten"),
    "changes_its_input": (PTR, "OV805", b"aaa", "wrote to its input"),
    "writes_what_was_there": (PTR, "OV805", b"a", "wrote to its input"),
    "wrong_at_alignment_15": (PTR, "OV806", LONG, "at an address of 15 modulo 64"),
    "looks_at_neighbours": (PTR, "OV806", b"\xc3", "between other neighbours"),
    "keeps_its_state": (PTR, "OV807", b"\x80\x80", "gave another answer to the same call"),
    "every_other_call": (PTR, "OV807", b"aaaa\xf0\x9f\x98", "gave another answer to the same call"),
}


@pytest.fixture(scope="session")
def built(tmp_path_factory):
    """The path of a library, compiled once."""
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("no C compiler on PATH; install gcc or clang")
    folder = tmp_path_factory.mktemp("shared")
    for name in ("right", "wrong", "wild"):
        words = ["-std=c11", "-D_GNU_SOURCE", "-Wall", "-Werror", "-O1", "-shared", "-fPIC"]
        subprocess.run([compiler, *words, SHARED_LIBRARIES / f"{name}.c", "-o", folder / f"{name}.so"], check=True)
    return lambda name: folder / f"{name}.so"


def so(library, symbols, abi):
    return f"so:{library}:{symbols}?abi={abi}"


def judged(target, suites=("memory",), **limits):
    """The run of whole suites."""
    run = certify(target, suites=suites, limits=Limits(**limits)).run
    assert not run.incomplete
    return run


def answers(target, inputs, operation, timeout=5.0):
    """The observation for each input: a verdict or a fault."""
    asked = resolve(target, Limits(timeout))
    asked.open()
    try:
        found = []
        for part in asked.observe([(Batch.of([Vector("input", octets) for octets in inputs]), operation)]):
            units = asked.greeting.units_of(operation)
            said = part.answers.observations(units, verdict_only=operation == "V")
            found += [part.faults.get(place, each) for place, each in enumerate(said)]
        return dict(zip(inputs, found, strict=True))
    finally:
        asked.close()


def examined(target, inputs):
    """For each input, the code of the function's memory fault there; empty if there is none."""
    said = answers(target, inputs, "G")
    return {octets: memory_fault(each) if isinstance(each, Refused) else "" for octets, each in said.items()}


DOCS = Path(__file__).parents[3] / "docs"


def test_the_example_of_the_page_works(built, tmp_path):
    page = (DOCS / "shared-libraries.md").read_text("utf-8")
    (program,) = re.findall(r"^```python\n(.*?)^```", page, re.DOTALL | re.MULTILINE)
    (tmp_path / "span.py").write_text(program, "utf-8")
    target = so(built("right"), "span", f"py:{tmp_path / 'span.py'}:judge")
    assert {octets: isinstance(said, Accepted) for octets, said in answers(target, SAMPLE, "V").items()} == {
        octets: is_well_formed(octets) for octets in SAMPLE
    }


def test_every_abi_and_every_fault_is_tried():
    assert set(RIGHT) == set(ABIS)
    assert {code for code, each in observation.KINDS.items() if each.claim == "memory"} == set(MEMORY_FAULTS.values())
    assert set(MEMORY_FAULTS.values()) == {code for _, code, _, _ in WRONG.values()}


@pytest.mark.long_after(2)
@pytest.mark.parametrize("abi", ABIS)
def test_a_right_function_passes(abi, built):
    target = so(built("right"), RIGHT[abi], abi)
    run = judged(target, ["core", "streams", "used-before"])
    assert not run.buckets
    assert run.restarts == 0
    holds = {claim for claim, state in run.claims.items() if state == "holds"}
    assert "verdict" in holds
    assert ("scalars" in holds) == bool(ABIS[abi].units)
    assert ("streaming" in holds) == bool(ABIS[abi].functions)
    says_where = {"ptr-or-null", "errpos", "errpos-or-minus1", "result", "glib", "iterate"}
    assert ("error position" in holds) == (abi.partition("(")[0] in says_where or "-result(" in abi)
    asked = [octets for octets in SAMPLE if not (ABIS[abi].terminated and 0 in octets)]
    assert set(examined(target, asked).values()) == {""}


@pytest.mark.long
def test_certify_and_an_examination_show_the_same_least_input_of_a_memory_fault(built):
    """No condition explains it, and no suite need have the least."""
    target = so(built("wrong"), "trusts_a_later_lead", PTR)
    (bucket,) = certify(target, suites=["memory"], plans=()).run.buckets.values()
    found = examine(target, b"some text and \xef")
    assert (found.code, found.condition, found.example) == ("OV801", None, bytes(4) + b"\xe0")
    assert (bucket.example.code, bucket.example.vector.octets) == ("OV801", bytes(4) + b"\xe0")


@pytest.mark.long_after(1)
@pytest.mark.parametrize("symbol", WRONG)
def test_a_wrong_function_is_named(symbol, built):
    """Only the fault is named, at the inputs that cause it; and the verdict is still measured."""
    abi, code, octets, words = WRONG[symbol]
    target = so(built("wrong"), symbol, abi)
    said = answers(target, SAMPLE, "G")
    named = {each: memory_fault(observed) for each, observed in said.items() if isinstance(observed, Refused)}
    assert set(named.values()) == {code}
    assert octets in named
    assert all(words in observed_in_words(said[each], "G") for each in named)
    if code != "OV807":  # its verdict is random
        operation = "D" if ABIS[abi].units else "V"
        verdicts = {
            each: isinstance(observed, Accepted) for each, observed in answers(target, SAMPLE, operation).items()
        }
        assert verdicts == {each: is_well_formed(each) for each in SAMPLE}


@pytest.mark.long_after(1)
@pytest.mark.parametrize("symbol", ["overlooks_an_octet", "skips_words_carelessly"])
def test_an_error_that_is_overlooked_at_some_addresses_is_found_and_shown_again(symbol, built):
    target = so(built("wrong"), symbol, PTR)
    run = judged(target)
    assert set(run.buckets) == {("OV806", "")}
    assert run.state is State.DIVERGES
    (bucket,) = run.buckets.values()
    assert bucket.count >= 12  # each kind of error
    (shown,) = (answer for answer in replay(bucket.example.vector, target) if answer.operation == "G")
    assert "gave another answer at an address of " in observed_in_words(shown.observed, "G")


@pytest.mark.long
@needs_core
def test_a_sweep_asks_at_every_address_and_names_the_one_that_shows_the_fault(built):
    run = certify(so(built("wrong"), "skips_words_carelessly", PTR), suites=["core"], plans=["offsets-128"]).run
    (bucket,) = run.buckets.values()
    assert bucket.why is not None
    assert "in inputs at addresses of 2 modulo 8" in bucket.why.sentence


@pytest.mark.long_after(1)
@pytest.mark.parametrize("symbol", ["reads_before_the_start", "steps_back"])
def test_a_read_before_the_start_is_nothing_else(symbol, built):
    """Nor is the verdict wrong: what stands before an input is the same each time, and begins no character."""
    run = judged(so(built("wrong"), symbol, PTR), ["core", "memory"])
    assert set(run.buckets) == {("OV802", "")}
    assert run.state is State.DIVERGES
    assert (run.claims["verdict"], run.claims["memory"]) == ("holds", "fails")


@pytest.mark.long
def test_the_over_read_is_at_exactly_the_octets_that_cause_it(built):
    """A lead octet at the end: the function must not read the octets after it."""
    asked = [octets for octets in SAMPLE if octets][-30:] + [bytes([octet]) for octet in range(0x70, 0x100, 8)]
    found = examined(so(built("wrong"), "trusts_the_lead", PTR), asked[:8])
    for start in range(8, len(asked), 8):  # few enough in a request that each is examined
        found |= examined(so(built("wrong"), "trusts_the_lead", PTR), asked[start : start + 8])
    assert found == {octets: "OV801" if octets[-1] >= 0xC0 else "" for octets in asked}


@pytest.mark.long
def test_a_suite_ends_soon_and_names_the_least_input(built):
    """Deaths are costly: after enough of them the rest is not asked, and counts as unmeasured, not as right."""
    run = judged(so(built("wrong"), "trusts_the_lead", PTR))
    assert set(run.buckets) == {("OV801", "")}
    assert run.claims["memory"] == "fails"
    assert run.restarts == 0
    (bucket,) = run.buckets.values()
    assert bucket.example.vector.octets == b"\xc0"
    assert "died of a read past the end" in bucket.example.observed_words
    assert bucket.count >= 20
    assert bucket.count + run.unsupported["G"] > run.vectors / 2


@pytest.mark.long_after(1)
@pytest.mark.parametrize(
    ("symbol", "how"),
    [
        ("crashes", "was ended by SIGSEGV"),
        ("aborts", "was ended by SIGABRT"),
        ("exits", "exited with status 0"),
        ("leaves_a_daemon", "was ended by SIGSEGV"),
        ("closes_all", "exited with status 3"),
    ],
)
@pytest.mark.parametrize("operation", "VG")
def test_a_crash_that_no_guard_caused_is_a_crash(symbol, how, operation, built):
    asked = [b"a", b"\xf4\x90", b"\xff", b"\xf4\x90\x80\x80", b"\xc3\xa9"]
    said = answers(so(built("wrong"), f"{symbol}_on_f4_90", PTR), asked, operation)
    assert {octets: each.how for octets, each in said.items() if isinstance(each, Crashed)} == {
        b"\xf4\x90": how,
        b"\xf4\x90\x80\x80": how,
    }
    if operation == "V":
        assert [isinstance(said[octets], Accepted) for octets in (b"a", b"\xff", b"\xc3\xa9")] == [True, False, True]


@pytest.mark.long_after(1)
@pytest.mark.parametrize(("symbol", "what"), [("dies", "Crashed"), ("hangs", "TimedOut")])
def test_what_is_asked_in_between_is_blamed_in_its_own_turn(symbol, what, built):
    asked = [b"a", b"\xe2\x82", b"\xff", b"\xe2\x82\xac"]
    said = answers(so(built("wrong"), f"{symbol}_on_e2_82", PTR), asked, "G", timeout=2.0)
    assert [type(each).__name__ for each in said.values()] == ["Accepted", what, "Accepted", "Accepted"]


@pytest.mark.long
def test_a_call_that_never_returns_is_a_time_out(built):
    asked = [b"a", b"\xf4\x90\x80\x80", b"\xff"]
    said = answers(so(built("wrong"), "hangs_on_f4_90", PTR), asked, "V", timeout=2.0)
    assert [type(each).__name__ for each in said.values()] == ["Accepted", "TimedOut", "Refused"]


@pytest.mark.long_after(1)
@pytest.mark.parametrize("symbol", ["prints", "forks", "forks_each_time"])
def test_what_a_library_does_beside_is_no_answer(symbol, built):
    assert not judged(so(built("wrong"), symbol, PTR), ["core"]).buckets


@pytest.mark.long
def test_long_inputs_have_room(built):
    asked = [b"a" * 3_000_000, "é".encode() * 100_000 + b"\xc3", b"a"]
    for symbol, abi, operation in (("is_bool", PTR, "V"), ("utf16", f"utf16{BOUNDED}", "D"), ("is_bool", PTR, "G")):
        said = answers(so(built("right"), symbol, abi), asked, operation, timeout=30.0)
        accepted = [isinstance(each, Accepted) for each in said.values()]
        assert accepted == [True, operation == "G", True]


def test_a_wrong_verdict_is_no_fault_of_memory(built):
    target = so(built("wrong"), "accepts_surrogates", PTR)
    assert judged(target, ["core"]).codes == {"OV202"}
    assert set(examined(target, [b"\xed\xa0\x80", *SAMPLE]).values()) == {""}


@pytest.mark.long_after(1)
@pytest.mark.parametrize(("symbol", "abi", "says"), [
    ("says_an_offset_beyond", "errpos(ptr,len)", "it says offset"),
    ("claims_too_much", f"utf32{BOUNDED}", "units where"),
])  # fmt: skip
def test_what_breaks_its_own_convention_is_an_internal_error(symbol, abi, says, built):
    run = judged(so(built("wrong"), symbol, abi), ["core"])
    assert run.codes == {"OV601"}
    assert all(says in bucket.example.observed_words for bucket in run.buckets.values())


HATCH = """
import ctypes

def verdict(function, address, length):
    function.argtypes, function.restype = [ctypes.c_void_p, ctypes.c_size_t], ctypes.c_bool
    return function(address, length)

def text(function, address, length):
    function.argtypes, function.restype = [ctypes.c_void_p, ctypes.c_size_t], ctypes.c_size_t
    offset = function(address, length)
    octets = ctypes.string_at(address, length)
    if offset < length:
        raise UnicodeDecodeError("utf-8", octets, offset, offset + 1, "by the library")
    return octets.decode()

def broken(function, address, length):
    return 1 // (length - 3)
"""


@pytest.mark.long
def test_the_escape_hatch(built, tmp_path):
    file = tmp_path / "hatch.py"
    file.write_text(HATCH, "utf-8")
    for name, symbol, claim in (("verdict", "is_bool", "verdict"), ("text", "errpos", "scalars")):
        target = so(built("right"), symbol, f"py:{file}:{name}")
        run = judged(target, ["core"])
        assert not run.buckets
        assert run.claims[claim] == "holds"
        assert set(examined(target, SAMPLE[::4]).values()) == {""}
    over = examined(so(built("wrong"), "reads_past_the_end", f"py:{file}:verdict"), SAMPLE[:4])
    assert set(over.values()) == {"OV801"}
    with pytest.raises(TargetError, match="returned int"):
        certify(so(built("right"), "is_bool", f"py:{file}:broken"))


def test_the_library_is_part_of_the_identity(built, tmp_path):
    file = tmp_path / "hatch.py"
    file.write_text(HATCH, "utf-8")
    target = resolve(so(built("right"), "is_bool", f"py:{file}:verdict"))
    assert {"right.so", "hatch.py"} <= {name for name, _ in identity_of(target).files}


REAL = ("libglib/g_utf8_validate", "libunistring/u8_check", "libicu/u_strFromUTF8", "libutf8proc/utf8proc_iterate")


@pytest.mark.long
@pytest.mark.parametrize("name", REAL)
def test_real_libraries_keep_to_their_memory(name):
    try:
        run = judged(name, ["core", "memory"])
    except TargetError as error:
        pytest.skip(str(error))
    assert not run.buckets
    assert "/" in library_in(resolve(name).command)  # a path, so that it can be hashed


@pytest.mark.parametrize(("rest", "says"), [
    ("lib.so", "write so:LIBRARY:SYMBOL"),
    ("lib.so:f", "write so:LIBRARY:SYMBOL"),
    ("lib.so:?abi=bool(ptr,len)", "write so:LIBRARY:SYMBOL"),
    ("lib.so:f?abi=bool(ptr,size)", "perhaps bool(ptr,len), bool(string) or int(ptr,len); 'overlong target abis'"),
    ("lib.so:f?abi=errpos", "perhaps errpos(ptr,len), errpos-or-minus1(ptr,len) or bool(ptr,len); "),
    ("lib.so:f", "for example bool(ptr,len), errpos-or-minus1(ptr,len), or utf32(ptr,len,out,cap), "),
    ("lib.so:f?abi=\x1b[2J", "no abi '\\x1b"),
    ("lib.so:f,g?abi=bool(ptr,len)", "it names 2 functions; name one"),
    ("lib.so:f?abi=stream-utf8(state,ptr,len,out,cap)", "write new,feed,finish,free"),
    ("lib.so:f?abi=py:f.py", "write abi=py:FILE.py:FUNCTION"),
    ("lib.so:f?abi=bool(ptr,len)&nul=kept", "write nul=ends the string"),
    ("lib.so:f?abi=bool(ptr,len)&speed=high", "write nul=ends the string"),
])  # fmt: skip
def test_a_name_that_says_too_little_gets_the_remedy(rest, says):
    with pytest.raises(UnknownTarget) as raised:
        command(f"so:{rest}", rest)
    text = str(raised.value)
    assert says in text
    assert text.isprintable()


def test_what_cannot_be_loaded_is_said(built, tmp_path):
    nothing = tmp_path / "nothing.so"
    nothing.write_bytes(b"not ELF at all")
    for target, says in (
        (so(tmp_path / "missing.so", "f", PTR), "cannot be loaded"),
        (so(nothing, "f", PTR), "cannot be loaded"),
        (so(built("right"), "no_such_function", PTR), "has no function no_such_function"),
    ):
        with pytest.raises(TargetError, match=says):
            certify(target, suites=["core"])


def test_a_function_that_crashes_at_once_may_have_another_abi():
    library = ctypes.util.find_library("c")
    if library is None:
        pytest.skip("the C library is not found")
    with pytest.raises(TargetError, match=r"ended by SIGABRT; .* 'overlong target abis'"):
        certify(so(library, "abort", PTR), suites=["core"])


def test_the_suite_has_every_length_with_every_end():
    octets = [vector.octets for vector in memory_vectors()]
    assert len(set(octets)) == len(octets)
    assert {len(each) for each in octets} == set(range(LONGEST + 1))
    asked = set(octets)
    for length, end in itertools.product(range(4, LONGEST + 1), (b"a", b"\xc3", b"\xf0\x9f\x98", b"\xff")):
        assert any(len(each) == length and each.endswith(end) for each in asked)
        assert is_well_formed(b"a" * length) == (b"a" * length in asked)


def overlong(*words):
    """The status and the output of the command line, in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-m", "overlong", *words],
        capture_output=True,
        text=True,
        encoding="utf-8",
        env={**os.environ, "PYTHONIOENCODING": "utf-8", "COLUMNS": "80"},
        timeout=HUNG,
        check=False,
    )
    return done.returncode, done.stdout


@pytest.mark.long
def test_the_command_line_shows_an_over_read(built, tmp_path):
    target = so(built("wrong"), "reads_past_the_end", PTR)
    status, said = overlong("certify", "--suite", "core", "--suite", "memory", "-o", str(tmp_path / "out"), target)
    assert status == 1
    assert "OV801 read past the end of the input" in said
    assert "NOT CONFORMANT  reads past the input, 1 bucket" in said
    status, said = overlong("replay", "well-formed/empty", target)
    assert (status, "OV801" in said) == (1, True)
    assert "memory" not in overlong("certify", "--suite", "core", "cpython")[1]


WILD = {
    "bool": PTR, "int": "int(ptr,len)", "string": "int(string)", "errpos": "errpos(ptr,len)",
    "minus1": "errpos-or-minus1(ptr,len)", "null": "ptr-or-null(ptr,len)", "result": "result(ptr,len)",
    "glib": "glib(ptr,len,end)", "icu": "icu(out,cap,outlen,ptr,len,status)",
    **{f"utf{bits}": f"utf{bits}{BOUNDED}" for bits in (8, 16, 32)},
    **{f"short{bits}": f"utf{bits}(ptr,len,out)" for bits in (8, 16, 32)},
    **{f"pair{bits}": f"utf{bits}-result(ptr,len,out)" for bits in (8, 16, 32)},
}  # fmt: skip


def test_every_convention_of_one_call_is_wild():
    assert set(WILD.values()) | {"bool(string)", "error(ptr,len)"} == {
        name for name, abi in ABIS.items() if abi is not ITERATE and not abi.functions
    }


@needs_core
@pytest.mark.long_after(6)
@pytest.mark.parametrize("name", WILD)
def test_the_core_answers_as_ctypes_does(name, built):
    """Octet for octet, including the words about breaches of the convention."""
    named = Named(str(built("wild")), (f"wild_{name}",), WILD[name], None, {})
    child = Child(named, memoryview(bytearray(64)).cast("Q"), mmap.mmap(-1, 4096))
    pairs = [bytes(pair) for pair in itertools.product(range(256), range(16))]
    items = [octets for octets in (*SAMPLE, *pairs) if name != "string" or 0 not in octets]
    payload = b"".join((column([len(items)]), column(map(len, items)), *items))
    expected = child.answer(child.operations[0], items, frozenset(), single=False)
    assert child.answer_in_core(payload) == expected
    statuses = expected[: len(items)]
    assert set(statuses) == set(b"AR" if WILD[name] in (PTR, "int(ptr,len)", "int(string)") else b"ARX")


@needs_core
def test_in_threads_the_core_answers_as_it_does_alone(built):
    function = ctypes.cast(ctypes.CDLL(str(built("wild"))).wild_bool, ctypes.c_void_p).value or 0
    items = [octets for octets in SAMPLE if octets][:6]
    alone = [answers_together(ABIS[PTR], [function], None, [each], 1)[0] for each in items]
    assert answers_together(ABIS[PTR], [function], None, items, 3) == alone
    assert len({each.status for each in alone}) > 1


@needs_core
@pytest.mark.long_after(1)
def test_what_dies_or_forks_in_the_core_is_asked_again(built):
    (part,) = judged(so(built("wild"), "over_reads_and_forks", PTR), suites=("scalars",)).suites
    assert (part.done, len(part.failing)) == (part.suite.size, 0)


def test_an_abi_may_have_spaces():
    plain, spaced = (resolve(f"so:./a b.so:f?abi={abi}&nul=refused") for abi in ("bool(ptr,len)", "bool (ptr,  len) "))
    assert (spaced.id, spaced.command) == (plain.id, plain.command)
    assert portable(f"so:{Path.cwd()}/a.so:f?abi= bool(ptr, len)") == "so:./a.so:f?abi=bool(ptr,len)"
    assert one_spelling("so:a.so:f?abi=bool(ptr, len)&nul=ends the string") == (
        "so:a.so:f?abi=bool(ptr,len)&nul=ends the string"
    )
    assert "./my file.py" in resolve("so:./a.so:f?abi=py:./my file.py:call").command
