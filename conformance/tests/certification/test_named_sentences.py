"""Faults of real decoders that once passed: a default certificate of each has a cause whose sentence names it.

More of them are in ``test_named_faults.py`` (runs, addresses, what follows a character), ``test_giants.py`` (lengths),
``test_encoders.py`` and ``test_totals.py``.
"""

import shutil
import subprocess

import pytest

from overlong.conformance import certify

SOURCE = """
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct result { int error; size_t count; };

static size_t one(const uint8_t *s, size_t left, uint32_t *out) {
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    size_t many = *s < 0x80 ? 1 : *s < 0xC2 ? 0 : *s < 0xE0 ? 2 : *s < 0xF0 ? 3 : *s < 0xF5 ? 4 : 0;
    if (!many || many > left) return 0;
    uint32_t c = many == 1 ? *s : *s & (0x7F >> many);
    for (size_t k = 1; k < many; k++) {
        if (s[k] >> 6 != 2) return 0;
        c = c << 6 | (s[k] & 0x3F);
    }
    *out = c;
    return c < least[many] || c > 0x10FFFF || c >> 11 == 0x1B ? 0 : many;
}

#define DECODER(name, change) struct result name(const uint8_t *s, size_t n, uint32_t *out) { \\
    size_t i = 0, count = 0, start = 0; \\
    (void)start; \\
    while (i < n) { \\
        uint32_t c; \\
        size_t many = one(s + i, n - i, &c); \\
        if (!many) return (struct result){1, i}; \\
        if (c > 0x7F) start = i + many; \\
        change; \\
        out[count++] = c; \\
        i += many; \\
    } \\
    return (struct result){0, count}; \\
}
DECODER(right, )
DECODER(line_feed_in_a_block, if (c == 10 && (i - start) % 16 == 7) c = 11)
DECODER(scratch_of_1024_units, if (count == 1021 && c > 0xFFFF && n > 2000) c = '?')
DECODER(drops_the_signature_at_4096, if (c == 0xFEFF && i && i % 4096 == 0) { i += many; continue; })
DECODER(four_octets_across_8192, if (many == 4 && i < 8192 && i + 4 > 8192) c = 0xFFFD)

bool surrogate_64_octets_after_ef(const uint8_t *s, size_t n) {
    for (size_t i = 0, many; i < n; i += many) {
        uint32_t c;
        many = one(s + i, n - i, &c);
        if (!many && i >= 64 && n - i > 2 && s[i - 64] == 0xEF && c >> 11 == 0x1B) many = 3;
        if (!many) return false;
    }
    return true;
}
"""
OUT, YES = "utf32-result(ptr,len,out)", "bool(ptr,len)"
OTHER = "outputs other characters for "
SENTENCES = {
    ("line_feed_in_a_block", OUT): OTHER + "U+000A after 7 modulo 16 octets of ASCII",
    ("scratch_of_1024_units", OUT): OTHER
    + "characters of 4 octets in inputs of 2 001 or more octets and after 1 021 characters",
    ("drops_the_signature_at_4096", OUT): OTHER + "U+FEFF at offset 4 096",
    ("four_octets_across_8192", OUT): OTHER + "characters of 4 octets at offset 8 189 to 8 191",
    ("surrogate_64_octets_after_ef", YES): "accepts ED A0-BF 80-BF 64 octets after EF",
}


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    folder = tmp_path_factory.mktemp("sentences")
    (folder / "lib.c").write_text(SOURCE)
    subprocess.run(["gcc", "-O2", "-shared", "-fPIC", "-o", "lib.so", "lib.c"], cwd=folder, check=True)
    return folder / "lib.so"


@pytest.mark.long
@pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is not installed: apt install gcc")
@pytest.mark.parametrize(("function", "abi"), SENTENCES)
def test_a_sentence_names_the_fault(library, function, abi):
    run = certify(f"so:{library}:{function}?abi={abi}").run
    assert run.claims["verdict" if abi == YES else "scalars"] == "fails"
    assert SENTENCES[function, abi] in {bucket.why.sentence for bucket in run.buckets.values() if bucket.why}
