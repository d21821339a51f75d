//! The error of the authority.

use std::fmt;

use x509_cert::der;

/// An error of the authority.
#[derive(Debug)]
pub struct Error {
    message: String,
    hint: &'static str,
}

impl Error {
    pub(super) fn new(message: impl Into<String>, hint: &'static str) -> Self {
        Self { message: message.into(), hint }
    }

    /// Returns the next step for the user.
    pub fn hint(&self) -> &'static str {
        self.hint
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Error {}

impl From<der::Error> for Error {
    fn from(error: der::Error) -> Self {
        Self::new(
            format!("cannot create the certificate: {error}"),
            "choose another kind of key, or another name",
        )
    }
}
