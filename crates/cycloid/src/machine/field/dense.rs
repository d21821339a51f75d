//! Plain Rust for one number modulo primes whose form, if they have a special one, is not used:
//! those of BLS12-381, P-192, secp256k1, the brainpool curves and
//! edwards448.
//!
//! Elements are saturated limbs of 64 bits in Montgomery form, less than the prime.

use super::super::ct::{self, Mask};
use super::super::words::{self, Limb, Portable, Words};
use super::form::{equal_limbs, montgomery};
use super::portable::one_number;
use super::{
    Arithmetic, Bls12Base, Bls12Scalar, BrainpoolP256, BrainpoolP384, BrainpoolP512, Ed448Order,
    P192, P448, Prime, Secp256k1, Wide,
};

/// Implements `Arithmetic` for a prime of n limbs.
macro_rules! dense {
    ($prime:ident $n:literal) => {
        const _: () = {
            /// −1 / p modulo 2⁶⁴.
            const N0: Limb = words::montgomery_n0($prime::MODULUS[0]);

            impl Arithmetic<$prime> for Portable {
                type Element = [Limb; $n];
                const STORED_LIMBS: usize = $n;
                const ZERO: Self::Element = [0; $n];

                one_number!();

                #[inline(never)]
                fn mul(self, a: &Self::Element, b: &Self::Element) -> Self::Element {
                    let (mut wide, mut product) = ([0; 2 * $n], [0; $n]);
                    Words::mul(Portable, &mut wide, a, b);
                    Portable.montgomery_reduce(&mut product, &mut wide, &$prime::MODULUS, N0);
                    product
                }

                #[inline(never)]
                fn square(self, a: &Self::Element) -> Self::Element {
                    let (mut wide, mut square) = ([0; 2 * $n], [0; $n]);
                    Words::square(Portable, &mut wide, a);
                    Portable.montgomery_reduce(&mut square, &mut wide, &$prime::MODULUS, N0);
                    square
                }

                #[inline(never)]
                fn add(self, a: &Self::Element, b: &Self::Element) -> Self::Element {
                    let mut sum = *a;
                    let carry = words::add(&mut sum, b);
                    words::reduce_once(carry, &mut sum, &$prime::MODULUS);
                    sum
                }

                #[inline(never)]
                fn sub(self, a: &Self::Element, b: &Self::Element) -> Self::Element {
                    let mut difference = *a;
                    let borrow = words::sub(&mut difference, b);
                    words::add_if(Mask::from_bit(borrow), &mut difference, &$prime::MODULUS);
                    difference
                }

                montgomery!($prime $n);

                #[inline]
                fn stored(self, constant: &[Limb]) -> Self::Element {
                    core::array::from_fn(|i| constant[i])
                }

                fn lookup_stored(self, out: &mut [Self::Element], table: &[Limb], index: Limb) {
                    ct::lookup(out.as_flattened_mut(), table, index as usize);
                }

                fn lookup(self, out: &mut [Self::Element], table: &[Self::Element], index: Limb) {
                    ct::lookup(out.as_flattened_mut(), table.as_flattened(), index as usize);
                }
            }
        };
    };
}

/// Implements `Wide` for a prime of n limbs.
macro_rules! wide {
    ($prime:ident $n:literal) => {
        const _: () = {
            const N0: Limb = words::montgomery_n0($prime::MODULUS[0]);

            /// Sums are kept below p·R; only their upper halves need correction.
            impl Wide<$prime> for Portable {
                type Wide = [Limb; 2 * $n];

                #[inline]
                fn import(self, words: &[[Limb; $n]]) -> [Limb; $n] {
                    words[0]
                }

                #[inline]
                fn export(self, element: &[Limb; $n], words: &mut [[Limb; $n]]) {
                    words[0] = *element;
                }

                #[inline(never)]
                fn mul_wide(self, a: &[Limb; $n], b: &[Limb; $n]) -> Self::Wide {
                    let mut wide = [0; 2 * $n];
                    Words::mul(Portable, &mut wide, a, b);
                    wide
                }

                #[inline(never)]
                fn add_wide(self, a: &Self::Wide, b: &Self::Wide) -> Self::Wide {
                    let mut sum = *a;
                    let carry = words::add(&mut sum, b);
                    words::reduce_once(carry, &mut sum[$n..], &$prime::MODULUS);
                    sum
                }

                #[inline(never)]
                fn sub_wide(self, a: &Self::Wide, b: &Self::Wide) -> Self::Wide {
                    let mut difference = *a;
                    let borrow = words::sub(&mut difference, b);
                    let upper = &mut difference[$n..];
                    words::add_if(Mask::from_bit(borrow), upper, &$prime::MODULUS);
                    difference
                }

                #[inline(never)]
                fn reduce_wide(self, wide: &Self::Wide) -> [Limb; $n] {
                    let (mut wide, mut residue) = (*wide, [0; $n]);
                    Portable.montgomery_reduce(&mut residue, &mut wide, &$prime::MODULUS, N0);
                    residue
                }
            }
        };
    };
}

dense!(Bls12Base 6);
dense!(Bls12Scalar 4);
dense!(P192 3);
dense!(Secp256k1 4);
dense!(BrainpoolP256 4);
dense!(BrainpoolP384 6);
dense!(BrainpoolP512 8);
dense!(P448 7);
dense!(Ed448Order 7);
wide!(Bls12Base 6);
wide!(Bls12Scalar 4);
