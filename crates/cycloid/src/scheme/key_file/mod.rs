//! Key files of any format, read in one call.
//!
//! [`read_private`] and [`read_public`] find out what a file is and return the key in it:
//!
//! | format | private | public | feature |
//! |---|---|---|---|
//! | PKCS #1, PKCS #8, SEC 1, SubjectPublicKeyInfo, X.509 certificate; DER or PEM | yes | yes | |
//! | PKCS #8 encrypted with PBES2, PEM with `Proc-Type: 4,ENCRYPTED` | yes | | `encryption` |
//! | OpenSSH, encrypted with any of its ciphers or not | yes | yes | `openssh` |
//! | JSON Web Key (RFC 7517) | yes | yes | `jwk` |
//!
//! Keys are for RSA, the NIST curves, Ed25519, X25519, and Diffie-Hellman in a known group or in a
//! custom one. They are checked as by the `from_der` of their type; a custom group is checked when
//! [`dh::Group::new`] makes it. A certificate is not verified: only its key is read. An [`Error`]
//! says what the file is and what to do with it. PKCS #12 archives are refused, with the command of
//! OpenSSL that extracts the key: the crates that read them depend on pre-releases.
//!
//! ```
//! use cycloid::key_file::{self, PrivateKey};
//!
//! # let file = include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/rsa/2048.pem"));
//! match key_file::read_private(file)? {
//!     PrivateKey::Rsa(key) => println!("RSA, {} bits", key.public_key().bits()),
//!     other => println!("{other:?}"),
//! }
//! # Ok::<(), key_file::Error>(())
//! ```
//!
//! **Time.** The kind of file, its structure and the lengths of numbers are public; the key is not.
//! Decoded and decrypted bytes are wiped. Moving a key leaves an unwiped copy, as for each of its
//! types.

#[cfg(feature = "encryption")]
mod cipher;
mod der;
mod diffie_hellman;
#[cfg(feature = "encryption")]
mod encrypted;
mod error;
#[cfg(feature = "jwk")]
mod jwk;
#[cfg(feature = "openssh")]
mod openssh;

use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;

use zeroize::Zeroizing;

pub use self::diffie_hellman::{CustomDhKey, CustomDhPublicKey, DhParameters, DhPublicKey};
pub use self::error::Error;
use crate::scheme::FormatError;
use crate::scheme::dh;
use crate::scheme::encoding::pem::{self, Block};
use crate::scheme::encoding::{ENCRYPTED_LABEL, PKCS8_LABEL, SPKI_LABEL};
use crate::scheme::rsa::{KeyPair, LegacyPublicKey, OwnedPublicKey};
use crate::scheme::{ed25519, nist, x25519};

/// A private key of any kind.
#[derive(Debug)]
#[non_exhaustive]
pub enum PrivateKey {
    /// RSA.
    Rsa(KeyPair),
    /// ECDSA or ECDH on a NIST curve.
    Nist(Box<nist::PrivateKey>),
    /// Ed25519.
    Ed25519(Box<ed25519::SigningKey>),
    /// X25519.
    X25519(Box<x25519::PrivateKey>),
    /// Diffie-Hellman in a known group.
    Dh(dh::PrivateKey<'static, Vec<u64>>),
    /// Diffie-Hellman in a custom group, which is not checked.
    CustomDh(CustomDhKey),
}

/// A public key of any kind.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PublicKey {
    /// RSA.
    Rsa(OwnedPublicKey),
    /// RSA with a modulus that is too short for anything but verifying old signatures.
    LegacyRsa(LegacyPublicKey),
    /// ECDSA or ECDH on a NIST curve.
    Nist(nist::PublicKey),
    /// Ed25519.
    Ed25519(ed25519::VerifyingKey),
    /// X25519.
    X25519([u8; 32]),
    /// Diffie-Hellman in a known group.
    Dh(DhPublicKey),
    /// Diffie-Hellman in a custom group, which is not checked.
    CustomDh(CustomDhPublicKey),
}

impl PrivateKey {
    /// Returns the public key.
    pub fn public_key(&self) -> PublicKey {
        match self {
            Self::Rsa(key) => PublicKey::Rsa(key.public_key().clone()),
            Self::Nist(key) => PublicKey::Nist(key.public_key()),
            Self::Ed25519(key) => PublicKey::Ed25519(*key.verifying_key()),
            Self::X25519(key) => PublicKey::X25519(key.public_key()),
            Self::Dh(key) => PublicKey::Dh(diffie_hellman::public_key(key)),
            Self::CustomDh(key) => PublicKey::CustomDh(key.public_key()),
        }
    }
}

/// Reads a private key that is not encrypted, from a file of any format.
///
/// # Errors
/// [`Error`] says what the file is and what to do.
pub fn read_private(file: &[u8]) -> Result<PrivateKey, Error> {
    read_private_file(file, None)
}

/// Reads a private key, decrypted with the passphrase if it is encrypted, from a file of any
/// format.
///
/// # Errors
/// As [`read_private`]; [`Error::Passphrase`] if the passphrase is wrong.
pub fn read_private_with_passphrase(file: &[u8], passphrase: &[u8]) -> Result<PrivateKey, Error> {
    read_private_file(file, Some(passphrase))
}

/// Reads a public key from a file of any format.
///
/// # Errors
/// [`Error`] says what the file is and what to do.
pub fn read_public(file: &[u8]) -> Result<PublicKey, Error> {
    match Container::of(file)? {
        Container::Pem => read_public_pem(file),
        Container::Der => der::read_public(file),
        Container::Json => json_public(file),
        Container::OpensshLine => openssh_public(file),
    }
}

fn read_private_file(file: &[u8], passphrase: Option<&[u8]>) -> Result<PrivateKey, Error> {
    match Container::of(file)? {
        Container::Pem => read_private_pem(file, passphrase),
        Container::Der => der::read_private(file, passphrase),
        Container::Json => json_private(file),
        Container::OpensshLine => Err(Error::IsPublic { what: "an OpenSSH public key" }),
    }
}

/// How a file is written, by its first bytes.
enum Container {
    Pem,
    Der,
    Json,
    OpensshLine,
}

/// Files that are recognised by their first bytes, and not read.
const OTHERS: [(&[u8], Error); 4] = [
    (
        b"PuTTY-User-Key-File-",
        Error::Unsupported {
            what: "a PuTTY key",
            hint: "convert it with `puttygen KEY -O private-openssh`",
        },
    ),
    (
        b"---- BEGIN SSH2 PUBLIC KEY",
        Error::Unsupported {
            what: "an SSH public key in the format of RFC 4716",
            hint: "convert it with `ssh-keygen -i -f KEY`",
        },
    ),
    (&[0xfe, 0xed, 0xfe, 0xed], JAVA_KEYSTORE),
    (&[0xce, 0xce, 0xce, 0xce], JAVA_KEYSTORE),
];

const JAVA_KEYSTORE: Error = Error::Unsupported {
    what: "a Java keystore",
    hint: "convert it with `keytool -importkeystore -deststoretype pkcs12`, \
           then extract the key with `openssl pkcs12 -nodes`",
};

/// The types of keys in OpenSSH's lines begin with one of these.
const OPENSSH_TYPES: [&[u8]; 3] = [b"ssh-", b"ecdsa-sha2-", b"sk-"];

impl Container {
    fn of(file: &[u8]) -> Result<Self, Error> {
        let text = file.strip_prefix("\u{feff}".as_bytes()).unwrap_or(file).trim_ascii_start();
        match text.first() {
            None => return Err(Error::Unknown),
            // Secrets may follow soon, so nothing but the first character is looked at.
            Some(&DER_SEQUENCE) => return Ok(Self::Der),
            Some(b'{') => return Ok(Self::Json),
            Some(_) => {}
        }
        if let Some((_, error)) = OTHERS.iter().find(|(magic, _)| text.starts_with(magic)) {
            Err(*error)
        } else if OPENSSH_TYPES.iter().any(|kind| text.starts_with(kind)) {
            Ok(Self::OpensshLine)
        } else if pem::is_found(file) {
            Ok(Self::Pem)
        } else {
            Err(Error::Unknown)
        }
    }
}

/// The tag of a sequence, with which every key in DER begins.
const DER_SEQUENCE: u8 = 0x30;

const PKCS1_PRIVATE: &str = "RSA PRIVATE KEY";
const PKCS1_PUBLIC: &str = "RSA PUBLIC KEY";
const SEC1: &str = "EC PRIVATE KEY";
const OPENSSH: &str = "OPENSSH PRIVATE KEY";
const CERTIFICATE: &str = "CERTIFICATE";
const OLD_CERTIFICATE: &str = "X509 CERTIFICATE";
const TRUSTED_CERTIFICATE: &str = "TRUSTED CERTIFICATE";

/// The labels of private keys, and of keys that are refused.
const PRIVATE_LABELS: [&str; 6] = [PKCS8_LABEL, ENCRYPTED_LABEL, PKCS1_PRIVATE, SEC1, OPENSSH, DSA];

/// The labels of public keys, and of files that are refused.
const PUBLIC_LABELS: [&str; 7] = [
    SPKI_LABEL,
    PKCS1_PUBLIC,
    CERTIFICATE,
    OLD_CERTIFICATE,
    TRUSTED_CERTIFICATE,
    REQUEST,
    OLD_REQUEST,
];

const DSA: &str = "DSA PRIVATE KEY";
const REQUEST: &str = "CERTIFICATE REQUEST";
const OLD_REQUEST: &str = "NEW CERTIFICATE REQUEST";

const PEM: Error = Error::Malformed { what: "PEM text" };

fn read_private_pem(file: &[u8], passphrase: Option<&[u8]>) -> Result<PrivateKey, Error> {
    let block = match pem::find(file, &PRIVATE_LABELS) {
        Err(FormatError::PemLabel) => {
            return Err(match pem::find(file, &PUBLIC_LABELS) {
                Ok(_) => Error::IsPublic { what: "a PEM file with a public key" },
                Err(_) => Error::Unsupported {
                    what: "a PEM file without a key",
                    hint: "look at its labels",
                },
            });
        }
        block => block.map_err(|_| PEM)?,
    };
    if block.label == DSA {
        return Err(error::DSA);
    }
    let der = match decoded(&block) {
        Err(FormatError::Encrypted) => {
            let what = "a PEM file encrypted in the older way (Proc-Type)";
            let passphrase = passphrase.ok_or(Error::Encrypted { what })?;
            decrypt_pem(&block, passphrase)?
        }
        der => der.map_err(|_| PEM)?,
    };
    if block.label == OPENSSH {
        openssh_private(&der, passphrase)
    } else {
        der::read_private(&der, passphrase)
    }
}

fn read_public_pem(file: &[u8]) -> Result<PublicKey, Error> {
    let block = match pem::find(file, &PUBLIC_LABELS) {
        Err(FormatError::PemLabel) => {
            return Err(match pem::find(file, &PRIVATE_LABELS) {
                Ok(_) => Error::IsPrivate { what: "a PEM file with a private key" },
                Err(_) => Error::Unsupported {
                    what: "a PEM file without a key",
                    hint: "look at its labels",
                },
            });
        }
        block => block.map_err(|_| PEM)?,
    };
    match block.label {
        REQUEST | OLD_REQUEST => Err(Error::Unsupported {
            what: "a certificate request",
            hint: "extract its key with `openssl req -pubkey -noout`",
        }),
        TRUSTED_CERTIFICATE => Err(Error::Unsupported {
            what: "a certificate with OpenSSL's trust settings",
            hint: "convert it with `openssl x509 -clrtrust`",
        }),
        _ => der::read_public(&decoded(&block).map_err(|_| PEM)?),
    }
}

/// Decodes a block.
fn decoded(block: &Block<'_>) -> Result<Zeroizing<Vec<u8>>, FormatError> {
    let mut der = Zeroizing::new(vec![0; block.most_bytes()]);
    let length = block.decode(&mut der)?.len();
    der.truncate(length);
    Ok(der)
}

#[cfg(feature = "encryption")]
use encrypted::decrypt_pem;
#[cfg(feature = "jwk")]
use jwk::{read_private as json_private, read_public as json_public};
#[cfg(feature = "openssh")]
use openssh::{read_private as openssh_private, read_public as openssh_public};

#[cfg(not(feature = "encryption"))]
fn decrypt_pem(_: &Block<'_>, _: &[u8]) -> Result<Zeroizing<Vec<u8>>, Error> {
    Err(Error::Feature { what: "an encrypted PEM file", feature: "encryption" })
}

#[cfg(not(feature = "jwk"))]
fn json_private(_: &[u8]) -> Result<PrivateKey, Error> {
    Err(Error::Feature { what: "a JSON Web Key", feature: "jwk" })
}

#[cfg(not(feature = "jwk"))]
fn json_public(_: &[u8]) -> Result<PublicKey, Error> {
    Err(Error::Feature { what: "a JSON Web Key", feature: "jwk" })
}

#[cfg(not(feature = "openssh"))]
fn openssh_private(_: &[u8], _: Option<&[u8]>) -> Result<PrivateKey, Error> {
    Err(Error::Feature { what: "an OpenSSH private key", feature: "openssh" })
}

#[cfg(not(feature = "openssh"))]
fn openssh_public(_: &[u8]) -> Result<PublicKey, Error> {
    Err(Error::Feature { what: "an OpenSSH public key", feature: "openssh" })
}
