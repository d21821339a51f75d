//! Products modulo the primes of BLS12-381, which have no special form, that are summed before
//! reduction.
//!
//! In a tower of extension fields an element is a sum of products, and a reduction costs as much as
//! a product, so each sum is reduced only once (Aranha, Karabina, Longa, Gebotys, López, Faster
//! explicit formulas for computing pairings over ordinary curves, 2011, section 3).

use core::fmt::Debug;

use super::super::backends::{with_one, with_vectors};
use super::super::lanes::{self, LANES};
use super::super::words::{self, Limb};
use super::{Arithmetic, Bls12Base, Bls12Scalar, Combination, Limbs, Order, Prime};

/// Declares the methods of [`Wide`] on numbers a₀ + a₁·i with i² = −1 for a prime: in formulas, or as
/// functions that formulas call.
macro_rules! complex {
    ($inline:meta, $prime:ident) => {
        /// Returns a + b of numbers a₀ + a₁·i with i² = −1.
        #[$inline]
        fn add_complex(self, a: &[Self::Element; 2], b: &[Self::Element; 2]) -> [Self::Element; 2] {
            [
                Arithmetic::<$prime>::add(self, &a[0], &b[0]),
                Arithmetic::<$prime>::add(self, &a[1], &b[1]),
            ]
        }

        /// Returns a − b.
        #[$inline]
        fn sub_complex(self, a: &[Self::Element; 2], b: &[Self::Element; 2]) -> [Self::Element; 2] {
            [
                Arithmetic::<$prime>::sub(self, &a[0], &b[0]),
                Arithmetic::<$prime>::sub(self, &a[1], &b[1]),
            ]
        }

        /// Returns (1 + i)·a.
        #[$inline]
        fn turn_complex(self, a: &[Self::Element; 2]) -> [Self::Element; 2] {
            [
                Arithmetic::<$prime>::sub(self, &a[0], &a[1]),
                Arithmetic::<$prime>::add(self, &a[0], &a[1]),
            ]
        }

        /// Returns a + (1 + i)·b.
        #[$inline]
        fn add_turned(self, a: &[Self::Element; 2], b: &[Self::Element; 2]) -> [Self::Element; 2] {
            Wide::<$prime>::add_complex(self, a, &Wide::<$prime>::turn_complex(self, b))
        }

        /// Returns 3a + 2b.
        #[$inline]
        fn thrice_more(self, a: &[Self::Element; 2], b: &[Self::Element; 2]) -> [Self::Element; 2] {
            let sum = Wide::<$prime>::add_complex(self, a, b);
            Wide::<$prime>::add_complex(self, &Wide::<$prime>::add_complex(self, &sum, &sum), a)
        }

        /// Returns 3a − 2b.
        #[$inline]
        fn thrice_less(self, a: &[Self::Element; 2], b: &[Self::Element; 2]) -> [Self::Element; 2] {
            let difference = Wide::<$prime>::sub_complex(self, a, b);
            Wide::<$prime>::add_complex(
                self,
                &Wide::<$prime>::add_complex(self, &difference, &difference),
                a,
            )
        }

        /// Returns (a₀ + a₁·i)·(b₀ + b₁·i) for i² = −1: three products, two reductions.
        #[$inline]
        fn mul_complex(self, a: &[Self::Element; 2], b: &[Self::Element; 2]) -> [Self::Element; 2] {
            Wide::<$prime>::mul_complex_wide(self, a, b)
                .map(|part| Wide::<$prime>::reduce_wide(self, &part))
        }

        /// Returns (a₀ + a₁·i)², by (a₀ + a₁)·(a₀ − a₁) and 2·a₀·a₁.
        #[$inline]
        fn square_complex(self, a: &[Self::Element; 2]) -> [Self::Element; 2] {
            let real = Arithmetic::<$prime>::mul(
                self,
                &Arithmetic::<$prime>::add(self, &a[0], &a[1]),
                &Arithmetic::<$prime>::sub(self, &a[0], &a[1]),
            );
            [
                real,
                Arithmetic::<$prime>::mul(self, &Arithmetic::<$prime>::double(self, &a[0]), &a[1]),
            ]
        }

        /// Returns (a + b·t)² for t² = 1 + i: a² + (1 + i)·b² and 2·a·b = (a + b)² − a² − b².
        #[$inline]
        fn square_quartic(
            self,
            a: &[Self::Element; 2],
            b: &[Self::Element; 2],
        ) -> [[Self::Element; 2]; 2] {
            let both =
                Wide::<$prime>::square_complex(self, &Wide::<$prime>::add_complex(self, a, b));
            let (aa, bb) =
                (Wide::<$prime>::square_complex(self, a), Wide::<$prime>::square_complex(self, b));
            [
                Wide::<$prime>::add_turned(self, &aa, &bb),
                Wide::<$prime>::sub_complex(
                    self,
                    &Wide::<$prime>::sub_complex(self, &both, &aa),
                    &bb,
                ),
            ]
        }

        /// Returns the same product, unreduced (Karatsuba and Ofman, 1962).
        #[$inline]
        fn mul_complex_wide(
            self,
            a: &[Self::Element; 2],
            b: &[Self::Element; 2],
        ) -> [Self::Wide; 2] {
            let low = Wide::<$prime>::mul_wide(self, &a[0], &b[0]);
            let high = Wide::<$prime>::mul_wide(self, &a[1], &b[1]);
            let both = Wide::<$prime>::mul_wide(
                self,
                &Arithmetic::<$prime>::add(self, &a[0], &a[1]),
                &Arithmetic::<$prime>::add(self, &b[0], &b[1]),
            );
            let imaginary =
                Wide::<$prime>::sub_wide(self, &Wide::<$prime>::sub_wide(self, &both, &low), &high);
            [Wide::<$prime>::sub_wide(self, &low, &high), imaginary]
        }

        /// Returns the residues of both parts.
        #[$inline]
        fn reduce_complex_wide(self, wide: &[Self::Wide; 2]) -> [Self::Element; 2] {
            let [real, imaginary] = wide;
            [Wide::<$prime>::reduce_wide(self, real), Wide::<$prime>::reduce_wide(self, imaginary)]
        }

        /// Returns a·b + c·d of numbers a₀ + a₁·i with i² = −1.
        #[$inline]
        fn sum_of_complex_products(
            self,
            [a, b]: [&[Self::Element; 2]; 2],
            [c, d]: [&[Self::Element; 2]; 2],
        ) -> [Self::Element; 2] {
            let mut sum = Wide::<$prime>::mul_complex_wide(self, a, b);
            Wide::<$prime>::add_complex_wide(
                self,
                &mut sum,
                &Wide::<$prime>::mul_complex_wide(self, c, d),
            );
            Wide::<$prime>::reduce_complex_wide(self, &sum)
        }

        /// Returns a·b − c·d.
        #[$inline]
        fn difference_of_complex_products(
            self,
            [a, b]: [&[Self::Element; 2]; 2],
            [c, d]: [&[Self::Element; 2]; 2],
        ) -> [Self::Element; 2] {
            let mut difference = Wide::<$prime>::mul_complex_wide(self, a, b);
            Wide::<$prime>::sub_complex_wide(
                self,
                &mut difference,
                &Wide::<$prime>::mul_complex_wide(self, c, d),
            );
            Wide::<$prime>::reduce_complex_wide(self, &difference)
        }

        /// Computes a ← a − b, on unreduced products.
        #[$inline]
        fn sub_complex_wide(self, a: &mut [Self::Wide; 2], b: &[Self::Wide; 2]) {
            *a = [
                Wide::<$prime>::sub_wide(self, &a[0], &b[0]),
                Wide::<$prime>::sub_wide(self, &a[1], &b[1]),
            ];
        }

        /// Computes a ← a + b, on unreduced products.
        #[$inline]
        fn add_complex_wide(self, a: &mut [Self::Wide; 2], b: &[Self::Wide; 2]) {
            *a = [
                Wide::<$prime>::add_wide(self, &a[0], &b[0]),
                Wide::<$prime>::add_wide(self, &a[1], &b[1]),
            ];
        }

        /// Computes a ← a + (1 + i)·b.
        #[$inline]
        fn add_turned_wide(self, a: &mut [Self::Wide; 2], b: &[Self::Wide; 2]) {
            let (real, imaginary) = (
                Wide::<$prime>::sub_wide(self, &b[0], &b[1]),
                Wide::<$prime>::add_wide(self, &b[0], &b[1]),
            );
            Wide::<$prime>::add_complex_wide(self, a, &[real, imaginary]);
        }

        /// Computes a ← a − b − c.
        #[$inline]
        fn sub_both_wide(self, a: &mut [Self::Wide; 2], b: &[Self::Wide; 2], c: &[Self::Wide; 2]) {
            for (a, (b, c)) in a.iter_mut().zip(b.iter().zip(c)) {
                *a = Wide::<$prime>::sub_wide(self, &Wide::<$prime>::sub_wide(self, a, b), c);
            }
        }
    };
}
pub(super) use complex;

/// The maximum number of values that [`Wide::butterflies`] joins.
pub const POINTS: usize = 16;

/// Arithmetic with optionally unreduced products.
///
/// A [`Wide`](Self::Wide) represents a sum of at most 64 products in total, added or subtracted.
/// The value to be reduced, as an integer and for factors less than the prime, is less than 19·p²
/// in magnitude; products that cancel do not count.
pub trait Wide<P: Prime>: Arithmetic<P> {
    /// Sums of products, one of each number.
    type Wide: Copy + Debug;

    /// Loads residues from words in memory: less than the prime, and times R = 2^(64·n) modulo the
    /// prime, for every shape.
    fn import(self, words: &[P::Words]) -> Self::Element;

    /// Loads the same residue in each of the numbers, from the words of [`import`](Self::import).
    #[inline(always)]
    fn import_shared(self, words: &P::Words) -> Self::Element {
        self.import(&[*words; LANES][..Self::WIDTH])
    }

    /// Writes the words that [`import`](Self::import) reads.
    fn export(self, element: &Self::Element, words: &mut [P::Words]);

    /// [`import_linear`](Self::import_linear) returns residues times 2^−`LINEAR_SHIFT`.
    const LINEAR_SHIFT: u32 = 0;

    /// Loads residues from words below the prime for [`butterflies`](Self::butterflies) and other
    /// linear operations: with a factor that [`export_linear`](Self::export_linear) undoes. Those
    /// beyond [`WIDTH`](Arithmetic::WIDTH) are ignored.
    #[inline(always)]
    fn import_linear(self, words: [&P::Words; LANES]) -> Self::Element {
        if Self::WIDTH == 1 {
            return self.import(core::slice::from_ref(words[0]));
        }
        self.import(&words.map(|words| *words))
    }

    /// Writes the words that [`import_linear`](Self::import_linear) reads, of residues or after at
    /// most four layers of [`butterflies`](Self::butterflies).
    #[inline(always)]
    fn export_linear(self, element: &Self::Element, words: &mut [P::Words]) {
        self.export(element, words);
    }

    /// Computes K ≤ 4 layers of a Fourier transform on the first 2^K points, which
    /// [`import_linear`](Self::import_linear) has returned: (a, b) ← (a + b·w, a − b·w), where the
    /// points of a pair are 2^i apart in layer i. That has 2^i factors w, in the form of
    /// [`import`](Self::import) and from place 2^i on; the first is 1 if `one` is set, which is
    /// public.
    #[inline(always)]
    fn butterflies<const K: u32>(
        self,
        points: &mut [Self::Element; POINTS],
        factors: &[Self::Element; POINTS],
        one: bool,
    ) {
        for layer in 0..K {
            let apart = 1 << layer;
            for low in (0..1 << K).filter(|i| i & apart == 0) {
                let factor = low % apart;
                let product = if one && factor == 0 {
                    points[low + apart]
                } else {
                    self.mul(&points[low + apart], &factors[apart + factor])
                };
                points[low + apart] = self.sub(&points[low], &product);
                points[low] = self.add(&points[low], &product);
            }
        }
    }

    /// Writes the square of an element of the cyclotomic subgroup of Fp12 for i² = −1, v³ = 1 + i
    /// and w² = v to `out`, and returns true, if the backend has a kernel for it: words in the form
    /// of [`import`](Self::import), the coefficients of 1, v, v², w, v·w and v²·w.
    #[inline(always)]
    fn square_cyclotomic_words(
        self,
        _a: &[[P::Words; 2]; 6],
        _out: &mut [[P::Words; 2]; 6],
    ) -> bool {
        false
    }

    /// Limbs of one residue in the backend's own memory form, which only it reads.
    const PACKED: usize = size_of::<P::Words>() / size_of::<Limb>();

    /// Loads residues that [`scatter`](Self::scatter) has written: [`PACKED`](Self::PACKED) limbs
    /// at each index in `at`, which has [`WIDTH`](Arithmetic::WIDTH) indices.
    #[inline(always)]
    fn gather(self, memory: &[Limb], at: &[usize]) -> Self::Element {
        let mut words = P::Words::ZERO;
        words.as_mut().copy_from_slice(&memory[at[0]..][..Self::PACKED]);
        self.import(&[words])
    }

    /// Writes the residues of the first `at.len()` numbers to these indices.
    #[inline(always)]
    fn scatter(self, element: &Self::Element, memory: &mut [Limb], at: &[usize]) {
        let mut words = [P::Words::ZERO];
        self.export(element, &mut words);
        memory[at[0]..][..Self::PACKED].copy_from_slice(words[0].as_ref());
    }

    /// Runs a task on one element side by side, if the backend has [`Spread`].
    fn spread<T: SpreadTask>(self, _task: T) -> Option<T::Output> {
        None
    }

    /// Returns a·b.
    fn mul_wide(self, a: &Self::Element, b: &Self::Element) -> Self::Wide;

    /// Returns a + b.
    fn add_wide(self, a: &Self::Wide, b: &Self::Wide) -> Self::Wide;

    /// Returns a − b.
    fn sub_wide(self, a: &Self::Wide, b: &Self::Wide) -> Self::Wide;

    /// Returns the residue.
    fn reduce_wide(self, wide: &Self::Wide) -> Self::Element;

    /// Returns a·b + c·d.
    #[inline(always)]
    fn sum_of_products(
        self,
        [a, b]: [&Self::Element; 2],
        [c, d]: [&Self::Element; 2],
    ) -> Self::Element {
        self.reduce_wide(&self.add_wide(&self.mul_wide(a, b), &self.mul_wide(c, d)))
    }

    /// Returns a·b − c·d.
    #[inline(always)]
    fn difference_of_products(
        self,
        [a, b]: [&Self::Element; 2],
        [c, d]: [&Self::Element; 2],
    ) -> Self::Element {
        self.reduce_wide(&self.sub_wide(&self.mul_wide(a, b), &self.mul_wide(c, d)))
    }

    /// Returns a + b as a factor of unreduced products, and for nothing else; the factors of a
    /// product may contain at most four residues in total.
    #[inline(always)]
    fn add_factor(self, a: &Self::Element, b: &Self::Element) -> Self::Element {
        self.add(a, b)
    }

    complex!(inline(always), P);
}

/// Arithmetic on coefficients side by side.
///
/// A *coefficient* is an integer below 1.002p that represents a residue. A *factor* is one below
/// 64p; it may only be multiplied, or added to another factor that is.
pub trait Spread: Wide<Bls12Base> {
    /// Loads words of [`import`](Wide::import) as factors: as the residues times 2^−32.
    fn import_factors(self, words: &[<Bls12Base as Prime>::Words; LANES]) -> Self::Element;

    /// Returns Σ left·right, each product with its own order of the lanes: at most six, whose sum is
    /// below 2¹²·p² in each lane.
    fn lane_products(
        self,
        left: [&Self::Element; 2],
        right: [&Self::Element; 2],
        orders: &[Order],
    ) -> Self::Wide;

    /// Returns Σ left·right, where a right factor is the same lane of each of three vectors, and each
    /// product has the order of the lanes of its left factor. Time does not depend on values, but on
    /// `lane`.
    fn products_by_lane(
        self,
        left: [&Self::Element; 2],
        right: [&Self::Element; 3],
        lane: usize,
        orders: &[Order; 3],
    ) -> Self::Wide;

    /// Returns the same as [`lane_products`](Self::lane_products), reduced to coefficients.
    fn reduced_lane_products(
        self,
        left: [&Self::Element; 2],
        right: [&Self::Element; 2],
        orders: &[Order],
    ) -> Self::Element;

    /// Returns the coefficients of both parts of a sum of products in Fp2: from the sums of the
    /// products of real parts, of imaginary parts, and of the sums of both.
    fn reduce_complex(self, sums: [&Self::Wide; 3]) -> [Self::Element; 2];

    /// Squares an element of the cyclotomic subgroup of Fp12 `times` times: vectors of the real and
    /// of the imaginary parts of its coefficients of 1, v, v², w, v·w and v²·w.
    fn square_cyclotomic(self, parts: &mut [Self::Element; 2], times: usize);

    /// Returns a combination of coefficients, as coefficients.
    fn combine<C: Combination<N>, const N: usize>(
        self,
        vectors: [&Self::Element; N],
    ) -> Self::Element;

    /// Returns a combination of coefficients, as factors.
    fn factors<C: Combination<N>, const N: usize>(
        self,
        vectors: [&Self::Element; N],
    ) -> Self::Element;
}

/// A task on coefficients side by side.
pub trait SpreadTask {
    /// The result of the task.
    type Output;

    /// Runs the task on a backend.
    fn run<A: Spread>(self, arithmetic: A) -> Self::Output;
}

/// Runs a task on a backend, if it has [`Spread`].
pub fn run_spread<T: SpreadTask>(backend: lanes::Backend, task: T) -> Option<T::Output> {
    with_vectors!(backend, token => super::prime::apart(|| Wide::<Bls12Base>::spread(token, task)))
}

/// A prime without a special form.
pub trait Dense: Prime {
    /// Like [`run_one`](Prime::run_one), with unreduced products.
    fn run_one_wide<T: WideTask<Self>>(backend: words::Backend, task: T) -> T::Output;

    /// Like [`run_eight`](Prime::run_eight), with unreduced products, for backends with vectors.
    ///
    /// # Panics
    /// With the portable backend, except in the library's own tests.
    fn run_eight_wide<T: WideTask<Self>>(backend: lanes::Backend, task: T) -> T::Output;

    /// Returns a + b, on words in the form of [`Wide::import`]. This takes less time than the
    /// choice of a backend.
    fn add_words(a: &Self::Words, b: &Self::Words) -> Self::Words;

    /// Returns a − b, as [`add_words`](Self::add_words).
    fn sub_words(a: &Self::Words, b: &Self::Words) -> Self::Words;

    /// Returns a·b on the best backend, on words in the form of [`Wide::import`].
    fn mul_words(a: &Self::Words, b: &Self::Words) -> Self::Words;

    /// Returns a², as [`mul_words`](Self::mul_words).
    fn square_words(a: &Self::Words) -> Self::Words;

    /// Returns (a₀ + a₁·i)·(b₀ + b₁·i) for i² = −1, as [`mul_words`](Self::mul_words).
    fn mul_complex_words(a: &[Self::Words; 2], b: &[Self::Words; 2]) -> [Self::Words; 2];

    /// Returns (a₀ + a₁·i)², as [`mul_words`](Self::mul_words).
    fn square_complex_words(a: &[Self::Words; 2]) -> [Self::Words; 2];

    /// Calls [`Wide::square_cyclotomic_words`] on the best backend.
    fn square_cyclotomic_words(a: &[[Self::Words; 2]; 6], out: &mut [[Self::Words; 2]; 6]) -> bool;
}

/// A task that runs on any backend with unreduced products.
pub trait WideTask<P: Dense> {
    /// The result of the task.
    type Output;

    /// Runs the task on one backend.
    fn run<A: Wide<P>>(self, arithmetic: A) -> Self::Output;
}

/// Evaluates the first function of two numbers on x86-64, and the second elsewhere.
macro_rules! on_x86_64 {
    ($kernel:ident, $elsewhere:ident; $a:ident $b:ident) => {{
        #[cfg(all(target_arch = "x86_64", not(miri)))]
        {
            super::adx::$kernel($a, $b)
        }
        #[cfg(not(all(target_arch = "x86_64", not(miri))))]
        {
            super::form::$elsewhere($a, $b, &Self::MODULUS)
        }
    }};
}

macro_rules! dense {
    ($($prime:ident $add:ident $sub:ident;)+) => {$(
        impl Dense for $prime {
            #[inline]
            fn run_one_wide<T: WideTask<Self>>(backend: words::Backend, task: T) -> T::Output {
                with_one!(backend, token => task.run(token))
            }

            #[inline]
            fn run_eight_wide<T: WideTask<Self>>(backend: lanes::Backend, task: T) -> T::Output {
                with_vectors!(backend, token => super::prime::apart(|| task.run(token)))
            }

            #[inline]
            fn add_words(a: &Self::Words, b: &Self::Words) -> Self::Words {
                on_x86_64!($add, add; a b)
            }

            #[inline]
            fn sub_words(a: &Self::Words, b: &Self::Words) -> Self::Words {
                on_x86_64!($sub, sub; a b)
            }

            #[inline]
            fn mul_words(a: &Self::Words, b: &Self::Words) -> Self::Words {
                let backend = words::Backend::best();
                with_one!(backend, token => Arithmetic::<Self>::mul(token, a, b))
            }

            #[inline]
            fn square_words(a: &Self::Words) -> Self::Words {
                let backend = words::Backend::best();
                with_one!(backend, token => Arithmetic::<Self>::square(token, a))
            }

            #[inline]
            fn mul_complex_words(a: &[Self::Words; 2], b: &[Self::Words; 2]) -> [Self::Words; 2] {
                let backend = words::Backend::best();
                with_one!(backend, token => Wide::<Self>::mul_complex(token, a, b))
            }

            #[inline]
            fn square_complex_words(a: &[Self::Words; 2]) -> [Self::Words; 2] {
                let backend = words::Backend::best();
                with_one!(backend, token => Wide::<Self>::square_complex(token, a))
            }

            #[inline]
            fn square_cyclotomic_words(
                a: &[[Self::Words; 2]; 6],
                out: &mut [[Self::Words; 2]; 6],
            ) -> bool {
                let backend = words::Backend::best();
                with_one!(backend, token => Wide::<Self>::square_cyclotomic_words(token, a, out))
            }
        }
    )+};
}

dense! {
    Bls12Base add_6 sub_6;
    Bls12Scalar add_4 sub_4;
}
