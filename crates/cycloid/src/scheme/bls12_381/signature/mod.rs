//! BLS signatures (draft-irtf-cfrg-bls-signature-06): small keys or small signatures, the three
//! schemes against rogue keys, aggregates, batches, and thresholds.
//!
//! A [`Variant`] determines the group of the keys: G1 with [`MinPk`], G2 with [`MinSig`]. A
//! [`Scheme`] prevents a signer from choosing a key that cancels another's. Keys and signatures are
//! members of their groups, checked when decoded, and a public key is not infinity; verification
//! need not check them again.
//!
//! Operations on a secret key take time that depends on no secret. Public keys, messages and
//! signatures are public.

mod derivation;
mod public;
mod secret;
mod threshold;
mod verify;

pub use public::{PublicKey, Signature};
pub use secret::SecretKey;
pub use threshold::{Share, recover_public_key, recover_secret_key, recover_signature, share};
pub use verify::{aggregate_verify, batch_verify, fast_aggregate_verify, first_invalid};

use super::backend::{Backend, First, Group, Second, SourceGroup};
use super::error::equal_counts;
use super::{Affine, G1Affine, G2Affine};

/// The assignment of keys and signatures to the two groups.
pub trait Variant: private::Sealed + Copy + Send + Sync + 'static {
    /// The group of the public keys.
    type Keys: SourceGroup;

    /// The group of the signatures; messages are hashed to it.
    type Signatures: SourceGroup;

    /// Whether the keys are in the group with the cheaper arithmetic.
    const KEYS_IN_FIRST: bool;

    /// Returns the domain separation tag for messages of a scheme.
    fn tag(scheme: Scheme) -> &'static [u8];

    /// The domain separation tag for keys in proofs of possession.
    const POSSESSION_TAG: &'static [u8];
}

/// Keys in G1, of 48 bytes, and signatures in G2, of 96 bytes; used by Ethereum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MinPk;

/// Signatures in G1, of 48 bytes, and keys in G2, of 96 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MinSig;

mod private {
    pub trait Sealed {}
    impl Sealed for super::MinPk {}
    impl Sealed for super::MinSig {}
}

impl Variant for MinPk {
    type Keys = First;
    type Signatures = Second;
    const KEYS_IN_FIRST: bool = true;

    fn tag(scheme: Scheme) -> &'static [u8] {
        match scheme {
            Scheme::Basic => b"BLS_SIG_BLS12381G2_XMD:SHA-256_SSWU_RO_NUL_",
            Scheme::MessageAugmentation => b"BLS_SIG_BLS12381G2_XMD:SHA-256_SSWU_RO_AUG_",
            Scheme::ProofOfPossession => b"BLS_SIG_BLS12381G2_XMD:SHA-256_SSWU_RO_POP_",
        }
    }

    const POSSESSION_TAG: &'static [u8] = b"BLS_POP_BLS12381G2_XMD:SHA-256_SSWU_RO_POP_";
}

impl Variant for MinSig {
    type Keys = Second;
    type Signatures = First;
    const KEYS_IN_FIRST: bool = false;

    fn tag(scheme: Scheme) -> &'static [u8] {
        match scheme {
            Scheme::Basic => b"BLS_SIG_BLS12381G1_XMD:SHA-256_SSWU_RO_NUL_",
            Scheme::MessageAugmentation => b"BLS_SIG_BLS12381G1_XMD:SHA-256_SSWU_RO_AUG_",
            Scheme::ProofOfPossession => b"BLS_SIG_BLS12381G1_XMD:SHA-256_SSWU_RO_POP_",
        }
    }

    const POSSESSION_TAG: &'static [u8] = b"BLS_POP_BLS12381G1_XMD:SHA-256_SSWU_RO_POP_";
}

/// The defence against a signer whose key cancels other keys in an aggregate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scheme {
    /// The messages of an aggregate must differ (section 3.1).
    Basic,
    /// A signer signs the public key before the message (section 3.2).
    MessageAugmentation,
    /// The verifier has checked each public key's proof of possession (section 3.3).
    ProofOfPossession,
}

/// A backend for a variant; every [`Backend`] supports both.
pub trait SignatureBackend<V: Variant>: Backend + Group<V::Keys> + Group<V::Signatures> {
    /// Returns a key and a point of the signature group in the order of the pairing.
    fn pair(
        key: Affine<Self, V::Keys>,
        point: Affine<Self, V::Signatures>,
    ) -> (G1Affine<Self>, G2Affine<Self>);
}

impl<B: Backend> SignatureBackend<MinPk> for B {
    fn pair(key: G1Affine<B>, point: G2Affine<B>) -> (G1Affine<B>, G2Affine<B>) {
        (key, point)
    }
}

impl<B: Backend> SignatureBackend<MinSig> for B {
    fn pair(key: G2Affine<B>, point: G1Affine<B>) -> (G1Affine<B>, G2Affine<B>) {
        (point, key)
    }
}
