//! RSA keys, with contexts that are used again.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use chacha20::ChaCha20Rng;
use cycloid::scheme::Hash;
use cycloid::scheme::rsa::{
    self, Context, MAX_BITS, PrivateKey, context_limbs, der_scratch_limbs, private_key_limbs,
    public_key_der_length,
};
use rustls::pki_types::{SubjectPublicKeyInfoDer, alg_id};
use rustls::sign::{Signer, SigningKey, public_key_to_spki};
use rustls::{Error, SignatureAlgorithm, SignatureScheme};
use self_cell::{MutBorrow, self_cell};
use zeroize::Zeroizing;

use crate::random;
use crate::verification::digest;

/// What the key signs by, in order of preference.
const SCHEMES: [SignatureScheme; 6] = [
    SignatureScheme::RSA_PSS_SHA256,
    SignatureScheme::RSA_PSS_SHA384,
    SignatureScheme::RSA_PSS_SHA512,
    SignatureScheme::RSA_PKCS1_SHA256,
    SignatureScheme::RSA_PKCS1_SHA384,
    SignatureScheme::RSA_PKCS1_SHA512,
];

type Memory = Box<[u64]>;

/// A key, shared with the handshakes that are under way.
pub(super) struct RsaKey(Arc<Shared>);

struct Shared {
    key: Arc<PrivateKey<Memory>>,
    /// Those that are not in use.
    contexts: Mutex<Vec<OwnedContext>>,
}

/// What a context borrows.
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
    /// From PKCS #1 or PKCS #8.
    pub(super) fn from_der(der: &[u8]) -> Result<Self, rsa::Error> {
        let mut scratch = Zeroizing::new(vec![0; der_scratch_limbs(MAX_BITS)]);
        let memory: Memory = vec![0; private_key_limbs(MAX_BITS)].into();
        let key = Arc::new(PrivateKey::from_der(der, memory, &mut scratch)?);
        Ok(Self(Arc::new(Shared { key, contexts: Mutex::default() })))
    }
}

impl Shared {
    /// A context that nobody uses.
    fn context(&self) -> Result<OwnedContext, Error> {
        // Whoever panicked did so between two changes of the list.
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
    Error::General(format!("the RSA signature was not made: {error}"))
}

impl fmt::Debug for RsaKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Cycloid RSA key of {} bits", self.0.key.bits())
    }
}

impl SigningKey for RsaKey {
    fn choose_scheme(&self, offered: &[SignatureScheme]) -> Option<Box<dyn Signer>> {
        let scheme = SCHEMES.into_iter().find(|scheme| offered.contains(scheme))?;
        Some(Box::new(RsaSigner { key: Arc::clone(&self.0), scheme }))
    }

    fn public_key(&self) -> Option<SubjectPublicKeyInfoDer<'_>> {
        let mut der = [0; public_key_der_length(MAX_BITS)];
        let der = self.0.key.public().to_pkcs1_der(&mut der).ok()?.to_vec();
        Some(public_key_to_spki(&alg_id::RSA_ENCRYPTION, der))
    }

    fn algorithm(&self) -> SignatureAlgorithm {
        SignatureAlgorithm::RSA
    }
}

struct RsaSigner {
    key: Arc<Shared>,
    scheme: SignatureScheme,
}

impl fmt::Debug for RsaSigner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Cycloid RSA signer by {:?}", self.scheme)
    }
}

impl Signer for RsaSigner {
    fn sign(&self, message: &[u8]) -> Result<Vec<u8>, Error> {
        let (hash, is_pss) = match self.scheme {
            SignatureScheme::RSA_PSS_SHA256 => (Hash::Sha256, true),
            SignatureScheme::RSA_PSS_SHA384 => (Hash::Sha384, true),
            SignatureScheme::RSA_PSS_SHA512 => (Hash::Sha512, true),
            SignatureScheme::RSA_PKCS1_SHA384 => (Hash::Sha384, false),
            SignatureScheme::RSA_PKCS1_SHA512 => (Hash::Sha512, false),
            _ => (Hash::Sha256, false),
        };
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
        self.scheme
    }
}
