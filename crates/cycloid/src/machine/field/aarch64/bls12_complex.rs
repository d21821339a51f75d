//! Numbers a₀ + a₁·i with i² = −1 modulo the base prime of BLS12-381: twelve limbs, a₀ first.
//!
//! A product takes three of numbers: with k = b₀·(a₀ + a₁), its parts are k − a₁·(b₀ + b₁) and k +
//! a₀·(b₁ − b₀) (Knuth, The Art of Computer Programming, volume 2, section 4.6.4, exercise 41).
//! Each of the latter two is added to k row by row, so that its rows and the steps of a reduction
//! share one window.

use core::arch::naked_asm;

use super::Limb;
use super::bls12_base::Moduli;

/// Computes `out = a · b / R`, both parts less than p, for parts less than p.
///
/// First k + a₀·(b₁ + (p − b₀)), then k + a₁·((p − b₀) + (p − b₁)). k is less than 2p² < 2³⁸⁴·p /
/// 4. From W < 2³⁸⁴, a row and a step leave (W + 2⁶⁴·p + 2⁶⁴·p) / 2⁶⁴ < 2³⁸³, and the final value
/// is below 4p² / R + p < 2p. Stack: k, both factors.
///
/// # Safety
/// `a` and `b` are twelve limbs each, and `out` has room for twelve, apart from both; it need not
/// be initialised.
#[unsafe(naked)]
pub(super) unsafe extern "C" fn mul(
    out: *mut Limb,
    a: *const Limb,
    b: *const Limb,
    moduli: *const Moduli,
) {
    naked_asm!(
        enter!(272 "x19" "x20" 192 "x21" "x22" 208 "x23" "x24" 224 "x25" "x26" 240 "x27" "x28" 256),
        "mov x27, x3",
        "mov x28, x1",
        load!("x1" 0; "x4" "x5" "x6" "x7" "x8" "x9"),
        load!("x1" 48; "x10" "x11" "x12" "x13" "x14" "x15"),
        chain!("adds" "adcs"; ["x4" "x5" "x6" "x7" "x8" "x9"]
            ["x4" "x5" "x6" "x7" "x8" "x9"] ["x10" "x11" "x12" "x13" "x14" "x15"]),
        product_12!("x2"),
        store_12!("sp" 0 48),
        // p − b₀, plus b₁; and plus p − b₁.
        "mov x3, x27",
        load_prime!(),
        load!("x2" 0; "x4" "x5" "x6" "x7" "x8" "x9"),
        chain!("subs" "sbcs"; ["x4" "x5" "x6" "x7" "x8" "x9"]
            ["x10" "x11" "x12" "x13" "x14" "x15"] ["x4" "x5" "x6" "x7" "x8" "x9"]),
        load!("x2" 48; "x16" "x17" "x19" "x20" "x21" "x22"),
        chain!("adds" "adcs"; ["x1" "x2" "x3" "x23" "x24" "x25"]
            ["x4" "x5" "x6" "x7" "x8" "x9"] ["x16" "x17" "x19" "x20" "x21" "x22"]),
        store!("sp" 96; "x1" "x2" "x3" "x23" "x24" "x25"),
        chain!("subs" "sbcs"; ["x16" "x17" "x19" "x20" "x21" "x22"]
            ["x10" "x11" "x12" "x13" "x14" "x15"] ["x16" "x17" "x19" "x20" "x21" "x22"]),
        chain!("adds" "adcs"; ["x4" "x5" "x6" "x7" "x8" "x9"]
            ["x4" "x5" "x6" "x7" "x8" "x9"] ["x16" "x17" "x19" "x20" "x21" "x22"]),
        store!("sp" 144; "x4" "x5" "x6" "x7" "x8" "x9"),
        "add x0, x0, #48",
        "add x2, sp, #96",
        "mov x27, #2",
        "2:",
        load!("x28" 0; "x4" "x5" "x6" "x7" "x8" "x9"),
        add_product_and_reduction!(),
        finish!(),
        store!("x0" 0; "x23" "x16" "x17" "x19" "x20" "x21"),
        "sub x0, x0, #48",
        "add x2, x2, #48",
        "add x28, x28, #48",
        "sub x27, x27, #1",
        "cbnz x27, 2b",
        leave!(272 "x19" "x20" 192 "x21" "x22" 208 "x23" "x24" 224 "x25" "x26" 240 "x27" "x28" 256),
    )
}

/// Computes `out = a² / R`, both parts less than p, for parts less than p.
///
/// (a₀ + a₁)·(a₀ − a₁ + p), then 2a₀·a₁: factors less than 2p. From W < 2³⁸³, a row and a step
/// leave (W + 2⁶⁴·2p + 2⁶⁴·p) / 2⁶⁴ < 2³⁸³, and the final value is below 4p² / R + p < 2p. Stack:
/// a₀ − a₁ + p, a₁, 2a₀.
///
/// # Safety
/// `a` is twelve limbs, and `out` has room for twelve; it may be where `a` is, and need not be
/// initialised.
#[unsafe(naked)]
pub(super) unsafe extern "C" fn square(out: *mut Limb, a: *const Limb, moduli: *const Moduli) {
    naked_asm!(
        enter!(224 "x19" "x20" 144 "x21" "x22" 160 "x23" "x24" 176 "x25" "x26" 192 "x27" "x28" 208),
        "mov x3, x2",
        load_prime!(),
        load!("x1" 0; "x4" "x5" "x6" "x7" "x8" "x9"),
        load!("x1" 48; "x16" "x17" "x19" "x20" "x21" "x22"),
        store!("sp" 48; "x16" "x17" "x19" "x20" "x21" "x22"),
        chain!("subs" "sbcs"; ["x1" "x2" "x3" "x23" "x24" "x25"]
            ["x4" "x5" "x6" "x7" "x8" "x9"] ["x16" "x17" "x19" "x20" "x21" "x22"]),
        chain!("adds" "adcs"; ["x1" "x2" "x3" "x23" "x24" "x25"]
            ["x1" "x2" "x3" "x23" "x24" "x25"] ["x10" "x11" "x12" "x13" "x14" "x15"]),
        store!("sp" 0; "x1" "x2" "x3" "x23" "x24" "x25"),
        chain!("adds" "adcs"; ["x16" "x17" "x19" "x20" "x21" "x22"]
            ["x4" "x5" "x6" "x7" "x8" "x9"] ["x16" "x17" "x19" "x20" "x21" "x22"]),
        chain!("adds" "adcs"; ["x4" "x5" "x6" "x7" "x8" "x9"]
            ["x4" "x5" "x6" "x7" "x8" "x9"] ["x4" "x5" "x6" "x7" "x8" "x9"]),
        store!("sp" 96; "x4" "x5" "x6" "x7" "x8" "x9"),
        copy!(["x4" "x5" "x6" "x7" "x8" "x9"] ["x16" "x17" "x19" "x20" "x21" "x22"]),
        "mov x2, sp",
        "mov x27, #2",
        "2:",
        product_and_reduction!(),
        finish!(),
        store!("x0" 0; "x23" "x16" "x17" "x19" "x20" "x21"),
        load!("sp" 96; "x4" "x5" "x6" "x7" "x8" "x9"),
        "add x0, x0, #48",
        "add x2, sp, #48",
        "sub x27, x27, #1",
        "cbnz x27, 2b",
        leave!(224 "x19" "x20" 144 "x21" "x22" 160 "x23" "x24" 176 "x25" "x26" 192 "x27" "x28" 208),
    )
}

/// Computes `out = a · b`, two parts of twelve limbs, modulo 2⁷⁶⁸: a₀·b₀ − a₁·b₁ may be negative.
/// The parts of `a` and `b` are less than 4p.
///
/// The factor b₁ − b₀ is computed modulo 2³⁸⁴; where it is negative, a₀ is subtracted from the
/// upper half of its product. Stack: k, the factor.
///
/// # Safety
/// `a` and `b` are twelve limbs each, and `out` has room for 24, apart from both; it need not be
/// initialised.
#[unsafe(naked)]
pub(super) unsafe extern "C" fn mul_wide(out: *mut Limb, a: *const Limb, b: *const Limb) {
    naked_asm!(
        enter!(224 "x19" "x20" 144 "x21" "x22" 160 "x23" "x24" 176 "x25" "x26" 192 "x27" "x28" 208),
        "mov x25, x1",
        load!("x25" 0; "x4" "x5" "x6" "x7" "x8" "x9"),
        load!("x25" 48; "x10" "x11" "x12" "x13" "x14" "x15"),
        chain!("adds" "adcs"; ["x4" "x5" "x6" "x7" "x8" "x9"]
            ["x4" "x5" "x6" "x7" "x8" "x9"] ["x10" "x11" "x12" "x13" "x14" "x15"]),
        product_12!("x2"),
        store_12!("sp" 0 48),
        // b₁ − b₀, and b₀ + b₁.
        load!("x2" 0; "x4" "x5" "x6" "x7" "x8" "x9"),
        load!("x2" 48; "x10" "x11" "x12" "x13" "x14" "x15"),
        chain!("subs" "sbcs"; ["x16" "x17" "x19" "x20" "x21" "x22"]
            ["x10" "x11" "x12" "x13" "x14" "x15"] ["x4" "x5" "x6" "x7" "x8" "x9"]),
        "csetm x26, cc",
        store!("sp" 96; "x16" "x17" "x19" "x20" "x21" "x22"),
        load!("x25" 0; "x4" "x5" "x6" "x7" "x8" "x9"),
        "add x23, sp, #96",
        product_12!("x23"),
        concat!(
            "and x4, x4, x26\nand x5, x5, x26\nand x6, x6, x26\n",
            "and x7, x7, x26\nand x8, x8, x26\nand x9, x9, x26\n",
        ),
        chain!("subs" "sbcs"; ["x16" "x17" "x19" "x20" "x21" "x22"]
            ["x16" "x17" "x19" "x20" "x21" "x22"] ["x4" "x5" "x6" "x7" "x8" "x9"]),
        load!("sp" 0; "x4" "x5" "x6" "x7" "x8" "x9"),
        load!("sp" 48; "x1" "x3" "x24" "x26" "x27" "x28"),
        chain!("adds" "adcs";
            ["x10" "x11" "x12" "x13" "x14" "x15" "x16" "x17" "x19" "x20" "x21" "x22"]
            ["x10" "x11" "x12" "x13" "x14" "x15" "x16" "x17" "x19" "x20" "x21" "x22"]
            ["x4" "x5" "x6" "x7" "x8" "x9" "x1" "x3" "x24" "x26" "x27" "x28"]),
        store_12!("x0" 96 144),
        load!("x2" 0; "x4" "x5" "x6" "x7" "x8" "x9"),
        load!("x2" 48; "x10" "x11" "x12" "x13" "x14" "x15"),
        chain!("adds" "adcs"; ["x4" "x5" "x6" "x7" "x8" "x9"]
            ["x4" "x5" "x6" "x7" "x8" "x9"] ["x10" "x11" "x12" "x13" "x14" "x15"]),
        "add x23, x25, #48",
        product_12!("x23"),
        load!("sp" 0; "x4" "x5" "x6" "x7" "x8" "x9"),
        load!("sp" 48; "x1" "x3" "x24" "x26" "x27" "x28"),
        chain!("subs" "sbcs";
            ["x10" "x11" "x12" "x13" "x14" "x15" "x16" "x17" "x19" "x20" "x21" "x22"]
            ["x4" "x5" "x6" "x7" "x8" "x9" "x1" "x3" "x24" "x26" "x27" "x28"]
            ["x10" "x11" "x12" "x13" "x14" "x15" "x16" "x17" "x19" "x20" "x21" "x22"]),
        store_12!("x0" 0 48),
        leave!(224 "x19" "x20" 144 "x21" "x22" 160 "x23" "x24" 176 "x25" "x26" 192 "x27" "x28" 208),
    )
}

/// Computes `out = a²`, two parts of twelve limbs, modulo 2⁷⁶⁸. The parts of `a` are less than 4p.
///
/// (a₀ + a₁)·(a₀ − a₁) and 2a₀·a₁; where a₀ − a₁ is negative, the sum is subtracted from the upper
/// half of the product. Stack: the difference.
///
/// # Safety
/// `a` is twelve limbs, and `out` has room for 24, apart from `a`; it need not be initialised.
#[unsafe(naked)]
pub(super) unsafe extern "C" fn square_wide(out: *mut Limb, a: *const Limb) {
    naked_asm!(
        enter!(112 "x19" "x20" 48 "x21" "x22" 64 "x23" "x24" 80 "x25" "x26" 96),
        "mov x25, x1",
        load!("x25" 0; "x4" "x5" "x6" "x7" "x8" "x9"),
        load!("x25" 48; "x10" "x11" "x12" "x13" "x14" "x15"),
        chain!("subs" "sbcs"; ["x16" "x17" "x19" "x20" "x21" "x22"]
            ["x4" "x5" "x6" "x7" "x8" "x9"] ["x10" "x11" "x12" "x13" "x14" "x15"]),
        "csetm x26, cc",
        store!("sp" 0; "x16" "x17" "x19" "x20" "x21" "x22"),
        chain!("adds" "adcs"; ["x4" "x5" "x6" "x7" "x8" "x9"]
            ["x4" "x5" "x6" "x7" "x8" "x9"] ["x10" "x11" "x12" "x13" "x14" "x15"]),
        product_12!("sp"),
        concat!(
            "and x4, x4, x26\nand x5, x5, x26\nand x6, x6, x26\n",
            "and x7, x7, x26\nand x8, x8, x26\nand x9, x9, x26\n",
        ),
        chain!("subs" "sbcs"; ["x16" "x17" "x19" "x20" "x21" "x22"]
            ["x16" "x17" "x19" "x20" "x21" "x22"] ["x4" "x5" "x6" "x7" "x8" "x9"]),
        store_12!("x0" 0 48),
        load!("x25" 0; "x4" "x5" "x6" "x7" "x8" "x9"),
        chain!("adds" "adcs"; ["x4" "x5" "x6" "x7" "x8" "x9"]
            ["x4" "x5" "x6" "x7" "x8" "x9"] ["x4" "x5" "x6" "x7" "x8" "x9"]),
        "add x23, x25, #48",
        product_12!("x23"),
        store_12!("x0" 96 144),
        leave!(112 "x19" "x20" 48 "x21" "x22" 64 "x23" "x24" 80 "x25" "x26" 96),
    )
}

/// `x3` to `x14` = themselves, combined with the twelve limbs from the byte `$place` of `[$from]`
/// on, by `$first` for the lowest limb and by `$next` for the others. Uses `x15` and `x16`.
#[rustfmt::skip]
macro_rules! combine {
    ($first:literal $next:literal $from:literal $place:literal) => {
        concat!(
            "ldp x15, x16, [", $from, ", #", $place, "]\n",
            $first, " x3, x3, x15\n", $next, " x4, x4, x16\n",
            "ldp x15, x16, [", $from, ", #", $place, " + 16]\n",
            $next, " x5, x5, x15\n", $next, " x6, x6, x16\n",
            "ldp x15, x16, [", $from, ", #", $place, " + 32]\n",
            $next, " x7, x7, x15\n", $next, " x8, x8, x16\n",
            "ldp x15, x16, [", $from, ", #", $place, " + 48]\n",
            $next, " x9, x9, x15\n", $next, " x10, x10, x16\n",
            "ldp x15, x16, [", $from, ", #", $place, " + 64]\n",
            $next, " x11, x11, x15\n", $next, " x12, x12, x16\n",
            "ldp x15, x16, [", $from, ", #", $place, " + 80]\n",
            $next, " x13, x13, x15\n", $next, " x14, x14, x16\n",
        )
    };
}

/// Defines a function on two parts of twelve limbs, modulo 2⁷⁶⁸: `out` is `a`, combined with other
/// parts as [`combine`] says, those of its first and those of its second part.
macro_rules! combination {
    (
        $(#[$doc:meta])* $name:ident ($($argument:ident)+)
        [$($first:tt)+] [$($second:tt)+]
    ) => {
        $(#[$doc])*
        ///
        /// # Safety
        /// All are 24 limbs each; `out` may be where `a` is, not where another is, and need not be
        /// initialised.
        #[unsafe(naked)]
        pub(super) unsafe extern "C" fn $name(out: *mut Limb, $($argument: *const Limb),+) {
            naked_asm!(
                ".cfi_startproc",
                combination!(@0 48; $($first)+),
                combination!(@96 144; $($second)+),
                "ret",
                ".cfi_endproc",
            )
        }
    };
    (@$low:literal $high:literal; $({$($combine:tt)+})+) => {
        concat!(
            load!("x1" $low; "x3" "x4" "x5" "x6" "x7" "x8"),
            load!("x1" $high; "x9" "x10" "x11" "x12" "x13" "x14"),
            $(combine!($($combine)+),)+
            store!("x0" $low; "x3" "x4" "x5" "x6" "x7" "x8"),
            store!("x0" $high; "x9" "x10" "x11" "x12" "x13" "x14"),
        )
    };
}

combination!(
    /// Computes a + b.
    add_wide (a b) [{"adds" "adcs" "x2" 0}] [{"adds" "adcs" "x2" 96}]
);
combination!(
    /// Computes a − b.
    sub_wide (a b) [{"subs" "sbcs" "x2" 0}] [{"subs" "sbcs" "x2" 96}]
);
combination!(
    /// Computes a + (1 + i)·b.
    add_turned_wide (a b)
    [{"adds" "adcs" "x2" 0} {"subs" "sbcs" "x2" 96}]
    [{"adds" "adcs" "x2" 0} {"adds" "adcs" "x2" 96}]
);

/// Computes a ← a − b − c for two parts of twelve limbs, modulo 2⁷⁶⁸.
///
/// # Safety
/// `a`, `b` and `c` are 24 limbs each, and `a` is apart from the others.
#[unsafe(naked)]
pub(super) unsafe extern "C" fn sub_both_wide(a: *mut Limb, b: *const Limb, c: *const Limb) {
    naked_asm!(
        ".cfi_startproc",
        "mov x17, x2",
        "mov x2, x1",
        "mov x1, x0",
        combination!(@0 48; {"subs" "sbcs" "x2" 0} {"subs" "sbcs" "x17" 0}),
        combination!(@96 144; {"subs" "sbcs" "x2" 96} {"subs" "sbcs" "x17" 96}),
        "ret",
        ".cfi_endproc",
    )
}
