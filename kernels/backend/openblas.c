#include "openblas.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A function whose arguments are known where it is called. */
typedef void (*symbol)(void);

struct dlpackgo_openblas {
    bool ilp64;
    symbol openblas_get_config, openblas_get_num_threads, openblas_set_num_threads;
    symbol cblas_ddot, cblas_sdot, cblas_dnrm2, cblas_snrm2, cblas_dgemv, cblas_sgemv, cblas_dgemm, cblas_sgemm;
    symbol cblas_dsyrk, cblas_dtrsm;
    symbol dgetrf, dgecon, dgesdd, dsyevd;
};

/* What every function of the library must be called, and where its address goes. */
static const struct {
    const char *name;
    size_t offset;
} required[] = {
    {"openblas_get_config", offsetof(dlpackgo_openblas, openblas_get_config)},
    {"openblas_get_num_threads", offsetof(dlpackgo_openblas, openblas_get_num_threads)},
    {"openblas_set_num_threads", offsetof(dlpackgo_openblas, openblas_set_num_threads)},
    {"cblas_ddot", offsetof(dlpackgo_openblas, cblas_ddot)},
    {"cblas_sdot", offsetof(dlpackgo_openblas, cblas_sdot)},
    {"cblas_dnrm2", offsetof(dlpackgo_openblas, cblas_dnrm2)},
    {"cblas_snrm2", offsetof(dlpackgo_openblas, cblas_snrm2)},
    {"cblas_dgemv", offsetof(dlpackgo_openblas, cblas_dgemv)},
    {"cblas_sgemv", offsetof(dlpackgo_openblas, cblas_sgemv)},
    {"cblas_dgemm", offsetof(dlpackgo_openblas, cblas_dgemm)},
    {"cblas_sgemm", offsetof(dlpackgo_openblas, cblas_sgemm)},
    {"cblas_dsyrk", offsetof(dlpackgo_openblas, cblas_dsyrk)},
    {"cblas_dtrsm", offsetof(dlpackgo_openblas, cblas_dtrsm)},
    {"dgetrf_", offsetof(dlpackgo_openblas, dgetrf)},
    {"dgecon_", offsetof(dlpackgo_openblas, dgecon)},
    {"dgesdd_", offsetof(dlpackgo_openblas, dgesdd)},
    {"dsyevd_", offsetof(dlpackgo_openblas, dsyevd)},
};

/* The ways in which builds rename all symbols: PyPI's scipy-openblas64 and scipy-openblas32, 64-bit builds of
 * distributions and of Julia, and the plain names. */
static const struct {
    const char *prefix, *suffix;
} manglings[] = {{"scipy_", "64_"}, {"scipy_", ""}, {"", "64_"}, {"", "_64"}, {"", ""}};

static symbol find_symbol(void *library, const char *prefix, const char *name, const char *suffix)
{
    char mangled[96];
    snprintf(mangled, sizeof mangled, "%s%s%s", prefix, name, suffix);
    void *address = dlsym(library, mangled);
    symbol function;
    /* ISO C has no cast from an object pointer to a function pointer; POSIX promises equal representations. */
    memcpy(&function, &address, sizeof function);
    return function;
}

const char *dlpackgo_openblas_config(const dlpackgo_openblas *lib)
{
    typedef const char *(*function)(void);
    return ((function)lib->openblas_get_config)();
}

dlpackgo_openblas *dlpackgo_openblas_open(const char *path, char *message, size_t size)
{
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) {
        snprintf(message, size, "%s", dlerror());
        return NULL;
    }
    size_t chosen = 0, choices = sizeof manglings / sizeof *manglings;
    while (chosen < choices &&
           find_symbol(library, manglings[chosen].prefix, required[0].name, manglings[chosen].suffix) == NULL)
        chosen++;
    if (chosen == choices) {
        snprintf(message, size, "%s: not an OpenBLAS library: no function %s under any known prefix and suffix", path,
                 required[0].name);
        dlclose(library);
        return NULL;
    }
    dlpackgo_openblas *lib = calloc(1, sizeof *lib);
    if (lib == NULL) {
        snprintf(message, size, "out of memory");
        dlclose(library);
        return NULL;
    }
    for (size_t i = 0; i < sizeof required / sizeof *required; i++) {
        symbol function = find_symbol(library, manglings[chosen].prefix, required[i].name, manglings[chosen].suffix);
        if (function == NULL) {
            snprintf(message, size, "%s: built without %s%s%s", path, manglings[chosen].prefix, required[i].name,
                     manglings[chosen].suffix);
            free(lib);
            dlclose(library);
            return NULL;
        }
        memcpy((char *)lib + required[i].offset, &function, sizeof function);
    }
    lib->ilp64 = strstr(dlpackgo_openblas_config(lib), "USE64BITINT") != NULL;
    return lib;
}

bool dlpackgo_openblas_is_ilp64(const dlpackgo_openblas *lib)
{
    return lib->ilp64;
}

int dlpackgo_openblas_threads(const dlpackgo_openblas *lib)
{
    typedef int (*function)(void);
    return ((function)lib->openblas_get_num_threads)();
}

void dlpackgo_openblas_set_threads(const dlpackgo_openblas *lib, int threads)
{
    typedef void (*function)(int);
    ((function)lib->openblas_set_num_threads)(threads);
}

#define INTEGER int64_t
#define CALL(name) name##_ilp64
#include "openblas_calls.h"
#undef INTEGER
#undef CALL

#define INTEGER int32_t
#define CALL(name) name##_lp64
#include "openblas_calls.h"
#undef INTEGER
#undef CALL

#define DISPATCH(name, ...) (lib->ilp64 ? name##_ilp64(lib, __VA_ARGS__) : name##_lp64(lib, __VA_ARGS__))

double dlpackgo_openblas_ddot(const dlpackgo_openblas *lib, int64_t n, const double *x, int64_t incx, const double *y,
                              int64_t incy)
{
    return DISPATCH(ddot, n, x, incx, y, incy);
}

float dlpackgo_openblas_sdot(const dlpackgo_openblas *lib, int64_t n, const float *x, int64_t incx, const float *y,
                             int64_t incy)
{
    return DISPATCH(sdot, n, x, incx, y, incy);
}

double dlpackgo_openblas_dnrm2(const dlpackgo_openblas *lib, int64_t n, const double *x, int64_t incx)
{
    return DISPATCH(dnrm2, n, x, incx);
}

float dlpackgo_openblas_snrm2(const dlpackgo_openblas *lib, int64_t n, const float *x, int64_t incx)
{
    return DISPATCH(snrm2, n, x, incx);
}

void dlpackgo_openblas_dgemv(const dlpackgo_openblas *lib, int trans, int64_t m, int64_t n, double alpha,
                             const double *a, int64_t lda, const double *x, int64_t incx, double beta, double *y,
                             int64_t incy)
{
    DISPATCH(dgemv, trans, m, n, alpha, a, lda, x, incx, beta, y, incy);
}

void dlpackgo_openblas_sgemv(const dlpackgo_openblas *lib, int trans, int64_t m, int64_t n, float alpha, const float *a,
                             int64_t lda, const float *x, int64_t incx, float beta, float *y, int64_t incy)
{
    DISPATCH(sgemv, trans, m, n, alpha, a, lda, x, incx, beta, y, incy);
}

void dlpackgo_openblas_dgemm(const dlpackgo_openblas *lib, int transa, int transb, int64_t m, int64_t n, int64_t k,
                             double alpha, const double *a, int64_t lda, const double *b, int64_t ldb, double beta,
                             double *c, int64_t ldc)
{
    DISPATCH(dgemm, transa, transb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}

void dlpackgo_openblas_sgemm(const dlpackgo_openblas *lib, int transa, int transb, int64_t m, int64_t n, int64_t k,
                             float alpha, const float *a, int64_t lda, const float *b, int64_t ldb, float beta,
                             float *c, int64_t ldc)
{
    DISPATCH(sgemm, transa, transb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}

void dlpackgo_openblas_dsyrk(const dlpackgo_openblas *lib, int uplo, int trans, int64_t n, int64_t k, double alpha,
                             const double *a, int64_t lda, double beta, double *c, int64_t ldc)
{
    DISPATCH(dsyrk, uplo, trans, n, k, alpha, a, lda, beta, c, ldc);
}

void dlpackgo_openblas_dtrsm(const dlpackgo_openblas *lib, int side, int uplo, int transa, int diag, int64_t m,
                             int64_t n, double alpha, const double *a, int64_t lda, double *b, int64_t ldb)
{
    DISPATCH(dtrsm, side, uplo, transa, diag, m, n, alpha, a, lda, b, ldb);
}

int64_t dlpackgo_openblas_dgetrf(const dlpackgo_openblas *lib, int64_t m, int64_t n, double *a, int64_t lda,
                                 int64_t *ipiv)
{
    return DISPATCH(dgetrf, m, n, a, lda, ipiv);
}

int64_t dlpackgo_openblas_dgecon(const dlpackgo_openblas *lib, char norm, int64_t n, const double *a, int64_t lda,
                                 double anorm, double *rcond, double *work, int64_t *iwork)
{
    return DISPATCH(dgecon, norm, n, a, lda, anorm, rcond, work, iwork);
}

int64_t dlpackgo_openblas_dgesdd(const dlpackgo_openblas *lib, int64_t m, int64_t n, double *a, int64_t lda, double *s,
                                 double *u, int64_t ldu, double *vt, int64_t ldvt, double *work, int64_t lwork,
                                 int64_t *iwork)
{
    return DISPATCH(dgesdd, m, n, a, lda, s, u, ldu, vt, ldvt, work, lwork, iwork);
}

int64_t dlpackgo_openblas_dsyevd(const dlpackgo_openblas *lib, char uplo, int64_t n, double *a, int64_t lda, double *w,
                                 double *work, int64_t lwork, int64_t *iwork, int64_t liwork)
{
    return DISPATCH(dsyevd, uplo, n, a, lda, w, work, lwork, iwork, liwork);
}
