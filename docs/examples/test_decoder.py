import codecs
import sys

from utf8_vectors import VECTORS


def text(scalars):
    return "".join(map(chr, scalars))


def stream(vector):
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    place, output, put_out = 0, "", []
    for length in vector.chunks if vector.chunks is not None else [1] * len(vector.octets):
        output += decoder.decode(vector.octets[place : place + length])
        place += length
        put_out.append(len(output))
    early = any(out > known for out, known in zip(put_out, vector.put_out))
    return output + decoder.decode(b"", True), early


wrong = 0
for vector in VECTORS:
    try:
        strict = vector.octets.decode()
    except UnicodeDecodeError as error:
        strict = None
        place = error.start, error.end - error.start
    else:
        place = 0, 0
    expected = text(vector.scalars) if vector.accept else None
    replaced = text(vector.replacement)
    strictly = (strict, place) == (expected, (vector.offset, vector.length))
    if not strictly or vector.octets.decode(errors="replace") != replaced or stream(vector) != (replaced, False):
        print(f"wrong: {vector.id} ({vector.comment})")
        wrong += 1
print(f"{len(VECTORS)} vectors, {wrong} wrong")
sys.exit(wrong > 0)
