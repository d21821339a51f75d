//! What the control thread is asked to do by a client of the management interface.

use zeroize::Zeroizing;

use super::super::signals::Signal;
use super::super::status;
use super::{AuthRetry, Remote, Target};

/// What the control thread has to do.
#[derive(Debug, PartialEq)]
pub enum Event {
    /// A client came, and has given its password.
    Connected,
    /// The client is gone.
    Disconnected,
    /// The wait for a release is over.
    Released,
    /// As if this signal had come.
    Signal(Signal),
    /// `status`; answered with [`Management::lines`](super::Management::lines).
    Status(Option<status::Version>),
    /// `load-stats`; answered with [`Management::success`](super::Management::success).
    LoadStats,
    /// `kill`; answered with success or error.
    Kill(Target),
    /// `client-kill`; answered with success or error.
    ClientKill {
        /// The client's number.
        client: u64,
        /// What it is told.
        message: Option<String>,
    },
    /// `client-auth`; answered with success or error.
    ClientAuth {
        /// The client's number.
        client: u64,
        /// The key's.
        key: u64,
        /// Lines of configuration for this client.
        lines: Vec<String>,
    },
    /// `client-deny`; answered with success or error.
    ClientDeny {
        /// The client's number.
        client: u64,
        /// The key's.
        key: u64,
        /// For the log.
        reason: String,
        /// For the client.
        for_client: Option<String>,
    },
    /// `client-pending-auth`; answered with success or error.
    PendingAuth {
        /// The client's number.
        client: u64,
        /// The key's.
        key: u64,
        /// For the client.
        extra: String,
        /// Seconds.
        timeout: u32,
    },
    /// What was asked for by [`Management::ask`](super::Management::ask).
    Credentials {
        /// `Auth`, `Private Key`.
        kind: String,
        /// Where one was asked for.
        username: Option<String>,
        /// The password.
        password: Zeroizing<String>,
    },
    /// `forget-passwords`.
    ForgetPasswords,
    /// The log's verbosity.
    Verb(u8),
    /// The log's limit on similar messages.
    Mute(u32),
    /// What happens when a password is refused.
    AuthRetry(AuthRetry),
    /// `needok`; answered with success or error.
    NeedOk {
        /// What is needed.
        kind: String,
        /// Whether it is there.
        ok: bool,
    },
    /// `needstr`; answered with success or error.
    NeedString {
        /// What is needed.
        kind: String,
        /// The answer.
        value: String,
    },
    /// `cr-response`: the answer to a challenge; answered with success or error.
    ChallengeResponse(Zeroizing<String>),
    /// `remote`; answered with success or error.
    Remote(Remote),
    /// `remote-entry-count`; answered with [`Management::lines`](super::Management::lines).
    RemoteCount,
    /// `remote-entry-get`; answered with [`Management::lines`](super::Management::lines).
    RemoteEntries {
        /// The first, from 0.
        first: usize,
        /// The one behind the last.
        end: usize,
    },
}

impl Event {
    /// Whether the client waits for an answer.
    pub fn needs_reply(&self) -> bool {
        !matches!(
            self,
            Self::Connected
                | Self::Disconnected
                | Self::Released
                | Self::Signal(_)
                | Self::Credentials { .. }
                | Self::ForgetPasswords
                | Self::Verb(_)
                | Self::Mute(_)
                | Self::AuthRetry(_)
        )
    }
}
