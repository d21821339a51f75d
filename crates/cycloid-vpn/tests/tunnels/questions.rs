//! Questions of a server during a pending authentication (`CR_TEXT`), asked at the client's
//! terminal. Needs util-linux's `script`, which gives the client a terminal.

use std::fs::{self, File};
use std::io::Write;
use std::path::PathBuf;
use std::process::Command;

use crate::service::Session;
use crate::test_bed::{LIMIT, Running, Settings, TestBed, UP, Who};

/// Ends the program at the terminal, which outlives `script`.
struct Ends(PathBuf);

impl Drop for Ends {
    fn drop(&mut self) {
        if let Ok(id) = fs::read_to_string(&self.0) {
            let _ = Command::new("kill").args(["-KILL", id.trim()]).status();
        }
    }
}

/// Starts the client at a terminal. Returns what its user types into.
fn at_a_terminal(bed: &TestBed, settings: &Settings) -> (Running, File, Ends) {
    let (typed, id) = (bed.file("typed"), bed.file("alice.pid"));
    assert!(Command::new("mkfifo").arg(&typed).status().expect("mkfifo").success());
    let client = format!("{}\nwritepid {}", settings.client, id.display());
    let file = bed.configure(false, &Settings { client, ..settings.clone() });
    let line = format!("{} client {}", env!("CARGO_BIN_EXE_cycloid-vpn"), file.display());
    let mut command = bed.command(true);
    command.args(["sh", "-c", "exec script -qfec \"$1\" /dev/null < \"$2\"", "sh", &line]);
    command.arg(&typed);
    let alice = Running::start(command, file.with_extension("client.log"));
    let typed = File::options().write(true).open(typed).expect("it is read");
    (alice, typed, Ends(id))
}

/// With `auth-nocache`, a password is asked for again once a server has had it.
#[test]
fn a_password_that_may_not_be_cached_is_asked_for_again() {
    let bed = TestBed::new();
    let socket = bed.file("alice.sock");
    let settings = Settings {
        client: format!(
            "auth-user-pass\nauth-nocache\nmanagement {} unix\nmanagement-query-passwords",
            socket.display()
        ),
        ..Settings::default()
    };
    let mut gate = bed.start(Who::Cycloid, true, &settings);
    let mut alice = bed.launch(Who::Cycloid, false, &settings);
    let mut session = Session::connect(&socket);
    for connection in 1..=2 {
        session.hear(">PASSWORD:Need 'Auth' username/password");
        session.ask("username Auth alice", "SUCCESS:");
        session.ask("password Auth secret", "SUCCESS:");
        alice.wait_for(UP, connection, LIMIT);
        alice.signal("USR1");
    }
    session.hear(">PASSWORD:Need 'Auth' username/password");
    assert_eq!(gate.count("connected, with"), 2, "{}", gate.text());
    alice.end("TERM");
    gate.signal("TERM");
    gate.wait_for_end();
}

#[test]
fn a_question_of_the_server_is_answered_at_the_terminal() {
    for server in [Who::Cycloid, Who::OpenVpn] {
        let bed = TestBed::new();
        let socket = bed.file("gate.sock");
        let password = bed.file("password");
        fs::write(&password, "alice\nsecret\n").expect("a file");
        let settings = Settings {
            server: format!("management {} unix\nmanagement-client-auth", socket.display()),
            client: format!("auth-user-pass {}", password.display()),
            ..Settings::default()
        };
        let mut gate = bed.launch(server, true, &settings);
        let mut session = Session::connect(&socket);
        gate.wait_for(UP, 1, LIMIT);
        let (mut alice, mut typed, _ends) = at_a_terminal(&bed, &settings);
        let asked = session.hear(">CLIENT:ENV,END");
        assert!(asked.contains("IV_SSO=crtext"), "{asked}");
        let numbers = asked.lines().find_map(|line| line.strip_prefix(">CLIENT:CONNECT,"));
        let numbers = numbers.expect("it connects").replace(',', " ");
        let question = "What is 6 times 7?";
        session.ask(
            &format!("client-pending-auth {numbers} \"CR_TEXT:R,E:{question}\" 60"),
            "SUCCESS:",
        );
        // The log has it, and so has the prompt.
        alice.wait_for(question, 2, LIMIT);
        typed.write_all(b"42\n").expect("it is read");
        let answered = session.hear(">CLIENT:CR_RESPONSE,");
        assert!(answered.contains(",NDI="), "{answered}");
        session.ask(&format!("client-auth-nt {numbers}"), "SUCCESS:");
        alice.wait_for(UP, 1, LIMIT);
        bed.assert_reaches("after an answer", [&mut gate, &mut alice]);
    }
}
