//! Tests profiles with the installed OpenVPN, in a separate network namespace.

use std::fs;
use std::io::{BufRead, BufReader};
use std::net::Ipv4Addr;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::*;
use crate::config::{self, ControlKey, Profile};
use crate::proto::Transport;

fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs()
}

/// A network namespace in which OpenVPN may create devices.
struct Network {
    holder: Child,
}

impl Network {
    fn new() -> Self {
        let holder = Command::new("unshare")
            .args(["--map-root-user", "--net", "sleep", "600"])
            .spawn()
            .expect("unshare is installed");
        let network = Self { holder };
        // The namespace and its user mapping are ready once `unshare` has executed its command.
        let name = format!("/proc/{}/comm", network.holder.id());
        let end = std::time::Instant::now() + Duration::from_secs(60);
        while fs::read_to_string(&name).unwrap() != "sleep\n" {
            assert!(std::time::Instant::now() < end, "unshare cannot create a network namespace");
            std::thread::sleep(Duration::from_millis(10));
        }
        let up = network.command("ip").args(["link", "set", "lo", "up"]).status();
        assert!(up.expect("ip is installed").success());
        network
    }

    /// Returns a command that runs in this namespace.
    fn command(&self, program: &str) -> Command {
        let mut command = Command::new("nsenter");
        command.args(["--target", &self.holder.id().to_string(), "--user", "--net"]);
        command.args(["--preserve-credentials", program]);
        command
    }
}

impl Drop for Network {
    fn drop(&mut self) {
        let _ = self.holder.kill();
        let _ = self.holder.wait();
    }
}

/// A running OpenVPN and its output lines.
struct Running {
    child: Child,
    lines: Receiver<String>,
}

impl Running {
    fn start(network: &Network, directory: &Path, profile: &str) -> Self {
        let mut child = network
            .command("openvpn")
            .args(["--cd", directory.to_str().unwrap(), "--config", profile])
            .args(["--ifconfig-noexec", "--route-noexec", "--disable-dco", "--verb", "3"])
            .stdout(Stdio::piped())
            .stdin(Stdio::null())
            .spawn()
            .expect("nsenter is installed");
        let output = BufReader::new(child.stdout.take().unwrap());
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            for line in output.lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    break;
                }
            }
        });
        Self { child, lines }
    }

    /// Waits for a line that contains one of the texts and returns the text's index. Panics with
    /// all lines if none comes.
    fn wait_for(&self, texts: &[&str]) -> usize {
        let mut all = String::new();
        loop {
            match self.lines.recv_timeout(Duration::from_secs(60)) {
                Ok(line) => {
                    if let Some(found) = texts.iter().position(|text| line.contains(text)) {
                        return found;
                    }
                    all.push_str(&line);
                    all.push('\n');
                }
                Err(_) => panic!("none of {texts:?} came:\n{all}"),
            }
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

const UP: &str = "Initialization Sequence Completed";

/// Creates a server and a client, lets OpenVPN connect them, then revokes the client.
fn openvpn_takes(kind: KeyKind) {
    let directory = tempfile::tempdir().unwrap();
    let unix = now();
    let authority =
        Authority::create(directory.path(), "Test Authority", kind, unix, 3650).unwrap();
    let mut settings = ServerSettings::new("127.0.0.1");
    settings.network_ipv6 = Some(("fd00:8::".parse().unwrap(), 64));
    settings.redirect = true;
    settings.dns = vec![Ipv4Addr::new(10, 8, 0, 1).into()];
    settings.key = PeerKey::New(kind);
    authority.server("server", &settings, unix).unwrap();
    let client = ClientSettings { key: PeerKey::New(kind), ..ClientSettings::default() };
    // Reopened, as a later process does: the directory holds the whole state.
    let authority = Authority::open(directory.path()).unwrap();
    authority.client("alice", &client, unix).unwrap();

    let network = Network::new();
    let server = Running::start(&network, directory.path(), "server.conf");
    server.wait_for(&[UP]);
    let one = Running::start(&network, directory.path(), "alice.ovpn");
    one.wait_for(&[UP]);
    server.wait_for(&["Peer Connection Initiated"]);
    drop(one);

    authority.revoke("alice", unix).unwrap();
    let _one = Running::start(&network, directory.path(), "alice.ovpn");
    assert_eq!(server.wait_for(&["Peer Connection Initiated", "certificate revoked"]), 1);
}

#[test]
fn openvpn_takes_profiles_with_p256() {
    openvpn_takes(KeyKind::P256);
}

#[test]
fn openvpn_takes_profiles_with_ed25519() {
    openvpn_takes(KeyKind::Ed25519);
}

#[test]
fn openvpn_takes_profiles_with_rsa() {
    openvpn_takes(KeyKind::Rsa2048);
}

#[test]
fn profiles_contain_the_settings() {
    let directory = tempfile::tempdir().unwrap();
    let at = |name: &str| directory.path().join(name);
    let unix = now();
    let authority = Authority::create(&at("pki"), "A", KeyKind::P256, unix, 3650).unwrap();
    let mut settings = ServerSettings::new("vpn.example.org");
    settings.protocol.transport = Transport::Tcp;
    settings.port = 443;
    let path = authority.server("north", &settings, unix).unwrap();
    authority.server("south", &ServerSettings::new("2001:db8::1"), unix).unwrap();
    let client = authority.client("bob@example.org", &ClientSettings::default(), unix).unwrap();

    let (Profile::Server(server), _) = config::read(&path).unwrap() else { panic!() };
    assert_eq!((server.listen[0].port, server.listen[0].protocol.name()), (443, "tcp"));
    assert_eq!(server.pool.unwrap().first, Ipv4Addr::new(10, 8, 0, 2));
    let (client, warnings) = config::read_client(&client).unwrap();
    assert!(warnings.is_empty(), "{warnings:?}");
    let hosts: Vec<_> = client.remotes.iter().map(|one| (one.host.as_str(), one.port)).collect();
    assert_eq!(hosts, [("vpn.example.org", 443), ("2001:db8::1", 1194)]);
    assert!(matches!(client.remotes[0].link.control_key, ControlKey::CryptV2 { .. }));
    let digest = client.common.data.digest;
    client.remotes[0].link.control_key.load(digest, Role::Client).unwrap();
    server.common.link.control_key.load(digest, Role::Server).unwrap();
    // A server key is not a client key.
    let error = server.common.link.control_key.load(digest, Role::Client).unwrap_err();
    assert!(error.hint.contains("genkey"), "{error}");

    for name in ["ca.key", "tls-crypt-v2.key", "north.conf", "bob@example.org.ovpn", "index"] {
        let mode = fs::metadata(at("pki").join(name)).unwrap().permissions().mode();
        assert_eq!(mode & 0o077, 0, "{name}");
    }
}

#[test]
fn existing_files_stay() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    let unix = now();
    let authority = Authority::create(path, "A", KeyKind::P256, unix, 3650).unwrap();
    let before = fs::read(path.join("ca.key")).unwrap();
    let error = Authority::create(path, "A", KeyKind::P256, unix, 3650).err().unwrap();
    assert!(error.hint().contains("--directory names another place"), "{error}");
    assert_eq!(fs::read(path.join("ca.key")).unwrap(), before);

    let error = authority.client("x", &ClientSettings::default(), unix).unwrap_err();
    assert!(error.hint().contains("pki server"), "{error}");
    authority.server("s", &ServerSettings::new("h"), unix).unwrap();
    assert!(authority.server("s", &ServerSettings::new("h"), unix).is_err());
    for name in ["", "../x", "a/b", ".x", "-x", "a\nb", " a", &"a".repeat(65)] {
        let error = authority.client(name, &ClientSettings::default(), unix).unwrap_err();
        assert!(error.to_string().contains("invalid name"), "{error}");
    }
    let error = authority.server("t", &ServerSettings::new("h\nup x"), unix).unwrap_err();
    assert!(error.to_string().contains("host name"), "{error}");
    assert!(authority.revoke("nobody", unix).is_err());
    assert_eq!(authority.entries().unwrap().len(), 1);
    authority.revoke("s", 7).unwrap();
    assert_eq!(authority.entries().unwrap()[0].revoked, Some(7));
    assert!(Authority::open(Path::new("/nowhere")).err().unwrap().hint().contains("pki init"));
}

#[test]
fn check_reports_expiry_and_missing_files() {
    let directory = tempfile::tempdir().unwrap();
    let unix = now();
    let authority = Authority::create(directory.path(), "A", KeyKind::P256, unix, 3650).unwrap();
    let mut settings = ServerSettings::new("h");
    settings.redirect = true;
    let path = authority.server("s", &settings, unix).unwrap();
    let report = config::check(&path, unix).unwrap();
    assert!(report.failures.is_empty(), "{:?}", report.failures);
    let text = report.lines.join("\n");
    for sentence in [
        "A server for at most 1024 clients.",
        "It listens on every address, udp port 1194.",
        "Clients get addresses from 10.8.0.2 to 10.8.0.253.",
        "  redirect-gateway def1",
        "The peer needs a certificate from the authority in the block in this file, issued for a \
         client.",
    ] {
        assert!(text.contains(sentence), "{sentence}: {text}");
    }
    let warned = |report: &config::Report, text: &str| {
        report.warnings.iter().any(|warning| warning.message.contains(text))
    };
    assert!(!warned(&report, "chmod 600"));
    fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
    assert!(warned(&config::check(&path, unix).unwrap(), "chmod 600"));

    // Near expiry, after it, before the start of validity, and without the referenced files.
    let day = 86400;
    assert!(warned(&config::check(&path, unix + 800 * day).unwrap(), "renew it"));
    let failed = |unix: u64, text: &str| {
        let report = config::check(&path, unix).unwrap();
        report.failures.iter().any(|failure| failure.message.contains(text))
    };
    assert!(warned(&config::check(&path, unix + 826 * day).unwrap(), "expired at"));
    assert!(warned(&config::check(&path, unix - 2 * day).unwrap(), "is not valid before"));
    assert!(warned(
        &config::check(&path, unix + 3651 * day).unwrap(),
        "crl-verify: the list of CN=A has expired"
    ));
    assert!(warned(
        &config::check(&path, unix - 2 * day).unwrap(),
        "crl-verify: the list of CN=A is not valid yet"
    ));
    let list = directory.path().join("crl.pem");
    let other = tempfile::tempdir().unwrap();
    Authority::create(other.path(), "B", KeyKind::P256, unix, 3650).unwrap();
    fs::copy(other.path().join("crl.pem"), &list).unwrap();
    assert!(warned(&config::check(&path, unix).unwrap(), "crl.pem has no list of CN=A"));
    fs::write(&list, "-----BEGIN X509 CRL-----\nMAA=\n-----END X509 CRL-----\n").unwrap();
    assert!(failed(unix, "crl.pem: a revocation list is malformed"));
    fs::remove_file(list).unwrap();
    assert!(failed(unix, "crl-verify: cannot read"));

    let weak = directory.path().join("weak.ovpn");
    let text = "client\nremote h\nca ca.crt\nauth-user-pass absent\ndata-ciphers AES-128-CBC\n\
                management 127.0.0.1 7505\n";
    fs::write(&weak, text).unwrap();
    let report = config::check(&weak, unix).unwrap();
    for text in ["remote-cert-tls server", "tls-crypt", "CBC", "SHA1", "management port"] {
        assert!(warned(&report, text), "{text}: {:?}", report.warnings);
    }
    assert!(report.failures[0].message.contains("auth-user-pass"));
}

/// Runs `openssl` in a directory. Returns whether it succeeded, and its output.
fn openssl(directory: &Path, arguments: &str) -> (bool, String) {
    let mut command = Command::new("openssl");
    let output = command.args(arguments.split_whitespace()).current_dir(directory).output();
    let output = output.expect("openssl is installed");
    let text = [output.stdout, output.stderr].concat();
    (output.status.success(), String::from_utf8_lossy(&text).into_owned())
}

/// Writes the certificate in a profile to a file of its own.
fn extract(directory: &Path, profile: &str, file: &str) {
    let text = fs::read_to_string(directory.join(profile)).unwrap();
    let (_, rest) = text.split_once("<cert>\n").unwrap();
    fs::write(directory.join(file), rest.split_once("</cert>").unwrap().0).unwrap();
}

#[test]
fn openssl_verifies_certificates_and_lists_strictly() {
    for (kind, signature) in [
        (KeyKind::P256, "ecdsa-with-SHA256"),
        (KeyKind::Ed25519, "ED25519"),
        (KeyKind::Rsa2048, "sha256WithRSAEncryption"),
    ] {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path();
        let unix = now();
        let authority = Authority::create(path, "Test Authority", kind, unix, 3650).unwrap();
        let mut settings = ServerSettings::new("h");
        settings.key = PeerKey::New(kind);
        authority.server("server", &settings, unix).unwrap();
        extract(path, "server.conf", "server.crt");
        let verify = "verify -x509_strict -crl_check_all -purpose sslserver -CAfile ca.crt \
                      -CRLfile crl.pem server.crt";
        let (good, text) = openssl(path, verify);
        assert!(good, "{kind:?}: {text}");
        let (good, text) = openssl(path, &verify.replace("sslserver", "sslclient"));
        assert!(!good && text.contains("purpose"), "{kind:?}: {text}");
        let (_, text) = openssl(path, "x509 -in server.crt -noout -text");
        let usage = match kind {
            KeyKind::Rsa2048 => "Digital Signature, Key Encipherment\n",
            _ => "Digital Signature\n",
        };
        for part in [signature, "CA:FALSE", "TLS Web Server Authentication", usage] {
            assert!(text.contains(part), "{kind:?}: {part}: {text}");
        }
        authority.revoke("server", unix).unwrap();
        let (good, text) = openssl(path, verify);
        assert!(!good && text.contains("revoked"), "{kind:?}: {text}");
    }
}

#[test]
fn dates_end_with_the_year_9999() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    Authority::create(path, "A", KeyKind::P256, now(), u32::MAX).unwrap();
    let (good, text) = openssl(path, "x509 -in ca.crt -noout -enddate");
    assert!(good && text.contains("Dec 31 23:59:59 9999 GMT"), "{text}");
}

#[test]
fn an_authority_of_another_program_opens_and_a_foreign_key_does_not() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    let unix = now();
    drop(Authority::create(path, "A", KeyKind::P256, unix, 3650).unwrap());
    let key = rcgen::KeyPair::generate().unwrap();
    fs::write(path.join("ca.key"), key.serialize_pem()).unwrap();
    let error = Authority::open(path).err().unwrap();
    assert!(error.to_string().contains("not a pair"), "{error}");

    let mut parameters = rcgen::CertificateParams::default();
    parameters.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
    parameters.distinguished_name.push(rcgen::DnType::CommonName, "Another");
    parameters.distinguished_name.push(rcgen::DnType::OrganizationName, "Example, Inc.");
    fs::write(path.join("ca.crt"), parameters.self_signed(&key).unwrap().pem()).unwrap();
    let authority = Authority::open(path).unwrap();
    authority.server("server", &ServerSettings::new("h"), unix).unwrap();
    authority.revoke("server", unix).unwrap();
    extract(path, "server.conf", "server.crt");
    let (good, text) = openssl(path, "verify -CAfile ca.crt server.crt");
    assert!(good, "{text}");
    let verify = "verify -crl_check -CAfile ca.crt -CRLfile crl.pem server.crt";
    let (good, text) = openssl(path, verify);
    assert!(!good && text.contains("revoked"), "{text}");
}

/// A certificate for a key whose private half is elsewhere.
#[test]
fn a_key_in_a_token_gets_a_certificate_and_a_profile_without_it() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    let unix = now();
    let authority = Authority::create(path, "A", KeyKind::P256, unix, 3650).unwrap();
    for (number, (kind, signature)) in [
        ("EC -pkeyopt ec_paramgen_curve:P-256", "id-ecPublicKey"),
        ("EC -pkeyopt ec_paramgen_curve:P-521", "id-ecPublicKey"),
        ("ED25519", "ED25519"),
        ("RSA -pkeyopt rsa_keygen_bits:2048", "rsaEncryption"),
    ]
    .into_iter()
    .enumerate()
    {
        let (made, text) = openssl(path, &format!("genpkey -algorithm {kind} -out token.key"));
        assert!(made, "{text}");
        let (_, public) = openssl(path, "pkey -in token.key -pubout");
        let token = InToken {
            public_key: PublicKey::from_pem(&public).unwrap(),
            module: "/usr/lib/module.so".into(),
        };
        let key = PeerKey::InToken(token);
        let (server, client) = (format!("s{number}"), format!("al ice{number}@x"));
        let mut settings = ServerSettings::new("h");
        settings.key = key.clone();
        let file = authority.server(&server, &settings, unix).unwrap();
        let (Profile::Server(profile), _) = config::read(&file).unwrap() else { panic!() };
        let named = profile.common.tls.token.unwrap();
        assert_eq!(named.providers, [Path::new("/usr/lib/module.so")]);
        assert_eq!(named.id.unwrap(), format!("pkcs11:object=s{number}"));
        let settings = ClientSettings { key, ..ClientSettings::default() };
        let file = authority.client(&client, &settings, unix).unwrap();
        let text = fs::read_to_string(&file).unwrap();
        assert!(!text.contains("<key>") && !text.contains("<cert>"), "{text}");
        let (profile, _) = config::read_client(&file).unwrap();
        let id = profile.common.tls.token.unwrap().id.unwrap();
        assert_eq!(id, format!("pkcs11:object=al%20ice{number}%40x"));

        let verify = "verify -x509_strict -purpose sslserver -CAfile ca.crt";
        let (good, text) = openssl(path, &format!("{verify} {server}.crt"));
        assert!(good, "{text}");
        let (_, text) = openssl(path, &format!("x509 -in {server}.crt -noout -text"));
        assert!(text.contains(signature), "{text}");
        let (_, issued) = openssl(path, &format!("x509 -in {server}.crt -noout -pubkey"));
        assert_eq!(issued, public);
        // Nothing is overwritten, and a refusal leaves no entry.
        let before = authority.entries().unwrap();
        fs::write(path.join("free.crt"), "x").unwrap();
        let error = authority.client("free", &settings, unix).unwrap_err();
        assert!(error.to_string().contains("free.crt already exists"), "{error}");
        assert_eq!(authority.entries().unwrap(), before);
        assert!(!path.join("free.ovpn").exists());
    }
}

#[test]
fn unusable_public_keys_are_refused() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    for kind in [
        "RSA -pkeyopt rsa_keygen_bits:1024",
        "EC -pkeyopt ec_paramgen_curve:secp256k1",
        "EC -pkeyopt ec_paramgen_curve:P-224",
        "X25519",
        "ED448",
    ] {
        let (made, text) = openssl(path, &format!("genpkey -algorithm {kind} -out token.key"));
        assert!(made, "{text}");
        let (_, public) = openssl(path, "pkey -in token.key -pubout");
        let error = PublicKey::from_pem(&public).unwrap_err();
        assert!(error.to_string().contains("this kind of key"), "{kind}: {error}");
        let private = fs::read_to_string(path.join("token.key")).unwrap();
        let error = PublicKey::from_pem(&private).unwrap_err();
        assert!(error.to_string().contains("not a public key"), "{error}");
    }
    for text in ["", "x", "-----BEGIN PUBLIC KEY-----\nMAA=\n-----END PUBLIC KEY-----\n"] {
        assert!(PublicKey::from_pem(text).is_err(), "{text}");
    }
    let unix = now();
    let authority = Authority::create(path, "A", KeyKind::P256, unix, 3650).unwrap();
    openssl(path, "genpkey -algorithm ED25519 -out token.key");
    let (_, public) = openssl(path, "pkey -in token.key -pubout");
    for module in ["", "a\"b", "a\nup x", "a\\"] {
        let mut settings = ServerSettings::new("h");
        let public_key = PublicKey::from_pem(&public).unwrap();
        settings.key = PeerKey::InToken(InToken { public_key, module: module.into() });
        let error = authority.server("s", &settings, unix).unwrap_err();
        assert!(error.to_string().contains("path of a module"), "{error}");
    }
    assert!(authority.entries().unwrap().is_empty());
}
