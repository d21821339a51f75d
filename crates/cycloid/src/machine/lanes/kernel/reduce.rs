//! Montgomery reduction of columns.

use super::super::Lanes;
use super::super::vector::Vectors;
use super::into_factors;
use super::window::{ROWS, add_product, add_row, load_window, shift, slide, store_window, unroll};

/// Computes `result = columns / R mod modulus`, almost reduced.
///
/// Works block by block: T quotient limbs q_i ≡ −column_i / modulus mod 2⁵² one at a time, each
/// multiplied with the low T limbs of the modulus; then all T of them with the other limbs of the
/// modulus.
#[inline(always)]
pub(super) fn reduce<V: Vectors, const T: usize, const ONE_BLOCK: bool>(
    v: V,
    result: &mut [Lanes],
    columns: &mut [Lanes],
    room: &mut [Lanes],
    modulus: &[Lanes],
    k0: &Lanes,
) {
    let n = modulus.len();
    let k0 = v.factor(v.load(k0));
    let (low_modulus, rest) = low_block::<V, T>(v, modulus, room);
    let mut window: [V::Word; T] = load_window(v, columns);
    complete_surplus(v, &mut window);
    let mut block = 0;
    loop {
        let (quotient, columns) = columns[block * T..][..n + T].split_at_mut(T);
        let quotient: &mut [Lanes; T] = quotient.try_into().expect("a block of the columns");
        let mut next = v.mul_next_low(window[0], k0);
        let next_columns = columns.as_chunks::<ROWS>().0;
        for (quotient, columns) in quotient.as_chunks_mut::<ROWS>().0.iter_mut().zip(next_columns) {
            unroll!(i < ROWS => {
                let q = next;
                let mut top = v.load(&columns[i]);
                next = add_quotient_row(v, &mut window, &mut top, low_modulus, q, k0);
                if !ONE_BLOCK {
                    v.store_factor(&mut quotient[i], q);
                }
                shift(&mut window, top);
            });
        }
        if !ONE_BLOCK {
            slide(v, &mut window, columns, quotient, rest, |limb| v.factor(v.load(limb)));
        }
        block += 1;
        if ONE_BLOCK || block == n / T {
            break;
        }
        store_window(v, &window, &mut columns[n - T..]);
        window = load_window(v, columns);
    }
    finish(v, result, &columns[n..2 * n - T], &window);
}

/// Completes the surplus of column 0, which has no carry from below.
#[inline(always)]
pub(super) fn complete_surplus<V: Vectors, const T: usize>(v: V, window: &mut [V::Word; T]) {
    window[0] = v.add(window[0], v.splat(1));
}

/// Returns the low T limbs of the modulus as factors, and the others as limbs.
#[inline(always)]
pub(super) fn low_block<'a, V: Vectors, const T: usize>(
    v: V,
    modulus: &'a [Lanes],
    room: &'a mut [Lanes],
) -> (&'a [Lanes; T], &'a [Lanes]) {
    let (low, rest) = modulus.split_first_chunk::<T>().expect("T divides n");
    if !V::CONVERTS {
        return (low, rest);
    }
    let room = room.first_chunk_mut::<T>().expect("room for a block");
    *room = *low;
    into_factors(v, room);
    (room, rest)
}

/// Adds the low block of the modulus times q; returns the next quotient limb.
#[inline(always)]
pub(super) fn add_quotient_row<V: Vectors, const T: usize>(
    v: V,
    window: &mut [V::Word; T],
    top: &mut V::Word,
    low_modulus: &[Lanes; T],
    q: V::Factor,
    k0: V::Factor,
) -> V::Factor {
    // The carry of column 0 is added last: its latency is that of the low half for column 1.
    let carry = carry_of_low_limb(v, window, low_modulus, q);
    add_product(v, window, top, 1, v.load_factor(&low_modulus[1]), q);
    window[1] = v.add(window[1], carry);
    // Column 1 is complete: the next quotient limb's latency overlaps with the rest of this row.
    let next = v.mul_next_low(window[1], k0);
    add_row::<V, T, 2>(v, window, top, low_modulus, q);
    next
}

/// Adds limb 0 of the modulus times q to the lowest column, and its carry to the next.
#[inline(always)]
pub(super) fn add_low_limb<V: Vectors, const T: usize>(
    v: V,
    window: &mut [V::Word; T],
    low_modulus: &[Lanes; T],
    q: V::Factor,
) {
    window[1] = v.add(window[1], carry_of_low_limb(v, window, low_modulus, q));
}

/// Returns what limb 0 of the modulus times q and the lowest column add to the next column.
#[inline(always)]
fn carry_of_low_limb<V: Vectors, const T: usize>(
    v: V,
    window: &[V::Word; T],
    low_modulus: &[Lanes; T],
    q: V::Factor,
) -> V::Word {
    // The low half of the product is not added: the surplus rounds the column up.
    v.mul_add_high(v.high(window[0]), v.load_factor(&low_modulus[0]), q)
}

/// Writes `columns` and then `window` to `result`, propagating carries. Their value is below R, apart
/// from the surplus of the last carry of the reduction.
#[inline(always)]
pub(super) fn finish<V: Vectors, const T: usize>(
    v: V,
    result: &mut [Lanes],
    columns: &[Lanes],
    window: &[V::Word; T],
) {
    let mut carry = v.splat(1_u64.wrapping_neg());
    let (low, high) = result.split_at_mut(columns.len());
    for (limb, column) in low.iter_mut().zip(columns) {
        let column = v.add(v.load(column), carry);
        v.store(limb, v.low(column));
        carry = v.high(column);
    }
    let high: &mut [Lanes; T] = high.try_into().expect("as many limbs as columns");
    unroll!(j < T => {
        let column = v.add(window[j], carry);
        v.store(&mut high[j], v.low(column));
        carry = v.high(column);
    });
}
