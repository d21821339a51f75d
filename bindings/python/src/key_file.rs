//! Key files of any kind and format.

use cycloid::key_file::{self, Error, PrivateKey, PublicKey};
use pyo3::prelude::*;

use crate::error::{InvalidKey, OrRaise, unsupported};
use crate::input::Document;
use crate::{dh, ec, ed25519, rsa, x25519};

/// Reads a private key of any kind from a file of any format: PKCS #8, PKCS #1, SEC 1, OpenSSH or
/// JSON Web Key; in PEM or DER; encrypted with a passphrase or not. Returns the `PrivateKey` of
/// `rsa`, `ec`, `ed25519`, `x25519` or `dh`.
///
/// Raises PassphraseError if the passphrase is missing or wrong, UnsupportedKey for other kinds and
/// formats, and InvalidKey for damaged files.
#[pyfunction]
#[pyo3(signature = (data, passphrase = None))]
pub(crate) fn load_private_key<'py>(
    py: Python<'py>,
    data: Document<'py>,
    passphrase: Option<Document<'py>>,
) -> PyResult<Bound<'py, PyAny>> {
    let passphrase = passphrase.as_deref();
    let key = read(py, &data, |data| match passphrase {
        None => key_file::read_private(data),
        Some(passphrase) => key_file::read_private_with_passphrase(data, passphrase),
    });
    Ok(match key? {
        PrivateKey::Rsa(key) => Bound::new(py, rsa::PrivateKey::from(key))?.into_any(),
        PrivateKey::Nist(key) => Bound::new(py, ec::PrivateKey::from(key))?.into_any(),
        PrivateKey::Ed25519(key) => Bound::new(py, ed25519::PrivateKey::from(key))?.into_any(),
        PrivateKey::X25519(key) => Bound::new(py, x25519::PrivateKey::from(key))?.into_any(),
        PrivateKey::Dh(key) => Bound::new(py, dh::PrivateKey::from(key))?.into_any(),
        _ => return Err(unsupported("a Diffie-Hellman key in a group of its own")),
    })
}

/// Reads a public key of any kind from a file of any format: SubjectPublicKeyInfo, PKCS #1, a
/// certificate, OpenSSH or JSON Web Key; in PEM or DER. A certificate is not verified. Returns the
/// `PublicKey` of `rsa`, `ec`, `ed25519`, `x25519` or `dh`.
///
/// Raises UnsupportedKey for other kinds and formats, and InvalidKey for damaged files.
#[pyfunction]
pub(crate) fn load_public_key<'py>(
    py: Python<'py>,
    data: Document<'py>,
) -> PyResult<Bound<'py, PyAny>> {
    Ok(match read(py, &data, key_file::read_public)? {
        PublicKey::Rsa(key) => Bound::new(py, rsa::PublicKey::from(key))?.into_any(),
        PublicKey::Nist(key) => Bound::new(py, ec::PublicKey::from(key))?.into_any(),
        PublicKey::Ed25519(key) => Bound::new(py, ed25519::PublicKey::from(key))?.into_any(),
        PublicKey::X25519(key) => Bound::new(py, x25519::PublicKey::from(key))?.into_any(),
        PublicKey::Dh(key) => Bound::new(py, dh::PublicKey::from(key))?.into_any(),
        PublicKey::LegacyRsa(_) => {
            return Err(unsupported("an RSA key of less than 2041 bits"));
        }
        _ => return Err(unsupported("a Diffie-Hellman key in a group of its own")),
    })
}

/// Reads a file's contents without the interpreter's lock. A text of one line that is no key may be
/// the file's name.
fn read<T: Send>(
    py: Python<'_>,
    data: &[u8],
    read: impl FnOnce(&[u8]) -> Result<T, Error> + Send,
) -> PyResult<T> {
    let key = py.detach(|| read(data));
    if matches!(key, Err(Error::Unknown)) && !data.is_empty() && data.len() < 4096 {
        let is_name = data.iter().all(|byte| !byte.is_ascii_control() && *byte != b'{');
        if is_name {
            return Err(InvalidKey::new_err(format!(
                "{}: give the contents of the file, not its name",
                Error::Unknown
            )));
        }
    }
    key.or_raise()
}
