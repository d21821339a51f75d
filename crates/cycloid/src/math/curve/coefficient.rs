//! The coefficient a of a curve y² = x³ + a·x + b, which selects the formulas that contain it.

use crate::machine::field::{Arithmetic, CurveArithmetic, CurvePrime};

/// A coefficient a modulo `P`: a type without a value. Points are in Jacobian coordinates; their
/// addition does not depend on a.
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
