//! The lifecycle of blindings: when they are drawn, how they change after a use and after a fault,
//! and generators that repeat themselves.

use std::cell::Cell;
use std::vec;
use std::vec::Vec;

use num_bigint::BigUint;
use rand_core::{TryCryptoRng, TryRng};

use super::*;
use crate::machine::lanes::{self, Backend};
use crate::math::prime::tests::{Counter, Repeating, STUCK};
use crate::scheme::Hash;
use crate::scheme::rsa::context::{power, power_limbs};
use crate::scheme::rsa::tests::{FAULT, key, number};
use crate::scheme::rsa::{Batch, Context, Job, batch_limbs, context_limbs, prime_limbs};

const BITS: usize = 2048;

/// A generator that counts the numbers it returned.
struct Counted<'a>(Counter, &'a Cell<usize>);

impl TryRng for Counted<'_> {
    type Error = core::convert::Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Self::Error> {
        Ok(self.try_next_u64()? as u32)
    }

    fn try_next_u64(&mut self) -> Result<u64, Self::Error> {
        self.1.set(self.1.get() + 1);
        self.0.try_next_u64()
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Self::Error> {
        self.1.set(self.1.get() + 1);
        self.0.try_fill_bytes(bytes)
    }
}

impl TryCryptoRng for Counted<'_> {}

/// Signs with the key `jobs` times in one batch.
fn run<R: CryptoRng>(
    batch: &mut Batch<impl AsMut<[u64]>, R>,
    jobs: usize,
) -> Vec<Result<usize, Error>> {
    let mut signatures = vec![[0; BITS / 8]; jobs];
    let sign = |signature| Job::sign_pkcs1v15(key(), Hash::Sha256, b"message", signature);
    let mut jobs: Vec<_> = signatures.iter_mut().map(|signature| sign(signature)).collect();
    batch.run(&mut jobs);
    jobs.iter().map(Job::outcome).collect()
}

#[test]
fn a_blinding_is_redrawn_after_32_uses() {
    let drawn = Cell::new(0);
    let mut memory = vec![0; context_limbs(BITS)];
    let mut context = Context::new(key(), Counted(Counter(5), &drawn), &mut memory).unwrap();
    for i in 0..70 {
        drawn.set(0);
        context.sign_pkcs1v15(Hash::Sha256, b"message", &mut [0; BITS / 8]).unwrap();
        assert_eq!(drawn.get() > 0, i % 32 == 0, "operation {i}");
    }
}

#[test]
fn a_batch_redraws_blindings_after_32_uses() {
    let drawn = Cell::new(0);
    for backend in [Backend::best(), None] {
        let mut memory = vec![0; batch_limbs(BITS, 8)];
        let rng = Counted(Counter(5), &drawn);
        let mut batch = Batch::with_backend(backend, BITS, rng, &mut memory).unwrap();
        for i in 0..34 {
            drawn.set(0);
            assert_eq!(run(&mut batch, 8), [Ok(256); 8]);
            assert_eq!(drawn.get() > 0, i % 32 == 0, "{backend:?}, batch {i}");
        }
    }
}

/// A memory that begins as many limbs into its room as the cell says.
struct Shifting<'a> {
    room: Vec<Limb>,
    length: usize,
    at: usize,
    shift: &'a Cell<usize>,
}

impl AsMut<[Limb]> for Shifting<'_> {
    fn as_mut(&mut self) -> &mut [Limb] {
        let from = core::mem::replace(&mut self.at, self.shift.get());
        self.room.copy_within(from..from + self.length, self.at);
        &mut self.room[self.at..][..self.length]
    }
}

#[test]
fn a_batch_keeps_its_blindings_when_a_move_changes_its_alignment() {
    let (drawn, shift) = (Cell::new(0), Cell::new(0));
    let length = batch_limbs(BITS, 8);
    let memory = Shifting { room: vec![0; length + 8], length, at: 0, shift: &shift };
    let mut batch = Batch::new(BITS, Counted(Counter(5), &drawn), memory).unwrap();
    assert_eq!(run(&mut batch, 8), [Ok(256); 8]);
    drawn.set(0);
    for limbs in [1, 8, 3] {
        shift.set(limbs);
        assert_eq!(run(&mut batch, 8), [Ok(256); 8], "{limbs}");
    }
    assert_eq!(drawn.get(), 0);
}

/// Returns both factors of a blinding as numbers modulo n, and the number of uses left.
fn numbers(blinding: &Blinding<'_>) -> ([BigUint; 2], Limb) {
    let n = number(key().public().modulus_limbs());
    let r_inverse = (BigUint::from(1_u8) << (64 * blinding.factor.len())).modinv(&n).unwrap();
    let plain = |factor: &[Limb]| number(factor) * &r_inverse % &n;
    ([plain(blinding.factor), plain(blinding.inverse)], *blinding.uses_left)
}

/// Asserts that one factor cancels the other.
fn assert_inverse([factor, inverse]: &[BigUint; 2]) {
    let n = number(key().public().modulus_limbs());
    let one = factor * inverse.modpow(&BigUint::from(65537_u32), &n) % &n;
    assert_eq!(one, BigUint::from(1_u8));
}

fn squares(numbers: &[BigUint; 2]) -> [BigUint; 2] {
    let n = number(key().public().modulus_limbs());
    numbers.each_ref().map(|number| number * number % &n)
}

/// Runs one private operation with a blinding; a test may tamper with it.
fn use_once(blinding: &mut Blinding<'_>, rng: &mut Counter) -> Result<(), Error> {
    let key = key().borrowed();
    let mut memory = vec![0; power_limbs(BITS) + draw_scratch_limbs(BITS)];
    blinding.renew(&key.public(), rng, &mut memory, modular::invert).unwrap();
    let mut message = vec![7; limbs(BITS)];
    message[limbs(BITS) - 1] = 0;
    let (result, scratch) = memory.split_at_mut(2 * prime_limbs(BITS));
    power(&key, blinding, &mut message, result, scratch, &mut |_| {})
}

#[test]
fn both_factors_are_squared_after_each_use() {
    let mut memory = vec![0; blinding_limbs(BITS)];
    let mut blinding = Blinding::of(&mut memory, BITS).unwrap();
    let mut rng = Counter(5);
    use_once(&mut blinding, &mut rng).unwrap();
    let (mut last, _) = numbers(&blinding);
    for i in 1..USES {
        assert_inverse(&last);
        use_once(&mut blinding, &mut rng).unwrap();
        let (next, left) = numbers(&blinding);
        assert_eq!((&next, left), (&squares(&last), USES - 1 - i), "use {i}");
        last = next;
    }
}

#[test]
fn a_batch_squares_both_factors_after_each_use() {
    for backend in lanes::tests::backends().into_iter().map(Some).chain([None]) {
        let mut memory = vec![0; batch_limbs(BITS, 8)];
        let mut batch = Batch::with_backend(backend, BITS, Counter(7), &mut memory).unwrap();
        // Eight operations in eight lanes, and four in two lanes each; without lanes, one blinding
        // serves the remaining ones.
        let sizes: &[usize] = if backend.is_some() { &[8, 4] } else { &[8] };
        for &jobs in sizes {
            assert_eq!(run(&mut batch, 8), [Ok(256); 8]);
            let before: Vec<_> = batch.used_slots().map(|slot| numbers(&slot)).collect();
            assert_eq!(before.len(), 8);
            assert!(run(&mut batch, jobs).iter().all(Result::is_ok));
            let after: Vec<_> = batch.used_slots().map(|slot| numbers(&slot)).collect();
            let mut used = 0;
            for ((before, left_before), (after, left)) in before.iter().zip(&after) {
                assert_inverse(after);
                if left == left_before {
                    assert_eq!(before, after);
                } else {
                    assert_eq!((after, left + 1), (&squares(before), *left_before), "{backend:?}");
                    used += 1;
                }
            }
            assert_eq!(used, jobs);
        }
    }
}

#[test]
fn a_blinding_is_discarded_after_a_fault() {
    let mut memory = vec![0; blinding_limbs(BITS)];
    let mut blinding = Blinding::of(&mut memory, BITS).unwrap();
    let mut rng = Counter(5);
    use_once(&mut blinding, &mut rng).unwrap();
    let (before, _) = numbers(&blinding);
    FAULT.set(Some(0));
    assert_eq!(use_once(&mut blinding, &mut rng), Err(Error::Fault));
    FAULT.set(None);
    assert_eq!(*blinding.uses_left, 0);
    use_once(&mut blinding, &mut rng).unwrap();
    let (after, left) = numbers(&blinding);
    assert_eq!(left, USES - 1);
    assert!(after != before && after != squares(&before));
}

#[test]
fn a_batch_discards_a_blinding_after_a_fault() {
    for backend in lanes::tests::backends() {
        let mut memory = vec![0; batch_limbs(BITS, 8)];
        let mut batch = Batch::with_backend(Some(backend), BITS, Counter(7), &mut memory).unwrap();
        FAULT.set(Some(2));
        let outcomes = run(&mut batch, 8);
        FAULT.set(None);
        let mut expected = [Ok(256); 8];
        expected[2] = Err(Error::Fault);
        assert_eq!(outcomes, expected, "{backend:?}");
        let mut left: Vec<_> = batch.used_slots().map(|slot| *slot.uses_left).collect();
        left.sort_unstable();
        assert_eq!(left, [&[0][..], &[USES - 1; 7]].concat(), "{backend:?}");
    }
}

#[test]
fn without_a_blinding_nothing_is_computed() {
    for values in STUCK {
        let mut memory = vec![0; context_limbs(BITS)];
        let mut context = Context::new(key(), Repeating::new(values), &mut memory).unwrap();
        let mut signature = [0xaa; BITS / 8];
        for _ in 0..2 {
            let outcome = context.sign_pkcs1v15(Hash::Sha256, b"message", &mut signature);
            assert_eq!(outcome, Err(Error::RandomGenerator), "{values:x?}");
            let outcome = context.decrypt_pkcs1v15(&[1; BITS / 8], &mut signature);
            assert_eq!(outcome, Err(Error::RandomGenerator), "{values:x?}");
        }
        assert_eq!(signature, [0xaa; BITS / 8]);
        for backend in [Backend::best(), None] {
            let mut memory = vec![0; batch_limbs(BITS, 8)];
            let rng = Repeating::new(values);
            let mut batch = Batch::with_backend(backend, BITS, rng, &mut memory).unwrap();
            assert_eq!(run(&mut batch, 9), [Err(Error::RandomGenerator); 9], "{values:x?}");
        }
    }
    // Numbers that are never less than the modulus, of limbs that all differ.
    let values: Vec<_> = (0..32).map(|i| u64::MAX - i).collect();
    let mut rng = Repeating::new(&values);
    let mut memory = vec![0; blinding_limbs(BITS)];
    let mut blinding = Blinding::of(&mut memory, BITS).unwrap();
    let mut scratch = vec![0; draw_scratch_limbs(BITS)];
    let outcome = blinding.renew(&key().public(), &mut rng, &mut scratch, modular::invert);
    assert_eq!(outcome, Err(Error::RandomGenerator));
    assert_eq!((rng.given, *blinding.uses_left), (32 * random::DRAWS, 0));
}
