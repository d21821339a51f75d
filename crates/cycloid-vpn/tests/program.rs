//! Tests of the `cycloid-vpn` command line, and of its keys with OpenVPN.

use std::path::Path;
use std::process::{Command, Output, Stdio};

fn run(directory: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cycloid-vpn"));
    command.args(arguments).current_dir(directory).stdin(Stdio::null());
    command.output().unwrap()
}

fn stdout(directory: &Path, arguments: &[&str]) -> String {
    let output = run(directory, arguments);
    let complaint = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{arguments:?}: {complaint}");
    String::from_utf8(output.stdout).unwrap()
}

/// A directory with nothing in it, until it is dropped.
fn scratch() -> tempfile::TempDir {
    tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap()
}

#[test]
fn from_nothing_to_profiles() {
    let scratch = scratch();
    let directory = scratch.path();
    stdout(directory, &["pki", "init"]);
    let server =
        ["pki", "server", "gate", "--host", "vpn.example", "--redirect", "--dns", "9.9.9.9"];
    assert_eq!(stdout(directory, &server), "pki/gate.conf\n");
    assert_eq!(stdout(directory, &["pki", "client", "alice"]), "pki/alice.ovpn\n");
    assert!(stdout(directory, &["check", "pki/gate.conf"]).contains("A server for at most 1024"));
    let text = stdout(directory, &["check", "pki/alice.ovpn"]);
    assert!(text.contains("It connects to vpn.example, udp port 1194."), "{text}");
    let json = stdout(directory, &["check", "--json", "pki/alice.ovpn"]);
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["warnings"], serde_json::json!([]));
    stdout(directory, &["pki", "revoke", "alice"]);
    let list = stdout(directory, &["pki", "list"]);
    let alice = list.lines().find(|line| line.contains("\tclient\talice\t")).unwrap();
    assert!(!alice.ends_with('-'));
}

#[test]
fn keys_for_the_control_channel() {
    let scratch = scratch();
    let directory = scratch.path();
    let text = stdout(directory, &["genkey", "tls-crypt"]);
    assert!(text.contains("-----BEGIN OpenVPN Static key V1-----"));
    assert_ne!(text, stdout(directory, &["genkey", "tls-crypt"]));
    stdout(directory, &["genkey", "tls-crypt-v2-server", "--output", "server.key"]);
    let client = ["genkey", "tls-crypt-v2-client", "--server-key", "server.key"];
    let output = run(directory, &[&client[..], &["--output", "client.key"]].concat());
    assert!(output.status.success());
    // OpenVPN opens the client's key with the server's to make another from it.
    let made = Command::new("openvpn")
        .current_dir(directory)
        .args(["--tls-crypt-v2", "server.key", "--genkey", "tls-crypt-v2-client", "other.key"])
        .output()
        .expect("openvpn is installed");
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stdout));
}

#[test]
fn mistakes_are_answered_in_two_lines() {
    let scratch = scratch();
    let directory = scratch.path();
    std::fs::write(directory.join("x.ovpn"), "client\nremot h\n").unwrap();
    for (arguments, message, hint) in [
        (&["check", "x.ovpn"][..], "x.ovpn:2: unknown directive: `remot h`", "remote"),
        (&["check", "absent"], "absent: cannot read the file", "name an existing file"),
        (&["pki", "client", "a"], "cannot read pki/ca.key", "pki init"),
        (&["genkey", "tls-crypt-v2-client"], "required", "--help"),
        (
            &["genkey", "tls-crypt", "--output", "x.ovpn"],
            "cannot write x.ovpn",
            "never overwritten",
        ),
        (
            &["genkey", "tls-auth", "--server-key", "x"],
            "tls-crypt-v2-client only",
            "remove the option",
        ),
        (
            &["genkey", "tls-auth", "--metadata", "x"],
            "tls-crypt-v2-client only",
            "remove the option",
        ),
    ] {
        let output = run(directory, arguments);
        assert!(!output.status.success() && output.stdout.is_empty(), "{arguments:?}");
        let text = String::from_utf8(output.stderr).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        let [error, advice] = lines[..] else { panic!("not two lines: {text}") };
        assert!(error.starts_with("error: ") && error.contains(message), "{text}");
        assert!(advice.starts_with("hint: ") && advice.contains(hint), "{text}");
    }
}

/// `check` accepts what a start accepts, and otherwise both give the same reason.
#[test]
fn check_and_start_agree() {
    let scratch = scratch();
    let directory = scratch.path();
    stdout(directory, &["pki", "init"]);
    stdout(directory, &["pki", "server", "gate", "--host", "vpn.example"]);
    stdout(directory, &["pki", "client", "alice"]);
    let alice = std::fs::read_to_string(directory.join("pki/alice.ovpn")).unwrap();
    let profile = |line: &str| {
        std::fs::write(directory.join("x.ovpn"), format!("{alice}\n{line}\n")).unwrap();
    };
    for line in [
        "tls-cipher TLS-ECDHE-RSA-WITH-AES-256-GCM-SHA384",
        "tls-cipher DEFAULT:@SECLEVEL=0",
        "tls-cipher ECDHE-RSA-AES256-GCM-SHA384:!aNULL",
        "tls-ciphersuites TLS-AES-256-GCM-SHA384",
        "tls-groups X25519MLKEM768:X25519:prime256v1",
        "comp-lzo",
        "compress lz4",
        "ns-cert-type server",
        "cert [inline]",
    ] {
        profile(line);
        stdout(directory, &["check", "x.ovpn"]);
    }
    std::fs::write(directory.join("list.pem"), "no list").unwrap();
    for (line, reason) in [
        ("tls-cipher DEFAULT:@SECLEVEL=5", "security level 5"),
        ("tls-ciphersuites TLS_X", "unknown cipher suite of TLS 1.3 'TLS_X'"),
        ("tls-groups X25519:X9999", "unsupported key exchange group 'X9999'"),
        ("remote-cert-eku nonsense", "not a known purpose"),
        ("crl-verify list.pem", "no revocation list"),
        ("chroot /", "root"),
        ("user no-such-user", "no-such-user"),
        ("management 127.0.0.1 7505\nmanagement-query-remote", "management-query-remote"),
        ("tls-export-cert x", "tls-export-cert"),
        ("auth-user-pass absent", "auth-user-pass"),
    ] {
        profile(line);
        let [check, start] = ["check", "client"].map(|command| {
            let output = run(directory, &[command, "x.ovpn"]);
            assert!(!output.status.success(), "{command}: {line}");
            String::from_utf8(output.stderr).unwrap()
        });
        for (command, text) in [("check", check), ("start", start)] {
            let error = text.lines().find(|line| line.starts_with("error: "));
            assert!(error.is_some_and(|it| it.contains(reason)), "{command}: {line}: {text}");
        }
    }
}

#[test]
fn check_says_what_a_client_without_root_can_do() {
    let scratch = scratch();
    let directory = scratch.path();
    for arguments in [
        &["pki", "init"][..],
        &["pki", "server", "gate", "--host", "vpn.example"],
        &["pki", "client", "alice"],
    ] {
        stdout(directory, arguments);
    }
    let alice = std::fs::read_to_string(directory.join("pki/alice.ovpn")).unwrap();
    let check = |lines: &str| {
        // Keeps the profile's mode.
        std::fs::write(directory.join("pki/alice.ovpn"), format!("{alice}\n{lines}\n")).unwrap();
        let json = stdout(directory, &["check", "--json", "pki/alice.ovpn"]);
        let json: serde_json::Value = serde_json::from_str(&json).unwrap();
        (json["lines"].to_string(), json["warnings"].to_string())
    };
    let (text, warnings) = check("user nobody");
    assert!(text.contains("a helper process stays root: it sets name servers.\""), "{text}");
    assert_eq!(warnings, "[]");
    let scripts = "script-security 2\nup /bin/true\nipchange /bin/true";
    let (text, warnings) = check(&format!("user nobody\nroute-nopull\n{scripts}"));
    assert!(text.contains("it runs these scripts the first time: up, ipchange.\""), "{text}");
    assert_eq!(warnings, "[]");
    let (_, warnings) = check(&format!("user nobody\n{scripts}\ndown /bin/true"));
    assert!(warnings.contains("down runs as nobody"), "{warnings}");
    for without in ["user nobody\nroute-nopull", "user root", ""] {
        let (text, warnings) = check(without);
        assert!(!text.contains("helper"), "{without}: {text}");
        assert_eq!(warnings, "[]", "{without}");
    }
}

/// The system limits the size of files, which stands for a full disk. In POSIX, the unit is 512
/// bytes. Without the trap, the signal would end the program.
#[test]
fn a_full_disk_leaves_no_half_authority_and_takes_no_name() {
    let scratch = scratch();
    let run = |script: &str| {
        let program = env!("CARGO_BIN_EXE_cycloid-vpn");
        let script = format!(
            "vpn() {{ {program} \"$@\"; }}
             limited() {{ blocks=$1; shift; (trap '' XFSZ; ulimit -f $blocks; vpn \"$@\"); }}
             {script}"
        );
        let mut command = Command::new("sh");
        command.args(["-c", &script]).current_dir(scratch.path()).output().unwrap()
    };
    // No file fits, or the authority's key alone.
    for blocks in 0..2 {
        let output =
            run(&format!("limited {blocks} pki init; code=$?; find . -type f; exit $code"));
        let complaint = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{blocks}: {complaint}");
        assert!(output.stdout.is_empty(), "{blocks}: {output:?}");
        assert!(complaint.contains("File too large"), "{blocks}: {complaint}");
    }
    // The index fits, and the profile does not.
    let output = run("vpn pki init && vpn pki server gate --host h || exit 98
        vpn pki list >before
        limited 1 pki client alice && exit 97
        vpn pki list | cmp before - && find . -name 'alice*' -o -name '*.part'
        vpn pki client alice");
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{complaint}");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "pki/gate.conf\npki/alice.ovpn\n");
}
