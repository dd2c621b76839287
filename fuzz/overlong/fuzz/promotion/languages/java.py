"""Java: a class with a method ``test``, which JUnit can be told of, and a ``main`` that calls it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from overlong.fuzz.promotion.literals import commented, number_lines, source_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from overlong.fuzz.promotion.case import Case

_OCTETS = """
    private static byte[] octets(int[] numbers) {
        byte[] octets = new byte[numbers.length];
        for (int i = 0; i < octets.length; i++) {
            octets[i] = (byte) numbers[i];
        }
        return octets;
    }"""
_CUT = """
    private static byte[][] cut(byte[] octets, int[] lengths) {
        byte[][] chunks = new byte[lengths.length][];
        int place = 0;
        for (int i = 0; i < chunks.length; i++) {
            chunks[i] = Arrays.copyOfRange(octets, place, place + lengths[i]);
            place += lengths[i];
        }
        return chunks;
    }"""
_JOIN = """\
        ByteArrayOutputStream joined = new ByteArrayOutputStream();
        for (byte[] chunk : chunks) {
            joined.write(chunk, 0, chunk.length);
        }
        byte[] octets = joined.toByteArray();"""
_STRICT = """\
        try {
            return StandardCharsets.UTF_8
                    .newDecoder()
                    .decode(ByteBuffer.wrap(octets))
                    .codePoints()
                    .toArray();
        } catch (CharacterCodingException refused) {
            return null;
        }"""
_REPLACING = "        return new String(octets, StandardCharsets.UTF_8).codePoints().toArray();"


def write(case: Case) -> str:
    """The test."""
    if case.earlier is not None:
        parameters, arguments = "byte[][] earlier, byte[][] chunks", "cut(octets(EARLIER), EARLIER_LENGTHS), "
        arguments += "cut(octets(OCTETS), LENGTHS)"
    elif case.is_stream:
        parameters, arguments = "byte[][] chunks", "cut(octets(OCTETS), LENGTHS)"
    else:
        parameters, arguments = "byte[] octets", "octets(OCTETS)"
    imports = ["import java.io.ByteArrayOutputStream;"] * case.is_stream
    imports += ["import java.nio.ByteBuffer;", "import java.nio.charset.CharacterCodingException;"] * (
        not case.replaces
    )
    imports += ["import java.nio.charset.StandardCharsets;", "import java.util.Arrays;"]
    return source_of(
        commented(case.comment, "//"),
        "",
        imports,
        "",
        f"public final class {case.title_name}Test {{",
        _numbers("OCTETS", case.octets, hex),
        [] if case.scalars is None else _numbers("SCALARS", case.scalars, hex),
        _numbers("LENGTHS", case.lengths) if case.is_stream else [],
        [] if case.earlier is None else _numbers("EARLIER", b"".join(case.earlier), hex),
        [] if case.earlier is None else _numbers("EARLIER_LENGTHS", tuple(map(len, case.earlier))),
        "",
        "    /** Set by decode: where the input is refused; -1 if the decoder does not say. */",
        "    private static int offset = -1;",
        "",
        "    /** The code points; null if the input is refused. */",
        f"    private static int[] decode({parameters}) {{",
        _adapt(case),
        _JOIN if case.is_stream else [],
        _REPLACING if case.replaces else _STRICT,
        "    }",
        "",
        "    /** With JUnit: the test. */",
        "    public static void test() {",
        _test(case, f"decode({arguments})"),
        "    }",
        "",
        "    public static void main(String[] arguments) {",
        "        test();",
        "    }",
        _OCTETS,
        _CUT if case.is_stream else [],
        "}",
    )


def _adapt(case: Case) -> list[str]:
    if case.earlier is not None:
        return [
            "        // ADAPT: feed your decoder the earlier stream, reset it, then feed it the chunks; the answer",
            "        // is that to the second stream.",
        ]
    return [f"        // ADAPT: {'feed your decoder chunk by chunk' if case.is_stream else 'call your decoder'}."]


def _test(case: Case, call: str) -> list[str]:
    lines = [f"int[] made = {call};"]
    if case.scalars is not None:
        lines += [
            "if (made == null) {",
            '    throw new AssertionError("refused at " + offset);',
            "}",
            "if (!Arrays.equals(made, SCALARS)) {",
            '    throw new AssertionError("decoded as " + Arrays.toString(made));',
            "}",
        ]
    else:
        lines += ["if (made != null) {", '    throw new AssertionError("accepted as " + Arrays.toString(made));', "}"]
    if case.offset is not None:
        lines += [
            f"if (offset != -1 && offset != {case.offset}) {{",
            '    throw new AssertionError("refused at " + offset);',
            "}",
        ]
    if case.times > 1:
        loop = f"for (int i = 0; i < {case.times}; i++) {{ // it did not always answer alike"
        lines = [loop, *(f"    {line}" for line in lines), "}"]
    return [f"        {line}" for line in lines]


def _numbers(name: str, numbers: Sequence[int], form: Callable[[int], str] = str) -> list[str]:
    rows = number_lines(numbers, 88, form)
    return [f"    private static final int[] {name} = {{", *(f"        {row}" for row in rows), "    };"]
