//! Additions on P-256: one kernel for the eight products, three squares and the operations between
//! them.

use core::arch::naked_asm;

use super::Limb;

/// Computes [`CurveArithmetic::add_affine`](super::super::super::CurveArithmetic::add_affine): X₃,
/// Y₃, Z₃, H and R, less than p, from a point in Jacobian coordinates and one in affine ones, less
/// than p. Stack: `addend`.
///
/// # Safety
/// `point` is twelve limbs, `addend` is eight, and `out` has room for twenty, apart from both; it
/// need not be initialised.
#[unsafe(naked)]
pub(in super::super) unsafe extern "C" fn add_affine(
    out: *mut Limb,
    point: *const Limb,
    addend: *const Limb,
) {
    naked_asm!(
        enter!(112 "x19" "x20" 16 "x21" "x22" 32 "x23" "x24" 48 "x25" "x26" 64 "x27" "x28" 80
            "x29" "x30" 96),
        "str x2, [sp]",
        "mov x28, x1",
        constants!("x30"),
        // Z₁² and Z₁³, U₂ = X₂·Z₁² and S₂ = Y₂·Z₁³.
        load!("x28" 64; "x19" "x20" "x21" "x22"),
        squared!(["x4" "x5" "x6" "x7"] = ["x19" "x20" "x21" "x22"]),
        times!(["x23" "x24" "x25" "x26"] = ["x4" "x5" "x6" "x7"], ["x19" "x20" "x21" "x22"]),
        "ldr x2, [sp]",
        load!("x2" 0; "x19" "x20" "x21" "x22"),
        times!(["x4" "x5" "x6" "x7"] = ["x4" "x5" "x6" "x7"], ["x19" "x20" "x21" "x22"]),
        load!("x2" 32; "x19" "x20" "x21" "x22"),
        times!(["x23" "x24" "x25" "x26"] = ["x23" "x24" "x25" "x26"], ["x19" "x20" "x21" "x22"]),
        // H = U₂ − X₁ and R = S₂ − Y₁.
        load!("x28" 0; "x19" "x20" "x21" "x22"),
        difference!(["x4" "x5" "x6" "x7"] = ["x4" "x5" "x6" "x7"], ["x19" "x20" "x21" "x22"]),
        store!("x0" 96; "x4" "x5" "x6" "x7"),
        load!("x28" 32; "x19" "x20" "x21" "x22"),
        difference!(["x23" "x24" "x25" "x26"] = ["x23" "x24" "x25" "x26"],
            ["x19" "x20" "x21" "x22"]),
        store!("x0" 128; "x23" "x24" "x25" "x26"),
        // Z₃ = Z₁·H.
        load!("x28" 64; "x19" "x20" "x21" "x22"),
        times!(["x19" "x20" "x21" "x22"] = ["x4" "x5" "x6" "x7"], ["x19" "x20" "x21" "x22"]),
        store!("x0" 64; "x19" "x20" "x21" "x22"),
        // H², H³, V = X₁·H² and Y₁·H³.
        squared!(["x19" "x20" "x21" "x22"] = ["x4" "x5" "x6" "x7"]),
        times!(["x4" "x5" "x6" "x7"] = ["x4" "x5" "x6" "x7"], ["x19" "x20" "x21" "x22"]),
        load!("x28" 0; "x23" "x24" "x25" "x26"),
        times!(["x19" "x20" "x21" "x22"] = ["x23" "x24" "x25" "x26"], ["x19" "x20" "x21" "x22"]),
        load!("x28" 32; "x23" "x24" "x25" "x26"),
        times!(["x23" "x24" "x25" "x26"] = ["x4" "x5" "x6" "x7"], ["x23" "x24" "x25" "x26"]),
        store!("x0" 0; "x4" "x5" "x6" "x7"),
        store!("x0" 32; "x23" "x24" "x25" "x26"),
        // X₃ = R² − H³ − 2·V and Y₃ = R·(V − X₃) − Y₁·H³.
        load!("x0" 128; "x23" "x24" "x25" "x26"),
        squared!(["x4" "x5" "x6" "x7"] = ["x23" "x24" "x25" "x26"]),
        load!("x0" 0; "x12" "x13" "x14" "x15"),
        difference!(["x4" "x5" "x6" "x7"] = ["x4" "x5" "x6" "x7"], ["x12" "x13" "x14" "x15"]),
        difference!(["x4" "x5" "x6" "x7"] = ["x4" "x5" "x6" "x7"], ["x19" "x20" "x21" "x22"]),
        difference!(["x4" "x5" "x6" "x7"] = ["x4" "x5" "x6" "x7"], ["x19" "x20" "x21" "x22"]),
        store!("x0" 0; "x4" "x5" "x6" "x7"),
        difference!(["x4" "x5" "x6" "x7"] = ["x19" "x20" "x21" "x22"], ["x4" "x5" "x6" "x7"]),
        times!(["x4" "x5" "x6" "x7"] = ["x4" "x5" "x6" "x7"], ["x23" "x24" "x25" "x26"]),
        load!("x0" 32; "x19" "x20" "x21" "x22"),
        difference!(["x4" "x5" "x6" "x7"] = ["x4" "x5" "x6" "x7"], ["x19" "x20" "x21" "x22"]),
        store!("x0" 32; "x4" "x5" "x6" "x7"),
        leave!(112 "x19" "x20" 16 "x21" "x22" 32 "x23" "x24" 48 "x25" "x26" 64 "x27" "x28" 80
            "x29" "x30" 96),
    )
}
