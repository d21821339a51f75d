//! Additions on edwards25519: one kernel for the products and the operations between them.

use super::Limb;
use core::arch::naked_asm;

/// The products of an addition from A = `[rsp]`, B = `[rsp + 32]`, and F and G at `$f` and `$g`, to
/// the coordinates at `rdi`: E = B − A and H = B + A; E·F, G·H, F·G and E·H. `$between` is text
/// after each.
macro_rules! finish {
    ($f:literal $g:literal; $($between:expr),*) => {
        finish!(@$f $g; [$($between),*])
    };
    (@$f:literal $g:literal; [$first:expr, $second:expr, $third:expr]) => {
        concat!(
            sum!("rsp + 32" "rsp"; "r8" "r9" "r10" "r11"),
            store!("rsp + 160" [0 1 2 3] "r8" "r9" "r10" "r11"),
            difference!("rsp + 32" "rsp"; "r12" "r13" "r14" "r15"),
            store!("rsp + 128" [0 1 2 3] "r12" "r13" "r14" "r15"),
            times!("rdi" = $f, registers),
            $first,
            times!("rdi + 32" = $g, "rsp + 160"),
            $second,
            times!("rdi + 64" = $f, $g),
            $third,
            times!("rdi + 96" = "rsp + 128", "rsp + 160"),
        )
    };
}

/// Entry `$i` of the row at `rbp`: if it is the one looked up, copies its three coordinates to
/// `ymm0`, `ymm1` and `ymm2`, which are 0 until then.
macro_rules! look_up {
    ($($i:literal)+) => {
        concat!($(
            "vpcmpeqq ymm3, ymm15, ymm12\n",
            "vpaddq ymm15, ymm15, ymm13\n",
            "vpand ymm4, ymm3, [rbp + 96*", $i, "]\n",
            "vpand ymm5, ymm3, [rbp + 96*", $i, " + 32]\n",
            "vpand ymm6, ymm3, [rbp + 96*", $i, " + 64]\n",
            "vpor ymm0, ymm0, ymm4\n",
            "vpor ymm1, ymm1, ymm5\n",
            "vpor ymm2, ymm2, ymm6\n",
        )+)
    };
}

/// Computes [`CurveArithmetic::add_edwards`](super::super::CurveArithmetic::add_edwards), all
/// coordinates below 2²⁵⁶; `out` may be `point`.
///
/// # Safety
/// The processor has BMI2 and ADX. `point` is sixteen limbs, `addend` twelve, and `out` has room
/// for sixteen.
#[unsafe(naked)]
pub(in super::super) unsafe extern "sysv64" fn add_affine(
    out: *mut Limb,
    point: *const Limb,
    addend: *const Limb,
) {
    naked_asm!(
        enter!("rbx" "rbp" "r12" "r13" "r14" "r15"),
        reserve!(192),
        "mov rcx, rdx",
        "mov rbp, rsi",
        // A = (Y − X)·difference, B = (Y + X)·sum, C = T·product.
        load!("rbp + 32" [0 1 2 3] "r12" "r13" "r14" "r15"),
        combine!("sub" "sbb"; "rbp"; "r12" "r13" "r14" "r15"),
        times!("rsp" = "rcx + 32", registers),
        load!("rbp + 32" [0 1 2 3] "r12" "r13" "r14" "r15"),
        combine!("add" "adc"; "rbp"; "r12" "r13" "r14" "r15"),
        times!("rsp + 32" = "rcx", registers),
        times!("rsp + 64" = "rcx + 64", "rbp + 96"),
        // D = 2·Z, F = D − C and G = D + C.
        load!("rbp + 64" [0 1 2 3] "r12" "r13" "r14" "r15"),
        combine!("add" "adc"; "rbp + 64"; "r12" "r13" "r14" "r15"),
        load_registers!("r8" "r9" "r10" "r11" = "r12" "r13" "r14" "r15"),
        combine_product!("sub" "sbb"; "rsp + 64"; "r12" "r13" "r14" "r15"),
        store!("rsp + 96" [0 1 2 3] "r12" "r13" "r14" "r15"),
        combine_product!("add" "adc"; "rsp + 64"; "r8" "r9" "r10" "r11"),
        store!("rsp + 64" [0 1 2 3] "r8" "r9" "r10" "r11"),
        finish!("rsp + 96" "rsp + 64"; "", "", ""),
        release!(192),
        leave!("r15" "r14" "r13" "r12" "rbp" "rbx"),
    )
}

/// Adds `addend` to `point` and replaces it by entry `index` of `row`, negated if `negative` is not
/// 0: see [`add_edwards_then_look_up`][1].
///
/// [1]: super::super::CurveArithmetic::add_edwards_then_look_up
///
/// The coordinates at `point` are below 2²⁵⁵ + 2¹¹ before and after, those at `addend` below 2²⁵⁶,
/// those in `row` less than the prime. The row is read as a whole, a part between any two products.
///
/// # Safety
/// The processor has BMI2, ADX and AVX2. `point` is sixteen limbs, `addend` twelve, and `row`
/// sixteen entries of twelve limbs. `negative` is 0 or −1.
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
        reserve!(192),
        "mov rbp, rdx",
        "vmovq xmm15, rcx",
        "vpbroadcastq ymm15, xmm15",
        "vmovq xmm14, r8",
        "vpbroadcastq ymm14, xmm14",
        "vpcmpeqd ymm13, ymm13, ymm13",
        "vpxor xmm12, xmm12, xmm12",
        "vpxor xmm0, xmm0, xmm0",
        "vpxor xmm1, xmm1, xmm1",
        "vpxor xmm2, xmm2, xmm2",
        "mov rcx, rsi",
        // A = (Y − X)·difference, B = (Y + X)·sum, C = T·product.
        difference!("rdi + 32" "rdi"; "r12" "r13" "r14" "r15"),
        times!("rsp" = "rcx + 32", registers),
        look_up!(0 1 2),
        sum!("rdi + 32" "rdi"; "r12" "r13" "r14" "r15"),
        times!("rsp + 32" = "rcx", registers),
        look_up!(3 4 5),
        times!("rsp + 64" = "rcx + 64", "rdi + 96"),
        look_up!(6 7),
        // D = 2·Z, F = D − C and G = D + C.
        sum!("rdi + 64" "rdi + 64"; "r12" "r13" "r14" "r15"),
        load_registers!("r8" "r9" "r10" "r11" = "r12" "r13" "r14" "r15"),
        combine_product!("sub" "sbb"; "rsp + 64"; "r12" "r13" "r14" "r15"),
        store!("rsp + 96" [0 1 2 3] "r12" "r13" "r14" "r15"),
        combine_product!("add" "adc"; "rsp + 64"; "r8" "r9" "r10" "r11"),
        store!("rsp + 64" [0 1 2 3] "r8" "r9" "r10" "r11"),
        finish!("rsp + 96" "rsp + 64"; look_up!(8 9 10), look_up!(11 12 13), concat!(
            look_up!(14 15),
            // For a negative one, the first two coordinates change places.
            "vpxor ymm3, ymm0, ymm1\n",
            "vpand ymm3, ymm3, ymm14\n",
            "vpxor ymm0, ymm0, ymm3\n",
            "vpxor ymm1, ymm1, ymm3\n",
            "vmovdqu [rcx], ymm0\n",
            "vmovdqu [rcx + 32], ymm1\n",
            // The third one becomes 2²⁵⁶ − 38 minus itself: its complement minus 37, which is at
            // least 2²⁵⁵.
            "vpxor ymm2, ymm2, ymm14\n",
            "vmovdqu [rcx + 64], ymm2\n",
            "vmovq rax, xmm14\n",
            "vzeroupper\n",
            "and eax, 37\n",
            "sub [rcx + 64], rax\n",
            "sbb qword ptr [rcx + 72], 0\n",
            "sbb qword ptr [rcx + 80], 0\n",
            "sbb qword ptr [rcx + 88], 0\n",
        )),
        release!(192),
        leave!("r15" "r14" "r13" "r12" "rbp" "rbx"),
    )
}

/// Adds a public point to `point`, or subtracts it if `is_negative` is 1 instead of 0: see
/// [`CurveArithmetic::add_edwards_vartime`](super::super::CurveArithmetic::add_edwards_vartime).
/// `twice_z` is null for an addend with Z = 1. T is computed unless `with_t` is 0. All coordinates
/// are below 2²⁵⁶, those of the result below 2²⁵⁵ + 2¹¹.
///
/// # Safety
/// The processor has BMI2 and ADX. `point` is sixteen limbs, `addend` twelve, and `twice_z` four
/// unless it is null.
#[unsafe(naked)]
pub(in super::super) unsafe extern "sysv64" fn add_vartime(
    point: *mut Limb,
    addend: *const Limb,
    twice_z: *const Limb,
    is_negative: Limb,
    with_t: Limb,
) {
    naked_asm!(
        enter!("rbx" "rbp" "r12" "r13" "r14" "r15" "r8" "rcx" "rdx"),
        reserve!(192),
        // The addend's sum is at rcx + rbp and its difference at rcx + rbp ^ 32.
        "mov rbp, rcx",
        "shl rbp, 5",
        "mov rcx, rsi",
        load!("rdi + 32" [0 1 2 3] "r12" "r13" "r14" "r15"),
        combine!("add" "adc"; "rdi"; "r12" "r13" "r14" "r15"),
        times!("rsp + 32" = "rcx + rbp", registers),
        "xor rbp, 32",
        load!("rdi + 32" [0 1 2 3] "r12" "r13" "r14" "r15"),
        combine!("sub" "sbb"; "rdi"; "r12" "r13" "r14" "r15"),
        times!("rsp" = "rcx + rbp", registers),
        times!("rsp + 160" = "rcx + 64", "rdi + 96"),
        // D = 2·Z, or the product of Z and the addend's 2·Z.
        "mov rcx, [rsp + 192]",
        "test rcx, rcx",
        "jz 2f",
        times!("rsp + 64" = "rcx", "rdi + 64"),
        load_registers!("r12" "r13" "r14" "r15" = "r8" "r9" "r10" "r11"),
        "jmp 3f",
        "2:",
        load!("rdi + 64" [0 1 2 3] "r12" "r13" "r14" "r15"),
        combine!("add" "adc"; "rdi + 64"; "r12" "r13" "r14" "r15"),
        load_registers!("r8" "r9" "r10" "r11" = "r12" "r13" "r14" "r15"),
        "3:",
        // D + C and D − C: G and F, or F and G if the addend is negative, with F at rsp + 64.
        combine_product!("add" "adc"; "rsp + 160"; "r8" "r9" "r10" "r11"),
        store!("rsp + rbp + 64" [0 1 2 3] "r8" "r9" "r10" "r11"),
        "xor ebp, 32",
        combine_product!("sub" "sbb"; "rsp + 160"; "r12" "r13" "r14" "r15"),
        store!("rsp + rbp + 64" [0 1 2 3] "r12" "r13" "r14" "r15"),
        finish!("rsp + 64" "rsp + 96"; "", "", "cmp qword ptr [rsp + 208], 0\nje 4f\n"),
        "4:",
        release!(192),
        leave!("rdx" "rcx" "r8" "r15" "r14" "r13" "r12" "rbp" "rbx"),
    )
}
