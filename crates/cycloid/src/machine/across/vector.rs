//! What the kernels ask of a processor beyond what the lanes do: moving digits between lanes.

use super::super::lanes::Lanes;
use super::super::lanes::vector::Vectors;
use super::super::words::Limb;
use super::product::{Carried, Reduction};

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

/// Tiles of `width` vectors, compiled for the instructions of a token, each a function of its own:
/// for numbers of more than one tile. `product` says what they do.
pub(super) trait Tiles: DigitVectors {
    /// The largest width.
    const MAX_TILE: usize;

    fn low_tile(
        self,
        width: usize,
        digits: &mut [Lanes],
        tile: usize,
        carried: &mut Carried,
        rows: &[Limb],
        windows: &[Lanes],
    );

    fn high_tile(
        self,
        width: usize,
        columns: &mut [Lanes],
        tile: usize,
        high: &mut Lanes,
        rows: &[Limb],
        windows: &[Lanes],
    );

    fn reduce_tile(
        self,
        width: usize,
        result: &mut [Lanes],
        columns: &[Lanes],
        tile: usize,
        carried: &Carried,
        state: &mut Reduction,
        quotient: &[Limb],
        windows: &[Lanes],
    );
}

/// Implements [`Tiles`] and [`AcrossLanes`](super::AcrossLanes) for a token by instantiating the
/// kernels for its instructions.
macro_rules! across_lanes {
    ($token:ident $(, $features:literal)?; widths $($width:literal)*; digits $($digits:literal)*) => {
        // SAFETY of every call below: the token proves the instructions that the function is
        // compiled for.
        #[allow(unused_unsafe, reason = "a function without special instructions is safe")]
        #[allow(dead_code, unused_imports, reason = "a backend may have no lengths of its own")]
        const _: () = {
            use core::marker::PhantomData;

            use $crate::machine::across::modulus::one_length;
            use $crate::machine::across::montgomery::{self, ManyTiles, OneTile};
            use $crate::machine::across::product::{self, Carried, Reduction};
            use $crate::machine::across::vector::{Tiles, by_width};
            use $crate::machine::across::{AcrossLanes, Modulus, vectors};

            impl Tiles for $token {
                const MAX_TILE: usize = { let widths = [$($width),*]; widths[widths.len() - 1] };

                fn low_tile(
                    self,
                    width: usize,
                    digits: &mut [Lanes],
                    tile: usize,
                    carried: &mut Carried,
                    rows: &[Limb],
                    windows: &[Lanes],
                ) {
                    $(#[target_feature(enable = $features)])?
                    fn width_of<const W: usize>(
                        v: $token,
                        digits: &mut [Lanes],
                        tile: usize,
                        carried: &mut Carried,
                        rows: &[Limb],
                        windows: &[Lanes],
                    ) {
                        product::low::<_, W>(v, digits, tile, carried, rows, windows);
                    }
                    // SAFETY: see above.
                    by_width!(width, W => unsafe {
                        width_of::<W>(self, digits, tile, carried, rows, windows)
                    }, $($width)*)
                }

                fn high_tile(
                    self,
                    width: usize,
                    columns: &mut [Lanes],
                    tile: usize,
                    high: &mut Lanes,
                    rows: &[Limb],
                    windows: &[Lanes],
                ) {
                    $(#[target_feature(enable = $features)])?
                    fn width_of<const W: usize>(
                        v: $token,
                        columns: &mut [Lanes],
                        tile: usize,
                        high: &mut Lanes,
                        rows: &[Limb],
                        windows: &[Lanes],
                    ) {
                        product::high::<_, W>(v, columns, tile, high, rows, windows);
                    }
                    // SAFETY: see above.
                    by_width!(width, W => unsafe {
                        width_of::<W>(self, columns, tile, high, rows, windows)
                    }, $($width)*)
                }

                fn reduce_tile(
                    self,
                    width: usize,
                    result: &mut [Lanes],
                    columns: &[Lanes],
                    tile: usize,
                    carried: &Carried,
                    state: &mut Reduction,
                    quotient: &[Limb],
                    windows: &[Lanes],
                ) {
                    $(#[target_feature(enable = $features)])?
                    fn width_of<const W: usize>(
                        v: $token,
                        result: &mut [Lanes],
                        columns: &[Lanes],
                        tile: usize,
                        carried: &Carried,
                        state: &mut Reduction,
                        quotient: &[Limb],
                        windows: &[Lanes],
                    ) {
                        product::reduce::<_, W>(
                            v, result, columns, tile, carried, state, quotient, windows,
                        );
                    }
                    // SAFETY: see above.
                    by_width!(width, W => unsafe {
                        width_of::<W>(
                            self, result, columns, tile, carried, state, quotient, windows,
                        )
                    }, $($width)*)
                }
            }

            impl AcrossLanes for $token {
                fn prepare<'a>(
                    self,
                    modulus: &[Limb],
                    bits: usize,
                    memory: &'a mut [Lanes],
                    work: &mut [Lanes],
                ) -> Modulus<'a, Self> {
                    $(#[target_feature(enable = $features)])?
                    fn windows(
                        v: $token,
                        windows: &mut [Lanes],
                        room: &mut [Lanes],
                        number: &[Lanes],
                    ) {
                        kernel::windows(v, windows, room, number);
                    }
                    Modulus::prepare(self, modulus, bits, memory, work, |all, room, number| {
                        // SAFETY: see above.
                        unsafe { windows(self, all, room, number) }
                    })
                }

                fn multiply(
                    self,
                    accumulator: &mut [Lanes],
                    by: &[Lanes],
                    work: &mut [Lanes],
                    modulus: &Modulus<'_, Self>,
                ) {
                    $(#[target_feature(enable = $features)])?
                    fn one<const N: usize, const W: usize>(
                        accumulator: &mut [Lanes],
                        by: &[Lanes],
                        work: &mut [Lanes],
                        modulus: &Modulus<'_, $token>,
                    ) {
                        montgomery::multiply(OneTile::<_, N, W>::STEPS, accumulator, by, work, modulus);
                    }
                    $(#[target_feature(enable = $features)])?
                    fn many(
                        many_tiles: ManyTiles<$token>,
                        accumulator: &mut [Lanes],
                        by: &[Lanes],
                        work: &mut [Lanes],
                        modulus: &Modulus<'_, $token>,
                    ) {
                        montgomery::multiply(many_tiles, accumulator, by, work, modulus);
                    }
                    let n = modulus.n;
                    // SAFETY: see above.
                    by_width!(
                        n,
                        N => unsafe { one::<N, { vectors(N) }>(accumulator, by, work, modulus) },
                        $($digits)*,
                        unsafe { many(ManyTiles { n, backend: PhantomData }, accumulator, by, work, modulus) }
                    )
                }

                fn square(
                    self,
                    accumulator: &mut [Lanes],
                    work: &mut [Lanes],
                    modulus: &Modulus<'_, Self>,
                ) {
                    $(#[target_feature(enable = $features)])?
                    fn one<const N: usize, const W: usize>(
                        accumulator: &mut [Lanes],
                        work: &mut [Lanes],
                        modulus: &Modulus<'_, $token>,
                    ) {
                        montgomery::square(OneTile::<_, N, W>::STEPS, accumulator, work, modulus);
                    }
                    $(#[target_feature(enable = $features)])?
                    fn many(
                        many_tiles: ManyTiles<$token>,
                        accumulator: &mut [Lanes],
                        work: &mut [Lanes],
                        modulus: &Modulus<'_, $token>,
                    ) {
                        montgomery::square(many_tiles, accumulator, work, modulus);
                    }
                    let n = modulus.n;
                    // SAFETY: see above.
                    by_width!(
                        n,
                        N => unsafe { one::<N, { vectors(N) }>(accumulator, work, modulus) },
                        $($digits)*,
                        unsafe { many(ManyTiles { n, backend: PhantomData }, accumulator, work, modulus) }
                    )
                }

                fn multiply_pair(
                    self,
                    accumulators: [&mut [Lanes]; 2],
                    by: [&[Lanes]; 2],
                    work: &mut [Lanes],
                    moduli: [&Modulus<'_, Self>; 2],
                ) {
                    $(#[target_feature(enable = $features)])?
                    fn one<const N: usize, const W: usize>(
                        accumulators: [&mut [Lanes]; 2],
                        by: [&[Lanes]; 2],
                        work: &mut [Lanes],
                        moduli: [&Modulus<'_, $token>; 2],
                    ) {
                        montgomery::multiply_pair(
                            OneTile::<_, N, W>::STEPS, accumulators, by, work, moduli,
                        );
                    }
                    $(#[target_feature(enable = $features)])?
                    fn many(
                        many_tiles: ManyTiles<$token>,
                        accumulators: [&mut [Lanes]; 2],
                        by: [&[Lanes]; 2],
                        work: &mut [Lanes],
                        moduli: [&Modulus<'_, $token>; 2],
                    ) {
                        montgomery::multiply_pair(many_tiles, accumulators, by, work, moduli);
                    }
                    let n = one_length(moduli);
                    // SAFETY: see above.
                    by_width!(
                        n,
                        N => unsafe { one::<N, { vectors(N) }>(accumulators, by, work, moduli) },
                        $($digits)*,
                        unsafe { many(ManyTiles { n, backend: PhantomData }, accumulators, by, work, moduli) }
                    )
                }

                fn square_pair(
                    self,
                    accumulators: [&mut [Lanes]; 2],
                    work: &mut [Lanes],
                    moduli: [&Modulus<'_, Self>; 2],
                ) {
                    $(#[target_feature(enable = $features)])?
                    fn one<const N: usize, const W: usize>(
                        accumulators: [&mut [Lanes]; 2],
                        work: &mut [Lanes],
                        moduli: [&Modulus<'_, $token>; 2],
                    ) {
                        montgomery::square_pair(OneTile::<_, N, W>::STEPS, accumulators, work, moduli);
                    }
                    $(#[target_feature(enable = $features)])?
                    fn many(
                        many_tiles: ManyTiles<$token>,
                        accumulators: [&mut [Lanes]; 2],
                        work: &mut [Lanes],
                        moduli: [&Modulus<'_, $token>; 2],
                    ) {
                        montgomery::square_pair(many_tiles, accumulators, work, moduli);
                    }
                    let n = one_length(moduli);
                    // SAFETY: see above.
                    by_width!(
                        n,
                        N => unsafe { one::<N, { vectors(N) }>(accumulators, work, moduli) },
                        $($digits)*,
                        unsafe { many(ManyTiles { n, backend: PhantomData }, accumulators, work, moduli) }
                    )
                }
            }
        };
    };
}
pub(super) use across_lanes;

/// Evaluates an expression with the constant W as the width, or the last one for other widths.
macro_rules! by_width {
    ($width:expr, $W:ident => $body:expr, $($value:literal)*) => {
        by_width!(
            $width,
            $W => $body,
            $($value)*,
            unreachable!("a tile has one of these widths")
        )
    };
    ($width:expr, $W:ident => $body:expr, $($value:literal)*, $other:expr) => {
        match $width {
            $($value => {
                const $W: usize = $value;
                $body
            })*
            _ => $other,
        }
    };
}
pub(super) use by_width;
