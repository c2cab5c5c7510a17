"""NumPy and CuPy exchange an array across devices, with Go on the host in between.

CuPy copies the host's array to the GPU; there it becomes a Tensor without a copy, and one more copy brings it back to
where Go and NumPy can read it. Runs on a GPU, or on the stand-in for CUDA of this project's tests where that is installed.
"""

import importlib
from importlib.util import find_spec

if find_spec("cudart_standin"):
    importlib.import_module("cudart_standin")  # before CuPy, which then runs without a GPU

import cupy
import numpy as np

import dlpackgo


def main() -> None:
    """There and back."""
    host = np.arange(12, dtype=np.float32).reshape(3, 4)
    on_device = cupy.asarray(host)  # the one copy to the device
    print(f"NumPy -> CuPy: copied to {on_device.device}")

    tensor = dlpackgo.from_dlpack(on_device)
    assert tensor.data_ptr == on_device.data.ptr
    print(f"CuPy -> dlpackgo: the same memory, {tensor!r}")

    try:
        dlpackgo.stats.mean(tensor)
    except BufferError as error:
        print(f"Go does not read it there: {error}")

    back = cupy.from_dlpack(tensor[1:])
    assert back.data.ptr == on_device[1:].data.ptr
    print("dlpackgo -> CuPy: the same memory, and a view of it")

    brought = dlpackgo.from_dlpack(on_device, device="cpu")  # the one copy back, made by CuPy
    assert dlpackgo.stats.mean(brought) == host.mean()
    assert np.array_equal(np.from_dlpack(brought), host)
    print(f"CuPy -> host: copied once, and shared from there; Go finds the mean {host.mean()}")


if __name__ == "__main__":
    main()
