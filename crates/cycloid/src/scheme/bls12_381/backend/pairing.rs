//! The pairing and its target: the interface of a backend.

use super::group::{G1Affine, G2Affine, Group};
use super::source_group::{First, Second};
use crate::machine::ct::Mask;

/// The field Fq12, the group GT in it, and the optimal ate pairing.
///
/// The tower is Fp2 = Fp\[u\]/(u² + 1), Fp6 = Fp2\[v\]/(v³ − u − 1), Fq12 = Fp6\[w\]/(w² − v).
pub trait Pairing: Group<First> + Group<Second> {
    /// An element of Fq12.
    type Fq12: Copy + Send + Sync + 'static;

    /// The lines of a Miller loop for a finite point of G2.
    type Prepared: Clone + Send + Sync + 'static;

    /// Returns the element with these coefficients, big-endian integers below p, in the order of
    /// the tower: the coefficient of 1 before those of u, v and w.
    fn fq12_from_coefficients(coefficients: &[[u8; 48]; 12]) -> Self::Fq12;

    /// Returns the coefficients in the order of
    /// [`fq12_from_coefficients`](Self::fq12_from_coefficients).
    fn fq12_coefficients(a: &Self::Fq12) -> [[u8; 48]; 12];

    /// Returns 0.
    fn fq12_zero() -> Self::Fq12 {
        Self::fq12_from_coefficients(&[[0; 48]; 12])
    }

    /// Returns 1.
    fn fq12_one() -> Self::Fq12;

    /// Returns whether a = b.
    fn fq12_equal(a: &Self::Fq12, b: &Self::Fq12) -> bool;

    /// Returns a + b.
    fn fq12_add(a: &Self::Fq12, b: &Self::Fq12) -> Self::Fq12;

    /// Returns a − b.
    fn fq12_sub(a: &Self::Fq12, b: &Self::Fq12) -> Self::Fq12;

    /// Returns a · b.
    fn fq12_mul(a: &Self::Fq12, b: &Self::Fq12) -> Self::Fq12;

    /// Returns a².
    fn fq12_square(a: &Self::Fq12) -> Self::Fq12 {
        Self::fq12_mul(a, a)
    }

    /// Returns 1/a, and 0 for 0.
    fn fq12_invert(a: &Self::Fq12) -> Self::Fq12;

    /// Returns a to the power of p⁶: negates the coefficient of w. In GT this is the inverse.
    fn fq12_conjugate(a: &Self::Fq12) -> Self::Fq12;

    /// Returns `a` if `mask` is true, `b` if it is false.
    fn fq12_select(mask: Mask, a: &Self::Fq12, b: &Self::Fq12) -> Self::Fq12;

    /// Returns whether an element is in GT, the group of order r; 0 is not, 1 is.
    fn gt_contains(a: &Self::Fq12) -> bool;

    /// Returns a², for a member of GT.
    fn gt_square(a: &Self::Fq12) -> Self::Fq12 {
        Self::fq12_square(a)
    }

    /// Returns a^k, for a member of GT.
    fn gt_pow(a: &Self::Fq12, k: &Self::Fr) -> Self::Fq12 {
        pow::<Self>(a, k)
    }

    /// Returns a^k, for a member of GT and a public k.
    fn gt_pow_vartime(a: &Self::Fq12, k: &Self::Fr) -> Self::Fq12 {
        pow_vartime::<Self>(a, k)
    }

    /// Returns the product of the powers aᵢ^kᵢ of members of GT, for 0 ≤ i < n.
    fn gt_multi_pow<'a>(
        n: usize,
        a: impl Fn(usize) -> &'a Self::Fq12,
        k: impl Fn(usize) -> &'a Self::Fr,
    ) -> Self::Fq12 {
        (0..n).fold(Self::fq12_one(), |product, i| {
            Self::fq12_mul(&product, &Self::gt_pow(a(i), k(i)))
        })
    }

    /// Returns the lines for a finite point.
    fn prepare(q: &<Self as Group<Second>>::Affine) -> Self::Prepared;

    /// Returns the product of the Miller loops of the pairs (pᵢ, qᵢ), all of them finite; 1 for no
    /// pairs. Two backends may differ by a factor that the final exponentiation maps to 1.
    fn miller_loop(p: &[G1Affine<Self>], q: &[G2Affine<Self>]) -> Self::Fq12;

    /// Like [`miller_loop`](Self::miller_loop), for one pair or two, as of a signature: apart from
    /// code for many.
    fn miller_loop_few(p: &[G1Affine<Self>], q: &[G2Affine<Self>]) -> Self::Fq12 {
        Self::miller_loop(p, q)
    }

    /// Like [`miller_loop`](Self::miller_loop), with prepared lines.
    fn miller_loop_prepared(p: &[G1Affine<Self>], q: &[&Self::Prepared]) -> Self::Fq12;

    /// Returns a^(3·(p¹² − 1)/r), a member of GT, for a nonzero element.
    ///
    /// The factor 3 makes it cheaper (Hayashida, Hayasaka and Teruya, eprint 2020/875). zkcrypto
    /// and blst use it too, so that pairings agree.
    fn final_exponentiation(a: &Self::Fq12) -> Self::Fq12;
}

/// Returns a^k for a member of GT, by squaring and multiplying at every bit.
fn pow<B: Pairing>(a: &B::Fq12, k: &B::Fr) -> B::Fq12 {
    let integer = B::fr_to_integer(k);
    let mut power = B::fq12_one();
    // r has 255 bits.
    for bit in (0..255).rev() {
        power = B::gt_square(&power);
        let product = B::fq12_mul(&power, a);
        let mask = Mask::from_bit(integer[bit / 64] >> (bit % 64) & 1);
        power = B::fq12_select(mask, &product, &power);
    }
    power
}

/// Like [`pow`], multiplying only at set bits.
fn pow_vartime<B: Pairing>(a: &B::Fq12, k: &B::Fr) -> B::Fq12 {
    let integer = B::fr_to_integer(k);
    let mut power = B::fq12_one();
    for bit in (0..255).rev() {
        power = B::gt_square(&power);
        if integer[bit / 64] >> (bit % 64) & 1 == 1 {
            power = B::fq12_mul(&power, a);
        }
    }
    power
}
