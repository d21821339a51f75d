//! Results for Python: numbers, hashes, and what pickle needs for public keys.

use std::hash::{DefaultHasher, Hasher};

use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyInt, PyTuple};

/// Returns the hash of a public value.
pub(crate) fn hash(bytes: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    hasher.write(bytes);
    hasher.finish()
}

/// Returns what `__reduce__` returns for an object that a function of `cycloid._restore` makes again.
pub(crate) fn restore<'py>(
    py: Python<'py>,
    function: &str,
    arguments: impl IntoPyObject<'py, Target = PyTuple, Output = Bound<'py, PyTuple>, Error = PyErr>,
) -> PyResult<Bound<'py, PyAny>> {
    let module = py.import(intern!(py, "cycloid._restore"))?;
    let function = module.getattr(function)?;
    Ok((function, arguments.into_pyobject(py)?).into_pyobject(py)?.into_any())
}

/// Returns a number from its big-endian bytes.
pub(crate) fn number<'py>(py: Python<'py>, bytes: &[u8]) -> PyResult<Bound<'py, PyAny>> {
    py.get_type::<PyInt>().call_method1(intern!(py, "from_bytes"), (PyBytes::new(py, bytes), "big"))
}
