#include <iconv.h>
#include <stdio.h>
#include <string.h>
#include "utf8_vectors.h"

int main(void) {
    static uint32_t output[UTF8_VECTORS_LONGEST];
    size_t wrong = 0;
    iconv_t decoder = iconv_open("UTF-32LE", "UTF-8");
    for (size_t i = 0; i < UTF8_VECTORS_COUNT; i++) {
        const struct utf8_vector *v = &utf8_vectors[i];
        char *in = (char *)v->octets, *out = (char *)output;
        size_t in_left = v->octet_count, out_left = sizeof output, size = v->scalar_count * sizeof *output;
        iconv(decoder, NULL, NULL, NULL, NULL);
        int accepted = iconv(decoder, &in, &in_left, &out, &out_left) != (size_t)-1;
        int same = sizeof output - out_left == size && memcmp(output, v->scalars, size) == 0;
        if (accepted != v->accept || (accepted && !same)) {
            printf("wrong: %s (%s)\n", v->id, v->comment);
            wrong++;
        }
    }
    printf("%zu vectors, %zu wrong\n", UTF8_VECTORS_COUNT, wrong);
    return wrong != 0;
}
