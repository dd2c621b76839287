"""Functions that share something between threads, and functions that do not."""

import shutil
import subprocess

import pytest

from overlong.conformance import certify
from overlong.conformance.certification.replay import replay
from overlong.conformance.targets.limits import Limits
from overlong.conformance.vectors.export import find_vectors
from overlong.reference.core import why_not

C = """
#include <stddef.h>
static unsigned char shared[1 << 20];
static size_t counted(const unsigned char *own, const char *octets, size_t length) {
  size_t count = 0;
  for (size_t i = 0; i < length; i++) count += (own[i] & 0xC0) != 0x80;
  return (void)octets, count;
}
size_t count_shared(const char *octets, size_t length) {
  for (size_t i = 0; i < length; i++) shared[i] = (unsigned char)octets[i];
  return counted(shared, octets, length);
}
size_t count_right(const char *octets, size_t length) { return counted((const unsigned char *)octets, octets, length); }
int only_ascii_shared(const char *octets, size_t length) {
  for (size_t i = 0; i < length; i++) shared[i] = (unsigned char)octets[i];
  for (size_t i = 0; i < length; i++) if (shared[i] & 0x80) return 0;
  return 1;
}
"""
PYTHON = """
import codecs

_text = b""
_decoder = codecs.getincrementaldecoder("utf-8")()


def right(octets, limit):
    end = min(limit, len(octets))
    while 0 < end < len(octets) and octets[end] & 0xC0 == 0x80:
        end -= 1
    return end


def shared(octets, limit):
    global _text
    _text = octets
    end = min(limit, len(_text))
    while 0 < end < len(_text) and _text[end] & 0xC0 == 0x80:
        end -= 1
    return end


def read_by_one_decoder(octets):
    # https://github.com/davidmoten/subethasmtp/pull/147: all readers share one decoder, which keeps a state
    _decoder.reset()
    read = [_decoder.decode(octets[place : place + 1]) for place in range(len(octets))]
    return "".join(read) + _decoder.decode(b"", True)


def decode(octets):
    return octets.decode()
"""


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    compiler = shutil.which("cc")
    if compiler is None or why_not():
        pytest.skip("no C compiler on PATH; install gcc or clang")
    folder = tmp_path_factory.mktemp("threads")
    (folder / "threads.c").write_text(C)
    subprocess.run([compiler, "-O1", "-shared", "-fPIC", folder / "threads.c", "-o", folder / "threads.so"], check=True)
    return folder / "threads.so"


@pytest.fixture(scope="module")
def module(tmp_path_factory):
    file = tmp_path_factory.mktemp("threads") / "mine.py"
    file.write_text(PYTHON)
    return file


def _certified(target, suite):
    return certify(target, suites=[suite], limits=Limits(threads=4))


def _codes(run):
    return {bucket.example.code for bucket in run.buckets.values()}


@pytest.mark.long
def test_a_static_buffer_of_a_c_function_is_found_and_shown_with_both_inputs(library):
    certificate = _certified(f"so:{library}:count_shared?abi=count-scalars(ptr,len)", "functions")
    (bucket,) = certificate.run.buckets.values()
    finding = bucket.example
    assert (finding.code, finding.claim, certificate.run.failing) == ("OV609", "functions", ("functions",))
    assert finding.place.startswith("beside count-scalars/")
    assert "in 4 threads, beside " in finding.observed_words
    assert certificate.command.count("--threads 4") == 1


@pytest.mark.long
def test_a_decoder_of_c_is_called_in_threads(library):
    run = _certified(f"so:{library}:only_ascii_shared?abi=int(ptr,len)", "core").run
    assert "OV609" in _codes(run)


@pytest.mark.long
@pytest.mark.parametrize(
    ("function", "suite", "racing"),
    [
        ("right?as=truncate", "functions", False),
        ("shared?as=truncate", "functions", True),
        ("decode", "core", False),
        ("read_by_one_decoder", "core", True),
    ],
)
def test_python_functions_in_threads(module, function, suite, racing):
    run = _certified(f"py:{module}:{function}", suite).run
    assert _codes(run) == ({"OV609"} if racing else set())
    assert bool(run.failing) is racing
    titles = {bucket.example.title for bucket in run.buckets.values()}
    assert titles == ({"answer depends on other threads"} if racing else set())


@pytest.mark.long
@pytest.mark.parametrize("name", ["count_right?abi=count-scalars(ptr,len)"])
def test_a_right_function_of_c_is_not_accused(library, name):
    run = _certified(f"so:{library}:{name}", "functions").run
    assert (run.conformant, run.notes) == (True, [])


@pytest.mark.long
def test_without_threads_nothing_is_called_so(library):
    run = certify(f"so:{library}:count_shared?abi=count-scalars(ptr,len)", suites=["functions"]).run
    assert run.conformant


@pytest.mark.long
def test_a_race_is_replayed_with_both_inputs(module):
    vector, other = (
        find_vectors(name)[0] for name in ("truncate/0600000005c3a9f09f9880e282ac", "truncate/060000000161")
    )
    answers = replay(vector, f"py:{module}:shared?as=truncate", None, other)
    assert [each.finding.code if each.finding else "" for each in answers] == ["", "OV609"]
