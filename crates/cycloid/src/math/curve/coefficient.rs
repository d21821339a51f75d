//! The coefficient a of a curve y² = x³ + a·x + b, which selects the formulas that contain it.

use crate::machine::field::{Arithmetic, CurveArithmetic, CurvePrime};

/// A coefficient a modulo `P`: a type without a value. Points are in Jacobian coordinates; their
/// addition does not depend on a.
#[allow(unreachable_pub, reason = "Rust 1.89 does not count the bound of `Curve` as a use")]
pub trait Coefficient<P: CurvePrime> {
    /// Returns sum + a·x.
    fn add_product<A: Arithmetic<P>>(f: A, sum: &A::Element, x: &A::Element) -> A::Element;

    /// Returns the point X, Y, Z doubled `times` times; `times` is public.
    fn double_times<A: CurveArithmetic<P>>(
        f: A,
        point: &[A::Element; 3],
        times: usize,
    ) -> [A::Element; 3];
}

/// Doubles a point for any a (Cohen, Miyaji, Ono, Efficient elliptic curve exponentiation using
/// mixed coordinates, 1998), `times` times; `times` is public.
pub(super) fn double_times<P: CurvePrime, K: Coefficient<P>, A: CurveArithmetic<P>>(
    f: A,
    point: &[A::Element; 3],
    times: usize,
) -> [A::Element; 3] {
    (0..times).fold(*point, |[x, y, z], _| {
        let (xx, yy) = (f.square(&x), f.square(&y));
        let s = f.double(&f.double(&f.mul(&x, &yy))); // 4·X·Y²
        let m = K::add_product(f, &f.add(&f.double(&xx), &xx), &f.square_times(&z, 2)); // 3·X² + a·Z⁴
        let x3 = f.sub(&f.square(&m), &f.double(&s));
        let eight_yyyy = f.double(&f.square(&f.double(&yy)));
        let y3 = f.sub(&f.mul(&m, &f.sub(&s, &x3)), &eight_yyyy); // M·(S − X₃) − 8·Y⁴
        [x3, y3, f.mul(&f.double(&y), &z)]
    })
}

/// a = −3, for which 3·X² + a·Z⁴ is 3·(X − Z²)·(X + Z²).
pub struct MinusThree;

impl<P: CurvePrime> Coefficient<P> for MinusThree {
    #[inline(always)]
    fn add_product<A: Arithmetic<P>>(f: A, sum: &A::Element, x: &A::Element) -> A::Element {
        f.sub(sum, &f.add(&f.double(x), x))
    }

    #[inline(always)]
    fn double_times<A: CurveArithmetic<P>>(
        f: A,
        point: &[A::Element; 3],
        times: usize,
    ) -> [A::Element; 3] {
        f.double_times(point, times)
    }
}
