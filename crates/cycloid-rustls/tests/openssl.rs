//! Interoperability with the real `openssl s_client` and `s_server`.

mod support;

use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use cycloid_rustls::{ALL_GROUPS, X25519, default_provider};
use rustls::crypto::SupportedKxGroup;
use rustls::{
    ClientConfig, ClientConnection, HandshakeKind, NamedGroup, ProtocolVersion, ServerConfig,
    ServerConnection, Stream, SupportedCipherSuite,
};
use support::{
    Certificate, Shown, client_config, localhost, provider, server_config, version_flag,
};

/// A line, and its reversal by `s_server -rev`.
const SENT: &str = "cycloid\n";
const RETURNED: &str = "diolcyc\n";

/// The timeout for the other side.
const PATIENCE: Duration = Duration::from_secs(300);

/// A process that is ended when dropped.
struct Process(Child);

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn spawn(certificate: &Certificate, arguments: &str) -> Process {
    let child = Command::new("openssl")
        .args(arguments.split_whitespace())
        .current_dir(certificate.path("."))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("these tests need the command `openssl`: install the package openssl");
    Process(child)
}

/// Starts `s_server` and returns the port that it listens on.
fn s_server(certificate: &Certificate, arguments: &str) -> (Process, u16) {
    let arguments = format!(
        "s_server -accept 127.0.0.1:0 -naccept 1 -rev -cert leaf.pem -key leaf.key {arguments}"
    );
    let mut server = spawn(certificate, &arguments);
    let mut lines = BufReader::new(server.0.stdout.take().unwrap()).lines();
    let port = loop {
        let Some(line) = lines.next() else {
            let mut said = String::new();
            server.0.stderr.take().unwrap().read_to_string(&mut said).unwrap();
            panic!("openssl {arguments}: {said}");
        };
        let line = line.unwrap();
        let port = line.strip_prefix("ACCEPT ").and_then(|address| address.rsplit(':').next());
        if let Some(port) = port.and_then(|port| port.parse().ok()) {
            break port;
        }
    };
    // It continues to write, so its output must be read.
    thread::spawn(move || lines.map_while(Result::ok).for_each(drop));
    (server, port)
}

fn connected(stream: TcpStream) -> TcpStream {
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream.set_write_timeout(Some(PATIENCE)).unwrap();
    stream.set_nodelay(true).unwrap();
    stream
}

/// Returns the connection of a newly started client, which may end at once.
fn accepted(listener: &TcpListener, client: &mut Process) -> TcpStream {
    listener.set_nonblocking(true).unwrap();
    loop {
        match listener.accept() {
            Ok((stream, _)) => {
                stream.set_nonblocking(false).unwrap();
                return stream;
            }
            Err(error) => assert_eq!(error.kind(), ErrorKind::WouldBlock, "{error}"),
        }
        assert_eq!(client.0.try_wait().unwrap(), None, "the client ended");
        thread::sleep(Duration::from_millis(1));
    }
}

/// The negotiated parameters.
type Agreed = (SupportedCipherSuite, NamedGroup);

/// Runs our client, which sends a line to a server and receives it reversed.
fn our_client(config: &Arc<ClientConfig>, port: u16) -> Agreed {
    let mut tcp = connected(TcpStream::connect(("127.0.0.1", port)).unwrap());
    let mut tls = ClientConnection::new(Arc::clone(config), localhost()).unwrap();
    let mut stream = Stream::new(&mut tls, &mut tcp);
    stream.write_all(SENT.as_bytes()).unwrap();
    let mut answer = vec![0; RETURNED.len()];
    stream.read_exact(&mut answer).unwrap();
    assert_eq!(answer, RETURNED.as_bytes());
    let group = tls.negotiated_key_exchange_group().unwrap().name();
    (tls.negotiated_cipher_suite().unwrap(), group)
}

/// Runs our server, which receives a line from `s_client` and echoes it.
fn our_server(
    config: &Arc<ServerConfig>,
    certificate: &Certificate,
    arguments: &str,
    shown: Shown,
) -> Agreed {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    let arguments = format!(
        "s_client -connect 127.0.0.1:{port} -servername localhost -verify_hostname localhost \
         -CAfile ca.pem -verify_return_error -quiet {arguments}"
    );
    let mut client = spawn(certificate, &arguments);
    client.0.stdin.as_mut().unwrap().write_all(SENT.as_bytes()).unwrap();
    let mut tcp = connected(accepted(&listener, &mut client));
    let mut tls = ServerConnection::new(Arc::clone(config)).unwrap();
    let mut stream = Stream::new(&mut tls, &mut tcp);
    let mut line = vec![0; SENT.len()];
    if let Err(error) = stream.read_exact(&mut line) {
        let mut said = String::new();
        let _ = client.0.kill();
        client.0.stderr.take().unwrap().read_to_string(&mut said).unwrap();
        panic!("openssl {arguments}: {error}: {said}");
    }
    assert_eq!(line, SENT.as_bytes());
    stream.write_all(&line).unwrap();
    stream.conn.send_close_notify();
    stream.flush().unwrap();
    let mut answer = Vec::new();
    // It ends when it sees the end of our data.
    drop(client.0.stdin.take());
    match stream.read_to_end(&mut Vec::new()) {
        Ok(_) => {}
        Err(error) => assert!(
            matches!(error.kind(), ErrorKind::UnexpectedEof | ErrorKind::ConnectionReset),
            "{error}"
        ),
    }
    // It waits half a second for our end to close.
    drop(tcp);
    client.0.stdout.take().unwrap().read_to_end(&mut answer).unwrap();
    assert!(client.0.wait().unwrap().success(), "openssl {arguments}");
    assert_eq!(answer, SENT.as_bytes());
    let shown_by_client = tls.peer_certificates().is_some_and(|chain| !chain.is_empty());
    assert_eq!(shown_by_client, shown == Shown::ByBoth);
    let group = tls.negotiated_key_exchange_group().unwrap().name();
    (tls.negotiated_cipher_suite().unwrap(), group)
}

/// The groups that every OpenSSL version has.
fn classical() -> impl Iterator<Item = &'static dyn SupportedKxGroup> {
    ALL_GROUPS.iter().copied().filter(|group| group.usable_for_version(ProtocolVersion::TLSv1_2))
}

/// Runs handshakes with each compatible combination of certificate, suite and group.
fn each(
    test: &str,
    check: impl Fn(&Certificate, SupportedCipherSuite, &'static dyn SupportedKxGroup),
) {
    for certificate in Certificate::all(test) {
        for suite in default_provider().cipher_suites {
            if certificate.suits(suite.suite()) {
                classical().for_each(|group| check(&certificate, suite, group));
            }
        }
    }
}

#[test]
fn s_server_with_every_certificate_suite_and_group() {
    each("s_server", |certificate, suite, group| {
        let config = client_config(provider(suite, group), certificate, Shown::ByServer).unwrap();
        let (_server, port) = s_server(certificate, version_flag(suite));
        let agreed = our_client(&config, port);
        assert_eq!(agreed, (suite, group.name()), "{}", certificate.kind);
    });
}

#[test]
fn s_client_with_every_certificate_suite_and_group() {
    each("s_client", |certificate, suite, group| {
        let mut provider = provider(suite, group);
        provider.kx_groups.truncate(1);
        let config = server_config(provider, certificate, Shown::ByServer).unwrap();
        let flags = format!("{} -groups X25519:P-256:P-384:P-521", version_flag(suite));
        let agreed = our_server(&config, certificate, &flags, Shown::ByServer);
        assert_eq!(agreed, (suite, group.name()), "{}", certificate.kind);
    });
}

#[test]
fn client_certificates_on_both_sides() {
    for certificate in Certificate::all("clients") {
        for suite in default_provider().cipher_suites {
            if !certificate.suits(suite.suite()) {
                continue;
            }
            let provider = || provider(suite, X25519);
            let config = client_config(provider(), &certificate, Shown::ByBoth).unwrap();
            let flags =
                format!("{} -CAfile ca.pem -Verify 1 -verify_return_error", version_flag(suite));
            let (_server, port) = s_server(&certificate, &flags);
            assert_eq!(our_client(&config, port).0, suite, "{}", certificate.kind);

            let config = server_config(provider(), &certificate, Shown::ByBoth).unwrap();
            let flags = format!("{} -cert leaf.pem -key leaf.key", version_flag(suite));
            let agreed = our_server(&config, &certificate, &flags, Shown::ByBoth);
            assert_eq!(agreed.0, suite, "{}", certificate.kind);
        }
    }
}

#[cfg(feature = "post-quantum")]
#[test]
fn a_server_without_ml_kem_uses_the_x25519_share_of_the_first_flight() {
    let certificate = &Certificate::all("first-flight")[2];
    let mut provider = default_provider();
    provider.cipher_suites.retain(|suite| suite.tls13().is_some());
    let config = client_config(provider, certificate, Shown::ByServer).unwrap();
    for (groups, kind) in
        [("X25519:P-256", HandshakeKind::Full), ("P-384", HandshakeKind::FullWithHelloRetryRequest)]
    {
        let (_server, port) = s_server(certificate, &format!("-tls1_3 -groups {groups}"));
        let mut tcp = connected(TcpStream::connect(("127.0.0.1", port)).unwrap());
        let mut tls = ClientConnection::new(Arc::clone(&config), localhost()).unwrap();
        let mut stream = Stream::new(&mut tls, &mut tcp);
        stream.write_all(SENT.as_bytes()).unwrap();
        let mut answer = vec![0; RETURNED.len()];
        stream.read_exact(&mut answer).unwrap();
        assert_eq!(answer, RETURNED.as_bytes());
        assert_eq!(tls.handshake_kind(), Some(kind), "{groups}");
    }
}

#[test]
fn a_key_restricted_to_pss_signs_with_its_schemes() {
    for (kind, options) in [
        ("any", ""),
        (
            "sha256",
            "-pkeyopt rsa_pss_keygen_md:sha256 -pkeyopt rsa_pss_keygen_mgf1_md:sha256 \
             -pkeyopt rsa_pss_keygen_saltlen:32",
        ),
        (
            "sha512",
            "-pkeyopt rsa_pss_keygen_md:sha512 -pkeyopt rsa_pss_keygen_mgf1_md:sha512 \
             -pkeyopt rsa_pss_keygen_saltlen:20",
        ),
    ] {
        let certificate = Certificate::for_pss("pss-only", kind, options);
        let provider = || {
            let mut provider = default_provider();
            provider.cipher_suites.retain(|suite| suite.tls13().is_some());
            provider
        };
        // The certificate contains the file's key, which rustls checks.
        let config = server_config(provider(), &certificate, Shown::ByServer).unwrap();
        our_server(&config, &certificate, "-tls1_3", Shown::ByServer);

        let server = Certificate::all(&format!("pss-only-{kind}"));
        let server = &server[2];
        std::fs::copy(certificate.path("leaf.pem"), server.path("client.pem")).unwrap();
        std::fs::copy(certificate.path("ca.pem"), server.path("client-ca.pem")).unwrap();
        let builder = ClientConfig::builder_with_provider(Arc::new(provider()));
        let config = builder
            .with_protocol_versions(&[&rustls::version::TLS13])
            .unwrap()
            .with_root_certificates(server.roots())
            .with_client_auth_cert(certificate.chain(), certificate.key())
            .unwrap();
        let flags = "-tls1_3 -CAfile client-ca.pem -Verify 1 -verify_return_error";
        let (_server, port) = s_server(server, flags);
        our_client(&Arc::new(config), port);
    }
}
