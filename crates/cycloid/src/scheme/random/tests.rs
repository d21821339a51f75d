//! Broken random generators, and the operations that must refuse them.

use std::vec;
use std::vec::Vec;

use rand_core::{TryCryptoRng, TryRng};

use super::*;
use crate::machine::words::Limb;
use crate::math::random::{Error, repeats};
use crate::scheme::{dh, ec, ed25519, x25519};

/// A generator that computes each byte from its position and fails from a given position on.
pub(in crate::scheme) struct Broken {
    pub(in crate::scheme) name: &'static str,
    byte: fn(usize) -> u8,
    left: usize,
    /// Bytes returned so far.
    pub(in crate::scheme) place: usize,
}

impl Broken {
    const fn giving(name: &'static str, byte: fn(usize) -> u8) -> Self {
        Self { name, byte, left: usize::MAX, place: 0 }
    }

    const fn failing_after(left: usize) -> Self {
        Self { name: "failing", byte: sound, left, place: 0 }
    }
}

/// Returns a byte of a sound generator (splitmix64).
fn sound(place: usize) -> u8 {
    let x = (place as u64 / 8 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let x = (x ^ x >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    (x ^ x >> 31).to_le_bytes()[place % 8]
}

/// Returns the generators that every operation must refuse: those that repeat themselves, and those
/// that fail at once or midway.
pub(in crate::scheme) fn broken() -> Vec<Broken> {
    vec![
        Broken::giving("zeros", |_| 0),
        Broken::giving("ones", |_| 0xff),
        Broken::giving("a byte", |_| 0x5a),
        Broken::giving("a word", |place| [0x12, 0x34, 0x56, 0x78][place % 4]),
        Broken::giving("a long word", |place| sound(place % 8)),
        Broken::giving("a block", |place| sound(place % 16)),
        Broken::failing_after(0),
        Broken::failing_after(15),
    ]
}

/// Returns a sound generator.
pub(in crate::scheme) fn working() -> Broken {
    Broken::giving("sound", sound)
}

/// The generator has no bytes left.
#[derive(Debug)]
pub(in crate::scheme) struct Exhausted;

impl core::fmt::Display for Exhausted {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("no bytes left")
    }
}

impl core::error::Error for Exhausted {}

impl TryRng for Broken {
    type Error = Exhausted;

    fn try_next_u32(&mut self) -> Result<u32, Exhausted> {
        let mut bytes = [0; 4];
        self.try_fill_bytes(&mut bytes)?;
        Ok(u32::from_le_bytes(bytes))
    }

    fn try_next_u64(&mut self) -> Result<u64, Exhausted> {
        let mut bytes = [0; 8];
        self.try_fill_bytes(&mut bytes)?;
        Ok(u64::from_le_bytes(bytes))
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Exhausted> {
        for byte in bytes {
            self.left = self.left.checked_sub(1).ok_or(Exhausted)?;
            *byte = (self.byte)(self.place);
            self.place += 1;
        }
        Ok(())
    }
}

impl TryCryptoRng for Broken {}

#[test]
fn sound_generators_pass() {
    for length in [0, 1, 8, 16, 28, 32, 48, 64, 66, 1024] {
        let mut bytes = vec![0; length];
        assert_eq!(fill(&mut working(), &mut bytes), Ok(()));
        let expected: Vec<u8> = (0..length).map(sound).collect();
        assert_eq!(bytes, expected);
        let mut limbs = vec![0; length / 8];
        assert_eq!(fill_limbs(&mut working(), &mut limbs), Ok(()));
        let words =
            expected.chunks_exact(8).map(|word| Limb::from_le_bytes(word.try_into().unwrap()));
        assert!(words.eq(limbs.iter().copied()));
    }
}

/// A refused draw leaves zeros.
#[test]
fn broken_generators_are_found() {
    for length in [24, 28, 32, 64, 66, 1024] {
        for mut rng in broken() {
            let mut bytes = vec![0xee; length];
            assert_eq!(fill(&mut rng, &mut bytes), Err(Error), "{}, {length}", rng.name);
            assert!(bytes.iter().all(|byte| *byte == 0), "{}, {length}", rng.name);
        }
        for mut rng in broken() {
            let mut limbs = vec![0xee; length / 8];
            assert_eq!(fill_limbs(&mut rng, &mut limbs), Err(Error), "{}, {length}", rng.name);
            assert!(limbs.iter().all(|limb| *limb == 0), "{}, {length}", rng.name);
        }
    }
}

/// A repeated sample is found at every pair of positions, and only then.
#[test]
fn every_pair_is_compared() {
    for (i, j) in (0..12).flat_map(|i| (0..i).map(move |j| (i, j))) {
        let mut samples: [Limb; 12] = core::array::from_fn(|k| k as Limb | 1 << 63);
        assert!(!repeats(12, |k| samples[k]).reveal());
        samples[i] = samples[j];
        assert!(repeats(12, |k| samples[k]).reveal(), "{i}, {j}");
        assert!(!repeats(i, |k| samples[k]).reveal());
        samples[i] ^= 1 << 40;
        assert!(!repeats(12, |k| samples[k]).reveal());
    }
}

/// Runs an operation with each broken generator, which must not draw more than a few kilobytes
/// first.
fn refused<E: From<Error> + PartialEq + core::fmt::Debug>(
    operation: impl Fn(&mut Broken) -> Result<(), E>,
) {
    for mut rng in broken() {
        assert_eq!(operation(&mut rng), Err(E::from(Error)), "{}", rng.name);
        assert!(rng.place < 4096, "{}", rng.name);
    }
    assert_eq!(operation(&mut working()), Ok(()));
}

fn refused_on_curve<C: ec::Curve>() {
    refused(|rng| ec::PrivateKey::<C>::generate(rng).map(drop));
    refused(|rng| ec::arithmetic::Scalar::<C>::random(rng).map(drop));
}

/// No key is made with a broken generator, and no search runs without end.
#[test]
fn key_generation_refuses_broken_generators() {
    refused_on_curve::<ec::P224>();
    refused_on_curve::<ec::P256>();
    refused_on_curve::<ec::P384>();
    refused_on_curve::<ec::P521>();
    refused(|rng| ed25519::SigningKey::generate(rng).map(drop));
    refused(|rng| x25519::PrivateKey::generate(rng).map(drop));
    for group in dh::Group::KNOWN {
        refused(|rng| {
            let mut memory = [0xee; 8];
            let made = dh::PrivateKey::generate(group, &mut memory[..], rng).map(drop);
            let used = dh::private_key_limbs(group.exponent_bits());
            assert!(memory[..used].iter().all(|limb| *limb == 0), "wiped, or dropped");
            made
        });
    }
}

/// The search ends with a generator that passes the repetition test but never draws below the
/// order.
#[test]
fn the_search_for_a_scalar_ends() {
    // The order begins with four 0xff bytes and four zeros.
    let mut rng = Broken::giving("too large", |place| match place % 32 {
        0..8 => 0xff,
        _ => sound(place),
    });
    let outcome = ec::PrivateKey::<ec::P256>::generate(&mut rng);
    assert_eq!(outcome.map(drop), Err(ec::Error::RandomGenerator));
    assert_eq!(rng.place, DRAWS * 32);
}

#[cfg(feature = "bls12-381")]
mod bls {
    use super::*;
    use crate::scheme::bls12_381::signature::{
        MinPk, MinSig, PublicKey, Scheme, SecretKey, Share, batch_verify, share,
    };
    use crate::scheme::bls12_381::{
        self, Affine, Cycloid, First, Fq12, Fr, Gt, Projective, Second,
    };

    type Key = SecretKey<Cycloid, MinPk>;

    #[test]
    fn everything_refuses_broken_generators() {
        refused(|rng| Key::generate(rng).map(drop));
        refused(|rng| SecretKey::<Cycloid, MinSig>::generate(rng).map(drop));
        refused(|rng| Fr::<Cycloid>::random(rng).map(drop));
        refused(|rng| Fr::<Cycloid>::random_nonzero(rng).map(drop));
        refused(|rng| Projective::<Cycloid, First>::random(rng).map(drop));
        refused(|rng| Affine::<Cycloid, Second>::random(rng).map(drop));
        refused(|rng| Gt::<Cycloid>::random(rng).map(drop));
        refused(|rng| Fq12::<Cycloid>::random(rng).map(drop));
    }

    /// Shares of a polynomial with zero coefficients would reveal the key.
    #[test]
    fn sharing_refuses_broken_generators() {
        let key = Key::from_bytes(&[7; 32]).unwrap();
        refused(|rng| {
            let mut shares = [const { None::<Share<Cycloid, MinPk>> }; 5];
            let outcome = share(&key, 3, &mut shares, rng);
            assert!(shares.iter().all(|share| share.is_some() == outcome.is_ok()));
            outcome
        });
    }

    /// With known weights, wrong signatures could cancel each other.
    #[test]
    fn batch_verification_refuses_broken_generators() {
        let key = Key::from_bytes(&[7; 32]).unwrap();
        let keys: [PublicKey<Cycloid, MinPk>; 2] = [key.public_key(); 2];
        let messages: [&[u8]; 2] = [b"one", b"two"];
        let signatures = messages.map(|message| key.sign(Scheme::Basic, message));
        refused(|rng| batch_verify(Scheme::Basic, &keys, &messages, &signatures, rng));
        // A single signature has a weight that is not 0.
        let mut broken = broken();
        let zeros = &mut broken[0];
        let outcome =
            batch_verify(Scheme::Basic, &keys[..1], &messages[..1], &signatures[..1], zeros);
        assert_eq!(outcome, Err(bls12_381::Error::RandomGenerator));
    }

    /// The search ends with integers that are never below p.
    #[test]
    fn the_search_for_a_coefficient_ends() {
        let mut rng = Broken::giving("too large", |place| match place % 48 {
            0 => 0x1f,
            _ => sound(place),
        });
        let outcome = Fq12::<Cycloid>::random(&mut rng);
        assert_eq!(outcome.map(drop), Err(bls12_381::Error::RandomGenerator));
        assert_eq!(rng.place, DRAWS * 48);
    }
}
