//! Steps of curve formulas that a backend may compute as one kernel.

use super::super::backends::{with_one, with_vectors};
use super::super::ct::Mask;
use super::super::lanes;
use super::super::words::{self, Limb};
use super::prime::apart;
use super::{Arithmetic, Masks, P224, P256, P384, P521, P25519, Prime};

/// The odd multiples of a point that serve a multiple of one number across lanes: from 1 to 31.
pub const MULTIPLES_OF_ONE: usize = 16;

/// Those multiples in affine coordinates, as integers.
pub type MultiplesOfOne<P> = [[<P as Prime>::Words; 2]; MULTIPLES_OF_ONE];

/// An addition in a sum of multiples of one number.
#[derive(Clone, Copy, Debug, Default)]
pub struct Addition {
    /// Which point's multiple is added: 0 or 1.
    pub point: u8,
    /// Which odd multiple: its index in the low four bits, and bit 4 is 1 if it is negated.
    pub digit: u8,
    /// How often the sum is doubled afterwards.
    pub doublings: u16,
}

/// Arithmetic with steps on the points of a curve.
///
/// Each step has a default of field operations; a backend with a faster kernel overrides it.
pub trait CurveArithmetic<P: Prime>: Arithmetic<P> {
    /// Computes one step of Montgomery's ladder on a curve B·y² = x³ + A·x² + x; `a24` is the
    /// public constant (A − 2)/4 below 2¹⁷. `state` is (X₂ : Z₂), (X₃ : Z₃); where `swap` is true,
    /// the two points are swapped first. Replaces the first point by its double and the second by
    /// the sum of both, whose difference is `x1` (RFC 7748, section 5, with its names). The state
    /// comes from [`load`](Arithmetic::load) or from another step.
    ///
    /// Only A and B depend on the order of the points: swapping them exchanges D·A and C·B, and the
    /// squares of their sum and difference stay the same.
    #[inline(always)]
    fn ladder_step(
        self,
        x1: &Self::Element,
        state: &mut [Self::Element; 4],
        swap: Self::Mask,
        a24: Limb,
    ) {
        let [x2, z2, x3, z3] = &*state;
        let (a, b) = (self.add(x2, z2), self.sub(x2, z2));
        let (c, d) = (self.add(x3, z3), self.sub(x3, z3));
        let (da, cb) = (self.mul(&d, &a), self.mul(&c, &b));
        let aa = self.square(&self.select(swap, &c, &a));
        let bb = self.square(&self.select(swap, &d, &b));
        let e = self.sub(&aa, &bb);
        *state = [
            self.mul(&aa, &bb),
            self.mul(&e, &self.add(&aa, &self.mul_small(&e, a24))),
            self.square(&self.add(&da, &cb)),
            self.mul(x1, &self.square(&self.sub(&da, &cb))),
        ];
    }

    /// Computes a number of steps, not 0, for the bits from `steps` − 1 to 0 of
    /// [`WIDTH`](Arithmetic::WIDTH) numbers, on a state as in [`ladder_step`](Self::ladder_step),
    /// whose two points are swapped in the step for bit t where that bit of `swaps` is set. `steps`
    /// is public, and at most 256.
    #[inline(always)]
    fn ladder(
        self,
        x1: &Self::Element,
        state: &mut [Self::Element; 4],
        steps: usize,
        swaps: &[[Limb; 4]],
        a24: Limb,
    ) {
        for t in (0..steps).rev() {
            let swap = self.mask(|place| {
                let limb = swaps[place][t / words::LIMB_BITS];
                Mask::from_bit(limb >> (t % words::LIMB_BITS) & 1)
            });
            self.ladder_step(x1, state, swap, a24);
        }
    }

    /// Computes steps of the ladder as [`ladder`](Self::ladder), on one number instead of one in
    /// each lane, if the backend has a kernel for it: X₂, Z₂, X₃ and Z₃ and `x1` are integers below
    /// 2^[`BITS`](Prime::BITS), and so are the results. Both coordinates of a result may have a
    /// common factor.
    #[inline(always)]
    fn ladder_of_one(
        self,
        _x1: &P::Words,
        _points: &[P::Words; 4],
        _steps: usize,
        _swaps: &[Limb; 4],
        _a24: Limb,
    ) -> Option<[P::Words; 4]> {
        None
    }

    /// Doubles a point of y² = x³ − 3x + b, X, Y and Z in Jacobian coordinates, `times` times;
    /// `times` is public. 4M + 4S each. A backend may return other coordinates of the same point,
    /// with half of the default's Z for each doubling.
    #[inline(always)]
    fn double_times(self, point: &[Self::Element; 3], times: usize) -> [Self::Element; 3] {
        let mut point = *point;
        for _ in 0..times {
            point = double(self, &point);
        }
        point
    }

    /// Adds a point in Jacobian coordinates X, Y and Z and one in affine coordinates x and y, two
    /// distinct finite points (Cohen, Miyaji, Ono, as for doublings). 8M + 3S. Returns X, Y and Z
    /// of the sum, and H = x·Z² − X and R = y·Z³ − Y.
    #[inline(always)]
    fn add_affine(
        self,
        [x1, y1, z1]: &[Self::Element; 3],
        [x2, y2]: &[Self::Element; 2],
    ) -> [Self::Element; 5] {
        let zz = self.square(z1);
        let h = self.sub(&self.mul(x2, &zz), x1);
        let r = self.sub(&self.mul(y2, &self.mul(z1, &zz)), y1);
        let hh = self.square(&h);
        let hhh = self.mul(&h, &hh);
        let v = self.mul(x1, &hh);
        let x3 = self.sub(&self.sub(&self.square(&r), &hhh), &self.double(&v));
        let y3 = self.sub(&self.mul(&r, &self.sub(&v, &x3)), &self.mul(y1, &hhh));
        [x3, y3, self.mul(z1, &h), h, r]
    }

    /// The number of points in a row for which
    /// [`add_affine_then_look_up`](Self::add_affine_then_look_up) is a kernel, and faster than the
    /// operations in turn; 0 for none.
    const POINTS_READ_MEANWHILE: usize = 0;

    /// Adds to a point in Jacobian coordinates one in affine coordinates, as
    /// [`add_affine`](Self::add_affine) does, and replaces the addend by point `index` of `row`, a
    /// row of [`POINTS_READ_MEANWHILE`](Self::POINTS_READ_MEANWHILE) stored points with y ≠ 0,
    /// negated where `negative` is true: a backend may read the row while it adds.
    #[inline(always)]
    fn add_affine_then_look_up(
        self,
        point: &mut [Self::Element; 3],
        addend: &mut [Self::Element; 2],
        row: &[Limb],
        index: Self::Word,
        negative: Self::Mask,
    ) {
        let [x, y, z, _, _] = self.add_affine(point, addend);
        *point = [x, y, z];
        self.lookup_stored(addend, row, index);
        addend[1] = self.select(negative, &self.negate(&addend[1]), &addend[1]);
    }

    /// Adds two points X, Y and Z in Jacobian coordinates, if the backend has a kernel for it:
    /// returns the coordinates of the sum, H = U₂ − U₁ and R = S₂ − S₁ of the formula of Cohen,
    /// Miyaji, Ono, Efficient elliptic curve exponentiation using mixed coordinates, 1998, where U
    /// is the product of X and the square of the other Z, and S that of Y and its cube.
    #[inline(always)]
    fn add_jacobian(
        self,
        _a: [&Self::Element; 3],
        _b: [&Self::Element; 3],
    ) -> Option<[Self::Element; 5]> {
        None
    }

    /// Returns a sum of multiples of one or two points of y² = x³ − 3x + b, on one number instead of
    /// one in each lane, if the backend has a kernel for it: the additions in turn, as X, Y and Z in
    /// Jacobian coordinates, integers below 2^[`BITS`](Prime::BITS).
    ///
    /// The number of additions and of doublings is public, and which point is added; the digits are
    /// not. Additions are incomplete, as in [`add_affine`](Self::add_affine): Z is 0 if one met equal
    /// or opposite points, since its Z is 0 then, and so is every later one. Z is also 0 without any
    /// addition.
    #[inline(always)]
    fn sum_of_one(
        self,
        _points: &[&MultiplesOfOne<P>],
        _additions: &[Addition],
    ) -> Option<[P::Words; 3]> {
        None
    }

    /// Adds a point of a twisted Edwards curve −x² + y² = 1 + d·x²·y², X, Y, Z and T in extended
    /// coordinates, and one given by y + x, y − x and 2d·x·y, or subtracts it where `negative` is
    /// true: "add-2008-hwcd-3" (Hisil, Wong, Carter, Dawson, Twisted Edwards curves revisited,
    /// 2008), 7M.
    #[inline(always)]
    fn add_edwards(
        self,
        [x, y, z, t]: &[Self::Element; 4],
        addend: &[Self::Element; 3],
        negative: Self::Mask,
    ) -> [Self::Element; 4] {
        let [sum, difference, product] = &edwards_negated(self, addend, negative);
        let a = self.mul(&self.sub(y, x), difference);
        let b = self.mul(&self.add(y, x), sum);
        let c = self.mul(t, product);
        let d = self.double(z);
        let (e, f) = (self.sub(&b, &a), self.sub(&d, &c));
        let (g, h) = (self.add(&d, &c), self.add(&b, &a));
        [self.mul(&e, &f), self.mul(&g, &h), self.mul(&f, &g), self.mul(&e, &h)]
    }

    /// Whether [`add_edwards_then_look_up`](Self::add_edwards_then_look_up) is a kernel, and faster
    /// than the two operations.
    const LOOKS_UP_MEANWHILE: bool = false;

    /// Like [`add_edwards`](Self::add_edwards), in place, and replaces the addend by entry `index`
    /// of `row`, a row of stored constants, negated where `negative` is true: a backend may read
    /// the row while it adds. The coordinates X, Y and Z come from [`load`](Arithmetic::load),
    /// [`mul`](Arithmetic::mul) or this function.
    #[inline(always)]
    fn add_edwards_then_look_up(
        self,
        point: &mut [Self::Element; 4],
        addend: &mut [Self::Element; 3],
        row: &[Limb],
        index: Self::Word,
        negative: Self::Mask,
    ) {
        *point = self.add_edwards(point, addend, Self::Mask::none());
        self.lookup_stored(addend, row, index);
        *addend = edwards_negated(self, addend, negative);
    }

    /// Adds to a public point another one, or subtracts it if `is_negative`: given as for
    /// [`add_edwards`](Self::add_edwards), times its Z if `twice_z` = 2·Z is given. T is computed
    /// only if `with_t`, and is of no use otherwise. 7M or 8M, one less without T.
    #[inline(always)]
    fn add_edwards_vartime(
        self,
        point: &mut [Self::Element; 4],
        [sum, difference, product]: &[Self::Element; 3],
        twice_z: Option<&Self::Element>,
        is_negative: bool,
        with_t: bool,
    ) {
        let (sum, difference) = if is_negative { (difference, sum) } else { (sum, difference) };
        let [x, y, z, t] = &*point;
        let a = self.mul(&self.sub(y, x), difference);
        let b = self.mul(&self.add(y, x), sum);
        let c = self.mul(t, product);
        let d = twice_z.map_or_else(|| self.double(z), |twice_z| self.mul(z, twice_z));
        let (e, h) = (self.sub(&b, &a), self.add(&b, &a));
        let (less, more) = (self.sub(&d, &c), self.add(&d, &c));
        let (f, g) = if is_negative { (more, less) } else { (less, more) };
        let t = if with_t { self.mul(&e, &h) } else { Self::ZERO };
        *point = [self.mul(&e, &f), self.mul(&g, &h), self.mul(&f, &g), t];
    }

    /// Returns a sum of multiples of public points of a twisted Edwards curve −x² + y² = 1 +
    /// d·x²·y², on one number instead of one in each lane, if the backend has a kernel for it.
    ///
    /// The sum and the points are X, Y, Z and T as integers below 2^[`BITS`](Prime::BITS), and so
    /// is `twice_d` = 2·d. Each point is followed by digits, from the lowest on, which are 0 or odd
    /// and less than 16 in magnitude. A table has the odd multiples of a point as stored constants
    /// for one number, y + x, y − x and 2d·x·y, one for each magnitude of its digits.
    #[inline(always)]
    fn edwards_sum_of_one_vartime(
        self,
        _twice_d: &P::Words,
        _points: [(&[P::Words; 4], &[i8]); 2],
        _tables: [(&[Limb], &[i8]); 2],
    ) -> Option<[P::Words; 4]> {
        None
    }

    /// Doubles a point of a twisted Edwards curve −x² + y² = 1 + d·x²·y², X, Y, Z and T in extended
    /// coordinates, `times` times; T is not read. `times` is public and not 0. "dbl-2008-hwcd" with
    /// all signs flipped, 3M + 4S each, plus 1M.
    #[inline(always)]
    fn double_edwards(self, point: &mut [Self::Element; 4], times: usize) {
        for i in 1..=times {
            let [x, y, z, _] = &*point;
            let (a, b) = (self.square(x), self.square(y));
            let h = self.add(&a, &b);
            let e = self.sub(&h, &self.square(&self.add(x, y)));
            let g = self.sub(&a, &b);
            let f = self.add(&self.double(&self.square(z)), &g);
            let t = if i == times { self.mul(&e, &h) } else { Self::ZERO };
            *point = [self.mul(&e, &f), self.mul(&g, &h), self.mul(&f, &g), t];
        }
    }
}

/// Returns y + x, y − x and 2d·x·y of a point, negated where `negative` is true.
#[inline(always)]
pub(super) fn edwards_negated<P: Prime, A: Arithmetic<P>>(
    f: A,
    [sum, difference, product]: &[A::Element; 3],
    negative: A::Mask,
) -> [A::Element; 3] {
    [
        f.select(negative, difference, sum),
        f.select(negative, sum, difference),
        f.select(negative, &f.negate(product), product),
    ]
}

/// Doubles by the formula of Cohen, Miyaji, Ono, Efficient elliptic curve exponentiation using
/// mixed coordinates, 1998, for a = −3.
#[inline(never)]
fn double<P: Prime, A: Arithmetic<P>>(f: A, [x, y, z]: &[A::Element; 3]) -> [A::Element; 3] {
    f.run(
        #[inline(always)]
        || {
            let zz = f.square(z);
            let two_yy = f.double(&f.square(y));
            let s = f.mul(x, &f.double(&two_yy)); // 4·X·Y²
            let m = f.mul(&f.sub(x, &zz), &f.add(x, &zz)); // X² − Z⁴
            let m = f.add(&f.double(&m), &m); // 3·X² − 3·Z⁴
            let x3 = f.sub(&f.square(&m), &f.double(&s));
            let eight_yyyy = f.double(&f.square(&two_yy));
            let y3 = f.sub(&f.mul(&m, &f.sub(&s, &x3)), &eight_yyyy); // M·(S − X₃) − 8·Y⁴
            let z3 = f.mul(&f.double(y), z);
            [x3, y3, z3]
        },
    )
}

/// A task that runs on any backend with the steps of curves.
pub trait CurveTask<P: CurvePrime> {
    /// The result of the task.
    type Output;

    /// Runs the task on one backend.
    fn run<A: CurveArithmetic<P>>(self, arithmetic: A) -> Self::Output;
}

/// The prime of a curve's coordinates.
pub trait CurvePrime: Prime {
    /// Whether backends that multiply integers in lanes have kernels for
    /// [`sum_of_one`](CurveArithmetic::sum_of_one).
    const MULTIPLIES_ONE: bool = false;

    /// Like [`run_one`](Prime::run_one), with the steps of curves.
    fn run_one_curve<T: CurveTask<Self>>(backend: words::Backend, task: T) -> T::Output;

    /// Like [`run_eight`](Prime::run_eight), with the steps of curves.
    ///
    /// # Panics
    /// With the portable backend, except in the library's own tests.
    fn run_eight_curve<T: CurveTask<Self>>(backend: lanes::Backend, task: T) -> T::Output;
}

macro_rules! curve_primes {
    ($($prime:ident $multiplies_one:literal)+) => {$(
        impl CurvePrime for $prime {
            const MULTIPLIES_ONE: bool = $multiplies_one;

            #[inline]
            fn run_one_curve<T: CurveTask<Self>>(backend: words::Backend, task: T) -> T::Output {
                with_one!(backend, token => apart(|| task.run(token)))
            }

            #[inline]
            fn run_eight_curve<T: CurveTask<Self>>(backend: lanes::Backend, task: T) -> T::Output {
                with_vectors!(backend, token => apart(|| task.run(token)))
            }
        }
    )+};
}

curve_primes!(P224 false P256 true P384 true P521 true P25519 false);
