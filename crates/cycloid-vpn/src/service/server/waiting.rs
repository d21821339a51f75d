//! A client that waits for a decision, and a refusal.

use crate::config::PerClient;
use crate::proto::auth_token::TokenSession;
use crate::proto::server::Verify;
use crate::service::hooks::Environment;

/// A client that waits to be admitted or to continue.
pub(super) struct Admission {
    /// Counted over all admissions; the key id in the management protocol.
    pub(super) number: u64,
    pub(super) verify: Box<Verify>,
    pub(super) name: String,
    pub(super) environment: Environment,
    /// The next step, or the step whose answer is pending.
    pub(super) step: Step,
    pub(super) own: PerClient,
    /// The session of the token that replaced the password.
    pub(super) session: Option<TokenSession>,
}

/// A step of an admission.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    Key,
    /// The certificate at this depth: 0 is the client's own, others are above it.
    Certificate(usize),
    Password,
    Manager,
    Options,
    Entry,
}

/// A refusal, with the reason for the log and for the client.
pub(super) struct Refusal {
    pub(super) why: String,
    pub(super) for_client: Option<String>,
}

impl<T: Into<String>> From<T> for Refusal {
    fn from(why: T) -> Self {
        Self { why: why.into(), for_client: None }
    }
}
