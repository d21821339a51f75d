//! The list of backends, and what follows from it: the enumeration of the backends of a shape, and
//! the evaluation of an expression with the token of one.

/// Passes the backends of a shape (`one` number or `eight`), or `all`, to the macro `$then`, after
/// `$arguments`; the fastest is last. Plain Rust precedes them and is not listed.
///
/// A new backend is a line here and an implementation of the interfaces in `words` or `lanes`,
/// `across` and `field`. The line has the token, which is also a [`Level`](super::cpu::Level), its
/// name, the architecture, the processor features that detection requires, and the backends whose
/// features it requires as well. Without features to detect, the architecture is the proof.
macro_rules! backends {
    ($shape:ident, [$($then:tt)+] $arguments:tt) => {
        $crate::machine::backends::backends! { @$shape [$($then)+] $arguments
            one {
                /// BMI2, ADX and AVX2 (Intel since Broadwell, AMD since Zen).
                Adx "adx" (target_arch = "x86_64") ["bmi2" "adx" "avx2"] [];
                /// Armv7E-M with UMAAL and the other DSP instructions (Cortex-M4 and M7). A program
                /// for this target contains no other backend for one number.
                Armv7em "armv7e-m" (cycloid_armv7em) [] [];
                /// AArch64: MUL, UMULH and NEON.
                Aarch64 "aarch64" (target_arch = "aarch64") [] [];
            }
            eight {
                /// AVX-512 F, DQ, BW and VL (Intel servers since Skylake, AMD since Zen 4).
                Avx512 "avx512" (all(target_arch = "x86_64", feature = "avx512"))
                    ["avx512f" "avx512dq" "avx512bw" "avx512vl"] [Adx];
                /// AVX-512 IFMA (Intel since Ice Lake, AMD since Zen 4).
                Ifma "ifma" (all(target_arch = "x86_64", feature = "avx512"))
                    ["avx512ifma"] [Avx512];
            }
        }
    };
    (@one [$($then:tt)+] $arguments:tt one { $($one:tt)* } eight $eight:tt) => {
        $($then)+! { $arguments $($one)* }
    };
    (@eight [$($then:tt)+] $arguments:tt one $one:tt eight { $($eight:tt)* }) => {
        $($then)+! { $arguments $($eight)* }
    };
    (@all [$($then:tt)+] $arguments:tt one { $($one:tt)* } eight { $($eight:tt)* }) => {
        $($then)+! { $arguments $($one)* $($eight)* }
    };
}
pub(super) use backends;

/// Declares the enumeration of the backends of a shape; `$portable` is the condition for plain Rust.
/// The module has its token for plain Rust, `Portable`, and its trait `Task`.
macro_rules! enumeration {
    (
        $portable:tt
        $($(#[$doc:meta])* $token:ident $name:literal $cfg:tt $features:tt $included:tt;)*
    ) => {
        /// The backends that this processor runs; tests walk all of them.
        #[derive(Clone, Copy, Debug)]
        pub enum Backend {
            /// Plain Rust.
            #[cfg $portable]
            Portable(Portable),
            $($(#[$doc])* #[cfg $cfg] $token($crate::machine::cpu::$token),)*
        }

        impl Backend {
            /// Whether there is a backend besides plain Rust.
            #[allow(dead_code, reason = "only the choice for eight depends on it")]
            pub(super) const HAS_OTHERS: bool = {
                let others: &[()] = &[$(#[cfg $cfg] (),)*];
                !others.is_empty()
            };

            /// The levels of these backends, whether or not the processor has them.
            #[cfg(test)]
            pub(crate) const LEVELS: &[$crate::machine::cpu::Level] = &[
                $crate::machine::cpu::Level::Portable,
                $($crate::machine::cpu::Level::$token),*
            ];

            /// Returns all backends that the processor has and that
            /// [`cpu::limit`](crate::cpu::limit) allows, slowest first.
            pub fn available() -> impl Iterator<Item = Self> {
                [
                    #[cfg $portable]
                    Some(Self::Portable(Portable)),
                    $(#[cfg $cfg] $crate::machine::cpu::$token::detect().map(Self::$token),)*
                ]
                .into_iter()
                .flatten()
            }

            /// Returns the backend's name.
            pub const fn name(self) -> &'static str {
                use $crate::machine::cpu::Token;
                match self {
                    #[cfg $portable]
                    Self::Portable(_) => Portable::NAME,
                    $(#[cfg $cfg] Self::$token(_) => $crate::machine::cpu::$token::NAME,)*
                }
            }

            /// Runs `task` on this backend.
            #[inline]
            pub fn run<T: Task>(self, task: T) -> T::Output {
                match self {
                    #[cfg $portable]
                    Self::Portable(token) => task.run(token),
                    $(#[cfg $cfg] Self::$token(token) => task.run(token),)*
                }
            }
        }
    };
}
pub(super) use enumeration;

/// Evaluates `$run` with the token of a backend for one number.
macro_rules! with_one {
    ($backend:expr, $token:ident => $run:expr) => {
        $crate::machine::backends::backends!(one, [$crate::machine::backends::with]
            (words (not(cycloid_armv7em)) $backend, $token => $run, $token => $run))
    };
}
pub(super) use with_one;

/// Evaluates `$run` with the token of a backend for eight numbers.
macro_rules! with_eight {
    ($backend:expr, $token:ident => $run:expr) => {
        $crate::machine::backends::backends!(eight, [$crate::machine::backends::with]
            (lanes (all()) $backend, $token => $run, $token => $run))
    };
}
pub(super) use with_eight;

/// Evaluates `$run` with the token of a backend with vectors. Nothing selects plain Rust for eight
/// numbers, because eight single operations are faster. It is compiled for the library's own tests,
/// and for processors without a backend with vectors, where nothing else uses this code; elsewhere
/// it would only take long.
///
/// # Panics
/// With plain Rust, if it is not compiled.
macro_rules! with_vectors {
    ($backend:expr, $token:ident => $run:expr) => {
        $crate::machine::backends::backends!(eight, [$crate::machine::backends::with]
            (lanes (all()) $backend, $token => $run, $token => {
                #[cfg(all(not(test), target_arch = "x86_64"))]
                {
                    let _ = $token;
                    unreachable!("no backend without vectors is chosen")
                }
                // Nothing else uses the code on Armv7E-M either; but it must not take flash.
                #[cfg(any(test, not(target_arch = "x86_64")))]
                if cfg!(cycloid_armv7em) {
                    unreachable!("no backend without vectors is chosen")
                } else {
                    $run
                }
            }))
    };
}
pub(super) use with_vectors;

/// Matches a backend of a shape.
macro_rules! with {
    (
        ($shape:ident $portable_cfg:tt $backend:expr, $token:ident => $run:expr,
            $portable:ident => $run_portable:expr)
        $($(#[$doc:meta])* $variant:ident $name:literal $cfg:tt $features:tt $included:tt;)*
    ) => {
        match $backend {
            #[cfg $portable_cfg]
            $crate::machine::$shape::Backend::Portable($portable) => $run_portable,
            $(#[cfg $cfg] $crate::machine::$shape::Backend::$variant($token) => $run,)*
        }
    };
}
pub(super) use with;
