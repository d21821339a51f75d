//! The messages between the two processes.

/// A range of memory.
#[derive(Clone, Copy)]
pub(crate) struct Extent {
    pub(crate) start: u64,
    pub(crate) end: u64,
}

impl Extent {
    pub(crate) fn of(bytes: &[u8]) -> Self {
        let start = bytes.as_ptr() as u64;
        Self { start, end: start + bytes.len() as u64 }
    }

    pub(crate) fn to_bytes(self) -> [u8; 16] {
        let mut bytes = [0; 16];
        bytes[..8].copy_from_slice(&self.start.to_le_bytes());
        bytes[8..].copy_from_slice(&self.end.to_le_bytes());
        bytes
    }

    pub(crate) fn from_bytes(bytes: &[u8; 16]) -> Self {
        let word = |at: usize| u64::from_le_bytes(bytes[at..][..8].try_into().expect("8 bytes"));
        Self { start: word(0), end: word(8) }
    }
}

/// The inputs of a case, each preceded by its length.
#[derive(Clone, Copy)]
pub(crate) struct Input(&'static [u8]);

impl Input {
    pub(crate) fn new(bytes: &'static [u8]) -> Self {
        Self(bytes)
    }

    /// Splits the inputs into all `N` strings.
    pub(crate) fn parts<const N: usize>(self) -> [&'static [u8]; N] {
        let mut rest = self.0;
        std::array::from_fn(|_| {
            let (length, after) = rest.split_first_chunk::<8>().expect("there is one more");
            let (part, after) = after.split_at(u64::from_le_bytes(*length) as usize);
            rest = after;
            part
        })
    }

    pub(crate) fn joined(parts: &[&[u8]]) -> Vec<u8> {
        let with_length = |part: &&[u8]| [&(part.len() as u64).to_le_bytes(), *part].concat();
        parts.iter().flat_map(with_length).collect()
    }
}
