//! Curve computations as functions compiled once per curve in this library, instead of wherever
//! keys of the curve are used.

use crate::machine::{lanes, words};

/// A backend for one number, or for eight.
#[derive(Clone, Copy, Debug)]
pub enum Backend {
    /// For one.
    One(words::Backend),
    /// For eight.
    Eight(lanes::Backend),
}

/// Declares the computing methods of [`Curve`](super::Curve).
macro_rules! operations {
    () => {
        fn multiply(backend: Backend, task: Multiply<'_, Self>) {
            match backend {
                Backend::One(backend) => Self::Field::run_one_curve(backend, task),
                Backend::Eight(backend) => Self::Field::run_eight_curve(backend, task),
            }
        }

        fn multiply_each(task: MultiplyEach<'_, Self>) {
            Self::Field::run_one_curve(words::Backend::best(), task)
        }

        fn sum_vartime(task: Sum<'_, Self>) -> Option<AffinePoint<Self>> {
            Self::Field::run_one_curve(words::Backend::best(), task)
        }

        fn point(operation: Operation<'_, Self>) -> AnyPoint<Self> {
            Self::Field::run_one_curve(words::Backend::best(), operation)
        }

        fn has_x_vartime(task: HasX<'_, Self>) -> bool {
            Self::Field::run_one_curve(words::Backend::best(), task)
        }

        fn has_x_eight_vartime(
            backend: lanes::Backend,
            task: HasXEight<'_, Self>,
        ) -> [bool; lanes::LANES] {
            Self::Field::run_eight_curve(backend, task)
        }

        fn write_multiples(task: WriteMultiples<'_, Self>) {
            Self::Field::run_one_curve(words::Backend::best(), task)
        }

        fn has_x_prepared_vartime(backend: Backend, task: HasXPrepared<'_, Self>) {
            match backend {
                Backend::One(backend) => Self::Field::run_one_curve(backend, task),
                Backend::Eight(backend) => Self::Field::run_eight_curve(backend, task),
            }
        }

        fn all_hold_vartime(task: AllHold<'_, Self>) -> bool {
            Self::Field::run_one_curve(words::Backend::best(), task)
        }

        fn is_on_curve(task: IsOnCurve<'_, Self>) -> bool {
            Self::Field::run_one(words::Backend::best(), task)
        }

        fn ordinate(task: Ordinate<'_, Self>) -> Option<Words<Self>> {
            Self::Field::run_one(words::Backend::best(), task)
        }
    };
}
pub(super) use operations;
