//! Running the same operation on many inputs: eight side by side, or one by one.

use core::slice;

use crate::machine::field::{Bls12Base, Dense, SpreadTask, Wide, WideTask, run_spread};
use crate::machine::lanes::{self, LANES, Multiplication};
use crate::machine::words;

/// An operation that runs on one input or on eight.
pub(super) trait Each {
    /// The type of an input.
    type Input: Copy;

    /// The type of an output.
    type Output: Copy;

    /// Runs the operation on as many inputs as the backend holds.
    fn each<A: Wide<Bls12Base>>(f: A, inputs: &[Self::Input], outputs: &mut [Self::Output]);
}

/// An [`Each`] as work for a backend.
pub(super) struct Work<'a, E: Each> {
    pub(super) inputs: &'a [E::Input],
    pub(super) outputs: &'a mut [E::Output],
}

impl<E: Each> WideTask<Bls12Base> for Work<'_, E> {
    type Output = ();

    fn run<A: Wide<Bls12Base>>(self, f: A) {
        E::each(f, self.inputs, self.outputs);
    }
}

/// Runs work with the best backend for one number.
#[inline(never)]
pub(super) fn one<T: WideTask<Bls12Base>>(task: T) -> T::Output {
    Bls12Base::run_one_wide(words::Backend::best(), task)
}

/// Runs work on one element side by side, if the processor has a fast way.
pub(super) fn spread<T: SpreadTask>(task: T) -> Option<T::Output> {
    run_spread(lanes::Backend::best()?, task)
}

/// Runs the operation on one input.
#[inline(always)]
pub(super) fn single<E: Each>(input: &E::Input, mut output: E::Output) -> E::Output {
    one(Work::<E> { inputs: slice::from_ref(input), outputs: slice::from_mut(&mut output) });
    output
}

/// Returns the number of inputs from which on they run side by side. Without IFMA eight take as
/// long as about six one by one (`bench bls`), with it about three, by the number of products.
pub(super) const fn fewest(backend: lanes::Backend) -> usize {
    match backend.multiplication() {
        Multiplication::OneByOne => usize::MAX,
        Multiplication::FloatingPoint => 6,
        Multiplication::Integer => 3,
    }
}

/// Runs the operation on each input; `outputs` has the same length.
pub(super) fn many<E: Each>(inputs: &[E::Input], outputs: &mut [E::Output]) {
    for (inputs, outputs) in inputs.chunks(LANES).zip(outputs.chunks_mut(LANES)) {
        match lanes::Backend::best() {
            Some(backend) if inputs.len() >= fewest(backend) => {
                eight::<E>(backend, inputs, outputs);
            }
            _ => {
                for (input, output) in inputs.iter().zip(outputs) {
                    *output = single::<E>(input, *output);
                }
            }
        }
    }
}

/// Runs up to eight inputs side by side.
fn eight<E: Each>(backend: lanes::Backend, inputs: &[E::Input], outputs: &mut [E::Output]) {
    if inputs.len() == LANES {
        Bls12Base::run_eight_wide(backend, Work::<E> { inputs, outputs });
    } else {
        some_of_eight::<E>(backend, inputs, outputs);
    }
}

/// Fewer than eight inputs; the last one fills the missing lanes.
#[inline(never)]
fn some_of_eight<E: Each>(backend: lanes::Backend, inputs: &[E::Input], outputs: &mut [E::Output]) {
    let last = inputs.len() - 1;
    let all: [E::Input; LANES] = core::array::from_fn(|lane| inputs[lane.min(last)]);
    let mut results: [E::Output; LANES] = core::array::from_fn(|lane| outputs[lane.min(last)]);
    Bls12Base::run_eight_wide(backend, Work::<E> { inputs: &all, outputs: &mut results });
    outputs.copy_from_slice(&results[..inputs.len()]);
}
