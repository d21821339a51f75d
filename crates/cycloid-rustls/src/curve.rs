//! The curves of signatures in TLS.

use cycloid::scheme::Hash;
use cycloid::scheme::ec::{Curve, P256, P384, P521};
use rustls::SignatureScheme;
use rustls::pki_types::{AlgorithmIdentifier, alg_id};

/// A curve of TLS, with the hash function that TLS 1.3 assigns to it (RFC 8446, section 4.2.3).
pub(crate) trait TlsCurve: Curve {
    const SCHEME: SignatureScheme;
    const HASH: Hash;
    const ALGORITHM: AlgorithmIdentifier;
}

impl TlsCurve for P256 {
    const SCHEME: SignatureScheme = SignatureScheme::ECDSA_NISTP256_SHA256;
    const HASH: Hash = Hash::Sha256;
    const ALGORITHM: AlgorithmIdentifier = alg_id::ECDSA_P256;
}

impl TlsCurve for P384 {
    const SCHEME: SignatureScheme = SignatureScheme::ECDSA_NISTP384_SHA384;
    const HASH: Hash = Hash::Sha384;
    const ALGORITHM: AlgorithmIdentifier = alg_id::ECDSA_P384;
}

impl TlsCurve for P521 {
    const SCHEME: SignatureScheme = SignatureScheme::ECDSA_NISTP521_SHA512;
    const HASH: Hash = Hash::Sha512;
    const ALGORITHM: AlgorithmIdentifier = alg_id::ECDSA_P521;
}
