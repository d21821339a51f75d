//! Detection of the processor's instructions, and tokens that only detection can create.
//!
//! A backend's entry points take its token, so code that would fault on this processor cannot be
//! called. A program may lower the level for all later operations with [`limit`]; only the unsafe
//! [`assume`] can raise it.

use core::sync::atomic::{AtomicU8, Ordering};

/// The instruction sets that backends are written for, each including the preceding ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Level {
    /// Plain Rust.
    Portable,
    /// x86-64 with BMI2, ADX and AVX2 (Intel since Broadwell, AMD since Zen).
    Adx,
    /// Also AVX-512 F, DQ, BW and VL (Intel servers since Skylake, AMD since Zen 4).
    Avx512,
    /// Also AVX-512 IFMA (Intel since Ice Lake, AMD since Zen 4).
    Ifma,
}

impl Level {
    /// All levels, lowest first.
    pub const ALL: [Self; 4] = [Self::Portable, Self::Adx, Self::Avx512, Self::Ifma];

    /// Returns the name that [`Level::from_name`] accepts.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Portable => "portable",
            Self::Adx => "adx",
            Self::Avx512 => "avx512",
            Self::Ifma => "ifma",
        }
    }

    /// Returns the level with that name, as in the environment variable `CYCLOID_CPU`.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|level| level.name() == name)
    }
}

static LIMIT: AtomicU8 = AtomicU8::new(Level::Ifma as u8);

/// Restricts operations that begin from now on to `level` or lower, in the whole process.
///
/// For tests and measurements. Programs of this project call it with the value of the environment
/// variable `CYCLOID_CPU`; the library itself reads no environment.
pub fn limit(level: Level) {
    LIMIT.store(level as u8, Ordering::Relaxed);
}

fn allowed(level: Level) -> bool {
    level as u8 <= LIMIT.load(Ordering::Relaxed)
}

/// Treats `level` as detected from now on, in the whole process: for runs under an emulator that
/// executes instructions that CPUID does not report, as valgrind does with ADX.
///
/// # Safety
/// Every instruction of the level must execute on every thread.
pub unsafe fn assume(level: Level) {
    ASSUMED.store(level as u8, Ordering::Relaxed);
}

static ASSUMED: AtomicU8 = AtomicU8::new(Level::Portable as u8);

fn assumed(level: Level) -> bool {
    level as u8 <= ASSUMED.load(Ordering::Relaxed)
}

/// Returns the highest level that this processor has and that [`limit`] allows.
pub fn level() -> Level {
    let available = |level: &Level| allowed(*level) && present(*level);
    Level::ALL.into_iter().rev().find(available).unwrap_or(Level::Portable)
}

/// Returns the highest level that this processor has, regardless of [`limit`].
pub fn detected_level() -> Level {
    let available = |level: &Level| present(*level);
    Level::ALL.into_iter().rev().find(available).unwrap_or(Level::Portable)
}

fn present(level: Level) -> bool {
    assumed(level) || detected(level)
}

/// Returns whether the processor has SHA-256 instructions, which the crate `sha2` then uses.
pub fn has_sha() -> bool {
    #[cfg(target_arch = "x86_64")]
    return x86_64::has_sha();
    #[cfg(not(target_arch = "x86_64"))]
    return cfg!(target_feature = "sha2");
}

#[cfg(target_arch = "x86_64")]
use x86_64::detected;
#[cfg(target_arch = "x86_64")]
pub use x86_64::{Adx, Avx512, Ifma};
#[cfg(target_arch = "x86_64")]
pub(super) use x86_64::{VectorRegisters, vector_registers};

#[cfg(not(target_arch = "x86_64"))]
const fn detected(_level: Level) -> bool {
    false
}

#[cfg(target_arch = "x86_64")]
mod x86_64 {
    use super::{Level, allowed, present};

    cpufeatures::new!(adx, "bmi2", "adx", "avx2");
    cpufeatures::new!(avx512, "avx512f", "avx512dq", "avx512bw", "avx512vl");
    cpufeatures::new!(ifma, "avx512ifma");
    cpufeatures::new!(sha, "sha", "sse4.1");
    cpufeatures::new!(avx, "avx");

    /// The available vector registers.
    #[derive(Clone, Copy)]
    pub(in super::super) enum VectorRegisters {
        /// 16 of 128 bits.
        Sse,
        /// 16 of 256 bits.
        Avx,
        /// 32 of 512 bits, and masks.
        Avx512,
    }

    /// Returns the processor's vector registers, regardless of [`limit`](super::limit): other
    /// crates and the C library use whatever exists.
    #[inline]
    pub(in super::super) fn vector_registers() -> VectorRegisters {
        if avx512::get() {
            VectorRegisters::Avx512
        } else if avx::get() {
            VectorRegisters::Avx
        } else {
            VectorRegisters::Sse
        }
    }

    pub(super) fn has_sha() -> bool {
        sha::get()
    }

    pub(super) fn detected(level: Level) -> bool {
        match level {
            Level::Portable => true,
            Level::Adx => adx::get(),
            Level::Avx512 => adx::get() && avx512::get(),
            Level::Ifma => adx::get() && avx512::get() && ifma::get(),
        }
    }

    /// Defines a token type: a zero-sized proof that its level may be used.
    macro_rules! token {
        ($(#[$doc:meta])* $token:ident) => {
            $(#[$doc])*
            #[derive(Clone, Copy, Debug)]
            pub struct $token(());

            impl $token {
                /// Returns the token if the processor has the level and [`limit`](super::limit)
                /// allows it.
                pub fn detect() -> Option<Self> {
                    let level = Level::$token;
                    (allowed(level) && present(level)).then_some(Self(()))
                }

                /// Creates the token without detection, for runs under an emulator that executes
                /// instructions that CPUID does not report.
                ///
                /// # Safety
                /// Every instruction of the level must execute on this thread.
                pub const unsafe fn assume() -> Self {
                    Self(())
                }
            }
        };
    }

    token! {
        /// Proof of BMI2, ADX and AVX2.
        Adx
    }
    token! {
        /// Proof of AVX-512 F, DQ, BW and VL, and of everything that [`Adx`] proves.
        Avx512
    }
    token! {
        /// Proof of AVX-512 IFMA, and of everything that [`Avx512`] proves.
        Ifma
    }

    impl From<Ifma> for Avx512 {
        fn from(_: Ifma) -> Self {
            Self(())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_levels_agree() {
        for level in Level::ALL {
            assert_eq!(Level::from_name(level.name()), Some(level));
        }
        assert_eq!(Level::from_name("avx9000"), None);
    }

    #[cfg(target_arch = "x86_64")]
    #[test]
    fn detection_agrees_with_the_standard_library() {
        let adx = std::is_x86_feature_detected!("adx")
            && std::is_x86_feature_detected!("bmi2")
            && std::is_x86_feature_detected!("avx2");
        assert_eq!(Adx::detect().is_some(), adx);
        let ifma = adx
            && std::is_x86_feature_detected!("avx512f")
            && std::is_x86_feature_detected!("avx512dq")
            && std::is_x86_feature_detected!("avx512bw")
            && std::is_x86_feature_detected!("avx512vl")
            && std::is_x86_feature_detected!("avx512ifma");
        assert_eq!(Ifma::detect().is_some(), ifma);
    }
}
