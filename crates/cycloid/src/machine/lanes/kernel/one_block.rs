//! Numbers of one block: product and reduction in one pass that stores only the result.

use super::super::super::hint::hidden;
use super::super::Lanes;
use super::super::vector::Vectors;
use super::initial_columns::{SURPLUS, Starts};
use super::reduce::{add_low_limb, add_quotient_row, complete_surplus, finish, low_block};
use super::window::{ROWS, add_product, add_row, shift, unroll};

/// Computes product and reduction of numbers of T limbs, row by row: `by` limb i, then quotient
/// limb i.
#[inline(always)]
pub(super) fn mul_block<V: Vectors, const T: usize>(
    v: V,
    accumulator: &mut [Lanes],
    by: &[Lanes],
    room: &mut [Lanes],
    modulus: &[Lanes],
    k0: &Lanes,
) {
    let k0 = v.factor(v.load(k0));
    let (modulus, _) = low_block::<V, T>(v, modulus, room);
    // The accumulator is often the result of a preceding product, whose limbs are ready one after the
    // other: row by row. `by` is not converted.
    let (factors, rows) = if V::CONVERTS { (&*accumulator, by) } else { (by, &*accumulator) };
    let factors = factors.first_chunk::<T>().expect("T is n");
    let starts = Starts::<V, T>::OF_COLUMNS;
    let mut window = [v.splat(0); T];
    unroll!(j < T => window[j] = v.splat(starts[j]));
    complete_surplus(v, &mut window);
    let tops = starts[T..].as_chunks::<ROWS>().0;
    for (rows, tops) in rows.as_chunks::<ROWS>().0.iter().zip(tops) {
        unroll!(i < ROWS => {
            let row = v.factor(v.load(&rows[i]));
            let mut top = v.splat(tops[i]);
            add_product(v, &mut window, &mut top, 0, v.load_factor(&factors[0]), row);
            // Column 0 is complete: the quotient limb's latency overlaps with the rest of the row.
            let q = v.mul_next_low(window[0], k0);
            add_row::<V, T, 1>(v, &mut window, &mut top, factors, row);
            add_low_limb(v, &mut window, modulus, q);
            add_row::<V, T, 1>(v, &mut window, &mut top, modulus, q);
            shift(&mut window, top);
        });
    }
    finish(v, accumulator, &[], &window);
}

/// Computes square and reduction of numbers of T limbs, row by row: limb i times the limbs from i
/// on, those above it doubled, then quotient limb i.
///
/// Every row has code of its own, so this is for backends with few instructions per product, namely
/// those whose factors are limbs and whose columns start with zero.
#[inline(always)]
pub(super) fn square_block<V: Vectors, const T: usize>(
    v: V,
    accumulator: &mut [Lanes],
    columns: &mut [Lanes],
    modulus: &[Lanes],
    k0: &Lanes,
) {
    let k0 = v.factor(v.load(k0));
    let modulus = modulus.first_chunk::<T>().expect("T is n");
    let accumulator: &mut [Lanes; T] = accumulator.try_into().expect("T is n");
    // The limbs of twice the number, with and without the carry from below: for limb i times the
    // limbs above it, nothing is carried into limb i + 1. The number is below R / 2.
    let (twice, rest) = columns.split_first_chunk_mut::<T>().expect("room for two numbers");
    let twice_alone = rest.first_chunk_mut::<T>().expect("room for two numbers");
    let mut carry = v.splat(0);
    unroll!(j < T => {
        let limb = v.load(&accumulator[j]);
        let doubled = v.add(limb, limb);
        v.store_factor(&mut twice_alone[j], v.factor(doubled));
        v.store_factor(&mut twice[j], v.factor(v.add(doubled, carry)));
        carry = v.high(doubled);
    });
    let mut window = [v.splat(SURPLUS); T];
    complete_surplus(v, &mut window);
    let mut next = k0;
    unroll!(i < T => {
        let mut top = v.splat(0);
        // The product comes last, so that its time overlaps with the latency of the next quotient
        // limb; but limbs 0 and 1 contribute to the columns that these are made from.
        let add_products = |window: &mut _, top: &mut _, from, to| {
            add_square_row(v, window, top, i, from, to, accumulator, twice, twice_alone);
        };
        add_products(&mut window, &mut top, i, 2);
        if i == 0 {
            next = v.mul_next_low(window[0], k0);
        }
        next = add_quotient_row(v, &mut window, &mut top, modulus, next, k0);
        add_products(&mut window, &mut top, if i > 2 { i } else { 2 }, T);
        shift(&mut window, top);
    });
    finish(v, accumulator, &[], &window);
}

/// Adds limb i times itself and times the doubled limbs above it, the lowest of them without carry:
/// the products with the limbs `from..to`.
#[inline(always)]
#[allow(clippy::too_many_arguments, reason = "a part of a loop's body")]
fn add_square_row<V: Vectors, const T: usize>(
    v: V,
    window: &mut [V::Word; T],
    top: &mut V::Word,
    i: usize,
    from: usize,
    to: usize,
    limbs: &[Lanes; T],
    twice: &[Lanes; T],
    twice_alone: &[Lanes; T],
) {
    let row = v.load_factor(&limbs[i]);
    let twice = hidden(twice);
    unroll!(j < T => {
        if from <= j && j < to {
            let factor = match j - i {
                0 => row,
                1 => v.load_factor(&twice_alone[j]),
                _ => v.load_factor(&twice[j]),
            };
            add_product(v, window, top, j, factor, row);
        }
    });
}
