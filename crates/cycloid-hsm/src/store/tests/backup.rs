//! Backups and their restoration.

use super::*;
use crate::legacy::{Allowed, Legacy};

on_each_database! {
    a_backup_is_restored_into_another_keystore,
    a_backup_for_custodians_is_restored,
    a_backup_that_was_changed_is_refused,
    a_backup_of_many_chunks_is_whole_or_refused,
    values_that_serve_keys_stay_so,
    what_the_officer_allows_is_in_the_backup,
}

fn objects(store: &Store) -> Vec<(Template, Option<Vec<u8>>)> {
    let (_, records) = store.load().unwrap();
    let secret = |record: &Record| store.secret(record.id).unwrap().to_vec();
    let object = |record: Record| {
        let secret = record.has_secret.then(|| secret(&record));
        (record.attributes, secret)
    };
    records.into_iter().map(object).collect()
}

fn filled(place: &Place) -> Store {
    let store = place.create();
    store.insert(&labelled("first"), Some(b"secret")).unwrap();
    store.insert(&labelled("second"), Some(b"")).unwrap();
    store.insert(&labelled("third"), None).unwrap();
    store.delete(1).unwrap();
    store.insert(&labelled("fourth"), Some(&[7; 1000])).unwrap();
    store
}

fn a_backup_is_restored_into_another_keystore(place: &Place) {
    let source = filled(place);
    let elsewhere = Place::sqlite();
    let target = elsewhere.create();
    let key = target.backup_key().unwrap();
    assert_eq!(key.to_string().parse::<BackupKey>().unwrap(), key);
    assert_eq!("00".parse::<BackupKey>().unwrap_err().code, Code::ARGUMENTS_BAD);
    let backup = source.backup(&key).unwrap();
    let private = elsewhere.open().backup_private_key().unwrap();
    assert_eq!(target.restore(&backup, &private, "test").unwrap(), 3);
    assert_eq!(objects(&target), objects(&source));
    assert_eq!(objects(&elsewhere.open()), objects(&source));
    // Restoring again fails: only an empty keystore accepts a backup.
    assert_eq!(
        target.restore(&backup, &private, "test").unwrap_err().code,
        Code::ACTION_PROHIBITED
    );
    assert_eq!(objects(&target).len(), 3);
    // A point of small order.
    let guessable = source.backup(&BackupKey([0; 32])).unwrap_err();
    assert_eq!(guessable.code, Code::PUBLIC_KEY_INVALID);
}

/// After a restart, a rotation, and in another keystore. A backup without a permission has the form
/// of an older one.
fn what_the_officer_allows_is_in_the_backup(place: &Place) {
    let source = filled(place);
    assert_eq!(source.allowed().unwrap(), Allowed::NONE);
    let target = Place::sqlite().create();
    let key = target.backup_key().unwrap();
    let without = source.backup(&key).unwrap();
    for weak in [Legacy::ShortRsaKeys, Legacy::RawRsa, Legacy::Sha1Signatures] {
        source.write(|write| write.allow(weak, true, "officer")).unwrap();
    }
    source.write(|write| write.allow(Legacy::RawRsa, false, "officer")).unwrap();
    let expected = Allowed::EVERY.with(Legacy::RawRsa, false);
    source.rotate_master_key("test").unwrap();
    for store in [&source, &place.open()] {
        assert_eq!(store.allowed().unwrap(), expected);
    }
    let lines = source.audit_entries(1, 100).unwrap();
    let last = |what: &str| lines.iter().filter(|line| line.what == what).count();
    assert_eq!(last("RSA operations without padding are forbidden (raw-rsa)"), 1);
    assert_eq!(last("RSA operations without padding are allowed (raw-rsa)"), 1);

    let backup = source.backup(&key).unwrap();
    assert_eq!(backup.len(), without.len() + 4);
    let private = target.backup_private_key().unwrap();
    assert_eq!(target.allowed().unwrap(), Allowed::NONE);
    target.restore(&backup, &private, "test").unwrap();
    assert_eq!(target.allowed().unwrap(), expected);
    let lines = target.audit_entries(1, 100).unwrap();
    let expected = "signatures with SHA-1 are allowed (sha1-signatures)";
    assert!(lines.iter().any(|line| line.what == expected));
}

/// After a restart, a rotation, and in another keystore, whose fingerprints differ.
fn values_that_serve_keys_stay_so(place: &Place) {
    let (value, other) = (b"the value of a key".as_slice(), b"another value".as_slice());
    let serves =
        |store: &Store, value| store.serves_keys(&store.fingerprint(value).unwrap()).unwrap();
    let source = filled(place);
    source.load().unwrap();
    assert!(!serves(&source, value));
    let fingerprint = source.fingerprint(value).unwrap();
    source.write(|write| write.serve_keys(&fingerprint)).unwrap();
    source.write(|write| write.serve_keys(&fingerprint)).unwrap();
    assert_eq!(format!("{fingerprint:?}"), "Fingerprint(..)");
    for store in [&source, &place.open()] {
        store.load().unwrap();
        assert!(serves(store, value) && !serves(store, other));
    }
    source.rotate_master_key("test").unwrap();
    assert!(serves(&source, value) && serves(&place.open(), value));

    let target = Place::sqlite().create();
    let backup = source.backup(&target.backup_key().unwrap()).unwrap();
    assert!(!serves(&target, value));
    target.restore(&backup, &target.backup_private_key().unwrap(), "test").unwrap();
    assert!(serves(&target, value) && !serves(&target, other));
    assert_eq!(objects(&target), objects(&source));
}

fn a_backup_for_custodians_is_restored(place: &Place) {
    let source = filled(&Place::sqlite());
    let key = BackupPrivateKey::generate().unwrap();
    let shares = key.split(2, 3).unwrap();
    let backup = source.backup(&key.public()).unwrap();
    drop(key);
    let texts = [&shares[2], &shares[0]].map(Share::to_text);
    let shares = texts.map(|text| text.parse::<Share>().unwrap());
    let key = BackupPrivateKey::combine(&shares).unwrap();
    let target = place.create();
    assert_eq!(target.restore(&backup, &key, "test").unwrap(), 3);
    assert_eq!(objects(&target), objects(&source));
}

fn a_backup_that_was_changed_is_refused(place: &Place) {
    let (source, elsewhere) = (filled(place), Place::sqlite());
    let target = elsewhere.create();
    let key = target.backup_private_key().unwrap();
    let backup = source.backup(&key.public()).unwrap();
    let refused = |backup: &[u8], key: &BackupPrivateKey| {
        let refused = target.restore(backup, key, "test").unwrap_err();
        assert_eq!(refused.code, Code::ENCRYPTED_DATA_INVALID);
    };
    for at in 0..backup.len() {
        let mut changed = backup.clone();
        changed[at] ^= 1 << (at % 8);
        // X25519 ignores the highest bit of a public key, but the key derivation binds the header
        // as it is.
        refused(&changed, &key);
        refused(&backup[..at], &key);
    }
    refused(&[&*backup, &[0]].concat(), &key);
    refused(&backup, &BackupPrivateKey::generate().unwrap());
    assert_eq!(objects(&target), []);
    assert_eq!(target.restore(&backup, &key, "test").unwrap(), 3);
}

fn a_backup_of_many_chunks_is_whole_or_refused(place: &Place) {
    const CHUNK: usize = (64 << 10) + 16;
    const HEADER: usize = 14 + 2 + 32;
    let (source, elsewhere) = (place.create(), Place::sqlite());
    let target = elsewhere.create();
    let key = target.backup_private_key().unwrap();
    for size in [200_000, 1, 60_000, 65_536, 4] {
        source.insert(&labelled("large"), Some(&vec![size as u8; size])).unwrap();
    }
    let backup = source.backup(&key.public()).unwrap();
    let chunks = (backup.len() - HEADER).div_ceil(CHUNK);
    assert!(chunks > 4);
    let chunk =
        |at: usize| &backup[HEADER + at * CHUNK..backup.len().min(HEADER + (at + 1) * CHUNK)];
    let of = |chunks: &[usize]| {
        let chunks = chunks.iter().flat_map(|at| chunk(*at)).copied();
        [&backup[..HEADER], &chunks.collect::<Vec<_>>()].concat()
    };
    let all = (0..chunks).collect::<Vec<_>>();
    assert_eq!(of(&all), backup);
    for at in 0..chunks {
        target.restore(&of(&all[..at]), &key, "test").unwrap_err();
        target.restore(&of(&all[at + 1..]), &key, "test").unwrap_err();
        target
            .restore(&of(&[&all[..at], &all[at..=at], &all[at..]].concat()), &key, "test")
            .unwrap_err();
        let mut exchanged = all.clone();
        exchanged.swap(at, (at + 1) % chunks);
        target.restore(&of(&exchanged), &key, "test").unwrap_err();
    }
    assert_eq!(target.restore(&backup, &key, "test").unwrap(), 5);
    assert_eq!(objects(&target), objects(&source));
}
