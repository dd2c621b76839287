// An adapter: a UTF-8 decoder behind two pipes. Change `decode`, and add its "version" to the greeting.
// Build:   javac -d . Adapter.java
// Certify: overlong certify -- java -cp . Adapter        (--subject FILE before -- names a file of your decoder, too)
import java.io.*;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.*;
import java.util.*;

public final class Adapter {
    /** Where the decoder refused: the offset of the flaw; -1 if it does not say. */
    static final class Refused extends Exception {
        final int offset; Refused(int offset) { this.offset = offset; }
    }

    /** YOUR DECODER HERE: it returns text, or throws Refused. Other exceptions are taken for bugs of the decoder. */
    static CharSequence decode(byte[] octets) throws Refused {
        CharsetDecoder decoder = StandardCharsets.UTF_8.newDecoder(); // it reports what is malformed
        ByteBuffer in = ByteBuffer.wrap(octets);
        CharBuffer out = CharBuffer.allocate(octets.length + 1);
        CoderResult result = decoder.decode(in, out, true);
        if (result.isError()) throw new Refused(in.position());
        decoder.flush(out);
        return out.flip();
    }

    interface Answer { int[] to(byte[] text, int argument) throws Refused; }
    static final Map<Integer, Answer> answers = new TreeMap<>();
    static final List<String> names = new ArrayList<>();
    static void offer(int number, String name, Answer answer) {
        answers.put(number, answer);
        names.add('"' + name + '"');
    }

    /** FUNCTIONS beside it, if any: number and name of a question ('overlong docs functions'), and the answer. */
    static {
        // offer(1, "count-scalars", (text, argument) -> new int[] {(int) decode(text).codePoints().count()});
    }

    static void ask(byte[] payload, DataOutputStream response) throws IOException, Refused {
        ByteBuffer in = ByteBuffer.wrap(payload);
        int[] numbers = answers.get((int) in.get()).to(Arrays.copyOfRange(payload, 5, payload.length), in.getInt());
        response.write('A');
        for (int number : numbers) response.writeInt(number);
    }

    /** P echoes, V validates, D decodes, Q asks a function. Batches (B) would save time: 'overlong docs protocol'. */
    static void respond(byte[] body, DataOutputStream response) throws IOException {
        byte[] payload = Arrays.copyOfRange(body, 1, body.length);
        try {
            if (body[0] == 'Q' && !names.isEmpty()) {
                ask(payload, response);
                return;
            }
            CharSequence text = body[0] == 'V' || body[0] == 'D' ? decode(payload) : "";
            response.write("PVD".indexOf(body[0]) >= 0 ? 'A' : 'U');
            if (body[0] == 'P') response.write(payload);
            if (body[0] == 'D') response.writeChars(text.toString()); // UTF-16, big-endian
        } catch (Refused refused) {
            response.write('R');
            response.writeInt(refused.offset);
        } catch (RuntimeException | Error bug) {
            response.writeBytes("X" + bug.toString().replaceAll("[^ -~]", "?"));
        }
    }

    public static void main(String[] arguments) throws IOException {
        DataInputStream requests = new DataInputStream(new BufferedInputStream(System.in));
        PrintStream responses = System.out; // it writes octets as they are
        System.setOut(System.err); // what is printed from here on is no answer
        responses.print("{\"overlong\": 1, \"language\": \"Java\", \"operations\": \"PVD" + (names.isEmpty() ? "" : "Q")
            + "\", \"units\": \"utf-16\", \"functions\": " + names + "}\n");
        for (responses.flush(); ; responses.flush()) {
            byte[] head = requests.readNBytes(8);
            if (head.length < 8) return; // the input has ended
            byte[] body = requests.readNBytes(ByteBuffer.wrap(head).getInt() - 4);
            ByteArrayOutputStream response = new ByteArrayOutputStream();
            respond(body, new DataOutputStream(response));
            responses.write(ByteBuffer.allocate(4).putInt(response.size() + 4).array());
            responses.write(head, 4, 4);
            response.writeTo(responses);
        }
    }
}
