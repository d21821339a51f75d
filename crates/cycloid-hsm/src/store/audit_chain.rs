//! The walk along the audit log's chain, which finds every flawed line.
//!
//! A line's MAC covers the MAC before it. So a line is judged by the stored MAC of its predecessor,
//! and one flawed line makes at most the next one unverifiable. A stored MAC that a verified line
//! follows is authentic, even if its own line's text is not.
//!
//! A salvage cannot repair the log. It appends a line that lists the flawed ones, and thus
//! acknowledges them: they stay visible, and further flaws stay errors.

use std::fmt;

use subtle::ConstantTimeEq;

use super::audit_head::AuditHead;
use super::keyring::Keyring;
use super::violation::Violation;
use crate::rpc::message::AuditEntry;

/// The beginning of a line that acknowledges flawed lines.
const ACKNOWLEDGEMENT: &str = "salvage: the audit log is damaged: lines ";

/// A reason why lines are flawed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Flaw {
    Altered,
    Missing,
    /// The line before is missing, so nothing proves this one.
    Unverifiable,
    /// Beyond the log's head.
    Surplus,
}

/// Flawed lines in sequence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Flawed {
    pub(super) first: u64,
    pub(super) last: u64,
    pub(super) flaw: Flaw,
}

impl Flawed {
    pub(super) fn violation(&self) -> Violation {
        match self.flaw {
            Flaw::Altered | Flaw::Unverifiable => Violation::AuditEntry(self.first),
            Flaw::Missing => Violation::AuditMissing(self.first),
            Flaw::Surplus => Violation::AuditSurplus,
        }
    }

    /// Returns its lines as a range.
    pub(super) fn lines(&self) -> String {
        match self.first == self.last {
            true => self.first.to_string(),
            false => format!("{}-{}", self.first, self.last),
        }
    }
}

impl fmt::Display for Flawed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let flaw = match self.flaw {
            Flaw::Altered => "altered",
            Flaw::Missing => "missing",
            Flaw::Unverifiable => "not verifiable, because the one before is missing",
            Flaw::Surplus => "beyond the log's head",
        };
        let (noun, verb) = if self.first == self.last { ("line", "is") } else { ("lines", "are") };
        write!(f, "{noun} {} of the audit log {verb} {flaw}", self.lines())
    }
}

/// Returns the text of a line that acknowledges flawed lines.
pub(super) fn acknowledgement(flawed: &[Flawed]) -> String {
    let lines = flawed.iter().map(Flawed::lines).collect::<Vec<_>>().join(", ");
    format!("{ACKNOWLEDGEMENT}{lines}")
}

/// A walk along the lines, in their order.
pub(super) struct Chain<'a> {
    keys: &'a Keyring,
    /// The number and the stored MAC of the line before.
    pub(super) head: AuditHead,
    /// The last verified line.
    pub(super) verified: AuditHead,
    pub(super) flawed: Vec<Flawed>,
    /// The number of the acknowledging line, and the lines that it acknowledges.
    acknowledged: Vec<(u64, u64, u64)>,
}

impl<'a> Chain<'a> {
    pub(super) fn new(keys: &'a Keyring) -> Self {
        let (head, verified) = Default::default();
        Self { keys, head, verified, flawed: Vec::new(), acknowledged: Vec::new() }
    }

    /// Walks over a line. Returns whether it is authentic.
    pub(super) fn line(&mut self, entry: &AuditEntry) -> bool {
        let AuditEntry { sequence, time, who, what, mac } = entry;
        let sequence = *sequence;
        // Numbers beyond the database's integers are negative there, and come first.
        if sequence <= self.head.sequence || sequence > i64::MAX as u64 {
            self.flaw(sequence, sequence, Flaw::Altered);
            return false;
        }
        let next = self.head.next(self.keys, *time, who, what);
        let follows = sequence == next.sequence;
        if !follows {
            self.flaw(next.sequence, sequence - 1, Flaw::Missing);
        }
        let authentic = follows && bool::from(mac.0.ct_eq(&next.mac));
        self.head = AuditHead { sequence, mac: mac.0.as_slice().try_into().unwrap_or_default() };
        if authentic {
            self.verified = next;
            self.acknowledge(sequence, what);
        } else {
            let flaw = if follows { Flaw::Altered } else { Flaw::Unverifiable };
            self.flaw(sequence, sequence, flaw);
        }
        authentic
    }

    /// Compares the end of the log with the head in the manifest.
    pub(super) fn end(&mut self, head: &AuditHead) {
        if self.head.sequence < head.sequence {
            self.flaw(self.head.sequence + 1, head.sequence, Flaw::Missing);
        } else if self.head.sequence == head.sequence
            && !bool::from(self.head.mac.ct_eq(&head.mac))
            && self.flawed.last().is_none_or(|flawed| flawed.last != head.sequence)
        {
            self.flaw(head.sequence, head.sequence, Flaw::Altered);
        }
    }

    pub(super) fn flaw(&mut self, first: u64, last: u64, flaw: Flaw) {
        match self.flawed.last_mut() {
            Some(before) if before.flaw == flaw && before.last.wrapping_add(1) == first => {
                before.last = last;
            }
            _ => self.flawed.push(Flawed { first, last, flaw }),
        }
    }

    fn acknowledge(&mut self, by: u64, what: &str) {
        let Some(lines) = what.strip_prefix(ACKNOWLEDGEMENT) else { return };
        for range in lines.split(", ") {
            let (first, last) = range.split_once('-').unwrap_or((range, range));
            if let (Ok(first), Ok(last)) = (first.parse(), last.parse()) {
                self.acknowledged.push((by, first, last));
            }
        }
    }

    /// Returns the flawed lines, and the line that acknowledges them if one does.
    pub(super) fn judged(&self) -> impl Iterator<Item = (&Flawed, Option<u64>)> {
        self.flawed.iter().map(|flawed| {
            let mut by = 0;
            // Line by line: several acknowledgements may cover a run of flawed lines together.
            let mut line = flawed.first;
            while line <= flawed.last {
                let covers = |(by, first, last): &&(u64, u64, u64)| {
                    *by > flawed.last && (*first..=*last).contains(&line)
                };
                let Some((number, _, last)) = self.acknowledged.iter().find(covers) else {
                    return (flawed, None);
                };
                by = by.max(*number);
                let Some(next) = last.checked_add(1) else { break };
                line = next;
            }
            (flawed, Some(by))
        })
    }
}
