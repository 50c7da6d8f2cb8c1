/* What the text of a derived quantity's expression tells: whether it needs the couplings. */
#include <ctype.h>
#include <stddef.h>
#include <string.h>

#include "core/model.h"

typedef struct word {
    const char *text;
    size_t n;
} word;

static bool is_word(word w, const char *text)
{
    return strlen(text) == w.n && memcmp(w.text, text, w.n) == 0;
}

static bool is_part(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

/* The next name at or behind *at, and *at behind it; n is 0 at the end. Numbers are skipped, with
 * the letters in them. */
static word next_word(const char **at)
{
    const char *c = *at;
    while (*c && !isalpha((unsigned char)*c) && *c != '_') {
        const bool is_number = isdigit((unsigned char)*c) != 0;
        c++;
        while (is_number && (is_part(*c) || *c == '.')) c++;
    }
    word w = {c, 0};
    while (is_part(c[w.n])) w.n++;
    *at = c + w.n;
    return w;
}

static bool skip_arrow(const char **at)
{
    const char *c = *at + strspn(*at, " ");
    if (strncmp(c, "->", 2) != 0) return false;
    *at = c + 2;
    return true;
}

static bool is_input(const gm_model_info *model, word w)
{
    for (int i = 0; i < model->n_input; i++)
        if (is_word(w, model->input[i].name)) return true;
    return is_word(w, "strength");
}

/* Any name that could hide a coupling (a function or a macro of the user's, c itself) counts as
 * one.
 */
bool gm_model_derived_couples(const gm_model_info *model, int k)
{
    const char *at = model->derived_expression[k];
    for (word w = next_word(&at); w.n > 0; w = next_word(&at)) {
        if (w.n >= 3 && (memcmp(w.text, "gm_", 3) == 0 || memcmp(w.text, "GM_", 3) == 0)) continue;
        const bool has_member = skip_arrow(&at);
        const word member = has_member ? next_word(&at) : w;
        if (has_member && (is_word(w, "s") || is_word(w, "m"))) continue;
        if (has_member && is_word(w, "c") && is_input(model, member)) continue;
        return true;
    }
    return false;
}
