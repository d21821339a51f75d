//! What the module knows of a key: enough to refuse early, and to tell the length of an output without
//! making it. The daemon judges all of it again at each use.

use cycloid_hsm::attribute::{cka, ckk, cko};
use cycloid_hsm::mechanism::{Hash, Parameter, ckf, ckm, offered};
use cycloid_hsm::rpc::message::AttributeValue;
use cycloid_hsm::rpc::{Mechanism, Usage};
use cycloid_hsm::{Code, Result};

/// Bytes of a block of AES.
pub(crate) const BLOCK: usize = 16;

/// Bytes of a BLS signature: a compressed point of G2 (minimal public keys).
const BLS_SIGNATURE: usize = 96;

#[derive(Debug)]
pub(crate) struct Key {
    class: Option<u64>,
    /// `CKK_…`.
    kind: Option<u64>,
    /// Whether it outlives the session.
    pub(crate) token: bool,
    /// Bytes of the modulus, or of a scalar of the curve.
    size: Option<usize>,
    permitted: [bool; 4],
    /// It asks for the PIN before each use.
    pub(crate) always_authenticate: bool,
    /// Mechanisms that it may be used with, if not with all.
    allowed: Option<Vec<u64>>,
}

/// The curves of ECDSA: parameters (DER of the object identifier, RFC 5480, section 2.1.1.1) and bytes of
/// a scalar.
const CURVES: [(&[u8], usize); 4] = [
    (&[0x06, 0x05, 0x2b, 0x81, 0x04, 0x00, 0x21], 28),
    (&[0x06, 0x08, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x03, 0x01, 0x07], 32),
    (&[0x06, 0x05, 0x2b, 0x81, 0x04, 0x00, 0x22], 48),
    (&[0x06, 0x05, 0x2b, 0x81, 0x04, 0x00, 0x23], 66),
];

impl Key {
    /// The attributes it is made of.
    pub(crate) const ATTRIBUTES: [u32; 11] = [
        cka::CLASS,
        cka::TOKEN,
        cka::KEY_TYPE,
        cka::MODULUS,
        cka::EC_PARAMS,
        cka::SIGN,
        cka::VERIFY,
        cka::ENCRYPT,
        cka::DECRYPT,
        cka::ALWAYS_AUTHENTICATE,
        cka::ALLOWED_MECHANISMS,
    ];

    /// Of the values of [`ATTRIBUTES`](Self::ATTRIBUTES). Whatever is missing is unknown, or not so.
    pub(crate) fn new(values: &[AttributeValue]) -> Self {
        let value = |number| {
            let known = values.iter().find(|value| value.number == number && value.code == 0);
            known.map(|known| known.value.0.as_slice())
        };
        let number = |of| value(of).and_then(|bytes| bytes.try_into().ok()).map(u64::from_le_bytes);
        let is = |of| value(of) == Some(&[1]);
        let curve = value(cka::EC_PARAMS)
            .and_then(|parameters| CURVES.iter().find(|(known, _)| *known == parameters));
        Self {
            class: number(cka::CLASS),
            kind: number(cka::KEY_TYPE),
            token: is(cka::TOKEN),
            size: curve.map(|(_, size)| *size).or(value(cka::MODULUS).map(<[u8]>::len)),
            permitted: [is(cka::SIGN), is(cka::VERIFY), is(cka::ENCRYPT), is(cka::DECRYPT)],
            always_authenticate: is(cka::ALWAYS_AUTHENTICATE),
            allowed: value(cka::ALLOWED_MECHANISMS).filter(|list| !list.is_empty()).map(|list| {
                let (numbers, _) = list.as_chunks();
                numbers.iter().copied().map(u64::from_le_bytes).collect()
            }),
        }
    }

    /// Whether the key can be used so.
    ///
    /// # Errors
    /// [`Code::MECHANISM_INVALID`], [`Code::KEY_HANDLE_INVALID`], [`Code::KEY_TYPE_INCONSISTENT`],
    /// [`Code::KEY_FUNCTION_NOT_PERMITTED`].
    pub(crate) fn check(&self, mechanism: u32, usage: Usage) -> Result<()> {
        let offered = offered(mechanism).ok_or(Code::MECHANISM_INVALID)?;
        let (flag, class) = match usage {
            Usage::Sign => (ckf::SIGN, cko::PRIVATE_KEY),
            Usage::Verify => (ckf::VERIFY, cko::PUBLIC_KEY),
            Usage::Encrypt => (ckf::ENCRYPT, cko::PUBLIC_KEY),
            Usage::Decrypt => (ckf::DECRYPT, cko::PRIVATE_KEY),
        };
        if offered.flags & flag == 0 {
            return Err(Code::MECHANISM_INVALID.into());
        }
        let Some(kind) = self.kind else { return Err(Code::KEY_HANDLE_INVALID.into()) };
        let secret = self.class == Some(cko::SECRET_KEY.into());
        // Which secret keys an HMAC takes is the daemon's concern.
        let fits = match offered.key_type {
            Some(ckk::GENERIC_SECRET) => secret,
            needed => needed.map(u64::from) == Some(kind),
        };
        if !fits {
            return Err(Code::KEY_TYPE_INCONSISTENT.into());
        }
        let half = secret || self.class == Some(class.into());
        if !half || !self.permitted[usage as usize] {
            return Err(Code::KEY_FUNCTION_NOT_PERMITTED.into());
        }
        if self.allowed.as_ref().is_some_and(|allowed| !allowed.contains(&mechanism.into())) {
            return Err(Code::MECHANISM_INVALID.into());
        }
        Ok(())
    }

    fn size(&self) -> Result<usize> {
        self.size.ok_or_else(|| Code::KEY_SIZE_RANGE.because("the key's size is not known"))
    }

    /// Bytes of a signature.
    ///
    /// # Errors
    /// [`Code::KEY_SIZE_RANGE`] if the key's size is not known.
    pub(crate) fn signature_length(&self, mechanism: &Mechanism) -> Result<usize> {
        Ok(match (mechanism.number, &mechanism.parameter) {
            (ckm::SHA_1_HMAC, _) => Hash::Sha1.length(),
            (ckm::SHA224_HMAC, _) => Hash::Sha224.length(),
            (ckm::SHA256_HMAC, _) => Hash::Sha256.length(),
            (ckm::SHA384_HMAC, _) => Hash::Sha384.length(),
            (ckm::SHA512_HMAC, _) => Hash::Sha512.length(),
            (_, Parameter::Length(length)) => *length as usize,
            (ckm::EDDSA, _) => 64,
            (ckm::BLS12_381_SIGN, _) => BLS_SIGNATURE,
            (ckm::ECDSA..=ckm::ECDSA_SHA512, _) => 2 * self.size()?,
            _ => self.size()?,
        })
    }

    /// Bytes of the encryption of `length` bytes.
    ///
    /// # Errors
    /// [`Code::KEY_SIZE_RANGE`] if the key's size is not known.
    pub(crate) fn encrypted_length(&self, mechanism: &Mechanism, length: usize) -> Result<usize> {
        Ok(match (mechanism.number, &mechanism.parameter) {
            (_, Parameter::Gcm { tag_bits, .. }) => length + *tag_bits as usize / 8,
            (ckm::AES_CBC_PAD, _) => length - length % BLOCK + BLOCK,
            (ckm::AES_CBC, _) => length,
            _ => self.size()?,
        })
    }

    /// Bytes of the decryption of `length` bytes, at most.
    ///
    /// # Errors
    /// [`Code::KEY_SIZE_RANGE`] if the key's size is not known.
    pub(crate) fn decrypted_length(&self, mechanism: &Mechanism, length: usize) -> Result<usize> {
        Ok(match (mechanism.number, &mechanism.parameter) {
            (_, Parameter::Gcm { tag_bits, .. }) => length.saturating_sub(*tag_bits as usize / 8),
            (ckm::AES_CBC | ckm::AES_CBC_PAD, _) => length,
            _ => self.size()?,
        })
    }
}
