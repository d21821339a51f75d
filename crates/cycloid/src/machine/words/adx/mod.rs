//! BMI2 and ADX: two independent carry chains (MULX, ADCX, ADOX).

#[macro_use]
mod text;
mod blocks;
mod linear;
mod lookup;
mod product;
mod reduce;
mod small;
mod square;

use super::super::cpu::Adx;
use super::{Limb, Words};

impl Words for Adx {
    #[inline]
    fn mul(self, product: &mut [Limb], a: &[Limb], b: &[Limb]) {
        // SAFETY: the token proves BMI2 and ADX.
        unsafe { product::mul(product, a, b) };
    }

    #[inline]
    fn square(self, product: &mut [Limb], a: &[Limb]) {
        // SAFETY: the token proves BMI2 and ADX.
        unsafe { square::square(product, a) };
    }

    #[inline]
    fn add_mul_limb(self, accumulator: &mut [Limb], a: &[Limb], x: Limb) -> Limb {
        // SAFETY: the token proves BMI2 and ADX.
        unsafe { linear::add_mul_limb(accumulator, a, x) }
    }

    #[inline]
    fn sub_mul_limb(self, accumulator: &mut [Limb], a: &[Limb], x: Limb) -> Limb {
        // SAFETY: the token proves BMI2 and ADX.
        unsafe { linear::sub_mul_limb(accumulator, a, x) }
    }

    #[inline]
    fn montgomery_reduce(self, result: &mut [Limb], wide: &mut [Limb], modulus: &[Limb], n0: Limb) {
        // SAFETY: the token proves BMI2 and ADX.
        unsafe { reduce::montgomery_reduce(result, wide, modulus, n0) };
    }

    #[inline]
    fn montgomery_mul(
        self,
        accumulator: &mut [Limb],
        by: &[Limb],
        work: &mut [Limb],
        modulus: &[Limb],
        n0: Limb,
    ) {
        let n = modulus.len();
        assert!(accumulator.len() == n && by.len() == n && work.len() >= 2 * n);
        let Some(multiply) = multiplication(n) else {
            let wide = &mut work[..2 * n];
            self.mul(wide, accumulator, by);
            return self.montgomery_reduce(accumulator, wide, modulus, n0);
        };
        let (a, b) = (accumulator.as_mut_ptr(), by.as_ptr());
        // SAFETY: the token proves BMI2, ADX and AVX; the kernel is for n, the lengths are
        // asserted, and all written memory is uniquely borrowed.
        unsafe { multiply(a, b, work.as_mut_ptr(), modulus.as_ptr(), n0, n) };
    }

    #[inline]
    fn montgomery_square_times(
        self,
        accumulator: &mut [Limb],
        times: usize,
        work: &mut [Limb],
        modulus: &[Limb],
        n0: Limb,
    ) {
        let n = modulus.len();
        assert!(accumulator.len() == n && work.len() >= 2 * n);
        if times == 0 {
            return;
        }
        let a = accumulator.as_mut_ptr();
        let (wide, m) = (work.as_mut_ptr(), modulus.as_ptr());
        if let Some(square) = squaring(n) {
            // SAFETY: the token proves BMI2, ADX and AVX; the kernel is for n, the lengths are
            // asserted, `times` is not 0, and all written memory is uniquely borrowed.
            unsafe { square(a, times, wide, m, n0, n) };
        } else if let Some(multiply) = multiplication(n) {
            for _ in 0..times {
                // SAFETY: as above.
                unsafe { multiply(a, a, wide, m, n0, n) };
            }
        } else {
            let wide = &mut work[..2 * n];
            for _ in 0..times {
                self.square(wide, accumulator);
                self.montgomery_reduce(accumulator, wide, modulus, n0);
            }
        }
    }

    #[inline]
    fn lookup(self, out: &mut [Limb], table: &[Limb], index: usize) {
        // SAFETY: the token proves AVX2.
        unsafe { lookup::lookup(out, table, index) };
    }
}

/// `accumulator = accumulator · by / R mod modulus`, less than `modulus`.
///
/// # Safety
/// The processor has BMI2, ADX and AVX. `accumulator`, `by` and `modulus` have `n` limbs, a length
/// that the kernel supports, and `wide` has 2n; none overlaps another, except that `by` may be
/// `accumulator`.
type Multiply = unsafe extern "sysv64" fn(
    accumulator: *mut Limb,
    by: *const Limb,
    wide: *mut Limb,
    modulus: *const Limb,
    n0: Limb,
    n: usize,
);

/// `accumulator = accumulator² / R mod modulus`, less than `modulus`, `times` times.
///
/// # Safety
/// As for [`Multiply`], and `times` is at least 1.
type Square = unsafe extern "sysv64" fn(
    accumulator: *mut Limb,
    times: usize,
    wide: *mut Limb,
    modulus: *const Limb,
    n0: Limb,
    n: usize,
);

/// Returns the kernel that multiplies numbers of `n` limbs, if there is one.
#[inline]
fn multiplication(n: usize) -> Option<Multiply> {
    match n {
        0 => None,
        4 => Some(small::montgomery_mul_4),
        6 => Some(small::montgomery_mul_6),
        8 => Some(small::montgomery_mul_8),
        9 => Some(small::montgomery_mul_9),
        _ if n.is_multiple_of(8) => Some(blocks::montgomery_mul),
        _ => None,
    }
}

/// Returns the kernel that squares numbers of `n` limbs, if there is one.
#[inline]
fn squaring(n: usize) -> Option<Square> {
    match n {
        0 => None,
        8 => Some(small::montgomery_square_8),
        _ if n.is_multiple_of(8) => Some(blocks::montgomery_square),
        _ => None,
    }
}
