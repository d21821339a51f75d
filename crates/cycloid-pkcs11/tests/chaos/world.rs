//! What there must be at the end, from what clients announced: acknowledged changes, and changes
//! without an answer completely or not at all.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use cycloid_hsm::attribute::cka;
use cycloid_hsm::store::{Record, Store};

use super::rates::Rates;

/// What is known about the end of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    Alive,
    /// Its destruction was not acknowledged.
    Uncertain,
    Destroyed,
}

#[derive(Debug)]
struct Object {
    label: String,
    private: bool,
    /// The identifiers that it may have: the one that was acknowledged last, and later ones.
    identifiers: BTreeSet<Vec<u8>>,
    end: End,
}

/// All clients' announcements.
#[derive(Debug, Default)]
pub(crate) struct World {
    objects: HashMap<u64, Object>,
    /// The labels of pairs whose generation was not acknowledged.
    uncertain: HashSet<String>,
    pub(crate) rates: Rates,
    /// The number of acknowledged changes.
    pub(crate) changes: u64,
    /// Errors by function and code: how many in each slot.
    pub(crate) refusals: BTreeMap<String, BTreeMap<u64, u64>>,
    /// Shared keys: when the destruction was acknowledged, the latest signature began, and the
    /// earliest use began that found it gone.
    pub(crate) ended: HashMap<String, u64>,
    used: HashMap<String, u64>,
    gone: HashMap<String, u64>,
}

impl World {
    /// Takes in an announcement. Returns a shared key that is new, and when it had been made.
    pub(crate) fn hear(&mut self, line: &str) -> Option<String> {
        let words: Vec<&str> = line.split(' ').collect();
        let number = |at: usize| words[at].parse::<u64>().unwrap();
        match words[0] {
            "did" => self.changes += 1,
            "shared" => return line.strip_prefix("shared ").map(str::to_owned),
            _ => {}
        }
        match words[..] {
            ["try", "pair", label] => drop(self.uncertain.insert(label.into())),
            ["did", "pair", label, ..] => {
                self.uncertain.remove(label);
                for (object, private) in [(number(3), false), (number(4), true)] {
                    let identifiers = BTreeSet::from([Vec::new()]);
                    let new = Object { label: label.into(), private, identifiers, end: End::Alive };
                    let old = self.objects.insert(object, new);
                    assert!(old.is_none(), "{label} has the number of {old:?}");
                }
            }
            ["try" | "did", "set", ..] => {
                let object = self.objects.get_mut(&number(2)).unwrap();
                if words[0] == "did" {
                    object.identifiers.clear();
                }
                object.identifiers.insert(number(3).to_be_bytes().into());
            }
            ["try" | "did", "end", ..] => {
                let object = self.objects.get_mut(&number(2)).unwrap();
                object.end = if words[0] == "did" { End::Destroyed } else { End::Uncertain };
            }
            ["slot", ..] => self.rates.add(number(1), number(2)),
            ["refused", function, code, ..] => {
                let slots = self.refusals.entry(format!("{function} {code}")).or_default();
                *slots.entry(number(3)).or_default() += number(4);
            }
            ["ended", label, _] => drop(self.ended.insert(label.into(), number(2))),
            ["used", label, _] => {
                let used = self.used.entry(label.into()).or_default();
                *used = number(2).max(*used);
            }
            ["gone", label, _] => {
                let gone = self.gone.entry(label.into()).or_insert(u64::MAX);
                *gone = number(2).min(*gone);
            }
            _ => panic!("a client says {line}"),
        }
        None
    }

    /// Compares a keystore with what was acknowledged, and with its own log. Returns the objects'
    /// numbers and the number of changes that were made and not acknowledged.
    pub(crate) fn check(&self, store: &Store) -> (BTreeSet<u64>, usize) {
        let (_, records) = store.load().expect("the keystore is sound");
        let mut strangers: HashMap<String, Vec<bool>> = HashMap::new();
        for record in &records {
            let bytes = |number| record.attributes.get(number).unwrap().to_vec();
            let label = String::from_utf8(bytes(cka::LABEL)).unwrap();
            if record.has_secret {
                store.secret(record.id).expect("its secret opens");
            }
            let Some(object) = self.objects.get(&record.id) else {
                assert!(self.uncertain.contains(&label), "nobody made {label}");
                strangers.entry(label).or_default().push(record.has_secret);
                continue;
            };
            assert_ne!(object.end, End::Destroyed, "{label} was destroyed");
            assert_eq!((&object.label, object.private), (&label, record.has_secret));
            let identifier = bytes(cka::ID);
            assert!(
                object.identifiers.contains(&identifier),
                "{label}: {identifier:?}, {object:?}"
            );
        }
        for (label, halves) in &mut strangers {
            halves.sort_unstable();
            assert_eq!(*halves, [false, true], "{label} is half a pair");
        }
        let found: BTreeSet<u64> = records.iter().map(|record| record.id).collect();
        for (id, object) in self.objects.iter().filter(|(_, object)| object.end == End::Alive) {
            assert!(found.contains(id), "{object:?} is lost");
        }
        let uncertain =
            |(id, object): &(&u64, &Object)| object.end == End::Uncertain && !found.contains(id);
        let unacknowledged = strangers.len() + self.objects.iter().filter(uncertain).count();
        check_log(store, &records);
        (found, unacknowledged)
    }

    /// Checks that no shared key was used later than `bound` nanoseconds after the acknowledgement
    /// of its destruction, and none was missing before. Returns the latest use of a destroyed key,
    /// in nanoseconds after the acknowledgement.
    pub(crate) fn check_shared(&self, bound: u64) -> u64 {
        for (label, gone) in &self.gone {
            let destroyed = |object: &Object| object.label == *label && object.end != End::Alive;
            let asked = self.objects.values().any(destroyed);
            assert!(asked, "{label} was gone at {gone}, and nobody had destroyed it");
        }
        let mut latest = 0;
        for (label, ended) in &self.ended {
            let used = self.used.get(label).map_or(0, |used| used.saturating_sub(*ended));
            assert!(used <= bound, "{label} was used {used} ns after its end");
            latest = latest.max(used);
        }
        latest
    }
}

/// Checks the log, and that it tells of exactly the changes that the records show.
fn check_log(store: &Store, records: &[Record]) {
    store.audit_verify(None).expect("the audit log is sound");
    let mut versions: HashMap<u64, u64> = HashMap::new();
    for entry in store.audit_entries(1, u32::MAX).unwrap() {
        let mut words = entry.what.split(' ');
        let (first, last) = (words.next(), entry.what.rsplit(' ').next());
        let numbers: Vec<u64> = words.filter_map(|word| word.parse().ok()).collect();
        for number in numbers.into_iter().filter(|_| first.is_some_and(|it| it.contains("object")))
        {
            match last {
                Some("generated") => assert_eq!(versions.insert(number, 1), None, "{number}"),
                Some("changed") => *versions.get_mut(&number).unwrap() += 1,
                Some("destroyed") => assert!(versions.remove(&number).is_some(), "{number}"),
                _ => panic!("{}", entry.what),
            }
        }
    }
    let shown: HashMap<u64, u64> = records.iter().map(|it| (it.id, it.version)).collect();
    assert_eq!(shown, versions, "the log tells of other changes");
}
