//! Squares in the cyclotomic subgroup of Fp12 as one kernel: coefficients go from one operation to
//! the next through memory, limb by limb. Copies in between would wait for an operation's stores,
//! because they load more at a time.

use super::Returned;
use super::bls12_complex::{Complex, square};
use super::linear_complex::{add, add_turned, sub, thrice_less, thrice_more, turn};
use core::arch::naked_asm;

/// (a + b·t)² for t² = 1 + i, of the numbers at `$a` and `$b`: a² + (1 + i)·b² at `rsp` and 2·a·b
/// at `rsp + 96`. Stack from `rsp + 192` on: (a + b)², a², b².
macro_rules! square_quartic {
    ($a:literal, $b:literal) => {
        concat!(
            call!("add" "rsp + 192" = $a, $b),
            call!("square" "rsp + 192" = "rsp + 192"),
            call!("square" "rsp + 288" = $a),
            call!("square" "rsp + 384" = $b),
            call!("add_turned" "rsp" = "rsp + 384", "rsp + 288"),
            call!("sub" "rsp + 192" = "rsp + 192", "rsp + 288"),
            call!("sub" "rsp + 96" = "rsp + 192", "rsp + 384"),
        )
    };
}

/// Returns the square of an element of the cyclotomic subgroup, whose coefficients in Fp2 are those
/// of 1, v, v², w, v·w and v²·w for v³ = 1 + i and w² = v: three squares in Fp4 (Granger, Scott,
/// Faster squaring in the cyclotomic subgroup of sixth degree extensions, 2010, section 3.2).
///
/// # Safety
/// The processor has BMI2 and ADX.
#[unsafe(naked)]
pub(super) unsafe extern "sysv64" fn square_cyclotomic(a: &[Complex; 6]) -> Returned<[Complex; 6]> {
    naked_asm!(
        enter!("rbx" "rbp"),
        reserve!(488),
        "mov rbp, rdi",
        "mov rbx, rsi",
        square_quartic!("rbx", "rbx + 4*96"),
        call!("thrice_less" "rbp" = "rsp", "rbx"),
        call!("thrice_more" "rbp + 4*96" = "rsp + 96", "rbx + 4*96"),
        square_quartic!("rbx + 3*96", "rbx + 2*96"),
        call!("thrice_less" "rbp + 96" = "rsp", "rbx + 96"),
        call!("thrice_more" "rbp + 5*96" = "rsp + 96", "rbx + 5*96"),
        square_quartic!("rbx + 96", "rbx + 5*96"),
        call!("thrice_less" "rbp + 2*96" = "rsp", "rbx + 2*96"),
        call!("turn" "rsp" = "rsp + 96"),
        call!("thrice_more" "rbp + 3*96" = "rsp", "rbx + 3*96"),
        "mov rax, rbp",
        release!(488),
        leave!("rbp" "rbx"),
        add = sym add,
        add_turned = sym add_turned,
        sub = sym sub,
        square = sym square,
        thrice_less = sym thrice_less,
        thrice_more = sym thrice_more,
        turn = sym turn,
    )
}
