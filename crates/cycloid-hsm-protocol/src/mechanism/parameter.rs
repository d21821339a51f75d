//! The parameters of mechanisms.

use minicbor::{Decode, Encode};

use crate::rpc::{Bytes, Secret};

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
    /// For AES-GCM and AES-GMAC: initialisation vector, associated data, length of the tag in bits.
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
        /// Whether this is Ed25519ph or Ed448ph.
        #[n(0)]
        prehashed: bool,
        /// At most 255 bytes; a non-empty one makes Ed25519 Ed25519ctx.
        #[n(1)]
        context: Bytes,
    },
    /// The length of an HMAC or a CMAC in bytes.
    #[n(7)]
    Length(#[n(0)] u32),
    /// For AES-CCM: length of the plaintext in bytes, nonce, associated data, length of the tag in
    /// bytes.
    #[n(8)]
    Ccm {
        /// Bytes, without the tag.
        #[n(0)]
        data_length: u64,
        /// 7 to 13 bytes.
        #[n(1)]
        nonce: Bytes,
        /// Authenticated but not encrypted.
        #[n(2)]
        associated: Bytes,
        /// 8 to 16, even.
        #[n(3)]
        tag_length: u32,
    },
    /// For AES-CTR: the counter's length in bits, and the first counter block.
    #[n(9)]
    Counter {
        /// 1 to 128; the counter is the end of the block.
        #[n(0)]
        bits: u32,
        /// 16 bytes.
        #[n(1)]
        block: Bytes,
    },
    /// For AES-CBC with padding, sent in pieces: the initialisation vector of a piece that is not
    /// the last. It is complete blocks without padding.
    #[n(10)]
    Piece(#[n(0)] Bytes),
    /// For derivation by AES-ECB: the data to encrypt. For Diffie-Hellman: the peer's public value,
    /// big-endian.
    #[n(11)]
    Data(#[n(0)] Bytes),
    /// For derivation by AES-CBC: initialisation vector, and the data to encrypt.
    #[n(12)]
    CbcData {
        /// 16 bytes.
        #[n(0)]
        iv: Bytes,
        /// Complete blocks.
        #[n(1)]
        data: Bytes,
    },
    /// For HKDF: hash (`CKM_…`), the steps to take, salt, information.
    #[n(13)]
    Hkdf {
        /// `CKM_SHA…`.
        #[n(0)]
        hash: u32,
        /// Whether to extract.
        #[n(1)]
        extract: bool,
        /// Whether to expand.
        #[n(2)]
        expand: bool,
        /// The salt of the extraction; empty for none.
        #[n(3)]
        salt: Bytes,
        /// The information of the expansion.
        #[n(4)]
        information: Bytes,
    },
    /// For PBKDF2: pseudorandom function (`CKP_…`), salt, iterations, password.
    #[n(14)]
    Pbkdf2 {
        /// `CKP_PKCS5_PBKD2_HMAC_…`.
        #[n(0)]
        function: u32,
        /// The salt.
        #[n(1)]
        salt: Bytes,
        /// The number of iterations.
        #[n(2)]
        iterations: u64,
        /// The password.
        #[n(3)]
        password: Secret,
    },
    /// For wrapping under an AES key that RSAES-OAEP encrypts: length of the AES key, parameters of
    /// OAEP.
    #[n(15)]
    OaepAes {
        /// 128, 192 or 256.
        #[n(0)]
        bits: u32,
        /// `CKM_SHA…`.
        #[n(1)]
        hash: u32,
        /// `CKG_MGF1_…`.
        #[n(2)]
        mask: u32,
        /// The label, often empty.
        #[n(3)]
        label: Bytes,
    },
    /// For a key derivation in counter mode (SP 800-108): pseudorandom function (`CKM_…`), fields
    /// of its input.
    #[n(16)]
    CounterKdf {
        /// `CKM_SHA…_HMAC` or `CKM_AES_CMAC`.
        #[n(0)]
        function: u32,
        /// In their order in the input.
        #[n(1)]
        fields: Vec<KeyDerivationField>,
    },
    /// For a key derivation in feedback mode (SP 800-108): as in counter mode, and the first value
    /// that is fed back.
    #[n(17)]
    FeedbackKdf {
        /// `CKM_SHA…_HMAC` or `CKM_AES_CMAC`.
        #[n(0)]
        function: u32,
        /// In their order in the input.
        #[n(1)]
        fields: Vec<KeyDerivationField>,
        /// Often empty.
        #[n(2)]
        iv: Bytes,
    },
}

impl KeyDerivationField {
    /// Returns the maximum number of bytes of the field, without that of the output before.
    pub fn most_bytes(&self) -> usize {
        match self {
            Self::Counter { .. } | Self::Length { .. } => 8,
            Self::Bytes(bytes) => bytes.0.len(),
            Self::Previous => 0,
        }
    }
}

/// A field of the pseudorandom function's input in a key derivation (SP 800-108).
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode)]
#[cbor(flat)]
pub enum KeyDerivationField {
    /// The counter, from 1.
    #[n(0)]
    Counter {
        /// Its length in bits: 8, 16, 24 or 32.
        #[n(0)]
        bits: u32,
        /// Whether its lowest byte comes first.
        #[n(1)]
        little_endian: bool,
    },
    /// The length of the derived key in bits.
    #[n(1)]
    Length {
        /// Its length in bits: 8 to 64, a multiple of 8.
        #[n(0)]
        bits: u32,
        /// Whether its lowest byte comes first.
        #[n(1)]
        little_endian: bool,
        /// Whether it counts whole outputs of the function.
        #[n(2)]
        of_segments: bool,
    },
    /// Given bytes.
    #[n(2)]
    Bytes(#[n(0)] Bytes),
    /// The function's output before, in feedback mode.
    #[n(3)]
    Previous,
}
