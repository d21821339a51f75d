//! The surroundings of a tunnel: scripts that decide or are notified, management sessions, the
//! service manager, and the unprivileged user of a server.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{UnixDatagram, UnixStream};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use cycloid_profiler::service::Request;

use crate::test_bed::{
    ALL, INNER, LIMIT, Protection, Running, Settings, TestBed, Who, wait_for_file,
};

const UP: &str = "Initialization Sequence Completed";

/// Writes a shell script, in which `$DIR` is the test's directory, and returns its path.
pub(crate) fn script(bed: &TestBed, name: &str, text: &str) -> String {
    let path = bed.file(name);
    // A shell writes the file: if this process did, another thread's fork could hold it open for
    // writing, and the kernel would refuse to run it (ETXTBSY).
    let write = "printf '#!/bin/sh\\nDIR=%s\\n%s\\n' \"$2\" \"$3\" > \"$1\" && chmod 755 \"$1\"";
    let written = Command::new("sh")
        .args(["-c", write, "sh"])
        .args([path.as_os_str(), bed.directory.path().as_os_str(), text.as_ref()])
        .status();
    assert!(written.expect("a shell").success());
    path.display().to_string()
}

fn password_file(bed: &TestBed, password: &str) -> String {
    let path = bed.file("password");
    fs::write(&path, format!("alice\n{password}\n")).expect("a file");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).expect("its mode");
    path.display().to_string()
}

fn wait_for_text(path: &Path, what: &str) -> String {
    wait_for_file(path, |text| text.contains(what))
}

/// A session at a management interface.
pub(crate) struct Session {
    lines: BufReader<UnixStream>,
}

impl Session {
    pub(crate) fn connect(path: &Path) -> Self {
        let end = Instant::now() + LIMIT;
        let stream = loop {
            match UnixStream::connect(path) {
                Ok(stream) => break stream,
                Err(error) => assert!(Instant::now() < end, "{}: {error}", path.display()),
            }
            thread::sleep(Duration::from_millis(50));
        };
        stream.set_read_timeout(Some(LIMIT)).expect("a time limit");
        let mut session = Self { lines: BufReader::new(stream) };
        session.hear(">INFO:");
        session
    }

    fn say(&mut self, line: &str) {
        self.lines.get_mut().write_all(format!("{line}\n").as_bytes()).expect("it listens");
    }

    /// Returns the lines up to and including the first that starts with `beginning`.
    pub(crate) fn hear(&mut self, beginning: &str) -> String {
        let mut heard = String::new();
        loop {
            let start = heard.len();
            let read = self.lines.read_line(&mut heard);
            assert!(matches!(read, Ok(1..)), "no {beginning:?}: {read:?}\n{heard}");
            if heard[start..].starts_with(beginning) {
                return heard;
            }
        }
    }

    pub(crate) fn ask(&mut self, line: &str, end: &str) -> String {
        self.say(line);
        self.hear(end)
    }
}

#[test]
fn a_script_verifies_the_metadata_of_a_clients_tls_crypt_v2_key() {
    const GENKEY: &str =
        "genkey tls-crypt-v2-client --server-key v2-server.key --output v2-client.key";
    let bed = TestBed::new();
    let judge = script(
        &bed,
        "judge",
        "echo $script_type $metadata_type >> $DIR/asked\n\
         [ \"$metadata_type\" = 0 ] && [ \"$(cat $metadata_file)\" = desk ]",
    );
    let settings = Settings {
        protection: Protection::TlsCryptV2,
        server: format!("script-security 2\ntls-crypt-v2-verify {judge}\nreneg-sec 3"),
        ..Settings::default()
    };
    for client in [Who::OpenVpn, Who::Cycloid] {
        let _ = fs::remove_file(bed.file("asked"));
        let _ = fs::remove_file(bed.file("v2-client.key"));
        bed.cycloid(GENKEY);
        let mut gate = bed.start(Who::Cycloid, true, &settings);
        // Without --metadata, the key carries its creation time.
        let stranger = bed.launch(client, false, &settings);
        gate.wait_for("refused: ", 1, LIMIT);
        wait_for_text(stranger.log(), "AUTH_FAILED");
        drop(stranger);
        assert_eq!(wait_for_text(&bed.file("asked"), "1"), "tls-crypt-v2-verify 1\n");

        let _ = fs::remove_file(bed.file("v2-client.key"));
        bed.cycloid(&format!("{GENKEY} --metadata desk"));
        let mut alice = bed.start(client, false, &settings);
        bed.assert_reaches("a client whose key says the right thing", [&mut gate, &mut alice]);
        gate.wait_for("a new key is in use", 1, LIMIT);
        let asked = fs::read_to_string(bed.file("asked")).expect("a file");
        assert_eq!(asked.lines().last(), Some("tls-crypt-v2-verify 0"));
        // The script runs once per connection, not once per key.
        assert_eq!(asked.lines().count(), 2, "{asked}");
    }
}

#[test]
fn passwords_are_verified_by_a_script() {
    let bed = TestBed::new();
    let by_file = script(
        &bed,
        "by-file",
        "echo asked >> $DIR/asked\n[ \"$(sed -n 1p $1)\" = alice ] && [ \"$(sed -n 2p $1)\" = right ]",
    );
    let by_environment = script(&bed, "by-env", "[ $username = alice ] && [ $password = right ]");
    for verify in [
        format!("script-security 2\nauth-user-pass-verify {by_file} via-file\nreneg-sec 3"),
        format!("script-security 3\nauth-user-pass-verify {by_environment} via-env"),
    ] {
        let renews = verify.contains("reneg-sec");
        let mut settings = Settings { server: verify, ..Settings::default() };
        for client in [Who::OpenVpn, Who::Cycloid] {
            settings.client = format!("auth-user-pass {}", password_file(&bed, "right"));
            let mut gate = bed.start(Who::Cycloid, true, &settings);
            let mut alice = bed.start(client, false, &settings);
            bed.assert_reaches("a client with its password", [&mut gate, &mut alice]);
            if renews {
                let _ = fs::remove_file(bed.file("asked"));
                wait_for_text(&bed.file("asked"), "asked\nasked\n");
                gate.wait_for("a new key is in use", 2, LIMIT);
                bed.assert_reaches("after renegotiations", [&mut gate, &mut alice]);
            }
            drop(alice);
            password_file(&bed, "wrong");
            let alice = bed.launch(client, false, &settings);
            gate.wait_for("refused: ", 1, LIMIT);
            // Either program logs this, and then ends.
            wait_for_text(alice.log(), "AUTH_FAILED");
            assert!(!alice.text().contains(UP), "{}", alice.text());
            assert_eq!(bed.ping(INNER, 1, "0.2"), 0);
        }
    }
}

#[test]
fn a_one_time_password_is_enough_for_a_client_of_openvpn() {
    a_one_time_password_is_enough(ALL[0]);
}

#[test]
fn a_one_time_password_is_enough_for_a_server_of_openvpn() {
    a_one_time_password_is_enough(ALL[1]);
}

#[test]
fn a_one_time_password_is_enough_between_ours() {
    a_one_time_password_is_enough(ALL[2]);
}

/// One test for each pair, because each waits for a minute.
fn a_one_time_password_is_enough((gate, alice): (Who, Who)) {
    let bed = TestBed::new();
    let verify = script(
        &bed,
        "once",
        "echo asked >> $DIR/asked\n[ \"$(sed -n 2p $1)\" = once ] && mkdir $DIR/used 2> /dev/null",
    );
    // A token is valid for 52 seconds: short enough to need renewal, and long enough for the ten
    // seconds that OpenVPN waits before it reconnects with `auth-retry nointeract`. OpenVPN renews
    // it after 26 seconds, but not while keys are renewed, which is not due then.
    let server = format!(
        "script-security 2\nauth-user-pass-verify {verify} via-file\nauth-gen-token 3600 26"
    );
    let client = format!("auth-user-pass {}\nauth-retry nointeract", password_file(&bed, "once"));
    let settings = Settings {
        server,
        client,
        // At most half of the time after which a token is renewed.
        both: "reneg-sec 10\nhand-window 13".into(),
        ..Settings::default()
    };
    let mut gate = bed.start(gate, true, &settings);
    let mut alice = bed.start(alice, false, &settings);
    thread::sleep(Duration::from_secs(54));
    bed.assert_reaches("after renegotiations", [&mut gate, &mut alice]);
    // More than one on a machine so busy that a ping came too late.
    let connections = alice.count(UP);
    alice.signal("USR1");
    alice.wait_for(UP, connections + 1, LIMIT);
    bed.assert_reaches("connected anew", [&mut gate, &mut alice]);
    let asked = fs::read_to_string(bed.file("asked")).expect("it was asked");
    assert_eq!(asked, "asked\n", "{}", gate.text());
    // A restarted server has another token key and asks for the password, which is used up.
    if alice.text().contains("Cycloid") && gate.text().contains("Cycloid") {
        gate.end("TERM");
        let _ = fs::remove_dir(bed.file("used"));
        let mut gate = bed.start(Who::Cycloid, true, &settings);
        alice.wait_for("using the password again", 1, LIMIT);
        alice.wait_for(UP, connections + 2, LIMIT);
        bed.assert_reaches("a server with another key", [&mut gate, &mut alice]);
    }
}

#[test]
fn a_server_that_a_script_refuses_learns_no_password() {
    let bed = TestBed::new();
    let verify = script(&bed, "verify", "echo asked >> $DIR/asked");
    let judge = script(&bed, "judge", "[ -e $DIR/trusted ] && [ \"$2\" != '' ]");
    let password = password_file(&bed, "any");
    let settings = Settings {
        server: format!("script-security 2\nauth-user-pass-verify {verify} via-file"),
        client: format!("auth-user-pass {password}\nscript-security 2\ntls-verify {judge}"),
        both: "reneg-sec 4".into(),
        ..Settings::default()
    };
    for gate in [Who::OpenVpn, Who::Cycloid] {
        let _ = fs::remove_file(bed.file("trusted"));
        let _ = fs::remove_file(bed.file("asked"));
        let mut gate = bed.start(gate, true, &settings);
        let mut alice = bed.launch(Who::Cycloid, false, &settings);
        alice.wait_for("server refused: ", 1, LIMIT);
        assert!(!bed.file("asked").exists(), "{}", gate.text());
        fs::write(bed.file("trusted"), "").expect("a file");
        alice.wait_for(UP, 1, LIMIT);
        alice.wait_for("a new key is in use", 2, LIMIT);
        bed.assert_reaches("a server that is trusted", [&mut gate, &mut alice]);
        // The script judges the server again at each renewal.
        fs::remove_file(bed.file("trusted")).expect("it is there");
        alice.wait_for("server refused: ", 2, LIMIT);
    }
}

#[test]
fn a_script_sets_a_clients_address_and_is_notified_of_its_end() {
    let bed = TestBed::new();
    let connect = script(
        &bed,
        "connect",
        "[ \"$script_type\" = client-connect ] && [ \"$common_name\" = alice ] || exit 1\n\
         [ -n \"$trusted_ip\" ] && [ -n \"$ifconfig_pool_remote_ip\" ] || exit 1\n\
         sleep 1\necho 'ifconfig-push 10.8.7.7 255.255.0.0' > $1\n\
         echo 'push \"route 192.0.2.0 255.255.255.0\"' >> $1",
    );
    let gone = script(&bed, "gone", "env > $DIR/gone.new; mv $DIR/gone.new $DIR/told");
    let learn = script(&bed, "learn", "echo \"$1 $2 $3\" >> $DIR/learnt");
    let settings = Settings {
        server: format!(
            "script-security 2\nclient-connect {connect}\nclient-disconnect {gone}\n\
             learn-address {learn}"
        ),
        client: "explicit-exit-notify 1".into(),
        ..Settings::default()
    };
    for client in [Who::OpenVpn, Who::Cycloid] {
        for name in ["told", "learnt"] {
            let _ = fs::remove_file(bed.file(name));
        }
        let mut gate = bed.start(Who::Cycloid, true, &settings);
        let mut alice = bed.start(client, false, &settings);
        let output = bed.command(true).args(["ip", "-4", "addr"]).output().expect("ip");
        let addresses = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(addresses.contains("10.8.7.7/16"), "{addresses}");
        bed.assert_reaches("with the script's address", [&mut gate, &mut alice]);
        alice.end("TERM");
        let told = wait_for_text(&bed.file("told"), "bytes_received=");
        for line in ["common_name=alice", "ifconfig_pool_remote_ip", "time_duration=", "IV_VER="] {
            assert!(told.contains(line), "no {line} in {told}");
        }
        let learnt = wait_for_text(&bed.file("learnt"), "delete 10.8.7.7");
        assert!(learnt.contains("add 10.8.7.7 alice"), "{learnt}");
        gate.end("TERM");
    }
    // A client that the script refuses does not connect.
    let connect = script(&bed, "connect", "exit 1");
    let server = format!("script-security 2\nclient-connect {connect}");
    let settings = Settings { server, ..Settings::default() };
    let mut gate = bed.start(Who::Cycloid, true, &settings);
    let alice = bed.launch(Who::OpenVpn, false, &settings);
    gate.wait_for("refused: ", 1, LIMIT);
    wait_for_text(alice.log(), "AUTH_FAILED");
    assert!(!alice.text().contains(UP), "{}", alice.text());
}

#[test]
fn a_manager_watches_a_server_and_kills_its_clients() {
    let bed = TestBed::new();
    let socket = bed.file("gate.sock");
    let settings = Settings {
        server: format!(
            "management {} unix\nmanagement-hold\nmetrics 127.0.0.1:9176",
            socket.display()
        ),
        ..Settings::default()
    };
    let mut gate = bed.launch(Who::Cycloid, true, &settings);
    let mut session = Session::connect(&socket);
    session.hear(">HOLD:");
    assert!(!gate.text().contains(UP), "{}", gate.text());
    session.ask("hold release", "SUCCESS:");
    gate.wait_for(UP, 1, LIMIT);
    let state = session.ask("state", "END");
    assert!(state.contains(",CONNECTED,SUCCESS,10.8.0.1,"), "{state}");
    let mut alice = bed.start(Who::OpenVpn, false, &settings);
    for version in ["1", "2", "3"] {
        let status = session.ask(&format!("status {version}"), "END");
        // Notifications of the client's connection may come before the answer.
        let alices = |line: &&str| line.contains("alice") && !line.starts_with('>');
        let alices = status.lines().filter(alices).count();
        assert_eq!(alices, 3, "a client and two addresses: {status}");
    }
    session.ask("bytecount 1", "SUCCESS:");
    session.hear(">BYTECOUNT_CLI:1,");
    session.ask("bytecount 0", "SUCCESS:");
    let stats = session.ask("load-stats", "SUCCESS:");
    assert!(stats.contains("nclients=1,bytesin="), "{stats}");
    let log = session.ask("log all", "END");
    assert!(log.contains("alice"), "{log}");
    let metrics = bed
        .command(false)
        .args(["bash", "-c"])
        .arg("exec 3<>/dev/tcp/127.0.0.1/9176; printf 'GET /metrics HTTP/1.1\\r\\n\\r\\n' >&3; cat <&3")
        .output()
        .expect("bash");
    let metrics = String::from_utf8_lossy(&metrics.stdout).into_owned();
    assert!(metrics.contains("\ncycloid_vpn_tunnels 1\n"), "{metrics}");
    session.ask("kill nobody", "ERROR: common name 'nobody' not found");
    session.ask("kill alice", "SUCCESS: common name 'alice' found, 1 client(s) killed");
    alice.wait_for(UP, 2, LIMIT);
    session.ask("signal SIGTERM", "SUCCESS: signal SIGTERM thrown");
    gate.wait_for_end();
}

#[test]
fn a_manager_decides_which_clients_connect() {
    let bed = TestBed::new();
    let socket = bed.file("gate.sock");
    let settings = Settings {
        server: format!("management {} unix\nmanagement-client-auth", socket.display()),
        client: format!("auth-user-pass {}\nauth-retry nointeract", password_file(&bed, "any")),
        ..Settings::default()
    };
    let mut gate = bed.start(Who::Cycloid, true, &settings);
    let mut session = Session::connect(&socket);
    let mut alice = bed.launch(Who::OpenVpn, false, &settings);
    let asked = session.hear(">CLIENT:ENV,END");
    assert!(asked.contains(">CLIENT:ENV,password=any"), "{asked}");
    let numbers = |asked: &str| {
        let line = asked.lines().find_map(|line| line.strip_prefix(">CLIENT:CONNECT,"));
        line.expect("it connects").replace(',', " ")
    };
    let denied = numbers(&asked);
    session.ask("client-auth-nt 1 77", "ERROR: client-auth command failed");
    session.ask(&format!("client-deny {denied} why 'not today'"), "SUCCESS:");
    alice.wait_for("AUTH_FAILED,not today", 1, LIMIT);
    // The client tries again, and the manager assigns its address.
    let asked = loop {
        let asked = session.hear(">CLIENT:ENV,END");
        if asked.contains(">CLIENT:CONNECT,") {
            break asked;
        }
    };
    session
        .say(&format!("client-auth {}\nifconfig-push 10.8.9.9 255.255.0.0\nEND", numbers(&asked)));
    session.hear("SUCCESS:");
    session.hear(">CLIENT:ESTABLISHED,");
    alice.wait_for(UP, 1, LIMIT);
    bed.assert_reaches("with the manager's consent", [&mut gate, &mut alice]);
    assert!(session.ask("status 2", "END").contains(",10.8.9.9,"));
}

#[test]
fn a_manager_controls_a_client() {
    let bed = TestBed::new();
    let socket = bed.file("alice.sock");
    let verify = script(&bed, "verify", "[ \"$(sed -n 2p $1)\" = right ]");
    let hooks = script(&bed, "hook", "echo \"$script_type $dev\" >> $DIR/hooks");
    let settings = Settings {
        server: format!("script-security 2\nauth-user-pass-verify {verify} via-file"),
        client: format!(
            "auth-user-pass\nauth-retry interact\nmanagement {} unix\nmanagement-hold\n\
             management-query-passwords\nscript-security 2\nup {hooks}\ndown {hooks}\n\
             route-up {hooks}\nroute-pre-down {hooks}\nipchange {hooks}\ntls-verify {hooks}",
            socket.display()
        ),
        ..Settings::default()
    };
    let mut gate = bed.start(Who::OpenVpn, true, &settings);
    let mut alice = bed.launch(Who::Cycloid, false, &settings);
    let mut session = Session::connect(&socket);
    session.hear(">HOLD:");
    session.ask("state on", "SUCCESS:");
    session.ask("hold off", "SUCCESS:");
    session.ask("hold release", "SUCCESS:");
    for password in ["wrong", "right"] {
        session.hear(">PASSWORD:Need 'Auth' username/password");
        session.ask("username Auth alice", "SUCCESS:");
        session.ask(&format!("password Auth {password}"), "SUCCESS:");
        if password == "wrong" {
            session.hear(">PASSWORD:Verification Failed: 'Auth'");
        }
    }
    let states = session.hear(">STATE:");
    assert!(states.contains("WAIT") || states.contains("RESOLVE"), "{states}");
    while !session.hear(">STATE:").contains(",CONNECTED,SUCCESS,10.8.0.") {}
    alice.wait_for(UP, 1, LIMIT);
    bed.assert_reaches("with its manager's password", [&mut gate, &mut alice]);
    let status = session.ask("status", "END");
    assert!(status.contains("TUN/TAP read bytes,"), "{status}");
    session.ask("bytecount 1", "SUCCESS:");
    session.hear(">BYTECOUNT:");
    session.ask("bytecount 0", "SUCCESS:");
    session.ask("signal SIGUSR1", "SUCCESS:");
    while !session.hear(">STATE:").contains(",CONNECTED,SUCCESS,") {}
    session.ask("signal SIGTERM", "SUCCESS:");
    alice.wait_for_end();
    let told = fs::read_to_string(bed.file("hooks")).expect("hooks were run");
    let kinds =
        ["tls-verify", "ipchange", "up tun", "route-up tun", "route-pre-down tun", "down tun"];
    let mut at = 0;
    for kind in kinds {
        let found = told[at..].find(kind);
        at += found.unwrap_or_else(|| panic!("no {kind} in its place:\n{told}"));
    }
}

#[test]
fn a_restart_reloads_keys_unless_they_persist() {
    let bed = TestBed::new();
    for both in ["", "persist-key"] {
        let settings = Settings { both: both.into(), ..Settings::default() };
        let mut gate = bed.start(Who::Cycloid, true, &settings);
        let mut alice = bed.start(Who::Cycloid, false, &settings);
        // The client is the first: a server's restart also restarts its clients.
        for (end, name, done, before) in
            [(&mut alice, "alice.key", UP, 1), (&mut gate, "gate.key", "restarted", 0)]
        {
            // Without the file, an attempt to reload leaves a message.
            fs::rename(bed.file(name), bed.file("away")).expect("a key");
            end.signal("USR1");
            end.wait_for(done, before + 1, LIMIT);
            let by_restart = usize::from(both.is_empty());
            assert_eq!(end.count("keeping the old keys"), by_restart, "{}", end.text());
            end.signal("HUP");
            end.wait_for(done, before + 2, LIMIT);
            assert_eq!(end.count("keeping the old keys"), by_restart + 1, "{}", end.text());
            fs::rename(bed.file("away"), bed.file(name)).expect("a key");
        }
    }
}

#[test]
fn keys_under_a_passphrase() {
    let bed = TestBed::new();
    for name in ["gate", "alice"] {
        let (key, encrypted) = (bed.file(&format!("{name}.key")), bed.file("encrypted"));
        let mut command = Command::new("openssl");
        command.args(["pkcs8", "-topk8", "-passout", "pass:right words", "-in"]).arg(&key);
        let status = command.arg("-out").arg(&encrypted).status().expect("OpenSSL's program");
        assert!(status.success());
        fs::rename(encrypted, key).expect("a key");
    }
    let passphrase = bed.file("passphrase");
    fs::write(&passphrase, "right words\n").expect("a file");
    let socket = bed.file("alice.sock");
    let settings = Settings {
        server: format!("askpass {}", passphrase.display()),
        client: format!("management {} unix\nmanagement-query-passwords", socket.display()),
        ..Settings::default()
    };
    let mut gate = bed.start(Who::Cycloid, true, &settings);
    for client in [Who::OpenVpn, Who::Cycloid] {
        for word in ["wrong", "right words"] {
            let mut alice = bed.launch(client, false, &settings);
            let mut session = Session::connect(&socket);
            session.hear(">PASSWORD:Need 'Private Key' password");
            session.ask(&format!("password \"Private Key\" \"{word}\""), "SUCCESS:");
            if word == "wrong" {
                // One of 256 wrong passphrases yields valid padding, so only OpenVPN's final
                // message is expected.
                session.hear(match client {
                    Who::OpenVpn => ">FATAL:Error: private key password verification failed",
                    Who::Cycloid => ">PASSWORD:Verification Failed: 'Private Key'",
                });
            } else {
                alice.wait_for(UP, 1, LIMIT);
                bed.assert_reaches("keys under passphrases", [&mut gate, &mut alice]);
            }
        }
    }
    drop(gate);
    // Without a terminal or manager, the program names `askpass`.
    let settings = Settings::default();
    let mut gate = bed.launch(Who::Cycloid, true, &settings);
    gate.wait_for_end();
    assert!(gate.text().contains("askpass FILE"), "{}", gate.text());
    fs::write(&passphrase, "wrong").expect("a file");
    let settings =
        Settings { server: format!("askpass {}", passphrase.display()), ..Settings::default() };
    let mut gate = bed.launch(Who::Cycloid, true, &settings);
    gate.wait_for_end();
    assert!(gate.text().contains("wrong passphrase"), "{}", gate.text());
}

#[test]
fn a_server_drops_to_nobody_and_notifies_the_service_manager() {
    let bed = TestBed::new();
    let path = bed.file("notify");
    let manager = UnixDatagram::bind(&path).expect("a socket");
    manager.set_read_timeout(Some(LIMIT)).expect("a time limit");
    let hear = |manager: &UnixDatagram| {
        let mut bytes = [0; 200];
        let length = manager.recv(&mut bytes).expect("it tells");
        String::from_utf8_lossy(&bytes[..length]).into_owned()
    };
    let status: PathBuf = bed.file("status");
    let settings = Settings {
        server: format!(
            "user nobody\ngroup nogroup\nnice 5\nstatus {} 1\nstatus-version 2",
            status.display()
        ),
        ..Settings::default()
    };
    let file = bed.configure(true, &settings);
    let mut command = bed.command(false);
    command.env("NOTIFY_SOCKET", &path);
    command.args([env!("CARGO_BIN_EXE_cycloid-vpn"), "server"]).arg(&file);
    let mut gate = Running::start(command, file.with_extension("log"));
    assert_eq!(hear(&manager), "READY=1");
    let process = fs::read_to_string(format!("/proc/{}/status", gate.id())).expect("it runs");
    assert!(process.contains("Uid:\t65534\t65534\t65534\t65534"), "{process}");
    assert!(process.contains("CapEff:\t0000000000001000"), "{process}");
    for thread in fs::read_dir(format!("/proc/{}/task", gate.id())).expect("it has threads") {
        let status = fs::read_to_string(thread.expect("a thread").path().join("status"));
        assert!(status.expect("its status").contains("Uid:\t65534\t65534"), "a thread is root");
    }
    let mut alice = bed.start(Who::OpenVpn, false, &settings);
    bed.assert_reaches("a server that is nobody", [&mut gate, &mut alice]);
    // Root may profile the server, even from another network namespace.
    let process = gate.id();
    let request = Request { seconds: 0.2, hertz: 100 };
    // The requester's thread enters that namespace.
    let profile = thread::spawn(move || cycloid_profiler::request(process, request));
    let profile = profile.join().expect("no panic").expect("it answers");
    assert_eq!(profile.title, "cycloid-vpn server");
    wait_for_text(&status, "CLIENT_LIST,alice,");
    alice.end("TERM");
    let text = gate.end("TERM");
    assert!(!text.contains("cannot undo"), "{text}");
    assert_eq!(hear(&manager), "STOPPING=1");
    // Directives that a service manager replaces are reported at once.
    let settings = Settings { server: "daemon".into(), ..Settings::default() };
    let text = bed.start(Who::Cycloid, true, &settings).end("TERM");
    assert!(text.contains("systemd"), "{text}");
    let settings = Settings { server: "chroot /".into(), ..Settings::default() };
    let mut gate = bed.launch(Who::Cycloid, true, &settings);
    gate.wait_for_end();
    assert!(gate.text().contains("RootDirectory="), "{}", gate.text());
}
