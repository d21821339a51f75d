//! The primes, and the dispatch of tasks to backends.

use core::fmt::Debug;

use super::super::backends::{with_one, with_vectors};
use super::super::lanes::{self, Lanes};
use super::super::words::{self, LIMB_BITS, Limb};
use super::{Limbs, Task};

/// Runs a task on a backend in stack frames of its own: otherwise a caller that chooses among
/// backends would reserve space for the frames of all of them.
#[inline(never)]
pub(super) fn apart<T>(run: impl FnOnce() -> T) -> T {
    run()
}

/// A prime number with modular arithmetic.
pub trait Prime: Copy + Clone + Debug + Default + Send + Sync + 'static {
    /// Its name.
    const NAME: &'static str;

    /// Its length in bits.
    const BITS: usize;

    /// A residue as an integer: little-endian limbs of 64 bits.
    type Words: Limbs;

    /// Eight residues: limbs of 52 bits, m of them.
    type Lanes: Copy + Debug + AsRef<[Lanes]> + AsMut<[Lanes]> + Send + Sync + 'static;

    /// The prime.
    const MODULUS: Self::Words;

    /// Whether backends keep residues in Montgomery form.
    const MONTGOMERY: bool;

    /// Runs `task` on a backend for one number.
    fn run_one<T: Task<Self>>(backend: words::Backend, task: T) -> T::Output;

    /// Runs `task` on a backend for eight.
    ///
    /// # Panics
    /// With the portable backend, except in the library's own tests.
    fn run_eight<T: Task<Self>>(backend: lanes::Backend, task: T) -> T::Output;
}

macro_rules! primes {
    ($($(#[$doc:meta])* $prime:ident $name:literal $bits:literal $m:literal $montgomery:literal
        [$($limb:literal)+];)+) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub struct $prime;

        impl Prime for $prime {
            const NAME: &'static str = $name;
            const BITS: usize = $bits;
            type Words = [Limb; usize::div_ceil($bits, LIMB_BITS)];
            type Lanes = [Lanes; $m];
            const MODULUS: Self::Words = [$($limb),+];
            const MONTGOMERY: bool = $montgomery;

            #[inline]
            fn run_one<T: Task<Self>>(backend: words::Backend, task: T) -> T::Output {
                with_one!(backend, token => apart(|| task.run(token)))
            }

            #[inline]
            fn run_eight<T: Task<Self>>(backend: lanes::Backend, task: T) -> T::Output {
                with_vectors!(backend, token => apart(|| task.run(token)))
            }
        }
    )+};
}

primes! {
    /// 2²²⁴ − 2⁹⁶ + 1, of P-224 (SP 800-186, section 3.2.1.2).
    P224 "P-224" 224 5 true
        [0x0000000000000001 0xffffffff00000000 0xffffffffffffffff 0x00000000ffffffff];
    /// 2²⁵⁶ − 2²²⁴ + 2¹⁹² + 2⁹⁶ − 1, of P-256 (SP 800-186, section 3.2.1.3).
    P256 "P-256" 256 5 true
        [0xffffffffffffffff 0x00000000ffffffff 0x0000000000000000 0xffffffff00000001];
    /// 2³⁸⁴ − 2¹²⁸ − 2⁹⁶ + 2³² − 1, of P-384 (SP 800-186, section 3.2.1.4).
    P384 "P-384" 384 8 true
        [0x00000000ffffffff 0xffffffff00000000 0xfffffffffffffffe
         0xffffffffffffffff 0xffffffffffffffff 0xffffffffffffffff];
    /// 2⁵²¹ − 1, of P-521 (SP 800-186, section 3.2.1.5).
    P521 "P-521" 521 11 false
        [0xffffffffffffffff 0xffffffffffffffff 0xffffffffffffffff 0xffffffffffffffff
         0xffffffffffffffff 0xffffffffffffffff 0xffffffffffffffff 0xffffffffffffffff 0x1ff];
    /// 2²⁵⁵ − 19, of X25519 and Ed25519 (RFC 7748, section 4.1).
    P25519 "2^255 - 19" 255 5 false
        [0xffffffffffffffed 0xffffffffffffffff 0xffffffffffffffff 0x7fffffffffffffff];
    /// (x − 1)²·(x⁴ − x² + 1) / 3 + x for x = −0xd201000000010000, of the coordinates of BLS12-381
    /// (RFC 9380, section 8.8).
    Bls12Base "BLS12-381 base" 381 8 true
        [0xb9feffffffffaaab 0x1eabfffeb153ffff 0x6730d2a0f6b0f624
         0x64774b84f38512bf 0x4b1ba7b6434bacd7 0x1a0111ea397fe69a];
    /// x⁴ − x² + 1 for the same x, the order of the groups of BLS12-381.
    Bls12Scalar "BLS12-381 scalar" 255 5 true
        [0xffffffff00000001 0x53bda402fffe5bfe 0x3339d80809a1d805 0x73eda753299d7d48];
}
