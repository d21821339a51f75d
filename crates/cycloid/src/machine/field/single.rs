//! Primes of curves whose keys are computed one at a time, in plain Rust: those that other software
//! uses beside the NIST curves (SEC 2; RFC 5639), and those of edwards448.

use super::super::lanes::{self, Lanes};
use super::super::words::{self, LIMB_BITS, Limb};
use super::prime::apart;
use super::{CurveArithmetic, CurvePrime, CurveTask, Prime, Task};

macro_rules! single_primes {
    ($($(#[$doc:meta])* $prime:ident $name:literal $bits:literal $m:literal
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
            const MONTGOMERY: bool = true;

            fn run_one<T: Task<Self>>(_: words::Backend, task: T) -> T::Output {
                apart(|| task.run(words::Portable))
            }

            fn run_eight<T: Task<Self>>(_: lanes::Backend, _: T) -> T::Output {
                unreachable!("nothing modulo this prime is computed side by side")
            }
        }

        impl CurveArithmetic<$prime> for words::Portable {}

        impl CurvePrime for $prime {
            fn run_one_curve<T: CurveTask<Self>>(_: words::Backend, task: T) -> T::Output {
                apart(|| task.run(words::Portable))
            }

            fn run_eight_curve<T: CurveTask<Self>>(_: lanes::Backend, _: T) -> T::Output {
                unreachable!("nothing modulo this prime is computed side by side")
            }
        }
    )+};
}

single_primes! {
    /// The prime of P-192.
    P192 "P-192" 192 4
        [0xffffffffffffffff 0xfffffffffffffffe 0xffffffffffffffff];
    /// The prime of secp256k1.
    Secp256k1 "secp256k1" 256 5
        [0xfffffffefffffc2f 0xffffffffffffffff 0xffffffffffffffff 0xffffffffffffffff];
    /// The prime of brainpoolP256r1.
    BrainpoolP256 "brainpoolP256r1" 256 5
        [0x2013481d1f6e5377 0x6e3bf623d5262028 0x3e660a909d838d72 0xa9fb57dba1eea9bc];
    /// The prime of brainpoolP384r1.
    BrainpoolP384 "brainpoolP384r1" 384 8
        [0x874700133107ec53 0xacd3a729901d1a71 0x12b1da197fb71123 0x152f7109ed5456b4
         0x0f5d6f7e50e641df 0x8cb91e82a3386d28];
    /// The prime of brainpoolP512r1.
    BrainpoolP512 "brainpoolP512r1" 512 10
        [0x28aa6056583a48f3 0x2881ff2f2d82c685 0xaecda12ae6a380e6 0x7d4d9b009bc66842
         0xd6639cca70330871 0xcb308db3b3c9d20e 0x3fd4e6ae33c9fc07 0xaadd9db8dbe9c48b];
    /// 2⁴⁴⁸ − 2²²⁴ − 1, of edwards448 (RFC 7748, section 4.2).
    P448 "2^448 - 2^224 - 1" 448 9
        [0xffffffffffffffff 0xffffffffffffffff 0xffffffffffffffff 0xfffffffeffffffff
         0xffffffffffffffff 0xffffffffffffffff 0xffffffffffffffff];
    /// The order of the base point of edwards448 (RFC 8032, section 5.2).
    Ed448Order "edwards448 order" 446 9
        [0x2378c292ab5844f3 0x216cc2728dc58f55 0xc44edb49aed63690 0xffffffff7cca23e9
         0xffffffffffffffff 0xffffffffffffffff 0x3fffffffffffffff];
}
