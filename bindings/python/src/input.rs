//! Arguments from Python: bytes, lists of bytes, text, and names.
//!
//! Operations run without the interpreter's lock, and another thread may change or resize a
//! `bytearray` meanwhile. So `bytes`, which never change, are read in place; any other buffer is
//! copied while the lock is held, and the copy is wiped.

use core::ops::Deref;

use cycloid::scheme::Hash;
use pyo3::PyTypeInfo;
use pyo3::buffer::PyBuffer;
use pyo3::exceptions::{PyMemoryError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyInt, PyList, PyMemoryView, PyString, PyTuple};
use zeroize::Zeroizing;

use crate::error::{InvalidKey, parameter};

/// The bytes of an object with the buffer protocol.
pub(crate) enum Bytes<'py> {
    /// Immutable bytes, read in place.
    Object(Bound<'py, PyBytes>),
    /// The contents of another buffer.
    Copy(Zeroizing<Vec<u8>>),
}

impl Deref for Bytes<'_> {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Self::Object(bytes) => bytes.as_bytes(),
            Self::Copy(bytes) => bytes,
        }
    }
}

impl<'py> FromPyObject<'_, 'py> for Bytes<'py> {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        if let Ok(bytes) = object.cast::<PyBytes>() {
            return Ok(Self::Object(bytes.to_owned()));
        }
        match buffer(object) {
            Ok(buffer) => Ok(Self::Copy(copied(&buffer, object.py())?)),
            Err(error) => other_bytes(object).map(Self::Object).ok_or(error),
        }
    }
}

impl Bytes<'_> {
    /// Returns the bytes of a key, exactly `N`.
    pub(crate) fn key<const N: usize>(&self) -> PyResult<&[u8; N]> {
        self.deref().try_into().map_err(|_| {
            InvalidKey::new_err(format!("the key has {} bytes, but {N} are needed", self.len()))
        })
    }
}

/// An object of one of this package's classes. Several have the same short name, so an error names
/// the modules as well.
pub(crate) struct Instance<'py, T>(Bound<'py, T>);

impl<'py, T> Deref for Instance<'py, T> {
    type Target = Bound<'py, T>;

    fn deref(&self) -> &Bound<'py, T> {
        &self.0
    }
}

impl<'py, T: PyTypeInfo> FromPyObject<'_, 'py> for Instance<'py, T> {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        if let Ok(instance) = object.cast::<T>() {
            return Ok(Self(instance.to_owned()));
        }
        let needed = T::type_object(object.py()).fully_qualified_name()?;
        let given = object.get_type().fully_qualified_name()?;
        Err(PyTypeError::new_err(format!("a {needed} is required, not '{given}'")))
    }
}

/// A list of bytes, or the rows of a buffer with two dimensions.
pub(crate) enum Many<'py> {
    /// Each element is a buffer of its own.
    Items(Vec<Bytes<'py>>),
    /// Rows of equal length, one after the other.
    Rows {
        /// The contents.
        bytes: Zeroizing<Vec<u8>>,
        /// The number of rows.
        rows: usize,
    },
}

impl<'py> FromPyObject<'_, 'py> for Many<'py> {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        let list = object.is_instance_of::<PyList>() || object.is_instance_of::<PyTuple>();
        if !list && (object.is_instance_of::<PyBytes>() || object.is_instance_of::<PyString>()) {
            return Err(not_many(object));
        }
        if !list && let Ok(buffer) = buffer(object) {
            let [rows, _] = buffer.shape() else { return Err(not_many(object)) };
            return Ok(Self::Rows { rows: *rows, bytes: copied(&buffer, object.py())? });
        }
        let items = object.try_iter().map_err(|_| not_many(object))?;
        let item = |(place, item): (usize, PyResult<Bound<'py, PyAny>>)| {
            let item = item?;
            Bytes::extract(item.as_borrowed()).map_err(|error| {
                let text = error.value(object.py()).to_string();
                PyTypeError::new_err(format!("item {place}: {text}"))
            })
        };
        Ok(Self::Items(items.enumerate().map(item).collect::<PyResult<_>>()?))
    }
}

impl Many<'_> {
    /// Returns the elements.
    pub(crate) fn slices(&self) -> Vec<&[u8]> {
        match self {
            Self::Items(items) => items.iter().map(Deref::deref).collect(),
            Self::Rows { rows, .. } if *rows == 0 => Vec::new(),
            Self::Rows { bytes, rows } => {
                let length = bytes.len() / rows;
                (0..*rows).map(|row| &bytes[row * length..][..length]).collect()
            }
        }
    }
}

/// Returns an error unless two lists have the same length.
pub(crate) fn same_count(what: [&str; 2], counts: [usize; 2]) -> PyResult<()> {
    if counts[0] == counts[1] {
        return Ok(());
    }
    let ([first, second], [m, n]) = (what, counts);
    Err(parameter(format!("{m} {first} were given, but {n} {second}")))
}

/// A text, or the bytes of a file.
pub(crate) struct Document<'py>(Bytes<'py>);

impl Deref for Document<'_> {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.0
    }
}

impl<'py> FromPyObject<'_, 'py> for Document<'py> {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        Ok(Self(match object.cast::<PyString>() {
            Ok(text) => Bytes::Copy(Zeroizing::new(text.to_str()?.as_bytes().to_vec())),
            Err(_) => object.extract()?,
        }))
    }
}

/// A hash function, by the name that `hashlib` has for it.
pub(crate) struct HashName(pub(crate) Hash);

const HASHES: [(&str, Hash); 13] = [
    ("sha1", Hash::Sha1),
    ("sha224", Hash::Sha224),
    ("sha256", Hash::Sha256),
    ("sha384", Hash::Sha384),
    ("sha512", Hash::Sha512),
    ("sha512_224", Hash::Sha512_224),
    ("sha512_256", Hash::Sha512_256),
    ("sha3_224", Hash::Sha3_224),
    ("sha3_256", Hash::Sha3_256),
    ("sha3_384", Hash::Sha3_384),
    ("sha3_512", Hash::Sha3_512),
    ("shake_128", Hash::Shake128),
    ("shake_256", Hash::Shake256),
];

impl FromPyObject<'_, '_> for HashName {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, '_, PyAny>) -> PyResult<Self> {
        named(object, "hash function", &HASHES).map(Self)
    }
}

/// Returns the value with the name that an argument has.
pub(crate) fn named<T: Copy>(
    object: Borrowed<'_, '_, PyAny>,
    what: &str,
    values: &[(&str, T)],
) -> PyResult<T> {
    let name = object.cast::<PyString>().map_err(|_| {
        PyTypeError::new_err(format!("the {what} is named by a str, not by {}", kind(object)))
    })?;
    let name = name.to_str()?;
    values.iter().find(|(known, _)| *known == name).map(|(_, value)| *value).ok_or_else(|| {
        let names: Vec<_> = values.iter().map(|(known, _)| *known).collect();
        parameter(format!("unknown {what} {name:?}: use one of {}", names.join(", ")))
    })
}

/// Returns the digest of a message by `hashlib`, for the operations that take only digests.
pub(crate) fn digest<'py>(
    py: Python<'py>,
    hash: Hash,
    message: &[u8],
) -> PyResult<Bound<'py, PyBytes>> {
    let name = name_of(hash);
    let state = py.import("hashlib")?.call_method1("new", (name, message))?;
    let digest = if name.starts_with("shake") {
        state.call_method1("digest", (hash.digest_length(),))?
    } else {
        state.call_method0("digest")?
    };
    Ok(digest.cast_into::<PyBytes>()?)
}

/// Returns the name that `hashlib` has for a hash function.
fn name_of(hash: Hash) -> &'static str {
    HASHES.iter().find(|(_, known)| *known == hash).map_or("", |(name, _)| name)
}

/// Checks the length of a digest, which is public.
pub(crate) fn check_digest(hash: Hash, digest: &[u8]) -> PyResult<()> {
    let (needed, given) = (hash.digest_length(), digest.len());
    if needed == given {
        return Ok(());
    }
    let name = name_of(hash);
    Err(parameter(format!("the digest has {given} bytes, but that of {name} has {needed}")))
}

/// Returns the big-endian bytes of an `int` that is not negative.
pub(crate) fn integer(object: &Bound<'_, PyAny>) -> PyResult<Zeroizing<Vec<u8>>> {
    let object = object.cast::<PyInt>().map_err(|_| {
        PyTypeError::new_err(format!("an int is required, not {}", kind(object.as_borrowed())))
    })?;
    if object.lt(0)? {
        return Err(parameter("a number of a key is not negative"));
    }
    let bits: usize = object.call_method0("bit_length")?.extract()?;
    let bytes = object.call_method1("to_bytes", (bits.div_ceil(8), "big"))?;
    Ok(Zeroizing::new(bytes.cast::<PyBytes>()?.as_bytes().to_vec()))
}

/// Returns the buffer of an object.
fn buffer(object: Borrowed<'_, '_, PyAny>) -> PyResult<PyBuffer<u8>> {
    PyBuffer::<u8>::get(&object).map_err(|error| {
        if error.is_instance_of::<PyTypeError>(object.py()) {
            let kind = kind(object);
            return PyTypeError::new_err(format!("a bytes-like object is required, not {kind}"));
        }
        PyTypeError::new_err("the buffer's elements are not bytes: cast it to them")
    })
}

/// Returns a copy, made by Python, of a buffer whose elements are bytes by another name: those of
/// `ctypes` have a byte order, others are signed or characters.
fn other_bytes<'py>(object: Borrowed<'_, 'py, PyAny>) -> Option<Bound<'py, PyBytes>> {
    let view = PyMemoryView::from(&object).ok()?;
    let size: usize = view.getattr("itemsize").ok()?.extract().ok()?;
    let bytes = if size == 1 { view.call_method0("tobytes").ok()? } else { return None };
    bytes.cast_into().ok()
}

fn copied(buffer: &PyBuffer<u8>, py: Python<'_>) -> PyResult<Zeroizing<Vec<u8>>> {
    // A file that is mapped into memory may be larger than the memory for a copy.
    let mut bytes = Zeroizing::new(Vec::new());
    let count = buffer.item_count();
    bytes.try_reserve_exact(count).map_err(|_| {
        PyMemoryError::new_err(format!(
            "no memory for a copy of the buffer, which has {count} bytes"
        ))
    })?;
    bytes.resize(count, 0);
    buffer.copy_to_slice(py, &mut bytes)?;
    Ok(bytes)
}

fn not_many(object: Borrowed<'_, '_, PyAny>) -> PyErr {
    PyTypeError::new_err(format!(
        "a list of bytes-like objects, or a buffer with two dimensions, is required, not {}",
        kind(object)
    ))
}

/// Returns the name of an object's type.
fn kind(object: Borrowed<'_, '_, PyAny>) -> String {
    object.get_type().name().map_or_else(|_| "another object".into(), |name| format!("'{name}'"))
}
