//! The error type for failures reported to a user.

use std::fmt;

/// A problem and its remedy: one line each, lower case, no full stop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The problem.
    pub message: String,
    /// The remedy.
    pub hint: String,
}

impl Failure {
    /// Creates a failure from these two lines.
    pub fn new(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { message: message.into(), hint: hint.into() }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.message)
    }
}

impl std::error::Error for Failure {}
