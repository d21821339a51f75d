//! A number times one limb, added or subtracted.

use super::Limb;
use core::arch::naked_asm;

/// Limb `$i` of a row: adds the product's low half, the carried limb in `rax`, and the
/// accumulator's limb; carries the high half in `rax`.
macro_rules! step {
    (add $i:literal) => {
        concat!(
            "mulx r10, r9, [rsi + 8*",
            $i,
            "]\n",
            "adcx r9, rax\n",
            "adox r9, [rdi + 8*",
            $i,
            "]\n",
            "mov [rdi + 8*",
            $i,
            "], r9\n",
            "mov rax, r10\n",
        )
    };
    (sub $i:literal) => {
        concat!(
            "mulx r10, r9, [rsi + 8*",
            $i,
            "]\n",
            "mov r11, [rdi + 8*",
            $i,
            "]\n",
            "not r11\n",
            "adcx r9, rax\n",
            "adox r9, r11\n",
            "not r9\n",
            "mov [rdi + 8*",
            $i,
            "], r9\n",
            "mov rax, r10\n",
        )
    };
}

/// Defines a row of 8·`blocks` + `rest` limbs that returns the carry limb.
///
/// The difference adds to the complement: with B^n − 1 − t in place of t, the complement of t + a·x
/// is t − a·x, and the carry of one is the borrow of the other.
macro_rules! row_kernel {
    ($name:ident $step:ident) => {
        /// A row; see [`row_kernel`].
        ///
        /// # Safety
        /// The processor has BMI2 and ADX. `accumulator` and `a` have 8·`blocks` + `rest` limbs.
        #[unsafe(naked)]
        unsafe extern "sysv64" fn $name(
            accumulator: *mut Limb,
            a: *const Limb,
            x: Limb,
            blocks: usize,
            rest: usize,
        ) -> Limb {
            naked_asm!(
                ".cfi_startproc",
                // test clears both carries; lea, mov, not and jrcxz preserve them.
                "mov eax, 0",
                "test rcx, rcx",
                "jz 23f",
                ".p2align 4",
                "22:",
                step!($step 0), step!($step 1), step!($step 2), step!($step 3),
                step!($step 4), step!($step 5), step!($step 6), step!($step 7),
                "lea rsi, [rsi + 64]",
                "lea rdi, [rdi + 64]",
                "lea rcx, [rcx - 1]",
                "jrcxz 23f",
                "jmp 22b",
                "23:",
                "mov rcx, r8",
                "24:",
                "jrcxz 25f",
                step!($step 0),
                "lea rsi, [rsi + 8]",
                "lea rdi, [rdi + 8]",
                "lea rcx, [rcx - 1]",
                "jmp 24b",
                "25:",
                "mov ecx, 0",
                "adcx rax, rcx",
                "adox rax, rcx",
                "ret",
                ".cfi_endproc",
            )
        }
    };
}

row_kernel!(add_row add);
row_kernel!(sub_row sub);

/// Computes `accumulator += a · x`; equal lengths; returns the carry limb.
///
/// # Safety
/// The processor has BMI2 and ADX.
#[inline]
pub(super) unsafe fn add_mul_limb(accumulator: &mut [Limb], a: &[Limb], x: Limb) -> Limb {
    let n = a.len();
    assert_eq!(accumulator.len(), n);
    // SAFETY: the caller guarantees the processor; both have n limbs.
    unsafe { add_row(accumulator.as_mut_ptr(), a.as_ptr(), x, n / 8, n % 8) }
}

/// Computes `accumulator −= a · x`; equal lengths; returns the borrow limb.
///
/// # Safety
/// The processor has BMI2 and ADX.
#[inline]
pub(super) unsafe fn sub_mul_limb(accumulator: &mut [Limb], a: &[Limb], x: Limb) -> Limb {
    let n = a.len();
    assert_eq!(accumulator.len(), n);
    // SAFETY: the caller guarantees the processor; both have n limbs.
    unsafe { sub_row(accumulator.as_mut_ptr(), a.as_ptr(), x, n / 8, n % 8) }
}
