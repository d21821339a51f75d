//! The equation of one signature, across the lanes of a vector if these multiply integers.

use super::each::{Equation, HoldsVartime, IsNeutralVartime, one};
use super::multiply::EquationDigits;
use super::{Stored, TWICE_D};
use crate::machine::field::{CurveArithmetic, CurvePrime, CurveTask, P25519};
use crate::machine::lanes::{self, Multiplication};
use crate::machine::words::Limb;
use crate::math::curve::tables::{SIZE, Size};

/// Runs [`HoldsVartime`] on one equation.
pub(crate) fn holds_vartime(equation: &Equation) -> [Limb; 2] {
    let lanes = lanes::Backend::best();
    lanes
        .filter(|lanes| lanes.multiplication() == Multiplication::Integer)
        .and_then(|lanes| holds_across_vartime(lanes, equation))
        .unwrap_or_else(|| one::<HoldsVartime>(equation))
}

/// Runs it across the lanes, if the backend can, with the large table.
pub(super) fn holds_across_vartime(
    lanes: lanes::Backend,
    equation: &Equation,
) -> Option<[Limb; 2]> {
    if !matches!(SIZE, Size::Large) {
        return None;
    }
    let difference = P25519::run_eight_curve(lanes, Difference { equation })?;
    let mut stored: Stored = [0; 16];
    stored.copy_from_slice(difference.as_flattened());
    Some(one::<IsNeutralVartime>(&stored))
}

struct Difference<'a> {
    equation: &'a Equation,
}

impl CurveTask<P25519> for Difference<'_> {
    type Output = Option<[[Limb; 4]; 4]>;

    #[inline(always)]
    fn run<A: CurveArithmetic<P25519>>(self, arithmetic: A) -> Self::Output {
        let Equation { base_number, number, point, other } = self.equation;
        let digits = EquationDigits::new_vartime(number, base_number);
        let [low, high] = EquationDigits::base_tables();
        arithmetic.edwards_sum_of_one_vartime(
            &TWICE_D,
            [(&coordinates(point), &digits.point), (&coordinates(other), &digits.other)],
            [(low, &digits.low), (high, &digits.high)],
        )
    }
}

fn coordinates(point: &Stored) -> [[Limb; 4]; 4] {
    core::array::from_fn(|i| core::array::from_fn(|j| point[4 * i + j]))
}
