//! Fq12, GT and the pairing on the library's own arithmetic.

use core::marker::PhantomData;
use core::slice;

use super::super::backend::{First, Pairing, Scalars, Second};
use super::super::{G1Affine, G2Affine};
use super::Cycloid;
use super::curve::{Memory2, import_affine, import_one};
use super::each::{Each, fewest, many, one, single, spread as side_by_side};
use crate::machine::ct::{self, Mask};
use crate::machine::field::{Bls12Base, Dense, Spread, SpreadTask, Wide, WideTask};
use crate::machine::lanes::{self, LANES};
use crate::machine::words;
use crate::math::bls12_381::spread::{self, Spread12};
use crate::math::bls12_381::{
    self, Affine, Field, Fp, Fp2, Fp12, LINES, Line, Runner, Words, constants, reveal,
};
use crate::math::field::MAX_WIDTH;

/// An element of Fq12 in memory.
pub(super) type Memory = [[Words; 2]; 6];

pub(super) const ZERO: Memory = [[[0; 6]; 2]; 6];

/// The lines of a Miller loop in memory.
type Prepared = [[[Words; 2]; 3]; LINES];

/// Declares operations that run on each of many elements of Fq12.
macro_rules! each {
    ($($(#[$doc:meta])* $name:ident $(<$life:lifetime>)?: $input:ty => $output:ty,
        |$f:ident, $inputs:ident, $outputs:ident| $body:block)+) => {$(
        $(#[$doc])*
        pub(super) struct $name $(<$life>(PhantomData<&$life ()>))?;

        impl $(<$life>)? Each for $name $(<$life>)? {
            type Input = $input;
            type Output = $output;

            fn each<A: Wide<Bls12Base>>($f: A, $inputs: &[$input], $outputs: &mut [$output]) $body
        }
    )+};
}

/// Returns the `i`-th element of each input.
fn side<A: Wide<Bls12Base>>(f: A, inputs: &[[&Memory; 2]], i: usize) -> Fp12<A> {
    if A::WIDTH == 1 {
        return Fp12::import(f, slice::from_ref(inputs[0][i]));
    }
    let mut side = [ZERO; MAX_WIDTH];
    side.iter_mut().zip(inputs).for_each(|(side, input)| *side = *input[i]);
    Fp12::import(f, &side[..A::WIDTH])
}

each! {
    Mul<'a>: [&'a Memory; 2] => Memory, |f, inputs, outputs| {
        side(f, inputs, 0).mul(&side(f, inputs, 1)).export(outputs);
    }

    Square: Memory => Memory, |f, inputs, outputs| {
        Fp12::import(f, inputs).square().export(outputs);
    }

    SquareCyclotomic: Memory => Memory, |f, inputs, outputs| {
        Fp12::import(f, inputs).square_cyclotomic().export(outputs);
    }

    Invert: Memory => Memory, |f, inputs, outputs| {
        Fp12::import(f, inputs).invert().export(outputs);
    }

    IsInGroup: Memory => bool, |f, inputs, outputs| {
        let members = Fp12::import(f, inputs).is_in_group();
        outputs.copy_from_slice(&reveal::<A>(members)[..A::WIDTH]);
    }

    Pow: (Memory, [u128; 4]) => Memory, |f, inputs, outputs| {
        let (mut bases, mut parts) = ([ZERO; MAX_WIDTH], [[0; MAX_WIDTH]; 4]);
        for (place, input) in inputs.iter().enumerate() {
            bases[place] = input.0;
            parts.iter_mut().zip(input.1).for_each(|(part, value)| part[place] = value);
        }
        let base = Fp12::import(f, &bases[..A::WIDTH]);
        bls12_381::pow_in_group(&base, &parts).export(outputs);
        bls12_381::wipe_parts(parts.as_flattened_mut());
    }

    FinalExponentiation: Memory => Memory, |f, inputs, outputs| {
        bls12_381::final_exponentiation(&Fp12::import(f, inputs)).export(outputs);
    }

    /// Converts from integers, and back.
    Load: Memory => Memory, |f, inputs, outputs| {
        for i in 0..6 {
            let mut integers = [[[0; 6]; 2]; MAX_WIDTH];
            integers.iter_mut().zip(inputs).for_each(|(integer, input)| *integer = input[i]);
            let mut memory = integers;
            Fp2::load(f, &integers[..A::WIDTH]).export(&mut memory[..A::WIDTH]);
            outputs.iter_mut().zip(memory).for_each(|(output, memory)| output[i] = memory);
        }
    }

    Store: Memory => Memory, |f, inputs, outputs| {
        for i in 0..6 {
            let mut memory = [[[0; 6]; 2]; MAX_WIDTH];
            memory.iter_mut().zip(inputs).for_each(|(memory, input)| *memory = input[i]);
            let mut integers = memory;
            Fp2::import(f, &memory[..A::WIDTH]).store(&mut integers[..A::WIDTH]);
            outputs.iter_mut().zip(integers).for_each(|(output, integer)| output[i] = integer);
        }
    }

    /// Runs the loop of each pair separately.
    MillerLoop: (Memory2<First>, Memory2<Second>) => Memory, |f, inputs, outputs| {
        let (mut p, mut q) = ([[[0; 6]; 2]; MAX_WIDTH], [[[[0; 6]; 2]; 2]; MAX_WIDTH]);
        for (place, input) in inputs.iter().enumerate() {
            (p[place], q[place]) = *input;
        }
        let p: Affine<Fp<A>> = import_affine::<First, A>(f, &p[..A::WIDTH]);
        let q: Affine<Fp2<A>> = import_affine::<Second, A>(f, &q[..A::WIDTH]);
        bls12_381::miller_loop(f, &[p], &mut [Runner::new(&q)]).export(outputs);
    }
}

/// Number of pairs whose loops share their squarings.
const PAIRS: usize = 16;

/// The most pairs with the coordinates of each point side by side; more have a point in each lane.
pub(super) const SPREAD_PAIRS: usize = 3;

/// The most pairs with prepared lines whose lines are imported one by one.
const PREPARED: usize = 2;

/// Number of pairs in a signature verification.
const FEW: usize = 2;

/// The combined loops of up to `N` pairs.
struct Together<'a, const N: usize> {
    p: &'a [G1Affine<Cycloid>],
    q: &'a [G2Affine<Cycloid>],
}

impl<const N: usize> WideTask<Bls12Base> for Together<'_, N> {
    type Output = Memory;

    fn run<A: Wide<Bls12Base>>(self, f: A) -> Memory {
        let p = |i: usize| import_one::<First, A>(f, self.p[i].raw());
        let q = |i: usize| import_one::<Second, A>(f, self.q[i].raw());
        let last = self.p.len() - 1;
        let points: [_; N] = core::array::from_fn(|i| p(i.min(last)));
        let mut runners: [_; N] = core::array::from_fn(|i| Runner::new(&q(i.min(last))));
        let value = bls12_381::miller_loop(f, &points[..=last], &mut runners[..=last]);
        first(&value)
    }
}

/// The combined loops of up to `N` pairs on vectors, the coordinates of a point side by side.
pub(super) struct SpreadMillerLoop<'a, const N: usize> {
    pub(super) p: &'a [G1Affine<Cycloid>],
    pub(super) q: &'a [G2Affine<Cycloid>],
}

impl<const N: usize> SpreadTask for SpreadMillerLoop<'_, N> {
    type Output = Memory;

    fn run<A: Spread>(self, f: A) -> Memory {
        let last = self.p.len() - 1;
        let mut pairs: [_; N] = core::array::from_fn(|i| {
            spread::Pair::new(f, self.p[i.min(last)].raw(), self.q[i.min(last)].raw())
        });
        spread::miller_loop(f, &mut pairs[..=last]).export(f)
    }
}

/// The combined loops of up to [`PAIRS`] pairs on vectors, one point in each lane.
pub(super) struct SpreadMillerLoops<'a> {
    pub(super) p: &'a [G1Affine<Cycloid>],
    pub(super) q: &'a [G2Affine<Cycloid>],
}

impl SpreadTask for SpreadMillerLoops<'_> {
    type Output = Memory;

    fn run<A: Spread>(self, f: A) -> Memory {
        let count = self.p.len().div_ceil(LANES);
        let mut eights: [_; PAIRS / LANES] = core::array::from_fn(|i| {
            let start = LANES * i.min(count - 1);
            let pairs = LANES.min(self.p.len() - start);
            let (p, q) = (&self.p[start..], &self.q[start..]);
            spread::Eight::new(f, pairs, |lane| p[lane].raw(), |lane| q[lane].raw())
        });
        spread::miller_loop_of_many(f, &mut eights[..count]).export(f)
    }
}

/// Whether an element is a member of GT, on vectors.
pub(super) struct SpreadIsInGroup<'a>(pub(super) &'a Memory);

impl SpreadTask for SpreadIsInGroup<'_> {
    type Output = bool;

    fn run<A: Spread>(self, f: A) -> bool {
        Spread12::import(f, self.0).is_in_group(f)
    }
}

/// An inverse on vectors.
pub(super) struct SpreadInvert<'a>(pub(super) &'a Memory);

impl SpreadTask for SpreadInvert<'_> {
    type Output = Memory;

    fn run<A: Spread>(self, f: A) -> Memory {
        Spread12::import(f, self.0).invert(f).export(f)
    }
}

/// A final exponentiation on vectors.
pub(super) struct SpreadExponentiation<'a>(pub(super) &'a Memory);

impl SpreadTask for SpreadExponentiation<'_> {
    type Output = Memory;

    fn run<A: Spread>(self, f: A) -> Memory {
        spread::final_exponentiation(f, &Spread12::import(f, self.0)).export(f)
    }
}

/// A product, a square, or a cyclotomic square on vectors.
pub(super) enum SpreadProduct<'a> {
    Mul(&'a Memory, &'a Memory),
    Square(&'a Memory),
    SquareCyclotomic(&'a Memory),
}

impl SpreadTask for SpreadProduct<'_> {
    type Output = Memory;

    fn run<A: Spread>(self, f: A) -> Memory {
        let element = |memory| Spread12::import(f, memory);
        match self {
            Self::Mul(a, b) => element(a).mul(f, &element(b)),
            Self::Square(a) => element(a).square(f),
            Self::SquareCyclotomic(a) => element(a).square_cyclotomic(f),
        }
        .export(f)
    }
}

/// A power of a member of GT on vectors.
pub(super) struct SpreadPow<'a>(pub(super) &'a Memory, pub(super) &'a [u128; 4]);

impl SpreadTask for SpreadPow<'_> {
    type Output = Memory;

    fn run<A: Spread>(self, f: A) -> Memory {
        spread::pow_in_group(f, &Spread12::import(f, self.0), self.1).export(f)
    }
}

/// The loops of pairs with prepared lines.
struct TogetherPrepared<'a> {
    p: &'a [G1Affine<Cycloid>],
    q: &'a [&'a Prepared],
}

impl WideTask<Bls12Base> for TogetherPrepared<'_> {
    type Output = Memory;

    fn run<A: Wide<Bls12Base>>(self, f: A) -> Memory {
        let p = |i: usize| import_one::<First, A>(f, self.p[i].raw());
        let last = self.p.len() - 1;
        let points: [_; PAIRS] = core::array::from_fn(|i| p(i.min(last)));
        let line = |pair: usize, place: usize| -> Line<A> {
            self.q[pair][place].map(|coefficient| Fp2::constant(f, &coefficient))
        };
        first(&bls12_381::miller_loop_prepared(f, &points[..=last], line))
    }
}

/// The same on vectors.
pub(super) struct SpreadPrepared<'a> {
    pub(super) p: &'a [G1Affine<Cycloid>],
    pub(super) q: &'a [&'a Prepared],
}

impl SpreadTask for SpreadPrepared<'_> {
    type Output = Memory;

    fn run<A: Spread>(self, f: A) -> Memory {
        let last = self.p.len() - 1;
        let points: [_; PAIRS] = core::array::from_fn(|i| self.p[i.min(last)].raw());
        let points = &points[..=last];
        let line = |pair: usize, place: usize| &self.q[pair][place];
        if points.len() <= PREPARED {
            spread::miller_loop_prepared::<_, PREPARED>(f, points, line).export(f)
        } else {
            spread::miller_loop_prepared_of_many::<_, { PAIRS / LANES }>(f, points, line).export(f)
        }
    }
}

/// Computes the lines of a finite point.
struct Prepare<'a>(&'a Memory2<Second>);

impl WideTask<Bls12Base> for Prepare<'_> {
    type Output = Prepared;

    fn run<A: Wide<Bls12Base>>(self, f: A) -> Prepared {
        let q = import_one::<Second, A>(f, self.0);
        let mut lines = [[[[0; 6]; 2]; 3]; LINES];
        bls12_381::prepare(&q, |place, line: &Line<A>| {
            for (to, coefficient) in lines[place].iter_mut().zip(line) {
                let mut memory = [[[0; 6]; 2]; MAX_WIDTH];
                coefficient.export(&mut memory[..A::WIDTH]);
                *to = memory[0];
            }
        });
        lines
    }
}

/// Returns the first lane.
fn first<A: Wide<Bls12Base>>(value: &Fp12<A>) -> Memory {
    let mut memory = [ZERO; MAX_WIDTH];
    value.export(&mut memory[..A::WIDTH]);
    memory[0]
}

/// Returns the product of the loops of up to [`PAIRS`] pairs, which share their squarings.
fn miller_loop_together(p: &[G1Affine<Cycloid>], q: &[G2Affine<Cycloid>]) -> Memory {
    match p.len() {
        ..=FEW => one(Together::<FEW> { p, q }),
        _ => one(Together::<PAIRS> { p, q }),
    }
}

/// Returns the product of the loops of up to [`PAIRS`] pairs, without vectors or each run
/// separately.
fn miller_loop_in_tower(p: &[G1Affine<Cycloid>], q: &[G2Affine<Cycloid>]) -> Memory {
    // Side by side, each pair has its own squarings; together they share them.
    let apart = lanes::Backend::best().map_or(usize::MAX, |backend| fewest(backend) + 1);
    if p.len() < apart {
        return miller_loop_together(p, q);
    }
    p.chunks(LANES).zip(q.chunks(LANES)).fold(Cycloid::fq12_one(), |product, (p, q)| {
        Cycloid::fq12_mul(&product, &miller_loops_apart(p, q))
    })
}

/// Returns the product of the loops of up to eight pairs, each run separately.
#[inline(never)]
fn miller_loops_apart(p: &[G1Affine<Cycloid>], q: &[G2Affine<Cycloid>]) -> Memory {
    let last = p.len() - 1;
    let inputs: [_; LANES] = core::array::from_fn(|lane| {
        let lane = lane.min(last);
        (*p[lane].raw(), *q[lane].raw())
    });
    let mut values = [ZERO; LANES];
    many::<MillerLoop>(&inputs[..p.len()], &mut values[..p.len()]);
    let (first, others) = (values[0], &values[1..p.len()]);
    others.iter().fold(first, |product, value| Cycloid::fq12_mul(&product, value))
}

impl Pairing for Cycloid {
    type Fq12 = Memory;
    type Prepared = Prepared;

    fn fq12_from_coefficients(coefficients: &[[u8; 48]; 12]) -> Memory {
        let mut integers = ZERO;
        for (integer, bytes) in integers.as_flattened_mut().iter_mut().zip(coefficients) {
            words::from_be_bytes(integer, bytes);
        }
        single::<Load>(&integers, ZERO)
    }

    fn fq12_coefficients(a: &Memory) -> [[u8; 48]; 12] {
        let integers = single::<Store>(a, ZERO);
        let mut coefficients = [[0; 48]; 12];
        for (bytes, integer) in coefficients.iter_mut().zip(integers.as_flattened()) {
            words::to_be_bytes(bytes, integer);
        }
        coefficients
    }

    fn fq12_zero() -> Memory {
        ZERO
    }

    fn fq12_one() -> Memory {
        let mut one = ZERO;
        one[0][0] = constants::ONE;
        one
    }

    fn fq12_equal(a: &Memory, b: &Memory) -> bool {
        let (a, b) = (a.as_flattened().as_flattened(), b.as_flattened().as_flattened());
        // The result of a comparison is public.
        Mask::is_zero(a.iter().zip(b).fold(0, |any, (a, b)| any | (a ^ b))).reveal()
    }

    fn fq12_add(a: &Memory, b: &Memory) -> Memory {
        let mut sum = *a;
        for (part, b) in sum.as_flattened_mut().iter_mut().zip(b.as_flattened()) {
            *part = Bls12Base::add_words(part, b);
        }
        sum
    }

    fn fq12_sub(a: &Memory, b: &Memory) -> Memory {
        let mut difference = *a;
        for (part, b) in difference.as_flattened_mut().iter_mut().zip(b.as_flattened()) {
            *part = Bls12Base::sub_words(part, b);
        }
        difference
    }

    fn fq12_mul(a: &Memory, b: &Memory) -> Memory {
        side_by_side(SpreadProduct::Mul(a, b)).unwrap_or_else(|| single::<Mul<'_>>(&[a, b], ZERO))
    }

    fn fq12_square(a: &Memory) -> Memory {
        side_by_side(SpreadProduct::Square(a)).unwrap_or_else(|| single::<Square>(a, ZERO))
    }

    fn fq12_invert(a: &Memory) -> Memory {
        side_by_side(SpreadInvert(a)).unwrap_or_else(|| single::<Invert>(a, ZERO))
    }

    fn fq12_conjugate(a: &Memory) -> Memory {
        let mut conjugate = *a;
        for part in conjugate[3..].as_flattened_mut() {
            *part = Bls12Base::sub_words(&[0; 6], part);
        }
        conjugate
    }

    fn fq12_select(mask: Mask, a: &Memory, b: &Memory) -> Memory {
        let mut selected = ZERO;
        let limbs = selected.as_flattened_mut().as_flattened_mut().iter_mut();
        let pairs = a.as_flattened().as_flattened().iter().zip(b.as_flattened().as_flattened());
        limbs.zip(pairs).for_each(|(limb, (a, b))| *limb = mask.select(*a, *b));
        selected
    }

    fn gt_contains(a: &Memory) -> bool {
        side_by_side(SpreadIsInGroup(a)).unwrap_or_else(|| single::<IsInGroup>(a, false))
    }

    fn gt_square(a: &Memory) -> Memory {
        if let Some(square) = side_by_side(SpreadProduct::SquareCyclotomic(a)) {
            return square;
        }
        let mut square = ZERO;
        if !Bls12Base::square_cyclotomic_words(a, &mut square) {
            square = single::<SquareCyclotomic>(a, ZERO);
        }
        square
    }

    fn gt_pow(a: &Memory, k: &Self::Fr) -> Memory {
        let mut integer = Self::fr_to_integer(k);
        let mut parts = bls12_381::split_second(&integer);
        ct::wipe(&mut integer);
        let power =
            side_by_side(SpreadPow(a, &parts)).unwrap_or_else(|| single::<Pow>(&(*a, parts), ZERO));
        bls12_381::wipe_parts(&mut parts);
        power
    }

    fn gt_pow_vartime(a: &Memory, k: &Self::Fr) -> Memory {
        Self::gt_pow(a, k)
    }

    fn gt_multi_pow<'a>(
        n: usize,
        a: impl Fn(usize) -> &'a Memory,
        k: impl Fn(usize) -> &'a Self::Fr,
    ) -> Memory {
        let mut product = Self::fq12_one();
        for start in (0..n).step_by(LANES) {
            let count = LANES.min(n - start);
            let (mut inputs, mut powers) = ([(ZERO, [0; 4]); LANES], [ZERO; LANES]);
            for (i, input) in inputs[..count].iter_mut().enumerate() {
                let mut integer = Self::fr_to_integer(k(start + i));
                *input = (*a(start + i), bls12_381::split_second(&integer));
                ct::wipe(&mut integer);
            }
            many::<Pow>(&inputs[..count], &mut powers[..count]);
            inputs.iter_mut().for_each(|(_, parts)| bls12_381::wipe_parts(parts));
            for power in &powers[..count] {
                product = Self::fq12_mul(&product, power);
            }
        }
        product
    }

    fn prepare(q: &[[Words; 2]; 2]) -> Prepared {
        one(Prepare(q))
    }

    fn miller_loop(p: &[G1Affine<Self>], q: &[G2Affine<Self>]) -> Memory {
        let mut product = Self::fq12_one();
        for (p, q) in p.chunks(PAIRS).zip(q.chunks(PAIRS)) {
            let factor = match p.len() {
                ..=SPREAD_PAIRS => side_by_side(SpreadMillerLoop::<SPREAD_PAIRS> { p, q }),
                _ => side_by_side(SpreadMillerLoops { p, q }),
            };
            let factor = factor.unwrap_or_else(|| miller_loop_in_tower(p, q));
            product = Self::fq12_mul(&product, &factor);
        }
        product
    }

    fn miller_loop_few(p: &[G1Affine<Self>], q: &[G2Affine<Self>]) -> Memory {
        side_by_side(SpreadMillerLoop::<FEW> { p, q })
            .unwrap_or_else(|| one(Together::<FEW> { p, q }))
    }

    fn miller_loop_prepared(p: &[G1Affine<Self>], q: &[&Prepared]) -> Memory {
        let mut product = Self::fq12_one();
        for (p, q) in p.chunks(PAIRS).zip(q.chunks(PAIRS)) {
            let factor = side_by_side(SpreadPrepared { p, q })
                .unwrap_or_else(|| one(TogetherPrepared { p, q }));
            product = Self::fq12_mul(&product, &factor);
        }
        product
    }

    fn final_exponentiation(a: &Memory) -> Memory {
        side_by_side(SpreadExponentiation(a))
            .unwrap_or_else(|| single::<FinalExponentiation>(a, ZERO))
    }
}
