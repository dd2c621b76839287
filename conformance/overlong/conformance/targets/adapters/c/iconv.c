/* iconv of the C library, from UTF-8 to UTF-32, whole and in chunks: a strict decoder that reports where it stopped;
   and back, from UTF-32 and UTF-16. */
#include "frames.h"
#include "libc.h"
#include <errno.h>
#include <iconv.h>

static iconv_t decoder_of_stream, decoder, from_points, from_units;
static Buffer kept; /* the octets of a stream that iconv left: the beginning of a character */

static iconv_t opened(const char *to, const char *from) {
    iconv_t converter = iconv_open(to, from);
    if (converter == (iconv_t)-1) die("iconv_open knows no UTF-8");
    return converter;
}

/* Converts as much as possible; returns the number of octets left, and the reason: 0, EILSEQ or EINVAL. */
static size_t convert(iconv_t converter, const uint8_t *octets, size_t size, Answer *answer, int *why) {
    Buffer *units = &answer->units;
    grow(units, 4 * size + 4);
    char *in = (char *)octets, *out = (char *)units->data + units->size;
    size_t left = size, room = units->room - units->size;
    *why = iconv(converter, &in, &left, &out, &room) == (size_t)-1 ? errno : 0;
    if (*why && *why != EILSEQ && *why != EINVAL) die(strerror(*why));
    units->size = (uint8_t *)out - units->data;
    return left;
}

static void reset(iconv_t converter) { iconv(converter, NULL, NULL, NULL, NULL); }

static char whole(iconv_t converter, const uint8_t *octets, size_t size, size_t unit, Answer *answer) {
    int why;
    reset(converter);
    size_t left = convert(converter, octets, size, answer, &why);
    return why ? refuse(answer, (size_t)((size - left) / unit), LENGTH_NOT_SAID, why == EINVAL) : ACCEPTED;
}

static char decode(const uint8_t *octets, size_t size, Answer *answer) { return whole(decoder, octets, size, 1, answer); }
static char encode(const uint8_t *payload, size_t size, Answer *answer) {
    return whole(from_points, payload, size, 4, answer);
}
static char encode16(const uint8_t *payload, size_t size, Answer *answer) {
    return whole(from_units, payload, size, 2, answer);
}

static void reset_stream(void) {
    reset(decoder_of_stream);
    kept.size = 0;
}

static void start(void) {
    if (decoder_of_stream) iconv_close(decoder_of_stream);
    decoder_of_stream = opened("UTF-32BE", "UTF-8");
    kept.size = 0;
}

/* As in POSIX: the octets that iconv leaves with EINVAL precede the next chunk. */
static char next(const uint8_t *chunk, size_t size, int last, Answer *answer) {
    int why;
    put(&kept, chunk, size);
    size_t left = convert(decoder_of_stream, kept.data, kept.size, answer, &why), read = kept.size - left;
    if (why == EILSEQ || (why && last)) return refuse(answer, (size_t)read, LENGTH_NOT_SAID, why == EINVAL);
    memmove(kept.data, kept.data + read, left);
    kept.size = left;
    return ACCEPTED;
}

int main(void) {
    Decoder served_decoder = {
        .name = LIBC_NAME "-iconv", .version = libc_version(), .language = "C", .unit = 4,
        .members = ", \"stream_offsets\": \"kept\"",
        .decode = decode, .strict = {start, next, reset_stream}, .encode = encode, .encode16 = encode16,
    };
    decoder = opened("UTF-32BE", "UTF-8");
    from_points = opened("UTF-8", "UTF-32BE");
    from_units = opened("UTF-8", "UTF-16BE");
    grow(&kept, 1);
    return serve(&served_decoder);
}
