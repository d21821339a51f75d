//! Point doubling on P-384 and on P-521 as one kernel: coordinates go from one operation to the
//! next through memory, limb by limb. Copies in between would wait for an operation's stores,
//! because they load more at a time.

use super::linear_long::{add_p384_at, add_p521_at, sub_p384_at, sub_p521_at};
use super::linear_long::{three_halves_p384_at, three_halves_p521_at};
use super::{Limb, p384, p521};
use core::arch::naked_asm;

/// `[$out]` = the square of the number at `$a`.
macro_rules! squared {
    ($out:literal = $a:literal) => {
        concat!("lea rdi, [", $out, "]\nlea rsi, [", $a, "]\nmov edx, 1\ncall {square_times}\n")
    };
}

/// Defines the kernel for elements of `$size` bytes, four of which take `$four`, from those of
/// module `$kernels` and subroutines that preserve `rbx` and `rbp`. A coordinate is less than the
/// prime.
macro_rules! doubling {
    (
        $kernels:ident $add:ident $sub:ident $three_halves:ident $size:literal $four:literal;
        $double:ident
    ) => {
        /// Computes `out` = twice `point`, both in Jacobian coordinates; they may be the same.
        ///
        /// With β = X·Y² and M = 3/2·(X − Z²)·(X + Z²), it is X₃ = M² − 2·β, Y₃ = M·(β − X₃) − Y⁴,
        /// Z₃ = Y·Z: the formula of the default for half of its Z₃. Stack: Z² and M², M, Y² and Y⁴,
        /// β.
        ///
        /// # Safety
        /// The processor has BMI2 and ADX. `point` is three elements, and `out` has room for them.
        #[unsafe(naked)]
        pub(super) unsafe extern "sysv64" fn $double(out: *mut Limb, point: *const Limb) {
            naked_asm!(
                enter!("rbx" "rbp" "r12" "r13" "r14" "r15"),
                reserve!($four),
                "mov rbp, rdi",
                "mov rbx, rsi",
                squared!("rsp" = "rbx + 2*{size}"),
                call!("sub" "rsp + {size}" = "rbx", "rsp"),
                call!("add" "rsp + 2*{size}" = "rbx", "rsp"),
                call!("mul" "rsp + {size}" = "rsp + {size}", "rsp + 2*{size}"),
                "lea rdi, [rsp + {size}]",
                "call {three_halves}",
                squared!("rsp + 2*{size}" = "rbx + {size}"),
                call!("mul" "rsp + 3*{size}" = "rbx", "rsp + 2*{size}"),
                call!("mul" "rbp + 2*{size}" = "rbx + {size}", "rbx + 2*{size}"),
                squared!("rsp" = "rsp + {size}"),
                call!("sub" "rsp" = "rsp", "rsp + 3*{size}"),
                call!("sub" "rbp" = "rsp", "rsp + 3*{size}"),
                squared!("rsp + 2*{size}" = "rsp + 2*{size}"),
                call!("sub" "rsp + 3*{size}" = "rsp + 3*{size}", "rbp"),
                call!("mul" "rsp + 3*{size}" = "rsp + {size}", "rsp + 3*{size}"),
                call!("sub" "rbp + {size}" = "rsp + 3*{size}", "rsp + 2*{size}"),
                release!($four),
                leave!("r15" "r14" "r13" "r12" "rbp" "rbx"),
                size = const $size,
                mul = sym $kernels::mul,
                square_times = sym $kernels::square_times,
                three_halves = sym $three_halves,
                add = sym $add,
                sub = sym $sub,
            )
        }
    };
}

doubling!(p384 add_p384_at sub_p384_at three_halves_p384_at 48 192; double_p384);
doubling!(p521 add_p521_at sub_p521_at three_halves_p521_at 72 288; double_p521);
