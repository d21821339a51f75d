//! Deterministic RSA keys for measuring, so that all peers use the same keys on every run.

use chacha20::ChaCha20Rng;
use cycloid::{modular, prime};
use rand_core::SeedableRng;

use crate::peers::bytes::to_bytes;

/// The public exponent of all keys.
pub const PUBLIC_EXPONENT: u32 = 65537;

/// A private key: its numbers as big-endian bytes, and its encoding.
pub struct Key {
    /// The length of the modulus.
    pub bits: usize,
    /// n, as long as the key.
    pub modulus: Vec<u8>,
    /// d with e·d ≡ 1 modulo (p − 1)·(q − 1).
    pub private_exponent: Vec<u8>,
    /// p and q, p the larger.
    pub primes: [Vec<u8>; 2],
    /// d modulo each prime minus 1.
    pub exponents: [Vec<u8>; 2],
    /// 1/q mod p.
    pub coefficient: Vec<u8>,
    /// `RSAPrivateKey` in DER (RFC 8017, appendix A.1.2).
    pub pkcs1: Vec<u8>,
}

impl Key {
    /// Generates eight different keys of `bits` bits, a multiple of 128, from five primes. Keys
    /// that share primes are insecure.
    ///
    /// # Panics
    /// If prime generation fails, which would be a defect of the library.
    pub fn eight(bits: usize) -> [Self; 8] {
        let mut rng = ChaCha20Rng::seed_from_u64(bits as u64);
        let n = bits / 2 / 64;
        let mut scratch = vec![0; prime::generate_scratch_limbs(n)];
        let mut primes: Vec<Vec<u64>> = (0..5)
            .map(|_| {
                let mut prime = vec![0; n];
                let usable = |prime: &[u64]| small_remainder(prime) != 1;
                prime::generate(&mut prime, bits / 2, usable, &mut rng, &mut scratch)
                    .expect("the scratch has the required length");
                prime
            })
            .collect();
        primes.sort_unstable_by(|a, b| b.iter().rev().cmp(a.iter().rev()));
        let pairs = [(0, 1), (0, 2), (0, 3), (0, 4), (1, 2), (1, 3), (1, 4), (2, 3)];
        pairs.map(|(p, q)| Self::of_primes(&primes[p], &primes[q]))
    }

    /// Computes the key of two primes, the first of which is larger.
    fn of_primes(p: &[u64], q: &[u64]) -> Self {
        let modulus = product(p, q);
        let orders = [p, q].map(less_one);
        let mut coefficient = vec![0; p.len()];
        let mut scratch = vec![0; modular::invert_scratch_limbs(p.len())];
        modular::invert(&mut coefficient, q, p, &mut scratch).expect("p does not divide q");
        let private_exponent = inverse_of_exponent(&product(&orders[0], &orders[1]));
        let exponents = orders.each_ref().map(|order| inverse_of_exponent(order));
        let mut key = Self {
            bits: modulus.len() * 64,
            modulus: to_bytes(&modulus),
            private_exponent: to_bytes(&private_exponent),
            primes: [to_bytes(p), to_bytes(q)],
            exponents: exponents.each_ref().map(|exponent| to_bytes(exponent)),
            coefficient: to_bytes(&coefficient),
            pkcs1: Vec::new(),
        };
        key.pkcs1 = key.to_pkcs1();
        key
    }

    /// Returns e as bytes.
    pub const fn public_exponent() -> [u8; 4] {
        PUBLIC_EXPONENT.to_be_bytes()
    }

    /// Returns the length of the modulus in bytes.
    pub fn length(&self) -> usize {
        self.modulus.len()
    }

    fn to_pkcs1(&self) -> Vec<u8> {
        let ([p, q], [d_p, d_q]) = (&self.primes, &self.exponents);
        let numbers: [&[u8]; 9] = [
            &[0],
            &self.modulus,
            &Self::public_exponent(),
            &self.private_exponent,
            p,
            q,
            d_p,
            d_q,
            &self.coefficient,
        ];
        tagged(0x30, &numbers.map(integer).concat())
    }
}

/// Encodes an `INTEGER` in DER.
fn integer(bytes: &[u8]) -> Vec<u8> {
    let zeros = bytes.iter().take_while(|byte| **byte == 0).count();
    let digits = &bytes[zeros.min(bytes.len() - 1)..];
    // A leading 1 bit would be a sign.
    let sign: &[u8] = if digits[0] >= 0x80 { &[0] } else { &[] };
    tagged(0x02, &[sign, digits].concat())
}

/// Encodes a value of less than 65,536 bytes in DER.
fn tagged(tag: u8, value: &[u8]) -> Vec<u8> {
    let [high, low] = (value.len() as u16).to_be_bytes();
    let head = match value.len() {
        0..0x80 => vec![tag, low],
        0x80..0x100 => vec![tag, 0x81, low],
        _ => vec![tag, 0x82, high, low],
    };
    [head, value.to_vec()].concat()
}

/// Returns the modulus of a public key in DER (`RSAPublicKey`, RFC 8017, appendix A.1.1). The
/// modulus must have more than 2047 bits and a whole number of bytes.
pub fn modulus_in_der(public_key: &[u8]) -> Option<&[u8]> {
    let number = public_key.get(4..)?;
    let length = usize::from(u16::from_be_bytes([*number.get(2)?, *number.get(3)?]));
    // The first byte is 0, for the sign.
    number.get(5..4 + length)
}

fn product(a: &[u64], b: &[u64]) -> Vec<u64> {
    let mut product = vec![0; a.len() + b.len()];
    for (i, x) in a.iter().enumerate() {
        let mut carry = 0;
        for (j, y) in b.iter().enumerate() {
            let sum = u128::from(*x) * u128::from(*y) + u128::from(product[i + j]) + carry;
            product[i + j] = sum as u64;
            carry = sum >> 64;
        }
        product[i + b.len()] = carry as u64;
    }
    product
}

/// Returns an odd number minus one.
fn less_one(odd: &[u64]) -> Vec<u64> {
    let mut even = odd.to_vec();
    even[0] -= 1;
    even
}

/// Returns `limbs` modulo the public exponent.
fn small_remainder(limbs: &[u64]) -> u64 {
    let append = |rest: u64, limb: &u64| {
        ((u128::from(rest) << 64 | u128::from(*limb)) % u128::from(PUBLIC_EXPONENT)) as u64
    };
    limbs.iter().rev().fold(0, append)
}

/// Returns 1/e modulo `order`, where e is prime and does not divide it: (1 + k·order)/e, with the k
/// that makes this an integer.
fn inverse_of_exponent(order: &[u64]) -> Vec<u64> {
    let e = u64::from(PUBLIC_EXPONENT);
    let rest = small_remainder(order);
    let k = (1..e).find(|k| (1 + k * rest).is_multiple_of(e)).expect("e and the order are coprime");
    let mut numerator = product(order, &[k]);
    // The order is even, so the lowest limb of k·order is even.
    numerator[0] += 1;
    let mut rest = 0;
    for limb in numerator.iter_mut().rev() {
        let dividend = u128::from(rest) << 64 | u128::from(*limb);
        *limb = (dividend / u128::from(e)) as u64;
        rest = (dividend % u128::from(e)) as u64;
    }
    numerator.truncate(order.len());
    numerator
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_in_der() {
        assert_eq!(integer(&[0]), [2, 1, 0]);
        assert_eq!(integer(&[0, 0x7f]), [2, 1, 0x7f]);
        assert_eq!(integer(&[0, 0x80]), [2, 2, 0, 0x80]);
        assert_eq!(integer(&[1; 128])[..3], [2, 0x81, 128]);
        assert_eq!(integer(&[0x80; 255])[..5], [2, 0x82, 1, 0, 0]);
    }

    #[test]
    fn the_modulus_is_found_in_der() {
        let modulus = [0xc5; 256];
        let key = tagged(0x30, &[integer(&modulus), integer(&Key::public_exponent())].concat());
        assert_eq!(modulus_in_der(&key), Some(&modulus[..]));
        assert_eq!(modulus_in_der(&key[..200]), None);
    }

    #[test]
    fn inverses_of_the_exponent() {
        let order = [0xffff_ffff_ffff_fff0, 7];
        let inverse = inverse_of_exponent(&order);
        let product = product(&inverse, &[u64::from(PUBLIC_EXPONENT)]);
        let value =
            |limbs: &[u64]| limbs.iter().rev().fold(0, |sum, limb| sum << 64 | u128::from(*limb));
        assert_eq!(value(&product) % value(&order), 1);
    }

    #[test]
    fn eight_keys_are_different_and_accepted_by_the_library() {
        use cycloid::scheme::rsa;
        let keys = Key::eight(2048);
        for (i, key) in keys.iter().enumerate() {
            assert!(keys[..i].iter().all(|other| other.modulus != key.modulus));
            crate::suite::rsa::private_key(key);
        }
        assert!(keys[0].bits >= rsa::MIN_BITS);
    }
}
