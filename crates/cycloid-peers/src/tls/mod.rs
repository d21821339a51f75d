//! Full TLS handshakes of rustls, client and server in memory on one core: rustls on Cycloid,
//! compared with rustls on its providers for the peers.

pub(crate) mod handshake;
pub(crate) mod kind;
#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::time::Duration;

use cycloid_lab::Failure;
use cycloid_lab::peers::{Family, Found, Peer};
use cycloid_lab::record::{Parameters, Summary};
use cycloid_lab::suite::backends;
use cycloid_lab::suite::prepared::{Prepared, ResultCheck};
use cycloid_lab::suite::subjects::{Sampling, Setting, Subject};
use cycloid_lab::suite::tls::DESCRIPTOR;
use cycloid_lab::suite::{Constructors, Descriptor, Effort, Plan, Suite, Work};
use cycloid_lab::versions;
use rustls::crypto::{CryptoProvider, aws_lc_rs, ring};

pub use kind::Kind;

/// The label of the row that ratios refer to.
const REFERENCE: &str = "default";

/// The label of handshakes with keys that were not seen before.
const STRANGE: &str = "unknown keys";

const REMEMBERED: &str = "Cycloid prepares frequently used public keys on NIST curves, which helps a client \
    that connects repeatedly; 'unknown keys' is without that, as for a client's first \
    connection";

const WHAT: &str = "a handshake includes both sides, on one core, in memory: the client verifies a \
    certificate and its authority's signature on it; no session is resumed and no tickets are sent; \
    configurations are prepared in advance. All rows run the same rustls with the same certificates, \
    groups and cipher suites";

const SYMMETRIC: &str =
    "rustls on Cycloid uses ciphers and hashes from AWS-LC, like rustls on AWS-LC";

/// The constructors of the suite.
pub const CONSTRUCTORS: Constructors = Constructors {
    chosen: |_, _| Ok(Box::new(Tls)),
    usual: |_| Ok(Box::new(Tls)),
    alone: Some(|_| Box::new(Tls)),
};

/// The suite of TLS handshakes.
#[derive(Clone, Copy, Debug)]
pub struct Tls;

impl Suite for Tls {
    fn descriptor(&self) -> &'static Descriptor {
        &DESCRIPTOR
    }

    fn plan<'a>(&'a self, effort: Effort, peers: &'a [Found]) -> Vec<Plan<'a>> {
        let seconds = match effort {
            Effort::Quick => 0.3,
            Effort::Plain => 1.2,
            Effort::Full => 30.0,
        };
        let time = Duration::from_secs_f64(seconds);
        let plan = |kind: Kind| Plan {
            title: format!("handshake, {}: {}", kind.version_name(), kind.name()),
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
        Prepared::of_peer(&[], handshake::RESULT, check(), true, prepare)
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
        subjects.push(Subject { scratch: None, ..strange.special() });
    }
    let mut missing = Vec::new();
    for found in peers.iter().filter(|found| found.peer.does(Family::Tls)) {
        match &found.outcome {
            Ok(library) => {
                if let Some((function, provider)) = provider(found.peer) {
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
        ("certificate", kind.certificate.name()),
        ("rustls", versions::RUSTLS),
    ];
    let parameters = parameters.map(|(name, value)| (name.to_owned(), value.into()));
    let setting = Setting {
        suite: DESCRIPTOR.name,
        operation: "handshake",
        group: kind.version_name().into(),
        name: kind.name(),
        series: None,
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

/// Returns a peer's rustls provider, and the name of the function that creates it.
fn provider(peer: Peer) -> Option<(&'static str, CryptoProvider)> {
    match peer {
        Peer::AwsLc => {
            Some(("rustls::crypto::aws_lc_rs::default_provider", aws_lc_rs::default_provider()))
        }
        Peer::Ring => Some(("rustls::crypto::ring::default_provider", ring::default_provider())),
        _ => None,
    }
}

/// Returns the check of a handshake: the negotiated parameters, and whether a client that trusts
/// another authority rejects the server.
fn check() -> ResultCheck {
    Box::new(|call, negotiated| {
        let refused = call(handshake::STRANGER, &mut [0; handshake::RESULT]).is_err();
        negotiated.iter().map(|byte| u64::from(*byte)).chain([u64::from(refused)]).collect()
    })
}
