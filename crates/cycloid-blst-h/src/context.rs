//! Contexts that verify many signatures with one final exponentiation, and single verifications.

use cycloid::bls12_381::backend::{First, Pairing, Second};
use cycloid::bls12_381::{Cycloid, raw};

use crate::BLST_ERROR::{
    self, BLST_AGGR_TYPE_MISMATCH, BLST_PK_IS_INFINITY, BLST_POINT_NOT_IN_GROUP, BLST_SUCCESS,
    BLST_VERIFY_FAIL,
};
use crate::groups::{first, second};
use crate::pairing::{are_equal_after_exponentiation, miller_loops};
use crate::{
    BLS12_381_G1, BLS12_381_G2, blst_fp12, blst_p1, blst_p1_affine, blst_p2, blst_p2_affine,
    c_bool, exports,
};

/// Number of pairs that wait for their Miller loops.
const PAIRS: usize = 8;

/// The group of the keys.
#[derive(Clone, Copy, PartialEq)]
#[repr(u32)]
enum Keys {
    Unknown,
    First,
    Second,
}

/// `blst_pairing`. A program may move it in memory, and its tag too if that follows at once.
#[repr(C)]
pub struct Context {
    keys: Keys,
    uniform: bool,
    has_product: bool,
    waiting: usize,
    dst: *const u8,
    dst_length: usize,
    product: blst_fp12,
    /// The sum of the signatures, if there are any.
    first: Option<blst_p1>,
    second: Option<blst_p2>,
    p: [blst_p1_affine; PAIRS],
    q: [blst_p2_affine; PAIRS],
}

/// Stands for a tag that follows the context, wherever that is.
const FOLLOWS: *const u8 = core::ptr::without_provenance(42);

impl Context {
    fn new(uniform: bool, dst: *const u8, dst_length: usize) -> Self {
        Self {
            keys: Keys::Unknown,
            uniform,
            has_product: false,
            waiting: 0,
            dst,
            dst_length,
            product: Cycloid::fq12_one(),
            first: None,
            second: None,
            p: [[[0; 6]; 2]; PAIRS],
            q: [[[[0; 6]; 2]; 2]; PAIRS],
        }
    }

    fn multiply(&mut self, factor: &blst_fp12) {
        self.product =
            if self.has_product { Cycloid::fq12_mul(&self.product, factor) } else { *factor };
        self.has_product = true;
    }

    fn commit(&mut self) {
        if self.waiting > 0 {
            let factor = miller_loops(self.waiting, |i| (&self.p[i], &self.q[i]));
            self.waiting = 0;
            self.multiply(&factor);
        }
    }

    fn push(&mut self, p: blst_p1_affine, q: blst_p2_affine) {
        self.p[self.waiting] = p;
        self.q[self.waiting] = q;
        self.waiting += 1;
        if self.waiting == PAIRS {
            self.commit();
        }
    }

    fn verify(&self, signature: Option<&blst_fp12>) -> bool {
        if !self.has_product {
            return false;
        }
        let signature = match (signature, self.keys) {
            (Some(signature), _) => *signature,
            (None, Keys::First) => {
                let sum = self.second.map(|sum| second::to_affine(&sum)).unwrap_or_default();
                miller_loops(1, |_| (&BLS12_381_G1, &sum))
            }
            (None, Keys::Second) => {
                let sum = self.first.map(|sum| first::to_affine(&sum)).unwrap_or_default();
                miller_loops(1, |_| (&sum, &BLS12_381_G2))
            }
            (None, Keys::Unknown) if self.first.is_none() && self.second.is_none() => {
                Cycloid::fq12_one()
            }
            (None, Keys::Unknown) => return false,
        };
        are_equal_after_exponentiation(&signature, &self.product)
    }
}

/// Returns the tag of a context.
///
/// # Safety
/// `context` refers to one.
unsafe fn tag(context: *const Context) -> *const u8 {
    // SAFETY: as the caller says; the tag follows the context.
    unsafe {
        let dst = (*context).dst;
        if dst == FOLLOWS { context.add(1).cast() } else { dst }
    }
}

/// A scalar for both the signature and the key, of no bits if there is none.
type Weight = (*const u8, usize);

/// Adds a signature and a key with its message.
macro_rules! aggregate {
    ($name:ident, $keys:ident $other:ident, $Key:ty, $key:ty, $key_module:ident,
     $Signature:ty, $signature:ty, $module:ident,
     |$context:ident, $hash:ident, $k:ident, $weight:ident| $push:block) => {
        /// # Safety
        /// As for [the crate](crate).
        unsafe fn $name(
            context: *mut Context,
            key: *const $key,
            check_key: bool,
            signature: *const $signature,
            check_signature: bool,
            $weight: Weight,
            message: (*const u8, usize),
            prefix: (*const u8, usize),
        ) -> BLST_ERROR {
            // SAFETY: as the caller says.
            unsafe {
                let dst = (tag(context), (*context).dst_length);
                let $context = &mut *context;
                if $context.keys == Keys::$other {
                    return BLST_AGGR_TYPE_MISMATCH;
                }
                $context.keys = Keys::$keys;
                let $weight = Some($weight).filter(|(scalar, bits)| *bits > 0 && !scalar.is_null());
                // An infinite signature may be that of an aggregate; a key is refused below.
                if !signature.is_null() && !raw::is_infinity::<$Signature>(&*signature) {
                    let point = raw::from_affine::<$Signature>(&*signature);
                    if check_signature && !raw::is_in_group::<$Signature>(&point) {
                        return BLST_POINT_NOT_IN_GROUP;
                    }
                    let point = match $weight {
                        Some((scalar, bits)) => $module::multiply(&point, scalar, bits),
                        None => point,
                    };
                    $context.$module = Some(match &$context.$module {
                        Some(sum) => raw::add_points::<$Signature>(sum, &point),
                        None => point,
                    });
                }
                if key.is_null() {
                    return BLST_SUCCESS;
                }
                if raw::is_infinity::<$Key>(&*key) {
                    return BLST_PK_IS_INFINITY;
                }
                let $k = raw::from_affine::<$Key>(&*key);
                if check_key && !raw::is_in_group::<$Key>(&$k) {
                    return BLST_POINT_NOT_IN_GROUP;
                }
                let $hash = $module::hash(message, dst, prefix, $context.uniform);
                $push
                BLST_SUCCESS
            }
        }
    };
}

aggregate!(aggregate_keys_in_g1, First Second, First, blst_p1_affine, first,
Second, blst_p2_affine, second, |context, hash, key, weight| {
    let key = match weight {
        Some((scalar, bits)) => first::multiply(&key, scalar, bits),
        None => key,
    };
    context.push(first::to_affine(&key), second::to_affine(&hash));
});

aggregate!(aggregate_keys_in_g2, Second First, Second, blst_p2_affine, second,
First, blst_p1_affine, first, |context, hash, key, weight| {
    let hash = match weight {
        Some((scalar, bits)) => first::multiply(&hash, scalar, bits),
        None => hash,
    };
    context.push(first::to_affine(&hash), second::to_affine(&key));
});

const NONE: Weight = (core::ptr::null(), 0);

/// The functions for one choice of groups.
macro_rules! contexts {
    ($aggregate:ident, $key:ty, $signature:ty,
     $plain:ident $checked:ident $weighted:ident $checked_weighted:ident $core:ident) => {
        exports! {
            fn $plain(
                context: *mut Context, key: *const $key, signature: *const $signature,
                message: *const u8, length: usize, prefix: *const u8, prefix_length: usize,
            ) -> BLST_ERROR {
                let (message, prefix) = ((message, length), (prefix, prefix_length));
                $aggregate(context, key, false, signature, true, NONE, message, prefix)
            }

            fn $checked(
                context: *mut Context, key: *const $key, check_key: c_bool,
                signature: *const $signature, check_signature: c_bool, message: *const u8,
                length: usize, prefix: *const u8, prefix_length: usize,
            ) -> BLST_ERROR {
                let (message, prefix) = ((message, length), (prefix, prefix_length));
                let checks = (check_key != 0, check_signature != 0);
                $aggregate(context, key, checks.0, signature, checks.1, NONE, message, prefix)
            }

            fn $weighted(
                context: *mut Context, key: *const $key, signature: *const $signature,
                scalar: *const u8, bits: usize, message: *const u8, length: usize,
                prefix: *const u8, prefix_length: usize,
            ) -> BLST_ERROR {
                let (message, prefix) = ((message, length), (prefix, prefix_length));
                $aggregate(context, key, false, signature, true, (scalar, bits), message, prefix)
            }

            fn $checked_weighted(
                context: *mut Context, key: *const $key, check_key: c_bool,
                signature: *const $signature, check_signature: c_bool, scalar: *const u8,
                bits: usize, message: *const u8, length: usize, prefix: *const u8,
                prefix_length: usize,
            ) -> BLST_ERROR {
                let (message, prefix) = ((message, length), (prefix, prefix_length));
                let (checks, weight) = ((check_key != 0, check_signature != 0), (scalar, bits));
                $aggregate(context, key, checks.0, signature, checks.1, weight, message, prefix)
            }

            fn $core(
                key: *const $key, signature: *const $signature, uniform: c_bool,
                message: *const u8, length: usize, dst: *const u8, dst_length: usize,
                prefix: *const u8, prefix_length: usize,
            ) -> BLST_ERROR {
                let mut context = Context::new(uniform != 0, dst, dst_length);
                let (message, prefix) = ((message, length), (prefix, prefix_length));
                let error =
                    $aggregate(&mut context, key, true, signature, true, NONE, message, prefix);
                if error != BLST_SUCCESS {
                    return error;
                }
                // The loop of the signature joins that of the key.
                context.commit();
                if context.verify(None) { BLST_SUCCESS } else { BLST_VERIFY_FAIL }
            }
        }
    };
}

contexts!(aggregate_keys_in_g1, blst_p1_affine, blst_p2_affine,
    blst_pairing_aggregate_pk_in_g1 blst_pairing_chk_n_aggr_pk_in_g1
    blst_pairing_mul_n_aggregate_pk_in_g1 blst_pairing_chk_n_mul_n_aggr_pk_in_g1
    blst_core_verify_pk_in_g1);

contexts!(aggregate_keys_in_g2, blst_p2_affine, blst_p1_affine,
    blst_pairing_aggregate_pk_in_g2 blst_pairing_chk_n_aggr_pk_in_g2
    blst_pairing_mul_n_aggregate_pk_in_g2 blst_pairing_chk_n_mul_n_aggr_pk_in_g2
    blst_core_verify_pk_in_g2);

exports! {
    fn blst_pairing_sizeof() -> usize {
        size_of::<Context>()
    }

    fn blst_pairing_init(context: *mut Context, uniform: c_bool, dst: *const u8, dst_length: usize) {
        let follows = dst == context.add(1).cast::<u8>().cast_const();
        let dst = if follows { FOLLOWS } else { dst };
        context.write(Context::new(uniform != 0, dst, dst_length));
    }

    fn blst_pairing_get_dst(context: *const Context) -> *const u8 {
        tag(context)
    }

    fn blst_pairing_commit(context: *mut Context) {
        (*context).commit();
    }

    fn blst_pairing_merge(context: *mut Context, other: *const Context) -> BLST_ERROR {
        let (context, other) = (&mut *context, &*other);
        let known = context.keys != Keys::Unknown && other.keys != Keys::Unknown;
        if (known && context.keys != other.keys) || context.waiting + other.waiting > 0 {
            return BLST_AGGR_TYPE_MISMATCH;
        }
        if context.keys == Keys::Unknown {
            context.keys = other.keys;
        }
        context.first = match (context.first, other.first) {
            (Some(a), Some(b)) => Some(raw::add_points::<First>(&a, &b)),
            (a, b) => a.or(b),
        };
        context.second = match (context.second, other.second) {
            (Some(a), Some(b)) => Some(raw::add_points::<Second>(&a, &b)),
            (a, b) => a.or(b),
        };
        if other.has_product {
            context.multiply(&other.product);
        }
        BLST_SUCCESS
    }

    fn blst_pairing_finalverify(context: *const Context, signature: *const blst_fp12) -> i32 {
        (*context).verify(signature.as_ref()).into()
    }

    fn blst_pairing_raw_aggregate(
        context: *mut Context, q: *const blst_p2_affine, p: *const blst_p1_affine,
    ) {
        if !(raw::is_infinity::<Second>(&*q) && raw::is_infinity::<First>(&*p)) {
            (*context).push(*p, *q);
        }
    }

    fn blst_pairing_as_fp12(context: *mut Context) -> *mut blst_fp12 {
        (*context).commit();
        &raw mut (*context).product
    }
}
