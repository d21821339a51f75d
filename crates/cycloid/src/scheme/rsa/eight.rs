//! Private operations in eight lanes: blinded, computed by the Chinese remainder theorem, and
//! checked, like a single operation.

use super::context::combine;
use super::private::BorrowedKey;
use super::step::Step;
use super::{Error, limbs, prime_limbs};
use crate::machine::ct::Mask;
use crate::machine::lanes::{self, LANES, LaneWords, Lanes};
use crate::machine::words::{LIMB_BITS, Limb};
use crate::math::modular::{Exponent, Products, Residues8, fastest_of_eight, powers_of_eight};

/// The number of operations that fill the lanes with both of their halves at once.
pub(super) const HALF: usize = LANES / 2;

/// Returns the lane limbs of a number as long as the modulus.
pub(super) const fn whole_lanes(bits: usize) -> usize {
    lanes::lane_limbs(limbs(bits) * LIMB_BITS)
}

/// Returns the lane limbs of a number as long as a prime.
pub(super) const fn half_lanes(bits: usize) -> usize {
    lanes::lane_limbs(prime_limbs(bits) * LIMB_BITS)
}

/// Returns the `Lanes` of scratch for eight private operations with keys of `bits` bits.
pub(super) const fn scratch_lanes(bits: usize) -> usize {
    let (n, h) = (whole_lanes(bits), half_lanes(bits));
    let powers = powers_of_eight(h, fastest_of_eight(h, bits / 2));
    let half = 2 * h + powers + lanes::montgomery_work_lanes(h);
    let results = 2 * prime_limbs(bits);
    8 * n + lanes::montgomery_work_lanes(n) + half + results
}

/// Eight private operations, or four that occupy two lanes each.
pub(super) struct PrivateEight<'a, 'm, 'o> {
    /// The key of each lane, all of the same length.
    pub(super) keys: [BorrowedKey<'a>; LANES],
    /// Whether lane i + 4 holds the same operation as lane i.
    pub(super) twice: bool,
    /// The messages, less than the moduli, which the results replace; and the factors of their
    /// blindings, which are squared. Three numbers of [`whole_lanes`].
    pub(super) numbers: &'m mut [Lanes],
    /// Scratch of [`scratch_lanes`].
    pub(super) scratch: &'m mut [Lanes],
    /// Called when each step but the first begins.
    pub(super) observer: &'o mut dyn FnMut(Step),
}

impl lanes::Task for PrivateEight<'_, '_, '_> {
    /// The lanes in which the result is right. A wrong result must not be released.
    type Output = Result<[Mask; LANES], Error>;

    fn run<L: LaneWords>(self, backend: L) -> Self::Output {
        let Self { keys, twice, numbers, scratch, observer } = self;
        let parts = keys.map(|key| key.halves().expect("the batch runs other keys alone"));
        let bits = keys[0].bits();
        let n = whole_lanes(bits);
        let (x, factors) = numbers.split_at_mut(n);
        let (factor, inverse) = factors.split_at_mut(n);
        let (modulus, scratch) = scratch.split_at_mut(n);
        let (r_squared, scratch) = scratch.split_at_mut(n);
        let (words_factor, scratch) = scratch.split_at_mut(n);
        let (blinded, scratch) = scratch.split_at_mut(n);
        let (power, scratch) = scratch.split_at_mut(n);
        let (room, scratch) = scratch.split_at_mut(3 * n);
        let (work, scratch) = scratch.split_at_mut(lanes::montgomery_work_lanes(n));
        let (results, scratch) = scratch.split_at_mut(2 * prime_limbs(bits));
        let results = Lanes::as_limbs_mut(results);

        lanes::load_all(modulus, parts.map(|parts| parts.n));
        let mut whole = Residues8::new(backend, modulus, work);
        let known = parts.map(|parts| parts.n_r_squared);
        whole.r_squared_from(r_squared, known, &mut room[..n]);
        whole.words_factor(words_factor, known, &mut room[..n]);
        whole.mul(x, factor);
        whole.mul(x, words_factor);
        lanes::reduce_once(x, modulus);
        blinded.copy_from_slice(x);

        // m_1 = c^d_P mod p, m_2 = c^d_Q mod q.
        observer(Step::Exponentiation);
        let size = 2 * prime_limbs(bits);
        let mut half = |of_p: fn(usize) -> bool, operation: fn(usize) -> usize| {
            let halves = core::array::from_fn(|lane| {
                let parts = &parts[lane];
                if of_p(lane) {
                    (parts.p, parts.p_r_squared, parts.d_p)
                } else {
                    (parts.q, parts.q_r_squared, parts.d_q)
                }
            });
            let powers = power_of_half(backend, halves, blinded, bits, scratch);
            for lane in 0..LANES {
                let result = &mut results[operation(lane) * size..][..size];
                let (m1, m2) = result.split_at_mut(size / 2);
                lanes::store(if of_p(lane) { m1 } else { m2 }, powers, lane);
            }
        };
        if twice {
            half(|lane| lane < HALF, |lane| lane % HALF);
        } else {
            half(|_| true, |lane| lane);
            half(|_| false, |lane| lane);
        }
        observer(Step::Recombination);
        let operations = if twice { HALF } else { LANES };
        for (i, result) in results.chunks_exact_mut(size).take(operations).enumerate() {
            combine(&parts[i], result, Lanes::as_limbs_mut(scratch));
            #[cfg(test)]
            super::tests::disturb(result);
            let result = &result[..limbs(bits)];
            lanes::load(x, i, result);
            if twice {
                lanes::load(x, i + HALF, result);
            }
        }

        // A wrong half would reveal the primes (Boneh, DeMillo and Lipton, 1997).
        observer(Step::Verification);
        power.copy_from_slice(x);
        let exponents = keys.map(|key| key.public().exponent());
        whole.pow_vartime(power, &exponents, r_squared, room);
        let right = lanes::equal(power, blinded);

        observer(Step::Blinding);
        whole.mul(x, inverse);
        whole.mul(x, words_factor);
        lanes::reduce_once(x, modulus);
        for number in [factor, inverse] {
            whole.square(number);
            whole.mul(number, words_factor);
            lanes::reduce_once(number, modulus);
        }
        Ok(right)
    }
}

/// Computes `x^exponent mod modulus` for eight primes, each with its R² and its exponent.
fn power_of_half<'m, L: LaneWords>(
    backend: L,
    halves: [(&[Limb], &[Limb], &[Limb]); LANES],
    x: &[Lanes],
    bits: usize,
    memory: &'m mut [Lanes],
) -> &'m [Lanes] {
    let h = half_lanes(bits);
    let window = fastest_of_eight(h, bits / 2);
    let (modulus, rest) = memory.split_at_mut(h);
    let (result, rest) = rest.split_at_mut(h);
    let (powers, work) = rest.split_at_mut(powers_of_eight(h, window));
    lanes::load_all(modulus, halves.map(|(prime, ..)| prime));
    let mut residues = Residues8::new(backend, modulus, work);
    let (table, r_squared) = powers.split_at_mut(h << window.bits());
    let known = halves.map(|(_, r_squared, _)| r_squared);
    residues.r_squared_from(r_squared, known, &mut table[..h]);
    residues.enter(result, x, r_squared, &mut table[..h]);
    let exponents = halves.map(|(.., exponent)| Exponent::new(exponent));
    residues.pow(result, &exponents, bits.div_ceil(2), window, powers);
    result
}
