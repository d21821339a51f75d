//! Formulas over Fr on the library's own arithmetic: eight states side by side, or one by one.

use super::super::Fr;
use super::super::backend::{Formula, Ring};
use super::Cycloid;
use super::each::fewest;
use crate::machine::field::{Bls12Scalar, Dense, Limbs, Wide, WideTask};
use crate::machine::lanes::{self, LANES};
use crate::machine::words;
use crate::math::bls12_381::ScalarWords;
use crate::math::field::MAX_WIDTH;

/// Applies a formula to each of the states.
pub(super) fn apply<F: Formula<ScalarWords, T>, const T: usize>(
    formula: &F,
    states: &mut [[Fr<Cycloid>; T]],
) {
    let eight = lanes::Backend::best();
    let one = words::Backend::best();
    for states in states.chunks_mut(LANES) {
        let count = states.len();
        let task = Apply { formula, states };
        match eight {
            Some(backend) if count >= fewest(backend) => {
                Bls12Scalar::run_eight_wide(backend, task);
            }
            _ => Bls12Scalar::run_one_wide(one, task),
        }
    }
}

/// A formula and the states to which a backend applies it.
pub(super) struct Apply<'a, F, const T: usize> {
    pub(super) formula: &'a F,
    pub(super) states: &'a mut [[Fr<Cycloid>; T]],
}

impl<F: Formula<ScalarWords, T>, const T: usize> WideTask<Bls12Scalar> for Apply<'_, F, T> {
    type Output = ();

    fn run<A: Wide<Bls12Scalar>>(self, f: A) {
        for states in self.states.chunks_mut(A::WIDTH) {
            let mut state = [A::ZERO; T];
            let mut words = [ScalarWords::ZERO; MAX_WIDTH];
            for (place, element) in state.iter_mut().enumerate() {
                for (lane, words) in words[..A::WIDTH].iter_mut().enumerate() {
                    // The last state fills the missing lanes.
                    *words = *states[lane.min(states.len() - 1)][place].raw();
                }
                *element = f.import(&words[..A::WIDTH]);
            }
            f.run(
                #[inline(always)]
                || self.formula.apply(Elements(f), &mut state),
            );
            for (place, element) in state.iter().enumerate() {
                f.export(element, &mut words[..A::WIDTH]);
                for (state, words) in states.iter_mut().zip(&words) {
                    *state[place].raw_mut() = *words;
                }
            }
        }
    }
}

/// The elements of an arithmetic, one number or eight.
#[derive(Clone, Copy)]
struct Elements<A>(A);

impl<A: Wide<Bls12Scalar>> Ring for Elements<A> {
    type Constant = ScalarWords;
    type Element = A::Element;

    #[inline(always)]
    fn constant(self, constant: &ScalarWords) -> A::Element {
        self.0.import_shared(constant)
    }

    #[inline(always)]
    fn add(self, a: &A::Element, b: &A::Element) -> A::Element {
        self.0.add(a, b)
    }

    #[inline(always)]
    fn sub(self, a: &A::Element, b: &A::Element) -> A::Element {
        self.0.sub(a, b)
    }

    #[inline(always)]
    fn mul(self, a: &A::Element, b: &A::Element) -> A::Element {
        self.0.mul(a, b)
    }

    #[inline(always)]
    fn square(self, a: &A::Element) -> A::Element {
        self.0.square(a)
    }

    #[inline(always)]
    fn square_times(self, a: &A::Element, times: usize) -> A::Element {
        self.0.square_times(a, times)
    }

    /// Reduces once for as many products as fit.
    #[inline(always)]
    fn inner_product<const N: usize>(self, a: &[A::Element; N], b: &[A::Element; N]) -> A::Element {
        const TERMS: usize = 16;
        let mut total = A::ZERO;
        let mut start = 0;
        while start < N {
            let mut sum = self.0.mul_wide(&a[start], &b[start]);
            let end = N.min(start + TERMS);
            for i in start + 1..end {
                sum = self.0.add_wide(&sum, &self.0.mul_wide(&a[i], &b[i]));
            }
            let sum = self.0.reduce_wide(&sum);
            total = if start == 0 { sum } else { self.0.add(&total, &sum) };
            start = end;
        }
        total
    }
}

#[cfg(test)]
mod tests {
    use std::vec::Vec;

    use super::*;

    /// A formula with every operation of the interface, and sums of products of every length that
    /// is reduced differently.
    struct Everything([Fr<Cycloid>; 2]);

    impl Formula<ScalarWords, 33> for Everything {
        fn apply<R: Ring<Constant = ScalarWords>>(&self, ring: R, state: &mut [R::Element; 33]) {
            let [a, b] = [0, 1].map(|i| ring.constant(self.0[i].raw()));
            let old = *state;
            state[0] = ring.inner_product(&[old[0]], &[a]);
            state[1] = ring.inner_product(&[old[1], a, b], &[b, old[2], old[3]]);
            let first = |from: usize| core::array::from_fn::<_, 16, _>(|i| old[from + i]);
            state[2] = ring.inner_product(&first(0), &first(17));
            let first = |from: usize| core::array::from_fn::<_, 17, _>(|i| old[from + i]);
            state[3] = ring.inner_product(&first(0), &first(16));
            state[4] = ring.inner_product(&old, &old);
            state[5] = ring.square_times(&ring.sub(&a, &old[5]), 3);
            state[6] = ring.mul(&ring.add(&old[6], &b), &ring.square(&old[7]));
        }
    }

    /// The model, on one state.
    fn everything(constants: [Fr<Cycloid>; 2], state: &[Fr<Cycloid>; 33]) -> [Fr<Cycloid>; 33] {
        let [a, b] = constants;
        let old = *state;
        let sum = |n: usize, from: usize| (0..n).map(|i| old[i] * old[from + i]).sum();
        let mut new = old;
        new[0] = old[0] * a;
        new[1] = old[1] * b + a * old[2] + b * old[3];
        new[2] = sum(16, 17);
        new[3] = sum(17, 16);
        new[4] = sum(33, 0);
        new[5] = (a - old[5]).pow_vartime(&[8]);
        new[6] = (old[6] + b) * old[7] * old[7];
        new
    }

    #[test]
    fn every_backend_computes_the_same() {
        let minus = -Fr::ONE;
        let edges = [Fr::ZERO, Fr::ONE, minus, minus.double(), Fr::from(u64::MAX), minus.square()];
        let mut random = Fr::from(3);
        let mut states: Vec<[Fr<Cycloid>; 33]> = edges.map(|edge| [edge; 33]).to_vec();
        for i in 0..13 {
            states.push(core::array::from_fn(|j| {
                random = random.square() + Fr::from(5);
                if i < 6 { edges[(i + j) % 6] } else { random }
            }));
        }
        for constants in [[minus, minus], [Fr::from(7), random], [Fr::ZERO, Fr::ONE]] {
            let expected: Vec<_> =
                states.iter().map(|state| everything(constants, state)).collect();
            let formula = Everything(constants);
            for count in [0, 1, 7, 8, 9, states.len()] {
                for backend in words::Backend::available() {
                    let mut states = states[..count].to_vec();
                    let task = Apply { formula: &formula, states: &mut states };
                    Bls12Scalar::run_one_wide(backend, task);
                    assert_eq!(states, expected[..count], "{}", backend.name());
                }
                for backend in lanes::tests::backends() {
                    let mut states = states[..count].to_vec();
                    let task = Apply { formula: &formula, states: &mut states };
                    Bls12Scalar::run_eight_wide(backend, task);
                    assert_eq!(states, expected[..count], "{}", backend.name());
                }
            }
        }
    }
}
