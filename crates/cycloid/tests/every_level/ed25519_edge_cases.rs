//! Signatures on which verifiers disagree: points of small and of mixed order, and non-canonical
//! encodings (Chalkias, Garillot, Nikolaenko, Taming the many EdDSAs, 2020), constructed from the
//! group itself.

use crate::support::levels::{at_every_level, hex};
use cycloid::scheme::curve25519::{Point, Scalar};
use cycloid::scheme::ed25519::{self, Error, Job, Rule, SigningKey, Variant, VerifyingKey};
use sha2::{Digest, Sha512};

/// A signature, and each rule's verdict.
struct Case {
    name: &'static str,
    public: [u8; 32],
    message: Vec<u8>,
    signature: [u8; 64],
    cofactorless: Result<(), Error>,
    strict: Result<(), Error>,
    cofactored: Result<(), Error>,
}

const YES: Result<(), Error> = Ok(());
const NO: Result<(), Error> = Err(Error::Signature);
const WEAK: Result<(), Error> = Err(Error::WeakPublicKey);

fn scalar(number: u8) -> Scalar {
    let mut bytes = [0; 32];
    bytes[0] = number;
    Scalar::from_bytes(&bytes).unwrap()
}

/// Returns a point of order 8 times a number.
fn torsion(number: u8) -> Point {
    let order_8 = hex("26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05");
    let point = Point::from_bytes(&order_8).unwrap();
    assert!(point.is_small_order() && !point.is_torsion_free());
    assert!(point.multiply(&scalar(4)) != Point::NEUTRAL);
    point.multiply(&scalar(number))
}

fn challenge(point: &[u8; 32], public: &[u8; 32], message: &[u8]) -> Scalar {
    let hash = Sha512::new().chain_update(point).chain_update(public).chain_update(message);
    Scalar::from_wide_bytes(&hash.finalize().into())
}

/// Makes a signature whose key is a·B plus a point of small order, and whose R is r·B plus another.
/// Encodings of both may be given. Uses the first message for which R + k·A = S·B, or for which
/// that holds only after multiplication by 8.
struct Maker {
    a: u8,
    key_torsion: u8,
    r: u8,
    point_torsion: u8,
    public: Option<&'static str>,
    point: Option<&'static str>,
}

impl Maker {
    fn make(&self, holds_as_it_is: bool) -> ([u8; 32], Vec<u8>, [u8; 64]) {
        let key = Point::multiply_base(&scalar(self.a)).add(&torsion(self.key_torsion));
        let point = Point::multiply_base(&scalar(self.r)).add(&torsion(self.point_torsion));
        let public = self.public.map_or(key.to_bytes(), hex);
        let point_bytes = self.point.map_or(point.to_bytes(), hex);
        for i in 0..1000u32 {
            let message = format!("message {i}").into_bytes();
            let k = challenge(&point_bytes, &public, &message);
            let s = k.multiply_add(&scalar(self.a), &scalar(self.r));
            let difference = Point::multiply_base(&s).add(&key.multiply(&k).negate());
            if (difference == point) == holds_as_it_is {
                let mut signature = [0; 64];
                signature[..32].copy_from_slice(&point_bytes);
                signature[32..].copy_from_slice(&s.to_bytes());
                return (public, message, signature);
            }
        }
        panic!("one in eight messages would do");
    }
}

const PLAIN: Maker =
    Maker { a: 0, key_torsion: 0, r: 0, point_torsion: 0, public: None, point: None };

/// Non-canonical encodings of (0, 1), of order 1, and of (0, −1), of order 2, and of one of the
/// points (·, 0) of order 4.
const NEUTRAL_PLUS_P: &str = "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f";
const NEUTRAL_ODD: &str = "0100000000000000000000000000000000000000000000000000000000000080";
const ORDER_2_ODD: &str = "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff";
const ORDER_4_PLUS_P: &str = "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f";

fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    let mut add = |name, maker: Maker, as_it_is, [cofactorless, strict, cofactored]: [_; 3]| {
        let (public, message, signature) = maker.make(as_it_is);
        cases.push(Case { name, public, message, signature, cofactorless, strict, cofactored });
    };
    // An ordinary signature.
    let honest = || Maker { a: 5, r: 7, ..PLAIN };
    add("honest", honest(), true, [YES, YES, YES]);
    // The key is of small order, so S reveals nothing about it.
    let small = || Maker { key_torsion: 1, point_torsion: 2, ..PLAIN };
    add("A and R small, S = 0", small(), true, [YES, WEAK, YES]);
    add("A and R small, S = 0, unequal", small(), false, [NO, WEAK, YES]);
    add("A small, R mixed", Maker { r: 7, ..small() }, true, [YES, WEAK, YES]);
    add("A small, R mixed, unequal", Maker { r: 7, ..small() }, false, [NO, WEAK, YES]);
    add("A neutral", Maker { r: 7, ..PLAIN }, true, [YES, WEAK, YES]);
    add("A and R neutral", PLAIN, true, [YES, WEAK, YES]);
    // R is of small order.
    add("A mixed, R small", Maker { a: 5, ..small() }, true, [YES, NO, YES]);
    add("A mixed, R small, unequal", Maker { a: 5, ..small() }, false, [NO, NO, YES]);
    add("R neutral", Maker { a: 5, ..PLAIN }, true, [YES, NO, YES]);
    // Both have a small-order component, which cancels out or does not.
    let mixed = || Maker { a: 5, r: 7, ..small() };
    add("A and R mixed", mixed(), true, [YES, YES, YES]);
    add("A and R mixed, unequal", mixed(), false, [NO, NO, YES]);
    let only_key = || Maker { point_torsion: 0, ..mixed() };
    add("A mixed", only_key(), true, [YES, YES, YES]);
    add("A mixed, unequal", only_key(), false, [NO, NO, YES]);
    let only_point = || Maker { key_torsion: 0, ..mixed() };
    add("R mixed, unequal", only_point(), false, [NO, NO, YES]);
    // R in another encoding, which is hashed as given.
    let other_point = |point| Maker { a: 5, point: Some(point), ..PLAIN };
    add("R neutral, plus p", other_point(NEUTRAL_PLUS_P), true, [NO, NO, YES]);
    add("R neutral, odd", other_point(NEUTRAL_ODD), true, [NO, NO, YES]);
    let order_2 = || Maker { point_torsion: 4, ..other_point(ORDER_2_ODD) };
    add("R of order 2, odd", order_2(), false, [NO, NO, YES]);
    let order_4 = || Maker { point_torsion: 2, ..other_point(ORDER_4_PLUS_P) };
    add("R of order 4, plus p", order_4(), false, [NO, NO, YES]);
    // The key in another encoding.
    let other_key = |public| Maker { r: 7, public: Some(public), ..PLAIN };
    add("A neutral, plus p", other_key(NEUTRAL_PLUS_P), true, [YES, WEAK, YES]);
    add("A neutral, odd", other_key(NEUTRAL_ODD), true, [YES, WEAK, YES]);
    let order_2 = || Maker { key_torsion: 4, ..other_key(ORDER_2_ODD) };
    add("A of order 2, odd", order_2(), true, [YES, WEAK, YES]);
    add("A of order 2, odd, unequal", order_2(), false, [NO, WEAK, YES]);
    cases
}

#[test]
fn every_rule_in_every_lane() {
    at_every_level(|| {
        let cases = cases();
        assert_eq!(cases.len(), 23);
        let keys: Vec<_> =
            cases.iter().map(|case| VerifyingKey::new(&case.public).unwrap()).collect();
        for (case, key) in cases.iter().zip(&keys) {
            let Case { name, message, signature, .. } = case;
            assert_eq!(key.verify(message, signature), case.cofactorless, "{name}");
            assert_eq!(key.verify_strict(message, signature), case.strict, "{name}");
            assert_eq!(key.verify_cofactored(message, signature), case.cofactored, "{name}");
            assert_eq!(key.is_weak(), case.strict == WEAK, "{name}");
        }
        for shift in 0..8 {
            let all = || cases.iter().zip(&keys).cycle().skip(shift).take(24);
            let mut jobs: Vec<_> = all()
                .flat_map(|(case, key)| {
                    [Rule::Cofactorless, Rule::Strict, Rule::Cofactored].map(|rule| {
                        Job::verify(key, rule, Variant::Plain, &case.message, &case.signature)
                    })
                })
                .collect();
            ed25519::run_batch(&mut jobs);
            for (jobs, (case, _)) in jobs.chunks(3).zip(all()) {
                let outcomes: Vec<_> = jobs.iter().map(Job::outcome).collect();
                let expected = [case.cofactorless, case.strict, case.cofactored];
                assert_eq!(outcomes, expected, "{}", case.name);
            }
        }
    });
}

/// An R that is not a point is refused even by the rule that decodes it.
#[test]
fn invalid_points_are_refused() {
    let key = SigningKey::from_seed(&[1; 32]);
    let mut bytes = [0; 32];
    let none: Vec<[u8; 32]> = (2..=40u8)
        .filter_map(|y| {
            bytes[0] = y;
            VerifyingKey::new(&bytes).is_err().then_some(bytes)
        })
        .collect();
    assert!((10..30).contains(&none.len()));
    for point in none {
        assert!(Point::from_bytes(&point).is_none());
        let mut signature = key.sign(b"message");
        signature[..32].copy_from_slice(&point);
        let public = key.verifying_key();
        assert_eq!(public.verify(b"message", &signature), NO);
        assert_eq!(public.verify_strict(b"message", &signature), NO);
        assert_eq!(public.verify_cofactored(b"message", &signature), NO);
    }
}
