//! Polynomials over Fr as slices of coefficients, the constant one first. An empty slice is 0.
//!
//! Time depends on the lengths only. Long products and polynomials given by their values on roots
//! of unity are faster with a [`Domain`](super::Domain).

use super::backend::Scalars;
use super::error::equal_counts;
use super::{Error, Fr};

/// Returns the value at z (Horner's rule).
pub fn evaluate<B: Scalars>(coefficients: &[Fr<B>], z: &Fr<B>) -> Fr<B> {
    coefficients.iter().rev().fold(Fr::ZERO, |value, coefficient| value * *z + *coefficient)
}

/// Divides by X − z in place. Returns the remainder, which is the value at z; the quotient takes
/// the first places, and the last one becomes 0.
pub fn divide_by_linear<B: Scalars>(coefficients: &mut [Fr<B>], z: &Fr<B>) -> Fr<B> {
    let mut carried = Fr::ZERO;
    for coefficient in coefficients.iter_mut().rev() {
        let next = carried * *z + *coefficient;
        (*coefficient, carried) = (carried, next);
    }
    carried
}

/// Multiplies two polynomials. `product` has one coefficient fewer than both together, or none if
/// one of them is empty.
///
/// # Errors
/// [`Error::Counts`].
pub fn multiply<B: Scalars>(a: &[Fr<B>], b: &[Fr<B>], product: &mut [Fr<B>]) -> Result<(), Error> {
    if a.is_empty() || b.is_empty() {
        return equal_counts(0, product.len());
    }
    equal_counts(a.len() + b.len() - 1, product.len())?;
    product.fill(Fr::ZERO);
    for (i, a) in a.iter().enumerate() {
        for (b, sum) in b.iter().zip(&mut product[i..]) {
            *sum += *a * *b;
        }
    }
    Ok(())
}

/// Computes the polynomial (X − z₀)·(X − z₁)·…, which has one coefficient more than there are
/// roots.
///
/// # Errors
/// [`Error::Counts`].
pub fn from_roots<B: Scalars>(roots: &[Fr<B>], coefficients: &mut [Fr<B>]) -> Result<(), Error> {
    equal_counts(roots.len() + 1, coefficients.len())?;
    coefficients.fill(Fr::ZERO);
    coefficients[0] = Fr::ONE;
    for (i, root) in roots.iter().enumerate() {
        for j in (0..=i + 1).rev() {
            let below = if j > 0 { coefficients[j - 1] } else { Fr::ZERO };
            coefficients[j] = below - coefficients[j] * *root;
        }
    }
    Ok(())
}

/// Replaces values at distinct points by the coefficients of the polynomial of lowest degree with
/// these values, by Newton's divided differences. `scratch` has twice as many elements.
///
/// # Errors
/// [`Error::Counts`]; [`Error::SamePoint`], which leaves the values and the scratch undefined.
pub fn interpolate<B: Scalars>(
    points: &[Fr<B>],
    values: &mut [Fr<B>],
    scratch: &mut [Fr<B>],
) -> Result<(), Error> {
    let n = points.len();
    equal_counts(n, values.len())?;
    equal_counts(2 * n, scratch.len())?;
    let (differences, rest) = scratch.split_at_mut(n);
    for level in 1..n {
        let differences = &mut differences[..n - level];
        for (i, difference) in differences.iter_mut().enumerate() {
            *difference = points[i + level] - points[i];
        }
        if differences.iter().any(Fr::is_zero) {
            return Err(Error::SamePoint);
        }
        Fr::invert_many(differences, &mut rest[..n - level])?;
        for i in (level..n).rev() {
            values[i] = (values[i] - values[i - 1]) * differences[i - level];
        }
    }
    // From Newton's basis 1, (X − x₀), (X − x₀)·(X − x₁), …
    for i in (0..n.saturating_sub(1)).rev() {
        for j in i..n - 1 {
            let higher = values[j + 1];
            values[j] -= points[i] * higher;
        }
    }
    scratch.iter_mut().for_each(Fr::wipe);
    Ok(())
}
