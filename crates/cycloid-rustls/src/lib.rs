//! Cycloid for [rustls] 0.23: a [`CryptoProvider`] with Cycloid's key exchange, signatures and
//! verification. One line makes a rustls program use Cycloid:
//!
//! ```
//! cycloid_rustls::default_provider().install_default().expect("no other provider is installed");
//! ```
//!
//! For a single configuration, use
//! `ClientConfig::builder_with_provider(Arc::new(default_provider()))`.
//!
//! | function | algorithms | implementation |
//! |---|---|---|
//! | key exchange | X25519MLKEM768 ([`ALL_GROUPS`]) | ML-KEM-768 by AWS-LC, X25519 by Cycloid |
//! | | X25519, secp256r1, secp384r1, secp521r1 | Cycloid |
//! | signing keys | RSA (PKCS #1 v1.5 and PSS), ECDSA on P-256, P-384 and P-521, Ed25519; from PKCS #8, SEC 1 and PKCS #1 ([`any_supported_key`]) | Cycloid |
//! | verification | the same, RSA with 2048 to 8192 bits ([`VERIFICATION_ALGORITHMS`]) | Cycloid |
//! | signing keys and verification | ML-DSA-44, ML-DSA-65, ML-DSA-87 | AWS-LC |
//! | cipher suites of TLS 1.2 and 1.3, also for QUIC: AEADs, hashes, HMAC, HKDF | those of rustls's provider for aws-lc-rs | AWS-LC |
//! | session tickets ([`Ticketer`]), HPKE for Encrypted Client Hello ([`hpke`]) | those of rustls's provider for aws-lc-rs | AWS-LC |
//! | random numbers | the operating system's | |
//!
//! The parts are public, so that a provider can use some of them without the others.
//!
//! This provider offers everything that rustls's own default offers; a test compares them. The
//! post-quantum algorithms ML-KEM and ML-DSA, computed by AWS-LC, need the feature `post-quantum`,
//! which is on by default. X25519MLKEM768 comes first. A client also sends a share of X25519, so
//! that a server that supports only X25519 needs no second flight.
//!
//! # HTTP and QUIC
//!
//! hyper (with tokio-rustls), reqwest (with its feature `rustls-no-provider`) and quinn (with its
//! feature `rustls-aws-lc-rs`) take a configuration with this provider; a test runs each of them.
//! reqwest also uses the provider that is installed for the process. quinn protects its address
//! tokens by AWS-LC.
//!
//! # RSA keys
//!
//! Both primes of a key are tested when it is loaded, which takes as long as two signatures. A key
//! restricted to RSASSA-PSS (id-RSASSA-PSS) signs with the one TLS scheme for it, `rsa_pss_pss_*`
//! with its hash function (RFC 8446, section 4.2.3), in TLS 1.3. rustls itself does not know these
//! schemes, so a rustls peer offers none of them, and certificates with such keys are not verified.
//! A key that matches none of the schemes is rejected.
//!
//! # RSA keys and threads
//!
//! A private operation needs a context with working memory and a blinding, which is cheaper to
//! reuse than to create. A signing key keeps a list of unused contexts: a handshake takes one, or
//! creates one if the list is empty, and returns it afterwards. So threads wait for each other only
//! while the list changes. A key holds as many contexts as its peak number of concurrent
//! signatures, each of about ten kilobytes; all are wiped when the key is dropped.
//!
//! # Frequently used keys
//!
//! A public key on P-256, P-384 or P-521 with eight valid signatures, such as that of an authority,
//! gets precomputed multiples of its point, which reduce the time of a verification by more than
//! half. They are kept for the 16 most recently used keys of each curve, with 18 to 61 KiB each.
//! [`VERIFICATION_ALGORITHMS_WITHOUT_MEMORY`] keep no keys.
//!
//! # Certificates
//!
//! With the feature `rcgen`, `CertificateKey` signs certificates and requests that the crate
//! `rcgen` makes.
//!
//! # Errors
//!
//! A key that cannot be loaded gives [`rustls::Error::General`] with a description of the reason. A
//! key share that is not a public key of its group, or an X25519 public key of small order, gives
//! [`PeerMisbehaved::InvalidKeyShare`](rustls::PeerMisbehaved::InvalidKeyShare). If the system
//! provides no random numbers, the error is [`rustls::Error::FailedToGetRandomBytes`].

#[cfg(feature = "rcgen")]
mod certificate_key;
mod curve;
mod frequent_keys;
mod groups;
mod keys;
mod random;
mod verification;

#[cfg(feature = "rcgen")]
pub use certificate_key::CertificateKey;
#[cfg(feature = "post-quantum")]
pub use groups::X25519MLKEM768;
pub use groups::{ALL_GROUPS, SECP256R1, SECP384R1, SECP521R1, X25519};
pub use keys::any_supported_key;
/// Session tickets and HPKE (RFC 9180, for Encrypted Client Hello), both by AWS-LC.
pub use rustls::crypto::aws_lc_rs::{Ticketer, hpke};
pub use verification::{VERIFICATION_ALGORITHMS, VERIFICATION_ALGORITHMS_WITHOUT_MEMORY};

use std::sync::Arc;

use rustls::crypto::{CryptoProvider, KeyProvider, aws_lc_rs};
use rustls::pki_types::PrivateKeyDer;
use rustls::sign::SigningKey;
use zeroize::Zeroizing;

/// Returns the provider with everything in the table above, in rustls's own order of preference.
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
