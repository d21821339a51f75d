//! OpenSSL: libcrypto, loaded at run time: the system's, or that of a build the user names.

use std::ffi::{CStr, c_char, c_int};

use super::system_library::{lacks, load_named_library, load_system_library};
use super::{Library, Peer, bn, dh, ec, ec_key, evp, evp_raw, ffdh, modexp, rsa, source};
use crate::record::Missing;

const FILES: [&str; 1] = ["libcrypto.so.3"];
const PACKAGE: &str = "libssl3";

struct OpenSsl {
    version: String,
    numbers: bn::Functions,
    keys: evp::Functions,
    groups: ffdh::Functions,
    curves: ec_key::Functions,
    raw: evp_raw::Functions,
}

pub(super) fn load() -> Result<Box<dyn Library>, Missing> {
    let library = match source::file(Peer::OpenSsl) {
        Some(file) => load_named_library(&file)?,
        None => load_system_library(&FILES, PACKAGE)?,
    };
    macro_rules! function {
        ($symbol:literal) => {
            // SAFETY: the type is that of the symbol's manual page, with other names for the opaque
            // types.
            *unsafe { library.get($symbol) }.map_err(|_| lacks($symbol, PACKAGE))?
        };
    }
    let version: unsafe extern "C" fn(c_int) -> *const c_char = function!("OpenSSL_version");
    // SAFETY: returns a string that lives as long as the library.
    let version = unsafe { CStr::from_ptr(version(0)) };
    let numbers = bn::Functions {
        number_new: function!("BN_new"),
        number_free: function!("BN_free"),
        bin2bn: function!("BN_bin2bn"),
        bn2binpad: function!("BN_bn2binpad"),
        pool_new: function!("BN_CTX_new"),
        pool_free: function!("BN_CTX_free"),
        montgomery_new: function!("BN_MONT_CTX_new"),
        montgomery_set: function!("BN_MONT_CTX_set"),
        montgomery_free: function!("BN_MONT_CTX_free"),
        mod_exp_consttime: function!("BN_mod_exp_mont_consttime"),
        mod_exp: function!("BN_mod_exp_mont"),
    };
    Ok(Box::new(OpenSsl {
        version: version.to_string_lossy().trim_start_matches("OpenSSL ").into(),
        numbers,
        keys: evp::Functions {
            d2i_auto_private_key: function!("d2i_AutoPrivateKey"),
            i2d_public_key: function!("i2d_PublicKey"),
            key_free: function!("EVP_PKEY_free"),
            context_new: function!("EVP_PKEY_CTX_new"),
            context_new_id: function!("EVP_PKEY_CTX_new_id"),
            context_free: function!("EVP_PKEY_CTX_free"),
            ctrl_str: function!("EVP_PKEY_CTX_ctrl_str"),
            sha256: function!("EVP_sha256"),
            set_signature_md: function!("EVP_PKEY_CTX_set_signature_md"),
            sign_init: function!("EVP_PKEY_sign_init"),
            sign: function!("EVP_PKEY_sign"),
            verify_init: function!("EVP_PKEY_verify_init"),
            verify: function!("EVP_PKEY_verify"),
            decrypt_init: function!("EVP_PKEY_decrypt_init"),
            decrypt: function!("EVP_PKEY_decrypt"),
            keygen_init: function!("EVP_PKEY_keygen_init"),
            keygen: function!("EVP_PKEY_keygen"),
        },
        groups: ffdh::Functions {
            numbers,
            nid,
            new_by_nid: function!("DH_new_by_nid"),
            new: function!("DH_new"),
            free: function!("DH_free"),
            set_group: function!("DH_set0_pqg"),
            set_length: function!("DH_set_length"),
            set_key: function!("DH_set0_key"),
            public_value: function!("DH_get0_pub_key"),
            generate: function!("DH_generate_key"),
            compute: function!("DH_compute_key_padded"),
        },
        curves: ec_key::Functions {
            numbers,
            new_by_nid: function!("EC_KEY_new_by_curve_name"),
            free: function!("EC_KEY_free"),
            group: function!("EC_KEY_get0_group"),
            set_private: function!("EC_KEY_set_private_key"),
            set_public: function!("EC_KEY_set_public_key"),
            public: function!("EC_KEY_get0_public_key"),
            generate: function!("EC_KEY_generate_key"),
            point_new: function!("EC_POINT_new"),
            point_free: function!("EC_POINT_free"),
            point_read: function!("EC_POINT_oct2point"),
            point_write: function!("EC_POINT_point2oct"),
            sign: function!("ECDSA_sign"),
            verify: function!("ECDSA_verify"),
            agree: function!("ECDH_compute_key"),
        },
        raw: evp_raw::Functions {
            new_private: function!("EVP_PKEY_new_raw_private_key"),
            new_public: function!("EVP_PKEY_new_raw_public_key"),
            public: function!("EVP_PKEY_get_raw_public_key"),
            key_free: function!("EVP_PKEY_free"),
            digest_new: function!("EVP_MD_CTX_new"),
            digest_free: function!("EVP_MD_CTX_free"),
            sign_init: function!("EVP_DigestSignInit"),
            sign: function!("EVP_DigestSign"),
            verify_init: function!("EVP_DigestVerifyInit"),
            verify: function!("EVP_DigestVerify"),
            context_new: function!("EVP_PKEY_CTX_new"),
            context_new_id: function!("EVP_PKEY_CTX_new_id"),
            context_free: function!("EVP_PKEY_CTX_free"),
            derive_init: function!("EVP_PKEY_derive_init"),
            derive_peer: function!("EVP_PKEY_derive_set_peer"),
            derive: function!("EVP_PKEY_derive"),
            keygen_init: function!("EVP_PKEY_keygen_init"),
            keygen: function!("EVP_PKEY_keygen"),
        },
    }))
}

impl Library for OpenSsl {
    fn version(&self) -> String {
        self.version.clone()
    }

    fn modexp(&self, _modulus_bits: usize) -> Vec<modexp::Candidate> {
        bn::candidates("OpenSSL", self.numbers)
    }

    fn rsa(&self, task: rsa::Task, _bits: usize) -> Vec<rsa::Candidate> {
        evp::candidates("OpenSSL", self.keys, task)
    }

    fn dh(&self, task: dh::Task, bits: usize) -> Vec<dh::Candidate> {
        ffdh::candidates("OpenSSL", self.groups, task, bits)
    }

    fn ec(&self, task: ec::Task, curve: ec::Curve) -> Vec<ec::Candidate> {
        let mut candidates = ec_key::candidates(self.curves, task, curve);
        candidates.extend(evp_raw::candidates(self.raw, task, curve));
        candidates
    }
}

const fn nid(bits: usize) -> Option<c_int> {
    match bits {
        2048 => Some(1126),
        3072 => Some(1127),
        4096 => Some(1128),
        6144 => Some(1129),
        8192 => Some(1130),
        _ => None,
    }
}
