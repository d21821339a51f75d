//! OpenSC: pkcs11-tool.

use cycloid_hsm::attribute::cko;

use crate::support::{Kind, LABEL, OFFICER_PIN, P256, TestBed, USER_PIN, contains, module};

/// Returns the options of every command.
fn tool(arguments: &str) -> String {
    format!("--module {} {arguments}", module().display())
}

/// Returns the options with a user login.
fn user(arguments: &str) -> String {
    tool(&format!("--login --pin {USER_PIN} {arguments}"))
}

#[test]
fn its_self_tests_pass() {
    let bed = TestBed::new();
    for (kind, id) in [("rsa:2048", 1), ("EC:prime256v1", 2)] {
        let generate = format!("--keypairgen --key-type {kind} --id 0{id} --label key{id}");
        bed.must("pkcs11-tool", &user(&generate));
    }
    let said = bed.must("pkcs11-tool", &user("--test --allow-sw"));
    contains(&said, &["No errors"]);
    assert!(!said.contains("ERR:"), "{said}");
    assert_eq!(bed.private_keys(), 2);
}

#[test]
fn token_and_mechanisms() {
    let bed = TestBed::new();
    contains(&bed.must("pkcs11-tool", &tool("--show-info")), &["Cryptoki version 3.2", "Cycloid"]);
    let slots = bed.must("pkcs11-tool", &tool("--list-slots"));
    contains(&slots, &[LABEL, "login required", "PIN initialized"]);
    let mechanisms = bed.must("pkcs11-tool", &tool("--list-mechanisms"));
    contains(&mechanisms, &["SHA256-RSA-PKCS-PSS", "ECDSA-SHA384", "EDDSA", "AES-GCM"]);
    bed.must("pkcs11-tool", &tool("--generate-random 64 --output-file random"));
    assert_eq!(bed.read("random").len(), 64);
}

/// A key that the tool generates signs with a mechanism, and OpenSSL verifies with the matching
/// options. The public keys come from the daemon: the tool in Debian 12 (OpenSC 0.23) writes no
/// keys on curves beyond P-256.
#[test]
fn keys_are_generated_and_used() {
    let bed = TestBed::new();
    bed.write("message", "a message\n");
    bed.must("openssl", "dgst -sha256 -binary -out digest message");
    let pss = "-sigopt rsa_padding_mode:pss -sigopt rsa_pss_saltlen:32";
    let cases: [(&str, &[(&str, &str)]); 5] = [
        (
            "rsa:3072",
            &[
                ("SHA256-RSA-PKCS", "dgst -sha256"),
                ("SHA256-RSA-PKCS-PSS", &format!("dgst -sha256 {pss}")),
            ],
        ),
        ("EC:prime256v1", &[("ECDSA-SHA256", "dgst -sha256")]),
        ("EC:secp384r1", &[("ECDSA-SHA384", "dgst -sha384")]),
        ("EC:secp521r1", &[("ECDSA-SHA512", "dgst -sha512")]),
        ("EC:edwards25519", &[("EDDSA", "pkeyutl")]),
    ];
    for (number, (kind, mechanisms)) in cases.into_iter().enumerate() {
        let id = format!("{:02x}", 0xa0 + number);
        let generate = format!("--keypairgen --key-type {kind} --id {id} --label key-{number}");
        contains(&bed.must("pkcs11-tool", &user(&generate)), &["Key pair generated"]);
        bed.save_public_key(0xa0 + number as u8);
        for (mechanism, verify) in mechanisms {
            let _ = std::fs::remove_file(bed.path("signature"));
            let sign =
                format!("--sign --id {id} --mechanism {mechanism} --signature-format openssl");
            let files = "--input-file message --output-file signature";
            bed.must("pkcs11-tool", &user(&format!("{sign} {files}")));
            let verify = if *verify == "pkeyutl" {
                "pkeyutl -verify -rawin -pubin -inkey public.pem -in message -sigfile signature"
                    .into()
            } else {
                format!("{verify} -verify public.pem -signature signature message")
            };
            let said = bed.must("openssl", &verify);
            contains(&said.to_lowercase(), &["verified"]);
        }
        bed.must("pkcs11-tool", &user(&format!("--delete-object --type privkey --id {id}")));
        bed.must("pkcs11-tool", &user(&format!("--delete-object --type pubkey --id {id}")));
    }
    assert_eq!((bed.private_keys(), bed.count(cko::PUBLIC_KEY)), (0, 0));
}

#[test]
fn secret_keys_encrypt() {
    let bed = TestBed::new();
    bed.write("message", "a message that is longer than a block\n");
    bed.must("pkcs11-tool", &user("--keygen --key-type aes:32 --id 07 --label aes"));
    let key = format!("--id 07 --mechanism AES-CBC-PAD --iv {}", "5a".repeat(16));
    let encrypt = format!("--encrypt {key} --input-file message --output-file sealed");
    bed.must("pkcs11-tool", &user(&encrypt));
    assert_eq!(bed.read("sealed").len(), 48);
    let decrypt = format!("--decrypt {key} --input-file sealed --output-file opened");
    bed.must("pkcs11-tool", &user(&decrypt));
    assert_eq!(bed.read("opened"), bed.read("message"));
}

#[test]
fn certificates_and_keys_are_written_and_read() {
    let bed = TestBed::new();
    bed.write("openssl.cnf", "[req]\ndistinguished_name = name\n[name]\n");
    bed.must(
        "openssl",
        "req -x509 -newkey rsa:2048 -noenc -subj /CN=me -keyout key.pem -outform DER -out me.der",
    );
    bed.must("pkcs11-tool", &user("--write-object me.der --type cert --id 05 --label me"));
    bed.must("pkcs11-tool", &tool("--read-object --type cert --id 05 --output-file again.der"));
    assert_eq!(bed.read("again.der"), bed.read("me.der"));
    contains(&bed.must("pkcs11-tool", &tool("--list-objects")), &["Certificate Object", "CN=me"]);

    // An imported key signs as the original does.
    bed.must("openssl", "pkey -in key.pem -outform DER -out key.der");
    bed.must("openssl", "pkey -in key.pem -pubout -out public.pem");
    bed.must("pkcs11-tool", &user("--write-object key.der --type privkey --id 05 --label me"));
    let sign = "--sign --id 05 --mechanism SHA256-RSA-PKCS --input-file me.der --output-file made";
    bed.must("pkcs11-tool", &user(sign));
    bed.must("openssl", "dgst -sha256 -verify public.pem -signature made me.der");

    bed.must("pkcs11-tool", &user("--delete-object --type cert --id 05"));
    assert_eq!((bed.count(cko::CERTIFICATE), bed.private_keys()), (0, 1));
    // Only the user sees private objects.
    assert!(!bed.must("pkcs11-tool", &tool("--list-objects")).contains("Private Key Object"));
    contains(&bed.must("pkcs11-tool", &user("--list-objects")), &["Private Key Object"]);
}

#[test]
fn pins_and_roles() {
    let bed = TestBed::new();
    let wrong = tool("--login --pin wrong-pin --list-objects");
    contains(&bed.must_fail("pkcs11-tool", &wrong), &["CKR_PIN_INCORRECT"]);
    let generate = tool("--keypairgen --key-type EC:prime256v1 --label nobody");
    contains(&bed.must_fail("pkcs11-tool", &generate), &["CKR_USER_NOT_LOGGED_IN"]);

    bed.must("pkcs11-tool", &user("--change-pin --new-pin another-pin"));
    contains(&bed.must_fail("pkcs11-tool", &user("--list-objects")), &["CKR_PIN_INCORRECT"]);
    bed.must("pkcs11-tool", &tool("--login --pin another-pin --list-objects"));

    // The security officer resets the user's PIN, and reinitialises the token.
    let officer = format!("--login --login-type so --so-pin {OFFICER_PIN}");
    bed.must("pkcs11-tool", &tool(&format!("{officer} --init-pin --new-pin {USER_PIN}")));
    bed.must("pkcs11-tool", &user("--keypairgen --key-type EC:prime256v1 --label a"));
    assert_eq!(bed.private_keys(), 1);
    bed.must("pkcs11-tool", &tool(&format!("--init-token --label anew --so-pin {OFFICER_PIN}")));
    contains(&bed.must("pkcs11-tool", &tool("--list-slots")), &["anew"]);
    contains(&bed.must_fail("pkcs11-tool", &user("--list-objects")), &["CKR_"]);
}

#[test]
fn without_a_daemon_there_is_no_token() {
    let mut bed = TestBed::new();
    bed.stop();
    contains(&bed.must("pkcs11-tool", &tool("--list-slots")), &["empty"]);
    contains(&bed.must_fail("pkcs11-tool", &user("--list-objects")), &["No slot with a token"]);
}

/// Mechanisms by number, because the tool in Debian 12 (OpenSC 0.23) has no names for them.
#[test]
fn openssl_verifies_signatures_with_sha3() {
    let bed = TestBed::new();
    bed.generate("rsa", 1, Kind::Rsa);
    bed.generate("p256", 2, P256);
    bed.write("message", "a message\n");
    let rsa = [(0x60, 256), (0x61, 384), (0x62, 512), (0x66, 224)];
    let p256 = [(0x1047, 224), (0x1048, 256), (0x1049, 384), (0x104a, 512)];
    for (id, label, mechanisms) in [(1, "rsa", rsa), (2, "p256", p256)] {
        for (mechanism, bits) in mechanisms {
            let files = "--input-file message --output-file signature --signature-format openssl";
            let sign = format!("--sign --id 0{id} --mechanism {mechanism:#x} {files}");
            bed.must("pkcs11-tool", &user(&sign));
            let verify = format!("-verify {label}.pem -signature signature message");
            let said = bed.must("openssl", &format!("dgst -sha3-{bits} {verify}"));
            contains(&said, &["Verified OK"]);
        }
    }
}
