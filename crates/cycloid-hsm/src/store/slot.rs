//! Slots: the root key sealed by a passphrase, by the bytes of a key file, or by both together.

use argon2::{Algorithm, Argon2, Params, Version};
use hkdf::Hkdf;
use sha2::Sha256;
use zeroize::Zeroizing;

use super::database::{Row, Value};
use super::seal::{Identity, Key, Part, associated, mac, open, random, seal};
use super::violation::{Name, Violation};
use crate::rpc::Secret;
use crate::{Code, Result};

/// The length of a key file in bytes.
pub const KEY_FILE: usize = 32;

/// The credentials that unlock a keystore: a passphrase, a key file's bytes, or both together.
#[derive(Clone, Debug, Default)]
pub struct Unlocking {
    /// The operator's passphrase; not empty.
    pub passphrase: Option<Secret>,
    /// [`KEY_FILE`] random bytes.
    pub key_file: Option<Secret>,
}

impl Unlocking {
    /// Unlocks by a passphrase alone.
    pub fn passphrase(passphrase: &[u8]) -> Self {
        Self { passphrase: Some(Secret::new(passphrase)), key_file: None }
    }

    /// Unlocks by a key file alone.
    pub fn key_file(bytes: &[u8]) -> Self {
        Self { passphrase: None, key_file: Some(Secret::new(bytes)) }
    }

    /// Generates the bytes of a new key file.
    ///
    /// # Errors
    /// [`Code::DEVICE_ERROR`] if the system provides no random bytes.
    pub fn new_key_file() -> Result<Secret> {
        Ok(Secret::new(&*Zeroizing::new(random::<KEY_FILE>()?)))
    }

    /// Returns a bit set: 1 for a passphrase, 2 for a key file.
    fn methods(&self) -> u64 {
        u64::from(self.passphrase.is_some()) | u64::from(self.key_file.is_some()) << 1
    }

    fn check(&self) -> Result<()> {
        if self.methods() == 0 {
            return Err(
                Code::ARGUMENTS_BAD.because("neither a passphrase nor a key file was given")
            );
        }
        if self.passphrase.as_ref().is_some_and(|passphrase| passphrase.is_empty()) {
            return Err(Code::PIN_LEN_RANGE.because("the passphrase is empty"));
        }
        if self.key_file.as_ref().is_some_and(|bytes| bytes.len() != KEY_FILE) {
            return Err(
                Code::ARGUMENTS_BAD.because(format!("a key file must have {KEY_FILE} bytes"))
            );
        }
        Ok(())
    }
}

/// The cost of trying a passphrase: the parameters of argon2id (RFC 9106, section 3.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cost {
    /// Memory, in KiB.
    pub memory_kib: u32,
    /// Passes over the memory.
    pub passes: u32,
    /// Degree of parallelism.
    pub lanes: u32,
}

impl Cost {
    /// 64 MiB and three passes: the second recommendation of RFC 9106, section 4.
    pub const DEFAULT: Self = Self { memory_kib: 64 << 10, passes: 3, lanes: 1 };
    /// For tests only: it protects nothing.
    pub const LOWEST: Self = Self { memory_kib: 8, passes: 1, lanes: 1 };

    /// The highest cost accepted from a row, which anyone may have written.
    const HIGHEST: Self = Self { memory_kib: 512 << 10, passes: 16, lanes: 8 };

    fn parameters(self) -> Option<Params> {
        let bounded = self.memory_kib <= Self::HIGHEST.memory_kib
            && self.passes <= Self::HIGHEST.passes
            && self.lanes <= Self::HIGHEST.lanes;
        let make = || Params::new(self.memory_kib, self.passes, self.lanes, Some(32)).ok();
        bounded.then(make).flatten()
    }
}

/// A row of `slots`.
pub(super) struct Slot {
    pub(super) id: u64,
    methods: u64,
    pub(super) cost: Cost,
    salt: [u8; 16],
    sealed: Vec<u8>,
}

impl Slot {
    /// The columns that [`from_row`](Self::from_row) reads.
    pub(super) const SELECT: &str =
        "SELECT id, methods, memory_kib, passes, lanes, salt, sealed FROM slots ORDER BY id";
    /// The statement for [`values`](Self::values).
    pub(super) const INSERT: &str = "INSERT INTO slots \
        (id, methods, memory_kib, passes, lanes, salt, sealed) VALUES ($1, $2, $3, $4, $5, $6, $7)";
    pub(super) const DELETE: &str = "DELETE FROM slots WHERE id = $1";
    /// The maximum number of slots. More would make unlocking slow, and indicate tampering.
    pub(super) const MOST: usize = 16;

    /// Creates a slot that seals the root key.
    ///
    /// # Errors
    /// [`Code::ARGUMENTS_BAD`], [`Code::PIN_LEN_RANGE`].
    pub(super) fn new(
        id: u64,
        identity: &Identity,
        root: &Key,
        unlocking: &Unlocking,
        cost: Cost,
    ) -> Result<Self> {
        unlocking.check()?;
        let (methods, salt) = (unlocking.methods(), random()?);
        let mut slot = Self { id, methods, cost, salt, sealed: Vec::new() };
        let key = slot.key(identity, unlocking)?.ok_or_else(|| {
            Code::ARGUMENTS_BAD.because("argon2id does not accept these parameters")
        })?;
        slot.sealed = seal(&key, &slot.associated(Part::Slot, identity, &[]), root)?;
        Ok(slot)
    }

    /// Returns the root key, if `unlocking` opens the slot.
    ///
    /// # Errors
    /// [`Code::ARGUMENTS_BAD`], [`Code::PIN_LEN_RANGE`].
    pub(super) fn open(
        &self,
        identity: &Identity,
        unlocking: &Unlocking,
    ) -> Result<Option<Zeroizing<Key>>> {
        unlocking.check()?;
        if self.methods != unlocking.methods() {
            return Ok(None);
        }
        let Some(key) = self.key(identity, unlocking)? else { return Ok(None) };
        let root = open(&key, &self.associated(Part::Slot, identity, &[]), &self.sealed);
        Ok(root.and_then(|root| root.as_slice().try_into().ok().map(Zeroizing::new)))
    }

    /// Derives the slot's key with HKDF (RFC 5869) from argon2id's output for the passphrase and
    /// from the key file's bytes. An absent input is zeros; `methods` in the associated data
    /// distinguishes it from real zeros.
    fn key(&self, identity: &Identity, unlocking: &Unlocking) -> Result<Option<Zeroizing<Key>>> {
        let mut material = Zeroizing::new([0; 32 + KEY_FILE]);
        let (of_passphrase, of_key_file) = material.split_at_mut(32);
        if let Some(passphrase) = &unlocking.passphrase {
            let Some(parameters) = self.cost.parameters() else { return Ok(None) };
            Argon2::new(Algorithm::Argon2id, Version::V0x13, parameters)
                .hash_password_into(passphrase, &self.salt, of_passphrase)
                .map_err(|error| Code::HOST_MEMORY.because(format!("argon2id: {error}")))?;
        }
        if let Some(bytes) = &unlocking.key_file {
            of_key_file.copy_from_slice(bytes);
        }
        let mut key = Zeroizing::new([0; 32]);
        Hkdf::<Sha256>::new(Some(&self.salt), &*material)
            .expand(&self.associated(Part::Slot, identity, &[]), &mut *key)
            .expect("32 bytes are not too many");
        Ok(Some(key))
    }

    fn associated(&self, part: Part, identity: &Identity, strings: &[&[u8]]) -> Vec<u8> {
        let Cost { memory_kib, passes, lanes } = self.cost;
        let cost = [memory_kib, passes, lanes].map(u64::from);
        let numbers = [self.id, self.methods, cost[0], cost[1], cost[2]];
        let mut all: Vec<&[u8]> = vec![&self.salt];
        all.extend(strings);
        associated(part, identity, &numbers, &all)
    }

    /// Returns the row's term in the manifest.
    pub(super) fn term(&self, identity: &Identity, key: &Key) -> [u8; 32] {
        mac(key, &self.associated(Part::SlotTerm, identity, &[&self.sealed]))
    }

    pub(super) const fn name(&self) -> Name {
        Name::Slot(self.id)
    }

    pub(super) fn from_row(mut row: Row) -> Result<Self> {
        Ok(Self {
            id: row.number()?,
            methods: row.number()?,
            cost: Cost { memory_kib: row.small()?, passes: row.small()?, lanes: row.small()? },
            salt: row.bytes()?.try_into().map_err(|_| Violation::Malformed("slots.salt"))?,
            sealed: row.bytes()?,
        })
    }

    pub(super) fn values(&self) -> [Value<'_>; 7] {
        [
            Value::number(self.id),
            Value::number(self.methods),
            Value::number(self.cost.memory_kib.into()),
            Value::number(self.cost.passes.into()),
            Value::number(self.cost.lanes.into()),
            Value::Bytes(&self.salt),
            Value::Bytes(&self.sealed),
        ]
    }
}
