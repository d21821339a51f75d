//! Prime generation: each candidate is secret; the reason for rejecting it is public.

use cycloid::prime;
use num_bigint::BigUint;

use crate::check::{Check, big};

pub(crate) fn prime_256(check: &mut Check) {
    const BITS: usize = 256;
    let n = BITS.div_ceil(64);
    let mut found = vec![0; n];
    let mut scratch = vec![0; prime::generate_scratch_limbs(n)];
    let mut rng = check.rng();
    check.varies();
    check.trace("prime", || {
        prime::generate(&mut found, BITS, |_| true, &mut rng, &mut scratch)
            .expect("the buffers suffice");
    });
    check.secret("prime", &found, |found| {
        let found = big(found);
        let one = BigUint::from(1_u8);
        found.bits() as usize == BITS && BigUint::from(2_u8).modpow(&(&found - &one), &found) == one
    });
}
