//! Object attributes, with the numbers of PKCS #11, and templates, which are lists of attributes.
//!
//! A value is bytes: a number (`CK_ULONG`) is eight bytes, little-endian; a Boolean is one byte, 0
//! or 1; a big integer is big-endian without leading zeros; a date is eight digits or empty.

use crate::error::{Code, Result};

macro_rules! numbers {
    ($(#[$doc:meta])* $module:ident: $($name:ident = $value:literal,)*) => {
        $(#[$doc])*
        #[allow(missing_docs)]
        pub mod $module {
            $(pub const $name: u32 = $value;)*
        }
    };
}

numbers! {
    /// Numbers of attributes, `CKA_…` (PKCS #11 3.0).
    cka:
    CLASS = 0x0,
    TOKEN = 0x1,
    PRIVATE = 0x2,
    LABEL = 0x3,
    UNIQUE_ID = 0x4,
    APPLICATION = 0x10,
    VALUE = 0x11,
    OBJECT_ID = 0x12,
    CERTIFICATE_TYPE = 0x80,
    ISSUER = 0x81,
    SERIAL_NUMBER = 0x82,
    OWNER = 0x84,
    TRUSTED = 0x86,
    CERTIFICATE_CATEGORY = 0x87,
    CHECK_VALUE = 0x90,
    KEY_TYPE = 0x100,
    SUBJECT = 0x101,
    ID = 0x102,
    SENSITIVE = 0x103,
    ENCRYPT = 0x104,
    DECRYPT = 0x105,
    WRAP = 0x106,
    UNWRAP = 0x107,
    SIGN = 0x108,
    SIGN_RECOVER = 0x109,
    VERIFY = 0x10a,
    VERIFY_RECOVER = 0x10b,
    DERIVE = 0x10c,
    START_DATE = 0x110,
    END_DATE = 0x111,
    MODULUS = 0x120,
    MODULUS_BITS = 0x121,
    PUBLIC_EXPONENT = 0x122,
    PRIVATE_EXPONENT = 0x123,
    PRIME_1 = 0x124,
    PRIME_2 = 0x125,
    EXPONENT_1 = 0x126,
    EXPONENT_2 = 0x127,
    COEFFICIENT = 0x128,
    PUBLIC_KEY_INFO = 0x129,
    VALUE_LEN = 0x161,
    EXTRACTABLE = 0x162,
    LOCAL = 0x163,
    NEVER_EXTRACTABLE = 0x164,
    ALWAYS_SENSITIVE = 0x165,
    KEY_GEN_MECHANISM = 0x166,
    MODIFIABLE = 0x170,
    COPYABLE = 0x171,
    DESTROYABLE = 0x172,
    EC_PARAMS = 0x180,
    EC_POINT = 0x181,
    ALWAYS_AUTHENTICATE = 0x202,
    WRAP_WITH_TRUSTED = 0x210,
    WRAP_TEMPLATE = 0x4000_0211,
    UNWRAP_TEMPLATE = 0x4000_0212,
    DERIVE_TEMPLATE = 0x4000_0213,
    ALLOWED_MECHANISMS = 0x4000_0600,
    // Vendor-defined: the maximum number of signatures in a second.
    RATE_LIMIT = 0x8359_4301,
}

numbers! {
    /// Classes of objects, `CKO_…`.
    cko:
    DATA = 0x0,
    CERTIFICATE = 0x1,
    PUBLIC_KEY = 0x2,
    PRIVATE_KEY = 0x3,
    SECRET_KEY = 0x4,
}

numbers! {
    /// Types of keys, `CKK_…`.
    ckk:
    RSA = 0x0,
    EC = 0x3,
    GENERIC_SECRET = 0x10,
    AES = 0x1f,
    SHA_1_HMAC = 0x28,
    SHA256_HMAC = 0x2b,
    SHA384_HMAC = 0x2c,
    SHA512_HMAC = 0x2d,
    SHA224_HMAC = 0x2e,
    EC_EDWARDS = 0x40,
    EC_MONTGOMERY = 0x41,
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

impl Drop for Template {
    fn drop(&mut self) {
        for (_, value) in &mut self.0 {
            zeroize::Zeroize::zeroize(value);
        }
    }
}
