//! The table of directives: names, allowed places, arguments and effects.
//!
//! A directive is used, ignored or refused. It is ignored, with one warning, if that changes
//! nothing that its author could rely on. Otherwise it is refused with a reason.

mod client;
mod connection;
mod entry;
mod other;
mod pkcs11;
mod process;
mod proxy;
#[cfg(test)]
mod reference;
mod server;
mod tls;
mod tunnel;

pub(super) use connection::two_keys;
pub(super) use entry::{Action, Entry};

const TABLES: [&[Entry]; 9] = [
    client::TABLE,
    connection::TABLE,
    other::TABLE,
    pkcs11::TABLE,
    process::TABLE,
    proxy::TABLE,
    server::TABLE,
    tls::TABLE,
    tunnel::TABLE,
];

fn all() -> impl Iterator<Item = &'static Entry> {
    TABLES.into_iter().flatten()
}

/// Returns the entry with this name.
pub(super) fn find(name: &str) -> Option<&'static Entry> {
    all().find(|entry| entry.name == name)
}

/// Returns the closest directive name, if at most a third of it differs.
pub(super) fn nearest(name: &str) -> Option<&'static str> {
    // Directive names are much shorter, and the comparison takes the product of the lengths.
    if name.len() > 64 {
        return None;
    }
    let (distance, nearest) =
        all().map(|entry| (distance(name, entry.name), entry.name)).min_by_key(|pair| pair.0)?;
    (distance * 3 <= nearest.len()).then_some(nearest)
}

/// Returns the Levenshtein distance in bytes.
fn distance(one: &str, other: &str) -> usize {
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (i, a) in one.bytes().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, b) in other.bytes().enumerate() {
            let changed = diagonal + usize::from(a != b);
            diagonal = row[j + 1];
            row[j + 1] = changed.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[other.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique() {
        let mut names: Vec<_> = all().map(|entry| entry.name).collect();
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
        assert!(count > 250, "{count}");
    }

    #[test]
    fn ignored_and_refused_entries_give_a_reason() {
        for entry in all() {
            match entry.action {
                Action::Use(_) => assert!(entry.place != 0, "{}", entry.name),
                Action::Ignore(reason) => assert!(!reason.is_empty(), "{}", entry.name),
                Action::Refuse { reason, hint } => {
                    assert!(!reason.is_empty() && !hint.is_empty(), "{}", entry.name);
                }
            }
        }
    }

    #[test]
    fn typos_are_recognised() {
        for (wrong, right) in [
            ("remot", Some("remote")),
            ("cyper", Some("cipher")),
            ("tls_auth", Some("tls-auth")),
            ("verify-x509name", Some("verify-x509-name")),
            ("keepalives", Some("keepalive")),
            ("frobnicate", None),
            ("", None),
        ] {
            assert_eq!(nearest(wrong), right, "{wrong}");
        }
        assert_eq!(distance("kitten", "sitting"), 3);
        assert_eq!(nearest(&"a".repeat(10_000)), None);
    }
}
