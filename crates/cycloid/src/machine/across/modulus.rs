//! A modulus prepared for the kernels.

use core::fmt;

use super::super::lanes::{LANES, Lanes};
use super::super::words::{LIMB_BITS, Limb, montgomery_n0};
use super::convert::double_mod;
use super::{
    AcrossLanes, DIGIT_BITS, DIGIT_MASK, MAX_DIGITS, digits, load, montgomery_work_lanes, reduce,
    vectors,
};

/// An odd modulus in one backend's form for multiplication. The value may be secret.
#[derive(Clone, Copy)]
pub struct Modulus<'a, V> {
    pub(super) backend: V,
    pub(super) n: usize,
    pub(super) digits: &'a [Lanes],
    /// Windows at −1 to n − 1.
    pub(super) windows: &'a [Lanes],
    /// Windows of −1 / modulus mod R, at −7 to n − 8.
    pub(super) inverse: &'a [Lanes],
    pub(super) r_squared: &'a [Lanes],
}

/// Returns the `Lanes` of memory for a modulus of `n` digits: its digits, R² mod modulus, its
/// windows and those of −1 / modulus.
pub const fn modulus_lanes(n: usize) -> usize {
    2 * vectors(n) + (n + 1) + n
}

impl<'a, V: AcrossLanes> Modulus<'a, V> {
    /// Implements [`AcrossLanes::prepare`]; `write_windows` is [`windows`](super::kernel::windows).
    pub(super) fn prepare(
        backend: V,
        modulus: &[Limb],
        bits: usize,
        memory: &'a mut [Lanes],
        work: &mut [Lanes],
        write_windows: impl Fn(V, &mut [Lanes], &mut [Lanes], &[Lanes]),
    ) -> Self {
        let n = digits(bits);
        let vectors = vectors(n);
        assert!(n <= MAX_DIGITS);
        let (number, rest) = memory[..modulus_lanes(n)].split_at_mut(vectors);
        let (r_squared, rest) = rest.split_at_mut(vectors);
        let (windows, inverse) = rest.split_at_mut(n + 1);
        let work = &mut work[..montgomery_work_lanes(n)];
        load(number, modulus);
        {
            let (all, rest) = work.split_at_mut(LANES * (vectors + 1));
            let (negative_inverse, rest) = rest.split_at_mut(vectors);
            let (remainder, rest) = rest.split_at_mut(vectors);
            let room = &mut rest[..vectors];
            write_windows(backend, all, room, number);
            windows.copy_from_slice(&all[LANES - 2..][..n + 1]);
            invert(
                Lanes::as_limbs_mut(negative_inverse),
                Lanes::as_limbs_mut(remainder),
                &Lanes::as_limbs(number)[..n],
            );
            write_windows(backend, all, room, negative_inverse);
            inverse.copy_from_slice(&all[..n]);
        }
        let unfinished = Modulus { backend, n, digits: number, windows, inverse, r_squared: &[] };
        square_of_r(&unfinished, bits, r_squared, work);
        Self { r_squared, ..unfinished }
    }

    /// Restores a modulus of `bits` bits that [`AcrossLanes::prepare`] wrote to `memory`.
    pub fn prepared(backend: V, bits: usize, memory: &'a [Lanes]) -> Self {
        let n = digits(bits);
        let (number, rest) = memory[..modulus_lanes(n)].split_at(vectors(n));
        let (r_squared, rest) = rest.split_at(vectors(n));
        let (windows, inverse) = rest.split_at(n + 1);
        Self { backend, n, digits: number, windows, inverse, r_squared }
    }

    /// Returns the modulus itself, with digits below 2⁵¹, for [`reduce`].
    pub const fn digits(&self) -> &'a [Lanes] {
        self.digits
    }

    /// Returns R² mod modulus; multiplying by it converts a number to Montgomery form.
    pub const fn r_squared(&self) -> &'a [Lanes] {
        self.r_squared
    }

    /// Returns n, the digits of a number modulo this one.
    pub const fn n(&self) -> usize {
        self.n
    }
}

/// Computes `result` = −1 / `modulus` mod R; the lanes beyond n are zero. `remainder` is working
/// memory.
fn invert(result: &mut [Limb], remainder: &mut [Limb], modulus: &[Limb]) {
    let n = modulus.len();
    // An inverse modulo 2⁶⁴ is also an inverse modulo 2⁵¹.
    let k0 = montgomery_n0(modulus[0]);
    result.fill(0);
    remainder.fill(0);
    remainder[0] = 1;
    // With x the digits computed so far, 1 + x·modulus is `remainder` times 2^(51·i).
    for (i, digit) in result[..n].iter_mut().enumerate() {
        let x = remainder[0].wrapping_mul(k0) & DIGIT_MASK;
        *digit = x;
        // Below 2⁵¹ + 2⁵¹ − 1 + (2⁵¹ − 1)² < 2¹⁰² in each step, so the carry is below 2⁵¹.
        let mut carry = 0;
        for j in 0..n - i {
            let sum = u128::from(x) * u128::from(modulus[j])
                + u128::from(remainder[j])
                + u128::from(carry);
            carry = (sum >> DIGIT_BITS) as Limb;
            if j > 0 {
                remainder[j - 1] = sum as Limb & DIGIT_MASK;
            }
        }
    }
}

/// Computes `r_squared` = R² mod modulus, for a modulus of `bits` bits that is otherwise prepared.
fn square_of_r<V: AcrossLanes>(
    modulus: &Modulus<'_, V>,
    bits: usize,
    r_squared: &mut [Lanes],
    work: &mut [Lanes],
) {
    let exponent = modulus.n * DIGIT_BITS;
    // R · 2^k for the leading bits k of 51·n, by doubling 2^(bits − 1), which is less than the
    // modulus; then (R · 2^k)² / R = R · 2^(2k), and a doubling if the next bit is one, until k is
    // 51·n and 2^k is R.
    let squarings = LIMB_BITS.ilog2();
    let power = bits - 1;
    r_squared.fill(Lanes::ZERO);
    Lanes::as_limbs_mut(r_squared)[power / DIGIT_BITS] = 1 << (power % DIGIT_BITS);
    for _ in power..exponent + (exponent >> squarings) {
        double_mod(r_squared, modulus.digits);
    }
    for bit in (0..squarings).rev() {
        modulus.backend.square(r_squared, work, modulus);
        reduce(r_squared, modulus.digits);
        if exponent >> bit & 1 == 1 {
            double_mod(r_squared, modulus.digits);
        }
    }
}

/// Prints only the length, since the value may be secret.
impl<V> fmt::Debug for Modulus<'_, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Modulus({} digits)", self.n)
    }
}
