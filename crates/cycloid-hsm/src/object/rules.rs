//! Attributes: which objects have them, their form, and the uses that a template leaves open.

use crate::attribute::{Template, cka, ckk, cko};
use crate::{Code, Result};

const EVERY: &[u32] = &[
    cka::CLASS,
    cka::TOKEN,
    cka::PRIVATE,
    cka::LABEL,
    cka::MODIFIABLE,
    cka::COPYABLE,
    cka::DESTROYABLE,
];

const KEYS: &[u32] = &[
    cka::KEY_TYPE,
    cka::ID,
    cka::START_DATE,
    cka::END_DATE,
    cka::DERIVE,
    cka::ALLOWED_MECHANISMS,
    cka::RATE_LIMIT,
];

const DATA: &[u32] = &[cka::APPLICATION, cka::OBJECT_ID, cka::VALUE];

const CERTIFICATE: &[u32] = &[
    cka::CERTIFICATE_TYPE,
    cka::CERTIFICATE_CATEGORY,
    cka::TRUSTED,
    cka::CHECK_VALUE,
    cka::START_DATE,
    cka::END_DATE,
    cka::PUBLIC_KEY_INFO,
    cka::SUBJECT,
    cka::ID,
    cka::ISSUER,
    cka::SERIAL_NUMBER,
    cka::OWNER,
    cka::VALUE,
    cka::URL,
    cka::HASH_OF_SUBJECT_PUBLIC_KEY,
    cka::HASH_OF_ISSUER_PUBLIC_KEY,
    cka::NAME_HASH_ALGORITHM,
    cka::JAVA_MIDP_SECURITY_DOMAIN,
];

const PUBLIC: &[u32] = &[
    cka::SUBJECT,
    cka::ENCRYPT,
    cka::VERIFY,
    cka::VERIFY_RECOVER,
    cka::WRAP,
    cka::TRUSTED,
    cka::PUBLIC_KEY_INFO,
    cka::MODULUS,
    cka::MODULUS_BITS,
    cka::PUBLIC_EXPONENT,
    cka::EC_PARAMS,
    cka::EC_POINT,
    cka::PRIME,
    cka::BASE,
    cka::VALUE,
];

const PRIVATE: &[u32] = &[
    cka::SUBJECT,
    cka::SENSITIVE,
    cka::DECRYPT,
    cka::SIGN,
    cka::SIGN_RECOVER,
    cka::UNWRAP,
    cka::EXTRACTABLE,
    cka::WRAP_WITH_TRUSTED,
    cka::ALWAYS_AUTHENTICATE,
    cka::PUBLIC_KEY_INFO,
    cka::MODULUS,
    cka::PUBLIC_EXPONENT,
    cka::EC_PARAMS,
    cka::PRIME,
    cka::BASE,
    cka::VALUE_BITS,
];

const SECRET: &[u32] = &[
    cka::SENSITIVE,
    cka::ENCRYPT,
    cka::DECRYPT,
    cka::SIGN,
    cka::VERIFY,
    cka::WRAP,
    cka::UNWRAP,
    cka::EXTRACTABLE,
    cka::WRAP_WITH_TRUSTED,
    cka::TRUSTED,
    cka::CHECK_VALUE,
    cka::VALUE_LEN,
];

/// Attributes that only the device sets.
pub(super) const DEVICE: &[u32] = &[
    cka::UNIQUE_ID,
    cka::LOCAL,
    cka::NEVER_EXTRACTABLE,
    cka::ALWAYS_SENSITIVE,
    cka::KEY_GEN_MECHANISM,
];

/// Attributes that are in the secret of an RSA private key.
const RSA_SECRETS: &[u32] = &[
    cka::PRIVATE_EXPONENT,
    cka::PRIME_1,
    cka::PRIME_2,
    cka::EXPONENT_1,
    cka::EXPONENT_2,
    cka::COEFFICIENT,
];

/// Booleans: one byte each, 0 or 1.
const TRUTH_VALUES: &[u32] = &[
    cka::TOKEN,
    cka::PRIVATE,
    cka::MODIFIABLE,
    cka::COPYABLE,
    cka::DESTROYABLE,
    cka::TRUSTED,
    cka::SENSITIVE,
    cka::ENCRYPT,
    cka::DECRYPT,
    cka::WRAP,
    cka::UNWRAP,
    cka::SIGN,
    cka::SIGN_RECOVER,
    cka::VERIFY,
    cka::VERIFY_RECOVER,
    cka::DERIVE,
    cka::EXTRACTABLE,
    cka::WRAP_WITH_TRUSTED,
    cka::ALWAYS_AUTHENTICATE,
];

/// The uses of a key. Once a key is made, uses can only be removed.
pub(super) const USAGES: &[u32] = &[
    cka::ENCRYPT,
    cka::DECRYPT,
    cka::WRAP,
    cka::UNWRAP,
    cka::SIGN,
    cka::SIGN_RECOVER,
    cka::VERIFY,
    cka::VERIFY_RECOVER,
    cka::DERIVE,
];

/// Numbers of eight bytes.
const NUMBERS: &[u32] = &[
    cka::CLASS,
    cka::KEY_TYPE,
    cka::CERTIFICATE_TYPE,
    cka::CERTIFICATE_CATEGORY,
    cka::JAVA_MIDP_SECURITY_DOMAIN,
    cka::NAME_HASH_ALGORITHM,
    cka::MODULUS_BITS,
    cka::VALUE_BITS,
    cka::VALUE_LEN,
    cka::RATE_LIMIT,
];

/// The maximum length of an attribute's value, in bytes,
const MAX_VALUE: usize = 64 * 1024;
/// and of the content of data objects and certificates: with it, the object fits into a message.
const MAX_CONTENT: usize = 960 * 1024;

/// Returns whether an attribute is part of the secret.
pub(super) fn is_secret(class: u32, key_type: u32, attribute: u32) -> bool {
    match (class, key_type) {
        (cko::PRIVATE_KEY, ckk::RSA) => RSA_SECRETS.contains(&attribute),
        (cko::PRIVATE_KEY | cko::SECRET_KEY, _) => attribute == cka::VALUE,
        _ => false,
    }
}

/// Returns whether a list of mechanisms, eight bytes each, contains this one.
pub(super) fn lists(allowed: &[u8], mechanism: u32) -> bool {
    let (numbers, _) = allowed.as_chunks::<8>();
    numbers.iter().any(|number| u64::from_le_bytes(*number) == u64::from(mechanism))
}

/// Checks the form of every attribute of a template, and that objects of the class have it.
///
/// # Errors
/// [`Code::ATTRIBUTE_READ_ONLY`] for attributes that only the device sets;
/// [`Code::ATTRIBUTE_TYPE_INVALID`] for attributes that the class does not have;
/// [`Code::ATTRIBUTE_VALUE_INVALID`].
pub(super) fn check_form(class: u32, key_type: u32, template: &Template) -> Result<()> {
    let own = match class {
        cko::DATA => DATA,
        cko::CERTIFICATE => CERTIFICATE,
        cko::PUBLIC_KEY => PUBLIC,
        cko::PRIVATE_KEY => PRIVATE,
        cko::SECRET_KEY => SECRET,
        _ => {
            return Err(Code::ATTRIBUTE_VALUE_INVALID.because("unsupported object class"));
        }
    };
    let is_key = matches!(class, cko::PUBLIC_KEY | cko::PRIVATE_KEY | cko::SECRET_KEY);
    for (number, value) in template.iter() {
        if DEVICE.contains(&number) {
            return Err(Code::ATTRIBUTE_READ_ONLY
                .because(format!("only the device sets attribute {number:#x}")));
        }
        let known = EVERY.contains(&number)
            || own.contains(&number)
            || is_key && KEYS.contains(&number)
            || is_secret(class, key_type, number);
        if !known {
            return Err(Code::ATTRIBUTE_TYPE_INVALID
                .because(format!("objects of class {class} have no attribute {number:#x}")));
        }
        let sound = match number {
            _ if TRUTH_VALUES.contains(&number) => matches!(value, [0 | 1]),
            _ if NUMBERS.contains(&number) => value.len() == 8,
            cka::START_DATE | cka::END_DATE => {
                value.is_empty() || value.len() == 8 && value.iter().all(u8::is_ascii_digit)
            }
            cka::ALLOWED_MECHANISMS => value.len().is_multiple_of(8),
            cka::URL => std::str::from_utf8(value).is_ok(),
            _ => true,
        };
        let most = match (class, number) {
            (cko::DATA | cko::CERTIFICATE, cka::VALUE) => MAX_CONTENT,
            _ => MAX_VALUE,
        };
        if value.len() > most {
            let text = format!(
                "attribute {number:#x} has {} bytes, and at most {most} are allowed",
                value.len()
            );
            return Err(Code::ATTRIBUTE_VALUE_INVALID.because(text));
        }
        if !sound {
            return Err(Code::ATTRIBUTE_VALUE_INVALID
                .because(format!("invalid value of attribute {number:#x}")));
        }
    }
    Ok(())
}

/// Fills in the uses that the template leaves open.
pub(super) fn settle_usages(class: u32, key_type: u32, template: &mut Template) {
    let usual: &[u32] = match (class, key_type) {
        (cko::PRIVATE_KEY, ckk::RSA) => &[cka::SIGN, cka::DECRYPT],
        (cko::PUBLIC_KEY, ckk::RSA) => &[cka::VERIFY, cka::ENCRYPT],
        (cko::PRIVATE_KEY, ckk::EC) => &[cka::SIGN, cka::DERIVE],
        (cko::PRIVATE_KEY, ckk::EC_MONTGOMERY | ckk::DH) => &[cka::DERIVE],
        (cko::PUBLIC_KEY, ckk::EC_MONTGOMERY | ckk::DH) => &[],
        (cko::PRIVATE_KEY, _) => &[cka::SIGN],
        (cko::PUBLIC_KEY, _) => &[cka::VERIFY],
        (_, ckk::AES) => &[cka::ENCRYPT, cka::DECRYPT],
        _ => &[cka::SIGN, cka::VERIFY],
    };
    // A key that is requested for keys does not serve data unless the template says so.
    let (wraps, unwraps) = (template.is(cka::WRAP), template.is(cka::UNWRAP));
    for usage in USAGES {
        let ours = match class {
            cko::PUBLIC_KEY => PUBLIC,
            cko::PRIVATE_KEY => PRIVATE,
            _ => SECRET,
        };
        if ours.contains(usage) || *usage == cka::DERIVE {
            let excluded = match *usage {
                cka::DECRYPT => wraps || unwraps && class == cko::PRIVATE_KEY,
                cka::ENCRYPT => unwraps || wraps && class == cko::PUBLIC_KEY,
                // PKCS #11 has no point in a key agreement at which it could ask for the PIN.
                cka::DERIVE => template.is(cka::ALWAYS_AUTHENTICATE),
                _ => false,
            };
            let given = usual.contains(usage) && !excluded;
            template.set_default(*usage, [u8::from(given)]);
        }
    }
}
