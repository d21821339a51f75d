//! Attacks by someone who can write to the database but does not know the keys.

use std::fmt::Write as _;

use super::database::Field;
use super::violation::{Name, Violation};
use super::*;
use crate::Error;

on_each_database! {
    every_changed_byte_of_a_record_is_detected,
    columns_of_other_records_are_detected,
    a_reverted_record_is_detected,
    a_removed_record_is_detected,
    a_restored_deleted_record_is_detected,
    settings_are_protected_as_records_are,
    a_reverted_manifest_is_detected,
    every_changed_byte_of_manifest_and_keyring_is_detected,
    changed_slots_are_detected,
    a_slot_with_excessive_cost_is_refused,
    a_hidden_deletion_is_detected,
    a_reverted_database_is_detected,
    every_changed_line_of_the_audit_log_is_detected,
}

/// The tables with their columns.
pub(super) const TABLES: [(&str, &[&str]); 6] = [
    ("keystore", &["one", "format", "identity", "keyring", "manifest"]),
    ("slots", &["id", "methods", "memory_kib", "passes", "lanes", "salt", "sealed"]),
    (
        "records",
        &["id", "version", "generation", "class", "flags", "epoch", "attributes", "secret"],
    ),
    ("deletions", &["id", "generation"]),
    ("settings", &["name", "generation", "epoch", "value"]),
    ("audit_log", &["sequence", "time", "who", "what", "mac"]),
];

/// The rows of a table.
pub(super) type Table = Vec<Vec<Field>>;

/// An attacker with the database and without keys.
pub(super) struct Attacker(Database);

impl Attacker {
    pub(super) fn new(place: &Place) -> Self {
        Self(Database::new(&place.url()).unwrap())
    }

    pub(super) fn run(&self, statement: &str, values: &[Value<'_>]) -> u64 {
        let mut transaction = self.0.begin(Access::Write).unwrap();
        let rows = transaction.execute(statement.to_owned().leak(), values).unwrap();
        transaction.commit().unwrap();
        rows
    }

    pub(super) fn dump(&self, table: &str) -> Table {
        let (_, columns) = TABLES.iter().find(|(name, _)| *name == table).unwrap();
        let select = format!("SELECT {} FROM {table} ORDER BY 1", columns.join(", "));
        let mut transaction = self.0.begin(Access::Read).unwrap();
        transaction.all(select.leak(), &[], |row| Ok(row.into_fields())).unwrap()
    }

    /// Restores the rows that `dump` returned.
    pub(super) fn restore(&self, table: &str, rows: &Table) {
        let (_, columns) = TABLES.iter().find(|(name, _)| *name == table).unwrap();
        self.run(&format!("DELETE FROM {table}"), &[]);
        for row in rows {
            let mut insert = format!("INSERT INTO {table} ({}) VALUES (", columns.join(", "));
            (1..=row.len()).for_each(|at| write!(insert, "${at}, ").unwrap());
            self.run(
                &format!("{})", insert.trim_end_matches(", ")),
                &row.iter().map(value).collect::<Vec<_>>(),
            );
        }
    }

    /// Sets a column of some rows.
    pub(super) fn set(&self, table: &str, column: &str, of: &str, value: Value<'_>) {
        let update = format!("UPDATE {table} SET {column} = $1 WHERE {of}");
        assert_eq!(self.run(&update, &[value]), 1, "{update}");
    }

    pub(super) fn delete(&self, table: &str, of: &str) {
        assert_ne!(self.run(&format!("DELETE FROM {table} WHERE {of}"), &[]), 0);
    }
}

fn value(field: &Field) -> Value<'_> {
    field.value()
}

/// Returns variants of `bytes`: each byte changed alone, and other lengths.
fn others(bytes: &[u8]) -> impl Iterator<Item = Vec<u8>> {
    let changed = (0..bytes.len()).map(|at| {
        let mut other = bytes.to_vec();
        other[at] ^= 1 << (at % 8);
        other
    });
    let longer = [bytes, &[0]].concat();
    let lengths = [vec![], bytes[..bytes.len() - 1].to_vec(), bytes[1..].to_vec(), longer];
    changed.chain(lengths).collect::<Vec<_>>().into_iter()
}

#[track_caller]
fn assert_found<T: std::fmt::Debug>(result: Result<T>, violation: Violation) {
    assert_eq!(result.unwrap_err(), Error::from(violation));
}

/// Makes a keystore with three records, the third without a secret, and a daemon that has loaded
/// them.
fn three(place: &Place) -> (Store, Attacker) {
    let store = place.create();
    store.insert(&labelled("first"), Some(b"first secret")).unwrap();
    store.insert(&labelled("second"), Some(b"other secret")).unwrap();
    store.insert(&labelled("third"), None).unwrap();
    store.load().unwrap();
    (store, Attacker::new(place))
}

fn every_changed_byte_of_a_record_is_detected(place: &Place) {
    let (store, attacker) = three(place);
    let fresh = place.open();
    let records = attacker.dump("records");
    let columns = TABLES[2].1;
    for (at, column) in columns.iter().enumerate() {
        for row in [0, 2] {
            let id = row as u64 + 1;
            let field = &records[row][at];
            let mut values = Vec::new();
            match field {
                Field::Number(number) => {
                    let others = [number ^ 1, number ^ 0x80, number ^ 0x4000_0000];
                    values.extend(others.map(Field::Number));
                }
                Field::Bytes(bytes) => {
                    values.extend(others(bytes).map(Field::Bytes));
                    if *column == "secret" {
                        values.push(Field::None);
                    }
                }
                _ => values.extend(others(b"?").map(Field::Bytes)),
            }
            for other in &values {
                let found = match (*column, other) {
                    // The number of another record would violate the primary key.
                    ("id", Field::Number(2 | 0)) => continue,
                    ("id", Field::Number(id)) => id.cast_unsigned(),
                    _ => id,
                };
                attacker.set("records", column, &format!("id = {id}"), value(other));
                let violation = Violation::Altered(Name::Record(found));
                assert_found(fresh.load(), violation.clone());
                if *column != "id" && row == 0 {
                    assert_found(fresh.secret(id), violation.clone());
                    assert_found(fresh.update(id, 1, &labelled("x")), violation.clone());
                    store.secret(id).unwrap_err();
                }
                attacker.set("records", column, &format!("id = {found}"), value(field));
            }
        }
    }
    assert_eq!(fresh.load().unwrap(), store.load().unwrap());
}

fn columns_of_other_records_are_detected(place: &Place) {
    let (store, attacker) = three(place);
    let mine = attacker.dump("records");
    // From the same keystore: each column alone, secret and attributes together, all columns.
    let columns = &TABLES[2].1[1..];
    let alone = columns.iter().map(std::slice::from_ref);
    let together: [&[&str]; 2] = [&["attributes", "secret"], columns];
    for exchanged in alone.chain(together) {
        let mut rows = attacker.dump("records");
        let (first, second) = rows.split_at_mut(1);
        let mut differ = false;
        for column in exchanged {
            let at = TABLES[2].1.iter().position(|name| name == column).unwrap();
            std::mem::swap(&mut first[0][at], &mut second[0][at]);
            differ |= first[0][at] != second[0][at];
        }
        if differ {
            attacker.restore("records", &rows);
            assert_found(place.open().load(), Violation::Altered(Name::Record(1)));
            store.secret(1).unwrap_err();
            attacker.restore("records", &mine);
        }
    }
    // From another keystore, with the same number and the same passphrase.
    let elsewhere = Place::sqlite();
    let other = three(&elsewhere).1.dump("records");
    attacker.restore("records", &other);
    assert_found(place.open().load(), Violation::Altered(Name::Record(1)));
    // With an unused number.
    attacker.restore("records", &mine);
    let mut doubled = attacker.dump("records");
    let mut copy = attacker.dump("records").remove(0);
    copy[0] = Field::Number(4);
    doubled.push(copy);
    attacker.restore("records", &doubled);
    assert_found(place.open().load(), Violation::Altered(Name::Record(4)));
    assert_found(store.secret(4), Violation::Reverted(Name::Record(4)));
    attacker.restore("records", &mine);
    store.load().unwrap();
}

fn a_reverted_record_is_detected(place: &Place) {
    let (store, attacker) = three(place);
    let earlier = attacker.dump("records");
    store.update(1, 1, &labelled("changed")).unwrap();
    let later = attacker.dump("records");
    attacker.restore("records", &earlier);
    assert_found(place.open().load(), Violation::Exchanged);
    for _ in 0..2 {
        assert_found(store.secret(1), Violation::Reverted(Name::Record(1)));
        assert_found(store.update(1, 1, &labelled("x")), Violation::Reverted(Name::Record(1)));
        assert_found(store.delete(1), Violation::Reverted(Name::Record(1)));
    }
    assert_eq!(store.secret(2).unwrap().as_slice(), b"other secret");
    attacker.restore("records", &later);
    assert_eq!(labels(&place.open().load().unwrap().1)[0], "changed");
    store.load().unwrap();
}

fn a_removed_record_is_detected(place: &Place) {
    let (store, attacker) = three(place);
    let all = attacker.dump("records");
    attacker.delete("records", "id = 2");
    assert_found(place.open().load(), Violation::Missing("records"));
    assert_found(store.secret(2), Violation::Missing("rows"));
    attacker.restore("records", &all);
    assert_eq!(store.secret(2).unwrap().as_slice(), b"other secret");
    attacker.delete("records", "id > 0");
    assert_found(place.open().load(), Violation::Missing("records"));
    attacker.delete("keystore", "one = 1");
    Store::open(&place.url()).unwrap_err();
    store.load().unwrap_err();
}

fn a_restored_deleted_record_is_detected(place: &Place) {
    let (store, attacker) = three(place);
    let all = attacker.dump("records");
    store.delete(2).unwrap();
    attacker.restore("records", &all);
    assert_found(place.open().load(), Violation::Surplus("records"));
    assert_found(store.secret(2), Violation::Reverted(Name::Record(2)));
    // In place of another record.
    attacker.delete("records", "id = 3");
    assert_found(place.open().load(), Violation::Exchanged);
}

fn settings_are_protected_as_records_are(place: &Place) {
    let store = place.create();
    store.set_setting("failures", b"0").unwrap();
    store.set_setting("label", b"0").unwrap();
    store.load().unwrap();
    let attacker = Attacker::new(place);
    let earlier = attacker.dump("settings");
    store.set_setting("failures", b"1").unwrap();
    let now = attacker.dump("settings");

    attacker.restore("settings", &earlier);
    let name = || Name::Setting("failures".into());
    assert_found(place.open().load(), Violation::Exchanged);
    assert_found(store.setting("failures"), Violation::Reverted(name()));
    assert_found(store.set_setting("failures", b"2"), Violation::Reverted(name()));

    attacker.restore("settings", &now);
    attacker.delete("settings", "name = 'failures'");
    assert_found(place.open().load(), Violation::Missing("settings"));
    assert_found(store.setting("failures"), Violation::Missing("rows"));

    attacker.restore("settings", &now);
    let fresh = place.open();
    for column in ["generation", "epoch", "value"] {
        let at = TABLES[4].1.iter().position(|name| *name == column).unwrap();
        let values = match &now[0][at] {
            Field::Bytes(bytes) => others(bytes).map(Field::Bytes).collect(),
            Field::Number(number) => vec![Field::Number(number ^ 1), Field::Number(number + 9)],
            _ => unreachable!("there are only numbers and bytes"),
        };
        for other in &values {
            attacker.set("settings", column, "name = 'failures'", value(other));
            assert_found(fresh.load(), Violation::Altered(name()));
            assert_found(fresh.setting("failures"), Violation::Altered(name()));
        }
        attacker.set("settings", column, "name = 'failures'", value(&now[0][at]));
    }
    attacker.delete("settings", "name = 'label'");
    attacker.set("settings", "name", "name = 'failures'", Value::Text("label"));
    assert_found(fresh.load(), Violation::Altered(Name::Setting("label".into())));
    attacker.restore("settings", &now);
    assert_eq!(fresh.setting("failures").unwrap().unwrap(), b"1");
    fresh.load().unwrap();
}

fn a_reverted_manifest_is_detected(place: &Place) {
    let (store, attacker) = three(place);
    let steps: [fn(&Store); 4] = [
        |store| drop(store.insert(&labelled("fourth"), None).unwrap()),
        |store| drop(store.update(1, 1, &labelled("changed")).unwrap()),
        |store| store.delete(2).unwrap(),
        |store| store.set_setting("label", b"x").unwrap(),
    ];
    for (step, act) in steps.iter().enumerate() {
        let earlier = attacker.dump("keystore");
        act(&store);
        let now = attacker.dump("keystore");
        attacker.restore("keystore", &earlier);
        let violation = match step {
            2 => Violation::Missing("records"),
            _ => Violation::ManifestReverted,
        };
        assert_found(place.open().load(), violation);
        assert_found(store.load(), Violation::Rollback);
        assert_found(store.changes(Generation(1)), Violation::Rollback);
        assert_found(store.secret(1), Violation::Rollback);
        assert_found(store.insert(&labelled("more"), None), Violation::Rollback);
        attacker.restore("keystore", &now);
        store.load().unwrap();
    }
}

fn every_changed_byte_of_manifest_and_keyring_is_detected(place: &Place) {
    let (store, attacker) = three(place);
    let keystore = attacker.dump("keystore");
    let fresh = Store::open(&place.url()).unwrap();
    for (column, at, violation) in
        [("keyring", 3, Violation::Keyring), ("manifest", 4, Violation::Manifest)]
    {
        let Field::Bytes(bytes) = &keystore[0][at] else { panic!("they are bytes") };
        for other in others(bytes) {
            attacker.set("keystore", column, "one = 1", Value::Bytes(&other));
            assert_found(fresh.unlock(&passphrase()), violation.clone());
            assert_found(store.load(), violation.clone());
        }
        attacker.set("keystore", column, "one = 1", Value::Bytes(bytes));
    }
    fresh.unlock(&passphrase()).unwrap();
    fresh.load().unwrap();
    // The keyring from before a rotation, whose master key no row uses any more.
    store.rotate_master_key("test").unwrap();
    let Field::Bytes(earlier) = &keystore[0][3] else { panic!("they are bytes") };
    attacker.set("keystore", "keyring", "one = 1", Value::Bytes(earlier));
    assert_found(Store::open(&place.url()).unwrap().unlock(&passphrase()), Violation::Keyring);
    assert_found(store.load(), Violation::Keyring);
    assert_found(fresh.load(), Violation::Keyring);
    // Another identity, another format.
    attacker.restore("keystore", &keystore);
    attacker.set("keystore", "identity", "one = 1", Value::Bytes(&[0; 16]));
    let other = Store::open(&place.url()).unwrap().unlock(&passphrase()).unwrap_err();
    assert_eq!(other.code, Code::PIN_INCORRECT);
    attacker.set("keystore", "identity", "one = 1", Value::Bytes(&[0; 15]));
    assert_found(Store::open(&place.url()), Violation::Malformed("keystore.identity"));
    attacker.set("keystore", "format", "one = 1", Value::Number(9));
    assert!(Store::open(&place.url()).unwrap_err().detail.contains("format 9"));
}

fn changed_slots_are_detected(place: &Place) {
    let (store, attacker) = three(place);
    let earlier = attacker.dump("slots");
    let fresh = Store::open(&place.url()).unwrap();
    for (at, column) in TABLES[1].1.iter().enumerate().skip(1) {
        let values = match &earlier[0][at] {
            Field::Bytes(bytes) => others(bytes).map(Field::Bytes).collect(),
            Field::Number(number) => vec![Field::Number(number + 1), Field::Number(-1)],
            _ => unreachable!("there are only numbers and bytes"),
        };
        for other in &values {
            attacker.set("slots", column, "id = 1", value(other));
            fresh.unlock(&passphrase()).unwrap_err();
            store.load().unwrap_err();
        }
        attacker.set("slots", column, "id = 1", value(&earlier[0][at]));
    }
    // A slot with a former passphrase.
    store.change_unlocking(&passphrase(), &Unlocking::passphrase(b"new")).unwrap();
    let now = attacker.dump("slots");
    attacker.restore("slots", &earlier);
    fresh.unlock(&passphrase()).unwrap();
    assert_found(fresh.load(), Violation::Exchanged);
    assert_found(store.changes(Generation(1)), Violation::Exchanged);
    let both = [now, earlier].into_iter().flatten().collect::<Vec<_>>();
    let renumbered = |(at, mut row): (usize, Vec<Field>)| {
        row[0] = Field::Number(at as i64 + 1);
        row
    };
    let both = both.into_iter().enumerate().map(renumbered).collect();
    attacker.restore("slots", &both);
    assert_found(store.load(), Violation::Surplus("slots"));
}

fn a_slot_with_excessive_cost_is_refused(place: &Place) {
    drop(place.create());
    let attacker = Attacker::new(place);
    let slots = attacker.dump("slots");
    let begun = std::time::Instant::now();
    for (column, cost) in [("memory_kib", 1 << 31), ("passes", 1 << 31), ("lanes", 1 << 20)] {
        attacker.set("slots", column, "id = 1", Value::Number(cost));
        let refused = Store::open(&place.url()).unwrap().unlock(&passphrase()).unwrap_err();
        assert_eq!(refused.code, Code::PIN_INCORRECT);
        attacker.restore("slots", &slots);
    }
    // The stated cost would take days.
    assert!(begun.elapsed().as_secs() < 600);
}

fn a_hidden_deletion_is_detected(place: &Place) {
    let (store, attacker) = three(place);
    let other = place.open();
    let (generation, _) = other.load().unwrap();
    store.delete(1).unwrap();
    attacker.delete("deletions", "id = 1");
    assert_found(other.changes(generation), Violation::Surplus("records"));
    assert_found(other.insert(&labelled("x"), None), Violation::Surplus("records"));
    assert_eq!(labels(&other.load().unwrap().1), ["second", "third"]);
    other.insert(&labelled("x"), None).unwrap();
    // A deletion that never happened.
    let (generation, _) = store.load().unwrap();
    attacker.run("INSERT INTO deletions (id, generation) VALUES (2, 1000000)", &[]);
    assert_found(store.changes(generation), Violation::Missing("records"));
}

fn a_reverted_database_is_detected(place: &Place) {
    let (store, attacker) = three(place);
    store.audit("user", "made three").unwrap();
    let state = TABLES.map(|(table, _)| (table, attacker.dump(table)));
    store.delete(1).unwrap();
    store.audit("user", "deleted one").unwrap();
    let head = store.audit_verify(None).unwrap();
    state.iter().for_each(|(table, rows)| attacker.restore(table, rows));

    let (generation, _) = place.open().load().unwrap();
    assert_found(store.changes(generation), Violation::Rollback);
    assert_found(store.secret(1), Violation::Rollback);
    assert_found(store.audit("user", "?"), Violation::Rollback);
    assert_found(store.audit_verify(None), Violation::Rollback);
    assert_found(place.open().audit_verify(Some(&head)), Violation::Rollback);
    // Also after the log has grown to the same length again.
    let fresh = place.open();
    fresh.audit_verify(None).unwrap();
    for _ in 0..3 {
        fresh.audit("user", "deleted none").unwrap();
        assert_found(fresh.audit_verify(Some(&head)), Violation::Rollback);
    }
    fresh.audit_verify(None).unwrap();
    // The forged history is now longer than the one this daemon saw, which has no record 1.
    assert_found(store.changes(generation), Violation::Missing("records"));
}

fn every_changed_line_of_the_audit_log_is_detected(place: &Place) {
    let (store, attacker) = three(place);
    for what in ["one", "two", "three"] {
        store.audit("user", what).unwrap();
    }
    let log = attacker.dump("audit_log");
    let verify = || place.open().audit_verify(None);
    verify().unwrap();
    for (column, other) in [
        ("time", Value::Number(1)),
        ("who", Value::Text("someone")),
        ("what", Value::Text("")),
        ("mac", Value::Bytes(&[0; 32])),
        ("mac", Value::Bytes(&[])),
    ] {
        attacker.set("audit_log", column, "sequence = 2", other);
        assert_found(verify(), Violation::AuditEntry(2));
        attacker.restore("audit_log", &log);
    }
    for missing in 1..=3 {
        attacker.delete("audit_log", &format!("sequence = {missing}"));
        assert_found(verify(), Violation::AuditMissing(missing));
        attacker.restore("audit_log", &log);
    }
    attacker.delete("audit_log", "sequence = 2");
    attacker.set("audit_log", "sequence", "sequence = 3", Value::Number(2));
    assert_found(verify(), Violation::AuditEntry(2));
    attacker.restore("audit_log", &log);
    for sequence in [0, 4] {
        let mut longer = attacker.dump("audit_log");
        let mut line = attacker.dump("audit_log").remove(2);
        line[0] = Field::Number(sequence);
        longer.push(line);
        attacker.restore("audit_log", &longer);
        verify().unwrap_err();
        attacker.restore("audit_log", &log);
    }
    verify().unwrap();
}
