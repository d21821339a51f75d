//! Arithmetic modulo eight numbers side by side in Montgomery form, and powers. Constant-time
//! except for public exponents.

use super::{Exponent, Products, Window, window};
use crate::machine::lanes::{self, LANE_LIMB_BITS, LANES, LaneWords, Lanes};
use crate::machine::words::{LIMB_BITS, Limb};

/// Residues modulo eight odd numbers above 1, with n limbs of 52 bits in each lane; R = 2^(52·n).
///
/// A residue is almost reduced, that is, less than twice the modulus.
pub(crate) struct Residues8<'a, L> {
    backend: L,
    modulus: &'a [Lanes],
    k0: Lanes,
    work: &'a mut [Lanes],
}

impl<'a, L: LaneWords> Residues8<'a, L> {
    /// Prepares the arithmetic. `modulus` has n limbs, `work` has
    /// [`lanes::montgomery_work_lanes`]`(n)`.
    pub(crate) fn new(backend: L, modulus: &'a [Lanes], work: &'a mut [Lanes]) -> Self {
        Self { backend, modulus, k0: lanes::montgomery_k0(modulus), work }
    }

    /// Computes R² mod modulus, less than the modulus; `shortest` is the bit length of the shortest
    /// modulus.
    pub(crate) fn r_squared(&mut self, result: &mut [Lanes], shortest: usize) {
        let exponent = result.len() * LANE_LIMB_BITS;
        // 2^(shortest − 1) is less than each modulus. Doubling leads to R · 2^k for the leading
        // bits k of 52·n; then (R · 2^k)² / R = R · 2^(2k), and a doubling if the next bit is one,
        // until k is 52·n and 2^k is R.
        let power = shortest - 1;
        set_to_power_of_two(result, power);
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

    /// Computes R² mod modulus, less than the modulus, from `known` = 2^(128·m) mod modulus, which
    /// has m limbs of 64 bits in each lane; 64·m ≤ 52·n. `room` has n elements.
    pub(crate) fn r_squared_from(
        &mut self,
        result: &mut [Lanes],
        known: [&[Limb]; LANES],
        room: &mut [Lanes],
    ) {
        let excess = LANE_LIMB_BITS * result.len() - LIMB_BITS * known[0].len();
        lanes::load_all(result, known);
        if 4 * excess < LANE_LIMB_BITS * result.len() {
            // 2^(256·m) / R; times 2^(4·(52·n − 64·m)) / R this is R².
            self.square(result);
            set_to_power_of_two(room, 4 * excess);
            self.mul(result, room);
            lanes::reduce_once(result, self.modulus);
        } else {
            for _ in 0..2 * excess {
                lanes::double_mod(result, self.modulus);
            }
        }
    }

    /// Computes the factor that converts a product divided by R, as computed here, to the product
    /// divided by 2^(64·m), as in Montgomery form with m limbs of 64 bits.
    ///
    /// It is 2^(2·52·n − 64·m) mod modulus, made from `known` = 2^(128·m) mod modulus; 64·m ≤ 52·n
    /// and 3·(52·n − 64·m) < 52·n. `room` has n elements.
    pub(crate) fn words_factor(
        &mut self,
        result: &mut [Lanes],
        known: [&[Limb]; LANES],
        room: &mut [Lanes],
    ) {
        let excess = LANE_LIMB_BITS * result.len() - LIMB_BITS * known[0].len();
        lanes::load_all(result, known);
        set_to_power_of_two(room, 3 * excess);
        self.mul(result, room);
    }

    /// Computes `result = x·R mod modulus`, almost reduced, for any x of n to 2n limbs. `room` has
    /// n.
    pub(crate) fn enter(
        &mut self,
        result: &mut [Lanes],
        x: &[Lanes],
        r_squared: &[Lanes],
        room: &mut [Lanes],
    ) {
        let (low, high) = x.split_at(result.len());
        // x = high·R + low.
        room[..high.len()].copy_from_slice(high);
        room[high.len()..].fill(Lanes::ZERO);
        self.mul(room, r_squared);
        self.mul(room, r_squared);
        result.copy_from_slice(low);
        self.mul(result, r_squared);
        // Both are below the modulus, so the sum is almost reduced.
        lanes::reduce_once(room, self.modulus);
        lanes::reduce_once(result, self.modulus);
        lanes::add(result, room);
    }

    /// Computes `result = result / R mod modulus`, less than the modulus: the number that an almost
    /// reduced residue represents. `room` has n elements.
    pub(crate) fn leave(&mut self, result: &mut [Lanes], room: &mut [Lanes]) {
        // Times 1, which gives at most the modulus itself.
        set_to_one(room);
        self.mul(result, room);
        lanes::reduce_once(result, self.modulus);
    }

    /// Computes `result = result^exponents mod modulus`, less than the modulus, by windows of the
    /// exponents' `bits` bits, reading the whole table for each window.
    ///
    /// `result` is almost reduced and in Montgomery form, see [`enter`](Self::enter). `work` has
    /// [`window::fixed_work_limbs`] elements; its last n, the place of the looked-up entry,
    /// initially hold R² mod modulus.
    pub(crate) fn pow(
        &mut self,
        result: &mut [Lanes],
        exponents: &[Exponent<'_>; LANES],
        bits: usize,
        window: Window,
        work: &mut [Lanes],
    ) {
        let n = result.len();
        let width = window.bits();
        // Entry i is x^i · R. The place of entry 2 holds 1 until that entry is computed.
        let (table, entry) = work.split_at_mut(n << width);
        let (one, powers) = table.split_at_mut(n);
        let (base, rest) = powers.split_at_mut(n);
        base.copy_from_slice(result);
        one.copy_from_slice(entry);
        let unit = &mut rest[..n];
        set_to_one(unit);
        self.mul(one, unit);
        let digit =
            |position| Lanes(core::array::from_fn(|lane| exponents[lane].digit(position, width)));
        window::pow_fixed(self, width, bits, digit, result, work);
        self.leave(result, &mut work[n << width..]);
    }

    /// Computes `result = result^exponents mod modulus`, less than the modulus, for odd exponents.
    /// Time depends on the exponents. `result` is a number below the modulus. `room` has 3n
    /// elements.
    pub(crate) fn pow_vartime(
        &mut self,
        result: &mut [Lanes],
        exponents: &[Limb; LANES],
        r_squared: &[Lanes],
        room: &mut [Lanes],
    ) {
        let n = result.len();
        let (base, rest) = room.split_at_mut(n);
        let (power, product) = rest.split_at_mut(n);
        base.copy_from_slice(result);
        self.mul(base, r_squared);
        // A lane with a shorter exponent starts with 1.
        let bits = exponents.iter().fold(1, |any, exponent| any | exponent).ilog2();
        set_to_one(power);
        self.mul(power, r_squared);
        for bit in (1..=bits).rev() {
            let digits = exponents.map(|exponent| exponent >> bit & 1);
            if digits != [0; LANES] {
                product.copy_from_slice(power);
                self.mul(product, base);
                for (power, product) in power.iter_mut().zip(&*product) {
                    for lane in (0..LANES).filter(|lane| digits[*lane] == 1) {
                        power.0[lane] = product.0[lane];
                    }
                }
            }
            self.square(power);
        }
        // The last bit is one; multiplying by x instead of x·R leaves Montgomery form.
        self.mul(result, power);
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
        self.square_times(accumulator, 1);
    }

    fn square_times(&mut self, accumulator: &mut [Lanes], times: usize) {
        self.backend.montgomery_square(accumulator, times, self.work, self.modulus, &self.k0);
    }

    fn lookup(&self, out: &mut [Lanes], table: &[Lanes], index: &Lanes) {
        self.backend.lookup(out, table, index);
    }
}

/// Sets each lane to 1.
fn set_to_one(number: &mut [Lanes]) {
    set_to_power_of_two(number, 0);
}

/// Sets each lane to 2^power.
fn set_to_power_of_two(number: &mut [Lanes], power: usize) {
    number.fill(Lanes::ZERO);
    number[power / LANE_LIMB_BITS] = Lanes([1 << (power % LANE_LIMB_BITS); LANES]);
}
