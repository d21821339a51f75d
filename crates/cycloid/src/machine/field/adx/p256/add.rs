//! Addition of an affine point on P-256 as one kernel.

use core::arch::naked_asm;

use super::Limb;
use super::calls::{product, square};

/// `r10`, `r11`, `rsi`, `rbx` = themselves minus the number at `$b`.
macro_rules! less {
    ($b:literal) => { minus!($b; "r10" "r11" "rsi" "rbx"; "rcx" "ecx") };
}

/// Computes [`CurveArithmetic::add_affine`](super::super::super::CurveArithmetic::add_affine): X₃,
/// Y₃, Z₃, H and R, less than p, from a point in Jacobian coordinates and one in affine ones, less
/// than p. Stack: Z₁² and H², Z₁³ and H³, V, Y₁·H³, `addend`.
///
/// # Safety
/// The processor has BMI2 and ADX. `point` is twelve limbs, `addend` is eight, and `out` has room
/// for twenty, apart from both; it need not be initialised.
#[unsafe(naked)]
pub(in super::super) unsafe extern "sysv64" fn add_affine(
    out: *mut Limb,
    point: *const Limb,
    addend: *const Limb,
) {
    naked_asm!(
        enter!("rbx" "rbp" "r12" "r13" "r14" "r15"),
        reserve!(136),
        "mov r15, rsi",
        "mov [rsp + 128], rdx",
        "xor ebp, ebp",
        // H = X₂·Z₁² − X₁ and R = Y₂·Z₁³ − Y₁.
        squared!("r15 + 64"),
        keep!("rsp"),
        times!("rsp", "r15 + 64"),
        keep!("rsp + 32"),
        "mov rcx, [rsp + 128]",
        times!("rsp", "rcx"),
        less!("r15"),
        keep!("rdi + 96"),
        "mov rcx, [rsp + 128]",
        times!("rsp + 32", "rcx + 32"),
        less!("r15 + 32"),
        keep!("rdi + 128"),
        times!("r15 + 64", "rdi + 96"),
        keep!("rdi + 64"),
        // H², H³, V = X₁·H² and Y₁·H³.
        squared!("rdi + 96"),
        keep!("rsp"),
        times!("rsp", "rdi + 96"),
        keep!("rsp + 32"),
        times!("r15", "rsp"),
        keep!("rsp + 64"),
        times!("r15 + 32", "rsp + 32"),
        keep!("rsp + 96"),
        // X₃ = R² − H³ − 2·V and Y₃ = R·(V − X₃) − Y₁·H³.
        squared!("rdi + 128"),
        less!("rsp + 32"),
        less!("rsp + 64"),
        less!("rsp + 64"),
        keep!("rdi"),
        load!("rsp + 64" [0 1 2 3] "r10" "r11" "rsi" "rbx"),
        less!("rdi"),
        keep!("rsp"),
        times!("rsp", "rdi + 128"),
        less!("rsp + 96"),
        keep!("rdi + 32"),
        release!(136),
        leave!("r15" "r14" "r13" "r12" "rbp" "rbx"),
        product = sym product,
        square = sym square,
    )
}
