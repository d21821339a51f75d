//! Montgomery multiplication and squaring in eight lanes, written once for all backends.
//!
//! A product is a row of *columns*: column c collects the low halves of the limb products
//! a_i·b_j with i + j = c and the high halves of those with i + j = c − 1, in 64 bits, and no
//! carry is handled until the end. A kernel holds a *window* of T neighbouring columns in
//! registers. For each limb b_i it adds T limbs of a times b_i, after which the lowest column of
//! the window is complete; it goes to memory, the others move down by one, and the next column
//! comes in at the top. So a number is worked through in blocks of T limbs, and a column is read
//! and written once per block.
//!
//! **No column overflows.** A column of the product gets at most n low and n high halves, of the
//! reduction as many again, and one carry, below 2¹²: less than 4n·2⁵² + 2¹², which is below 2⁶⁴
//! for n < 1024. Backends whose halves come with an excess start every column at minus the sum of
//! what it will get, modulo 2⁶⁴, so that it is right when it is complete.

use core::cell::Cell;

use super::vector::Vectors;
use super::{LIMB_MASK, Lanes, MAX_BLOCK, montgomery_work};

/// Rows that a loop does in one turn: the window moves by renaming within them.
const ROWS: usize = 5;

/// The body for each constant `j` from 0 to below a constant of at most [`MAX_BLOCK`], one after
/// the other without a loop, so that arrays that are indexed with `j` become registers.
macro_rules! unroll {
    ($j:ident < $count:expr => $body:expr) => {
        unroll!($j, $count, $body, 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19)
    };
    ($j:ident, $count:expr, $body:expr, $($value:literal)*) => {
        $(if $value < $count {
            let $j: usize = $value;
            $body;
        })*
    };
}

/// `accumulator = accumulator · by / R mod modulus`; see `LaneWords`. T divides n.
#[inline(always)]
pub(super) fn montgomery_mul<V: Vectors, const T: usize>(
    v: V,
    accumulator: &mut [Lanes],
    by: &[Lanes],
    work: &mut [Lanes],
    modulus: &[Lanes],
    k0: &Lanes,
) {
    let n = modulus.len();
    assert!(accumulator.len() == n && by.len() == n && n.is_multiple_of(T) && n < 1024);
    let (columns, room) = work[..montgomery_work(n)].split_at_mut(2 * n);
    start_columns::<V, 1>(v, columns);
    into_factors(v, accumulator);
    for (block, factors) in accumulator.as_chunks::<T>().0.iter().enumerate() {
        let columns = &mut columns[block * T..][..n + T];
        let mut window = load_window(v, columns);
        slide(v, &mut window, columns, factors, by, |limb| {
            v.factor(v.load(limb))
        });
        store_window(v, &window, &mut columns[n..]);
    }
    reduce::<V, T>(v, columns, room, modulus, k0);
    carry(v, accumulator, &columns[n..]);
}

/// `accumulator = accumulator² / R mod modulus`; see `LaneWords`. T divides n.
///
/// Products of different limbs are added once and the columns doubled, then the squares of limbs
/// added: n² + n halves instead of 2n².
#[inline(always)]
pub(super) fn montgomery_square<V: Vectors, const T: usize>(
    v: V,
    accumulator: &mut [Lanes],
    work: &mut [Lanes],
    modulus: &[Lanes],
    k0: &Lanes,
) {
    let n = modulus.len();
    assert!(accumulator.len() == n && n.is_multiple_of(T) && n < 1024);
    let (columns, room) = work[..montgomery_work(n)].split_at_mut(2 * n);
    start_columns::<V, 2>(v, columns);
    into_factors(v, accumulator);
    for (block, factors) in accumulator.as_chunks::<T>().0.iter().enumerate() {
        let columns = &mut columns[2 * block * T..];
        let above = &accumulator[(block + 1) * T..];
        if !above.is_empty() {
            let columns = &mut columns[T..][..above.len() + T];
            let mut window = load_window(v, columns);
            slide(v, &mut window, columns, factors, above, |limb| {
                v.load_factor(limb)
            });
            store_window(v, &window, &mut columns[above.len()..]);
        }
        square_block(v, columns, factors);
    }
    reduce::<V, T>(v, columns, room, modulus, k0);
    carry(v, accumulator, &columns[n..]);
}

/// Gives every column its first value: zero, or what makes up for the excess that it will get,
/// divided by `DIVISOR` (2 where it will be doubled).
///
/// With L(c) = min(c + 1, 2n − 1 − c) products a_i·b_j that have i + j = c, multiplication adds
/// L(c) low and L(c − 1) high halves to column c; reduction, which adds no low half of a product
/// by limb 0 of the modulus, min(c, 2n − 1 − c) low and L(c − 1) = min(c, 2n − c) high ones. Both
/// are linear below n and from n on.
#[inline(always)]
fn start_columns<V: Vectors, const DIVISOR: u64>(v: V, columns: &mut [Lanes]) {
    let n = columns.len() as u64 / 2;
    let (low, high) = (V::EXCESS.0 / DIVISOR, V::EXCESS.1 / DIVISOR);
    // Minus the excess in columns 0 and n, and what is added from one column to the next.
    let first = v.splat(low.wrapping_neg());
    let middle_low = low.wrapping_mul(2 * n - 2);
    let middle = v.splat(
        middle_low
            .wrapping_add(high.wrapping_mul(2 * n))
            .wrapping_neg(),
    );
    let step = low.wrapping_add(high).wrapping_mul(2);
    let steps = [v.splat(step.wrapping_neg()), v.splat(step)];
    let halves = columns.split_at_mut(n as usize);
    for ((half, mut start), step) in [halves.0, halves.1]
        .into_iter()
        .zip([first, middle])
        .zip(steps)
    {
        for column in half {
            v.store(column, start);
            start = v.add(start, step);
        }
    }
}

/// Turns limbs into factors where they stand.
#[inline(always)]
fn into_factors<V: Vectors>(v: V, limbs: &mut [Lanes]) {
    if V::CONVERTS {
        for limb in limbs {
            v.store_factor(limb, v.factor(v.load(limb)));
        }
    }
}

#[inline(always)]
fn load_window<V: Vectors, const T: usize>(v: V, columns: &[Lanes]) -> [V::Word; T] {
    let columns = columns
        .first_chunk::<T>()
        .expect("a window is not longer than its columns");
    let mut window = [v.splat(0); T];
    unroll!(j < T => window[j] = v.load(&columns[j]));
    window
}

#[inline(always)]
fn store_window<V: Vectors, const T: usize>(v: V, window: &[V::Word; T], columns: &mut [Lanes]) {
    let columns: &mut [Lanes; T] = columns
        .try_into()
        .expect("as many columns as the window has");
    unroll!(j < T => v.store(&mut columns[j], window[j]));
}

/// Adds `factors` times each of `rows`, while the window moves up over `columns` by one a row.
///
/// The window holds the first T of `columns` when it begins and the last T when it ends; those it
/// has left are in memory then.
#[inline(always)]
fn slide<V: Vectors, const T: usize>(
    v: V,
    window: &mut [V::Word; T],
    columns: &mut [Lanes],
    factors: &[Lanes; T],
    rows: &[Lanes],
    factor: impl Fn(&Lanes) -> V::Factor + Copy,
) {
    debug_assert_eq!(columns.len(), rows.len() + T);
    let columns = Cell::from_mut(columns).as_slice_of_cells();
    let lowest = columns.as_chunks::<ROWS>().0;
    let next = columns[T..].as_chunks::<ROWS>().0;
    for ((lowest, next), rows) in lowest.iter().zip(next).zip(rows.as_chunks::<ROWS>().0) {
        unroll!(i < ROWS => {
            let mut top = v.load(&next[i].get());
            add_row::<V, T, 0>(v, window, &mut top, factors, factor(&rows[i]));
            lowest[i].set(lanes(v, window[0]));
            shift(window, top);
        });
    }
}

/// A vector as it stands in memory.
#[inline(always)]
fn lanes<V: Vectors>(v: V, word: V::Word) -> Lanes {
    let mut lanes = Lanes::ZERO;
    v.store(&mut lanes, word);
    lanes
}

/// Adds `factors` times `row`, from factor `FROM` on, to the T columns of the window and `top`.
#[inline(always)]
fn add_row<V: Vectors, const T: usize, const FROM: usize>(
    v: V,
    window: &mut [V::Word; T],
    top: &mut V::Word,
    factors: &[Lanes; T],
    row: V::Factor,
) {
    let factors = opaque(factors);
    unroll!(j < T => {
        if j >= FROM {
            let factor = v.load_factor(&factors[j]);
            let high = if j + 1 < T { window[j + 1] } else { *top };
            let (low, high) = v.mul_add(window[j], high, factor, row);
            window[j] = low;
            *(if j + 1 < T { &mut window[j + 1] } else { &mut *top }) = high;
        }
    });
}

/// The same reference, of which the compiler does not know that it is the same: it would load the
/// factors of a row once and for all, and then spill them, for there are no registers for them.
#[inline(always)]
#[allow(clippy::pointers_in_nomem_asm_block)] // nothing is read or written through it there
fn opaque<T>(reference: &T) -> &T {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    {
        let mut pointer = core::ptr::from_ref(reference);
        // SAFETY: no instruction is executed; the register keeps its value.
        unsafe {
            core::arch::asm!("/* {0} */", inout(reg) pointer, options(pure, nomem, nostack, preserves_flags));
            &*pointer
        }
    }
    #[cfg(any(not(target_arch = "x86_64"), miri))]
    reference
}

/// Moves the window up by one column.
#[inline(always)]
fn shift<W: Copy, const T: usize>(window: &mut [W; T], top: W) {
    unroll!(j < T => window[j] = if j + 1 < T { window[j + 1] } else { top });
}

/// Adds the products of different limbs among `factors` to the first 2T of `columns`, which
/// nothing but the squares of these limbs is missing from then; doubles them and adds the squares.
#[inline(always)]
fn square_block<V: Vectors, const T: usize>(v: V, columns: &mut [Lanes], factors: &[Lanes; T]) {
    let columns = &mut columns[..2 * T];
    // Row i of the triangle adds to the columns 2i + 1 to i + T, and completes 2i + 1.
    let mut words: [V::Word; 2 * MAX_BLOCK] = [v.splat(0); 2 * MAX_BLOCK];
    unroll!(j < T => words[j] = v.load(&columns[j]));
    unroll!(i < T => {
        words[i + T] = v.load(&columns[i + T]);
        let row = v.load_factor(&factors[i]);
        unroll!(j < T => {
            if j > i {
                let factor = v.load_factor(&factors[j]);
                (words[i + j], words[i + j + 1]) =
                    v.mul_add(words[i + j], words[i + j + 1], factor, row);
            }
        });
        let [low, high] = [words[2 * i], words[2 * i + 1]];
        let (low, high) = v.mul_add(v.add(low, low), v.add(high, high), row, row);
        v.store(&mut columns[2 * i], low);
        v.store(&mut columns[2 * i + 1], high);
    });
}

/// `columns[n..] = columns / R mod modulus`, almost reduced, in columns that are not carried.
///
/// Block by block, T quotient limbs q_i ≡ −column_i / modulus mod 2⁵² one at a time, each with
/// the low T limbs of the modulus, then the other limbs of the modulus with all T of them.
#[inline(always)]
fn reduce<V: Vectors, const T: usize>(
    v: V,
    columns: &mut [Lanes],
    room: &mut [Lanes],
    modulus: &[Lanes],
    k0: &Lanes,
) {
    let n = modulus.len();
    let k0 = v.factor(v.load(k0));
    let (low_modulus, rest) = modulus.split_first_chunk::<T>().expect("T divides n");
    let low_modulus = if V::CONVERTS {
        let room = room.first_chunk_mut::<T>().expect("room for a block");
        *room = *low_modulus;
        into_factors(v, room);
        &*room
    } else {
        low_modulus
    };
    let first_modulus = [
        v.load_factor(&low_modulus[0]),
        v.load_factor(&low_modulus[1]),
    ];
    let round_up = v.splat(LIMB_MASK);
    for block in 0..n / T {
        let (quotient, columns) = columns[block * T..][..n + T].split_at_mut(T);
        let quotient: &mut [Lanes; T] = quotient.try_into().expect("a block of the columns");
        let mut window: [V::Word; T] = load_window(v, quotient);
        let mut next = v.mul_low(v.factor(window[0]), k0);
        for (quotient, columns) in quotient
            .as_chunks_mut::<ROWS>()
            .0
            .iter_mut()
            .zip(columns.as_chunks::<ROWS>().0)
        {
            unroll!(i < ROWS => {
              let q = next;
              let mut top = v.load(&columns[i]);
              // With the low half of q·modulus_0 the column would be the next multiple of 2⁵².
              let carry = v.high(v.add(window[0], round_up));
              window[1] = v.mul_add_high(v.add(window[1], carry), q, first_modulus[0]);
              (window[1], window[2]) = v.mul_add(window[1], window[2], q, first_modulus[1]);
              // Column 1 is complete: the next quotient limb has the rest of this row to arrive.
              next = v.mul_low(v.factor(window[1]), k0);
              add_row::<V, T, 2>(v, &mut window, &mut top, low_modulus, q);
              v.store_factor(&mut quotient[i], q);
              shift(&mut window, top);
            });
        }
        slide(v, &mut window, columns, quotient, rest, |limb| {
            v.factor(v.load(limb))
        });
        store_window(v, &window, &mut columns[n - T..]);
    }
}

/// `result` = `columns` with the carries done. What the columns stand for is below R.
#[inline(always)]
fn carry<V: Vectors>(v: V, result: &mut [Lanes], columns: &[Lanes]) {
    let mut carry = v.splat(0);
    for (limb, column) in result.iter_mut().zip(columns) {
        let column = v.add(v.load(column), carry);
        v.store(limb, v.low(column));
        carry = v.high(column);
    }
}

/// `out = table[index]` in each lane; see `LaneWords`.
#[inline(always)]
pub(super) fn lookup<V: Vectors>(v: V, out: &mut [Lanes], table: &[Lanes], index: &Lanes) {
    let n = out.len();
    assert!(n != 0 && table.len().is_multiple_of(n));
    let (blocks, rest) = out.as_chunks_mut::<MAX_BLOCK>();
    let (small_blocks, rest) = rest.as_chunks_mut::<5>();
    let mut from = 0;
    for block in blocks {
        lookup_block(v, block, table, n, from, index);
        from += MAX_BLOCK;
    }
    for block in small_blocks {
        lookup_block(v, block, table, n, from, index);
        from += 5;
    }
    for limb in rest.as_chunks_mut::<1>().0 {
        lookup_block(v, limb, table, n, from, index);
        from += 1;
    }
}

/// The limbs `from..from + T` of the entry.
#[inline(always)]
fn lookup_block<V: Vectors, const T: usize>(
    v: V,
    out: &mut [Lanes; T],
    table: &[Lanes],
    n: usize,
    from: usize,
    index: &Lanes,
) {
    let index = v.load(index);
    let one = v.splat(1);
    let mut number = v.splat(0);
    let mut found = [v.splat(0); T];
    for entry in table.chunks_exact(n) {
        let mask = v.equal(number, index);
        let entry = entry[from..]
            .first_chunk::<T>()
            .expect("an entry is as long as `out`");
        unroll!(j < T => found[j] = v.or_masked(found[j], v.load(&entry[j]), mask));
        number = v.add(number, one);
    }
    store_window(v, &found, out);
}

/// Implements `LaneWords` for a token by instantiating the kernels for its instructions.
macro_rules! lane_words {
    ($token:ident, $name:literal $(, $features:literal)?) => {
        // SAFETY of every call below: the token proves the instructions that the function is
        // compiled for.
        #[allow(unused_unsafe, reason = "a function without special instructions is safe")]
        impl LaneWords for $token {
            const NAME: &'static str = $name;

            fn montgomery_mul(
                self,
                accumulator: &mut [Lanes],
                by: &[Lanes],
                work: &mut [Lanes],
                modulus: &[Lanes],
                k0: &Lanes,
            ) {
                $(#[target_feature(enable = $features)])?
                fn block<const T: usize>(
                    token: $token,
                    accumulator: &mut [Lanes],
                    by: &[Lanes],
                    work: &mut [Lanes],
                    modulus: &[Lanes],
                    k0: &Lanes,
                ) {
                    kernel::montgomery_mul::<_, T>(token, accumulator, by, work, modulus, k0);
                }
                // SAFETY: see above.
                kernel::by_block!(modulus.len(), T => unsafe {
                    block::<T>(self, accumulator, by, work, modulus, k0)
                })
            }

            fn montgomery_square(
                self,
                accumulator: &mut [Lanes],
                work: &mut [Lanes],
                modulus: &[Lanes],
                k0: &Lanes,
            ) {
                $(#[target_feature(enable = $features)])?
                fn block<const T: usize>(
                    token: $token,
                    accumulator: &mut [Lanes],
                    work: &mut [Lanes],
                    modulus: &[Lanes],
                    k0: &Lanes,
                ) {
                    kernel::montgomery_square::<_, T>(token, accumulator, work, modulus, k0);
                }
                // SAFETY: see above.
                kernel::by_block!(modulus.len(), T => unsafe {
                    block::<T>(self, accumulator, work, modulus, k0)
                })
            }

            fn lookup(self, out: &mut [Lanes], table: &[Lanes], index: &Lanes) {
                $(#[target_feature(enable = $features)])?
                fn lookup(token: $token, out: &mut [Lanes], table: &[Lanes], index: &Lanes) {
                    kernel::lookup(token, out, table, index);
                }
                // SAFETY: see above.
                unsafe { lookup(self, out, table, index) }
            }
        }
    };
}
pub(super) use lane_words;

/// Evaluates the expression with the constant T as the size of block for numbers of n limbs.
macro_rules! by_block {
    ($n:expr, $T:ident => $body:expr) => {{
        let n: usize = $n;
        if n.is_multiple_of(20) {
            const $T: usize = 20;
            $body
        } else if n.is_multiple_of(15) {
            const $T: usize = 15;
            $body
        } else if n.is_multiple_of(10) {
            const $T: usize = 10;
            $body
        } else {
            const $T: usize = 5;
            $body
        }
    }};
}
pub(super) use by_block;
