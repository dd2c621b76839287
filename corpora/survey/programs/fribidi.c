#include <fribidi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
static char *end; /* of the input; no octet behind it may be read */
static void fault(int signal, siginfo_t *info, void *context) {
    exit(printf("read at %p: %td octets past the end\n", info->si_addr, (char *)info->si_addr - end) < 0);
}
int main(void) {
    FriBidiChar points[2];
    end = (char *)mmap((void *)0x100000000, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) + 4096;
    mprotect(end, 4096, PROT_NONE), end[-1] = '\xC0', sigaction(SIGSEGV, &(struct sigaction){.sa_sigaction = fault, .sa_flags = SA_SIGINFO}, NULL);
    printf("%d characters\n", (int)fribidi_charset_to_unicode(FRIBIDI_CHAR_SET_UTF8, end - 1, 1, points));
}
