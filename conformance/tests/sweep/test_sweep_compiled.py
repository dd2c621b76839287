"""The core's loop asks exactly the strings of a grid, and judges them as plain Python does, for every convention."""

import ctypes
import faulthandler
import functools
import itertools
import mmap
import os
import re
import shutil
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from overlong.conformance.oracle import target as codes
from overlong.conformance.oracle.target import ExpectedAnswers
from overlong.conformance.sweep.compiled import LEVEL, PROGRESS_OCTETS, GridLoop, GridWords, LoopTask, Progress
from overlong.conformance.sweep.grid import Grid, account
from overlong.conformance.sweep.plan import plan_named
from overlong.conformance.targets.adapters.abi import ABIS, NOT_SAID, UNIT, Called
from overlong.conformance.targets.adapters.in_core import AnswersTask
from overlong.conformance.targets.adapters.native import Streams, bound, function_in
from overlong.conformance.vectors.pieces import complete_strings
from overlong.reference.core import building, core, why_not
from overlong.reference.dialect import dialect
from overlong.reference.tables import AUTOMATON_WORDS, ShiftAutomaton
from zoo import SHARED_LIBRARIES
from zoo.right_functions import RIGHT

pytestmark = [pytest.mark.long, pytest.mark.skipif(bool(why_not()), reason=why_not() or "there is a core")]

RFC3629 = dialect("rfc3629")
PLAIN = "bool(ptr,len)"
SYMBOLS = {abi: symbols.removesuffix(",stream_reset") for abi, symbols in RIGHT.items()}

OWN = r"""
#include "right.c"

/* A digest of the memory around a string, and of the earlier calls. */
static uint64_t before;
void forget(void) { before = 0; }
static uint64_t digest(const uint8_t *s, size_t n) {
  uint64_t found = before;
  for (const uint8_t *p = s - 64; p < s + n + 64; p++) found = (found ^ *p) * 1099511628211u;
  return before = found;
}
bool odd(const uint8_t *s, size_t n) { return digest(s, n) >> 40 & 1; }
bool odd_string(const char *s) { return digest((const uint8_t *)s, strlen(s)) >> 40 & 1; }

/* The kind of fault: 0, no fault, most of the time. */
static unsigned wrong(const uint8_t *s, size_t n) {
  uint64_t found = n;
  while (n--) found = (found ^ s[n]) * 0x9E3779B97F4A7C15u;
  return found >> 50 & 1 ? 0 : found >> 51 & 7;
}
bool wrong_bool(const uint8_t *s, size_t n) { return is_bool(s, n) ^ (wrong(s, n) & 1); }
size_t wrong_errpos(const uint8_t *s, size_t n) { return errpos(s, n) + wrong(s, n) - (wrong(s, n) > 4 ? 6 : 0); }
result wrong_result(const uint8_t *s, size_t n, uint16_t *out) {
  result r = utf16_result(s, n, (uint8_t *)out);
  switch (wrong(s, n)) {
    case 1: r.error ^= 1; break;
    case 2: r.count++; break;
    case 3: r.count--; break;
    case 4: if (!r.error && r.count) out[r.count - 1] ^= 1; break;
    case 5: if (!r.error && r.count) out[0] ^= 0x8000; break;
    default: break;
  }
  return r;
}
void *wrong_icu(uint8_t *out, int32_t cap, int32_t *needed, const uint8_t *s, int32_t n, int32_t *status) {
  void *r = icu(out, cap, needed, s, n, status);
  switch (wrong(s, (size_t)n)) {
    case 1: *status = 12; break;
    case 2: *status = -5; break;
    case 3: *status = 3; break;
    case 4: *needed = -7; break;
    case 5: *needed += 2; break;
    case 6: *needed = 1 << 20; break;
    default: break;
  }
  return r;
}
ptrdiff_t wrong_iterate(const uint8_t *s, ptrdiff_t n, int32_t *point) {
  ptrdiff_t r = iterate(s, n, point);
  switch (wrong(s, (size_t)n)) {
    case 1: return -1;
    case 2: return 0;
    case 3: return 1;
    case 4: *point ^= 1; return r;
    case 5: *point = -1; return r;
    default: return r;
  }
}
ptrdiff_t wrong_feed(stream *state, const uint8_t *s, size_t n, uint8_t *out, size_t cap) {
  ptrdiff_t r = utf8_feed(state, s, n, out, cap);
  switch (wrong(s, n)) {
    case 1: return -1;
    case 2: return r + 1;
    case 3: return (ptrdiff_t)cap + 1;
    case 4: if (r > 0) out[r - 1] ^= 1; return r;
    case 5: state->count = 0; return r < 0 ? 0 : r;
    case 6: state->count = 1; return r;
    default: return r;
  }
}
result strips(const uint8_t *s, size_t n, uint8_t *out) {
  bool mark = n >= 3 && !memcmp(s, "\xEF\xBB\xBF", 3);
  return is_bool(s, n) ? utf16_result(s + 3 * mark, n - 3 * mark, out) : (result){1, errpos(s, n)};
}
size_t nowhere(const uint8_t *s, size_t n) {
  return memchr(s, 0, n) || errpos(s, n) < n ? (n ? n - 1 : 0) : n;
}
result wrong_at_the_end(const uint8_t *s, size_t n, uint16_t *out) {
  result r = utf16_result(s, n, (uint8_t *)out);
  if (n && s[n - 1] == 'A') out[n - 1 - n % 7 % n] ^= 0x1000;
  return r;
}

uint8_t address = 64;
bool wrong_at_an_address(const uint8_t *s, size_t n) { return is_bool(s, n) ^ (((uintptr_t)s & 63) == address); }

uint8_t deadly[3];
bool dies(const uint8_t *s, size_t n) {
  if (n == 3 && !memcmp(s, deadly, 3)) abort();
  return is_bool(s, n);
}
"""
WRONG = {
    PLAIN: "wrong_bool",
    "errpos(ptr,len)": "wrong_errpos",
    "utf16-result(ptr,len,out)": "wrong_result",
    "icu(out,cap,outlen,ptr,len,status)": "wrong_icu",
    "iterate(ptr,len,point)": "wrong_iterate",
    "stream-utf8(state,ptr,len,out,cap)": "stream_new,wrong_feed,stream_finish,stream_free",
}
"""Wrong functions for as many ways to judge."""
FLUSH = 1 << 16
"""The most strings between two publications of the sums."""
CODEC = {"utf-8": "utf-8", "utf-16": f"utf-16-{sys.byteorder[0]}e", "utf-32": f"utf-32-{sys.byteorder[0]}e"}


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    """A library of right and wrong functions."""
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("no C compiler on PATH; install gcc or clang")
    folder = tmp_path_factory.mktemp("compiled")
    source, made = folder / "own.c", folder / "own.so"
    source.write_text(OWN)
    words = [compiler, "-std=c11", "-O2", "-shared", "-fPIC", "-I", SHARED_LIBRARIES, source, "-o", made]
    subprocess.run(words, check=True)
    return str(made)


def addresses(library, symbols):
    loaded = ctypes.CDLL(library)
    return [ctypes.cast(loaded[symbol], ctypes.c_void_p).value for symbol in symbols.split(",")]


def called(library, name, symbols):
    """Calls it from plain Python: address, length, output and room to a reading."""
    abi, loaded = ABIS[name], ctypes.CDLL(library)
    if abi.functions:
        return Streams(abi, loaded, symbols.split(",")).whole
    return bound(abi, function_in(loaded, symbols, abi.parameters, abi.result))


def expected_of(name, strips=False, nul=""):
    abi = ABIS[name]
    automaton = codes._with_nul(RFC3629.automaton, nul)
    return ExpectedAnswers(automaton, "D" if abi.units else "V", abi.units, True, strips, has_nul_trait=bool(nul))


class Memory:
    """Progress and kinds of a range of strings."""

    def __init__(self, first, count):
        self.progress = Progress(mmap.mmap(-1, PROGRESS_OCTETS))
        self.progress.begin(first)
        self.kinds, self.origin = mmap.mmap(-1, count + 1), first

    def sums(self):
        return tuple(self.progress.sums.values())


def asked(loop, grid, first=0, count=None):
    """The sums of a range of strings, and their kinds."""
    count = grid.size - first if count is None else count
    memory = Memory(first, count)
    loop.run(grid, first + count, memory.progress, memory.kinds, first)
    assert memory.progress.reached == first + count
    assert memory.progress.index == first + count - 1
    return memory.sums(), memory.kinds[:count]


@functools.cache
def told(octets):
    """CPython's answer: the text, or the offset of the refusal."""
    try:
        return octets.decode(), None
    except UnicodeDecodeError as error:
        return None, error.start


def judged(name, call, grid, first, count):
    """The result of ``asked``, computed in plain Python."""
    abi = ABIS[name]
    room, out = ctypes.create_string_buffer(grid.longest + 80), ctypes.create_string_buffer(64 * grid.longest + 256)
    address, to, size = ctypes.addressof(room), ctypes.addressof(out), UNIT.get(abi.units, 1)
    octets_asked = well_formed = accepted = checksum = 0
    kinds = bytearray(count)
    for index in range(first, first + count):
        octets = grid.string(index)
        ctypes.memmove(address, octets + bytes(64), len(octets) + 64)
        units = abi.room(len(octets))
        reading = call(address, len(octets), to, units)
        if reading.status == "A" and reading.number > units:
            reading = reading._replace(status="X")
        text, offset = told(octets)
        octets_asked += len(octets)
        well_formed += text is not None
        accepted += reading.status == "A"
        if reading.status == "A":
            put_out = reading.output or out.raw[: reading.number * size]
            if text is None:
                kinds[index - first] = codes.ACCEPTED_ILL_FORMED
            elif abi.units and put_out != text.encode(CODEC[abi.units]):
                kinds[index - first] = codes.OTHER_OUTPUT
        elif reading.status == "X":
            kinds[index - first] = codes.BROKEN
        elif text is not None:
            kinds[index - first] = codes.REFUSED_WELL_FORMED
        elif reading.number not in (NOT_SAID, offset):
            kinds[index - first] = codes.OTHER_OFFSET
        checksum += (codes.answer_code(reading.status, reading.number) + 1) * (index * codes.ODD | 1)
    return (count, octets_asked, well_formed, accepted, checksum % (1 << 64)), bytes(kinds)


def samples(grids, most):
    """Ranges of strings with all step sizes; they begin at odd places."""
    for number, grid in enumerate(grids):
        count = min(grid.size, max(3, most // max(grid.longest, 1)))
        for part in (0, 1, 3):
            first = (grid.size - count) * part // 3
            yield number, grid, first, count


def words_of(struct, header):
    """The names of a struct's words, as C declares them."""
    text = re.sub(r"/\*.*?\*/", "", (Path(building.__file__).parent / header).read_text("utf-8"), flags=re.DOTALL)
    [body] = re.findall(rf"typedef struct \w*\s*{{([^}}]*)}} {struct};", text)
    declared = re.findall(r"(\w+)\)?(?:\(void\))?;|(\w+),", body)
    return [one or other for one, other in declared]


@pytest.mark.parametrize(
    ("words", "struct", "header"),
    [
        (LoopTask._fields, "loop_task", "loop.h"),
        (GridWords._fields, "grid_task", "grids.c"),
        (LEVEL, "level", "grids.c"),
        (AUTOMATON_WORDS, "automaton", "automaton.h"),
        (AnswersTask._fields, "answers_task", "answers.c"),
    ],
)
def test_what_python_fills_in_is_what_c_reads(words, struct, header):
    declared = words_of(struct, header)
    if declared[0] == "loop":  # the task before it
        declared.pop(0)
    if declared[-1] == "last":  # the results of a call
        declared[-1:] = words_of("results", "calls.h")
    assert declared == list(words)


DISTINCT = {
    (abi.parameters, abi.result, abi.read, abi.functions): name for name, abi in ABIS.items() if name != "int(string)"
}
"""A convention for each way to call and to read; they also differ in their units."""


@pytest.mark.parametrize("plan", ["exhaustive-3", "placed-16", "lengths-256"])
def test_a_string_has_its_own_address_wherever_the_loop_begins_and_all_addresses_occur(plan, library):
    address = ctypes.c_uint8.in_dll(ctypes.CDLL(library), "address")
    loop = GridLoop(ABIS[PLAIN], addresses(library, "wrong_at_an_address"), expected_of(PLAIN), RFC3629.layout)
    grid = max(plan_named(plan).grids, key=lambda grid: grid.size)
    count = min(grid.size, 1 << 17)
    wrong = []
    for address.value in range(64):
        _, kinds = asked(loop, grid, 0, count)
        wrong.append(kinds.translate(bytes((0, *[1] * 255))))
    assert all(sum(at_one) == 1 for at_one in zip(*wrong, strict=True))
    assert all(map(any, wrong))
    for first in (1, 77, count // 2 + 1):
        for address.value in (0, 7, 63):
            _, kinds = asked(loop, grid, first, count - first)
            assert kinds.translate(bytes((0, *[1] * 255))) == wrong[address.value][first:]
    address.value = 64


def words(*numbers):
    return (ctypes.c_int64 * len(numbers))(*numbers)


@pytest.mark.parametrize("name", DISTINCT.values())
def test_a_function_is_called_and_read_as_ctypes_does(name, library):
    abi, found = ABIS[name], words(0, 0)
    for symbols in {SYMBOLS[name], WRONG.get(name, SYMBOLS[name])}:
        call = called(library, name, symbols)
        functions, cells = words(*(addresses(library, symbols) + [-1] * 4)[:4]), words(*[-1] * 6)
        for octets in map(bytes, itertools.product(b"\x7f\x80\xc3\xe2\xed\xa0\xf0\x90\xff", repeat=3)):
            for string in (octets, b"", octets * 7, b"a" + octets[:1]):
                text = ctypes.create_string_buffer(string, len(string) + 64)
                out = ctypes.create_string_buffer(64 * len(string) + 256)
                room = abi.room(len(string))
                reading = call(ctypes.addressof(text), len(string), ctypes.addressof(out), room)
                expected = "ARX".index(reading.status), reading.number * (reading.status != "X")
                if reading.status == "A" and reading.number > room:
                    expected = 2, 0
                at, octets_at, to, beside = map(ctypes.addressof, (functions, text, out, cells))
                question = words(at, octets_at, len(string), to, room, beside)
                core()("ask_once", core().convention(name), *map(ctypes.addressof, (question, found)))
                assert tuple(found) == expected, (symbols, string)


WORDS = st.one_of(st.integers(-3, 40), st.sampled_from((2**31 - 1, -(2**31), 2**63 - 1, -(2**63), 4096, 4099)))
RANGES = {"bool": (0, 2), "int": (-(2**31), 2**31), "pair": (-(2**31), 2**31), "ssize": (-(2**63), 2**63)}


@settings(max_examples=500, deadline=None)
@given(
    st.sampled_from([name for name in DISTINCT.values() if not ABIS[name].functions]),
    *[WORDS] * 4,
    st.integers(0, 9),
    st.sampled_from((4096, 0x7FFF_0000_0000)),
)
def test_what_came_back_means_the_same(name, returned, second, one, two, length, address):
    abi = ABIS[name]
    low, high = RANGES.get(abi.result, (0, 2**64))
    kinds = [each for each in abi.parameters if each.startswith("cell")]
    if not low <= returned < high:
        returned = returned % 2**64 if abi.result in ("size", "ptr") else returned % 2
    cells = tuple(
        number % 2**64 if kind == "cell" else max(-(2**31), min(number, 2**31 - 1))
        for kind, number in zip(kinds, (one, two), strict=False)
    )
    second %= 2**64
    reading = abi.read(Called(returned, second if abi.result == "pair" else 0, cells, address, length, 0))
    found = words(0, 0)
    numbers = (returned, second, *cells, *[0] * (2 - len(cells)))
    results = words(*(number - (number >> 63 << 64) for number in numbers))
    question = words(0, address, length, 0, 0, 0)
    core()("read_results", core().convention(name), *map(ctypes.addressof, (results, question, found)))
    status, number = found
    expected = ("ARX".index(reading.status), 0 if reading.status == "X" else reading.number)
    assert (status, number % 2**64) == expected


@pytest.mark.parametrize("name", WRONG)
def test_wrong_decoders_get_the_kinds_that_plain_python_finds(name, library):
    loop = GridLoop(ABIS[name], addresses(library, WRONG[name]), expected_of(name), RFC3629.layout)
    call = called(library, name, WRONG[name])
    seen = set()
    ranges = [(grid, 0, grid.size) for grid in plan_named("exhaustive-2").grids]
    ranges += [rest for _, *rest in samples(plan_named("placed-40").grids, 3000)]
    for grid, first, count in ranges:
        found = asked(loop, grid, first, count)
        assert found == judged(name, call, grid, first, count)
        seen.update(found[1])
    kinds = {0, codes.ACCEPTED_ILL_FORMED, codes.REFUSED_WELL_FORMED}
    if name != PLAIN:
        kinds.add(codes.BROKEN)
    if ABIS[name].units:
        kinds.add(codes.OTHER_OUTPUT)
    assert seen >= kinds
    assert (codes.OTHER_OFFSET in seen) == name.startswith(("errpos", "utf16-result", "iterate"))


def _odd(grid, first, count, terminated):
    """True for strings with an odd digest of the string, of the memory around it, and of the earlier calls."""
    found, answers = 0, []
    around, behind = bytes([grid.around]) * 64, bytes([0 if terminated else grid.around]) * 64
    for index in range(first, first + count):
        for octets in (grid.asked_before(index), grid.string(index)):
            if octets is not None:
                octets = octets.partition(b"\0")[0] if terminated else octets  # noqa: PLW2901
                for octet in around + octets + behind:
                    found = (found ^ octet) * 1099511628211 % (1 << 64)
        answers.append(found >> 40 & 1)
    return answers


@pytest.mark.parametrize("plan", ["exhaustive-4", "placed-64", "depth-1", "lengths-40", "pairs", "order"])
def test_exactly_the_strings_of_the_grid_are_asked_and_memory_around_them_is_as_said(plan, library):
    loop = GridLoop(ABIS[PLAIN], addresses(library, "odd"), expected_of(PLAIN), RFC3629.layout)
    forget = ctypes.CDLL(library).forget
    far = 0
    for _, grid, first, count in samples(plan_named(plan).grids, 4000):
        forget()
        (_, octets, well_formed, accepted, _), kinds = asked(loop, grid, first, count)
        strings = [grid.string(index) for index in range(first, first + count)]
        right = [told(octets)[1] is None for octets in strings]
        assert [fine ^ (kind != 0) for fine, kind in zip(right, kinds, strict=True)] == _odd(grid, first, count, False)
        assert (octets, well_formed) == (sum(map(len, strings)), sum(right))
        assert accepted == sum(fine ^ (kind != 0) for fine, kind in zip(right, kinds, strict=True))
        far = max(far, count)
    assert far > 20


def test_an_octet_00_ends_a_string_and_what_follows_has_no_say(library):
    name = "bool(string)"
    expected = expected_of(name, nul="ends the string")
    right = GridLoop(ABIS[name], addresses(library, "string_bool"), expected, RFC3629.layout)
    odd = GridLoop(ABIS[name], addresses(library, "odd_string"), expected, RFC3629.layout)
    for grid in plan_named("exhaustive-2").grids:
        sums, kinds = asked(right, grid)
        assert not any(kinds)
        assert sums[2] == account(grid, expected.automaton).well_formed
    forget = ctypes.CDLL(library).forget
    for _, grid, first, count in samples(plan_named("placed-9").grids, 3000):
        forget()
        _, kinds = asked(odd, grid, first, count)
        right_ones = [told(grid.string(index).partition(b"\0")[0])[1] is None for index in range(first, first + count)]
        found = [fine ^ (kind != 0) for fine, kind in zip(right_ones, kinds, strict=True)]
        assert found == _odd(grid, first, count, True)


@pytest.mark.parametrize(("strips", "nul"), [(False, ""), (True, ""), (False, "refused"), (True, "refused")])
def test_where_a_string_is_refused_that_a_trait_touches_has_no_say(library, strips, nul):
    name = "errpos(ptr,len)"
    expected = expected_of(name, strips, nul)
    ends = (b"\xff", b"a\xc3a", b"\0\xc3", b"\xff\0", b"\xef\xbb")  # no signature, whatever follows
    grid = Grid(((b"", b"\xef\xbb\xbf", b"\0"), ends), around=0xBF)
    _, kinds = asked(GridLoop(ABIS[name], addresses(library, "nowhere"), expected, RFC3629.layout), grid)
    for kind, octets in zip(kinds, map(grid.string, range(grid.size)), strict=True):
        apart = (strips and octets.startswith("\ufeff".encode())) or (nul and 0 in octets)
        is_there = told(octets)[1] == len(octets) - 1
        assert kind == (0 if apart or is_there else codes.OTHER_OFFSET)


def test_a_signature_may_be_stripped_if_that_is_declared_and_long_output_is_compared_to_its_end(library):
    name = "utf16-result(ptr,len,out)"
    grid = Grid(
        (
            (b"", b"\xef\xbb\xbf", b"\xef\xbb"),
            (b"a", b"\xc3\xa9" * 3, b"\xbf"),
            (b"A", b""),
        )
    )
    for strips in (True, False):
        loop = GridLoop(ABIS[name], addresses(library, "strips"), expected_of(name, strips), RFC3629.layout)
        _, kinds = asked(loop, grid)
        marked = [grid.string(index).startswith("\ufeff".encode()) for index in range(grid.size)]
        fine = [told(grid.string(index))[1] is None for index in range(grid.size)]
        wanted = [
            codes.OTHER_OUTPUT * (mark and right and not strips) for mark, right in zip(marked, fine, strict=True)
        ]
        assert list(kinds) == wanted
    loop = GridLoop(ABIS[name], addresses(library, "wrong_at_the_end"), expected_of(name), RFC3629.layout)
    grid = Grid((tuple(b"b" * length for length in range(50)), (b"", b"A")))
    _, kinds = asked(loop, grid)
    assert list(kinds) == [0, codes.OTHER_OUTPUT] * 50


def decoded(octets, spoken):
    """The numbers of a string of any dialect; None if it is ill-formed."""
    automaton, begun, numbers = spoken.automaton, 0, []
    for place, state in enumerate(automaton.walk(octets), 1):
        if automaton.accepting[state]:
            numbers.append(spoken.layout.number(octets[begun:place]))
            begun = place
    return numbers if begun == len(octets) else None


@pytest.mark.parametrize(
    ("speaks", "name"),
    [
        ("wtf-8", "icu(out,cap,outlen,ptr,len,status)"),
        ("rfc2279", "iterate(ptr,len,point)"),
        ("lax", "stream-utf8(state,ptr,len,out,cap)"),
    ],
)
def test_a_right_decoder_of_another_dialect_agrees(speaks, name):
    spoken, abi, size_t = dialect(speaks), ABIS[name], ctypes.c_ssize_t

    def icu(out, room, needed, octets, length, status):
        numbers = decoded(ctypes.string_at(octets, length), spoken)
        if numbers is None:
            ctypes.c_int32.from_address(status).value = 10
            return 0
        text = b"".join(chr(number).encode(CODEC["utf-16"], "surrogatepass") for number in numbers)
        ctypes.memmove(out, text, len(text))
        ctypes.c_int32.from_address(needed).value = len(text) // 2
        return out

    def iterate(octets, length, point):
        rest = ctypes.string_at(octets, length)
        for end in range(1, length + 1):
            numbers = decoded(rest[:end], spoken)
            if numbers:
                ctypes.c_int32.from_address(point).value = numbers[0]
                return end
        return -1

    def feed(_state, octets, length, out, _room):
        numbers = decoded(ctypes.string_at(octets, length), spoken)
        if numbers is None:
            return -1
        text = b"".join(spoken.layout.encode(number) or b"" for number in numbers)
        ctypes.memmove(out, text, len(text))
        return len(text)

    kept = {
        "icu": [ctypes.CFUNCTYPE(size_t, size_t, ctypes.c_int32, size_t, size_t, ctypes.c_int32, size_t)(icu)],
        "ite": [ctypes.CFUNCTYPE(*[size_t] * 4)(iterate)],
        "str": [
            ctypes.CFUNCTYPE(size_t)(lambda: 1),
            ctypes.CFUNCTYPE(*[size_t] * 6)(feed),
            ctypes.CFUNCTYPE(*[size_t] * 4)(lambda _state, _out, _room: 0),
            ctypes.CFUNCTYPE(None, size_t)(lambda _state: None),
        ],
    }[name[:3]]
    characters = {spoken.layout.encode(row.numbers[place]) or b"" for row in spoken.layout.rows for place in (0, 1, -1)}
    pieces = tuple(sorted({character[:end] for character in characters for end in range(7)}))
    grid = Grid((pieces, pieces))
    wanted = ExpectedAnswers(spoken.automaton, "D", abi.units, True, False)
    loop = GridLoop(abi, [ctypes.cast(each, ctypes.c_void_p).value or 0 for each in kept], wanted, spoken.layout)
    (_, _, well_formed, accepted, _), kinds = asked(loop, grid)
    assert not any(kinds)
    assert accepted == well_formed == account(grid, spoken.automaton).well_formed > 20


@settings(max_examples=25, deadline=None)
@given(st.lists(st.integers(0, 300_000) | st.sampled_from((1, 65_535, 65_536, 65_537, 131_072)), max_size=6))
def test_parts_add_up_to_the_whole_wherever_they_meet(library, cuts):
    grid = plan_named("exhaustive-3").grids[2]
    loop, whole = _wrong_loop(library), _whole(library)
    memory = Memory(FIRST, COUNT)
    for until in (*sorted(cuts), COUNT):
        loop.run(grid, FIRST + until, memory.progress, memory.kinds, FIRST)
        assert memory.progress.reached == FIRST + until
    assert (memory.sums(), memory.kinds[:COUNT]) == whole
    with pytest.raises(ValueError, match=f"of {grid.size}"):
        loop.run(grid, grid.size + 1, memory.progress, memory.kinds, FIRST)


FIRST, COUNT = 0xE1_7F_33, 300_000


@functools.cache
def _wrong_loop(library):
    return GridLoop(ABIS[PLAIN], addresses(library, WRONG[PLAIN]), expected_of(PLAIN), RFC3629.layout)


@functools.cache
def _whole(library):
    return asked(_wrong_loop(library), plan_named("exhaustive-3").grids[2], FIRST, COUNT)


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_after_a_crash_the_sums_are_those_of_one_run(library):
    grid = plan_named("exhaustive-3").grids[2]
    loop = GridLoop(ABIS[PLAIN], addresses(library, "dies"), expected_of(PLAIN), RFC3629.layout)
    right = GridLoop(ABIS[PLAIN], addresses(library, "is_bool"), expected_of(PLAIN), RFC3629.layout)
    deadly = (ctypes.c_uint8 * 3).in_dll(ctypes.CDLL(library), "deadly")
    first, count = 0xE2_00_00, 150_000

    def in_a_child(memory, until):
        child = os.fork()
        if not child:
            with suppress(BaseException):
                faulthandler.disable()
                loop.run(grid, until, memory.progress, memory.kinds, first)
                os._exit(0)
            os._exit(1)  # and not on through the other tests
        return os.waitpid(child, 0)[1] == 0

    for culprit in (first, first + 70_003, first + count - 1):
        deadly[:] = list(grid.string(culprit))
        memory = Memory(first, count)
        assert not in_a_child(memory, first + count)
        assert memory.progress.index == culprit
        assert first <= memory.progress.reached <= culprit < memory.progress.reached + FLUSH
        assert in_a_child(memory, culprit)
        assert memory.progress.reached == culprit
        octets = grid.string(culprit)
        memory.progress.passed(len(octets), well_formed=told(octets)[1] is None)
        assert in_a_child(memory, first + count)
        (strings, octets, well_formed, accepted, checksum), kinds = asked(right, grid, first, count)
        fine = told(grid.string(culprit))[1] is None
        checksum -= (codes.answer_code("A" if fine else "R", 0 if fine else NOT_SAID) + 1) * (culprit * codes.ODD | 1)
        assert memory.sums() == (strings, octets, well_formed, accepted - fine, checksum % (1 << 64))
        assert memory.kinds[:count] == kinds


@pytest.mark.parametrize("nul", ["", "refused", "ends the string"])
@pytest.mark.parametrize(
    "speaks",
    [
        "rfc3629", "utf-8-sig", "rfc2279", "cesu-8", "mutf-8", "mutf-8-lax", "wtf-8", "lax-surrogates", "lax-overlongs",
        "lax-1fffff", "lax", "lax-rfc2279",
    ],
)  # fmt: skip
def test_the_shift_automaton_is_the_automaton_of_every_dialect(speaks, nul):
    own = codes._with_nul(dialect(speaks).automaton, nul)
    shifts = ShiftAutomaton(own)
    assert bool(shifts.words[3]) == (not nul and own.table[0][0] == 0)
    found = ctypes.c_int64()
    for word, before, more in itertools.product((*complete_strings(own)[::3], b"\0"), (0, 7, 8, 16), (0, 9)):
        octets = b"a" * before + word + b"a" * more
        text = ctypes.create_string_buffer(octets, len(octets) + 8)
        bounds = (ctypes.c_uint64 * 2)(0, len(octets))
        places = ctypes.addressof(text), ctypes.addressof(bounds), ctypes.addressof(found)
        core()("read_choices", shifts.address, *places, 1, 1)
        states = itertools.accumulate(octets, lambda state, octet: own.table[state][octet], initial=0)
        last = max(place for place, state in enumerate(states) if own.accepting[state])
        assert found.value == last << 1 | (last == len(octets))
