//! Modular exponentiation, base^exponent mod modulus, and inversion, on little-endian limbs of 64
//! bits.
//!
//! - [`pow`]: constant-time, on the fastest backend; the schemes use this one.
//! - [`pow_eight`]: eight bases, exponents and moduli at once.
//! - [`FixedBase`]: powers of one base, with a precomputed table.
//! - [`Strategy`]: every combination of three reductions and twelve exponentiation methods, for
//!   choosing a trade-off between time and memory.
//! - [`invert`]: the inverse modulo an odd number, constant-time.
//! - [`mul_any`], [`invert_any`]: products and inverses modulo any number, even or odd,
//!   constant-time.
//!
//! Every input has a defined result. x mod 1 = 0. x⁰ mod m = 1 for m > 1 and any x, including 0. A
//! base of any length is reduced first. Leading zero limbs are allowed everywhere and change no
//! result. A modulus of 0, an even modulus with Montgomery reduction, and a modulus of more than
//! [`MAX_BITS`] bits are [`Error`]s. On an error nothing is written to the result.
//!
//! Memory: an operation uses the caller's scratch and a bounded stack. The `const fn` next to each
//! operation returns the size of its scratch. The scratch is wiped before the operation returns.
//!
//! ```
//! use cycloid::modular::{self, Exponent, Modulus};
//!
//! let modulus_limbs = [u64::MAX - 58]; // 2⁶⁴ − 59, a prime
//! let mut r_squared = [0; 1];
//! let mut scratch = [0; modular::pow_scratch_limbs(1, 64)];
//! let modulus = Modulus::prepare(&modulus_limbs, &mut r_squared, &mut scratch)?;
//!
//! let exponent = [u64::MAX - 59]; // p − 1
//! let mut result = [0; 1];
//! modular::pow(&mut result, &[7], &Exponent::new(&exponent), &modulus, &mut scratch)?;
//! assert_eq!(result, [1]); // Fermat
//! # Ok::<(), modular::Error>(())
//! ```

mod across;
mod any;
mod barrett;
mod basic;
mod binary;
mod compact;
mod constant_time;
#[cfg(any(not(target_pointer_width = "32"), test))]
mod divsteps;
mod eight;
mod exponent;
mod fixed_base;
mod inverse;
mod ladder;
mod modulus;
mod montgomery;
mod residues8;
mod strategy;
#[cfg(test)]
mod tests;
mod window;

pub use any::{invert_any, invert_any_scratch_limbs, mul_any, mul_any_scratch_limbs};
pub(crate) use compact::{pow_compact, pow_compact_scratch_limbs};
pub(crate) use constant_time::{montgomery_mul, pow_in_frames, pow_odd_vartime};
pub use constant_time::{
    mul, pow, pow_minimum_scratch_limbs, pow_scratch_limbs, pow_this_cpu_scratch_limbs, pow_vartime,
};
#[cfg(feature = "internals")]
pub use constant_time::{pow_is_across_lanes, pow_with};
#[cfg(feature = "internals")]
pub use eight::pow_eight_with;
pub(crate) use eight::{fastest as fastest_of_eight, powers_lanes as powers_of_eight};
pub use eight::{
    pow_eight, pow_eight_minimum_scratch_limbs, pow_eight_prepared, pow_eight_scratch_limbs,
};
pub use exponent::Exponent;
pub use fixed_base::{Comb, FixedBase};
pub use inverse::{gcd, invert, invert_scratch_limbs};
pub(crate) use inverse::{gcd_long_in_frames, invert_fixed, invert_long_in_frames};
pub use modulus::Modulus;
pub(crate) use residues8::Residues8;
pub use strategy::{Exponentiation, Reduction, Strategy};
pub use window::Window;

use crate::machine::ct::Mask;
use crate::machine::words::{LIMB_BITS, Limb};

/// The maximum stack use of an operation, in bytes; a thread must have this much left when it calls
/// one.
pub const STACK_USE: usize = 7 << 10;

/// The same for one number in 64-bit limbs; `cargo xtask cortex-m4` checks that on Armv7E-M.
const STACK_USE_WORDS: usize = if cfg!(cycloid_armv7em) { 768 } else { 4 << 10 };

/// The longest modulus, in bits.
pub const MAX_BITS: usize = 16384;

/// Why an exponentiation failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// The modulus is 0.
    ModulusZero,
    /// The modulus is even, but Montgomery reduction is used.
    ModulusEven,
    /// The modulus has more than [`MAX_BITS`] bits.
    ModulusTooLong,
    /// The result has fewer limbs than the modulus without its leading zeros.
    ResultTooShort {
        /// Limbs needed.
        needed: usize,
        /// Limbs given.
        given: usize,
    },
    /// The scratch is smaller than the operation needs.
    ScratchTooSmall {
        /// Bytes needed.
        needed: usize,
        /// Bytes given.
        given: usize,
    },
    /// The number has no inverse modulo the modulus, or is not less than the modulus.
    NotInvertible,
    /// The exponent has a bit set beyond its declared length.
    ExponentTooLong,
    /// The random generator repeats itself, or gave no usable number in more tries than a sound
    /// generator ever needs.
    RandomGenerator,
}

impl core::fmt::Display for Error {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::ModulusZero => f.write_str("the modulus is zero"),
            Self::ModulusEven => f.write_str("Montgomery reduction needs an odd modulus"),
            Self::ModulusTooLong => write!(f, "the modulus has more than {MAX_BITS} bits"),
            Self::ResultTooShort { needed, given } => {
                write!(f, "the result has {given} limbs, but the modulus has {needed}")
            }
            Self::ScratchTooSmall { needed, given } => {
                write!(f, "the scratch has {given} bytes, but {needed} are needed")
            }
            Self::NotInvertible => f.write_str("the number has no inverse modulo the modulus"),
            Self::ExponentTooLong => f.write_str("the exponent is longer than declared"),
            Self::RandomGenerator => {
                f.write_str("the random generator repeats itself or gives no usable number")
            }
        }
    }
}

impl core::error::Error for Error {}

super::random::cause!(Error);

/// Products of residues: everything that windowed exponentiation needs. An element may be a limb of
/// one number, limbs of eight numbers, or part of one number across eight lanes.
pub(crate) trait Products {
    /// The element type of numbers; all numbers in a product have the same number of elements.
    type Element: Copy;

    /// The index of a table entry; one per lane if there are several.
    type Index;

    /// Computes `accumulator = accumulator · by`.
    fn mul(&mut self, accumulator: &mut [Self::Element], by: &[Self::Element]);

    /// Computes `accumulator = accumulator²`.
    fn square(&mut self, accumulator: &mut [Self::Element]);

    /// Applies [`square`](Self::square) `times` times.
    fn square_times(&mut self, accumulator: &mut [Self::Element], times: usize) {
        for _ in 0..times {
            self.square(accumulator);
        }
    }

    /// Copies `out = table[index]`, reading the whole table.
    fn lookup(&self, out: &mut [Self::Element], table: &[Self::Element], index: &Self::Index);
}

/// Arithmetic modulo one number of limbs, in its own representation: provided by a reduction, used
/// by the exponentiations.
///
/// Every slice except `x` has as many limbs as the modulus.
trait Residues: Products<Element = Limb, Index = usize> {
    /// Computes the representations of 1 and of `x mod modulus`; `x` has any length.
    fn enter(&mut self, one: &mut [Limb], base: &mut [Limb], x: &[Limb]);

    /// Converts from the representation to the number, less than the modulus.
    fn leave(&mut self, accumulator: &mut [Limb]);
}

/// Residues that represent themselves; each product is reduced on its own.
trait PlainResidues: Products<Element = Limb, Index = usize> {
    /// Computes `result = wide mod modulus`, where `wide` is the product of two residues, or a
    /// residue times 2^(64·n) plus n limbs, in the buffer returned by [`wide`](Self::wide).
    fn reduce(&mut self, result: &mut [Limb]);

    /// Returns the buffer of 2n limbs for the number to be reduced.
    fn wide(&mut self) -> &mut [Limb];
}

impl<P: PlainResidues> Residues for P {
    fn enter(&mut self, one: &mut [Limb], base: &mut [Limb], x: &[Limb]) {
        let n = base.len();
        base.fill(0);
        for_each_chunk(x, n, |chunk| {
            let (low, high) = self.wide().split_at_mut(n);
            low[..chunk.len()].copy_from_slice(chunk);
            low[chunk.len()..].fill(0);
            high.copy_from_slice(base);
            self.reduce(base);
        });
        one.fill(0);
        one[0] = 1;
    }

    fn leave(&mut self, _accumulator: &mut [Limb]) {}
}

/// Implements products of residues that represent themselves.
macro_rules! plain_products {
    ($residues:ident) => {
        impl<W: Words> super::Products for $residues<'_, W> {
            type Element = Limb;
            type Index = usize;

            fn mul(&mut self, accumulator: &mut [Limb], by: &[Limb]) {
                let words = self.words;
                words.mul(self.wide(), accumulator, by);
                self.reduce(accumulator);
            }

            fn square(&mut self, accumulator: &mut [Limb]) {
                let words = self.words;
                words.square(self.wide(), accumulator);
                self.reduce(accumulator);
            }

            fn lookup(&self, out: &mut [Limb], table: &[Limb], index: &usize) {
                self.words.lookup(out, table, *index);
            }
        }
    };
}
use plain_products;

/// Calls `f` with pieces of `x` of `n` limbs, most significant first; only the first may be
/// shorter.
fn for_each_chunk(x: &[Limb], n: usize, mut f: impl FnMut(&[Limb])) {
    let full = x.len() / n * n;
    if full < x.len() {
        f(&x[full..]);
    }
    for chunk in x[..full].chunks_exact(n).rev() {
        f(chunk);
    }
}

/// Returns the limbs of a number of `bits` bits.
const fn limbs_for(bits: usize) -> usize {
    bits.div_ceil(LIMB_BITS)
}

/// A modulus without leading zero limbs, and its length in bits, which is public.
#[derive(Clone, Copy)]
struct Checked<'a> {
    limbs: &'a [Limb],
    bits: usize,
}

impl<'a> Checked<'a> {
    fn new(modulus: &'a [Limb]) -> Result<Self, Error> {
        let bits = exponent::bit_length(modulus);
        if bits == 0 {
            return Err(Error::ModulusZero);
        }
        if bits > MAX_BITS {
            return Err(Error::ModulusTooLong);
        }
        Ok(Self { limbs: &modulus[..limbs_for(bits)], bits })
    }

    /// Returns an error if the modulus is even; its parity becomes public.
    fn odd(self) -> Result<Self, Error> {
        let odd = Mask::from_bit(self.limbs[0] & 1).reveal();
        if odd { Ok(self) } else { Err(Error::ModulusEven) }
    }

    const fn is_one(self) -> bool {
        self.bits == 1
    }
}

/// Splits `result` into the limbs for a residue modulo a number of `needed` limbs, and the rest.
fn split_result(result: &mut [Limb], needed: usize) -> Result<(&mut [Limb], &mut [Limb]), Error> {
    let given = result.len();
    result.split_at_mut_checked(needed).ok_or(Error::ResultTooShort { needed, given })
}

/// Returns the first `needed` limbs of the scratch.
fn checked_scratch(scratch: &mut [Limb], needed: usize) -> Result<&mut [Limb], Error> {
    let given = size_of_val(scratch);
    scratch
        .get_mut(..needed)
        .ok_or(Error::ScratchTooSmall { needed: needed * size_of::<Limb>(), given })
}
