//! Cycloid for [rustls] 0.23: a [`CryptoProvider`] whose key exchange, signatures and verification
//! are Cycloid's. One line makes a rustls program one that runs on Cycloid:
//!
//! ```
//! cycloid_rustls::default_provider().install_default().expect("no other provider is installed");
//! ```
//!
//! or, for a single configuration, `ClientConfig::builder_with_provider(Arc::new(default_provider()))`.
//!
//! | what | which | computed by |
//! |---|---|---|
//! | key exchange | X25519MLKEM768 ([`ALL_GROUPS`]) | ML-KEM-768 by AWS-LC, X25519 by Cycloid |
//! | | X25519, secp256r1, secp384r1, secp521r1 | Cycloid |
//! | signing keys | RSA (PKCS #1 v1.5 and PSS), ECDSA on P-256, P-384 and P-521, Ed25519; from PKCS #8, SEC 1 and PKCS #1 ([`any_supported_key`]) | Cycloid |
//! | verification | the same, RSA with 2048 to 8192 bits ([`VERIFICATION_ALGORITHMS`]) | Cycloid |
//! | signing keys and verification | ML-DSA-44, ML-DSA-65, ML-DSA-87 | AWS-LC |
//! | cipher suites of TLS 1.2 and 1.3: AEADs, hashes, HMAC, HKDF | those of rustls's provider for aws-lc-rs | AWS-LC |
//! | random numbers | the operating system's | |
//!
//! The parts are public so that a provider may take some of them and leave others.
//!
//! Whatever rustls's own default offers, this provider offers too; a test compares them. What there is
//! of AWS-LC against quantum computers, ML-KEM and ML-DSA, is there with the feature `post-quantum`,
//! which is on unless switched off. X25519MLKEM768 comes first, and a client sends a share of X25519
//! beside it, so that a server that has only this needs no second flight.
//!
//! # RSA keys
//!
//! Both primes of a key are tested when it is loaded, which takes as long as two signatures. A key for
//! RSASSA-PSS only (id-RSASSA-PSS) signs by the one scheme of TLS that is for it, `rsa_pss_pss_*`
//! with its hash function (RFC 8446, section 4.2.3), in TLS 1.3: rustls itself does not know these
//! schemes, so a peer that is rustls offers none of them, and certificates with such keys are not
//! verified. A key that none of the schemes is for is refused.
//!
//! # RSA keys and threads
//!
//! A private operation needs a context with working memory and the blinding, which is cheaper used
//! again than made anew. A signing key keeps those that are not in use: a handshake takes one, or
//! makes one where all are taken, and gives it back. So threads never wait for each other but for
//! the moment in which a list changes; a key holds as many contexts as there ever were signatures
//! with it at a time, each of some ten kilobytes, and all are wiped when the key is dropped.
//!
//! # Keys that verify often
//!
//! A public key on P-256, P-384 or P-521 that eight signatures were valid by, such as that of an
//! authority, gets multiples of its point, with which a verification takes less than half of the
//! time. They are kept for the 16 keys of each curve that were used last, in 18
//! to 61 KiB each. [`VERIFICATION_ALGORITHMS_WITHOUT_MEMORY`] remember nothing.
//!
//! # Errors
//!
//! A key that cannot be loaded gives [`rustls::Error::General`] with the reason in words. A key
//! share that is not a public key of its group, or X25519 with a public key of small order, is
//! [`PeerMisbehaved::InvalidKeyShare`](rustls::PeerMisbehaved::InvalidKeyShare). A system that
//! gives no random numbers is [`rustls::Error::FailedToGetRandomBytes`].

mod frequent;
mod groups;
mod keys;
mod random;
mod verification;

#[cfg(feature = "post-quantum")]
pub use groups::X25519MLKEM768;
pub use groups::{ALL_GROUPS, SECP256R1, SECP384R1, SECP521R1, X25519};
pub use keys::any_supported_key;
pub use verification::{VERIFICATION_ALGORITHMS, VERIFICATION_ALGORITHMS_WITHOUT_MEMORY};

use std::sync::Arc;

use rustls::crypto::{CryptoProvider, KeyProvider, aws_lc_rs};
use rustls::pki_types::PrivateKeyDer;
use rustls::sign::SigningKey;
use zeroize::Zeroizing;

/// The provider: everything of the table above, in rustls's own order of preference.
pub fn default_provider() -> CryptoProvider {
    CryptoProvider {
        cipher_suites: aws_lc_rs::DEFAULT_CIPHER_SUITES.to_vec(),
        kx_groups: ALL_GROUPS.to_vec(),
        signature_verification_algorithms: VERIFICATION_ALGORITHMS,
        secure_random: &random::System,
        key_provider: &Keys,
    }
}

/// Loads private keys.
#[derive(Debug)]
struct Keys;

impl KeyProvider for Keys {
    fn load_private_key(
        &self,
        der: PrivateKeyDer<'static>,
    ) -> Result<Arc<dyn SigningKey>, rustls::Error> {
        any_supported_key(&Zeroizing::new(der))
    }
}
