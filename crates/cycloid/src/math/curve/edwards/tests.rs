//! Points compared with a big-integer model, on every backend, one and eight.

use std::vec;
use std::vec::Vec;

use num_bigint::BigUint;

use super::each::{HoldsVartime, each_on};
use super::equation::holds_across_vartime;
use super::multiply::{BaseTable, SparseBaseTable};
use super::scalar::{Digits, ORDER, non_adjacent_form_vartime};
use super::*;
use crate::machine::ct::Mask;
use crate::machine::field::{CurvePrime, CurveTask, Limbs, Masks};
use crate::machine::lanes::Multiplication;
use crate::machine::{lanes, words};
use crate::math::curve::montgomery::{Factors, Ladder, across};

fn number(limbs: &[Limb]) -> BigUint {
    limbs.iter().rev().fold(BigUint::ZERO, |number, limb| (number << 64) + *limb)
}

fn limbs<const N: usize>(number: &BigUint) -> [Limb; N] {
    let mut digits = number.iter_u64_digits();
    let limbs = core::array::from_fn(|_| digits.next().unwrap_or(0));
    assert!(digits.next().is_none());
    limbs
}

fn p() -> BigUint {
    (BigUint::from(1u8) << 255) - 19u8
}

fn order() -> BigUint {
    number(&ORDER)
}

/// An affine point, added by the law of RFC 8032, section 5.1.4.
type Model = (BigUint, BigUint);

fn neutral() -> Model {
    (BigUint::ZERO, BigUint::from(1u8))
}

fn base() -> Model {
    let x = b"15112221349535400772501151409588531511454012693041857206046113283949847762202";
    let y = b"46316835694926478169428394003475163141307993866256225615783033603165251855960";
    (BigUint::parse_bytes(x, 10).unwrap(), BigUint::parse_bytes(y, 10).unwrap())
}

/// The same law for coordinates over a common denominator, which needs no division.
fn add_fractions([x1, y1, z1]: &[BigUint; 3], [x2, y2, z2]: &[BigUint; 3]) -> [BigUint; 3] {
    let p = p();
    let zz = z1 * z2 % &p;
    let dxy = number(&D) * (x1 * x2 % &p) * (y1 * y2 % &p) % &p;
    let more = (&zz * &zz + &dxy) % &p;
    let less = (&zz * &zz + &p - &dxy) % &p;
    let x = (x1 * y2 + x2 * y1) % &p * &zz % &p * &less % &p;
    let y = (y1 * y2 + x1 * x2) % &p * &zz % &p * &more % &p;
    [x, y, more * less % p]
}

fn fraction((x, y): &Model) -> [BigUint; 3] {
    [x.clone(), y.clone(), 1u8.into()]
}

fn divided([x, y, z]: [BigUint; 3]) -> Model {
    let inverse = z.modpow(&(p() - 2u8), &p());
    (x * &inverse % p(), y * inverse % p())
}

fn add(a: &Model, b: &Model) -> Model {
    divided(add_fractions(&fraction(a), &fraction(b)))
}

fn multiply(point: &Model, number: &BigUint) -> Model {
    let point = fraction(point);
    divided((0..number.bits()).rev().fold(fraction(&neutral()), |product, bit| {
        let twice = add_fractions(&product, &product);
        if number.bit(bit) { add_fractions(&twice, &point) } else { twice }
    }))
}

fn negate((x, y): &Model) -> Model {
    ((p() - x) % p(), y.clone())
}

fn encoding((x, y): &Model) -> Encoding {
    limbs(&(y + (BigUint::from(u8::from(x.bit(0))) << 255)))
}

fn stored((x, y): &Model) -> Stored {
    // Use a Z that is not 1.
    let z = BigUint::from(0x1234_5678u32);
    let coordinates = [x * &z % p(), y * &z % p(), z.clone(), x * y * z % p()];
    let mut stored = [0; 16];
    for (place, coordinate) in stored.chunks_exact_mut(4).zip(&coordinates) {
        place.copy_from_slice(&limbs::<4>(coordinate));
    }
    stored
}

/// Returns the point of order 8 with the lowest encoding; its multiples are all points of small
/// order.
fn point_of_order_8() -> Model {
    let root_of_minus_one = BigUint::from(2u8).modpow(&((p() - 1u8) >> 2), &p());
    // y² = (1 ± √(1 + d))/d of x⁴ = … solves 2P = (√−1, 0), that is y² + x² = 0 without d·x²·y².
    let d = number(&D);
    let inverse_of_d = d.modpow(&(p() - 2u8), &p());
    let root = |n: &BigUint| {
        let r = n.modpow(&((p() + 3u8) >> 3), &p());
        [r.clone(), r * &root_of_minus_one % p()].into_iter().find(|r| r * r % p() == n % p())
    };
    // 2P = (·, 0) means y² = −x², so 2y² = 1 − d·y⁴.
    let w = root(&((1u8 + &d) % p())).unwrap();
    let yy = [&w + p() - 1u8, p() + p() - 1u8 - &w].map(|n| n * &inverse_of_d % p());
    let y = yy.iter().find_map(root).unwrap();
    let x = &y * &root_of_minus_one % p();
    (x, y)
}

#[test]
fn constants() {
    let p = p();
    let d = (&p - 121_665u32) * BigUint::from(121_666u32).modpow(&(&p - 2u8), &p) % &p;
    assert_eq!(number(&D), d);
    assert_eq!(number(&TWICE_D), d * 2u8 % &p);
    let order: BigUint = order();
    let expected = b"27742317777372353535851937790883648493";
    assert_eq!(order, (BigUint::from(1u8) << 252) + BigUint::parse_bytes(expected, 10).unwrap());
    assert_eq!(multiply(&base(), &order), neutral());
    let eighth = point_of_order_8();
    assert_ne!(multiply(&eighth, &4u8.into()), neutral());
    assert_eq!(multiply(&eighth, &8u8.into()), neutral());
}

/// Returns representative numbers below L.
fn numbers() -> Vec<BigUint> {
    let one = BigUint::from(1u8);
    let mut numbers = vec![BigUint::ZERO, one.clone(), 2u8.into(), 31u8.into(), 32u8.into()];
    numbers.extend([order() - 1u8, order() - 2u8, order() >> 1]);
    numbers.extend([&one << 252, (&one << 252) - 1u8, (&one << 128) - 1u8, (&one << 64) + 0u8]);
    let seed = BigUint::from(3u8).modpow(&BigUint::from(1000u32), &p());
    numbers.extend((2..6u8).map(|i| seed.modpow(&i.into(), &order())));
    assert_eq!(numbers.len(), 16);
    numbers
}

fn scalar(value: &BigUint) -> Scalar {
    Scalar::canonical(&limbs(value)).unwrap()
}

/// Runs the function on every backend, which must all agree, with each input in every lane.
fn everywhere<E: Each>(inputs: &[E::Input]) -> Vec<E::Output>
where
    E::Input: Sized,
{
    assert!(inputs.len().is_multiple_of(lanes::LANES));
    let inputs: Vec<&E::Input> = inputs.iter().collect();
    let mut expected = vec![E::Output::ZERO; inputs.len()];
    each_on::<E>(words::Backend::Portable(words::Portable), None, &inputs, &mut expected);
    for words in words::Backend::available() {
        let mut outputs = vec![E::Output::ZERO; inputs.len()];
        each_on::<E>(words, None, &inputs, &mut outputs);
        assert_eq!(outputs, expected, "{}", words.name());
    }
    for lanes in lanes::tests::backends() {
        let best = words::Backend::best();
        // With emulation, one pass takes a second.
        let count = if lanes.name() == "ifma" { lanes::LANES } else { inputs.len() };
        let mut outputs = vec![E::Output::ZERO; count];
        each_on::<E>(best, Some(lanes), &inputs[..count], &mut outputs);
        assert_eq!(outputs, expected[..count], "{}", lanes.name());
        // Enough inputs to leave lanes unused.
        let mut outputs = vec![E::Output::ZERO; 6];
        each_on::<E>(best, Some(lanes), &inputs[1..7], &mut outputs);
        assert_eq!(outputs, expected[1..7], "{}", lanes.name());
    }
    expected
}

#[test]
fn scalars_are_reduced() {
    let wide = [[0; 4], [1, 0, 0, 0], ORDER, [Limb::MAX; 4], [7, Limb::MAX, 1 << 63, 9]];
    for low in &wide {
        for high in &wide {
            let expected = (number(low) + (number(high) << 256)) % order();
            assert_eq!(number(Scalar::reduced(low, high).limbs()), expected);
        }
    }
    for a in numbers() {
        for b in numbers() {
            let c = &numbers()[3];
            let result = scalar(&a).multiply_add(&scalar(&b), &scalar(c));
            assert_eq!(number(result.limbs()), (&a * &b + c) % order());
        }
        let inverse = number(scalar(&a).invert().limbs());
        assert_eq!(inverse * &a % order(), BigUint::from(u8::from(a != BigUint::ZERO)));
        let opposite = scalar(&a).negate();
        assert_eq!((number(opposite.limbs()) + &a) % order(), BigUint::ZERO);
        assert!(number(opposite.limbs()) < order());
    }
    assert!(Scalar::canonical(&ORDER).is_none() && Scalar::canonical(&[Limb::MAX; 4]).is_none());
}

fn check_digits<const WIDTH: usize>() {
    for value in numbers() {
        for (digits, add) in [
            (Digits::<WIDTH>::odd(&scalar(&value)), BigUint::from(u8::from(!value.bit(0)))),
            (
                Digits::<WIDTH>::modulo_order(&scalar(&value)),
                if value.bit(0) { BigUint::ZERO } else { order() },
            ),
        ] {
            let sum = (0..Digits::<WIDTH>::COUNT).rev().fold(num_bigint::BigInt::ZERO, |sum, i| {
                let (index, negative) = digits.at(i);
                let digit = num_bigint::BigInt::from(2 * index + 1);
                assert!(index < 1 << (WIDTH - 1));
                (sum << WIDTH) + if negative == 1 { -digit } else { digit }
            });
            assert_eq!(sum, num_bigint::BigInt::from(&value + add));
        }
    }
}

#[test]
fn digits_add_up() {
    check_digits::<4>();
    check_digits::<5>();
    check_digits::<6>();
    check_digits::<7>();
    for value in numbers() {
        for width in 2..=8 {
            let digits = non_adjacent_form_vartime(&limbs(&value), width);
            let sum = digits.iter().rev().fold(num_bigint::BigInt::ZERO, |sum, d| (sum << 1) + *d);
            assert_eq!(sum, value.clone().into());
            for window in digits.windows(width) {
                assert!(window.iter().filter(|digit| **digit != 0).count() <= 1);
            }
            let bound = 1 << (width - 1);
            assert!(digits.iter().all(|d| *d == 0 || d & 1 == 1 && i16::from(*d).abs() < bound));
        }
    }
}

#[test]
fn multiples_of_the_base_point() {
    let numbers = numbers();
    let scalars: Vec<Scalar> = numbers.iter().map(scalar).collect();
    let expected: Vec<Model> = numbers.iter().map(|n| multiply(&base(), n)).collect();
    let encodings = everywhere::<EncodeBase>(&scalars);
    assert_eq!(encodings, expected.iter().map(encoding).collect::<Vec<_>>());
    for (u, (_, y)) in everywhere::<UOfBase>(&scalars).iter().zip(&expected) {
        let denominator = (1u8 + p() - y) % p();
        let expected = (1u8 + y) * denominator.modpow(&(p() - 2u8), &p()) % p();
        assert_eq!(number(u), expected);
    }
}

/// Functions of the base point by the tables of a size: 0 is large, 1 small, and 2 none.
struct OfSize<E, const SIZE: usize>(core::marker::PhantomData<E>);

impl<const SIZE: usize> Each for OfSize<EncodeBase, SIZE> {
    type Input = Scalar;
    type Output = Encoding;

    fn run<A: CurveArithmetic<P25519>>(
        arithmetic: A,
        numbers: &[&Scalar],
        encodings: &mut [Encoding],
    ) {
        let table = [BaseTable::LARGE, BaseTable::SMALL, BaseTable::NONE];
        let product = match A::WIDTH {
            1 => Point::multiply_base_from(arithmetic, numbers, &table[SIZE]),
            _ => Point::multiply_base(arithmetic, numbers),
        };
        product.encode(encodings);
    }
}

impl<const SIZE: usize> Each for OfSize<CombineVartime, SIZE> {
    type Input = Combination;
    type Output = Encoding;

    fn run<A: CurveArithmetic<P25519>>(
        arithmetic: A,
        inputs: &[&Combination],
        encodings: &mut [Encoding],
    ) {
        if A::WIDTH > 1 {
            return Encoded::<CombineVartime>::run(arithmetic, inputs, encodings);
        }
        let table = [SparseBaseTable::LARGE, SparseBaseTable::SMALL, SparseBaseTable::NONE];
        let Combination { base_number, number, point } = inputs[0];
        let point = Point::load(arithmetic, &[point]).negate();
        point.multiply_sparsely_vartime(number, base_number, &table[SIZE]).encode(encodings);
    }
}

#[test]
fn tables_of_every_size_give_the_same_multiples() {
    let numbers = numbers();
    let scalars: Vec<Scalar> = numbers.iter().map(scalar).collect();
    let expected: Vec<_> = numbers.iter().map(|n| encoding(&multiply(&base(), n))).collect();
    assert_eq!(everywhere::<OfSize<EncodeBase, 0>>(&scalars), expected);
    assert_eq!(everywhere::<OfSize<EncodeBase, 1>>(&scalars), expected);
    assert_eq!(everywhere::<OfSize<EncodeBase, 2>>(&scalars), expected);
    let inputs = || -> Vec<Combination> {
        let points = points();
        let numbers = numbers.iter().rev().map(scalar);
        let all = points.iter().map(stored).zip(numbers).zip(&scalars);
        all.map(|((point, number), base)| Combination { base_number: base.clone(), number, point })
            .collect()
    };
    let expected: Vec<Encoding> = inputs()
        .iter()
        .zip(points())
        .map(|(Combination { base_number, number, .. }, point)| {
            let [own, other] = [base_number, number].map(|scalar| self::number(scalar.limbs()));
            let other = negate(&multiply(&point, &other));
            encoding(&add(&other, &multiply(&base(), &own)))
        })
        .collect();
    assert_eq!(everywhere::<OfSize<CombineVartime, 0>>(&inputs()), expected);
    assert_eq!(everywhere::<OfSize<CombineVartime, 1>>(&inputs()), expected);
    assert_eq!(everywhere::<OfSize<CombineVartime, 2>>(&inputs()), expected);
}

/// Returns points of every order, and sums of them.
fn points() -> Vec<Model> {
    let eighth = point_of_order_8();
    let mut points: Vec<Model> = (0..8u8).map(|i| multiply(&eighth, &i.into())).collect();
    for i in 0..8 {
        let large = multiply(&base(), &numbers()[12 + i % 4]);
        points.push(if i < 2 { large } else { add(&large, &points[i]) });
    }
    points
}

#[test]
fn multiples_of_any_point() {
    for shift in [0, 3] {
        let points = points();
        let numbers: Vec<_> = numbers().into_iter().cycle().skip(shift).take(16).collect();
        let inputs: Vec<_> =
            points.iter().zip(&numbers).map(|(p, n)| (stored(p), scalar(n))).collect();
        let products = everywhere_as_encodings::<Multiply>(&inputs);
        for ((product, point), number) in products.iter().zip(&points).zip(&numbers) {
            assert_eq!(product, &encoding(&multiply(point, number)));
        }
        let base_numbers: Vec<_> = numbers.iter().cycle().skip(5).take(16).collect();
        let inputs: Vec<_> = inputs
            .into_iter()
            .zip(&base_numbers)
            .map(|((point, number), base)| {
                let base_number = scalar(base);
                Combination { base_number, number, point }
            })
            .collect();
        let differences = everywhere_as_encodings::<CombineVartime>(&inputs);
        for (i, difference) in differences.iter().enumerate() {
            let expected = add(
                &negate(&multiply(&points[i], &numbers[i])),
                &multiply(&base(), base_numbers[i]),
            );
            assert_eq!(difference, &encoding(&expected));
        }
    }
}

#[test]
fn equations_hold_or_not() {
    // The cofactor lets the second and third eight hold nearly.
    let points: Vec<Model> = points().into_iter().chain(points().into_iter().skip(8)).collect();
    let numbers: Vec<_> = numbers().into_iter().cycle().skip(5).take(24).collect();
    let eighth = point_of_order_8();
    let mut outcomes = [0; 3];
    for shift in [0u8, 1, 3] {
        let (mut inputs, mut expected) = (Vec::new(), Vec::new());
        for (i, (point, number)) in points.iter().zip(&numbers).enumerate() {
            let base_number = &numbers[(i + 7) % 24];
            let excess = match i {
                // Only this one is no multiple of a point of small order.
                20 => base(),
                _ => multiply(&eighth, &(shift * (i as u8 + 1)).into()),
            };
            let difference =
                add(&multiply(&base(), base_number), &negate(&multiply(point, number)));
            let other = add(&difference, &negate(&excess));
            let nearly = multiply(&excess, &8u8.into()) == neutral();
            let same = excess == neutral();
            outcomes[usize::from(nearly) + usize::from(same)] += 1;
            expected.push([Limb::from(same), Limb::from(nearly)]);
            inputs.push(Equation {
                base_number: scalar(base_number),
                number: scalar(number),
                point: stored(point),
                other: stored(&other),
            });
        }
        assert_eq!(everywhere::<HoldsVartime>(&inputs), expected, "{shift}");
        for lanes in lanes::tests::backends() {
            let has_sums = lanes.multiplication() != Multiplication::FloatingPoint
                && matches!(SIZE, Size::Large);
            let count = if lanes.name() == "ifma" { 2 } else { inputs.len() };
            for (input, expected) in inputs.iter().zip(&expected).take(count) {
                let found = holds_across_vartime(lanes, input);
                assert_eq!(found, has_sums.then_some(*expected), "{shift} {}", lanes.name());
            }
        }
    }
    assert!(outcomes.iter().all(|count| *count >= 3), "{outcomes:?}");
}

/// Compares points by encoding, since their coordinates may differ between backends.
struct Encoded<E>(core::marker::PhantomData<E>);

impl<E: Each<Output = Stored>> Each for Encoded<E> {
    type Input = E::Input;
    type Output = Encoding;

    fn run<A: CurveArithmetic<P25519>>(
        arithmetic: A,
        inputs: &[&E::Input],
        encodings: &mut [Encoding],
    ) {
        let mut stored = [[0; 16]; lanes::LANES];
        E::run(arithmetic, inputs, &mut stored[..A::WIDTH]);
        let stored = stored.each_ref();
        Encode::run(arithmetic, &stored[..A::WIDTH], encodings);
        // T must be consistent.
        for point in &stored[..A::WIDTH] {
            let [x, y, z, t] = [0, 4, 8, 12].map(|i| number(&point[i..i + 4]));
            assert_eq!(x * y % p(), z * t % p());
        }
    }
}

fn everywhere_as_encodings<E: Each<Output = Stored>>(inputs: &[E::Input]) -> Vec<Encoding>
where
    E::Input: Sized,
{
    everywhere::<Encoded<E>>(inputs)
}

#[test]
fn sums_and_comparisons() {
    let points = points();
    for shift in 0..points.len() {
        let others: Vec<_> = points.iter().cycle().skip(shift).take(16).collect();
        let inputs: Vec<_> =
            points.iter().zip(&others).map(|(a, b)| (stored(a), stored(b))).collect();
        if shift < 3 {
            let sums = everywhere_as_encodings::<Sum>(&inputs);
            for ((sum, a), b) in sums.iter().zip(&points).zip(&others) {
                assert_eq!(sum, &encoding(&add(a, b)));
            }
        }
        for ((found, a), b) in everywhere::<Compare>(&inputs).iter().zip(&points).zip(&others) {
            let small = multiply(&add(a, &negate(b)), &8u8.into()) == neutral();
            assert_eq!(found, &[u64::from(&a == b), small.into()]);
        }
    }
}

#[test]
fn encodings_are_read_as_they_are_written() {
    let points = points();
    let encodings: Vec<Encoding> = points.iter().map(encoding).collect();
    for (decoded, point) in everywhere::<Decode>(&encodings).iter().zip(&points) {
        let [x, y, z] = [0, 4, 8].map(|i| number(&decoded[i..i + 4]));
        assert_eq!(((x, y), z, decoded[16]), (point.clone(), 1u8.into(), 1));
    }
    assert!(encodings.iter().all(is_canonical));
    for (i, encoding) in encodings.iter().enumerate() {
        assert_eq!(is_small_order(encoding), i < 8);
    }
}

/// Every y from p to 2²⁵⁵ − 1 and the same minus p, and x = 0 marked odd.
#[test]
fn non_canonical_encodings_are_detected() {
    let high = BigUint::from(1u8) << 255;
    for low in 0..19u8 {
        let (small, large) = (BigUint::from(low), p() + low);
        let ys = [small.clone(), &small + &high, large.clone(), &large + &high];
        let encodings: Vec<Encoding> = ys.iter().cycle().take(8).map(limbs).collect();
        let decoded = everywhere::<Decode>(&encodings);
        let (yy, d) = (&small * &small % p(), number(&D));
        let xx = (&yy + p() - 1u8) * (&d * &yy + 1u8).modpow(&(p() - 2u8), &p()) % p();
        let is_square = xx.modpow(&((p() - 1u8) >> 1), &p()) <= 1u8.into();
        for (i, decoded) in decoded.iter().take(4).enumerate() {
            assert_eq!(decoded[16] == 1, is_square, "y = {low}");
            if is_square {
                let x = number(&decoded[..4]);
                assert_eq!((&x * &x % p(), number(&decoded[4..8])), (xx.clone(), small.clone()));
                assert!(x == BigUint::ZERO || x.bit(0) == (i % 2 == 1));
                let canonical = i < 2 && !(low == 1 && i == 1);
                assert_eq!(is_canonical(&encodings[i]), canonical, "y = {low}, {i}");
            }
        }
    }
    let minus_one = p() - 1u8;
    assert!(is_canonical(&limbs(&minus_one)));
    assert!(!is_canonical(&limbs(&(minus_one + high))));
}

/// RFC 7748, section 5.2, numbers times the base point on both curves, and times points of small
/// order.
#[test]
fn the_ladder_and_the_map_to_the_other_curve() {
    let hex = |digits: &[u8]| {
        let big = BigUint::parse_bytes(digits, 16).unwrap().to_bytes_be();
        BigUint::from_bytes_le(&[vec![0; 32 - big.len()], big].concat())
    };
    let k = hex(b"a546e36bf0527c9d3b16154b82465edd62144c0ac1fc5a18506a2244ba449ac4");
    let clamped = |k: &BigUint| {
        let top = BigUint::from(1u8) << 254;
        ((k >> 3u8) << 3u8) % &top + &top
    };
    let u = hex(b"e6db6867583030db3594c1a424b15f7c726624ec26b3353b10a903a6d0ab1c4c");
    let expected = hex(b"c3da55379de9c6908e94ea4df28d084f32eccf03491c71f754b4075577a28552");
    let mut inputs = Vec::new();
    inputs.extend((0..8).map(|_| Factors { number: limbs(&clamped(&k)), u: limbs(&u) }));
    let numbers: Vec<_> = numbers().iter().map(|n| clamped(&(n << 3u8))).collect();
    inputs.extend(numbers.iter().map(|n| Factors { number: limbs(n), u: [9, 0, 0, 0] }));
    // Numbers divisible by 8 times points of order 1, 2, 4 and 8 are infinity.
    let of_order_8 = hex(b"e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800");
    let small = [BigUint::ZERO, 1u8.into(), p() - 1u8, p(), p() + 1u8, of_order_8];
    let small: Vec<_> = small.iter().cycle().take(16).collect();
    inputs
        .extend(small.iter().zip(&numbers).map(|(u, n)| Factors { number: limbs(n), u: limbs(u) }));
    let products = everywhere::<Ladder>(&inputs);
    for lanes in lanes::tests::backends() {
        // Only backends that multiply integers have a ladder for one number.
        let has_ladder = lanes.multiplication() != Multiplication::FloatingPoint;
        let count = if lanes.name() == "ifma" { 2 } else { inputs.len() };
        for (input, product) in inputs.iter().zip(&products).take(count) {
            assert_eq!(across(lanes, input), has_ladder.then_some(*product), "{}", lanes.name());
        }
    }
    assert!(products[..8].iter().all(|product| number(product) == expected));
    let scalars: Vec<_> = numbers.iter().map(|n| scalar(&(n % order()))).collect();
    assert_eq!(products[8..24], everywhere::<UOfBase>(&scalars));
    assert!(products[24..].iter().all(|product| *product == [0; 4]));
}

/// Compares sums computed as a whole with those of the formulas, on any coordinates.
struct SumsAgree;

impl CurveTask<P25519> for SumsAgree {
    type Output = ();

    fn run<A: CurveArithmetic<P25519>>(self, arithmetic: A) {
        let top: BigUint = (BigUint::from(1u8) << 255) - 1u8;
        let mut coordinates = Vec::new();
        for integer in [BigUint::ZERO, 1u8.into(), p() - 1u8, p() >> 1, top.clone(), top - 40u8] {
            let element = Field::constant(arithmetic, &limbs(&integer));
            // Doubled maximal elements are as large as elements can be.
            coordinates.extend([element, element.double(), -&element]);
        }
        for i in 0..20 {
            coordinates.push(&coordinates[i].square() + &coordinates[i + 5]);
        }
        let n = coordinates.len();
        let at = |i: usize| coordinates[i % n];
        for i in 0..n {
            for j in 0..n {
                let point = Point { x: at(i), y: at(j), z: at(i + 3 * j), t: at(2 * i + j + 1) };
                let (sum, difference) = (at(j + 7), at(3 * i + j));
                let addend = AffineAddend { sum, difference, t: at(i + j) };
                let negative = arithmetic.mask(|_| Mask::from_bit((i ^ j) as Limb & 1));
                let AffineAddend { sum, difference, t } = addend.negate_if(negative);
                let by_formula =
                    point.add_with(&sum, &difference, &t, &point.z.double()).extended();
                let whole = point.plus_affine(&addend, negative);
                let pairs = [
                    (whole.x, by_formula.x),
                    (whole.y, by_formula.y),
                    (whole.z, by_formula.z),
                    (whole.t, by_formula.t),
                ];
                for (whole, by_formula) in pairs {
                    assert!(!(!whole.equal(&by_formula)).reveal_any(), "{} {i} {j}", A::NAME);
                }
            }
        }
    }
}

#[test]
fn sums_agree_with_formulas() {
    for backend in words::Backend::available() {
        P25519::run_one_curve(backend, SumsAgree);
    }
    for backend in lanes::tests::backends().into_iter().filter(|lanes| lanes.name() != "ifma") {
        P25519::run_eight_curve(backend, SumsAgree);
    }
}
