//! Division steps on the lowest bits of two numbers: the inner loop of safegcd (Bernstein and Yang,
//! Fast constant-time gcd computation and modular inversion, 2019, section 8).

use crate::machine::words::{self, Limb};

/// Steps per call.
pub(super) const DIVSTEPS: usize = 20;

/// The effect of n steps on (f, g): (f, g) ← (u·f + v·g, q·f + r·g) / 2ⁿ. Entries are more than −2ⁿ
/// and at most 2ⁿ, and |u| + |v| and |q| + |r| are at most 2ⁿ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Matrix {
    pub(super) u: i64,
    pub(super) v: i64,
    pub(super) q: i64,
    pub(super) r: i64,
}

/// Computes [`DIVSTEPS`] steps, which depend on the lowest bits of f and g alone. f is odd.
///
/// f is packed with its row of the matrix into one word, and so is g, so that one addition updates
/// all three: f + u·2²¹ + v·2⁴², where f is less than 2²⁰ in magnitude. u and v start as −2²⁰ for 1
/// and are halved with f and g. Rows keep |u| + |v| ≤ 2²⁰. Only the v of g's row reaches that
/// bound, at the start, so a sum of two rows is less than 2⁶³ in magnitude.
#[inline(always)]
pub(super) fn divsteps(zeta: &mut i64, f: Limb, g: Limb) -> Matrix {
    const LOW: Limb = (1 << DIVSTEPS) - 1;
    let f = (f & LOW).cast_signed() - (1 << 41);
    let g = (g & LOW).cast_signed() - (1 << 62);
    let (after, f, g) = words::divsteps::<DIVSTEPS>(*zeta, f, g);
    *zeta = after;
    // Rounding removes the lower fields with their signs. An entry is never −2²⁰, so the negated
    // entry stored here is from −2²⁰ to 2²⁰ − 1, except v of a row that is g's first.
    let entries = |row: i64| {
        let rounded = row + (1 << 20);
        (-((rounded << 22) >> 43), -((rounded + (1 << 41)) >> 42))
    };
    let ((u, v), (q, r)) = (entries(f), entries(g));
    Matrix { u, v, q, r }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Computes the steps as defined, on numbers long enough for their rows as well.
    fn model(zeta: &mut i64, f: Limb, g: Limb) -> Matrix {
        let (mut f, mut g) = (i128::from(f), i128::from(g));
        let (mut row_f, mut row_g) = ((1i64, 0i64), (0i64, 1i64));
        for _ in 0..DIVSTEPS {
            if *zeta < 0 && g & 1 == 1 {
                (f, g) = (g, g - f);
                (row_f, row_g) = (row_g, (row_g.0 - row_f.0, row_g.1 - row_f.1));
                *zeta = !*zeta;
            } else if g & 1 == 1 {
                g += f;
                row_g = (row_g.0 + row_f.0, row_g.1 + row_f.1);
            }
            *zeta -= 1;
            g >>= 1;
            row_f = (2 * row_f.0, 2 * row_f.1);
        }
        Matrix { u: row_f.0, v: row_f.1, q: row_g.0, r: row_g.1 }
    }

    #[test]
    fn packed_rows_agree_with_the_model() {
        let mut words = std::vec![0, 1, 2, 3, 1 << 19, (1 << 20) - 1, 1 << 20, !0, !0 << 20];
        let mut state = 1u64;
        for _ in 0..300 {
            state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
            words.push(state >> 20);
        }
        for f in &words {
            for g in &words {
                for start in [-1, 0, 1, -2, 5, -5, 19, -19, 40, -40] {
                    let (mut expected_zeta, mut zeta) = (start, start);
                    let expected = model(&mut expected_zeta, f | 1, *g);
                    assert_eq!(divsteps(&mut zeta, f | 1, *g), expected, "{f:x} {g:x} {start}");
                    assert_eq!(zeta, expected_zeta);
                }
            }
        }
    }
}
