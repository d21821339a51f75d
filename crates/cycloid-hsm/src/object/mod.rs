//! Objects: readable attributes and, for keys, a secret that stays sealed until it is used.

pub(crate) mod build;
pub(crate) mod change;
pub(crate) mod policy;
mod rules;

use std::sync::OnceLock;

use zeroize::Zeroizing;

use crate::attribute::{Template, cka, ckk, cko};
use crate::crypto::Fingerprint;
use crate::key::{Key, PrivateKey, PublicKey};
use crate::{Code, Result};

/// An object to be created: its attributes, and its secret if it has one.
#[derive(Debug)]
pub struct New {
    /// All attributes except secret ones.
    pub attributes: Template,
    /// The form at rest of a private key, or the bytes of a secret key.
    pub secret: Option<Zeroizing<Vec<u8>>>,
}

/// An object.
#[derive(Debug)]
pub struct Object {
    /// Its handle.
    pub id: u64,
    /// A counter of its changes.
    pub version: u64,
    /// All attributes except secret ones.
    pub attributes: Template,
    /// The secret of an object that lives in memory; the store has the secrets of stored objects.
    pub session_secret: Option<Zeroizing<Vec<u8>>>,
    /// The prepared key of an object that lives in memory, set at its first use; it is dropped with
    /// the object.
    pub session_key: OnceLock<Key>,
    /// The fingerprint of its value, set when it is first needed; `None` for keys that neither
    /// encrypt nor wrap.
    pub fingerprint: OnceLock<Option<Fingerprint>>,
}

/// The visibility of an attribute.
#[derive(Debug, PartialEq, Eq)]
pub enum Seen<'a> {
    /// Visible, with this value.
    Value(&'a [u8]),
    /// Part of the secret of a key that may be read.
    InSecret,
    /// Part of the secret of a key that may not be read.
    Sensitive,
    /// The object has no such attribute.
    Absent,
}

impl Object {
    /// Creates an object; `session_secret` is the secret of one that lives in memory.
    pub(crate) fn new(
        id: u64,
        version: u64,
        attributes: Template,
        session_secret: Option<Zeroizing<Vec<u8>>>,
    ) -> Self {
        let (session_key, fingerprint) = (OnceLock::new(), OnceLock::new());
        Self { id, version, attributes, session_secret, session_key, fingerprint }
    }

    /// Returns its class, `CKO_…`.
    pub fn class(&self) -> u32 {
        number(&self.attributes, cka::CLASS)
    }

    /// Returns the type of a key, `CKK_…`.
    pub fn key_type(&self) -> u32 {
        number(&self.attributes, cka::KEY_TYPE)
    }

    /// Returns whether it is a key.
    fn is_key(&self) -> bool {
        matches!(self.class(), cko::PUBLIC_KEY | cko::PRIVATE_KEY | cko::SECRET_KEY)
    }

    /// Returns whether it is a key with a secret.
    pub fn has_secret(&self) -> bool {
        matches!(self.class(), cko::PRIVATE_KEY | cko::SECRET_KEY)
    }

    /// Returns whether only the user sees it.
    pub fn is_private(&self) -> bool {
        self.attributes.is(cka::PRIVATE)
    }

    /// Returns whether an attribute is the content of private data.
    pub fn is_private_content(&self, attribute: u32) -> bool {
        attribute == cka::VALUE && self.class() == cko::DATA && self.is_private()
    }

    /// Returns whether it outlives the program that created it.
    pub fn is_stored(&self) -> bool {
        self.attributes.is(cka::TOKEN)
    }

    /// Returns what a reader sees of an attribute.
    pub fn see(&self, attribute: u32) -> Seen<'_> {
        if let Some(value) = self.attributes.get(attribute) {
            return Seen::Value(value);
        }
        // Every key has this attribute; its default is a list of no mechanisms, which allows all.
        if attribute == cka::ALLOWED_MECHANISMS && self.is_key() {
            return Seen::Value(&[]);
        }
        if !rules::is_secret(self.class(), self.key_type(), attribute) {
            Seen::Absent
        } else if self.attributes.is(cka::SENSITIVE) || !self.attributes.is(cka::EXTRACTABLE) {
            Seen::Sensitive
        } else {
            Seen::InSecret
        }
    }

    /// Checks whether it permits a use, `CKA_SIGN` and the like.
    ///
    /// # Errors
    /// [`Code::KEY_FUNCTION_NOT_PERMITTED`]; [`Code::MECHANISM_INVALID`] if its policy does not
    /// allow the mechanism.
    pub fn permits(&self, usage: u32, mechanism: u32) -> Result<()> {
        if !self.attributes.is(usage) {
            return Err(Code::KEY_FUNCTION_NOT_PERMITTED.into());
        }
        match self.attributes.get(cka::ALLOWED_MECHANISMS) {
            Some(allowed) if !rules::lists(allowed, mechanism) => {
                Err(Code::MECHANISM_INVALID
                    .because("the key's policy does not allow this mechanism"))
            }
            _ => Ok(()),
        }
    }

    /// Prepares the key for use. `secret` is the form at rest, for keys that have one.
    ///
    /// # Errors
    /// [`Code::KEY_HANDLE_INVALID`] if the object is not a key; [`Code::DEVICE_ERROR`] if the
    /// stored key is corrupt.
    pub fn key(&self, secret: Option<&[u8]>) -> Result<Key> {
        let broken = || Code::DEVICE_ERROR.because("the stored key is corrupt");
        match (self.class(), secret) {
            (cko::PUBLIC_KEY, _) => {
                let key = PublicKey::from_attributes(self.key_type(), &self.attributes)?;
                Ok(Key::Public(key.into()))
            }
            (cko::PRIVATE_KEY, Some(secret)) => PrivateKey::from_sealed(self.key_type(), secret)
                .ok()
                .filter(|key| key.is_of(&self.attributes))
                .map(Key::Private)
                .ok_or_else(broken),
            (cko::SECRET_KEY, Some(secret)) => {
                Ok(Key::Secret(Zeroizing::new(secret.to_vec()).into()))
            }
            (cko::PRIVATE_KEY | cko::SECRET_KEY, None) => Err(broken()),
            _ => Err(Code::KEY_HANDLE_INVALID.into()),
        }
    }
}

/// Returns a number of a valid object; all ones, which is no valid number, if absent.
fn number(attributes: &Template, number: u32) -> u32 {
    let value = attributes.number(number).ok().flatten();
    value.and_then(|value| value.try_into().ok()).unwrap_or(u32::MAX)
}

/// Returns the attributes of a key that are in the secret and may be read.
///
/// # Errors
/// Those of the key.
pub(crate) fn secret_attributes(object: &Object, secret: &[u8]) -> Result<Template> {
    if object.class() == cko::PRIVATE_KEY {
        return PrivateKey::from_sealed(object.key_type(), secret)?.secret_attributes();
    }
    let mut template = Template::new();
    template.set(cka::VALUE, secret);
    Ok(template)
}

/// Returns whether keys of this type are secret keys made of bytes.
pub(crate) const fn is_symmetric(key_type: u32) -> bool {
    matches!(
        key_type,
        ckk::AES
            | ckk::GENERIC_SECRET
            | ckk::SHA_1_HMAC
            | ckk::SHA224_HMAC
            | ckk::SHA256_HMAC
            | ckk::SHA384_HMAC
            | ckk::SHA512_HMAC
            | ckk::SHA3_224_HMAC
            | ckk::SHA3_256_HMAC
            | ckk::SHA3_384_HMAC
            | ckk::SHA3_512_HMAC
            | ckk::HKDF
    )
}

#[cfg(test)]
mod tests {
    use getrandom::SysRng;
    use rand_core::UnwrapErr;

    use super::*;
    use crate::key::Curve;
    use crate::object::build::{Origin, private};

    /// Whichever bit of the form at rest flips, the result is the same key or none.
    #[test]
    fn a_bit_flip_in_a_secret_never_yields_another_key() {
        let rng = &mut UnwrapErr(SysRng);
        let curves = [
            Curve::P256,
            Curve::P521,
            Curve::BrainpoolP384,
            Curve::Ed448,
            Curve::Ed25519,
            Curve::X25519,
        ];
        let mut keys: Vec<_> = curves
            .into_iter()
            .map(|curve| PrivateKey::generate_ec(curve, rng).expect("a sound generator"))
            .collect();
        keys.push(PrivateKey::generate_bls(rng).expect("a sound generator"));
        for key in keys {
            let New { attributes, secret } =
                private(Template::new(), &key, Origin::Given).expect("nothing contradicts it");
            let mut secret = secret.expect("a private key has one");
            let object = Object::new(1, 1, attributes, None);
            let sound = key.to_bytes();
            let mut refused = 0;
            for bit in 0..8 * secret.len() {
                secret[bit / 8] ^= 1 << (bit % 8);
                match object.key(Some(&secret)) {
                    // X25519 ignores five bits of a private key (RFC 7748, section 5).
                    Ok(Key::Private(key)) if matches!(key, PrivateKey::X25519(_)) => {
                        let bit_of_key = bit.wrapping_sub(8 * (secret.len() - 32));
                        let unused = [0, 1, 2, 254, 255].contains(&bit_of_key);
                        assert!(unused || key.to_bytes() == sound, "bit {bit}");
                    }
                    Ok(Key::Private(key)) => assert_eq!(key.to_bytes(), sound, "bit {bit}"),
                    Ok(_) => panic!("it is a private key"),
                    Err(error) => {
                        assert_eq!(error.code, Code::DEVICE_ERROR);
                        refused += 1;
                    }
                }
                secret[bit / 8] ^= 1 << (bit % 8);
            }
            assert!(refused >= 250, "{refused} of {}", 8 * secret.len());
            assert!(object.key(Some(&secret)).is_ok());
        }
    }
}
