//! Exchange with programs: keys that they make now are read, and keys that Cycloid writes are read
//! by them. A missing program is named on standard error.

use std::io::ErrorKind;
use std::path::Path;
use std::process::Command;

use cycloid::key_file::{self, PrivateKey};

use crate::{pkcs8, spki};

/// Runs a program; `None` if it is missing.
#[track_caller]
fn run(program: &str, arguments: &str, directory: &Path) -> Option<Vec<u8>> {
    // Two quotes stand for an empty argument.
    let arguments = arguments.split(' ').map(|word| if word == "''" { "" } else { word });
    match Command::new(program).args(arguments).current_dir(directory).output() {
        Ok(output) => {
            assert!(output.status.success(), "{program}: {output:?}");
            Some(output.stdout)
        }
        Err(error) if error.kind() == ErrorKind::NotFound => {
            eprintln!("not run: {program} is not installed");
            None
        }
        Err(error) => panic!("{program}: {error}"),
    }
}

/// A directory that is removed when dropped.
struct Directory(std::path::PathBuf);

impl Directory {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("cycloid-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn check(directory: &Path, file: &str, passphrase: Option<&str>) -> PrivateKey {
    let bytes = std::fs::read(directory.join(file)).unwrap();
    match passphrase {
        None => key_file::read_private(&bytes).unwrap(),
        Some(passphrase) => {
            key_file::read_private_with_passphrase(&bytes, passphrase.as_bytes()).unwrap()
        }
    }
}

#[test]
fn ssh_keygen() {
    let directory = Directory::new("ssh-keygen");
    let at = &directory.0;
    for (i, kind) in ["ed25519", "ecdsa -b 256", "ecdsa -b 521", "rsa -b 3072"].iter().enumerate() {
        let new = format!("-q -t {kind} -N '' -f key{i}");
        if run("ssh-keygen", &new, at).is_none() {
            return;
        }
        let key = check(at, &format!("key{i}"), None);
        let line = std::fs::read(at.join(format!("key{i}.pub"))).unwrap();
        assert_eq!(key_file::read_public(&line).unwrap(), key.public_key());
        run("ssh-keygen", &format!("-q -p -P '' -N secret -a 1 -f key{i}"), at);
        assert_eq!(check(at, &format!("key{i}"), Some("secret")).public_key(), key.public_key());
        // `ssh-keygen` reads the PKCS #8 that Cycloid writes, except for Ed25519.
        if i > 0 {
            let der = pkcs8(&key).unwrap();
            std::fs::write(at.join("key.der"), der).unwrap();
            run("openssl", "pkcs8 -topk8 -nocrypt -inform DER -in key.der -out key.pem", at);
            run("chmod", "600 key.pem", at);
            let line = run("ssh-keygen", "-y -f key.pem", at).unwrap();
            assert_eq!(key_file::read_public(&line).unwrap(), key.public_key());
        }
    }
}

#[test]
fn openssl() {
    let directory = Directory::new("openssl");
    let at = &directory.0;
    for algorithm in ["RSA", "EC -pkeyopt ec_paramgen_curve:P-384", "ED25519", "X25519"] {
        let new = format!("genpkey -algorithm {algorithm} -out key.pem");
        if run("openssl", &new, at).is_none() {
            return;
        }
        let key = check(at, "key.pem", None);
        let public = run("openssl", "pkey -in key.pem -pubout -outform DER", at).unwrap();
        assert_eq!(spki(&key.public_key()).unwrap(), public);
        for way in ["-v2 aes-256-cbc", "-v2 aes-128-cbc -v2prf hmacWithSHA1", "-scrypt"] {
            let way = format!("pkcs8 -topk8 -in key.pem {way} -passout pass:secret -out encrypted");
            run("openssl", &way, at);
            assert_eq!(check(at, "encrypted", Some("secret")).public_key(), key.public_key());
        }
        std::fs::write(at.join("key.der"), pkcs8(&key).unwrap()).unwrap();
        let again = run("openssl", "pkey -inform DER -in key.der -pubout -outform DER", at);
        assert_eq!(again.unwrap(), public);
    }
}
