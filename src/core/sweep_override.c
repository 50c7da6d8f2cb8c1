/* Settings from the command line ("time.dt=0.05"), put into the tree of the sweep file. */
#include <stdlib.h>
#include <string.h>

#include "core/sweep_sections.h"

/* Length of the key that a dotted path starts with. Some keys hold dots themselves: the longest
 * one that the mapping has is taken, and a new axis may be "initial.<state>". 0: there is none. */
static size_t key_length(const gm_yaml_node *map, const char *path, bool is_axes)
{
    size_t longest = 0;
    for (int64_t i = 0; i < map->n; i++) {
        size_t length = strlen(map->key[i]->text);
        bool fits = strncmp(map->key[i]->text, path, length) == 0 &&
                    (path[length] == '.' || path[length] == '\0');
        if (fits && length > longest) longest = length;
    }
    if (longest > 0) return longest;
    size_t length = strcspn(path, ".");
    if (is_axes && length == strlen("initial") && strncmp(path, "initial.", length + 1) == 0)
        length += 1 + strcspn(path + length + 1, ".");
    return length;
}

/* Set or, with a null value, remove the last key of a path. Takes value over. */
static gm_status put(gm_yaml_node *map, const char *key, gm_yaml_node *value, gm_place place,
                     gm_problems *problems)
{
    gm_yaml_node *key_node = NULL;
    int64_t i = gm_yaml_index(map, key);
    if (gm_yaml_is_null(value)) {
        gm_yaml_destroy(&value);
        if (i >= 0)
            gm_yaml_remove(map, i);
        else
            gm_problems_add(problems, place, "null removes a key, but there is no '%s'", key);
        return GM_OK;
    }
    gm_status st = gm_yaml_create(GM_YAML_SCALAR, key, place, &key_node);
    if (st != GM_OK) {
        gm_yaml_destroy(&value);
        return st;
    }
    if (i < 0) return gm_yaml_append(map, key_node, value);
    gm_yaml_destroy(&map->key[i]);
    gm_yaml_destroy(&map->item[i]);
    map->key[i] = key_node;
    map->item[i] = value;
    return GM_OK;
}

/* The mapping under a key, made when there is nothing yet. NULL with a problem when the key holds
 * something else. */
static gm_status descend(gm_yaml_node *map, const char *key, gm_place place, gm_problems *problems,
                         gm_yaml_node **out)
{
    char found[GM_YAML_NAME_SIZE];
    gm_yaml_node *child = gm_yaml_find(map, key);
    *out = NULL;
    if (!child || gm_yaml_is_null(child)) {
        gm_status st = gm_yaml_create(GM_YAML_MAP, NULL, place, &child);
        if (st == GM_OK) st = put(map, key, child, place, problems);
        if (st == GM_OK) *out = child;
        return st;
    }
    if (child->kind == GM_YAML_MAP)
        *out = child;
    else
        gm_problems_add(problems, place,
                        "'%s' is %s in the sweep file, with no keys inside: set it whole", key,
                        gm_yaml_describe(child, found, sizeof found));
    return GM_OK;
}

/* Follow a dotted path from the root and put the value at its end. Takes value over. */
static gm_status put_at(gm_yaml_node *root, const char *path, gm_yaml_node *value, gm_place place,
                        gm_problems *problems)
{
    gm_yaml_node *map = root;
    for (int depth = 0; map; depth++) {
        size_t length = key_length(map, path, depth == 1 && map == gm_yaml_find(root, "axes"));
        bool is_last = path[length] == '\0';
        if (length == 0 || depth == GM_YAML_MAX_DEPTH) {
            gm_problems_add(problems, place, "a setting reads key=value, such as time.dt=0.05");
            break;
        }
        char *key = strndup(path, length);
        if (!key) {
            gm_yaml_destroy(&value);
            return GM_FAIL(GM_E_MEMORY, "out of memory for a setting");
        }
        gm_status st = is_last ? put(map, key, value, place, problems)
                               : descend(map, key, place, problems, &map);
        free(key);
        if (is_last) return st;
        if (st != GM_OK) {
            gm_yaml_destroy(&value);
            return st;
        }
        path += length + 1;
    }
    gm_yaml_destroy(&value);
    return GM_OK;
}

gm_status gm_sweep_override(gm_yaml_node *root, const char *setting, const char *place_name,
                            gm_problems *problems)
{
    gm_place place = {.file = place_name};
    gm_yaml_node *value = NULL;
    const char *equals = strchr(setting, '=');
    if (!equals || equals == setting) {
        gm_problems_add(problems, place, "a setting reads key=value, such as time.dt=0.05");
        return GM_OK;
    }
    int n_problem = gm_problems_count(problems);
    gm_status st = gm_yaml_parse(equals + 1, (int64_t)strlen(equals + 1), place, problems, &value);
    if (st != GM_OK) return st;
    if (!value) {
        if (gm_problems_count(problems) == n_problem)
            gm_problems_add(problems, place, "no value after '='; null removes a key");
        return GM_OK;
    }
    char *path = strndup(setting, (size_t)(equals - setting));
    if (!path) {
        gm_yaml_destroy(&value);
        return GM_FAIL(GM_E_MEMORY, "out of memory for a setting");
    }
    st = put_at(root, path, value, place, problems);
    free(path);
    return st;
}
