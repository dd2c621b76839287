"""Vector files for vendoring: the tests compile and run them as docs/vendoring.md says, with and without a fault."""

import hashlib
import json
import os
import re
import shutil
import struct
import subprocess
import sys
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

import pytest

from overlong.conformance.oracle.compare import compare
from overlong.conformance.protocol.greeting import Greeting
from overlong.conformance.protocol.observation import Unsupported
from overlong.conformance.protocol.wire import ECHO_PROBE, HEAD, STREAMING, UNITS, Answers
from overlong.conformance.targets.builtins import BUILTINS
from overlong.conformance.vectors.export import FORMATS as EXPORTED
from overlong.conformance.vectors.export import FolderSink, Selection
from overlong.conformance.vectors.formats import text
from overlong.conformance.vectors.suites import SUITES
from overlong.conformance.vectors.vector import Vector
from overlong.reference import decode, dialect, is_well_formed
from overlong.reference.automaton import access_words

pytestmark = pytest.mark.long

DOCS = Path(__file__).parents[3] / "docs"
PAGE = (DOCS / "vendoring.md").read_text(encoding="utf-8")
PROGRAMS = {
    path.name: path.read_text(encoding="utf-8")
    for path in (DOCS / "examples").iterdir()
    if f"(examples/{path.name})" in PAGE
}
FORMATS = {
    name: EXPORTED[name]
    for name in ("c-header", "rust", "go", "javascript", "java", "python", "text", "frames", "libfuzzer")
}
WARNINGS = ["-pedantic", "-Wall", "-Wextra", "-Werror"]


@dataclass(frozen=True)
class Language:
    """The commands that build and run the page's program, and a change that makes one answer of a vector wrong."""

    format: str
    program: str
    tools: tuple[str, ...]
    build: list[str]
    run: list[str]
    wrong: tuple[tuple[str, str], ...]


_C_WRONG = ((r"(octets \+ \d+, \d+, NULL, 0, )0,", r"\g<1>1,"),)
LANGUAGES = {
    "C": Language(
        "c-header", "test_decoder.c", ("gcc",), ["gcc", "-std=c99", *WARNINGS, "test_decoder.c"], ["./a.out"], _C_WRONG
    ),
    "C++": Language(
        "c-header",
        "test_decoder.c",
        ("g++",),
        ["g++", "-x", "c++", "-std=c++11", *WARNINGS, "test_decoder.c"],
        ["./a.out"],
        _C_WRONG,
    ),
    "Rust": Language(
        "rust",
        "test_decoder.rs",
        ("rustc",),
        ["rustc", "-Dwarnings", "test_decoder.rs"],
        ["./test_decoder"],
        ((r"offset: (\d+)", r"offset: 9\1"), (r"length: (\d+)", r"length: 9\1"), (r"u\{fffd\}", "u{fffc}")),
    ),
    "Go": Language(
        "go",
        "decoder_test.go",
        ("go",),
        [],
        ["go", "test", "-v", "utf8_vectors.go", "decoder_test.go"],
        ((r"Offset: ", "Accept: true, Offset: "),),
    ),
    "JavaScript": Language(
        "javascript",
        "test_decoder.mjs",
        ("node",),
        [],
        ["node", "test_decoder.mjs"],
        (
            (r"accept: false", "accept: true, scalars: []"),
            (r"0xfffd", "0xfffc"),
            (r"putOut: \[(\d+)", r"putOut: [9\1"),
        ),
    ),
    "Java": Language(
        "java",
        "TestDecoder.java",
        ("javac", "java"),
        ["javac", "--release", "11", "-Xlint:all", "-Werror", "Utf8Vectors.java", "TestDecoder.java"],
        ["java", "TestDecoder"],
        ((r"\\treject\\t", r"\\taccept\\t"),),
    ),
    "Python": Language(
        "python",
        "test_decoder.py",
        (),
        [],
        [sys.executable, "-Werror", "test_decoder.py"],
        ((r"accept=False", "accept=True, scalars=()"), (r"65533,", "65532,")),
    ),
}


class Odd(Selection):
    """Text that could break generated source code."""

    def vectors(self):
        yield Vector("odd", b"")
        yield Vector("odd", b"?\x80", r'quotes "\'`, \backslash \u000a \0, ??/ ??=, */ /* //, %s %d ${x} {}, é')
        yield Vector("odd", b"0\xe2\x82\xac1\xf0\x9f\x98\x80", "digits after octets that are written in hexadecimal")
        yield Vector("odd", b"\xc3\xa9\xff" * 5_000, "longer than a constant of Java's")
        yield Vector("odd", b"\xe2\x82\xac\xff", "in chunks", (0, 2, 0, 1, 1, 0))


SELECTIONS = {"odd": Odd(("odd",)), **{name: Selection((name,)) for name in SUITES}}


@pytest.fixture(scope="module")
def exported(tmp_path_factory):
    """A function that returns the folder with a format's files of a suite, written once."""
    made = {}

    def export(name, suite):
        if (name, suite) not in made:
            folder = tmp_path_factory.mktemp("exported")
            sink = FolderSink(folder, FORMATS[name].file)
            FORMATS[name].write(SELECTIONS[suite], sink.open)
            assert len(set(sink.files)) == len(sink.files), "each file is written once"
            made[name, suite] = folder
        return made[name, suite]

    return export


def run(*command, cwd):
    environment = {**os.environ, "GOTOOLCHAIN": "local", "GO111MODULE": "off", "GOFLAGS": ""}
    return subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, check=False)


def needs(*tools):
    for tool in tools:
        if shutil.which(tool) is None:
            pytest.skip(f"no {tool} here")


def outcome(language, folder, lines):
    """The output of the page's program about a file of vectors."""
    needs(*language.tools)
    (folder / FORMATS[language.format].file).write_bytes(lines)
    (folder / language.program).write_text(PROGRAMS[language.program], encoding="utf-8")
    if language.build:
        built = run(*language.build, cwd=folder)
        assert built.returncode == 0, built.stderr[:2000]
        assert not built.stderr
    return run(*language.run, cwd=folder)


def file_of(exported, language, suite):
    return (exported(language.format, suite) / FORMATS[language.format].file).read_bytes()


@pytest.mark.parametrize(
    ("name", "suite"), [*((name, "odd") for name in LANGUAGES), *((name, "complete-0") for name in ("C", "JavaScript"))]
)
def test_a_real_decoder_passes(name, suite, exported, tmp_path):
    """The test below asks the core suite of each; compilers take half a minute for all strings of a complete one."""
    result = outcome(LANGUAGES[name], tmp_path, file_of(exported, LANGUAGES[name], suite))
    assert result.returncode == 0, result.stdout[-2000:] + result.stderr[-2000:]
    count = sum(1 for _ in SELECTIONS[suite].vectors())
    assert re.search(rf"\b{count} vectors", result.stdout), result.stdout


def test_a_real_decoder_of_streams_passes(exported, tmp_path):
    language = LANGUAGES["JavaScript"]
    result = outcome(language, tmp_path, file_of(exported, language, "streams"))
    assert f"{SUITES['streams'].size} vectors, 0 wrong" in result.stdout, result.stdout[-2000:]


@pytest.mark.parametrize("name", LANGUAGES)
def test_wrong_answers_in_the_file_are_noticed_and_no_others(name, exported, tmp_path):
    """One vector for each change: a real decoder passes all others of the suite."""
    language = LANGUAGES[name]
    ill_formed = (vector.id for vector in SELECTIONS["core"].vectors() if not is_well_formed(vector.octets))
    lines = file_of(exported, language, "core").decode().splitlines(keepends=True)
    victims = []
    for (pattern, replacement), victim in zip(language.wrong, ill_formed, strict=False):
        (place,) = [place for place, line in enumerate(lines) if re.search(rf'"{re.escape(victim)}["\\]', line)]
        tampered = re.sub(pattern, replacement, lines[place], count=1)
        assert tampered != lines[place]
        lines[place] = tampered
        victims.append(victim)
    assert len(victims) == len(language.wrong)
    result = outcome(language, tmp_path, "".join(lines).encode())
    assert result.returncode not in (0, 2), result.stdout + result.stderr
    assert re.findall(r"wrong: (\S+)", result.stdout) == victims


@pytest.mark.parametrize("command", [["gcc", "-std=c99", "-Wunused-const-variable=2"], ["g++", "-x", "c++"]])
def test_a_header_that_nobody_uses_is_no_warning(command, exported, tmp_path):
    needs(command[0])
    header = exported("c-header", "core") / "utf8_vectors.h"
    (tmp_path / "twice.c").write_text(f'#include "{header}"\n' * 2, encoding="utf-8")
    result = run(*command, *WARNINGS, "-c", "twice.c", cwd=tmp_path)
    assert (result.returncode, result.stderr) == (0, "")


def test_a_rust_file_that_is_included_and_not_used_is_no_warning(exported, tmp_path):
    needs("rustc")
    file = exported("rust", "core") / "utf8_vectors.rs"
    (tmp_path / "lib.rs").write_text(f'#![deny(warnings)]\nmod v {{ include!("{file}"); }}\n', encoding="utf-8")
    result = run("rustc", "--crate-type", "lib", "lib.rs", cwd=tmp_path)
    assert (result.returncode, result.stderr) == (0, "")


@pytest.mark.parametrize("suite", ["complete-0", "odd"])
def test_a_go_file_is_as_go_wants_it(suite, exported):
    needs("go", "gofmt")
    folder = exported("go", suite)
    formatted = run("gofmt", "-l", "utf8_vectors.go", cwd=folder)
    assert (formatted.returncode, formatted.stdout, formatted.stderr) == (0, "", "")
    vetted = run("go", "vet", "utf8_vectors.go", cwd=folder)
    assert (vetted.returncode, vetted.stderr) == (0, "")
    first = (folder / "utf8_vectors.go").read_text(encoding="ascii").splitlines()[0]
    assert re.fullmatch(r"// Code generated .* DO NOT EDIT\.", first)


def test_the_program_of_go_is_as_gofmt_wants_it(tmp_path):
    needs("gofmt")
    (tmp_path / "decoder_test.go").write_text(PROGRAMS["decoder_test.go"], encoding="utf-8")
    assert run("gofmt", "-l", "decoder_test.go", cwd=tmp_path).stdout == ""


@pytest.mark.parametrize("name", FORMATS)
def test_the_same_octets_again_and_ascii(name, exported, tmp_path):
    FORMATS[name].write(SELECTIONS["core"], FolderSink(tmp_path, FORMATS[name].file).open)
    first = exported(name, "core")
    files = {path.relative_to(tmp_path) for path in tmp_path.rglob("*") if path.is_file()}
    assert files == {path.relative_to(first) for path in first.rglob("*") if path.is_file()}
    assert FORMATS[name].several == (len(files) > 1)
    for path in files:
        octets = (tmp_path / path).read_bytes()
        assert octets == (first / path).read_bytes()
        assert octets.isascii() or path.suffix in (".bin", ".frames") or path.parent.name == "seeds"
    if name not in ("frames", "libfuzzer", "text"):
        assert b"CC0-1.0" in (tmp_path / FORMATS[name].file).read_bytes()[:500]


def test_a_glob_cannot_leave_the_heading():
    for line in text.heading(Selection(("core",), ids=("*/ ??/", "\\u000a", "a\nb\x85c\u2028d", "é\\"))):
        assert re.fullmatch(r"// [ -~]+", line)
        assert "\\" not in line


def test_the_page_names_formats_and_files():
    commands = re.findall(r"overlong vectors export --format (\S+) --suite core -o ([\w./]+)", PAGE)
    assert {name for name, _ in commands} | {name for name in FORMATS if f"`{name}`" in PAGE} == set(FORMATS)
    for name, file in commands:
        assert file.endswith("/") if FORMATS[name].several else file == FORMATS[name].file


def test_the_page_counts_the_complete_suite():
    assert f"the {SUITES['complete-0'].size:,} vectors".replace(",", " ") in PAGE


def listed(path):
    """The fields of each vector in a list for people; the lines of a field are joined as the list describes."""
    blocks = path.read_text(encoding="ascii").split("\n\n")
    for block in blocks:
        if block.startswith("id  "):
            fields = {}
            for name, lines in groupby_label(block.splitlines()):
                fields[name] = ("" if name == "id" else " ").join(lines)
            yield fields


def groupby_label(lines):
    labels: list[str] = []
    for line in lines:
        labels.append(line[:10].strip() or labels[-1])
    for name, group in groupby(zip(labels, lines, strict=True), key=lambda pair: pair[0]):
        yield name, [line[10:] for _, line in group]


@pytest.mark.parametrize("suite", ["core", "complete-0", "odd"])
def test_the_list_for_people_finds_the_octets(suite, exported):
    folder = exported("text", suite)
    list_, raw = folder / "utf8_vectors.txt", (folder / "utf8_vectors.bin").read_bytes()
    assert max(map(len, list_.read_text(encoding="ascii").splitlines())) <= text.WIDTH
    expected, place = b"", 0
    for vector, fields in zip(SELECTIONS[suite].vectors(), listed(list_), strict=True):
        offset, length = map(int, fields["in .bin"].split())
        assert fields["id"] == vector.id
        assert raw[offset : offset + length] == bytes.fromhex(fields.get("octets", "")) == vector.octets
        assert raw[offset - 1 : offset] == raw[offset + length : offset + length + 1] == b'"'
        assert fields["expected"].startswith("accept" if is_well_formed(vector.octets) else "reject")
        assert tuple(int(scalar, 16) for scalar in fields.get("output", "").split()) == vector.replaced.scalars
        assert fields.get("chunks", "") == " ".join(map(str, vector.chunks or ()))
        expected += raw[place:offset] + "".join(map(chr, vector.replaced.scalars)).encode("utf-8")
        place = offset + length
    shown = (expected + raw[place:]).decode("utf-8")
    assert decode(raw, "replacement") == shown
    assert shown.endswith("\nEND\n")


def test_the_ruler(exported):
    raw = (exported("text", "core") / "utf8_vectors.bin").read_bytes()
    lines = decode(raw, "replacement").split("\n")
    ruled = [line for line in lines if re.fullmatch(r'"[\ufffd -~]*" +\|', line)]
    assert len(ruled) > 100
    assert {len(line) for line in ruled} == {text.WIDTH}


def frames_of(octets):
    """Each frame's id and payload."""
    place = 0
    while place < len(octets):
        length, number = HEAD.unpack_from(octets, place)
        yield number, octets[place + 8 : place + 4 + length]
        place += 4 + length
    assert place == len(octets)


@pytest.mark.parametrize(
    ("target", "suite", "offered"),
    [("cpython", "core", "DL"), ("cpython-incremental", "mixtures-in-chunks", "ST")],
)
def test_frames_through_an_adapter(target, suite, offered, exported):
    """The test pipes a file into the adapter, and reads the answers after the adapter has ended."""
    octets = (exported("frames", suite) / "vectors.frames").read_bytes()
    result = subprocess.run(BUILTINS[target].command(), input=octets, capture_output=True, check=True)
    line, _, answers = result.stdout.partition(b"\n")
    units = Greeting.parse(line).units
    pairs = zip(frames_of(octets), frames_of(answers), strict=True)
    (_, first), (_, echoed) = next(pairs)
    assert first.startswith(b"P" + ECHO_PROBE)
    assert json.loads(first[1 + len(ECHO_PROBE) :])["suites"] == [suite]
    assert echoed == b"A" + first[1:]
    number = 0
    for vector in SELECTIONS[suite].vectors():
        for operation in "VDL" if vector.chunks is None else "ST":
            number += 1
            (asked, request), (answered, response) = next(pairs)
            assert asked == answered == number
            assert request.startswith(operation.encode())
            assert request.endswith(vector.octets)
            chunks = len(vector.chunks or ()) if operation in STREAMING else None
            if chunks is not None:
                assert struct.unpack(f">H{chunks}I", request[1 : 3 + 4 * chunks]) == (chunks, *(vector.chunks or ()))
            marked = target.startswith("cpython-incremental")
            answers = Answers.from_single(response[:1], response[1:], chunks, units.size, marked=marked)
            (observed,) = answers.observations(UNITS[units.name], verdict_only=False)
            assert isinstance(observed, Unsupported) == (operation not in offered)
            assert compare(vector, operation, observed) is None, vector.id
    digest = hashlib.sha256(octets[: -(9 + 32)]).digest()
    assert next(pairs) == ((number + 1, b"P" + digest), (number + 1, b"A" + digest))
    assert next(pairs, None) is None


@pytest.mark.parametrize("suite", ["core", "streams"])
def test_seeds_are_the_inputs_each_once(suite, exported):
    seeds = {path.name: path.read_bytes() for path in (exported("libfuzzer", suite) / "seeds").iterdir()}
    assert set(seeds.values()) == {vector.octets for vector in SELECTIONS[suite].vectors()}
    for name, octets in seeds.items():
        assert name == hashlib.sha1(octets).hexdigest()


def dictionary_entry(line):
    """An entry as read by libFuzzer's ParseOneDictionaryEntry, and by AFL; None if they refuse it."""
    match = re.fullmatch(r'(\w+)="(.+)"', line, re.ASCII)
    if match is None or not re.fullmatch(r'(?:[^"\\]|\\["\\]|\\x[0-9A-Fa-f]{2})+', match[2]):
        return None
    return match[1], re.sub(
        rb'\\(?:x(..)|(["\\]))',
        lambda escape: bytes.fromhex(escape[1].decode()) if escape[1] else escape[2],
        match[2].encode("ascii"),
    )


def test_the_dictionary(exported):
    lines = (exported("libfuzzer", "core") / "utf8.dict").read_text(encoding="ascii").splitlines()
    entries = [dictionary_entry(line) for line in lines if not line.startswith("#")]
    assert None not in entries
    names, words = zip(*entries, strict=True)
    assert len(set(names)) == len(names)
    assert len(set(words)) == len(words)
    assert max(map(len, words)) <= 64, "libFuzzer's longest word"
    assert all(re.fullmatch(r'\w+="(\\x[0-9a-f]{2})+"', line) for line in lines if not line.startswith("#"))
    automaton = dialect().automaton
    ends = [bytes([octet]) for each in automaton.classes for octet in (each.least, each.octets[-1])]
    ranges = [position.octets for opened in automaton.open for position in opened]
    ends += [bytes([octet]) for each in ranges for octet in (each.low, each.high)]
    assert set(words) >= {word for word in access_words(automaton) if word} | set(ends)
    for name, word in entries:
        if re.match("overlong|surrogate|out_of_range|truncated", name):
            assert not is_well_formed(word)
        if re.match("row|signature|noncharacter|replacement_character", name):
            assert is_well_formed(word)
    assert dict(zip(words, names, strict=True)) == text.tokens()
