//! OpenSSL with the engine of libp11. The engine in Debian 12 supports RSA and ECDSA keys.

use crate::support::{P256, P384, TestBed, contains};

const MESSAGE: &str = "a message\n";

/// Makes a token with an RSA, a P-256 and a P-384 key.
fn keys() -> TestBed {
    let bed = TestBed::new();
    bed.configure_engine();
    bed.generate("rsa", 1, crate::support::Kind::Rsa);
    bed.generate("p256", 2, P256);
    bed.generate("p384", 3, P384);
    bed.write("message", MESSAGE);
    bed
}

/// Returns the options with which OpenSSL uses a private key of the token.
fn engine(label: &str) -> String {
    format!("-engine pkcs11 -keyform engine {}", key(label))
}

fn key(label: &str) -> String {
    format!("pkcs11:token=office;object={label};type=private")
}

#[test]
fn certificate_requests_and_certificates() {
    let bed = keys();
    for label in ["rsa", "p256", "p384"] {
        let key = key(label);
        let request = format!("req -new -engine pkcs11 -keyform engine -key {key}");
        bed.must("openssl", &format!("{request} -subj /CN=example.org -out request.pem"));
        // The request is signed by the token's key, whose public half it contains.
        contains(&bed.must("openssl", "req -in request.pem -verify -noout"), &["verify OK"]);
        bed.must("openssl", "req -in request.pem -noout -pubkey -out public.pem");
        assert_eq!(bed.read("public.pem"), bed.read(&format!("{label}.pem")));

        bed.must("openssl", &format!("{request} -x509 -days 30 -subj /CN=CA -out ca.pem"));
        contains(&bed.must("openssl", "verify -CAfile ca.pem ca.pem"), &["ca.pem: OK"]);
        let sign = format!("x509 -req -in request.pem -CA ca.pem -CAkey {key} -CAkeyform engine");
        bed.must("openssl", &format!("{sign} -engine pkcs11 -CAcreateserial -out leaf.pem"));
        contains(&bed.must("openssl", "verify -CAfile ca.pem leaf.pem"), &["leaf.pem: OK"]);
    }
}

#[test]
fn signatures_of_files() {
    let bed = keys();
    bed.write("other", "another message\n");
    let pss = "-sigopt rsa_padding_mode:pss -sigopt rsa_pss_saltlen:digest";
    for (label, hash, padding) in [
        ("rsa", "sha256", ""),
        ("rsa", "sha512", pss),
        ("p256", "sha256", ""),
        ("p384", "sha384", ""),
    ] {
        let key = key(label);
        let digest = format!("dgst -{hash} {padding}");
        bed.must(
            "openssl",
            &format!("{digest} -engine pkcs11 -keyform engine -sign {key} -out signature message"),
        );
        let verify = format!("{digest} -verify {label}.pem -signature signature");
        contains(&bed.must("openssl", &format!("{verify} message")), &["Verified OK"]);
        contains(&bed.must_fail("openssl", &format!("{verify} other")), &["erification"]);
    }
}

#[test]
fn messages_signed_and_decrypted_by_cms() {
    let bed = keys();
    let request = "req -new -x509 -days 30 -subj /CN=signer -engine pkcs11 -keyform engine";
    for label in ["rsa", "p256"] {
        let key = key(label);
        bed.must("openssl", &format!("{request} -key {key} -out {label}.crt"));
        let inkey = format!("-engine pkcs11 -keyform engine -inkey {key}");
        let sign = format!("cms -sign -binary -in message -signer {label}.crt {inkey}");
        bed.must("openssl", &format!("{sign} -outform PEM -out signed.pem -nodetach"));
        let verify = format!("cms -verify -inform PEM -in signed.pem -CAfile {label}.crt");
        bed.must("openssl", &format!("{verify} -purpose any -out opened"));
        assert_eq!(bed.read("opened"), MESSAGE.as_bytes());
    }
    bed.must("openssl", "cms -encrypt -binary -aes-256-cbc -in message -out sealed.cms rsa.crt");
    let inkey = format!("-engine pkcs11 -keyform engine -inkey {}", key("rsa"));
    bed.must("openssl", &format!("cms -decrypt -in sealed.cms -recip rsa.crt {inkey} -out opened"));
    assert_eq!(bed.read("opened"), MESSAGE.as_bytes());
}

#[test]
fn a_missing_key_is_an_error() {
    let bed = keys();
    let request = format!("dgst -sha256 -sign {} -out signature message", engine("nobody"));
    bed.must_fail("openssl", &request);
}
