//! Multiples compared with affine arithmetic on integers, on every backend, for hard scalars.

use core::cell::RefCell;
use core::marker::PhantomData;
use core::slice::from_ref;
use std::collections::HashMap;
use std::vec;
use std::vec::Vec;

use num_bigint::{BigInt, BigUint};

use super::across::{has_x_vartime_on, multiply_point_on};
use super::compact::{Term, sum_of_multiples};
use super::digits::{OddScalar, digits, value};
use super::jacobian::{Affine, Jacobian};
use super::multiply::{base_multiple, base_multiple_from, point_multiple};
use super::multiply_vartime::sum_vartime;
use super::prepared::prepared_multiple;
use super::*;
use crate::machine::field::{Arithmetic, CurveArithmetic, CurveTask, Masks};
use crate::machine::lanes;
use crate::math::field::MAX_WIDTH;

fn integer(limbs: impl AsRef<[Limb]>) -> BigUint {
    let digits = limbs.as_ref().iter().flat_map(|limb| [*limb as u32, (*limb >> 32) as u32]);
    BigUint::from_slice(&digits.collect::<Vec<_>>())
}

fn scalar<C: Curve>(integer: &BigUint) -> Scalar<C> {
    let mut bytes = vec![0; C::BYTES];
    let digits = integer.to_bytes_be();
    bytes[C::BYTES - digits.len()..].copy_from_slice(&digits);
    Scalar::from_bytes(&bytes).unwrap()
}

/// A point of the model; `None` is infinity.
type Point = Option<(BigUint, BigUint)>;

/// The textbook group, and the multiples of G requested so far.
struct Model {
    p: BigUint,
    a: BigUint,
    n: BigUint,
    /// 2^i·G.
    powers: Vec<Point>,
    multiples: RefCell<HashMap<BigUint, Point>>,
}

impl Model {
    fn of<C: Curve>(a: &BigInt) -> Self {
        let (p, n) = (integer(C::Field::MODULUS), integer(C::ORDER));
        let a = a.modpow(&1.into(), &p.clone().into()).to_biguint().unwrap();
        let mut model = Self { p, a, n, powers: vec![], multiples: RefCell::default() };
        let mut power = Some((integer(C::GENERATOR[0]), integer(C::GENERATOR[1])));
        for _ in 0..C::BITS {
            let twice = model.add(&power, &power);
            model.powers.push(power);
            power = twice;
        }
        model
    }

    fn add(&self, a: &Point, b: &Point) -> Point {
        let p = &self.p;
        let (Some((x1, y1)), Some((x2, y2))) = (a, b) else {
            return a.clone().or_else(|| b.clone());
        };
        let slope = if x1 != x2 {
            (p + y2 - y1) * (p + x2 - x1).modinv(p).unwrap()
        } else if y1 == y2 {
            (3u8 * x1 * x1 + &self.a) * (2u8 * y1).modinv(p).unwrap()
        } else {
            return None;
        } % p;
        let x = (&slope * &slope + 2u8 * p - x1 - x2) % p;
        let y = (&slope * (p + x1 - &x) + p - y1) % p;
        Some((x, y))
    }

    /// Returns (scalar mod n)·G.
    fn multiple(&self, scalar: &BigUint) -> Point {
        let scalar = scalar % &self.n;
        if let Some(known) = self.multiples.borrow().get(&scalar) {
            return known.clone();
        }
        let powers = self.powers.iter().enumerate().filter(|(bit, _)| scalar.bit(*bit as u64));
        let mut powers = powers.map(|(_, power)| power.as_ref().expect("2^i is no multiple of n"));
        let product = powers.next().map(|(x, y)| {
            let first = [x.clone(), y.clone(), 1u8.into()];
            let [x, y, z] = powers.fold(first, |sum, power| self.add_to_fraction(&sum, power));
            let inverse = z.modinv(&self.p).unwrap();
            (x * &inverse % &self.p, y * inverse % &self.p)
        });
        self.multiples.borrow_mut().insert(scalar, product.clone());
        product
    }

    /// Adds an affine point, neither the same nor the opposite one, to a point with coordinates
    /// over a common denominator: the formula of [`add`](Self::add) without its division, which
    /// takes most of its time.
    fn add_to_fraction(
        &self,
        [x1, y1, z]: &[BigUint; 3],
        (x2, y2): &(BigUint, BigUint),
    ) -> [BigUint; 3] {
        let p = &self.p;
        let x2 = x2 * z % p;
        // The slope is rise/run.
        let (rise, run) = ((y2 * z + p - y1) % p, (&x2 + p - x1) % p);
        assert_ne!(run, BigUint::ZERO);
        let (square, cube) = (&run * &run % p, run.pow(3) % p);
        let x = (&rise * &rise % p * z + &square * (2u8 * p - x1 - x2)) % p;
        let y = (rise * (square * x1 % p + p - &x) + &cube * (p - y1)) % p;
        [x * run % p, y, cube * z % p]
    }
}

/// Returns scalars that are hard for the formulas: around 0, n, n/2 and powers of two, those that
/// make the last addition a doubling, and others.
fn scalars<C: Curve>() -> Vec<BigUint> {
    let n = integer(C::ORDER);
    let one = BigUint::from(1u8);
    let mut scalars: Vec<BigUint> = (0..12u8).map(BigUint::from).collect();
    scalars.extend((1..12u8).map(|i| &n - i));
    scalars.extend([&n >> 1, (&n >> 1) + 1u8, (&n >> 1) + 2u8, &n / 3u8]);
    for bit in [5, 7, 32, 64, C::BITS - 1] {
        scalars.extend([&one << bit, (&one << bit) - 1u8, (&one << bit) + 1u8, &n - (&one << bit)]);
    }
    // k = 2·d·2^(w·(t − 1)) − n, where d is the highest digit of n, and k = n + 2·d₀, where −d₀ is
    // the lowest: before the last addition the sum equals the summand.
    for window in 4..9 {
        let top = window * (digits::<C>(window) - 1);
        let high = ((&n >> top) | &one) << (top + 1);
        if high > n && &high - &n < n {
            scalars.push(high - &n);
        }
        let low = &n % (&one << (window + 1));
        for low in [low.clone(), (&one << (window + 1)) - low] {
            scalars.push(&n - 2u8 * low);
        }
    }
    let mut state = BigUint::from(0x9e37_79b9_7f4a_7c15u64);
    for _ in 0..6 {
        state = (&state * &state + 12345u32) % ((&one << 1300) - 1u8);
        scalars.push((&state >> 300) % &n);
    }
    scalars.retain(|scalar| scalar < &n);
    scalars
}

/// Checks multiples on one backend.
struct Check<'a, C> {
    curve: PhantomData<C>,
    model: &'a Model,
}

impl<C: Curve> CurveTask<C::Field> for Check<'_, C> {
    type Output = ();

    fn run<A: CurveArithmetic<C::Field>>(self, arithmetic: A) {
        let all = scalars::<C>();
        // Different places have different points: small and large multiples of G.
        let bases: Vec<BigUint> =
            vec![1u64.into(), &self.model.n - 1u8, 0x1234_5678_9abcu64.into()];
        for start in (0..all.len()).step_by(A::WIDTH) {
            let integers: Vec<_> =
                (0..A::WIDTH).map(|i| all[(start + i) % all.len()].clone()).collect();
            let scalars: Vec<_> = integers.iter().map(scalar::<C>).collect();
            let base = |i: usize| &bases[(start + i) % bases.len()];
            let points: Vec<_> = (0..A::WIDTH).map(|i| point::<C>(base(i))).collect();
            let of_g = base_multiple::<C, A>(arithmetic, &scalars);
            let of_points =
                point_multiple::<C, A>(&scalars, &Affine::of_points(arithmetic, &points));
            for (i, integer) in integers.iter().enumerate() {
                let what = std::format!("{} {} {integer:x}", C::NAME, A::NAME);
                assert_eq!(at(&of_g, i), self.model.multiple(integer), "{what}");
                assert_eq!(at(&of_points, i), self.model.multiple(&(integer * base(i))), "{what}");
            }
        }
        if A::WIDTH == 1 {
            self.check_sizes(arithmetic, &all);
            self.check_sums(arithmetic, &all);
            self.check_compact(arithmetic, &all);
        }
        self.check_prepared(arithmetic, &all);
    }
}

impl<C: Curve> Check<'_, C> {
    /// Checks multiples of G by tables of every size, and without one.
    fn check_sizes<A: CurveArithmetic<C::Field>>(&self, arithmetic: A, all: &[BigUint]) {
        let [large, small] = C::BASE_ONE;
        assert!(small.limbs.len() * 3 < large.limbs.len() && !small.is_none());
        for integer in all {
            let scalar = [scalar::<C>(integer)];
            // That of processors with words of 32 bits.
            let narrow = BaseTable { window: 6, spacing: 1, limbs: &tables::P256_NARROW };
            let narrow = if C::NAME == P256::NAME { narrow } else { BaseTable::NONE };
            for table in [large, small, narrow] {
                let of_g = base_multiple_from::<C, A>(arithmetic, &scalar, &table);
                let what = std::format!("{} {} {integer:x} {}", C::NAME, A::NAME, table.spacing);
                assert_eq!(at(&of_g, 0), self.model.multiple(integer), "{what}");
            }
        }
    }

    /// Checks multiples and sums of two by the code of the feature `small`: Q = ±G, −2G and others,
    /// so that summands meet.
    fn check_compact<A: CurveArithmetic<C::Field>>(&self, arithmetic: A, all: &[BigUint]) {
        let n = &self.model.n;
        let bases: [BigUint; 4] = [1u64.into(), n - 1u8, n - 2u8, 0x1234_5678u64.into()];
        let g = Affine::of_points(arithmetic, &[AffinePoint::GENERATOR]);
        for (i, u1) in all.iter().enumerate() {
            let first = scalar(u1);
            let other = all[(i * 7 + 3) % all.len()].clone();
            for (j, u2) in [u1.clone(), n - u1, other, BigUint::ZERO].iter().enumerate() {
                let base = &bases[(i + j) % bases.len()];
                let second = scalar(&(u2 % n));
                let q = Affine::of_points(arithmetic, &[point::<C>(base)]);
                let what = std::format!("{} {} {u1:x} {u2:x} {base:x}", C::NAME, A::NAME);
                let term = |scalar, point| Term::<C, A>::new(arithmetic, scalar, point);
                let multiple = sum_of_multiples(arithmetic, &[term(&second, &q)]);
                assert_eq!(at(&multiple, 0), self.model.multiple(&(u2 * base)), "{what}");
                let sum = sum_of_multiples(arithmetic, &[term(&first, &g), term(&second, &q)]);
                let expected = self.model.multiple(&(u1 + u2 * base));
                assert_eq!(at(&sum, 0), expected, "{what}");
            }
        }
    }

    /// Checks u₁·G + u₂·Q for Q = ±G, −2G and others, so that summands meet.
    fn check_sums<A: CurveArithmetic<C::Field>>(&self, arithmetic: A, all: &[BigUint]) {
        let n = &self.model.n;
        let bases: [BigUint; 4] = [1u64.into(), n - 1u8, n - 2u8, 0x1234_5678u64.into()];
        for (i, u1) in all.iter().enumerate() {
            let other = all[(i * 7 + 3) % all.len()].clone();
            for (j, u2) in [u1.clone(), n - u1, other, BigUint::ZERO].iter().enumerate() {
                let base = &bases[(i + j) % bases.len()];
                let q = Affine::of_points(arithmetic, &[point::<C>(base)]);
                let sum = sum_vartime::<C, A>(&scalar(u1), &scalar(&(u2 % n)), &q);
                let expected = self.model.multiple(&(u1 + u2 * base));
                let what = std::format!("{} {} {u1:x} {u2:x} {base:x}", C::NAME, A::NAME);
                assert_eq!(sum.and_then(|sum| at(&sum, 0)), expected, "{what}");
            }
        }
    }
}

impl<C: Curve> Check<'_, C> {
    /// Checks the same with precomputed multiples, with a different Q for each number.
    fn check_prepared<A: CurveArithmetic<C::Field>>(&self, arithmetic: A, all: &[BigUint]) {
        let n = &self.model.n;
        let bases: [BigUint; 4] = [1u64.into(), n - 1u8, n - 2u8, 0x1234_5678u64.into()];
        let tables = bases.each_ref().map(|base| {
            let mut table = vec![0; multiples_limbs::<C>()];
            write_multiples::<C>(&point(base), &mut table);
            table
        });
        for start in 0..all.len() {
            let number = |i: usize| &all[(start + i) % all.len()];
            // x coordinates of other multiples, of opposite points, of the sum itself, and of no
            // point.
            let factors: Vec<BigUint> = (0..A::WIDTH)
                .map(|i| match (start + i) % 5 {
                    0 => n - number(i),
                    1 => number(i).clone(),
                    2 => BigUint::ZERO,
                    _ => number(7 * i + 3).clone(),
                })
                .map(|factor| factor % n)
                .collect();
            let place = |i: usize| (start + i + i / 4) % bases.len();
            let u1: Vec<_> = (0..A::WIDTH).map(|i| scalar::<C>(number(i))).collect();
            let u2: Vec<_> = factors.iter().map(scalar::<C>).collect();
            let multiples: Vec<&[Limb]> = (0..A::WIDTH).map(|i| &*tables[place(i)]).collect();
            let of_q = prepared_multiple::<C, A>(arithmetic, &u2, &multiples);
            let sums: Vec<Point> = (0..A::WIDTH)
                .map(|i| self.model.multiple(&(number(i) + &factors[i] * &bases[place(i)])))
                .collect();
            let x: Vec<_> = sums
                .iter()
                .map(|sum| sum.as_ref().map_or_else(Scalar::one, |(x, _)| scalar::<C>(&(x % n))))
                .collect();
            let mut right = [false; MAX_WIDTH];
            let right = &mut right[..A::WIDTH];
            let has_x = |x: &[Scalar<C>], right: &mut [bool]| {
                HasXPrepared::new(&u1, &u2, &multiples, x, right).run(arithmetic);
            };
            has_x(&x, right);
            for (i, sum) in sums.iter().enumerate() {
                let what = std::format!("{} {} {start} {i}", C::NAME, A::NAME);
                let product = self.model.multiple(&(&factors[i] * &bases[place(i)]));
                assert_eq!(at(&of_q, i), product, "{what}");
                assert_eq!(right[i], sum.is_some(), "{what}");
            }
            let others: Vec<_> = x.iter().map(|x| x.add(&Scalar::one())).collect();
            has_x(&others, right);
            assert!(!right.contains(&true), "{} {} {start}", C::NAME, A::NAME);
        }
    }
}

fn point<C: Curve>(multiple: &BigUint) -> AffinePoint<C> {
    multiply(&scalar::<C>(multiple), &AffinePoint::GENERATOR).unwrap()
}

fn at<C: Curve, A: Arithmetic<C::Field>>(points: &Jacobian<C, A>, place: usize) -> Point {
    let mut coordinates = [[C::B; 2]; 8];
    points.store(&mut coordinates[..A::WIDTH]);
    let finite = !points.is_infinity().at(place).reveal();
    finite.then(|| (integer(coordinates[place][0]), integer(coordinates[place][1])))
}

fn all_backends<C: Curve>() {
    let model = Model::of::<C>(&(-3).into());
    for backend in words::Backend::available() {
        C::Field::run_one_curve(backend, Check::<C> { curve: PhantomData, model: &model });
    }
    for backend in lanes::Backend::available() {
        C::Field::run_eight_curve(backend, Check::<C> { curve: PhantomData, model: &model });
    }
}

#[test]
fn multiples_on_p224() {
    all_backends::<P224>();
}

#[test]
fn multiples_on_p256() {
    all_backends::<P256>();
}

#[test]
fn multiples_on_p384() {
    all_backends::<P384>();
}

#[test]
fn multiples_on_p521() {
    all_backends::<P521>();
}

/// Multiples and sums across the lanes are those of one number.
fn check_across<C: Curve>() {
    let one = words::Backend::available().next().unwrap();
    let all: Vec<Scalar<C>> = scalars::<C>().iter().map(scalar).collect();
    let q = point::<C>(&(integer(C::ORDER) / 5u8));
    for backend in lanes::Backend::available() {
        for (i, u) in all.iter().enumerate() {
            for point in [&AffinePoint::GENERATOR, &q] {
                let (mut expected, mut found) = ([None], [None]);
                let (scalars, points) = (from_ref(u), from_ref(point));
                let task = MultiplyPoint { scalars, points, products: &mut expected };
                C::Field::run_one_curve(one, task);
                let task = MultiplyPoint { scalars, points, products: &mut found };
                multiply_point_on(backend, task);
                assert_eq!(found, expected, "{backend:?} {i}");
            }
            // With Q = G, all sums of digits meet equal or opposite points on the way, or in the end.
            let others = [all[(i * 7 + 3) % all.len()].clone(), u.clone(), u.negate()];
            for (j, other) in others.iter().enumerate() {
                for q in [&AffinePoint::GENERATOR, &q] {
                    let (u1, u2) = (other, u);
                    let sum = C::Field::run_one_curve(one, Sum { u1, u2, q });
                    let x = sum.map_or(Scalar::one(), |sum| sum.x_scalar());
                    for x in [&x, &x.add(&Scalar::one())] {
                        let expected = C::Field::run_one_curve(one, HasX { u1, u2, q, x });
                        let found = has_x_vartime_on(backend, HasX { u1, u2, q, x });
                        assert_eq!(found, expected, "{backend:?} {i} {j}");
                    }
                }
            }
        }
    }
}

#[test]
fn multiples_across_lanes() {
    check_across::<P256>();
    check_across::<P384>();
    check_across::<P521>();
}

fn check_digits<C: Curve>() {
    for integer in scalars::<C>() {
        for window in 2..9 {
            let scalar = scalar::<C>(&integer);
            let odd = OddScalar::new(&scalar, window);
            let mut expected = if odd.zero.reveal() { Scalar::one() } else { scalar.clone() };
            if odd.negated.reveal() {
                expected = expected.negate();
            }
            let expected = expected.words().as_ref().to_vec();
            assert_eq!(value(&odd, digits::<C>(window))[..expected.len()], expected);
        }
    }
}

#[test]
fn digits_add_up() {
    check_digits::<P224>();
    check_digits::<P256>();
    check_digits::<P384>();
    check_digits::<P521>();
}

fn check_scalars<C: Curve>() {
    let n = integer(C::ORDER);
    let all = scalars::<C>();
    for (i, a) in all.iter().enumerate() {
        let b = &all[(i * 5 + 1) % all.len()];
        let (x, y) = (scalar::<C>(a), scalar::<C>(b));
        assert_eq!(integer(x.mul(&y).words()), a * b % &n);
        assert_eq!(integer(x.add(&y).words()), (a + b) % &n);
        assert_eq!(integer(x.negate().words()), (&n - a) % &n);
        assert_eq!(x.is_high().reveal(), *a > &n >> 1);
        let inverse = a.modinv(&n).unwrap_or_default();
        assert_eq!(integer(x.invert().words()), inverse);
        assert_eq!(integer(x.invert_by_power().words()), inverse);
        // Digests of every length: only the leftmost bits count.
        let mut bytes = vec![0; C::BYTES];
        x.to_bytes(&mut bytes);
        for length in [0, 1, 20, 28, 32, 48, 64, 66, 100] {
            let digest: Vec<u8> = bytes.iter().chain(&[0xa5; 100]).copied().take(length).collect();
            let excess = (8 * length).saturating_sub(C::BITS);
            let expected = (BigUint::from_bytes_be(&digest) >> excess) % &n;
            assert_eq!(integer(Scalar::<C>::from_leftmost_bits(&digest).words()), expected);
        }
    }
    assert!(Scalar::<C>::from_bytes(&vec![0xff; C::BYTES]).is_none());
    let mut order = vec![0; C::BYTES];
    words::to_be_bytes(&mut order, C::ORDER.as_ref());
    assert!(Scalar::<C>::from_bytes(&order).is_none());
}

/// Shared inversions, sums and lookups give the results of single scalars.
fn check_many<C: Curve>() {
    let all: Vec<Scalar<C>> = scalars::<C>().iter().map(scalar).collect();
    let products = all.iter().zip(all.iter().rev());
    let slow = products.clone().fold(Scalar::zero(), |sum, (a, b)| sum.add(&a.mul(b)));
    assert!(Scalar::sum_of_products(products).equal(&slow).reveal());
    let nonzero: Vec<_> = all.iter().filter(|it| !it.is_zero().reveal()).collect();
    let some: [Scalar<C>; TOGETHER] = core::array::from_fn(|i| nonzero[i % nonzero.len()].clone());
    for count in [1, 2, 7, TOGETHER - 1, TOGETHER] {
        for (i, inverse) in Scalar::invert_first(&some, count).iter().enumerate() {
            let expected = if i < count { some[i].invert() } else { some[i].clone() };
            assert!(inverse.equal(&expected).reveal(), "{} {i} of {count}", C::NAME);
        }
        for scalars in all.chunks(count) {
            let products = multiply_base_each(scalars);
            let alone = scalars.iter().map(multiply_base);
            assert!(alone.eq(products[..scalars.len()].iter().copied()), "{} {count}", C::NAME);
        }
    }
}

#[test]
fn scalars_against_integers() {
    check_scalars::<P224>();
    check_scalars::<P256>();
    check_scalars::<P384>();
    check_scalars::<P521>();
}

#[test]
fn many_scalars_against_single_ones() {
    check_many::<P192>();
    check_many::<P224>();
    check_many::<P256>();
    check_many::<P384>();
    check_many::<P521>();
}

fn check_decoding<C: Curve>() {
    let mut x = vec![0; C::BYTES];
    let mut y = vec![0; C::BYTES];
    for k in [1u32, 2, 3, 77, 0xffff_fff1] {
        let point = point::<C>(&k.into());
        words::to_be_bytes(&mut x, point.x().as_ref());
        words::to_be_bytes(&mut y, point.y().as_ref());
        assert_eq!(AffinePoint::<C>::from_coordinates(&x, &y), Ok(point));
        assert_eq!(AffinePoint::<C>::from_abscissa(&x, point.y_is_odd()), Ok(point));
        assert_eq!(AffinePoint::<C>::from_abscissa(&x, !point.y_is_odd()), Ok(point.negate()));
        y[C::BYTES - 1] ^= 1;
        assert_eq!(AffinePoint::<C>::from_coordinates(&x, &y), Err(DecodeError::NotOnCurve));
    }
    let zero = vec![0; C::BYTES];
    assert_eq!(AffinePoint::<C>::from_coordinates(&zero, &zero), Err(DecodeError::NotOnCurve));
    words::to_be_bytes(&mut y, C::Field::MODULUS.as_ref());
    assert_eq!(AffinePoint::<C>::from_coordinates(&x, &y), Err(DecodeError::Range));
    assert_eq!(AffinePoint::<C>::from_abscissa(&y, true), Err(DecodeError::Range));
    // Half of the x coordinates have no point.
    let mut none = 0;
    for last in 0..64 {
        x[C::BYTES - 1] = last;
        none += u32::from(AffinePoint::<C>::from_abscissa(&x, true).is_err());
    }
    assert!((10..54).contains(&none), "{none}");
}

#[test]
fn points_are_decoded_or_refused() {
    check_decoding::<P224>();
    check_decoding::<P256>();
    check_decoding::<P384>();
    check_decoding::<P521>();
}

/// Checks multiples and complete sums on a curve without tables.
fn check_without_tables<C: Curve>(a: &BigInt) {
    let model = Model::of::<C>(a);
    let all = scalars::<C>();
    for (i, integer) in all.iter().enumerate() {
        let base = &all[(i * 7 + 3) % all.len()];
        let Some(point) = multiply::<C>(&scalar(base), &AffinePoint::GENERATOR) else {
            assert_eq!(model.multiple(base), None);
            continue;
        };
        let coordinates = |point: Option<AffinePoint<C>>| {
            point.map(|point| (self::integer(point.x()), self::integer(point.y())))
        };
        assert_eq!(coordinates(multiply_base(&scalar(base))), model.multiple(base));
        let sum = multiply_add_vartime(&scalar(integer), &scalar(base), &point);
        assert_eq!(coordinates(sum), model.multiple(&(integer + base * base)));
        let product = AnyPoint::sum_of_products(
            [(&scalar(integer), &AnyPoint::<C>::from(point))].into_iter(),
        );
        // With itself, with its opposite, and with another point.
        let others = [product.clone(), product.negate(), point.into()];
        let factors = [integer * base, model.n.clone() - integer * base % &model.n, base.clone()];
        for (other, factor) in others.iter().zip(factors) {
            let sum = coordinates(product.add(other).to_affine());
            assert_eq!(sum, model.multiple(&(integer * base + factor)), "{} {integer:x}", C::NAME);
        }
    }
    check_scalars::<C>();
    check_decoding::<C>();
}

#[test]
fn formulas_serve_curves_with_any_a() {
    check_without_tables::<P192>(&BigInt::from(-3));
    check_without_tables::<Secp256k1>(&BigInt::ZERO);
    check_without_tables::<BrainpoolP256>(&integer(BrainpoolP256::A).into());
    check_without_tables::<BrainpoolP384>(&integer(BrainpoolP384::A).into());
    check_without_tables::<BrainpoolP512>(&integer(BrainpoolP512::A).into());
}
