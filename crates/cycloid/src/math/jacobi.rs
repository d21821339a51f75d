//! The Jacobi symbol, by the binary algorithm on the highest and the lowest 64 bits of both
//! numbers, which determine about sixty steps before the full numbers are updated.

#[cfg(test)]
mod tests;

use core::mem::swap;

use crate::machine::words::{self, LIMB_BITS, Limb};

/// Returns the limbs of scratch for [`symbol_vartime`] with a modulus of `n` limbs.
pub(crate) const fn scratch_limbs(n: usize) -> usize {
    2 * n
}

/// Returns the Jacobi symbol of `x` over `modulus`, which is odd and has as many limbs: 1, −1, or 0
/// if they have a common factor. Over a prime this is the Legendre symbol, 1 for the nonzero
/// squares. Time depends on the values. `scratch` has [`scratch_limbs`].
pub(crate) fn symbol_vartime(x: &[Limb], modulus: &[Limb], scratch: &mut [Limb]) -> i32 {
    debug_assert!(modulus[0] & 1 == 1);
    let mut n = modulus.len();
    let (a, b) = scratch[..2 * n].split_at_mut(n);
    a.copy_from_slice(x);
    b.copy_from_slice(modulus);
    // The result is the symbol of a over b, negated if `sign` is 1.
    let mut sign = 0;
    loop {
        while n > 1 && a[n - 1] | b[n - 1] == 0 {
            n -= 1;
        }
        let (a, b) = (&mut a[..n], &mut b[..n]);
        if n == 1 {
            return small_symbol(a[0], b[0], sign);
        }
        if words::trim_vartime(a).is_empty() {
            return 0;
        }
        let steps = Steps::find(a, b);
        sign ^= steps.sign;
        if steps.count > 0 {
            steps.apply(a, b);
        } else if words::compare_vartime(a, b).is_lt() {
            // Both are odd, and too close to each other for their highest bits to decide.
            sign ^= reciprocity(a[0], b[0]);
            a.swap_with_slice(b);
            words::sub(a, b);
        } else {
            words::sub(a, b);
        }
    }
}

/// Returns 1 if swapping two odd numbers changes the sign of the symbol: both are 3 modulo 4.
const fn reciprocity(a: Limb, b: Limb) -> Limb {
    (a & b) >> 1 & 1
}

/// Returns 1 if the symbol of 2 over an odd number is negative: the number is 3 or 5 modulo 8.
const fn of_two(b: Limb) -> Limb {
    (b >> 1 ^ b >> 2) & 1
}

fn small_symbol(mut a: Limb, mut b: Limb, mut sign: Limb) -> i32 {
    while a != 0 {
        let zeros = a.trailing_zeros();
        a >>= zeros;
        sign ^= of_two(b) & Limb::from(zeros);
        if a < b {
            sign ^= reciprocity(a, b);
            swap(&mut a, &mut b);
        }
        a -= b;
    }
    match (b, sign & 1) {
        (1, 0) => 1,
        (1, _) => -1,
        _ => 0,
    }
}

/// Some steps of the algorithm. Each step subtracts b from a, after a swap if a is less, or halves
/// a. Together they replace a and b by `rows` times (a, b), divided by 2^`count`.
struct Steps {
    rows: [[i64; 2]; 2],
    count: u32,
    /// 1 if the symbol changes its sign.
    sign: Limb,
}

impl Steps {
    /// Halvings after which the lowest bits are used up, three of which are needed at the end.
    const MOST: u32 = 60;

    /// Finds as many steps as are certain; possibly none if a is odd and about as large as b.
    fn find(a: &[Limb], b: &[Limb]) -> Self {
        let top = a.len() - 1;
        let shift = (a[top] | b[top]).leading_zeros();
        let highest = |x: &[Limb]| ((wide(x[top], x[top - 1]) << shift) >> LIMB_BITS) as Limb;
        let (mut a_high, mut b_high) = (highest(a), highest(b));
        let (mut a_low, mut b_low) = (a[0], b[0]);
        let [mut a_row, mut b_row] = [[1, 0], [0, 1]];
        let (mut count, mut sign) = (0, 0);
        while count < Self::MOST {
            if a_low & 1 == 1 {
                // The highest bits are less than the number by less than 1 at first. A subtraction
                // at most doubles the greater error; the halving that follows halves it and cuts
                // off at most 1/2. So after 60 halvings each error is less than 31.
                if a_high.abs_diff(b_high) < 64 {
                    break;
                }
                if a_high < b_high {
                    sign ^= reciprocity(a_low, b_low);
                    swap(&mut a_high, &mut b_high);
                    swap(&mut a_low, &mut b_low);
                    swap(&mut a_row, &mut b_row);
                }
                a_high -= b_high;
                a_low = a_low.wrapping_sub(b_low);
                a_row = [a_row[0] - b_row[0], a_row[1] - b_row[1]];
            }
            let zeros = a_low.trailing_zeros().min(Self::MOST - count);
            sign ^= of_two(b_low) & Limb::from(zeros);
            a_high >>= zeros;
            a_low >>= zeros;
            // The magnitudes in a row add up to at most 2^count.
            b_row = [b_row[0] << zeros, b_row[1] << zeros];
            count += zeros;
        }
        Self { rows: [a_row, b_row], count, sign: sign & 1 }
    }

    /// Applies the steps to `a` and `b`, neither of which becomes negative.
    fn apply(&self, a: &mut [Limb], b: &mut [Limb]) {
        let [mut a_sum, mut b_sum] = [0i128; 2];
        let n = a.len();
        for i in 0..=n {
            let (x, y) = if i < n { (a[i], b[i]) } else { (0, 0) };
            // Magnitudes below 2^60·2^64, plus a carry below 2^62.
            let next = |sum: i128, row: [i64; 2]| {
                (sum >> LIMB_BITS)
                    + i128::from(row[0]) * i128::from(x)
                    + i128::from(row[1]) * i128::from(y)
            };
            let (a_next, b_next) = (next(a_sum, self.rows[0]), next(b_sum, self.rows[1]));
            if i > 0 {
                let cut =
                    |high: i128, low: i128| (wide(high as Limb, low as Limb) >> self.count) as Limb;
                a[i - 1] = cut(a_next, a_sum);
                b[i - 1] = cut(b_next, b_sum);
            }
            (a_sum, b_sum) = (a_next, b_next);
        }
    }
}

const fn wide(high: Limb, low: Limb) -> u128 {
    (high as u128) << LIMB_BITS | low as u128
}
