//! The manifest: a summary of the keystore's contents, in one sealed value that each write
//! replaces.
//!
//! A row's own seal does not reveal that rows were removed, duplicated or reverted. So each row has
//! a *term*, an HMAC over all of its contents, and the manifest has the number of rows of each kind
//! and the sum of their terms modulo 2²⁵⁶. A write adds the terms of new rows to the sum and
//! subtracts those of removed rows. A sum of keyed hashes binds a set of rows as well as a hash of
//! all of them would, because without the key nobody sees terms or sums (Bellare and Micciancio, *A
//! New Paradigm for Collision-Free Hashing*, 1997).
//!
//! The manifest reverted together with all rows is a former valid state. It is detected by a daemon
//! that saw a later state, and by anyone with a later head of the audit log, which the manifest
//! contains.

use std::collections::HashMap;

use zeroize::Zeroizing;

use super::audit_head::AuditHead;
use super::encoding::Value;
use super::keyring::Keyring;
use super::seal::{Part, associated, open, seal};
use super::violation::{Name, Violation};
use crate::Result;

/// The number of writes to a keystore.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Generation(pub u64);

/// The HMAC of a row's contents.
pub(super) type Term = [u8; 32];

/// A sum of terms modulo 2²⁵⁶, little-endian.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Sum([u64; 4]);

impl Sum {
    fn limbs(term: &Term) -> [u64; 4] {
        let (limbs, _) = term.as_chunks::<8>();
        std::array::from_fn(|at| u64::from_le_bytes(limbs[at]))
    }

    pub(super) fn add(&mut self, term: &Term) {
        let mut carry = false;
        for (limb, other) in self.0.iter_mut().zip(Self::limbs(term)) {
            let (sum, over) = limb.overflowing_add(other);
            let (sum, over_again) = sum.overflowing_add(carry.into());
            (*limb, carry) = (sum, over | over_again);
        }
    }

    pub(super) fn subtract(&mut self, term: &Term) {
        let mut borrow = false;
        for (limb, other) in self.0.iter_mut().zip(Self::limbs(term)) {
            let (difference, under) = limb.overflowing_sub(other);
            let (difference, under_again) = difference.overflowing_sub(borrow.into());
            (*limb, borrow) = (difference, under | under_again);
        }
    }
}

/// The number of rows of each kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Counts {
    pub(super) records: u64,
    pub(super) settings: u64,
    pub(super) slots: u64,
}

impl Counts {
    fn of(&mut self, name: &Name) -> &mut u64 {
        match name {
            Name::Record(_) => &mut self.records,
            Name::Setting(_) => &mut self.settings,
            Name::Slot(_) => &mut self.slots,
        }
    }

    /// Compares the expected counts in `self` with those found.
    pub(super) fn compare(&self, found: &Self) -> Result<(), Violation> {
        for (kind, expected, found) in [
            ("records", self.records, found.records),
            ("settings", self.settings, found.settings),
            ("slots", self.slots, found.slots),
        ] {
            match found.cmp(&expected) {
                std::cmp::Ordering::Less => return Err(Violation::Missing(kind)),
                std::cmp::Ordering::Greater => return Err(Violation::Surplus(kind)),
                std::cmp::Ordering::Equal => {}
            }
        }
        Ok(())
    }
}

/// The counts and the sum of a set of rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Total {
    pub(super) counts: Counts,
    pub(super) sum: Sum,
}

impl Total {
    pub(super) fn add(&mut self, name: &Name, term: &Term) {
        let count = self.counts.of(name);
        *count = count.wrapping_add(1);
        self.sum.add(term);
    }

    pub(super) fn subtract(&mut self, name: &Name, term: &Term) {
        // The count wraps below zero only after tampering, which the next verification reports.
        let count = self.counts.of(name);
        *count = count.wrapping_sub(1);
        self.sum.subtract(term);
    }
}

/// The contents of the sealed manifest.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Manifest {
    pub(super) generation: Generation,
    /// The version of the keyring.
    pub(super) keyring: u64,
    /// The number of the next record.
    pub(super) next: u64,
    pub(super) total: Total,
    pub(super) audit: AuditHead,
}

impl Manifest {
    pub(super) fn seal(&self, keys: &Keyring) -> Result<Vec<u8>> {
        let Counts { records, settings, slots } = self.total.counts;
        let [a, b, c, d] = self.total.sum.0;
        let Self { generation, keyring, next, audit, .. } = self;
        let numbers = [generation.0, *keyring, *next, records, settings, slots, a, b, c, d];
        let mut text = Zeroizing::new(Vec::with_capacity(128));
        numbers.iter().for_each(|number| number.write(&mut text));
        audit.sequence.write(&mut text);
        text.extend_from_slice(&audit.mac);
        seal(keys.manifest(), &associated(Part::Manifest, &keys.identity, &[], &[]), &text)
    }

    /// # Errors
    /// [`Violation::Manifest`].
    pub(super) fn open(sealed: &[u8], keys: &Keyring) -> Result<Self, Violation> {
        let associated = associated(Part::Manifest, &keys.identity, &[], &[]);
        let text = open(keys.manifest(), &associated, sealed).ok_or(Violation::Manifest)?;
        Self::read(&text).ok_or(Violation::Manifest)
    }

    fn read(mut text: &[u8]) -> Option<Self> {
        let from = &mut text;
        let mut number = || u64::read(from).ok();
        let (generation, keyring, next) = (Generation(number()?), number()?, number()?);
        let counts = Counts { records: number()?, settings: number()?, slots: number()? };
        let sum = Sum([number()?, number()?, number()?, number()?]);
        let sequence = number()?;
        let audit = AuditHead { sequence, mac: (*from).try_into().ok()? };
        Some(Self { generation, keyring, next, total: Total { counts, sum }, audit })
    }
}

/// This process's last verified view of a keystore: the terms of all rows.
pub(super) struct View {
    pub(super) generation: Generation,
    pub(super) total: Total,
    terms: HashMap<Name, Term>,
}

impl View {
    pub(super) fn new(generation: Generation) -> Self {
        Self { generation, total: Total::default(), terms: HashMap::new() }
    }

    /// Sets the term of a row, or removes the row.
    pub(super) fn set(&mut self, name: Name, term: Option<Term>) {
        if let Some(term) = term {
            self.total.add(&name, &term);
            if let Some(old) = self.terms.insert(name.clone(), term) {
                self.total.subtract(&name, &old);
            }
        } else if let Some(old) = self.terms.remove(&name) {
            self.total.subtract(&name, &old);
        }
    }

    /// Checks that a row that claims to be no later than this view is the one seen.
    ///
    /// # Errors
    /// [`Violation::Reverted`].
    pub(super) fn check(
        &self,
        name: &Name,
        generation: Generation,
        term: &Term,
    ) -> Result<(), Violation> {
        if generation > self.generation || self.terms.get(name) == Some(term) {
            Ok(())
        } else {
            Err(Violation::Reverted(name.clone()))
        }
    }

    /// Returns whether the view has such a row.
    pub(super) fn has(&self, name: &Name) -> bool {
        self.terms.contains_key(name)
    }

    /// Removes the slots for which `keep` returns false.
    pub(super) fn retain_slots(&mut self, keep: impl Fn(u64) -> bool) {
        let gone = self.terms.keys().filter(|name| matches!(name, Name::Slot(id) if !keep(*id)));
        for name in gone.cloned().collect::<Vec<_>>() {
            self.set(name, None);
        }
    }

    /// Checks that the view has exactly the rows that the manifest summarizes.
    pub(super) fn compare(&self, manifest: &Manifest) -> Result<(), Violation> {
        manifest.total.counts.compare(&self.total.counts)?;
        if manifest.total.sum == self.total.sum { Ok(()) } else { Err(Violation::Exchanged) }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_sum_does_not_depend_on_the_order(terms: Vec<[u8; 32]>, taken: prop::sample::Index) {
            let mut sum = Sum::default();
            terms.iter().for_each(|term| sum.add(term));
            let mut backwards = Sum::default();
            terms.iter().rev().for_each(|term| backwards.add(term));
            prop_assert_eq!(sum, backwards);
            if !terms.is_empty() {
                let taken = taken.index(terms.len());
                sum.subtract(&terms[taken]);
                let mut without = Sum::default();
                let others = terms.iter().enumerate().filter(|(at, _)| *at != taken);
                others.for_each(|(_, term)| without.add(term));
                prop_assert_eq!(sum, without);
            }
        }
    }

    #[test]
    fn a_carry_propagates_through_all_limbs() {
        let mut sum = Sum::default();
        sum.add(&[0xff; 32]);
        let mut one = [0; 32];
        one[0] = 1;
        sum.add(&one);
        assert_eq!(sum, Sum::default());
        sum.subtract(&one);
        assert_eq!(sum, Sum([u64::MAX; 4]));
    }
}
