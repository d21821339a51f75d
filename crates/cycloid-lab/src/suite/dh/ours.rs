//! The library's Diffie-Hellman operations, and the inputs of all subjects.

use chacha20::ChaCha20Rng;
use cycloid::modular::{self, Exponent, Modulus};
use cycloid::scheme::dh::{
    Comb, Generator, Group, Job, MAX_BITS, PrivateKey, Validation, batch_scratch_limbs,
    exponent_bits, generator_limbs, generator_scratch_limbs, private_key_limbs, run_batch,
    scratch_limbs,
};
use rand_core::{Rng, SeedableRng};

use crate::peers::Call;
use crate::peers::bytes::{from_bytes, to_bytes};
use crate::peers::dh::Input;

/// Memory for the longest exponent.
type Memory = [u64; private_key_limbs(exponent_bits(MAX_BITS))];

type Key = PrivateKey<'static, Memory>;

/// Returns the group of RFC 7919 with a modulus of that many bits.
pub(super) fn group(bits: usize) -> Option<&'static Group<'static>> {
    match bits {
        2048 => Some(&Group::FFDHE2048),
        3072 => Some(&Group::FFDHE3072),
        4096 => Some(&Group::FFDHE4096),
        6144 => Some(&Group::FFDHE6144),
        8192 => Some(&Group::FFDHE8192),
        _ => None,
    }
}

/// Returns the input of one of eight operations, the same on every run.
pub(super) fn input(group: &Group<'_>, number: u64) -> Input {
    let other_exponent = exponent(group, 100);
    Input {
        bits: group.bits(),
        prime: to_bytes(group.prime()),
        exponent_bits: group.exponent_bits(),
        exponent: exponent(group, number),
        other: power(group, group.generator(), &other_exponent),
        other_exponent,
    }
}

/// Returns the exponent that the library generates from a random generator with this seed. The
/// library does not export exponents, and the peers need the same one.
fn exponent(group: &Group<'_>, seed: u64) -> Vec<u8> {
    let mut rng = random(seed);
    let bits = group.exponent_bits();
    let mut limbs: Vec<u64> = (0..bits.div_ceil(64)).map(|_| rng.next_u64()).collect();
    let unused = limbs.len() * 64 - bits;
    if let Some(top) = limbs.last_mut() {
        *top &= u64::MAX >> unused;
    }
    to_bytes(&limbs)
}

fn random(seed: u64) -> ChaCha20Rng {
    ChaCha20Rng::seed_from_u64(seed)
}

/// Returns `base^exponent mod p`, as long as p.
pub(super) fn power(group: &Group<'_>, base: &[u64], exponent: &[u8]) -> Vec<u8> {
    let n = group.prime().len();
    let mut r_squared = vec![0; n];
    let mut scratch = vec![0; modular::pow_scratch_limbs(n, n * 64)];
    let modulus = Modulus::prepare(group.prime(), &mut r_squared, &mut scratch)
        .expect("a prime is odd, and the scratch is longer than preparation needs");
    let mut result = vec![0; n];
    let exponent = from_bytes(exponent);
    modular::pow(&mut result, base, &Exponent::new(&exponent), &modulus, &mut scratch)
        .expect("result and scratch are long enough");
    to_bytes(&result)
}

fn key(group: &'static Group<'static>, seed: u64) -> Key {
    PrivateKey::generate(group, Memory::default(), &mut random(seed)).expect("the memory suffices")
}

/// Prepares an agreement with this much scratch.
pub(super) fn agreement(
    group: &'static Group<'static>,
    validation: Validation,
    limbs: usize,
) -> Call {
    let (key, mut scratch) = (key(group, 0), vec![0; limbs]);
    Box::new(move |other, shared| {
        let shared = &mut shared[..group.length()];
        key.agree(other, validation, shared, &mut scratch).map_err(|_| "agreement failed")?;
        Ok(group.length())
    })
}

/// Prepares eight agreements in one call, each with its own key; the output has the secrets one
/// after the other.
pub(super) fn eight_agreements(group: &'static Group<'static>) -> Call {
    let keys: [Key; 8] = std::array::from_fn(|i| key(group, i as u64));
    let mut scratch = vec![0; scratch_eight(group)];
    Box::new(move |other, shared| {
        let mut results = shared.chunks_exact_mut(group.length());
        let mut jobs: [Job<'_>; 8] = std::array::from_fn(|i| {
            let result = results.next().expect("there is room for eight");
            Job::agree(&keys[i], other, Validation::Full, result)
        });
        run_batch(&mut jobs, &mut scratch);
        let done = jobs.iter().all(|job| job.outcome().is_ok());
        if done { Ok(8 * group.length()) } else { Err("a job failed") }
    })
}

/// Returns the number of scratch elements for eight operations.
pub(super) fn scratch_eight(group: &Group<'_>) -> usize {
    batch_scratch_limbs(group.bits(), group.exponent_bits())
}

/// Returns the number of scratch limbs at which one operation is fastest.
pub(super) fn scratch_one(group: &Group<'_>) -> usize {
    scratch_limbs(group.bits(), group.exponent_bits())
}

/// Returns the memory of a table of the generator's powers, in bytes.
pub(super) fn table_memory(group: &Group<'_>, comb: Comb) -> usize {
    generator_limbs(group.bits(), comb) * size_of::<u64>()
}

/// Computes a table of the generator's powers, which lives as long as the process.
fn table(group: &'static Group<'static>, comb: Comb) -> Generator<'static> {
    let memory = Box::leak(vec![0; generator_limbs(group.bits(), comb)].into());
    let mut scratch = vec![0; generator_scratch_limbs(group.bits())];
    Generator::prepare(group, comb, memory, &mut scratch).expect("the memory suffices")
}

/// Prepares the generation of a key and its public value, optionally with a table.
pub(super) fn generator(group: &'static Group<'static>, comb: Option<Comb>) -> Call {
    let table = comb.map(|comb| table(group, comb));
    let limbs = scratch_one(group).max(generator_scratch_limbs(group.bits()));
    let (mut rng, mut scratch) = (random(1), vec![0; limbs]);
    let public_value = move |key: &Key, public: &mut [u8], scratch: &mut [u64]| match &table {
        Some(table) => table.public_value(key, public, scratch),
        None => key.public_value(public, scratch),
    };
    let mut made: Option<Key> = None;
    Box::new(move |other, output| {
        let (public, shared) = output.split_at_mut(group.length());
        if other.is_empty() {
            let key = PrivateKey::generate(group, Memory::default(), &mut rng);
            let key = made.insert(key.map_err(|_| "generating the exponent failed")?);
            public_value(key, public, &mut scratch)
                .map_err(|_| "computing the public value failed")?;
            return Ok(group.length());
        }
        let key = made.as_ref().ok_or("no key was generated")?;
        let shared = &mut shared[..group.length()];
        public_value(key, public, &mut scratch)
            .and_then(|()| key.agree(other, Validation::Full, shared, &mut scratch))
            .map_err(|_| "key agreement with the generated key failed")?;
        Ok(2 * group.length())
    })
}

/// Prepares the generation of eight keys and public values in one call; on request, the first one
/// agrees.
pub(super) fn eight_keys(group: &'static Group<'static>) -> Call {
    let (mut rng, mut scratch) = (random(2), vec![0; scratch_eight(group)]);
    let mut one = vec![0; scratch_one(group)];
    let mut made: Option<[Key; 8]> = None;
    let mut public_values = vec![0; 8 * group.length()];
    Box::new(move |other, output| {
        if other.is_empty() {
            let mut make = || PrivateKey::generate(group, Memory::default(), &mut rng).ok();
            let keys: [Option<Key>; 8] = std::array::from_fn(|_| make());
            if keys.iter().any(Option::is_none) {
                return Err("generating an exponent failed");
            }
            let keys = made.insert(keys.map(|key| key.expect("every key was generated")));
            let mut results = public_values.chunks_exact_mut(group.length());
            let mut jobs: [Job<'_>; 8] = std::array::from_fn(|i| {
                Job::public_value(&keys[i], results.next().expect("there is room for eight"))
            });
            run_batch(&mut jobs, &mut scratch);
            let done = jobs.iter().all(|job| job.outcome().is_ok());
            return if done { Ok(0) } else { Err("a job failed") };
        }
        let keys = made.as_ref().ok_or("no keys were generated")?;
        for (i, key) in keys.iter().enumerate().rev() {
            let (public, shared) = output.split_at_mut(group.length());
            key.public_value(public, &mut one).map_err(|_| "computing the public value failed")?;
            if *public != public_values[i * group.length()..][..group.length()] {
                return Err("a lane's public value differs from that of a single operation");
            }
            let shared = &mut shared[..group.length()];
            key.agree(other, Validation::Full, shared, &mut one)
                .map_err(|_| "key agreement with a generated key failed")?;
        }
        Ok(2 * group.length())
    })
}
