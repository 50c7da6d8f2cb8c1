/** Sizes that every backend derives from a sweep. */
#ifndef GM_KERNELS_SHAPE_H
#define GM_KERNELS_SHAPE_H

#include "core/data.h"

/** Precision of the numbers that a kernel holds: GM_FP32 or GM_FP64. */
gm_precision gm_real_precision(const gm_sweep *sweep);

/** Bytes of one number in the sweep's precision. */
int64_t gm_real_size(const gm_sweep *sweep);

/** array[i] = value, in the sweep's precision. */
void gm_put_real(gm_precision precision, void *array, int64_t i, double value);

/** States and derived quantities recorded by an observable, a bit each. */
uint32_t gm_record_mask(const gm_sweep *sweep, int observable);

/** Those with running statistics, a bit each. */
uint32_t gm_statistics_mask(const gm_sweep *sweep);

/** Derived quantities that are recorded at all: the same bits. */
uint32_t gm_derived_mask(const gm_sweep *sweep);

/** Does one of these need the couplings of the state that is recorded? */
bool gm_derived_couples(const gm_sweep *sweep);

/** Rows of a device's arrays of what can be recorded: the states, and the derived quantities where
 *  one is recorded. */
int gm_n_row(const gm_sweep *sweep);

/** Inputs that are interpolated between samples, a bit each. */
uint32_t gm_linear_mask(const gm_sweep *sweep);

/** Number of (observable, quantity) pairs recorded at the end of a tile. */
int64_t gm_n_final(const gm_sweep *sweep);

/** Number of quantities whose trajectory is recorded. */
int64_t gm_n_trajectory(const gm_sweep *sweep);

/** Bytes a point takes on a device: state, statistics, knobs, and results of all slots. */
int64_t gm_point_bytes(const gm_sweep *sweep, const gm_data *data);

/** The most trajectory samples that a chunk of n_step steps can hold. */
int64_t gm_most_samples(const gm_sweep *sweep, int64_t n_step);

#endif
