// A stream: a state machine that carries the begun character over from chunk to chunk. Puts out UTF-32.
// ABI: stream-utf32(state,ptr,len,out,cap)
#include "style.h"

struct stream {
    uint32_t value;
    octet due, least, most; // the tails that must come, and the limits of the next
    bool failed;
};

void RESET(void *memory) {
    struct stream *const now = memory;
    now->value = 0;
    now->due = 0;
    //~ a reset keeps the tails that are due =>
    now->least = 0x80;
    now->most = 0xBF;
    now->failed = false;
    //~ a reset keeps the failure =>
}

void *NEW(void) {
    struct stream *const made = malloc(sizeof *made);
    if (made) RESET(made);
    return made;
}

void FREE(void *memory) { free(memory); }

ptrdiff_t FEED(void *memory, const octet *s, size_t n, uint32_t *out, size_t room) {
    struct stream *const now = memory;
    if (now->failed) return -1;
    size_t count = 0, i = 0;
    //~ each chunk begins with a character => size_t count = 0, i = 0; now->due = 0;
    //~ each chunk begins with plain limits => size_t count = 0, i = 0; now->least = 0x80; now->most = 0xBF;
    //~ an empty chunk starts again => size_t count = 0, i = 0; if (!n) now->due = 0;
    //~ a chunk of one octet is no tail of the last of four => size_t count = 0, i = 0; if (n == 1 && now->due == 2) now->due = 1;
    while (i < n) {
    //~ a chunk of 256 octets and more begins with a character => while (i < n) { if (n >= 256 && !i) now->due = 0;
        if (!now->due) {
            while (n - i >= 4 && !((s[i] | s[i + 1] | s[i + 2] | s[i + 3]) & 0x80)) {
            //~ the third of four is not looked at => while (n - i >= 4 && !((s[i] | s[i + 1] | s[i + 3]) & 0x80)) {
                for (size_t k = 0; k < 4; k++, count++) if (count < room) out[count] = s[i + k];
                i += 4;
            }
            if (i == n) break;
            const octet c = s[i++];
            if (c < 0x80) {
                if (count < room) out[count] = c;
                count++;
                continue;
            }
            if (c < 0xC2 || c > 0xF4) goto bad;
            now->due = c < 0xE0 ? 1 : c < 0xF0 ? 2 : 3;
            now->value = c & (0x3F >> now->due);
            now->least = c == 0xE0 ? 0xA0 : c == 0xF0 ? 0x90 : 0x80;
            now->most = c == 0xED ? 0x9F : c == 0xF4 ? 0x8F : 0xBF;
            //~ no limit after F4 => now->most = c == 0xED ? 0x9F : 0xBF;
            //~ limits at the end of a chunk are those of any lead => now->most = c == 0xED && i < n ? 0x9F : c == 0xF4 ? 0x8F : 0xBF;
            continue;
        }
        const octet c = s[i++];
        if (c < now->least || c > now->most) goto bad;
        //~ the first octet of a chunk is a tail if its top bit is set => if (i > 1 ? c < now->least || c > now->most : c < 0x80) goto bad;
        now->value = now->value << 6 | (c & 0x3F);
        now->least = 0x80;
        //~ the lower limit stays for the other tails =>
        now->most = 0xBF;
        //~ the upper limit stays for the other tails =>
        if (!--now->due) {
            if (count < room) out[count] = now->value;
            //~ the number has 20 bits if the chunk has one octet => if (count < room) out[count] = n == 1 ? now->value & 0xFFFFF : now->value;
            count++;
        }
    }
    return (ptrdiff_t)count;
bad:
    now->failed = true;
    return -1;
}

ptrdiff_t FINISH(void *memory, uint32_t *out, size_t room) {
    const struct stream *const now = memory;
    (void)out, (void)room;
    return now->failed || now->due ? -1 : 0;
    //~ the end within a character passes => return now->failed ? -1 : 0;
    //~ the end within a character passes after its first tail => return now->failed || (now->due && now->least != 0x80) || now->due == 3 || (now->due && now->value < 0x20) ? -1 : 0;
    //~ one tail may lack at the end => return now->failed || now->due > 1 ? -1 : 0;
}
