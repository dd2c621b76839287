/* Adapter for Java's own decoders: java -cp FOLDER JavaUtf8 charsetdecoder|string|readutf
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
            default:
                throw new IllegalArgumentException("name charsetdecoder, string or readutf");
        }
    }

    public static void main(String[] arguments) throws IOException {
        String name = arguments[0];
        String traits = Map.of(
            // it treats a surrogate of three octets as one error, like String
            "charsetdecoder", ", \"error_mode\": \"replacement-per-surrogate\", \"encode_errors\": \"fatal\""
                + ", \"stream_offsets\": \"stream\", \"stream_refusals\": \"marked\"",
            "string", ", \"error_mode\": \"replacement-per-surrogate\", \"encode_errors\": \"question mark\"",
            "readutf", "").get(name);
        Frames.serve(name, System.getProperty("java.version"), traits, operations(name));
    }
}
