/* Builds the tree of a YAML text from libyaml's events, without recursion. */
#include "core/sweep_yaml.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

enum { MAX_KEYS = 1000 }; /* of one mapping: duplicates are found by comparing all pairs */

/* The tree in the making. Nodes hang on their parents at once, so root owns all but the key that
 * waits for its value at each level. */
typedef struct builder {
    yaml_parser_t parser;
    gm_place origin;
    gm_problems *problems;
    gm_yaml_node *root;
    gm_yaml_node *open[GM_YAML_MAX_DEPTH];
    gm_yaml_node *waiting_key[GM_YAML_MAX_DEPTH];
    int depth;
    bool done;
    bool refused; /* a problem that leaves nothing to work on */
} builder;

gm_status gm_yaml_create(gm_yaml_kind kind, const char *text, gm_place place, gm_yaml_node **out)
{
    gm_yaml_node *node = calloc(1, sizeof *node);
    *out = NULL;
    if (!node) return GM_FAIL(GM_E_MEMORY, "out of memory for the sweep file");
    node->kind = kind;
    node->place = place;
    if (kind == GM_YAML_SCALAR && !(node->text = strdup(text))) {
        free(node);
        return GM_FAIL(GM_E_MEMORY, "out of memory for the sweep file");
    }
    *out = node;
    return GM_OK;
}

void gm_yaml_destroy(gm_yaml_node **node)
{
    gm_yaml_node *self = *node;
    if (!self) return;
    for (int64_t i = 0; i < self->n; i++) {
        if (self->key) gm_yaml_destroy(&self->key[i]);
        gm_yaml_destroy(&self->item[i]);
    }
    free(self->key);
    free(self->item);
    free(self->text);
    free(self);
    *node = NULL;
}

static bool grow(gm_yaml_node ***array, int64_t n)
{
    gm_yaml_node **grown = realloc(*array, (size_t)n * sizeof **array);
    if (grown) *array = grown;
    return grown != NULL;
}

gm_status gm_yaml_append(gm_yaml_node *parent, gm_yaml_node *key, gm_yaml_node *item)
{
    if (parent->n == parent->n_allocated) {
        int64_t n = parent->n_allocated ? 2 * parent->n_allocated : 8;
        if (!grow(&parent->item, n) || (key && !grow(&parent->key, n))) {
            gm_yaml_destroy(&key);
            gm_yaml_destroy(&item);
            return GM_FAIL(GM_E_MEMORY, "out of memory for the sweep file");
        }
        parent->n_allocated = n;
    }
    if (key) parent->key[parent->n] = key;
    parent->item[parent->n++] = item;
    return GM_OK;
}

void gm_yaml_remove(gm_yaml_node *parent, int64_t i)
{
    size_t n_after = (size_t)(parent->n - i - 1);
    gm_yaml_destroy(&parent->item[i]);
    memmove(parent->item + i, parent->item + i + 1, n_after * sizeof *parent->item);
    if (parent->key) {
        gm_yaml_destroy(&parent->key[i]);
        memmove(parent->key + i, parent->key + i + 1, n_after * sizeof *parent->key);
    }
    parent->n--;
}

static gm_place place_at(const builder *build, size_t line, size_t column)
{
    gm_place place = build->origin;
    if (place.line == 0) return place;
    place.line = line < INT_MAX ? (int)line + 1 : INT_MAX;
    place.column = column < INT_MAX ? (int)column + 1 : INT_MAX;
    return place;
}

static void refuse(builder *build, yaml_mark_t mark, const char *text)
{
    gm_problems_add(build->problems, place_at(build, mark.line, mark.column), "%s", text);
    build->refused = true;
}

/* Line and column of a byte, both from 0; a column is a character. */
static void locate(const char *text, size_t offset, size_t *line, size_t *column)
{
    *line = 0;
    *column = 0;
    for (size_t i = 0; i < offset; i++) {
        bool starts_character = ((unsigned char)text[i] & 0xC0) != 0x80;
        *column = text[i] == '\n' ? 0 : *column + starts_character;
        *line += text[i] == '\n';
    }
}

static bool is_tab_at(const char *text, size_t n_byte, yaml_mark_t mark)
{
    size_t line = 0;
    size_t i = 0;
    while (i < n_byte && line < mark.line) line += text[i++] == '\n';
    for (size_t column = 0; i < n_byte; i++) {
        if (((unsigned char)text[i] & 0xC0) == 0x80) continue;
        if (column++ == mark.column) return text[i] == '\t';
    }
    return false;
}

/* The first problem libyaml met. It gives no line for bytes it cannot decode, only their offset. */
static void refuse_syntax(builder *build, const char *text, size_t n_byte)
{
    const yaml_parser_t *parser = &build->parser;
    yaml_mark_t mark = parser->problem_mark;
    gm_place place = place_at(build, mark.line, mark.column);
    build->refused = true;
    if (parser->error == YAML_READER_ERROR) {
        size_t offset = parser->problem_offset < n_byte ? parser->problem_offset : n_byte;
        locate(text, offset, &mark.line, &mark.column);
        place = place_at(build, mark.line, mark.column);
        gm_problems_add(build->problems, place, "not plain UTF-8 text: %s (0x%02X)",
                        parser->problem, (unsigned)parser->problem_value);
    } else if (is_tab_at(text, n_byte, mark)) {
        gm_problems_add(build->problems, place, "not YAML: a tab; indent with spaces");
    } else if (parser->context && build->origin.line > 0) {
        gm_problems_add(build->problems, place, "not YAML: %s, %s that starts at line %zu",
                        parser->problem, parser->context, parser->context_mark.line + 1);
    } else {
        gm_problems_add(build->problems, place, "not YAML: %s", parser->problem);
    }
}

static void check_new_key(builder *build, const gm_yaml_node *map, const gm_yaml_node *key)
{
    char where[GM_YAML_NAME_SIZE];
    char name[GM_YAML_NAME_SIZE];
    const gm_yaml_node *first = gm_yaml_find_key(map, key->text);
    if (!first) return;
    gm_problems_add(build->problems, key->place, "the key %s is here twice; first at %s",
                    gm_yaml_describe(key, name, sizeof name),
                    gm_yaml_where(first, where, sizeof where));
}

/* Hang a node where it belongs: it is the root, a list's next entry, a mapping's next key, or the
 * value of the key that waits. Takes the node over. */
static gm_status attach(builder *build, gm_yaml_node *node, yaml_mark_t mark)
{
    if (build->depth == 0) {
        build->root = node;
        return GM_OK;
    }
    gm_yaml_node *parent = build->open[build->depth - 1];
    gm_yaml_node **waiting = &build->waiting_key[build->depth - 1];
    if (parent->kind == GM_YAML_LIST) return gm_yaml_append(parent, NULL, node);
    if (*waiting) {
        gm_yaml_node *key = *waiting;
        *waiting = NULL;
        return gm_yaml_append(parent, key, node);
    }
    *waiting = node;
    if (node->kind != GM_YAML_SCALAR)
        refuse(build, mark, "a list or mapping cannot be a key; keys are plain words");
    else if (parent->n == MAX_KEYS)
        refuse(build, mark, "more than 1000 keys in one mapping");
    else
        check_new_key(build, parent, node);
    return GM_OK;
}

static gm_status add_node(builder *build, const yaml_event_t *event, gm_yaml_kind kind,
                          const char *text)
{
    gm_yaml_node *node = NULL;
    yaml_mark_t mark = event->start_mark;
    if (kind != GM_YAML_SCALAR && build->depth == GM_YAML_MAX_DEPTH) {
        refuse(build, mark, "nested too deeply: a sweep file needs no more than 5 levels");
        return GM_OK;
    }
    gm_status st = gm_yaml_create(kind, text, place_at(build, mark.line, mark.column), &node);
    if (st != GM_OK) return st;
    if (kind == GM_YAML_SCALAR) node->quoted = event->data.scalar.style != YAML_PLAIN_SCALAR_STYLE;
    st = attach(build, node, mark);
    if (st != GM_OK || kind == GM_YAML_SCALAR) return st;
    build->open[build->depth] = node;
    build->waiting_key[build->depth] = NULL;
    build->depth++;
    return GM_OK;
}

static gm_status add_scalar(builder *build, const yaml_event_t *event)
{
    const char *text = (const char *)event->data.scalar.value;
    if (strlen(text) != event->data.scalar.length) {
        refuse(build, event->start_mark, "a text with a zero byte");
        return GM_OK;
    }
    return add_node(build, event, GM_YAML_SCALAR, text);
}

/* Refuse what a sweep file has no use for, instead of giving it a silent meaning. */
static bool has_extras(const yaml_event_t *event)
{
    switch (event->type) {
    case YAML_SCALAR_EVENT: return event->data.scalar.anchor || event->data.scalar.tag;
    case YAML_SEQUENCE_START_EVENT:
        return event->data.sequence_start.anchor || event->data.sequence_start.tag;
    case YAML_MAPPING_START_EVENT:
        return event->data.mapping_start.anchor || event->data.mapping_start.tag;
    default: return event->type == YAML_ALIAS_EVENT;
    }
}

static gm_status take_event(builder *build, const yaml_event_t *event)
{
    if (has_extras(event)) {
        refuse(build, event->start_mark,
               "YAML anchors (&), aliases (*) and tags (!) are not used in sweep files; a text "
               "that starts so needs quotes");
        return GM_OK;
    }
    switch (event->type) {
    case YAML_DOCUMENT_START_EVENT:
        if (build->root)
            refuse(build, event->start_mark, "a second YAML document; one sweep per file");
        return GM_OK;
    case YAML_SCALAR_EVENT: return add_scalar(build, event);
    case YAML_SEQUENCE_START_EVENT: return add_node(build, event, GM_YAML_LIST, NULL);
    case YAML_MAPPING_START_EVENT: return add_node(build, event, GM_YAML_MAP, NULL);
    case YAML_SEQUENCE_END_EVENT:
    case YAML_MAPPING_END_EVENT: build->depth--; return GM_OK;
    case YAML_STREAM_END_EVENT: build->done = true; return GM_OK;
    default: return GM_OK;
    }
}

gm_status gm_yaml_parse(const char *text, int64_t n_byte, gm_place origin, gm_problems *problems,
                        gm_yaml_node **out)
{
    gm_status st = GM_OK;
    builder build = {.origin = origin, .problems = problems};
    *out = NULL;
    if (!yaml_parser_initialize(&build.parser))
        return GM_FAIL(GM_E_MEMORY, "out of memory for the sweep file");
    if (n_byte >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0) text += 3, n_byte -= 3;
    yaml_parser_set_encoding(&build.parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&build.parser, (const unsigned char *)text, (size_t)n_byte);
    while (!build.done && !build.refused) {
        yaml_event_t event;
        if (!yaml_parser_parse(&build.parser, &event)) {
            if (build.parser.error == YAML_MEMORY_ERROR)
                st = GM_FAIL(GM_E_MEMORY, "out of memory for the sweep file");
            else
                refuse_syntax(&build, text, (size_t)n_byte);
            break;
        }
        st = take_event(&build, &event);
        yaml_event_delete(&event);
        if (st != GM_OK) break;
    }
    for (int i = 0; i < build.depth; i++) gm_yaml_destroy(&build.waiting_key[i]);
    if (st != GM_OK || build.refused) gm_yaml_destroy(&build.root);
    yaml_parser_delete(&build.parser);
    *out = build.root;
    return st;
}
