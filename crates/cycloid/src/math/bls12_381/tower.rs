//! The upper tower fields: Fp6 = Fp2[v] / (v³ − ξ) for ξ = 1 + u, and Fp12 = Fp6[w] / (w² − v).

#[cfg(test)]
mod tests;

use core::slice;

use super::Words;
use super::constants::FROBENIUS;
use super::fp2::{Field, Fp2, Fp2Wide, MaskOf};
use crate::machine::field::{Bls12Base, Wide};
use crate::math::field::MAX_WIDTH;

/// An element c₀ + c₁·v + c₂·v² of Fp6.
#[derive(Clone, Copy)]
pub(crate) struct Fp6<A: Wide<Bls12Base>> {
    pub(super) c0: Fp2<A>,
    pub(super) c1: Fp2<A>,
    pub(super) c2: Fp2<A>,
}

/// An unreduced sum of products in Fp6.
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

/// Exponents of w by coefficient: vⁱ·wʲ is w^(2i + j).
pub(super) const POWERS: [usize; 6] = [0, 2, 4, 1, 3, 5];

/// A line of a Miller loop: the coefficients of 1, v and v·w; the others are 0.
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

    /// Returns the element times v.
    #[inline(always)]
    fn mul_v(&self) -> Self {
        Self { c0: self.c2.mul_xi(), c1: self.c0, c2: self.c1 }
    }

    /// Returns the sum with another element, as a factor of unreduced products.
    #[inline(always)]
    fn add_factor(&self, other: &Self) -> Self {
        self.zip(other, Fp2::add_factor)
    }

    #[inline(always)]
    fn mul(&self, other: &Self) -> Self {
        self.mul_wide(other).reduce()
    }

    /// Multiplies with six products of Fp2 (Devegili, Ó hÉigeartaigh, Scott, Dahab, Multiplication
    /// and squaring on pairing-friendly fields, 2006, section 4; unreduced). At most 21 products of
    /// Fp are summed.
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

    /// Multiplies by b₀ + b₁·v: five products.
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

    /// Multiplies by b in each coefficient.
    #[inline(always)]
    fn scale_wide(&self, b: &Fp2<A>) -> Fp6Wide<A> {
        Fp6Wide { c0: self.c0.mul_wide(b), c1: self.c1.mul_wide(b), c2: self.c2.mul_wide(b) }
    }

    /// Inverts by Beuchat, González-Díaz, Mitsunari, Okamoto, Rodríguez-Henríquez, Teruya,
    /// High-speed software implementation of the optimal ate pairing over Barreto–Naehrig curves,
    /// 2010, algorithm 17.
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
    /// Adds v times another element.
    #[inline(always)]
    fn add_v(&mut self, other: &Self) {
        self.c0.add_xi(&other.c2);
        self.c1.add(&other.c0);
        self.c2.add(&other.c1);
    }

    /// Subtracts two other elements.
    #[inline(always)]
    fn sub_both(&mut self, b: &Self, c: &Self) {
        self.c0.sub_both(&b.c0, &c.c0);
        self.c1.sub_both(&b.c1, &c.c1);
        self.c2.sub_both(&b.c2, &c.c2);
    }

    /// Subtracts another element, and v times a third.
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

/// The product of two lines. The coefficient of w is 0.
struct Lines<A: Wide<Bls12Base>> {
    /// The coefficients of 1, v and v².
    even: Fp6<A>,
    of_vw: Fp2<A>,
    of_v2w: Fp2<A>,
}

impl<A: Wide<Bls12Base>> Lines<A> {
    #[inline(never)]
    fn new([a0, a1, a4]: &Line<A>, [b0, b1, b4]: &Line<A>) -> Self {
        a0.arithmetic().run(
            #[inline(always)]
            || {
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
                Self {
                    even: Fp6 { c0: t0.reduce(), c1: t01.reduce(), c2: t1.reduce() },
                    of_vw: t04.reduce(),
                    of_v2w: t14.reduce(),
                }
            },
        )
    }
}

impl<A: Wide<Bls12Base>> Fp12<A> {
    pub(crate) fn one(arithmetic: A) -> Self {
        let zero = Fp6::zero(arithmetic);
        Self { c0: Fp6 { c0: Fp2::one(arithmetic), ..zero }, c1: zero }
    }

    /// Returns the coefficients, from that of 1 to that of v²·w.
    #[inline(always)]
    pub(super) fn coefficients(&self) -> [&Fp2<A>; 6] {
        let Self { c0, c1 } = self;
        [&c0.c0, &c0.c1, &c0.c2, &c1.c0, &c1.c1, &c1.c2]
    }

    #[inline(always)]
    fn from_coefficients(coefficient: impl Fn(usize) -> Fp2<A>) -> Self {
        let half = |at: usize| Fp6 {
            c0: coefficient(at),
            c1: coefficient(at + 1),
            c2: coefficient(at + 2),
        };
        Self { c0: half(0), c1: half(3) }
    }

    /// Loads each number's coefficients from memory.
    pub(crate) fn import(arithmetic: A, memory: &[[[Words; 2]; 6]]) -> Self {
        Self::from_coefficients(|i| {
            if A::WIDTH == 1 {
                return Fp2::import(arithmetic, slice::from_ref(&memory[0][i]));
            }
            let mut part = [Fp2::<A>::MEMORY_ZERO; MAX_WIDTH];
            part.iter_mut().zip(memory).for_each(|(part, memory)| *part = memory[i]);
            Fp2::import(arithmetic, &part[..A::WIDTH])
        })
    }

    pub(crate) fn export(&self, memory: &mut [[[Words; 2]; 6]]) {
        for (i, coefficient) in self.coefficients().into_iter().enumerate() {
            if A::WIDTH == 1 {
                coefficient.export(slice::from_mut(&mut memory[0][i]));
                continue;
            }
            let mut part = [Fp2::<A>::MEMORY_ZERO; MAX_WIDTH];
            coefficient.export(&mut part[..A::WIDTH]);
            memory.iter_mut().zip(part).for_each(|(memory, part)| memory[i] = part);
        }
    }

    /// Writes to and reads from the twelve elements of Fp in a table.
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

    /// Multiplies with three products of Fp6 (Karatsuba) and one reduction per coefficient.
    ///
    /// At most 63 products of Fp are summed. After cancellation six of Fp2 are left, in the largest
    /// case five of them times ξ: a real part from −16p² to 6p², and an imaginary one from −5p² to
    /// 17p².
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

    /// Squares with two products of Fp6: (c₀ + c₁)·(c₀ + v·c₁) and c₀·c₁.
    ///
    /// The factors are reduced. So a part of a product in Fp6 is from −7p² to 3p² or from −2p² to
    /// 8p²; a part of its last coefficient times v is from −9p² to 3p² or from −3p² to 9p²; and a
    /// part of the result is less than 19p² in magnitude.
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

    /// Multiplies by a line.
    #[inline(never)]
    pub(crate) fn mul_by_line(&self, [b0, b1, b4]: &Line<A>) -> Self {
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

    /// Multiplies by two lines, which are first multiplied with each other: 23 products of Fp2
    /// instead of 26. Two functions, so that the stack holds the intermediate values of one at a
    /// time.
    #[inline(always)]
    pub(super) fn mul_by_two_lines(&self, a: &Line<A>, b: &Line<A>) -> Self {
        self.mul_by_lines(&Lines::new(a, b))
    }

    #[inline(never)]
    fn mul_by_lines(&self, Lines { even, of_vw, of_v2w }: &Lines<A>) -> Self {
        self.arithmetic().run(
            #[inline(always)]
            || {
                let low = self.c0.mul_wide(even);
                let high = self.c1.mul_by_01_wide(of_vw, of_v2w);
                let sum = Fp6 {
                    c0: even.c0,
                    c1: even.c1.add_factor(of_vw),
                    c2: even.c2.add_factor(of_v2w),
                };
                let both = self.c0.add_factor(&self.c1).mul_wide(&sum);
                Self::from_products(low, both, &high)
            },
        )
    }

    /// Computes the product of c₀ + c₁·w and b₀ + b₁·v·w from c₀·b₀, (c₀ + c₁)·(b₀ + b₁·v) and
    /// c₁·b₁.
    #[inline(always)]
    fn from_products(mut low: Fp6Wide<A>, mut both: Fp6Wide<A>, high: &Fp6Wide<A>) -> Self {
        both.sub_and_v(&low, high);
        low.c0.add_xi(&high.c1);
        low.c1.add_xi(&high.c2);
        low.c2.add(&high.c0);
        Self { c0: low.reduce(), c1: both.reduce() }
    }

    /// Returns the inverse, or 0 for 0.
    pub(crate) fn invert(&self) -> Self {
        let norm = self.c0.mul(&self.c0).sub(&self.c1.mul(&self.c1).mul_v());
        let inverse = norm.invert();
        Self { c0: self.c0.mul(&inverse), c1: self.c1.mul(&inverse).negate() }
    }

    /// Returns the p⁶-th power.
    pub(crate) fn conjugate(&self) -> Self {
        Self { c0: self.c0, c1: self.c1.negate() }
    }

    /// Returns the p-th power.
    pub(crate) fn frobenius(&self) -> Self {
        let f = self.arithmetic();
        let coefficients = self.coefficients();
        Self::from_coefficients(|i| {
            let conjugate = coefficients[i].conjugate();
            match POWERS[i].checked_sub(1) {
                None => conjugate,
                Some(power) => conjugate.mul(&Fp2::constant(f, &FROBENIUS[power])),
            }
        })
    }
}
