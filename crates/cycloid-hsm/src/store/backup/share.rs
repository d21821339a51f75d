//! Shares of a backup's private key, a quorum of which recovers it: Shamir, *How to share a
//! secret*, 1979, byte by byte over GF(2⁸).

use std::fmt;
use std::str::FromStr;

use cycloid::scheme::x25519::PrivateKey;
use sha2::{Digest, Sha256};
use zeroize::{Zeroize, Zeroizing};

use super::super::hex;
use super::super::seal::random;
use super::{BackupKey, BackupPrivateKey};
use crate::{Code, Error, Result};

/// One custodian's share of a [`BackupPrivateKey`]. Fewer shares than the threshold reveal nothing
/// about the key.
#[derive(Clone)]
pub struct Share {
    /// Identifies the key: the beginning of the SHA-256 of its public half.
    identifier: [u8; 8],
    threshold: u8,
    /// The point at which the polynomials are evaluated; not 0, where the key is.
    index: u8,
    value: [u8; 32],
}

impl Drop for Share {
    fn drop(&mut self) {
        self.value.zeroize();
    }
}

/// Shows everything except the value.
impl fmt::Debug for Share {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Share({} of at least {}", self.index, self.threshold)?;
        self.identifier.iter().try_for_each(|byte| write!(f, " {byte:02x}"))?;
        f.write_str(")")
    }
}

/// The length of a share in bytes, without its checksum.
const LENGTH: usize = 8 + 1 + 1 + 32;
/// The length of the checksum in bytes: the beginning of the SHA-256 of the rest.
const CHECKSUM: usize = 4;

impl Share {
    /// Returns the number of shares needed.
    pub const fn threshold(&self) -> u8 {
        self.threshold
    }

    /// Returns the number of this share, from 1.
    pub const fn index(&self) -> u8 {
        self.index
    }

    /// Returns the text for a custodian to keep: 92 hexadecimal digits in groups of four; the last
    /// eight digits are a checksum.
    pub fn to_text(&self) -> Zeroizing<String> {
        let mut bytes = Zeroizing::new(Vec::with_capacity(LENGTH + CHECKSUM));
        bytes.extend_from_slice(&self.identifier);
        bytes.extend_from_slice(&[self.threshold, self.index]);
        bytes.extend_from_slice(&self.value);
        let checksum = Sha256::digest(&*bytes);
        bytes.extend_from_slice(&checksum[..CHECKSUM]);
        let mut text = Zeroizing::new(String::with_capacity(3 * bytes.len()));
        for (at, byte) in bytes.iter().enumerate() {
            if at != 0 && at % 2 == 0 {
                text.push('-');
            }
            for digit in [byte >> 4, byte & 15] {
                text.push(char::from_digit(digit.into(), 16).expect("a digit is less than 16"));
            }
        }
        text
    }
}

/// Parses the text; hyphens and white space are ignored.
impl FromStr for Share {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let digits = text.chars().filter(|digit| !digit.is_whitespace() && *digit != '-');
        let mut kept = Zeroizing::new(String::with_capacity(text.len()));
        kept.extend(digits);
        let read = || {
            let bytes = Zeroizing::new(hex::decode::<{ LENGTH + CHECKSUM }>(&kept)?);
            let (bytes, checksum) = bytes.split_at(LENGTH);
            let (identifier, rest) = bytes.split_first_chunk()?;
            let ([threshold, index], value) = rest.split_first_chunk()?;
            let (threshold, index) = (*threshold, *index);
            let sound = Sha256::digest(bytes).starts_with(checksum) && threshold > 1 && index > 0;
            let value = value.try_into().ok()?;
            sound.then_some(Self { identifier: *identifier, threshold, index, value })
        };
        read().ok_or_else(|| Code::ARGUMENTS_BAD.because("not a share, or a digit is wrong"))
    }
}

fn identifier(key: &BackupKey) -> [u8; 8] {
    *Sha256::digest(key.0).first_chunk().expect("a digest is longer")
}

impl BackupPrivateKey {
    /// Splits the key into `count` shares, any `threshold` of which recover it.
    ///
    /// # Errors
    /// [`Code::ARGUMENTS_BAD`] unless 2 ≤ `threshold` ≤ `count` ≤ 255.
    pub fn split(&self, threshold: u8, count: u8) -> Result<Vec<Share>> {
        if threshold < 2 || threshold > count {
            let text = "give a total of 2 to 255 shares, and a threshold from 2 to the total";
            return Err(Code::ARGUMENTS_BAD.because(text));
        }
        // Each byte of the key is the value of a polynomial at 0; the other coefficients are
        // random.
        let mut coefficients = Vec::new();
        for _ in 1..threshold {
            coefficients.push(Zeroizing::new(random::<32>()?));
        }
        let identifier = identifier(&self.public());
        let share = |index: u8| {
            let mut value = [0; 32];
            for coefficient in coefficients.iter().map(|bytes| &**bytes).chain([self.0.as_bytes()])
            {
                for (value, coefficient) in value.iter_mut().zip(coefficient) {
                    *value = multiply(*value, index) ^ coefficient;
                }
            }
            Share { identifier, threshold, index, value }
        };
        Ok((1..=count).map(share).collect())
    }

    /// Recovers the key from its shares, in any order. Shares beyond the threshold are not needed.
    ///
    /// # Errors
    /// [`Code::ARGUMENTS_BAD`] if there are too few shares, duplicates, or shares of different
    /// keys.
    pub fn combine(shares: &[Share]) -> Result<Self> {
        let refused = |text: &str| Err(Code::ARGUMENTS_BAD.because(text));
        let Some(first) = shares.first() else { return refused("no shares were given") };
        let same = |share: &Share| {
            share.identifier == first.identifier && share.threshold == first.threshold
        };
        if !shares.iter().all(same) {
            return refused("the shares belong to different keys");
        }
        if (1..shares.len()).any(|at| shares[..at].iter().any(|one| one.index == shares[at].index))
        {
            return refused("a share was given twice");
        }
        let Some(needed) = shares.get(..first.threshold.into()) else {
            let text = format!(
                "only {} of the {} needed shares were given",
                shares.len(),
                first.threshold
            );
            return Err(Code::ARGUMENTS_BAD.because(text));
        };
        // Lagrange interpolation at 0, where subtraction is addition. Indices are public.
        let mut key = Zeroizing::new([0; 32]);
        for share in needed {
            let others = needed.iter().filter(|other| other.index != share.index);
            let weight = others.fold(1, |weight, other| {
                multiply(weight, multiply(other.index, invert(other.index ^ share.index)))
            });
            for (key, value) in key.iter_mut().zip(&share.value) {
                *key ^= multiply(*value, weight);
            }
        }
        let key = Self(PrivateKey::from(*key));
        if identifier(&key.public()) == first.identifier {
            Ok(key)
        } else {
            refused("the shares are inconsistent")
        }
    }
}

/// Multiplies in GF(2⁸) modulo x⁸ + x⁴ + x³ + x + 1, in constant time.
fn multiply(a: u8, b: u8) -> u8 {
    let (mut product, mut a) = (0, a);
    for bit in 0..8 {
        product ^= a & (b >> bit & 1).wrapping_neg();
        a = a << 1 ^ 0x1b & (a >> 7).wrapping_neg();
    }
    product
}

/// Returns the inverse: a to the power of 254.
fn invert(a: u8) -> u8 {
    let mut square = a;
    let mut power = 1;
    for _ in 1..8 {
        square = multiply(square, square);
        power = multiply(power, square);
    }
    power
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Multiplies as polynomials, and reduces by long division.
    fn model(a: u8, b: u8) -> u8 {
        let mut product = 0_u32;
        for bit in (0..8).filter(|bit| b >> bit & 1 == 1) {
            product ^= u32::from(a) << bit;
        }
        for bit in (8..16).rev().filter(|bit| *bit < 16) {
            if product >> bit & 1 == 1 {
                product ^= 0x11b << (bit - 8);
            }
        }
        product as u8
    }

    #[test]
    fn multiplication_and_inversion_satisfy_the_field_axioms() {
        for a in 0..=255 {
            for b in 0..=255 {
                assert_eq!(multiply(a, b), model(a, b));
            }
            assert_eq!(multiply(a, invert(a)), u8::from(a != 0));
        }
        // FIPS 197, section 4.2.
        assert_eq!(multiply(0x57, 0x83), 0xc1);
    }

    #[test]
    fn any_three_of_five_shares_recover_the_key_and_no_two_do() {
        let key = BackupPrivateKey::generate().unwrap();
        let shares = key.split(3, 5).unwrap();
        for chosen in 0_u32..32 {
            let some = (0..5).filter(|at| chosen >> at & 1 == 1).rev();
            let some = some.map(|at| shares[at].clone()).collect::<Vec<_>>();
            let combined = BackupPrivateKey::combine(&some);
            if some.len() < 3 {
                assert_eq!(combined.unwrap_err().code, Code::ARGUMENTS_BAD);
            } else {
                assert_eq!(combined.unwrap().0.as_bytes(), key.0.as_bytes());
            }
        }
        // Two shares with a forged threshold are detected.
        let mut two = shares[..2].to_vec();
        two.iter_mut().for_each(|share| share.threshold = 2);
        assert_eq!(BackupPrivateKey::combine(&two).unwrap_err().code, Code::ARGUMENTS_BAD);
        let mut all = key.split(255, 255).unwrap();
        all.reverse();
        assert_eq!(BackupPrivateKey::combine(&all).unwrap().public(), key.public());
    }

    #[test]
    fn inconsistent_shares_are_refused() {
        let key = BackupPrivateKey::generate().unwrap();
        let shares = key.split(2, 3).unwrap();
        let others = BackupPrivateKey::generate().unwrap().split(2, 3).unwrap();
        let again = key.split(2, 3).unwrap();
        for two in [[&shares[0], &others[1]], [&shares[0], &shares[0]], [&shares[0], &again[1]]] {
            let two = two.map(Clone::clone);
            assert_eq!(BackupPrivateKey::combine(&two).unwrap_err().code, Code::ARGUMENTS_BAD);
        }
        for (threshold, count) in [(0, 1), (1, 1), (1, 3), (3, 2), (0, 0)] {
            assert_eq!(key.split(threshold, count).unwrap_err().code, Code::ARGUMENTS_BAD);
        }
    }

    #[test]
    fn a_wrong_digit_is_detected() {
        let share = BackupPrivateKey::generate().unwrap().split(2, 2).unwrap().remove(1);
        let text = share.to_text();
        assert_eq!(text.len(), 46 * 2 + 22);
        let read = text.to_uppercase().replace('-', " ").parse::<Share>().unwrap();
        assert_eq!(read.to_text(), text);
        for at in (0..text.len()).filter(|at| text.as_bytes()[*at] != b'-') {
            let digit = if text.as_bytes()[at] == b'0' { "1" } else { "0" };
            let mut other = text.to_string();
            other.replace_range(at..=at, digit);
            assert_eq!(other.parse::<Share>().unwrap_err().code, Code::ARGUMENTS_BAD);
        }
        for other in ["", "-", &text[1..], &text.repeat(2), &"é".repeat(46)] {
            other.parse::<Share>().unwrap_err();
        }
        assert!(!format!("{share:?}").contains(&text[25..29]));
    }
}
