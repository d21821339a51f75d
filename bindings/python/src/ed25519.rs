//! `cycloid.ed25519`: signatures of RFC 8032.

use cycloid::scheme::ed25519::{
    self, Error, PRIVATE_KEY_DER_LENGTH, PRIVATE_KEY_PEM_LENGTH, PUBLIC_KEY_DER_LENGTH,
    PUBLIC_KEY_PEM_LENGTH, Rule, SigningKey, Variant, VerifyingKey,
};
use cycloid::scheme::stack_use;
use cycloid::stack;
use getrandom::SysRng;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use zeroize::Zeroizing;

use crate::batch::{self, SHORT};
use crate::error::{self, OrRaise, signature};
use crate::input::{Bytes, Document, Instance, Many, named, same_count};

/// A private key for Ed25519. It is wiped when it is no longer used.
#[pyclass(frozen, module = "cycloid.ed25519")]
pub(crate) struct PrivateKey(Box<SigningKey>);

/// A public key for Ed25519.
#[pyclass(frozen, module = "cycloid.ed25519")]
pub(crate) struct PublicKey(VerifyingKey);

/// More than the stack in which a key is made and moved.
const KEY_STACK: usize = stack_use::ED25519_SIGN + 4096;

/// Makes a private key in the place where it stays, and leaves no other copy of it.
fn placed(
    py: Python<'_>,
    make: impl FnOnce() -> Result<SigningKey, Error> + Send,
) -> PyResult<PrivateKey> {
    py.detach(|| stack::clean(KEY_STACK, || make().map(Box::new))).map(PrivateKey).or_raise()
}

/// The rule of verification, where the standard leaves a choice.
pub(crate) struct RuleName(Rule);

impl FromPyObject<'_, '_> for RuleName {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, '_, PyAny>) -> PyResult<Self> {
        let rules = [
            ("cofactorless", Rule::Cofactorless),
            ("strict", Rule::Strict),
            ("cofactored", Rule::Cofactored),
        ];
        named(object, "rule", &rules).map(Self)
    }
}

impl Default for RuleName {
    fn default() -> Self {
        Self(Rule::Cofactorless)
    }
}

/// Returns the variant: Ed25519, Ed25519ctx with a context, or Ed25519ph of a digest.
fn variant<'a>(context: Option<&'a Bytes<'_>>, prehashed: bool) -> Variant<'a> {
    match (context, prehashed) {
        (None, false) => Variant::Plain,
        (Some(context), false) => Variant::Context(context),
        (context, true) => Variant::Prehashed(context.map_or(&[], |context| context)),
    }
}

impl From<Box<SigningKey>> for PrivateKey {
    fn from(key: Box<SigningKey>) -> Self {
        Self(key)
    }
}

impl From<VerifyingKey> for PublicKey {
    fn from(key: VerifyingKey) -> Self {
        Self(key)
    }
}

#[pymethods]
impl PrivateKey {
    /// Generates a key.
    #[staticmethod]
    fn generate(py: Python<'_>) -> PyResult<Self> {
        placed(py, || SigningKey::generate(&mut SysRng))
    }

    /// Makes a key from its seed of 32 bytes, which RFC 8032 calls the private key.
    #[staticmethod]
    fn from_bytes(py: Python<'_>, data: Bytes<'_>) -> PyResult<Self> {
        let seed = data.key::<32>()?;
        placed(py, || Ok(SigningKey::from_seed(seed)))
    }

    /// Reads a key from DER: PKCS #8, not encrypted.
    #[staticmethod]
    fn from_der(py: Python<'_>, data: Bytes<'_>) -> PyResult<Self> {
        let data: &[u8] = &data;
        placed(py, || SigningKey::from_der(data))
    }

    /// Reads a key from PEM: PKCS #8, not encrypted.
    #[staticmethod]
    fn from_pem(py: Python<'_>, data: Document<'_>) -> PyResult<Self> {
        let data: &[u8] = &data;
        placed(py, || SigningKey::from_pem(data))
    }

    /// Returns the seed of 32 bytes.
    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, self.0.seed())
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
    fn public_key(&self) -> PublicKey {
        PublicKey(*self.0.verifying_key())
    }

    /// Signs a message. With a `context` of at most 255 bytes, the scheme is Ed25519ctx. With
    /// `prehashed` it is Ed25519ph, and the message is its digest by SHA-512.
    #[pyo3(signature = (message, *, context = None, prehashed = false))]
    fn sign<'py>(
        &self,
        py: Python<'py>,
        message: Bytes<'py>,
        context: Option<Bytes<'py>>,
        prehashed: bool,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let variant = variant(context.as_ref(), prehashed);
        let (key, message): (_, &[u8]) = (&*self.0, &message);
        let signature = py.detach(|| key.sign_with(variant, message)).or_raise()?;
        Ok(PyBytes::new(py, &signature))
    }

    /// Signs many messages, eight side by side, on as many threads as there are processors.
    /// Otherwise as `sign`.
    #[pyo3(signature = (messages, *, context = None, prehashed = false, threads = None))]
    fn sign_many<'py>(
        &self,
        py: Python<'py>,
        messages: Many<'py>,
        context: Option<Bytes<'py>>,
        prehashed: bool,
        threads: Option<usize>,
    ) -> PyResult<Vec<Bound<'py, PyBytes>>> {
        let jobs = messages.slices().into_iter().map(|message| (&*self.0, message));
        sign(py, jobs, variant(context.as_ref(), prehashed), threads)
    }

    fn __repr__(&self) -> &'static str {
        "<cycloid.ed25519.PrivateKey>"
    }

    fn __reduce__(&self) -> PyResult<()> {
        Err(error::secret_copy())
    }
}

#[pymethods]
impl PublicKey {
    /// Reads a key of 32 bytes.
    #[staticmethod]
    fn from_bytes(data: Bytes<'_>) -> PyResult<Self> {
        VerifyingKey::new(data.key()?).map(Self).or_raise()
    }

    /// Reads a key from DER: SubjectPublicKeyInfo.
    #[staticmethod]
    fn from_der(data: Bytes<'_>) -> PyResult<Self> {
        VerifyingKey::from_der(&data).map(Self).or_raise()
    }

    /// Reads a key from PEM: SubjectPublicKeyInfo.
    #[staticmethod]
    fn from_pem(data: Document<'_>) -> PyResult<Self> {
        VerifyingKey::from_pem(&*data).map(Self).or_raise()
    }

    /// Returns the key's 32 bytes.
    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, self.0.as_bytes())
    }

    /// Returns the key as SubjectPublicKeyInfo in DER.
    fn to_der<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let mut output = [0; PUBLIC_KEY_DER_LENGTH];
        Ok(PyBytes::new(py, self.0.to_der(&mut output).or_raise()?))
    }

    /// Returns the key as SubjectPublicKeyInfo in PEM.
    fn to_pem(&self) -> PyResult<String> {
        let mut output = [0; PUBLIC_KEY_PEM_LENGTH];
        Ok(self.0.to_pem(&mut output).or_raise()?.into())
    }

    /// Verifies a signature; raises InvalidSignature unless it is valid.
    ///
    /// `rule` is what is accepted where RFC 8032 leaves a choice: "cofactorless" as OpenSSL does,
    /// "strict" also refuses keys and signatures of small order, "cofactored" accepts what every
    /// verifier of batches accepts. `context` and `prehashed` are those of `PrivateKey.sign`.
    #[pyo3(
        signature = (signature, message, *, rule = RuleName::default(), context = None, prehashed = false),
        text_signature = "($self, signature, message, *, rule='cofactorless', context=None, prehashed=False)"
    )]
    fn verify(
        &self,
        py: Python<'_>,
        signature: Bytes<'_>,
        message: Bytes<'_>,
        rule: RuleName,
        context: Option<Bytes<'_>>,
        prehashed: bool,
    ) -> PyResult<()> {
        let variant = variant(context.as_ref(), prehashed);
        check(variant, &message)?;
        let Ok(signature) = <&[u8; 64]>::try_from(&*signature) else {
            return Err(self::signature());
        };
        let (key, message): (_, &[u8]) = (&self.0, &message);
        py.detach(|| key.verify_with(rule.0, variant, message, signature)).or_raise()
    }

    /// Verifies many signatures by this key, eight side by side, on as many threads as there are
    /// processors. Returns a list of bools. Otherwise as `verify`.
    #[pyo3(
        signature = (signatures, messages, *, rule = RuleName::default(), context = None, prehashed = false, threads = None),
        text_signature = "($self, signatures, messages, *, rule='cofactorless', context=None, prehashed=False, threads=None)"
    )]
    fn verify_many<'py>(
        &self,
        py: Python<'py>,
        signatures: Many<'py>,
        messages: Many<'py>,
        rule: RuleName,
        context: Option<Bytes<'py>>,
        prehashed: bool,
        threads: Option<usize>,
    ) -> PyResult<Vec<bool>> {
        let (signatures, messages) = (signatures.slices(), messages.slices());
        let keys = vec![&self.0; signatures.len()];
        let variant = variant(context.as_ref(), prehashed);
        verify(py, &keys, &signatures, &messages, rule.0, variant, threads)
    }

    fn __repr__(&self) -> &'static str {
        "<cycloid.ed25519.PublicKey>"
    }

    fn __eq__(&self, other: &Self) -> bool {
        self.0 == other.0
    }

    fn __hash__(&self) -> u64 {
        crate::output::hash(self.0.as_bytes())
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        crate::output::restore(py, "ed25519_key", (self.to_bytes(py),))
    }
}

/// Signs many messages, each by the key in its place. Otherwise as `PrivateKey.sign_many`.
#[pyfunction]
#[pyo3(signature = (keys, messages, *, context = None, prehashed = false, threads = None))]
pub(crate) fn sign_many<'py>(
    py: Python<'py>,
    keys: Vec<Instance<'py, PrivateKey>>,
    messages: Many<'py>,
    context: Option<Bytes<'py>>,
    prehashed: bool,
    threads: Option<usize>,
) -> PyResult<Vec<Bound<'py, PyBytes>>> {
    let messages = messages.slices();
    same_count(["keys", "messages"], [keys.len(), messages.len()])?;
    let jobs = keys.iter().map(|key| &*key.get().0).zip(messages);
    sign(py, jobs, variant(context.as_ref(), prehashed), threads)
}

/// Verifies many signatures, each by the key in its place. Otherwise as `PublicKey.verify_many`.
#[pyfunction]
#[pyo3(
    signature = (keys, signatures, messages, *, rule = RuleName::default(), context = None, prehashed = false, threads = None),
    text_signature = "(keys, signatures, messages, *, rule='cofactorless', context=None, prehashed=False, threads=None)"
)]
pub(crate) fn verify_many<'py>(
    py: Python<'py>,
    keys: Vec<Instance<'py, PublicKey>>,
    signatures: Many<'py>,
    messages: Many<'py>,
    rule: RuleName,
    context: Option<Bytes<'py>>,
    prehashed: bool,
    threads: Option<usize>,
) -> PyResult<Vec<bool>> {
    let keys: Vec<_> = keys.iter().map(|key| &key.get().0).collect();
    let variant = variant(context.as_ref(), prehashed);
    verify(py, &keys, &signatures.slices(), &messages.slices(), rule.0, variant, threads)
}

/// Checks the arguments that are wrong for any key: context and digest.
fn check(variant: Variant<'_>, message: &[u8]) -> PyResult<()> {
    match variant {
        Variant::Context(context) | Variant::Prehashed(context)
            if context.len() > ed25519::MAX_CONTEXT =>
        {
            Err(Error::ContextTooLong).or_raise()
        }
        Variant::Prehashed(_) if message.len() != 64 => Err(Error::DigestLength).or_raise(),
        _ => Ok(()),
    }
}

struct Signing<'a> {
    key: &'a SigningKey,
    message: &'a [u8],
    signature: [u8; 64],
    outcome: Result<(), Error>,
}

fn sign<'a, 'py>(
    py: Python<'py>,
    jobs: impl Iterator<Item = (&'a SigningKey, &'a [u8])>,
    variant: Variant<'_>,
    threads: Option<usize>,
) -> PyResult<Vec<Bound<'py, PyBytes>>> {
    let outcome = Err(Error::NotDone);
    let mut jobs: Vec<_> =
        jobs.map(|(key, message)| Signing { key, message, signature: [0; 64], outcome }).collect();
    for job in &jobs {
        check(variant, job.message)?;
    }
    batch::run(py, &mut jobs, threads, SHORT, |piece| {
        let mut batch: Vec<_> = piece
            .iter_mut()
            .map(|job| ed25519::Job::sign(job.key, variant, job.message, &mut job.signature))
            .collect();
        ed25519::run_batch(&mut batch);
        let outcomes: Vec<_> = batch.iter().map(ed25519::Job::outcome).collect();
        drop(batch);
        piece.iter_mut().zip(outcomes).for_each(|(job, outcome)| job.outcome = outcome);
    })?;
    let signature =
        |job: &Signing<'_>| job.outcome.or_raise().map(|()| PyBytes::new(py, &job.signature));
    jobs.iter().map(signature).collect()
}

struct Verification<'a> {
    key: &'a VerifyingKey,
    /// Nothing if the length is wrong.
    signature: Option<&'a [u8; 64]>,
    message: &'a [u8],
    valid: bool,
}

fn verify(
    py: Python<'_>,
    keys: &[&VerifyingKey],
    signatures: &[&[u8]],
    messages: &[&[u8]],
    rule: Rule,
    variant: Variant<'_>,
    threads: Option<usize>,
) -> PyResult<Vec<bool>> {
    same_count(["keys", "signatures"], [keys.len(), signatures.len()])?;
    same_count(["signatures", "messages"], [signatures.len(), messages.len()])?;
    let inputs = keys.iter().zip(signatures).zip(messages);
    let mut jobs = Vec::with_capacity(keys.len());
    for ((key, signature), message) in inputs {
        check(variant, message)?;
        let signature = <&[u8; 64]>::try_from(*signature).ok();
        jobs.push(Verification { key, signature, message, valid: false });
    }
    batch::run(py, &mut jobs, threads, SHORT, |piece| {
        let sound = |job: &&mut Verification<'_>| job.signature.is_some();
        let mut batch = Vec::with_capacity(piece.len());
        for &Verification { key, signature, message, .. } in piece.iter() {
            let job = |signature| ed25519::Job::verify(key, rule, variant, message, signature);
            batch.extend(signature.map(job));
        }
        ed25519::run_batch(&mut batch);
        let outcomes: Vec<_> = batch.iter().map(ed25519::Job::outcome).collect();
        drop(batch);
        let jobs = piece.iter_mut().filter(sound);
        jobs.zip(outcomes).for_each(|(job, outcome)| job.valid = outcome.is_ok());
    })?;
    Ok(jobs.iter().map(|job| job.valid).collect())
}
