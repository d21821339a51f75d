//! Key files of any format: reading any bytes gives an error, or a key that survives writing and
//! reading again.

#![no_main]

use std::fs;
use std::path::Path;
use std::sync::LazyLock;

use cycloid::key_file::{self, PrivateKey, PublicKey};
use cycloid::scheme::x25519::public_key_to_der;
use cycloid_fuzz::Input;
use libfuzzer_sys::fuzz_target;

/// Files of every format, because random bytes rarely are valid: the corpus of the library's tests,
/// without long keys and costly passphrases.
static FILES: LazyLock<Vec<Vec<u8>>> = LazyLock::new(|| {
    let corpus =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates/cycloid/tests/data/key_files");
    let mut paths: Vec<_> = fs::read_dir(corpus)
        .expect("the corpus")
        .map(|entry| entry.expect("a file").path())
        .collect();
    paths.sort();
    let files = paths.iter().map(|path| fs::read(path).expect("a file"));
    files.filter(|file| !file.is_empty() && file.len() < 1500).collect()
});

const PASSPHRASE: &[u8] = b"cycloid";

fuzz_target!(|bytes: &[u8]| {
    let mut input = Input::new(bytes);
    let file = match input.byte() {
        0 => bytes.get(1..).unwrap_or_default().to_vec(),
        which => {
            let which = usize::from(which) << 8 | usize::from(input.byte());
            input.changed(&FILES[which % FILES.len()])
        }
    };
    if let Ok(key) = key_file::read_public(&file) {
        public_comes_back(&key);
    }
    if let Ok(key) = key_file::read_private(&file) {
        public_comes_back(&key.public_key());
        private_comes_back(&key);
    }
    // Changed parameters of other encryptions would take seconds.
    if file.windows(9).any(|window| window == b"Proc-Type") {
        drop(key_file::read_private_with_passphrase(&file, PASSPHRASE));
    }
});

fn private_comes_back(key: &PrivateKey) {
    let mut room = [0; 1024];
    let written = match key {
        PrivateKey::Rsa(key) => &key.to_pkcs8_der()[..],
        PrivateKey::Nist(key) => key.to_pkcs8_der(&mut room).expect("room"),
        PrivateKey::Ed25519(key) => key.to_der(&mut room).expect("room"),
        PrivateKey::X25519(key) => key.to_der(&mut room).expect("room"),
        _ => return,
    };
    let again = key_file::read_private(written).expect("a valid key");
    assert_eq!(again.public_key(), key.public_key());
}

fn public_comes_back(key: &PublicKey) {
    let mut room = [0; 1024];
    let written = match key {
        PublicKey::Rsa(key) => &key.to_spki_der()[..],
        PublicKey::Nist(key) => key.to_spki_der(&mut room).expect("room"),
        PublicKey::Ed25519(key) => key.to_der(&mut room).expect("room"),
        PublicKey::X25519(key) => public_key_to_der(key, &mut room).expect("room"),
        _ => return,
    };
    assert_eq!(&key_file::read_public(written).expect("a valid key"), key);
}
