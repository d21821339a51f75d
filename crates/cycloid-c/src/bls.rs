//! BLS12-381: signatures with public keys in G1 (48 bytes) and signatures in G2 (96 bytes), as
//! Ethereum has them, and points, multiples and pairings on encoded points.

pub mod keys;
pub mod lists;
pub mod points;
pub mod signatures;

use cycloid::bls12_381::Cycloid;
use cycloid::bls12_381::signature::{MinPk, PublicKey, Scheme, SecretKey, Signature};

use crate::error::{CYCLOID_ERROR_PARAMETER, Failure, Outcome};
use crate::object::{self, Kind, words};

/// The bytes of a private key.
pub const CYCLOID_BLS_PRIVATE_KEY_BYTES: usize = 32;
/// The bytes of a public key, and of a compressed point of G1.
pub const CYCLOID_BLS_PUBLIC_KEY_BYTES: usize = 48;
/// The bytes of a signature, and of a compressed point of G2.
pub const CYCLOID_BLS_SIGNATURE_BYTES: usize = 96;

/// The scheme whose messages differ (basic).
pub const CYCLOID_BLS_BASIC: u32 = 0;
/// The scheme that signs the public key with the message (message augmentation).
pub const CYCLOID_BLS_AUGMENTATION: u32 = 1;
/// The scheme whose keys come with a proof of possession, such as Ethereum's.
pub const CYCLOID_BLS_POSSESSION: u32 = 2;

/// A private key. A plain value: it may be copied and moved, and each copy must be wiped.
#[repr(C)]
pub struct BlsPrivateKey {
    /// The key.
    pub opaque: [u64; 8],
}

/// A public key, in the group and not infinity. A plain value, which may be copied and moved.
#[repr(C)]
pub struct BlsPublicKey {
    /// The key.
    pub opaque: [u64; 20],
}

/// A signature, in the group. A plain value, which may be copied and moved.
#[repr(C)]
pub struct BlsSignature {
    /// The signature.
    pub opaque: [u64; 40],
}

/// A message.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Message {
    /// Its bytes.
    pub bytes: *const u8,
    /// Their number.
    pub length: usize,
}

words! { BlsPrivateKey BlsPublicKey BlsSignature }

type Private = SecretKey<Cycloid, MinPk>;
type Public = PublicKey<Cycloid, MinPk>;
type Signed = Signature<Cycloid, MinPk>;

impl Kind for Private {
    const TAG: u64 = object::tag(10, 1);
}

impl Kind for Public {
    const TAG: u64 = object::tag(11, 1);
}

impl Kind for Signed {
    const TAG: u64 = object::tag(12, 1);
}

const _: () = {
    assert!(size_of::<Private>() < size_of::<BlsPrivateKey>());
    assert!(size_of::<Public>() < size_of::<BlsPublicKey>());
    assert!(size_of::<Signed>() < size_of::<BlsSignature>());
};

fn scheme_of(number: u32) -> Outcome<Scheme> {
    Ok(match number {
        CYCLOID_BLS_BASIC => Scheme::Basic,
        CYCLOID_BLS_AUGMENTATION => Scheme::MessageAugmentation,
        CYCLOID_BLS_POSSESSION => Scheme::ProofOfPossession,
        _ => return Err(Failure(CYCLOID_ERROR_PARAMETER)),
    })
}
