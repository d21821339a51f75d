//! Detection of the processor's instructions, and tokens that only detection can create.
//!
//! A [`Level`] is a set of processor features; it is available if the processor has all of them and
//! [`limit`] allows them. A backend's entry points take its token, so code that would fault on this
//! processor cannot be called. A program may restrict all later operations to a level with
//! [`limit`]; only the unsafe [`assume`] adds features.

#[cfg(target_arch = "x86_64")]
pub(super) mod x86_64;

use core::fmt::Debug;
use core::sync::atomic::{AtomicU32, Ordering};

use super::backends::backends;

/// A set of processor features: one bit for those that a level adds to the levels it includes.
#[derive(Clone, Copy)]
struct Features(u32);

impl Features {
    /// Returns whether `other` is a subset.
    const fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }
}

/// A proof that a backend's instructions may be executed: a value that only detection creates.
pub trait Token: Copy + Debug + Send + Sync + 'static {
    /// The level of the backend.
    const LEVEL: Level;

    /// The backend's name.
    const NAME: &'static str = Self::LEVEL.name();
}

/// Returns whether this processor has all of these features.
#[cfg_attr(
    not(any(target_arch = "x86_64", target_arch = "aarch64", cycloid_armv7em)),
    allow(unused_macros)
)]
macro_rules! has {
    () => {
        true
    };
    ($($feature:tt)+) => {{
        cpufeatures::new!(own, $($feature),+);
        own::get()
    }};
}

/// Declares the levels, their tokens and their detection from the list of backends.
macro_rules! levels {
    (
        ()
        $(
            $(#[$doc:meta])* $level:ident $name:literal $cfg:tt [$($feature:tt)*]
            [$($included:ident)*];
        )*
    ) => {
        /// The sets of processor features that backends are written for.
        ///
        /// They are only partly ordered, by [`includes`](Level::includes): each architecture has
        /// its own.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[repr(u8)]
        pub enum Level {
            /// Plain Rust, without special features.
            Portable,
            $(
                $(#[$doc])*
                $(
                    ///
                    #[doc = concat!("Includes [`", stringify!($included), "`](Self::",
                        stringify!($included), ").")]
                )*
                $level,
            )*
        }

        impl Level {
            /// All levels: one follows those that it includes, and the last available one is the
            /// fastest.
            pub const ALL: [Self; [$($name),*].len() + 1] = [Self::Portable, $(Self::$level),*];

            /// Returns the name that [`Level::from_name`] accepts.
            pub const fn name(self) -> &'static str {
                match self {
                    Self::Portable => "portable",
                    $(Self::$level => $name,)*
                }
            }

            /// Returns all features of the level.
            const fn features(self) -> Features {
                match self {
                    Self::Portable => Features(0),
                    $(
                        Self::$level => Features(
                            self.own_features().0 $(| Self::$included.features().0)*,
                        ),
                    )*
                }
            }
        }

        /// Returns the features of this processor that levels consist of.
        fn detected() -> Features {
            #[allow(unused_mut, reason = "some architectures have no level of their own")]
            let mut features = 0;
            $(
                #[cfg $cfg]
                if has!($($feature)*) {
                    features |= Level::$level.own_features().0;
                }
            )*
            Features(features)
        }

        $(
            #[doc = concat!("Proof of the features of [`Level::", stringify!($level), "`].")]
            #[cfg $cfg]
            #[derive(Clone, Copy, Debug)]
            pub struct $level(());

            #[cfg $cfg]
            impl Token for $level {
                const LEVEL: Level = Level::$level;
            }

            #[cfg $cfg]
            impl $level {
                /// Returns the token if the processor has the level and [`limit`] allows it.
                pub fn detect() -> Option<Self> {
                    Self::LEVEL.is_available().then_some(Self(()))
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

            $(
                #[cfg $cfg]
                impl From<$level> for $included {
                    fn from(_: $level) -> Self {
                        Self(())
                    }
                }
            )*
        )*
    };
}

backends!(all, [levels]());

#[cfg(cycloid_armv7em)]
impl Armv7em {
    /// Returns the token: every processor of the target has the level.
    #[inline(always)]
    pub const fn of_this_target() -> Self {
        Self(())
    }
}

impl Level {
    /// Returns the level with that name, as in the environment variable `CYCLOID_CPU`.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|level| level.name() == name)
    }

    /// Returns whether every feature of `other` is one of this level.
    pub const fn includes(self, other: Self) -> bool {
        self.features().contains(other.features())
    }

    /// Returns whether this processor has the level, regardless of [`limit`].
    pub fn is_detected(self) -> bool {
        present().contains(self.features())
    }

    /// Returns whether this processor has the level and [`limit`] allows it.
    pub fn is_available(self) -> bool {
        let allowed = Features(LIMIT.load(Ordering::Relaxed));
        self.is_detected() && allowed.contains(self.features())
    }

    /// Returns the features that the level adds to the levels it includes.
    const fn own_features(self) -> Features {
        Features((1 << self as u32) >> 1)
    }
}

static LIMIT: AtomicU32 = AtomicU32::new(u32::MAX);

/// Restricts operations that begin from now on to the features of `level`, in the whole process.
///
/// For tests and measurements. Programs of this project call it with the value of the environment
/// variable `CYCLOID_CPU`; the library itself reads no environment. Without effect where the target
/// decides the backend (Armv7E-M).
pub fn limit(level: Level) {
    LIMIT.store(level.features().0, Ordering::Relaxed);
}

/// Treats `level` as detected from now on, in the whole process: for runs under an emulator that
/// executes instructions that CPUID does not report, as valgrind does with ADX.
///
/// # Safety
/// Every instruction of the level must execute on every thread.
pub unsafe fn assume(level: Level) {
    ASSUMED.store(level.features().0, Ordering::Relaxed);
}

static ASSUMED: AtomicU32 = AtomicU32::new(0);

/// Returns the features that were detected or are assumed.
fn present() -> Features {
    Features(detected().0 | ASSUMED.load(Ordering::Relaxed))
}

/// Returns the fastest level that this processor has and that [`limit`] allows.
pub fn level() -> Level {
    fastest(Level::is_available)
}

/// Returns the fastest level that this processor has, regardless of [`limit`].
pub fn detected_level() -> Level {
    fastest(Level::is_detected)
}

fn fastest(usable: impl Fn(Level) -> bool) -> Level {
    Level::ALL.into_iter().rfind(|level| usable(*level)).unwrap_or(Level::Portable)
}

/// Returns whether the processor has SHA-256 instructions, which the crate `sha2` then uses.
pub fn has_sha() -> bool {
    #[cfg(target_arch = "x86_64")]
    return x86_64::has_sha();
    #[cfg(not(target_arch = "x86_64"))]
    return cfg!(target_feature = "sha2");
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
        let names = ["portable", "adx", "armv7e-m", "aarch64", "avx512", "ifma"];
        assert_eq!(Level::ALL.map(Level::name), names);
    }

    #[test]
    fn levels_include_others_by_their_features() {
        for (i, level) in Level::ALL.into_iter().enumerate() {
            assert!(level.includes(level) && level.includes(Level::Portable));
            assert!(Level::ALL[i + 1..].iter().all(|later| !level.includes(*later)));
        }
        assert!(Level::Ifma.includes(Level::Avx512) && Level::Ifma.includes(Level::Adx));
        assert!(Level::Avx512.includes(Level::Adx));
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
