//! Points of both groups as inputs, and the comparison of points.

use crate::inputs::Random;

/// Writes the tests of one group.
macro_rules! group {
    ($group:ident, $coordinate:ty, $zero:expr, $encoded:literal, $TheirPoint:ty, $TheirAffine:ty;
     $generator:ident $mult:ident $cneg:ident $to_affine:ident $from_affine:ident
     $uncompress:ident) => {
        pub(crate) mod $group {
            use super::Random;

            pub(crate) type Coordinate = $coordinate;
            pub(crate) type Point = [Coordinate; 3];
            pub(crate) type Affine = [Coordinate; 2];
            pub(crate) type TheirPoint = $TheirPoint;
            pub(crate) type TheirAffine = $TheirAffine;
            pub(crate) const ZERO: Coordinate = $zero;
            pub(crate) const ENCODED: usize = $encoded;

            pub(crate) fn affine(a: &Point) -> Affine {
                let mut out = [ZERO; 2];
                unsafe { blst::$to_affine(out.as_mut_ptr().cast(), core::ptr::from_ref(a).cast()) };
                out
            }

            /// Runs both and compares the points.
            pub(crate) fn point(
                name: &str,
                a: impl FnOnce(*mut Point),
                b: impl FnOnce(*mut TheirPoint),
            ) -> Point {
                let (mut x, mut y) = ([ZERO; 3], [ZERO; 3]);
                a(&mut x);
                b(y.as_mut_ptr().cast());
                assert_eq!(affine(&x), affine(&y), "{name}");
                y
            }

            pub(crate) fn theirs(a: &Point) -> *const TheirPoint {
                core::ptr::from_ref(a).cast()
            }

            /// A point of the curve that is not in the group.
            fn outside(random: &mut Random) -> Point {
                loop {
                    let mut bytes: [u8; ENCODED] = random.bytes();
                    bytes[0] = (bytes[0] & 0x2f) | 0x80;
                    bytes[0] &= 0xaf;
                    bytes[ENCODED / 2] &= 0x0f;
                    let (mut decoded, mut out) = ([ZERO; 2], [ZERO; 3]);
                    unsafe {
                        if blst::$uncompress(decoded.as_mut_ptr().cast(), bytes.as_ptr())
                            == blst::BLST_ERROR::BLST_SUCCESS
                        {
                            blst::$from_affine(out.as_mut_ptr().cast(), decoded.as_ptr().cast());
                            return out;
                        }
                    }
                }
            }

            pub(crate) fn points(random: &mut Random) -> Vec<Point> {
                let generator: Point = unsafe { blst::$generator().cast::<Point>().read() };
                let mut all = vec![[ZERO; 3], generator];
                for _ in 0..3 {
                    let scalar: [u8; 32] = random.bytes();
                    let mut multiple = [ZERO; 3];
                    unsafe {
                        blst::$mult(
                            multiple.as_mut_ptr().cast(),
                            theirs(&generator),
                            scalar.as_ptr(),
                            250,
                        )
                    };
                    all.push(multiple);
                    unsafe { blst::$cneg(multiple.as_mut_ptr().cast(), true) };
                    all.push(multiple);
                    unsafe {
                        blst::$from_affine(
                            multiple.as_mut_ptr().cast(),
                            affine(&multiple).as_ptr().cast(),
                        )
                    };
                    all.push(multiple);
                }
                all.extend([outside(random), outside(random)]);
                all
            }
        }
    };
}

group!(g1, [u64; 6], [0; 6], 48, blst::blst_p1, blst::blst_p1_affine;
    blst_p1_generator blst_p1_mult blst_p1_cneg blst_p1_to_affine blst_p1_from_affine
    blst_p1_uncompress);

group!(g2, [[u64; 6]; 2], [[0; 6]; 2], 96, blst::blst_p2, blst::blst_p2_affine;
    blst_p2_generator blst_p2_mult blst_p2_cneg blst_p2_to_affine blst_p2_from_affine
    blst_p2_uncompress);
