//! A keystore, a backup and custodians' shares after arbitrary modification by an attacker: reading
//! gives an error, or exactly what was written.

#![no_main]

use std::path::PathBuf;
use std::sync::LazyLock;

use cycloid_fuzz::Input;
use cycloid_hsm::Result;
use cycloid_hsm::attribute::{Template, cka, cko};
use cycloid_hsm::rpc::message::AuditEntry;
use cycloid_hsm::store::{
    AuditHead, BackupKey, BackupPrivateKey, KEY_FILE, Record, Share, Store, Unlocking,
};
use libfuzzer_sys::fuzz_target;
use rusqlite::Connection;
use rusqlite::types::Value;

const TABLES: [(&str, &[&str]); 6] = [
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

/// The complete content of a keystore.
#[derive(Debug, PartialEq)]
struct Content {
    objects: Vec<(Record, Option<Vec<u8>>)>,
    settings: [Option<Vec<u8>>; 2],
    log: Vec<AuditEntry>,
    head: AuditHead,
}

/// An unmodified keystore, with its backup and shares.
struct Sound {
    place: PathBuf,
    file: Vec<u8>,
    content: Content,
    backup: Vec<u8>,
    key: BackupPrivateKey,
    shares: Vec<String>,
}

static SOUND: LazyLock<Sound> = LazyLock::new(|| {
    let place = std::env::temp_dir().join(format!("cycloid-fuzz-{}", std::process::id()));
    std::fs::create_dir_all(&place).expect("the directory can be created");
    let store = Store::create(&url(&place), &unlocking()).expect("the keystore can be created");
    let key = BackupPrivateKey::generate().expect("random bytes are available");
    let (content, backup) = fill(&store, &key.public()).expect("the keystore accepts the objects");
    drop(store);
    let connection = Connection::open(database(&place)).expect("the file is an SQLite database");
    connection.execute_batch("PRAGMA journal_mode = DELETE").expect("no other process uses it");
    drop(connection);
    let file = std::fs::read(database(&place)).expect("the file is readable");
    let shares = key.split(2, 3).expect("two of three");
    let shares = shares.iter().map(|share| share.to_text().to_string()).collect();
    Sound { place, file, content, backup, key, shares }
});

fn database(place: &std::path::Path) -> PathBuf {
    place.join("keys.db")
}

fn url(place: &std::path::Path) -> String {
    format!("sqlite:{}", database(place).display())
}

fn unlocking() -> Unlocking {
    Unlocking::key_file(&[7; KEY_FILE])
}

fn fill(store: &Store, to: &BackupKey) -> Result<(Content, Vec<u8>)> {
    let labelled = |label: &str| {
        let mut attributes = Template::new();
        attributes.set_number(cka::CLASS, cko::PRIVATE_KEY.into());
        attributes.set(cka::LABEL, label);
        attributes
    };
    store.write(|write| {
        write.insert((&labelled("one"), Some(b"a secret")))?;
        write.insert((&labelled("two"), Some(b"another")))?;
        write.insert((&labelled("three"), None)).map(drop)
    })?;
    store.write(|write| {
        write.delete(2)?;
        write.update(1, 1, &labelled("one again")).map(drop)
    })?;
    store.write(|write| {
        write.set_setting("first", b"value")?;
        write.set_setting("second", b"")?;
        write.audit("anna", "did something")
    })?;
    store.audit("bert", "did something else")?;
    Ok((content(store)?, store.backup(to)?))
}

fn content(store: &Store) -> Result<Content> {
    let (_, records) = store.load()?;
    let secret = |record: Record| {
        let secret = match record.has_secret {
            true => Some(store.secret(record.id)?.to_vec()),
            false => None,
        };
        Ok((record, secret))
    };
    Ok(Content {
        objects: records.into_iter().map(secret).collect::<Result<_>>()?,
        settings: [store.setting("first")?, store.setting("second")?],
        log: store.audit_entries(1, u32::MAX)?,
        head: store.audit_verify(None)?,
    })
}

fuzz_target!(|bytes: &[u8]| {
    let mut input = Input::new(bytes);
    match input.up_to(3) {
        0 => changed_backup(&mut input),
        1 => changed_shares(&mut input),
        _ => changed_keystore(&mut input),
    }
});

fn changed_keystore(input: &mut Input<'_>) {
    let path = database(&SOUND.place);
    for left in ["keys.db-wal", "keys.db-shm", "keys.db-journal"] {
        let _ = std::fs::remove_file(SOUND.place.join(left));
    }
    std::fs::write(&path, &SOUND.file).expect("the file can be written");
    let connection = Connection::open(&path).expect("the file is an SQLite database");
    for _ in 0..=input.up_to(3) {
        change(&connection, input);
    }
    drop(connection);
    let read = || {
        let store = Store::open(&url(&SOUND.place))?;
        store.unlock(&unlocking())?;
        content(&store)
    };
    if let Ok(content) = read() {
        assert_eq!(content, SOUND.content);
    }
}

/// Changes a value or a row; changes that the database itself rejects are skipped.
fn change(connection: &Connection, input: &mut Input<'_>) {
    let (table, columns) = TABLES[input.up_to(TABLES.len() - 1)];
    let column = columns[input.up_to(columns.len() - 1)];
    let (row, other) = (input.up_to(3), input.up_to(3));
    let of = |row| format!("(SELECT rowid FROM {table} ORDER BY rowid LIMIT 1 OFFSET {row})");
    let old = format!("SELECT {column} FROM {table} WHERE rowid = {}", of(row));
    let Ok(old) = connection.query_row(&old, [], |row| row.get::<_, Value>(0)) else { return };
    let update = |value: Value| {
        let update = format!("UPDATE {table} SET {column} = ?1 WHERE rowid = {}", of(row));
        let _ = connection.execute(&update, [value]);
    };
    let number = i64::from_le_bytes(std::array::from_fn(|_| input.byte()));
    match input.up_to(7) {
        0 => {
            let _ =
                connection.execute(&format!("DELETE FROM {table} WHERE rowid = {}", of(row)), []);
        }
        // Replaces the value by that of another row.
        1 => {
            let other = format!("(SELECT {column} FROM {table} WHERE rowid = {})", of(other));
            let update = format!("UPDATE {table} SET {column} = {other} WHERE rowid = {}", of(row));
            let _ = connection.execute(&update, []);
        }
        2 => update(Value::Integer(number)),
        3 => update(Value::Null),
        4 => update(Value::Real(number as f64)),
        _ => update(match old {
            Value::Integer(old) => Value::Integer(old.wrapping_add(number % 4)),
            Value::Text(old) => Value::Blob(input.changed(old.as_bytes())),
            Value::Blob(old) => Value::Blob(input.changed(&old)),
            other => other,
        }),
    }
}

fn changed_backup(input: &mut Input<'_>) {
    static TARGET: LazyLock<Store> = LazyLock::new(|| {
        let place = SOUND.place.join("target");
        std::fs::create_dir_all(&place).expect("the directory can be created");
        Store::create(&url(&place), &unlocking()).expect("the keystore can be created")
    });
    let backup = input.changed(&SOUND.backup);
    let restored = TARGET.restore(&backup, &SOUND.key, "target");
    assert_eq!(restored.is_ok(), backup == SOUND.backup);
    if restored.is_ok() {
        let objects = content(&TARGET).expect("the backup was restored").objects;
        let plain = |objects: &[(Record, Option<Vec<u8>>)]| {
            let part = |(record, secret): &(Record, Option<Vec<u8>>)| {
                (record.attributes.clone(), secret.clone())
            };
            objects.iter().map(part).collect::<Vec<_>>()
        };
        assert_eq!(plain(&objects), plain(&SOUND.content.objects));
        #[expect(
            clippy::redundant_closure_for_method_calls,
            reason = "lifetimes need the closure"
        )]
        TARGET.write(|write| write.clear()).expect("the keystore can be cleared");
    }
}

fn changed_shares(input: &mut Input<'_>) {
    let mut shares = Vec::new();
    let mut changed = false;
    for _ in 0..=input.up_to(3) {
        let text = &SOUND.shares[input.up_to(SOUND.shares.len() - 1)];
        let other = input.changed(text.as_bytes());
        let other = String::from_utf8_lossy(&other);
        if let Ok(share) = other.parse::<Share>() {
            let again = share.to_text();
            assert_eq!(again.parse::<Share>().expect("a sound share").to_text(), again);
            changed |= *again != **text;
            shares.push(share);
        }
        let _ = other.parse::<BackupKey>();
        let _ = other.parse::<AuditHead>();
    }
    if let Ok(key) = BackupPrivateKey::combine(&shares) {
        assert!(changed || key.public() == SOUND.key.public());
    }
}
