//! Montgomery multiplication and squaring in eight lanes, written once for all backends.
//!
//! A product is a row of *columns*: column c collects the low halves of the limb products a_i·b_j
//! with i + j = c and the high halves of those with i + j = c − 1, in 64 bits; carries are handled
//! at the end. A kernel holds a *window* of T neighbouring columns in registers. For each limb b_i
//! it adds T limbs of a times b_i, after which the lowest column of the window is complete: it goes
//! to memory, the others move down by one, and the next column enters at the top. A number is
//! processed in blocks of T limbs, and a column is read and written once per block.
//!
//! **No column overflows.** A column receives at most n low and n high halves of the product, as
//! many of the reduction, one carry below 2¹² and a surplus below 2⁵³ (see `initial_columns`): less
//! than 4n·2⁵² + 2⁵³ + 2¹², which is below 2⁶⁴ for n < 1024. If a backend's halves carry an excess,
//! every column starts at minus the sum of the excess it will receive, modulo 2⁶⁴, so that its final
//! value is correct.
//!
//! **The compiler must not spill the window**, which takes T ≤ 20 of 32 registers. Therefore each
//! product of a row is a block of assembly in the backends, which is not moved, and the factors are
//! reloaded in each row.

mod initial_columns;
mod lookup;
mod one_block;
mod reduce;
mod window;

use super::vector::Vectors;
use super::{Lanes, MAX_BLOCK, montgomery_work_lanes};
use initial_columns::start_columns;
pub(super) use lookup::lookup;
use one_block::{mul_block, square_block};
use reduce::reduce;
use window::{load_window, slide, store_window, unroll};

/// Computes `accumulator = accumulator · by / R mod modulus`; see `LaneWords`. T divides n.
///
/// `ONE_BLOCK` means that T is n: then only the result leaves the registers.
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
    let (columns, room) = work[..montgomery_work_lanes(n)].split_at_mut(2 * n);
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

/// Computes `accumulator = accumulator² / R mod modulus`; see `LaneWords`. T divides n.
///
/// Products of different limbs are added once and the columns doubled; then the squares of limbs
/// are added: n² + n halves instead of 2n². Except for that, a block's columns are complete after
/// it has been multiplied with the blocks above it and with itself.
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
    let (columns, room) = work[..montgomery_work_lanes(n)].split_at_mut(2 * n);
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

/// Adds the products of different limbs among `factors` to the first 2T of `columns`, which then
/// lack only the squares of these limbs; doubles them and adds the squares.
#[inline(always)]
fn square_triangle<V: Vectors, const T: usize>(v: V, columns: &mut [Lanes], factors: &[Lanes; T]) {
    let columns = &mut columns[..2 * T];
    // Row i of the triangle contributes to the columns 2i + 1 to i + T, and completes 2i + 1.
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

/// Converts limbs to factors in place.
#[inline(always)]
fn into_factors<V: Vectors>(v: V, limbs: &mut [Lanes]) {
    if V::CONVERTS {
        for limb in limbs {
            v.store_factor(limb, v.factor(v.load(limb)));
        }
    }
}

/// Implements `LaneWords` for a token by instantiating the kernels for its instructions, with
/// blocks chosen by `by_block` or `by_small_block`; `$multiplication` is how it multiplies.
macro_rules! lane_words {
    ($token:ident, $multiplication:ident, $by_block:ident $(, $features:literal)?) => {
        // SAFETY of every call below: the token proves the instructions that the function is
        // compiled for.
        #[allow(unused_unsafe, reason = "a function without special instructions is safe")]
        impl LaneWords for $token {
            const MULTIPLICATION: Multiplication = Multiplication::$multiplication;

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
                times: usize,
                work: &mut [Lanes],
                modulus: &[Lanes],
                k0: &Lanes,
            ) {
                $(#[target_feature(enable = $features)])?
                fn block<const T: usize, const ONE_BLOCK: bool>(
                    token: $token,
                    accumulator: &mut [Lanes],
                    times: usize,
                    work: &mut [Lanes],
                    modulus: &[Lanes],
                    k0: &Lanes,
                ) {
                    for _ in 0..times {
                        kernel::montgomery_square::<_, T, ONE_BLOCK>(
                            token, accumulator, work, modulus, k0);
                    }
                }
                // SAFETY: see above.
                kernel::$by_block!(modulus.len(), T, ONE_BLOCK => unsafe {
                    block::<T, ONE_BLOCK>(self, accumulator, times, work, modulus, k0)
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

/// Evaluates the expression with two constants: T, the block size for numbers of n limbs, and
/// whether T is n.
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

/// Like `by_block`, but always with the smallest block: little code, and as fast if the window is
/// not in registers.
macro_rules! by_small_block {
    ($n:expr, $T:ident, $ONE_BLOCK:ident => $body:expr) => {
        kernel::by_block!(@ $n, $T, $ONE_BLOCK, $body, (5 => 5, true) (_ => 5, false))
    };
}
pub(super) use by_small_block;
