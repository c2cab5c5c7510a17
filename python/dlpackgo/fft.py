"""Fourier transforms in Go (gonum) on arrays of any library that speaks DLPack. Results are Tensors on Go's memory."""

from ._core import fft as _functions

irfft = _functions.irfft
rfft = _functions.rfft

__all__ = ["irfft", "rfft"]
