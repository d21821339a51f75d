//! The public key, and the public operation.

#[cfg(any(feature = "alloc", feature = "hazardous"))]
use super::length::MAX_LEGACY_BITS;
use super::{Error, KeyError, MAX_BITS, MIN_BITS, Restriction, checked_memory, limbs};
use crate::machine::ct;
use crate::machine::words::{self, Limb};
use crate::math::modular::{self, Modulus};

/// Returns the limbs of memory for a public key of `bits` bits: the modulus n, and R² mod n.
pub const fn public_key_limbs(bits: usize) -> usize {
    2 * limbs(bits)
}

/// Returns the limbs of scratch for verifying with a key of `bits` bits.
pub const fn verify_scratch_limbs(bits: usize) -> usize {
    // Signature, message representative and scratch for the exponentiation.
    2 * limbs(bits) + Modulus::scratch_limbs(limbs(bits))
}

/// Returns the limbs of scratch for encrypting with a key of `bits` bits.
pub const fn encrypt_scratch_limbs(bits: usize) -> usize {
    // Encoded message, message representative and scratch for the exponentiation.
    verify_scratch_limbs(bits)
}

/// A checked and prepared public key in the memory `M`.
#[derive(Clone, Copy)]
pub struct PublicKey<M> {
    memory: M,
    bits: usize,
    exponent: u64,
    restriction: Restriction,
}

impl<M: AsRef<[Limb]>> core::fmt::Debug for PublicKey<M> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "rsa::PublicKey({} bits, e = {})", self.bits, self.exponent)
    }
}

impl<M: AsRef<[Limb]> + AsMut<[Limb]>> PublicKey<M> {
    /// Creates a key from modulus and exponent, both big-endian; leading zeros are allowed.
    ///
    /// `memory` has at least [`public_key_limbs`], `scratch` [`verify_scratch_limbs`].
    ///
    /// # Errors
    /// [`KeyError::ModulusLength`], [`KeyError::Even`], [`KeyError::PublicExponent`],
    /// [`KeyError::Fingerprint`], [`Error::MemoryTooSmall`].
    pub fn new(
        modulus: &[u8],
        exponent: &[u8],
        memory: M,
        scratch: &mut [Limb],
    ) -> Result<Self, Error> {
        checked_modulus_length(bit_length(trimmed(modulus)))?;
        Self::of_any_length(modulus, exponent, memory, scratch)
    }

    /// Like [`new`](Self::new), for moduli of `shortest` bits and more that are too short for
    /// anything but old signatures.
    #[cfg(any(feature = "alloc", feature = "hazardous"))]
    pub(super) fn legacy(
        shortest: usize,
        modulus: &[u8],
        exponent: &[u8],
        memory: M,
        scratch: &mut [Limb],
    ) -> Result<Self, Error> {
        checked_legacy_length(bit_length(trimmed(modulus)), shortest)?;
        Self::of_any_length(modulus, exponent, memory, scratch)
    }

    fn of_any_length(
        modulus: &[u8],
        exponent: &[u8],
        mut memory: M,
        scratch: &mut [Limb],
    ) -> Result<Self, Error> {
        let modulus = trimmed(modulus);
        let bits = bit_length(modulus);
        let exponent = checked_exponent(exponent)?;
        let (limbs, r_squared) =
            checked_memory(memory.as_mut(), public_key_limbs(bits))?.split_at_mut(limbs(bits));
        words::from_be_bytes(limbs, modulus);
        if limbs[0] & 1 == 0 {
            return Err(KeyError::Even.into());
        }
        check_fingerprint(limbs)?;
        Modulus::prepare_known(limbs, bits, r_squared, scratch)?;
        Ok(Self { memory, bits, exponent, restriction: Restriction::None })
    }
}

impl<M: AsRef<[Limb]>> PublicKey<M> {
    /// Creates a key from `memory` that holds a valid n and R² mod n.
    pub(super) const fn from_prepared(
        memory: M,
        bits: usize,
        exponent: u64,
        restriction: Restriction,
    ) -> Self {
        Self { memory, bits, exponent, restriction }
    }

    /// Returns the uses that the key is restricted to.
    pub const fn restriction(&self) -> Restriction {
        self.restriction
    }

    /// Restricts the key further: an unrestricted key may get any restriction, and one for PSS may
    /// get parameters.
    ///
    /// # Errors
    /// [`Error::Restricted`] and [`Error::RestrictedPss`] if the key has a different restriction;
    /// [`Error::SaltTooLong`] if the modulus is too short for the restriction.
    pub fn restricted(mut self, to: Restriction) -> Result<Self, Error> {
        self.restriction = self.restriction.narrowed(to, self.bits)?;
        Ok(self)
    }

    /// Returns the length of the modulus in bits.
    pub const fn bits(&self) -> usize {
        self.bits
    }

    /// Returns the length of the modulus, and so of signatures, in bytes.
    pub const fn length(&self) -> usize {
        self.bits.div_ceil(8)
    }

    /// Returns the public exponent.
    pub const fn exponent(&self) -> u64 {
        self.exponent
    }

    /// Returns the modulus as little-endian limbs.
    pub fn modulus_limbs(&self) -> &[Limb] {
        &self.memory.as_ref()[..limbs(self.bits)]
    }

    /// Returns R² mod n, R = 2^(64·limbs).
    pub(super) fn r_squared(&self) -> &[Limb] {
        let n = limbs(self.bits);
        &self.memory.as_ref()[n..2 * n]
    }

    pub(super) fn modulus(&self) -> Modulus<'_> {
        let n = limbs(self.bits);
        let memory = self.memory.as_ref();
        Modulus::from_known(&memory[..n], self.bits, &memory[n..2 * n])
    }

    /// RSAEP and RSAVP1 (RFC 8017, sections 5.1.1 and 5.2.2): computes `result = x^e mod n` for `x`
    /// less than n. Time depends on the exponent, not on `x`. `scratch` has that of a product.
    pub(super) fn raise(&self, result: &mut [Limb], x: &[Limb], scratch: &mut [Limb]) {
        modular::pow_odd_vartime(result, x, self.exponent, &self.modulus(), scratch);
    }

    /// Borrows the key, whatever its memory type.
    pub(super) fn borrowed(&self) -> PublicKey<&[Limb]> {
        let memory = self.memory.as_ref();
        PublicKey::from_prepared(memory, self.bits, self.exponent, self.restriction)
    }

    /// Converts a signature, as long as the modulus, to a number (RFC 8017, section 8.2.2, steps 1
    /// and 2.a). It is invalid if it has another length or is not below the modulus.
    pub(super) fn load(&self, number: &mut [Limb], signature: &[u8]) -> Result<(), Error> {
        if signature.len() != self.length() {
            return Err(Error::Signature);
        }
        words::from_be_bytes(number, signature);
        // Signatures and ciphertexts are public.
        let below = words::is_less(number, self.modulus_limbs()).reveal();
        if below { Ok(()) } else { Err(Error::Signature) }
    }

    /// RSAEP of the message that `encode` writes into bytes as long as the modulus (RFC 8017,
    /// sections 7.1.1 and 7.2.1, steps 2 and 3). Constant-time in the message; the scratch is
    /// wiped.
    ///
    /// # Errors
    /// [`Error::Restricted`], [`Error::Length`] for `ciphertext`, [`Error::MemoryTooSmall`],
    /// [`Error::OutOfRange`], and those of `encode`; `ciphertext` is untouched then.
    pub(super) fn encrypt(
        &self,
        ciphertext: &mut [u8],
        scratch: &mut [Limb],
        encode: impl FnOnce(&mut [u8]) -> Result<(), Error>,
    ) -> Result<(), Error> {
        self.restriction.allows_all()?;
        let (needed, given) = (self.length(), ciphertext.len());
        if needed != given {
            return Err(Error::Length { needed, given });
        }
        let scratch = checked_memory(scratch, encrypt_scratch_limbs(self.bits))?;
        let outcome = self.encrypt_encoded(ciphertext, scratch, encode);
        ct::wipe(scratch);
        outcome
    }

    fn encrypt_encoded(
        &self,
        ciphertext: &mut [u8],
        scratch: &mut [Limb],
        encode: impl FnOnce(&mut [u8]) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let n = limbs(self.bits);
        let (c, rest) = scratch.split_at_mut(n);
        let (m, rest) = rest.split_at_mut(n);
        let encoded = &mut words::as_bytes_mut(c)[..ciphertext.len()];
        encode(encoded)?;
        words::from_be_bytes(m, encoded);
        // Whether the encoded message is below the modulus is the function's result.
        if !words::is_less(m, self.modulus_limbs()).reveal() {
            return Err(Error::OutOfRange);
        }
        self.raise(c, m, rest);
        words::to_be_bytes(ciphertext, c);
        Ok(())
    }
}

/// Returns `bytes` without leading zeros.
pub(super) fn trimmed(bytes: &[u8]) -> &[u8] {
    let zeros = bytes.iter().take_while(|byte| **byte == 0).count();
    &bytes[zeros..]
}

/// Returns the length in bits of a number without leading zero bytes.
pub(super) fn bit_length(bytes: &[u8]) -> usize {
    bytes.first().map_or(0, |first| bytes.len() * 8 - first.leading_zeros() as usize)
}

/// Parses the public exponent: odd, at least 3, at most 64 bits.
pub(super) fn checked_exponent(exponent: &[u8]) -> Result<u64, Error> {
    let exponent = trimmed(exponent);
    if exponent.len() > size_of::<u64>() {
        return Err(KeyError::PublicExponent.into());
    }
    let exponent = exponent.iter().fold(0, |e, byte| e << 8 | u64::from(*byte));
    if exponent < 3 || exponent.is_multiple_of(2) {
        Err(Error::Key(KeyError::PublicExponent))
    } else {
        Ok(exponent)
    }
}

/// Returns an error unless keys may have a modulus of `bits` bits.
pub(super) const fn checked_modulus_length(bits: usize) -> Result<(), Error> {
    if MIN_BITS <= bits && bits <= MAX_BITS {
        Ok(())
    } else {
        Err(Error::Key(KeyError::ModulusLength { bits }))
    }
}

/// Returns an error unless a legacy key may have a modulus of `bits` bits, at least `shortest`.
#[cfg(any(feature = "alloc", feature = "hazardous"))]
pub(super) const fn checked_legacy_length(bits: usize, shortest: usize) -> Result<(), Error> {
    if shortest <= bits && bits <= MAX_LEGACY_BITS {
        Ok(())
    } else {
        Err(Error::Key(KeyError::LegacyLength { bits }))
    }
}

/// Returns an error if the modulus is a power of 65537 modulo each of the small primes whose
/// product the affected key generator used to make its primes (Nemec and others, The Return of
/// Coppersmith's Attack, 2017, section 3.2).
pub(super) fn check_fingerprint(modulus: &[Limb]) -> Result<(), Error> {
    const PRIMES: [u32; 38] = [
        3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61, 67, 71, 73, 79, 83, 89,
        97, 101, 103, 107, 109, 113, 127, 131, 137, 139, 149, 151, 157, 163, 167,
    ];
    let affected = PRIMES.iter().all(|prime| {
        // Digits of 16 bits: processors of 32 bits have no division of longer numbers.
        let digit = |rest: u32, digit: u16| (rest << 16 | u32::from(digit)) % prime;
        let wide = |rest: u32, limb: &Limb| {
            [48, 32, 16, 0].iter().fold(rest, |rest, shift| digit(rest, (limb >> shift) as u16))
        };
        let residue = modulus.iter().rev().fold(0, wide);
        let mut power = 1;
        (0..*prime).any(|_| {
            power = power * 65537 % prime;
            power == residue
        })
    });
    if affected { Err(Error::Key(KeyError::Fingerprint)) } else { Ok(()) }
}
