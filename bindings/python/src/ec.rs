//! `cycloid.ec`: ECDSA and ECDH on P-224, P-256, P-384 and P-521.

mod many;

use std::sync::OnceLock;

use cycloid::scheme::ec::{self, EncodedPoint, P224, P256, P384, P521};
use cycloid::scheme::nist::{
    self, Curve, MAX_PRIVATE_KEY_DER_LENGTH, MAX_PRIVATE_KEY_PEM_LENGTH, MAX_PUBLIC_KEY_DER_LENGTH,
    MAX_PUBLIC_KEY_PEM_LENGTH,
};
use cycloid::scheme::stack_use;
use cycloid::scheme::{Hash, ec::PreparedPublicKey};
use cycloid::stack;
use getrandom::SysRng;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use rand_core::TryRng;
use zeroize::Zeroizing;

use crate::error::{self, OrRaise, Raise, signature};
use crate::input::{Bytes, Document, HashName, Instance, Many, check_digest, digest, named};

pub(crate) use many::{agree_many, sign_many, verify_many};

/// The form of a signature.
#[derive(Clone, Copy)]
pub(crate) enum Encoding {
    Der,
    Raw,
}

/// A form by its name.
pub(crate) struct EncodingName(Encoding);

impl FromPyObject<'_, '_> for EncodingName {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, '_, PyAny>) -> PyResult<Self> {
        named(object, "encoding", &[("der", Encoding::Der), ("raw", Encoding::Raw)]).map(Self)
    }
}

/// A curve by its name.
pub(crate) struct CurveName(Curve);

impl FromPyObject<'_, '_> for CurveName {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, '_, PyAny>) -> PyResult<Self> {
        named(object, "curve", &Curve::ALL.map(|curve| (curve.name(), curve))).map(Self)
    }
}

/// How messages are signed.
#[derive(Clone, Copy)]
pub(crate) struct Settings {
    hash: Option<Hash>,
    encoding: Encoding,
    prehashed: bool,
}

impl Settings {
    fn new(hash: Option<HashName>, encoding: EncodingName, prehashed: bool) -> Self {
        Self { hash: hash.map(|name| name.0), encoding: encoding.0, prehashed }
    }

    /// Returns the hash function: as strong as the curve, unless the caller chose another.
    fn hash(self, curve: Curve) -> Hash {
        self.hash.unwrap_or(match curve {
            Curve::P224 | Curve::P256 => Hash::Sha256,
            Curve::P384 => Hash::Sha384,
            Curve::P521 => Hash::Sha512,
        })
    }

    /// Checks a message that is a digest.
    fn check(self, curve: Curve, message: &[u8]) -> PyResult<()> {
        if self.prehashed { check_digest(self.hash(curve), message) } else { Ok(()) }
    }

    fn parse(self, curve: Curve, bytes: &[u8]) -> Result<nist::Signature, ec::Error> {
        match self.encoding {
            Encoding::Der => nist::Signature::from_der(curve, bytes),
            Encoding::Raw => nist::Signature::from_fixed(curve, bytes),
        }
    }

    fn write<'py>(self, py: Python<'py>, signature: &nist::Signature) -> Bound<'py, PyBytes> {
        match self.encoding {
            Encoding::Der => PyBytes::new(py, &signature.to_der()),
            Encoding::Raw => PyBytes::new(py, &signature.to_fixed()),
        }
    }
}

impl Default for EncodingName {
    fn default() -> Self {
        Self(Encoding::Der)
    }
}

/// A private key on a NIST curve. It is wiped when it is no longer used.
#[pyclass(frozen, module = "cycloid.ec")]
pub(crate) struct PrivateKey(Box<nist::PrivateKey>);

/// A public key on a NIST curve.
#[pyclass(frozen, module = "cycloid.ec")]
pub(crate) struct PublicKey {
    key: nist::PublicKey,
    prepared: OnceLock<Prepared>,
}

/// Multiples of a key's point, with which a verification takes less than half the time.
pub(crate) enum Prepared {
    P224(PreparedPublicKey<P224, Box<[u64]>>),
    P256(PreparedPublicKey<P256, Box<[u64]>>),
    P384(PreparedPublicKey<P384, Box<[u64]>>),
    P521(PreparedPublicKey<P521, Box<[u64]>>),
}

/// More than the stack in which a key of any curve is made and moved.
const KEY_STACK: usize = stack_use::ec_key::<P521>() + 8192;

/// Makes a private key in the place where it stays, and leaves no other copy of it.
fn placed<E: Raise + Send>(
    py: Python<'_>,
    make: impl FnOnce() -> Result<nist::PrivateKey, E> + Send,
) -> PyResult<PrivateKey> {
    py.detach(|| stack::clean(KEY_STACK, || make().map(Box::new))).map(PrivateKey).or_raise()
}

impl From<nist::PublicKey> for PublicKey {
    fn from(key: nist::PublicKey) -> Self {
        Self { key, prepared: OnceLock::new() }
    }
}

impl From<Box<nist::PrivateKey>> for PrivateKey {
    fn from(key: Box<nist::PrivateKey>) -> Self {
        Self(key)
    }
}

#[pymethods]
impl PrivateKey {
    /// Generates a key on a curve: "P-224", "P-256", "P-384" or "P-521".
    #[staticmethod]
    #[pyo3(signature = (curve = CurveName(Curve::P256)), text_signature = "(curve='P-256')")]
    fn generate(py: Python<'_>, curve: CurveName) -> PyResult<Self> {
        placed(py, || nist::PrivateKey::generate(curve.0, &mut SysRng))
    }

    /// Reads a key from its number, big-endian, as long as the order of the curve.
    #[staticmethod]
    fn from_bytes(py: Python<'_>, curve: CurveName, data: Bytes<'_>) -> PyResult<Self> {
        let data: &[u8] = &data;
        placed(py, || nist::PrivateKey::from_bytes(curve.0, data))
    }

    /// Reads a key from DER: PKCS #8 or SEC 1, not encrypted.
    #[staticmethod]
    fn from_der(py: Python<'_>, data: Bytes<'_>) -> PyResult<Self> {
        let data: &[u8] = &data;
        placed(py, || nist::PrivateKey::from_der(data))
    }

    /// Reads a key from PEM: PKCS #8 or SEC 1, not encrypted.
    #[staticmethod]
    fn from_pem(py: Python<'_>, data: Document<'_>) -> PyResult<Self> {
        let data: &[u8] = &data;
        placed(py, || nist::PrivateKey::from_pem(data))
    }

    /// Returns the key's number, big-endian, as long as the order of the curve.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let mut bytes = Zeroizing::new([0; 66]);
        let bytes = &mut bytes[..self.0.curve().bytes()];
        self.0.to_bytes(bytes).or_raise()?;
        Ok(PyBytes::new(py, bytes))
    }

    /// Returns the key as PKCS #8 in DER.
    fn to_der<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let mut output = Zeroizing::new([0; MAX_PRIVATE_KEY_DER_LENGTH]);
        Ok(PyBytes::new(py, self.0.to_pkcs8_der(&mut *output).or_raise()?))
    }

    /// Returns the key as PKCS #8 in PEM.
    fn to_pem(&self) -> PyResult<String> {
        let mut output = Zeroizing::new([0; MAX_PRIVATE_KEY_PEM_LENGTH]);
        Ok(self.0.to_pkcs8_pem(&mut *output).or_raise()?.into())
    }

    /// The name of the curve, such as "P-256".
    #[getter]
    fn curve(&self) -> &'static str {
        self.0.curve().name()
    }

    /// The public key.
    #[getter]
    fn public_key(&self) -> PublicKey {
        self.0.public_key().into()
    }

    /// Signs a message by ECDSA. The nonce is that of RFC 6979, so the same message gives the same
    /// signature; `hedged` mixes randomness in.
    ///
    /// `hash` is named as in hashlib: by default SHA-256, on P-384 SHA-384, on P-521 SHA-512. With
    /// `prehashed`, the message is its digest. `encoding` is "der", or "raw" for r and s as in JOSE.
    #[pyo3(
        signature = (message, *, hash = None, encoding = EncodingName::default(), prehashed = false, hedged = false),
        text_signature = "($self, message, *, hash=None, encoding='der', prehashed=False, hedged=False)"
    )]
    fn sign<'py>(
        &self,
        py: Python<'py>,
        message: Bytes<'py>,
        hash: Option<HashName>,
        encoding: EncodingName,
        prehashed: bool,
        hedged: bool,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let settings = Settings::new(hash, encoding, prehashed);
        let (key, message): (_, &[u8]) = (&*self.0, &message);
        settings.check(key.curve(), message)?;
        let hash = settings.hash(key.curve());
        let signature = if hedged {
            let mut random = Zeroizing::new([0; 32]);
            SysRng.try_fill_bytes(&mut *random).map_err(|_| error::no_randomness())?;
            let own = if prehashed { None } else { Some(digest(py, hash, message)?) };
            let digest = own.as_ref().map_or(message, |digest| digest.as_bytes());
            py.detach(|| key.sign_hedged(hash, digest, &*random))
        } else if prehashed {
            py.detach(|| key.sign_prehashed(hash, message))
        } else {
            py.detach(|| key.sign(hash, message))
        };
        Ok(settings.write(py, &signature))
    }

    /// Signs many messages, eight side by side, on as many threads as there are processors.
    /// Otherwise as `sign`.
    #[pyo3(
        signature = (messages, *, hash = None, encoding = EncodingName::default(), prehashed = false, threads = None),
        text_signature = "($self, messages, *, hash=None, encoding='der', prehashed=False, threads=None)"
    )]
    fn sign_many<'py>(
        &self,
        py: Python<'py>,
        messages: Many<'py>,
        hash: Option<HashName>,
        encoding: EncodingName,
        prehashed: bool,
        threads: Option<usize>,
    ) -> PyResult<Vec<Bound<'py, PyBytes>>> {
        let settings = Settings::new(hash, encoding, prehashed);
        let jobs = messages.slices().into_iter().map(|message| (&*self.0, message));
        many::sign(py, jobs, settings, threads)
    }

    /// Computes the secret shared with a peer by ECDH: the x-coordinate of the product.
    fn agree<'py>(
        &self,
        py: Python<'py>,
        peer: Instance<'py, PublicKey>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let (key, peer) = (&*self.0, &peer.get().key);
        let secret = py.detach(|| key.agree(peer)).or_raise()?;
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
        let jobs = peers.iter().map(|peer| (&*self.0, &peer.get().key));
        many::agree(py, jobs, threads, return_exceptions)
    }

    fn __repr__(&self) -> String {
        format!("<cycloid.ec.PrivateKey {}>", self.curve())
    }

    fn __reduce__(&self) -> PyResult<()> {
        Err(error::secret_copy())
    }
}

#[pymethods]
impl PublicKey {
    /// Reads a point as in SEC 1, uncompressed or compressed, and checks it.
    #[staticmethod]
    fn from_bytes(curve: CurveName, data: Bytes<'_>) -> PyResult<Self> {
        nist::PublicKey::from_sec1(curve.0, &data).map(Self::from).or_raise()
    }

    /// Reads a key from DER: SubjectPublicKeyInfo.
    #[staticmethod]
    fn from_der(data: Bytes<'_>) -> PyResult<Self> {
        nist::PublicKey::from_spki_der(&data).map(Self::from).or_raise()
    }

    /// Reads a key from PEM: SubjectPublicKeyInfo.
    #[staticmethod]
    fn from_pem(data: Document<'_>) -> PyResult<Self> {
        nist::PublicKey::from_spki_pem(&*data).map(Self::from).or_raise()
    }

    /// Returns the point as in SEC 1.
    #[pyo3(signature = (*, compressed = false))]
    fn to_bytes<'py>(&self, py: Python<'py>, compressed: bool) -> Bound<'py, PyBytes> {
        let point: EncodedPoint =
            if compressed { self.key.to_compressed() } else { self.key.to_uncompressed() };
        PyBytes::new(py, &point)
    }

    /// Returns the key as SubjectPublicKeyInfo in DER.
    fn to_der<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let mut output = [0; MAX_PUBLIC_KEY_DER_LENGTH];
        Ok(PyBytes::new(py, self.key.to_spki_der(&mut output).or_raise()?))
    }

    /// Returns the key as SubjectPublicKeyInfo in PEM.
    fn to_pem(&self) -> PyResult<String> {
        let mut output = [0; MAX_PUBLIC_KEY_PEM_LENGTH];
        Ok(self.key.to_spki_pem(&mut output).or_raise()?.into())
    }

    /// The name of the curve, such as "P-256".
    #[getter]
    fn curve(&self) -> &'static str {
        self.key.curve().name()
    }

    /// Computes multiples of the key's point, so that each verification takes less than half the
    /// time. They take 12, 18, 30 and 61 KiB for the four curves. `verify_many` does so for many
    /// signatures.
    fn prepare(&self, py: Python<'_>) -> PyResult<()> {
        self.prepared(py).map(|_| ())
    }

    /// Verifies a signature by ECDSA; raises InvalidSignature unless it is valid. The parameters
    /// are those of `PrivateKey.sign`.
    #[pyo3(
        signature = (signature, message, *, hash = None, encoding = EncodingName::default(), prehashed = false),
        text_signature = "($self, signature, message, *, hash=None, encoding='der', prehashed=False)"
    )]
    fn verify(
        &self,
        py: Python<'_>,
        signature: Bytes<'_>,
        message: Bytes<'_>,
        hash: Option<HashName>,
        encoding: EncodingName,
        prehashed: bool,
    ) -> PyResult<()> {
        let settings = Settings::new(hash, encoding, prehashed);
        settings.check(self.key.curve(), &message)?;
        let (signature, message): (&[u8], &[u8]) = (&signature, &message);
        let valid = py.detach(|| many::verify_one(self, signature, message, settings));
        if valid { Ok(()) } else { Err(self::signature()) }
    }

    /// Verifies many signatures by this key, eight side by side, on as many threads as there are
    /// processors. Returns a list of bools. Otherwise as `verify`.
    #[pyo3(
        signature = (signatures, messages, *, hash = None, encoding = EncodingName::default(), prehashed = false, threads = None),
        text_signature = "($self, signatures, messages, *, hash=None, encoding='der', prehashed=False, threads=None)"
    )]
    fn verify_many<'py>(
        &self,
        py: Python<'py>,
        signatures: Many<'py>,
        messages: Many<'py>,
        hash: Option<HashName>,
        encoding: EncodingName,
        prehashed: bool,
        threads: Option<usize>,
    ) -> PyResult<Vec<bool>> {
        let settings = Settings::new(hash, encoding, prehashed);
        let (signatures, messages) = (signatures.slices(), messages.slices());
        if signatures.len() >= many::WORTH_PREPARING {
            self.prepared(py)?;
        }
        many::verify(py, &vec![self; signatures.len()], &signatures, &messages, settings, threads)
    }

    fn __repr__(&self) -> String {
        format!("<cycloid.ec.PublicKey {}>", self.curve())
    }

    fn __eq__(&self, other: &Self) -> bool {
        self.key == other.key
    }

    fn __hash__(&self) -> u64 {
        crate::output::hash(&self.key.to_compressed())
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        crate::output::restore(py, "ec_key", (self.to_der(py)?,))
    }
}

impl PublicKey {
    /// Returns the multiples, and computes them the first time.
    ///
    /// They are stored while the lock is held, so no fork finds them half stored.
    fn prepared(&self, py: Python<'_>) -> PyResult<&Prepared> {
        if self.prepared.get().is_none() {
            let prepared = py.detach(|| Prepared::new(&self.key)).or_raise()?;
            let _ = self.prepared.set(prepared);
        }
        self.prepared.get().ok_or_else(|| error::parameter("the key is not prepared"))
    }
}

impl Prepared {
    fn new(key: &nist::PublicKey) -> Result<Self, ec::Error> {
        fn multiples<C: ec::Curve>(
            key: &ec::PublicKey<C>,
        ) -> Result<PreparedPublicKey<C, Box<[u64]>>, ec::Error> {
            let memory = vec![0; ec::prepared_key_limbs::<C>()].into_boxed_slice();
            PreparedPublicKey::new(*key, memory)
        }
        match key {
            nist::PublicKey::P224(key) => multiples(key).map(Self::P224),
            nist::PublicKey::P256(key) => multiples(key).map(Self::P256),
            nist::PublicKey::P384(key) => multiples(key).map(Self::P384),
            nist::PublicKey::P521(key) => multiples(key).map(Self::P521),
        }
    }
}
