//! TLS clients: clients with a certificate are served, and others cannot keep the daemon busy.

use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::PathBuf;
use std::process::Command;
use std::sync::{Arc, Barrier};
use std::thread;
use std::time::{Duration, Instant};

use rustls::{ClientConfig, ClientConnection, StreamOwned, SupportedProtocolVersion, version};

use super::{Keystore, OFFICER_PIN, USER_PIN, socket};
use crate::Code;
use crate::attribute::{Template, cka};
use crate::daemon::{Server, Settings, Tls};
use crate::mechanism::{Parameter, ckm};
use crate::rpc::tls::{ALPN, Identity, Remote, authorities, certificates, private_key};
use crate::rpc::{Bytes, Client, Mechanism, Request, Response, Role, Secret, VERSION, frame};

/// Certificates, made with `openssl`.
struct Certificates(tempfile::TempDir);

impl Certificates {
    fn new() -> Self {
        let certificates = Self(tempfile::tempdir().unwrap());
        let write = |name, text| std::fs::write(certificates.path(name), text).unwrap();
        write("server.ext", "subjectAltName = DNS:localhost\nextendedKeyUsage = serverAuth\n");
        write("client.ext", "subjectAltName = DNS:client\nextendedKeyUsage = clientAuth\n");
        for authority in ["ca", "stranger"] {
            certificates.openssl(&format!(
                "req -x509 -days 30 -nodes -newkey ec -pkeyopt ec_paramgen_curve:P-256 \
                 -subj /CN={authority} -keyout {authority}.key -out {authority}.pem"
            ));
        }
        certificates.make("server", "ca", "server", 30);
        certificates.make("anna", "ca", "client", 30);
        certificates.make("bert", "ca", "client", 30);
        certificates
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn openssl(&self, arguments: &str) {
        let output = Command::new("openssl")
            .args(arguments.split_whitespace())
            .current_dir(&self.0)
            .output()
            .expect("these tests need the command `openssl`: install the package openssl");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "openssl {arguments}: {said}");
    }

    fn make(&self, name: &str, authority: &str, usage: &str, days: i32) {
        self.openssl(&format!(
            "req -new -nodes -newkey ed25519 -subj /O=Office/CN={name} -keyout {name}.key -out {name}.csr"
        ));
        self.openssl(&format!(
            "x509 -req -in {name}.csr -CA {authority}.pem -CAkey {authority}.key -days {days} \
             -extfile {usage}.ext -out {name}.pem"
        ));
    }

    fn identity(&self, name: &str) -> Identity {
        Identity {
            certificate: self.path(&format!("{name}.pem")),
            key: self.path(&format!("{name}.key")),
            authorities: self.path("ca.pem"),
        }
    }
}

struct Bed {
    server: Server,
    certificates: Certificates,
    _keystore: Keystore,
}

impl Bed {
    fn new(handshake: Duration) -> Self {
        Self::with(handshake, Settings::default())
    }

    fn with(handshake: Duration, settings: Settings) -> Self {
        let (keystore, certificates) = (Keystore::new(), Certificates::new());
        let path = |name| certificates.path(name);
        let any = "127.0.0.1:0".parse().unwrap();
        let tls = Tls::new(any, &path("server.pem"), &path("server.key"), &path("ca.pem"));
        let mut tls = tls.unwrap();
        tls.handshake = handshake;
        let (socket, tls) = (socket(keystore.path()), Some(tls));
        let settings = Settings { socket, tls, ..settings };
        let server = Server::start(keystore.open(), settings).unwrap();
        Self { server, certificates, _keystore: keystore }
    }

    fn address(&self) -> SocketAddr {
        self.server.tls_address().unwrap()
    }

    fn client(&self, name: &str) -> crate::Result<Client> {
        let address = format!("localhost:{}", self.address().port());
        let remote = Remote::new(&address, &self.certificates.identity(name))?;
        Client::connect_tls(&remote, name)
    }

    fn user(&self, name: &str) -> Client {
        let client = self.client(name).unwrap();
        client.call(&Request::Login { role: Role::User, pin: Secret::new(USER_PIN) }).unwrap();
        client
    }

    /// Attempts a handshake as a client that may break the rules, sends a first request, and
    /// returns the daemon's answer.
    fn try_raw(
        &self,
        name: Option<&str>,
        version: &'static SupportedProtocolVersion,
    ) -> std::io::Result<Vec<u8>> {
        let mut stream = self.raw(name, version);
        let mut hello = Vec::new();
        let request = Request::Hello { version: VERSION, name: "raw".into() };
        frame::write(1, &mut hello, |to| request.write(to));
        stream.write_all(&hello)?;
        stream.flush()?;
        let mut answer = [0; 100];
        let length = stream.read(&mut answer)?;
        Ok(answer[..length].to_vec())
    }

    fn raw(
        &self,
        name: Option<&str>,
        version: &'static SupportedProtocolVersion,
    ) -> StreamOwned<ClientConnection, TcpStream> {
        let roots = authorities(&self.certificates.path("ca.pem")).unwrap();
        let builder =
            ClientConfig::builder_with_provider(cycloid_rustls::default_provider().into())
                .with_protocol_versions(&[version])
                .unwrap()
                .with_root_certificates(roots);
        let mut config = match name.map(|name| self.certificates.identity(name)) {
            None => builder.with_no_client_auth(),
            Some(identity) => builder
                .with_client_auth_cert(
                    certificates(&identity.certificate).unwrap(),
                    private_key(&identity.key).unwrap(),
                )
                .unwrap(),
        };
        config.alpn_protocols = vec![ALPN.to_vec()];
        let name = "localhost".try_into().unwrap();
        let connection = ClientConnection::new(Arc::new(config), name).unwrap();
        let stream = TcpStream::connect(self.address()).unwrap();
        stream.set_read_timeout(Some(PATIENT)).unwrap();
        StreamOwned::new(connection, stream)
    }

    /// Asserts that the daemon serves a client with a certificate.
    fn check(&self) {
        let Response::Text { .. } = self.client("anna").unwrap().call(&Request::Status {}).unwrap()
        else {
            panic!("another answer")
        };
    }
}

/// A time limit for the slowest machine.
const PATIENT: Duration = Duration::from_secs(300);

fn pair(client: &Client) -> (u64, u64) {
    let mut private = Template::new();
    private.set_bool(cka::TOKEN, true);
    let mut public = private.clone();
    public.set(cka::EC_PARAMS, [6, 8, 0x2a, 0x86, 0x48, 0xce, 0x3d, 3, 1, 7]);
    let mechanism = Mechanism { number: ckm::EC_KEY_PAIR_GEN, parameter: Parameter::None };
    match client.call(&Request::GeneratePair { mechanism, public, private }).unwrap() {
        Response::Pair { public, private } => (public, private),
        other => panic!("{other:?}"),
    }
}

fn sign_and_verify(client: &Client, (public, private): (u64, u64), message: &[u8]) {
    let mechanism = Mechanism { number: ckm::ECDSA_SHA256, parameter: Parameter::None };
    let (data, digested) = (Bytes(message.to_vec()), false);
    let request =
        Request::Sign { key: private, mechanism: mechanism.clone(), data: data.clone(), digested };
    let Response::Data { data: signature } = client.call(&request).unwrap() else {
        panic!("another answer")
    };
    let signature = Bytes(signature.to_vec());
    let verify = Request::Verify { key: public, mechanism, data, digested, signature };
    client.call(&verify).unwrap();
}

/// Memory is shared with programs on this machine alone.
#[test]
fn a_slot_is_refused_over_tls() {
    let bed = Bed::new(PATIENT);
    let anna = bed.user("anna");
    for _ in 0..2 {
        let refused = anna.call(&Request::Share {}).unwrap_err();
        assert_eq!(refused.code, Code::FUNCTION_NOT_SUPPORTED);
        // The connection is as good as before.
        sign_and_verify(&anna, pair(&anna), b"message");
    }
}

#[test]
fn a_client_with_a_certificate_is_served_and_named_in_the_log() {
    let bed = Bed::new(PATIENT);
    let anna = bed.user("anna");
    let keys = pair(&anna);
    thread::scope(|scope| {
        for thread in 0..8 {
            let anna = &anna;
            scope.spawn(move || {
                for count in 0..20 {
                    sign_and_verify(anna, keys, format!("{thread} {count}").as_bytes());
                }
            });
        }
    });
    // The longest possible message, and then a longer one.
    sign_and_verify(&anna, keys, &vec![7; frame::MAX_LENGTH - 200]);
    let mechanism = Mechanism { number: ckm::ECDSA_SHA256, parameter: Parameter::None };
    let data = Bytes(vec![7; frame::MAX_LENGTH]);
    let long = anna.call(&Request::Sign { key: keys.1, mechanism, data, digested: false });
    assert_eq!(long.unwrap_err().code, Code::DATA_LEN_RANGE);
    sign_and_verify(&anna, keys, b"still served");

    let officer = bed.client("anna").unwrap();
    let pin = Secret::new(OFFICER_PIN);
    officer.call(&Request::Login { role: Role::SecurityOfficer, pin }).unwrap();
    let log = officer.call(&Request::Audit { from: 1, limit: 100 }).unwrap();
    let Response::Audit { entries } = log else { panic!("{log:?}") };
    let named = |who: &str| who.contains("certificate CN=anna,O=Office sha256:");
    assert!(entries.iter().any(|entry| named(&entry.who) && entry.what == "login"), "{entries:?}");
    assert!(!anna.is_lost());
    bed.server.stop();
    let start = Instant::now();
    while !anna.is_lost() {
        assert!(start.elapsed() < PATIENT);
        thread::sleep(Duration::from_millis(10));
    }
    assert_eq!(anna.call(&Request::Status {}).unwrap_err().code, Code::DEVICE_REMOVED);
}

#[test]
fn a_ticket_is_useless_with_another_certificate() {
    let bed = Bed::new(PATIENT);
    let ask = |stream: &mut StreamOwned<ClientConnection, TcpStream>, request: &Request| {
        let mut bytes = Vec::new();
        frame::write(1, &mut bytes, |to| request.write(to));
        stream.write_all(&bytes).unwrap();
        stream.flush().unwrap();
        let mut input = Vec::new();
        loop {
            if let Some(frame) = frame::read(&input).unwrap() {
                return Response::read(frame.message).unwrap();
            }
            let mut byte = [0];
            stream.read_exact(&mut byte).unwrap();
            input.extend(byte);
        }
    };
    let mut first = bed.raw(Some("anna"), &version::TLS13);
    let hello = Request::Hello { version: VERSION, name: "anna".into() };
    let Response::Welcome { ticket, .. } = ask(&mut first, &hello) else { panic!("not welcome") };
    let attach = Request::Attach { version: VERSION, ticket };
    let mut other = bed.raw(Some("bert"), &version::TLS13);
    let refused = ask(&mut other, &attach);
    assert!(
        matches!(refused, Response::Refused { code, .. } if Code(code) == Code::SESSION_CLOSED)
    );
    let mut same = bed.raw(Some("anna"), &version::TLS13);
    assert!(matches!(ask(&mut same, &attach), Response::Welcome { .. }));
}

#[test]
fn a_client_without_a_valid_certificate_is_refused() {
    let bed = Bed::new(PATIENT);
    assert!(bed.try_raw(Some("anna"), &version::TLS13).is_ok_and(|answer| !answer.is_empty()));
    bed.certificates.make("foreign", "stranger", "client", 30);
    bed.certificates.make("expired", "ca", "client", -1);
    bed.certificates.make("serving", "ca", "server", 30);
    // A self-signed certificate.
    bed.certificates.openssl(
        "req -x509 -days 30 -nodes -newkey ed25519 -subj /CN=itself -keyout itself.key -out itself.pem",
    );
    for name in [None, Some("foreign"), Some("expired"), Some("serving"), Some("itself")] {
        let answer = bed.try_raw(name, &version::TLS13);
        assert!(answer.is_err(), "{name:?}: {answer:?}");
        if let Some(name) = name {
            assert_eq!(bed.client(name).unwrap_err().code, Code::DEVICE_REMOVED, "{name}");
        }
    }
    assert!(bed.try_raw(Some("anna"), &version::TLS12).is_err(), "an earlier version");
    bed.check();
}

#[test]
fn a_client_refuses_a_daemon_with_the_wrong_certificate() {
    let bed = Bed::new(PATIENT);
    let mut identity = bed.certificates.identity("anna");
    let address = |host| format!("{host}:{}", bed.address().port());
    // The certificate names another host.
    let remote = Remote::new(&address("127.0.0.1"), &identity).unwrap();
    assert_eq!(Client::connect_tls(&remote, "x").unwrap_err().code, Code::DEVICE_REMOVED);
    identity.authorities = bed.certificates.path("stranger.pem");
    let remote = Remote::new(&address("localhost"), &identity).unwrap();
    assert_eq!(Client::connect_tls(&remote, "x").unwrap_err().code, Code::DEVICE_REMOVED);

    for wrong in ["localhost", "localhost:", "localhost:x", ":1", "a b:1", "localhost:99999"] {
        assert_eq!(Remote::new(wrong, &identity).unwrap_err().code, Code::ARGUMENTS_BAD, "{wrong}");
    }
    for file in ["nothing", "anna.key", "anna.csr"] {
        let certificate = bed.certificates.path(file);
        let wrong = Identity { certificate, ..identity.clone() };
        let error = Remote::new("localhost:1", &wrong).unwrap_err();
        assert_eq!(error.code, Code::ARGUMENTS_BAD, "{file}");
        assert!(error.detail.contains(file), "{error}");
    }
    let key = bed.certificates.path("server.key");
    let other_key = Remote::new("localhost:1", &Identity { key, ..identity });
    assert_eq!(other_key.unwrap_err().code, Code::ARGUMENTS_BAD);
}

/// Returns the first message of a client.
fn client_hello(bed: &Bed) -> Vec<u8> {
    let mut connection = bed.raw(Some("anna"), &version::TLS13).conn;
    let mut hello = Vec::new();
    connection.write_tls(&mut hello).unwrap();
    hello
}

/// Waits for the other end to hang up, ignoring what it sends before.
fn is_hung_up_on(stream: &mut TcpStream) -> bool {
    stream.set_read_timeout(Some(PATIENT)).unwrap();
    loop {
        match stream.read(&mut [0; 1000]) {
            Ok(0) => return true,
            Ok(_) => {}
            Err(error) => {
                return !matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut);
            }
        }
    }
}

#[test]
fn malformed_tls_is_hung_up_on() {
    let bed = Bed::new(PATIENT);
    let mut plain = Vec::new();
    let hello = Request::Hello { version: VERSION, name: "plain".into() };
    frame::write(1, &mut plain, |to| hello.write(to));
    let mut records = vec![
        plain,
        b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n".to_vec(),
        vec![0; 5000],
        vec![0xff; 5000],
        // A record that is too long.
        [&[0x16, 3, 1, 0xff, 0xff][..], &[1; 5000]].concat(),
    ];
    // A wrong length of the message, a wrong length of the session id, and a wrong record type.
    let sound = client_hello(&bed);
    for (at, value) in [(6, 0xff), (43, 0xff), (0, 0x17)] {
        let mut changed = sound.clone();
        changed[at] = value;
        records.push(changed);
    }
    for record in records {
        let mut stream = TcpStream::connect(bed.address()).unwrap();
        // The daemon may hang up before everything is sent.
        let _ = stream.write_all(&record);
        assert!(is_hung_up_on(&mut stream), "{:?}", &record[..20]);
    }
    bed.check();
}

#[test]
fn an_aborted_handshake_leaves_no_connection() {
    let bed = Bed::new(PATIENT);
    let hello = client_hello(&bed);
    for length in (0..=hello.len()).step_by(7) {
        let mut stream = TcpStream::connect(bed.address()).unwrap();
        stream.write_all(&hello[..length]).unwrap();
        if length % 2 == 0 {
            stream.shutdown(std::net::Shutdown::Write).unwrap();
            assert!(is_hung_up_on(&mut stream), "{length}");
        }
    }
    bed.check();
    wait_for(&bed, 0);
}

/// Waits until there are `others` connections besides the one that asks.
fn wait_for(bed: &Bed, others: usize) {
    let client = bed.client("anna").unwrap();
    let start = Instant::now();
    loop {
        let metrics = client.call(&Request::Metrics {}).unwrap();
        let Response::Text { text } = metrics else { panic!("{metrics:?}") };
        let line = text.lines().find_map(|line| line.strip_prefix("cycloid_hsm_connections "));
        let count: usize = line.unwrap().parse().unwrap();
        if count == others + 1 {
            return;
        }
        assert!(start.elapsed() < PATIENT, "{count} connections are open");
        thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn slow_clients_do_not_block_others() {
    // Long enough for honest clients on a busy machine.
    let bed = Bed::new(Duration::from_secs(10));
    let user = bed.user("anna");
    let keys = pair(&user);
    let hello = client_hello(&bed);
    let mut slow = Vec::new();
    for at in 0..200 {
        let mut stream = TcpStream::connect(bed.address()).unwrap();
        // A slow client sends a byte now and then, until the daemon hangs up.
        let _ = stream.write_all(&hello[..=at % 40]);
        slow.push(stream);
        if at % 20 == 0 {
            sign_and_verify(&user, keys, b"known");
            sign_and_verify(&bed.user("anna"), keys, b"new");
        }
    }
    for stream in &mut slow {
        let _ = stream.write_all(&[0]);
        assert!(is_hung_up_on(stream));
    }
    sign_and_verify(&user, keys, b"known");
    wait_for(&bed, 1);
}

#[test]
fn one_user_with_all_connections_keeps_nobody_out() {
    let most_connections = 8;
    let bed = Bed::with(PATIENT, Settings { most_connections, ..Settings::default() });
    let served = |client: &Client| client.call(&Request::Status {}).is_ok();
    let many = || (0..2 * most_connections).map(|_| bed.client("anna").unwrap()).collect();
    let first: Vec<Client> = many();
    let bert = bed.client("bert").unwrap();
    assert!(served(&bert));
    let second: Vec<Client> = many();
    assert!(served(&bert));
    let annas = first.iter().chain(&second).filter(|client| served(client)).count();
    assert!((1..=most_connections + 1).contains(&annas), "{annas}");
    assert!(served(second.last().unwrap()));
}

#[test]
fn a_client_that_does_not_read_is_paused_and_loses_no_answer() {
    let bed = Bed::new(PATIENT);
    let mut stream = bed.raw(Some("anna"), &version::TLS13);
    let mut requests = Vec::new();
    let hello = Request::Hello { version: VERSION, name: "greedy".into() };
    frame::write(0, &mut requests, |to| hello.write(to));
    const COUNT: u32 = 400;
    const LENGTH: u32 = 60_000;
    for identifier in 1..=COUNT {
        frame::write(identifier, &mut requests, |to| Request::Random { length: LENGTH }.write(to));
    }
    stream.write_all(&requests).unwrap();
    stream.flush().unwrap();
    thread::sleep(Duration::from_millis(300));
    bed.check();
    let mut input = Vec::new();
    let mut answered = std::collections::BTreeSet::new();
    while answered.len() <= COUNT as usize {
        let mut more = [0; 16_384];
        let count = stream.read(&mut more).unwrap();
        assert_ne!(count, 0);
        input.extend_from_slice(&more[..count]);
        let mut taken = 0;
        while let Some(frame) = frame::read(&input[taken..]).unwrap() {
            assert!(answered.insert(frame.identifier), "two answers to {}", frame.identifier);
            match Response::read(frame.message).unwrap() {
                Response::Welcome { .. } => assert_eq!(frame.identifier, 0),
                Response::Data { data } => assert_eq!(data.len(), LENGTH as usize),
                other => panic!("{other:?}"),
            }
            taken += frame.length;
        }
        input.drain(..taken);
    }
    assert_eq!(answered.last(), Some(&COUNT));
}

#[test]
fn failures_are_said_in_words() {
    let bed = Bed::new(Duration::from_secs(10));
    bed.certificates.make("stray", "stranger", "client", 30);
    bed.certificates.make("old", "ca", "client", -1);
    let refused = |change: &dyn Fn(&mut Identity)| {
        let mut identity = bed.certificates.identity("anna");
        change(&mut identity);
        let address = format!("localhost:{}", bed.address().port());
        let client = Remote::new(&address, &identity)
            .and_then(|remote| Client::connect_tls(&remote, "anna").map(drop));
        client.unwrap_err().detail
    };
    let path = |name: &str| bed.certificates.path(name);
    let failed =
        format!("TLS has failed with the daemon at tls://localhost:{}", bed.address().port());
    assert_eq!(
        refused(&|it| it.authorities = path("stranger.pem")),
        format!("{failed}: no known authority has issued the peer's certificate")
    );
    assert_eq!(
        refused(&|it| (it.certificate, it.key) = (path("stray.pem"), path("stray.key"))),
        format!("{failed}: the peer does not trust the authority of this end's certificate")
    );
    assert_eq!(
        refused(&|it| (it.certificate, it.key) = (path("old.pem"), path("old.key"))),
        format!("{failed}: the peer says that this end's certificate has expired")
    );
    let key = path("bert.key");
    assert_eq!(
        refused(&|it| it.key = key.clone()),
        format!("{}: the private key is not that of the certificate", key.display())
    );
    let pem = path("anna.pem");
    assert_eq!(
        refused(&|it| it.key = pem.clone()),
        format!("{}: no private key in the file", pem.display())
    );
    let (any, pem) = ("127.0.0.1:0".parse().unwrap(), path("server.pem"));
    let tls = Tls::new(any, &pem, &key, &path("ca.pem")).unwrap_err();
    assert!(tls.detail.ends_with("bert.key: the private key is not that of the certificate"));
}

/// Their attempts count as wrong until they are judged, and share a budget of thirty.
#[test]
fn strangers_that_log_in_at_once_do_not_lock_each_other_out() {
    const STRANGERS: usize = 60;
    let bed = Bed::new(PATIENT);
    let names: Vec<String> = (0..STRANGERS).map(|number| format!("stranger-{number}")).collect();
    names.iter().for_each(|name| bed.certificates.make(name, "ca", "client", 30));
    let clients: Vec<Client> = names.iter().map(|name| bed.client(name).unwrap()).collect();
    let start = Barrier::new(STRANGERS);
    let log_in = |client: &Client| {
        start.wait();
        let pin = Secret::new(USER_PIN);
        client.call(&Request::Login { role: Role::User, pin }).map_err(|error| error.code)
    };
    let answers: Vec<_> = thread::scope(|scope| {
        let threads: Vec<_> = clients.iter().map(|client| scope.spawn(|| log_in(client))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert_eq!(answers, vec![Ok(Response::Done {}); STRANGERS]);
}

#[test]
fn wrong_pins_of_strangers_do_not_keep_out_whoever_has_changed_the_pin() {
    const NEW_PIN: &[u8] = b"another pin";
    let bed = Bed::new(PATIENT);
    let pin = |pin: &[u8]| Secret::new(pin);
    let change = Request::SetPin { old: pin(USER_PIN), new: pin(NEW_PIN) };
    bed.user("anna").call(&change).unwrap();
    // Each has three attempts without a delay, and together they have thirty.
    let log_in = |name: &str, pin| {
        let request = Request::Login { role: Role::User, pin };
        bed.client(name).unwrap().call(&request).map(drop).map_err(|error| error.code)
    };
    for number in 0..10 {
        let name = format!("stranger-{number}");
        bed.certificates.make(&name, "ca", "client", 30);
        for _ in 0..3 {
            assert_eq!(log_in(&name, pin(USER_PIN)), Err(Code::PIN_INCORRECT));
        }
    }
    assert_eq!(log_in("bert", pin(NEW_PIN)), Err(Code::PIN_LOCKED));
    assert_eq!(log_in("anna", pin(NEW_PIN)), Ok(()));
}
