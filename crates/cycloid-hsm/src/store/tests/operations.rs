//! The store's operations without interference.

use crate::rpc::Secret;

use super::*;

on_each_database! {
    a_reopened_store_has_everything,
    only_the_right_credentials_unlock,
    credentials_can_be_changed_added_and_removed,
    a_locked_store_refuses_everything,
    a_database_has_at_most_one_keystore,
    a_keystore_is_made_with_its_contents_or_not_at_all,
    an_update_with_an_old_version_is_refused,
    daemons_see_each_others_changes,
    clearing_keeps_settings,
    a_rotation_reseals_everything,
    an_interrupted_rotation_is_resumed,
    the_audit_log_is_a_chain,
}

fn a_reopened_store_has_everything(place: &Place) {
    let store = place.create();
    assert_eq!(store.load().unwrap().1, []);
    let first = store.insert(&labelled("first"), Some(b"secret")).unwrap();
    let (public, private) =
        store.insert_pair((&labelled("public"), None), (&labelled("private"), Some(b""))).unwrap();
    let changed = store.update(first.id, first.version, &labelled("changed")).unwrap();
    store.delete(public.id).unwrap();
    store.set_setting("label", b"a token").unwrap();
    store.set_setting("label", b"the token").unwrap();
    assert_eq!((first.id, public.id, private.id), (1, 2, 3));

    for store in [store, place.open()] {
        let (_, records) = store.load().unwrap();
        assert_eq!(records, [changed.clone(), private.clone()]);
        assert_eq!(records[0].version, 2);
        assert_eq!(store.secret(1).unwrap().as_slice(), b"secret");
        assert_eq!(store.secret(3).unwrap().as_slice(), b"");
        assert_eq!(store.secret(2).unwrap_err().code, Code::OBJECT_HANDLE_INVALID);
        assert_eq!(store.setting("label").unwrap().unwrap(), b"the token");
        assert_eq!(store.setting("other").unwrap(), None);
        assert_eq!(
            store.update(2, 1, &labelled("")).unwrap_err().code,
            Code::OBJECT_HANDLE_INVALID
        );
        assert_eq!(store.delete(2).unwrap_err().code, Code::OBJECT_HANDLE_INVALID);
        let incomplete = store.insert(&Template::new(), None).unwrap_err();
        assert_eq!(incomplete.code, Code::TEMPLATE_INCOMPLETE);
    }
    // A number is never reused, and an object without a secret has none.
    let store = place.open();
    store.delete(3).unwrap();
    assert_eq!(store.insert(&labelled("last"), None).unwrap().id, 4);
    assert_eq!(store.secret(4).unwrap_err().code, Code::KEY_HANDLE_INVALID);
}

fn only_the_right_credentials_unlock(place: &Place) {
    let file = Unlocking::new_key_file().unwrap();
    let both = Unlocking { key_file: Some(file.clone()), ..passphrase() };
    let key_file = Unlocking::key_file(&file);
    Store::create_with_cost(&place.url(), &both, Cost::LOWEST).unwrap();

    let store = Store::open(&place.url()).unwrap();
    let wrong_file =
        Unlocking { key_file: Some(Unlocking::new_key_file().unwrap()), ..passphrase() };
    let wrong_passphrase = Unlocking { passphrase: Some(Secret::new(b"x")), ..key_file.clone() };
    for wrong in [&passphrase(), &key_file, &wrong_file, &wrong_passphrase] {
        assert_eq!(store.unlock(wrong).unwrap_err().code, Code::PIN_INCORRECT, "{wrong:?}");
        assert!(store.is_locked());
    }
    let empty = store.unlock(&Unlocking::passphrase(b"")).unwrap_err();
    assert_eq!(empty.code, Code::PIN_LEN_RANGE);
    for senseless in [Unlocking::default(), Unlocking::key_file(&file[1..])] {
        assert_eq!(store.unlock(&senseless).unwrap_err().code, Code::ARGUMENTS_BAD);
    }
    store.unlock(&both).unwrap();
    store.load().unwrap();
    store.add_unlocking(&key_file).unwrap();
    store.lock();
    store.unlock(&key_file).unwrap();
}

fn credentials_can_be_changed_added_and_removed(place: &Place) {
    let store = place.create();
    store.insert(&labelled("kept"), Some(b"secret")).unwrap();
    let (new, other) = (Unlocking::passphrase(b"new"), Unlocking::passphrase(b"other"));
    assert_eq!(store.change_unlocking(&new, &other).unwrap_err().code, Code::PIN_INCORRECT);
    store.change_unlocking(&passphrase(), &new).unwrap();
    store.load().unwrap();

    let store = Store::open(&place.url()).unwrap();
    assert_eq!(store.unlock(&passphrase()).unwrap_err().code, Code::PIN_INCORRECT);
    store.unlock(&new).unwrap();
    let last = store.remove_unlocking(&new).unwrap_err();
    assert_eq!(last.code, Code::ACTION_PROHIBITED);
    store.add_unlocking(&other).unwrap();
    store.remove_unlocking(&new).unwrap();
    store.lock();
    assert_eq!(store.unlock(&new).unwrap_err().code, Code::PIN_INCORRECT);
    store.unlock(&other).unwrap();
    assert_eq!(labels(&store.load().unwrap().1), ["kept"]);
    assert_eq!(store.secret(1).unwrap().as_slice(), b"secret");

    for _ in 1..slot::Slot::MOST {
        store.add_unlocking(&other).unwrap();
    }
    assert_eq!(store.add_unlocking(&other).unwrap_err().code, Code::ACTION_PROHIBITED);
    store.load().unwrap();
}

fn a_locked_store_refuses_everything(place: &Place) {
    place.create().insert(&labelled("one"), Some(b"secret")).unwrap();
    let store = Store::open(&place.url()).unwrap();
    assert!(store.is_locked());
    let refusals = [
        store.load().unwrap_err(),
        store.changes(Generation(0)).unwrap_err(),
        store.insert(&labelled("two"), None).unwrap_err(),
        store.update(1, 1, &labelled("two")).unwrap_err(),
        store.delete(1).unwrap_err(),
        store.secret(1).unwrap_err(),
        store.setting("label").unwrap_err(),
        store.set_setting("label", b"").unwrap_err(),
        store.clear().unwrap_err(),
        store.rotate_master_key("test").unwrap_err(),
        store.add_unlocking(&passphrase()).unwrap_err(),
        store.audit("who", "what").unwrap_err(),
        store.audit_verify(None).unwrap_err(),
    ];
    for refusal in refusals {
        assert_eq!(refusal.detail, "the keystore is locked");
    }
    assert!(store.audit_entries(1, 10).unwrap().is_empty());
    store.unlock(&passphrase()).unwrap();
    assert_eq!(store.load().unwrap().1.len(), 1);
}

fn a_database_has_at_most_one_keystore(place: &Place) {
    let nothing = Store::open(&place.url()).unwrap_err();
    assert_eq!(nothing.code, Code::DEVICE_ERROR);
    assert!(nothing.detail.contains("no keystore at"), "{nothing}");
    let first = place.create();
    let second = Store::create_with_cost(&place.url(), &passphrase(), Cost::LOWEST).unwrap_err();
    assert_eq!(second.code, Code::ARGUMENTS_BAD);
    assert!(second.detail.contains("already"), "{second}");
    assert_eq!(place.open().serial(), first.serial());
    assert_eq!(first.serial().len(), 16);
    if let Place::Sqlite(directory) = place {
        use std::os::unix::fs::PermissionsExt;
        for file in std::fs::read_dir(directory.path()).unwrap() {
            let permissions = file.unwrap().metadata().unwrap().permissions();
            assert_eq!(permissions.mode() & 0o777, 0o600);
        }
    }
}

fn a_keystore_is_made_with_its_contents_or_not_at_all(place: &Place) {
    let create = |fails: bool| {
        Store::create_filled(&place.url(), &passphrase(), Cost::LOWEST, |write| {
            write.set_setting("label", b"a token")?;
            write.insert((&labelled("first"), None))?;
            write.audit("operator", "created")?;
            if fails { Err(Code::FUNCTION_CANCELED.because("a test")) } else { Ok(()) }
        })
    };
    assert_eq!(create(true).unwrap_err().code, Code::FUNCTION_CANCELED);
    let nothing = Store::open(&place.url()).unwrap_err();
    assert!(nothing.detail.contains("no keystore at"), "{nothing}");
    let store = create(false).unwrap();
    // Its own view of the rows is complete: it accepts what it reads, and goes on.
    for store in [store, place.open()] {
        assert_eq!(store.setting("label").unwrap().unwrap(), b"a token");
        let records = store.load().unwrap().1;
        assert_eq!(records.iter().map(|record| record.id).collect::<Vec<_>>(), [1]);
        store.update(1, records[0].version, &labelled("changed")).unwrap();
        assert_eq!(store.audit_entries(1, 10).unwrap().len(), 1);
    }
}

fn an_update_with_an_old_version_is_refused(place: &Place) {
    let (one, other) = (place.create(), place.open());
    let record = one.insert(&labelled("a"), Some(b"secret")).unwrap();
    other.load().unwrap();
    one.update(record.id, 1, &labelled("b")).unwrap();
    let conflict = other.update(record.id, 1, &labelled("c")).unwrap_err();
    assert_eq!(conflict.code, Code::FUNCTION_FAILED);
    other.update(record.id, 2, &labelled("c")).unwrap();
    assert_eq!(labels(&one.load().unwrap().1), ["c"]);
    assert_eq!(one.secret(record.id).unwrap().as_slice(), b"secret");
}

fn daemons_see_each_others_changes(place: &Place) {
    let (one, other) = (place.create(), place.open());
    let (start, _) = one.load().unwrap();
    other.load().unwrap();
    for label in ["a", "b", "c"] {
        one.insert(&labelled(label), Some(label.as_bytes())).unwrap();
    }
    // An object can be used by its number before its change is loaded.
    assert_eq!(other.secret(2).unwrap().as_slice(), b"b");
    let (generation, records, deleted) = other.changes(start).unwrap();
    assert_eq!((labels(&records), deleted), (vec!["a".into(), "b".into(), "c".into()], vec![]));
    assert_eq!(other.changes(generation).unwrap(), (generation, vec![], vec![]));

    other.delete(1).unwrap();
    other.update(2, 1, &labelled("B")).unwrap();
    one.set_setting("label", b"x").unwrap();
    other.add_unlocking(&Unlocking::passphrase(b"another")).unwrap();
    assert_eq!(other.setting("label").unwrap().unwrap(), b"x");
    let (latest, records, deleted) = one.changes(generation).unwrap();
    assert_eq!((labels(&records), deleted), (vec!["B".into()], vec![1]));
    assert_eq!(other.changes(generation).unwrap(), (latest, records, vec![1]));
    assert_eq!(one.secret(1).unwrap_err().code, Code::OBJECT_HANDLE_INVALID);
    // From generation 0: all existing and all deleted objects.
    let (_, records, deleted) = place.open().changes(Generation(0)).unwrap();
    assert_eq!((labels(&records), deleted), (vec!["B".into(), "c".into()], vec![1]));

    // Both write concurrently.
    std::thread::scope(|scope| {
        for store in [&one, &other] {
            scope.spawn(|| {
                for _ in 0..20 {
                    let record = store.insert(&labelled("many"), Some(b"secret")).unwrap();
                    assert_eq!(store.secret(record.id).unwrap().as_slice(), b"secret");
                    store.update(record.id, 1, &labelled("more")).unwrap();
                }
            });
        }
    });
    assert_eq!(one.changes(latest).unwrap(), other.changes(latest).unwrap());
    assert_eq!(one.load().unwrap(), place.open().load().unwrap());
    assert_eq!(one.load().unwrap().1.len(), 42);
}

fn clearing_keeps_settings(place: &Place) {
    let store = place.create();
    for _ in 0..5 {
        store.insert(&labelled("a"), Some(b"secret")).unwrap();
    }
    store.set_setting("label", b"x").unwrap();
    let (generation, _) = store.load().unwrap();
    store.clear().unwrap();
    assert_eq!(store.load().unwrap().1, []);
    assert_eq!(store.changes(generation).unwrap().2, [1, 2, 3, 4, 5]);
    assert_eq!(place.open().setting("label").unwrap().unwrap(), b"x");
    assert_eq!(store.insert(&labelled("b"), None).unwrap().id, 6);
}

fn epochs(store: &Store) -> Vec<u64> {
    let select = "SELECT epoch FROM records UNION SELECT epoch FROM settings ORDER BY epoch";
    store.database.begin(Access::Read).unwrap().all(select, &[], |mut row| row.number()).unwrap()
}

fn a_rotation_reseals_everything(place: &Place) {
    let (store, other) = (place.create(), place.open());
    assert_eq!(store.rotate_master_key("test").unwrap(), 0);
    for number in 0..300 {
        store.insert(&labelled(&number.to_string()), Some(&[7; 100])).unwrap();
    }
    store.set_setting("label", b"x").unwrap();
    let (_, before) = store.load().unwrap();
    let (generation, _) = other.load().unwrap();
    assert_eq!(epochs(&store), [2]);
    assert_eq!(store.rotate_master_key("test").unwrap(), 301);
    assert_eq!(epochs(&store), [3]);
    assert_eq!(store.load().unwrap().1, before);
    // The other daemon finds the new key by itself.
    assert_eq!(other.secret(300).unwrap().as_slice(), [7; 100]);
    assert_eq!(other.changes(generation).unwrap().1, before);
    assert_eq!(place.open().load().unwrap().1, before);
    assert_eq!(place.open().setting("label").unwrap().unwrap(), b"x");
}

fn an_interrupted_rotation_is_resumed(place: &Place) {
    let store = place.create();
    for number in 0..300 {
        store.insert(&labelled(&number.to_string()), Some(b"secret")).unwrap();
    }
    // The steps: a new key; 128, 128 and 44 records; removal of the old key.
    for steps in 1..=5 {
        let interrupted = place.open();
        interrupted.load().unwrap();
        for step in 0..steps {
            assert_eq!(
                interrupted.rotation_step("test", step == 0, 0).unwrap().is_some(),
                step < 4
            );
        }
        let successor = place.open();
        assert_eq!(successor.load().unwrap().1.len(), 300);
        let record = successor.insert(&labelled("while rotating"), Some(b"secret")).unwrap();
        interrupted.load().unwrap();
        store.changes(Generation(0)).unwrap();
        let left = if steps == 5 { 301 } else { 300 - 128 * (steps as u64 - 1).min(2) };
        let left = if steps == 4 { 0 } else { left };
        assert_eq!(successor.rotate_master_key("test").unwrap(), left, "after {steps} steps");
        assert_eq!(epochs(&store).len(), 1);
        assert_eq!(interrupted.secret(record.id).unwrap().as_slice(), b"secret");
        successor.delete(record.id).unwrap();
        assert_eq!(store.load().unwrap().1.len(), 300);
    }
}

fn the_audit_log_is_a_chain(place: &Place) {
    let (store, other) = (place.create(), place.open());
    assert_eq!(store.audit_verify(None).unwrap(), AuditHead::default());
    for number in 1..=3 {
        store.audit("user", &format!("did {number}")).unwrap();
        other.audit("officer", "looked").unwrap();
    }
    let head = store.audit_verify(Some(&AuditHead::default())).unwrap();
    assert_eq!(head.sequence, 6);
    assert_eq!(head.to_string().parse::<AuditHead>().unwrap(), head);
    for text in
        ["", "6", "6:", "6:00", "x:00", &format!("{head}0"), &format!("6:{}", "é".repeat(32))]
    {
        assert_eq!(text.parse::<AuditHead>().unwrap_err().code, Code::ARGUMENTS_BAD);
    }
    other.audit("officer", "looked again").unwrap();
    assert_eq!(store.audit_verify(Some(&head)).unwrap().sequence, 7);
    let entries = store.audit_entries(3, 2).unwrap();
    assert_eq!(entries[0].what, "did 2");
    assert_eq!((entries[1].sequence, entries[1].who.as_str()), (4, "officer"));
    assert!(entries[0].time > 1_600_000_000_000);
    assert_eq!(store.audit("a\0", "b").unwrap_err().code, Code::ARGUMENTS_BAD);
    assert!(store.audit_entries(u64::MAX, u32::MAX).unwrap().is_empty());
    assert_eq!(store.audit_entries(0, u32::MAX).unwrap().len(), 7);
}

#[test]
fn other_urls_are_refused() {
    let urls = ["", "keystore", "sqlite:", "mysql://u:geheim@h/d", "postgres://u:geheim@h:port/d"];
    let tls = "postgres://u:geheim@h/d?sslmode=require";
    for url in urls.into_iter().chain([tls]) {
        let refused = Store::open(url).unwrap_err();
        assert_eq!(refused.code, Code::ARGUMENTS_BAD, "{url}");
        assert!(!refused.to_string().contains("geheim"), "{refused}");
    }
}
