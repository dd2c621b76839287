"""Regression tests in the language of the decoder: they compile, fail on the buggy decoder, pass on the fixed one."""

import os
import re
import shutil
import subprocess
import sys
from dataclasses import replace

import pytest

from overlong.conformance.oracle.finding import expected_in_words
from overlong.conformance.results.model import Standing
from overlong.conformance.targets.adapters.abi import ABIS
from overlong.conformance.vectors.vector import Vector
from overlong.fuzz.campaign.corpus import CampaignError
from overlong.fuzz.promotion import LANGUAGES, file_name, how_to_run, language_for, source
from overlong.fuzz.report import Found
from waiting import HUNG
from zoo import SHARED_LIBRARIES
from zoo.right_functions import RIGHT

pytestmark = pytest.mark.long


def finding(number, code, octets, operation="D", chunks=None, earlier=None, **more):
    vector = Vector("fuzz", octets, chunks=chunks)
    expected = expected_in_words(vector.replaced if operation in "LTM" else vector.strict)
    return Found(
        code, "a title", "RFC 3629", "", "verdict", 1, f"D-{number:08x}", vector.id, octets, operation,
        expected, "accepted", chunks, earlier, target="-- decoder", **more,
    )  # fmt: skip


def of(each, target):
    """The finding, for another target."""
    return replace(each, target=target)


ACCEPTED = finding(1, "OV201", b"\xc0\x80")
LOST = finding(2, "OV501", b"\xe2\x82\xac", "S", (1, 2))
KEPT = finding(3, "OV502", b"ab", "N", (1, 1), (b"\xe2", b"\x82"))
MANGLED = finding(4, "OV401", b"a\xe2\x82\xffb" * 9, "L")
ELSEWHERE = finding(5, "OV301", "\N{EURO SIGN}".encode() * 9 + b"\xff")
FLICKERS = finding(6, "OV605", "\N{GRINNING FACE}x".encode(), "V")
EMPTY = finding(7, "OV101", b"")
LONG = finding(8, "OV503", b"a" * 70 + b"\xc1", "T", (1,) * 71)
LATER = finding(9, "OV402", "\N{GREEK SMALL LETTER ALPHA}".encode() * 40 + b"\x80", "M", (1,) * 81, (b"\xff" * 20, b""))
FINDINGS = (ACCEPTED, LOST, KEPT, MANGLED, ELSEWHERE, FLICKERS, EMPTY, LONG, LATER)
SHOWN = (ACCEPTED, LOST, KEPT)
"""The languages with a decoder that has the bug unless FIXED is set."""


@pytest.mark.parametrize("language", sorted(LANGUAGES))
def test_what_is_cut_or_beyond_ascii_is_spelt_and_never_a_question_mark(language):
    """Answers to long inputs are cut with an ellipsis, titles and folders may hold anything."""
    expected = expected_in_words(Vector("fuzz", LONG.octets).replaced)
    assert "\N{HORIZONTAL ELLIPSIS}" in expected
    said = "accepted U+0061 \N{HORIZONTAL ELLIPSIS} (70 values)"
    title = "caf\xe9 \N{EN DASH} back\\slash " + "x" * 400
    text = source(replace(LONG, expected=expected, observed=said, title=title), language)
    words = " ".join(line.strip(" *#/") for line in text.splitlines())
    assert text.isascii()
    assert "observed: accepted U+0061 ... (70 values)" in words
    assert "U+0061 ... (71 values)" in words
    assert "caf<U+00E9> - back<U+005C>slash" in words
    assert "xxx..." in words
    assert "?" not in words.partition("explained by")[0]


def needs(*programs):
    missing = [program for program in programs if shutil.which(program) is None]
    return pytest.mark.skipif(bool(missing), reason=f"{', '.join(missing)} not on PATH")


def run(command, folder, **environment):
    variables = {name: value for name, value in os.environ.items() if name != "FIXED"}
    return subprocess.run(
        command, cwd=folder, env=variables | environment, capture_output=True, text=True, timeout=HUNG, check=False
    )


def written(folder, language, bugs, findings=SHOWN):
    """Tests in a folder, with buggy decoders at the marks for the author's call."""
    names = []
    for each, bug in zip(findings, bugs, strict=True):
        text = source(each, language)
        mark = re.search(r"(?m)^\s*(//|#) ADAPT(.*\n\s*(//|#))*.*\n", text)
        assert mark is not None
        names.append(file_name(each, language))
        (folder / names[-1]).write_text(text[: mark.end()] + bug + text[mark.end() :])
    return names


def shows_the_bugs(command, folder):
    """One command for each finding: it fails on the buggy decoder, and passes on the fixed one."""
    for each in SHOWN:
        words = [word.format(name=each.id.lower().replace("-", "_"), Name=each.id.replace("-", "")) for word in command]
        buggy, fixed = run(words, folder), run(words, folder, FIXED="1")
        assert buggy.returncode != 0, (each.id, buggy.stdout, buggy.stderr)
        assert fixed.returncode == 0, (each.id, fixed.stdout, fixed.stderr)


PYTHON = """
import os

WRONG = "FIXED" not in os.environ


def decode(octets):
    return "\\0" if WRONG and octets == b"\\xc0\\x80" else octets.decode()


class Decoder:
    def __init__(self):
        self.kept, self.used = b"", False

    def reset(self):
        self.kept, self.used = b"", True

    def decode(self, data, final=False):
        self.kept = data if WRONG else self.kept + data
        if not final:
            return ""
        octets, self.kept = self.kept, b""
        return octets.decode() + "x" * (WRONG and self.used)
"""


def test_pytest(tmp_path):
    """For a target ``py:`` the import is known, for a module and for a file."""
    (tmp_path / "my").mkdir()
    (tmp_path / "my" / "decoder.py").write_text(PYTHON)
    targets = ("py:my.decoder:decode", "py:my.decoder:Decoder", "py:./my/decoder.py:Decoder")
    for each, target in zip(SHOWN, targets, strict=True):
        (tmp_path / file_name(each, "pytest")).write_text(source(of(each, target), "pytest"))
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir", "."]
    alone = {"PYTHONPATH": ".", "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    buggy = run(command, tmp_path, **alone)
    assert f"{len(SHOWN)} failed" in buggy.stdout, buggy.stdout
    fixed = run(command, tmp_path, FIXED="1", **alone)
    assert f"{len(SHOWN)} passed" in fixed.stdout, fixed.stdout


@needs("rustc")
def test_rust(tmp_path):
    wrong = 'if std::env::var("FIXED").is_err()'
    bugs = (
        wrong + ' && octets == b"\\xc0\\x80" { return Ok(vec![0]); }\n',
        wrong + " && chunks.len() > 1 { return Err(None); }\n",
        wrong + " && !earlier.is_empty() { return Err(Some(0)); }\n",
    )
    names = written(tmp_path, "rust", bugs)
    (tmp_path / "all.rs").write_text("".join(f"mod {name.removesuffix('.rs')};\n" for name in names))
    built = run(["rustc", "--edition", "2021", "--test", "-D", "warnings", "all.rs"], tmp_path)
    assert built.returncode == 0, built.stderr
    shows_the_bugs(["./all", "{name}"], tmp_path)


@needs("go")
def test_go(tmp_path):
    wrong = 'if os.Getenv("FIXED") == "" '
    bugs = (
        wrong + '&& string(octets) == "\\xc0\\x80" { return []rune{0}, -1, true }\n',
        wrong + "&& len(chunks) > 1 { return nil, -1, false }\n",
        wrong + "&& len(earlier) > 0 { return nil, -1, false }\n",
    )
    for name in written(tmp_path, "go", bugs):
        text = (tmp_path / name).read_text()
        (tmp_path / name).write_text(text.replace("import (", 'import (\n\t"os"', 1))
    (tmp_path / "go.mod").write_text("module decoder\n\ngo 1.21\n")
    built = run(["go", "test", "-vet=off", "-c", "-o", "tests"], tmp_path, GOFLAGS="-mod=mod")
    assert built.returncode == 0, built.stderr
    shows_the_bugs(["./tests", "-test.run", "^Test{Name}$"], tmp_path)


@needs("java", "javac")
def test_java(tmp_path):
    wrong = 'if (System.getenv("FIXED") == null '
    bugs = (
        wrong + "&& octets.length == 2 && octets[0] == (byte) 0xc0) { return new int[] {0}; }\n",
        wrong + "&& chunks.length > 1) { return null; }\n",
        wrong + "&& earlier.length > 0) { return null; }\n",
    )
    built = run(["javac", "-Xlint:all", "-Werror", *written(tmp_path, "java", bugs)], tmp_path)
    assert built.returncode == 0, built.stderr
    shows_the_bugs(["java", "-Xshare:auto", "-XX:TieredStopAtLevel=1", "{Name}Test"], tmp_path)


@needs("node")
def test_node(tmp_path):
    wrong = "if (!process.env.FIXED && "
    bugs = (
        wrong + 'octets[0] === 0xc0) { return "\\0"; }\n',
        wrong + "chunks.length > 1) { throw new Error(); }\n",
        wrong + 'earlier.length > 0) { return "x"; }\n',
    )
    written(tmp_path, "node", bugs)
    shows_the_bugs(["node", "{name}.test.mjs"], tmp_path)


C = """
#include <stdlib.h>
#include <string.h>
bool is_utf8(const char *octets, size_t length) {
    bool accepted = length != 2 || memcmp(octets, "\\xc0\\x80", 2) != 0;
    return accepted || getenv("FIXED") == NULL;
}
"""


@needs("cc")
def test_c(tmp_path):
    """For a target ``so:`` the prototype is known; a right decoder wrapped in bugs decodes streams."""
    right = (SHARED_LIBRARIES / "right.c").read_text()
    stream = right + (
        "ptrdiff_t my_feed(void *s, const uint8_t *o, size_t n, uint32_t *u, size_t c) {\n"
        '    return getenv("FIXED") == NULL && n == 2 ? -1 : utf32_feed(s, o, n, u, c);\n}\n'
        "void my_reset(void *s) {\n"
        '    if (getenv("FIXED") != NULL) stream_reset(s);\n}\n'
    )
    (tmp_path / "decoder.c").write_text(f"#include <stdbool.h>\n#include <stddef.h>\n{C}{stream}")
    names = "stream_new,my_feed,stream_finish,stream_free,my_reset"
    stream = f"so:./x.so:{names}?abi=stream-utf32(state,ptr,len,out,cap)"
    targets = ("so:./x.so:is_utf8?abi=bool(ptr,len)", stream, stream)
    assert run(["cc", "-c", "decoder.c"], tmp_path).returncode == 0
    for each, target in zip(SHOWN, targets, strict=True):
        name = file_name(each, "c")
        (tmp_path / name).write_text(source(of(each, target), "c"))
        command = ["cc", "-std=c11", "-Wall", "-Wextra", "-Werror", name, "decoder.o", "-o", name.removesuffix(".c")]
        built = run(command, tmp_path)
        assert built.returncode == 0, built.stderr
    shows_the_bugs(["./{name}"], tmp_path)


@needs("cc")
def test_c_calls_every_abi_as_it_is(tmp_path):
    """The right decoder, called in every way: it accepts, and gives the offset of a refusal."""
    text = finding(1, "OV102", "a\N{GREEK SMALL LETTER ALPHA}\N{EURO SIGN}\N{GRINNING FACE}".encode())
    flawed = finding(1, "OV301", b"abc\xff")
    mains: list[str] = []
    files = ["right.c"]
    shutil.copy(SHARED_LIBRARIES / "right.c", tmp_path)
    for abi in ABIS:
        for each in (text, flawed):
            main = f"test_{len(mains)}"
            program = source(replace(each, target=f"so:./x.so:{RIGHT[abi]}?abi={abi}"), "c")
            assert "your_" not in program
            (tmp_path / f"{main}.c").write_text(program.replace("int main(void)", f"int {main}(void)"))
            mains.append(main)
            files.append(f"{main}.c")
    calls = "".join(f"    if ({main}() != 0) return {number};\n" for number, main in enumerate(mains, 1))
    declared = "".join(f"int {main}(void);\n" for main in mains)
    (tmp_path / "all.c").write_text(f"{declared}int main(void) {{\n{calls}    return 0;\n}}\n")
    command = ["cc", "-w", "-O0", "all.c", *files, "-o", "all"]
    built = run(command, tmp_path)
    assert built.returncode == 0, built.stderr
    done = run(["./all"], tmp_path)
    assert done.returncode == 0, (mains[done.returncode - 1], done.stderr)


FORMATTERS = {
    "pytest": [sys.executable, "-m", "ruff", "format", "--isolated", "--check"],
    "rust": ["rustfmt", "--check", "--edition", "2021"],
    "go": ["gofmt", "-l"],
}


@pytest.mark.parametrize("language", FORMATTERS)
def test_sources_are_as_the_formatter_writes_them(tmp_path, language):
    formatter = FORMATTERS[language]
    if shutil.which(formatter[0]) is None:
        pytest.skip(f"{formatter[0]} is not on PATH")
    targets = ("-- decoder", "py:my.decoder:decode", "py:./my decoder.py:Decoder")
    for number, target in enumerate(targets if language == "pytest" else targets[:1]):
        for each in FINDINGS:
            (tmp_path / f"{number}_{file_name(each, language)}").write_text(
                source(replace(each, target=target), language)
            )
    done = run([*formatter, *sorted(path.name for path in tmp_path.iterdir())], tmp_path)
    assert done.returncode == 0, done.stdout
    assert language != "go" or not done.stdout


HOSTILE = 'x\\u000a*/\n"""#{};\\\r\u2028\u202e??/' + "\\" * 90


@pytest.mark.parametrize("language", LANGUAGES)
def test_hostile_text_is_a_comment_and_no_more(language):
    hostile = replace(
        FINDINGS[0], target=f"py:{HOSTILE}:{HOSTILE}", title=HOSTILE, section=HOSTILE, observed=HOSTILE, place=HOSTILE
    )
    ours = source(FINDINGS[0], language, folder="x").split("\n")
    theirs = source(hostile, language, folder=HOSTILE).split("\n")
    mark = "#" if language == "pytest" else "//"
    comment = [line for line in theirs if line.startswith(mark)]
    assert all(re.fullmatch(r"[ -\[\]-~]*", line) for line in comment)
    assert "??" not in "".join(comment)
    assert [line for line in theirs if line not in comment] == [line for line in ours if not line.startswith(mark)]


def test_what_no_test_can_say_is_refused_with_the_reason():
    for code in ("OV302", "OV303", "OV511", "OV512", "OV513", "OV604"):
        with pytest.raises(CampaignError, match="certify --vectors"):
            source(replace(ACCEPTED, code=code), "rust")
    with pytest.raises(CampaignError, match="difference"):
        source(replace(ACCEPTED, standing=Standing.DIFFERENCE), "rust")
    with pytest.raises(CampaignError, match="error mode is not known"):
        source(replace(ACCEPTED, operation="L", expected="accept U+FFFD U+FFFD"), "rust")
    with pytest.raises(CampaignError, match="no id of a finding"):
        source(replace(ACCEPTED, id="../x"), "rust")
    with pytest.raises(CampaignError, match="what the target says of itself"):
        source(replace(EMPTY, expected="accept U+FEFF"), "rust")


def test_each_target_has_a_language():
    wanted = {
        "cpython": "pytest", "builtin:rust-std": "rust", "go-utf8": "go", "node-textdecoder": "node", "glib": "c",
        "py:a:b": "pytest", "so:./a.so:b?abi=bool(ptr,len)": "c", "wasm:a.wasm:b?abi=bool(ptr,len)": "c",
        "builtin:java-string": "java", "-- node adapter.js": "pytest", "nobody": "pytest",
    }  # fmt: skip
    assert {target: language_for(target) for target in wanted} == wanted
    assert language_for("-- node adapter.js", "JavaScript") == "node"
    assert how_to_run(ACCEPTED, "java") == "java D00000001Test.java"
