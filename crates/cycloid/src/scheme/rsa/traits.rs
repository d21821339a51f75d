//! Implementations of the traits of the crate `signature`: signatures with PKCS #1 v1.5 padding,
//! and RSASSA-PSS with a salt as long as the digest.

use core::cell::RefCell;

use rand_core::CryptoRng;
use signature::hazmat::{PrehashSigner, PrehashVerifier};
use signature::{Keypair, MultipartSigner, MultipartVerifier, SignatureEncoding, Signer, Verifier};

use super::{Context, Error, MAX_BITS, MIN_BITS, Pss, PublicKey, verify_scratch_limbs};
use crate::machine::words::Limb;
use crate::scheme::Hash;

/// A signature by a key of any length.
#[derive(Clone)]
pub struct Signature {
    bytes: [u8; MAX_BITS / 8],
    length: usize,
}

impl AsRef<[u8]> for Signature {
    fn as_ref(&self) -> &[u8] {
        &self.bytes[..self.length]
    }
}

impl PartialEq for Signature {
    fn eq(&self, other: &Self) -> bool {
        self.as_ref() == other.as_ref()
    }
}

impl Eq for Signature {}

impl core::fmt::Debug for Signature {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("rsa::Signature(")?;
        self.as_ref().iter().try_for_each(|byte| write!(f, "{byte:02x}"))?;
        f.write_str(")")
    }
}

/// Reads the bytes of a signature in the standard's form, as long as the modulus.
impl TryFrom<&[u8]> for Signature {
    type Error = signature::Error;

    fn try_from(bytes: &[u8]) -> Result<Self, signature::Error> {
        if !(MIN_BITS.div_ceil(8)..=MAX_BITS / 8).contains(&bytes.len()) {
            return Err(signature::Error::new());
        }
        let mut signature = Self { bytes: [0; MAX_BITS / 8], length: bytes.len() };
        signature.bytes[..bytes.len()].copy_from_slice(bytes);
        Ok(signature)
    }
}

impl SignatureEncoding for Signature {
    type Repr = Self;
}

/// The signature scheme and its hash function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Scheme {
    padding: Padding,
    hash: Hash,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Padding {
    Pkcs1v15,
    Pss,
}

/// A public key in the memory `M`, with its signature scheme.
///
/// Verifying uses about five kilobytes of stack as scratch.
#[derive(Clone, Copy, Debug)]
pub struct VerifyingKey<M: AsRef<[Limb]>> {
    key: PublicKey<M>,
    scheme: Scheme,
}

impl<M: AsRef<[Limb]>> VerifyingKey<M> {
    /// Creates a key for signatures with PKCS #1 v1.5 padding. If the RSA key does not permit them,
    /// no signature is valid.
    pub const fn pkcs1v15(key: PublicKey<M>, hash: Hash) -> Self {
        Self { key, scheme: Scheme { padding: Padding::Pkcs1v15, hash } }
    }

    /// Creates a key for RSASSA-PSS with a salt as long as the digest. If the RSA key does not
    /// permit it, no signature is valid.
    pub const fn pss(key: PublicKey<M>, hash: Hash) -> Self {
        Self { key, scheme: Scheme { padding: Padding::Pss, hash } }
    }

    /// Returns the RSA key alone.
    pub const fn public(&self) -> &PublicKey<M> {
        &self.key
    }
}

impl<M: AsRef<[Limb]>> PrehashVerifier<Signature> for VerifyingKey<M> {
    fn verify_prehash(&self, digest: &[u8], signature: &Signature) -> Result<(), signature::Error> {
        let mut scratch = [0; verify_scratch_limbs(MAX_BITS)];
        let Self { key, scheme: Scheme { padding, hash } } = self;
        let signature = signature.as_ref();
        let outcome = match padding {
            Padding::Pkcs1v15 => {
                key.verify_pkcs1v15_prehashed(*hash, digest, signature, &mut scratch)
            }
            Padding::Pss => {
                let salt = Some(hash.digest_length());
                key.verify_pss_prehashed(*hash, digest, salt, signature, &mut scratch)
            }
        };
        outcome.map_err(|_| signature::Error::new())
    }
}

impl<M: AsRef<[Limb]>> MultipartVerifier<Signature> for VerifyingKey<M> {
    fn multipart_verify(
        &self,
        message: &[&[u8]],
        signature: &Signature,
    ) -> Result<(), signature::Error> {
        self.verify_prehash(&self.scheme.hash.digest(message), signature)
    }
}

impl<M: AsRef<[Limb]>> Verifier<Signature> for VerifyingKey<M> {
    fn verify(&self, message: &[u8], signature: &Signature) -> Result<(), signature::Error> {
        self.multipart_verify(&[message], signature)
    }
}

/// A context with its signature scheme.
///
/// The traits sign through a shared reference, but each signature changes the context's blinding.
/// Therefore the context is in a cell, and a signing key, like a context, belongs to one thread.
///
/// ```
/// use cycloid::scheme::Hash;
/// use cycloid::scheme::rsa::{self, Context, PrivateKey, Signature, SigningKey};
/// use signature::{Keypair, Signer, Verifier};
///
/// # fn example(rng: &mut impl rand_core::CryptoRng) -> Result<(), Box<dyn std::error::Error>> {
/// # const BITS: usize = 2048;
/// # let mut scratch = [cycloid::machine::lanes::Lanes([0; 8]); rsa::generate_scratch_lanes(BITS)];
/// # let memory = [0; rsa::private_key_limbs(BITS)];
/// let key = PrivateKey::generate(BITS, 65537, memory, rng, &mut scratch)?;
/// let mut memory = [0; rsa::context_limbs(BITS)];
/// let key = SigningKey::pss(Context::new(&key, rng, &mut memory)?, Hash::Sha256)?;
///
/// let signature: Signature = key.try_sign(b"message")?;
/// key.verifying_key().verify(b"message", &signature)?;
/// # Ok(())
/// # }
/// ```
pub struct SigningKey<'a, M: AsRef<[Limb]> + AsMut<[Limb]>, R> {
    context: RefCell<Context<'a, M, R>>,
    verifying_key: VerifyingKey<&'a [Limb]>,
}

impl<M: AsRef<[Limb]> + AsMut<[Limb]>, R> core::fmt::Debug for SigningKey<'_, M, R> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "rsa::SigningKey({:?})", self.verifying_key)
    }
}

impl<'a, M: AsRef<[Limb]> + AsMut<[Limb]>, R: CryptoRng> SigningKey<'a, M, R> {
    /// Creates a key for signatures with PKCS #1 v1.5 padding.
    ///
    /// # Errors
    /// [`Error::HashRetired`], [`Error::Restricted`].
    pub fn pkcs1v15(context: Context<'a, M, R>, hash: Hash) -> Result<Self, Error> {
        let verifying_key = VerifyingKey::pkcs1v15(context.key().public(), hash);
        Self::new(context, verifying_key)
    }

    /// Creates a key for RSASSA-PSS with a salt as long as the digest.
    ///
    /// # Errors
    /// [`Error::HashRetired`], [`Error::RestrictedPss`].
    pub fn pss(context: Context<'a, M, R>, hash: Hash) -> Result<Self, Error> {
        let verifying_key = VerifyingKey::pss(context.key().public(), hash);
        Self::new(context, verifying_key)
    }

    fn new(
        context: Context<'a, M, R>,
        verifying_key: VerifyingKey<&'a [Limb]>,
    ) -> Result<Self, Error> {
        let Scheme { padding, hash } = verifying_key.scheme;
        if hash.is_retired() {
            return Err(Error::HashRetired);
        }
        let restriction = verifying_key.key.restriction();
        match padding {
            Padding::Pkcs1v15 => restriction.allows_all()?,
            Padding::Pss => restriction.allows_pss(Pss::new(hash))?,
        }
        Ok(Self { context: RefCell::new(context), verifying_key })
    }
}

impl<'a, M: AsRef<[Limb]> + AsMut<[Limb]>, R> Keypair for SigningKey<'a, M, R> {
    type VerifyingKey = VerifyingKey<&'a [Limb]>;

    fn verifying_key(&self) -> Self::VerifyingKey {
        self.verifying_key
    }
}

impl<M: AsRef<[Limb]> + AsMut<[Limb]>, R: CryptoRng> PrehashSigner<Signature>
    for SigningKey<'_, M, R>
{
    fn sign_prehash(&self, digest: &[u8]) -> Result<Signature, signature::Error> {
        // Already borrowed only if the random generator itself signs with this key.
        let mut context = self.context.try_borrow_mut().map_err(|_| signature::Error::new())?;
        let VerifyingKey { key, scheme: Scheme { padding, hash } } = self.verifying_key;
        let mut signature = Signature { bytes: [0; MAX_BITS / 8], length: key.length() };
        let bytes = &mut signature.bytes[..signature.length];
        let outcome = match padding {
            Padding::Pkcs1v15 => context.sign_pkcs1v15_prehashed(hash, digest, bytes),
            Padding::Pss => context.sign_pss_prehashed(hash, digest, hash.digest_length(), bytes),
        };
        outcome.map(|()| signature).map_err(|_| signature::Error::new())
    }
}

impl<M: AsRef<[Limb]> + AsMut<[Limb]>, R: CryptoRng> MultipartSigner<Signature>
    for SigningKey<'_, M, R>
{
    fn try_multipart_sign(&self, message: &[&[u8]]) -> Result<Signature, signature::Error> {
        self.sign_prehash(&self.verifying_key.scheme.hash.digest(message))
    }
}

impl<M: AsRef<[Limb]> + AsMut<[Limb]>, R: CryptoRng> Signer<Signature> for SigningKey<'_, M, R> {
    fn try_sign(&self, message: &[u8]) -> Result<Signature, signature::Error> {
        self.try_multipart_sign(&[message])
    }
}
