//! Keys, signatures and agreements exchanged with the program `openssl`, in both directions.

use std::path::PathBuf;

use crate::support::Generator;
use crate::support::openssl::{openssl, run};
use cycloid::scheme::ed25519::{self, SigningKey, VerifyingKey};
use cycloid::scheme::x25519::{self, PrivateKey};

/// A directory of its own for a test, removed when dropped.
struct Directory(PathBuf);

impl Directory {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("cycloid-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn write(&self, name: &str, contents: &[u8]) -> String {
        let path = self.0.join(name);
        std::fs::write(&path, contents).unwrap();
        path.to_str().unwrap().to_owned()
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        std::fs::remove_dir_all(&self.0).expect("it is there");
    }
}

#[test]
fn ed25519_both_ways() {
    let directory = Directory::new("openssl-ed25519");
    // OpenSSL 3.0 does not sign an empty message with this command.
    for length in [1, 2, 111, 1000] {
        let message = vec![length as u8; length];
        let file = directory.write("message", &message);

        // Signed by OpenSSL, verified here.
        let private = openssl("genpkey -algorithm ed25519 -outform DER", b"");
        let pem = openssl("pkey -inform DER", &private);
        let public = openssl("pkey -inform DER -pubout -outform DER", &private);
        let public_pem = openssl("pkey -inform DER -pubout", &private);
        let key = SigningKey::from_der(&private).unwrap();
        assert_eq!(SigningKey::from_pem(&pem).unwrap().seed(), key.seed());
        let verifying_key = VerifyingKey::from_der(&public).unwrap();
        assert_eq!(VerifyingKey::from_pem(&public_pem).unwrap(), verifying_key);
        assert_eq!(key.verifying_key(), &verifying_key);
        let key_file = directory.write("private.pem", &pem);
        let sign = format!("pkeyutl -sign -rawin -inkey {key_file} -in {file}");
        let signature: [u8; 64] = openssl(&sign, b"").try_into().unwrap();
        assert_eq!(key.sign(&message), signature);

        // Signed here, verified by OpenSSL.
        let key = SigningKey::generate(&mut Generator::new(length as u64)).unwrap();
        let mut output = [0; ed25519::KEY_PAIR_PEM_LENGTH];
        let pem = key.to_pem(&mut output).unwrap().to_owned();
        let key_file = directory.write("ours.pem", pem.as_bytes());
        let sign = format!("pkeyutl -sign -rawin -inkey {key_file} -in {file}");
        assert_eq!(openssl(&sign, b""), key.sign(&message));
        let public = openssl("pkey -pubout", pem.as_bytes());
        let verifying_key = key.verifying_key();
        assert_eq!(verifying_key.to_pem(&mut output).unwrap().as_bytes(), public);
        let public_file = directory.write("ours-public.pem", &public);
        for wrong in [0, 1] {
            let mut signature = key.sign(&message);
            signature[3] ^= wrong;
            let signature_file = directory.write("signature", &signature);
            let verify = format!(
                "pkeyutl -verify -rawin -pubin -inkey {public_file} -in {file} \
                 -sigfile {signature_file}"
            );
            assert_eq!(run(&verify, b"").is_some(), wrong == 0);
        }
    }
}

#[test]
fn x25519_both_ways() {
    let directory = Directory::new("openssl-x25519");
    for seed in 0..4 {
        let private = openssl("genpkey -algorithm x25519 -outform DER", b"");
        let pem = openssl("pkey -inform DER", &private);
        let public = openssl("pkey -inform DER -pubout -outform DER", &private);
        let theirs = PrivateKey::from_der(&private).unwrap();
        assert_eq!(PrivateKey::from_pem(&pem).unwrap().as_bytes(), theirs.as_bytes());
        let their_public = x25519::public_key_from_der(&public).unwrap();
        assert_eq!(theirs.public_key(), their_public);

        let ours = PrivateKey::generate(&mut Generator::new(seed)).unwrap();
        let mut output = [0; x25519::PRIVATE_KEY_PEM_LENGTH];
        let ours_file = directory.write("ours.pem", ours.to_pem(&mut output).unwrap().as_bytes());
        let ours_public = x25519::public_key_to_pem(&ours.public_key(), &mut output).unwrap();
        let ours_public_file = directory.write("ours-public.pem", ours_public.as_bytes());
        assert_eq!(openssl(&format!("pkey -pubout -in {ours_file}"), b""), ours_public.as_bytes());

        let shared = ours.agree(&their_public).unwrap();
        let theirs_file = directory.write("theirs.pem", &pem);
        let derive = format!("pkeyutl -derive -inkey {theirs_file} -peerkey {ours_public_file}");
        assert_eq!(openssl(&derive, b""), shared.as_bytes());
        assert_eq!(theirs.agree(&ours.public_key()).unwrap().as_bytes(), shared.as_bytes());
    }
}
