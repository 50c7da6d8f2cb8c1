/* The engine's own text, by the names its files include each other with, and that of models. */
#include "kernels/source.h"

#include <stdio.h>
#include <string.h>

static const gm_source_file *find(const char *name)
{
    const gm_source_file *file = gm_source_files;
    while (file->name && strcmp(file->name, name) != 0) file++;
    return file;
}

const char *gm_source_find(const char *name)
{
    return find(name)->text;
}

gm_model_source gm_model_source_of(const gm_model_info *model)
{
    char name[256];
    if (model->text) return (gm_model_source){model->path, model->text};
    snprintf(name, sizeof name, "kernels/models/%s.h", model->name);
    const gm_source_file *file = find(name);
    return (gm_model_source){file->name, file->text};
}
