//! The primes of BLS12-381: Montgomery form with R = 2^(52·M), and reductions that multiply every
//! quotient limb by every limb of the prime.
//!
//! With b the length of the prime, a number is folded by subtracting ⌊x / 2^b⌋ times the prime, a
//! multiple taken from a table: each unit above bit b is replaced by 2^b − p.

use super::super::super::lanes::vector::Vectors;
use super::super::super::lanes::{self, LANE_LIMB_BITS, LANES, LIMB_MASK, Lanes};
use super::super::super::words::{Limb, montgomery_n0};
use super::super::wide::POINTS;
use super::super::{Arithmetic, Bls12Base, Bls12Scalar, Prime, SpreadTask, Wide};
use super::Shape;
use super::columns::{self, Columns, MAX_COLUMNS, carry, each};
use super::residue::{self, limbs, power_of_two, r_squared, shifted};
use super::shift;
use super::{complex, fourier, linear};

/// R = 2⁴¹⁶, p = 0.8126·2³⁸¹; residues are below **1.5627·2³⁸¹**, less than 2p.
/// A product is below 2³⁵² + p. A sum is below 3.126·2³⁸¹, so that 0 ≤ t < 4, which leaves less
/// than (1 + 3·0.1875)·2³⁸¹. A difference plus 2p is from 0.062·2³⁸¹ to 3.188·2³⁸¹, with the same
/// bounds on t. For equal residues it is p, 2p or 3p, for which t = 0, 1 or 2 leaves p.
impl Shape<8> for Bls12Base {
    const LIMBS: [Limb; 8] = limbs(&Self::MODULUS);
    const ENTER: [Limb; 8] = r_squared(&Self::LIMBS);
    const QUOTIENT_PRODUCTS: &[usize] = &[0, 1, 2, 3, 4, 5, 6, 7];

    #[inline(always)]
    fn clear<V: Vectors>(v: V, columns: &mut Columns<V>, i: usize) {
        clear::<V, Self, 8>(v, columns, i);
    }

    #[inline(always)]
    fn reduce<V: Vectors>(v: V, columns: &mut Columns<V>) -> [V::Word; 8] {
        let mut limbs = columns::from(v, columns, 8);
        carry(v, &mut limbs);
        limbs
    }

    #[inline(always)]
    fn fold<V: Vectors, const LESS: Limb>(v: V, limbs: &mut [V::Word; 8]) {
        fold::<V, Self, 8, 17, LESS>(v, limbs);
    }
}

/// R = 2²⁶⁰, r = 0.9056·2²⁵⁵; residues are below **1.2834·2²⁵⁵**, less than 2r.
///
/// A product is below 1.6471·2⁵¹⁰ / R + 1.001r < 0.958·2²⁵⁵. A sum is below 2.567·2²⁵⁵, so that 0 ≤ t
/// < 3, which leaves less than (1 + 2·0.0945)·2²⁵⁵. A difference plus 2r is from 0.527·2²⁵⁵ to
/// 3.095·2²⁵⁵, so that 0 ≤ t < 4. For equal residues it is r, 2r or 3r, for which t = 0, 1 or 2
/// leaves r.
impl Shape<5> for Bls12Scalar {
    const LIMBS: [Limb; 5] = limbs(&Self::MODULUS);
    const ENTER: [Limb; 5] = r_squared(&Self::LIMBS);
    const QUOTIENT_PRODUCTS: &[usize] = &[0, 1, 2, 3, 4];

    #[inline(always)]
    fn clear<V: Vectors>(v: V, columns: &mut Columns<V>, i: usize) {
        clear::<V, Self, 5>(v, columns, i);
    }

    #[inline(always)]
    fn reduce<V: Vectors>(v: V, columns: &mut Columns<V>) -> [V::Word; 5] {
        let mut limbs = columns::from(v, columns, 5);
        carry(v, &mut limbs);
        limbs
    }

    #[inline(always)]
    fn fold<V: Vectors, const LESS: Limb>(v: V, limbs: &mut [V::Word; 5]) {
        fold::<V, Self, 5, 47, LESS>(v, limbs);
    }
}

/// Implements [`Shape::clear`].
///
/// With the multiple m·p ≡ −1 modulo 2⁵², the column itself is the quotient limb, so a row waits for
/// one product less; but it adds as much as 2⁵²·p. The last two rows add multiples of the prime and
/// divide by 2¹⁰⁴, which leaves less than p / 2⁵¹ of what the others have added.
#[inline(always)]
fn clear<V: Vectors, P: Shape<M>, const M: usize>(v: V, columns: &mut Columns<V>, i: usize) {
    if !V::CONVERTS && i + 2 < M {
        clear_by_itself::<V, P, M>(v, columns, i);
    } else {
        clear_by_quotient::<V, P, M>(v, columns, i);
    }
}

/// −1 / p mod 2⁵².
const fn minus_inverse(lowest: Limb) -> Limb {
    montgomery_n0(lowest) & LIMB_MASK
}

/// Returns (m·p + 1) / 2⁵² for m = −1 / p mod 2⁵².
const fn above<const M: usize>(prime: &[Limb; M]) -> [Limb; M] {
    let m = minus_inverse(prime[0]) as u128;
    let mut limbs = [0; M];
    let mut carry = (prime[0] as u128 * m + 1) >> LANE_LIMB_BITS;
    let mut j = 1;
    while j < M {
        carry += prime[j] as u128 * m;
        limbs[j - 1] = carry as Limb & LIMB_MASK;
        carry >>= LANE_LIMB_BITS;
        j += 1;
    }
    limbs[M - 1] = carry as Limb;
    limbs
}

/// Clears a column by the multiple of the prime that ends with −1: with q the low limb, it adds
/// q·(m·p + 1) / 2⁵² to the columns above.
#[inline(always)]
fn clear_by_itself<V: Vectors, P: Shape<M>, const M: usize>(
    v: V,
    columns: &mut Columns<V>,
    i: usize,
) {
    let quotient = v.factor(columns[i]);
    columns[i + 1] = v.add(columns[i + 1], v.shift_right_signed::<52>(columns[i]));
    each!(V, j < M => {
        let limb = v.limb_factor(v.splat(const { above(&P::LIMBS) }[j]));
        (columns[i + j + 1], columns[i + j + 2]) =
            v.mul_add(columns[i + j + 1], columns[i + j + 2], limb, quotient);
    });
}

/// Clears a column by the multiple of the prime that its quotient limb gives.
///
/// The low half of q·p₀ makes column i the next multiple of 2⁵², so the carry is known without it.
#[inline(always)]
fn clear_by_quotient<V: Vectors, P: Shape<M>, const M: usize>(
    v: V,
    columns: &mut Columns<V>,
    i: usize,
) {
    let n0 = const { minus_inverse(P::LIMBS[0]) };
    let quotient = v.mul_low(v.factor(columns[i]), v.limb_factor(v.splat(n0)));
    if !V::CONVERTS {
        let carry = v.shift_right_signed::<52>(v.add(columns[i], v.splat(LIMB_MASK)));
        let lowest = v.limb_factor(v.splat(P::LIMBS[0]));
        columns[i + 1] = v.mul_add_high(v.add(columns[i + 1], carry), lowest, quotient);
    }
    each!(V, j < M => {
        if V::CONVERTS || j > 0 {
            let limb = v.limb_factor(v.splat(P::LIMBS[j]));
            (columns[i + j], columns[i + j + 1]) =
                v.mul_add(columns[i + j], columns[i + j + 1], limb, quotient);
        }
    });
    if V::CONVERTS {
        columns[i + 1] = v.add(columns[i + 1], v.shift_right_signed::<52>(columns[i]));
    }
}

/// Implements [`Shape::fold`] with t = ⌊top / 2^BITS⌋, on the limbs, plus twice the prime for a
/// difference.
#[inline(always)]
fn fold<V: Vectors, P: Shape<M>, const M: usize, const BITS: u32, const LESS: Limb>(
    v: V,
    limbs: &mut [V::Word; M],
) {
    let two = 2 * LESS;
    let top = v.add(limbs[M - 1], v.splat(two * P::LIMBS[M - 1]));
    let t = v.shift_right_signed::<BITS>(top);
    each!(V, j < M => limbs[j] = v.sub(limbs[j], v.multiple(P::LIMBS[j], two, t)));
}

/// Implements `Wide` for a token and a prime of M limbs of 52 bits and n of 64.
macro_rules! wide {
    ($token:ty, ($($features:literal)?), $spread:ident $linear:ident) => {
        // A sum of 64 products is less than 2⁷⁷⁰ in magnitude, so p·2³⁹⁶ makes it nonnegative and
        // adds less than 2³⁶² to the residue.
        wide!(@ $token, ($($features)?), Bls12Base 8 16 6 offset 404 folds 0 by_product
            $spread);
        // A sum of 64 products is less than 106·2⁵¹⁰ in magnitude, so r·2²⁶² makes it nonnegative;
        // the residue is less than (3.3 + 3.7 + 1)·2²⁵⁵, which two folds bring below 1.1·2²⁵⁵.
        wide!(@ $token, ($($features)?), Bls12Scalar 5 10 4 offset 262 folds 2 by_shift
            $linear);
    };
    (@no_spread $token:ty, ($($features:literal)?)) => {};
    (@no_linear $token:ty, ($($features:literal)?)) => {};
    (@linear $token:ty, ($($features:literal)?)) => {
        const LINEAR_SHIFT: u32 = 4;

        #[inline(always)]
        fn import_linear(self, words: [&[Limb; 4]; LANES]) -> [Lanes; 5] {
            $(#[target_feature(enable = $features)])?
            #[inline]
            fn import(v: $token, words: [&[Limb; 4]; LANES]) -> [Lanes; 5] {
                fourier::import(v, words)
            }
            // SAFETY: see above.
            unsafe { import(self, words) }
        }

        #[inline(always)]
        fn export_linear(self, element: &[Lanes; 5], words: &mut [[Limb; 4]]) {
            $(#[target_feature(enable = $features)])?
            #[inline]
            fn export(v: $token, element: &[Lanes; 5], words: &mut [[Limb; 4]]) {
                fourier::export(v, element, words);
            }
            // SAFETY: see above.
            unsafe { export(self, element, words) }
        }

        #[inline(always)]
        fn butterflies<const K: u32>(
            self,
            points: &mut [[Lanes; 5]; POINTS],
            factors: &[[Lanes; 5]; POINTS],
            one: bool,
        ) {
            $(#[target_feature(enable = $features)])?
            #[inline(never)]
            fn layers<const K: u32>(
                v: $token,
                points: &mut [[Lanes; 5]; POINTS],
                factors: &[[Lanes; 5]; POINTS],
                one: bool,
            ) {
                fourier::layers::<_, K>(v, points, factors, one);
            }
            // SAFETY: see above.
            unsafe { layers::<K>(self, points, factors, one) }
        }
    };
    (@spread $token:ty, ($($features:literal)?)) => {
        #[inline(always)]
        fn mul_complex(self, a: &[[Lanes; 8]; 2], b: &[[Lanes; 8]; 2]) -> [[Lanes; 8]; 2] {
            $(#[target_feature(enable = $features)])?
            #[inline(never)]
            fn mul(v: $token, a: &[[Lanes; 8]; 2], b: &[[Lanes; 8]; 2]) -> [[Lanes; 8]; 2] {
                complex::mul(v, a, b)
            }
            // SAFETY: see above.
            unsafe { mul(self, a, b) }
        }

        #[inline(always)]
        fn square_complex(self, a: &[[Lanes; 8]; 2]) -> [[Lanes; 8]; 2] {
            $(#[target_feature(enable = $features)])?
            #[inline(never)]
            fn square(v: $token, a: &[[Lanes; 8]; 2]) -> [[Lanes; 8]; 2] {
                complex::square(v, a)
            }
            // SAFETY: see above.
            unsafe { square(self, a) }
        }

        #[inline(always)]
        fn reduce_complex_wide(self, wide: &[[Lanes; 16]; 2]) -> [[Lanes; 8]; 2] {
            $(#[target_feature(enable = $features)])?
            #[inline(never)]
            fn reduce(v: $token, wide: &[[Lanes; 16]; 2]) -> [[Lanes; 8]; 2] {
                complex::reduce(v, wide, &const { shifted(&Bls12Base::MODULUS, 404) })
            }
            // SAFETY: see above.
            unsafe { reduce(self, wide) }
        }

        #[inline(always)]
        fn add_factor(self, a: &[Lanes; 8], b: &[Lanes; 8]) -> [Lanes; 8] {
            $(#[target_feature(enable = $features)])?
            #[inline]
            fn add(v: $token, a: &[Lanes; 8], b: &[Lanes; 8]) -> [Lanes; 8] {
                complex::add_factor(v, a, b)
            }
            // SAFETY: see above.
            unsafe { add(self, a, b) }
        }

        #[inline]
        fn mul_complex_wide(self, a: &[[Lanes; 8]; 2], b: &[[Lanes; 8]; 2]) -> [[Lanes; 16]; 2] {
            let low = Wide::<Bls12Base>::mul_wide(self, &a[0], &b[0]);
            let high = Wide::<Bls12Base>::mul_wide(self, &a[1], &b[1]);
            let both = Wide::<Bls12Base>::mul_wide(
                self,
                &Wide::<Bls12Base>::add_factor(self, &a[0], &a[1]),
                &Wide::<Bls12Base>::add_factor(self, &b[0], &b[1]),
            );
            let imaginary = Wide::<Bls12Base>::sub_wide(
                self,
                &Wide::<Bls12Base>::sub_wide(self, &both, &low),
                &high,
            );
            [Wide::<Bls12Base>::sub_wide(self, &low, &high), imaginary]
        }

        fn spread<T: SpreadTask>(self, task: T) -> Option<T::Output> {
            Some(task.run(self))
        }
    };
    // Converts between R₆₄ = 2^(64·n) and R = 2^(52·M) by a product.
    (@by_product $token:ty, ($($features:literal)?), $prime:ident $m:literal $n:literal) => {
        fn import(self, words: &[<$prime as Prime>::Words]) -> [Lanes; $m] {
            // From R₆₄ = 2^(64·n) to R = 2^(52·M): times R / R₆₄, and times another R for the
            // product.
            const ENTER: [Limb; $m] = power_of_two(
                &<$prime as Shape<$m>>::LIMBS,
                2 * LANE_LIMB_BITS * $m - 64 * $n,
            );
            let mut element = [Lanes::ZERO; $m];
            for (lane, number) in words.iter().enumerate() {
                lanes::load(&mut element, lane, number);
            }
            Arithmetic::<$prime>::mul(self, &element, &residue::splat(&ENTER))
        }

        fn export(self, element: &[Lanes; $m], words: &mut [<$prime as Prime>::Words]) {
            const LEAVE: [Limb; $m] = power_of_two(&<$prime as Shape<$m>>::LIMBS, 64 * $n);
            let mut words_form =
                Arithmetic::<$prime>::mul(self, element, &residue::splat(&LEAVE));
            lanes::reduce_once(&mut words_form, &residue::splat(&<$prime as Shape<$m>>::LIMBS));
            for (lane, number) in words.iter_mut().enumerate() {
                lanes::store(number, &words_form, lane);
            }
        }
    };
    // Converts by a shift, since R is 16 times R₆₄.
    (@by_shift $token:ty, ($($features:literal)?), $prime:ident $m:literal $n:literal) => {
        #[inline(always)]
        fn import(self, words: &[<$prime as Prime>::Words]) -> [Lanes; $m] {
            $(#[target_feature(enable = $features)])?
            #[inline(never)]
            fn import(words: &[<$prime as Prime>::Words]) -> [Lanes; $m] {
                shift::import(words)
            }
            // SAFETY: see above.
            unsafe { import(words) }
        }

        #[inline(always)]
        fn import_shared(self, words: &<$prime as Prime>::Words) -> [Lanes; $m] {
            shift::import_shared(words)
        }

        #[inline(always)]
        fn export(self, element: &[Lanes; $m], words: &mut [<$prime as Prime>::Words]) {
            $(#[target_feature(enable = $features)])?
            #[inline(never)]
            fn export(element: &[Lanes; $m], words: &mut [<$prime as Prime>::Words]) {
                shift::export(element, words);
            }
            // SAFETY: see above.
            unsafe { export(element, words) }
        }
    };
    (@ $token:ty, ($($features:literal)?), $prime:ident $m:literal $columns:literal $n:literal
        offset $offset:literal folds $folds:literal $memory:ident $spread:ident) => {
        // SAFETY of every call below: the token proves the instructions that the function is
        // compiled for.
        #[allow(unused_unsafe, reason = "a function without special instructions is safe")]
        impl Wide<$prime> for $token {
            type Wide = [Lanes; $columns];

            wide!(@$memory $token, ($($features)?), $prime $m $n);

            wide!(@$spread $token, ($($features)?));

            const PACKED: usize = LANES;

            #[inline(always)]
            fn gather(self, memory: &[Limb], at: &[usize]) -> [Lanes; $m] {
                $(#[target_feature(enable = $features)])?
                #[inline]
                fn gather(v: $token, memory: &[Limb], at: &[usize]) -> [Lanes; $m] {
                    linear::gather(v, memory, at)
                }
                // SAFETY: see above.
                unsafe { gather(self, memory, at) }
            }

            #[inline(always)]
            fn scatter(self, element: &[Lanes; $m], memory: &mut [Limb], at: &[usize]) {
                $(#[target_feature(enable = $features)])?
                #[inline]
                fn scatter(v: $token, element: &[Lanes; $m], memory: &mut [Limb], at: &[usize]) {
                    linear::scatter(v, element, memory, at);
                }
                // SAFETY: see above.
                unsafe { scatter(self, element, memory, at) }
            }

            #[inline(always)]
            fn mul_wide(self, a: &[Lanes; $m], b: &[Lanes; $m]) -> Self::Wide {
                $(#[target_feature(enable = $features)])?
                #[inline(never)]
                fn mul(v: $token, a: &[Lanes; $m], b: &[Lanes; $m]) -> [Lanes; $columns] {
                    store(v, columns::product::<_, $prime, $m>(v, a, b))
                }
                // SAFETY: see above.
                unsafe { mul(self, a, b) }
            }

            #[inline(always)]
            fn add_wide(self, a: &Self::Wide, b: &Self::Wide) -> Self::Wide {
                $(#[target_feature(enable = $features)])?
                #[inline]
                fn add(
                    v: $token,
                    a: &[Lanes; $columns],
                    b: &[Lanes; $columns],
                ) -> [Lanes; $columns] {
                    each_column::<_, false, $columns>(v, a, b)
                }
                // SAFETY: see above.
                unsafe { add(self, a, b) }
            }

            #[inline(always)]
            fn sub_wide(self, a: &Self::Wide, b: &Self::Wide) -> Self::Wide {
                $(#[target_feature(enable = $features)])?
                #[inline]
                fn sub(
                    v: $token,
                    a: &[Lanes; $columns],
                    b: &[Lanes; $columns],
                ) -> [Lanes; $columns] {
                    each_column::<_, true, $columns>(v, a, b)
                }
                // SAFETY: see above.
                unsafe { sub(self, a, b) }
            }

            #[inline(always)]
            fn reduce_wide(self, wide: &Self::Wide) -> [Lanes; $m] {
                $(#[target_feature(enable = $features)])?
                #[inline(never)]
                fn reduce(v: $token, wide: &[Lanes; $columns]) -> [Lanes; $m] {
                    const OFFSET: [Limb; MAX_COLUMNS] = shifted(&$prime::MODULUS, $offset);
                    columns::reduce_columns::<_, $prime, $m, $folds>(v, wide, &OFFSET)
                }
                // SAFETY: see above.
                unsafe { reduce(self, wide) }
            }
        }
    };
}

#[cfg(any(test, not(target_arch = "x86_64")))]
wide!(lanes::Portable, (), spread linear);

#[cfg(all(target_arch = "x86_64", feature = "avx512"))]
mod x86_64 {
    use super::super::super::super::cpu::{Avx512, Ifma};
    use super::*;

    wide!(Avx512, ("avx512f,avx512dq"), no_spread no_linear);
    wide!(Ifma, ("avx512f,avx512dq,avx512ifma"), spread linear);
}

/// Computes a + b or a − b column by column. Without closures, which would not be compiled for the
/// caller's instructions.
#[inline(always)]
fn each_column<V: Vectors, const SUBTRACT: bool, const COLUMNS: usize>(
    v: V,
    a: &[Lanes; COLUMNS],
    b: &[Lanes; COLUMNS],
) -> [Lanes; COLUMNS] {
    let mut out = [Lanes::ZERO; COLUMNS];
    for (out, (a, b)) in out.iter_mut().zip(a.iter().zip(b)) {
        let (a, b) = (v.load(a), v.load(b));
        v.store(out, if SUBTRACT { v.sub(a, b) } else { v.add(a, b) });
    }
    out
}

/// Stores the first columns of a product.
#[inline(always)]
fn store<V: Vectors, const COLUMNS: usize>(v: V, columns: Columns<V>) -> [Lanes; COLUMNS] {
    let mut out = [Lanes::ZERO; COLUMNS];
    each!(V, j < 8 => {
        if 2 * j < COLUMNS {
            v.store(&mut out[2 * j], columns[2 * j]);
            v.store(&mut out[2 * j + 1], columns[2 * j + 1]);
        }
    });
    out
}
