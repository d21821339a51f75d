//! The module's cached description of a key: enough to refuse early, and to predict the length of
//! an output. The daemon checks everything again at each use.

use cycloid_hsm_protocol::attribute::{cka, ckk, cko};
use cycloid_hsm_protocol::legacy::Allowed;
use cycloid_hsm_protocol::mechanism::{Hash, Parameter, ckf, ckm, offered_under, weak_use};
use cycloid_hsm_protocol::rpc::message::AttributeValue;
use cycloid_hsm_protocol::rpc::{Mechanism, Usage};
use cycloid_hsm_protocol::{Code, Result};

/// The length of an AES block in bytes.
pub(crate) const BLOCK: usize = 16;

/// The length of a BLS signature in bytes: a compressed point of G2 (minimal public keys).
const BLS_SIGNATURE: usize = 96;

#[derive(Debug)]
pub(crate) struct Key {
    class: Option<u64>,
    /// The key's type, `CKK_…`.
    kind: Option<u64>,
    /// Whether it outlives the session.
    pub(crate) token: bool,
    /// Whether C_DestroyObject may destroy it.
    pub(crate) destroyable: bool,
    /// The length of the modulus, or of a scalar of the curve, in bytes.
    size: Option<usize>,
    permitted: [bool; 4],
    /// Whether it requires the PIN before each use.
    pub(crate) always_authenticate: bool,
    /// The allowed mechanisms; `None` allows all.
    allowed: Option<Vec<u64>>,
}

/// Returns whether a mechanism computes message authentication codes.
pub(crate) const fn is_mac(mechanism: u32) -> bool {
    Hash::of_hmac(mechanism).is_some()
        || Hash::of_general_hmac(mechanism).is_some()
        || matches!(mechanism, ckm::AES_CMAC | ckm::AES_CMAC_GENERAL | ckm::AES_GMAC)
}

/// The length of the shortest RSA modulus that is used without permission, in bytes.
const SOUND_RSA: usize = 256;

/// Returns the flag of a mechanism that supports this use.
const fn flag(usage: Usage) -> u32 {
    match usage {
        Usage::Sign => ckf::SIGN,
        Usage::Verify => ckf::VERIFY,
        Usage::Encrypt => ckf::ENCRYPT,
        Usage::Decrypt => ckf::DECRYPT,
    }
}

/// The curves of ECDSA, and edwards448: parameters (the DER object identifier: RFC 5480, section
/// 2.1.1.1; SEC 2, appendix A.2; RFC 5639, section 4.1; RFC 8410, section 3), and the
/// length of a scalar in bytes.
const CURVES: [(&[u8], usize); 11] = [
    (&[0x06, 0x08, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x03, 0x01, 0x01], 24),
    (&[0x06, 0x05, 0x2b, 0x81, 0x04, 0x00, 0x21], 28),
    (&[0x06, 0x08, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x03, 0x01, 0x07], 32),
    (&[0x06, 0x05, 0x2b, 0x81, 0x04, 0x00, 0x22], 48),
    (&[0x06, 0x05, 0x2b, 0x81, 0x04, 0x00, 0x23], 66),
    (&[0x06, 0x05, 0x2b, 0x81, 0x04, 0x00, 0x0a], 32),
    (&[0x06, 0x09, 0x2b, 0x24, 0x03, 0x03, 0x02, 0x08, 0x01, 0x01, 0x07], 32),
    (&[0x06, 0x09, 0x2b, 0x24, 0x03, 0x03, 0x02, 0x08, 0x01, 0x01, 0x0b], 48),
    (&[0x06, 0x09, 0x2b, 0x24, 0x03, 0x03, 0x02, 0x08, 0x01, 0x01, 0x0d], 64),
    (&[0x06, 0x03, 0x2b, 0x65, 0x71], 57),
    (b"\x13\x0aedwards448", 57),
];

impl Key {
    /// The attributes that a description needs.
    pub(crate) const ATTRIBUTES: [u32; 12] = [
        cka::CLASS,
        cka::TOKEN,
        cka::DESTROYABLE,
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

    /// Builds the description from the values of [`ATTRIBUTES`](Self::ATTRIBUTES). A missing value
    /// counts as unknown or false.
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
            destroyable: value(cka::DESTROYABLE) != Some(&[0]),
            size: curve.map(|(_, size)| *size).or(value(cka::MODULUS).map(<[u8]>::len)),
            permitted: [is(cka::SIGN), is(cka::VERIFY), is(cka::ENCRYPT), is(cka::DECRYPT)],
            always_authenticate: is(cka::ALWAYS_AUTHENTICATE),
            allowed: value(cka::ALLOWED_MECHANISMS).filter(|list| !list.is_empty()).map(|list| {
                let (numbers, _) = list.as_chunks();
                numbers.iter().copied().map(u64::from_le_bytes).collect()
            }),
        }
    }

    /// Returns whether this use may need the security officer's permission, which the daemon knows.
    pub(crate) fn needs_permission(&self, mechanism: &Mechanism, usage: Usage) -> bool {
        let is_weak = match (usage, &mechanism.parameter) {
            (Usage::Sign, Parameter::Pss { hash: ckm::SHA_1, .. }) => true,
            _ => weak_use(mechanism.number, flag(usage)).is_some(),
        };
        let is_short = || self.size.is_some_and(|size| size < SOUND_RSA);
        is_weak || self.kind == Some(ckk::RSA.into()) && is_short()
    }

    /// Checks whether the key permits this use, if the security officer allows every weak one.
    ///
    /// # Errors
    /// [`Code::MECHANISM_INVALID`], [`Code::KEY_HANDLE_INVALID`], [`Code::KEY_TYPE_INCONSISTENT`],
    /// [`Code::KEY_FUNCTION_NOT_PERMITTED`].
    pub(crate) fn check(&self, mechanism: u32, usage: Usage) -> Result<()> {
        let offered = offered_under(Allowed::EVERY, mechanism).ok_or(Code::MECHANISM_INVALID)?;
        let class = match usage {
            Usage::Sign | Usage::Decrypt => cko::PRIVATE_KEY,
            Usage::Verify | Usage::Encrypt => cko::PUBLIC_KEY,
        };
        if offered.flags & flag(usage) == 0 {
            return Err(Code::MECHANISM_INVALID.into());
        }
        let Some(kind) = self.kind else { return Err(Code::KEY_HANDLE_INVALID.into()) };
        let secret = self.class == Some(cko::SECRET_KEY.into());
        // The daemon checks which types of secret key an HMAC accepts.
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
        self.size.ok_or_else(|| Code::KEY_SIZE_RANGE.because("the key's size is unknown"))
    }

    /// Returns the length of a signature in bytes.
    ///
    /// # Errors
    /// [`Code::KEY_SIZE_RANGE`] if the key's size is unknown.
    pub(crate) fn signature_length(&self, mechanism: &Mechanism) -> Result<usize> {
        if let Some(hash) = Hash::of_hmac(mechanism.number) {
            return Ok(hash.length());
        }
        Ok(match (mechanism.number, &mechanism.parameter) {
            (ckm::AES_GMAC, Parameter::Gcm { tag_bits, .. }) => *tag_bits as usize / 8,
            (ckm::AES_CMAC | ckm::AES_GMAC, _) => BLOCK,
            (_, Parameter::Length(length)) => *length as usize,
            // R and S; of Ed25519, which is not in the list of curves, 32 bytes each.
            (ckm::EDDSA, _) => 2 * self.size.unwrap_or(32),
            (ckm::BLS12_381_SIGN, _) => BLS_SIGNATURE,
            (ckm::ECDSA..=ckm::ECDSA_SHA3_512, _) => 2 * self.size()?,
            _ => self.size()?,
        })
    }

    /// Returns the length in bytes of the encryption of `length` bytes.
    ///
    /// # Errors
    /// [`Code::KEY_SIZE_RANGE`] if the key's size is unknown.
    pub(crate) fn encrypted_length(&self, mechanism: &Mechanism, length: usize) -> Result<usize> {
        Ok(match (mechanism.number, &mechanism.parameter) {
            (_, Parameter::Gcm { tag_bits, .. }) => length + *tag_bits as usize / 8,
            (_, Parameter::Ccm { tag_length, .. }) => length + *tag_length as usize,
            (ckm::AES_CBC_PAD, _) => length - length % BLOCK + BLOCK,
            (ckm::AES_ECB | ckm::AES_CBC | ckm::AES_CTR, _) => length,
            _ => self.size()?,
        })
    }

    /// Returns the maximum length in bytes of the decryption of `length` bytes.
    ///
    /// # Errors
    /// [`Code::KEY_SIZE_RANGE`] if the key's size is unknown.
    pub(crate) fn decrypted_length(&self, mechanism: &Mechanism, length: usize) -> Result<usize> {
        Ok(match (mechanism.number, &mechanism.parameter) {
            (_, Parameter::Gcm { tag_bits, .. }) => length.saturating_sub(*tag_bits as usize / 8),
            (_, Parameter::Ccm { tag_length, .. }) => length.saturating_sub(*tag_length as usize),
            (ckm::AES_ECB | ckm::AES_CBC | ckm::AES_CBC_PAD | ckm::AES_CTR, _) => length,
            _ => self.size()?,
        })
    }
}
