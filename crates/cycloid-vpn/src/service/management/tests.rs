use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::time::Instant;

use super::*;
use crate::service::log::{Level, Record};
use crate::service::signals::Signal;

const TICK: Duration = Duration::from_millis(1);

/// Time limit for expected events.
const LIMIT: Duration = Duration::from_secs(60);

/// An interface, a client connected to it, and a clock.
struct Fixture {
    management: Management,
    client: TcpStream,
    now: Duration,
}

fn settings(server: bool) -> Settings {
    Settings {
        endpoint: Endpoint::Tcp("127.0.0.1:0".parse().unwrap()),
        password: None,
        title: "OpenVPN x".into(),
        server,
        hold: false,
        log_lines: 3,
        verb: 3,
        mute: 0,
        auth_retry: AuthRetry::None,
    }
}

fn fixture(settings: Settings) -> Fixture {
    let management = Management::listen(settings).unwrap();
    // A fixed buffer, which the kernel does not enlarge for a slow reader.
    let client = socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::STREAM, None).unwrap();
    client.set_recv_buffer_size(16_384).unwrap();
    // Small writes must not be delayed.
    client.set_tcp_nodelay(true).unwrap();
    client.connect(&management.address().unwrap().into()).unwrap();
    client.set_nonblocking(true).unwrap();
    let client = client.into();
    Fixture { management, client, now: Duration::ZERO }
}

fn connected(settings: Settings) -> Fixture {
    let mut fixture = fixture(settings);
    assert_eq!(fixture.event(), Some(Event::Connected));
    let welcome = ">INFO:OpenVPN Management Interface Version 5 -- type 'help' for more info\r\n";
    assert!(fixture.hears(welcome).starts_with(welcome));
    fixture
}

impl Fixture {
    fn say(&mut self, line: &str) {
        self.client.write_all(format!("{line}\r\n").as_bytes()).unwrap();
    }

    /// Returns the next event, after delivering bytes in transit.
    fn event(&mut self) -> Option<Event> {
        self.now += TICK;
        let end = Instant::now() + LIMIT;
        while Instant::now() < end {
            let event = self.management.next(self.now);
            if event.is_some() {
                return event;
            }
            std::thread::sleep(TICK);
        }
        None
    }

    /// Returns whether no event comes within 50 calls.
    fn is_quiet(&mut self) -> bool {
        (0..50).all(|_| {
            std::thread::sleep(TICK);
            self.now += TICK;
            self.management.next(self.now).is_none()
        })
    }

    /// Returns all output up to this text, within the time limit.
    fn hears(&mut self, end: &str) -> String {
        let limit = Instant::now() + LIMIT;
        let mut heard = String::new();
        while !heard.ends_with(end) && Instant::now() < limit {
            heard += &self.heard();
        }
        heard
    }

    fn heard(&mut self) -> String {
        let mut heard = Vec::new();
        for _ in 0..5 {
            let _ = self.management.next(self.now);
            let mut bytes = [0; 65_536];
            while let Ok(length @ 1..) = self.client.read(&mut bytes) {
                heard.extend_from_slice(&bytes[..length]);
            }
            std::thread::sleep(TICK);
        }
        String::from_utf8(heard).unwrap()
    }

    /// Sends a line that the interface answers itself. Returns the answer's lines, joined by `|`.
    fn answer(&mut self, line: &str) -> String {
        const LAST: &str = "SUCCESS: real-time echo notification set to OFF\r\n";
        self.say(line);
        // Answers come in order, so the answer to this command marks the end of the previous one.
        self.say("echo off");
        let heard = self.hears(LAST);
        let answer = heard.strip_suffix(LAST).unwrap_or_else(|| panic!("{line}: {heard}"));
        answer.replace("\r\n", "|").trim_end_matches('|').to_owned()
    }
}

#[test]
fn commands_answered_by_the_interface() {
    let mut fixture = connected(settings(false));
    let pid = format!("SUCCESS: pid={}", std::process::id());
    for (line, answer) in [
        ("version", "OpenVPN Version: OpenVPN x|Management Version: 5|END"),
        ("version 3", ""),
        ("", ""),
        ("pid", &pid),
        ("hold", "SUCCESS: hold=0"),
        ("hold foo", "ERROR: bad hold command parameter"),
        ("hold on", "SUCCESS: hold flag set to ON"),
        ("hold", "SUCCESS: hold=1"),
        ("bytecount 1", "SUCCESS: bytecount interval changed"),
        ("verb", "SUCCESS: verb=3"),
        ("verb 99", "ERROR: verb level is out of range"),
        ("mute", "SUCCESS: mute=0"),
        ("auth-retry", "SUCCESS: auth-retry=none"),
        ("auth-retry nope", "ERROR: bad auth-retry parameter"),
        ("bogus", "ERROR: unknown command, enter 'help' for more options"),
        ("kill", "ERROR: the 'kill' command requires 1 parameter"),
        ("client-deny 0 0", "ERROR: the 'client-deny' command requires 3 parameters"),
        ("client-kill 1", "ERROR: the command is not supported by the current daemon mode"),
        ("signal FOO", "ERROR: signal 'FOO' is not a known signal type"),
        ("state zzz", "ERROR: state parameter must be 'on' or 'off' or some number n or 'all'"),
        ("username \"Auth\" u", "ERROR: no username is currently needed at this time"),
        ("username \"x", "ERROR: Options error: No closing quotation (\")"),
        ("status 9", "ERROR: unknown status format"),
    ] {
        assert_eq!(fixture.answer(line), answer, "{line}");
    }
    let help = fixture.answer("help");
    for line in ["Management Interface for OpenVPN x|Commands:|", "|bytecount n ", "|END"] {
        assert!(help.contains(line), "{help}");
    }
}

#[test]
fn commands_that_become_events() {
    let mut fixture = connected(settings(true));
    for (line, event) in [
        ("status 2", Event::Status(Some(status::Version::Two))),
        ("status", Event::Status(None)),
        ("load-stats", Event::LoadStats),
        ("kill client-1", Event::Kill(Target::Name("client-1".into()))),
        ("kill 1.2.3.4:55", Event::Kill(Target::Address("1.2.3.4:55".parse().unwrap()))),
        ("client-kill 7", Event::ClientKill { client: 7, message: None }),
        ("client-auth-nt 1 2", Event::ClientAuth { client: 1, key: 2, lines: vec![] }),
        (
            "client-auth 1 2\npush \"route 10.0.0.0\"\n\nEND",
            Event::ClientAuth {
                client: 1,
                key: 2,
                lines: vec!["push \"route 10.0.0.0\"".into(), String::new()],
            },
        ),
        (
            "client-deny 1 2 \"not you\" bye",
            Event::ClientDeny {
                client: 1,
                key: 2,
                reason: "not you".into(),
                for_client: Some("bye".into()),
            },
        ),
        (
            "client-pending-auth 1 2 WEB_AUTH::https://x 60",
            Event::PendingAuth {
                client: 1,
                key: 2,
                extra: "WEB_AUTH::https://x".into(),
                timeout: 60,
            },
        ),
        ("signal SIGUSR1", Event::Signal(Signal::Restart)),
        ("verb 4", Event::Verb(4)),
        ("forget-passwords", Event::ForgetPasswords),
    ] {
        fixture.say(line);
        let found = fixture.event().unwrap();
        assert_eq!(found, event);
        if found.needs_reply() {
            fixture.management.success("done");
        }
        assert!(fixture.hears("\r\n").starts_with("SUCCESS: "), "{line}");
    }
    fixture.say("kill 1.2.3:x");
    assert_eq!(fixture.hears("\r\n"), "ERROR: error parsing IP address: 1.2.3:x\r\n");
    // The next command waits until the previous one is answered.
    fixture.say("status 1\npid\nkill a");
    assert_eq!(fixture.event(), Some(Event::Status(Some(status::Version::One))));
    fixture.management.lines("a\nb\nEND\n");
    assert_eq!(fixture.event(), Some(Event::Kill(Target::Name("a".into()))));
    let last = "ERROR: the command is not supported by the current daemon mode\r\n";
    let heard = fixture.hears(last);
    assert!(heard.starts_with("a\r\nb\r\nEND\r\nSUCCESS: pid="), "{heard}");
    assert!(heard.ends_with(last));
}

#[test]
fn real_time_notifications() {
    let mut fixture = connected(settings(false));
    let change = StateChange {
        unix: 1_795_290_013,
        name: "CONNECTED",
        detail: "SUCCESS".into(),
        ipv4: Some("10.88.0.2".parse().unwrap()),
        remote: Some("127.0.0.1:11940".parse().unwrap()),
        local: None,
        ipv6: Some("fd77::1000".parse().unwrap()),
    };
    let connecting = StateChange { unix: 1, name: "CONNECTING", ..StateChange::default() };
    fixture.management.state(&connecting);
    assert_eq!(fixture.answer("state"), "1,CONNECTING,,,,,,|END");
    assert_eq!(
        fixture.answer("state on all"),
        "SUCCESS: real-time state notification set to ON|1,CONNECTING,,,,,,|END"
    );
    fixture.management.state(&change);
    let line = "1795290013,CONNECTED,SUCCESS,10.88.0.2,127.0.0.1,11940,,,fd77::1000";
    assert_eq!(fixture.hears("\r\n"), format!(">STATE:{line}\r\n"));
    assert_eq!(fixture.answer("state 1"), format!("{line}|END"));

    for number in 0..5 {
        let text = format!("line {number}");
        fixture.management.log(&Record { unix: number, level: Level::Warning, text });
    }
    assert_eq!(fixture.answer("log 2"), "3,W,line 3|4,W,line 4|END");
    assert_eq!(fixture.answer("log all"), "2,W,line 2|3,W,line 3|4,W,line 4|END");
    fixture.answer("log on");
    fixture.management.log(&Record { unix: 9, level: Level::Info, text: "x".into() });
    assert_eq!(fixture.hears("\r\n"), ">LOG:9,I,x\r\n");
    fixture.management.echo(7, "forget\r\n>FAKE");
    assert_eq!(fixture.answer("echo all"), "7,forget__>FAKE|END");

    fixture.answer("bytecount 5");
    assert!(fixture.management.bytecount_is_due(Duration::from_secs(10)));
    fixture.management.bytecount(2368, 2210);
    assert!(!fixture.management.bytecount_is_due(Duration::from_secs(14)));
    assert_eq!(fixture.management.deadline(), Some(Duration::from_secs(15)));
    assert_eq!(fixture.hears("\r\n"), ">BYTECOUNT:2368,2210\r\n");

    let environment = [("common_name", "a\n>CLIENT:ENV,END"), ("n", "1")];
    fixture.management.client(ClientEvent::Connect(3, 1), environment);
    assert_eq!(
        fixture.hears("n=1\r\n>CLIENT:ENV,END\r\n"),
        ">CLIENT:CONNECT,3,1\r\n>CLIENT:ENV,common_name=a_>CLIENT:ENV,END\r\n\
         >CLIENT:ENV,n=1\r\n>CLIENT:ENV,END\r\n"
    );
}

#[test]
fn hold_and_questions_outlast_the_client() {
    let mut fixture = connected(Settings { hold: true, ..settings(false) });
    assert!(fixture.management.hold(10));
    assert_eq!(fixture.hears("\r\n"), ">HOLD:Waiting for hold release:10\r\n");
    fixture.say("quit");
    assert_eq!(fixture.event(), Some(Event::Disconnected));
    fixture.client = TcpStream::connect(fixture.management.address().unwrap()).unwrap();
    fixture.client.set_nonblocking(true).unwrap();
    fixture.client.set_nodelay(true).unwrap();
    assert_eq!(fixture.event(), Some(Event::Connected));
    let holding = ">HOLD:Waiting for hold release:10\r\n";
    assert!(fixture.hears(holding).ends_with(holding));
    fixture.say("hold release");
    assert_eq!(fixture.event(), Some(Event::Released));
    let challenge = Some(("Please enter token PIN".to_owned(), true));
    fixture.management.ask(Query { kind: "Auth".into(), username: true, challenge });
    let question = ">PASSWORD:Need 'Auth' username/password SC:1,Please enter token PIN\r\n";
    let heard = fixture.hears(question);
    assert_eq!(heard, format!("SUCCESS: hold release succeeded\r\n{question}"));
    assert!(fixture.answer("password Auth x").starts_with("ERROR: "));
    assert!(fixture.answer("username Other x").starts_with("ERROR: "));
    assert_eq!(
        fixture.answer("username \"Auth\" \"us er\""),
        "SUCCESS: 'Auth' username entered, but not yet verified"
    );
    fixture.say(r#"password "Auth" "pa\"ss""#);
    let credentials = Event::Credentials {
        kind: "Auth".into(),
        username: Some("us er".into()),
        password: Zeroizing::new("pa\"ss".into()),
    };
    assert_eq!(fixture.event(), Some(credentials));
    let entered = "password entered, but not yet verified\r\n";
    assert!(fixture.hears(entered).ends_with(entered));
    fixture.management.refused("Auth", Some("CRV1:R,E:x"));
    assert_eq!(fixture.hears("\r\n"), ">PASSWORD:Verification Failed: 'Auth' ['CRV1:R,E:x']\r\n");
}

#[test]
fn a_password_comes_first() {
    let with_password = || Settings {
        password: Some(Zeroizing::new("secret".into())),
        hold: true,
        ..settings(false)
    };
    let mut fixture = fixture(with_password());
    let prompt = "ENTER PASSWORD:";
    assert_eq!(fixture.hears(prompt), prompt);
    fixture.management.hold(1);
    fixture.management.fatal("unheard");
    fixture.say("pid");
    assert_eq!(fixture.hears(prompt), format!("ERROR: bad password\r\n{prompt}"));
    fixture.say("secret");
    assert_eq!(fixture.event(), Some(Event::Connected));
    let holding = ">HOLD:Waiting for hold release:1\r\n";
    let heard = fixture.hears(holding);
    assert!(heard.starts_with("SUCCESS: password is correct\r\n>INFO:"), "{heard}");
    assert!(heard.ends_with(holding));

    let mut fixture = self::fixture(with_password());
    fixture.say("a\nb\nsecre\nsecret");
    assert!(fixture.is_quiet());
    let refusal = "ERROR: bad password\r\n";
    assert!(fixture.hears(refusal).ends_with(refusal));
    assert!(fixture.management.connection.is_none());

    // A silent client blocks others for at most half a minute.
    let mut fixture = self::fixture(with_password());
    assert!(fixture.is_quiet());
    let deadline = fixture.management.deadline().unwrap();
    assert_eq!(fixture.management.next(deadline - TICK), None);
    assert!(fixture.management.connection.is_some());
    assert_eq!(fixture.management.next(deadline), None);
    assert!(fixture.management.connection.is_none());
}

#[test]
fn a_client_that_does_not_read_costs_bounded_memory() {
    let mut fixture = connected(settings(true));
    fixture.say("log on");
    assert!(fixture.hears("\r\n").starts_with("SUCCESS"));
    let text = "x".repeat(10_000);
    let fill = |fixture: &mut Fixture| {
        for unix in 0..5_000 {
            fixture.management.log(&Record { unix, level: Level::Info, text: text.clone() });
            let _ = fixture.management.next(fixture.now);
            if unix % 100 == 0 {
                std::thread::sleep(TICK);
            }
        }
    };
    fill(&mut fixture);
    // Once the kernel's buffers are full too, the interface stops reading.
    for _ in 0..100_000 {
        if fixture.client.write(b"help\n").is_err() {
            break;
        }
    }
    let full = (0..100).any(|_| {
        fill(&mut fixture);
        assert_eq!(fixture.management.next(fixture.now), None);
        fixture.management.interests().next().unwrap().1 == PollFlags::OUT
    });
    assert!(full);
    // When it reads again, it learns that messages were dropped.
    let mut heard = fixture.heard();
    assert!(heard.len() < 16 << 20);
    let told = (0..100).any(|_| {
        fixture.management.log(&Record { unix: 1, level: Level::Info, text: "end".into() });
        heard += &fixture.heard();
        heard.contains(" messages were dropped\r\n>LOG:1,I,end\r\n")
    });
    assert!(told);

    let given_up = (0..100).any(|_| {
        fill(&mut fixture);
        fixture.now += CLIENT_TIMEOUT * 2;
        fixture.management.next(fixture.now) == Some(Event::Disconnected)
    });
    assert!(given_up);
}

#[test]
fn endless_lines_and_arbitrary_bytes() {
    let mut fixture = connected(settings(true));
    fixture.client.write_all(&[b'a'; 10_000]).unwrap();
    assert_eq!(fixture.event(), Some(Event::Disconnected));
    let mut fixture = connected(settings(true));
    fixture.client.write_all(b"p\0i\x1bd\xff\n").unwrap();
    assert!(fixture.hears("\r\n").starts_with("SUCCESS: pid="));
    fixture.client.write_all(b"client-auth 1 1\n").unwrap();
    let lines = "x\n".repeat(1000);
    fixture.client.write_all(lines.as_bytes()).unwrap();
    assert_eq!(fixture.event(), Some(Event::Disconnected));
    // Commands of a client that then closes its sending side are still processed.
    let mut fixture = connected(settings(true));
    fixture.say("client-kill 4");
    fixture.client.shutdown(std::net::Shutdown::Write).unwrap();
    assert_eq!(fixture.event(), Some(Event::ClientKill { client: 4, message: None }));
    fixture.management.error("client-kill command failed");
    assert_eq!(fixture.event(), Some(Event::Disconnected));
    assert_eq!(fixture.hears("\r\n"), "ERROR: client-kill command failed\r\n");
}

#[test]
fn a_unix_socket() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("socket");
    let with = |user| {
        let endpoint = Endpoint::Unix { path: path.clone(), user, group: None };
        Management::listen(Settings { endpoint, ..settings(false) })
    };
    let me = rustix::process::geteuid().as_raw();
    let mut management = with(Some(me)).unwrap();
    assert!(with(None).is_err(), "the socket is in use");
    // A thread that forked meanwhile may hold the test connection open.
    let end = Instant::now() + LIMIT;
    while management.next(TICK) != Some(Event::Disconnected) {
        assert!(Instant::now() < end);
        std::thread::sleep(TICK);
    }
    let _client = UnixStream::connect(&path).unwrap();
    assert_eq!(management.next(TICK), Some(Event::Connected));
    drop(management);
    assert!(!path.exists());
    let mut management = with(Some(me + 1)).unwrap();
    let mut client = UnixStream::connect(&path).unwrap();
    assert_eq!(management.next(TICK), None);
    assert_eq!(client.read(&mut [0; 9]).unwrap(), 0);
    std::mem::forget(management);
    assert!(path.exists());
}

#[test]
fn the_certificates_of_tokens_are_listed_and_one_is_chosen() {
    for server in [false, true] {
        let mut fixture = connected(settings(server));
        fixture.say("pkcs11-id-count");
        assert_eq!(fixture.hears("\r\n"), ">PKCS11ID-COUNT:0\r\n");
        fixture.say("needstr pkcs11-id-request x");
        assert_eq!(fixture.hears("\r\n"), "ERROR: 'pkcs11-id-request' was not asked for\r\n");
        let certificates = vec![("a/b/c/d/01".into(), "AAEC".into())];
        fixture.management.offer_certificates(certificates);
        fixture.management.ask_string("pkcs11-id-request", "Please specify PKCS#11 id to use");
        assert_eq!(
            fixture.hears("\r\n"),
            ">NEED-STR:Need 'pkcs11-id-request' string MSG:Please specify PKCS#11 id to use\r\n"
        );
        for (command, answer) in [
            ("pkcs11-id-count", ">PKCS11ID-COUNT:1"),
            ("pkcs11-id-get 0", ">PKCS11ID-ENTRY:'0', ID:'a/b/c/d/01', BLOB:'AAEC'"),
            ("pkcs11-id-get 7", ">PKCS11ID-ENTRY:'7'"),
            ("pkcs11-id-get x", "ERROR: bad pkcs11-id-get parameter"),
            ("pkcs11-id-get", "ERROR: the 'pkcs11-id-get' command requires 1 parameter"),
        ] {
            fixture.say(command);
            assert_eq!(fixture.hears("\r\n"), format!("{answer}\r\n"));
        }
        fixture.say("needstr pkcs11-id-request a\\\\x20/01");
        assert_eq!(fixture.event(), Some(Event::NeedString("a\\x20/01".into())));
        assert_eq!(
            fixture.hears("\r\n"),
            "SUCCESS: 'pkcs11-id-request' needstr-string entered, but not yet verified\r\n"
        );
    }
}
