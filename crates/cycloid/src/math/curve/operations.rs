//! Curve computations as functions compiled once per curve in this library, instead of wherever
//! keys of the curve are used.
//!
//! Each computation on one number is a function of its own, apart from those on eight: so a program
//! without batches contains no code and no table for eight.

/// Declares the computing methods of [`Curve`](super::Curve).
macro_rules! operations {
    () => {
        fn multiply_base(task: MultiplyBase<'_, Self>) {
            Self::Field::run_one_curve(words::Backend::best(), task)
        }

        fn multiply_base_each(task: MultiplyBaseEach<'_, Self>) {
            Self::Field::run_one_curve(words::Backend::best(), task)
        }

        fn multiply_base_eight(backend: lanes::Backend, task: MultiplyBase<'_, Self>) {
            Self::Field::run_eight_curve(backend, task)
        }

        fn multiply_point(task: MultiplyPoint<'_, Self>) {
            across::multiply_point(task)
        }

        fn multiply_point_eight(backend: lanes::Backend, task: MultiplyPoint<'_, Self>) {
            Self::Field::run_eight_curve(backend, task)
        }

        fn sum_vartime(task: Sum<'_, Self>) -> Option<AffinePoint<Self>> {
            Self::Field::run_one_curve(words::Backend::best(), task)
        }

        fn point(operation: Operation<'_, Self>) -> AnyPoint<Self> {
            Self::Field::run_one_curve(words::Backend::best(), operation)
        }

        fn has_x_vartime(task: HasX<'_, Self>) -> bool {
            across::has_x_vartime(task)
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

        fn has_x_prepared_vartime(task: HasXPrepared<'_, Self>) {
            Self::Field::run_one_curve(words::Backend::best(), task)
        }

        fn has_x_prepared_eight_vartime(backend: lanes::Backend, task: HasXPrepared<'_, Self>) {
            Self::Field::run_eight_curve(backend, task)
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
