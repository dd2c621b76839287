"""A remark with the verdict names an adapter's fault, and never appears for a wrong decoder."""

import re
import sys
from html import unescape

import pytest
from click.testing import CliRunner

from overlong.conformance import certify
from overlong.conformance.certification.runner import ACCEPTS_ALL, REFUSES_ALL, SAME_TEXT, TURNED_ROUND
from overlong.conformance.cli.verbs import cli
from overlong.conformance.report.compared import table
from overlong.conformance.report.formats import FORMATS
from overlong.conformance.results.reading import read
from overlong.conformance.targets.process import exit_reason

DECODERS = """
def turned_round(octets):
    try:
        octets.decode()
    except UnicodeDecodeError:
        return True
    return False

def nothing(octets): return False
def anything(octets): return True
def same(octets): return "a"
def lengths(octets): return "a" * len(octets)
"""
ADAPTER = """
import struct, sys
print('{"overlong": 1, "name": "mine", "operations": "PVD"}', flush=True)
while len(head := sys.stdin.buffer.read(8)) == 8:
    length, number = struct.unpack(">II", head)
    operation, *octets = sys.stdin.buffer.read(length - 4)
    answer = b"A"
    if operation == ord("P"):
        answer += bytes(octets)
    elif operation == ord("D"):
        answer += bytes(octets).decode("utf-8", "replace").replace("\\ufffd", sys.argv[1]).encode("utf-32-be")
    sys.stdout.buffer.write(struct.pack(">II", 4 + len(answer), number) + answer)
    sys.stdout.buffer.flush()
"""


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("turned_round", TURNED_ROUND),
        ("nothing", REFUSES_ALL),
        ("anything", ACCEPTS_ALL),
        ("same", SAME_TEXT),
        ("lengths", ""),
    ],
)
def test_what_explains_all_is_said_in_place_of_the_buckets(name, said, tmp_path):
    (tmp_path / "mine.py").write_text(DECODERS)
    target = f"py:{tmp_path / 'mine.py'}:{name}"
    command = ["certify", "--suite", "core", "-o", str(tmp_path), "--format", ",".join(FORMATS), target]
    done = CliRunner().invoke(cli, command)
    assert done.exit_code == 1
    (subject,) = read([tmp_path]).subjects
    assert subject.sign == said
    assert subject.causes
    written = {each: (tmp_path / FORMATS[each].file).read_text("utf-8") for each in FORMATS}
    written["terminal"] = done.stdout
    written["matrix"] = "\n".join(table([subject], width=80, encoding="utf-8"))
    codes = {cause.code for cause in subject.causes}
    for form, text in written.items():
        words = " ".join((unescape(re.sub("<[^>]*>", "", text)) if form in ("html", "markdown") else text).split())
        if form == "badge":
            assert ("adapter in doubt" in text) == bool(said)
            continue
        assert said in unescape(words), form
        if form == "sarif":  # its snippets have codes as well
            words = " ".join(re.findall(r'"ruleId": "(.*)"', text))
        if form not in ("json", "html"):  # JSON has everything; the page names the codes of failed claims
            assert any(code in words for code in codes) == (not said), form
    assert 'class="cause' not in written["html"] or not said
    assert done.stdout.startswith("NOT CONFORMANT")
    assert ("LOOK AT THE ADAPTER FIRST: " in done.stdout.partition("✗")[0]) == bool(said)
    shown = CliRunner().invoke(cli, [*command[:5], "-v", target]).stdout
    assert shown.count("\nFAIL ") == min(len(subject.causes), 20)


@pytest.mark.long_after(1)
@pytest.mark.parametrize(("substitute", "words"), [("\ufffd", "outputs U+FFFD"), ("?", "a question mark"), ("!", "")])
def test_a_decoder_that_replaces_under_the_name_of_one_that_refuses(substitute, words, tmp_path):
    (tmp_path / "mine.py").write_text(ADAPTER)
    run = certify([sys.executable, str(tmp_path / "mine.py"), substitute], suites=["core"]).run
    assert not run.conformant
    assert ("it replaces" in run.sign) == bool(words)
    assert words in run.sign


def test_a_wrong_decoder_is_left_to_its_verdict():
    run = certify("cpython-surrogatepass", suites=["core"]).run
    assert not run.conformant
    assert run.notes == []
    assert run.sign == ""


NODE = (
    "a:1\n  throw err;\n\nError: Cannot find module 'x'\n    at Module._load (a:1:2)\n    at b:2 {\n  code: 'E'\n}\n\n"
)


@pytest.mark.parametrize(
    ("stderr", "said"),
    [
        (NODE + "Node.js v20.20.2\n", "Error: Cannot find module 'x'"),
        ('Exception in thread "main" java.lang.Error: no\n\tat A.main(A.java:1)\n', '"main" java.lang.Error: no'),
        ("panic: no\n\ngoroutine 1 [running]:\nmain.main()\n\t/x/a.go:5 +0x1d\nexit status 2\n", "panic: no"),
        ("thread 'main' panicked at a.rs:1:9:\nno\nnote: run with `RUST_BACKTRACE=1` to see\n", "no"),
        ("lua: a.lua:1: no\nstack traceback:\n\t[C]: in function 'error'\n\t[C]: in ?\n", "lua: a.lua:1: no"),
        ("a.rb:1:in `f': no (RuntimeError)\n\tfrom a.rb:2:in `<main>'\n", "no (RuntimeError)"),
        (
            "PHP Fatal error:  Uncaught no in a\nStack trace:\n#0 {main}\n  thrown in a.php on line 1\n",
            "Uncaught no in a",
        ),
        ("Traceback (most recent call last):\n  File x\nValueError: no\n", "ValueError: no"),
        ("ready\nan Error: it was\nat last it ends here: \x1b[1m\n", "an Error: it was"),
        ("one\n\n two \x1b[1m\n\n", "two \\x1b[1m"),
        ("Node.js v20.20.2", "Node.js v20.20.2"),
        (" \n", ""),
    ],
)
def test_the_line_that_says_why(stderr, said):
    assert exit_reason(stderr).endswith(said)
    assert bool(said) == bool(exit_reason(stderr))
