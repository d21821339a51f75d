//! Group laws and scalar arithmetic.

use super::*;

fn scalar(seed: u8) -> Scalar {
    Scalar::from_wide_bytes(&core::array::from_fn(|i| seed.wrapping_mul(i as u8 + 1) ^ i as u8))
}

#[test]
fn the_group() {
    let (a, b) = (scalar(3), scalar(5));
    let (point, other) = (Point::multiply_base(&a), Point::multiply_base(&b));
    assert_eq!(Point::base().multiply(&a), point);
    assert_eq!(point.add(&other), Point::multiply_base(&a.add(&b)));
    assert_eq!(point.multiply(&b), other.multiply(&a));
    assert_eq!(point.multiply(&b), Point::multiply_base(&a.multiply(&b)));
    assert_eq!(point.add(&point.negate()), Point::NEUTRAL);
    assert_eq!(point.add(&Point::NEUTRAL), point);
    let sum = other.multiply_add_base_vartime(&a, &b);
    assert_eq!(sum, Point::multiply_base(&a.multiply_add(&b, &b)));
    assert_ne!(point, other);
    assert_eq!(Point::NEUTRAL.multiply(&a), Point::NEUTRAL);
}

#[test]
fn encodings() {
    for seed in 0..20 {
        let point = Point::multiply_base(&scalar(seed));
        let bytes = point.to_bytes();
        assert_eq!(Point::from_bytes(&bytes), Some(point));
        let mut opposite = bytes;
        opposite[31] ^= 0x80;
        assert_eq!(Point::from_bytes(&opposite), Some(point.negate()));
    }
    let mut neutral = [0; 32];
    neutral[0] = 1;
    assert_eq!(Point::NEUTRAL.to_bytes(), neutral);
    neutral[31] = 0x80;
    assert_eq!(Point::from_bytes(&neutral), None);
    // y = p + 1.
    let mut large = [0xff; 32];
    (large[0], large[31]) = (0xee, 0x7f);
    assert_eq!(Point::from_bytes(&large), None);
}

#[test]
fn orders() {
    // y = 0 is of order 4.
    let small = Point::from_bytes(&[0; 32]).unwrap();
    let point = Point::base();
    let mixed = point.add(&small);
    assert!(small.is_small_order() && !small.is_torsion_free());
    assert!(!point.is_small_order() && point.is_torsion_free());
    assert!(!mixed.is_small_order() && !mixed.is_torsion_free());
    assert!(Point::NEUTRAL.is_small_order() && Point::NEUTRAL.is_torsion_free());
}

#[test]
fn scalars() {
    let (a, b, c) = (scalar(7), scalar(11), scalar(13));
    let bytes = |scalar: &Scalar| scalar.to_bytes();
    assert_eq!(bytes(&a.sub(&b).add(&b)), bytes(&a));
    assert_eq!(bytes(&a.multiply(&b.add(&c))), bytes(&a.multiply_add(&b, &a.multiply(&c))));
    assert_eq!(bytes(&a.multiply(&a.invert())), bytes(&Scalar::one()));
    let zero = a.sub(&a);
    assert_eq!((bytes(&zero), bytes(&zero.invert())), ([0; 32], [0; 32]));
    let again = Scalar::from_bytes(&a.to_bytes()).unwrap();
    assert_eq!(bytes(&again), bytes(&a));
    assert!(Scalar::from_bytes(&[0xff; 32]).is_none());
    let order = bytes_of_order();
    assert!(Scalar::from_bytes(&order).is_none());
    let mut wide = [0; 64];
    wide[..32].copy_from_slice(&order);
    assert_eq!(bytes(&Scalar::from_wide_bytes(&wide)), [0; 32]);
}

/// Returns L, as L − 1 plus 1.
fn bytes_of_order() -> [u8; 32] {
    let mut order = Scalar(edwards::Scalar::ZERO).sub(&Scalar::one()).to_bytes();
    order[0] += 1;
    order
}
