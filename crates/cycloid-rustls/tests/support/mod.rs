//! Shared code of the tests: certificates made with the command `openssl`, configurations, and
//! handshakes in memory.
#![allow(dead_code)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use rustls::crypto::{CryptoProvider, SupportedKxGroup};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::server::WebPkiClientVerifier;
use rustls::{
    CipherSuite, ClientConfig, ClientConnection, Error, ProtocolVersion, RootCertStore,
    ServerConfig, ServerConnection, SupportedCipherSuite, SupportedProtocolVersion,
};

/// The kinds of keys, with the options of `openssl req` that make them.
pub(crate) const KINDS: [(&str, &str); 6] = [
    ("rsa-2048", "rsa:2048"),
    ("rsa-3072", "rsa:3072"),
    ("p256", "ec -pkeyopt ec_paramgen_curve:P-256"),
    ("p384", "ec -pkeyopt ec_paramgen_curve:P-384"),
    ("p521", "ec -pkeyopt ec_paramgen_curve:P-521"),
    ("ed25519", "ed25519"),
];

const CONFIGURATION: &str = "\
[req]
distinguished_name = name
[name]
[ca]
basicConstraints = critical, CA:TRUE
keyUsage = keyCertSign
subjectKeyIdentifier = hash
[leaf]
basicConstraints = critical, CA:FALSE
subjectAltName = DNS:localhost
";

/// A certificate for localhost and its key, with an authority whose key is of the same kind.
pub(crate) struct Certificate {
    pub(crate) kind: &'static str,
    directory: PathBuf,
}

impl Certificate {
    /// Makes a certificate restricted to RSASSA-PSS, with options of `openssl genpkey` for its
    /// parameters; its authority's key is unrestricted.
    pub(crate) fn for_pss(test: &str, kind: &'static str, options: &str) -> Self {
        let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join(test);
        let certificate = Self::make(&directory, kind, "rsa:2048");
        certificate.openssl(&format!(
            "genpkey -quiet -algorithm RSA-PSS -pkeyopt rsa_keygen_bits:2048 {options} \
             -out leaf.key"
        ));
        certificate.openssl("pkey -in leaf.key -pubout -out leaf.pub");
        certificate.openssl(
            "x509 -new -force_pubkey leaf.pub -subj /CN=leaf -CA ca.pem -CAkey ca.key -days 30 \
             -extfile openssl.cnf -extensions leaf -out leaf.pem",
        );
        certificate
    }

    /// Makes one of each kind, in a directory for this test.
    pub(crate) fn all(test: &str) -> Vec<Self> {
        let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join(test);
        let make = |(kind, algorithm)| Self::make(&directory, kind, algorithm);
        KINDS.into_iter().map(make).collect()
    }

    fn make(directory: &Path, kind: &'static str, algorithm: &str) -> Self {
        let directory = directory.join(kind);
        fs::create_dir_all(&directory).unwrap();
        let certificate = Self { kind, directory };
        fs::write(certificate.path("openssl.cnf"), CONFIGURATION).unwrap();
        let common = format!("req -x509 -config openssl.cnf -days 30 -nodes -newkey {algorithm}");
        certificate.openssl(&format!(
            "{common} -extensions ca -subj /CN=authority -keyout ca.key -out ca.pem"
        ));
        certificate.openssl(&format!(
            "{common} -extensions leaf -subj /CN=leaf -CA ca.pem -CAkey ca.key -keyout leaf.key \
             -out leaf.pem"
        ));
        certificate
    }

    /// Runs `openssl` in the certificate's directory.
    pub(crate) fn openssl(&self, arguments: &str) {
        let output = Command::new("openssl")
            .args(arguments.split_whitespace())
            .current_dir(&self.directory)
            .output()
            .expect("these tests need the command `openssl`: install the package openssl");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "openssl {arguments}: {said}");
    }

    pub(crate) fn path(&self, file: &str) -> PathBuf {
        self.directory.join(file)
    }

    pub(crate) fn chain(&self) -> Vec<CertificateDer<'static>> {
        vec![CertificateDer::from_pem_file(self.path("leaf.pem")).unwrap()]
    }

    pub(crate) fn key(&self) -> PrivateKeyDer<'static> {
        PrivateKeyDer::from_pem_file(self.path("leaf.key")).unwrap()
    }

    pub(crate) fn roots(&self) -> RootCertStore {
        let mut roots = RootCertStore::empty();
        roots.add(CertificateDer::from_pem_file(self.path("ca.pem")).unwrap()).unwrap();
        roots
    }

    /// Returns whether it is compatible with the cipher suite.
    pub(crate) fn suits(&self, suite: CipherSuite) -> bool {
        let name = format!("{suite:?}");
        name.starts_with("TLS13") || name.contains("_RSA_") == self.kind.starts_with("rsa")
    }
}

/// Returns the provider with only this suite, and with this group first.
pub(crate) fn provider(
    suite: SupportedCipherSuite,
    group: &'static dyn SupportedKxGroup,
) -> CryptoProvider {
    let others = cycloid_rustls::ALL_GROUPS.iter().copied();
    let others = others.filter(|other| other.name() != group.name());
    CryptoProvider {
        cipher_suites: vec![suite],
        kx_groups: std::iter::once(group).chain(others).collect(),
        ..cycloid_rustls::default_provider()
    }
}

/// Which sides present a certificate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shown {
    ByServer,
    ByBoth,
}

const VERSIONS: &[&SupportedProtocolVersion] = &[&rustls::version::TLS13, &rustls::version::TLS12];

/// Returns the versions for which the provider has suites.
fn versions(provider: &CryptoProvider) -> Vec<&'static SupportedProtocolVersion> {
    let has = |version: &&&'static SupportedProtocolVersion| {
        provider.cipher_suites.iter().any(|suite| suite.version().version == version.version)
    };
    VERSIONS.iter().filter(has).copied().collect()
}

pub(crate) fn client_config(
    provider: CryptoProvider,
    certificate: &Certificate,
    shown: Shown,
) -> Result<Arc<ClientConfig>, Error> {
    let versions = versions(&provider);
    let builder = ClientConfig::builder_with_provider(Arc::new(provider))
        .with_protocol_versions(&versions)?
        .with_root_certificates(certificate.roots());
    Ok(Arc::new(match shown {
        Shown::ByServer => builder.with_no_client_auth(),
        Shown::ByBoth => builder.with_client_auth_cert(certificate.chain(), certificate.key())?,
    }))
}

pub(crate) fn server_config(
    provider: CryptoProvider,
    certificate: &Certificate,
    shown: Shown,
) -> Result<Arc<ServerConfig>, Error> {
    let (versions, provider) = (versions(&provider), Arc::new(provider));
    let builder = ServerConfig::builder_with_provider(Arc::clone(&provider))
        .with_protocol_versions(&versions)?;
    let builder = match shown {
        Shown::ByServer => builder.with_no_client_auth(),
        Shown::ByBoth => {
            let roots = Arc::new(certificate.roots());
            let verifier = WebPkiClientVerifier::builder_with_provider(roots, provider);
            builder.with_client_cert_verifier(verifier.build().unwrap())
        }
    };
    Ok(Arc::new(builder.with_single_cert(certificate.chain(), certificate.key())?))
}

pub(crate) fn localhost() -> ServerName<'static> {
    ServerName::try_from("localhost").unwrap()
}

/// The result of a handshake in memory.
pub(crate) struct Handshake {
    pub(crate) client: ClientConnection,
    pub(crate) server: ServerConnection,
}

/// Performs a handshake in memory.
///
/// # Errors
/// The name and the error of the side that failed first.
pub(crate) fn handshake(
    client: &Arc<ClientConfig>,
    server: &Arc<ServerConfig>,
) -> Result<Handshake, (&'static str, Error)> {
    let mut client = ClientConnection::new(Arc::clone(client), localhost())
        .map_err(|error| ("client", error))?;
    let mut server =
        ServerConnection::new(Arc::clone(server)).map_err(|error| ("server", error))?;
    while client.is_handshaking() || server.is_handshaking() {
        let mut bytes = Vec::new();
        client.write_tls(&mut bytes).unwrap();
        let mut sent = &bytes[..];
        while !sent.is_empty() {
            server.read_tls(&mut sent).unwrap();
            server.process_new_packets().map_err(|error| ("server", error))?;
        }
        bytes.clear();
        server.write_tls(&mut bytes).unwrap();
        let mut sent = &bytes[..];
        while !sent.is_empty() {
            client.read_tls(&mut sent).unwrap();
            client.process_new_packets().map_err(|error| ("client", error))?;
        }
    }
    Ok(Handshake { client, server })
}

/// Returns the flag of `openssl` for a version.
pub(crate) fn version_flag(suite: SupportedCipherSuite) -> &'static str {
    match suite.version().version {
        ProtocolVersion::TLSv1_3 => "-tls1_3",
        _ => "-tls1_2",
    }
}
