/** What the run loop asks of a device.
 *
 *  A backend (CPU, CUDA) opens devices; a device makes an engine for one sweep; an engine marches
 *  tiles. The run loop hands it work, one chunk of one tile at a time, in order:
 *
 *      submit(0) submit(1) submit(2) collect(0) write, submit(0) collect(1) write, submit(1) ...
 *
 *  submit returns as soon as the work is queued, so that copies, marching and the writing of
 * earlier results overlap. Host data pass as double (a sweep's values) and leave in the sweep's
 * precision. Nothing here is collective; an engine belongs to one thread. */
#ifndef GM_KERNELS_BACKEND_H
#define GM_KERNELS_BACKEND_H

#include <stddef.h>

#include "core/data.h"
#include "core/sweep.h"
#include "kernels/code.h"

/* One chunk marches, one waits behind it, one is being written: the device never waits for the
 * host. */
enum { GM_N_SLOT = 3 };

typedef struct gm_device gm_device;
typedef struct gm_engine gm_engine;

typedef struct gm_device_info {
    char name[96];         /* "NVIDIA H200", "Intel(R) Xeon(R) ..." */
    char uuid[48];         /* "GPU-..."; "" on a CPU */
    char architecture[24]; /* "sm_90", "x86-64-v4" */
    int64_t free_bytes;    /* memory that may be used now */
    int n_worker;          /* CPU: threads; GPU: multiprocessors */
} gm_device_info;

/** How an engine marches a sweep. */
typedef struct gm_engine_kind {
    char name[16];    /* "matrix", "block", "thread", "lanes" */
    char reason[160]; /* for the user: what it does and why it is taken */
} gm_engine_kind;

/** How a rank's points are cut for an engine. */
typedef struct gm_tiling {
    int64_t tile_points; /* points marched together, > 0 */
    int64_t chunk_steps; /* steps between two exchanges with the host, > 0 */
} gm_tiling;

/** One chunk of one tile. Pointers are borrowed for the call. */
typedef struct gm_work {
    int64_t n_point;      /* 1 .. tile_points */
    const int64_t *point; /* [n_point] index of each point in the sweep, rising */
    int64_t step_begin;   /* steps already done */
    int64_t n_step;       /* 1 .. chunk_steps */
    const double *input;  /* [n_step + 1][n_input][n_node] from gm_data_input; [1] if constant */
    bool first, last;     /* of the tile: first starts its points; last gives their statistics */
    const void *state;    /* with first: the points go on from these records, and no other chunk is
                             on its way; NULL: they begin at step 0 */
    int64_t state_stride; /* bytes from record to record */
} gm_work;

/** What a chunk leaves. Pointers are borrowed until the slot is submitted again. */
typedef struct gm_result {
    int64_t sample_begin, n_sample;          /* trajectory samples of this chunk */
    const void *trajectory[GM_MAX_QUANTITY]; /* [n_point][n_sample][n_node] or NULL */
    const void
        *statistic[GM_N_OBSERVABLE][GM_MAX_QUANTITY]; /* last chunk: [n_point][n_node] or NULL */
    const int64_t *failed_step; /* last chunk: [n_point] first step not finite, -1: none */
} gm_result;

/** Seconds an engine's parts were busy, by its own clock. */
typedef struct gm_engine_usage {
    double march, up, down;
    int64_t bytes_up, bytes_down;
} gm_engine_usage;

typedef struct gm_backend {
    const char *name; /* "cpu", "cuda" */

    /** Number of devices this process can use. On 0 *reason says why, in words for a user
     *  (static); it never fails. */
    int (*count)(const char **reason);

    /** Which device that is, without opening it: as in gm_device_info. NULL: there is just one. */
    void (*uuid)(int index, char text[48]);

    /** Open device `index` of count. n_thread: CPU threads, 0 for all this process may use. */
    gm_status (*open)(int index, int n_thread, gm_device **out);
    void (*close)(gm_device **device);
    gm_status (*describe)(gm_device *device, gm_device_info *info);

    /** Identity of the code that computes a sweep here: for resume. E.g. "block-per-point fp32". */
    gm_status (*kernel)(const gm_device *device, const gm_sweep *sweep, char *text, size_t size);

    /** Which engine marches a sweep here.
     *  @param is_compiled  with a kernel compiled for the sweep, not a built-in one */
    void (*engine_kind)(const gm_device *device, const gm_sweep *sweep, const gm_data *data,
                        bool is_compiled, gm_engine_kind *out);

    /** Bytes of device memory that a point takes, and a trajectory sample of a point (over all
     *  slots); what does not depend on points is `fixed`. */
    void (*footprint)(const gm_sweep *sweep, const gm_data *data, int64_t *fixed,
                      int64_t *per_point, int64_t *per_sample);

    /** Points that keep the device busy: tiles smaller than this waste it. */
    int64_t (*wanted_points)(const gm_device *device, const gm_sweep *sweep);

    /** Points that the device marches in hardly less time than one; up to wanted_points. */
    int64_t (*least_points)(const gm_device *device, const gm_sweep *sweep);

    /** Does a kernel compiled for the sweep do better than the built-in one? Users' models are
     * always compiled. */
    bool specialises;

    /** Can this process compile kernels for this backend? On true *version names the compiler, on
     *  false *reason says what is missing (both static). */
    bool (*compiler)(const char **version, const char **reason);

    /** Everything but the compiler that changes what compile makes, as one text (owned by caller).
     */
    gm_status (*compile_key)(const gm_sweep *sweep, const gm_data *data, const char *architecture,
                             char **key_text);

    /** Compile the sweep's model for an architecture as gm_device_info names it. Serial; on one
     * rank; needs no device.
     *  @return GM_OK; GM_E_INPUT with the compiler's messages; GM_E_DEVICE: no compiler */
    gm_status (*compile)(const gm_sweep *sweep, const gm_data *data, const char *architecture,
                         gm_code *out);

    /** @param code  the kernel to march with, borrowed for the call; NULL: the built-in one */
    gm_status (*engine_create)(gm_device *device, const gm_sweep *sweep, const gm_data *data,
                               gm_tiling tiling, const gm_code *code, gm_engine **out);
    void (*engine_destroy)(gm_engine **engine);
    gm_status (*submit)(gm_engine *engine, int slot, const gm_work *work);
    gm_status (*collect)(gm_engine *engine, int slot, gm_result *result);

    /** Copy the states of the tile in hand after its last chunk submitted; all chunks were
     * collected.
     *  @param n_point     of that tile
     *  @param[out] state  [n_point] records of gm_state_bytes, `stride` bytes apart */
    gm_status (*save)(gm_engine *engine, int64_t n_point, void *state, int64_t stride);
    void (*usage)(const gm_engine *engine, gm_engine_usage *usage);
} gm_backend;

extern const gm_backend gm_backend_cpu;
extern const gm_backend gm_backend_cuda; /* built without CUDA: count is 0 and says so */

/** The models that this program was built with. */
extern const gm_model_catalog gm_builtin_models;

/** Cut a sweep for a device.
 *  @param n_point     points this rank has
 *  @param free_bytes  device memory it may use
 *  @param wish        sizes asked for by the user; 0: choose
 *  @return GM_OK; GM_E_MEMORY if not even one point fits (says how much is needed) */
gm_status gm_tiling_choose(const gm_backend *backend, const gm_device *device,
                           const gm_sweep *sweep, const gm_data *data, int64_t n_point,
                           int64_t free_bytes, gm_tiling wish, gm_tiling *out);

/** Bytes of a point's state between two chunks: the same for every engine, whatever its tiles. */
int64_t gm_state_bytes(const gm_sweep *sweep, const gm_data *data);

/** Samples of the trajectory that lie in steps (step_begin, step_begin + n_step]. */
void gm_chunk_samples(const gm_sweep *sweep, int64_t step_begin, int64_t n_step, int64_t *begin,
                      int64_t *n);

#endif
