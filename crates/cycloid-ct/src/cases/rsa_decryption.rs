//! RSA encryption of secret messages, and decryption with a secret key, with both paddings.
//! Ciphertexts are public, and so is whether an OAEP ciphertext is valid.

use cycloid::scheme::Hash;
use cycloid::scheme::rsa::{self, Context, Error, HashFunction, Oaep};
use sha2::Sha256;

use super::rsa::{Key, imported};
use crate::check::{Check, marked};

const OAEP: Oaep<'_> =
    Oaep { hash: Hash::Sha256, mask_hash: Hash::Sha1, label: b"a label is public" };

pub(crate) fn encrypt(check: &mut Check) {
    // A zero among the random bytes of the padding is drawn again.
    check.varies();
    let key = imported(check);
    let public = key.public();
    let message = check.bytes(32);
    let secret = marked(&message);
    let mut scratch = vec![0; rsa::encrypt_scratch_limbs(public.bits())];
    let mut ciphertexts = vec![vec![0; public.length()]; 2];
    let mut rng = check.rng();
    check.trace("encrypt", || {
        let [oaep, pkcs1v15] = ciphertexts.as_mut_slice() else { return };
        public.encrypt_oaep(&OAEP, &secret, &mut rng, oaep, &mut scratch).expect("the output fits");
        public
            .encrypt_pkcs1v15(&secret, &mut rng, pkcs1v15, &mut scratch)
            .expect("the output fits");
    });
    let mut memory = vec![0; rsa::context_limbs(key.bits())];
    let mut rng = check.rng();
    let mut context = Context::new(&*key, &mut rng, &mut memory).expect("the buffers suffice");
    let mut output = vec![0; public.length()];
    let length = context.decrypt_oaep(&OAEP, &ciphertexts[0], &mut output);
    check.secret("encrypt", &ciphertexts[0], |_| output[..length.unwrap_or(0)] == message);
    let length = context.decrypt_pkcs1v15(&ciphertexts[1], &mut output);
    check.secret("encrypt", &ciphertexts[1], |_| output[..length.unwrap_or(0)] == message);
}

pub(crate) fn oaep(check: &mut Check) {
    let key = imported(check);
    let mut rng = check.rng();
    let public = key.public();
    let mut scratch = vec![0; rsa::encrypt_scratch_limbs(public.bits())];
    for message in [&b""[..], b"a message"] {
        let mut ciphertext = vec![0; public.length()];
        public.encrypt_oaep(&OAEP, message, &mut rng, &mut ciphertext, &mut scratch).expect("fits");
        decrypt(check, &key, "OAEP", Some(message), |context, output| {
            context.decrypt_oaep(&OAEP, &ciphertext, output)
        });
        let hash = HashFunction::of::<Sha256>();
        let oaep = Oaep { mask_hash: Hash::Sha1.into(), label: OAEP.label, ..Oaep::of(hash) };
        decrypt(check, &key, "OAEP with a function", Some(message), |context, output| {
            context.decrypt_oaep(&oaep, &ciphertext, output)
        });
    }
    // A ciphertext that is invalid for every label; only this fact may be visible.
    let ciphertext = vec![5; public.length()];
    let mut memory = vec![0; rsa::context_limbs(key.bits())];
    let mut context = Context::new(&*key, &mut rng, &mut memory).expect("the buffers suffice");
    let mut output = vec![0; public.length()];
    let mut outcome = Ok(0);
    check.trace("OAEP refused", || {
        outcome = context.decrypt_oaep(&OAEP, &ciphertext, &mut output);
    });
    check.judge("OAEP refused", outcome == Err(Error::Decryption));
}

pub(crate) fn pkcs1v15(check: &mut Check) {
    let key = imported(check);
    let mut rng = check.rng();
    let public = key.public();
    let mut scratch = vec![0; rsa::encrypt_scratch_limbs(public.bits())];
    let mut ciphertext = vec![0; public.length()];
    public
        .encrypt_pkcs1v15(b"a message", &mut rng, &mut ciphertext, &mut scratch)
        .expect("the output fits");
    decrypt(check, &key, "PKCS #1 v1.5", Some(b"a message"), |context, output| {
        context.decrypt_pkcs1v15(&ciphertext, output)
    });
    // A ciphertext without a valid message, which decrypts to a synthetic message.
    let ciphertext = vec![5; public.length()];
    decrypt(check, &key, "implicit rejection", None, |context, output| {
        context.decrypt_pkcs1v15(&ciphertext, output)
    });
}

type Decryption<'a> = Context<'a, Vec<u64>, &'a mut crate::check::Secrets>;

/// Decrypts; the message and its length must stay secret and be as expected.
fn decrypt(
    check: &mut Check,
    key: &Key,
    name: &str,
    message: Option<&[u8]>,
    decrypt: impl FnOnce(&mut Decryption<'_>, &mut [u8]) -> Result<usize, Error>,
) {
    let mut memory = vec![0; rsa::context_limbs(key.bits())];
    let mut rng = check.rng();
    let mut output = vec![0; key.public().length() - 11];
    let mut lengths = vec![0];
    check.trace(name, || {
        let mut context = Context::new(key, &mut rng, &mut memory).expect("the buffers suffice");
        lengths[0] = decrypt(&mut context, &mut output).expect("no fault, nor a public error");
    });
    let right = |length: usize| message.is_none_or(|message| message.len() == length);
    check.secret(&format!("{name}: length"), &lengths, |lengths| right(lengths[0]));
    let written = output.len().min(190);
    check.secret(name, &output[..written], |output| {
        message.is_none_or(|message| output.starts_with(message))
    });
}
