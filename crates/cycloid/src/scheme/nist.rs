//! Keys on a NIST curve that is chosen at run time: by a file, a certificate or a token.
//!
//! A [`PrivateKey`], a [`PublicKey`] and a [`Signature`] are enumerations of the keys and
//! signatures in [`ec`] and [`ecdsa`], with the same methods, memory and timing. A `match` leads
//! to the key whose type names its curve, as batches need it. Whether two curves agree is
//! checked: [`Error::OtherCurve`].
//!
//! ```
//! use cycloid::scheme::Hash;
//! use cycloid::scheme::nist::{Curve, PrivateKey, PublicKey, Signature};
//!
//! let key = PrivateKey::generate(Curve::P384, &mut getrandom::SysRng)?;
//! let sent = key.sign(Hash::Sha384, b"as agreed").to_der();
//! # #[cfg(feature = "encoding")] {
//! let mut text = [0; cycloid::scheme::nist::MAX_PUBLIC_KEY_PEM_LENGTH];
//! let read = PublicKey::from_spki_pem(key.public_key().to_spki_pem(&mut text)?)?;
//! let signature = Signature::from_der(read.curve(), &sent)?;
//! read.verify(Hash::Sha384, b"as agreed", &signature)?;
//! # }
//! # Ok::<(), cycloid::scheme::ec::Error>(())
//! ```

#[cfg(feature = "signature")]
mod traits;

use core::fmt;

use rand_core::TryCryptoRng;

use super::Hash;
use super::ec::{self, EncodedPoint, Error, P224, P256, P384, P521};
use super::ecdh::SharedSecret;
use super::ecdsa::{self, SignatureBytes};

/// A NIST curve (SP 800-186, section 3.2.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Curve {
    /// P-224, secp224r1.
    P224,
    /// P-256, secp256r1 or prime256v1.
    P256,
    /// P-384, secp384r1.
    P384,
    /// P-521, secp521r1.
    P521,
}

/// Evaluates an expression for the content of whichever variant a value has.
macro_rules! with {
    ($type:ident, $value:expr, $content:ident => $run:expr) => {
        match $value {
            $type::P224($content) => $run,
            $type::P256($content) => $run,
            $type::P384($content) => $run,
            $type::P521($content) => $run,
        }
    };
}

/// Evaluates an expression, mapped into the variant of a curve, with `$C` as the curve's type.
macro_rules! on {
    ($curve:expr, $C:ident => $run:expr) => {
        match $curve {
            Curve::P224 => {
                type $C = P224;
                $run.map(Self::P224)
            }
            Curve::P256 => {
                type $C = P256;
                $run.map(Self::P256)
            }
            Curve::P384 => {
                type $C = P384;
                $run.map(Self::P384)
            }
            Curve::P521 => {
                type $C = P521;
                $run.map(Self::P521)
            }
        }
    };
}

/// Evaluates an expression for two values on the same curve.
macro_rules! pairs {
    (($a_type:ident $a:expr, $b_type:ident $b:expr), $x:ident $y:ident => $run:expr) => {
        match ($a, $b) {
            ($a_type::P224($x), $b_type::P224($y)) => $run,
            ($a_type::P256($x), $b_type::P256($y)) => $run,
            ($a_type::P384($x), $b_type::P384($y)) => $run,
            ($a_type::P521($x), $b_type::P521($y)) => $run,
            _ => Err(Error::OtherCurve),
        }
    };
}

impl Curve {
    /// All curves, shortest first.
    pub const ALL: [Self; 4] = [Self::P224, Self::P256, Self::P384, Self::P521];

    /// Returns the name in SP 800-186, such as `P-256`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::P224 => <P224 as ec::Curve>::NAME,
            Self::P256 => <P256 as ec::Curve>::NAME,
            Self::P384 => <P384 as ec::Curve>::NAME,
            Self::P521 => <P521 as ec::Curve>::NAME,
        }
    }

    /// Returns the length of the order, in bits.
    pub const fn bits(self) -> usize {
        match self {
            Self::P224 => <P224 as ec::Curve>::BITS,
            Self::P256 => <P256 as ec::Curve>::BITS,
            Self::P384 => <P384 as ec::Curve>::BITS,
            Self::P521 => <P521 as ec::Curve>::BITS,
        }
    }

    /// Returns the length of a coordinate and of a scalar, in bytes.
    pub const fn bytes(self) -> usize {
        self.bits().div_ceil(8)
    }

    /// Returns the contents of the curve's object identifier in DER, without tag and length (RFC
    /// 5480, section 2.1.1.1).
    pub const fn object_identifier(self) -> &'static [u8] {
        match self {
            Self::P224 => &[0x2b, 0x81, 4, 0, 0x21],
            Self::P256 => &[0x2a, 0x86, 0x48, 0xce, 0x3d, 3, 1, 7],
            Self::P384 => &[0x2b, 0x81, 4, 0, 0x22],
            Self::P521 => &[0x2b, 0x81, 4, 0, 0x23],
        }
    }

    /// Returns the curve with this object identifier, in the form of
    /// [`object_identifier`](Self::object_identifier).
    pub fn from_object_identifier(contents: &[u8]) -> Option<Self> {
        Self::ALL.into_iter().find(|curve| curve.object_identifier() == contents)
    }
}

impl fmt::Display for Curve {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A private key on a curve chosen at run time; wiped when dropped. A move leaves an unwiped copy,
/// as with [`ec::PrivateKey`].
#[derive(Debug)]
pub enum PrivateKey {
    /// On P-224.
    P224(ec::PrivateKey<P224>),
    /// On P-256.
    P256(ec::PrivateKey<P256>),
    /// On P-384.
    P384(ec::PrivateKey<P384>),
    /// On P-521.
    P521(ec::PrivateKey<P521>),
}

/// A public key on a curve chosen at run time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PublicKey {
    /// On P-224.
    P224(ec::PublicKey<P224>),
    /// On P-256.
    P256(ec::PublicKey<P256>),
    /// On P-384.
    P384(ec::PublicKey<P384>),
    /// On P-521.
    P521(ec::PublicKey<P521>),
}

/// An ECDSA signature on a curve chosen at run time.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Signature {
    /// On P-224.
    P224(ecdsa::Signature<P224>),
    /// On P-256.
    P256(ecdsa::Signature<P256>),
    /// On P-384.
    P384(ecdsa::Signature<P384>),
    /// On P-521.
    P521(ecdsa::Signature<P521>),
}

/// Declares the conversions from the types with a curve, and the method that names the curve.
macro_rules! conversions {
    ($($type:ident of $of:ident)*) => {
        $(
            conversions!(@from $type $of P224 P256 P384 P521);

            impl $type {
                /// Returns the curve.
                pub const fn curve(&self) -> Curve {
                    match self {
                        Self::P224(_) => Curve::P224,
                        Self::P256(_) => Curve::P256,
                        Self::P384(_) => Curve::P384,
                        Self::P521(_) => Curve::P521,
                    }
                }
            }
        )*
    };
    (@from $type:ident $of:ident $($curve:ident)*) => {
        $(
            impl From<$of::$type<$curve>> for $type {
                fn from(value: $of::$type<$curve>) -> Self {
                    Self::$curve(value)
                }
            }
        )*
    };
}

conversions!(PrivateKey of ec  PublicKey of ec  Signature of ecdsa);

impl PrivateKey {
    /// Generates a key; see [`ec::PrivateKey::generate`].
    ///
    /// # Errors
    /// [`Error::RandomGenerator`].
    pub fn generate(curve: Curve, rng: &mut impl TryCryptoRng) -> Result<Self, Error> {
        on!(curve, C => ec::PrivateKey::<C>::generate(rng))
    }

    /// Reads a key from its scalar: [`Curve::bytes`] big-endian bytes.
    ///
    /// # Errors
    /// [`Error::Length`], [`Error::PrivateKeyRange`].
    pub fn from_bytes(curve: Curve, bytes: &[u8]) -> Result<Self, Error> {
        on!(curve, C => ec::PrivateKey::<C>::from_bytes(bytes))
    }

    /// Writes the scalar as [`Curve::bytes`] big-endian bytes.
    ///
    /// # Errors
    /// [`Error::Length`].
    pub fn to_bytes(&self, bytes: &mut [u8]) -> Result<(), Error> {
        with!(Self, self, key => key.to_bytes(bytes))
    }

    /// Returns the public key.
    pub const fn public_key(&self) -> PublicKey {
        match self {
            Self::P224(key) => PublicKey::P224(*key.public_key()),
            Self::P256(key) => PublicKey::P256(*key.public_key()),
            Self::P384(key) => PublicKey::P384(*key.public_key()),
            Self::P521(key) => PublicKey::P521(*key.public_key()),
        }
    }

    /// Signs a message; see [`ec::PrivateKey::sign`].
    pub fn sign(&self, hash: Hash, message: &[u8]) -> Signature {
        with!(Self, self, key => key.sign(hash, message).into())
    }

    /// Signs a digest; see [`ec::PrivateKey::sign_prehashed`].
    pub fn sign_prehashed(&self, hash: Hash, digest: &[u8]) -> Signature {
        with!(Self, self, key => key.sign_prehashed(hash, digest).into())
    }

    /// Signs a digest with randomness in the nonce; see [`ec::PrivateKey::sign_hedged`].
    pub fn sign_hedged(&self, hash: Hash, digest: &[u8], random: &[u8]) -> Signature {
        with!(Self, self, key => key.sign_hedged(hash, digest, random).into())
    }

    /// Returns the secret shared with the holder of `peer`.
    ///
    /// # Errors
    /// [`Error::OtherCurve`].
    pub fn agree(&self, peer: &PublicKey) -> Result<SharedSecret, Error> {
        pairs!((Self self, PublicKey peer), key peer => Ok(key.agree(peer)))
    }
}

impl PublicKey {
    /// Reads and validates a point; see [`ec::PublicKey::from_sec1`].
    ///
    /// # Errors
    /// [`Error::PointFormat`], [`Error::PointAtInfinity`], [`Error::CoordinateRange`],
    /// [`Error::NotOnCurve`].
    pub fn from_sec1(curve: Curve, bytes: &[u8]) -> Result<Self, Error> {
        on!(curve, C => ec::PublicKey::<C>::from_sec1(bytes))
    }

    /// Encodes the point as 4 and both coordinates.
    pub fn to_uncompressed(&self) -> EncodedPoint {
        with!(Self, self, key => key.to_uncompressed())
    }

    /// Encodes the point as 2 or 3 and the x coordinate.
    pub fn to_compressed(&self) -> EncodedPoint {
        with!(Self, self, key => key.to_compressed())
    }

    /// Verifies a signature of a message.
    ///
    /// # Errors
    /// [`Error::Verification`], [`Error::OtherCurve`].
    pub fn verify(&self, hash: Hash, message: &[u8], signature: &Signature) -> Result<(), Error> {
        pairs!((Self self, Signature signature), key signature =>
            key.verify(hash, message, signature))
    }

    /// Verifies a signature of a digest.
    ///
    /// # Errors
    /// [`Error::Verification`], [`Error::OtherCurve`].
    pub fn verify_prehashed(&self, digest: &[u8], signature: &Signature) -> Result<(), Error> {
        pairs!((Self self, Signature signature), key signature =>
            key.verify_prehashed(digest, signature))
    }
}

impl Signature {
    /// Reads r and s with fixed width; see [`ecdsa::Signature::from_fixed`].
    ///
    /// # Errors
    /// [`Error::Length`], [`Error::SignatureRange`].
    pub fn from_fixed(curve: Curve, bytes: &[u8]) -> Result<Self, Error> {
        on!(curve, C => ecdsa::Signature::<C>::from_fixed(bytes))
    }

    /// Reads a DER sequence of r and s; see [`ecdsa::Signature::from_der`].
    ///
    /// # Errors
    /// [`Error::SignatureFormat`], [`Error::SignatureRange`].
    pub fn from_der(curve: Curve, bytes: &[u8]) -> Result<Self, Error> {
        on!(curve, C => ecdsa::Signature::<C>::from_der(bytes))
    }

    /// Encodes r and s with fixed width.
    pub fn to_fixed(&self) -> SignatureBytes {
        with!(Self, self, signature => signature.to_fixed())
    }

    /// Encodes r and s as a DER sequence.
    pub fn to_der(&self) -> SignatureBytes {
        with!(Self, self, signature => signature.to_der())
    }
}

#[cfg(feature = "encoding")]
mod encoding {
    use super::{Curve, Error, P224, P256, P384, P521, PrivateKey, PublicKey, ec};
    use crate::scheme::FormatError;

    /// The maximum length of a private key in DER, on any curve and in either format, in bytes.
    pub const MAX_PRIVATE_KEY_DER_LENGTH: usize = ec::private_key_der_length::<P521>();
    /// The maximum length of a private key in PEM, on any curve and in either format, in bytes.
    pub const MAX_PRIVATE_KEY_PEM_LENGTH: usize = ec::private_key_pem_length::<P521>();
    /// The maximum length of a public key in DER, on any curve, in bytes.
    pub const MAX_PUBLIC_KEY_DER_LENGTH: usize = ec::public_key_der_length::<P521>();
    /// The maximum length of a public key in PEM, on any curve, in bytes.
    pub const MAX_PUBLIC_KEY_PEM_LENGTH: usize = ec::public_key_pem_length::<P521>();

    /// Reads with each curve until one is the curve of the file. The curve is compared before the
    /// key is read.
    fn find<T>(read: impl Fn(Curve) -> Result<T, Error>) -> Result<T, Error> {
        let mut outcomes = Curve::ALL.into_iter().rev().map(read);
        let found = outcomes
            .find(|outcome| !matches!(outcome, Err(Error::Format(FormatError::OtherCurve))));
        found.unwrap_or(Err(Error::Format(FormatError::OtherCurve)))
    }

    /// Keys in files, which name the curve.
    impl PrivateKey {
        /// Reads a key from PKCS #8 or ECPrivateKey in DER; see [`ec::PrivateKey::from_der`].
        ///
        /// # Errors
        /// As [`ec::PrivateKey::from_der`]; [`FormatError::OtherCurve`] if no NIST curve is named.
        pub fn from_der(der: &[u8]) -> Result<Self, Error> {
            find(|curve| on!(curve, C => ec::PrivateKey::<C>::from_der(der)))
        }

        /// Reads the first private key in a PEM text; see [`ec::PrivateKey::from_pem`].
        ///
        /// # Errors
        /// As [`ec::PrivateKey::from_pem`]; [`FormatError::OtherCurve`] if no NIST curve is named.
        pub fn from_pem(pem: impl AsRef<[u8]>) -> Result<Self, Error> {
            find(|curve| on!(curve, C => ec::PrivateKey::<C>::from_pem(pem.as_ref())))
        }

        /// Writes the key as PKCS #8 in DER. Returns the written prefix of `output`, at most
        /// [`MAX_PRIVATE_KEY_DER_LENGTH`] bytes.
        ///
        /// # Errors
        /// [`FormatError::OutputTooSmall`]; nothing is written then.
        pub fn to_pkcs8_der<'o>(&self, output: &'o mut [u8]) -> Result<&'o [u8], Error> {
            with!(Self, self, key => key.to_pkcs8_der(output))
        }

        /// Writes the key as PKCS #8 in PEM. Returns the written prefix of `output`, at most
        /// [`MAX_PRIVATE_KEY_PEM_LENGTH`] bytes.
        ///
        /// # Errors
        /// [`FormatError::OutputTooSmall`]; nothing is written then.
        pub fn to_pkcs8_pem<'o>(&self, output: &'o mut [u8]) -> Result<&'o str, Error> {
            with!(Self, self, key => key.to_pkcs8_pem(output))
        }
    }

    /// Keys in files, which name the curve.
    impl PublicKey {
        /// Reads a key from SubjectPublicKeyInfo in DER; see [`ec::PublicKey::from_spki_der`].
        ///
        /// # Errors
        /// As [`ec::PublicKey::from_spki_der`]; [`FormatError::OtherCurve`] if no NIST curve is
        /// named.
        pub fn from_spki_der(der: &[u8]) -> Result<Self, Error> {
            find(|curve| on!(curve, C => ec::PublicKey::<C>::from_spki_der(der)))
        }

        /// Reads the first public key in a PEM text; see [`ec::PublicKey::from_spki_pem`].
        ///
        /// # Errors
        /// As [`ec::PublicKey::from_spki_pem`]; [`FormatError::OtherCurve`] if no NIST curve is
        /// named.
        pub fn from_spki_pem(pem: impl AsRef<[u8]>) -> Result<Self, Error> {
            find(|curve| on!(curve, C => ec::PublicKey::<C>::from_spki_pem(pem.as_ref())))
        }

        /// Writes the key as SubjectPublicKeyInfo in DER. Returns the written prefix of `output`,
        /// at most [`MAX_PUBLIC_KEY_DER_LENGTH`] bytes.
        ///
        /// # Errors
        /// [`FormatError::OutputTooSmall`]; nothing is written then.
        pub fn to_spki_der<'o>(&self, output: &'o mut [u8]) -> Result<&'o [u8], Error> {
            with!(Self, self, key => key.to_spki_der(output))
        }

        /// Writes the key as SubjectPublicKeyInfo in PEM. Returns the written prefix of `output`,
        /// at most [`MAX_PUBLIC_KEY_PEM_LENGTH`] bytes.
        ///
        /// # Errors
        /// [`FormatError::OutputTooSmall`]; nothing is written then.
        pub fn to_spki_pem<'o>(&self, output: &'o mut [u8]) -> Result<&'o str, Error> {
            with!(Self, self, key => key.to_spki_pem(output))
        }
    }
}

#[cfg(feature = "signature")]
pub use traits::{DerSignature, SigningKey, VerifyingKey};

#[cfg(feature = "encoding")]
pub use encoding::{
    MAX_PRIVATE_KEY_DER_LENGTH, MAX_PRIVATE_KEY_PEM_LENGTH, MAX_PUBLIC_KEY_DER_LENGTH,
    MAX_PUBLIC_KEY_PEM_LENGTH,
};
