//! AWS-LC, compiled in by `aws-lc-sys`.

use std::ffi::c_int;

use aws_lc_sys as aws;

use super::Library;
use super::bn::{self, Functions, Montgomery, Number, Pool};
use super::modexp::Candidate;

pub(super) struct AwsLc;

impl Library for AwsLc {
    fn version(&self) -> String {
        let version = String::from_utf8_lossy(aws::AWSLC_VERSION_NUMBER_STRING);
        let version = version.trim_end_matches('\0');
        format!("{version} (aws-lc-sys {})", env!("CYCLOID_VERSION_AWS_LC_SYS"))
    }

    fn modexp(&self, _modulus_bits: usize) -> Vec<Candidate> {
        let mut candidates = bn::candidates("AWS-LC", FUNCTIONS);
        candidates.push(bn::candidate_two(
            "AWS-LC",
            "BN_mod_exp_mont_consttime_x2",
            FUNCTIONS,
            mod_exp_consttime_two,
        ));
        candidates
    }
}

/// AWS-LC's functions with OpenSSL's types: lengths of `int`, and names for the opaque types that
/// both libraries share.
const FUNCTIONS: Functions = Functions {
    number_new,
    number_free,
    bin2bn,
    bn2binpad,
    pool_new,
    pool_free,
    montgomery_new,
    montgomery_set,
    montgomery_free,
    mod_exp_consttime,
    mod_exp,
};

/// Defines functions that pass their arguments on, opaque types renamed.
macro_rules! forward {
    ($($name:ident($($argument:ident: $type:ty),*) $(-> $result:ty)? = $call:expr;)*) => {$(
        unsafe extern "C" fn $name($($argument: $type),*) $(-> $result)? {
            // SAFETY: the same function of the same library that made the arguments; the caller
            // vouches for them as that function's documentation demands.
            unsafe { $call }
        }
    )*};
}

forward! {
    number_new() -> *mut Number = aws::BN_new().cast();
    number_free(number: *mut Number) = aws::BN_free(number.cast());
    bin2bn(bytes: *const u8, length: c_int, out: *mut Number) -> *mut Number =
        aws::BN_bin2bn(bytes, length as usize, out.cast()).cast();
    bn2binpad(number: *const Number, out: *mut u8, length: c_int) -> c_int =
        aws::BN_bn2binpad(number.cast(), out, length);
    pool_new() -> *mut Pool = aws::BN_CTX_new().cast();
    pool_free(pool: *mut Pool) = aws::BN_CTX_free(pool.cast());
    montgomery_new() -> *mut Montgomery = aws::BN_MONT_CTX_new().cast();
    montgomery_set(montgomery: *mut Montgomery, modulus: *const Number, pool: *mut Pool) -> c_int =
        aws::BN_MONT_CTX_set(montgomery.cast(), modulus.cast(), pool.cast());
    montgomery_free(montgomery: *mut Montgomery) = aws::BN_MONT_CTX_free(montgomery.cast());
    mod_exp_consttime(
        result: *mut Number,
        base: *const Number,
        exponent: *const Number,
        modulus: *const Number,
        pool: *mut Pool,
        montgomery: *mut Montgomery
    ) -> c_int = aws::BN_mod_exp_mont_consttime(
        result.cast(),
        base.cast(),
        exponent.cast(),
        modulus.cast(),
        pool.cast(),
        montgomery.cast(),
    );
    mod_exp(
        result: *mut Number,
        base: *const Number,
        exponent: *const Number,
        modulus: *const Number,
        pool: *mut Pool,
        montgomery: *mut Montgomery
    ) -> c_int = aws::BN_mod_exp_mont(
        result.cast(),
        base.cast(),
        exponent.cast(),
        modulus.cast(),
        pool.cast(),
        montgomery.cast(),
    );
    mod_exp_consttime_two(
        result_1: *mut Number,
        base_1: *const Number,
        exponent_1: *const Number,
        modulus_1: *const Number,
        montgomery_1: *mut Montgomery,
        result_2: *mut Number,
        base_2: *const Number,
        exponent_2: *const Number,
        modulus_2: *const Number,
        montgomery_2: *mut Montgomery,
        pool: *mut Pool
    ) -> c_int = aws::BN_mod_exp_mont_consttime_x2(
        result_1.cast(),
        base_1.cast(),
        exponent_1.cast(),
        modulus_1.cast(),
        montgomery_1.cast(),
        result_2.cast(),
        base_2.cast(),
        exponent_2.cast(),
        modulus_2.cast(),
        montgomery_2.cast(),
        pool.cast(),
    );
}
