//! RSA encryption of secret messages, and decryption with a secret key, whatever the padding is.
//! Ciphertexts are public, and so is whether a ciphertext of OAEP is sound.

use cycloid::machine::ct;
use cycloid::machine::words::Backend;
use cycloid::scheme::Hash;
use cycloid::scheme::rsa::{self, Context, Error, Oaep};

use crate::check::{Check, secret};
use crate::rsa::{Key, imported};

/// Bytes that are and are not a multiple of those of a limb.
const LENGTHS: [usize; 2] = [2048, 2080];

const OAEP: Oaep<'_> =
    Oaep { hash: Hash::Sha256, mask_hash: Hash::Sha1, label: b"a label is public" };

/// Encrypts and decrypts on the best backend, which is this one.
pub(crate) fn run(check: &mut Check, backend: Backend) {
    for bits in LENGTHS {
        let key = imported(check, bits);
        let of = format!("of {bits} bits, {}", backend.name());
        for message in [&b""[..], b"a message", &[7; 190]] {
            oaep(check, &key, &of, message);
            pkcs1v15(check, &key, &of, message);
        }
        wrong(check, &key, &of);
    }
}

fn oaep(check: &mut Check, key: &Key, of: &str, message: &[u8]) {
    let ciphertext = encrypted(check, key, of, |public, check, ciphertext, scratch| {
        public.encrypt_oaep(&OAEP, &secret(message), check, ciphertext, scratch)
    });
    let name = format!("OAEP decryption {of}");
    decrypt(check, key, &name, Some(message), |context, output| {
        context.decrypt_oaep(&OAEP, &ciphertext, output)
    });
}

fn pkcs1v15(check: &mut Check, key: &Key, of: &str, message: &[u8]) {
    let ciphertext = encrypted(check, key, of, |public, check, ciphertext, scratch| {
        public.encrypt_pkcs1v15(&secret(message), check, ciphertext, scratch)
    });
    let name = format!("PKCS #1 v1.5 decryption {of}");
    decrypt(check, key, &name, Some(message), |context, output| {
        context.decrypt_pkcs1v15(&ciphertext, output)
    });
}

/// A ciphertext that is not one of a message: with PKCS #1 v1.5 there is one all the same.
fn wrong(check: &mut Check, key: &Key, of: &str) {
    let ciphertext = vec![5; key.public().length()];
    let name = format!("implicit rejection {of}");
    decrypt(check, key, &name, None, |context, output| {
        context.decrypt_pkcs1v15(&ciphertext, output)
    });
    let mut memory = vec![0; rsa::context_limbs(key.bits())];
    let mut context = Context::new(key, check, &mut memory).expect("it has room");
    let mut output = vec![0; key.public().length()];
    let outcome = context.decrypt_oaep(&OAEP, &ciphertext, &mut output);
    assert_eq!(outcome, Err(Error::Decryption), "{name}");
}

type Public<'a> = rsa::PublicKey<&'a [u64]>;

/// A ciphertext, which must be found secret, and is public from here on.
fn encrypted(
    check: &mut Check,
    key: &Key,
    of: &str,
    encrypt: impl FnOnce(&Public<'_>, &mut Check, &mut [u8], &mut [u64]) -> Result<(), Error>,
) -> Vec<u8> {
    let public = key.public();
    let mut ciphertext = vec![0; public.length()];
    let mut scratch = vec![0; rsa::encrypt_scratch_limbs(public.bits())];
    encrypt(&public, check, &mut ciphertext, &mut scratch).expect("it fits");
    check.judged(&format!("encryption {of}"), &ciphertext, |_| true);
    ciphertext
}

/// Decrypts; the message and its length must be found secret, and as expected.
fn decrypt(
    check: &mut Check,
    key: &Key,
    name: &str,
    message: Option<&[u8]>,
    decrypt: impl FnOnce(&mut Context<'_, Vec<u64>, &mut Check>, &mut [u8]) -> Result<usize, Error>,
) {
    let mut memory = vec![0; rsa::context_limbs(key.bits())];
    let mut context = Context::new(key, &mut *check, &mut memory).expect("it has room");
    let mut output = vec![0; key.public().length() - 11];
    let length = decrypt(&mut context, &mut output).expect("no fault, nor an error that is public");
    drop(context);
    let right = |length: usize| message.is_none_or(|message| message.len() == length);
    check.judged(&format!("length by {name}"), &[length], |length| right(length[0]));
    ct::mark_public(core::slice::from_ref(&length));
    let written = output.len();
    check.judged(name, &output[..written.min(190)], |output| {
        message.is_none_or(|message| output.starts_with(message))
    });
}
