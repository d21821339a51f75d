//! RSA keys, with reusable contexts.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use chacha20::ChaCha20Rng;
use cycloid::scheme::Hash;
use cycloid::scheme::rsa::{
    self, Context, MAX_BITS, PrivateKey, Pss, Restriction, check_primes_scratch_limbs,
    context_limbs, der_scratch_limbs, private_key_limbs, public_key_der_length,
};
use rustls::pki_types::SubjectPublicKeyInfoDer;
use rustls::sign::{Signer, SigningKey};
use rustls::{Error, SignatureAlgorithm, SignatureScheme};
use self_cell::{MutBorrow, self_cell};
use zeroize::Zeroizing;

use crate::random;
use crate::verification::digest;

/// The schemes of an unrestricted key (rsaEncryption), in order of preference.
const SCHEMES: [Scheme; 6] = [
    Scheme::new(SignatureScheme::RSA_PSS_SHA256, Hash::Sha256, true),
    Scheme::new(SignatureScheme::RSA_PSS_SHA384, Hash::Sha384, true),
    Scheme::new(SignatureScheme::RSA_PSS_SHA512, Hash::Sha512, true),
    Scheme::new(SignatureScheme::RSA_PKCS1_SHA256, Hash::Sha256, false),
    Scheme::new(SignatureScheme::RSA_PKCS1_SHA384, Hash::Sha384, false),
    Scheme::new(SignatureScheme::RSA_PKCS1_SHA512, Hash::Sha512, false),
];

/// The schemes of a key restricted to RSASSA-PSS: rsa_pss_pss_sha256 and so on (RFC 8446, section
/// 4.2.3), for which rustls has no names.
const PSS_SCHEMES: [Scheme; 3] = [
    Scheme::new(SignatureScheme::Unknown(0x0809), Hash::Sha256, true),
    Scheme::new(SignatureScheme::Unknown(0x080a), Hash::Sha384, true),
    Scheme::new(SignatureScheme::Unknown(0x080b), Hash::Sha512, true),
];

/// A signature scheme of TLS.
#[derive(Clone, Copy)]
struct Scheme {
    name: SignatureScheme,
    hash: Hash,
    is_pss: bool,
}

impl Scheme {
    const fn new(name: SignatureScheme, hash: Hash, is_pss: bool) -> Self {
        Self { name, hash, is_pss }
    }

    /// Returns whether the key permits the scheme. PSS in TLS uses one hash function, and a salt as
    /// long as the digest.
    fn is_allowed(&self, allowed: &Pss) -> bool {
        allowed.hash == self.hash
            && allowed.mask_hash == self.hash
            && allowed.salt_length <= self.hash.digest_length()
    }
}

/// Rounds of the Miller–Rabin test on each prime of a loaded key. One round detects a prime that is
/// composite by mistake; with a deliberately composite one, no signature is released anyway.
const ROUNDS: usize = 2;

type Memory = Box<[u64]>;

/// A key, shared with the handshakes in progress.
pub(super) struct RsaKey(Arc<Shared>);

struct Shared {
    key: Arc<PrivateKey<Memory>>,
    /// The schemes that the key can sign with.
    schemes: Vec<Scheme>,
    /// The contexts that are not in use.
    contexts: Mutex<Vec<OwnedContext>>,
}

/// The data that a context borrows.
struct Owner {
    key: Arc<PrivateKey<Memory>>,
    memory: MutBorrow<Memory>,
}

type KeyContext<'a> = Context<'a, Memory, ChaCha20Rng>;

self_cell!(
    /// A context with its key and its memory.
    struct OwnedContext {
        owner: Owner,
        #[not_covariant]
        dependent: KeyContext,
    }
);

impl RsaKey {
    /// Loads a key from PKCS #1 or PKCS #8.
    ///
    /// # Errors
    /// A description of the problem with the key.
    pub(super) fn from_der(der: &[u8]) -> Result<Self, String> {
        let said = |error: rsa::Error| error.to_string();
        let mut scratch = Zeroizing::new(vec![0; der_scratch_limbs(MAX_BITS)]);
        let memory: Memory = vec![0; private_key_limbs(MAX_BITS)].into();
        let key = PrivateKey::from_der(der, memory, &mut scratch).map_err(said)?;
        let schemes = schemes(key.restriction())?;
        let mut scratch = vec![0; check_primes_scratch_limbs(key.bits())];
        let mut rng = random::generator().map_err(|error| error.to_string())?;
        key.check_primes(ROUNDS, &mut rng, &mut scratch).map_err(said)?;
        Ok(Self(Arc::new(Shared { key: Arc::new(key), schemes, contexts: Mutex::default() })))
    }
}

/// Returns the schemes of a key with that restriction.
fn schemes(restriction: Restriction) -> Result<Vec<Scheme>, String> {
    let schemes: Vec<_> = match restriction {
        Restriction::None => SCHEMES.to_vec(),
        Restriction::PssWith(allowed) => {
            PSS_SCHEMES.into_iter().filter(|scheme| scheme.is_allowed(&allowed)).collect()
        }
        _ => PSS_SCHEMES.to_vec(),
    };
    match restriction {
        Restriction::PssWith(allowed) if schemes.is_empty() => Err(format!(
            "{}, for which TLS has no signature scheme",
            rsa::Error::RestrictedPss { allowed }
        )),
        _ => Ok(schemes),
    }
}

impl Shared {
    /// Returns an unused context, or a new one if all are in use.
    fn context(&self) -> Result<OwnedContext, Error> {
        // A panic cannot leave the list in an inconsistent state.
        let free = self.contexts.lock().unwrap_or_else(PoisonError::into_inner).pop();
        if let Some(context) = free {
            return Ok(context);
        }
        let rng = random::generator()?;
        let memory = vec![0; context_limbs(self.key.bits())].into();
        let owner = Owner { key: Arc::clone(&self.key), memory: MutBorrow::new(memory) };
        OwnedContext::try_new(owner, |owner| {
            Context::new(&owner.key, rng, owner.memory.borrow_mut())
        })
        .map_err(failed)
    }

    fn give_back(&self, context: OwnedContext) {
        self.contexts.lock().unwrap_or_else(PoisonError::into_inner).push(context);
    }
}

fn failed(error: rsa::Error) -> Error {
    Error::General(format!("RSA signing failed: {error}"))
}

impl fmt::Debug for RsaKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Cycloid RSA key of {} bits", self.0.key.bits())
    }
}

impl SigningKey for RsaKey {
    fn choose_scheme(&self, offered: &[SignatureScheme]) -> Option<Box<dyn Signer>> {
        let schemes = &self.0.schemes;
        let scheme = *schemes.iter().find(|scheme| offered.contains(&scheme.name))?;
        Some(Box::new(RsaSigner { key: Arc::clone(&self.0), scheme }))
    }

    fn public_key(&self) -> Option<SubjectPublicKeyInfoDer<'_>> {
        let mut der = [0; public_key_der_length(MAX_BITS)];
        let der = self.0.key.public().to_spki_der(&mut der).ok()?.to_vec();
        Some(der.into())
    }

    fn algorithm(&self) -> SignatureAlgorithm {
        SignatureAlgorithm::RSA
    }
}

struct RsaSigner {
    key: Arc<Shared>,
    scheme: Scheme,
}

impl fmt::Debug for RsaSigner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Cycloid RSA signer by {:?}", self.scheme.name)
    }
}

impl Signer for RsaSigner {
    fn sign(&self, message: &[u8]) -> Result<Vec<u8>, Error> {
        let Scheme { hash, is_pss, .. } = self.scheme;
        let digest = digest(hash, message);
        let digest = digest.as_ref();
        let mut signature = vec![0; self.key.key.public().length()];
        let mut context = self.key.context()?;
        let outcome = context.with_dependent_mut(|_, context| {
            if is_pss {
                // A salt as long as the digest (RFC 8446, section 4.2.3).
                context.sign_pss_prehashed(hash, digest, hash.digest_length(), &mut signature)
            } else {
                context.sign_pkcs1v15_prehashed(hash, digest, &mut signature)
            }
        });
        self.key.give_back(context);
        outcome.map_err(failed)?;
        Ok(signature)
    }

    fn scheme(&self) -> SignatureScheme {
        self.scheme.name
    }
}
