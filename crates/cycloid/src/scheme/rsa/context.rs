//! The private operation, in a context of its caller's own: blinded, by the Chinese remainder
//! theorem, and checked before it leaves.

use rand_core::CryptoRng;

use super::private::{PrivateKey, equal};
use super::{Error, checked_memory, limbs, prime_limbs};
use crate::machine::ct::{self, Mask};
use crate::machine::words::{self, Limb, Portable, Words};
use crate::math::modular::{self, Exponent};

/// Private operations between two draws of a blinding factor. Between them it is squared.
const BLINDING_USES: u32 = 32;

/// Limbs of memory with which a [`Context`] for a key of `bits` bits is fastest.
pub const fn context_limbs(bits: usize) -> usize {
    let h = prime_limbs(bits);
    let exponentiation = modular::pow_scratch_limbs(h, h * words::LIMB_BITS);
    let least = scratch_least(bits);
    buffers(bits) + if exponentiation > least { exponentiation } else { least }
}

/// Limbs of memory without which a [`Context`] for a key of `bits` bits does not work.
pub const fn context_limbs_minimum(bits: usize) -> usize {
    buffers(bits) + scratch_least(bits)
}

/// The blinding and the message, as long as the modulus, and the result, as long as two primes.
const fn buffers(bits: usize) -> usize {
    3 * limbs(bits) + 2 * prime_limbs(bits)
}

/// Scratch for what is not an exponentiation: checking the result, and inverting the blinding.
const fn scratch_least(bits: usize) -> usize {
    let n = limbs(bits);
    let check = n + modular::pow_scratch_limbs_minimum(n);
    let invert = modular::invert_scratch_limbs(n);
    if check > invert { check } else { invert }
}

/// What one caller needs for operations with a private key: the blinding, a generator of random
/// numbers and all working memory, which is wiped when the context is dropped.
///
/// Contexts of the same key are independent: each thread has its own.
pub struct Context<'a, M: AsRef<[Limb]> + AsMut<[Limb]>, R> {
    pub(super) key: &'a PrivateKey<M>,
    pub(super) rng: R,
    /// r^e mod n and 1/r mod n; the message and the result; scratch.
    memory: &'a mut [Limb],
    /// Private operations until the blinding is drawn anew.
    uses_left: u32,
}

impl<M: AsRef<[Limb]> + AsMut<[Limb]>, R> Drop for Context<'_, M, R> {
    fn drop(&mut self) {
        ct::wipe(self.memory);
    }
}

impl<M: AsRef<[Limb]> + AsMut<[Limb]>, R> core::fmt::Debug for Context<'_, M, R> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "rsa::Context({:?})", self.key)
    }
}

impl<'a, M: AsRef<[Limb]> + AsMut<[Limb]>, R: CryptoRng> Context<'a, M, R> {
    /// A context in `memory`: at least [`context_limbs_minimum`], at best [`context_limbs`].
    ///
    /// # Errors
    /// [`Error::MemoryTooSmall`].
    pub fn new(key: &'a PrivateKey<M>, rng: R, memory: &'a mut [Limb]) -> Result<Self, Error> {
        checked_memory(memory, context_limbs_minimum(key.bits()))?;
        let used = memory.len().min(context_limbs(key.bits()));
        Ok(Self { key, rng, memory: &mut memory[..used], uses_left: 0 })
    }

    /// The length of the modulus, and so of signatures, in bytes.
    pub const fn length(&self) -> usize {
        self.key.bits().div_ceil(8)
    }

    /// Memory for a message representative, as bytes, and for the message, as limbs.
    pub(super) fn buffers(&mut self) -> (&mut [u8], &mut [Limb]) {
        let (length, n) = (self.length(), limbs(self.key.bits()));
        let (message, result) = self.memory[2 * n..].split_at_mut(n);
        (&mut words::as_bytes_mut(result)[..length], message)
    }

    /// RSASP1 and RSADP (RFC 8017, sections 5.2.1 and 5.1.2), on the message in its
    /// [buffer](Self::buffers): `output = message^d mod n`, big-endian, as long as the modulus.
    ///
    /// # Errors
    /// [`Error::Fault`] where the result is not one whose power is the message; `output` is
    /// untouched then.
    pub(super) fn private_operation(&mut self, output: &mut [u8]) -> Result<(), Error> {
        let outcome = self.blinded(output);
        let n = limbs(self.key.bits());
        ct::wipe(&mut self.memory[2 * n..]);
        outcome
    }

    fn blinded(&mut self, output: &mut [u8]) -> Result<(), Error> {
        self.renew_blinding()?;
        let parts = self.key.parts();
        let modulus = parts.n_modulus()?;
        let n = parts.n.len();
        let (blinding, rest) = self.memory.split_at_mut(2 * n);
        let (factor, inverse) = blinding.split_at_mut(n);
        let (message, rest) = rest.split_at_mut(n);
        let (result, scratch) = rest.split_at_mut(2 * parts.p.len());

        result[..n].copy_from_slice(message);
        modular::mul(message, &result[..n], factor, &modulus, scratch)?;
        power(self.key, result, message, scratch)?;
        let result = &mut result[..n];
        #[cfg(test)]
        super::tests::disturb(result);
        // A wrong half would give away the primes (Boneh, DeMillo and Lipton, 1997).
        let (check, scratch) = scratch.split_at_mut(n);
        self.key.public().raise(check, result, scratch)?;
        if !equal(check, message).reveal() {
            return Err(Error::Fault);
        }
        message.copy_from_slice(result);
        modular::mul(result, message, inverse, &modulus, scratch)?;
        words::to_be_bytes(output, result);

        // (r^e)² = (r²)^e, and (1/r)² = 1/r².
        for number in [factor, inverse] {
            result.copy_from_slice(number);
            modular::mul(number, result, result, &modulus, scratch)?;
        }
        self.uses_left -= 1;
        Ok(())
    }

    /// Draws r and computes r^e and 1/r modulo n, where the last has been used up. The message's
    /// buffer is left alone.
    fn renew_blinding(&mut self) -> Result<(), Error> {
        if self.uses_left > 0 {
            return Ok(());
        }
        let modulus = self.key.parts().n;
        let n = modulus.len();
        let (factor, rest) = self.memory.split_at_mut(n);
        let (inverse, rest) = rest.split_at_mut(n);
        let (random, scratch) = rest[n..].split_at_mut(2 * prime_limbs(self.key.bits()));
        let random = &mut random[..n];
        let top = self.key.bits() % words::LIMB_BITS;
        loop {
            random.iter_mut().for_each(|limb| *limb = self.rng.next_u64());
            if top != 0 {
                random[n - 1] &= (1 << top) - 1;
            }
            // What is refused is not used, so it may be known that it was.
            match modular::invert(inverse, random, modulus, scratch) {
                Ok(()) => break,
                Err(modular::Error::NotInvertible) => {}
                Err(error) => return Err(error.into()),
            }
        }
        self.key.public().raise(factor, random, scratch)?;
        ct::wipe(random);
        self.uses_left = BLINDING_USES;
        Ok(())
    }
}

/// `result = x^d mod n` by the Chinese remainder theorem (RFC 8017, section 5.1.2, step 2.b).
/// `result` has the limbs of two primes.
fn power<M: AsRef<[Limb]> + AsMut<[Limb]>>(
    key: &PrivateKey<M>,
    result: &mut [Limb],
    x: &[Limb],
    scratch: &mut [Limb],
) -> Result<(), Error> {
    let parts = key.parts();
    let h = parts.p.len();
    let (p, q) = (parts.p_modulus()?, parts.q_modulus()?);
    // m_1 = c^d_P mod p, m_2 = c^d_Q mod q.
    let (m1, m2) = result.split_at_mut(h);
    modular::pow(m1, x, &Exponent::new(parts.d_p), &p, scratch)?;
    modular::pow(m2, x, &Exponent::new(parts.d_q), &q, scratch)?;
    // h = (m_1 − m_2) · qInv mod p.
    let (difference, scratch) = scratch.split_at_mut(h);
    modular::mul(difference, m2, &[1], &p, scratch)?;
    let borrow = words::sub(m1, difference);
    words::add_if(Mask::from_bit(borrow), m1, parts.p);
    modular::mul(difference, m1, parts.q_inverse, &p, scratch)?;
    // m = m_2 + q·h, less than p·q.
    let product = &mut scratch[..2 * h];
    Portable.mul(product, parts.q, difference);
    words::add(product, m2);
    result.copy_from_slice(product);
    Ok(())
}
