/* OpenBLAS opened at run time: one table of its functions, called with 64-bit integers whatever width it was built for.
 *
 * Matrices are row-major in the cblas calls and column-major in the LAPACK calls, as the library has them. Sizes are
 * checked by the Go callers; nothing here judges them. No Python.h.
 */
#ifndef DLPACKGO_OPENBLAS_H
#define DLPACKGO_OPENBLAS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct dlpackgo_openblas dlpackgo_openblas;

/* The library at path, or NULL and the reason in message. It stays loaded for good: its threads never end. */
dlpackgo_openblas *dlpackgo_openblas_open(const char *path, char *message, size_t size);

const char *dlpackgo_openblas_config(const dlpackgo_openblas *lib); /* version and build options */
bool dlpackgo_openblas_is_ilp64(const dlpackgo_openblas *lib);
int dlpackgo_openblas_threads(const dlpackgo_openblas *lib);
void dlpackgo_openblas_set_threads(const dlpackgo_openblas *lib, int threads);

/* The options of a cblas call, with cblas.h's numbers. */
enum {
    DLPACKGO_ROW_MAJOR = 101,
    DLPACKGO_NO_TRANS = 111,
    DLPACKGO_TRANS = 112,
    DLPACKGO_UPPER = 121,
    DLPACKGO_LOWER = 122,
    DLPACKGO_NON_UNIT = 131,
    DLPACKGO_UNIT = 132,
    DLPACKGO_LEFT = 141,
    DLPACKGO_RIGHT = 142
};

double dlpackgo_openblas_ddot(const dlpackgo_openblas *lib, int64_t n, const double *x, int64_t incx, const double *y,
                              int64_t incy);
float dlpackgo_openblas_sdot(const dlpackgo_openblas *lib, int64_t n, const float *x, int64_t incx, const float *y,
                             int64_t incy);
double dlpackgo_openblas_dnrm2(const dlpackgo_openblas *lib, int64_t n, const double *x, int64_t incx);
float dlpackgo_openblas_snrm2(const dlpackgo_openblas *lib, int64_t n, const float *x, int64_t incx);

void dlpackgo_openblas_dgemv(const dlpackgo_openblas *lib, int trans, int64_t m, int64_t n, double alpha,
                             const double *a, int64_t lda, const double *x, int64_t incx, double beta, double *y,
                             int64_t incy);
void dlpackgo_openblas_sgemv(const dlpackgo_openblas *lib, int trans, int64_t m, int64_t n, float alpha, const float *a,
                             int64_t lda, const float *x, int64_t incx, float beta, float *y, int64_t incy);

void dlpackgo_openblas_dgemm(const dlpackgo_openblas *lib, int transa, int transb, int64_t m, int64_t n, int64_t k,
                             double alpha, const double *a, int64_t lda, const double *b, int64_t ldb, double beta,
                             double *c, int64_t ldc);
void dlpackgo_openblas_sgemm(const dlpackgo_openblas *lib, int transa, int transb, int64_t m, int64_t n, int64_t k,
                             float alpha, const float *a, int64_t lda, const float *b, int64_t ldb, float beta,
                             float *c, int64_t ldc);
void dlpackgo_openblas_dsyrk(const dlpackgo_openblas *lib, int uplo, int trans, int64_t n, int64_t k, double alpha,
                             const double *a, int64_t lda, double beta, double *c, int64_t ldc);
void dlpackgo_openblas_dtrsm(const dlpackgo_openblas *lib, int side, int uplo, int transa, int diag, int64_t m,
                             int64_t n, double alpha, const double *a, int64_t lda, double *b, int64_t ldb);

/* LAPACK, column-major; each returns LAPACK's info. Integer arrays hold 64-bit integers on return. */
int64_t dlpackgo_openblas_dgetrf(const dlpackgo_openblas *lib, int64_t m, int64_t n, double *a, int64_t lda,
                                 int64_t *ipiv);
/* norm is '1' or 'I'; work has 4n elements, iwork n. */
int64_t dlpackgo_openblas_dgecon(const dlpackgo_openblas *lib, char norm, int64_t n, const double *a, int64_t lda,
                                 double anorm, double *rcond, double *work, int64_t *iwork);
/* The thin decomposition; iwork has 8 min(m, n) elements; lwork -1 asks for the best size, returned in work[0]. */
int64_t dlpackgo_openblas_dgesdd(const dlpackgo_openblas *lib, int64_t m, int64_t n, double *a, int64_t lda, double *s,
                                 double *u, int64_t ldu, double *vt, int64_t ldvt, double *work, int64_t lwork,
                                 int64_t *iwork);
/* Values and vectors from the given triangle; sizes -1 ask for the best sizes, returned in work[0] and iwork[0]. */
int64_t dlpackgo_openblas_dsyevd(const dlpackgo_openblas *lib, char uplo, int64_t n, double *a, int64_t lda, double *w,
                                 double *work, int64_t lwork, int64_t *iwork, int64_t liwork);

#endif
