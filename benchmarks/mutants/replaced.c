/* A replacer of a shared library behind the protocol: replaced LIBRARY SYMBOL. */
#include "frames.h"
#include <dlfcn.h>

static size_t (*asked)(const uint8_t *, size_t, uint8_t *);

static char replace(const uint8_t *octets, size_t size, Answer *answer) {
    grow(&answer->units, 3 * size);
    answer->units.size += asked(octets, size, answer->units.data + answer->units.size);
    return ACCEPTED;
}

int main(int argc, char **argv) {
    void *library = argc == 3 ? dlopen(argv[1], RTLD_NOW) : NULL;
    if (!library || !(*(void **)&asked = dlsym(library, argv[2]))) return 3;
    Decoder decoder = {.name = argv[2], .version = "1", .language = "C", .unit = 1, .replace = replace};
    return serve(&decoder);
}
