/* GLib: "validate" is g_utf8_validate_len, g_utf8_get_char_validated and g_utf8_make_valid; "ucs4" g_utf8_to_ucs4. */
#include "frames.h"
#include <glib.h>

static char validate(const uint8_t *octets, size_t size, Answer *answer) {
    const char *end;
    if (g_utf8_validate_len((const char *)octets, size, &end)) return ACCEPTED;
    return refuse(answer, (size_t)((const uint8_t *)end - octets), LENGTH_NOT_SAID, INCOMPLETE_NOT_SAID);
}

static char get_chars(const uint8_t *octets, size_t size, Answer *answer) {
    for (size_t place = 0; place < size;) {
        const char *here = (const char *)octets + place;
        gunichar character = g_utf8_get_char_validated(here, size - place);
        if (character == (gunichar)-1 || character == (gunichar)-2)
            return refuse(answer, (size_t)place, LENGTH_NOT_SAID, character == (gunichar)-2);
        put32(&answer->units, character);
        place += g_utf8_skip[(guchar)*here];
    }
    return ACCEPTED;
}

static char make_valid(const uint8_t *octets, size_t size, Answer *answer) {
    gchar *valid = g_utf8_make_valid((const char *)octets, size);
    char status = get_chars((const uint8_t *)valid, strlen(valid), answer);
    if (status == REFUSED) die("g_utf8_make_valid made what is ill-formed");
    g_free(valid);
    return status;
}

static char to_ucs4(const uint8_t *octets, size_t size, Answer *answer) {
    GError *error = NULL;
    glong read = 0, written = 0;
    gunichar *text = g_utf8_to_ucs4((const char *)octets, size, &read, &written, &error);
    if (!text) {
        if (error->domain != G_CONVERT_ERROR) die(error->message);
        if (error->code != G_CONVERT_ERROR_ILLEGAL_SEQUENCE) die(error->message);
        g_error_free(error);
        return refuse(answer, (size_t)read, LENGTH_NOT_SAID, 0);
    }
    if ((size_t)read < size && octets[read]) { /* with a count of octets read, it returns the text before a truncated character */
        g_free(text);
        return refuse(answer, (size_t)read, LENGTH_NOT_SAID, 1);
    }
    return accept_scalars(answer, text, (size_t)written, g_free);
}

int main(int count, char **words) {
    char version[64];
    snprintf(version, sizeof version, "GLib %u.%u.%u", glib_major_version, glib_minor_version, glib_micro_version);
    Decoder decoder = {.version = version, .language = "C", .unit = 4};
    if (asked_for(count, words, "validate")) {
        decoder.name = "g_utf8_validate";
        decoder.members = ", \"nul\": \"refused\", \"error_mode\": \"replacement-per-octet\"";
        decoder.validate = validate;
        decoder.decode = get_chars;
        decoder.replace = make_valid;
    } else {
        decoder.name = "g_utf8_to_ucs4";
        decoder.members = ", \"nul\": \"ends the string\"";
        decoder.decode = to_ucs4;
    }
    return serve(&decoder);
}
