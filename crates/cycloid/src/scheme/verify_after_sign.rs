//! Signing that verifies each signature before it is released.

/// A private key that verifies each signature before releasing it. It checks against a public key
/// that is stored apart from the data used for signing.
///
/// It has the same signing methods as the key itself. Each returns a signature that verifies, or
/// the scheme's `Error::Fault` and nothing of the signature.
///
/// | | one signature | a batch |
/// |---|---|---|
/// | ECDSA | [`PrivateKey::verify_after_sign`](super::ec::PrivateKey::verify_after_sign) | [`Job::verify_after_sign`](super::ecdsa::Job::verify_after_sign) |
/// | Ed25519 | [`SigningKey::verify_after_sign`](super::ed25519::SigningKey::verify_after_sign) | [`Job::verify_after_sign`](super::ed25519::Job::verify_after_sign) |
/// | BLS12-381 | [`SecretKey::verify_after_sign`](super::bls12_381::signature::SecretKey::verify_after_sign) | |
///
/// **Detected**: flipped bits in the private or the public key, and computation errors. A wrong
/// signature can reveal the key, as two Ed25519 signatures of one message under different public
/// keys do. Therefore the public key is decoded again from the bytes that were hashed.
///
/// ECDSA signatures of a batch that are not computed side by side are verified together, by a
/// combination of up to sixteen equations, with factors from a digest of them. A wrong one passes
/// with a probability of 2^−64; if the combination is wrong, each is verified alone.
///
/// **Not detected**: an error in the nonce before its point was computed, because the signature is
/// then valid. An attacker who can induce chosen faults learns a key from such signatures, unless
/// nonces are hedged.
///
/// **Cost**: one verification per signature. On the processor of the README's tables, this is four
/// times the cost of signing with ECDSA and Ed25519, three and a half times eight side by side, and
/// three times with BLS12-381. Verified together, sixteen ECDSA signatures on P-256 cost about half
/// as much as making them. Time depends on the message or digest, the signature and the public
/// key, and on no other secret value. Whether a signature was wrong becomes public.
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
