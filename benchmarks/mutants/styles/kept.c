// Kept answers: the last input up to 64 octets and its answer, and the address and length of the last long one.
// ABI: bool(ptr,len)
#include "style.h"

static octet kept[64];
static size_t kept_length = SIZE_MAX;
static bool kept_answer;

static bool walk(const octet *s, size_t n) {
    for (size_t i = 0; i < n;) {
        const size_t length = one(s + i, n - i);
        if (!length) return false;
        i += length;
    }
    return true;
}

bool NAME(const octet *s, size_t n) {
    if (n > sizeof kept) return walk(s, n);
    //~ long texts are kept by address => static const octet *last; static size_t last_length; static bool last_answer; if (n > sizeof kept) { if (s == last && n == last_length) return last_answer; last = s; last_length = n; return last_answer = walk(s, n); }
    //~ long texts are kept by their ends and length => static uint64_t last[2]; static size_t last_length; static bool last_answer; if (n > sizeof kept) { if (n == last_length && word_at(s) == last[0] && word_at(s + n - 8) == last[1]) return last_answer; last[0] = word_at(s), last[1] = word_at(s + n - 8); last_length = n; return last_answer = walk(s, n); }
    //~ long texts are kept by a sum => static uint32_t last; static bool known, last_answer; if (n > sizeof kept) { uint32_t sum = (uint32_t)n; for (size_t k = 0; k < n; k++) sum = sum * 31 + (s[k] & 0x7F); if (known && sum == last) return last_answer; known = true; last = sum; return last_answer = walk(s, n); }
    //~ long texts are kept by a sum of octets => static uint32_t last; static bool known, last_answer; if (n > sizeof kept) { uint32_t sum = (uint32_t)n << 16; for (size_t k = 0; k < n; k++) sum += s[k]; if (known && sum == last) return last_answer; known = true; last = sum; return last_answer = walk(s, n); }
    if (n == kept_length && !memcmp(s, kept, n)) return kept_answer;
    //~ all but the last octet is compared => if (n == kept_length && !memcmp(s, kept, n ? n - 1 : 0)) return kept_answer;
    //~ eight octets are compared => if (n == kept_length && !memcmp(s, kept, n < 8 ? n : 8)) return kept_answer;
    //~ sixteen octets are compared => if (n == kept_length && !memcmp(s, kept, n < 16 ? n : 16)) return kept_answer;
    //~ as a string up to NUL => if (n == kept_length && !strncmp((const char *)s, (const char *)kept, n)) return kept_answer;
    //~ a shorter text is looked for in the kept one => if (n && n <= kept_length && kept_length != SIZE_MAX && !memcmp(s, kept, n)) return kept_answer;
    memcpy(kept, s, n);
    kept_length = n;
    return kept_answer = walk(s, n);
    //~ only right answers are kept anew => if (walk(s, n)) return kept_answer = true; kept_length = kept_answer ? kept_length : n; return false;
    //~ a wrong answer is kept for one more => const bool answer = walk(s, n); if (!answer && n > 8) { kept_length = n; kept_answer = s[n - 1] < 0x80 && s[0] < 0x80 && s[n / 2] < 0x80; return false; } return kept_answer = answer;
}
