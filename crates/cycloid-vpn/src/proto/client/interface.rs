//! The client's settings and notices.

use std::fmt;

use zeroize::Zeroizing;

use crate::proto::data::{Cipher, Digest, Framing};
use crate::proto::message::Retry;
use crate::proto::push::{Filter, PushReply};
use crate::proto::timing::Timing;
use crate::proto::tls::{Identity, TlsFactory};
use crate::proto::wire::KeyId;
use crate::proto::wrap::ProtectionKey;
use crate::proto::{Error, Transport};

/// The settings of a client.
#[derive(Clone, Debug)]
pub struct ClientSettings {
    /// Protection of the control channel.
    pub protection: ProtectionKey,
    /// This end's certificate, and the rules for the server's.
    pub tls: TlsFactory,
    /// The transport.
    pub transport: Transport,
    /// `data-ciphers`, best first.
    pub ciphers: Vec<Cipher>,
    /// `data-ciphers-fallback`: the cipher for a server that does not negotiate.
    pub fallback: Option<Cipher>,
    /// `auth`, for CBC.
    pub digest: Digest,
    /// The options string: see [`Options`](crate::proto::options::Options).
    pub options: String,
    /// `auth-user-pass`.
    pub credentials: Option<(String, Zeroizing<String>)>,
    /// Whether to request options from the server: `pull`, implied by `client`. Otherwise both ends
    /// negotiate point to point.
    pub pull: bool,
    /// `IV_` and `UV_` values in addition to the protocol's own, as `name=value`.
    pub peer_info: Vec<(String, String)>,
    /// Timers; the server may override pings.
    pub timing: Timing,
    /// `comp-lzo no`, `compress`: framing bytes of each packet.
    pub framing: Framing,
    /// `fragment`: the longest datagram; longer packets are fragmented. Only over UDP.
    pub fragment: Option<u16>,
    /// `allow-compression asym`: whether the server may compress.
    pub decompress: bool,
    /// `replay-window`, in packets.
    pub replay_window: u32,
    /// The longest control packet in bytes, without IP and UDP headers.
    pub max_control_packet: usize,
    /// Whether to offer data keys that change by epochs, as OpenVPN 2.7 does.
    pub epochs: bool,
    /// Whether the data channel is outside of this program, in the kernel. It then gets the
    /// [raw keys](crate::proto::data::RawKeys), sends the pings and notices a silent server:
    /// [`Client::keepalive`](super::Client::keepalive) has the times. There are no epochs.
    pub offload: bool,
    /// `explicit-exit-notify`: notify the server when leaving.
    pub exit_notify: bool,
    /// `pull-filter`, `route-nopull`: the options of the server that apply.
    pub filter: Filter,
    /// Whether the caller approves each server before credentials are sent: see
    /// [`ClientNotice::Judge`].
    pub judges: bool,
}

/// A notification of a client to its caller.
#[derive(Debug)]
pub enum ClientNotice {
    /// TLS is established, and nothing was sent inside it yet, not even a password. Waits for
    /// [`Client::approve`](super::Client::approve) with this key. Only sent if the settings ask for
    /// it, then for each key.
    Judge {
        /// The session's key id.
        key_id: KeyId,
        /// The server's identity, from its certificate.
        server: Option<Identity>,
    },
    /// TLS is established and the server has sent its announcement.
    Authenticated {
        /// The server's identity, from its certificate.
        server: Option<Identity>,
        /// TLS version and cipher suite.
        tls: String,
        /// The server's [options](crate::proto::options::Options).
        options: String,
    },
    /// The tunnel is up; its keys were installed before this notice.
    Connected(Box<Connected>),
    /// The server has changed options of the running session: all options that apply from now on.
    Updated(Box<PushReply>),
    /// A new key is in use.
    Renegotiated,
    /// A renegotiation has failed; the old key stays in use until it expires.
    RenegotiationFailed(Error),
    /// The server waits this many seconds for an action by the user.
    AuthPending {
        /// The text after `AUTH_PENDING`.
        text: String,
        /// `INFO_PRE` or `INFO`: the page to open or the challenge to answer.
        info: Option<String>,
    },
    /// A message of the server for the user.
    Info(String),
    /// User name and token to use from now on, also for the next connection.
    Token(String, Zeroizing<String>),
    /// The connection has ended.
    Ended(ClientEnd),
}

/// An established tunnel.
#[derive(Clone, Debug)]
pub struct Connected {
    /// The pushed options; empty if none were requested.
    pub reply: PushReply,
    /// The data channel's cipher.
    pub cipher: Cipher,
}

/// The reason for the end of a connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ClientEnd {
    /// The server refused the credentials or the certificate.
    AuthFailed {
        /// The server's text.
        reason: String,
        /// The advice to try the same credentials again; `None` if they will not work later.
        retry: Option<Retry>,
    },
    /// The server asks to reconnect; `[N]` selects the next address.
    Restart {
        /// The server's text.
        reason: String,
        /// Whether to try the same address first.
        same_address: bool,
    },
    /// The server asks not to reconnect.
    Halt(String),
    /// The server's options are not acceptable, and another attempt would not change that.
    Refused(&'static str),
    /// This end was asked to stop.
    Stopped,
    /// A timer that makes the program exit has ended the connection: the name of its directive.
    Expired(&'static str),
    /// An error.
    Failed(Error),
}

impl fmt::Display for ClientEnd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AuthFailed { reason, .. } if reason.is_empty() => f.write_str("it was refused"),
            Self::AuthFailed { reason, .. } => write!(f, "it was refused: {reason}"),
            Self::Restart { reason, .. } => write!(f, "the server asks to reconnect: {reason}"),
            Self::Halt(reason) => write!(f, "the server asks to stop: {reason}"),
            Self::Refused(reason) => f.write_str(reason),
            Self::Stopped => f.write_str("it was stopped"),
            Self::Expired(directive) => write!(f, "the time of {directive} is over"),
            Self::Failed(error) => write!(f, "{error}"),
        }
    }
}
