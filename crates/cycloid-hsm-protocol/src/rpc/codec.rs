//! The encoding of values in messages: little-endian numbers, and a `u32` length before each value
//! of variable size.
//!
//! Decoding never allocates more memory than the message has bytes, whatever lengths it claims.

use zeroize::Zeroizing;

use crate::attribute::Template;

/// A message that is truncated, has trailing bytes, or contains an invalid value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Malformed;

/// A value that a message can contain.
pub trait Value: Sized {
    /// Returns its name in the schema.
    fn schema() -> String;

    /// Appends its encoding.
    fn write(&self, to: &mut Vec<u8>);

    /// Decodes a value from the front.
    ///
    /// # Errors
    /// [`Malformed`].
    fn read(from: &mut &[u8]) -> Result<Self, Malformed>;
}

/// Takes the first `length` bytes.
fn take<'a>(from: &mut &'a [u8], length: usize) -> Result<&'a [u8], Malformed> {
    let (taken, rest) = from.split_at_checked(length).ok_or(Malformed)?;
    *from = rest;
    Ok(taken)
}

macro_rules! integers {
    ($($type:ty)*) => {$(
        impl Value for $type {
            fn schema() -> String {
                stringify!($type).into()
            }

            fn write(&self, to: &mut Vec<u8>) {
                to.extend_from_slice(&self.to_le_bytes());
            }

            fn read(from: &mut &[u8]) -> Result<Self, Malformed> {
                let (bytes, rest) = from.split_first_chunk().ok_or(Malformed)?;
                *from = rest;
                Ok(Self::from_le_bytes(*bytes))
            }
        }
    )*};
}

integers!(u8 u16 u32 u64);

impl Value for bool {
    fn schema() -> String {
        "bool".into()
    }

    fn write(&self, to: &mut Vec<u8>) {
        to.push(u8::from(*self));
    }

    fn read(from: &mut &[u8]) -> Result<Self, Malformed> {
        match u8::read(from)? {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err(Malformed),
        }
    }
}

/// Appends the length and the bytes.
fn write_bytes(bytes: &[u8], to: &mut Vec<u8>) {
    u32::try_from(bytes.len()).expect("messages are far shorter").write(to);
    to.extend_from_slice(bytes);
}

fn read_bytes<'a>(from: &mut &'a [u8]) -> Result<&'a [u8], Malformed> {
    let length = u32::read(from)?;
    take(from, length as usize)
}

/// Bytes.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Bytes(pub Vec<u8>);

impl Value for Bytes {
    fn schema() -> String {
        "bytes".into()
    }

    fn write(&self, to: &mut Vec<u8>) {
        write_bytes(&self.0, to);
    }

    fn read(from: &mut &[u8]) -> Result<Self, Malformed> {
        read_bytes(from).map(|bytes| Self(bytes.to_vec()))
    }
}

impl From<&[u8]> for Bytes {
    fn from(bytes: &[u8]) -> Self {
        Self(bytes.to_vec())
    }
}

/// Bytes that are wiped when dropped and never appear in a log.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct Secret(pub Zeroizing<Vec<u8>>);

impl Secret {
    /// Copies `bytes`.
    pub fn new(bytes: &[u8]) -> Self {
        Self(Zeroizing::new(bytes.to_vec()))
    }
}

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Secret(..)")
    }
}

impl std::ops::Deref for Secret {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.0
    }
}

impl Value for Secret {
    fn schema() -> String {
        "bytes".into()
    }

    fn write(&self, to: &mut Vec<u8>) {
        write_bytes(&self.0, to);
    }

    fn read(from: &mut &[u8]) -> Result<Self, Malformed> {
        read_bytes(from).map(Self::new)
    }
}

impl Value for String {
    fn schema() -> String {
        "text".into()
    }

    fn write(&self, to: &mut Vec<u8>) {
        write_bytes(self.as_bytes(), to);
    }

    fn read(from: &mut &[u8]) -> Result<Self, Malformed> {
        let text = std::str::from_utf8(read_bytes(from)?).map_err(|_| Malformed)?;
        Ok(text.to_owned())
    }
}

impl<T: Value> Value for Option<T> {
    fn schema() -> String {
        format!("optional {}", T::schema())
    }

    fn write(&self, to: &mut Vec<u8>) {
        self.is_some().write(to);
        if let Some(value) = self {
            value.write(to);
        }
    }

    fn read(from: &mut &[u8]) -> Result<Self, Malformed> {
        if bool::read(from)? { T::read(from).map(Some) } else { Ok(None) }
    }
}

impl<T: Value> Value for Vec<T> {
    fn schema() -> String {
        format!("list of {}", T::schema())
    }

    fn write(&self, to: &mut Vec<u8>) {
        u32::try_from(self.len()).expect("messages are far shorter").write(to);
        self.iter().for_each(|value| value.write(to));
    }

    fn read(from: &mut &[u8]) -> Result<Self, Malformed> {
        let count = u32::read(from)? as usize;
        // Each value takes at least one byte.
        if count > from.len() {
            return Err(Malformed);
        }
        let mut list = Self::new();
        for _ in 0..count {
            list.push(T::read(from)?);
        }
        Ok(list)
    }
}

impl Value for Template {
    fn schema() -> String {
        "list of (u32, bytes)".into()
    }

    fn write(&self, to: &mut Vec<u8>) {
        u32::try_from(self.len()).expect("messages are far shorter").write(to);
        for (number, value) in self.iter() {
            number.write(to);
            write_bytes(value, to);
        }
    }

    fn read(from: &mut &[u8]) -> Result<Self, Malformed> {
        let count = u32::read(from)? as usize;
        // Each attribute takes at least eight bytes.
        if count > from.len() / 8 {
            return Err(Malformed);
        }
        let mut list = Vec::with_capacity(count);
        for _ in 0..count {
            list.push((u32::read(from)?, read_bytes(from)?.to_vec()));
        }
        Self::from_list(list).map_err(|_| Malformed)
    }
}
