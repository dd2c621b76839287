/* A validator of a shared library behind the protocol: served LIBRARY SYMBOL. */
#include "frames.h"
#include <dlfcn.h>
#include <stdbool.h>

static bool (*asked)(const uint8_t *, size_t);

static char validate(const uint8_t *octets, size_t size, Answer *answer) {
    return asked(octets, size) ? ACCEPTED : refuse(answer, NOT_SAID, LENGTH_NOT_SAID, INCOMPLETE_NOT_SAID);
}

int main(int argc, char **argv) {
    void *library = argc == 3 ? dlopen(argv[1], RTLD_NOW) : NULL;
    if (!library || !(*(void **)&asked = dlsym(library, argv[2]))) return 3;
    Decoder decoder = {.name = argv[2], .version = "1", .language = "C", .unit = 4, .validate = validate};
    return serve(&decoder);
}
