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
use crate::machine::{lanes, words};
use crate::math::bls12_381::{self, FEWEST_VALUES, ScalarWords, Slot};
use crate::math::field::Element;

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

/// Computes a₀·b₀ + a₁·b₁ + …, reducing once for as many products as fit.
struct InnerProduct<'a> {
    a: &'a [Fr<Cycloid>],
    b: &'a [Fr<Cycloid>],
}

impl WideTask<Bls12Scalar> for InnerProduct<'_> {
    type Output = ScalarWords;

    fn run<A: Wide<Bls12Scalar>>(self, f: A) -> ScalarWords {
        const TERMS: usize = 16;
        let import = |a: &Fr<Cycloid>| f.import(slice::from_ref(a.raw()));
        let mut total = A::ZERO;
        for (a, b) in self.a.chunks(TERMS).zip(self.b.chunks(TERMS)) {
            let products = a.iter().zip(b).map(|(a, b)| f.mul_wide(&import(a), &import(b)));
            if let Some(sum) = products.reduce(|sum, product| f.add_wide(&sum, &product)) {
                total = f.add(&total, &f.reduce_wide(&sum));
            }
        }
        let mut out = [ScalarWords::ZERO];
        f.export(&total, &mut out);
        out[0]
    }
}

/// Computes aᵢ ← aᵢ + bᵢ or aᵢ·bᵢ.
struct Each<'a> {
    multiply: bool,
    a: &'a mut [Fr<Cycloid>],
    b: &'a [Fr<Cycloid>],
}

impl WideTask<Bls12Scalar> for Each<'_> {
    type Output = ();

    fn run<A: Wide<Bls12Scalar>>(self, f: A) {
        for (a, b) in self.a.iter_mut().zip(self.b) {
            let (to, b) = (a.words_mut(), f.import(slice::from_ref(b.words())));
            let a = f.import(slice::from_ref(to));
            let result = if self.multiply { f.mul(&a, &b) } else { f.add(&a, &b) };
            f.export(&result, slice::from_mut(to));
        }
    }
}

/// Computes aᵢ ← 1/aᵢ, and 0 for 0. Time depends on the number of elements only.
struct InvertMany<'a> {
    a: &'a mut [Fr<Cycloid>],
    scratch: &'a mut [Fr<Cycloid>],
}

impl WideTask<Bls12Scalar> for InvertMany<'_> {
    type Output = ();

    fn run<A: Wide<Bls12Scalar>>(self, f: A) {
        let import = |a: &Fr<Cycloid>| Element::from_raw(f, f.import(slice::from_ref(a.words())));
        let export = |element: &Element<Bls12Scalar, A>, to: &mut Fr<Cycloid>| {
            f.export(element.raw(), slice::from_mut(to.words_mut()));
        };
        let one = Element::one(f);
        // A zero counts as 1. `scratch` holds the products of the preceding elements.
        let factor = |a: &Element<Bls12Scalar, A>| Element::select(a.is_zero(), &one, a);
        let mut product = one;
        for (a, before) in self.a.iter().zip(&mut *self.scratch) {
            export(&product, before);
            product = &product * &factor(&import(a));
        }
        let mut inverse = product.invert();
        for (a, before) in self.a.iter_mut().zip(&*self.scratch).rev() {
            let value = import(a);
            let inverted = &inverse * &import(before);
            inverse = &inverse * &factor(&value);
            export(&Element::select(value.is_zero(), &value, &inverted), a);
        }
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
        Bls12Scalar::run_one_wide(words::Backend::best(), InnerProduct { a, b })
    }

    fn fr_add_many(a: &mut [Fr<Self>], b: &[Fr<Self>]) {
        let task = Each { multiply: false, a, b };
        Bls12Scalar::run_one_wide(words::Backend::best(), task);
    }

    fn fr_mul_many(a: &mut [Fr<Self>], b: &[Fr<Self>]) {
        let task = Each { multiply: true, a, b };
        Bls12Scalar::run_one_wide(words::Backend::best(), task);
    }

    fn fr_invert_many(a: &mut [Fr<Self>], scratch: &mut [Fr<Self>]) {
        Bls12Scalar::run_one_wide(words::Backend::best(), InvertMany { a, scratch });
    }

    fn fr_transform(values: &mut [Fr<Self>], roots: &[Fr<Self>]) {
        let eight = lanes::Backend::best().filter(|_| values.len() >= FEWEST_VALUES);
        let task = Transform { values, roots };
        match eight {
            Some(backend) => Bls12Scalar::run_eight_wide(backend, task),
            None => Bls12Scalar::run_one_wide(words::Backend::best(), task),
        }
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
