//! Attributes of objects, which are those of PKCS #11 by number, and templates, which are lists of them.
//!
//! A value is bytes: a number (`CK_ULONG`) is eight bytes, little-endian; a truth value is one byte, 0 or
//! 1; a big integer is big-endian without leading zeros; a date is eight digits or nothing.

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
    // Vendor-defined: signatures a second at most.
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

/// A list of attributes, in the order of their numbers, each once.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct Template(Vec<(u32, Vec<u8>)>);

impl Template {
    /// No attributes.
    pub const fn new() -> Self {
        Self(Vec::new())
    }

    /// # Errors
    /// [`Code::TEMPLATE_INCONSISTENT`] if an attribute stands there twice.
    pub fn from_list(mut list: Vec<(u32, Vec<u8>)>) -> Result<Self> {
        list.sort_by_key(|(number, _)| *number);
        if list.windows(2).any(|pair| pair[0].0 == pair[1].0) {
            return Err(Code::TEMPLATE_INCONSISTENT.because("an attribute is given twice"));
        }
        Ok(Self(list))
    }

    /// The attributes.
    pub fn iter(&self) -> impl Iterator<Item = (u32, &[u8])> {
        self.0.iter().map(|(number, value)| (*number, value.as_slice()))
    }

    /// How many there are.
    pub const fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are none.
    pub const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn position(&self, number: u32) -> core::result::Result<usize, usize> {
        self.0.binary_search_by_key(&number, |(number, _)| *number)
    }

    /// The value of an attribute.
    pub fn get(&self, number: u32) -> Option<&[u8]> {
        self.position(number).ok().map(|at| self.0[at].1.as_slice())
    }

    /// Adds an attribute, in the place of one with this number.
    pub fn set(&mut self, number: u32, value: impl Into<Vec<u8>>) {
        match self.position(number) {
            Ok(at) => self.0[at].1 = value.into(),
            Err(at) => self.0.insert(at, (number, value.into())),
        }
    }

    /// [`set`](Self::set) of a truth value.
    pub fn set_bool(&mut self, number: u32, value: bool) {
        self.set(number, [u8::from(value)]);
    }

    /// [`set`](Self::set) of a number.
    pub fn set_number(&mut self, number: u32, value: u64) {
        self.set(number, value.to_le_bytes());
    }

    /// [`set`](Self::set), unless it is there.
    pub fn set_default(&mut self, number: u32, value: impl Into<Vec<u8>>) {
        if let Err(at) = self.position(number) {
            self.0.insert(at, (number, value.into()));
        }
    }

    /// Takes an attribute out.
    pub fn remove(&mut self, number: u32) -> Option<Vec<u8>> {
        self.position(number).ok().map(|at| self.0.remove(at).1)
    }

    /// A truth value, if it is there.
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

    /// Whether a truth value is there and true.
    pub fn is(&self, number: u32) -> bool {
        self.get(number) == Some(&[1])
    }

    /// A number, if it is there.
    ///
    /// # Errors
    /// [`Code::ATTRIBUTE_VALUE_INVALID`] if it is not eight bytes.
    pub fn number(&self, number: u32) -> Result<Option<u64>> {
        self.get(number)
            .map(|value| value.try_into().map(u64::from_le_bytes))
            .transpose()
            .map_err(|_| Code::ATTRIBUTE_VALUE_INVALID.into())
    }

    /// A number that must be there.
    ///
    /// # Errors
    /// [`Code::TEMPLATE_INCOMPLETE`] if it is not; [`Code::ATTRIBUTE_VALUE_INVALID`].
    pub fn needed_number(&self, number: u32) -> Result<u64> {
        self.number(number)?.ok_or_else(|| {
            Code::TEMPLATE_INCOMPLETE.because(format!("attribute {number:#x} is missing"))
        })
    }

    /// Bytes that must be there.
    ///
    /// # Errors
    /// [`Code::TEMPLATE_INCOMPLETE`] if they are not.
    pub fn needed(&self, number: u32) -> Result<&[u8]> {
        self.get(number).ok_or_else(|| {
            Code::TEMPLATE_INCOMPLETE.because(format!("attribute {number:#x} is missing"))
        })
    }

    /// Whether all attributes of `other` are here with the same values.
    pub fn matches(&self, other: &Self) -> bool {
        other.iter().all(|(number, value)| self.get(number) == Some(value))
    }
}

impl std::fmt::Debug for Template {
    /// The numbers alone: a value may be secret.
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
