/* The calls into OpenBLAS for one width of its integers. Included by openblas.c once per width, with INTEGER the type
 * and CALL(name) the name of the function made; hence no include guard.
 *
 * The character arguments of Fortran routines are followed, after all others, by their lengths: gfortran's convention,
 * https://gcc.gnu.org/onlinedocs/gfortran/Argument-passing-conventions.html
 */

#define DOT(letter, real)                                                                                              \
    static real CALL(letter##dot)(const dlpackgo_openblas *lib, int64_t n, const real *x, int64_t incx, const real *y, \
                                  int64_t incy)                                                                        \
    {                                                                                                                  \
        typedef real (*function)(INTEGER, const real *, INTEGER, const real *, INTEGER);                               \
        return ((function)lib->cblas_##letter##dot)((INTEGER)n, x, (INTEGER)incx, y, (INTEGER)incy);                   \
    }

#define NRM2(letter, real)                                                                               \
    static real CALL(letter##nrm2)(const dlpackgo_openblas *lib, int64_t n, const real *x, int64_t incx) \
    {                                                                                                    \
        typedef real (*function)(INTEGER, const real *, INTEGER);                                        \
        return ((function)lib->cblas_##letter##nrm2)((INTEGER)n, x, (INTEGER)incx);                      \
    }

#define GEMV(letter, real)                                                                                             \
    static void CALL(letter##gemv)(const dlpackgo_openblas *lib, int trans, int64_t m, int64_t n, real alpha,          \
                                   const real *a, int64_t lda, const real *x, int64_t incx, real beta, real *y,        \
                                   int64_t incy)                                                                       \
    {                                                                                                                  \
        typedef void (*function)(int, int, INTEGER, INTEGER, real, const real *, INTEGER, const real *, INTEGER, real, \
                                 real *, INTEGER);                                                                     \
        ((function)lib->cblas_##letter##gemv)(DLPACKGO_ROW_MAJOR, trans, (INTEGER)m, (INTEGER)n, alpha, a,             \
                                              (INTEGER)lda, x, (INTEGER)incx, beta, y, (INTEGER)incy);                 \
    }

#define GEMM(letter, real)                                                                                            \
    static void CALL(letter##gemm)(const dlpackgo_openblas *lib, int transa, int transb, int64_t m, int64_t n,        \
                                   int64_t k, real alpha, const real *a, int64_t lda, const real *b, int64_t ldb,     \
                                   real beta, real *c, int64_t ldc)                                                   \
    {                                                                                                                 \
        typedef void (*function)(int, int, int, INTEGER, INTEGER, INTEGER, real, const real *, INTEGER, const real *, \
                                 INTEGER, real, real *, INTEGER);                                                     \
        ((function)lib->cblas_##letter##gemm)(DLPACKGO_ROW_MAJOR, transa, transb, (INTEGER)m, (INTEGER)n, (INTEGER)k, \
                                              alpha, a, (INTEGER)lda, b, (INTEGER)ldb, beta, c, (INTEGER)ldc);        \
    }

DOT(d, double)
DOT(s, float)
NRM2(d, double)
NRM2(s, float)
GEMV(d, double)
GEMV(s, float)
GEMM(d, double)
GEMM(s, float)

#undef DOT
#undef NRM2
#undef GEMV
#undef GEMM

static void CALL(dsyrk)(const dlpackgo_openblas *lib, int uplo, int trans, int64_t n, int64_t k, double alpha,
                        const double *a, int64_t lda, double beta, double *c, int64_t ldc)
{
    typedef void (*function)(int, int, int, INTEGER, INTEGER, double, const double *, INTEGER, double, double *,
                             INTEGER);
    ((function)lib->cblas_dsyrk)(DLPACKGO_ROW_MAJOR, uplo, trans, (INTEGER)n, (INTEGER)k, alpha, a, (INTEGER)lda, beta,
                                 c, (INTEGER)ldc);
}

static void CALL(dtrsm)(const dlpackgo_openblas *lib, int side, int uplo, int transa, int diag, int64_t m, int64_t n,
                        double alpha, const double *a, int64_t lda, double *b, int64_t ldb)
{
    typedef void (*function)(int, int, int, int, int, INTEGER, INTEGER, double, const double *, INTEGER, double *,
                             INTEGER);
    ((function)lib->cblas_dtrsm)(DLPACKGO_ROW_MAJOR, side, uplo, transa, diag, (INTEGER)m, (INTEGER)n, alpha, a,
                                 (INTEGER)lda, b, (INTEGER)ldb);
}

static int64_t CALL(dgetrf)(const dlpackgo_openblas *lib, int64_t m, int64_t n, double *a, int64_t lda, int64_t *ipiv)
{
    typedef void (*function)(const INTEGER *, const INTEGER *, double *, const INTEGER *, INTEGER *, INTEGER *);
    INTEGER rows = (INTEGER)m, columns = (INTEGER)n, leading = (INTEGER)lda, info = 0;
    ((function)lib->dgetrf)(&rows, &columns, a, &leading, (INTEGER *)ipiv, &info);
    /* Widened from the last on, so that no pivot is overwritten before it is read. */
    for (int64_t i = (m < n ? m : n) - 1; i >= 0; i--) {
        INTEGER pivot;
        memcpy(&pivot, (const char *)ipiv + (size_t)i * sizeof pivot, sizeof pivot);
        ipiv[i] = pivot;
    }
    return info;
}

static int64_t CALL(dgecon)(const dlpackgo_openblas *lib, char norm, int64_t n, const double *a, int64_t lda,
                            double anorm, double *rcond, double *work, int64_t *iwork)
{
    typedef void (*function)(const char *, const INTEGER *, const double *, const INTEGER *, const double *, double *,
                             double *, INTEGER *, INTEGER *, size_t);
    INTEGER order = (INTEGER)n, leading = (INTEGER)lda, info = 0;
    ((function)lib->dgecon)(&norm, &order, a, &leading, &anorm, rcond, work, (INTEGER *)iwork, &info, 1);
    return info;
}

static int64_t CALL(dgesdd)(const dlpackgo_openblas *lib, int64_t m, int64_t n, double *a, int64_t lda, double *s,
                            double *u, int64_t ldu, double *vt, int64_t ldvt, double *work, int64_t lwork,
                            int64_t *iwork)
{
    typedef void (*function)(const char *, const INTEGER *, const INTEGER *, double *, const INTEGER *, double *,
                             double *, const INTEGER *, double *, const INTEGER *, double *, const INTEGER *, INTEGER *,
                             INTEGER *, size_t);
    INTEGER rows = (INTEGER)m, columns = (INTEGER)n, leading = (INTEGER)lda, leading_u = (INTEGER)ldu,
            leading_vt = (INTEGER)ldvt, work_size = (INTEGER)lwork, info = 0;
    ((function)lib->dgesdd)("S", &rows, &columns, a, &leading, s, u, &leading_u, vt, &leading_vt, work, &work_size,
                            (INTEGER *)iwork, &info, 1);
    return info;
}

static int64_t CALL(dsyevd)(const dlpackgo_openblas *lib, char uplo, int64_t n, double *a, int64_t lda, double *w,
                            double *work, int64_t lwork, int64_t *iwork, int64_t liwork)
{
    typedef void (*function)(const char *, const char *, const INTEGER *, double *, const INTEGER *, double *, double *,
                             const INTEGER *, INTEGER *, const INTEGER *, INTEGER *, size_t, size_t);
    INTEGER order = (INTEGER)n, leading = (INTEGER)lda, work_size = (INTEGER)lwork, integer_size = (INTEGER)liwork,
            info = 0, best;
    ((function)lib->dsyevd)("V", &uplo, &order, a, &leading, w, work, &work_size, (INTEGER *)iwork, &integer_size,
                            &info, 1, 1);
    memcpy(&best, iwork, sizeof best);
    iwork[0] = best;
    return info;
}
