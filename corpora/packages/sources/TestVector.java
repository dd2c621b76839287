package overlong.vectors;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Objects;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** An input for a UTF-8 decoder, and what a right decoder answers. Lists cannot be modified. */
public final class TestVector {
    /** Once published, an id never means anything else. */
    public final String id;
    /** What is special about the input, in words; may be empty. */
    public final String comment;
    /** The lengths of the chunks it comes in; empty where it comes whole. */
    public final List<Integer> chunks;
    /** The verdict: whether the input is well-formed. */
    public final boolean accept;
    /** Where ill-formed: of the first maximal subpart; else -1. */
    public final int offset;
    /** Where ill-formed: of that subpart, in octets; else -1. */
    public final int length;
    /** Where ill-formed: the input ends inside a possible character. */
    public final boolean incomplete;
    /** So many octets show that it is ill-formed; -1 where none do before the end. */
    public final int detectableAt;
    /** The output of a decoder that puts U+FFFD for each maximal subpart; where well-formed, the text. */
    public final String replacement;
    /** What of it is out after each chunk, or each octet where it comes whole, and at the end. */
    public final List<String> chunked;
    /** Codes of what is wrong. */
    public final List<String> flags;
    /** What it is for. */
    public final List<String> cases;
    private final String hex;

    private TestVector(String row) {
        String[] fields = row.split("\t", -1);
        id = fields[0];
        hex = fields[1];
        chunks = list(words(fields[2]).map(Integer::valueOf));
        accept = fields[3].equals("accept");
        offset = number(fields[4]);
        length = number(fields[5]);
        incomplete = fields[6].equals("true");
        detectableAt = number(fields[7]);
        replacement = text(fields[9]);
        chunked = list(Stream.of(fields[10].split("\\|", -1)).map(TestVector::text));
        flags = list(words(fields[11]));
        cases = list(words(fields[14]));
        comment = fields[15];
    }

    /**
     * Reads the vectors for each known kind of fault.
     *
     * @return a list that cannot be modified
     */
    public static List<TestVector> core() {
        return read("core.tsv");
    }

    /**
     * Reads the vectors that no wrong decoder of up to nine states passes.
     *
     * @return a list that cannot be modified
     */
    public static List<TestVector> complete() {
        return read("complete.tsv");
    }

    /**
     * Finds a vector in either list.
     *
     * @param id the id of a vector, such as {@code surrogate/eda080}
     * @return the vector with that id
     * @throws IllegalArgumentException if neither list has it
     */
    public static TestVector byId(String id) {
        return Stream.of(core(), complete()).flatMap(List::stream).filter(each -> each.id.equals(id)).findFirst()
                .orElseThrow(() -> new IllegalArgumentException(
                        "no vector '" + id + "': use the id of one that core() or complete() returns"));
    }

    /** A strict decoder. */
    public interface Decoder {
        /**
         * Decodes one input.
         *
         * @param octets the input
         * @return its text; null refuses it
         * @throws Exception to refuse it
         */
        String decode(byte[] octets) throws Exception;
    }

    /**
     * Finds the vectors, of both lists, that a decoder accepts or refuses wrongly, or decodes to another text.
     *
     * @param decoder a strict decoder
     * @return a list that cannot be modified
     */
    public static List<TestVector> failing(Decoder decoder) {
        return list(Stream.of(core(), complete()).flatMap(List::stream)
                .filter(each -> !Objects.equals(answer(decoder, each), each.accept ? each.replacement : null)));
    }

    private static String answer(Decoder decoder, TestVector vector) {
        try {
            return decoder.decode(vector.octets());
        } catch (Exception refused) {
            return null;
        }
    }

    /**
     * Gives the input.
     *
     * @return its octets, in a new array for each call
     */
    public byte[] octets() {
        byte[] octets = new byte[hex.length() / 2];
        for (int i = 0; i < octets.length; i++) {
            octets[i] = (byte) Integer.parseInt(hex.substring(2 * i, 2 * i + 2), 16);
        }
        return octets;
    }

    /**
     * Names the vector.
     *
     * @return its id
     */
    @Override
    public String toString() {
        return id;
    }

    private static List<TestVector> read(String name) {
        try (BufferedReader lines = new BufferedReader(
                new InputStreamReader(TestVector.class.getResourceAsStream(name), StandardCharsets.UTF_8))) {
            return list(lines.lines().skip(1).map(TestVector::new));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static <T> List<T> list(Stream<T> all) {
        return all.collect(Collectors.toUnmodifiableList());
    }

    private static Stream<String> words(String field) {
        return Stream.of(field.split(" ")).filter(word -> !word.isEmpty());
    }

    private static int number(String field) {
        return field.isEmpty() ? -1 : Integer.parseInt(field);
    }

    private static String text(String scalars) {
        return words(scalars).map(word -> Character.toString(Integer.parseInt(word, 16))).collect(Collectors.joining());
    }
}
