//! The scalar prime of BLS12-381 in Montgomery form, R = 2²⁵⁶.
//!
//! p is less than 2²⁵⁵, so the window of a row and a step has one spare bit.

use core::arch::naked_asm;

use super::dense::Modulus;
use super::{Bls12Scalar, Limb, Prime};

pub(super) static MODULUS: Modulus<4> = Modulus::of(Bls12Scalar::MODULUS);

/// Computes `out = a · b / R mod p`, less than p; see [`product`].
///
/// # Safety
/// As for [`product`].
#[inline(always)]
pub(super) unsafe fn mul(out: *mut Limb, a: *const Limb, b: *const Limb) {
    // SAFETY: as for `product`.
    unsafe { product(out, a, b, &MODULUS) };
}

/// Computes `out = a` squared `times` times, less than p; see [`power`].
///
/// # Safety
/// As for [`power`].
#[inline(always)]
pub(super) unsafe fn square_times(out: *mut Limb, a: *const Limb, times: usize) {
    // SAFETY: as for `power`.
    unsafe { power(out, a, times, &MODULUS) };
}

/// Computes `out = a · b / R mod p`, less than p.
///
/// `a` is less than 2²⁵⁵, `b` any number below R, and one of them less than p. The value is less
/// than a + p after each step, less than 2⁶⁴·(a + p) < 2³²⁰ after another row and step, and finally
/// less than a·b / R + p < 2p.
///
/// # Safety
/// `a` and `b` are four limbs each, and `out` has room for four; it may be where `a` or `b` are,
/// and need not be initialised.
#[unsafe(naked)]
unsafe extern "C" fn product(
    out: *mut Limb,
    a: *const Limb,
    b: *const Limb,
    modulus: *const Modulus<4>,
) {
    naked_asm!(
        enter!(16 "x19" "x20" 0),
        load!("x1" 0; "x4" "x5" "x6" "x7"),
        load!("x3" 0; "x8" "x9" "x10" "x11"),
        "ldr x20, [x3, #32]",
        "ldp x1, x3, [x2]",
        first_row!("x1" "x17"; ["x4" "x5" "x6" "x7"] "x12" "x13" "x14" "x15" "x16"),
        step!(used ["x8" "x9" "x10" "x11"] ["x19" "x17" "x20"]; "x12" "x13" "x14" "x15" "x16"),
        rows_and_steps!(["" "x3" "ldp x1, x3, [x2, #16]\n" "x1" "" "x3"] ["x4" "x5" "x6" "x7"]
            ["x8" "x9" "x10" "x11"] ["x19" "x17" "x20"]; "x13" "x14" "x15" "x16" "x12"),
        subtract_modulus!(["x16" "x12" "x13" "x14"] ["x8" "x9" "x10" "x11"]
            ["x4" "x5" "x6" "x7"]),
        store!("x0" 0; "x16" "x12" "x13" "x14"),
        leave!(16 "x19" "x20" 0),
    )
}

/// Computes `out = a` squared `times` times, less than p, for `a` less than p; `times` is not 0.
///
/// The lower half of the square is reduced by itself, to at most p, and the upper half, less than
/// p, is added.
///
/// # Safety
/// As for [`product`].
#[unsafe(naked)]
unsafe extern "C" fn power(
    out: *mut Limb,
    a: *const Limb,
    times: usize,
    modulus: *const Modulus<4>,
) {
    naked_asm!(
        ".cfi_startproc",
        load!("x1" 0; "x4" "x5" "x6" "x7"),
        "ldr x1, [x3, #32]",
        "2:",
        square_4!("x4" "x5" "x6" "x7"; "x17"; "x8" "x9" "x10" "x11" "x12" "x13" "x14" "x15"),
        load!("x3" 0; "x4" "x5" "x6" "x7"),
        reduction_steps!([0 1 2 3] ["x4" "x5" "x6" "x7"] ["x16" "x17" "x1"];
            "x8" "x9" "x10" "x11"),
        chain!("adds" "adcs"; ["x8" "x9" "x10" "x11"] ["x8" "x9" "x10" "x11"]
            ["x12" "x13" "x14" "x15"]),
        chain!("subs" "sbcs"; ["x4" "x5" "x6" "x7"] ["x8" "x9" "x10" "x11"] ["x4" "x5" "x6" "x7"]),
        select_limbs!("cc"; ["x4" "x5" "x6" "x7"] ["x8" "x9" "x10" "x11"] ["x4" "x5" "x6" "x7"]),
        "sub x2, x2, #1",
        "cbnz x2, 2b",
        store!("x0" 0; "x4" "x5" "x6" "x7"),
        "ret",
        ".cfi_endproc",
    )
}

/// Computes `out = a · b`, eight limbs.
///
/// # Safety
/// `a` and `b` are four limbs each, and `out` has room for eight, apart from both; it need not be
/// initialised.
#[unsafe(naked)]
pub(super) unsafe extern "C" fn mul_wide(out: *mut Limb, a: *const Limb, b: *const Limb) {
    naked_asm!(
        ".cfi_startproc",
        load!("x1" 0; "x4" "x5" "x6" "x7"),
        "ldp x1, x3, [x2]",
        first_row!("x1" "x17"; ["x4" "x5" "x6" "x7"] "x8" "x9" "x10" "x11" "x12"),
        row!(fresh "x3" "x17"; ["x4" "x5" "x6" "x7"] "x9" "x10" "x11" "x12" "x13"),
        "ldp x1, x3, [x2, #16]",
        row!(fresh "x1" "x17"; ["x4" "x5" "x6" "x7"] "x10" "x11" "x12" "x13" "x14"),
        row!(fresh "x3" "x17"; ["x4" "x5" "x6" "x7"] "x11" "x12" "x13" "x14" "x15"),
        store!("x0" 0; "x8" "x9" "x10" "x11"),
        store!("x0" 32; "x12" "x13" "x14" "x15"),
        "ret",
        ".cfi_endproc",
    )
}

/// Computes `out = wide / R mod p`, less than p, for eight limbs at `wide` that are less than p·R.
///
/// The lower half is reduced by itself, to at most p, and the upper half, less than p, is added.
///
/// # Safety
/// `wide` is eight limbs and `out` has room for four; it may be where `wide` is, and need not be
/// initialised.
#[unsafe(naked)]
pub(super) unsafe extern "C" fn reduce_wide(
    out: *mut Limb,
    wide: *const Limb,
    modulus: *const Modulus<4>,
) {
    naked_asm!(
        ".cfi_startproc",
        load!("x1" 0; "x8" "x9" "x10" "x11"),
        load!("x2" 0; "x4" "x5" "x6" "x7"),
        "ldr x3, [x2, #32]",
        reduction_steps!([0 1 2 3] ["x4" "x5" "x6" "x7"] ["x16" "x17" "x3"];
            "x8" "x9" "x10" "x11"),
        load!("x1" 32; "x12" "x13" "x14" "x15"),
        chain!("adds" "adcs"; ["x8" "x9" "x10" "x11"] ["x8" "x9" "x10" "x11"]
            ["x12" "x13" "x14" "x15"]),
        subtract_modulus!(["x8" "x9" "x10" "x11"] ["x4" "x5" "x6" "x7"]
            ["x12" "x13" "x14" "x15"]),
        store!("x0" 0; "x8" "x9" "x10" "x11"),
        "ret",
        ".cfi_endproc",
    )
}
