//! The base prime of BLS12-381 in Montgomery form, R = 2³⁸⁴.
//!
//! p is less than 2³⁸¹, so the window of a row and a step has three spare bits.

use core::arch::naked_asm;

use super::dense::Modulus;
use super::{Bls12Base, Limb, Prime};

/// The prime and twice the prime.
#[repr(C)]
pub(super) struct Moduli {
    pub(super) prime: Modulus<6>,
    twice: [Limb; 6],
}

pub(super) static MODULI: Moduli = Moduli {
    prime: Modulus::of(Bls12Base::MODULUS),
    twice: {
        let (mut twice, mut carry, mut i) = ([0; 6], 0, 0);
        while i < 6 {
            twice[i] = Bls12Base::MODULUS[i] << 1 | carry;
            carry = Bls12Base::MODULUS[i] >> 63;
            i += 1;
        }
        twice
    },
};

/// Six rows and steps on the window `x16`, `x17`, `x19` to `x23`: the first row is `$first`, for
/// the factors `x4` to `x9` and `x1`; the others' factors are at `[x2]`. The result is `x23`,
/// `x16`, `x17`, `x19` to `x21`. Needs the prime in `x10` to `x15`, its n0 in `x26`, and `x24` and
/// `x25`; uses `x1` and `x3`.
macro_rules! six_rows_and_steps {
    ($first:expr) => {
        concat!(
            "ldp x1, x3, [x2]\n",
            $first,
            step!(used ["x10" "x11" "x12" "x13" "x14" "x15"] ["x25" "x24" "x26"];
                "x16" "x17" "x19" "x20" "x21" "x22" "x23"),
            rows_and_steps!([
                    "" "x3" "ldp x1, x3, [x2, #16]\n" "x1" "" "x3"
                    "ldp x1, x3, [x2, #32]\n" "x1" "" "x3"
                ] ["x4" "x5" "x6" "x7" "x8" "x9"] ["x10" "x11" "x12" "x13" "x14" "x15"]
                ["x25" "x24" "x26"]; "x17" "x19" "x20" "x21" "x22" "x23" "x16"),
        )
    };
}

/// Six rows and steps for a product alone.
macro_rules! product_and_reduction {
    () => {
        six_rows_and_steps!(first_row!("x1" "x24"; ["x4" "x5" "x6" "x7" "x8" "x9"]
            "x16" "x17" "x19" "x20" "x21" "x22" "x23"))
    };
}

/// Loads the prime and its n0 from `[x3]`.
macro_rules! load_prime {
    () => {
        concat!(
            load!("x3" 0; "x10" "x11" "x12" "x13" "x14" "x15"),
            "ldr x26, [x3, #48]\n",
        )
    };
}

/// The twelve limbs `x10` to `x17`, `x19` to `x22` = the product of `x4` to `x9` and the limbs at
/// `[$by]`. Needs `x24`; uses `x1` and `x3`.
macro_rules! product_12 {
    ($by:literal) => {
        concat!(
            "ldp x1, x3, [", $by, "]\n",
            first_row!("x1" "x24"; ["x4" "x5" "x6" "x7" "x8" "x9"]
                "x10" "x11" "x12" "x13" "x14" "x15" "x16"),
            row!(fresh "x3" "x24"; ["x4" "x5" "x6" "x7" "x8" "x9"]
                "x11" "x12" "x13" "x14" "x15" "x16" "x17"),
            "ldp x1, x3, [", $by, ", #16]\n",
            row!(fresh "x1" "x24"; ["x4" "x5" "x6" "x7" "x8" "x9"]
                "x12" "x13" "x14" "x15" "x16" "x17" "x19"),
            row!(fresh "x3" "x24"; ["x4" "x5" "x6" "x7" "x8" "x9"]
                "x13" "x14" "x15" "x16" "x17" "x19" "x20"),
            "ldp x1, x3, [", $by, ", #32]\n",
            row!(fresh "x1" "x24"; ["x4" "x5" "x6" "x7" "x8" "x9"]
                "x14" "x15" "x16" "x17" "x19" "x20" "x21"),
            row!(fresh "x3" "x24"; ["x4" "x5" "x6" "x7" "x8" "x9"]
                "x15" "x16" "x17" "x19" "x20" "x21" "x22"),
        )
    };
}

/// Stores the twelve limbs of [`product_12`] from the byte `$place` of `[$memory]` on.
macro_rules! store_12 {
    ($memory:literal $place:literal $upper:literal) => {
        concat!(
            store!($memory $place; "x10" "x11" "x12" "x13" "x14" "x15"),
            store!($memory $upper; "x16" "x17" "x19" "x20" "x21" "x22"),
        )
    };
}

/// Six rows and steps, added to the twelve limbs at `[sp]`.
macro_rules! add_product_and_reduction {
    () => {
        concat!(
            load!("sp" 0; "x16" "x17" "x19" "x20" "x21" "x22"),
            six_rows_and_steps!(row!(fresh "x1" "x24"; ["x4" "x5" "x6" "x7" "x8" "x9"]
                "x16" "x17" "x19" "x20" "x21" "x22" "x23")),
            load!("sp" 48; "x4" "x5" "x6" "x7" "x8" "x9"),
            chain!("adds" "adcs"; ["x23" "x16" "x17" "x19" "x20" "x21"]
                ["x23" "x16" "x17" "x19" "x20" "x21"] ["x4" "x5" "x6" "x7" "x8" "x9"]),
        )
    };
}

/// `x16` … = the result of six rows and steps, less than 2p, minus p unless that is negative.
macro_rules! finish {
    () => {
        subtract_modulus!(["x23" "x16" "x17" "x19" "x20" "x21"]
            ["x10" "x11" "x12" "x13" "x14" "x15"] ["x4" "x5" "x6" "x7" "x8" "x9"])
    };
}

/// Computes `out = a · b / R mod p`, less than p; see [`product`].
///
/// # Safety
/// As for [`product`].
#[inline(always)]
pub(super) unsafe fn mul(out: *mut Limb, a: *const Limb, b: *const Limb) {
    // SAFETY: as for `product`.
    unsafe { product(out, a, b, &MODULI) };
}

/// Computes `out = a · b / R mod p`, less than p.
///
/// `a` is less than 2³⁸¹, `b` any number below R, and one of them less than p. From W < 2³⁸³, a row
/// and a step leave (W + 2⁶⁴·a + 2⁶⁴·p) / 2⁶⁴ < 2³⁸³, and the final value is below a·b / R + p <
/// 2p.
///
/// # Safety
/// `a` and `b` are six limbs each, and `out` has room for six; it may be where `a` or `b` are, and
/// need not be initialised.
#[unsafe(naked)]
unsafe extern "C" fn product(
    out: *mut Limb,
    a: *const Limb,
    b: *const Limb,
    moduli: *const Moduli,
) {
    naked_asm!(
        enter!(64 "x19" "x20" 0 "x21" "x22" 16 "x23" "x24" 32 "x25" "x26" 48),
        load!("x1" 0; "x4" "x5" "x6" "x7" "x8" "x9"),
        load_prime!(),
        product_and_reduction!(),
        finish!(),
        store!("x0" 0; "x23" "x16" "x17" "x19" "x20" "x21"),
        leave!(64 "x19" "x20" 0 "x21" "x22" 16 "x23" "x24" 32 "x25" "x26" 48),
    )
}

/// Computes `out = (a · b + c · d) / R mod p`, less than p, for factors that are at most p.
///
/// a·b is less than 2³⁸⁴·p / 8. From W < 2³⁸⁴, a row and a step leave (W + 2⁶⁴·c + 2⁶⁴·p) / 2⁶⁴ <
/// 2³⁸³, and the final value is below (a·b + c·d) / R + p < 2p. Stack: a·b, `c`, `d`, `moduli`.
///
/// # Safety
/// `a`, `b`, `c` and `d` are six limbs each, and `out` has room for six; it may be where any of
/// them is, and need not be initialised.
#[unsafe(naked)]
pub(super) unsafe extern "C" fn sum_of_products(
    out: *mut Limb,
    a: *const Limb,
    b: *const Limb,
    c: *const Limb,
    d: *const Limb,
    moduli: *const Moduli,
) {
    naked_asm!(
        enter!(192 "x19" "x20" 128 "x21" "x22" 144 "x23" "x24" 160 "x25" "x26" 176),
        "stp x3, x4, [sp, #96]",
        "str x5, [sp, #112]",
        load!("x1" 0; "x4" "x5" "x6" "x7" "x8" "x9"),
        product_12!("x2"),
        store_12!("sp" 0 48),
        "ldp x1, x2, [sp, #96]",
        "ldr x3, [sp, #112]",
        load!("x1" 0; "x4" "x5" "x6" "x7" "x8" "x9"),
        load_prime!(),
        add_product_and_reduction!(),
        finish!(),
        store!("x0" 0; "x23" "x16" "x17" "x19" "x20" "x21"),
        leave!(192 "x19" "x20" 128 "x21" "x22" 144 "x23" "x24" 160 "x25" "x26" 176),
    )
}

/// Computes `out = a` squared `times` times, less than p; see [`power`].
///
/// # Safety
/// As for [`power`].
#[inline(always)]
pub(super) unsafe fn square_times(out: *mut Limb, a: *const Limb, times: usize) {
    // SAFETY: as for `power`.
    unsafe { power(out, a, times, &MODULI) };
}

/// Computes `out = a` squared `times` times, less than p, for `a` less than p; `times` is not 0.
///
/// The square's lower half is reduced by itself, to at most p, and the upper half added. A square
/// of a number below 2p is reduced to less than (2p)² / R + p < 2p, because p is less than R / 4,
/// so the prime is subtracted only at the end.
///
/// # Safety
/// As for [`product`].
#[unsafe(naked)]
unsafe extern "C" fn power(out: *mut Limb, a: *const Limb, times: usize, moduli: *const Moduli) {
    naked_asm!(
        enter!(64 "x19" "x20" 0 "x21" "x22" 16 "x23" "x24" 32 "x25" "x26" 48),
        load!("x1" 0; "x4" "x5" "x6" "x7" "x8" "x9"),
        "ldr x26, [x3, #48]",
        "2:",
        square_6!("x4" "x5" "x6" "x7" "x8" "x9"; "x24";
            "x10" "x11" "x12" "x13" "x14" "x15" "x16" "x17" "x19" "x20" "x21" "x22"),
        load!("x3" 0; "x4" "x5" "x6" "x7" "x8" "x9"),
        reduction_steps!([0 1 2 3 4 5] ["x4" "x5" "x6" "x7" "x8" "x9"] ["x25" "x24" "x26"];
            "x10" "x11" "x12" "x13" "x14" "x15"),
        "sub x2, x2, #1",
        "cbz x2, 3f",
        chain!("adds" "adcs"; ["x4" "x5" "x6" "x7" "x8" "x9"]
            ["x10" "x11" "x12" "x13" "x14" "x15"] ["x16" "x17" "x19" "x20" "x21" "x22"]),
        "b 2b",
        "3:",
        chain!("adds" "adcs"; ["x10" "x11" "x12" "x13" "x14" "x15"]
            ["x10" "x11" "x12" "x13" "x14" "x15"] ["x16" "x17" "x19" "x20" "x21" "x22"]),
        subtract_modulus!(["x10" "x11" "x12" "x13" "x14" "x15"]
            ["x4" "x5" "x6" "x7" "x8" "x9"] ["x16" "x17" "x19" "x20" "x21" "x22"]),
        store!("x0" 0; "x10" "x11" "x12" "x13" "x14" "x15"),
        leave!(64 "x19" "x20" 0 "x21" "x22" 16 "x23" "x24" 32 "x25" "x26" 48),
    )
}

/// Computes `out = a · b`, twelve limbs.
///
/// # Safety
/// `a` and `b` are six limbs each, and `out` has room for twelve, apart from both; it need not be
/// initialised.
#[unsafe(naked)]
pub(super) unsafe extern "C" fn mul_wide(out: *mut Limb, a: *const Limb, b: *const Limb) {
    naked_asm!(
        enter!(48 "x19" "x20" 0 "x21" "x22" 16 "x23" "x24" 32),
        load!("x1" 0; "x4" "x5" "x6" "x7" "x8" "x9"),
        product_12!("x2"),
        store_12!("x0" 0 48),
        leave!(48 "x19" "x20" 0 "x21" "x22" 16 "x23" "x24" 32),
    )
}

/// Computes `out = wide / R mod p`, less than p, for `count` numbers of twelve limbs each, one
/// after the other, of signed integers less than 2p·R in magnitude; `count` is not 0.
///
/// The lower half is reduced by itself, to at most p, and the upper half added: from −2p to 3p.
/// Twice the prime is added to a negative value and subtracted from any other.
///
/// # Safety
/// `wide` is `count` times twelve limbs and `out` has room for `count` times six, apart from
/// `wide`; it need not be initialised.
#[unsafe(naked)]
pub(super) unsafe extern "C" fn reduce_wide(
    out: *mut Limb,
    wide: *const Limb,
    moduli: *const Moduli,
    count: usize,
) {
    naked_asm!(
        enter!(64 "x19" "x20" 0 "x21" "x22" 16 "x23" "x24" 32 "x25" "x26" 48),
        load!("x2" 0; "x4" "x5" "x6" "x7" "x8" "x9"),
        "ldr x26, [x2, #48]",
        "2:",
        load!("x1" 0; "x10" "x11" "x12" "x13" "x14" "x15"),
        reduction_steps!([0 1 2 3 4 5] ["x4" "x5" "x6" "x7" "x8" "x9"] ["x25" "x24" "x26"];
            "x10" "x11" "x12" "x13" "x14" "x15"),
        load!("x1" 48; "x16" "x17" "x19" "x20" "x21" "x22"),
        chain!("adds" "adcs"; ["x10" "x11" "x12" "x13" "x14" "x15"]
            ["x10" "x11" "x12" "x13" "x14" "x15"] ["x16" "x17" "x19" "x20" "x21" "x22"]),
        // The last sum is negative.
        load!("x2" 56; "x16" "x17" "x19" "x20" "x21" "x22"),
        "tst x15, x15",
        keep_if!("mi"; ["x16" "x17" "x19" "x20" "x21" "x22"]
            ["x16" "x17" "x19" "x20" "x21" "x22"]),
        chain!("adds" "adcs"; ["x10" "x11" "x12" "x13" "x14" "x15"]
            ["x10" "x11" "x12" "x13" "x14" "x15"] ["x16" "x17" "x19" "x20" "x21" "x22"]),
        load!("x2" 56; "x16" "x17" "x19" "x20" "x21" "x22"),
        subtract_modulus!(["x10" "x11" "x12" "x13" "x14" "x15"]
            ["x16" "x17" "x19" "x20" "x21" "x22"] ["x16" "x17" "x19" "x20" "x21" "x22"]),
        subtract_modulus!(["x10" "x11" "x12" "x13" "x14" "x15"]
            ["x4" "x5" "x6" "x7" "x8" "x9"] ["x16" "x17" "x19" "x20" "x21" "x22"]),
        store!("x0" 0; "x10" "x11" "x12" "x13" "x14" "x15"),
        "add x0, x0, #48",
        "add x1, x1, #96",
        "sub x3, x3, #1",
        "cbnz x3, 2b",
        leave!(64 "x19" "x20" 0 "x21" "x22" 16 "x23" "x24" 32 "x25" "x26" 48),
    )
}
