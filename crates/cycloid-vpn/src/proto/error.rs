//! Errors of the protocol core.
//!
//! None of them reveals anything about keys or decrypted data.

use std::fmt;

/// The reason of [`Error::TimedOut`] when nothing arrives from the peer.
pub const SILENT: &str = "no packets from the peer";

/// The reason of [`Error::TimedOut`] when the tunnel carries too little: `inactive`.
pub const IDLE: &str = "the tunnel was idle";

/// The reason why input from the peer is rejected, or why nothing can be sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Error {
    /// Too short for its mandatory contents.
    Short,
    /// Too long, or with trailing bytes.
    Long,
    /// An unknown opcode, or one that is not allowed here.
    Opcode(u8),
    /// A key id that this packet cannot have.
    KeyId(u8),
    /// A session id of all zeros.
    SessionId,
    /// More acknowledgements than a packet may contain.
    Acknowledgements,
    /// A reset that is not the first message of its session.
    Sequence,
    /// Not made with the control channel's key.
    Authentication,
    /// Received before, or too old to tell.
    Replay,
    /// A wrapped client key (tls-crypt-v2) that is malformed or was not made by this server.
    WrappedKey,
    /// Protected with a scheme for which this end has no key.
    NoKey,
    /// All packet ids of a key are used.
    Exhausted,
    /// A malformed key-method message, with the malformed part.
    KeyMethod(&'static str),
    /// Text that is not UTF-8 or contains control characters.
    Text,
    /// A malformed pushed option, with its name.
    Push(&'static str),
    /// A pushed option that this client's filter rejects, with its name.
    Rejected(String),
    /// A pushed option that a running session cannot change, with its name.
    NotUpdatable(String),
    /// Malformed input, with the problem.
    Malformed(&'static str),
    /// Input that is not from its claimed sender: a wrong tag or an unknown session.
    NotAuthentic(&'static str),
    /// Input that is not allowed at this point.
    Unexpected(&'static str),
    /// TLS closed the connection.
    Tls(String),
    /// This end's key did not sign, as when its token is gone. The peer does not know why.
    Unsigned(String),
    /// One end refused the other's certificate.
    Refused(String),
    /// `max-clients` or the limit of half-open sessions is reached.
    Full(&'static str),
    /// Incompatible settings of the two ends.
    Incompatible(String),
    /// An unusable key, certificate or setting.
    Configuration(String),
    /// The peer did not answer in time.
    TimedOut(&'static str),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Short => f.write_str("the packet is too short"),
            Self::Long => f.write_str("the packet is too long"),
            Self::Opcode(opcode) => write!(f, "unexpected opcode {opcode}"),
            Self::KeyId(id) => write!(f, "unexpected key id {id}"),
            Self::SessionId => f.write_str("the session id is zero"),
            Self::Acknowledgements => f.write_str("the packet has too many acknowledgements"),
            Self::Sequence => f.write_str("a reset inside a running session"),
            Self::Authentication => f.write_str("the packet is not authentic"),
            Self::Replay => f.write_str("the packet is a replay"),
            Self::WrappedKey => f.write_str("the wrapped client key is not valid"),
            Self::NoKey => f.write_str("no key for the packet's protection"),
            Self::Exhausted => f.write_str("no packet ids are left"),
            Self::KeyMethod(part) => write!(f, "the key-method message has a malformed {part}"),
            Self::Text => f.write_str("the text is not UTF-8 or contains control characters"),
            Self::Push(option) => write!(f, "the pushed option {option} is malformed"),
            Self::Rejected(name) => write!(f, "pull-filter rejects the pushed option {name}"),
            Self::NotUpdatable(name) => {
                write!(f, "the pushed option {name} cannot change in a running session")
            }
            Self::Malformed(what) => write!(f, "malformed: {what}"),
            Self::NotAuthentic(what) => write!(f, "not authentic: {what}"),
            Self::Unexpected(what) => write!(f, "unexpected: {what}"),
            Self::Tls(what) | Self::Unsigned(what) | Self::Refused(what) => {
                write!(f, "TLS: {what}")
            }
            Self::Full(what) => write!(f, "{what} is reached"),
            Self::Incompatible(what) => {
                write!(f, "the peer's settings are incompatible: {what}")
            }
            Self::Configuration(what) => f.write_str(what),
            Self::TimedOut(what) => write!(f, "timed out: {what}"),
        }
    }
}

impl std::error::Error for Error {}
