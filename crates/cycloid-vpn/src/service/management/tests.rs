use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::time::Instant;

use super::*;
use crate::service::log::{Level, Record};
use crate::service::signals::Signal;

const TICK: Duration = Duration::from_millis(1);

/// How long what is sure to come may take.
const LIMIT: Duration = Duration::from_secs(60);

/// An interface, a client of it, and a clock.
struct Bed {
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

fn bed(settings: Settings) -> Bed {
    let management = Management::listen(settings).unwrap();
    // A fixed buffer, which the kernel does not enlarge for a client that does not read.
    let client = socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::STREAM, None).unwrap();
    client.set_recv_buffer_size(16_384).unwrap();
    // Small writes do not wait for each other.
    client.set_tcp_nodelay(true).unwrap();
    client.connect(&management.address().unwrap().into()).unwrap();
    client.set_nonblocking(true).unwrap();
    let client = client.into();
    Bed { management, client, now: Duration::ZERO }
}

fn connected(settings: Settings) -> Bed {
    let mut bed = bed(settings);
    assert_eq!(bed.event(), Some(Event::Connected));
    let welcome = ">INFO:OpenVPN Management Interface Version 5 -- type 'help' for more info\r\n";
    assert!(bed.hears(welcome).starts_with(welcome));
    bed
}

impl Bed {
    fn say(&mut self, line: &str) {
        self.client.write_all(format!("{line}\r\n").as_bytes()).unwrap();
    }

    /// The next event, after the bytes that are under way have come.
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

    /// Whether there is no event within a moment.
    fn is_quiet(&mut self) -> bool {
        (0..50).all(|_| {
            std::thread::sleep(TICK);
            self.now += TICK;
            self.management.next(self.now).is_none()
        })
    }

    /// All that is heard up to these words, or within the limit.
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

    /// Says a line that the interface answers by itself; the answer's lines, joined by `|`.
    fn answer(&mut self, line: &str) -> String {
        const LAST: &str = "SUCCESS: real-time echo notification set to OFF\r\n";
        self.say(line);
        // It answers in order, so this says that the answer is whole.
        self.say("echo off");
        let heard = self.hears(LAST);
        let answer = heard.strip_suffix(LAST).unwrap_or_else(|| panic!("{line}: {heard}"));
        answer.replace("\r\n", "|").trim_end_matches('|').to_owned()
    }
}

#[test]
fn what_the_interface_answers_itself() {
    let mut bed = connected(settings(false));
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
        assert_eq!(bed.answer(line), answer, "{line}");
    }
    let help = bed.answer("help");
    for line in ["Management Interface for OpenVPN x|Commands:|", "|bytecount n ", "|END"] {
        assert!(help.contains(line), "{help}");
    }
}

#[test]
fn what_the_control_thread_has_to_do() {
    let mut bed = connected(settings(true));
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
        bed.say(line);
        let found = bed.event().unwrap();
        assert_eq!(found, event);
        if found.needs_reply() {
            bed.management.success("done");
        }
        assert!(bed.hears("\r\n").starts_with("SUCCESS: "), "{line}");
    }
    bed.say("kill 1.2.3:x");
    assert_eq!(bed.hears("\r\n"), "ERROR: error parsing IP address: 1.2.3:x\r\n");
    // The next command waits for the answer to the one before it.
    bed.say("status 1\npid\nkill a");
    assert_eq!(bed.event(), Some(Event::Status(Some(status::Version::One))));
    bed.management.lines("a\nb\nEND\n");
    assert_eq!(bed.event(), Some(Event::Kill(Target::Name("a".into()))));
    let last = "ERROR: the command is not supported by the current daemon mode\r\n";
    let heard = bed.hears(last);
    assert!(heard.starts_with("a\r\nb\r\nEND\r\nSUCCESS: pid="), "{heard}");
    assert!(heard.ends_with(last));
}

#[test]
fn news_as_asked_for() {
    let mut bed = connected(settings(false));
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
    bed.management.state(&connecting);
    assert_eq!(bed.answer("state"), "1,CONNECTING,,,,,,|END");
    assert_eq!(
        bed.answer("state on all"),
        "SUCCESS: real-time state notification set to ON|1,CONNECTING,,,,,,|END"
    );
    bed.management.state(&change);
    let line = "1795290013,CONNECTED,SUCCESS,10.88.0.2,127.0.0.1,11940,,,fd77::1000";
    assert_eq!(bed.hears("\r\n"), format!(">STATE:{line}\r\n"));
    assert_eq!(bed.answer("state 1"), format!("{line}|END"));

    for number in 0..5 {
        let text = format!("line {number}");
        bed.management.log(&Record { unix: number, level: Level::Warning, text });
    }
    assert_eq!(bed.answer("log 2"), "3,W,line 3|4,W,line 4|END");
    assert_eq!(bed.answer("log all"), "2,W,line 2|3,W,line 3|4,W,line 4|END");
    bed.answer("log on");
    bed.management.log(&Record { unix: 9, level: Level::Info, text: "x".into() });
    assert_eq!(bed.hears("\r\n"), ">LOG:9,I,x\r\n");
    bed.management.echo(7, "forget\r\n>FAKE");
    assert_eq!(bed.answer("echo all"), "7,forget__>FAKE|END");

    bed.answer("bytecount 5");
    assert!(bed.management.bytecount_is_due(Duration::from_secs(10)));
    bed.management.bytecount(2368, 2210);
    assert!(!bed.management.bytecount_is_due(Duration::from_secs(14)));
    assert_eq!(bed.management.deadline(), Some(Duration::from_secs(15)));
    assert_eq!(bed.hears("\r\n"), ">BYTECOUNT:2368,2210\r\n");

    let environment = [("common_name", "a\n>CLIENT:ENV,END"), ("n", "1")];
    bed.management.client(ClientNews::Connect(3, 1), environment);
    assert_eq!(
        bed.hears("n=1\r\n>CLIENT:ENV,END\r\n"),
        ">CLIENT:CONNECT,3,1\r\n>CLIENT:ENV,common_name=a_>CLIENT:ENV,END\r\n\
         >CLIENT:ENV,n=1\r\n>CLIENT:ENV,END\r\n"
    );
}

#[test]
fn holding_and_asking_outlast_the_client() {
    let mut bed = connected(Settings { hold: true, ..settings(false) });
    assert!(bed.management.hold(10));
    assert_eq!(bed.hears("\r\n"), ">HOLD:Waiting for hold release:10\r\n");
    bed.say("quit");
    assert_eq!(bed.event(), Some(Event::Disconnected));
    bed.client = TcpStream::connect(bed.management.address().unwrap()).unwrap();
    bed.client.set_nonblocking(true).unwrap();
    bed.client.set_nodelay(true).unwrap();
    assert_eq!(bed.event(), Some(Event::Connected));
    let holding = ">HOLD:Waiting for hold release:10\r\n";
    assert!(bed.hears(holding).ends_with(holding));
    bed.say("hold release");
    assert_eq!(bed.event(), Some(Event::Released));
    let challenge = Some(("Please enter token PIN".to_owned(), true));
    bed.management.ask(Query { kind: "Auth".into(), username: true, challenge });
    let question = ">PASSWORD:Need 'Auth' username/password SC:1,Please enter token PIN\r\n";
    let heard = bed.hears(question);
    assert_eq!(heard, format!("SUCCESS: hold release succeeded\r\n{question}"));
    assert!(bed.answer("password Auth x").starts_with("ERROR: "));
    assert!(bed.answer("username Other x").starts_with("ERROR: "));
    assert_eq!(
        bed.answer("username \"Auth\" \"us er\""),
        "SUCCESS: 'Auth' username entered, but not yet verified"
    );
    bed.say(r#"password "Auth" "pa\"ss""#);
    let credentials = Event::Credentials {
        kind: "Auth".into(),
        username: Some("us er".into()),
        password: Zeroizing::new("pa\"ss".into()),
    };
    assert_eq!(bed.event(), Some(credentials));
    let entered = "password entered, but not yet verified\r\n";
    assert!(bed.hears(entered).ends_with(entered));
    bed.management.refused("Auth", Some("CRV1:R,E:x"));
    assert_eq!(bed.hears("\r\n"), ">PASSWORD:Verification Failed: 'Auth' ['CRV1:R,E:x']\r\n");
}

#[test]
fn a_password_comes_first() {
    let with_password = || Settings {
        password: Some(Zeroizing::new("secret".into())),
        hold: true,
        ..settings(false)
    };
    let mut bed = bed(with_password());
    let prompt = "ENTER PASSWORD:";
    assert_eq!(bed.hears(prompt), prompt);
    bed.management.hold(1);
    bed.management.fatal("unheard");
    bed.say("pid");
    assert_eq!(bed.hears(prompt), format!("ERROR: bad password\r\n{prompt}"));
    bed.say("secret");
    assert_eq!(bed.event(), Some(Event::Connected));
    let holding = ">HOLD:Waiting for hold release:1\r\n";
    let heard = bed.hears(holding);
    assert!(heard.starts_with("SUCCESS: password is correct\r\n>INFO:"), "{heard}");
    assert!(heard.ends_with(holding));

    let mut bed = self::bed(with_password());
    bed.say("a\nb\nsecre\nsecret");
    assert!(bed.is_quiet());
    let refusal = "ERROR: bad password\r\n";
    assert!(bed.hears(refusal).ends_with(refusal));
    assert!(bed.management.connection.is_none());

    // Who says nothing is in the way of others for half a minute.
    let mut bed = self::bed(with_password());
    assert!(bed.is_quiet());
    let deadline = bed.management.deadline().unwrap();
    assert_eq!(bed.management.next(deadline - TICK), None);
    assert!(bed.management.connection.is_some());
    assert_eq!(bed.management.next(deadline), None);
    assert!(bed.management.connection.is_none());
}

#[test]
fn a_client_that_does_not_read_costs_little() {
    let mut bed = connected(settings(true));
    bed.say("log on");
    assert!(bed.hears("\r\n").starts_with("SUCCESS"));
    let text = "x".repeat(10_000);
    let fill = |bed: &mut Bed| {
        for unix in 0..5_000 {
            bed.management.log(&Record { unix, level: Level::Info, text: text.clone() });
            let _ = bed.management.next(bed.now);
            if unix % 100 == 0 {
                std::thread::sleep(TICK);
            }
        }
    };
    fill(&mut bed);
    // It may send what it likes: once the kernel's buffers are full too, nothing is taken.
    for _ in 0..100_000 {
        if bed.client.write(b"help\n").is_err() {
            break;
        }
    }
    let full = (0..100).any(|_| {
        fill(&mut bed);
        assert_eq!(bed.management.next(bed.now), None);
        bed.management.interests().next().unwrap().1 == PollFlags::OUT
    });
    assert!(full);
    // Once it reads, it hears that something was left out.
    let mut heard = bed.heard();
    assert!(heard.len() < 16 << 20);
    let told = (0..100).any(|_| {
        bed.management.log(&Record { unix: 1, level: Level::Info, text: "end".into() });
        heard += &bed.heard();
        heard.contains(" messages were left out\r\n>LOG:1,I,end\r\n")
    });
    assert!(told);

    let given_up = (0..100).any(|_| {
        fill(&mut bed);
        bed.now += PATIENCE * 2;
        bed.management.next(bed.now) == Some(Event::Disconnected)
    });
    assert!(given_up);
}

#[test]
fn lines_without_end_and_bytes_of_any_kind() {
    let mut bed = connected(settings(true));
    bed.client.write_all(&[b'a'; 10_000]).unwrap();
    assert_eq!(bed.event(), Some(Event::Disconnected));
    let mut bed = connected(settings(true));
    bed.client.write_all(b"p\0i\x1bd\xff\n").unwrap();
    assert!(bed.hears("\r\n").starts_with("SUCCESS: pid="));
    bed.client.write_all(b"client-auth 1 1\n").unwrap();
    let lines = "x\n".repeat(1000);
    bed.client.write_all(lines.as_bytes()).unwrap();
    assert_eq!(bed.event(), Some(Event::Disconnected));
    // A client that says what it wants and hangs up is served.
    let mut bed = connected(settings(true));
    bed.say("client-kill 4");
    bed.client.shutdown(std::net::Shutdown::Write).unwrap();
    assert_eq!(bed.event(), Some(Event::ClientKill { client: 4, message: None }));
    bed.management.error("client-kill command failed");
    assert_eq!(bed.event(), Some(Event::Disconnected));
    assert_eq!(bed.hears("\r\n"), "ERROR: client-kill command failed\r\n");
}

#[test]
fn a_socket_in_the_file_system() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("socket");
    let with = |user| {
        let endpoint = Endpoint::Unix { path: path.clone(), user, group: None };
        Management::listen(Settings { endpoint, ..settings(false) })
    };
    let me = rustix::process::geteuid().as_raw();
    let mut management = with(Some(me)).unwrap();
    assert!(with(None).is_err(), "somebody listens there");
    // Another thread that forked meanwhile may hold the connection that was tried.
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
