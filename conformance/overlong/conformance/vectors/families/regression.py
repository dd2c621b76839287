"""Inputs that real decoders got wrong, each with the decoder and the public record."""

from __future__ import annotations

from overlong.conformance.vectors.builders import (
    out_of_range,
    overlong,
    surrogate,
    surrogate_pair,
    truncated,
    well_formed,
)
from overlong.conformance.vectors.families.family import Family

FAMILY = Family("regression", "real decoders got these wrong")

BOM = well_formed(0xFEFF)
_WPT_56892 = "https://github.com/web-platform-tests/wpt/pull/56892"


# Blocks and vector units


@FAMILY.bug(
    "simdjson, simdutf",
    "https://github.com/simdjson/simdjson/issues/1169",
    "https://github.com/simdutf/simdutf/issues/458",
)
def simdjson_1169() -> bytes:
    """FF as the last octet of a block of 64, accepted"""
    return b" " * 63 + b"\xff"


@FAMILY.bug("simdutf", "https://github.com/simdutf/simdutf/issues/448")
def simdutf_448() -> bytes:
    """FF as the last octet of a block of 64 that has a character in it, wrong position and a read out of bounds"""
    return well_formed(0x378) + b" " * 61 + b"\xff" + b" " * 64


@FAMILY.bug("simdutf", "https://github.com/simdutf/simdutf/issues/483")
def simdutf_483() -> bytes:
    """A lone continuation octet after a block of 64, more written than the output had room for"""
    return b" " * 64 + b"\xa9"


@FAMILY.bug("simdutf", "https://github.com/simdutf/simdutf/issues/441")
def simdutf_441() -> bytes:
    """A lone continuation octet at the start of the second block of 64, wrong verdict or position"""
    return b" " * 64 + b"\xa1" + b" " * 8


@FAMILY.bug("simdutf", "https://github.com/simdutf/simdutf/issues/462")
def simdutf_462() -> bytes:
    """A continuation octet too many after a character that ends a block of 64, reported at 61 instead of 64"""
    wide = well_formed(0xA890B)
    text = b" " * 13 + wide + b" " * 14 + wide + b" " * 4 + wide + b"  " + wide + b" " * 11
    return text + well_formed(0xA8928) + b"\xa4" + b" " * 63


@FAMILY.bug("simdutf", "https://github.com/simdutf/simdutf/issues/454")
def simdutf_454() -> bytes:
    """C2 as the last octet of a block of 64 and of the text, accepted by one kernel"""
    return b" " * 63 + truncated(0xA9, 1)


@FAMILY.bug("simdutf", "https://github.com/simdutf/simdutf/issues/455")
def simdutf_455() -> bytes:
    """C2 as the last octet of a block of 64 with two characters in it, dropped by one kernel"""
    return b" " * 48 + well_formed(0xBD, 0x90) + b" " * 11 + truncated(0xA9, 1)


@FAMILY.bug("simdutf", "https://github.com/simdutf/simdutf/issues/478")
def simdutf_478() -> bytes:
    """A lone continuation octet after a block of two-octet characters, output written out of bounds"""
    block = (
        "20 dfbb cd8d cfbb 20 20 dfbb dfbb cdbb cdbb debb dfbb cda9 dfbb dfbb dfbb dfbb"
        "cdbb cdbb debb dfbb cda9 d8bb dfbb dfbb dfbb dfbb dfb3 dfbb"
    )
    return bytes.fromhex(block) + b" " * 9 + b"\xb9"


@FAMILY.bug("simdutf", "https://github.com/simdutf/simdutf/issues/479")
def simdutf_479() -> bytes:
    """A continuation octet too many after sixteen four-octet characters, output written out of bounds"""
    block = (
        "f1a1a9a9 f1a1a9a9 f1a1a9b2 f1b9a1a9 f1a1a9a9 f1a1a9a9 f1a9a1a9 f1a1aea6"
        "f1a1a9a9 f1a9a1a9 f1a1a9a9 f1a1a9a9 f1a1a9a9 f1a1a9a9 f1a1a9a9 f1a0a0a0"
    )
    return bytes.fromhex(block) + b"\xa0"


@FAMILY.bug("simdutf", "https://github.com/simdutf/simdutf/pull/381", names="place", values=(1, 2, 3))
def simdutf_381(place: int) -> bytes:
    """80 as octet {place} after a block of ASCII, where the path for ASCII did not look"""
    return b"a" * (63 + place) + b"\x80" + b"a" * (64 - place)


@FAMILY.bug("simdutf", "https://github.com/simdutf/simdutf/issues/456")
def simdutf_456() -> bytes:
    """Continuation octets and FF between spaces, output written out of bounds"""
    return bytes.fromhex(
        "20202020bf ffbfbfbf 20bfbfbf 20bfbfbf ffbfbfbf 20bfbfbf 208ebf8e 20bfbf 20bfbfbf 208e8e8e"
        "ff8e8e92 ffbfbfbf 20bfbfbf 2020bfbf 2020bfbf 2020202020bfbfbf ffbfbfbf 20bfbfbf 208e8e8e"
        "ffbfbfbf 20bfbfbf 202020202020202020ffbfbfbf 20bfbfbf 208e8e8e ff 20bfbf 20bfbfbf"
        "2020202020202020"
    )


@FAMILY.bug(
    "simdutf",
    "https://github.com/simdutf/simdutf/issues/537",
    "https://github.com/simdutf/simdutf/issues/539",
    "https://github.com/simdutf/simdutf/issues/544",
)
def simdutf_537() -> bytes:
    """Lone octets 93 and FF FF among spaces, output written out of bounds (shortened from the reports)"""
    return b"\x93" + b" " * 36 + b"\xff\xff" + b" " * 79 + b"\x93" + b" " * 9


@FAMILY.bug(
    "simd-json",
    "https://github.com/simd-lite/simd-json/issues/166",
    names="after",
    values=(0, 11),
)
def simd_json_166(after: int) -> bytes:
    """C2 as the last octet of a block of 32 and {after:octets} after it, accepted"""
    return b'"123456789012345678901234567890' + truncated(0xA9, 1) + b'2134567890"'[:after]


@FAMILY.bug(
    "haskell/text, haskell/bytestring",
    "https://github.com/haskell/text/issues/490",
    "https://github.com/haskell/bytestring/issues/575",
    names="before",
    values=(127, 128),
)
def haskell_text_490(before: int) -> bytes:
    """A lone D8 after {before} spaces and before 128 more, accepted"""
    return b" " * before + b"\xd8" + b" " * 128


@FAMILY.bug("haskell/bytestring", "https://github.com/haskell/bytestring/pull/582")
def haskell_bytestring_582() -> bytes:
    """D8 as the last octet of a stride of 64, forgotten when the next stride was all ASCII"""
    return b" " * 63 + b"\xd8" + b" " * 64


@FAMILY.bug("haskell/bytestring", "https://github.com/haskell/bytestring/issues/620", names="count", values=(1, 3))
def haskell_bytestring_620(count: int) -> bytes:
    """NUL in {count:octets}, cut from behind an 80 that the decoder looked back at, refused"""
    return b"\0" * count


@FAMILY.bug(
    "PHP mbstring",
    "https://github.com/php/php-src/issues/11992",
    "https://github.com/php/php-src/pull/10776",
    names="octets",
    values=(
        out_of_range(0x110000) + well_formed(0x10F07),
        out_of_range(0x1C0000) + well_formed(0x11688),
        out_of_range(0x1FFFFF) + well_formed(0x856),
        surrogate(0xD800) + well_formed(0xE0147),
    ),
)
def php_11992(octets: bytes) -> bytes:
    """{octets:hex}, seven or eight octets, accepted by a 32-bit build with AVX2"""
    return octets


@FAMILY.bug(".NET Core", "https://github.com/dotnet/coreclr/pull/24235")
def coreclr_24235() -> bytes:
    """A three-octet character and a lone 80 in one word of four octets, the 80 taken for ASCII"""
    return well_formed(0x72C0) + b"\x80"


@FAMILY.bug("simdjson", "https://github.com/simdjson/simdjson/issues/1187")
def simdjson_1187() -> bytes:
    """U+FFFF in four octets, accepted by the portable kernel"""
    return overlong(0xFFFF, 4)


# Streams and state


@FAMILY.bug(
    "CPython",
    "https://bugs.python.org/issue24214",
    "https://github.com/python/cpython/pull/12603",
    names="code_point, cut",
    values=((0xD901, 1), (0xD901, 2), (0xDC02, 1), (0xDC02, 2)),
)
def cpython_24214(code_point: int, cut: int) -> tuple[bytes, ...]:
    """The surrogate U+{code_point:04X} cut after {cut:octets}, which broke the incremental decoder"""
    octets = surrogate(code_point)
    return octets[:cut], octets[cut:]


@FAMILY.bug("CPython", "https://bugs.python.org/issue24214", "https://github.com/python/cpython/pull/14304")
def cpython_14304() -> bytes:
    """F1 and an F6 that no character begins with, not last: the incremental decoder answered f and no error"""
    return b"f\xf1\xf6rd"


@FAMILY.bug("CPython", "https://github.com/python/cpython/issues/154520")
def cpython_154520() -> tuple[bytes, ...]:
    """ED A0 in one chunk and 80 in the next, refused only in the second chunk though ED A0 is wrong already"""
    return b"\xed\xa0", b"\x80"


@FAMILY.bug("PyPy", "https://github.com/pypy/pypy/issues/3414")
def pypy_3414() -> tuple[bytes, ...]:
    """A two-octet character in two chunks, decoded to two U+FFFD"""
    return b"\xc3", b"\xa9"


@FAMILY.bug("PyPy", "https://github.com/pypy/pypy/issues/3274")
def pypy_3274() -> bytes:
    """Two errors in one text, at the first of which the incremental decoder stopped"""
    return b"a\xffb\xffc"


@FAMILY.bug("PyPy", "https://github.com/pypy/pypy/issues/3116")
def pypy_3116() -> bytes:
    """The first two octets of three at the end, of which surrogateescape gave back only the first"""
    return truncated(0x800, 2)


@FAMILY.bug(".NET Core", "https://github.com/dotnet/corefx/issues/37969")
def corefx_37969() -> tuple[bytes, ...]:
    """ED at the end of a chunk and no continuation in the next, reported at the wrong index"""
    return b"x\xed", b"yz"


@FAMILY.bug(".NET Core", "https://github.com/dotnet/corefx/issues/36163")
def corefx_36163() -> bytes:
    """An encoded surrogate, its third octet dropped: two U+FFFD instead of three"""
    return b"abc" + surrogate(0xD810) + b"xyz"


@FAMILY.bug(".NET Core, .NET Framework", "https://github.com/dotnet/corefx/issues/29898")
def corefx_29898() -> bytes:
    """FF alone, reported at a negative index"""
    return b"\xff"


@FAMILY.bug("node", "https://github.com/nodejs/node/issues/7308", "https://github.com/nodejs/node/pull/7310")
def node_7308() -> tuple[bytes, ...]:
    """A continuation octet too many at the end of a chunk, answered with a RangeError"""
    return well_formed(0x275) + b"\xa9", b"A"


@FAMILY.bug(
    "node",
    "https://github.com/nodejs/node/pull/7318",
    names="octets",
    values=(
        b"\xc9\xb5\xa9A",
        b"\xe2A",
        b"\xcc\xcc\xb8",
        b"\xf0\xb8A",
        b"\xf1\xcc\xb8",
        b"\xf0\xfb\0",
        b"\xcc\xe2\xb8\xb8",
        b"\xe2\xb8\xcc\xb8",
        b"\xe2\xfb\xcc\x01",
        surrogate_pair(0x1D40D),
        well_formed(0x338, 0x379),
    ),
)
def node_7318(octets: bytes) -> tuple[bytes, ...]:
    """{octets:hex} in chunks of one octet, decoded differently from the same octets in one chunk"""
    return tuple(octets[place : place + 1] for place in range(len(octets)))


@FAMILY.bug("node", "https://github.com/nodejs/node/issues/5223")
def node_5223() -> tuple[bytes, ...]:
    """Two characters in three chunks that each cut one, of which nothing came out"""
    return b"\xe2\x82", b"\xac\xc2", b"\xa2"


@FAMILY.bug("node", "https://github.com/nodejs/node/issues/16564")
def node_16564() -> bytes:
    """A character cut off by the end of the stream, its two octets kept for the next stream: state not reset"""
    return truncated(0x20AC, 2)


@FAMILY.bug("node", "https://github.com/nodejs/node/issues/16564")
def node_16564_tail() -> bytes:
    """A lone AC, decoded to U+20AC by a decoder that had ended a stream in E2 82 before: state not reset"""
    return b"\xac"


@FAMILY.bug("node", "https://github.com/nodejs/node/issues/22626")
def node_22626() -> tuple[bytes, ...]:
    """Three octets that are each ill-formed in three chunks, decoded to two U+FFFD instead of three"""
    return b"\xf6", b"\x9b", b"\xd1"


@FAMILY.bug("node", "https://github.com/nodejs/node/issues/26115")
def node_26115() -> bytes:
    """E2 and the end of the stream, at which a replacing decoder threw"""
    return truncated(0x20AC, 1)


@FAMILY.bug("node", "https://github.com/nodejs/node/issues/37466")
def node_37466() -> bytes:
    """C9 and the end of the stream, at which a replacing decoder threw"""
    return truncated(0x275, 1)


@FAMILY.bug(
    "deno, bun, node",
    "https://github.com/denoland/deno/issues/10846",
    "https://github.com/oven-sh/bun/issues/25495",
    "https://github.com/nodejs/node/pull/30132",
    names="cut",
    values=(1, 2),
)
def deno_10846(cut: int) -> tuple[bytes, ...]:
    """A byte order mark cut after {cut:octets}, not recognised over two chunks"""
    return BOM[:cut], BOM[cut:]


@FAMILY.bug("bun", "https://github.com/oven-sh/bun/issues/25495")
def bun_25495() -> tuple[bytes, ...]:
    """U+FEFF at the start of three chunks, of which only the first is a byte order mark, all dropped"""
    return BOM, BOM, BOM


@FAMILY.bug("bun", "https://github.com/oven-sh/bun/issues/25495", _WPT_56892)
def bun_25495_octet_by_octet() -> tuple[bytes, ...]:
    """A byte order mark in three chunks of one octet, of which none may come out"""
    return BOM[:1], BOM[1:2], BOM[2:]


@FAMILY.bug("Chromium", "https://issues.chromium.org/issues/468458744", _WPT_56892)
def chromium_468458744() -> tuple[bytes, ...]:
    """F0 at the end of a chunk and C3 80 in the next: U+FFFD and U+00C0, not two U+FFFD, and the stars survive"""
    return b"\xf0", b"\xc3\x80**"


@FAMILY.bug("node, boa", "https://github.com/nodejs/node/issues/25315", "https://github.com/boa-dev/boa/issues/4613")
def node_25315() -> bytes:
    """A byte order mark and nothing else, given out as a character by a decoder that drops it"""
    return BOM


@FAMILY.bug("undici", "https://github.com/nodejs/undici/pull/2922")
def undici_2922() -> bytes:
    """A byte order mark before a text, dropped together with the last three octets of the text"""
    return BOM + b"abcdef"


@FAMILY.bug("bun", "https://github.com/oven-sh/bun/issues/3572")
def bun_3572() -> bytes:
    """C3 alone, replaced by a decoder that was told to refuse"""
    return truncated(0xE9, 1)


@FAMILY.bug("Perl", "https://github.com/Perl/perl5/issues/12345")
def perl_12345() -> bytes:
    """FF and 1,024 octets after it, an endless loop at the edge of a buffer of 1,024"""
    return b"Cro\xff" + b"x" * 1023 + b"X"


@FAMILY.bug("Perl", "https://github.com/Perl/perl5/issues/5880")
def perl_5880() -> bytes:
    """A character that lies across the edge of a buffer of 4,096, taken for an error at which the reader hung"""
    return b"." * 4095 + well_formed(0x20AC) + b"\n"


@FAMILY.bug("Scala.js", "https://github.com/scala-js/scala-js/issues/3433")
def scala_js_3433() -> tuple[bytes, ...]:
    """A character cut by the end of a chunk, its first part reported as malformed instead of kept"""
    return b"a\xe2\x82", b"\xac"


@FAMILY.bug(
    "Scala.js",
    "https://github.com/scala-js/scala-js/pull/1538",
    names="octets",
    values=(b"\xe1A", b"\xe1\x80B"),
)
def scala_js_1538(octets: bytes) -> bytes:
    """{octets:hex}, an unfinished character before the last octet, which was swallowed with it"""
    return octets


@FAMILY.bug("IronPython", "https://github.com/IronLanguages/main/issues/902")
def ironpython_902() -> tuple[bytes, ...]:
    """ED 88 at the end of a chunk, which U+D22C begins with, refused instead of kept"""
    return b" \xed\x88", b"\xac"


# Wrong acceptance


@FAMILY.bug("IIS", "CVE-2000-0884")
def iis_cve_2000_0884() -> bytes:
    """A slash in two octets in a path, accepted after the path had been checked"""
    return b"/scripts/.." + overlong(ord("/"), 2) + b"winnt"


@FAMILY.bug("Tomcat, Java", "CVE-2008-2938")
def tomcat_cve_2008_2938() -> bytes:
    """Full stops in two octets each in a path, accepted"""
    return b"/" + overlong(ord("."), 2) * 2 + b"/"


@FAMILY.bug(
    "PHP, Woodstox", "CVE-2010-3870", "https://github.com/FasterXML/woodstox/pull/291", names="length", values=(2, 3)
)
def php_cve_2010_3870(length: int) -> bytes:
    """U+003C in {length:octets}, accepted"""
    return overlong(ord("<"), length)


@FAMILY.bug(
    "Expat",
    "CVE-2022-25235",
    "https://github.com/libexpat/libexpat/pull/562",
    names="name",
    values=(b"\xdb\x25", b"\xdb\xe5", b"\xe0\x24\x85", b"\xe0\xe4\x85", b"\xe0\xa4\x05", b"\xe0\xa4\xc5"),
)
def expat_cve_2022_25235(name: bytes) -> bytes:
    """{name:hex}, which has no continuation where it needs one, accepted as the name of an element"""
    return b"<" + name + b">"


@FAMILY.bug(
    "Ghostscript",
    "CVE-2024-46954",
    "https://github.com/ArtifexSoftware/ghostpdl/releases/tag/ghostpdl-10.05.0",
    names="scalar",
    values=(0x40, 0x5C, 0x7F),
)
def ghostscript_cve_2024_46954(scalar: int) -> bytes:
    """U+{scalar:04X} in two octets, which begin with C1: the first fix looked for C0 only"""
    return overlong(scalar, 2)


@FAMILY.bug("Perl Encode", "https://github.com/dankogai/p5-encode/issues/64", names="length", values=(3, 4))
def perl_encode_64(length: int) -> bytes:
    """U+002F in {length:octets}, accepted by the strict decoder"""
    return overlong(ord("/"), length)


@FAMILY.bug(
    "utf-8-validate",
    "https://github.com/websockets/utf-8-validate/pull/32",
    names="octets",
    values=(b"\xed\x7f\x80", b"\xf4\x7f\x80\x80"),
)
def utf_8_validate_32(octets: bytes) -> bytes:
    """{octets:hex}, whose second octet is below the continuations, accepted: only its upper bound was checked"""
    return octets


@FAMILY.bug("lexbor", "https://github.com/lexbor/lexbor/issues/354")
def lexbor_354() -> bytes:
    """Letters in two octets each in a host name, accepted"""
    return b"".join(overlong(letter, 2) for letter in b"evil") + b".com"


@FAMILY.bug("msgpackr, cbor-x", "https://github.com/kriszyp/msgpackr/issues/177")
def msgpackr_177() -> bytes:
    """U+002F in two octets, accepted where the string was short"""
    return overlong(ord("/"), 2)


@FAMILY.bug("DuckDB", "https://github.com/duckdb/duckdb/issues/4708")
def duckdb_4708() -> bytes:
    """A number beyond U+10FFFF that begins with F6, accepted"""
    return out_of_range(0x196C05)


@FAMILY.bug("Julia", "https://github.com/JuliaLang/julia/issues/29311")
def julia_29311() -> bytes:
    """NUL in three octets, accepted though the forms in two and four octets were not"""
    return overlong(0, 3)


@FAMILY.bug(
    "FunctionalScript, a range-based validator",
    "https://github.com/functionalscript/functionalscript/pull/1205",
    "https://github.com/simdjson/simdjson/pull/365",
)
def functionalscript_1205() -> bytes:
    """NUL in four octets, accepted because any continuation was allowed after F0"""
    return overlong(0, 4)


@FAMILY.bug(
    "Julia",
    "https://github.com/JuliaLang/julia/issues/11141",
    names="octets",
    values=(surrogate_pair(0x10FFFF), surrogate(0xDBFF) + b"a"),
)
def julia_11141(octets: bytes) -> bytes:
    """{octets:hex}, a surrogate before another or before ASCII, accepted"""
    return octets


@FAMILY.bug("codec for Go", "https://github.com/ugorji/go/issues/370")
def ugorji_go_370() -> bytes:
    """The last surrogate before ASCII, accepted: strings were not checked"""
    return surrogate(0xDFFF) + b"t-address"


@FAMILY.bug(
    "Apache Log4cxx",
    "https://github.com/apache/logging-log4cxx/pull/669",
    names="code_point",
    values=(0xD800, 0xDBFF, 0xDC00),
)
def log4cxx_669(code_point: int) -> bytes:
    """The surrogate U+{code_point:04X}, accepted"""
    return surrogate(code_point)


@FAMILY.bug(
    "WebAssembly specification, Apache Log4cxx",
    "https://github.com/WebAssembly/spec/pull/923",
    "https://github.com/apache/logging-log4cxx/pull/669",
    names="code_point",
    values=(0xDF00, 0xDF40, 0xDF80, 0xDFC0, 0xDFFF),
)
def webassembly_spec_923(code_point: int) -> bytes:
    """The surrogate U+{code_point:04X}, accepted where the low surrogates were not ruled out"""
    return surrogate(code_point)


@FAMILY.bug(
    "json-voorhees",
    "https://github.com/tgockel/json-voorhees/issues/207",
    names="octets",
    values=(b"\xf8\x80\x80\x80\x80", overlong(0, 2), out_of_range(0x140000)),
)
def json_voorhees_207(octets: bytes) -> bytes:
    """{octets:hex}, accepted because only the shape of a character was checked"""
    return octets


@FAMILY.bug("Boost.MQTT5", "https://github.com/boostorg/mqtt5/pull/57")
def boost_mqtt5_57_accepted() -> bytes:
    """C3 and no continuation after it, accepted: the z was taken for one"""
    return b"\xc3z"


@FAMILY.bug(
    "node, haskell/text",
    "https://github.com/nodejs/node/issues/48995",
    "https://github.com/haskell/text/issues/540",
)
def node_48995() -> bytes:
    """80 alone at an offset into a larger buffer, accepted"""
    return b"\x80"


@FAMILY.bug("haskell/text", "https://github.com/haskell/text/issues/61")
def haskell_text_61() -> bytes:
    """C2 alone, decoded to an empty text"""
    return truncated(0xA9, 1)


# Wrong refusal or count


@FAMILY.bug("Boost.MQTT5", "https://github.com/boostorg/mqtt5/pull/57", names="scalar", values=(0xFE, 0xFF, 0x1F5FE))
def boost_mqtt5_57(scalar: int) -> bytes:
    """U+{scalar:04X}, refused because the low octet of its number is that of a noncharacter"""
    return well_formed(scalar)


@FAMILY.bug("mutf8", "https://github.com/TkTech/mutf8/issues/1", names="scalar", values=(0xD02D, 0xD091, 0xD740))
def mutf8_1(scalar: int) -> bytes:
    """U+{scalar:04X}, refused because what begins with ED was taken for a surrogate"""
    return b"Lo/" + well_formed(scalar) + b";"


@FAMILY.bug("mutf8", "https://github.com/TkTech/mutf8/issues/6", names="scalar", values=(0x20000, 0x100000))
def mutf8_6(scalar: int) -> bytes:
    """U+{scalar:04X} as two surrogates, which is modified UTF-8, decoded to another number"""
    return surrogate_pair(scalar)


@FAMILY.bug(
    "actools, RagnarokSDE",
    "https://github.com/gro-ove/actools/issues/11",
    "https://github.com/Tokeiburu/RagnarokSDE/issues/5",
    names="scalar",
    values=(0xE9, 0x20AC, 0x1F600),
)
def actools_11(scalar: int) -> bytes:
    """U+{scalar:04X} as the last of a text, refused for want of an octet after it"""
    return b"a" + well_formed(scalar)


@FAMILY.bug("Apache Log4cxx", "https://github.com/apache/logging-log4cxx/pull/664")
def log4cxx_664() -> bytes:
    """U+0800, the first character of three octets, refused as overlong"""
    return well_formed(0x800)


@FAMILY.bug(
    "LAStools",
    "https://github.com/LAStools/LAStools/pull/265",
    names="before, scalar, after",
    values=((b"Caf", 0xE9, b""), (b"f", 0xFC, b"r"), (b"", 0x3A9, b"")),
)
def lastools_265(before: bytes, scalar: int, after: bytes) -> bytes:
    """U+{scalar:04X} in a word, refused like all characters of two octets"""
    return before + well_formed(scalar) + after


@FAMILY.bug("GmSSL", "https://github.com/guanzhi/GmSSL/pull/1895")
def gmssl_1895() -> bytes:
    """A character of three octets, refused because of a wrong mask for continuations"""
    return well_formed(0x4E2D)


@FAMILY.bug("protoc-gen-validate", "https://github.com/bufbuild/protoc-gen-validate/pull/1379")
def protoc_gen_validate_1379() -> bytes:
    """C0 in twenty octets, counted as ten characters"""
    return b"\xc0" * 20


@FAMILY.bug("node, boa", "https://github.com/nodejs/node/issues/16894", "https://github.com/boa-dev/boa/issues/4614")
def node_16894() -> bytes:
    """NUL in four octets without the last, replaced by one U+FFFD instead of three, or not refused"""
    return overlong(0, 4)[:3]


@FAMILY.bug(
    "feross/buffer",
    "https://github.com/feross/buffer/issues/164",
)
def feross_buffer_164() -> bytes:
    """The first two octets of three and a lead, replaced by three U+FFFD instead of two"""
    return truncated(0xC180, 2) + b"\xdb"


@FAMILY.bug(
    ".NET Framework", "https://github.com/dotnet/coreclr/issues/27110", "https://github.com/dotnet/docs/issues/13547"
)
def coreclr_27110() -> bytes:
    """F0 and a continuation that cannot follow it, replaced by one U+FFFD instead of two"""
    return b"\xf0\x8e"


@FAMILY.bug("Scala.js", "https://github.com/scala-js/scala-js/issues/5245")
def scala_js_5245() -> bytes:
    """E0 and a continuation that cannot follow it in a text, replaced by one U+FFFD instead of two"""
    return well_formed(0x87A1) + b"\xe0\x91" + well_formed(0x7E9C, 0xD69, 0x617D)


# Reading past the end


@FAMILY.bug("CUPS", "https://github.com/OpenPrinting/cups/issues/1438")
def cups_1438() -> bytes:
    """C1 as the last octet before the NUL, which was skipped as its continuation"""
    return b"\n\xc1"


@FAMILY.bug("libcupsfilters", "https://github.com/OpenPrinting/libcupsfilters/issues/178")
def libcupsfilters_178() -> bytes:
    """C0 alone, the NUL after it skipped as its continuation"""
    return b"\xc0"


@FAMILY.bug("utf8.h", "https://github.com/sheredom/utf8.h/pull/136", names="octets", values=(b",\xdf", b"\xe7"))
def utf8_h_136(octets: bytes) -> bytes:
    """{octets:hex} before the NUL, which was skipped as a continuation of the last octet"""
    return octets


@FAMILY.bug("utf8.h", "https://github.com/sheredom/utf8.h/issues/102")
def utf8_h_102() -> bytes:
    """A character at the end of a text, refused after a look at the octet beyond"""
    return well_formed(0xA3)


@FAMILY.bug(
    "node-re2, utf8.h, systemd",
    "https://github.com/uhop/node-re2/issues/31",
    "https://github.com/sheredom/utf8.h/issues/5",
    "https://github.com/systemd/systemd/pull/43078",
)
def node_re2_31() -> bytes:
    """F0 alone, four octets of it read"""
    return truncated(0x1F600, 1)


@FAMILY.bug("Eclipse Paho C", "https://github.com/eclipse-paho/paho.mqtt.c/issues/433")
def paho_mqtt_c_433() -> bytes:
    """F0 as the last octet of a buffer, three octets beyond it looked at"""
    return b"\0\0\0" + truncated(0x1F600, 1)


@FAMILY.bug("node-re2", "https://github.com/uhop/node-re2/issues/272")
def node_re2_272() -> bytes:
    """F0 as the last octet of a buffer, up to three octets beyond copied into the result"""
    return b"a" + truncated(0x1F600, 1)


@FAMILY.bug("ThorVG", "https://github.com/thorvg/thorvg/pull/4246")
def thorvg_4246() -> bytes:
    """The first two octets of four at the end of a text, read beyond the end"""
    return b"hello" + truncated(0x1F600, 2)


@FAMILY.bug("ThorVG", "https://github.com/thorvg/thorvg/pull/3399")
def thorvg_3399() -> bytes:
    """A number beyond U+10FFFF in five octets, a crash"""
    return out_of_range(0x200000)


@FAMILY.bug("c-utf8, GLib", "https://github.com/c-util/c-utf8/issues/6", "https://github.com/c-util/c-utf8/pull/7")
def c_utf8_6() -> bytes:
    """One octet and a NUL, loaded as four octets"""
    return b"a"


@FAMILY.bug("simd-json", "https://rustsec.org/advisories/RUSTSEC-2019-0008.html")
def rustsec_2019_0008() -> bytes:
    """A text that ends with its page of 4,096 octets, read into the next page"""
    return b'"' + b"a" * 4094 + b'"'
