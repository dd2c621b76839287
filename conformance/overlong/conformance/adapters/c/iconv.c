/* iconv of the C library, from UTF-8 to UTF-32: a strict decoder that reports where it stopped. */
#include "frames.h"
#include "libc.h"
#include <errno.h>
#include <iconv.h>

static iconv_t converter;

static char decode(const uint8_t *octets, size_t size, Answer *answer) {
    Buffer *units = &answer->units;
    grow(units, 4 * size + 4);
    char *in = (char *)octets, *out = (char *)units->data + units->size;
    size_t left = size, room = units->room - units->size;
    iconv(converter, NULL, NULL, NULL, NULL);
    if (iconv(converter, &in, &left, &out, &room) == (size_t)-1) {
        if (errno != EILSEQ && errno != EINVAL) die(strerror(errno));
        return refuse(answer, (uint32_t)(size - left), LENGTH_NOT_SAID, errno == EINVAL);
    }
    units->size = (uint8_t *)out - units->data;
    return ACCEPTED;
}

int main(void) {
    Decoder decoder = {.name = LIBC_NAME "-iconv", .version = libc_version(), .language = "C", .unit = 4, .decode = decode};
    if ((converter = iconv_open("UTF-32BE", "UTF-8")) == (iconv_t)-1) die("iconv_open knows no UTF-8");
    return serve(&decoder);
}
