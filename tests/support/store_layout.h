/** Two small layouts, written out by hand, for the tests of io/store.h. */
#ifndef GM_TESTS_STORE_LAYOUT_H
#define GM_TESTS_STORE_LAYOUT_H

#include <math.h>

#include "core/layout.h"

enum {
    GRID_N_G = 3,
    GRID_N_SEED = 2,
    GRID_N_POINT = GRID_N_G * GRID_N_SEED,
    GRID_N_TIME = 4,
    GRID_N_NODE = 5,
    ZIP_N_POINT = 4
};

/* Indices into the variables of the grid. */
enum { GRID_E_MEAN, GRID_E, GRID_I_LAST, GRID_STATUS, GRID_FAILED_STEP, GRID_RUN, GRID_N_VARIABLE };

static double grid_g[GRID_N_G] = {0.5, 1.0, 1.5};
static double grid_seed[GRID_N_SEED] = {7, 9007199254740991.0};
static double grid_time[GRID_N_TIME] = {0.1, 0.2, 0.3, 0.4};
static char *grid_label[GRID_N_NODE] = {"lh_bank", "rh_cün", "A", "B", "C"};

static gm_coordinate grid_coordinate[] = {
    {"G", "1", "global coupling", GRID_N_G, grid_g, NULL, false, true},
    {"seed", "1", "seed of the noise", GRID_N_SEED, grid_seed, NULL, true, true},
    {"time", "ms", "time", GRID_N_TIME, grid_time, NULL, false, true},
    {"node", NULL, "node of the network", GRID_N_NODE, NULL, grid_label, false, true},
};

static gm_variable grid_variable[GRID_N_VARIABLE] = {
    {"E_mean", "1", "activity, mean over time", GM_TYPE_F32, NAN, false, true, 4 * GRID_N_NODE,
     GM_MEAN, 0},
    {"E", "1", "activity, value over time", GM_TYPE_F32, NAN, true, true,
     4 * GRID_N_NODE *GRID_N_TIME, GM_TRAJECTORY, 0},
    {"I_last", "mV", "value after the last step", GM_TYPE_F64, NAN, false, true, 8 * GRID_N_NODE,
     GM_LAST, 1},
    {"status", "1", "state of the point", GM_TYPE_U8, 0, false, false, 1, GM_LAST, -1},
    {"failed_step", "1", "step of the failure", GM_TYPE_I64, -1, false, false, 8, GM_LAST, -1},
    {"run", "1", "run that computed the point", GM_TYPE_I64, -1, false, false, 8, GM_LAST, -1},
};

static gm_layout grid_layout = {
    .n_point_dim = 2,
    .n_coordinate = 4,
    .coordinate = grid_coordinate,
    .time_dim = 2,
    .node_dim = 3,
    .n_variable = GRID_N_VARIABLE,
    .variable = grid_variable,
    .status = GRID_STATUS,
    .failed_step = GRID_FAILED_STEP,
    .run = GRID_RUN,
    .checksum = -1,
    .n_point = GRID_N_POINT,
    .n_sample = GRID_N_TIME,
    .n_node = GRID_N_NODE,
};

static double zip_point[ZIP_N_POINT] = {0, 1, 2, 3};
static double zip_value[ZIP_N_POINT] = {0.25, 0.5, 4, 0.125};

static gm_coordinate zip_coordinate[] = {
    {"point", "1", "number of the point", ZIP_N_POINT, zip_point, NULL, true, true},
    {"G", "1", "global coupling", ZIP_N_POINT, zip_value, NULL, false, false},
    {"initial.E", "1", "initial activity", ZIP_N_POINT, zip_value, NULL, false, false},
};

static gm_variable zip_variable[] = {
    {"E_last", "1", "value after the last step", GM_TYPE_F64, NAN, false, false, 8, GM_LAST, 0},
    {"status", "1", "state of the point", GM_TYPE_U8, 0, false, false, 1, GM_LAST, -1},
};

static gm_layout zip_layout __attribute__((unused)) = {
    .n_point_dim = 1,
    .n_coordinate = 3,
    .coordinate = zip_coordinate,
    .time_dim = -1,
    .node_dim = -1,
    .n_variable = 2,
    .variable = zip_variable,
    .status = 1,
    .failed_step = -1,
    .run = -1,
    .checksum = -1,
    .n_point = ZIP_N_POINT,
    .n_sample = 0,
    .n_node = 1,
};

#endif
