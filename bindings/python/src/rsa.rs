//! `cycloid.rsa`: signatures with PSS and PKCS #1 v1.5, encryption with OAEP and PKCS #1 v1.5.

mod many;

use std::sync::{Mutex, PoisonError};

use cycloid::scheme::Hash;
use cycloid::scheme::rsa::{
    Error, KeyPair, Oaep, OwnedPublicKey, PrivateComponents, Pss, SignatureScheme,
};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};
use zeroize::Zeroizing;

use crate::error::{self, OrRaise, decryption, parameter, signature};
use crate::input::{Bytes, Document, HashName, Many, check_digest, integer, named};
use crate::output::number;
use crate::random::Recording;

pub(crate) use many::{sign_many, verify_many};

/// The padding of a signature.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum SignaturePadding {
    Pss,
    Pkcs1v15,
}

/// The padding of a signature, by its name.
pub(crate) struct SignaturePaddingName(SignaturePadding);

impl FromPyObject<'_, '_> for SignaturePaddingName {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, '_, PyAny>) -> PyResult<Self> {
        let names = [("pss", SignaturePadding::Pss), ("pkcs1v15", SignaturePadding::Pkcs1v15)];
        named(object, "padding", &names).map(Self)
    }
}

impl Default for SignaturePaddingName {
    fn default() -> Self {
        Self(SignaturePadding::Pss)
    }
}

/// The padding of a ciphertext, by its name.
pub(crate) struct CiphertextPaddingName {
    oaep: bool,
}

impl FromPyObject<'_, '_> for CiphertextPaddingName {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, '_, PyAny>) -> PyResult<Self> {
        let oaep = named(object, "padding", &[("oaep", true), ("pkcs1v15", false)])?;
        Ok(Self { oaep })
    }
}

impl Default for CiphertextPaddingName {
    fn default() -> Self {
        Self { oaep: true }
    }
}

/// The length of the salt of PSS.
pub(crate) enum SaltLength {
    Exactly(usize),
    Any,
}

impl FromPyObject<'_, '_> for SaltLength {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, '_, PyAny>) -> PyResult<Self> {
        if object.is_instance_of::<PyString>() {
            return named(object, "salt length", &[("any", ())]).map(|()| Self::Any);
        }
        object.extract().map(Self::Exactly).map_err(|_| {
            PyTypeError::new_err("the salt length is a number of bytes, or 'any' to verify")
        })
    }
}

/// How messages are signed.
#[derive(Clone, Copy)]
pub(crate) struct Settings {
    padding: SignaturePadding,
    hash: Hash,
    prehashed: bool,
    /// Nothing stands for any length.
    salt_length: Option<usize>,
}

impl Settings {
    fn new(
        padding: SignaturePaddingName,
        hash: Option<HashName>,
        prehashed: bool,
        salt_length: Option<SaltLength>,
    ) -> PyResult<Self> {
        let (padding, hash) = (padding.0, hash.map_or(Hash::Sha256, |name| name.0));
        if padding == SignaturePadding::Pkcs1v15 && salt_length.is_some() {
            return Err(parameter("PKCS #1 v1.5 has no salt"));
        }
        let salt_length = match salt_length {
            None => Some(hash.digest_length()),
            Some(SaltLength::Exactly(length)) => Some(length),
            Some(SaltLength::Any) => None,
        };
        Ok(Self { padding, hash, prehashed, salt_length })
    }

    /// Returns the scheme to sign with.
    fn scheme(self) -> PyResult<SignatureScheme> {
        let salt_length =
            self.salt_length.ok_or_else(|| parameter("a signature has a salt of some length"))?;
        Ok(match self.padding {
            SignaturePadding::Pss => {
                SignatureScheme::Pss(Pss { salt_length, ..Pss::new(self.hash) })
            }
            SignaturePadding::Pkcs1v15 => SignatureScheme::Pkcs1v15(self.hash),
        })
    }

    /// Checks a message that is a digest.
    fn check(self, message: &[u8]) -> PyResult<()> {
        if self.prehashed { check_digest(self.hash, message) } else { Ok(()) }
    }
}

/// Returns the parameters of OAEP.
fn oaep<'a>(
    hash: Option<HashName>,
    mask_hash: Option<HashName>,
    label: Option<&'a Bytes<'_>>,
) -> Oaep<'a> {
    let hash = hash.map_or(Hash::Sha256, |name| name.0);
    let mask_hash = mask_hash.map_or(hash, |name| name.0);
    Oaep { hash, mask_hash, label: label.map_or(&[], |label| label) }
}

/// A private RSA key. It is wiped when it is no longer used.
#[pyclass(frozen, module = "cycloid.rsa")]
pub(crate) struct PrivateKey {
    key: Mutex<OfProcess>,
}

/// A key with the blindings that it keeps, and the process that made them. The child of a fork makes
/// blindings of its own.
struct OfProcess {
    key: KeyPair,
    process: u32,
}

/// A public RSA key.
#[pyclass(frozen, module = "cycloid.rsa")]
pub(crate) struct PublicKey(OwnedPublicKey);

impl From<KeyPair> for PrivateKey {
    fn from(key: KeyPair) -> Self {
        Self { key: Mutex::new(OfProcess { key, process: std::process::id() }) }
    }
}

impl From<OwnedPublicKey> for PublicKey {
    fn from(key: OwnedPublicKey) -> Self {
        Self(key)
    }
}

impl PrivateKey {
    /// Returns the key for this process.
    ///
    /// The lock is taken while the interpreter's is held, so no fork finds it taken.
    fn key(&self, _py: Python<'_>) -> PyResult<KeyPair> {
        let mut place = self.key.lock().unwrap_or_else(PoisonError::into_inner);
        let process = std::process::id();
        if place.process != process {
            let restriction = place.key.public_key().restriction();
            let key = place.key.clone().restricted(restriction).or_raise()?;
            *place = OfProcess { key, process };
        }
        Ok(place.key.clone())
    }
}

#[pymethods]
impl PrivateKey {
    /// Generates a key of `bits` bits, with the public exponent 65537.
    #[staticmethod]
    #[pyo3(signature = (bits = 3072))]
    fn generate(py: Python<'_>, bits: usize) -> PyResult<Self> {
        py.detach(|| {
            let mut random = Recording::default();
            let key = KeyPair::generate(bits, &mut random);
            random.release(key).map(Self::from)
        })
    }

    /// Reads a key from DER: PKCS #8 or PKCS #1, not encrypted.
    #[staticmethod]
    fn from_der(py: Python<'_>, data: Bytes<'_>) -> PyResult<Self> {
        let data: &[u8] = &data;
        py.detach(|| KeyPair::from_der(data)).map(Self::from).or_raise()
    }

    /// Reads a key from PEM: PKCS #8 or PKCS #1, not encrypted.
    #[staticmethod]
    fn from_pem(py: Python<'_>, data: Document<'_>) -> PyResult<Self> {
        let data: &[u8] = &data;
        py.detach(|| KeyPair::from_pem(data)).map(Self::from).or_raise()
    }

    /// Makes a key from its numbers, as PKCS #1 names them, and checks them. If `d` is 0, or both
    /// primes are, the others determine it.
    #[staticmethod]
    #[pyo3(signature = (n, e, d, p, q))]
    fn from_numbers(
        py: Python<'_>,
        n: &Bound<'_, PyAny>,
        e: &Bound<'_, PyAny>,
        d: &Bound<'_, PyAny>,
        p: &Bound<'_, PyAny>,
        q: &Bound<'_, PyAny>,
    ) -> PyResult<Self> {
        let numbers = [integer(n)?, integer(e)?, integer(d)?, integer(p)?, integer(q)?];
        // The library computes the rest in constant time.
        let components = PrivateComponents {
            modulus: &numbers[0],
            public_exponent: &numbers[1],
            private_exponent: &numbers[2],
            prime1: &numbers[3],
            prime2: &numbers[4],
            ..PrivateComponents::default()
        };
        py.detach(|| KeyPair::from_components(&components)).map(Self::from).or_raise()
    }

    /// Returns the key as PKCS #8 in DER.
    fn to_der<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(py, &self.key(py)?.to_pkcs8_der()))
    }

    /// Returns the key as PKCS #8 in PEM.
    fn to_pem<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyString>> {
        Ok(PyString::new(py, &self.key(py)?.to_pkcs8_pem()))
    }

    /// The length of the modulus in bits.
    #[getter]
    fn bits(&self, py: Python<'_>) -> PyResult<usize> {
        Ok(self.key(py)?.public_key().bits())
    }

    /// The public key.
    #[getter]
    fn public_key(&self, py: Python<'_>) -> PyResult<PublicKey> {
        Ok(PublicKey(self.key(py)?.public_key().clone()))
    }

    /// Signs a message. `padding` is "pss" or "pkcs1v15".
    ///
    /// `hash` is named as in hashlib. With `prehashed`, the message is its digest. The salt of PSS
    /// has `salt_length` bytes, by default as many as the digest.
    #[pyo3(
        signature = (message, *, padding = SignaturePaddingName::default(), hash = None, prehashed = false, salt_length = None),
        text_signature = "($self, message, *, padding='pss', hash='sha256', prehashed=False, salt_length=None)"
    )]
    fn sign<'py>(
        &self,
        py: Python<'py>,
        message: Bytes<'py>,
        padding: SignaturePaddingName,
        hash: Option<HashName>,
        prehashed: bool,
        salt_length: Option<SaltLength>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let settings = Settings::new(padding, hash, prehashed, salt_length)?;
        let (scheme, key, message): (_, _, &[u8]) = (settings.scheme()?, self.key(py)?, &message);
        settings.check(message)?;
        let signature = py.detach(|| {
            let mut random = Recording::default();
            let signature = if prehashed {
                key.sign_prehashed(scheme, message, &mut random)
            } else {
                key.sign(scheme, message, &mut random)
            };
            random.release(signature)
        })?;
        Ok(PyBytes::new(py, &signature))
    }

    /// Signs many messages, eight side by side, on as many threads as there are processors.
    /// Otherwise as `sign`.
    #[pyo3(
        signature = (messages, *, padding = SignaturePaddingName::default(), hash = None, prehashed = false, salt_length = None, threads = None),
        text_signature = "($self, messages, *, padding='pss', hash='sha256', prehashed=False, salt_length=None, threads=None)"
    )]
    fn sign_many<'py>(
        &self,
        py: Python<'py>,
        messages: Many<'py>,
        padding: SignaturePaddingName,
        hash: Option<HashName>,
        prehashed: bool,
        salt_length: Option<SaltLength>,
        threads: Option<usize>,
    ) -> PyResult<Vec<Bound<'py, PyBytes>>> {
        let settings = Settings::new(padding, hash, prehashed, salt_length)?;
        let key = self.key(py)?;
        let jobs = messages.slices().into_iter().map(|message| (&key, message));
        many::sign(py, jobs, settings, threads)
    }

    /// Decrypts a ciphertext. `padding` is "oaep", or "pkcs1v15", where an invalid ciphertext is no
    /// error: it gives random bytes, always the same.
    ///
    /// With OAEP, `hash` is the hash function of the label, and `mask_hash` that of the mask, by
    /// default the same. Raises DecryptionError.
    #[pyo3(
        signature = (ciphertext, *, padding = CiphertextPaddingName::default(), hash = None, mask_hash = None, label = None),
        text_signature = "($self, ciphertext, *, padding='oaep', hash='sha256', mask_hash=None, label=None)"
    )]
    fn decrypt<'py>(
        &self,
        py: Python<'py>,
        ciphertext: Bytes<'py>,
        padding: CiphertextPaddingName,
        hash: Option<HashName>,
        mask_hash: Option<HashName>,
        label: Option<Bytes<'py>>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let (key, oaep) = (self.key(py)?, oaep(hash, mask_hash, label.as_ref()));
        let ciphertext: &[u8] = &ciphertext;
        let message = py.detach(|| {
            let mut random = Recording::default();
            let message: Result<Zeroizing<Vec<u8>>, Error> = if padding.oaep {
                key.decrypt_oaep(&oaep, ciphertext, &mut random)
            } else {
                key.decrypt_pkcs1v15(ciphertext, &mut random)
            };
            random.release(message.map_err(decryption))
        })?;
        Ok(PyBytes::new(py, &message))
    }

    /// Decrypts many ciphertexts, eight side by side, on as many threads as there are processors.
    /// Otherwise as `decrypt`.
    ///
    /// The first error is raised, with its place as `index`; with `return_exceptions`, each error is
    /// an exception in the list.
    #[pyo3(
        signature = (ciphertexts, *, padding = CiphertextPaddingName::default(), hash = None, mask_hash = None, label = None, threads = None, return_exceptions = false),
        text_signature = "($self, ciphertexts, *, padding='oaep', hash='sha256', mask_hash=None, label=None, threads=None, return_exceptions=False)"
    )]
    fn decrypt_many<'py>(
        &self,
        py: Python<'py>,
        ciphertexts: Many<'py>,
        padding: CiphertextPaddingName,
        hash: Option<HashName>,
        mask_hash: Option<HashName>,
        label: Option<Bytes<'py>>,
        threads: Option<usize>,
        return_exceptions: bool,
    ) -> PyResult<Vec<Bound<'py, PyAny>>> {
        let oaep = padding.oaep.then(|| oaep(hash, mask_hash, label.as_ref()));
        let (key, ciphertexts) = (self.key(py)?, ciphertexts.slices());
        many::decrypt(py, &key, &ciphertexts, oaep, threads, return_exceptions)
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        Ok(format!("<cycloid.rsa.PrivateKey {} bits>", self.bits(py)?))
    }

    fn __reduce__(&self) -> PyResult<()> {
        Err(error::secret_copy())
    }
}

#[pymethods]
impl PublicKey {
    /// Reads a key from DER: SubjectPublicKeyInfo or PKCS #1.
    #[staticmethod]
    fn from_der(data: Bytes<'_>) -> PyResult<Self> {
        OwnedPublicKey::from_der(&data).map(Self).or_raise()
    }

    /// Reads a key from PEM: SubjectPublicKeyInfo or PKCS #1.
    #[staticmethod]
    fn from_pem(data: Document<'_>) -> PyResult<Self> {
        OwnedPublicKey::from_pem(&*data).map(Self).or_raise()
    }

    /// Makes a key from its modulus and its exponent.
    #[staticmethod]
    fn from_numbers(n: &Bound<'_, PyAny>, e: &Bound<'_, PyAny>) -> PyResult<Self> {
        OwnedPublicKey::from_components(&integer(n)?, &integer(e)?).map(Self).or_raise()
    }

    /// Returns the key as SubjectPublicKeyInfo in DER.
    fn to_der<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.0.to_spki_der())
    }

    /// Returns the key as SubjectPublicKeyInfo in PEM.
    fn to_pem(&self) -> String {
        self.0.to_spki_pem()
    }

    /// The length of the modulus in bits.
    #[getter]
    fn bits(&self) -> usize {
        self.0.bits()
    }

    /// The modulus.
    #[getter]
    fn n<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let limbs = self.0.as_key().modulus_limbs().iter().rev();
        number(py, &limbs.flat_map(|limb| limb.to_be_bytes()).collect::<Vec<_>>())
    }

    /// The public exponent.
    #[getter]
    fn e(&self) -> u64 {
        self.0.exponent()
    }

    /// Verifies a signature; raises InvalidSignature unless it is valid. The parameters are those of
    /// `PrivateKey.sign`; with PSS, `salt_length` may also be "any".
    #[pyo3(
        signature = (signature, message, *, padding = SignaturePaddingName::default(), hash = None, prehashed = false, salt_length = None),
        text_signature = "($self, signature, message, *, padding='pss', hash='sha256', prehashed=False, salt_length=None)"
    )]
    fn verify(
        &self,
        py: Python<'_>,
        signature: Bytes<'_>,
        message: Bytes<'_>,
        padding: SignaturePaddingName,
        hash: Option<HashName>,
        prehashed: bool,
        salt_length: Option<SaltLength>,
    ) -> PyResult<()> {
        let settings = Settings::new(padding, hash, prehashed, salt_length)?;
        let valid = many::verify(py, &[&self.0], &[&signature], &[&message], settings, Some(1))?;
        if valid == [true] { Ok(()) } else { Err(self::signature()) }
    }

    /// Verifies many signatures by this key, eight side by side, on as many threads as there are
    /// processors. Returns a list of bools. Otherwise as `verify`.
    #[pyo3(
        signature = (signatures, messages, *, padding = SignaturePaddingName::default(), hash = None, prehashed = false, salt_length = None, threads = None),
        text_signature = "($self, signatures, messages, *, padding='pss', hash='sha256', prehashed=False, salt_length=None, threads=None)"
    )]
    fn verify_many<'py>(
        &self,
        py: Python<'py>,
        signatures: Many<'py>,
        messages: Many<'py>,
        padding: SignaturePaddingName,
        hash: Option<HashName>,
        prehashed: bool,
        salt_length: Option<SaltLength>,
        threads: Option<usize>,
    ) -> PyResult<Vec<bool>> {
        let settings = Settings::new(padding, hash, prehashed, salt_length)?;
        let (signatures, messages) = (signatures.slices(), messages.slices());
        let keys = vec![&self.0; signatures.len()];
        many::verify(py, &keys, &signatures, &messages, settings, threads)
    }

    /// Encrypts a message, which is as long as the padding permits. The parameters are those of
    /// `PrivateKey.decrypt`.
    #[pyo3(
        signature = (message, *, padding = CiphertextPaddingName::default(), hash = None, mask_hash = None, label = None),
        text_signature = "($self, message, *, padding='oaep', hash='sha256', mask_hash=None, label=None)"
    )]
    fn encrypt<'py>(
        &self,
        py: Python<'py>,
        message: Bytes<'py>,
        padding: CiphertextPaddingName,
        hash: Option<HashName>,
        mask_hash: Option<HashName>,
        label: Option<Bytes<'py>>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let oaep = oaep(hash, mask_hash, label.as_ref());
        let (key, message): (_, &[u8]) = (&self.0, &message);
        let ciphertext = py.detach(|| {
            let mut random = Recording::default();
            let ciphertext = if padding.oaep {
                key.encrypt_oaep(&oaep, message, &mut random)
            } else {
                key.encrypt_pkcs1v15(message, &mut random)
            };
            random.release(ciphertext)
        })?;
        Ok(PyBytes::new(py, &ciphertext))
    }

    fn __repr__(&self) -> String {
        format!("<cycloid.rsa.PublicKey {} bits>", self.bits())
    }

    fn __eq__(&self, other: &Self) -> bool {
        self.0 == other.0
    }

    fn __hash__(&self) -> u64 {
        crate::output::hash(&self.0.to_spki_der())
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        crate::output::restore(py, "rsa_key", (self.to_der(py),))
    }
}
