//! Requests of a management client to the control thread.

use zeroize::Zeroizing;

use super::super::signals::Signal;
use super::super::status;
use super::{AuthRetry, Remote, Target};

/// A request to the control thread.
#[derive(Debug, PartialEq)]
pub enum Event {
    /// A client connected and authenticated.
    Connected,
    /// The client disconnected.
    Disconnected,
    /// The hold was released.
    Released,
    /// Acts like this signal.
    Signal(Signal),
    /// `status`; answered with [`Management::lines`](super::Management::lines).
    Status(Option<status::Version>),
    /// `load-stats`; answered with [`Management::success`](super::Management::success).
    LoadStats,
    /// `drain`, of Cycloid: sends all clients to other servers and admits none (`true`), or admits
    /// clients again; answered with success.
    Drain(bool),
    /// `push-update-cid` or, without a client, `push-update-broad`; answered with success or error.
    PushUpdate {
        /// The client's id; `None` is all clients.
        client: Option<u64>,
        /// The changes, separated by commas.
        options: String,
    },
    /// `kill`; answered with success or error.
    Kill(Target),
    /// `client-kill`; answered with success or error.
    ClientKill {
        /// The client's id.
        client: u64,
        /// The message for the client.
        message: Option<String>,
    },
    /// `client-auth`; answered with success or error.
    ClientAuth {
        /// The client's id.
        client: u64,
        /// The key's id.
        key: u64,
        /// Configuration lines for this client.
        lines: Vec<String>,
    },
    /// `client-deny`; answered with success or error.
    ClientDeny {
        /// The client's id.
        client: u64,
        /// The key's id.
        key: u64,
        /// The reason for the log.
        reason: String,
        /// The reason for the client.
        for_client: Option<String>,
    },
    /// `client-pending-auth`; answered with success or error.
    PendingAuth {
        /// The client's id.
        client: u64,
        /// The key's id.
        key: u64,
        /// Data for the client.
        extra: String,
        /// Timeout in seconds.
        timeout: u32,
    },
    /// The answer to [`Management::ask`](super::Management::ask).
    Credentials {
        /// The kind: `Auth` or `Private Key`.
        kind: String,
        /// The user name, if requested.
        username: Option<String>,
        /// The password.
        password: Zeroizing<String>,
    },
    /// `forget-passwords`.
    ForgetPasswords,
    /// Sets the log's verbosity.
    Verb(u8),
    /// Sets the log's limit on repeated messages.
    Mute(u32),
    /// Sets the reaction to a refused password.
    AuthRetry(AuthRetry),
    /// `needok`; answered with success or error.
    NeedOk {
        /// The requested item.
        kind: String,
        /// Whether it is available.
        ok: bool,
    },
    /// `needstr`: the answer to [`Management::ask_string`](super::Management::ask_string).
    NeedString(String),
    /// `cr-response`: the answer to a challenge; answered with success or error.
    ChallengeResponse(Zeroizing<String>),
    /// `remote`; answered with success or error.
    Remote(Remote),
    /// `remote-entry-count`; answered with [`Management::lines`](super::Management::lines).
    RemoteCount,
    /// `remote-entry-get`; answered with [`Management::lines`](super::Management::lines).
    RemoteEntries {
        /// The first index, from 0.
        first: usize,
        /// The index after the last.
        end: usize,
    },
}

impl Event {
    /// Returns whether the management client waits for an answer.
    pub fn needs_reply(&self) -> bool {
        !matches!(
            self,
            Self::Connected
                | Self::Disconnected
                | Self::Released
                | Self::Signal(_)
                | Self::Credentials { .. }
                | Self::NeedString(_)
                | Self::ForgetPasswords
                | Self::Verb(_)
                | Self::Mute(_)
                | Self::AuthRetry(_)
        )
    }
}
