//! `cycloid.x25519`: agreement of RFC 7748.

use cycloid::scheme::stack_use;
use cycloid::scheme::x25519::{
    self, Error, PRIVATE_KEY_DER_LENGTH, PRIVATE_KEY_PEM_LENGTH, PUBLIC_KEY_DER_LENGTH,
    PUBLIC_KEY_PEM_LENGTH,
};
use cycloid::stack;
use getrandom::SysRng;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use zeroize::Zeroizing;

use crate::batch::{self, SHORT};
use crate::error::{self, OrRaise};
use crate::input::{Bytes, Document, Instance, same_count};

/// A private key for X25519. It is wiped when it is no longer used.
#[pyclass(frozen, module = "cycloid.x25519")]
pub(crate) struct PrivateKey(Box<x25519::PrivateKey>);

/// A public key for X25519.
#[pyclass(frozen, module = "cycloid.x25519")]
pub(crate) struct PublicKey([u8; 32]);

/// More than the stack in which a key is made and moved.
const KEY_STACK: usize = stack_use::X25519 + 4096;

/// Makes a private key in the place where it stays, and leaves no other copy of it.
fn placed(
    py: Python<'_>,
    make: impl FnOnce() -> Result<x25519::PrivateKey, Error> + Send,
) -> PyResult<PrivateKey> {
    py.detach(|| stack::clean(KEY_STACK, || make().map(Box::new))).map(PrivateKey).or_raise()
}

impl From<Box<x25519::PrivateKey>> for PrivateKey {
    fn from(key: Box<x25519::PrivateKey>) -> Self {
        Self(key)
    }
}

impl From<[u8; 32]> for PublicKey {
    fn from(key: [u8; 32]) -> Self {
        Self(key)
    }
}

#[pymethods]
impl PrivateKey {
    /// Generates a key.
    #[staticmethod]
    fn generate(py: Python<'_>) -> PyResult<Self> {
        placed(py, || x25519::PrivateKey::generate(&mut SysRng))
    }

    /// Makes a key from its 32 bytes.
    #[staticmethod]
    fn from_bytes(py: Python<'_>, data: Bytes<'_>) -> PyResult<Self> {
        let bytes = data.key::<32>()?;
        placed(py, || Ok(x25519::PrivateKey::from(*bytes)))
    }

    /// Reads a key from DER: PKCS #8, not encrypted.
    #[staticmethod]
    fn from_der(py: Python<'_>, data: Bytes<'_>) -> PyResult<Self> {
        let data: &[u8] = &data;
        placed(py, || x25519::PrivateKey::from_der(data))
    }

    /// Reads a key from PEM: PKCS #8, not encrypted.
    #[staticmethod]
    fn from_pem(py: Python<'_>, data: Document<'_>) -> PyResult<Self> {
        let data: &[u8] = &data;
        placed(py, || x25519::PrivateKey::from_pem(data))
    }

    /// Returns the key's 32 bytes.
    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, self.0.as_bytes())
    }

    /// Returns the key as PKCS #8 in DER.
    fn to_der<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let mut output = Zeroizing::new([0; PRIVATE_KEY_DER_LENGTH]);
        Ok(PyBytes::new(py, self.0.to_der(&mut *output).or_raise()?))
    }

    /// Returns the key as PKCS #8 in PEM.
    fn to_pem(&self) -> PyResult<String> {
        let mut output = Zeroizing::new([0; PRIVATE_KEY_PEM_LENGTH]);
        Ok(self.0.to_pem(&mut *output).or_raise()?.into())
    }

    /// The public key.
    #[getter]
    fn public_key(&self, py: Python<'_>) -> PublicKey {
        let key = &*self.0;
        PublicKey(py.detach(|| key.public_key()))
    }

    /// Computes the secret shared with a peer; raises AgreementError if the peer's key has a small
    /// order, which makes the secret zero.
    fn agree<'py>(
        &self,
        py: Python<'py>,
        peer: Instance<'py, PublicKey>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let (key, peer) = (&*self.0, &peer.get().0);
        let secret = py.detach(|| key.agree(peer)).or_raise()?;
        Ok(PyBytes::new(py, secret.as_bytes()))
    }

    /// Computes the secrets shared with many peers, eight side by side, on as many threads as there
    /// are processors.
    ///
    /// The first error is raised, with its place as `index`; with `return_exceptions`, each error is
    /// an exception in the list.
    #[pyo3(signature = (peers, *, threads = None, return_exceptions = false))]
    fn agree_many<'py>(
        &self,
        py: Python<'py>,
        peers: Vec<Instance<'py, PublicKey>>,
        threads: Option<usize>,
        return_exceptions: bool,
    ) -> PyResult<Vec<Bound<'py, PyAny>>> {
        let jobs = peers.iter().map(|peer| (&*self.0, &peer.get().0));
        agree(py, jobs, threads, return_exceptions)
    }

    fn __repr__(&self) -> &'static str {
        "<cycloid.x25519.PrivateKey>"
    }

    fn __reduce__(&self) -> PyResult<()> {
        Err(error::secret_copy())
    }
}

#[pymethods]
impl PublicKey {
    /// Reads a key of 32 bytes. Every value is one.
    #[staticmethod]
    fn from_bytes(data: Bytes<'_>) -> PyResult<Self> {
        data.key().map(|bytes| Self(*bytes))
    }

    /// Reads a key from DER: SubjectPublicKeyInfo.
    #[staticmethod]
    fn from_der(data: Bytes<'_>) -> PyResult<Self> {
        x25519::public_key_from_der(&data).map(Self).or_raise()
    }

    /// Reads a key from PEM: SubjectPublicKeyInfo.
    #[staticmethod]
    fn from_pem(data: Document<'_>) -> PyResult<Self> {
        x25519::public_key_from_pem(&*data).map(Self).or_raise()
    }

    /// Returns the key's 32 bytes.
    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.0)
    }

    /// Returns the key as SubjectPublicKeyInfo in DER.
    fn to_der<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let mut output = [0; PUBLIC_KEY_DER_LENGTH];
        Ok(PyBytes::new(py, x25519::public_key_to_der(&self.0, &mut output).or_raise()?))
    }

    /// Returns the key as SubjectPublicKeyInfo in PEM.
    fn to_pem(&self) -> PyResult<String> {
        let mut output = [0; PUBLIC_KEY_PEM_LENGTH];
        Ok(x25519::public_key_to_pem(&self.0, &mut output).or_raise()?.into())
    }

    fn __repr__(&self) -> &'static str {
        "<cycloid.x25519.PublicKey>"
    }

    fn __eq__(&self, other: &Self) -> bool {
        self.0 == other.0
    }

    fn __hash__(&self) -> u64 {
        crate::output::hash(&self.0)
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        crate::output::restore(py, "x25519_key", (self.to_bytes(py),))
    }
}

/// Computes many shared secrets, each by the key and the peer in its place. Otherwise as
/// `PrivateKey.agree_many`.
#[pyfunction]
#[pyo3(signature = (keys, peers, *, threads = None, return_exceptions = false))]
pub(crate) fn agree_many<'py>(
    py: Python<'py>,
    keys: Vec<Instance<'py, PrivateKey>>,
    peers: Vec<Instance<'py, PublicKey>>,
    threads: Option<usize>,
    return_exceptions: bool,
) -> PyResult<Vec<Bound<'py, PyAny>>> {
    same_count(["keys", "peers"], [keys.len(), peers.len()])?;
    let jobs = keys.iter().map(|key| &*key.get().0).zip(peers.iter().map(|peer| &peer.get().0));
    agree(py, jobs, threads, return_exceptions)
}

struct Agreement<'a> {
    key: &'a x25519::PrivateKey,
    peer: &'a [u8; 32],
    secret: Zeroizing<[u8; 32]>,
    outcome: Result<(), Error>,
}

fn agree<'a, 'py>(
    py: Python<'py>,
    jobs: impl Iterator<Item = (&'a x25519::PrivateKey, &'a [u8; 32])>,
    threads: Option<usize>,
    return_exceptions: bool,
) -> PyResult<Vec<Bound<'py, PyAny>>> {
    let secret = || Zeroizing::new([0; 32]);
    let outcome = Err(Error::NotDone);
    let mut jobs: Vec<_> =
        jobs.map(|(key, peer)| Agreement { key, peer, secret: secret(), outcome }).collect();
    batch::run(py, &mut jobs, threads, SHORT, |piece| {
        let mut batch: Vec<_> = piece
            .iter_mut()
            .map(|job| x25519::Job::agree(job.key, job.peer, &mut job.secret))
            .collect();
        x25519::run_batch(&mut batch);
        let outcomes: Vec<_> = batch.iter().map(x25519::Job::outcome).collect();
        drop(batch);
        piece.iter_mut().zip(outcomes).for_each(|(job, outcome)| job.outcome = outcome);
    })?;
    let outcomes = jobs.iter().map(|job| job.outcome.map(|()| &*job.secret));
    batch::results(py, outcomes, return_exceptions, |secret| PyBytes::new(py, secret).into_any())
}
