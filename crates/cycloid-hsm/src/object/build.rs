//! Objects out of templates: created, generated, unwrapped, derived.

use hmac::digest::Digest;
use rand_core::CryptoRng;
use zeroize::Zeroizing;

use super::rules::{check_form, exclude, settle_usages};
use super::{New, is_symmetric};
use crate::attribute::{Template, cka, ckk, cko};
use crate::error::{Code, Result};
use crate::key::{Curve, PrivateKey, PublicKey};
use crate::mechanism::ckm;

/// Where the value of a key comes from, which decides what is promised of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// Given in the clear: it was known outside.
    Given,
    /// Made by the device, with this mechanism, and never outside.
    Generated(u32),
    /// It was wrapped by a key of the device. It is sensitive, whatever the template says: else whoever
    /// can unwrap reads every key that was ever wrapped.
    Unwrapped,
    /// The outcome of an agreement.
    Derived,
}

/// Numbers that templates need not repeat.
fn agree(template: &mut Template, number: u32, value: u64) -> Result<()> {
    match template.number(number)? {
        Some(given) if given != value => {
            Err(Code::TEMPLATE_INCONSISTENT
                .because("class or type of key contradict the mechanism"))
        }
        _ => {
            template.set_number(number, value);
            Ok(())
        }
    }
}

/// What every object has.
fn complete(template: &mut Template, private: bool) {
    for (number, value) in [
        (cka::TOKEN, false),
        (cka::PRIVATE, private),
        (cka::MODIFIABLE, true),
        (cka::COPYABLE, true),
        (cka::DESTROYABLE, true),
    ] {
        template.set_default(number, [u8::from(value)]);
    }
    template.set_default(cka::LABEL, []);
}

/// What every key has.
fn complete_key(template: &mut Template, class: u32, origin: Origin) -> Result<()> {
    complete(template, class != cko::PUBLIC_KEY);
    for number in [cka::ID, cka::START_DATE, cka::END_DATE] {
        template.set_default(number, []);
    }
    let generated = match origin {
        Origin::Generated(mechanism) => Some(mechanism),
        _ => None,
    };
    template.set_bool(cka::LOCAL, generated.is_some());
    let mechanism = generated.map_or(u64::MAX, u64::from);
    template.set_number(cka::KEY_GEN_MECHANISM, mechanism);
    if template.is(cka::TRUSTED) {
        return Err(Code::ATTRIBUTE_READ_ONLY.because("only the security officer trusts a key"));
    }
    if template.is(cka::ALWAYS_AUTHENTICATE) && !template.is(cka::PRIVATE) {
        return Err(Code::TEMPLATE_INCONSISTENT
            .because("a key that asks for the PIN before each use is private"));
    }
    if class == cko::PUBLIC_KEY {
        template.set_default(cka::SUBJECT, []);
        template.set_default(cka::TRUSTED, [0]);
        return Ok(());
    }
    if origin == Origin::Unwrapped {
        template.set_bool(cka::SENSITIVE, true);
    }
    template.set_default(cka::SENSITIVE, [1]);
    template.set_default(cka::EXTRACTABLE, [0]);
    template.set_default(cka::WRAP_WITH_TRUSTED, [0]);
    let (sensitive, extractable) = (template.is(cka::SENSITIVE), template.is(cka::EXTRACTABLE));
    template.set_bool(cka::ALWAYS_SENSITIVE, generated.is_some() && sensitive);
    template.set_bool(cka::NEVER_EXTRACTABLE, generated.is_some() && !extractable);
    if class == cko::PRIVATE_KEY {
        template.set_default(cka::SUBJECT, []);
        template.set_default(cka::ALWAYS_AUTHENTICATE, [0]);
    } else {
        template.set_default(cka::TRUSTED, [0]);
    }
    Ok(())
}

/// An object of values that are given (C_CreateObject).
///
/// # Errors
/// What the rules say of the template, and what is wrong with the key.
pub(crate) fn created(mut template: Template) -> Result<New> {
    let class = narrow(template.needed_number(cka::CLASS)?)?;
    match class {
        cko::DATA => {
            check_form(class, u32::MAX, &template)?;
            complete(&mut template, false);
            for number in [cka::APPLICATION, cka::OBJECT_ID, cka::VALUE] {
                template.set_default(number, []);
            }
            Ok(New { attributes: template, secret: None })
        }
        cko::CERTIFICATE => {
            check_form(class, u32::MAX, &template)?;
            template.needed_number(cka::CERTIFICATE_TYPE)?;
            template.needed(cka::VALUE)?;
            if template.is(cka::TRUSTED) {
                return Err(Code::ATTRIBUTE_READ_ONLY
                    .because("only the security officer trusts a certificate"));
            }
            complete(&mut template, false);
            for number in [cka::ID, cka::SUBJECT, cka::ISSUER, cka::SERIAL_NUMBER] {
                template.set_default(number, []);
            }
            template.set_default(cka::TRUSTED, [0]);
            template.set_default(cka::CERTIFICATE_CATEGORY, 0u64.to_le_bytes());
            Ok(New { attributes: template, secret: None })
        }
        cko::PUBLIC_KEY => {
            let key_type = narrow(template.needed_number(cka::KEY_TYPE)?)?;
            check_form(class, key_type, &template)?;
            let key = PublicKey::from_attributes(key_type, &template)?;
            if let PublicKey::Rsa(key) = &key {
                template.set_number(cka::MODULUS_BITS, key.bits() as u64);
            }
            finish_key(template, class, key_type, Origin::Given, None)
        }
        cko::PRIVATE_KEY => {
            let key_type = narrow(template.needed_number(cka::KEY_TYPE)?)?;
            check_form(class, key_type, &template)?;
            let key = PrivateKey::from_attributes(key_type, &template)?;
            private(template, &key, Origin::Given)
        }
        cko::SECRET_KEY => {
            let key_type = narrow(template.needed_number(cka::KEY_TYPE)?)?;
            let value = Zeroizing::new(template.needed(cka::VALUE)?.to_vec());
            secret(template, key_type, value, Origin::Given)
        }
        _ => Err(Code::ATTRIBUTE_VALUE_INVALID.because("there are no objects of that class")),
    }
}

fn narrow(number: u64) -> Result<u32> {
    number.try_into().map_err(|_| Code::ATTRIBUTE_VALUE_INVALID.into())
}

/// The object of a private key.
///
/// # Errors
/// What the rules say of the template.
pub(crate) fn private(mut template: Template, key: &PrivateKey, origin: Origin) -> Result<New> {
    let key_type = key.key_type();
    agree(&mut template, cka::CLASS, cko::PRIVATE_KEY.into())?;
    agree(&mut template, cka::KEY_TYPE, key_type.into())?;
    check_form(cko::PRIVATE_KEY, key_type, &template)?;
    for (number, _) in key.secret_attributes()?.iter() {
        template.remove(number);
    }
    key.describe(&mut template, false);
    let secret = Some(key.to_bytes());
    finish_key(template, cko::PRIVATE_KEY, key_type, origin, secret)
}

/// The object of a secret key.
///
/// # Errors
/// [`Code::KEY_SIZE_RANGE`]; what the rules say of the template.
pub(crate) fn secret(
    mut template: Template,
    key_type: u32,
    value: Zeroizing<Vec<u8>>,
    origin: Origin,
) -> Result<New> {
    agree(&mut template, cka::CLASS, cko::SECRET_KEY.into())?;
    agree(&mut template, cka::KEY_TYPE, key_type.into())?;
    check_form(cko::SECRET_KEY, key_type, &template)?;
    if !is_symmetric(key_type) {
        return Err(Code::TEMPLATE_INCONSISTENT.because("no secret key is of that type"));
    }
    let sound = match key_type {
        ckk::AES => matches!(value.len(), 16 | 24 | 32),
        _ => (1..=512).contains(&value.len()),
    };
    if !sound {
        return Err(Code::KEY_SIZE_RANGE.into());
    }
    template.remove(cka::VALUE);
    agree(&mut template, cka::VALUE_LEN, value.len() as u64)?;
    template.set(cka::CHECK_VALUE, check_value(key_type, &value));
    finish_key(template, cko::SECRET_KEY, key_type, origin, Some(value))
}

/// Three bytes by which a key is recognised (PKCS #11 3.0, section 4.10.2): of AES the block of zeros
/// encrypted, of others the digest.
fn check_value(key_type: u32, value: &[u8]) -> Vec<u8> {
    if key_type == ckk::AES {
        return crate::crypto::aes_block(value, [0; 16])[..3].to_vec();
    }
    sha1::Sha1::digest(value)[..3].to_vec()
}

fn finish_key(
    mut template: Template,
    class: u32,
    key_type: u32,
    origin: Origin,
    secret: Option<Zeroizing<Vec<u8>>>,
) -> Result<New> {
    settle_usages(class, key_type, &mut template)?;
    complete_key(&mut template, class, origin)?;
    Ok(New { attributes: template, secret })
}

/// A pair of keys (C_GenerateKeyPair): the public one and the private one.
///
/// # Errors
/// [`Code::MECHANISM_INVALID`]; what the mechanism needs and the templates do not say.
pub(crate) fn generated_pair(
    mechanism: u32,
    public: Template,
    private_template: Template,
    rng: &mut impl CryptoRng,
) -> Result<(New, New)> {
    // Contradictions are found before a prime is looked for.
    exclude(&public, &private_template)?;
    check_form(cko::PUBLIC_KEY, u32::MAX, &public)?;
    check_form(cko::PRIVATE_KEY, u32::MAX, &private_template)?;
    let key = match mechanism {
        ckm::RSA_PKCS_KEY_PAIR_GEN => {
            let bits = usize::try_from(public.needed_number(cka::MODULUS_BITS)?);
            let exponent = match public.get(cka::PUBLIC_EXPONENT) {
                None => 65537,
                Some(bytes) => exponent(bytes)?,
            };
            PrivateKey::generate_rsa(bits.unwrap_or(usize::MAX), exponent, rng)?
        }
        ckm::EC_KEY_PAIR_GEN | ckm::EC_EDWARDS_KEY_PAIR_GEN | ckm::EC_MONTGOMERY_KEY_PAIR_GEN => {
            let curve = Curve::from_parameters(public.needed(cka::EC_PARAMS)?)?;
            let key_type = match mechanism {
                ckm::EC_KEY_PAIR_GEN => ckk::EC,
                ckm::EC_EDWARDS_KEY_PAIR_GEN => ckk::EC_EDWARDS,
                _ => ckk::EC_MONTGOMERY,
            };
            if curve.key_type() != key_type {
                return Err(Code::CURVE_NOT_SUPPORTED.because("the curve is for another mechanism"));
            }
            PrivateKey::generate_ec(curve, rng)?
        }
        ckm::BLS12_381_KEY_PAIR_GEN => PrivateKey::generate_bls(rng)?,
        _ => return Err(Code::MECHANISM_INVALID.into()),
    };
    pair(public, private_template, &key, Origin::Generated(mechanism))
}

/// The objects of both halves of a key.
///
/// # Errors
/// What the rules say of the templates.
pub(crate) fn pair(
    mut public: Template,
    private_template: Template,
    key: &PrivateKey,
    origin: Origin,
) -> Result<(New, New)> {
    let key_type = key.key_type();
    agree(&mut public, cka::CLASS, cko::PUBLIC_KEY.into())?;
    agree(&mut public, cka::KEY_TYPE, key_type.into())?;
    key.describe(&mut public, true);
    let made = private(private_template, key, origin)?;
    // A pair is made for the same: what the private half unwraps the public half does not encrypt.
    if made.attributes.is(cka::UNWRAP) {
        public.set_default(cka::ENCRYPT, [0]);
    }
    let public = finish_key(public, cko::PUBLIC_KEY, key_type, origin, None)?;
    exclude(&public.attributes, &made.attributes)?;
    Ok((public, made))
}

/// A public exponent of at most 32 bits.
fn exponent(bytes: &[u8]) -> Result<u32> {
    bytes
        .iter()
        .try_fold(0u32, |number, byte| {
            let shifted = number.checked_mul(256)?;
            shifted.checked_add(u32::from(*byte))
        })
        .ok_or_else(|| {
            Code::ATTRIBUTE_VALUE_INVALID.because("the public exponent has more than 32 bits")
        })
}

/// A secret key (C_GenerateKey).
///
/// # Errors
/// [`Code::MECHANISM_INVALID`]; what the mechanism needs and the template does not say.
pub(crate) fn generated(
    mechanism: u32,
    template: Template,
    rng: &mut impl CryptoRng,
) -> Result<New> {
    let length = template.needed_number(cka::VALUE_LEN)?;
    if length > 512 {
        return Err(Code::KEY_SIZE_RANGE.into());
    }
    let mut value = Zeroizing::new(vec![0; length as usize]);
    rng.fill_bytes(&mut value);
    let key_type = match mechanism {
        ckm::AES_KEY_GEN => ckk::AES,
        ckm::GENERIC_SECRET_KEY_GEN if length < 16 => return Err(Code::KEY_SIZE_RANGE.into()),
        ckm::GENERIC_SECRET_KEY_GEN => match template.number(cka::KEY_TYPE)? {
            Some(key_type) if narrow(key_type)? != ckk::AES => narrow(key_type)?,
            _ => ckk::GENERIC_SECRET,
        },
        _ => return Err(Code::MECHANISM_INVALID.into()),
    };
    secret(template, key_type, value, Origin::Generated(mechanism))
}
