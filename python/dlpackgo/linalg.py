"""Linear algebra in Go on arrays of any library that speaks DLPack, by gonum or by OpenBLAS: see ``backend``.

Results are Tensors on Go's memory.
"""

from ._core import linalg as _functions

eigh = _functions.eigh
matmul = _functions.matmul
norm = _functions.norm
pca = _functions.pca
solve = _functions.solve
svd = _functions.svd
threads = _functions.threads
vector_norm = _functions.vector_norm

__all__ = ["backend", "eigh", "matmul", "norm", "pca", "solve", "svd", "threads", "vector_norm"]

# Packages of PyPI that hold nothing but an OpenBLAS, of 64-bit and of 32-bit integers.
_OPENBLAS_PACKAGES = ("scipy_openblas64", "scipy_openblas32")


def _installed_openblas() -> str | None:
    """Give the path of the OpenBLAS library in an installed package of PyPI, if there is one."""
    from importlib.util import find_spec
    from pathlib import Path

    for package in _OPENBLAS_PACKAGES:
        spec = find_spec(package)
        if spec is not None and spec.origin is not None:
            for library in sorted(Path(spec.origin).with_name("lib").glob("libscipy_openblas*.so")):
                return str(library)
    return None


def backend(name: str | None = None, path: str | None = None) -> str:
    """Choose what computes linear algebra, or tell what does.

    Parameters
    ----------
    name : str, optional
        "gonum", which is built in and in use from the start, or "openblas". Without a name nothing changes.
    path : str, optional
        The OpenBLAS library to open, any build of it. Without a path that of the package scipy-openblas64 or
        scipy-openblas32 is taken when one is installed, else the one that the dynamic loader finds.

    Returns
    -------
    str
        What is in use now, with its version.

    Raises
    ------
    ImportError
        If no OpenBLAS library could be opened: ``pip install scipy-openblas64``. What was in use stays in use.
    ValueError
        If there is no backend of that name.

    Notes
    -----
    The choice holds for the whole process. Calls that run in other threads finish with the backend that they
    began with.

    """
    if name == "openblas" and path is None:
        path = _installed_openblas()
    return str(_functions.backend(name, path))
