//! The NIST curves by chord and tangent over big integers: a slow and obvious model.

use cycloid::scheme::ec::{Curve, PrivateKey, PublicKey};
use num_bigint::BigUint;

/// A point in affine coordinates; `None` for infinity.
pub(crate) type Point = Option<(BigUint, BigUint)>;

/// A point other than infinity with the coordinates x/z and y/z.
type Fraction = [BigUint; 3];

/// A curve y² = x³ − 3x + b.
pub(crate) struct Model {
    pub(crate) p: BigUint,
    pub(crate) n: BigUint,
    pub(crate) generator: Point,
    bytes: usize,
}

impl Model {
    pub(crate) fn of<C: Curve>() -> Self {
        let power = |bits: u32| BigUint::from(1u8) << bits;
        let one = power(0);
        let p = match C::BITS {
            224 => power(224) - power(96) + &one,
            256 => power(256) - power(224) + power(192) + power(96) - &one,
            384 => power(384) - power(128) - power(96) + power(32) - &one,
            521 => power(521) - &one,
            bits => panic!("no curve has {bits} bits"),
        };
        let [x, y] = C::GENERATOR.map(|coordinate| super::dh::number(coordinate.as_ref()));
        let n = super::dh::number(C::ORDER.as_ref());
        Self { p, n, generator: Some((x, y)), bytes: C::BYTES }
    }

    pub(crate) fn negate(&self, point: &Point) -> Point {
        point.as_ref().map(|(x, y)| (x.clone(), &self.p - y))
    }

    pub(crate) fn add(&self, a: &Point, b: &Point) -> Point {
        let (Some((x1, y1)), Some((x2, y2))) = (a, b) else {
            return a.clone().or_else(|| b.clone());
        };
        let p = &self.p;
        let (rise, run) = if x1 != x2 {
            (p + y2 - y1, p + x2 - x1)
        } else if y1 == y2 {
            (x1 * x1 * 3u8 + p - 3u8, y1 * 2u8)
        } else {
            return None;
        };
        let slope = rise * (run % p).modinv(p).expect("it is not zero") % p;
        let x3 = (&slope * &slope + p + p - x1 - x2) % p;
        let y3 = (slope * (p + x1 - &x3) + p - y1) % p;
        Some((x3, y3))
    }

    pub(crate) fn multiply(&self, k: &BigUint, point: &Point) -> Point {
        let (point, p) = (point.as_ref()?, &self.p);
        let [x, y, z] = (0..k.bits()).rev().fold(None, |sum, bit| {
            let twice = sum.as_ref().and_then(|sum| self.double_fraction(sum));
            if k.bit(bit) { self.add_to_fraction(twice, point) } else { twice }
        })?;
        let inverse = z.modinv(p).expect("it is not zero");
        Some((x * &inverse % p, y * inverse % p))
    }

    fn double_fraction(&self, sum: &Fraction) -> Option<Fraction> {
        let (p, [x, y, z]) = (&self.p, sum);
        let (rise, run) = (3u8 * (x * x + p * p - z * z) % p, 2u8 * y * z % p);
        (run != BigUint::ZERO).then(|| self.third_point(sum, x, rise, run))
    }

    fn add_to_fraction(
        &self,
        sum: Option<Fraction>,
        (x2, y2): &(BigUint, BigUint),
    ) -> Option<Fraction> {
        let Some(sum) = sum else { return Some([x2.clone(), y2.clone(), 1u8.into()]) };
        let (p, [x1, y1, z]) = (&self.p, &sum);
        let x2 = x2 * z % p;
        let (rise, run) = ((y2 * z + p - y1) % p, (&x2 + p - x1) % p);
        if run != BigUint::ZERO {
            return Some(self.third_point(&sum, &x2, rise, run));
        }
        if rise == BigUint::ZERO { self.double_fraction(&sum) } else { None }
    }

    /// Returns the opposite of the third point on a line with slope rise/run through (x₁/z, y₁/z)
    /// and a point with the x coordinate x₂/z: as in [`add`](Self::add), without the division,
    /// which takes most of its time.
    fn third_point(
        &self,
        [x1, y1, z]: &Fraction,
        x2: &BigUint,
        rise: BigUint,
        run: BigUint,
    ) -> Fraction {
        let p = &self.p;
        let (square, cube) = (&run * &run % p, run.pow(3) % p);
        let x = (&rise * &rise % p * z + &square * (p + p - x1 - x2)) % p;
        let y = (rise * (square * x1 % p + p - &x) + &cube * (p - y1)) % p;
        [x * run % p, y, cube * z % p]
    }

    /// Returns an integer as bytes, as long as a scalar.
    pub(crate) fn bytes(&self, number: &BigUint) -> Vec<u8> {
        super::dh::padded(number, self.bytes)
    }

    pub(crate) fn private<C: Curve>(&self, scalar: &BigUint) -> PrivateKey<C> {
        PrivateKey::from_bytes(&self.bytes(scalar)).unwrap()
    }

    pub(crate) fn public<C: Curve>(&self, point: &Point) -> PublicKey<C> {
        let (x, y) = point.as_ref().expect("it is not infinity");
        PublicKey::from_sec1(&[vec![4], self.bytes(x), self.bytes(y)].concat()).unwrap()
    }

    pub(crate) fn point<C: Curve>(&self, key: &PublicKey<C>) -> Point {
        let bytes = key.to_uncompressed();
        let (x, y) = bytes[1..].split_at(self.bytes);
        Some((BigUint::from_bytes_be(x), BigUint::from_bytes_be(y)))
    }
}
