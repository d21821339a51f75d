//! Contexts that verify many signatures with one final exponentiation, and single verifications.

use cycloid::bls12_381::backend::{First, Pairing, Second};
use cycloid::bls12_381::{Cycloid, raw};

use crate::BLST_ERROR::{
    self, BLST_AGGR_TYPE_MISMATCH, BLST_PK_IS_INFINITY, BLST_POINT_NOT_IN_GROUP, BLST_SUCCESS,
    BLST_VERIFY_FAIL,
};
use crate::groups::{first, second};
use crate::memory::slice;
use crate::pairing::{are_equal_after_exponentiation, miller_loops};
use crate::weighted::{FirstSignatures, Scalar, SecondSignatures, WAITING, Weight, short};
use crate::{
    BLS12_381_G1, BLS12_381_G2, blst_fp12, blst_p1_affine, blst_p2_affine, c_bool, exports,
};

/// The group of the keys.
#[derive(Clone, Copy, PartialEq)]
#[repr(u32)]
enum Keys {
    Unknown,
    First,
    Second,
}

/// The work that a waiting pair still needs before its Miller loop.
#[derive(Clone, Copy)]
struct Pending {
    /// The point in G1 is multiplied by it.
    weight: Weight,
    /// The hash, in the group that the keys are not in, is computed from these bytes.
    uniform: Option<raw::Uniform>,
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
    first: FirstSignatures,
    second: SecondSignatures,
    p: [blst_p1_affine; WAITING],
    q: [blst_p2_affine; WAITING],
    pending: [Pending; WAITING],
}

// Callers align the memory for words.
const _: () = assert!(align_of::<Context>() == align_of::<u64>());

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
            first: FirstSignatures::new(),
            second: SecondSignatures::new(),
            p: [[[0; 6]; 2]; WAITING],
            q: [[[[0; 6]; 2]; 2]; WAITING],
            pending: [Pending { weight: Weight::default(), uniform: None }; WAITING],
        }
    }

    /// Returns the number of field elements of a hash.
    fn elements(&self) -> usize {
        if self.uniform { 2 } else { 1 }
    }

    fn multiply(&mut self, factor: &blst_fp12) {
        self.product =
            if self.has_product { Cycloid::fq12_mul(&self.product, factor) } else { *factor };
        self.has_product = true;
    }

    fn commit(&mut self) {
        self.first.commit();
        self.second.commit();
        if self.waiting > 0 {
            self.hash();
            self.weigh();
            let factor = miller_loops(self.waiting, |i| (&self.p[i], &self.q[i]));
            self.waiting = 0;
            self.multiply(&factor);
        }
    }

    /// Computes the hashes of the waiting pairs.
    fn hash(&mut self) {
        let (mut places, mut uniform) = ([0; WAITING], [[[0; 64]; 4]; WAITING]);
        let mut count = 0;
        for (place, pending) in self.pending[..self.waiting].iter_mut().enumerate() {
            if let Some(bytes) = pending.uniform.take() {
                (places[count], uniform[count]) = (place, bytes);
                count += 1;
            }
        }
        let (uniform, elements) = (&uniform[..count], self.elements());
        if self.keys == Keys::Second {
            raw::map_batch::<First>(uniform, elements, |i, point| self.p[places[i]] = point);
        } else {
            raw::map_batch::<Second>(uniform, elements, |i, point| self.q[places[i]] = point);
        }
    }

    /// Multiplies the points in G1 of the waiting pairs by their weights.
    fn weigh(&mut self) {
        let mut places = [0; WAITING];
        let mut inputs = [([[0; 6]; 2], 0, 0); WAITING];
        let mut count = 0;
        for (place, pending) in self.pending[..self.waiting].iter_mut().enumerate() {
            let weight = core::mem::take(&mut pending.weight);
            if weight.bits > 0 {
                inputs[count] = (self.p[place], weight.integer(), weight.bits);
                places[count] = place;
                count += 1;
            }
        }
        raw::multiply_batch::<First>(&inputs[..count], |i, point| self.p[places[i]] = point);
    }

    fn push(&mut self, p: blst_p1_affine, q: blst_p2_affine, pending: Pending) {
        self.p[self.waiting] = p;
        self.q[self.waiting] = q;
        self.pending[self.waiting] = pending;
        self.waiting += 1;
        if self.waiting == WAITING {
            self.commit();
        }
    }

    fn verify(&self, signature: Option<&blst_fp12>) -> bool {
        if !self.has_product {
            return false;
        }
        let (first, second) = (self.first.total(), self.second.total());
        let signature = match (signature, self.keys) {
            (Some(signature), _) => *signature,
            (None, Keys::First) => {
                let sum = second.map(|sum| second::to_affine(&sum)).unwrap_or_default();
                miller_loops(1, |_| (&BLS12_381_G1, &sum))
            }
            (None, Keys::Second) => {
                let sum = first.map(|sum| first::to_affine(&sum)).unwrap_or_default();
                miller_loops(1, |_| (&sum, &BLS12_381_G2))
            }
            (None, Keys::Unknown) if first.is_none() && second.is_none() => Cycloid::fq12_one(),
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

/// Adds a signature and a key with its message.
macro_rules! aggregate {
    ($name:ident, $keys:ident $other:ident, $Key:ty, $key:ty,
     $Signature:ty, $signature:ty, $module:ident,
     |$context:ident, $message:ident, $k:ident, $weight:ident| $push:block) => {
        /// # Safety
        /// As for [the crate](crate).
        unsafe fn $name(
            context: *mut Context,
            key: *const $key,
            check_key: bool,
            signature: *const $signature,
            check_signature: bool,
            $weight: Scalar,
            message: (*const u8, usize),
            prefix: (*const u8, usize),
        ) -> BLST_ERROR {
            // SAFETY: as the caller says.
            unsafe {
                let dst = slice(tag(context), (*context).dst_length);
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
                    match $weight.map(|scalar| (scalar, short(scalar))) {
                        None => $context.$module.add(&point),
                        Some((_, Some(weight))) => $context.$module.push(*signature, weight),
                        Some(((scalar, bits), None)) => {
                            $context.$module.add(&$module::multiply(&point, scalar, bits));
                        }
                    }
                }
                if key.is_null() {
                    return BLST_SUCCESS;
                }
                if raw::is_infinity::<$Key>(&*key) {
                    return BLST_PK_IS_INFINITY;
                }
                let $k = &*key;
                if check_key && !raw::is_in_group::<$Key>(&raw::from_affine::<$Key>($k)) {
                    return BLST_POINT_NOT_IN_GROUP;
                }
                let message = [slice(prefix.0, prefix.1), slice(message.0, message.1)];
                let elements = $context.elements();
                let $message = raw::expand_to_elements::<$Signature>(&message, dst, elements);
                $push
                BLST_SUCCESS
            }
        }
    };
}

aggregate!(aggregate_keys_in_g1, First Second, First, blst_p1_affine,
Second, blst_p2_affine, second, |context, uniform, key, scalar| {
    let (mut key, mut weight) = (*key, Weight::default());
    if let Some((scalar, bits)) = scalar {
        match short((scalar, bits)) {
            Some(short) => weight = short,
            None => {
                let point = raw::from_affine::<First>(&key);
                key = first::to_affine(&first::multiply(&point, scalar, bits));
            }
        }
    }
    context.push(key, Default::default(), Pending { weight, uniform: Some(uniform) });
});

aggregate!(aggregate_keys_in_g2, Second First, Second, blst_p2_affine,
First, blst_p1_affine, first, |context, uniform, key, scalar| {
    let (mut hash, mut pending) = (Default::default(), Pending {
        weight: Weight::default(),
        uniform: Some(uniform),
    });
    if let Some((scalar, bits)) = scalar {
        match short((scalar, bits)) {
            Some(short) => pending.weight = short,
            None => {
                raw::map_batch::<First>(&[uniform], context.elements(), |_, point| hash = point);
                pending.uniform = None;
                let product = first::multiply(&raw::from_affine::<First>(&hash), scalar, bits);
                hash = first::to_affine(&product);
            }
        }
    }
    context.push(hash, *key, pending);
});

const NONE: Scalar = (core::ptr::null(), 0);

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
        if let Some(sum) = other.first.total() {
            context.first.add(&sum);
        }
        if let Some(sum) = other.second.total() {
            context.second.add(&sum);
        }
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
            let pending = Pending { weight: Weight::default(), uniform: None };
            (*context).push(*p, *q, pending);
        }
    }

    fn blst_pairing_as_fp12(context: *mut Context) -> *mut blst_fp12 {
        (*context).commit();
        &raw mut (*context).product
    }
}
