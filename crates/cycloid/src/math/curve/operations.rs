//! What is computed on a curve, as functions that are compiled with the library, once for each curve,
//! and not again wherever keys of the curve are used.

use crate::machine::field::{Prime, Task};
use crate::machine::{lanes, words};

/// A backend for one number, or for eight.
#[derive(Clone, Copy, Debug)]
pub enum Backend {
    /// For one.
    One(words::Backend),
    /// For eight.
    Eight(lanes::Backend),
}

impl Backend {
    /// The fastest for one number.
    pub(crate) fn one() -> Self {
        Self::One(words::Backend::best())
    }

    pub(super) fn run<P: Prime, T: Task<P>>(self, task: T) -> T::Output {
        match self {
            Self::One(backend) => P::run_one(backend, task),
            Self::Eight(backend) => P::run_eight(backend, task),
        }
    }
}

/// The methods of [`Curve`](super::Curve) that compute.
macro_rules! operations {
    () => {
        fn multiply(backend: Backend, task: Multiply<'_, Self>) {
            backend.run::<Self::Field, _>(task);
        }

        fn sum_vartime(task: Sum<'_, Self>) -> Option<AffinePoint<Self>> {
            Backend::one().run::<Self::Field, _>(task)
        }

        fn has_x_vartime(backend: Backend, task: HasX<'_, Self>) {
            backend.run::<Self::Field, _>(task);
        }

        fn is_on_curve(task: IsOnCurve<'_, Self>) -> bool {
            Backend::one().run::<Self::Field, _>(task)
        }

        fn ordinate(task: Ordinate<'_, Self>) -> Option<Words<Self>> {
            Backend::one().run::<Self::Field, _>(task)
        }
    };
}
pub(super) use operations;
