//! BMI2 and ADX for one number: a kernel in assembly for each product modulo each prime.
//!
//! Elements are saturated limbs of 64 bits, in the form in which constants lie in memory. Where
//! the form is Montgomery's they are less than the prime, and so equal where the residues are.

#[macro_use]
mod text;
mod linear;
mod linear_long;
mod p224;
mod p25519;
mod p256;
mod p384;
mod p521;

use core::mem::MaybeUninit;

use super::super::cpu::Adx;
use super::super::ct::Mask;
use super::super::words::{self, Limb, Words};
use super::portable::one_number;
use super::{Arithmetic, P224, P256, P384, P521, P25519, Prime};

/// What is the same for every prime: the kernels of module `$kernels` for `$n` limbs, `$add` and
/// `$sub`, and tables.
macro_rules! from_kernels {
    ($n:literal $kernels:ident $add:path, $sub:path) => {
        const NAME: &'static str = "adx";
        type Element = [Limb; $n];
        const STORED_LIMBS: usize = $n;
        const ZERO: Self::Element = [0; $n];

        one_number!();

        #[inline(always)]
        fn mul(self, a: &Self::Element, b: &Self::Element) -> Self::Element {
            let mut product = MaybeUninit::<Self::Element>::uninit();
            // SAFETY: the token proves BMI2 and ADX; the kernel writes the whole product.
            unsafe {
                $kernels::mul(product.as_mut_ptr().cast(), a.as_ptr(), b.as_ptr());
                product.assume_init()
            }
        }

        #[inline(always)]
        fn square(self, a: &Self::Element) -> Self::Element {
            let mut square = MaybeUninit::<Self::Element>::uninit();
            // SAFETY: the token proves BMI2 and ADX; the kernel writes the whole square.
            unsafe {
                $kernels::square(square.as_mut_ptr().cast(), a.as_ptr());
                square.assume_init()
            }
        }

        #[inline(always)]
        fn square_times(self, a: &Self::Element, times: usize) -> Self::Element {
            if times == 0 {
                return *a;
            }
            let mut power = MaybeUninit::<Self::Element>::uninit();
            // SAFETY: the token proves BMI2 and ADX; `times` is not 0, and the kernel writes the
            // whole power.
            unsafe {
                $kernels::square_times(power.as_mut_ptr().cast(), a.as_ptr(), times);
                power.assume_init()
            }
        }

        #[inline(always)]
        fn add(self, a: &Self::Element, b: &Self::Element) -> Self::Element {
            $add(a, b)
        }

        #[inline(always)]
        fn sub(self, a: &Self::Element, b: &Self::Element) -> Self::Element {
            $sub(a, b)
        }

        #[inline(always)]
        fn stored(self, constant: &[Limb]) -> Self::Element {
            core::array::from_fn(|i| constant[i])
        }

        #[inline(always)]
        fn lookup_stored(self, out: &mut [Self::Element], table: &[Limb], index: Limb) {
            Words::lookup(self, out.as_flattened_mut(), table, index as usize);
        }

        #[inline(always)]
        fn lookup(self, out: &mut [Self::Element], table: &[Self::Element], index: Limb) {
            Words::lookup(self, out.as_flattened_mut(), table.as_flattened(), index as usize);
        }
    };
}

/// What is the same where an element is the residue's only form.
macro_rules! equal_limbs {
    () => {
        #[inline(always)]
        fn equal(self, a: &Self::Element, b: &Self::Element) -> Mask {
            Mask::is_zero(a.iter().zip(b).fold(0, |any, (a, b)| any | (a ^ b)))
        }
    };
}

/// What is the same where the form is Montgomery's, R = 2^(64·n).
macro_rules! montgomery {
    ($prime:ident $n:literal) => {
        equal_limbs!();

        fn mul_small(self, a: &Self::Element, small: Limb) -> Self::Element {
            let mut number = [0; $n];
            number[0] = small;
            let small = Arithmetic::<$prime>::load(self, &[number]);
            Arithmetic::<$prime>::mul(self, a, &small)
        }

        /// times R² / R: one of the factors may be the prime or more.
        fn load(self, numbers: &[[Limb; $n]]) -> Self::Element {
            const R_SQUARED: [Limb; $n] = r_squared($prime::MODULUS);
            Arithmetic::<$prime>::mul(self, &numbers[0], &R_SQUARED)
        }

        /// times 1 / R.
        fn store(self, element: &Self::Element, numbers: &mut [[Limb; $n]]) {
            let mut one = [0; $n];
            one[0] = 1;
            numbers[0] = Arithmetic::<$prime>::mul(self, element, &one);
        }
    };
}

impl Arithmetic<P224> for Adx {
    from_kernels!(4 p224 linear::add_p224, linear::sub_p224);
    montgomery!(P224 4);
}

impl Arithmetic<P256> for Adx {
    from_kernels!(4 p256 linear::add_p256, linear::sub_p256);
    montgomery!(P256 4);
}

impl Arithmetic<P384> for Adx {
    from_kernels!(6 p384 linear_long::add_p384, linear_long::sub_p384);
    montgomery!(P384 6);
}

impl Arithmetic<P521> for Adx {
    from_kernels!(9 p521 linear_long::add_p521, linear_long::sub_p521);
    equal_limbs!();

    fn mul_small(self, a: &Self::Element, small: Limb) -> Self::Element {
        let mut number = [0; 9];
        number[0] = small;
        Arithmetic::<P521>::mul(self, a, &number)
    }

    /// The number plus 1 reaches 2⁵²¹ only if the number is the prime, and then the rest is 0.
    fn load(self, numbers: &[[Limb; 9]]) -> Self::Element {
        Arithmetic::<P521>::add(self, &numbers[0], &<Self as Arithmetic<P521>>::ZERO)
    }

    fn store(self, element: &Self::Element, numbers: &mut [[Limb; 9]]) {
        numbers[0] = *element;
    }
}

impl Arithmetic<P25519> for Adx {
    from_kernels!(4 p25519 linear::add_p25519, linear::sub_p25519);

    #[inline(always)]
    fn mul_small(self, a: &Self::Element, small: Limb) -> Self::Element {
        debug_assert!(small < 1 << 58);
        let mut product = MaybeUninit::<Self::Element>::uninit();
        // SAFETY: the token proves BMI2 and ADX; the kernel writes the whole product.
        unsafe {
            p25519::mul_small(product.as_mut_ptr().cast(), a.as_ptr(), small);
            product.assume_init()
        }
    }

    fn equal(self, a: &Self::Element, b: &Self::Element) -> Mask {
        let mut number = [[0; 4]];
        let difference = Arithmetic::<P25519>::sub(self, a, b);
        Arithmetic::<P25519>::store(self, &difference, &mut number);
        words::is_zero(&number[0])
    }

    fn load(self, numbers: &[[Limb; 4]]) -> Self::Element {
        numbers[0]
    }

    /// Twice what is above bit 254 goes to the bottom, times 19: the first time as it is, the
    /// second time only if it is there after adding 19, that is if the number is the prime or more.
    fn store(self, element: &Self::Element, numbers: &mut [[Limb; 4]]) {
        const TOP: Limb = 1 << 63;
        let mut number = *element;
        let top = number[3] >> 63;
        number[3] &= !TOP;
        words::add(&mut number, &[19 * top]);
        let mut reduced = number;
        words::add(&mut reduced, &[19]);
        let enough = Mask::from_bit(reduced[3] >> 63);
        reduced[3] &= !TOP;
        numbers[0] = Arithmetic::<P25519>::select(self, enough, &reduced, &number);
    }
}

/// 2^(128·n) modulo a modulus of n limbs.
const fn r_squared<const N: usize>(modulus: [Limb; N]) -> [Limb; N] {
    let mut power = [0; N];
    power[0] = 1;
    let mut doublings = 0;
    while doublings < 2 * words::LIMB_BITS * N {
        // power = 2 · power, less the modulus where that is not negative.
        let (mut twice, mut less) = ([0u64; N], [0; N]);
        let (mut carry, mut borrow) = (0, false);
        let mut i = 0;
        while i < N {
            twice[i] = power[i] << 1 | carry;
            carry = power[i] >> 63;
            let (difference, below) = twice[i].overflowing_sub(modulus[i]);
            let (difference, below_by_one) = difference.overflowing_sub(borrow as Limb);
            less[i] = difference;
            borrow = below | below_by_one;
            i += 1;
        }
        power = if carry == 0 && borrow { twice } else { less };
        doublings += 1;
    }
    power
}
