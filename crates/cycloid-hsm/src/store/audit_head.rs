//! The head of the audit log: the number and the MAC of its last line.

use std::fmt;
use std::str::FromStr;

use super::hex;
use super::keyring::Keyring;
use super::seal::{Part, associated, mac};
use crate::{Code, Error, Result};

/// The head of the log: its last line, which authenticates all lines. As text: the sequence number,
/// a colon, and 64 hexadecimal digits.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AuditHead {
    /// The number of the last line; 0 for an empty log.
    pub sequence: u64,
    /// The MAC of the last line; zeros for an empty log.
    pub mac: [u8; 32],
}

impl fmt::Display for AuditHead {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:", self.sequence)?;
        self.mac.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl FromStr for AuditHead {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let read = || {
            let (sequence, digits) = text.trim().split_once(':')?;
            Some(Self { sequence: sequence.parse().ok()?, mac: hex::decode(digits)? })
        };
        read().ok_or_else(|| {
            Code::ARGUMENTS_BAD.because(
                "a head of the audit log must be a number, a colon, and 64 hexadecimal digits",
            )
        })
    }
}

impl AuditHead {
    /// Returns the head after one more line.
    pub(super) fn next(&self, keys: &Keyring, time: u64, who: &str, what: &str) -> Self {
        let sequence = self.sequence + 1;
        let strings: [&[u8]; 3] = [&self.mac, who.as_bytes(), what.as_bytes()];
        let line = associated(Part::AuditEntry, &keys.identity, &[sequence, time], &strings);
        Self { sequence, mac: mac(keys.audit(), &line) }
    }
}
