//! A corpus of configurations, written from OpenVPN's manual and after the files of providers:
//! which of them OpenVPN and Cycloid start, and Cycloid's reason and next step where it does not.
//!
//! `expected.txt` has one line for each case: a sign for OpenVPN, a sign for Cycloid (`+` starts,
//! `-` refuses), and the case; below a refusal of Cycloid, its message and its hint.
//! `CYCLOID_WRITE_EXPECTED=1 cargo test -p cycloid-vpn --test configurations` writes the file anew
//! with the OpenVPN of this machine.
//!
//! Needs root, iproute2, OpenSSL and OpenVPN.

mod corpus;
mod materials;
mod start;

use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use corpus::{Case, cases, directory};
use cycloid_vpn::config::{self, Profile};
use start::Outcome;
use tempfile::TempDir;

/// The reasons for which a file that OpenVPN starts may be refused, by words of the message.
const REASONS: [&str; 36] = [
    // For safety.
    "NTLM is not supported",
    "TLS before 1.2",
    "without replay protection",
    "cipher suite of TLS 1.3",
    "unsupported key exchange group",
    "the cipher none is not supported",
    "no trusted authority",
    "script-security forbids",
    "packets would not be authenticated",
    "a static key needs a cipher",
    "replay-persist does not go with a static key",
    "plugins are not loaded",
    "authority fingerprints",
    "not limited to a network",
    "the peer's address is unknown",
    "others can compute it",
    // Not part of this program.
    "creates its device at the start",
    "removes its device at the end",
    "tls-export-cert is not supported",
    "management-client is not supported",
    "management-query-remote is not supported",
    "management tunnel is not supported",
    "does not choose proxies",
    "needs a server for many clients",
    "no management client can choose",
    // Mistakes that OpenVPN notices later, or never.
    "is not a key usage",
    "control character",
    "is not a number",
    "neither an address nor a host name",
    "does not imply its type",
    "invalid interface name",
    "is not the hardware address of a device",
    "is not a netmask",
    "is not a name server address",
    "not a valid server network",
    "neither a client nor a server",
];

/// An entry of `expected.txt`.
#[derive(Debug, PartialEq, Eq)]
struct Expected {
    openvpn: bool,
    /// The message and the hint of Cycloid's refusal.
    cycloid: Option<(String, String)>,
    case: String,
}

fn expected() -> Vec<Expected> {
    let text = fs::read_to_string(directory().join("expected.txt")).expect("expected.txt");
    let mut lines = text.lines().filter(|line| !line.starts_with('#')).peekable();
    let mut entries = Vec::new();
    while let Some(line) = lines.next() {
        let (signs, case) = line.split_at(4);
        let cycloid = signs.ends_with("- ").then(|| {
            let mut next = || lines.next().expect("a message and a hint").trim_start().to_owned();
            (next(), next())
        });
        entries.push(Expected { openvpn: signs.starts_with('+'), cycloid, case: case.to_owned() });
    }
    entries
}

/// Threads that start programs: these mostly wait for the kernel to make and remove networks.
const THREADS: usize = 6;

/// Runs a function for each case on some threads, each with its own directory of materials.
fn each<T: Send>(materials: &Path, run: impl Fn(&Path, &Case) -> T + Sync) -> Vec<(String, T)> {
    let cases = cases(materials);
    let next = AtomicUsize::new(0);
    let results = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                let own = scratch();
                let mut copy = Command::new("cp");
                copy.arg("-a").arg(materials.join(".")).arg(own.path());
                assert!(copy.status().unwrap().success());
                while let Some(case) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
                    fs::write(own.path().join("case.ovpn"), &case.text).unwrap();
                    let result = run(own.path(), case);
                    results.lock().unwrap().push((case.name.clone(), result));
                }
            });
        }
    });
    let mut results = results.into_inner().unwrap();
    let place = |name: &str| cases.iter().position(|case| case.name == name);
    results.sort_by_key(|(name, _)| place(name));
    results
}

fn scratch() -> TempDir {
    let directory = TempDir::new().unwrap();
    // A program without privileges reads it too.
    let readable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    fs::set_permissions(directory.path(), readable).unwrap();
    directory
}

fn materials() -> TempDir {
    let directory = scratch();
    materials::make(directory.path());
    directory
}

/// Returns the message and the hint of `cycloid-vpn check`, if it refuses the file.
fn check(directory: &Path) -> Option<(String, String)> {
    refusal(directory, &["check", "case.ovpn"])
}

fn refusal(directory: &Path, arguments: &[&str]) -> Option<(String, String)> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cycloid-vpn"));
    command.args(arguments).current_dir(directory).stdin(Stdio::null());
    let output = command.output().unwrap();
    if output.status.success() {
        return None;
    }
    let text = String::from_utf8(output.stderr).unwrap();
    let mut lines = text.lines().rev();
    let hint = lines.next().and_then(|line| line.strip_prefix("hint: ")).expect("a hint");
    let message = lines.next().and_then(|line| line.strip_prefix("error: ")).expect("an error");
    Some((message.to_owned(), hint.to_owned()))
}

fn openvpn(directory: &Path) -> Outcome {
    start::start(directory, &["openvpn", "--config", "case.ovpn", "--verb", "3"])
}

#[test]
fn the_answers_are_the_expected_ones() {
    let materials = materials();
    let write = std::env::var_os("CYCLOID_WRITE_EXPECTED").is_some();
    let answers = each(materials.path(), |directory, _| {
        let openvpn = write.then(|| openvpn(directory));
        (openvpn, check(directory))
    });
    if write {
        let version = Command::new("openvpn").arg("--version").output().unwrap();
        let version = String::from_utf8_lossy(&version.stdout);
        let version: Vec<&str> = version.split(' ').take(2).collect();
        let mut text = format!("# Made with {}. See main.rs.\n", version.join(" "));
        let sign = |starts: bool| if starts { '+' } else { '-' };
        for (case, (openvpn, cycloid)) in &answers {
            let outcome = openvpn.as_ref().expect("OpenVPN ran");
            if let Outcome::Refuses(why) = outcome {
                println!("OpenVPN: {case}: {}", why.replace('\n', "\n    "));
            }
            let openvpn = sign(matches!(outcome, Outcome::Starts));
            writeln!(text, "{openvpn} {} {case}", sign(cycloid.is_none())).unwrap();
            if let Some((message, hint)) = cycloid {
                writeln!(text, "      {message}\n      {hint}").unwrap();
            }
        }
        fs::write(directory().join("expected.txt"), text).unwrap();
    }
    let expected = expected();
    for (expected, (case, (_, cycloid))) in expected.iter().zip(&answers) {
        assert_eq!(expected.case, *case);
        assert_eq!(expected.cycloid, *cycloid, "{case}");
    }
    assert_eq!(expected.len(), answers.len());
}

/// Cycloid starts what OpenVPN starts, except for named reasons.
#[test]
fn what_openvpn_starts_is_started_or_refused_for_a_reason() {
    let mut wrong = String::new();
    for entry in expected().iter().filter(|entry| entry.openvpn) {
        if let Some((message, hint)) = &entry.cycloid
            && !REASONS.iter().any(|reason| message.contains(reason))
        {
            writeln!(wrong, "{}\n    {message}\n    {hint}", entry.case).unwrap();
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

/// A start refuses exactly the files that `check` refuses.
#[test]
fn check_and_start_give_the_same_answer() {
    let materials = materials();
    let program = env!("CARGO_BIN_EXE_cycloid-vpn");
    let answers = each(materials.path(), |directory, _| {
        let role = match config::read(&directory.join("case.ovpn")) {
            Ok((Profile::Server(_), _)) => "server",
            _ => "client",
        };
        (check(directory), start::start(directory, &[program, role, "case.ovpn"]))
    });
    let mut wrong = String::new();
    for (case, (check, start)) in answers {
        match (&check, &start) {
            (None, Outcome::Starts) => {}
            // Both name the directive; the words behind it may differ.
            (Some((message, _)), Outcome::Refuses(log)) if log.contains(subject(message)) => {}
            // What this machine has not.
            (None, Outcome::Refuses(log))
                if ["cannot listen on", "/dev/log", "at a terminal"]
                    .iter()
                    .any(|it| log.contains(it)) => {}
            _ => writeln!(wrong, "{case}\n    check: {check:?}\n    start: {start:?}").unwrap(),
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

/// Returns the line of a problem, or its first word.
fn subject(message: &str) -> &str {
    let subject = message.trim_start_matches("case.ovpn: ");
    subject.split([' ', ':']).next().unwrap_or_default()
}
