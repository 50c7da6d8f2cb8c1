/* Uses of math.h in a model header: the CPU's compiler needs that header for them, and NVRTC has no
 * such file. gridmarch has functions of its own for both. */
#include <ctype.h>
#include <string.h>

#include "core/model_check.h"

static const struct {
    const char *name, *instead;
} functions[] = {
    {"exp", "gm_exp"},
    {"log", "gm_log"},
    {"sin", "gm_sin"},
    {"cos", "gm_cos"},
    {"tanh", "gm_tanh"},
    {"sqrt", "gm_sqrt"},
    {"pow", "x * x for whole powers, gm_exp(y * gm_log(x)) for others of a positive x"},
    {"fabs", "x < 0 ? -x : x"},
};
enum { N_FUNCTION = sizeof functions / sizeof functions[0] };

/* What the walk over a header has met, by function and by its float variant. */
typedef struct uses {
    bool is_own[2 * N_FUNCTION];   /* the header makes or declares it */
    int64_t first[2 * N_FUNCTION]; /* its first call; -1: none */
} uses;

/* Number of the function that a word names, expf behind exp; or -1. */
static int find(const gm_model_header *h, gm_span word)
{
    char name[GM_MODEL_SHOWN_SIZE];
    gm_model_header_show(h, word, name);
    for (int i = 0; i < N_FUNCTION; i++) {
        const size_t n = strlen(functions[i].name);
        if (strncmp(name, functions[i].name, n) != 0) continue;
        if (name[n] == '\0') return 2 * i;
        if (strcmp(name + n, "f") == 0) return 2 * i + 1;
    }
    return -1;
}

/* Behind a word that is no statement, as in "gm_real exp(", a name is declared. */
static bool declares(const gm_model_header *h, gm_token before)
{
    return before.kind == GM_TOKEN_WORD && !gm_model_header_is(h, before.span, "return") &&
           !gm_model_header_is(h, before.span, "else") && !gm_model_header_is(h, before.span, "do");
}

/* Note the calls between two places with no directive between them. */
static void note_calls(const gm_model_header *h, gm_span text, bool is_conditional, uses *out)
{
    int64_t at = text.begin;
    gm_token before = {.kind = GM_TOKEN_END};
    gm_token token = gm_model_header_token(h, &at, text.end);
    while (token.kind != GM_TOKEN_END) {
        const gm_token word = token;
        token = gm_model_header_token(h, &at, text.end);
        const bool is_field = before.kind == GM_TOKEN_ARROW || before.first == '.';
        const int f = word.kind == GM_TOKEN_WORD && token.first == '(' ? find(h, word.span) : -1;
        if (f >= 0 && declares(h, before))
            out->is_own[f] = true;
        else if (f >= 0 && !is_field && !is_conditional && out->first[f] < 0)
            out->first[f] = word.span.begin;
        before = word;
    }
}

static bool is_math_header(const gm_model_header *h, gm_span file)
{
    static const char *const files[] = {"<math.h>", "\"math.h\"", "<cmath>", "<tgmath.h>"};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        if (gm_model_header_is(h, file, files[i])) return true;
    return false;
}

static void note_directive(const gm_model_header *h, const gm_directive *one, uses *out,
                           gm_problems *problems)
{
    char shown[GM_MODEL_SHOWN_SIZE];
    gm_span file = one->rest;
    while (file.end > file.begin && isspace((unsigned char)h->text[file.end - 1])) file.end--;
    if (gm_model_header_is(h, one->word, "define")) {
        const int f = find(h, one->name);
        if (f >= 0) out->is_own[f] = true;
        note_calls(h, one->rest, one->is_conditional, out);
    } else if (gm_model_header_is(h, one->word, "include") && !one->is_conditional &&
               is_math_header(h, file)) {
        gm_problems_add(problems, gm_model_header_place(h, one->at),
                        "#include %s: a GPU's compiler finds no such file; leave the line out and "
                        "use gm_exp, gm_log, gm_sqrt, gm_sin, gm_cos, gm_tanh and gm_sigmoid",
                        gm_model_header_show(h, file, shown));
    }
}

void gm_model_check_math(const gm_model_header *h, gm_problems *problems)
{
    gm_directive_walk walk = {0};
    gm_directive one = {0};
    uses all = {0};
    int64_t begin = 0;
    bool is_conditional = false;
    for (int f = 0; f < 2 * N_FUNCTION; f++) all.first[f] = -1;
    while (gm_model_header_directive(h, &walk, &one)) {
        note_calls(h, (gm_span){begin, one.at}, is_conditional, &all);
        note_directive(h, &one, &all, problems);
        is_conditional = one.is_conditional;
        begin = one.rest.end;
    }
    note_calls(h, (gm_span){begin, h->n}, is_conditional, &all);
    for (int f = 0; f < 2 * N_FUNCTION; f++)
        if (all.first[f] >= 0 && !all.is_own[f])
            gm_problems_add(problems, gm_model_header_place(h, all.first[f]),
                            "%s%s is of math.h, which a GPU's compiler does not find and a CPU's "
                            "needs for it; write %s",
                            functions[f / 2].name, f % 2 ? "f" : "", functions[f / 2].instead);
}
