//! Operations that the kernels need beyond those of the lanes: moving digits between lanes.

use super::super::lanes::LANES;
use super::super::lanes::vector::Vectors;
use super::super::words::Limb;

/// Arithmetic on eight consecutive digits of one number. The first lane is the lowest.
pub(super) trait DigitVectors: Vectors {
    /// Returns the low [`DIGIT_BITS`](super::DIGIT_BITS) bits.
    fn digit(self, a: Self::Word) -> Self::Word;

    /// Returns the bits above those.
    fn carry(self, a: Self::Word) -> Self::Word;

    /// Loads one factor from memory into every lane.
    fn broadcast(self, from: &Limb) -> Self::Factor;

    /// Loads eight digits or columns from memory, of any alignment.
    fn load_digits(self, from: &[Limb; LANES]) -> Self::Word;

    /// Returns the lanes of `low` from lane `FROM` on, followed by the first `FROM` lanes of
    /// `high`.
    fn join<const FROM: i32>(self, low: Self::Word, high: Self::Word) -> Self::Word;

    /// Interleaves the lanes of both, `first` first: returns the lower eight and the upper eight.
    fn interleave(self, first: Self::Word, second: Self::Word) -> (Self::Word, Self::Word);
}

/// Implements [`AcrossLanes`](super::AcrossLanes) for a token by instantiating the kernels for its
/// instructions: for each given number of digits, with its tile widths, and with 0 for all others.
macro_rules! across_lanes {
    ($token:ident, $attributes:tt; $($N:literal: $($width:literal)*),*) => {
        // SAFETY of every call below: the token in a product proves the instructions that the
        // function is compiled for.
        #[allow(unused_unsafe, reason = "a function without special instructions is safe")]
        const _: () = {
            use $crate::machine::across::kernel::Product;
            use $crate::machine::across::montgomery::{self, Steps};
            use $crate::machine::across::triangle::{Reduction, by_tile};
            use $crate::machine::across::vector::{for_any_length, steps};
            use $crate::machine::across::{
                AcrossLanes, Modulus, kernel, square, triangle, vectors,
            };
            use $crate::machine::lanes::Lanes;

            struct Digits<const N: usize>;

            for_any_length!($token, $attributes);
            $(steps!($token, $attributes, $N: $($width)*);)*

            impl AcrossLanes for $token {
                fn prepare<'a>(
                    self,
                    modulus: &[Limb],
                    bits: usize,
                    memory: &'a mut [Lanes],
                    work: &mut [Lanes],
                ) -> Modulus<'a, Self> {
                    Modulus::prepare(self, modulus, bits, memory, work, windows)
                }

                fn select(self, out: &mut [Lanes], table: &[Lanes], index: usize) {
                    assert!(table.len().is_multiple_of(out.len()));
                    select(self, out, table, index);
                }

                fn multiply(
                    self,
                    accumulator: &mut [Lanes],
                    by: &[Lanes],
                    work: &mut [Lanes],
                    modulus: &Modulus<'_, Self>,
                ) {
                    match modulus.n {
                        $($N => montgomery::multiply::<Digits<$N>>(accumulator, by, work, modulus),)*
                        _ => montgomery::multiply::<Digits<0>>(accumulator, by, work, modulus),
                    }
                }

                fn square(
                    self,
                    accumulator: &mut [Lanes],
                    work: &mut [Lanes],
                    modulus: &Modulus<'_, Self>,
                ) {
                    match modulus.n {
                        $($N => montgomery::square::<Digits<$N>>(accumulator, work, modulus),)*
                        _ => montgomery::square::<Digits<0>>(accumulator, work, modulus),
                    }
                }
            }
        };
    };
}
pub(super) use across_lanes;

/// Defines the functions that are the same for every number of digits.
macro_rules! for_any_length {
    ($token:ident, [$($attribute:tt)*]) => {
        fn windows(
            v: $token,
            windows: &mut [Lanes],
            room: &mut [Lanes],
            number: &[Lanes],
        ) {
            $($attribute)*
            fn step(
                v: $token,
                windows: &mut [Lanes],
                room: &mut [Lanes],
                number: &[Lanes],
            ) {
                kernel::windows(v, windows, room, number);
            }
            // SAFETY: see `across_lanes`.
            unsafe { step(v, windows, room, number) }
        }

        fn select(v: $token, out: &mut [Lanes], table: &[Lanes], index: usize) {
            $($attribute)*
            fn step(v: $token, out: &mut [Lanes], table: &[Lanes], index: usize) {
                by_tile!(out.len(), tile, W => {
                    kernel::select::<_, W>(v, out, table, tile, index);
                }, 1 2 3 4);
            }
            // SAFETY: see `across_lanes`.
            unsafe { step(v, out, table, index) }
        }
    };
}
pub(super) use for_any_length;

/// Implements [`Steps`](super::montgomery::Steps) for one number of digits.
macro_rules! steps {
    ($token:ident, [$($attribute:tt)*], $N:literal: $($width:literal)*) => {
        impl Steps for Digits<$N> {
            type Vectors = $token;

            fn multiply_low(p: &mut Product<'_, $token>, a: &[Lanes], b: &[Lanes]) {
                $($attribute)*
                fn step(p: &mut Product<'_, $token>, a: &[Lanes], b: &[Lanes]) {
                    let n = if $N == 0 { p.n } else { $N };
                    by_tile!(vectors(n), tile, W => {
                        triangle::multiply_low::<_, $N, W>(p, a, b, tile);
                    }, $($width)*);
                }
                // SAFETY: see `across_lanes`.
                unsafe { step(p, a, b) }
            }

            fn multiply_high(p: &mut Product<'_, $token>, b: &[Lanes]) {
                $($attribute)*
                fn step(p: &mut Product<'_, $token>, b: &[Lanes]) {
                    let n = if $N == 0 { p.n } else { $N };
                    by_tile!(vectors(n), tile, W => {
                        triangle::multiply_high::<_, $N, W>(p, b, tile);
                    }, $($width)*);
                }
                // SAFETY: see `across_lanes`.
                unsafe { step(p, b) }
            }

            fn square_low(p: &mut Product<'_, $token>, a: &[Lanes]) {
                $($attribute)*
                fn step(p: &mut Product<'_, $token>, a: &[Lanes]) {
                    square::square::<_, $N, false>(p, a);
                }
                // SAFETY: see `across_lanes`.
                unsafe { step(p, a) }
            }

            fn square_high(p: &mut Product<'_, $token>) {
                $($attribute)*
                fn step(p: &mut Product<'_, $token>) {
                    square::square::<_, $N, true>(p, &[]);
                }
                // SAFETY: see `across_lanes`.
                unsafe { step(p) }
            }

            fn quotient(p: &mut Product<'_, $token>) {
                $($attribute)*
                fn step(p: &mut Product<'_, $token>) {
                    let n = if $N == 0 { p.n } else { $N };
                    by_tile!(vectors(n), tile, W => {
                        triangle::quotient::<_, $N, W>(p, tile);
                    }, $($width)*);
                }
                // SAFETY: see `across_lanes`.
                unsafe { step(p) }
            }

            fn reduce(p: &Product<'_, $token>, result: &mut [Lanes]) {
                $($attribute)*
                fn step(p: &Product<'_, $token>, result: &mut [Lanes]) {
                    let n = if $N == 0 { p.n } else { $N };
                    let mut state = Reduction::START;
                    by_tile!(vectors(n), tile, W => {
                        triangle::reduce::<_, $N, W>(p, result, tile, &mut state);
                    }, $($width)*);
                }
                // SAFETY: see `across_lanes`.
                unsafe { step(p, result) }
            }
        }
    };
}
pub(super) use steps;
