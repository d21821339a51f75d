//! A salvage that is killed has done everything or nothing.

use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use super::tampering::Attacker;
use super::*;

/// The environment variable that makes this process a child, and names its keystore.
const CHILD: &str = "CYCLOID_HSM_TEST_SALVAGE";
/// The number of records. Every second one is damaged.
const RECORDS: u64 = 200;

#[test]
fn a_killed_salvage_is_complete_or_absent_on_sqlite() {
    if !child() {
        kill(&Place::sqlite(), "a_killed_salvage_is_complete_or_absent_on_sqlite");
    }
}

#[test]
fn a_killed_salvage_is_complete_or_absent_on_postgresql() {
    if !child() {
        kill(&Place::postgresql(), "a_killed_salvage_is_complete_or_absent_on_postgresql");
    }
}

/// Salvages once, if this process is a child.
fn child() -> bool {
    let Ok(url) = std::env::var(CHILD) else { return false };
    let store = Store::open(&url).unwrap();
    store.unlock_to_salvage(&passphrase()).unwrap();
    let survey = store.survey().unwrap();
    store.salvage(&survey, Decision::Refuse, "child", |_| Ok(())).unwrap();
    true
}

fn kill(place: &Place, test: &str) {
    let name = format!("{}::{test}", module_path!().split_once("::").unwrap().1);
    let (mut done, mut killed) = (0, 0);
    for round in 0..12 {
        let place = place.another();
        let store = place.create();
        let insert = |write: &mut Write<'_>| {
            (0..RECORDS)
                .try_for_each(|_| write.insert((&labelled("one"), Some(b"secret"))).map(drop))
        };
        store.write(insert).unwrap();
        let attacker = Attacker::new(&place);
        attacker.run("UPDATE records SET class = 9 WHERE id % 2 = 0", &[]);
        let survey = store.survey().unwrap();
        let mut process = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", &name])
            .env(CHILD, place.url())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        // The first rounds let the child finish, however slow the machine is.
        if round < 2 {
            assert!(process.wait().unwrap().success());
        } else {
            let delay = u16::from_le_bytes(seal::random().unwrap()) % 120;
            sleep(Duration::from_millis(delay.into()));
            process.kill().unwrap();
            process.wait().unwrap();
        }
        // A server may still commit a killed client's transaction; the lock waits for that.
        let mut transaction = store.database.begin(Access::Write).unwrap();
        transaction.lock().unwrap();
        drop(transaction);
        let now = store.survey().unwrap();
        if now.findings.is_empty() {
            done += 1;
            assert_eq!(place.open().load().unwrap().1.len() as u64, RECORDS / 2);
            assert_eq!(store.quarantined().unwrap().len() as u64, RECORDS / 2);
        } else {
            killed += 1;
            assert_eq!(now, survey);
            assert_eq!(store.quarantined().unwrap(), []);
            let seen = now;
            store.salvage(&seen, Decision::Refuse, "parent", |_| Ok(())).unwrap();
        }
        place.open().load().unwrap();
        place.open().audit_verify(None).unwrap();
    }
    eprintln!("{test}: {done} complete, {killed} absent");
    assert!(done >= 2);
}
