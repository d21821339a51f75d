//! The encoding of values at rest: little-endian numbers, and a `u32` length or count before each
//! value of variable size. It does not depend on the protocol: keystores and backups outlive its
//! versions.
//!
//! Decoding never allocates more than a fixed multiple of the bytes that are present, whatever
//! lengths they claim.

use crate::attribute::Template;
use crate::rpc::{Bytes, Secret};

/// Bytes that are truncated or contain an invalid value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Malformed;

/// A value at rest.
pub(crate) trait Value: Sized {
    /// Appends the encoding.
    fn write(&self, to: &mut Vec<u8>);

    /// Decodes a value from the front.
    ///
    /// # Errors
    /// [`Malformed`].
    fn read(from: &mut &[u8]) -> Result<Self, Malformed>;
}

macro_rules! integers {
    ($($type:ty)*) => {$(
        impl Value for $type {
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

integers!(u8 u32 u64);

fn write_length(length: usize, to: &mut Vec<u8>) {
    u32::try_from(length).expect("objects are far smaller").write(to);
}

fn write_bytes(bytes: &[u8], to: &mut Vec<u8>) {
    write_length(bytes.len(), to);
    to.extend_from_slice(bytes);
}

fn read_bytes<'a>(from: &mut &'a [u8]) -> Result<&'a [u8], Malformed> {
    let length = u32::read(from)?;
    let (bytes, rest) = from.split_at_checked(length as usize).ok_or(Malformed)?;
    *from = rest;
    Ok(bytes)
}

impl Value for Bytes {
    fn write(&self, to: &mut Vec<u8>) {
        write_bytes(&self.0, to);
    }

    fn read(from: &mut &[u8]) -> Result<Self, Malformed> {
        read_bytes(from).map(Self::from)
    }
}

/// A byte, 0 or 1, followed by the value if it is 1.
impl Value for Option<Secret> {
    fn write(&self, to: &mut Vec<u8>) {
        to.push(self.is_some().into());
        if let Some(secret) = self {
            write_bytes(secret, to);
        }
    }

    fn read(from: &mut &[u8]) -> Result<Self, Malformed> {
        match u8::read(from)? {
            0 => Ok(None),
            1 => read_bytes(from).map(|bytes| Some(Secret::new(bytes))),
            _ => Err(Malformed),
        }
    }
}

impl Value for Template {
    fn write(&self, to: &mut Vec<u8>) {
        write_length(self.len(), to);
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

#[cfg(test)]
mod tests {
    use super::*;

    /// A template and a secret, as existing keystores and backups contain them.
    const AT_REST: &[u8] = &[
        2, 0, 0, 0, // two attributes
        0, 0, 0, 0, 8, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0, // CKA_CLASS
        3, 0, 0, 0, 2, 0, 0, 0, b'h', b'i', // CKA_LABEL
        1, 3, 0, 0, 0, 7, 8, 9, // a secret
        0, // no secret
    ];

    fn read(mut from: &[u8]) -> Result<(Template, Option<Secret>, Option<Secret>), Malformed> {
        let from = &mut from;
        let values = (Template::read(from)?, Value::read(from)?, Value::read(from)?);
        if from.is_empty() { Ok(values) } else { Err(Malformed) }
    }

    #[test]
    fn the_encoding_at_rest_never_changes() {
        let (template, secret, none) = read(AT_REST).unwrap();
        let expected = [(0, &[3, 0, 0, 0, 0, 0, 0, 0][..]), (3, b"hi")];
        assert!(template.iter().eq(expected));
        assert_eq!(secret.as_deref(), Some(&[7, 8, 9][..]));
        assert_eq!(none, None);
        let mut written = Vec::new();
        template.write(&mut written);
        secret.write(&mut written);
        none.write(&mut written);
        assert_eq!(written, AT_REST);
        written.clear();
        0x0102_0304_u32.write(&mut written);
        5_u64.write(&mut written);
        Bytes(vec![6]).write(&mut written);
        assert_eq!(written, [4, 3, 2, 1, 5, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 6]);
    }

    #[test]
    fn damaged_bytes_are_refused_and_allocate_nothing_by_a_claimed_length() {
        for length in 0..AT_REST.len() {
            assert_eq!(read(&AT_REST[..length]), Err(Malformed), "{length} bytes");
        }
        for at in 0..AT_REST.len() {
            let mut changed = AT_REST.to_vec();
            changed[at] = 0xff;
            // A changed number or value is another template; a changed length is refused.
            if let Ok((template, secret, none)) = read(&changed) {
                let mut written = Vec::new();
                template.write(&mut written);
                secret.write(&mut written);
                none.write(&mut written);
                assert_eq!(written.len(), AT_REST.len());
            }
        }
        let mut twice = AT_REST.to_vec();
        twice[20] = 0;
        assert_eq!(read(&twice), Err(Malformed), "one attribute twice");
    }
}
