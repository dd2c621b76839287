import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

class TestDecoder {
    public static void main(String[] arguments) {
        int wrong = 0;
        for (Utf8Vectors.Vector v : Utf8Vectors.ALL) {
            int[] strict = null;
            try {
                strict = StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(v.octets)).codePoints().toArray();
            } catch (CharacterCodingException refused) {
            }
            if (!Arrays.equals(strict, v.scalars)) {
                System.out.println("wrong: " + v.id + " (" + v.comment + ")");
                wrong++;
            }
        }
        System.out.println(Utf8Vectors.ALL.size() + " vectors, " + wrong + " wrong");
        System.exit(wrong == 0 ? 0 : 1);
    }
}
