/* The C library of the adapter's compilation. */
#ifndef OVERLONG_LIBC_H
#define OVERLONG_LIBC_H
#include <stdlib.h>
#ifdef __GLIBC__
#include <gnu/libc-version.h>
#define LIBC_NAME "glibc"
static const char *libc_version(void) {
    static char version[64] = "glibc ";
    if (!version[6]) strncat(version, gnu_get_libc_version(), 32);
    return version;
}
#else
#define LIBC_NAME "musl"
#ifndef LIBRARY_VERSION /* it does not say itself */
#define LIBRARY_VERSION "musl"
#endif
static const char *libc_version(void) { return LIBRARY_VERSION; }
#endif
#endif
