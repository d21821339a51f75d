//! Certificates made with `rcgen`, signed with keys of each kind and verified by `openssl`.
#![cfg(feature = "rcgen")]

mod support;

use std::fs;

use cycloid_rustls::CertificateKey;
use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyIdMethod, SerialNumber};
use support::Certificate;

/// Returns parameters with everything that `rcgen` would hash, so that it needs no other library.
fn parameters(name: &str, serial: u64) -> CertificateParams {
    let mut parameters = CertificateParams::new([name.to_string()]).unwrap();
    parameters.distinguished_name.push(DnType::CommonName, name);
    parameters.serial_number = Some(SerialNumber::from(serial));
    parameters.key_identifier_method = KeyIdMethod::PreSpecified(serial.to_be_bytes().to_vec());
    parameters
}

#[test]
fn openssl_verifies_certificates_of_every_kind() {
    for certificate in Certificate::all("rcgen") {
        let key = CertificateKey::from_der(&certificate.key());
        if certificate.kind == "p521" {
            assert!(key.unwrap_err().to_string().contains("rcgen has no such curve"));
            continue;
        }
        let key = key.unwrap();
        let mut authority = parameters("authority", 1);
        authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let root = authority.self_signed(&key).unwrap();
        let leaf = parameters("localhost", 2);
        let leaf = leaf.signed_by(&key, &Issuer::from_params(&authority, &key)).unwrap();
        fs::write(certificate.path("root.der"), root.der()).unwrap();
        fs::write(certificate.path("made.der"), leaf.der()).unwrap();
        certificate.openssl("x509 -inform DER -in root.der -out root.pem");
        certificate.openssl("x509 -inform DER -in made.der -out made.pem");
        certificate.openssl("verify -check_ss_sig -CAfile root.pem root.pem made.pem");
    }
}

#[test]
fn a_key_for_pss_alone_is_refused() {
    let certificate = Certificate::for_pss("rcgen-pss", "pss", "");
    let error = CertificateKey::from_der(&certificate.key()).unwrap_err();
    assert!(error.to_string().contains("RSASSA-PSS alone"), "{error}");
}
