//! Operations with keys: what one side makes, the other accepts.

use crate::support::{BOTH, Place, With, spoil};

fn key(place: &Place, name: &str, algorithm: &str) {
    place.ok(With::Stock, &format!("genpkey -algorithm {algorithm} -out {name}.pem"));
    place.ok(With::Stock, &format!("pkey -in {name}.pem -pubout -out {name}.pub"));
}

const P256: &str = "EC -pkeyopt group:P-256";

/// A kind of signature: its key, the options, and the line in the log.
const SIGNATURES: [(&str, &str, &str); 17] = [
    ("RSA", "-sha256", "cycloid sign RSA"),
    ("RSA", "-sha512-256", "cycloid sign RSA"),
    ("RSA", "-sha3-384", "cycloid sign RSA"),
    (
        "RSA",
        "-sha256 -sigopt rsa_padding_mode:pss -sigopt rsa_pss_saltlen:digest",
        "cycloid sign RSA",
    ),
    ("RSA", "-sha384 -sigopt rsa_padding_mode:pss -sigopt rsa_pss_saltlen:max", "cycloid sign RSA"),
    (
        "RSA",
        "-sha256 -sigopt rsa_padding_mode:pss -sigopt rsa_pss_saltlen:7 -sigopt rsa_mgf1_md:sha512",
        "cycloid sign RSA",
    ),
    ("RSA-PSS", "-sha256 -sigopt rsa_pss_saltlen:digest", "cycloid sign RSA"),
    (P256, "-sha256", "cycloid sign ECDSA"),
    (P256, "-sha3-512", "cycloid sign ECDSA"),
    (P256, "-sha1", "cycloid sign ECDSA"),
    ("EC -pkeyopt group:P-224", "-sha224", "cycloid sign ECDSA"),
    ("EC -pkeyopt group:P-384", "-sha384", "cycloid sign ECDSA"),
    ("EC -pkeyopt group:P-521", "-sha512", "cycloid sign ECDSA"),
    // Left to the default provider.
    ("RSA", "-sha1", "default sign RSA"),
    ("RSA", "-sha256 -sigopt rsa_padding_mode:pss", "default sign RSA"),
    ("RSA -pkeyopt rsa_keygen_bits:1024", "-sha256", "default sign RSA"),
    ("EC -pkeyopt group:secp256k1", "-sha256", "default sign ECDSA"),
];

#[test]
fn signatures_of_files() {
    let place = Place::new();
    place.write("message", "as agreed");
    place.write("other", "as agreed not");
    for (algorithm, options, line) in SIGNATURES {
        key(&place, "key", algorithm);
        key(&place, "foreign", algorithm);
        for (signer, verifier) in BOTH.into_iter().flat_map(|a| BOTH.map(|b| (a, b))) {
            place.ok(signer, &format!("dgst {options} -sign key.pem -out signature message"));
            let expected = usize::from(signer == With::Cycloid);
            assert_eq!(place.logged(line), expected, "{line}: {algorithm} {options}");
            let verify = format!("dgst {options} -signature signature");
            place.ok(verifier, &format!("{verify} -verify key.pub message"));
            if verifier == With::Cycloid && line.starts_with("cycloid") {
                let line = line.replace("sign", "verify");
                assert_eq!(place.logged(&line), 1, "{line}: {algorithm} {options}");
            }
            place.fails(verifier, &format!("{verify} -verify key.pub other"));
            place.fails(verifier, &format!("{verify} -verify foreign.pub message"));
            spoil(&place.path("signature"), 3);
            place.fails(verifier, &format!("{verify} -verify key.pub message"));
            std::fs::write(place.path("signature"), [0x30, 1]).expect("the file is written");
            place.fails(verifier, &format!("{verify} -verify key.pub message"));
            place.logged("");
        }
    }
}

#[test]
fn signatures_of_digests() {
    let place = Place::new();
    std::fs::write(place.path("digest"), [7; 32]).expect("the file is written");
    std::fs::write(place.path("short"), [7; 31]).expect("the file is written");
    for (algorithm, options, by) in [
        ("RSA", "-pkeyopt digest:sha256", "cycloid"),
        ("RSA", "", "cycloid"),
        (
            "RSA",
            "-pkeyopt rsa_padding_mode:pss -pkeyopt digest:sha256 -pkeyopt rsa_pss_saltlen:digest",
            "cycloid",
        ),
        (P256, "-pkeyopt digest:sha256", "cycloid"),
        (P256, "", "cycloid"),
        ("RSA", "-pkeyopt digest:sha256 -pkeyopt rsa_padding_mode:x931", "default"),
    ] {
        key(&place, "key", algorithm);
        for (signer, verifier) in BOTH.into_iter().flat_map(|a| BOTH.map(|b| (a, b))) {
            place.ok(
                signer,
                &format!("pkeyutl -sign -inkey key.pem -in digest -out signature {options}"),
            );
            let name = if algorithm == "RSA" { "RSA" } else { "ECDSA" };
            let expected = usize::from(signer == With::Cycloid);
            assert_eq!(place.logged(&format!("{by} sign {name}")), expected, "{options}");
            let verify =
                format!("pkeyutl -verify -pubin -inkey key.pub -sigfile signature {options}");
            place.ok(verifier, &format!("{verify} -in digest"));
            place.fails(verifier, &format!("{verify} -in short"));
            place.logged("");
        }
        if options.contains("digest") {
            place
                .fails(With::Cycloid, &format!("pkeyutl -sign -inkey key.pem -in short {options}"));
        }
    }
}

#[test]
fn ed25519_signs_messages() {
    let place = Place::new();
    place.write("message", "as agreed");
    place.write("other", "as agreed not");
    key(&place, "key", "ED25519");
    key(&place, "foreign", "ED25519");
    let made = BOTH.map(|with| {
        place.ok(with, "pkeyutl -sign -rawin -inkey key.pem -in message -out signature");
        for verifier in BOTH {
            let verify = "pkeyutl -verify -rawin -pubin -sigfile signature";
            place.ok(verifier, &format!("{verify} -inkey key.pub -in message"));
            place.fails(verifier, &format!("{verify} -inkey key.pub -in other"));
            place.fails(verifier, &format!("{verify} -inkey foreign.pub -in message"));
        }
        place.read("signature")
    });
    assert_eq!(made[0], made[1], "Ed25519 is deterministic");
    let log = String::from_utf8(place.read("log")).expect("the log is text");
    assert_eq!(log.lines().filter(|line| *line == "cycloid sign ED25519").count(), 1);
    assert_eq!(log.lines().filter(|line| *line == "cycloid verify ED25519").count(), 6);
}

/// Returns whether OpenSSL has no synthetic messages for invalid ciphertexts.
fn is_old() -> bool {
    let version = Place::new().ok(With::Stock, "version");
    version.starts_with("OpenSSL 3.0.") || version.starts_with("OpenSSL 3.1.")
}

#[test]
fn encryption() {
    let place = Place::new();
    place.write("message", "a key of 16 byte");
    std::fs::write(place.path("block"), [7; 256]).expect("the file is written");
    key(&place, "key", "RSA");
    key(&place, "foreign", "RSA");
    for (options, by) in [
        ("", "cycloid"),
        ("-pkeyopt rsa_padding_mode:oaep", "cycloid"),
        (
            "-pkeyopt rsa_padding_mode:oaep -pkeyopt rsa_oaep_md:sha256 -pkeyopt rsa_mgf1_md:sha1",
            "cycloid",
        ),
        ("-pkeyopt rsa_padding_mode:oaep -pkeyopt rsa_oaep_label:6162", "cycloid"),
        ("-pkeyopt rsa_padding_mode:none", "default"),
    ] {
        let raw = options.ends_with("none");
        let message = if raw { "block" } else { "message" };
        for (one, other) in BOTH.into_iter().flat_map(|a| BOTH.map(|b| (a, b))) {
            place.ok(
                one,
                &format!(
                    "pkeyutl -encrypt -pubin -inkey key.pub -in {message} -out sealed {options}"
                ),
            );
            place.ok(
                other,
                &format!("pkeyutl -decrypt -inkey key.pem -in sealed -out opened {options}"),
            );
            assert_eq!(place.read("opened"), place.read(message));
            let log = String::from_utf8(place.read("log")).expect("the log is text");
            let expected = usize::from(one == With::Cycloid) + usize::from(other == With::Cycloid);
            assert_eq!(log.lines().filter(|line| line.starts_with(by)).count(), expected, "{log}");
            place.write("log", "");
            if options.contains("oaep") {
                place.fails(
                    other,
                    &format!("pkeyutl -decrypt -inkey foreign.pem -in sealed {options}"),
                );
            }
            if !raw {
                std::fs::write(place.path("sealed"), [1; 255]).expect("the file is written");
                let command = format!("pkeyutl -decrypt -inkey key.pem -in sealed {options}");
                // From 3.2 on, OpenSSL has synthetic messages, too.
                if options.contains("oaep") || other == With::Stock && is_old() {
                    place.fails(other, &command);
                }
            }
            place.write("log", "");
        }
    }
    // An invalid ciphertext has a message of its own, the same each time.
    std::fs::write(place.path("sealed"), [1; 256]).expect("the file is written");
    let opened =
        [(); 2].map(|()| place.run(With::Cycloid, "pkeyutl -decrypt -inkey key.pem -in sealed"));
    assert!(opened[0].status.success());
    assert_eq!(opened[0].stdout, opened[1].stdout);

    // It is that of the number: leading zeros may be missing.
    let open = |sealed: &[u8]| {
        std::fs::write(place.path("sealed"), sealed).expect("the file is written");
        place.run(With::Cycloid, "pkeyutl -decrypt -inkey key.pem -in sealed")
    };
    let [whole, short] = [&[&[0; 3][..], &[1; 253]].concat()[..], &[1; 253]].map(open);
    assert!(whole.status.success() && short.status.success());
    assert_eq!(whole.stdout, short.stdout);
    for wrong in [&[][..], &[1; 257], &[0; 257]] {
        assert!(!open(wrong).status.success(), "{} bytes", wrong.len());
    }
}

#[test]
fn agreement() {
    let place = Place::new();
    for (algorithm, options, line) in [
        ("X25519", "", "cycloid derive X25519"),
        (P256, "", "cycloid derive ECDH"),
        ("EC -pkeyopt group:P-224", "", "cycloid derive ECDH"),
        ("EC -pkeyopt group:P-384", "", "cycloid derive ECDH"),
        ("EC -pkeyopt group:P-521", "", "cycloid derive ECDH"),
        ("EC -pkeyopt group:brainpoolP256r1", "", "default derive ECDH"),
        (P256, "-pkeyopt ecdh_kdf_md:sha256 -pkeyopt ecdh_cofactor_mode:0", "default derive ECDH"),
    ] {
        key(&place, "one", algorithm);
        key(&place, "two", algorithm);
        let mut secrets = Vec::new();
        for (with, own, peer) in
            BOTH.into_iter().flat_map(|it| [(it, "one", "two"), (it, "two", "one")])
        {
            place.ok(
                with,
                &format!(
                    "pkeyutl -derive -inkey {own}.pem -peerkey {peer}.pub -out secret {options}"
                ),
            );
            secrets.push(place.read("secret"));
            let expected = usize::from(with == With::Cycloid);
            assert_eq!(place.logged(line), expected, "{line}: {algorithm}");
        }
        assert!(secrets.windows(2).all(|pair| pair[0] == pair[1]), "{algorithm}");
    }
    key(&place, "other", P256);
    key(&place, "one", "EC -pkeyopt group:P-384");
    place.fails(With::Cycloid, "pkeyutl -derive -inkey one.pem -peerkey other.pub");
    // The neutral element agrees on nothing.
    key(&place, "own", "X25519");
    place.ok(With::Stock, "pkey -in own.pem -pubout -outform DER -out zero.der");
    let mut zero = place.read("zero.der");
    let start = zero.len() - 32;
    zero[start..].fill(0);
    std::fs::write(place.path("zero.der"), zero).expect("the file is written");
    let said = place
        .fails(With::Cycloid, "pkeyutl -derive -inkey own.pem -peerkey zero.der -peerform DER");
    assert!(said.contains("key agreement failed"), "{said}");
}

#[test]
fn certificates() {
    let place = Place::new();
    for (algorithm, options, line) in [
        ("rsa:2048", "-sha256", "cycloid sign RSA"),
        (
            "rsa:2048",
            "-sha256 -sigopt rsa_padding_mode:pss -sigopt rsa_pss_saltlen:32",
            "cycloid sign RSA",
        ),
        ("ec -pkeyopt ec_paramgen_curve:P-256", "-sha256", "cycloid sign ECDSA"),
        ("ed25519", "", "cycloid sign ED25519"),
    ] {
        for (issuer, verifier) in BOTH.into_iter().flat_map(|a| BOTH.map(|b| (a, b))) {
            place.ok(issuer, &format!(
                "req -x509 -newkey {algorithm} {options} -nodes -keyout key.pem -out cert.pem -subj /CN=localhost -days 2"
            ));
            assert_eq!(place.logged(line), usize::from(issuer == With::Cycloid), "{line}");
            place.ok(verifier, "verify -CAfile cert.pem -check_ss_sig cert.pem");
            if verifier == With::Cycloid {
                assert_eq!(place.logged(&line.replace("sign", "verify")), 1, "{line}");
            }
        }
    }
}
