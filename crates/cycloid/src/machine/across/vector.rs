//! What the kernels ask of a processor beyond what the lanes do: moving digits between lanes.

use super::super::lanes::Lanes;
use super::super::lanes::vector::Vectors;
use super::super::words::Limb;

/// Arithmetic on eight consecutive digits of one number. The first lane is the lowest.
pub(super) trait DigitVectors: Vectors {
    /// The low [`DIGIT_BITS`](super::DIGIT_BITS) bits.
    fn digit(self, a: Self::Word) -> Self::Word;

    /// What lies above them.
    fn carry(self, a: Self::Word) -> Self::Word;

    /// One factor from memory in every lane.
    fn broadcast(self, from: &Limb) -> Self::Factor;

    /// The lanes of `low` from lane `FROM` on, followed by the first `FROM` lanes of `high`.
    fn join<const FROM: i32>(self, low: Self::Word, high: Self::Word) -> Self::Word;

    /// The lanes of both in turn, `first` first: the lower eight and the upper eight.
    fn interleave(self, first: Self::Word, second: Self::Word) -> (Self::Word, Self::Word);
}

/// The steps of a multiplication of n digits, compiled for the instructions of a token. `kernel`
/// says what each does; here each goes through all of its tiles.
pub(super) trait Steps: DigitVectors {
    fn windows(self, windows: &mut [Lanes], room: &mut [Lanes], number: &[Lanes]);

    fn factors(self, room: &mut [Lanes], number: &[Lanes]);

    fn low_product(
        self,
        digits: &mut [Lanes],
        carried: &mut Carried,
        rows: &[Limb],
        windows: &[Lanes],
    );

    fn high_product(self, columns: &mut [Lanes], high: &Lanes, rows: &[Limb], windows: &[Lanes]);

    fn low_square(self, digits: &mut [Lanes], carried: &mut Carried, n: usize, windows: &[Lanes]);

    fn high_square(self, columns: &mut [Lanes], high: &Lanes, n: usize, windows: &[Lanes]);

    fn reduce(
        self,
        result: &mut [Lanes],
        columns: &[Lanes],
        carried: &Carried,
        quotient: &[Limb],
        windows: &[Lanes],
    );
}

/// What the low part of a product hands on to its high part: the last vector of each.
#[derive(Clone, Copy)]
pub(super) struct Carried {
    /// High halves, which belong one column further up.
    pub(super) high: Lanes,
    /// What lay above the digits, which likewise does.
    pub(super) carry: Lanes,
    /// Digits.
    pub(super) digit: Lanes,
}

impl Carried {
    pub(super) const NOTHING: Self = Self {
        high: Lanes::ZERO,
        carry: Lanes::ZERO,
        digit: Lanes::ZERO,
    };
}

/// Implements [`Steps`] and [`AcrossLanes`](super::AcrossLanes) for a token by instantiating the
/// kernels for its instructions.
macro_rules! across_lanes {
    ($token:ident $(, $features:literal)?) => {
        // SAFETY of every call below: the token proves the instructions that the function is
        // compiled for.
        #[allow(unused_unsafe, reason = "a function without special instructions is safe")]
        impl $crate::machine::across::vector::Steps for $token {
            #[inline]
            fn windows(self, windows: &mut [Lanes], room: &mut [Lanes], number: &[Lanes]) {
                $(#[target_feature(enable = $features)])?
                fn step(v: $token, windows: &mut [Lanes], room: &mut [Lanes], number: &[Lanes]) {
                    kernel::windows(v, windows, room, number);
                }
                // SAFETY: see above.
                unsafe { step(self, windows, room, number) }
            }

            #[inline]
            fn factors(self, room: &mut [Lanes], number: &[Lanes]) {
                $(#[target_feature(enable = $features)])?
                fn step(v: $token, room: &mut [Lanes], number: &[Lanes]) {
                    kernel::into_factors(v, room, number);
                }
                // SAFETY: see above.
                unsafe { step(self, room, number) }
            }

            #[inline]
            fn low_product(
                self,
                digits: &mut [Lanes],
                carried: &mut Carried,
                rows: &[Limb],
                windows: &[Lanes],
            ) {
                $(#[target_feature(enable = $features)])?
                fn step<const W: usize>(
                    v: $token,
                    digits: &mut [Lanes],
                    tile: usize,
                    carried: &mut Carried,
                    rows: &[Limb],
                    windows: &[Lanes],
                ) {
                    kernel::low_product::<_, W>(v, digits, tile, carried, rows, windows);
                }
                kernel::by_tile!(digits.len(), tile, W => {
                    let digits = &mut digits[tile..][..W];
                    // SAFETY: see above.
                    unsafe { step::<W>(self, digits, tile, carried, rows, windows) }
                });
            }

            #[inline]
            fn high_product(
                self,
                columns: &mut [Lanes],
                high: &Lanes,
                rows: &[Limb],
                windows: &[Lanes],
            ) {
                $(#[target_feature(enable = $features)])?
                fn step<const W: usize>(
                    v: $token,
                    columns: &mut [Lanes],
                    tile: usize,
                    high: &mut Lanes,
                    rows: &[Limb],
                    windows: &[Lanes],
                ) {
                    kernel::high_product::<_, W>(v, columns, tile, high, rows, windows);
                }
                let mut high = *high;
                kernel::by_tile!(columns.len(), tile, W => {
                    let columns = &mut columns[tile..][..W];
                    // SAFETY: see above.
                    unsafe { step::<W>(self, columns, tile, &mut high, rows, windows) }
                });
            }

            #[inline]
            fn low_square(
                self,
                digits: &mut [Lanes],
                carried: &mut Carried,
                n: usize,
                windows: &[Lanes],
            ) {
                $(#[target_feature(enable = $features)])?
                fn step(
                    v: $token,
                    digits: &mut [Lanes],
                    carried: &mut Carried,
                    n: usize,
                    windows: &[Lanes],
                ) {
                    kernel::low_square(v, digits, carried, n, windows);
                }
                // SAFETY: see above.
                unsafe { step(self, digits, carried, n, windows) }
            }

            #[inline]
            fn high_square(
                self,
                columns: &mut [Lanes],
                high: &Lanes,
                n: usize,
                windows: &[Lanes],
            ) {
                $(#[target_feature(enable = $features)])?
                fn step(
                    v: $token,
                    columns: &mut [Lanes],
                    high: &Lanes,
                    n: usize,
                    windows: &[Lanes],
                ) {
                    kernel::high_square(v, columns, high, n, windows);
                }
                // SAFETY: see above.
                unsafe { step(self, columns, high, n, windows) }
            }

            #[inline]
            fn reduce(
                self,
                result: &mut [Lanes],
                columns: &[Lanes],
                carried: &Carried,
                quotient: &[Limb],
                windows: &[Lanes],
            ) {
                $(#[target_feature(enable = $features)])?
                fn step<const W: usize>(
                    v: $token,
                    result: &mut [Lanes],
                    columns: &[Lanes],
                    tile: usize,
                    carried: &Carried,
                    state: &mut kernel::Reduction,
                    quotient: &[Limb],
                    windows: &[Lanes],
                ) {
                    kernel::reduce::<_, W>(
                        v, result, columns, tile, carried, state, quotient, windows,
                    );
                }
                let mut state = kernel::Reduction::START;
                kernel::by_tile!(columns.len(), tile, W => {
                    // SAFETY: see above.
                    unsafe {
                        step::<W>(
                            self, result, columns, tile, carried, &mut state, quotient, windows,
                        );
                    }
                });
            }
        }
    };
}
pub(super) use across_lanes;
