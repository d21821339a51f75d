//! Barrett's reduction: the quotient estimated with a precomputed reciprocal (Menezes, van
//! Oorschot and Vanstone, Handbook of Applied Cryptography, algorithm 14.42). Time depends on the
//! values.

use core::cmp::Ordering;

use super::basic::Divisor;
use super::{PlainResidues, plain_products};
use crate::machine::words::{self, Limb, Words};

/// Residues modulo any number except 0 and 1, reduced by multiplication with a reciprocal.
pub(super) struct Barrett<'a, W> {
    words: W,
    modulus: &'a [Limb],
    /// ⌊B^(2n) / modulus⌋ in n + 1 limbs, B = 2⁶⁴; one less if that does not fit.
    reciprocal: &'a mut [Limb],
    /// 2n limbs for the number to be reduced.
    wide: &'a mut [Limb],
    /// 2n + 2 limbs for the estimate of the quotient.
    estimate: &'a mut [Limb],
}

/// Returns the limbs of working memory for a modulus of `n` limbs.
pub(super) const fn work_limbs(n: usize) -> usize {
    (n + 1) + 2 * n + (2 * n + 2)
}

impl<'a, W: Words> Barrett<'a, W> {
    /// Prepares a reduction. `modulus` has n limbs, the highest not 0, and is not 1; `work` has
    /// [`work_limbs`]`(n)`.
    pub(super) fn new(words: W, modulus: &'a [Limb], work: &'a mut [Limb]) -> Self {
        let n = modulus.len();
        let (reciprocal, rest) = work.split_at_mut(n + 1);
        let (normalised, dividend) = rest.split_at_mut(n);
        let dividend = &mut dividend[..2 * n + 2];
        dividend.fill(0);
        dividend[2 * n] = 1;
        Divisor::new(modulus, normalised).divide_vartime(words, dividend, |place, digit| {
            if place <= n {
                reciprocal[place] = digit;
            }
        });
        if modulus_is_power_of_base(modulus) {
            reciprocal.fill(Limb::MAX);
        }
        let (wide, estimate) = rest.split_at_mut(2 * n);
        Self { words, modulus, reciprocal, wide, estimate }
    }
}

/// Returns whether the modulus is B^(n−1), whose reciprocal B^(n+1) does not fit in n + 1 limbs.
fn modulus_is_power_of_base(modulus: &[Limb]) -> bool {
    let (top, rest) = modulus.split_last().expect("a modulus has limbs");
    *top == 1 && rest.iter().all(|limb| *limb == 0)
}

plain_products!(Barrett);

impl<W: Words> PlainResidues for Barrett<'_, W> {
    fn reduce(&mut self, result: &mut [Limb]) {
        let n = self.modulus.len();
        // 1. q₁ = ⌊x / B^(n−1)⌋, q₂ = q₁ · µ, q₃ = ⌊q₂ / B^(n+1)⌋: at most 3 below the quotient
        // (2 by the algorithm's proof, and 1 where µ is one too small, since q₁ < B^(n+1)).
        self.words.mul(self.estimate, &self.wide[n - 1..], self.reciprocal);
        let (product, quotient) = self.estimate.split_at_mut(n + 1);
        // 2. r₁ = x mod B^(n+1), r₂ = q₃ · m mod B^(n+1), r = r₁ − r₂ mod B^(n+1).
        let remainder = &mut self.wide[..n + 1];
        product.fill(0);
        for (i, digit) in quotient.iter().enumerate() {
            let length = n.min(n + 1 - i);
            let (row, above) = product[i..].split_at_mut(length);
            let carry = self.words.add_mul_limb(row, &self.modulus[..length], *digit);
            if let Some(next) = above.first_mut() {
                *next = carry;
            }
        }
        words::sub(remainder, product);
        // 3. While r ≥ m: r = r − m.
        while remainder[n] != 0
            || words::compare_vartime(&remainder[..n], self.modulus) != Ordering::Less
        {
            words::sub(remainder, self.modulus);
        }
        result.copy_from_slice(&remainder[..n]);
    }

    fn wide(&mut self) -> &mut [Limb] {
        self.wide
    }
}
