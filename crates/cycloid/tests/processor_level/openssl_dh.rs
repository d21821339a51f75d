//! Key agreement with the program `openssl`, in both directions.

use std::path::PathBuf;
use std::process::Command;

use crate::support::Generator;
use crate::support::dh::{DhKey, element, number, padded};
use cycloid::scheme::dh::{self, Group, PrivateKey, Validation};

/// A directory of its own for this test, removed when dropped.
struct Directory(PathBuf);

impl Directory {
    fn new() -> Self {
        let path = std::env::temp_dir().join(format!("cycloid-openssl-dh-{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn file(&self, name: &str) -> String {
        self.0.join(name).to_str().unwrap().to_owned()
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        std::fs::remove_dir_all(&self.0).expect("it is there");
    }
}

fn openssl(arguments: &[&str]) {
    let output = Command::new("openssl").args(arguments).output().expect("openssl is installed");
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "openssl {}: {error}", arguments.join(" "));
}

/// Returns a DER element with these contents.
fn encoded(tag: u8, contents: &[u8]) -> Vec<u8> {
    let length = contents.len();
    let header = match length {
        0..0x80 => vec![tag, length as u8],
        0x80..0x100 => vec![tag, 0x81, length as u8],
        _ => vec![tag, 0x82, (length >> 8) as u8, length as u8],
    };
    [&header, contents].concat()
}

/// Returns the key `der`, SPKI, with another public value.
fn with_value(der: &[u8], value: &[u8]) -> Vec<u8> {
    let (_, key, _) = element(der);
    let (_, _, after) = element(key);
    let algorithm = &key[..key.len() - after.len()];
    // A leading one bit would make the number negative, and a superfluous zero is not DER.
    let value = &value[value.iter().take_while(|byte| **byte == 0).count()..];
    let sign: &[u8] = if value[0] < 0x80 { &[] } else { &[0] };
    let value = encoded(0x02, &[sign, value].concat());
    let string = encoded(0x03, &[&[0], &value[..]].concat());
    encoded(0x30, &[algorithm, &string].concat())
}

#[test]
fn agreement_with_openssl_in_every_group_both_ways() {
    let directory = Directory::new();
    let [private, public, ours, secret] =
        ["private.der", "public.der", "ours.der", "secret"].map(|name| directory.file(name));
    for group in Group::KNOWN {
        // OpenSSL's names for the groups of RFC 3526 have an underscore.
        let name = group.name().unwrap().replace("modp", "modp_");
        let option = format!("group:{name}");
        openssl(&[
            "genpkey",
            "-algorithm",
            "DH",
            "-pkeyopt",
            &option,
            "-outform",
            "DER",
            "-out",
            &private,
        ]);
        openssl(&[
            "pkey", "-inform", "DER", "-in", &private, "-pubout", "-outform", "DER", "-out",
            &public,
        ]);
        let theirs = DhKey::from_der(&std::fs::read(&private).unwrap());
        let their_public = std::fs::read(&public).unwrap();
        let their_value = DhKey::from_der(&their_public);
        assert_eq!(theirs.prime, number(group.prime()), "{name}");
        assert_eq!(theirs.generator, number(group.generator()));

        let bits = group.bits();
        let mut scratch = vec![0; dh::scratch_limbs(bits, bits)];
        let mut value = vec![0; group.length()];
        // OpenSSL's key, read here, has the same public value.
        let same =
            PrivateKey::new(group, &theirs.number.to_bytes_be(), vec![0; bits / 64]).unwrap();
        same.public_value(&mut value, &mut scratch).unwrap();
        assert_eq!(value, padded(&their_value.number, value.len()), "{name}");

        let key =
            PrivateKey::generate(group, vec![0; 7], &mut Generator::new(bits as u64)).unwrap();
        key.public_value(&mut value, &mut scratch).unwrap();
        std::fs::write(&ours, with_value(&their_public, &value)).unwrap();
        openssl(&[
            "pkeyutl",
            "-derive",
            "-keyform",
            "DER",
            "-inkey",
            &private,
            "-peerform",
            "DER",
            "-peerkey",
            &ours,
            "-pkeyopt",
            "dh_pad:1",
            "-out",
            &secret,
        ]);
        let mut shared = vec![0; group.length()];
        let peer = their_value.number.to_bytes_be();
        key.agree(&peer, Validation::Full, &mut shared, &mut scratch).unwrap();
        assert_eq!(std::fs::read(&secret).unwrap(), shared, "{name}");
    }
}
