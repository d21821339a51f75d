//! Full TLS handshakes of rustls, client and server in memory on one core: on Cycloid, beside
//! rustls on the peers that it has providers for.

mod handshake;
#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::time::Duration;

use rustls::crypto::CryptoProvider;
use rustls::{NamedGroup, ProtocolVersion};

use super::backends;
use super::prepared::{Judge, Prepared};
use super::subjects::{Sampling, Setting, Subject};
use super::{Effort, Plan, Suite, Work};
use crate::Failure;
use crate::peers::{Family, Found};
use crate::record::{Parameters, Summary};

/// The label of the row that ratios are against.
const REFERENCE: &str = "default";

/// The label of handshakes with keys that were not seen before.
const STRANGE: &str = "unknown keys";

const REMEMBERED: &str = "Cycloid prepares public keys on NIST's curves that it verified with often, as a \
    client does that comes again; 'unknown keys' is without that, as a client that comes for the \
    first time";

const WHAT: &str = "a handshake is both sides of it, on one core, in memory: the client verifies a \
    certificate and its authority's signature on it, nothing is resumed, no tickets are sent; the \
    configurations are made before. Everybody runs the same rustls with the same certificates, groups \
    and cipher suites";

const SYMMETRIC: &str =
    "rustls on Cycloid has ciphers and hashes from AWS-LC, as rustls on AWS-LC has";

/// A kind of handshake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kind {
    version: ProtocolVersion,
    group: NamedGroup,
    certificate: Certificate,
}

/// Of what kind the keys in a certificate are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Certificate {
    P256,
    P384,
    Rsa2048,
    Ed25519,
}

impl Certificate {
    /// Whether its keys are among those that Cycloid prepares.
    const fn is_remembered(self) -> bool {
        matches!(self, Self::P256 | Self::P384)
    }
}

impl Kind {
    /// All of them, in the order of the tables.
    pub const ALL: [Self; 7] = [
        Self::new(ProtocolVersion::TLSv1_3, NamedGroup::X25519, Certificate::P256),
        Self::new(ProtocolVersion::TLSv1_3, NamedGroup::X25519, Certificate::Rsa2048),
        Self::new(ProtocolVersion::TLSv1_3, NamedGroup::secp256r1, Certificate::P256),
        Self::new(ProtocolVersion::TLSv1_3, NamedGroup::secp384r1, Certificate::P384),
        Self::new(ProtocolVersion::TLSv1_3, NamedGroup::X25519, Certificate::Ed25519),
        Self::new(ProtocolVersion::TLSv1_2, NamedGroup::X25519, Certificate::P256),
        Self::new(ProtocolVersion::TLSv1_2, NamedGroup::X25519, Certificate::Rsa2048),
    ];

    const fn new(version: ProtocolVersion, group: NamedGroup, certificate: Certificate) -> Self {
        Self { version, group, certificate }
    }

    const fn version_name(self) -> &'static str {
        match self.version {
            ProtocolVersion::TLSv1_2 => "TLS 1.2",
            _ => "TLS 1.3",
        }
    }

    const fn group_name(self) -> &'static str {
        match self.group {
            NamedGroup::secp256r1 => "P-256",
            NamedGroup::secp384r1 => "P-384",
            _ => "X25519",
        }
    }

    const fn certificate_name(self) -> &'static str {
        match self.certificate {
            Certificate::P256 => "ECDSA P-256",
            Certificate::P384 => "ECDSA P-384",
            Certificate::Rsa2048 => "RSA-2048",
            Certificate::Ed25519 => "Ed25519",
        }
    }

    fn title(self) -> String {
        let [version, group] = [self.version_name(), self.group_name()];
        format!("{version}: {group}, {}", self.certificate_name())
    }
}

/// All handshakes.
#[derive(Clone, Copy, Debug)]
pub struct Tls;

impl Suite for Tls {
    fn name(&self) -> &'static str {
        "tls"
    }

    fn about(&self) -> &'static str {
        "TLS: full handshakes of rustls"
    }

    fn family(&self) -> Family {
        Family::Tls
    }

    fn plan<'a>(&'a self, effort: Effort, peers: &'a [Found]) -> Vec<Plan<'a>> {
        let seconds = match effort {
            Effort::Quick => 0.3,
            Effort::Plain => 1.2,
            Effort::Full => 30.0,
        };
        let time = Duration::from_secs_f64(seconds);
        let plan = |kind: Kind| Plan {
            title: format!("handshake, {}", kind.title()),
            time,
            work: Work::Subjects(Box::new(move || prepare(kind, time, peers))),
        };
        Kind::ALL.into_iter().map(plan).collect()
    }
}

fn prepare(
    kind: Kind,
    time: Duration,
    peers: &[Found],
) -> Result<(Setting, Vec<Subject>), Failure> {
    let operation = |provider: CryptoProvider| {
        let provider = Arc::new(provider);
        let prepare = || handshake::call(kind, &provider);
        Prepared::of_peer(&[], handshake::RESULT, judge(), true, prepare)
    };
    let ours = Box::new(operation(cycloid_rustls::default_provider())?);
    let ours =
        Subject::ours(REFERENCE, "cycloid_rustls::default_provider", backends::words(), 0, ours);
    let mut subjects = vec![Subject { scratch: None, ..ours }];
    if kind.certificate.is_remembered() {
        let provider = CryptoProvider {
            signature_verification_algorithms:
                cycloid_rustls::VERIFICATION_ALGORITHMS_WITHOUT_MEMORY,
            ..cycloid_rustls::default_provider()
        };
        let strange = Box::new(operation(provider)?);
        let function = "cycloid_rustls::VERIFICATION_ALGORITHMS_WITHOUT_MEMORY";
        let strange = Subject::ours(STRANGE, function, backends::words(), 0, strange);
        subjects.push(Subject { scratch: None, ..strange });
    }
    let mut missing = Vec::new();
    for found in peers.iter().filter(|found| found.peer.does(Family::Tls)) {
        match &found.outcome {
            Ok(library) => {
                if let Some((function, provider)) = library.tls() {
                    let operation = Box::new(operation(provider)?);
                    let version = library.version();
                    let label = "handshake";
                    subjects
                        .push(Subject::of_peer(found.peer, version, label, function, operation));
                }
            }
            Err(_) => missing.push(found.peer.name().into()),
        }
    }
    let mut notes: Vec<String> = vec![WHAT.into(), SYMMETRIC.into()];
    if kind.certificate.is_remembered() {
        notes.push(REMEMBERED.into());
    }
    let parameters = [
        ("version", kind.version_name()),
        ("group", kind.group_name()),
        ("certificate", kind.certificate_name()),
        ("rustls", env!("CYCLOID_VERSION_RUSTLS")),
    ];
    let parameters = parameters.map(|(name, value)| (name.to_owned(), value.into()));
    let setting = Setting {
        suite: "tls",
        operation: "handshake",
        title: kind.title(),
        parameters: Parameters::from(parameters),
        summary: Summary::Rates,
        reference: 0,
        time,
        sampling: Sampling::Paired,
        missing,
        notes,
    };
    Ok((setting, subjects))
}

/// What was negotiated, and whether a client that trusts another authority refuses the server.
fn judge() -> Judge {
    Box::new(|call, negotiated| {
        let refused = call(handshake::STRANGER, &mut [0; handshake::RESULT]).is_err();
        negotiated.iter().map(|byte| u64::from(*byte)).chain([u64::from(refused)]).collect()
    })
}
