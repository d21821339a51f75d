//! Arithmetic on residues and points in memory, for interfaces that expose their representation,
//! such as that of blst.
//!
//! A residue is words in Montgomery form with R = 2^(64·n), and points are in Jacobian coordinates
//! here: infinity has Z = 0. Operations that lead to a canonical result are correct for words below
//! the modulus only; other words give meaningless results. A group is [`First`] or [`Second`], and
//! the coordinates of its points are in its field, Fp or Fp2.
//!
//! [`First`]: super::super::First
//! [`Second`]: super::super::Second

// The trait of the two groups is for this crate alone.
#![expect(private_bounds)]

mod batch;
mod field;
mod point;
mod sums;
mod tower;

pub use super::curve::Coordinates;
pub use batch::*;
pub use field::*;
pub use point::*;
pub use sums::*;
pub use tower::*;

/// A point in Jacobian coordinates.
pub type Jacobian<G> = [<G as Coordinates>::Memory; 3];

/// A point in affine coordinates, or zeros for infinity.
pub type Affine<G> = [<G as Coordinates>::Memory; 2];

/// Declares functions that run on the best backend for one number, named `A` in their bodies.
/// Arguments are references.
macro_rules! tasks {
    ($($(#[$doc:meta])* fn $name:ident($f:ident $(, $argument:ident: $type:ty)*) -> $out:ty
        $body:block)+) => {$(
        $(#[$doc])*
        pub fn $name<G: Curve>($($argument: &$type),*) -> $out {
            struct Work<'a, G: Curve> {
                $($argument: &'a $type,)*
                group: core::marker::PhantomData<(&'a (), G)>,
            }

            impl<G: Curve> $crate::machine::field::WideTask<$crate::machine::field::Bls12Base>
                for Work<'_, G>
            {
                type Output = $out;

                #[inline(always)]
                fn run<A: $crate::machine::field::Wide<$crate::machine::field::Bls12Base>>(
                    self,
                    $f: A,
                ) -> $out {
                    let Self { $($argument,)* .. } = self;
                    $body
                }
            }

            let work = Work::<G> { $($argument,)* group: core::marker::PhantomData };
            <$crate::machine::field::Bls12Base as $crate::machine::field::Dense>::run_one_wide(
                $crate::machine::words::Backend::best(),
                work,
            )
        }
    )+};
}
use tasks;
