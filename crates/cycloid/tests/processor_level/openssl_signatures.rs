//! RSA signatures exchanged with the command `openssl`: each side verifies the other's.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::support::{Generator, Key, KnownKey, digest, known_keys};
use cycloid::scheme::Hash;
use cycloid::scheme::rsa::{self, Context, Error, Pss};

const MESSAGE: &[u8] = b"signed by one and verified by the other";

const HASHES: [Hash; 5] = [Hash::Sha1, Hash::Sha224, Hash::Sha256, Hash::Sha384, Hash::Sha512];

/// The functions that are less common.
const OTHERS: [Hash; 6] = [
    Hash::Sha512_224,
    Hash::Sha512_256,
    Hash::Sha3_224,
    Hash::Sha3_256,
    Hash::Sha3_384,
    Hash::Sha3_512,
];

/// A directory that is removed with its contents when dropped.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR"))
            .join(format!("openssl_signatures-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn file(&self, name: &str, content: &[u8]) -> PathBuf {
        let path = self.0.join(name);
        std::fs::write(&path, content).unwrap();
        path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Runs `openssl dgst` with a hash function, a padding and these arguments.
fn openssl(hash: Hash, pss: Option<Pss>, arguments: &[(&str, &Path)], message: &Path) -> Output {
    let name = |hash: Hash| format!("{hash:?}").to_lowercase().replace('_', "-");
    let mut command = Command::new("openssl");
    command.args(["dgst", &format!("-{}", name(hash))]);
    if let Some(pss) = pss {
        let options = [
            "rsa_padding_mode:pss".to_owned(),
            format!("rsa_pss_saltlen:{}", pss.salt_length),
            format!("rsa_mgf1_md:{}", name(pss.mask_hash)),
        ];
        for option in &options {
            command.args(["-sigopt", option]);
        }
    }
    for (option, file) in arguments {
        command.arg(option).arg(file);
    }
    let output = command.arg(message).output();
    output.expect("these tests need the command `openssl`, of the package openssl")
}

/// Keys with their files, and the file of the message.
struct Bench {
    folder: Folder,
    message: PathBuf,
    keys: Vec<(Key, PathBuf)>,
}

impl Bench {
    /// Generates one key of each length.
    fn new(name: &str, lengths: &[usize]) -> Self {
        let folder = Folder::new(name);
        let mut keys: Vec<(Key, PathBuf)> = Vec::new();
        for ((bits, _), KnownKey { key, group }) in known_keys() {
            if lengths.contains(&bits) && keys.iter().all(|(other, _)| other.bits() != bits) {
                keys.push((key, folder.file(&format!("{bits}.pem"), group.pem.as_bytes())));
            }
        }
        assert_eq!(keys.len(), lengths.len());
        Self { message: folder.file("message", MESSAGE), folder, keys }
    }

    /// Verifies OpenSSL's signature here, and ours with OpenSSL.
    fn both_ways(&self, (key, file): &(Key, PathBuf), hash: Hash, pss: Option<Pss>) {
        let name = format!("{} bits, {hash:?}, {pss:?}", key.bits());
        let by_openssl = self.folder.0.join("by-openssl");
        let arguments = [("-sign", &**file), ("-out", &*by_openssl)];
        let output = openssl(hash, pss, &arguments, &self.message);
        assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
        let mut signature = std::fs::read(&by_openssl).unwrap();
        let mut scratch = vec![0; rsa::verify_scratch_limbs(key.bits())];
        let digest = digest(hash, MESSAGE);
        let mut verify = |signature: &[u8]| match pss {
            None => key.public().verify_pkcs1v15(hash, MESSAGE, signature, &mut scratch),
            Some(pss) => key.public().verify_pss_with(pss, &digest, signature, &mut scratch),
        };
        assert_eq!(verify(&signature), Ok(()), "{name}");
        let last = signature.len() - 1;
        signature[last] ^= 1;
        assert_eq!(verify(&signature), Err(Error::Signature), "{name}");
        signature[last] ^= 1;

        let mut memory = vec![0; rsa::context_limbs(key.bits())];
        let mut context = Context::new(key, Generator::new(3), &mut memory).unwrap();
        let mut ours = vec![0; key.public().length()];
        let outcome = match pss {
            None => context.sign_pkcs1v15(hash, MESSAGE, &mut ours),
            Some(pss) => context.sign_pss_with(pss, &digest, &mut ours),
        };
        if hash == Hash::Sha1 {
            assert_eq!(outcome, Err(Error::HashRetired), "{name}");
            return;
        }
        outcome.unwrap();
        // Without a salt the signature is unique.
        if pss.is_none_or(|pss| pss.salt_length == 0) {
            assert_eq!(ours, signature, "{name}");
        }
        let verified = |signature: &[u8]| {
            let ours = self.folder.file("ours", signature);
            let arguments = [("-prverify", &**file), ("-signature", &*ours)];
            let output = openssl(hash, pss, &arguments, &self.message);
            output.status.success() && output.stdout == b"Verified OK\n"
        };
        assert!(verified(&ours), "{name}");
        ours[7] ^= 1;
        assert!(!verified(&ours), "{name}");
    }
}

#[test]
fn pkcs1v15() {
    let bench = Bench::new("pkcs1v15", &[2048, 2688, 3072, 3104, 4032, 4096]);
    for key in &bench.keys {
        for hash in HASHES {
            bench.both_ways(key, hash, None);
        }
    }
}

#[test]
fn pss() {
    let bench = Bench::new("pss", &[2048, 3072, 4096]);
    for key in &bench.keys {
        for hash in HASHES {
            let longest = key.0.public().length() - hash.digest_length() - 2;
            for salt_length in [0, 1, hash.digest_length(), longest] {
                bench.both_ways(key, hash, Some(Pss { salt_length, ..Pss::new(hash) }));
            }
        }
    }
}

#[test]
fn pss_with_every_mask() {
    let bench = Bench::new("mask", &[2048]);
    for hash in HASHES {
        for mask_hash in HASHES {
            bench.both_ways(&bench.keys[0], hash, Some(Pss { mask_hash, ..Pss::new(hash) }));
        }
    }
}

#[test]
fn other_hash_functions() {
    let bench = Bench::new("others", &[2048]);
    for hash in OTHERS {
        bench.both_ways(&bench.keys[0], hash, None);
        bench.both_ways(&bench.keys[0], hash, Some(Pss::new(hash)));
        let pss = Pss { mask_hash: Hash::Sha256, ..Pss::new(hash) };
        bench.both_ways(&bench.keys[0], hash, Some(pss));
    }
}

#[test]
fn the_longest_keys() {
    let bench = Bench::new("longest", &[8192]);
    bench.both_ways(&bench.keys[0], Hash::Sha512, None);
    bench.both_ways(&bench.keys[0], Hash::Sha512, Some(Pss::new(Hash::Sha512)));
}
