//! The search for a prime: each candidate is secret, and why it is refused is not.

use cycloid::machine::lanes::Lanes;
use cycloid::machine::words::Backend;
use cycloid::prime;
use num_bigint::BigUint;

use crate::check::{Check, big};

/// Lengths of the prime in bits: of whole limbs, and of a part.
const LENGTHS: [usize; 2] = [256, 329];

/// Searches for primes on the best backend, which is this one.
pub(crate) fn run(check: &mut Check, backend: Backend) {
    for bits in LENGTHS {
        let n = bits.div_ceil(64);
        let mut found = vec![0; n];
        let mut scratch = vec![Lanes::ZERO; prime::generate_scratch(n)];
        prime::generate(&mut found, bits, |_| true, check, &mut scratch).expect("it has room");
        let name = format!("prime::generate of {} with {bits} bits", backend.name());
        check.judged(&name, &found, |found| {
            let found = big(found);
            let one = BigUint::from(1_u8);
            found.bits() as usize == bits
                && BigUint::from(2_u8).modpow(&(&found - &one), &found) == one
        });
    }
}
