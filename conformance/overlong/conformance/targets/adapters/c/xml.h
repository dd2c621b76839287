/* Octets as the text of an XML element: only ASCII markup is escaped; the decoder gets all other octets. */
#ifndef OVERLONG_XML_H
#define OVERLONG_XML_H
#include "frames.h"

#define ELEMENT_START "<x>"
#define ELEMENT_END "</x>"
#define WRAPPED ", \"wrapper\": \"xml\""

static inline void put_escaped(Buffer *b, const uint8_t *octets, size_t size) {
    for (size_t place = 0; place < size; place++) {
        switch (octets[place]) {
        case '&': put(b, "&amp;", 5); break;
        case '<': put(b, "&lt;", 4); break;
        case '>': put(b, "&gt;", 4); break;
        case ']': put(b, "&#93;", 5); break; /* a parser waits for a possible ]]> */
        default: put(b, octets + place, 1);
        }
    }
}

/* A document whose element has this text; valid until the next call. */
static inline const Buffer *document_of(const uint8_t *octets, size_t size) {
    static Buffer document;
    document.size = 0;
    put(&document, ELEMENT_START, strlen(ELEMENT_START));
    put_escaped(&document, octets, size);
    put(&document, ELEMENT_END, strlen(ELEMENT_END));
    return &document;
}
#endif
