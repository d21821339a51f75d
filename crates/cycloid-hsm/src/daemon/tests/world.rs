//! The expected contents of a keystore, from what clients announced: acknowledged changes are
//! there, and changes that were in flight when a client or the daemon was killed are complete or
//! absent.

use std::collections::BTreeMap;
use std::fmt;

use crate::attribute::{Template, cka, cko};
use crate::key::PrivateKey;
use crate::store::{Record, Store};

/// The label of keys that all clients use and none changes.
pub(super) const KNOWN: &str = "known";

/// A client's change of stored objects.
#[derive(Clone, Debug)]
pub(super) enum Change {
    /// Generates a pair. `made`, once known, has the numbers of the public and the private half,
    /// and the SubjectPublicKeyInfo.
    Pair { label: String, made: Option<(u64, u64, Vec<u8>)> },
    /// Destroys an object.
    Destroy(u64),
    /// Sets an object's identifier.
    Identify(u64, u64),
    /// Changes nothing; reports the number of verified signatures.
    Count(u64),
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Pair { label, made: None } => write!(f, "pair {label}"),
            Self::Pair { label, made: Some((public, private, info)) } => {
                write!(f, "pair {label} {public} {private} ")?;
                info.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
            }
            Self::Destroy(object) => write!(f, "destroy {object}"),
            Self::Identify(object, identifier) => write!(f, "identify {object} {identifier}"),
            Self::Count(count) => write!(f, "count {count}"),
        }
    }
}

impl Change {
    fn read(words: &[&str]) -> Self {
        let number = |word: &str| word.parse().unwrap();
        match *words {
            ["pair", label] => Self::Pair { label: label.into(), made: None },
            ["pair", label, public, private, info] => {
                let digits = info.as_bytes().chunks(2);
                let byte = |pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16);
                let info = digits.map(|pair| byte(pair).unwrap()).collect();
                let made = Some((number(public), number(private), info));
                Self::Pair { label: label.into(), made }
            }
            ["destroy", object] => Self::Destroy(number(object)),
            ["identify", object, identifier] => Self::Identify(number(object), number(identifier)),
            ["count", count] => Self::Count(number(count)),
            _ => panic!("a client says {words:?}"),
        }
    }
}

/// One half of a pair.
#[derive(Clone, Debug, PartialEq)]
struct Half {
    label: String,
    private: bool,
    identifier: Vec<u8>,
    info: Vec<u8>,
}

/// All objects of one client, by number.
type Objects = BTreeMap<u64, Half>;

/// The expected objects of one client, from what it announced.
#[derive(Clone, Debug, Default)]
struct Life {
    objects: Objects,
    /// The last change that it tried without acknowledging it.
    trying: Option<Change>,
}

impl Life {
    fn apply(&mut self, change: Change) {
        match change {
            Change::Pair { label, made } => {
                let (public, private, info) = made.expect("an acknowledged pair has its numbers");
                for (object, private) in [(public, false), (private, true)] {
                    let (label, info) = (label.clone(), info.clone());
                    let half = Half { label, private, identifier: vec![], info };
                    assert_eq!(self.objects.insert(object, half), None, "two have one number");
                }
            }
            Change::Destroy(object) => drop(self.objects.remove(&object).unwrap()),
            Change::Identify(object, identifier) => {
                let half = self.objects.get_mut(&object).unwrap();
                half.identifier = identifier.to_be_bytes().to_vec();
            }
            Change::Count(_) => {}
        }
    }

    /// Returns the expectation if the last change was carried out. A pair counts if it was found
    /// complete.
    fn with_trial(&self, found: &Objects) -> Self {
        let mut life = self.clone();
        match life.trying.take() {
            Some(Change::Pair { label, .. }) => {
                let mut halves = found.iter().filter(|(_, half)| half.label == label);
                if let (Some((public, half)), Some((private, other)), None) =
                    (halves.next(), halves.next(), halves.next())
                {
                    assert!(!half.private && other.private, "{label}: two halves of one kind");
                    let made = Some((*public, *private, half.info.clone()));
                    life.apply(Change::Pair { label, made });
                }
            }
            Some(change) => life.apply(change),
            None => {}
        }
        life
    }
}

/// All clients so far, and their expected objects.
#[derive(Debug, Default)]
pub(super) struct World {
    lives: BTreeMap<String, Life>,
    /// The number of acknowledged changes.
    pub(super) changes: usize,
    /// The number of changes that were carried out but not acknowledged.
    pub(super) unacknowledged: usize,
    /// The number of signatures that clients reported as verified.
    pub(super) signatures: u64,
}

impl World {
    /// Takes in the output of a client process.
    pub(super) fn hear(&mut self, lines: &[String]) {
        for line in lines {
            let words: Vec<&str> = line.split(' ').collect();
            let [name, verb @ ("try" | "did" | "signed"), ..] = words[..] else {
                // Output of the test harness.
                continue;
            };
            let change = Change::read(&words[2..]);
            let life = self.lives.entry(name.to_owned()).or_default();
            match (verb, &change) {
                ("signed", Change::Count(count)) => self.signatures += count,
                ("try", _) => life.trying = Some(change),
                _ => {
                    life.trying = None;
                    life.apply(change);
                    self.changes += 1;
                }
            }
        }
    }

    /// Compares a keystore with the expected contents. All clients are gone.
    pub(super) fn check(&mut self, store: &Store) {
        let (_, records) = store.load().expect("the keystore is sound");
        let mut found: BTreeMap<String, Objects> = BTreeMap::new();
        for record in &records {
            let half = half(store, record);
            let name = half.label.split('/').next().unwrap().to_owned();
            found.entry(name).or_default().insert(record.id, half);
        }
        let known = found.remove(KNOWN).unwrap_or_default();
        assert_eq!(known.len(), 6, "what nobody changes");
        for (name, life) in &mut self.lives {
            let found = found.remove(name).unwrap_or_default();
            if life.trying.is_some() && found != life.objects {
                *life = life.with_trial(&found);
                self.unacknowledged += 1;
            }
            life.trying = None;
            assert_eq!(found, life.objects, "{name}");
        }
        assert!(found.is_empty(), "unexpected objects {found:?}");
        check_log(store, &records);
    }
}

/// Compares the objects with the audit log: exactly the objects that were made and not destroyed
/// exist, and each was changed as often as its version says.
fn check_log(store: &Store, records: &[Record]) {
    let mut logged = BTreeMap::new();
    let entries = store.audit_entries(1, u32::MAX).unwrap();
    for entry in &entries {
        let words: Vec<&str> = entry.what.split(' ').collect();
        let number = |word: &str| word.parse::<u64>().unwrap();
        match words[..] {
            ["objects", one, "and", other, _, "generated"] => {
                for id in [one, other].map(number) {
                    assert_eq!(logged.insert(id, 1), None, "{id} was made twice");
                }
            }
            ["object", id, _, "changed"] => *logged.get_mut(&number(id)).unwrap() += 1,
            ["object", id, _, "destroyed"] => drop(logged.remove(&number(id)).unwrap()),
            ["object" | "objects", ..] => panic!("{}", entry.what),
            _ => {}
        }
    }
    let found: BTreeMap<u64, u64> =
        records.iter().map(|record| (record.id, record.version)).collect();
    assert_eq!(found, logged, "objects and audit log differ");
}

/// Returns the contents of a record, after checking that its secret belongs to its public half.
fn half(store: &Store, record: &Record) -> Half {
    let attributes = &record.attributes;
    let bytes = |number| attributes.get(number).unwrap().to_vec();
    let info = bytes(cka::PUBLIC_KEY_INFO);
    let class = attributes.needed_number(cka::CLASS).unwrap();
    let private = class == u64::from(cko::PRIVATE_KEY);
    assert_eq!(record.has_secret, private);
    if private {
        let key_type = attributes.needed_number(cka::KEY_TYPE).unwrap().try_into().unwrap();
        let key = PrivateKey::from_bytes(key_type, &store.secret(record.id).unwrap()).unwrap();
        let mut described = Template::new();
        key.describe(&mut described, true);
        assert_eq!(described.get(cka::PUBLIC_KEY_INFO), Some(info.as_slice()));
    }
    let label = String::from_utf8(bytes(cka::LABEL)).unwrap();
    Half { label, private, identifier: bytes(cka::ID), info }
}
