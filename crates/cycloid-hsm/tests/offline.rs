//! The program without a daemon: salvage of a damaged keystore, and hints for common mistakes.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use cycloid_hsm::rpc::{Client, Request, Response};
use rusqlite::Connection;

const PIN: &str = "a pin for a test";

/// A keystore in its own directory.
struct Keystore {
    home: tempfile::TempDir,
}

impl Keystore {
    /// Returns a place without a keystore.
    fn none() -> Self {
        let home = tempfile::tempdir().unwrap();
        fs::write(home.path().join("pin"), PIN).unwrap();
        fs::write(home.path().join("wrong"), "another pin").unwrap();
        Self { home }
    }

    fn new() -> Self {
        let keystore = Self::none();
        let pin = keystore.path("pin");
        keystore.printed(&["init", "--officer-pin-file", &pin, "--pin-file", &pin]);
        keystore
    }

    /// Makes a keystore with two keys, in four records.
    fn with_keys() -> Self {
        let keystore = Self::new();
        let daemon = keystore.serve();
        keystore.printed(&["key", "generate", "p-256", "--label", "ca", "--id", "01"]);
        keystore.printed(&["key", "generate", "p-256", "--label", "web", "--id", "02"]);
        drop(daemon);
        keystore
    }

    fn path(&self, name: &str) -> String {
        self.home.path().join(name).to_str().unwrap().to_owned()
    }

    fn database(&self) -> PathBuf {
        self.home.path().join("keystore/keys.db")
    }

    fn command(&self, program: &str, arguments: &[&str]) -> Command {
        let mut command = Command::new(program);
        command
            .args(arguments)
            .env("CYCLOID_HSM_HOME", self.home.path().join("keystore"))
            .env("CYCLOID_HSM_SOCKET", self.home.path().join("socket"))
            .env("CYCLOID_HSM_PIN", PIN)
            .env_remove("CYCLOID_CPU")
            .env_remove("CYCLOID_PROFILE")
            .stdin(Stdio::null());
        command
    }

    fn hsm(&self, arguments: &[&str]) -> Command {
        self.command(env!("CARGO_BIN_EXE_cycloid-hsm"), arguments)
    }

    fn run(&self, arguments: &[&str]) -> Output {
        self.hsm(arguments).output().unwrap()
    }

    #[track_caller]
    fn printed(&self, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        assert!(output.status.success(), "{arguments:?}: {}", error(&output));
        String::from_utf8(output.stdout).unwrap()
    }

    /// Runs a command that fails, and returns its last two lines: the error and the hint.
    #[track_caller]
    fn refused(&self, arguments: &[&str]) -> (String, String) {
        last_lines(&self.run(arguments))
    }

    fn serve(&self) -> Daemon {
        let mut command = self.hsm(&["serve"]);
        let mut serve = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(serve.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        assert!(line.starts_with("listening at"));
        Daemon(serve)
    }

    /// Changes the database as somebody without keys.
    fn damage(&self, statement: &str) {
        let database = Connection::open(self.database()).unwrap();
        assert_ne!(database.execute(statement, []).unwrap(), 0);
    }

    /// Runs a command on a terminal, and types `text` until it ends: a prompt for a secret discards
    /// earlier input. Returns its output.
    fn typed(&self, arguments: &str, text: &str) -> String {
        let program = env!("CARGO_BIN_EXE_cycloid-hsm");
        let mut command =
            self.command("script", &["-qec", &format!("{program} {arguments}"), "/dev/null"]);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut input = child.stdin.take().unwrap();
        let begun = Instant::now();
        while child.try_wait().unwrap().is_none() {
            // The program may have ended meanwhile.
            let _ = input.write_all(text.as_bytes());
            sleep(Duration::from_millis(100));
            if begun.elapsed() > Duration::from_secs(120) {
                let _ = child.kill();
                panic!("{arguments} does not end");
            }
        }
        drop(input);
        let mut said = String::new();
        child.stdout.take().unwrap().read_to_string(&mut said).unwrap();
        said.replace('\r', "")
    }
}

struct Daemon(Child);

impl Drop for Daemon {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn error(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

#[track_caller]
fn last_lines(output: &Output) -> (String, String) {
    assert!(!output.status.success());
    let said = error(output);
    let mut lines = said.lines().rev();
    let (hint, error) = (lines.next().unwrap(), lines.next().unwrap());
    let hint = hint.strip_prefix("hint: ").unwrap_or_else(|| panic!("{said}"));
    (error.strip_prefix("error: ").unwrap_or_else(|| panic!("{said}")).into(), hint.into())
}

#[test]
fn a_damaged_record_is_set_aside_and_every_other_key_works() {
    let keystore = Keystore::with_keys();
    assert_eq!(keystore.printed(&["salvage", "check"]), "");
    let intact = keystore.path("intact.db");
    fs::copy(keystore.database(), &intact).unwrap();
    keystore.damage("UPDATE records SET secret = zeroblob(60) WHERE id = 2");

    let (error, hint) = keystore.refused(&["serve"]);
    assert_eq!(error, "the keystore was tampered with: record 2 was altered");
    assert!(hint.contains("cycloid-hsm salvage check"), "{hint}");

    let output = keystore.run(&["salvage", "check"]);
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(String::from_utf8(output.stdout.clone()).unwrap(), "damaged\trecord 2 \"ca\"\n");
    let said = self::error(&output);
    assert!(said.starts_with("the manifest proves that all other rows are complete"), "{said}");
    assert!(last_lines(&output).1.contains("cycloid-hsm salvage repair"));

    // Nobody is there to confirm; then a wrong PIN, which the audit log counts.
    assert!(keystore.refused(&["salvage", "repair"]).1.contains("--yes"));
    let wrong = keystore.path("wrong");
    let (error, _) = keystore.refused(&["salvage", "repair", "--yes", "--pin-file", &wrong]);
    assert_eq!(error, "the PIN is wrong");
    assert_eq!(keystore.run(&["salvage", "check"]).status.code(), Some(1));
    let pin = keystore.path("pin");
    let repaired = keystore.printed(&["salvage", "repair", "--yes", "--pin-file", &pin]);
    assert!(repaired.starts_with("record 2 set aside as number 1 of the quarantine"), "{repaired}");

    assert_eq!(keystore.printed(&["salvage", "check"]), "");
    keystore.printed(&["audit", "verify"]);
    let daemon = keystore.serve();
    let list = keystore.printed(&["key", "list"]);
    let lines = list.lines().map(|line| line.split('\t').next().unwrap()).collect::<Vec<_>>();
    assert_eq!(lines, ["1", "3", "4"]);
    let log = keystore.printed(&["audit", "show"]);
    assert!(log.contains("salvage: attempt 1 since the last right PIN"), "{log}");
    assert!(log.contains("security officer, user ") && log.contains("salvage: record 2"), "{log}");

    // The quarantine, which a daemon does not touch.
    let list = keystore.printed(&["quarantine", "list"]);
    assert!(list.starts_with("1\tdamaged\trecord 2\t"), "{list}");
    let restore = ["quarantine", "restore", "1"];
    assert!(keystore.refused(&restore).1.contains("stop every daemon"));
    drop(daemon);
    let (error, hint) = keystore.refused(&restore);
    assert_eq!(error, "record 2 is still damaged: its seal does not open");
    assert!(hint.contains("--from"), "{hint}");
    let from = ["--from", &format!("sqlite:{intact}")];
    let restored = keystore.printed(&[&restore[..], &from].concat());
    assert!(restored.starts_with("1\tauthentic\trecord 2 \"ca\""), "{restored}");
    assert_eq!(keystore.printed(&["quarantine", "list"]), "");
    let _daemon = keystore.serve();
    assert_eq!(keystore.printed(&["key", "list"]).lines().count(), 4);
}

#[test]
fn a_quorum_of_custodians_restores_a_backup() {
    let keystore = Keystore::with_keys();
    let split = keystore.printed(&["backup", "split", "--needed", "2", "--shares", "3"]);
    let value = |name: &str| {
        let line = split.lines().find_map(|line| line.strip_prefix(name));
        line.and_then(|rest| rest.strip_prefix('\t')).unwrap().to_owned()
    };
    let [a, b, backup] = ["a", "b", "keys.backup"].map(|name| keystore.path(name));
    fs::write(&a, value("share 1")).unwrap();
    fs::write(&b, value("share 3")).unwrap();
    let make = ["backup", "make", "--to", &value("key"), &backup];
    keystore.printed(&make);
    assert!(keystore.refused(&make).0.contains("keys.backup"));

    let (other, pin) = (keystore.path("other"), keystore.path("pin"));
    let pins = ["--officer-pin-file", &pin, "--pin-file", &pin];
    keystore.printed(&[&["init", "--home", &other][..], &pins].concat());
    let restore = ["backup", "restore", &backup, "--home", &other];
    fn with<'a>(restore: &[&'a str], shares: &[&'a str]) -> Vec<&'a str> {
        let shares = shares.iter().flat_map(|file| ["--share-file", file]);
        restore.iter().copied().chain(shares).collect()
    }
    for (shares, reason) in [
        (&[&*a][..], "only 1 of the 2 needed shares were given"),
        (&[&a, &a], "a share was given twice"),
    ] {
        let (error, hint) = keystore.refused(&with(&restore, shares));
        assert_eq!(error, reason);
        assert!(hint.contains("--share-file"), "{hint}");
    }
    // Its own key opens only backups that were made for it.
    assert!(keystore.refused(&restore).1.contains("or with shares"));
    assert_eq!(keystore.printed(&with(&restore, &[&b, &a])), "4 objects restored\n");
    assert!(keystore.refused(&with(&restore, &[&a, &b])).0.contains("into an empty keystore"));
    assert_eq!(keystore.printed(&["salvage", "check", "--home", &other]), "");
}

#[test]
fn a_running_daemon_prevents_a_repair() {
    let keystore = Keystore::with_keys();
    let daemon = keystore.serve();
    keystore.damage("UPDATE records SET class = 7 WHERE id = 2");
    assert_eq!(keystore.run(&["salvage", "check"]).status.code(), Some(1));
    let (error, hint) = keystore.refused(&["salvage", "repair", "--yes"]);
    assert_eq!(error, "a daemon or another command uses the keystore");
    assert!(hint.contains("stop every daemon"), "{hint}");
    drop(daemon);
    keystore.printed(&["salvage", "repair", "--yes"]);
    let list = keystore.printed(&["quarantine", "list"]);
    assert!(list.starts_with("1\tdamaged\trecord 2\t"), "{list}");
    assert!(keystore.refused(&["quarantine", "destroy", "1"]).1.contains("--yes"));
    keystore.printed(&["quarantine", "destroy", "1", "--yes"]);
    assert_eq!(keystore.printed(&["quarantine", "list"]), "");
    assert!(keystore.refused(&["quarantine", "destroy", "1", "--yes"]).1.contains("list"));
}

#[test]
fn on_a_terminal_a_repair_asks() {
    let keystore = Keystore::with_keys();
    keystore.damage("UPDATE records SET class = 7 WHERE id = 2");
    let said = keystore.typed("salvage repair", "\n");
    assert!(said.contains("accept the other rows as they are? [y/N]"), "{said}");
    assert!(said.contains("nothing was changed"), "{said}");
    let said = keystore.typed("salvage repair", "y\n");
    assert!(said.contains("1 row set aside"), "{said}");
}

/// After three wrong PINs a repair waits: its own delay is the only one it can serve.
#[test]
fn wrong_pins_delay_a_repair() {
    let keystore = Keystore::with_keys();
    keystore.damage("UPDATE records SET class = 7 WHERE id = 2");
    let wrong = keystore.path("wrong");
    for _ in 0..3 {
        keystore.refused(&["salvage", "repair", "--yes", "--pin-file", &wrong]);
    }
    let output = keystore.run(&["salvage", "repair", "--yes"]);
    assert!(output.status.success(), "{}", error(&output));
    assert!(error(&output).contains("too many wrong PINs"), "{}", error(&output));
}

#[test]
fn reverted_and_unproven_rows_need_an_explicit_decision() {
    let keystore = Keystore::with_keys();
    let earlier = Connection::open(keystore.database()).unwrap();
    let row = "SELECT generation, value FROM settings WHERE name = 'pin.user'";
    let (generation, value): (i64, Vec<u8>) =
        earlier.query_row(row, [], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
    drop(earlier);
    let daemon = keystore.serve();
    keystore.printed(&["key", "list"]);
    drop(daemon);
    let database = Connection::open(keystore.database()).unwrap();
    let revert = "UPDATE settings SET generation = ?1, value = ?2 WHERE name = 'pin.user'";
    database.execute(revert, (generation, value)).unwrap();
    drop(database);

    let output = keystore.run(&["salvage", "check"]);
    assert!(error(&output).contains("warning: nothing proves that the other rows"));
    assert!(last_lines(&output).1.contains("--reverted"));
    let (_, hint) = keystore.refused(&["salvage", "repair", "--yes"]);
    assert!(hint.contains("--reverted keep"), "{hint}");
    let (error, _) = keystore.refused(&["salvage", "repair", "--yes", "--reverted", "set-aside"]);
    assert!(error.contains("nothing tells which rows"), "{error}");
    keystore.printed(&["salvage", "repair", "--yes", "--reverted", "keep"]);
    let _daemon = keystore.serve();
    let log = keystore.printed(&["audit", "show"]);
    assert!(log.contains("salvage: done; reverted or surplus rows were accepted"), "{log}");
}

#[test]
fn a_lost_officers_pin_and_a_lost_label_are_replaced() {
    let keystore = Keystore::with_keys();
    keystore.damage("UPDATE settings SET value = zeroblob(9) WHERE name = 'pin.officer'");
    keystore.damage("UPDATE settings SET value = zeroblob(9) WHERE name = 'token.label'");
    keystore.damage("UPDATE keystore SET manifest = zeroblob(100)");
    let new = keystore.path("new");
    fs::write(&new, "123").unwrap();
    let repair = ["salvage", "repair", "--yes", "--new-officer-pin-file", &new];
    let (error, _) = keystore.refused(&repair);
    assert!(error.starts_with("the new security officer's PIN has 3 bytes"), "{error}");
    fs::write(&new, "a new pin").unwrap();
    keystore.printed(&[&repair[..], &["--label", "salvaged"]].concat());
    let _daemon = keystore.serve();
    let client = Client::connect(keystore.path("socket"), "test").unwrap();
    match client.call(&Request::Token {}).unwrap() {
        Response::Token { info } => assert_eq!(info.label, "salvaged"),
        other => panic!("{other:?}"),
    }
    let (error, _) = keystore.refused(&["audit", "show"]);
    assert_eq!(error, "the PIN is wrong");
    keystore.printed(&["audit", "show", "--pin-file", &new]);
    assert_eq!(keystore.printed(&["key", "list"]).lines().count(), 4);
}

/// With its manifest gone, a keystore cannot count attempts; the PIN is needed all the same.
#[test]
fn a_damaged_manifest_needs_the_pin() {
    let keystore = Keystore::with_keys();
    keystore.damage("UPDATE keystore SET manifest = zeroblob(100)");
    let (error, hint) = keystore.refused(&["serve"]);
    assert_eq!(error, "the keystore was tampered with: the manifest was altered");
    assert!(hint.contains("salvage check"), "{hint}");
    let wrong = keystore.path("wrong");
    let (error, _) = keystore.refused(&["salvage", "repair", "--yes", "--pin-file", &wrong]);
    assert_eq!(error, "the PIN is wrong");
    assert_eq!(keystore.printed(&["salvage", "repair", "--yes"]), "");
    let _daemon = keystore.serve();
    assert_eq!(keystore.printed(&["key", "list"]).lines().count(), 4);
}

#[test]
fn a_damaged_audit_log_stays_visible() {
    let keystore = Keystore::with_keys();
    keystore.damage("UPDATE audit_log SET who = 'nobody' WHERE sequence = 2");
    let (error, hint) = keystore.refused(&["audit", "verify"]);
    assert_eq!(error, "the keystore was tampered with: line 2 of the audit log was altered");
    assert!(hint.contains("salvage check"), "{hint}");
    keystore.printed(&["salvage", "repair", "--yes"]);
    let output = keystore.run(&["audit", "verify"]);
    assert!(output.status.success());
    let said = self::error(&output);
    assert!(said.starts_with("warning: line 2 of the audit log is altered; line "), "{said}");
}

#[test]
fn a_lost_users_pin_is_for_the_officer_to_set() {
    let keystore = Keystore::with_keys();
    keystore.damage("UPDATE settings SET value = zeroblob(9) WHERE name = 'pin.user'");
    keystore.damage("DELETE FROM records WHERE id = 3");
    let output = keystore.run(&["salvage", "check"]);
    let found = String::from_utf8(output.stdout).unwrap();
    assert!(
        found.starts_with("missing\trecord 3 \"web\"\ndamaged\tsetting \"pin.user\"\t"),
        "{found}"
    );
    keystore.printed(&["salvage", "repair", "--yes"]);
    let _daemon = keystore.serve();
    let (error, hint) = keystore.refused(&["key", "list"]);
    assert_eq!(error, "the user has no PIN yet");
    assert!(hint.contains("security officer"), "{hint}");
    keystore.printed(&["audit", "show"]);
}

#[test]
fn a_damaged_file_needs_a_backup() {
    let keystore = Keystore::with_keys();
    let mut bytes = fs::read(keystore.database()).unwrap();
    bytes[4096..].fill(0x55);
    fs::write(keystore.database(), &bytes).unwrap();
    for command in [&["serve"][..], &["salvage", "check"], &["salvage", "repair", "--yes"]] {
        let (error, hint) = keystore.refused(command);
        assert!(error.starts_with("the database's file is damaged: "), "{error}");
        assert!(hint.contains("newest backup with `cycloid-hsm backup restore`"), "{hint}");
    }
}

#[test]
fn a_missing_keystore_is_named() {
    let keystore = Keystore::none();
    for command in [&["serve"][..], &["audit", "verify"], &["backup", "key"], &["salvage", "check"]]
    {
        let (error, hint) = keystore.refused(command);
        assert!(error.starts_with("no keystore at ") && error.contains("keys.db"), "{error}");
        assert!(hint.contains("cycloid-hsm init") && hint.contains("--home"), "{hint}");
    }
}

#[test]
fn a_wrong_key_file_is_named_and_no_pin_is_blamed() {
    let keystore = Keystore::new();
    fs::write(keystore.home.path().join("keystore/key"), [7; 32]).unwrap();
    for command in [&["serve"][..], &["audit", "verify"], &["salvage", "check"]] {
        let (error, hint) = keystore.refused(command);
        assert!(error.contains("keystore/key does not open this keystore"), "{error}");
        assert!(hint.contains("key file that `cycloid-hsm init` made"), "{hint}");
        assert!(!error.contains("PIN") && !hint.contains("PIN"), "{error} {hint}");
    }
}

#[test]
fn a_wrong_passphrase_of_a_locked_daemon_blames_no_pin() {
    let keystore = Keystore::new();
    let mut serve = keystore.hsm(&["serve", "--locked"]);
    let mut serve = serve.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(serve.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
    let _daemon = Daemon(serve);
    let mut unlock = keystore.hsm(&["unlock"]);
    let output = unlock.env("CYCLOID_HSM_PASSPHRASE", "wrong").output().unwrap();
    let (error, hint) = last_lines(&output);
    assert_eq!(error, "the passphrase does not open this keystore");
    assert!(!hint.contains("PIN"), "{hint}");
    fs::write(keystore.path("other"), [7; 32]).unwrap();
    let (error, _) = keystore.refused(&["unlock", "--key-file", &keystore.path("other")]);
    assert!(error.ends_with("other does not open this keystore"), "{error}");

    // However slow the machine is, the delay outgrows an attempt.
    let guess = || {
        let output = keystore.hsm(&["unlock"]).env("CYCLOID_HSM_PASSPHRASE", "wrong").output();
        last_lines(&output.unwrap())
    };
    let delayed = (0..15).map(|_| guess()).find(|(error, _)| error.contains("too many"));
    let (error, hint) = delayed.expect("guesses are delayed");
    assert!(error.contains("too many wrong passphrases: wait "), "{error}");
    assert_eq!(hint, "wait, then try again");
    // The right key file opens the keystore nevertheless.
    keystore.printed(&["unlock", "--key-file", &keystore.path("keystore/key")]);
}

#[test]
fn without_a_terminal_the_places_for_a_secret_are_named() {
    let keystore = Keystore::none();
    let pin = keystore.path("pin");
    let pins = ["init", "--passphrase", "--officer-pin-file", &pin, "--pin-file", &pin];
    for (arguments, what, place) in [
        (&pins[..1], "security officer's PIN", "give it with --officer-pin-file FILE, or "),
        (&pins[..4], "user's PIN", "give it with --pin-file FILE, or "),
        (&pins[..], "passphrase", "put it into $CYCLOID_HSM_PASSPHRASE, or "),
    ] {
        let (error, hint) = keystore.refused(arguments);
        assert_eq!(error, format!("cannot ask for the {what} without a terminal"));
        assert_eq!(hint, format!("{place}run the command in a terminal"));
        assert!(!keystore.database().exists());
    }
    let mut init = keystore.hsm(&pins);
    let output = init.env("CYCLOID_HSM_PASSPHRASE", "a passphrase").output().unwrap();
    assert!(output.status.success(), "{}", error(&output));
    // The key that the passphrase protects is the only one: the daemon starts locked.
    let mut serve = keystore.hsm(&["serve"]);
    let mut serve = serve.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    BufReader::new(serve.stdout.as_mut().unwrap()).read_line(&mut String::new()).unwrap();
    let _daemon = Daemon(serve);
    let (locked, _) = keystore.refused(&["key", "list"]);
    assert!(locked.contains("locked"), "{locked}");
    let (error, hint) = keystore.refused(&["unlock"]);
    assert_eq!(error, "cannot ask for the passphrase without a terminal");
    assert!(hint.starts_with("put it into $CYCLOID_HSM_PASSPHRASE, or "), "{hint}");
    let output = keystore.hsm(&["unlock"]).env("CYCLOID_HSM_PASSPHRASE", "a passphrase").output();
    assert!(output.unwrap().status.success());
    keystore.printed(&["key", "list"]);
}

#[test]
fn a_missing_runtime_directory_is_named() {
    let keystore = Keystore::new();
    let gone = keystore.path("gone");
    let serve = |arrange: fn(&mut Command, &str)| {
        let mut command = keystore.hsm(&["serve"]);
        command.env_remove("CYCLOID_HSM_SOCKET");
        arrange(&mut command, &gone);
        last_lines(&command.output().unwrap())
    };
    let (error, hint) = serve(|command, gone| {
        command.env("XDG_RUNTIME_DIR", gone);
    });
    assert_eq!(error, format!("no directory {gone} for the daemon's socket"));
    assert!(hint.contains("--socket"), "{hint}");
    if !std::path::Path::new("/run/cycloid-hsm").exists() {
        let (error, hint) = serve(|command, _| {
            command.env_remove("XDG_RUNTIME_DIR");
        });
        assert_eq!(error, "no directory /run/cycloid-hsm for the daemon's socket");
        assert!(hint.contains("XDG_RUNTIME_DIR is not set"), "{hint}");
        let mut status = keystore.hsm(&["status"]);
        let output = status.env_remove("CYCLOID_HSM_SOCKET").env_remove("XDG_RUNTIME_DIR").output();
        let (error, hint) = last_lines(&output.unwrap());
        assert!(error.contains("/run/cycloid-hsm/socket"), "{error}");
        assert!(hint.contains("XDG_RUNTIME_DIR"), "{hint}");
    }
}

#[test]
fn a_pin_of_the_wrong_length_is_refused_at_its_prompt() {
    let keystore = Keystore::none();
    let said = keystore.typed("init", "123\n");
    assert!(said.contains("the security officer's PIN has 3 bytes"), "{said}");
    assert!(!said.contains("once more") && !said.contains("user's PIN"), "{said}");
    let short = keystore.path("short");
    fs::write(&short, "12").unwrap();
    let pin = keystore.path("pin");
    let (error, hint) =
        keystore.refused(&["init", "--officer-pin-file", &pin, "--pin-file", &short]);
    assert_eq!(error, "the user's PIN has 2 bytes: a PIN must have 4 to 255 bytes");
    assert!(hint.contains("nothing was created"), "{hint}");
    let long = "x".repeat(33);
    let (error, hint) = keystore.refused(&["init", "--label", &long]);
    assert!(error.contains("32 bytes") && hint.contains("--label"), "{error} {hint}");
    assert!(!keystore.database().exists());
}

#[test]
fn generation_and_audit_log_are_shown_for_people() {
    let keystore = Keystore::new();
    let _daemon = keystore.serve();
    let made = keystore.printed(&["key", "generate", "p-256", "--label", "ca", "--id", "01"]);
    assert_eq!(made, "1\tpublic\tp-256\t-\t01\tca\n2\tprivate\tp-256\tstays\t01\tca\n");
    let more = keystore.printed(&["key", "generate", "aes-256", "--label", "data", "--id", "02"]);
    assert_eq!(keystore.printed(&["key", "list"]), made + &more);

    let log = keystore.printed(&["audit", "show"]);
    let first = log.lines().next().unwrap().split('\t').collect::<Vec<_>>();
    let [number, time, who, what] = first.as_slice() else { panic!("{first:?}") };
    assert_eq!((*number, *who), ("1", "operator"));
    assert!(what.contains("was created"), "{what}");
    assert!(time.len() == 24 && time.starts_with("20") && time.ends_with('Z'), "{time}");
    let json = keystore.printed(&["audit", "show", "--json"]);
    let first: serde_json::Value = serde_json::from_str(json.lines().next().unwrap()).unwrap();
    assert_eq!((&first["sequence"], &first["who"]), (&1.into(), &"operator".into()));
    let seconds = first["time"].as_f64().unwrap();
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    assert!((now.as_secs_f64() - seconds).abs() < 3600.0, "{seconds}");
}
