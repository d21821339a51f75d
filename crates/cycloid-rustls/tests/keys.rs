//! Private keys: loading, signing, and the errors for keys that do not load.

mod support;

use std::thread;

use cycloid_rustls::{VERIFICATION_ALGORITHMS, any_supported_key};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{PrivateKeyDer, SubjectPublicKeyInfoDer};
use rustls::sign::SigningKey;
use rustls::{Error, SignatureScheme};
use support::Certificate;

/// Signs with every scheme of the key, verifies with the matching algorithm of that scheme, and
/// returns the number of schemes.
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

/// Returns the key in a SubjectPublicKeyInfo: the content of its second element, a BIT STRING.
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
        said.starts_with("the RSA private key (PKCS #8) is not usable") && said.contains("1024"),
        "{said}"
    );
    make("genpkey -algorithm ED448");
    assert!(reason("made.key").contains("algorithm 1.3.101.113"), "{}", reason("made.key"));

    let said = |key: PrivateKeyDer<'static>| match any_supported_key(&key) {
        Err(Error::General(reason)) => reason,
        outcome => panic!("{outcome:?}"),
    };
    make("pkcs8 -topk8 -in leaf.key -outform DER -passout pass:cycloid");
    let encrypted = std::fs::read(certificate.path("made.key")).unwrap();
    let reason = said(PrivateKeyDer::Pkcs8(encrypted.into()));
    assert_eq!(reason, "the private key (PKCS #8) is encrypted with a password: decrypt it first");
    for bytes in [&[][..], &[0x30], &[0x30, 0], b"not a key", &[0x30, 3, 2, 1, 0]] {
        let reason = said(PrivateKeyDer::Pkcs8(bytes.to_vec().into()));
        assert!(reason.contains("is not PKCS #8 in DER"), "{reason}");
        assert!(!reason.contains("RSA"), "{reason}");
        let reason = said(PrivateKeyDer::Pkcs1(bytes.to_vec().into()));
        assert!(reason.starts_with("the RSA private key (PKCS #1) is not usable"), "{reason}");
        let reason = said(PrivateKeyDer::Sec1(bytes.to_vec().into()));
        assert!(reason.starts_with("the ECDSA private key (SEC 1) is not usable"), "{reason}");
    }
    // A valid file with an invalid key.
    for (kind, name, oid) in [
        ("rsa-2048", "RSA", &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 1, 1][..]),
        ("p256", "ECDSA", &[0x2a, 0x86, 0x48, 0xce, 0x3d, 2, 1]),
        ("ed25519", "Ed25519", &[0x2b, 0x65, 0x70]),
    ] {
        let parameters: &[u8] = match kind {
            "rsa-2048" => &[5, 0],
            "p256" => &[6, 8, 0x2a, 0x86, 0x48, 0xce, 0x3d, 3, 1, 7],
            _ => &[],
        };
        let tlv = |tag: u8, parts: &[&[u8]]| {
            let contents = parts.concat();
            [&[tag, contents.len() as u8], &contents[..]].concat()
        };
        let algorithm = tlv(0x30, &[&tlv(6, &[oid]), parameters]);
        let file = tlv(0x30, &[&[2, 1, 0], &algorithm, &tlv(4, &[&[0x30, 0]])]);
        let reason = said(PrivateKeyDer::Pkcs8(file.into()));
        let start = format!("the {name} private key (PKCS #8) is not usable");
        assert!(reason.starts_with(&start), "{reason}");
    }

    for (kind, key) in Certificate::all("bad").iter().map(|c| (c.kind, c.key())) {
        let der = key.secret_der().to_vec();
        for length in (0..der.len()).step_by(7) {
            let cut = PrivateKeyDer::Pkcs8(der[..length].to_vec().into());
            assert!(any_supported_key(&cut).is_err(), "{kind}, {length} bytes");
        }
        for i in 0..der.len() {
            let mut changed = der.clone();
            changed[i] ^= 0x41;
            // The result does not matter, as long as it does not panic.
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

#[test]
fn a_key_restricted_to_pss_offers_only_its_scheme() {
    let pss_pss = [0x0809, 0x080a, 0x080b].map(SignatureScheme::Unknown);
    let options = |hash: &str, mask: &str, salt: usize| {
        format!(
            "-pkeyopt rsa_pss_keygen_md:{hash} -pkeyopt rsa_pss_keygen_mgf1_md:{mask} \
             -pkeyopt rsa_pss_keygen_saltlen:{salt}"
        )
    };
    for (kind, options, offered) in [
        ("any", String::new(), &pss_pss[..]),
        ("sha256", options("sha256", "sha256", 32), &pss_pss[..1]),
        ("sha384", options("sha384", "sha384", 0), &pss_pss[1..2]),
        ("sha512", options("sha512", "sha512", 64), &pss_pss[2..]),
        // TLS uses one hash function for all parts, not SHA-1, and a salt as long as the digest.
        ("sha1", options("sha1", "sha1", 20), &[]),
        ("mask", options("sha256", "sha512", 32), &[]),
        ("salt", options("sha256", "sha256", 33), &[]),
    ] {
        let certificate = Certificate::for_pss("pss", kind, &options);
        let key = match any_supported_key(&certificate.key()) {
            Ok(key) => key,
            Err(Error::General(reason)) => {
                assert!(offered.is_empty(), "{kind}: {reason}");
                assert!(reason.contains("for which TLS has no signature scheme"), "{reason}");
                continue;
            }
            Err(error) => panic!("{error}"),
        };
        let mut found = Vec::new();
        for number in 0..=u16::MAX {
            let scheme = SignatureScheme::from(number);
            if let Some(signer) = key.choose_scheme(&[scheme]) {
                assert_eq!(signer.scheme(), scheme);
                assert_eq!(signer.sign(b"message").unwrap().len(), 256);
                found.push(scheme);
            }
        }
        assert_eq!(found, offered, "{kind}");
        // The public key is that of the certificate, including its algorithm.
        let chain = certificate.chain();
        let info = key.public_key().unwrap();
        assert!(chain[0].windows(info.len()).any(|window| window == &info[..]), "{kind}");
    }
}

#[test]
fn a_key_with_a_composite_prime_is_rejected() {
    // The first prime is the product of two of 512 bits, and all numbers are consistent.
    let key = PrivateKeyDer::from_pem_slice(include_bytes!("composite.pem")).unwrap();
    let Err(Error::General(reason)) = any_supported_key(&key) else { panic!("it loads") };
    assert_eq!(
        reason,
        "the RSA private key (PKCS #1) is not usable: a factor of the modulus is not prime"
    );
}

#[cfg(feature = "post-quantum")]
#[test]
fn ml_dsa_keys_sign() {
    use aws_lc_rs::signature::{
        ML_DSA_44_SIGNING, ML_DSA_65_SIGNING, ML_DSA_87_SIGNING, PqdsaKeyPair,
    };

    for algorithm in [&ML_DSA_44_SIGNING, &ML_DSA_65_SIGNING, &ML_DSA_87_SIGNING] {
        let key = PqdsaKeyPair::generate(algorithm).unwrap().to_pkcs8v1().unwrap();
        let key = PrivateKeyDer::Pkcs8(key.as_ref().to_vec().into());
        assert_eq!(signs(&*any_supported_key(&key).unwrap()), 1);
    }
}
