//! The keys of the programs.

use cycloid::scheme::rsa::{self, PrivateComponents, PrivateKey};

use crate::vectors as v;

const BITS: usize = 2048;

/// Returns the RSA key, from its components in flash.
pub fn rsa_key() -> Option<PrivateKey<[u64; rsa::private_key_limbs(BITS)]>> {
    let components = PrivateComponents {
        modulus: &v::MODULUS,
        public_exponent: &[1, 0, 1],
        private_exponent: &v::PRIVATE_EXPONENT,
        prime1: &v::PRIME_1,
        prime2: &v::PRIME_2,
        exponent1: &v::EXPONENT_1,
        exponent2: &v::EXPONENT_2,
        coefficient: &v::COEFFICIENT,
        ..PrivateComponents::default()
    };
    let memory = [0; rsa::private_key_limbs(BITS)];
    PrivateKey::new(&components, memory, &mut [0; rsa::private_key_scratch_limbs(BITS)]).ok()
}
