//! The optimal ate pairing: Miller loop and final exponentiation.
//!
//! The loop runs over the bits of |x| and ends with a conjugation, because x is negative. A line is
//! l₀ + l₁·x_P·v + l₄·y_P·v·w; the code passes l₀, l₁ and l₄, up to a factor in Fp2 that the final
//! exponentiation maps to 1.

use core::marker::PhantomData;

use super::fp2::{Field, Fp2};
use super::point::{Affine, Point};
use super::tower::{Fp12, Line};
use super::{Fp, X, x_bits};
use crate::machine::field::{Bls12Base, Wide};

/// Number of lines of a Miller loop: one for each bit of |x| below the highest, and one for each of
/// them that is 1.
pub(crate) const LINES: usize = 63 + (X.count_ones() as usize - 1);

/// Doubles T and returns the tangent at T (Costello, Lange, Naehrig, Faster pairing computations on
/// curves with high-degree twists, 2010, section 4; Aranha et al., 2011, section 4). The
/// coordinates are four times theirs, which leaves no halves.
#[inline(never)]
fn double_step<A: Wide<Bls12Base>>(t: &mut Point<Fp2<A>>) -> Line<A> {
    let f = t.x.arithmetic();
    f.run(
        #[inline(always)]
        || {
            let Point { x, y, z } = *t;
            let a = x.mul(&y).double();
            let b = y.square();
            let c = z.square();
            let e = c.mul_3b();
            let f = e.double().add(&e);
            let g = b.add(&f);
            let h = y.add(&z).square().sub(&b.add(&c));
            let xx = x.square();
            let ee = e.double().square();
            *t = Point {
                x: a.mul(&b.sub(&f)),
                y: g.square().sub(&ee.double().add(&ee)),
                z: b.mul(&h.double().double()),
            };
            [e.sub(&b), xx.double().add(&xx), h.negate()]
        },
    )
}

/// Adds Q to T and returns the line through both.
#[inline(never)]
fn add_step<A: Wide<Bls12Base>>(t: &mut Point<Fp2<A>>, q: &Affine<Fp2<A>>) -> Line<A> {
    let f = t.x.arithmetic();
    f.run(
        #[inline(always)]
        || {
            let Point { x, y, z } = *t;
            let theta = y.sub(&q.y.mul(&z));
            let lambda = x.sub(&q.x.mul(&z));
            let c = theta.square();
            let d = lambda.square();
            let e = lambda.mul(&d);
            let f = z.mul(&c);
            let g = x.mul(&d);
            let h = e.add(&f).sub(&g.double());
            *t = Point {
                x: lambda.mul(&h),
                y: Fp2::difference_of_products(&theta, &g.sub(&h), &e, &y),
                z: z.mul(&e),
            };
            [Fp2::difference_of_products(&theta, &q.x, &lambda, &q.y), theta.negate(), lambda]
        },
    )
}

/// The moving point of a loop, and its start.
#[derive(Clone, Copy)]
pub(crate) struct Runner<A: Wide<Bls12Base>> {
    pub(super) t: Point<Fp2<A>>,
    q: Affine<Fp2<A>>,
}

impl<A: Wide<Bls12Base>> Runner<A> {
    pub(crate) fn new(q: &Affine<Fp2<A>>) -> Self {
        Self { t: q.to_point(), q: *q }
    }

    /// Returns the next line.
    pub(super) fn next(&mut self, add: bool) -> Line<A> {
        if add { add_step(&mut self.t, &self.q) } else { double_step(&mut self.t) }
    }
}

/// Calls `take` with each line of the loop for Q.
pub(crate) fn prepare<A: Wide<Bls12Base>>(
    q: &Affine<Fp2<A>>,
    mut take: impl FnMut(usize, &Line<A>),
) {
    let mut runner = Runner::new(q);
    let mut place = 0;
    for bit in x_bits() {
        for add in [false, true] {
            if !add || bit {
                take(place, &runner.next(add));
                place += 1;
            }
        }
    }
}

/// Returns the product of the loops of several pairs.
pub(crate) fn miller_loop<A: Wide<Bls12Base>>(
    arithmetic: A,
    p: &[Affine<Fp<A>>],
    runners: &mut [Runner<A>],
) -> Fp12<A> {
    loop_with(arithmetic, p, |pair, _, add| runners[pair].next(add))
}

/// Like [`miller_loop`], with the lines of [`prepare`], by pair and position.
pub(crate) fn miller_loop_prepared<A: Wide<Bls12Base>>(
    arithmetic: A,
    p: &[Affine<Fp<A>>],
    line: impl Fn(usize, usize) -> Line<A>,
) -> Fp12<A> {
    loop_with(arithmetic, p, |pair, place, _| line(pair, place))
}

fn loop_with<A: Wide<Bls12Base>>(
    arithmetic: A,
    p: &[Affine<Fp<A>>],
    mut line: impl FnMut(usize, usize, bool) -> Line<A>,
) -> Fp12<A> {
    let mut product = Fp12::one(arithmetic);
    let mut place = 0;
    for (step, bit) in x_bits().enumerate() {
        if step > 0 {
            product = product.square();
        }
        // Multiplies by two lines at a time.
        let mut waiting = None;
        for add in [false, true] {
            if add && !bit {
                continue;
            }
            for (pair, p) in p.iter().enumerate() {
                let [l0, of_x, of_y] = line(pair, place, add);
                let line = [l0, of_x.scale(&p.x), of_y.scale(&p.y)];
                match waiting.take() {
                    None => waiting = Some(line),
                    Some(other) => product = product.mul_by_two_lines(&other, &line),
                }
            }
            place += 1;
        }
        if let Some(line) = waiting {
            product = product.mul_by_line(&line);
        }
    }
    product.conjugate()
}

/// Operations on elements of Fp12 in one of their forms.
pub(super) trait Exponentiation {
    /// The form of an element.
    type Element;

    fn mul(&self, a: &Self::Element, b: &Self::Element) -> Self::Element;

    /// Returns the inverse of a ≠ 0.
    fn invert(&self, a: &Self::Element) -> Self::Element;

    /// Returns the p⁶-th power, which is the inverse of a cyclotomic element.
    fn conjugate(&self, a: &Self::Element) -> Self::Element;

    /// Returns the p-th power.
    fn frobenius(&self, a: &Self::Element) -> Self::Element;

    /// Returns the square of a cyclotomic element.
    fn square_cyclotomic(&self, a: &Self::Element) -> Self::Element;

    /// Returns the |x|-th power of a cyclotomic element.
    fn pow_x(&self, a: &Self::Element) -> Self::Element;

    /// Returns a^(3·(p¹² − 1)/r) for a ≠ 0.
    ///
    /// The easy part, (p⁶ − 1)·(p² + 1), makes the element cyclotomic; the hard part is
    /// (x − 1)²·(x + p)·(x² + p² − 1) + 3 (Hayashida, Hayasaka, Teruya, Efficient final
    /// exponentiation via cyclotomic structure for pairings over families of elliptic curves, 2020,
    /// section 4).
    fn final_exponentiation(&self, a: &Self::Element) -> Self::Element {
        let easy = self.mul(&self.conjugate(a), &self.invert(a));
        let m = self.mul(&self.frobenius(&self.frobenius(&easy)), &easy);
        // Raises to the power of x, which is negative.
        let x = |a: &Self::Element| self.conjugate(&self.pow_x(a));
        let a = self.mul(&x(&m), &self.conjugate(&m));
        let a = self.mul(&x(&a), &self.conjugate(&a));
        let a = self.mul(&x(&a), &self.frobenius(&a));
        let p2 = self.frobenius(&self.frobenius(&a));
        let b = self.mul(&self.mul(&x(&x(&a)), &p2), &self.conjugate(&a));
        self.mul(&self.mul(&b, &self.square_cyclotomic(&m)), &m)
    }
}

/// The form of the tower.
struct Tower<A>(PhantomData<A>);

impl<A: Wide<Bls12Base>> Exponentiation for Tower<A> {
    type Element = Fp12<A>;

    fn mul(&self, a: &Fp12<A>, b: &Fp12<A>) -> Fp12<A> {
        a.mul(b)
    }

    fn invert(&self, a: &Fp12<A>) -> Fp12<A> {
        a.invert()
    }

    // Functions, as a final exponentiation calls them many times and takes much longer.
    #[inline(never)]
    fn conjugate(&self, a: &Fp12<A>) -> Fp12<A> {
        a.conjugate()
    }

    #[inline(never)]
    fn frobenius(&self, a: &Fp12<A>) -> Fp12<A> {
        a.frobenius()
    }

    fn square_cyclotomic(&self, a: &Fp12<A>) -> Fp12<A> {
        a.square_cyclotomic()
    }

    fn pow_x(&self, a: &Fp12<A>) -> Fp12<A> {
        a.pow_x()
    }
}

/// See [`Exponentiation::final_exponentiation`].
pub(crate) fn final_exponentiation<A: Wide<Bls12Base>>(a: &Fp12<A>) -> Fp12<A> {
    Tower(PhantomData).final_exponentiation(a)
}
