//! Montgomery reduction: x represents x/R, R = 2^(64·n), so that a reduction divides by R instead
//! of by the modulus (Montgomery, Modular multiplication without trial division, 1985).
//! Constant-time; the bit length of the modulus is public, its value may be secret.

use super::{Products, Residues, for_each_chunk};
use crate::machine::words::{self, LIMB_BITS, Limb, Words};

/// Residues modulo an odd number other than 1.
pub(super) struct Montgomery<'a, W> {
    words: W,
    modulus: &'a [Limb],
    n0: Limb,
    /// R² mod modulus, if known in advance.
    r_squared: Option<&'a [Limb]>,
    work: &'a mut [Limb],
}

impl<'a, W: Words> Montgomery<'a, W> {
    /// Prepares a reduction. `modulus` has n limbs, the highest not 0; `work` has
    /// [`words::montgomery_work_limbs`]`(n)`.
    pub(super) fn new(
        words: W,
        modulus: &'a [Limb],
        r_squared: Option<&'a [Limb]>,
        work: &'a mut [Limb],
    ) -> Self {
        Self { words, modulus, n0: words::montgomery_n0(modulus[0]), r_squared, work }
    }

    /// Computes `result = result / R mod modulus`, for any `result` below R.
    fn divide_by_r(&mut self, result: &mut [Limb]) {
        let wide = &mut self.work[..2 * result.len()];
        let (low, high) = wide.split_at_mut(result.len());
        low.copy_from_slice(result);
        high.fill(0);
        self.words.montgomery_reduce(result, wide, self.modulus, self.n0);
    }

    /// Computes `result = x / R mod modulus`, for an x less than R · modulus, of at most 2n limbs.
    pub(super) fn divide_wide_by_r(&mut self, result: &mut [Limb], x: &[Limb]) {
        let wide = &mut self.work[..2 * result.len()];
        wide.fill(0);
        wide[..x.len()].copy_from_slice(x);
        self.words.montgomery_reduce(result, wide, self.modulus, self.n0);
    }

    /// Computes `result = result + chunk / R mod modulus`, for `result` less than the modulus.
    fn append(&mut self, result: &mut [Limb], chunk: &[Limb]) {
        let wide = &mut self.work[..2 * result.len()];
        let (low, high) = wide.split_at_mut(result.len());
        low[..chunk.len()].copy_from_slice(chunk);
        low[chunk.len()..].fill(0);
        high.copy_from_slice(result);
        self.words.montgomery_reduce(result, wide, self.modulus, self.n0);
    }

    /// Computes `result = x · R mod modulus`, for x of any length and value.
    pub(super) fn represent(&mut self, result: &mut [Limb], x: &[Limb], r_squared: &[Limb]) {
        let n = self.modulus.len();
        result.fill(0);
        if x.len() <= n {
            result[..x.len()].copy_from_slice(x);
        } else {
            // (result · R + chunk) / R; multiplying by R² / R restores the factor R.
            for_each_chunk(x, n, |chunk| {
                self.append(result, chunk);
                self.mul(result, r_squared);
            });
        }
        self.mul(result, r_squared);
    }

    /// Computes R² mod modulus.
    pub(super) fn r_squared(&mut self, result: &mut [Limb]) {
        if let Some(known) = self.r_squared {
            result.copy_from_slice(known);
            return;
        }
        let n = self.modulus.len();
        let exponent = n * LIMB_BITS;
        // 2^(bits − 1) < modulus; doubling leads to R, then to R · 2^k for a small k.
        let bits = if cfg!(feature = "small") {
            // At least one less than the length: a few more doublings instead of another function.
            // An odd modulus of several limbs is more than the power of its highest limb.
            (n - 1) * LIMB_BITS + 1
        } else {
            super::exponent::bit_length(self.modulus)
        };
        result.fill(0);
        result[(bits - 1) / LIMB_BITS] = 1 << ((bits - 1) % LIMB_BITS);
        let squarings = LIMB_BITS.ilog2();
        let k = exponent >> squarings;
        for _ in bits - 1..exponent + k {
            self.double(result);
        }
        // (R · 2^k)² / R = R · 2^(2k): six squarings reach R · 2^(64·n) = R².
        for _ in 0..squarings {
            self.square(result);
        }
    }

    /// Computes `a = 2a mod modulus`.
    fn double(&mut self, a: &mut [Limb]) {
        let carry = words::double(a);
        words::reduce_once(carry, a, self.modulus);
    }
}

impl<W: Words> Residues for Montgomery<'_, W> {
    fn enter(&mut self, one: &mut [Limb], base: &mut [Limb], x: &[Limb]) {
        let r_squared = one;
        self.r_squared(r_squared);
        self.represent(base, x, r_squared);
        // R² / R = R, which represents 1.
        self.divide_by_r(r_squared);
    }

    fn leave(&mut self, accumulator: &mut [Limb]) {
        self.divide_by_r(accumulator);
    }
}

impl<W: Words> Products for Montgomery<'_, W> {
    type Element = Limb;
    type Index = usize;

    #[inline]
    fn mul(&mut self, accumulator: &mut [Limb], by: &[Limb]) {
        self.words.montgomery_mul(accumulator, by, self.work, self.modulus, self.n0);
    }

    #[inline]
    fn square(&mut self, accumulator: &mut [Limb]) {
        self.words.montgomery_square(accumulator, self.work, self.modulus, self.n0);
    }

    #[inline]
    fn square_times(&mut self, accumulator: &mut [Limb], times: usize) {
        self.words.montgomery_square_times(accumulator, times, self.work, self.modulus, self.n0);
    }

    fn lookup(&self, out: &mut [Limb], table: &[Limb], index: &usize) {
        self.words.lookup(out, table, *index);
    }
}
