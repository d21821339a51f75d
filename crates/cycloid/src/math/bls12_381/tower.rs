//! Fp6 = Fp2[v] / (v³ − ξ) for ξ = 1 + u, and Fp12 = Fp6[w] / (w² − v).

use super::constants::FROBENIUS;
use super::fp2::{Field, Fp2, Fp2Wide, MaskOf};
use super::{Words, X, x_bits};
use crate::machine::field::{Bls12Base, Wide};

/// An element c₀ + c₁·v + c₂·v² of Fp6.
#[derive(Clone, Copy)]
pub(crate) struct Fp6<A: Wide<Bls12Base>> {
    pub(super) c0: Fp2<A>,
    pub(super) c1: Fp2<A>,
    pub(super) c2: Fp2<A>,
}

/// A sum of products in Fp6, not reduced.
#[derive(Clone, Copy)]
struct Fp6Wide<A: Wide<Bls12Base>> {
    c0: Fp2Wide<A>,
    c1: Fp2Wide<A>,
    c2: Fp2Wide<A>,
}

/// An element c₀ + c₁·w of Fp12.
#[derive(Clone, Copy)]
pub(crate) struct Fp12<A: Wide<Bls12Base>> {
    pub(super) c0: Fp6<A>,
    pub(super) c1: Fp6<A>,
}

/// The coefficients of 1, v and v·w of an element whose others are 0: a line of a Miller loop.
pub(crate) type Line<A> = [Fp2<A>; 3];

impl<A: Wide<Bls12Base>> Fp6<A> {
    fn zero(arithmetic: A) -> Self {
        let zero = Fp2::zero(arithmetic);
        Self { c0: zero, c1: zero, c2: zero }
    }

    #[inline(always)]
    fn zip(&self, other: &Self, work: impl Fn(&Fp2<A>, &Fp2<A>) -> Fp2<A>) -> Self {
        Self {
            c0: work(&self.c0, &other.c0),
            c1: work(&self.c1, &other.c1),
            c2: work(&self.c2, &other.c2),
        }
    }

    #[inline(always)]
    fn add(&self, other: &Self) -> Self {
        self.zip(other, Fp2::add)
    }

    #[inline(always)]
    fn sub(&self, other: &Self) -> Self {
        self.zip(other, Fp2::sub)
    }

    #[inline(always)]
    fn double(&self) -> Self {
        Self { c0: self.c0.double(), c1: self.c1.double(), c2: self.c2.double() }
    }

    #[inline(always)]
    fn negate(&self) -> Self {
        Self { c0: self.c0.negate(), c1: self.c1.negate(), c2: self.c2.negate() }
    }

    /// Times v.
    #[inline(always)]
    fn mul_v(&self) -> Self {
        Self { c0: self.c2.mul_xi(), c1: self.c0, c2: self.c1 }
    }

    /// The sum with another, as a factor of unreduced products.
    #[inline(always)]
    fn add_factor(&self, other: &Self) -> Self {
        self.zip(other, Fp2::add_factor)
    }

    #[inline(always)]
    fn mul(&self, other: &Self) -> Self {
        self.mul_wide(other).reduce()
    }

    /// Six products of Fp2 (Devegili, Ó hÉigeartaigh, Scott, Dahab, Multiplication and squaring on
    /// pairing-friendly fields, 2006, section 4; not reduced). At most 21 products of Fp come
    /// together in a sum.
    #[inline(never)]
    fn mul_wide(&self, other: &Self) -> Fp6Wide<A> {
        self.c0.arithmetic().run(
            #[inline(always)]
            || {
                let (a, b) = (self, other);
                let cross = |a0: &Fp2<A>, a1: &Fp2<A>, b0: &Fp2<A>, b1: &Fp2<A>| {
                    a0.add_factor(a1).mul_wide(&b0.add_factor(b1))
                };
                let mut product = Fp6Wide {
                    c0: a.c0.mul_wide(&b.c0),
                    c1: cross(&a.c0, &a.c1, &b.c0, &b.c1),
                    c2: cross(&a.c0, &a.c2, &b.c0, &b.c2),
                };
                let t1 = a.c1.mul_wide(&b.c1);
                let t2 = a.c2.mul_wide(&b.c2);
                let mut t12 = cross(&a.c1, &a.c2, &b.c1, &b.c2);
                t12.sub_both(&t1, &t2);
                product.c1.sub_both(&product.c0, &t1);
                product.c1.add_xi(&t2);
                product.c2.sub_both(&product.c0, &t2);
                product.c2.add(&t1);
                product.c0.add_xi(&t12);
                product
            },
        )
    }

    /// Times b₀ + b₁·v: five products.
    #[inline(never)]
    fn mul_by_01_wide(&self, b0: &Fp2<A>, b1: &Fp2<A>) -> Fp6Wide<A> {
        self.c0.arithmetic().run(
            #[inline(always)]
            || {
                let mut product = Fp6Wide {
                    c0: self.c0.mul_wide(b0),
                    c1: self.c0.add_factor(&self.c1).mul_wide(&b0.add_factor(b1)),
                    c2: self.c2.mul_wide(b0),
                };
                let t1 = self.c1.mul_wide(b1);
                product.c1.sub_both(&product.c0, &t1);
                product.c2.add(&t1);
                product.c0.add_xi(&self.c2.mul_wide(b1));
                product
            },
        )
    }

    /// Times b, as it stands before v.
    #[inline(always)]
    fn scale_wide(&self, b: &Fp2<A>) -> Fp6Wide<A> {
        Fp6Wide { c0: self.c0.mul_wide(b), c1: self.c1.mul_wide(b), c2: self.c2.mul_wide(b) }
    }

    /// Beuchat, González-Díaz, Mitsunari, Okamoto, Rodríguez-Henríquez, Teruya, High-speed software
    /// implementation of the optimal ate pairing over Barreto–Naehrig curves, 2010, algorithm 17.
    fn invert(&self) -> Self {
        let Self { c0, c1, c2 } = self;
        let t0 = c0.square().sub(&c1.mul(c2).mul_xi());
        let t1 = c2.square().mul_xi().sub(&c0.mul(c1));
        let t2 = c1.square().sub(&c0.mul(c2));
        let norm = c0.mul(&t0).add(&c2.mul(&t1).add(&c1.mul(&t2)).mul_xi());
        let inverse = norm.invert();
        Self { c0: t0.mul(&inverse), c1: t1.mul(&inverse), c2: t2.mul(&inverse) }
    }
}

impl<A: Wide<Bls12Base>> Fp6Wide<A> {
    /// Adds v times another.
    #[inline(always)]
    fn add_v(&mut self, other: &Self) {
        self.c0.add_xi(&other.c2);
        self.c1.add(&other.c0);
        self.c2.add(&other.c1);
    }

    /// Subtracts two others.
    #[inline(always)]
    fn sub_both(&mut self, b: &Self, c: &Self) {
        self.c0.sub_both(&b.c0, &c.c0);
        self.c1.sub_both(&b.c1, &c.c1);
        self.c2.sub_both(&b.c2, &c.c2);
    }

    /// Subtracts another, and v times a third.
    #[inline(always)]
    fn sub_and_v(&mut self, b: &Self, c: &Self) {
        let mut first = b.c0;
        first.add_xi(&c.c2);
        self.c0.sub(&first);
        self.c1.sub_both(&b.c1, &c.c0);
        self.c2.sub_both(&b.c2, &c.c1);
    }

    #[inline(always)]
    fn reduce(&self) -> Fp6<A> {
        Fp6 { c0: self.c0.reduce(), c1: self.c1.reduce(), c2: self.c2.reduce() }
    }
}

impl<A: Wide<Bls12Base>> Fp12<A> {
    pub(crate) fn one(arithmetic: A) -> Self {
        let zero = Fp6::zero(arithmetic);
        Self { c0: Fp6 { c0: Fp2::one(arithmetic), ..zero }, c1: zero }
    }

    /// The coefficients from that of 1 to that of v²·w.
    #[inline(always)]
    fn coefficients(&self) -> [&Fp2<A>; 6] {
        let Self { c0, c1 } = self;
        [&c0.c0, &c0.c1, &c0.c2, &c1.c0, &c1.c1, &c1.c2]
    }

    fn from_coefficients(coefficient: impl Fn(usize) -> Fp2<A>) -> Self {
        let half = |at: usize| Fp6 {
            c0: coefficient(at),
            c1: coefficient(at + 1),
            c2: coefficient(at + 2),
        };
        Self { c0: half(0), c1: half(3) }
    }

    /// From the coefficients in memory of each of the numbers.
    pub(crate) fn import(arithmetic: A, memory: &[[[Words; 2]; 6]]) -> Self {
        Self::from_coefficients(|i| {
            let mut part = [Fp2::<A>::MEMORY_ZERO; crate::math::field::MAX_WIDTH];
            part.iter_mut().zip(memory).for_each(|(part, memory)| *part = memory[i]);
            Fp2::import(arithmetic, &part[..A::WIDTH])
        })
    }

    pub(crate) fn export(&self, memory: &mut [[[Words; 2]; 6]]) {
        for (i, coefficient) in self.coefficients().into_iter().enumerate() {
            let mut part = [Fp2::<A>::MEMORY_ZERO; crate::math::field::MAX_WIDTH];
            coefficient.export(&mut part[..A::WIDTH]);
            memory.iter_mut().zip(part).for_each(|(memory, part)| memory[i] = part);
        }
    }

    /// To and from the twelve elements of Fp of a table.
    #[inline(always)]
    pub(crate) fn write(&self, raw: &mut [A::Element]) {
        for (coefficient, raw) in self.coefficients().into_iter().zip(raw.chunks_exact_mut(2)) {
            coefficient.write(raw);
        }
    }

    #[inline(always)]
    pub(crate) fn read(arithmetic: A, raw: &[A::Element]) -> Self {
        Self::from_coefficients(|i| Fp2::read(arithmetic, &raw[2 * i..]))
    }

    pub(crate) fn arithmetic(&self) -> A {
        self.c0.c0.arithmetic()
    }

    pub(crate) fn add(&self, other: &Self) -> Self {
        Self { c0: self.c0.add(&other.c0), c1: self.c1.add(&other.c1) }
    }

    pub(crate) fn sub(&self, other: &Self) -> Self {
        Self { c0: self.c0.sub(&other.c0), c1: self.c1.sub(&other.c1) }
    }

    pub(crate) fn select(mask: MaskOf<A>, a: &Self, b: &Self) -> Self {
        let select = |a: &Fp6<A>, b: &Fp6<A>| a.zip(b, |a, b| Fp2::select(mask, a, b));
        Self { c0: select(&a.c0, &b.c0), c1: select(&a.c1, &b.c1) }
    }

    pub(crate) fn equal(&self, other: &Self) -> MaskOf<A> {
        let pairs = self.coefficients().into_iter().zip(other.coefficients());
        let all = pairs.map(|(a, b)| a.equal(b)).reduce(|all, equal| all & equal);
        all.expect("six coefficients")
    }

    /// Three products of Fp6 (Karatsuba), and a reduction of each coefficient.
    ///
    /// At most 63 products of Fp come together. Those that are left in the end are six of Fp2, five of
    /// them times ξ where there are most: a real part from −16p² to 6p², and an imaginary one from
    /// −5p² to 17p².
    #[inline(never)]
    pub(crate) fn mul(&self, other: &Self) -> Self {
        self.arithmetic().run(
            #[inline(always)]
            || {
                let mut low = self.c0.mul_wide(&other.c0);
                let high = self.c1.mul_wide(&other.c1);
                let mut both =
                    self.c0.add_factor(&self.c1).mul_wide(&other.c0.add_factor(&other.c1));
                both.sub_both(&low, &high);
                low.add_v(&high);
                Self { c0: low.reduce(), c1: both.reduce() }
            },
        )
    }

    /// Two products of Fp6: (c₀ + c₁)·(c₀ + v·c₁) and c₀·c₁.
    ///
    /// The factors are reduced, so that a part of a product in Fp6 is from −7p² to 3p² or from −2p² to
    /// 8p², of its last coefficient times v from −9p² to 3p² or from −3p² to 9p², and a part of what is
    /// left less than 19p² in size.
    #[inline(never)]
    pub(crate) fn square(&self) -> Self {
        self.arithmetic().run(
            #[inline(always)]
            || {
                let product = self.c0.mul_wide(&self.c1);
                let mut both = self.c0.add(&self.c1).mul_wide(&self.c0.add(&self.c1.mul_v()));
                both.sub_and_v(&product, &product);
                Self { c0: both.reduce(), c1: product.reduce().double() }
            },
        )
    }

    /// Times a line.
    #[inline(never)]
    pub(super) fn mul_by_line(&self, [b0, b1, b4]: &Line<A>) -> Self {
        self.arithmetic().run(
            #[inline(always)]
            || {
                let low = self.c0.mul_by_01_wide(b0, b1);
                let high = self.c1.scale_wide(b4);
                let both = self.c0.add_factor(&self.c1).mul_by_01_wide(b0, &b1.add_factor(b4));
                Self::from_products(low, both, &high)
            },
        )
    }

    /// Times two lines, which are first multiplied with each other: 23 products of Fp2 instead of
    /// 26. Of w their product has no part without v.
    #[inline(never)]
    pub(super) fn mul_by_two_lines(&self, a: &Line<A>, b: &Line<A>) -> Self {
        self.arithmetic().run(
            #[inline(always)]
            || {
                let ([a0, a1, a4], [b0, b1, b4]) = (a, b);
                let mut t0 = a0.mul_wide(b0);
                let t1 = a1.mul_wide(b1);
                let t4 = a4.mul_wide(b4);
                let mut t01 = a0.add_factor(a1).mul_wide(&b0.add_factor(b1));
                let mut t04 = a0.add_factor(a4).mul_wide(&b0.add_factor(b4));
                let mut t14 = a1.add_factor(a4).mul_wide(&b1.add_factor(b4));
                t01.sub_both(&t0, &t1);
                t04.sub_both(&t0, &t4);
                t14.sub_both(&t1, &t4);
                t0.add_xi(&t4);
                let lines = Fp6 { c0: t0.reduce(), c1: t01.reduce(), c2: t1.reduce() };
                let (of_vw, of_v2w) = (t04.reduce(), t14.reduce());
                let low = self.c0.mul_wide(&lines);
                let high = self.c1.mul_by_01_wide(&of_vw, &of_v2w);
                let lines = Fp6 {
                    c0: lines.c0,
                    c1: lines.c1.add_factor(&of_vw),
                    c2: lines.c2.add_factor(&of_v2w),
                };
                let both = self.c0.add_factor(&self.c1).mul_wide(&lines);
                Self::from_products(low, both, &high)
            },
        )
    }

    /// The product of c₀ + c₁·w and b₀ + b₁·v·w from c₀·b₀, (c₀ + c₁)·(b₀ + b₁·v) and c₁·b₁.
    #[inline(always)]
    fn from_products(mut low: Fp6Wide<A>, mut both: Fp6Wide<A>, high: &Fp6Wide<A>) -> Self {
        both.sub_and_v(&low, high);
        low.c0.add_xi(&high.c1);
        low.c1.add_xi(&high.c2);
        low.c2.add(&high.c0);
        Self { c0: low.reduce(), c1: both.reduce() }
    }

    /// 1 / this, and 0 for 0.
    pub(crate) fn invert(&self) -> Self {
        let norm = self.c0.mul(&self.c0).sub(&self.c1.mul(&self.c1).mul_v());
        let inverse = norm.invert();
        Self { c0: self.c0.mul(&inverse), c1: self.c1.mul(&inverse).negate() }
    }

    /// To the power of p⁶.
    pub(crate) fn conjugate(&self) -> Self {
        Self { c0: self.c0, c1: self.c1.negate() }
    }

    /// To the power of p.
    pub(crate) fn frobenius(&self) -> Self {
        let f = self.arithmetic();
        // The coefficient of vⁱ·wʲ is that of w^(2i + j).
        const POWERS: [usize; 6] = [0, 2, 4, 1, 3, 5];
        let coefficients = self.coefficients();
        Self::from_coefficients(|i| {
            let conjugate = coefficients[i].conjugate();
            match POWERS[i].checked_sub(1) {
                None => conjugate,
                Some(power) => conjugate.mul(&Fp2::constant(f, &FROBENIUS[power])),
            }
        })
    }

    /// This squared, for an element of the cyclotomic subgroup, whose order divides p⁴ − p² + 1
    /// (Granger, Scott, Faster squaring in the cyclotomic subgroup of sixth degree extensions, 2010,
    /// section 3.2): three squarings of Fp4 = Fp2[t] / (t² − ξ).
    #[inline(never)]
    pub(crate) fn square_cyclotomic(&self) -> Self {
        self.arithmetic().run(
            #[inline(always)]
            || {
                let [z0, _, _, _, z1, _] = self.coefficients();
                let (a0, a1) = square_fp4(z0, z1);
                let Compressed { z2, z3, z4, z5 } = Compressed::of(self).square();
                Self {
                    c0: Fp6 { c0: thrice_less(&a0, z0), c1: z4, c2: z3 },
                    c1: Fp6 { c0: z2, c1: thrice_more(&a1, z1), c2: z5 },
                }
            },
        )
    }

    /// To the power of |x|, for an element of the cyclotomic subgroup.
    pub(crate) fn pow_x(&self) -> Self {
        // Eight inversions side by side are powers, and cost more than they save.
        if A::WIDTH > 1 { self.pow_x_by_squares() } else { self.pow_x_compressed() }
    }

    fn pow_x_by_squares(&self) -> Self {
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

    /// Whether it is of order r, or 1: in the cyclotomic subgroup, and the power of p is that of x
    /// (Scott, A note on group membership tests for G1, G2 and GT on BLS pairing-friendly curves,
    /// 2021, section 6).
    pub(crate) fn is_in_group(&self) -> MaskOf<A> {
        let p2 = self.frobenius().frobenius();
        let cyclotomic = p2.frobenius().frobenius().mul(self).equal(&p2);
        let zero = self.equal(&self.sub(self));
        // Squarings of what is not cyclotomic mean nothing, and harm nothing.
        let x = self.pow_x().conjugate();
        cyclotomic & self.frobenius().equal(&x) & !zero
    }
}

/// What determines an element of the cyclotomic subgroup, the coefficients of w, v², v and v²·w
/// (Karabina, Squaring in cyclotomic subgroups, 2013).
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

    /// Two of the three squarings of Fp4.
    #[inline(always)]
    fn square(&self) -> Self {
        let Self { z2, z3, z4, z5 } = self;
        let (b0, b1) = square_fp4(z2, z3);
        let (c0, c1) = square_fp4(z4, z5);
        Self {
            z2: thrice_more(&c1.mul_xi(), z2),
            z3: thrice_less(&c0, z3),
            z4: thrice_less(&b0, z4),
            z5: thrice_more(&b1, z5),
        }
    }

    /// The elements, by one inversion: z₁ = (ξ·z₅² + 3z₄² − 2z₃) / 4z₂, or 2z₄·z₅ / z₃ where z₂ is 0, and
    /// z₀ = ξ·(2z₁² + z₂·z₅ − 3z₃·z₄) + 1.
    ///
    /// Where z₂ and z₃ are 0, z₄² = ξ·z₅², which makes both 0, for ξ is no square; then z₀² − ξ·z₁² = 1
    /// makes the order a divisor of p² + 1, which has none in common with p⁴ − p² + 1: the element is 1.
    fn decompress<const N: usize>(powers: &[Self; N]) -> [Fp12<A>; N] {
        let f = powers[0].z2.arithmetic();
        let one = Fp2::one(f);
        let mut product = one;
        let fractions = powers.map(|Self { z2, z3, z4, z5 }| {
            let (square, zero) = (z4.square(), z2.is_zero());
            let numerator = thrice_less(&square, &z3);
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

/// 3a − 2z.
#[inline(always)]
fn thrice_less<A: Wide<Bls12Base>>(a: &Fp2<A>, z: &Fp2<A>) -> Fp2<A> {
    Field::add(&a.sub(z).double(), a)
}

/// 3a + 2z.
#[inline(always)]
fn thrice_more<A: Wide<Bls12Base>>(a: &Fp2<A>, z: &Fp2<A>) -> Fp2<A> {
    Field::add(&Field::add(a, z).double(), a)
}

/// (a + b·t)², for t² = ξ: a² + ξ·b² and 2·a·b = (a + b)² − a² − b².
#[inline(always)]
fn square_fp4<A: Wide<Bls12Base>>(a: &Fp2<A>, b: &Fp2<A>) -> (Fp2<A>, Fp2<A>) {
    let (aa, bb) = (a.square(), b.square());
    (aa.add(&bb.mul_xi()), a.add(b).square().sub(&aa).sub(&bb))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::field::{Dense, Masks, Prime, WideTask};
    use crate::machine::lanes;
    use crate::machine::words;
    use crate::math::field::MAX_WIDTH;

    /// As many times: elements whose coefficients are 0, 1, p − 1 or anything, where sums of products
    /// are largest, by the formulas and by the definition.
    struct AgainstDefinition {
        times: usize,
    }

    /// Σ aᵢ·bⱼ·w^(i + j), with w⁶ = ξ.
    fn definition<A: Wide<Bls12Base>>(a: &Fp12<A>, b: &Fp12<A>) -> Fp12<A> {
        const POWERS: [usize; 6] = [0, 2, 4, 1, 3, 5];
        let mut sums = [Fp2::zero(a.arithmetic()); 6];
        for (a, i) in a.coefficients().into_iter().zip(POWERS) {
            for (b, j) in b.coefficients().into_iter().zip(POWERS) {
                let product = a.mul(b);
                let product = if i + j < 6 { product } else { product.mul_xi() };
                sums[(i + j) % 6] = Field::add(&sums[(i + j) % 6], &product);
            }
        }
        Fp12::from_coefficients(|i| sums[POWERS[i]])
    }

    impl WideTask<Bls12Base> for AgainstDefinition {
        type Output = ();

        fn run<A: Wide<Bls12Base>>(self, f: A) {
            let mut state: u64 = 1;
            let mut random = || {
                state =
                    state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
                state >> 33
            };
            let mut largest = Bls12Base::MODULUS;
            largest[0] -= 1;
            let mut element = || {
                let mut memory = [[[[0; 6]; 2]; 6]; MAX_WIDTH];
                for words in memory.as_flattened_mut().as_flattened_mut() {
                    *words = match random() % 8 {
                        0..3 => largest,
                        3..6 => [0; 6],
                        6 => [1, 0, 0, 0, 0, 0],
                        _ => [0; 6].map(|_| random() << 20),
                    };
                }
                Fp12::import(f, &memory[..A::WIDTH])
            };
            for i in 0..self.times {
                let check = |what: &str, found: &Fp12<A>, expected: &Fp12<A>| {
                    let equal = found.equal(expected);
                    assert!((0..A::WIDTH).all(|w| equal.at(w).reveal()), "{} {what} {i}", A::NAME);
                };
                let (mut a, mut b) = (element(), element());
                if i == 0 {
                    let every = Fp2::import(f, &[[largest; 2]; MAX_WIDTH][..A::WIDTH]);
                    (a, b) =
                        (Fp12::from_coefficients(|_| every), Fp12::from_coefficients(|_| every));
                }
                check("product", &a.mul(&b), &definition(&a, &b));
                check("square", &a.square(), &definition(&a, &a));
                let zero = Fp2::zero(f);
                let [b0, b1, b2, b3, b4, b5] = b.coefficients().map(|coefficient| *coefficient);
                let sparse = |[b0, b1, b4]: Line<A>| Fp12 {
                    c0: Fp6 { c0: b0, c1: b1, c2: zero },
                    c1: Fp6 { c0: zero, c1: b4, c2: zero },
                };
                let lines = [[b0, b1, b4], [b2, b3, b5]];
                let once = definition(&a, &sparse(lines[0]));
                check("line", &a.mul_by_line(&lines[0]), &once);
                let twice = definition(&once, &sparse(lines[1]));
                check("two lines", &a.mul_by_two_lines(&lines[0], &lines[1]), &twice);
                check("inverse", &definition(&a, &a.invert()), &Fp12::one(f));
                // Of the cyclotomic subgroup, 1 among them.
                let easy = a.conjugate().mul(&a.invert());
                let member =
                    if i == 1 { Fp12::one(f) } else { easy.frobenius().frobenius().mul(&easy) };
                check("cyclotomic square", &member.square_cyclotomic(), &member.square());
                check("power", &member.pow_x(), &member.pow_x_by_squares());
            }
        }
    }

    #[test]
    fn bls12_tower_against_its_definition() {
        for backend in words::Backend::available() {
            Bls12Base::run_one_wide(backend, AgainstDefinition { times: 300 });
        }
        for backend in lanes::tests::backends() {
            Bls12Base::run_eight_wide(backend, AgainstDefinition { times: 4 });
        }
    }
}
