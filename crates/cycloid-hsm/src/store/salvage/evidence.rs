//! Evidence from the audit log: the history of objects.

use std::collections::{HashMap, HashSet};

/// The history of all objects, from authentic lines.
#[derive(Default)]
pub(super) struct Evidence {
    /// The last label of each object, without quotes.
    labels: HashMap<u64, String>,
    /// The number of changes of each object.
    changes: HashMap<u64, u64>,
    destroyed: HashSet<u64>,
}

impl Evidence {
    /// Reads a line: `object 7 "label": changed` or `objects 7 and 8 "label": generated`.
    pub(super) fn line(&mut self, what: &str) {
        let Some((ids, label, event)) = parse(what) else { return };
        for id in ids {
            match event {
                "changed" => *self.changes.entry(id).or_default() += 1,
                "destroyed" => drop(self.destroyed.insert(id)),
                _ => {}
            }
            self.labels.insert(id, label.clone());
        }
    }

    pub(super) fn label(&self, id: u64) -> Option<String> {
        self.labels.get(&id).cloned()
    }

    /// Returns the version that a record must have at least.
    pub(super) fn version(&self, id: u64) -> u64 {
        1 + self.changes.get(&id).copied().unwrap_or_default()
    }

    pub(super) fn is_destroyed(&self, id: u64) -> bool {
        self.destroyed.contains(&id)
    }

    /// Notes that a record returned from the quarantine, perhaps in an earlier state.
    pub(super) fn restored(&mut self, id: u64) {
        self.destroyed.remove(&id);
        self.changes.remove(&id);
    }
}

fn parse(what: &str) -> Option<(Vec<u64>, String, &str)> {
    let (ids, rest) = what.split_once(" \"")?;
    let ids = match ids.strip_prefix("objects ") {
        Some(pair) => {
            let (one, other) = pair.split_once(" and ")?;
            vec![one.parse().ok()?, other.parse().ok()?]
        }
        None => vec![ids.strip_prefix("object ")?.parse().ok()?],
    };
    // The label is escaped, so the last quote with a colon ends it.
    let (label, event) = rest.rsplit_once("\": ")?;
    Some((ids, label.to_owned(), event))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_the_daemon_are_read() {
        let mut evidence = Evidence::default();
        for line in [
            "objects 7 and 8 \"ca\": generated",
            "object 8 \"a \\\": destroyed\": changed",
            "object 8 \"root\": changed",
            "object 7 \"ca\": destroyed",
            "object 9: destroyed",
            "login as User: attempt 1 since the last right PIN",
        ] {
            evidence.line(line);
        }
        assert_eq!(evidence.label(8).as_deref(), Some("root"));
        assert_eq!((evidence.version(8), evidence.version(7)), (3, 1));
        assert!(evidence.is_destroyed(7) && !evidence.is_destroyed(8) && !evidence.is_destroyed(9));
    }
}
