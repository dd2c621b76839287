/* libxml2: "check" is xmlCheckUTF8, "char" xmlGetUTF8Char, "parser" the parser of documents. */
#ifndef LIBRARY_VERSION
#define LIBRARY_VERSION ""
#endif
#include "xml.h"
#include <libxml/parser.h>
#include <libxml/xmlstring.h>

static char check(const uint8_t *octets, size_t size, Answer *answer) {
    char *text = as_c_string(octets, size);
    int right = xmlCheckUTF8((const unsigned char *)text);
    free(text);
    return right ? ACCEPTED : refuse_silently(answer);
}

static char get_chars(const uint8_t *octets, size_t size, Answer *answer) {
    for (size_t place = 0; place < size;) {
        int used = (int)(size - place), character = xmlGetUTF8Char(octets + place, &used);
        if (character < 0) return refuse(answer, (size_t)place, LENGTH_NOT_SAID, INCOMPLETE_NOT_SAID);
        put32(&answer->units, (uint32_t)character);
        place += used;
    }
    return ACCEPTED;
}

static char parse(const uint8_t *octets, size_t size, Answer *answer) {
    const Buffer *document = document_of(octets, size);
    xmlDoc *tree = xmlReadMemory((const char *)document->data, (int)document->size, NULL, NULL,
                                 XML_PARSE_NOERROR | XML_PARSE_NOWARNING | XML_PARSE_NONET);
    if (!tree) return refuse_silently(answer);
    xmlChar *text = xmlNodeGetContent(xmlDocGetRootElement(tree));
    put(&answer->units, text, strlen((const char *)text));
    xmlFree(text);
    xmlFreeDoc(tree);
    return ACCEPTED;
}

int main(int count, char **words) {
    Decoder decoder = {.version = LIBRARY_VERSION, .language = "C", .unit = 4};
    xmlInitParser();
    if (asked_for(count, words, "check")) {
        decoder.name = "xmlCheckUTF8";
        decoder.members = ", \"nul\": \"ends the string\"";
        decoder.validate = check;
    } else if (asked_for(count, words, "char")) {
        decoder.name = "xmlGetUTF8Char";
        decoder.decode = get_chars;
    } else {
        decoder.name = "xmlReadMemory";
        decoder.unit = 1;
        decoder.members = WRAPPED;
        decoder.decode = parse;
    }
    return serve(&decoder);
}
