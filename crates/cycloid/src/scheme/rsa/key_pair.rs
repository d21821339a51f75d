//! A key pair that owns its memory, for programs with a heap.

use alloc::boxed::Box;
#[cfg(feature = "encoding")]
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;

use rand_core::CryptoRng;
use zeroize::Zeroizing;

#[cfg(feature = "encoding")]
use super::FormatError;
use super::context::{context_limbs, run};
#[cfg(feature = "encoding")]
use super::encoding::{private_key_der_length, private_key_pem_length};
use super::generate::check_generated_length;
use super::operation::{Operation, Purpose};
use super::private::any_private_key_scratch_limbs;
use super::{
    DigestInfo, Error, Hash, HashFunction, MAX_BITS, Oaep, OwnedPublicKey, PrivateComponents,
    PrivateKey, Pss, Restriction, Signature, SignatureScheme, check_primes_scratch_limbs,
    generate_scratch_limbs, private_key_limbs,
};
use crate::machine::ct;
use crate::machine::pool::Pool;
use crate::machine::words::{LIMB_BITS, Limb};

/// The number of contexts that a key keeps for later. More threads may use a key at a time.
const CONTEXTS: usize = 16;

/// The public exponent of generated keys.
const EXPONENT: u32 = 65537;

/// A private key with its public key, checked once and used by any number of threads.
///
/// A clone is the same key. Each operation takes a context (blinding and working memory) from a
/// pool in the key, or makes one; so after the first, operations allocate no memory. All memory is
/// wiped when the last clone is dropped.
///
/// ```
/// # #[cfg(feature = "encoding")] {
/// use cycloid::scheme::Hash;
/// use cycloid::scheme::rsa::{KeyPair, SignatureScheme};
/// # use {getrandom::SysRng, rand_core::UnwrapErr};
/// # let pem = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/rsa/2048.pem"));
/// # let mut rng = UnwrapErr(SysRng);
///
/// let key = KeyPair::from_pem(pem)?;
/// let signature = key.sign(SignatureScheme::pss(Hash::Sha256), b"message", &mut rng)?;
/// key.public_key().verify(SignatureScheme::pss(Hash::Sha256), b"message", &signature)?;
/// # }
/// # Ok::<(), cycloid::scheme::rsa::Error>(())
/// ```
#[derive(Clone)]
pub struct KeyPair(Arc<Shared>);

struct Shared {
    key: PrivateKey<Box<[Limb]>>,
    public: OwnedPublicKey,
    contexts: Pool<Memory, CONTEXTS>,
}

/// The memory of a context; wiped when dropped.
struct Memory(Box<[Limb]>);

impl Drop for Memory {
    fn drop(&mut self) {
        ct::wipe(&mut self.0);
    }
}

/// Prints only the public parts of the key.
impl core::fmt::Debug for KeyPair {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let key = &self.0.public;
        write!(f, "rsa::KeyPair({} bits, e = {})", key.bits(), key.exponent())
    }
}

impl KeyPair {
    /// Generates a key of exactly `bits` bits, an even number, with the public exponent 65537.
    ///
    /// # Errors
    /// [`Error::GeneratedLength`], [`Error::RandomGenerator`], as [`PrivateKey::generate`].
    pub fn generate(bits: usize, rng: &mut impl CryptoRng) -> Result<Self, Error> {
        check_generated_length(bits)?;
        let mut scratch = vec![0; generate_scratch_limbs(bits)];
        let memory = boxed(private_key_limbs(bits));
        Ok(Self::new(PrivateKey::generate(bits, EXPONENT, memory, rng, &mut scratch)?))
    }

    /// Creates a key from its parts, checked as by [`PrivateKey::new`].
    ///
    /// # Errors
    /// As [`PrivateKey::new`].
    pub fn from_components(components: &PrivateComponents<'_>) -> Result<Self, Error> {
        let mut scratch = boxed(any_private_key_scratch_limbs(MAX_BITS));
        Self::of_any_length(|memory| PrivateKey::new(components, memory, &mut scratch))
    }

    /// Reads a key from DER: PKCS #8 or PKCS #1.
    ///
    /// # Errors
    /// As [`PrivateKey::from_der`].
    #[cfg(feature = "encoding")]
    pub fn from_der(der: &[u8]) -> Result<Self, Error> {
        let mut scratch = boxed(any_private_key_scratch_limbs(MAX_BITS));
        Self::of_any_length(|memory| PrivateKey::from_der(der, memory, &mut scratch))
    }

    /// Reads the first private key in a PEM text, labelled `PRIVATE KEY` or `RSA PRIVATE KEY`.
    ///
    /// # Errors
    /// As [`PrivateKey::from_pem`].
    #[cfg(feature = "encoding")]
    pub fn from_pem(pem: impl AsRef<[u8]>) -> Result<Self, Error> {
        let pem = pem.as_ref();
        let decoded = pem.len().div_ceil(size_of::<Limb>());
        let mut scratch = boxed(any_private_key_scratch_limbs(MAX_BITS) + decoded);
        Self::of_any_length(|memory| PrivateKey::from_pem(pem, memory, &mut scratch))
    }

    /// Writes the key as PKCS #8 in DER.
    #[cfg(feature = "encoding")]
    pub fn to_pkcs8_der(&self) -> Zeroizing<Vec<u8>> {
        let key = &self.0.key;
        written(private_key_der_length(key.bits()), |output| {
            key.to_pkcs8_der(output).map(<[u8]>::len)
        })
    }

    /// Writes the key as PKCS #8 in PEM.
    #[cfg(feature = "encoding")]
    pub fn to_pkcs8_pem(&self) -> Zeroizing<String> {
        let key = &self.0.key;
        let mut text = written(private_key_pem_length(key.bits()), |output| {
            key.to_pkcs8_pem(output).map(str::len)
        });
        let text = String::from_utf8(core::mem::take(&mut *text));
        Zeroizing::new(text.expect("PEM is ASCII"))
    }

    /// Reads a key with memory for the longest one, and moves it to memory of its own length.
    fn of_any_length(
        read: impl FnOnce(Box<[Limb]>) -> Result<PrivateKey<Box<[Limb]>>, Error>,
    ) -> Result<Self, Error> {
        let key = read(boxed(private_key_limbs(MAX_BITS)))?;
        Ok(Self::new(key.copied_to(boxed(private_key_limbs(key.bits())))))
    }

    fn new(key: PrivateKey<Box<[Limb]>>) -> Self {
        let public = OwnedPublicKey::copy_of(&key.public());
        Self(Arc::new(Shared { key, public, contexts: Pool::default() }))
    }

    /// Returns the key with a further restriction, as [`PrivateKey::restricted`].
    ///
    /// # Errors
    /// [`Error::Restricted`], [`Error::RestrictedPss`], [`Error::SaltTooLong`].
    pub fn restricted(self, to: Restriction) -> Result<Self, Error> {
        let key = &self.0.key;
        Ok(Self::new(key.copied_to(boxed(private_key_limbs(key.bits()))).restricted(to)?))
    }

    /// Returns the public key.
    pub fn public_key(&self) -> &OwnedPublicKey {
        &self.0.public
    }

    /// Returns the private key, for operations on the caller's memory.
    pub fn private_key(&self) -> &PrivateKey<Box<[Limb]>> {
        &self.0.key
    }

    /// Tests whether the primes are prime, as [`PrivateKey::check_primes`].
    ///
    /// # Errors
    /// [`KeyError::Composite`](crate::scheme::rsa::KeyError::Composite),
    /// [`Error::RandomGenerator`].
    pub fn check_primes(&self, rounds: usize, rng: &mut impl CryptoRng) -> Result<(), Error> {
        let key = self.0.key.borrowed();
        let longest = key.factors().map(|factor| factor.prime.len()).max().unwrap_or(0);
        let mut scratch = boxed(check_primes_scratch_limbs(2 * longest * LIMB_BITS));
        self.0.key.check_primes(rounds, rng, &mut scratch)
    }

    // The functions with a scheme are inlined up to the program's call: `Hash::function`.

    /// Signs a message.
    ///
    /// # Errors
    /// [`Error::HashRetired`], [`Error::HashUnsuitable`], [`Error::Restricted`],
    /// [`Error::RestrictedPss`], [`Error::SaltTooLong`], [`Error::RandomGenerator`],
    /// [`Error::Fault`].
    #[inline(always)]
    pub fn sign(
        &self,
        scheme: SignatureScheme,
        message: &[u8],
        rng: &mut impl CryptoRng,
    ) -> Result<Signature, Error> {
        self.sign_prehashed(scheme, &scheme.hash().digest(&[message]), rng)
    }

    /// Signs a message given by its digest.
    ///
    /// # Errors
    /// As [`sign`](Self::sign), and [`Error::DigestLength`].
    #[inline(always)]
    pub fn sign_prehashed(
        &self,
        scheme: SignatureScheme,
        digest: &[u8],
        rng: &mut impl CryptoRng,
    ) -> Result<Signature, Error> {
        match scheme {
            SignatureScheme::Pkcs1v15(hash) => self.sign_pkcs1v15(hash, digest, rng),
            SignatureScheme::Pss(pss) => self.sign_pss_with(pss.general(), digest, rng),
        }
    }

    fn sign_pkcs1v15(
        &self,
        hash: Hash,
        digest: &[u8],
        rng: &mut impl CryptoRng,
    ) -> Result<Signature, Error> {
        let mut signature = Signature::blank(self.0.public.length());
        let operation = Operation::sign_pkcs1v15(hash, digest, signature.bytes_mut());
        self.perform(operation?, rng)?;
        Ok(signature)
    }

    /// Signs a digest by any hash function with RSASSA-PKCS1-v1_5.
    ///
    /// # Errors
    /// As [`sign`](Self::sign); [`Error::HashRetired`] for a digest of fewer than 28 bytes.
    pub fn sign_digest_info(
        &self,
        info: &DigestInfo,
        rng: &mut impl CryptoRng,
    ) -> Result<Signature, Error> {
        let mut signature = Signature::blank(self.0.public.length());
        let operation = Operation::sign_digest_info(info.clone(), signature.bytes_mut());
        self.perform(operation?, rng)?;
        Ok(signature)
    }

    /// Signs a message given by its digest with RSASSA-PSS and hash functions of any kind.
    ///
    /// # Errors
    /// As [`sign`](Self::sign), and [`Error::DigestLength`]; [`Error::HashRetired`] for a digest of
    /// fewer than 28 bytes.
    pub fn sign_pss_with(
        &self,
        pss: Pss<impl Into<HashFunction>>,
        digest: &[u8],
        rng: &mut impl CryptoRng,
    ) -> Result<Signature, Error> {
        let mut signature = Signature::blank(self.0.public.length());
        let operation = Operation::sign_pss(pss.general(), digest, signature.bytes_mut());
        self.perform(operation?, rng)?;
        Ok(signature)
    }

    /// Decrypts with RSAES-OAEP (RFC 8017, section 7.1.2).
    ///
    /// # Errors
    /// [`Error::Length`], [`Error::OutOfRange`], [`Error::Decryption`], [`Error::HashUnsuitable`],
    /// [`Error::Restricted`], [`Error::RandomGenerator`], [`Error::Fault`].
    pub fn decrypt_oaep(
        &self,
        oaep: &Oaep<'_, impl Into<HashFunction> + Copy>,
        ciphertext: &[u8],
        rng: &mut impl CryptoRng,
    ) -> Result<Zeroizing<Vec<u8>>, Error> {
        let mut message = self.blank_message();
        let length =
            self.perform(Operation::decrypt_oaep(oaep.general(), ciphertext, &mut message), rng)?;
        message.truncate(length);
        Ok(message)
    }

    /// Decrypts with RSAES-PKCS1-v1_5 (RFC 8017, section 7.2.2). An invalid ciphertext is no error:
    /// its message is synthetic, always the same for the same ciphertext.
    ///
    /// # Errors
    /// [`Error::Length`], [`Error::OutOfRange`], [`Error::Restricted`],
    /// [`Error::RandomGenerator`], [`Error::Fault`].
    pub fn decrypt_pkcs1v15(
        &self,
        ciphertext: &[u8],
        rng: &mut impl CryptoRng,
    ) -> Result<Zeroizing<Vec<u8>>, Error> {
        let mut message = self.blank_message();
        let length = self.perform(Operation::decrypt_pkcs1v15(ciphertext, &mut message), rng)?;
        message.truncate(length);
        Ok(message)
    }

    /// Returns room for the longest message.
    fn blank_message(&self) -> Zeroizing<Vec<u8>> {
        Zeroizing::new(vec![0; self.0.public.length()])
    }

    /// Runs an operation in a context of the pool.
    fn perform(
        &self,
        mut operation: Operation<'_, impl Purpose>,
        rng: &mut impl CryptoRng,
    ) -> Result<usize, Error> {
        let Shared { key, contexts, .. } = &*self.0;
        let new = || Box::new(Memory(boxed(context_limbs(key.bits()))));
        let mut memory = contexts.take().unwrap_or_else(new);
        let outcome = run(&key.borrowed(), &mut operation, rng, &mut memory.0);
        contexts.put(memory);
        outcome
    }
}

/// Returns what `write` writes to memory of the given length, or of the length that it then needs.
#[cfg(feature = "encoding")]
fn written(length: usize, write: impl Fn(&mut [u8]) -> Result<usize, Error>) -> Zeroizing<Vec<u8>> {
    let mut output = Zeroizing::new(vec![0; length]);
    let outcome = match write(&mut output) {
        Err(Error::Format(FormatError::OutputTooSmall { needed, .. })) => {
            *output = vec![0; needed];
            write(&mut output)
        }
        outcome => outcome,
    };
    output.truncate(outcome.expect("the output is as long as needed"));
    output
}

/// Returns `limbs` zeros.
fn boxed(limbs: usize) -> Box<[Limb]> {
    vec![0; limbs].into_boxed_slice()
}
