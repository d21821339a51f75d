//! Signing that verifies each signature before it is released.

/// A private key that verifies each of its signatures before it is released, with a public key that
/// was stored apart from what signs.
///
/// It has the methods for signing that the key itself has, each of which gives a signature that
/// verifies, or the scheme's `Error::Fault` and nothing of the signature.
///
/// | | one signature | a batch |
/// |---|---|---|
/// | ECDSA | [`PrivateKey::verify_after_sign`](super::ec::PrivateKey::verify_after_sign) | [`SignJob::verify_after_sign`](super::ecdsa::SignJob::verify_after_sign) |
/// | Ed25519 | [`SigningKey::verify_after_sign`](super::ed25519::SigningKey::verify_after_sign) | [`Job::verify_after_sign`](super::ed25519::Job::verify_after_sign) |
/// | BLS12-381 | [`SecretKey::verify_after_sign`](super::bls12_381::signature::SecretKey::verify_after_sign) | |
///
/// **What it finds**: a bit that has changed in a private key or in its public key, and errors of the
/// computation. A wrong signature can give the key away, as two Ed25519 signatures of one message
/// under different public keys do; so the public key is decoded anew from the bytes that were hashed.
///
/// **What it does not find**: an error in the nonce before its point was computed, since the
/// signature is right then. Somebody who causes errors of his choice learns a key from such, unless
/// nonces are hedged.
///
/// **Cost**: one verification for each signature. On the processor of README's tables that is four
/// times what signing takes with ECDSA and Ed25519, three and a half times eight side by side, and
/// three times with BLS12-381. Time depends on the message or digest, the signature and the public
/// key, and on no other secret value; that a signature was wrong becomes known.
///
/// ```
/// use cycloid::scheme::Hash;
/// use cycloid::scheme::ec::{P256, PrivateKey};
///
/// let key = PrivateKey::<P256>::generate(&mut getrandom::SysRng)?;
/// let signature = key.verify_after_sign().sign(Hash::Sha256, b"message")?;
/// assert_eq!(signature, key.sign(Hash::Sha256, b"message"));
/// # Ok::<(), cycloid::scheme::ec::Error>(())
/// ```
#[derive(Debug)]
pub struct VerifyAfterSign<'a, K, P> {
    pub(super) key: &'a K,
    pub(super) public: &'a P,
}

#[cfg(test)]
mod tests;
