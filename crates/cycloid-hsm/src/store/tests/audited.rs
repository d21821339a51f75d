//! A change and its line in the audit log are one transaction: both are committed, or neither.

use super::*;

on_each_database! {
    a_change_without_its_audit_line_is_rolled_back,
    an_audit_line_without_its_change_is_rolled_back,
    rotation_and_restore_write_audit_lines,
}

/// Returns the contents of a keystore.
fn content(store: &Store) -> (Vec<Record>, Option<Vec<u8>>, usize) {
    let (_, records) = store.load().unwrap();
    store.audit_verify(None).unwrap();
    let lines = store.audit_entries(1, u32::MAX).unwrap().len();
    (records, store.setting("label").unwrap(), lines)
}

/// Changes with their audit lines, which come first or last.
type Change = fn(&mut Write<'_>) -> Result<()>;

const CHANGES: [Change; 5] = [
    |write| write.insert((&labelled("new"), Some(b"secret"))).map(drop),
    |write| write.update(1, 1, &labelled("changed")).map(drop),
    |write| write.delete(1),
    |write| write.set_setting("label", b"changed"),
    |write| write.clear(),
];

fn filled(place: &Place) -> Store {
    let store = place.create();
    store.insert(&labelled("one"), Some(b"secret")).unwrap();
    store.set_setting("label", b"one").unwrap();
    store.audit("test", "made one").unwrap();
    store
}

fn a_change_without_its_audit_line_is_rolled_back(place: &Place) {
    let store = filled(place);
    let before = content(&store);
    for change in CHANGES {
        let audited = |store: &Store| {
            store.write(|write| {
                change(write)?;
                write.audit("test", "changed")
            })
        };
        place.without("audit_log", || audited(&store).unwrap_err());
        assert_eq!(content(&store), before);
        assert_eq!(content(&place.open()), before);
    }
    let failed = place.without("audit_log", || store.rotate_master_key("test").unwrap_err());
    assert_eq!(failed.code, Code::DEVICE_ERROR);
    assert!(!place.open().keyring().unwrap().is_rotating());
}

fn an_audit_line_without_its_change_is_rolled_back(place: &Place) {
    let store = filled(place);
    let before = content(&store);
    for (change, table) in CHANGES.into_iter().zip(["records", "records", "deletions", "settings"])
    {
        let audited = |store: &Store| {
            store.write(|write| {
                write.audit("test", "changed")?;
                change(write)
            })
        };
        place.without(table, || audited(&store).unwrap_err());
        assert_eq!(content(&store), before, "{table}");
        assert_eq!(content(&place.open()), before, "{table}");
    }
}

fn rotation_and_restore_write_audit_lines(place: &Place) {
    let store = filled(place);
    store.rotate_master_key("officer").unwrap();
    let what = |store: &Store| -> Vec<String> {
        let entries = store.audit_entries(1, u32::MAX).unwrap();
        entries.into_iter().map(|entry| format!("{}: {}", entry.who, entry.what)).collect()
    };
    assert_eq!(
        what(&store)[1..],
        [
            "officer: rotation of the master key started",
            "officer: the master key was rotated: 2 rows re-sealed"
        ]
    );
    let elsewhere = Place::sqlite();
    let target = elsewhere.create();
    let key = target.backup_private_key().unwrap();
    let backup = store.backup(&key.public()).unwrap();
    elsewhere.without("audit_log", || target.restore(&backup, &key, "test").unwrap_err());
    assert_eq!(content(&target).0, []);
    assert_eq!(target.restore(&backup, &key, "operator").unwrap(), 1);
    assert_eq!(what(&target), ["operator: 1 objects were restored from a backup"]);
}
