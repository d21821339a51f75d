//! RSA keys.

use std::fmt;

use cycloid::scheme::Hash;
use cycloid::scheme::rsa::{self, KeyPair, Pss, Restriction};
use rustls::pki_types::SubjectPublicKeyInfoDer;
use rustls::sign::{Signer, SigningKey};
use rustls::{Error, SignatureAlgorithm, SignatureScheme};

use crate::random;
use crate::verification::digest;

/// The schemes of an unrestricted key (rsaEncryption), in rustls's order of preference.
const SCHEMES: [Scheme; 6] = [
    Scheme::new(SignatureScheme::RSA_PSS_SHA512, rsa::SignatureScheme::pss(Hash::Sha512)),
    Scheme::new(SignatureScheme::RSA_PSS_SHA384, rsa::SignatureScheme::pss(Hash::Sha384)),
    Scheme::new(SignatureScheme::RSA_PSS_SHA256, rsa::SignatureScheme::pss(Hash::Sha256)),
    Scheme::new(SignatureScheme::RSA_PKCS1_SHA512, rsa::SignatureScheme::Pkcs1v15(Hash::Sha512)),
    Scheme::new(SignatureScheme::RSA_PKCS1_SHA384, rsa::SignatureScheme::Pkcs1v15(Hash::Sha384)),
    Scheme::new(SignatureScheme::RSA_PKCS1_SHA256, rsa::SignatureScheme::Pkcs1v15(Hash::Sha256)),
];

/// The schemes of a key restricted to RSASSA-PSS: rsa_pss_pss_sha256 and so on (RFC 8446, section
/// 4.2.3), for which rustls has no names.
const PSS_SCHEMES: [Scheme; 3] = [
    Scheme::new(SignatureScheme::Unknown(0x080b), rsa::SignatureScheme::pss(Hash::Sha512)),
    Scheme::new(SignatureScheme::Unknown(0x080a), rsa::SignatureScheme::pss(Hash::Sha384)),
    Scheme::new(SignatureScheme::Unknown(0x0809), rsa::SignatureScheme::pss(Hash::Sha256)),
];

/// A signature scheme of TLS. The salt of PSS is as long as the digest (RFC 8446, section 4.2.3).
#[derive(Clone, Copy)]
struct Scheme {
    name: SignatureScheme,
    rsa: rsa::SignatureScheme,
}

impl Scheme {
    const fn new(name: SignatureScheme, rsa: rsa::SignatureScheme) -> Self {
        Self { name, rsa }
    }

    /// Returns whether a key for PSS with these parameters permits the scheme.
    fn is_allowed(&self, allowed: &Pss) -> bool {
        matches!(self.rsa, rsa::SignatureScheme::Pss(pss)
            if pss.hash == allowed.hash
                && pss.mask_hash == allowed.mask_hash
                && pss.salt_length >= allowed.salt_length)
    }
}

/// Rounds of the Miller–Rabin test on each prime of a loaded key. One round detects a prime that is
/// composite by mistake; with a deliberately composite one, no signature is released anyway.
const ROUNDS: usize = 2;

pub(super) struct RsaKey {
    key: KeyPair,
    /// The schemes that the key can sign with.
    schemes: Vec<Scheme>,
}

impl RsaKey {
    /// Loads a key from PKCS #1 or PKCS #8.
    ///
    /// # Errors
    /// A description of the problem with the key.
    pub(super) fn from_der(der: &[u8]) -> Result<Self, String> {
        let said = |error: rsa::Error| error.to_string();
        let key = KeyPair::from_der(der).map_err(said)?;
        let schemes = schemes(key.public_key().restriction())?;
        let mut rng = random::generator().map_err(|error| error.to_string())?;
        key.check_primes(ROUNDS, &mut rng).map_err(said)?;
        Ok(Self { key, schemes })
    }
}

/// Returns the schemes of a key with that restriction.
fn schemes(restriction: Restriction) -> Result<Vec<Scheme>, String> {
    let schemes: Vec<_> = match restriction {
        Restriction::None => SCHEMES.to_vec(),
        Restriction::PssWith(allowed) => {
            PSS_SCHEMES.into_iter().filter(|scheme| scheme.is_allowed(&allowed)).collect()
        }
        _ => PSS_SCHEMES.to_vec(),
    };
    match restriction {
        Restriction::PssWith(allowed) if schemes.is_empty() => Err(format!(
            "{}, for which TLS has no signature scheme",
            rsa::Error::RestrictedPss { allowed }
        )),
        _ => Ok(schemes),
    }
}

impl fmt::Debug for RsaKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Cycloid RSA key of {} bits", self.key.public_key().bits())
    }
}

impl SigningKey for RsaKey {
    fn choose_scheme(&self, offered: &[SignatureScheme]) -> Option<Box<dyn Signer>> {
        let scheme = *self.schemes.iter().find(|scheme| offered.contains(&scheme.name))?;
        Some(Box::new(RsaSigner { key: self.key.clone(), scheme }))
    }

    fn public_key(&self) -> Option<SubjectPublicKeyInfoDer<'_>> {
        Some(self.key.public_key().to_spki_der().into())
    }

    fn algorithm(&self) -> SignatureAlgorithm {
        SignatureAlgorithm::RSA
    }
}

struct RsaSigner {
    key: KeyPair,
    scheme: Scheme,
}

impl fmt::Debug for RsaSigner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Cycloid RSA signer by {:?}", self.scheme.name)
    }
}

impl Signer for RsaSigner {
    fn sign(&self, message: &[u8]) -> Result<Vec<u8>, Error> {
        let scheme = self.scheme.rsa;
        let digest = digest(scheme.hash(), message);
        let mut rng = random::generator()?;
        let signature = self.key.sign_prehashed(scheme, digest.as_ref(), &mut rng);
        match signature {
            Ok(signature) => Ok(signature.to_vec()),
            Err(error) => Err(Error::General(format!("RSA signing failed: {error}"))),
        }
    }

    fn scheme(&self) -> SignatureScheme {
        self.scheme.name
    }
}
