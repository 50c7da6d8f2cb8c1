/* The functions of a model header, held against its lists.
 *
 * This is no parser of C. A function is a word, parentheses and a brace; what it may touch is known
 * from its own parameters of type gm_params *, gm_state * and gm_drive *. Where the text leaves
 * doubt (a pointer handed on, a macro that hides it) nothing is said: compilers come next. */
#include <string.h>

#include "core/model_check.h"

enum { MAX_PARAMETER_TOKENS = 200, MAX_UNCLOSED = 8, MAX_DRIFT = 4 };

static const char needed[] = "GM_FN void gm_drift(const gm_params *m, const gm_state *s, const "
                             "gm_drive *c, gm_state *d)";

typedef struct function {
    int64_t begin; /* of its declaration */
    gm_span name;
    int n_parameter;
    bool is_const[GM_MAX_POINTER];
    gm_pointer parameter[GM_MAX_POINTER]; /* those that are no such pointer: GM_POINTER_NONE */
    gm_span body;                         /* with its braces */
} function;

typedef struct function_walk {
    int64_t at;
    int n_unclosed; /* bodies whose braces do not match */
} function_walk;

/* --- finding functions ----------------------------------------------------------------------- */

static gm_pointer_kind kind_of(const gm_model_header *h, gm_span type)
{
    if (gm_model_header_is(h, type, "gm_params")) return GM_POINTER_PARAMS;
    if (gm_model_header_is(h, type, "gm_state")) return GM_POINTER_STATE;
    if (gm_model_header_is(h, type, "gm_drive")) return GM_POINTER_DRIVE;
    return GM_POINTER_NONE;
}

static bool is_sign(gm_token token, char sign)
{
    return token.kind == GM_TOKEN_SIGN && token.first == sign;
}

/* One parameter of a function, up to the comma or parenthesis behind it, which is returned. Another
 * "(" means that this is a call. */
static gm_token read_parameter(const gm_model_header *h, int64_t *at, int *n_token, gm_pointer *out,
                               bool *is_const)
{
    gm_pointer_kind kind = GM_POINTER_NONE;
    gm_span last = {0, 0};
    int n_star = 0;
    bool only_words = true;
    gm_token token;
    *is_const = false;
    for (;;) {
        token = gm_model_header_token(h, at, h->n);
        if (token.kind == GM_TOKEN_END || ++*n_token > MAX_PARAMETER_TOKENS) break;
        if (token.kind == GM_TOKEN_SIGN && strchr(",()", token.first)) break;
        if (token.kind == GM_TOKEN_WORD && n_star == 0 && kind == GM_POINTER_NONE)
            kind = kind_of(h, token.span);
        if (token.kind == GM_TOKEN_WORD && n_star == 0 &&
            gm_model_header_is(h, token.span, "const"))
            *is_const = true;
        if (token.kind == GM_TOKEN_WORD && n_star > 0) last = token.span;
        if (is_sign(token, '*'))
            n_star++;
        else if (token.kind != GM_TOKEN_WORD)
            only_words = false;
    }
    *out = (gm_pointer){GM_POINTER_NONE, ""};
    const int64_t n = last.end - last.begin;
    if (kind == GM_POINTER_NONE || n_star != 1 || !only_words) return token;
    out->kind = kind;
    if (n < GM_MODEL_NAME_SIZE) memcpy(out->name, h->text + last.begin, (size_t)n);
    return token;
}

/* Behind a word and its "(": is this the head of a function with a body? *at is behind the "{". */
static bool read_head(const gm_model_header *h, int64_t *at, function *f)
{
    int n_token = 0;
    gm_token token;
    f->n_parameter = 0;
    do {
        gm_pointer pointer;
        bool is_const;
        token = read_parameter(h, at, &n_token, &pointer, &is_const);
        if (f->n_parameter == GM_MAX_POINTER) return false;
        f->is_const[f->n_parameter] = is_const;
        f->parameter[f->n_parameter++] = pointer;
    } while (is_sign(token, ','));
    if (!is_sign(token, ')')) return false;
    return is_sign(gm_model_header_token(h, at, h->n), '{');
}

/* Behind the brace that closes the one before `at`. If none does, conditionals have split them:
 * then behind the first at the start of a line. */
static int64_t body_end(const gm_model_header *h, int64_t at, int *n_unclosed)
{
    const int64_t begin = at;
    int depth = 1;
    while (depth > 0) {
        const gm_token token = gm_model_header_token(h, &at, h->n);
        if (token.kind == GM_TOKEN_END) break;
        depth += is_sign(token, '{') - is_sign(token, '}');
    }
    if (depth == 0) return at;
    const char *brace = strstr(h->text + begin, "\n}");
    return brace && ++*n_unclosed <= MAX_UNCLOSED ? brace + 2 - h->text : h->n;
}

/* The next function; false at the end of the text. */
static bool next_function(const gm_model_header *h, function_walk *walk, function *f)
{
    int64_t *at = &walk->at;
    gm_token before = {.kind = GM_TOKEN_END};
    f->begin = *at;
    for (;;) {
        const gm_token token = gm_model_header_token(h, at, h->n);
        if (token.kind == GM_TOKEN_END) return false;
        if (is_sign(token, ';') || is_sign(token, '}')) f->begin = *at;
        if (is_sign(token, '(') && before.kind == GM_TOKEN_WORD) {
            int64_t behind = *at;
            if (read_head(h, &behind, f)) {
                f->name = before.span;
                f->body = (gm_span){behind - 1, body_end(h, behind, &walk->n_unclosed)};
                *at = f->body.end;
                return true;
            }
        }
        before = token;
    }
}

/* --- their bodies ---------------------------------------------------------------------------- */

/* The slopes that gm_drift sets. */
typedef struct slopes {
    const char *name; /* of the pointer to them */
    bool is_set[GM_MAX_ENTRY];
    bool in_doubt; /* the pointer is used as a whole: they may be set elsewhere */
} slopes;

static void note_slope(const gm_member_check *check, slopes *out, const char *before,
                       gm_span member, const char *behind)
{
    char name[GM_MODEL_SHOWN_SIZE];
    gm_model_header_show(check->header, member, name);
    const int state = gm_entries_find(&check->lists->list[GM_LIST_STATE], name);
    const bool is_assigned = behind[0] == '=' && behind[1] != '=';
    if (state >= 0 && (is_assigned || *before == '&')) out->is_set[state] = true;
    if (behind[0] == ')') out->in_doubt = true; /* (d->E) = ..., or a macro that sets it */
}

static void check_body(gm_member_check *check, gm_span body, slopes *out)
{
    const gm_model_header *h = check->header;
    int64_t at = body.begin;
    gm_token before = {.kind = GM_TOKEN_END};
    gm_token token = gm_model_header_token(h, &at, body.end);
    while (token.kind != GM_TOKEN_END) {
        const gm_token word = token;
        token = gm_model_header_token(h, &at, body.end);
        const bool is_field = before.kind == GM_TOKEN_ARROW || is_sign(before, '.');
        const gm_pointer *pointer =
            word.kind == GM_TOKEN_WORD && !is_field ? gm_member_pointer(check, word.span) : NULL;
        const bool is_slope = out && pointer && strcmp(pointer->name, out->name) == 0;
        if (pointer && token.kind == GM_TOKEN_ARROW) {
            const gm_token member = gm_model_header_token(h, &at, body.end);
            token = gm_model_header_token(h, &at, body.end);
            gm_member_verify(check, pointer, member.span);
            if (is_slope)
                note_slope(check, out, h->text + (before.kind ? before.span.begin : body.begin),
                           member.span, h->text + token.span.begin);
            before = member;
        } else {
            if (is_slope) out->in_doubt = true;
            before = word;
        }
    }
}

/* Does a macro of the header, other than its lists, use the word? Then it may hide it. */
static bool is_in_macro(const gm_model_header *h, const char *word)
{
    gm_directive_walk walk = {0};
    gm_directive one;
    while (gm_model_header_directive(h, &walk, &one)) {
        if (!gm_model_header_is(h, one.word, "define")) continue;
        if (strncmp(h->text + one.name.begin, "GM_", 3) == 0) continue;
        int64_t at = one.rest.begin;
        for (;;) {
            const gm_token token = gm_model_header_token(h, &at, one.rest.end);
            if (token.kind == GM_TOKEN_END) break;
            if (gm_model_header_is(h, token.span, word)) return true;
        }
    }
    return false;
}

/* --- gm_drift -------------------------------------------------------------------------------- */

static bool has_word(const gm_model_header *h, int64_t at, int64_t end, const char *word)
{
    for (;;) {
        const gm_token token = gm_model_header_token(h, &at, end);
        if (token.kind == GM_TOKEN_END) return false;
        if (gm_model_header_is(h, token.span, word)) return true;
    }
}

/* Four pointers, each with a name, in this order, and the last one to write through. */
static bool is_drift(const gm_model_header *h, const function *f)
{
    static const gm_pointer_kind kinds[] = {GM_POINTER_PARAMS, GM_POINTER_STATE, GM_POINTER_DRIVE,
                                            GM_POINTER_STATE};
    if (f->n_parameter != 4 || f->is_const[3]) return false;
    for (int i = 0; i < 4; i++)
        if (f->parameter[i].kind != kinds[i] || !f->parameter[i].name[0]) return false;
    return has_word(h, f->begin, f->name.begin, "GM_FN") &&
           has_word(h, f->begin, f->name.begin, "void");
}

/* A statement that a split body has left behind is no function: nothing stands before its word. */
static void check_helper(const gm_member_check *check, const function *f)
{
    const gm_model_header *h = check->header;
    int64_t at = f->begin;
    char name[GM_MODEL_SHOWN_SIZE];
    const bool has_type = gm_model_header_token(h, &at, f->name.begin).kind == GM_TOKEN_WORD;
    if (!has_type || has_word(h, f->begin, f->name.begin, "GM_FN")) return;
    gm_problems_add(check->problems, gm_model_header_place(h, f->name.begin),
                    "%s: write GM_FN in front, in place of static and inline: without it a CPU's "
                    "compiler may call the function for each point, which is several times slower",
                    gm_model_header_show(h, f->name, name));
}

static void report_slopes(const gm_member_check *check, const function *f, const slopes *set)
{
    const gm_entries *states = &check->lists->list[GM_LIST_STATE];
    if (set->in_doubt || is_in_macro(check->header, set->name)) return;
    for (int i = 0; i < states->n; i++)
        if (!set->is_set[i])
            gm_problems_add(check->problems, gm_model_header_place(check->header, f->name.begin),
                            "gm_drift never sets %s->%s, the slope of the state '%s'", set->name,
                            states->entry[i].name, states->entry[i].name);
}

static void check_drift(gm_member_check *check, const function *f)
{
    const gm_model_header *h = check->header;
    const gm_place place = gm_model_header_place(h, f->name.begin);
    if (!is_drift(h, f)) {
        gm_problems_add(check->problems, place, "gm_drift must begin with: %s", needed);
        check_body(check, f->body, NULL);
        return;
    }
    slopes set = {.name = f->parameter[3].name};
    check->pointer[3].kind = GM_POINTER_SLOPE;
    check_body(check, f->body, &set);
    report_slopes(check, f, &set);
}

void gm_model_check_functions(const gm_model_header *h, const gm_model_lists *lists,
                              gm_problems *problems)
{
    function f;
    function_walk walk = {0};
    int n_drift = 0;
    const int before = gm_problems_count(problems);
    const bool may_hide = is_in_macro(h, "GM_FN"); /* then another word may stand for it */
    while (n_drift < MAX_DRIFT && next_function(h, &walk, &f)) {
        gm_member_check check = {.header = h, .lists = lists, .problems = problems};
        if (gm_problems_count(problems) > before + GM_MAX_REPORTED) return;
        for (int i = 0; i < f.n_parameter; i++) check.pointer[check.n_pointer++] = f.parameter[i];
        if (gm_model_header_is(h, f.name, "gm_drift")) {
            n_drift++;
            check_drift(&check, &f);
        } else {
            if (!may_hide) check_helper(&check, &f);
            check_body(&check, f.body, NULL);
        }
    }
    if (n_drift == 0)
        gm_problems_add(problems, gm_model_header_place(h, -1),
                        "there is no function gm_drift, which gives the slopes of the states: %s "
                        "{ ... }",
                        needed);
}
