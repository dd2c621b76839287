/* The common code of the adapters for Java: frames, batches, and the operations of a CharsetDecoder. */
import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharsetDecoder;
import java.nio.charset.CoderResult;
import java.nio.charset.CodingErrorAction;
import java.util.Arrays;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Supplier;

import static java.nio.charset.StandardCharsets.US_ASCII;

final class Frames {
    static final int NOT_SAID = -1;

    /** One answer; the fields are the columns of a batch. */
    static final class Answer {
        final char status;
        final int number, length, incomplete;
        byte[] output = {};
        int[] marks = {};

        Answer(char status, int number, int length, int incomplete) {
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

        static Answer numbers(int... numbers) {
            Answer answer = new Answer('A', numbers.length, 0, 0);
            ByteBuffer units = ByteBuffer.allocate(4 * numbers.length);
            for (int number : numbers) units.putInt(number);
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

    interface Operation { Answer ask(byte[] payload) throws IOException; }

    interface Encoder { Answer encode(char[] text) throws IOException; }

    // CharsetDecoder -------------------------------------------------------------------------------------------

    private static CharsetDecoder decoder(Supplier<CharsetDecoder> made, CodingErrorAction action) {
        return made.get().onMalformedInput(action).onUnmappableCharacter(action);
    }

    static Map<Character, Operation> decoding(Supplier<CharsetDecoder> made) {
        Map<Character, Operation> offered = new TreeMap<>();
        offer(offered, "DSN", () -> decoder(made, CodingErrorAction.REPORT));
        offer(offered, "LTM", () -> decoder(made, CodingErrorAction.REPLACE));
        return offered;
    }

    private static void offer(Map<Character, Operation> offered, String letters, Supplier<CharsetDecoder> made) {
        CharsetDecoder kept = made.get(); // made once: the test includes that no input affects the next
        offered.put(letters.charAt(0), octets -> whole(kept, octets));
        offered.put(letters.charAt(1), payload -> stream(made.get(), payload));
        offered.put(letters.charAt(2), payload -> again(made.get(), payload));
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
        CharBuffer out = CharBuffer.allocate(octets.length - start + 1); // an octet gives at most one char
        int[] marks = new int[chunks.length];
        int taken = start, end = start;
        for (int chunk = 0; chunk < chunks.length; chunk++) {
            end += chunks[chunk];
            boolean last = chunk + 1 == chunks.length;
            ByteBuffer in = ByteBuffer.wrap(Arrays.copyOfRange(octets, taken, end)); // octets left over, then the chunk
            CoderResult result = decoder.decode(in, out, last);
            if (last && result.isUnderflow()) result = decoder.flush(out);
            if (result.isOverflow()) throw new IllegalStateException("no room for the output");
            taken += in.position();
            if (result.isError()) return Answer.refused(taken - start, result.length()).marked(chunk + 1);
            marks[chunk] = out.position();
        }
        return Answer.units(out.flip()).marked(marks);
    }

    private static Answer again(CharsetDecoder decoder, byte[] payload) {
        int end = 4 + ByteBuffer.wrap(payload).getInt();
        stream(decoder, Arrays.copyOfRange(payload, 4, end)); // its answer is not needed
        decoder.reset();
        return stream(decoder, Arrays.copyOfRange(payload, end, payload.length));
    }

    // Encoders -------------------------------------------------------------------------------------------------

    static void encoding(Map<Character, Operation> offered, Encoder encoder) {
        offered.put('E', payload -> encodePoints(encoder, payload));
        offered.put('F', payload -> {
            char[] text = new char[payload.length / 2];
            ByteBuffer.wrap(payload).asCharBuffer().get(text);
            return encoder.encode(text);
        });
    }

    /** Surrogates become single chars. No chars stand for a number beyond 10FFFF: it is refused here, if nothing
        before it is; the encoder is asked for what precedes it. */
    static Answer encodePoints(Encoder encoder, byte[] payload) throws IOException {
        int[] points = new int[payload.length / 4];
        ByteBuffer.wrap(payload).asIntBuffer().get(points);
        int taken = 0;
        while (taken < points.length && Character.isValidCodePoint(points[taken])) taken++;
        Answer answer = encoder.encode(new String(points, 0, taken).toCharArray());
        if (answer.status == 'R' && answer.number != NOT_SAID) { // convert an index of chars to one of code points
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
        } catch (Exception | StackOverflowError error) { // a bug, not a refusal
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

    /** Greets, then answers until the input ends. Traits are further members of the greeting, in JSON. */
    static void serve(String name, String version, String traits, Map<Character, Operation> operations) throws IOException {
        StringBuilder letters = new StringBuilder("PB");
        operations.keySet().forEach(letters::append);
        DataInputStream in = new DataInputStream(new BufferedInputStream(System.in, 1 << 16));
        DataOutputStream out =
            new DataOutputStream(new BufferedOutputStream(new FileOutputStream(FileDescriptor.out), 1 << 16));
        System.setOut(System.err); // nothing else may write between frames
        out.write(("{\"overlong\": 1, \"name\": \"java-" + name + "\", \"version\": \"" + version
            + "\", \"language\": \"Java\", \"operations\": \"" + letters + "\", \"units\": \"utf-16\"" + traits + "}\n")
            .getBytes(US_ASCII));
        while (true) {
            if (in.available() == 0) out.flush(); // no request in the pipe: the harness waits
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
