#include "core/status.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { MESSAGE_SIZE = 4096 };
static _Thread_local char message[MESSAGE_SIZE];

int gm_status_exit_code(gm_status status)
{
    static const int exit_codes[] = {
#define X(name, exit_code, text) exit_code,
        GM_STATUS_LIST(X)
#undef X
    };
    return exit_codes[status];
}

const char *gm_status_text(gm_status status)
{
    static const char *const texts[] = {
#define X(name, exit_code, text) text,
        GM_STATUS_LIST(X)
#undef X
    };
    return texts[status];
}

const char *gm_status_message(void)
{
    return message;
}

gm_status gm_status_fail(gm_status status, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    return status;
}

gm_status gm_status_extend(gm_status status, const char *format, ...)
{
    char prefix[MESSAGE_SIZE / 4];
    char rest[MESSAGE_SIZE];
    va_list args;
    va_start(args, format);
    vsnprintf(prefix, sizeof prefix, format, args);
    va_end(args);
    memcpy(rest, message, sizeof rest);
    snprintf(message, sizeof message, "%s: %.*s", prefix, MESSAGE_SIZE - MESSAGE_SIZE / 4 - 4,
             rest);
    return status;
}
