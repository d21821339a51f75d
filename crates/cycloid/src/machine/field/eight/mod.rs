//! Eight numbers side by side: limbs of 52 bits, limb by limb, lane by lane.
//!
//! Written once over the vectors of `lanes` and instantiated for each of its backends. A product is
//! a row of *columns* (see `lanes::kernel`), which a [`Shape`] reduces to a residue by a method
//! that suits its prime: `montgomery` for P-224, P-256 and P-384, `mersenne` for P-521 and 2²⁵⁵ −
//! 19, `dense` for those of BLS12-381.
//!
//! **Residues.** Every operation takes and returns limbs below 2⁵² of a residue below the bound of
//! its prime. The bound is between 2p and 16p and proved at the prime. Sums and differences return
//! below the bound after one *fold*: the part of the top limb above the length of the prime, about
//! ⌊x/p⌋, is multiplied by the prime and subtracted, which changes few limbs because the prime is
//! sparse. The same carries normalise the sum and the fold.
//!
//! `p25519` and `p256` have steps of curves in sums that exceed these bounds, `across` those of one
//! point with four values in a vector, `complex` products of numbers a₀ + a₁·i, and `fourier` the
//! layers of a transform.
//!
//! **Speed.** Products and squares are separate functions with their operands in memory. Everything
//! else is inlined if the caller is compiled for the same instructions, as code within
//! [`Arithmetic::run`] is.

mod across;
mod base;
mod columns;
mod complex;
mod cyclotomic;
mod dense;
mod fourier;
mod linear;
mod lookup;
mod mersenne;
mod montgomery;
mod p25519;
mod p256;
mod residue;
mod shift;
mod spread;
#[cfg(test)]
mod tests;

use super::super::ct::Mask;
use super::super::lanes::vector::Vectors;
use super::super::lanes::{LANES, Lanes};
use super::super::words::Limb;
use super::{
    Arithmetic, Bls12Base, Bls12Scalar, CurveArithmetic, EightMasks, Masks, P224, P256, P384, P521,
    P25519, Prime,
};
use columns::Columns;

/// The properties of a prime: residues of M limbs.
trait Shape<const M: usize>: Prime {
    /// The prime.
    const LIMBS: [Limb; M];

    /// The factor that converts a residue to Montgomery form, R² modulo the prime; 1 without
    /// Montgomery form.
    const ENTER: [Limb; M];

    /// Indices of the modulus limbs that [`reduce`](Self::reduce) multiplies by every quotient
    /// limb, in backends with an excess.
    const QUOTIENT_PRODUCTS: &[usize] = &[];

    /// Exponents of the powers of two that [`reduce`](Self::reduce) multiplies by the complement of
    /// every quotient limb, in backends whose factors are limbs.
    const COMPLEMENTS: &[usize] = &[];

    /// Initial values of columns, by column, in addition to those that follow from the other
    /// constants.
    const STARTS: &[(usize, Limb)] = &[];

    /// With Montgomery form, adds a multiple of the prime that makes column `i` a multiple of 2⁵²,
    /// and carries it into the next. The columns below have been cleared, and this one is complete.
    /// The column then holds the quotient limb.
    #[inline(always)]
    fn clear<V: Vectors>(_v: V, _columns: &mut Columns<V>, _i: usize) {}

    /// Returns the residue of a product's columns, after the low half has been cleared.
    fn reduce<V: Vectors>(v: V, columns: &mut Columns<V>) -> [V::Word; M];

    /// Subtracts a multiple of the prime, so that the result is
    ///
    /// - from 0 to below the prime's bound if `LESS` is 0 and the limbs are sums of two residues,
    /// - from 1 to below 3p and below the prime's bound if `LESS` is 1 and they are differences.
    ///
    /// Limbs are signed before and after.
    fn fold<V: Vectors, const LESS: Limb>(v: V, limbs: &mut [V::Word; M]);

    /// Returns a·small, for small < 2¹⁷, by the backend's product.
    #[inline(always)]
    fn mul_small<A: Arithmetic<Self, Element = [Lanes; M]>>(
        arithmetic: A,
        a: &[Lanes; M],
        small: Limb,
    ) -> [Lanes; M] {
        let mut factor = [Lanes::ZERO; M];
        factor[0] = Lanes([small; LANES]);
        if Self::MONTGOMERY {
            factor = arithmetic.mul(&factor, &residue::splat(&Self::ENTER));
        }
        arithmetic.mul(a, &factor)
    }
}

/// Implements `Arithmetic` for a token and each of the primes, with the number of its limbs and the
/// attribute that controls inlining of short functions.
macro_rules! arithmetic {
    ($token:ty, $inline:meta, $features:tt; $($prime:ident $m:literal)+) => {
        $(arithmetic!(@ $token, $inline, $features, $prime, $m);)+
    };
    (@ $token:ty, $inline:meta, ($($features:literal)?), $prime:ident, $m:literal) => {
        // SAFETY of every call below: the token proves the instructions that the function is
        // compiled for.
        #[allow(unused_unsafe, reason = "a function without special instructions is safe")]
        impl Arithmetic<$prime> for $token {
            const WIDTH: usize = LANES;
            type Element = [Lanes; $m];
            type Word = Lanes;
            type Mask = EightMasks;
            const STORED_LIMBS: usize = $m;
            const ZERO: Self::Element = [Lanes::ZERO; $m];

            #[inline(always)]
            fn mul(self, a: &[Lanes; $m], b: &[Lanes; $m]) -> [Lanes; $m] {
                $(#[target_feature(enable = $features)])?
                #[inline(never)]
                fn mul(v: $token, a: &[Lanes; $m], b: &[Lanes; $m]) -> [Lanes; $m] {
                    columns::mul::<_, $prime, $m>(v, a, b)
                }
                // SAFETY: see above.
                unsafe { mul(self, a, b) }
            }

            #[inline(always)]
            fn square(self, a: &[Lanes; $m]) -> [Lanes; $m] {
                $(#[target_feature(enable = $features)])?
                #[inline(never)]
                fn square(v: $token, a: &[Lanes; $m]) -> [Lanes; $m] {
                    columns::square::<_, $prime, $m>(v, a)
                }
                // SAFETY: see above.
                unsafe { square(self, a) }
            }

            #[inline]
            fn mul_small(self, a: &[Lanes; $m], small: Limb) -> [Lanes; $m] {
                debug_assert!(small < 1 << 17);
                <$prime as Shape<$m>>::mul_small(self, a, small)
            }

            #[inline(always)]
            fn add(self, a: &[Lanes; $m], b: &[Lanes; $m]) -> [Lanes; $m] {
                $(#[target_feature(enable = $features)])?
                #[$inline]
                fn add(v: $token, a: &[Lanes; $m], b: &[Lanes; $m]) -> [Lanes; $m] {
                    linear::add::<_, $prime, $m>(v, a, b)
                }
                // SAFETY: see above.
                unsafe { add(self, a, b) }
            }

            #[inline(always)]
            fn sub(self, a: &[Lanes; $m], b: &[Lanes; $m]) -> [Lanes; $m] {
                $(#[target_feature(enable = $features)])?
                #[$inline]
                fn sub(v: $token, a: &[Lanes; $m], b: &[Lanes; $m]) -> [Lanes; $m] {
                    linear::sub::<_, $prime, $m>(v, a, b)
                }
                // SAFETY: see above.
                unsafe { sub(self, a, b) }
            }

            #[inline(always)]
            fn equal(self, a: &[Lanes; $m], b: &[Lanes; $m]) -> EightMasks {
                $(#[target_feature(enable = $features)])?
                #[$inline]
                fn equal(v: $token, a: &[Lanes; $m], b: &[Lanes; $m]) -> u8 {
                    linear::equal::<_, $prime, $m>(v, a, b)
                }
                // SAFETY: see above.
                EightMasks::from_bits(unsafe { equal(self, a, b) })
            }

            #[inline(always)]
            fn select(
                self,
                mask: EightMasks,
                a: &[Lanes; $m],
                b: &[Lanes; $m],
            ) -> [Lanes; $m] {
                $(#[target_feature(enable = $features)])?
                #[$inline]
                fn select(
                    v: $token,
                    bits: u8,
                    a: &[Lanes; $m],
                    b: &[Lanes; $m],
                ) -> [Lanes; $m] {
                    linear::select(v, bits, a, b)
                }
                // SAFETY: see above.
                unsafe { select(self, mask.bits(), a, b) }
            }

            #[inline]
            fn load(self, numbers: &[<$prime as Prime>::Words]) -> [Lanes; $m] {
                residue::load::<Self, $prime, $m>(self, numbers)
            }

            #[inline]
            fn store(self, element: &[Lanes; $m], numbers: &mut [<$prime as Prime>::Words]) {
                residue::store::<Self, $prime, $m>(self, element, numbers);
            }

            #[inline]
            fn stored(self, constant: &[Limb]) -> [Lanes; $m] {
                core::array::from_fn(|j| Lanes([constant[j]; LANES]))
            }

            #[inline]
            fn lookup_stored(self, out: &mut [[Lanes; $m]], table: &[Limb], index: Lanes) {
                $(#[target_feature(enable = $features)])?
                #[inline(never)]
                fn lookup(v: $token, out: &mut [[Lanes; $m]], table: &[Limb], index: &Lanes) {
                    lookup::lookup_stored(v, out, table, index);
                }
                // SAFETY: see above.
                unsafe { lookup(self, out, table, &index) }
            }

            #[inline]
            fn lookup(self, out: &mut [[Lanes; $m]], table: &[[Lanes; $m]], index: Lanes) {
                $(#[target_feature(enable = $features)])?
                #[inline]
                fn lookup(
                    v: $token,
                    out: &mut [[Lanes; $m]],
                    table: &[[Lanes; $m]],
                    index: &Lanes,
                ) {
                    lookup::lookup(v, out, table, index);
                }
                // SAFETY: see above.
                unsafe { lookup(self, out, table, &index) }
            }

            #[inline(always)]
            fn word(self, limb: impl FnMut(usize) -> Limb) -> Lanes {
                Lanes(core::array::from_fn(limb))
            }

            #[inline(always)]
            fn mask(self, value: impl FnMut(usize) -> Mask) -> EightMasks {
                EightMasks::from_lanes(value)
            }

            #[inline]
            fn rotate(self, a: &[Lanes; $m], by: usize) -> [Lanes; $m] {
                a.map(|Lanes(mut limb)| {
                    limb.rotate_left(by);
                    Lanes(limb)
                })
            }

            #[inline(always)]
            fn run<R>(self, work: impl FnOnce() -> R) -> R {
                $(#[target_feature(enable = $features)])?
                #[inline]
                fn run<R>(work: impl FnOnce() -> R) -> R {
                    work()
                }
                // SAFETY: see above.
                unsafe { run(work) }
            }
        }
    };
}

/// Implements the traits for a token and every prime: the attribute that controls inlining of short
/// functions, and its instructions.
macro_rules! backend {
    ($token:ty, $inline:meta, $features:tt) => {
        arithmetic!($token, $inline, $features; P224 5 P256 5 P384 8 P521 11 P25519 5 Bls12Base 8
            Bls12Scalar 5);
        impl CurveArithmetic<P224> for $token {}
    };
}

/// Implements the steps of curves modulo 2²⁵⁵ − 19, for backends whose factors are limbs.
macro_rules! lazy_p25519 {
    ($token:ty, ($($features:literal)?)) => {
        // SAFETY of every call below: the token proves the instructions that the function is
        // compiled for.
        #[allow(unused_unsafe, reason = "a function without special instructions is safe")]
        impl CurveArithmetic<P25519> for $token {
            #[inline(always)]
            fn ladder_step(
                self,
                x1: &[Lanes; 5],
                state: &mut [[Lanes; 5]; 4],
                swap: EightMasks,
                a24: Limb,
            ) {
                let swaps: [_; LANES] =
                    core::array::from_fn(|lane| [swap.at(lane).value() & 1, 0, 0, 0]);
                CurveArithmetic::<P25519>::ladder(self, x1, state, 1, &swaps, a24);
            }

            #[inline(always)]
            fn ladder(
                self,
                x1: &[Lanes; 5],
                state: &mut [[Lanes; 5]; 4],
                steps: usize,
                swaps: &[[Limb; 4]],
                a24: Limb,
            ) {
                $(#[target_feature(enable = $features)])?
                #[inline(never)]
                fn ladder(
                    v: $token,
                    x1: &[Lanes; 5],
                    state: &mut [[Lanes; 5]; 4],
                    steps: usize,
                    swaps: &[[Limb; 4]],
                    a24: Limb,
                ) {
                    p25519::ladder(v, x1, state, steps, swaps, a24);
                }
                // SAFETY: see above.
                unsafe { ladder(self, x1, state, steps, swaps, a24) }
            }

            #[inline(always)]
            fn ladder_of_one(
                self,
                x1: &[Limb; 4],
                points: &[[Limb; 4]; 4],
                steps: usize,
                swaps: &[Limb; 4],
                a24: Limb,
            ) -> Option<[[Limb; 4]; 4]> {
                $(#[target_feature(enable = $features)])?
                #[inline(never)]
                fn ladder_of_one(
                    v: $token,
                    x1: &[Limb; 4],
                    points: &[[Limb; 4]; 4],
                    steps: usize,
                    swaps: &[Limb; 4],
                    a24: Limb,
                ) -> [[Limb; 4]; 4] {
                    p25519::ladder_of_one(v, x1, points, steps, swaps, a24)
                }
                // SAFETY: see above.
                Some(unsafe { ladder_of_one(self, x1, points, steps, swaps, a24) })
            }

            #[inline(always)]
            fn add_edwards(
                self,
                point: &[[Lanes; 5]; 4],
                addend: &[[Lanes; 5]; 3],
                negative: EightMasks,
            ) -> [[Lanes; 5]; 4] {
                $(#[target_feature(enable = $features)])?
                #[inline(never)]
                fn add(
                    v: $token,
                    point: &[[Lanes; 5]; 4],
                    addend: &[[Lanes; 5]; 3],
                    negative: u8,
                ) -> [[Lanes; 5]; 4] {
                    p25519::add(v, point, addend, negative)
                }
                // SAFETY: see above.
                unsafe { add(self, point, addend, negative.bits()) }
            }

            #[inline(always)]
            fn double_edwards(self, point: &mut [[Lanes; 5]; 4], times: usize) {
                $(#[target_feature(enable = $features)])?
                #[inline(never)]
                fn double(v: $token, point: &mut [[Lanes; 5]; 4], times: usize) {
                    p25519::double(v, point, times);
                }
                assert_ne!(times, 0);
                // SAFETY: see above.
                unsafe { double(self, point, times) }
            }

            #[inline(always)]
            fn edwards_sum_of_one_vartime(
                self,
                twice_d: &[Limb; 4],
                points: [(&[[Limb; 4]; 4], &[i8]); 2],
                tables: [(&[Limb], &[i8]); 2],
            ) -> Option<[[Limb; 4]; 4]> {
                $(#[target_feature(enable = $features)])?
                #[inline(never)]
                fn sum(
                    v: $token,
                    twice_d: &[Limb; 4],
                    points: [(&[[Limb; 4]; 4], &[i8]); 2],
                    tables: [(&[Limb], &[i8]); 2],
                ) -> [[Limb; 4]; 4] {
                    p25519::edwards_sum_of_one_vartime(v, twice_d, points, tables)
                }
                // SAFETY: see above.
                Some(unsafe { sum(self, twice_d, points, tables) })
            }
        }
    };
}

/// Implements the steps of P-384 and P-521, for backends whose factors are limbs.
macro_rules! across {
    ($token:ty, $features:tt; $($prime:ident $limbs:literal)+) => {$(
        #[allow(unused_unsafe, reason = "a function without special instructions is safe")]
        impl CurveArithmetic<$prime> for $token {
                        across::of_one!($token, $features, $prime $limbs);
        }
    )+};
}

#[cfg(any(test, not(target_arch = "x86_64")))]
backend!(super::super::lanes::Portable, inline(never), ());
#[cfg(any(test, not(target_arch = "x86_64")))]
across!(super::super::lanes::Portable, (); P384 9 P521 11);
#[cfg(any(test, not(target_arch = "x86_64")))]
lazy_p25519!(super::super::lanes::Portable, ());

#[cfg(all(target_arch = "x86_64", feature = "avx512"))]
mod x86_64 {
    use super::super::super::cpu::{Avx512, Ifma};
    use super::*;

    backend!(Avx512, inline, ("avx512f,avx512dq"));
    impl CurveArithmetic<P25519> for Avx512 {}
    impl CurveArithmetic<P384> for Avx512 {}
    impl CurveArithmetic<P521> for Avx512 {}
    backend!(Ifma, inline, ("avx512f,avx512dq,avx512ifma"));
    lazy_p25519!(Ifma, ("avx512f,avx512bw,avx512dq,avx512vl,avx512ifma"));
    across!(Ifma, ("avx512f,avx512bw,avx512dq,avx512vl,avx512ifma"); P384 9 P521 11);
}
