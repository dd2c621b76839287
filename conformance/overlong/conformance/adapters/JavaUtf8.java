/* Adapter for Java's own decoders: java -cp FOLDER JavaUtf8 charsetdecoder|string|readutf
   Build: javac -d FOLDER JavaUtf8.java */
import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.UTFDataFormatException;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharsetDecoder;
import java.nio.charset.CharsetEncoder;
import java.nio.charset.CoderResult;
import java.nio.charset.CodingErrorAction;
import java.util.Arrays;
import java.util.Map;
import java.util.TreeMap;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static java.nio.charset.StandardCharsets.UTF_8;

public final class JavaUtf8 {
    private static final int NOT_SAID = -1;

    /** One answer; the fields are the columns of a batch. */
    private static final class Answer {
        final char status;
        final int number, length, incomplete;
        byte[] output = {};
        int[] marks = {};

        private Answer(char status, int number, int length, int incomplete) {
            this.status = status;
            this.number = number;
            this.length = length;
            this.incomplete = incomplete;
        }

        static Answer octets(byte[] octets) {
            Answer answer = new Answer('A', octets.length, 0, 0);
            answer.output = octets;
            return answer;
        }

        static Answer units(CharSequence text) {
            Answer answer = new Answer('A', text.length(), 0, 0);
            ByteBuffer units = ByteBuffer.allocate(2 * text.length());
            for (int i = 0; i < text.length(); i++) units.putChar(text.charAt(i));
            answer.output = units.array();
            return answer;
        }

        static Answer refused(int offset, int length) { return new Answer('R', offset, length, 0xFF); }

        static Answer notEncoded(int index) { return new Answer('R', index, 0, index == NOT_SAID ? 0xFF : 0); }

        static Answer words(char status, String words) {
            byte[] text = words.substring(0, Math.min(200, words.length())).getBytes(US_ASCII);
            Answer answer = new Answer(status, text.length, 0, 0);
            answer.output = text;
            return answer;
        }

        Answer marked(int... marks) {
            this.marks = marks;
            return this;
        }
    }

    private interface Operation { Answer ask(byte[] payload) throws IOException; }

    private interface Encoder { Answer encode(char[] text) throws IOException; }

    // CharsetDecoder and CharsetEncoder ------------------------------------------------------------------------

    private static CharsetDecoder decoder(CodingErrorAction action) {
        return UTF_8.newDecoder().onMalformedInput(action).onUnmappableCharacter(action);
    }

    /** One input is a stream of one chunk without marks. */
    private static Answer whole(CharsetDecoder decoder, byte[] octets) {
        decoder.reset();
        return decode(decoder, octets, new int[] {octets.length}, 0).marked();
    }

    private static Answer stream(CharsetDecoder decoder, byte[] payload) {
        ByteBuffer head = ByteBuffer.wrap(payload);
        int[] chunks = new int[head.getShort() & 0xFFFF];
        for (int i = 0; i < chunks.length; i++) chunks[i] = head.getInt();
        return decode(decoder, payload, chunks, head.position());
    }

    private static Answer decode(CharsetDecoder decoder, byte[] octets, int[] chunks, int start) {
        CharBuffer out = CharBuffer.allocate(octets.length - start + 1); // no octet makes more than one char
        int[] marks = new int[chunks.length];
        int taken = start, end = start;
        for (int chunk = 0; chunk < chunks.length; chunk++) {
            end += chunks[chunk];
            boolean last = chunk + 1 == chunks.length;
            ByteBuffer in = ByteBuffer.wrap(Arrays.copyOfRange(octets, taken, end)); // what was left over, and the chunk
            CoderResult result = decoder.decode(in, out, last);
            if (last && result.isUnderflow()) result = decoder.flush(out);
            if (result.isOverflow()) throw new IllegalStateException("no room for the output");
            taken += in.position();
            if (result.isError()) return Answer.refused(taken - start, result.length()).marked(chunk + 1);
            marks[chunk] = out.position();
        }
        return Answer.units(out.flip()).marked(marks);
    }

    private static Answer again(CodingErrorAction action, byte[] payload) {
        CharsetDecoder decoder = decoder(action);
        int end = 4 + ByteBuffer.wrap(payload).getInt();
        stream(decoder, Arrays.copyOfRange(payload, 4, end)); // its answer is not asked for
        decoder.reset();
        return stream(decoder, Arrays.copyOfRange(payload, end, payload.length));
    }

    private static Answer encode(CharsetEncoder encoder, char[] text) {
        encoder.reset();
        CharBuffer in = CharBuffer.wrap(text);
        ByteBuffer out = ByteBuffer.allocate(3 * text.length + 1);
        CoderResult result = encoder.encode(in, out, true);
        if (result.isUnderflow()) result = encoder.flush(out);
        if (result.isOverflow()) throw new IllegalStateException("no room for the output");
        if (result.isError()) return Answer.notEncoded(in.position());
        return Answer.octets(Arrays.copyOf(out.array(), out.position()));
    }

    // DataInput and DataOutput ---------------------------------------------------------------------------------

    private static Answer readUTF(byte[] octets) throws IOException {
        if (octets.length > 0xFFFF) return Answer.words('U', "its length is 16 bits wide");
        ByteBuffer framed = ByteBuffer.allocate(2 + octets.length).putShort((short) octets.length).put(octets);
        try {
            return Answer.units(new DataInputStream(new ByteArrayInputStream(framed.array())).readUTF());
        } catch (UTFDataFormatException | java.io.EOFException refused) {
            return Answer.refused(NOT_SAID, 0);
        }
    }

    private static Answer writeUTF(char[] text) throws IOException {
        ByteArrayOutputStream written = new ByteArrayOutputStream(3 * text.length + 2);
        try {
            new DataOutputStream(written).writeUTF(new String(text));
        } catch (UTFDataFormatException tooLong) {
            return Answer.words('U', "its length is 16 bits wide");
        }
        byte[] framed = written.toByteArray();
        return Answer.octets(Arrays.copyOfRange(framed, 2, framed.length));
    }

    // What is offered ------------------------------------------------------------------------------------------

    private static Map<Character, Operation> operations(String name) {
        Map<Character, Operation> offered = new TreeMap<>();
        switch (name) {
            case "charsetdecoder":
                // Made once: that one input leaves no trace in the next is part of the test.
                CharsetDecoder strict = decoder(CodingErrorAction.REPORT), replacing = decoder(CodingErrorAction.REPLACE);
                CharsetEncoder encoder = UTF_8.newEncoder()
                    .onMalformedInput(CodingErrorAction.REPORT).onUnmappableCharacter(CodingErrorAction.REPORT);
                offered.put('D', octets -> whole(strict, octets));
                offered.put('L', octets -> whole(replacing, octets));
                offered.put('S', payload -> stream(decoder(CodingErrorAction.REPORT), payload));
                offered.put('T', payload -> stream(decoder(CodingErrorAction.REPLACE), payload));
                offered.put('N', payload -> again(CodingErrorAction.REPORT, payload));
                offered.put('M', payload -> again(CodingErrorAction.REPLACE, payload));
                encoding(offered, text -> encode(encoder, text));
                return offered;
            case "string":
                offered.put('L', octets -> Answer.units(new String(octets, UTF_8)));
                encoding(offered, text -> Answer.octets(new String(text).getBytes(UTF_8)));
                return offered;
            case "readutf":
                offered.put('D', JavaUtf8::readUTF);
                encoding(offered, JavaUtf8::writeUTF);
                return offered;
            default:
                throw new IllegalArgumentException("name charsetdecoder, string or readutf");
        }
    }

    private static void encoding(Map<Character, Operation> offered, Encoder encoder) {
        offered.put('E', payload -> encodePoints(encoder, payload));
        offered.put('F', payload -> {
            char[] text = new char[payload.length / 2];
            ByteBuffer.wrap(payload).asCharBuffer().get(text);
            return encoder.encode(text);
        });
    }

    /** Surrogates become single chars. No chars stand for a number beyond 10FFFF: it is refused here, if nothing
        before it is; the encoder is asked for what precedes it. */
    private static Answer encodePoints(Encoder encoder, byte[] payload) throws IOException {
        int[] points = new int[payload.length / 4];
        ByteBuffer.wrap(payload).asIntBuffer().get(points);
        int taken = 0;
        while (taken < points.length && Character.isValidCodePoint(points[taken])) taken++;
        Answer answer = encoder.encode(new String(points, 0, taken).toCharArray());
        if (answer.status == 'R' && answer.number != NOT_SAID) { // from an index of chars to one of code points
            int index = 0;
            for (int chars = 0; chars < answer.number; index++) chars += Character.charCount(points[index]);
            return Answer.notEncoded(index);
        }
        return answer.status == 'A' && taken < points.length ? Answer.notEncoded(taken) : answer;
    }

    // Frames ---------------------------------------------------------------------------------------------------

    private static Answer answer(Operation operation, byte[] payload) {
        try {
            return operation.ask(payload);
        } catch (Exception | StackOverflowError error) { // a bug, and no refusal
            return Answer.words('X', error.toString());
        }
    }

    private static byte[] batch(Operation operation, byte[] body) {
        ByteBuffer in = ByteBuffer.wrap(body, 2, body.length - 2);
        Answer[] answers = new Answer[in.getInt()];
        int place = in.position() + 4 * answers.length, size = 1 + 7 * answers.length;
        for (int item = 0; item < answers.length; item++) {
            int end = place + in.getInt();
            Answer answer = answers[item] = answer(operation, Arrays.copyOfRange(body, place, end));
            size += answer.output.length + 4 * answer.marks.length;
            place = end;
        }
        ByteBuffer out = ByteBuffer.allocate(size).put((byte) 'A');
        for (Answer answer : answers) out.put((byte) answer.status);
        for (Answer answer : answers) out.putInt(answer.number);
        for (Answer answer : answers) out.put((byte) answer.length);
        for (Answer answer : answers) out.put((byte) answer.incomplete);
        for (Answer answer : answers) out.put(answer.output);
        for (Answer answer : answers) for (int mark : answer.marks) out.putInt(mark);
        return out.array();
    }

    private static byte[] single(Answer answer) {
        ByteBuffer out = ByteBuffer.allocate(7 + 4 * answer.marks.length + answer.output.length);
        out.put((byte) answer.status);
        if (answer.status == 'R') out.putInt(answer.number).put((byte) answer.length).put((byte) answer.incomplete);
        for (int mark : answer.marks) out.putInt(mark);
        out.put(answer.output);
        return Arrays.copyOf(out.array(), out.position());
    }

    private static byte[] respond(Map<Character, Operation> operations, byte[] body) {
        if (body[0] == 'P') {
            byte[] echo = body.clone();
            echo[0] = 'A';
            return echo;
        }
        if (body[0] == 'B' && body.length > 1 && operations.containsKey((char) body[1]))
            return batch(operations.get((char) body[1]), body);
        Operation operation = operations.get((char) body[0]);
        return operation == null ? new byte[] {'U'} : single(answer(operation, Arrays.copyOfRange(body, 1, body.length)));
    }

    public static void main(String[] arguments) throws IOException {
        String name = arguments[0];
        Map<Character, Operation> operations = operations(name);
        StringBuilder letters = new StringBuilder("PB");
        operations.keySet().forEach(letters::append);
        String traits = Map.of(
            // it takes a surrogate of three octets for one flaw; so does String
            "charsetdecoder", ", \"error_mode\": \"replacement-per-surrogate\", \"encode_errors\": \"fatal\""
                + ", \"stream_offsets\": \"stream\", \"stream_refusals\": \"marked\"",
            "string", ", \"error_mode\": \"replacement-per-surrogate\", \"encode_errors\": \"question mark\"",
            "readutf", "").get(name);
        DataInputStream in = new DataInputStream(new BufferedInputStream(System.in, 1 << 16));
        DataOutputStream out =
            new DataOutputStream(new BufferedOutputStream(new FileOutputStream(FileDescriptor.out), 1 << 16));
        System.setOut(System.err); // nothing else may get between the frames
        out.write(("{\"overlong\": 1, \"name\": \"java-" + name + "\", \"version\": \"" + System.getProperty("java.version")
            + "\", \"language\": \"Java\", \"operations\": \"" + letters + "\", \"units\": \"utf-16\"" + traits + "}\n")
            .getBytes(US_ASCII));
        while (true) {
            if (in.available() == 0) out.flush(); // who waits for an answer sends nothing
            int first = in.read();
            if (first < 0) break;
            int length = first << 24 | in.readUnsignedByte() << 16 | in.readUnsignedShort();
            int request = in.readInt();
            byte[] body = new byte[length - 4];
            in.readFully(body);
            byte[] response = respond(operations, body);
            out.writeInt(4 + response.length);
            out.writeInt(request);
            out.write(response);
        }
        out.flush();
    }
}
