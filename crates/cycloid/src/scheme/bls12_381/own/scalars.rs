//! The field Fr on the library's own arithmetic.

use core::slice;

use super::super::Fr;
#[cfg(feature = "group")]
use super::super::backend::FieldConstants;
use super::super::backend::{Formula, Integer, Scalars};
use super::{Cycloid, formula};
use crate::machine::ct;
use crate::machine::field::{Bls12Scalar, Dense, Limbs, Wide, WideTask};
use crate::machine::words::Limb;
use crate::machine::{lanes, lanes::Multiplication, words};
use crate::math::bls12_381::{
    self, FEWEST_INVERSES, FEWEST_PRODUCTS, FEWEST_VALUES, ScalarWords, Slot,
};
use crate::math::field::{Element, MAX_WIDTH};

/// An operation on one element or two.
#[derive(Clone, Copy)]
enum Operation {
    Load,
    Store,
    Invert,
}

struct Compute<'a> {
    operation: Operation,
    a: &'a ScalarWords,
}

impl WideTask<Bls12Scalar> for Compute<'_> {
    type Output = ScalarWords;

    #[inline(always)]
    fn run<A: Wide<Bls12Scalar>>(self, f: A) -> ScalarWords {
        let a = slice::from_ref(self.a);
        let mut out = [ScalarWords::ZERO];
        match self.operation {
            Operation::Load => f.export(&f.load(a), &mut out),
            Operation::Store => f.store(&f.import(a), &mut out),
            Operation::Invert => {
                f.export(Element::from_raw(f, f.import(a)).invert().raw(), &mut out);
            }
        }
        out[0]
    }
}

#[inline(always)]
fn compute(operation: Operation, a: &ScalarWords) -> ScalarWords {
    Bls12Scalar::run_one_wide(words::Backend::best(), Compute { operation, a })
}

/// Computes a power, with time that depends on the exponent or on its length only.
struct Power<'a> {
    a: &'a ScalarWords,
    exponent: &'a [Limb],
    is_public: bool,
}

impl WideTask<Bls12Scalar> for Power<'_> {
    type Output = ScalarWords;

    fn run<A: Wide<Bls12Scalar>>(self, f: A) -> ScalarWords {
        let base = Element::from_raw(f, f.import(slice::from_ref(self.a)));
        let power =
            if self.is_public { base.pow(self.exponent) } else { base.pow_secret(self.exponent) };
        let mut out = [ScalarWords::ZERO];
        f.export(power.raw(), &mut out);
        out[0]
    }
}

fn power(a: &ScalarWords, exponent: &[Limb], is_public: bool) -> ScalarWords {
    Bls12Scalar::run_one_wide(words::Backend::best(), Power { a, exponent, is_public })
}

/// Computes the inner product of two lists; the result is the sum of the integers.
struct InnerProduct<'a> {
    a: &'a [Fr<Cycloid>],
    b: &'a [Fr<Cycloid>],
}

impl WideTask<Bls12Scalar> for InnerProduct<'_> {
    type Output = [ScalarWords; MAX_WIDTH];

    fn run<A: Wide<Bls12Scalar>>(self, f: A) -> [ScalarWords; MAX_WIDTH] {
        bls12_381::inner_product(f, self.a, self.b)
    }
}

/// Computes aᵢ ← aᵢ·bᵢ.
struct MultiplyEach<'a> {
    a: &'a mut [Fr<Cycloid>],
    b: &'a [Fr<Cycloid>],
}

impl WideTask<Bls12Scalar> for MultiplyEach<'_> {
    type Output = ();

    fn run<A: Wide<Bls12Scalar>>(self, f: A) {
        bls12_381::multiply_each(f, self.a, self.b);
    }
}

/// Computes aᵢ ← 1/aᵢ, and 0 for 0.
struct InvertEach<'a, T> {
    a: &'a mut [T],
    scratch: &'a mut [T],
}

impl<T: Slot> WideTask<Bls12Scalar> for InvertEach<'_, T> {
    type Output = ();

    fn run<A: Wide<Bls12Scalar>>(self, f: A) {
        bls12_381::invert_each(f, self.a, self.scratch, |products| match products {
            [product] => *product = compute(Operation::Invert, product),
            products => {
                let mut scratch = [ScalarWords::ZERO; MAX_WIDTH];
                let task = InvertEach { a: products, scratch: &mut scratch };
                Bls12Scalar::run_one_wide(words::Backend::best(), task);
            }
        });
    }
}

struct Transform<'a> {
    values: &'a mut [Fr<Cycloid>],
    roots: &'a [Fr<Cycloid>],
}

impl WideTask<Bls12Scalar> for Transform<'_> {
    type Output = ();

    fn run<A: Wide<Bls12Scalar>>(self, f: A) {
        bls12_381::transform(f, self.values, self.roots);
    }
}

/// Runs a task on eight elements side by side if `eight` says so of the backend for that.
fn run_on_list<T: WideTask<Bls12Scalar>>(
    eight: impl FnOnce(lanes::Backend) -> bool,
    task: T,
) -> T::Output {
    match lanes::Backend::best() {
        Some(backend) if eight(backend) => Bls12Scalar::run_eight_wide(backend, task),
        _ => Bls12Scalar::run_one_wide(words::Backend::best(), task),
    }
}

/// Returns whether a backend multiplies a list of this length in less time side by side. A backend
/// that multiplies floating-point numbers does not: conversions take more time than it saves.
fn multiplies_eight(backend: lanes::Backend, length: usize) -> bool {
    backend.multiplication() == Multiplication::Integer && length >= FEWEST_PRODUCTS
}

/// Returns the same for inverses, where several products share conversions.
fn inverts_eight(backend: lanes::Backend, length: usize) -> bool {
    match backend.multiplication() {
        Multiplication::Integer => length >= FEWEST_INVERSES,
        _ => length >= 2 * FEWEST_INVERSES,
    }
}

impl Slot for Fr<Cycloid> {
    #[inline(always)]
    fn words(&self) -> &ScalarWords {
        self.raw()
    }

    #[inline(always)]
    fn words_mut(&mut self) -> &mut ScalarWords {
        self.raw_mut()
    }
}

impl Scalars for Cycloid {
    type Fr = ScalarWords;

    const ZERO: ScalarWords = [0; 4];

    /// 2²⁵⁶ modulo r.
    const ONE: ScalarWords = [
        0x0000_0001_ffff_fffe,
        0x5884_b7fa_0003_4802,
        0x998c_4fef_ecbc_4ff5,
        0x1824_b159_acc5_056f,
    ];

    fn fr_from_integer(integer: &Integer) -> ScalarWords {
        compute(Operation::Load, integer)
    }

    fn fr_to_integer(a: &ScalarWords) -> Integer {
        compute(Operation::Store, a)
    }

    #[inline]
    fn fr_add(a: &ScalarWords, b: &ScalarWords) -> ScalarWords {
        Bls12Scalar::add_words(a, b)
    }

    #[inline]
    fn fr_sub(a: &ScalarWords, b: &ScalarWords) -> ScalarWords {
        Bls12Scalar::sub_words(a, b)
    }

    #[inline]
    fn fr_mul(a: &ScalarWords, b: &ScalarWords) -> ScalarWords {
        Bls12Scalar::mul_words(a, b)
    }

    #[inline]
    fn fr_square(a: &ScalarWords) -> ScalarWords {
        Bls12Scalar::square_words(a)
    }

    fn fr_invert(a: &ScalarWords) -> ScalarWords {
        compute(Operation::Invert, a)
    }

    fn fr_pow(a: &ScalarWords, exponent: &[u64]) -> ScalarWords {
        power(a, exponent, false)
    }

    fn fr_pow_vartime(a: &ScalarWords, exponent: &[u64]) -> ScalarWords {
        power(a, exponent, true)
    }

    fn fr_equal(a: &ScalarWords, b: &ScalarWords) -> bool {
        let difference = a.iter().zip(b).fold(0, |any, (a, b)| any | (a ^ b));
        // The result of a comparison is public.
        ct::Mask::is_zero(difference).reveal()
    }

    fn fr_select(mask: ct::Mask, a: &ScalarWords, b: &ScalarWords) -> ScalarWords {
        core::array::from_fn(|i| mask.select(a[i], b[i]))
    }

    fn fr_wipe(a: &mut ScalarWords) {
        ct::wipe(a);
    }

    fn fr_inner_product(a: &[Fr<Self>], b: &[Fr<Self>]) -> ScalarWords {
        let sums = run_on_list(|eight| multiplies_eight(eight, a.len()), InnerProduct { a, b });
        sums.iter().fold(ScalarWords::ZERO, |sum, number| Bls12Scalar::add_words(&sum, number))
    }

    fn fr_add_many(a: &mut [Fr<Self>], b: &[Fr<Self>]) {
        for (a, b) in a.iter_mut().zip(b) {
            *a.words_mut() = Bls12Scalar::add_words(a.words(), b.words());
        }
    }

    fn fr_mul_many(a: &mut [Fr<Self>], b: &[Fr<Self>]) {
        let length = a.len();
        run_on_list(|eight| multiplies_eight(eight, length), MultiplyEach { a, b });
    }

    fn fr_invert_many(a: &mut [Fr<Self>], scratch: &mut [Fr<Self>]) {
        let length = a.len();
        run_on_list(|eight| inverts_eight(eight, length), InvertEach { a, scratch });
    }

    fn fr_transform(values: &mut [Fr<Self>], roots: &[Fr<Self>]) {
        let length = values.len();
        run_on_list(|_| length >= FEWEST_VALUES, Transform { values, roots });
    }

    fn fr_apply<F: Formula<ScalarWords, T>, const T: usize>(
        formula: &F,
        states: &mut [[Fr<Self>; T]],
    ) {
        formula::apply(formula, states);
    }
}

/// In Montgomery form: multiplied by 2²⁵⁶.
#[cfg(feature = "group")]
impl FieldConstants for Cycloid {
    const TWO_INVERSE: ScalarWords = [
        0x0000_0000_ffff_ffff,
        0xac42_5bfd_0001_a401,
        0xccc6_27f7_f65e_27fa,
        0x0c12_58ac_d662_82b7,
    ];

    const GENERATOR: ScalarWords = [
        0x0000_000e_ffff_fff1,
        0x17e3_63d3_0018_9c0f,
        0xff9c_5787_6f84_57b0,
        0x3513_3220_8fc5_a8c4,
    ];

    const ROOT_OF_UNITY: ScalarWords = [
        0xb9b5_8d8c_5f0e_466a,
        0x5b1b_4c80_1819_d7ec,
        0x0af5_3ae3_52a3_1e64,
        0x5bf3_adda_19e9_b27b,
    ];

    const ROOT_OF_UNITY_INVERSE: ScalarWords = [
        0x4256_481a_dcf3_219a,
        0x45f3_7b7f_96b6_cad3,
        0xf9c3_f1d7_5f7a_3b27,
        0x2d2f_c049_658a_fd43,
    ];

    const DELTA: ScalarWords = [
        0x70e3_10d3_d146_f96a,
        0x4b64_c089_19e2_99e6,
        0x51e1_1418_6a8b_970d,
        0x6185_d066_27c0_67cb,
    ];

    const CUBE_ROOT_OF_UNITY: ScalarWords = [
        0x92d9_090b_0930_11d2,
        0xfc9c_bd71_9d6a_a073,
        0xc1f1_4ef0_cd65_a1a6,
        0x017f_6d35_e72f_cdeb,
    ];
}
