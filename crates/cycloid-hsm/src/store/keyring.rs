//! The keys of an unlocked keystore.
//!
//! Slots seal the root key, and the root key seals the keyring: the keys of the audit log and the
//! manifest, and the master keys, each of which has an epoch. There is one master key, or two
//! during a rotation.

use zeroize::{Zeroize, Zeroizing};

use super::encoding::Value;
use super::memory::Locked;
use super::seal::{Identity, Key, Part, associated, fill, open, seal};
use super::violation::Violation;
use crate::Result;

/// All keys, in locked memory.
pub(super) struct Keyring {
    pub(super) identity: Identity,
    keys: Locked<Keys>,
}

#[derive(Default, Zeroize)]
struct Keys {
    root: Key,
    /// Counts the changes of the keyring; the manifest contains the same count.
    version: u64,
    audit: Key,
    manifest: Key,
    terms: Key,
    /// The master keys, the current one first. Epoch 0 means none.
    masters: [Master; 2],
}

/// A master key: the key-encryption key of records.
#[derive(Default, Zeroize)]
pub(super) struct Master {
    pub(super) epoch: u32,
    pub(super) key: Key,
}

impl Keyring {
    /// Generates new keys.
    pub(super) fn generate(identity: Identity) -> Result<Self> {
        let mut keys = Locked::<Keys>::new()?;
        let Keys { root, version, audit, manifest, terms, masters: [master, _] } = &mut *keys;
        for key in [root, audit, manifest, terms, &mut master.key] {
            fill(key)?;
        }
        (*version, master.epoch) = (1, 1);
        Ok(Self { identity, keys })
    }

    /// Opens what [`seal`](Self::seal) sealed.
    ///
    /// # Errors
    /// [`Violation::Keyring`].
    pub(super) fn open(identity: Identity, root: &Key, sealed: &[u8]) -> Result<Self> {
        let text = open(root, &associated(Part::Keyring, &identity, &[], &[]), sealed)
            .ok_or(Violation::Keyring)?;
        let mut keys = Locked::<Keys>::new()?;
        keys.root = *root;
        read(&text, &mut keys).ok_or(Violation::Keyring)?;
        Ok(Self { identity, keys })
    }

    /// Returns the keyring, sealed by the root key.
    pub(super) fn seal(&self) -> Result<Vec<u8>> {
        let keys = &*self.keys;
        // The capacity prevents a reallocation, which would leave a copy of the keys.
        let mut text = Zeroizing::new(Vec::with_capacity(256));
        keys.version.write(&mut text);
        text.extend_from_slice(&keys.audit);
        text.extend_from_slice(&keys.manifest);
        text.extend_from_slice(&keys.terms);
        for master in &keys.masters {
            master.epoch.write(&mut text);
            text.extend_from_slice(&master.key);
        }
        seal(&keys.root, &associated(Part::Keyring, &self.identity, &[], &[]), &text)
    }

    /// Returns a keyring with an additional master key, which becomes the current one.
    pub(super) fn with_new_master(&self) -> Result<Self> {
        let mut new = self.without_old_master()?;
        let [current, old] = &mut new.keys.masters;
        std::mem::swap(current, old);
        current.epoch = old.epoch + 1;
        fill(&mut current.key)?;
        Ok(new)
    }

    /// Returns a keyring with the current master key alone.
    pub(super) fn without_old_master(&self) -> Result<Self> {
        let mut keys = Locked::<Keys>::new()?;
        keys.root = self.keys.root;
        keys.version = self.keys.version + 1;
        keys.audit = self.keys.audit;
        keys.manifest = self.keys.manifest;
        keys.terms = self.keys.terms;
        keys.masters[0].epoch = self.current().epoch;
        keys.masters[0].key = self.current().key;
        Ok(Self { identity: self.identity, keys })
    }

    /// Returns the number of changes of the keyring.
    pub(super) fn version(&self) -> u64 {
        self.keys.version
    }

    /// Returns the root key, which slots seal.
    pub(super) fn root(&self) -> &Key {
        &self.keys.root
    }

    /// Returns the key of the audit log's chain.
    pub(super) fn audit(&self) -> &Key {
        &self.keys.audit
    }

    /// Returns the key that seals the manifest.
    pub(super) fn manifest(&self) -> &Key {
        &self.keys.manifest
    }

    /// Returns the key of the rows' terms, whose sum is in the manifest.
    pub(super) fn terms(&self) -> &Key {
        &self.keys.terms
    }

    /// Returns the current master key, which seals everything that is written.
    pub(super) fn current(&self) -> &Master {
        &self.keys.masters[0]
    }

    /// Returns the master key of an epoch.
    pub(super) fn master(&self, epoch: u32) -> Option<&Key> {
        let of_epoch = |master: &&Master| master.epoch == epoch && epoch != 0;
        self.keys.masters.iter().find(of_epoch).map(|master| &master.key)
    }

    /// Returns whether there is a second master key besides the current one.
    pub(super) fn is_rotating(&self) -> bool {
        self.keys.masters[1].epoch != 0
    }
}

fn read(mut text: &[u8], keys: &mut Keys) -> Option<()> {
    let from = &mut text;
    keys.version = u64::read(from).ok()?;
    keys.audit = key(from)?;
    keys.manifest = key(from)?;
    keys.terms = key(from)?;
    for master in &mut keys.masters {
        master.epoch = u32::read(from).ok()?;
        master.key = key(from)?;
    }
    from.is_empty().then_some(())
}

fn key(from: &mut &[u8]) -> Option<Key> {
    let (key, rest) = from.split_first_chunk()?;
    *from = rest;
    Some(*key)
}
