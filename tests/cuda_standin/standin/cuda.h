/* The names of the CUDA driver's header that CuPy's runtime.pyx needs, written from the public documentation. */
#ifndef STANDIN_CUDA_H
#define STANDIN_CUDA_H
#define CUDA_VERSION 13020
typedef int CUdevice, CUresult;
typedef struct CUstream_st *CUstream;
typedef struct CUevent_st *CUevent;
typedef struct CUctx_st *CUcontext;
typedef struct CUfunc_st *CUfunction;
typedef struct CUmod_st *CUmodule;
typedef struct CUlinkState_st *CUlinkState;
typedef unsigned long long CUdeviceptr;
#endif
