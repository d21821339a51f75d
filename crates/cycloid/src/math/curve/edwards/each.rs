//! Running a function on any number of inputs: eight side by side while enough remain, otherwise
//! one at a time, by the same formulas.

use super::{Encoding, Field, Point, Scalar, Stored, TWICE_D};
use crate::machine::ct;
use crate::machine::field::{CurveArithmetic, CurvePrime, CurveTask, Limbs, Masks, P25519};
use crate::machine::lanes::{self, LANES, Multiplication};
use crate::machine::words::{self, Limb};

/// A function over the field, on one input or on eight.
pub(crate) trait Each {
    /// The type of an input, which is never copied.
    type Input: ?Sized;

    /// The type of an output; outputs of unused lanes are wiped.
    type Output: Limbs;

    /// Runs the function on `WIDTH` inputs.
    fn run<A: CurveArithmetic<P25519>>(
        arithmetic: A,
        inputs: &[&Self::Input],
        outputs: &mut [Self::Output],
    );
}

/// Runs the function on every input, with an output for each. Inputs that go side by side use
/// `lanes`. Inlined, so that callers that never pass lanes contain no code for them.
#[inline(always)]
pub(crate) fn each<E: Each>(
    lanes: Option<lanes::Backend>,
    inputs: &[&E::Input],
    outputs: &mut [E::Output],
) {
    each_on::<E>(words::Backend::best(), lanes, inputs, outputs);
}

/// Runs the function on one input.
pub(crate) fn one<E: Each>(input: &E::Input) -> E::Output {
    let mut output = [E::Output::ZERO];
    let run = Run::<E> { inputs: &[input], outputs: &mut output };
    P25519::run_one_curve(words::Backend::best(), run);
    output[0]
}

/// Like [`each`], with a given backend for single inputs as well.
#[inline(always)]
pub(super) fn each_on<E: Each>(
    words: words::Backend,
    lanes: Option<lanes::Backend>,
    inputs: &[&E::Input],
    outputs: &mut [E::Output],
) {
    match lanes {
        Some(lanes) => each_on_lanes::<E>(words, lanes, inputs, outputs),
        None => each_apart::<E>(words, inputs, outputs),
    }
}

fn each_on_lanes<E: Each>(
    words: words::Backend,
    lanes: lanes::Backend,
    inputs: &[&E::Input],
    outputs: &mut [E::Output],
) {
    for (inputs, outputs) in inputs.chunks(LANES).zip(outputs.chunks_mut(LANES)) {
        if are_side_by_side(lanes, inputs.len()) {
            // Unused lanes repeat the first input.
            let all: [_; LANES] =
                core::array::from_fn(|lane| *inputs.get(lane).unwrap_or(&inputs[0]));
            let mut results = [E::Output::ZERO; LANES];
            P25519::run_eight_curve(lanes, Run::<E> { inputs: &all, outputs: &mut results });
            outputs.copy_from_slice(&results[..outputs.len()]);
            results.iter_mut().for_each(|result| ct::wipe(result.as_mut()));
        } else {
            each_apart::<E>(words, inputs, outputs);
        }
    }
}

fn each_apart<E: Each>(words: words::Backend, inputs: &[&E::Input], outputs: &mut [E::Output]) {
    for (input, output) in inputs.chunks(1).zip(outputs.chunks_mut(1)) {
        P25519::run_one_curve(words, Run::<E> { inputs: input, outputs: output });
    }
}

/// Returns whether so many inputs, at most eight, are faster side by side, despite idle lanes, than
/// one by one; measured to be about the same for every function here.
pub(crate) const fn are_side_by_side(backend: lanes::Backend, count: usize) -> bool {
    let fewest = match backend.multiplication() {
        Multiplication::Integer => 3,
        Multiplication::FloatingPoint | Multiplication::OneByOne => 4,
    };
    count >= fewest
}

struct Run<'a, E: Each> {
    inputs: &'a [&'a E::Input],
    outputs: &'a mut [E::Output],
}

impl<E: Each> CurveTask<P25519> for Run<'_, E> {
    type Output = ();

    #[inline(always)]
    fn run<A: CurveArithmetic<P25519>>(self, arithmetic: A) {
        arithmetic.run(
            #[inline(always)]
            || E::run(arithmetic, self.inputs, self.outputs),
        );
    }
}

/// Multiplies the base point by a number.
pub(crate) struct Base;

impl Each for Base {
    type Input = Scalar;
    type Output = Stored;

    #[inline(always)]
    fn run<A: CurveArithmetic<P25519>>(
        arithmetic: A,
        numbers: &[&Scalar],
        products: &mut [Stored],
    ) {
        Point::multiply_base(arithmetic, numbers).store(products);
    }
}

/// Multiplies the base point by a number and encodes the result.
pub(crate) struct EncodeBase;

impl Each for EncodeBase {
    type Input = Scalar;
    type Output = Encoding;

    #[inline(always)]
    fn run<A: CurveArithmetic<P25519>>(
        arithmetic: A,
        numbers: &[&Scalar],
        encodings: &mut [Encoding],
    ) {
        Point::multiply_base(arithmetic, numbers).encode(encodings);
    }
}

/// Computes the u-coordinate, on the curve of X25519, of the base point times a number (RFC 7748,
/// section 4.1): u = (1 + y)/(1 − y), and 0 for the neutral point.
pub(crate) struct UOfBase;

impl Each for UOfBase {
    type Input = Scalar;
    type Output = [Limb; 4];

    #[inline(always)]
    fn run<A: CurveArithmetic<P25519>>(arithmetic: A, numbers: &[&Scalar], us: &mut [[Limb; 4]]) {
        let Point { y, z, .. } = Point::multiply_base(arithmetic, numbers);
        (&(&z + &y) * &(&z - &y).invert()).store(us);
    }
}

/// Decodes a point, followed by a limb that is 1 if the point exists and 0 otherwise.
pub(crate) struct Decode;

impl Each for Decode {
    type Input = Encoding;
    type Output = [Limb; 17];

    #[inline(always)]
    fn run<A: CurveArithmetic<P25519>>(
        arithmetic: A,
        encodings: &[&Encoding],
        decoded: &mut [[Limb; 17]],
    ) {
        let (points, valid) = Point::decode(arithmetic, encodings);
        let mut stored = [[0; 16]; LANES];
        points.store(&mut stored[..A::WIDTH]);
        for (place, decoded) in decoded.iter_mut().enumerate() {
            decoded[..16].copy_from_slice(&stored[place]);
            decoded[16] = valid.at(place).value() & 1;
        }
    }
}

/// Encodes a point.
pub(crate) struct Encode;

impl Each for Encode {
    type Input = Stored;
    type Output = Encoding;

    #[inline(always)]
    fn run<A: CurveArithmetic<P25519>>(
        arithmetic: A,
        points: &[&Stored],
        encodings: &mut [Encoding],
    ) {
        Point::load(arithmetic, points).encode(encodings);
    }
}

/// Multiplies a point by a number.
pub(crate) struct Multiply;

impl Each for Multiply {
    type Input = (Stored, Scalar);
    type Output = Stored;

    #[inline(always)]
    fn run<A: CurveArithmetic<P25519>>(
        arithmetic: A,
        inputs: &[&(Stored, Scalar)],
        products: &mut [Stored],
    ) {
        let points = all(inputs, |input| &input.0);
        let numbers = all(inputs, |input| &input.1);
        let points = Point::load(arithmetic, &points[..A::WIDTH]);
        points.multiply(&numbers[..A::WIDTH]).store(products);
    }
}

/// Computes a number times the base point minus a number times a point, in variable time.
pub(crate) struct CombineVartime;

/// The inputs of [`CombineVartime`].
pub(crate) struct Combination {
    pub(crate) base_number: Scalar,
    pub(crate) number: Scalar,
    pub(crate) point: Stored,
}

impl Each for CombineVartime {
    type Input = Combination;
    type Output = Stored;

    #[inline(always)]
    fn run<A: CurveArithmetic<P25519>>(
        arithmetic: A,
        inputs: &[&Combination],
        differences: &mut [Stored],
    ) {
        let points = all(inputs, |input| &input.point);
        let numbers = all(inputs, |input| &input.number);
        let base_numbers = all(inputs, |input| &input.base_number);
        let opposites = Point::load(arithmetic, &points[..A::WIDTH]).negate();
        opposites
            .multiply_add_base_vartime(&numbers[..A::WIDTH], &base_numbers[..A::WIDTH])
            .store(differences);
    }
}

/// Tells, in variable time, whether a number S times the base point is R + k·A, and whether it is
/// up to a point of small order; results are 1 or 0.
pub(crate) struct HoldsVartime;

/// The inputs of [`HoldsVartime`].
pub(crate) struct Equation {
    /// S.
    pub(crate) base_number: Scalar,
    /// k.
    pub(crate) number: Scalar,
    /// A.
    pub(crate) point: Stored,
    /// R.
    pub(crate) other: Stored,
}

impl Each for HoldsVartime {
    type Input = Equation;
    type Output = [Limb; 2];

    #[inline(always)]
    fn run<A: CurveArithmetic<P25519>>(
        arithmetic: A,
        inputs: &[&Equation],
        outcomes: &mut [[Limb; 2]],
    ) {
        let points = all(inputs, |input| &input.point);
        let others = all(inputs, |input| &input.other);
        let numbers = all(inputs, |input| &input.number);
        let base_numbers = all(inputs, |input| &input.base_number);
        let points = Point::load(arithmetic, &points[..A::WIDTH]);
        let others = Point::load(arithmetic, &others[..A::WIDTH]);
        let difference = if A::WIDTH == 1 {
            points.multiple_of_difference_vartime(numbers[0], base_numbers[0], &others)
        } else {
            let opposite = others.negate().addend(&Field::constant(arithmetic, &TWICE_D));
            let sum = points
                .negate()
                .multiply_add_base_vartime(&numbers[..A::WIDTH], &base_numbers[..A::WIDTH]);
            sum.add(&opposite).extended()
        };
        tell_neutral_vartime(&difference, outcomes);
    }
}

/// Tells, in variable time, whether a point is neutral, and whether it is of small order; results
/// are 1 or 0.
pub(super) struct IsNeutralVartime;

impl Each for IsNeutralVartime {
    type Input = Stored;
    type Output = [Limb; 2];

    #[inline(always)]
    fn run<A: CurveArithmetic<P25519>>(
        arithmetic: A,
        points: &[&Stored],
        outcomes: &mut [[Limb; 2]],
    ) {
        tell_neutral_vartime(&Point::load(arithmetic, points), outcomes);
    }
}

#[inline(always)]
fn tell_neutral_vartime<A: CurveArithmetic<P25519>>(points: &Point<A>, outcomes: &mut [[Limb; 2]]) {
    let same = points.is_neutral();
    // Whether the equation holds is the function's result.
    let nearly = if (!same).reveal_any() { points.is_of_small_order() } else { same };
    for (place, outcome) in outcomes.iter_mut().enumerate() {
        *outcome = [same.at(place).value() & 1, nearly.at(place).value() & 1];
    }
}

/// Adds two points.
pub(crate) struct Sum;

impl Each for Sum {
    type Input = (Stored, Stored);
    type Output = Stored;

    #[inline(always)]
    fn run<A: CurveArithmetic<P25519>>(
        arithmetic: A,
        inputs: &[&(Stored, Stored)],
        sums: &mut [Stored],
    ) {
        let [a, b] = pairs(arithmetic, inputs);
        let twice_d = Field::constant(arithmetic, &TWICE_D);
        a.add(&b.addend(&twice_d)).extended().store(sums);
    }
}

/// Negates a point.
pub(crate) struct Negate;

impl Each for Negate {
    type Input = Stored;
    type Output = Stored;

    #[inline(always)]
    fn run<A: CurveArithmetic<P25519>>(
        arithmetic: A,
        points: &[&Stored],
        opposites: &mut [Stored],
    ) {
        Point::load(arithmetic, points).negate().store(opposites);
    }
}

/// Compares two points, and compares them up to a point of small order; results are 1 or 0.
pub(crate) struct Compare;

impl Each for Compare {
    type Input = (Stored, Stored);
    type Output = [Limb; 2];

    #[inline(always)]
    fn run<A: CurveArithmetic<P25519>>(
        arithmetic: A,
        inputs: &[&(Stored, Stored)],
        equalities: &mut [[Limb; 2]],
    ) {
        let [a, b] = pairs(arithmetic, inputs);
        let twice_d = Field::constant(arithmetic, &TWICE_D);
        let difference = a.add(&b.negate().addend(&twice_d)).extended();
        let (same, nearly) = (difference.is_neutral(), difference.is_of_small_order());
        for (place, equality) in equalities.iter_mut().enumerate() {
            *equality = [same.at(place).value() & 1, nearly.at(place).value() & 1];
        }
    }
}

/// Returns one component of all inputs.
#[inline(always)]
fn all<'a, I, T>(inputs: &[&'a I], part: impl Fn(&'a I) -> &'a T) -> [&'a T; LANES] {
    core::array::from_fn(|place| part(inputs.get(place).unwrap_or(&inputs[0])))
}

#[inline(always)]
fn pairs<A: CurveArithmetic<P25519>>(arithmetic: A, inputs: &[&(Stored, Stored)]) -> [Point<A>; 2] {
    let (first, second) = (all(inputs, |input| &input.0), all(inputs, |input| &input.1));
    [first, second].map(|points| Point::load(arithmetic, &points[..A::WIDTH]))
}

impl<A: CurveArithmetic<P25519>> Point<A> {
    #[inline(always)]
    pub(super) fn load(arithmetic: A, points: &[&Stored]) -> Self {
        let coordinate = |i: usize| {
            let mut numbers = [[0; 4]; LANES];
            for (number, point) in numbers.iter_mut().zip(points) {
                number.copy_from_slice(&point[4 * i..][..4]);
            }
            Field::load(arithmetic, &numbers[..A::WIDTH])
        };
        Self { x: coordinate(0), y: coordinate(1), z: coordinate(2), t: coordinate(3) }
    }

    #[inline(always)]
    fn store(&self, points: &mut [Stored]) {
        for (i, coordinate) in [&self.x, &self.y, &self.z, &self.t].into_iter().enumerate() {
            let mut numbers = [[0; 4]; LANES];
            coordinate.store(&mut numbers[..A::WIDTH]);
            for (point, number) in points.iter_mut().zip(&numbers) {
                point[4 * i..][..4].copy_from_slice(number);
            }
        }
    }
}
