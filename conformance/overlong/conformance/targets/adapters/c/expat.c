/* Expat: XML_Parse, whole documents and in chunks. Its text is UTF-8. */
#include "xml.h"
#include <expat.h>
#ifndef LIBRARY_VERSION
#define LIBRARY_VERSION "Expat"
#endif

static XML_Parser parser;
static Answer *current;

static void text(void *data, const XML_Char *octets, int size) { (void)data; put(&current->units, octets, size); }

static char parse(const void *octets, size_t size, int last, Answer *answer) {
    current = answer;
    if (XML_Parse(parser, (const char *)octets, (int)size, last) == XML_STATUS_OK) return ACCEPTED;
    if (XML_GetErrorCode(parser) == XML_ERROR_NO_MEMORY) die("no memory");
    return refuse_silently(answer);
}

static void listen(void) { XML_SetCharacterDataHandler(parser, text); }

static void start(void) {
    static Answer none;
    XML_ParserFree(parser);
    if (!(parser = XML_ParserCreate(NULL))) die("no memory");
    listen();
    parse(ELEMENT_START, strlen(ELEMENT_START), 0, &none);
}

static void reset(void) {
    static Answer none;
    XML_ParserReset(parser, NULL);
    listen();
    parse(ELEMENT_START, strlen(ELEMENT_START), 0, &none);
}

static char next(const uint8_t *chunk, size_t size, int last, Answer *answer) {
    static Buffer escaped;
    escaped.size = 0;
    put_escaped(&escaped, chunk, size);
    if (last) put(&escaped, ELEMENT_END, strlen(ELEMENT_END));
    return parse(escaped.data, escaped.size, last, answer);
}

static char decode(const uint8_t *octets, size_t size, Answer *answer) {
    const Buffer *document = document_of(octets, size);
    XML_ParserReset(parser, NULL);
    listen();
    return parse(document->data, document->size, 1, answer);
}

int main(void) {
    Decoder decoder = {
        .name = "XML_Parse", .version = LIBRARY_VERSION, .language = "C", .unit = 1, .members = WRAPPED,
        .decode = decode, .strict = {start, next, reset},
    };
    if (!(parser = XML_ParserCreate(NULL))) die("no memory");
    return serve(&decoder);
}
