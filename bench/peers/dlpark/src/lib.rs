//! The dlpark peer. Fairness: release build with link-time optimisation; arguments by `from_dlpack`, which takes the C exchange
//! API of a producer where there is one; own arrays as its documentation shows, exchange API included.

use std::sync::Arc;

use dlpark::ffi::{DLDataType, DLDevice, DLManagedTensor, DLManagedTensorVersioned};
use dlpark::metadata::Fixed;
use dlpark::python::{
    DlpackExchangeProducer, DlpackExporter, ExportRequest, ImportedDlpack, export_dlpack, from_dlpack, install_exchange_api,
};
use dlpark::{DlpackFlags, Managed, ManagedTensorBase};
use pyo3::exceptions::{PyBufferError, PyTypeError, PyValueError};
use pyo3::prelude::*;

/// Keeps an imported array alive, so that an import ends in a Python object, as ours does.
#[pyclass(unsendable)]
struct Array {
    _held: ImportedDlpack,
}

#[pymethods]
impl Array {
    #[new]
    fn new(x: &Bound<'_, PyAny>) -> PyResult<Self> {
        let held = from_dlpack(x.as_borrowed(), None, None)?;
        held.validate().map_err(|error| PyBufferError::new_err(error.to_string()))?;
        Ok(Self { _held: held })
    }
}

/// A vector in Rust's memory.
#[pyclass(frozen)]
struct Vector {
    data: Arc<Vec<f64>>,
}

impl Vector {
    fn export<M: ManagedTensorBase>(&self) -> PyResult<Managed<M>> {
        let data = self.data.as_ptr() as *mut std::ffi::c_void;
        let mut initialized = Fixed::new([self.data.len() as i64], [1])
            .initialize_as::<M>(Arc::clone(&self.data))
            .map_err(|error| PyBufferError::new_err(error.to_string()))?;
        initialized.set_data(data).set_dtype(DLDataType::F64).set_device(DLDevice::CPU);
        // SAFETY: data belongs to the Arc that was just handed over, and is as long as the shape says.
        Ok(unsafe { initialized.finish() })
    }
}

impl DlpackExporter for Vector {
    fn device(&self) -> DLDevice {
        DLDevice::CPU
    }
    fn flags(&self) -> DlpackFlags {
        DlpackFlags::empty()
    }
    fn prepare_export(&self, _py: Python<'_>, _request: &ExportRequest<'_>) -> PyResult<()> {
        Ok(())
    }
    fn export_legacy(&self, _py: Python<'_>) -> PyResult<Managed<DLManagedTensor>> {
        self.export()
    }
    fn export_versioned(&self, _py: Python<'_>) -> PyResult<Managed<DLManagedTensorVersioned>> {
        self.export()
    }
}

// SAFETY: every export owns its data, and host memory has no streams.
unsafe impl DlpackExchangeProducer for Vector {
    fn managed_tensor_no_sync(&self, _py: Python<'_>) -> PyResult<Managed<DLManagedTensorVersioned>> {
        self.export()
    }
    fn current_work_stream(_py: Python<'_>, _device: DLDevice) -> PyResult<*mut std::ffi::c_void> {
        Ok(std::ptr::null_mut())
    }
}

#[pymethods]
impl Vector {
    #[pyo3(signature = (*, stream=None, max_version=None, dl_device=None, copy=None))]
    fn __dlpack__(
        &self,
        py: Python<'_>,
        stream: Option<&Bound<'_, PyAny>>,
        max_version: Option<(u32, u32)>,
        dl_device: Option<(u32, i32)>,
        copy: Option<bool>,
    ) -> PyResult<Py<PyAny>> {
        export_dlpack(self, py, ExportRequest::parse(stream, max_version, dl_device, copy)?)
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
    let tensor = from_dlpack(x.as_borrowed(), None, None)?;
    let view = tensor.validate().map_err(|error| PyBufferError::new_err(error.to_string()))?;
    if view.ndim() != 1 {
        return Err(PyTypeError::new_err("a vector is needed"));
    }
    // SAFETY: the producer vouches for the memory that its descriptor describes.
    let values = unsafe { view.cpu_slice::<f64>() }.map_err(|error| PyTypeError::new_err(error.to_string()))?;
    Ok(values.len())
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
fn peer_dlpark(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_class::<Array>()?;
    m.add_class::<Vector>()?;
    install_exchange_api::<Vector>(m.py())?;
    m.add_function(wrap_pyfunction!(new_vector, m)?)?;
    m.add_function(wrap_pyfunction!(nothing, m)?)?;
    m.add_function(wrap_pyfunction!(scalars, m)?)?;
    m.add_function(wrap_pyfunction!(one, m)?)?;
    m.add_function(wrap_pyfunction!(three, m)?)
}
