//! The numbers of PKCS #11, from `cryptoki-sys`. On the wire and in this crate they have 32 bits.

use cryptoki_sys::CK_ULONG;

/// Converts a number of the standard. All fit, which the compiler checks.
pub(crate) const fn narrow(number: CK_ULONG) -> u32 {
    assert!(number <= u32::MAX as CK_ULONG, "the number has more than 32 bits");
    number as u32
}

/// Defines a module of constants.
macro_rules! numbers {
    ($(#[$doc:meta])* $module:ident: $($name:ident = $value:expr,)*) => {
        $(#[$doc])*
        #[allow(missing_docs)]
        pub mod $module {
            use $crate::numbers::narrow;
            #[allow(clippy::wildcard_imports)]
            use cryptoki_sys::*;

            $(pub const $name: u32 = narrow($value);)*
        }
    };
}

pub(crate) use numbers;
