//! A client's filter of pushed options.

use std::fmt;
use std::sync::Arc;

use crate::proto::Error;

/// A client's action on a pushed option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Apply it.
    Accept,
    /// Ignore it.
    Ignore,
    /// Disconnect and reconnect.
    Reject,
}

type Judge = dyn Fn(&str) -> Verdict + Send + Sync;

/// A function that judges each pushed option. The default accepts all.
#[derive(Clone, Default)]
pub struct Filter(Option<Arc<Judge>>);

impl Filter {
    /// Returns a filter by this function.
    pub fn new(judge: impl Fn(&str) -> Verdict + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(judge)))
    }

    /// Returns whether to apply an option.
    ///
    /// # Errors
    ///
    /// [`Error::Rejected`] with the name of a rejected option.
    pub fn keeps(&self, option: &str) -> Result<bool, Error> {
        match self.0.as_ref().map_or(Verdict::Accept, |judge| judge(option)) {
            Verdict::Accept => Ok(true),
            Verdict::Ignore => Ok(false),
            Verdict::Reject => {
                let name = option.split_ascii_whitespace().next().unwrap_or_default();
                Err(Error::Rejected(name.to_owned()))
            }
        }
    }
}

impl fmt::Debug for Filter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Filter")
    }
}
