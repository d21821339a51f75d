//! The operations of `linear` and `masked` as functions that are not inlined, for code that runs
//! rarely and would be long: reading keys.

use super::Limb;
use crate::machine::ct::Mask;

macro_rules! functions {
    ($($name:ident ($($argument:ident: $type:ty),*) $(-> $result:ty)?;)+) => {$(
        #[doc = concat!("[`", stringify!($name), "`](super::", stringify!($name), ").")]
        #[inline(never)]
        pub fn $name($($argument: $type),*) $(-> $result)? {
            super::$name($($argument),*)
        }
    )+};
}

functions! {
    add(a: &mut [Limb], b: &[Limb]) -> Limb;
    sub(a: &mut [Limb], b: &[Limb]) -> Limb;
    sub_if(mask: Mask, a: &mut [Limb], b: &[Limb]) -> Limb;
    double(a: &mut [Limb]) -> Limb;
    decrement(a: &mut [Limb]) -> Limb;
    is_less(a: &[Limb], b: &[Limb]) -> Mask;
    is_zero(a: &[Limb]) -> Mask;
}
