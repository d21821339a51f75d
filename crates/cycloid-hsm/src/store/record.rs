//! Records and settings, in their sealed form in rows and in the clear.
//!
//! A record is sealed in two parts, so that its attributes can be read without its secret. The
//! secret is sealed first, and its sealed form is associated data of the attributes: opening the
//! attributes proves that the secret belongs to them, without opening the secret.

use zeroize::Zeroizing;

use super::database::{Row, Value as Parameter};
use super::encoding::Value;
use super::keyring::Keyring;
use super::manifest::{Generation, Term};
use super::seal::{NONCE, Part, TAG, associated, mac, open, seal};
use super::violation::{Name, Violation};
use crate::Result;
use crate::attribute::{Template, cka};

/// An object without its secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// Counts from 1; never reused within a keystore.
    pub id: u64,
    /// Counts from 1, incremented by each update.
    pub version: u64,
    /// All attributes except secret ones.
    pub attributes: Template,
    /// Whether [`Store::secret`](super::Store::secret) returns a secret.
    pub has_secret: bool,
}

const HAS_SECRET: u32 = 1;

/// Returns the flags that bind the secret to the object's protection, so that no other object can
/// use it.
fn flags(attributes: &Template, has_secret: bool) -> u32 {
    let flags = [(2, cka::PRIVATE), (4, cka::SENSITIVE), (8, cka::EXTRACTABLE)];
    let set = flags.iter().filter(|(_, number)| attributes.is(*number)).map(|(flag, _)| flag);
    set.sum::<u32>() | if has_secret { HAS_SECRET } else { 0 }
}

/// The position and state of a record, which its seal binds.
#[derive(Clone, Copy)]
pub(super) struct Place {
    pub(super) id: u64,
    pub(super) version: u64,
    pub(super) generation: Generation,
}

/// A row of `records`.
pub(super) struct SealedRecord {
    pub(super) place: Place,
    class: u64,
    flags: u32,
    epoch: u32,
    attributes: Vec<u8>,
    secret: Option<Vec<u8>>,
}

macro_rules! select {
    ($rest:literal) => {
        concat!(
            "SELECT id, version, generation, class, flags, epoch, attributes, secret FROM records ",
            $rest
        )
    };
}

impl SealedRecord {
    pub(super) const SELECT: &str = select!("ORDER BY id");
    pub(super) const SELECT_ONE: &str = select!("WHERE id = $1");
    pub(super) const SELECT_SINCE: &str = select!("WHERE generation > $1 ORDER BY id");
    /// Selects some records that are sealed under a master key of an older epoch.
    pub(super) const SELECT_OLD: &str = select!("WHERE epoch < $1 ORDER BY epoch, id LIMIT 128");
    pub(super) const INSERT: &str = "INSERT INTO records \
        (id, version, generation, class, flags, epoch, attributes, secret) \
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8)";
    pub(super) const DELETE: &str = "DELETE FROM records WHERE id = $1";

    /// # Errors
    /// [`Code::TEMPLATE_INCOMPLETE`](crate::Code::TEMPLATE_INCOMPLETE) without a class.
    pub(super) fn seal(
        place: Place,
        keys: &Keyring,
        attributes: &Template,
        secret: Option<&[u8]>,
    ) -> Result<Self> {
        let class = attributes.needed_number(cka::CLASS)?;
        let master = keys.current();
        let mut sealed = Self {
            place,
            class,
            flags: flags(attributes, secret.is_some()),
            epoch: master.epoch,
            attributes: Vec::new(),
            secret: None,
        };
        if let Some(secret) = secret {
            let associated = sealed.associated(Part::Secret, keys, &[]);
            sealed.secret = Some(seal(&master.key, &associated, secret)?);
        }
        let length = attributes.iter().map(|(_, value)| 8 + value.len()).sum::<usize>();
        let mut text = Zeroizing::new(Vec::with_capacity(4 + length));
        attributes.write(&mut text);
        sealed.attributes = seal(&master.key, &sealed.attributes_associated(keys), &text)?;
        Ok(sealed)
    }

    /// # Errors
    /// [`Violation::Altered`] for a change of any column.
    pub(super) fn open(&self, keys: &Keyring) -> Result<Record, Violation> {
        let altered = || Violation::Altered(self.name());
        let master = keys.master(self.epoch).ok_or_else(altered)?;
        let text = open(master, &self.attributes_associated(keys), &self.attributes);
        let text = text.ok_or_else(altered)?;
        let mut from = text.as_slice();
        let attributes = Template::read(&mut from).map_err(|_| altered())?;
        let has_secret = self.flags & HAS_SECRET != 0;
        if !from.is_empty() || has_secret != self.secret.is_some() {
            return Err(altered());
        }
        let Place { id, version, .. } = self.place;
        Ok(Record { id, version, attributes, has_secret })
    }

    /// Returns the secret, if there is one.
    ///
    /// # Errors
    /// [`Violation::Altered`].
    pub(super) fn secret(&self, keys: &Keyring) -> Result<Option<Zeroizing<Vec<u8>>>, Violation> {
        let altered = || Violation::Altered(self.name());
        let Some(secret) = &self.secret else { return Ok(None) };
        let master = keys.master(self.epoch).ok_or_else(altered)?;
        let associated = self.associated(Part::Secret, keys, &[]);
        open(master, &associated, secret).ok_or_else(altered).map(Some)
    }

    /// Returns the row's term in the manifest. The nonce and the tag of the attributes authenticate
    /// all that they seal and bind, so the term is one block of SHA-256;
    /// [`Store::load`](super::Store) computes one per record.
    pub(super) fn term(&self, keys: &Keyring) -> Term {
        let (nonce, _) = self.attributes.split_at(NONCE.min(self.attributes.len()));
        let (_, tag) = self.attributes.split_at(self.attributes.len().saturating_sub(TAG));
        let part = [Part::RecordTerm as u8];
        mac(keys.terms(), &[&part, &self.place.id.to_le_bytes()[..], nonce, tag].concat())
    }

    pub(super) const fn name(&self) -> Name {
        Name::Record(self.place.id)
    }

    /// Returns an upper bound on the bytes that attributes and secret take in a message: sealing
    /// adds more bytes than the message's lengths and tags do.
    pub(super) fn length(&self) -> usize {
        self.attributes.len() + self.secret.as_ref().map_or(0, Vec::len)
    }

    fn attributes_associated(&self, keys: &Keyring) -> Vec<u8> {
        self.associated(Part::Attributes, keys, &[self.secret.as_deref().unwrap_or_default()])
    }

    fn associated(&self, part: Part, keys: &Keyring, strings: &[&[u8]]) -> Vec<u8> {
        let Place { id, version, generation } = self.place;
        let (flags, epoch) = (self.flags.into(), self.epoch.into());
        let numbers = [id, version, generation.0, self.class, flags, epoch];
        associated(part, &keys.identity, &numbers, strings)
    }

    pub(super) fn from_row(mut row: Row) -> Result<Self> {
        let (id, version) = (row.number()?, row.number()?);
        Ok(Self {
            place: Place { id, version, generation: Generation(row.number()?) },
            class: row.number()?,
            flags: row.small()?,
            epoch: row.small()?,
            attributes: row.bytes()?,
            secret: row.optional_bytes()?,
        })
    }

    pub(super) fn values(&self) -> [Parameter<'_>; 8] {
        [
            Parameter::number(self.place.id),
            Parameter::number(self.place.version),
            Parameter::number(self.place.generation.0),
            Parameter::number(self.class),
            Parameter::number(self.flags.into()),
            Parameter::number(self.epoch.into()),
            Parameter::Bytes(&self.attributes),
            Parameter::optional(self.secret.as_deref()),
        ]
    }
}

/// A row of `settings`.
pub(super) struct SealedSetting {
    name: String,
    pub(super) generation: Generation,
    epoch: u32,
    value: Vec<u8>,
}

impl SealedSetting {
    pub(super) const SELECT: &str = "SELECT name, generation, epoch, value FROM settings";
    pub(super) const SELECT_ONE: &str =
        "SELECT name, generation, epoch, value FROM settings WHERE name = $1";
    pub(super) const SELECT_SINCE: &str =
        "SELECT name, generation, epoch, value FROM settings WHERE generation > $1";
    pub(super) const SELECT_OLD: &str =
        "SELECT name, generation, epoch, value FROM settings WHERE epoch < $1";
    pub(super) const INSERT: &str =
        "INSERT INTO settings (name, generation, epoch, value) VALUES ($1, $2, $3, $4)";
    pub(super) const DELETE: &str = "DELETE FROM settings WHERE name = $1";

    pub(super) fn seal(
        name: &str,
        generation: Generation,
        keys: &Keyring,
        value: &[u8],
    ) -> Result<Self> {
        let master = keys.current();
        let mut sealed =
            Self { name: name.to_owned(), generation, epoch: master.epoch, value: Vec::new() };
        sealed.value = seal(&master.key, &sealed.associated(Part::Setting, keys, &[]), value)?;
        Ok(sealed)
    }

    /// # Errors
    /// [`Violation::Altered`].
    pub(super) fn open(&self, keys: &Keyring) -> Result<Zeroizing<Vec<u8>>, Violation> {
        let altered = || Violation::Altered(self.name());
        let master = keys.master(self.epoch).ok_or_else(altered)?;
        open(master, &self.associated(Part::Setting, keys, &[]), &self.value).ok_or_else(altered)
    }

    /// Returns the row's term in the manifest.
    pub(super) fn term(&self, keys: &Keyring) -> Term {
        mac(keys.terms(), &self.associated(Part::SettingTerm, keys, &[&self.value]))
    }

    pub(super) fn name(&self) -> Name {
        Name::Setting(self.name.clone())
    }

    fn associated(&self, part: Part, keys: &Keyring, strings: &[&[u8]]) -> Vec<u8> {
        let mut all = vec![self.name.as_bytes()];
        all.extend(strings);
        associated(part, &keys.identity, &[self.generation.0, self.epoch.into()], &all)
    }

    pub(super) fn from_row(mut row: Row) -> Result<Self> {
        Ok(Self {
            name: row.text()?,
            generation: Generation(row.number()?),
            epoch: row.small()?,
            value: row.bytes()?,
        })
    }

    pub(super) fn values(&self) -> [Parameter<'_>; 4] {
        [
            Parameter::Text(&self.name),
            Parameter::number(self.generation.0),
            Parameter::number(self.epoch.into()),
            Parameter::Bytes(&self.value),
        ]
    }
}
