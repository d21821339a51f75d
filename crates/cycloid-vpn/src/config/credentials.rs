//! The source of a user's name and password, at a server or a proxy.

use std::fmt;
use std::path::PathBuf;

use zeroize::Zeroizing;

/// Source of a user's name and password.
#[derive(Clone, PartialEq, Eq)]
pub enum Credentials {
    /// Ask the user.
    Ask,
    /// The first two lines of a file; the user is asked for a missing password.
    File(PathBuf),
    /// The first two lines of an inline block.
    Inline {
        /// The user name.
        username: String,
        /// The password; the user is asked if `None`.
        password: Option<Zeroizing<String>>,
    },
}

/// Shows the source, never the secret.
impl fmt::Debug for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ask => f.write_str("Ask"),
            Self::File(path) => f.debug_tuple("File").field(path).finish(),
            Self::Inline { .. } => f.write_str("Inline(…)"),
        }
    }
}
