//! GnuTLS: p11tool and certtool.

use crate::support::{Kind, P256, TestBed, USER_PIN, contains, module};

fn bed() -> TestBed {
    let bed = TestBed::new();
    bed.generate("rsa", 1, Kind::Rsa);
    bed.generate("p256", 2, P256);
    bed
}

fn tool(arguments: &str) -> String {
    format!("--provider {} {arguments}", module().display())
}

fn user(arguments: &str) -> String {
    tool(&format!("--login --set-pin={USER_PIN} {arguments}"))
}

#[test]
fn the_token_and_its_objects() {
    let bed = bed();
    contains(&bed.must("p11tool", &tool("--list-tokens")), &["token=office", "Cycloid"]);
    let objects = bed.must("p11tool", &user("--list-all pkcs11:token=office"));
    contains(&objects, &["object=rsa;type=private", "object=p256;type=public", "CKA_SENSITIVE"]);
    let mechanisms = bed.must("p11tool", &tool("--list-mechanisms pkcs11:token=office"));
    contains(&mechanisms, &["CKM_SHA256_RSA_PKCS_PSS", "CKM_EDDSA"]);
}

#[test]
fn signatures() {
    let bed = bed();
    for label in ["rsa", "p256"] {
        let key = format!("pkcs11:token=office;object={label};type=private");
        contains(&bed.must("p11tool", &user(&format!("--test-sign {key}"))), &["ok"]);
    }
}

#[test]
fn keys_are_generated_and_deleted() {
    let bed = bed();
    // GnuTLS 3.7 has no mechanism to generate Ed25519 keys.
    for (label, kind) in [("three", "rsa --bits 3072"), ("four", "ecc --curve secp384r1")] {
        let kind = format!("--generate-privkey={kind}");
        bed.must("p11tool", &user(&format!("{kind} --label {label} pkcs11:token=office")));
        let key = format!("pkcs11:token=office;object={label};type=private");
        contains(&bed.must("p11tool", &user(&format!("--test-sign {key}"))), &["ok"]);
    }
    assert_eq!(bed.private_keys(), 4);
    bed.must("p11tool", &user("--batch --delete pkcs11:token=office;object=three;type=private"));
    assert_eq!(bed.private_keys(), 3);
}

#[test]
fn a_certificate() {
    let bed = bed();
    bed.write("template", "cn = example.org\nca\ncert_signing_key\nexpiration_days = 30\n");
    for label in ["rsa", "p256"] {
        let key = format!("pkcs11:token=office;object={label};type=private;pin-value={USER_PIN}");
        let generate = format!("--generate-self-signed --load-privkey {key} --template template");
        bed.must("certtool", &tool(&format!("{generate} --outfile ca.pem")));
        contains(&bed.must("openssl", "verify -CAfile ca.pem ca.pem"), &["ca.pem: OK"]);
        bed.must("openssl", "x509 -in ca.pem -noout -pubkey -out public.pem");
        assert_eq!(bed.read("public.pem"), bed.read(&format!("{label}.pem")));
    }
}
