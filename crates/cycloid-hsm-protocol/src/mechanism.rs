//! Mechanisms: their numbers and parameters, and the list that the daemon supports.

use minicbor::{Decode, Encode};

use crate::attribute::ckk;
use crate::numbers::numbers;
use crate::rpc::Bytes;

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
    SHA1_RSA_PKCS = CKM_SHA1_RSA_PKCS,
    RSA_PKCS_OAEP = CKM_RSA_PKCS_OAEP,
    RSA_PKCS_PSS = CKM_RSA_PKCS_PSS,
    SHA1_RSA_PKCS_PSS = CKM_SHA1_RSA_PKCS_PSS,
    SHA256_RSA_PKCS = CKM_SHA256_RSA_PKCS,
    SHA384_RSA_PKCS = CKM_SHA384_RSA_PKCS,
    SHA512_RSA_PKCS = CKM_SHA512_RSA_PKCS,
    SHA256_RSA_PKCS_PSS = CKM_SHA256_RSA_PKCS_PSS,
    SHA384_RSA_PKCS_PSS = CKM_SHA384_RSA_PKCS_PSS,
    SHA512_RSA_PKCS_PSS = CKM_SHA512_RSA_PKCS_PSS,
    SHA224_RSA_PKCS = CKM_SHA224_RSA_PKCS,
    SHA224_RSA_PKCS_PSS = CKM_SHA224_RSA_PKCS_PSS,
    SHA_1 = CKM_SHA_1,
    SHA_1_HMAC = CKM_SHA_1_HMAC,
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
    GENERIC_SECRET_KEY_GEN = CKM_GENERIC_SECRET_KEY_GEN,
    EC_KEY_PAIR_GEN = CKM_EC_KEY_PAIR_GEN,
    ECDSA = CKM_ECDSA,
    ECDSA_SHA1 = CKM_ECDSA_SHA1,
    ECDSA_SHA224 = CKM_ECDSA_SHA224,
    ECDSA_SHA256 = CKM_ECDSA_SHA256,
    ECDSA_SHA384 = CKM_ECDSA_SHA384,
    ECDSA_SHA512 = CKM_ECDSA_SHA512,
    ECDH1_DERIVE = CKM_ECDH1_DERIVE,
    ECDH1_COFACTOR_DERIVE = CKM_ECDH1_COFACTOR_DERIVE,
    EC_EDWARDS_KEY_PAIR_GEN = CKM_EC_EDWARDS_KEY_PAIR_GEN,
    EC_MONTGOMERY_KEY_PAIR_GEN = CKM_EC_MONTGOMERY_KEY_PAIR_GEN,
    EDDSA = CKM_EDDSA,
    AES_KEY_GEN = CKM_AES_KEY_GEN,
    AES_CBC = CKM_AES_CBC,
    AES_CBC_PAD = CKM_AES_CBC_PAD,
    AES_GCM = CKM_AES_GCM,
    AES_KEY_WRAP = CKM_AES_KEY_WRAP,
    AES_KEY_WRAP_PAD = CKM_AES_KEY_WRAP_PAD,
    AES_KEY_WRAP_KWP = CKM_AES_KEY_WRAP_KWP,
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
}

/// A mechanism's parameter.
#[derive(Clone, Debug, PartialEq, Eq, Default, Encode, Decode)]
#[cbor(flat)]
pub enum Parameter {
    /// No parameter.
    #[default]
    #[n(0)]
    None,
    /// For RSASSA-PSS: hash (`CKM_…`), mask generation (`CKG_…`), length of the salt in bytes.
    #[n(1)]
    Pss {
        /// `CKM_SHA…`.
        #[n(0)]
        hash: u32,
        /// `CKG_MGF1_…`.
        #[n(1)]
        mask: u32,
        /// Bytes.
        #[n(2)]
        salt_length: u32,
    },
    /// For RSAES-OAEP: hash (`CKM_…`), mask generation (`CKG_…`), label.
    #[n(2)]
    Oaep {
        /// `CKM_SHA…`.
        #[n(0)]
        hash: u32,
        /// `CKG_MGF1_…`.
        #[n(1)]
        mask: u32,
        /// The label, often empty.
        #[n(2)]
        label: Bytes,
    },
    /// For AES-GCM: initialisation vector, associated data, length of the tag in bits.
    #[n(3)]
    Gcm {
        /// 12 bytes.
        #[n(0)]
        iv: Bytes,
        /// Authenticated but not encrypted.
        #[n(1)]
        associated: Bytes,
        /// 96 to 128.
        #[n(2)]
        tag_bits: u32,
    },
    /// An initialisation vector.
    #[n(4)]
    Iv(#[n(0)] Bytes),
    /// For ECDH: derivation (`CKD_…`), shared information, the peer's public key.
    #[n(5)]
    Ecdh {
        /// `CKD_…`.
        #[n(0)]
        derivation: u32,
        /// The input of the derivation that both sides share.
        #[n(1)]
        shared: Bytes,
        /// An encoded point, or the 32 bytes of an X25519 key.
        #[n(2)]
        public: Bytes,
    },
    /// For EdDSA: whether the data is prehashed, and a context.
    #[n(6)]
    EdDsa {
        /// Whether this is Ed25519ph.
        #[n(0)]
        prehashed: bool,
        /// At most 255 bytes; a non-empty one makes it Ed25519ctx.
        #[n(1)]
        context: Bytes,
    },
    /// The length of an HMAC in bytes.
    #[n(7)]
    Length(#[n(0)] u32),
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
    /// The smallest and the largest key: bits for RSA and curves, otherwise bytes; 0 for digests.
    pub sizes: (u32, u32),
    /// Its uses, `CKF_…`.
    pub flags: u32,
}

/// All supported mechanisms, in the order of their numbers.
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
    const CURVE: u32 = EC_F_P | EC_NAMEDCURVE | EC_UNCOMPRESS;
    const fn ec(number: u32, flags: u32) -> Offered {
        one(number, ckk::EC, (224, 521), flags | CURVE)
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
        rsa(RSA_PKCS, BOTH | CRYPT),
        rsa(SHA1_RSA_PKCS, VERIFY),
        rsa(RSA_PKCS_OAEP, CRYPT | WRAPS),
        rsa(RSA_PKCS_PSS, BOTH),
        rsa(SHA1_RSA_PKCS_PSS, VERIFY),
        rsa(SHA256_RSA_PKCS, BOTH),
        rsa(SHA384_RSA_PKCS, BOTH),
        rsa(SHA512_RSA_PKCS, BOTH),
        rsa(SHA256_RSA_PKCS_PSS, BOTH),
        rsa(SHA384_RSA_PKCS_PSS, BOTH),
        rsa(SHA512_RSA_PKCS_PSS, BOTH),
        rsa(SHA224_RSA_PKCS, BOTH),
        rsa(SHA224_RSA_PKCS_PSS, BOTH),
        digest(SHA_1),
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
        secret(GENERIC_SECRET_KEY_GEN, GENERATE),
        ec(EC_KEY_PAIR_GEN, GENERATE_KEY_PAIR),
        ec(ECDSA, BOTH),
        ec(ECDSA_SHA1, VERIFY),
        ec(ECDSA_SHA224, BOTH),
        ec(ECDSA_SHA256, BOTH),
        ec(ECDSA_SHA384, BOTH),
        ec(ECDSA_SHA512, BOTH),
        ec(ECDH1_DERIVE, DERIVE),
        ec(ECDH1_COFACTOR_DERIVE, DERIVE),
        one(EC_EDWARDS_KEY_PAIR_GEN, ckk::EC_EDWARDS, (255, 255), GENERATE_KEY_PAIR | EC_CURVENAME),
        one(
            EC_MONTGOMERY_KEY_PAIR_GEN,
            ckk::EC_MONTGOMERY,
            (255, 255),
            GENERATE_KEY_PAIR | EC_CURVENAME,
        ),
        one(EDDSA, ckk::EC_EDWARDS, (255, 255), BOTH | EC_CURVENAME),
        aes(AES_KEY_GEN, GENERATE),
        aes(AES_CBC, CRYPT),
        aes(AES_CBC_PAD, CRYPT),
        aes(AES_GCM, CRYPT),
        aes(AES_KEY_WRAP, WRAPS),
        aes(AES_KEY_WRAP_PAD, WRAPS),
        aes(AES_KEY_WRAP_KWP, WRAPS),
        one(BLS12_381_KEY_PAIR_GEN, ckk::BLS12_381, (255, 255), GENERATE_KEY_PAIR),
        one(BLS12_381_SIGN, ckk::BLS12_381, (255, 255), BOTH),
    ]
};

/// Returns the mechanism, if it is supported.
pub fn offered(number: u32) -> Option<&'static Offered> {
    OFFERED.iter().find(|offered| offered.number == number)
}

/// A hash function within a mechanism.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Hash {
    Sha1,
    Sha224,
    Sha256,
    Sha384,
    Sha512,
}

impl Hash {
    /// Returns the hash function that the mechanism is.
    pub const fn of(mechanism: u32) -> Option<Self> {
        Some(match mechanism {
            ckm::SHA_1 => Self::Sha1,
            ckm::SHA224 => Self::Sha224,
            ckm::SHA256 => Self::Sha256,
            ckm::SHA384 => Self::Sha384,
            ckm::SHA512 => Self::Sha512,
            _ => return None,
        })
    }

    /// Returns the hash function that a signature mechanism applies first. A program may hash
    /// itself and set `digested`.
    pub const fn before(mechanism: u32) -> Option<Self> {
        Some(match mechanism {
            ckm::SHA1_RSA_PKCS | ckm::SHA1_RSA_PKCS_PSS | ckm::ECDSA_SHA1 => Self::Sha1,
            ckm::SHA224_RSA_PKCS | ckm::SHA224_RSA_PKCS_PSS | ckm::ECDSA_SHA224 => Self::Sha224,
            ckm::SHA256_RSA_PKCS | ckm::SHA256_RSA_PKCS_PSS | ckm::ECDSA_SHA256 => Self::Sha256,
            ckm::SHA384_RSA_PKCS | ckm::SHA384_RSA_PKCS_PSS | ckm::ECDSA_SHA384 => Self::Sha384,
            ckm::SHA512_RSA_PKCS | ckm::SHA512_RSA_PKCS_PSS | ckm::ECDSA_SHA512 => Self::Sha512,
            _ => return None,
        })
    }

    /// Returns the length of a digest in bytes.
    pub const fn length(self) -> usize {
        match self {
            Self::Sha1 => 20,
            Self::Sha224 => 28,
            Self::Sha256 => 32,
            Self::Sha384 => 48,
            Self::Sha512 => 64,
        }
    }
}
