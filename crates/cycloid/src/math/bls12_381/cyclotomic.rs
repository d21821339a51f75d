//! The cyclotomic subgroup of Fp12, whose order divides p⁴ − p² + 1, with cheaper squarings and
//! powers.

use super::fp2::{Field, Fp2, MaskOf};
use super::tower::{Fp6, Fp12};
use super::{X, x_bits};
use crate::machine::field::{Bls12Base, Wide};

impl<A: Wide<Bls12Base>> Fp12<A> {
    /// Returns the square of an element of the cyclotomic subgroup, whose order divides p⁴ − p² + 1
    /// (Granger, Scott, Faster squaring in the cyclotomic subgroup of sixth degree extensions,
    /// 2010, section 3.2), with three squarings in Fp4 = Fp2[t] / (t² − ξ).
    #[inline(never)]
    pub(crate) fn square_cyclotomic(&self) -> Self {
        self.arithmetic().run(
            #[inline(always)]
            || {
                let [z0, _, _, _, z1, _] = self.coefficients();
                let (a0, a1) = Fp2::square_fp4(z0, z1);
                let Compressed { z2, z3, z4, z5 } = Compressed::of(self).square();
                Self {
                    c0: Fp6 { c0: a0.thrice_less(z0), c1: z4, c2: z3 },
                    c1: Fp6 { c0: z2, c1: a1.thrice_more(z1), c2: z5 },
                }
            },
        )
    }

    /// Raises an element of the cyclotomic subgroup to the power of |x|.
    pub(crate) fn pow_x(&self) -> Self {
        // Eight inversions side by side are powers, which cost more than they save.
        if A::WIDTH > 1 { self.pow_x_by_squares() } else { self.pow_x_compressed() }
    }

    pub(super) fn pow_x_by_squares(&self) -> Self {
        let mut power = *self;
        for bit in x_bits() {
            power = power.square_cyclotomic();
            if bit {
                power = power.mul(self);
            }
        }
        power
    }

    fn pow_x_compressed(&self) -> Self {
        let mut power = Compressed::of(self);
        let mut powers = [power; X.count_ones() as usize];
        let mut kept = 0;
        for bit in 0..u64::BITS {
            if bit > 0 {
                power = power.square();
            }
            if X >> bit & 1 == 1 {
                powers[kept] = power;
                kept += 1;
            }
        }
        let [first, rest @ ..] = Compressed::decompress(&powers);
        rest.iter().fold(first, |product, power| product.mul(power))
    }

    /// Returns whether the element has order r or is 1: it is in the cyclotomic subgroup, and its
    /// p-th power is its x-th power (Scott, A note on group membership tests for G1, G2 and GT on
    /// BLS pairing-friendly curves, 2021, section 6).
    pub(crate) fn is_in_group(&self) -> MaskOf<A> {
        let p2 = self.frobenius().frobenius();
        let cyclotomic = p2.frobenius().frobenius().mul(self).equal(&p2);
        let zero = self.equal(&self.sub(self));
        // Squarings of a noncyclotomic element give meaningless values, which do no harm.
        let x = self.pow_x().conjugate();
        cyclotomic & self.frobenius().equal(&x) & !zero
    }
}

/// The compressed form of an element of the cyclotomic subgroup: the coefficients of w, v², v and
/// v²·w (Karabina, Squaring in cyclotomic subgroups, 2013).
#[derive(Clone, Copy)]
struct Compressed<A: Wide<Bls12Base>> {
    z2: Fp2<A>,
    z3: Fp2<A>,
    z4: Fp2<A>,
    z5: Fp2<A>,
}

impl<A: Wide<Bls12Base>> Compressed<A> {
    #[inline(always)]
    fn of(element: &Fp12<A>) -> Self {
        let [_, z4, z3, z2, _, z5] = element.coefficients();
        Self { z2: *z2, z3: *z3, z4: *z4, z5: *z5 }
    }

    /// Computes two of the three squarings of Fp4.
    #[inline(always)]
    fn square(&self) -> Self {
        let Self { z2, z3, z4, z5 } = self;
        let (b0, b1) = Fp2::square_fp4(z2, z3);
        let (c0, c1) = Fp2::square_fp4(z4, z5);
        Self {
            z2: c1.mul_xi().thrice_more(z2),
            z3: c0.thrice_less(z3),
            z4: b0.thrice_less(z4),
            z5: b1.thrice_more(z5),
        }
    }

    /// Decompresses elements with one inversion: z₁ = (ξ·z₅² + 3z₄² − 2z₃) / 4z₂, or 2z₄·z₅ / z₃ if
    /// z₂ is 0, and z₀ = ξ·(2z₁² + z₂·z₅ − 3z₃·z₄) + 1.
    ///
    /// If z₂ and z₃ are 0, then z₄² = ξ·z₅², so both are 0, because ξ is not a square. Then z₀² −
    /// ξ·z₁² = 1, so the order divides p² + 1, which is coprime to p⁴ − p² + 1: the element is 1.
    fn decompress<const N: usize>(powers: &[Self; N]) -> [Fp12<A>; N] {
        let f = powers[0].z2.arithmetic();
        let one = Fp2::one(f);
        let mut product = one;
        let fractions = powers.map(|Self { z2, z3, z4, z5 }| {
            let (square, zero) = (z4.square(), z2.is_zero());
            let numerator = square.thrice_less(&z3);
            let numerator = Field::add(&numerator, &z5.square().mul_xi());
            let numerator = Fp2::select(zero, &z4.mul(&z5).double(), &numerator);
            let denominator = Fp2::select(zero, &z3, &z2.double().double());
            let denominator = Fp2::select(denominator.is_zero(), &one, &denominator);
            let before = product;
            product = product.mul(&denominator);
            (numerator.mul(&before), denominator)
        });
        let mut inverse = product.invert();
        let mut elements = [Fp12::one(f); N];
        for i in (0..N).rev() {
            let (numerator, denominator) = &fractions[i];
            let z1 = numerator.mul(&inverse);
            inverse = inverse.mul(denominator);
            let Self { z2, z3, z4, z5 } = powers[i];
            let cross = z3.mul(&z4);
            let sum = Field::add(&z1.square().double(), &z2.mul(&z5));
            let z0 = Field::add(&sum.sub(&cross.double()).sub(&cross).mul_xi(), &one);
            elements[i] =
                Fp12 { c0: Fp6 { c0: z0, c1: z4, c2: z3 }, c1: Fp6 { c0: z2, c1: z1, c2: z5 } };
        }
        elements
    }
}
