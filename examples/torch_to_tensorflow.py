"""One batch of data, seen by PyTorch, by Go and by TensorFlow: three names of the same memory, and no copy.

PyTorch makes the batch, Go measures it, TensorFlow normalizes with what Go found. Addresses prove that nothing was copied.
"""

import os
from typing import Any

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import numpy as np
import tensorflow as tf
import torch

import dlpackgo


def address_in_tensorflow(tensor: Any) -> int:
    """Where TensorFlow keeps a tensor: it lends its memory to NumPy."""
    return int(np.asarray(memoryview(tensor)).ctypes.data)


def main() -> None:
    """Make, measure, normalize."""
    torch.manual_seed(0)
    batch = torch.randn(1000, 8) * 3 + 5

    shared = dlpackgo.from_dlpack(batch)  # PyTorch's memory, as a Tensor
    mean, std = dlpackgo.stats.mean(shared, axis=0), dlpackgo.stats.std(shared, axis=0)  # computed in Go

    in_tensorflow = tf.experimental.dlpack.from_dlpack(shared.__dlpack__())
    assert address_in_tensorflow(in_tensorflow) == shared.data_ptr == batch.data_ptr()
    print(f"one memory, {batch.nbytes} bytes at {shared.data_ptr:#x}: PyTorch, Go, TensorFlow")

    center, scale = (tf.experimental.dlpack.from_dlpack(result.__dlpack__()) for result in (mean, std))
    assert address_in_tensorflow(center) == mean.data_ptr  # what Go made goes on without a copy, too
    normalized = (in_tensorflow - center) / scale
    assert abs(float(tf.reduce_mean(normalized))) < 1e-5

    batch[0, 0] = 42  # a write in PyTorch is seen in TensorFlow
    assert float(in_tensorflow[0, 0]) == 42
    print("normalized in TensorFlow with the mean and deviation that Go computed")


if __name__ == "__main__":
    main()
