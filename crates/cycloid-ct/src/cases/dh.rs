//! Finite-field Diffie-Hellman: public values and agreement, alone, in a batch, and with a table.

use cycloid::internals::words::{self, Limb};
use cycloid::scheme::dh::{self, Comb, Generator, Group, Job, PrivateKey, Validation};

use crate::check::{Check, Held, marked, power};

const GROUP: &Group<'_> = &Group::FFDHE2048;
const BITS: usize = 2048;

type Key = PrivateKey<'static, Vec<Limb>>;

/// Returns a key with a secret exponent, and the exponent.
fn key(check: &mut Check) -> (Vec<Limb>, Held<Key>) {
    let bits = GROUP.exponent_bits();
    let exponent = check.exponent(bits);
    let mut bytes = vec![0; bits.div_ceil(8)];
    words::to_be_bytes(&mut bytes, &exponent);
    let bytes = marked(&bytes);
    let memory = vec![0; dh::private_key_limbs(bits + 7)];
    let held = check.hold("import", || PrivateKey::new(GROUP, &bytes, memory).expect("in range"));
    (exponent, held)
}

/// Returns another party's public value, the same in every run.
fn peer(check: &mut Check) -> Vec<u8> {
    let exponent = check.public_limbs(4);
    bytes(&power(GROUP.generator(), &exponent, GROUP.prime()))
}

fn bytes(limbs: &[Limb]) -> Vec<u8> {
    let mut bytes = vec![0; GROUP.length()];
    words::to_be_bytes(&mut bytes, limbs);
    bytes
}

fn limbs(bytes: &[u8]) -> Vec<Limb> {
    let mut limbs = vec![0; GROUP.prime().len()];
    words::from_be_bytes(&mut limbs, bytes);
    limbs
}

pub(crate) fn agree(check: &mut Check) {
    let (exponent, key) = key(check);
    let peer = peer(check);
    let mut scratch = vec![0; dh::scratch_limbs(BITS, GROUP.exponent_bits() + 7)];
    let mut value = vec![0; GROUP.length()];
    check.trace("public value", || {
        key.public_value(&mut value, &mut scratch).expect("the output fits");
    });
    let expected = bytes(&power(GROUP.generator(), &exponent, GROUP.prime()));
    check.public("public value", &value, |value| value == expected);
    for validation in [Validation::Full, Validation::Partial] {
        check.trace("agree", || {
            key.agree(&peer, validation, &mut value, &mut scratch).expect("a sound value");
        });
        let expected = bytes(&power(&limbs(&peer), &exponent, GROUP.prime()));
        check.secret("agree", &value, |value| value == expected);
    }
}

pub(crate) fn batch(check: &mut Check) {
    let keys: Vec<_> = (0..8).map(|_| key(check)).collect();
    let peer = peer(check);
    let mut lanes = vec![0; dh::batch_scratch_limbs(BITS, GROUP.exponent_bits() + 7)];
    let mut values = vec![vec![0; GROUP.length()]; 8];
    let mut jobs: Vec<_> = keys
        .iter()
        .zip(&mut values)
        .enumerate()
        .map(|(i, ((_, key), value))| match i % 2 {
            0 => Job::public_value(key, value),
            _ => Job::agree(key, &peer, Validation::Partial, value),
        })
        .collect();
    check.trace("a batch", || dh::run_batch(&mut jobs, &mut lanes));
    assert!(jobs.iter().all(|job| job.outcome().is_ok()));
    drop(jobs);
    for (i, ((exponent, _), value)) in keys.iter().zip(&values).enumerate() {
        if i % 2 == 0 {
            let expected = bytes(&power(GROUP.generator(), exponent, GROUP.prime()));
            check.public("public value in a batch", value, |value| *value == expected[..]);
        } else {
            let expected = bytes(&power(&limbs(&peer), exponent, GROUP.prime()));
            check.secret("agree in a batch", value, |value| *value == expected[..]);
        }
    }
}

pub(crate) fn generator(check: &mut Check) {
    let mut scratch = vec![0; dh::generator_scratch_limbs(BITS)];
    let mut memory = vec![0; dh::generator_limbs(BITS, Comb::COMPACT)];
    let generator = Generator::prepare(GROUP, Comb::COMPACT, &mut memory, &mut scratch)
        .expect("the memory suffices");
    let mut rng = check.rng();
    let memory = vec![0; dh::private_key_limbs(GROUP.exponent_bits())];
    let key = check.hold("generate", || {
        PrivateKey::generate(GROUP, memory, &mut rng).expect("the memory suffices")
    });
    let mut value = vec![0; GROUP.length()];
    check.trace("public value by a table", || {
        generator.public_value(&key, &mut value, &mut scratch).expect("the output fits");
    });
    // The result must be the same without the table.
    let mut again = vec![0; GROUP.length()];
    let mut scratch = vec![0; dh::scratch_limbs(BITS, GROUP.exponent_bits())];
    key.public_value(&mut again, &mut scratch).expect("the output fits");
    check.public("public value by a table", &value, |value| value == again);
}
