/* The target protocol ('overlong docs protocol') for decoders in C and C++: an adapter fills a Decoder with the calls of its
   decoder, and hands it to serve(). Everything is static, so that one file is a whole program. */
#ifndef OVERLONG_FRAMES_H
#define OVERLONG_FRAMES_H
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef __linux__
#include <sys/mman.h>
#include <sys/stat.h>
#endif

#define ACCEPTED 'A'
#define REFUSED 'R'
#define NOT_SAID 0xFFFFFFFFu   /* an offset */
#define LENGTH_NOT_SAID 0
#define INCOMPLETE_NOT_SAID 0xFF

typedef struct { uint8_t *data; size_t size, room; } Buffer;

/* The result of one input. The offset of a refusal counts from the start of the octets passed. */
typedef struct {
    Buffer units;
    uint32_t offset;
    uint8_t length, incomplete;
} Answer;

/* Appends its output to the units, and returns ACCEPTED; or returns the result of refuse(). */
typedef char Whole(const uint8_t *octets, size_t size, Answer *answer);

/* A decoder of streams: a new one for each stream, then one call for each chunk, in order. */
typedef struct {
    void (*start)(void);
    char (*next)(const uint8_t *chunk, size_t size, int last, Answer *answer);
    void (*reset)(void); /* prepares a used decoder for a new stream by the API; NULL: it cannot be reused */
} Stream;

typedef struct {
    const char *name, *version, *language;
    size_t unit;        /* octets of a unit: 4 is UTF-32, 2 UTF-16, 1 UTF-8 */
    const char *members; /* more members of the greeting, each after a comma; or NULL */
    Whole *validate, *decode, *replace; /* NULL if it has none */
    Whole *encode, *encode16; /* code points and code units to octets; the offset of a refusal is an index */
    Stream strict, lossy;
} Decoder;

static const Decoder *served;

static void die(const char *why) { fprintf(stderr, "%s: %s\n", served ? served->name : "adapter", why); exit(1); }

static inline void grow(Buffer *b, size_t more) {
    if (b->size + more <= b->room) return;
    b->room = 2 * (b->size + more) + 4096;
    b->data = (uint8_t *)realloc(b->data, b->room);
    if (!b->data) die("no memory");
}
static inline void put(Buffer *b, const void *data, size_t size) {
    if (!size) return; /* an empty input may have no address */
    grow(b, size);
    memcpy(b->data + b->size, data, size);
    b->size += size;
}
static inline void set32(uint8_t *to, uint32_t n) { to[0] = n >> 24; to[1] = n >> 16; to[2] = n >> 8; to[3] = n; }
static inline void put16(Buffer *b, uint16_t n) { grow(b, 2); b->data[b->size++] = n >> 8; b->data[b->size++] = n; }
static inline void put32(Buffer *b, uint32_t n) { grow(b, 4); set32(b->data + b->size, n); b->size += 4; }
static inline uint32_t get32(const uint8_t *p) { return (uint32_t)p[0] << 24 | p[1] << 16 | p[2] << 8 | p[3]; }
static inline uint16_t get16(const uint8_t *p) { return (uint16_t)(p[0] << 8 | p[1]); }

/* The code points of E, or the code units of F, in the order of this machine; valid until the next call. */
static inline uint32_t *points_of(const uint8_t *payload, size_t size) {
    static Buffer points;
    points.size = 0;
    grow(&points, size + 4);
    for (size_t place = 0; place < size / 4; place++) ((uint32_t *)points.data)[place] = get32(payload + 4 * place);
    return (uint32_t *)points.data;
}
static inline uint16_t *units_of(const uint8_t *payload, size_t size) {
    static Buffer units;
    units.size = 0;
    grow(&units, size + 2);
    for (size_t place = 0; place < size / 2; place++) ((uint16_t *)units.data)[place] = get16(payload + 2 * place);
    return (uint16_t *)units.data;
}

/* An offset that does not fit becomes one that is wrong: cut to 32 bits it might be right. */
static inline char refuse(Answer *answer, size_t offset, uint8_t length, uint8_t incomplete) {
    answer->offset = offset <= NOT_SAID ? (uint32_t)offset : NOT_SAID - 1;
    answer->length = length;
    answer->incomplete = incomplete;
    return REFUSED;
}
static inline char refuse_silently(Answer *answer) {
    return refuse(answer, NOT_SAID, LENGTH_NOT_SAID, INCOMPLETE_NOT_SAID);
}

/* Characters that an API returns all at once, in an allocation that the caller owns. */
static inline char accept_scalars(Answer *answer, uint32_t *scalars, size_t count, void (*release)(void *)) {
    for (size_t place = 0; place < count; place++) put32(&answer->units, scalars[place]);
    release(scalars);
    return ACCEPTED;
}

/* A copy for APIs that end at NUL. Its allocation has the exact size, so that reads behind it show. */
static inline char *as_c_string(const uint8_t *octets, size_t size) {
    char *copy = (char *)malloc(size + 1);
    if (!copy) die("no memory");
    if (size) memcpy(copy, octets, size);
    copy[size] = 0;
    return copy;
}

/* One decoder's way through a stream; `marks` gets the units that are out after each chunk, or the chunk refused. */
static char stream(const Stream *decoder, const uint8_t *payload, Answer *answer, Buffer *marks) {
    uint32_t count = payload[0] << 8 | payload[1];
    const uint8_t *lengths = payload + 2, *chunk = lengths + 4 * count;
    size_t units = answer->units.size, marked = marks->size;
    for (uint32_t number = 1; number <= count; number++) {
        uint32_t size = get32(lengths + 4 * (number - 1));
        if (decoder->next(chunk, size, number == count, answer) == REFUSED) {
            marks->size = marked;
            put32(marks, number);
            return REFUSED;
        }
        put32(marks, (uint32_t)((answer->units.size - units) / served->unit));
        chunk += size;
    }
    return ACCEPTED;
}

static char again(const Stream *decoder, const uint8_t *payload, Answer *answer, Buffer *marks) {
    size_t units = answer->units.size, marked = marks->size;
    stream(decoder, payload + 4, answer, marks); /* to its end or its refusal; its answer is not needed */
    answer->units.size = units;
    marks->size = marked;
    decoder->reset();
    return stream(decoder, payload + 4 + get32(payload), answer, marks);
}

static int offers(char operation) {
    switch (operation) {
    case 'V': return served->validate != NULL;
    case 'D': return served->decode != NULL;
    case 'L': return served->replace != NULL;
    case 'S': return served->strict.next != NULL;
    case 'T': return served->lossy.next != NULL;
    case 'N': return served->strict.reset != NULL;
    case 'M': return served->lossy.reset != NULL;
    case 'E': return served->encode != NULL;
    case 'F': return served->encode16 != NULL;
    default: return operation == 'P' || operation == 'B';
    }
}

static char answer_one(char operation, const uint8_t *payload, size_t size, Answer *answer, Buffer *marks) {
    const Stream *decoder = operation == 'S' || operation == 'N' ? &served->strict : &served->lossy;
    size_t units = answer->units.size;
    char status;
    switch (operation) {
    case 'V': status = served->validate(payload, size, answer); break;
    case 'D': status = served->decode(payload, size, answer); break;
    case 'L': status = served->replace(payload, size, answer); break;
    case 'E': status = served->encode(payload, size, answer); break;
    case 'F': status = served->encode16(payload, size, answer); break;
    default:
        decoder->start();
        status = (operation == 'S' || operation == 'T' ? stream : again)(decoder, payload, answer, marks);
    }
    if (status == REFUSED) answer->units.size = units; /* earlier output is no answer */
    return status;
}

/* Appends the columns of a batch of `count` items, whose lengths precede them. */
static void batch(char operation, size_t count, const uint8_t *lengths, Buffer *response) {
    static Answer answer;
    static Buffer marks;
    size_t start = response->size;
    size_t unit = operation == 'E' || operation == 'F' ? 1 : served->unit; /* an encoder's output is octets */
    const uint8_t *item = lengths + 4 * count;
    grow(response, 7 * count);
    response->size += 7 * count;
    uint8_t *statuses = response->data + start, *numbers = statuses + count;
    uint8_t *places = numbers + 4 * count, *incompletes = places + count;
    memset(statuses, 0, 7 * count);
    answer.units.size = marks.size = 0;
    for (size_t place = 0; place < count; place++) {
        size_t size = get32(lengths + 4 * place), before = answer.units.size;
        statuses[place] = answer_one(operation, item, size, &answer, &marks);
        if (statuses[place] == REFUSED) {
            set32(numbers + 4 * place, answer.offset);
            places[place] = answer.length;
            incompletes[place] = answer.incomplete;
        } else {
            set32(numbers + 4 * place, (uint32_t)((answer.units.size - before) / unit));
        }
        item += size;
    }
    put(response, answer.units.data, answer.units.size);
    put(response, marks.data, marks.size);
}

static void single(char operation, const uint8_t *payload, size_t size, Buffer *response) {
    static Answer answer;
    static Buffer marks;
    answer.units.size = marks.size = 0;
    char status = answer_one(operation, payload, size, &answer, &marks);
    put(response, &status, 1);
    if (status == REFUSED) {
        put32(response, answer.offset);
        put(response, &answer.length, 1);
        put(response, &answer.incomplete, 1);
    }
    put(response, marks.data, marks.size);
    put(response, answer.units.data, answer.units.size);
}

/* The variable of the harness's shared memory: the number of a descriptor, and the octets to map. */
static uint8_t *shared;

static void map_shared(void) {
#ifdef __linux__
    const char *said = getenv("OVERLONG_SHARED_MEMORY");
    int descriptor;
    long size;
    struct stat found;
    if (!said || sscanf(said, "%d %ld", &descriptor, &size) != 2) return;
    if (fstat(descriptor, &found) || found.st_size != size) return; /* another file has taken the descriptor */
    void *mapped = mmap(NULL, (size_t)size, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    if (mapped != MAP_FAILED) shared = (uint8_t *)mapped;
#endif
}

/* A batch in shared memory: items, where they stand, their octets, where the columns are to stand, the room for them.
   Columns for which there is no room are the response, as those of any batch. */
static void shared_batch(const uint8_t *request, Buffer *response) {
    static Buffer columns;
    columns.size = 0;
    batch(request[0], get32(request + 1), shared + get32(request + 5), &columns);
    put(response, "A", 1);
    if (columns.size > get32(request + 17)) {
        put(response, columns.data, columns.size);
    } else {
        memcpy(shared + get32(request + 13), columns.data, columns.size);
        put32(response, (uint32_t)columns.size);
    }
}

static void greet(void) {
    printf("{\"overlong\": 1, \"name\": \"%s\", \"version\": \"%s\", \"language\": \"%s\", \"units\": \"utf-%zu\"%s%s%s, "
           "\"operations\": \"", served->name, served->version, served->language, 8 * served->unit,
           served->strict.next || served->lossy.next ? ", \"stream_refusals\": \"marked\"" : "",
           shared ? ", \"shared_memory\": \"mapped\"" : "", served->members ? served->members : "");
    for (const char *operation = "PBVDLSTNMEF"; *operation; operation++)
        if (offers(*operation)) putchar(*operation);
    puts("\"}");
    fflush(stdout);
}

/* Greets, then answers until the input ends. */
static int serve(const Decoder *decoder) {
    static Buffer body, response;
    uint8_t head[8];
    served = decoder;
    map_shared();
    greet();
    while (fread(head, 1, 8, stdin) == 8) {
        size_t size = get32(head) - 4;
        body.size = response.size = 0;
        grow(&body, size);
        if (fread(body.data, 1, size, stdin) != size) return 1;
        put(&response, head, 8);
        char operation = body.data[0];
        if (operation == 'P') {
            put(&response, "A", 1);
            put(&response, body.data + 1, size - 1);
        } else if (operation == 'B' && body.data[1] != 'P' && body.data[1] != 'B' && offers(body.data[1])) {
            put(&response, "A", 1);
            batch(body.data[1], get32(body.data + 2), body.data + 6, &response);
        } else if (operation == 'C' && shared) {
            shared_batch(body.data + 1, &response);
        } else if (operation != 'B' && offers(operation)) {
            single(operation, body.data + 1, size - 1, &response);
        } else {
            put(&response, "U", 1);
        }
        set32(response.data, (uint32_t)response.size - 4);
        fwrite(response.data, 1, response.size, stdout);
        fflush(stdout);
    }
    return 0;
}

/* True if the command line asks for this part of the library. */
static inline int asked_for(int count, char **words, const char *part) { return count > 1 && !strcmp(words[1], part); }
#endif
