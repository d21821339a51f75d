//! `cycloid.dh`: finite-field Diffie-Hellman in the groups of RFC 7919 and RFC 3526.

use cycloid::key_file::DhPublicKey;
use cycloid::scheme::dh::{
    self, Error, Group, Validation, batch_scratch_limbs, private_key_limbs, scratch_limbs,
};
use getrandom::SysRng;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use zeroize::Zeroizing;

use crate::batch::{self, LONG};
use crate::error::{self, OrRaise, parameter};
use crate::input::{Bytes, Instance};

type Key = dh::PrivateKey<'static, Vec<u64>>;

/// A private key for Diffie-Hellman. It is wiped when it is no longer used.
#[pyclass(frozen, module = "cycloid.dh")]
pub(crate) struct PrivateKey(Key);

/// A public value of Diffie-Hellman.
#[pyclass(frozen, module = "cycloid.dh")]
pub(crate) struct PublicKey {
    group: &'static Group<'static>,
    /// As long as the prime.
    value: Vec<u8>,
}

/// A group by its name.
pub(crate) struct GroupName(&'static Group<'static>);

impl FromPyObject<'_, '_> for GroupName {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, '_, PyAny>) -> PyResult<Self> {
        let groups = Group::KNOWN.map(|group| (group.name().unwrap_or_default(), group));
        crate::input::named(object, "group", &groups).map(Self)
    }
}

impl From<Key> for PrivateKey {
    fn from(key: Key) -> Self {
        Self(key)
    }
}

impl From<DhPublicKey> for PublicKey {
    fn from(key: DhPublicKey) -> Self {
        Self::padded(key.group(), key.value())
    }
}

impl PublicKey {
    /// Pads a value that is not longer than the prime.
    fn padded(group: &'static Group<'static>, value: &[u8]) -> Self {
        let mut padded = vec![0; group.length().saturating_sub(value.len())];
        padded.extend_from_slice(value);
        Self { group, value: padded }
    }
}

fn name(group: &Group<'_>) -> &'static str {
    group.name().unwrap_or("unknown")
}

#[pymethods]
impl PrivateKey {
    /// Generates a key in a group: "ffdhe2048" to "ffdhe8192", or "modp2048" to "modp8192".
    #[staticmethod]
    fn generate(py: Python<'_>, group: GroupName) -> PyResult<Self> {
        let GroupName(group) = group;
        let memory = vec![0; private_key_limbs(group.bits())];
        py.detach(|| Key::generate(group, memory, &mut SysRng)).map(Self).or_raise()
    }

    /// Makes a key from its exponent, big-endian.
    #[staticmethod]
    fn from_bytes(group: GroupName, data: Bytes<'_>) -> PyResult<Self> {
        let GroupName(group) = group;
        Key::new(group, &data, vec![0; private_key_limbs(group.bits())]).map(Self).or_raise()
    }

    /// The name of the group.
    #[getter]
    fn group(&self) -> &'static str {
        name(self.0.group())
    }

    /// The public key. It is computed with each use, which takes as long as an agreement.
    #[getter]
    fn public_key(&self, py: Python<'_>) -> PyResult<PublicKey> {
        let key = &self.0;
        let group = Group::named(self.group()).ok_or_else(|| parameter("unknown group"))?;
        let mut value = vec![0; group.length()];
        let mut scratch = vec![0; scratch_limbs(group.bits(), group.bits())];
        py.detach(|| key.public_value(&mut value, &mut scratch)).or_raise()?;
        Ok(PublicKey { group, value })
    }

    /// Computes the secret shared with a peer, as long as the prime. Raises AgreementError for a
    /// public value that is not in the group.
    fn agree<'py>(
        &self,
        py: Python<'py>,
        peer: Instance<'py, PublicKey>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let peer = peer.get();
        self.same_group(peer)?;
        let key = &self.0;
        let mut secret = Zeroizing::new(vec![0; peer.group.length()]);
        let mut scratch = vec![0; scratch_limbs(peer.group.bits(), peer.group.bits())];
        py.detach(|| key.agree(&peer.value, Validation::Full, &mut secret, &mut scratch))
            .or_raise()?;
        Ok(PyBytes::new(py, &secret))
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
        let key = &self.0;
        let (bits, length) = (key.group().bits(), key.group().length());
        let mut jobs = Vec::with_capacity(peers.len());
        for peer in &peers {
            let peer = peer.get();
            self.same_group(peer)?;
            let secret = Zeroizing::new(vec![0; length]);
            jobs.push(Agreement { peer: &peer.value, secret, outcome: Err(Error::NotDone) });
        }
        batch::run(py, &mut jobs, threads, LONG, |piece| {
            let mut scratch = vec![0; batch_scratch_limbs(bits, bits)];
            let mut batch: Vec<_> = piece
                .iter_mut()
                .map(|job| dh::Job::agree(key, job.peer, Validation::Full, &mut job.secret))
                .collect();
            dh::run_batch(&mut batch, &mut scratch);
            let outcomes: Vec<_> = batch.iter().map(dh::Job::outcome).collect();
            drop(batch);
            piece.iter_mut().zip(outcomes).for_each(|(job, outcome)| job.outcome = outcome);
        })?;
        let outcomes = jobs.iter().map(|job| job.outcome.map(|()| &job.secret));
        batch::results(py, outcomes, return_exceptions, |secret| {
            PyBytes::new(py, secret).into_any()
        })
    }

    fn __repr__(&self) -> String {
        format!("<cycloid.dh.PrivateKey {}>", self.group())
    }

    fn __reduce__(&self) -> PyResult<()> {
        Err(error::secret_copy())
    }
}

struct Agreement<'a> {
    peer: &'a [u8],
    secret: Zeroizing<Vec<u8>>,
    outcome: Result<(), Error>,
}

impl PrivateKey {
    fn same_group(&self, peer: &PublicKey) -> PyResult<()> {
        if self.0.group().name() == peer.group.name() {
            return Ok(());
        }
        Err(Error::OtherGroup).or_raise()
    }
}

#[pymethods]
impl PublicKey {
    /// Reads a public value, big-endian. An agreement checks that it is in the group.
    #[staticmethod]
    fn from_bytes(group: GroupName, data: Bytes<'_>) -> PyResult<Self> {
        let GroupName(group) = group;
        let zeros = data.iter().take_while(|byte| **byte == 0).count();
        let value = &data[zeros..];
        if value.len() > group.length() {
            return Err(Error::PublicRange).or_raise();
        }
        Ok(Self::padded(group, value))
    }

    /// Returns the public value, big-endian, as long as the prime.
    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.value)
    }

    /// The name of the group.
    #[getter]
    fn group(&self) -> &'static str {
        name(self.group)
    }

    fn __repr__(&self) -> String {
        format!("<cycloid.dh.PublicKey {}>", self.group())
    }

    fn __eq__(&self, other: &Self) -> bool {
        self.group.name() == other.group.name() && self.value == other.value
    }

    fn __hash__(&self) -> u64 {
        crate::output::hash(&self.value)
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        crate::output::restore(py, "dh_key", (self.group(), self.to_bytes(py)))
    }
}
