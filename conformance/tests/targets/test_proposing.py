"""``overlong target new library``: exported functions, and what is proposed for them by name and by type."""

import os
import shutil
import subprocess
import sys
import tomllib

import pytest
from click.testing import CliRunner

from overlong.conformance.cli.target import new_command
from overlong.conformance.oracle.target import TargetError
from overlong.conformance.targets.adapters.abi import ABIS, QUESTION_ABIS, question_abi
from overlong.conformance.targets.configured import functions_in
from overlong.conformance.targets.starters import shape_of, shapes_in

SOURCE = """
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
bool mine_is_utf8(const char *s, size_t n) { return s && n; }
size_t mine_utf8_count(const char *s, size_t n) { return s ? n : 0; }
size_t mine_utf8_truncate(const char *s, size_t n, size_t limit) { return s && limit < n ? limit : n; }
size_t mine_utf8_length(void *handle) { return (size_t)handle; }
int mine_init(void) { return 0; }
static int hidden_utf8_count(const char *s, size_t n) { return s && n; }
int mine_utf8_other(const char *s) { return hidden_utf8_count(s, 1); }
int mine_valid_utf8_data;
"""
HEADER = """
#ifndef MINE_H
#include <stddef.h>
#ifdef __cplusplus
extern "C" {
#endif
#if defined(_MSC_VER)
#define MINE_API __declspec(dllexport)
#else
#define MINE_API __attribute__((visibility("default")))
#endif
typedef unsigned char mine_octet;  /* an octet */
typedef struct mine mine;
MINE_API bool mine_is_utf8(const mine_octet *s, size_t n);
MINE_API size_t mine_utf8_count(const char *s, size_t n);
OTHER_EXPORT size_t mine_utf8_truncate(const char *s, size_t n, size_t limit);
MINE_API size_t mine_utf8_length(mine *handle);
#ifdef __cplusplus
}
#endif
#endif
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    compiler = shutil.which("cc")
    if compiler is None or sys.platform != "linux":
        pytest.skip("no C compiler on PATH; install gcc or clang")
    made = tmp_path_factory.mktemp("library")
    (made / "mine.c").write_text(SOURCE)
    (made / "mine.h").write_text(HEADER)
    subprocess.run([compiler, "-shared", "-fPIC", made / "mine.c", "-o", made / "libmine.so.1"], check=True)
    return made


def _written(*words):
    return CliRunner().invoke(new_command, ["library", *map(str, words)])


def _functions(result):
    assert result.exit_code == 0, result.output
    return dict(functions_in("test", tomllib.loads(result.stdout)["targets"]["mine"]))


def test_functions_are_proposed_by_their_names(folder):
    result = _written(folder / "libmine.so.1")
    library = folder / "libmine.so.1"
    assert _functions(result) == {
        "mine_is_utf8": f"so:{library}:mine_is_utf8?abi=bool(ptr,len)",
        "mine_utf8_count": f"so:{library}:mine_utf8_count?abi=count-scalars(ptr,len)",
        "mine_utf8_length": f"so:{library}:mine_utf8_length?abi=count-scalars(ptr,len)",
        "mine_utf8_truncate": f"so:{library}:mine_utf8_truncate?abi=truncate(ptr,len,limit)",
    }
    assert "# Also exported, without a proposal: mine_init, mine_utf8_other" in result.stdout
    assert "hidden" not in result.stdout


def test_a_header_tells_what_is_called_otherwise(folder):
    pytest.importorskip("pcpp")
    pytest.importorskip("pycparser")
    found = _functions(_written(folder / "libmine.so.1", "--header", folder / "mine.h"))
    assert list(found) == ["mine_is_utf8", "mine_utf8_count", "mine_utf8_truncate"]


def test_a_header_reads_what_lies_beside_it_and_says_what_does_not(folder, tmp_path):
    pytest.importorskip("pcpp")
    pytest.importorskip("pycparser")
    (tmp_path / "outer.h").write_text('#include "inner.h"\n#include "nope.h"\n#include <nowhere.h>\n')
    (tmp_path / "inner.h").write_text(HEADER)
    result = _written(folder / "libmine.so.1", "--header", tmp_path / "outer.h")
    assert list(_functions(result)) == ["mine_is_utf8", "mine_utf8_count", "mine_utf8_truncate"]
    [line] = result.stderr.splitlines()
    assert "outer.h: includes nope.h, which is not there" in line


def test_each_abi_has_a_shape():
    pytest.importorskip("pycparser")
    one = [abi.prototype for abi in ABIS.values() if not abi.functions and not abi.prototype.startswith("struct")]
    shapes = [shape_of(prototype) for prototype in (*one, *(question_abi(each).prototype for each in QUESTION_ABIS))]
    assert all(shapes)
    assert shape_of("bool f(const char *octets, size_t length)") == ("bool", "in1", "size")
    assert shape_of("size_t f(const char16_t *a, size_t b, char *c, size_t d, size_t *e)") == (
        *("size", "in2", "size", "out1", "size", "outsize"),
    )


@pytest.mark.parametrize(
    ("text", "says"), [("int f(;", "not read as C: "), ("class A { public: int f(); };", "leave out --header")]
)
def test_a_header_that_is_no_c_gives_one_line(tmp_path, text, says):
    pytest.importorskip("pycparser")
    (tmp_path / "a.h").write_text(text)
    with pytest.raises(TargetError, match=says) as caught:
        shapes_in(tmp_path / "a.h")
    assert "\n" not in str(caught.value)


def test_what_is_missing_or_no_library_gives_one_line(folder, tmp_path, monkeypatch):
    library = folder / "libmine.so.1"
    (tmp_path / "a.so").write_text("text")
    (tmp_path / "cut.so").write_bytes(library.read_bytes()[:300])
    (tmp_path / "other.h").write_text("int other(void);")
    subprocess.run(["cc", "-shared", "-x", "c", os.devnull, "-o", tmp_path / "empty.so"], check=True)
    for words, says in (
        ((tmp_path / "a.so",), "no shared library (ELF)"),
        ((tmp_path / "b.so",), "b.so: No such file or directory; name a file that can be read"),
        ((tmp_path / "cut.so",), "cut.so: ends before its table of symbols; "),
        ((tmp_path / "empty.so",), "empty.so: exports no function"),
        ((tmp_path,), f"{tmp_path}: a directory; name a file"),
        ((library, "--header", tmp_path), f"{tmp_path}: a directory; name a file"),
        ((library, "--header", tmp_path / "other.h"), "other.h declares none of the 6 exported functions; "),
        ((), "name the library's file"),
    ):
        result = _written(*words)
        assert result.exit_code == 2
        assert says in result.output
        assert "Traceback" not in result.output
    monkeypatch.setitem(sys.modules, "pcpp", None)
    result = _written(folder / "libmine.so.1", "--header", folder / "mine.h")
    assert "--header needs pcpp, which is not installed; " in result.output


def test_a_header_is_for_libraries():
    result = CliRunner().invoke(new_command, ["rust", "--header", "a.h"])
    assert result.exit_code == 2
    assert "are for 'overlong target new library'" in result.output
