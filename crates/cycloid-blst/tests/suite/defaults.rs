//! A backend with only the required methods, taken from blst. It tests the default implementations
//! of the interface as another backend.

use cycloid::bls12_381::backend::Mask;
use cycloid::bls12_381::backend::{FieldConstants, Group, Integer, Pairing, Scalars, SourceGroup};
use cycloid::bls12_381::{Backend, First, G1Affine, G2Affine, Second};
use cycloid_blst::Blst;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Defaults;

impl Backend for Defaults {
    const NAME: &'static str = "defaults";
}

impl Scalars for Defaults {
    type Fr = <Blst as Scalars>::Fr;
    const ZERO: Self::Fr = Blst::ZERO;
    const ONE: Self::Fr = Blst::ONE;

    fn fr_from_integer(integer: &Integer) -> Self::Fr {
        Blst::fr_from_integer(integer)
    }

    fn fr_to_integer(a: &Self::Fr) -> Integer {
        Blst::fr_to_integer(a)
    }

    fn fr_add(a: &Self::Fr, b: &Self::Fr) -> Self::Fr {
        Blst::fr_add(a, b)
    }

    fn fr_sub(a: &Self::Fr, b: &Self::Fr) -> Self::Fr {
        Blst::fr_sub(a, b)
    }

    fn fr_mul(a: &Self::Fr, b: &Self::Fr) -> Self::Fr {
        Blst::fr_mul(a, b)
    }

    fn fr_invert(a: &Self::Fr) -> Self::Fr {
        Blst::fr_invert(a)
    }

    fn fr_equal(a: &Self::Fr, b: &Self::Fr) -> bool {
        Blst::fr_equal(a, b)
    }

    fn fr_wipe(a: &mut Self::Fr) {
        Blst::fr_wipe(a);
    }
}

impl FieldConstants for Defaults {
    const TWO_INVERSE: Self::Fr = Blst::TWO_INVERSE;
    const GENERATOR: Self::Fr = Blst::GENERATOR;
    const ROOT_OF_UNITY: Self::Fr = Blst::ROOT_OF_UNITY;
    const ROOT_OF_UNITY_INVERSE: Self::Fr = Blst::ROOT_OF_UNITY_INVERSE;
    const DELTA: Self::Fr = Blst::DELTA;
    const CUBE_ROOT_OF_UNITY: Self::Fr = Blst::CUBE_ROOT_OF_UNITY;
}

macro_rules! group {
    ($group:ident) => {
        impl Group<$group> for Defaults {
            type Projective = <Blst as Group<$group>>::Projective;
            type Affine = <Blst as Group<$group>>::Affine;
            type TableForm = ();

            fn identity() -> Self::Projective {
                <Blst as Group<$group>>::identity()
            }

            fn affine_identity() -> Self::Affine {
                <Blst as Group<$group>>::affine_identity()
            }

            fn generator() -> Self::Affine {
                <Blst as Group<$group>>::generator()
            }

            fn is_identity(a: &Self::Projective) -> bool {
                <Blst as Group<$group>>::is_identity(a)
            }

            fn affine_is_identity(a: &Self::Affine) -> bool {
                <Blst as Group<$group>>::affine_is_identity(a)
            }

            fn equal(a: &Self::Projective, b: &Self::Projective) -> bool {
                <Blst as Group<$group>>::equal(a, b)
            }

            fn affine_equal(a: &Self::Affine, b: &Self::Affine) -> bool {
                <Blst as Group<$group>>::affine_equal(a, b)
            }

            fn add(a: &Self::Projective, b: &Self::Projective) -> Self::Projective {
                <Blst as Group<$group>>::add(a, b)
            }

            fn add_affine(a: &Self::Projective, b: &Self::Affine) -> Self::Projective {
                <Blst as Group<$group>>::add_affine(a, b)
            }

            fn double(a: &Self::Projective) -> Self::Projective {
                <Blst as Group<$group>>::double(a)
            }

            fn negate(a: &Self::Projective) -> Self::Projective {
                <Blst as Group<$group>>::negate(a)
            }

            fn affine_negate(a: &Self::Affine) -> Self::Affine {
                <Blst as Group<$group>>::affine_negate(a)
            }

            fn from_affine(a: &Self::Affine) -> Self::Projective {
                <Blst as Group<$group>>::from_affine(a)
            }

            fn to_affine(a: &Self::Projective) -> Self::Affine {
                <Blst as Group<$group>>::to_affine(a)
            }

            fn from_coordinates(
                x: &Coordinate<$group>,
                y: &Coordinate<$group>,
            ) -> Option<Self::Affine> {
                <Blst as Group<$group>>::from_coordinates(x, y)
            }

            fn coordinates(a: &Self::Affine) -> (Coordinate<$group>, Coordinate<$group>) {
                <Blst as Group<$group>>::coordinates(a)
            }

            fn decompress(x: &Coordinate<$group>, larger: bool) -> Option<Self::Affine> {
                <Blst as Group<$group>>::decompress(x, larger)
            }

            fn in_group(a: &Self::Affine) -> bool {
                <Blst as Group<$group>>::in_group(a)
            }

            fn multiply(a: &Self::Projective, k: &Self::Fr) -> Self::Projective {
                <Blst as Group<$group>>::multiply(a, k)
            }

            fn map_to_curve(uniform: &[[u8; 64]]) -> Self::Projective {
                <Blst as Group<$group>>::map_to_curve(uniform)
            }
        }
    };
}

type Coordinate<G> = <G as SourceGroup>::Compressed;

group!(First);
group!(Second);

impl Pairing for Defaults {
    type Fq12 = <Blst as Pairing>::Fq12;
    type Prepared = <Blst as Pairing>::Prepared;

    fn fq12_from_coefficients(coefficients: &[[u8; 48]; 12]) -> Self::Fq12 {
        Blst::fq12_from_coefficients(coefficients)
    }

    fn fq12_coefficients(a: &Self::Fq12) -> [[u8; 48]; 12] {
        Blst::fq12_coefficients(a)
    }

    fn fq12_one() -> Self::Fq12 {
        Blst::fq12_one()
    }

    fn fq12_equal(a: &Self::Fq12, b: &Self::Fq12) -> bool {
        Blst::fq12_equal(a, b)
    }

    fn fq12_add(a: &Self::Fq12, b: &Self::Fq12) -> Self::Fq12 {
        Blst::fq12_add(a, b)
    }

    fn fq12_sub(a: &Self::Fq12, b: &Self::Fq12) -> Self::Fq12 {
        Blst::fq12_sub(a, b)
    }

    fn fq12_mul(a: &Self::Fq12, b: &Self::Fq12) -> Self::Fq12 {
        Blst::fq12_mul(a, b)
    }

    fn fq12_invert(a: &Self::Fq12) -> Self::Fq12 {
        Blst::fq12_invert(a)
    }

    fn fq12_conjugate(a: &Self::Fq12) -> Self::Fq12 {
        Blst::fq12_conjugate(a)
    }

    fn fq12_select(mask: Mask, a: &Self::Fq12, b: &Self::Fq12) -> Self::Fq12 {
        Blst::fq12_select(mask, a, b)
    }

    fn gt_contains(a: &Self::Fq12) -> bool {
        Blst::gt_contains(a)
    }

    fn prepare(q: &<Self as Group<Second>>::Affine) -> Self::Prepared {
        Blst::prepare(q)
    }

    fn miller_loop(p: &[G1Affine<Self>], q: &[G2Affine<Self>]) -> Self::Fq12 {
        let p: Vec<_> = p.iter().map(|p| G1Affine::from_raw(*p.raw())).collect();
        let q: Vec<_> = q.iter().map(|q| G2Affine::from_raw(*q.raw())).collect();
        Blst::miller_loop(&p, &q)
    }

    fn miller_loop_prepared(p: &[G1Affine<Self>], q: &[&Self::Prepared]) -> Self::Fq12 {
        let p: Vec<_> = p.iter().map(|p| G1Affine::from_raw(*p.raw())).collect();
        Blst::miller_loop_prepared(&p, q)
    }

    fn final_exponentiation(a: &Self::Fq12) -> Self::Fq12 {
        Blst::final_exponentiation(a)
    }
}
