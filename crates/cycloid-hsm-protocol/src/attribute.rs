//! Object attributes, with the numbers of PKCS #11, and templates, which are lists of attributes.
//!
//! A value is bytes: a number (`CK_ULONG`) is eight bytes, little-endian; a Boolean is one byte, 0
//! or 1; a big integer is big-endian without leading zeros; a date is eight digits or empty.

use minicbor::decode::{self, Decoder};
use minicbor::encode::{self, Encoder, Write};
use minicbor::{Decode, Encode};

use crate::error::{Code, Result};
use crate::numbers::numbers;

numbers! {
    /// Numbers of attributes, `CKA_…` (PKCS #11 3.0).
    cka:
    CLASS = CKA_CLASS,
    TOKEN = CKA_TOKEN,
    PRIVATE = CKA_PRIVATE,
    LABEL = CKA_LABEL,
    UNIQUE_ID = CKA_UNIQUE_ID,
    APPLICATION = CKA_APPLICATION,
    VALUE = CKA_VALUE,
    OBJECT_ID = CKA_OBJECT_ID,
    CERTIFICATE_TYPE = CKA_CERTIFICATE_TYPE,
    ISSUER = CKA_ISSUER,
    SERIAL_NUMBER = CKA_SERIAL_NUMBER,
    OWNER = CKA_OWNER,
    TRUSTED = CKA_TRUSTED,
    CERTIFICATE_CATEGORY = CKA_CERTIFICATE_CATEGORY,
    JAVA_MIDP_SECURITY_DOMAIN = CKA_JAVA_MIDP_SECURITY_DOMAIN,
    URL = CKA_URL,
    HASH_OF_SUBJECT_PUBLIC_KEY = CKA_HASH_OF_SUBJECT_PUBLIC_KEY,
    HASH_OF_ISSUER_PUBLIC_KEY = CKA_HASH_OF_ISSUER_PUBLIC_KEY,
    NAME_HASH_ALGORITHM = CKA_NAME_HASH_ALGORITHM,
    CHECK_VALUE = CKA_CHECK_VALUE,
    KEY_TYPE = CKA_KEY_TYPE,
    SUBJECT = CKA_SUBJECT,
    ID = CKA_ID,
    SENSITIVE = CKA_SENSITIVE,
    ENCRYPT = CKA_ENCRYPT,
    DECRYPT = CKA_DECRYPT,
    WRAP = CKA_WRAP,
    UNWRAP = CKA_UNWRAP,
    SIGN = CKA_SIGN,
    SIGN_RECOVER = CKA_SIGN_RECOVER,
    VERIFY = CKA_VERIFY,
    VERIFY_RECOVER = CKA_VERIFY_RECOVER,
    DERIVE = CKA_DERIVE,
    START_DATE = CKA_START_DATE,
    END_DATE = CKA_END_DATE,
    MODULUS = CKA_MODULUS,
    MODULUS_BITS = CKA_MODULUS_BITS,
    PUBLIC_EXPONENT = CKA_PUBLIC_EXPONENT,
    PRIVATE_EXPONENT = CKA_PRIVATE_EXPONENT,
    PRIME_1 = CKA_PRIME_1,
    PRIME_2 = CKA_PRIME_2,
    EXPONENT_1 = CKA_EXPONENT_1,
    EXPONENT_2 = CKA_EXPONENT_2,
    COEFFICIENT = CKA_COEFFICIENT,
    PUBLIC_KEY_INFO = CKA_PUBLIC_KEY_INFO,
    PRIME = CKA_PRIME,
    BASE = CKA_BASE,
    VALUE_BITS = CKA_VALUE_BITS,
    VALUE_LEN = CKA_VALUE_LEN,
    EXTRACTABLE = CKA_EXTRACTABLE,
    LOCAL = CKA_LOCAL,
    NEVER_EXTRACTABLE = CKA_NEVER_EXTRACTABLE,
    ALWAYS_SENSITIVE = CKA_ALWAYS_SENSITIVE,
    KEY_GEN_MECHANISM = CKA_KEY_GEN_MECHANISM,
    MODIFIABLE = CKA_MODIFIABLE,
    COPYABLE = CKA_COPYABLE,
    DESTROYABLE = CKA_DESTROYABLE,
    EC_PARAMS = CKA_EC_PARAMS,
    EC_POINT = CKA_EC_POINT,
    ALWAYS_AUTHENTICATE = CKA_ALWAYS_AUTHENTICATE,
    WRAP_WITH_TRUSTED = CKA_WRAP_WITH_TRUSTED,
    WRAP_TEMPLATE = CKA_WRAP_TEMPLATE,
    UNWRAP_TEMPLATE = CKA_UNWRAP_TEMPLATE,
    DERIVE_TEMPLATE = CKA_DERIVE_TEMPLATE,
    ALLOWED_MECHANISMS = CKA_ALLOWED_MECHANISMS,
    // Vendor-defined: the maximum number of signatures in a second.
    RATE_LIMIT = 0x8359_4301,
}

numbers! {
    /// Classes of objects, `CKO_…`.
    cko:
    DATA = CKO_DATA,
    CERTIFICATE = CKO_CERTIFICATE,
    PUBLIC_KEY = CKO_PUBLIC_KEY,
    PRIVATE_KEY = CKO_PRIVATE_KEY,
    SECRET_KEY = CKO_SECRET_KEY,
}

numbers! {
    /// Types of keys, `CKK_…`.
    ckk:
    RSA = CKK_RSA,
    DH = CKK_DH,
    EC = CKK_EC,
    GENERIC_SECRET = CKK_GENERIC_SECRET,
    AES = CKK_AES,
    SHA_1_HMAC = CKK_SHA_1_HMAC,
    SHA256_HMAC = CKK_SHA256_HMAC,
    SHA384_HMAC = CKK_SHA384_HMAC,
    SHA512_HMAC = CKK_SHA512_HMAC,
    SHA224_HMAC = CKK_SHA224_HMAC,
    SHA3_224_HMAC = CKK_SHA3_224_HMAC,
    SHA3_256_HMAC = CKK_SHA3_256_HMAC,
    SHA3_384_HMAC = CKK_SHA3_384_HMAC,
    SHA3_512_HMAC = CKK_SHA3_512_HMAC,
    HKDF = CKK_HKDF,
    EC_EDWARDS = CKK_EC_EDWARDS,
    EC_MONTGOMERY = CKK_EC_MONTGOMERY,
    // Vendor-defined: BLS12-381.
    BLS12_381 = 0x8359_4301,
}

/// A list of attributes, sorted by number, without duplicates.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct Template(Vec<(u32, Vec<u8>)>);

impl Template {
    /// Returns an empty template.
    pub const fn new() -> Self {
        Self(Vec::new())
    }

    /// Builds a template from a list in any order.
    ///
    /// # Errors
    /// [`Code::TEMPLATE_INCONSISTENT`] if an attribute occurs twice.
    pub fn from_list(mut list: Vec<(u32, Vec<u8>)>) -> Result<Self> {
        list.sort_by_key(|(number, _)| *number);
        if list.windows(2).any(|pair| pair[0].0 == pair[1].0) {
            return Err(Code::TEMPLATE_INCONSISTENT.because("an attribute is given twice"));
        }
        Ok(Self(list))
    }

    /// Iterates over the attributes, in the order of their numbers.
    pub fn iter(&self) -> impl Iterator<Item = (u32, &[u8])> {
        self.0.iter().map(|(number, value)| (*number, value.as_slice()))
    }

    /// Returns the number of attributes.
    pub const fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns whether the template is empty.
    pub const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn position(&self, number: u32) -> core::result::Result<usize, usize> {
        self.0.binary_search_by_key(&number, |(number, _)| *number)
    }

    /// Returns the value of an attribute.
    pub fn get(&self, number: u32) -> Option<&[u8]> {
        self.position(number).ok().map(|at| self.0[at].1.as_slice())
    }

    /// Sets an attribute, replacing any value that it has.
    pub fn set(&mut self, number: u32, value: impl Into<Vec<u8>>) {
        match self.position(number) {
            Ok(at) => self.0[at].1 = value.into(),
            Err(at) => self.0.insert(at, (number, value.into())),
        }
    }

    /// [`set`](Self::set)s a Boolean.
    pub fn set_bool(&mut self, number: u32, value: bool) {
        self.set(number, [u8::from(value)]);
    }

    /// [`set`](Self::set)s a number.
    pub fn set_number(&mut self, number: u32, value: u64) {
        self.set(number, value.to_le_bytes());
    }

    /// [`set`](Self::set)s an attribute unless it is present.
    pub fn set_default(&mut self, number: u32, value: impl Into<Vec<u8>>) {
        if let Err(at) = self.position(number) {
            self.0.insert(at, (number, value.into()));
        }
    }

    /// Removes an attribute, and returns its value.
    pub fn remove(&mut self, number: u32) -> Option<Vec<u8>> {
        self.position(number).ok().map(|at| self.0.remove(at).1)
    }

    /// Returns a Boolean, if present.
    ///
    /// # Errors
    /// [`Code::ATTRIBUTE_VALUE_INVALID`] if it is not one byte, 0 or 1.
    pub fn bool(&self, number: u32) -> Result<Option<bool>> {
        match self.get(number) {
            None => Ok(None),
            Some([0]) => Ok(Some(false)),
            Some([1]) => Ok(Some(true)),
            Some(_) => Err(Code::ATTRIBUTE_VALUE_INVALID.into()),
        }
    }

    /// Returns whether a Boolean is present and true.
    pub fn is(&self, number: u32) -> bool {
        self.get(number) == Some(&[1])
    }

    /// Returns a number, if present.
    ///
    /// # Errors
    /// [`Code::ATTRIBUTE_VALUE_INVALID`] if it is not eight bytes.
    pub fn number(&self, number: u32) -> Result<Option<u64>> {
        self.get(number)
            .map(|value| value.try_into().map(u64::from_le_bytes))
            .transpose()
            .map_err(|_| Code::ATTRIBUTE_VALUE_INVALID.into())
    }

    /// Returns a required number.
    ///
    /// # Errors
    /// [`Code::TEMPLATE_INCOMPLETE`] if it is absent; [`Code::ATTRIBUTE_VALUE_INVALID`].
    pub fn needed_number(&self, number: u32) -> Result<u64> {
        self.number(number)?.ok_or_else(|| {
            Code::TEMPLATE_INCOMPLETE.because(format!("attribute {number:#x} is missing"))
        })
    }

    /// Returns required bytes.
    ///
    /// # Errors
    /// [`Code::TEMPLATE_INCOMPLETE`] if they are absent.
    pub fn needed(&self, number: u32) -> Result<&[u8]> {
        self.get(number).ok_or_else(|| {
            Code::TEMPLATE_INCOMPLETE.because(format!("attribute {number:#x} is missing"))
        })
    }

    /// Returns whether this template has all attributes of `other`, with the same values.
    pub fn matches(&self, other: &Self) -> bool {
        other.iter().all(|(number, value)| self.get(number) == Some(value))
    }
}

impl std::fmt::Debug for Template {
    /// Shows only the numbers: a value may be secret.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.0.iter().map(|(number, _)| format!("{number:#x}"))).finish()
    }
}

/// A map from numbers to values, in the order of the numbers.
impl<C> Encode<C> for Template {
    fn encode<W: Write>(
        &self,
        to: &mut Encoder<W>,
        _: &mut C,
    ) -> Result<(), encode::Error<W::Error>> {
        to.map(self.len() as u64)?;
        for (number, value) in self.iter() {
            to.u32(number)?.bytes(value)?;
        }
        Ok(())
    }
}

impl<'b, C> Decode<'b, C> for Template {
    fn decode(from: &mut Decoder<'b>, _: &mut C) -> Result<Self, decode::Error> {
        let count = from.map()?.ok_or_else(|| decode::Error::message("a map without a length"))?;
        let mut template = Self::new();
        for _ in 0..count {
            let number = from.u32()?;
            if template.0.last().is_some_and(|(last, _)| *last >= number) {
                return Err(decode::Error::message("attributes out of order"));
            }
            template.0.push((number, from.bytes()?.to_vec()));
        }
        Ok(template)
    }
}

impl Drop for Template {
    fn drop(&mut self) {
        for (_, value) in &mut self.0 {
            zeroize::Zeroize::zeroize(value);
        }
    }
}
