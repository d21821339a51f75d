//! `cycloid.bls`: BLS signatures on BLS12-381, with small keys (`min_pk`) or small signatures
//! (`min_sig`). Both have the same functions, so a macro makes them.

use cycloid::LANES;
use cycloid::bls12_381::Cycloid;
use cycloid::bls12_381::signature::{
    self, MinPk, MinSig, Scheme, SignatureBackend, Variant, batch_verify,
};
use cycloid::scheme::stack_use;
use cycloid::stack;
use getrandom::SysRng;
use pyo3::prelude::*;

use crate::batch::Piece;
use crate::input::named;

/// A scheme against rogue keys, by its name.
pub(crate) struct SchemeName(Scheme);

impl FromPyObject<'_, '_> for SchemeName {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, '_, PyAny>) -> PyResult<Self> {
        let schemes = [
            ("basic", Scheme::Basic),
            ("augmented", Scheme::MessageAugmentation),
            ("possession", Scheme::ProofOfPossession),
        ];
        named(object, "scheme", &schemes).map(Self)
    }
}

impl Default for SchemeName {
    fn default() -> Self {
        Self(Scheme::ProofOfPossession)
    }
}

type SecretKey<V> = signature::SecretKey<Cycloid, V>;
type PublicKey<V> = signature::PublicKey<Cycloid, V>;
type Signature<V> = signature::Signature<Cycloid, V>;

/// More than the stack in which a key is made and moved.
const KEY_STACK: usize = stack_use::BLS_KEY + 4096;

/// The signatures that are verified at once. More of them cost less each, fewer fill more threads.
const AT_ONCE: Piece = Piece { least: 2 * LANES, most: 16 * LANES };

struct Verification<'a, V: Variant>
where
    Cycloid: SignatureBackend<V>,
{
    key: PublicKey<V>,
    /// Nothing if it cannot be decoded.
    signature: Option<Signature<V>>,
    message: &'a [u8],
    outcome: Result<bool, cycloid::bls12_381::Error>,
}

/// Verifies signatures at once, and one half after the other if one of them is not valid.
fn verify_piece<V: Variant>(scheme: Scheme, piece: &mut [Verification<'_, V>])
where
    Cycloid: SignatureBackend<V>,
{
    use cycloid::bls12_381::Error;

    let sound = piece.iter().filter_map(|job| Some((job.key, job.signature?, job.message)));
    let sound: Vec<_> = sound.collect();
    let outcome = if sound.is_empty() {
        // None of them can be decoded.
        Err(Error::Verification)
    } else if let [(key, signature, message)] = &sound[..] {
        key.verify(scheme, message, signature)
    } else {
        let keys: Vec<_> = sound.iter().map(|(key, ..)| *key).collect();
        let signatures: Vec<_> = sound.iter().map(|(_, signature, _)| *signature).collect();
        let messages: Vec<_> = sound.iter().map(|(.., message)| *message).collect();
        batch_verify(scheme, &keys, &messages, &signatures, &mut SysRng)
    };
    match outcome {
        Err(Error::Verification) if sound.len() > 1 => {
            let (first, second) = piece.split_at_mut(piece.len() / 2);
            verify_piece(scheme, first);
            verify_piece(scheme, second);
        }
        outcome => {
            let outcome = match outcome {
                Ok(()) => Ok(true),
                Err(Error::Verification) => Ok(false),
                Err(error) => Err(error),
            };
            for job in piece {
                job.outcome = if job.signature.is_some() { outcome } else { Ok(false) };
            }
        }
    }
}

macro_rules! variant {
    (
        $module:ident, $variant:ident, $path:literal, $doc:literal, $key_bytes:literal,
        $signature_bytes:literal
    ) => {
        #[doc = $doc]
        pub(crate) mod $module {
            use std::collections::HashMap;

            use pyo3::prelude::*;
            use pyo3::types::PyBytes;
            use zeroize::Zeroizing;

            use super::*;
            use crate::batch;
            use crate::error::{self, OrRaise, signature as not_valid};
            use crate::input::{Bytes, Instance, Many, same_count};

            /// A private key for BLS signatures. It is wiped when it is no longer used.
            #[pyclass(frozen, module = $path)]
            pub(crate) struct PrivateKey(Box<SecretKey<$variant>>);

            /// A public key for BLS signatures: a member of its group, and not infinity.
            #[pyclass(frozen, eq, module = $path)]
            #[derive(PartialEq)]
            pub(crate) struct PublicKey(super::PublicKey<$variant>);

            /// A BLS signature, or a sum of signatures: a member of its group.
            #[pyclass(frozen, eq, module = $path)]
            #[derive(PartialEq)]
            pub(crate) struct Signature(super::Signature<$variant>);

            /// Makes a private key in the place where it stays, and leaves no other copy of it.
            fn placed(
                py: Python<'_>,
                make: impl FnOnce() -> Result<SecretKey<$variant>, cycloid::bls12_381::Error> + Send,
            ) -> PyResult<PrivateKey> {
                let make = || stack::clean(KEY_STACK, || make().map(Box::new));
                py.detach(make).map(PrivateKey).or_raise()
            }

            #[pymethods]
            impl PrivateKey {
                /// Generates a key.
                #[staticmethod]
                fn generate(py: Python<'_>) -> PyResult<Self> {
                    placed(py, || SecretKey::generate(&mut SysRng))
                }

                /// Derives a key from at least 32 secret bytes (KeyGen of the draft).
                #[staticmethod]
                #[pyo3(signature = (key_material, key_info = None))]
                fn derive(
                    py: Python<'_>,
                    key_material: Bytes<'_>,
                    key_info: Option<Bytes<'_>>,
                ) -> PyResult<Self> {
                    let material: &[u8] = &key_material;
                    let info: &[u8] = key_info.as_deref().unwrap_or(&[]);
                    placed(py, || SecretKey::key_gen(material, info))
                }

                /// Derives a key from a seed along a path of indices, as in EIP-2333 and EIP-2334.
                #[staticmethod]
                fn derive_path(py: Python<'_>, seed: Bytes<'_>, path: Vec<u32>) -> PyResult<Self> {
                    let seed: &[u8] = &seed;
                    placed(py, || SecretKey::derive_path(seed, &path))
                }

                /// Reads a key of 32 bytes, big-endian.
                #[staticmethod]
                fn from_bytes(py: Python<'_>, data: Bytes<'_>) -> PyResult<Self> {
                    let data: &[u8] = &data;
                    placed(py, || SecretKey::from_bytes(data))
                }

                /// Returns the key's 32 bytes, big-endian.
                fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
                    PyBytes::new(py, &*Zeroizing::new(self.0.to_bytes()))
                }

                /// The public key.
                #[getter]
                fn public_key(&self, py: Python<'_>) -> PublicKey {
                    let key = &*self.0;
                    PublicKey(py.detach(|| key.public_key()))
                }

                /// Signs a message. `scheme` is what protects aggregates against rogue keys:
                /// "basic", "augmented" or "possession".
                #[pyo3(
                    signature = (message, *, scheme = SchemeName::default()),
                    text_signature = "($self, message, *, scheme='possession')"
                )]
                fn sign(&self, py: Python<'_>, message: Bytes<'_>, scheme: SchemeName) -> Signature {
                    let (key, message): (_, &[u8]) = (&*self.0, &message);
                    Signature(py.detach(|| key.sign(scheme.0, message)))
                }

                /// Shares the key among holders, any `threshold` of whom can sign together. Returns
                /// the key of each; their numbers are 1, 2, and so on.
                fn share(
                    &self,
                    py: Python<'_>,
                    threshold: usize,
                    holders: u16,
                ) -> PyResult<Vec<Self>> {
                    let key = &*self.0;
                    let share = || {
                        let mut shares: Vec<_> = (0..holders).map(|_| None).collect();
                        signature::share(key, threshold, &mut shares, &mut SysRng)?;
                        // Clones, because the shares are wiped where they are.
                        let keys = shares.iter().flatten().map(|it| Box::new(it.key.clone()));
                        Ok::<_, cycloid::bls12_381::Error>(keys.collect::<Vec<_>>())
                    };
                    let keys = py.detach(|| stack::clean(KEY_STACK, share)).or_raise()?;
                    Ok(keys.into_iter().map(Self).collect())
                }

                /// Returns the proof that the owner of the public key has the private key.
                fn prove_possession(&self, py: Python<'_>) -> Signature {
                    let key = &*self.0;
                    Signature(py.detach(|| key.prove_possession()))
                }

                fn __repr__(&self) -> &'static str {
                    concat!("<", $path, ".PrivateKey>")
                }

                fn __reduce__(&self) -> PyResult<()> {
                    Err(error::secret_copy())
                }
            }

            #[pymethods]
            impl PublicKey {
                #[doc = concat!("Reads a key of ", $key_bytes, " bytes, or an uncompressed one of twice as many.")]
                #[staticmethod]
                fn from_bytes(py: Python<'_>, data: Bytes<'_>) -> PyResult<Self> {
                    let data: &[u8] = &data;
                    py.detach(|| super::PublicKey::from_bytes(data)).map(Self).or_raise()
                }

                #[doc = concat!("Returns the key's ", $key_bytes, " bytes.")]
                fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
                    PyBytes::new(py, &self.0.to_bytes())
                }

                /// Adds keys up.
                #[staticmethod]
                fn aggregate(py: Python<'_>, keys: Vec<Instance<'_, PublicKey>>) -> PyResult<Self> {
                    let keys = points(&keys);
                    py.detach(|| super::PublicKey::aggregate(&keys)).map(Self).or_raise()
                }

                /// Verifies a signature; raises InvalidSignature unless it is valid. `scheme` is
                /// that of `PrivateKey.sign`.
                #[pyo3(
                    signature = (signature, message, *, scheme = SchemeName::default()),
                    text_signature = "($self, signature, message, *, scheme='possession')"
                )]
                fn verify(
                    &self,
                    py: Python<'_>,
                    signature: GivenSignature,
                    message: Bytes<'_>,
                    scheme: SchemeName,
                ) -> PyResult<()> {
                    let signature = signature.decoded(py).ok_or_else(not_valid)?;
                    let (key, message): (_, &[u8]) = (&self.0, &message);
                    py.detach(|| key.verify(scheme.0, message, &signature)).or_raise()
                }

                /// Verifies the proof that the owner of this key has the private key; raises
                /// InvalidSignature unless it is valid.
                fn verify_possession(&self, py: Python<'_>, proof: GivenSignature) -> PyResult<()> {
                    let proof = proof.decoded(py).ok_or_else(not_valid)?;
                    let key = &self.0;
                    py.detach(|| key.verify_possession(&proof)).or_raise()
                }

                fn __repr__(&self) -> &'static str {
                    concat!("<", $path, ".PublicKey>")
                }

                fn __hash__(&self) -> u64 {
                    crate::output::hash(&self.0.to_bytes())
                }

                fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
                    crate::output::restore(py, concat!(stringify!($module), "_key"), (self.to_bytes(py),))
                }
            }

            #[pymethods]
            impl Signature {
                #[doc = concat!("Reads a signature of ", $signature_bytes, " bytes, or an uncompressed one of twice as many.")]
                #[staticmethod]
                fn from_bytes(py: Python<'_>, data: Bytes<'_>) -> PyResult<Self> {
                    let data: &[u8] = &data;
                    let signature = py.detach(|| super::Signature::from_bytes(data));
                    signature.map(Self).map_err(|error| {
                        error::InvalidSignature::new_err(error.to_string())
                    })
                }

                #[doc = concat!("Returns the signature's ", $signature_bytes, " bytes.")]
                fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
                    PyBytes::new(py, &self.0.to_bytes())
                }

                /// Adds signatures up.
                #[staticmethod]
                fn aggregate(py: Python<'_>, signatures: Vec<Instance<'_, Signature>>) -> PyResult<Self> {
                    let signatures: Vec<_> =
                        signatures.iter().map(|signature| signature.get().0).collect();
                    py.detach(|| super::Signature::aggregate(&signatures)).map(Self).or_raise()
                }

                fn __bytes__<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
                    self.to_bytes(py)
                }

                fn __repr__(&self) -> &'static str {
                    concat!("<", $path, ".Signature>")
                }

                fn __hash__(&self) -> u64 {
                    crate::output::hash(&self.0.to_bytes())
                }

                fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
                    crate::output::restore(py, concat!(stringify!($module), "_signature"), (self.to_bytes(py),))
                }
            }

            /// A signature, or its bytes.
            pub(crate) enum GivenSignature<'py> {
                Object(super::Signature<$variant>),
                Bytes(Bytes<'py>),
            }

            impl<'py> FromPyObject<'_, 'py> for GivenSignature<'py> {
                type Error = PyErr;

                fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
                    match object.cast::<Signature>() {
                        Ok(signature) => Ok(Self::Object(signature.get().0)),
                        Err(_) => object.extract().map(Self::Bytes),
                    }
                }
            }

            impl GivenSignature<'_> {
                /// Returns the signature, unless its bytes are not one.
                fn decoded(&self, py: Python<'_>) -> Option<super::Signature<$variant>> {
                    match self {
                        Self::Object(signature) => Some(*signature),
                        Self::Bytes(bytes) => {
                            let bytes: &[u8] = bytes;
                            py.detach(|| super::Signature::from_bytes(bytes)).ok()
                        }
                    }
                }
            }

            fn points(keys: &[Instance<'_, PublicKey>]) -> Vec<super::PublicKey<$variant>> {
                keys.iter().map(|key| key.get().0).collect()
            }

            /// Verifies an aggregate of signatures, of one message by each key; raises
            /// InvalidSignature unless it is valid. In the scheme "basic", the messages differ.
            #[pyfunction]
            #[pyo3(
                signature = (keys, messages, signature, *, scheme = SchemeName::default()),
                text_signature = "(keys, messages, signature, *, scheme='possession')"
            )]
            pub(crate) fn aggregate_verify(
                py: Python<'_>,
                keys: Vec<Instance<'_, PublicKey>>,
                messages: Many<'_>,
                signature: GivenSignature<'_>,
                scheme: SchemeName,
            ) -> PyResult<()> {
                let signature = signature.decoded(py).ok_or_else(not_valid)?;
                let (keys, messages) = (points(&keys), messages.slices());
                let verify = || signature::aggregate_verify(scheme.0, &keys, &messages, &signature);
                py.detach(verify).or_raise()
            }

            /// Verifies an aggregate of signatures of one message, by keys whose possession has been
            /// proved; raises InvalidSignature unless it is valid.
            #[pyfunction]
            pub(crate) fn fast_aggregate_verify(
                py: Python<'_>,
                keys: Vec<Instance<'_, PublicKey>>,
                message: Bytes<'_>,
                signature: GivenSignature<'_>,
            ) -> PyResult<()> {
                let signature = signature.decoded(py).ok_or_else(not_valid)?;
                let (keys, message): (_, &[u8]) = (points(&keys), &message);
                let verify = || signature::fast_aggregate_verify(&keys, message, &signature);
                py.detach(verify).or_raise()
            }

            /// Recovers a shared key from the keys of at least as many holders as the threshold, by
            /// their numbers. Fewer give another key.
            #[pyfunction]
            pub(crate) fn recover_private_key(
                py: Python<'_>,
                shares: HashMap<u32, Instance<'_, PrivateKey>>,
            ) -> PyResult<PrivateKey> {
                let keys: Vec<_> = shares.iter().map(|(number, key)| (*number, key.get())).collect();
                placed(py, || {
                    let share = |(number, key): &(u32, &PrivateKey)| {
                        signature::Share { number: *number, key: (*key.0).clone() }
                    };
                    let shares: Vec<_> = keys.iter().map(share).collect();
                    signature::recover_secret_key(&shares)
                })
            }

            /// Recovers the public key of a shared key from those of at least as many holders as the
            /// threshold, by their numbers.
            #[pyfunction]
            pub(crate) fn recover_public_key(
                py: Python<'_>,
                shares: HashMap<u32, Instance<'_, PublicKey>>,
            ) -> PyResult<PublicKey> {
                let keys: Vec<_> = shares.iter().map(|(number, key)| (*number, key.get().0)).collect();
                py.detach(|| signature::recover_public_key(&keys)).map(PublicKey).or_raise()
            }

            /// Recovers a shared key's signature from signatures of one message by at least as many
            /// holders as the threshold, by their numbers. With fewer or wrong ones, the result does
            /// not verify.
            #[pyfunction]
            pub(crate) fn recover_signature(
                py: Python<'_>,
                shares: HashMap<u32, Instance<'_, Signature>>,
            ) -> PyResult<Signature> {
                let shares: Vec<_> =
                    shares.iter().map(|(number, share)| (*number, share.get().0)).collect();
                py.detach(|| signature::recover_signature(&shares)).map(Signature).or_raise()
            }

            /// Verifies many signatures at once, with random weights, on as many threads as there
            /// are processors: each of its own message by its own key. Returns a list of bools.
            #[pyfunction]
            #[pyo3(
                signature = (keys, signatures, messages, *, scheme = SchemeName::default(), threads = None),
                text_signature = "(keys, signatures, messages, *, scheme='possession', threads=None)"
            )]
            pub(crate) fn verify_many<'py>(
                py: Python<'py>,
                keys: Vec<Instance<'py, PublicKey>>,
                signatures: Vec<GivenSignature<'py>>,
                messages: Many<'py>,
                scheme: SchemeName,
                threads: Option<usize>,
            ) -> PyResult<Vec<bool>> {
                let messages = messages.slices();
                same_count(["keys", "signatures"], [keys.len(), signatures.len()])?;
                same_count(["signatures", "messages"], [signatures.len(), messages.len()])?;
                let inputs = keys.iter().zip(&signatures).zip(messages);
                let mut jobs: Vec<_> = inputs
                    .map(|((key, signature), message)| Verification {
                        key: key.get().0,
                        signature: signature.decoded(py),
                        message,
                        outcome: Ok(false),
                    })
                    .collect();
                batch::run(py, &mut jobs, threads, AT_ONCE, |piece| verify_piece(scheme.0, piece))?;
                jobs.iter().map(|job| job.outcome.or_raise()).collect()
            }
        }
    };
}

variant!(
    min_pk,
    MinPk,
    "cycloid.bls.min_pk",
    "Keys of 48 bytes and signatures of 96, as Ethereum has them.",
    "48",
    "96"
);
variant!(
    min_sig,
    MinSig,
    "cycloid.bls.min_sig",
    "Signatures of 48 bytes and keys of 96.",
    "96",
    "48"
);
