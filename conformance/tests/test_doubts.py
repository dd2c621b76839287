"""What an adapter does wrong is said beside the verdict, and never of a decoder that is wrong itself."""

import sys

import pytest

from overlong.conformance import certify
from overlong.conformance.last_words import last_words

DECODERS = """
def turned_round(octets):
    try:
        octets.decode()
    except UnicodeDecodeError:
        return True
    return False

def nothing(octets): return False
def anything(octets): return True
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


@pytest.mark.parametrize(("name", "doubted"), [("turned_round", True), ("nothing", False), ("anything", False)])
def test_yes_and_no_turned_round(name, doubted, tmp_path):
    (tmp_path / "mine.py").write_text(DECODERS)
    run = certify(f"py:{tmp_path / 'mine.py'}:{name}", suites=["core"]).run
    assert not run.conformant
    assert any("turned round" in note for note in run.notes) is doubted


@pytest.mark.parametrize(("substitute", "words"), [("\ufffd", "puts out U+FFFD"), ("?", "a question mark"), ("!", "")])
def test_a_decoder_that_replaces_under_the_name_of_one_that_refuses(substitute, words, tmp_path):
    (tmp_path / "mine.py").write_text(ADAPTER)
    run = certify([sys.executable, str(tmp_path / "mine.py"), substitute], suites=["core"]).run
    assert not run.conformant
    said = [note for note in run.notes if "it replaces" in note]
    assert len(said) == bool(words)
    assert all(words in note for note in said)


def test_a_wrong_decoder_is_left_to_its_verdict():
    run = certify("cpython-surrogatepass", suites=["core"]).run
    assert not run.conformant
    assert run.notes == []


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
    assert last_words(stderr).endswith(said)
    assert bool(said) == bool(last_words(stderr))
