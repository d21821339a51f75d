//! Ciphertexts exchanged with the `openssl` command: each side decrypts the other's.

use std::fs;

use crate::support::Generator;
use crate::support::openssl::{openssl, run};
use cycloid::scheme::Hash;
use cycloid::scheme::rsa::{
    Context, Oaep, PrivateKey, context_limbs, encrypt_scratch_limbs, pem_scratch_limbs,
    private_key_limbs, public_key_pem_length,
};

/// A test key, and the paths of its two halves for OpenSSL.
struct Pair {
    key: PrivateKey<Vec<u64>>,
    bits: usize,
    private: String,
    public: String,
}

impl Pair {
    fn new(bits: usize, user: &str) -> Self {
        let private = format!("{}/tests/data/rsa/{bits}.pem", env!("CARGO_MANIFEST_DIR"));
        let pem = fs::read(&private).unwrap_or_else(|error| panic!("{private}: {error}"));
        let memory = vec![0; private_key_limbs(bits)];
        let key = PrivateKey::from_pem(&pem, memory, &mut vec![0; pem_scratch_limbs(bits)]);
        let key = key.unwrap();
        let mut text = vec![0; public_key_pem_length(bits)];
        let text = key.public().to_spki_pem(&mut text).unwrap();
        let public = format!("{}/{user}-{bits}.pem", env!("CARGO_TARGET_TMPDIR"));
        fs::write(&public, text).unwrap();
        Self { key, bits, private, public }
    }

    fn context<'a>(&'a self, memory: &'a mut Vec<u64>) -> Context<'a, Vec<u64>, Generator> {
        memory.resize(context_limbs(self.bits), 0);
        Context::new(&self.key, Generator::new(3), memory).unwrap()
    }

    fn openssl_encrypts(&self, options: &str, message: &[u8]) -> Vec<u8> {
        let arguments = format!("pkeyutl -encrypt -pubin -inkey {} {options}", self.public);
        openssl(&arguments, message)
    }

    fn openssl_decrypts(&self, options: &str, ciphertext: &[u8]) -> Option<Vec<u8>> {
        let arguments = format!("pkeyutl -decrypt -inkey {} {options}", self.private);
        run(&arguments, ciphertext)
    }
}

const LENGTHS: [usize; 3] = [2048, 3072, 4096];

/// Returns the shortest messages, the longest, and one in between.
fn messages(longest: usize) -> [Vec<u8>; 4] {
    [0, 1, 48, longest].map(|length| (0..length).map(|i| i as u8).collect())
}

const fn name(hash: Hash) -> &'static str {
    match hash {
        Hash::Sha1 => "sha1",
        Hash::Sha256 => "sha256",
        Hash::Sha384 => "sha384",
        Hash::Sha512 => "sha512",
        _ => panic!("no test uses it"),
    }
}

#[test]
fn oaep_both_ways() {
    let parameters = [
        (Hash::Sha1, Hash::Sha1, &b""[..]),
        (Hash::Sha256, Hash::Sha256, b"label"),
        (Hash::Sha256, Hash::Sha1, b""),
        (Hash::Sha384, Hash::Sha384, b"\0\xff"),
        (Hash::Sha512, Hash::Sha512, b""),
        (Hash::Sha1, Hash::Sha512, b"another label"),
    ];
    for bits in LENGTHS {
        let pair = Pair::new(bits, "oaep");
        let (mut memory, mut scratch) = (Vec::new(), vec![0; encrypt_scratch_limbs(bits)]);
        let mut context = pair.context(&mut memory);
        let mut rng = Generator::new(4);
        for (hash, mask_hash, label) in parameters {
            let oaep = Oaep { hash, mask_hash, label };
            let mut options = format!(
                "-pkeyopt rsa_padding_mode:oaep -pkeyopt rsa_oaep_md:{} -pkeyopt rsa_mgf1_md:{}",
                name(hash),
                name(mask_hash)
            );
            if !label.is_empty() {
                let label: String = label.iter().map(|byte| format!("{byte:02x}")).collect();
                options += &format!(" -pkeyopt rsa_oaep_label:{label}");
            }
            for message in messages(oaep.longest_message(bits / 8)) {
                let theirs = pair.openssl_encrypts(&options, &message);
                let mut output = vec![0; bits / 8];
                let length = context.decrypt_oaep(&oaep, &theirs, &mut output).unwrap();
                assert_eq!(output[..length], message, "{bits} bits, {options}");

                let mut ours = vec![0; bits / 8];
                let public = pair.key.public();
                public.encrypt_oaep(&oaep, &message, &mut rng, &mut ours, &mut scratch).unwrap();
                let decrypted = pair.openssl_decrypts(&options, &ours);
                assert_eq!(decrypted.as_ref(), Some(&message), "{bits} bits, {options}");
            }
        }
    }
}

#[test]
fn pkcs1v15_both_ways() {
    let options = "-pkeyopt rsa_padding_mode:pkcs1";
    for bits in LENGTHS {
        let pair = Pair::new(bits, "pkcs1v15");
        let (mut memory, mut scratch) = (Vec::new(), vec![0; encrypt_scratch_limbs(bits)]);
        let mut context = pair.context(&mut memory);
        let mut rng = Generator::new(5);
        for message in messages(bits / 8 - 11) {
            let theirs = pair.openssl_encrypts(options, &message);
            let mut output = vec![0; bits / 8];
            let length = context.decrypt_pkcs1v15(&theirs, &mut output).unwrap();
            assert_eq!(output[..length], message, "{bits} bits");

            let mut ours = vec![0; bits / 8];
            let public = pair.key.public();
            public.encrypt_pkcs1v15(&message, &mut rng, &mut ours, &mut scratch).unwrap();
            assert_eq!(pair.openssl_decrypts(options, &ours), Some(message), "{bits} bits");
        }
    }
}

/// OpenSSL has implicit rejection since 3.2, in some distributions earlier. Without it, OpenSSL
/// must refuse the ciphertext.
#[test]
fn synthetic_messages() {
    let options = "-pkeyopt rsa_padding_mode:pkcs1";
    for bits in LENGTHS {
        let pair = Pair::new(bits, "synthetic");
        let mut memory = Vec::new();
        let mut context = pair.context(&mut memory);
        for i in 0..8 {
            let ciphertext = vec![i; bits / 8];
            let mut output = vec![0; bits / 8];
            let length = context.decrypt_pkcs1v15(&ciphertext, &mut output).unwrap();
            match pair.openssl_decrypts(options, &ciphertext) {
                Some(theirs) => assert_eq!(output[..length], theirs, "{bits} bits"),
                None => eprintln!("this openssl has no implicit rejection: nothing compared"),
            }
        }
    }
}
