//! The report of a trace.

use crate::finding::Finding;

/// The result of a traced run.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// The instructions that leak, each once.
    pub findings: Vec<Finding>,
    /// The number of executed instructions.
    pub steps: usize,
    /// A digest of all instructions and all addresses, in order.
    pub digest: u64,
    /// The first steps, individually.
    pub trail: Vec<Place>,
}

/// One step of a trail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The address of the instruction.
    pub at: usize,
    /// A digest of the addresses that it accesses.
    pub accessed: u32,
}

impl Place {
    /// Encodes the place for another process of the same program.
    pub fn to_bytes(self) -> [u8; 16] {
        (self.at as u128 | u128::from(self.accessed) << 64).to_ne_bytes()
    }

    /// Reads what [`to_bytes`](Self::to_bytes) has written.
    pub const fn from_bytes(bytes: [u8; 16]) -> Self {
        let word = u128::from_ne_bytes(bytes);
        Self { at: word as usize, accessed: (word >> 64) as u32 }
    }
}
