//! Groups compared with their definitions, and key agreement.

use std::string::ToString;
use std::vec;
use std::vec::Vec;

use num_bigint::BigUint;

use super::*;
use crate::machine::words::Limb;
use crate::math::prime::{self, tests::Counter};

fn number(limbs: &[Limb]) -> BigUint {
    limbs.iter().rev().fold(BigUint::ZERO, |sum, limb| (sum << 64) + limb)
}

#[test]
fn both_parties_share_the_same_secret() {
    for group in Group::KNOWN {
        let mut rng = Counter(group.bits() as u64);
        let bits = group.exponent_bits();
        let mut scratch = vec![0; scratch_limbs(group.bits(), bits)];
        let mut party = || {
            let key =
                PrivateKey::generate(group, vec![0; private_key_limbs(bits)], &mut rng).unwrap();
            let mut value = vec![0; group.length()];
            key.public_value(&mut value, &mut scratch).unwrap();
            (key, value)
        };
        let [(a, from_a), (b, from_b)] = [party(), party()];
        let mut shared = vec![0; group.length()];
        a.agree(&from_b, Validation::Full, &mut shared, &mut scratch).unwrap();
        let mut same = vec![0; group.length()];
        b.agree(&from_a, Validation::Full, &mut same, &mut scratch).unwrap();
        assert_eq!(shared, same);
        let x = number(a.exponent_limbs());
        let p = number(group.prime());
        let expected = BigUint::from_bytes_be(&from_b).modpow(&x, &p);
        assert_eq!(BigUint::from_bytes_be(&shared), expected);
    }
}

/// NIST SP 800-56A rev. 3, section 5.7.1.1, step 2: predictable secrets are not released.
#[test]
fn predictable_secrets_are_refused() {
    for group in Group::KNOWN {
        let prime = number(group.prime());
        let one = BigUint::from(1u8);
        for (secret, refused) in [
            (BigUint::ZERO, true),
            (one.clone(), true),
            (&one + &one, false),
            (&one << 64, false),
            (&one + (&one << (group.bits() - 1)), false),
            (&prime - 3u8, false),
            (&prime - 2u8, false),
            (&prime - 1u8, true),
        ] {
            let mut limbs = vec![0; group.prime().len()];
            limbs.iter_mut().zip(secret.iter_u64_digits()).for_each(|(limb, digit)| *limb = digit);
            let mut shared = vec![0xee; group.length()];
            let outcome = private::write_secret(&mut shared, &limbs, group);
            if refused {
                assert_eq!(outcome, Err(Error::SharedSecret), "{secret}");
                assert!(shared.iter().all(|byte| *byte == 0xee));
            } else {
                assert_eq!(outcome, Ok(()), "{secret}");
                assert_eq!(BigUint::from_bytes_be(&shared), secret);
            }
        }
    }
}

/// Returns ⌊2^bits·e⌋, as the sum of 1/n!.
fn e(bits: usize) -> BigUint {
    const GUARD: usize = 64;
    let mut term = BigUint::from(1u8) << (bits + GUARD);
    let mut sum = BigUint::ZERO;
    for n in 1u32.. {
        sum += &term;
        term /= n;
        if term == BigUint::ZERO {
            break;
        }
    }
    sum >> GUARD
}

/// Returns ⌊2^bits·π⌋, as 16·arctan(1/5) − 4·arctan(1/239) (Machin).
fn pi(bits: usize) -> BigUint {
    const GUARD: usize = 64;
    let arctan_of_inverse = |x: u32| {
        let mut power = (BigUint::from(1u8) << (bits + GUARD)) / x;
        let (mut plus, mut minus) = (BigUint::ZERO, BigUint::ZERO);
        for n in (1u32..).step_by(4) {
            plus += &power / n;
            power /= x * x;
            minus += &power / (n + 2);
            power /= x * x;
            if power == BigUint::ZERO {
                break;
            }
        }
        plus - minus
    };
    (arctan_of_inverse(5) * 16u8 - arctan_of_inverse(239) * 4u8) >> GUARD
}

#[test]
fn known_groups_are_those_of_the_standards() {
    let one = BigUint::from(1u8);
    for group in Group::KNOWN {
        let name = group.name().unwrap();
        let bits = group.bits();
        assert_eq!(Group::named(name).unwrap().prime(), group.prime());
        assert!(name.ends_with(&bits.to_string()));
        let digits = if name.starts_with("ffdhe") { e } else { pi };
        // X as printed in the standards, independent of the constants.
        let x: u32 = match name {
            "ffdhe2048" => 560_316,
            "ffdhe3072" => 2_625_351,
            "ffdhe4096" => 5_736_041,
            "ffdhe6144" => 15_705_020,
            "ffdhe8192" => 10_965_728,
            "modp2048" => 124_476,
            "modp3072" => 1_690_314,
            "modp4096" => 240_904,
            "modp6144" => 929_484,
            "modp8192" => 4_743_158,
            _ => panic!("{name} is not known here"),
        };
        let p = (&one << bits) - (&one << (bits - 64)) + ((digits(bits - 130) + x) << 64) - &one;
        assert_eq!(number(group.prime()), p, "{name}");
        assert_eq!(number(group.modulus().r_squared()), (&one << (2 * bits)) % &p);
        assert_eq!(group.generator(), [2]);
        let half: Vec<Limb> = group.half().collect();
        assert_eq!(number(&half), &p >> 1);
        let mut scratch = vec![0; prime::is_probable_prime_scratch_limbs(half.len())];
        for candidate in [group.prime(), &half] {
            let mut rng = Counter(bits as u64);
            let passes =
                prime::is_probable_prime_vartime(candidate, 4, &mut rng, &mut scratch).unwrap();
            assert!(passes, "{name}");
        }
    }
}
