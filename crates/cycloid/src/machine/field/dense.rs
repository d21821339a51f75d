//! One number modulo primes whose form, if they have a special one, is not used, on the products
//! and reductions of `words`: those of BLS12-381, P-192, secp256k1, the brainpool curves and
//! edwards448 in plain Rust, and several for Armv7E-M.
//!
//! Elements are saturated limbs of 64 bits in Montgomery form, less than the prime.

use super::super::ct::{self, Mask};
use super::super::words::{self, Limb, Portable, Words};
use super::form::{equal_limbs, montgomery};
use super::portable::one_number;
use super::wide::complex;
use super::{
    Arithmetic, Bls12Base, Bls12Scalar, BrainpoolP256, BrainpoolP384, BrainpoolP512, Ed448Order,
    P192, P448, Prime, Secp256k1, Wide,
};

/// Implements `Arithmetic` of a backend for a prime of n limbs.
macro_rules! dense {
    ($backend:ident $prime:ident $n:literal) => {
        const _: () = {
            /// −1 / p modulo 2⁶⁴.
            const N0: Limb = words::montgomery_n0($prime::MODULUS[0]);

            impl Arithmetic<$prime> for $backend {
                type Element = [Limb; $n];
                const STORED_LIMBS: usize = $n;
                const ZERO: Self::Element = [0; $n];

                one_number!();

                #[inline(never)]
                fn mul(self, a: &Self::Element, b: &Self::Element) -> Self::Element {
                    let (mut wide, mut product) = ([0; 2 * $n], [0; $n]);
                    Words::mul(self, &mut wide, a, b);
                    self.montgomery_reduce(&mut product, &mut wide, &$prime::MODULUS, N0);
                    product
                }

                #[inline(never)]
                fn square(self, a: &Self::Element) -> Self::Element {
                    let (mut wide, mut square) = ([0; 2 * $n], [0; $n]);
                    Words::square(self, &mut wide, a);
                    self.montgomery_reduce(&mut square, &mut wide, &$prime::MODULUS, N0);
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

                #[inline]
                fn lookup_stored(self, out: &mut [Self::Element], table: &[Limb], index: Limb) {
                    ct::lookup(out.as_flattened_mut(), table, index as usize);
                }

                #[inline]
                fn lookup(self, out: &mut [Self::Element], table: &[Self::Element], index: Limb) {
                    ct::lookup(out.as_flattened_mut(), table.as_flattened(), index as usize);
                }
            }
        };
    };
}

/// Implements `Wide` of a backend for a prime of n limbs.
macro_rules! wide {
    ($backend:ident $prime:ident $n:literal) => {
        const _: () = {
            const N0: Limb = words::montgomery_n0($prime::MODULUS[0]);

            /// Sums are kept below p·R; only their upper halves need correction.
            impl Wide<$prime> for $backend {
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
                    Words::mul(self, &mut wide, a, b);
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
                    self.montgomery_reduce(&mut residue, &mut wide, &$prime::MODULUS, N0);
                    residue
                }

                // A product takes much longer than a call.
                complex!(inline(never), $prime);
            }
        };
    };
}

dense!(Portable Bls12Base 6);
dense!(Portable Bls12Scalar 4);
dense!(Portable P192 3);
dense!(Portable Secp256k1 4);
dense!(Portable BrainpoolP256 4);
dense!(Portable BrainpoolP384 6);
dense!(Portable BrainpoolP512 8);
dense!(Portable P448 7);
dense!(Portable Ed448Order 7);
wide!(Portable Bls12Base 6);
wide!(Portable Bls12Scalar 4);

#[cfg(cycloid_armv7em)]
mod armv7em {
    use super::super::{P224, P384};
    use super::*;
    use crate::machine::cpu::Armv7em;

    dense!(Armv7em P224 4);
    dense!(Armv7em P384 6);
    dense!(Armv7em Bls12Base 6);
    dense!(Armv7em Bls12Scalar 4);
    wide!(Armv7em Bls12Base 6);
    wide!(Armv7em Bls12Scalar 4);
}
