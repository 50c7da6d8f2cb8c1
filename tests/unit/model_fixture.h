/** A model header with every kind of list, and helpers to read it, change it, and expect a fault.
 */
#ifndef GM_TESTS_MODEL_FIXTURE_H
#define GM_TESTS_MODEL_FIXTURE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/model_read.h"

static gm_problems *problems;
static gm_model *model;

static inline int begin(void **state)
{
    (void)state;
    return gm_problems_create(&problems) == GM_OK ? 0 : -1;
}

static inline int end(void **state)
{
    (void)state;
    gm_model_destroy(&model);
    gm_problems_destroy(&problems);
    return 0;
}

/* A model with every kind of list, for the tests to break. */
static const char whole[] =
    "/* A model. */\n"
    "#define GM_MODEL_NAME \"ring\"\n"
    "#define GM_MODEL_DOC \"a, (test)\" /* of two parts */ \" model\"\n"
    "#define GM_MODEL_SOURCE \"nobody\"\n"
    "#define GM_MODEL_TIME_UNIT \"ms\"\n"
    "#define GM_STATES(X) X(E, 0.1, \"mV\", \"activity, (first)\") X(phi, -1, \"rad\", \"angle\")\n"
    "#define GM_PHASES(X) X(phi)\n"
    "#define GM_PARAMS(X)                                \\\n"
    "    X(tau, 8.0 / 3.0, \"ms\", \"time constant\") /* \\ */ \\\n"
    "    X(sigma, 0.25, \"1\", \"noise\")\n"
    "#define GM_COUPLINGS(X) X(net, gm_sin(s->phi) * s->E, \"sum\")\n"
    "#define GM_INPUTS(X) X(p_ext, 0.5, \"1\", \"drive\")\n"
    "#define GM_NOISES(X) X(E, gm_sqrt(2 * m->sigma))\n"
    "#define GM_DERIVED(X) X(rate, s->E / m->tau + c->net + c->strength, \"Hz\", \"rate\")\n"
    "#include \"gm_model.h\"\n"
    "GM_FN gm_real help(const gm_params *p, gm_real m)\n"
    "{\n"
    "    return p->tau * m;\n"
    "}\n"
    "GM_FN void gm_drift(const gm_params *m, const gm_state *s, const gm_drive *c, gm_state *d)\n"
    "{\n"
    "    d->E = help(m, s->E) + c->net + c->p_ext * c->strength;\n"
    "    d -> phi = m->tau;\n"
    "}\n";

/* `whole` with a piece of it replaced. In memory of the caller. */
static inline char *changed(const char *piece, const char *by)
{
    const char *at = strstr(whole, piece);
    char *text = malloc(sizeof whole + strlen(by) + 1);
    assert_non_null(text);
    if (!at) fail_msg("the model has no %s", piece);
    memcpy(text, whole, (size_t)(at - whole));
    strcpy(stpcpy(text + (at - whole), by), at + strlen(piece));
    return text;
}

static inline void read_ok(const char *text)
{
    gm_model_destroy(&model);
    const gm_status st = gm_model_read("dir/my_model.h", text, problems, &model);
    if (gm_problems_count(problems) > 0) fail_msg("%s", gm_problems_text(problems, 0));
    assert_int_equal(st, GM_OK);
    assert_non_null(model);
}

/* Read it; the only problem must be the one given, after "dir/my_model.h:". */
static inline void expect_fault(const char *text, const char *expected)
{
    char wanted[1024];
    snprintf(wanted, sizeof wanted, "dir/my_model.h:%s", expected);
    gm_model_destroy(&model);
    assert_int_equal(gm_model_read("dir/my_model.h", text, problems, &model), GM_E_INPUT);
    assert_null(model);
    if (gm_problems_count(problems) != 1) fail_msg("%s", gm_status_message());
    const char *found = gm_problems_text(problems, 0);
    if (strncmp(found, wanted, strlen(wanted)) != 0)
        fail_msg("\nfound:  %s\nwanted: %s", found, wanted);
    assert_string_equal(gm_status_message(), found);
    end(NULL);
    begin(NULL);
}

static inline void expect_change(const char *piece, const char *by, const char *expected)
{
    char *text = changed(piece, by);
    expect_fault(text, expected);
    free(text);
}

static inline void accept_change(const char *piece, const char *by)
{
    char *text = changed(piece, by);
    read_ok(text);
    free(text);
}

#endif
