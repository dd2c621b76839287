"""Java: rows of text, parsed when the class is loaded.

A method and a string constant end at 64 KB, so the text is cut into classes that hold one constant each.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from overlong.conformance.vectors.formats.format import Format
from overlong.conformance.vectors.formats.source import heading, put, quoted, refusal, sentence
from overlong.reference import Rejected

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from overlong.conformance.vectors.formats.format import Sink
    from overlong.conformance.vectors.selection import Selection
    from overlong.conformance.vectors.vector import Vector

_LARGEST = 60_000  # characters of a string constant, which are octets here

_DECLARATIONS = r"""
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/** Test vectors for UTF-8 decoders. */
public final class Utf8Vectors {
    /** One input and what a right decoder answers. */
    public static final class Vector {
        public final String id;
        public final String comment;
        /** The input. */
        public final byte[] octets;
        /** Lengths of the chunks it comes in; null where it comes whole. */
        public final int[] chunks;
        /** The verdict: whether the input is well-formed. */
        public final boolean accept;
        /** Where ill-formed: of the first maximal subpart. */
        public final int offset;
        /** Where ill-formed: of that subpart, in octets. */
        public final int length;
        /** Where ill-formed: the input ends inside a possible character. */
        public final boolean incomplete;
        /** So many octets show that it is ill-formed; -1 where none do before the end. */
        public final int detectableAt;
        /** Strict output; null where ill-formed. */
        public final int[] scalars;
        /** Output with one U+FFFD for each maximal subpart. */
        public final int[] replacement;
        /** How many of these are out after each chunk; where it comes whole, after each octet. */
        public final int[] putOut;
        /** Codes of what is wrong. */
        public final List<String> flags;

        private Vector(String[] fields) {
            id = fields[0];
            comment = fields[1];
            octets = new byte[fields[2].length() / 2];
            for (int i = 0; i < octets.length; i++) {
                octets[i] = (byte) Integer.parseInt(fields[2].substring(2 * i, 2 * i + 2), 16);
            }
            chunks = fields[3].isEmpty() ? null : numbers(fields[3], 10);
            accept = fields[4].equals("accept");
            offset = Integer.parseInt(fields[5]);
            length = Integer.parseInt(fields[6]);
            incomplete = fields[7].equals("incomplete");
            detectableAt = Integer.parseInt(fields[8]);
            replacement = numbers(fields[9], 16);
            scalars = accept ? replacement.clone() : null;
            putOut = numbers(fields[10], 10);
            flags = fields[11].isEmpty() ? List.of() : List.of(fields[11].split(" "));
        }

        private static int[] numbers(String text, int radix) {
            String[] words = text.isEmpty() ? new String[0] : text.split(" ");
            int[] result = new int[words.length];
            for (int i = 0; i < words.length; i++) {
                result[i] = Integer.parseInt(words[i], radix);
            }
            return result;
        }
    }

    /** The test vectors. */
    public static final List<Vector> ALL = parsed();

    private Utf8Vectors() {}

    private static List<Vector> parsed() {
        List<Vector> vectors = new ArrayList<>();
        for (String row : String.join("", texts()).split("\n")) {
            vectors.add(new Vector(row.split("\t", -1)));
        }
        return Collections.unmodifiableList(vectors);
    }
"""


def write(selection: Selection, sink: Sink) -> None:
    with sink.open() as file:
        put(file, *heading(selection), _DECLARATIONS)
        count = 0
        for count, part in enumerate(_parts(map(_row, selection.vectors())), 1):
            put(file, f"    private static final class Part{count} {{", "        static String text() {")
            literals = (quoted(piece).replace("\t", "\\t").replace("\n", "\\n") for piece in part)
            put(file, "            return " + "\n                + ".join(literals) + ";", "        }", "    }", "")
        put(file, "    private static String[] texts() {", "        return new String[] {")
        put(file, *(f"            Part{number}.text()," for number in range(1, count + 1)), "        };", "    }", "}")


def _row(vector: Vector) -> str:
    refused, known = refusal(vector), vector.detectable_at
    place = refused or Rejected(0, 0, incomplete=False)
    fields = (
        vector.id,
        sentence(vector),
        vector.octets.hex(),
        " ".join(map(str, vector.chunks or ())),
        "reject" if refused else "accept",
        str(place.offset),
        str(place.length),
        "incomplete" if place.incomplete else "",
        str(-1 if known is None else known),
        " ".join(f"{scalar:x}" for scalar in vector.replaced.scalars),
        " ".join(map(str, vector.put_out)),
        " ".join(vector.flags),
    )
    return "\t".join(fields) + "\n"


def _parts(rows: Iterable[str]) -> Iterator[list[str]]:
    """Rows in groups that fit into a constant; a row that does not is cut."""
    part, size = list[str](), 0
    for row in rows:
        for start in range(0, len(row), _LARGEST):
            piece = row[start : start + _LARGEST]
            if size + len(piece) > _LARGEST:
                yield part
                part, size = [], 0
            part.append(piece)
            size += len(piece)
    if part:
        yield part


FORMAT = Format("java", "Utf8Vectors.java", write)
