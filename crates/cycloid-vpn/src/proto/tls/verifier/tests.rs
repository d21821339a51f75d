use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, CustomExtension, DnType, IsCa, KeyPair,
    KeyUsagePurpose, SanType, SerialNumber, SignatureAlgorithm,
};
use rustls::pki_types::UnixTime;

use super::*;

/// 1 November 2026.
const NOW: u64 = 1_793_491_200;

fn now() -> UnixTime {
    UnixTime::since_unix_epoch(std::time::Duration::from_secs(NOW))
}

fn authority(name: &str) -> CertificateParams {
    let mut params = CertificateParams::default();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign];
    params.distinguished_name.push(DnType::CommonName, name);
    params
}

fn root(algorithm: &'static SignatureAlgorithm) -> CertifiedIssuer<'static, KeyPair> {
    let key = KeyPair::generate_for(algorithm).unwrap();
    CertifiedIssuer::self_signed(authority("root"), key).unwrap()
}

fn issue(
    issuer: &CertifiedIssuer<'static, KeyPair>,
    algorithm: &'static SignatureAlgorithm,
    params: CertificateParams,
) -> CertificateDer<'static> {
    let key = KeyPair::generate_for(algorithm).unwrap();
    params.signed_by(&key, issuer).unwrap().der().clone()
}

fn verifier(root: &CertifiedIssuer<'static, KeyPair>, rules: PeerRules) -> Verifier {
    let rules = PeerRules { authorities: vec![root.der().clone()], ..rules };
    Verifier::new(Role::Server, rules).unwrap()
}

/// A certificate with two organizational units, two e-mail addresses and a serial number.
fn of_alice() -> CertificateParams {
    let mut params = CertificateParams::default();
    let name = &mut params.distinguished_name;
    name.push(DnType::OrganizationalUnitName, "staff");
    name.push(DnType::CommonName, "alice");
    name.push(DnType::from_oid(&[1, 2, 840, 113_549, 1, 9, 1]), "alice@example.org");
    params.serial_number = Some(SerialNumber::from_slice(&[0x98, 0xff, 0xa0]));
    params.subject_alt_names = ["first@example.org", "last@example.org"]
        .map(|address| SanType::Rfc822Name(address.try_into().unwrap()))
        .to_vec();
    // GeneralNames with one rfc822Name.
    let issuer = [&[0x30, 12, 0x81, 10][..], b"ca@ca.test"].concat();
    let extension = CustomExtension::from_oid_content(&[2, 5, 29, 18], issuer);
    params.custom_extensions.push(extension);
    params
}

#[test]
fn fields_name_the_owner() {
    let root = root(&rcgen::PKCS_ECDSA_P256_SHA256);
    let certificate = issue(&root, &rcgen::PKCS_ECDSA_P256_SHA256, of_alice());
    for (fields, expected) in [
        ("", Some("alice")),
        ("CN", Some("alice")),
        ("commonName", Some("alice")),
        ("emailAddress", Some("alice@example.org")),
        ("ext:subjectAltName", Some("last@example.org")),
        ("ext:issuerAltName", Some("ca@ca.test")),
        ("CN serialNumber", Some("alice_0x98FFA0")),
        ("OU CN", Some("staff_alice")),
        ("UID", None),
        ("CN UID", None),
    ] {
        let name_fields: Vec<NameField> =
            fields.split_whitespace().map(|field| NameField::parse(field).unwrap()).collect();
        let rules =
            |name| PeerRules { name_fields: name_fields.clone(), name, ..PeerRules::default() };
        let peer = verifier(&root, rules(None));
        assert_eq!(peer.verify(&certificate, &[], now()).is_ok(), expected.is_some(), "{fields}");
        let identity = peer.identity(std::slice::from_ref(&certificate), false, now());
        assert_eq!(identity.as_ref().map(|it| it.common_name.as_str()), expected, "{fields}");
        // verify-x509-name compares the same name.
        let Some(expected) = expected else { continue };
        for (name, matches) in [(expected, true), ("bob", false)] {
            let peer = verifier(&root, rules(Some(NameRule::Name(name.into()))));
            assert_eq!(peer.verify(&certificate, &[], now()).is_ok(), matches, "{fields} {name}");
        }
    }
    for unknown in ["", "EMAIL", "ext:keyUsage", "1.2.3"] {
        assert_eq!(NameField::parse(unknown), None);
    }
}

#[test]
fn an_address_with_a_control_character_names_nobody() {
    let root = root(&rcgen::PKCS_ECDSA_P256_SHA256);
    let mut params = of_alice();
    params.subject_alt_names = vec![SanType::Rfc822Name("a\nb@example.org".try_into().unwrap())];
    let certificate = issue(&root, &rcgen::PKCS_ECDSA_P256_SHA256, params);
    let name_fields = vec![NameField::SubjectEmail];
    let peer = verifier(&root, PeerRules { name_fields, ..PeerRules::default() });
    assert!(peer.verify(&certificate, &[], now()).is_err());
}

#[test]
fn an_identity_has_the_verified_chain() {
    let algorithm = &rcgen::PKCS_ECDSA_P256_SHA256;
    let root = root(algorithm);
    let key = || KeyPair::generate_for(algorithm).unwrap();
    let middle = CertifiedIssuer::signed_by(authority("middle"), key(), &root).unwrap();
    // Another authority of the same name, which a peer may send as well.
    let false_root = CertifiedIssuer::self_signed(authority("root"), key()).unwrap();
    let false_middle = CertifiedIssuer::signed_by(authority("middle"), key(), &false_root).unwrap();
    let own = issue(&middle, algorithm, of_alice());
    let [middle, false_middle] = [middle, false_middle].map(|it| it.der().clone());
    let peer = verifier(&root, PeerRules::default());
    let sent = [own.clone(), false_middle, middle.clone()];
    let above = |with_chain, now| peer.identity(&sent, with_chain, now).unwrap().authorities;
    assert_eq!(above(true, now()), Some(vec![middle.to_vec(), root.der().to_vec()]));
    assert_eq!(above(false, now()), None);
    // Before all of them were valid.
    assert_eq!(above(true, UnixTime::since_unix_epoch(std::time::Duration::ZERO)), None);
    let fingerprints = vec![fingerprint(&own)];
    let rules = PeerRules { fingerprints, ..PeerRules::default() };
    let alone = Verifier::new(Role::Server, rules).unwrap();
    assert_eq!(alone.identity(&sent, true, now()).unwrap().authorities, Some(Vec::new()));
}

#[test]
fn the_profile_suite_b_accepts_only_its_algorithms_in_the_whole_chain() {
    let (p256, p384) = (&rcgen::PKCS_ECDSA_P256_SHA256, &rcgen::PKCS_ECDSA_P384_SHA384);
    let (p521, ed25519) = (&rcgen::PKCS_ECDSA_P521_SHA512, &rcgen::PKCS_ED25519);
    for (of_root, good) in [(p256, true), (p384, true), (p521, false), (ed25519, false)] {
        let root = root(of_root);
        let certificate = issue(&root, p256, of_alice());
        let accepts = |suite_b| {
            let peer = verifier(&root, PeerRules { suite_b, ..PeerRules::default() });
            peer.verify(&certificate, &[], now()).is_ok()
        };
        assert!(accepts(false));
        assert_eq!(accepts(true), good, "{of_root:?}");
    }
    // The peer's own key signs in the handshake.
    let schemes = |suite_b| {
        let peer = verifier(&root(p256), PeerRules { suite_b, ..PeerRules::default() });
        peer.algorithms.supported_schemes()
    };
    let [p256, p384] =
        [SignatureScheme::ECDSA_NISTP256_SHA256, SignatureScheme::ECDSA_NISTP384_SHA384];
    assert_eq!(schemes(true), [p384, p256]);
    assert!(schemes(false).len() > 2);
}
