//! The error of a client or server that cannot start or continue.

use std::fmt;
use std::io::ErrorKind;

use crate::config::plain;
use crate::net::undo::OpenError;

/// An error message, with an optional hint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    message: String,
    hint: Option<String>,
}

impl Failure {
    /// Returns a failure with this message.
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: plain(message.into()), hint: None }
    }

    /// Adds a hint: the next step for the user.
    #[must_use]
    pub fn hint(self, hint: impl Into<String>) -> Self {
        Self { hint: Some(hint.into()), ..self }
    }

    /// Returns the hint.
    pub fn advice(&self) -> Option<&str> {
        self.hint.as_deref()
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Failure {}

impl From<crate::net::Error> for Failure {
    fn from(error: crate::net::Error) -> Self {
        Self { message: plain(error.to_string()), hint: error.hint().map(str::to_owned) }
    }
}

impl From<OpenError> for Failure {
    fn from(error: OpenError) -> Self {
        let hint = match &error {
            OpenError::Running => "stop it, or give this one another name with --instance NAME",
            OpenError::Io(cause) if cause.kind() == ErrorKind::PermissionDenied => "run as root",
            OpenError::Io(_) => "the program needs a writable /run: it records its changes there",
        };
        Self::new(error.to_string()).hint(hint)
    }
}

impl From<crate::config::Error> for Failure {
    fn from(error: crate::config::Error) -> Self {
        let hint = Some(error.hint.clone()).filter(|hint| !hint.is_empty());
        Self { message: error.to_string(), hint }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::net;

    #[test]
    fn a_journal_that_cannot_be_opened_has_a_next_step() {
        let refused = |error: OpenError| Failure::from(error).advice().unwrap().to_owned();
        assert!(refused(OpenError::Running).contains("--instance NAME"));
        assert_eq!(refused(OpenError::Io(ErrorKind::PermissionDenied.into())), "run as root");
        assert!(refused(OpenError::Io(ErrorKind::ReadOnlyFilesystem.into())).contains("/run"));
    }

    #[test]
    fn a_missing_device_file_has_a_next_step() {
        let missing = |what: &str| {
            let error = net::Error::new(format!("open {what}"), ErrorKind::NotFound);
            Failure::from(error).advice().map(str::to_owned)
        };
        assert!(missing("/dev/net/tun").unwrap().contains("modprobe tun"));
        assert_eq!(missing("/dev/null"), None);
    }
}
