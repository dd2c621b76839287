/* Adapter for decoders of Maven: java -cp CLASSES:JARS/* JarUtf8 guava|protobuf|jackson|tomcat
   It is built in a folder with Frames.java and the jars. */
import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParseException;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import com.google.common.base.Utf8;
import com.google.protobuf.ByteString;
import com.google.protobuf.CodedInputStream;
import com.google.protobuf.CodedOutputStream;
import com.google.protobuf.InvalidProtocolBufferException;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Map;
import java.util.TreeMap;
import org.apache.tomcat.util.buf.Utf8Decoder;

import static java.nio.charset.StandardCharsets.US_ASCII;

public final class JarUtf8 {
    private static final Frames.Answer REFUSED = Frames.Answer.refused(Frames.NOT_SAID, 0);
    private static final JsonFactory JSON = new JsonFactory();

    private static Frames.Answer valid(boolean valid) { return valid ? Frames.Answer.octets(new byte[0]) : REFUSED; }

    private static Frames.Answer announced(char[] text) {
        try {
            return Frames.Answer.octets(ByteBuffer.allocate(4).putInt(Utf8.encodedLength(new String(text))).array());
        } catch (IllegalArgumentException unpaired) {
            return Frames.Answer.notEncoded(Frames.NOT_SAID);
        }
    }

    /** A field of a message: a length in octets, and the string. */
    private static Frames.Answer readString(byte[] octets) throws IOException {
        byte[] field = new byte[CodedOutputStream.computeByteArraySizeNoTag(octets)];
        CodedOutputStream.newInstance(field).writeByteArrayNoTag(octets);
        try {
            return Frames.Answer.units(CodedInputStream.newInstance(field).readStringRequireUtf8());
        } catch (InvalidProtocolBufferException refused) {
            if (!String.valueOf(refused.getMessage()).contains("UTF-8")) throw refused;
            return REFUSED;
        }
    }

    private static Frames.Answer writeString(char[] text) throws IOException {
        ByteArrayOutputStream written = new ByteArrayOutputStream();
        CodedOutputStream field = CodedOutputStream.newInstance(written);
        field.writeStringNoTag(new String(text));
        field.flush();
        return Frames.Answer.octets(CodedInputStream.newInstance(written.toByteArray()).readByteArray());
    }

    /** A string in JSON; only characters that JSON forbids in strings are escaped. */
    private static Frames.Answer readJson(byte[] octets) throws IOException {
        ByteArrayOutputStream text = new ByteArrayOutputStream(octets.length + 2);
        text.write('"');
        for (byte octet : octets) {
            if (octet >= 0 && (octet < ' ' || octet == '"' || octet == '\\'))
                text.write(String.format("\\u%04x", octet).getBytes(US_ASCII));
            else
                text.write(octet);
        }
        text.write('"');
        try (JsonParser parser = JSON.createParser(text.toByteArray())) {
            if (parser.nextToken() != JsonToken.VALUE_STRING) throw new IOException("it found no string");
            Frames.Answer answer = Frames.Answer.units(parser.getText());
            return parser.nextToken() == null ? answer : REFUSED;
        } catch (JsonParseException | java.io.CharConversionException refused) {
            return REFUSED;
        }
    }

    private static Map<Character, Frames.Operation> operations(String name) {
        Map<Character, Frames.Operation> offered = new TreeMap<>();
        switch (name) {
            case "guava":
                offered.put('V', octets -> valid(Utf8.isWellFormed(octets)));
                Frames.encoding(offered, JarUtf8::announced);
                offered.put('Z', offered.remove('E'));
                offered.remove('F');
                return offered;
            case "protobuf":
                offered.put('V', octets -> valid(ByteString.copyFrom(octets).isValidUtf8()));
                offered.put('D', JarUtf8::readString);
                Frames.encoding(offered, JarUtf8::writeString);
                return offered;
            case "jackson":
                offered.put('D', JarUtf8::readJson);
                return offered;
            case "tomcat":
                return Frames.decoding(Utf8Decoder::new);
            default:
                throw new IllegalArgumentException("name guava, protobuf, jackson or tomcat");
        }
    }

    public static void main(String[] arguments) throws IOException {
        String name = arguments[0];
        Class<?> own = Map.of("guava", Utf8.class, "protobuf", ByteString.class, "jackson", JsonFactory.class,
            "tomcat", Utf8Decoder.class).get(name);
        String jar = own.getProtectionDomain().getCodeSource().getLocation().getPath();
        String traits = Map.of(
            "guava", ", \"encode_errors\": \"fatal\"",
            "protobuf", ", \"encode_errors\": \"question mark\"",
            "jackson", ", \"wrapper\": \"json-string\"",
            "tomcat", ", \"error_mode\": \"replacement\", \"stream_offsets\": \"stream\", \"stream_refusals\": \"marked\""
            ).get(name);
        Frames.serve(name, jar.substring(jar.lastIndexOf('/') + 1).replaceAll("\\.jar$", ""), traits, operations(name));
    }
}
