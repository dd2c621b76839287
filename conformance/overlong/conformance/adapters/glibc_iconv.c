/* Adapter for glibc's iconv, from UTF-8 to UTF-32: a strict decoder that reports where it stopped.
   Build: cc -O2 -o glibc_iconv glibc_iconv.c */
#include <errno.h>
#include <iconv.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef __GLIBC__
#include <gnu/libc-version.h>
#else
static const char *gnu_get_libc_version(void) { return "not glibc"; }
#endif

typedef struct { uint8_t *data; size_t size, room; } Buffer;
static iconv_t converter;

static void grow(Buffer *b, size_t more) {
    if (b->size + more <= b->room) return;
    b->room = 2 * (b->size + more) + 4096;
    if (!(b->data = realloc(b->data, b->room))) exit(1);
}
static void put(Buffer *b, const void *data, size_t size) { grow(b, size); memcpy(b->data + b->size, data, size); b->size += size; }
static void put32(uint8_t *to, uint32_t n) { to[0] = n >> 24; to[1] = n >> 16; to[2] = n >> 8; to[3] = n; }
static uint32_t get32(const uint8_t *from) { return (uint32_t)from[0] << 24 | from[1] << 16 | from[2] << 8 | from[3]; }

/* Decodes one input, appending its units. Returns 'A' and the number of units, or 'R' and the offset. */
static char decode(const uint8_t *octets, uint32_t size, Buffer *units, uint32_t *number, uint8_t *incomplete) {
    char *in = (char *)octets;
    size_t left = size, before = units->size;
    grow(units, 4 * (size_t)size + 4);
    char *out = (char *)units->data + before;
    size_t room = units->room - before;
    iconv(converter, NULL, NULL, NULL, NULL);
    if (iconv(converter, &in, &left, &out, &room) == (size_t)-1) {
        if (errno != EILSEQ && errno != EINVAL) { fprintf(stderr, "iconv: %s\n", strerror(errno)); exit(1); }
        *number = size - left;
        *incomplete = errno == EINVAL;
        return 'R';
    }
    units->size = (uint8_t *)out - units->data;
    *number = (units->size - before) / 4;
    *incomplete = 0;
    return 'A';
}

static void batch(const uint8_t *payload, Buffer *response) {
    uint32_t count = get32(payload);
    const uint8_t *lengths = payload + 4, *octets = lengths + 4 * (size_t)count;
    size_t start = response->size;
    static Buffer units;
    units.size = 0;
    grow(response, 7 * (size_t)count);
    uint8_t *statuses = response->data + start, *numbers = statuses + count;
    uint8_t *incompletes = numbers + 5 * (size_t)count; /* after the column of lengths, which stay 0: not said */
    memset(statuses, 0, 7 * (size_t)count);
    for (uint32_t item = 0; item < count; item++) {
        uint32_t size = get32(lengths + 4 * (size_t)item), number;
        statuses[item] = decode(octets, size, &units, &number, incompletes + item);
        put32(numbers + 4 * (size_t)item, number);
        octets += size;
    }
    response->size += 7 * (size_t)count;
    put(response, units.data, units.size);
}

int main(void) {
    static Buffer body, response;
    uint8_t head[8];
    if ((converter = iconv_open("UTF-32BE", "UTF-8")) == (iconv_t)-1) { perror("iconv_open"); return 1; }
    printf("{\"overlong\": 1, \"name\": \"glibc-iconv\", \"version\": \"glibc %s\", \"language\": \"C\", "
           "\"operations\": \"PDB\", \"units\": \"utf-32\"}\n", gnu_get_libc_version());
    fflush(stdout);
    while (fread(head, 1, 8, stdin) == 8) {
        size_t size = get32(head) - 4;
        body.size = 0;
        grow(&body, size);
        if (fread(body.data, 1, size, stdin) != size) return 1;
        response.size = 0;
        put(&response, head, 8);
        char operation = body.data[0];
        if (operation == 'P') {
            put(&response, "A", 1);
            put(&response, body.data + 1, size - 1);
        } else if (operation == 'B' && body.data[1] == 'D') {
            put(&response, "A", 1);
            batch(body.data + 2, &response);
        } else if (operation == 'D') {
            uint32_t number;
            uint8_t refusal[6] = {0};
            put(&response, "?", 1);
            char status = decode(body.data + 1, size - 1, &response, &number, refusal + 5);
            response.data[8] = status;
            if (status == 'R') { put32(refusal, number); put(&response, refusal, 6); }
        } else {
            put(&response, "U", 1);
        }
        put32(response.data, response.size - 4);
        fwrite(response.data, 1, response.size, stdout);
        fflush(stdout);
    }
    return 0;
}
