//! AWS-LC, compiled in by `aws-lc-sys`.

use std::ffi::{c_char, c_int, c_long, c_uint, c_void};

use aws_lc_sys as aws;

use super::bn::{self, Montgomery, Number, Pool};
use super::evp::{self, Context, Hash, Key};
use super::ffdh::{self, Dh};
use super::{Library, dh, ec, modexp, rsa};
use crate::versions;

/// Defines functions that forward their arguments, with the opaque types renamed.
macro_rules! forward {
    ($($name:ident($($argument:ident: $type:ty),*) $(-> $result:ty)? = $call:expr;)*) => {$(
        unsafe extern "C" fn $name($($argument: $type),*) $(-> $result)? {
            // SAFETY: forwards to the same function of the library that created the arguments; the
            // caller upholds the conditions in that function's documentation.
            unsafe { $call }
        }
    )*};
}

mod curve25519;
mod curves;

pub(super) struct AwsLc;

impl Library for AwsLc {
    fn version(&self) -> String {
        let version = String::from_utf8_lossy(aws::AWSLC_VERSION_NUMBER_STRING);
        let version = version.trim_end_matches('\0');
        format!("{version} (aws-lc-sys {})", versions::AWS_LC_SYS)
    }

    fn modexp(&self, _modulus_bits: usize) -> Vec<modexp::Candidate> {
        let mut candidates = bn::candidates("AWS-LC", NUMBERS);
        candidates.push(bn::candidate_two(
            "AWS-LC",
            "BN_mod_exp_mont_consttime_x2",
            NUMBERS,
            mod_exp_consttime_two,
        ));
        candidates
    }

    fn rsa(&self, task: rsa::Task, _bits: usize) -> Vec<rsa::Candidate> {
        evp::candidates("AWS-LC", KEYS, task)
    }

    fn dh(&self, task: dh::Task, bits: usize) -> Vec<dh::Candidate> {
        ffdh::candidates("AWS-LC", GROUPS, task, bits)
    }

    fn ec(&self, task: ec::Task, curve: ec::Curve) -> Vec<ec::Candidate> {
        match curve {
            ec::Curve::Ed25519 => curve25519::ed25519(task),
            ec::Curve::X25519 => curve25519::x25519(task),
            _ => curves::candidates(NUMBERS, task, curve),
        }
    }
}

/// AWS-LC's functions with OpenSSL's types: lengths as `int`, and this crate's names for the opaque
/// types that both libraries share.
const NUMBERS: bn::Functions = bn::Functions {
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

/// The functions for keys.
const KEYS: evp::Functions = evp::Functions {
    d2i_auto_private_key,
    i2d_public_key,
    key_free,
    context_new,
    context_new_id,
    context_free,
    ctrl_str,
    sha256,
    set_signature_md,
    sign_init,
    sign,
    verify_init,
    verify,
    decrypt_init,
    decrypt,
    keygen_init,
    keygen,
};

/// The functions for Diffie-Hellman.
const GROUPS: ffdh::Functions = ffdh::Functions {
    numbers: NUMBERS,
    nid,
    new_by_nid: group_by_nid,
    new: group_new,
    free: group_free,
    set_group,
    set_length,
    set_key,
    public_value,
    generate,
    compute,
};

const fn nid(bits: usize) -> Option<c_int> {
    match bits {
        2048 => Some(aws::NID_ffdhe2048),
        3072 => Some(aws::NID_ffdhe3072),
        4096 => Some(aws::NID_ffdhe4096),
        8192 => Some(aws::NID_ffdhe8192),
        _ => None,
    }
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
    d2i_auto_private_key(out: *mut *mut Key, der: *mut *const u8, length: c_long) -> *mut Key =
        aws::d2i_AutoPrivateKey(out.cast(), der, length).cast();
    i2d_public_key(key: *const Key, out: *mut *mut u8) -> c_int =
        aws::i2d_PublicKey(key.cast(), out);
    key_free(key: *mut Key) = aws::EVP_PKEY_free(key.cast());
    context_new(key: *mut Key, engine: *mut c_void) -> *mut Context =
        aws::EVP_PKEY_CTX_new(key.cast(), engine.cast()).cast();
    context_new_id(id: c_int, engine: *mut c_void) -> *mut Context =
        aws::EVP_PKEY_CTX_new_id(id, engine.cast()).cast();
    context_free(context: *mut Context) = aws::EVP_PKEY_CTX_free(context.cast());
    ctrl_str(context: *mut Context, name: *const c_char, value: *const c_char) -> c_int =
        aws::EVP_PKEY_CTX_ctrl_str(context.cast(), name, value);
    sha256() -> *const Hash = aws::EVP_sha256().cast();
    set_signature_md(context: *mut Context, hash: *const Hash) -> c_int =
        aws::EVP_PKEY_CTX_set_signature_md(context.cast(), hash.cast());
    sign_init(context: *mut Context) -> c_int = aws::EVP_PKEY_sign_init(context.cast());
    sign(
        context: *mut Context,
        signature: *mut u8,
        length: *mut usize,
        digest: *const u8,
        digest_length: usize
    ) -> c_int =
        aws::EVP_PKEY_sign(context.cast(), signature, length, digest, digest_length);
    verify_init(context: *mut Context) -> c_int = aws::EVP_PKEY_verify_init(context.cast());
    verify(
        context: *mut Context,
        signature: *const u8,
        length: usize,
        digest: *const u8,
        digest_length: usize
    ) -> c_int =
        aws::EVP_PKEY_verify(context.cast(), signature, length, digest, digest_length);
    decrypt_init(context: *mut Context) -> c_int = aws::EVP_PKEY_decrypt_init(context.cast());
    decrypt(
        context: *mut Context,
        message: *mut u8,
        length: *mut usize,
        ciphertext: *const u8,
        ciphertext_length: usize
    ) -> c_int =
        aws::EVP_PKEY_decrypt(context.cast(), message, length, ciphertext, ciphertext_length);
    keygen_init(context: *mut Context) -> c_int = aws::EVP_PKEY_keygen_init(context.cast());
    keygen(context: *mut Context, key: *mut *mut Key) -> c_int =
        aws::EVP_PKEY_keygen(context.cast(), key.cast());
    group_by_nid(nid: c_int) -> *mut Dh = aws::DH_new_by_nid(nid).cast();
    group_new() -> *mut Dh = aws::DH_new().cast();
    group_free(dh: *mut Dh) = aws::DH_free(dh.cast());
    set_group(dh: *mut Dh, p: *mut Number, q: *mut Number, g: *mut Number) -> c_int =
        aws::DH_set0_pqg(dh.cast(), p.cast(), q.cast(), g.cast());
    set_length(dh: *mut Dh, bits: c_long) -> c_int =
        aws::DH_set_length(dh.cast(), bits as c_uint);
    set_key(dh: *mut Dh, public: *mut Number, exponent: *mut Number) -> c_int =
        aws::DH_set0_key(dh.cast(), public.cast(), exponent.cast());
    public_value(dh: *const Dh) -> *const Number = aws::DH_get0_pub_key(dh.cast()).cast();
    generate(dh: *mut Dh) -> c_int = aws::DH_generate_key(dh.cast());
    compute(shared: *mut u8, public: *const Number, dh: *mut Dh) -> c_int =
        aws::DH_compute_key_padded(shared, public.cast(), dh.cast());
}
