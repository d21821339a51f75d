//! Products by strips: up to eight limbs of one factor stay in registers, the other's limbs are the
//! rows.

use core::arch::naked_asm;

use super::Limb;

/// Computes `out[.. rows + w] = out[.. rows] + a · b`, where `a` has w limbs, and `b` has `rows`.
pub(super) type Strip =
    unsafe extern "C" fn(out: *mut Limb, a: *const Limb, b: *const Limb, rows: usize);

/// Defines a [`Strip`].
macro_rules! strip {
    ($name:ident $w:literal $pairs:tt [$($a:literal)+] [$($window:literal)+]) => {
        /// A [`Strip`].
        ///
        /// # Safety
        /// `a` has w limbs, `b` has `rows`, at least one, and `out` has room for `rows` + w, apart
        /// from both.
        #[unsafe(naked)]
        unsafe extern "C" fn $name(
            out: *mut Limb,
            a: *const Limb,
            b: *const Limb,
            rows: usize,
        ) {
            naked_asm!(
                enter!(64 "x19" "x20" 0 "x21" "x22" 16 "x23" "x24" 32 "x25" "x26" 48),
                load!("x1" $pairs $($a)+),
                concat!($("mov ", $window, ", xzr\n",)+),
                rows!("x3"; "x2" "x0"; "x17" "x23" "x24" "x25"; "x16" "x1"; [$($a)+] [$($window)+]),
                store!("x0" $pairs $($window)+),
                leave!(64 "x19" "x20" 0 "x21" "x22" 16 "x23" "x24" 32 "x25" "x26" 48),
            )
        }
    };
}

strip!(strip_1 1 [0] ["x12"] ["x4"]);
strip!(strip_2 2 [0] ["x12" "x13"] ["x4" "x5"]);
strip!(strip_3 3 [0 1] ["x12" "x13" "x14"] ["x4" "x5" "x6"]);
strip!(strip_4 4 [0 1] ["x12" "x13" "x14" "x15"] ["x4" "x5" "x6" "x7"]);
strip!(strip_5 5 [0 1 2] ["x12" "x13" "x14" "x15" "x19"] ["x4" "x5" "x6" "x7" "x8"]);
strip!(strip_6 6 [0 1 2] ["x12" "x13" "x14" "x15" "x19" "x20"] ["x4" "x5" "x6" "x7" "x8" "x9"]);
strip!(strip_7 7 [0 1 2 3] ["x12" "x13" "x14" "x15" "x19" "x20" "x21"]
    ["x4" "x5" "x6" "x7" "x8" "x9" "x10"]);
strip!(strip_8 8 [0 1 2 3] ["x12" "x13" "x14" "x15" "x19" "x20" "x21" "x22"]
    ["x4" "x5" "x6" "x7" "x8" "x9" "x10" "x11"]);

/// Returns the strip of a block of `limbs` limbs, 1 to 8.
#[inline(always)]
pub(super) fn strip(limbs: usize) -> Strip {
    match limbs {
        1 => strip_1,
        2 => strip_2,
        3 => strip_3,
        4 => strip_4,
        5 => strip_5,
        6 => strip_6,
        7 => strip_7,
        _ => strip_8,
    }
}

/// Computes `product = a · b`; see [`Words::mul`](super::Words::mul).
#[inline]
pub(super) fn mul(product: &mut [Limb], a: &[Limb], b: &[Limb]) {
    assert_eq!(product.len(), a.len() + b.len());
    if a.is_empty() || b.is_empty() {
        return product.fill(0);
    }
    product[..b.len()].fill(0);
    for (i, block) in a.chunks(8).enumerate() {
        let out = &mut product[8 * i..][..block.len() + b.len()];
        // SAFETY: the strip is for the block's length, `b` is not empty, and `out`, uniquely
        // borrowed, is as long as both.
        unsafe { strip(block.len())(out.as_mut_ptr(), block.as_ptr(), b.as_ptr(), b.len()) };
    }
}
