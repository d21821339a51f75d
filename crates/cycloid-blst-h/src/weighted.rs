//! Signatures that are added with weights: those of a context wait, and are then summed together.

use cycloid::bls12_381::backend::{First, Second};
use cycloid::bls12_381::raw;

use crate::memory::integer;
use crate::{blst_p1, blst_p1_affine, blst_p2, blst_p2_affine};

/// Number of pairs and of signatures that wait, to be processed side by side.
pub(crate) const WAITING: usize = raw::BATCH;

/// The most bits of a weight that waits with its point.
const SHORT: usize = 128;

/// A public integer of at most `bits` bits; none stands for 1. Its limbs have the alignment that
/// callers give to a context.
#[derive(Clone, Copy, Default)]
pub(crate) struct Weight {
    limbs: [u64; 2],
    pub(crate) bits: usize,
}

impl Weight {
    pub(crate) fn integer(&self) -> u128 {
        u128::from(self.limbs[0]) | u128::from(self.limbs[1]) << 64
    }
}

/// A scalar for both the signature and the key, of no bits if there is none.
pub(crate) type Scalar = (*const u8, usize);

/// Returns a scalar of at most 128 bits as a weight that can wait.
///
/// # Safety
/// As for [the crate](crate).
pub(crate) unsafe fn short((scalar, bits): Scalar) -> Option<Weight> {
    // SAFETY: as the caller says.
    let [low, high, ..] = unsafe { integer(scalar, bits.min(SHORT)) };
    let weight = Weight { limbs: [low, high], bits };
    (bits <= SHORT).then_some(weight)
}

/// The sum of the signatures of one group.
macro_rules! signatures {
    ($Signatures:ident, $G:ty, $point:ty, $affine:ty) => {
        pub(crate) struct $Signatures {
            /// The sum of those that do not wait, if there are any.
            sum: Option<$point>,
            waiting: usize,
            points: [$affine; WAITING],
            weights: [Weight; WAITING],
        }

        impl $Signatures {
            pub(crate) fn new() -> Self {
                let (points, weights) = Default::default();
                Self { sum: None, waiting: 0, points, weights }
            }

            /// Returns the sum of all.
            pub(crate) fn total(&self) -> Option<$point> {
                if self.waiting == 0 {
                    return self.sum;
                }
                let bits = self.weights[..self.waiting].iter().map(|weight| weight.bits).max();
                let bits = bits.unwrap_or(0);
                let mut scratch = vec![0; raw::msm_scratch_limbs::<$G>(self.waiting, bits)];
                let integer = |i: usize| {
                    let [low, high] = self.weights[i].limbs;
                    [low, high, 0, 0]
                };
                let part = raw::msm_vartime::<$G>(
                    self.waiting,
                    bits,
                    |i| &self.points[i],
                    integer,
                    &mut scratch,
                );
                Some(self.sum.map_or(part, |sum| raw::add_points::<$G>(&sum, &part)))
            }

            pub(crate) fn commit(&mut self) {
                self.sum = self.total();
                self.waiting = 0;
            }

            pub(crate) fn add(&mut self, point: &$point) {
                self.sum = Some(match &self.sum {
                    Some(sum) => raw::add_points::<$G>(sum, point),
                    None => *point,
                });
            }

            pub(crate) fn push(&mut self, point: $affine, weight: Weight) {
                self.points[self.waiting] = point;
                self.weights[self.waiting] = weight;
                self.waiting += 1;
                if self.waiting == WAITING {
                    self.commit();
                }
            }
        }
    };
}

signatures!(FirstSignatures, First, blst_p1, blst_p1_affine);
signatures!(SecondSignatures, Second, blst_p2, blst_p2_affine);
