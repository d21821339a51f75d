//! Fr in blst's Montgomery form.

use blst::{blst_fr, blst_scalar};
use cycloid::bls12_381::backend::{Integer, Mask, Scalars};
#[cfg(feature = "group")]
use cycloid::bls12_381::{Cycloid, backend::FieldConstants};
use zeroize::Zeroize;

use crate::Blst;
use crate::ffi::result;

impl Scalars for Blst {
    type Fr = blst_fr;

    const ZERO: blst_fr = blst_fr { l: [0; 4] };

    // 2²⁵⁶ modulo r.
    const ONE: blst_fr = blst_fr {
        l: [
            0x0000_0001_ffff_fffe,
            0x5884_b7fa_0003_4802,
            0x998c_4fef_ecbc_4ff5,
            0x1824_b159_acc5_056f,
        ],
    };

    fn fr_from_integer(integer: &Integer) -> blst_fr {
        result!(blst_fr_from_uint64(integer.as_ptr()))
    }

    fn fr_to_integer(a: &blst_fr) -> Integer {
        let mut integer = [0; 4];
        // SAFETY: the function writes four limbs.
        unsafe { blst::blst_uint64_from_fr(integer.as_mut_ptr(), a) };
        integer
    }

    fn fr_add(a: &blst_fr, b: &blst_fr) -> blst_fr {
        result!(blst_fr_add(a, b))
    }

    fn fr_sub(a: &blst_fr, b: &blst_fr) -> blst_fr {
        result!(blst_fr_sub(a, b))
    }

    fn fr_negate(a: &blst_fr) -> blst_fr {
        result!(blst_fr_cneg(a, true))
    }

    fn fr_double(a: &blst_fr) -> blst_fr {
        result!(blst_fr_lshift(a, 1))
    }

    fn fr_mul(a: &blst_fr, b: &blst_fr) -> blst_fr {
        result!(blst_fr_mul(a, b))
    }

    fn fr_square(a: &blst_fr) -> blst_fr {
        result!(blst_fr_sqr(a))
    }

    fn fr_invert(a: &blst_fr) -> blst_fr {
        result!(blst_fr_inverse(a))
    }

    fn fr_invert_vartime(a: &blst_fr) -> blst_fr {
        result!(blst_fr_eucl_inverse(a))
    }

    fn fr_equal(a: &blst_fr, b: &blst_fr) -> bool {
        a.l.iter().zip(&b.l).fold(0, |any, (a, b)| any | (a ^ b)) == 0
    }

    fn fr_select(mask: Mask, a: &blst_fr, b: &blst_fr) -> blst_fr {
        blst_fr { l: core::array::from_fn(|i| mask.select(a.l[i], b.l[i])) }
    }

    fn fr_wipe(a: &mut blst_fr) {
        a.l.zeroize();
    }

    fn fr_butterfly(a: &mut blst_fr, b: &mut blst_fr, w: &blst_fr) {
        // SAFETY: three references, of which the first two are exclusive.
        unsafe { blst::blst_fr_ct_bfly(a, b, w) };
    }
}

/// blst's form is that of the library.
#[cfg(feature = "group")]
impl FieldConstants for Blst {
    const TWO_INVERSE: blst_fr = blst_fr { l: Cycloid::TWO_INVERSE };
    const GENERATOR: blst_fr = blst_fr { l: Cycloid::GENERATOR };
    const ROOT_OF_UNITY: blst_fr = blst_fr { l: Cycloid::ROOT_OF_UNITY };
    const ROOT_OF_UNITY_INVERSE: blst_fr = blst_fr { l: Cycloid::ROOT_OF_UNITY_INVERSE };
    const DELTA: blst_fr = blst_fr { l: Cycloid::DELTA };
    const CUBE_ROOT_OF_UNITY: blst_fr = blst_fr { l: Cycloid::CUBE_ROOT_OF_UNITY };
}

/// Returns the 32 bytes, little-endian, of a scalar for blst's multiplication; wiped on drop.
pub(crate) fn scalar(a: &blst_fr) -> blst_scalar {
    result!(blst_scalar_from_fr(a))
}
