//! Mechanisms: their numbers and parameters, and the list that the daemon supports.

mod hash;
mod legacy;
mod parameter;

pub use hash::Hash;
pub use legacy::{SHORTEST_RSA_KEY, all_offered_under, offered_under, weak_use};
pub use parameter::{KeyDerivationField, Parameter};

use crate::attribute::ckk;
use crate::numbers::numbers;

macro_rules! mechanisms {
    ($($name:ident = $value:expr,)*) => {
        numbers! {
            /// Numbers of mechanisms, `CKM_…` (PKCS #11 3.0).
            ckm:
            $($name = $value,)*
        }

        /// Returns a mechanism's name in the standard, without `CKM_`.
        pub const fn name(number: u32) -> Option<&'static str> {
            match number {
                $(ckm::$name => Some(stringify!($name)),)*
                _ => None,
            }
        }
    };
}

mechanisms! {
    RSA_PKCS_KEY_PAIR_GEN = CKM_RSA_PKCS_KEY_PAIR_GEN,
    RSA_PKCS = CKM_RSA_PKCS,
    RSA_X_509 = CKM_RSA_X_509,
    SHA1_RSA_PKCS = CKM_SHA1_RSA_PKCS,
    RSA_PKCS_OAEP = CKM_RSA_PKCS_OAEP,
    RSA_PKCS_PSS = CKM_RSA_PKCS_PSS,
    SHA1_RSA_PKCS_PSS = CKM_SHA1_RSA_PKCS_PSS,
    DH_PKCS_KEY_PAIR_GEN = CKM_DH_PKCS_KEY_PAIR_GEN,
    DH_PKCS_DERIVE = CKM_DH_PKCS_DERIVE,
    SHA256_RSA_PKCS = CKM_SHA256_RSA_PKCS,
    SHA384_RSA_PKCS = CKM_SHA384_RSA_PKCS,
    SHA512_RSA_PKCS = CKM_SHA512_RSA_PKCS,
    SHA256_RSA_PKCS_PSS = CKM_SHA256_RSA_PKCS_PSS,
    SHA384_RSA_PKCS_PSS = CKM_SHA384_RSA_PKCS_PSS,
    SHA512_RSA_PKCS_PSS = CKM_SHA512_RSA_PKCS_PSS,
    SHA224_RSA_PKCS = CKM_SHA224_RSA_PKCS,
    SHA224_RSA_PKCS_PSS = CKM_SHA224_RSA_PKCS_PSS,
    SHA3_256_RSA_PKCS = CKM_SHA3_256_RSA_PKCS,
    SHA3_384_RSA_PKCS = CKM_SHA3_384_RSA_PKCS,
    SHA3_512_RSA_PKCS = CKM_SHA3_512_RSA_PKCS,
    SHA3_256_RSA_PKCS_PSS = CKM_SHA3_256_RSA_PKCS_PSS,
    SHA3_384_RSA_PKCS_PSS = CKM_SHA3_384_RSA_PKCS_PSS,
    SHA3_512_RSA_PKCS_PSS = CKM_SHA3_512_RSA_PKCS_PSS,
    SHA3_224_RSA_PKCS = CKM_SHA3_224_RSA_PKCS,
    SHA3_224_RSA_PKCS_PSS = CKM_SHA3_224_RSA_PKCS_PSS,
    SHA_1 = CKM_SHA_1,
    SHA_1_HMAC = CKM_SHA_1_HMAC,
    SHA_1_HMAC_GENERAL = CKM_SHA_1_HMAC_GENERAL,
    SHA256 = CKM_SHA256,
    SHA256_HMAC = CKM_SHA256_HMAC,
    SHA256_HMAC_GENERAL = CKM_SHA256_HMAC_GENERAL,
    SHA224 = CKM_SHA224,
    SHA224_HMAC = CKM_SHA224_HMAC,
    SHA224_HMAC_GENERAL = CKM_SHA224_HMAC_GENERAL,
    SHA384 = CKM_SHA384,
    SHA384_HMAC = CKM_SHA384_HMAC,
    SHA384_HMAC_GENERAL = CKM_SHA384_HMAC_GENERAL,
    SHA512 = CKM_SHA512,
    SHA512_HMAC = CKM_SHA512_HMAC,
    SHA512_HMAC_GENERAL = CKM_SHA512_HMAC_GENERAL,
    SHA_1_KEY_GEN = CKM_SHA_1_KEY_GEN,
    SHA224_KEY_GEN = CKM_SHA224_KEY_GEN,
    SHA256_KEY_GEN = CKM_SHA256_KEY_GEN,
    SHA384_KEY_GEN = CKM_SHA384_KEY_GEN,
    SHA512_KEY_GEN = CKM_SHA512_KEY_GEN,
    SHA3_256 = CKM_SHA3_256,
    SHA3_256_HMAC = CKM_SHA3_256_HMAC,
    SHA3_256_HMAC_GENERAL = CKM_SHA3_256_HMAC_GENERAL,
    SHA3_256_KEY_GEN = CKM_SHA3_256_KEY_GEN,
    SHA3_224 = CKM_SHA3_224,
    SHA3_224_HMAC = CKM_SHA3_224_HMAC,
    SHA3_224_HMAC_GENERAL = CKM_SHA3_224_HMAC_GENERAL,
    SHA3_224_KEY_GEN = CKM_SHA3_224_KEY_GEN,
    SHA3_384 = CKM_SHA3_384,
    SHA3_384_HMAC = CKM_SHA3_384_HMAC,
    SHA3_384_HMAC_GENERAL = CKM_SHA3_384_HMAC_GENERAL,
    SHA3_384_KEY_GEN = CKM_SHA3_384_KEY_GEN,
    SHA3_512 = CKM_SHA3_512,
    SHA3_512_HMAC = CKM_SHA3_512_HMAC,
    SHA3_512_HMAC_GENERAL = CKM_SHA3_512_HMAC_GENERAL,
    SHA3_512_KEY_GEN = CKM_SHA3_512_KEY_GEN,
    GENERIC_SECRET_KEY_GEN = CKM_GENERIC_SECRET_KEY_GEN,
    SP800_108_COUNTER_KDF = CKM_SP800_108_COUNTER_KDF,
    SP800_108_FEEDBACK_KDF = CKM_SP800_108_FEEDBACK_KDF,
    PKCS5_PBKD2 = CKM_PKCS5_PBKD2,
    EC_KEY_PAIR_GEN = CKM_EC_KEY_PAIR_GEN,
    ECDSA = CKM_ECDSA,
    ECDSA_SHA1 = CKM_ECDSA_SHA1,
    ECDSA_SHA224 = CKM_ECDSA_SHA224,
    ECDSA_SHA256 = CKM_ECDSA_SHA256,
    ECDSA_SHA384 = CKM_ECDSA_SHA384,
    ECDSA_SHA512 = CKM_ECDSA_SHA512,
    ECDSA_SHA3_224 = CKM_ECDSA_SHA3_224,
    ECDSA_SHA3_256 = CKM_ECDSA_SHA3_256,
    ECDSA_SHA3_384 = CKM_ECDSA_SHA3_384,
    ECDSA_SHA3_512 = CKM_ECDSA_SHA3_512,
    ECDH1_DERIVE = CKM_ECDH1_DERIVE,
    ECDH1_COFACTOR_DERIVE = CKM_ECDH1_COFACTOR_DERIVE,
    RSA_AES_KEY_WRAP = CKM_RSA_AES_KEY_WRAP,
    EC_EDWARDS_KEY_PAIR_GEN = CKM_EC_EDWARDS_KEY_PAIR_GEN,
    EC_MONTGOMERY_KEY_PAIR_GEN = CKM_EC_MONTGOMERY_KEY_PAIR_GEN,
    EDDSA = CKM_EDDSA,
    AES_KEY_GEN = CKM_AES_KEY_GEN,
    AES_ECB = CKM_AES_ECB,
    AES_CBC = CKM_AES_CBC,
    AES_CBC_PAD = CKM_AES_CBC_PAD,
    AES_CTR = CKM_AES_CTR,
    AES_GCM = CKM_AES_GCM,
    AES_CCM = CKM_AES_CCM,
    AES_CMAC = CKM_AES_CMAC,
    AES_CMAC_GENERAL = CKM_AES_CMAC_GENERAL,
    AES_GMAC = CKM_AES_GMAC,
    AES_ECB_ENCRYPT_DATA = CKM_AES_ECB_ENCRYPT_DATA,
    AES_CBC_ENCRYPT_DATA = CKM_AES_CBC_ENCRYPT_DATA,
    AES_KEY_WRAP = CKM_AES_KEY_WRAP,
    AES_KEY_WRAP_PAD = CKM_AES_KEY_WRAP_PAD,
    AES_KEY_WRAP_KWP = CKM_AES_KEY_WRAP_KWP,
    HKDF_DERIVE = CKM_HKDF_DERIVE,
    HKDF_DATA = CKM_HKDF_DATA,
    HKDF_KEY_GEN = CKM_HKDF_KEY_GEN,
    BLS12_381_KEY_PAIR_GEN = 0x8359_4301,
    BLS12_381_SIGN = 0x8359_4302,
}

numbers! {
    /// Mask generation functions, `CKG_MGF1_…`.
    ckg:
    MGF1_SHA1 = CKG_MGF1_SHA1,
    MGF1_SHA256 = CKG_MGF1_SHA256,
    MGF1_SHA384 = CKG_MGF1_SHA384,
    MGF1_SHA512 = CKG_MGF1_SHA512,
    MGF1_SHA224 = CKG_MGF1_SHA224,
    MGF1_SHA3_224 = CKG_MGF1_SHA3_224,
    MGF1_SHA3_256 = CKG_MGF1_SHA3_256,
    MGF1_SHA3_384 = CKG_MGF1_SHA3_384,
    MGF1_SHA3_512 = CKG_MGF1_SHA3_512,
}

numbers! {
    /// Key derivation functions after a key agreement, `CKD_…`.
    ckd:
    NULL = CKD_NULL,
    SHA1_KDF = CKD_SHA1_KDF,
    SHA224_KDF = CKD_SHA224_KDF,
    SHA256_KDF = CKD_SHA256_KDF,
    SHA384_KDF = CKD_SHA384_KDF,
    SHA512_KDF = CKD_SHA512_KDF,
    SHA3_224_KDF = CKD_SHA3_224_KDF,
    SHA3_256_KDF = CKD_SHA3_256_KDF,
    SHA3_384_KDF = CKD_SHA3_384_KDF,
    SHA3_512_KDF = CKD_SHA3_512_KDF,
}

numbers! {
    /// Pseudorandom functions of PBKDF2, `CKP_PKCS5_PBKD2_HMAC_…`.
    ckp:
    SHA1 = CKP_PKCS5_PBKD2_HMAC_SHA1,
    SHA224 = CKP_PKCS5_PBKD2_HMAC_SHA224,
    SHA256 = CKP_PKCS5_PBKD2_HMAC_SHA256,
    SHA384 = CKP_PKCS5_PBKD2_HMAC_SHA384,
    SHA512 = CKP_PKCS5_PBKD2_HMAC_SHA512,
}

numbers! {
    /// Flags for the uses of a mechanism, `CKF_…`.
    ckf:
    ENCRYPT = CKF_ENCRYPT,
    DECRYPT = CKF_DECRYPT,
    DIGEST = CKF_DIGEST,
    SIGN = CKF_SIGN,
    VERIFY = CKF_VERIFY,
    GENERATE = CKF_GENERATE,
    GENERATE_KEY_PAIR = CKF_GENERATE_KEY_PAIR,
    WRAP = CKF_WRAP,
    UNWRAP = CKF_UNWRAP,
    DERIVE = CKF_DERIVE,
    EC_F_P = CKF_EC_F_P,
    EC_NAMEDCURVE = CKF_EC_NAMEDCURVE,
    EC_UNCOMPRESS = CKF_EC_UNCOMPRESS,
    EC_CURVENAME = CKF_EC_CURVENAME,
}

/// A supported mechanism.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Offered {
    /// `CKM_…`.
    pub number: u32,
    /// The type of its keys, `CKK_…`; `None` for digests.
    pub key_type: Option<u32>,
    /// The smallest and the largest key: bits for RSA, Diffie-Hellman and curves, otherwise bytes;
    /// 0 for digests.
    pub sizes: (u32, u32),
    /// Its uses, `CKF_…`.
    pub flags: u32,
}

/// All mechanisms that are supported without any permission of the security officer, in the order
/// of their numbers; [`all_offered_under`] has those under a permission.
pub const OFFERED: &[Offered] = &{
    use ckf::*;
    use ckm::*;

    const fn one(number: u32, key_type: u32, sizes: (u32, u32), flags: u32) -> Offered {
        Offered { number, key_type: Some(key_type), sizes, flags }
    }
    const fn digest(number: u32) -> Offered {
        Offered { number, key_type: None, sizes: (0, 0), flags: DIGEST }
    }
    const fn rsa(number: u32, flags: u32) -> Offered {
        one(number, ckk::RSA, (2048, 4096), flags)
    }
    const fn dh(number: u32, flags: u32) -> Offered {
        one(number, ckk::DH, (2048, 8192), flags)
    }
    const CURVE: u32 = EC_F_P | EC_NAMEDCURVE | EC_UNCOMPRESS;
    const fn ec(number: u32, flags: u32) -> Offered {
        one(number, ckk::EC, (192, 521), flags | CURVE)
    }
    const fn secret(number: u32, flags: u32) -> Offered {
        one(number, ckk::GENERIC_SECRET, (16, 512), flags)
    }
    const fn aes(number: u32, flags: u32) -> Offered {
        one(number, ckk::AES, (16, 32), flags)
    }
    const BOTH: u32 = SIGN | VERIFY;
    const CRYPT: u32 = ENCRYPT | DECRYPT;
    const WRAPS: u32 = WRAP | UNWRAP;

    [
        rsa(RSA_PKCS_KEY_PAIR_GEN, GENERATE_KEY_PAIR),
        rsa(RSA_PKCS, BOTH | CRYPT | WRAPS),
        rsa(SHA1_RSA_PKCS, VERIFY),
        rsa(RSA_PKCS_OAEP, CRYPT | WRAPS),
        rsa(RSA_PKCS_PSS, BOTH),
        rsa(SHA1_RSA_PKCS_PSS, VERIFY),
        dh(DH_PKCS_KEY_PAIR_GEN, GENERATE_KEY_PAIR),
        dh(DH_PKCS_DERIVE, DERIVE),
        rsa(SHA256_RSA_PKCS, BOTH),
        rsa(SHA384_RSA_PKCS, BOTH),
        rsa(SHA512_RSA_PKCS, BOTH),
        rsa(SHA256_RSA_PKCS_PSS, BOTH),
        rsa(SHA384_RSA_PKCS_PSS, BOTH),
        rsa(SHA512_RSA_PKCS_PSS, BOTH),
        rsa(SHA224_RSA_PKCS, BOTH),
        rsa(SHA224_RSA_PKCS_PSS, BOTH),
        rsa(SHA3_256_RSA_PKCS, BOTH),
        rsa(SHA3_384_RSA_PKCS, BOTH),
        rsa(SHA3_512_RSA_PKCS, BOTH),
        rsa(SHA3_256_RSA_PKCS_PSS, BOTH),
        rsa(SHA3_384_RSA_PKCS_PSS, BOTH),
        rsa(SHA3_512_RSA_PKCS_PSS, BOTH),
        rsa(SHA3_224_RSA_PKCS, BOTH),
        rsa(SHA3_224_RSA_PKCS_PSS, BOTH),
        digest(SHA_1),
        secret(SHA_1_HMAC, BOTH),
        secret(SHA_1_HMAC_GENERAL, BOTH),
        digest(SHA256),
        secret(SHA256_HMAC, BOTH),
        secret(SHA256_HMAC_GENERAL, BOTH),
        digest(SHA224),
        secret(SHA224_HMAC, BOTH),
        secret(SHA224_HMAC_GENERAL, BOTH),
        digest(SHA384),
        secret(SHA384_HMAC, BOTH),
        secret(SHA384_HMAC_GENERAL, BOTH),
        digest(SHA512),
        secret(SHA512_HMAC, BOTH),
        secret(SHA512_HMAC_GENERAL, BOTH),
        digest(SHA3_256),
        secret(SHA3_256_HMAC, BOTH),
        secret(SHA3_256_HMAC_GENERAL, BOTH),
        secret(SHA3_256_KEY_GEN, GENERATE),
        digest(SHA3_224),
        secret(SHA3_224_HMAC, BOTH),
        secret(SHA3_224_HMAC_GENERAL, BOTH),
        secret(SHA3_224_KEY_GEN, GENERATE),
        digest(SHA3_384),
        secret(SHA3_384_HMAC, BOTH),
        secret(SHA3_384_HMAC_GENERAL, BOTH),
        secret(SHA3_384_KEY_GEN, GENERATE),
        digest(SHA3_512),
        secret(SHA3_512_HMAC, BOTH),
        secret(SHA3_512_HMAC_GENERAL, BOTH),
        secret(SHA3_512_KEY_GEN, GENERATE),
        secret(GENERIC_SECRET_KEY_GEN, GENERATE),
        secret(SP800_108_COUNTER_KDF, DERIVE),
        secret(SP800_108_FEEDBACK_KDF, DERIVE),
        secret(PKCS5_PBKD2, GENERATE),
        ec(EC_KEY_PAIR_GEN, GENERATE_KEY_PAIR),
        ec(ECDSA, BOTH),
        ec(ECDSA_SHA1, VERIFY),
        ec(ECDSA_SHA224, BOTH),
        ec(ECDSA_SHA256, BOTH),
        ec(ECDSA_SHA384, BOTH),
        ec(ECDSA_SHA512, BOTH),
        ec(ECDSA_SHA3_224, BOTH),
        ec(ECDSA_SHA3_256, BOTH),
        ec(ECDSA_SHA3_384, BOTH),
        ec(ECDSA_SHA3_512, BOTH),
        ec(ECDH1_DERIVE, DERIVE),
        ec(ECDH1_COFACTOR_DERIVE, DERIVE),
        rsa(RSA_AES_KEY_WRAP, WRAPS),
        one(EC_EDWARDS_KEY_PAIR_GEN, ckk::EC_EDWARDS, (255, 448), GENERATE_KEY_PAIR | EC_CURVENAME),
        one(
            EC_MONTGOMERY_KEY_PAIR_GEN,
            ckk::EC_MONTGOMERY,
            (255, 255),
            GENERATE_KEY_PAIR | EC_CURVENAME,
        ),
        one(EDDSA, ckk::EC_EDWARDS, (255, 448), BOTH | EC_CURVENAME),
        aes(AES_KEY_GEN, GENERATE),
        aes(AES_ECB, CRYPT),
        aes(AES_CBC, CRYPT),
        aes(AES_CBC_PAD, CRYPT),
        aes(AES_CTR, CRYPT),
        aes(AES_GCM, CRYPT),
        aes(AES_CCM, CRYPT),
        aes(AES_CMAC, BOTH),
        aes(AES_CMAC_GENERAL, BOTH),
        aes(AES_GMAC, BOTH),
        aes(AES_ECB_ENCRYPT_DATA, DERIVE),
        aes(AES_CBC_ENCRYPT_DATA, DERIVE),
        aes(AES_KEY_WRAP, WRAPS),
        aes(AES_KEY_WRAP_PAD, WRAPS),
        aes(AES_KEY_WRAP_KWP, WRAPS),
        secret(SHA_1_KEY_GEN, GENERATE),
        secret(SHA224_KEY_GEN, GENERATE),
        secret(SHA256_KEY_GEN, GENERATE),
        secret(SHA384_KEY_GEN, GENERATE),
        secret(SHA512_KEY_GEN, GENERATE),
        secret(HKDF_DERIVE, DERIVE),
        secret(HKDF_DATA, DERIVE),
        secret(HKDF_KEY_GEN, GENERATE),
        one(BLS12_381_KEY_PAIR_GEN, ckk::BLS12_381, (255, 255), GENERATE_KEY_PAIR),
        one(BLS12_381_SIGN, ckk::BLS12_381, (255, 255), BOTH),
    ]
};

/// Returns whether a mechanism signs by RSASSA-PSS.
pub const fn is_pss(number: u32) -> bool {
    matches!(
        number,
        ckm::RSA_PKCS_PSS
            | ckm::SHA1_RSA_PKCS_PSS
            | ckm::SHA224_RSA_PKCS_PSS
            | ckm::SHA256_RSA_PKCS_PSS
            | ckm::SHA384_RSA_PKCS_PSS
            | ckm::SHA512_RSA_PKCS_PSS
            | ckm::SHA3_224_RSA_PKCS_PSS
            | ckm::SHA3_256_RSA_PKCS_PSS
            | ckm::SHA3_384_RSA_PKCS_PSS
            | ckm::SHA3_512_RSA_PKCS_PSS
    )
}

/// Returns the mechanism, if it is supported without any permission of the security officer.
pub fn offered(number: u32) -> Option<&'static Offered> {
    OFFERED.iter().find(|offered| offered.number == number)
}
