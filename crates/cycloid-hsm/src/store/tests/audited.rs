//! A change and its line of the audit log are one transaction: both last, or neither.

use super::*;

on_each_database! {
    without_its_line_nothing_is_changed,
    without_the_change_there_is_no_line,
    a_rotation_and_a_restoring_write_their_lines,
}

/// All that a keystore says.
fn content(store: &Store) -> (Vec<Record>, Option<Vec<u8>>, usize) {
    let (_, records) = store.load().unwrap();
    store.audit_verify(None).unwrap();
    let lines = store.audit_entries(1, u32::MAX).unwrap().len();
    (records, store.setting("label").unwrap(), lines)
}

/// Changes, each with its line, which comes first or last.
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

fn without_its_line_nothing_is_changed(place: &Place) {
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

fn without_the_change_there_is_no_line(place: &Place) {
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

fn a_rotation_and_a_restoring_write_their_lines(place: &Place) {
    let store = filled(place);
    store.rotate_master_key("officer").unwrap();
    let what = |store: &Store| -> Vec<String> {
        let entries = store.audit_entries(1, u32::MAX).unwrap();
        entries.into_iter().map(|entry| format!("{}: {}", entry.who, entry.what)).collect()
    };
    assert_eq!(
        what(&store)[1..],
        [
            "officer: the master key is rotated",
            "officer: the master key was rotated: 2 rows sealed anew"
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
