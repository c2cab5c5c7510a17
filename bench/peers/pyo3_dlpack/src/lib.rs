//! The pyo3-dlpack peer. Fairness: release build with link-time optimisation, used as its documentation shows. Its exports that
//! can be written to are legacy capsules whatever the consumer asks for, which is less work than the versioned ones of others.

use std::ffi::c_void;
use std::sync::Arc;

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3_dlpack::{IntoDLPack, PyTensor, TensorInfo, cpu_device, dtype_f64};

/// Keeps an imported array alive, so that an import ends in a Python object, as ours does.
#[pyclass(unsendable)]
struct Array {
    _held: PyTensor,
}

#[pymethods]
impl Array {
    #[new]
    fn new(py: Python<'_>, x: &Bound<'_, PyAny>) -> PyResult<Self> {
        let held = match x.cast::<pyo3::types::PyCapsule>() {
            Ok(capsule) => PyTensor::from_capsule(capsule)?,
            Err(_) => PyTensor::from_pyany(py, x)?,
        };
        Ok(Self { _held: held })
    }
}

/// A vector in Rust's memory, and what an export of it holds.
#[pyclass(frozen, skip_from_py_object)]
#[derive(Clone)]
struct Vector {
    data: Arc<Vec<f64>>,
}

impl IntoDLPack for Vector {
    fn tensor_info(&self) -> TensorInfo {
        let shape = vec![self.data.len() as i64];
        TensorInfo::contiguous(self.data.as_ptr() as *mut c_void, cpu_device(), dtype_f64(), shape)
    }
}

#[pymethods]
impl Vector {
    #[pyo3(signature = (*, stream=None, max_version=None, dl_device=None, copy=None))]
    #[allow(unused_variables)]
    fn __dlpack__(
        &self,
        py: Python<'_>,
        stream: Option<&Bound<'_, PyAny>>,
        max_version: Option<(u32, u32)>,
        dl_device: Option<(u32, i32)>,
        copy: Option<bool>,
    ) -> PyResult<Py<PyAny>> {
        self.clone().into_dlpack(py)
    }

    fn __dlpack_device__(&self) -> (u32, i32) {
        (1, 0)
    }
}

#[pyfunction(name = "new")]
fn new_vector(n: usize) -> Vector {
    Vector { data: Arc::new(vec![0.0; n]) }
}

#[pyfunction]
fn nothing() {}

#[pyfunction]
fn scalars(x: f64, n: i64, flag: bool) -> PyResult<()> {
    if flag && n as f64 > x {
        return Err(PyValueError::new_err("n is above x"));
    }
    Ok(())
}

/// The number of elements of a contiguous float64 vector in host memory; anything else is refused.
fn size(x: &Bound<'_, PyAny>) -> PyResult<usize> {
    let tensor = PyTensor::from_pyany(x.py(), x)?;
    if tensor.ndim() != 1 || !tensor.dtype().is_f64() || !tensor.is_contiguous() || !tensor.device().is_cpu() {
        return Err(PyTypeError::new_err("a contiguous float64 vector in host memory is needed"));
    }
    Ok(tensor.numel())
}

#[pyfunction]
fn one(a: &Bound<'_, PyAny>) -> PyResult<()> {
    if size(a)? == 0 {
        return Err(PyValueError::new_err("a is empty"));
    }
    Ok(())
}

#[pyfunction]
fn three(a: &Bound<'_, PyAny>, b: &Bound<'_, PyAny>, c: &Bound<'_, PyAny>) -> PyResult<()> {
    let (a, b, c) = (size(a)?, size(b)?, size(c)?);
    if a != b || a != c {
        return Err(PyValueError::new_err("the arrays differ in size"));
    }
    Ok(())
}

#[pymodule]
fn peer_pyo3_dlpack(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_class::<Array>()?;
    m.add_class::<Vector>()?;
    m.add_function(wrap_pyfunction!(new_vector, m)?)?;
    m.add_function(wrap_pyfunction!(nothing, m)?)?;
    m.add_function(wrap_pyfunction!(scalars, m)?)?;
    m.add_function(wrap_pyfunction!(one, m)?)?;
    m.add_function(wrap_pyfunction!(three, m)?)
}
