//! Additions of an affine point on P-256, each as one kernel.

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

/// Entry `$i` of the row at `r15`: if it is the one looked up, copies its coordinates to `ymm0` and
/// `ymm1`, which are 0 until then.
macro_rules! look_up {
    ($($i:literal)+) => {
        concat!($(
            "vpcmpeqq ymm2, ymm15, ymm12\n",
            "vpaddq ymm15, ymm15, ymm13\n",
            "vpand ymm3, ymm2, [r15 + 64*", $i, "]\n",
            "vpand ymm4, ymm2, [r15 + 64*", $i, " + 32]\n",
            "vpor ymm0, ymm0, ymm3\n",
            "vpor ymm1, ymm1, ymm4\n",
        )+)
    };
}

/// Adds `addend` to `point` as [`add_affine`] does, and replaces it by entry `index` of `row`,
/// negated if `negative` is not 0. No y in the row is 0. The row is read as a whole, a part after
/// each product but the last. Stack: Z₁² and H², Z₁³ and H³, V, Y₁·H³, H, R, `addend`, `negative`.
///
/// # Safety
/// The processor has BMI2, ADX and AVX2. `point` is twelve limbs, `addend` eight, and `row` 64
/// entries of eight limbs. `negative` is 0 or −1.
#[unsafe(naked)]
pub(in super::super) unsafe extern "sysv64" fn add_affine_then_look_up(
    point: *mut Limb,
    addend: *mut Limb,
    row: *const Limb,
    index: Limb,
    negative: Limb,
) {
    naked_asm!(
        enter!("rbx" "rbp" "r12" "r13" "r14" "r15"),
        reserve!(216),
        "mov r15, rdx",
        "mov [rsp + 192], rsi",
        "mov [rsp + 200], r8",
        "vmovq xmm15, rcx",
        "vpbroadcastq ymm15, xmm15",
        "vmovq xmm14, r8",
        "vpbroadcastq ymm14, xmm14",
        "vpcmpeqd ymm13, ymm13, ymm13",
        "vpxor xmm12, xmm12, xmm12",
        "vpxor xmm0, xmm0, xmm0",
        "vpxor xmm1, xmm1, xmm1",
        "xor ebp, ebp",
        // H = X₂·Z₁² − X₁ and R = Y₂·Z₁³ − Y₁.
        squared!("rdi + 64"),
        keep!("rsp"),
        look_up!(0 1 2 3 4 5 6),
        times!("rsp", "rdi + 64"),
        keep!("rsp + 32"),
        look_up!(7 8 9 10 11 12 13),
        "mov rcx, [rsp + 192]",
        times!("rsp", "rcx"),
        less!("rdi"),
        keep!("rsp + 128"),
        look_up!(14 15 16 17 18 19 20),
        "mov rcx, [rsp + 192]",
        times!("rsp + 32", "rcx + 32"),
        less!("rdi + 32"),
        keep!("rsp + 160"),
        look_up!(21 22 23 24 25 26 27),
        times!("rdi + 64", "rsp + 128"),
        keep!("rdi + 64"),
        look_up!(28 29 30 31 32 33),
        // H², H³, V = X₁·H² and Y₁·H³.
        squared!("rsp + 128"),
        keep!("rsp"),
        look_up!(34 35 36 37 38 39),
        times!("rsp", "rsp + 128"),
        keep!("rsp + 32"),
        look_up!(40 41 42 43 44 45),
        times!("rdi", "rsp"),
        keep!("rsp + 64"),
        look_up!(46 47 48 49 50 51),
        times!("rdi + 32", "rsp + 32"),
        keep!("rsp + 96"),
        look_up!(52 53 54 55 56 57),
        // X₃ = R² − H³ − 2·V and Y₃ = R·(V − X₃) − Y₁·H³.
        squared!("rsp + 160"),
        less!("rsp + 32"),
        less!("rsp + 64"),
        less!("rsp + 64"),
        keep!("rdi"),
        look_up!(58 59 60 61 62 63),
        load!("rsp + 64" [0 1 2 3] "r10" "r11" "rsi" "rbx"),
        less!("rdi"),
        keep!("rsp"),
        times!("rsp", "rsp + 160"),
        less!("rsp + 96"),
        keep!("rdi + 32"),
        // The addend; −Y is the complement of Y, plus 1 + p = 2²⁵⁶ − 2²²⁴ + 2¹⁹² + 2⁹⁶.
        "mov rcx, [rsp + 192]",
        "vpxor ymm1, ymm1, ymm14",
        "vmovdqu [rcx], ymm0",
        "vmovdqu [rcx + 32], ymm1",
        "vzeroupper",
        "mov rsi, [rsp + 200]",
        "mov rax, rsi",
        "neg rax",
        "shl rax, 32",
        "mov rdx, 0xffffffff00000001",
        "and rdx, rsi",
        "add [rcx + 40], rax",
        "adc qword ptr [rcx + 48], 0",
        "adc [rcx + 56], rdx",
        release!(216),
        leave!("r15" "r14" "r13" "r12" "rbp" "rbx"),
        product = sym product,
        square = sym square,
    )
}
