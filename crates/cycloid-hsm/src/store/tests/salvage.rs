//! Damage of every kind is listed, set aside, and can be restored or destroyed.

use super::database::Field;
use super::tampering::Attacker;
use super::*;

on_each_database! {
    an_intact_keystore_has_no_findings,
    every_damaged_row_is_set_aside_and_the_rest_works,
    the_manifest_still_proves_the_rest_beside_a_damaged_secret,
    missing_rows_are_named,
    a_destroyed_record_that_returns_needs_a_decision,
    a_reverted_record_is_told_by_the_audit_log,
    an_unknown_reverted_row_can_only_be_accepted,
    a_damaged_or_reverted_manifest_is_rebuilt,
    a_damaged_audit_log_is_acknowledged_and_not_hidden,
    a_key_that_serves_keys_still_does,
    restored_rows_must_be_authentic,
    a_salvage_is_one_transaction,
    a_keystore_in_use_is_noticed,
    a_lost_keyring_is_beyond_salvage,
    damaged_slots_are_found,
}

/// Makes a keystore with three records, two settings, and lines in the audit log as a daemon's.
fn filled(place: &Place) -> (Store, Attacker) {
    let store = place.create();
    for (id, label) in [(1, "first"), (2, "second"), (3, "third")] {
        store
            .write(|write| {
                write.insert((&labelled(label), Some(b"secret")))?;
                write.audit("user", &format!("object {id} {label:?}: generated"))
            })
            .unwrap();
    }
    store.set_setting("pin.officer", b"officer").unwrap();
    store.set_setting("pin.user", b"user").unwrap();
    (store, Attacker::new(place))
}

/// Opens the keystore as a salvage does.
fn open(place: &Place) -> Store {
    let store = Store::open(&place.url()).unwrap();
    store.unlock_to_salvage(&passphrase()).unwrap();
    store
}

fn update(store: &Store, id: u64, label: &str) {
    store
        .write(|write| {
            write.update(id, 1, &labelled(label))?;
            write.audit("user", &format!("object {id} {label:?}: changed"))
        })
        .unwrap();
}

fn found(survey: &Survey) -> Vec<(Condition, &str)> {
    survey.findings.iter().map(|one| (one.condition, one.subject.as_str())).collect()
}

/// Salvages, and checks that the keystore works afterwards. Returns the lines about rows.
#[track_caller]
fn salvage(place: &Place, decision: Decision) -> Vec<String> {
    let store = open(place);
    let survey = store.survey().unwrap();
    let lines = store.salvage(&survey, decision, "officer", |_| Ok(())).unwrap();
    let store = place.open();
    let (generation, _) = store.load().unwrap();
    store.audit_verify(None).unwrap();
    let survey = store.survey().unwrap();
    assert!(survey.findings.is_empty() && survey.is_proven, "{:?}", survey.findings);
    // Another daemon writes, and this one notices.
    let other = place.open();
    let new = other.insert(&labelled("new"), Some(b"new")).unwrap();
    let (_, changed, deleted) = store.changes(generation).unwrap();
    assert_eq!((labels(&changed), deleted), (vec!["new".to_owned()], vec![]));
    other.delete(new.id).unwrap();
    store.changes(generation).unwrap();
    lines
}

fn whats(store: &Store) -> Vec<String> {
    let lines = store.audit_entries(1, u32::MAX).unwrap();
    lines.into_iter().map(|line| format!("{}: {}", line.who, line.what)).collect()
}

fn an_intact_keystore_has_no_findings(place: &Place) {
    let (store, _) = filled(place);
    update(&store, 1, "changed");
    store.delete(2).unwrap();
    store.rotate_master_key("test").unwrap();
    let survey = open(place).survey().unwrap();
    assert!(survey.findings.is_empty() && survey.is_proven);
    assert!(!survey.needs_decision && !survey.officer_pin_lost && survey.can_count_attempts);
    let refused = store.salvage(&survey, Decision::Keep, "officer", |_| Ok(())).unwrap_err();
    assert_eq!(refused.code, Code::ACTION_PROHIBITED);
    assert_eq!(store.quarantined().unwrap(), []);
}

fn every_damaged_row_is_set_aside_and_the_rest_works(place: &Place) {
    for (table, column, of, value, subject) in [
        ("records", "version", "id = 1", Value::Number(9), "record 1"),
        ("records", "generation", "id = 1", Value::Number(1), "record 1"),
        ("records", "class", "id = 2", Value::Number(7), "record 2"),
        ("records", "flags", "id = 2", Value::Number(8), "record 2"),
        ("records", "epoch", "id = 2", Value::Number(3), "record 2"),
        ("records", "flags", "id = 2", Value::Number(-8), "record 2"),
        ("records", "attributes", "id = 3", Value::Bytes(b""), "record 3"),
        ("records", "attributes", "id = 3", Value::Bytes(&[7; 90]), "record 3"),
        ("records", "secret", "id = 3", Value::None, "record 3"),
        ("records", "secret", "id = 3", Value::Bytes(&[1; 40]), "record 3"),
        ("settings", "generation", "name = 'pin.user'", Value::Number(1), "setting \"pin.user\""),
        ("settings", "epoch", "name = 'pin.user'", Value::Number(0), "setting \"pin.user\""),
        ("settings", "value", "name = 'pin.user'", Value::Bytes(b"x"), "setting \"pin.user\""),
        ("settings", "value", "name = 'pin.officer'", Value::Bytes(b""), "setting \"pin.officer\""),
    ] {
        let fresh = place.another();
        let (_, attacker) = filled(&fresh);
        attacker.set(table, column, of, value);
        fresh.open().load().unwrap_err();
        let survey = open(&fresh).survey().unwrap();
        assert_eq!(found(&survey), [(Condition::Damaged, subject)], "{table}.{column}");
        assert!(!survey.needs_decision);
        assert_eq!(survey.officer_pin_lost, subject.contains("officer"));
        let before = attacker.dump(table);
        let lines = salvage(&fresh, Decision::Refuse);
        assert_eq!(lines.len(), 1);
        assert!(lines[0].starts_with(&format!("{subject} set aside as number 1")), "{lines:?}");

        let store = fresh.open();
        let (records, settings) = match subject.starts_with("record") {
            true => (2, 2),
            false => (3, 1),
        };
        assert_eq!(store.load().unwrap().1.len(), records);
        assert_eq!(attacker.dump("settings").len(), settings);
        let rows = store.quarantined().unwrap();
        assert_eq!((rows.len(), rows[0].name.as_str()), (1, subject));
        assert!(!rows[0].is_authentic);
        // The row is kept as it was.
        let kept = before.iter().filter(|row| rows[0].has_columns(row)).count();
        assert_eq!(kept, 1);
        let log = whats(&store);
        let row = format!("officer: salvage: {}", lines[0]);
        assert!(log.contains(&row), "{log:?}");
        assert!(log.iter().any(|line| line.starts_with("officer: salvage: done; ")));
    }
}

fn the_manifest_still_proves_the_rest_beside_a_damaged_secret(place: &Place) {
    let (_, attacker) = filled(place);
    let records = attacker.dump("records");
    attacker.set("records", "secret", "id = 2", Value::Bytes(&[0; 40]));
    let survey = open(place).survey().unwrap();
    assert!(survey.is_proven);
    assert_eq!(survey.findings[0].label.as_deref(), Some("second"));
    // If the tag in the term is damaged too, nothing is proven any more.
    let Field::Bytes(attributes) = &records[1][6] else { panic!("they are bytes") };
    let mut other = attributes.clone();
    *other.last_mut().unwrap() ^= 1;
    attacker.set("records", "attributes", "id = 2", Value::Bytes(&other));
    let survey = open(place).survey().unwrap();
    assert!(!survey.is_proven && !survey.needs_decision);
    // A record that is gone as well is counted.
    attacker.delete("records", "id = 3");
    let survey = open(place).survey().unwrap();
    assert_eq!(
        found(&survey),
        [(Condition::Missing, "record 3"), (Condition::Damaged, "record 2")]
    );
    salvage(place, Decision::Refuse);
}

fn missing_rows_are_named(place: &Place) {
    let (store, attacker) = filled(place);
    store.insert(&labelled("fourth"), None).unwrap();
    store.delete(4).unwrap();
    attacker.delete("records", "id = 2");
    attacker.delete("settings", "name = 'pin.user'");
    let survey = open(place).survey().unwrap();
    assert_eq!(
        found(&survey),
        [(Condition::Missing, "record 2"), (Condition::Missing, "setting \"pin.user\"")]
    );
    assert_eq!(survey.findings[0].label.as_deref(), Some("second"));
    assert!(!survey.is_proven && !survey.needs_decision && !survey.officer_pin_lost);
    assert_eq!(salvage(place, Decision::Refuse), [""; 0]);
    assert_eq!(labels(&place.open().load().unwrap().1), ["first", "third"]);
    assert!(whats(&place.open()).iter().any(|line| line.contains("without proof")));
}

fn a_destroyed_record_that_returns_needs_a_decision(place: &Place) {
    for decision in [Decision::Keep, Decision::SetAside] {
        let fresh = place.another();
        let (store, attacker) = filled(&fresh);
        let records = attacker.dump("records");
        store.delete(2).unwrap();
        attacker.restore("records", &records);
        let salvager = open(&fresh);
        let survey = salvager.survey().unwrap();
        assert_eq!(found(&survey), [(Condition::Surplus, "record 2")]);
        // The manifest proves that the others are current.
        assert!(survey.is_proven && survey.needs_decision);
        let refused = salvager.salvage(&survey, Decision::Refuse, "officer", |_| Ok(()));
        assert_eq!(refused.unwrap_err().code, Code::ACTION_PROHIBITED);
        salvage(&fresh, decision);
        let expected: &[&str] = match decision {
            Decision::Keep => &["first", "second", "third"],
            _ => &["first", "third"],
        };
        let store = fresh.open();
        assert_eq!(labels(&store.load().unwrap().1), expected);
        // A row that was set aside with its seal intact can come back.
        if decision == Decision::SetAside {
            assert!(store.quarantined().unwrap()[0].is_authentic);
            store.write(|write| write.restore_quarantined(1, None, "officer")).unwrap();
            assert_eq!(store.secret(2).unwrap().as_slice(), b"secret");
            assert_eq!(labels(&fresh.open().load().unwrap().1), ["first", "second", "third"]);
            assert_eq!(store.quarantined().unwrap(), []);
        }
    }
}

fn a_reverted_record_is_told_by_the_audit_log(place: &Place) {
    let (store, attacker) = filled(place);
    let records = attacker.dump("records");
    update(&store, 2, "changed");
    attacker.restore("records", &records);
    let survey = open(place).survey().unwrap();
    assert_eq!(found(&survey), [(Condition::Reverted, "record 2")]);
    assert!(survey.needs_decision && !survey.is_proven);
    let lines = salvage(place, Decision::SetAside);
    assert!(lines[0].contains("the object was changed since"), "{lines:?}");
    assert_eq!(labels(&place.open().load().unwrap().1), ["first", "third"]);
}

fn an_unknown_reverted_row_can_only_be_accepted(place: &Place) {
    let (store, attacker) = filled(place);
    let settings = attacker.dump("settings");
    store.set_setting("pin.user", b"another").unwrap();
    attacker.restore("settings", &settings);
    let salvager = open(place);
    let survey = salvager.survey().unwrap();
    assert_eq!(survey.findings[0].condition, Condition::Reverted);
    assert!(survey.needs_decision && !survey.is_proven);
    for decision in [Decision::Refuse, Decision::SetAside] {
        let refused = salvager.salvage(&survey, decision, "officer", |_| Ok(())).unwrap_err();
        assert_eq!(refused.code, Code::ACTION_PROHIBITED);
        place.open().load().unwrap_err();
    }
    assert_eq!(salvage(place, Decision::Keep), [""; 0]);
    assert_eq!(place.open().setting("pin.user").unwrap().unwrap(), b"user");
    assert!(whats(&place.open()).iter().any(|line| line.contains("were accepted as they are")));
}

fn a_damaged_or_reverted_manifest_is_rebuilt(place: &Place) {
    let (store, attacker) = filled(place);
    let keystore = attacker.dump("keystore");
    store.write(|write| write.audit("user", "one more line")).unwrap();
    store.insert(&labelled("fourth"), None).unwrap();
    let (generation, _) = store.load().unwrap();
    // Reverted.
    attacker.restore("keystore", &keystore);
    let survey = open(place).survey().unwrap();
    assert_eq!(found(&survey), [(Condition::Reverted, "manifest")]);
    assert!(!survey.can_count_attempts && !survey.officer_pin_lost);
    salvage(place, Decision::Refuse);
    assert_eq!(place.open().load().unwrap().1.len(), 4);
    // A daemon that ran before the salvage sees a later generation, no rollback.
    assert!(place.open().load().unwrap().0 > generation);
    store.load().unwrap();
    // Damaged.
    let lines = whats(&store).len();
    attacker.set("keystore", "manifest", "one = 1", Value::Bytes(&[1; 150]));
    let survey = open(place).survey().unwrap();
    assert_eq!(found(&survey), [(Condition::Damaged, "manifest")]);
    salvage(place, Decision::Refuse);
    let store = place.open();
    store.rotate_master_key("test").unwrap();
    let new = store.insert(&labelled("last"), None).unwrap();
    assert!(store.load().unwrap().1.iter().all(|record| record.id <= new.id));
    assert!(whats(&store).len() > lines);
}

fn a_damaged_audit_log_is_acknowledged_and_not_hidden(place: &Place) {
    type Attack = fn(&Attacker);
    let attacks: [(Attack, &[&str]); 8] = [
        (|attacker| attacker.set("audit_log", "what", "sequence = 2", Value::Text("x")), &["2"]),
        (|attacker| attacker.set("audit_log", "mac", "sequence = 2", Value::Bytes(b"x")), &["2-3"]),
        (|attacker| attacker.delete("audit_log", "sequence = 1"), &["1", "2"]),
        (|attacker| attacker.delete("audit_log", "sequence = 2"), &["2", "3"]),
        (|attacker| attacker.delete("audit_log", "sequence = 3"), &["3"]),
        (|attacker| attacker.delete("audit_log", "sequence > 0"), &["1-3"]),
        (|attacker| attacker.set("audit_log", "mac", "sequence = 3", Value::Bytes(b"")), &["3"]),
        (
            |attacker| {
                attacker.run(
                    "INSERT INTO audit_log (sequence, time, who, what, mac) \
                     VALUES (9, 1, 'x', 'y', $1)",
                    &[Value::Bytes(b"")],
                );
            },
            &["4-9"],
        ),
    ];
    for (attack, lines) in attacks {
        let fresh = place.another();
        let (store, attacker) = filled(&fresh);
        let head = store.audit_verify(None).unwrap();
        attack(&attacker);
        let named = store.audit_verify(None).unwrap_err();
        let survey = open(&fresh).survey().unwrap();
        let expected = lines.iter().map(|line| format!("audit log, line {line}"));
        let subjects = survey.findings.iter().map(|one| one.subject.clone());
        assert_eq!(subjects.collect::<Vec<_>>(), expected.collect::<Vec<_>>(), "{named}");
        salvage(&fresh, Decision::Refuse);
        let store = fresh.open();
        let (_, acknowledged) = store.audit_report(Some(&head)).unwrap();
        let surplus = lines == ["4-9"];
        assert_eq!(acknowledged.is_empty(), surplus, "{acknowledged:?}");
        let log = whats(&store);
        let line =
            format!("officer: salvage: the audit log is damaged: lines {}", lines.join(", "));
        assert!(log.contains(&line), "{log:?}");
        // Further damage is an error again, and the acknowledgement itself cannot be altered.
        let by = log.iter().position(|other| *other == line).unwrap() + 1;
        let sequence = format!("sequence = {}", if surplus { by } else { by.max(4) });
        attacker.set("audit_log", "who", &sequence, Value::Text("nobody"));
        store.audit_report(None).unwrap_err();
    }
}

fn a_key_that_serves_keys_still_does(place: &Place) {
    let (store, attacker) = filled(place);
    let mut attributes = Template::new();
    attributes.set_number(cka::CLASS, cko::SECRET_KEY.into());
    attributes.set(cka::LABEL, "wraps");
    store.insert(&attributes, Some(b"value of a wrapping key")).unwrap();
    let [known, unknown] = ["value of a wrapping key", "value of another"]
        .map(|value| store.fingerprint(value.as_bytes()).unwrap());
    store.write(|write| write.serve_keys(&known)).unwrap();
    store.write(|write| write.serve_keys(&unknown)).unwrap();
    attacker.run(
        "UPDATE settings SET value = $1 WHERE name LIKE 'serves-keys/%'",
        &[Value::Bytes(b"damaged")],
    );
    let survey = open(place).survey().unwrap();
    let notes = survey.findings.iter().map(|one| one.note.as_str()).collect::<Vec<_>>();
    let made = notes.iter().filter(|note| note.contains("key 4 \"wraps\" wrapped keys"));
    assert_eq!(made.count(), 1, "{notes:?}");
    let lost = notes.iter().filter(|note| note.contains("may decrypt again"));
    assert_eq!(lost.count(), 1, "{notes:?}");
    salvage(place, Decision::Refuse);
    let store = place.open();
    assert!(store.serves_keys(&known).unwrap());
    assert!(!store.serves_keys(&unknown).unwrap());
    // It is in a backup, too.
    let elsewhere = Place::sqlite();
    let target = elsewhere.create();
    let backup = store.backup(&target.backup_key().unwrap()).unwrap();
    target.restore(&backup, &target.backup_private_key().unwrap(), "test").unwrap();
    let known = target.fingerprint(b"value of a wrapping key").unwrap();
    assert!(target.serves_keys(&known).unwrap());
}

fn restored_rows_must_be_authentic(place: &Place) {
    let (_, attacker) = filled(place);
    let records = attacker.dump("records");
    let settings = attacker.dump("settings");
    attacker.set("records", "class", "id = 2", Value::Number(7));
    attacker.set("settings", "value", "name = 'pin.user'", Value::Bytes(b"x"));
    salvage(place, Decision::Refuse);
    let store = place.open();
    store.load().unwrap();
    let restore = |number, copy: Option<&str>| {
        store.write(|write| write.restore_quarantined(number, copy, "officer"))
    };
    for number in [1, 2] {
        assert_eq!(restore(number, None).unwrap_err().code, Code::ACTION_PROHIBITED);
    }
    assert_eq!(restore(7, None).unwrap_err().code, Code::ARGUMENTS_BAD);
    // From a copy of the database: here another one, with the rows as they were.
    let copy = Place::sqlite();
    drop(copy.create());
    let other = Attacker::new(&copy);
    assert_eq!(restore(1, Some(&copy.url())).unwrap_err().code, Code::ARGUMENTS_BAD);
    other.restore("settings", &settings);
    other.restore("records", &records);
    restore(1, Some(&copy.url())).unwrap();
    restore(2, Some(&copy.url())).unwrap();
    assert_eq!(store.secret(2).unwrap().as_slice(), b"secret");
    let fresh = place.open();
    assert_eq!(labels(&fresh.load().unwrap().1), ["first", "second", "third"]);
    assert_eq!(fresh.setting("pin.user").unwrap().unwrap(), b"user");
    assert!(whats(&store).contains(&"officer: salvage: restored record 2 \"second\"".into()));

    // A row of another keystore is not authentic.
    attacker.set("records", "class", "id = 3", Value::Number(7));
    salvage(place, Decision::Refuse);
    let foreign = Place::sqlite();
    drop(filled(&foreign));
    let store = place.open();
    let restored =
        store.write(|write| write.restore_quarantined(1, Some(&foreign.url()), "officer"));
    assert_eq!(restored.unwrap_err().code, Code::ACTION_PROHIBITED);
    store.write(|write| write.destroy_quarantined(1, "officer")).unwrap();
    assert_eq!(store.quarantined().unwrap(), []);
    let destroyed = "officer: salvage: destroyed number 1 of the quarantine: record 3";
    assert!(whats(&store).contains(&destroyed.into()));
    store.write(|write| write.destroy_quarantined(1, "officer")).unwrap_err();
}

fn a_salvage_is_one_transaction(place: &Place) {
    let (_, attacker) = filled(place);
    attacker.set("records", "class", "id = 2", Value::Number(7));
    let tables = ["keystore", "slots", "records", "settings", "audit_log", "deletions"];
    let before = tables.map(|table| attacker.dump(table));
    let store = open(place);
    let survey = store.survey().unwrap();
    // As on a full disk.
    for table in ["audit_log", "deletions"] {
        let failed = place.without(table, || {
            store.salvage(&survey, Decision::Refuse, "officer", |_| Ok(())).unwrap_err()
        });
        assert_eq!(failed.code, Code::DEVICE_ERROR);
        assert!(tables.map(|table| attacker.dump(table)) == before);
    }
    let refuse = |_: &mut Write<'_>| Err(Code::PIN_INCORRECT.into());
    store.salvage(&survey, Decision::Refuse, "officer", refuse).unwrap_err();
    assert!(tables.map(|table| attacker.dump(table)) == before);
    assert_eq!(store.quarantined().unwrap(), []);
    // Further damage was not shown to the officer.
    attacker.set("records", "class", "id = 3", Value::Number(7));
    let changed = store.salvage(&survey, Decision::Refuse, "officer", |_| Ok(())).unwrap_err();
    assert_eq!(changed.code, Code::FUNCTION_FAILED);
}

fn a_keystore_in_use_is_noticed(place: &Place) {
    let store = place.create();
    assert!(!store.is_in_use().unwrap());
    let other = place.open();
    assert!(store.is_in_use().unwrap());
    store.load().unwrap();
    drop(other);
    assert!(!store.is_in_use().unwrap());
    store.load().unwrap();
}

fn a_lost_keyring_is_beyond_salvage(place: &Place) {
    let (store, attacker) = filled(place);
    let keystore = attacker.dump("keystore");
    store.rotate_master_key("test").unwrap();
    let Field::Bytes(earlier) = &keystore[0][3] else { panic!("they are bytes") };
    attacker.set("keystore", "keyring", "one = 1", Value::Bytes(earlier));
    let error = open(place).survey().unwrap_err();
    assert_eq!(Trouble::of(&error), Some(Trouble::KeysLost));
    attacker.set("keystore", "keyring", "one = 1", Value::Bytes(&[0; 300]));
    let store = Store::open(&place.url()).unwrap();
    let error = store.unlock_to_salvage(&passphrase()).unwrap_err();
    assert_eq!(Trouble::of(&error), Some(Trouble::KeysLost));
}

fn damaged_slots_are_found(place: &Place) {
    let (store, attacker) = filled(place);
    store.add_unlocking(&Unlocking::passphrase(b"another")).unwrap();
    let slots = attacker.dump("slots");
    // A slot that nobody wrote is set aside.
    attacker.set("slots", "salt", "id = 2", Value::Bytes(b"short"));
    let survey = open(place).survey().unwrap();
    assert_eq!(found(&survey), [(Condition::Damaged, "slot 2")]);
    attacker.restore("slots", &slots);
    // Nothing tells a slot with another seal from one that was reverted.
    attacker.set("slots", "sealed", "id = 2", Value::Bytes(&[0; 60]));
    let survey = open(place).survey().unwrap();
    assert_eq!(found(&survey), [(Condition::Reverted, "a record, setting or slot")]);
    attacker.delete("slots", "id = 2");
    let survey = open(place).survey().unwrap();
    assert_eq!(found(&survey), [(Condition::Missing, "1 slot")]);
    attacker.restore("slots", &slots);
    store.remove_unlocking(&Unlocking::passphrase(b"another")).unwrap();
    attacker.restore("slots", &slots);
    let survey = open(place).survey().unwrap();
    assert_eq!(found(&survey), [(Condition::Surplus, "1 slot")]);
    assert!(survey.needs_decision && !survey.is_proven);
    salvage(place, Decision::Keep);
    attacker.set("slots", "salt", "id = 2", Value::Bytes(b"short"));
    salvage(place, Decision::Refuse);
    assert_eq!(attacker.dump("slots").len(), 1);
}

/// SQLite's own damage has its own hint; a damaged row of SQLite may have any type.
#[test]
fn a_damaged_file_is_named() {
    let place = Place::sqlite();
    let (store, attacker) = filled(&place);
    attacker.run("UPDATE records SET class = 1.5 WHERE id = 1", &[]);
    attacker.run("UPDATE settings SET value = CAST(x'ff' AS TEXT) WHERE name = 'pin.user'", &[]);
    attacker.run("UPDATE audit_log SET time = 'x' WHERE sequence = 2", &[]);
    let lines = salvage(&place, Decision::Refuse);
    assert_eq!(store.quarantined().unwrap().len(), 2, "{lines:?}");
    drop((store, attacker));
    let path = place.url().strip_prefix("sqlite:").unwrap().to_owned();
    let mut bytes = std::fs::read(&path).unwrap();
    bytes[4096..].fill(0x55);
    std::fs::write(&path, &bytes).unwrap();
    let survey = || {
        let store = Store::open(&place.url())?;
        store.unlock_to_salvage(&passphrase())?;
        store.survey()
    };
    assert_eq!(Trouble::of(&survey().unwrap_err()), Some(Trouble::DamagedFile));
    bytes[..4096].fill(0x55);
    std::fs::write(&path, &bytes).unwrap();
    assert_eq!(Trouble::of(&survey().unwrap_err()), Some(Trouble::DamagedFile));
}
