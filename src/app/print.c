#include <stdio.h>
#include <string.h>

#include "app/commands.h"

void gm_print_error(const char *message)
{
    while (*message) {
        const int n = (int)strcspn(message, "\n");
        fprintf(stderr, "gridmarch: %.*s\n", n, message);
        message += n + (message[n] == '\n');
    }
    fflush(stderr);
}
