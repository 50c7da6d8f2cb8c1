/** Spectral radius of a real matrix, without an eigenvalue solver: Gelfand's formula,
 *  radius = lim |A^m|^(1/m), with m doubled by squaring. */
#include "core/data.h"

#include <math.h>
#include <stdlib.h>

/* With m = 2^50, |A^m|^(1/m) is right to 1e-10 even if |A^m| / radius^m grows as m^1000. */
enum { N_SQUARING = 50 };

static double frobenius_norm(int64_t n, const double *matrix)
{
    double sum = 0;
    for (int64_t i = 0; i < n * n; i++) sum += matrix[i] * matrix[i];
    return sqrt(sum);
}

/* c = b b. Four rows of b at a time, so that a row of c is loaded and stored a quarter as often. */
static void square(int64_t n, const double *b, double *c)
{
    for (int64_t i = 0; i < n; i++) {
        double *restrict row = c + i * n;
        for (int64_t j = 0; j < n; j++) row[j] = 0;
        int64_t k = 0;
        for (; k + 4 <= n; k += 4) {
            const double *a = b + i * n + k;
            const double *b0 = b + k * n;
            const double *b1 = b0 + n;
            const double *b2 = b1 + n;
            const double *b3 = b2 + n;
            for (int64_t j = 0; j < n; j++)
                row[j] += (a[0] * b0[j] + a[1] * b1[j]) + (a[2] * b2[j] + a[3] * b3[j]);
        }
        for (; k < n; k++)
            for (int64_t j = 0; j < n; j++) row[j] += b[i * n + k] * b[k * n + j];
    }
}

/* If c = b b equals s b, all eigenvalues of b are 0 or s; a trace of at least s / 2 says that s
 * is among them. Powers of a matrix with one dominant real eigenvalue soon come there.
 * Returns |s|, or 0 while c is not a multiple of b. */
static double settled_eigenvalue(int64_t n, const double *b, const double *c)
{
    double bb = 0;
    double bc = 0;
    double trace = 0;
    double rest = 0;
    for (int64_t i = 0; i < n * n; i++) {
        bb += b[i] * b[i];
        bc += b[i] * c[i];
    }
    double s = bc / bb;
    for (int64_t i = 0; i < n; i++) trace += b[i * n + i];
    if (fabs(trace) < 0.5 * fabs(s)) return 0;
    for (int64_t i = 0; i < n * n; i++) rest += (c[i] - s * b[i]) * (c[i] - s * b[i]);
    return sqrt(rest) <= 1e-11 * s * s ? fabs(s) : 0;
}

/* b [n][n] holds A / |A|, c is work space of the same size; the result is that of A / |A|. */
static double radius_of_unit(int64_t n, double *b, double *c)
{
    double log_norm = 0; /* b * exp(m * log_norm) is the m-th power of the matrix */
    double m = 1;
    for (int k = 0; k < N_SQUARING; k++) {
        square(n, b, c);
        double norm = frobenius_norm(n, c);
        if (norm == 0) return 0;
        double eigenvalue = settled_eigenvalue(n, b, c);
        if (eigenvalue > 0) return exp(log_norm + log(eigenvalue) / m);
        m *= 2;
        log_norm += log(norm) / m;
        for (int64_t i = 0; i < n * n; i++) c[i] /= norm;
        double *power = c;
        c = b;
        b = power;
    }
    return exp(log_norm);
}

gm_status gm_spectral_radius(int64_t n, const double *matrix, double *radius)
{
    gm_status st = GM_OK;
    size_t size = (size_t)n * (size_t)n;
    double *power = malloc(size * sizeof *power);
    double *work = malloc(size * sizeof *work);
    double scale = 0;
    if (!power || !work) {
        st = GM_FAIL(GM_E_MEMORY, "not enough memory for the spectral radius of %lld nodes",
                     (long long)n);
        goto cleanup;
    }
    *radius = 0;
    for (size_t i = 0; i < size; i++) scale = fmax(scale, fabs(matrix[i]));
    if (scale == 0) goto cleanup;
    for (size_t i = 0; i < size; i++) power[i] = matrix[i] / scale;
    double norm = frobenius_norm(n, power);
    for (size_t i = 0; i < size; i++) power[i] /= norm;
    *radius = radius_of_unit(n, power, work) * norm * scale;
cleanup:
    free(power);
    free(work);
    return st;
}
