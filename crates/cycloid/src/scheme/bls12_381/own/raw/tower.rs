//! Elements of Fp12, in the tower of `backend::Pairing`.

use super::super::curve::Curve;
use super::super::pairing::{Memory, ZERO};
use super::tasks;
use crate::math::bls12_381::{Field, Fp2, Fp12, Words};

tasks! {
    /// Returns the element to the power of pⁿ, for any group.
    fn frobenius(f, a: Memory, n: usize) -> Memory {
        let mut out = [ZERO];
        let a = Fp12::<A>::import(f, core::slice::from_ref(a));
        (0..*n).fold(a, |a, _| a.frobenius()).export(&mut out);
        out[0]
    }

    /// Returns the product with l₀ + l₁·v + l₂·v·w, for any group.
    fn mul_by_line(f, a: Memory, line: [[Words; 2]; 3]) -> Memory {
        let mut out = [ZERO];
        let line = line.map(|part| Fp2::<A>::import(f, &[part]));
        Fp12::<A>::import(f, core::slice::from_ref(a)).mul_by_line(&line).export(&mut out);
        out[0]
    }
}
