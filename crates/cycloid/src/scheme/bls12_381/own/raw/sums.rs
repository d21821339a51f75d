//! Sums of many points and of many multiples, for public points and scalars.

use super::super::curve::Curve;
use super::super::msm::{self, Plan};
use super::super::shared_inversion;
use super::{Affine, Jacobian, from_homogeneous};

/// Returns a₀ + a₁ + … of n points. Time depends on which are equal, opposite or infinity.
pub fn sum_vartime<'a, G: Curve>(n: usize, point: impl Fn(usize) -> &'a Affine<G>) -> Jacobian<G>
where
    G::Memory: 'a,
{
    from_homogeneous::<G>(&shared_inversion::sum_vartime::<G>(n, point))
}

/// Computes the affine coordinates of n points and passes each to `write`.
pub fn to_affine_many<'a, G: Curve>(
    n: usize,
    point: impl Fn(usize) -> &'a Jacobian<G>,
    write: impl FnMut(usize, Affine<G>),
) where
    G::Memory: 'a,
{
    shared_inversion::jacobian_to_affine::<G>(n, point, write);
}

/// Returns the limbs of scratch of [`msm_vartime`] for n integers of `bits` bits, at most 256.
pub fn msm_scratch_limbs<G: Curve>(n: usize, bits: usize) -> usize {
    Plan::of_bits(n, bits).scratch::<G>()
}

/// Returns k₀·a₀ + k₁·a₁ + … for n points of the curve and integers of at most `bits` bits, at most
/// 256. `scratch` has at least [`msm_scratch_limbs`] limbs.
pub fn msm_vartime<'a, G: Curve>(
    n: usize,
    bits: usize,
    point: impl Fn(usize) -> &'a Affine<G>,
    integer: impl Fn(usize) -> [u64; 4],
    scratch: &mut [u64],
) -> Jacobian<G>
where
    G::Memory: 'a,
{
    let plan = Plan::of_bits(n, bits);
    from_homogeneous::<G>(&msm::sum_of_multiples::<G>(plan, point, integer, scratch))
}
