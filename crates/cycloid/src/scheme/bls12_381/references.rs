//! Operators with references and with affine points.

use core::iter::{Product, Sum};
use core::ops::{Add, AddAssign, Mul, MulAssign, Sub, SubAssign};

use super::backend::{Group, Scalars, SourceGroup};
use super::operators::{assigning, by_reference, folds};
use super::{Affine, Fr, Projective};

by_reference! {
    [B: Scalars] Fr<B>, Fr<B> => Fr<B>, Add, add;
    [B: Scalars] Fr<B>, Fr<B> => Fr<B>, Sub, sub;
    [B: Scalars] Fr<B>, Fr<B> => Fr<B>, Mul, mul;
    [B: Group<G>, G: SourceGroup] Projective<B, G>, Projective<B, G> => Projective<B, G>, Add, add;
    [B: Group<G>, G: SourceGroup] Projective<B, G>, Projective<B, G> => Projective<B, G>, Sub, sub;
    [B: Group<G>, G: SourceGroup] Projective<B, G>, Affine<B, G> => Projective<B, G>, Add, add;
    [B: Group<G>, G: SourceGroup] Projective<B, G>, Affine<B, G> => Projective<B, G>, Sub, sub;
    [B: Group<G>, G: SourceGroup] Projective<B, G>, Fr<B> => Projective<B, G>, Mul, mul;
    [B: Group<G>, G: SourceGroup] Affine<B, G>, Fr<B> => Projective<B, G>, Mul, mul;
}

assigning! {
    [B: Scalars] Fr<B>, &Fr<B>, AddAssign, add_assign, Add::add;
    [B: Scalars] Fr<B>, &Fr<B>, SubAssign, sub_assign, Sub::sub;
    [B: Scalars] Fr<B>, &Fr<B>, MulAssign, mul_assign, Mul::mul;
    [B: Group<G>, G: SourceGroup] Projective<B, G>, &Projective<B, G>, AddAssign, add_assign, Add::add;
    [B: Group<G>, G: SourceGroup] Projective<B, G>, &Projective<B, G>, SubAssign, sub_assign, Sub::sub;
    [B: Group<G>, G: SourceGroup] Projective<B, G>, Affine<B, G>, AddAssign, add_assign, Add::add;
    [B: Group<G>, G: SourceGroup] Projective<B, G>, Affine<B, G>, SubAssign, sub_assign, Sub::sub;
    [B: Group<G>, G: SourceGroup] Projective<B, G>, &Affine<B, G>, AddAssign, add_assign, Add::add;
    [B: Group<G>, G: SourceGroup] Projective<B, G>, &Affine<B, G>, SubAssign, sub_assign, Sub::sub;
    [B: Group<G>, G: SourceGroup] Projective<B, G>, &Fr<B>, MulAssign, mul_assign, Mul::mul;
}

folds! {
    [B: Scalars] Fr<B>, Sum, sum;
    [B: Scalars] Fr<B>, Product, product;
    [B: Group<G>, G: SourceGroup] Projective<B, G>, Sum, sum;
}

impl<B: Group<G>, G: SourceGroup> Sub<Affine<B, G>> for Projective<B, G> {
    type Output = Self;

    fn sub(self, other: Affine<B, G>) -> Self {
        self.add_affine(&-other)
    }
}

impl<B: Group<G>, G: SourceGroup> Mul<Fr<B>> for Affine<B, G> {
    type Output = Projective<B, G>;

    /// Constant-time.
    fn mul(self, scalar: Fr<B>) -> Projective<B, G> {
        Projective::from(self).multiply(&scalar)
    }
}
