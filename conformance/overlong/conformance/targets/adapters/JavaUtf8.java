/* Adapter for Java's own decoders, and for functions beside them:
   java -cp FOLDER JavaUtf8 charsetdecoder|string|readutf|functions
   Build: javac -d FOLDER JavaUtf8.java Frames.java */
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UTFDataFormatException;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharsetEncoder;
import java.nio.charset.CoderResult;
import java.nio.charset.CodingErrorAction;
import java.util.Arrays;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.IntStream;

import static java.nio.charset.StandardCharsets.UTF_8;

public final class JavaUtf8 {
    private static Frames.Answer encode(CharsetEncoder encoder, char[] text) {
        encoder.reset();
        CharBuffer in = CharBuffer.wrap(text);
        ByteBuffer out = ByteBuffer.allocate(3 * text.length + 1);
        CoderResult result = encoder.encode(in, out, true);
        if (result.isUnderflow()) result = encoder.flush(out);
        if (result.isOverflow()) throw new IllegalStateException("no room for the output");
        if (result.isError()) return Frames.Answer.notEncoded(in.position());
        return Frames.Answer.octets(Arrays.copyOf(out.array(), out.position()));
    }

    private static Frames.Answer readUTF(byte[] octets) throws IOException {
        if (octets.length > 0xFFFF) return Frames.Answer.words('U', "its length is 16 bits wide");
        ByteBuffer framed = ByteBuffer.allocate(2 + octets.length).putShort((short) octets.length).put(octets);
        try {
            return Frames.Answer.units(new DataInputStream(new ByteArrayInputStream(framed.array())).readUTF());
        } catch (UTFDataFormatException | java.io.EOFException refused) {
            return Frames.Answer.refused(Frames.NOT_SAID, 0);
        }
    }

    private static Frames.Answer writeUTF(char[] text) throws IOException {
        ByteArrayOutputStream written = new ByteArrayOutputStream(3 * text.length + 2);
        try {
            new DataOutputStream(written).writeUTF(new String(text));
        } catch (UTFDataFormatException tooLong) {
            return Frames.Answer.words('U', "its length is 16 bits wide");
        }
        byte[] framed = written.toByteArray();
        return Frames.Answer.octets(Arrays.copyOfRange(framed, 2, framed.length));
    }

    /** A question about a text, by its number ('overlong docs functions'). A String of what is ill-formed is none. */
    private static Frames.Answer answer(byte[] payload) {
        ByteBuffer octets = ByteBuffer.wrap(payload);
        int question = octets.get(), argument = octets.getInt();
        if (question == 11) octets.limit(octets.position() + argument);
        ByteBuffer in = octets.slice();
        CharBuffer out = CharBuffer.allocate(question == 16 ? argument : payload.length);
        if (UTF_8.newDecoder().decode(in, out, question != 9).isError()) return Frames.Answer.refused(Frames.NOT_SAID, 0);
        String text = out.flip().toString();
        switch (question) {
            case 1: return Frames.Answer.numbers(text.codePointCount(0, text.length()));
            case 2: return Frames.Answer.numbers(text.length());
            case 7:
                int most = Math.min(argument, text.codePointCount(0, text.length()));
                return Frames.Answer.numbers(text.substring(0, text.offsetByCodePoints(0, most)).getBytes(UTF_8).length);
            case 9: return Frames.Answer.numbers(in.position());
            case 11:
                int point = text.codePointBefore(text.length());
                return Frames.Answer.numbers(point, Character.toString(point).getBytes(UTF_8).length);
            case 16: return taken(in.position(), text.chars());
            case 18: case 20:
                CharBuffer units = CharBuffer.wrap(text);
                ByteBuffer room = ByteBuffer.allocate(argument);
                UTF_8.newEncoder().encode(units, room, true);
                return taken(units.position(), IntStream.range(0, room.position()).map(place -> room.get(place) & 0xFF));
            default: return Frames.Answer.numbers(text.getBytes(UTF_8).length);
        }
    }

    private static Frames.Answer taken(int taken, IntStream written) {
        return Frames.Answer.numbers(IntStream.concat(IntStream.of(taken), written).toArray());
    }

    private static final String FUNCTIONS = ", \"functions\": [\"count-scalars\", \"count-utf16\", \"truncate-scalars\""
        + ", \"trim-partial\", \"previous\", \"to-utf16\", \"from-utf16\", \"from-latin1\", \"size-from-utf16\"]";

    private static Map<Character, Frames.Operation> operations(String name) {
        Map<Character, Frames.Operation> offered = new TreeMap<>();
        switch (name) {
            case "charsetdecoder":
                CharsetEncoder encoder = UTF_8.newEncoder()
                    .onMalformedInput(CodingErrorAction.REPORT).onUnmappableCharacter(CodingErrorAction.REPORT);
                offered = Frames.decoding(UTF_8::newDecoder);
                Frames.encoding(offered, text -> encode(encoder, text));
                return offered;
            case "string":
                offered.put('L', octets -> Frames.Answer.units(new String(octets, UTF_8)));
                Frames.encoding(offered, text -> Frames.Answer.octets(new String(text).getBytes(UTF_8)));
                return offered;
            case "readutf":
                offered.put('D', JavaUtf8::readUTF);
                Frames.encoding(offered, JavaUtf8::writeUTF);
                return offered;
            case "functions":
                offered.put('Q', JavaUtf8::answer);
                return offered;
            default:
                throw new IllegalArgumentException("name charsetdecoder, string, readutf or functions");
        }
    }

    public static void main(String[] arguments) throws IOException {
        String name = arguments[0];
        String traits = Map.of(
            // it treats a surrogate of three octets as one error, like String
            "charsetdecoder", ", \"error_mode\": \"replacement-per-surrogate\", \"encode_errors\": \"fatal\""
                + ", \"stream_offsets\": \"stream\", \"stream_refusals\": \"marked\"",
            "string", ", \"error_mode\": \"replacement-per-surrogate\", \"encode_errors\": \"question mark\"",
            "readutf", "",
            "functions", FUNCTIONS).get(name);
        Frames.serve(name, System.getProperty("java.version"), traits, operations(name));
    }
}
