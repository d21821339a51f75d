//! A violation of a rule.

use std::fmt::{Display, Formatter};

/// A violation of a rule.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Broken {
    pub(super) path: String,
    pub(super) line: usize,
    pub(super) rule: String,
}

impl Display for Broken {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}: {}", self.path, self.line, self.rule)
    }
}
