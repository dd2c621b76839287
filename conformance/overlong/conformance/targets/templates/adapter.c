/* An adapter: a UTF-8 decoder behind two pipes. Change `decode`, and add its "version" to the greeting.
   Build:   cc -O2 -o adapter adapter.c        (with -liconv where iconv is a library of its own)
   Certify: overlong certify -- ./adapter        (--subject FILE before -- names a file of your decoder, too) */
#include <errno.h>
#include <iconv.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void put(uint8_t *to, uint32_t n) { to[0] = n >> 24; to[1] = n >> 16; to[2] = n >> 8; to[3] = n; }
static uint32_t get(const uint8_t *at) { return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | at[2] << 8 | at[3]; }

/* YOUR DECODER HERE. Put the code points to out, four octets each: put(out + 4 * i, point). There is room for one per
   octet. Return 'A' and their number; or 'R' and the offset of the flaw, 0xFFFFFFFF if the decoder does not say. */
static char decode(const uint8_t *octets, size_t size, uint8_t *out, uint32_t *number) {
    static iconv_t converter;
    char *from = (char *)octets, *to = (char *)out;
    size_t left = size, room = 4 * size;
    if (!converter && (converter = iconv_open("UTF-32BE", "UTF-8")) == (iconv_t)-1) exit(3);
    iconv(converter, NULL, NULL, NULL, NULL);
    int refused = iconv(converter, &from, &left, &to, &room) == (size_t)-1;
    if (refused && errno != EILSEQ && errno != EINVAL) abort();
    *number = refused ? size - left : (size_t)(to - (char *)out) / 4;
    return refused ? 'R' : 'A';
}

int main(void) {
    uint8_t head[8], *body = NULL, *response = NULL;
    puts("{\"overlong\": 1, \"language\": \"C\", \"operations\": \"PVDB\"}");
    for (fflush(stdout); fread(head, 1, 8, stdin) == 8; fflush(stdout)) {
        uint32_t size = get(head) - 4, number;
        body = realloc(body, size), response = realloc(response, 17 + 9 * (size_t)size); /* room for any answer */
        if (!body || !response || fread(body, 1, size, stdin) != size) return 3;
        uint8_t *payload = body + 1, *out = response + 9; /* behind length, id and status */
        response[8] = 'A';
        if (body[0] == 'P') out = (uint8_t *)memcpy(out, payload, size - 1) + size - 1; /* echo */
        else if (body[0] == 'V' || body[0] == 'D') { /* validate, or decode */
            if ((response[8] = decode(payload, size - 1, out, &number)) == 'R') put(out, number), number = 1;
            if (response[8] == 'R' || body[0] == 'D') out += 4 * (size_t)number;
        } else if (body[0] == 'B') { /* validate or decode many, and answer in columns */
            uint32_t count = get(payload + 1);
            uint8_t *statuses = out, *numbers = out + count, *incomplete = out + 6 * (size_t)count;
            const uint8_t *length = payload + 5, *octets = length + 4 * (size_t)count;
            memset(statuses, 0, 7 * (size_t)count); /* statuses, numbers, lengths and incompletes */
            out += 7 * (size_t)count;
            for (uint32_t i = 0; i < count; octets += get(length + 4 * (size_t)i++)) {
                statuses[i] = decode(octets, get(length + 4 * (size_t)i), out, &number);
                if (statuses[i] == 'R') incomplete[i] = 0xFF; /* not said */
                else if (payload[0] == 'V') number = 0;
                else out += 4 * (size_t)number;
                put(numbers + 4 * (size_t)i, number);
            }
        } else response[8] = 'U'; /* not offered */
        put(response, (uint32_t)(out - response - 4)), memcpy(response + 4, head + 4, 4);
        fwrite(response, 1, (size_t)(out - response), stdout);
    }
    return 0;
}
