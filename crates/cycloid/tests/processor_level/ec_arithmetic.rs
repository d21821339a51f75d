//! Arithmetic with points and scalars: the group laws, and comparison with the chord-and-tangent
//! model.
#![allow(clippy::eq_op, reason = "a point less itself is infinity")]

use crate::support::Generator;
use crate::support::curve::{self, Model};
use cycloid::scheme::ec::arithmetic::{Point, Scalar};
use cycloid::scheme::ec::{Curve, Error, P224, P256, P384, P521, PrivateKey};
use num_bigint::BigUint;

macro_rules! on_every_curve {
    ($($test:ident => $body:ident;)+) => {$(
        #[test]
        fn $test() {
            $body::<P224>();
            $body::<P256>();
            $body::<P384>();
            $body::<P521>();
        }
    )+};
}

on_every_curve! {
    points_obey_the_laws_of_a_group => laws;
    sums_and_multiples_are_those_of_the_model => model;
    scalars_are_a_field => scalars;
    encodings_come_back => encodings;
}

/// Converts a point to the model's form.
fn modelled<C: Curve>(model: &Model, point: &Point<C>) -> curve::Point {
    point.to_public_key().ok().and_then(|key| model.point(&key))
}

fn number<C: Curve>(scalar: &Scalar<C>) -> BigUint {
    let mut bytes = vec![0; C::BYTES];
    scalar.to_bytes(&mut bytes).unwrap();
    BigUint::from_bytes_be(&bytes)
}

/// Returns infinity, related points in several forms, and others.
fn points<C: Curve>() -> Vec<Point<C>> {
    let mut rng = Generator::new(C::BITS as u64);
    let g = Point::<C>::generator();
    let other = Point::generator_times(&Scalar::random(&mut rng).unwrap());
    let twice = &g + &g;
    vec![
        Point::infinity(),
        &g - &g,
        -&Point::infinity(),
        -&g,
        &twice - &g,
        -&twice,
        &twice + &other,
        -&other,
        g,
        twice,
        other,
    ]
}

fn laws<C: Curve>() {
    let points = points::<C>();
    let infinity = Point::infinity();
    for a in &points {
        assert_eq!(a + &infinity, *a);
        assert_eq!(&infinity + a, *a);
        assert_eq!(a - a, infinity);
        assert_eq!(a + &-a, infinity);
        assert_eq!(-&-a, *a);
        assert_eq!(&Scalar::zero() * a, infinity);
        assert_eq!(&Scalar::one() * a, *a);
        assert_eq!(&-&Scalar::one() * a, -a);
        for b in &points {
            assert_eq!(a + b, b + a);
            assert_eq!(a - b, -&(b - a));
            for c in &points {
                assert_eq!(&(a + b) + c, a + &(b + c));
            }
        }
    }
    let distinct = [0, 3, 5, 7, 8, 9, 10];
    for i in distinct {
        for j in distinct {
            assert_eq!(points[i] == points[j], i == j, "{i} {j}");
        }
    }
}

fn model<C: Curve>() {
    let model = Model::of::<C>();
    let points = points::<C>();
    let modelled = |point: &Point<C>| modelled(&model, point);
    let scalars = edge_scalars::<C>(&model);
    for a in &points {
        for b in &points {
            assert_eq!(modelled(&(a + b)), model.add(&modelled(a), &modelled(b)));
        }
    }
    let mut terms = Vec::new();
    let mut sum = None;
    for (i, k) in scalars.iter().enumerate() {
        let point = &points[(7 * i + 3) % points.len()];
        let product = model.multiply(&number(k), &modelled(point));
        assert_eq!(modelled(&(k * point)), product);
        let base = model.multiply(&number(k), &model.generator);
        assert_eq!(modelled(&Point::generator_times(k)), base);
        assert_eq!(modelled(&Point::sum_of_products_vartime(k, &[])), base);

        terms.push((k, point));
        sum = model.add(&sum, &product);
        assert_eq!(modelled(&Point::sum_of_products(&terms)), sum);
        let with_base = model.add(&sum, &base);
        assert_eq!(modelled(&Point::sum_of_products_vartime(k, &terms)), with_base);
    }
    assert_eq!(Point::<C>::sum_of_products(&[]), Point::infinity());
    // Terms that cancel each other.
    let (k, point) = (&scalars[8], &points[10]);
    let negative = -k;
    assert_eq!(Point::sum_of_products(&[(k, point), (&negative, point)]), Point::infinity());
    let cancelling = &[(k, point), (&negative, point)];
    let zero = Scalar::zero();
    assert_eq!(Point::sum_of_products_vartime(&zero, cancelling), Point::infinity());
    let g = Point::generator();
    assert_eq!(Point::sum_of_products_vartime(k, &[(&negative, &g)]), Point::infinity());
}

/// Returns 0, 1, 2, n − 1, n − 2, some powers of two and others.
fn edge_scalars<C: Curve>(model: &Model) -> Vec<Scalar<C>> {
    let mut rng = Generator::new(3);
    let one = BigUint::from(1u8);
    let mut numbers = vec![BigUint::ZERO, one.clone(), BigUint::from(2u8)];
    numbers.extend([&model.n - 1u8, &model.n - 2u8, (&one << (C::BITS - 1)) - 1u8]);
    numbers.extend([64, C::BITS as u32 / 2].map(|bits| &one << bits));
    let mut scalars: Vec<_> =
        numbers.iter().map(|number| Scalar::from_bytes(&model.bytes(number)).unwrap()).collect();
    scalars.extend([(); 2].map(|()| Scalar::random(&mut rng).unwrap()));
    scalars
}

fn scalars<C: Curve>() {
    let model = Model::of::<C>();
    let n = &model.n;
    let scalars = edge_scalars::<C>(&model);
    for a in &scalars {
        assert_eq!(number(&-a), (n - number(a)) % n);
        let inverse = number(a).modinv(n).unwrap_or_default();
        assert_eq!(number(&a.invert()), inverse);
        for b in &scalars {
            let [x, y] = [number(a), number(b)];
            assert_eq!(number(&(a + b)), (&x + &y) % n);
            assert_eq!(number(&(a - b)), (n + &x - &y) % n);
            assert_eq!(number(&(a * b)), &x * &y % n);
            assert_eq!(a == b, x == y);
        }
    }
    let key = PrivateKey::<C>::generate(&mut Generator::new(4)).unwrap();
    let scalar = Scalar::from(&key);
    assert_eq!(Point::generator_times(&scalar), (*key.public_key()).into());
    let digest = [0xa5; 66];
    let expected = (BigUint::from_bytes_be(&digest) >> (8 * digest.len() - C::BITS)) % n;
    assert_eq!(number(&Scalar::<C>::from_digest(&digest)), expected);
}

fn encodings<C: Curve>() {
    let model = Model::of::<C>();
    for point in points::<C>() {
        let again = match point.to_public_key() {
            Ok(key) => {
                assert_eq!(Point::from_sec1(&key.to_uncompressed()), Ok(point.clone()));
                Point::from_sec1(&key.to_compressed())
            }
            Err(error) => {
                assert_eq!(error, Error::PointAtInfinity);
                Point::from_sec1(&[0])
            }
        };
        assert_eq!(again, Ok(point));
    }
    assert_eq!(Point::<C>::from_sec1(&[]), Err(Error::PointFormat));
    assert_eq!(Point::<C>::from_sec1(&[0, 0]), Err(Error::PointFormat));
    let wrong = [&[4][..], &vec![1; 2 * C::BYTES]].concat();
    assert!(Point::<C>::from_sec1(&wrong).is_err());
    for wrong in [model.n.clone(), &model.n + 1u8] {
        assert_eq!(Scalar::<C>::from_bytes(&model.bytes(&wrong)), Err(Error::ScalarRange));
    }
    let error = Error::Length { needed: C::BYTES, given: C::BYTES - 1 };
    assert_eq!(Scalar::<C>::from_bytes(&vec![0; C::BYTES - 1]), Err(error));
    assert_eq!(Scalar::<C>::zero().to_bytes(&mut vec![0; C::BYTES - 1]), Err(error));
}
