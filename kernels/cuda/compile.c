#include "kernels/cuda/compile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/cuda/nvrtc.h"
#include "kernels/cuda/specialise.h"
#include "kernels/source.h"

enum { MAX_HEADER = 64, MAX_OPTION = 12 };

/* NVRTC has no system headers; the engine names one. */
static const char stdint_text[] =
    "#pragma once\n"
    "typedef signed char int8_t; typedef unsigned char uint8_t;\n"
    "typedef short int16_t; typedef unsigned short uint16_t;\n"
    "typedef int int32_t; typedef unsigned int uint32_t;\n"
    "typedef long long int64_t; typedef unsigned long long uint64_t;\n"
    "#define INT64_C(x) x##LL\n#define UINT64_C(x) x##ULL\n#define UINT32_C(x) x##U\n";

typedef struct parts {
    const char *main;  /* name of the file that is compiled */
    char *specialised; /* owned */
    char header_define[512], precision_define[48], architecture_option[48];
    const char *option[MAX_OPTION];
    int n_option;
    gm_nvrtc_file header[MAX_HEADER];
    int n_header;
} parts;

static void add_header(parts *p, const char *name, const char *text)
{
    if (p->n_header < MAX_HEADER) p->header[p->n_header++] = (gm_nvrtc_file){name, text};
}

static void add_option(parts *p, const char *option)
{
    if (p->n_option < MAX_OPTION) p->option[p->n_option++] = option;
}

static gm_status assemble(const gm_sweep *sweep, const gm_data *data, const char *architecture,
                          parts *p)
{
    const gm_model_source model = gm_model_source_of(sweep->model);
    const bool is_matrix = gm_cuda_is_matrix(sweep, data, architecture);
    p->main = is_matrix ? "kernels/cuda/matrix.cu" : "kernels/cuda/march.cu";
    if (!model.text)
        return GM_FAIL(GM_E_INTERNAL, "no source text of model %s", sweep->model->name);
    p->specialised = gm_cuda_specialise(sweep, data, architecture);
    if (!p->specialised) return GM_FAIL(GM_E_MEMORY, "out of memory");
    add_header(p, "gm_specialised.h", p->specialised);
    add_header(p, model.path, model.text);
    add_header(p, "stdint.h", stdint_text);
    add_header(p, "Random123/philox.h", gm_source_find("kernels/cuda/philox_nvrtc.h"));
    for (const gm_source_file *file = gm_source_files; file->name; file++)
        if (strcmp(file->name, model.path) != 0 && strncmp(file->name, "Random123/", 10) != 0)
            add_header(p, file->name, file->text);
    snprintf(p->header_define, sizeof p->header_define, "-DGM_MODEL_HEADER=\"%s\"", model.path);
    snprintf(p->precision_define, sizeof p->precision_define, "-DGM_DOUBLE=%d",
             sweep->precision == GM_FP64);
    snprintf(p->architecture_option, sizeof p->architecture_option, "--gpu-architecture=%s%s",
             architecture, is_matrix && strcmp(architecture, "sm_90") == 0 ? "a" : ""); /* wgmma */
    add_option(p, p->architecture_option);
    add_option(p, "--std=c++17");
    add_option(p, p->precision_define);
    add_option(p, p->header_define);
    add_option(p, "-DGM_SPECIALISED=\"gm_specialised.h\"");
    add_option(p, "--no-source-include");
    add_option(p, "-default-device");
    if (sweep->precision == GM_FAST_FP32) add_option(p, "-DGM_FAST=1");
    if (sweep->precision != GM_FP64) { /* 2 units in the last place, no tiny numbers */
        add_option(p, "--prec-div=false");
        add_option(p, "--prec-sqrt=false");
        add_option(p, "--ftz=true");
    }
    return GM_OK;
}

gm_status gm_cuda_compile(const gm_sweep *sweep, const gm_data *data, const char *architecture,
                          gm_code *out)
{
    gm_status st = GM_OK;
    parts p = {0};
    GM_TRY(st, assemble(sweep, data, architecture, &p));
    GM_TRY(st, gm_nvrtc_compile((gm_nvrtc_file){p.main, gm_source_find(p.main)}, p.header,
                                p.n_header, p.option, p.n_option, out));
cleanup:
    free(p.specialised);
    return st;
}

gm_status gm_cuda_compile_key(const gm_sweep *sweep, const gm_data *data, const char *architecture,
                              char **key_text)
{
    gm_status st = GM_OK;
    parts p = {0};
    size_t size = 0;
    FILE *file = NULL;
    *key_text = NULL;
    GM_TRY(st, assemble(sweep, data, architecture, &p));
    file = open_memstream(key_text, &size);
    if (!file) {
        st = GM_FAIL(GM_E_MEMORY, "out of memory");
        goto cleanup;
    }
    fprintf(file, "%s\n", p.main);
    for (int i = 0; i < p.n_option; i++) fprintf(file, "%s\n", p.option[i]);
    for (int i = 0; i < p.n_header; i++)
        fprintf(file, "%s\n%s\n", p.header[i].name, p.header[i].text);
cleanup:
    if (file && fclose(file) != 0) st = GM_FAIL(GM_E_MEMORY, "out of memory");
    free(p.specialised);
    return st;
}
