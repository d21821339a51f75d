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

use super::super::words::Limb;
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
            #[allow(unused_assignments, reason = "what one turn leaves to the next, the last leaves")]
            {
                $body;
            }
        })*
    };
}

/// `accumulator = accumulator · by / R mod modulus`; see `LaneWords`. T divides n.
///
/// `ONE_BLOCK` says that T is n: then nothing but the result leaves the registers.
#[inline(always)]
pub(super) fn montgomery_mul<V: Vectors, const T: usize, const ONE_BLOCK: bool>(
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
    into_factors(v, accumulator);
    if ONE_BLOCK {
        return mul_block::<V, T>(v, accumulator, by, room, modulus, k0);
    }
    start_columns::<V, 1>(v, columns);
    for (block, factors) in accumulator.as_chunks::<T>().0.iter().enumerate() {
        let columns = &mut columns[block * T..][..n + T];
        let mut window = load_window(v, columns);
        slide(v, &mut window, columns, factors, by, |limb| v.factor(v.load(limb)));
        store_window(v, &window, &mut columns[n..]);
    }
    reduce::<V, T, ONE_BLOCK>(v, accumulator, columns, room, modulus, k0);
}

/// `accumulator = accumulator² / R mod modulus`; see `LaneWords`. T divides n.
///
/// Products of different limbs are added once and the columns doubled, then the squares of limbs
/// added: n² + n halves instead of 2n².
#[inline(always)]
pub(super) fn montgomery_square<V: Vectors, const T: usize, const ONE_BLOCK: bool>(
    v: V,
    accumulator: &mut [Lanes],
    work: &mut [Lanes],
    modulus: &[Lanes],
    k0: &Lanes,
) {
    let n = modulus.len();
    assert!(accumulator.len() == n && n.is_multiple_of(T) && n < 1024);
    let (columns, room) = work[..montgomery_work(n)].split_at_mut(2 * n);
    if ONE_BLOCK && !V::CONVERTS {
        return square_block::<V, T>(v, accumulator, columns, modulus, k0);
    }
    start_columns::<V, 2>(v, columns);
    into_factors(v, accumulator);
    for (block, factors) in accumulator.as_chunks::<T>().0.iter().enumerate() {
        let columns = &mut columns[2 * block * T..];
        let above = &accumulator[(block + 1) * T..];
        if !above.is_empty() {
            let columns = &mut columns[T..][..above.len() + T];
            let mut window = load_window(v, columns);
            slide(v, &mut window, columns, factors, above, |limb| v.load_factor(limb));
            store_window(v, &window, &mut columns[above.len()..]);
        }
        square_triangle(v, columns, factors);
    }
    reduce::<V, T, ONE_BLOCK>(v, accumulator, columns, room, modulus, k0);
}

/// Gives every column its first value: minus the excess that it will get, divided by `DIVISOR` (2
/// where it will be doubled).
#[inline(always)]
fn start_columns<V: Vectors, const DIVISOR: Limb>(v: V, columns: &mut [Lanes]) {
    let n = columns.len() as Limb / 2;
    let halves = (V::EXCESS.0 / DIVISOR, V::EXCESS.1 / DIVISOR);
    let start = |c| v.splat(excess(halves, n, c).wrapping_neg());
    // Linear below n and from n on.
    let step = v.splat(excess(halves, n, 1).wrapping_sub(excess(halves, n, 0)));
    let (low, high) = columns.split_at_mut(n as usize);
    let [mut below, mut above] = [start(0), start(n)];
    for column in low {
        v.store(column, below);
        below = v.sub(below, step);
    }
    for column in high {
        v.store(column, above);
        above = v.add(above, step);
    }
}

/// What column `c` gets beyond its value, when a low half brings an excess of `low` and a high
/// half of `high`.
///
/// Multiplication adds the low halves of L(c) = min(c + 1, 2n − 1 − c) products, those a_i·b_j
/// with i + j = c, and the high halves of L(c − 1). Reduction does the same but for products by
/// limb 0 of the modulus, whose low half it does not add: min(c, 2n − 1 − c) low halves.
const fn excess((low, high): (Limb, Limb), n: Limb, c: Limb) -> Limb {
    let (lows, highs) =
        if c < n { (2 * c + 1, 2 * c) } else { (2 * (2 * n - 1 - c), 2 * (2 * n - c)) };
    low.wrapping_mul(lows).wrapping_add(high.wrapping_mul(highs))
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
    let columns = columns.first_chunk::<T>().expect("a window is not longer than its columns");
    let mut window = [v.splat(0); T];
    unroll!(j < T => window[j] = v.load(&columns[j]));
    window
}

#[inline(always)]
fn store_window<V: Vectors, const T: usize>(v: V, window: &[V::Word; T], columns: &mut [Lanes]) {
    let columns: &mut [Lanes; T] = columns.try_into().expect("as many columns as the window has");
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
            add_product(v, window, top, j, v.load_factor(&factors[j]), row);
        }
    });
}

/// The same reference, of which the compiler does not know that it is the same: it would load the
/// factors of a row once and for all, and then spill them, for there are no registers for them.
#[inline(always)]
fn opaque<T>(reference: &T) -> &T {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    {
        let mut pointer = core::ptr::from_ref(reference);
        // SAFETY: no instruction is executed; the register keeps its value.
        unsafe {
            core::arch::asm!("/* {0} */", inout(reg) pointer, options(pure, readonly, nostack, preserves_flags));
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
fn square_triangle<V: Vectors, const T: usize>(v: V, columns: &mut [Lanes], factors: &[Lanes; T]) {
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

/// `result = columns / R mod modulus`, almost reduced.
///
/// Block by block, T quotient limbs q_i ≡ −column_i / modulus mod 2⁵² one at a time, each with
/// the low T limbs of the modulus, then the other limbs of the modulus with all T of them.
#[inline(always)]
fn reduce<V: Vectors, const T: usize, const ONE_BLOCK: bool>(
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
    let mut block = 0;
    loop {
        let (quotient, columns) = columns[block * T..][..n + T].split_at_mut(T);
        let quotient: &mut [Lanes; T] = quotient.try_into().expect("a block of the columns");
        let mut next = v.mul_low(v.factor(window[0]), k0);
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

/// Adds the low block of the modulus times q; returns the next quotient limb.
#[inline(always)]
fn add_quotient_row<V: Vectors, const T: usize>(
    v: V,
    window: &mut [V::Word; T],
    top: &mut V::Word,
    low_modulus: &[Lanes; T],
    q: V::Factor,
    k0: V::Factor,
) -> V::Factor {
    add_low_limb(v, window, low_modulus, q);
    add_product(v, window, top, 1, v.load_factor(&low_modulus[1]), q);
    // Column 1 is complete: the next quotient limb has the rest of this row to arrive.
    let next = v.mul_low(v.factor(window[1]), k0);
    add_row::<V, T, 2>(v, window, top, low_modulus, q);
    next
}

/// The low T limbs of the modulus as factors, and the others as limbs.
#[inline(always)]
fn low_block<'a, V: Vectors, const T: usize>(
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

/// Adds limb 0 of the modulus times q to the lowest column, and what that gives to the next.
#[inline(always)]
fn add_low_limb<V: Vectors, const T: usize>(
    v: V,
    window: &mut [V::Word; T],
    low_modulus: &[Lanes; T],
    q: V::Factor,
) {
    // With the low half of the product the column would be the next multiple of 2⁵².
    let carry = v.high(v.add(window[0], v.splat(LIMB_MASK)));
    let factor = v.load_factor(&low_modulus[0]);
    window[1] = v.mul_add_high(v.add(window[1], carry), factor, q);
}

/// Product and reduction of numbers of T limbs, row by row: `by` limb i, then quotient limb i.
#[inline(always)]
fn mul_block<V: Vectors, const T: usize>(
    v: V,
    accumulator: &mut [Lanes],
    by: &[Lanes],
    room: &mut [Lanes],
    modulus: &[Lanes],
    k0: &Lanes,
) {
    let k0 = v.factor(v.load(k0));
    let (modulus, _) = low_block::<V, T>(v, modulus, room);
    let factors = accumulator.first_chunk::<T>().expect("T is n");
    let starts = Starts::<V, T>::OF_COLUMNS;
    let mut window = [v.splat(0); T];
    unroll!(j < T => window[j] = v.splat(starts[j]));
    let tops = starts[T..].as_chunks::<ROWS>().0;
    for (rows, tops) in by.as_chunks::<ROWS>().0.iter().zip(tops) {
        unroll!(i < ROWS => {
            let row = v.factor(v.load(&rows[i]));
            let mut top = v.splat(tops[i]);
            add_product(v, &mut window, &mut top, 0, v.load_factor(&factors[0]), row);
            // Column 0 is complete: the quotient limb has the rest of the row to arrive.
            let q = v.mul_low(v.factor(window[0]), k0);
            add_row::<V, T, 1>(v, &mut window, &mut top, factors, row);
            add_low_limb(v, &mut window, modulus, q);
            add_row::<V, T, 1>(v, &mut window, &mut top, modulus, q);
            shift(&mut window, top);
        });
    }
    finish(v, accumulator, &[], &window);
}

/// Square and reduction of numbers of T limbs, row by row: limb i times the limbs from i on, those
/// above it doubled, then quotient limb i.
///
/// Every row has code of its own, so this is for backends with few instructions a product, which
/// are those whose factors are limbs and whose columns start with zero.
#[inline(always)]
fn square_block<V: Vectors, const T: usize>(
    v: V,
    accumulator: &mut [Lanes],
    columns: &mut [Lanes],
    modulus: &[Lanes],
    k0: &Lanes,
) {
    let k0 = v.factor(v.load(k0));
    let modulus = modulus.first_chunk::<T>().expect("T is n");
    let accumulator: &mut [Lanes; T] = accumulator.try_into().expect("T is n");
    // Of twice the number, limbs with what is carried in from below, and without: for limb i times
    // the limbs above it, nothing is carried into limb i + 1. The number is below R / 2.
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
    let mut window = [v.splat(0); T];
    let mut next = k0;
    unroll!(i < T => {
        let mut top = v.splat(0);
        // The product comes last, so that the next quotient limb has time to arrive; but rows 0
        // and 1 add to the column that it is made from.
        if i < 2 {
            add_square_row(v, &mut window, &mut top, i, accumulator, twice, twice_alone);
        }
        if i == 0 {
            next = v.mul_low(v.factor(window[0]), k0);
        }
        next = add_quotient_row(v, &mut window, &mut top, modulus, next, k0);
        if i >= 2 {
            add_square_row(v, &mut window, &mut top, i, accumulator, twice, twice_alone);
        }
        shift(&mut window, top);
    });
    finish(v, accumulator, &[], &window);
}

/// Adds limb i times itself and the doubled limbs above it, the lowest of them without carry.
#[inline(always)]
fn add_square_row<V: Vectors, const T: usize>(
    v: V,
    window: &mut [V::Word; T],
    top: &mut V::Word,
    i: usize,
    limbs: &[Lanes; T],
    twice: &[Lanes; T],
    twice_alone: &[Lanes; T],
) {
    let row = v.load_factor(&limbs[i]);
    let twice = opaque(twice);
    unroll!(j < T => {
        if j >= i {
            let factor = match j - i {
                0 => row,
                1 => v.load_factor(&twice_alone[j]),
                _ => v.load_factor(&twice[j]),
            };
            add_product(v, window, top, j, factor, row);
        }
    });
}

/// Adds a product to column j of the window and to the one above it.
#[inline(always)]
fn add_product<V: Vectors, const T: usize>(
    v: V,
    window: &mut [V::Word; T],
    top: &mut V::Word,
    j: usize,
    a: V::Factor,
    b: V::Factor,
) {
    if j + 1 < T {
        (window[j], window[j + 1]) = v.mul_add(window[j], window[j + 1], a, b);
    } else {
        (window[j], *top) = v.mul_add(window[j], *top, a, b);
    }
}

/// What the columns of a product start with when T is n; see `start_columns`.
struct Starts<V, const T: usize>(V);

impl<V: Vectors, const T: usize> Starts<V, T> {
    const OF_COLUMNS: &[Limb; 2 * MAX_BLOCK] = &{
        let mut starts = [0; 2 * MAX_BLOCK];
        let mut c = 0;
        while c < 2 * T {
            starts[c] = excess(V::EXCESS, T as Limb, c as Limb).wrapping_neg();
            c += 1;
        }
        starts
    };
}

/// `result` = `columns` and then `window`, with the carries done. What they stand for is below R.
#[inline(always)]
fn finish<V: Vectors, const T: usize>(
    v: V,
    result: &mut [Lanes],
    columns: &[Lanes],
    window: &[V::Word; T],
) {
    let mut carry = v.splat(0);
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
        let entry = entry[from..].first_chunk::<T>().expect("an entry is as long as `out`");
        unroll!(j < T => found[j] = v.or_masked(found[j], v.load(&entry[j]), mask));
        number = v.add(number, one);
    }
    store_window(v, &found, out);
}

/// Implements `LaneWords` for a token by instantiating the kernels for its instructions, with
/// blocks as `by_block` or `by_small_block` choose them.
macro_rules! lane_words {
    ($token:ident, $name:literal, $by_block:ident $(, $features:literal)?) => {
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
                fn block<const T: usize, const ONE_BLOCK: bool>(
                    token: $token,
                    accumulator: &mut [Lanes],
                    by: &[Lanes],
                    work: &mut [Lanes],
                    modulus: &[Lanes],
                    k0: &Lanes,
                ) {
                    kernel::montgomery_mul::<_, T, ONE_BLOCK>(
                        token, accumulator, by, work, modulus, k0);
                }
                // SAFETY: see above.
                kernel::$by_block!(modulus.len(), T, ONE_BLOCK => unsafe {
                    block::<T, ONE_BLOCK>(self, accumulator, by, work, modulus, k0)
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
                fn block<const T: usize, const ONE_BLOCK: bool>(
                    token: $token,
                    accumulator: &mut [Lanes],
                    work: &mut [Lanes],
                    modulus: &[Lanes],
                    k0: &Lanes,
                ) {
                    kernel::montgomery_square::<_, T, ONE_BLOCK>(
                        token, accumulator, work, modulus, k0);
                }
                // SAFETY: see above.
                kernel::$by_block!(modulus.len(), T, ONE_BLOCK => unsafe {
                    block::<T, ONE_BLOCK>(self, accumulator, work, modulus, k0)
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

/// Evaluates the expression with the constants T, the size of block for numbers of n limbs, and
/// whether that is n.
macro_rules! by_block {
    ($n:expr, $T:ident, $ONE_BLOCK:ident => $body:expr) => {
        kernel::by_block!(@ $n, $T, $ONE_BLOCK, $body,
            (20 => 20, true) (15 => 15, true) (10 => 10, true) (5 => 5, true)
            (n if n.is_multiple_of(20) => 20, false)
            (n if n.is_multiple_of(15) => 15, false)
            (_ => 5, false))
    };
    (@ $n:expr, $T:ident, $ONE_BLOCK:ident, $body:expr,
        $(($pattern:pat $(if $guard:expr)? => $block:literal, $one:literal))*
    ) => {
        match $n {
            $($pattern $(if $guard)? => {
                const $T: usize = $block;
                const $ONE_BLOCK: bool = $one;
                $body
            })*
        }
    };
}
pub(super) use by_block;

/// As `by_block`, but with the smallest block for all: little code, which is as fast where the
/// window does not stand in registers.
macro_rules! by_small_block {
    ($n:expr, $T:ident, $ONE_BLOCK:ident => $body:expr) => {
        kernel::by_block!(@ $n, $T, $ONE_BLOCK, $body, (5 => 5, true) (_ => 5, false))
    };
}
pub(super) use by_small_block;
