//! Private keys: what loads and signs, and what is said of those that do not load.

mod support;

use std::thread;

use cycloid_rustls::{VERIFICATION_ALGORITHMS, any_supported_key};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{PrivateKeyDer, SubjectPublicKeyInfoDer};
use rustls::sign::SigningKey;
use rustls::{Error, SignatureScheme};
use support::Certificate;

/// Signs by every scheme that the key has, and verifies by the algorithm of that scheme which is
/// for such a key; gives how many schemes there were.
fn signs(key: &dyn SigningKey) -> usize {
    let public = key.public_key().expect("a key knows its public key");
    let mut schemes = 0;
    for (scheme, algorithms) in VERIFICATION_ALGORITHMS.mapping {
        let Some(signer) = key.choose_scheme(&[*scheme]) else { continue };
        schemes += 1;
        assert_eq!(signer.scheme(), *scheme);
        let signature = signer.sign(b"message").unwrap();
        let verify = |message: &[u8], signature: &[u8]| {
            let algorithm = &algorithms[0];
            algorithm.verify_signature(subject(&public), message, signature).is_ok()
        };
        assert!(verify(b"message", &signature), "{scheme:?}");
        assert!(!verify(b"massage", &signature), "{scheme:?}");
        for i in 0..signature.len() {
            let mut wrong = signature.clone();
            wrong[i] ^= 1;
            assert!(!verify(b"message", &wrong), "{scheme:?}, byte {i}");
        }
        assert!(!verify(b"message", &signature[1..]) && !verify(b"message", &[]));
    }
    schemes
}

/// The key in a SubjectPublicKeyInfo: what is in its second element, a BIT STRING.
fn subject<'a>(info: &'a SubjectPublicKeyInfoDer<'_>) -> &'a [u8] {
    fn element(der: &[u8]) -> (&[u8], &[u8]) {
        let (head, length) = match der[1] {
            0x81 => (3, usize::from(der[2])),
            0x82 => (4, usize::from(der[2]) << 8 | usize::from(der[3])),
            short => (2, usize::from(short)),
        };
        der[head..].split_at(length)
    }
    let (contents, _) = element(info);
    let (_, rest) = element(contents);
    let (bits, _) = element(rest);
    &bits[1..]
}

#[test]
fn keys_of_every_format_sign() {
    for certificate in Certificate::all("formats") {
        let schemes = if certificate.kind.starts_with("rsa") { 6 } else { 1 };
        let load = |file: &str| {
            let key = PrivateKeyDer::from_pem_file(certificate.path(file)).unwrap();
            let form = match key {
                PrivateKeyDer::Pkcs1(_) => "PKCS #1",
                PrivateKeyDer::Sec1(_) => "SEC 1",
                _ => "PKCS #8",
            };
            (form, any_supported_key(&key).unwrap())
        };
        let (form, key) = load("leaf.key");
        assert_eq!((form, signs(&*key)), ("PKCS #8", schemes), "{}", certificate.kind);
        assert!(key.choose_scheme(&[SignatureScheme::ML_DSA_44]).is_none());
        assert!(key.choose_scheme(&[]).is_none());

        let (convert, expected) = match certificate.kind {
            "ed25519" => continue,
            kind if kind.starts_with("rsa") => ("rsa -traditional", "PKCS #1"),
            _ => ("ec", "SEC 1"),
        };
        certificate.openssl(&format!("{convert} -in leaf.key -out other.key"));
        let (form, other) = load("other.key");
        assert_eq!(form, expected);
        assert_eq!(other.public_key(), key.public_key());
        assert_eq!(signs(&*other), schemes);
    }
}

#[test]
fn a_key_that_does_not_load_says_why() {
    let [certificate, ..] = &Certificate::all("bad")[..] else { panic!("there are several") };
    let reason = |file: &str| {
        let key = PrivateKeyDer::from_pem_file(certificate.path(file)).unwrap();
        let Err(Error::General(reason)) = any_supported_key(&key) else { panic!("{file} loads") };
        reason
    };
    let make = |arguments: &str| certificate.openssl(&format!("{arguments} -out made.key"));

    make("genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-224");
    assert!(
        reason("made.key").contains("neither RSA, nor ECDSA on P-256"),
        "{}",
        reason("made.key")
    );
    make("ecparam -genkey -noout -name secp256k1");
    assert!(reason("made.key").contains("neither RSA"), "{}", reason("made.key"));
    make("genpkey -algorithm X25519");
    assert!(reason("made.key").contains("neither RSA"), "{}", reason("made.key"));
    make("genpkey -algorithm RSA -pkeyopt rsa_keygen_bits:1024");
    let said = reason("made.key");
    assert!(
        said.starts_with("the RSA private key is not usable") && said.contains("1024"),
        "{said}"
    );

    for (kind, key) in Certificate::all("bad").iter().map(|c| (c.kind, c.key())) {
        let der = key.secret_der().to_vec();
        for length in (0..der.len()).step_by(7) {
            let cut = PrivateKeyDer::Pkcs8(der[..length].to_vec().into());
            assert!(any_supported_key(&cut).is_err(), "{kind}, {length} bytes");
        }
        for i in 0..der.len() {
            let mut changed = der.clone();
            changed[i] ^= 0x41;
            // Whatever comes of it, it is no panic.
            let _ = any_supported_key(&PrivateKeyDer::Pkcs8(changed.into()));
        }
        let sec1 = PrivateKeyDer::Sec1(der.clone().into());
        let pkcs1 = PrivateKeyDer::Pkcs1(der.into());
        let _ = (any_supported_key(&sec1), any_supported_key(&pkcs1));
    }
}

#[test]
fn many_threads_sign_with_one_rsa_key() {
    let certificate = &Certificate::all("threads")[0];
    let key = any_supported_key(&certificate.key()).unwrap();
    let public = key.public_key().unwrap();
    let scheme = SignatureScheme::RSA_PSS_SHA256;
    let (_, algorithms) =
        VERIFICATION_ALGORITHMS.mapping.iter().find(|(known, _)| *known == scheme).unwrap();
    thread::scope(|scope| {
        for number in 0..8u8 {
            let (key, public) = (&key, &public);
            scope.spawn(move || {
                for round in 0..40 {
                    let message = [number, round];
                    let signature = key.choose_scheme(&[scheme]).unwrap().sign(&message).unwrap();
                    let verified =
                        algorithms[0].verify_signature(subject(public), &message, &signature);
                    assert!(verified.is_ok(), "thread {number}, round {round}");
                }
            });
        }
    });
}
