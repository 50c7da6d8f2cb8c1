/** A connection matrix as read becomes the one the models see: orientation, symmetry,
 *  self-connections, normalisation. */
#include "core/data.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/** What the steps below share: where to report, and about which file. */
typedef struct report {
    gm_place place;
    const char *path;
    gm_problems *problems;
} report;

static bool check_finite(int64_t n, const double *weight, const report *to)
{
    int64_t bad = 0;
    int64_t first = 0;
    for (int64_t i = 0; i < n * n; i++)
        if (!isfinite(weight[i]) && bad++ == 0) first = i;
    if (bad == 0) return true;
    gm_problems_add(
        to->problems, to->place,
        "weights '%s': row %lld, column %lld is %g; %lld of %lld entries are not finite", to->path,
        (long long)(first / n) + 1, (long long)(first % n) + 1, weight[first], (long long)bad,
        (long long)(n * n));
    return false;
}

static void transpose(int64_t n, double *weight)
{
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < i; j++) {
            double kept = weight[i * n + j];
            weight[i * n + j] = weight[j * n + i];
            weight[j * n + i] = kept;
        }
}

static double largest_modulus(int64_t n, const double *weight)
{
    double largest = 0;
    for (int64_t i = 0; i < n * n; i++) largest = fmax(largest, fabs(weight[i]));
    return largest;
}

/* Equal up to rounding: a matrix computed in single precision passes, a directed one does not. */
static bool check_symmetry(int64_t n, const double *weight, const report *to)
{
    double largest = largest_modulus(n, weight);
    int64_t bad = 0;
    int64_t row = 0;
    int64_t column = 0;
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < i; j++) {
            double a = weight[i * n + j];
            double b = weight[j * n + i];
            if (fabs(a - b) <= 1e-6 * fmax(fabs(a), fabs(b)) + 1e-12 * largest) continue;
            if (bad++ == 0) row = i, column = j;
        }
    if (bad == 0) return true;
    gm_problems_add(to->problems, to->place,
                    "weights '%s' are not symmetric: row %lld, column %lld is %.9g, but row %lld, "
                    "column %lld is %.9g; %lld of %lld pairs differ (symmetric: averaged or as_is "
                    "would accept that)",
                    to->path, (long long)row + 1, (long long)column + 1, weight[row * n + column],
                    (long long)column + 1, (long long)row + 1, weight[column * n + row],
                    (long long)bad, (long long)(n * (n - 1) / 2));
    return false;
}

static void average(int64_t n, double *weight)
{
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < i; j++) {
            double mean = 0.5 * weight[i * n + j] + 0.5 * weight[j * n + i];
            weight[i * n + j] = mean;
            weight[j * n + i] = mean;
        }
}

/* Divide the whole matrix by one norm. */
static void divide(int64_t n, double *weight, double norm, const char *what, const report *to)
{
    if (norm > 0 && isfinite(norm)) {
        for (int64_t i = 0; i < n * n; i++) weight[i] /= norm;
        return;
    }
    gm_problems_add(to->problems, to->place,
                    "weights '%s' cannot be normalised: their %s is %g (after symmetry and "
                    "self-connections were dealt with)",
                    to->path, what, norm);
}

/* Divide each row by the sum of its moduli. */
static void divide_rows(int64_t n, double *weight, const report *to)
{
    int64_t bad = 0;
    int64_t first = 0;
    double first_sum = 0;
    for (int64_t i = 0; i < n; i++) {
        double sum = 0;
        for (int64_t j = 0; j < n; j++) sum += fabs(weight[i * n + j]);
        if (sum > 0 && isfinite(sum)) {
            for (int64_t j = 0; j < n; j++) weight[i * n + j] /= sum;
        } else if (bad++ == 0) {
            first = i;
            first_sum = sum;
        }
    }
    if (bad == 0) return;
    gm_problems_add(to->problems, to->place,
                    "weights '%s' cannot be normalised by row: what reaches node %lld (counted "
                    "from 1) sums to %g; so it is for %lld of %lld nodes",
                    to->path, (long long)first + 1, first_sum, (long long)bad, (long long)n);
}

static void normalise(gm_normalisation normalisation, int64_t n, double *weight, const report *to)
{
    double radius;
    switch (normalisation) {
    case GM_NORM_NONE: return;
    case GM_NORM_MAXIMUM:
        divide(n, weight, largest_modulus(n, weight), "largest modulus", to);
        return;
    case GM_NORM_ROW: divide_rows(n, weight, to); return;
    case GM_NORM_SPECTRAL:
        if (gm_spectral_radius(n, weight, &radius) == GM_OK)
            divide(n, weight, radius, "spectral radius", to);
        else
            gm_problems_add(to->problems, to->place,
                            "weights '%s': not enough memory for the spectral radius of %lld nodes",
                            to->path, (long long)n);
        return;
    }
}

void gm_network_prepare(const gm_network_spec *spec, int64_t n, double *weight,
                        const char *sweep_path, gm_problems *problems)
{
    report to = {{sweep_path, spec->weights.line, spec->weights.column},
                 spec->weights.path ? spec->weights.path : "",
                 problems};
    if (!check_finite(n, weight, &to)) return;
    if (spec->rows_are_source) transpose(n, weight);
    if (spec->symmetry == GM_SYMMETRIC_REQUIRED && !check_symmetry(n, weight, &to)) return;
    if (spec->symmetry == GM_SYMMETRIC_AVERAGED) average(n, weight);
    if (!spec->keep_self)
        for (int64_t i = 0; i < n; i++) weight[i * n + i] = 0;
    normalise(spec->normalisation, n, weight, &to);
}
