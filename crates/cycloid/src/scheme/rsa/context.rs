//! The private operation in a context owned by one caller: blinded, computed by the Chinese
//! remainder theorem, and checked before the result is released.

use rand_core::CryptoRng;

use super::blinding::{Blinding, blinding_limbs, draw_scratch_limbs};
use super::numbers::equal;
use super::operation::{Operation, Purpose};
use super::private::{BorrowedKey, IS_SMALL, Parts, PrivateKey};
use super::step::Step;
use super::{Error, KeyError, checked_memory, limbs, prime_limbs};
use crate::machine::ct::{self, Mask};
use crate::machine::stack;
use crate::machine::words::{self, Limb};
use crate::math::modular::{self, Exponent, Modulus, montgomery_mul};

/// Returns the limbs of memory with which a [`Context`] for a key of `bits` bits is fastest.
pub const fn context_limbs(bits: usize) -> usize {
    blinding_limbs(bits) + power_limbs(bits)
}

/// Returns the minimum limbs of memory of a [`Context`] for a key of `bits` bits.
pub const fn minimum_context_limbs(bits: usize) -> usize {
    blinding_limbs(bits) + power_limbs_minimum(bits)
}

/// Returns the limbs of memory, besides the blinding, with which one operation is fastest: the
/// message, as long as the modulus; the result, as long as two primes; and scratch for everything
/// else. A blinding is drawn in all of it.
pub(super) const fn power_limbs(bits: usize) -> usize {
    let h = prime_limbs(bits);
    let fastest = limbs(bits) + 2 * h + modular::pow_scratch_limbs(h, h * words::LIMB_BITS);
    let minimum = power_limbs_minimum(bits);
    if fastest > minimum { fastest } else { minimum }
}

/// Returns the minimum number of those limbs.
const fn power_limbs_minimum(bits: usize) -> usize {
    let n = limbs(bits);
    let check = n + Modulus::scratch_limbs(n);
    let h = prime_limbs(bits);
    // With primes of other lengths, the power is modulo n.
    let power = if IS_SMALL {
        modular::pow_compact_scratch_limbs(h)
    } else {
        modular::pow_minimum_scratch_limbs(n)
    };
    let used = n + 2 * h + if check > power { check } else { power };
    let draw = if IS_SMALL { invert_by_halves_limbs(h) } else { draw_scratch_limbs(bits) };
    if used > draw { used } else { draw }
}

/// The state of one caller's private operations: the blinding, a random generator and all working
/// memory. Wiped when dropped.
///
/// Contexts of the same key are independent, so each thread has its own.
pub struct Context<'a, M: AsRef<[Limb]> + AsMut<[Limb]>, R> {
    key: &'a PrivateKey<M>,
    rng: R,
    memory: &'a mut [Limb],
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
    /// Creates a context in `memory`: at least [`minimum_context_limbs`], at best
    /// [`context_limbs`].
    ///
    /// # Errors
    /// [`Error::MemoryTooSmall`].
    pub fn new(key: &'a PrivateKey<M>, rng: R, memory: &'a mut [Limb]) -> Result<Self, Error> {
        checked_memory(memory, minimum_context_limbs(key.bits()))?;
        // The best size would be more code.
        let used = if IS_SMALL { memory.len() } else { context_limbs(key.bits()) };
        let used = memory.len().min(used);
        let memory = &mut memory[..used];
        ct::wipe(&mut memory[..blinding_limbs(key.bits())]);
        Ok(Self { key, rng, memory })
    }

    /// Returns the key.
    pub const fn key(&self) -> &'a PrivateKey<M> {
        self.key
    }

    /// Runs an operation and returns the number of bytes written.
    ///
    /// # Errors
    /// Those of the operation, and [`Error::Fault`]; its output is untouched then.
    pub(super) fn perform(
        &mut self,
        mut operation: Operation<'_, impl Purpose>,
    ) -> Result<usize, Error> {
        run(&self.key.borrowed(), &mut operation, &mut self.rng, self.memory)
    }
}

/// Runs an operation in the memory of a context, whose blinding is zeros or that of this key, and
/// returns the number of bytes written.
///
/// # Errors
/// Those of the operation, and [`Error::Fault`]; its output is untouched then.
pub(super) fn run<P: Purpose>(
    key: &BorrowedKey<'_>,
    operation: &mut Operation<'_, P>,
    rng: &mut impl CryptoRng,
    memory: &mut [Limb],
) -> Result<usize, Error> {
    let (blinding, memory) = memory.split_at_mut(blinding_limbs(key.bits()));
    let outcome = stack::clean(P::STACK_USE, || perform(key, blinding, operation, rng, memory));
    ct::wipe(memory);
    outcome
}

/// Runs one operation. `memory` has at least [`power_limbs_minimum`] and is not wiped.
fn perform(
    key: &BorrowedKey<'_>,
    blinding: &mut [Limb],
    operation: &mut Operation<'_, impl Purpose>,
    rng: &mut impl CryptoRng,
    memory: &mut [Limb],
) -> Result<usize, Error> {
    let length = key.public().length();
    let n = key.n().len();
    let mut blinding = Blinding::of(blinding, key.bits())?;
    renew(key, &mut blinding, rng, memory)?;
    let (message, rest) = memory.split_at_mut(n);
    let (result, scratch) = rest.split_at_mut(2 * prime_limbs(key.bits()));
    represent(key, operation, rng, message, words::as_bytes_mut(result))?;
    power(key, &mut blinding, message, result, scratch, &mut |_| {})?;
    let bytes = &mut words::as_bytes_mut(message)[..length];
    words::to_be_bytes(bytes, &result[..n]);
    operation.deliver(key.d(), bytes)
}

/// Draws a blinding if the last one is used up. `scratch` has [`power_limbs_minimum`].
pub(super) fn renew(
    key: &BorrowedKey<'_>,
    blinding: &mut Blinding<'_>,
    rng: &mut impl CryptoRng,
    scratch: &mut [Limb],
) -> Result<(), Error> {
    if !IS_SMALL {
        return blinding.renew(&key.public(), rng, scratch, modular::invert_long_in_frames);
    }
    blinding.renew(&key.public(), rng, scratch, |inverse, x, _, scratch| {
        let parts = key.halves().ok_or(modular::Error::NotInvertible)?;
        invert_by_halves(&parts, inverse, x, scratch);
        Ok(())
    })
}

/// Computes `inverse = 1 / x mod n` from the powers p − 2 and q − 2 modulo the primes (Fermat): the
/// code of the private operation. If x has no inverse, the result is another number, and the check
/// of the signature fails. `scratch` has [`invert_by_halves_limbs`].
fn invert_by_halves(
    parts: &Parts<&[Limb]>,
    inverse: &mut [Limb],
    x: &[Limb],
    scratch: &mut [Limb],
) {
    let h = parts.p.len();
    let (result, scratch) = scratch.split_at_mut(2 * h);
    let (exponents, scratch) = scratch.split_at_mut(2 * h);
    let (p, q) = exponents.split_at_mut(h);
    for (exponent, prime) in [(&mut *p, parts.p), (&mut *q, parts.q)] {
        exponent.copy_from_slice(prime);
        words::sub(exponent, &[2]);
    }
    powers_compact(parts, [p, q], x, result, scratch);
    combine(parts, result, scratch);
    inverse.copy_from_slice(&result[..inverse.len()]);
}

/// Returns the limbs of scratch of [`invert_by_halves`] for primes of `h` limbs: the result, the
/// exponents, and scratch for a power.
const fn invert_by_halves_limbs(h: usize) -> usize {
    4 * h + modular::pow_compact_scratch_limbs(h)
}

/// Computes the powers of a message modulo p and q, with the exponents of the key: one after the
/// other in `result`.
fn powers(
    parts: &Parts<&[Limb]>,
    message: &[Limb],
    result: &mut [Limb],
    scratch: &mut [Limb],
) -> Result<(), Error> {
    if IS_SMALL {
        powers_compact(parts, [parts.d_p, parts.d_q], message, result, scratch);
        return Ok(());
    }
    // m_1 = c^d_P mod p, m_2 = c^d_Q mod q.
    let (m1, m2) = result.split_at_mut(parts.p.len());
    for (m, exponent, modulus) in
        [(m1, parts.d_p, parts.p_modulus()), (m2, parts.d_q, parts.q_modulus())]
    {
        let exponent = Exponent::with_bits(exponent, modulus.bits())?;
        modular::pow_in_frames(m, message, &exponent, &modulus, scratch)?;
    }
    Ok(())
}

/// The same with other exponents of as many limbs, and the least code.
fn powers_compact(
    parts: &Parts<&[Limb]>,
    exponents: [&[Limb]; 2],
    message: &[Limb],
    result: &mut [Limb],
    scratch: &mut [Limb],
) {
    let (m1, m2) = result.split_at_mut(parts.p.len());
    let [e1, e2] = exponents;
    for (m, exponent, modulus) in [(m1, e1, parts.p_modulus()), (m2, e2, parts.q_modulus())] {
        // The message is less than p·q, and either prime is less than R.
        modular::pow_compact(m, message, exponent, &modulus, scratch);
    }
}

/// Writes the message representative of an operation as a number; `room` has at least as many
/// bytes.
pub(super) fn represent(
    key: &BorrowedKey<'_>,
    operation: &Operation<'_, impl Purpose>,
    rng: &mut impl CryptoRng,
    message: &mut [Limb],
    room: &mut [u8],
) -> Result<(), Error> {
    operation.check(key.restriction())?;
    let bytes = &mut room[..key.public().length()];
    operation.represent(key.bits(), rng, bytes)?;
    words::from_be_bytes(message, bytes);
    // Whether the number is in the key's range is public.
    if words::is_less(message, key.n()).reveal() { Ok(()) } else { Err(Error::OutOfRange) }
}

/// RSASP1 and RSADP (RFC 8017, sections 5.2.1 and 5.1.2): computes `result = message^d mod n` in
/// the limbs of two primes. Destroys the message. Calls `observer` when each step but the first
/// begins.
pub(super) fn power(
    key: &BorrowedKey<'_>,
    blinding: &mut Blinding<'_>,
    message: &mut [Limb],
    result: &mut [Limb],
    scratch: &mut [Limb],
    observer: &mut dyn FnMut(Step),
) -> Result<(), Error> {
    let modulus = key.modulus();
    let n = key.n().len();
    montgomery_mul(message, Some(blinding.factor), &modulus, scratch);
    observer(Step::Exponentiation);
    if let Some(parts) = key.halves() {
        powers(&parts, message, result, scratch)?;
        observer(Step::Recombination);
        combine(&parts, result, scratch);
    } else if IS_SMALL {
        // There are no such keys.
        return Err(KeyError::Primes.into());
    } else {
        let d = Exponent::with_bits(key.d(), key.bits())?;
        modular::pow_in_frames(&mut result[..n], message, &d, &modulus, scratch)?;
    }
    let result = &mut result[..n];
    #[cfg(test)]
    super::tests::disturb(result);
    // A wrong half would reveal the primes (Boneh, DeMillo and Lipton, 1997).
    observer(Step::Verification);
    let (check, rest) = scratch.split_at_mut(n);
    key.public().raise(check, result, rest);
    if !equal(check, message).reveal() {
        blinding.discard();
        return Err(Error::Fault);
    }
    observer(Step::Blinding);
    montgomery_mul(result, Some(blinding.inverse), &modulus, scratch);
    blinding.square(&modulus, scratch);
    Ok(())
}

/// Combines m_1 and m_2, stored one after the other in `result`, to m modulo p·q (RFC 8017, section
/// 5.1.2, step 2.b). `scratch` has the limbs of both primes plus those of a product modulo one.
pub(super) fn combine(parts: &Parts<&[Limb]>, result: &mut [Limb], scratch: &mut [Limb]) {
    let h = parts.p.len();
    let p = parts.p_modulus();
    let (m1, m2) = result.split_at_mut(h);
    let (residue, scratch) = scratch.split_at_mut(h);
    // m_2 mod p; primes of equal length are less than twice each other.
    residue.copy_from_slice(m2);
    words::reduce_once(0, residue, parts.p);
    // h = (m_1 − m_2) · qInv mod p.
    let borrow = words::sub(m1, residue);
    words::add_if(Mask::from_bit(borrow), m1, parts.p);
    montgomery_mul(m1, Some(parts.q_inverse), &p, scratch);
    montgomery_mul(m1, Some(parts.p_r_squared), &p, scratch);
    // m = m_2 + q·h, less than p·q.
    let product = &mut scratch[..2 * h];
    words::product(product, parts.q, m1);
    words::add(product, m2);
    result.copy_from_slice(product);
}

#[cfg(test)]
mod tests {
    use std::vec;

    use super::*;
    use crate::scheme::rsa::tests::key;

    /// The inverse of the feature `small`, by powers modulo both primes.
    #[test]
    fn inverses_by_halves_agree_with_the_greatest_common_divisor() {
        let key = key().borrowed();
        let parts = key.halves().expect("two primes of half length");
        let n = key.n().len();
        for seed in 1..6_u64 {
            let mut x: vec::Vec<Limb> = (0..n as u64).map(|i| (i + 1).wrapping_mul(seed)).collect();
            x[n - 1] = if seed == 1 { 0 } else { 1 << 62 };
            let (mut ours, mut expected) = (vec![0; n], vec![0; n]);
            let mut scratch = vec![0; modular::invert_scratch_limbs(n)];
            modular::invert(&mut expected, &x, key.n(), &mut scratch).unwrap();
            let mut scratch = vec![0; invert_by_halves_limbs(parts.p.len())];
            invert_by_halves(&parts, &mut ours, &x, &mut scratch);
            assert_eq!(ours, expected, "{seed}");
        }
    }

    #[test]
    fn the_least_memory_is_that_of_the_check() {
        for bits in [2048, 3072, 4096] {
            assert_eq!(power_limbs_minimum(bits), 5 * limbs(bits));
        }
    }
}
