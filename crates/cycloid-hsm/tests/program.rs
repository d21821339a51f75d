//! The HSM's daemon and the commands that administer it.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

const PIN: &str = "a pin for a test";

/// A daemon with its own keystore.
struct Daemon {
    home: tempfile::TempDir,
    serve: Child,
    warnings: PathBuf,
}

impl Daemon {
    fn start() -> Self {
        Self::start_under(&[])
    }

    /// Starts the daemon through another program with arguments, such as `prlimit`.
    fn start_under(starter: &[&str]) -> Self {
        let home = tempfile::tempdir().unwrap();
        let pin = home.path().join("pin");
        fs::write(&pin, PIN).unwrap();
        let pin = pin.to_str().unwrap();
        let output = hsm(&home, &["init", "--officer-pin-file", pin, "--pin-file", pin]).output();
        assert!(output.unwrap().status.success());
        let program = [starter, &[env!("CARGO_BIN_EXE_cycloid-hsm")]].concat();
        let mut serve = Command::new(program[0]);
        let warnings = home.path().join("warnings");
        serve.args(&program[1..]).arg("serve");
        place(&mut serve, &home).stdout(Stdio::piped());
        serve.stderr(fs::File::create(&warnings).unwrap());
        let mut serve = serve.spawn().unwrap();
        let mut line = String::new();
        BufReader::new(serve.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        assert!(line.starts_with("listening at"), "{}", fs::read_to_string(&warnings).unwrap());
        Self { home, serve, warnings }
    }

    fn run(&self, arguments: &[&str]) -> Output {
        hsm(&self.home, arguments).output().unwrap()
    }

    /// Returns stdout of a successful command.
    fn printed(&self, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        assert!(output.status.success(), "{arguments:?}: {}", error(&output));
        String::from_utf8(output.stdout).unwrap()
    }

    fn generate(&self, kind: &str, label: &str, id: &str) {
        self.printed(&["key", "generate", kind, "--label", label, "--id", id]);
    }

    /// Returns the lines of `key list`, each without its number.
    fn list(&self) -> Vec<String> {
        self.lines().into_iter().map(|(_, rest)| rest).collect()
    }

    fn lines(&self) -> Vec<(String, String)> {
        let list = self.printed(&["key", "list"]);
        let split = |line: &str| line.split_once('\t').map(|(a, b)| (a.into(), b.into())).unwrap();
        list.lines().map(split).collect()
    }

    /// Runs a command on a terminal and types `text`. Returns whether it succeeded, and its output.
    fn typed(&self, arguments: &str, text: &str) -> (bool, String) {
        let mut command = Command::new("script");
        let program = env!("CARGO_BIN_EXE_cycloid-hsm");
        command.args(["-qec", &format!("{program} {arguments}"), "/dev/null"]);
        place(&mut command, &self.home).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut input = child.stdin.take().unwrap();
        input.write_all(text.as_bytes()).unwrap();
        // The input stays open until the end: closing it would end the terminal, not the answer.
        let status = child.wait().unwrap();
        drop(input);
        let mut said = String::new();
        Read::read_to_string(&mut child.stdout.take().unwrap(), &mut said).unwrap();
        (status.success(), said.replace('\r', ""))
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        let _ = self.serve.kill();
        let _ = self.serve.wait();
    }
}

fn place<'a>(command: &'a mut Command, home: &tempfile::TempDir) -> &'a mut Command {
    command
        .env("CYCLOID_HSM_HOME", home.path().join("keystore"))
        .env("CYCLOID_HSM_SOCKET", home.path().join("socket"))
        .env("CYCLOID_HSM_PIN", PIN)
        .env_remove("CYCLOID_HSM_DATABASE")
        .env_remove("CYCLOID_CPU")
        .env_remove("CYCLOID_PROFILE")
        .stdin(Stdio::null())
}

fn hsm(home: &tempfile::TempDir, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cycloid-hsm"));
    command.args(arguments);
    place(&mut command, home);
    command
}

fn error(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

#[test]
fn the_environment_names_the_database() {
    let home = tempfile::tempdir().unwrap();
    let pin = home.path().join("pin");
    fs::write(&pin, PIN).unwrap();
    let pin = pin.to_str().unwrap();
    let named = home.path().join("named.db");
    let arguments = ["init", "--officer-pin-file", pin, "--pin-file", pin];
    let with =
        |url: &str| hsm(&home, &arguments).env("CYCLOID_HSM_DATABASE", url).output().unwrap();
    let refused = with("named.db");
    assert_eq!(refused.status.code(), Some(1), "{}", error(&refused));
    assert!(!named.exists());
    let made = with(&format!("sqlite:{}", named.display()));
    assert!(made.status.success(), "{}", error(&made));
    assert!(named.exists() && !home.path().join("keystore/keys.db").exists());
}

#[test]
fn a_pair_is_destroyed_and_nothing_else() {
    let daemon = Daemon::start();
    daemon.generate("p-256", "ca", "01");
    daemon.generate("p-256", "web", "02");
    let output = daemon.run(&["key", "delete", "ca", "--yes"]);
    assert!(output.status.success(), "{}", error(&output));
    let gone = String::from_utf8(output.stdout.clone()).unwrap();
    assert_eq!(gone, "1\tpublic\tp-256\t-\t01\tca\n2\tprivate\tp-256\tstays\t01\tca\n");
    assert_eq!(error(&output), "destroyed 2 objects\n");
    assert_eq!(daemon.list(), ["public\tp-256\t-\t02\tweb", "private\tp-256\tstays\t02\tweb"]);
    let output = daemon.run(&["key", "delete", "ca", "--yes"]);
    assert!(error(&output).contains("no object is labelled \"ca\""), "{}", error(&output));
}

#[test]
fn an_ambiguous_label_destroys_nothing() {
    let daemon = Daemon::start();
    daemon.generate("p-256", "ca", "01");
    daemon.generate("ed25519", "ca", "02");
    daemon.generate("aes-256", "ca", "03");
    let before = daemon.lines();
    let refused = |arguments: &[&str], hint: &str| {
        let output = daemon.run(&[&["key", "delete", "ca"][..], arguments].concat());
        assert_eq!(output.status.code(), Some(1));
        assert!(output.stdout.is_empty());
        let said = error(&output);
        assert!(said.contains("hint: ") && said.contains(hint), "{said}");
        assert_eq!(daemon.lines(), before);
        said
    };
    let said = refused(&["--yes"], "--id");
    assert!(said.starts_with("error: 3 keys are labelled \"ca\":\n"), "{said}");
    for (number, rest) in &before {
        assert!(said.contains(&format!("{number}\t{rest}\n")), "{said}");
    }
    refused(&["--yes", "--id", "04"], "key list");
    refused(&["--yes", "--object", "99"], "key list");
    // Without a terminal nobody can confirm.
    refused(&["--id", "01"], "--yes");

    daemon.printed(&["key", "delete", "ca", "--id", "02", "--yes"]);
    daemon.printed(&["key", "delete", "ca", "--id", "03", "--yes"]);
    assert_eq!(daemon.lines(), before[..2]);
    // If two pairs share an identifier, only the number selects, and it may name half of a pair.
    daemon.generate("p-256", "ca", "01");
    let now = daemon.lines();
    let output = daemon.run(&["key", "delete", "ca", "--id", "01", "--yes"]);
    assert!(error(&output).contains("--object"), "{}", error(&output));
    assert_eq!(daemon.lines(), now);
    let gone = daemon.printed(&["key", "delete", "ca", "--object", &now[0].0, "--yes"]);
    assert_eq!(gone, format!("{}\t{}\n", now[0].0, now[0].1));
    assert_eq!(daemon.lines(), now[1..]);
}

#[test]
fn on_a_terminal_deletion_asks_for_confirmation() {
    let daemon = Daemon::start();
    daemon.generate("p-256", "ca", "01");
    let (success, said) = daemon.typed("key delete ca", "\n");
    assert!(!success && said.contains("destroy 2 objects?"), "{said}");
    assert!(said.contains("private\tp-256") && said.contains("nothing was destroyed"), "{said}");
    assert_eq!(daemon.list().len(), 2);
    let (success, said) = daemon.typed("key delete ca", "y\n");
    assert!(success && said.contains("destroyed 2 objects"), "{said}");
    assert_eq!(daemon.list(), [""; 0]);
}

/// `multiply` is for benchmarks, so it refuses a keystore that somebody uses.
#[test]
fn only_a_keystore_with_one_private_key_is_multiplied() {
    let daemon = Daemon::start();
    daemon.generate("p-256", "ca", "01");
    daemon.printed(&["multiply", "3"]);
    let output = daemon.run(&["multiply", "3"]);
    assert!(error(&output).contains("must have one private key"), "{}", error(&output));
}

/// Returns a field of `/proc/PID/status`, in KiB.
fn kibibytes(daemon: &Daemon, name: &str) -> u64 {
    let status = fs::read_to_string(format!("/proc/{}/status", daemon.serve.id())).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix(name)).unwrap();
    line.trim_start_matches(':').trim().strip_suffix(" kB").unwrap().parse().unwrap()
}

/// Returns whether this process may lock memory regardless of its limit: CAP_IPC_LOCK.
fn is_exempt() -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let capable = status.lines().find_map(|line| line.strip_prefix("CapEff:")).unwrap();
    u64::from_str_radix(capable.trim(), 16).unwrap() & 1 << 14 != 0
}

/// For root, or with the limit lifted, all mapped memory of a daemon is locked, including what it
/// maps once it has keys.
#[test]
fn a_daemon_locks_all_of_its_memory() {
    let lifted = ["prlimit", "--memlock=unlimited:unlimited"];
    let may_lift = Command::new(lifted[0]).args([lifted[1], "true"]).output().unwrap();
    let daemon = match may_lift.status.success() {
        true => Daemon::start_under(&lifted),
        false if is_exempt() => Daemon::start(),
        false => {
            eprintln!("not run: this user may not lock unlimited memory");
            return;
        }
    };
    daemon.generate("rsa-2048", "ca", "01");
    assert!(daemon.printed(&["status"]).contains("memory        locked\n"));
    assert!(daemon.printed(&["metrics"]).contains("\ncycloid_hsm_memory_locked 1\n"));
    let (locked, size) = (kibibytes(&daemon, "VmLck"), kibibytes(&daemon, "VmSize"));
    // A few pages belong to the kernel.
    assert!(locked + 64 >= size && size > 1000, "{locked} of {size} KiB");
    assert_eq!(kibibytes(&daemon, "VmSwap"), 0);
    assert_eq!(fs::read_to_string(&daemon.warnings).unwrap(), "");
}

#[test]
fn a_daemon_that_cannot_lock_its_memory_warns_and_serves() {
    let limited = ["prlimit", "--memlock=1048576:1048576"];
    // Root is exempt from the limit by a capability.
    let exempt = Command::new("setpriv").args(["--bounding-set", "-ipc_lock", "true"]).output();
    let drop = ["setpriv", "--bounding-set", "-ipc_lock"];
    let starter = match exempt.unwrap().status.success() {
        true => [&limited[..], &drop].concat(),
        false => limited.to_vec(),
    };
    let daemon = Daemon::start_under(&starter);
    daemon.generate("p-256", "ca", "01");
    let why =
        "not locked, keys may be swapped out: RLIMIT_MEMLOCK is 1024 KiB and must be unlimited";
    let status = daemon.printed(&["status"]);
    assert!(status.contains(&format!("memory        {why}\n")), "{status}");
    assert!(daemon.printed(&["metrics"]).contains("\ncycloid_hsm_memory_locked 0\n"));
    let warnings = fs::read_to_string(&daemon.warnings).unwrap();
    assert!(warnings.starts_with(&format!("warning: memory is {why}\nhint: ")), "{warnings}");
    // The keyring's own pages are locked, whatever the limit.
    assert!((4..1024).contains(&kibibytes(&daemon, "VmLck")));
}

/// Returns the soft and the hard limit on open files of the daemon.
fn file_limits(daemon: &Daemon) -> Vec<String> {
    let limits = fs::read_to_string(format!("/proc/{}/limits", daemon.serve.id())).unwrap();
    let line = limits.lines().find_map(|line| line.strip_prefix("Max open files")).unwrap();
    line.split_whitespace().take(2).map(str::to_owned).collect()
}

#[test]
fn a_daemon_raises_its_limit_on_open_files() {
    let daemon = Daemon::start_under(&["prlimit", "--nofile=200:900"]);
    assert_eq!(file_limits(&daemon), ["900", "900"]);
}

/// Otherwise one user's connections would take all files, and no other one could be accepted.
#[test]
fn connections_leave_room_for_other_files() {
    let daemon = Daemon::start_under(&["prlimit", "--nofile=200:200"]);
    let socket = daemon.home.path().join("socket");
    let connect = || {
        let stream = UnixStream::connect(&socket).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(300))).unwrap();
        stream
    };
    let streams: Vec<UnixStream> = (0..300).map(|_| connect()).collect();
    // All are accepted, and those beyond the room refused, because nobody has more.
    let refused = (&streams[299]).read(&mut [0]);
    assert!(refused.is_ok_and(|count| count == 0));
    let files = fs::read_dir(format!("/proc/{}/fd", daemon.serve.id())).unwrap().count();
    assert!((100..190).contains(&files), "{files}");
}

#[test]
fn the_officer_allows_weak_operations() {
    let daemon = Daemon::start();
    let list = |states: [&str; 3]| {
        let [short, sha1, raw] = states;
        let expected = format!(
            "short-rsa-keys\t{short}\tRSA keys of fewer than 2048 bits\n\
             sha1-signatures\t{sha1}\tsignatures with SHA-1\n\
             raw-rsa\t{raw}\tRSA operations without padding\n"
        );
        assert_eq!(daemon.printed(&["legacy", "list"]), expected);
    };
    let (no, yes) = ("forbidden", "allowed");
    list([no; 3]);
    let generate = ["key", "generate", "rsa-1024", "--label", "old"];
    let refused = daemon.run(&generate);
    assert_eq!(refused.status.code(), Some(1));
    let said = error(&refused);
    assert!(said.contains("`cycloid-hsm legacy allow short-rsa-keys`"), "{said}");
    assert!(said.contains("hint: `cycloid-hsm legacy list` shows what is allowed"), "{said}");
    daemon.printed(&["legacy", "allow", "short-rsa-keys"]);
    daemon.printed(&["legacy", "allow", "sha1-signatures"]);
    list([yes, yes, no]);
    let status = daemon.printed(&["status"]);
    assert!(status.contains("legacy        short-rsa-keys, sha1-signatures\n"), "{status}");
    daemon.printed(&generate);
    daemon.printed(&["legacy", "forbid", "sha1-signatures"]);
    list([yes, no, no]);
    let unknown = daemon.run(&["legacy", "allow", "everything"]);
    assert_eq!(unknown.status.code(), Some(2));
}

/// Asserts that a command fails with a message and a hint.
#[track_caller]
fn assert_refused(output: &Output, message: &str, hint: &str) {
    let said = error(output);
    let lines: Vec<_> = said.lines().collect();
    assert!(!output.status.success() && output.stdout.is_empty(), "{said}");
    assert!(matches!(lines[..], [_, _]), "{said}");
    assert!(lines[0].starts_with("error: ") && lines[0].contains(message), "{said}");
    assert!(lines[1].starts_with("hint: ") && lines[1].contains(hint), "{said}");
}

#[test]
fn init_finds_an_existing_keystore_before_it_asks() {
    let daemon = Daemon::start();
    // Without a terminal it would fail at the first question.
    assert_refused(&daemon.run(&["init"]), "a keystore exists already at ", "--home");
    fs::remove_file(daemon.home.path().join("keystore/keys.db")).unwrap();
    assert_refused(&daemon.run(&["init"]), "a key file exists already at ", "--home");
}

/// The system limits the size of files, which stands for a full disk: without a byte for the key
/// file, and at every stage of the database.
#[test]
fn init_on_a_full_disk_leaves_nothing() {
    let home = tempfile::tempdir().unwrap();
    let pin = home.path().join("pin");
    fs::write(&pin, PIN).unwrap();
    let new = home.path().join("new");
    let fits = (0..=256).step_by(8).find(|kib| {
        // In POSIX, the unit is 512 bytes. Without the trap, the signal would end the program.
        let script = format!(
            "trap '' XFSZ; ulimit -f {blocks}
             exec {program} init --home {new} --officer-pin-file {pin} --pin-file {pin}",
            blocks = kib * 2,
            new = new.display(),
            program = env!("CARGO_BIN_EXE_cycloid-hsm"),
            pin = pin.display(),
        );
        let output = Command::new("sh").args(["-c", &script]).output().unwrap();
        if output.status.success() {
            return true;
        }
        assert_refused(&output, "", "nothing was created");
        assert!(!new.exists(), "{kib}");
        false
    });
    assert!(fits.is_some_and(|kib| kib > 32), "{fits:?}");
}

#[test]
fn places_that_cannot_be_used_are_named() {
    let daemon = Daemon::start();
    let file = daemon.home.path().join("file");
    fs::write(&file, "precious").unwrap();
    let file = file.to_str().unwrap();
    let serve = |socket: &str| daemon.run(&["serve", "--socket", socket]);
    assert_refused(&serve(file), "exists and is not a socket", "--socket");
    assert_eq!(fs::read_to_string(file).unwrap(), "precious");
    assert_refused(&serve(&"x".repeat(108)), "108 bytes, and at most 107", "shorter");
    assert_refused(&serve("tls://localhost:1"), "is a file", "--listen-tls");
    assert_refused(&daemon.run(&["serve"]), "cannot listen at ", "another daemon is running");
    assert_refused(&daemon.run(&["serve", "--workers", "100000"]), "100000", "--help");
    let home = <std::ffi::OsStr as std::os::unix::ffi::OsStrExt>::from_bytes(b"/nowhere/\xff");
    let mut init = hsm(&daemon.home, &["init"]);
    assert_refused(&init.arg("--home").arg(home).output().unwrap(), "is not UTF-8", "--home");
    assert_refused(&daemon.run(&["status", "--socket", "tls://h:1"]), "_CERTIFICATE", "PEM");
}

#[test]
fn a_locked_keystore_says_how_to_open_it() {
    let daemon = Daemon::start();
    daemon.printed(&["lock"]);
    let status = daemon.printed(&["status"]);
    for line in ["keystore      locked", "uses of keys  unknown", "objects       unknown"] {
        assert!(status.lines().any(|it| it == line), "{status}");
    }
    assert_refused(&daemon.run(&["key", "list"]), "the keystore is locked", "--key-file");
    let mut unlock = hsm(&daemon.home, &["unlock"]);
    let wrong = unlock.env("CYCLOID_HSM_PASSPHRASE", "guessed").output().unwrap();
    assert_refused(&wrong, "does not open this keystore", "--key-file");
    let key = daemon.home.path().join("keystore/key");
    daemon.printed(&["unlock", "--key-file", key.to_str().unwrap()]);
    let again = daemon.run(&["unlock"]);
    assert!(again.status.success());
    assert_eq!(error(&again), "the keystore is open already\n");
    assert!(daemon.printed(&["audit", "show"]).contains("\tlogin as officer: attempt 1 "));
}

/// Returns what OpenSSL prints.
fn openssl(arguments: &str) -> String {
    let output = Command::new("openssl").args(arguments.split(' ')).output().unwrap();
    assert!(output.status.success(), "{arguments}: {}", error(&output));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn a_pem_file_is_imported_or_refused_with_the_reason() {
    let daemon = Daemon::start();
    let path = daemon.home.path().join("key.pem");
    let key = openssl("genpkey -algorithm ED25519");
    let import = |text: &str| {
        fs::write(&path, text).unwrap();
        daemon.run(&["key", "import", path.to_str().unwrap(), "--label", "ca", "--id", "01"])
    };
    let output = import(&format!("Bag Attributes\n{key}trailing\n"));
    let printed = String::from_utf8(output.stdout).unwrap();
    assert_eq!(printed, "1\tpublic\ted25519\t-\t01\tca\n2\tprivate\ted25519\tstays\t01\tca\n");
    let cut = &key[..key.len() / 2];
    let renamed = key.replace("PRIVATE", "DSA PRIVATE");
    let old =
        "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n-----END RSA PRIVATE KEY-----";
    for (text, reason) in [
        ("", "not a PEM file"),
        (cut, "cut off"),
        (&key.replace("PRIVATE", "PUBLIC"), "no private key"),
        (&key.replace("PRIVATE", "ENCRYPTED PRIVATE"), "cannot ask for the passphrase"),
        (&key.replace("PRIVATE", "EC PRIVATE"), "the EC private key is malformed"),
        (&key.replace("PRIVATE", "RSA PRIVATE"), "is not a key of this kind"),
        (old, "a format of old programs"),
        (&renamed, "openssl pkcs8 -topk8"),
        (&format!("{key}{key}"), "several private keys"),
        (&"x".repeat(70_000), "it has 70000 bytes"),
    ] {
        assert_refused(&import(text), reason, "");
    }
    assert_eq!(daemon.list().len(), 2);
    let output = daemon.run(&["key", "export", "nothing"]);
    assert_refused(&output, "no public key is labelled \"nothing\"", "key list");
}

#[test]
fn keys_are_imported_in_every_format_that_openssl_writes() {
    let daemon = Daemon::start();
    let place = |name: &str, text: &str| {
        let path = daemon.home.path().join(name);
        fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let passphrase = place("passphrase", "long and secret\n");
    let encrypted = |options: &str, key: &str| {
        let mut arguments: Vec<_> = "pkcs8 -topk8 -in".split(' ').collect();
        arguments.extend([key, "-passout", "pass:long and secret"]);
        arguments.extend(options.split(' ').filter(|option| !option.is_empty()));
        let output = Command::new("openssl").args(arguments).output().unwrap();
        assert!(output.status.success(), "{}", error(&output));
        String::from_utf8(output.stdout).unwrap()
    };
    let rsa = openssl("genrsa -traditional 2048");
    let p384 = openssl("ecparam -name secp384r1 -genkey");
    let k256 = openssl("ecparam -name secp256k1 -genkey -noout");
    let rsa_file = place("rsa.pem", &rsa);
    let ec_file = place("ec.pem", &p384);
    let mut files = vec![("rsa-2048", rsa), ("p-384", p384), ("secp256k1", k256)];
    for options in ["", "-v2 aes-128-cbc -v2prf hmacWithSHA1", "-v2 des3", "-scrypt"] {
        files.push(("rsa-2048", encrypted(options, &rsa_file)));
        files.push(("p-384", encrypted(options, &ec_file)));
    }
    for (at, (kind, text)) in files.iter().enumerate() {
        let (label, path) = (format!("key{at}"), place("key.pem", text));
        let mut arguments = vec!["key", "import", &path, "--label", &label, "--id", "01"];
        if text.contains("ENCRYPTED") {
            assert_refused(&daemon.run(&arguments), "cannot ask", "--passphrase-file");
            arguments.extend(["--passphrase-file", &passphrase]);
        }
        let line = format!("\tprivate\t{kind}\tstays\t01\t{label}\n");
        assert!(daemon.printed(&arguments).ends_with(&line), "{line}");
        let public = openssl(&format!("pkey -in {path} -passin file:{passphrase} -pubout"));
        assert_eq!(daemon.printed(&["key", "export", &label]), public, "{text}");
    }
    let count = daemon.list().len();
    let path = place("key.pem", &encrypted("", &ec_file));
    let wrong = place("wrong", "long and wrong");
    let mut arguments = vec!["key", "import", &path, "--label", "x", "--passphrase-file", &wrong];
    assert_refused(&daemon.run(&arguments), "does not decrypt the key", "try again");
    arguments[2] = &ec_file;
    let output = daemon.run(&arguments);
    assert!(error(&output).contains("needs no passphrase"), "{}", error(&output));
    assert_eq!(daemon.list().len(), count);
}

#[test]
fn a_missing_row_is_noticed_before_the_pin_is_judged() {
    let mut daemon = Daemon::start();
    daemon.serve.kill().unwrap();
    daemon.serve.wait().unwrap();
    let head = daemon.printed(&["audit", "verify"]);
    for command in [&["restore", "7"][..], &["destroy", "7", "--yes"]] {
        let output = daemon.run(&[&["quarantine"], command].concat());
        assert_refused(&output, "the quarantine has no number 7", "quarantine list");
    }
    assert_eq!(daemon.printed(&["audit", "verify"]), head);
}

#[test]
fn an_empty_variable_names_no_socket() {
    let home = tempfile::tempdir().unwrap();
    let mut status = hsm(&home, &["status"]);
    status.env("CYCLOID_HSM_SOCKET", "").env("XDG_RUNTIME_DIR", home.path());
    let place = home.path().join("cycloid-hsm.sock");
    let message = format!("no daemon at {}: ", place.display());
    assert_refused(&status.output().unwrap(), &message, "cycloid-hsm serve");
}
