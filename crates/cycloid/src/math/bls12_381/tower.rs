//! Fp6 = Fp2[v] / (v³ − ξ) for ξ = 1 + u, and Fp12 = Fp6[w] / (w² − v).

use super::constants::FROBENIUS;
use super::fp2::{Field, Fp2, MaskOf};
use super::{Fp, Words, x_bits};
use crate::machine::field::{Bls12Base, Wide};

/// An element c₀ + c₁·v + c₂·v² of Fp6.
#[derive(Clone, Copy)]
pub(crate) struct Fp6<A: Wide<Bls12Base>> {
    pub(super) c0: Fp2<A>,
    pub(super) c1: Fp2<A>,
    pub(super) c2: Fp2<A>,
}

/// An element c₀ + c₁·w of Fp12.
#[derive(Clone, Copy)]
pub(crate) struct Fp12<A: Wide<Bls12Base>> {
    pub(super) c0: Fp6<A>,
    pub(super) c1: Fp6<A>,
}

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
    fn negate(&self) -> Self {
        Self { c0: self.c0.negate(), c1: self.c1.negate(), c2: self.c2.negate() }
    }

    /// Times v.
    #[inline(always)]
    fn mul_v(&self) -> Self {
        Self { c0: self.c2.mul_xi(), c1: self.c0, c2: self.c1 }
    }

    /// Six products of Fp2 and three reductions (Devegili, Ó hÉigeartaigh, Scott, Dahab,
    /// Multiplication and squaring on pairing-friendly fields, 2006, section 4; lazily reduced). At
    /// most 21 products come together in a sum.
    #[inline(never)]
    fn mul(&self, other: &Self) -> Self {
        self.c0.arithmetic().run(
            #[inline(always)]
            || {
                let (a, b) = (self, other);
                let t0 = a.c0.mul_wide(&b.c0);
                let t1 = a.c1.mul_wide(&b.c1);
                let t2 = a.c2.mul_wide(&b.c2);
                let t12 = a.c1.add(&a.c2).mul_wide(&b.c1.add(&b.c2)).sub(&t1).sub(&t2);
                let t01 = a.c0.add(&a.c1).mul_wide(&b.c0.add(&b.c1)).sub(&t0).sub(&t1);
                let t02 = a.c0.add(&a.c2).mul_wide(&b.c0.add(&b.c2)).sub(&t0).sub(&t2);
                Self {
                    c0: t0.add(&t12.mul_xi()).reduce(),
                    c1: t01.add(&t2.mul_xi()).reduce(),
                    c2: t02.add(&t1).reduce(),
                }
            },
        )
    }

    /// Times b₀ + b₁·v: five products.
    #[inline(never)]
    fn mul_by_01(&self, b0: &Fp2<A>, b1: &Fp2<A>) -> Self {
        self.c0.arithmetic().run(
            #[inline(always)]
            || {
                let t0 = self.c0.mul_wide(b0);
                let t1 = self.c1.mul_wide(b1);
                let t01 = self.c0.add(&self.c1).mul_wide(&b0.add(b1)).sub(&t0).sub(&t1);
                Self {
                    c0: self.c2.mul_wide(b1).mul_xi().add(&t0).reduce(),
                    c1: t01.reduce(),
                    c2: self.c2.mul_wide(b0).add(&t1).reduce(),
                }
            },
        )
    }

    /// Times b₁·v.
    #[inline(always)]
    fn mul_by_1(&self, b1: &Fp2<A>) -> Self {
        Self { c0: self.c2.mul(b1).mul_xi(), c1: self.c0.mul(b1), c2: self.c1.mul(b1) }
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

    /// Three products of Fp6 (Karatsuba).
    #[inline(never)]
    pub(crate) fn mul(&self, other: &Self) -> Self {
        self.arithmetic().run(
            #[inline(always)]
            || {
                let low = self.c0.mul(&other.c0);
                let high = self.c1.mul(&other.c1);
                let both = self.c0.add(&self.c1).mul(&other.c0.add(&other.c1));
                Self { c0: low.add(&high.mul_v()), c1: both.sub(&low).sub(&high) }
            },
        )
    }

    /// Two products of Fp6: (c₀ + c₁)·(c₀ + v·c₁) and c₀·c₁.
    #[inline(never)]
    pub(crate) fn square(&self) -> Self {
        self.arithmetic().run(
            #[inline(always)]
            || {
                let product = self.c0.mul(&self.c1);
                let both = self.c0.add(&self.c1).mul(&self.c0.add(&self.c1.mul_v()));
                Self { c0: both.sub(&product).sub(&product.mul_v()), c1: product.add(&product) }
            },
        )
    }

    /// Times the sparse b₀ + b₁·v + b₄·v·w: what a line is.
    #[inline(never)]
    pub(super) fn mul_by_line(&self, b0: &Fp2<A>, b1: &Fp2<A>, b4: &Fp2<A>) -> Self {
        self.arithmetic().run(
            #[inline(always)]
            || {
                let low = self.c0.mul_by_01(b0, b1);
                let high = self.c1.mul_by_1(b4);
                let both = self.c0.add(&self.c1).mul_by_01(b0, &b1.add(b4));
                Self { c0: low.add(&high.mul_v()), c1: both.sub(&low).sub(&high) }
            },
        )
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
                let [z0, z4, z3, z2, z1, z5] = self.coefficients();
                let (a0, a1) = square_fp4(z0, z1);
                let (b0, b1) = square_fp4(z2, z3);
                let (c0, c1) = square_fp4(z4, z5);
                // 3·a − 2·z, and 3·a + 2·z.
                let less = |a: &Fp2<A>, z: &Fp2<A>| a.sub(z).double().add(a);
                let more = |a: &Fp2<A>, z: &Fp2<A>| a.add(z).double().add(a);
                Self {
                    c0: Fp6 { c0: less(&a0, z0), c1: less(&b0, z4), c2: less(&c0, z3) },
                    c1: Fp6 { c0: more(&c1.mul_xi(), z2), c1: more(&a1, z1), c2: more(&b1, z5) },
                }
            },
        )
    }

    /// To the power of |x|, for an element of the cyclotomic subgroup.
    pub(crate) fn pow_x(&self) -> Self {
        let mut power = *self;
        for bit in x_bits() {
            power = power.square_cyclotomic();
            if bit {
                power = power.mul(self);
            }
        }
        power
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

/// (a + b·t)², for t² = ξ: a² + ξ·b² and 2·a·b = (a + b)² − a² − b².
#[inline(always)]
fn square_fp4<A: Wide<Bls12Base>>(a: &Fp2<A>, b: &Fp2<A>) -> (Fp2<A>, Fp2<A>) {
    let (aa, bb) = (a.square(), b.square());
    (aa.add(&bb.mul_xi()), a.add(b).square().sub(&aa).sub(&bb))
}

/// A line's coefficients at a point: those of x and y times its coordinates.
#[inline(always)]
pub(super) fn at_point<A: Wide<Bls12Base>>(
    of_x: &Fp2<A>,
    of_y: &Fp2<A>,
    x: &Fp<A>,
    y: &Fp<A>,
) -> [Fp2<A>; 2] {
    [of_x.scale(x), of_y.scale(y)]
}
