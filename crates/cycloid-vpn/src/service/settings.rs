//! Converts the configuration to settings of the protocol core, and reads keys and certificates.

use std::net::IpAddr;
use std::time::Duration;

use zeroize::Zeroizing;

use super::Failure;
use crate::config::{
    self, CertificateProfile, ClientCertificate, DeviceType, Material, PeerName, Revoked,
    TlsVersion,
};
use crate::net::nat;
use crate::proto::data::{Cipher, Framing};
use crate::proto::options::{Options, option};
use crate::proto::timing::Timing;
use crate::proto::tls::{
    Credentials, External, NameRule, PeerRules, Pkcs12, RevocationList, RevokedSerials, TlsFactory,
    TlsSettings, Usage, certificates_from_pem, is_encrypted,
};
use crate::proto::wrap::ProtectionKey;
use crate::proto::{Role, Transport};

fn read(directive: &str, material: &Material) -> Result<Zeroizing<Vec<u8>>, Failure> {
    material.read().map_err(|error| Failure::new(format!("{directive} {material}: {error}")))
}

/// Returns the options string, with which both ends check their compatibility.
pub fn options(
    role: Role,
    common: &config::Common,
    link: &config::Link,
    transport: Transport,
    protection: &ProtectionKey,
) -> String {
    let config::Common { data, tunnel, .. } = common;
    let (tls_auth, direction) = match protection {
        ProtectionKey::Auth { direction, .. } => (true, *direction),
        _ => (false, None),
    };
    let options = Options {
        role,
        transport,
        ethernet: tunnel.device_type == DeviceType::Tap,
        tun_mtu: link.tun_mtu.into(),
        cipher: data.cipher.or(data.fallback).map(Cipher::name),
        auth: data.digest,
        tls_auth,
        direction,
        fragment: fragment(link, transport).is_some(),
        framing: match data.framing {
            Framing::None => None,
            Framing::StubV2 => Some(0),
            _ => Some(1),
        },
    };
    options.to_text()
}

/// Returns a warning, which completes "the peer …", if the peer's options name another type of
/// device.
pub fn other_device(tunnel: &config::Tunnel, options: &str) -> Option<String> {
    let (own, other) = (tunnel.device_type.name(), option(options, "dev-type")?);
    (other != own && ["tun", "tap"].contains(&other)).then(|| {
        format!(
            "has `dev {other}`, and this end has `dev {own}`: the tunnel will carry nothing; set the \
             same type at both ends"
        )
    })
}

/// Returns whether this end's private key is encrypted.
pub fn needs_passphrase(tls: &config::Tls) -> Result<bool, Failure> {
    if let Some(file) = &tls.pkcs12 {
        let needs = Pkcs12::needs_passphrase(&read("pkcs12", file)?);
        return needs.map_err(|error| Failure::new(format!("pkcs12 {file}: {error}")));
    }
    tls.key.as_ref().map_or(Ok(false), |key| Ok(is_encrypted(&read("key", key)?)))
}

/// Returns the TLS setup: this end's certificate and the rules for the peer. `passphrase` decrypts
/// the private key. `token` has a key that is not in the files.
pub fn tls(
    role: Role,
    tls: &config::Tls,
    passphrase: Option<&str>,
    token: Option<&External>,
) -> Result<TlsFactory, Failure> {
    let pkcs12 = match &tls.pkcs12 {
        Some(file) => {
            let opened = Pkcs12::open(&read("pkcs12", file)?, passphrase);
            Some(opened.map_err(|error| Failure::new(format!("pkcs12 {file}: {error}")))?)
        }
        None => None,
    };
    let mut peer = rules(tls)?;
    let credentials = match (&tls.certificate, &tls.key) {
        (Some(certificate), Some(key)) => {
            let mut chain = read("cert", certificate)?;
            if let Some(extra) = &tls.extra_certificates {
                chain.push(b'\n');
                chain.extend_from_slice(&read("extra-certs", extra)?);
            }
            let pem = read("key", key)?;
            let own = Credentials::from_pem(&chain, &pem, passphrase)
                .map_err(|error| Failure::new(format!("cert {certificate}, key {key}: {error}")))?;
            Some(own)
        }
        _ => pkcs12.map(|pkcs12| {
            let mut own = pkcs12.own;
            match tls.ca {
                // The other certificates complete the chain that this end sends.
                Some(_) => own.chain.extend(pkcs12.authorities),
                None => peer.authorities.extend(pkcs12.authorities),
            }
            own
        }),
    };
    let external = match (token, &tls.extra_certificates) {
        (Some(token), Some(extra)) => {
            let mut token = token.clone();
            let more = certificates_from_pem(&read("extra-certs", extra)?)
                .map_err(|error| Failure::new(format!("extra-certs {extra}: {error}")))?;
            token.chain.extend(more);
            Some(token)
        }
        (token, _) => token.cloned(),
    };
    let settings = TlsSettings {
        credentials,
        external,
        peer,
        only_tls13: tls.version_min == TlsVersion::V1_3,
        only_tls12: tls.version_max == TlsVersion::V1_2,
        suites_1_2: tls.cipher_suites_1_2.clone(),
        suites_1_3: tls.cipher_suites_1_3.clone(),
        groups: tls.groups.clone(),
    };
    TlsFactory::new(role, &settings).map_err(|error| Failure::new(format!("TLS: {error}")))
}

fn rules(tls: &config::Tls) -> Result<PeerRules, Failure> {
    let mut rules = PeerRules {
        fingerprints: tls.peer_fingerprints.clone(),
        key_usages: tls.peer_key_usages.clone(),
        optional: tls.client_certificate != ClientCertificate::Require,
        name: tls.peer_name.as_ref().map(|name| match name {
            PeerName::Subject(subject) => NameRule::Subject(subject.clone()),
            PeerName::Name(name) => NameRule::Name(name.clone()),
            PeerName::Prefix(prefix) => NameRule::Prefix(prefix.clone()),
        }),
        name_fields: tls.name_fields.clone(),
        suite_b: tls.certificate_profile == CertificateProfile::SuiteB,
        ..PeerRules::default()
    };
    if tls.peer_role.is_some() {
        rules.usage = Usage::Required;
    }
    if let Some(purpose) = &tls.peer_extended_key_usage {
        rules.usage = purpose_of(purpose)?;
    }
    if let Some(ca) = &tls.ca {
        rules.authorities = certificates_from_pem(&read("ca", ca)?)
            .map_err(|error| Failure::new(format!("ca {ca}: {error}")))?;
    }
    if let Some(directory) = &tls.ca_directory {
        let failed = |error: &dyn std::fmt::Display| {
            Failure::new(format!("capath {}: {error}", directory.display()))
        };
        let files = std::fs::read_dir(directory).map_err(|error| failed(&error))?;
        let mut found = Vec::new();
        for file in files {
            let path = file.map_err(|error| failed(&error))?.path();
            // Other files, such as revocation lists, are none of the authorities.
            if let Ok(bytes) = Material::File(path).read() {
                for authority in certificates_from_pem(&bytes).into_iter().flatten() {
                    // Each authority has a file and a link named by its hash.
                    if !found.contains(&authority) {
                        found.push(authority);
                    }
                }
            }
        }
        if found.is_empty() {
            return Err(failed(&"no file with a certificate in PEM")
                .hint("put a file for each authority there, or set ca"));
        }
        rules.authorities.extend(found);
    }
    match &tls.revoked {
        Some(Revoked::List(list)) => {
            rules.revocation = RevocationList::from_pem(&read("crl-verify", list)?)
                .map_err(|it| Failure::new(format!("crl-verify {list}: {it}")).hint(it.hint))?;
        }
        Some(Revoked::Directory(directory)) if !directory.is_dir() => {
            let problem = format!("crl-verify: {} is not a directory", directory.display());
            return Err(Failure::new(problem).hint("create it"));
        }
        Some(Revoked::Directory(directory)) => {
            let directory = directory.clone();
            // Without the directory, revocation is unknown and every certificate is refused.
            rules.revoked_serials = Some(RevokedSerials::new(move |serial| {
                !directory.is_dir() || directory.join(serial).exists()
            }));
        }
        None => {}
    }
    Ok(rules)
}

/// Parses `remote-cert-eku`: OpenSSL's names, or a dotted identifier.
fn purpose_of(purpose: &str) -> Result<Usage, Failure> {
    let numbers = match purpose {
        "TLS Web Server Authentication" | "serverAuth" => "1.3.6.1.5.5.7.3.1",
        "TLS Web Client Authentication" | "clientAuth" => "1.3.6.1.5.5.7.3.2",
        "Code Signing" | "codeSigning" => "1.3.6.1.5.5.7.3.3",
        "E-mail Protection" | "emailProtection" => "1.3.6.1.5.5.7.3.4",
        "ipsecEndSystem" | "IPSec End System" => "1.3.6.1.5.5.7.3.5",
        numbers => numbers,
    };
    numbers
        .split('.')
        .map(str::parse)
        .collect::<Result<Vec<usize>, _>>()
        .map(Usage::Purpose)
        .map_err(|_| Failure::new(format!("remote-cert-eku {purpose}: not a known purpose")))
}

/// Returns the core's timers.
pub fn timing(timing: &config::Timing) -> Timing {
    let or_never = Option::unwrap_or_default;
    Timing {
        handshake: timing.hand_window,
        transition: timing.transition_window,
        renegotiate_after: or_never(timing.renegotiate_after),
        renegotiate_not_before: timing.renegotiate_not_before,
        renegotiate_bytes: timing.renegotiate_bytes.unwrap_or(0),
        renegotiate_packets: timing.renegotiate_packets.unwrap_or(0),
        ping: or_never(timing.ping),
        silence: or_never(timing.ping_restart.or(timing.ping_exit)),
        silence_exits: timing.ping_restart.is_none() && timing.ping_exit.is_some(),
        inactive: timing.inactive.map_or(Duration::ZERO, |(time, _)| time),
        inactive_bytes: timing.inactive.map_or(0, |(_, bytes)| bytes),
        session: or_never(timing.session_timeout),
    }
}

/// Returns the longest control packet without its headers: 40 bytes of IPv6, which also has room
/// for IPv4 and TCP, and 8 bytes of UDP.
pub fn max_control_packet(link: &config::Link) -> usize {
    usize::from(link.max_control_packet) - 48
}

/// Returns the longest datagram of `fragment`; packets on a stream have no fragments.
pub fn fragment(link: &config::Link, transport: Transport) -> Option<u16> {
    link.fragment.filter(|_| transport == Transport::Udp).map(config::Fragment::payload)
}

/// Returns the rules of `client-nat`.
pub fn nat(tunnel: &config::Tunnel) -> Vec<nat::Rule> {
    let rule = |rule: &config::NatRule| nat::Rule {
        side: if rule.is_source { nat::Side::Here } else { nat::Side::There },
        network: rule.network,
        prefix: rule.prefix,
        alias: rule.alias,
    };
    tunnel.nat.iter().map(rule).collect()
}

/// Returns the bytes before the IP packet inside the tunnel: an Ethernet header, without a tag.
pub fn frame_header(tunnel: &config::Tunnel) -> usize {
    match tunnel.device_type {
        DeviceType::Tun => 0,
        DeviceType::Tap => 14,
    }
}

/// Returns the longest inner TCP packet for `mssfix`, headers included, given the outer address and
/// the overhead of the data channel and of frames.
pub fn largest_tcp(
    fix: config::MssFix,
    tun_mtu: u16,
    remote: IpAddr,
    transport: Transport,
    overhead: usize,
) -> Option<u16> {
    let transport = match transport {
        Transport::Udp => 8,
        // Twenty bytes of TCP header, and the two-byte length prefix.
        Transport::Tcp => 22,
    };
    let network = if remote.is_ipv4() { 20 } else { 40 };
    let inner = match fix {
        config::MssFix::Off => return None,
        config::MssFix::Packet(size) => {
            usize::from(size).saturating_sub(network + transport + overhead)
        }
        config::MssFix::Payload(size) => usize::from(size).saturating_sub(overhead),
        config::MssFix::Inner(size) => usize::from(size),
    };
    u16::try_from(inner.min(usize::from(tun_mtu))).ok()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn rules_of(revoked: Revoked) -> Result<PeerRules, Failure> {
        rules(&config::Tls { revoked: Some(revoked), ..config::Tls::default() })
    }

    #[test]
    fn an_invalid_list_is_named() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("crl.pem");
        for (text, problem) in [
            ("no list", "no revocation list in PEM"),
            ("-----BEGIN X509 CRL-----\nMAA=\n-----END X509 CRL-----\n", "is malformed"),
        ] {
            fs::write(&path, text).unwrap();
            let failure = rules_of(Revoked::List(Material::File(path.clone()))).unwrap_err();
            let message = failure.to_string();
            assert!(message.starts_with(&format!("crl-verify {}: ", path.display())), "{message}");
            assert!(message.contains(problem), "{message}");
            assert!(failure.advice().is_some());
        }
    }

    #[test]
    fn a_directory_of_revoked_serial_numbers_is_read_at_each_check() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("revoked");
        fs::create_dir(&path).unwrap();
        let rules = rules_of(Revoked::Directory(path.clone())).unwrap();
        let serials = rules.revoked_serials.unwrap();
        assert!(!serials.contains("12"));
        fs::write(path.join("12"), "").unwrap();
        assert!(serials.contains("12") && !serials.contains("1"));
        fs::remove_dir_all(path).unwrap();
        assert!(serials.contains("1"), "revoked without the directory");
    }
}
