/** A YAML text as a tree whose nodes remember where they stand, and typed access to it.
 *
 *  Built on libyaml's events instead of its documents, so that nodes of a `--set` can be put into
 *  the tree of a file, and depth is bounded. Of YAML it takes mappings, lists and scalars;
 *  anchors, aliases, tags and several documents are refused.
 *
 *  Getters return true and fill *out, or add one problem that starts with `what` (the dotted name
 *  of the value, "time.dt") and return false. */
#ifndef GM_CORE_SWEEP_YAML_H
#define GM_CORE_SWEEP_YAML_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/problems.h"
#include "core/status.h"

enum { GM_YAML_MAX_DEPTH = 16, GM_YAML_NAME_SIZE = 160, GM_YAML_LIST_SIZE = 800 };

typedef enum { GM_YAML_SCALAR, GM_YAML_LIST, GM_YAML_MAP } gm_yaml_kind;

typedef struct gm_yaml_node {
    gm_yaml_kind kind;
    gm_place place; /* file borrowed from whoever had the text parsed */
    char *text;     /* scalar: owned */
    bool quoted;    /* scalar: text by its quotes, never a number or null */
    int64_t n, n_allocated;
    struct gm_yaml_node **key;  /* mapping: owned [n], scalars */
    struct gm_yaml_node **item; /* mapping: values; list: entries; owned [n] */
} gm_yaml_node;

/** Parse a text.
 *  @param origin  its file; a line of 0: places are not shown (the text is one argument)
 *  @param[out] out  owned by the caller; NULL when a problem left nothing to work on
 *  @return GM_OK, also when problems were added; GM_E_MEMORY */
gm_status gm_yaml_parse(const char *text, int64_t n_byte, gm_place origin, gm_problems *problems,
                        gm_yaml_node **out);
void gm_yaml_destroy(gm_yaml_node **node);

/** A new node: an empty list or mapping, or a scalar with a copy of text. */
gm_status gm_yaml_create(gm_yaml_kind kind, const char *text, gm_place place, gm_yaml_node **out);

/** Append to a mapping (key and item) or a list (key NULL). Takes both over, also on failure. */
gm_status gm_yaml_append(gm_yaml_node *parent, gm_yaml_node *key, gm_yaml_node *item);

/** Remove and free entry i. */
void gm_yaml_remove(gm_yaml_node *parent, int64_t i);

/** Index of a key in a mapping, or -1; also -1 for NULL and for nodes that are no mapping. */
int64_t gm_yaml_index(const gm_yaml_node *map, const char *key);

/** Value and key node of a key, or NULL. */
gm_yaml_node *gm_yaml_find(const gm_yaml_node *map, const char *key);
gm_yaml_node *gm_yaml_find_key(const gm_yaml_node *map, const char *key);

/** True for a scalar that stands for nothing: empty, ~ or null. */
bool gm_yaml_is_null(const gm_yaml_node *node);

/** What a node is, for messages: 'text', a list, a mapping, nothing. Returns buffer. */
const char *gm_yaml_describe(const gm_yaml_node *node, char *buffer, size_t size);

/** "sweep.yaml:3:1" or "--set ...", to name a second place in a message. Returns buffer. */
const char *gm_yaml_where(const gm_yaml_node *node, char *buffer, size_t size);

/** "a, b, c", or "none". Returns buffer. */
const char *gm_yaml_join(const char *const *name, int n, char *buffer, size_t size);

/** Report each key of a mapping that is not among the allowed ones.
 *  @param what  name of the mapping; NULL for the whole file */
void gm_yaml_check_keys(const gm_yaml_node *map, const char *what, const char *const *allowed,
                        int n_allowed, gm_problems *problems);

/** Report a word that is none of the allowed ones: "<before> 'word'; did you mean 'nearest'?
 *  <after>: all of them". */
void gm_yaml_report_name(const gm_yaml_node *node, const char *before, const char *after,
                         const char *const *allowed, int n_allowed, gm_problems *problems);

bool gm_yaml_get_map(const gm_yaml_node *node, const char *what, gm_problems *problems);
bool gm_yaml_get_list(const gm_yaml_node *node, const char *what, gm_problems *problems);

/** A finite number in YAML 1.2 decimal notation. Expects the thread's locale to be "C". */
bool gm_yaml_get_double(const gm_yaml_node *node, const char *what, gm_problems *problems,
                        double *out);

/** A whole number; 1e6 is one too. */
bool gm_yaml_get_int64(const gm_yaml_node *node, const char *what, gm_problems *problems,
                       int64_t *out);
bool gm_yaml_get_bool(const gm_yaml_node *node, const char *what, gm_problems *problems, bool *out);

/** A text that is not empty. Borrowed from the node. */
bool gm_yaml_get_string(const gm_yaml_node *node, const char *what, gm_problems *problems,
                        const char **out);

/** Index of the chosen word. */
bool gm_yaml_get_choice(const gm_yaml_node *node, const char *what, const char *const *choice,
                        int n_choice, gm_problems *problems, int *out);

#endif
