//! Signatures of files as `ssh-keygen -Y sign` makes them, by `ssh-key`, which uses version 2 of
//! the crate `signature`. `ssh-keygen` verifies them.

use std::io::Write;
use std::process::{Command, Stdio};

use cycloid::scheme::ed25519;
use signature_2::Signer;
use ssh_key::public::{Ed25519PublicKey, KeyData};
use ssh_key::{Algorithm, HashAlg, LineEnding, PublicKey, Signature, SshSig};

use crate::support::Generator;
use crate::temporary;

/// A key of the library as a key of SSH.
struct Key(ed25519::SigningKey);

impl Signer<Signature> for Key {
    fn try_sign(&self, message: &[u8]) -> Result<Signature, signature_2::Error> {
        let signature: ed25519::Signature = self.0.try_sign(message)?;
        Signature::new(Algorithm::Ed25519, signature.as_ref())
            .map_err(|_| signature_2::Error::new())
    }
}

impl From<&Key> for KeyData {
    fn from(key: &Key) -> Self {
        Self::Ed25519(Ed25519PublicKey(*key.0.verifying_key().as_bytes()))
    }
}

/// Returns whether `ssh-keygen` finds the signature valid.
fn is_valid(public: &str, signature: &str, message: &[u8]) -> bool {
    let signers = temporary("signers", format!("tester {public}\n"));
    let signature = temporary("message.sig", signature);
    let mut verify = Command::new("ssh-keygen");
    verify.args(["-Y", "verify", "-I", "tester", "-n", "file", "-f", &signers, "-s", &signature]);
    verify.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    let running = verify.spawn();
    let mut running = running.expect("this test needs `ssh-keygen`: install openssh-client");
    running.stdin.take().unwrap().write_all(message).unwrap();
    running.wait().unwrap().success()
}

#[test]
fn a_file_is_signed() {
    let key = Key(ed25519::SigningKey::generate(&mut Generator::new(1)).unwrap());
    let signature = SshSig::sign(&key, "file", HashAlg::Sha512, b"contents").unwrap();
    let pem = signature.to_pem(LineEnding::LF).unwrap();
    let public = PublicKey::from(KeyData::from(&key)).to_openssh().unwrap();
    assert!(is_valid(&public, &pem, b"contents"));
    assert!(!is_valid(&public, &pem, b"contentz"));
}
