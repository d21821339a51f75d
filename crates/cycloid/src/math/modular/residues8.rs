//! Arithmetic modulo eight numbers side by side, in Montgomery's representation, and a fixed
//! window on it. Constant-time.

use super::{Exponent, Products, Window, window};
use crate::machine::lanes::{self, LANE_LIMB_BITS, LANES, LaneWords, Lanes};
use crate::machine::words::{LIMB_BITS, Limb};

/// Residues modulo eight odd numbers above 1, n limbs of 52 bits in each lane; R = 2^(52·n).
///
/// A residue is almost reduced: less than twice the modulus.
pub(super) struct Residues8<'a, L> {
    backend: L,
    modulus: &'a [Lanes],
    k0: Lanes,
    work: &'a mut [Lanes],
}

impl<'a, L: LaneWords> Residues8<'a, L> {
    /// `modulus` has n limbs, `work` has [`lanes::montgomery_work`]`(n)`.
    pub(super) fn new(backend: L, modulus: &'a [Lanes], work: &'a mut [Lanes]) -> Self {
        Self { backend, modulus, k0: lanes::montgomery_k0(modulus), work }
    }

    /// R² mod modulus, less than the modulus, where `shortest` is the length in bits of the
    /// shortest modulus.
    pub(super) fn r_squared(&mut self, result: &mut [Lanes], shortest: usize) {
        let exponent = result.len() * LANE_LIMB_BITS;
        // 2^(shortest − 1) is less than each modulus. Doubling leads to R · 2^k for the leading
        // bits k of 52·n; then (R · 2^k)² / R = R · 2^(2k), and a doubling where the next bit is
        // one, until k is 52·n and 2^k is R.
        result.fill(Lanes([0; LANES]));
        let power = shortest - 1;
        result[power / LANE_LIMB_BITS] = Lanes([1 << (power % LANE_LIMB_BITS); LANES]);
        let squarings = LIMB_BITS.ilog2();
        for _ in power..exponent + (exponent >> squarings) {
            lanes::double_mod(result, self.modulus);
        }
        for bit in (0..squarings).rev() {
            self.square(result);
            lanes::reduce_once(result, self.modulus);
            if exponent >> bit & 1 == 1 {
                lanes::double_mod(result, self.modulus);
            }
        }
    }

    /// R² mod modulus, less than the modulus, from 2^(128·m) mod modulus in `known`, m limbs of 64
    /// bits in each lane; 64·m ≤ 52·n.
    pub(super) fn r_squared_from(&mut self, result: &mut [Lanes], known: [&[Limb]; LANES]) {
        for (lane, known) in known.into_iter().enumerate() {
            lanes::load(result, lane, known);
        }
        for _ in 2 * LIMB_BITS * known[0].len()..2 * LANE_LIMB_BITS * result.len() {
            lanes::double_mod(result, self.modulus);
        }
    }

    /// `result = result^exponents mod modulus`, less than the modulus, by windows of the
    /// exponents' `bits` bits, reading the whole table for each.
    ///
    /// `result` is any number below R. `work` has [`window::fixed_work_limbs`] elements, of which
    /// the last n, the entry that is read, hold R² mod modulus at first.
    pub(super) fn pow(
        &mut self,
        result: &mut [Lanes],
        exponents: &[Exponent<'_>; LANES],
        bits: usize,
        window: Window,
        work: &mut [Lanes],
    ) {
        let n = result.len();
        let width = window.bits();
        // Entry i is x^i · R. The place of entry 2 holds 1 until it is needed.
        let (table, entry) = work.split_at_mut(n << width);
        let (one, powers) = table.split_at_mut(n);
        let (base, rest) = powers.split_at_mut(n);
        self.mul(result, entry);
        base.copy_from_slice(result);
        one.copy_from_slice(entry);
        let unit = &mut rest[..n];
        set_to_one(unit);
        self.mul(one, unit);
        let digit =
            |position| Lanes(core::array::from_fn(|lane| exponents[lane].digit(position, width)));
        window::pow_fixed(self, width, bits, digit, result, work);

        // From x · R to x: times 1, which leaves at most the modulus itself.
        let entry = &mut work[n << width..];
        set_to_one(entry);
        self.mul(result, entry);
        lanes::reduce_once(result, self.modulus);
    }
}

impl<L: LaneWords> Products for Residues8<'_, L> {
    type Element = Lanes;
    type Index = Lanes;

    fn mul(&mut self, accumulator: &mut [Lanes], by: &[Lanes]) {
        self.backend.montgomery_mul(accumulator, by, self.work, self.modulus, &self.k0);
    }

    fn square(&mut self, accumulator: &mut [Lanes]) {
        self.backend.montgomery_square(accumulator, self.work, self.modulus, &self.k0);
    }

    fn lookup(&self, out: &mut [Lanes], table: &[Lanes], index: &Lanes) {
        self.backend.lookup(out, table, index);
    }
}

/// The number 1 in each lane.
fn set_to_one(number: &mut [Lanes]) {
    number.fill(Lanes([0; LANES]));
    number[0] = Lanes([1; LANES]);
}
